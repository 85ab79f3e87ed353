import math

import pytest

from calibkit import metrics
from tests.metrics import reference

CASES = reference.cases()


def loop(probs, labels, term):
    rows = zip(probs.tolist(), labels.tolist(), strict=True)
    return math.fsum(term(row, label) for row, label in rows) / len(labels)


@pytest.mark.parametrize("name", CASES)
def test_against_loops(name):
    probs, labels = CASES[name]
    expected = loop(probs, labels, lambda p, y: -math.log(p[y]) if p[y] else math.inf)
    assert metrics.nll(probs, labels) == pytest.approx(expected, abs=1e-12)
    expected = loop(probs, labels, lambda p, y: sum((q - (k == y)) ** 2 for k, q in enumerate(p)))
    assert metrics.brier(probs, labels) == pytest.approx(expected, abs=1e-12)
    assert type(metrics.nll(probs, labels)) is type(metrics.brier(probs, labels)) is float
