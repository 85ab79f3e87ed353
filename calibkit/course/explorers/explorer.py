"""One or two sliders over pictures: live in JupyterLab, the same in a page without a kernel."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import re
import zlib
from collections.abc import Callable, Sequence
from functools import cached_property
from html import escape
from importlib import resources
from typing import Any

from calibkit import validate
from calibkit.pictures import svg
from calibkit.pictures.svg import Frame

WIDGET_MIME = "application/vnd.jupyter.widget-view+json"
# what moves the pictures, in JupyterLab and on pages
FACE = resources.files("calibkit.course.explorers").joinpath("face.js").read_text(encoding="utf-8")

# Text takes the colour of its surroundings, light or dark; a picture brings its own white.
STYLE = """\
<style>
.calibkit-explorer { max-width: 60rem; contain: layout style; } /* a step leaves the page alone */
.calibkit-explorer .controls { display: flex; flex-wrap: wrap; gap: .5em 1.5em;
  padding: 6px; } /* room for the outline of the focus */
.calibkit-explorer label { display: flex; flex: 1 1 17em; gap: .6em; align-items: center;
  font-weight: 600; }
.calibkit-explorer input { flex: 1; min-width: 6em; }
.calibkit-explorer output { min-width: 3em; }
.calibkit-explorer button { font: inherit; color: inherit; background: transparent;
  border: 1px solid; border-radius: 4px; min-width: 5em; padding: .2em .8em; }
.calibkit-explorer .picture { display: flex; flex-wrap: wrap; justify-content: center;
  align-items: flex-start; background: #fff; contain: content; }
.calibkit-explorer .picture :is(svg, img) { max-width: 100%; height: auto; }
.calibkit-explorer .readout { margin: .4em 0; }
.calibkit-explorer :is(input, button):focus-visible {
  outline: 3px solid #0072B2; outline-offset: 3px; }
</style>"""

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
<div class="picture" role="img" aria-label="{readout}">{still}</div>
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
  bind(root, "{packed}");
}}
}})();
</script>
"""


EXPLORER = "div.calibkit-explorer"  # a selector: what marks an explorer in a page
PACKED = re.compile(r'bind\(root, "([\w+/=]+)"\)')  # in its script, of whatever age


def refreshed(html: str) -> str:
    """HTML whose explorers, of whatever age, have the style and the script of this version.

    >>> refreshed("<p>no explorer</p>")
    '<p>no explorer</p>'
    """
    from bs4 import BeautifulSoup

    tree = BeautifulSoup(html, "html.parser")
    for root in tree.select(EXPLORER):
        style, script = root.find("style"), root.find("script")
        if style and script and (packed := PACKED.search(script.text)):
            today = SCRIPT.format(face=FACE, key=root["data-explorer"], packed=packed[1]).strip()
            style.replace_with(BeautifulSoup(STYLE, "html.parser"))
            script.replace_with(BeautifulSoup(today, "html.parser"))
    return str(tree)


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


class Explorer:
    """Pictures of one or two parameters; `render(*values)` draws the frame of one position.

    Every frame is drawn when the explorer is made, so a value that cannot be drawn fails there,
    in the cell, and never later in silence under somebody's hand.

    description: what is drawn and how to read it, for those who cannot see the picture.
    play: whether a button plays the last slider as a film.

    Raises ValueError for no slider or more than two, TypeError for what is no `Slider`.

    >>> squares = Explorer(lambda n: Frame((f"<svg>{n * n}</svg>",), f"{n} squared is {n * n}"),
    ...                    Slider("n", [1, 2, 3]), description="Squares of whole numbers.")
    >>> squares.frames[2].readout
    '3 squared is 9'
    """

    def __init__(
        self, render: Callable[..., Frame], *sliders: Slider, description: str, play: bool = False
    ) -> None:
        if not 1 <= len(sliders) <= 2:
            raise ValueError(f"sliders must be 1 or 2, got {len(sliders)}; fix the others")
        for slider in sliders:
            if not isinstance(slider, Slider):
                raise TypeError(f"sliders must be Slider(label, values), got {slider!r}")
        self.sliders, self.description, self.play = sliders, description, play
        positions = itertools.product(*(slider.values for slider in sliders))
        self.frames = [render(*values) for values in positions]

    @property
    def first(self) -> Frame:
        """The frame at the sliders' starts; the last slider runs fastest."""
        place = 0
        for slider in self.sliders:
            place = place * len(slider.values) + slider.start
        return self.frames[place]

    @cached_property
    def packed(self) -> str:
        """All frames for the page's script: JSON, deflated, base64."""
        content = {
            "frames": [(frame.panels, frame.readout) for frame in self.frames],
            "shown": [slider.shown for slider in self.sliders],
        }
        written = json.dumps(content, separators=(",", ":")).encode()
        return base64.b64encode(zlib.compress(written, 9)).decode()

    def widget(self):
        """The live face: an ipywidgets control, moved by mouse or keys; see `live.Live`."""
        from calibkit.course.explorers.live import RENDER, Live

        starts = [slider.start for slider in self.sliders]
        face = self._face(script="")
        return Live(_esm=FACE + RENDER, face=face, packed=self.packed, at=starts)

    def html(self) -> str:
        """The same as one self-contained piece of HTML: no kernel, no network."""
        return self._face(SCRIPT.format(face=FACE, key=self.key, packed=self.packed))

    def _repr_mimebundle_(self, **_) -> dict[str, Any]:
        """Live widget first; the HTML face for exported pages; words where neither works."""
        live, _ = self.widget()._repr_mimebundle_()
        where = ", ".join(
            f"{slider.label}: {slider.shown[slider.start]}" for slider in self.sliders
        )
        return {
            WIDGET_MIME: live[WIDGET_MIME],
            "text/html": self.html(),
            "text/plain": f"{where}. {self.first.readout}",
        }

    @property
    def key(self) -> str:
        """A short hash of all frames and labels, which tells the explorers of a page apart."""
        labels = " ".join(slider.label for slider in self.sliders)
        return hashlib.sha256((self.packed + labels).encode()).hexdigest()[:12]

    def _face(self, script: str) -> str:
        controls = [
            CONTROL.format(
                label=escape(slider.label),
                last=len(slider.values) - 1,
                start=slider.start,
                value=escape(slider.shown[slider.start]),
            )
            for slider in self.sliders
        ]
        return PAGE.format(
            key=self.key,
            name=escape(" and ".join(slider.label for slider in self.sliders)),
            style=STYLE,
            controls="\n".join(controls + [BUTTON] * self.play),
            still="".join(svg.image(panel) for panel in self.first.panels),
            readout=escape(self.first.readout),
            description=escape(self.description),
            script=script,
        )
