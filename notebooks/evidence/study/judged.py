"""The words of the register, as data: notebooks/results/verdicts.csv, a row a comparison.

    cd notebooks/evidence && python -m study.judged

A comparison whose seeds are not all there has no word yet: nobody looks between.
"""

from __future__ import annotations

import functools
import json
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from calibkit.course import checkout, claims, verdicts
from study import cures, factorial, night_runs, register

NAME = "verdicts.csv"
WAITING = "not run yet"  # in place of a word
FRESH = "ten fresh seeds, each tuned on two of its own by the criterion of its state"
SEEN = "one margin, 98.75 % interval; three seeds, seen before"
SAME = {"INCONCLUSIVE": "OPEN", "HOLDS": "HOLDS", "REVERSED": "REVERSED"}  # older words


def values(row: register.Comparison, listed: register.Register) -> np.ndarray | None:
    """One number a seed, way minus rival, each at its best; None where a seed is missing."""
    of = on_photographs if row.data == "photographs" else on_known_truth
    sides = [of(row, side, listed) for side in (row.way, row.rival)]
    return None if any(side is None for side in sides) else sides[0] - sides[1]


def on_known_truth(row, ways, listed, epochs: int | None = None) -> np.ndarray | None:
    """The measure of the best of these ways, chosen for each judged seed on its own seeds.

    epochs: in place of those that are judged.
    """
    epochs = listed.data[row.data]["epochs"] if epochs is None else epochs
    chosen, judged = settings(row, ways, listed, epochs), _table(row.data, "judged")
    if None in chosen.values():
        return None
    wanted = [(epochs, *one.values(), seed, row.state) for seed, one in chosen.items()]
    there = set(wanted) <= set(judged.index)
    return judged.loc[wanted, row.measure].to_numpy() if there else None


def settings(row, ways, listed, epochs: int) -> dict[int, dict[str, Any] | None]:
    """By judged seed its way, strength and decay of least NLL; None where not all were tried."""
    table, by = _table(row.data, "selection"), listed.criterion[row.state]
    tried = {seed: table[(table.epochs == epochs) & (table.seed == seed)]
             for seed in factorial.seeds(listed.data[row.data])}  # fmt: skip
    return {seed: factorial.best(rows, ways, by) if set(ways) <= set(rows.way) else None
            for seed, rows in tried.items()}  # fmt: skip


def at_an_edge(row: register.Comparison, listed: register.Register) -> int:
    """In how many seeds a side has the first or the last of the strengths that were tried."""
    known = listed.ways_of(row.data)
    ends = {
        (way, end(tried)) for way, tried in known.items() if len(tried) > 1 for end in (min, max)
    }
    epochs = listed.data[row.data]["epochs"]
    sides = [settings(row, ways, listed, epochs).values() for ways in (row.way, row.rival)]
    return sum(any((one["way"], one["strength"]) in ends for one in both)
               for both in zip(*sides, strict=True))  # fmt: skip


@functools.cache
def _table(name: str, part: str) -> pd.DataFrame:
    rows = factorial.stored(name, part)
    keys = ["epochs", *factorial.SETTING, "seed", "state"]
    return rows.set_index(keys) if part == "judged" else rows


def on_photographs(row, ways, listed) -> np.ndarray:
    """The measure of the best of these ways, chosen on the calibration photographs of all seeds."""
    scaled = row.state == "after T"
    losses = [loss for way in ways for loss in listed.photographs[way]]
    runs = cures.best(night_runs.table(), losses, cures.CHOSEN_BY[scaled])
    return runs[f"{'scaled' if scaled else 'test'}_{row.measure.lower()}"].to_numpy()


def over_epochs(name: str, listed: register.Register) -> pd.DataFrame:
    """Displayed without a word: each way less cross-entropy, whose own value is `rival`.

    A row a way, state, epochs and seed.

    Both at their best; ECE as trained, NLL after T. Epochs that lack a seed are left out.
    """
    rows = []
    for way in factorial.ways(name, listed):
        for state, measure in (("as trained", "ECE"), ("after T", "NLL")):
            one = register.Comparison("", name, measure, listed.margins[measure], state, way=(way,))
            for epochs in sorted(listed.data[name]["shown"]):
                sides = [on_known_truth(one, w, listed, epochs) for w in (one.way, one.rival)]
                if all(side is not None for side in sides):
                    about = {"way": way, "state": state, "measure": measure, "epochs": epochs}
                    pairs = zip(*sides, strict=True)
                    rows += [{**about, "difference": x - y, "rival": y} for x, y in pairs]
    return pd.DataFrame(rows)


@functools.cache
def printed() -> dict[tuple[str, str, str], verdicts.Verdict]:
    """The verdicts of the older experiments, by lesson, claim and statement."""
    rows = json.loads((checkout.results() / claims.CONCLUSIONS).read_text(encoding="utf-8"))
    told = ((lesson, verdicts.parse(line)) for lesson, _, _, lines in rows for line in lines)
    return {(lesson, one.claim, one.statement): one for lesson, one in told if one}


def judged(row: register.Comparison, listed: register.Register) -> dict[str, Any]:
    """A row of the table: the comparison, its word and numbers, what was said before, and why."""
    claim = row.claim.removesuffix("b")
    old = printed().get((row.lesson, claim, row.was or row.before))
    about = {"claim": row.claim, "comparison": str(row), "about": row.about or row.data}
    about |= {"data": row.data, "state": row.state, "measure": row.measure}
    about |= {"expect": row.expect, "margin": row.margin, "than": row.than, "size": row.size}
    how = {"expect": row.expect, "than": row.than, "size": row.size}
    rule, told = FRESH, None
    if row.was:
        ends = old.mean, old.low, old.high, old.seeds, old.level, row.margin
        told = register.judge_again(*ends, level=listed.level, **how)
        narrow = register.judge_again(*ends, level=old.level, **how)
        rule = "one margin" if narrow.word == told.word else "98.75 % interval"
        rule = "" if SAME.get(old.word) == told.word else rule
    else:
        numbers = values(row, listed)
        if row.data == "photographs":
            rule = SEEN
        if numbers is not None:
            told = register.judge(numbers, row.margin, level=listed.level, **how)
    new = {"word": WAITING} if told is None else asdict(told)
    new["edge"] = at_an_edge(row, listed) if rule == FRESH and told else None
    before = {f"old {name}": getattr(old, name) for name in ("word", "mean", "low", "high") if old}
    return about | new | before | {"rule": rule}


def table(listed: register.Register | None = None) -> pd.DataFrame:
    """All comparisons of the register, in its order."""
    listed = register.read() if listed is None else listed
    _table.cache_clear()
    rows = pd.DataFrame([judged(row, listed) for row in listed.comparisons])
    return rows.astype(dict.fromkeys(("seeds", "more", "edge"), "Int64")).round(6)


def counts(rows: pd.DataFrame) -> str:
    """How often each word was given.

    >>> counts(pd.DataFrame({"word": ["OPEN", "HOLDS", "OPEN"]}))
    '3 comparisons: 1 HOLDS, 2 OPEN'
    """
    many = rows.word.value_counts()
    words = [f"{many[word]} {word}" for word in (*verdicts.REGISTERED, WAITING) if word in many]
    return f"{len(rows)} comparisons: {', '.join(words)}"


def main() -> None:
    rows = table()
    rows.to_csv(checkout.results() / NAME, index=False, lineterminator="\n")
    print(counts(rows))


if __name__ == "__main__":
    main()
