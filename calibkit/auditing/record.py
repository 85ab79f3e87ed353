"""What an audit found, as one value: what its page is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from calibkit.auditing.cooling import Cooling
from calibkit.auditing.measures import Estimate
from calibkit.auditing.rows import Rows
from calibkit.metrics import CalibrationTest

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Record:
    """All that an audit found.

    measures, cooled: every measure of the model, and of the model divided by its temperature.
    gain: cooled less as it is, paired. other, difference: of the second model, and that less this
    one, paired. groups, other, difference: None where nothing was given. told: what of a file was
    taken for what.
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
    told: str = ""

    def __str__(self) -> str:
        show, cooling = self.measures, self.cooling
        return "\n".join(
            [
                f"{self.name}: {len(self.rows):,} samples, {self.rows.classes} classes",
                *filter(None, [self.told]),
                f"right on {show['accuracy'].value:.1%}, says {show['confidence'].value:.1%}: "
                f"signed gap {show['gap'].value:+.1%}",
                f"ECE {show['ece'].value:.2%}, by luck alone {self.test.expected:.2%} "
                f"(p = {self.test.p_value:.3g})",
                f"temperature {cooling.value:.3f}: ECE {self.cooled['ece'].value:.2%}",
                *(f"warning: {text}" for text in self.warnings),
            ]
        )
