"""Drawing samples with replacement: what every bootstrap interval of the package is made from."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor

from calibkit import validate
from calibkit.metrics import bins as _bins

SMALL = 16  # a cell of at most so many samples is resampled one by one
GROUPS = 4096  # at most so many units are resampled
Method = Literal["reflected", "percentile"]


def options(
    method: Method, bins: int, level: float, resamples: int, seed: int
) -> tuple[Method, int, float, int, Generator]:
    """The options of an interval, checked; the seed as a generator."""
    return (
        validate.choice("method", method, get_args(Method)),
        _bins.check_options(bins),
        validate.level(level),
        validate.integer("resamples", resamples, 1),
        np.random.default_rng(validate.integer("seed", seed, 0)),
    )


def bounds(values: np.ndarray, here: float, level: float, method: Method) -> tuple[float, float]:
    """The interval of either method from resampled values and the sample's own, `here`."""
    low, high = (float(x) for x in np.quantile(values, [(1 - level) / 2, (1 + level) / 2]))
    return (low, high) if method == "percentile" else (2 * here - high, 2 * here - low)


def weights(units: int, resamples: int, random: Generator) -> Tensor:
    """(resamples, units) float64, how often each unit is drawn; every row sums to `units`."""
    drawn = random.multinomial(units, np.full(units, 1 / units), size=resamples)
    return torch.from_numpy(drawn).double()


class Groups:
    """Random groups of samples that are resampled as units: the samples up to n = 4096.

    with_sample: whether the first of the resamples is the sample itself.
    of_rows: (n,) weights of the samples, which each brings along when it is drawn.
    """

    def __init__(
        self,
        n: int,
        resamples: int,
        random: Generator,
        device="cpu",
        *,
        with_sample: bool = False,
        of_rows: Tensor | None = None,
    ):
        self.of_rows = of_rows
        self.groups = n // -(-n // GROUPS)  # -(-a // b) rounds up: all but a few of equal size
        self.of = torch.from_numpy(random.permutation(n) % self.groups).to(device)
        self.weights = weights(self.groups, resamples, random).to(device)
        if with_sample:
            self.weights[0] = 1
        self.drawn = self.weights @ torch.bincount(self.of, of_rows, self.groups).double()

    def sums(self, values: Tensor, index: Tensor, bins: int) -> Tensor:
        """(resamples, bins) sums of the (n,) values by the bin of each."""
        values = values if self.of_rows is None else values * self.of_rows
        table = torch.bincount(self.of * bins + index, values, self.groups * bins)
        return self.weights @ table.view(self.groups, bins)

    def means(self, values: Tensor) -> Tensor:
        """(resamples,) means of the (n,) values."""
        return self.sums(values, torch.zeros_like(self.of), 1)[:, 0] / self.drawn


def draw_cells(
    values: Tensor, cell: Tensor, cells: int, resamples: int, random: Generator
) -> tuple[Tensor, Tensor]:
    """What samples drawn with replacement bring to an even number of cells, two cells a bin.

    values, cell: (n,) the value of each sample and the cell that it lies in.

    Returns (resamples, cells) counts, one multinomial draw and so exact, and (resamples, cells / 2)
    sums of the values in each bin. Members of a cell of at most 16 are drawn one by one, which is
    exact; the sums of larger ones come from normals of the cell's mean and variance, and those of
    two cells add up to a normal.
    """
    values = values.double()
    size, first, second = (
        torch.bincount(cell, values**power, cells).cpu().numpy() for power in (0, 1, 2)
    )
    mean = first / np.maximum(size, 1)
    variance = np.maximum(second / np.maximum(size, 1) - mean * mean, 0)
    size = size.astype(int)
    counts = np.zeros((resamples, cells), dtype=np.int64)
    filled = size > 0
    share = size[filled] / size.sum()
    counts[:, filled] = random.multinomial(size.sum(), share, size=resamples)
    exact = (size > 1) & (size <= SMALL)
    of_bin = np.repeat(np.eye(cells // 2), 2, axis=0) * ~exact[:, None]
    weight = counts.astype(float)
    sums, squares = (weight @ (moment[:, None] * of_bin) for moment in (mean, variance))
    sums += np.sqrt(squares) * random.standard_normal(sums.shape)
    for c in np.flatnonzero(exact):
        members = values[cell == c].cpu().numpy()
        owner = np.repeat(np.arange(resamples), counts[:, c])
        drawn = members[random.integers(len(members), size=len(owner))]
        sums[:, c // 2] += np.bincount(owner, weights=drawn, minlength=resamples)
    return torch.from_numpy(counts), torch.from_numpy(sums)
