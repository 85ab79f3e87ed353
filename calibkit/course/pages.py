"""The course as web pages: one self-contained HTML file a notebook, for readers without Python.

A page needs no kernel and no network. Its sliders carry their frames with them, and its formulas
are MathML, which browsers draw by themselves.

A notebook may carry scripts in its text and in its outputs; so do the sliders of the course. They
enter the page of a notebook that one trusts, because one executed it. Every other page keeps text,
tables, figures and formulas, and nothing that a browser would run or load.
"""

from __future__ import annotations

import base64
import mimetypes
import re
from collections.abc import Mapping
from html import escape, unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import nbformat
import nh3
from jinja2 import pass_context
from math_core import LatexError, LatexToMathML
from nbconvert import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbconvert.preprocessors import CoalesceStreamsPreprocessor, Preprocessor
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_notebook

from calibkit.course import checkout, execution, folded_outputs, page_templates
from calibkit.course.checkout import EVIDENCE
from calibkit.course.explorers.explorer import refreshed

TEMPLATES = Path(__file__).with_name("site")
# The words that open a part: in a cell with this tag, and in others.
OPENS = {
    "source_hidden": ("parameters", "Show imports and settings", "Show the code"),
    "outputs_hidden": ("answer", "I have predicted: show the answer", "Show what it prints"),
}
UNDESCRIBED = "No description has been provided for this image"  # nbconvert's words
PLACE = re.compile(r'(<h\d id=")([^"]+)"')  # of a heading, in nbconvert's capitals
EMPTY_HEAD = re.compile(r"<th(\s[^>]*)?>\s*</th>")
FIRST_CELL = re.compile(r"(<tr>\s*)<td([^>]*)>(.*?)</td>", re.DOTALL)
ICONS = re.compile(r"\s*--jp-icon-[\w-]+: url\([^)]*\);")  # of buttons, a fifth of a page
DRAWN_ABOVE = "Figure drawn by the cell above; the text beside it says what to see."
CONVERTER = LatexToMathML(fancy_error=False, allow_unreliable_rendering=True)
HTML_MATH = re.compile(r"(?<![$\\])(\$\$?)(?!\$)(.+?)(?<![$\\])\1(?!\$)", re.DOTALL)
# What a page may hold whose notebook is not trusted. Names that are not here are taken out.
TAGS = (
    "a abbr acronym b blockquote code em i li ol strong ul br caption col colgroup dd del details "
    "div dl dt h1 h2 h3 h4 h5 h6 hr img kbd main p pre s small span sub summary sup table tbody td "
    "tfoot th thead tr u math menclose mfrac mi mmultiscripts mn mo mover mpadded mphantom "
    "mprescripts mroot mrow mspace msqrt msub msubsup msup mtable mtd mtext mtr munder munderover"
)
ATTRIBUTES = (
    "class id title role aria-label tabindex style alt width height colspan rowspan scope start "
    "open data-mime-type data-type accent accentunder display displaystyle form linethickness "
    "lspace mathvariant maxsize minsize movablelimits notation rspace scriptlevel stretchy "
    "symmetric voffset"
)
SIDES = [f"{space}{side}" for space in ("margin", "padding")
         for side in ("", "-top", "-right", "-bottom", "-left")]  # fmt: skip
STYLES = (  # those of tables and of formulas in columns; none takes a browser elsewhere
    "border border-collapse border-color border-left border-spacing border-width background-color "
    "color direction display float font font-family font-size font-style font-weight height "
    "justify-items letter-spacing line-height max-width min-width overflow text-align "
    "text-decoration text-indent vertical-align white-space width"
)
ADDRESSES = {
    ("a", "href"): re.compile(r"(https?:|mailto:|#|[\w.%-]+(#|$))"),  # the last: another page
    ("img", "src"): re.compile(r"data:image/(png|jpeg|gif|webp|svg\+xml);base64,"),
}
POLICY = f'<meta http-equiv="Content-Security-Policy" content="{page_templates.policy()}">'


