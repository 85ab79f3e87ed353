"""The plane: coordinates by hand, Fieller's interval against its definition and its coverage."""

import numpy as np
import pytest
import torch
from scipy import stats

from calibkit.metrics import plane


def test_a_nearest_neighbour_claims_all_that_it_loses():
    """It is right on its own data and always sure."""
    places = [plane.place(1.0, accuracy, 1.0) for accuracy in (0.7, 0.75, 0.8)]
    found = plane.kappa(places)
    assert found.value == pytest.approx(1)
    assert found.low == pytest.approx(1)
    assert found.high == pytest.approx(1)


def test_what_is_calibrated_for_its_labels_claims_nothing():
    rng = np.random.default_rng(0)
    places = [plane.place(0.9, 0.6, 0.6 + shake) for shake in rng.normal(0, 0.01, 6)]
    found = plane.kappa(places)
    assert found.low < 0 < found.high
    assert abs(found.value) < 0.05


def test_the_accuracy_under_label_noise_is_that_of_drawn_labels():
    generator = torch.Generator().manual_seed(0)
    n, classes, noise, accuracy = 200_000, 10, 0.3, 0.8
    labels = torch.randint(classes, (n,), generator=generator)
    wrong = torch.rand(n, generator=generator) > accuracy
    said = torch.where(wrong, (labels + 1) % classes, labels)
    drawn = torch.rand(n, generator=generator) < noise
    noisy = torch.where(drawn, torch.randint(classes, (n,), generator=generator), labels)
    measured = (said == noisy).double().mean().item()
    assert plane.same_labels_accuracy(accuracy, noise, classes) == pytest.approx(measured, abs=4e-3)


def test_the_ends_are_slopes_whose_t_statistic_is_the_quantile():
    pairs = np.random.default_rng(1).normal([0.3, 0.2], [0.02, 0.01], (5, 2))
    found = plane.kappa(pairs, level=0.9)
    for slope in (found.low, found.high):
        rest = pairs[:, 1] - slope * pairs[:, 0]
        assert abs(stats.ttest_1samp(rest, 0).statistic) == pytest.approx(stats.t.ppf(0.95, 4))
    assert found.low < found.value < found.high


def test_it_covers_the_true_slope_as_often_as_it_says():
    rng = np.random.default_rng(2)
    mean, spread = [0.2, 0.14], [[4e-4, 2e-4], [2e-4, 3e-4]]
    intervals = [plane.kappa(rng.multivariate_normal(mean, spread, 5)) for _ in range(4_000)]
    inside = np.mean([found.low <= 0.7 <= found.high for found in intervals])
    assert inside == pytest.approx(0.95, abs=0.011)


def test_there_is_no_slope_where_little_is_lost_or_all_is_open():
    assert plane.kappa([(0.04, 0.01), (0.05, 0.01)]) is None
    assert plane.kappa([(0.0, 0.1), (0.3, 0.0)]) is None  # the interval has no end


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: plane.kappa([(0.2, 0.1)]), "places must be at least 2 pairs"),
        (lambda: plane.kappa([0.2, 0.1]), "places must be at least 2 pairs"),
        (lambda: plane.kappa([(0.2, 0.1), (0.2, float("nan"))]), "places must be finite"),
        (lambda: plane.place(99.0, 0.7, 0.8), "train_accuracy must lie in"),
        (lambda: plane.place(1.0, 0.7, 1.2), "confidence must lie in"),
        (lambda: plane.same_labels_accuracy(0.7, 1.2, 10), "noise must lie in"),
        (lambda: plane.same_labels_accuracy(0.7, 0.2, 1), "classes must be at least 2"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_the_numbers_of_single_trainings_have_kappa_as_mean_and_its_spread():
    rng = np.random.default_rng(3)
    lost = rng.normal(0.3, 0.01, 40)
    places = list(zip(lost, 0.6 * lost + rng.normal(0, 0.01, 40), strict=True))
    values, whole = plane.kappa_values(places), plane.kappa(places)
    assert values.mean() == pytest.approx(whole.value)
    half = 2.0227 * values.std(ddof=1) / np.sqrt(40)  # Student's t with 39 degrees of freedom
    assert half == pytest.approx((whole.high - whole.low) / 2, rel=0.02)


def test_where_nothing_is_lost_there_is_no_slope():
    with pytest.raises(ValueError, match="lose accuracy on average"):
        plane.kappa_values([(-0.1, 0.1), (0.0, 0.2)])
