"""What Sphinx learns here: pieces of HTML, docstrings in plain English, words for the search."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

from bs4 import BeautifulSoup, NavigableString, Tag
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.parsers import Parser

from calibkit.course.explorers.explorer import pack
from calibkit.course.site import sharing

SUFFIX = ".fragment"
OPTION = re.compile(r"(?<=\s)(--?\w[\w-]*)")  # it is not broken at its hyphens
LONG = 24  # letters of code that a line of a telephone need not hold in one piece
ABOUT = "about.json"  # what `sources.write` says of the pages
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
NAMES = r"[a-z_]\w*(?:, \w+)*"
NAMED = re.compile(rf"({NAMES}): ")  # an argument at the beginning of its line, or several
NEXT = re.compile(rf"(?:;|(?<=\.))\s+(?={NAMES}: )")  # before another one on the same line
HEADS = r"(?:Returns|Raises|Source:)\s"  # sentences that have a small heading
HEADED = re.compile(rf"(?<=\.)\s+(?={HEADS})")
PAGE = re.compile(r"notebooks/(\w+)\.(?:md|ipynb)")  # a file that is a page of the site


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
            section += titled(content)
            opened[-1][1].append(section)
            opened.append((level, section))
        self.finish_parse()


def titled(words: str) -> nodes.title:
    """A heading that is broken, where it must be, behind its colon.

    >>> [part.astext() for part in titled("06 · Label noise: what do they do?").children]
    ['06 · Label noise:', ' ', 'what do they do?']
    """
    name, colon, question = words.partition(": ")
    if not colon:
        return nodes.title(words, words)
    parts = [nodes.inline("", part, classes=["part"]) for part in (f"{name}:", question)]
    return nodes.title(words, "", parts[0], nodes.Text(" "), parts[1])


def pieces(html: str) -> Iterator[tuple[int, str, str]]:
    """(level, id, words) of every heading of the prose, and (0, "", html) of all between.

    >>> list(pieces('<div class="prose"><h2 id="a">A <em>b</em></h2><p>c</p></div><pre>d</pre>'))
    [(2, 'a', 'A b'), (0, '', '<p>c</p><pre>d</pre>')]
    """
    tree = BeautifulSoup(html, "html.parser")
    for code in tree.select(":not(pre) > code"):
        if len(code.get_text()) > LONG:
            code["class"] = "long"
            inside = OPTION.sub(r"<span>\1</span>", code.decode_contents())
            code.clear()
            code.append(BeautifulSoup(inside, "html.parser"))
    for prose in tree.find_all("div", recursive=False):
        if prose.get("class") == ["prose"]:
            prose.unwrap()
    between = ""
    for node in tree.contents:
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


def as_rst(lines: list[str]) -> list[str]:
    """A docstring of plain English, arguments and doctests as reStructuredText.

    >>> lines = ["The `probs` of **all**.", "", "x: (n,) floats", "    in order."]
    >>> print("\\n".join(as_rst(lines)))
    The ``probs`` of \\*\\*all\\*\\*.
    <BLANKLINE>
    .. rst-class:: arguments
    <BLANKLINE>
    ``x``
        (n,) floats in order.
    <BLANKLINE>
    """
    written: list[str] = []
    for block in re.split(r"\n\s*\n", "\n".join(lines).strip("\n")):
        part, first = block.split("\n"), block.lstrip()
        if first.startswith(">>>"):
            written += [*part, ""]
        elif first.startswith("|") or block.startswith("    "):  # a table, a formula
            written += [".. code-block:: text", "", *(f"    {line}" for line in part), ""]
        elif first.startswith("- "):
            written += [*map(_plain, part), ""]
        else:
            written += [line for words in HEADED.split(block) for line in (*_part(words), "")]
    return written


def _part(words: str) -> list[str]:
    """Arguments, or a paragraph with or without a small heading."""
    if NAMED.match(words):  # each argument as a term, and below it what it is
        lines = (" ".join(one.split()) for one in re.split(rf"\n(?={NAMES}: )", words))
        every = (one.partition(": ") for line in lines for one in NEXT.split(line))
        listed = [(", ".join(f"``{n}``" for n in names.split(", ")), f"    {_plain(rest)}")
                  for names, _, rest in every]  # fmt: skip
        return [".. rst-class:: arguments", "", *itertools.chain(*listed)]
    words = " ".join(words.split())
    if re.match(HEADS, words):
        head, _, rest = words.partition(" ")
        return [f"**{head}** {_plain(rest)}"]
    return [_plain(words)]


def _plain(words: str) -> str:
    """Words in which only code in backticks, and pages of the site, mean something to Sphinx."""
    written = ""
    for place, part in enumerate(re.split(r"`([^`]+)`", words)):
        if place % 2:
            page = PAGE.fullmatch(part)
            written += f":doc:`/{page[1]}`" if page else f"``{part}``"
            continue
        # the s of a plural would else be taken for code
        written += "\\ " if place and part[:1].isalnum() else ""
        for number, prose in enumerate(PAGE.split(part)):
            written += f":doc:`/{prose}`" if number % 2 else re.sub(r"([\\*_|`])", r"\\\1", prose)
    return written


def _docstring(app, what, name, obj, options, lines: list[str]) -> None:
    """A docstring as Sphinx reads it; that of a module stands on its page already."""
    lines[:] = [] if what == "module" else as_rst(lines)


def _signature(app, what, name, obj, options, given: str | None, returned: str | None):
    """A signature in which an alias that stands beside other types has its name alone."""
    return tuple(
        part and re.sub(r"TypeAliasForwardRef\('(.+?)'\)", r"\1", part)
        for part in (given, returned)
    )


def _skipped(app, what, name, obj, skip, options) -> bool | None:
    """Leave out what has no docstring of ours: a default of another package, a tuple's field."""
    made = getattr(obj, "fget", obj)  # of a property, such as one that is a second name
    home, words = getattr(made, "__module__", None), str(getattr(obj, "__doc__", ""))
    strange = home and not home.startswith("calibkit")
    return True if strange or words.startswith("Alias for field number") else None


