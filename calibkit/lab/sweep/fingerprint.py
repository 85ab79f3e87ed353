"""The key of a training: a short text for all that decides it; None where that cannot be told.

A key is complete, or the training is not cached: what `contents` refuses to read has none.
"""

from __future__ import annotations

import builtins
import dataclasses
import importlib
import platform
import types
import warnings
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from calibkit.lab.data import Dataset
from calibkit.lab.sweep import origins
from calibkit.lab.sweep.contents import Fingerprint, bare, digest, strange, without_handles
from calibkit.lab.sweep.origins import HERE, PRESENTING, Untellable
from calibkit.lab.training import Trial, process

FORMAT = 3  # of keys and of what is stored under them
DEVICES = ("cpu", "cuda", "mps")
OPTIMIZERS = (torch.optim.SGD, torch.optim.AdamW, torch.optim.Adam, torch.optim.Optimizer)
STEERING = ()
# as they were loaded: what stands in these modules is not read, as tests put counters there
STARTED = {name: (HERE / f"{name}.py").read_text(encoding="utf-8") for name in STEERING}


def keys(trials: Sequence[Trial], device: torch.device) -> list[str | None]:
    """Per trial the key of its result; None, and one warning for all, where none is complete.

    The network counts as it is built under the trial's seed, with the random state that this
    leaves; all other fields by what they hold. The warning names what could not be told.
    """
    read, unknown, found = Fingerprint(), {}, []
    around, torchs = digest([str(FORMAT), device.type, package()]), _torch()
    for trial in trials:
        try:
            found.append(_own(read, trial) + digest([around, torchs])[:32])
        except Exception as error:  # of whatever was read; a training that fails says so itself
            told = isinstance(error, Untellable)
            unknown[str(error) if told else f"{type(error).__name__}: {error}"] = None
            found.append(None)
    if _torch() != torchs:
        unknown["building a network changes what is set for all of torch"] = None
        found = [None] * len(found)
    if unknown:
        warnings.warn(
            f"{found.count(None)} of {len(found)} trainings are not cached, as it cannot be told "
            f"what decides them: {'; '.join(unknown)}",
            stacklevel=3,
        )
    return found


def still(key: str, trial: Trial) -> bool:
    """Whether a trial is after its training what it was before: what moves cannot be kept."""
    try:
        return key.startswith(_own(Fingerprint(), trial))
    except Exception:  # what cannot be read any more has moved
        return False


def _own(read: Fingerprint, trial: Trial) -> str:
    parts = []
    for field in dataclasses.fields(trial):
        value = getattr(trial, field.name)
        try:
            parts.append(f"{field.name} {_field(read, field.name, value, trial)}")
        except Untellable as error:
            error.path.insert(0, field.name)
            raise
    return digest(parts)[:32]


def _field(read: Fingerprint, name: str, value: object, trial: Trial) -> str:
    if name == "model":
        return _network(read, trial)
    if name == "train":
        return _data(read, value)
    if name in ("score", "watch"):
        return digest([f"{key} {_data(read, value[key])}" for key in sorted(value)])
    return read(value)


def _data(read: Fingerprint, dataset: Dataset) -> str:
    """What a training sees of it: no posterior, no names of classes."""
    seen = read.content(dataset.inputs), read.content(dataset.labels)
    return digest([*seen, str(dataset.num_classes)])


def _network(read: Fingerprint, trial: Trial) -> str:
    """The network as built; its function must be told too, as it is called again to train."""
    before = read(trial.model)
    with process.own_randomness(torch.device("cpu")):
        network, after = trial.network(), torch.get_rng_state()
    if read(trial.model) != before:
        raise Untellable("builds networks and changes what it holds")
    return read(network, after)


# --- what all trainings share --------------------------------------------------------------------


def _torch() -> str:
    """What is set for all of torch, and what somebody put into it."""
    cudnn, mkldnn = torch.backends.cudnn, torch.backends.mkldnn
    # by these and not by older names (allow_tf32), which raise where somebody set these
    precise = (torch.backends.cuda.matmul, cudnn.conv, cudnn.rnn)
    precise += (mkldnn.matmul, mkldnn.conv, mkldnn.rnn)
    settings = (
        *(torch.__version__, torch.get_default_dtype(), torch.get_default_device()),
        *(torch.is_grad_enabled(), torch.is_inference_mode_enabled()),
        *(part.fp32_precision for part in precise),
        *(torch.are_deterministic_algorithms_enabled(), cudnn.deterministic, cudnn.benchmark),
        *((torch.is_autocast_enabled(d), torch.get_autocast_dtype(d)) for d in DEVICES),
    )
    hooks = {n: v for n, v in vars(nn.modules.module).items() if n.startswith("_global_") and v}
    holders = (torch, nn.functional, nn.init, Tensor, torch.optim, *OPTIMIZERS)
    put = {str(holder): strange(holder) for holder in holders}
    put["builtins"] = {n: v for n, v in strange(builtins).items() if callable(v) and n != "_"}
    return Fingerprint()(str(settings), without_handles(hooks), put)


def package() -> str:
    """This package but for what only presents: its source on disk, and what of it is loaded."""
    read, parts = Fingerprint(whole=True), [platform.python_version(), np.__version__]
    for path in sorted(HERE.rglob("*.py")):
        inside = path.relative_to(HERE.parent).with_suffix("").parts
        if inside[1] in PRESENTING:
            continue
        name = ".".join(inside).removesuffix(".__init__")
        running = STARTED.get(inside[1]) if len(inside) == 2 else None
        parts += [name, bare(path.read_text(encoding="utf-8"))]
        parts.append(_loaded(read, name) if running is None else bare(running))
    return digest(parts)


def _loaded(read: Fingerprint, name: str) -> str:
    """What stands in a module, which somebody may have changed, or loaded from an older file."""
    try:
        space = vars(importlib.import_module(name))
    except ImportError:
        return "not loaded"
    texts = []
    for key in sorted(key for key, value in space.items() if not _part(key, value)):
        try:
            texts += [key, read(_made_here(space[key], name))]
        except Untellable as error:
            texts += [key, type(space[key]).__qualname__ + str(error)]
    return digest(texts)


def _part(key: str, value: object) -> bool:
    """Whether Python sets this itself, on every import of a module inside a package too."""
    inside = isinstance(value, types.ModuleType) and value.__name__.startswith(f"{__package__}.")
    return inside or key.startswith("__")


def _made_here(value: object, module: str) -> object:
    """The value; only whence it is where a module imports it: a kernel has its own kind of bar."""
    if isinstance(value, types.ModuleType):
        return value.__name__
    if not isinstance(value, (type, types.FunctionType)) or value.__module__ == module:
        return value
    home, name = origins.of_module(value.__module__), f"{value.__module__}.{value.__qualname__}"
    there = origins.found(value.__module__, value.__qualname__) is value
    return name if home == "package" and there else home if home == "installed" else value
