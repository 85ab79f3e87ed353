"""The embedded digits and their exact posterior."""

import math
import sys

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal

from calibkit import curation, metrics
from calibkit.lab import data
from calibkit.lab.data.handwriting import all_digits


def test_the_splits_of_digits_share_no_image_and_lose_none():
    splits = data.digits(seed=3)
    rows = torch.cat([split.inputs.flatten(1) for split in splits])
    assert len(rows) == 1797
    everything = {row.numpy().tobytes() for row in all_digits()[0].flatten(1)}
    assert {row.numpy().tobytes() for row in rows} == everything
    assert len(everything) == 1797  # scikit-learn's digits are all different


def test_digits_are_seeded_and_in_the_unit_range():
    one, again, other = data.digits(seed=1), data.digits(seed=1), data.digits(seed=2)
    assert torch.equal(one.train.inputs, again.train.inputs)
    assert not torch.equal(one.train.inputs, other.train.inputs)
    assert 0 == one.train.inputs.min() < one.train.inputs.max() == 1


def test_posterior_equals_bayes_rule_on_the_densities():
    mixture = data.NoisyDigits(noise=0.4)
    drawn = mixture.draw(5, seed=0)
    digits, labels = all_digits()
    for image, posterior in zip(drawn.inputs, drawn.posterior, strict=True):
        density = np.array(
            [
                multivariate_normal.logpdf(image.flatten().numpy(), digit.numpy(), 0.16)
                for digit in digits.flatten(1)
            ]
        )
        weights = np.exp(density - density.max())
        by_class = np.array([weights[labels.numpy() == k].sum() for k in range(10)])
        np.testing.assert_allclose(posterior.numpy(), by_class / by_class.sum(), atol=1e-6)


def test_the_posterior_under_another_prior_equals_bayes_rule_on_the_densities():
    mixture, prior = data.NoisyDigits(noise=0.4), np.arange(1, 11) / 55
    images = mixture.draw(5, seed=0).inputs
    digits, labels = all_digits()
    found = mixture.posterior(images, prior=prior)
    for image, posterior in zip(images, found, strict=True):
        density = np.array(
            [
                multivariate_normal.logpdf(image.flatten().numpy(), digit.numpy(), 0.16)
                for digit in digits.flatten(1)
            ]
        )
        weights = np.exp(density - density.max())
        of_class = np.array([weights[labels.numpy() == k].mean() for k in range(10)])
        expected = of_class * prior / (of_class * prior).sum()
        np.testing.assert_allclose(posterior.numpy(), expected, atol=1e-6)


def test_the_posterior_under_an_imbalanced_prior_is_calibrated_there_and_not_here():
    """Images drawn with other class shares agree with the posterior of that prior alone."""
    mixture = data.NoisyDigits(noise=0.6)
    drawn = mixture.draw(40_000, seed=1)
    kept = curation.imbalance(drawn.labels, 20, seed=0)
    seen, prior = drawn[kept.indices], kept.counts / kept.counts.sum()
    z = {}
    for name, posterior in {
        "right": mixture.posterior(seen.inputs, prior=prior),
        "wrong": mixture.posterior(seen.inputs),
    }.items():
        error = (posterior * (1 - posterior)).sum(dim=0).sqrt()
        counts = seen.labels.bincount(minlength=10)
        z[name] = ((counts - posterior.sum(dim=0)) / error).abs().max()
    assert z["right"] < 4.5
    assert z["wrong"] > 10


def test_the_digits_own_prior_changes_nothing():
    mixture = data.NoisyDigits(noise=0.4)
    drawn = mixture.draw(50, seed=0)
    counts = all_digits()[1].bincount()
    assert torch.equal(mixture.prior, counts.double() / 1797)
    again = mixture.posterior(drawn.inputs, prior=mixture.prior)
    assert torch.allclose(again, drawn.posterior, atol=1e-12)


@pytest.mark.parametrize("prior", [[0.1] * 9, [0.2] * 10, [-0.1, 0.3] + [0.1] * 8, 0.1])
def test_a_prior_that_is_none_is_refused(prior):
    images = data.NoisyDigits().draw(1, seed=0).inputs
    with pytest.raises(ValueError, match="prior must"):
        data.NoisyDigits().posterior(images, prior=prior)