def _page(app, page: str, template: str, context: dict, doctree) -> None:
    """What the theme lacks on a page."""
    # to search engines and to those that show a link
    about = json.loads((Path(app.srcdir) / ABOUT).read_text(encoding="utf-8"))
    described, order = about.pop("described").get(page, ""), about.pop("order")
    context |= about | {"described": described, "address": sharing.site(), "card": sharing}
    # an argument a line in signatures; Sphinx's lists without terms confuse screen readers
    body = context.get("body", "")  # the page of the search has none
    context["body"] = re.sub(r'(?s)<dt class="sig .*?</dt>', _lines_for_list, body)
    # a lesson leads to the next one by its number, wherever the sidebar has it
    if page in order:
        place, uri = order.index(page), app.builder.get_relative_uri
        for name, other in (("prev", place - 1), ("next", place + 1)):
            context[name] = None
            if 0 <= other < len(order):
                title = app.env.titles[order[other]].astext()
                context[name] = {"link": uri(page, order[other]), "title": title}
    # the captions of the navigation are headings; a heading must say of which level
    tree = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = tree.replace(
        'role="heading"', 'role="heading" aria-level="2"'
    )


def _lines_for_list(signature: re.Match[str]) -> str:
    lines = re.sub(r"<(dl|dd)>", '<span class="line">', signature[0])
    return re.sub(r"</(dl|dd)>", "</span>", lines)


def text(source: str) -> str:
    """The words of a piece of HTML, without what is not read: scripts, styles, pictures' data.

    >>> text("<p>A <b>b</b> &amp; c</p><script>let d = 1</script><p>e</p>")
    'A b & c e'
    """
    kept = re.sub(r"(?s)<(script|style|svg|math)\b.*?</\1>", " ", source)
    return " ".join(unescape(re.sub(r"(?s)<[^>]*>", " ", kept)).split())


def _kept(app, doctree: nodes.document, page: str) -> None:
    """Keep the words of a page for the excerpts of the search."""
    parts = (
        node.astext() for node in doctree.findall(nodes.Text) if node.parent.tagname != "comment"
    )
    app.env.calibkit_texts[page] = text("\n".join(parts))


def _begun(app, env, names) -> None:
    env.calibkit_texts = getattr(env, "calibkit_texts", {})


def _excerpts(app, error: Exception | None) -> None:
    """Write the words of all pages as a script, packed as sliders are."""
    if error is None:
        words = pack(app.env.calibkit_texts)
        target = Path(app.outdir, "_static", "excerpts.js")
        target.write_text(f'window.EXCERPTS = "{words}";\n', encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this: the parser for fragments, and the filter for docstrings."""
    app.add_source_suffix(SUFFIX, "fragment")
    app.add_source_parser(FragmentParser)
    app.connect("autodoc-process-docstring", _docstring)
    app.connect("autodoc-process-signature", _signature)
    app.connect("autodoc-skip-member", _skipped)
    app.connect("env-before-read-docs", _begun)
    app.connect("doctree-resolved", _kept)
    app.connect("build-finished", _excerpts)
    app.connect("html-page-context", _page, priority=900)  # after the theme
    return {"parallel_read_safe": True, "parallel_write_safe": True}
