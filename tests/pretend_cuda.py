"""A stand-in for a GPU, `pretend:0`, that computes on the CPU and refuses what CUDA refuses.

    with pretend_cuda() as device:
        tensor = torch.ones(3, device=device)
        with counted() as work:
            (tensor + 1).sum().item()
    work  # Work(launches=2, waits=1, copies=0)

Inside, as on a GPU, there is an error for tensors of two devices in one operation (but for a number
of the CPU in an elementwise one, and indices of the CPU), for a generator of the other device, for
NumPy, and, outside, for a pickle that was written inside.

PyTorch's `FakeTensor` refuses mixtures, too, but holds no numbers; its open backend (`PrivateUse1`)
needs C++. Here that backend is opened from Python (`torch.utils.backend_registration`), so that
autograd and `vmap` know the device, and a `TorchDispatchMode` sends all operations to the tensor of
the CPU that each tensor holds.

Not shown: speed, memory, streams and what they overlap; numbers, as CUDA's kernels sum in another
order and its generators draw other numbers; what cuDNN, autocast (it casts nothing here) and
`torch.compile` do; operations that CUDA lacks or takes in fewer types; code that asks for
`device.type == "cuda"`. A launch here is an operation that computes, of which CUDA makes one
kernel or a few. Inside `vmap` it is the operations of the whole batch that are seen. Random
numbers without a generator come from the CPU's. The mode belongs to its thread.
"""

from __future__ import annotations

import contextlib
import sys
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar
from unittest import mock

import numpy as np
import torch
from torch import Tensor
from torch.utils import _foreach_utils, _python_dispatch, backend_registration
from torch.utils._mode_utils import no_dispatch
from torch.utils._pytree import tree_leaves, tree_map

from calibkit import devices

KIND, CPU = "pretend", torch.device("cpu")
DEVICE = "pretend:0"
# operations by name
MIXES = {"copy_", "_foreach_copy_"}
INDEXES = {"index", "index_put", "index_put_", "_unsafe_index", "_index_put_impl_"}
WAITS = {  # for a number, or for a shape that depends on numbers
    *("_local_scalar_dense", "equal", "nonzero", "masked_select", "_unique", "_unique2"),
    *("unique_dim", "unique_consecutive", "bincount", "_linalg_check_errors", "is_nonzero"),
    *("linalg_eigh", "_linalg_eigh", "linalg_lstsq", "histc", "allclose", "item"),
}
FREE = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "detach", "alias"}
RealGenerator = torch.Generator


@dataclass
class Work:
    """What was asked of the device: operations, waits of the host, copies to it."""

    launches: int = 0
    waits: int = 0
    copies: int = 0


COUNTS = [Work()]  # of all and, behind it, of each `counted`


def _count(what: str) -> None:
    for work in COUNTS:
        setattr(work, what, getattr(work, what) + 1)


@contextlib.contextmanager
def counted() -> Iterator[Work]:
    """Counts what happens within."""
    work = Work()
    COUNTS.append(work)
    try:
        yield work
    finally:
        COUNTS[:] = [one for one in COUNTS if one is not work]


