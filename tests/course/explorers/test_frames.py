"""The frames of the explorers are read back: bars, lines, markers, keys and readouts agree."""

import re

import numpy as np
import pandas as pd
import pytest
import torch

from calibkit import metrics
from calibkit.course import explorers
from calibkit.course.explorers import digits
from calibkit.course.explorers import next_word as drawn
from calibkit.pictures import palette
from tests import refusals
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
DRAWS = np.random.default_rng(0)
IMAGES = DRAWS.random((3, 8, 8))
SAID = DRAWS.dirichlet(np.ones(10), 4)
A, B = palette.group(0, "model A"), palette.group(1, "model B")


def read(frame):
    """All plots of a frame, panel by panel."""
    return [picture(panel).plots for panel in frame.panels]


def shares(panel, *roles):
    """Of a panel the bars of the first role, then the marks of each other one."""
    (plot,) = picture(panel).plots
    (bars,) = [b for b in plot.all("bars") if b.look.colour == roles[0].pale.upper()]
    marks = [[m.y[0] for m in plot.all("marker") if m.look == reading.marker(role)]
             for role in roles[1:]]  # fmt: skip
    return [bars.y[:, 1], *marks]


def near(*rows):
    return [pytest.approx(np.asarray(row), abs=0.006) for row in rows]


# --- lines over a slider's values -----------------------------------------------------------------

X = [1.0, 3.0, 10.0, 60.0]
LINES = {
    palette.ACCURACY: [[0.9, 0.8, 0.7, 0.2], [0.7, 0.6, 0.5, 0.4], [0.8, 0.4, 0.6, 0.3]],
    palette.CONFIDENCE: [[0.5, 0.6, 0.9, 0.95]],
    palette.group(3, "distance"): [[0.1, 0.05, 0.3, 0.2], [0.2, 0.15, 0.0, 0.1]],
}
LABELS = {"x_label": "epoch", "x_ticks": (1, 10, 30), "title": "nets < all", "readout": "as given"}


def along(at=3.0, runs=LINES, **more):
    return explorers.along_frame(COUNTED, at, X, runs, **LABELS | more)


@pytest.mark.parametrize("log_x", [False, True])
def test_an_along_frame_shows_the_diagram_and_the_lines_with_their_markers(log_x):
    for place, at in enumerate(X):
        frame = along(at, log_x=log_x, y_label="share of all")
        (diagram, strip), (plot,) = read(frame)
        check_diagram(diagram, strip, COUNTED)
        assert (diagram.title, frame.readout) == ("nets < all", "as given")
        check_lines(plot, LINES, at, place)
        assert len(plot.shapes) == 3 * len(LINES) + 1
        plot.is_at(plot.one("line", Look(palette.GREY)), [at, at], [0, 1])
        check_ranges(plot, (1, 60), (0, 1))
        assert (plot.x_label, plot.y_label, plot.x.log) == ("epoch", "share of all", log_x)
        keys = {role.words: [line_key(role)] for role in LINES}
        assert picture(frame.panels[1]).keys == ALONG_KEYS | keys
        weights = COUNTED.counts / COUNTED.counts.sum()
        means = [(weights * one).nansum().item() for one in (COUNTED.accuracy, COUNTED.confidence)]
        assert [*frame.values.values()] == pytest.approx(means)
        assert [*frame.values] == ["accuracy", "confidence"]


def check_lines(plot, every, at, place, x=X):
    for role, runs in every.items():
        check_runs(plot, role, x[: len(runs[0])], runs)
        plot.is_at(plot.one("marker", reading.marker(role)), [at], [np.mean(runs, axis=0)[place]])


def test_what_lies_beyond_the_ticks_is_drawn_at_the_edge():
    _, (plot,) = read(along(60, {palette.ACCURACY: [[0.1, 0.2, 0.3, 0.6]]}, y_ticks=(0, 0.2, 0.4)))
    line = plot.one("line", reading.line(palette.ACCURACY))
    plot.is_at(line, X, [0.1, 0.2, 0.3, 0.4])
    plot.is_at(plot.one("marker", reading.marker(palette.ACCURACY)), [60], [0.4])
    plot.is_at(plot.one("line", Look(palette.GREY)), [60, 60], [0, 0.4])


