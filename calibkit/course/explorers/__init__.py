"""Sliders over models that were really trained.

`networks`, of all that the course trained, is loaded when it is asked for: it reads their table.
"""

from typing import Any

from calibkit.course.explorers.diagrams import cooling_frame, film_frame, rivals_frame
from calibkit.course.explorers.digits import (
    blend_frame,
    cooled_frame,
    labels_frame,
    noisier_frame,
    prior_frame,
    soft_label_frame,
)
from calibkit.course.explorers.explorer import Explorer, Frame, Slider
from calibkit.course.explorers.histograms import spread_frame
from calibkit.course.explorers.lines import along_frame, cost_frame, squares_frame
from calibkit.course.explorers.next_word import next_word_frame
from calibkit.course.explorers.prediction_sets import Example, promise_frame
from calibkit.course.explorers.storage import keep, stored
from calibkit.pictures.svg_diagram import pooled, reliability_frame

__all__ = [
    "Example", "Explorer", "Frame", "Slider", "along_frame", "blend_frame", "cooled_frame",
    "cooling_frame", "cost_frame", "film_frame", "keep", "labels_frame", "networks",
    "next_word_frame", "noisier_frame", "pooled", "prior_frame", "promise_frame",
    "reliability_frame", "rivals_frame", "soft_label_frame", "spread_frame", "squares_frame",
    "stored",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name != "networks":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from calibkit.course.explorers.plane import networks

    return networks
