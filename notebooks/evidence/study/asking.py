"""Seven ways to ask a small language model how sure it is, and what it invents: the tables of 21.

`python -m study.asking answers` (or `invented`) keeps the table of five seeds; with `again`, of
five more that no claim was made from: the claims of lesson 21 and their margins were put down after
the tables of seeds 0 to 4 had been read.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import pandas as pd
import torch
from torch import Tensor
from torch.nn import functional

from calibkit import metrics, recalibration, validate
from calibkit.course.experiments import answers, facts, fresh_seeds, hallucination, strengths
from calibkit.course.experiments.answers import KINDS, WAYS, Learned, asked, by_meaning, by_wording
from calibkit.course.experiments.facts import PLACE_OF, PLACES
from calibkit.course.experiments.speaker import Decoder
from calibkit.lab import sweep

SEEDS = range(5, 10)  # of the tables that are made again
LEARN = 6_000  # questions from which it learns to speak of its answers
TIMES = 10  # that a question is asked
MISS = 4.0  # cost of acting on a wrong answer, where looking up a right one costs 1
STEPS = (600, 1_800)  # of training: before the rare facts are learned by heart, and after
LIMITS = (0.5, 0.8, 0.9)  # confidences below which a model that abstains says nothing


class Answered(NamedTuple):
    """place: (n,) int64, the answers; confidence: (n,) float64 that they are right."""

    place: Tensor
    confidence: Tensor


def most_probable_wording(wordings: Tensor) -> Answered:
    """The place of the most probable wording (n, S), with that wording's probability."""
    sure, way = wordings.max(dim=1)
    return Answered(PLACE_OF[way], sure)


def most_probable_meaning(wordings: Tensor) -> Answered:
    """The place whose wordings are together the most probable, with their sum."""
    sure, place = by_meaning(wordings).max(dim=1)
    return Answered(place, sure.clamp(max=1))


def asked_again(wordings: Tensor, times: int = TIMES, seed: int = 0) -> Answered:
    """The place that comes most often when answers are drawn, and its share of the draws.

    What the model says beside ANSWERS counts as a draw that names no place.
    Source: Wang et al. 2023, "Self-consistency"; as confidence Xiong et al. 2024.
    """
    rest = (1 - wordings.sum(dim=1, keepdim=True)).clamp(min=0)
    drawn = torch.multinomial(
        torch.cat([wordings, rest], dim=1), times, True, generator=validate.generator(seed)
    )
    places = torch.cat([PLACE_OF, torch.tensor([len(PLACES)])])[drawn]
    counts = functional.one_hot(places, len(PLACES) + 1)[..., :-1].sum(dim=1)
    most, place = counts.max(dim=1)
    return Answered(place, most.double() / times)


def states_of(model: Decoder, prompts: Tensor) -> Tensor:
    """(n, D) float64: what the model knows at the end of each question, before its first word."""
    ends = (prompts != 0).sum(dim=1) - 1
    with torch.no_grad():
        return model.states(prompts)[torch.arange(len(prompts)), ends].double()


class Taught(NamedTuple):
    """Maps that were fitted on questions with known truth, the model itself unchanged.

    temperature: of the probabilities by meaning. beta: from the confidence by meaning to the
    probability that the answer is right (Kull et al. 2017). knows: (D + 1, 2) weights of the words
    "no" and "yes"; says: (D + 1, 11) of "0" to "100"; on the state at the end of a question.
    """

    temperature: float
    beta: recalibration.BetaCalibrator
    knows: Tensor
    says: Tensor


def taught(known: Learned, seed: int = 0) -> Taught:
    """What a model learns to say of its own answers, from LEARN questions with known truth.

    None of them is judged. "yes" or "no": whether its answer is right. Per cents:
    the share of right answers among the questions that the text told equally often (KINDS), in
    tens. Both are linear in the state at the end of the question, as the words of any answer are.

    Source: P(I know) Kadavath et al. 2022, section 5, a head on the state; said in words Lin,
    Hilton & Evans 2022, whose targets are the accuracy on the kind of question.
    """
    question = asked(known.world, LEARN, seed, learn=True)
    prompts, truth = facts.prompts(question, seed), known.world.truth[question]
    meanings, kind = by_meaning(by_wording(known.model, prompts)), kinds(known.text, question)
    right = meanings.argmax(dim=1) == truth
    share = torch.stack([right[kind == k].double().mean() for k in range(len(KINDS))])[kind]
    scaler = recalibration.TemperatureScaler().fit(meanings.clamp(min=1e-12).log(), truth)
    beta = recalibration.BetaCalibrator().fit(_odds(meanings.amax(dim=1)), (~right).long())
    states = states_of(known.model, prompts)
    tens = (10 * share).round().long()
    knows, says = _linear(states, right.long(), 2), _linear(states, tens, 11)
    return Taught(scaler.temperature, beta, knows, says)


