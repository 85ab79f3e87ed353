"""The fifteen corruptions at five severities on 32 px photographs, against imagecorruptions-imaug.

The peer takes one uint8 image at a time, so it runs on a subsample and its time is scaled.
It has ImageNet-C constants only: `table="imagenet"` compares equal work, "cifar" what each
package does by default at this size. Its frost reads a photograph from disk at every call,
which flatters the total; hence the row without frost.
"""

import warnings
from collections.abc import Iterator

import cv2
import imagecorruptions
import numpy as np
import torch
from sklearn.datasets import load_sample_images

from calibkit.corruptions import NAMES, corrupt
from tests.benchmarks.timing import Row, interleaved_ms

IMAGES, SUBSAMPLE, SIDE = 10_000, 40, 32
PEER = "imagecorruptions-imaug"


def photographs() -> torch.Tensor:
    """(10,000, 3, 32, 32) uint8 crops at random places of two photographs."""
    rng = np.random.default_rng(0)
    crops = []
    for photo in load_sample_images().images:
        top = rng.integers(0, photo.shape[0] - SIDE, IMAGES // 2)
        left = rng.integers(0, photo.shape[1] - SIDE, IMAGES // 2)
        crops += [photo[t : t + SIDE, v : v + SIDE] for t, v in zip(top, left, strict=True)]
    shuffled = np.stack(crops)[rng.permutation(IMAGES)]
    return torch.from_numpy(shuffled).permute(0, 3, 1, 2).contiguous()


def times(images: torch.Tensor, name: str, severity: int, table: str) -> tuple[float, float]:
    """CPU milliseconds for all images: ours, and the peer's scaled up from the subsample."""
    generator = torch.Generator().manual_seed(0)
    singles = list(images[:SUBSAMPLE].permute(0, 2, 3, 1).contiguous().numpy())
    ours, theirs = interleaved_ms(
        lambda: corrupt(images, name, severity, generator=generator, table=table),
        lambda: [imagecorruptions.corrupt(i, severity, name) for i in singles],
        repeats=3,
    )
    return ours, theirs * IMAGES / SUBSAMPLE


def rows() -> Iterator[Row]:
    cv2.setNumThreads(1)
    warnings.simplefilter("ignore")  # the peer divides integers by zero on black images
    images = photographs()
    for table in ("cifar", "imagenet"):
        ours, theirs = np.zeros((2, len(NAMES), 5))
        for i, name in enumerate(NAMES):
            for s in range(5):
                ours[i, s], theirs[i, s] = times(images, name, s + 1, table)
            ratio = (theirs[i] / ours[i]).min()
            yield Row(f"{name}, {table}, worst severity", PEER, ratio, 2, ours_ms=ours[i].sum())
        rest = [i for i, name in enumerate(NAMES) if name != "frost"]
        total = ours.sum()
        yield Row(f"all 15 x 5, {table}", PEER, theirs.sum() / total, 18, ours_ms=total)
        total = ours[rest].sum()
        yield Row(f"all but frost, {table}", PEER, theirs[rest].sum() / total, 9, ours_ms=total)
