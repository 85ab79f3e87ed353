"""Architectures: what attention and an MLP-Mixer read, and how attention mixes it."""

import functools
import math

import torch
from torch import Tensor

from calibkit.course.check.engine import exercise


# fmt: off
def _images(n: int, height: int, width: int, patch: int) -> tuple[Tensor, int]:
    """Images whose pixels are all different, so that every order can be told."""
    return torch.arange(n * height * width, dtype=torch.float32).view(n, height, width), patch

PATCHES = {
    "two images of 4 x 4, patches of 2": _images(2, 4, 4, 2),
    "three images of 8 x 8, patches of 2": _images(3, 8, 8, 2),
    "two images of 8 x 8, patches of 4": _images(2, 8, 8, 4),
    "one image, 4 high and 6 wide, patches of 2": _images(1, 4, 6, 2),
    "one image of 3 x 3, patches of 3: one token": _images(1, 3, 3, 3),
    "two images of 2 x 2, patches of 1": _images(2, 2, 2, 1),
    "one image, 6 high and 3 wide, patches of 3": _images(1, 6, 3, 3),
    "two images of 6 x 9, patches of 3, with fractions and numbers below 0":
        (_images(2, 6, 9, 3)[0] / 7 - 5, 3),
}

def _grid(images: Tensor, patch: int) -> Tensor:
    """(n, rows, columns, patch, patch)"""
    return images.unfold(1, patch, patch).unfold(2, patch, patch)

def _grid_of(images: Tensor, high: int, wide: int) -> Tensor:
    """The same for patches that are no squares."""
    return images.unfold(1, high, high).unfold(2, wide, wide)

def _tokens(grid: Tensor) -> Tensor:
    return grid.flatten(3).flatten(1, 2)