class There(Tensor):
    """A tensor on the device; `held` is the one of the CPU that has its numbers."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, held: Tensor):
        about = {"dtype": held.dtype, "strides": held.stride(), "device": DEVICE}
        about |= {"storage_offset": held.storage_offset()}
        return Tensor._make_wrapper_subclass(cls, held.size(), **about)

    def __init__(self, held: Tensor):
        self.held = held

    @classmethod
    def __torch_dispatch__(cls, operation, types, args=(), kwargs=None):
        return _performed(operation, args, kwargs or {})

    def __tensor_flatten__(self):  # so that a module changes its type or format by a new tensor
        return ["held"], None

    @staticmethod
    def __tensor_unflatten__(inner, about, size, stride):
        return There(inner["held"])

    def numpy(self, *, force: bool = False):
        if not force:
            raise TypeError(
                f"can't convert {DEVICE} device type tensor to numpy. Use Tensor.cpu() first"
            )
        return self.detach().cpu().numpy()

    def tolist(self):
        return self.detach().cpu().tolist()

    def __getitem__(self, key):
        return super().__getitem__(_of_tensors(key))

    def __setitem__(self, key, value):
        super().__setitem__(_of_tensors(key), value)

    def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False):
        made = torch.as_tensor(data, dtype=dtype or self.dtype).to(device or self.device)
        return made.requires_grad_(requires_grad)

    def __array__(self, *args, **kwargs):
        return self.numpy()

    def __format__(self, form: str) -> str:
        return format(self.item(), form) if self.ndim == 0 else object.__format__(self, form)

    def __repr__(self, **kwargs) -> str:
        return f"tensor({self.held}, device={DEVICE!r})"

    def __reduce_ex__(self, protocol):
        return _read_there, (self.detach().cpu(),)


def _of_tensors(key):
    """An index with its lists as tensors, which PyTorch would make on the device unseen."""
    if isinstance(key, tuple):
        return tuple(map(_of_tensors, key))
    return torch.as_tensor(key) if isinstance(key, list | np.ndarray) else key


def _read_there(held: Tensor) -> Tensor:
    if not _MODES:
        raise RuntimeError(f"Attempting to deserialize object on {DEVICE}, but there is none")
    return held.to(DEVICE)


class GeneratorThere(RealGenerator):
    """A generator that says that it is on the device."""

    living: ClassVar[weakref.WeakSet] = weakref.WeakSet()

    def __init__(self, device=None):
        self.living.add(self)

    @classmethod
    def holds(cls, generator: RealGenerator) -> bool:
        """Whether it is one: an operation gets another Python object of the same generator."""
        return any(one._cdata == generator._cdata for one in cls.living)

    @property
    def device(self) -> torch.device:
        return torch.device(DEVICE)


class _AnyGenerator(type):
    def __instancecheck__(cls, value) -> bool:
        return isinstance(value, RealGenerator)


class _Generator(metaclass=_AnyGenerator):
    """What `torch.Generator` is inside."""

    def __new__(cls, device="cpu"):
        there = torch.device(device).type == KIND
        return GeneratorThere() if there else RealGenerator(device)


class Mode(_python_dispatch.TorchDispatchMode):
    """Sees operations that make a tensor on the device, too."""

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        return _performed(operation, args, kwargs or {})


def _performed(operation, args, kwargs):
    """The operation on what the tensors hold; its result is on the device if it belongs there."""
    leaves = tree_leaves((args, kwargs))
    there = [x for x in leaves if isinstance(x, There)]
    wanted = [x for x in leaves if isinstance(x, torch.device)]
    ends_there = wanted[0].type == KIND if wanted else bool(there)
    for generator in (x for x in leaves if isinstance(x, RealGenerator)):
        if GeneratorThere.holds(generator) != ends_there:
            raise RuntimeError("a generator of the CPU is used on the device, or the other way")
    if not (there or ends_there):
        return operation(*args, **kwargs)
    name = operation._schema.name.removeprefix("aten::")
    here = [x for x in leaves if isinstance(x, Tensor) and not isinstance(x, There)]
    if there:
        _refuse_mixtures(operation, name, args, here)
    _note(operation, name, args, there, here, ends_there)
    made = operation(*tree_map(_held, args), **tree_map(_held, kwargs))
    if not ends_there:
        return made
    _refuse_by_rule(name, args, made)
    known = {id(x.held): x for x in there}
    if operation._schema.is_mutable and any(x.held.shape != x.shape for x in there):
        with no_dispatch():  # the outer tensor's shape
            operation(*args, **kwargs)

    def lifted(x):
        if id(x) in known:  # written in place
            return known[id(x)]
        return There(x) if isinstance(x, Tensor) else x

    return tree_map(lifted, made)


def _refuse_by_rule(name: str, args, made) -> None:
    """What an Apple GPU cannot do, and CUDA not in one order."""
    doubles = [x for x in tree_leaves(made) if isinstance(x, Tensor) and x.dtype == torch.float64]
    if KIND in devices.NO_FLOAT64 and doubles:
        raise TypeError(f"Cannot convert a {KIND} Tensor to float64 dtype ({name})")
    if torch.are_deterministic_algorithms_enabled() and (
        (name == "bincount" and len(args) > 1 and args[1] is not None)
        or (name == "cumsum" and args[0].is_floating_point())
    ):
        raise RuntimeError(f"{name} does not have a deterministic implementation")


def _held(x):
    if isinstance(x, There):
        return x.held
    return CPU if isinstance(x, torch.device) and x.type == KIND else x


def _refuse_mixtures(operation, name: str, args, here: list[Tensor]) -> None:
    if name in MIXES:
        return
    if name in INDEXES and isinstance(args[0], There):
        indices = {id(x) for x in args[1]}
        here = [x for x in here if id(x) not in indices and x.ndim]
    elif torch.Tag.pointwise in operation.tags:
        written = operation._schema.is_mutable and not isinstance(args[0], There)
        here = [x for x in here if x.ndim or written]
    if here:
        raise RuntimeError(
            f"Expected all tensors to be on the same device, but found at least two devices, "
            f"{DEVICE} and cpu! ({operation})"
        )


def _note(operation, name: str, args, there, here, ends_there: bool) -> None:
    """Count what the operation costs."""
    if name == "_to_copy" or name in MIXES:
        starts_there = bool(there) if name == "_to_copy" else isinstance(args[1], There)
        goes_there = ends_there if name == "_to_copy" else isinstance(args[0], There)
        kinds = {(True, False): "waits", (False, True): "copies", (True, True): "launches"}
        _count(kinds[starts_there, goes_there])
        return
    if name in INDEXES:
        masked = any(x is not None and x.dtype == torch.bool for x in args[1])
        # one number for one mask is filled in without a search
        filled = name.endswith("put_") and len(args[1]) == 1 and args[2].numel() == 1
        if masked and not filled:
            _count("waits")
        if here:
            _count("copies")
    if name in WAITS or (name == "repeat_interleave" and len(args) == 1):
        _count("waits")
    if not (operation.is_view or name in FREE or name == "_local_scalar_dense"):
        _count("launches")


class _Backend(backend_registration._DummyBackendModule):
    def get_rng_state(self, device=None):  # `torch.random.fork_rng` asks all devices
        return torch.empty(0, dtype=torch.uint8)

    def set_rng_state(self, state, device=None):
        pass

    def get_amp_supported_dtype(self):
        return [torch.bfloat16, torch.float16]


_MODES: list[Mode] = []
_LIBRARIES: list[torch.library.Library] = []


def _lstm_cell(of_input, of_hidden, cell, *biases):
    """What CUDA has a kernel for, and the CPU has not."""
    gates = sum((bias for bias in biases if bias is not None), of_input + of_hidden)
    kept, forgot, new, told = gates.chunk(4, 1)
    cell = forgot.sigmoid() * cell + kept.sigmoid() * new.tanh()
    return told.sigmoid() * cell.tanh(), cell, gates


def _tensor(data, *, device=None, _real=torch.tensor, **options) -> Tensor:
    made = _real(data, **options)
    return made if device is None else made.to(device)


def _as_tensor(data, dtype=None, device=None, _real=torch.as_tensor) -> Tensor:
    made = data if isinstance(data, Tensor) else _real(data, dtype=dtype)
    return made.to(device or made.device, dtype or made.dtype)


@contextlib.contextmanager
def pretend_cuda(*, float64: bool = True, deterministic: bool = False) -> Iterator[str]:
    """There is a device within; its name. Where it was once, PyTorch goes on knowing the name.

    float64: whether it has this type; Apple GPUs have not. deterministic: whether torch is set so.
    """
    if not hasattr(torch, KIND):
        backend_registration._setup_privateuseone_for_python_backend(KIND, _Backend())
        for module in (_foreach_utils, sys.modules["torch.optim.optimizer"]):
            module._foreach_supported_types.append(There)
        _LIBRARIES.extend(torch.library.Library(name, "IMPL") for name in ("_", "aten"))
        _LIBRARIES[0].fallback(torch.library.fallthrough_kernel, "AutocastPrivateUse1")
        _LIBRARIES[1].impl("_thnn_fused_lstm_cell", _lstm_cell, "AutogradPrivateUse1")
    patches = {"Generator": _Generator, "tensor": _tensor, "as_tensor": _as_tensor}
    kinds = devices.NO_FLOAT64 if float64 else {*devices.NO_FLOAT64, KIND}
    before = torch.are_deterministic_algorithms_enabled()
    with (
        mock.patch.multiple(torch, **patches),
        mock.patch.object(devices, "NO_FLOAT64", kinds),
        torch.serialization.safe_globals([_read_there]),
        torch.autograd.set_multithreading_enabled(False),
        Mode() as mode,
    ):
        _MODES.append(mode)
        torch.use_deterministic_algorithms(deterministic)
        try:
            yield DEVICE
        finally:
            torch.use_deterministic_algorithms(before)
            _MODES.pop()
