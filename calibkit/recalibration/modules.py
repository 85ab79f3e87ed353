"""Fitted maps as `nn.Module`s: to stand behind a network, to be saved and to be exported.

What all of them share, and the affine one. Each other map has its module beside its calibrator.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from calibkit import torch_defaults

EXTRA = "_extra_state"  # PyTorch's key
KINDS: dict[str, type[Map]] = {}


class Map(nn.Module):
    """A fitted map of logits (n, K) to logits (n, K), whose numbers are float64 buffers.

    Its `state_dict` holds the name of the map beside them, so that `restore` needs nothing else.
    """

    def __init__(self, **numbers: Tensor | float):
        super().__init__()
        for name, value in numbers.items():
            kept = torch.as_tensor(value, dtype=torch.float64).detach().clone()
            self.register_buffer(name, kept)

    def __init_subclass__(cls) -> None:
        KINDS[cls.__name__] = cls
        cls.forward = torch_defaults.entry(moves=True)(cls.forward)  # type: ignore[method-assign]

    def _apply(self, fn: Any, recurse: bool = True) -> Any:
        """What cannot be float64 on a device stays on the CPU, and `forward` computes there."""

        def kept(tensor: Tensor) -> Tensor:
            try:
                return fn(tensor)
            except TypeError:
                return tensor

        return super()._apply(kept, recurse)

    def get_extra_state(self) -> dict[str, str]:
        """The name of the map."""
        return {"map": type(self).__name__}

    def set_extra_state(self, state: Mapping[str, str]) -> None:
        """Raises ValueError for the state of another map."""
        if state != self.get_extra_state():
            raise ValueError(f"state_dict must be of {type(self).__name__}, got one of {state}")


class Affine(Map):
    """W z / T + b; the weight W is one number a class (or for all), or a matrix.

    >>> Affine(temperature=2.0, weight=torch.ones(1), bias=0.5)(torch.tensor([[3.0, 1.0]])).tolist()
    [[2.0, 1.0]]
    """

    temperature: Tensor
    weight: Tensor
    bias: Tensor

    def forward(self, logits: Tensor) -> Tensor:
        return affine(cooled(logits, self.temperature), self.weight, self.bias)


def cooled(logits: Tensor, temperature: float | Tensor) -> Tensor:
    """z / T in the type of z (n, K); less the largest of its row where that would overflow.

    >>> cooled(torch.tensor([[80.0, 75.0]]).half(), 0.001).tolist()
    [[0.0, -5000.0]]
    """
    if not isinstance(temperature, Tensor) and temperature >= 1:
        return logits / temperature
    limits = torch.finfo(logits.dtype)
    z = logits.to(torch.promote_types(logits.dtype, torch.float32))
    scale = (
        torch.as_tensor(temperature, dtype=torch.float64).to(z).clamp(min=torch.finfo(z.dtype).tiny)
    )
    divided = z / scale
    lifted = ((z - z.amax(1, keepdim=True)) / scale).clamp(min=limits.min)
    small = divided.abs().amax(1, keepdim=True) <= limits.max
    return divided.where(small, lifted).to(logits.dtype)


def affine(z: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """W z + b (n, K) in the type of z (n, K); weight (K, K), (K,) or one number for all."""
    weight, bias = weight.to(z.dtype), bias.to(z.dtype)
    return (z @ weight.T if weight.dim() == 2 else z * weight) + bias


def restore(state: Mapping[str, Any]) -> Map:
    """The map of a `state_dict` that `calibrator.module()` gave, without the calibrator.

    Raises ValueError for a state that is none.

    >>> state = Affine(temperature=2.0, weight=torch.ones(1), bias=0.0).state_dict()
    >>> restore(state)(torch.tensor([[3.0, 1.0]])).tolist()
    [[1.5, 0.5]]
    """
    numbers = {name: value for name, value in state.items() if name != EXTRA}
    kind = state[EXTRA].get("map") if isinstance(state.get(EXTRA), Mapping) else None
    if kind not in KINDS:
        remedy = "pass the state_dict() of a calibrator's module()"
        raise ValueError(f"state must name one of {sorted(KINDS)}, got {kind!r}; {remedy}")
    return KINDS[kind](**numbers)


# --- tables of several functions of one score, of one shape, for ONNX ---


def edges_table(rows: Iterable[Tensor]) -> Tensor:
    """Edges of each class (C, m) in rising order, infinite ones added up to m = 2^k - 1.

    >>> edges_table([torch.tensor([0.5]), torch.tensor([0.1, 0.2])]).tolist()
    [[0.5, inf, inf], [0.10000000149011612, 0.20000000298023224, inf]]
    """
    rows = list(rows)
    m = 2 ** max(len(row) for row in rows).bit_length() - 1
    return torch.stack([pad(row, (0, m - len(row)), value=math.inf) for row in rows])


def values_table(rows: Iterable[Tensor]) -> Tensor:
    """Numbers of each class (C, m), m of 2 or more, the last one of a class repeated.

    >>> values_table([torch.tensor([1.0]), torch.tensor([2.0, 3.0, 4.0])]).tolist()
    [[1.0, 1.0, 1.0], [2.0, 3.0, 4.0]]
    """
    rows = list(rows)
    m = max(2, *map(len, rows))
    return torch.stack([torch.cat([row, row[-1:].expand(m - len(row))]) for row in rows])


def passed(scores: Tensor, edges: Tensor, *, at: bool = False) -> Tensor:
    """(C, n) number of edges (C, 2^k - 1) that lie below each score (C, n), or also at it.

    By halving, in k steps: ONNX has no `searchsorted`.

    >>> edges, scores = edges_table([torch.tensor([0.25, 0.5])]), torch.tensor([[0.1, 0.5, 0.9]])
    >>> passed(scores, edges).tolist(), passed(scores, edges, at=True).tolist()
    ([[0, 1, 2]], [[0, 2, 2]])
    """
    number = torch.zeros_like(scores, dtype=torch.int64)
    step = (edges.shape[1] + 1) // 2
    while step:
        edge = edges.gather(1, number + (step - 1))
        number = number + step * (edge <= scores if at else edge < scores).long()
        step //= 2
    return number
