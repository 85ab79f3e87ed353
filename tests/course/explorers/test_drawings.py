"""The frames of the explorers are read back: series, markers, bands, keys and readouts agree."""

import re

import numpy as np
import pandas as pd
import pytest

from calibkit import metrics
from calibkit.course.explorers import (
    along_frame,
    cooling_frame,
    film_frame,
    spread_frame,
)
from calibkit.pictures import palette
from tests.pictures import reading
from tests.pictures.checks import (
    ALONG_KEYS,
    DIAGRAM_KEYS,
    check_diagram,
    check_ranges,
    check_runs,
    line_key,
    sample,
)
from tests.pictures.reading import Look
from tests.pictures.reading_svg import picture

COUNTED, OTHER = (metrics.reliability(*sample(seed), bins=10) for seed in (0, 1))
EXACT = palette.TRUTH.named("exact posterior")


def numbers(words):
    return [float(number) for number in re.findall(r"[+-]?\d+\.\d+", words)]


def read(frame):
    """All plots of a frame, panel by panel."""
    return [picture(panel).plots for panel in frame.panels]


# --- along ----------------------------------------------------------------------------------------

LINES = {
    palette.ACCURACY: [[0.9, 0.8, 0.7, 0.2], [0.7, 0.6, 0.5, 0.4], [0.8, 0.4, 0.6, 0.3]],
    palette.CONFIDENCE: [[0.5, 0.6, 0.9, 0.95]],
    palette.group(3, "distance"): [[0.1, 0.05, 0.3, 0.2], [0.2, 0.15, 0.0, 0.1]],
}


@pytest.mark.parametrize("log_x", [False, True])
def test_an_along_frame_shows_the_diagram_and_the_lines_with_their_markers(log_x):
    x = [1.0, 3.0, 10.0, 60.0]
    labels = {"x_label": "epoch", "y_label": "share of all", "x_ticks": (1, 10, 30)}
    for place, at in enumerate(x):
        frame = along_frame(
            COUNTED, at, x, LINES, title="nets", readout="as given", log_x=log_x, **labels
        )
        (diagram, strip), (plot,) = read(frame)
        check_diagram(diagram, strip, COUNTED)
        assert (diagram.title, frame.readout) == ("nets", "as given")
        for role, runs in LINES.items():
            check_runs(plot, role, x, runs)
            mean = np.mean(runs, axis=0)[place]
            plot.is_at(plot.one("marker", reading.marker(role)), [at], [mean])
        assert len(plot.shapes) == 3 * len(LINES) + 1
        plot.is_at(plot.one("line", Look(palette.GREY)), [at, at], [0, 1])
        check_ranges(plot, (1, 60), (0, 1))
        assert (plot.x_label, plot.y_label, plot.x.log) == ("epoch", "share of all", log_x)


def test_the_legend_of_an_along_frame_names_lines_and_parts_of_the_diagram():
    labels = {"x_label": "n", "x_ticks": (1, 2), "title": "", "readout": ""}
    lines = {role: [row[:2] for row in runs] for role, runs in LINES.items()}
    panel = along_frame(COUNTED, 1, [1, 2], lines, **labels).panels[1]
    assert picture(panel).keys == ALONG_KEYS | {role.words: [line_key(role)] for role in lines}


# --- film -----------------------------------------------------------------------------------------

FILM = pd.DataFrame(
    {
        "epoch": [1, 2, 3, 4, 5],
        "train_nll": [2.0, 1.2, 0.6, 0.2, 0.05],
        "train_accuracy": [0.31, 0.62, 0.83, 0.94, 0.995],
        "train_confidence": [0.12, 0.53, 0.74, 0.91, 0.985],
        "test_nll": [2.1, 1.3, 0.8, 0.9, 1.1],
        "test_accuracy": [0.29, 0.58, 0.71, 0.72, 0.725],
        "test_confidence": [0.11, 0.51, 0.73, 0.88, 0.935],
    }
)


def test_a_film_frame_shows_both_diagrams_and_both_curves():
    names = {"test": palette.group(0, "test"), "train": palette.group(1, "training")}
    for row in FILM.itertuples():
        frame = film_frame(FILM, COUNTED, OTHER, row.epoch, exact_nll=0.15, ceiling=3)
        training, test, (losses,), legend = read(frame)
        check_diagram(*training, COUNTED)
        check_diagram(*test, OTHER)
        assert [plots[0].title for plots in (training, test)] == ["training images", "test images"]
        losses.is_at(losses.one("line", reading.line(EXACT)), [1, 5], [0.15, 0.15])
        for name, role in names.items():
            curve = losses.one("line", reading.line(role))
            losses.is_at(curve, FILM.epoch, FILM[f"{name}_nll"])
            here = losses.one("marker", reading.marker(role))
            losses.is_at(here, [row.epoch], [getattr(row, f"{name}_nll")])
        assert len(losses.shapes) == 5
        check_ranges(losses, (1, 5), (0, 3))
        assert (losses.x_label, losses.y_label, legend) == ("epoch", "NLL", [])
        assert numbers(frame.readout) == pytest.approx(
            [
                *(100 * np.array(row[3:5])).round(1),
                *(100 * np.array(row[6:8])).round(1),
                round(row.test_nll, 2),
            ]
        )
        assert frame.readout.startswith(f"after epoch {row.epoch}: training images ")