@exercise(cases=PATCHES, mistakes={
    "you cut the image into pieces of one row after the other. A patch has pixels of several rows: split "
    "height and width first, then bring the axes into order.": lambda x, p: x.reshape(len(x), -1, p * p),
    "the patches run down the columns. Take them in reading order: along the top row of patches first.":
        lambda x, p: _tokens(_grid(x, p).transpose(1, 2)),
    "the pixels inside a patch run down its columns. Take them in reading order.":
        lambda x, p: _tokens(_grid(x, p).transpose(3, 4)),
    "height and width are exchanged, for the patches and inside them.":
        lambda x, p: _tokens(_grid(x, p).transpose(3, 4).transpose(1, 2)),
    "the pixels of a patch still stand in a square: flatten them to one axis.":
        lambda x, p: _grid(x, p).flatten(1, 2),
    "the patches still stand in rows and columns: flatten these two axes to one.":
        lambda x, p: _grid(x, p).flatten(3),
    "tokens and pixels are exchanged: the shape is (images, tokens, pixels of a patch).":
        lambda x, p: _tokens(_grid(x, p)).transpose(1, 2),
    "you averaged each patch. A token holds all pixels of its patch.":
        lambda x, p: _tokens(_grid(x, p)).mean(dim=2),
    "your patches overlap: move on by a whole patch, not by one pixel.":
        lambda x, p: _tokens(x.unfold(1, p, 1).unfold(2, p, 1)),
    "the images are mixed with their patches: keep the first axis for the images.":
        lambda x, p: _tokens(_grid(x, p)).flatten(0, 1),
    "you took `patch` for the number of patches along a side. It is the number of pixels along the side of "
    "one patch.": lambda x, p: _tokens(_grid_of(x, x.shape[1] // p, x.shape[2] // p))})
def patch_tokens(images, patch):
    """Patches of images (n, h, w) as (n, tokens, patch * patch), all in reading order."""
    return _tokens(_grid(images, patch))

def _mixed(tokens: int, features: int, steep: float, seed: int) -> tuple[Tensor, ...]:
    generator = torch.Generator().manual_seed(seed)
    draw = [torch.randn(tokens, features, generator=generator, dtype=torch.float64) for _ in range(3)]
    return steep * draw[0], draw[1], draw[2]

ATTENTION = {
    "5 tokens of 4 numbers": _mixed(5, 4, 1.0, 0),
    "16 tokens of 9 numbers": _mixed(16, 9, 1.0, 1),
    "4 tokens of 2 numbers, steep": _mixed(4, 2, 4.0, 2),
    "one token only": _mixed(1, 3, 1.0, 3),
    "3 tokens of 1 number": _mixed(3, 1, 1.0, 4),
    "queries of hundreds": _mixed(6, 4, 300.0, 5),
    "4 tokens of 4 numbers": _mixed(4, 4, 1.0, 6),
    "40 tokens of 6 numbers": _mixed(40, 6, 1.0, 7),
    "queries of thousands, whose exponentials overflow": _mixed(5, 3, 5e3, 8),
}

def _weights(queries: Tensor, keys: Tensor) -> Tensor:
    return (queries @ keys.T / math.sqrt(keys.shape[1])).softmax(dim=1)

def _scaled_by(queries: Tensor, keys: Tensor, values: Tensor, number: int) -> Tensor:
    return (queries @ keys.T / number).softmax(dim=1) @ values

@exercise(cases=ATTENTION, mistakes={
    "the division by sqrt(d) is missing.": lambda q, k, v: (q @ k.T).softmax(dim=1) @ v,
    "you divided by d. Divide by its square root.":
        lambda q, k, v: (q @ k.T / k.shape[1]).softmax(dim=1) @ v,
    "you divided by the root of the number of tokens. d is the number of features.":
        lambda q, k, v: (q @ k.T / math.sqrt(len(k))).softmax(dim=1) @ v,
    "you multiplied by sqrt(d). Divide by it.":
        lambda q, k, v: (q @ k.T * math.sqrt(k.shape[1])).softmax(dim=1) @ v,
    "the softmax runs along the wrong axis: the weights of one query, a row, sum to 1.":
        lambda q, k, v: (q @ k.T / math.sqrt(k.shape[1])).softmax(dim=0) @ v,
    "these are the weights. Take the mean of the values with them.": lambda q, k, v: _weights(q, k),
    "each query sees its own and earlier tokens alone (a causal mask). Here it sees all of them.":
        lambda q, k, v: (q @ k.T / math.sqrt(k.shape[1])).masked_fill(
            torch.ones(len(q), len(k)).triu(1) > 0, -torch.inf).softmax(dim=1) @ v,
    "one softmax runs over the whole table: the weights of each query, a row, sum to 1.":
        lambda q, k, v: (q @ k.T / math.sqrt(k.shape[1])).flatten().softmax(0).view(len(q), -1) @ v,
    "you divided each column by the sum of a row: sum(dim=1, keepdim=True), or softmax(dim=1).":
        lambda q, k, v: (e := (q @ k.T / math.sqrt(k.shape[1])).exp()) / e.sum(dim=1) @ v,
    "the softmax is missing: weights are not negative, and each row sums to 1.":
        lambda q, k, v: (q @ k.T / math.sqrt(k.shape[1])) @ v,
    "queries and keys are exchanged: row i holds the weights of query i.":
        lambda q, k, v: _weights(k, q) @ v,
    "the weights are transposed: row i of the answer uses the weights of query i.":
        lambda q, k, v: _weights(q, k).T @ v,
    "you averaged the keys. The weights come from queries and keys; average the values.":
        lambda q, k, v: _weights(q, k) @ k,
    "you compared the queries with the values. Compare them with the keys.":
        lambda q, k, v: _weights(q, v) @ v,
    "you took a sigmoid. The softmax makes the weights of each row sum to 1.":
        lambda q, k, v: (q @ k.T / math.sqrt(k.shape[1])).sigmoid() @ v,
    "you divided by sqrt(d) after the softmax. Divide the scores, before it.":
        lambda q, k, v: (q @ k.T).softmax(dim=1) @ v / math.sqrt(k.shape[1]),
    "you took the value of the best key alone. Take the mean of all values.":
        lambda q, k, v: v[(q @ k.T).argmax(dim=1)],
    **{f"you divided by {number} everywhere. d is the number of features, keys.shape[1], which "
        "differs from case to case.": functools.partial(_scaled_by, number=number)
        for number in (2, 4, 8)}})
def attention(queries, keys, values):
    """softmax(q k' / sqrt(d)) v of queries, keys and values (tokens, d): (tokens, d)."""
    return _weights(queries, keys) @ values
