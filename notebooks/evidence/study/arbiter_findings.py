"""What the arbiter's table says: means and intervals, who wins from how many labels, what harms."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable

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


def conclusions(table: pd.DataFrame) -> list[verdicts.Conclusion]:
    """The public benchmark's first claim, and what bounds it, judged model by model.

    Its 5,000 labels are the median there; the claims on few labels and on two classes were made
    when the table was known.
    """
    judged = functools.partial(_judged, table)
    far, few = {"classes": 10, "labels": 5_000}, {"classes": 10, "labels": 200}
    two = {"classes": 2, "labels": 5_000}
    alike = {"expect": "within", "margin": 0.01, "post_hoc": True}
    return [
        verdicts.conclude(
            "08s",
            judged("08s", "SMS", TEMPERATURE, far, expect="below"),
            "ten classes, thousands of labels: SMS is nearer to the truth than a temperature",
        ),
        verdicts.conclude(
            "08t",
            judged("08t", "SMS", TEMPERATURE, few, expect="below", post_hoc=True),
            "200 labels: nothing speaks for SMS, and for two of four models it is further away",
        ),
        verdicts.conclude(
            "08u",
            judged("08u", "SMS", TEMPERATURE, two, control=(NOTHING, TEMPERATURE), **alike),
            "two classes: a temperature is as near as SMS, within 0.01 nats, for three models; for "
            "the linear one the logits as they are come as near",
        ),
        verdicts.conclude(
            "08v",
            judged(
                "08v", "SMS", "shrunk matrix", far, control=(TEMPERATURE, "shrunk matrix"), **alike
            ),
            "a shrunk matrix, its penalty chosen by folds, is as near as SMS, within 0.01 nats",
        ),
    ]


def _judged(
    table: pd.DataFrame,
    claim: str,
    left: str,
    right: str,
    place: dict,
    control: tuple[str, str] | None = None,
    **how,
) -> list[verdicts.Verdict]:
    """One verdict for each model: is the one map's KL below the other's, or alike?

    control: two maps that are not alike.
    """
    words = "as near as" if how["expect"] == "within" else "nearer to the posterior than"
    made = []
    for model in table.model.unique():
        told = f"{place['classes']} classes, {place['labels']:,} labels, {model}"
        away = difference(table, left, right, model=model, **place)
        unlike = control and difference(table, *control, model=model, **place)
        statement = f"{told}: {left} is {words} {right}"
        made.append(verdicts.judge(claim, statement, away, control=unlike, **how))
    return made


def findings(table: pd.DataFrame) -> list[str]:
    """What follows, in sentences whose numbers are all from the table."""
    return [
        *_distances(table),
        *_turns(table),
        *_harm(table),
        *_public(table),
    ]


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