def test_the_legends_of_a_film_frame_have_the_looks_of_its_series():
    panels = film_frame(FILM, COUNTED, OTHER, 2, exact_nll=0.15).panels
    roles = (palette.group(0, "test"), palette.group(1, "training"), EXACT)
    assert picture(panels[2]).keys == {role.words: [line_key(role)] for role in roles}
    assert picture(panels[3]).keys == DIAGRAM_KEYS


# --- spread ---------------------------------------------------------------------------------------


def test_a_spread_frame_shows_a_histogram_and_the_truth_of_each_sample():
    random = np.random.default_rng(0)
    samples = {"net": random.normal(0.3, 0.05, 300), "cure": random.uniform(-0.1, 0.3, 200)}
    truths = {"net": 0.25, "cure": 0.05}
    roles = {"net": palette.TRAINED, "cure": palette.CURED}
    frame = spread_frame(
        samples, truths, x_range=(0, 0.5), x_label="ECE", title="draws", readout="as given",
        bins=20, roles=roles,
    )  # fmt: skip
    (plot,), _ = read(frame)
    check_ranges(plot, (0, 0.5), plot.y_range)
    assert (plot.title, plot.x_label, frame.readout) == ("draws", "ECE", "as given")
    for name, role in roles.items():
        check_histogram(plot, role, samples[name])
        truth = plot.one("line", reading.line(role))
        plot.is_at(truth, [truths[name]] * 2, plot.y_range)
    keys = {
        name: [{Look(role.colour), reading.line(role)}]  # a bar and a line
        for name, role in roles.items()
    }
    assert picture(frame.panels[1]).keys == keys


def check_histogram(plot, role, values):
    """Counts of equal bins, what lies outside in the first and last; the tallest at nine tenths."""
    counts, edges = np.histogram(values.clip(0, 0.5), bins=20, range=(0, 0.5))
    some = counts > 0
    low, high = plot.y_range  # no ticks, so in pixels
    heights = low + 0.9 * counts / counts.max() * (high - low)
    ends = np.c_[edges[:-1], edges[1:]][some]
    bars = plot.one("bars", Look(role.colour))
    plot.is_at(bars, ends, np.c_[np.full_like(heights, low), heights][some])


# --- cooling and needs ----------------------------------------------------------------------------

CURVES = pd.DataFrame(
    {
        "T": [0.5, 1, 2, 3, 4, 5],
        "nll": [1.4, 0.9, 0.5, 0.6, 0.7, 0.8],
        "ece": [0.17, 0.1, 0.08, 0.02, 0.05, 0.15],
        "gap": [0.17, 0.1, 0.08, -0.01, -0.05, -0.15],
    }
)


def test_a_cooling_frame_shows_both_measures_up_to_the_temperature_and_their_lowest_value():
    for place, row in enumerate(CURVES.itertuples()):
        frame = cooling_frame(COUNTED, CURVES, row.T, exact_nll=0.3)
        diagram, (nll,), (ece,) = read(frame)
        check_diagram(*diagram, COUNTED)
        for plot, name, top in ((nll, "nll", 1.5), (ece, "ece", 0.2)):
            check_up_to(plot, CURVES["T"][: place + 1], CURVES[name][: place + 1], top)
        nll.is_at(nll.one("line", reading.line(EXACT)), [0.5, 5], [0.3, 0.3])
        assert [(plot.title, plot.y_label) for plot in (nll, ece)] == [
            ("NLL", "NLL"),
            ("ECE", "ECE (%)"),
        ]
        assert picture(frame.panels[1]).keys == {EXACT.words: [{reading.line(EXACT)}]}
        assert frame.readout == (
            f"T = {row.T:g}: signed gap {100 * row.gap:+.1f} %, ECE {100 * row.ece:.1f} %, "
            f"NLL {row.nll:.3f}"
        )


def check_up_to(plot, x, y, top):
    curve = plot.one("line", reading.line(palette.CURED))
    plot.is_at(curve, x, y)
    plot.is_at(plot.one("marker", reading.marker(palette.CURED)), x.iloc[-1:], y.iloc[-1:])
    lowest = x[y.idxmin()]
    plot.is_at(plot.one("line", Look(palette.GREY, (3, 3))), [lowest] * 2, [0, top])
    check_ranges(plot, (0.5, 5), (0, top))
