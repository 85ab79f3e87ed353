"""The stored runs on photographs: their logits give the numbers of their rows."""

import subprocess

import pandas as pd
import pytest

from calibkit import metrics
from calibkit.course import checkout
from calibkit.course.experiments import nights


def stored_logits() -> list:
    """The rows whose logits lie beside the table."""
    home = checkout.results() / nights.FOLDER
    return [
        one
        for one in nights.table(None).itertuples()
        if (home / f"{nights.stem(one.loss, one.seed, one.decay, one.network)}.npz").exists()
    ]


def test_the_logits_of_every_run_agree_with_its_row():
    for one in stored_logits():
        kept = nights.logits(one.loss, one.seed, one.decay, one.network)
        for part, column in (("cal", "calibration"), ("test", "test")):
            probs, labels = kept[part].softmax(dim=1), kept[f"{part}_labels"]
            right, nll = getattr(one, f"{column}_accuracy"), getattr(one, f"{column}_nll")
            assert metrics.accuracy(probs, labels) == pytest.approx(right, abs=1e-3)
            assert metrics.nll(probs, labels) == pytest.approx(nll, abs=2e-3)
        cooled = (kept["cal"] / one.scaled_temperature).softmax(dim=1)
        told = metrics.nll(cooled, kept["cal_labels"])
        assert told == pytest.approx(one.calibration_scaled_nll, abs=1e-3)


def test_what_lessons_read_is_stored():
    have = {(one.loss, one.decay, one.seed) for one in stored_logits()}
    for loss in ("cross-entropy", "focal, gamma 3", "FLSD-53"):
        for decay in (0.0, 5e-4, 5e-3):
            assert {(loss, decay, seed) for seed in range(3)} <= have


def test_the_committed_logits_keep_within_their_limit():
    home = checkout.results() / nights.FOLDER
    command = ["git", "ls-files", "*.npz"]
    try:
        told = subprocess.run(command, cwd=home, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a checkout of git")
    sizes = [(home / name).stat().st_size for name in told.stdout.split()]
    assert 5e6 < sum(sizes) < 8e6


def test_every_run_has_one_row_and_its_epochs():
    table = nights.table(None)
    assert list(table) == nights.COLUMNS
    assert not table.duplicated(nights.KEY).any()
    for one in table.itertuples():
        epochs = nights.epochs(one.loss, one.seed, one.decay, one.network)
        assert epochs.epoch.tolist() == list(range(1, 16))
        assert epochs.test_accuracy.iloc[-1] == pytest.approx(one.test_accuracy, abs=1e-3)


@pytest.mark.parametrize(
    ("rows", "images"), [(nights.table(None), 20_000), (nights.on_40_000(), 40_000)]
)
def test_every_row_counts_as_many_training_images_as_its_readme_says(rows, images):
    """A share of 20,000 images is a multiple of 1 / 20,000, up to the six digits stored."""
    off = rows.train_accuracy * images
    assert (off - off.round()).abs().max() <= images * 5e-7 + 1e-6
    half = rows.train_accuracy * images / 2
    assert ((half - half.round()).abs() > 0.1).mean() > 0.25  # no such multiples of half as many


def test_every_run_on_40_000_has_one_row_and_its_epochs():
    rows = nights.on_40_000()
    assert list(rows) == nights.COLUMNS
    assert not rows.duplicated(nights.KEY).any()
    home = checkout.results() / nights.MORE
    for one in rows.itertuples():
        epochs = pd.read_csv(home / f"{nights.stem(one.loss, one.seed, one.decay)}-epochs.csv")
        assert epochs.epoch.tolist() == list(range(1, 16))
        assert epochs.test_accuracy.iloc[-1] == pytest.approx(one.test_accuracy, abs=1e-3)
    best, lacking = nights.at_best("calibration_scaled_nll", rows)
    alphas = {f"mixup, alpha {alpha}" for alpha in ("0.1", "0.3", "1")}
    assert (set(best.loss), lacking) == ({"cross-entropy", *alphas}, [])


def test_each_loss_stands_at_the_decay_that_is_best_on_its_calibration_images():
    grid = [(loss, d, seed) for loss in ("one", "two") for d in (0.0, 5e-4) for seed in (0, 1)]
    rows = pd.DataFrame(grid, columns=["loss", "decay", "seed"])
    rows["calibration_nll"] = [0.3, 0.5, 0.4, 0.3, 0.2, 0.2, 0.1, 0.4]
    best, lacking = nights.at_best("calibration_nll", rows)
    assert best.groupby("loss").decay.first().to_dict() == {"one": 5e-4, "two": 0.0}
    assert (len(best), lacking) == (4, [])
    best, lacking = nights.at_best("calibration_nll", rows[:-1])
    assert (set(best.loss), lacking) == ({"one"}, ["two"])


def test_a_run_that_is_not_stored_is_refused():
    with pytest.raises(ValueError, match=r"logits are stored, got focal_gamma_9-"):
        nights.logits("focal, gamma 9", 0)
