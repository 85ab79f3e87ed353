"""What Sphinx reads: every lesson, text page, verdict, slider and module as a file of its own."""

from __future__ import annotations

import base64
import inspect
import itertools
import pkgutil
import re
import shutil
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import unescape
from importlib import import_module
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, select_autoescape
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_notebook

import calibkit
from calibkit.course import checkout, claims, experiments, pages, verdicts
from calibkit.course.explorers import Explorer, stored
from calibkit.course.site import landing
from calibkit.course.site.reader import SUFFIX

# The parts of the course, each with the number of its first lesson.
PARTS = {
    0: "Start here",
    1: "I · Seeing",
    3: "II · Why",
    5: "III · Data",
    8: "IV · Cures",
    13: "V · Beyond the test set",
    18: "VI · In depth",
}
LESSON = "lesson.html.j2"
HERE_ONE_READS = (
    '<p class="here">Here you read the lesson and move its sliders; nothing has to be installed. '
    "To run its cells and to have your exercises checked, open it in JupyterLab: "
    '<a href="any_machine.html">how to run it on any machine</a>.</p>'
)
STDOUT = re.compile(r'(<div class="[^"]*output_stdout[^"]*">\n<pre>)(.*?)(</pre>)', re.DOTALL)
OPENING = re.compile(r'<div (?=[^>]*class="calibkit-explorer")')
TABLE = re.compile(
    r'<div class="(output_html [^"]*)">(?=\s*<div>\s*<style[^>]*>.*?</style>\s*<table)', re.DOTALL
)
# a figure, up to the 24 bytes of its PNG that end with its width and height
FIGURE = re.compile(
    r'<div class="(output_(?:html|png) [^"]*)">'
    r'(?P<image>\s*<img [^>]*src="data:image/png;base64,(?P<head>[A-Za-z0-9+/]{32}))'
)
PANORAMA = 1.9  # times as wide as high: several plots side by side
SLIDER = re.compile(OPENING.pattern + r".*?</script>\s*</div>", re.DOTALL)
HERE = Path(__file__).parent
TEMPLATES = Environment(
    loader=FileSystemLoader(HERE), autoescape=select_autoescape(), trim_blocks=True
)


@dataclass(frozen=True)
class Lesson:
    """An executed notebook, and what the site says of it elsewhere."""

    path: Path
    pages: Mapping[str, str]

    @property
    def stem(self) -> str:
        return self.path.stem

    @property
    def number(self) -> str:
        return self.stem[:2]

    @property
    def part(self) -> str:
        """The part of the course that the lesson belongs to, by its number."""
        return PARTS[max(first for first in PARTS if first <= int(self.number))]

    @property
    def short(self) -> str:
        """Its name in a narrow list: in the README's table, or else from that of its file."""
        table = (self.path.parents[1] / "README.md").read_text(encoding="utf-8")
        found = re.search(rf"\[(\d\d [^\]]+)\]\(notebooks/{self.stem}\.ipynb\)", table)
        return (
            found[1] if found else f"{self.number} {self.stem[3:].replace('_', ' ').capitalize()}"
        )

    @cached_property
    def notebook(self) -> NotebookNode:
        return to_be_read(pages.read(self.path))

    @property
    def title(self) -> str:
        """Its heading without the number."""
        return re.sub(r"^\d+ · ", "", pages.title(self.notebook))

    @property
    def question(self) -> str:
        """What stands after **Question.** at its head."""
        found = re.search(r"\*\*Question\.\*\* (.+?)(?:\n\n|\Z)", self._prose, re.DOTALL)
        return re.sub(r"[*`$]", "", found[1]).replace("\n", " ") if found else ""

    @property
    def minutes(self) -> int:
        """The minutes of all its sittings, as it estimates them."""
        found = re.search(r"\*\*Time\.\*\* (.+?)(?:\n\n|\Z)", self._prose, re.DOTALL)
        times = re.findall(r"(\d+)(?: more)? minutes|(\d+) more", found[1]) if found else []
        return sum(int(a or b) for a, b in times)

    @property
    def _prose(self) -> str:
        texts = (cell.source for cell in self.notebook.cells if cell.cell_type == "markdown")
        return "\n\n".join(texts)

    @cached_property
    def html(self) -> str:
        """Its piece of HTML, with a place for each verdict and each slider."""
        folder = self.path.parent
        drawn = pages.export(
            self.notebook, template=LESSON, trust=True, folder=folder, pages=self.pages
        )
        return with_places(drawn)

    @property
    def sliders(self) -> list[str]:
        """The HTML of its sliders, in order."""
        return SLIDER.findall(self.html)


