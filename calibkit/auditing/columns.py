"""Which column of a file is what: one convention, and for all else a question.

Names are compared by `names.bare`, labels and the classes in names of columns by `names.word`.
Taken unasked are

1. labels: the one column called as in `names.LABELS` that holds no fractions, or several of 0 and 1
   with one 1 in every row, unless the scores fit it no better than by chance and another column
   clearly; or, of what is right or wrong, the one called as in `names.CORRECT`;
2. scores, a column for each class: called after all labels, beside nothing but words of
   `names.PARTS` (p_cat, P(cat)); a list in a cell or an array (n, K), of the classes 0 to K-1;
3. scores, one column: called as in `names.SCORES`, or after the label that it is of; of answers
   also as in `names.CONFIDENCES`; it is of 1, yes, true, positive, t or + beside its opposite;
4. kinds: what the numbers say (`score_kinds`), and what all names state, where the two agree.

Checks (`checks`) follow, each with an option that takes the risk.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from calibkit.auditing import checks, guesses, names, score_kinds
from calibkit.auditing.names import bare, parts, short, word
from calibkit.auditing.questions import Options, Unclear, listed
from calibkit.auditing.scores import Kind, Scores, content, scores_of
from calibkit.auditing.tables import Table

NO_LABEL = -100  # what PyTorch's losses leave out
MOST_GROUPS = 20  # values of a column of groups: more are persons, perhaps
LEAST_ROWS = 20  # of a group in the mean
MOST_REPEATS = 0.9  # of the rows may have another value, where rows belong together
LEAST_POINTS = 100
FULL = 0.02  # by which a sum may be off 1
OFFERED = 3  # columns of groups
CODE = r"[^\W\d]+[-_./]?\d+"


@dataclass(frozen=True)
class Predictions:
    """What a file holds: scores and labels, perhaps groups and the names of the classes.

    scores: (n, K), or (n,) of the class 1 of two. labels: (n,) numbers of the columns. kind: as
    `audit` takes it. beside: further columns that were asked for. kept: (rows of the file,) which
    of them these are. note: which columns were taken for what. offers: options for the others.
    """

    scores: Any
    labels: Any
    kind: Kind = "auto"
    groups: Any = None
    names: list[str] | None = None
    note: str = ""
    offers: str = ""
    beside: dict[str, Any] = field(default_factory=dict)
    kept: Any = None

    def checked(self) -> Scores:
        """The scores with what they are, as `audit` takes those of a second file."""
        return scores_of(self.scores, self.kind)[0]


@dataclass(frozen=True)
class Roles:
    """The columns of labels, scores and predictions; `answers`: labels say what is right."""

    label: list[str]
    scores: list[str]
    predicted: str | None = None
    answers: bool = False


def predictions(table: Table, options: Options) -> Predictions:
    """The predictions of a table; raises `Unclear` for what the convention leaves open."""
    for name in (*options.taken, options.predicted):
        if name is not None:
            table.demand(name)
    roles = roles_of(table, options)
    labels, matrix = names.label_column(table, roles.label), _matrix(table, roles.scores)
    walked = content(matrix)
    decided = None if roles.predicted is None else table[roles.predicted]
    lost = walked.bad | labels.isna().to_numpy(dtype=bool)
    if labels.dtype.kind in "iuf" and not roles.answers:
        lost |= (labels == NO_LABEL).to_numpy()
    if decided is not None:
        lost |= decided.isna().to_numpy(bool)
    if matrix.shape[1] > 1 and not options.drop_missing:
        _demand_full(matrix, walked.bad)
    kept = _kept(lost, options)
    if lost.any():
        matrix, labels = matrix[kept], labels[kept]
        decided = None if decided is None else decided[kept]
    if options.scale is not None:
        matrix = np.asarray(matrix, np.float64) / options.scale
    if lost.any() or options.scale is not None:
        walked = content(matrix)
    words, single = names.words(labels), matrix.shape[1] == 1
    if matrix.shape[1] > 2 and not roles.answers:
        checks.sorted_scores(matrix, words, roles, table, options)
    checks.strange_columns(matrix, roles, table, options)
    kind, note = score_kinds.decided(
        matrix, walked, roles.scores, options, answers=roles.answers,
        signed=table.signed(roles.scores),
    )  # fmt: skip
    matrix = score_kinds.scaled(matrix, kind, single)
    if single:
        rows = {c: table[c][kept] for c in table.columns if c not in roles.scores}
        checks.row_a_class(matrix[:, 0], rows, roles, table.file, options)
    checks.stacked(table, roles, options)
    if roles.answers:
        read = _answers(matrix, words, decided, kind, options)
        name = short(roles.scores)
        checks.confidences(read.scores, read.labels == 1, name, table.file, options)
    elif single:
        read = _of_one(matrix[:, 0], words, kind, table, roles, options)
    else:
        read = _of_classes(matrix, words, kind, table, roles, options)
    left_out = f"{lost.sum()} of {len(lost)} rows left out" if lost.any() else ""
    text = [*table.told, _note(table, roles, options), left_out, note, read.note]
    return replace(
        read,
        groups=None if options.groups is None else table[options.groups][kept],
        beside={name: table[name][kept] for name in options.beside},
        note="; ".join(filter(None, text)),
        offers=_offers(table, roles, options),
        kept=kept,
    )


def _note(table: Table, roles: Roles, options: Options) -> str:
    """What was taken for what."""
    text = f"labels from {short(roles.label)!r}, scores from {short(roles.scores)}"
    text += f", of the predictions in {roles.predicted!r}" if roles.predicted else ""
    unused = _unused(table, roles, options)
    return text + (f"; not used: {short(unused)}" if unused else "")


def _unused(table: Table, roles: Roles, options: Options) -> list[str]:
    return options.left(table, [*roles.scores, *roles.label, roles.predicted])


def _offers(table: Table, roles: Roles, options: Options) -> str:
    """Columns of few values as groups, and a column of ids that repeat as clusters, as options."""
    groups, together = [], []
    decided = guesses.decisions(table, roles.label, roles.scores)
    for column in table.flat(_unused(table, roles, options)):
        values = table[column].dropna()
        called = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", column)  # PatientID
        stem = re.escape(re.sub(r"(_\d+)+$", "", column))
        listed = sum(bool(re.fullmatch(rf"{stem}(_\d+)+", other)) for other in table.columns) > 1
        if (
            parts(called) & names.NO_GROUP
            or column in decided
            or names.fractional(values)
            or listed
            or table.words(column).equals(names.words_of(table, roles.label))
        ):
            continue
        count = values.nunique()
        if 1 < count <= min(MOST_GROUPS, len(table) / LEAST_ROWS):
            groups.append(f"--groups {shlex.quote(column)} judges each {column}")
        elif MOST_GROUPS < count <= MOST_REPEATS * len(table) and _is_id(called, values):
            together.append(f"--cluster {shlex.quote(column)} if its rows belong together")
    groups = [] if options.groups else groups[:OFFERED]
    return "; ".join([*groups, *together[:1]])


def _is_id(called: str, values: pd.Series) -> bool:
    """Whether a column is called as ids are, or holds codes of letters and a number: A_12."""
    of_one = rf"(.*_|{'|'.join(names.TOGETHER)})(id|nr|no|num|key|ref)|{'|'.join(names.TOGETHER)}"
    some = names.words(values.head(LEAST_ROWS)).str
    return bool(re.fullmatch(of_one, bare(called))) or some.fullmatch(CODE).all()


# --- which columns ---


def roles_of(table: Table, options: Options) -> Roles:
    """The columns by options and convention."""
    scores = expanded(table, options.scores) if options.scores else None
    if options.label is not None:
        return _with_label(table, _named_label(table, options.label), scores, options)
    left = options.left(table, scores or [])
    named = [[c] for c in _unlike(table, left, names.LABELS, _is_label)]
    named += [
        own
        for name, own in table.blocks.items()
        if bare(name) in names.LABELS and names.one_hot(table, own)
    ]
    marks = _unlike(table, left, names.CORRECT, _is_mark)
    one = scores if scores is not None and len(scores) == 1 else left
    confident = [c for c in one if bare(c) in names.CONFIDENCES and names.is_number(table[c])]
    if not marks:
        marks = _unlike(table, left, [names.MARK], _is_mark)[:1]
        marks = marks if confident or (marks and _singles(table, marks, left)) else []
    judged = marks and options.predicted is None and options.positive is None
    if judged and (confident or not named):
        found = [] if scores else _sets(table, marks[:1], left)
        if not found:
            return _with_label(table, [_only_mark(marks)], scores, options)
        if not named:
            raise guesses.right_or_class(marks[0], found[0])
    if len(table.entries) == 2 and not named and len(table.blocks) == 1 and scores is None:
        named = [[c] for c in table.entries if c not in table.blocks and _is_label(table[c])]
    try:
        if len(named) != 1:
            raise guesses.which_label(table, [own[0] for own in named], scores, options)
        roles = _with_label(table, named[0], scores, options, marks)
        if not roles.answers:
            guesses.demand_label(table, roles.label, roles.scores, options)
        return roles
    except Unclear as asked:
        own = named[0] if len(named) == 1 else []
        score, judges = _judges(table, own, left, scores, options)
        if not named or not judges:
            raise
        raise guesses.or_judged(asked, judges, score) from None


def _judges(
    table: Table, label: list[str], left: list[str], scores: list[str] | None, options: Options
) -> tuple[str, list[str]]:
    """The one score that may be a confidence, and columns that say whether answers are right."""
    free = [c for c in table.flat(left) if c not in label and names.is_number(table[c])]
    one = scores or [c for c in free if bare(c) in names.CONFIDENCES]
    free = [c for c in free if not parts(c) & names.BESIDE]
    one = one or [c for c in free if parts(c) & names.SURE or names.fractional(table[c])]
    said = options.positive or options.predicted
    if said or len(one) != 1 or (label and names.right_of(label[0], _class_words(table, label))):
        return "", []
    able = [c for c in table.flat(left) if c not in (*label, *one) and not parts(c) & names.BESIDE]
    able = [c for c in able if parts(c) & names.JUDGED or not parts(c) & names.WRONGED]
    able = [c for c in able if bare(c) not in (*names.LABELS, *names.CORRECT, names.MARK)]
    return one[0], [c for c in able if names.right_of(c, _class_words(table, [c]))]


def _named_label(table: Table, label: list[str]) -> list[str]:
    label = [",".join(label)] if ",".join(label) in table else label
    label = table.blocks.get(label[0], label) if len(label) == 1 else label
    for name in label:
        table.demand(name, "; name one with --label")
    return label


def _with_label(
    table: Table, label: list[str], scores: list[str] | None, options: Options,
    marks: Sequence[str] = (),
) -> Roles:  # fmt: skip
    """The scores beside a label; marks: columns beside it that say what is right."""
    left, lone = options.left(table, label), len(label) == 1
    mark = lone and bare(label[0]) in (*names.CORRECT, names.MARK) and _is_mark(table[label[0]])
    if scores is None:
        found = [] if options.predicted or options.positive else _sets(table, label, left)
        singles = [c for c in left if names.is_number(table[c])]
        singles = [c for c in singles if names.plain(c, names.CALIBRATED) in names.CONFIDENCES]
        singles += [c for c in _singles(table, label, left) if c not in singles]
        able = [[c] for c in singles if mark or c not in marks]
        unsure = any(own in table.blocks.values() and not names.known(own) for own in found)
        able = [*found, *able] if unsure or not found else found
        if len(able) != 1:
            if not mark:
                guesses.demand_label(table, label, None, options)
            raise guesses.which_scores(table, label, able, options)
        scores = able[0]
    for option in ("predicted", "positive"):
        if len(scores) > 1 and getattr(options, option) is not None:
            raise ValueError(
                f"--{option} goes with one column of scores, but there are {len(scores)}: name "
                f"one of them with --scores"
            )
    if options.positive is not None and options.predicted is not None:
        raise ValueError(
            "a score is of a label, --positive, or of a prediction, --predicted: say one of them"
        )
    open_ = len(scores) == 1 and options.positive is None
    answers = options.kind == "confidence" or options.predicted is not None or (mark and open_)
    right = names.right_of(label[0], _class_words(table, label))
    wrong = right is not None and right.casefold() in names.NEGATIVE  # 0 of judge_wrong
    if wrong and len(scores) > 1 and (answers or bare(label[0]) in names.WRONG):
        raise ValueError(
            f"{label[0]!r} says which rows are wrong: write it the other way round, as a column "
            f"'correct'"
        )
    if right and open_ and options.predicted is None and (wrong or not answers):
        raise guesses.right_or_event(table, label, scores[0], right, options)
    if answers:
        return Roles(label, scores, options.predicted, True)
    confident = bare(scores[0]) in names.CONFIDENCES
    if marks and open_:
        if table[label[0]].nunique() > 2 or confident:
            return Roles([_only_mark(marks)], scores, None, True)
        raise guesses.right_or_positive(table, label[0], marks[0], scores[0])
    values, usual = sorted(_class_words(table, label)), bare(label[0]) in names.LABELS
    said = _positive(values) if len(values) == 2 else None
    alone = open_ and (confident or (not usual and parts(scores[0]) & names.SURE))
    alone = alone and not any(map(names.decides, guesses.decisions(table, label, scores)))
    if said is not None and alone:
        raise guesses.right_or_event(table, label, scores[0], said, options)
    if confident and open_:
        why = f"{scores[0]!r} is called a confidence"
        raise guesses.of_what(table, label, scores[0], why, scores=scores)
    return Roles(label, scores)


def _only_mark(marks: Sequence[str]) -> str:
    if len(marks) > 1:
        why = f"which rows are right may be said by{listed(marks)}\n  which differ: "
        ways = ((f"{mark!r} says it", {"label": [mark]}) for mark in reversed(marks))
        raise Unclear(f"{why}say which, --label", *ways)
    return marks[0]


def expanded(table: Table, wanted: list[str]) -> list[str]:
    """Columns by their names, by p_* for all that begin with p_, or by the name of an array."""
    columns: list[str] = []
    for name in wanted:
        pattern = re.escape(name[:-1]) + ".*" if name.endswith("*") else re.escape(name) + r"_\d+"
        able = table.blocks.get(name) or [c for c in table.columns if c == name]
        able = able or [c for c in table.columns if re.fullmatch(pattern, c)]
        if not able:
            table.demand(name, "; name one with --scores")
        columns += [c for c in able if c not in columns]
    return columns


def _unlike(table: Table, left: list[str], called: Sequence[str], fits) -> list[str]:
    """The columns called so that fit, without those that say the same as one before."""
    columns: list[str] = []
    for column in left:
        if names.plain(column, names.REVISED) in called and fits(table[column]):
            words = names.words(table[column])
            if not any(words.equals(names.words(table[other])) for other in columns):
                columns.append(column)
    return columns


def _is_label(column: pd.Series) -> bool:
    """Whether it holds whole numbers or words, and more than one value."""
    return column.nunique() > 1 and not names.fractional(column)


def _is_mark(column: pd.Series) -> bool:
    """Whether it says right or wrong."""
    words = names.words(column.dropna()).str.casefold()
    return len(words) > 0 and bool(words.isin((*names.POSITIVE[:3], *names.NEGATIVE[:3])).all())


def _class_words(table: Table, label: list[str]) -> set[str]:
    """The labels as words."""
    return set(names.words_of(table, label).dropna().unique())


def _sets(table: Table, label: list[str], left: list[str]) -> list[list[str]]:
    """Sets of columns that are called after the labels, and arrays of scores."""
    arrays, flat = [a for a in table.arrays(left) if a != label], table.flat(left)
    words = _class_words(table, label)
    named = names.families(table, flat, words, strict=True)
    named = named or names.families(table, flat, words - {names.mark_of(words)}, strict=True)
    named = list(filter(names.known, arrays)) + (named or names.regular(table, flat))
    return named or (arrays if len(arrays) == 1 == len(table.blocks) else [])


def _singles(table: Table, label: list[str], left: list[str]) -> list[str]:
    """Columns that are called a score, or after one label."""
    shares = [c for c in left if parts(c) & names.KINDS["probs"] and names.fractional(table[c])]
    words = {w.casefold() for w in _class_words(table, label)}
    words -= (
        {"true", "false"} if bare(label[0]) in names.CORRECT else set()
    )  # p_true is of no class
    columns = []
    for column in left:
        values, confident = table[column], bare(column).rstrip("_0123456789") in names.CONFIDENCES
        if confident or not names.is_number(values):
            continue
        decides = parts(column) & (names.DECISIONS | {"y", "output", "outputs", names.MARK})
        if decides and not names.fractional(values):
            continue
        if shares and values.min() >= LEAST_POINTS:  # of a scorecard, beside a probability
            continue
        called = names.plain(column, names.CALIBRATED)
        called = "" if called in names.LABELS and names.fractional(values) else called  # no label
        if called in ("", *names.SCORES) or names.class_in(column, words) is not None:
            columns.append(column)
    return columns


# --- what belongs together ---


def _matrix(table: Table, scores: list[str]) -> np.ndarray:
    matrix = table.matrix(scores)
    for place, column in enumerate(scores if scores not in table.blocks.values() else []):
        texts = table[column].dropna()
        if not np.isfinite(matrix[:, place]).sum() >= max(1, 0.5 * len(texts)):
            such = f", but texts, such as {str(texts.iloc[0])[:40]!r}" if len(texts) else ""
            raise ValueError(f"column {column!r} of scores holds no numbers{such}")
    return matrix


def _demand_full(matrix: np.ndarray, bad: np.ndarray) -> None:
    """Refuse rows whose other scores sum to 1: the missing ones are 0, perhaps."""
    part = np.asarray(matrix[bad], np.float64)
    if len(part) and (np.abs(np.nansum(part, 1) - 1) < FULL).all():
        raise Unclear(
            f"{len(part)} rows lack some scores, and the others of these rows sum to 1: where a "
            f"missing one is 0, save the file anew in Python, after table = table.fillna(0); "
            f"--drop-missing leaves these rows out"
        )


def _kept(lost: np.ndarray, options: Options) -> np.ndarray:
    """Which rows stay; a missing score or label is refused, unless such rows may be left out."""
    places = np.flatnonzero(lost)
    if len(places) == len(lost):
        raise ValueError(f"every one of the {len(lost)} rows lacks a label or a number")
    if len(places) and not options.drop_missing:
        shown = ", ".join(map(str, places[:5])) + (", ..." if len(places) > 5 else "")
        raise Unclear(
            f"{len(places)} of {len(lost)} rows lack a label or a finite score: row {shown} (the "
            f"first is 0). Look why; --drop-missing leaves them out",
            drop_missing=True,
        )
    return ~lost


def _of_classes(
    matrix: np.ndarray, words: pd.Series, kind: str, table: Table, roles: Roles, options: Options
) -> Predictions:
    """Labels as the places of K columns."""
    own, count = names.classes_of(table, roles.scores, set(words)), len(roles.scores)
    stated = options.classes
    if stated is None and options.first_class is not None:
        stated = [str(options.first_class + k) for k in range(count)]
    places = list(map(str, range(count)))
    named = None if set(words) <= set(places) else table.class_names
    classes = list(map(word, stated)) if stated else named or own
    if len(classes) != count:
        raise ValueError(f"classes must name {count} columns, got {len(classes)}")
    if len(set(classes)) < count:
        raise ValueError(f"classes must differ, got {classes[:8]}")
    place = {name: k for k, name in enumerate(classes)}
    folded = {name.casefold(): name for name in place}
    if len(folded) == len(place) and not set(words) <= set(place):
        words = words.map(lambda one: folded.get(one.casefold(), one))
    unknown = sorted(set(words) - set(place))
    if count == 2 and options.classes is None and unknown and set(unknown) <= {"0", "1"}:
        yes = _positive(classes)  # no and yes beside 0 and 1
        place = place if yes is None else {"1": classes.index(yes), "0": 1 - classes.index(yes)}
        unknown = sorted(set(words) - set(place))
    if unknown:
        asked = guesses.which_classes(words, classes, unknown, matrix, kind)
        mark = names.mark_of(set(words))
        if words.nunique() == count + 1 or (unknown == [mark] and words.nunique() < count):
            asked = guesses.marked(asked, mark, matrix, {})
        raise asked
    labels = words.map(place).to_numpy(np.int64)
    if count == 2:
        checks.sorted_scores(matrix, labels, roles, table, options)
    largest = checks.largest(matrix)
    checks.own_predictions(largest == labels, table, roles, options)
    checks.better_order(labels, largest, matrix, classes, kind, options)
    pairs = [f"{c} as {one}" for c, one in zip(roles.scores, classes, strict=True)]
    counted = all(map(names.is_whole, classes)) and not all(map(names.is_whole, own))
    shown = own if options.classes and counted else classes
    shown = table.class_names or shown if classes == places else shown
    form: Kind = "logits" if kind in ("logits", "logprobs") else "probs"
    note = f"classes: {short(pairs)}" if stated else ""
    if count == 2 and _event_first(classes):
        matrix, labels, shown = matrix[:, ::-1], 1 - labels, shown[::-1]
    return Predictions(matrix, labels, form, names=list(shown), note=note)


def _event_first(classes: list[str]) -> bool:
    """Whether of two classes the first is the event: 1 before 0, yes before no, 2 before 1."""
    if all(map(names.is_whole, classes)):
        return int(classes[0]) > int(classes[1])
    return _positive(classes) == classes[0]


def _of_one(
    scores: np.ndarray, words: pd.Series, kind: str, table: Table, roles: Roles, options: Options
) -> Predictions:
    """Labels as 0 and 1, of which the column of scores judges the 1."""
    column, values = roles.scores[0], sorted(set(words))
    named = names.class_in(column, {value.casefold() for value in values})
    numbered = bare(roles.label[0]).endswith(f"_{named}")  # label_0 beside p_0: no class
    after = [value for value in values if value.casefold() == named and not numbered]
    positive = after[0] if len(after) == 1 else _positive(values)
    if options.positive is not None:
        wanted = word(options.positive)
        like = [v for v in values if v.casefold() == wanted.casefold()]
        like = [wanted] if wanted in values else like
        if len(like) != 1:
            raise ValueError(f"--positive must be one of the labels {values[:8]}, got {wanted!r}")
        positive = like[0]
    elif len(values) > 2:
        why = f"there is one column of scores, {column!r}, but the labels have {len(values)} "
        why += f"values, {', '.join(values[:6])}"
        raise guesses.of_what(table, roles.label, column, why)
    elif positive is None:
        raise guesses.of_what(table, roles.label, column, f"labels are {' and '.join(values)}")
    labels = (words == positive).to_numpy().astype(np.int64)
    if kind == "probs" and options.positive is None:
        checks.below_half(scores, labels, table, roles, positive, options, surely=bool(after))
        if options.kind is None and not table.signed(roles.scores):
            score_kinds.demand_scale(scores, labels, column)
    checks.direction(scores, labels, table, roles, positive, kind, options)
    checks.predicted_otherwise(table, roles, positive, options)
    ones, zeros = scores[labels == 1], scores[labels == 0]
    parted = len(ones) > 0 and len(zeros) > 0 and ones.min() > zeros.max()  # by a threshold
    checks.own_predictions(np.full(len(scores), parted), table, roles, options)
    others = [value for value in values if value != positive]
    other = others[0] if len(others) == 1 else "other" if others else f"not {positive}"
    form: Kind = "logits" if kind == "logits" else "probs"
    if (positive, other) in (("1", "0"), ("1", "not 1")):
        return Predictions(scores, labels, form)
    note = f"positive class {positive!r}"
    return Predictions(scores, labels, form, names=[other, positive], note=note)


def _positive(values: list[str]) -> str | None:
    """Which of two labels is the positive one; a single one may be either."""
    folded = [value.casefold() for value in values]
    if len(values) == 1 and folded[0] not in names.POSITIVE:
        return "1" if folded[0] in names.NEGATIVE else None
    if len(values) == 1:
        return values[0]
    pairs = [*zip(names.POSITIVE, names.NEGATIVE, strict=True), ("1", "-1")]
    return next((values[folded.index(yes)] for yes, no in pairs if {*folded} == {yes, no}), None)


def _answers(
    matrix: np.ndarray, words: pd.Series, decided: pd.Series | None, kind: str, options: Options
) -> Predictions:
    """Whether each row is right, and the confidence of it: the largest of several scores."""
    note = "judged by whether the prediction is right"
    if decided is None and options.positive is not None:
        others = sorted(set(words) - {options.positive})
        right = (words == options.positive).to_numpy()
        note += f", which {options.positive} says, and {' and '.join(others)} not"
        if not right.any():
            raise ValueError(f"--positive must be one of {others[:8]}, got {options.positive!r}")
    elif decided is None:
        folded = words.str.casefold()
        unknown = sorted(set(folded) - {*names.POSITIVE, *names.NEGATIVE})
        if len(unknown) == 1 and folded.nunique() == 3:
            mark = words[folded == unknown[0]].iloc[0]
            why = f"labels must say whether a row is right, and are {words.unique().tolist()}"
            said = [{"positive": w} for w in words.unique() if w.casefold() in names.POSITIVE]
            wrong = [(f"{mark} counts as wrong", how) for how in said]
            raise guesses.marked(Unclear(why, *wrong), mark, matrix, {})
        if unknown:
            raise ValueError(
                f"labels must say whether a row is right, by 0 and 1 or yes and no, got "
                f"{unknown[:4]}; say which of them does with --positive, or name another --label"
            )
        right = folded.isin(names.POSITIVE).to_numpy()
    else:
        right = _hits(words, names.words(decided), options)
    if matrix.shape[1] > 1 and kind in ("logits", "logprobs"):
        from scipy.special import softmax

        matrix = softmax(matrix, axis=1)
    elif kind == "logits":
        raise ValueError(
            "a confidence must be a probability: say --kind probs, percent or logprobs"
        )
    return Predictions(
        np.asarray(matrix, np.float64).max(1), right.astype(np.int64), "confidence",
        names=["wrong", "right"], note=note,
    )  # fmt: skip


def _hits(words: pd.Series, decided: pd.Series, options: Options) -> np.ndarray:
    """(n,) whether predictions are the labels."""
    if options.classes:
        pairs = dict(pair.rsplit("=", 1) for pair in options.classes if "=" in pair)
        decided = decided.map(lambda one: pairs.get(one, one))
    if {*words, *decided} <= {"0", "1", "True", "False"}:
        words, decided = (w.replace({"True": "1", "False": "0"}) for w in (words, decided))
    if not set(words) & set(decided):
        raise guesses.pairs(words, decided)
    apart = pd.to_numeric(words, errors="coerce") - pd.to_numeric(decided, errors="coerce")
    if len(set(words)) > 2 and max((apart == 1).mean(), (apart == -1).mean()) > 0.5:
        raise ValueError(
            "most labels differ from the predictions by 1: number both from the same class on, "
            "or name others with --label and --predicted"
        )
    right = (words == decided).to_numpy()
    checks.own_predictions(right, None, None, options)
    return right
