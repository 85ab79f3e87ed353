"""What decisions cost, as a model is and after a map, where two costs are known.

Of a binary model: of a false alarm and of a miss. Of answers with a confidence: of looking one up,
and of acting on a wrong one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from calibkit import validate
from calibkit.auditing import intervals
from calibkit.auditing.labels_and_groups import Units
from calibkit.auditing.measures import Estimate
from calibkit.auditing.rows import Rows

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

    models: of `binary.event_rows`. A row is acted on where its score is at or above
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
