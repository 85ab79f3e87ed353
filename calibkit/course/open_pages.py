"""The pages of notebooks/open, which a double click opens: no Python, no server, no network."""

from __future__ import annotations

from pathlib import Path

from calibkit.course import browser, checkout, pages
from calibkit.course.browser import six_files

LESSON = "00"
WORDS = {
    "playground.html": "Playground",
    "audit.html": "Audit",
    "six_files.html": "Six files",
    "start_here.html": "Lesson 00",
}

STYLE = (  # of the bar above the lesson, which has no style sheet of the browser's pages
    "<style>.shop { display: flex; flex-wrap: wrap; gap: .2rem 1.5rem; max-width: 64rem;"
    " margin: auto; padding: .4rem 1rem; font-family: sans-serif }"
    " .shop a { padding: .3rem 0 }</style>"
)


def folder() -> Path:
    """notebooks/open of the course."""
    return checkout.root() / "notebooks" / "open"


def made() -> dict[str, str]:
    """Each page, by the name of its file, as it is made now."""
    (lesson,) = checkout.lessons(LESSON)
    page = pages.export(pages.read(lesson.notebook), folder=lesson.notebook.parent, trust=True)
    return {
        "playground.html": browser.playground(home=_bar("playground.html")),
        "audit.html": browser.audit(home=_bar("audit.html")),
        "six_files.html": six_files.page(home=_bar("six_files.html")),
        "start_here.html": page.replace("<main>", f"{STYLE}{_bar('start_here.html')}<main>", 1),
    }


def write(target: str | Path | None = None) -> list[Path]:
    """Write the pages into a folder, by default notebooks/open."""
    target = Path(target or folder())
    return [browser.write(page, target / name) for name, page in made().items()]


def _bar(here: str) -> str:
    links = (
        f'<a href="{name}"{" aria-current=page" * (name == here)}>{words}</a>'
        for name, words in WORDS.items()
    )
    return f'<nav class="shop" aria-label="Main">{"".join(links)}</nav>'
