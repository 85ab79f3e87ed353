"""The embedded digits and their exact posterior."""

import math

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal

from calibkit import metrics
from calibkit.lab import data
from calibkit.lab.data.handwriting import all_digits
from tests import refusals


def test_the_splits_of_digits_share_no_image_and_lose_none():
    splits = data.digits(seed=3)
    rows = torch.cat([split.inputs.flatten(1) for split in splits])
    assert len(rows) == 1797
    everything = {row.numpy().tobytes() for row in all_digits()[0].flatten(1)}
    assert {row.numpy().tobytes() for row in rows} == everything
    assert len(everything) == 1797  # scikit-learn's digits are all different


def test_the_posterior_equals_bayes_rule_on_the_densities_under_any_prior():
    mixture, prior = data.NoisyDigits(noise=0.4), np.arange(1, 11) / 55
    drawn = mixture.draw(2, seed=0)
    digits, labels = (part.numpy() for part in all_digits())
    found = mixture.posterior(drawn.inputs, prior=prior)
    for image, own, other in zip(drawn.inputs, drawn.posterior, found, strict=True):
        density = np.array(
            [
                multivariate_normal.logpdf(image.flatten().numpy(), digit, 0.16)
                for digit in digits.reshape(len(digits), -1)
            ]
        )
        weights = np.exp(density - density.max())
        total = np.array([weights[labels == k].sum() for k in range(10)])
        shifted = total / np.bincount(labels) * prior
        np.testing.assert_allclose(own, total / total.sum(), atol=1e-6)
        np.testing.assert_allclose(other, shifted / shifted.sum(), atol=1e-6)


def test_the_posterior_is_calibrated_and_its_mean_is_the_bayes_accuracy():
    drawn = data.NoisyDigits(noise=0.5).draw(5_000, seed=1)
    hits = (drawn.posterior.argmax(dim=1) == drawn.labels).double()
    claimed = drawn.posterior.amax(dim=1)
    error = math.sqrt(float((claimed * (1 - claimed)).mean()) / len(drawn))
    assert abs(float(hits.mean() - claimed.mean())) < 4 * error
    assert metrics.true_calibration_error(drawn.posterior, drawn.posterior) == 0


@pytest.mark.parametrize("made", [data.noisy_digits, data.clusters, data.notes])
def test_splits_are_seeded_and_differ_from_one_another(made):
    one, again, next_ = (made(50, seed=s, test=50, calibration=50) for s in (0, 0, 1))
    assert torch.equal(one.test.inputs, again.test.inputs)
    different = [one.train, one.calibration, one.test, next_.train, next_.test]
    rows = {d.inputs.numpy().tobytes() for d in different}
    assert len(rows) == len(different)


test_wrong_arguments_are_refused_by_name = refusals.table("""
    data.noisy_digits(0) -> ValueError: ...n must
    data.noisy_digits(10, noise=0.0) -> ValueError: ...noise
    data.noisy_digits(10, noise=math.inf) -> ValueError: ...noise
    data.noisy_digits(10, test=0) -> ValueError: ...test
    data.digits(test=1797) -> ValueError: ...test
    data.NoisyDigits().posterior(torch.zeros(1, 64)) -> ValueError: ...images
""")
