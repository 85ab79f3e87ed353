"""The arbiter's figure: distance from the truth against the number of labels, a line a map."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from calibkit import validate
from calibkit.pictures import alt_text, palette, plots
from calibkit.pictures.palette import Role
from study import arbiter
from study.arbiter_findings import summary

# The model as it is and after one temperature have their roles of the whole course.
LOOKS: dict[str, Role] = {
    "nothing": palette.TRAINED.named("nothing"),
    "temperature": palette.CURED.named("temperature"),
    "vector": Role("vector", palette.GREEN, (4, 2), "s"),
    "matrix": Role("matrix", palette.VERMILLION, (2, 2), "X"),
    "shrunk matrix": Role("shrunk matrix", palette.BLUE, (), "o"),
    "SVS": Role("SVS", palette.PURPLE, (6, 2, 1, 2), "D"),
    "SMS": Role("SMS", palette.BLACK, (), "P"),
    "isotonic": Role("isotonic", palette.GREY, (1, 3), "|"),
    "Venn-Abers": Role("Venn-Abers", palette.GREY, (8, 2), "*"),
}
ROOM = 1.12  # how far the axis goes beyond the least and the highest KL that it must show
TICKS = np.array([1, 1.5, 2, 3, 4, 5, 6, 8])


def figure(table: pd.DataFrame, maps: Sequence[str] = tuple(LOOKS)) -> Figure:
    """KL from the exact posterior against labels: a row for each model, a column for each K.

    Log-log; a line for each map, and the band of `beside_temperature`. An axis
    ends a little above the model as it is; what is worse lies beyond it. Raises ValueError for a
    map without a look.
    """
    for name in maps:
        validate.choice("maps", name, tuple(LOOKS))
    means = beside_temperature(table)
    means = means[means["map"].isin(maps)]
    models, numbers = means.model.unique(), means.classes.unique()
    size = (4.3 * len(numbers), 3.2 * len(models))
    made, grid = plt.subplots(
        len(models), len(numbers), figsize=size, squeeze=False, layout="constrained"
    )
    for axes, model in zip(grid, models, strict=True):
        for ax, classes in zip(axes, numbers, strict=True):
            part = means[(means.classes == classes) & (means.model == model)]
            draw(part, f"{model}, {classes} classes", ax=ax)
        axes[0].set_ylabel("KL from the exact posterior, nats")
    for ax in grid[-1]:
        ax.set_xlabel("labels that the map was fitted on")
    names = dict(zip(*grid[0, 0].get_legend_handles_labels()[::-1], strict=True))
    made.legend(names.values(), names, loc="outside lower center", ncols=5)
    return made


def write(path: Path) -> Path:
    """The figure beside the table at `path`; returns it."""
    picture = Path(path).with_suffix(".png")
    with plt.rc_context():
        plots.theme()
        drawn = figure(arbiter.read(Path(path))[1])
    drawn.savefig(picture, dpi=90)
    plt.close(drawn)
    return picture


def beside_temperature(table: pd.DataFrame) -> pd.DataFrame:
    """Mean KL by place and map, and half the 95 % t interval of its difference from temperature.

    The difference is taken seed by seed: seeds share their model and images, so that what all maps
    have in common, how good the model is, does not widen it.
    """
    keys = ["classes", "model", "labels", "seed"]
    cooled = table[table["map"] == "temperature"].set_index(keys).kl
    away = table.kl.to_numpy() - cooled.loc[pd.MultiIndex.from_frame(table[keys])].to_numpy()
    return summary(table).assign(half=summary(table.assign(away=away), "away").half)


def draw(means: pd.DataFrame, title: str, *, ax: Axes) -> Axes:
    """One panel, of the rows that `beside_temperature` gave for one model."""
    lines = {name: part for name in LOOKS if len(part := means[means["map"] == name])}
    for name, part in lines.items():
        role = LOOKS[name]
        ax.plot(part.labels, part["mean"], **role.line(lw=1.4, ms=4.5))
        low, high = part["mean"] - part.half, part["mean"] + part.half
        ax.fill_between(
            part.labels, low.clip(lower=1e-6), high, color=role.colour, alpha=0.15, lw=0
        )
    ax.set(xscale="log", yscale="log", title=title)
    ax.set_ylim(*_limits(lines))
    _ticks(ax, sorted(means.labels.unique()))
    return alt_text.note(ax, _in_words(lines, title))


def _limits(lines: dict[str, pd.DataFrame]) -> tuple[float, float]:
    """From a little below the least KL to a little above that of the model as it is."""
    least = min(part["mean"].min() for part in lines.values())
    most = lines["nothing"]["mean"].max() if "nothing" in lines else 2 * least
    return least / ROOM, max(most, 1.3 * least) * ROOM


def _ticks(ax: Axes, labels: Sequence[int]) -> None:
    ax.set_xticks([50, 200, 1_000, 5_000, 20_000] if len(labels) > 5 else labels)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        axis.set_minor_formatter(NullFormatter())
    low, high = ax.get_ylim()
    ticks = (TICKS * 10.0 ** np.arange(-4, 2)[:, None]).ravel()
    ax.set_yticks(ticks[(low < ticks) & (ticks < high)])


def _in_words(lines: dict[str, pd.DataFrame], title: str) -> str:
    """The panel for those who cannot see it."""
    said = []
    for name, part in lines.items():
        first, last = part.iloc[0], part.iloc[-1]
        said.append(
            f"{name} from {first['mean']:.2f} at {first.labels:,} to {last['mean']:.2f} at "
            f"{last.labels:,}"
        )
    return f"{title}, KL in nats against labels: {'; '.join(said)}."
