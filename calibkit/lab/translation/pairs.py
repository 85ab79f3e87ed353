"""Sentences with their translations as padded tensors, and which of their tokens are real."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from calibkit import validate
from calibkit.lab import text

PAD, UNKNOWN, START, END = 0, 1, 2, 3
SPECIAL = (text.PAD, text.UNKNOWN, "<s>", "</s>")  # the first words of every vocabulary here


@dataclass(frozen=True)
class Pairs:
    """`n` sentences and one translation of each.

    source, target: (n, S) and (n, T) int64 word numbers; each row ends in `END`, then 0 (`PAD`).
    source_words, target_words: the vocabularies, which begin with `SPECIAL`.

    Raises ValueError for lengths that differ and for numbers outside a vocabulary.

    >>> words = (*SPECIAL, "a", "b")
    >>> pairs = Pairs(torch.tensor([[4, 3, 0]]), torch.tensor([[5, 4, 3]]), words, words)
    >>> pairs.texts(), pairs.real.tolist()
    (['b a'], [[True, True, True]])
    """

    source: Tensor
    target: Tensor
    source_words: tuple[str, ...]
    target_words: tuple[str, ...]

    def __post_init__(self) -> None:
        validate.same_length("target", len(self.target), len(self.source))
        for name, words in (("source", self.source_words), ("target", self.target_words)):
            rows = validate.as_tensor(name, getattr(self, name), ndim=2)
            low, high = (bound.item() for bound in torch.aminmax(rows))
            if rows.dtype != torch.int64 or low < 0 or high >= len(words):
                raise ValueError(
                    f"{name} must be int64 word numbers in [0, {len(words)}), got {rows.dtype} "
                    f"from {low} to {high}"
                )

    def __len__(self) -> int:
        return len(self.source)

    def __getitem__(self, index) -> Pairs:
        """The chosen sentences (a slice, indices or a boolean mask)."""
        return replace(self, source=self.source[index], target=self.target[index])

    @property
    def real(self) -> Tensor:
        """(n, T) whether a target token is one, the end of the sentence included, or padding."""
        return self.target != PAD

    def trimmed(self) -> Pairs:
        """The same sentences without columns of padding alone, which cost time and say nothing."""
        source, target = (
            rows[:, : int((rows != PAD).sum(dim=1).max())] for rows in (self.source, self.target)
        )
        return replace(self, source=source, target=target)

    def texts(self, rows: Tensor | None = None, *, source: bool = False) -> list[str]:
        """Target rows (by default all of its own), or the sources, as text up to the end."""
        words = self.source_words if source else self.target_words
        rows = (self.source if source else self.target) if rows is None else rows
        real = (itertools.takewhile(lambda n: n not in (END, PAD), row) for row in rows.tolist())
        return [" ".join(words[number] for number in row) for row in real]


def rows_of(sentences: Iterable[Sequence[str]], words: Sequence[str]) -> Tensor:
    """Word numbers (n, longest + 1), each row ended and padded; unknown words are `UNKNOWN`.

    >>> rows_of([["a"], ["b", "c"]], (*SPECIAL, "a", "b")).tolist()
    [[4, 3, 0], [5, 1, 3]]
    """
    known = text.Vocabulary(tuple(words))
    return text.pad([[*known.encode(list(sentence)), END] for sentence in sentences])
