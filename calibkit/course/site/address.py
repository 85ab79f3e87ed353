"""Where the site and the code are found: two lines of pyproject.toml, placeholders until then."""

from __future__ import annotations

import tomllib
from urllib.parse import urlsplit

from calibkit.course import checkout

PLACEHOLDER = ".example"  # a name that no real address ends with


def site() -> str:
    """The address of the site, with a slash at its end: `Homepage` of pyproject.toml."""
    return f"{_urls()['Homepage'].rstrip('/')}/"


def code() -> str:
    """Where "Code" leads: the repository, or the site's own page where there is none yet."""
    repository = _urls()["Repository"]
    host = urlsplit(repository).hostname or ""
    return "api.html" if host.endswith(PLACEHOLDER) else repository


def _urls() -> dict[str, str]:
    text = (checkout.root() / "pyproject.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["project"]["urls"]
