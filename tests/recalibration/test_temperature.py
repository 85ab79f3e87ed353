"""One temperature, its interval and the ensemble: hand values, oracles, known truths."""

import math
import warnings

import numpy as np
import pytest
import torch

from calibkit import metrics
from calibkit.recalibration import TemperatureEnsemble, TemperatureScaler, temperature_interval
from tests.recalibration.samples import exact, scored

# --- known truths and oracles ---


@pytest.mark.parametrize("temperature", [0.05, 1.0, 7.94, 400.0])
@pytest.mark.parametrize("times", [1, 1000])  # 1000: enough rows for the warm start
def test_known_temperature_is_recovered(temperature, times):
    fitted = TemperatureScaler().fit(*exact(temperature, times=times)).temperature
    assert fitted == pytest.approx(temperature, rel=1e-10)


def test_rows_may_sit_at_very_different_offsets():
    logits, labels = exact(2.0)
    offsets = torch.linspace(-1e5, 1e5, len(logits), dtype=torch.float64)
    for moved in (logits + offsets[:, None], logits + 1e4):
        assert TemperatureScaler().fit(moved, labels).temperature == pytest.approx(2.0, rel=1e-6)


PAIR = torch.tensor([[2.0, 0.0], [0.0, 1.0]])
OUTSIDE = "^the best temperature lies outside the limits; clamped"
END = "^the least ECE lies at an end of the grid; clamped"


@pytest.mark.parametrize(("options", "data", "end", "words"), [
    ({}, (PAIR, [0, 1]), 1e-3,
     r"^the logits separate the labels, so the best temperature is 0; .* T = 0\.001"),
    ({"limits": (0.2, 5)}, (PAIR, [0, 1]), 0.2, r"clamped to T = 0\.2"),
    ({}, (PAIR, [1, 0]), 1e3,
     "^the logits do not favour the labels: the best T is infinite; clamped to T = 1000"),
    ({}, (PAIR[[0, 0]], [0, 1]), 1e3, "do not favour"),  # right as often as wrong
    ({"limits": (3.0, 10.0)}, exact(2.0), 3.0, OUTSIDE),
    ({"limits": (0.1, 1.5)}, exact(2.0), 1.5, OUTSIDE),
    ({}, (torch.full((6, 3), 0.1), [0, 1, 2, 0, 1, 1]), 1.0,
     "^every row of logits is constant.* matters; keeping T = 1$"),
    ({"method": "ece_grid"}, (PAIR, [0, 1]), 0.1, END),
    ({"method": "ece_grid"}, (PAIR, [1, 0]), 10.0, END),
])  # fmt: skip
def test_a_temperature_that_cannot_be_the_best_is_told(options, data, end, words):
    with pytest.warns(UserWarning, match=words):
        fitted = TemperatureScaler(**options).fit(*data).temperature
    assert fitted == pytest.approx(end, rel=1e-12)


@pytest.mark.parametrize("limits", [(1.9, 2.1), (2.0 - 1e-6, 9.0), (0.1, 2.0 + 1e-6)])
def test_an_optimum_just_inside_the_limits_is_found_without_warning(limits):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = TemperatureScaler(limits=limits).fit(*exact(2.0)).temperature
    assert fitted == pytest.approx(2.0, rel=1e-9)


def test_ece_grid_is_the_brute_force_minimum():
    logits, labels = scored(3000, 5, 2.42)
    scaler = TemperatureScaler("ece_grid", bins=10).fit(logits, labels)
    grid = [k / 10 for k in range(1, 101)]
    errors = [metrics.ece((logits / t).softmax(1), labels, bins=10) for t in grid]
    assert scaler.temperature == grid[int(np.argmin(errors))]
    assert scaler.temperature == pytest.approx(2.42, abs=0.15)


# --- its interval ---


def test_the_interval_holds_the_temperature_and_widens_with_its_level():
    narrow = temperature_interval(*exact(2.0), level=0.5)
    wide = temperature_interval(*exact(2.0), level=0.95)
    assert wide[0] < narrow[0] < 2 < narrow[1] < wide[1]
    assert wide[0] * wide[1] == pytest.approx(4.0, rel=1e-9)


@pytest.mark.parametrize("labels", [[0, 1], [1, 0]])
def test_data_without_a_best_temperature_set_no_bound(labels):
    with pytest.warns(UserWarning, match="clamped"):
        assert temperature_interval(torch.eye(2) * 2, labels) == (0.0, math.inf)
    with pytest.warns(UserWarning, match="constant"):
        assert temperature_interval(torch.zeros(2, 2), labels) == (0.0, math.inf)


def mixed_labels(weights, n=20_000, temperature=3.0, seed=0):
    """Logits and labels drawn from an ensemble with these weights."""
    logits, _ = scored(n, 4, temperature, seed=seed)
    parts = [(logits / temperature).softmax(1), logits.softmax(1), torch.full_like(logits, 0.25)]
    truth = sum(w * part for w, part in zip(weights, parts, strict=True))
    g = torch.Generator().manual_seed(seed + 1)
    return logits, torch.multinomial(truth, 1, generator=g)[:, 0], truth


@pytest.mark.parametrize("weights", [(1.0, 0.0, 0.0), (0.8, 0.2, 0.0), (0.0, 0.9, 0.1)])
def test_the_ensemble_finds_what_the_labels_were_drawn_from(weights):
    logits, labels, truth = mixed_labels(weights)
    ensemble = TemperatureEnsemble().fit(logits, labels)
    assert (ensemble.transform(logits, allow_fitted=True).softmax(1) - truth).abs().mean() < 0.02


def test_the_weights_of_the_ensemble_agree_with_expectation_maximisation():
    logits, labels, _ = mixed_labels((0.5, 0.3, 0.2), n=3000)
    ensemble = TemperatureEnsemble().fit(logits, labels)
    cooled = (logits / ensemble.temperature).softmax(1)
    of_label = torch.stack([cooled, logits.softmax(1), torch.full_like(logits, 0.25)])
    of_label = of_label[:, torch.arange(3000), labels]
    weights = torch.full((3,), 1 / 3, dtype=torch.float64)
    for _ in range(2000):
        shares = weights[:, None] * of_label
        weights = (shares / shares.sum(0)).mean(1)
    assert ensemble.temperature == TemperatureScaler().fit(logits, labels).temperature
    assert torch.allclose(ensemble.weights, weights, atol=1e-4)


@pytest.mark.parametrize("logits", [torch.tensor([[1.0, 0]] * 3), scored(40_000, 5, 2.0)[0]])
def test_the_interval_of_few_rows_or_of_blocks_is_that_of_the_whole(logits):
    n = len(logits)
    labels = torch.tensor([0, 0, 1]) if n == 3 else scored(n, 5, 2.0)[1]
    low, high = temperature_interval(logits, labels)
    temperature = TemperatureScaler().fit(logits, labels).temperature
    share = (logits.double() / temperature).softmax(1)
    mean = (share * logits).sum(1)
    spread = (share * logits.double().square()).sum(1) - mean.square()
    residual = mean - logits.gather(1, labels[:, None])[:, 0]
    error = residual.square().mean().div(n).sqrt() / spread.mean() * temperature
    assert math.log(high / low) / 2 == pytest.approx(1.6448536 * float(error), rel=1e-6)
