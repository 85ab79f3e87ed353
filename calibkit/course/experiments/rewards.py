"""Rewards for right answers make a model sure: in closed form, and by policy gradient.

A model that answers with the law p is changed so that the mean reward less beta times the
Kullback-Leibler divergence from p is largest. The best law is known: p exp(reward / beta), divided
by its sum. `python -m calibkit.course.experiments.rewards` keeps the table of five seeds.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import torch
from torch import Tensor

from calibkit import validate
from calibkit.course.experiments import answers, facts, speaker, strengths
from calibkit.course.experiments.answers import Answered, Learned
from calibkit.course.experiments.facts import END, PLACE_OF, VOCABULARY
from calibkit.course.experiments.speaker import Decoder

PATH = Path("laptop") / "facts-rewards.csv"
BETAS = (1.0, 0.5, 0.3, 0.2, 0.1)
STATED = torch.arange(11, dtype=torch.float64) / 10  # confidences that may be stated


def optimum(law: Tensor, reward: Tensor, beta: float) -> Tensor:
    """(n, K) float64: the law q with the largest mean reward less beta KL(q || law).

        q(y) = law(y) exp(reward(y) / beta) / sum

    law: (n, K) probabilities; reward: (n, K), in the unit of beta. Raises ValueError for beta 0 or
    less. Source: Ziegler et al. 2019; Korbak et al. 2022, "RL with KL penalties is better viewed
    as Bayesian inference".

    >>> optimum(torch.tensor([[0.5, 0.5]]), torch.tensor([[0.0, 1.0]]), 1.0).round(decimals=3)
    tensor([[0.2690, 0.7310]], dtype=torch.float64)
    """
    beta = validate.number("beta", beta, 0, float("inf"), open_low=True, open_high=True)
    return (law.double().log() + reward.double() / beta).softmax(dim=1)


def objective(policy: Tensor, law: Tensor, reward: Tensor, beta: float) -> float:
    """The mean over rows of the mean reward less beta KL(policy || law); `optimum` maximises it."""
    kept = torch.xlogy(policy, policy) - torch.xlogy(policy, law)
    return (policy * reward - beta * kept).sum(dim=1).mean().item()


def brier_reward(right: Tensor, stated: Tensor) -> Tensor:
    """right - (right - stated)^2: for being right, less the square of what was stated too much.

    right: 1 or 0; stated: a confidence in [0, 1]. Its mean is largest where the answer with the
    largest probability c is given and c is stated; then it is c^2.

    Source: Damani et al. 2025, "Beyond binary rewards"; the square is Brier's score.

    >>> brier_reward(torch.tensor([1.0, 0.0]), torch.tensor([0.75, 0.75])).tolist()
    [0.9375, -0.5625]
    """
    return right - (right - stated).square()


def mean_brier_reward(chance: Tensor, stated: Tensor) -> Tensor:
    """The mean of `brier_reward` of an answer that is right with probability `chance`: 2 c s - s^2.

    >>> mean_brier_reward(torch.tensor(0.5), torch.tensor(0.5)).item()
    0.25
    """
    of_right = chance * brier_reward(torch.ones(()), stated)
    return of_right + (1 - chance) * brier_reward(torch.zeros(()), stated)


def stated_optimum(
    law: Tensor, posterior: Tensor, beta: float, says: Tensor | None = None
) -> Tensor:
    """(n, K, 11): the best law over answers and STATED confidences under the mean Brier reward.

    law: (n, K), from which the answer is drawn before; says: (n, K, 11), the law of what is then
    stated, by default each confidence equally likely.
    """
    mean = mean_brier_reward(posterior[..., None], STATED)
    start = law[..., None] * (1 / len(STATED) if says is None else says)
    start = start.expand(mean.shape)
    return optimum(start.flatten(1), mean.flatten(1), beta).view(mean.shape)


def policy_gradient(
    known: Learned,
    beta: float,
    *,
    stated: bool = False,
    steps: int = 200,
    questions: int = 32,
    each: int = 8,
    lr: float = 5e-4,
    seed: int = 0,
    watch: Callable[[int, Decoder], None] | None = None,
) -> Decoder:
    """A copy of the model that learned from rewards: 1 for a right answer, else 0.

    Each step draws questions as the text does, and `each` answers of the model to each of them. A
    rater who knows the text rewards an answer with its exact probability. From the reward is taken
    beta times log(policy / model as it was), then the mean of the question's answers; the gradient
    is that of REINFORCE (Williams 1992). watch: called with the step and the model, from step 0 on.

    stated: the policy also draws a confidence of STATED after its answer, from `says`, and the
    reward is the mean of `brier_reward`. The reward is a number for what was drawn, as in any other
    policy gradient; the policy's own probability of its answer is not scored: it would then be
    forecast and chooser at once, and such a score is not proper (it can pay to draw an answer less
    often, or more often, than it is right).
    """
    validate.number("beta", beta, 0, float("inf"), open_low=True, open_high=True)
    policy, generator = copy.deepcopy(known.model), validate.generator(seed)
    optimizer = torch.optim.AdamW(policy.parameters(), lr, weight_decay=0.0, fused=True)
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = lr * (1 - step / steps)
        if watch:
            watch(step, policy)
        asked = torch.multinomial(known.world.frequency, questions, True, generator=generator)
        prompts = facts.prompts(asked, 1000 * seed + step).repeat_interleave(each, dim=0)
        posterior = known.posterior[asked.repeat_interleave(each)]
        log, before, reward = _tried(policy, known.model, prompts, posterior, stated, generator)
        with torch.no_grad():
            gain = reward - beta * (log - before)
            gain = (gain.view(-1, each) - gain.view(-1, each).mean(dim=1, keepdim=True)).flatten()
        optimizer.zero_grad()
        (-gain * log).mean().backward()
        optimizer.step()
    if watch:
        watch(steps, policy)
    return policy.eval()


def _tried(
    policy: Decoder,
    before: Decoder,
    prompts: Tensor,
    posterior: Tensor,
    stated: bool,
    generator: torch.Generator,
) -> tuple[Tensor, Tensor, Tensor]:
    """(n,) log-probabilities of what the policy drew, by itself and by the model before; rewards.

    posterior: (n, places) of the questions.
    """
    said, place = _drawn(policy, prompts, generator)
    words, begun = answers.joined(prompts, said)
    chance = posterior.gather(1, place[:, None])[:, 0]
    log = speaker.log_prob(policy, words, begun)
    with torch.no_grad():
        was = speaker.log_prob(before, words, begun)
    if not stated:
        return log, was, chance.float()
    law = says(policy, prompts, said)
    number = torch.multinomial(law.detach().exp(), 1, generator=generator)
    with torch.no_grad():
        was = was + says(before, prompts, said).gather(1, number)[:, 0]
    log = log + law.gather(1, number)[:, 0]
    return log, was, mean_brier_reward(chance, STATED[number[:, 0]]).float()


def says(model: Decoder, prompts: Tensor, said: Tensor) -> Tensor:
    """(n, 11) log-probabilities of the STATED confidences after questions (n, T) and answers (n,).

    They are those of the words "0" to "100" after the answer and "sure", among these 11 words. No
    text has them, so that a model which was not trained on them states any, whatever the question.
    """
    words, _ = answers.joined(prompts, said, (END, "sure"))
    return speaker.after(model, words)[:, _NUMBERS].log_softmax(dim=1)


_NUMBERS = VOCABULARY.encode([str(percent) for percent in range(0, 101, 10)])


def _drawn(policy: Decoder, prompts: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """(n,) an answer to each prompt, of ANSWERS, and its place."""
    different, which = prompts.unique(dim=0, return_inverse=True)
    law = answers.by_wording(policy, different)[which]
    said = torch.multinomial(law, 1, generator=generator)[:, 0]
    return said, PLACE_OF[said]


def compared(law: Tensor, posterior: Tensor) -> dict[str, float]:
    """`answers.judged` of the most probable place of a law (n, places)."""
    sure, place = law.max(dim=1)
    return answers.judged(Answered(place, sure), posterior)


def normed(wordings: Tensor) -> Tensor:
    """(n, places): probabilities by meaning, divided by their sum."""
    meanings = answers.by_meaning(wordings)
    return meanings / meanings.sum(dim=1, keepdim=True)


def distance(one: Tensor, other: Tensor) -> float:
    """Mean total variation distance of rows."""
    return ((one - other).abs().sum(dim=1) / 2).mean().item()


def measured(seed: int, sentences: int, steps: int, updates: int) -> list[dict]:
    """Rows of one seed: the closed form at each of BETAS, exact or of the model; the gradient."""
    known = answers.learned(seed=seed, sentences=sentences, steps=steps)
    question = answers.asked(known.world, seed=seed)
    prompts, exact = facts.prompts(question, seed), known.posterior[question]
    law, rows = normed(answers.by_wording(known.model, prompts)), []
    for name, start in (("exact posterior", exact), ("model", law)):
        rows.append({"law": name, "beta": float("inf"), "step": 0, **compared(start, exact)})
        for beta in BETAS:
            best = optimum(start, exact, beta)
            stated = stated_optimum(start, exact, beta)
            rows.append({"law": name, "beta": beta, "step": -1, **compared(best, exact)})
            rows.append(
                {"law": f"{name}, stated", "beta": beta, "step": -1, **_of_stated(stated, exact)}
            )
    beta = 0.3
    best = optimum(law, exact, beta)

    def watch(step: int, policy: Decoder) -> None:
        if step % 50 == 0:
            now = normed(answers.by_wording(policy, prompts))
            told = {"distance": distance(now, best), "objective": objective(now, law, exact, beta)}
            rows.append(
                {"law": "policy", "beta": beta, "step": step, **compared(now, exact), **told}
            )

    rows.append({"law": "best", "beta": beta, "step": -1, **compared(best, exact),
                 "distance": 0.0, "objective": objective(best, law, exact, beta)})  # fmt: skip
    policy_gradient(known, beta, steps=updates, seed=seed, watch=watch)
    return [{"seed": seed, **row} for row in rows]


def _of_stated(law: Tensor, posterior: Tensor) -> dict[str, float]:
    """`answers.judged` of the most probable pair of an answer and a stated confidence."""
    pair = law.flatten(1).argmax(dim=1)
    return answers.judged(Answered(pair // len(STATED), STATED[pair % len(STATED)]), posterior)


def run(seeds=range(5), sentences=6_000, steps=1_800, updates=200, **options) -> pd.DataFrame:
    """The rows of `measured` of all seeds; options as of `sweep.results`."""
    tasks = [(seed, sentences, steps, updates) for seed in seeds]
    return answers.table(measured, tasks, **options)


def stored(folder: Path | None = None) -> pd.DataFrame:
    """The table that `run` made; folder: notebooks/results of the course by default."""
    return strengths.stored(PATH, folder)


if __name__ == "__main__":
    strengths.keep(run(jobs=1), PATH)
