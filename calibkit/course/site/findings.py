"""Findings: small pictures of stored runs with a sentence, and what the evidence concludes.

Which ones there are, and their sentences, stands in findings.toml; the conclusions are read from
notebooks/results/conclusions.json.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined

from calibkit.course import claims
from calibkit.course.explorers import Frame, stored
from calibkit.pictures import svg
from calibkit.pictures.palette import (
    ACCURACY,
    BLACK,
    CONFIDENCE,
    CURED,
    DIAGONAL,
    GREEN,
    OVER,
    TRAINED,
    UNDER,
    Role,
    group,
)

WIDTH, HEIGHT = 272, 176  # pixels of a picture
SIDE, UNDER_IT = 6, 24  # pixels beside the curves, and below them for the axis in words
LINE = 18  # of the words above the curves, a line each
# the colours of words, where that of the line is too light for them on white
WORDS = {CONFIDENCE.colour: "#8A3A6B", OVER.colour: "#b34700", GREEN: "#00795a"}
ROOM = 0.06  # above and below the lines, of their range
LOOKS = {
    "confidence": CONFIDENCE, "accuracy": ACCURACY, "over": OVER, "cured": CURED,
    "trained": TRAINED, "error": TRAINED.named("ECE"), "black": Role("all", BLACK, marker="X"),
    **{f"group {number}": group(number, "") for number in (0, 2, 3)},
}  # fmt: skip
PAIR = (("sure", "sure", "confidence", "confidence"), ("right", "right", "accuracy", "accuracy"))


@cache
def table() -> dict[str, Any]:
    """findings.toml."""
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Result:
    """What the evidence of a lesson concludes on a claim.

    counts: (word, how many) of its verdicts.
    """

    lesson: str
    claim: str
    counts: tuple[tuple[str, int], ...]
    words: str

    @property
    def parts(self) -> tuple[str, str]:
        """Its first statement, and the rest.

        >>> Result("", "", (), "The ECE rises by 0.5; not always. Much is open.").parts
        ('The ECE rises by 0.5;', 'not always. Much is open.')
        """
        first = re.findall(r"^.+?[.;](?= |$)", self.words)[0]
        return first, self.words[len(first) + 1 :]

    def repeats(self, claim: str) -> bool:
        """Whether its words have all those of the claim, but for endings.

        >>> Result("", "", (), "It goes from under- to over-confidence.").repeats("over-confident")
        True
        """
        own, asked = ({word[:5] for word in re.findall(r"\w+", words.lower())}
                      for words in (self.words, claim))  # fmt: skip
        return asked <= own


def results() -> list[Result]:
    """The results of the page of findings, as the evidence printed them."""
    found = []
    for lesson, claim in table()["results"]:
        head, _, words = claims.concluded(lesson, claim).partition("): ")
        counts = re.findall(r"(\d+) ([A-Z][A-Z ]*[A-Z])", head.partition("(")[2])
        words = words.removeprefix("holds: ")
        counted = tuple((word, int(many)) for many, word in counts)
        found.append(Result(lesson, claim, counted, f"{words[0].upper()}{words[1:]}."))
    return found


@dataclass(frozen=True)
class Curve:
    """A line of a picture, from left to right, and its name.

    least: whether its lowest value is the one to be read, and not its last. unit: behind a share
    times 100; "" where that is no per cent.
    """

    word: str
    role: Role
    shares: Sequence[float]
    least: bool = False
    unit: str = " %"

    @property
    def told(self) -> str:
        """Its name with its first share, and with the last or the lowest one."""
        first, last, least = (
            f"{percent(share)}{self.unit}"
            for share in (self.shares[0], self.shares[-1], min(self.shares))
        )
        return f"{self.word} {first}" + (f", lowest {least}" if self.least else f" → {last}")


@dataclass(frozen=True)
class Finding:
    """What a lesson found, for somebody who has not read it.

    words: one sentence with its numbers. axis: what grows from left to right, with the first and
    the last value. curves: the first two have the area between them where `area` says so.
    """

    lesson: str
    title: str
    words: str
    axis: tuple[str, str, str]
    curves: tuple[Curve, ...]
    area: bool = False

    @property
    def alt(self) -> str:
        """The picture in words."""
        first, name, last = self.axis
        told = "; ".join(
            f"{one.word} from {percent(one.shares[0])} to {percent(one.shares[-1])}{one.unit}"
            for one in self.curves
        )
        return f"Across: {name} from {first} to {last}. {told}."

    @property
    def picture(self) -> str:
        """The curves as SVG under their names, with colours that a dark page changes."""
        plot = _plot(self.curves)
        first, name, last = self.axis
        parts = [svg.hatches()]
        for place, curve in enumerate(self.curves):  # words in its colour, behind a piece of it
            down, colour = LINE * (place + 1) - 4, curve.role.colour
            look: dict[str, Any] = {"font_weight": "bold", "fill": WORDS.get(colour, colour)}
            parts += [
                svg.tag("path", d=f"M{SIDE},{down - 4}h24", **svg.stroke(curve.role)),
                svg.marker(curve.role, SIDE + 12, down - 4, 4),
                svg.text(SIDE + 31, down, curve.told, anchor="start", **look),
            ]
        if self.area:
            parts += _between(plot, self.curves[0].shares, self.curves[1].shares)
        bottom, edge = plot.top + plot.height, plot.left + plot.width
        # a line at the foot is 0; else only the two ends are marked
        foot = f"H{edge}" if plot.y_range[0] == 0 else f"v-6M{edge},{bottom}v-6"
        look = {"stroke": DIAGONAL.colour, "stroke_width": 1}
        parts += [
            svg.tag("path", d=f"M{plot.left},{bottom}{foot}", **look),
            svg.text(plot.left, bottom + 17, _whole(first), anchor="start"),
            svg.text((plot.left + edge) / 2, bottom + 17, name),
            svg.text(edge, bottom + 17, _whole(last), anchor="end"),
        ]
        for curve in self.curves:  # with a marker at the last or the lowest place
            shares = curve.shares
            points = plot.points(range(len(shares)), shares)
            at = min(range(len(shares)), key=shares.__getitem__) if curve.least else len(shares) - 1
            parts += [
                svg.tag("polyline", points=points, fill="none", **svg.stroke(curve.role, 2.2)),
                svg.marker(curve.role, plot.x(at), plot.y(shares[at]), 4),
            ]
        size = {"viewBox": f"0 0 {WIDTH} {HEIGHT}", "width": WIDTH, "height": HEIGHT}
        look = {"role": "img", "aria_label": self.alt, "font_family": "system-ui, sans-serif"}
        drawn = svg.tag("svg", "".join(parts), xmlns="http://www.w3.org/2000/svg", **size, **look)
        return drawn.replace("calibkit-", f"finding-{self.lesson}-")  # a hatch is found by its name


def percent(share: float) -> str:
    """A share as a number of per cent: whole from 10 on, else with one decimal.

    >>> percent(0.934), percent(0.0123), percent(0.04), percent(-0.035)
    ('93', '1.2', '4', '-3.5')
    """
    value = 100 * share
    return f"{value:.0f}" if abs(value) >= 9.95 else f"{value:.1f}".removesuffix(".0")


def _points(share: float) -> str:
    """A difference of shares in words.

    >>> _points(0.01), _points(0.123)
    ('1 point', '12 points')
    """
    number = percent(share)
    return f"{number} point" if number == "1" else f"{number} points"


def findings() -> list[Finding]:
    """All of them, in the order of their lessons."""
    return [_finding(**row) for row in table()["finding"]]


def twelve() -> list[Finding]:
    """Those of the landing page."""
    return [one for one in findings() if one.lesson not in table()["apart"]]


def _finding(
    lesson: str,
    title: str,
    slider: str,
    axis: str,
    words: str,
    curves: Sequence[Sequence[str]] = PAIR,
    fixed: Mapping[str, str] | None = None,
    also: Mapping[str, Any] | None = None,
    least: bool = False,
    unit: str = " %",
) -> Finding:
    """A row of the table, with the numbers of its slider."""
    fixed, frames = fixed or {}, _frames(slider, **fixed or {})
    drawn = {name: Series(frames, source) for name, _, _, source in curves}
    known: dict[str, Any] = {"x": list(frames), "fixed": "".join(fixed.values())} | drawn
    for name, source in (also or {}).items():
        if isinstance(source, str):
            known[name] = Series(frames, source)
        else:  # of other frames: what is drawn, and where the other slider stands
            known[name] = Series(_frames(slider, **source[1]), source[0])
    sentence = WORDS_OF.from_string(words.replace("\n", " ")).render(known)
    lines = [Curve(word, LOOKS[look], drawn[name], least, unit) for name, word, look, _ in curves]
    first, *_, last = frames
    area = {look for _, _, look, _ in curves} == {"confidence", "accuracy"}
    return Finding(lesson, title, sentence, (first, axis, last), tuple(lines), area)


class Series(list):
    """What the frames say of one thing: a value, the difference of two, or a share in the readout.

    source: "ece", "confidence - accuracy", or a pattern whose group is in per cent.
    """

    def __init__(self, frames: Mapping[str, Frame], source: str) -> None:
        super().__init__()
        self.x = list(frames)
        for frame in frames.values():
            if "(" in source:
                self.append(float(re.findall(source, frame.readout)[0]) / 100)
            else:
                first, *other = (frame.values[name] for name in source.split(" - "))
                self.append(first - sum(other))

    def at(self, value: str) -> float:
        """Where the slider stands at a value."""
        return self[self.x.index(value)]

    @property
    def nearest(self) -> int:
        """The place of the number that is nearest to 0."""
        return min(range(len(self)), key=lambda place: abs(self[place]))


def _frames(name: str, first: str | None = None, second: str | None = None) -> dict[str, Frame]:
    """The frames of a stored explorer by the free slider's value; of two sliders one is fixed."""
    explorer = stored(name)
    shown = [slider.values for slider in explorer.sliders]
    if first is not None:
        start = len(shown[1]) * shown[0].index(first)
        return dict(zip(shown[1], explorer.frames[start:], strict=False))
    step = 1 if second is None else len(shown[1])
    start = 0 if second is None else shown[1].index(second)
    return dict(zip(shown[0], explorer.frames[start::step], strict=True))


