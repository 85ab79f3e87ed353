"""Recalibration: hand values, oracles, properties, known truths, bad input."""

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
from sklearn.exceptions import NotFittedError
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from torch.nn.functional import cross_entropy

from calibkit import metrics, recalibration
from calibkit.lab import data
from calibkit.recalibration import (
    BetaCalibrator,
    HistogramBinning,
    IsotonicCalibrator,
    LeakageError,
    MatrixScaler,
    TemperatureEnsemble,
    TemperatureScaler,
    VectorScaler,
    temperature_interval,
)

ALL = [
    TemperatureScaler,
    VectorScaler,
    MatrixScaler,
    TemperatureEnsemble,
    HistogramBinning,
    IsotonicCalibrator,
    BetaCalibrator,
]


def scored(n=2000, classes=5, temperature=2.0, seed=0, spread=2.0, dtype=torch.float64):
    """Logits that are `temperature` times too steep, and labels drawn from the right ones."""
    g = torch.Generator().manual_seed(seed)
    z = torch.randn(n, classes, generator=g, dtype=torch.float64) * spread
    labels = torch.multinomial(z.softmax(1), 1, generator=g)[:, 0]
    return (z * temperature).to(dtype), labels


def exact(temperature, parts=((7, 2, 1), (1, 3, 6), (5, 3, 2)), times=1):
    """Data whose least NLL is at `temperature` exactly: label counts match softmax(z / T)."""
    logits, labels = [], []
    for counts in parts:
        share = torch.tensor(counts, dtype=torch.float64) / sum(counts)
        logits.append((temperature * share.log()).repeat(sum(counts) * times, 1))
        labels.append(torch.arange(len(counts)).repeat_interleave(torch.tensor(counts) * times))
    return torch.cat(logits), torch.cat(labels)


def nll(logits, labels):
    return cross_entropy(logits.double(), labels).item()


# --- temperature: known truths and oracles ---


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
    monkeypatch.setattr(recalibration, "WARM_START_ROWS", 10**9)
    cold = TemperatureScaler().fit(logits, labels).temperature
    assert warm == pytest.approx(cold, rel=1e-12)


def test_a_misleading_warm_start_is_left_again(monkeypatch):
    logits, labels = exact(2.0, times=10)
    order = torch.argsort((logits.argmax(1) != labels).int(), stable=True)
    monkeypatch.setattr(recalibration, "WARM_START_ROWS", 2)  # strided rows, both right
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
    real = recalibration._slope

    def counted(logits, labels, beta):
        calls.append(len(logits))
        return real(logits, labels, beta)

    monkeypatch.setattr(recalibration, "_slope", counted)
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
        recalibration, "_slope", lambda z, y, beta: math.tanh(steepness * (math.log(beta) - 0.8))
    )
    for width in (0.02, 0.5):
        root = functools.partial(recalibration._log_beta, None, None, start, width)
        assert root((-7, 7)) == pytest.approx(0.8, abs=1e-11)
        assert root((-7, 0.5)) == 0.5
        assert root((1.5, 7)) == 1.5


def test_the_slope_is_the_derivative_of_the_nll():
    logits, labels = scored(300, 4, seed=4)
    beta = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    loss = cross_entropy(beta * logits, labels, reduction="sum")
    (slope,) = torch.autograd.grad(loss, beta)
    assert recalibration._slope(logits, labels, 0.7) == pytest.approx(slope.item(), rel=1e-10)


def test_blocks_add_up():
    logits, labels = scored(70_000, 3, seed=5)
    whole = recalibration._slope(logits, labels, 0.5)
    parts = zip(logits.split(9000), labels.split(9000), strict=True)
    assert whole == pytest.approx(sum(recalibration._slope(z, y, 0.5) for z, y in parts), rel=1e-10)


# --- temperature: clamping ---


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


@pytest.mark.parametrize("calibrator", [TemperatureScaler, VectorScaler, MatrixScaler])
def test_warnings_point_to_the_line_of_the_caller(calibrator):
    with pytest.warns(UserWarning, match="separate") as caught:
        calibrator().fit(torch.eye(3).repeat(4, 1), torch.arange(3).repeat(4))
    assert [w.filename for w in caught] == [__file__]


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


# --- temperature: the ECE grid ---


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


# --- temperature: its interval ---


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


# --- vector and matrix scaling ---


