"""Slides: one HTML page from Markdown, without a framework, a kernel or a network.

A slide begins with a heading of rank three. What stands in a quotation below it is for the
speaker: the key N opens it in a window of its own, print has it below the slide. Without a script
all slides stand below each other; in print each has a page of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from calibkit.course import page_templates

HERE = Path(__file__).parent
SLIDE = re.compile(r"^### (?P<title>[^\n]+)\n(?P<body>.*?)(?=^### |\Z)", re.MULTILINE | re.DOTALL)
NOTES = re.compile(r"(?:^>.*\n?)+", re.MULTILINE)


def page(title: str, text: str, html: Callable[[str], str]) -> str:
    """The page of the slides in `text`; `html` makes HTML of Markdown."""
    slides = []
    for slide in SLIDE.finditer(text + "\n"):
        quoted = "\n".join(part.strip() for part in NOTES.findall(slide["body"]))
        notes = re.sub("^> ?", "", quoted, flags=re.MULTILINE)
        heading = html(slide["title"]).strip().removeprefix("<p>").removesuffix("</p>")
        body = html(NOTES.sub("", slide["body"]))
        slides.append({"title": heading, "body": body, "notes": html(notes) if notes else ""})
    script = (HERE / "slides.js").read_text(encoding="utf-8")
    return page_templates.render(
        "slides.html", script, title=f"{title}: slides", heading=title, slides=slides
    )
