"""Where the site and the code are found: `[project.urls]` of pyproject.toml, or where they publish.

There is one place to write an address down, `Homepage` and `Repository` there; whoever publishes
from a repository of their own has both from it, as CALIBKIT_SITE and CALIBKIT_REPOSITORY.
"""

from __future__ import annotations

import os
import tomllib

from calibkit.course import checkout


def site() -> str:
    """The address of the site, with a slash at its end; an empty text where it has none."""
    found = os.environ.get("CALIBKIT_SITE") or _urls().get("Homepage", "")
    return f"{found.rstrip('/')}/" if found else ""


def code() -> dict[str, str]:
    """A button's words and link: to the repository, or where there is none yet to the package."""
    found = os.environ.get("CALIBKIT_REPOSITORY") or _urls().get("Repository", "")
    if found:
        return {"words": "Code", "link": found}
    return {"words": "The package", "link": "api.html"}


def _urls() -> dict[str, str]:
    text = (checkout.root() / "pyproject.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["project"].get("urls", {})
