"""Words and their numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

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
