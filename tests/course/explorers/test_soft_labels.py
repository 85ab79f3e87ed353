"""A smoothed label and what it asks for: bars, diamonds and words."""

import numpy as np
import pytest

from calibkit.course.explorers import soft_label_frame
from calibkit.course.explorers.digits import ASKED, HARD, SOFT, TRUE
from tests.pictures import reading
from tests.pictures.reading_svg import picture

IMAGE = np.random.default_rng(0).random((8, 8))
POSTERIOR = np.array([0.05, 0, 0, 0.7, 0, 0.2, 0, 0, 0.05, 0])


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_label_and_answer_are_mixed_with_even_shares(alpha):
    frame = soft_label_frame(IMAGE, 5, POSTERIOR, alpha)
    rows = (SOFT, HARD, np.eye(10)[5]), (ASKED, TRUE, POSTERIOR)
    for panel, (mixed, plain, row) in zip(frame.panels, rows, strict=True):
        (plot,) = picture(panel).plots
        bars = next(b for b in plot.all("bars") if b.look.colour == mixed.pale.upper()).y[:, 1]
        assert bars == pytest.approx((1 - alpha) * row + alpha / 10, abs=0.006)
        marks = [m.y[0] for m in plot.all("marker") if m.look == reading.marker(plain)]
        assert marks == pytest.approx(row.tolist(), abs=0.006)


def test_the_words_tell_label_and_answer():
    assert soft_label_frame(IMAGE, 5, POSTERIOR, 0.2).readout == (
        'Alpha 0.2: the label "5" keeps 82 %. The exact posterior says 3 with 70 %, the loss is '
        "lowest at 58 %."
    )


def test_a_share_above_one_is_refused():
    with pytest.raises(ValueError, match="alpha"):
        soft_label_frame(IMAGE, 5, POSTERIOR, 1.5)