KINDS = [palette.group(0, "true"), palette.group(3, "false"), palette.COUNTS]


@pytest.mark.parametrize(("given", "counts"), [
    ((0.875, 0.125), (88, 12)), ((0.874, 0.126), (87, 13)),
    ((1, 0), (100, 0)), ([1 / 3] * 3, None),
])  # fmt: skip
def test_the_hundred_squares_are_the_shares(given, counts):
    roles = dict(zip(KINDS, given, strict=False))
    runs = {KINDS[1]: [[0.1, 0.5], [0.3, 0.7]]}
    frame = explorers.squares_frame(roles, 1, X[:2], runs, **LABELS)
    squares = re.findall(
        r'<rect x="(\S+)" y="(\S+)" [^>]*fill="(\S+)"[^>]*class="square"', frame.panels[0]
    )
    assert len({(x, y) for x, y, _ in squares}) == len(squares) == 100
    found = tuple(sum(fill == role.pale for *_, fill in squares) for role in roles)
    assert found == (counts or tuple(sorted(found, reverse=True)))
    assert max(found) - min(found) <= 1 or counts
    for role, count in zip(roles, found, strict=True):
        assert f">{count} {role.words}</text>" in frame.panels[0]
    (plot,) = picture(frame.panels[1]).plots
    check_lines(plot, runs, 1, 0)
    assert frame.values == {role.words: share for role, share in roles.items()}


RATIOS = [1, 5, 20]
COSTS = {A: [[10, 40, 100], [14, 44, 120]], B: [[20, 60, 70], [20, 62, 74]]}


def costs(at, runs=COSTS, ceiling=150):
    options = {"always": 80, "ceiling": ceiling, "title": "", "readout": "A 42, B 61"}
    return explorers.cost_frame(runs, RATIOS, at, **options)


@pytest.mark.parametrize("at", RATIOS)
def test_each_bar_has_the_mean_cost_and_its_number_and_lines_stand_where_the_costs_are(at):
    bars, panel = costs(at).panels
    widths = re.findall(r'<rect x="[\d.]+" y="[\d.]+" width="([\d.]+)" height="22"', bars)
    means = [np.mean(values, axis=0)[RATIOS.index(at)] for values in COSTS.values()]
    assert [float(width) / 190 * 150 for width in widths] == pytest.approx(means, abs=0.1)
    assert all(f">{mean:.0f}</text>" in bars for mean in means)
    assert "check everything" in bars
    (plot,) = picture(panel).plots
    check_lines(plot, COSTS, at, RATIOS.index(at), RATIOS)
    assert plot.x_label == "cost c of a miss (log)"
    bars, lined = costs(20, ceiling=100).panels  # a cost beyond the axis ends there and is told
    assert 'width="190" height="22"' in bars
    assert ">110</text>" in bars
    assert lined.count('class="marker"') == 1  # of B alone


PROMISES, OLD = [0.5, 0.7, 0.9], palette.group(2, "old scanner")
COVERAGE = {palette.Role("all images", palette.BLACK, (), "X"): [0.52, 0.71, 0.9],
            OLD: [0.34, 0.5, 0.75]}  # fmt: skip
SETS = [(3, [3, 5], 0.99), (4, [4], 1.0), (3, [0, 6], 0.38), (1, list(range(8)), 0.8)]
EXAMPLES = [explorers.Example(IMAGES[0], IMAGES[1], *one) for one in SETS]


def promise(kept=0.9, rows=None, runs=COVERAGE):
    rows = {"new": EXAMPLES[:2], "old": EXAMPLES[2:]} if rows is None else rows
    return explorers.promise_frame(kept, rows, PROMISES, runs, size=1.74)


