"""Batches add up to one call on all rows, in any order."""

import pytest
import torch

from calibkit import metrics
from tests.metrics import reference

ONE_CALL = {
    "ece": metrics.ece,
    "mce": metrics.mce,
    "overconfidence_error": metrics.overconfidence_error,
    "signed_gap": metrics.signed_gap,
    "accuracy": metrics.accuracy,
    "classwise_ece": metrics.classwise_ece,
    "nll": metrics.nll,
    "brier": metrics.brier,
}
BINNED = ("ece", "mce", "overconfidence_error", "classwise_ece")


def batches(probs, labels, size, weights=None):
    parts = [probs.split(size), labels.split(size)]
    parts += [] if weights is None else [weights.split(size)]
    return list(zip(*parts, strict=True))


def tallies(rows, **options):
    return [metrics.tally(p, y, weights=w[0] if w else None, **options) for p, y, *w in rows]


@pytest.mark.parametrize("bins", [1, 15])
@pytest.mark.parametrize("size", [1, 7, 100])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_batches_add_up_to_one_call(bins, size, weighted):
    probs, labels = reference.problem(100)
    probs[:9] = torch.tensor([0.6, 0.2, 0.1, 0.1]).double()  # on an edge
    weights = torch.rand(100, dtype=torch.float64) if weighted else None
    found = sum(tallies(batches(probs, labels, size, weights), bins=bins)).measures()
    assert found.pop("samples") == pytest.approx(100 if weights is None else weights.sum().item())
    confidence = found.pop("confidence") - found["accuracy"]
    assert confidence == pytest.approx(found["signed_gap"], abs=1e-12)
    assert set(found) == set(ONE_CALL)
    for name, value in found.items():
        options = {"bins": bins} if name in BINNED else {}
        whole = ONE_CALL[name](probs, labels, weights=weights, **options)
        assert value == pytest.approx(whole, abs=1e-12), name


def test_other_bins_or_classes_are_refused():
    one = metrics.tally([[0.9, 0.1]], [0])
    with pytest.raises(
        ValueError, match=r"^tallies must have the same bins and classes.*\(15, 2\)"
    ):
        one + metrics.tally([[0.9, 0.1]], [0], bins=10)
    with pytest.raises(ValueError, match=r"^tallies must .*\(15, 3\)"):
        one + metrics.tally([[0.9, 0.1, 0.0]], [0])
    with pytest.raises(TypeError):
        1 + one
