"""imagecorruptions-imaug on batches, with its constants replaced by ours."""

from types import FunctionType

import imagecorruptions.corruptions
import numpy as np
import torch
from PIL import Image

from calibkit.corruptions import TABLES


def with_constants(function, old: tuple, new: tuple):
    """`function` with its table of constants `old` replaced by `new`."""
    code = function.__code__
    assert tuple(old) in code.co_consts
    swapped = tuple(tuple(new) if value == tuple(old) else value for value in code.co_consts)
    return FunctionType(code.replace(co_consts=swapped), function.__globals__)


def peer(images: torch.Tensor, name: str, severity: int, table: str) -> torch.Tensor:
    """(n, 3, H, W) float64 result in [0, 1] of the peer's corruption with one of our tables."""
    function = getattr(imagecorruptions.corruptions, name)
    if table == "cifar":
        function = with_constants(function, TABLES["imagenet"][name], TABLES["cifar"][name])
    results = [np.array(function(image, severity), dtype=float) for image in pictures(images)]
    return torch.from_numpy(np.stack(results) / 255).permute(0, 3, 1, 2)


def pictures(images: torch.Tensor) -> list[Image.Image]:
    """PIL pictures of images in [0, 1]."""
    bytes_ = (images * 255).round().byte().permute(0, 2, 3, 1).numpy()
    return [Image.fromarray(picture.squeeze()) for picture in bytes_]