def biased(n=4000, classes=4, seed=0):
    """Logits whose right map is a known w * z + b."""
    g = torch.Generator().manual_seed(seed)
    z = torch.randn(n, classes, generator=g, dtype=torch.float64) * 2
    weight = torch.linspace(0.5, 1.5, classes, dtype=torch.float64)
    bias = torch.linspace(-1, 1, classes, dtype=torch.float64)
    labels = torch.multinomial((z * weight + bias).softmax(1), 1, generator=g)[:, 0]
    return z, labels, weight, bias


def test_vector_scaling_recovers_a_known_map():
    z, labels, weight, bias = biased(60_000)
    scaler = VectorScaler().fit(z, labels)
    assert torch.allclose(scaler.weight, weight, atol=0.05)
    assert torch.allclose(scaler.bias, bias, atol=0.05)
    assert scaler.bias.mean().abs() < 1e-12


@pytest.mark.parametrize("scaler", [VectorScaler(), MatrixScaler(), MatrixScaler(off_diagonal=1)])
def test_linear_scalers_are_stationary_and_beat_one_temperature(scaler):
    z, labels, *_ = biased()
    z = z * 20  # poorly scaled logits must not stop the search early
    scaler.fit(z, labels)
    single = TemperatureScaler().fit(z, labels)
    ours = nll(scaler._apply(z), labels)
    assert ours < nll(single._apply(z), labels) - 0.01
    weight, bias = scaler.weight.clone().requires_grad_(), scaler.bias.clone().requires_grad_()
    mapped = z * weight + bias if weight.ndim == 1 else z @ weight.T + bias
    loss = cross_entropy(mapped, labels)
    if getattr(scaler, "off_diagonal", 0):
        loss = loss + (weight - weight.diag().diag()).square().sum() / 12
    gradients = torch.autograd.grad(loss, [weight, bias])
    assert max(g.abs().max().item() for g in gradients) < 1e-5


@pytest.mark.parametrize("scaler", [VectorScaler, MatrixScaler])
def test_strongly_correlated_logits_need_few_passes(monkeypatch, scaler):
    z, labels, *_ = biased(1500)
    g = torch.Generator().manual_seed(1)
    mixed = z @ (torch.ones(4, 4) + 0.05 * torch.randn(4, 4, generator=g)).double() * 5
    calls, passes = [], []
    monkeypatch.setattr(
        recalibration, "cross_entropy", lambda *a: calls.append(1) or cross_entropy(*a)
    )
    for limit in (recalibration.MOST_UNITS, 0):  # 0: parameters as they are
        monkeypatch.setattr(recalibration, "MOST_UNITS", limit)
        scaler().fit(mixed, labels)
        passes.append(len(calls))
        calls.clear()
    assert passes[0] <= 80
    assert passes[0] < 0.8 * passes[1]


def test_matrix_scaling_agrees_with_unpenalised_logistic_regression():
    z, labels, *_ = biased(1500, 3)
    fresh = biased(100, 3, seed=9)[0]
    oracle = LogisticRegression(C=np.inf, tol=1e-10, max_iter=5000).fit(z.numpy(), labels.numpy())
    ours = MatrixScaler().fit(z, labels).probs(fresh)
    np.testing.assert_allclose(ours, oracle.predict_proba(fresh.numpy()), atol=1e-5)


def test_a_heavy_off_diagonal_penalty_gives_vector_scaling():
    z, labels, *_ = biased(1500, 3)
    fresh = biased(100, 3, seed=9)[0]
    matrix = MatrixScaler(off_diagonal=1e6).fit(z, labels).probs(fresh)
    assert torch.allclose(matrix, VectorScaler().fit(z, labels).probs(fresh), atol=1e-4)


def test_penalties_are_means_over_their_entries():
    z, labels, *_ = biased(1500, 3)
    for a, b in [(0.3, 0.0), (0.0, 0.2), (0.3, 0.2)]:
        scaler = MatrixScaler(off_diagonal=a, intercept=b).fit(z, labels)

        def loss(weight, bias, a=a, b=b):
            off = [weight[i, j] ** 2 for i in range(3) for j in range(3) if i != j]
            fit = cross_entropy(z @ weight.T + bias, labels)
            return fit + a * sum(off) / 6 + b * (bias**2).mean()

        best = loss(scaler.weight, scaler.bias)
        for seed in range(5):
            g = torch.Generator().manual_seed(seed)
            move = torch.randn(4, 3, generator=g, dtype=torch.float64) * 1e-3
            assert loss(scaler.weight + move[:3], scaler.bias + move[3]) >= best - 1e-12


