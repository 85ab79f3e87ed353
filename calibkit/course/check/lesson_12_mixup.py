"""Mixup."""

import torch
from torch import Tensor

from calibkit import mixing
from calibkit.course.check.engine import exercise


# fmt: off
def _batch(labels: list, partner: list, lam: float, classes: int) -> tuple[Tensor, Tensor, float, int]:
    return torch.tensor(labels), torch.tensor(partner), lam, classes

# The last class has no sample; a cycle of four differs from its own inverse.
MIX_CASES = {
    "4 samples, lam = 0.8, a class without samples": _batch([0, 1, 1, 0], [1, 2, 3, 0], 0.8, 3),
    "3 samples, lam = 0.3, classes without samples": _batch([1, 0, 0], [2, 0, 1], 0.3, 4),
    "lam = 1": _batch([0, 1, 2], [1, 2, 0], 1.0, 3),
    "lam = 0": _batch([0, 1, 2], [1, 2, 0], 0.0, 3),
    "lam = 0.5": _batch([2, 1, 0], [0, 2, 1], 0.5, 3),
    "a sample that is its own partner": _batch([3, 1], [0, 1], 0.6, 4),
    "two samples with the same partner": _batch([1, 2, 0], [1, 1, 0], 0.6, 3),
    "12 classes": _batch([11, 0, 5, 5, 10, 3], [5, 3, 0, 1, 2, 4], 0.35, 12),
}

def _mixed(labels: Tensor, partner: Tensor, lam: float, classes: int) -> Tensor:
    return mixing.Mix(torch.tensor(lam), partner).soft_labels(labels, classes)

def _own_share(labels: Tensor, partner: Tensor, lam: float, classes: int) -> Tensor:
    return lam * torch.nn.functional.one_hot(labels, classes)

def _overwritten(labels: Tensor, partner: Tensor, lam: float, classes: int) -> Tensor:
    rows = torch.zeros(len(labels), classes)
    rows[torch.arange(len(labels)), labels] = lam
    rows[torch.arange(len(labels)), labels[partner]] = 1 - lam
    return rows

@exercise(cases=MIX_CASES, mistakes={
    "the weights are exchanged: lam belongs to the sample itself, 1 - lam to its partner.":
        lambda y, partner, lam, classes: _mixed(y, partner, 1 - lam, classes),
    "both shares are lam: the partner has 1 - lam.":
        lambda y, partner, lam, classes: 2 * lam * _mixed(y, partner, 0.5, classes),
    "the rows do not sum to 1: the own share, lam, is missing.": lambda y, partner, lam, classes:
            _mixed(y, partner, lam, classes) - _own_share(y, partner, lam, classes),
    "this is the own label alone: the partner is ignored.":
        lambda y, partner, lam, classes: torch.nn.functional.one_hot(y, classes),
    "this is the partner's label alone: the own one is ignored.":
        lambda y, partner, lam, classes: torch.nn.functional.one_hot(y[partner], classes),
    "where both labels are of one class, the partner's share overwrites that of the own class: add it (+=).":
        _overwritten,
    "you gave the larger share to the sample itself. It gets lam, also where lam < 1/2.":
        lambda y, partner, lam, classes: _mixed(y, partner, max(lam, 1 - lam), classes),
    "you took the partner's index for its label: labels[partner].": lambda y, partner, lam, classes:
            _own_share(y, partner, lam, classes) + (1 - lam) * torch.nn.functional.one_hot(partner, classes),
    "a class is missing. A class that no label of the batch names still has its column: one_hot(labels, "
    "classes).": lambda y, partner, lam, classes: _mixed(y, partner, lam, int(y.max()) + 1),
    "you mixed the numbers of the classes. Halfway between a 1 and a 7 lies no 4: turn labels into one-hot "
    "rows first.": lambda y, partner, lam, classes: lam * y + (1 - lam) * y[partner],
    "the rows do not sum to 1: the partner's share, 1 - lam, is missing.": _own_share,
    "these are hard labels, the larger share takes all. Keep both shares.":
        lambda y, partner, lam, classes: _mixed(y, partner, float(lam >= 0.5), classes),
    "you went from partner to sample. Row i is mixed with row partner[i]: index with partner.":
        lambda y, partner, lam, classes: _mixed(y, partner.argsort(), lam, classes)})
def mixed_labels(labels, partner, lam, classes):
    """The labels (n, classes) of mixup: lam of the own label, 1 - lam of the partner's."""
    return _mixed(labels, partner, lam, classes)

def _errors() -> dict[str, tuple[Tensor, Tensor]]:
    """Errors (seeds, strengths) on two splits whose best strengths differ."""
    generator = torch.Generator().manual_seed(12)
    shapes = ((3, 4), (2, 5), (2, 6), (4, 4), (1, 3), (3, 1), (20, 7))
    draw: dict = {"generator": generator, "dtype": torch.float64}
    return {f"{seeds} seeds, {strengths} strengths": tuple(torch.rand(2, seeds, strengths, **draw))
        for seeds, strengths in shapes}

def _looked_up(cal: Tensor, test: Tensor) -> Tensor:
    return test.gather(1, cal.argmin(dim=1, keepdim=True))[:, 0]

ROWS = ("a strength is a column, and test[best] takes rows. Row i belongs with column best[i]: "
    "test[torch.arange(len(test)), best], or use gather.")

@exercise(cases=_errors(), slips={
    r"out of bounds|out of range": ROWS[0].upper() + ROWS[1:]}, mistakes={
    "you chose on the test set: this is the best that luck could offer there.":
        lambda cal, test: test.amin(dim=1),
    "the test errors had a say in the choice. Choose on cal alone.":
        lambda cal, test: test.gather(1, (cal + test).argmin(dim=1, keepdim=True))[:, 0],
    "the first seed chose for all. Here each seed (row) chooses for itself.":
        lambda cal, test: test[:, cal[0].argmin()],
    "you report the error on the very data that chose, where the winner was lucky. Report the same "
    "strength's error on test.": lambda cal, test: cal.amin(dim=1),
    "this is the position of the chosen strength. Asked is its error on test.":
        lambda cal, test: cal.argmin(dim=1),
    "you chose one strength for all seeds. Here each seed (row) chooses for itself.":
        lambda cal, test: test[:, cal.mean(dim=0).argmin()],
    "the smallest error of the whole table chose for all. Each seed (row) chooses for itself: argmin(dim=1).":
        lambda cal, test: test.flatten()[cal.argmin()].expand(len(test)),
    "this is the mean over all strengths: nothing was chosen.": lambda cal, test: test.mean(dim=1),
    "you took the largest error on cal: argmin, not argmax.": lambda cal, test: _looked_up(-cal, test),
    "this takes every chosen column of every seed. Each row has one of its own: pair them, "
    "test[torch.arange(len(test)), best], or use gather.": lambda cal, test: test[:, cal.argmin(dim=1)],
    ROWS: lambda cal, test: test[cal.argmin(dim=1)]})
def honest_choice(cal, test):
    """Each seed's test error at the strength that cal chose: (n,), from errors (n, strengths)."""
    return _looked_up(cal, test)
