"""Common corruptions of images at five severities, as batched tensor code on any device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Generator, Tensor

from calibkit import torch_defaults, validate
from calibkit.corruptions import blur, digital, noise, weather
from calibkit.validate import Array

__all__ = ["CORRUPTIONS", "EXTRA", "NAMES", "TABLES", "Table", "corrupt", "noise_images"]
FAMILIES = (noise, blur, weather, digital)

NAMES = (
    *("gaussian_noise", "shot_noise", "impulse_noise"),
    *("defocus_blur", "glass_blur", "motion_blur", "zoom_blur"),
    *("snow", "frost", "fog", "brightness"),
    *("contrast", "elastic_transform", "pixelate", "jpeg_compression"),
)
EXTRA = ("speckle_noise", "gaussian_blur", "saturate")
Table = Literal["cifar", "imagenet"]
TABLES: dict[Table, dict] = {
    "cifar": {name: row for family in FAMILIES for name, row in family.CIFAR.items()},
    "imagenet": {name: row for family in FAMILIES for name, row in family.IMAGENET.items()},
}
CORRUPTIONS = {name: getattr(family, name) for family in FAMILIES for name in family.CIFAR}

# Geometric middle of the 32 px and 224 px that the two tables were made for.
LARGEST_SMALL_SIDE = 84
SMALLEST_SIDE = 8

# Values worked on at once: on a CPU what fits its cache, elsewhere what fits its memory.
CHUNK_VALUES = {"cpu": 2**19}
CHUNK_VALUES_ELSEWHERE = 2**26


def corrupt(
    images: Array,
    name: str,
    severity: int,
    *,
    generator: int | Generator | None = None,
    table: Table | None = None,
) -> Tensor:
    """A corrupted copy of images (n, C, H, W).

    Images are floating point in [0, 1], or uint8 in [0, 255]; C is 1 or 3, both sides at least
    8 px. The result has their shape, type and device. `name` is one of NAMES (the fifteen of
    CIFAR-10-C) or EXTRA, `severity` 1 to 5. Every image draws its own randomness from `generator`
    (a torch.Generator on the device of the images, or a seed).
    generator None draws from torch's default generator, which `torch.manual_seed` seeds.

    The constants are those of CIFAR-C where the shorter side has at most 84 px, the geometric
    middle of 32 and 224, and those of ImageNet-C above; `table` ("cifar", "imagenet") overrides.
    Raises TypeError or ValueError on images of another shape, type or range, an unknown name,
    a severity outside 1 to 5, and a generator on another device.
    Source: Hendrycks and Dietterich, "Benchmarking Neural Network Robustness to Common
    Corruptions and Perturbations", ICLR 2019, arXiv:1903.12261. Differences from its code: frost
    is synthetic (see `weather.frost`); no rounding to 8 bits between steps; uint8 results are
    rounded, not truncated; motion blur repeats the border wherever a streak leaves the image.

    >>> half = torch.zeros(1, 1, 8, 8)
    >>> half[..., 4:] = 1  # mean 0.5, so contrast 0.15 leaves 0.5 ± 0.075
    >>> corrupt(half, "contrast", 5)[0, 0, 0, [0, -1]]
    tensor([0.4250, 0.5750])
    """
    images = validate.as_tensor("images", images, ndim=4)
    validate.choice("name", name, NAMES + EXTRA)
    severity = validate.integer("severity", severity, 1, 5)
    generator = validate.generator(generator, images.device)
    images = check_images(images)
    if table is None:
        table = "cifar" if min(images.shape[2:]) <= LARGEST_SMALL_SIDE else "imagenet"
    constants = TABLES[validate.choice("table", table, tuple(TABLES))][name][severity - 1]
    out = torch.empty_like(images, memory_format=torch.contiguous_format)
    size, whole = chunk_size(images), images.dtype == torch.uint8
    wide = torch.promote_types(images.dtype, torch.float32)
    for start in range(0, len(images), size):
        part = slice(start, start + size)
        x = images[part].contiguous()
        x = x.float().div_(255) if whole else x.to(wide)
        x = CORRUPTIONS[name](x, constants, generator).clamp(0, 1)
        out[part] = x.mul_(255).round_() if whole else x
    return out


def noise_images(
    n: int,
    *,
    size: int | Sequence[int],
    channels: int = 3,
    kind: Literal["gaussian", "uniform"] = "gaussian",
    generator: int | Generator | None = None,
) -> Tensor:
    """Pure noise (n, channels, H, W) in [0, 1], far from any training image.

    `kind` "gaussian" draws values from N(0.5, 1) and clips them to [0, 1], "uniform" draws them
    uniformly from [0, 1). `size` is one side in px or (H, W); `generator` a seed or a
    torch.Generator, whose device the images share.
    generator None draws from torch's default generator, which `torch.manual_seed` seeds.
    Source: Liang, Li and Srikant, "Enhancing the Reliability of Out-of-distribution Image
    Detection in Neural Networks", ICLR 2018, arXiv:1706.02690, Section 4.2.

    >>> noise_images(2, size=8, channels=1, kind="uniform", generator=0).shape
    torch.Size([2, 1, 8, 8])
    """
    n = validate.integer("n", n, 1)
    channels = validate.integer("channels", channels, 1)
    sides = tuple(size) if isinstance(size, tuple | list) else (size, size)
    if len(sides) != 2:
        raise ValueError(f"size must be one side or (H, W), got {size}")
    shape = n, channels, *(validate.integer("size", side, 1) for side in sides)
    validate.choice("kind", kind, ("gaussian", "uniform"))
    device = generator.device if isinstance(generator, Generator) else "cpu"
    empty = torch.empty(shape, device=device)
    source = validate.generator(generator, device)
    if kind == "uniform":
        return empty.uniform_(generator=source)
    return empty.normal_(0.5, 1, generator=source).clamp_(0, 1)


def check_images(images: Tensor) -> Tensor:
    """Images (n, C, H, W), if they are not of a shape, type or range that cannot be corrupted."""
    if images.shape[1] not in (1, 3):
        raise ValueError(
            f"images must have 1 or 3 channels in the second dimension, got shape "
            f"{tuple(images.shape)}; move the channels with images.permute(0, 3, 1, 2)"
        )
    if min(images.shape[2:]) < SMALLEST_SIDE:
        raise ValueError(
            f"images must be at least {SMALLEST_SIDE} px high and wide, got shape "
            f"{tuple(images.shape)}; enlarge them with torch.nn.functional.interpolate"
        )
    if images.dtype != torch.uint8:
        validate.floating("images", images)
        remedy = "divide by 255, or corrupt before normalising"
        return validate.unit_interval("images", images, remedy)
    return images


def chunk_size(images: Tensor) -> int:
    """Number of images to work on at once."""
    values = CHUNK_VALUES.get(images.device.type, CHUNK_VALUES_ELSEWHERE)
    return max(1, values // images[0].numel())


torch_defaults.guard(globals())
