"""What the arbiter's table says: who wins from how many labels, what harms; and its page."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from calibkit import validate
from calibkit.course import verdicts
from study import arbiter

NOTHING, TEMPERATURE = "nothing", "temperature"
PLACE = ["classes", "model", "labels"]
CELL = [*PLACE, "seed"]
LEVEL = 0.95
MANY = 1_000  # labels
HARMFUL = (TEMPERATURE, "SVS", "SMS", "shrunk matrix", "vector", "matrix", "Venn-Abers")
ORDERS = (50, 1_000, 5_000)  # labels for which an order of maps is told
# The order of CalArena (Berta et al. 2026, arXiv:2605.30188) by win rate in log loss over 20
# networks for images, from the result files that its authors published (commit a0afa15): those 12
# of its 19 maps that the arbiter has. There the models that were to be mapped gave probabilities
# for 1,003 to 10,832 labels, 5,000 in the median.
VISION = (
    *("SMS", "SVS", "vector", "Venn-Abers", "ensemble", "temperature", "Dirichlet", "matrix"),
    *("isotonic", "BBQ", "nothing", "histogram"),
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


def difference(
    table: pd.DataFrame, left: str, right: str, *, classes: int, model: str, labels: int
) -> np.ndarray:
    """KL of one map minus that of another at one place, seed by seed, for `verdicts.judge`.

    Raises ValueError for a place that the table does not have, or a map that has no fit there.
    """
    place = {"classes": classes, "model": model, "labels": labels}
    for name, value in place.items():
        validate.choice(name, value, tuple(table[name].unique().tolist()))
    part = by_cell(table[(table[list(place)] == pd.Series(place)).all(axis=1)])
    for name, map_ in (("left", left), ("right", right)):
        validate.choice(name, map_, tuple(map(str, part.columns)))
    return (part[left] - part[right]).to_numpy()


CLAIMS: tuple[tuple[str, str, dict[str, int], tuple[str, str] | None, str], ...] = (
    # claim, SMS beside which map, where, two maps that are not alike (of "alike within"), words
    ("08s", TEMPERATURE, {"classes": 10, "labels": 5_000}, None,
     "ten classes, thousands of labels: SMS is nearer to the truth than a temperature"),
    ("08t", TEMPERATURE, {"classes": 10, "labels": 200}, None,
     "200 labels: nothing speaks for SMS, and for two of four models it is further away"),
    ("08u", TEMPERATURE, {"classes": 2, "labels": 5_000}, (NOTHING, TEMPERATURE),
     "two classes: a temperature is as near as SMS, within 0.01 nats, for three models; for "
     "the linear one the logits as they are come as near"),
    ("08v", "shrunk matrix", {"classes": 10, "labels": 5_000}, (TEMPERATURE, "shrunk matrix"),
     "a shrunk matrix, its penalty chosen by folds, is as near as SMS, within 0.01 nats"),
)  # fmt: skip


def conclusions(table: pd.DataFrame) -> list[verdicts.Conclusion]:
    """The public benchmark's first claim, and what bounds it, judged model by model.

    Its 5,000 labels are the median there; the claims on few labels and on two classes were made
    when the table was known.
    """
    made = []
    for claim, other, place, unlike, words in CLAIMS:
        how = {"expect": "within", "margin": 0.01} if unlike else {"expect": "below"}
        how["post_hoc"] = claim != "08s"
        near = "as near as" if unlike else "nearer to the posterior than"
        told = f"{place['classes']} classes, {place['labels']:,} labels"
        rows = []
        for model in table.model.unique():
            of = functools.partial(difference, table, model=model, **place)
            control = of(*unlike) if unlike else None
            statement = f"{told}, {model}: SMS is {near} {other}"
            rows.append(verdicts.judge(claim, statement, of("SMS", other), control=control, **how))
        made.append(verdicts.conclude(claim, rows, words))
    return made


def findings(table: pd.DataFrame) -> list[str]:
    """What follows, in sentences whose numbers are all from the table."""
    return [*_distances(table), *_turns(table), *_harm(table), *_public(table)]


def parts(table: pd.DataFrame) -> Iterable[tuple[str, pd.DataFrame]]:
    for (classes, model), part in table.groupby(["classes", "model"], sort=False):
        yield f"{classes} classes, {model}", part


def _distances(table: pd.DataFrame) -> list[str]:
    """How much of the distance to the truth any map takes away."""
    said = []
    for words, part in parts(table):
        means = summary(part)
        nothing = means[means["map"] == NOTHING]["mean"].iloc[0]
        most = means[means.labels == means.labels.max()].set_index("map")["mean"]
        cooled, best = most[TEMPERATURE], most.min()
        share = 100 * (nothing - cooled) / (nothing - best) if best < nothing else math.nan
        said.append(
            f"{words}: KL {nothing:.3f} as the model is, {cooled:.3f} after a temperature and "
            f"{best:.3f} after the best map ({most.idxmin()}), both of {means.labels.max():,} "
            f"labels: a temperature takes away {share:.0f} % of what that map does"
        )
    return said


def _turns(table: pd.DataFrame) -> list[str]:
    """From how many labels on each map of `turning` is closer than a temperature for good."""
    said = []
    for words, part in parts(table):
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
    """How often maps are worse than nothing, with few labels and with many, and by how much."""
    kl = by_cell(table)
    many = kl.index.get_level_values("labels") >= MANY
    said = []
    for name in (name for name in HARMFUL if name in kl):
        away = kl[name] - kl[NOTHING]
        parts = [
            f"{(part > 0).sum()} of {len(part)} fits {words} {MANY:,} labels{_cost(part)}"
            for words, part in (("on less than", away[~many]), ("from", away[many]))
            if len(part)
        ]
        where = away[away > 0].groupby(level=["classes", "model"], sort=False).size()
        models = ", ".join(f"{n} of {c} classes, {m}" for (c, m), n in where.items())
        told = f"{name} is worse than nothing in {' and '.join(parts)}"
        said.append(told + (f": {models}" if models else ""))
    return said


def _cost(away: pd.Series) -> str:
    return f" (there by a KL of {away[away > 0].mean():.2g})" if (away > 0).any() else ""


def _public(table: pd.DataFrame) -> list[str]:
    """CalArena's order of maps for images beside ours."""
    networks = table[(table.classes == table.classes.max()) & table.model.isin(arbiter.NETWORKS)]
    by_labels = {n: agreement(part) for n, part in networks.groupby("labels")}
    listed = ", ".join(f"{value:+.2f} at {n:,}" for n, value in by_labels.items())
    return [
        f"networks, {table.classes.max()} classes: rank correlation with CalArena's order {listed}",
        *(_order(part, int(n)) for n, part in networks.groupby("labels") if n in ORDERS),
    ]


def _order(part: pd.DataFrame, labels: int) -> str:
    names = list(standing(part[part["map"].isin(VISION)]).index)
    return (
        f"networks, {part.classes.iloc[0]} classes, {labels:,} labels, the maps of both by mean "
        f"rank: {', '.join(names)}; a temperature is number {names.index(TEMPERATURE) + 1} of "
        f"{len(names)}, in CalArena number {VISION.index(TEMPERATURE) + 1} of {len(VISION)}"
    )


# --- the page -----------------------------------------------------------------------------------


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
    return "\n".join([*lines, ""])


def _method(table: pd.DataFrame, settings: dict, scale: str) -> list[str]:
    maps = [f"*{name}*: {arbiter.MAPS[name].words}" for name in dict.fromkeys(table["map"])]
    late = [
        f"{n} from {arbiter.MAPS[n].least:,}"
        for n in dict.fromkeys(table["map"])
        if arbiter.MAPS[n].least
    ]
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
