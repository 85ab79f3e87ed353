"""Language models: what a text tells of a fact, and an answer that can be said in several ways."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from calibkit.course.check.engine import exercise


# fmt: off
def _told(n: int, K: int, seed: int, *, silent: int = 0) -> Tensor:
    """(n, K) how often a text names each answer, 1 to 4 times in all: mostly the first ones.

    The first `silent` questions are never answered.
    """
    generator = torch.Generator().manual_seed(seed)
    law = torch.tensor([0.5**k for k in range(K)], dtype=torch.float64)
    counts = torch.zeros(n, K, dtype=torch.int64)
    for row in range(silent, n):
        t = int(torch.randint(1, 5, (1,), generator=generator))
        named = torch.multinomial(law, t, replacement=True, generator=generator)
        counts[row] = named.bincount(minlength=K)
    return counts

# the ordinary cases first: what never happens in them is told apart by the last two
TOLD = {
    "12 questions, 4 cities, one sentence in ten wrong": (_told(12, 4, 0), 0.1),
    "20 questions, 24 cities": (_told(20, 24, 1), 0.1),
    "a text in which a third of the sentences is wrong": (_told(15, 5, 2), 1 / 3),
    "two cities": (_told(10, 2, 3), 0.2),
    "one question": (torch.tensor([[1, 2, 0, 0]]), 0.25),
    "a text that is wrong more often than right": (_told(12, 4, 5), 0.9),
    "questions of which two are never answered": (_told(9, 7, 4, silent=2), 0.1),
    "questions answered thousands of times": (
        # ties and clear cases: a near tie would refuse float32, which the text does not exclude
        torch.tensor([[2700, 150, 150], [1500, 1500, 1], [2000, 1990, 10], [0, 0, 9000]]),
        0.1,
    ),
}

def _logs(counts: Tensor, wrong: float, *, slip: float | None = None, right: float | None = None) -> Tensor:
    """log P(sentences | city); slip, right: other probabilities of a wrong and the right city."""
    m, K = counts.double(), counts.shape[1]
    slip = wrong / (K - 1) if slip is None else slip
    right = 1 - wrong if right is None else right
    return m * math.log(right) + (_total(counts) - m) * math.log(slip)

def _fact(counts: Tensor, wrong: float, *, slip: float | None = None, right: float | None = None) -> Tensor:
    """The posterior, or what other probabilities of a sentence make of it."""
    return _logs(counts, wrong, slip=slip, right=right).softmax(dim=1)

def _total(counts: Tensor) -> Tensor:
    """(n, 1) how often each question is answered."""
    return counts.double().sum(dim=1, keepdim=True)

def _product(counts: Tensor, wrong: float, lost: float = math.nan, least: float = 0.0) -> Tensor:
    """The posterior from the products, with `lost` in rows in which they sum to `least` at most."""
    likelihood = _logs(counts, wrong).exp()
    total = likelihood.sum(dim=1, keepdim=True)
    return torch.where(total > least, likelihood / total, lost)

def _shares(counts: Tensor) -> Tensor:
    return torch.where(_total(counts) > 0, counts / _total(counts), 1 / counts.shape[1])

def _best(counts: Tensor) -> Tensor:
    """1 for the city that is named most often, else 0."""
    return torch.nn.functional.one_hot(counts.argmax(dim=1), counts.shape[1]).double()

def _popular(counts: Tensor, wrong: float) -> Tensor:
    """The posterior if cities that the whole text names more often were more probable before."""
    return (_logs(counts, wrong) + (counts.double().sum(dim=0) + 1).log()).softmax(dim=1)

def _binomial(counts: Tensor, wrong: float) -> Tensor:
    """The posterior if m of t were binomial for each city by itself."""
    m, t = counts.double(), _total(counts)
    ways = torch.lgamma(t + 1) - torch.lgamma(m + 1) - torch.lgamma(t - m + 1)
    return (ways + _logs(counts, wrong, slip=wrong)).softmax(dim=1)

@exercise(cases=TOLD, slips={
    r"ZeroDivisionError|divi[a-z]* by zero":
        "The sum of a row is 0: products of many small numbers become 0, and so is the number of "
            "sentences where a question is never answered. Logarithms and a softmax avoid both."},
        absolute=1e-7, mistakes={
    "`wrong` is shared by all other cities: each of them has wrong / (K - 1).":
        lambda counts, wrong: _fact(counts, wrong, slip=wrong),
    "a wrong sentence names one of the K - 1 *other* cities: divide by K - 1, not by K.":
        lambda counts, wrong: _fact(counts, wrong, slip=wrong / counts.shape[1]),
    "a wrong sentence never names the true city: that has 1 - wrong, and each of the K - 1 others wrong / "
    "(K - 1).": lambda counts, wrong: _fact(counts, wrong, slip=wrong / counts.shape[1], right=1 - wrong
            + wrong / len(counts.T)),
    "23 is K - 1 for 24 cities. Other tables have other K: counts.shape[1].":
        lambda counts, wrong: _fact(counts, wrong, slip=wrong / 23),
    "K is the number of cities, counts.shape[1]; len(counts) is the number of questions.":
        lambda counts, wrong: _fact(counts, wrong, slip=wrong / max(len(counts) - 1, 1)),
    "the right city has 1 - wrong, which is not always 0.9.":
        lambda counts, wrong: _fact(counts, wrong, right=0.9),
    "each wrong city has wrong / (K - 1), and `wrong` is not always 0.1.":
        lambda counts, wrong: _fact(counts, wrong, slip=0.1 / (counts.shape[1] - 1)),
    "K - 1 divides `wrong`, not its logarithm: log(wrong / (K - 1)).":
        lambda counts, wrong: _fact(counts, wrong, slip=math.exp(math.log(wrong) / (counts.shape[1] - 1))),
    "the second logarithm has the wrong sign: log(wrong / (K - 1)) is below 0, and t - m times that is "
    "added.": lambda counts, wrong: _fact(counts, wrong, slip=(counts.shape[1] - 1) / wrong),
    "the rows do not sum to 1 yet: divide each by its sum (or take the softmax).":
        lambda counts, wrong: _logs(counts, wrong).exp(),
    "each row is divided by its largest number, which becomes 1. Divide by the sum, too.":
        lambda counts, wrong: (_logs(counts, wrong) - _logs(counts, wrong).amax(dim=1, keepdim=True)).exp(),
    "these are the logarithms of the products. A softmax (dim=1) makes probabilities of them.":
        lambda counts, wrong: _logs(counts, wrong),
    "you divided logarithms by their sum. Take `exp` first, or the softmax, which does both.":
        lambda counts, wrong: _logs(counts, wrong) / _logs(counts, wrong).sum(1, keepdim=True),
    "powers of small numbers become 0, and 0 / 0 is no number. Add logarithms instead, and end with a "
    "softmax.": lambda counts, wrong: _product(counts, wrong),
    "powers of small numbers become 0 for all cities, and a small number added below hides 0 / 0. Add "
    "logarithms instead, and end with a softmax.":
        lambda counts, wrong: _product(counts, wrong, lost=0.0, least=1e-12),
    "powers of small numbers become 0 for all cities, which then look equally probable. Add logarithms from "
    "the start, and end with a softmax.":
        lambda counts, wrong: _product(counts, wrong, lost=1 / counts.shape[1]),
    "these are the shares of the sentences. Two sentences that agree tell more than one: multiply the "
    "probabilities of all sentences.": lambda counts, wrong: _shares(counts),
    "these are the shares of the sentences after one more for each city. Multiply the probabilities of all "
    "sentences.": lambda counts, wrong: (counts + 1) / (_total(counts) + counts.shape[1]),
    "this is which city the next sentence may name, by shares. Asked is which one is true: multiply the "
    "probabilities of all sentences.": lambda counts, wrong: (1 - wrong) * _shares(counts) + wrong
            * (1 - _shares(counts)) / (counts.shape[1] - 1),
    "this looks at the most frequent city alone, as if each question were answered once.":
        lambda counts, wrong: _best(counts) * (1 - wrong) + (1 - _best(counts)) * wrong
            / (counts.shape[1] - 1),
    "this is certain of the most frequent city. A sentence may be wrong: return probabilities.":
        lambda counts, wrong: _best(counts),
    "this is (1 - wrong) to the power m alone. Sentences that name another city count, too: wrong / (K - 1) "
    "to the power t - m, not t.":
        lambda counts, wrong: (counts.double() * math.log(1 - wrong)).softmax(dim=1),
    "sentences that name this city have a factor, too: 1 - wrong to the power m.":
        lambda counts, wrong: _fact(counts, wrong, right=1.0),
    "t is summed over the questions. It says how often *one* question is answered: counts.sum(dim=1, "
    "keepdim=True).": lambda counts, wrong: (counts * math.log(1 - wrong) + (counts.double().sum(dim=0)
            - counts) * math.log(wrong / (counts.shape[1] - 1))).softmax(dim=1),
    "you divided by the number of sentences t, so that many tell no more than one. Each sentence has its "
    "factor.": lambda counts, wrong: (_logs(counts, wrong) / _total(counts).clamp(min=1)).softmax(1),
    "these are logarithms to base 10, and softmax raises e to them: use the natural `log`.":
        lambda counts, wrong: (_logs(counts, wrong) / math.log(10)).softmax(dim=1),
    "these are logarithms to base 2, and softmax raises e to them: use the natural `log`.":
        lambda counts, wrong: (_logs(counts, wrong) / math.log(2)).softmax(dim=1),
    "this is a softmax of the counts alone. How much a sentence tells depends on `wrong`: use the "
    "logarithms of both factors.": lambda counts, wrong: counts.double().softmax(dim=1),
    "here cities that the text names more often, in all its sentences, are more probable before. The lesson "
    "begins with equal probabilities.": _popular,
    "binomial probabilities have a coefficient that differs between the cities, and do not share `wrong` by "
    "K - 1. Multiply the probabilities of the sentences, and no more.": _binomial,
    "these are logarithms. Return the probabilities: softmax, not log_softmax.":
        lambda counts, wrong: _logs(counts, wrong).log_softmax(dim=1),
    "this is the confidence alone. Return the probability of every city, (n, K).":
        lambda counts, wrong: _fact(counts, wrong).amax(dim=1),
    "this is the most probable city alone. Return the probability of every city, (n, K).":
        lambda counts, wrong: _fact(counts, wrong).argmax(dim=1),
    "this is the city named most often, alone. Return a probability for every city, (n, K).":
        lambda counts, wrong: counts.argmax(dim=1),
    "you asked whether a city is named, not how often. Each sentence has its factor.":
        lambda counts, wrong: _fact((counts > 0).long(), wrong),
    "you normalised over the questions. Each row sums to 1: dim=1.":
        lambda counts, wrong: _logs(counts, wrong).softmax(dim=0),
    "you normalised over the whole table. Each row sums to 1: dim=1.":
        lambda counts, wrong: _logs(counts, wrong).flatten().softmax(0).view(counts.shape),
    "the two factors are exchanged: a city that is named has the factor 1 - wrong.":
        lambda counts, wrong: _fact(counts, wrong, slip=1 - wrong, right=wrong / (counts.shape[1] - 1)),
    "a question that the text never answers has no zeros: all K cities are equally probable, as before "
    "reading.": lambda counts, wrong: _fact(counts, wrong) * (_total(counts) > 0),
    "the questions that the text never answers are left out. Each has a row, too: 1 / K.":
        lambda counts, wrong: _fact(counts, wrong)[counts.sum(dim=1) > 0]})
def fact_posterior(counts, wrong):
    """(n, K) the probability of each city given how often a text names it, (n, K)."""
    return _fact(counts, wrong)

def _ways(n: int, S: int, cities: int, seed: int, *, rest: float = 0.0) -> tuple[Tensor, Tensor, int]:
    """log-probabilities (n, S) in float32, the city of each wording, and how many there are.

    rest: what is said beside these wordings, so that rows sum to 1 - rest.
    """
    generator = torch.Generator().manual_seed(seed)
    logits = 2 * torch.randn(n, S, generator=generator, dtype=torch.float64)
    city = torch.cat([torch.arange(cities), torch.randint(cities, (S - cities,), generator=generator)])
    city = city[torch.randperm(S, generator=generator)]
    return (logits.log_softmax(dim=1) + math.log1p(-rest)).float(), city, cities

# Nearly all with something left over: rows that sum to 1 are no aim here. All in float32, which
# goes with torch.zeros(n, cities) of the lesson's hint.
SAID = {
    "15 questions, 9 wordings of 4 cities": _ways(15, 9, 4, 0, rest=0.1),
    "20 questions, 60 wordings of 24 cities": _ways(20, 60, 24, 1, rest=0.3),
    "a model that says nothing else": _ways(12, 10, 3, 2),
    "one question": _ways(1, 7, 3, 3, rest=0.2),
    "one wording of each city": _ways(8, 5, 5, 4, rest=0.05),
    "cities without a wording":
        (_ways(9, 8, 4, 5, rest=0.1)[0], torch.tensor([0, 2, 3, 5])[_ways(9, 8, 4, 5)[1]], 7),
    "one city": _ways(6, 4, 1, 6, rest=0.4),
    "10 questions, 12 wordings of 5 cities": _ways(10, 12, 5, 7, rest=0.1),
}

def _summed(values: Tensor, city: Tensor, cities: int) -> Tensor:
    return torch.zeros(len(values), cities, dtype=values.dtype).index_add(1, city, values)

def _largest(probs: Tensor, city: Tensor, cities: int) -> Tensor:
    places = city.expand(len(probs), -1)
    return torch.zeros(len(probs), cities, dtype=probs.dtype).scatter_reduce(1, places, probs,
        "amax", include_self=True)

def _numbers(city: Tensor, cities: int, probs: Tensor) -> Tensor:
    return city.bincount(minlength=cities).clamp(min=1).to(probs.dtype)

def _by_city(log: Tensor, city: Tensor, cities: int, joined: Callable[[Tensor], Tensor]) -> Tensor:
    """`joined` of the logarithms, those of other cities -infinity: (n, S) to (n,), city by city."""
    own = (city == k for k in range(cities))
    return torch.stack([joined(log.masked_fill(~one, -math.inf)) for one in own], dim=1)

def _runs(log: Tensor, city: Tensor, cities: int) -> Tensor:
    """The sum over the last wordings of a city that stand side by side."""
    found = torch.zeros(len(log), cities, dtype=log.dtype)
    begun = 0
    for place in range(1, len(city) + 1):
        if place == len(city) or city[place] != city[begun]:
            found[:, city[begun]] = log[:, begun:place].exp().sum(dim=1)
            begun = place
    return found

@exercise(cases=SAID, slips={
    r"same scalar type|same dtype|self.dtype|expected scalar type":
        "The table and what is added to it are of different types: torch.zeros(n, cities, "
            "dtype=log_probs.dtype)."}, absolute=1e-7, mistakes={
    "you added logarithms, which multiplies the probabilities. Take `exp` first.":
        lambda log, city, K: _summed(log, city, K),
    "adding logarithms multiplies the probabilities of a city's wordings. Take `exp` first, then the sum.":
        lambda log, city, K: _summed(log, city, K).exp(),
    "this is the product of the probabilities of a city's wordings. Take the sum.":
        lambda log, city, K: _summed(log, city, K).exp() * (city.bincount(minlength=K) > 0),
    "adding logarithms multiplies the probabilities, and a softmax does not undo that. Take `exp` first, "
    "then the sum.": lambda log, city, K: _summed(log, city, K).softmax(dim=1),
    "these are natural logarithms: `exp`, not powers of 2.": lambda log, city, K: _summed(2**log, city, K),
    "these are natural logarithms: `exp`, not powers of 10.": lambda log, city, K: _summed(10**log, city, K),
    "the exponential of *minus* a logarithm is 1 / p. The logarithms are below 0 already: `exp` as they are.":
        lambda log, city, K: _summed((-log).exp(), city, K),
    "`exp` is taken twice.": lambda log, city, K: _summed(log.exp().exp(), city, K),
    "logarithms of other cities became 0 before `exp`, and exp(0) = 1 is added for each. Take `exp` first, "
    "then leave them out.":
        lambda log, city, K: _by_city(log, city, K, lambda own: own.nan_to_num(neginf=0.0).exp().sum(dim=1)),
    "you subtracted the largest logarithm of each row, and this factor is still missing. `exp` of numbers "
    "below 0 cannot overflow: no shift is needed.":
        lambda log, city, K: _summed((log - log.amax(1, keepdim=True)).exp(), city, K),
    "this is the probability of at least one of several independent events. An answer has one wording: add "
    "the probabilities.":
        lambda log, city, K: 1 - _by_city(log, city, K, lambda own: (1 - own.exp()).prod(1)),
    "wordings below 1 % are left out. Only the figure leaves them out: add up all.":
        lambda log, city, K: _summed(log.exp() * (log.exp() >= 0.01), city, K),
    "these are the probabilities of the wordings. Add up those that name the same city: a column for each "
    "city.": lambda log, city, K: log.exp(),
    "this has a column for each wording. Asked is one for each city, 0 to cities - 1.":
        lambda log, city, K: _summed(log.exp(), city, K)[:, city],
    "the number of columns is taken from `city`. There are `cities`, also those that no wording names: they "
    "have 0.": lambda log, city, K: _summed(log.exp(), city, int(city.max()) + 1),
    "a city that no wording names has no column here. It has one, with 0: column k is city k.":
        lambda log, city, K: _summed(log.exp(), city.unique(return_inverse=True)[1], len(city.unique())),
    "24 is the number of cities of this lesson. Take `cities`.":
        lambda log, city, K: _summed(log.exp(), city, max(K, 24)),
    "each column is one place too early: cities are counted from 0, column k is city k.":
        lambda log, city, K: _summed(log.exp(), city, K).roll(-1, dims=1),
    "your columns begin with city 1, and city 0 is left out: count from 0, range(cities).":
        lambda log, city, K: _by_city(log, city - 1, K, lambda own: own.exp().sum(dim=1)),
    "the first city, 0, is left out: range(cities) begins with it.":
        lambda log, city, K: _summed(log.exp(), city, K) * (torch.arange(K) > 0),
    "the last city, cities - 1, is left out: range(cities) ends with it.":
        lambda log, city, K: _summed(log.exp(), city, K) * (torch.arange(K) < K - 1),
    "these are logarithms. Return the probabilities themselves.":
        lambda log, city, K: _summed(log.exp(), city, K).log(),
    "this is the best wording of each city. Add up all its wordings.":
        lambda log, city, K: _largest(log.exp(), city, K),
    "this is the mean over the wordings of a city. A city that can be said in more ways is not less "
    "probable: take the sum.": lambda log, city, K: _summed(log.exp(), city, K) / _numbers(city, K, log),
    "each row is made to sum to 1, by a softmax or a division. What the model says beside these wordings "
    "names no city, and its probability stays away: `exp` alone.":
        lambda log, city, K: _summed(log.softmax(dim=1), city, K),
    "this is the confidence alone. Return the probability of every city.":
        lambda log, city, K: _summed(log.exp(), city, K).amax(dim=1),
    "this is the most probable city alone. Return the probability of every city.":
        lambda log, city, K: _summed(log.exp(), city, K).argmax(dim=1),
    "the sums are probabilities already: no softmax.":
        lambda log, city, K: _summed(log.exp(), city, K).softmax(dim=1),
    "each wording overwrote the one before. They must be added: `index_add`.":
        lambda log, city, K: torch.zeros(len(log), K, dtype=log.dtype).index_copy(1, city, log.exp()),
    "only the first wording of each city counts here. Add up all its wordings.":
        lambda log, city, K: torch.zeros(len(log), K, dtype=log.dtype).index_copy(1, city.flip(0),
            log.exp().flip(1)),
    "your table is still empty: without a _ at the end, index_add and scatter_add return a new one. Keep "
    "it, table = table.index_add(...).": lambda log, city, K: torch.zeros(len(log), K),
    "the mean of logarithms leads to a geometric mean. Take `exp` first, then the sum.":
        lambda log, city, K: (_summed(log, city, K) / _numbers(city, K, log)).exp(),
    "the wordings of one city need not stand side by side: `city` is not sorted.": _runs,
    "these are the shares of the wordings. Each has its own probability.":
        lambda log, city, K: _summed(torch.ones_like(log), city, K) / log.shape[1],
    "this is the mean over the questions. Return a row for each.":
        lambda log, city, K: _summed(log.exp(), city, K).mean(dim=0)})
def by_meaning(log_probs, city, cities):
    """(n, cities) the probability of each city: the sum over its wordings (n, S)."""
    return _summed(log_probs.double().exp(), city, cities)
