"""A binary model: the probability of its event, and what decisions made from it cost."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from calibkit.auditing import intervals
from calibkit.auditing.costs import Costs, of_decisions
from calibkit.auditing.cross_fitted import Apart, halves
from calibkit.auditing.findings import calibration
from calibkit.auditing.intervals import NONE
from calibkit.auditing.labels_and_groups import Units
from calibkit.auditing.measures import Estimate, Measured
from calibkit.auditing.rows import Rows, rows_of
from calibkit.auditing.scores import Scores
from calibkit.metrics import CalibrationTest, Reliability

if TYPE_CHECKING:
    import pandas as pd

THRESHOLDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True)
class Binary:
    """What an audit of a binary model says of its event, class 1.

    rate, predicted: the share of rows with the event and the mean predicted one; gap: predicted
    less rate. usual_accuracy: what always naming `usual`, the commoner class, is right on.
    ece, test: of the probability of the event. platt: (slope, intercept) of each half, () where
    none could be fitted. maps: by "as it is", "temperature" and "Platt" the NLL, the Brier score
    of the event (half of that over both classes) and the ECE of the event; gain: what temperature
    and Platt change in them, paired, and Platt less temperature. net_benefit: see there.
    costs: of decisions, where the audit was told what a false alarm and a miss cost.
    """

    event: str
    usual: str
    usual_accuracy: float
    rate: float
    predicted: float
    gap: Estimate
    ece: Estimate
    auc: Estimate
    test: CalibrationTest
    diagram: Reliability
    platt: tuple[tuple[float, float], ...]
    maps: dict[str, dict[str, Estimate]]
    gain: dict[str, dict[str, Estimate]]
    net_benefit: pd.DataFrame
    costs: Costs | None = None

    @property
    def platt_is_better(self) -> bool:
        """Whether Platt scaling has a clearly lower NLL than the temperature."""
        less = self.gain[BEYOND]["nll"] if BEYOND in self.gain else None
        return less is not None and less.clear and less.value < 0


MAPPED = ("nll", "brier", "ece")
KNOWN = {"ece": "event_ece"}  # names of intervals in the table of coverages
BEYOND = "Platt less temperature"


def binary(
    as_it_is: Measured, cooled: Measured, mapped: Mapped, names: list[str], resamples: int,
    costs: tuple[float, float] | None = None,
) -> Binary:  # fmt: skip
    """The event of a binary model; see `Binary`. costs: of a false alarm and of a miss."""
    every = {"as it is": as_it_is.rows, "temperature": cooled.rows, "Platt": mapped.rows}
    models = {
        name: replace(as_it_is, rows=event_rows(rows))
        for name, rows in every.items()
        if rows is not None
    }
    mine, rows, units = models["as it is"], models["as it is"].rows, as_it_is.units
    event = rows.correct.double()
    rate = units.mean(event)
    gain = {name: model.less(mine) for name, model in models.items() if model is not mine}
    if "Platt" in models:
        gain[BEYOND] = models["Platt"].less(models["temperature"])
    test, _ = calibration(
        rows, units, bins=mine.bins, resamples=resamples, seed=mine.seed, sizes=()
    )
    deciding = {name: model.rows for name, model in models.items()}
    return Binary(
        event=names[1],
        usual=names[int(rate >= 0.5)],
        usual_accuracy=max(rate, 1 - rate),
        rate=rate,
        predicted=mine.values["confidence"],
        gap=mine.estimate("gap"),
        ece=mine.estimate("ece", as_known="event_ece"),
        auc=auc_estimate(rows, units, mine.level),
        test=test,
        diagram=mine.wide,
        platt=mapped.fitted,
        maps={
            name: {one: model.estimate(one, as_known=KNOWN.get(one)) for one in MAPPED}
            for name, model in models.items()
        },
        gain={name: {one: each[one] for one in MAPPED} for name, each in gain.items()},
        net_benefit=net_benefit(rows.confidence, event, units),
        costs=None if costs is None else of_decisions(deciding, units, mine.level, *costs),
    )


@dataclass(frozen=True)
class Mapped:
    """The rows after Platt scaling, None where it could not be fitted, and its parameters."""

    rows: Rows | None
    fitted: tuple[tuple[float, float], ...] = ()


def platt(
    scores: Scores, labels: Tensor, apart: Apart | None, *, bins: int, seed: int, units: Units
) -> Mapped:
    """Platt scaling, log odds of a s + b, of each half by the other, or by calibration data.

    It is the logistic regression of scikit-learn on the log odds s of the scores, without penalty.

    Source: Platt (1999), without his change of the targets.
    """
    odds = _odds(scores)
    moved = torch.zeros_like(odds)
    if apart is None:
        places = [torch.from_numpy(half) for half in halves(units, len(scores), seed)]
        fits = [_logistic(odds[by], labels[by], units.weight[by]) for by in places[::-1]]
    else:
        places = [torch.arange(len(odds))]
        fits = [_logistic(_odds(apart.scores), apart.labels, apart.units.weight)]
    for mine, fit in zip(places, fits, strict=True):
        if fit is None:
            return Mapped(None)
        moved[mine] = fit[0] * odds[mine] + fit[1]
    both = Scores(torch.stack([torch.zeros_like(moved), moved], 1), "logits", event=scores.event)
    return Mapped(rows_of(both, labels, bins=bins, units=units), tuple(filter(None, fits)))


def _odds(scores: Scores) -> Tensor:
    z = scores.logits(np.arange(len(scores))).double()
    return z[:, 1] - z[:, 0]


def _logistic(odds: Tensor, labels: Tensor, weight: Tensor) -> tuple[float, float] | None:
    """Slope and intercept; None where one class alone is there, or scores separate the two."""
    from sklearn.linear_model import LogisticRegression

    event, other = (odds[(labels == k) & (weight > 0)] for k in (1, 0))
    if not (len(event) and len(other)) or event.min() > other.max():
        return None
    model = LogisticRegression(C=np.inf, tol=1e-8, max_iter=1000)
    model.fit(odds[:, None].numpy(), labels.numpy(), sample_weight=weight.numpy())
    return float(model.coef_[0, 0]), float(model.intercept_[0])


def event_rows(rows: Rows) -> Rows:
    """The rows of a binary model as forecasts of class 1: how probable it is, whether it came.

    Their Brier score is (p - y)^2, half of the sum over both classes.
    """
    event = torch.where(rows.predicted == 1, rows.confidence, 1 - rows.confidence)
    ones = torch.ones_like(rows.labels)
    return replace(rows, predicted=ones, confidence=event, brier=rows.brier / 2)


def area(score: Tensor, event: Tensor, units: Units) -> tuple[float, Tensor]:
    """The AUC and (n,) what each row adds to it, to first order; NaN without both classes.

    The AUC is the chance that a row with the event scores above one without it, ties counted half.

    Source: DeLong, DeLong & Clarke-Pearson (1988), for the parts of rows.
    """
    event, weight = event.bool(), units.weight
    with_event, without = weight[event].sum(), weight[~event].sum()
    if not (with_event > 0 and without > 0):
        return math.nan, torch.full_like(weight, math.nan)
    below = _share_below(score, score[~event], weight[~event])
    above = 1 - _share_below(score, score[event], weight[event])
    auc = float((weight[event] * below[event]).sum() / with_event)
    part = torch.where(event, (below - auc) / with_event, (above - auc) / without)
    return auc, part * weight.sum()


def _share_below(values: Tensor, others: Tensor, weight: Tensor) -> Tensor:
    """The share of the others' weight below each value, equal ones counted half."""
    ordered, order = others.sort()
    reached = torch.cat([weight.new_zeros(1), weight[order].cumsum(0)])
    low = reached[torch.searchsorted(ordered, values.contiguous())]
    high = reached[torch.searchsorted(ordered, values.contiguous(), right=True)]
    return (low + high) / 2 / reached[-1]


