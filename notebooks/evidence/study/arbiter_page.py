"""The arbiter's page: how it was measured, what follows, who wins, and all means."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from study import arbiter
from study.arbiter_findings import (
    findings,
    parts,
    standing,
    summary,
    winners,
)
from study.contestants import MAPS


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
        "![KL from the exact posterior against the number of labels, a line for each of nine maps, "
        f"a panel for each model; its numbers stand in the tables below]({scale}.png)",
        "",
        "*Bands: the 95 % t interval of the difference from a temperature, seed by seed. What is "
        "worse than the axis allows lies above it.*",
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
    for words, part in parts(table):
        lines += ["", f"## {words}: KL in nats, mean ± half of the 95 % t interval", ""]
        lines += _means_table(part)
    for words, part in parts(table):
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
        f"trees) learned from {settings['train']:,} images, and so did a linear model (logistic "
        "regression as scikit-learn sets it), which is nearly calibrated as it is. Each map was "
        "fitted on the same first labels of one sample, and judged on "
        f"{settings['test']:,} new images by the mean KL from the exact posterior to its "
        "prediction, which no draw of labels disturbs. A probability "
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