class PageError(ValueError):
    """A notebook that cannot become a page that works by itself."""


def export_all(
    source: Path | None = None,
    target: Path | None = None,
    only: str | None = None,
    *,
    trust: bool | None = None,
) -> list[Path]:
    """Write every notebook and text page of a folder, and a list of them, as HTML.

    source: the folder with the executed notebooks; by default the committed ones. The text pages
    come from the course. Nothing is executed.
    target: where the pages go; by default build/pages.
    only: write the pages whose name starts with this, and no list of them.
    trust: keep the scripts of the notebooks, sliders among them. By default those of the course
    alone, not those of another `source`: whoever opens a page runs its scripts.

    Raises FileNotFoundError for a folder without such notebooks, PageError for a formula that
    cannot be read and for a link to a file that is not there.
    """
    trust = source is None if trust is None else trust
    home = checkout.root()
    source = Path(source or home / "notebooks")
    target = Path(target or home / "build" / "pages")
    pages = names(source) | names(home / "notebooks", ".md")
    notebooks = {file: read(file) for file in pages if file.name.startswith(only or "")}
    if not any(file.suffix == ".ipynb" for file in notebooks):
        raise FileNotFoundError(f"no notebook {only or ''}*.ipynb in {source.resolve()}")
    target.mkdir(parents=True, exist_ok=True)
    listed = [
        f'<li><a href="{quote(pages[file])}">{escape(title(notebook))}</a></li>'
        for file, notebook in notebooks.items()
    ]
    opening = "# calibkit: the calibration of deep networks\n\n<ul>"
    index = text_page("\n".join([opening, *listed, "</ul>"]))
    written = {} if only else {"index.html": (index, home, False)}
    for file, notebook in notebooks.items():
        written[pages[file]] = (notebook, file.parent, trust or file.suffix == ".md")
    linked = links(pages)
    for name, (notebook, folder, trusted) in written.items():
        try:
            html = export(notebook, folder=folder, pages=linked, trust=trusted)
        except (PageError, nbformat.ValidationError) as error:
            raise PageError(f"{Path(name).stem}: {error}") from None
        (target / name).write_text(html, encoding="utf-8")
    return [target / name for name in written]


def names(folder: Path, ending: str = ".ipynb") -> dict[Path, str]:
    """The files of the course in a folder, each with the name of its page; evidence behind all."""
    here = {file: f"{file.stem}.html" for file in sorted(folder.glob(f"*{ending}"))}
    beside = sorted((folder / EVIDENCE).glob(f"*{ending}"))
    return here | {file: f"{EVIDENCE}_{file.stem}.html" for file in beside}


def links(pages: Mapping[Path, str]) -> dict[str, str]:
    """The page of each file as lessons name it in a link, and as evidence does."""
    named: dict[str, str] = {}
    for file, page in pages.items():
        name = f"{EVIDENCE}/{file.name}" if file.parent.name == EVIDENCE else file.name
        named |= {name: page, f"../{name}": page}
    return named


def export(
    notebook: NotebookNode,
    *,
    folder: Path = Path(),
    pages: Mapping[str, str] | None = None,
    trust: bool = False,
    template: str = "page.html.j2",
) -> str:
    """One notebook, with the outputs it has, as the text of a page.

    folder: where the images lie that it names.
    pages: which page stands for which file, for links from one lesson to another.
    trust: keep the scripts of the notebook and of its outputs, which the reader's browser runs.
    template: of nbconvert's kind, in the folder of the site; one of a piece of a page needs trust.

    Raises PageError as `export_all`.
    """
    exporter = Exporter(pages or {}, raw_template=(TEMPLATES / template).read_text("utf-8"))
    resources = {"metadata": {"name": title(notebook), "path": str(folder)}}
    html = exporter.from_notebook_node(notebook, resources)[0]
    html = html.replace(f'alt="{UNDESCRIBED}"', f'alt="{DRAWN_ABOVE}"')
    for _, place in PLACE.findall(html):  # in small letters, as links write them
        html = html.replace(f'id="{place}"', f'id="{place.lower()}"')
        html = html.replace(f'href="#{place}"', f'href="#{place.lower()}"')
    html = ICONS.sub("", html)
    html = EMPTY_HEAD.sub(r"<td\1></td>", html)  # a heading without words is read as one
    return html if trust else safe(html)


