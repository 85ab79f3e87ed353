"""Next words of a small language model beside their exact law, and answers drawn in other ways.

The text that a model learned from has an exact law of every next word (`facts.next_words`). Is the
model's law calibrated, word by word? And what do a temperature and a nucleus of words do to the
answers that are drawn from it? `python -m study.next_words` keeps the table.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pandas as pd
import torch
from torch import Tensor

from calibkit import validate
from calibkit.course.experiments import answers, facts, strengths
from calibkit.course.experiments.answers import Answered, Learned
from calibkit.course.experiments.facts import WORDINGS

PATH = Path("laptop") / "facts-words.csv"
PARTS = ("wording", "first name", "last name", "answer, first word", "answer, later words")
NEW = 1_500  # new sentences on whose words a model is judged
DRAWN = (  # temperature, and nucleus, by which answers are drawn
    *((T, 1.0) for T in (1.5, 1.0, 0.7, 0.5, 0.25)),
    *((1.0, p) for p in (0.95, 0.9, 0.7, 0.5)),
)  # fmt: skip


class Words(NamedTuple):
    """Of m next words: the model's law and the exact one, (m, V) float64; part: (m,) the place in
    PARTS; question: (m,) which question the sentence is about.
    """

    law: Tensor
    exact: Tensor
    part: Tensor
    question: Tensor


def parts(told: facts.Text) -> Tensor:
    """(n, T - 1) the place in PARTS of each word after the first, -1 at padding.

    >>> told = facts.text(facts.world(), 1, seed=3)  # home of rafael chen ? in mumbai .
    >>> parts(told)[0].tolist()
    [0, 0, 1, 2, 0, 3, 4, 4]
    """
    found = torch.full((len(told.words), told.words.shape[1] - 1), -1)
    names = {"{first}": 1, "{last}": 2}
    for row, way in enumerate(told.wording.tolist()):
        asked = [names.get(word, 0) for word in WORDINGS[way][1].split()]
        after = int((told.words[row] != 0).sum()) - 1 - len(asked)
        found[row, : len(asked) + after] = torch.tensor([*asked, 3, *[4] * (after - 1)])
    return found


def new_words(known: Learned, n: int = NEW, seed: int = 0) -> Words:
    """Every next word of `n` new sentences of the same world, given the words before it.

    The exact law is that of a reader who knows the world's frequencies and the model's text.
    """
    told = facts.text(known.world, n, 20_000 + seed)
    exact = facts.next_words(known.world, told, facts.next_said(known.world, known.posterior))
    with torch.no_grad():
        law = known.model(told.words[:, :-1]).double().softmax(dim=2)
    part = parts(told)
    real = part >= 0
    question = told.question[:, None].expand(part.shape)
    return Words(law[real], exact[real], part[real], question[real])


def compared(law: Tensor, exact: Tensor) -> dict[str, float]:
    """`answers.judged` of the most probable next word, and how far whole laws (m, V) differ.

    distance: mean total variation; excess: mean Kullback-Leibler divergence from the exact law in
    nats, by which the cross-entropy of the model is above the least.
    """
    sure, word = law.max(dim=1)
    found = answers.judged(Answered(word, sure.clamp(max=1)), exact)
    excess = torch.xlogy(exact, exact) - exact * law.clamp(min=1e-300).log()
    distance = ((law - exact).abs().sum(dim=1) / 2).mean().item()
    del found["regret"]  # nobody acts on a next word
    return {**found, "distance": distance, "excess": excess.sum(dim=1).mean().item()}


def nucleus(log: Tensor, temperature: float = 1.0, top: float = 1.0) -> Tensor:
    """(m, V) log-probabilities from which a next word is drawn, given those of the model.

    First the temperature; then only the most probable words are kept, as few as have the
    probability `top` together, and scaled to sum to 1. The most probable is always kept.

    Raises ValueError for a temperature of 0 or less, and for `top` outside (0, 1].
    Source: Holtzman et al. 2020, "The curious case of neural text degeneration", section 3.

    >>> nucleus(torch.tensor([[0.5, 0.3, 0.2]]).log(), top=0.7).exp().round(decimals=3)
    tensor([[0.6250, 0.3750, 0.0000]])
    """
    infinite = float("inf")
    validate.number("temperature", temperature, 0, infinite, open_low=True, open_high=True)
    validate.number("top", top, 0, 1, open_low=True)
    law = (log / temperature).softmax(dim=1)
    if top < 1:
        most, order = law.sort(dim=1, descending=True, stable=True)
        before = most.cumsum(dim=1) - most
        law = law.masked_fill(torch.zeros_like(law).scatter(1, order, before) >= top, 0.0)
    return (law / law.sum(dim=1, keepdim=True)).log()


def drawn_law(log: Tensor, temperature: float, top: float) -> Tensor:
    """(n, S): the exact law of the answers that are drawn word by word from `nucleus`.

    log: (n, beginnings, V) of `answers.next_in_answers`.
    """
    return answers.wordings(nucleus(log.flatten(0, 1), temperature, top).view_as(log))


def answered(law: Tensor, exact: Tensor, said: Tensor) -> dict[str, float]:
    """How answers with the law (n, S) of wordings compare with the posterior and with the text.

    exact: (n, places) the posterior; said: (n, places) which place the next sentence would name.
    right, wrong, garbled: expected shares; distance: mean total variation from `said`, what is
    no answer being a place of its own; names: the same over wordings; entropy: by meaning, nats.
    """
    meanings = answers.by_meaning(law)
    garbled = (1 - meanings.sum(dim=1)).clamp(min=0)
    right = (meanings * exact).sum(dim=1)
    far, names = (
        ((one - other).abs().sum(dim=1) + garbled).mean().item() / 2
        for one, other in ((meanings, said), (law, said @ facts.SAYING))
    )
    return {
        "right": right.mean().item(),
        "wrong": (1 - right - garbled).mean().item(),
        "garbled": garbled.mean().item(),
        "distance": far,
        "names": names,
        "entropy": -torch.xlogy(meanings, meanings).sum(dim=1).mean().item(),
    }


def groups(text: facts.Text, question: Tensor) -> dict[str, Tensor]:
    """Masks (n,) of all questions, and of each kind of `answers.KINDS`."""
    kind = answers.kinds(text, question)
    found = {"all": torch.ones(len(question), dtype=torch.bool)}
    return found | {f"{least}": kind == k for k, least in enumerate(answers.KINDS)}


def _of_words(known: Learned, words: Words) -> list[dict]:
    """Rows of all words, of each part, and of the answer's parts by kind of question."""
    told = groups(known.text, words.question)
    every = torch.ones(len(words.part), dtype=torch.bool)
    masks = {("all", "all"): every, ("question", "all"): words.part < 3}
    masks |= {(name, "all"): words.part == k for k, name in enumerate(PARTS)}
    masks |= {
        (PARTS[k], kind): (words.part == k) & own for k in (3, 4) for kind, own in told.items()
    }
    rows = []
    for (name, kind), own in masks.items():
        found = compared(words.law[own], words.exact[own])
        rows.append({"what": "words", "part": name, "told": kind, "n": int(own.sum()), **found})
    return rows


