"""Figures: counts, texts, theme, plane, what is refused; bars and lines: `test_drawings`."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

from calibkit.pictures import alt_text, palette, panels, plots  # noqa: F401
from tests import refusals

GENERATOR = torch.Generator().manual_seed(0)
PROBS = (2 * torch.randn(300, 4, generator=GENERATOR)).softmax(dim=1)
LABELS = torch.randint(4, (300,), generator=GENERATOR)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def test_a_diagram_is_described_from_its_own_bins():
    probs = [[0.9, 0.1], [0.9, 0.1], [0.6, 0.4]]
    ax = plots.reliability_diagram(probs, [0, 1, 0], bins=5, title="nets")
    assert alt_text.describe(ax.figure) == (
        "nets: reliability diagram of 2 filled bins; accuracy below confidence in 1; "
        "the last bin says 90%, right 50%."
    )


def test_a_given_axes_is_used_and_nothing_global_is_set():
    before, ax = dict(mpl.rcParams), plt.subplots()[1]
    assert plots.reliability_diagram(PROBS, LABELS, ax=ax) is ax
    assert dict(mpl.rcParams) == before


test_wrong_arguments_are_refused_by_name = refusals.table("""
    plots.reliability_diagram(PROBS * 3, LABELS) -> ValueError: probs
    plots.reliability_diagram(PROBS[:10], LABELS) -> ValueError: labels
    plots.reliability_diagram(PROBS, LABELS, level=95) -> ValueError: level
    plots.spread([1, 2, 3], np.zeros((2, 2)), palette.TRUTH, ax=None) -> ValueError: runs
    plots.plane({}) -> ValueError: places must map looks to at least 1 place
    panels.curve([0, 1], [0]) -> ValueError: y must
    panels.plot("", [], x_label="", y_label="", x_ticks=[1], y_ticks=[0, 1]) -> ValueError: x_ticks
    panels.frame([], title="", readout="") -> ValueError: ...panels
""")


def test_the_plane_has_every_training_at_its_place_and_kappa_in_the_legend():
    rng = np.random.default_rng(0)
    one, two = rng.normal([0.2, 0.14], 0.01, (5, 2)), rng.normal([0.4, -0.1], 0.01, (5, 2))
    looks = palette.group(0, "plain"), palette.group(1, "smoothed")
    ax = plots.plane(dict(zip(looks, (one, two), strict=True)))
    lines = [line for line in ax.lines if line.get_label()[0] != "_"]
    for look, rows, line in zip(looks, (one, two), lines, strict=True):
        assert np.column_stack(line.get_data()) == pytest.approx(rows)
        drawn = line.get_color(), line.get_marker(), line.get_linestyle()
        assert drawn == (look.colour, look.marker, "None")
        slope = rows[:, 1].mean() / rows[:, 0].mean()
        assert line.get_label() == f"{look.words}: kappa {slope:.2f}"
        assert f"{look.words} {rows[:, 0].mean():.2f} lost" in alt_text.describe(ax.figure)
    guides = [np.column_stack(line.get_data()) for line in ax.lines if line.get_label()[0] == "_"]
    assert any(np.allclose(guide[:, 0], guide[:, 1]) for guide in guides)  # the nearest neighbour
    assert any(np.allclose(guide[:, 1], 0) for guide in guides)  # confidence equals accuracy
    assert ax.get_aspect() == 1
    assert ax.get_xlim()[1] > max(one[:, 0].max(), two[:, 0].max())
