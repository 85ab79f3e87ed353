"""A model that is trained to say how sure it is of its own answers.

`answers` reads words for a confidence off a model that stays as it is, by linear maps of its state.
Here the model itself is trained to say them after its answer: "... in lima . right" is continued
by "yes" or "no", "... in lima . sure" by a per cent in tens. Its lessons are the same 6,000
questions with known truth, none of which it is judged on. 200 steps at a rate of .001: at .003
and 300 steps it learned by heart which of its lessons were right, and was 29 % sure of others.

Claims, put down after a pilot on seed 100 and before seeds 0 to 4 were run. In the mean distance to
the exact probability, yes or no and per cents are each further than by meaning, by .1 or more; yes
or no is within .05 of the linear map P(I know), per cents nearer than the linear map by .03 or
more. The mean of what may be said has a lower ECE than what is most probably said, by .1 or more.
Yes or no is surer than right of what was never told, less sure than right of what was told 20
times, both by .2 or more; its regret is higher than by meaning, by .2 or more. The answers stay as
good: by meaning after the training, the distance is within .03 of that before.
`python -m study.spoken` keeps the table of five seeds.
"""

from __future__ import annotations

import copy
from pathlib import Path

import pandas as pd
import torch
from torch import Tensor
from torch.nn import functional

from calibkit import validate
from calibkit.course.experiments import answers, facts, speaker, strengths
from calibkit.course.experiments.answers import Answered, Learned
from calibkit.course.experiments.facts import END, PLACE_OF, VOCABULARY
from calibkit.course.experiments.speaker import CPU, Decoder
from calibkit.lab.training.device import prepared

PATH = Path("laptop") / "facts-spoken.csv"
JUDGEMENT = ("no", "yes")  # what may follow "right"
PER_CENTS = tuple(str(percent) for percent in range(0, 101, 10))  # what may follow "sure"
WAYS = (
    "trained to say yes or no",
    "trained to say per cents",
    "trained to say per cents, their mean",
)


def own(wordings: Tensor) -> Tensor:
    """(n,) of ANSWERS: the most probable wording of the most probable place; wordings: (n, S)."""
    place = answers.by_meaning(wordings).argmax(dim=1, keepdim=True)
    return wordings.masked_fill(place != PLACE_OF, -1.0).argmax(dim=1)


def train(
    known: Learned,
    words: Tensor,
    target: Tensor,
    steps: int = 200,
    seed: int = 0,
    *,
    lr: float = 1e-3,
    batch: int = 64,
) -> Decoder:
    """A copy of the model that learned to continue the texts (n, T) with the words `target` (n,).

    Each step has `batch` of them and as many sentences of the text, so that the model does not
    forget its facts: the loss is the cross-entropy of the last word alone, plus that of the
    sentences. AdamW at a rate that falls to 0.

    Source: Lin, Hilton & Evans 2022, who train all of GPT-3 on the answer and a word for it; here
    the answer is the model's own, and is not trained.
    """
    validate.integer("steps", steps, 1)
    model, generator = copy.deepcopy(known.model), validate.generator(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr, fused=True)
    told = known.text.words
    with prepared(model, CPU):
        for step in range(steps):
            optimizer.param_groups[0]["lr"] = lr * (1 - step / steps)
            chosen = torch.randint(len(words), (batch,), generator=generator)
            kept = torch.randint(len(told), (batch,), generator=generator)
            said = speaker.after(model, words[chosen])
            loss = functional.nll_loss(said, target[chosen])
            loss = loss + speaker.next_word_loss(model, told[kept])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return model.eval()


@torch.no_grad()
def law_of(model: Decoder, words: Tensor, choices: tuple[str, ...]) -> Tensor:
    """(n, K) float64: how likely each of the words `choices` follows the texts (n, T), of these."""
    return speaker.after(model, words)[:, VOCABULARY.encode(choices)].double().softmax(dim=1)


def mean(law: Tensor) -> Tensor:
    """(n,) the mean of PER_CENTS under each row of (n, 11), as a fraction.

    >>> mean(torch.full((1, 11), 1 / 11, dtype=torch.float64)).round(decimals=3).item()
    0.5
    """
    return law @ (torch.arange(11, dtype=law.dtype) / 10)


def measured(seed: int, sentences: int, steps: int, more: int) -> list[dict]:
    """One row a way of `answers.WAYS` and WAYS, and kind of question, for one seed.

    All ways but "by wording" and "asked ten times" are asked about the same answer, which the
    model gave before it was trained on. "by meaning, afterwards": the answers of the models that
    were trained to speak, when they are asked as before.
    """
    known = answers.learned(seed=seed, sentences=sentences, steps=steps)
    lesson, about = answers.lessons(known, seed), answers.taught(known, seed)
    question = answers.asked(known.world, seed=seed)
    prompts, exact = facts.prompts(question, seed), known.posterior[question]
    found = answers.all_ways(known, about, prompts, seed)
    said = own(answers.by_wording(known.model, prompts))
    learn = own(lesson.wordings)
    numbers = torch.tensor(VOCABULARY.encode(PER_CENTS))
    marks = torch.tensor(VOCABULARY.encode(JUDGEMENT))
    targets = {
        "right": marks[lesson.right.long()],
        "sure": numbers[(10 * lesson.share).round().long()],
    }
    models = {
        word: train(known, answers.joined(lesson.prompts, learn, (END, word))[0], of, more, seed)
        for word, of in targets.items()
    }
    asked = {word: answers.joined(prompts, said, (END, word))[0] for word in models}
    judges = law_of(models["right"], asked["right"], JUDGEMENT)
    says = law_of(models["sure"], asked["sure"], PER_CENTS)
    place = PLACE_OF[said]
    spoken = (judges[:, 1], says.argmax(dim=1).double() / 10, mean(says))
    found |= {way: Answered(place, sure) for way, sure in zip(WAYS, spoken, strict=True)}
    for word, model in models.items():
        after = answers.by_wording(model, prompts)
        found[f"by meaning, after {word}"] = answers.most_probable_meaning(after)
    rows = answers.by_kind(found, exact, answers.kinds(known.text, question))
    return [{"seed": seed, **row} for row in rows]


def run(seeds=range(5), sentences=6_000, steps=1_800, more=200, **options) -> pd.DataFrame:
    """The rows of `measured` of all seeds; options as of `sweep.results`."""
    tasks = [(seed, sentences, steps, more) for seed in seeds]
    return answers.table(measured, tasks, **options)


def stored(folder: Path | None = None) -> pd.DataFrame:
    """The table that `run` made; folder: notebooks/results of the course by default."""
    return strengths.stored(PATH, folder)


if __name__ == "__main__":
    strengths.keep(run(jobs=1), PATH)
