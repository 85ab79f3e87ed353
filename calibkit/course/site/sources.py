"""What Sphinx reads: every lesson, text page, verdict, slider and module as a file of its own."""

from __future__ import annotations

import base64
import inspect
import itertools
import pkgutil
import re
import shutil
import struct
from dataclasses import dataclass
from functools import cached_property
from html import unescape
from importlib import import_module
from pathlib import Path

from bs4 import BeautifulSoup, Tag
from jinja2 import Environment, FileSystemLoader, select_autoescape
from nbformat import NotebookNode

import calibkit
from calibkit.course import browser, checkout, claims, experiments, pages, paths, verdicts
from calibkit.course.experiments import arbiter
from calibkit.course.explorers import networks, stored
from calibkit.course.explorers.explorer import EXPLORER, refreshed
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
HERE_ONE_READS = (
    '<p class="here">Here you read the lesson and move its sliders; nothing has to be installed. '
    "To run its cells and to have your exercises checked, open it in JupyterLab: "
    '<a href="any_machine.html">how to run it on any machine</a>.</p>'
)
ALL_NETWORKS = "All networks of the course"
PANORAMA = 1.9  # times as wide as high: several plots side by side
PNG = "data:image/png;base64,"
HERE = Path(__file__).parent
HOME = '<a href="index.html">The course</a>'  # on pages that stand beside those of Sphinx
TEMPLATES = Environment(
    loader=FileSystemLoader(HERE), autoescape=select_autoescape(), trim_blocks=True
)


@dataclass(frozen=True)
class Lesson:
    """An executed notebook, and what the site says of it elsewhere."""

    path: Path

    @property
    def is_evidence(self) -> bool:
        return self.path.parent.name == checkout.EVIDENCE

    @property
    def stem(self) -> str:
        """The name of its page; evidence has a name beside its lesson's."""
        return f"{checkout.EVIDENCE}_{self.path.stem}" if self.is_evidence else self.path.stem

    @property
    def number(self) -> str:
        return self.path.stem[:2]

    @property
    def part(self) -> str:
        """The part of the course that the lesson belongs to, by its number."""
        return PARTS[max(first for first in PARTS if first <= int(self.number))]

    @property
    def short(self) -> str:
        """Its name in a narrow list: in the README's table, or else from that of its file."""
        table = (checkout.root() / "README.md").read_text(encoding="utf-8")
        name = self.path.stem
        words = re.search(rf"\[(\d\d [^\]]+)\]\(notebooks/{name}\.ipynb\)", table)
        return words[1] if words else f"{self.number} {name[3:].replace('_', ' ').capitalize()}"

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
        return re.sub(r"[*`$]", "", self._after("Question")).replace("\n", " ")

    @property
    def minutes(self) -> int:
        """The minutes of all its sittings, as it estimates them."""
        times = re.findall(r"(\d+)(?: more)? minutes|(\d+) more", self._after("Time"))
        return sum(int(a or b) for a, b in times)

    def _after(self, name: str) -> str:
        words = re.search(rf"\*\*{name}\.\*\* (.+?)(?:\n\n|\Z)", self.prose, re.DOTALL)
        return words[1] if words else ""

    @property
    def prose(self) -> str:
        cells = self.notebook.cells
        return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")

    @cached_property
    def html(self) -> str:
        """Its piece of HTML, with a place for each verdict and each slider."""
        return with_places(drawn(self.notebook, self.path.parent))

    @property
    def sliders(self) -> list[str]:
        """The HTML of its sliders, in order, to be shown elsewhere."""
        outputs = (output for cell in self.notebook.cells for output in cell.get("outputs", ()))
        html = (output.get("data", {}).get("text/html", "") for output in outputs)
        return [refreshed(page) for page in html if "calibkit-explorer" in page]


def home() -> Path:
    return checkout.root() / "notebooks"


