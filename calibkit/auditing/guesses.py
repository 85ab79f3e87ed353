"""What a question proposes: the likeliest labels, scores and meaning, for the user to confirm.

Nothing here is taken unasked. `search` sets labels beside scores: truth depends on the scores, what
follows from them in every row is a prediction. `meaning` says what one score is of, and `likeliest`
which label each of several columns stands for.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

from calibkit.auditing import names
from calibkit.auditing.names import bare, fractional, parts, short, word, words_of
from calibkit.auditing.questions import Options, Unclear, listed
from calibkit.auditing.scores import double

LIKELY, CLEARLY = 2.0, 3.0  # standard errors of an area under the ROC curve
FOLLOWS = 0.9  # area under the ROC curve of a score for what is predicted by it
SAMPLED = 5000  # rows that a likelihood is computed of
MOST_VALUES = 50  # of a column that may be labels
MOST_COLUMNS = 400  # that are searched for sets of columns
USUAL = (*names.SCORES, *names.CONFIDENCES)
TRUTHS = {"gold", "truth"}  # the probability of each row's own label
MADE = {"model", "llm", "ai", "system"}  # by whom predictions are
CALLED = names.PARTS - names.DECISIONS - {"y", "class", "label", "out"} | {"pd", "risk"}


# --- labels and scores ---


class Fit(NamedTuple):
    """Labels beside scores; the least one is the likeliest."""

    follows: bool  # the labels follow from scores in every row
    order: tuple
    label: list[str]
    scores: list[str]
    evidence: float  # in standard errors above chance


def search(
    table: Any, labels: list[list[str]], scores: list[list[str]] | None, options: Options
) -> list[Fit]:
    """Labels with the scores that may be theirs, the likelier first."""
    found = []
    for place, label in enumerate(labels):
        words = words_of(table, label)
        values = sorted(set(words.dropna().unique()))
        able = [(0, own) for own in scores or []]
        able = able or _sets(table, options.left(table, label), {*values} - {names.mark_of(values)})
        tried = ((rank, own, _fit(table, label, own, words, values)) for rank, own in able)
        fits = [(rank, own, *fit) for rank, own, fit in tried if fit is not None]
        called = bare(label[0])
        usual = names.LABELS.index(called) if called in names.LABELS else len(names.LABELS)
        decides = names.decides(label[0]) or bool(parts(label[0]) & MADE)
        for rank, own, evidence, _ in fits:
            odd = not all(parts(c) & names.KINDS["probs"] for c in own)
            odd = bare(own[0]) not in USUAL if len(own) == 1 else odd
            beside = bool(parts(own[0]) & names.CALIBRATED)
            beside |= parts(own[0]) & names.SPLITS != parts(label[0]) & names.SPLITS
            order = (rank, decides, usual, odd + beside, -_shared(label, own), -evidence, place)
            found.append(Fit(any(fit[3] for fit in fits), order, label, own, evidence))
    return sorted(found)


def _shared(columns: list[str], others: list[str]) -> int:
    """How many words a column and one of scores are both called by: vit_pred and vit_conf."""
    return len((parts(columns[0]) & parts(others[0])) - names.PARTS) if len(others) == 1 else 0


def _fit(
    table: Any, label: list[str], own: list[str], words: pd.Series, values: list[str]
) -> tuple[float, bool] | None:
    """By how many standard errors labels and scores fit better than by chance, and whether the
    labels follow from the scores."""
    matrix, mark = table.matrix(own), names.mark_of(values)
    if mark and (len(own) == 1 or len(values) > len(own)):
        values = [value for value in values if value != mark]
        words = words.where(words != mark)
    good = np.isfinite(matrix.sum(1, dtype=float)) & words.notna().to_numpy()
    mine = words.to_numpy()[good]
    if len(mine) < 4 or len(values) < 2 or len(values) > len(own) > 1:
        return None
    if len(own) > 1:
        return _hits(mine, matrix.argmax(1)[good], len(own))
    score = np.asarray(matrix[good, 0], float)
    events = [names.words(table[c]).to_numpy()[good] == mine for c in decisions(table, label, own)]
    right = names.right_of(label[0], values) or (values[1] if len(values) == 2 else None)
    events += [mine == right] if right else []
    if not events or (right and len(mine) >= names.FEW and not np.ptp(score[mine == right])):
        return None  # what is the same wherever an answer is right is a second mark of that
    areas = [names.area(score, event) for event in events]
    follows = len(values) == 2 and areas[-1][0] in (0.0, 1.0) and len(mine) >= names.FEW
    return max(abs(z) for _, z in areas), follows


def _hits(mine: np.ndarray, said: np.ndarray, count: int) -> tuple[float, bool]:
    """By how many standard errors more often than by chance the largest of `count` scores says the
    labels, in each half of the rows by the pairs of the other half; whether it always does."""
    codes, values = pd.factorize(mine)
    half = (np.random.default_rng(0).random(len(mine)) < 0.5).astype(int)
    pairs = np.zeros((2, len(values), count))
    np.add.at(pairs, (half, codes, said), 1)
    hits = chance = 0.0
    for own, other in (pairs, pairs[::-1]):
        rows, columns = linear_sum_assignment(other, maximize=True)
        hits += own[rows, columns].sum()
        chance += (own.sum(1)[rows] * own.sum(0)[columns]).sum() / max(own.sum(), 1)
    error, met = np.sqrt(max(chance * (1 - chance / len(mine)), 1)), pairs.sum(0) > 0
    always = max(*met.sum(0), *met.sum(1)) == 1 and len(mine) >= names.FEW
    return (hits - chance) / error, always


def _sets(table: Any, left: list[str], values: Collection[str]) -> list[tuple[int, list[str]]]:
    """What may be scores: (rank, columns), several columns before one."""
    flat = table.flat(left)[:MOST_COLUMNS]
    found = [(0, own) for own in names.families(table, flat, values, strict=True)]
    found += [(1, own) for own in names.families(table, flat, values, strict=False)]
    found += [(1 if names.known(own) else 2, own) for own in table.arrays(left)]
    found += [(1, own) for own in [*names.regular(table, flat), *names.opposite(table, flat)]]
    found = [(rank, own) for rank, own in found if not names.averaged(table, own, flat)]
    numeric = [c for c in flat if names.is_number(table[c]) and table[c].nunique() > 2]
    many = [c for c in numeric if table[c].nunique() > 10]
    beside = names.BESIDE - {"no"}
    found += [(2, own) for own in names.runs(table, [c for c in many if not parts(c) & beside])]
    for column in numeric:
        booster = {"margin"} if (table[column] < 0).any() else set()  # whose scores it may be
        called, odd = parts(column) & CALLED, parts(column) & (names.BESIDE | TRUTHS) - booster
        chance = parts(column) & (names.KINDS["probs"] | {"risk"})
        odd = odd & TRUTHS if chance else odd  # prob_on_time
        surely = parts(column) & names.SURE or (called and fractional(table[column]))
        if bare(column) in USUAL or (surely and not odd):
            found.append((3, [column]))
        elif not odd and (fractional(table[column]) or (called and column in many)):
            found.append((4, [column]))
    return found


def which_label(
    table: Any, named: list[str], scores: list[str] | None, options: Options
) -> Unclear:
    """The question which column holds the labels."""
    why = "no column with a usual name holds labels: say --label COLUMN, or --labels FILE"
    if named:
        best = truth(table, named, scores, options).get("label", named[:1])
        why = f"the labels may be{listed(named)}\n  which differ: say which, --label"
        order = [*(name for name in named if [name] != best), *best]
        return Unclear(why, *((f"{name!r} holds the labels", {"label": [name]}) for name in order))
    sets = [scores] if scores else None
    found = truth(table, [], scores, options)
    if len(found.get("scores", [])) == 1:
        why += ". Rows may have several labels, or scores of several models: one is audited at a "
        why += "time, here the first"
    label, own = found.get("label"), [found["scores"]] if "scores" in found else sets
    fits = search(table, [label], own, options) if label and len(label) == 1 else []
    clear = bool(found) and all(fit.evidence >= CLEARLY for fit in fits[:1])
    return Unclear(why, lacks_labels=not clear, sure=clear, **found)


def truth(
    table: Any, named: list[str], scores: list[str] | None, options: Options
) -> dict[str, Any]:
    marks = {} if named or scores else _of_marks(table)
    if marks:
        return marks
    able = named or _may_be_labels(table, options.left(table, scores or []))
    found = search(table, [[c] for c in able], [scores] if scores else None, options)
    if not found:
        return {"label": named[:1]} if named else {}
    if named:  # these are called so: by their names, where they say anything of the scores
        clear = [fit for fit in found if fit.evidence > CLEARLY]
        best = min(clear or found, key=lambda fit: (fit.follows, fit.order[2], fit.order))
        return {"label": best.label}
    return {} if found[0].follows else {"label": found[0].label}  # nothing but predictions


def _may_be_labels(table: Any, columns: list[str]) -> list[str]:
    limit = max(2, min(MOST_VALUES, len(table) // 4))
    return [
        c for c in table.flat(columns)
        if not names.beside(table, c) and not fractional(table[c])
        and 2 <= table[c].nunique() <= limit
    ]  # fmt: skip


def demand_label(table: Any, label: list[str], scores: list[str] | None, options: Options) -> None:
    """Ask where scores fit their labels no better than by chance, and another column clearly."""
    others = (*names.RECORD, *names.WRONG, *names.SCORES)
    left = table.flat(options.left(table, [*label, *(scores or [])]))
    left = [c for c in left if bare(c) not in others and not names.decides(c)]
    if options.label is not None or not left:
        return
    sets = [scores] if scores else None
    mine = max((fit.evidence for fit in search(table, [label], sets, options)), default=0.0)
    if mine >= CLEARLY or (sets and _agrees(table, label, *sets)):
        return
    found = search(table, [[c] for c in _may_be_labels(table, left)], sets, options)
    fits = sorted((fit.evidence, fit.label[0]) for fit in found if not fit.follows)
    better = [name for evidence, name in fits if evidence >= mine + CLEARLY]
    if better:
        ways = [(f"{c!r} holds the labels", {"label": [c]}) for c in dict.fromkeys(better)]
        raise Unclear(
            f"the scores fit {short(label)!r} no better than by chance, but {better[-1]!r} "
            f"clearly: say which of them holds the labels, --label",
            (f"{short(label)!r} holds the labels", {"label": label}), *ways, sure=False,
        )  # fmt: skip


def _agrees(table: Any, label: list[str], scores: list[str]) -> bool:
    """Whether the largest score says the labels, by the names of the columns."""
    words, matrix = words_of(table, label), table.matrix(scores)
    good = words.notna().to_numpy() & np.isfinite(matrix.sum(1, dtype=float))
    own = np.array(names.classes_of(table, scores, set(words[good])), object)
    said = pd.Series(own[matrix.argmax(1)], words.index)
    return len(scores) > 1 and bool(good.any()) and _agree(words[good], said[good])


def _of_marks(table: Any) -> dict[str, Any]:
    """Columns of 0 and 1 beside as many scores: one class a row, or labels of their own."""
    numeric = [c for c in table.columns if table[c].dtype.kind in "iufb"]
    binary = [c for c in numeric if set(table[c].dropna().unique()) == {0, 1}]
    scores = [c for c in numeric if fractional(table[c])]
    pairs = [
        (a, b) for a in names.alike(binary, whole=True) for b in names.alike(scores, whole=True)
    ]
    for own, beside in pairs:
        if len(own) == len(beside) and names.one_hot(table, own):
            return {"label": own, "scores": beside}
    for own, beside in pairs:
        if names.middles(own) == names.middles(beside):
            return {"label": own[:1], "scores": beside[:1]}
    return {}


def which_scores(table: Any, label: list[str], able: list[list[str]], options: Options) -> Unclear:
    """The question which columns hold the scores."""
    words = {w.casefold() for w in words_of(table, label).dropna()}
    named = [c for c in table.columns if word(c).casefold() in words and names.is_number(table[c])]
    beside = names.neighbours(table, named) if len(named) > 1 and len(label) == 1 else []
    unsure = beside and (not able or len(able[0]) == 1)
    if unsure:  # called after all labels; more stand beside
        able = [named, [c for c in table.columns if c in (*named, *beside)]]
    found = [] if unsure else search(table, [label], able or None, options)
    typed = {short(own): {"scores": names.as_typed(table, own)} for own in able}
    if able:
        why = f"the scores may be{listed(typed)}\n  say which, --scores"
    else:
        why = "no column with a usual name holds scores: say --scores COLUMN, or a column for each "
        why += "class, in their order"
    if not found:
        blocks = [own for own in table.arrays(table.columns) if len(own) > 1]
        best = [own[0] for own in blocks if (np.diff(table.matrix(own), axis=1) <= 0).all()]
        said = decisions(table, label, best[:1])
        if said and best:
            return Unclear(why, scores=best[:1], predicted=said[0])
        several = typed.items() if unsure else ()
        return Unclear(why, *((f"the scores are {words}", how) for words, how in several))
    own = found[0].scores
    if len(own) == 1:
        fit = min((f for f in found if len(f.scores) == 1), key=lambda f: f.order[3:])
        own = fit.scores
        called = bare(own[0]) in USUAL or bool(parts(own[0]) & names.SURE)
        stated = called or (names.kind_of(own) and "p" not in parts(own[0]))
        if fit.evidence < CLEARLY and not stated and not typed:
            return Unclear(why)
    if not typed:
        first = [fit.scores for fit in reversed(found) if fit.order[0] == found[0].order[0]]
        typed = {short(own): {"scores": names.as_typed(table, own)} for own in first}
    typed[short(own)] = typed.pop(short(own), {"scores": names.as_typed(table, own)})
    return Unclear(why, *((f"the scores are {words}", how) for words, how in typed.items()))


# --- what one score is of ---


def decisions(table: Any, label: list[str], scores: list[str]) -> list[str]:
    """Columns of what rows may predict, the likeliest first: called so, or much like the labels."""
    if len(label) > 1:
        return []
    words = words_of(table, label)
    values, found = set(words.dropna().unique()), []
    for place, column in enumerate(table.columns):
        if column in (*label, *scores) or fractional(table[column]):
            continue
        own = words_of(table, [column])
        said = set(own.dropna().unique())
        if parts(column) & names.JUDGED and names.right_of(column, said):
            continue  # it says what is right
        called = names.decides(column) and not parts(column) & names.BESIDE
        same = 1 < len(said) <= len(values) + 1 and len(said & values) >= min(2, len(values))
        so_called = (called or parts(column) & {"label", "class"}) and len(said) == len(values) > 1
        if (same and called) or so_called or (len(said) > 1 and _agree(words, own)):
            shared, alike = -_shared([column], scores), -float((words == own).mean())
            found.append((not called, shared, not same, alike, place, column))
    first = min(found, default=(False,))[0]
    return [column for called, *_, column in sorted(found) if called == first]


def _agree(words: pd.Series, other: pd.Series) -> bool:
    """Whether two columns hold the same more often than by chance."""
    shares = words.value_counts(normalize=True), other.value_counts(normalize=True)
    chance = float(shares[0].mul(shares[1], fill_value=0).sum())
    clear = 4 * np.sqrt(chance * (1 - chance) / len(words))
    return float((words == other).mean()) - chance > clear


def contradicting(table: Any, label: list[str], score: str, value: str) -> str | None:
    """A column of predictions that a score of the label `value` does not rise with, if any."""
    own = np.asarray(table[score], float)
    for column in filter(names.decides, decisions(table, label, [score])):
        said = table.words(column).to_numpy() == value
        if 0 < said.sum() < len(said) and names.area(own, said)[0] < FOLLOWS:
            return column
    return None


def of_what(
    table: Any, label: list[str], score: str, why: str, *, sure: bool = True, event: str = "",
    **more: Any,
) -> Unclear:  # fmt: skip
    """The question what one score is of: a label, or the predictions of a column.

    sure: whether the likeliest answer may be called so. event: the label that was said. more:
    options that are said as well.
    """
    words, own = words_of(table, label), np.asarray(table[score], float)
    values, able = sorted(set(words.dropna().unique())), decisions(table, label, [score])
    why += f". Of which label is {score!r}? Say it with --positive, or with --predicted COLUMN if "
    why += "it is the confidence of a prediction"
    mark = names.mark_of(values) if len(values) == 3 and not event else None
    if mark:
        one = [v for v in values if v.casefold() in names.POSITIVE and mark == "-1"]
        rest = " and ".join(v for v in values if v not in one)
        ways = [(f"{rest} are both not {v!r}", more | {"positive": v}) for v in one]
        return marked(Unclear(why, *ways), mark, own, more)
    best, ways = meaning(table, score, label, able), []
    sides = sorted((names.area(own, (words == value).to_numpy()), value) for value in values)
    for (found, z), value in sides:  # the likelier last
        against = z < -LIKELY and contradicting(table, label, score, value)
        if against or (len(values) != 2 and value != event):
            continue
        how = {"positive": value} | ({"columns_as_named": True} if z < -LIKELY else {})
        ways.append((f"{score!r} is of {value!r} (AUC {found:.2f})", how))
    for column in able[:1]:
        ways.append((f"{score!r} is the confidence of {column!r}", {"predicted": column}))
    ways = [(text, more | how) for text, how in ways]
    if not ways:
        return Unclear(why, **more, **best)
    ways.sort(key=lambda way: best.items() <= way[1].items())
    return Unclear(why, *ways, sure=bool(best) and sure)


def meaning(table: Any, score: str, label: list[str], able: list[str]) -> dict[str, Any]:
    """Of what a score is: of predictions, or of the label that it is called after, or fits best.

    Of two classes none is predicted with less than one half.
    """
    words, own = words_of(table, label), np.asarray(table[score], float)
    values, good = sorted(set(words.dropna().unique())), np.isfinite(own) & words.notna().to_numpy()
    predicted = {"predicted": able[0]} if able else {}
    if len(values) > 2:
        return predicted
    least, most = np.nanmin(own), np.nanmax(own)
    of_class = least < (0.5 if most <= 1 else 50) and (0 <= least <= most <= 100 or not able)
    if not of_class:
        return predicted
    z = names.area(own[good], (words == values[-1])[good])[1]
    return {} if abs(z) < LIKELY else {"positive": values[-1] if z > 0 else values[0]}


def right_or_class(mark: str, own: list[str]) -> Unclear:
    """The question whether `correct` says if the largest score is right, or which class is."""
    why = f"{mark!r} may say whether the largest of {short(own)} is right, or which is true"
    both: dict[str, Any] = {"label": [mark], "scores": own}
    ways = [(f"{mark!r} says what is right", both | {"kind": "confidence"})]
    ways = [*([(f"{mark!r} is the class", both)] if len(own) == 2 else []), *ways]
    return Unclear(why, *ways, sure=len(own) > 2)


def or_judged(asked: Unclear, judges: Sequence[str], score: str) -> Unclear:
    """The question `asked`, or whether a judge's column says which answers are right."""
    exact = "--predicted counts an answer as right only where it is letter by letter the target"
    ways = [
        (f"{words}: {exact}" if "predicted" in how else words, how) for words, how in asked.ways
    ]
    for judge in reversed(judges):
        ways.append(("", {"label": [judge], "scores": [score]}))
    said = " or ".join(f"--label {shlex.quote(judge)}" for judge in judges)
    return Unclear(
        f"{', '.join(map(repr, judges))} may say which answers are right: {said}. {exact}", *ways
    )


