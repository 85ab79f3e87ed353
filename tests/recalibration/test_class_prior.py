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
