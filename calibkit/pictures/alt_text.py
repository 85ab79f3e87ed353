"""The text of a figure for those who cannot see it, made from the figure's own data."""

from __future__ import annotations

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

LINES, BARS = 4, 1  # more lines than these are counted, single bars are not worth a sentence
NOTE = "_calibkit_note"


def describe(figure: Figure) -> str:
    """What the figure shows, panel by panel: titles, axes, and where each line begins and ends.

    A panel that was given a text by `note` is described by that text.

    >>> figure = Figure()
    >>> ax = figure.subplots()
    >>> _ = ax.plot([0, 0.2, 0.4], [0.1, 0.05, 0.3], label="network")
    >>> _ = ax.set(xlabel="noise", ylabel="ECE")
    >>> describe(figure)
    'ECE against noise: network from 0.1 at 0 to 0.3 at 0.4, lowest 0.05 at 0.2.'
    """
    panels = [text for ax in figure.axes if ax.get_visible() and (text := _panel(ax))]
    if len(panels) > 1:
        panels = [f"Panel {place}: {text}" for place, text in enumerate(panels, start=1)]
    parts = filter(None, [figure.get_suptitle(), *panels])
    sentences = (part if part.endswith((".", "?", "!")) else f"{part}." for part in parts)
    return " ".join(sentences) or "An empty figure."


def note(ax: Axes, text: str) -> Axes:
    """Say in words what `ax` shows; `describe` repeats it in place of its own description."""
    setattr(ax, NOTE, text)
    return ax


def png(figure: Figure) -> tuple[str, dict[str, str]]:
    """The figure as PNG in base64, and the metadata in which Jupyter keeps the text of an image."""
    from IPython.core.pylabtools import print_figure

    return print_figure(figure, fmt="png", base64=True), {"alt": describe(figure)}


def show_with_text() -> bool:
    """From now on show figures in this notebook with their text; False outside IPython."""
    import matplotlib.pyplot as plt
    from IPython import get_ipython

    shell = get_ipython()
    if shell is None:
        return False
    plt.switch_backend(plt.get_backend())  # else the first figure does, and undoes the rest
    shell.display_formatter.formatters["image/png"].for_type(Figure, png)
    return True


def _panel(ax: Axes) -> str:
    if hasattr(ax, NOTE):
        return getattr(ax, NOTE)
    parts = [*_lines(ax), *_points(ax), *_bars(ax), *_images(ax)]
    if not parts:
        return ax.get_title()
    name = " against ".join(filter(None, (ax.get_ylabel(), ax.get_xlabel())))
    opening = ". ".join(filter(None, (ax.get_title(), name)))
    return f"{opening}: {'; '.join(parts)}" if opening else "; ".join(parts)


def _lines(ax: Axes) -> list[str]:
    plotted = [  # and not drawn across the panel as a guide
        line
        for line in ax.lines
        if line.get_visible() and line.get_transform().contains_branch(ax.transData)
    ]
    named = [text for line in plotted if (text := _course_of(line))]
    if len(named) <= LINES:
        return named
    return [*named[:LINES], f"and {len(named) - LINES} more lines"]


def _course_of(line: Line2D) -> str:
    """Where a line begins and ends, and its extremes between; empty for a single point."""
    x, y = np.asarray(line.get_xdata(False)), np.asarray(line.get_ydata(False))  # words as numbers
    known = np.isfinite(x) & np.isfinite(y)
    x, y = x[known], y[known]
    if len(x) < 2 or (np.ptp(y) == 0 and np.ptp(x) == 0):
        return ""
    text = f"{_name(line, ' ')}from {y[0]:.3g} at {x[0]:.3g} to {y[-1]:.3g} at {x[-1]:.3g}"
    extremes = [("lowest", y.argmin()), ("highest", y.argmax())]
    inside = [(word, at) for word, at in extremes if 0 < at < len(y) - 1]
    return text + "".join(f", {word} {y[at]:.3g} at {x[at]:.3g}" for word, at in inside)


def _points(ax: Axes) -> list[str]:
    """The clouds; an area, such as a band, is a collection with one offset."""
    texts = []
    for cloud in ax.collections:
        places = np.asarray(cloud.get_offsets())
        if len(places) > 1:
            (left, low), (right, high) = np.nanmin(places, axis=0), np.nanmax(places, axis=0)
            ends = f"({left:.3g}, {low:.3g}) and ({right:.3g}, {high:.3g})"
            texts.append(f"{_name(cloud, ': ')}{len(places)} points between {ends}")
    return texts


def _name(artist: Artist, end: str) -> str:
    label = str(artist.get_label())
    return "" if not label or label.startswith("_") else label + end


def _bars(ax: Axes) -> list[str]:
    drawn = (bar for group in ax.containers for bar in group)
    heights = [bar.get_height() for bar in drawn if isinstance(bar, Rectangle)]
    if len(heights) <= BARS:
        return []
    tallest = int(np.argmax(heights)) + 1
    return [f"{len(heights)} bars, the tallest, number {tallest}, {max(heights):.3g} high"]


def _images(ax: Axes) -> list[str]:
    sizes = [np.asarray(image.get_array()).shape[:2] for image in ax.images]
    return [f"picture of {height} by {width} pixels" for height, width in sizes]