def auc_estimate(rows: Rows, units: Units, level: float) -> Estimate:
    """The AUC with its interval; `rows` of `event_rows`."""
    value, each = area(rows.confidence, rows.correct, units)
    if not (intervals.covers("auc", 2, units.worth, level) and math.isfinite(value)):
        return Estimate(value, *NONE)
    low, high = intervals.of_mean(units, value + each, level)
    return Estimate(value, max(min(low, value), 0.0), min(max(high, value), 1.0))


def net_benefit(score: Tensor, event: Tensor, units: Units) -> pd.DataFrame:
    """What acting from a threshold on is worth, in events found for nothing, a row.

    A row is acted on where its score is at or above the threshold t, as in scikit-learn. Whoever
    acts from t on takes (1 - t) / t false alarms for one event found, so that

        net benefit = events found / n - false alarms / n * t / (1 - t).

    all: of acting on every row; acting on none is worth 0.

    Source: Vickers & Elkin (2006), Medical Decision Making 26.
    """
    import pandas as pd

    event = event.double()
    rate, lines = units.mean(event), []
    for threshold in THRESHOLDS:
        acted = (score >= threshold).double()
        found, alarms = units.mean(acted * event), units.mean(acted * (1 - event))
        odds = threshold / (1 - threshold)
        worth, of_all = found - alarms * odds, rate - (1 - rate) * odds
        lines.append([threshold, found + alarms, found, alarms, worth, of_all])
    columns = ["threshold", "acted", "found", "alarms", "benefit", "all"]
    return pd.DataFrame(lines, columns=columns)
