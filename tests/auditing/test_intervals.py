"""Intervals cover, hold their own value and stay in their range, or are left out."""

import math
import re

import numpy as np
import pytest
import torch

import calibkit
from calibkit import metrics
from calibkit.auditing import intervals
from calibkit.auditing.labels_and_groups import units_of
from calibkit.auditing.measures import NAMES, area_under_risk
from tests.auditing import coverage
from tests.auditing.test_audit import drawn


@pytest.mark.parametrize(("n", "classes"), [(250, 2), (1500, 2), (250, 5), (1500, 10)])
def test_an_interval_holds_its_value_and_stays_in_its_range(n, classes):
    found = calibkit.audit(*drawn(n, classes, truth=0.8, seed=1))
    for name, each in [*found.measures.items(), *found.cooled.items()]:
        if each.known:
            assert each.low <= each.value <= each.high, name
            assert each.low >= (-1 if name == "gap" else 0), name
            assert each.high <= {"nll": math.inf, "brier": 2}.get(name, 1), name


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


def test_a_page_has_one_level():
    z, labels = drawn(1200, 3, truth=0.6)
    for level, words, other in ((0.9, "90", "95"), (0.95, "95", "90")):
        page = calibkit.audit(z, labels, level=level, groups=["a", "b"] * 600).html()
        page = page.replace("\N{NO-BREAK SPACE}", " ")
        assert f"{words} % interval" in page
        assert not re.search(rf"\b{other} %\)? intervals?\b", page)
        assert f"Below each gap stands its {words} % interval" in page


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


def test_only_what_covers_is_printed():
    assert intervals.covers("ece", 5, 200, 0.95)
    assert not intervals.covers("ece", 5, 199, 0.95)
    assert not intervals.covers("ece", 5, 200, 0.9)
    assert not intervals.covers("mce", 5, 20_000, 0.95)
    assert not intervals.covers("classwise_ece", 2, 20_000, 0.95)


def test_a_level_outside_the_table_leaves_the_means():
    z, labels = drawn(1200, 3, truth=0.6)
    found = calibkit.audit(z, labels, level=0.8).measures
    known = {name for name in NAMES if found[name].known}
    assert known == {"accuracy", "confidence", "gap", "nll", "brier"}


def test_the_population_has_the_error_that_it_was_asked_for():
    of = coverage.population(2, 1.5, 0.04, rows=20_000)
    known = coverage.truths(of)
    assert known["ece"] == pytest.approx(0.04, abs=1e-4)
    assert known["gap"] == pytest.approx(known["confidence"] - known["accuracy"], abs=1e-12)
    assert known["temperature"] > 1
    own = metrics.true_calibration_error(of.logits.softmax(1), of.posterior, bins=15)
    assert known["ece"] == pytest.approx(own, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("kind", coverage.CLASSES)
def test_every_interval_that_is_printed_covers_in_a_simulation(kind):
    classes, spread = coverage.CLASSES[kind]
    for error in (0.0, 0.04, -0.08):
        of = coverage.population(classes, spread, error, rows=50_000)
        for n in (200, 1000):
            for name, hits in coverage.counted(of, n, range(60)).items():
                measure, _, paired = name.partition(" ")
                if intervals.covers(measure, classes, n, 0.95, paired=bool(paired)):
                    least = 0.95 - 0.05 - 3 * (0.95 * 0.05 / 60) ** 0.5
                    assert np.mean(hits) >= least, (name, error, n)


def test_an_interval_of_a_mean_holds_the_mean_though_one_row_is_all_of_it():
    values = torch.eye(100, dtype=torch.float64)[0]
    low, high = intervals.of_mean(units_of(100), values, 0.999)
    assert low <= values.mean() + 1e-12 <= high
