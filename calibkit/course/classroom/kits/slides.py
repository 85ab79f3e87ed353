"""Slides: one HTML page from Markdown, without a framework, a kernel or a network.

A slide begins with a heading of rank three. What stands in a quotation below it is for the
speaker: hidden on the slide until the key N, printed below it. Without a script all slides stand
below each other; in print each has a page of its own.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from html import escape
from pathlib import Path

HERE = Path(__file__).parent
SLIDE = re.compile(r"^### (?P<title>[^\n]+)\n(?P<body>.*?)(?=^### |\Z)", re.MULTILINE | re.DOTALL)
NOTES = re.compile(r"(?:^>.*\n?)+", re.MULTILINE)
PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}: slides</title>
<style>
{style}
</style>
</head>
<body>
<main aria-label="Slides: arrow keys move, N shows the notes">
<h1>{title}</h1>
{slides}
</main>
<script>
{script}</script>
</body>
</html>
"""


def page(title: str, text: str, html: Callable[[str], str]) -> str:
    """The page of the slides in `text`; `html` makes HTML of Markdown."""
    found = [(match["title"], match["body"]) for match in SLIDE.finditer(text + "\n")]
    slides = [
        _slide(place, len(found), heading, body, html)
        for place, (heading, body) in enumerate(found, start=1)
    ]
    script = (HERE / "slides.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(f"\n{script}".encode()).digest()).decode()
    policy = (
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    return PAGE.format(
        title=escape(title),
        policy=policy,
        style=(HERE / "slides.css").read_text(encoding="utf-8").strip(),
        slides="\n".join(slides),
        script=script,
    )


def _slide(place: int, count: int, heading: str, body: str, html: Callable[[str], str]) -> str:
    notes = "\n".join(
        re.sub("^> ?", "", line) for part in NOTES.findall(body) for line in part.splitlines()
    )
    title = html(heading).strip().removeprefix("<p>").removesuffix("</p>")
    aside = f'<aside class="notes" hidden>{html(notes)}</aside>' if notes else ""
    return (
        f'<section id="{place}" class="slide" aria-label="Slide {place} of {count}">\n'
        f'<div class="shown"><h2>{title}</h2>\n{html(NOTES.sub("", body))}</div>\n'
        f'{aside}<p class="number" aria-hidden="true">{place} / {count}</p>\n</section>'
    )
