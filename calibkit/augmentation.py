"""Random crops and flips of a whole batch at once, on any device."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from calibkit import torch_defaults, validate
from calibkit.validate import Array


def crop_flip(
    images: Array,
    *,
    padding: int = 4,
    flip: bool = True,
    generator: int | torch.Generator | None = None,
) -> Tensor:
    """Each image shifted by up to `padding` pixels each way, and mirrored half of the time.

    images (n, c, h, w) -> the same shape and device. The border is filled with zeros, which is
    mid-grey where images are normalised. padding = 0 does not crop; flip = False does not mirror.
    generator None draws from torch's default generator, which `torch.manual_seed` seeds.
    Raises ValueError or TypeError naming the argument. Source: He et al. 2016, section 4.2.

    >>> picture = torch.arange(4.0).reshape(1, 1, 2, 2)
    >>> crop_flip(picture, padding=0, flip=False, generator=0).flatten().tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    images = validate.as_tensor("images", images, ndim=4)
    padding = validate.integer("padding", padding, 0)
    generator = validate.generator(generator, images.device)
    n, channels, height, width = images.shape
    rows = _starts(n, padding, generator) + torch.arange(height, device=images.device)
    columns = _starts(n, padding, generator) + torch.arange(width, device=images.device)
    if flip:
        mirrored = torch.rand(n, generator=generator, device=images.device) < 0.5
        columns = torch.where(mirrored[:, None], columns.flip(1), columns)
    if not (flip or padding):
        return images
    padded = functional.pad(images, (padding,) * 4)
    stride = width + 2 * padding
    pixel = (rows[:, :, None] * stride + columns[:, None, :]).reshape(n, 1, height * width)
    flat = padded.flatten(2)
    return flat.gather(2, pixel.expand(n, channels, -1)).reshape(images.shape)


def _starts(n: int, padding: int, generator: torch.Generator) -> Tensor:
    """(n, 1) where each image starts in the padded one; without padding nothing is drawn."""
    if padding == 0:
        return torch.zeros(n, 1, dtype=torch.int64, device=generator.device)
    return torch.randint(2 * padding + 1, (n, 1), generator=generator, device=generator.device)


torch_defaults.guard(globals())
