"""The explorer of all networks of the course: the plane, and the diagram of the chosen network."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from calibkit import validate
from calibkit.course.experiments import networks as data
from calibkit.course.explorers.explorer import PLANE, Shown, control, pack
from calibkit.metrics.plane import LEAST_LOST
from calibkit.pictures import palette, svg
from calibkit.pictures.palette import ACCURACY, DIAGONAL, Role
from calibkit.pictures.svg import Frame
from calibkit.pictures.svg_diagram import DIAGRAM, HEIGHT, STRIP, ceiling_of, diagram

LEFT, TOP, WIDTH = 54, 12, 294  # pixels of the plane
EDGE = 12  # of the picture, which a legend keeps
KEYS = 44  # from its lower edge to the legend
LINE = 17  # of a legend
STEP = 0.05  # of the ends of the axes
LETTER = 7.6  # pixels of a letter of a legend, at most on average
CLOUD = "#7a7a7a"  # the dots of all networks, 4 : 1 on white and on dark paper
DOT, MARK = 2.8, 4.0  # pixels: width of a grey dot, half the width of a marker
DARK = "#8A3A6B"  # the colour of confidence, for words
LABELS = "lesson", "network"


@dataclass(frozen=True)
class Words:
    """What the plane says of itself: the axis upwards, its two lines, its description.

    gap: what a network's place upwards is called. terms: whether kappa and ECE are told, too.
    """

    upwards: str
    upper: str
    lower: str
    gap: str
    description: str
    terms: bool


CHOICE = (
    "The list chooses a lesson and what it changed: these networks are coloured, and lines join "
    "the means over the seeds. The slider, the arrow keys, or a click on a dot choose a network. "
)
DIAGRAM_SAID = (
    "its reliability diagram: hatched where it is over-confident, dotted where it is "
    "under-confident, pale where there are too few predictions to read it."
)
IN_TERMS = Words(
    upwards="claimed: signed gap on new data",
    upper="kappa = 1: nearest neighbour",
    lower="kappa = 0: confidence = accuracy",
    gap="Claimed (signed gap)",
    description="Left, every dot is a trained network of the course. Across: the accuracy that it "
    "lost from its training data to new data with the same kind of labels. Upwards, claimed: its "
    "signed gap on the new data, mean confidence minus accuracy. On the upper dashed line a "
    "network still claims all that it lost (kappa = 1), on the lower one nothing of it "
    f"(kappa = 0). {CHOICE}Right, {DIAGRAM_SAID}",
    terms=True,
)
PLAIN = Words(
    upwards="confidence − accuracy on new data",
    upper="as sure as before",
    lower="confidence = accuracy",
    gap="Confidence minus accuracy on new data",
    description="In one picture every dot is a trained network of the course. Across: the accuracy "
    "that it lost from its training data to new data. Upwards: how much surer it is of the new "
    "data, on average, than it is right. On the upper dashed line it is as sure of new data as it "
    "was right on the training data, on the lower one as sure as it is right on new data. "
    f"{CHOICE}The other picture is {DIAGRAM_SAID}",
    terms=False,
)


@dataclass(frozen=True, eq=False)
class Topic:
    """The networks of one lesson that differ in one thing, group by group."""

    lesson: str
    changed: str
    table: pd.DataFrame
    words: Words

    @property
    def label(self) -> str:
        return f"{self.lesson} {self.changed}"

    @cached_property
    def roles(self) -> dict[str, Role]:
        """How each group looks; its words may have the slopes of its values."""
        kappas, joined = data.kappas(self.table), self.table.groupby("group").joined.all()
        slopes = _slopes if self.words.terms else lambda *_: ""
        return {
            group: palette.group(number, f"{group}{slopes(part, joined[group])}")
            for number, (group, part) in enumerate(kappas.groupby("group", sort=False))
        }

    @property
    def alt(self) -> str:
        """What the plane shows of it."""
        words = "; ".join(role.words for role in self.roles.values())
        return (
            f"Plane of all networks; in colour {len(self.table)} of lesson {self.label}: {words}."
        )


def _slopes(kappas: pd.DataFrame, joined: bool) -> str:
    """kappa of the first and of the last value, or of the least and the largest one."""
    found = kappas.kappa if joined else kappas.kappa.dropna().sort_values()
    if found.dropna().empty:
        return ": loses too little for a kappa" if kappas.lost.max() < LEAST_LOST else ""
    first, last = found.iloc[[0, -1]]
    if first == last:
        return f": kappa {first:.2f}"
    if found.iloc[[0, -1]].notna().all():
        return f": kappa {first:.2f} to {last:.2f}"
    where, end = ("at the end", last) if np.isnan(first) else ("at the start", first)
    return "" if np.isnan(end) else f": kappa {end:.2f} {where}"


class AllNetworks(Shown):
    """The plane with all stored networks, and the diagram of the chosen one.

    at: which topic and which of its networks are chosen at first. Drawn from numbers alone:
    nothing is trained. its_words: what the plane says of itself.
    """

    face = PLANE
    name = "all networks of the course"

    def __init__(
        self, table: pd.DataFrame, lesson: str | None, changed: str | None, its_words: Words
    ) -> None:
        groups = table.groupby(["lesson", "changed"], sort=False)
        self.its_words, self.description = its_words, its_words.description
        self.topics = [
            Topic(key[0], key[1], part.reset_index(drop=True), its_words) for key, part in groups
        ]
        chosen = self.topics
        for name, asked in {"lesson": lesson, "changed": changed}.items():
            if asked is not None:
                there = dict.fromkeys(getattr(one, name) for one in chosen)
                validate.choice(name, asked, tuple(there))
                chosen = [one for one in chosen if getattr(one, name) == asked]
        self.at = [self.topics.index(chosen[0]), _first(chosen[0].table)]
        # a little more than the range of the values, in whole steps; 0 lies within
        x, y = (
            (
                STEP * math.floor((min(0.0, values.min()) - 0.02) / STEP),
                STEP * math.ceil((values.max() + 0.02) / STEP),
            )
            for values in (table.lost, table.claimed)
        )
        height = WIDTH * (y[1] - y[0]) / (x[1] - x[0])  # one scale on both
        self.axes = svg.Axes(LEFT, TOP, WIDTH, height, x, y)
        counted = (data.reliability(one) for _, one in table.iterrows())
        self.most = max(int(one.counts.sum()) for one in counted if one is not None)

    @property
    def topic(self) -> Topic:
        return self.topics[self.at[0]]

    @property
    def chosen(self) -> pd.Series:
        """The network that is shown first."""
        return self.topic.table.iloc[self.at[1]]

    @cached_property
    def first(self) -> Frame:
        return Frame((self.plane(), self.diagram()), said(self.chosen, self.its_words))

    @property
    def alt(self) -> str:
        return f"{self.topic.alt} {self.first.readout}"

    @property
    def words(self) -> str:
        return self.first.readout

    @property
    def controls(self) -> list[str]:
        options = "".join(
            f'<option value="{i}"{" selected" * (i == self.at[0])}>{escape(topic.label)}</option>'
            for i, topic in enumerate(self.topics)
        )
        last, place = len(self.topic.table) - 1, self.at[1]
        choice = f'<select data-lm-suppress-shortcuts="true">{options}</select>'
        return [
            f"<label>{LABELS[0]}\n{choice}</label>",
            control(LABELS[1], last, place, f"{place + 1} of {last + 1}"),
        ]

    @cached_property
    def packed(self) -> str:
        """Every topic for the page's script: its drawing, and the numbers of its networks."""
        scales: dict[str, Any] = {
            name: getattr(DIAGRAM, name) for name in ("left", "top", "width", "height")
        }
        scales |= {"strip": [STRIP[1] + STRIP[3], STRIP[3]], "most": ceiling_of(self.most)}
        scales["zero"] = [round(self.axes.x(0), 1), round(self.axes.y(0), 1)]
        topics = [
            {
                "label": topic.label,
                "alt": topic.alt,
                "first": _first(topic.table),
                "drawn": self.drawn(topic),
                "networks": [self.numbers(one) for _, one in topic.table.iterrows()],
            }
            for topic in self.topics
        ]
        return pack({"topics": topics, "scales": scales})

    def numbers(self, one: pd.Series) -> list:
        """Of a network its place in tenths of a pixel, words, accuracy, confidence and bins.

        Per bin samples, right ones in tenths, confidence in thousandths; an empty bin has none.
        """
        x, y = round(10 * self.axes.x(one.lost)), round(10 * self.axes.y(one.claimed))
        shares = (round(1000 * one[name]) for name in ("accuracy", "confidence"))
        counted = data.reliability(one)
        bins = counted is not None and [
            [int(n), round(10 * float(hits)), round(1000 * float(sure))] if n else []
            for n, hits, sure in zip(counted.counts, counted.hits, counted.confidence, strict=True)
        ]
        return [x, y, said(one, self.its_words), *shares, bins or None]

    def plane(self) -> str:
        """The panel of the plane at first."""
        axes, topic, words = self.axes, self.topic, self.its_words
        dots = "".join(
            f"M{axes.x(x):.1f},{axes.y(y):.1f}h0"
            for part in self.topics
            for x, y in zip(part.table.lost, part.table.claimed, strict=True)
        )
        grey: dict[str, Any] = {"stroke": CLOUD, "fill": "none"}
        grey |= {"stroke_width": DOT, "stroke_linecap": "round"}
        x, y = axes.x(self.chosen.lost), axes.y(self.chosen.claimed)
        left, bottom = axes.x(0), axes.y(0)
        # the lines that need no training, with their names
        look, top = svg.stroke(DIAGONAL, 1.5), min(axes.x_range[1], axes.y_range[1])
        over: dict[str, Any] = {"anchor": "end", "fill": palette.GREY, "stroke": "#fff"}
        over |= {"stroke_width": 3, "paint_order": "stroke"}  # read over dots
        above = axes.x(top) - 32, axes.y(top) + 24
        turn = f"rotate(-45 {above[0]:.1f} {above[1]:.1f})"
        circle = "M-8,0a8,8 0 1 0 16,0a8,8 0 1 0 -16,0z"
        ring = [  # marks the chosen network; the page's script moves it
            svg.tag("path", d=circle, fill="none", stroke=colour, stroke_width=width)
            for colour, width in (("#fff", 5), (palette.BLACK, 2.5))
        ]
        parts = [
            axes.frame(
                "accuracy lost on new data (points)", f"{words.upwards} (points)",
                _ticks(axes.x_range), _ticks(axes.y_range),
            ),
            svg.tag("path", d=dots, class_="all", **grey),
            axes.line(0, 0, top, top, **look),
            axes.line(axes.x_range[0], 0, axes.x_range[1], 0, **look),
            svg.text(*above, words.upper, **over, transform=turn),
            svg.text(axes.left + axes.width - 4, axes.y(0) + 15, words.lower, **over),
            svg.tag("g", self.drawn(topic), class_="chosen"),
            svg.tag(
                "path", d=f"M{left:.1f},{y:.1f}H{x:.1f}V{bottom:.1f}", fill="none", class_="legs",
                stroke=palette.BLACK, stroke_dasharray="2 2",
            ),
            svg.tag("g", "".join(ring), class_="ring", transform=f"translate({x:.1f} {y:.1f})"),
        ]  # fmt: skip
        most = max(_places(list(part.roles.values()))[-1][1] for part in self.topics)
        tall = math.ceil(TOP + axes.height + KEYS + LINE * (most + 1))
        return svg.picture(svg.PANEL, tall, *parts)

    def drawn(self, topic: Topic) -> str:
        """The dots of a topic, group by group, its lines and its legend.

        The first group lies on top; of the others those whose dots lie close together do, which
        else would be hidden.
        """
        axes, drawn, keys = self.axes, [], []
        legend = axes.top + axes.height + KEYS + 8
        places = _places(list(topic.roles.values()))
        for (group, role), (x, row) in zip(topic.roles.items(), places, strict=True):
            part, line = topic.table[topic.table.group == group], ""
            if part.joined.all():
                means = part.groupby("value", sort=False)[["lost", "claimed"]].mean()
                points = axes.points(means.lost, means.claimed)
                line = svg.tag("polyline", points=points, fill="none", **svg.stroke(role, 1.5))
            marks = (
                svg.marked(role, axes.x(lost), axes.y(claimed), MARK)
                for lost, claimed in zip(part.lost, part.claimed, strict=True)
            )
            look = {"fill": role.colour, "fill_opacity": "0.75"}
            look |= {"stroke": "#fff", "paint_order": "stroke"}  # colour over the edges of others
            dots = svg.tag("path", d="".join(marks), class_="marker", **look)
            drawn.append((np.ptp(part.lost) + np.ptp(part.claimed), line + dots))
            keys.append(svg.line_key(role, x, legend + LINE * row))
        first, *others = drawn
        others.sort(key=lambda one: -one[0])
        return "".join([*(part for _, part in (*others, first)), *keys])

    def diagram(self) -> str:
        """The panel of the diagram at first."""
        one, middle = self.chosen, DIAGRAM.left + DIAGRAM.width / 2
        counted = data.reliability(one)
        assert counted is not None  # as of each network that a topic opens with
        parts = diagram(DIAGRAM, STRIP, counted, most=self.most, moved=True)
        for x, words, share, name, colour in (
            (DIAGRAM.left, "confidence", one.confidence, "sure", DARK),
            (middle + 12, "accuracy", one.accuracy, "right", ACCURACY.colour),
        ):
            look: dict = {"anchor": "start", "class_": name, "fill": colour, "font_weight": "bold"}
            parts.append(svg.text(x, 19, f"{words} {100 * share:.1f} %", **look))
        missing = "no diagram: its logits were not kept"
        parts.append(svg.text(middle, 170, missing, class_="none", visibility="hidden"))
        return svg.picture(svg.PANEL, HEIGHT, *parts)


