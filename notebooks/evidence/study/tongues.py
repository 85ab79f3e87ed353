"""A temperature found in the wild: which language is a name of a country or language written in?

py3langid is a naive Bayes model of 139 languages; Babel knows the names of countries and languages
in 121 of these. Many names are written alike in several languages, so that under uniform drawing
of a language's name the posterior over languages is an exact count. As shipped the model divides
its logits by the square root of the length in bytes: a temperature without calibration data.

Both come with the course's extra. `python -m study.tongues` keeps the table.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from scipy import optimize
from torch import Tensor

from calibkit import validate
from calibkit.course.experiments import answers, strengths
from calibkit.course.experiments.answers import Answered

PATH = Path("laptop") / "tongues.csv"
LENGTHS = (1, 6, 11, 21)  # characters from which a new group of names begins
WAYS = ("raw", "as shipped", "one temperature")


class Names(NamedTuple):
    """names: n distinct texts; languages: K codes; posterior: (n, K) float64; weights: (n,) how
    many languages have each name, in proportion to which it is drawn.
    """

    names: tuple[str, ...]
    languages: tuple[str, ...]
    posterior: Tensor
    weights: Tensor


def _identifier():
    langid = validate.extra("py3langid.langid", "course", "lesson 21")
    return langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE)


@functools.cache
def names() -> Names:
    """The names of countries and languages of every language that both libraries know.

    A language, and then one of its names, are drawn so that every pair of both is equally likely:
    a name that m languages write alike is each of theirs with probability 1 / m.
    """
    babel = validate.extra("babel", "course", "lesson 21")
    known = set(babel.localedata.locale_identifiers())
    languages = tuple(code for code in _identifier().labels if code in known)
    owners: dict[str, list[int]] = {}
    for number, code in enumerate(languages):
        locale = babel.Locale(code)
        for name in dict.fromkeys([*locale.territories.values(), *locale.languages.values()]):
            owners.setdefault(name, []).append(number)
    texts = tuple(sorted(owners))
    posterior = torch.zeros(len(texts), len(languages), dtype=torch.float64)
    for row, text in enumerate(texts):
        posterior[row, owners[text]] = 1 / len(owners[text])
    weights = torch.tensor([len(owners[text]) for text in texts], dtype=torch.float64)
    return Names(texts, languages, posterior, weights)


class Scored(NamedTuple):
    """logits: (n, C) float64 of naive Bayes; bytes: (n,) int64 lengths of the texts, at least 1;
    language: (C,) int64, which language a column is of: some have two scripts.
    """

    logits: Tensor
    bytes: Tensor
    language: Tensor


@functools.cache
def scored(texts: tuple[str, ...], languages: tuple[str, ...]) -> Scored:
    """What py3langid's model makes of texts, among the languages (codes) alone."""
    model = _identifier()
    model.set_languages(languages)
    rows, lengths = [], []
    for text in texts:
        encoded = model._encode(text)
        score = model._raw_score(encoded).astype(np.float64)
        rows.append(np.where(score < -1e30, 0.0, score))  # no feature: all languages alike
        lengths.append(max(1, len(encoded)))
    column = torch.tensor([languages.index(code) for code in model.nb_classes])
    return Scored(torch.from_numpy(np.stack(rows)), torch.tensor(lengths), column)


def at_temperature(of: Scored, T: float | Tensor) -> Tensor:
    """(n, K) probabilities of the languages at temperature T, a number or (n, 1)."""
    each = (of.logits / T).softmax(dim=1)
    merged = torch.zeros(len(each), int(of.language.max()) + 1, dtype=each.dtype)
    return merged.index_add_(1, of.language, each)


def probs(way: str, of: Scored, known: Names) -> Tensor:
    """(n, K) probabilities by one of WAYS; raises ValueError for another way.

    "one temperature" is that of the least expected NLL under the exact posterior, the same for all
    names; it is fitted on every second name and used on all.
    """
    validate.choice("way", way, WAYS)
    if way == "raw":
        return at_temperature(of, 1.0)
    if way == "as shipped":
        return at_temperature(of, of.bytes.double().sqrt()[:, None])
    half = Scored(of.logits[::2], of.bytes[::2], of.language)
    return at_temperature(of, fitted(half, known.posterior[::2], known.weights[::2]))


def fitted(of: Scored, posterior: Tensor, weights: Tensor) -> float:
    """T of the least weighted cross-entropy to the posterior (n, K)."""

    def loss(log_T: float) -> float:
        log = at_temperature(of, float(np.exp(log_T))).clamp(min=1e-300).log()
        return -((posterior * log).sum(dim=1) * weights).sum().item()

    found = optimize.minimize_scalar(loss, bounds=(-2.0, 4.0), method="bounded")
    return float(np.exp(found.x))


def measured() -> pd.DataFrame:
    """One row a way and group of lengths ("all" first): share of draws, and `answers.judged`.

    best: accuracy of the best possible reader.
    """
    of = names()
    model = scored(of.names, of.languages)
    length = torch.bucketize(
        torch.tensor([len(name) for name in of.names]), torch.tensor(LENGTHS), right=True
    )
    rows = []
    for way in WAYS:
        sure, place = probs(way, model, of).max(dim=1)
        for group in range(len(LENGTHS) + 1):
            own = length == group if group else torch.ones_like(length, dtype=torch.bool)
            share = of.weights[own] / of.weights[own].sum()
            found = answers.judged(Answered(place[own], sure[own]), of.posterior[own], share)
            best = (share * of.posterior[own].amax(dim=1)).sum().item()
            told = f"from {LENGTHS[group - 1]}" if group else "all"
            drawn = (of.weights[own].sum() / of.weights.sum()).item()
            rows.append({"way": way, "characters": told, "share": drawn, "best": best, **found})
    return pd.DataFrame(rows).round(5)


def stored(folder: Path | None = None) -> pd.DataFrame:
    """The table that `measured` made; folder: notebooks/results of the course by default."""
    return strengths.stored(PATH, folder)


if __name__ == "__main__":
    strengths.keep(measured(), PATH)
