"""The moving picture of the README: a stored training as an SVG that plays by itself.

    python -m calibkit.course.site.film

writes notebooks/images/training.svg. The frames are those of lesson 03's slider; whoever wants less
motion sees the last one.
"""

from __future__ import annotations

import re

from calibkit.course import checkout
from calibkit.course.explorers import stored
from calibkit.pictures import svg

SHOWN = ("epoch", "test_confidence", "test_accuracy")
PANELS = (0, 1)  # the diagrams of the training images and of new ones
STEP, REST = 0.55, 3.0  # seconds of a frame, and of the last one
SCALE = 1.5  # of the picture on a page
GAP, LINE = 16, 46  # pixels between the panels, and below them for the words
BEGIN = re.compile(r'<svg [^>]*viewBox="0 0 (\d+) (\d+)"[^>]*>')


def drawn() -> str:
    """The film: every frame a group that is seen for its share of the time."""
    frames = stored("overconfidence").frames
    whole, last = STEP * (len(frames) - 1) + REST, len(frames) - 1
    sizes = [tuple(map(int, BEGIN.match(frames[0].panels[one]).groups())) for one in PANELS]
    width = sum(wide for wide, _ in sizes) + GAP
    height = max(tall for _, tall in sizes) + LINE
    style = [f".frame {{ visibility: hidden; animation: {whole:g}s step-end infinite; }}"]
    groups = []
    for place, frame in enumerate(frames):
        begin, end = 100 * STEP * place / whole, 100 * STEP * (place + 1) / whole
        first = "" if place == 0 else "0% { visibility: hidden; } "
        after = "" if place == last else f" {end:.2f}% {{ visibility: hidden; }}"
        times = f"{first}{begin:.2f}% {{ visibility: visible; }}{after}"
        style.append(f"@keyframes f{place} {{ {times} }} .f{place} {{ animation-name: f{place}; }}")
        parts = []
        for one in PANELS:  # without its frame and its own hatches, in its place
            inside = BEGIN.sub("", frame.panels[one], count=1).removesuffix("</svg>")
            inside = re.sub(r"(?s)<pattern.*?</pattern>", "", inside)
            x = 0 if one == PANELS[0] else sizes[0][0] + GAP
            parts.append(svg.tag("g", inside, transform=f"translate({x} 0)"))
        epoch, sure, right = (frame.values[name] for name in SHOWN)
        words = f"on new images {100 * sure:.0f} % sure, {100 * right:.0f} % right"
        look = {"size": 15, "font_weight": "bold"}
        parts.append(svg.text(width / 2, height - 14, f"Epoch {epoch:.0f}: {words}", **look))
        groups.append(svg.tag("g", "".join(parts), class_=f"frame f{place}"))
    still = f".frame {{ animation: none; }} .f{last} {{ visibility: visible; }}"
    style.append(f"@media (prefers-reduced-motion: reduce) {{ {still} }}")
    paper = svg.tag("rect", width=width, height=height, fill="#FFFFFF")
    content = f"<style>{' '.join(style)}</style>{svg.hatches()}{paper}{''.join(groups)}"
    size = {"viewBox": f"0 0 {width} {height}", "width": SCALE * width}
    size |= {"height": SCALE * height, "font_family": "system-ui, sans-serif"}
    return svg.tag("svg", content, xmlns="http://www.w3.org/2000/svg", **size) + "\n"


if __name__ == "__main__":
    path = checkout.root() / "notebooks" / "images" / "training.svg"
    path.write_text(drawn(), encoding="utf-8")
    print(path)