def drawn(notebook: NotebookNode, folder: Path | None = None) -> str:
    """The notebook as a piece of a page, with links to the other pages; it lies in `folder`."""
    linked = pages.links(pages.names(home()) | pages.names(home(), ".md"))
    template = "lesson.html.j2"
    return pages.export(
        notebook, template=template, folder=folder or home(), pages=linked, trust=True
    )


def to_be_read(notebook: NotebookNode) -> NotebookNode:
    """The notebook as somebody meets it who cannot run it.

    Under its heading stands how to run it; imports and settings are one folded cell; no exercise
    says that it is not done yet.
    """
    first, *others = notebook.cells
    first.source = re.sub(r"(?m)^(# .+)$", rf"\1\n\n{HERE_ONE_READS}\n", first.source, count=1)
    code = [cell for cell in others if cell.cell_type == "code"]
    settings = next((c for c in code if "parameters" in c.metadata.get("tags", ())), None)
    opening = code[: code.index(settings)] if settings else []
    opening = [cell for cell in opening if not cell.get("outputs")]  # a slider stays where it is
    if settings:
        settings.source = "\n\n\n".join(cell.source for cell in [*opening, settings])
        settings.metadata["jupyter"] = {"source_hidden": True}
    for cell in code:  # a checker that found the stub
        texts = [(output, output.get("data", {}).get("text/plain", "")) for output in cell.outputs]
        cell.outputs = [output for output, text in texts if not text.startswith("Not yet: ")]
    notebook.cells = [first, *(cell for cell in others if cell not in opening)]
    return notebook


def lessons() -> list[Lesson]:
    """Every lesson that stands in notebooks/, in order, then their evidence."""
    return [Lesson(path) for path in pages.names(home())]


def text_pages() -> dict[str, Path]:
    """The pages that are no notebooks, by name: those in notebooks/, and the arbiter's table."""
    texts = {path.stem: path for path in sorted(home().glob("*.md"))}
    judged = home() / "results" / arbiter.NAME / "laptop.md"
    return texts | ({arbiter.NAME: judged} if judged.exists() else {})


def write(folder: Path) -> None:
    """All that Sphinx reads, into an empty folder; `extra` in it is copied as it is."""
    (folder / "api").mkdir(parents=True)
    (folder / "extra" / "embed").mkdir(parents=True)
    every = lessons()
    course = [lesson for lesson in every if not lesson.is_evidence]
    beside = [lesson for lesson in every if lesson.is_evidence]
    texts = {name: (path.parent, pages.read(path)) for name, path in text_pages().items()}
    fragments = {lesson.stem: lesson.html for lesson in every}
    fragments |= {name: drawn(text, folder) for name, (folder, text) in texts.items()}
    fragments |= {"verdicts": _verdicts(course), "sliders": _gallery(course)}
    for name, html in fragments.items():
        (folder / f"{name}{SUFFIX}").write_text(html, encoding="utf-8")
    _landing(folder, course)
    _embeds(folder / "extra" / "embed", course)
    _playground(folder / "extra" / "play.html", course)
    browser.write(browser.audit(HOME), folder / "extra" / "audit.html")
    described = modules()
    for name in described:
        page = f"{name}\n{'=' * len(name)}\n\n.. automodule:: {name}\n   :members:\n"
        (folder / "api" / f"{name}.rst").write_text(page, encoding="utf-8")
    titles = {name: pages.title(text) for name, (_, text) in texts.items()}
    toc = {"parts": _by_part(course), "evidence": beside, "modules": described, "texts": titles}
    for name in ("index.rst", "api.rst"):
        written = TEMPLATES.get_template(f"{name}.j2").render(**toc)
        (folder / name).write_text(written, encoding="utf-8")


def _by_part(course: list[Lesson]) -> list[tuple[str, list[Lesson]]]:
    groups = itertools.groupby(course, key=lambda lesson: lesson.part)
    return [(part, list(members)) for part, members in groups]