def right_or_event(
    table: Any, label: list[str], score: str, said: str, options: Options
) -> Unclear:
    """The question whether labels say which answers are right, or are the classes of a score.

    said: the label that says right.
    """
    why = (
        f"{label[0]!r} may say which answers are right, of which {score!r} is the confidence: "
        f"--kind confidence; else say with --positive of which label {score!r} is the probability"
    )
    both: dict[str, Any] = {"label": label, "scores": [score]}
    right = both | {"kind": "confidence"} | ({"scale": 100.0} if options.kind == "percent" else {})
    words, usual = f"{label[0]!r} says which answers are right", bare(label[0]) in names.LABELS
    judged = names.right_of(label[0], set(words_of(table, label).dropna()))
    sure = judged is not None and bool(parts(score) & names.SURE)
    ways, event, rest = [(words, right)], said, sorted(set(words_of(table, label).dropna()))
    if said.casefold() in names.NEGATIVE:  # the label says what is wrong
        event = next(v for v in rest if v.casefold() in names.POSITIVE)
        words, right = f"{label[0]!r} says which answers are wrong", right | {"positive": said}
        rest = [v for v in rest if v not in (said, event)]
        why = f"{label[0]!r} may say which answers are wrong: --kind confidence --positive {said}"
    elif said.casefold() not in names.POSITIVE:  # a letter
        words, right = f"{words} by {said}", right | {"positive": said}
        rest = [v for v in rest if v.casefold() == "c"]
        why += f", or in Python: table['correct'] = table[{label[0]!r}] == {said!r}"
    if "positive" in right:
        ways = [(f"{words}, and {rest[0]} counts as wrong" if rest else words, right)]
        left_out = {"missing": "".join(rest), "drop_missing": True}
        ways += [(f"{words}, and {rest[0]} is left out", right | left_out)] if rest else []
        sure = sure and not rest
    certain = event != said or said.casefold() in (*names.RIGHT, "a")
    if not (parts(score) & names.SURE and certain):
        likely = event != said and names.area(table[score], words_of(table, label) == event)[1] > 0
        way = (f"{score!r} is the probability of {event!r}", both | {"positive": event})
        ways.insert(len(ways) if likely or usual else 0, way)
    for column in decisions(table, label, [score])[:1]:
        ways.append((f"{score!r} is the confidence of {column!r}", both | {"predicted": column}))
    return Unclear(why, *ways, sure=sure)