def test_the_intercept_penalty_shrinks_the_bias():
    z, labels, *_ = biased(1500, 3)
    free = MatrixScaler().fit(z, labels).bias.norm()
    norms = [MatrixScaler(intercept=b).fit(z, labels).bias.norm() for b in (0.1, 0.5, 5.0)]
    assert free > norms[0] > norms[1] > norms[2]
    assert norms[2] < 0.1 * free


@pytest.mark.parametrize("scaler", [VectorScaler, MatrixScaler])
def test_linear_scalers_warn_of_separable_data_and_absent_classes(scaler):
    logits = torch.eye(3).repeat(4, 1)
    with pytest.warns(
        UserWarning, match="^the logits separate .* infinitely steep; stopped early$"
    ):
        scaler().fit(logits, torch.arange(3).repeat(4))
    logits, labels = scored(300, 3)
    for absent in (1, 2):
        kept = labels != absent
        with pytest.warns(UserWarning, match=rf"^labels hold no sample of class \[{absent}\]"):
            scaler().fit(logits[kept], labels[kept])


@pytest.mark.parametrize("scaler", [VectorScaler, MatrixScaler])
def test_linear_scalers_stay_silent_on_good_data(scaler):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scaler().fit(*scored(500, 3))


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
    of_label = recalibration._log_parts(logits, ensemble.temperature).exp()
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


# --- histogram binning and isotonic regression ---


def test_histogram_bins_are_closed_on_the_right():
    p = torch.tensor([0.2, 0.4, 0.4, 0.6, 0.6, 0.6, 1.0], dtype=torch.float64)
    logits = torch.stack([1 - p, p], 1).clamp(1e-300).log()
    binning = HistogramBinning(bins=5).fit(logits, [0, 0, 1, 1, 1, 0, 1])
    expected = [0, 1 / 2, 2 / 3, 0.7, 1]  # one bin each; the fourth was empty
    assert binning.edges.shape == (1, 6)
    edge = recalibration._bin(
        torch.tensor([[0.2, 0.4, 0.6, 0.8]], dtype=torch.float64), binning.edges
    )
    assert binning.values[0].tolist() == pytest.approx(expected)
    assert edge.tolist() == [[0, 1, 2, 3]]


def test_histogram_binning_against_a_loop():
    logits, labels = scored(3000, 4)
    fresh, _ = scored(200, 4, seed=8)
    p, q = logits.softmax(1).numpy(), fresh.softmax(1).numpy()
    expected = np.zeros_like(q)
    for k in range(4):
        for b in range(10):
            low, high = b / 10, (b + 1) / 10
            inside = (p[:, k] > low) & (p[:, k] <= high)
            value = (labels.numpy()[inside] == k).mean() if inside.any() else (low + high) / 2
            expected[(q[:, k] > low) & (q[:, k] <= high), k] = value
    expected /= expected.sum(1, keepdims=True)
    ours = HistogramBinning(bins=10).fit(logits, labels).probs(fresh)
    np.testing.assert_allclose(ours, expected, atol=1e-12)


@pytest.mark.parametrize(("n", "bins"), [(100, 10), (103, 10), (7, 15), (5, 1)])
def test_equal_mass_bins_hold_equally_many(n, bins):
    logits, labels = scored(n, 3)
    binning = HistogramBinning(bins=bins, equal="mass").fit(logits, labels)
    index = recalibration._bin(recalibration._one_vs_rest(logits), binning.edges)
    counts = torch.stack([torch.bincount(row, minlength=bins) for row in index])
    assert binning.edges.shape == (3, bins + 1)
    assert binning.edges[:, 0].tolist() == [0] * 3
    assert binning.edges[:, -1].tolist() == [1] * 3
    assert counts.max() - counts.min() <= 1
    assert counts.sum(1).tolist() == [n] * 3


def test_equal_mass_edges_are_those_of_the_adaptive_ece():
    logits, labels = scored(200, 2)
    edges = HistogramBinning(bins=7, equal="mass").fit(logits, labels).edges[0]
    second = logits.double().softmax(1)[:, 1]
    counted = metrics.reliability_of(second, labels, bins=7, binning="mass")
    assert torch.equal(edges, counted.edges)


