import itertools
import math

import calibration
import netcal.metrics
import numpy as np
import pytest
import torch
import torchmetrics.functional.classification as torchmetrics
from hypothesis import given, settings
from hypothesis import strategies as st

from calibkit import metrics
from calibkit.lab import data
from tests.metrics import reference

CASES = reference.cases()


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("binning", ["width", "mass"])
@pytest.mark.parametrize("closed", ["right", "left"])
def test_ece_against_a_loop(name, binning, closed):
    probs, labels = CASES[name]
    confidence, hits = reference.top_loop(probs, labels)
    for bins, norm in itertools.product((1, 10, 15), ("l1", "l2", "max")):
        options = {"bins": bins, "norm": norm, "binning": binning, "closed": closed}
        expected = reference.ece_loop(confidence, hits, **options)
        found = metrics.ece(probs, labels, **options)
        assert type(found) is float
        assert found == pytest.approx(expected, abs=1e-12), options


@pytest.mark.parametrize("name", CASES)
def test_mce_ada_ece_and_signed_gap_against_a_loop(name):
    probs, labels = CASES[name]
    confidence, hits = reference.top_loop(probs, labels)
    for bins in (4, 15):
        for closed in ("right", "left"):
            expected = reference.ece_loop(confidence, hits, bins, "max", closed=closed)
            found = metrics.mce(probs, labels, bins=bins, closed=closed)
            assert found == pytest.approx(expected, abs=1e-12)
        expected = reference.ece_loop(confidence, hits, bins, binning="mass")
        assert metrics.ada_ece(probs, labels, bins=bins) == pytest.approx(expected, abs=1e-12)
    assert metrics.signed_gap(probs, labels) == pytest.approx(
        np.mean(confidence) - np.mean(hits), abs=1e-12
    )


def test_defaults_are_fifteen_bins_closed_on_the_right():
    for name in ("random", "edges", "edges64"):
        probs, labels = CASES[name]
        confidence, hits = reference.top_loop(probs, labels)
        assert metrics.ece(probs, labels) == pytest.approx(
            reference.ece_loop(confidence, hits, 15, "l1", "width", "right"), abs=1e-12
        )
        assert metrics.mce(probs, labels) == metrics.ece(probs, labels, bins=15, norm="max")
        assert metrics.ada_ece(probs, labels) == metrics.ece(probs, labels, binning="mass")


def test_values_by_hand():
    # confidences .9 (right), .7 (wrong), .7 (right): bins (.6, .8] and (.8, 1]
    probs, labels = [[0.9, 0.1], [0.3, 0.7], [0.7, 0.3]], [0, 0, 0]
    probs = np.array(probs)
    assert metrics.ece(probs, labels, bins=5) == pytest.approx((0.1 + 2 * 0.2) / 3)
    assert metrics.ece(probs, labels, bins=5, norm="l2") == pytest.approx(
        ((0.01 + 2 * 0.04) / 3) ** 0.5
    )
    assert metrics.mce(probs, labels, bins=5) == pytest.approx(0.2)
    assert metrics.signed_gap(probs, labels) == pytest.approx(2.3 / 3 - 2 / 3)
    assert metrics.overconfidence_error(probs, labels, bins=5) == pytest.approx(2 / 3 * 0.7 * 0.2)
    # two bins of equal mass: the tied .7 stay together
    assert metrics.ada_ece(probs, labels, bins=2) == pytest.approx((0.1 + 2 * 0.2) / 3)


@pytest.mark.parametrize("name", ["random", "random64", "two", "saturated", "edges64", "missing"])
def test_uncertainty_calibration_agrees(name):
    probs, labels = (x.numpy() for x in CASES[name])
    assert metrics.ece(probs, labels) == pytest.approx(calibration.get_ece(probs, labels), abs=1e-6)


