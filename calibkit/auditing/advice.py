"""What an audit says of a temperature, and what should make a reader doubt its numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import torch
from scipy.special import ndtri

from calibkit.auditing.cross_fitted import Cooling
from calibkit.auditing.measures import Estimate, Rows
from calibkit.auditing.scores import Scores
from calibkit.metrics import reliability

if TYPE_CHECKING:
    import pandas as pd

MOST_RISE = 0.01  # of the ECE, clear or not, with which a temperature is still advised
Verdict = Literal["use", "disagreement", "harm", "no need", "none fits"]


@dataclass(frozen=True)
class Advice:
    """verdict: one of five; words: why, in sentences; line: what to run, "" where none is advised.

    means: what the temperature says of the model.
    """

    verdict: Verdict
    words: str
    means: str
    line: str


class Rise(NamedTuple):
    """What the temperature changes a calibration error by: the value, and the lower end of it."""

    name: str
    value: float
    low: float

    def __str__(self) -> str:
        return f"{self.name} (by {self.value * 100:.1f} points)"


def advise(
    cooling: Cooling,
    gain: dict[str, Estimate],
    rises: list[Rise],
    gap: Estimate,
    scores: Scores,
    form: Form,
) -> Advice:
    """NLL, Brier score and ECE before and after the temperature, weighed together.

    gain: cooled less as it is, paired. rises: of the ECE, and of a binary model that of the event.
    form: how the scores came.
    """
    if cooling.misfit:
        words = f"No temperature fits: {cooling.misfit}. Nothing is advised"
        return Advice("none fits", words, "", "")
    verdict, words = _weighed(cooling, gain, rises)
    run = line(cooling.value, scores, form) if verdict == "use" else ""
    return Advice(verdict, words, _means(cooling.value, gap), run)


def _weighed(cooling: Cooling, gain: dict[str, Estimate], rises: list[Rise]) -> tuple[Verdict, str]:
    """The verdict and why, in a sentence or two without the last stop."""
    if cooling.low <= 1 <= cooling.high:
        within = f"{cooling.low:.3f} to {cooling.high:.3f}"
        return "no need", f"Its interval, {within}, holds 1: it is not needed"
    losses = {"the likelihood": gain["nll"], "the Brier score": gain["brier"]}
    better = [name for name, loss in losses.items() if loss.clear and loss.value < 0]
    worse = [name for name, loss in losses.items() if loss.clear and loss.value > 0]
    worse += [str(rise) for rise in rises if rise.low > 0]
    gains, loses = _said(better, "gain"), _said(worse, "lose")
    most = max(rises, key=lambda rise: rise.value)
    if better and worse:
        return "disagreement", (
            f"The measures disagree: {gains} clearly, and {loses} clearly. One temperature is the "
            f"wrong correction here, and none is advised; look at the diagram, and try a map with "
            f"more freedom, such as isotonic regression"
        )
    if worse:
        words = f"{_begin(loses)} clearly: do not use it, and look at where the data come from"
        return "harm", words
    if not better:
        return (
            "no need",
            "Neither the likelihood nor the Brier score moves clearly: it is not needed",
        )
    grows = f"{most.name} rises by {most.value * 100:.1f} points"
    if most.value >= MOST_RISE:
        words = f"{_begin(gains)} clearly, but {grows}, which may be luck or not: none is advised"
        return "disagreement", words
    aside = f", though {grows}" if most.value >= 5e-4 else ""
    return "use", f"{_begin(gains)} clearly{aside}: use it"


def _said(names: list[str], verb: str) -> str:
    """Names in a row and what they do."""
    *first, last = names or [""]
    return f"{', '.join(first)} and {last} {verb}" if first else f"{last} {verb}s"


def _begin(words: str) -> str:
    return words[:1].upper() + words[1:]


def _means(value: float, gap: Estimate) -> str:
    """What a temperature says of the model: too sure only where the gap says so, too."""
    side, sure = ("large", "too sure") if value > 1 else ("small", "not sure enough")
    start = f"{'above' if value > 1 else 'below'} 1 the logits were too {side}"
    if gap.clear and (gap.value > 0) == (value > 1):
        return f"{start}, the model {sure}"
    return (
        f"{start} for the likelihood, while the signed gap does not say that the model is {sure} "
        f"on average"
    )


class Form(NamedTuple):
    """How scores came: whether as one column, of class 1, and "percent" or "logprobs", or ""."""

    of_one: bool = False
    unit: str = ""


def line(temperature: float, scores: Scores, form: Form) -> str:
    """A line of Python that cools scores of the form that the audit was given."""
    t, least = f"{temperature:.6g}", f"{scores.floor:.6g}"
    if scores.kind == "logits":
        if form.of_one:
            return f"prob = torch.sigmoid(logit / {t})"
        name = "logprobs" if form.unit == "logprobs" else "logits"
        return f"probs = torch.softmax({name} / {t}, dim=1)"
    name = "prob" if form.of_one else "probs"
    given = {"percent": f"{name} / 100", "logprobs": "logprob.exp()"}.get(form.unit, name)
    if form.of_one:
        name = "confidence" if scores.event else "prob"
        given = given.replace("prob", name, 1) if given.startswith("prob") else given
        apart = f", eps={least}" if scores.floor else ""
        return f"{name} = torch.sigmoid(torch.logit({given}{apart}) / {t})"
    if scores.floor:
        given = f"({given}).clamp(min={least})" if " " in given else f"{given}.clamp(min={least})"
    return f"probs = torch.softmax(torch.log({given}) / {t}, dim=1)"


THIN = 30  # samples that a bin should hold
FEW = 1000  # samples that a test set should hold
NAMED = 8  # groups, or classes, in a warning
ADVISED = 3  # in the advice
MOST_LEFT_OUT = 0.1  # of the rows of a file, without a word
LEAST_AGAIN = 0.01  # of the rows may repeat others without a word
TOO_NEAR = 0.01  # standard errors of log T: so near to 1 comes by luck once in 125 test sets


def concerns(
    rows: Rows, cooling: Cooling, *, bins: int, level: float, event: bool = False
) -> Iterator[str]:
    """What the predictions themselves give reason to say; event: every row says class 1."""
    yield from (*_thin(rows, bins), *_labels(rows, event), *cooling.warnings)
    if cooling.misfit:
        yield f"no temperature fits: {cooling.misfit}"
    elif cooling.crossed and _is_one(cooling, level):
        yield (
            "the best temperature on this test set is 1 to within a hundredth of its standard "
            "error. By luck that happens once in 125 times: was the model calibrated on this "
            "very test set? Then every calibration error below is flattered"
        )


def left_out(kept: np.ndarray) -> list[str]:
    """What is said of a file of which many rows were left out. kept: (rows of the file,)."""
    lost = int((~kept).sum())
    if lost <= MOST_LEFT_OUT * len(kept):
        return []
    return [
        f"{lost:,} of {len(kept):,} rows are left out, for want of a label or a score: the numbers "
        f"say nothing of such rows"
    ]


def _thin(rows: Rows, bins: int) -> Iterator[str]:
    counts = reliability(rows.top, bins=bins).counts
    thin = int(((counts > 0) & (counts < THIN)).sum())
    if len(rows) < FEW:
        yield (
            f"{len(rows):,} samples are few: below about {FEW:,} a calibration error is mostly the "
            f"luck of the sample; look at the test and at its power"
        )
    if thin:
        yield (
            f"too few samples a bin: {thin} of {int((counts > 0).sum())} filled bins hold fewer "
            f"than {THIN}. Their bars say little, and the MCE may rest on one of them alone"
        )


def _labels(rows: Rows, event: bool) -> Iterator[str]:
    present = torch.bincount(rows.labels, minlength=rows.classes) > 0
    absent = int((~present).sum())
    if absent:
        which = ", ".join(map(str, (~present).nonzero()[:8, 0].tolist()))
        which += " ..." if absent > 8 else ""
        yield (
            f"{absent} of {rows.classes} classes have no sample (number {which}): nothing is said "
            f"about them"
        )
    impossible = int(rows.nll.isinf().sum())
    if impossible:
        yield (
            f"{impossible} labels were given probability 0: the likelihood is infinite. Store "
            f"logits, or probabilities that are not rounded. For the temperature a 0 is taken as "
            f"half the smallest probability that occurs"
        )
    if len(rows.predicted.unique()) == 1 and not event:
        yield f"class number {int(rows.predicted[0])} is predicted for every sample"


def off(groups: pd.DataFrame | None, classes: pd.DataFrame | None) -> Iterator[str]:
    """The groups that are off, and the predicted classes, the furthest first.

    Of classes of which half or more are off, the worst are named. classes: None where there are
    none, of answers.
    """
    for kind, table in (("groups", groups), ("predicted classes", classes)):
        if table is None or not table["flag"].str.contains("off").any():
            continue
        ordered = table.sort_values("gap", key=abs, ascending=False, kind="stable")
        those = ordered[ordered["flag"].str.contains("off")]
        most = ADVISED if kind != "groups" and 2 * len(those) >= len(table) else NAMED
        yield (
            f"{len(those)} of {len(table):,} {kind} are off by more than luck explains: "
            f"{named(those, most)}"
        )


def named(table: pd.DataFrame, most: int) -> str:
    """The first names of a table of groups or classes, with their gaps."""
    words = [f"{row.name} ({row.gap * 100:+.1f} points)" for row in table.head(most).itertuples()]
    return ", ".join(words) + (f" and {len(table) - most} more" if len(table) > most else "")


def not_for_all(further: dict[str, pd.DataFrame]) -> str:
    """What the advice adds: by kind, the groups that are further off with the temperature."""
    parts = [f"{kind} {named(table, ADVISED)}" for kind, table in further.items() if len(table)]
    return f" on average, not for all: further off with it are {'; '.join(parts)}" if parts else ""


def _is_one(cooling: Cooling, level: float) -> bool:
    if cooling.low == 0:  # the data set it no bound
        return True
    error = math.log(cooling.high / cooling.low) / 2 / float(ndtri((1 + level) / 2))
    return abs(math.log(cooling.value)) < TOO_NEAR * error


def repeated(scores: Scores, rows: Rows) -> list[str]:
    """Whether rows repeat earlier ones, scores and label.

    Scores of few values, as of a tree, repeat too, but then with other labels as often as their
    probabilities say. Copies never have another.
    """
    marks = np.unique(np.array(_marks(scores)), return_inverse=True)[1]
    label, confidence = rows.labels.numpy(), rows.confidence.numpy()
    size = np.bincount(marks)
    pairs = np.unique(np.stack([marks, label], 1), axis=0)[:, 0]
    mixed = np.bincount(pairs) > 1
    sure = np.bincount(marks, confidence) / size
    expected = 1 - sure**size - (1 - sure) ** size
    again = len(rows) - len(pairs)
    if again < LEAST_AGAIN * len(rows) or expected.sum() < 3 or mixed.sum() > expected.sum() / 2:
        return []
    return [
        f"{again:,} of {len(rows):,} rows repeat an earlier row, its scores and its label. Copies "
        f"of one sample make every interval and every p-value surer than they are: keep one of "
        f"each, or name the column that says which rows belong together (--cluster COLUMN, "
        f"clusters=)"
    ]


def shared(test: Scores, calibration: Scores) -> list[str]:
    """Whether rows of the calibration data stand in the test set too."""
    seen = set(_marks(calibration))
    both = sum(mark in seen for mark in _marks(test))
    if not both:
        return []
    if both == len(test):
        return [
            "calibrated on the test: every row of the test set stands in the calibration data "
            "too. The temperature has seen the labels that judge it; pass other calibration data"
        ]
    return [
        f"duplicates between calibration and test: {both:,} of {len(test):,} test rows stand in "
        f"the calibration data too. Leave them out of one of the two"
    ]


def _marks(scores: Scores) -> list[int]:
    """A hash of every row, in float32: copies of other types are found too."""
    blocks = (block.float().contiguous().numpy() for _, block in scores.blocks())
    return [hash(row.tobytes()) for block in blocks for row in block]
