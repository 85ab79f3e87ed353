"""Which answers are wrong? Entropies over wordings and over meanings, and questions of four places.

The meanings are known here, 24 places with their names, so that nothing needs to be clustered.
`python -m study.meanings` keeps the table of five seeds.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import torch
from sklearn.metrics import roc_auc_score
from torch import Tensor
from torch.nn import functional

from calibkit import validate
from calibkit.course.experiments import answers, facts, strengths
from calibkit.course.experiments.answers import Answered
from calibkit.course.experiments.facts import PLACES
from study import next_words

PATH = Path("laptop") / "facts-meanings.csv"
OPTIONS = 4  # places to choose from, one of them the true one
NAMES = torch.tensor([len(names) for names in PLACES])  # (places,) how many names each has
# (places,) of ANSWERS: the most usual name of each place, without "in"
USUAL = facts.SAYING.argmax(dim=1)
SCORES = (
    "probability by wording",
    "probability by meaning",
    "entropy by wording",
    "entropy by meaning",
    "ten draws by wording",
    "ten draws by meaning",
)


def entropy(law: Tensor) -> Tensor:
    """(n,) of the rows (n, K) in nats; they may sum to less than 1, the rest being one outcome.

    >>> round(entropy(torch.tensor([[0.25, 0.25]]))[0].item(), 4)  # and 0.5 for anything else
    1.0397
    """
    rest = (1 - law.sum(dim=1, keepdim=True)).clamp(min=0)
    whole = torch.cat([law, rest], dim=1)
    return -torch.xlogy(whole, whole).sum(dim=1)


def draws(wordings: Tensor, times: int = answers.TIMES, seed: int = 0) -> tuple[Tensor, Tensor]:
    """(n,) entropies of the shares among `times` answers drawn: by wording, and by meaning.

    wordings: (n, S); what is no answer counts as one more.
    Source: Farquhar et al. 2024, the discrete form, with meanings that are known.
    """
    rest = (1 - wordings.sum(dim=1, keepdim=True)).clamp(min=0)
    law = torch.cat([wordings, rest], dim=1)
    drawn = torch.multinomial(law, times, True, generator=validate.generator(seed))
    shares = functional.one_hot(drawn, law.shape[1]).double().mean(dim=1)[:, :-1]
    return entropy(shares), entropy(answers.by_meaning(shares))


def scores(wordings: Tensor, seed: int = 0) -> dict[str, Tensor]:
    """(n,) each of SCORES, larger where the model is surer; of the laws (n, S) of its answers."""
    meanings = answers.by_meaning(wordings)
    drawn, drawn_meanings = draws(wordings, seed=seed)
    found = (
        wordings.amax(dim=1),
        meanings.amax(dim=1),
        -entropy(wordings),
        -entropy(meanings),
        -drawn,
        -drawn_meanings,
    )
    return dict(zip(SCORES, found, strict=True))


def expected_auroc(score: Tensor, chance: Tensor) -> float:
    """How well a score (n,) tells right answers from wrong ones, without the luck of labels.

    chance: (n,) the exact probability that each is right. It counts as so much of a right answer,
    and the rest of a wrong one: P(score of a right one > of a wrong one), ties one half.

    >>> expected_auroc(torch.tensor([2.0, 1.0]), torch.tensor([1.0, 0.0]))
    1.0
    """
    n = len(score)
    told = np.repeat([1, 0], n)
    weights = torch.cat([chance, 1 - chance]).numpy()
    return float(roc_auc_score(told, torch.cat([score, score]).numpy(), sample_weight=weights))


def options(truth: Tensor, seed: int = 0) -> Tensor:
    """(n, OPTIONS) places, the true ones (n,) among others that are drawn evenly, sorted."""
    keys = torch.rand(len(truth), len(PLACES), generator=validate.generator(seed))
    keys[torch.arange(len(truth)), truth] = 2.0
    return keys.topk(OPTIONS, dim=1).indices.sort(dim=1).values


def chosen(law: Tensor, offered: Tensor) -> tuple[Answered, Tensor]:
    """The most probable of the places that are offered (n, OPTIONS), and the law among them.

    law: (n, places), of a model or the posterior, which is exact among four as well: that the
    others were drawn evenly tells nothing. Place: which of the four.
    """
    among = law.gather(1, offered)
    among = among / among.sum(dim=1, keepdim=True)
    sure, place = among.max(dim=1)
    return Answered(place, sure), among


def measured(seed: int, sentences: int, steps: int) -> list[dict]:
    """Rows of one seed: AUROC of each score, entropies by names of the place, four places."""
    known = answers.learned(seed=seed, sentences=sentences, steps=steps)
    question = answers.asked(known.world, seed=seed)
    law = answers.by_wording(known.model, facts.prompts(question, seed))
    exact, meanings = known.posterior[question], answers.by_meaning(law)
    told = next_words.groups(known.text, question)
    rows = _of_scores(law, exact, told["0"], seed)
    rows += _of_names(law, meanings, told["20"] | told["5"])
    rows += _of_options(law, exact, known.world.truth[question], told, seed)
    return [{"seed": seed, **row} for row in rows]


def _of_scores(law: Tensor, exact: Tensor, never: Tensor, seed: int) -> list[dict]:
    place = answers.by_meaning(law).argmax(dim=1, keepdim=True)
    chance = exact.gather(1, place)[:, 0]
    found = scores(law, seed) | {"exact probability": chance}
    return [
        {"what": "score", "name": name, "told": told, "n": int(own.sum()),
         "auroc": expected_auroc(score[own], chance[own])}
        for name, score in found.items()
        for told, own in (("all", torch.ones_like(never)), ("once or more", ~never))
    ]  # fmt: skip


def _of_names(law: Tensor, meanings: Tensor, often: Tensor) -> list[dict]:
    """Mean entropies of questions told 5 times or more, by how many names the answer has."""
    many, rows = NAMES[meanings.argmax(dim=1)], []
    for count in (1, 2, 3):
        own = often & (many == count)
        means = {
            "wording": entropy(law[own]).mean().item(),
            "meaning": entropy(meanings[own]).mean().item(),
        }
        rows.append(
            {"what": "names", "name": f"{count}", "told": "5 or more", "n": int(own.sum()), **means}
        )
    return rows


def _of_options(
    law: Tensor, exact: Tensor, truth: Tensor, told: dict[str, Tensor], seed: int
) -> list[dict]:
    """Four places by their meanings and by their most usual names, beside the open question."""
    offered = options(truth, 30_000 + seed)
    meanings = answers.by_meaning(law)
    among_exact = chosen(exact, offered)[1]
    ways = {
        "open question": (answers.most_probable_meaning(law), exact),
        "four places": (chosen(meanings, offered)[0], among_exact),
        "four names": (chosen(law[:, USUAL], offered)[0], among_exact),
    }
    rows = []
    for name, (said, posterior) in ways.items():
        for kind, own in told.items():
            found = answers.judged(Answered(said.place[own], said.confidence[own]), posterior[own])
            rows.append(
                {"what": "choice", "name": name, "told": kind, "n": int(own.sum()), **found}
            )
    return rows


def run(seeds=range(5), sentences=6_000, steps=1_800, **options) -> pd.DataFrame:
    """The rows of `measured` of all seeds; options as of `sweep.results`."""
    return answers.table(measured, [(seed, sentences, steps) for seed in seeds], **options)


def stored(folder: Path | None = None) -> pd.DataFrame:
    """The table that `run` made; folder: notebooks/results of the course by default."""
    return strengths.stored(PATH, folder)


if __name__ == "__main__":
    strengths.keep(run(jobs=1), PATH)