def safe(html: str) -> str:
    """A page without anything that a browser would run or load.

    nh3 goes through all of the finished body. nbconvert's own calls leave holes: `SanitizeHTML`
    reads markdown before it is HTML (links to javascript: pass), and `sanitize_html` no diagrams
    (their scripts pass); both take embedded pictures out. Should anything get past the list, the
    policy in the head still forbids browsers to run or to load it.
    """

    def kept(tag: str, name: str, value: str) -> str | None:
        """The value of an attribute, None where it leads elsewhere."""
        address = ADDRESSES.get((tag, name))
        leads = not address.match(value) if address else name == "style" and "url(" in value.lower()
        return None if leads else value

    head, main, content = html.partition("<main>")  # made here, all but the title
    cleaned = nh3.clean(
        main + content,
        tags={*TAGS.split()},
        attributes={"*": {*ATTRIBUTES.split()}} | {tag: {name} for tag, name in ADDRESSES},
        attribute_filter=kept,
        url_schemes={"http", "https", "mailto", "data"},
        filter_style_properties={*SIDES, *STYLES.split()},
        link_rel=None,
    )
    return f"{head.replace('<head>', f'<head>{POLICY}', 1)}{cleaned}</body>\n</html>\n"


def title(notebook: NotebookNode) -> str:
    """The words of the first heading, without its marks."""
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    headings = re.findall(r"(?m)^# +(.+)$", prose) or ["calibkit"]
    return re.sub(r"[*`$]", "", headings[0])


def formula(tex: str, *, display: bool = False) -> str:
    r"""TeX, without its dollars, as MathML.

    Raises PageError for a command that is not known.

    >>> formula(r"x^2")
    '<math><msup><mi>x</mi><mn>2</mn></msup></math>'
    """
    try:
        written = CONVERTER.convert_with_local_state(_numbered(tex), displaystyle=display)
    except LatexError as error:
        raise PageError(f"this formula cannot be shown: {error}\n{tex.strip()}") from None
    # well-formed XML, which the headings are read as: no named characters but its own three
    written = re.sub(r"&(?!lt|gt|amp)\w+;", lambda name: unescape(name[0]), written)
    # what scrolls must be reached by the keyboard
    return f'<span class="formula" tabindex="0">{written}</span>' if display else written


def _numbered(tex: str) -> str:
    """Formulas numbered as JupyterLab numbers them: where there is a tag, and nowhere else."""
    tex = tex.strip().replace("{split}", "{aligned}")
    if r"\tag" not in tex:
        return re.sub(r"\\(begin|end){(align|alignat|equation|gather|multline)}", r"\\\1{\2*}", tex)
    if r"\begin{align}" in tex or r"\begin{gather}" in tex:
        return "".join(
            row if r"\tag" in row else re.sub(r"(?=\\\\$|\\end{\w+}$)", r"\\notag", row)
            for row in re.split(r"(?<=\\\\)", tex)
        )
    return tex if r"\begin{equation}" in tex else rf"\begin{{equation}}{tex}\end{{equation}}"


def read(path: Path) -> NotebookNode:
    """A notebook, or a page of text as a notebook of one cell, without what needs a kernel."""
    if path.suffix == ".md":
        return text_page(path.read_text(encoding="utf-8"))
    return execution.stripped(nbformat.read(path, as_version=4))


def text_page(source: str) -> NotebookNode:
    """A page of text, as a notebook of one cell."""
    return new_notebook(cells=[new_markdown_cell(source)])