def networks(
    lesson: str | None = None,
    changed: str | None = None,
    table: pd.DataFrame | None = None,
    words: Words = IN_TERMS,
) -> AllNetworks:
    """The explorer of all networks, opened at those of a lesson.

    lesson: its number, such as "06"; by default the first. changed: what differs between its
        networks, such as "label noise", where a lesson has more than one choice. table: rows as
        `experiments.networks.stored` gives them, which is the default. words: those of the lessons,
        or `PLAIN` ones for somebody who has read none.

    Raises ValueError, with the choices, for a lesson or a change that there is not.
    """
    return AllNetworks(data.stored() if table is None else table, lesson, changed, words)


def said(one: pd.Series, words: Words = IN_TERMS) -> str:
    """A network in words: its lesson, what was changed, seed, place, and in terms its ECE."""
    named = ", ".join(filter(None, (one.value, one.group, f"seed {one.seed}")))
    # of the two shares as they are shown beside it, so that the three numbers add up
    gap = (round(1000 * one.confidence) - round(1000 * one.accuracy)) / 10
    place = (
        f"Lesson {one.lesson}, {one.changed}: {named}. Accuracy lost on new data: "
        f"{100 * one.lost:.1f} points. {words.gap}: {gap:+.1f} points"
    )
    if not words.terms:
        return f"{place}."
    share = f", kappa {one.claimed / one.lost:.2f}" if one.lost >= LEAST_LOST else ""
    return f"{place}{share}." + (f" ECE {100 * one.ece:.1f} %." if one.ece == one.ece else "")


def _first(table: pd.DataFrame) -> int:
    """The network that a topic opens with, which has a diagram, of its first group.

    The first one where lines join them, to move along; else the middle one.
    """
    known = table.index[(table.group == table.group[0]) & table.counts.notna()]
    if not len(known):
        return 0
    return int(known[0] if table.joined[known[0]] else known[len(known) // 2])


def _places(roles: list[Role]) -> list[tuple[float, int]]:
    """Of each entry of a legend where it begins and its row; a row is filled before the next.

    >>> _places([Role("seeds", palette.BLUE), Role("more seeds", palette.BLUE)])
    [(12.0, 0), (96.0, 0)]
    """
    places: list[tuple[float, int]] = []
    x, row = float(EDGE), 0
    for role in roles:
        wide = 46 + LETTER * len(role.words)
        if places and x + wide > svg.PANEL:
            x, row = float(EDGE), row + 1
        places.append((x, row))
        x += wide
    return places


def _ticks(ends: tuple[float, float]) -> list[float]:
    first, last = math.ceil(5 * ends[0] - 1e-9), math.floor(5 * ends[1] + 1e-9)
    return [tick / 5 for tick in range(first, last + 1)]
