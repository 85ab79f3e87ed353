"""Four Gaussian clusters in the plane under flipped labels, with their exact posterior."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from calibkit import validate
from calibkit.lab.data.dataset import Dataset, Splits, independent_draws

CLASSES = ("left", "right")
CORNERS = ((-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0))
CORRELATIONS = (0.7, -0.3, 0.5, 0.1)


@dataclass(frozen=True)
class Clusters:
    """Equally likely Gaussians on the corners of a square; its side is the class, up to flips.

    x ~ N(corner_c, [[1, rho_c], [rho_c, 1]]); the label says whether corner c is on the
    left or right, and is turned round with probability `flip`, hence
    p(right | x) = flip + (1 - 2 flip) sum_{c right} N(x; c) / sum_c N(x; c).

    flip: probability of a wrong label, in [0, 1].
    side: length of the square's sides, centred on the origin.
    correlations: rho of the four clusters, each in (-1, 1), in the order of `means`.

    The setting of Mukhoti et al. 2020, appendix C, which leaves the covariances open.

    >>> Clusters().means.tolist()
    [[-2.0, -2.0], [-2.0, 2.0], [2.0, -2.0], [2.0, 2.0]]
    """

    flip: float = 0.1
    side: float = 4.0
    correlations: tuple[float, ...] = CORRELATIONS

    def __post_init__(self) -> None:
        validate.fraction("flip", self.flip)
        validate.number("side", self.side, 0, float("inf"), open_low=True, open_high=True)
        if len(self.correlations) != len(CORNERS):
            raise ValueError(
                f"correlations must be {len(CORNERS)} numbers, got {len(self.correlations)}"
            )
        for rho in self.correlations:
            validate.number("correlations", rho, -1, 1, open_low=True, open_high=True)

    @property
    def means(self) -> Tensor:
        """(4, 2) corners of the square, in float64."""
        return torch.tensor(CORNERS, dtype=torch.float64) * self.side / 2

    @property
    def covariances(self) -> Tensor:
        """(4, 2, 2) covariance of each cluster, in float64."""
        return torch.tensor([[[1, rho], [rho, 1]] for rho in self.correlations]).double()

    @property
    def sides(self) -> Tensor:
        """(4,) the side of each cluster: -1 left, +1 right."""
        return self.means[:, 0].sign()

    def draw(self, n: int, *, seed: int | torch.Generator) -> Dataset:
        """`n` independent points with their (possibly flipped) labels and the exact posterior."""
        n = validate.integer("n", n, 1)
        generator = validate.generator(seed)
        cluster = torch.randint(len(CORNERS), (n,), generator=generator)
        normal = torch.randn(n, 2, generator=generator, dtype=torch.float64)
        root = torch.linalg.cholesky(self.covariances)[cluster]
        points = (self.means[cluster] + (root @ normal[:, :, None])[:, :, 0]).float()
        flipped = torch.rand(n, generator=generator) < self.flip
        labels = ((self.sides[cluster] > 0) ^ flipped).long()
        return Dataset(points, labels, CLASSES, self.posterior(points), self)

    def posterior(self, points: Tensor) -> Tensor:
        """(n, 2) exact p(label | point) of points (n, 2), flips included, in float64."""
        points = validate.finite("points", validate.floating("points", points, ndim=2))
        if points.shape[1] != 2:
            raise ValueError(f"points must be (n, 2), got {tuple(points.shape)}")
        away = points.double()[:, None] - self.means.to(points.device)  # (n, 4, 2)
        covariances = self.covariances.to(points.device)
        distance = torch.einsum("nci,cij,ncj->nc", away, covariances.inverse(), away)
        weight = (-(distance + covariances.logdet()) / 2).softmax(dim=1)
        right = weight @ (self.sides.to(points.device) > 0).double()
        right = self.flip + (1 - 2 * self.flip) * right
        return torch.stack([1 - right, right], dim=1).clamp_(0, 1)  # rounding may pass 1 by 1e-16


def clusters(
    n: int = 4_000, flip: float = 0.1, seed: int = 0, *, calibration: int = 1_000, test: int = 1_000
) -> Splits:
    """Three independent draws from `Clusters(flip)`, `n` points of them to train on.

    The default sizes are those of Mukhoti et al. 2020, appendix C.
    Raises ValueError for a size below 1, a negative seed, or `flip` outside [0, 1].

    >>> train, calibration, test = clusters(seed=1)
    >>> len(train), len(calibration), len(test)
    (4000, 1000, 1000)
    """
    return independent_draws(Clusters(flip), n=n, calibration=calibration, test=test, seed=seed)
