"""What leads to the site, code and course from elsewhere: addresses, a download, the social card.

There is one place to write an address down, `[project.urls]` of pyproject.toml (Homepage and
Repository); whoever publishes from a repository of their own has both from it, as CALIBKIT_SITE and
CALIBKIT_REPOSITORY.
"""

from __future__ import annotations

import os
import subprocess
import tomllib
from pathlib import Path

from calibkit.course import checkout
from calibkit.course.experiments import networks
from calibkit.course.explorers.plane import PLAIN
from calibkit.pictures.palette import ACCURACY, BLACK, CONFIDENCE, DIAGONAL, GREY, OVER

DOWNLOAD = "calibkit.zip"
ARCHIVE = ("git", "archive", "--format=zip", "--prefix=calibkit/", "HEAD")
SIZE = (12.0, 6.3)  # inches at 100 dots each: what the networks that show cards ask for
CARD = "card.png"
CARD_WORDS = (
    "All trained networks of the course: accuracy lost on new data, and confidence above it."
)


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


def download(folder: Path) -> str:
    """Write the committed course as a zip into `folder`; a paragraph that links it.

    An empty text, and no file, where the course is no git checkout or there is no git: then
    nobody knows which of its files belong to it.
    """
    try:
        done = subprocess.run(ARCHIVE, cwd=checkout.root(), capture_output=True, check=True)
    except (FileNotFoundError, subprocess.CalledProcessError):
        return ""
    (folder / DOWNLOAD).write_bytes(done.stdout)
    return (
        f'<p class="here"><a href="{DOWNLOAD}">Download the course</a> '
        f"({len(done.stdout) / 1e6:.0f} MB): unpacked, it is "
        "the folder in which the commands of this page are typed.</p>"
    )


def card(folder: Path, said: int, right: int) -> Path:
    """Draw `card.png` into a folder: all networks of the course, and how sure and right one is.

    said, right: of 100 answers, how many a network says are right, and how many are.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import PercentFormatter

    table = networks.stored()
    figure = Figure(figsize=SIZE, dpi=100, facecolor="#ffffff")
    axes = figure.add_axes((0.55, 0.13, 0.41, 0.78))
    above = table.claimed > 0
    for part, role in ((table[above], OVER), (table[~above], ACCURACY)):
        axes.scatter(part.lost, part.claimed, s=14, color=role.colour, alpha=0.45, linewidths=0)
    top = min(table.lost.max(), table.claimed.max())
    line: dict = {"color": DIAGONAL.colour, "linestyle": (0, (4, 3)), "linewidth": 1.5}
    axes.plot([0, top], [0, top], **line)
    axes.axhline(0, **line)
    axes.set_xlabel("accuracy lost on new data (points)", fontsize=15)
    axes.set_ylabel(f"{PLAIN.upwards} (points)", fontsize=15)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(PercentFormatter(1, symbol=""))
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=12)
    course = (
        "An interactive course, in JupyterLab\nand PyTorch, on the calibration of\nneural networks"
    )
    for y, words, colour, size in (
        (0.83, "calibkit", BLACK, 40),
        (0.66, f"It says {said} of 100 are right.", CONFIDENCE.colour, 30),
        (0.57, f"{right} are.", ACCURACY.colour, 30),
        (0.27, course, BLACK, 21),
        (0.13, f"{len(table)} trained networks, one dot each", GREY, 15),
    ):
        look = {"fontweight": "bold"} if size >= 30 else {"linespacing": 1.4}
        figure.text(0.05, y, words, color=colour, fontsize=size, **look)
    path = folder / CARD
    figure.savefig(path)
    return path
