"""The frames of one temperature, of a training and of what a map needs."""

import re

import pandas as pd
import pytest

from calibkit import metrics
from calibkit.course.explorers import cooling_frame, film_frame
from calibkit.pictures import palette, panels
from tests.pictures.reading_svg import picture

DIAGRAM = metrics.reliability([[0.9, 0.1], [0.6, 0.4]], [0, 1], bins=5)
CURVES = pd.DataFrame(
    {"T": [1, 2, 4], "nll": [0.9, 0.6, 0.8], "ece": [0.2, 0.05, 0.1], "gap": [0.2, 0.0, -0.1]}
)


def at(panel):
    """Where the marker of a panel stands."""
    path = re.findall(r'd="M([\d.]+),([\d.]+)[^"]*" fill="#\w+" class="marker"', panel)[-1]
    return tuple(map(float, path))


def test_the_marker_moves_with_the_temperature_along_both_curves():
    first, last = (cooling_frame(DIAGRAM, CURVES, T, exact_nll=0.3) for T in (1, 4))
    assert len(first.panels) == 3
    for before, after in zip(first.panels[1:], last.panels[1:], strict=True):
        assert at(after)[0] - at(before)[0] == pytest.approx(panels.SIDE)
        assert at(after)[1] > at(before)[1]  # lower on the page: both measures fell


def dotted(panel):
    """Where the dotted line of a panel stands, and how many points its longest curve has."""
    lines = re.findall(r'<polyline points="([^"]+)"[^>]*?(stroke-dasharray="3 3")?/>', panel)
    across = [points for points, dashes in lines if dashes]
    return float(across[0].split(",")[0]), max(len(points.split()) for points, _ in lines)


@pytest.mark.parametrize("panel", [1, 2])
def test_the_curves_end_at_the_chosen_temperature_and_the_line_marks_the_lowest_so_far(panel):
    first, middle, last = (
        cooling_frame(DIAGRAM, CURVES, T, exact_nll=0.3).panels[panel] for T in (1, 2, 4)
    )
    moved = dotted(middle)[0] - dotted(first)[0]
    assert moved == pytest.approx(at(middle)[0] - at(first)[0])
    assert dotted(last)[0] == dotted(middle)[0]  # 2 is best, 4 is not
    assert [dotted(one)[1] for one in (middle, last)] == [2, 3]


def test_the_readout_has_the_numbers():
    frame = cooling_frame(DIAGRAM, CURVES, 4, exact_nll=0.3)
    assert palette.TRUTH.colour in frame.panels[1]
    assert frame.readout == "T = 4: signed gap -10.0 %, ECE 10.0 %, NLL 0.800"


def test_the_values_are_the_numbers_of_the_readout():
    values = cooling_frame(DIAGRAM, CURVES, 4, exact_nll=0.3).values
    assert values == {"T": 4, "nll": 0.8, "ece": 0.1, "gap": -0.1}
    history = pd.DataFrame(
        {"epoch": [1, 5]}
        | {
            f"{name}_{measure}": [0.1, number]
            for name, numbers in (("train", (0.9, 0.8, 0.7)), ("test", (0.6, 0.5, 0.4)))
            for measure, number in zip(("accuracy", "confidence", "nll"), numbers, strict=True)
        }
    )
    frame = film_frame(history, DIAGRAM, DIAGRAM, 5, exact_nll=0.3)
    assert frame.values == {column: history[column][1] for column in history}
    assert frame.readout == (
        "after epoch 5: training images 90.0 % right, mean confidence 80.0 %; "
        "test images 60.0 % right, mean confidence 50.0 %; test NLL 0.40"
    )


def test_a_temperature_that_was_not_tried_is_refused():
    with pytest.raises(ValueError, match=r"^at must be .*3"):
        cooling_frame(DIAGRAM, CURVES, 3, exact_nll=0.3)


def test_a_log_axis_puts_the_geometric_mean_in_the_middle():
    ticks = {"x_ticks": (1, 100), "y_ticks": (0, 1), "x_label": "n", "y_label": "share"}
    drawn = [
        panels.plot("", [panels.curve([1, 10, 100], [0, 0, 0])], **ticks, log_x=log)(0, 0)
        for log in (True, False)
    ]
    middle = [re.search(r'points="[\d.]+,[\d.]+ ([\d.]+),', one)[1] for one in drawn]
    left, side = panels.INSET[0], panels.SIDE
    assert float(middle[0]) == pytest.approx(left + side / 2, abs=0.1)
    assert float(middle[1]) == pytest.approx(left + side * 9 / 99, abs=0.1)


def test_the_ticks_of_a_temperature_lie_within_its_panel():
    few = CURVES[CURVES["T"] < 4]
    for panel in cooling_frame(DIAGRAM, few, 2, exact_nll=0.3).panels[1:3]:
        [nll] = picture(panel).plots
        assert nll.x_range[1] == pytest.approx(2)
        assert re.findall(r">(3|4)</text>", panel) == []
