"""Every handout prints on one A4 page, with figures that can be read."""

import re

from calibkit.classroom import handouts
from tests.browser.drive import watched

READABLE = 150  # pixels of a figure's height, 4 cm on paper


def test_each_is_one_page(browser, build):
    written = handouts.write(build / "handouts")
    for path in written:
        with watched(browser, width=794) as (page, seen):
            page.goto(path.as_uri())
            printed = page.pdf(prefer_css_page_size=True)
            assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1, path.stem
            over = page.evaluate("document.body.scrollHeight - document.body.clientHeight")
            assert over <= 0, path.stem
            heights = page.evaluate("[...document.images].map(image => image.clientHeight)")
            assert min(heights) >= READABLE, (path.stem, heights)
            assert seen == []
    assert len(written) > 10
