"""What an audit found, as one value: what its page is made of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from calibkit.auditing.advice import Advice
from calibkit.auditing.cooling import Cooling
from calibkit.auditing.measures import NAMES, Estimate
from calibkit.auditing.rows import Rows
from calibkit.metrics import CalibrationTest, Reliability

if TYPE_CHECKING:
    import pandas as pd

    from calibkit.auditing.binary import Binary
    from calibkit.auditing.costs import Costs

OF_EVENT = ("event_ece", "event_gap")  # measures of a binary model alone


@dataclass(frozen=True)
class Record:
    """All that an audit found.

    measures, cooled: every measure of the model, and of the model divided by its temperature.
    gain: cooled less as it is, paired. other, difference: of the second model, and that less this
    one, paired. groups, other, difference: None where nothing was given. told: what of a file was
    taken for what. advice: what is said of the temperature. shown: the bins of the diagrams, as it
    is and cooled. binary: of a model of two classes. weighted, clusters: whether rows have weights,
    and how many clusters they make, 0 without. deferral: what acting on answers, or looking them
    up, costs, where the audit was told the two costs. of_hits: whether there are no classes, but
    of each row the confidence and whether it is right.

    An interval whose coverage no simulation has shown is left out: its ends are NaN.
    """

    name: str
    class_names: tuple[str, ...]
    warnings: tuple[str, ...]
    rows: Rows
    cooled_rows: Rows
    cooling: Cooling
    measures: dict[str, Estimate]
    cooled: dict[str, Estimate]
    gain: dict[str, Estimate]
    test: CalibrationTest
    power: dict[float, float]
    classes: pd.DataFrame
    groups: pd.DataFrame | None
    mistakes: pd.DataFrame
    coverage: tuple[np.ndarray, np.ndarray, pd.DataFrame]
    other_name: str
    other: dict[str, Estimate] | None
    difference: dict[str, Estimate] | None
    bins: int
    level: float
    resamples: int
    seed: int
    advice: Advice
    shown: tuple[Reliability, Reliability]
    binary: Binary | None = None
    weighted: bool = False
    clusters: int = 0
    told: str = ""
    deferral: Costs | None = None
    of_hits: bool = False

    @property
    def off(self) -> list[str]:
        """The names of the groups that are off by more than luck."""
        if self.groups is None:
            return []
        return self.groups["name"][self.groups["flag"] == "off"].tolist()

    def over(self, limits: Mapping[str, float]) -> list[str]:
        """In words, the measures that lie above their limits; of signs the size counts.

        limits: by measure, such as {"ece": 0.05}; of a binary model also "event_ece" and
        "event_gap". Raises ValueError for another name.
        """
        known = {name: estimate.value for name, estimate in self.measures.items()}
        if self.binary is not None:
            known |= {"event_ece": self.binary.ece.value, "event_gap": self.binary.gap.value}
        demand_measures(limits, known)
        return [
            f"{name} is {abs(known[name]):.4f}, above {limit:g}"
            for name, limit in limits.items()
            if not abs(known[name]) <= limit  # NaN does not pass
        ]

    def __str__(self) -> str:
        show, test = self.measures, self.test
        return "\n".join(
            [
                f"{self.name}: {len(self.rows):,} samples"
                + ("" if self.of_hits else f", {self.rows.classes} classes"),
                *filter(None, [self.told]),
                f"right on {show['accuracy'].value:.1%}, says {show['confidence'].value:.1%}: "
                f"signed gap {show['gap'].value:+.1%}",
                *self._event(),
                *self._deferral(),
                f"ECE {show['ece'].value:.2%}, by luck alone {test.expected:.2%} "
                f"({p_words(test.p_value)})",
                self._temperature(),
                *(f"warning: {text}" for text in self.warnings),
            ]
        )

    def _event(self) -> list[str]:
        if self.binary is None:
            return []
        it = self.binary
        auc = "" if math.isnan(it.auc.value) else f", AUC {it.auc.value:.3f}"
        return [
            f"event {it.event}: predicted {it.said:.1%}, came {it.rate:.1%}, ECE of the event "
            f"{it.ece.value:.2%} ({p_words(it.test.p_value)}){auc}; always {it.usual} is right "
            f"on {it.most:.2%}",
            *self._costs(),
        ]

    def _costs(self) -> list[str]:
        """What 100 rows cost, as it is and after the temperature."""
        paid = None if self.binary is None else self.binary.costs
        if paid is None:
            return []
        now, then = paid.models["as it is"], paid.models["temperature"]
        words = f"a false alarm costs {paid.alarm:g}, a miss {paid.miss:g}: 100 rows cost "
        words += f"{100 * now.cost.value:.1f}"
        if not self.cooling.misfit:
            words += f", after the temperature {100 * then.cost.value:.1f}"
        return [f"{words} (threshold {paid.threshold:.3f})"]

    def _deferral(self) -> list[str]:
        """What 100 answers cost, by the confidence as it is and after a map of it."""
        paid = self.deferral
        if paid is None:
            return []
        words = f"looking up costs {paid.alarm:g}, acting on a wrong answer {paid.miss:g}: 100 "
        words += f"answers cost {100 * paid.models['as it is'].cost.value:.1f}"
        if "Platt" in paid.models:
            words += f", after Platt scaling {100 * paid.models['Platt'].cost.value:.1f}"
        return [
            f"{words}, all looked up {100 * paid.all:.1f} (looked up where the confidence is below "
            f"{1 - paid.threshold:.3f})"
        ]

    def _temperature(self) -> str:
        if self.cooling.misfit:
            return "no temperature fits, and none is advised"
        after = self.cooled["ece"].value
        of_what = " of the confidence's log-odds, not of logits," if self.of_hits else ":"
        told = (
            f"temperature {self.cooling.value:.3f}{of_what} ECE {after:.2%}. {self.advice.words}."
        )
        if self.binary is not None and self.binary.platt_is_better:
            told += " Platt scaling is clearly better still: the page has its numbers."
        return told


def demand_measures(names: Iterable[str], known: Iterable[str] = (*NAMES, *OF_EVENT)) -> None:
    """Raise ValueError for a name that is none of these measures.

    >>> demand_measures(["ece", "event_gap"])
    """
    for name in names:
        if name not in known:
            raise ValueError(f"no measure {name!r}; the measures are {', '.join(known)}")


def p_words(p: float) -> str:
    """A p-value in words.

    >>> p_words(0.0423), p_words(1 / 1001)
    ('p = 0.042', 'p <= 0.001')
    """
    return f"p = {p:.3f}" if p > 0.001 else "p <= 0.001"
