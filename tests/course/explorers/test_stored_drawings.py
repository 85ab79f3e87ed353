"""Every frame that a lesson opens with is read back: its drawings agree with each other and with
the numbers of its readout.
"""

import itertools
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

from calibkit import metrics
from calibkit.course import explorers
from calibkit.course.explorers.digits import AFTER, ASKED, LABEL, NETWORK, RARE, SOFT
from calibkit.pictures import palette
from tests.pictures import reading
from tests.pictures.checks import (
    ALONG_KEYS,
    DIAGRAM_KEYS,
    INTERVAL,
    check_frame,
    check_ranges,
    line_key,
)
from tests.pictures.reading import PIXEL, Look
from tests.pictures.reading_svg import picture

FOLDER = Path(__file__).parents[3] / "notebooks" / "results" / "explorers"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))
ROUNDED = 0.001  # of a share that a readout has in per cent with one decimal
COUNTED = 0.003  # of a mean over bins whose counts are read from a log axis
ENDS = 0.006  # of an interval, for the same reason
NUMBER = r"([+-]?[\d.]+) ?%"
SHARE, SURE = f"accuracy {NUMBER}", f"mean confidence {NUMBER}"

# By explorer the lines of its right panel, each with its number in the readout.
ALONG = {
    "architectures": {
        "accuracy": SHARE,
        "mean confidence": SURE,
        "ECE as trained": f"ECE {NUMBER}",
        "ECE after T": f"after T {NUMBER}",
    },
    "audit_power": {
        name: rf"{NUMBER} \({name}\)"
        for name in ("too sure", "two scanners", "rare class", "exact posterior")
    },
    "dataset_size": {
        "accuracy": SHARE,
        "mean confidence": None,  # by accuracy and signed gap
        "best possible accuracy": f"best possible accuracy {NUMBER}",
    },
    "focal_gamma": {"accuracy": SHARE, "mean confidence": SURE},
    "focal_practice": {"accuracy": SHARE, "mean confidence": SURE},
    "label_noise": {
        "accuracy, clean labels": f"right on {NUMBER} of clean",
        "mean confidence": SURE,
    },
    "mixup_alpha": {"accuracy": SHARE, "mean confidence": SURE},
    "note_length": {"accuracy": SHARE, "mean confidence": SURE},
    "power": {
        f"T {T}: exact error {error}%": rf"{NUMBER} at T {T}: exact error {error}%"
        for T, error in {"1": "0.0", "1.1": "2.3", "1.2": "4.7", "1.5": "11.3"}.items()
    },
    "severity": {"accuracy": SHARE, "mean confidence": SURE},
    "soft_targets": {"accuracy": SHARE, "ECE, networks": f"ECE {NUMBER}", "ECE, optimum p*": None},
    "real_network": {"accuracy": SHARE, "mean confidence": SURE},
    "start_here": {"accuracy": SHARE, "mean confidence": SURE},
    "subset_share": {"accuracy": SHARE, "mean confidence": SURE},
    "translation": {
        "accuracy": SHARE,
        "mean confidence": SURE,
        "best possible accuracy": f"best possible accuracy {NUMBER}",
        "distance from the law": f"distance from the law {NUMBER}",
    },
}
DIAGRAMS = {
    "next_word": 0,
    "two_models": 2,
    "blend": 0,
    "class_prior": 0,
    "cost_of_a_miss": 0,
    "made_up": 0,
    "new_scanner": 0,
    "noisy_labels": 0,
    "promises": 0,
    "soft_label": 0,
    "test_images": 0,
    "two_answers": 0,
    "overconfidence": 2,
}  # in a frame, else 1
ONE_FILE = ("audit_power", "power")  # whose diagram shows another sample than the readout tells


def test_every_stored_explorer_is_read():
    others = {
        "blend",
        "class_prior",
        "cost_of_a_miss",
        "made_up",
        "new_scanner",
        "next_word",
        "noisy_labels",
        "overconfidence",
        "promises",
        "soft_label",
        "temperature",
        "test_images",
        "two_answers",
        "two_models",
        "two_networks",
    }
    assert set(NAMES) == {*ALONG, *others}


@cache
def read(name):
    """Of each frame the words at its sliders, the pictures of its panels, and its readout."""
    explorer = explorers.stored(name, FOLDER)
    positions = itertools.product(*(slider.shown for slider in explorer.sliders))
    log_x = True if name == "audit_power" else None  # two ticks do not tell
    pictures = [
        [picture(panel, log_x=log_x if place == 1 else None) for place, panel in enumerate(panels)]
        for panels in (frame.panels for frame in explorer.frames)
    ]
    readouts = [frame.readout for frame in explorer.frames]
    return list(zip(positions, pictures, readouts, strict=True))


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
    for shown, pictures, readout in read(name):
        words = " ".join([readout, *(word for one in pictures for word in one.words)])
        for position in shown:
            number = re.escape(position.removesuffix(".0"))
            assert re.search(rf"(?<![\w.]){number}(?![\w%]|\.\d)", words), words


