"""What a small language model answers about a world of facts, by wording and by meaning.

`stored` has seven ways to ask how sure it is, beside the exact posterior of its answers, made by
`python -m study.asking answers`.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import torch
from torch import Tensor

from calibkit import validate
from calibkit.course.experiments import facts, speaker, strengths
from calibkit.course.experiments.facts import ANSWERS, PLACE_OF, PLACES, VOCABULARY
from calibkit.course.experiments.speaker import Decoder
from calibkit.lab.text import pad

PATH = Path("laptop") / "facts-answers.csv"
ASKED = 2_000  # questions that a model is judged on
KINDS = (0, 1, 2, 5, 20)  # mentions from which a new kind of question begins
WAYS = (
    "by wording",
    "by meaning",
    "by meaning, after T",
    "by meaning, after a map",
    "asked ten times",
    "P(I know)",
    "said in words",
)


@dataclass(frozen=True)
class Budget:
    """What the lesson uses at a scale.

    sentences: of the text; steps: of training; asked: questions; written: sentences of the model.
    """

    sentences: int = 6_000
    steps: int = 1_800
    asked: int = ASKED
    written: int = 4_000


def budget(scale: str) -> Budget:
    return Budget(1_500, 120, 300, 200) if scale == "smoke" else Budget()


class Learned(NamedTuple):
    """A world, its text, the exact posterior (QUESTIONS, places), and a model of the text."""

    world: facts.World
    text: facts.Text
    posterior: Tensor
    model: Decoder


def learned(
    rare: float = 0.3, wrong: float = 0.1, seed: int = 0, *, sentences: int = 6_000,
    steps: int = 1_800,
) -> Learned:  # fmt: skip
    """World, text and trained model of one seed; see `facts.world` and `speaker.train`."""
    world = facts.world(rare, wrong, seed)
    text = facts.text(world, sentences, seed)
    model = speaker.train(text.words, len(VOCABULARY), steps=steps, seed=seed)
    return Learned(world, text, facts.posterior(world, text), model)


def asked(world: facts.World, n: int = ASKED, seed: int = 0, *, learn: bool = False) -> Tensor:
    """(n,) questions, drawn as those of the text are.

    learn: from the half of all questions that the model may learn to speak of its answers from; by
        default from the other half, on which it is judged.
    """
    half = torch.rand(facts.QUESTIONS, generator=validate.generator(12_345)) < 0.5
    law = world.frequency * (half if learn else ~half)
    generator = validate.generator(10_000 + 2 * seed + learn)
    return torch.multinomial(law, n, replacement=True, generator=generator)


@functools.cache
def _beginnings() -> tuple[tuple[tuple[int, ...], ...], Tensor, Tensor]:
    """The beginnings of answers, and for each step of each answer its beginning and next word.

    Steps (S, longest) are padded with -1.
    """
    rows = [VOCABULARY.encode(words) for words, _ in ANSWERS]
    found = {tuple(row[:k]): 0 for row in rows for k in range(len(row))}
    found = {before: number for number, before in enumerate(found)}
    longest = max(map(len, rows))
    where = torch.full((len(rows), longest), -1)
    for number, row in enumerate(rows):
        where[number, : len(row)] = torch.tensor([found[tuple(row[:k])] for k in range(len(row))])
    return tuple(found), where, pad(rows, longest)


def next_in_answers(model: Decoder, prompts: Tensor) -> Tensor:
    """(n, beginnings, V) float64: log-probabilities of the word after questions (n, T) and each
    beginning of ANSWERS; `wordings` puts them together.
    """
    beginnings, _, _ = _beginnings()
    lengths = (prompts != 0).sum(dim=1).tolist()
    begun = [
        [*row[:length], *before]
        for row, length in zip(prompts.tolist(), lengths, strict=True)
        for before in beginnings
    ]
    with torch.no_grad():
        return speaker.after(model, pad(begun)).double().view(len(prompts), len(beginnings), -1)


def wordings(log: Tensor) -> Tensor:
    """(n, S): the probability of each of ANSWERS, word by word, from `next_in_answers`."""
    _, where, words = _beginnings()
    steps = log[:, where.clamp(min=0), words].masked_fill(where < 0, 0.0)
    return steps.sum(dim=2).exp()


def by_wording(model: Decoder, prompts: Tensor) -> Tensor:
    """(n, S) float64: the probability of each of ANSWERS, word by word, after questions (n, T).

    No answer begins with another one, so rows sum to 1 where the model never says anything else.
    """
    return wordings(next_in_answers(model, prompts))


def by_meaning(wordings: Tensor) -> Tensor:
    """(n, places): the probability of each place, the sum over its wordings (n, S).

    Source: Kuhn, Gal & Farquhar 2023, "Semantic uncertainty", equation 2.

    >>> one = torch.zeros(1, len(ANSWERS)); one[0, :2] = torch.tensor([0.5, 0.25])
    >>> by_meaning(one)[0, 0].item()  # istanbul and constantinople
    0.75
    """
    places = torch.zeros(len(wordings), len(PLACES), dtype=wordings.dtype)
    return places.index_add_(1, PLACE_OF, wordings)


def stored(folder: Path | None = None) -> pd.DataFrame:
    """The table that `study.asking` made; folder: notebooks/results of the course by default."""
    return strengths.stored(PATH, folder)
