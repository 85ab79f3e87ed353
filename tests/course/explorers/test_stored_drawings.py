"""Frames that lessons open with are read back: drawings agree with each other and the readouts."""

import itertools
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from calibkit.course import explorers
from calibkit.pictures import palette
from tests.pictures import reading
from tests.pictures.checks import (
    ALONG_KEYS,
    check_ranges,
)
from tests.pictures.reading import PIXEL, Look
from tests.pictures.reading_svg import picture

FOLDER = Path(__file__).parents[3] / "notebooks" / "results" / "explorers"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))
ROUNDED = 0.001  # of a share that a readout has in per cent with one decimal
NUMBER = r"([+-]?[\d.]+) ?%"
SHARE, SURE = f"accuracy {NUMBER}", f"mean confidence {NUMBER}"

# By explorer the lines of its right panel, each with its number in the readout.
BEST = {"best possible accuracy": f"best possible accuracy {NUMBER}"}
PLAIN = (
    *("focal_gamma", "focal_practice", "mixup_alpha", "note_length", "severity", "real_network"),
    *("start_here", "subset_share"),
)
ALONG = {name: {"accuracy": SHARE, "mean confidence": SURE} for name in PLAIN} | {
    "audit_power": {
        name: rf"{NUMBER} \({name}\)"
        for name in ("too sure", "two scanners", "rare class", "exact posterior")
    },
    # the mean confidence by accuracy and signed gap
    "dataset_size": {"accuracy": SHARE, "mean confidence": None} | BEST,
    "label_noise": {
        "accuracy, clean labels": f"right on {NUMBER} of clean", "mean confidence": SURE,
    },
    "power": {
        f"T {T}: exact error {error}%": rf"{NUMBER} at T {T}: exact error {error}%"
        for T, error in {"1": "0.0", "1.1": "2.3", "1.2": "4.7", "1.5": "11.3"}.items()
    },
    "soft_targets": {"accuracy": SHARE, "ECE, networks": f"ECE {NUMBER}", "ECE, optimum p*": None},
    "translation": {
        "accuracy": SHARE, "mean confidence": SURE,
        "distance from the law": f"distance from the law {NUMBER}",
    } | BEST,
}  # fmt: skip
ONE_FILE = ("audit_power", "power")  # whose diagram shows another sample than the readout tells
READ = 5  # frames of each explorer, from its first to its last


@cache
def read(name):
    """Of some frames the words at their sliders, the pictures of their panels, and the readout."""
    explorer = explorers.stored(name, FOLDER)
    positions = list(itertools.product(*(slider.shown for slider in explorer.sliders)))
    log_x = True if name == "audit_power" else None  # two ticks do not tell
    found = []
    for place in sorted({*np.linspace(0, len(positions) - 1, READ).astype(int)}):
        frame = explorer.frames[place]
        pictures = [picture(panel, log_x=log_x if i == 1 else None)
                    for i, panel in enumerate(frame.panels)]  # fmt: skip
        found.append((positions[place], pictures, frame))
    return found


def share(pattern, readout):
    return float(re.search(pattern, readout)[1]) / 100


@pytest.mark.parametrize("name", NAMES)
def test_each_step_of_a_slider_moves_the_picture(name):
    explorer = explorers.stored(name, FOLDER)
    sizes = [len(slider.shown) for slider in explorer.sliders]
    drawn = dict(zip(np.ndindex(*sizes), (f.panels for f in explorer.frames), strict=True))
    for at in drawn:
        for place in range(len(at)):
            following = (*at[:place], at[place] + 1, *at[place + 1 :])
            assert following not in drawn or drawn[at] != drawn[following], at


@pytest.mark.parametrize("name", NAMES)
def test_a_frame_says_where_its_sliders_stand(name):
    for shown, pictures, frame in read(name):
        words = " ".join([frame.readout, *(word for one in pictures for word in one.words)])
        for position in shown:
            number = re.escape(position.removesuffix(".0"))
            assert re.search(rf"(?<![\w.]){number}(?![\w%]|\.\d)", words), words


# --- curves beside the diagram --------------------------------------------------------------------