@pytest.mark.parametrize("classes", [2, 4])
def test_isotonic_agrees_with_scikit_learn(classes):
    logits, labels = scored(1000, classes)
    fresh, _ = scored(300, classes, seed=8)
    p, q = logits.softmax(1).numpy(), fresh.softmax(1).numpy()
    columns = []
    for k in range(classes):
        oracle = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
        columns.append(oracle.fit(p[:, k], labels.numpy() == k).predict(q[:, k]))
    expected = np.stack(columns, 1)
    if classes == 2:
        expected[:, 0] = 1 - expected[:, 1]
    else:
        expected /= expected.sum(1, keepdims=True)
    ours = IsotonicCalibrator().fit(logits, labels).probs(fresh)
    np.testing.assert_allclose(ours, expected, atol=1e-9)


def test_interpolation_is_linear_inside_and_constant_outside():
    x, y = torch.tensor([0.2, 0.4, 0.8]).double(), torch.tensor([0.1, 0.3, 0.9]).double()
    s = torch.tensor([0.0, 0.2, 0.3, 0.6, 0.8, 1.0]).double()
    ours = recalibration._interpolate(s, x, y)
    assert ours.tolist() == pytest.approx([0.1, 0.1, 0.2, 0.6, 0.9, 0.9])
    assert recalibration._interpolate(s, x[:1], y[2:]).tolist() == pytest.approx([0.9] * 6)


@pytest.mark.parametrize("calibrator", [HistogramBinning, IsotonicCalibrator])
def test_shares_of_zero_give_finite_logits(calibrator):
    logits = torch.tensor([[3.0, 0, 0], [0, 3, 0], [0, 0, 3]]).repeat(5, 1)
    fitted = calibrator().fit(logits, torch.arange(3).repeat(5))
    fresh = torch.tensor([[3.0, 0, 0], [0, 0, 0.1]])
    transformed = fitted.transform(fresh)
    assert bool(torch.isfinite(transformed).all())
    assert fitted.probs(fresh)[0].tolist() == pytest.approx([1, 0, 0])


@pytest.mark.parametrize("calibrator", [HistogramBinning, IsotonicCalibrator])
def test_a_class_without_calibration_samples_gets_no_probability(calibrator):
    logits, labels = scored(500, 4)
    kept = labels != 3
    probs = calibrator().fit(logits[kept], labels[kept]).probs(scored(50, 4, seed=1)[0])
    assert probs.shape == (50, 4)
    sure = probs[:, 3] if calibrator is IsotonicCalibrator else probs[probs[:, 3] < 0.3, 3]
    assert bool((sure < 1e-30).all())


@pytest.mark.parametrize("calibrator", [HistogramBinning, IsotonicCalibrator])
def test_logits_of_binned_scores_are_normalised(calibrator):
    fitted = calibrator().fit(*scored(500, 4))
    total = fitted.transform(scored(50, 4, seed=1)[0]).logsumexp(1)
    assert torch.allclose(total, torch.zeros(50, dtype=torch.float64), atol=1e-12)


def test_defaults_are_fifteen_bins_and_one_bin_is_allowed():
    assert TemperatureScaler().bins == HistogramBinning().bins == 15
    assert TemperatureScaler(bins=1).bins == HistogramBinning(bins=1).bins == 1


def test_a_row_of_zero_shares_becomes_uniform():
    scores = torch.tensor([[0.0, 0.5], [0.0, 0.25], [0.0, 0.25]], dtype=torch.float64)
    probs = recalibration._to_logits(scores, torch.zeros(1, dtype=torch.float64)).exp()
    assert probs[0].tolist() == pytest.approx([1 / 3] * 3)
    assert probs[1].tolist() == pytest.approx([0.5, 0.25, 0.25])


# --- beta calibration ---


def beta_data(a, b, c, n=60_000, seed=0):
    """Two classes whose right map of the second score is beta with these weights."""
    g = torch.Generator().manual_seed(seed)
    logits = torch.randn(n, 2, generator=g, dtype=torch.float64) * 2
    s = logits.softmax(1)[:, 1]
    odds = a * s.log() - b * torch.log1p(-s) + c
    return logits, (torch.rand(n, generator=g, dtype=torch.float64) < odds.sigmoid()).long()


@pytest.mark.parametrize("weights", [(1.0, 1.0, 0.0), (0.5, 0.5, 0.0), (0.4, 1.5, -0.5), (0, 1, 0)])
def test_beta_calibration_recovers_a_known_map(weights):
    fitted = BetaCalibrator().fit(*beta_data(*weights))
    assert fitted.weights.shape == (1, 3)
    assert fitted.weights[0].tolist() == pytest.approx(weights, abs=0.06)


