import numpy as np
import pytest
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
