"""One or two sliders over pictures: live in JupyterLab, the same in a page without a kernel."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from html import escape
from importlib import resources
from typing import Any

from calibkit import validate
from calibkit.pictures import svg
from calibkit.pictures.percent import spaced
from calibkit.pictures.svg import Frame

WIDGET_MIME = "application/vnd.jupyter.widget-view+json"
HERE = resources.files("calibkit.course.explorers")

# Arrow keys and Enter reach a control inside JupyterLab only when it carries
# data-lm-suppress-shortcuts. Where scripts are not run, as in a notebook that was opened and not
# executed yet, the first picture stays, with a hint; it is an <img>, because an inline <svg> is
# taken out there.
PAGE = """\
<div class="calibkit-explorer" data-explorer="{key}" role="group" aria-label="{name}">
{style}
<div class="controls">
{controls}
</div>
<div class="picture" role="img" aria-label="{alt}">{still}</div>
<p class="readout" aria-live="off">{readout}</p>
<p class="description">{description}</p>
<p class="still"><em>The slider moves once all cells down to here have been run.</em></p>
{script}</div>"""
CONTROL = """\
<label>{label}
<input type="range" min="0" max="{last}" step="1" value="{start}" aria-label="{label}" \
aria-valuetext="{value}" data-lm-suppress-shortcuts="true">
<output aria-live="off">{value}</output></label>"""
BUTTON = """\
<button type="button" class="play" data-lm-suppress-shortcuts="true" hidden>Play</button>"""
# Each copy of the explorer in a page is bound once.
SCRIPT = """\
<script>
(() => {{
{face}
for (const root of document.querySelectorAll('[data-explorer="{key}"]:not([data-bound])')) {{
  root.dataset.bound = "yes";
  {bind}(root, "{packed}");
}}
}})();
</script>
"""


# Said below the pictures where a diagram has pale bars; see `pictures.svg_diagram.hardly_any`.
PALE = (
    "Pale bars have very few predictions (fewer than 10, and less than 1 %): do not read much into "
    "them."
)
EXPLORER = "div.calibkit-explorer"  # a selector: what marks an explorer in a page
PACKED = re.compile(r'\b(bind\w*)\(root, "([\w+/=]+)"\)')  # in its script, of whatever age


@dataclass(frozen=True)
class Face:
    """How a kind of explorer looks and moves, in JupyterLab and on pages.

    script: JavaScript with the function `bind`, which is given an explorer and its packed content.
    """

    bind: str
    style: str
    script: str

    @property
    def module(self) -> str:
        """What anywidget runs: a module whose content is with the host."""
        export = f"\nexport default {{ render: rendering({self.bind}) }};\n"
        return self.script + _text("render.js") + export


def _text(*names: str) -> str:
    return "".join(HERE.joinpath(name).read_text(encoding="utf-8") for name in names)


def _style(*names: str) -> str:
    return f"<style>\n{_text(*names)}</style>"


SLIDERS = Face("bind", _style("slider.css"), _text("slider.js"))
PLANE = Face("bindPlane", _style("slider.css", "plane.css"), _text("slider.js", "plane.js"))
FACES = {face.bind: face for face in (SLIDERS, PLANE)}


def refreshed(html: str) -> str:
    """HTML whose explorers, of whatever age, have the style and the script of this version.

    >>> refreshed("<p>no explorer</p>")
    '<p>no explorer</p>'
    """
    from bs4 import BeautifulSoup

    tree = BeautifulSoup(html, "html.parser")
    for root in tree.select(EXPLORER):
        style, script = root.find("style"), root.find("script")
        if style and script and (found := PACKED.search(script.text)) and found[1] in FACES:
            face, key = FACES[found[1]], str(root["data-explorer"])
            style.replace_with(BeautifulSoup(face.style, "html.parser"))
            script.replace_with(BeautifulSoup(scripted(face, key, found[2]), "html.parser"))
    return str(tree)


def scripted(face: Face, key: str, packed: str) -> str:
    """The script that a page runs for an explorer."""
    parts = {"face": face.script, "bind": face.bind, "packed": to_be_read(packed)}
    return SCRIPT.format(**parts, key=key).strip()


def pack(content: Any) -> str:
    """What a page's script unpacks: JSON, deflated, base64."""
    return _deflated(json.dumps(content, separators=(",", ":")))


