"""The cures at their best: which runs are chosen, and what is said where some are missing."""

import itertools

import numpy as np
import pandas as pd
import pytest
from study import cures


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


def test_strength_and_decay_are_chosen_together_on_calibration_photographs():
    made = rows(**{"label smoothing .1 0": 0.5, "label smoothing .05 0.0005": 0.7})
    best = cures.chosen("label smoothing", scaled=False, rows=made)
    assert set(best.loss) == {"label smoothing .1"}
    assert set(best.decay) == {0.0}
    assert best.seed.tolist() == [0, 1]
    other = cures.chosen("label smoothing", scaled=True, rows=made)
    assert (other.loss[0], other.decay[0]) != ("label smoothing .1", 0.0)


def test_a_lead_is_paired_by_seed():
    made = rows(**{"label smoothing .05 0": 0.1, "cross-entropy 0": 0.1})
    found = cures.lead("label smoothing", "test_ece", scaled=False, rows=made)
    own, plain = (
        made[(made.loss == loss) & (made.decay == 0)].set_index("seed").test_ece.sort_index()
        for loss in ("label smoothing .05", "cross-entropy")
    )
    assert found.tolist() == (own - plain).tolist()


def test_verdicts_say_what_they_compare():
    said = list(cures.judged("T2", "label smoothing"))
    assert [one.as_trained for one in said] == [True, False, False]
    assert all("label smoothing has a lower" in one.statement for one in said)
    assert said[2].mean == pytest.approx(
        cures.lead("label smoothing", "scaled_nll", scaled=True).mean()
    )
