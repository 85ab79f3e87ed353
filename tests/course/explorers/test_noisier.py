"""Two digits under noise: bars of the network, diamonds of the best reader, one scale of grey."""

import numpy as np
import pytest

from calibkit.course.explorers import noisier_frame
from calibkit.course.explorers.digits import EXACT, NETWORK
from tests.pictures import reading
from tests.pictures.reading_svg import picture

DRAWS = np.random.default_rng(0)
IMAGES = DRAWS.normal(0.5, 1.0, (2, 8, 8))
NETWORK_SAYS, EXACT_SAYS = DRAWS.dirichlet(np.ones(10), (2, 2))


def test_bars_are_the_network_and_diamonds_the_best_reader():
    frame = noisier_frame(IMAGES, [3, 6], NETWORK_SAYS, EXACT_SAYS, 0.8)
    for panel, label, says, knows in zip(
        frame.panels, (3, 6), NETWORK_SAYS, EXACT_SAYS, strict=True
    ):
        (plot,) = picture(panel).plots
        bars = next(b for b in plot.all("bars") if b.look.colour == NETWORK.pale.upper()).y[:, 1]
        assert bars == pytest.approx(says, abs=0.006)
        marks = [m.y[0] for m in plot.all("marker") if m.look == reading.marker(EXACT)]
        assert marks == pytest.approx(knows, abs=0.006)
        words = f"of the {label} the network says {says.argmax()} with {100 * says.max():.1f} %, "
        assert (
            words + f"the best reader {knows.argmax()} with {100 * knows.max():.1f} %"
            in frame.readout
        )


def test_grey_does_not_change_its_scale_with_the_noise():
    quiet = np.zeros((2, 8, 8))
    quiet[:, 0, 0] = 1.0
    loud = quiet.copy()
    loud[:, 0, 0] = 5.0
    said = NETWORK_SAYS, EXACT_SAYS, 0.4
    assert noisier_frame(quiet, [3, 6], *said).panels == noisier_frame(loud, [3, 6], *said).panels


def test_a_negative_noise_is_refused():
    with pytest.raises(ValueError, match=r"^noise must lie in"):
        noisier_frame(IMAGES, [3, 6], NETWORK_SAYS, EXACT_SAYS, -0.1)
