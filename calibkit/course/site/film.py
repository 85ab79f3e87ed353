"""The moving picture of the README: a stored training as an SVG that plays by itself.

    python -m calibkit.course.site.film

writes notebooks/images/training.svg. The frames are those of lesson 03's slider; whoever wants less
motion sees the last one.
"""

from __future__ import annotations

import re
from pathlib import Path

from calibkit.course import checkout
from calibkit.course.explorers import Frame, stored
from calibkit.pictures import svg

PANELS = (0, 1)  # the diagrams of the training images and of new ones
STEP, REST = 0.55, 3.0  # seconds of a frame, and of the last one
SCALE = 1.5  # of the picture on a page
GAP, LINE = 16, 46  # pixels between the panels, and below them for the words
BEGIN = re.compile(r'<svg [^>]*viewBox="0 0 (\d+) (\d+)"[^>]*>')


def drawn() -> str:
    """The film: every frame a group that is seen for its share of the time."""
    frames = stored("overconfidence").frames
    whole = STEP * (len(frames) - 1) + REST
    sizes = [_size(frames[0].panels[place]) for place in PANELS]
    width = sum(wide for wide, _ in sizes) + GAP
    height = max(tall for _, tall in sizes) + LINE
    style = [f".frame {{ visibility: hidden; animation: {whole:g}s step-end infinite; }}"]
    groups = []
    for place, frame in enumerate(frames):
        begin = 100 * STEP * place / whole
        end = 100 * STEP * (place + 1) / whole if place + 1 < len(frames) else 100
        style.append(_keys(place, begin, end))
        parts = [_moved(frame.panels[which], which, sizes) for which in PANELS]
        look = {"size": 15, "font_weight": "bold"}
        parts.append(svg.text(width / 2, height - 14, _words(frame), **look))
        groups.append(svg.tag("g", "".join(parts), class_=f"frame f{place}"))
    last = len(frames) - 1
    still = f".frame {{ animation: none; }} .f{last} {{ visibility: visible; }}"
    style.append(f"@media (prefers-reduced-motion: reduce) {{ {still} }}")
    paper = svg.tag("rect", width=width, height=height, fill="#FFFFFF")
    content = f"<style>{' '.join(style)}</style>{svg.hatches()}{paper}{''.join(groups)}"
    size = {"viewBox": f"0 0 {width} {height}", "width": SCALE * width}
    size["height"] = SCALE * height
    look = {"font_family": "system-ui, sans-serif"}
    return svg.tag("svg", content, xmlns="http://www.w3.org/2000/svg", **size, **look) + "\n"


def _words(frame: Frame) -> str:
    """Epoch, accuracy and confidence on new images."""
    right, sure, epoch = (
        frame.values[name] for name in ("test_accuracy", "test_confidence", "epoch")
    )
    shares = f"{100 * sure:.0f} % sure, {100 * right:.0f} % right"
    return f"Epoch {epoch:.0f}: on new images {shares}"


def _size(panel: str) -> tuple[int, int]:
    wide, tall = BEGIN.match(panel).groups()
    return int(wide), int(tall)


def _keys(place: int, begin: float, end: float) -> str:
    """The times at which a frame is seen."""
    hidden = "visibility: hidden"
    first = "" if place == 0 else f"0% {{ {hidden}; }} "
    after = "" if end >= 100 else f" {end:.2f}% {{ {hidden}; }}"
    times = f"{first}{begin:.2f}% {{ visibility: visible; }}{after}"
    return f"@keyframes f{place} {{ {times} }} .f{place} {{ animation-name: f{place}; }}"


def _moved(panel: str, which: int, sizes: list[tuple[int, int]]) -> str:
    """A panel without its frame and its own hatches, in its place."""
    inside = BEGIN.sub("", panel, count=1).removesuffix("</svg>")
    inside = re.sub(r"(?s)<pattern.*?</pattern>", "", inside)
    x = 0 if which == PANELS[0] else sizes[0][0] + GAP
    return svg.tag("g", inside, transform=f"translate({x} 0)")


def main() -> Path:
    """Write the film where the README shows it."""
    path = checkout.root() / "notebooks" / "images" / "training.svg"
    path.write_text(drawn(), encoding="utf-8")
    return path


if __name__ == "__main__":
    print(main())
