"""Digits as the course draws them, above what a label, a network or the exact law says of each.

All explorers of this kind have two panels. In each stands an image over the probabilities of the
ten digits: those of one role as bars, those of others as marks. They differ in what is computed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import starmap

import numpy as np
import torch
from torch import Tensor

from calibkit import recalibration, validate
from calibkit.devices import as_array
from calibkit.pictures import palette, svg
from calibkit.pictures.palette import Role
from calibkit.pictures.svg import Frame

LEVELS = 6  # of grey
PIXEL = 11  # screen pixels of one of the image's, above bars
PLOT = svg.Axes(56, 150, 272, 190, x_range=(-0.5, 9.5))
KEYS, KEY_HEIGHT = 398, 20
# Roles by explorer: of `blend_frame`, `cooled_frame`, `noisier_frame`, `prior_frame`,
# `soft_label_frame`.
LABEL = palette.COUNTS.named("its label under mixup")
PLAIN = palette.TRAINED.named("network trained without blends")
MIXED = palette.CURED.named("network trained with mixup")
BEFORE = palette.TRUTH.named("as trained (T = 1)")
AFTER = palette.group(5, "logits divided by T")
NETWORK = palette.group(5, "network")
EXACT = palette.TRUTH.named("best possible reader")
EVEN = palette.TRUTH.named("all digits equally common")
RARE = palette.group(5, "this digit rarer than the others")
HARD = palette.TRUTH.named("the label as it was given")
SOFT = palette.group(0, "what the network is taught")
TRUE = palette.TRUTH.named("the exact posterior")
ASKED = palette.group(5, "the answer with the lowest loss")
# images in a row, screen pixels of one of theirs, the first row's y
ACROSS, SMALL, FIRST = 4, 8, 40
CELL = (84, 104)  # an image with its label
CLEAN = palette.TRUTH.named("exact, no wrong labels")
NOISY = palette.group(5, "with wrong labels")
LABEL_PLOT = svg.Axes(56, 50, 272, 230, x_range=(-0.5, 9.5))
Shares = Mapping[Role, np.ndarray]  # (10,) probabilities by role


def blend_frame(
    images: np.ndarray, digits: Sequence[int], share: float, plain: np.ndarray, mixed: np.ndarray
) -> Frame:
    """Two blends over their label under mixup, and over what two networks say of each.

    images: (2, 8, 8), a blend of clean digits, and one of noisy ones, drawn on one scale of grey,
        0 white and 1 dark; digits: the two that are blended; share: of the first, in [0, 1];
        plain, mixed: (2, 10) probabilities of the networks.

    Raises ValueError for a share outside [0, 1].

    >>> rows = np.eye(10)[[3, 3]]
    >>> blend_frame(np.zeros((2, 8, 8)), (3, 7), 0.7, rows, rows).readout[:56]
    '70 % of a 3, 30 % of a 7: without noise the network with'
    """
    share = validate.number("share", share, 0, 1)
    one, other = digits
    label = share * np.eye(10)[one] + (1 - share) * np.eye(10)[other]
    panels, said = [], []
    for name, image, a, b in zip(("without", "with"), images, plain, mixed, strict=True):
        grey = as_array(image).clip(0, 1)
        panels.append((f"{name} noise", grey, {LABEL: label}, {PLAIN: a, MIXED: b}))
        said.append(
            f"{name} noise the network without blends says {_best(a)}, "
            f"the one with mixup {_best(b)}"
        )
    parts = f"{100 * share:.0f} % of a {one}, {100 * (1 - share):.0f} % of a {other}"
    return Frame(tuple(starmap(_panel, panels)), f"{parts}: {'; '.join(said)}.")


def cooled_frame(images: np.ndarray, labels: Sequence[int], logits: Tensor, T: float) -> Frame:
    """Two digits over a network's probabilities, after its logits are divided by T.

    images: (2, 8, 8) greys, dark where they are large; labels: (2,) their true digits; logits:
        (2, 10) of a network, right on the first and wrong on the second.

    Raises ValueError for a T that is not positive.

    >>> logits = torch.tensor([[9.0] + 9 * [0.0], [9.0] + 9 * [0.0]])
    >>> cooled_frame(np.zeros((2, 8, 8)), [0, 1], logits, 3.0).readout
    'T = 3: the right answer "0" has 69.1 %, the wrong answer "0" has 69.1 %.'
    """
    T = validate.number("T", T, 0, math.inf, open_low=True, open_high=True)
    panels, said, values = [], [], {}
    for name, image, label, row in zip(("right", "wrong"), images, labels, logits, strict=True):
        answer = int(row.argmax())
        before, after = (as_array((row.double() / t).softmax(dim=0)) for t in (1.0, T))
        title = f"a {label}, and the network says {answer}"
        panels.append((title, image, {AFTER: after}, {BEFORE: before}))
        said.append(f'the {name} answer "{answer}" has {100 * after[answer]:.1f} %')
        values[name] = after[answer]
    return Frame(tuple(starmap(_panel, panels)), f"T = {T:g}: {', '.join(said)}.", values)


def noisier_frame(
    images: np.ndarray, labels: Sequence[int], network: np.ndarray, exact: np.ndarray, noise: float
) -> Frame:
    """Two noisy digits over the probabilities of a network and of a reader who knows the noise.

    images: (2, 8, 8), drawn on one scale of grey, 0 white and 1 dark, at every noise; labels: (2,)
        their true digits; network, exact: (2, 10) probabilities.

    Raises ValueError for a negative noise.

    >>> sure, unsure = np.eye(10)[[3, 5]], np.full((2, 10), 0.1)
    >>> noisier_frame(np.zeros((2, 8, 8)), [3, 6], sure, unsure, 0.8).readout[:70]
    'Noise 0.8: of the 3 the network says 3 with 100.0 %, the best reader 0'
    """
    noise = validate.number("noise", noise, 0, math.inf, open_high=True)
    panels, said = [], []
    for image, label, a, b in zip(images, labels, network, exact, strict=True):
        grey = as_array(image).clip(0, 1)
        panels.append((f"a {label} at noise {noise:g}", grey, {NETWORK: a}, {EXACT: b}))
        said.append(f"of the {label} the network says {_best(a)}, the best reader {_best(b)}")
    return Frame(tuple(starmap(_panel, panels)), f"Noise {noise:g}: {'; '.join(said)}.")


def prior_frame(
    images: np.ndarray, true: Sequence[int], posteriors: np.ndarray, ratio: float
) -> Frame:
    """Two digits, and the exact posterior of each where its own class is `ratio` times rarer.

    images: (2, 8, 8) greys, dark where they are large; true: (2,) digits; posteriors: (2, 10)
        exact probabilities where all digits are equally common. The nine other classes stay
        equally common.

    Raises ValueError for a ratio below 1 and for lists of different lengths.

    >>> image, even = np.zeros((2, 8, 8)), np.full((2, 10), 0.1)
    >>> prior_frame(image, [0, 1], even, 9).readout[:61]
    'This digit 9 times rarer in training: the clear 0 falls from '
    """
    ratio = validate.number("ratio", ratio, 1, math.inf, open_high=True)
    validate.same_length("true", len(true), len(images), "image")
    panels, said, values = [], [], {}
    old = torch.full((10,), 0.1, dtype=torch.float64)
    names = ("clear", "doubtful")
    for name, image, label, row in zip(names, images, true, posteriors, strict=True):
        even = as_array(row, np.float64)
        new = old.clone()
        new[label] /= ratio
        known = torch.tensor(even)[None] / even.sum()
        rare = recalibration.change_prior(known, old=old, new=new / new.sum())[0].numpy()
        panels.append((f"a {name} {label}, under noise", image, {RARE: rare}, {EVEN: even}))
        before, after = (f"{100 * shares[label]:.1f} %" for shares in (even, rare))
        falls = f"falls from {before} to {after}" if ratio > 1 else f"has {after}"
        said.append(f"the {name} {label} {falls}")
        values[name] = rare[label]
    how = f"This digit {ratio:g} times rarer in training" if ratio > 1 else "Equally common"
    return Frame(tuple(starmap(_panel, panels)), f"{how}: {', '.join(said)}.", values)


def soft_label_frame(image: np.ndarray, label: int, posterior: np.ndarray, alpha: float) -> Frame:
    """Left a digit over its smoothed label, right the best answer to all images like it.

    image: (8, 8) greys, dark where they are large; label: the digit that it was given;
    posterior: (10,) exact probabilities of its digit. alpha: the share of each label that is
        spread over all ten digits (form K), 0 to 1.

    Raises ValueError for an alpha outside [0, 1].

    >>> frame = soft_label_frame(np.zeros((8, 8)), 3, np.eye(10)[3], 0.2)
    >>> frame.readout[:36]
    'Alpha 0.2: the label "3" keeps 82 %.'
    """
    alpha = validate.number("alpha", alpha, 0, 1)
    hard, true = np.eye(10)[label], as_array(posterior, np.float64)
    taught, asked = ((1 - alpha) * row + alpha / 10 for row in (hard, true))
    best = int(true.argmax())
    readout = (
        f'Alpha {alpha:g}: the label "{label}" keeps {100 * taught[label]:.0f} %. The exact '
        f"posterior says {best} with {100 * true[best]:.0f} %, the loss is lowest at "
        f"{100 * asked[best]:.0f} %."
    )
    panels = (
        ("one image and its label", image, {SOFT: taught}, {HARD: hard}),
        ("all images like it", image, {ASKED: asked}, {TRUE: true}),
    )
    return Frame(
        tuple(starmap(_panel, panels)), readout, {"taught": taught[label], "asked": asked[best]}
    )


def labels_frame(
    images: np.ndarray,
    true: Sequence[int],
    given: Sequence[int],
    posterior: Sequence[float],
    rate: float,
) -> Frame:
    """Digits over the labels that they were given, and the label that one of them may carry.

    images: (n, 8, 8) greys, dark where they are large; true, given: (n,) digits. posterior: (10,)
        exact probabilities of the first image's digit; beside them stand those of the label that
        it is given when a share `rate` of all labels is shuffled, (1 - r) q + r / 10.

    Raises ValueError for a rate outside [0, 1] and for lists of different lengths.

    >>> image, sure = np.zeros((1, 8, 8)), [1.0] + 9 * [0.0]
    >>> labels_frame(image, [0], [7], sure, 0.2).readout[:62]
    'Noise rate 20 %: 1 of the 1 labels shown is wrong. First image'
    """
    rate = validate.number("rate", rate, 0, 1)
    for name, digits in (("true", true), ("given", given)):
        validate.same_length(name, len(digits), len(images), "image")
    clean = as_array(posterior, np.float64)
    noisy = (1 - rate) * clean + rate / len(clean)
    wrong = sum(a != b for a, b in zip(true, given, strict=True))
    best = int(clean.argmax())
    readout = (
        f"Noise rate {100 * rate:.0f} %: {wrong} of the {len(true)} labels shown "
        f"{'is' if wrong == 1 else 'are'} wrong. First image: the digit is a {best} with "
        f"probability {100 * clean[best]:.0f} %, the label a {best} with "
        f"{100 * noisy[best]:.0f} %."
    )
    values = {"wrong": wrong, "clean": clean[best], "noisy": noisy[best]}
    return Frame((_sheet(images, true, given, rate), _bars(clean, noisy)), readout, values)


def _sheet(images, true, given, rate: float) -> str:
    """The images in rows, each over its label; a wrong one is struck out in words and colour."""
    parts = [svg.text(svg.PANEL / 2, 19, f"labels, {100 * rate:.0f} % shuffled", size=14)]
    margin = (svg.PANEL - ACROSS * CELL[0]) / 2
    for place, (image, right, label) in enumerate(zip(images, true, given, strict=True)):
        left = margin + CELL[0] * (place % ACROSS) + (CELL[0] - 8 * SMALL) / 2
        top = FIRST + CELL[1] * (place // ACROSS)
        parts += digit(image, left, top, SMALL)
        is_wrong = label != right
        look = {"fill": palette.OVER.colour, "font_weight": "bold"} if is_wrong else {}
        words = f"“{label}” ✗" if is_wrong else f"“{label}”"
        parts.append(svg.text(left + 4 * SMALL, top + 8 * SMALL + 18, words, size=15, **look))
    rows = -(-len(images) // ACROSS)
    return svg.picture(svg.PANEL, FIRST + CELL[1] * rows, *parts)


def _bars(clean: np.ndarray, noisy: np.ndarray) -> str:
    """The probability of each digit and of each label."""
    bars, *marks = bars_and_marks(LABEL_PLOT, {NOISY: noisy}, {CLEAN: clean})
    title = svg.text(
        LABEL_PLOT.left + LABEL_PLOT.width / 2, 19, "first image: what is its label?", size=14
    )
    even, highest = 1 / len(clean), np.maximum(clean, noisy)
    # the middle of the five labels in a row that have the lowest bars and marks
    free = min(range(2, len(clean) - 2), key=lambda k: highest[k - 2 : k + 3].max())
    parts = [
        bars,
        LABEL_PLOT.line(-0.5, even, len(clean) - 0.5, even, **svg.stroke(palette.DIAGONAL, 1.5)),
        *marks,
        LABEL_PLOT.frame("label", "probability (%)", range(len(clean)), (0, 0.5, 1)),
        svg.area_key(NOISY, 56, 338),
        svg.marker_key(CLEAN, 56, 358),
        svg.text(LABEL_PLOT.x(free), LABEL_PLOT.y(even) - 8, "all equally likely"),
    ]
    return svg.picture(svg.PANEL, 370, title, *parts)


def digit(image: np.ndarray, left: float, top: float, pixel: float) -> list[str]:
    """An image (8, 8) with its corner at (left, top); pixels of one grey are one path."""
    image = as_array(image)
    levels = np.round((LEVELS - 1) * image / max(image.max(), 1e-9)).astype(int)
    drawn = []
    for level in range(1, LEVELS):
        cells = "".join(
            f"M{left + pixel * x:g},{top + pixel * y:g}h{pixel}v{pixel}h-{pixel}z"
            for y, x in np.argwhere(levels == level)
        )
        grey = round(245 - 225 * level / (LEVELS - 1))
        drawn += [svg.tag("path", d=cells, fill=f"#{grey:02x}{grey:02x}{grey:02x}")] * bool(cells)
    return drawn


def bars_and_marks(axes: svg.Axes, bars: Shares, marks: Shares) -> list[str]:
    """Probabilities of the ten digits as bars for the roles of `bars`, as marks for the others."""
    drawn = []
    for role, values in bars.items():
        spans = [(k - 0.35, k + 0.35, 0.0, p) for k, p in enumerate(values.tolist())]
        drawn.append(axes.bars(spans, **svg.fill(role)))
    for role, values in marks.items():
        spots = enumerate(values.tolist())
        drawn += [svg.marker(role, axes.x(k), axes.y(p), 4) for k, p in spots]
    return drawn


def _panel(title: str, image: np.ndarray, bars: Shares, marks: Shares) -> str:
    parts = [
        svg.text(svg.PANEL / 2, 19, title, size=14),
        *digit(image, svg.PANEL / 2 - 4 * PIXEL, 32, PIXEL),
        *bars_and_marks(PLOT, bars, marks),
        PLOT.frame("digit", "probability (%)", range(10), (0, 0.5, 1)),
    ]
    keys = [*((svg.area_key, role) for role in bars), *((svg.marker_key, role) for role in marks)]
    parts += [key(role, 56, KEYS + KEY_HEIGHT * k) for k, (key, role) in enumerate(keys)]
    return svg.picture(svg.PANEL, KEYS + KEY_HEIGHT * len(keys) - 8, *parts)


def _best(row: np.ndarray) -> str:
    """The likeliest digit, and how likely it is."""
    return f"{row.argmax()} with {100 * row.max():.1f} %"
