import pytest
import torch

from calibkit.metrics import bins as b
from tests.metrics import reference


@pytest.mark.parametrize("bins", [1, 2, 6, 10, 15, 29, 49, 100])
@pytest.mark.parametrize("closed", ["right", "left"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
def test_values_on_and_beside_every_edge(bins, closed, dtype):
    edge = b.width_edges(bins).to(dtype)
    values = torch.cat([edge, edge.nextafter(edge + 1), edge.nextafter(edge - 1)]).clamp(0, 1)
    edges = [i / bins for i in range(bins + 1)]
    expected = [reference.bin_loop(v, edges, closed) for v in values.tolist()]
    assert b.bin_index(values, b.width_edges(bins), closed).tolist() == expected


@pytest.mark.parametrize("bins", [1, 4, 15, 500])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
def test_edges_of_equal_mass_keep_ties_together(bins, dtype):
    torch.manual_seed(1)
    values = (torch.rand(300) * 40).round().div(41).to(dtype)  # many ties, 0 among them
    edges = b.edges_of(values, bins, "mass")
    assert edges.dtype == torch.float64
    assert edges.tolist() == reference.edges_loop(values.tolist(), bins, "mass")
    assert torch.equal(b.edges_of(values[torch.randperm(300)], bins, "mass"), edges)
    if 300 % bins == 0:  # weights that are no whole numbers, and whose sums are rounded
        tenths = torch.full((300,), 0.1, dtype=torch.float64)
        assert torch.equal(b.edges_of(values, bins, "mass", tenths), edges)
    index = b.bin_index(values, edges)
    for value in values.unique():
        assert len(index[values == value].unique()) == 1
