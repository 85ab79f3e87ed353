"""SVG read back: values are known from places and ticks alone, as to somebody who looks at it."""

import re
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np

from tests.pictures.reading import PIXEL, Look, Plot, Scale, Shape

SVG = "{http://www.w3.org/2000/svg}"


@dataclass(frozen=True)
class Picture:
    """A panel of SVG: its axes from the top down, its legend, its words, and what no axes hold."""

    plots: list[Plot]
    keys: dict[str, list[set[Look]]]  # by words, the looks of what stands before them
    words: list[str]
    loose: list[Shape]  # in pixels


def picture(svg: str, *, log_x: bool | None = None) -> Picture:
    """One panel read; log_x: whether x is on a log axis, where two ticks do not tell."""
    root = ElementTree.fromstring(svg)
    hatches = {f"url(#{e.get('id')})": _hatch(e) for e in root.iter(f"{SVG}pattern")}
    _, *shapes = (_shape(*element, hatches) for element in _elements(root, {}))  # first the paper
    texts = list(root.iter(f"{SVG}text"))
    keys = [(e.text, before) for e in texts if (before := _before(e, shapes))]
    boxes = [shape for shape in shapes if shape.kind == "box"]
    apart = {id(shape) for group in (boxes, *(before for _, before in keys)) for shape in group}
    drawn = [shape for shape in shapes if len(shape.x) and id(shape) not in apart]
    nearest = [min(boxes, key=lambda box: _off(box, shape), default=0) for shape in drawn]
    inside = [[s for s, home in zip(drawn, nearest, strict=True) if home is b] for b in boxes]
    plots = [_plot(b, boxes, held, texts, log_x) for b, held in zip(boxes, inside, strict=True)]
    looks = {}
    for words, before in keys:
        looks.setdefault(words, []).append({shape.look for shape in before})
    return Picture(plots, looks, [e.text or "" for e in texts], [] if boxes else drawn)


def _off(box: Shape, shape: Shape) -> float:
    """How far the middle of a shape lies above or below a box."""
    bottom, top = box.y[0]
    return max(shape.y.mean() - bottom, top - shape.y.mean(), 0)


def _elements(parent, style: dict):
    """Name and attributes of everything drawn; those of its group are its own too."""
    for e in parent:
        name = e.tag.removeprefix(SVG)
        if name in ("g", "svg"):
            yield from _elements(e, dict(e.attrib) if name == "g" else {})
        elif name not in ("pattern", "text"):
            yield name, style | e.attrib


def _shape(name: str, has: dict, hatches: dict) -> Shape:
    """One element, in pixels."""
    corners, fill = _corners(name, has), has.get("fill", "none").upper()
    x, y = corners[:, :, 0], corners[:, :, 1]  # (pieces, corners)
    if name == "circle" or has.get("class") == "marker" or (name == "rect" and np.ptp(x) < 5):
        middles = [(part.max(axis=1) + part.min(axis=1)) / 2 for part in (x, y)]
        return Shape("marker", Look(fill, marker=_sign(name, has)), *middles)
    if fill != "NONE":
        ground = hatches.get(has["fill"], Look(fill))
        if name == "polygon":
            upper, lower = np.split(y[0], 2)
            return Shape("band", ground, x[0, : len(upper)], np.c_[lower[::-1], upper])
        return Shape("bars", ground, x[:, ::2], y[:, :2])  # where a bar begins, and across
    dashes = re.findall(r"[\d.]+", has.get("stroke-dasharray", ""))
    dash = tuple(round(float(d) / float(has.get("stroke-width", 1)), 3) for d in dashes)
    look = Look(has.get("stroke", ""), dash)
    if (
        name == "path"
        and len(y)
        and (np.ptp(y, axis=1) == 0).all()
        and (np.ptp(x, axis=1) > 0).all()
    ):
        return Shape("levels", look, x, y.mean(axis=1))
    if name == "path":
        return Shape("whiskers", look, x.mean(axis=1), y)
    if name == "rect":
        return Shape("box", look, x[:, ::2], y[:, :2])
    return Shape("line", look, x[0], y[0])


def _corners(name: str, has: dict) -> np.ndarray:
    """(pieces, corners, 2); of a bar (left, from), (left, to), (right, to), ..."""
    number = {key: float(has.get(key, 0)) for key in ("x", "y", "width", "height", "cx", "cy")}
    left, top = number["x"], number["y"]
    right, bottom = left + number["width"], top + number["height"]
    if name == "path":
        return _pieces(has["d"])
    if name == "line":
        return np.array([[[float(has[x]), float(has[y])] for x, y in (("x1", "y1"), ("x2", "y2"))]])
    if name == "circle":
        return np.array([[[number["cx"], number["cy"]]]])
    if name == "rect":
        return np.array([[[left, bottom], [left, top], [right, top], [right, bottom]]])
    return np.array([[pair.split(",") for pair in has["points"].split()]], dtype=float)


