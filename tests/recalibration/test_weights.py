"""Weighted fits: a row of weight 2 counts like two, and its repetition makes nothing surer."""

import inspect
import math

import pytest
import torch

from calibkit import metrics
from calibkit.recalibration import (
    Calibrator,
    HistogramBinning,
    ShrunkMatrixScaler,
    TemperatureScaler,
    temperature_interval,
)
from tests.recalibration.samples import ALL, scored


def grid():
    return TemperatureScaler("ece_grid")


def mass():
    return HistogramBinning(bins=7, binning="mass")


def one_penalty():
    return ShrunkMatrixScaler(penalties=[0.01])  # folds of copies would choose another penalty


WEIGHTED = [kind for kind in ALL if "weights" in inspect.signature(kind._fit).parameters]
MAPS = [*(kind for kind in WEIGHTED if kind is not ShrunkMatrixScaler), one_penalty, grid, mass]


def problem(n=400, classes=3, seed=0):
    logits, labels = scored(n, classes, seed=seed)
    weights = torch.randint(0, 4, (n,), generator=torch.Generator().manual_seed(seed))
    return logits, labels, weights, torch.arange(n).repeat_interleave(weights)


@pytest.mark.parametrize("make", MAPS)
@pytest.mark.parametrize("classes", [2, 3])
def test_whole_weights_repeat_rows(make, classes):
    logits, labels, weights, rows = problem(classes=classes)
    fresh, _ = scored(50, classes, seed=9)
    weighted = make().fit(logits, labels, weights=weights).probs(fresh)
    repeated = make().fit(logits[rows], labels[rows]).probs(fresh)
    once = make().fit(logits, labels).probs(fresh)
    assert torch.allclose(weighted, repeated, rtol=0, atol=1e-6)
    assert make is grid or not torch.allclose(weighted, once, rtol=0, atol=1e-4)


@pytest.mark.parametrize("make", [*WEIGHTED, grid])
def test_only_ratios_of_weights_matter(make):
    logits, labels, _, _ = problem(200)
    weights = torch.rand(200, generator=torch.Generator().manual_seed(1), dtype=torch.float64) + 0.1
    fresh, _ = scored(50, 3, seed=9)
    one, other = (
        make().fit(logits, labels, weights=w).probs(fresh) for w in (weights, 1e-3 * weights)
    )
    assert torch.allclose(one, other, rtol=0, atol=1e-6)


def test_temperature_by_hand():
    z = torch.tensor([[2.0, 0.0], [2.0, 0.0]])
    scaler = TemperatureScaler().fit(z, [0, 1], weights=[3.0, 1.0])  # 3 of 4 right: 2 / T = log 3
    assert scaler.temperature == pytest.approx(2 / math.log(3), abs=1e-9)


def test_many_rows_have_the_weights_of_a_warm_start():
    logits, labels, weights, rows = problem(25_000, 4)
    weighted = TemperatureScaler().fit(logits, labels, weights=weights).temperature
    repeated = TemperatureScaler().fit(logits[rows], labels[rows]).temperature
    assert weighted == pytest.approx(repeated, abs=1e-9)


def test_a_row_without_weight_has_no_say():
    logits, labels, _, _ = problem(100)
    wild = torch.cat([logits, 50 * logits[:7]])
    wrong = torch.cat([labels, (labels[:7] + 1) % 3])
    weights = torch.tensor([1.0] * 100 + [0.0] * 7)
    found = TemperatureScaler().fit(wild, wrong, weights=weights).temperature
    assert found == pytest.approx(TemperatureScaler().fit(logits, labels).temperature, abs=1e-12)


def test_weights_repair_the_portfolio_that_they_describe():
    """Two kinds of rows need two temperatures; the fit is right for the mix of the weights."""
    hot, labels_hot = scored(4000, 3, temperature=3.0)
    fair, labels_fair = scored(4000, 3, temperature=1.0, seed=1)
    logits, labels = torch.cat([hot, fair]), torch.cat([labels_hot, labels_fair])
    weights = torch.cat([torch.full((4000,), 9.0), torch.ones(4000)])
    found = TemperatureScaler().fit(logits, labels, weights=weights)
    plain = TemperatureScaler().fit(logits, labels)
    scores = [
        metrics.nll(one.probs(logits, allow_fitted=True), labels, weights=weights)
        for one in (found, plain)
    ]
    assert found.temperature > plain.temperature + 0.2
    assert scores[0] < scores[1]


def test_repetition_makes_no_temperature_surer():
    logits, labels, _, _ = problem()
    once = temperature_interval(logits, labels)
    fives = temperature_interval(logits, labels, weights=torch.full((400,), 5.0))
    assert fives == pytest.approx(once, abs=1e-9)
    copies = torch.arange(400).repeat(5)
    narrow = temperature_interval(logits[copies], labels[copies])
    assert math.log(narrow[1] / narrow[0]) == pytest.approx(
        math.log(once[1] / once[0]) / 5**0.5, rel=1e-6
    )


def test_weighted_interval_covers():
    """Unequal weights: a 90 % interval holds the true T in about 180 of 200 draws."""
    covered = 0
    for seed in range(200):
        logits, labels = scored(300, 3, temperature=2.0, seed=seed)
        weights = torch.rand(300, generator=torch.Generator().manual_seed(seed)) ** 3 + 0.02
        low, high = temperature_interval(logits, labels, weights=weights)
        covered += low <= 2.0 <= high
    assert covered == pytest.approx(180, abs=14)


@pytest.mark.parametrize(
    ("weights", "message"),
    [([1.0], "one entry per row"), ([-1.0] * 400, "0 or more"), ([0] * 400, "not all be zero")],
)
@pytest.mark.parametrize("make", WEIGHTED)
def test_bad_weights(make, weights, message):
    logits, labels, _, _ = problem()
    with pytest.raises(ValueError, match=f"^weights .*{message}"):
        make().fit(logits, labels, weights=weights)


def test_a_map_without_weights_says_so():
    class Nothing(Calibrator):
        def _fit(self, logits, labels):
            pass

    logits, labels, weights, _ = problem()
    for kind in (Nothing, *(set(ALL) - set(WEIGHTED))):
        with pytest.raises(TypeError, match=rf"^{kind.__name__} takes no weights"):
            kind().fit(logits, labels, weights=weights)
    assert len(WEIGHTED) >= 9
