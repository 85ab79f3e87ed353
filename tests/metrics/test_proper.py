import numpy as np
import pytest

from calibkit import metrics
from tests.metrics import reference

CASES = reference.cases()


def parts_loop(probs, labels, bins):
    """Every term of the decomposition from its definition."""
    n, classes = probs.shape
    edges = [i / bins for i in range(bins + 1)]
    calibration = refinement = within = 0.0
    for k in range(classes):
        groups = {}
        for p, y in zip(probs[:, k].tolist(), (labels == k).int().tolist(), strict=True):
            groups.setdefault(reference.bin_loop(p, edges, "right"), []).append((p, y))
        for group in groups.values():
            p, y = np.array(group).T
            c, a = p.mean(), y.mean()
            calibration += len(p) * (c - a) ** 2 / n
            refinement += len(p) * a * (1 - a) / n
            within += ((p - c) ** 2 - 2 * (p - c) * (y - a)).sum() / n
    return calibration, refinement, within


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("bins", [1, 5, 15])
def test_decomposition_against_its_definition(name, bins):
    probs, labels = CASES[name]
    parts = metrics.brier_decomposition(probs, labels, bins=bins)
    assert parts == pytest.approx(parts_loop(probs, labels, bins), abs=1e-12)
    assert sum(parts) == pytest.approx(metrics.brier(probs, labels), abs=1e-12)
    assert all(type(part) is float for part in parts)
