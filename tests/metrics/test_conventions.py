"""Golden cases: they tell conventions apart, our measures answer them, mutants are placed."""

import itertools
import math
from functools import partial

import numpy as np
import pytest
import torch

from calibkit import metrics
from calibkit.metrics import conventions
from calibkit.metrics.conventions import follows
from tests.metrics import golden


def event(measure, **options):
    """A measure of the second class's probability in the place of the predicted one's."""
    return lambda p, y, bins: measure(metrics.TopLabel(p[:, 1], y == 1), bins=bins, **options)


OURS = {
    "ECE, (lo, hi]": metrics.ece,
    "ECE, [lo, hi)": partial(metrics.ece, closed="left"),
    "ECE l2, (lo, hi]": partial(metrics.ece, norm="l2"),
    "ECE l2, [lo, hi)": partial(metrics.ece, norm="l2", closed="left"),
    "MCE, (lo, hi]": metrics.mce,
    "MCE, [lo, hi)": partial(metrics.mce, closed="left"),
    "equal mass, ties kept": metrics.ada_ece,
    "equal mass l2, ties kept": partial(metrics.ece, norm="l2", binning="mass"),
    "equal mass, largest gap": partial(metrics.ece, norm="max", binning="mass"),
    "debiased l2, equal mass": metrics.debiased_ece,
    "debiased l2, (lo, hi]": partial(metrics.debiased_ece, binning="width"),
    "smooth ECE": lambda p, y, bins: metrics.smooth_ece(p, y),
    "classwise, (lo, hi]": metrics.classwise_ece,
    "event, (lo, hi]": event(metrics.ece),
    "event, [lo, hi)": event(metrics.ece, closed="left"),
    "event, equal mass, ties kept": event(metrics.ada_ece),
    "Brier, sum over classes": lambda p, y, bins: metrics.brier(p, y),
    "log loss": lambda p, y, bins: metrics.nll(p, y),
}


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("bins", conventions.BINS)
def test_our_measures_give_the_exact_answers(name, bins):
    found = follows(lambda probs, labels: OURS[name](probs, labels, bins=bins), bins=bins)
    assert name in found.names, str(found)
    assert not found.failures
    assert not found.order


@pytest.mark.slow  # 10 s; what the file says is asked of our measures above
def test_the_file_is_what_its_author_writes():
    assert conventions.CASES.read_text(encoding="utf-8") == golden.text()


def test_any_two_conventions_are_told_apart():
    for one, other in itertools.combinations(conventions.conventions(), 2):
        apart = [
            case["name"]
            for case in conventions.golden_cases()
            for answers in case["answers"].values()
            if answers[one] != answers[other] and not abs(answers[one] - answers[other]) < 1e-3
        ]
        assert apart, (one, other)


def ece(p, y, *, bins=15, edges=None, right=True, norm=1, predict=np.argmax, lose=()):
    """An ECE as one writes it, with places where one goes wrong."""
    p = p.astype(float)
    best = np.array([predict(row) for row in p])
    c, hit = p[np.arange(len(p)), best], best == y
    inner = np.arange(1, bins) / bins if edges is None else edges(c, bins)
    where = np.digitize(c, inner, right=right)
    total = 0.0
    for b in set(where) - set(lose):
        mine = where == b
        total += mine.mean() * abs(c[mine].mean() - hit[mine].mean()) ** norm
    return total ** (1 / norm)


def middle(p, y):
    """The middle of a bin in the place of its mean confidence."""
    return ece((np.ceil(p * 15) - 0.5).clip(0.5) / 15, y)


def second(row):
    return 1


def quantiles(c, bins):
    return np.quantile(c, np.arange(1, bins) / bins)


def linspace(c, bins):
    return np.linspace(0, 1, bins + 1)[1:-1]


def between_ends(c, bins):
    return np.linspace(c.min(), c.max(), bins + 1)[1:-1]


def last(row):
    return len(row) - 1 - row[::-1].argmax()