@pytest.mark.parametrize("name", ["random", "random64", "two", "tiny", "missing"])
def test_uncertainty_calibration_agrees_on_equal_mass(name):
    probs, labels = (
        x.double().numpy() if x.is_floating_point() else x.numpy() for x in CASES[name]
    )
    expected = calibration.get_ece_em(probs, labels)
    assert metrics.ada_ece(probs, labels) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("name", ["random", "random64", "two", "missing", "many"])
def test_uncertainty_calibration_agrees_on_the_debiased_error(name):
    probs, labels = (
        x.double().numpy() if x.is_floating_point() else x.numpy() for x in CASES[name]
    )
    expected = calibration.lower_bound_scaling_ce(
        probs, labels, p=2, debias=True, num_bins=10, mode="top-label"
    )
    assert metrics.debiased_ece(probs, labels, bins=10) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("bins", [4, 8, 16])
def test_netcal_agrees_on_left_closed_bins(bins):
    probs, labels = (x.numpy() for x in CASES["random64"])
    probs = np.round(probs.max(1) * 32) / 32  # many values on the edges
    labels = (np.arange(len(probs)) % 3 > 0).astype(int)
    two = np.stack([1 - probs, probs], 1)
    keep = probs > 0.5
    two, labels = two[keep], labels[keep]
    for theirs, ours in ((netcal.metrics.ECE, metrics.ece), (netcal.metrics.MCE, metrics.mce)):
        expected = theirs(bins).measure(two[:, 1], labels)
        assert ours(two, labels, bins=bins, closed="left") == pytest.approx(expected, abs=1e-9)
        assert ours(two, labels, bins=bins) != pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
def test_torchmetrics_agrees_away_from_the_edges(norm):
    probs, labels = CASES["random64"]
    expected = torchmetrics.multiclass_calibration_error(probs, labels, 5, n_bins=15, norm=norm)
    assert metrics.ece(probs, labels, norm=norm) == pytest.approx(expected.item(), abs=1e-6)


def test_confidence_one_is_in_the_last_bin():
    # .97 wrong and 1.0 right share a bin: gap .485, not the .97 of a bin of its own for 1.0
    probs = torch.tensor([[0.97, 0.03], [1.0, 0.0]], dtype=torch.float64)
    assert metrics.mce(probs, [1, 0]) == pytest.approx(0.985 - 0.5)


def test_overconfidence_error_against_a_loop():
    for probs, labels in CASES.values():
        confidence, hits = reference.top_loop(probs, labels)
        for bins in (3, 15):
            expected = 0.0
            for cs, hs in reference.bins_loop(confidence, hits, bins):
                if cs:
                    mean, gap = np.mean(cs), max(np.mean(cs) - np.mean(hs), 0)
                    expected += len(cs) / len(hits) * mean * gap
            found = metrics.overconfidence_error(probs, labels, bins=bins)
            assert found == pytest.approx(expected, abs=1e-12)
    probs, labels = CASES["random"]
    default = metrics.overconfidence_error(probs, labels)
    assert default == metrics.overconfidence_error(probs, labels, bins=15)


def test_debiased_error_by_hand_and_its_options():
    # .6 four times, half right: .01 - .25 / 3 < 0, so 0; .9 four times, one right: .4225 - .0625
    probs = torch.tensor([[0.6, 0.4]] * 4 + [[0.9, 0.1]] * 4, dtype=torch.float64)
    labels = [0, 0, 1, 1, 0, 1, 1, 1]
    by_hand = ((0.01 - 0.25 / 3) / 2 + (0.65**2 - 0.1875 / 3) / 2) ** 0.5
    for binning in ("width", "mass"):
        found = metrics.debiased_ece(
            probs, labels, bins=2 if binning == "mass" else 5, binning=binning
        )
        assert found == pytest.approx(by_hand)
    assert metrics.debiased_ece(probs[:4], labels[:4], bins=1) == 0
    assert metrics.debiased_ece(probs[3:5], [0, 1], bins=2) == 0  # bins of one sample say nothing
    assert metrics.debiased_ece(probs[:2], [1, 1], bins=1) == pytest.approx(0.6)  # two samples do
    many, wanted = CASES["many"]
    assert metrics.debiased_ece(many, wanted) == metrics.debiased_ece(
        many, wanted, bins=15, binning="mass"
    )


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("binning", ["width", "mass"])
def test_debiased_error_against_a_loop(name, binning):
    probs, labels = CASES[name]
    confidence, hits = reference.top_loop(probs, labels)
    for bins in (3, 10, 15):
        square = 0.0
        for cs, hs in reference.bins_loop(confidence, hits, bins, binning):
            if len(cs) > 1:
                c, a = np.mean(cs), np.mean(hs)
                square += len(cs) / len(hits) * ((c - a) ** 2 - a * (1 - a) / (len(cs) - 1))
        found = metrics.debiased_ece(probs, labels, bins=bins, binning=binning)
        assert found**2 == pytest.approx(max(square, 0), abs=1e-12)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("binning", ["width", "mass"])
