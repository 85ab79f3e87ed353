import numpy as np
import pytest
import torch
from scipy import ndimage

from calibkit.corruptions import separable as S

PADS = {"nearest": "edge", "mirror": "reflect", "reflect": "symmetric"}


@pytest.mark.parametrize("border", PADS)
@pytest.mark.parametrize("size", [1, 2, 5, 8])
def test_border_index_is_numpy_padding(border, size):
    folded = S.border_index(np.arange(-7, size + 7), size, border)
    np.testing.assert_array_equal(folded, np.pad(np.arange(size), 7, mode=PADS[border]))


@pytest.mark.parametrize("border", PADS)
def test_filter_matrix_is_scipy_correlation(border):
    rng = np.random.default_rng(0)
    taps, line = rng.normal(size=7), rng.normal(size=11)
    expected = ndimage.correlate1d(line, taps, mode=border)
    np.testing.assert_allclose(S.filter_matrix(taps, 11, border) @ line, expected, atol=1e-12)


@pytest.mark.parametrize("sigma", [0.05, 0.4, 0.6275, 1, 6])
@pytest.mark.parametrize(("truncate", "border"), [(4.0, "nearest"), (3.0, "reflect")])
def test_gaussian_matrix_is_scipy_filter(sigma, truncate, border):
    line = np.random.default_rng(0).normal(size=32)
    expected = ndimage.gaussian_filter1d(line, sigma, truncate=truncate, mode=border)
    ours = S.gaussian_matrix(32, sigma, truncate, border).numpy() @ line
    np.testing.assert_allclose(ours, expected, atol=1e-6)


@pytest.mark.parametrize("factor", [1.0, 1.01, 1.25, 2, 3, 4.5])
def test_zoom_matrix_is_scipy_zoom_of_the_middle(factor):
    line = np.random.default_rng(0).normal(size=32)
    crop = int(np.ceil(32 / factor))
    top = (32 - crop) // 2
    zoomed = ndimage.zoom(line[top : top + crop], factor, order=1)
    trim = (len(zoomed) - 32) // 2
    ours = S.zoom_matrix(32, factor).numpy() @ line
    np.testing.assert_allclose(ours, zoomed[trim : trim + 32], atol=1e-7)


def test_box_matrix_by_hand():
    line = torch.tensor([0.0, 1, 2, 3, 10], dtype=torch.float64)
    # 2 boxes of 2.5 samples: centres 0.5, 1.5 lie in the first; 2.5 is on the edge and goes left
    expected = torch.tensor([1.0, 1, 6.5, 6.5, 6.5], dtype=torch.float64)
    assert torch.allclose(S.box_matrix(5, 2) @ line, expected)


def test_separable_sum_is_a_sum_of_products():
    torch.manual_seed(0)
    x, rows, cols = torch.rand(2, 3, 4, 5), torch.rand(3, 6, 4), torch.rand(3, 7, 5)
    expected = torch.einsum("khi,ncij,kwj->nchw", rows, x, cols)
    assert torch.allclose(S.separable_sum(x, rows, cols), expected, atol=1e-5)
    one = torch.einsum("hi,ncij,wj->nchw", rows[0], x, cols[0])
    assert torch.allclose(S.separable(x, rows[0], cols[0]), one, atol=1e-5)
