"""Which intervals an audit may print: those that a simulation has seen to cover as they say.

The simulation (`tests/auditing/coverage.py`) knows the truth: models of 2 and 10 classes, sure and
unsure, with errors of 0 to 12 % to either side, 100 to 150 samples of 200 to 20,000 rows each. An
interval of 95 % may be printed from so many rows on as it covers within 5 points of that in every
case, one standard error of the simulation granted.
"""

from __future__ import annotations

LEVEL = 0.95
SIZES = (200, 500, 1000, 2000, 5000, 20_000)  # rows of the simulated samples
ALWAYS = ("accuracy", "confidence", "gap", "nll", "brier", "temperature")
LEAST = {  # rows from which on an interval covers, of two classes and of more; None: never
    "ece": (200, 200),
    "ece paired": (200, 200),
    "overconfidence_error": (200, 200),
    "aurc": (200, 200),
    "aurc paired": (200, 200),
    "ada_ece": (500, 200),
    "debiased_ece": (200, 500),
    "classwise_ece": (
        200,
        None,
    ),  # of more it depends on rare classes
    "event_ece": (200, None),
    "auc": (200, None),
}
MOST_CLASSES = 2  # of the first column


def covers(measure: str, classes: int, n: int, level: float, *, paired: bool = False) -> bool:
    """Whether the interval of a measure may be printed for n independent rows.

    Accuracy, mean confidence, gap, NLL, Brier score and temperature always have one; others at the
    level of 95 % alone. paired: of the difference between two models on the same rows.

    >>> covers("accuracy", 3, 50, 0.9), covers("ece", 3, 200, 0.95), covers("ece", 3, 200, 0.9)
    (True, True, False)
    """
    if measure in ALWAYS:
        return True
    least = LEAST.get(f"{measure} paired" if paired else measure, (None, None))
    rows = least[classes > MOST_CLASSES]
    return rows is not None and n >= rows and abs(level - LEVEL) < 1e-6
