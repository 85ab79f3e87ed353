"""The web site, opened from its files: light, whole, and usable by everyone."""

from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from calibkit.course import site
from tests.browser import axe
from tests.browser.drive import EVERY_PAGE, UNFOLD, Visit, dead_links, walk_all, watched

WIDE, NARROW = {"width": 1366, "height": 768}, {"width": 390, "height": 844}
WEIGHT = 500_000  # bytes of the landing page with all that it loads
# one page of each kind: what all pages of a kind share is judged there
KINDS = (
    "index.html",
    "08_temperature.html",
    "findings.html",
    "verdicts.html",
    "sliders.html",
    "sliders_anywhere.html",
    "kit_label_noise_and_temperature.html",
    "kits/label_noise_and_temperature/slides.html",
    "api/calibkit.metrics.html",
    "embed/promise.html",
)
LEGIBLE = 9.5  # pixels of the smallest words of a slider's picture on a telephone

SMALLEST_WORDS = """() => Math.min(...[...document.querySelectorAll('.picture svg text')].map(
  words => parseFloat(getComputedStyle(words).fontSize)
    * Math.hypot(words.getScreenCTM().a, words.getScreenCTM().b)))"""
CLIPPED = """() => [...document.querySelectorAll('article :is(pre, p, li, h1, h2, .picture)')]
  .filter(part => part.clientWidth && part.scrollWidth > part.clientWidth + 1
    && getComputedStyle(part).overflowX !== 'auto'
    && getComputedStyle(part).display !== 'inline').map(part => part.textContent.slice(0, 60))"""
TOO_WIDE = "() => document.documentElement.scrollWidth - innerWidth"
# of each slider its width, and that of its row, in which Play alone may stand beside it
SLIDERS = """() => [...document.querySelectorAll('.calibkit-explorer input[type=range]')]
  .map(part => {
    const box = part.getBoundingClientRect();
    const play = part.closest('.calibkit-explorer').querySelector('.play:not([hidden])');
    const beside = play?.getBoundingClientRect();
    const shared = beside && beside.top < box.bottom && beside.bottom > box.top;
    return [box.width, (shared ? beside.right : box.right) - box.left];
  }).filter(([width]) => width)"""
FOCUSED = """() => ({label: document.activeElement.getAttribute('aria-label'),
  drawer: Boolean(document.activeElement.closest('.sidebar-drawer, .toc-drawer'))})"""
CLOSED = (
    """() => getComputedStyle(document.querySelector('.sidebar-drawer')).visibility === 'hidden'"""
)


@pytest.fixture(scope="session")
def made(build):
    return site.build(build / "site").parent


@pytest.fixture(scope="session")
def names(made):
    """Every page of the site, by its path."""
    return sorted(str(path.relative_to(made)) for path in made.rglob("*.html"))


@pytest.mark.parametrize("screen", [WIDE, NARROW], ids=["wide", "narrow"])
def test_the_landing_page_says_what_it_is_and_starts_something_within_one_screen(
    visit, made, screen
):
    page = visit(made / "index.html", **screen)
    page.locator(".hero .picture svg").first.wait_for()
    answers = ("readout", "picture > svg:first-child", "picture > svg:last-of-type")
    shown = [f".hero .{part}" for part in answers] if screen is WIDE else []
    for part in ("h1", ".lead", ".actions", *shown):
        box = page.locator(f".content {part}").first.bounding_box()
        assert box["y"] + box["height"] <= screen["height"], part
    words = page.locator(".lead").inner_text()
    assert "JupyterLab" in words
    assert "PyTorch" in words
    links = [link.get_attribute("href") for link in page.locator(".actions a").all()]
    assert links[:3] == ["00_start_here.html", "play.html", "class_guide.html"]
    assert len(links) == 4
    assert page.locator("head meta[name=description]").count() == 1
    assert page.locator("head link[rel='shortcut icon']").count() == 1


def test_the_landing_page_is_light(browser, made):
    with watched(browser, **WIDE) as (page, seen):
        loaded = set()
        page.on("request", lambda request: loaded.add(unquote(urlsplit(request.url).path)))
        page.goto((made / "index.html").as_uri())
        page.locator(".hero .picture svg").first.wait_for()
        files = [Path(path) for path in loaded if path.startswith(made.as_posix())]
        assert len(files) > 3
        assert sum(file.stat().st_size for file in files) <= WEIGHT
        assert seen == []


def test_every_slider_of_the_landing_page_moves(visit, made):
    page, done = visit(made / "index.html", **WIDE), Visit()
    page.locator(".picture svg").first.wait_for()
    walk_all(page, done)
    assert len(done.walks) == 5
    assert done.complaints == []


