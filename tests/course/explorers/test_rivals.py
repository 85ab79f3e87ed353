"""Two models on one test set: each panel is the diagram of its model."""

import pytest
import torch

from calibkit import metrics
from calibkit.course.explorers import rivals_frame
from calibkit.pictures import palette
from tests.pictures.reading import Look
from tests.pictures.reading_svg import picture

LABELS = torch.arange(300) % 3


def diagram(seed):
    logits = torch.randn(300, 3, generator=torch.Generator().manual_seed(seed))
    return metrics.reliability(logits.softmax(dim=1), LABELS)


def test_the_first_panel_is_the_first_model_and_the_second_the_second():
    models = [diagram(seed) for seed in (0, 1)]
    frame = rivals_frame(models, ["model A", "model B"], readout="A; B")
    assert (len(frame.panels), frame.readout) == (3, "A; B")
    for panel, one, title in zip(frame.panels, models, ("model A", "model B"), strict=False):
        drawn = picture(panel)
        plot, _ = drawn.plots
        levels = plot.one("levels", Look(palette.ACCURACY.colour))
        expected = one.accuracy[one.counts > 0].tolist()
        assert levels.y == pytest.approx(expected, abs=0.005)
        assert title in drawn.words


@pytest.mark.parametrize(("models", "titles"), [(1, 2), (2, 3)])
def test_another_number_than_two_is_refused(models, titles):
    with pytest.raises(ValueError, match=rf"must be two each, got {models} and {titles}"):
        rivals_frame([diagram(0)] * models, ["model"] * titles, readout="")
