"""Another prior: the exact posterior under it, and the same by logits."""

import pytest
import torch

from calibkit import recalibration
from calibkit.lab import data
from tests.recalibration.samples import scored

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


def test_a_class_that_does_not_occur_any_more_has_probability_zero():
    changed = recalibration.change_prior([[0.5, 0.25, 0.25]], old=[1 / 3] * 3, new=[0.5, 0.5, 0])
    assert changed[0].tolist() == pytest.approx([2 / 3, 1 / 3, 0])
