"""Checks of what was read, each with an option that takes the risk (the first: `tables`)."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from calibkit.auditing import guesses
from calibkit.auditing.guesses import CLEARLY, LIKELY, of_what
from calibkit.auditing.names import (
    FEW,
    RANKS,
    SPLITS,
    TIMES,
    area,
    decides,
    fractional,
    is_number,
    parts,
    short,
    strange,
)
from calibkit.auditing.questions import Options, Unclear, joined
from calibkit.auditing.scores import SOME, slices

MANY = 30  # of which all are right
POINTS = 0.05  # by which another order must be better, beside its standard errors
ABSENT = 0.2  # of the rows are predicted as classes that no label names
MOST_RUNS = 20  # that stand one below the other
LIKELIER = 5.0  # of the log-likelihood


def largest(matrix) -> np.ndarray:
    """(n,) the column of the largest score, a block of rows at a time."""
    blocks = slices(*matrix.shape)
    return np.concatenate([np.asarray(matrix[rows]).argmax(1) for rows in blocks])


def own_predictions(right: np.ndarray, table, roles, options: Options) -> None:
    """Ask where every label is what the model predicts; a column much like it may be the truth."""
    if len(right) < MANY or not right.all() or options.labels_are_true:
        return
    label, other = "the predictions", []
    if roles is not None:
        label = repr(short(roles.label))
        other = [c for c in guesses.decisions(table, roles.label, roles.scores) if not decides(c)]
    raise Unclear(
        f"the labels in {label} are what the scores say in every one of {len(right)} rows: are "
        f"they the model's own predictions? Name the truth with --label, or --labels FILE; if they "
        f"are the truth, say --labels-are-true",
        *([("", {"label": other})] if len(other) == 1 else []),
    )


def sorted_scores(matrix, labels: pd.Series | np.ndarray, roles, table, options: Options) -> None:
    """Ask where all rows have the same order of scores: they are no classes."""
    columns = roles.scores
    if len(matrix) < FEW or options.sorted_classes:
        return
    order = np.argsort(-np.asarray(matrix[:SOME], np.float64).mean(0), kind="stable")
    blocks = (np.asarray(matrix[rows], np.float64)[:, order] for rows in slices(*matrix.shape))
    if not all((np.diff(block, axis=1) <= 0).all() for block in blocks):
        return
    best = columns[order[0]]
    why = (
        f"the scores {short(columns)} are in the same order in every row, as the k best of more "
        f"classes are, and not those of classes: name the largest with --scores "
        f"{shlex.quote(joined([best]))} and what it predicts with --predicted COLUMN; if they are "
        f"the classes, say --sorted-classes"
    )
    if len(columns) == 2:
        scores = np.asarray(matrix, np.float64)
        z = area(scores[:, 1] - scores[:, 0], labels == 1)[1]
        raise Unclear(why, **({"sorted_classes": True} if z > CLEARLY else {}))
    able = guesses.decisions(table, roles.label, columns)
    raise Unclear(why, *([("", {"scores": [best], "predicted": able[0]})] if able else []))


def strange_columns(matrix, roles, table, options: Options) -> None:
    """Ask where some columns of a set are no scores, such as a fold or a count beside them."""
    columns = roles.scores
    if len(columns) < 2 or options.columns_as_named:
        return
    for rows in (slice(SOME), slice(None)):  # all of them only where some look strange
        whole = np.asarray(matrix[rows], np.float64)
        odd = strange(whole[np.isfinite(whole).all(1)])
        if not odd.any():
            return
    left = [column for column, is_odd in zip(columns, odd, strict=True) if is_odd]
    rest = [column for column in columns if column not in left]
    values = whole[:, odd]
    why = (
        f"{short(left)} {'hold' if len(left) > 1 else 'holds'} values from {np.nanmin(values):g} "
        f"to {np.nanmax(values):g} beside the scores {short(rest)}, as a fold, an index or a count "
        f"does, and may be no score: name the others, --scores; if all are scores, say "
        f"--columns-as-named"
    )
    if len(rest) > 1:
        raise Unclear(why, scores=rest)
    raise of_what(table, roles.label, rest[0], why, sure=False, scores=rest)


def row_a_class(
    scores: np.ndarray, rows: dict[str, pd.Series], roles, file: str, options: Options
) -> None:
    """Ask where rows are the classes of a sample, or the best of them: values repeat whose scores
    sum to 1, or to less."""
    n = len(scores)
    if n < FEW or options.rows_are_samples:
        return
    score, label = roles.scores[0], roles.label[0]
    for column, values in rows.items():
        if _ranks(column, values, scores):
            first = values.min()
            raise _long(
                f"{column!r} ranks the scores, which fall from rank to rank", n, "best predictions",
                (values == first).sum(), file, f"  best = long[long[{column!r}] == {first:g}]\n"
                f"  best.to_csv('predictions.csv', index=False)"
            )  # fmt: skip
    for column, values in rows.items():
        codes, unique = pd.factorize(values)
        if len(unique) > n / 2 or codes.min() < 0:
            continue
        sums, each = np.bincount(codes, scores), np.bincount(codes)
        whole = np.abs(sums - 1).max() < 0.02
        one_label = rows[label].groupby(codes).nunique().max() == 1
        if not whole and (sums.max() >= 1.02 or not (one_label or each.min() == each.max())):
            continue
        once = [c for c in rows if c != column and _never_twice(rows[c], codes)]
        if whole:
            of = next((c for c in once if rows[c].nunique() == each[0]), "CLASS")
            true = f"long[long[{label!r}] == 1].set_index({column!r})[{of!r}]"
            same = [c for c in (label, *rows) if of in rows and set(rows[c]) <= set(rows[of])]
            for other in [c for c in same if c not in once][:1]:
                true = f"long.groupby({column!r})[{other!r}].first()"
            what = "classes"
            lines = (
                f"  wide = long.pivot(index={column!r}, columns={of!r}, values={score!r})\n"
                f"  wide.assign(label={true}).to_csv('predictions.csv', index=False)"
            )
        elif any(_names_best(c, rows[c], each.max(), n) for c in once):
            what = "best predictions"
            lines = (
                f"  best = long.loc[long.groupby({column!r})[{score!r}].idxmax()]\n"
                f"  best.to_csv('predictions.csv', index=False)"
            )
        else:
            continue
        why = f"the scores of every value of {column!r} sum to 1 or less"
        raise _long(why, n, what, len(unique), file, lines)


def _long(why: str, n: int, what: str, count: int, file: str, lines: str) -> Unclear:
    """The question whether n rows are something of fewer samples; lines: to make a row a sample."""
    return Unclear(
        f"{why}: the {n} rows are the {what} of {count} samples, no samples. If each is one, say "
        f"--rows-are-samples; else make a row a sample, in Python with these lines:\n"
        f"  import pandas\n  long = {_loaded(file)}\n{lines}"
    )


def _loaded(file: str) -> str:
    """The Python that reads a file."""
    kind = Path(file).suffix.lower().lstrip(".")
    more = {"jsonl": ", lines=True", "tsv": ", sep='\\t'"}.get(kind, "")
    reader = {"json": "json", "jsonl": "json", "parquet": "parquet", "feather": "feather"}
    return f"pandas.read_{reader.get(kind, 'csv')}({file!r}{more})"


def stacked(table, roles, options: Options) -> None:
    """Ask where samples stand once for each value of a column, as for several models or epochs, or
    where rows that were trained on stand beside others."""
    if options.rows_are_samples:
        return
    n, used = len(table), (*roles.scores, *roles.label, roles.predicted)
    flat = [c for c in table.flat(options.left(table, used)) if not fractional(table[c])]
    counts = {c: table[c].value_counts() for c in flat if table[c].notna().all()}
    for column, each in counts.items():
        what = ""
        if 1 < len(each) <= MOST_RUNS and each.nunique() == 1 and not parts(column) & TIMES:
            able = [c for c in counts if FEW <= len(counts[c]) < n and counts[c].nunique() == 1]
            of = next((c for c in able if _crossed(table[c], table[column])), None)
            what = f"every value of {of!r} has rows for each value of {column!r}" if of else ""
        words = {str(value).casefold() for value in each.index}
        if len(words) > 1 and words <= SPLITS and words & {"train", "training"}:
            what = f"{column!r} parts rows that were trained on from others"
        if what:
            file, last = table.file, table[column].tolist()[-1]
            raise Unclear(
                f"{what}: one value is audited at a time. If each row is a sample, say "
                f"--rows-are-samples; else take one, in Python with these lines:\n"
                f"  import pandas\n  table = {_loaded(file)}\n"
                f"  table[table[{column!r}] == {last!r}].to_csv('predictions.csv', index=False)",
                ("each row is a sample", {"rows_are_samples": True}),
                sure=False,
            )


def _ranks(column: str, values: pd.Series, scores: np.ndarray) -> bool:
    """Whether a column called so counts from 0 or 1 what a sample has of the best predictions."""
    if not parts(column) & RANKS or not is_number(values) or values.isna().any():
        return False
    each = values.value_counts().sort_index()
    means = pd.Series(scores).groupby(values.to_numpy()).mean()
    counts = len(each) > 1 and each.index[0] in (0, 1) and (np.diff(each.index) == 1).all()
    return bool(counts and (np.diff(each) <= 0).all() and (np.diff(means) < 0).all())


def _crossed(values: pd.Series, others: pd.Series) -> bool:
    """Whether all pairs of values occur, equally often."""
    each = pd.DataFrame({"a": values, "b": others}).value_counts()
    return each.nunique() == 1 and len(each) == values.nunique() * others.nunique()


def _never_twice(values: pd.Series, codes: np.ndarray) -> bool:
    """Whether no sample has a value twice."""
    return not pd.DataFrame([codes, pd.factorize(values)[0]]).T.duplicated().any()


def _names_best(column: str, values: pd.Series, each: int, n: int) -> bool:
    """Whether words, or what is called so, may be the predictions of samples of `each` rows."""
    return (decides(column) or not is_number(values)) and each < values.nunique() <= n / 2


def better_order(
    labels: np.ndarray, said: np.ndarray, matrix, classes: list[str], kind: str, options: Options
) -> None:
    """Ask where labels assigned to other columns make much more of the predictions right."""
    if options.columns_as_named:
        return
    from scipy.optimize import linear_sum_assignment

    n, count = len(labels), len(classes)
    pairs = np.bincount(labels * count + said, minlength=count**2).reshape(count, count)
    mine = np.trace(pairs) / n
    order = linear_sum_assignment(pairs, maximize=True)[1]
    best = pairs[np.arange(count), order].sum() / n
    error = np.sqrt(max(best * (1 - best), 1 / n) / n)
    chance = np.sqrt(2 * np.log(count) / n)  # some of many orders is better by luck
    absent = np.isin(said, np.unique(labels), invert=True).mean()
    against = count == 2 and area(np.diff(matrix, axis=1)[:, 0], labels == 1)[1] < -LIKELY
    better = best - mine >= max(POINTS, CLEARLY * error, chance) and mine <= 0.5
    if absent <= ABSENT and not better and not against:
        return
    unnamed = [f"unnamed_{k}" for k in range(count)]
    found: list[str] | None = None
    if best - mine > POINTS or against:
        found = guesses.likeliest(pd.Series(np.array(classes)[labels]), unnamed, matrix, kind)
    # another order may as well be that of a model that is often wrong
    counts = guesses.first_class(found)
    absence = f", and {absent:.0%} are predicted as classes that no label names" if absent else ""
    ways: list[tuple[str, dict]] = [
        ("the names of the columns are right", {"columns_as_named": True})
    ]
    shifted = bool(counts) and found != classes
    if shifted:
        ways = [("", {"classes": found})]
    elif found and found != classes and len(set(classes)) == len(set(found) & set(classes)):
        ways.append((f"the columns stand for {', '.join(found)}", {"classes": found}))
    raise Unclear(
        f"the largest score is right in {mine:.1%} of the rows, in {best:.1%} if the labels are "
        f"assigned to other columns{absence}: say the label of each column of scores, in their "
        f"order, with --classes{counts}, or another --label; if the names are right, say "
        f"--columns-as-named",
        *ways,
        sure=shifted,
    )


def direction(
    scores: np.ndarray, labels: np.ndarray, table, roles, positive: str, kind: str, options: Options
) -> None:
    """Ask where the scores are clearly higher for the other label."""
    if options.columns_as_named or not 0 < labels.sum() < len(labels):
        return
    found, z = area(scores, labels == 1)
    score, label = roles.scores[0], roles.label
    inner = np.clip(scores, 1e-3, 1 - 1e-3)
    each = scores if kind == "logits" else np.log(inner / (1 - inner))
    odds = float(np.where(labels == 1, 1, -1) @ np.clip(each, -7, 7))
    if z < -LIKELY or (z < LIKELY and odds < -LIKELIER and options.positive is None):
        why = f"the scores are lower where the label is {positive!r} (AUC {found:.3f}), which "
        why += "--columns-as-named takes as it is"
        raise of_what(table, label, score, why, sure=False, event=positive)


def confidences(
    scores: np.ndarray, right: np.ndarray, name: str, file: str, options: Options
) -> None:
    """Ask where (n,) scores may be no confidences: they fall where predictions are right, or are of
    the label itself, which is predicted wherever they lie above one half and not where they are
    lowest.
    """
    if options.columns_as_named:
        return
    found, z = area(scores, right)
    what = f"are lower in rows that are right (AUC {found:.3f})" if z < -CLEARLY else ""
    high, lowest = right[scores > 0.5], np.argsort(scores, kind="stable")[:FEW]
    low = scores[lowest].max() < 0.5 and not right[lowest].any()
    if low and len(high) >= FEW and high.all():
        what = "are the probability of the label, for all above one half are right"
    if what:
        raise Unclear(
            f"the scores may be no confidence of predictions: they {what}; name others with "
            f"--scores, or if they are confidences, say --columns-as-named. An uncertainty becomes "
            f"a confidence in Python with these lines, the probability p of an event by "
            f"numpy.maximum(p, 1 - p):\n"
            f"  import pandas\n  table = {_loaded(file)}\n"
            f"  table[{name!r}] = 1 - table[{name!r}]\n"
            f"  table.to_csv('predictions.csv', index=False)"
        )


def predicted_otherwise(table, roles, positive: str, options: Options) -> None:
    """Ask where predictions beside a score of two labels do not follow from it."""
    score = roles.scores[0]
    column = guesses.contradicting(table, roles.label, score, positive)
    if column is None or options.columns_as_named:
        return
    least = np.nanmin(np.asarray(table[score], float))
    raise Unclear(
        f"{score!r} does not rise with the predictions in {column!r}, so that it may be of these, "
        f"--predicted {shlex.quote(column)}, or of each row's own label; if it is the probability "
        f"of {positive!r} and they are of another model, say --columns-as-named",
        *([("", {"predicted": column})] if least >= 0.5 else []),
    )


def below_half(
    scores: np.ndarray, labels: np.ndarray, table, roles, positive: str,
    options: Options, *, surely: bool,
) -> None:  # fmt: skip
    """Ask of scores that never fall below one half, though the other label is frequent."""
    inside = len(scores) >= FEW and scores.min() >= 0.5 and scores.max() <= 1
    if not inside or labels.mean() >= 0.9 or (surely and not positive.lstrip("+-").isdigit()):
        return
    score, label = roles.scores[0], roles.label
    share = f"{1 - labels.mean():.0%} of the labels are not {positive}"
    why = f"no score in {score!r} is below one half, but {share}"
    asked = of_what(table, label, score, why)
    if abs(area(scores, labels == 1)[1]) < CLEARLY:
        asked.ways = [way for way in asked.ways if "predicted" in way[1]]
    if not any("predicted" in how for _, how in asked.ways):
        asked.sure = False
        if not options.label:  # the label may be the prediction
            rest = {name: held for name, held in table.entries.items() if name != label[0]}
            found = guesses.truth(replace(table, entries=rest), [], None, options).get("label")
            if found:
                how = {"label": found, "predicted": label[0]}
                asked.ways.append((f"{score!r} is the confidence of {label[0]!r}", how))
                asked.sure = True
    raise asked
