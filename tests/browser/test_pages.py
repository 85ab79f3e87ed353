"""The exported pages, opened from their files without a network."""

import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

from calibkit.course import checkout, pages
from tests.browser import axe
from tests.browser.drive import EVERY_PAGE, UNFOLD, sliders_in, visit_page, watched
from tests.course.test_pages import PROOF, hostile

NOTEBOOKS = sorted((checkout.root() / "notebooks").glob("*.ipynb"))
TEXTS = ["index", *sorted(path.stem for path in (checkout.root() / "notebooks").glob("*.md"))]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_page_works_from_its_file(browser, exported, build, remember, notebook):
    visit = visit_page(browser, exported / f"{notebook.stem}.html", build)
    remember(visit.walks)
    assert visit.complaints == []
    assert len(visit.walks) == sliders_in(notebook)


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_page_works_from_its_file(browser, exported, build, name):
    assert visit_page(browser, exported / f"{name}.html", build).complaints == []


CLIPPED = """() => [...document.querySelectorAll('.jp-Cell pre')]
  .filter(code => code.scrollWidth > code.clientWidth + 1).length"""


@pytest.mark.parametrize("width", [1366, 390])
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_axe_finds_nothing_wrong_and_no_line_of_code_is_clipped(
    browser, exported, build, notebook, width
):
    script = axe.script(build.parent / "axe")
    if script is None:
        pytest.skip("axe-core is not here and npm cannot fetch it; set CALIBKIT_AXE to axe.min.js")
    with watched(browser, width=width) as (page, _):
        page.goto((exported / f"{notebook.stem}.html").as_uri())
        page.evaluate(UNFOLD)
        for media in ("print", "screen"):
            page.emulate_media(media=media)
            assert page.evaluate(CLIPPED) == 0
        if width > 390 or EVERY_PAGE:
            page.evaluate(axe.FEW_TOKENS)
            assert axe.violations(page, page.locator("html"), script, axe.EVERY) == []


FORMULAS = rf"""# Formulas: $\hat p_k$ in a heading

Inline: $\mathrm{{ECE}} = \sum_{{m=1}}^M \frac{{|B_m|}}{{n}} |\mathrm{{acc}}(B_m) - c_m|$, $p < q$.
{PROOF}

$$
\gamma(\hat p) = \begin{{cases}} 5 & \text{{if }} \hat p < 0.2, \\ 3 & \text{{otherwise}}
\end{{cases}} \qquad
\frac{{\partial \mathcal{{L}}_f}}{{\partial \mathbf{{w}}}}
= g(\hat p, \gamma) \frac{{\partial \mathcal{{L}}_c}}{{\partial \mathbf{{w}}}} \tag{{2}}
$$

| in a table | $q_k$ |
|---|---|
| $\sqrt{{n}}$ | $\lambda \sim \mathrm{{Beta}}(\alpha, \alpha)$ |

<details><summary>Why is $\gamma^*(p_0) \ge 0$?</summary>

Because $\displaystyle \lim_{{p \to 0^+}} p \log p = 0$.

</details>
"""


def test_formulas_are_drawn_without_a_network(browser, build):
    path = build / "formulas.html"
    path.write_text(
        pages.export(new_notebook(cells=[new_markdown_cell(FORMULAS)])), encoding="utf-8"
    )
    assert path.read_text(encoding="utf-8").count("<math") == 10
    assert visit_page(browser, path, build).complaints == []


def test_a_bracket_grows_with_what_it_holds(browser, build):
    text = "$\\left(x\\right)$\n\n$$\\left(\\frac{\\frac{a}{b}}{\\frac{c}{d}}\\right)$$"
    path = build / "brackets.html"
    path.write_text(pages.export(new_notebook(cells=[new_markdown_cell(text)])), encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    height = (
        "all => all.filter(o => o.textContent == '(').map(o => o.getBoundingClientRect().height)"
    )
    small, large = page.eval_on_selector_all("mo", height)
    page.close()
    assert large > 1.8 * small


def test_a_page_of_a_hostile_notebook_runs_and_loads_nothing(browser, build):
    path = build / "hostile.html"
    path.write_text(
        pages.export(hostile()).replace(pages.POLICY, ""), encoding="utf-8"
    )  # bleach's work alone
    page, seen = browser.new_page(), []
    page.on("dialog", lambda dialog: (seen.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: seen.append(request.url))
    page.goto(path.as_uri())
    for link in page.locator("main a").all():
        link.click()
    page.close()
    assert [url for url in seen if not url.startswith((path.as_uri(), "data:image/"))] == []
