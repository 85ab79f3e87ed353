"""The stored runs on photographs: their logits give the numbers of their rows."""

import pandas as pd
import pytest
from study import night_runs

from calibkit import metrics
from calibkit.course import checkout
from calibkit.course.experiments import photograph_runs


def test_the_logits_of_every_run_agree_with_its_row():
    home = checkout.results() / photograph_runs.FOLDER
    for one in night_runs.table(None).itertuples():
        run = (one.loss, one.seed, one.decay, one.network)
        if not (home / f"{photograph_runs.stem(*run)}.npz").exists():
            continue
        kept = photograph_runs.logits(*run)
        for part, column in (("cal", "calibration"), ("test", "test")):
            probs, labels = kept[part].softmax(dim=1), kept[f"{part}_labels"]
            right, nll = getattr(one, f"{column}_accuracy"), getattr(one, f"{column}_nll")
            assert metrics.accuracy(probs, labels) == pytest.approx(right, abs=1e-3)
            assert metrics.nll(probs, labels) == pytest.approx(nll, abs=2e-3)
        cooled = (kept["cal"] / one.scaled_temperature).softmax(dim=1)
        told = metrics.nll(cooled, kept["cal_labels"])
        assert told == pytest.approx(one.calibration_scaled_nll, abs=1e-3)


@pytest.mark.parametrize("folder", [photograph_runs.FOLDER, photograph_runs.MORE])
def test_every_run_has_one_row_and_its_epochs(folder):
    home = checkout.results() / folder
    table = (
        night_runs.table(None) if folder == photograph_runs.FOLDER else photograph_runs.on_40_000()
    )
    assert list(table) == night_runs.COLUMNS
    assert not table.duplicated(night_runs.KEY).any()
    for one in table.itertuples():
        name = photograph_runs.stem(one.loss, one.seed, one.decay, one.network)
        epochs = pd.read_csv(home / f"{name}-epochs.csv")
        assert epochs.epoch.tolist() == list(range(1, 16))
        assert epochs.test_accuracy.iloc[-1] == pytest.approx(one.test_accuracy, abs=1e-3)


def test_a_run_that_is_not_stored_is_refused():
    with pytest.raises(ValueError, match=r"logits are stored, got focal_gamma_9-"):
        photograph_runs.logits("focal, gamma 9", 0)
