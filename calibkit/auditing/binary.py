"""A binary model: the probability of its event; and what decisions cost, of answers too."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from calibkit import validate
from calibkit.auditing import intervals
from calibkit.auditing.cross_fitted import Apart, halves
from calibkit.auditing.findings import calibration
from calibkit.auditing.intervals import NONE
from calibkit.auditing.labels_and_groups import Units
from calibkit.auditing.measures import Estimate, Measured, Rows, rows_of
from calibkit.auditing.scores import Scores
from calibkit.metrics import CalibrationTest, Reliability

if TYPE_CHECKING:
    import pandas as pd

# Units with a miss, or with a miss more or less, from which on an interval is printed. In a
# simulation of 24,000 samples (n 200 to 5,000, a miss at 1 to 50 false alarms) intervals of 95 %
# covered in 94 to 96 % of those with 5 or more, and in 80 to 94 % of those with fewer. Of answers
# (19,200 samples, a wrong one at 2 to 50 look-ups) they covered in 95 % of those with 5 or more.
LEAST = 5


@dataclass(frozen=True)
class Paid:
    """What a row costs in the mean where a model decides; difference: to the model as it is.

    acted, missed, alarms: shares of rows acted on, of events let pass and of false alarms. Of
    answers: of those looked up, of the wrong ones acted on and of the right ones looked up.
    """

    cost: Estimate
    difference: Estimate | None
    acted: float
    missed: float
    alarms: float


@dataclass(frozen=True)
class Costs:
    """A false alarm costs `alarm`, a miss `miss`: rows are acted on from `threshold` on.

    models: by "as it is", "temperature" and "Platt". none, all: what it costs to act on no row,
    and on every row. Of answers looking one up costs `alarm`, right or wrong, acting on a wrong
    one `miss`, and `threshold` is the probability to be wrong above which they are looked up.
    platt: (slope, intercept) of the map of the confidence's log odds, one of each half.
    """

    alarm: float
    miss: float
    threshold: float
    models: dict[str, Paid]
    none: float
    all: float
    platt: tuple[tuple[float, float], ...] = ()

    @property
    def stated(self) -> list[float]:
        """The confidence as it is that each map takes to the threshold; NaN where it falls."""
        odds = math.log(1 / self.threshold - 1)
        return [
            1 / (1 + math.exp(min((shift - odds) / slope, 700.0))) if slope > 0 else math.nan
            for slope, shift in self.platt
        ]


def checked(costs: object) -> tuple[float, float]:
    """(alarm, miss), both above 0; raises ValueError or TypeError naming `costs`."""
    if not (isinstance(costs, Sequence) and len(costs) == 2):
        raise ValueError(
            f"costs must be two numbers, of a false alarm and of a miss, got {costs!r}"
        )
    alarm, miss = (
        validate.number(f"costs, of {of},", value, 0, math.inf, open_low=True, open_high=True)
        for of, value in zip(("a false alarm", "a miss"), costs, strict=True)
    )
    return alarm, miss


def of_decisions(
    models: Mapping[str, Rows], units: Units, level: float, alarm: float, miss: float
) -> Costs:
    """Costs of models of one event on the same rows; the first is the model as it is.

    models: of `Measured.event`. A row is acted on where its score is at or above
    alarm / (alarm + miss), the threshold that is cheapest for a calibrated probability.

    Source: Elkan (2001), section 2.
    """
    threshold = alarm / (alarm + miss)
    decided = {
        name: (rows.correct.bool(), rows.confidence >= threshold) for name, rows in models.items()
    }
    return _costs(decided, units, level, (alarm, miss, 0.0), threshold)


def of_answers(
    models: Mapping[str, Rows], units: Units, level: float, lookup: float, wrong: float
) -> Costs:
    """Costs of answers of which each is acted on or looked up; the first is the model as it is.

    models: rows whose confidence is that the answer is right. One is looked up where its
    probability to be wrong is above lookup / wrong, the threshold that is cheapest for a
    calibrated confidence; at the threshold itself, but for rounding, it is acted on.

    Source: Chow (1970), the rule of rejection.
    """
    if wrong <= lookup:
        raise ValueError(
            f"costs of answers are of looking one up and then of acting on a wrong one, which must "
            f"cost more, got {lookup:g} and {wrong:g}"
        )
    threshold = lookup / wrong
    decided = {
        name: (~rows.correct.bool(), rows.confidence < 1 - threshold - 1e-9)
        for name, rows in models.items()
    }
    return _costs(decided, units, level, (lookup, wrong, lookup), threshold)


def _costs(
    models: Mapping[str, tuple[Tensor, Tensor]], units: Units, level: float,
    prices: tuple[float, float, float], threshold: float,
) -> Costs:  # fmt: skip
    """models: (n,) whether the event came, and whether it was acted on.

    prices: of acting where it does not come, of not acting where it does, of acting there.
    """
    alarm, miss, price = prices
    paid: dict[str, Paid] = {}
    first: tuple[Tensor, Tensor] | None = None
    for name, (event, acted) in models.items():
        missed, in_vain = event & ~acted, acted & ~event
        each = alarm * in_vain.double() + miss * missed.double() + price * (acted & event).double()
        less = first and _estimate(units, each - first[0], missed != first[1], level)
        first = first or (each, missed)
        shares = (units.mean(rows.double()) for rows in (acted, missed, in_vain))
        paid[name] = Paid(_estimate(units, each, missed, level), less, *shares)
    rate = units.mean(event.double())
    of_all = alarm * (1 - rate) + price * rate
    return Costs(alarm, miss, threshold, paid, none=miss * rate, all=of_all)


def _estimate(units: Units, each: Tensor, dear: Tensor, level: float) -> Estimate:
    """The mean of (n,) costs, with an interval where enough units hold one of the dear rows."""
    enough = int((units.sums(dear.double()) > 0).sum()) >= LEAST
    ends = intervals.of_mean(units, each, level) if enough else intervals.NONE
    return Estimate(units.mean(each), *ends)


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


EVENT = {"nll": "nll", "brier": "brier", "ece": "event_ece"}  # with the names of their intervals
BEYOND = "Platt less temperature"


def binary(
    as_it_is: Measured, cooled: Measured, mapped: Mapped, names: list[str],
    costs: tuple[float, float] | None = None,
) -> Binary:  # fmt: skip
    """The event of a binary model; see `Binary`. costs: of a false alarm and of a miss."""
    mine, rows, units = as_it_is.event, as_it_is.event.rows, as_it_is.units
    models = {"as it is": mine, "temperature": cooled.event}
    if mapped.rows is not None:
        models["Platt"] = replace(as_it_is, rows=mapped.rows).event
    event = rows.correct.double()
    rate = units.mean(event)
    gain = {name: model.less(mine) for name, model in models.items() if model is not mine}
    if "Platt" in models:
        gain[BEYOND] = models["Platt"].less(models["temperature"])
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
        test=calibration(mine, sizes=())[0],
        diagram=mine.wide,
        platt=mapped.fitted,
        maps={
            name: {one: model.estimate(one, as_known=EVENT.get(one)) for one in EVENT}
            for name, model in models.items()
        },
        gain={name: {one: each[one] for one in EVENT} for name, each in gain.items()},
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
    """The AUC with its interval; `rows` of `Measured.event`."""
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
