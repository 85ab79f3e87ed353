"""A blend of two digits: bars are its label, marks are two networks."""

import numpy as np
import pytest

from calibkit.course.explorers import blend_frame
from calibkit.course.explorers.digits import LABEL, MIXED, PLAIN
from tests.pictures import reading
from tests.pictures.reading_svg import picture

DRAWS = np.random.default_rng(0)
IMAGES = DRAWS.random((2, 8, 8))
PLAIN_SAYS, MIXED_SAYS = DRAWS.dirichlet(np.ones(10), (2, 2))


def test_bars_are_the_label_and_marks_the_networks():
    frame = blend_frame(IMAGES, (3, 7), 0.7, PLAIN_SAYS, MIXED_SAYS)
    assert frame.readout.startswith("70 % of a 3, 30 % of a 7: ")
    label = np.zeros(10)
    label[[3, 7]] = 0.7, 0.3
    for panel, plain, mixed, name in zip(
        frame.panels, PLAIN_SAYS, MIXED_SAYS, ("without", "with"), strict=True
    ):
        (plot,) = picture(panel).plots
        bars = next(b for b in plot.all("bars") if b.look.colour == LABEL.pale.upper()).y[:, 1]
        assert bars == pytest.approx(label, abs=0.006)
        for role, expected in ((PLAIN, plain), (MIXED, mixed)):
            marks = [m.y[0] for m in plot.all("marker") if m.look == reading.marker(role)]
            assert marks == pytest.approx(expected, abs=0.006)
        told = f"{name} noise the network without blends says {plain.argmax()} with "
        assert told + f"{100 * plain.max():.1f} %" in frame.readout


def test_a_share_above_one_is_refused():
    with pytest.raises(ValueError, match=r"^share must lie in"):
        blend_frame(IMAGES, (3, 7), 1.2, PLAIN_SAYS, MIXED_SAYS)
