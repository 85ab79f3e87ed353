"""Pages from templates: one environment, which escapes whatever is not HTML, and one policy."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

FOLDER, SITE = (Path(__file__).parent / name for name in ("templates", "site"))
TEMPLATES = Environment(
    loader=FileSystemLoader([FOLDER, SITE, SITE / "templates"]),
    autoescape=select_autoescape(),  # of HTML
    undefined=StrictUndefined,
    trim_blocks=True,
)


def render(template: str, script: str = "", **words: Any) -> str:
    """The page that a template of `templates` or of the site makes of the words.

    script: the one script that the page may run. Words are escaped; HTML is passed as `Markup`, or
    marked as `safe` in the template.
    """
    return TEMPLATES.get_template(template).render(policy=policy(script), script=script, **words)


def policy(script: str = "", style: str | None = None) -> str:
    """The content-security policy of a page of one file: it loads nothing and sends nothing.

    script: the only one that may run, also as a worker made of a Blob; without one none may. style:
    the only style sheet; None where elements have styles of their own, as outputs of notebooks do.

    >>> policy()
    "default-src 'none'; img-src data: blob:; font-src data:; style-src 'unsafe-inline'; base-uri \
'none'; form-action 'none'"
    """
    styles = "'unsafe-inline'" if style is None else _digest(style)
    allowed = ["default-src 'none'", "img-src data: blob:", "font-src data:", f"style-src {styles}"]
    allowed += [f"script-src {_digest(script)}", "worker-src blob:"] if script else []
    return "; ".join([*allowed, "base-uri 'none'", "form-action 'none'"])


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
