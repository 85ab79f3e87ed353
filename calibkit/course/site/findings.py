"""Findings: small pictures of stored runs with a sentence, and what the evidence concludes.

Every number in a sentence is read from the explorer that the lesson itself stored, every
conclusion from notebooks/results/conclusions.json.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

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
ERROR = TRAINED.named("ECE")  # in all pictures
ROOM = 0.06  # above and below the lines, of their range


# (lesson, claim) of conclusions.json: one line each on the page of findings
RESULTS = (
    ("02", "M6"), ("03", "O7"), ("03", "O4"), ("03", "O2"), ("04", "O10"),
    ("05", "D1"), ("05", "05l"), ("06", "D3"), ("07", "D5"), ("08", "T1"), ("08", "08s"),
    ("09", "T2"), ("10", "F4"), ("11", "F7"), ("12", "X1"), ("13", "S3"), ("13", "13o"),
    ("14", "P3"), ("15", "X5"), ("16", "D8"), ("17", "17d"), ("18", "18c"),
    ("19", "19a"), ("19", "19b"), ("20", "20b"), ("20", "20c"),
    ("21", "21a"), ("21", "21b"),
)  # fmt: skip
# What a claim of a lesson's own is about, where its conclusion does not say it.
ABOUT = {
    "19a": "where a miss costs 20, one temperature takes away at least half of the regret",
    "19b": "a lower ECE does not mean cheaper decisions",
    "21a": "asked what its text never says, a language model is surer than right",
    "21b": "silence below 50 % takes away half of the false sentences or more",
}
APART = ("07", "09", "15")  # lessons whose finding is not among the twelve of the landing page


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
        first = re.match(r".+?[.;](?= |$)", self.words)[0]
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
    return [_result(lesson, claim) for lesson, claim in RESULTS]


def _result(lesson: str, claim: str) -> Result:
    head, _, words = claims.concluded(lesson, claim).partition("): ")
    counts = re.findall(r"(\d+) ([A-Z][A-Z ]*[A-Z])", head.partition("(")[2])
    words = words.removeprefix("holds: ")
    counted = tuple((word, int(many)) for many, word in counts)
    return Result(lesson, claim, counted, f"{words[0].upper()}{words[1:]}.")


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
        for place, curve in enumerate(self.curves):
            parts += _named(curve, LINE * (place + 1) - 4)
        if self.area:
            sure, right = self.curves[:2]
            parts += _between(plot, sure.shares, right.shares)
        bottom = plot.top + plot.height
        edge = plot.left + plot.width
        look = {"stroke": DIAGONAL.colour, "stroke_width": 1}
        # a line at the foot is 0; else only the two ends are marked
        foot = f"H{edge}" if plot.y_range[0] == 0 else f"v-6M{edge},{bottom}v-6"
        parts.append(svg.tag("path", d=f"M{plot.left},{bottom}{foot}", **look))
        parts += [
            svg.text(plot.left, bottom + 17, _whole(first), anchor="start"),
            svg.text((plot.left + edge) / 2, bottom + 17, name),
            svg.text(edge, bottom + 17, _whole(last), anchor="end"),
        ]
        for curve in self.curves:
            parts += _line(plot, curve)
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
    return [
        _test_images(), _overconfidence(), _dataset_size(), _label_noise(), _rare(), _temperature(),
        _soft_targets(), _focal(), _mixup(), _noisier(), _short_texts(), _audits(), _costs(),
        _promises(), _made_up(),
    ]  # fmt: skip


def twelve() -> list[Finding]:
    """Those of the landing page."""
    return [one for one in findings() if one.lesson not in APART]


def _frames(name: str, **chosen: str) -> list[tuple[str, Frame]]:
    """(value of the free slider, frame) of a stored explorer; `chosen` fixes the other one."""
    explorer = stored(name)
    shown = [slider.values for slider in explorer.sliders]
    if not chosen:
        return list(zip(shown[0], explorer.frames, strict=True))
    ((which, value),) = chosen.items()
    many = len(shown[1])
    if which == "first":
        start = many * shown[0].index(value)
        return list(zip(shown[1], explorer.frames[start : start + many], strict=True))
    return list(zip(shown[0], explorer.frames[shown[1].index(value) :: many], strict=True))


def _whole(value: str) -> str:
    """A whole number with its thousands apart.

    >>> _whole("1500"), _whole("0.4"), _whole("10,000")
    ('1,500', '0.4', '10,000')
    """
    return f"{int(value):,}" if value.isdigit() else value


def _pair(frames: Sequence[tuple[str, Frame]], prefix: str = "") -> tuple[Curve, Curve]:
    """Mean confidence and accuracy of the frames."""
    sure, right = (
        [frame.values[f"{prefix}{name}"] for _, frame in frames]
        for name in ("confidence", "accuracy")
    )
    return Curve("sure", CONFIDENCE, sure), Curve("right", ACCURACY, right)


def _read(pattern: str, frames: Sequence[tuple[str, Frame]]) -> list[float]:
    """The share that each frame states after some words."""
    return [float(re.search(pattern, frame.readout)[1]) / 100 for _, frame in frames]


def _test_images() -> Finding:
    frames = _frames("test_images")
    measured = _read(r"the truth: measured ([\d.]+)%", frames)
    (first, _), (last, _) = frames[0], frames[-1]
    words = (
        f"Measured on {first} images, even exact probabilities seem to be wrong by "
        f"{percent(measured[0])} points on average; on {last} images by {percent(measured[-1])}."
    )
    curve = Curve("ECE", ERROR, measured)
    axis = (first, "images in the test set", last)
    return Finding("02", "A small test set shows errors that are not there", words, axis, (curve,))


def _overconfidence() -> Finding:
    frames = _frames("overconfidence")
    sure, right = _pair(frames, "test_")
    last = frames[-1]
    words = (
        f"After {last[0]} passes over its images a network is right on "
        f"{percent(last[1].values['train_accuracy'])} % of them. Of new images it is "
        f"{percent(sure.shares[-1])} % sure, and right on {percent(right.shares[-1])} %."
    )
    axis = (frames[0][0], "epochs of training", last[0])
    title = "Training begins too unsure and ends too sure"
    return Finding("03", title, words, axis, (sure, right), area=True)


def _dataset_size() -> Finding:
    frames = _frames("dataset_size")
    sure, right = _pair(frames)
    words = (
        f"Taught by {frames[0][0]} images, a network is {percent(sure.shares[0])} % sure and "
        f"{percent(right.shares[0])} % right; by {_whole(frames[-1][0])}, "
        f"{percent(sure.shares[-1])} and {percent(right.shares[-1])} %."
    )
    axis = (frames[0][0], "training images", frames[-1][0])
    title = "With few images it is almost as sure"
    return Finding("05", title, words, axis, (sure, right), area=True)


def _label_noise(noise: str = "30%") -> Finding:
    frames = _frames("label_noise", first=noise)
    sure, right = _pair(frames)
    words = (
        f"With {noise.replace('%', ' %')} of the labels wrong, a network learns them all by heart: "
        f"it ends {percent(sure.shares[-1])} % sure, and right on {percent(right.shares[-1])} % of "
        f"clean images. After {frames[0][0]} epoch it was too unsure."
    )
    axis = (frames[0][0], "epochs of training", frames[-1][0])
    title = "Wrong labels are learned by heart"
    return Finding("06", title, words, axis, (sure, right), area=True)


def _rare(rarer: str = "100") -> Finding:
    frames = _frames("class_prior")
    clear, doubtful = (
        Curve(f"{name}", role, [frame.values[name] for _, frame in frames])
        for name, role in (("clear", CURED), ("doubtful", TRAINED))
    )
    place = [value for value, _ in frames].index(rarer)
    words = (
        f"Make a digit {rarer} times rarer: the exact probability of a clear one falls from "
        f"{percent(clear.shares[0])} to {percent(clear.shares[place])} %, that of a doubtful one "
        f"from {percent(doubtful.shares[0])} to {percent(doubtful.shares[place])} %."
    )
    axis = (frames[0][0], "times rarer", frames[-1][0])
    return Finding(
        "07", "Doubtful images of a rare class lose most", words, axis, (clear, doubtful)
    )


def _temperature() -> Finding:
    frames = _frames("temperature")
    errors = [frame.values["ece"] for _, frame in frames]
    trained = errors[[value for value, _ in frames].index("1.0")]
    best = min(range(len(errors)), key=errors.__getitem__)
    words = (
        f"Divide all scores by {frames[best][0]}, and the average distance between confidence and "
        f"accuracy (ECE) falls from {percent(trained)} to {percent(errors[best])} points. No "
        f"answer changes."
    )
    axis = (frames[0][0], "temperature T", frames[-1][0])
    title = "One number repairs most of the gap"
    return Finding("08", title, words, axis, (Curve("ECE", ERROR, errors, least=True),))


def _soft_targets() -> Finding:
    frames = _frames("soft_targets", second="as trained")
    sure, right = _pair(frames)
    cooled = _frames("soft_targets", second="after temperature")[-1][1].values["confidence"]
    words = (
        f"Labels smoothed by {frames[-1][0]} leave a network {percent(sure.shares[-1])} % sure "
        f"where it is {percent(right.shares[-1])} % right. One temperature brings it to "
        f"{percent(cooled)} %."
    )
    axis = (frames[0][0], "label smoothing", frames[-1][0])
    title = "Too much smoothing makes it too unsure"
    return Finding("09", title, words, axis, (sure, right), area=True)


def _focal() -> Finding:
    frames = _frames("focal_practice")
    wrong = _read(r"sure of, ([\d.]+)% are wrong", frames)
    _, right = _pair(frames)
    words = (
        f"Of the answers above 90 %, {percent(wrong[0])} % are wrong with cross-entropy and "
        f"{percent(wrong[-1])} % with focal loss (gamma {frames[-1][0]}). In all it makes no fewer "
        f"mistakes: {percent(right.shares[0])} and {percent(right.shares[-1])} % are right."
    )
    axis = (frames[0][0], "gamma of the focal loss", frames[-1][0])
    title = "Focal loss: fewer wrong answers above 90 %"
    return Finding("11", title, words, axis, (Curve("wrong", OVER, wrong),))


def _mixup() -> Finding:
    frames = _frames("mixup_alpha")
    sure, right = _pair(frames)
    gaps = [a - b for a, b in zip(sure.shares, right.shares, strict=True)]
    best = min(range(len(gaps)), key=lambda place: abs(gaps[place]))
    words = (
        f"Trained on blends of two images (alpha {frames[best][0]}), the network’s confidence is "
        f"{_points(gaps[best])} above its accuracy, in place of {percent(gaps[0])}; with "
        f"alpha {frames[-1][0]} it is {percent(-gaps[-1])} points below."
    )
    axis = (frames[0][0], "alpha of mixup", frames[-1][0])
    title = "Blended images lower the confidence"
    return Finding("12", title, words, axis, (sure, right), area=True)


def _noisier() -> Finding:
    frames = _frames("severity", first="network")
    sure, right = _pair(frames)
    usual = [value for value, _ in frames].index("0.4")
    words = (
        f"From the noise of its training ({frames[usual][0]}) to a noise of {frames[-1][0]} the "
        f"accuracy falls from {percent(right.shares[usual])} to {percent(right.shares[-1])} %, and "
        f"the confidence only from {percent(sure.shares[usual])} to {percent(sure.shares[-1])} %."
    )
    axis = (frames[0][0], "noise of the new images", frames[-1][0])
    title = "Under more noise the confidence stays high"
    return Finding("13", title, words, axis, (sure, right), area=True)


def _short_texts() -> Finding:
    frames = _frames("note_length", first="CNN")
    sure, right = _pair(frames)
    words = (
        f"Of notes of at most {frames[0][0]} words a network is {percent(sure.shares[0])} % sure "
        f"and {percent(right.shares[0])} % right; of {frames[-1][0]} words, "
        f"{percent(sure.shares[-1])} and {percent(right.shares[-1])} %."
    )
    axis = (frames[0][0], "words of a note", frames[-1][0])
    title = "On short texts the confidence stays high"
    return Finding("15", title, words, axis, (sure, right), area=True)


def _audits() -> Finding:
    frames = _frames("audit_power")
    bold, rare = (
        Curve(word, role, _read(rf"(\d+)% \({name}\)", frames))
        for word, role, name in (
            ("too sure, found", OVER, "too sure"),
            ("rare class, found", Role("rare", BLACK, marker="X"), "rare class"),
        )
    )
    words = (
        f"An audit of {frames[0][0]} images finds a network that is too sure in "
        f"{percent(bold.shares[0])} % of the draws, and a fault of one rare class in "
        f"{percent(rare.shares[0])} %; with {frames[-1][0]} images, in "
        f"{percent(rare.shares[-1])} %."
    )
    axis = (frames[0][0], "images in the audit", frames[-1][0])
    title = "Some faults need thousands of images to be found"
    return Finding("17", title, words, axis, (bold, rare))


def _costs() -> Finding:
    frames = _frames("cost_of_a_miss")
    bold, careful = (
        Curve(f"{name}, {kind}:", role, _read(rf"\b{name} (\d+)", frames), unit="")
        for name, kind, role in (("A", "bold", group(0, "A")), ("D", "careful", group(3, "D")))
    )
    dear = frames[-1][0]
    words = (
        "A is too bold, D is the same network made too careful, and their calibration error (ECE) "
        "is about the same. If a miss costs as much as a check in vain, decisions on 100 "
        f"prescriptions cost {percent(bold.shares[0])} with A and {percent(careful.shares[0])} "
        f"with D; if it costs {dear} times as much, {percent(bold.shares[-1])} and "
        f"{percent(careful.shares[-1])}."
    )
    axis = (frames[0][0], "cost of a miss", dear)
    return Finding("19", "The same ECE can cost little or much", words, axis, (bold, careful))


def _promises(promised: str = "90 %") -> Finding:
    frames = _frames("promises")
    looks = {
        "new scanner": group(0, "new"),
        "all images": Role("all", BLACK, marker="X"),
        "old scanner": group(2, "old"),
    }
    curves = tuple(
        Curve(name, role, [frame.values[name] for _, frame in frames])
        for name, role in looks.items()
    )
    place = [value for value, _ in frames].index(promised)
    new, every, old = (percent(one.shares[place]) for one in curves)
    words = (
        f"Promised: the right digit is in the set with {promised}. Over all images it is in "
        f"{every} % of the sets, on a new scanner in {new} %, on an old one in {old} %."
    )
    axis = (frames[0][0], "promised", frames[-1][0])
    return Finding("20", "A promise that is kept only on average", words, axis, curves)


def _made_up() -> Finding:
    frames = _frames("made_up")
    curves = (
        Curve("made up", Role("all", BLACK, marker="X"), _read(r"facts: ([\d.]+)%", frames)),
        Curve("on unread facts", group(3, "never read"), _read(r"false, ([\d.]+)%", frames)),
    )
    every, unread = (percent(one.shares[2]) for one in curves)
    words = (
        f"A small language model has read only true sentences, {frames[2][0]} of them about rare "
        f"facts. It makes up {every} % of its own sentences: {unread} % about what it never read."
    )
    axis = (frames[0][0], "text about rare facts", frames[-1][0])
    return Finding("21", "It read only true sentences, and makes things up", words, axis, curves)


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
            corners = _strip(place, sure, right, sign)
            if corners:
                drawn += f"M{plot.points(*zip(*corners, strict=True))}z"
        if drawn:
            yield svg.tag("path", d=drawn.replace(" ", "L"), **svg.fill(role) | {"stroke": "none"})


def _strip(
    place: int, sure: Sequence[float], right: Sequence[float], sign: int
) -> list[tuple[float, float]]:
    """The corners of the part of one step in which sign * (sure - right) is above 0."""
    offs = [sign * (sure[i] - right[i]) for i in (place, place + 1)]
    if max(offs) <= 0:
        return []
    cut = offs[0] / (offs[0] - offs[1]) if min(offs) < 0 else None
    at = partial(_at, place, cut)
    ends = [0.0 if offs[0] >= 0 else cut, 1.0 if offs[1] >= 0 else cut]
    upper = [at(end, sure) for end in ends]
    return upper + [at(end, right) for end in reversed(ends)]


def _at(place: int, cut: float | None, end: float, shares: Sequence[float]) -> tuple[float, float]:
    low, high = shares[place], shares[place + 1]
    return place + end, low + end * (high - low)


def _named(curve: Curve, down: float) -> Iterator[str]:
    """A line of words in the colour of its curve, behind a piece of it."""
    yield svg.tag("path", d=f"M{SIDE},{down - 4}h24", **svg.stroke(curve.role))
    yield svg.marker(curve.role, SIDE + 12, down - 4, 4)
    look = {"font_weight": "bold", "fill": WORDS.get(curve.role.colour, curve.role.colour)}
    yield svg.text(SIDE + 31, down, curve.told, anchor="start", **look)


def _line(plot: svg.Axes, curve: Curve) -> Iterator[str]:
    """The curve, and a marker at its last or its lowest place."""
    shares = curve.shares
    points = plot.points(range(len(shares)), shares)
    yield svg.tag("polyline", points=points, fill="none", **svg.stroke(curve.role, 2.2))
    place = min(range(len(shares)), key=shares.__getitem__) if curve.least else len(shares) - 1
    yield svg.marker(curve.role, plot.x(place), plot.y(shares[place]), 4)