class Renderer(IPythonRenderer):
    """Markdown to HTML, formulas to MathML, links to pages; see `export`."""

    def __init__(self, pages: Mapping[str, str], path: str = "", attachments: dict | None = None):
        super().__init__(escape=False, path=path, attachments=attachments)
        self.pages = pages

    def inline_math(self, body):
        return formula(body)

    def block_math(self, body):
        return formula(body, display=True)

    def latex_environment(self, name, body):
        return formula(rf"\begin{{{name}}}{body}\end{{{name}}}", display=True)

    # The questions of the recall are HTML, which markdown does not look into.
    def block_html(self, html):
        drawn = HTML_MATH.sub(lambda m: formula(unescape(m[2]), display=m[1] == "$$"), html)
        return super().block_html(drawn)

    def table(self, text):  # like a wide formula, it scrolls by itself
        head, mark, rows = text.partition("<tbody>")
        if EMPTY_HEAD.match(head.partition("<tr>")[2].lstrip()):  # its rows have names
            text = head + mark + FIRST_CELL.sub(r'\1<th scope="row"\2>\3</th>', rows)
        told = 'role="group" aria-label="Table, scrolls sideways"'
        return f'<div class="wide" tabindex="0" {told}><table>\n{text}</table></div>\n'

    def image(self, text, url, title=None):
        """The image itself in place of its name."""
        if not re.match(r"[a-z]+:", url):
            home = Path(self.path).resolve()
            path, kind = (home / url).resolve(), mimetypes.guess_type(url)[0] or "no picture"
            # a page is passed on: no other file of its maker may travel inside it
            if not (path.is_relative_to(home) and path.is_file() and kind.startswith("image/")):
                raise PageError(f"it shows {url}, which is not a picture in {home}")
            url = f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"
        return super().image(text, url, title)

    def link(self, text, url, title=None):
        file, mark, place = url.partition("#")
        if file in self.pages:
            url = self.pages[file] + mark + place
        elif file and not re.match(r"[a-z]+:", file) and file not in self.pages.values():
            if not (Path(self.path) / file).exists():
                raise PageError(f"it links to {url}, which is not in {Path(self.path).resolve()}")
            # the reader of a page has no such file: tell where it would be
            return f"{text} (<code>{escape(url.removeprefix('../'))}</code>)"
        return super().link(text, url, title)


def html(text: str, pages: Mapping[str, str] | None = None, **more: Any) -> str:
    """Markdown as HTML, formulas as MathML; pages: as of `export`, more: as of `Renderer`."""
    return MarkdownWithMath(renderer=Renderer(pages or {}, **more)).render(text)


def folded(html: str, cell: NotebookNode, part: str) -> str:
    """The HTML of a cell's code or outputs, behind words that open it where JupyterLab folds it."""
    if not cell.metadata.get("jupyter", {}).get(part):
        return html
    tag, here, elsewhere = OPENS[part]
    words = here if tag in cell.metadata.get("tags", ()) else elsewhere
    return f'<details class="cell-part"><summary>{words}</summary>\n{html}\n</details>\n'


class Refresher(Preprocessor):
    """Sliders of stored outputs with the style and the script of this version; no covers."""

    def preprocess_cell(self, cell, resources, index):
        folded_outputs.uncovered(cell)
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if "calibkit-explorer" in data.get("text/html", ""):
                data["text/html"] = refreshed(data["text/html"])
        return cell, resources


class Exporter(HTMLExporter):
    """A page that loads nothing; `pages` says which page stands for which file."""

    def __init__(self, pages: Mapping[str, str], **options):
        self.pages = pages
        super().__init__(**options)
        self.register_filter("folded", folded)
        # a line printed in two pieces may be stored as two outputs; JupyterLab joins them too
        self.register_preprocessor(CoalesceStreamsPreprocessor, enabled=True)
        self.register_preprocessor(Refresher, enabled=True)

    @pass_context
    def markdown2html(self, context, source):
        path = context["resources"]["metadata"]["path"]
        attachments = context.get("cell", {}).get("attachments")
        return html(source, self.pages, path=path, attachments=attachments)
