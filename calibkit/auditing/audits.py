"""The audit of one's own model: all numbers of the page, from predictions and labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from calibkit import edge, validate
from calibkit.auditing.advice import Advice, Form, Rise, advise
from calibkit.auditing.concerns import concerns, off_groups, repeated, shared
from calibkit.auditing.cooling import Apart, Cooling, cross_fitted, fitted_apart
from calibkit.auditing.costs import checked, checked_of_answers, of_answers
from calibkit.auditing.measures import Measured
from calibkit.auditing.record import Record
from calibkit.auditing.rows import rows_of
from calibkit.auditing.scores import Kind, Scores, scores_of
from calibkit.auditing.targets import groups_of, labels_of
from calibkit.auditing.units import Units, units_of
from calibkit.validate import Array

TESTS = 1000  # draws of a test


class Audit(Record):
    """What `audit` found, and the way to its page."""

    def html(self) -> str:
        """The page as text: one file that loads nothing and runs nothing."""
        from calibkit.auditing import page  # and what draws

        return page.html(self)

    def write(self, path: str | Path) -> Path:
        """Write the page; returns where it is."""
        path = Path(path)
        path.write_text(self.html(), encoding="utf-8")
        return path

    def numbers(self) -> dict[str, Any]:
        """The numbers of the page by name, after the schema of `auditing.export`."""
        from calibkit.auditing import export

        return export.numbers(self)

    def write_json(self, path: str | Path) -> Path:
        """Write these numbers as JSON; returns where they are."""
        from calibkit.auditing import export

        path = Path(path)
        path.write_text(export.text(self), encoding="utf-8")
        return path


@edge.entry(grad=True, moves=True)
def audit(
    logits: Array | None = None,
    labels: Array | Sequence[str] | None = None,
    *,
    probs: Array | None = None,
    kind: Kind | None = None,
    calibration: tuple | None = None,
    groups: Array | Sequence | None = None,
    clusters: Array | Sequence | None = None,
    weights: Array | Sequence | None = None,
    other: Array | None = None,
    other_labels: Array | None = None,
    costs: Sequence[float] | None = None,
    class_names: Sequence[str] | None = None,
    name: str = "your model",
    other_name: str = "the other model",
    bins: int = 15,
    level: float = 0.95,
    resamples: int = 500,
    seed: int = 0,
) -> Audit:
    """Audit the predictions of a model on a test set.

    logits, probs: one of them: (n, K) scores, or (n,) of class 1 of two, as a tensor, an array, a
        memory map (read block by block, never whole) or a table whose columns are the classes.
    labels: (n,) classes by number, or by name where the columns or `class_names` have names.
    kind: "auto" for scores given as `logits` that may be either; then nothing is warned of. Or
        "percent", "logprobs" (logarithms of probabilities) and "confidence", one column of
        probabilities that what a row predicts is right, with labels 0 and 1 of whether it is.
    calibration: (logits, labels), or with weights a third, that the temperature is fitted on.
        Without it, each half of the test set is divided by the temperature of the other half: no
        sample judges itself.
    groups: (n,) a column by which calibration is judged group by group.
    clusters: (n,) a column whose equal values mark rows that belong together, such as those of
        one patient: intervals and tests take clusters for independent, and no longer rows.
    weights: (n,) of the rows, none negative. Only their ratios count, so that weights make
        nothing surer than it is.
    other: scores of a second model on the same rows, of the same form.
    other_labels: (n,) of kind "confidence" alone: whether the second model's own answers to the
        same questions are right. By default both have the labels of the first.
    costs: of a false alarm and of a miss, such as (1, 20), of a binary model: the page says what
        its decisions cost, as it is and after its temperature. Of kind "confidence": of looking
        an answer up, and of acting on a wrong one.
    class_names, name, other_name: words for the page.
    bins: of equal width; level: of the intervals; resamples: draws of the gaps of bins for
        their intervals; seed: of all that is drawn.

    Raises TypeError and ValueError that say what is wrong with the input.

    >>> report = audit([[2.0, 0.0]] * 40, [0] * 30 + [1] * 10)
    >>> report.measures["accuracy"].value, round(report.measures["confidence"].value, 4)
    (0.75, 0.8808)
    """
    if (logits is None) == (probs is None):
        raise TypeError("audit takes either logits or probs, and then labels")
    if labels is None:
        raise TypeError("labels are missing: pass audit(logits, labels)")
    how = _Options(
        validate.integer("bins", bins, 2),
        validate.level(level),
        validate.integer("resamples", resamples, 10),
        validate.integer("seed", seed, 0),
        None if costs is None else checked(costs),
    )
    given: Any = logits if probs is None else probs
    kind = "probs" if logits is None else kind or "logits"
    class_names = _names(given, class_names)
    given = validate.words_or_numbers("logits" if probs is None else "probs", given)
    labels = validate.words_or_numbers("labels", labels)
    weights, other, other_labels = (
        validate.words_or_numbers(name, value)
        for name, value in (("weights", weights), ("other", other), ("other_labels", other_labels))
    )
    groups, clusters = validate.unhidden("groups", groups), validate.unhidden("clusters", clusters)
    scores, odd = scores_of(given, kind)
    names = _class_names(class_names, scores.classes)
    target = labels_of(labels, len(scores), scores.classes, class_names)
    units = units_of(len(scores), weights, clusters)
    apart, more = _apart(calibration, scores, units, kind, class_names)
    _demand_two(how.costs, scores)
    judged = _judge(scores, target, units, apart, how)
    found = _found(judged, names, groups, how)
    second: dict[str, Any] = {"other": None, "difference": None}
    if other is None and other_labels is not None:
        raise TypeError("other_labels are those of a second model: pass other as well")
    if other is not None:
        apart_labels = _second_labels(other_labels, target, scores)
        theirs = how.measured(_second(other, kind, scores), apart_labels, units)
        less = theirs.less(judged.before)
        second = {"other": theirs.estimates(), "difference": less}
    copies = repeated(scores, judged.before.rows) if clusters is None else []
    odd_rows = concerns(
        judged.before.rows, judged.cooling, bins=how.bins, level=how.level, event=scores.event
    )
    return Audit(
        name=name,
        class_names=tuple(names),
        warnings=(*off_groups(found["groups"]), *odd, *copies, *more, *odd_rows),
        advice=judged.advice(scores, _form(given, kind)),
        other_name=other_name,
        weighted=not units.even,
        of_hits=scores.event,
        clusters=0 if clusters is None else units.count,
        **how.shown(),
        **second,
        **judged.fields(),
        **found,
    )


@dataclass(frozen=True)
class _Options:
    bins: int
    level: float
    resamples: int
    seed: int
    costs: tuple[float, float] | None = None  # of a false alarm and of a miss

    def shown(self) -> dict[str, Any]:
        """Those that a record keeps."""
        return {name: value for name, value in vars(self).items() if name != "costs"}

    def measured(self, scores: Scores, labels: Tensor, units: Units, of_row=None) -> Measured:
        rows = rows_of(
            scores, labels, bins=self.bins, seed=self.seed, temperature=of_row, units=units
        )
        return Measured(rows, units, self.bins, self.level, self.resamples, self.seed)


@dataclass(frozen=True)
class _Judged:
    """A model as it is and with its temperature, and what Platt scaling makes of a binary one."""

    before: Measured
    after: Measured
    cooling: Cooling
    mapped: Any  # binary.Mapped, or None
    event: bool  # whether every row says class 1, as of `Scores`

    def fields(self) -> dict[str, Any]:
        return {
            "rows": self.before.rows,
            "cooled_rows": self.after.rows,
            "cooling": self.cooling,
            "measures": self.before.estimates(),
            "cooled": self.after.estimates(),
            "gain": self.after.less(self.before),
            "shown": (self.before.wide, self.after.wide),
        }

    def advice(self, scores: Scores, form: Form) -> Advice:
        gain = self.after.less(self.before)
        pairs = {"the ECE": (self.after, self.before)}
        if self.mapped is not None and not self.event:
            from calibkit.auditing.binary import event_rows

            event = [replace(part, rows=event_rows(part.rows)) for part in pairs["the ECE"]]
            pairs["the ECE of the event"] = event[0], event[1]
        rises = [
            Rise(name, after.values["ece"] - before.values["ece"], after.rise(before)[0])
            for name, (after, before) in pairs.items()
        ]
        return advise(self.cooling, gain, rises, self.before.estimate("gap"), scores, form)


def _judge(
    scores: Scores, labels: Tensor, units: Units, apart: Apart | None, how: _Options
) -> _Judged:
    if apart is None:
        cooling = cross_fitted(scores, labels, level=how.level, seed=how.seed, units=units)
    else:
        cooling = fitted_apart(len(scores), apart, level=how.level)
    before = how.measured(scores, labels, units)
    after = how.measured(scores, labels, units, cooling.of_row)
    mapped = None
    if scores.classes == 2 and (not scores.event or how.costs is not None):
        from calibkit.auditing.binary import platt

        mapped = platt(scores, labels, apart, bins=how.bins, seed=how.seed, units=units)
    return _Judged(before, after, cooling, mapped, scores.event)


def _found(judged: _Judged, names: list[str], groups, how: _Options) -> dict[str, Any]:
    """What is found beyond the measures."""
    from calibkit.auditing import findings  # loads pandas
    from calibkit.auditing.binary import binary

    rows, units = judged.before.rows, judged.before.units
    test, power = findings.calibration(rows, units, bins=how.bins, resamples=TESTS, seed=how.seed)
    by_group = event = deferral = None
    if groups is not None:
        codes, of_groups = groups_of(groups, len(rows))
        cooled = None if judged.cooling.misfit else judged.after.rows
        by_group = findings.groups(rows, cooled, units, codes, of_groups, how.bins, how.level)
    if judged.mapped is not None and judged.event and how.costs is not None:
        maps = {"as it is": rows, "temperature": judged.after.rows, "Platt": judged.mapped.rows}
        maps = {name: part for name, part in maps.items() if part is not None}
        deferral = of_answers(maps, units, how.level, *how.costs)
        deferral = replace(deferral, platt=judged.mapped.fitted)
    elif judged.mapped is not None:
        event = binary(judged.before, judged.after, judged.mapped, names, TESTS, how.costs)
    return {
        "test": test,
        "power": power,
        "classes": findings.classes(rows, units, names),
        "groups": by_group,
        "mistakes": findings.surest_mistakes(rows, names),
        "coverage": findings.coverage(rows, units),
        "binary": event,
        "deferral": deferral,
    }


def _demand_two(costs: tuple[float, float] | None, scores: Scores) -> None:
    """Refuse costs where there are no two classes, and of answers such that none is looked up."""
    if costs is None:
        return
    if scores.classes != 2:
        raise ValueError("costs are of a binary model: one of two classes, or of one score")
    if scores.event:
        checked_of_answers(costs)


def _form(given: Any, kind: Kind) -> Form:
    """How scores came: as a matrix or as one column, of class 1, and in which unit."""
    shape = np.shape(given)
    of_one = len(shape) == 1 or shape[1] == 1
    return Form(of_one, kind if kind in ("percent", "logprobs") else "")


def _names(given: Any, class_names: Sequence[str] | None) -> list[str] | None:
    """The names of the classes: those given, or of a table's columns."""
    if class_names is None and hasattr(given, "columns"):
        class_names = list(given.columns)
    return None if class_names is None else [str(name) for name in class_names]


