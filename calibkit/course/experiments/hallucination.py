"""Sentences that a language model makes up: what it must invent if it speaks as its text does.

`python -m study.asking invented` keeps the table over shares of rare facts.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import torch
from torch import Tensor

from calibkit.course.experiments import facts, speaker, strengths
from calibkit.course.experiments.answers import Learned
from calibkit.course.experiments.facts import ANSWERS, END, PLACE_OF, START, VOCABULARY

PATH = Path("laptop") / "facts-invented.csv"
SHARES = (0.0, 0.15, 0.3, 0.45, 0.6)  # of sentences about rare facts
WRITTEN = 4_000  # sentences that a model writes of its own


class Written(NamedTuple):
    """Sentences of a model: question (n,) and place (n,) int64, -1 where it is no sentence."""

    question: Tensor
    place: Tensor


@functools.cache
def _sentences() -> tuple[dict[tuple[int, ...], int], dict[tuple[int, ...], int]]:
    """The question of every wording of it, and the place of every wording of an answer."""
    every = torch.arange(facts.QUESTIONS).repeat_interleave(facts.EACH)
    wording = facts.EACH * (every // (len(facts.FIRST) * len(facts.LAST)))
    wording = wording + torch.arange(len(every)) % facts.EACH
    asked = map(tuple, facts.numbered(every, wording))
    ends = [tuple(VOCABULARY.encode([*words, END])) for words, _ in ANSWERS]
    places = dict(zip(ends, PLACE_OF.tolist(), strict=True))
    return dict(zip(asked, every.tolist(), strict=True)), places


def read(words: Tensor) -> Written:
    """What the sentences (n, T), padded with 0, say; -1 and -1 where they are none.

    >>> told = facts.text(facts.world(wrong=0.0), 3)
    >>> bool((read(told.words).question == told.question).all())
    True
    """
    questions, places = _sentences()
    mark, rows = VOCABULARY.numbers["?"], []
    for row in words.tolist():
        row = [word for word in row if word]
        cut = row.index(mark) + 1 if mark in row else 0
        found = questions.get(tuple(row[:cut]), -1), places.get(tuple(row[cut:]), -1)
        rows.append(found if min(found) >= 0 else (-1, -1))
    return Written(*torch.tensor(rows).T)


def write(known: Learned, n: int = WRITTEN, seed: int = 0) -> Written:
    """`n` sentences that the model draws word by word, from the first on."""
    begun = torch.full((n, 1), VOCABULARY.numbers[START])
    return read(speaker.written(known.model, begun, VOCABULARY.numbers[END], seed=seed))


def measure(known: Learned, told: Written, silent: Tensor | None = None) -> dict[str, float]:
    """Shares of what a model writes.

    silent: (n,) where it says "I do not know" in place of the sentence.
    invented: share of sentences that are false; invented_unseen: of these, those about questions
    that the text lacks; unseen: sentences about such questions; garbled: no sentences; abstained;
    miscalibration: how much less the model speaks of questions that the text lacks than the world
    does, at least 0.
    """
    keep = torch.ones(len(told.question), dtype=torch.bool) if silent is None else ~silent
    real = (told.question >= 0) & keep
    seen = facts.mentions(known.text).sum(dim=1) > 0
    new = real & ~seen[told.question]
    false = real & (told.place != known.world.truth[told.question])
    share = {
        "invented": false,
        "invented_unseen": false & new,
        "unseen": new,
        "garbled": (told.question < 0) & keep,
        "abstained": ~keep,
    }
    found = {name: mask.double().mean().item() for name, mask in share.items()}
    missing = facts.missing_mass(known.world, known.text)
    return {**found, "miscalibration": max(0.0, missing - found["unseen"])}


def stored(folder: Path | None = None) -> pd.DataFrame:
    """The table that `study.asking` made; folder: notebooks/results of the course by default."""
    return strengths.stored(PATH, folder)