def marked(asked: Unclear, mark: str | None, scores: np.ndarray, more: dict) -> Unclear:
    """The question `asked`, or whether a label stands for no value; more: options said as well."""
    if mark is None or (scores == pd.to_numeric(mark, errors="coerce")).any():  # a score, too
        return asked
    typed = shlex.quote(mark)
    why = f"{asked}; if {mark} stands for no value, say --missing={typed} and --drop-missing"
    how = more | {"missing": mark, "drop_missing": True}
    return Unclear(why, *asked.ways, (f"{mark} stands for no value", how), sure=not asked.ways)


def right_or_positive(table: Any, label: str, mark: str, score: str) -> Unclear:
    """The question whether a score is of one label, or of what `correct` judges."""
    right = (f"{score!r} is the confidence of what {mark!r} judges", {"label": [mark]})
    asked = of_what(table, [label], score, f"{mark!r} and {label!r} may be what {score!r} is of")
    ways = [(words, how | {"label": [label]}) for words, how in asked.ways]
    ways.insert(len(ways) if np.nanmin(np.asarray(table[score], float)) >= 0.5 else 0, right)
    return Unclear(str(asked), *ways)


def pairs(words: pd.Series, predicted: pd.Series) -> Unclear:
    """The question which prediction means which label."""
    labels, own = sorted(set(words)), sorted(set(predicted))
    why = (
        f"labels, such as {words.iloc[0]!r}, and predictions, such as {predicted.iloc[0]!r}, have "
        f"no value in common: pair them as --classes PREDICTION=LABEL,PREDICTION=LABEL, or name "
        f"other columns"
    )
    if len(labels) != len(own):
        return Unclear(why)
    known = {**dict.fromkeys(names.POSITIVE, "1"), **dict.fromkeys(names.NEGATIVE, "0")}
    if {*labels} == {"0", "1"} and all(one.casefold() in known for one in own):
        order = [known[one.casefold()] for one in own]
    else:
        table = pd.crosstab(predicted.to_numpy(), words.to_numpy()).to_numpy()
        order = [labels[k] for k in linear_sum_assignment(table, maximize=True)[1]]
    return Unclear(why, classes=[f"{a}={b}" for a, b in zip(own, order, strict=True)])


