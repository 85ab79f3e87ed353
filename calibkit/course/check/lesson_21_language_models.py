"""Language models: what a text tells of a fact, and an answer that can be said in several ways."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from calibkit.course.check.engine import Mistake, exercise


def _told(n: int, K: int, seed: int, times: int = 4) -> Tensor:
    """(n, K) how often a text names each answer: mostly the first ones, and not at all in row 0."""
    generator = torch.Generator().manual_seed(seed)
    law = torch.tensor([0.5**k for k in range(K)], dtype=torch.float64)
    counts = torch.zeros(n, K, dtype=torch.int64)
    for row in range(1, n):
        t = int(torch.randint(1, times + 1, (1,), generator=generator))
        named = torch.multinomial(law, t, replacement=True, generator=generator)
        counts[row] = named.bincount(minlength=K)
    return counts


TOLD = {
    "12 questions, 4 cities, one sentence in ten wrong": (_told(12, 4, 0), 0.1),
    "20 questions, 24 cities": (_told(20, 24, 1), 0.1),
    "a text in which a third of the sentences is wrong": (_told(15, 5, 2), 1 / 3),
    "two cities": (_told(10, 2, 3), 0.2),
    "one question": (_told(2, 6, 4)[1:], 0.05),
    "questions that are never answered": (torch.zeros(3, 7, dtype=torch.int64), 0.1),
    "a text that is wrong more often than right": (_told(12, 4, 5), 0.9),
    "questions answered thousands of times": (
        torch.tensor([[2700, 150, 150], [1500, 1499, 1], [0, 0, 3000]]),
        0.1,
    ),
}


def _fact(
    counts: Tensor, wrong: float, *, slip: float | None = None, right: float | None = None
) -> Tensor:
    """The posterior; slip, right: other probabilities of a wrong and of the right city."""
    m, K = counts.double(), counts.shape[1]
    slip = wrong / (K - 1) if slip is None else slip
    right = 1 - wrong if right is None else right
    t = m.sum(dim=1, keepdim=True)
    return (m * math.log(right) + (t - m) * math.log(slip)).softmax(dim=1)


def _likelihood(counts: Tensor, wrong: float) -> Tensor:
    m, K = counts.double(), counts.shape[1]
    t = m.sum(dim=1, keepdim=True)
    return (1 - wrong) ** m * (wrong / (K - 1)) ** (t - m)


def _shares(counts: Tensor) -> Tensor:
    m, K = counts.double(), counts.shape[1]
    t = m.sum(dim=1, keepdim=True)
    return torch.where(t > 0, m / t.clamp(min=1), torch.full_like(m, 1 / K))


def _favourite(counts: Tensor, wrong: float) -> Tensor:
    K = counts.shape[1]
    best = torch.nn.functional.one_hot(counts.argmax(dim=1), K).double()
    told = best * (1 - wrong) + (1 - best) * wrong / (K - 1)
    return torch.where(counts.sum(dim=1, keepdim=True) > 0, told, torch.full_like(told, 1 / K))


@exercise(
    cases=TOLD,
    mistakes=[
        Mistake(
            lambda counts, wrong: _fact(counts, wrong, slip=wrong),
            "`wrong` is shared by all other cities: each of them has wrong / (K - 1).",
        ),
        Mistake(
            lambda counts, wrong: _fact(counts, wrong, slip=wrong / counts.shape[1]),
            "a wrong sentence names one of the K - 1 *other* cities: divide by K - 1, not by K.",
        ),
        Mistake(
            lambda counts, wrong: _likelihood(counts, wrong),
            "the rows do not sum to 1 yet: divide each by its sum (or take the softmax).",
        ),
        Mistake(
            lambda counts, wrong: (
                _likelihood(counts, wrong) / _likelihood(counts, wrong).sum(dim=1, keepdim=True)
            ),
            "powers of small numbers become 0, and 0 / 0 is no number. Add logarithms instead, and "
            "end with a softmax.",
        ),
        Mistake(
            lambda counts, wrong: _shares(counts),
            "these are the shares of the sentences. Two sentences that agree tell more than one: "
            "multiply the probabilities of all sentences.",
        ),
        Mistake(
            lambda counts, wrong: (
                (1 - wrong) * _shares(counts)
                + wrong * (1 - _shares(counts)) / (counts.shape[1] - 1)
            ),
            "this is which city the next sentence may name, by shares. Asked is which one is true: "
            "multiply the probabilities of all sentences.",
        ),
        Mistake(
            lambda counts, wrong: _favourite(counts, wrong),
            "this looks at the most frequent city alone, as if each question were answered once.",
        ),
        Mistake(
            lambda counts, wrong: (counts.double() * math.log(1 - wrong)).softmax(dim=1),
            "sentences that name another city are left out: each has the factor wrong / (K - 1).",
        ),
        Mistake(
            lambda counts, wrong: _fact(counts, wrong).log(),
            "these are logarithms. Return the probabilities: softmax, not log_softmax.",
        ),
        Mistake(
            lambda counts, wrong: _fact(counts, wrong).amax(dim=1),
            "this is the confidence alone. Return the probability of every city, (n, K).",
        ),
        Mistake(
            lambda counts, wrong: _fact(counts, wrong).argmax(dim=1),
            "this is the most probable city alone. Return the probability of every city, (n, K).",
        ),
        Mistake(
            lambda counts, wrong: _fact((counts > 0).long(), wrong),
            "you asked whether a city is named, not how often. Each sentence has its factor.",
        ),
        Mistake(
            lambda counts, wrong: (
                counts.double() * math.log(1 - wrong)
                + (counts.double().sum(dim=1, keepdim=True) - counts)
                * math.log(wrong / (counts.shape[1] - 1))
            ).softmax(dim=0),
            "you normalised over the questions. Each row sums to 1: dim=1.",
        ),
        Mistake(
            lambda counts, wrong: _fact(
                counts, wrong, slip=1 - wrong, right=wrong / (counts.shape[1] - 1)
            ),
            "the two factors are exchanged: a city that is named has the factor 1 - wrong.",
        ),
    ],
    absolute=1e-7,
)
def fact_posterior(counts, wrong):
    """(n, K) the probability of each city given how often a text names it, (n, K)."""
    return _fact(counts, wrong)


def _ways(n: int, S: int, cities: int, seed: int, *, rest: float = 0.0) -> tuple[Tensor, ...]:
    """log-probabilities (n, S), the city of each wording, and how many there are.

    rest: what is said beside these wordings, so that rows sum to 1 - rest.
    """
    generator = torch.Generator().manual_seed(seed)
    logits = 2 * torch.randn(n, S, generator=generator, dtype=torch.float64)
    city = torch.cat(
        [
            torch.arange(cities),
            torch.randint(cities, (S - cities,), generator=generator),
        ]
    )
    city = city[torch.randperm(S, generator=generator)]
    return logits.log_softmax(dim=1) + math.log1p(-rest), city, cities


SAID = {
    "15 questions, 9 wordings of 4 cities": _ways(15, 9, 4, 0),
    "20 questions, 60 wordings of 24 cities": _ways(20, 60, 24, 1),
    "a model that also says other things": _ways(12, 10, 3, 2, rest=0.2),
    "one question": _ways(1, 7, 3, 3),
    "one wording of each city": _ways(8, 5, 5, 4),
    "a city without a wording": (*_ways(9, 8, 4, 5)[:2], 6),
    "one city": _ways(6, 4, 1, 6),
    "single precision": (_ways(10, 12, 5, 7)[0].float(), *_ways(10, 12, 5, 7)[1:]),
}


def _summed(values: Tensor, city: Tensor, cities: int) -> Tensor:
    return torch.zeros(len(values), cities, dtype=values.dtype).index_add(1, city, values)


def _largest(probs: Tensor, city: Tensor, cities: int) -> Tensor:
    places = city.expand(len(probs), -1)
    return torch.zeros(len(probs), cities, dtype=probs.dtype).scatter_reduce(
        1, places, probs, "amax", include_self=True
    )


def _numbers(city: Tensor, cities: int, probs: Tensor) -> Tensor:
    return city.bincount(minlength=cities).clamp(min=1).to(probs.dtype)


@exercise(
    cases=SAID,
    mistakes=[
        Mistake(
            lambda log, city, K: _summed(log, city, K),
            "you added logarithms, which multiplies the probabilities. Take `exp` first.",
        ),
        Mistake(
            lambda log, city, K: _summed(log.exp(), city, K).log(),
            "these are logarithms. Return the probabilities themselves.",
        ),
        Mistake(
            lambda log, city, K: _largest(log.exp(), city, K),
            "this is the best wording of each city. Add up all its wordings.",
        ),
        Mistake(
            lambda log, city, K: _summed(log.exp(), city, K) / _numbers(city, K, log),
            "this is the mean over the wordings of a city. A city that can be said in more ways is "
            "not less probable: take the sum.",
        ),
        Mistake(
            lambda log, city, K: (
                _summed(log.exp(), city, K) / _summed(log.exp(), city, K).sum(dim=1, keepdim=True)
            ),
            "you divided by the sum. What the model says beside these wordings names no city: its "
            "probability stays away.",
        ),
        Mistake(
            lambda log, city, K: _summed(log.exp(), city, K).amax(dim=1),
            "this is the confidence alone. Return the probability of every city.",
        ),
        Mistake(
            lambda log, city, K: _summed(log.exp(), city, K).argmax(dim=1),
            "this is the most probable city alone. Return the probability of every city.",
        ),
        Mistake(
            lambda log, city, K: _summed(log.softmax(dim=1), city, K),
            "`log_probs` are logarithms of probabilities already: `exp` alone, no softmax.",
        ),
        Mistake(
            lambda log, city, K: _summed(log.exp(), city, K).softmax(dim=1),
            "the sums are probabilities already: no softmax.",
        ),
        Mistake(
            lambda log, city, K: torch.zeros(len(log), K, dtype=log.dtype).index_copy(
                1, city, log.exp()
            ),
            "each wording overwrote the one before. They must be added: `index_add`.",
        ),
        Mistake(
            lambda log, city, K: _summed(torch.ones_like(log), city, K) / log.shape[1],
            "these are the shares of the wordings. Each has its own probability.",
        ),
        Mistake(
            lambda log, city, K: _summed(log.exp(), city, K).mean(dim=0),
            "this is the mean over the questions. Return a row for each.",
        ),
    ],
    absolute=1e-7,
)
def by_meaning(log_probs, city, cities):
    """(n, cities) the probability of each city: the sum over its wordings (n, S)."""
    return _summed(log_probs.exp(), city, cities)