def beta_oracle(log_s, minus_log_rest, hit):
    """The betacal package's rule: a negative weight is left out, and the others fitted again."""
    used = np.stack([log_s, minus_log_rest], 1)
    kept = [0, 1]
    while kept:
        model = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000, solver="newton-cholesky")
        weights = model.fit(used[:, kept], hit).coef_[0]
        if (weights >= 0).all():
            break
        kept.remove(kept[int(weights.argmin())])
    found = np.zeros(3)
    found[kept], found[2] = weights, model.intercept_[0]
    return found


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("flip", [1.0, 0.3])
def test_beta_calibration_agrees_with_logistic_regression(classes, flip):
    logits, labels = scored(1500, classes, temperature=3.0)
    logits[:, 0] *= flip  # a column that is too weak
    parts = recalibration._log_odds_parts(logits).numpy()
    hits = recalibration._targets(labels, classes).numpy()
    ours = BetaCalibrator().fit(logits, labels).weights
    for k, row in enumerate(ours.numpy()):
        np.testing.assert_allclose(row, beta_oracle(*parts[:, k], hits[k]), atol=2e-3)


def test_negative_weights_of_beta_calibration_are_held_at_zero():
    logits, labels = beta_data(-0.5, 1.0, 0.0, n=5000)
    parts = recalibration._log_odds_parts(logits).numpy()
    ours = BetaCalibrator().fit(logits, labels).weights[0].numpy()
    assert ours[0] == 0
    np.testing.assert_allclose(ours, beta_oracle(*parts[:, 0], labels.numpy()), atol=2e-3)


def test_scores_that_round_to_one_keep_a_finite_log():
    logits = torch.tensor([[800.0, 0.0, 1.0], [0.0, 0.0, 0.0]], dtype=torch.float64)
    log_s, minus_log_rest = recalibration._log_odds_parts(logits)
    assert minus_log_rest[0, 0].item() == pytest.approx(800 - math.log(1 + math.e))
    assert log_s[:, 0].tolist() == pytest.approx([0, -800, -799])
    assert minus_log_rest[:, 1].tolist() == pytest.approx([math.log(1.5)] * 3)


# --- the shared shape ---


@pytest.mark.parametrize("calibrator", ALL)
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_fit_returns_self_and_transform_keeps_type_and_shape(calibrator, dtype):
    logits, labels = scored(400, 3, dtype=dtype)
    fresh, _ = scored(50, 3, seed=1, dtype=dtype)
    fitted = calibrator()
    assert fitted.fit(logits, labels) is fitted
    assert fitted.transform(fresh).dtype == dtype
    assert fitted.transform(fresh).shape == (50, 3)
    probs = fitted.probs(fresh)
    assert torch.allclose(probs, fitted.transform(fresh).softmax(1))
    assert torch.allclose(probs.double().sum(1), torch.ones(50).double(), atol=5e-3)


@pytest.mark.parametrize("calibrator", ALL)
def test_numpy_and_lists_work(calibrator):
    logits, labels = scored(400, 3)
    fresh, _ = scored(50, 3, seed=1)
    ours = calibrator().fit(logits.numpy(), labels.tolist()).probs(fresh.numpy())
    assert torch.equal(ours, calibrator().fit(logits, labels).probs(fresh))


@pytest.mark.parametrize("calibrator", ALL)
def test_recalibration_repairs_overconfidence(calibrator):
    logits, labels = scored(4000, 4, temperature=4.0)
    fresh, fresh_labels = scored(4000, 4, temperature=4.0, seed=1)
    before = nll(fresh, fresh_labels)
    probs = calibrator().fit(logits, labels).probs(fresh)
    after = -probs.gather(1, fresh_labels[:, None]).clamp(1e-6).log().mean().item()
    assert after < 0.6 * before
    gap = probs.amax(1).mean() - (probs.argmax(1) == fresh_labels).double().mean()
    assert abs(gap) < 0.03


@pytest.mark.parametrize("calibrator", ALL)
def test_fitting_does_not_build_a_graph_or_change_the_input(calibrator):
    logits, labels = scored(200, 3)
    logits.requires_grad_()
    kept = logits.detach().clone()
    fitted = calibrator().fit(logits, labels)
    assert torch.equal(logits.detach(), kept)
    assert logits.grad is None
    assert len(pickle.dumps(fitted._seen)) < 1000


