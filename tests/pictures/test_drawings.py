"""Drawings of the package are read back: they show what `metrics` computes, in the right looks."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from calibkit import metrics
from calibkit.pictures import alt_text, palette, panels, plots, svg
from calibkit.pictures.svg_diagram import diagram_panel, pooled, reliability_frame
from tests.pictures import reading
from tests.pictures.checks import (
    DIAGRAM_KEYS,
    INTERVAL,
    check_diagram,
    check_ranges,
    check_runs,
    line_key,
    sample,
)
from tests.pictures.reading import Look, of_axes
from tests.pictures.reading_svg import picture

PROBS, LABELS = sample()
COUNTED = metrics.reliability(PROBS, LABELS, bins=10)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def new_axes():
    return plt.subplots()[1]


def test_a_reliability_frame_shows_the_bins():
    for bins, binning in ((10, "width"), (40, "width"), (7, "mass")):
        counted = metrics.reliability(PROBS, LABELS, bins=bins, binning=binning)
        frame = reliability_frame(counted, title="these nets", readout="ECE 19 %")
        plot, strip = picture(frame.panels[0]).plots
        check_diagram(plot, strip, counted)
        assert (plot.title, strip.y_label) == ("these nets", palette.COUNTS.words)
    for label in (0, 1):  # where one kind of gap is absent
        counted = metrics.reliability(PROBS, np.full_like(LABELS, label), bins=10)
        panel = reliability_frame(counted, title="", readout="").panels[0]
        check_diagram(*picture(panel).plots, counted)
    assert picture(frame.panels[1]).keys == DIAGRAM_KEYS


def test_a_pooled_frame_shows_all_samples():
    parts = [sample(seed) for seed in (0, 1, 2)]
    together = pooled([metrics.reliability(*part, bins=10) for part in parts])
    whole = metrics.reliability(*map(np.concatenate, zip(*parts, strict=True)), bins=10)
    panel = reliability_frame(together, title="", readout="").panels[0]
    check_diagram(*picture(panel).plots, whole)
    frame = panels.frame([panels.reliability_plot("small", whole)], title="", readout="")
    plot, strip = picture(frame.panels[0]).plots
    check_diagram(plot, strip, whole)
    assert plot.title == "small"
    panel = diagram_panel(whole, "", level=0.8)
    check_diagram(*picture(panel).plots, whole, level=0.8)


@pytest.mark.parametrize("log_x", [False, True])
def test_a_plot_has_its_curves_where_the_data_are(log_x):
    x, y = [1, 3, 20, 100], [0.5, 2.5, 1.0, 9.0]  # the last lies beyond the axes
    role = palette.CURED
    marks = [panels.curve(x, y, **svg.stroke(role))]
    ticks = {"x_ticks": (1, 10, 100), "y_ticks": (0, 2, 4)}
    drawn = panels.plot("a plot", marks, x_label="n", y_label="error", log_x=log_x, **ticks)
    (plot,) = picture(panels.frame([drawn], title="", readout="").panels[0]).plots
    plot.is_at(plot.one("line", reading.line(role)), x, y)
    assert (plot.title, plot.x_label, plot.y_label) == ("a plot", "n", "error")
    check_ranges(plot, (1, 100), (0, 4))
    assert plot.x.log is log_x


@pytest.mark.parametrize("role", palette.ROLES, ids=lambda role: role.words)
def test_a_key_looks_as_its_role(role):
    keys = picture(svg.picture(200, 60, svg.line_key(role, 8, 20), svg.area_key(role, 8, 40))).keys
    assert keys == {role.words: [line_key(role), {reading.area(role)}]}


@pytest.mark.parametrize("binning", ["width", "mass"])
def test_a_reliability_diagram_shows_the_bins(binning):
    ax = plots.reliability_diagram(PROBS, LABELS, bins=8, binning=binning, level=0.8, title="nets")
    counted = metrics.reliability(PROBS, LABELS, bins=8, binning=binning)
    plot, strip = of_axes(ax), of_axes(ax.child_axes[0])
    check_diagram(plot, strip, counted, level=0.8)
    assert plot.title == "nets"
    assert ax.get_aspect() == 1


def test_the_legend_of_a_diagram_has_its_looks():
    roles = {
        "accuracy": [{Look(palette.ACCURACY.colour)}],
        "over-confident": [{reading.area(palette.OVER)}],
    }
    roles |= {palette.UNDER.words: [{reading.area(palette.UNDER)}], "80% interval": [{INTERVAL}]}
    roles |= {palette.DIAGONAL.words: [{reading.line(palette.DIAGONAL)}]}
    assert of_axes(plots.draw_reliability(COUNTED, level=0.8)).keys == roles
    assert of_axes(plots.draw_reliability(COUNTED, legend=False)).keys == {}


@pytest.mark.parametrize("level", [0.9, 0.8])
def test_the_diagram_without_bins_shows_the_regression_and_its_band(level):
    options = {} if level == 0.9 else {"level": level}
    ax = plots.corp_diagram(PROBS, LABELS, title="net", **options)
    plot, regression = of_axes(ax), metrics.corp(PROBS, LABELS)
    low, high = regression.band(level=level)
    curve = plot.one("line", reading.line(palette.ACCURACY))
    band = plot.one("band", Look(palette.DIAGONAL.pale.upper()))
    plot.is_at(curve, regression.confidence, regression.frequency)
    plot.is_at(band, regression.confidence, np.c_[low, high])
    plot.is_at(plot.one("line", reading.line(palette.DIAGONAL)), [0, 1], [0, 1])
    assert (plot.x_range, plot.y_range, ax.get_aspect()) == ((0, 1), (0, 1), 1)
    assert (plot.x_label, plot.y_label) == ("confidence (%)", "accuracy (%)")
    roles = {
        palette.ACCURACY.words: [{curve.look}],
        f"a calibrated model, {level:.0%}": [{band.look}],
    }
    roles[palette.DIAGONAL.words] = [{reading.line(palette.DIAGONAL)}]
    assert plot.keys == roles
    outside = (curve.y < band.y[:, 0]) | (curve.y > band.y[:, 1])
    share = regression.counts[outside].sum() / regression.counts.sum()
    assert alt_text.describe(ax.figure) == (
        f"net: accuracy by isotonic regression, from {curve.y[0]:.0%} at confidence "
        f"{curve.x[0]:.0%} to {curve.y[-1]:.0%} at {curve.x[-1]:.0%}; {share:.0%} of the images "
        "lie where the curve leaves the band."
    )


def swept(positions):
    """A table of three runs at each position, with two columns that differ."""
    random = np.random.default_rng(0)
    table = pd.DataFrame({"epoch": np.repeat(np.arange(positions), 3)})
    return table.assign(right=random.random(len(table)), sure=random.random(len(table)))


@pytest.mark.parametrize("positions", [4, plots.MARKED + 1])
def test_columns_show_their_means_and_ranges_in_their_roles(positions):
    table = swept(positions)
    roles = {"right": palette.ACCURACY, "sure": palette.CONFIDENCE.named("how sure")}
    plot = of_axes(plots.columns(table, "epoch", roles, ax=new_axes()))
    runs = {column: table[column].to_numpy().reshape(-1, 3).T for column in roles}
    signs = {}
    for column, role in roles.items():
        check_runs(plot, role, range(positions), runs[column])
        marked = positions <= plots.MARKED
        signs[role] = {Look(role.colour, marker=role.marker)} if marked else set()
    assert {shape.look for shape in plot.all("marker")} == set.union(*signs.values())
    assert plot.keys == {r.words: [{reading.line(r)} | sign] for r, sign in signs.items()}


@pytest.mark.parametrize(
    "role", [*palette.ROLES, palette.group(2, "a group")], ids=lambda r: r.words
)
def test_a_role_looks_the_same_in_matplotlib_and_in_svg(role):
    ax = new_axes()
    ax.plot([0, 1], [0, 1], **role.line())
    ax.bar([0], [1], **role.area())
    plot = of_axes(ax)
    plot.one("line", reading.line(role))
    plot.one("bars", reading.area(role))
    axes = svg.Axes(20, 20, 100, 100)
    drawn = axes.bars([(0, 1, 0, 1)], **svg.fill(role)) + axes.line(0, 0, 1, 1, **svg.stroke(role))
    shapes = picture(svg.picture(140, 140, drawn, axes.frame("", "", (0, 1), (0, 1)))).plots[0]
    shapes.one("line", reading.line(role))
    shapes.one("bars", reading.area(role))