@pytest.mark.parametrize("kept", PROMISES)
def test_sets_stand_under_their_images_and_lines_are_the_coverage(kept):
    frame, place = promise(kept), PROMISES.index(kept)
    told = picture(frame.panels[0]).words
    assert {"{3,5}", "99 %", "{4}", "100 %", "38 %", "{8 digits}", "80 %", "✗ no 3"} <= set(told)
    assert [word for word in told if len(word) == 1] == ["3", "4", "3", "1"]
    assert sum("✗" in word for word in told) == 1
    (plot,) = picture(frame.panels[1]).plots
    for role, values in COVERAGE.items():
        plot.is_at(plot.one("line", reading.line(role)), PROMISES, values)
        plot.is_at(plot.one("marker", reading.marker(role)), [kept], [values[place]])
    groups = {role.words: values[place] for role, values in COVERAGE.items()}
    assert frame.values == groups | {"size": 1.74}
    named = ", ".join(f"{name} {100 * share:.0f} %" for name, share in groups.items())
    words = (
        f"Promised {100 * kept:.0f} %. The set holds the right digit: {named}. 1.7 digits a set."
    )
    assert frame.readout == words


# --- digits over bars -----------------------------------------------------------------------------

LOGITS = 3 * torch.randn(2, 10, generator=torch.Generator().manual_seed(0))
ONE_HOT = np.eye(10)


def blend(share):
    frame = explorers.blend_frame(IMAGES[:2], (3, 7), share, SAID[:2], SAID[2:])
    label = share * ONE_HOT[3] + (1 - share) * ONE_HOT[7]
    roles = (digits.LABEL, digits.PLAIN, digits.MIXED)
    told = [f"{n} noise the network without blends says {a.argmax()} with {100 * a.max():.1f} %"
            for n, a in zip(("without", "with"), SAID[:2], strict=True)]  # fmt: skip
    parts = f"{100 * share:.0f} % of a 3, {100 * (1 - share):.0f} % of a 7: "
    return frame, [(roles, (label, SAID[i], SAID[2 + i])) for i in (0, 1)], [parts, *told]


def cooled(T):
    frame = explorers.cooled_frame(IMAGES[:2], [0, 1], LOGITS, T)
    after, before = ((LOGITS.double() / t).softmax(1).numpy() for t in (T, 1))
    told = [f'the {n} answer "{row.argmax()}" has {100 * row.max():.1f} %'
            for n, row in zip(("right", "wrong"), after, strict=True)]  # fmt: skip
    return (
        frame,
        [((digits.AFTER, digits.BEFORE), rows) for rows in zip(after, before, strict=True)],
        told,
    )


def noisier(noise):
    frame = explorers.noisier_frame(IMAGES[:2], [3, 6], SAID[:2], SAID[2:], noise)
    told = [f"of the {n} the network says {a.argmax()} with {100 * a.max():.1f} %, the best reader "
            f"{b.argmax()} with {100 * b.max():.1f} %"
            for n, a, b in zip((3, 6), SAID[:2], SAID[2:], strict=True)]  # fmt: skip
    return frame, [((digits.NETWORK, digits.EXACT), (SAID[i], SAID[2 + i])) for i in (0, 1)], told


def prior(ratio):
    frame = explorers.prior_frame(IMAGES[:2], [3, 3], SAID[:2], ratio)
    rare = SAID[:2] / np.where(np.arange(10) == 3, ratio, 1)
    rare /= rare.sum(1, keepdims=True)
    assert frame.values == pytest.approx({"clear": rare[0, 3], "doubtful": rare[1, 3]})
    even = f"{100 * SAID[0, 3]:.1f} % to {100 * rare[0, 3]:.1f} %"
    told = f"the clear 3 falls from {even}" if ratio > 1 else "Equally common: the clear 3 has"
    return (
        frame,
        [((digits.RARE, digits.EVEN), rows) for rows in zip(rare, SAID[:2], strict=True)],
        [told],
    )


def soft(alpha):
    frame = explorers.soft_label_frame(IMAGES[0], 5, SAID[0], alpha)
    label, exact = ONE_HOT[5], SAID[0]
    taught, asked = ((1 - alpha) * row + alpha / 10 for row in (label, exact))
    best = exact.argmax()
    told = (
        f'Alpha {alpha:g}: the label "5" keeps {100 * taught[5]:.0f} %. The exact posterior says '
        f"{best} with {100 * exact[best]:.0f} %, the loss is lowest at {100 * asked[best]:.0f} %."
    )
    rows = [
        ((digits.SOFT, digits.HARD), (taught, label)),
        ((digits.ASKED, digits.TRUE), (asked, exact)),
    ]
    return frame, rows, [told]