@pytest.mark.parametrize("name", NAMES)
def test_a_diagram_agrees_with_itself_and_with_its_readout(name):
    for _, pictures, readout in read(name):
        diagrams = [one.plots for one in pictures if len(one.plots) == 2]
        assert len(diagrams) == DIAGRAMS.get(name, 1)
        sides = readout.split(";") if len(diagrams) == 2 else [readout]
        for (plot, strip), told in zip(diagrams, sides, strict=False):
            counts, accuracy, confidence = bins_of(plot, strip)
            check_whiskers(plot, counts, accuracy)
            if name not in ONE_FILE:
                check_means(counts, accuracy, confidence, told)


def bins_of(plot, strip):
    """Counts, accuracy and mean confidence of each bin, as drawn; the parts fit to each other."""
    check_frame(plot, strip)
    levels, heights = plot.one("levels", Look(palette.ACCURACY.colour)), strip.one("bars")
    check_strip(strip, levels.x, heights)
    confidence = np.full(len(levels.x), np.nan)
    for role, sign in ((palette.OVER, 1), (palette.UNDER, -1)):
        for gaps in plot.all("bars", reading.area(role)):
            bin_of = {round(left, 6): place for place, (left, _) in enumerate(levels.x)}
            places = [bin_of[round(left, 6)] for left, _ in gaps.x]
            plot.is_at(gaps, levels.x[places], np.c_[levels.y[places], gaps.y[:, 1]])
            assert (sign * np.diff(gaps.y) >= 0).all()
            assert np.isnan(confidence[places]).all()
            confidence[places] = gaps.y[:, 1]
    left, right = levels.x.T
    assert ((left - ENDS < confidence) & (confidence < right + ENDS)).all()
    assert (levels.y <= 1 + 1e-9).all()
    return heights.y[:, 1], levels.y, confidence


def check_strip(strip, ends, heights):
    """A count for each bar, whole, from half a sample up to below the top of the strip."""
    low, high = heights.y.T
    assert heights.look == Look(palette.COUNTS.colour)
    strip.is_at(heights, ends, np.c_[np.full_like(low, 0.5), high])
    assert (high < strip.y_range[1]).all()
    few = high[high < 5]
    assert few == pytest.approx(few.round(), rel=0.05)


def check_whiskers(plot, counts, accuracy):
    """Wilson intervals of the bars and counts that are drawn, in the middle of each bin."""
    whiskers = plot.one("whiskers", INTERVAL)
    levels = plot.one("levels", Look(palette.ACCURACY.colour))
    hits = (accuracy * counts).clip(0, counts)
    low, high = metrics.wilson_interval(torch.from_numpy(hits), torch.from_numpy(counts))
    np.testing.assert_allclose(whiskers.x, levels.x.mean(axis=1), 0, ENDS)
    np.testing.assert_allclose(whiskers.y, np.c_[low, high], 0, ENDS)


def check_means(counts, accuracy, confidence, readout):
    """What the readout says of the sample is the mean over the bins that are drawn."""
    weights = counts / counts.sum()
    right, sure = weights @ accuracy, weights @ confidence
    told = {
        SHARE: right,
        f"{NUMBER} right,": right,
        f"right on {NUMBER} of clean": right,
        SURE: sure,
        f"signed gap {NUMBER}": sure - right,
    }
    found = [(share(pattern, readout), value) for pattern, value in told.items()
             if re.search(pattern, readout)]  # fmt: skip
    assert found
    for number, value in found:
        assert number == pytest.approx(value, abs=COUNTED)


# --- curves beside the diagram --------------------------------------------------------------------


@pytest.mark.parametrize("name", ALONG)
def test_the_lines_of_an_along_frame_are_what_its_legend_and_its_readout_say(name):
    for shown, (_, right), readout in read(name):
        (plot,) = right.plots
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
        check_gap(values, readout)


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


def check_gap(values, readout):
    told = re.search(f"signed gap {NUMBER}", readout)
    if told and "mean confidence" in values:
        gap = values["mean confidence"] - values["accuracy"]
        assert float(told[1]) / 100 == pytest.approx(gap, abs=0.003)


