import importlib

import pytest
import torch

from calibkit import metrics
from tests.metrics import reference

module = importlib.import_module("calibkit.metrics.classwise")
CASES = reference.cases()


@pytest.mark.parametrize("name", CASES)
def test_against_a_loop(name, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 500)
    probs, labels = CASES[name]
    for bins in (1, 4, 15):
        expected = reference.classwise_loop(probs, labels, bins)
        found = metrics.classwise_ece(probs, labels, bins=bins)
        assert type(found) is float
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("bins", [1, 3, 7, 10, 15, 49])
def test_entries_on_and_beside_the_first_edge(bins, dtype):
    edge = torch.tensor(1 / bins, dtype=dtype)
    half = edge / 2
    values = [v for e in (edge, half) for v in (e, e.nextafter(e * 2), e.nextafter(e * 0))]
    first = torch.stack(values).clamp(max=1)
    probs = torch.stack([first, 1 - first], 1)
    counts, _, _ = module.class_tally(probs, torch.zeros(6, dtype=torch.long), bins)
    for k in (0, 1):
        content = reference.bins_loop(probs[:, k].tolist(), [0] * 6, bins)
        assert counts[:, k].tolist() == [len(p) for p, _ in content]


def test_negative_zero_is_a_probability():
    probs = torch.tensor([[1.0, -0.0, 0.0], [0.5, 0.5, -0.0]])
    assert metrics.classwise_ece(probs, [0, 1]) == pytest.approx(
        reference.classwise_loop(probs, torch.tensor([0, 1]))
    )