def test_refitting_replaces_what_was_seen():
    first, second = scored(200, 3), scored(200, 3, seed=1)
    scaler = TemperatureScaler().fit(*first)
    scaler.fit(*second).transform(first[0])
    with pytest.raises(LeakageError):
        scaler.transform(second[0])


# --- scoring what was fitted ---

LEAK = (
    "^logits hold the very data that the calibrator was fitted on, so any score would flatter it; "
    r"pass test logits$"
)


@pytest.mark.parametrize("calibrator", ALL)
def test_fitted_logits_are_refused(calibrator):
    logits, labels = scored(200, 3)
    fitted = calibrator().fit(logits, labels)
    with pytest.raises(LeakageError, match=LEAK):
        fitted.transform(logits)
    with pytest.raises(LeakageError):
        fitted.probs(logits)


@pytest.mark.parametrize(
    "leak",
    [
        lambda z: z.clone(),
        lambda z: z.double(),
        lambda z: z[50:150],
        lambda z: z[:1],
        lambda z: z[-1:],
        lambda z: z[::2],
        lambda z: z.numpy(),
        lambda z: z.numpy()[10:20],
        lambda z: torch.from_numpy(z.numpy()),
    ],
)
def test_copies_and_views_of_the_fitted_logits_are_refused(leak):
    logits, labels = scored(200, 3, dtype=torch.float32)
    scaler = TemperatureScaler().fit(logits, labels)
    with pytest.raises(LeakageError):
        scaler.transform(leak(logits))


def test_splits_of_one_tensor_are_told_apart():
    logits, labels = scored(200, 3)
    cases = [(slice(0, 100), slice(100, 200)), (slice(0, 200, 2), slice(1, 200, 2))]
    for cal, test in cases + [pair[::-1] for pair in cases]:
        scaler = TemperatureScaler().fit(logits[cal], labels[cal])
        scaler.transform(logits[test])
        with pytest.raises(LeakageError):
            scaler.transform(logits)
    scaler = TemperatureScaler().fit(logits[:100], labels[:100])
    with pytest.raises(LeakageError):
        scaler.transform(logits[99:])


def test_equal_length_test_data_is_accepted():
    logits, labels = scored(200, 3)
    fresh = logits.clone()
    fresh[7, 1] += 1e-9
    assert TemperatureScaler().fit(logits, labels).transform(fresh).shape == (200, 3)


def test_a_fitted_calibrator_holds_no_logits_and_still_knows_them_elsewhere():
    logits, labels = scored(5000, 3)
    scaler = TemperatureScaler().fit(logits, labels)
    stored = pickle.dumps(scaler)
    assert len(stored) < 2000
    again = pickle.loads(stored)
    assert again.temperature == scaler.temperature
    for copy in (logits, logits.clone(), logits.numpy()):
        with pytest.raises(LeakageError):
            again.transform(copy)
    assert torch.equal(again.transform(logits[:100]), logits[:100] / scaler.temperature)


def test_memory_that_is_used_again_is_no_leak():
    logits, labels = scored(500, 3)
    held = np.empty((500, 3))
    held[:] = logits
    scaler = TemperatureScaler().fit(held[:400], labels[:400])
    scaler.transform(held[400:])
    with pytest.raises(LeakageError):
        scaler.transform(held[390:])
    place = held.__array_interface__["data"][0]
    del held
    for _ in range(50):
        fresh = np.random.default_rng(0).random((500, 3))
        scaler.transform(fresh)
        if fresh.__array_interface__["data"][0] == place:
            break