# --- which label each of several columns stands for ---


def which_classes(
    words: pd.Series, own: list[str], unknown: list[str], matrix: Any, kind: str
) -> Unclear:
    """The question which label each column of scores stands for."""
    why = (
        f"the labels {short(unknown)} are none of {short(own)}, as the columns of scores are "
        f"called: say the label of each of these columns, in their order, with --classes"
    )
    order = None if words.nunique() > len(own) else likeliest(words, own, matrix, kind)
    if order is None:
        return Unclear(why)
    values = sorted(set(words))
    if (
        all(map(names.is_whole, values))
        and not any(map(names.is_whole, own))
        and len(values) == len(own)
    ):
        counted = sorted(values, key=int)  # in the order of the columns, unless that is unlikely
        if order != counted:
            ways = [
                (f"the columns stand for {', '.join(o)}", {"classes": o}) for o in (counted, order)
            ]
            return Unclear(why, *ways, sure=False)
    return Unclear(why + first_class(order), classes=order)


def first_class(order: list[str] | None) -> str:
    """The option for classes that count from another number on, as words of a question."""
    if not order or not all(map(names.is_whole, order)):
        return ""
    first = int(order[0])
    counts = order == [str(first + k) for k in range(len(order))]
    return f", or --first-class {first}" if counts else ""


