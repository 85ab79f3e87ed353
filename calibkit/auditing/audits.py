"""The audit of one's own model: all numbers of the page, from predictions and labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from calibkit import torch_defaults, validate
from calibkit.auditing.advice import (
    Advice,
    Form,
    Rise,
    advise,
    concerns,
    left_out,
    not_for_all,
    off,
    repeated,
    shared,
)  # fmt: skip
from calibkit.auditing.cross_fitted import Apart, Cooling, cross_fitted, fitted_apart
from calibkit.auditing.labels_and_groups import Units, groups_of, labels_of, units_of
from calibkit.auditing.measures import NAMES, Estimate, Measured, Rows, rows_of
from calibkit.auditing.scores import Kind, Scores, scores_of
from calibkit.metrics import CalibrationTest, Reliability
from calibkit.validate import Array

if TYPE_CHECKING:
    import pandas as pd

    from calibkit.auditing.binary import Binary, Costs

OF_EVENT = ("event_ece", "event_gap")  # measures of a binary model alone


@dataclass(frozen=True)
class Audit:
    """All that an audit found, and the way to its page.

    measures, cooled: every measure of the model, and of the model divided by its temperature.
    gain: cooled less as it is, paired. other, difference: of the second model, and that less this
    one, paired. groups, other, difference: None where nothing was given. told: what of a file was
    taken for what. advice: what is said of the temperature. shown: the bins of the diagrams, as it
    is and cooled. binary: of a model of two classes. weighted, clusters: whether rows have weights,
    and how many clusters they make, 0 without. deferral: what acting on answers, or looking them
    up, costs, where the audit was told the two costs. of_hits: whether there are no classes, but
    of each row the confidence and whether it is right.

    An interval whose coverage no simulation has shown is left out: its ends are NaN.
    """

    name: str
    class_names: tuple[str, ...]
    warnings: tuple[str, ...]
    rows: Rows
    cooling: Cooling
    measures: dict[str, Estimate]
    cooled: dict[str, Estimate]
    gain: dict[str, Estimate]
    test: CalibrationTest
    power: dict[float, float]
    classes: pd.DataFrame
    groups: pd.DataFrame | None
    mistakes: pd.DataFrame
    coverage: tuple[np.ndarray, np.ndarray, pd.DataFrame]
    other_name: str
    other: dict[str, Estimate] | None
    difference: dict[str, Estimate] | None
    bins: int
    level: float
    resamples: int
    seed: int
    advice: Advice
    shown: tuple[Reliability, Reliability]
    binary: Binary | None = None
    weighted: bool = False
    clusters: int = 0
    told: str = ""
    deferral: Costs | None = None
    of_hits: bool = False

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
        """The numbers of the page by name, after `audit.schema.json`."""
        from calibkit.auditing import page

        return page.numbers(self)

    def write_json(self, path: str | Path) -> Path:
        """Write these numbers as JSON; returns where they are."""
        from calibkit.auditing import page

        path = Path(path)
        path.write_text(page.text(self), encoding="utf-8")
        return path

    @property
    def off(self) -> list[str]:
        """The names of the groups that are off by more than luck."""
        if self.groups is None:
            return []
        return self.groups["name"][self.groups["flag"] == "off"].tolist()

    def over(self, limits: Mapping[str, float]) -> list[str]:
        """In words, the measures that lie above their limits; of signs the size counts.

        limits: by measure, such as {"ece": 0.05}; of a binary model also "event_ece" and
        "event_gap". Raises ValueError for another name.
        """
        known = {name: estimate.value for name, estimate in self.measures.items()}
        if self.binary is not None:
            known |= {"event_ece": self.binary.ece.value, "event_gap": self.binary.gap.value}
        demand_measures(limits, known)
        return [
            f"{name} is {abs(known[name]):.4f}, above {limit:g}"
            for name, limit in limits.items()
            if not abs(known[name]) <= limit  # NaN does not pass
        ]

    def __str__(self) -> str:
        from calibkit.auditing import page

        return page.lines(self)


def demand_measures(names: Iterable[str], known: Iterable[str] = (*NAMES, *OF_EVENT)) -> None:
    """Raise ValueError for a name that is none of these measures."""
    for name in names:
        if name not in known:
            raise ValueError(f"no measure {name!r}; the measures are {', '.join(known)}")


@torch_defaults.entry(grad=True, moves=True)
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
    kind: of `logits`: "auto" for scores that may be either; then nothing is warned of. Or
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
    if probs is not None and kind not in (None, "probs"):
        raise TypeError(f"kind says what `logits` holds: pass audit(scores, labels, kind={kind!r})")
    bins, level = validate.integer("bins", bins, 2), validate.level(level)
    resamples = validate.integer("resamples", resamples, 10)
    seed = validate.integer("seed", seed, 0)
    prices = None
    if costs is not None:
        from calibkit.auditing.binary import checked

        prices = checked(costs)
    given: Any = logits if probs is None else probs
    kind = "probs" if logits is None else kind or "logits"
    if class_names is None and hasattr(given, "columns"):
        class_names = list(given.columns)
    class_names = None if class_names is None else [str(name) for name in class_names]
    given = validate.words_or_numbers("logits" if probs is None else "probs", given)
    labels, weights, other, other_labels = (
        validate.words_or_numbers(name, value)
        for name, value in (("labels", labels), ("weights", weights), ("other", other),
                            ("other_labels", other_labels))
    )  # fmt: skip
    groups, clusters = validate.unhidden("groups", groups), validate.unhidden("clusters", clusters)
    scores, odd = scores_of(given, kind)
    names = _class_names(class_names, scores.classes)
    target = labels_of(labels, len(scores), scores.classes, class_names)
    units = units_of(len(scores), weights, clusters)
    apart, more = _apart(calibration, scores, units, kind, class_names)
    if prices is not None and scores.classes != 2:
        raise ValueError("costs are of a binary model: one of two classes, or of one score")

    def measured(scores: Scores, labels: Tensor, of_row: Tensor | None = None) -> Measured:
        rows = rows_of(scores, labels, bins=bins, temperature=of_row, units=units)
        return Measured(rows, units, bins, level, resamples, seed)

    if apart is None:
        cooling = cross_fitted(scores, target, level=level, seed=seed, units=units)
    else:
        cooling = fitted_apart(len(scores), apart, level=level)
    before, after = measured(scores, target), measured(scores, target, cooling.of_row)
    mapped = None
    if scores.classes == 2 and (not scores.event or prices is not None):
        from calibkit.auditing.binary import platt

        mapped = platt(scores, target, apart, bins=bins, seed=seed, units=units)
    gain = after.less(before)
    of_one = np.ndim(given) == 1 or np.shape(given)[1] == 1
    form = Form(of_one, kind if kind in ("percent", "logprobs") else "")
    rises = _rises(before, after, event=mapped is not None and not scores.event)
    advice = advise(cooling, gain, rises, before.estimate("gap"), scores, form)
    found = _found(before, after, cooling, advice, mapped, names, groups, prices, scores.event)
    if other is None and other_labels is not None:
        raise TypeError("other_labels are those of a second model: pass other as well")
    second = None
    if other is not None:
        second = measured(*_second(other, other_labels, kind, scores, target))
    copies = repeated(scores, before.rows) if clusters is None else []
    odd_rows = concerns(before.rows, cooling, bins=bins, level=level, event=scores.event)
    named_off = off(found["groups"], None if scores.event else found["classes"])
    return Audit(
        name=name,
        class_names=tuple(names),
        warnings=(*named_off, *odd, *copies, *more, *odd_rows),
        rows=before.rows,
        cooling=cooling,
        measures=before.estimates(),
        cooled=after.estimates(),
        gain=gain,
        other_name=other_name,
        other=None if second is None else second.estimates(),
        difference=None if second is None else second.less(before),
        bins=bins,
        level=level,
        resamples=resamples,
        seed=seed,
        shown=(before.wide, after.wide),
        weighted=not units.even,
        clusters=0 if clusters is None else units.count,
        of_hits=scores.event,
        **found,
    )


def _rises(before: Measured, after: Measured, *, event: bool) -> list[Rise]:
    """What the temperature changes the ECE by, and that of the event of a binary model."""
    pairs = {"the ECE": (before, after)}
    if event:
        pairs["the ECE of the event"] = before.event, after.event
    return [
        Rise(name, cooled.values["ece"] - plain.values["ece"], cooled.rise(plain)[0])
        for name, (plain, cooled) in pairs.items()
    ]


def _found(
    before: Measured, after: Measured, cooling: Cooling, advice: Advice, mapped: Any,
    names: list[str], groups: Any, prices: tuple[float, float] | None, event: bool,
) -> dict[str, Any]:  # fmt: skip
    """What is found beyond the measures. mapped: `binary.Mapped`, or None."""
    from calibkit.auditing import findings  # loads pandas
    from calibkit.auditing.binary import binary, of_answers

    rows, units = before.rows, before.units
    test, power = findings.calibration(before)
    by_group = two = deferral = None
    kinds = {}
    if groups is not None:
        codes, of_groups = groups_of(groups, len(rows))
        cooled = None if cooling.misfit else after.rows
        of_event = before.event.rows if mapped is not None and not event else None
        by_group = findings.groups(before, cooled, codes, of_groups, of_event)
        kinds["groups"] = torch.from_numpy(codes), of_groups
    if rows.classes > 2:
        kinds["predicted classes"] = rows.predicted, names
    if advice.verdict == "use":
        further = {
            kind: findings.further_off(rows, after.rows, units, *of) for kind, of in kinds.items()
        }
        advice = replace(advice, words=advice.words + not_for_all(further))
    if mapped is not None and event and prices is not None:
        maps = {"as it is": rows, "temperature": after.rows}
        maps |= {} if mapped.rows is None else {"Platt": mapped.rows}
        deferral = replace(of_answers(maps, units, before.level, *prices), platt=mapped.fitted)
    elif mapped is not None:
        two = binary(before, after, mapped, names, prices)
    return {
        "advice": advice,
        "test": test,
        "power": power,
        "classes": findings.classes(rows, units, names),
        "groups": by_group,
        "mistakes": findings.surest_mistakes(rows, names),
        "coverage": findings.coverage(rows, units),
        "binary": two,
        "deferral": deferral,
    }


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


def _second(other: Array, labels: Array | None, kind: Kind, scores: Scores, target: Tensor):
    """The scores and labels of a second model of the same rows; by default those of the first."""
    second, _ = scores_of(other, kind)
    if (len(second), second.classes) != (len(scores), scores.classes):
        raise ValueError(
            f"other must have the shape of the first model's scores, ({len(scores)}, "
            f"{scores.classes}), got ({len(second)}, {second.classes})"
        )
    if labels is None:
        return second, target
    if not scores.event:
        raise ValueError(
            "other_labels are whether a second model's own answers are right, for kind "
            "'confidence'; of classes both models have the same labels"
        )
    return second, labels_of(labels, len(scores), scores.classes, None)


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
    from calibkit.auditing import files, questions  # loads pandas

    asked = {key: options.pop(key) for key in questions.NAMES if key in options}
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
        second = files.paired(given, second, (Path(path).name, Path(other).name))
        chosen |= {"other": second.checked(), "other_name": Path(other).stem}
        if second.kind == "confidence":
            chosen["other_labels"] = second.labels
    chosen |= {key: given.beside[column] for key, column in beside.items()}
    chosen |= {"kind": given.kind, "groups": given.groups, "class_names": given.names}
    report = audit(given.scores, given.labels, **{"name": Path(path).stem} | chosen | options)
    told = "; ".join(filter(None, (given.note, given.offers)))
    return replace(report, told=told, warnings=(*left_out(given.kept), *report.warnings))
