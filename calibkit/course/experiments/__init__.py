"""The lessons' experiments on photographs: one grid each, at the scale of a laptop or of a paper.

`run` trains, `write` keeps the table with hardware, versions and n beside the figure of the paper
that it follows; `python -m calibkit reproduce NAME --scale SCALE` does both.
"""

from calibkit.course.experiments.grids import EXPERIMENTS, ORDER, Experiment
from calibkit.course.experiments.runs import run
from calibkit.course.experiments.settings import NETWORKS, SETTINGS, Setting
from calibkit.course.experiments.tables import (
    HISTORY,
    MEASURES,
    Photographed,
    on_photographs,
    photographed,
    report,
    shown,
    stored,
    summary,
    verdict,
    verdicts,
    write,
)
from calibkit.course.experiments.texts import TEXTS, on_text, run_text, text_verdicts, write_text

__all__ = [
    "EXPERIMENTS",
    "HISTORY",
    "MEASURES",
    "NETWORKS",
    "ORDER",
    "SETTINGS",
    "TEXTS",
    "Experiment",
    "Photographed",
    "Setting",
    "on_photographs",
    "on_text",
    "photographed",
    "report",
    "run",
    "run_text",
    "shown",
    "stored",
    "summary",
    "text_verdicts",
    "verdict",
    "verdicts",
    "write",
    "write_text",
]
