"""What Sphinx reads: every lesson, text page, verdict, slider and module as a file of its own."""

from __future__ import annotations

import base64
import itertools
import json
import re
import shutil
import struct
from collections.abc import Mapping
from functools import cached_property, partial
from html import unescape
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup, Tag
from nbformat import NotebookNode

from calibkit.course import browser, checkout, claims, pages, syllabus, verdicts
from calibkit.course.browser import six_files
from calibkit.course.classroom import contents
from calibkit.course.explorers import networks, storage, stored
from calibkit.course.explorers.explorer import EXPLORER, refreshed
from calibkit.course.page_templates import TEMPLATES, render
from calibkit.course.site import (
    api,
    dark_pictures,
    findings,
    kit_pages,
    landing,
    sharing,
    sphinx_extension,
)
from calibkit.course.site.sphinx_extension import SUFFIX

# Pages of text, by name: those for teachers, how to run the course, and those behind the findings.
TEACHERS = re.compile(r"class|commands|kit|scales|your_numbers_differ|your_own_diagram")
RUN = "any_machine"
BEHIND = ("claims", "claims_compared", "claims_printed", "claims_in_detail")
HERE_ONE_READS = (
    '<p class="here">Read it here; to run it and have your exercises checked, '
    '<a href="any_machine.html">open it in JupyterLab</a>.</p>'
)
LOOK_AT_KITS = (
    '<p class="here">Look first, install later: plans, slides and quizzes of all '
    '<a href="kits.html">kits</a> stand on this site.</p>'
)
DESCRIPTION = (
    "An interactive course in JupyterLab and PyTorch on the calibration of neural networks: train "
    "them in seconds, see where their probabilities are wrong, and learn what helps."
)
ALL_NETWORKS = "All networks of the course"
CARDS = 4  # columns that a telephone has no room for
DECISIVE = ("verdicts", "what follows here")
READABLE = 490  # pixels of width that a telephone shrinks no further than words can be read
PNG = "data:image/png;base64,"
BAR = {  # the main list of every page
    "index.html#lessons-title": "Lessons",
    "play.html": "Playground",
    "audit.html": "Audit",
    "findings.html": "Findings",
    "class_guide.html": "For teachers",
    "api.html": "The package",
}


class Lesson(checkout.Lesson):
    """An executed notebook, and what the site says of it elsewhere."""

    @property
    def stem(self) -> str:
        """The name of its page; evidence has a name beside its lesson's."""
        return self.name.replace("/", "_")

    @property
    def short(self) -> str:
        """Its name in a narrow list."""
        return syllabus.entry(self.number).short

    @cached_property
    def read(self) -> NotebookNode:
        return to_be_read(pages.read(self.notebook))

    @property
    def title(self) -> str:
        """Its heading without the number."""
        return re.sub(r"^\d+ · ", "", pages.title(self.read))

    @property
    def question(self) -> str:
        return re.sub(r"[*`$]", "", contents.question(self.read)).replace("\n", " ")

    @property
    def prose(self) -> str:
        return contents.prose(self.read)

    @cached_property
    def html(self) -> str:
        """Its piece of HTML, with a place for each verdict and each slider."""
        return with_places(drawn(self.read, self.notebook.parent))

    @cached_property
    def sliders(self) -> list[str]:
        """The HTML of its sliders, in order, to be shown elsewhere."""
        outputs = (output for cell in self.read.cells for output in cell.get("outputs", ()))
        html = (output.get("data", {}).get("text/html", "") for output in outputs)
        return [refreshed(page) for page in html if "calibkit-explorer" in page]


def home() -> Path:
    return checkout.root() / "notebooks"


def carded(html: str) -> str:
    """Tables of many columns as cards on a telephone: each cell has its heading, the verdict first.

    >>> cells = "<th>a</th><th>b</th><th>verdicts</th><th>c</th>"
    >>> row = cells.replace("th>", "td>")
    >>> html = f"<table><thead><tr>{cells}</tr></thead><tbody><tr>{row}</tr></tbody></table>"
    >>> carded(html).partition("<tbody>")[2][:66]
    '<tr><td data-label="a">a</td><td data-label="b">b</td><td class="d'
    """
    tree = BeautifulSoup(html, "html.parser")
    for table in tree.select("table"):
        heads = [head.get_text(strip=True) for head in table.select("thead th")]
        if len(heads) < CARDS:
            continue
        table["class"] = " ".join([*(table.get("class") or ()), "cards"])
        for row in table.select("tbody tr"):
            for cell, head in zip(row.find_all(["td", "th"]), heads, strict=False):
                if head in DECISIVE:
                    cell["class"] = "decisive"
                cell["data-label"] = head
    return str(tree)