@pytest.mark.parametrize(("explorer", "value"), [
    (blend, 0.7), (blend, 1), (cooled, 0.5), (cooled, 4.0), (noisier, 0.8), (prior, 1),
    (prior, 1000), (soft, 0.0), (soft, 0.3), (soft, 1.0),
])  # fmt: skip
def test_bars_and_marks_are_the_probabilities_and_the_words_tell_them(explorer, value):
    frame, panels, told = explorer(value)
    for panel, (roles, rows) in zip(frame.panels, panels, strict=True):
        assert shares(panel, *roles) == near(*rows)
    assert all(words in frame.readout for words in told)


@pytest.mark.parametrize("rate", [0.0, 0.3, 1.0])
def test_labels_stand_under_their_images_and_the_bars_are_the_posterior_of_the_label(rate):
    frame = explorers.labels_frame(IMAGES, [3, 1, 2], [3, 7, 2], SAID[0], rate)
    noisy, best = (1 - rate) * SAID[0] + rate / 10, SAID[0].argmax()
    assert shares(frame.panels[1], digits.NOISY) == near(noisy)
    assert f"the label a {best} with {100 * noisy[best]:.0f} %" in frame.readout
    assert "1 of the 3 labels shown is wrong" in frame.readout
    told = picture(frame.panels[0]).words
    assert {"“7” ✗", "“3”"} <= set(told)
    assert sum("✗" in word for word in told) == 1


# --- diagrams, curves, histograms, words ----------------------------------------------------------

FILM = pd.DataFrame({
    "epoch": [1, 2, 3, 4, 5],
    "train_nll": [2.0, 1.2, 0.6, 0.2, 0.05], "test_nll": [2.1, 1.3, 0.8, 0.9, 1.1],
    "train_accuracy": [0.31, 0.62, 0.83, 0.94, 0.995],
    "train_confidence": [0.12, 0.53, 0.74, 0.91, 0.985],
    "test_accuracy": [0.29, 0.58, 0.71, 0.72, 0.725],
    "test_confidence": [0.11, 0.51, 0.73, 0.88, 0.935],
})  # fmt: skip


def test_a_film_frame_shows_both_diagrams_and_both_curves():
    names = {"test": palette.group(0, "test"), "train": palette.group(1, "training")}
    for row in FILM.itertuples():
        frame = explorers.film_frame(FILM, COUNTED, OTHER, row.epoch, exact_nll=0.15)
        training, test, (losses,), _ = read(frame)
        check_diagram(*training, COUNTED)
        check_diagram(*test, OTHER)
        assert [plots[0].title for plots in (training, test)] == ["training images", "test images"]
        losses.is_at(losses.one("line", reading.line(EXACT)), [1, 5], [0.15, 0.15])
        for name, role in names.items():
            curve, here = FILM[f"{name}_nll"], getattr(row, f"{name}_nll")
            losses.is_at(losses.one("line", reading.line(role)), FILM.epoch, curve)
            losses.is_at(losses.one("marker", reading.marker(role)), [row.epoch], [here])
        assert len(losses.shapes) == 5
        check_ranges(losses, (1, 5), (0, 2.5))
        keys = [picture(panel).keys for panel in frame.panels[2:]]
        assert keys == [
            {role.words: [line_key(role)] for role in (*names.values(), EXACT)},
            DIAGRAM_KEYS,
        ]
        pairs = [f"{100 * getattr(row, f'{one}_accuracy'):.1f} % right, mean confidence "
                 f"{100 * getattr(row, f'{one}_confidence'):.1f} %"
                 for one in ("train", "test")]  # fmt: skip
        assert frame.readout == (
            f"after epoch {row.epoch}: training images {pairs[0]}; test images {pairs[1]}; "
            f"test NLL {row.test_nll:.2f}"
        )
        assert frame.values == FILM.loc[row.Index].to_dict()


CURVES = pd.DataFrame({
    "T": [0.5, 1, 2, 3, 4, 5], "nll": [1.4, 0.9, 0.5, 0.6, 0.7, 0.8],
    "ece": [0.17, 0.1, 0.08, 0.02, 0.05, 0.15], "gap": [0.17, 0.1, 0.08, -0.01, -0.05, -0.15],
})  # fmt: skip


