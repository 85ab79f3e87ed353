"""One slider over pictures: live in JupyterLab, the same in a page without a kernel."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from calibkit import validate

WIDGET_MIME = "application/vnd.jupyter.widget-view+json"

# Text takes the colour of its surroundings, light or dark; a picture brings its own white.
STYLE = """\
<style>
.calibkit-explorer { max-width: 46rem; }
.calibkit-explorer .picture :is(svg, img) { max-width: 100%; height: auto; background: #fff; }
.calibkit-explorer input:focus-visible, .calibkit-explorer .noUi-handle:focus-visible {
  outline: 3px solid #0072B2; outline-offset: 3px; }
</style>"""

# Each copy of the explorer in a page is bound once; arrow keys reach an <input> inside
# JupyterLab only when it carries data-lm-suppress-shortcuts. Where scripts are not run, as in a
# notebook that was opened and not executed yet, the first picture stays, with a hint; it is an
# <img>, because an inline <svg> is taken out there.
PAGE = """\
<div class="calibkit-explorer" data-explorer="{key}" role="group" aria-label="{label}">
{style}
<label style="display:flex;flex-wrap:wrap;gap:.8em;align-items:center;font-weight:600">{label}
<input type="range" min="0" max="{last}" step="1" value="{start}" style="flex:1;min-width:12em" \
aria-label="{label}" aria-valuetext="{value}" data-lm-suppress-shortcuts="true">
<output style="min-width:4em">{value}</output></label>
<div class="picture"><img src="data:image/svg+xml;base64,{still}" alt="{readout}"></div>
<p class="readout" aria-live="polite">{readout}</p>
<p class="description">{description}</p>
<p class="still"><em>The slider moves once this cell has been run.</em></p>
<script>
(async () => {{
  const packed = "{packed}";
  const bytes = Uint8Array.from(atob(packed), c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const frames = JSON.parse(await new Response(stream).text());
  for (const root of document.querySelectorAll('[data-explorer="{key}"]:not([data-bound])')) {{
    root.dataset.bound = "yes";
    root.querySelector(".still").remove();
    const slider = root.querySelector("input");
    const show = () => {{
      const [value, svg, readout] = frames[slider.value];
      root.querySelector("output").textContent = value;
      root.querySelector(".picture").innerHTML = svg;
      root.querySelector(".readout").textContent = readout;
      slider.setAttribute("aria-valuetext", value);
    }};
    slider.addEventListener("input", show);
    show();
  }}
}})();
</script>
</div>"""


@dataclass(frozen=True)
class Frame:
    """What one slider position shows: a picture (SVG text) and one line that reads it out."""

    svg: str
    readout: str


class Explorer:
    """A slider over `values`; `render(value)` draws the frame of one of them.

    Every frame is drawn when the explorer is made, so a value that cannot be drawn fails there,
    in the cell, and never later in silence under somebody's hand.

    label: what the slider moves, with its unit.
    description: a paragraph for those who cannot see the picture.
    start: the value shown first; by default the first one.
    show: how a value is written beside the slider.

    Raises ValueError when there are fewer than 2 values or `start` is none of them.

    >>> squares = Explorer(lambda n: Frame(f"<svg>{n * n}</svg>", f"{n} squared is {n * n}"),
    ...                    [1, 2, 3], label="n", description="Squares of whole numbers.")
    >>> squares.frames[2].readout
    '3 squared is 9'
    """

    def __init__(
        self,
        render: Callable[[Any], Frame],
        values: Sequence,
        *,
        label: str,
        description: str,
        start: Any = None,
        show: Callable[[Any], str] = str,
    ) -> None:
        self.values = list(values)
        if len(self.values) < 2:
            raise ValueError(f"values must hold at least 2 slider positions, got {self.values}")
        start = self.values[0] if start is None else start
        validate.choice("start", start, self.values)
        self.start = self.values.index(start)
        self.label, self.description = label, description
        self.shown = [show(value) for value in self.values]
        self.frames = [render(value) for value in self.values]

    def widget(self):
        """The live face: an ipywidgets slider, moved by mouse or arrow keys."""
        import ipywidgets as widgets

        slider = widgets.SelectionSlider(
            options=[(shown, i) for i, shown in enumerate(self.shown)],
            value=self.start,
            description=self.label,
            style={"description_width": "initial"},
            layout={"width": "100%"},
        )
        picture = widgets.HTML(self.frames[self.start].svg).add_class("picture")
        readout = widgets.HTML(escape(self.frames[self.start].readout)).add_class("readout")

        def move(change) -> None:
            frame = self.frames[change["new"]]
            picture.value, readout.value = frame.svg, escape(frame.readout)

        slider.observe(move, names="value")
        words = widgets.HTML(f"{STYLE}<p>{escape(self.description)}</p>")
        return widgets.VBox([slider, picture, readout, words]).add_class("calibkit-explorer")

    def html(self) -> str:
        """The same slider as one self-contained piece of HTML: no kernel, no network."""
        shown = [(v, f.svg, f.readout) for v, f in zip(self.shown, self.frames, strict=True)]
        frames = json.dumps(shown, separators=(",", ":")).encode()
        first = self.frames[self.start]
        return PAGE.format(
            key=hashlib.sha256(frames + self.label.encode()).hexdigest()[:12],
            style=STYLE,
            packed=base64.b64encode(zlib.compress(frames, 9)).decode(),
            label=escape(self.label),
            last=len(self.frames) - 1,
            start=self.start,
            value=escape(self.shown[self.start]),
            still=base64.b64encode(first.svg.encode()).decode(),
            readout=escape(first.readout),
            description=escape(self.description),
        )

    def _repr_mimebundle_(self, **_) -> dict[str, Any]:
        """Live widget first; the HTML face for exported pages; words where neither works."""
        live = self.widget()._repr_mimebundle_()
        data = live[0] if isinstance(live, tuple) else live
        words = f"{self.label}: {self.shown[self.start]}. {self.frames[self.start].readout}"
        return {
            WIDGET_MIME: data[WIDGET_MIME],
            "text/html": self.html(),
            "text/plain": words,
        }