def drawn(
    notebook: NotebookNode, folder: Path | None = None, more: Mapping[str, str] | None = None
) -> str:
    """The notebook as a piece of a page, with links to the other pages.

    folder: where it lies. more: which page stands for which other file that it names.
    """
    linked = pages.links(pages.names(home()) | pages.names(home(), ".md")) | dict(more or {})
    linked |= {"open/six_files.html": "six_files.html"}
    html = pages.export(
        notebook, template="lesson.html.j2", folder=folder or home(), pages=linked, trust=True
    )

    def sided(found: re.Match[str]) -> str:  # a telephone stacks what is left and right
        return found[0].replace('n">', 'n sided">', 1) if "Left" in found["words"] else found[0]

    return landing.DESCRIBED.sub(sided, html)


def opened(html: str, more: str) -> str:
    """A page of text with something more below its first paragraph.

    >>> opened("<h1>A</h1><p>b</p><p>c</p>", "<p>d</p>")
    '<h1>A</h1><p>b</p><p>d</p><p>c</p>'
    """
    return html.replace("</p>", f"</p>{more}", 1)


def to_be_read(notebook: NotebookNode) -> NotebookNode:
    """The notebook as somebody meets it who cannot run it.

    Under its heading stands what it takes and how to run it; imports and settings are one folded
    cell; no exercise says that it is not done yet.
    """
    first, *others = notebook.cells
    told, number = HERE_ONE_READS, re.match(r"# (\d\d) · ", first.source)
    if entry := number and syllabus.entry(number[1]):  # what it takes
        needs = [f"after {', '.join(syllabus.direct(entry.number))}"] if entry.needs else []
        minutes = f"{entry.every} min"  # as the landing page lists them
        told = f'<p class="glance">{" · ".join([minutes, *needs, entry.track])}</p>{told}'
    first.source = re.sub(r"(?m)^(# .+)$", rf"\1\n\n{told}\n", first.source, count=1)
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
    every = (*checkout.lessons(), *checkout.evidence())
    return [Lesson(one.source) for one in every if one.notebook.exists()]


def write(folder: Path) -> None:
    """All that Sphinx reads, into an empty folder; `extra` in it is copied as it is."""
    extra, static = folder / "extra", folder / "static"
    for made in (folder / "api", extra / "embed", extra / "images", static):
        made.mkdir(parents=True)
    every, shown, described = lessons(), kit_pages.every(), api.groups()
    course = [lesson for lesson in every if not lesson.is_evidence]
    texts = {path.stem: pages.read(path) for path in sorted(home().glob("*.md"))}
    fragments = {lesson.stem: lesson.html for lesson in every}
    fragments |= {name: carded(drawn(text)) for name, text in texts.items()}
    fragments["class_guide"] = opened(fragments["class_guide"], LOOK_AT_KITS)
    fragments[RUN] = opened(fragments[RUN], sharing.download(extra))
    # a slider that moves, and beside it the line that shows it elsewhere
    promise = landing.apart(landing.sliders()["promise"].html())["html"]
    live = render("live.html", slider=promise)
    fragments["sliders_anywhere"] = opened(fragments["sliders_anywhere"], live)
    gallery = [(lesson, lesson.sliders) for lesson in course]
    fragments["verdicts"] = _verdicts(course)
    fragments["sliders"] = render("sliders.html", lessons=gallery, plane=networks().html())
    for kit in shown:
        page, more = pages.text_page(kit_pages.text(kit)), kit_pages.links(kit)
        fragments[f"kit_{kit.name}"] = carded(drawn(page, more=more))
        kit_pages.write(kit, extra)
    for name, html in fragments.items():
        (folder / f"{name}{SUFFIX}").write_text(html, encoding="utf-8")
    (folder / "landing.txt").write_text(landing.page(course), encoding="utf-8")
    for picture in (home() / "images").glob("c*.svg"):  # the map, and what pages show
        shutil.copy(picture, extra / "images")
    (extra / ".nojekyll").touch()  # a host leaves _static alone
    promised, right = landing.hundred(stored("start_here").first)
    sharing.card(static, promised, right)
    (static / "figures.css").write_text(dark_pictures.style(), encoding="utf-8")
    _embeds(extra / "embed", course)
    leads = {page: page for page in (f"kit_{kit.name}.html" for kit in shown)}
    listed = drawn(pages.text_page(kit_pages.listed(shown)), more=leads)
    (folder / "kits.txt").write_text(listed, encoding="utf-8")
    _computing(extra, course)
    # a page for each module, with the finding that shows what it is for
    found = {one.lesson: one for one in findings.findings()}
    stems = {lesson.number: lesson.stem for lesson in course}
    for one in itertools.chain.from_iterable(described.values()):
        stem, finding = stems.get(one.lesson or ""), found.get(one.lesson or "")
        text = render("module.rst.j2", one=one, finding=stem and finding, stem=stem)
        (folder / "api" / f"{one.name}.rst").write_text(text, encoding="utf-8")
    titles = {name: pages.title(text) for name, text in texts.items()}
    question = f"Can a network’s “{promised}\u00a0% sure” be believed?"
    toc: dict[str, Any] = {"groups": groups(course, titles), "api": described, "headline": question}
    toc |= {"evidence": every[len(course) :], "texts": titles, "says": api.SAYS, "kits": shown}
    toc |= concluded(every)
    for name in ("index.rst", "findings.rst", "kits.rst", "api.rst"):
        (folder / name).write_text(render(f"{name}.j2", **toc), encoding="utf-8")
    told = {lesson.stem: lesson.question for lesson in every} | {"index": DESCRIPTION}
    order = [*(lesson.stem for lesson in course), "findings"]
    about = {"headline": question, "described": told, "shop": BAR, "order": order}
    (folder / sphinx_extension.ABOUT).write_text(json.dumps(about), encoding="utf-8")