def to_be_read(notebook: NotebookNode) -> NotebookNode:
    """The notebook as somebody meets it who cannot run it.

    Under its heading stands how to run it; imports and settings are one folded cell; no exercise
    says that it is not done yet.
    """
    first, *others = notebook.cells
    first.source = re.sub(r"(?m)^(# .+)$", rf"\1\n\n{HERE_ONE_READS}\n", first.source, count=1)
    code = [cell for cell in others if cell.cell_type == "code"]
    settings = next((cell for cell in code if _tagged(cell, "parameters")), None)
    opening = code[: code.index(settings)] if settings else []
    if settings:
        settings.source = "\n\n\n".join(cell.source for cell in [*opening, settings])
        settings.metadata["jupyter"] = {"source_hidden": True}
    for cell in code:
        cell.outputs = [output for output in cell.outputs if not _says_not_yet(output)]
    notebook.cells = [first, *(cell for cell in others if cell not in opening)]
    return notebook


def _tagged(cell: NotebookNode, tag: str) -> bool:
    return tag in cell.metadata.get("tags", ())


def _says_not_yet(output: NotebookNode) -> bool:
    """Whether a checker found nothing but the stub."""
    return output.get("data", {}).get("text/plain", "").startswith("Not yet: ")


def lessons() -> list[Lesson]:
    """Every lesson that stands in notebooks/, in order."""
    home = checkout.root() / "notebooks"
    files = [*sorted(home.glob("*.ipynb")), *sorted(home.glob("*.md"))]
    links = {file.name: f"{file.stem}.html" for file in files}
    return [Lesson(file, links) for file in files if file.suffix == ".ipynb"]


def texts() -> dict[str, str]:
    """The heading of every page of text in notebooks/, by its name."""
    files = sorted((checkout.root() / "notebooks").glob("*.md"))
    return {file.stem: pages.title(pages.read(file)) for file in files}


def write(folder: Path) -> None:
    """All that Sphinx reads, into an empty folder; `extra` in it is copied as it is."""
    (folder / "api").mkdir(parents=True)
    (folder / "extra" / "embed").mkdir(parents=True)
    found = lessons()
    for lesson in found:
        _fragment(folder, lesson.stem, lesson.html)
    titles = texts()
    for name in titles:
        path = found[0].path.parent / f"{name}.md"
        text = pages.read(path)
        html = pages.export(
            text, template=LESSON, trust=True, folder=path.parent, pages=found[0].pages
        )
        _fragment(folder, name, html)
    _fragment(folder, "verdicts", _verdicts(found))
    _fragment(folder, "sliders", _gallery(found))
    _landing(folder, found)
    _embeds(folder / "extra" / "embed", found)
    described = modules()
    for name in described:
        (folder / "api" / f"{name}.rst").write_text(_module(name), encoding="utf-8")
    toc = {"parts": _by_part(found), "modules": described, "texts": titles}
    for name in ("index.rst", "api.rst"):
        written = TEMPLATES.get_template(f"{name}.j2").render(**toc)
        (folder / name).write_text(written, encoding="utf-8")


def _fragment(folder: Path, name: str, html: str) -> None:
    (folder / f"{name}{SUFFIX}").write_text(html, encoding="utf-8")


