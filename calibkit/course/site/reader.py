"""What Sphinx learns here: to read our pieces of HTML, and docstrings that are plain English."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from bs4 import BeautifulSoup, NavigableString, PageElement, Tag
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.parsers import Parser

from calibkit.course.site import address, card

SUFFIX = ".fragment"
ABOUT = "about.json"  # what `sources.write` says of the pages
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
NAMED = re.compile(r"([a-z_]\w*(?:, \w+)*): ")  # an argument at the beginning of its line


class FragmentParser(Parser):
    """A piece of HTML as a tree of sections, so that Sphinx sees its headings."""

    supported = ("fragment",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        self.setup_parse(inputstring, document)
        opened: list[tuple[int, nodes.Element]] = [(0, document)]
        for level, place, content in pieces(inputstring):
            if level == 0:
                opened[-1][1].append(nodes.raw("", content, format="html"))
                continue
            while opened[-1][0] >= level:
                opened.pop()
            # by its name in JupyterLab, and as a link to a text on the web has it
            ids = list(dict.fromkeys([place, place.lower()]))
            section = nodes.section(ids=ids, names=[nodes.fully_normalize_name(place)])
            section += nodes.title(content, content)
            opened[-1][1].append(section)
            opened.append((level, section))
        self.finish_parse()


def pieces(html: str) -> Iterator[tuple[int, str, str]]:
    """(level, id, words) of every heading of the prose, and (0, "", html) of all between.

    >>> list(pieces('<div class="prose"><h2 id="a">A <em>b</em></h2><p>c</p></div><pre>d</pre>'))
    [(2, 'a', 'A b'), (0, '', '<p>c</p><pre>d</pre>')]
    """
    between = ""
    for node in _nodes(html):
        if not (isinstance(node, Tag) and node.name in HEADINGS):
            between += node.output_ready() if isinstance(node, NavigableString) else str(node)
            continue
        if between.strip():
            yield 0, "", between
        between = ""
        for link in node.select("a.anchor-link"):
            link.decompose()
        yield int(node.name[1]), str(node["id"]), node.get_text()
    if between.strip():
        yield 0, "", between


def _nodes(html: str) -> Iterator[PageElement]:
    """What stands at the top, with the parts of prose in place of its <div>."""
    for node in BeautifulSoup(html, "html.parser").contents:
        if isinstance(node, Tag) and node.get("class") == ["prose"]:
            yield from node.contents
        else:
            yield node


def as_rst(lines: list[str]) -> list[str]:
    """A docstring of plain English, arguments and doctests as reStructuredText.

    >>> as_rst(["The `probs` of **more**.", "", "x: (n,) floats", "    in order."])
    ['The ``probs`` of \\\\*\\\\*more\\\\*\\\\*.', '', '* ``x``: (n,) floats', '  in order.', '']
    """
    written: list[str] = []
    for block in re.split(r"\n\s*\n", "\n".join(lines).strip("\n")):
        written += [*_block(block.split("\n")), ""]
    return written


def _block(lines: list[str]) -> list[str]:
    first = lines[0].lstrip()
    if first.startswith(">>>"):
        return lines
    if first.startswith("|"):
        return ["::", "", *(f"    {line}" for line in lines)]
    if first.startswith("- "):
        return [_plain(line) for line in lines]
    if NAMED.match(lines[0]):
        return [_argument(line) for line in lines]
    return [_plain(line.strip()) for line in lines]


def _argument(line: str) -> str:
    if named := NAMED.match(line):
        return f"* ``{named[1]}``: {_plain(line[named.end() :])}"
    return f"  {_plain(line.strip())}"


def _plain(words: str) -> str:
    """Words in which only code in backticks means something to Sphinx."""
    parts = re.split(r"`([^`]+)`", words)
    return "".join(
        f"``{part}``" if place % 2 else re.sub(r"([\\*_|`])", r"\\\1", part)
        for place, part in enumerate(parts)
    )


def _docstring(app, what, name, obj, options, lines: list[str]) -> None:
    lines[:] = as_rst(lines)


def _skipped(app, what, name, obj, skip, options) -> bool | None:
    """Leave out what has no docstring of ours: a default of another package, a tuple's field."""
    home, words = getattr(obj, "__module__", None), str(getattr(obj, "__doc__", ""))
    strange = home and not home.startswith("calibkit")
    return True if strange or words.startswith("Alias for field number") else None


def _levelled(app, page: str, template: str, context: dict, doctree) -> None:
    """The captions of the navigation are headings; a heading must say of which level."""
    tree = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = tree.replace(
        'role="heading"', 'role="heading" aria-level="2"'
    )


def _about(app, page: str, template: str, context: dict, doctree) -> None:
    """What a page says of itself to search engines and to those that show a link."""
    about = json.loads((Path(app.srcdir) / ABOUT).read_text(encoding="utf-8"))
    described = about.pop("described").get(page, "")
    context |= about | {"described": described, "address": address.site(), "card": card}


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this: the parser for fragments, and the filter for docstrings."""
    app.add_source_suffix(SUFFIX, "fragment")
    app.add_source_parser(FragmentParser)
    app.connect("autodoc-process-docstring", _docstring)
    app.connect("autodoc-skip-member", _skipped)
    app.connect("html-page-context", _about)
    app.connect("html-page-context", _levelled, priority=900)  # after the theme
    return {"parallel_read_safe": True, "parallel_write_safe": True}
