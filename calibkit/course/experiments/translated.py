"""Small transformers that learn the toy pair of languages, whose exact law is known.

The networks are judged after true prefixes, and after prefixes of
their own: where what they wrote before is possible, the law of the next word is known there too.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import pandas as pd
import torch
from torch import Tensor

from calibkit.course.experiments.ways import changes
from calibkit.lab import translation
from calibkit.lab.translation import END, PAD, START, Pairs, toy

# Alpha, gamma: those of the papers.
USUAL = {"cross-entropy": 0.0, "smoothing": 0.1, "focal": 2.0}
PARTS = ("train", "cal", "test")
LONGEST = 16  # words of a translation that a network writes


@dataclass(frozen=True)
class Budget:
    """What is trained at a scale.

    few, some, many: training sentences; judged: those of cal, and of test; decoded: test sentences
        that are translated; marks: steps after which a network is judged.
    """

    few: int = 300
    some: int = 800
    many: int = 3000
    steps: int = 400
    judged: int = 600
    decoded: int = 200
    marks: tuple[int, ...] = (25, 50, 75, 100, 150, 200, 250, 300, 350, 400)


SMOKE = Budget(100, 200, 400, steps=8, judged=50, decoded=10, marks=(2, 4, 8))


def budget(scale: str) -> Budget:
    return SMOKE if scale == "smoke" else Budget()


@functools.cache
def drawn(size: Budget, part: str, seed: int) -> Pairs:
    """The sentences of `train`, `cal` or `test`; each seed has its own."""
    n = size.many if part == "train" else size.judged
    return toy.draw(n, seed=10 * seed + PARTS.index(part))


@functools.cache
def exact(size: Budget, part: str, seed: int) -> Tensor:
    """(n, L, V): the law of each token of these sentences."""
    return toy.law(drawn(size, part, seed))


def plan(
    size: Budget,
    way: str,
    sentences: int,
    seed: int,
    *,
    strength: float | None = None,
    decay: float = 1e-2,
    padded: bool = False,
) -> translation.Plan:
    """A transformer of width 48 with one layer on each side; padded: half the steps.

    strength: the usual one of the way where none is given.
    """
    return translation.Plan(
        drawn(size, "train", seed)[:sentences],
        drawn(size, "test", seed),
        exact(size, "test", seed),
        **changes(way, USUAL[way] if strength is None else strength),
        steps=size.steps // 2 if padded else size.steps,
        marks=size.marks,
        weight_decay=decay,
        padded=padded,
        depth=1,
        seed=seed,
    )


def pair(source: str, target: str = "") -> Pairs:
    """One sentence of the toy language, and a translation where there is one.

    >>> pair("the car covers the road").texts(source=True)
    ['the car covers the road']
    """
    rows = [
        translation.rows_of([text.split()], words)
        for text, words in ((source, toy.SOURCE_WORDS), (target, toy.TARGET_WORDS))
    ]
    return Pairs(rows[0], rows[1], toy.SOURCE_WORDS, toy.TARGET_WORDS)


def written(
    run: translation.Run, pairs: Pairs, seed: int | None = None, temperature: float = 1.0
) -> tuple[Tensor, Tensor]:
    """What a network writes for the sources: probabilities (n, t, V) and sentences (n, t).

    seed: of the draws of each word from the network's probabilities; None takes the most probable.
    temperature: of the probabilities of each word.
    """
    score = translation.scorer(run.model, pairs.source)
    generator = torch.Generator().manual_seed(0 if seed is None else seed)
    rows, done = torch.arange(len(pairs)), torch.zeros(len(pairs), dtype=torch.bool)
    prefix, said = torch.full((len(pairs), 1), START), list[Tensor]()
    while len(said) < LONGEST and not done.all():
        said.append((score(rows, prefix) / temperature).softmax(dim=1))
        words = said[-1].argmax(dim=1)
        if seed is not None:
            words = torch.multinomial(said[-1], 1, generator=generator)[:, 0]
        words = words.masked_fill(done, PAD)
        prefix, done = torch.cat([prefix, words[:, None]], dim=1), done | (words == END)
    return torch.stack(said, dim=1), prefix[:, 1:]


def after_prefixes(probs: Tensor, sentences: Tensor, pairs: Pairs) -> pd.DataFrame:
    """What is said at each place of the sentences, beside the exact law after the same prefix.

    probs: (n, t, V); sentences: (n, t), ended and padded. One row a token, with its place, whether
    the prefix is possible, the confidence, and the exact probability of the favourite word: `right`
    is set to 0 after an impossible prefix, where there is no law.
    """
    confidence, favourite = probs.max(dim=2)
    rows = []
    for one, source in enumerate(pairs.texts(source=True)):
        left = toy.ways(source.split())
        for place, word in enumerate(sentences[one].tolist()):
            if word == PAD:
                break
            law = toy.next_words(left)
            right = law.get(pairs.target_words[favourite[one, place]], 0.0)
            rows.append((one, place, bool(left), confidence[one, place].item(), right))
            left = toy.followed(left, pairs.target_words[word])
    return pd.DataFrame(rows, columns=["sentence", "place", "possible", "confidence", "right"])