def test_a_cooling_frame_shows_both_measures_up_to_the_temperature_and_their_lowest_value():
    for place, row in enumerate(CURVES.itertuples()):
        frame = explorers.cooling_frame(COUNTED, CURVES, row.T, exact_nll=0.3)
        diagram, (nll,), (ece,) = read(frame)
        check_diagram(*diagram, COUNTED)
        for plot, name, top in ((nll, "nll", 1.5), (ece, "ece", 0.2)):
            x, y = CURVES["T"][: place + 1], CURVES[name][: place + 1]
            plot.is_at(plot.one("line", reading.line(palette.CURED)), x, y)
            plot.is_at(plot.one("marker", reading.marker(palette.CURED)), x.iloc[-1:], y.iloc[-1:])
            lowest = plot.one("line", Look(palette.GREY, (3, 3)))
            plot.is_at(lowest, [x[y.idxmin()]] * 2, [0, top])
            check_ranges(plot, (0.5, 5), (0, top))
        nll.is_at(nll.one("line", reading.line(EXACT)), [0.5, 5], [0.3, 0.3])
        assert [(plot.title, plot.y_label) for plot in (nll, ece)] == [
            ("NLL", "NLL"),
            ("ECE", "ECE (%)"),
        ]
        assert picture(frame.panels[1]).keys == {EXACT.words: [{reading.line(EXACT)}]}
        assert frame.values == CURVES.loc[row.Index].to_dict()
        assert frame.readout == (
            f"T = {row.T:g}: signed gap {100 * row.gap:+.1f} %, ECE {100 * row.ece:.1f} %, "
            f"NLL {row.nll:.3f}"
        )


def test_each_panel_of_two_rivals_is_the_diagram_of_its_model():
    frame = explorers.rivals_frame([COUNTED, OTHER], ["model A", "model B"], readout="A; B")
    assert (len(frame.panels), frame.readout) == (3, "A; B")
    for plots, one, title in zip(
        read(frame), (COUNTED, OTHER), ("model A", "model B"), strict=False
    ):
        check_diagram(*plots, one)
        assert plots[0].title == title


@pytest.mark.parametrize("roles", [None, {"net": palette.TRAINED, "cure": palette.CURED}])
def test_a_spread_frame_shows_a_histogram_and_the_truth_of_each_sample(roles):
    samples = {"net": DRAWS.normal(0.3, 0.05, 300), "cure": DRAWS.uniform(-0.1, 0.3, 200)}
    truths = {"net": 0.25, "cure": 0.05}
    options = {"x_range": (0, 0.47), "x_label": "ECE", "title": "draws", "readout": "as given"}
    frame = explorers.spread_frame(samples, truths, roles=roles, **options)
    (plot,), _ = read(frame)
    check_ranges(plot, (0, 0.47), plot.y_range)
    assert {">0<", ">0.1<", ">0.4<"} <= {*re.findall(r">[\d.]+<", frame.panels[0])}
    assert ">0.5<" not in frame.panels[0]
    assert (plot.title, plot.x_label, frame.readout) == ("draws", "ECE", "as given")
    looks = roles or {name: palette.group(i, name) for i, name in enumerate(samples)}
    for name, role in looks.items():
        # what lies outside is in the first and last bar; the tallest one has nine tenths
        counts, edges = np.histogram(samples[name].clip(0, 0.47), bins=40, range=(0, 0.47))
        low, high = plot.y_range  # no ticks, so in pixels
        tops = (low + 0.9 * counts / counts.max() * (high - low))[counts > 0]
        ends = np.c_[edges[:-1], edges[1:]][counts > 0]
        plot.is_at(plot.one("bars", Look(role.colour)), ends, np.c_[np.full_like(tops, low), tops])
        plot.is_at(plot.one("line", reading.line(role)), [truths[name]] * 2, plot.y_range)
    keys = {name: [{Look(role.colour), reading.line(role)}] for name, role in looks.items()}
    assert picture(frame.panels[1]).keys == keys


SAYS = {"voiture": 0.6, "route": 0.25, "car": 0.1, "house": 0.05}
LAW = {"route": 0.7, "chemin": 0.3}


