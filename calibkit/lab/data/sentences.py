"""Notes of a ward: four hidden Markov chains over topics, and the exact posterior of each note."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from calibkit import validate
from calibkit.lab.data.dataset import Dataset, Splits, independent_draws
from calibkit.lab.text import PAD, UNKNOWN, Vocabulary, is_word

TOPICS = {  # five words each, by falling frequency
    "symptom": ("fever", "pain", "rash", "nausea", "cough"),
    "drug": ("tablet", "dose", "antibiotic", "injection", "drops"),
    "meal": ("soup", "milk", "bread", "fish", "egg"),
    "rest": ("sleep", "bed", "quiet", "night", "pillow"),
}
COMMON = ("ward", "patient", "noted", "today", "some", "again", "reported", "hours")
FREQUENCIES = (0.30, 0.25, 0.20, 0.15, 0.10)  # of a topic's words
# what a note of each class goes through, round and round; the second is the first backwards, and
# the fourth the third
CIRCLES = {
    "infection": ("symptom", "drug", "rest"),
    "side effect": ("drug", "symptom", "rest"),
    "food allergy": ("meal", "symptom", "rest"),
    "ulcer": ("symptom", "meal", "rest"),
}
VOCABULARY = Vocabulary((PAD, UNKNOWN, *(w for words in TOPICS.values() for w in words), *COMMON))


@dataclass(frozen=True)
class Notes:
    """Notes about patients, written by one hidden Markov chain a class.

    A hidden topic (symptom, drug, meal, rest) stands behind every word. Each class goes through
    three of them in a circle: from word to word the topic stays with probability `stay`, goes on
    with `forward`, and goes back with what is left. The first topic is any of the three. A word is
    one of the topic's own five with probability `clear`; else, half of the time each, one of eight
    common words, or one of the words of the other topics. The length is uniform, and says nothing.

    "infection" and "side effect" go round the same circle in opposite directions. So a note is as
    likely under one as the reversed note is under the other, and both give the same bags of words;
    "food allergy" and "ulcer" likewise.

    shortest, longest: words of a note; inputs are padded to `longest` with 0.

    >>> notes = Notes()
    >>> drawn = notes.draw(1000, seed=0)
    >>> drawn.inputs.shape, drawn.inputs.dtype, drawn.posterior.shape
    (torch.Size([1000, 16]), torch.int64, torch.Size([1000, 4]))
    """

    shortest: int = 3
    longest: int = 16
    clear: float = 0.8
    stay: float = 0.2
    forward: float = 0.7

    def __post_init__(self) -> None:
        validate.integer("shortest", self.shortest, 1)
        validate.integer("longest", self.longest, self.shortest)
        validate.fraction("clear", self.clear)
        validate.fraction("stay", self.stay)
        validate.number("forward", self.forward, 0, 1 - self.stay)

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the four classes."""
        return tuple(CIRCLES)

    @property
    def topics(self) -> tuple[str, ...]:
        """The names of the four hidden topics."""
        return tuple(TOPICS)

    @property
    def vocabulary(self) -> Vocabulary:
        """The 28 words, `<pad>` and `<unk>`."""
        return VOCABULARY

    @cached_property
    def start(self) -> Tensor:
        """(4, 4) float64: per class, p(first topic)."""
        rows = torch.zeros(len(CIRCLES), len(TOPICS), dtype=torch.float64)
        for row, circle in zip(rows, CIRCLES.values(), strict=True):
            row[[_place(topic) for topic in circle]] = 1 / len(circle)
        return rows

    @cached_property
    def moves(self) -> Tensor:
        """(4, 4, 4) float64: per class, p(next topic | topic), a row each topic.

        A topic that the class never meets has a row of its own that stays there.
        """
        tables = torch.eye(len(TOPICS), dtype=torch.float64).repeat(len(CIRCLES), 1, 1)
        for table, circle in zip(tables, CIRCLES.values(), strict=True):
            places = [_place(topic) for topic in circle]
            for step, here in enumerate(places):
                table[here, here] = self.stay
                table[here, places[(step + 1) % 3]] = self.forward
                table[here, places[(step + 2) % 3]] = 1 - self.stay - self.forward
        return tables

    @cached_property
    def emissions(self) -> Tensor:
        """(4, 30) float64: p(word | topic), the same in all classes."""
        table = torch.zeros(len(TOPICS), len(VOCABULARY), dtype=torch.float64)
        words = torch.tensor(FREQUENCIES, dtype=torch.float64)
        for topic in range(len(TOPICS)):
            for other in range(len(TOPICS)):
                first = 2 + len(words) * other
                share = self.clear if other == topic else (1 - self.clear) / 2 / (len(TOPICS) - 1)
                table[topic, first : first + len(words)] = share * words
        table[:, -len(COMMON) :] = (1 - self.clear) / 2 / len(COMMON)
        return table

    def draw(self, n: int, *, seed: int | torch.Generator) -> Dataset:
        """`n` independent notes with their labels and their exact posterior."""
        n = validate.integer("n", n, 1)
        generator = validate.generator(seed)
        labels = torch.randint(len(CIRCLES), (n,), generator=generator)
        lengths = torch.randint(self.shortest, self.longest + 1, (n,), generator=generator)
        texts = torch.zeros(n, self.longest, dtype=torch.int64)
        topics = _pick(self.start[labels], generator)
        for place in range(self.longest):
            if place:
                topics = _pick(self.moves[labels, topics], generator)
            texts[:, place] = _pick(self.emissions[topics], generator)
        texts[torch.arange(self.longest) >= lengths[:, None]] = 0
        return Dataset(texts, labels, self.classes, self.posterior(texts), self)

    def posterior(self, texts: Tensor) -> Tensor:
        """(n, 4) exact p(class | note) of word numbers (n, length), in float64.

        The classes are equally likely, so this is the likelihood of each class over their sum.
        Raises ValueError as `log_likelihood` does.
        """
        return self.log_likelihood(texts).softmax(dim=1)

    def log_likelihood(self, texts: Tensor) -> Tensor:
        """(n, 4) float64: log p(words | class, length), by the forward algorithm.

        f_1(h) = p(h) p(word_1 | h),  f_t(h) = sum_g f_(t-1)(g) p(h | g) p(word_t | h),
        p(words) = sum_h f_last(h); f is divided by its sum at every word, whose logarithms add up.
        Raises ValueError for texts that are not (n, length), or have a number that is no word here
        (`<unk>` is none), or a word after padding.

        >>> from math import log
        >>> sure = Notes(clear=1.0)  # every word tells its topic
        >>> rows = torch.tensor([[VOCABULARY.numbers["fever"]]])
        >>> sure.log_likelihood(rows)[0, 0].item() == log(0.30 / 3)
        True
        """
        texts = validate.as_tensor("texts", texts, ndim=2)
        words = is_word(texts)
        known = (texts >= 2) & (texts < len(VOCABULARY))
        if bool((words & ~known).any()) or bool((words[:, 1:] & ~words[:, :-1]).any()):
            raise ValueError(
                f"texts must hold numbers of words from 2 to {len(VOCABULARY) - 1}, and 0 at the "
                "end of a row alone; look at Notes().vocabulary"
            )
        says = self.emissions.T.to(texts.device)  # (words, topics)
        moves, forward = self.moves.to(texts.device), self.start.to(texts.device)[None]
        total = torch.zeros(len(texts), len(CIRCLES), dtype=torch.float64, device=texts.device)
        for place in range(texts.shape[1]):
            before = forward if place == 0 else torch.einsum("nkg,kgh->nkh", forward, moves)
            joint = before * says[texts[:, place]][:, None]  # (n, classes, topics)
            sums = joint.sum(dim=2)
            here = words[:, place, None]
            total = torch.where(here, total + sums.log(), total)
            scaled = joint / sums[..., None].clamp(min=1e-300)  # of an impossible note: zeros
            forward = torch.where(here[..., None], scaled, before)
        return total


def notes(
    n: int = 1500,
    seed: int = 0,
    *,
    calibration: int = 2_000,
    test: int = 10_000,
    language: Notes | None = None,
) -> Splits:
    """Three independent draws from `Notes()`, `n` of them to train on.

    Raises ValueError for a size below 1 or a negative seed.

    >>> train, calibration, test = notes(300, seed=1)
    >>> len(train), len(calibration), len(test)
    (300, 2000, 10000)
    """
    source = Notes() if language is None else language
    return independent_draws(source, n=n, calibration=calibration, test=test, seed=seed)


def _place(topic: str) -> int:
    return tuple(TOPICS).index(topic)


def _pick(probs: Tensor, generator: torch.Generator) -> Tensor:
    """One column of each row (n, m), drawn by its probabilities."""
    level = torch.rand(len(probs), 1, generator=generator, dtype=torch.float64)
    return (probs.cumsum(dim=1) <= level * probs.sum(dim=1, keepdim=True)).sum(dim=1)