def groups(course: list[Lesson], texts: Mapping[str, str]) -> dict[str, list[tuple[str, str]]]:
    """The sidebar: (title, name of the page) under each caption. texts: titles by name."""
    tracks: dict[str, list[tuple[str, str]]] = {name: [] for name in syllabus.TRACKS}
    for lesson in course:
        tracks[syllabus.entry(lesson.number).track].append((lesson.short, lesson.stem))
    titled = {name: (title, name) for name, title in texts.items() if name not in BEHIND}
    run = [titled.pop(RUN)] if RUN in titled else []
    return {
        "Start": [*tracks["start"], *run],
        "Core": tracks["core"],
        "Electives": tracks["elective"],
        "For teachers": [
            *(one for name, one in titled.items() if TEACHERS.match(name)),
            ("Kits", "kits"), ("All sliders", "sliders"),
        ],
        "Reference": [
            ("Findings", "findings"),
            *(one for name, one in titled.items() if not TEACHERS.match(name)),
            ("The package", "api"),
        ],
    }  # fmt: skip


def concluded(every: list[Lesson]) -> dict[str, object]:
    """What the page of findings is made of: lesson by lesson its results, with their evidence."""
    names = {row.claim: row.name for row in claims.listed(home() / claims.DETAIL)}
    by_lesson = itertools.groupby(findings.results(), key=lambda one: one.lesson)
    return {
        "results": [(number, list(members)) for number, members in by_lesson],
        "drawn": {one.lesson: one for one in findings.findings()},
        "names": names | findings.table()["about"],
        "shorts": {one.number: one.short for one in syllabus.entries()},
        "behind": {lesson.number: lesson.stem for lesson in every},  # evidence, where there is some
        "stems": {lesson.number: lesson.stem for lesson in every if not lesson.is_evidence},
        "verdicts": len(claims.printed(home())),
    }


def with_places(html: str) -> str:
    """Each verdict line and each slider becomes the aim of a link, each table can be scrolled."""
    tree = BeautifulSoup(html, "html.parser")
    for number, slider in enumerate(tree.select(EXPLORER), 1):
        slider["id"] = f"slider-{number}"
        cell = slider.find_parent(class_="code_cell")
        fold = cell and cell.find("details", class_="cell-part", recursive=False)
        if cell and fold:  # the slider first, its code behind it
            cell.append(fold.extract())
    for image in tree.select(f".output_png > img[src^='{PNG}']"):
        # its first 24 bytes, which end with width and height
        head = base64.b64decode(str(image["src"]).removeprefix(PNG)[:32])
        width, height = struct.unpack(">16xII", head)
        image["width"], image["height"] = str(width), str(height)
        image["style"] = f"--natural: {width}px"
        if width > READABLE:  # on a telephone it scrolls
            _scrolls(image, "panorama")
    for table in tree.select(".output_html > div > style + table"):
        _scrolls(table)
    for corner in tree.select("th"):
        if not corner.get_text(strip=True):  # a heading without words is read as one by readers
            corner.name = "td"
    seen: dict[str, int] = {}
    for text in tree.select(".output_stdout > pre"):
        lines = text.decode_contents().split("\n")
        for place, line in enumerate(lines):
            if verdict := verdicts.parse(unescape(line)):
                kind, aim = verdict.word.replace(" ", "-").lower(), place_of(verdict.claim, seen)
                lines[place] = f'<span class="verdict {kind}" id="{aim}">{line}</span>'
        text.clear()
        text.append(BeautifulSoup("\n".join(lines), "html.parser"))
    return str(tree)