@pytest.mark.parametrize("name", ALONG)
def test_the_lines_of_an_along_frame_are_what_its_legend_and_its_readout_say(name):
    for shown, (_, right), frame in read(name):
        (plot,), readout = right.plots, frame.readout
        assert {words: right.keys[words] for words in ALONG_KEYS} == ALONG_KEYS
        assert set(right.keys) == {*ALONG[name], *ALONG_KEYS}
        lines = {words: find_line(plot, right.keys[words][0]) for words in ALONG[name]}
        here = plot.one("line", Look(palette.GREY))
        plot.is_at(here, [here.x[0]] * 2, [0, 1])
        check_ranges(plot, (min(x_of(lines)), max(x_of(lines))), (0, 1))
        check_slider(name, plot, here.x[0], shown, readout)
        values = {words: at_marker(plot, *drawn, here.x[0]) for words, drawn in lines.items()}
        for words, pattern in ALONG[name].items():
            if pattern:
                within = 0.005 if name in ONE_FILE else 0  # whole per cent
                assert share(pattern, readout) == pytest.approx(values[words], abs=0.002 + within)
        check_means(name, frame)


def x_of(lines):
    return [x for line, _ in lines.values() for x in line.x]


def find_line(plot, looks):
    """The line and the marker that have the looks of a key; its band lies around it."""
    (line,) = [shape for shape in plot.all("line") if shape.look in looks]
    (mark,) = [shape for shape in plot.all("marker") if shape.look in looks]
    assert line.look.colour == mark.look.colour
    band = plot.one("band", Look(line.look.colour))
    plot.is_at(band, line.x, band.y)
    low, high = band.y.T
    assert ((low - ROUNDED < line.y) & (line.y < high + ROUNDED)).all()
    assert low.min() > -ROUNDED
    assert high.max() < 1 + ROUNDED
    return line, mark


def at_marker(plot, line, mark, here):
    """The height of the line at the chosen place, where its marker must stand."""
    place = abs(plot.x.place(line.x) - plot.x.place(here)).argmin()
    plot.is_at(mark, [here], [line.y[place]])
    return line.y[place]


def check_slider(name, plot, here, shown, readout):
    """The grey line stands where the slider of the x axis does."""
    labels = [slider.label for slider in explorers.stored(name, FOLDER).sliders]
    (place,) = [i for i, label in enumerate(labels) if label in plot.x_label]
    position = shown[place].replace(",", "")
    value = float(position.rstrip("%")) / (100 if position.endswith("%") else 1)
    assert plot.x.place(here) == pytest.approx(plot.x.place(value), abs=PIXEL)


def check_means(name, frame):
    """What the readout says of all predictions is the mean over the bins of the diagram."""
    right, sure = (frame.values.get(name) for name in ("accuracy", "confidence"))
    told = {SHARE: right, f"{NUMBER} right,": right, SURE: sure}
    told[f"signed gap {NUMBER}"] = None if sure is None else sure - right
    for pattern, value in told.items():
        if value is not None and name not in ONE_FILE and re.search(pattern, frame.readout):
            assert share(pattern, frame.readout) == pytest.approx(value, abs=ROUNDED)


# --- explorers of their own kind ------------------------------------------------------------------


def test_the_histograms_of_test_sets_have_the_mean_and_the_truth_of_the_readout():
    for _, (drawn, legend), frame in read("test_images"):
        (plot,) = drawn.plots
        for role in (palette.TRAINED, palette.CURED, palette.TRUTH):
            bars, line = plot.one("bars", Look(role.colour)), plot.one("line", reading.line(role))
            heights = abs(np.diff(bars.y))[:, 0]
            mean = heights @ bars.x.mean(axis=1) / heights.sum()
            pattern = rf"{role.words}: measured {NUMBER} on average, exact {NUMBER}"
            measured, exact = (
                float(told) / 100 for told in re.search(pattern, frame.readout).groups()
            )
            assert measured == pytest.approx(mean, abs=0.5 * np.diff(bars.x).max())
            assert line.x == pytest.approx([exact] * 2, abs=ROUNDED)
            assert legend.keys[role.words] == [{Look(role.colour), reading.line(role)}]


def test_the_costs_of_four_models_are_those_of_the_words_and_none_beats_the_posterior():
    roles = {name: palette.group(place, f"model {name}") for place, name in enumerate("ABCD")}
    roles["posterior"] = palette.TRUTH
    order = {}
    for (ratio,), (_, lines), frame in read("cost_of_a_miss"):
        told = dict(re.findall(r"(posterior|[A-D]) (\d+)", frame.readout))
        assert set(told) == set(roles)
        (plot,) = lines.plots
        for name, role in roles.items():
            line, cost = plot.one("line", reading.line(role)), float(told[name])
            place = abs(plot.x.place(line.x) - plot.x.place(float(ratio))).argmin()
            assert line.y[place] == pytest.approx(min(cost, 150), abs=0.8)
            assert cost >= float(told["posterior"])
        order[float(ratio)] = min("ABCD", key=lambda name: float(told[name]))
    assert order[1] == "A"
    assert order[20] == "B"