def _class_names(names: list[str] | None, classes: int) -> list[str]:
    if names is None or (len(names) == 1 and classes == 2):
        return [str(k) for k in range(classes)]
    if len(names) != classes:
        raise ValueError(f"class_names must name {classes} classes, got {len(names)}")
    return names


def _apart(
    calibration, scores: Scores, units: Units, kind: Kind, names
) -> tuple[Apart | None, list[str]]:
    """The calibration data, checked, and what is to be said about them."""
    if calibration is None:
        if units.count < 4:
            what = "rows" if units.of is None else "clusters"
            raise ValueError(f"logits must hold at least 4 {what} that weigh, got {units.count}")
        return None, []
    if not isinstance(calibration, Sequence) or len(calibration) not in (2, 3):
        raise TypeError("calibration must be a pair (logits, labels), or with weights a third")
    calibration = [validate.words_or_numbers("calibration", part) for part in calibration]
    apart, odd = scores_of(calibration[0], kind)
    if (apart.classes, apart.kind) != (scores.classes, scores.kind):
        raise ValueError(
            f"calibration must hold {scores.kind} of {scores.classes} classes like the test set, "
            f"got {apart.kind} of {apart.classes}"
        )
    target = labels_of(calibration[1], len(apart), apart.classes, names)
    of_rows = units_of(len(apart), *calibration[2:])
    return Apart(apart, target, of_rows), [*odd, *shared(scores, apart)]


