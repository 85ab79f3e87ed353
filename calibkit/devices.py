"""What moves from one device to another, in one place."""

from __future__ import annotations

import copy
import dataclasses
import functools
from itertools import chain
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn


def same(one: str | torch.device, other: str | torch.device) -> bool:
    """Whether two names mean one device; "cuda" is any of its kind, as it is the current one.

    >>> same("cuda", "cuda:1"), same("cuda:0", "cuda:1"), same("cpu", "cuda")
    (True, False, False)
    """
    one, other = torch.device(one), torch.device(other)
    return one.type == other.type and (None in (one.index, other.index) or one == other)


NO_FLOAT64 = {"mps"}  # kinds of devices


def sums_float64(device: torch.device) -> bool:
    """Whether a device adds in float64, and in one order where that is asked for."""
    if device.type == "cpu":
        return True
    return device.type not in NO_FLOAT64 and not torch.are_deterministic_algorithms_enabled()


def moved(value: Any, device: str | torch.device, known: dict[int, tuple] | None = None) -> Any:
    """`value` with all tensors that it is made of on the device; itself if they are there.

    Lists, tuples, dictionaries, dataclasses, modules and what a `functools.partial` binds are
    looked into; what a function holds in its closure is not. Float64 becomes float32 on a device
    that has none.

    known: what was moved before, so that it moves once, and what two values share stays shared.

    >>> loss = functools.partial(nn.functional.cross_entropy, weight=torch.ones(2))
    >>> moved(loss, "cpu") is loss, moved(loss, "meta").keywords["weight"].device.type
    (True, 'meta')
    """
    known = {} if known is None else known
    if id(value) not in known:  # and as long as it is there, no other value has its id
        known[id(value)] = value, _moved(value, torch.device(device), known)
    return known[id(value)][1]


def _moved(value: Any, device: torch.device, known: dict[int, tuple]) -> Any:
    if isinstance(value, Tensor):
        narrow = device.type in NO_FLOAT64 and value.dtype == torch.float64
        return (value.float() if narrow else value).to(device)
    if isinstance(value, nn.Module):
        held = chain(value.parameters(), value.buffers())
        here = all(same(tensor.device, device) for tensor in held)
        return value if here else copy.deepcopy(value).to(device)
    if isinstance(value, functools.partial):
        parts = [value.func, value.args, value.keywords]
        function, args, keywords = (moved(part, device, known) for part in parts)
        here = function is value.func and args is value.args and keywords is value.keywords
        return value if here else functools.partial(function, *args, **keywords)
    if type(value) in (list, tuple):
        there = [moved(part, device, known) for part in value]
        here = all(part is before for part, before in zip(there, value, strict=True))
        return value if here else type(value)(there)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields: dict = moved(vars(value), device, known)
        of_class = copy.copy(value)
        vars(of_class).update(fields)
        return value if fields is vars(value) else of_class
    if isinstance(value, dict):
        there, changed = moved([*value.values()], device, known), copy.copy(value)
        here = all(part is before for part, before in zip(there, value.values(), strict=True))
        changed.update(zip(value, there, strict=True))
        return value if here else changed
    return value


def as_array(value: Any, dtype: Any = None) -> np.ndarray:
    """An array of numbers, of a tensor on any device, or of a list of such.

    >>> as_array([torch.ones(2), torch.zeros(2)], int).tolist()
    [[1, 1], [0, 0]]
    """
    return np.asarray(moved(value, "cpu"), dtype=dtype)
