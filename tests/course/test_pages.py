"""Exported pages: formulas, links, and nothing that a page would have to load."""

import json
import re
from xml.etree import ElementTree

import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import (
    new_code_cell,
    new_markdown_cell,
    new_notebook,
    new_output,
    new_raw_cell,
    writes,
)

from calibkit import __main__
from calibkit.course import execution, pages
from calibkit.course.explorers import Explorer, Frame, Slider

PROOF = r"""
\begin{align}
\mathcal{L}_f &= -\sum_{k=1}^{K} q_k (1 - \hat p_k)^\gamma \log \hat p_k \tag{1} \\
&\ge \mathrm{KL}(q \,\|\, \hat p) + H[q] - \gamma\, H[\hat p] \\
&= \mathbb{E}_{k \sim q}\bigl[ -\log \hat p_k \bigr] - \gamma\, H[\hat p].
\end{align}"""


SCRIPT = "<script>alert(1)</script>"
DRAWING = f'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)">{SCRIPT}</svg>'
HOSTILE_TEXTS = [
    f"# A {SCRIPT} heading <img src=x onerror=alert(1)>",
    "<img src=x onerror=alert(1)>",
    "[a](javascript:alert(1)) <a href='javascript&colon;alert(1)'>b</a> [c](data:text/html,x)",
    "<a href=' java\tscript:alert(1)'>a</a> <a href='//x.org/y'>b</a> <a href='file:///x'>c</a>",
    "<details open ontoggle=alert(1)><summary>s</summary></details>",
    f"<iframe srcdoc='{SCRIPT}'></iframe><object data=x></object><embed src=x>",
    "<form action=http://x.org><input name=word></form><base href=http://x.org/>",
    "<meta http-equiv=refresh content='0;url=http://x.org'><link rel=stylesheet href=http://x.org>",
    DRAWING,
    "<svg><style><img src=x onerror=alert(1)></style></svg>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--><img src=1 onerror=alert(1)>'>",
    "<math href='javascript:alert(1)'><mi>x</mi></math>",
    "<p style='background: url(http://x.org/a); position: fixed'>x</p>",
    "![x](https://x.org/x.png) <img src='file:///etc/hostname'> <img srcset='http://x.org/a 1x'>",
    "![x](attachment:a)",
    r"$\text{<img src=x onerror=alert(1)>}$",
    f"</main></body></head>{SCRIPT}",
    "<!-- x --!><img src=x onerror=alert(1)>",
    f"```mermaid\n</pre>{SCRIPT}\n```",
    f'```x">{SCRIPT}\nfoo\n```',
]
HOSTILE_OUTPUTS = [
    {"text/html": f"<b>kept</b>{SCRIPT}<img src=x onerror=alert(1)>"},
    {"application/javascript": "alert(1)"},
    {"image/svg+xml": DRAWING},
    {"text/markdown": SCRIPT + DRAWING},
    {"text/latex": SCRIPT},
    {"text/vnd.mermaid": "</pre>" + SCRIPT},
    {"image/png": 'AAAA" onerror="alert(1)'},
    {"text/plain": SCRIPT},
]


def hostile():
    """A notebook that tries to run a script, or to load something, wherever it can."""
    notebook = new_notebook(cells=[new_markdown_cell(text) for text in HOSTILE_TEXTS])
    attached = {"a": {'image/png" onerror="alert(1)': "AAAA"}}
    notebook.cells[HOSTILE_TEXTS.index("![x](attachment:a)")]["attachments"] = attached
    outputs = [new_output("display_data", data) for data in HOSTILE_OUTPUTS]
    outputs += [
        new_output("stream", text=SCRIPT),
        new_output("error", ename=SCRIPT, evalue=SCRIPT, traceback=[SCRIPT]),
    ]
    code = new_code_cell(f"x = '{SCRIPT}'", outputs=outputs)
    code.metadata.tags = ['"onclick="alert(1)']
    raw = new_raw_cell(SCRIPT)
    raw.metadata.raw_mimetype = "text/html"
    notebook.cells += [code, raw]
    notebook.metadata.title = f"</title>{SCRIPT}"
    return notebook