def _second(other: Array, kind: Kind, scores: Scores) -> Scores:
    """The scores of a second model of the same rows."""
    second, _ = scores_of(other, kind)
    if (len(second), second.classes) != (len(scores), scores.classes):
        raise ValueError(
            f"other must have the shape of the first model's scores, ({len(scores)}, "
            f"{scores.classes}), got ({len(second)}, {second.classes})"
        )
    return second


def _second_labels(given: Array | None, target: Tensor, scores: Scores) -> Tensor:
    """Whether the second model's answers are right; the labels of the first by default."""
    if given is None:
        return target
    if not scores.event:
        raise ValueError(
            "other_labels are whether a second model's own answers are right, for kind "
            "'confidence'; of classes both models have the same labels"
        )
    return labels_of(given, len(scores), scores.classes, None)


def audit_files(
    path: str | Path,
    *,
    label: str | None = None,
    groups: str | None = None,
    clusters: str | None = None,
    weights: str | None = None,
    labels: str | Path | None = None,
    calibration: str | Path | None = None,
    other: str | Path | None = None,
    **options: Any,
) -> Audit:
    """`audit` of files; see `files.read` for what they may be and what of them may be said.

    groups, clusters, weights: the columns that hold them.
    calibration, other: files of the same form as the first; the second model's labels, where the
    file has some, must be those of the first. Where rows are answers, with whether each is right,
    the second model has its own: row by row they must be answers to the same questions.
    """
    from calibkit.auditing import files  # loads pandas

    asked = {key: options.pop(key) for key in files.READING if key in options}
    named = {"clusters": clusters, "weights": weights}
    beside = {key: column for key, column in named.items() if column is not None}
    asked["beside"] = (*asked.get("beside", ()), *beside.values())
    given = files.read(path, label=label, groups=groups, labels=labels, **asked)
    chosen: dict[str, Any] = {}
    if calibration is not None:
        apart = files.like(files.read(calibration, label=label, **asked), given)
        of_rows = () if weights is None else (apart.beside[weights],)
        chosen["calibration"] = (apart.checked(), apart.labels, *of_rows)
    if other is not None:
        second = files.read(other, label=label, labels=labels, **asked)
        given, second = files.paired(given, second, (Path(path).name, Path(other).name))
        chosen |= {"other": second.checked(), "other_name": Path(other).stem}
        if second.kind == "confidence":
            chosen["other_labels"] = second.labels
    chosen |= {key: given.beside[column] for key, column in beside.items()}
    chosen |= {"kind": given.kind, "groups": given.groups, "class_names": given.names}
    report = audit(given.scores, given.labels, **{"name": Path(path).stem} | chosen | options)
    return replace(report, told=given.note)