def test_true_error_against_a_loop(name, binning):
    probs, _ = CASES[name]
    torch.manual_seed(0)
    posterior = torch.randn(probs.shape, dtype=torch.float64).softmax(1)
    confidence, _ = reference.top_loop(probs, torch.zeros(len(probs)))
    best = [row.index(max(row)) for row in probs.tolist()]  # the first of equals
    truth = [row[k] for row, k in zip(posterior.tolist(), best, strict=True)]
    for bins in (3, 10, 15):
        expected = reference.ece_loop(confidence, truth, bins, binning=binning)
        found = metrics.true_calibration_error(probs, posterior, bins=bins, binning=binning)
        assert found == pytest.approx(expected, abs=1e-12)


def test_debiasing_removes_the_bias_of_a_calibrated_model():
    torch.manual_seed(0)
    plain, debiased = [], []
    for _ in range(50):
        probs = torch.randn(300, 3, dtype=torch.float64).softmax(1)
        labels = probs.multinomial(1)[:, 0]
        plain.append(metrics.ece(probs, labels, norm="l2", binning="mass"))
        debiased.append(metrics.debiased_ece(probs, labels))
    assert np.mean(debiased) < 0.5 * np.mean(plain)
    assert np.mean(debiased) > 0.005  # the root of an unbiased square, cut at 0, is biased


def test_true_error_is_the_limit_of_the_ece():
    torch.manual_seed(0)
    posterior = torch.randn(2000, 3, dtype=torch.float64).softmax(1)
    probs = (2 * posterior.log()).softmax(1)
    for binning in ("width", "mass"):
        truth = metrics.true_calibration_error(probs, posterior, binning=binning)
        many = posterior.multinomial(1000, replacement=True)  # 1000 labels for every input
        sampled = metrics.ece(probs.repeat_interleave(1000, 0), many.flatten(), binning=binning)
        assert sampled == pytest.approx(truth, abs=2e-3)
        once = metrics.ece(probs, many[:, 0], binning=binning)
        assert abs(once - truth) > 5 * abs(sampled - truth) or abs(sampled - truth) < 1e-3


def test_true_error_by_hand():
    probs = torch.tensor([[0.9, 0.1], [0.3, 0.7], [0.25, 0.75]], dtype=torch.float64)
    posterior = torch.tensor([[0.7, 0.3], [0.5, 0.5], [0.0, 1.0]], dtype=torch.float64)
    assert metrics.true_calibration_error(probs, posterior, bins=5) == pytest.approx(
        (0.2 + abs(1.45 - 1.5)) / 3
    )
    assert metrics.true_calibration_error(probs, posterior, bins=1) == pytest.approx(0.15 / 3)
    assert metrics.true_calibration_error(probs, posterior, bins=3, binning="mass") == (
        pytest.approx((0.2 + 0.2 + 0.25) / 3)
    )
    fifteen = metrics.true_calibration_error(probs, posterior, bins=15)
    assert metrics.true_calibration_error(probs, posterior) == fifteen


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("binning", ["width", "mass"])
def test_true_error_of_the_posterior_itself_is_zero(name, binning):
    probs, _ = CASES[name]
    assert metrics.true_calibration_error(probs, probs, binning=binning) == 0