def test_the_posterior_is_calibrated_and_its_mean_is_the_bayes_accuracy():
    drawn = data.NoisyDigits(noise=0.5).draw(20_000, seed=1)
    hits = (drawn.posterior.argmax(dim=1) == drawn.labels).double()
    claimed = drawn.posterior.amax(dim=1)
    error = math.sqrt(float((claimed * (1 - claimed)).mean()) / len(drawn))
    assert abs(float(hits.mean() - claimed.mean())) < 4 * error
    assert metrics.true_calibration_error(drawn.posterior, drawn.posterior) == 0
    for k in range(10):  # every class's own column as well
        column = drawn.posterior[:, k]
        error = math.sqrt(float((column * (1 - column)).mean()) / len(drawn))
        assert abs(float((drawn.labels == k).double().mean() - column.mean())) < 4.5 * error


def test_bayes_accuracy_falls_with_the_noise():
    accuracy = [data.NoisyDigits(noise).bayes_accuracy(n=4000) for noise in (0.1, 0.4, 0.5, 2.0)]
    assert accuracy == sorted(accuracy, reverse=True)
    assert accuracy[0] > 0.999
    assert accuracy[1] == pytest.approx(0.954, abs=0.01)


def test_the_noise_has_the_stated_deviation():
    drawn = data.NoisyDigits(noise=3.0).draw(4000, seed=0).inputs
    spread = float((drawn.var() - all_digits()[0].var()).sqrt())
    assert spread == pytest.approx(3.0, rel=0.01)


def test_tiny_noise_keeps_the_posterior_a_distribution():
    posterior = data.NoisyDigits(noise=0.05).draw(500, seed=0).posterior
    assert float(posterior.max()) <= 1
    assert float((posterior.sum(dim=1) - 1).abs().max()) < 1e-9


def test_noisy_splits_are_seeded_and_differ_from_one_another():
    one, again, next_ = (data.noisy_digits(50, seed=s, test=50, calibration=50) for s in (0, 0, 1))
    assert torch.equal(one.test.inputs, again.test.inputs)
    different = [one.train, one.calibration, one.test, next_.train, next_.test]
    rows = {d.inputs.numpy().tobytes() for d in different}
    assert len(rows) == len(different)


def test_chunks_do_not_change_the_posterior(monkeypatch):
    mixture = data.NoisyDigits(noise=0.4)
    images = mixture.draw(10, seed=0).inputs
    whole = mixture.posterior(images)
    # the function of the same name hides the module from an attribute path
    monkeypatch.setattr(sys.modules["calibkit.lab.data.digits_in_noise"], "CHUNK", 3)
    assert torch.allclose(mixture.posterior(images), whole, atol=1e-9)


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: data.noisy_digits(0), "n must"),
        (lambda: data.noisy_digits(1.5), "n must"),
        (lambda: data.noisy_digits(10, noise=0.0), "noise"),
        (lambda: data.noisy_digits(10, noise=float("nan")), "noise"),
        (lambda: data.noisy_digits(10, noise="loud"), "noise"),
        (lambda: data.noisy_digits(10, seed=-1), "seed"),
        (lambda: data.noisy_digits(10, test=0), "test"),
        (lambda: data.noisy_digits(10, calibration=-5), "calibration"),
        (lambda: data.digits(test=1797), "test"),
        (lambda: data.digits(calibration=0), "calibration"),
        (lambda: data.digits(seed="x"), "seed"),
        (lambda: data.NoisyDigits().draw(0, seed=0), "n must"),
        (lambda: data.NoisyDigits().posterior(torch.zeros(1, 64)), "images"),
        (lambda: data.NoisyDigits().posterior(torch.zeros(1, 3, 8, 8)), "images"),
        (lambda: data.NoisyDigits().posterior(torch.full((1, 1, 8, 8), torch.nan)), "images"),
        (lambda: data.NoisyDigits().posterior(torch.zeros(1, 1, 8, 8).long()), "images"),
        (lambda: data.NoisyDigits().bayes_accuracy(n=0), "n must"),
    ],
)
def test_wrong_arguments_are_refused_by_name(call, names):
    with pytest.raises((ValueError, TypeError), match=names):
        call()