def live(html):
    """What of a page would run or load something: elements, attributes, addresses."""
    soup = BeautifulSoup(html, "html.parser")
    strange = {tag.name for tag in soup.body.find_all(True)} - {*pages.TAGS.split()}
    strange |= {tag.name for tag in soup.head.find_all(True)} - {"meta", "title", "style"}
    for tag in soup.find_all(True):
        strange |= {name for name in tag.attrs if name.startswith("on") or name == "srcset"}
        address = tag.attrs.get("href", tag.attrs.get("src", "#"))
        if not re.match(r"#|https?:|data:image/[a-z+]+;base64,|[\w.%-]+\.html", address):
            strange.add(address)
        if tag.name == "img" and "src" in tag.attrs and not address.startswith("data:"):
            strange.add(address)
        if "url(" in tag.attrs.get("style", "") or "position" in tag.attrs.get("style", ""):
            strange.add(tag["style"])
    return strange


def page_of(text, **options):
    return pages.export(new_notebook(cells=[new_markdown_cell(text)]), **options)


def maths(html):
    return re.findall(r"<math.*?</math>", html, re.DOTALL)


@pytest.mark.parametrize("tex", [
    r"\mathrm{ECE} = \sum_{m=1}^{M} \frac{|B_m|}{n} \left| \mathrm{acc}(B_m) - c \right|",
    r"f(x) = \begin{cases} 5 & \text{if } \hat p < 0.2, \\ 3 & \text{otherwise} \end{cases}",
    r"\frac{\partial \mathcal{L}}{\partial \mathbf{w}}, \quad \boldsymbol{\theta}^\top x",
    r"\arg\min_{p \in \Delta^{K-1}} \max_k p_k, \quad \operatorname*{arg\,max}_{\theta}",
    r"\underbrace{-\sum_k q_k \log p_k}_{\text{cross-entropy}} \;\ge\; \overbrace{H[q]}^{h}",
    r"\begin{pmatrix} 1-\eta & \eta \\ \eta & 1-\eta \end{pmatrix}",
    r"\gamma^*(p_0) = \frac{1}{\log a} W_{-1}\!\left( -\frac{a^{(1 - a/b)}}{b} \log a \right)",
    r"\widehat{\mathrm{ECE}} \iff \forall \varepsilon > 0, \quad \Bigl\{x\Bigr\}",
    PROOF,
])  # fmt: skip
def test_the_formulas_of_the_course_become_mathml(tex):
    written = pages.formula(tex, display=True)
    root = ElementTree.fromstring(written)
    assert root.find("math").get("display") == "block"
    assert not re.search(r"[\\&$]", "".join(root.itertext()))  # no TeX is left over


@pytest.mark.parametrize(("tex", "numbers"), [
    (r"x = 1", []),
    (r"x = 1 \tag{2}", ["(2)"]),
    (r"\begin{equation} a \tag{A} \end{equation}", ["(A)"]),
    (r"\begin{align} a &= b \\ &= c \\ &= d \tag{8} \end{align}", ["(8)"]),
    (r"\begin{aligned} a &= b \\ &= c \end{aligned} \tag{9}", ["(9)"]),
])  # fmt: skip
def test_only_what_has_a_tag_is_numbered(tex, numbers):
    assert re.findall(r"<mtext>(\(.*?\))</mtext>", pages.formula(tex, display=True)) == numbers


@pytest.mark.parametrize("tex", [r"\frac{1}", r"\nonsense x", r"\left( x", "x & y"])
def test_a_formula_that_cannot_be_read_is_refused_with_its_text(tex):
    with pytest.raises(pages.PageError, match=re.escape(tex)):
        pages.formula(tex)


@pytest.mark.parametrize(("text", "count"), [
    ("an inline $x_1 < y_1$ one", 1),
    ("$$\na = b\n$$", 1),
    (PROOF.strip(), 1),
    ("| a | $x$ |\n|---|---|\n| **$y$** | $z_*$ and $w_*$ |", 4),
    ("# On $\\gamma$", 1),
    ("<details><summary>Why is $p < q$ and `$5`?</summary>\n\nAs $q > p$.\n\n</details>", 2),
    ("<details><summary>Why is $p &lt; q$?</summary>\n\n</details>", 1),
    ("`$HOME` and `$PATH`", 0),
    ("```sh\necho $HOME $PATH\n```", 0),
    ("that costs \\$5 or \\$6", 0),
])  # fmt: skip
def test_formulas_are_found_where_they_stand(text, count):
    html = page_of(text)
    assert len(maths(html)) == count
    assert "$$" not in html


