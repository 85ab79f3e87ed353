"""One temperature, its interval and the ensemble: hand values, oracles, known truths."""

import functools
import math
import pickle
import warnings

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from sklearn.calibration import _TemperatureScaling
from torch.nn.functional import cross_entropy

from calibkit import metrics
from calibkit.recalibration import (
    TemperatureEnsemble,
    TemperatureScaler,
    temperature,
    temperature_interval,
)
from tests.recalibration.samples import exact, nll, scored

# --- known truths and oracles ---


@pytest.mark.parametrize("temperature", [0.05, 0.5, 1.0, 2.42, 7.94, 30.7, 400.0])
@pytest.mark.parametrize("times", [1, 1000])  # 1000: enough rows for the warm start
def test_known_temperature_is_recovered(temperature, times):
    fitted = TemperatureScaler().fit(*exact(temperature, times=times)).temperature
    assert fitted == pytest.approx(temperature, rel=1e-10)


@pytest.mark.parametrize("temperature", [2.42, 7.94, 30.7])
def test_sampled_labels_recover_the_temperature_as_n_grows(temperature):
    fitted = TemperatureScaler().fit(*scored(100_000, 10, temperature)).temperature
    assert fitted == pytest.approx(temperature, rel=0.01)


@pytest.mark.parametrize(
    ("n", "classes", "temperature"),
    [(30, 2, 1.0), (50, 3, 0.2), (2000, 10, 2.42), (2000, 10, 30.7), (25_000, 4, 7.94)],
)
def test_temperature_agrees_with_scikit_learn(n, classes, temperature):
    logits, labels = scored(n, classes, temperature, seed=1)
    oracle = 1 / float(_TemperatureScaling().fit(logits.numpy(), labels.numpy()).beta_)
    assert TemperatureScaler().fit(logits, labels).temperature == pytest.approx(oracle, rel=1e-6)


def test_two_classes_by_hand():
    logits = torch.tensor([[0.0, 3.0]] * 10)
    scaler = TemperatureScaler().fit(logits, [1] * 9 + [0])
    assert scaler.temperature == pytest.approx(3 / math.log(9), rel=1e-12)
    fresh = torch.tensor([[3.0, 0.0]])
    assert scaler.probs(fresh)[0].tolist() == pytest.approx([0.9, 0.1])
    assert scaler.transform(fresh)[0, 0].item() == pytest.approx(math.log(9), rel=1e-6)


def test_far_start_converges_for_steep_and_flat_logits():
    for factor in (1e-2, 1e2):
        logits, labels = exact(1.0)
        fitted = TemperatureScaler().fit(logits * factor, labels).temperature
        assert fitted == pytest.approx(factor, rel=1e-10)


def test_the_warm_start_does_not_change_the_answer(monkeypatch):
    logits, labels = scored(30_000, 4, 3.0)
    warm = TemperatureScaler().fit(logits, labels).temperature
    monkeypatch.setattr(temperature, "WARM_START_ROWS", 10**9)
    cold = TemperatureScaler().fit(logits, labels).temperature
    assert warm == pytest.approx(cold, rel=1e-12)


def test_a_misleading_warm_start_is_left_again(monkeypatch):
    logits, labels = exact(2.0, times=10)
    order = torch.argsort((logits.argmax(1) != labels).int(), stable=True)
    monkeypatch.setattr(temperature, "WARM_START_ROWS", 2)  # strided rows, both right
    fitted = TemperatureScaler().fit(logits[order], labels[order]).temperature
    assert fitted == pytest.approx(2.0, rel=1e-10)


def test_large_offsets_do_not_overflow():
    logits, labels = exact(2.0)
    fitted = TemperatureScaler().fit(logits + 1e4, labels).temperature
    assert fitted == pytest.approx(2.0, rel=1e-6)


def test_rows_may_sit_at_very_different_offsets():
    logits, labels = exact(2.0)
    offsets = torch.linspace(-1e5, 1e5, len(logits), dtype=torch.float64)
    fitted = TemperatureScaler().fit(logits + offsets[:, None], labels).temperature
    assert fitted == pytest.approx(2.0, rel=1e-6)


