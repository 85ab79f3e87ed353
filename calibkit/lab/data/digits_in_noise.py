"""Real digits under Gaussian noise: as many draws as one wants, and the true posterior of each."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from calibkit import validate
from calibkit.lab.data.dataset import Dataset, Splits, independent_draws
from calibkit.lab.data.handwriting import CLASSES, all_digits
from calibkit.validate import Array

CHUNK = 250  # rows at a time: 250 x 1,797 float64 distances take 4 MB and stay in the cache


@dataclass(frozen=True)
class NoisyDigits:
    """A real digit chosen at random plus Gaussian noise on every pixel.

    A mixture of 1,797 Gaussians, x = digit_j + noise * e with e ~ N(0, I_64), hence
    p(class k | x) = sum_{j in k} exp(-|x - digit_j|^2 / (2 noise^2)) / (the same over all j).

    noise: standard deviation per pixel, in units of the full grey range [0, 1].

    >>> mixture = NoisyDigits(noise=0.4)
    >>> drawn = mixture.draw(1000, seed=0)
    >>> drawn.inputs.shape, drawn.posterior.shape
    (torch.Size([1000, 1, 8, 8]), torch.Size([1000, 10]))
    """

    noise: float = 0.4

    def __post_init__(self) -> None:
        validate.number("noise", self.noise, 0, float("inf"), open_low=True, open_high=True)

    def draw(self, n: int, *, seed: int | torch.Generator) -> Dataset:
        """`n` independent images with their labels and their exact posterior."""
        n = validate.integer("n", n, 1)
        generator = validate.generator(seed)
        images, labels = all_digits()
        chosen = torch.randint(len(images), (n,), generator=generator)
        drawn = images[chosen]
        drawn = drawn + self.noise * torch.randn(drawn.shape, generator=generator)
        return Dataset(drawn, labels[chosen], CLASSES, self.posterior(drawn), self)

    @property
    def prior(self) -> Tensor:
        """(10,) float64 share of each class in what `draw` gives: that among the 1,797 digits."""
        shares = all_digits()[1].bincount(minlength=len(CLASSES)).double()
        return shares / shares.sum()

    def posterior(self, images: Tensor, *, prior: Array | None = None) -> Tensor:
        """(n, 10) exact p(class | image) of images (n, 1, 8, 8), in float64.

        prior: (10,) shares of the classes where the images occur, if they are not `self.prior`, as
            in an imbalanced training set; the digits of one class stay equally likely. Raises
            ValueError for another length, or shares that are negative or do not sum to 1.

        >>> mixture = NoisyDigits(noise=0.4)
        >>> images = mixture.draw(3, seed=0).inputs
        >>> mixture.posterior(images, prior=[1.0] + [0.0] * 9)[:, 0].float().tolist()  # zeros alone
        [1.0, 1.0, 1.0]
        """
        images = validate.floating("images", images, ndim=4)
        if images.shape[1:] != (1, 8, 8):
            raise ValueError(f"images must be (n, 1, 8, 8), got {tuple(images.shape)}")
        validate.finite("images", images)
        frequency = torch.ones(len(CLASSES), dtype=torch.float64)  # how many times the usual
        if prior is not None:
            frequency = validate.distribution("prior", prior, len(CLASSES)) / self.prior
        digits, labels = (part.to(images.device) for part in all_digits())
        digits, component = digits.flatten(1).double(), frequency.to(images.device).log()[labels]
        rows = []
        for chunk in images.split(CHUNK):
            distance = torch.cdist(chunk.flatten(1).double(), digits).square_()
            weight = distance.div_(-2 * self.noise**2).add_(component).softmax(dim=1)
            classes = weight.new_zeros(len(chunk), len(CLASSES)).index_add_(1, labels, weight)
            rows.append(classes.clamp_(max=1))  # rounding may pass 1 by 1e-16
        return torch.cat(rows)


def noisy_digits(
    n: int = 1500,
    noise: float = 0.4,
    seed: int = 0,
    *,
    calibration: int = 2_000,
    test: int = 10_000,
) -> Splits:
    """Three independent draws from `NoisyDigits(noise)`, `n` of them to train on.

    The splits reuse the same 1,797 digits under fresh noise. That is no leakage: the population
    *is* the mixture, and each split is an independent sample of it, as train and test should be.
    What a model reaches here says nothing of digits by other writers; for those see `digits`.
    Raises ValueError for a size below 1, a negative seed, or noise that is not positive.

    >>> train, calibration, test = noisy_digits(300, noise=0.4, seed=1)
    >>> len(train), len(calibration), len(test)
    (300, 2000, 10000)
    """
    return independent_draws(NoisyDigits(noise), n=n, calibration=calibration, test=test, seed=seed)
