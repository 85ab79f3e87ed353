"""Two answers of a network after a temperature: bars, diamonds and words."""

import numpy as np
import pytest
import torch

from calibkit.course.explorers import cooled_frame
from calibkit.course.explorers.digits import AFTER, BEFORE
from tests.pictures import reading
from tests.pictures.reading_svg import picture

IMAGES = np.random.default_rng(0).random((2, 8, 8))
LOGITS = 3 * torch.randn(2, 10, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("T", [0.5, 1.0, 4.0])
def test_bars_are_after_the_temperature_and_diamonds_before(T):
    said = LOGITS.argmax(dim=1).tolist()
    frame = cooled_frame(IMAGES, [said[0], (said[1] + 1) % 10], LOGITS, T)
    for panel, row, name in zip(frame.panels, LOGITS.double(), ("right", "wrong"), strict=True):
        (plot,) = picture(panel).plots
        bars = next(b for b in plot.all("bars") if b.look.colour == AFTER.pale.upper()).y[:, 1]
        expected = (row / T).softmax(0)
        assert bars == pytest.approx(expected.tolist(), abs=0.006)
        marks = [m.y[0] for m in plot.all("marker") if m.look == reading.marker(BEFORE)]
        assert marks == pytest.approx(row.softmax(0).tolist(), abs=0.006)
        assert f"the {name} answer" in frame.readout
        assert f"{100 * expected.max():.1f} %" in frame.readout


def test_a_temperature_of_nothing_is_refused():
    with pytest.raises(ValueError, match=r"^T must lie in"):
        cooled_frame(IMAGES, [0, 1], LOGITS, 0.0)
