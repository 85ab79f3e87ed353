"""A Brier reward by policy gradient: a small language model learns to state how sure it is.

After its answer the policy states a confidence, "... in lima . sure 70". It is rewarded with right
less (right - stated)^2 (`rewards.brier_reward`), in place of right = 1. What it should become is
known in closed form: the law of answers and confidences before, times exp(reward / beta), divided
by its sum. Before, it states any of the eleven, whatever the question.
`python -m study.stated` keeps the table of five seeds.

The claims of the evidence were put down after a pilot on seed 100: 200 steps make more than a
quarter of the way to the best objective; the ECE of what is stated most falls by 0.2 or more; yet
it lies further from the exact probability than the policy's own law by meaning, by 0.1 or more, and
its regret is higher by 0.2 or more.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import torch
from torch import Tensor

from calibkit.course.experiments import answers, facts, rewards, strengths
from calibkit.course.experiments.answers import Answered
from calibkit.course.experiments.facts import ANSWERS, PLACE_OF
from calibkit.course.experiments.rewards import STATED
from calibkit.course.experiments.speaker import Decoder

PATH = Path("laptop") / "facts-stated.csv"
ASKED = 200  # questions that a policy is judged on
BETA = 0.1
EVERY = 100  # steps from one look at the policy to the next


class Pairs(NamedTuple):
    """The law of a model's answers (n, S), and of the confidence that it states after each of them,
    (n, S, 11).
    """

    wordings: Tensor
    says: Tensor

    @property
    def joint(self) -> Tensor:
        """(n, S * 11) of an answer and a confidence."""
        return (self.wordings[..., None] * self.says).flatten(1)


@torch.no_grad()
def pairs(model: Decoder, prompts: Tensor) -> Pairs:
    """The laws of a model for questions (n, T); answers beside ANSWERS are left out."""
    ways, n = len(ANSWERS), len(prompts)
    every = torch.arange(ways).repeat(n)
    says = rewards.says(model, prompts.repeat_interleave(ways, dim=0), every).exp().double()
    wordings = answers.by_wording(model, prompts)
    wordings = wordings / wordings.sum(dim=1, keepdim=True)
    return Pairs(wordings, says.view(n, ways, len(STATED)))


def by_place(joint: Tensor) -> Tensor:
    """(n, places, 11): the law of a place and a confidence, from that of wordings (n, S * 11).

    >>> one = torch.zeros(1, len(ANSWERS) * 11); one[0, 7] = one[0, 18] = 0.5
    >>> by_place(one)[0, 0, 7].item()  # two wordings of istanbul, 70 % sure
    1.0
    """
    wordings = joint.view(len(joint), len(ANSWERS), len(STATED))
    places = torch.zeros(len(joint), len(facts.PLACES), len(STATED), dtype=joint.dtype)
    return places.index_add_(1, PLACE_OF, wordings)


def mean_stated(law: Tensor) -> Answered:
    """The most probable place, with the mean confidence stated after it; law: (n, places, 11)."""
    chance, place = law.sum(dim=2).max(dim=1)
    rows = law[torch.arange(len(law)), place]
    return Answered(place, rows @ STATED.to(law.dtype) / chance)


def most_stated(law: Tensor) -> Answered:
    """The most probable place, with the confidence stated most often after it."""
    place = law.sum(dim=2).argmax(dim=1)
    return Answered(place, STATED[law[torch.arange(len(law)), place].argmax(dim=1)])


def measured(seed: int, sentences: int, steps: int, updates: int) -> list[dict]:
    """Rows of one seed: the model, the policy on its way, the closed form, and as control a policy
    that was rewarded for right answers alone at the same beta.
    """
    known = answers.learned(seed=seed, sentences=sentences, steps=steps)
    question = answers.asked(known.world, seed=seed)[:ASKED]
    prompts, exact = facts.prompts(question, seed), known.posterior[question]
    kind = answers.kinds(known.text, question)
    before = pairs(known.model, prompts)
    reward = rewards.mean_brier_reward(exact[:, PLACE_OF, None], STATED).flatten(1)
    best = rewards.stated_optimum(before.wordings, exact[:, PLACE_OF], BETA, before.says).flatten(1)
    rows: list[dict] = []

    def keep(name: str, step: int, joint: Tensor) -> None:
        """The law by meaning, what is stated, and how near the whole is to the closed form."""
        places = by_place(joint)
        chance, place = places.sum(dim=2).max(dim=1)
        found = {
            "by meaning": Answered(place, chance),
            "stated, mean": mean_stated(places),
            "stated, most": most_stated(places),
        }
        told = {
            "objective": rewards.objective(joint, before.joint, reward, BETA),
            "distance": rewards.distance(joint, best),
        }
        for row in answers.by_kind(found, exact, kind):
            rows.append({"law": name, "step": step, **row, **told})

    def watch(step: int, policy: Decoder) -> None:
        if step % EVERY == 0:
            keep("policy", step, pairs(policy, prompts).joint)

    keep("best", -1, best)
    train = partial(rewards.policy_gradient, known, BETA, steps=updates, seed=seed, lr=1e-3)
    train(stated=True, watch=watch)
    plain = train()
    chance, place = rewards.normed(answers.by_wording(plain, prompts)).max(dim=1)
    found = {"by meaning": Answered(place, chance)}
    for row in answers.by_kind(found, exact, kind):
        rows.append({"law": "right alone", "step": updates, **row})
    return [{"seed": seed, **row} for row in rows]


def run(seeds=range(5), sentences=6_000, steps=1_800, updates=200, **options) -> pd.DataFrame:
    """The rows of `measured` of all seeds; options as of `sweep.results`."""
    tasks = [(seed, sentences, steps, updates) for seed in seeds]
    return answers.table(measured, tasks, **options)


def stored(folder: Path | None = None) -> pd.DataFrame:
    """The table that `run` made; folder: notebooks/results of the course by default."""
    return strengths.stored(PATH, folder)


if __name__ == "__main__":
    strengths.keep(run(jobs=1), PATH)
