"""The course as one file to download, for those who found its site and not its repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

from calibkit.course import checkout

NAME = "calibkit.zip"
COMMAND = ("git", "archive", "--format=zip", "--prefix=calibkit/", "HEAD")


def write(folder: Path) -> str:
    """The committed course as a zip in `folder`; a paragraph that links it.

    An empty text, and no file, where the course is no git checkout or there is no git: then
    nobody knows which of its files belong to it.
    """
    try:
        done = subprocess.run(COMMAND, cwd=checkout.root(), capture_output=True, check=False)
    except FileNotFoundError:
        return ""
    if done.returncode:
        return ""
    (folder / NAME).write_bytes(done.stdout)
    return (
        f'<p class="here"><a href="{NAME}">Download the course</a> ({len(done.stdout) / 1e6:.0f} '
        f"MB): unpacked, it is the folder in which the commands of this page are typed.</p>"
    )