def with_places(html: str) -> str:
    """Each verdict line and each slider becomes the aim of a link, each table can be scrolled."""
    tree = BeautifulSoup(html, "html.parser")
    for number, slider in enumerate(tree.select(EXPLORER), 1):
        slider["id"] = f"slider-{number}"
    for image in tree.select(f".output_html > img[src^='{PNG}'], .output_png > img[src^='{PNG}']"):
        # its first 24 bytes, which end with width and height
        head = base64.b64decode(str(image["src"]).removeprefix(PNG)[:32])
        width, height = struct.unpack(">16xII", head)
        if width >= PANORAMA * height:  # on a telephone it keeps its size and scrolls
            _scrolls(image, "panorama")
    for table in tree.select(".output_html > div > style + table"):
        _scrolls(table)
    seen: dict[str, int] = {}
    for text in tree.select(".output_stdout > pre"):
        lines = [_placed(line, seen) for line in text.decode_contents().split("\n")]
        text.clear()
        text.append(BeautifulSoup("\n".join(lines), "html.parser"))
    return str(tree)


def _scrolls(part: Tag, *kinds: str) -> None:
    """Make the output that a part stands in one that scrolls."""
    output = part.find_parent(class_="output_subarea")
    if output:
        output["class"] = " ".join([*output["class"], "wide", *kinds])
        output["tabindex"] = "0"


def _placed(line: str, seen: dict[str, int]) -> str:
    """A line of an output; one with a verdict as the aim of a link."""
    verdict = verdicts.parse(unescape(line))
    if verdict is None:
        return line
    kind = verdict.word.replace(" ", "-").lower()
    return f'<span class="verdict {kind}" id="{place_of(verdict.claim, seen)}">{line}</span>'


def place_of(claim: str, seen: dict[str, int]) -> str:
    """The id of the next verdict on a claim in a lesson; `seen` counts them.

    >>> seen = {}
    >>> place_of("O1", seen), place_of("O1", seen)
    ('verdict-O1', 'verdict-O1-2')
    """
    seen[claim] = seen.get(claim, 0) + 1
    return f"verdict-{claim}" + (f"-{seen[claim]}" if seen[claim] > 1 else "")


def _verdicts(course: list[Lesson]) -> str:
    """The page of all verdicts: lesson by lesson, and claim by claim beside the paper's figure."""
    printed, listed = claims.printed(home()), claims.listed(home() / "claims.md")
    figures = {row.claim: row.figure for row in listed}
    by_lesson, every = [], [p.verdict for p in printed]
    q_values = zip(every, claims.q_values(every), strict=True)
    told = {id(verdict): "" if q is None else claims.written(q) for verdict, q in q_values}
    for lesson in course:
        own = [p for p in printed if p.lesson == lesson.number]
        seen: dict[str, dict[str, int]] = {p.notebook: {} for p in own}
        places = [
            f"{p.notebook.replace('/', '_')}.html#{place_of(p.verdict.claim, seen[p.notebook])}"
            for p in own
        ]
        given = [p.verdict for p in own]
        beside = [figures.get(verdict.claim, "") for verdict in given]
        if given:
            shares = [told[id(verdict)] for verdict in given]
            rows = list(zip(given, places, beside, shares, strict=True))
            by_lesson.append((lesson, len(rows), claims.counted(given), rows))
    counts = {word: sum(verdict.word == word for verdict in every) for word in verdicts.WORDS}
    return TEMPLATES.get_template("verdicts.html").render(
        lessons=by_lesson,
        counts=counts | {"post hoc": sum(verdict.post_hoc for verdict in every)},
        by_chance=claims.by_chance(every),
        discoveries=claims.false_discoveries(every),
        summary=_summary(printed, listed),
        concluded=_concluded(printed, listed),
        evidence=_evidence(printed, listed),
    )


def _summary(printed: list[claims.Printed], listed: list[claims.Claim]) -> str:
    """The table of `claims.summary` as HTML."""
    return drawn(pages.text_page(claims.summary(printed, listed)))


