"""Your own reliability diagram: a page that asks a reader, and collects the files of a class.

It is put together as the other pages that compute in the browser. Its questions are
own/questions.json; own/network.json has what the network of lesson 00 said on its test images, in
ten bins from 0 to 1.
"""

from __future__ import annotations

import json
from typing import Any

from calibkit.course import browser

HOME = browser.HERE / "own"


def page(home: str = "") -> str:
    """The page as one HTML file. home: HTML of a link back to where the page belongs.

    >>> "connect-src" in page(), len(page()) < 60_000
    (False, True)
    """
    network = json.loads((HOME / "network.json").read_text(encoding="utf-8"))
    return browser.page("own", {"questions": questions(), "network": network}, home)


def questions() -> list[dict[str, Any]]:
    """The questions: id, text, two options, which is right (0 or 1), why, and a source."""
    return json.loads((HOME / "questions.json").read_text(encoding="utf-8"))
