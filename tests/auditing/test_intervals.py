"""Intervals cover, hold their own value and stay in their range, or are left out."""

import math
import re

import numpy as np
import pytest
import torch
from scipy.stats import bootstrap

import calibkit
from calibkit import metrics
from calibkit.auditing import intervals
from calibkit.auditing.measures import area_under_risk
from calibkit.auditing.units import units_of
from tests.auditing import coverage
from tests.auditing.test_audit import drawn


@pytest.mark.parametrize(("n", "classes", "seed"), [(250, 2, 0), (1500, 2, 1), (250, 5, 2),
                                                    (1500, 10, 3)])  # fmt: skip
def test_an_interval_holds_its_value_and_stays_in_its_range(n, classes, seed):
    z, labels = drawn(n, classes, truth=0.7 + 0.1 * (seed % 4), seed=seed)
    found = calibkit.audit(z, labels, seed=seed)
    for name, each in [*found.measures.items(), *found.cooled.items()]:
        if each.known:
            assert each.low <= each.value <= each.high, name
            assert each.low >= (-1 if name == "gap" else 0), name
            assert each.high <= {"nll": math.inf, "brier": 2}.get(name, 1), name
    for name, change in found.gain.items():
        if change.known:
            assert change.low <= change.value <= change.high, name
    assert found.cooling.low <= found.cooling.value <= found.cooling.high


def test_what_always_has_an_interval_has_one_and_the_others_say_why_not():
    z, labels = drawn(300, 3, truth=0.6)
    found = calibkit.audit(z, labels)
    for name in ("accuracy", "confidence", "gap", "nll", "brier"):
        assert found.measures[name].known, name
        assert found.gain[name].known, name
    for name in ("mce", "smooth_ece"):
        assert not found.measures[name].known, name
        assert not found.measures[name].clear
    page = found.html()
    assert re.search(
        r"Smooth ECE, MCE(, [^<]*)? have none|smooth ECE, MCE(, [^<]*)? have none", page
    )
    assert "no interval that we tried covers it as often as it says" in page
    assert "nan" not in re.sub("<style>.*?</style>", "", page, flags=re.DOTALL).lower()


# --- against others ---


def test_a_mean_has_nearly_the_interval_of_the_bca_bootstrap():
    values = np.random.default_rng(0).exponential(size=200)
    own = intervals.of_mean(units_of(200), torch.from_numpy(values), 0.9)
    bca = bootstrap((values,), np.mean, confidence_level=0.9, rng=1).confidence_interval
    assert own == pytest.approx(tuple(bca), abs=0.02)


def test_the_spread_of_bins_is_that_of_resamples():
    z, labels = drawn(800, 3, truth=0.6)
    rows = calibkit.audit(z, labels).rows
    index = (rows.confidence * 5).long().clamp(max=4)
    gap = rows.confidence - rows.correct.double()
    random = np.random.default_rng(0)
    spread = intervals.spread_of(units_of(800), [(gap, index)], 5, random, 10)
    drawn_sums = []
    for _ in range(4000):
        chosen = torch.from_numpy(random.integers(800, size=800))
        drawn_sums.append(torch.bincount(index[chosen], gap[chosen], 5) / 800)
    covariance = np.cov(np.array([part.numpy() for part in drawn_sums]).T)
    own = spread.root.T @ spread.root
    assert own == pytest.approx(covariance, abs=0.1 * np.abs(covariance).max())


def test_a_row_moves_the_aurc_by_its_influence():
    random = np.random.default_rng(0)
    confidence = torch.from_numpy(random.random(400))
    correct = torch.from_numpy(random.random(400)) < confidence
    ones = torch.ones(400).double()
    area, influence = area_under_risk(confidence, correct, ones)
    assert area == pytest.approx(float(metrics.risk_coverage_of(confidence, correct)[1].mean()))
    for row in (3, 77, 250):
        more = ones.clone()
        more[row] += 1e-4
        moved = (area_under_risk(confidence, correct, more)[0] - area) / 1e-4 * 400
        assert float(influence[row]) == pytest.approx(moved, abs=0.05)


# --- the table ---


def test_only_what_covers_is_printed():
    assert intervals.covers("ece", 5, 200, 0.95)
    assert not intervals.covers("ece", 5, 199, 0.95)
    assert not intervals.covers("ece", 5, 200, 0.9)
    assert not intervals.covers("mce", 5, 20_000, 0.95)
    assert intervals.covers("classwise_ece", 2, 500, 0.95)
    assert not intervals.covers("classwise_ece", 3, 500, 0.95)


def printed(found):
    """The intervals of an audit by the names of `coverage.truths`."""
    known = found.measures | {f"{name} paired": each for name, each in found.difference.items()}
    if found.binary is not None:
        event = found.binary
        known |= {"event_ece": event.ece, "event_gap": event.gap, "auc": event.auc}
    ends = {name: (each.low, each.high) for name, each in known.items() if each.known}
    return ends | {"temperature": (found.cooling.low, found.cooling.high)}


@pytest.mark.slow
@pytest.mark.parametrize("kind", coverage.CLASSES)
def test_every_interval_that_is_printed_covers_in_a_simulation(kind):
    classes, spread = coverage.CLASSES[kind]
    for error in (0.0, 0.04, -0.08):
        of = coverage.population(classes, spread, error, rows=50_000)
        known = coverage.truths(of)
        for n in (200, 1000):
            held = {}
            for seed in range(60):
                row, labels = coverage.sample(of, n, seed)
                found = calibkit.audit(of.logits[row], labels, other=of.other[row], seed=seed)
                for name, (low, high) in printed(found).items():
                    if name in known:
                        covered = low - 1e-12 <= known[name] <= high + 1e-12
                        held.setdefault(name, []).append(covered)
            for name, covered in held.items():
                least = 0.9 - 3 * (0.95 * 0.05 / len(covered)) ** 0.5
                assert np.mean(covered) >= least, (name, error, n)
