"""Pages that compute in the browser and need nothing else: one HTML file, no network, no kernel.

A page is written as ES modules, of which each holds one idea, a template and style sheets. A
browser loads neither modules nor workers from `file://`, so `assemble` puts all of it into one
file: the modules in the order of their imports, each in a function of its own, as one script. A
worker is made of that same script, from a Blob. The page's own policy forbids every connection.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from calibkit import __version__
from calibkit.auditing import intervals
from calibkit.auditing import names as column_names
from calibkit.course import page_templates
from calibkit.lab.data.handwriting import BRIGHTEST, all_digits

HERE = Path(__file__).parent
LESSON_ON_AUDITS = "17"
SETS = ("LABELS", "CORRECT", "WRONG", "CONFIDENCES", "SCORES", "PARTS", "JUDGED", "WRONGED",
        "DECISIONS", "RANKS", "SPLITS", "REVISED")  # fmt: skip
IMPORT = re.compile(r'^import\s*\{(?P<names>[^}]*)\}\s*from\s*"(?P<file>[^"]+)";[^\n]*\n', re.M)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class)\b)", re.M)
EXPORTED = re.compile(r"^export (?:async )?(?:function|const|class) (\w+)", re.M)
LEFT_OVER = re.compile(r"^(?:import|export)\b.*", re.M)
END_OF_SCRIPT = re.compile(r"</script", re.I)


class BrowserPageError(ValueError):
    """Modules that cannot become one script, with the file and what is wrong in it."""


def assemble(
    template: Path,
    entry: Path,
    styles: Iterable[Path],
    data: Mapping[str, Any],
    words: Mapping[str, str] | None = None,
    constants: Mapping[str, Any] | None = None,
) -> str:
    """One HTML file from a template and the modules that `entry` imports, itself the last.

    template: HTML with the places {{ policy }}, {{ style }}, {{ data }} and {{ script }}.
    data: what the script finds as JSON, each under its name as `<script id="NAME">`.
    words: further places of the template, each with its HTML.
    constants: what all modules, in the worker, too, find as a constant of that name.

    The script has one global name, `calibkit`, whose properties are all exports of the modules.

    Raises BrowserPageError for a module that imports what another does not export, for modules
    that import each other, for a name that two of them export, and for a place that nobody fills.
    """
    code = script(entry, constants)
    style = "\n".join(path.read_text(encoding="utf-8") for path in styles)
    blocks = []
    for name, value in data.items():
        blocks.append(f'<script type="application/json" id="{name}">{_json(value)}</script>')
    filled = {"policy": page_templates.policy(code, style), "style": style, "script": code}
    filled |= {"data": "\n".join(blocks)} | dict(words or {})
    # each {{ place }} is filled once, whatever the fillings hold
    text = template.read_text(encoding="utf-8")
    places = re.findall(r"\{\{ (\w+) \}\}", text)
    if {*places} ^ {*filled} or len(places) != len(set(places)):
        raise BrowserPageError(
            f"{template.name} must have each place once: {', '.join(sorted(filled))}; "
            f"it has {', '.join(places)}"
        )
    return re.sub(r"\{\{ (\w+) \}\}", lambda place: filled[place[1]], text)


def _json(value: Any) -> str:
    """JSON in which no tag can begin."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def script(entry: Path, constants: Mapping[str, Any] | None = None) -> str:
    """The modules that `entry` needs as one script; see `assemble`."""
    exported: dict[str, Path] = {}
    parts = []
    for path, text in modules(entry).items():
        own = EXPORTED.findall(text)
        for name in own:
            other = exported.setdefault(name, path)
            if other != path:
                raise BrowserPageError(
                    f"{name} is exported by {other.name} and by {path.name}; in one script a name "
                    "can stand for one thing only: rename one of them"
                )
        plain = EXPORT.sub("", IMPORT.sub("", text)).strip()
        left = LEFT_OVER.search(plain)
        if left:
            raise BrowserPageError(
                f'{path.name}: cannot read "{left[0]}"; write import {{ a, b }} from "./file.js"; '
                "and export before function, const or class"
            )
        names = ", ".join(own)
        head = f"// ---- {path.relative_to(HERE).as_posix()} ----"
        parts.append(
            f"{head}\nconst {{ {names} }} = (() => {{\n{plain}\n\nreturn {{ {names} }};\n}})();\n"
        )
    body, names = "\n".join(parts), ", ".join(exported)
    given = [f"const {name} = {_json(value)};\n" for name, value in (constants or {}).items()]
    whole = '"use strict";\n' + "".join(given)
    whole += f"const calibkit = (() => {{\n{body}\nreturn {{ {names} }};\n}})();\n"
    if END_OF_SCRIPT.search(whole):
        raise BrowserPageError("a module holds the end tag of a script, which would end the page's")
    return whole


