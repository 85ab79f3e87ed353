"""The exported pages, opened from their files without a network."""

import pytest

from calibkit.course import checkout, pages
from tests.browser import axe
from tests.browser.drive import EVERY_PAGE, of_each_kind, sliders_in, visit_page
from tests.course.test_pages import hostile

NOTEBOOKS = sorted((checkout.root() / "notebooks").glob("*.ipynb"))
TEXTS = ["index", *sorted(path.stem for path in (checkout.root() / "notebooks").glob("*.md"))]


CLIPPED = """() => [...document.querySelectorAll('.jp-Cell pre')]
  .filter(code => code.scrollWidth > code.clientWidth + 1).length"""


def readable(accessible, notebook):
    """Asked of a page on a laptop and a telephone, and in print."""

    def readable(page):
        for width in (1366, 390):
            page.set_viewport_size({"width": width, "height": 1000})
            for media in ("print", "screen"):
                page.emulate_media(media=media)
                assert page.evaluate(CLIPPED) == 0
        page.evaluate(axe.FEW_TOKENS)
        for width in (390, 1366) if EVERY_PAGE else (1366,) if of_each_kind([notebook]) else ():
            page.set_viewport_size({"width": width, "height": 1000})
            accessible(page)

    return readable


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_page_works_from_its_file(browser, exported, accessible, notebook):
    path = exported / f"{notebook.stem}.html"
    visit = visit_page(browser, path, also=readable(accessible, notebook))
    assert visit.complaints == []
    assert len(visit.walks) == sliders_in(notebook)


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_page_works_from_its_file(browser, exported, name):
    assert visit_page(browser, exported / f"{name}.html").complaints == []


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