def likeliest(words: pd.Series, own: list[str], matrix: Any, kind: str) -> list[str] | None:
    """The likeliest labels of the columns; whole numbers that lack some are counted on."""
    count, values = len(own), sorted(set(words))
    some = np.unique(np.linspace(0, len(words) - 1, min(len(words), SAMPLED)).astype(int))
    block, mine = double(np.asarray(matrix[some])), words.to_numpy()[some]
    logs = block.log_softmax(1) if kind in ("logits", "logprobs") else block.clamp(min=1e-6).log()
    costs = np.stack([-logs.numpy()[mine == value].sum(0) for value in values])
    if len(values) < count and all(map(names.is_whole, values)):
        places = list(map(int, values))
        low, high = min(places), max(places)
        starts = [s for s in sorted({0, 1, low, high - count + 1}) if s <= low and high < s + count]
        able = {s: sum(costs[k, place - s] for k, place in enumerate(places)) for s in starts}
        best = min(able, key=lambda start: able[start], default=None)
        return None if best is None else [str(best + k) for k in range(count)]
    order = list(own)
    for row, column in zip(*linear_sum_assignment(costs), strict=True):
        order[column] = values[row]
    mixed = any(map(names.is_whole, order)) and not all(map(names.is_whole, order))
    return order if len(set(order)) == count and not (mixed and len(values) < count) else None