def test_large_input_against_float64():
    torch.manual_seed(0)
    probs = (2 * torch.randn(1_000_000, 10)).softmax(1)
    labels = probs.argmax(1) * (torch.rand(len(probs)) < 0.8)
    confidence, best = probs.double().max(1)
    hits = (best == labels).double()
    index = np.searchsorted(np.arange(1, 15) / 15, confidence.numpy(), side="left")
    gaps = [abs((confidence - hits).numpy()[index == b].sum()) / len(hits) for b in range(15)]
    assert metrics.ece(probs, labels) == pytest.approx(sum(gaps), abs=1e-11)
    runs = np.array_split(np.argsort(confidence.numpy(), kind="stable"), 15)
    adaptive = sum(abs((confidence - hits).numpy()[run].sum()) for run in runs) / len(hits)
    assert metrics.ada_ece(probs, labels) == pytest.approx(adaptive, abs=2e-5)  # ties in float32
    expected = confidence.mean().item() - hits.mean().item()
    assert metrics.signed_gap(probs, labels) == pytest.approx(expected, abs=1e-11)


def random_problem(seed, n, classes):
    torch.manual_seed(seed)
    probs = torch.randn(n, classes, dtype=torch.float64).mul(2).softmax(1)
    return probs, torch.randint(classes, (n,))


FUNCTIONS = [
    metrics.ece,
    metrics.mce,
    metrics.ada_ece,
    metrics.classwise_ece,
    metrics.overconfidence_error,
    metrics.debiased_ece,
    metrics.smooth_ece,
]


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(2, 6))
def test_order_of_samples_and_of_classes_has_no_say(seed, n, classes):
    probs, labels = random_problem(seed, n, classes)
    rows, columns = torch.randperm(n), torch.randperm(classes)
    for function in FUNCTIONS:
        value = function(probs, labels)
        assert 0 <= value <= 1
        assert function(probs[rows], labels[rows]) == pytest.approx(value, abs=1e-12)
        moved = function(probs[:, columns], columns.argsort()[labels])
        assert moved == pytest.approx(value, abs=1e-12)
    assert abs(metrics.signed_gap(probs, labels)) <= metrics.ece(probs, labels) + 1e-12
    assert metrics.ece(probs, labels) <= metrics.ece(probs, labels, norm="l2") + 1e-12
    assert metrics.ece(probs, labels, norm="l2") <= metrics.mce(probs, labels) + 1e-12


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 20))
def test_ada_ece_does_not_see_the_order_of_ties(seed, n, bins):
    generator = torch.Generator().manual_seed(seed)
    top = torch.randint(3, 6, (n,), generator=generator) / 6
    probs = torch.stack([top, 1 - top], 1)
    labels = torch.randint(2, (n,), generator=generator)
    value = metrics.ada_ece(probs, labels, bins=bins)
    for _ in range(5):
        order = torch.randperm(n, generator=generator)
        assert metrics.ada_ece(probs[order], labels[order], bins=bins) == pytest.approx(
            value, abs=1e-12
        )


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.integers(1, 8))
def test_finer_bins_never_lower_the_l1_error(seed, bins):
    probs, labels = random_problem(seed, 50, 4)
    coarse, fine = (metrics.ece(probs, labels, bins=b) for b in (bins, 3 * bins))
    assert fine >= coarse - 1e-12


@pytest.mark.parametrize("function", [*FUNCTIONS, metrics.signed_gap])
def test_numpy_lists_and_other_integers_are_accepted(function):
    probs, labels = CASES["random64"]
    value = function(probs, labels)
    assert function(probs.numpy(), labels.numpy()) == value
    assert function(probs.tolist(), labels.tolist()) == pytest.approx(value, abs=1e-6)
    assert function(probs, labels.to(torch.int16)) == value


