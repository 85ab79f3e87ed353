"""Real digits that need no download; under Gaussian noise with the true posterior of each image."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch
from sklearn.datasets import load_digits
from torch import Tensor

from calibkit import validate
from calibkit.lab.data.dataset import Dataset, Splits, independent_draws
from calibkit.validate import Array

CLASSES = tuple("0123456789")
BRIGHTEST = 16  # scikit-learn stores 17 grey levels
CHUNK = 250  # rows at a time: 250 x 1,797 float64 distances take 4 MB and stay in the cache


@cache
def all_digits() -> tuple[Tensor, Tensor]:
    """The 1,797 images (n, 1, 8, 8) in [0, 1] and their labels (n,)."""
    stored = load_digits()
    images = torch.from_numpy(stored.images).float().unsqueeze(1) / BRIGHTEST
    return images, torch.from_numpy(stored.target).long()


def digits(*, seed: int = 0, calibration: int = 300, test: int = 500) -> Splits:
    """Real 8x8 handwritten digits, split at random into parts that share no image.

    The 1,797 grey images of scikit-learn (UCI "Optical Recognition of Handwritten Digits" test
    set), scaled to [0, 1]; whatever calibration and test leave over is for training.
    Raises ValueError when the two parts leave nothing to train on.

    >>> train, calibration, test = digits()
    >>> len(train), len(calibration), len(test), tuple(train.inputs.shape[1:])
    (997, 300, 500, (1, 8, 8))
    """
    images, labels = all_digits()
    calibration = validate.integer("calibration", calibration, 1, len(images) - 2)
    test = validate.integer("test", test, 1, len(images) - calibration - 1)
    order = torch.randperm(len(images), generator=validate.generator(seed))
    parts = order.split([len(images) - calibration - test, calibration, test])
    return Splits(*(Dataset(images[part], labels[part], CLASSES) for part in parts))


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
