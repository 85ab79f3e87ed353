"""The package's edge: inside, torch is set as by default, whatever the caller has set.

An autocast, inference mode, another default type or device around a call would change its numbers
or break it. So every function and method that a user calls is an `entry`, and `guard` makes one of
every public function of a module, in one line at its end.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType
from typing import Any, TypeVar, overload

import torch
from torch import Tensor

from calibkit import devices

F = TypeVar("F", bound=Callable[..., Any])
AUTOCASTS = ("cpu", "cuda", "mps")


class _Float32:
    """The default type of the process while calls are inside; several threads may be."""

    def __init__(self) -> None:
        self.lock, self.inside, self.outside = threading.Lock(), 0, torch.float32

    def __enter__(self) -> None:
        with self.lock:
            if not self.inside:
                self.outside = torch.get_default_dtype()
                torch.set_default_dtype(torch.float32)
            self.inside += 1

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.inside -= 1
            if not self.inside:
                torch.set_default_dtype(self.outside)


_FLOAT32 = _Float32()


@contextlib.contextmanager
def own_world(*, grad: bool = False) -> Iterator[None]:
    """No autocast, no inference mode; float32 and the CPU where nothing else is said.

    grad: whether gradients are on whatever the caller has set, for what is fitted by them; its own
        passes then look for no anomaly, which cannot be batched.
    """
    fits, grad = grad, grad or torch.is_grad_enabled()
    with contextlib.ExitStack() as settings:
        settings.enter_context(_FLOAT32)
        settings.enter_context(torch.inference_mode(False))
        settings.enter_context(torch.set_grad_enabled(grad))
        settings.enter_context(torch.device("cpu"))
        if fits:
            settings.enter_context(torch.autograd.set_detect_anomaly(False))
        for kind in filter(torch.is_autocast_enabled, AUTOCASTS):
            settings.enter_context(torch.autocast(kind, enabled=False))
        yield


def _is_own(grad: bool) -> bool:
    """Whether all is set so already, as it nearly always is: a look costs half a microsecond."""
    return not (
        torch._C._is_any_autocast_enabled()
        or torch.is_inference_mode_enabled()
        or torch._C._len_torch_function_stack()  # of which a default device is one
        or _FLOAT32.inside
        or torch.get_default_dtype() != torch.float32
        or (grad and (torch.is_anomaly_enabled() or not torch.is_grad_enabled()))
    )


@overload
def entry(function: F, /) -> F: ...
@overload
def entry(*, grad: bool = False, moves: bool = False) -> Callable[[F], F]: ...
def entry(function: Any = None, /, *, grad: bool = False, moves: bool = False) -> Any:
    """`function` in its `own_world`; a decorator.

    grad: as there.
    moves: whether it needs sums in float64, in one order. Then tensors of an accelerator without
        float64 (Apple's), or of any under deterministic algorithms, are computed with on the CPU.
        Tensors that come of it go back to the device, in float32 where it has no float64; objects
        that hold tensors stay on the CPU.
    """
    if function is None:
        return functools.partial(entry, grad=grad, moves=moves)

    @functools.wraps(function)
    def entered(*args: Any, **kwargs: Any) -> Any:
        if torch.compiler.is_compiling():  # which can express no more than an autocast
            if not (torch.is_autocast_enabled("cpu") or torch.is_autocast_enabled("cuda")):
                return function(*args, **kwargs)
            with torch.autocast("cpu", enabled=False), torch.autocast("cuda", enabled=False):
                return function(*args, **kwargs)
        if moves and (far := _far((*args, *kwargs.values()))):
            there = entered(*devices.moved(args, "cpu"), **devices.moved(kwargs, "cpu"))
            return there if dataclasses.is_dataclass(there) else devices.moved(there, far)
        if _is_own(grad):
            return function(*args, **kwargs)
        with own_world(grad=grad):
            return function(*args, **kwargs)

    return entered


def _far(values: Iterable[Any]) -> torch.device | None:
    """The one device of these values, if there are no such sums on it."""
    places = set(_places(values))
    device = places.pop() if len(places) == 1 else None  # of two the function tells
    return None if device is None or devices.sums_float64(device) else device


def _places(values: Iterable[Any]) -> Iterator[torch.device]:
    for value in values:
        if isinstance(value, Tensor):
            yield value.device
        elif type(value) in (list, tuple):
            yield from _places(value[:1])
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            yield from _places(vars(value).values())


def guard(namespace: dict[str, Any], **how: bool) -> None:
    """Make entries of the functions of a module's `__all__`, or else of its own public ones."""
    own = namespace["__name__"]
    for name in namespace.get("__all__") or [name for name in namespace if name[0] != "_"]:
        function: Callable = namespace[name]
        if not isinstance(function, FunctionType):
            continue
        if "__all__" in namespace or function.__module__ == own:
            namespace[name] = entry(function, **how)
            setattr(sys.modules[function.__module__], name, namespace[name])
