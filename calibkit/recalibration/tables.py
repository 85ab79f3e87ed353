"""Tables of several functions of one score, as tensors of one shape that ONNX can read."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor
from torch.nn.functional import pad


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
