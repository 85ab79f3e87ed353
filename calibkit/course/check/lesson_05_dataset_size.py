"""Dataset size: what so few images can say of a gap."""

import torch
from torch import Tensor

from calibkit.course.check.cases import ORDINARY
from calibkit.course.check.engine import exercise

# fmt: off
Z = 1.96

def _off(probs: Tensor, labels: Tensor) -> Tensor:
    """Per image, the confidence minus the hit (1 or 0)."""
    return probs.amax(dim=1).double() - (probs.argmax(dim=1) == labels).double()

def _interval(off: Tensor, half: Tensor | float) -> Tensor:
    gap = off.mean()
    return torch.stack([gap - half, gap, gap + half])

def _error(off: Tensor) -> Tensor:
    return off.std() / len(off) ** 0.5

def _cases() -> dict[str, tuple[Tensor, Tensor]]:
    cases = {name: (probs.double(), labels) for name, (probs, labels) in ORDINARY.items()}
    probs, labels = next(iter(cases.values()))
    certain = torch.eye(3, dtype=torch.float64)[[0, 1, 2, 0, 1, 2]]
    return cases | {
        "two images only": (torch.tensor([[0.9, 0.1], [0.6, 0.4]]), torch.tensor([0, 1])),
        "twelve images": (probs[:12], labels[:12]),
        "predictions that are certain, two of six wrong": (certain, torch.tensor([0, 1, 2, 1, 1, 0])),
        "always right, always certain": (certain, torch.tensor([0, 1, 2, 0, 1, 2])),
        "more right than sure":
            (torch.tensor([[0.6, 0.4], [0.7, 0.3], [0.45, 0.55], [0.8, 0.2]]), torch.tensor([0, 0, 1, 0])),
    }

@exercise(cases=_cases(), mistakes={
    "this is where single images lie. The mean of n images varies less: divide the standard deviation by "
    "the root of n.": lambda p, y: _interval(_off(p, y), Z * _off(p, y).std()),
    "you divided by n. The standard error is the standard deviation divided by the *root* of n.":
        lambda p, y: _interval(_off(p, y), Z * _off(p, y).std() / len(y)),
    "this is one standard error to each side; 95 % take 1.96 of them.":
        lambda p, y: _interval(_off(p, y), _error(_off(p, y))),
    "you took the half of the width. 1.96 standard errors lie on *each* side.":
        lambda p, y: _interval(_off(p, y), Z / 2 * _error(_off(p, y))),
    "you took the variance. The standard deviation is its root: off.std().":
        lambda p, y: _interval(_off(p, y), Z * _off(p, y).var() / len(y) ** 0.5),
    "nearly: you divided the squares by n. From few images the standard deviation takes n - 1, as off.std() "
    "does.": lambda p, y: _interval(_off(p, y), Z * _off(p, y).std(correction=0) / len(y) ** 0.5),
    "the sign is reversed. Take confidence minus hit.":
        lambda p, y: _interval(-_off(p, y), Z * _error(_off(p, y))),
    "you took absolute values image by image. The gap is the plain mean of the differences.":
        lambda p, y: _interval(_off(p, y).abs(), Z * _error(_off(p, y).abs())),
    "you took the standard deviation of the hits alone. The differences, confidence minus hit, vary "
    "otherwise.": lambda p, y: _interval(_off(p, y), Z * ((p.argmax(1) == y).double().std() / len(y) ** 0.5)),
    "the ends are exchanged: lower end, gap, upper end.":
        lambda p, y: _interval(_off(p, y), Z * _error(_off(p, y))).flip(0),
    "the order is lower end, gap, upper end.":
        lambda p, y: _interval(_off(p, y), Z * _error(_off(p, y)))[[1, 0, 2]]})
def gap_interval(probs, labels):
    """Lower end, gap and upper end: mean confidence minus accuracy with its 95 % interval."""
    off = _off(probs, labels)
    return _interval(off, Z * _error(off))
