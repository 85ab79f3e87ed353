"""What the arbiter's table says: means and intervals, who wins from how many labels, a page."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from calibkit import validate
from calibkit.course.experiments import arbiter
from calibkit.course.experiments.contestants import MAPS

NOTHING, TEMPERATURE = "nothing", "temperature"
PLACE = ["classes", "model", "labels"]
CELL = [*PLACE, "seed"]
LEVEL = 0.95
# The order of CalArena (Berta et al. 2026, arXiv:2605.30188) by win rate in log loss over 20
# networks for images, from the result files that its authors published (commit a0afa15): those 12
# of its 19 maps that the arbiter has. There the models that were to be mapped gave probabilities
# for 1,003 to 10,832 labels, 5,000 in the median.
VISION = (
    "SMS",
    "SVS",
    "vector",
    "Venn-Abers",
    "ensemble",
    "temperature",
    "Dirichlet",
    "matrix",
    "isotonic",
    "BBQ",
    "nothing",
    "histogram",
)


def summary(table: pd.DataFrame, measure: str = "kl") -> pd.DataFrame:
    """Mean over seeds, and half the width of its 95 % t interval, by place and map.

    >>> rows = [[2, "MLP", 50, 1, "nothing", 0.1], [2, "MLP", 50, 2, "nothing", 0.3]]
    >>> made = summary(pd.DataFrame(rows, columns=[*CELL, "map", "kl"]))
    >>> made["mean"].round(2).tolist(), made["half"].round(2).tolist()  # 12.706 * .1
    ([0.2], [1.27])
    """
    validate.choice("measure", measure, tuple(map(str, table.columns)))
    grouped = table.groupby([*PLACE, "map"], sort=False)[measure]
    made = grouped.agg(["mean", "std", "count"]).reset_index()
    error = made["std"] / np.sqrt(made["count"])
    made["half"] = stats.t.ppf((1 + LEVEL) / 2, made["count"] - 1) * error
    return made.drop(columns=["std", "count"])


def by_cell(table: pd.DataFrame, measure: str = "kl") -> pd.DataFrame:
    """One row a cell (place and seed), one column a map."""
    order = list(dict.fromkeys(table["map"]))
    return table.pivot_table(index=CELL, columns="map", values=measure, sort=False)[order]


def winners(table: pd.DataFrame) -> pd.DataFrame:
    """For each place the map of the least mean KL, and those that the seeds cannot tell from it.

    tied: maps whose paired difference from the best has a 95 % t interval that holds 0.
    """
    rows = []
    for place, part in by_cell(table).groupby(level=PLACE, sort=False):
        there = part.dropna(axis=1)
        best = there.mean().idxmin()
        others = [name for name in there if name != best]
        tied = [name for name in others if _holds_0(there[name] - there[best])]
        rows.append([*place, best, there[best].mean(), tied])
    return pd.DataFrame(rows, columns=[*PLACE, "best", "kl", "tied"])


def _holds_0(differences: pd.Series) -> bool:
    error = differences.std() / math.sqrt(len(differences))
    return abs(differences.mean()) <= stats.t.ppf((1 + LEVEL) / 2, len(differences) - 1) * error


def standing(table: pd.DataFrame) -> pd.DataFrame:
    """Each map over all cells of a table, the best first.

    wins: cells in which its KL is the least, of `cells`; rank: the mean of its places, 1 the least
    KL of a cell; beats: the mean share of the other maps that it beats; harms: the share of cells
    in which the model as it is has the lower KL.
    """
    kl = by_cell(table)
    ranks, others = kl.rank(axis=1), kl.notna().sum(axis=1) - 1
    columns = {
        "wins": (ranks == 1).sum(),
        "cells": kl.notna().sum(),
        "rank": ranks.mean(),
        "beats": ranks.rsub(others + 1, axis=0).div(others, axis=0).mean(),
        "harms": kl.gt(kl[NOTHING], axis=0).sum() / kl.notna().sum(),
    }
    return pd.DataFrame(columns).sort_values("rank", kind="stable")


def agreement(table: pd.DataFrame) -> float:
    """Spearman's rank correlation of our order with `VISION`, by the share of maps that are beaten.

    Only the maps of both; NaN where the table has less than three of them.
    """
    ours = standing(table[table["map"].isin(VISION)]).beats
    order = [name for name in VISION if name in ours]
    if len(order) < 3:
        return math.nan
    return float(stats.spearmanr(range(len(order)), -ours[order]).statistic)


def findings(table: pd.DataFrame) -> list[str]:
    """What follows, in sentences whose numbers are all from the table."""
    return [
        *_distances(table),
        *_turns(table),
        *_harm(table),
        _public(table),
    ]


def _parts(table: pd.DataFrame) -> Iterable[tuple[str, pd.DataFrame]]:
    for (classes, model), part in table.groupby(["classes", "model"], sort=False):
        yield f"{classes} classes, {model}", part


def _distances(table: pd.DataFrame) -> list[str]:
    """How much of the distance to the truth any map takes away."""
    said = []
    for words, part in _parts(table):
        means = summary(part)
        nothing = means[means["map"] == NOTHING]["mean"].iloc[0]
        most = means[means.labels == means.labels.max()].set_index("map")["mean"]
        said.append(
            f"{words}: KL {nothing:.3f} as the model is, {most[TEMPERATURE]:.3f} after a "
            f"temperature and {most.min():.3f} after the best map ({most.idxmin()}), both of "
            f"{means.labels.max():,} labels"
        )
    return said


def _turns(table: pd.DataFrame) -> list[str]:
    """From how many labels on each map of `turning` is closer than a temperature for good."""
    said = []
    for words, part in _parts(table):
        turns = {name: turn(part, name) for name in part["map"].unique()}
        found = {name: n for name, n in turns.items() if n and name not in (NOTHING, TEMPERATURE)}
        ordered = sorted(found, key=lambda name: (found[name], name))
        listed = ", ".join(f"{name} {found[name]:,}" for name in ordered) or "none"
        said.append(f"{words}: closer than a temperature from so many labels on: {listed}")
    return said


def turn(part: pd.DataFrame, name: str) -> int | None:
    """The number of labels from which on a map's mean KL stays below a temperature's by its seeds.

    That is, the paired difference has a 95 % t interval below 0 there and at all larger numbers.
    None where there is no such number.
    """
    kl = by_cell(part).dropna(subset=[name])
    last = None
    for labels, cell in sorted(kl.groupby(level="labels"), reverse=True):
        gain = cell[TEMPERATURE] - cell[name]
        if gain.mean() <= 0 or _holds_0(gain):
            break
        last = int(labels)
    return last


def _harm(table: pd.DataFrame) -> list[str]:
    """How often a temperature is worse than nothing."""
    said = []
    for words, part in _parts(table):
        kl = by_cell(part)
        worse = (kl[TEMPERATURE] > kl[NOTHING]).groupby(level="labels").agg(["sum", "count"])
        few = [f"{int(n.sum)} of {n.count} at {labels:,}" for labels, n in _rows(worse) if n.sum]
        total = f"{int(worse['sum'].sum())} of {worse['count'].sum()} fits"
        said.append(f"{words}: a temperature is worse than nothing in {total}" + _list(few))
    return said


def _rows(frame: pd.DataFrame):
    return zip(frame.index, frame.itertuples(index=False), strict=True)


def _list(parts: list[str]) -> str:
    return f" ({', '.join(parts)} labels)" if parts else ""


def _public(table: pd.DataFrame) -> str:
    """CalArena's order of maps for images beside ours."""
    networks = table[(table.classes == max(table.classes)) & table.model.isin(arbiter.NETWORKS)]
    by_labels = {n: agreement(part) for n, part in networks.groupby("labels")}
    listed = ", ".join(f"{value:+.2f} at {n:,}" for n, value in by_labels.items())
    return f"networks, {max(table.classes)} classes: rank correlation with CalArena's {listed}"