def _whole(value: str) -> str:
    """A whole number with its thousands apart.

    >>> _whole("1500"), _whole("0.4"), _whole("10,000")
    ('1,500', '0.4', '10,000')
    """
    return f"{int(value):,}" if value.isdigit() else value


WORDS_OF = Environment(undefined=StrictUndefined)  # of a sentence
WORDS_OF.filters |= {"pc": percent, "points": _points, "whole": _whole}


def _plot(curves: Sequence[Curve]) -> svg.Axes:
    """The axes: places along x, and the range of all shares; one curve alone begins at 0."""
    every = [share for one in curves for share in one.shares]
    low, high = min(every) if len(curves) > 1 else 0.0, max(every)
    room = ROOM * (high - low)
    ends = (low - room if len(curves) > 1 else 0.0, high + room)
    places = (0.0, float(len(curves[0].shares) - 1))
    top = LINE * len(curves) + SIDE
    return svg.Axes(SIDE, top, WIDTH - 2 * SIDE, HEIGHT - top - UNDER_IT, places, ends)


def _between(plot: svg.Axes, sure: Sequence[float], right: Sequence[float]) -> Iterator[str]:
    """The area between two curves, hatched where the first lies above and dotted below."""
    for role, sign in ((OVER, 1), (UNDER, -1)):
        drawn = ""
        for place in range(len(sure) - 1):
            offs = [sign * (sure[i] - right[i]) for i in (place, place + 1)]
            if max(offs) <= 0:
                continue
            # the part of the step in which sign * (sure - right) is above 0
            cut = offs[0] / (offs[0] - offs[1]) if min(offs) < 0 else 0.0
            ends = [0.0 if offs[0] >= 0 else cut, 1.0 if offs[1] >= 0 else cut]
            corners = [
                (place + end, shares[place] + end * (shares[place + 1] - shares[place]))
                for shares, along in ((sure, ends), (right, ends[::-1]))
                for end in along
            ]
            drawn += f"M{plot.points(*zip(*corners, strict=True))}z"
        if drawn:
            yield svg.tag("path", d=drawn.replace(" ", "L"), **svg.fill(role) | {"stroke": "none"})