MUTANTS = {  # how an ECE is written, and the convention that it follows; None for none
    "plain": (ece, "ECE, (lo, hi]"),
    "left": (partial(ece, right=False), "ECE, [lo, hi)"),
    "l2": (partial(ece, norm=2), "ECE l2, (lo, hi]"),
    "l2, left": (partial(ece, norm=2, right=False), "ECE l2, [lo, hi)"),
    "squares without a root": (lambda p, y: ece(p, y, norm=2) ** 2, None),
    "per cent": (lambda p, y: 100 * ece(p, y), None),
    "mean over bins": (lambda p, y: ece(p, y) / 15, None),
    "14 bins": (partial(ece, bins=14, edges=linspace), "ECE, (lo, hi], one bin fewer"),
    "first bin lost": (partial(ece, lose=[0]), None),
    "last bin lost": (partial(ece, lose=[14]), None),
    "last of equal classes": (partial(ece, predict=last), "ECE, last of equal classes predicted"),
    "least likely class": (partial(ece, predict=np.argmin), None),
    "always class 1": (partial(ece, predict=second), "event, (lo, hi]"),
    "always class 1, left": (partial(ece, predict=second, right=False), "event, [lo, hi)"),
    "float32 edges": (partial(ece, edges=golden.float32), "ECE, (lo, hi], edges in float32"),
    "quantiles": (partial(ece, edges=quantiles), "equal mass, quantiles, (lo, hi]"),
    "quantiles, left": (
        partial(ece, edges=quantiles, right=False),
        "equal mass, quantiles, [lo, hi)",
    ),
    "edges between the least and the largest": (partial(ece, edges=between_ends), None),
    "middle of the bin": (middle, None),
    "signed": (lambda p, y: p.max(1).mean() - (p.argmax(1) == y).mean(), None),
    "rounded to two digits": (lambda p, y: ece(p.astype(float).round(2), y), None),
    "labels shifted": (lambda p, y: ece(p, (y + 1) % p.shape[1]), None),
    "brier by torch": (
        lambda p, y: ((torch.tensor(p) - torch.eye(p.shape[1])[y]) ** 2).sum(1).mean(),
        "Brier, sum over classes",
    ),
    "log loss of scikit-learn's kind": (
        lambda p, y: -np.log(p[np.arange(len(y)), y].clip(np.finfo(float).eps)).mean(),
        "log loss, clipped at float64's eps",
    ),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_placed(name):
    mutant, expected = MUTANTS[name]
    found = follows(mutant)
    assert (expected in found.names) if expected else not found.names, str(found)


def test_what_is_printed_of_a_measure_that_fails_or_looks_at_the_order():
    def fussy(probs, labels):
        if len(probs) < 15:
            raise ValueError("too few rows\nfor so many bins")
        return metrics.ece(probs, labels) + (probs[0].argmax() != labels[0]) / 10

    found = follows(fussy)
    assert str(found).count("too few rows") == 1
    assert "for so many bins" not in str(found)
    assert "few" in found.failures
    assert "depends on the order of the rows: " in str(found)
    seven, none = follows(lambda p, y: 7.0), follows(lambda p, y: 1 / 0)
    assert math.isnan(seven.departures["few"][1])
    assert "nearest" not in str(seven)
    assert (none.names, none.answered) == ((), 0)
    assert follows(lambda p, y: ece(p, y, bins=10, lose=[4])).bins == 10  # the nearer of the two


@pytest.mark.parametrize("bins", conventions.BINS[:1])
def test_every_lost_bin_is_noticed_and_what_is_nearest_is_said(bins):
    for place in range(bins):
        found = follows(lambda p, y, b=place: ece(p, y, bins=bins, lose=[b]), bins=bins)
        assert not found.names, place
        assert "low" in found.departures
        assert f"nearest {found.nearest}, on " in str(found)
        value, other = found.departures["low"]
        assert f"low: {value:.6f}, not {other:.6f}" in str(found)