def _scrolls(part: Tag, *kinds: str) -> None:
    """Make the output that a part stands in one that scrolls."""
    output = part.find_parent(class_="output_subarea")
    if output:
        output["class"] = " ".join([*output["class"], "wide", *kinds])
        output["tabindex"] = "0"
        output["role"], output["aria-label"] = "group", "Output, scrolls sideways"


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
    printed, listed = claims.printed(home()), claims.listed(home() / claims.DETAIL)
    own_figures = {row.claim: row.figure for row in listed}
    every, by_lesson = [p.verdict for p in printed], []
    for lesson in course:
        rows, seen = [], dict[str, dict[str, int]]()
        for p in printed:
            if p.lesson == lesson.number:
                place = place_of(p.verdict.claim, seen.setdefault(p.notebook, {}))
                page = f"{p.notebook.replace('/', '_')}.html#{place}"
                rows.append((p.verdict, page, own_figures.get(p.verdict.claim, "")))
        if rows:
            counted = verdicts.counted([verdict for verdict, *_ in rows])
            by_lesson.append((lesson, len(rows), counted, rows))
    counts = {word: sum(verdict.word == word for verdict in every) for word in verdicts.WORDS}
    names = {row.claim: f"{row.claim}: {row.name}" for row in listed} | {"id": "claim"}
    concluded = claims.conclusions_table(claims.conclusions(home()), printed, listed)
    # its claims say what they are
    concluded = re.sub(r"(?m)(?<=^\| )\w+(?= \|)", lambda id: names.get(id[0], id[0]), concluded)
    return render(
        "verdicts.html",
        lessons=by_lesson,
        counts=counts | {"post hoc": sum(verdict.post_hoc for verdict in every)},
        chance=claims.CHANCE,
        concluded=carded(drawn(pages.text_page(concluded))),
    )


def bar(here: str) -> str:
    """The main list on a page beside those of Sphinx; here: which one that is.

    >>> bar("play.html").count("<a "), '"play.html" aria-current="page"' in bar("play.html")
    (7, True)
    """
    module: Any = TEMPLATES.get_template("bar.html").module
    return module.bar(BAR, here)


def _computing(folder: Path, course: list[Lesson]) -> None:
    """The pages that compute in the browser, with the main list of the site."""
    lessons = {lesson.number: f"{lesson.stem}.html" for lesson in course}
    on_audits = lessons.get(browser.LESSON_ON_AUDITS, "")
    made = {
        "play.html": partial(browser.playground, lessons),
        "audit.html": partial(browser.audit, lesson=on_audits),
        "six_files.html": partial(six_files.page, lesson=on_audits),
    }
    for name, page in made.items():
        browser.write(page(home=bar(name)), folder / name)


def _embeds(folder: Path, course: list[Lesson]) -> None:
    """For each slider a page to stand in an <iframe>; those that are kept also as modules."""
    shown = {"networks": (ALL_NETWORKS, networks().html(), "../sliders.html#networks")}
    for name, explorer in landing.sliders().items():
        shown[name] = (explorer.name, explorer.html(), "../index.html")
    for lesson in course:
        for number, html in enumerate(lesson.sliders, 1):
            back = f"../{lesson.stem}.html#slider-{number}"
            shown[f"{lesson.stem}-{number}"] = (lesson.title, html, back)
    for name, (title, html, back) in shown.items():
        words = {"title": title, "slider": html, "back": back, "colours": dark_pictures.style()}
        (folder / f"{name}.html").write_text(render("embed.html", **words), encoding="utf-8")
    for name in storage.names():
        module = storage.explorer(name).module()
        (folder / f"{name}.mjs").write_text(module, encoding="utf-8")
