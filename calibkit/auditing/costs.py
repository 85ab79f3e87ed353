"""What decisions by a binary model cost, as it is and after a map, where two costs are known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from calibkit import validate
from calibkit.auditing import intervals
from calibkit.auditing.intervals import NONE
from calibkit.auditing.measures import Estimate
from calibkit.auditing.rows import Rows
from calibkit.auditing.units import Units

# Units with a miss, or with a miss more or less, from which on an interval is printed. In a
# simulation of 24,000 samples (n 200 to 5,000, a miss at 1 to 50 false alarms) intervals of 95 %
# covered in 94 to 96 % of those with 5 or more, and in 80 to 94 % of those with fewer.
LEAST = 5


@dataclass(frozen=True)
class Paid:
    """What a row costs in the mean where a model decides; less: that less the model as it is.

    acted, missed, alarms: shares of rows acted on, of events let pass and of false alarms.
    """

    cost: Estimate
    less: Estimate | None
    acted: float
    missed: float
    alarms: float


@dataclass(frozen=True)
class Costs:
    """A false alarm costs `alarm`, a miss `miss`: rows are acted on from `threshold` on.

    models: by "as it is", "temperature" and "Platt". none, all: what it costs to act on no row,
    and on every row.
    """

    alarm: float
    miss: float
    threshold: float
    models: dict[str, Paid]
    none: float
    all: float


def checked(costs: object) -> tuple[float, float]:
    """(alarm, miss), both above 0; raises ValueError or TypeError naming `costs`.

    >>> checked([1, 20])
    (1.0, 20.0)
    """
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
    first: Tensor | None = None
    first_missed: Tensor | None = None
    found = {}
    for name, rows in models.items():
        event, acted = rows.correct.bool(), rows.confidence >= threshold
        missed, in_vain = event & ~acted, acted & ~event
        each = alarm * in_vain.double() + miss * missed.double()
        less = None
        if first is None or first_missed is None:
            first, first_missed = each, missed
        else:
            less = _estimate(units, each - first, missed != first_missed, level)
        found[name] = Paid(
            _estimate(units, each, missed, level),
            less,
            *(units.mean(part.double()) for part in (acted, missed, in_vain)),
        )
    rate = units.mean(event.double())
    return Costs(alarm, miss, threshold, found, none=miss * rate, all=alarm * (1 - rate))


def _estimate(units: Units, each: Tensor, dear: Tensor, level: float) -> Estimate:
    """The mean of (n,) costs, with an interval where enough units hold one of the dear rows."""
    value = units.mean(each)
    ends = NONE
    if int((units.sums(dear.double()) > 0).sum()) >= LEAST:
        ends = intervals.of_mean(units, each, level)
    return Estimate(value, *ends)
