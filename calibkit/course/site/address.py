"""Where site, code and course are had: `[project.urls]` of pyproject.toml, or where one publishes.

There is one place to write an address down, `Homepage` and `Repository` there; whoever publishes
from a repository of their own has both from it, as CALIBKIT_SITE and CALIBKIT_REPOSITORY.
"""

from __future__ import annotations

import os
import subprocess
import tomllib
from pathlib import Path

from calibkit.course import checkout

DOWNLOAD = "calibkit.zip"
ARCHIVE = ("git", "archive", "--format=zip", "--prefix=calibkit/", "HEAD")


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


def download(folder: Path) -> str:
    """Write the committed course as a zip into `folder`; a paragraph that links it.

    An empty text, and no file, where the course is no git checkout or there is no git: then
    nobody knows which of its files belong to it.
    """
    try:
        done = subprocess.run(ARCHIVE, cwd=checkout.root(), capture_output=True, check=False)
    except FileNotFoundError:
        return ""
    if done.returncode:
        return ""
    (folder / DOWNLOAD).write_bytes(done.stdout)
    size = f"{len(done.stdout) / 1e6:.0f} MB"
    return (
        f'<p class="here"><a href="{DOWNLOAD}">Download the course</a> ({size}): unpacked, it is '
        "the folder in which the commands of this page are typed.</p>"
    )


def _urls() -> dict[str, str]:
    text = (checkout.root() / "pyproject.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["project"].get("urls", {})