def to_be_read(packed: str) -> str:
    """What `pack` made, with its words as a reader meets them."""
    content = json.loads(zlib.decompress(base64.b64decode(packed)))
    return _deflated(spaced(json.dumps(content, ensure_ascii=False, separators=(",", ":"))))


def _deflated(text: str) -> str:
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


class Shown:
    """What JupyterLab and pages show: the same controls, pictures and words.

    face: what moves it. packed: its content for the script. at: where its controls stand at first.
    first: the frame that they show there. name, description: for those who cannot see it. controls:
    their HTML. words: its text where neither works.
    """

    face: Face
    packed: str
    at: list[int]
    first: Frame
    name: str
    description: str
    controls: list[str]
    words: str

    @property
    def alt(self) -> str:
        """The text of the picture."""
        return self.first.readout

    @property
    def key(self) -> str:
        """A short hash of all that it holds, which tells the explorers of a page apart."""
        return hashlib.sha256(f"{self.packed}{self.at}".encode()).hexdigest()[:12]

    def widget(self):
        """The live face: an ipywidgets control that brings its own HTML sliders (anywidget).

        Its pictures are with the browser from the start: a slider answers at once, also while the
        kernel trains. `at`: where each slider stands, counted from 0; may be observed and set.
        """
        return _live()(_esm=self.face.module, **self._content())

    def module(self) -> str:
        """The same as an ES module that holds its content, for pages that others make.

        Its default export is what anywidget asks of a widget, `render({ model, el })`, so that
        JupyterLab and MyST show it; a plain page calls its `mount(element)`.
        """
        filled = {"CONTENT": json.dumps(self._content()), "BIND": self.face.bind}
        own = re.sub("|".join(filled), lambda place: filled[place[0]], _text("module.js"))
        return self.face.script + _text("render.js") + own

    def html(self) -> str:
        """The same as one self-contained piece of HTML: no kernel, no network."""
        return self._page(scripted(self.face, self.key, self.packed) + "\n")

    def _repr_mimebundle_(self, **_) -> dict[str, Any]:
        """Live widget first; the HTML face for exported pages; words where neither works."""
        live, _ = self.widget()._repr_mimebundle_()
        return {
            WIDGET_MIME: live[WIDGET_MIME],
            "text/html": self.html(),
            "text/plain": self.words,
        }

    def _content(self) -> dict[str, Any]:
        """What a host keeps of it: the page without a script, what the script unpacks, places."""
        packed = to_be_read(self.packed)
        return {"face": self._page(script=""), "packed": packed, "at": self.at}

    def _page(self, script: str) -> str:
        return spaced(
            PAGE.format(
                key=self.key,
                name=escape(self.name),
                style=self.face.style,
                controls="\n".join(self.controls),
                still="".join(svg.image(spaced(panel)) for panel in self.first.panels),
                alt=escape(self.alt),
                readout=escape(self.first.readout),
                description=escape(self.description),
                script=script,
            )
        )


@cache
def _live() -> type:
    """The class of all live faces; nothing needs ipywidgets before an explorer is shown."""
    import anywidget
    import traitlets

    class Live(anywidget.AnyWidget):
        _esm = traitlets.Unicode().tag(sync=True)
        face = traitlets.Unicode().tag(sync=True)
        packed = traitlets.Unicode().tag(sync=True)
        at = traitlets.List(traitlets.Int()).tag(sync=True)

    return Live