def _of_bins(words: Words, bins: int = 15) -> list[dict]:
    """Rows of a reliability diagram: of the words of questions, and of answers' first words."""
    sure, word = words.law.max(dim=1)
    chance = words.exact.gather(1, word[:, None])[:, 0]
    number = torch.bucketize(sure.contiguous(), torch.arange(1, bins, dtype=torch.float64) / bins)
    rows = []
    for name, mask in (("question", words.part < 3), (PARTS[3], words.part == 3)):
        for k in range(bins):
            own = mask & (number == k)
            if own.any():
                means = {
                    "confidence": sure[own].mean().item(),
                    "accuracy": chance[own].mean().item(),
                }
                rows.append({"what": f"bin {k}", "part": name, "n": int(own.sum()), **means})
    return rows


def _of_answers(known: Learned, question: Tensor, prompts: Tensor) -> list[dict]:
    """Rows of DRAWN, and of the exact law of what the next sentence names, by kind of question."""
    exact = known.posterior[question]
    said = facts.next_said(known.world, exact)
    log = answers.next_in_answers(known.model, prompts)
    laws = {(T, top): drawn_law(log, T, top) for T, top in DRAWN}
    named = [("exact", 1.0, 1.0, said @ facts.SAYING)]
    named += [("model", T, top, law) for (T, top), law in laws.items()]
    told, rows = groups(known.text, question), []
    for part, T, top, law in named:
        for kind, own in told.items():
            found = answered(law[own], exact[own], said[own])
            row = {"what": "drawn", "part": part, "temperature": T, "top": top, "told": kind}
            rows.append({**row, "n": int(own.sum()), **found})
    return rows


def measured(seed: int, sentences: int, steps: int, new: int) -> list[dict]:
    """All rows of one seed: next words, their bins, and answers that are drawn in DRAWN ways."""
    known = answers.learned(seed=seed, sentences=sentences, steps=steps)
    words = new_words(known, new, seed)
    question = answers.asked(known.world, seed=seed)
    rows = _of_words(known, words) + _of_bins(words)
    rows += _of_answers(known, question, facts.prompts(question, seed))
    return [{"seed": seed, **row} for row in rows]


def run(seeds=range(5), sentences=6_000, steps=1_800, new=NEW, **options) -> pd.DataFrame:
    """The rows of `measured` of all seeds; options as of `sweep.results`."""
    return answers.table(measured, [(seed, sentences, steps, new) for seed in seeds], **options)


def stored(folder: Path | None = None) -> pd.DataFrame:
    """The table that `run` made; folder: notebooks/results of the course by default."""
    return strengths.stored(PATH, folder)


if __name__ == "__main__":
    strengths.keep(run(jobs=1), PATH)