@pytest.mark.parametrize("name", ALONG)
def test_only_the_marked_place_moves_along_the_lines(name):
    """Frames that differ in the slider of the x axis alone have the same lines; others do not."""
    labels = [slider.label for slider in explorers.stored(name, FOLDER).sliders]
    drawn = {}
    for shown, (_, right), _ in read(name):
        (plot,) = right.plots
        fixed = tuple(
            w for w, label in zip(shown, labels, strict=True) if label not in plot.x_label
        )
        lines = [shape for shape in plot.all("line") if shape.look != Look(palette.GREY)]
        drawn.setdefault(fixed, set()).add(
            str([(s.look, s.x.tolist(), s.y.tolist()) for s in lines])
        )
    assert all(len(lines) == 1 for lines in drawn.values())
    assert len(set.union(*drawn.values())) == len(drawn)


# --- explorers of their own kind ------------------------------------------------------------------


def test_the_film_marks_both_curves_at_its_epoch():
    test, training = palette.group(0, "test"), palette.group(1, "training")
    exact = palette.TRUTH.named("exact posterior")
    drawn = {test.words: set(), training.words: set()}
    for (epoch,), (*_, last, legend), readout in read("overconfidence"):
        (plot,) = last.plots
        assert last.keys == {role.words: [line_key(role)] for role in (test, training, exact)}
        assert legend.keys == DIAGRAM_KEYS
        for role in (test, training):
            line = plot.one("line", reading.line(role))
            here = plot.one("marker", reading.marker(role))
            plot.is_at(here, [int(epoch)], line.y[[int(epoch) - 1]])
            drawn[role.words].add(tuple(line.y))
            if role is test:
                assert float(readout.split("test NLL ")[1]) == pytest.approx(here.y[0], abs=0.01)
    (of_test,), (of_training,) = drawn.values()  # one curve each, in all frames
    assert of_test[-1] > of_training[-1]  # which it learned by heart


def test_the_curves_of_a_temperature_end_at_its_marker():
    for (T,), (_, *curves), readout in read("temperature"):
        told = re.search(r"ECE ([\d.]+) %, NLL ([\d.]+)", readout)
        numbers = {"NLL": float(told[2]), "ECE": float(told[1]) / 100}
        for plot in (one.plots[0] for one in curves):
            line = plot.one("line", reading.line(palette.CURED))
            plot.is_at(plot.one("marker", reading.marker(palette.CURED)), line.x[-1:], line.y[-1:])
            assert plot.x.place(line.x[-1]) == pytest.approx(plot.x.place(float(T)), abs=PIXEL)
            assert line.y[-1] == pytest.approx(numbers[plot.title], abs=0.01 * plot.y_range[1])
            lowest = line.x[line.y.argmin()]
            across = plot.one("line", Look(palette.GREY, (3, 3)))
            plot.is_at(across, [lowest] * 2, plot.y_range, within=2 * PIXEL)


def test_a_temperature_moves_the_logs_of_two_answers_by_one_factor():
    rows = {}
    for (T,), pictures, readout in read("two_answers"):
        told = re.findall(rf'the (?:right|wrong) answer "(\d)" has {NUMBER}', readout)
        for place, (one, (digit, share)) in enumerate(zip(pictures, told, strict=True)):
            bars = next(b for b in one.plots[0].all("bars") if b.look.colour == AFTER.pale.upper())
            assert bars.y[int(digit), 1] == pytest.approx(float(share) / 100, abs=0.006)
            assert bars.y[:, 1].argmax() == int(digit)
            rows[float(T), place] = bars.y[:, 1].max()
    for place in (0, 1):
        shares = [rows[T, place] for T, at in sorted(rows) if at == place]
        assert shares == sorted(shares, reverse=True)
        assert shares[0] > 0.98 > 0.6 > shares[-1]


def test_a_blend_s_label_has_its_shares_and_its_digits():
    for (share,), pictures, readout in read("blend"):
        part = float(share.split()[0]) / 100
        assert readout.startswith(f"{share} of a 3, ")
        for one in pictures:
            (plot,) = one.plots
            bars = next(b for b in plot.all("bars") if b.look.colour == LABEL.pale.upper())
            assert bars.y[3, 1] == pytest.approx(part, abs=0.006)
            assert bars.y[7, 1] == pytest.approx(1 - part, abs=0.006)
            assert bars.y[:, 1].sum() == pytest.approx(1, abs=0.01)


