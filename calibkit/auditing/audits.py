"""The audit of one's own model: all numbers of the page, from predictions and labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from torch import Tensor

from calibkit import validate
from calibkit.auditing import cooling as _cooling
from calibkit.auditing import findings, page
from calibkit.auditing.concerns import concerns, shared
from calibkit.auditing.files import groups_of, labels_of
from calibkit.auditing.measures import Resampling
from calibkit.auditing.record import Record
from calibkit.auditing.rows import rows_of
from calibkit.auditing.scores import Kind, Scores, scores_of


class Audit(Record):
    """What `audit` found, and the way to its page."""

    def html(self) -> str:
        """The page as text: one file that loads nothing and runs nothing."""
        return page.html(self)

    def write(self, path) -> Path:
        """Write the page; returns where it is."""
        path = Path(path)
        path.write_text(self.html(), encoding="utf-8")
        return path


def audit(
    logits=None,
    labels=None,
    *,
    probs=None,
    kind: Kind | None = None,
    calibration: tuple | None = None,
    groups=None,
    other=None,
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
    kind : "auto" for scores given as `logits` that may be either; then nothing is warned of.
    calibration : (logits, labels) that the temperature is fitted on. Without it, each half of the
        test set is divided by the temperature of the other half: no sample judges itself.
    groups : (n,) a column by which calibration is judged group by group.
    other : scores of a second model on the same rows, of the same form.
    class_names, name, other_name : words for the page.
    bins : of equal width; level : of the intervals; resamples : of the bootstrap; seed : of both.

    Raises TypeError and ValueError that say what is wrong with the input.

    >>> found = audit([[2.0, 0.0]] * 40, [0] * 30 + [1] * 10)
    >>> found.measures["accuracy"].value, round(found.measures["confidence"].value, 4)
    (0.75, 0.8808)
    """
    if (logits is None) == (probs is None):
        raise TypeError("audit takes either logits or probs, and then labels")
    if labels is None:
        raise TypeError("labels are missing: pass audit(logits, labels)")
    level, bins = validate.level(level), validate.integer("bins", bins, 2)
    resamples = validate.integer("resamples", resamples, 10)
    seed = validate.integer("seed", seed, 0)
    given, kind = (logits, kind or "logits") if probs is None else (probs, "probs")
    class_names = _names(given, class_names)
    scores, said = scores_of(given, kind)
    names = _class_names(class_names, scores.classes)
    target = labels_of(labels, len(scores), scores.classes, class_names)
    cooling, more = _cool(scores, target, calibration, kind, level, seed, class_names)
    options = {"bins": bins, "seed": seed}
    rows = rows_of(scores, target, **options)
    cooled = rows_of(scores, target, temperature=cooling.of_row, **options)
    sampling = Resampling(len(scores), resamples=resamples, level=level, **options)
    values, after = sampling.values(rows), sampling.values(cooled)
    test, power = findings.calibration(rows, resamples=1000, **options)
    of_other = _other(other, kind, scores, target, sampling, options)
    return Audit(
        name=name,
        class_names=tuple(names),
        warnings=(*said, *more, *concerns(rows, cooling, bins=bins, level=level)),
        rows=rows,
        cooled_rows=cooled,
        cooling=cooling,
        measures=sampling.estimates(values),
        cooled=sampling.estimates(after),
        gain=sampling.differences(after, values),
        test=test,
        power=power,
        classes=findings.classes(rows, names),
        groups=None
        if groups is None
        else findings.groups(rows, *groups_of(groups, len(rows)), bins),
        mistakes=findings.surest_mistakes(rows, names),
        coverage=findings.coverage(rows),
        other_name=other_name,
        other=None if of_other is None else sampling.estimates(of_other),
        difference=None if of_other is None else sampling.differences(of_other, values),
        bins=bins,
        level=level,
        resamples=resamples,
        seed=seed,
    )


def _names(given, class_names) -> list[str] | None:
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


def _cool(scores: Scores, labels: Tensor, calibration, kind: str, level: float, seed: int, names):
    """The temperature, and what is to be said about where it comes from."""
    if calibration is None:
        if len(scores) < 4:
            raise ValueError(f"logits must hold at least 4 rows, got {len(scores)}")
        return _cooling.cross_fitted(scores, labels, level=level, seed=seed), []
    if not isinstance(calibration, Sequence) or len(calibration) != 2:
        raise TypeError("calibration must be a pair (logits, labels)")
    apart, said = scores_of(calibration[0], kind)
    if (apart.classes, apart.kind) != (scores.classes, scores.kind):
        raise ValueError(
            f"calibration must hold {scores.kind} of {scores.classes} classes like the test set, "
            f"got {apart.kind} of {apart.classes}"
        )
    own = labels_of(calibration[1], len(apart), apart.classes, names)
    found = _cooling.fitted_apart(len(scores), apart, own, level=level)
    return found, [*said, *shared(scores, apart)]


def _other(other, kind: str, scores: Scores, labels: Tensor, sampling: Resampling, options: dict):
    """The measures of a second model on the same resamples."""
    if other is None:
        return None
    second, _ = scores_of(other, kind)
    if (len(second), second.classes) != (len(scores), scores.classes):
        raise ValueError(
            f"other must have the shape of the first model's scores, ({len(scores)}, "
            f"{scores.classes}), got ({len(second)}, {second.classes})"
        )
    return sampling.values(rows_of(second, labels, **options))


def audit_files(
    path,
    *,
    label: str | None = None,
    groups: str | None = None,
    labels=None,
    calibration=None,
    other=None,
    **options,
) -> Audit:
    """`audit` of files; see `files.read` for what they may be.

    calibration, other: files of the same form as the first; the second model's labels, where the
    file has some, must be those of the first.
    """
    from calibkit.auditing.files import read

    given = read(path, label=label, groups=groups, labels=labels)
    chosen = {"kind": given.kind, "groups": given.groups, "class_names": given.names}
    if calibration is not None:
        apart = read(calibration, label=label)
        chosen["calibration"] = (apart.scores, apart.labels)
    if other is not None:
        second = read(other, label=label, labels=labels)
        if not np.array_equal(np.asarray(second.labels), np.asarray(given.labels)):
            raise ValueError(
                f"{Path(other).name} has other labels than {Path(path).name}: two models are "
                f"compared on the same rows in the same order"
            )
        chosen |= {"other": second.scores, "other_name": Path(other).stem}
    found = audit(given.scores, given.labels, **{"name": Path(path).stem} | chosen | options)
    return replace(found, told=given.told)
