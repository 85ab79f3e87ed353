"""Word vectors that somebody else trained, such as GloVe."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from calibkit import validate
from calibkit.lab.text.vocabulary import Vocabulary


def read_vectors(
    path: str | Path, vocabulary: Vocabulary, *, seed: int = 0
) -> tuple[Tensor, Tensor]:
    """Vectors (V, D) of a vocabulary from a text file, and a mask (V,) of the words found there.

    The file has a line a word, "WORD x1 x2 ... xD" in UTF-8, as GloVe's have; a first line of two
    numbers, as in word2vec's text form, is passed over. Words that it lacks get random vectors of
    the standard deviation of those found; padding gets zeros. Copy the result into
    `model.body.words.weight`.

    Raises ValueError for a line of another length and where no word is found.
    """
    by_number: dict[int, list[float]] = {}
    width = None
    with open(path, encoding="utf-8") as lines:
        for place, line in enumerate(lines, start=1):
            parts = line.rstrip("\n").split(" ")
            if place == 1 and len(parts) == 2:
                continue
            width = width or len(parts) - 1
            word = " ".join(parts[:-width])  # some words of GloVe hold spaces
            if len(parts) <= width:
                raise ValueError(
                    f"path must name a file of words and {width} numbers each, got {len(parts)} "
                    f"parts in line {place} of {path}"
                )
            number = vocabulary.numbers.get(word, 0)
            if number:
                by_number[number] = [float(part) for part in parts[-width:]]
    if not by_number:
        raise ValueError(f"path must name a file of vectors of these words, {path} has none")
    return _filled(by_number, len(vocabulary), seed)


def _filled(by_number: dict[int, list[float]], size: int, seed: int) -> tuple[Tensor, Tensor]:
    known = torch.tensor(list(by_number.values()))
    spread = known.std().item() if known.numel() > 1 else 1.0
    generator = validate.generator(seed)
    vectors = spread * torch.randn(size, known.shape[1], generator=generator)
    mask = torch.zeros(size, dtype=torch.bool)
    mask[list(by_number)] = True
    vectors[list(by_number)] = known
    vectors[0] = 0
    return vectors, mask
