"""Where the site and the code are found: two lines of pyproject.toml, placeholders until then."""

from __future__ import annotations

import tomllib
from urllib.parse import urlsplit

from calibkit.course import checkout

PLACEHOLDER = ".example"  # a name that no real address ends with


def site() -> str:
    """The address of the site, with a slash at its end: `Homepage` of pyproject.toml."""
    return f"{_urls()['Homepage'].rstrip('/')}/"


def code() -> dict[str, str]:
    """A button's words and link: to the repository, or where there is none yet to the package."""
    repository = _urls()["Repository"]
    host = urlsplit(repository).hostname or ""
    if host.endswith(PLACEHOLDER):
        return {"words": "The package", "link": "api.html"}
    return {"words": "Code", "link": repository}


def _urls() -> dict[str, str]:
    text = (checkout.root() / "pyproject.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["project"]["urls"]
