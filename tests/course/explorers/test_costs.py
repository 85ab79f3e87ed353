"""The costs of models: each bar ends at its number, each line and marker where the costs are."""

import re

import numpy as np
import pytest

from calibkit.course.explorers import cost_frame
from calibkit.course.explorers.costs import ALWAYS
from calibkit.pictures import palette
from tests.pictures import reading
from tests.pictures.reading_svg import picture

A, B = palette.group(0, "model A"), palette.group(1, "model B")
RATIOS = [1, 5, 20]
COSTS = {A: [[10, 40, 100], [14, 44, 120]], B: [[20, 60, 70], [20, 62, 74]]}


def frame(at=5, **changes):
    options = {"always": 80, "ceiling": 150, "title": f"c = {at}", "readout": "A 42, B 61"}
    return cost_frame(COSTS, RATIOS, at, **options | changes)


@pytest.mark.parametrize("at", RATIOS)
def test_each_bar_has_the_mean_cost_and_its_number(at):
    panel = frame(at).panels[0]
    bars = re.findall(r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)" height="22"', panel)
    means = [np.mean(values, axis=0)[RATIOS.index(at)] for values in COSTS.values()]
    widths = [float(width) / 190 * 150 for _, width in bars]
    assert widths == pytest.approx(means, abs=0.1)
    for mean in means:
        assert f">{mean:.0f}</text>" in panel
    assert "check everything" in panel


def test_a_cost_beyond_the_axis_ends_there_and_is_told():
    panel, lines = frame(20, ceiling=100).panels
    assert 'width="190" height="22"' in panel
    assert ">110</text>" in panel
    assert lines.count('class="marker"') == 1  # of B alone


def test_lines_bands_and_markers_stand_where_the_costs_are():
    (plot,) = picture(frame(5).panels[1]).plots
    for role, values in COSTS.items():
        means = np.mean(values, axis=0)
        plot.is_at(plot.one("line", reading.line(role)), RATIOS, means)
        plot.is_at(plot.one("marker", reading.marker(role)), [5], [means[1]])
        band = plot.one("band", reading.Look(role.colour))
        edges = np.c_[np.min(values, axis=0), np.max(values, axis=0)]
        plot.is_at(band, RATIOS, edges)
    assert plot.x_label == "cost c of a miss (log)"


def test_what_moves_comes_last():
    """Frames of one slider begin alike, so that their page is small."""
    first, second = (frame(at).panels[1] for at in (5, 20))
    same = next(i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b)
    assert same > 0.7 * len(first)
    assert ALWAYS.words == "check everything"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"at": 7}, "at must be one of"),
        ({"costs": {}}, "1 to 6 named groups, got 0"),
        ({"costs": {A: [[1, 2]]}}, r"costs\['model A'\] must be \(seeds, 3\)"),
        ({"costs": {palette.group(0, "x" * 25): [[1, 2, 3]]}}, "at most 24 letters"),
    ],
)
def test_what_cannot_be_drawn_is_refused(change, words):
    arguments = {"costs": COSTS, "ratios": RATIOS, "at": 5} | change
    with pytest.raises(ValueError, match=words):
        cost_frame(**arguments, always=80, ceiling=150, title="", readout="")