def test_a_few_huge_logits_do_not_overflow():
    logits = torch.tensor([[1e5, 0.0], [2.0, 0.0], [3.0, 0.0], [2.0, 0.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert math.isfinite(TemperatureScaler().fit(logits, [0, 0, 1, 0]).temperature)


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(60, 200),
    classes=st.integers(2, 6),
    factor=st.floats(0.1, 10),
)
@settings(deadline=None, max_examples=40)
def test_properties_of_the_fitted_temperature(seed, n, classes, factor):
    logits, labels = scored(n, classes, 1.0, seed=seed, spread=1.0)
    fitted = TemperatureScaler().fit(logits, labels).temperature
    refitted = TemperatureScaler().fit(logits / fitted, labels).temperature
    scaled = TemperatureScaler().fit(logits * factor, labels).temperature
    rows, columns = torch.randperm(n), torch.randperm(classes)
    shuffled = TemperatureScaler().fit(logits[rows][:, columns], columns.argsort()[labels][rows])
    assert refitted == pytest.approx(1.0, rel=1e-8)
    assert scaled == pytest.approx(fitted * factor, rel=1e-8)
    assert shuffled.temperature == pytest.approx(fitted, rel=1e-8)
    best = nll(logits / fitted, labels)
    assert all(nll(logits / (fitted * f), labels) >= best for f in (0.9, 0.999, 1.001, 1.1))


def test_it_agrees_with_a_bounded_search():
    logits, labels = scored(500, 4, 1.7, seed=3)
    found = minimize_scalar(lambda u: nll(logits * math.exp(u), labels), bounds=(-3, 3))
    fitted = TemperatureScaler().fit(logits, labels).temperature
    assert fitted == pytest.approx(math.exp(-found.x), rel=1e-4)
    assert nll(logits / fitted, labels) <= found.fun + 1e-15


def test_full_passes_are_few_after_a_warm_start(monkeypatch):
    calls = []
    real = temperature._slope

    def counted(logits, *rest):
        calls.append(len(logits))
        return real(logits, *rest)

    monkeypatch.setattr(temperature, "_slope", counted)
    TemperatureScaler().fit(*scored(30_000, 4, 3.0))
    assert calls[0] == 10_000
    assert 3 <= calls.count(30_000) <= 8
    calls.clear()
    TemperatureScaler().fit(*scored(10_000, 4, 3.0))
    assert set(calls) == {10_000}
    assert len(calls) <= 14


@pytest.mark.parametrize("steepness", [0.5, 4.0, 30.0])
@pytest.mark.parametrize("start", [-6.9, 0.0, 0.8, 9.0])
def test_the_root_is_reached_from_anywhere(monkeypatch, steepness, start):
    monkeypatch.setattr(
        temperature, "_slope", lambda z, y, beta, *_: math.tanh(steepness * (math.log(beta) - 0.8))
    )
    for width in (0.02, 0.5):
        root = functools.partial(temperature._log_beta, None, None, start, width)
        assert root((-7, 7)) == pytest.approx(0.8, abs=1e-11)
        assert root((-7, 0.5)) == 0.5
        assert root((1.5, 7)) == 1.5


def test_the_slope_is_the_derivative_of_the_nll():
    logits, labels = scored(300, 4, seed=4)
    beta = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    loss = cross_entropy(beta * logits, labels, reduction="sum")
    (slope,) = torch.autograd.grad(loss, beta)
    assert temperature._slope(logits, labels, 0.7) == pytest.approx(slope.item(), rel=1e-10)


def test_blocks_add_up():
    logits, labels = scored(70_000, 3, seed=5)
    whole = temperature._slope(logits, labels, 0.5)
    parts = zip(logits.split(9000), labels.split(9000), strict=True)
    assert whole == pytest.approx(sum(temperature._slope(z, y, 0.5) for z, y in parts), rel=1e-10)


# --- clamping ---


def test_separable_data_clamps_at_the_lower_limit_and_warns():
    logits = torch.tensor([[2.0, 0.0], [0.0, 1.0]])
    with pytest.warns(
        UserWarning,
        match=r"^the logits separate the labels, so the best temperature is 0; .* T = 0\.001",
    ):
        assert TemperatureScaler().fit(logits, [0, 1]).temperature == 1e-3
    with pytest.warns(UserWarning, match=r"clamped to T = 0\.2"):
        assert TemperatureScaler(limits=(0.2, 5)).fit(logits, [0, 1]).temperature == 0.2


def test_labels_against_the_logits_clamp_at_the_upper_limit_and_warn():
    logits = torch.tensor([[2.0, 0.0], [0.0, 1.0]])
    with pytest.warns(
        UserWarning,
        match="^the logits do not favour the labels: the best T is infinite; clamped to T = 1000",
    ):
        assert TemperatureScaler().fit(logits, [1, 0]).temperature == 1e3
    balanced = torch.tensor([[1.0, 0.0], [1.0, 0.0]])  # right as often as wrong: T infinite
    with pytest.warns(UserWarning, match="do not favour"):
        assert TemperatureScaler().fit(balanced, [0, 1]).temperature == 1e3


@pytest.mark.parametrize(("limits", "end"), [((3.0, 10.0), 3.0), ((0.1, 1.5), 1.5)])
def test_an_optimum_outside_the_limits_is_clamped(limits, end):
    with pytest.warns(UserWarning, match="^the best temperature lies outside the limits; clamped"):
        fitted = TemperatureScaler(limits=limits).fit(*exact(2.0)).temperature
    assert fitted == pytest.approx(end, rel=1e-12)


@pytest.mark.parametrize("limits", [(1.9, 2.1), (2.0 - 1e-6, 9.0), (0.1, 2.0 + 1e-6)])
def test_an_optimum_just_inside_the_limits_is_found_without_warning(limits):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = TemperatureScaler(limits=limits).fit(*exact(2.0)).temperature
    assert fitted == pytest.approx(2.0, rel=1e-9)


@pytest.mark.parametrize("value", [0.0, 0.1, -3.7])
def test_constant_rows_keep_one_and_warn(value):
    with pytest.warns(
        UserWarning, match="^every row of logits is constant.* matters; keeping T = 1$"
    ):
        fitted = TemperatureScaler().fit(torch.full((6, 3), value), [0, 1, 2, 0, 1, 1])
    assert fitted.temperature == 1.0


def test_nearly_random_labels_give_a_large_temperature_or_the_limit():
    g = torch.Generator().manual_seed(0)
    logits = torch.randn(5000, 4, generator=g)
    labels = torch.randint(4, (5000,), generator=g)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert TemperatureScaler().fit(logits, labels).temperature > 20


# --- the ECE grid ---


def test_ece_grid_is_the_brute_force_minimum():
    logits, labels = scored(3000, 5, 2.42)
    scaler = TemperatureScaler("ece_grid", bins=10).fit(logits, labels)
    grid = [k / 10 for k in range(1, 101)]
    errors = [metrics.ece((logits / t).softmax(1), labels, bins=10) for t in grid]
    assert scaler.temperature == grid[int(np.argmin(errors))]
    assert scaler.temperature == pytest.approx(2.42, abs=0.15)


def test_ece_grid_hand_value():
    # confidence sigmoid(2 / T) should be 3/4: T = 2 / log 3 = 1.82, so 1.8 on the grid
    scaler = TemperatureScaler(method="ece_grid").fit(torch.tensor([[2.0, 0.0]] * 4), [0, 0, 0, 1])
    assert scaler.temperature == 1.8


@pytest.mark.parametrize(("labels", "end"), [([0, 1], 0.1), ([1, 0], 10.0)])
def test_ece_grid_warns_at_its_ends(labels, end):
    logits = torch.tensor([[2.0, 0.0], [0.0, 1.0]])
    with pytest.warns(UserWarning, match="^the least ECE lies at an end of the grid; clamped"):
        assert TemperatureScaler("ece_grid").fit(logits, labels).temperature == end


# --- a known temperature ---


def test_a_known_temperature_needs_no_fit():
    logits, labels = scored(200, 3)
    fitted = TemperatureScaler().fit(logits.clone(), labels)
    known = TemperatureScaler.of(fitted.temperature)
    assert repr(known) == repr(fitted)
    assert torch.equal(known.probs(logits[:9]), fitted.probs(logits[:9]))
    assert torch.equal(pickle.loads(pickle.dumps(known)).probs(logits), known.probs(logits))
    assert known.transform(torch.ones(2, 7)).shape == (2, 7)
    for wrong in (0, -1, math.inf, math.nan):
        with pytest.raises(ValueError, match="temperature must lie in"):
            TemperatureScaler.of(wrong)


# --- its interval ---


def test_the_interval_is_about_that_of_the_bootstrap():
    logits, labels = scored(800, 4, 2.42, seed=6)
    g = torch.Generator().manual_seed(0)
    refitted = []
    for _ in range(300):
        chosen = torch.randint(800, (800,), generator=g)
        refitted.append(TemperatureScaler().fit(logits[chosen], labels[chosen]).temperature)
    expected = np.quantile(refitted, [0.05, 0.95])
    np.testing.assert_allclose(temperature_interval(logits, labels), expected, rtol=0.02)


def test_the_interval_covers_where_the_model_is_wrong_in_more_than_its_temperature():
    g = torch.Generator().manual_seed(1)
    right = torch.randn(20_000, 3, generator=g, dtype=torch.float64) * 2
    said = 2 * right + torch.randn(20_000, 3, generator=g, dtype=torch.float64) * 3
    truth = right.softmax(1)
    found = minimize_scalar(
        lambda u: cross_entropy(said * math.exp(u), truth).item(), bounds=(-3, 1), method="bounded"
    )
    best, inside = math.exp(-found.x), 0
    for _ in range(400):
        chosen = torch.randint(20_000, (300,), generator=g)
        labels = torch.multinomial(truth[chosen], 1, generator=g)[:, 0]
        low, high = temperature_interval(said[chosen], labels, level=0.9)
        inside += low <= best <= high
    assert 0.85 <= inside / 400 <= 0.94


def test_the_interval_holds_the_temperature_and_shrinks_with_the_root_of_n():
    widths = []
    for times in (10, 1000):
        low, high = temperature_interval(*exact(2.0, times=times), level=0.95)
        assert low * high == pytest.approx(4.0, rel=1e-9)
        widths.append(math.log(high / low))
    assert widths[0] == pytest.approx(10 * widths[1], rel=1e-9)
    narrow = temperature_interval(*exact(2.0), level=0.5)
    wide = temperature_interval(*exact(2.0), level=0.95)
    assert wide[0] < narrow[0] < 2 < narrow[1] < wide[1]


def test_the_interval_scales_with_the_logits_and_ignores_offsets():
    logits, labels = scored(300, 4)
    low, high = temperature_interval(logits, labels)
    assert temperature_interval(3 * logits + 50, labels) == pytest.approx((3 * low, 3 * high))


@pytest.mark.parametrize("labels", [[0, 1], [1, 0]])
def test_data_without_a_best_temperature_set_no_bound(labels):
    with pytest.warns(UserWarning, match="clamped"):
        assert temperature_interval(torch.eye(2) * 2, labels) == (0.0, math.inf)
    with pytest.warns(UserWarning, match="constant"):
        assert temperature_interval(torch.zeros(2, 2), labels) == (0.0, math.inf)


def test_bad_input_of_the_interval_is_named():
    logits, labels = scored(50, 3)
    with pytest.raises(ValueError, match=r"^level"):
        temperature_interval(logits, labels, level=1.0)
    with pytest.raises(ValueError, match=r"^labels"):
        temperature_interval(logits, labels[1:])
    with pytest.raises(TypeError, match=r"^logits"):
        temperature_interval("logits", labels)


# --- an ensemble of temperatures ---


def mixed_labels(weights, n=100_000, temperature=3.0, seed=0):
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
    assert (ensemble._apply(logits).softmax(1) - truth).abs().mean() < 0.01


def test_the_weights_of_the_ensemble_agree_with_expectation_maximisation():
    logits, labels, _ = mixed_labels((0.5, 0.3, 0.2), n=3000)
    ensemble = TemperatureEnsemble().fit(logits, labels)
    of_label = temperature._log_parts(logits, ensemble.temperature).exp()
    of_label = of_label[:, torch.arange(3000), labels]
    weights = torch.full((3,), 1 / 3, dtype=torch.float64)
    for _ in range(5000):
        shares = weights[:, None] * of_label
        weights = (shares / shares.sum(0)).mean(1)
    assert ensemble.temperature == TemperatureScaler().fit(logits, labels).temperature
    assert torch.allclose(ensemble.weights, weights, atol=1e-4)


@given(seed=st.integers(0, 1000), n=st.integers(20, 200), temperature=st.floats(0.3, 5))
@settings(deadline=None, max_examples=20)
def test_the_ensemble_keeps_the_order_and_never_fits_worse_than_one_temperature(
    seed, n, temperature
):
    logits, labels = scored(n, 4, temperature, seed=seed, spread=1.0)
    ensemble, single = TemperatureEnsemble(), TemperatureScaler()
    ours, theirs = (m.fit(logits, labels)._apply(logits) for m in (ensemble, single))
    assert torch.equal(ours.argsort(1), logits.argsort(1))
    assert nll(ours, labels) <= nll(theirs, labels) + 1e-6
    assert ensemble.weights.sum().item() == pytest.approx(1)
    assert ensemble.weights.min() >= 1e-9


def test_the_interval_of_blocks_is_that_of_the_whole():
    logits, labels = scored(40_000, 5, 2.0)
    low, high = temperature_interval(logits, labels)
    temperature = TemperatureScaler().fit(logits, labels).temperature
    share = (logits.double() / temperature).softmax(1)
    mean = (share * logits).sum(1)
    spread = (share * logits.double().square()).sum(1) - mean.square()
    residual = mean - logits.gather(1, labels[:, None])[:, 0]
    error = residual.square().mean().div(40_000).sqrt() / spread.mean() * temperature
    assert math.log(high / low) / 2 == pytest.approx(1.6448536 * float(error), rel=1e-6)
