"""Weighted fits: a row of weight 2 counts like two, and its repetition makes nothing surer."""

import inspect
import math

import pytest
import torch

from calibkit.recalibration import (
    Calibrator,
    HistogramBinning,
    ShrunkMatrixScaler,
    StructuredMatrixScaler,
    StructuredVectorScaler,
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
COUNTING = (StructuredMatrixScaler, StructuredVectorScaler)  # their penalty falls with the labels
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


@pytest.mark.parametrize("kind", COUNTING)
def test_the_sum_of_weights_is_the_number_of_labels_of_a_structured_map(kind):
    logits, labels, _, _ = problem(200)
    temperature = TemperatureScaler().fit(logits, labels).temperature
    lighter, once, heavier = (
        kind().fit(logits, labels, weights=[each] * 200) for each in (1e-6, 1, 1000)
    )
    assert torch.allclose(once.weight, kind().fit(logits, labels).weight, atol=1e-6)
    assert lighter.temperature == heavier.temperature == pytest.approx(temperature)
    gone = [(one.weight - lighter.weight).abs().max() for one in (once, heavier)]
    assert 0 < gone[0] < gone[1]  # the more labels, the further from a temperature


def test_many_rows_have_the_weights_of_a_warm_start():
    logits, labels, weights, rows = problem(25_000, 4)
    weighted = TemperatureScaler().fit(logits, labels, weights=weights).temperature
    repeated = TemperatureScaler().fit(logits[rows], labels[rows]).temperature
    assert weighted == pytest.approx(repeated, abs=1e-9)


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


@pytest.mark.parametrize("make", WEIGHTED)
def test_bad_weights(make):
    logits, labels, _, _ = problem()
    for weights, message in (([1.0], "one entry per row"), ([-1.0] * 400, "0 or more")):
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