def _odds(chance: Tensor) -> Tensor:
    """(n, 2) logits of a right and of a wrong answer."""
    return pairs(chance.clamp(1e-6, 1 - 1e-6)).log()


def _linear(states: Tensor, labels: Tensor, classes: int, decay: float = 1e-3) -> Tensor:
    """(D + 1, classes) weights of the least cross-entropy plus `decay` times their squares."""
    inputs = torch.cat([states, torch.ones(len(states), 1, dtype=states.dtype)], dim=1)
    weights = torch.zeros(inputs.shape[1], classes, dtype=states.dtype, requires_grad=True)
    optimizer = torch.optim.LBFGS([weights], max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimizer.zero_grad()
        value = functional.cross_entropy(inputs @ weights, labels) + decay * weights.square().sum()
        value.backward()
        return value

    optimizer.step(loss)
    return weights.detach()


def _said(states: Tensor, weights: Tensor) -> Tensor:
    return (states @ weights[:-1] + weights[-1]).softmax(dim=1)


def kinds(text: facts.Text, question: Tensor) -> Tensor:
    """(n,) the kind of each question, by how often the text tells it: its place in KINDS."""
    times = facts.mentions(text).sum(dim=1)[question]
    return torch.bucketize(times, torch.tensor(KINDS), right=True) - 1


def all_ways(known: Learned, about: Taught, prompts: Tensor, seed: int = 0) -> dict[str, Answered]:
    """The answers to questions (n, T) and their confidence, by each of WAYS."""
    wordings = by_wording(known.model, prompts)
    best, states = most_probable_meaning(wordings), states_of(known.model, prompts)
    cooled = (by_meaning(wordings).clamp(min=1e-12).log() / about.temperature).softmax(dim=1)
    found = (
        most_probable_wording(wordings),
        best,
        Answered(best.place, cooled.amax(dim=1)),
        Answered(best.place, about.beta.probs(_odds(best.confidence))[:, 0].double()),
        asked_again(wordings, seed=seed),
        Answered(best.place, _said(states, about.knows)[:, 1]),
        Answered(best.place, _said(states, about.says).argmax(dim=1).double() / 10),
    )
    return dict(zip(WAYS, found, strict=True))


def pairs(chance: Tensor) -> Tensor:
    """(n, 2) probabilities of a right and of a wrong answer, from those of a right one (n,)."""
    return torch.stack([chance, 1 - chance], dim=1)


def judged(said: Answered, posterior: Tensor) -> dict[str, float]:
    """How the confidence of answers compares with their exact probability, (n, K).

    accuracy: expected; confidence: mean; ece: of the differences to the exact probability in 15
    bins of confidence, so without the luck of labels; error: mean absolute difference to it;
    regret: who looks an answer up in vain pays 1, who acts on a wrong one MISS; what decisions by
    the confidence cost more than those by the exact probability of the same answers.
    """
    chance, sure = posterior.gather(1, said.place[:, None])[:, 0], said.confidence.contiguous()
    share = torch.full_like(chance, 1 / len(chance))
    bins = torch.bucketize(sure, torch.arange(1, 15, dtype=torch.float64) / 15)
    gaps = torch.zeros(15, dtype=torch.float64).index_add_(0, bins, share * (sure - chance))
    costs = metrics.alarm_costs(MISS)
    return {
        "accuracy": (share * chance).sum().item(),
        "confidence": (share * sure).sum().item(),
        "ece": gaps.abs().sum().item(),
        "error": (share * (sure - chance).abs()).sum().item(),
        "regret": metrics.regret(pairs(sure), pairs(chance), costs),
    }


def measured(rare: float, wrong: float, seed: int, sentences: int, steps: int) -> list[dict]:
    """One row a way and kind of question ("all" first), for one seed."""
    known = answers.learned(rare, wrong, seed, sentences=sentences, steps=steps)
    question = asked(known.world, seed=seed)
    exact = known.posterior[question]
    best = exact.max(dim=1)
    found = {"exact posterior": Answered(best.indices, best.values)}
    found |= all_ways(known, taught(known, seed), facts.prompts(question, seed), seed)
    kind, about = kinds(known.text, question), {"rare": rare, "wrong": wrong, "seed": seed}
    parts = {"all": kind >= 0} | {f"{KINDS[k]}": kind == k for k in range(len(KINDS))}
    rows = []
    for (way, said), (told, own) in itertools.product(found.items(), parts.items()):
        numbers = judged(Answered(said.place[own], said.confidence[own]), exact[own])
        rows.append({**about, "way": way, "told": told, "n": int(own.sum()), **numbers})
    return rows


def table(
    compute: Callable[..., list[dict[str, Any]]], tasks: Sequence[tuple], **options
) -> pd.DataFrame:
    """The rows of all tasks; options as of `sweep.results`, which cannot cache what stands here."""
    rows = sweep.tasks.results(compute, tasks, **{"cache": False, **options})
    return pd.DataFrame([row for one in rows for row in one]).round(5)


def run(
    seeds=range(5), rare=0.3, wrong=0.1, sentences=6_000, steps=1_800, **options
) -> pd.DataFrame:
    """The rows of `measured` of all seeds; options as of `sweep.results`."""
    tasks = [(rare, wrong, seed, sentences, steps) for seed in seeds]
    return table(measured, tasks, **options)


# --- what a model invents


def bound(missing: float, miscalibration: float = 0.0) -> float:
    """The least share of invented sentences, in the mean over worlds with the same text.

        (1 - 1 / places) (missing mass - miscalibration)

    The text says nothing of a question that it lacks, so that each place is equally likely, and
    whatever the model names there is false with probability 1 - 1 / places. A model that speaks of
    such questions as often as the world does, its miscalibration 0, cannot invent less. Exact, for
    a text without wrong sentences and `miscalibration` as in `hallucination.measure`.

    After the idea of Kalai & Vempala 2024, "Calibrated language models must hallucinate"; their
    theorem has other terms and is not computed here.

    >>> round(bound(0.24), 3)
    0.23
    """
    return (1 - 1 / len(PLACES)) * (missing - miscalibration)


def unsure(known: Learned, told: hallucination.Written, limit: float, seed: int = 0) -> Tensor:
    """(n,) where the probability by meaning of the model's best answer is below `limit`."""
    prompts = facts.prompts(told.question.clamp(min=0), seed)
    found = most_probable_meaning(by_wording(known.model, prompts))
    return (found.confidence < limit) | (told.question < 0)


def inventions(rare: float, seed: int, sentences: int, steps: int, written: int) -> list[dict]:
    """Rows of one world without wrong sentences: as trained (limit 0), and for each limit."""
    known = answers.learned(rare, 0.0, seed, sentences=sentences, steps=steps)
    told = hallucination.write(known, written, seed)
    single = facts.good_turing(facts.mentions(known.text).sum(dim=1))
    missing = facts.missing_mass(known.world, known.text)
    rows = []
    for limit in (0.0, *LIMITS):
        silent = unsure(known, told, limit, seed) if limit else None
        found = hallucination.measure(known, told, silent)
        rows.append({
            "rare": rare, "steps": steps, "seed": seed, "limit": limit, "singles": single.estimate,
            "low": single.low, "high": single.high, "missing": missing, **found,
            "bound": bound(missing, found["miscalibration"]),
        })  # fmt: skip
    return rows


def run_inventions(
    shares=hallucination.SHARES,
    steps=STEPS,
    seeds=range(5),
    sentences=6_000,
    written=hallucination.WRITTEN,
    **options,
) -> pd.DataFrame:
    """The rows of `inventions` of all shares, steps and seeds; options as of `sweep.results`."""
    each = itertools.product(shares, steps, seeds)
    tasks = [(rare, seed, sentences, some, written) for rare, some, seed in each]
    return table(inventions, tasks, **options)


RUNS: dict[str, Callable[..., pd.DataFrame]] = {"answers": run, "invented": run_inventions}
AGAIN = {**RUNS, "invented": partial(run_inventions, shares=(0.3,))}  # the share of the claims


if __name__ == "__main__":
    name = validate.choice("name", sys.argv[1], tuple(RUNS))
    if "again" in sys.argv[2:]:
        strengths.keep(AGAIN[name](seeds=SEEDS, jobs=1), fresh_seeds.path(name))
    else:
        path = {"answers": answers, "invented": hallucination}[name].PATH
        strengths.keep(RUNS[name](jobs=1), path)
