"""The lessons' experiments on real data: photographs, texts and captions, one grid each.

`run` trains and measures, `write` keeps the tables with hardware, versions and n beside the figure
of the source; `python -m calibkit reproduce NAME --scale SCALE` does both. `networks` has all
networks that the lessons train on their own data, each with its place in the plane; `nights` are
runs on photographs at equal weight decays, with logits, which `night_runs` trains; `arbiter` fits
all maps of recalibration where the truth is known.
"""

from calibkit.course.experiments import arbiter, arbiter_findings, arbiter_page, networks, nights
from calibkit.course.experiments.captions import CAPTIONS
from calibkit.course.experiments.engine import run
from calibkit.course.experiments.experiment import Experiment, Result
from calibkit.course.experiments.photograph_grids import EXPERIMENTS
from calibkit.course.experiments.photographs import NETWORKS, SETTINGS, Setting
from calibkit.course.experiments.reports import (
    Photographed,
    on_photographs,
    on_text,
    photographed,
    report,
    shown,
    stored,
    summary,
    verdict,
    verdicts,
    write,
)
from calibkit.course.experiments.texts import TEXTS

__all__ = [
    "CAPTIONS",
    "EXPERIMENTS",
    "NETWORKS",
    "SETTINGS",
    "TEXTS",
    "Experiment",
    "Photographed",
    "Result",
    "Setting",
    "arbiter",
    "arbiter_findings",
    "arbiter_page",
    "networks",
    "nights",
    "on_photographs",
    "on_text",
    "photographed",
    "report",
    "run",
    "shown",
    "stored",
    "summary",
    "verdict",
    "verdicts",
    "write",
]
