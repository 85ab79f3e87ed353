"""Two digits under another prior: bars, diamonds and words."""

import numpy as np
import pytest

from calibkit.course.explorers import prior_frame
from calibkit.course.explorers.digits import EVEN, RARE
from tests.pictures import reading
from tests.pictures.reading_svg import picture

IMAGES = np.random.default_rng(0).random((2, 8, 8))
CLEAR = np.array([0.0005, 0, 0, 0.999, 0, 0.0005, 0, 0, 0, 0])
DOUBTFUL = np.array([0.05, 0, 0, 0.8, 0, 0.1, 0, 0, 0.05, 0])
BOTH = np.stack([CLEAR, DOUBTFUL])


@pytest.mark.parametrize("ratio", [1, 10, 1000])
def test_odds_against_the_rare_digit_grow_by_the_ratio(ratio):
    frame = prior_frame(IMAGES, [3, 3], BOTH, ratio)
    for panel, before in zip(frame.panels, BOTH, strict=True):
        (plot,) = picture(panel).plots
        bars = next(b for b in plot.all("bars") if b.look.colour == RARE.pale.upper()).y[:, 1]
        expected = before.copy()
        expected[3] /= ratio
        assert bars == pytest.approx(expected / expected.sum(), abs=0.006)
        marks = [m.y[0] for m in plot.all("marker") if m.look == reading.marker(EVEN)]
        assert marks == pytest.approx(before.tolist(), abs=0.006)


def test_the_words_tell_both_images():
    frame = prior_frame(IMAGES, [3, 3], BOTH, 100)
    assert frame.readout == (
        "This digit 100 times rarer in training: the clear 3 falls from 99.9 % to 90.9 %, the "
        "doubtful 3 falls from 80.0 % to 3.8 %."
    )
    assert frame.values == pytest.approx({"clear": 0.909, "doubtful": 0.0385}, abs=1e-3)
    even = prior_frame(IMAGES, [3, 3], BOTH, 1)
    assert even.readout == "Equally common: the clear 3 has 99.9 %, the doubtful 3 has 80.0 %."


def test_what_cannot_be_drawn_is_named():
    with pytest.raises(ValueError, match="of two images, got 2, 1 and 2"):
        prior_frame(IMAGES, [3], BOTH, 10)
    with pytest.raises(ValueError, match="ratio"):
        prior_frame(IMAGES, [3, 3], BOTH, 0.5)
