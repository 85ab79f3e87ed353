"""Digital: contrast, elastic transform, pixelation, JPEG and saturation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from calibkit.corruptions.noise import uniform_like
from calibkit.corruptions.separable import box_matrix, gaussian_matrix, separable, tidy

# Published for 224 px as multiples of 244.
IMAGENET_ELASTIC = 244 / 224

CIFAR = {
    "contrast": (0.75, 0.5, 0.4, 0.3, 0.15),  # scale of the distance from the mean
    # in sides of the image: size and smoothness of the waves, shift of the corners
    "elastic_transform": (
        (0, 0, 0.08),
        (0.05, 0.2, 0.07),
        (0.08, 0.06, 0.06),
        (0.1, 0.04, 0.05),
        (0.1, 0.03, 0.03),
    ),
    "pixelate": (0.95, 0.9, 0.85, 0.75, 0.65),  # cells in a side
    "jpeg_compression": (80, 65, 58, 50, 40),  # quality
    "saturate": ((0.3, 0), (0.1, 0), (1.5, 0), (2, 0.1), (2.5, 0.2)),  # S -> a S + b
}
IMAGENET = {
    "contrast": (0.4, 0.3, 0.2, 0.1, 0.05),
    "elastic_transform": tuple(
        tuple(IMAGENET_ELASTIC * value for value in row)
        for row in (
            (2, 0.7, 0.1),
            (2, 0.08, 0.2),
            (0.05, 0.01, 0.02),
            (0.07, 0.01, 0.02),
            (0.12, 0.01, 0.02),
        )
    ),
    "pixelate": (0.6, 0.5, 0.4, 0.3, 0.25),
    "jpeg_compression": (25, 18, 15, 10, 7),
    "saturate": ((0.3, 0), (0.1, 0), (2, 0), (5, 0.1), (20, 0.2)),
}

# The example tables of the JPEG standard (ITU-T T.81, Annex K), which every encoder scales.
LUMA_STEPS = (
    (16, 11, 10, 16, 24, 40, 51, 61),
    (12, 12, 14, 19, 26, 58, 60, 55),
    (14, 13, 16, 24, 40, 57, 69, 56),
    (14, 17, 22, 29, 51, 87, 80, 62),
    (18, 22, 37, 56, 68, 109, 103, 77),
    (24, 35, 55, 64, 81, 104, 113, 92),
    (49, 64, 78, 87, 103, 121, 120, 101),
    (72, 92, 95, 98, 112, 100, 103, 99),
)
CHROMA_STEPS = (
    (17, 18, 24, 47, 99, 99, 99, 99),
    (18, 21, 26, 66, 99, 99, 99, 99),
    (24, 26, 56, 99, 99, 99, 99, 99),
    (47, 66, 99, 99, 99, 99, 99, 99),
    (99, 99, 99, 99, 99, 99, 99, 99),
    (99, 99, 99, 99, 99, 99, 99, 99),
    (99, 99, 99, 99, 99, 99, 99, 99),
    (99, 99, 99, 99, 99, 99, 99, 99),
)
# Y, Cb, Cr from R, G, B (ITU-T T.871).
TO_YCC = (
    (0.299, 0.587, 0.114),
    (-0.168735892, -0.331264108, 0.5),
    (0.5, -0.418687589, -0.081312411),
)
FROM_YCC = ((1, 0, 1.402), (1, -0.344136286, -0.714136286), (1, 1.772, 0))


def contrast(x: Tensor, scale: float, generator: Generator | None = None) -> Tensor:
    """Pull every channel towards its mean: (x - mean) · scale + mean."""
    mean = x.mean((2, 3), keepdim=True)
    return torch.lerp(mean, x, scale)


def pixelate(x: Tensor, cells: float, generator: Generator | None = None) -> Tensor:
    """Average over int(cells · side) boxes a side, and show each box as one flat pixel."""
    rows, cols = (box_matrix(size, int(size * cells)) for size in x.shape[2:])
    return separable(x, rows, cols)


def saturate(
    x: Tensor, constants: tuple[float, float], generator: Generator | None = None
) -> Tensor:
    """S becomes a S + b, at most 1, at fixed hue and value; grey images have none to change.

    A grey pixel of a colour image has hue 0, as in the published code, so b > 0 tints it red.
    """
    if x.shape[1] == 1:
        return x
    scale, offset = constants
    value = x.amax(1, keepdim=True)
    chroma = value - x.amin(1, keepdim=True)
    target = (scale * chroma + offset * value).minimum(value)  # S V
    red = x.new_tensor((0.0, 1.0, 1.0)).view(1, 3, 1, 1)
    share = torch.where(chroma > 0, (value - x) / chroma, red)
    return value - share * target


def elastic_transform(
    x: Tensor, constants: tuple[float, float, float], generator: Generator
) -> Tensor:
    """Shear the image by moving three of its points, then let smooth random waves pull it."""
    side = min(x.shape[2:])
    waves, smoothness, shift = (side * value for value in constants)
    out = sample(x, *affine_places(x, shift, generator), edge=0.0)
    if waves == 0:
        return out
    pull = uniform_like(x.new_empty(len(x), 2, *x.shape[2:]), generator, -1, 1)
    rows, cols = (gaussian_matrix(size, smoothness, 3.0, "reflect") for size in x.shape[2:])
    down, across = separable(pull, rows, cols).mul_(waves).unbind(1)
    height, width = (torch.arange(size).to(x) for size in x.shape[2:])
    return sample(out, height[:, None] + down, width + across, edge=0.5)


def affine_places(x: Tensor, shift: float, generator: Generator) -> tuple[Tensor, Tensor]:
    """Row and column (n, H, W) that each pixel comes from when three points have moved.

    The points are corners of a square of two thirds of the side; each moves by up to ±shift.
    """
    height, width = x.shape[2:]
    arm = min(height, width) // 3
    anchor = x.new_tensor([[arm, arm, 1], [arm, -arm, 1], [-arm, -arm, 1]])
    anchor[:, :2] += x.new_tensor([width // 2, height // 2])
    moved = anchor.repeat(len(x), 1, 1)
    moved[:, :, :2] += uniform_like(moved[:, :, :2], generator, -shift, shift)
    back = torch.linalg.solve(moved, anchor[:, :2].expand(len(x), -1, -1))[:, :, :, None, None]
    across, down = torch.arange(width).to(x), torch.arange(height).to(x)[:, None]
    col, row = (back[:, 0] * across + back[:, 1] * down + back[:, 2]).unbind(1)
    return row, col


def sample(x: Tensor, rows: Tensor, cols: Tensor, edge: float) -> Tensor:
    """Linear interpolation at (n, H, W) places; outside, the image is mirrored.

    The mirror stands `edge` pixels beyond the centre of the outermost pixel: 0 (cb|abc) or
    0.5 (ba|abc). Places up to one image away are right, farther ones take the border.
    """
    places = []
    for place, size in ((cols, x.shape[3]), (rows, x.shape[2])):
        span = size - 1 + 2 * edge
        folded = span - (span - (place + edge).abs()).abs() - edge
        places.append(folded * (2 / (size - 1)) - 1)
    grid = torch.stack(places, dim=-1)
    return F.grid_sample(x, grid, padding_mode="border", align_corners=True)


def jpeg_compression(x: Tensor, quality: int, generator: Generator | None = None) -> Tensor:
    """What a baseline JPEG of this quality keeps, chroma at half resolution.

    Entropy coding loses nothing, so only the lossy steps are done: colour transform, chroma
    halving, 8 x 8 cosine transform, division by the step table, rounding, and the way back.
    """
    pixels = (x * 255).round_()
    if x.shape[1] == 1:
        return through_steps(pixels - 128, quality, LUMA_STEPS).add_(128).div_(255)
    ycc = mix_channels(pixels, TO_YCC).round_()
    luma = through_steps(ycc[:, :1] - 128, quality, LUMA_STEPS)
    chroma = doubled(through_steps(halved(ycc[:, 1:]), quality, CHROMA_STEPS), x.shape[2:])
    decoded = mix_channels(torch.cat([luma, chroma], dim=1), FROM_YCC)
    return decoded.add_(128).round_().div_(255)


def mix_channels(x: Tensor, matrix: tuple) -> Tensor:
    """A (3, 3) matrix applied to the channels of (n, 3, H, W)."""
    mixer = x.new_tensor(matrix).expand(len(x), -1, -1)
    return torch.bmm(mixer, x.flatten(2)).view_as(x)


def through_steps(x: Tensor, quality: int, base: tuple) -> Tensor:
    """Encode, round and decode planes of samples in [-128, 127], to whole numbers."""
    (down, up_down), (across, up_across) = (cosine_matrices(size) for size in x.shape[2:])
    steps = step_table(quality, base).to(x).repeat(len(down) // 8, len(across) // 8)
    coefficients = separable(x, down, across).mul_(1 / steps)
    away = torch.copysign(x.new_tensor(0.5), coefficients)  # halves are rounded away from 0
    decoded = coefficients.add_(away).trunc_().mul_(steps)
    return separable(decoded, up_down, up_across).round_().clamp_(-128, 127)


def step_table(quality: int, base: tuple) -> Tensor:
    """(8, 8) quantisation steps of a JPEG quality from 1 to 100."""
    percent = 5000 // quality if quality < 50 else 200 - 2 * quality
    return ((torch.tensor(base) * percent + 50) // 100).clamp(1, 255)


@lru_cache(maxsize=32)
def cosine_matrices(size: int) -> tuple[Tensor, Tensor]:
    """Cosine transform of blocks of 8, the last one filled up with the last sample; its inverse."""
    k, i = np.mgrid[:8, :8]
    cosine = np.cos(np.pi * k * (2 * i + 1) / 16) * np.where(k == 0, 0.5**0.5, 1) / 2
    padded = padding(size, 8)
    blocks = np.kron(np.eye(len(padded) // 8), cosine)
    return tidy(blocks @ padded), tidy(blocks.T[:size])


def halved(chroma: Tensor) -> Tensor:
    """Mean of each 2 x 2 samples, rounded as encoders do: down and up in turn along a row.

    Rows are filled up to whole blocks before halving, columns after it (`cosine_matrices`).
    """
    height, width = chroma.shape[2:]
    rows, cols = halving_matrix(height, 2), halving_matrix(width, 16)
    means = separable(chroma, rows, cols)
    return means.add_(means.new_tensor((0.25, 0.5)).repeat(len(cols) // 2)).floor_()


def doubled(chroma: Tensor, shape: Sequence[int]) -> Tensor:
    """Chroma at full resolution: 3/4 of the nearer and 1/4 of the farther sample, both ways."""
    rows, cols = (doubling_matrix(*sizes) for sizes in zip(shape, chroma.shape[2:], strict=True))
    return separable(chroma, rows, cols).round_()


@lru_cache(maxsize=32)
def halving_matrix(size: int, unit: int) -> Tensor:
    """Means of neighbours after repeating the last sample up to a multiple of `unit`."""
    return torch.from_numpy(padding(size, unit).reshape(-1, 2, size).mean(axis=1))


@lru_cache(maxsize=32)
def doubling_matrix(size: int, given: int) -> Tensor:
    """(size, given) weights 3/4 and 1/4 on the first ⌈size/2⌉ of the given samples."""
    line = np.arange(size)
    near = line // 2
    far = np.clip(near + np.where(line % 2, 1, -1), 0, near[-1])
    return torch.from_numpy(0.75 * np.eye(given)[near] + 0.25 * np.eye(given)[far])


def padding(size: int, unit: int) -> np.ndarray:
    """(padded, size) matrix that repeats the last sample up to a multiple of `unit`."""
    padded = -(-size // unit) * unit
    return np.eye(size)[np.arange(padded).clip(max=size - 1)]
