"""Per cent as a reader meets it: 93 %, with a space at which no line breaks."""

from __future__ import annotations

import re

# code, formulas and tags are left alone; so is what only looks like per cent, as in a%20b
FOUND = re.compile(
    r"(?s)<(?P<tag>script|style|pre|code|math)\b.*?</(?P=tag)\s*>|<[/!a-zA-Z][^>]*>"
    r"|(?<=\d)[ \u00a0]?%(?!\w)"
)


def spaced(text: str) -> str:
    """Words, or HTML with its words, in which each per cent has the same space.

    What runs print is written as Python writes it, with or without a space; whatever shows it to a
    reader passes it through here.

    >>> spaced('<p title="4%">5% or 6 %, <code>7%</code></p>').replace("\\u00a0", "_")
    '<p title="4%">5_% or 6_%, <code>7%</code></p>'
    """
    return FOUND.sub(lambda found: found[0] if found[0][0] == "<" else "\u00a0%", text)
