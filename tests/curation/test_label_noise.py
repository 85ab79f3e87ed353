"""Label noise: exact counts, and laws that the drawn labels follow."""

import pytest
import torch

from calibkit.curation import classwise_noise, symmetric_noise, transition_matrix
from tests.curation.labels import balanced, ragged, strictly_ascending

KINDS = [("shuffle", False), ("uniform", False), ("uniform", True)]


@pytest.mark.parametrize(("kind", "exclude_true"), KINDS)
@pytest.mark.parametrize("rate", [0.0, 0.1, 0.255, 0.5, 1.0])
def test_symmetric_noise_touches_an_exact_count(kind, exclude_true, rate):
    labels = balanced()
    noisy = symmetric_noise(labels, rate, classes=10, seed=0, kind=kind, exclude_true=exclude_true)
    assert len(noisy.flipped) == round(rate * 1000)
    assert strictly_ascending(noisy.flipped)
    assert torch.equal(noisy.clean, labels)
    untouched = torch.ones(1000, dtype=torch.bool)
    untouched[noisy.flipped] = False
    assert torch.equal(noisy.labels[untouched], labels[untouched])
    assert set(noisy.changed.tolist()) <= set(noisy.flipped.tolist())
    assert torch.equal(noisy.changed, (noisy.labels != labels).nonzero()[:, 0])
    assert noisy.rates.tolist() == [round(rate * 1000) / 1000] * 10


def frequencies(noisy, classes):
    table = torch.zeros(classes, classes, dtype=torch.float64)
    ones = torch.ones(len(noisy.labels), dtype=torch.float64)
    table.index_put_((noisy.clean, noisy.labels), ones, accumulate=True)
    return table / table.sum(1, keepdim=True)


@pytest.mark.parametrize(("kind", "exclude_true"), KINDS)
def test_symmetric_noise_follows_its_transition_matrix(kind, exclude_true):
    labels = ragged(200_000, 4)
    noisy = symmetric_noise(labels, 0.4, classes=4, seed=0, kind=kind, exclude_true=exclude_true)
    assert torch.allclose(frequencies(noisy, 4), noisy.transition, atol=0.01)


@pytest.mark.parametrize("exclude_true", [False, True])
@pytest.mark.parametrize("rates", [0.5, [0.1, 0.0, 0.6, 0.3]])
def test_classwise_noise_follows_its_transition_matrix(rates, exclude_true):
    labels = ragged(200_000, 4)
    noisy = classwise_noise(labels, rates, classes=4, seed=1, exclude_true=exclude_true)
    assert torch.allclose(frequencies(noisy, 4), noisy.transition, atol=0.01)
    if exclude_true:
        assert torch.equal(noisy.changed, noisy.flipped)


def test_classwise_noise_touches_an_exact_count_of_each_class():
    labels = ragged()
    rates = [0.0, 0.1, 0.25, 0.5, 1.0]
    noisy = classwise_noise(labels, rates, classes=5, seed=0)
    size = labels.bincount().tolist()
    expected = [round(p * n) for p, n in zip(rates, size, strict=True)]
    assert labels[noisy.flipped].bincount(minlength=5).tolist() == expected
    assert strictly_ascending(noisy.flipped)
    assert noisy.rates.tolist() == pytest.approx(
        [e / n for e, n in zip(expected, size, strict=True)]
    )
    assert bool((noisy.labels[noisy.flipped] != 0).all())  # class 0 has rate 0: nobody goes there


@pytest.mark.parametrize("top", [0.5, 0.9])
def test_one_number_is_a_ramp_over_classes_in_random_order(top):
    noisy = classwise_noise(balanced(), top, classes=10, seed=0)
    ramp = [round(top * i / 9 * 100) / 100 for i in range(10)]
    assert sorted(noisy.rates.tolist()) == pytest.approx(ramp, abs=0.011)
    orders = {
        tuple(classwise_noise(balanced(), top, classes=10, seed=s).rates.tolist()) for s in range(5)
    }
    assert len(orders) == 5


def test_a_class_without_samples_keeps_its_nominal_rate():
    for absent, labels in ((1, [0] * 10 + [2] * 10), (2, [0] * 10 + [1] * 10)):
        noisy = classwise_noise(labels, [0.5, 0.3, 0.2], classes=3, seed=0)
        assert noisy.rates.tolist() == pytest.approx([0.5, 0.3, 0.2])
        shuffled = symmetric_noise(labels, 0.5, classes=3, seed=0).transition
        assert shuffled[:, absent].tolist() == [0.5 * (k == absent) for k in range(3)]


def test_no_rate_is_no_noise():
    none = classwise_noise([0, 1, 1], 0.0, classes=2, seed=0)
    assert (none.labels.tolist(), none.transition.tolist()) == ([0, 1, 1], [[1, 0], [0, 1]])


def test_transition_matrices_by_hand():
    shuffle = transition_matrix(0.3, kind="shuffle", classes=2, prior=[0.8, 0.2])
    assert shuffle.flatten().tolist() == pytest.approx([0.94, 0.06, 0.24, 0.76])
    uniform = transition_matrix(0.4, kind="uniform", classes=4)
    assert uniform[1].tolist() == pytest.approx([0.1, 0.7, 0.1, 0.1])
    excluded = transition_matrix(0.3, kind="uniform", classes=4, exclude_true=True)
    assert excluded[2].tolist() == pytest.approx([0.1, 0.1, 0.7, 0.1])
    classwise = transition_matrix([0.0, 0.2, 0.3], kind="classwise")
    expected = [1, 0, 0, 0, 0.8 + 0.2 * 0.4, 0.2 * 0.6, 0, 0.3 * 0.4, 0.7 + 0.3 * 0.6]
    assert classwise.flatten().tolist() == pytest.approx(expected)
    excluded = transition_matrix([0.1, 0.2, 0.3], kind="classwise", exclude_true=True)
    assert excluded[0].tolist() == pytest.approx([0.9, 0.1 * 0.4, 0.1 * 0.6])
    plain = transition_matrix(0.3, kind="shuffle", classes=3)
    assert torch.equal(plain, transition_matrix(0.3, kind="uniform", classes=3))
    assert plain.dtype == torch.float64
    sure = transition_matrix(0.5, kind="shuffle", classes=2, prior=[1.0, 0.0])
    assert sure.flatten().tolist() == [1, 0, 0.5, 0.5]


def test_noise_uses_the_exact_share_in_its_matrix():
    noisy = symmetric_noise([0, 1, 0, 1, 0, 1, 1], 0.3, classes=2, seed=0)  # 2 of 7
    assert noisy.transition[0, 1].item() == pytest.approx(2 / 7 * 4 / 7)
    assert noisy.transition[1, 0].item() == pytest.approx(2 / 7 * 3 / 7)
    noisy = classwise_noise([0, 1, 0, 1, 0, 1, 1], [0.3, 0.6], classes=2, seed=0)  # 1/3, 2/4
    assert noisy.transition[0, 1].item() == pytest.approx(1 / 3 * 2 / 3)