def test_a_perfect_and_a_hopeless_model():
    sure = torch.eye(3)
    for function in [*FUNCTIONS, metrics.signed_gap]:
        assert function(sure, [0, 1, 2]) == 0
    for function in (metrics.ece, metrics.mce, metrics.ada_ece, metrics.overconfidence_error):
        assert function(sure, [1, 2, 0]) == 1
    assert metrics.signed_gap(sure, [1, 2, 0]) == 1
    assert metrics.smooth_ece(sure, [1, 2, 0]) == pytest.approx(1, abs=1e-9)
    assert metrics.classwise_ece(sure, [1, 2, 0]) == pytest.approx(2 / 3)


def test_a_known_miscalibration_is_recovered():
    torch.manual_seed(0)
    posterior = (2 * torch.randn(200_000, 4, dtype=torch.float64)).softmax(1)
    labels = posterior.multinomial(1)[:, 0]
    sharp = (2 * posterior.log()).softmax(1)
    truth = metrics.true_calibration_error(sharp, posterior)
    assert truth > 0.05
    assert metrics.ece(sharp, labels) == pytest.approx(truth, abs=0.003)
    assert metrics.smooth_ece(sharp, labels) == pytest.approx(truth, abs=0.01)
    assert metrics.ece(posterior, labels) < 0.005


def test_the_truth_of_noisy_digits_is_recovered_as_n_grows():
    drawn = data.NoisyDigits(noise=0.5).draw(8000, seed=0)
    sharp = (2 * drawn.posterior.clamp(min=1e-30).log()).softmax(1)  # twice as sure as it should be
    misses = []
    for n in (200, 8000):
        truth = metrics.true_calibration_error(sharp[:n], drawn.posterior[:n])
        misses.append(abs(metrics.ece(sharp[:n], drawn.labels[:n]) - truth))
    assert misses[1] < 0.006 < misses[0]
    assert truth > 0.03
    assert metrics.ece(drawn.posterior, drawn.labels) < 0.015
    assert metrics.smooth_ece(drawn.posterior, drawn.labels) < 0.015
    assert metrics.true_calibration_error(drawn.posterior, drawn.posterior) == 0


# --- by group ---


def test_groups_are_judged_one_by_one_and_make_up_the_whole():
    probs, labels = BY_GROUP
    errors = metrics.ece_by_group(probs, labels, labels, bins=10)
    assert errors == [metrics.ece(probs[labels == k], labels[labels == k], bins=10) for k in (0, 1)]
    one = metrics.ece_by_group(probs, labels, torch.zeros(len(labels), dtype=torch.long), count=1)
    assert one == [metrics.ece(probs, labels)]


def test_a_calibrated_model_is_calibrated_by_predicted_class_and_not_by_true_class():
    probs, labels = BY_GROUP
    predicted = metrics.ece_by_group(probs, labels, probs.argmax(1))
    true = metrics.ece_by_group(probs, labels, labels)
    assert max(predicted) < 0.02
    assert true[1] > 0.5  # class 1 is rare: most of its samples are taken for class 0


def test_an_empty_group_has_no_error():
    probs, labels = BY_GROUP
    errors = metrics.ece_by_group(probs, labels, labels, count=3)
    assert math.isnan(errors[2])
    assert not math.isnan(errors[1])


def test_groups_that_are_none_are_refused():
    probs, labels = BY_GROUP
    with pytest.raises(ValueError, match="groups must lie in"):
        metrics.ece_by_group(probs, labels, labels + 1)
    with pytest.raises(ValueError, match="groups"):
        metrics.ece_by_group(probs, labels, labels[:-1])
    with pytest.raises(TypeError, match="groups must be integers"):
        metrics.ece_by_group(probs, labels, labels.double())


def _calibrated(n=20_000):
    """Two classes, one in five samples of class 1, and probabilities that are exactly right."""
    generator = torch.Generator().manual_seed(0)
    rare = torch.rand(n, generator=generator) * 0.4
    rare[: n // 50] = 0.8
    labels = (torch.rand(n, generator=generator) < rare).long()
    return torch.stack([1 - rare, rare], dim=1), labels


BY_GROUP = _calibrated()