@pytest.mark.parametrize("calibrator", ALL)
def test_a_calibrator_says_what_it_is(calibrator):
    logits, labels = scored(200, 3)
    assert repr(calibrator()) == f"{calibrator.__name__}(not fitted)"
    said = repr(calibrator().fit(logits, labels))
    assert said.startswith(f"{calibrator.__name__}(")
    assert "not fitted" not in said


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


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_probabilities_in_place_of_logits_are_noticed(dtype):
    logits, labels = scored(2000, 4)
    with pytest.warns(UserWarning, match=r"logits look like probabilities.*pass logits"):
        TemperatureScaler().fit(logits.softmax(1).to(dtype), labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TemperatureScaler().fit(logits, labels)
        TemperatureScaler().fit(logits.softmax(1).log(), labels)


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


@pytest.mark.parametrize("calibrator", [VectorScaler, MatrixScaler, BetaCalibrator])
def test_a_fit_that_lasts_too_long_ends_and_says_so(monkeypatch, calibrator):
    logits, labels = scored(400, 4, 2.0)
    monkeypatch.setattr(recalibration, "PATIENCE", -1.0)
    with pytest.warns(UserWarning, match=r"stopped after .* on 400 rows are many"):
        hasty = calibrator().fit(logits, labels)
    cooled = TemperatureScaler().fit(logits, labels)
    start = nll(cooled.probs(logits[:-1].clone()).log(), labels[:-1])
    assert nll(hasty.probs(logits[:-1].clone()).log(), labels[:-1]) < start + 0.01


# --- bad input ---

NAN, INF = float("nan"), float("inf")
GOOD = torch.tensor([[1.0, 0.0], [0.0, 2.0], [0.5, 1.0]])
BAD_LOGITS = {
    "nan": (torch.tensor([[1.0, NAN], [0.0, 1.0], [0.0, 1.0]]), ValueError),
    "inf": (torch.tensor([[1.0, INF], [0.0, 1.0], [0.0, 1.0]]), ValueError),
    "shape": (torch.zeros(3), ValueError),
    "one class": (torch.zeros(3, 1), ValueError),
    "three dimensions": (torch.zeros(3, 2, 2), ValueError),
    "dtype": (torch.ones(3, 2, dtype=torch.long), TypeError),
    "empty": (torch.zeros(0, 2), ValueError),
    "no numbers": ("logits", TypeError),
}
BAD_LABELS = {
    "float": (torch.tensor([0.0, 1.0, 1.0]), TypeError),
    "bool": (torch.tensor([True, False, True]), TypeError),
    "range": (torch.tensor([0, 1, 2]), ValueError),
    "negative": (torch.tensor([0, -1, 1]), ValueError),
    "length": (torch.tensor([0, 1]), ValueError),
    "shape": (torch.tensor([[0], [1], [1]]), ValueError),
    "empty": (torch.tensor([], dtype=torch.long), ValueError),
}


@pytest.mark.parametrize("calibrator", ALL)
@pytest.mark.parametrize("case", BAD_LOGITS)
def test_bad_logits_are_named(calibrator, case):
    logits, error = BAD_LOGITS[case]
    with pytest.raises(error, match=r"^logits"):
        calibrator().fit(logits, [0, 1, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = calibrator().fit(GOOD, [0, 1, 0])
    for method in (fitted.transform, fitted.probs):
        with pytest.raises(error, match=r"^logits"):
            method(logits)


@pytest.mark.parametrize("calibrator", ALL)
@pytest.mark.parametrize("case", BAD_LABELS)
def test_bad_labels_are_named(calibrator, case):
    labels, error = BAD_LABELS[case]
    with pytest.raises(error, match=r"^labels"):
        calibrator().fit(GOOD, labels)


@pytest.mark.parametrize("calibrator", ALL)
def test_the_order_of_calls_and_the_number_of_classes_are_checked(calibrator):
    with pytest.raises(NotFittedError, match=calibrator.__name__):
        calibrator().transform(GOOD)
    with pytest.raises(NotFittedError):
        calibrator().probs(GOOD)
    fitted = calibrator().fit(*scored(100, 3))
    with pytest.raises(ValueError, match=r"logits must have the 3 classes .*\(3, 2\)"):
        fitted.transform(GOOD)


@pytest.mark.parametrize(
    ("build", "error", "name"),
    [
        (lambda: TemperatureScaler("lbfgs"), ValueError, "method"),
        (lambda: TemperatureScaler(bins=0), ValueError, "bins"),
        (lambda: TemperatureScaler(bins=2.5), TypeError, "bins"),
        (lambda: TemperatureScaler(limits=(0, 1)), ValueError, "limits"),
        (lambda: TemperatureScaler(limits=(2, 1)), ValueError, "limits"),
        (lambda: TemperatureScaler(limits=(1, 1)), ValueError, "limits"),
        (lambda: TemperatureScaler(limits=(1, NAN)), ValueError, "limits"),
        (lambda: TemperatureScaler(limits=(1, INF)), ValueError, "limits"),
        (lambda: TemperatureScaler(limits=("a", 1)), TypeError, "limits"),
        (lambda: TemperatureScaler(limits=3.0), TypeError, "limits"),
        (lambda: TemperatureScaler(limits=(1, 2, 3)), TypeError, "limits"),
        (lambda: MatrixScaler(off_diagonal=-1), ValueError, "off_diagonal"),
        (lambda: MatrixScaler(intercept=-1), ValueError, "intercept"),
        (lambda: MatrixScaler(intercept=INF), ValueError, "intercept"),
        (lambda: MatrixScaler(intercept=NAN), ValueError, "intercept"),
        (lambda: MatrixScaler(off_diagonal=INF), ValueError, "off_diagonal"),
        (lambda: MatrixScaler(off_diagonal="1"), TypeError, "off_diagonal"),
        (lambda: HistogramBinning(bins=0), ValueError, "bins"),
        (lambda: HistogramBinning(bins=True), TypeError, "bins"),
        (lambda: HistogramBinning(equal="size"), ValueError, "equal"),
    ],
)
def test_bad_options_are_named(build, error, name):
    with pytest.raises(error, match=f"^{name}"):
        build()


# --- CUDA ---


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("calibrator", ALL)
def test_cuda_agrees_with_cpu(calibrator):
    logits, labels = scored(500, 4)
    fresh, _ = scored(100, 4, seed=1)
    expected = calibrator().fit(logits, labels).probs(fresh)
    ours = calibrator().fit(logits.cuda(), labels.cuda()).probs(fresh.cuda())
    assert ours.device.type == "cuda"
    assert torch.allclose(ours.cpu(), expected, atol=1e-6)
    with pytest.raises(ValueError, match="labels"):
        calibrator().fit(logits.cuda(), labels)


# --- another prior ---

SKEWED = [0.4, 0.25, 0.15, 0.08, 0.05, 0.03, 0.02, 0.01, 0.006, 0.004]


def test_logit_adjustment_of_the_exact_posterior_is_the_exact_posterior_of_the_other_prior():
    mixture = data.NoisyDigits(noise=0.6)
    drawn = mixture.draw(500, seed=0)
    skewed = mixture.posterior(drawn.inputs, prior=SKEWED)
    assert (skewed - drawn.posterior).abs().max() > 0.5  # the prior matters here
    logits = skewed.clamp_min(1e-300).log()
    adjusted = recalibration.logit_adjustment(logits, old=SKEWED, new=mixture.prior)
    assert torch.allclose(adjusted.softmax(1), drawn.posterior, atol=1e-6)
    changed = recalibration.change_prior(skewed, old=SKEWED, new=mixture.prior)
    assert torch.allclose(changed, drawn.posterior, atol=1e-9)


def test_adjusted_logits_have_the_changed_probabilities_in_any_type():
    logits, _ = scored(n=50, classes=10)
    new = SKEWED[::-1]
    expected = recalibration.change_prior(logits.softmax(1), old=SKEWED, new=new)
    for dtype, tolerance in ((torch.float64, 1e-12), (torch.float32, 1e-5)):
        adjusted = recalibration.logit_adjustment(logits.to(dtype), old=SKEWED, new=new)
        assert adjusted.dtype == dtype
        assert torch.allclose(adjusted.double().softmax(1), expected, atol=tolerance)


def test_a_prior_changed_back_and_forth_is_what_it_was():
    probs = scored(n=50, classes=10)[0].softmax(1)
    there = recalibration.change_prior(probs, old=SKEWED, new=SKEWED[::-1])
    back = recalibration.change_prior(there, old=SKEWED[::-1], new=SKEWED)
    assert torch.allclose(back, probs, atol=1e-12)


def test_a_class_that_does_not_occur_any_more_has_probability_zero():
    changed = recalibration.change_prior([[0.5, 0.25, 0.25]], old=[1 / 3] * 3, new=[0.5, 0.5, 0])
    assert changed[0].tolist() == pytest.approx([2 / 3, 1 / 3, 0])


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ([0.5, 0.4], [0.5, 0.5], "old must hold fractions"),
        ([0.5, 0.5], [1.0], "new must have one entry per class"),
        ([1.0, 0.0], [0.5, 0.5], "old must be positive"),
    ],
)
def test_priors_that_are_none_are_refused(old, new, word):
    for call in (recalibration.change_prior, recalibration.logit_adjustment):
        with pytest.raises(ValueError, match=word):
            call(torch.tensor([[0.5, 0.5]]), old=old, new=new)
    with pytest.raises(ValueError, match="new must be positive"):
        recalibration.logit_adjustment(torch.zeros(1, 2), old=[0.5, 0.5], new=[1.0, 0.0])