def _by_part(found: Iterable[Lesson]) -> list[tuple[str, list[Lesson]]]:
    return [
        (part, list(members)) for part, members in itertools.groupby(found, key=lambda x: x.part)
    ]


def with_places(html: str) -> str:
    """Each verdict line and each slider becomes the aim of a link, each table can be scrolled."""
    seen: dict[str, int] = {}

    def line(words: str) -> str:
        verdict = verdicts.parse(unescape(words))
        if verdict is None:
            return words
        place = place_of(verdict.claim, seen)
        kind = verdict.word.replace(" ", "-").lower()
        return f'<span class="verdict {kind}" id="{place}">{words}</span>'

    def printed(found: re.Match) -> str:
        return found[1] + "\n".join(map(line, found[2].split("\n"))) + found[3]

    numbers = itertools.count(1)
    html = OPENING.sub(lambda found: f'{found[0]}id="slider-{next(numbers)}" ', html)
    html = FIGURE.sub(_scrolled, html)
    html = TABLE.sub(r'<div class="\1 wide" tabindex="0">', html)
    return STDOUT.sub(printed, html)


def _scrolled(found: re.Match) -> str:
    """A figure of several plots side by side keeps its size on a telephone, where it scrolls."""
    width, height = struct.unpack(">II", base64.b64decode(found["head"])[16:])
    if width < PANORAMA * height:
        return found[0]
    return f'<div class="{found[1]} wide panorama" tabindex="0">{found["image"]}'


def place_of(claim: str, seen: dict[str, int]) -> str:
    """The id of the next verdict on a claim in a lesson; `seen` counts them.

    >>> seen = {}
    >>> place_of("O1", seen), place_of("O1", seen)
    ('verdict-O1', 'verdict-O1-2')
    """
    seen[claim] = seen.get(claim, 0) + 1
    return f"verdict-{claim}" + (f"-{seen[claim]}" if seen[claim] > 1 else "")


def _verdicts(found: list[Lesson]) -> str:
    """The page of all verdicts: lesson by lesson, and claim by claim beside the paper's figure."""
    home = found[0].path.parent
    printed, listed = claims.printed(home), claims.listed(home / "claims.md")
    figures = {row.claim: row.figure for row in listed}
    by_lesson = []
    for lesson in found:
        rows, seen = [], {}
        for p in (p for p in printed if p.notebook == lesson.stem):
            place = f"{lesson.stem}.html#{place_of(p.verdict.claim, seen)}"
            rows.append((p.verdict, place, figures.get(p.verdict.claim, "")))
        if rows:
            by_lesson.append((lesson, len(rows), claims.counted(row[0] for row in rows), rows))
    verdicts = [p.verdict for p in printed]
    return TEMPLATES.get_template("verdicts.html").render(
        lessons=by_lesson,
        counts={
            **{word: sum(v.word == word for v in verdicts) for word in verdicts.WORDS},
            "post hoc": sum(v.post_hoc for v in verdicts),
        },
        by_chance=claims.by_chance(verdicts),
        evidence=_evidence(printed, listed, home, found[0].pages),
    )


def _evidence(
    printed: list[claims.Printed],
    listed: list[claims.Claim],
    home: Path,
    links: Mapping[str, str],
) -> str:
    """The table of `claims.evidence` as HTML, each claim with its words."""
    what = {row.claim: f"{row.claim}: {_first_words(row.what)}" for row in listed} | {"id": "claim"}
    table = claims.evidence(printed, listed, experiments.photographed(home / "results"))
    table = re.sub(r"^\| (\w+) \|", lambda row: _told(row, what), table, flags=re.MULTILINE)
    text = new_notebook(cells=[new_markdown_cell(table)])
    return pages.export(text, template=LESSON, trust=True, folder=home, pages=links)


def _told(row: re.Match, what: Mapping[str, str]) -> str:
    return f"| {what.get(row[1], row[1])} |"


