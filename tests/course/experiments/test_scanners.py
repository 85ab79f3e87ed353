"""Images of three scanners, networks that read them, and what their sets cover."""

import math

import numpy as np
import pytest
import torch

from calibkit import conformal
from calibkit.course.experiments import scanners
from calibkit.course.scale import budget
from calibkit.lab import data

SMOKE = budget("smoke")


def reader(n=3000, seed=5):
    """The test images of an exact reader who is made a little too sure."""
    drawn, scanner = scanners.scans(n, seed)
    return (drawn.posterior.clamp(min=1e-12).log() * 1.5).softmax(dim=1), drawn, scanner


def test_each_image_has_the_posterior_of_its_own_scanner():
    drawn, scanner = scanners.scans(200, 3)
    for k, noise in enumerate(scanners.SCANNERS.values()):
        own = drawn[scanner == k]
        expected = data.NoisyDigits(noise).posterior(own.inputs)
        torch.testing.assert_close(own.posterior, expected)
    surest = [drawn.posterior[scanner == k].amax(dim=1).mean() for k in range(3)]
    assert surest == sorted(surest, reverse=True)


def test_no_two_parts_and_no_two_seeds_share_an_image():
    parts = [scanners.part(SMOKE, name, seed).data for name in scanners.PARTS for seed in (0, 1)]
    pixels = torch.cat([one.inputs.flatten(1) for one in parts])
    assert len(pixels.unique(dim=0)) == len(pixels)


def test_mean_size_and_coverage_are_those_of_the_sets():
    probs, drawn, scanner = reader()
    groups = {"old": scanner == 2}
    found = scanners.averaged(probs, drawn.posterior, groups, draws=4, seed=2)
    limits = scanners.thresholds(probs, drawn.posterior, scanners.CAL, 0.1, 4, 2)
    sets = [1 - probs <= limit for limit in limits]
    inside = [conformal.exact_coverage(one, drawn.posterior) for one in sets]
    assert found["size"] == pytest.approx(np.mean([s.double().sum(1).mean() for s in sets]))
    assert found["all"] == pytest.approx(np.mean([mass.mean() for mass in inside]))
    assert found["old"] == pytest.approx(np.mean([mass[scanner == 2].mean() for mass in inside]))


def test_coverage_on_one_scanner_is_that_of_a_loop():
    parts = {name: scanners.part(SMOKE, name, 0) for name in ("cal", "test")}
    probs = {
        name: (one.data.posterior.clamp(min=1e-12).log() * 0.7).softmax(dim=1)
        for name, one in parts.items()
    }
    cal, test = parts["cal"], parts["test"]
    scores = 1 - probs["cal"][range(len(cal.data)), cal.data.labels]
    expected = []
    for own in (scores, scores[cal.scanner == 2]):
        limit = sorted(own.tolist())[math.ceil((len(own) + 1) * 0.9) - 1]
        inside = conformal.exact_coverage(1 - probs["test"] <= limit, test.data.posterior)
        expected.append(inside[test.scanner == 2].mean().item())
    assert scanners.on_scanner(probs, SMOKE, 0, scanner=2) == pytest.approx(expected)


def test_images_are_easy_medium_or_hard():
    best = torch.tensor([0.95, 0.94, 0.6, 0.59, 1.0])
    found = scanners.difficulty(torch.stack([1 - best, best], dim=1))
    places = {name: mask.nonzero()[:, 0].tolist() for name, mask in found.items()}
    assert places == {"easy": [0, 4], "medium": [1, 2], "hard": [3]}
