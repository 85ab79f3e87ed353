"""Figures and tables of an audit's page are read back and compared with `metrics`."""

import html
import re
from functools import cache
from xml.etree import ElementTree

import numpy as np
import pytest
import torch

import calibkit
from calibkit import metrics
from calibkit.auditing import figures
from calibkit.pictures import palette
from tests.auditing import test_audit
from tests.auditing.test_by_hand import johnson
from tests.pictures import reading
from tests.pictures.checks import check_diagram, check_ranges
from tests.pictures.reading import Look
from tests.pictures.reading_svg import picture

Z, LABELS = test_audit.drawn(900, 4, truth=0.5)
OTHER = Z / 3
GROUPS = np.array(["old scanner", "new", "a very long name of a group"])[np.arange(900) % 3]
Z[GROUPS == "new"] /= 5  # under-confident there
NAMES = ["cat", "dog", "owl", "fox"]
BINS = 12


@cache
def page():
    """The page of an audit with a temperature fitted elsewhere, groups and a second model."""
    options = {"calibration": test_audit.drawn(900, 4, truth=0.5, seed=1), "class_names": NAMES}
    audit = calibkit.audit(Z, LABELS, groups=GROUPS, other=OTHER, bins=BINS, **options)
    return audit.html(), audit.cooling.value


def pictures():
    """Every figure of the page: its text and its picture."""
    images = r'<div role="img" aria-label="([^"]*)">(.*?</svg>)</div>'
    found = re.findall(images, page()[0], re.DOTALL)
    return [(html.unescape(text), picture(svg)) for text, svg in found]


def table(caption):
    """Rows of cells as words; an interval below a value is left out."""
    for written in re.findall(r"<table.*?</table>", page()[0], re.DOTALL):
        root = ElementTree.fromstring(re.sub(r"<small>.*?</small>", "", written))
        if root.find("caption").text.startswith(caption):
            return [["".join(cell.itertext()) for cell in row] for row in root.find("tbody")]
    raise AssertionError(caption)


def number(words):
    """A number of the page; what is given in per cent as a fraction."""
    value = float(re.search(r"[+−\d.,]+", words)[0].replace("−", "-").replace(",", ""))
    return value / 100 if "%" in words else value


PROBS = Z.softmax(1)
SAID, GUESS = PROBS.max(1)
RIGHT = GUESS == LABELS


def counted(probs):
    return metrics.reliability(probs, LABELS, bins=BINS)


def test_the_diagrams_show_the_bins_before_and_after_the_temperature():
    cooling = page()[1]
    for (text, drawn), probs in zip(pictures()[:2], (PROBS, (Z / cooling).softmax(1)), strict=True):
        plot, strip = drawn.plots
        check_diagram(plot, strip, counted(probs))
        assert strip.y_label == "samples (log)"
        check_told(text, plot, counted(probs))
    titles = [drawn.plots[0].title for _, drawn in pictures()[:2]]
    assert titles == ["as it is", f"after temperature {cooling:.2f}"]


def check_told(text, plot, bins):
    """The words of a diagram hold for its bars."""
    levels = plot.one("levels", Look(palette.ACCURACY.colour))
    over = plot.one("bars", reading.area(palette.OVER))
    filled = bins.counts > 0
    low, high = plot.one("whiskers").y.T
    said, right = bins.confidence[filled].numpy(), levels.y
    outside = int(((said < low) | (said > high)).sum())
    worst = (abs(said - right) * bins.share[filled].numpy()).argmax()
    assert text.startswith(
        f"Reliability diagram, {plot.title}: {len(right)} filled bins, in {len(over.x)} of them the"
    )
    assert f"and in {outside} the confidence lies outside the 95 % interval" in text
    told = [number(words) for words in re.findall(r"[\d.]+%", text)]
    ends = [said[worst], right[worst], said[-1], right[-1]]
    assert told == pytest.approx(ends, abs=0.002)