def _pieces(d: str) -> np.ndarray:
    pieces, at = [], (0.0, 0.0)
    for command, written in re.findall(r"([a-yA-Y])([^a-zA-Z]*)", d):
        numbers = [float(number) for number in re.findall(r"-?[\d.]+", written)]
        x, y = at if command.islower() else (0.0, 0.0)
        across = {"h": (x + numbers[0], at[1]), "v": (at[0], y + numbers[0])}
        at = across.get(command.lower(), (x + numbers[-2:][0], y + numbers[-1]))
        pieces.append([at]) if command in "Mm" else pieces[-1].append(at)
    return np.array(pieces) if pieces else np.empty((0, 4, 2))


def _sign(name: str, has: dict) -> str:
    d = has.get("d", "a" if name == "circle" else "v")
    if "a" in d or "v" in d:
        return "o" if "a" in d else "s"
    return "D" if "h" not in d else "^" if re.search(r"l-\d+,-", d) else "v"


def _hatch(pattern) -> Look:
    ground, strokes = pattern
    kind = "//" if "l" in strokes.get("d") else ".."
    return Look(ground.get("fill").upper(), hatch=f"{kind} {strokes.get('stroke')}")


def _before(text, shapes: list[Shape]) -> list[Shape]:
    """What stands within 40 pixels before words of a legend."""
    if text.get("text-anchor") != "start":
        return []
    x, y = float(text.get("x")), float(text.get("y"))
    return [s for s in shapes if _within(s.x, x - 40, x) and _within(s.y, y - 18, y + 8)]


def _within(places: np.ndarray, low: float, high: float) -> bool:
    return len(places) > 0 and low < places.min() <= places.max() < high


def _plot(box: Shape, boxes: list[Shape], shapes: list[Shape], texts: list, log_x) -> Plot:
    """The axes that have this box, with what is drawn in them, in their own units."""
    (left, right), (bottom, top) = box.x[0], box.y[0]
    words = [(float(e.get("x")), float(e.get("y")), e.text or "", e.attrib) for e in texts]
    turned = "".join(text for _, y, text, has in words if "transform" in has and top < y < bottom)
    level = [word for word in words if "transform" not in word[3]]
    middle = {y: text for x, y, text, _ in level if abs(x - (left + right) / 2) < 0.1}
    beside = [(x, y - 4, text) for x, y, text, _ in level if top - 1 < y - 4 < bottom + 1]
    under = {other.y[0, 0] + 16 for other in boxes if (other.x == box.x).all()}  # a shared x axis
    x_label = middle.get(bottom + 33, "")
    shared = [text for y, text in middle.items() if y > bottom and text.endswith("(%)")]
    x_unit, y_unit = _unit(x_label or "".join(shared[:1])), _unit(turned)
    x_ticks = [(x, text, x_unit) for x, y, text, _ in level if y in under]
    y_ticks = [(y, text, y_unit) for x, y, text in beside if x == left - 5]
    counts = turned.endswith("(log)")
    x_scale = _scale(x_ticks, log_x)
    half = [(bottom, "0.5", 1.0)] * counts  # the strip begins at half a sample
    y_scale = _scale(y_ticks + half, counts or None)
    return Plot(
        title="".join(text for y, text in middle.items() if top - 12 < y < top),
        x_label=x_label,
        y_label=turned,
        x=x_scale,
        y=y_scale,
        x_range=tuple(x_scale.value([left, right])),
        y_range=tuple(y_scale.value([bottom, top])),
        shapes=[Shape(s.kind, s.look, x_scale.value(s.x), y_scale.value(s.y)) for s in shapes],
        rows={text: y for x, y, text in beside if x == left - 8},
    )


def _unit(label: str) -> float:
    """In what the ticks of axes with this label are written."""
    return 0.01 if label.endswith(("(%)", "(points)")) else 1.0


def _scale(ticks: list[tuple[float, str, float]], log: bool | None) -> Scale:
    """The scale on which the ticks stand where they do; pixels where there are none."""
    if not ticks:
        return Scale()
    read = [(place, float(words.replace("−", "-")) * unit) for place, words, unit in ticks]
    places, values = np.array(read).T
    for logarithmic in (False, True) if log is None else (log,):
        heights = np.log(values) if logarithmic else values
        slope, start = np.polyfit(places, heights, 1)
        if np.abs(slope * places + start - heights).max() < abs(PIXEL * slope):
            return Scale(slope, start, logarithmic)
    raise AssertionError(f"no scale has the ticks {ticks}")
