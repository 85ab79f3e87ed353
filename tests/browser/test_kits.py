"""Slides of the kits in a browser: keys, notes, nothing cut off, a page each in print, links."""

import re

import pytest

from calibkit.course.classroom import kits

CUT = """() => {
  const slide = document.querySelector('.slide.now'), box = slide.getBoundingClientRect();
  return [...slide.querySelectorAll('.shown > *, .shown img, .shown .formula')]
    .filter(part => part.getBoundingClientRect().bottom > box.bottom + 1
      || part.scrollWidth > part.clientWidth + 1 && part.tagName !== 'A')
    .map(part => part.outerHTML.slice(0, 80));
}"""
PRINTED = """() => [...document.querySelectorAll('.slide')].filter(slide =>
  [...slide.querySelectorAll('.shown > *, .notes > *')].some(part =>
    part.getBoundingClientRect().bottom > slide.getBoundingClientRect().bottom + 1))
  .map(slide => slide.id)"""
SMALL = """() => [...document.querySelectorAll('.slide.now .shown img')]
  .filter(image => image.getBoundingClientRect().height < 0.25 * innerHeight).length"""
SCREENS = [{"width": 1366, "height": 768}, {"width": 1024, "height": 768}]


@pytest.fixture(scope="module")
def made(build):
    for name in kits.names():
        (build / "kits" / name).mkdir(parents=True)
        for file, text in kits.read(name).pages.items():
            (build / "kits" / name / file).write_text(text, encoding="utf-8")
    return build / "kits"


def current(page):
    return page.locator(".slide.now").get_attribute("id")


@pytest.mark.parametrize("name", kits.names())
def test_slides(visit, made, name, accessible):
    page = visit(made / name / "slides.html")
    count = page.locator(".slide").count()
    for screen in SCREENS:
        page.set_viewport_size(screen)
        page.keyboard.press("Home")
        for place in range(1, count + 1):
            assert current(page) == str(place)
            assert page.evaluate(CUT) == [], (place, screen)
            assert page.evaluate(SMALL) == 0, (place, screen)
            page.keyboard.press("ArrowRight")
        assert current(page) == str(count)  # it stays at the end
    page.keyboard.press("PageUp")
    page.wait_for_function("place => location.hash === place", arg=f"#{count - 1}")
    page.reload()
    assert current(page) == str(count - 1)
    assert page.locator(".slide.now .notes").is_hidden()
    page.keyboard.press("Home")
    with page.expect_popup() as opened:
        page.keyboard.press("n")
    notes = opened.value
    assert page.locator(".slide.now .notes").is_hidden()  # the room does not see them
    assert notes.locator("h2").inner_text().startswith("1. ")
    assert len(notes.locator("body").inner_text()) > 80
    notes.keyboard.press("ArrowRight")
    assert current(page) == "2"
    assert notes.locator("h2").inner_text().startswith("2. ")
    notes.close()
    page.keyboard.press("ArrowRight")
    assert current(page) == "3"
    if name == kits.names()[0]:  # all are made alike
        accessible(page)
    printed = page.pdf(prefer_css_page_size=True, print_background=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == count
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 1123, "height": 631})
    assert page.evaluate(PRINTED) == []


def test_links_to_the_playground_are_settings_that_it_has(visit, made):
    """Each address is what the page itself would write for the settings that it reads there."""
    links = {
        link.replace("&amp;", "&")
        for name in kits.names()
        for link in re.findall(
            r"play\.html(#[^\"]+)", (made / name / "slides.html").read_text(encoding="utf-8")
        )
    }
    assert len(links) >= 7
    page = visit(made / kits.names()[0] / "play.html")
    again = page.evaluate("l => l.map(h => calibkit.toHash(calibkit.fromHash(h)))", [*links])
    for link, own in zip(links, again, strict=True):
        assert {*link[1:].split("&")} == {*own[1:].split("&")}