def next_word(says=SAYS):
    frame = explorers.next_word_frame("the road", ["la"], says, LAW, title="after 1 word")
    texts = re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]+)</text>', frame.panels[0])
    return frame, [told for x, _, told in texts if float(x) == drawn.LEFT - 6]


def test_the_next_words_are_those_of_the_law_then_those_of_the_network():
    frame, rows = next_word()
    assert rows == ["route", "chemin", "voiture", "car", "house"]
    (bars,) = re.findall(rf'<path d="([^"]+)" fill="{drawn.NETWORK.pale}"', frame.panels[0])
    ends = [float(x) for x in re.findall(r"H([\d.]+)V", bars)]
    assert ends == pytest.approx(
        [drawn.LEFT + drawn.WIDTH * SAYS.get(w, 0) for w in rows], abs=0.06
    )
    marked = re.findall(rf'd="M([\d.]+)[^>]*fill="{drawn.EXACT.colour}"', frame.panels[0])
    expected = [drawn.LEFT + drawn.WIDTH * LAW.get(w, 0) for w in rows]
    assert [float(x) for x in marked[: len(rows)]] == pytest.approx(expected, abs=0.06)
    told = "after 1 word: the network says voiture with 60.0 %, the exact law 0.0 %"
    assert frame.readout == told


# --- what cannot be drawn -------------------------------------------------------------------------

LONG = palette.ACCURACY.named("accuracy on the clean labels")
SPREAD = {"x_range": (0, 1), "x_label": "", "title": "", "readout": ""}


test_what_cannot_be_drawn_is_named = refusals.table("""
    along(0.3) -> ValueError: at must be one of
    along(runs={}) -> ValueError: lines must be 1 to 4
    along(runs={palette.group(i, "x"): [[0] * 4] for i in range(5)}) -> ValueError: lines must be
    along(runs={A: [[0.5, 0.5]]}) -> ValueError: lines['model A'] must be (seeds, 4)
    along(runs={A: [0.5] * 4}) -> ValueError: lines['model A'] must be
    along(runs={LONG: [[0.5] * 4]}) -> ValueError: ...at most 24 letters, got 'accuracy on the clean
    explorers.squares_frame({A: 0.9}, 1, X, LINES, **LABELS) -> ValueError: ...sum to 1
    costs(7) -> ValueError: at must be one of
    costs(5, {}) -> ValueError: ...1 to 6 named groups, got 0
    promise(0.8) -> ValueError: promise must be one of
    promise(rows={"old": EXAMPLES[:1] * 5}) -> ValueError: ...4 images at most, got 5 of 'old'
    promise(runs={OLD: [0.5, 0.6]}) -> ValueError: ...one entry per promise, 3, got 2
    blend(1.2) -> ValueError: share must lie in
    cooled(0.0) -> ValueError: T must lie in
    cooled(np.inf) -> ValueError: T must lie in
    noisier(-0.1) -> ValueError: noise must lie in
    noisier(np.inf) -> ValueError: noise must lie in
    explorers.prior_frame(IMAGES[:2], [3, 3], SAID[:2], np.inf) -> ValueError: ratio
    soft(1.5) -> ValueError: alpha must lie in
    explorers.prior_frame(IMAGES[:2], [3], SAID[:2], 10) -> ValueError: ...image, 2, got 1
    explorers.prior_frame(IMAGES[:2], [3, 3], SAID[:2], 0.5) -> ValueError: ratio
    explorers.labels_frame(IMAGES, [3], [3, 7], SAID[0], 0) -> ValueError: ...image, 3, got 1
    explorers.labels_frame(IMAGES, [3] * 3, [3] * 3, SAID[0], 1.3) -> ValueError: rate must
    explorers.cooling_frame(COUNTED, CURVES, 7, exact_nll=0.3) -> ValueError: at must be one of
    explorers.film_frame(FILM, COUNTED, OTHER, 9, exact_nll=0) -> ValueError: epoch must be one
    explorers.rivals_frame([COUNTED], ["a"] * 2, readout="") -> ValueError: ...per model, 1, got 2
    explorers.spread_frame({}, {}, **SPREAD) -> ValueError: samples must be 1 to 4
""")
