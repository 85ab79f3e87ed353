"""Texts as tensors: words, their numbers, padding, and word vectors from a file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import torch
from torch import Tensor

from calibkit import validate

PAD, UNKNOWN = "<pad>", "<unk>"  # numbers 0 and 1 of every vocabulary
TOKEN = re.compile(r"\w+|[^\w\s]")


def tokens(text: str) -> list[str]:
    """Words and punctuation marks of a text, in lower case.

    >>> tokens("Don't stop, twice!")
    ['don', "'", 't', 'stop', ',', 'twice', '!']
    """
    return TOKEN.findall(text.lower())


@dataclass(frozen=True)
class Vocabulary:
    """Words by number: 0 is `<pad>`, 1 is `<unk>` for every word that is not in it.

    words: all of them, in the order of their numbers, `<pad>` and `<unk>` first. Raises ValueError
        where these two are not, or where a word stands twice.

    >>> known = Vocabulary.of([["a", "rose", "is", "a", "rose"], ["a", "lily"]], at_least=2)
    >>> known.words, known.encode(["a", "lily"]), known.decode([3, 2, 0, 0])
    (('<pad>', '<unk>', 'a', 'rose'), [2, 1], ['rose', 'a'])
    """

    words: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", tuple(self.words))
        if self.words[:2] != (PAD, UNKNOWN):
            raise ValueError(f"words must begin with {PAD!r} and {UNKNOWN!r}, got {self.words[:2]}")
        if len(self.numbers) != len(self.words):
            twice = next(word for word, count in Counter(self.words).items() if count > 1)
            raise ValueError(f"words must differ from one another, got {twice!r} twice")

    @classmethod
    def of(
        cls,
        texts: Iterable[Sequence[str]],
        *,
        size: int | None = None,
        at_least: int = 1,
        special: Sequence[str] = (),
    ) -> Vocabulary:
        """The words of some texts (training texts alone, please), the commonest first.

        size: how many entries at the most, `<pad>`, `<unk>` and `special` counted in.
        at_least: how often a word must occur.
        special: further marks, such as "<s>", that come right after `<unk>`.
        """
        at_least = validate.integer("at_least", at_least, 1)
        first = (PAD, UNKNOWN, *special)
        counts = Counter(word for text in texts for word in text if word not in first)
        ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))  # ties: a to z
        words = [word for word, count in ranked if count >= at_least]
        if size is not None:
            words = words[: validate.integer("size", size, len(first)) - len(first)]
        return cls((*first, *words))

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each word."""
        return {word: number for number, word in enumerate(self.words)}

    def encode(self, text: Sequence[str]) -> list[int]:
        """The numbers of words; TypeError for a string, which must be cut into words first."""
        if isinstance(text, str):
            raise TypeError(f"text must be a list of words, got {text!r}; pass tokens(text)")
        return [self.numbers.get(word, 1) for word in text]

    def decode(self, numbers: Iterable[int]) -> list[str]:
        """The words of numbers, without padding; also takes a row of a tensor."""
        return [self.words[int(number)] for number in numbers if int(number) != 0]


def pad(sequences: Sequence[Sequence[int]], length: int | None = None) -> Tensor:
    """Numbers of words as one (n, length) int64 tensor, with 0 after the end of each.

    length: by default that of the longest; longer sequences are cut. Raises ValueError for no
    sequence at all.

    >>> pad([[5, 6, 7], [8]]).tolist(), pad([[5, 6, 7], [8]], length=2).tolist()
    ([[5, 6, 7], [8, 0, 0]], [[5, 6], [8, 0]])
    """
    if not len(sequences):
        raise ValueError("sequences is empty; pass at least one")
    if length is None:
        length = max(1, max(map(len, sequences)))
    length = validate.integer("length", length, 1)
    cut = [list(sequence)[:length] for sequence in sequences]
    return torch.tensor([row + [0] * (length - len(row)) for row in cut], dtype=torch.int64)


def is_word(texts: Tensor) -> Tensor:
    """The mask of a tensor of words: True where there is one, False where there is padding.

    texts: word numbers (..., length), or blends (..., length, 3) of `mixing.word_mixup`, where a
    place counts as soon as one of the two texts has a word there.

    >>> is_word(torch.tensor([[4, 2, 0]])).tolist()
    [[True, True, False]]
    """
    if texts.is_floating_point():
        return (texts[..., :2] != 0).any(dim=-1)
    return texts != 0


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
