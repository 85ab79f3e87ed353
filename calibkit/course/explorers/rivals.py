"""Two models on one test set: their reliability diagrams side by side."""

from __future__ import annotations

from collections.abc import Sequence

from calibkit.metrics import Reliability
from calibkit.pictures.reliability import diagram_panel, legend_panel
from calibkit.pictures.svg import Frame


def rivals_frame(models: Sequence[Reliability], titles: Sequence[str], *, readout: str) -> Frame:
    """The diagrams of two models, a panel each, and what their parts are.

    Raises ValueError for another number of models or titles than two.

    >>> from calibkit import metrics
    >>> r = metrics.reliability([[0.9, 0.1], [0.6, 0.4]], [0, 1], bins=5)
    >>> frame = rivals_frame([r, r], ["model A", "model B"], readout="A 50 %; B 50 %")
    >>> len(frame.panels), frame.readout
    (3, 'A 50 %; B 50 %')
    """
    if (len(models), len(titles)) != (2, 2):
        raise ValueError(f"models and titles must be two each, got {len(models)} and {len(titles)}")
    panels = [diagram_panel(one, title) for one, title in zip(models, titles, strict=True)]
    return Frame((*panels, legend_panel()), readout)
