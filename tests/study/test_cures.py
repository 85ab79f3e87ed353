"""The cures at their best: which runs are chosen, and what is said where some are missing."""

import itertools

import numpy as np
import pandas as pd
import pytest
from study import cures, night_runs


def rows(**means):
    """Runs of cross-entropy and label smoothing; means: of `calibration_nll` by loss and decay."""
    losses = ["cross-entropy", *cures.STRENGTHS["label smoothing"]]
    made = []
    for loss, decay, seed in itertools.product(losses, (0.0, 5e-4), (1, 0)):
        nll = means.get(f"{loss} {decay:g}", 1.0)
        made.append({"loss": loss, "decay": decay, "seed": seed, "calibration_nll": nll + seed})
    table = pd.DataFrame(made)
    table["calibration_scaled_nll"] = 2 - table.calibration_nll
    table["test_ece"] = np.arange(len(table)) / 100
    return table


def test_strength_and_decay_are_chosen_together_on_calibration_photographs(monkeypatch):
    made = rows(**{"label smoothing .1 0": 0.5, "label smoothing .05 0.0005": 0.7})
    monkeypatch.setattr(night_runs, "table", lambda: made)
    best = cures.chosen("label smoothing", scaled=False)
    assert set(best.loss) == {"label smoothing .1"}
    assert set(best.decay) == {0.0}
    assert best.seed.tolist() == [0, 1]
    other = cures.chosen("label smoothing", scaled=True)
    assert (other.loss[0], other.decay[0]) != ("label smoothing .1", 0.0)


def test_verdicts_say_what_they_compare_seed_by_seed():
    said = list(cures.judged("T2", "label smoothing"))
    assert [one.as_trained for one in said] == [True, False, False]
    assert all("label smoothing has a lower" in one.statement for one in said)
    own, plain = (cures.chosen(cure, True) for cure in ("label smoothing", "cross-entropy"))
    assert own.seed.tolist() == plain.seed.tolist()
    assert said[2].mean == pytest.approx((own.scaled_nll - plain.scaled_nll).mean())