def control(label: str, last: int, start: int, value: str) -> str:
    """The HTML of a slider over whole numbers from 0 to `last`."""
    words = {"label": escape(label), "value": escape(value)}
    return CONTROL.format(last=last, start=start, **words)


class Slider:
    """One parameter of an explorer.

    label: what it moves, with its unit.
    values: its positions, in order.
    show: how a value is written beside the slider.
    start: the value shown first; by default the first one.

    Raises ValueError when there are fewer than 2 values or `start` is none of them.

    >>> Slider("noise rate", [0.0, 0.3], show="{:.0%}".format).shown
    ['0%', '30%']
    """

    def __init__(
        self, label: str, values: Sequence, *, show: Callable[[Any], str] = str, start: Any = None
    ) -> None:
        self.label, self.values = label, list(values)
        if len(self.values) < 2:
            raise ValueError(
                f"values of {label!r} must hold at least 2 positions, got {self.values}"
            )
        start = self.values[0] if start is None else start
        self.start = self.values.index(validate.choice("start", start, self.values))
        self.shown = [show(value) for value in self.values]


class Explorer(Shown):
    """Pictures of one or two parameters; `render(*values)` draws the frame of one position.

    Every frame is drawn when the explorer is made, so a value that cannot be drawn fails there,
    in the cell, and never later in silence under somebody's hand.

    description: what is drawn and how to read it, for those who cannot see the picture; what pale
        bars are is added where there are any.
    play: whether a button plays the last slider as a film.

    Raises ValueError for no slider or more than two, TypeError for what is no `Slider`.

    >>> squares = Explorer(lambda n: Frame((f"<svg>{n * n}</svg>",), f"{n} squared is {n * n}"),
    ...                    Slider("n", [1, 2, 3]), description="Squares of whole numbers.")
    >>> squares.frames[2].readout
    '3 squared is 9'
    """

    face = SLIDERS

    def __init__(
        self, render: Callable[..., Frame], *sliders: Slider, description: str, play: bool = False
    ) -> None:
        if not 1 <= len(sliders) <= 2:
            raise ValueError(f"sliders must be 1 or 2, got {len(sliders)}; fix the others")
        for slider in sliders:
            if not isinstance(slider, Slider):
                raise TypeError(f"sliders must be Slider(label, values), got {slider!r}")
        self.sliders, self.play = sliders, play
        positions = itertools.product(*(slider.values for slider in sliders))
        self.frames = [render(*values) for values in positions]
        faded = any('class="faded"' in panel for frame in self.frames for panel in frame.panels)
        more = f" {PALE}" * (faded and PALE not in description)
        self.description = f"{description}{more}"

    @property
    def first(self) -> Frame:
        """The frame at the sliders' starts; the last slider runs fastest."""
        place = 0
        for slider in self.sliders:
            place = place * len(slider.values) + slider.start
        return self.frames[place]

    @cached_property
    def packed(self) -> str:
        """All frames for the page's script."""
        return pack(
            {
                "frames": [(frame.panels, frame.readout) for frame in self.frames],
                "shown": [slider.shown for slider in self.sliders],
            }
        )

    @property
    def at(self) -> list[int]:
        return [slider.start for slider in self.sliders]

    @property
    def words(self) -> str:
        """Where the sliders stand, and what is seen there."""
        where = (f"{slider.label}: {slider.shown[slider.start]}" for slider in self.sliders)
        return f"{', '.join(where)}. {self.first.readout}"

    @property
    def name(self) -> str:
        return " and ".join(slider.label for slider in self.sliders)

    @property
    def key(self) -> str:
        """A short hash of all frames and labels, which tells the explorers of a page apart."""
        labels = " ".join(slider.label for slider in self.sliders)
        return hashlib.sha256((self.packed + labels).encode()).hexdigest()[:12]

    @property
    def controls(self) -> list[str]:
        sliders = [
            control(one.label, len(one.values) - 1, one.start, one.shown[one.start])
            for one in self.sliders
        ]
        return sliders + [BUTTON] * self.play