# --- the page -------------------------------------------------------------------------------------


def write(path: Path) -> Path:
    """The page beside the table at `path`; returns it."""
    settings, table = arbiter.read(Path(path))
    page = Path(path).with_suffix(".md")
    page.write_text(report(table, settings, Path(path).stem), encoding="utf-8")
    return page


def report(table: pd.DataFrame, settings: dict, scale: str) -> str:
    """A page in Markdown: how it was measured, who wins, how often, and all means."""
    lines = [
        "# The arbiter: which map comes closest to the truth",
        "",
        *_method(table, settings, scale),
        "",
        "## What follows",
        "",
        *(f"- {line}." for line in findings(table)),
        "",
        "## The least KL by number of labels",
        "",
        "In brackets: how many other maps the seeds cannot tell from it (paired 95 % t interval).",
        "",
        *_winners_table(table),
    ]
    for classes, part in table.groupby("classes", sort=False):
        lines += ["", f"## {classes} classes: all cells (model, labels, seed)", ""]
        lines += _standing_table(part)
    for words, part in _parts(table):
        lines += ["", f"## {words}: KL in nats, mean ± half of the 95 % t interval", ""]
        lines += _means_table(part)
    for words, part in _parts(table):
        most = part[part.labels == part.labels.max()]
        lines += ["", f"## {words}: other measures, {most.labels.max():,} labels", ""]
        lines += _measures_table(most)
    return "\n".join([*lines, ""])


