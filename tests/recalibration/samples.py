"""Logits with labels drawn from what they should have been, and all calibrators."""

import torch
from torch.nn.functional import cross_entropy

from calibkit import recalibration

ALL = [
    kind
    for name in recalibration.__all__
    if isinstance(kind := getattr(recalibration, name), type)
    and issubclass(kind, recalibration.Calibrator)
    and kind is not recalibration.Calibrator
]


def quick(kind):
    """A calibrator as it comes, but for a search over penalties, which tries two."""
    few = {"penalties": (0.03, 0.3), "folds": 2}
    return kind(**few) if kind is recalibration.ShrunkMatrixScaler else kind()


def scored(n=2000, classes=5, temperature=2.0, seed=0, spread=2.0, dtype=torch.float64):
    """Logits that are `temperature` times too steep, and labels drawn from the right ones."""
    g = torch.Generator().manual_seed(seed)
    z = torch.randn(n, classes, generator=g, dtype=torch.float64) * spread
    labels = torch.multinomial(z.softmax(1), 1, generator=g)[:, 0]
    return (z * temperature).to(dtype), labels


def exact(temperature, parts=((7, 2, 1), (1, 3, 6), (5, 3, 2)), times=1):
    """Data whose least NLL is at `temperature` exactly: label counts match softmax(z / T)."""
    logits, labels = [], []
    for counts in parts:
        share = torch.tensor(counts, dtype=torch.float64) / sum(counts)
        logits.append((temperature * share.log()).repeat(sum(counts) * times, 1))
        labels.append(torch.arange(len(counts)).repeat_interleave(torch.tensor(counts) * times))
    return torch.cat(logits), torch.cat(labels)


def nll(logits, labels):
    return cross_entropy(logits.double(), labels).item()