def _concluded(printed: list[claims.Printed], listed: list[claims.Claim]) -> str:
    """The table of `claims.conclusions_table` as HTML, each claim with its words."""
    table = claims.conclusions_table(claims.conclusions(home()), printed, listed)
    return drawn(pages.text_page(_with_words(table, listed)))


def _with_words(table: str, listed: list[claims.Claim]) -> str:
    """A Markdown table whose claims say what they are."""
    words = {row.claim: f"{row.claim}: {row.name}" for row in listed}
    words["id"] = "claim"
    return re.sub(r"(?m)(?<=^\| )\w+(?= \|)", lambda claim: words.get(claim[0], claim[0]), table)


def _evidence(printed: list[claims.Printed], listed: list[claims.Claim]) -> str:
    """The table of `claims.evidence` as HTML, each claim with its words."""
    table = claims.evidence(printed, listed, experiments.photographed(home() / "results"))
    return drawn(pages.text_page(_with_words(table, listed)))


def _gallery(course: list[Lesson]) -> str:
    drawn = [(lesson, lesson.sliders) for lesson in course]
    plane = networks().html()
    return TEMPLATES.get_template("sliders.html").render(lessons=drawn, plane=plane)


def _landing(folder: Path, course: list[Lesson]) -> None:
    promised, right = landing.hundred(stored("start_here").first)
    map_words = re.findall(r"!\[([^\]]+)\]\(images/course_map\.svg\)", course[0].prose)
    written = TEMPLATES.get_template("landing.html").render(
        said=promised,
        right=right,
        sliders={name: explorer.html() for name, explorer in landing.sliders().items()},
        parts=_by_part(course),
        paths=paths.PATHS,
        stems={lesson.number: lesson.stem for lesson in course},
        verdicts=len(claims.printed(home())),
        map=map_words[0] if map_words else "Map of the course.",
        authors=authors(),
    )
    (folder / "landing.txt").write_text(written, encoding="utf-8")
    images = folder / "extra" / "images"
    images.mkdir()
    shutil.copy(home() / "images" / "course_map.svg", images)
    (folder / "extra" / ".nojekyll").touch()  # a host leaves _static alone


def authors() -> str:
    """Who holds the rights, as the licence names them.

    >>> authors()
    '2026 The calibkit authors'
    """
    licence = (checkout.root() / "LICENSE").read_text(encoding="utf-8")
    return licence.partition("Copyright (c) ")[2].split("\n")[0]


def _playground(target: Path, course: list[Lesson]) -> None:
    lessons = {lesson.number: f"{lesson.stem}.html" for lesson in course}
    browser.write(browser.playground(lessons, HOME), target)


def _embeds(folder: Path, course: list[Lesson]) -> None:
    """A small page for each slider, to stand in an <iframe> elsewhere."""
    page = TEMPLATES.get_template("embed.html")
    shown = {"networks": (ALL_NETWORKS, networks().html(), "../sliders.html#networks")}
    for name, explorer in landing.sliders().items():
        title = " and ".join(slider.label for slider in explorer.sliders)
        shown[name] = (title, explorer.html(), "../index.html")
    for lesson in course:
        for number, html in enumerate(lesson.sliders, 1):
            back = f"../{lesson.stem}.html#slider-{number}"
            shown[f"{lesson.stem}-{number}"] = (lesson.title, html, back)
    for name, (title, html, back) in shown.items():
        written = page.render(title=title, slider=html, back=back)
        (folder / f"{name}.html").write_text(written, encoding="utf-8")


def modules() -> dict[str, str]:
    """The first line of the docstring of every public module, by its name."""
    wings = [calibkit, *(import_module(f"calibkit.{wing}") for wing in calibkit.WINGS)]
    names = [
        f"{wing.__name__}.{m.name}" for wing in wings for m in pkgutil.iter_modules(wing.__path__)
    ]
    shown = [
        name for name in names if "._" not in name and name.split(".")[-1] not in calibkit.WINGS
    ]
    return {name: str(inspect.getdoc(import_module(name))).split("\n")[0] for name in shown}