def test_every_link_leads_somewhere(made, names):
    assert {name: dead for name in names if (dead := dead_links(made / name))} == {}


def test_search_finds_a_lesson_without_a_network(visit, made):
    page = visit(made / "index.html")
    page.get_by_role("textbox", name="Search").fill("memorised")
    page.keyboard.press("Enter")
    page.locator("#search-results a").first.wait_for()
    hits = page.locator("#search-results a").evaluate_all("all => all.map(a => a.href)")
    assert any("06_label_noise.html" in hit for hit in hits)
    marked = page.locator("#search-results li", has_text="06 · ").locator(".context mark")
    assert marked.first.inner_text().lower() == "memorised"
    page.locator("#search-results a").first.click()
    page.locator("article h1").wait_for()


def test_a_verdict_leads_to_the_cell_that_printed_it(visit, made):
    page = visit(made / "verdicts.html")
    page.locator("details.verdicts > summary").first.click()
    first = page.locator("table.verdicts tbody tr").first
    statement = first.locator("a").inner_text()
    first.locator("a").click()
    target = page.locator(".verdict:target")
    target.wait_for()
    assert statement in target.inner_text()


def test_a_reader_jumps_over_the_navigation_and_goes_on_to_the_next_lesson(visit, made):
    page = visit(made / "06_label_noise.html", **WIDE)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.innerText") == "Skip to content"
    page.wait_for_function("document.activeElement.getBoundingClientRect().top >= 0")
    assert page.locator(".related-pages a.prev-page").get_attribute("href").startswith("05_")
    assert page.locator(".related-pages a.next-page").get_attribute("href").startswith("07_")
    contents = page.locator(".toc-tree a")
    assert contents.count() > 8
    last = page.locator("article h2").last
    last.scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    assert page.locator(".toc-tree .scroll-current").count() > 0  # the list follows


@pytest.mark.parametrize("name", ["index", "08_temperature"])
def test_on_a_narrow_screen_the_menu_is_reached_by_keys_and_a_closed_one_is_not(visit, made, name):
    page = visit(made / f"{name}.html", width=683, height=384)
    met = []
    for _ in range(8):
        page.keyboard.press("Tab")
        met.append(page.evaluate(FOCUSED))
    assert [where for where in met if where["drawer"]] == []
    assert "All pages" in [where["label"] for where in met]
    page.locator("button.nav-overlay-icon").focus()
    page.keyboard.press("Enter")
    assert page.evaluate(FOCUSED)["drawer"]
    assert page.locator("button[aria-expanded=true]").count() == 1
    page.keyboard.press("Escape")
    assert page.evaluate(FOCUSED)["label"] == "All pages"
    assert page.locator("button[aria-expanded=true]").count() == 0
    page.wait_for_function(CLOSED)


def test_every_page_fits_a_telephone_and_one_of_each_kind_is_open_to_everyone(
    visit, made, names, faults
):
    """Pages of one kind have one frame and one sheet of colours; what they hold differs."""
    assert set(KINDS) <= set(names)
    page, found = visit(made / "index.html"), {}
    for name in names:
        page.emulate_media(media="screen", color_scheme="light")
        page.set_viewport_size(WIDE)
        page.goto((made / name).as_uri())
        page.evaluate(UNFOLD)
        found[name] = []
        if EVERY_PAGE or name in KINDS:
            page.evaluate(axe.FEW_TOKENS)
            found[name] += faults(page)
        page.set_viewport_size(NARROW)
        found[name] += cramped(page)
        if name in KINDS:
            found[name] += faults(page, None, axe.EVERY_BUT_COLOURS)
            page.emulate_media(color_scheme="dark")
            found[name] += faults(page, None, axe.COLOURS)
        page.emulate_media(media="print", color_scheme="light")
        found[name] += page.evaluate(CLIPPED)
        if page.locator(".skip-to-content:visible").count():
            found[name].append("the link to the content is printed")
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def cramped(page):
    """What a telephone cuts off or shows too small."""
    problems = page.evaluate(CLIPPED)
    if page.evaluate(TOO_WIDE) > 0:
        problems.append("the page is wider than the screen")
    wide = NARROW["width"]
    problems += [
        f"a slider of {own:.0f} pixels in a row of {row:.0f}"
        for own, row in page.evaluate(SLIDERS)
        if own < wide * 0.64 or row < wide * 0.8
    ]
    if page.locator(".picture svg text").count():
        smallest = page.evaluate(SMALLEST_WORDS)
        problems += [f"words of {smallest:.1f} pixels"] if smallest < LEGIBLE else []
    return problems