def modules(entry: Path) -> dict[Path, str]:
    """Each module that `entry` needs with its text, those first that others import."""
    done: dict[Path, str] = {}

    def visit(path: Path, above: list[Path]) -> None:
        if path in above:
            circle = " imports ".join(one.name for one in [*above[above.index(path) :], path])
            raise BrowserPageError(f"modules may not import each other: {circle}")
        if path in done:
            return
        if not path.is_file():
            by = above[-1].name if above else "entry"
            raise BrowserPageError(f"{by} names {path}: no such file")
        text = path.read_text(encoding="utf-8")
        for found in IMPORT.finditer(text):
            other = (path.parent / found["file"]).resolve()
            visit(other, [*above, path])
            wanted = {name.strip() for name in found["names"].split(",") if name.strip()}
            if missing := ", ".join(sorted(wanted - {*EXPORTED.findall(done[other])})):
                raise BrowserPageError(
                    f"{path.name} imports {missing}, not exported by {other.name}"
                )
        done[path] = text

    visit(entry.resolve(), [])
    return done


def page(
    name: str,
    data: Mapping[str, Any],
    home: str = "",
    constants: Mapping[str, Any] | None = None,
    **words: str,
) -> str:
    """The page of a folder here: NAME.html, main.js and NAME.css, in the theme that all share.

    data, constants: as `assemble` takes them. home: HTML of a link back to where the page belongs,
    or of a bar of links. words: further places of its template.
    """
    folder = HERE / name
    styles = [HERE / "shared" / "theme.css", folder / f"{name}.css"]
    places = {"home": home} | words
    return assemble(folder / f"{name}.html", folder / "main.js", styles, data, places, constants)


def playground(lessons: Mapping[str, str] | None = None, home: str = "") -> str:
    """The page on which the visitor's own network trains.

    lessons: number -> address of the lessons that the settings link to; without it their numbers
        stand there alone. home: as `page` takes it.

    >>> "connect-src" in playground(), len(playground()) < 400_000
    (False, True)
    """
    return page("playground", {"digits": digits_text(), "lessons": dict(lessons or {})}, home)


def audit(home: str = "", lesson: str = "") -> str:
    """The page that audits a file of predictions in the browser, as `calibkit audit` does.

    home: as `page` takes it. lesson: address of the lesson on audits; without it its number stands
    there alone.

    >>> "connect-src" in audit(), len(audit()) < 300_000
    (False, True)
    """
    trust = {name: intervals.LEAST[name] for name in ("aurc", "aurc paired", "auc")}
    data = {"trust": trust, "version": __version__}
    lists: dict[str, Any] = {name: sorted(getattr(column_names, name)) for name in SETS}
    lists |= {name: getattr(column_names, name) for name in ("POSITIVE", "NEGATIVE", "RIGHT")}
    lists["KINDS"] = {kind: sorted(words) for kind, words in column_names.KINDS.items()}
    number = f"Lesson {LESSON_ON_AUDITS}"
    linked = f'<a href="{lesson}">{number}</a>' if lesson else number
    said = f"{linked} of the course goes through such a report, step by step."
    return page("audit", data, home, {"NAMES": lists}, lesson=said)


def own_diagram(home: str = "") -> str:
    """The page that asks a reader, and draws their own reliability diagram, or that of a class.

    Its questions are own_diagram/questions.json; network.json beside it has what the network of
    lesson 00 said on its test images, in ten bins from 0 to 1. home: as `page` takes it.

    >>> "connect-src" in own_diagram(), len(own_diagram()) < 60_000
    (False, True)
    """
    files = {name: HERE / "own_diagram" / f"{name}.json" for name in ("questions", "network")}
    data = {name: json.loads(file.read_text(encoding="utf-8")) for name, file in files.items()}
    return page("own_diagram", data, home)


def digits_text() -> str:
    """The digits as text, one a line: its label, then a letter a pixel, a for 0 to q for 16.

    >>> digits_text().splitlines()[0][:9]
    '0aafnjbaa'
    """
    images, labels = all_digits()
    levels = (images.flatten(1) * BRIGHTEST).round().long() + ord("a")
    rows = zip(labels.tolist(), levels.tolist(), strict=True)
    return "\n".join(f"{label}{bytes(row).decode()}" for label, row in rows)


def write(page: str, target: str | Path) -> Path:
    """Write a page to a file, or into a folder that exists under the name index.html."""
    target = Path(target)
    target = target / "index.html" if target.is_dir() else target
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(page, encoding="utf-8", newline="\n")
    return target