def test_the_groups_stand_at_their_gaps_with_their_intervals():
    text, drawn = pictures()[3]
    (plot,) = drawn.plots
    names = ["a very long name of a group", "new", "old scanner"]
    told = dict(re.findall(r"([a-z][a-z ]+) ([+-][\d.]+%)", text))
    rows = list(plot.rows.items())
    assert [words[:16] for words, _ in rows] == [name[:16] for name in names]
    for (_, place), name in zip(rows, names, strict=True):
        residual = (SAID - RIGHT.double()).numpy()[name == GROUPS]
        gap = metrics.signed_gap(PROBS[name == GROUPS], LABELS[name == GROUPS])
        units = np.ones(len(residual)), np.arange(len(residual))
        (mark,) = [s for s in plot.all("marker") if abs(s.y[0] - place) < 1]
        plot.is_at(mark, [gap], [place])
        assert mark.look == reading.marker(palette.OVER if gap > 0 else palette.UNDER)
        (line,) = [s for s in plot.all("line", Look(palette.BLACK)) if abs(s.y[0] - place) < 1]
        plot.is_at(line, johnson(units, residual, 0.95), [place] * 2)
        assert told[name] == f"{gap:+.1%}"
    plot.is_at(plot.one("line", reading.line(palette.DIAGONAL)), [0, 0], plot.y_range[::-1])
    under, over = (drawn.words.index(f"{side}-confident") for side in ("under", "over"))
    assert under < over  # from left to right, as the axis goes
    assert plot.x_range[0] < 0 < plot.x_range[1]


def test_the_risk_is_drawn_against_the_coverage():
    text, drawn = pictures()[4]
    (plot,) = drawn.plots
    share, risk = (part.numpy() for part in metrics.risk_coverage_of(SAID, RIGHT))
    curve = plot.one("line", reading.line(palette.TRAINED))
    at = np.round(curve.x * len(share)).astype(int) - 1
    plot.is_at(curve, share[at], risk[at])
    assert (curve.x[0], curve.x[-1]) == pytest.approx((share[0], 1), abs=0.002)
    assert len(at) == min(len(share), figures.POINTS)
    plot.is_at(plot.one("line", reading.line(palette.DIAGONAL)), [0, 1], [risk[-1]] * 2)
    check_ranges(plot, (0, 1), (0, plot.y_range[1]))
    assert curve.y.max() <= plot.y_range[1] + 1e-9
    assert (plot.x_label, plot.y_label) == ("coverage: share answered (%)", "share wrong (%)")
    told = [number(words) for words in re.findall(r"[\d.]+%", text)]
    assert told == pytest.approx(risk[[899, 449, 89]], abs=0.0006)  # of all, a half, a tenth


def test_the_event_of_a_binary_model_is_drawn_from_0_to_1():
    odds = torch.linspace(-4, 4, 900).double()
    event = torch.rand(900, generator=torch.Generator().manual_seed(0)) < (odds / 2).sigmoid()
    audit = calibkit.audit(odds, event.long(), bins=BINS, class_names=["no", "yes & no"], level=0.9)
    images = r'<div role="img" aria-label="([^"]*)">(.*?</svg>)</div>'
    found = re.findall(images, audit.html(), re.DOTALL)
    place = [html.unescape(text).startswith("Reliability diagram, P(yes") for text, _ in found]
    text, svg = found[place.index(True)]
    pairs = (("share with the event (%)", "accuracy (%)"), ("predicted (%)", "confidence (%)"))
    for words, others in pairs:
        assert svg.count(f">{words}<") == 1
        svg = svg.replace(f">{words}<", f">{others}<")
    plot, strip = picture(svg).plots
    counted = metrics.reliability_of(odds.sigmoid(), event, bins=BINS)
    check_diagram(plot, strip, counted, level=0.9)
    assert plot.title == "P(yes & no)"
    said, came = counted.confidence, counted.accuracy
    assert f"in {int((said > came).sum())} of them the event came more seldom" in text
    told = [number(words) for words in re.findall(r"[\d.]+%", text)]
    ends = [float(part) for part in (said[0], came[0], said[-1], came[-1])]
    assert told == pytest.approx(ends, abs=0.001)
    _, keys = found[place.index(True) + 1]
    for words in ("share with the event", "predicted too high", "predicted too low"):
        assert f">{words}<" in keys
    assert "90 % interval" in keys


def test_the_measures_stand_in_their_columns():
    cooled = (Z / page()[1]).softmax(1)
    judges = {"accuracy": metrics.accuracy, "signed gap": metrics.signed_gap, "MCE": None}
    judges |= {"ECE": metrics.ece, "adaptive ECE": metrics.ada_ece, "Brier score": metrics.brier}
    rows = {name: list(map(number, cells)) for name, *cells in table("Measures")}
    beside = {name: list(map(number, cells)) for name, *cells in table("Two models")}
    for name, judge in judges.items():
        options = {"bins": BINS} if name.endswith("ECE") else {}
        judge = judge or (lambda probs, labels: metrics.mce(probs, labels, bins=BINS))
        here, after, other = (
            judge(probs, LABELS, **options) for probs in (PROBS, cooled, OTHER.softmax(1))
        )
        assert rows[name] == pytest.approx([here, after, after - here], abs=0.0001)
        assert beside[name] == pytest.approx([here, other, other - here], abs=0.0001)
