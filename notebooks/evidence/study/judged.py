"""The words of the register, as data: notebooks/results/verdicts.csv, a row a comparison.

    cd notebooks/evidence && python -m study.judged

A comparison whose seeds are not all there has no word yet: nobody looks between.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pandas as pd

from calibkit.course import checkout, claims, verdicts
from calibkit.course.experiments import tables as tables_of
from study import cures, factorial, night_runs, register, stored_runs

NAME = "verdicts.csv"
WAITING = "not run yet"  # in place of a word
FRESH = "ten fresh seeds, each tuned on two of its own by the criterion of its state"
SEEN = "one margin, 98.75 % interval; three seeds, seen before"
PRINTED, ROUNDED = "a printed line", "a printed line, whose rounding may decide"
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


def chosen(row, ways, listed) -> list[tuple[str, Any, float]]:
    """Way, strength (of photographs the loss) and decay of one side, a seed each."""
    if row.data != "photographs":
        found = settings(row, ways, listed, listed.data[row.data]["epochs"])
        return [tuple(one.values()) for one in found.values()]
    runs = _best(row, ways, listed)
    way = next(way for way in ways if runs.loss[0] in listed.photographs[way])
    return [(way, loss, decay) for loss, decay in zip(runs.loss, runs.decay, strict=True)]


def ends(row: register.Comparison, listed: register.Register) -> str:
    """Of the strengths and decays that were tried: in how many seeds the first or the last.

    "smoothing .001, the least tried: 9 of 10; largest decay: 1 of 10". The gammas of focal loss
    are strengths of one way. A decay of 0 is no end: nothing lies beyond.
    """
    families: dict[str, list] = {}
    for way, tried in listed.ways_of(row.data).items():
        family = families.setdefault(way.partition(", gamma")[0], [])
        family += [(way, strength) for strength in tried]
    wide = [family for family in families.values() if len(family) > 1]
    least, most = ({family[place] for family in wide} for place in (0, -1))
    low, *_, high = listed.data[row.data]["decays"]
    sides = [chosen(row, ways, listed) for ways in (row.way, row.rival)]
    seeds, told = len(sides[0]), []
    for side in sides:
        for word, ending in (("least", least), ("most", most)):
            names = Counter(_name(*one[:2]) for one in side if one[:2] in ending)
            if names:
                named = " or ".join(name for name, _ in names.most_common())
                told.append(f"{named}, the {word} tried: {names.total()} of {seeds}")
    for word, end in (("least", low), ("largest", high)):
        many = sum(any(one[2] == end for one in both) for both in zip(*sides, strict=True))
        if end and many:
            told.append(f"{word} decay: {many} of {seeds}")
    return "; ".join(told)


def _name(way: str, strength: float | str) -> str:
    if isinstance(strength, str) or ", gamma" in way:
        return strength if isinstance(strength, str) else way
    return f"{way.removeprefix('own choice, ')} {strength:g}".replace(" 0.", " .")


@functools.cache
def _table(name: str, part: str) -> pd.DataFrame:
    rows = factorial.stored(name, part)
    keys = ["epochs", *factorial.SETTING, "seed", "state"]
    return rows.set_index(keys) if part == "judged" else rows


def on_photographs(row, ways, listed, decay: float | None = None) -> np.ndarray:
    """The measure of the best of these ways, chosen on the calibration photographs of all seeds."""
    part = "scaled" if row.state == "after T" else "test"
    return _best(row, ways, listed, decay)[f"{part}_{row.measure.lower()}"].to_numpy()


def _best(row, ways, listed, decay: float | None = None) -> pd.DataFrame:
    losses = [loss for way in ways for loss in listed.photographs[way]]
    runs = night_runs.table()
    runs = runs if decay is None else runs[runs.decay == decay]
    return cures.best(runs, losses, cures.CHOSEN_BY[row.state == "after T"])


def by_decay(row: register.Comparison, listed: register.Register) -> dict[float, str]:
    """The word with both sides at one weight decay, for each decay that is stored.

    Of digits and notes that of the NLL alone, `on_selection`.
    """
    if row.stored:
        decays = stored_runs.decays(row.stored)
        found = {one: stored_runs.numbers(row.stored, one) for one in decays}
    elif row.way and (row.data == "photographs" or row.measure == "NLL"):
        of = on_photographs if row.data == "photographs" else on_selection
        found = {one: of(row, row.way, listed, one) - of(row, row.rival, listed, one)
                 for one in listed.data[row.data]["decays"]}  # fmt: skip
    else:
        return {}
    return {one: str(_judge(x, row, listed)) for one, x in found.items()}


def on_selection(row, ways, listed, decay: float) -> np.ndarray:
    """The NLL on `cal` of the seeds that choose, a number a judged seed, at one weight decay.

    Of the way and strength whose NLL is least over the other seeds: chosen without this one.
    """
    table = _table(row.data, "selection")
    own = (table.epochs == listed.data[row.data]["epochs"]) & (table.decay == decay)
    by = {"index": "seed", "columns": ["way", "strength"], "values": listed.criterion[row.state]}
    nll = table[own & table.way.isin(ways)].pivot(**by)
    places = (nll.sum() - nll).to_numpy().argmin(axis=1)
    return nll.to_numpy()[np.arange(len(nll)), places]


def _how(row: register.Comparison, listed: register.Register) -> dict[str, Any]:
    return {"expect": row.expect, "than": row.than, "size": row.size, "level": listed.level}


def _judge(numbers, row: register.Comparison, listed: register.Register) -> register.Judged:
    return register.judge(numbers, row.margin, **_how(row, listed))


def beside(row: register.Comparison, listed: register.Register) -> str:
    """Words shown beside a row and not counted: "name | weight decay | word | mean [interval]; ".

    Of each entry of `also`: a way after T, on the fresh seeds at its chosen decay, perhaps `less`
    itself in another state; losses, pooled as the row's own; or what changes in `stored`, at each
    weight decay that is stored.
    """
    found: list[tuple[str, float | None, register.Comparison, Any]] = []
    for name, change in row.also.items():
        if "way" in change:
            one = replace(row, was="", way=tuple(change["way"]), state="after T")
            numbers = on_known_truth(one, one.way, listed)
            if "less" in change:
                less = replace(one, state=change["less"])
                numbers = numbers - on_known_truth(less, one.way, listed)
            found.append((name, None, row, numbers))
        elif row.was in RAW:
            every = [loss for losses in listed.photographs.values() for loss in losses]
            for decay in listed.data["photographs"]["decays"]:
                numbers, size = RAW[row.was](change.get("losses", every), decay)
                found.append((name, decay, replace(row, size=size), numbers))
        else:
            stored = {**row.stored, **change}
            for decay in stored_runs.decays(stored) or [None]:
                found.append((name, decay, row, stored_runs.numbers(stored, decay)))
    told = []
    for name, decay, one, numbers in found:
        new, at = _judge(numbers, one, listed), "" if decay is None else f"{decay:g}"
        mean = f"{new.estimate:+.3f} [{new.low:+.3f}, {new.high:+.3f}]"
        told.append(f"{name} | {at} | {new} | {mean}")
    return "; ".join(told)


def one_temperature(losses=(), decay: float = 0.0) -> tuple[np.ndarray, float]:
    """Of lesson 08's photographs: by how much one T changes the ECE, a number a seed; half the ECE.

    Means over the settings of three stored tables; a run that stands in two counts once. losses: in
    their place of these the runs of `night_runs` at one weight decay.
    """
    tables = [tables_of.on_photographs(name, "laptop") for name in ("focal", "mixup", "noise")]
    runs = pd.concat(tables).drop_duplicates(["seed", "test_ece", "temperature"])
    if losses:
        runs = night_runs.table()
        runs = runs[runs.loss.isin(losses) & (runs.decay == decay)]
    means = runs.groupby("seed")[["test_ece", "scaled_ece"]].mean()
    return (means.scaled_ece - means.test_ece).to_numpy(), means.test_ece.mean() / 2


RAW = {"photographs: one T lowers the ECE, on average over the settings": one_temperature}


def over_epochs(name: str, listed: register.Register) -> pd.DataFrame:
    """Displayed without a word: each way less cross-entropy, whose own value is `rival`.

    A row a way, state, epochs and seed.

    Both at their best; ECE as trained, NLL after T. Epochs that lack a seed are left out.
    """
    rows = []
    for way in listed.ways_of(name):
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
    """The verdicts that the notebooks print, by lesson, claim and statement."""
    every = claims.printed(checkout.root() / "notebooks")
    told = ((one.notebook.rpartition("/")[2][:2], one.verdict) for one in every)
    return {(lesson, one.claim, one.statement): one for lesson, one in told}


def _again(row: register.Comparison, old: verdicts.Verdict, off=(0.0, 0.0, 0.0), **how: Any):
    mean, low, high = (one + by for one, by in zip((old.mean, old.low, old.high), off, strict=True))
    return register.judge_again(mean, low, high, old.seeds, old.level, row.margin, **how)


def hangs(row: register.Comparison, old: verdicts.Verdict, **how: Any) -> bool:
    """Whether half of the last printed decimal, three of most, could change the word."""
    half = 0.5 * 10.0 ** -max(3, len(f"{old.low:.6f}".rstrip("0").partition(".")[2]))
    moves = itertools.product((-half, 0, half), repeat=3)
    moves = (off for off in moves if old.low + off[1] < old.high + off[2])
    return len({_again(row, old, off, **how).word for off in moves}) > 1


def judged(row: register.Comparison, listed: register.Register) -> dict[str, Any]:
    """A row of the table: the comparison, its word and numbers, what was said before, and why."""
    claim = row.claim.removesuffix("b")
    old = printed().get((row.lesson, claim, row.was or row.before))
    about = {"claim": row.claim, "comparison": str(row), "about": row.about or row.data}
    about |= {"data": row.data, "state": row.state, "measure": row.measure}
    about |= {"expect": row.expect, "margin": row.margin, "than": row.than, "size": row.size}
    how = _how(row, listed)
    rule, told, stored = FRESH, None, "each seed"
    if row.was in RAW:
        numbers, how["size"] = RAW[row.was]()
        about["size"] = how["size"]
        told, rule = register.judge(numbers, row.margin, **how), "98.75 % interval"
    elif row.was:
        again = how | {"step": row.step}
        told = _again(row, old, **again)
        stored = ROUNDED if hangs(row, old, **again) else PRINTED
        if row.stored:
            told = register.judge(stored_runs.numbers(row.stored), row.margin, **how)
            stored = "each seed"
        narrow = _again(row, old, **{**again, "level": old.level})
        rule = "one margin" if narrow.word == told.word else "98.75 % interval"
        rule = "" if SAME.get(old.word) == told.word else rule
    else:
        numbers = values(row, listed)
        if row.data == "photographs":
            rule = SEEN
        if numbers is not None:
            told = register.judge(numbers, row.margin, **how)
    new = {"word": WAITING, "excluded": False} if told is None else asdict(told)
    excluded = new.pop("excluded")
    new["ends"] = ends(row, listed) if row.way and told else ""
    new["excluded"] = excluded
    words = by_decay(row, listed) if told else {}
    new["decays"] = "; ".join(f"{decay:g}: {said}" for decay, said in words.items())
    new["beside"] = beside(row, listed)
    new |= {"stored": stored, "late": bool(row.was and old.post_hoc)}
    before = {f"old {name}": getattr(old, name) for name in ("word", "mean", "low", "high") if old}
    return about | new | before | {"rule": rule}


def table(listed: register.Register | None = None) -> pd.DataFrame:
    """All comparisons of the register, in its order."""
    listed = register.read() if listed is None else listed
    _table.cache_clear()
    rows = pd.DataFrame([judged(row, listed) for row in listed.comparisons])
    return rows.astype(dict.fromkeys(("seeds", "more"), "Int64")).round(6)


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
