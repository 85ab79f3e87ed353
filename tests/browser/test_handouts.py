"""Every handout prints on one A4 page, with figures that can be read."""

import re

from calibkit.course.classroom import handouts

READABLE = 150  # pixels of a figure's height, 4 cm on paper; a strip is less high at full width
SIZES = """[...document.images].map(image => [
  image.clientHeight, image.clientWidth / document.body.clientWidth])"""


def test_each_is_one_page(visit, build):
    written = handouts.write(build / "handouts")
    for path in written:
        page = visit(path, width=794)
        printed = page.pdf(prefer_css_page_size=True)
        assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1, path.stem
        over = page.evaluate("document.body.scrollHeight - document.body.clientHeight")
        assert over <= 0, path.stem
        shown = page.evaluate(SIZES)
        small = [one for one in shown if one[0] < READABLE and one[1] < 0.99]
        assert small == [], path.stem
    assert len(written) > 10
