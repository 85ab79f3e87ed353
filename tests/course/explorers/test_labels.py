"""Labels beside their images, and the bars of the first of them."""

import numpy as np
import pytest

from calibkit.course.explorers import labels_frame
from calibkit.course.explorers.labels import NOISY
from tests.pictures.reading_svg import picture

POSTERIOR = np.array([0.05, 0, 0, 0.8, 0, 0.1, 0, 0, 0.05, 0])
IMAGES = np.random.default_rng(0).random((3, 8, 8))


@pytest.mark.parametrize("rate", [0.0, 0.3, 1.0])
def test_the_bars_are_the_posterior_of_the_label(rate):
    frame = labels_frame(IMAGES, [3, 1, 2], [3, 7, 2], POSTERIOR, rate)
    (plot,) = picture(frame.panels[1]).plots
    bars = next(shape for shape in plot.all("bars") if shape.look.colour == NOISY.pale.upper())
    expected = (1 - rate) * POSTERIOR + rate / 10
    assert bars.y[:, 1] == pytest.approx(expected, abs=0.005)
    assert f"the label a 3 with {100 * expected[3]:.0f} %" in frame.readout


def test_a_wrong_label_is_marked_in_words():
    frame = labels_frame(IMAGES, [3, 1, 2], [3, 7, 2], POSTERIOR, 0.3)
    words = picture(frame.panels[0]).words
    assert "“7” ✗" in words
    assert "“3”" in words
    assert sum("✗" in word for word in words) == 1
    assert "1 of the 3 labels shown is wrong" in frame.readout


def test_what_cannot_be_drawn_is_named():
    with pytest.raises(ValueError, match="equally long, got 3, 2 and 3"):
        labels_frame(IMAGES, [3, 1], [3, 7, 2], POSTERIOR, 0.3)
    with pytest.raises(ValueError, match="rate"):
        labels_frame(IMAGES, [3, 1, 2], [3, 7, 2], POSTERIOR, 1.3)
