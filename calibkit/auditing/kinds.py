"""What scores are, decided by what they hold and by what they are called: both must agree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from calibkit import validate
from calibkit.auditing import names
from calibkit.auditing.questions import Options, Unclear, joined
from calibkit.auditing.scores import double, slices

CALLED = {
    "probs": "probabilities",
    "logits": "logits",
    "percent": "per cent",
    "logprobs": "logarithms of probabilities",
}
ROUNDING = 1e-6  # by which a probability may lie outside [0, 1]


class Content(NamedTuple):
    """What a walk over a matrix finds: extremes of its finite rows, their sums, the bad rows."""

    low: float
    high: float
    sums: np.ndarray  # (n,)
    bad: np.ndarray  # (n,) whether a row holds NaN or infinity
    some: Tensor  # the first finite rows
    classes: int

    def sums_to(self, total: float) -> bool:
        """Whether all finite rows are positive and have this sum, but for their rounding."""
        if self.low < 0 or self.bad.all():
            return False
        off = np.abs(self.sums[~self.bad] / total - 1).max()
        if off <= validate.ROW_SUM_TOLERANCE:
            return True
        if off > validate.MOST_OFF:
            return False
        return bool(off <= validate.tolerance_of(self.some / total) * (1 + 1e-6))


def content(matrix) -> Content:
    """Walk over (n, K) scores once, block by block.

    >>> content(np.array([[0.25, 0.75], [np.nan, 1.0]])).bad.tolist()
    [False, True]
    """
    sums, low, high, some = [], np.inf, -np.inf, None
    for rows in slices(*matrix.shape):
        block = double(matrix[rows])
        sums.append(block.sum(1).numpy())
        good = block if np.isfinite(sums[-1]).all() else block[np.isfinite(sums[-1])]
        if len(good):
            least, most = (end.item() for end in torch.aminmax(good))
            low, high = min(low, least), max(high, most)
            some = good[:1000] if some is None else some
    every = np.concatenate(sums)
    some = torch.zeros(0, matrix.shape[1]) if some is None else some
    return Content(low, high, every, ~np.isfinite(every), some, matrix.shape[1])


def decided(
    matrix, found: Content, columns: list[str], options: Options, *, answers: bool
) -> tuple[str, str]:
    """The kind of scores, and what is to be said of it; raises `Unclear` where none is sure."""
    asked = None if options.kind == "confidence" else options.kind
    kind = (_one if found.classes == 1 else _many)(matrix, found, columns, asked, answers)
    note = f"divided by {options.scale:g}" if options.scale is not None else ""
    return kind, note or (f"taken as {CALLED[kind]}" if kind != "probs" else "")


def scaled(matrix, kind: str, single: bool):
    """Per cent and logarithms of one column as probabilities; 1 and a rounding is 1."""
    if kind == "percent":
        return np.asarray(matrix, dtype=np.float64) / 100
    if kind == "logprobs" and single:
        return np.exp(np.asarray(matrix, dtype=np.float64))
    if kind == "probs" and single:
        return np.clip(matrix, 0, 1)
    return matrix


def _many(matrix, found: Content, columns: list[str], asked: str | None, answers: bool) -> str:
    """The kind of K columns of scores."""
    said, held = names.kind_of(columns), _held(found)
    sums = found.sums[~found.bad]
    text = (
        f"the scores {names.short(columns)} hold values from {found.low:.4g} to {found.high:.4g}, "
        f"sums of rows from {sums.min():.4g} to {sums.max():.4g}"
    )
    if asked is not None:
        if asked in ("logits", "logprobs"):
            return "logits" if held != asked else asked
        if held == asked or (asked == "probs" and held == "nearly"):
            return asked
        kind = {"probs": "probs", "nearly": "probs", "percent": "percent"}.get(held, "logits")
        raise Unclear(f"{text}, and are no {CALLED[asked]}: say --kind {kind}", kind=kind)
    if held in ("logits", "positive"):
        _demand_all(matrix, found)
    if held in ("probs", "percent"):
        if said in (None, "probs", held):
            return held
        raise Unclear(f"{text}, as {CALLED[held]} do, but are called {CALLED[said]}: say --kind "
                      f"{held}, or --kind {said}", kind=held)  # fmt: skip
    if held == "logprobs" or (said in ("logits", "logprobs") and held in ("logits", "positive")):
        return "logits"
    if held == "sigmoids":
        raise Unclear(
            f"{text}: no row of classes, but labels that do not exclude each other, two models or "
            f"the k best. One is read at a time: --scores {joined(columns[:1])} with --positive "
            f"VALUE, or with --label COLUMN where each has labels of its own"
        )
    if held == "nearly":
        raise Unclear(
            f"{text}: more than their rounding explains. If they are all classes, --kind probs "
            f"divides each row by its sum; else name other --scores",
            kind="probs",
        )
    called = f", but are called {CALLED[said]}" if said else ""
    raise Unclear(f"{text}{called}: say --kind logits if they are logits", kind="logits")


def _held(found: Content) -> str:
    """What numbers alone say."""
    if found.sums_to(1):
        return "probs"
    if found.sums_to(100):
        return "percent"
    sums = found.some.exp().sum(1) if found.high <= 0 and len(found.some) else torch.zeros(1)
    if (sums - 1).abs().max() <= 1e-3:
        return "logprobs"
    if found.low >= 0 and np.abs(found.sums[~found.bad] - 1).max(initial=0) <= validate.MOST_OFF:
        return "nearly"
    if found.low >= 0:
        return "sigmoids" if found.high <= 1 + ROUNDING else "positive"
    return "logits"


def _demand_all(matrix, found: Content) -> None:
    """Ask of rows of which most sum to 1, or to 100, and the others hold something else."""
    off = np.abs(found.sums[:, None] / [1.0, 100.0] - 1).min(1) > validate.MOST_OFF
    if 0 < off.sum() < len(off) / 2:
        row = int(np.flatnonzero(off)[0])
        cells = set(np.asarray(matrix[off]).ravel().tolist())
        mark = f"{cells.pop():g}" if len(cells) == 1 else None
        raise Unclear(
            f"{off.sum()} of {len(off)} rows hold no probabilities, row {row} (the first is 0) "
            f"with the sum {found.sums[row]:.4g}: if a number there stands for no value, say it "
            f"with --missing=NUMBER and --drop-missing",
            **({"missing": mark, "drop_missing": True} if mark else {}),
        )


def _one(matrix, found: Content, columns: list[str], asked: str | None, answers: bool) -> str:
    """The kind of one column of scores."""
    (column,), scores = columns, np.asarray(matrix, np.float64)[:, 0]
    low, high = found.low, found.high
    inside = low >= -ROUNDING and high <= 1 + ROUNDING
    fits = {"probs": inside, "percent": low >= 0 and high <= 100, "logits": True}
    fits |= {"logprobs": high <= 0}
    said, held = names.kind_of(columns), f"values from {low:.4g} to {high:.4g}"
    if asked in (None, "probs"):
        _demand_few(scores, column)
    if asked is not None:
        if not fits[asked]:
            kind = next(kind for kind in fits if fits[kind])
            raise Unclear(
                f"column {column!r} holds {held}, which are no {CALLED[asked]}", kind=kind
            )
        if asked == "percent" and answers:
            demand_one_unit(scores, column)
        return asked
    if inside and said in (None, "probs"):
        return "probs"
    if said is not None and said != "probs" and fits[said] and not inside:
        return said
    called = f"is called {CALLED[said]} and " if said else ""
    if inside:
        kind = "percent" if said == "percent" and high > 0 and scores.mean() > 0.5 else "probs"
        why = f"column {column!r} {called}holds {held}: say --kind {kind}, or --kind {said}"
        raise Unclear(why, kind=kind)
    whole = bool((scores == np.round(scores)).all())
    if low >= 0 and high <= 10 and whole:
        top = 10 if high > 5 else 5
        raise Unclear(
            f"column {column!r} {called}holds whole numbers from {low:g} to {high:g}: say what "
            f"they are divided by, such as --scale {top} for a confidence from 1 to {top}, or "
            f"--kind percent or --kind logits",
            scale=float(top),
        )
    if low >= 0 and high <= 100:
        small = (scores > 0) & (scores < 1)
        kind = (
            "logits" if high <= 20 and not whole and not answers and said != "probs" else "percent"
        )
        if answers and small.any():
            demand_one_unit(scores, column)
        why = f"column {column!r} {called}holds {held}, which may be per cent or logits: say "
        raise Unclear(f"{why}--kind percent or --kind logits", kind=kind)
    kind = "logprobs" if high <= 0 and answers else "logits"
    more = " or --kind logprobs" if high <= 0 else ""
    why = f"column {column!r} {called}holds {held}, which are no probabilities: say --kind "
    why += f"logits{more}, or name another column with --scores"
    raise Unclear(why, **({} if low >= 0 else {"kind": kind}))  # points of a scorecard, perhaps


def _demand_few(scores: np.ndarray, column: str) -> None:
    """Ask of probabilities of which a few are something else."""
    off = (scores < 0) | (scores > 1)
    odd = scores.min() < -1 or scores.max() > 100
    if odd and 0 < off.sum() <= len(off) / 20:
        row = int(np.flatnonzero(off)[0])
        same = len(set(scores[off].tolist())) == 1
        raise Unclear(
            f"column {column!r} holds {off.sum()} of {len(off)} values that are no probabilities, "
            f"{scores[row]:g} in row {row} (the first is 0): if that stands for no value, say "
            f"--missing={scores[row]:g} and --drop-missing; if all are logits, say --kind logits",
            **({"missing": f"{scores[row]:g}", "drop_missing": True} if same else {}),
        )


def demand_one_unit(scores: np.ndarray, column) -> None:
    """Refuse confidences in per cent of which some are below 1 %: these are rather fractions.

    >>> demand_one_unit(np.array([70.0, 0.9]), "confidence")
    Traceback (most recent call last):
    ...
    ValueError: column 'confidence' holds 0.9 in row 1 (the first is 0) beside per cent, which may \
be a fraction: write all of it in one unit, from 0 to 1
    """
    small = (scores > 0) & (scores < 1)
    if small.any():
        row = int(small.argmax())
        raise ValueError(
            f"column {column!r} holds {scores[row]:g} in row {row} (the first is 0) beside per "
            f"cent, which may be a fraction: write all of it in one unit, from 0 to 1"
        )


def demand_scale(scores: np.ndarray, labels: np.ndarray, column: str) -> None:
    """Ask of scores in [0, 1] that fit the labels as per cent, and not at all as probabilities."""
    rate, mean = labels.mean(), scores.mean()
    error = np.sqrt(max(rate, 1 / len(labels)) / len(labels))
    close = abs(mean / 100 - rate) < 4 * error + rate / 2
    if len(labels) >= 100 and mean > 20 * rate and close:
        raise Unclear(
            f"column {column!r} says {mean:.3g} in the mean, and {rate:.3g} of the labels are "
            f"positive: say --kind percent or --kind probs",
            kind="percent",
        )
