"""Real handwritten digits that need no download."""

from __future__ import annotations

from functools import cache

import torch
from sklearn.datasets import load_digits
from torch import Tensor

from calibkit import validate
from calibkit.lab.data.dataset import Dataset, Splits

CLASSES = tuple("0123456789")
BRIGHTEST = 16  # scikit-learn stores 17 grey levels


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