def _first_words(what: str) -> str:
    """A description up to its first bracket or stop; code and formulas stay whole.

    >>> _first_words("classes as clouds of `f(x; 2)` in the plane (ten seeds); two noises")
    'classes as clouds of `f(x; 2)` in the plane'
    """
    return re.match(r"(?:`[^`]*`|\$[^$]*\$|(?!\. )[^;(`$])+", what)[0].strip()


def _gallery(found: list[Lesson]) -> str:
    return TEMPLATES.get_template("sliders.html").render(
        lessons=[(lesson, _unplaced(lesson.sliders)) for lesson in found]
    )


def _unplaced(sliders: Iterable[str]) -> list[str]:
    return [re.sub(r'id="slider-\d+" ', "", slider) for slider in sliders]


def _landing(folder: Path, found: list[Lesson]) -> None:
    sliders = landing.sliders()
    promised, right = landing.hundred(stored("start_here").first)
    written = TEMPLATES.get_template("landing.html").render(
        said=promised,
        right=right,
        sliders={name: explorer.html() for name, explorer in sliders.items()},
        parts=_by_part(found),
        verdicts=len(claims.printed(found[0].path.parent)),
        map=_map_words(found[0]),
        authors=authors(),
    )
    (folder / "landing.txt").write_text(written, encoding="utf-8")
    images = folder / "extra" / "images"
    images.mkdir()
    shutil.copy(found[0].path.parent / "images" / "course_map.svg", images)
    (folder / "extra" / ".nojekyll").touch()  # a host leaves _static alone


def authors() -> str:
    """Who holds the rights, as the licence names them.

    >>> authors()
    '2026 The calibkit authors'
    """
    licence = (checkout.root() / "LICENSE").read_text(encoding="utf-8")
    return re.search(r"Copyright \(c\) (.+)", licence)[1]


def _map_words(lesson: Lesson) -> str:
    """The words that lesson 00 gives the map for those who cannot see it."""
    found = re.search(r"!\[([^\]]+)\]\(images/course_map\.svg\)", lesson._prose)
    return found[1] if found else "Map of the course."


def _embeds(folder: Path, found: list[Lesson]) -> None:
    """A small page for each slider, to stand in an <iframe> elsewhere."""
    page = TEMPLATES.get_template("embed.html")
    drawn = {name: (_name(x), x.html(), "../index.html") for name, x in landing.sliders().items()}
    for lesson in found:
        for number, html in enumerate(_unplaced(lesson.sliders), 1):
            back = f"../{lesson.stem}.html#slider-{number}"
            drawn[f"{lesson.stem}-{number}"] = (lesson.title, html, back)
    for name, (title, html, back) in drawn.items():
        written = page.render(title=title, slider=html, back=back)
        (folder / f"{name}.html").write_text(written, encoding="utf-8")


def _name(explorer: Explorer) -> str:
    return " and ".join(slider.label for slider in explorer.sliders)


def modules() -> dict[str, str]:
    """The first line of the docstring of every public module, by its name."""
    names = (f"calibkit.{m.name}" for m in pkgutil.iter_modules(calibkit.__path__))
    public = [name for name in names if "._" not in name]
    return {name: inspect.getdoc(import_module(name)).split("\n")[0] for name in public}


def _module(name: str) -> str:
    """A page for autodoc."""
    lines = [name, "=" * len(name), "", f".. automodule:: {name}"]
    members = _members(name)
    return "\n".join([*lines, *([f"   :members: {', '.join(members)}"] if members else [])]) + "\n"


def _members(name: str) -> list[str]:
    """What a module says is public; where it says nothing, its own functions and classes."""
    module = import_module(name)
    if hasattr(module, "__all__"):
        return list(module.__all__)
    return [
        key
        for key, value in vars(module).items()
        if not key.startswith("_")
        and (inspect.isroutine(value) or inspect.isclass(value))
        and str(value.__module__).startswith(name)
    ]
