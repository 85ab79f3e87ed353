"""The text of a figure for those who cannot see it, made from the figure's own data."""

from __future__ import annotations

from html import escape

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

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
    heading = figure.get_suptitle()
    return " ".join(_sentences([heading, *panels])) or "An empty figure."


def note(ax: Axes, text: str) -> Axes:
    """Say in words what `ax` shows; `describe` repeats it in place of its own description."""
    setattr(ax, NOTE, text)
    return ax


def html(figure: Figure) -> str:
    """The figure as an HTML image with its text: neither JupyterLab nor PNG can carry one."""
    from IPython.core.pylabtools import print_figure

    source = f"data:image/png;base64,{print_figure(figure, fmt='png', base64=True)}"
    text = escape(describe(figure), quote=True)
    return f'<img style="max-width: 100%" alt="{text}" src="{source}">'


def show_with_text() -> bool:
    """From now on show figures in this notebook as images with a text; False outside IPython."""
    import matplotlib.pyplot as plt
    from IPython import get_ipython

    shell = get_ipython()
    if shell is None:
        return False
    plt.switch_backend(plt.get_backend())  # else the first figure does, and undoes the rest
    formatters = shell.display_formatter.formatters
    formatters["text/html"].for_type(Figure, html)
    formatters["image/png"].for_type(Figure, lambda figure: None)  # one face is enough
    return True


# --- one panel -----------------------------------------------------------------------------------


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
    legend = ax.get_legend()
    given = [text.get_text() for text in legend.get_texts()] if legend else []
    drawn = [line for line in ax.lines if len(line.get_xdata()) > 1 and _is_data(ax, line)]
    said = [_course_of(line, given) for line in drawn]
    named = [text for text in said if text]
    if len(named) <= LINES:
        return named
    return [*named[:LINES], f"and {len(named) - LINES} more lines"]


def _is_data(ax: Axes, line) -> bool:
    """Whether a line was plotted, and not drawn across the panel as a guide."""
    return line.get_transform().contains_branch(ax.transData) and line.get_visible()


def _course_of(line, legend: list[str]) -> str:
    x, y = line.get_xdata(orig=False), line.get_ydata(orig=False)  # words as their positions
    known = np.isfinite(x) & np.isfinite(y)
    x, y = x[known], y[known]
    if len(x) < 2 or (np.ptp(y) == 0 and np.ptp(x) == 0):
        return ""
    label = "" if line.get_label().startswith("_") else line.get_label()
    name = f"{label} " if label else ""
    text = f"{name}from {_number(y[0])} at {_number(x[0])} to {_number(y[-1])} at {_number(x[-1])}"
    extremes = [("lowest", y.argmin()), ("highest", y.argmax())]
    inside = [(word, at) for word, at in extremes if 0 < at < len(y) - 1]
    return text + "".join(f", {word} {_number(y[at])} at {_number(x[at])}" for word, at in inside)


def _points(ax: Axes) -> list[str]:
    clouds = [c for c in ax.collections if len(c.get_offsets()) > 1 and not _is_band(c)]
    return [
        f"{'' if c.get_label().startswith('_') else c.get_label() + ': '}"
        f"{len(c.get_offsets())} points between {_range(c.get_offsets())}"
        for c in clouds
    ]


def _is_band(collection) -> bool:
    return bool(len(collection.get_paths())) and len(collection.get_offsets()) <= 1


def _range(offsets) -> str:
    low, high = np.nanmin(offsets, axis=0), np.nanmax(offsets, axis=0)
    return f"({_number(low[0])}, {_number(low[1])}) and ({_number(high[0])}, {_number(high[1])})"


def _bars(ax: Axes) -> list[str]:
    heights = [bar.get_height() for group in ax.containers for bar in group if _is_bar(bar)]
    if len(heights) <= BARS:
        return []
    tallest = int(np.argmax(heights)) + 1
    return [f"{len(heights)} bars, the tallest, number {tallest}, {_number(max(heights))} high"]


def _is_bar(artist) -> bool:
    return hasattr(artist, "get_height") and hasattr(artist, "get_width")


def _images(ax: Axes) -> list[str]:
    sizes = [image.get_array().shape[:2] for image in ax.images]
    return [f"picture of {height} by {width} pixels" for height, width in sizes]


def _number(value: float) -> str:
    return f"{value:.3g}"


def _sentences(parts: list[str]) -> list[str]:
    return [part if part.endswith((".", "?", "!")) else f"{part}." for part in parts if part]
