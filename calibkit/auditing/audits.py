"""The audit of one's own model: all numbers of the page, from predictions and labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import Tensor

from calibkit import validate
from calibkit.auditing.concerns import concerns, shared
from calibkit.auditing.cooling import Cooling, cross_fitted, fitted_apart
from calibkit.auditing.measures import Resampling
from calibkit.auditing.record import Record
from calibkit.auditing.rows import rows_of
from calibkit.auditing.scores import Kind, Scores, scores_of
from calibkit.auditing.targets import groups_of, labels_of
from calibkit.validate import Array


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


def audit(
    logits: Array | None = None,
    labels: Array | Sequence[str] | None = None,
    *,
    probs: Array | None = None,
    kind: Kind | None = None,
    calibration: tuple | None = None,
    groups: Array | Sequence | None = None,
    other: Array | None = None,
    class_names: Sequence[str] | None = None,
    name: str = "your model",
    other_name: str = "the other model",
    bins: int = 15,
    level: float = 0.9,
    resamples: int = 500,
    seed: int = 0,
) -> Audit:
    """Audit the predictions of a model on a test set.

    Parameters
    ----------
    logits, or probs : (n, K) scores, or (n,) of class 1 of two: a tensor, an array, a memory map
        (read block by block, never whole) or a table whose columns are named as the classes.
    labels : (n,) classes by number, or by name where the columns or `class_names` have names.
    kind : "auto" for scores given as `logits` that may be either; then nothing is warned of. Or
        "percent", "logprobs" (logarithms of probabilities) and "confidence", one column of
        probabilities that what a row predicts is right, with labels 0 and 1 of whether it is.
    calibration : (logits, labels) that the temperature is fitted on. Without it, each half of the
        test set is divided by the temperature of the other half: no sample judges itself.
    groups : (n,) a column by which calibration is judged group by group.
    other : scores of a second model on the same rows, of the same form.
    class_names, name, other_name : words for the page.
    bins : of equal width; level : of the intervals; resamples : of the bootstrap; seed : of both.

    Raises TypeError and ValueError that say what is wrong with the input.

    >>> report = audit([[2.0, 0.0]] * 40, [0] * 30 + [1] * 10)
    >>> report.measures["accuracy"].value, round(report.measures["confidence"].value, 4)
    (0.75, 0.8808)
    """
    from calibkit.auditing import findings  # loads pandas

    if (logits is None) == (probs is None):
        raise TypeError("audit takes either logits or probs, and then labels")
    if labels is None:
        raise TypeError("labels are missing: pass audit(logits, labels)")
    level, bins = validate.level(level), validate.integer("bins", bins, 2)
    resamples = validate.integer("resamples", resamples, 10)
    seed = validate.integer("seed", seed, 0)
    given: Any = logits if probs is None else probs
    kind = "probs" if logits is None else kind or "logits"
    class_names = _names(given, class_names)
    scores, odd = scores_of(given, kind)
    names = _class_names(class_names, scores.classes)
    target = labels_of(labels, len(scores), scores.classes, class_names)
    cooling, more = _cool(scores, target, calibration, kind, level, seed, class_names)
    rows = rows_of(scores, target, bins=bins, seed=seed)
    cooled = rows_of(scores, target, bins=bins, seed=seed, temperature=cooling.of_row)
    sampling = Resampling(len(scores), resamples=resamples, level=level, bins=bins, seed=seed)
    values, after = sampling.values(rows), sampling.values(cooled)
    test, power = findings.calibration(rows, resamples=1000, bins=bins, seed=seed)
    by_group = second = None
    if groups is not None:
        by_group = findings.groups(rows, *groups_of(groups, len(rows)), bins)
    if other is not None:
        second = sampling.values(
            rows_of(_second(other, kind, scores), target, bins=bins, seed=seed)
        )
    return Audit(
        name=name,
        class_names=tuple(names),
        warnings=(*odd, *more, *concerns(rows, cooling, bins=bins, level=level)),
        rows=rows,
        cooled_rows=cooled,
        cooling=cooling,
        measures=sampling.estimates(values),
        cooled=sampling.estimates(after),
        gain=sampling.differences(after, values),
        test=test,
        power=power,
        classes=findings.classes(rows, names),
        groups=by_group,
        mistakes=findings.surest_mistakes(rows, names),
        coverage=findings.coverage(rows),
        other_name=other_name,
        other=None if second is None else sampling.estimates(second),
        difference=None if second is None else sampling.differences(second, values),
        bins=bins,
        level=level,
        resamples=resamples,
        seed=seed,
    )


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


def _cool(
    scores: Scores, labels: Tensor, calibration, kind: Kind, level: float, seed: int, names
) -> tuple[Cooling, list[str]]:
    """The temperature, and what is to be said about where it comes from."""
    if calibration is None:
        if len(scores) < 4:
            raise ValueError(f"logits must hold at least 4 rows, got {len(scores)}")
        return cross_fitted(scores, labels, level=level, seed=seed), []
    if not isinstance(calibration, Sequence) or len(calibration) != 2:
        raise TypeError("calibration must be a pair (logits, labels)")
    apart, odd = scores_of(calibration[0], kind)
    if (apart.classes, apart.kind) != (scores.classes, scores.kind):
        raise ValueError(
            f"calibration must hold {scores.kind} of {scores.classes} classes like the test set, "
            f"got {apart.kind} of {apart.classes}"
        )
    target = labels_of(calibration[1], len(apart), apart.classes, names)
    cooling = fitted_apart(len(scores), apart, target, level=level)
    return cooling, [*odd, *shared(scores, apart)]


def _second(other: Array, kind: Kind, scores: Scores) -> Scores:
    """The scores of a second model of the same rows."""
    second, _ = scores_of(other, kind)
    if (len(second), second.classes) != (len(scores), scores.classes):
        raise ValueError(
            f"other must have the shape of the first model's scores, ({len(scores)}, "
            f"{scores.classes}), got ({len(second)}, {second.classes})"
        )
    return second


def audit_files(
    path: str | Path,
    *,
    label: str | None = None,
    groups: str | None = None,
    labels: str | Path | None = None,
    calibration: str | Path | None = None,
    other: str | Path | None = None,
    **options: Any,
) -> Audit:
    """`audit` of files; see `files.read` for what they may be and what of them may be said.

    calibration, other: files of the same form as the first; the second model's labels, where the
    file has some, must be those of the first.
    """
    from calibkit.auditing import files  # loads pandas

    asked = {key: options.pop(key) for key in files.READING if key in options}
    given = files.read(path, label=label, groups=groups, labels=labels, **asked)
    chosen: dict[str, Any] = {}
    if calibration is not None:
        apart = files.like(files.read(calibration, label=label, **asked), given)
        chosen["calibration"] = (apart.checked(), apart.labels)
    if other is not None:
        second = files.read(other, label=label, labels=labels, **asked)
        given, second = files.paired(given, second, (Path(path).name, Path(other).name))
        chosen |= {"other": second.checked(), "other_name": Path(other).stem}
    chosen |= {"kind": given.kind, "groups": given.groups, "class_names": given.names}
    report = audit(given.scores, given.labels, **{"name": Path(path).stem} | chosen | options)
    return replace(report, told=given.told)