def test_noise_takes_the_best_reader_s_confidence_and_the_words_tell_the_bars():
    doubts = {}
    for (noise,), pictures, readout in read("new_scanner"):
        told = re.findall(rf"says (\d) with {NUMBER}, the best reader (\d) with {NUMBER}", readout)
        for one, (digit, share, _, known) in zip(pictures, told, strict=True):
            (plot,) = one.plots
            bars = next(b for b in plot.all("bars") if b.look.colour == NETWORK.pale.upper())
            assert bars.y[int(digit), 1] == pytest.approx(float(share) / 100, abs=0.006)
            assert bars.y[:, 1].argmax() == int(digit)
            doubts.setdefault(float(noise), []).append(float(known))
    assert min(doubts[0.2]) > 95
    assert max(doubts[1.0]) < min(doubts[0.2])


def test_a_prior_moves_odds_by_the_ratio_and_the_words_tell_the_bars():
    for (ratio,), pictures, readout in read("class_prior"):
        change = rf"has {NUMBER}()" if ratio == "1" else rf"falls from {NUMBER} to {NUMBER}"
        told = re.findall(rf"the (?:clear|doubtful) (\d) {change}", readout)
        for one, (digit, first, last) in zip(pictures, told, strict=True):
            (plot,) = one.plots
            before, after = (float(share) / 100 for share in (first, last or first))
            bars = next(b for b in plot.all("bars") if b.look.colour == RARE.pale.upper())
            assert bars.y[int(digit), 1] == pytest.approx(after, abs=0.006)
            odds = before / (1 - before) / (after / (1 - after))
            assert odds == pytest.approx(float(ratio), rel=0.35)  # told to a tenth of a per cent


def test_smoothing_mixes_a_row_with_even_shares_and_the_words_tell_it():
    for (alpha,), pictures, readout in read("soft_label"):
        label, kept, best, true, asked = map(int, re.findall(r"\b(\d+)\b(?!\.)", readout)[-5:])
        for one, role, digit, told in zip(
            pictures, (SOFT, ASKED), (label, best), (kept, asked), strict=True
        ):
            bars = next(b for b in one.plots[0].all("bars") if b.look.colour == role.pale.upper())
            assert bars.y[digit, 1] == pytest.approx(told / 100, abs=0.011)
            assert bars.y[:, 1].sum() == pytest.approx(1, abs=0.03)
        assert asked == pytest.approx((1 - float(alpha)) * true + 10 * float(alpha), abs=1.1)


def test_the_histograms_of_test_sets_have_the_mean_and_the_truth_of_the_readout():
    for _, (drawn, legend), readout in read("test_images"):
        (plot,) = drawn.plots
        for role in (palette.TRAINED, palette.CURED, palette.TRUTH):
            bars, line = plot.one("bars", Look(role.colour)), plot.one("line", reading.line(role))
            heights = abs(np.diff(bars.y))[:, 0]
            mean = heights @ bars.x.mean(axis=1) / heights.sum()
            pattern = rf"{role.words}: measured {NUMBER} on average, exact {NUMBER}"
            measured, exact = (float(told) / 100 for told in re.search(pattern, readout).groups())
            assert measured == pytest.approx(mean, abs=0.5 * np.diff(bars.x).max())
            assert line.x == pytest.approx([exact] * 2, abs=ROUNDED)
            assert legend.keys[role.words] == [{Look(role.colour), reading.line(role)}]


def test_the_costs_of_four_models_are_those_of_the_words_and_none_beats_the_posterior():
    roles = {name: palette.group(place, f"model {name}") for place, name in enumerate("ABCD")}
    roles["posterior"] = palette.TRUTH
    order = {}
    for (ratio,), (_, lines), readout in read("cost_of_a_miss"):
        told = dict(re.findall(r"(posterior|[A-D]) (\d+)", readout))
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


def test_a_promise_is_kept_on_average_and_the_words_tell_the_markers():
    for (promised,), (sheet, kept), readout in read("promises"):
        promise = float(promised.split()[0]) / 100
        (plot,) = kept.plots
        marks = {mark.look: mark for mark in plot.all("marker")}
        told = re.findall(rf"(all images|\w+ scanner) {NUMBER}", readout)
        assert [words for words, _ in told] == [
            words for words in kept.keys if words != "the promise"
        ]
        for words, number in told:
            (mark,) = [marks[look] for look in kept.keys[words][0] if look in marks]
            assert mark.x[0] == pytest.approx(promise, abs=0.003)
            assert mark.y[0] == pytest.approx(float(number) / 100, abs=0.008)
        shares = {words: float(number) / 100 for words, number in told}
        assert shares["all images"] == pytest.approx(promise, abs=0.03)
        assert shares["clear scanner"] > promise > shares["noisy scanner"]
        assert sum(word.startswith("{") for word in sheet.words) == 12