def test_a_folded_solution_stays_folded_and_a_heading_can_be_linked_to():
    text = "<details><summary>Hint</summary>\n\nthe $x$ answer\n\n</details>\n\nafter"
    folded = re.search(r"<details>(.*)</details>(.*)", page_of(text), re.DOTALL)
    assert "answer" in folded[1]
    assert "after" in folded[2]
    assert re.search(r'<h2 id="[^"]*arg[^"]*">', page_of("## $\\arg\\min_p p$ again"))


def test_a_page_loads_nothing_and_sliders_need_trust():
    """Without trust a slider leaves its first picture."""
    explorer = Explorer(
        lambda n: Frame((f"<svg>{n}</svg>",), f"read {n}"), Slider("n", [1, 2]), description="words"
    )
    figure = new_output("display_data", {"image/png": "iVBORw0KGgo=", "text/plain": "Figure"})
    slider = new_output("display_data", {"text/html": explorer.html()})
    cells = [new_markdown_cell("# A $x$"), new_code_cell("x = 1", outputs=[figure, slider])]
    html, safe = (pages.export(new_notebook(cells=cells), trust=trust) for trust in (True, False))
    assert not re.search(r"""(src|srcset)\s*=\s*["'](?!data:)|<link|@import|url\(["']?http""", html)
    assert not re.search(r"import\(|from ['\"]http|fetch\(|XMLHttpRequest", html)
    assert 'class="calibkit-explorer"' in html
    assert pages.DRAWN_ABOVE in html
    assert "<script>" in html
    assert live(safe) == set()
    assert re.search(r'<img alt="" src="data:image/svg\+xml;base64,', safe)
    for told in ("read 1", "words"):
        assert told in safe
    assert "DecompressionStream" not in safe


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two lessons and a text that link to one another."""
    notebooks = tmp_path / "notebooks"
    (notebooks / "source").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    texts = {
        "00_a": "# The *first* `one`\n[next](01_b.ipynb#end), [words](words.md), [up](#up)",
        "01_b": "# Second\n[back](00_a.ipynb), [paper](https://arxiv.org/abs/1), <a@b.org>",
    }
    for name, text in texts.items():
        notebook = new_notebook(cells=[new_markdown_cell(text)])
        (notebooks / f"{name}.ipynb").write_text(writes(notebook), encoding="utf-8")
    (notebooks / "words.md").write_text("# Words\n[first](00_a.ipynb)", encoding="utf-8")
    return notebooks


def links(path):
    found = re.findall(r'<a\b[^>]*\bhref="([^"]+)"', path.read_text(encoding="utf-8"))
    return [link for link in found if not link.startswith("#")]


def test_lessons_link_to_pages(folder):
    written = pages.export_all()
    assert [path.name for path in written] == ["index.html", "00_a.html", "01_b.html", "words.html"]
    assert links(written[0]) == ["00_a.html", "01_b.html", "words.html"]
    assert links(written[1]) == ["01_b.html#end", "words.html"]
    assert links(written[2]) == ["00_a.html", "https://arxiv.org/abs/1", "mailto:a@b.org"]
    assert "<title>The first one</title>" in written[1].read_text(encoding="utf-8")


def test_a_file_that_is_no_page_is_named_and_not_linked_to(folder):
    (folder.parent / "README.md").write_text("# Read me", encoding="utf-8")
    (folder / "words.md").write_text(
        "# Words\nsee [the *front*](../README.md#top)", encoding="utf-8"
    )
    html = pages.export_all()[-1].read_text(encoding="utf-8")
    assert "see the <em>front</em> (<code>README.md#top</code>)" in html


def test_the_command_writes_where_it_is_told(folder, tmp_path, capsys):
    target = tmp_path / "handout"
    assert __main__.main(["pages", "01", "--source", str(folder), "--target", str(target)]) == 0
    assert sorted(path.name for path in target.iterdir()) == ["01_b.html"]
    assert "01_b.html" in capsys.readouterr().out


@pytest.mark.parametrize(("text", "says"), [
    ("[gone](07_gone.ipynb)", "07_gone"),
    ("# H\n$\\nonsense$", "nonsense"),
    ("[x](../x.py)", "x.py"),
    ("![x](gone.png)", "gone.png"),
    (None, "02_c"),
])  # fmt: skip
def test_a_page_that_would_not_work_is_refused_by_name(folder, capsys, text, says):
    notebook = new_notebook(cells=[new_markdown_cell(text or "x")])
    if text is None:  # damaged
        notebook.cells[0].id = f'">{SCRIPT}'
    (folder / "02_c.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    assert __main__.main(["pages"]) == 2
    said = capsys.readouterr().err
    assert "02_c" in said
    assert says in said
    assert __main__.main(["pages", "99"]) == 2
    assert "99" in capsys.readouterr().err


def test_a_hostile_notebook_becomes_a_page_that_runs_and_loads_nothing():
    html = pages.export(hostile())
    assert live(html) == set()
    assert "<b>kept</b>" in html
    assert pages.POLICY in html.split("<title>")[0]


def test_other_peoples_notebooks_are_not_trusted_unless_told_so(folder, tmp_path, capsys):
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    notebook = new_notebook(cells=[new_markdown_cell(f"# A\n{SCRIPT}")])
    for place in (folder, theirs):
        (place / "02_c.ipynb").write_text(writes(notebook), encoding="utf-8")
    page = tmp_path / "out" / "02_c.html"
    found = []
    for options in ([], ["--source", str(theirs)], ["--source", str(theirs), "--trust"]):
        assert __main__.main(["pages", "02", "--target", str(page.parent), *options]) == 0
        found.append(SCRIPT in page.read_text(encoding="utf-8"))
    assert found == [True, False, True]


@pytest.mark.parametrize("where", ["../secret.png", "{above}/secret.png", "link.png", "notes.txt"])
def test_no_file_outside_the_folder_and_no_other_kind_is_embedded(folder, tmp_path, where):
    (tmp_path / "secret.png").write_bytes(b"secret")
    (folder / "notes.txt").write_text("secret", encoding="utf-8")
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    with pytest.raises(pages.PageError, match="not a picture in"):
        page_of(f"![x]({where.format(above=tmp_path)})", folder=folder)
    (folder / "dot.png").write_bytes(b"\x89PNG")
    assert 'src="data:image/png;base64,' in page_of("![a dot](dot.png)", folder=folder)


@pytest.mark.parametrize(("tags", "source", "output"), [
    ([], False, False),
    (["answer"], False, True),
    (["drawing"], True, False),
    (["aside"], True, True),
])  # fmt: skip
def test_what_jupyterlab_folds_is_folded_on_pages(tags, source, output):
    printed = new_output("stream", text="the output")
    cell = new_code_cell("the_source", outputs=[printed], metadata={"tags": tags})
    html = pages.export(execution.stripped(new_notebook(cells=[cell])))
    folded = re.findall(r'<details class="cell-part">.*?</details>', html, re.DOTALL)
    for words, hidden in (("the_source", source), ("the output", output)):
        assert words in html
        assert any(words in part for part in folded) == hidden
    assert ("I have predicted" in html) == ("answer" in tags)


def test_rows_of_a_table_without_a_corner_have_headings_and_no_heading_is_empty():
    text = "| | paper |\n|---|---|\n| row | 1 |\n\n| a | b |\n|---|---|\n| c | 2 |"
    tree = BeautifulSoup(pages.export(pages.text_page(text)), "html.parser")
    first, second = (table.select("td, th") for table in tree.select("table"))
    cells = [("td", ""), ("th", "paper"), ("th", "row"), ("td", "1")]
    assert [(cell.name, cell.text) for cell in first] == cells
    assert first[2]["scope"] == "row"
    assert [cell.name for cell in second] == ["th", "th", "td", "td"]