def _method(table: pd.DataFrame, settings: dict, scale: str) -> list[str]:
    maps = [f"*{name}*: {MAPS[name].words}" for name in dict.fromkeys(table["map"])]
    late = [f"{n} from {MAPS[n].least:,}" for n in dict.fromkeys(table["map"]) if MAPS[n].least]
    seeds, seconds = settings["seeds"], table.groupby("map", sort=False).seconds.sum()
    slow = ", ".join(f"{name} {s:.0f}" for name, s in seconds.nlargest(4).items())
    return [
        "Real digits under Gaussian noise (0.4 a pixel), whose exact posterior is known: ten "
        "classes, or even and odd. "
        f"An MLP, a CNN ({settings['epochs']} epochs) and a random forest ({settings['trees']} "
        f"trees) learned from {settings['train']:,} images. Each map was fitted on the same first "
        f"labels of one sample, and judged on {settings['test']:,} new images by the mean KL from "
        "the exact posterior to its prediction, which no draw of labels disturbs. A probability "
        f"of 0 counts as {arbiter.FLOOR:g}.",
        "",
        f"Maps: {'; '.join(maps)}. "
        + (f"With fewer labels some have no fit: {', '.join(late)}." if late else ""),
        "",
        f"- n: {len(table):,} fits, {len(seeds)} seeds ({seeds[0]} to {seeds[-1]}; each has its "
        "own training, calibration and test images).",
        f"- Processor seconds of fitting and mapping: {seconds.sum():.0f} (the most: {slow}); "
        "training comes on top.",
        f"- Hardware: CPU {settings['cpu']}, 1 thread.",
        f"- Versions: Python {settings['python']}, torch {settings['torch']}, scikit-learn "
        f"{settings['scikit-learn']}.",
        f"- Again: `python -m calibkit {arbiter.NAME} --scale {scale} --fresh`",
    ]


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    lines = [f"| {' | '.join(row)} |" for row in [head, *rows]]
    return [lines[0], "|---" * (lines[0].count("|") - 1) + "|", *lines[1:]]


def _winners_table(table: pd.DataFrame) -> list[str]:
    won = winners(table)
    sizes = sorted(won.labels.unique())
    rows = []
    for (classes, model), part in won.groupby(["classes", "model"], sort=False):
        best = {one.labels: f"{one.best} ({len(one.tied)})" for one in part.itertuples()}
        rows.append([str(classes), model, *(best[n] for n in sizes)])
    return _table(["classes", "model", *(f"{n:,}" for n in sizes)], rows)


def _standing_table(part: pd.DataFrame) -> list[str]:
    heads = ["map", "least KL in", "mean rank", "beats, %", "worse than nothing, %"]
    rows = [
        [name, f"{one.wins} of {one.cells}", f"{one.rank:.1f}"]
        + [f"{100 * share:.0f}" for share in (one.beats, one.harms)]
        for name, one in zip(standing(part).index, standing(part).itertuples(), strict=True)
    ]
    return _table(heads, rows)


def _means_table(part: pd.DataFrame) -> list[str]:
    made = summary(part).set_index(["map", "labels"])
    sizes = sorted(part.labels.unique())
    rows = []
    for name in dict.fromkeys(part["map"]):
        there = {n: made.loc[(name, n)] for n in sizes if (name, n) in made.index}
        rows.append([name, *(_plus_minus(there[n]) if n in there else "" for n in sizes)])
    return _table(["map", *(f"{n:,}" for n in sizes)], rows)


def _plus_minus(one: pd.Series) -> str:
    """Both numbers, so that no table breaks them into lines."""
    digits = 3 if one["mean"] < 2 else 1
    space = "\N{NO-BREAK SPACE}"
    return f"{one['mean']:.{digits}f}{space}±{space}{one['half']:.{digits}f}"


def _measures_table(part: pd.DataFrame) -> list[str]:
    heads = {
        "kl": ("KL", 1, 3),
        "nll": ("NLL", 1, 3),
        "squared": ("squared distance", 1, 4),
        "accuracy": ("accuracy, %", 100, 1),
        "error": ("true calibration error, %", 100, 2),
    }
    means = part.groupby("map", sort=False)[list(heads)].mean()
    rows = [
        [str(name), *(f"{f * one[m]:.{d}f}" for m, (_, f, d) in heads.items())]
        for name, one in means.iterrows()
    ]
    return _table(["map", *(words for words, _, _ in heads.values())], rows)
