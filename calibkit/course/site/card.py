"""The social card: the picture that a link to the site shows elsewhere, drawn from stored runs."""

from __future__ import annotations

from pathlib import Path

from matplotlib.ticker import PercentFormatter

from calibkit.course.experiments import networks
from calibkit.course.explorers.plane import PLAIN
from calibkit.pictures.palette import ACCURACY, BLACK, CONFIDENCE, DIAGONAL, GREY, OVER

SIZE = (12.0, 6.3)  # inches at 100 dots each: what the networks that show cards ask for
NAME = "card.png"
WORDS = "All trained networks of the course: accuracy lost on new data, and confidence above it."


def write(folder: Path, said: int, right: int) -> Path:
    """Draw `card.png` into a folder: all networks of the course, and how sure and right one is.

    said, right: of 100 answers, how many a network says are right, and how many are.
    """
    from matplotlib.figure import Figure

    table = networks.stored()
    figure = Figure(figsize=SIZE, dpi=100, facecolor="#ffffff")
    axes = figure.add_axes((0.55, 0.13, 0.41, 0.78))
    above, below = table[table.claimed > 0], table[table.claimed <= 0]
    for part, role in ((above, OVER), (below, ACCURACY)):
        axes.scatter(part.lost, part.claimed, s=14, color=role.colour, alpha=0.45, linewidths=0)
    top = min(table.lost.max(), table.claimed.max())
    line = {"color": DIAGONAL.colour, "linestyle": (0, (4, 3)), "linewidth": 1.5}
    axes.plot([0, top], [0, top], **line)
    axes.axhline(0, **line)
    axes.set_xlabel("accuracy lost on new data (points)", fontsize=15)
    axes.set_ylabel(f"{PLAIN.upwards} (points)", fontsize=15)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(PercentFormatter(1, symbol=""))
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=12)
    look = {"color": BLACK, "fontsize": 30, "fontweight": "bold"}
    figure.text(0.05, 0.83, "calibkit", **look | {"fontsize": 40})
    figure.text(
        0.05, 0.66, f"It says {said} of 100 are right.", **look | {"color": CONFIDENCE.colour}
    )
    figure.text(0.05, 0.57, f"{right} are.", **look | {"color": ACCURACY.colour})
    words = (
        "An interactive course, in JupyterLab\nand PyTorch, on the calibration of\nneural networks"
    )
    figure.text(0.05, 0.27, words, color=BLACK, fontsize=21, linespacing=1.4)
    words = f"{len(table)} trained networks, one dot each"
    figure.text(0.05, 0.13, words, color=GREY, fontsize=15)
    path = folder / NAME
    figure.savefig(path)
    return path
