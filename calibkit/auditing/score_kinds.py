"""What scores are, decided by what they hold and by what they are called: both must agree."""

from __future__ import annotations

import math
import re
import shlex

import numpy as np
import torch

from calibkit import validate
from calibkit.auditing import names
from calibkit.auditing.questions import Options, Unclear, joined
from calibkit.auditing.scores import ROUNDING, Content

MOST_POINTS = 10_000  # at the end of a scale that is offered
CALLED = {
    "probs": "probabilities",
    "logits": "logits",
    "percent": "per cent",
    "logprobs": "logarithms of probabilities",
}


def decided(
    matrix, found: Content, columns: list[str], options: Options, *, answers: bool, signed: bool
) -> tuple[str, str]:
    """The kind of scores, and what is to be said of it; raises `Unclear` where none is sure.

    signed: whether they bore signs of per cent, and are fractions by now.
    """
    asked, of_answers = options.kind, options.kind == "confidence"
    if of_answers:  # what the scores are is not said
        asked = None
    said = names.kind_of(columns)
    if signed and options.scale is not None:
        raise ValueError(f"{names.short(columns)} bears signs of per cent: leave --scale out")
    if signed:
        said, asked = None, "probs" if asked == "percent" else asked
    if matrix.shape[1] > 1:
        kind = _many(matrix, found, columns, said, asked)
    else:
        per_cent = {"scale": 100.0} if of_answers else {"kind": "percent"}
        kind = _one(matrix, found, columns, said, asked, answers, per_cent)
    note = f"divided by {options.scale:g}" if options.scale is not None else ""
    divided = ", divided by 100" if kind == "percent" else ""
    return kind, note or (f"taken as {CALLED[kind]}{divided}" if kind != "probs" else "")


def scaled(matrix, kind: str, single: bool):
    """Per cent and logarithms of one column as probabilities; 1 and a rounding is 1."""
    if kind == "percent":
        return np.asarray(matrix, dtype=np.float64) / 100
    if kind == "logprobs" and single:
        return np.exp(np.asarray(matrix, dtype=np.float64))
    return np.clip(matrix, 0, 1) if kind == "probs" and single else matrix


def _many(matrix, found: Content, columns: list[str], said: str | None, asked: str | None) -> str:
    """The kind of K columns of scores. said: the one that their names state."""
    held, (least, most) = _held(found), found.ends
    text = (
        f"the scores {names.short(columns)} hold values from {found.low:.4g} to {found.high:.4g}, "
        f"sums of rows from {least:.4g} to {most:.4g}"
    )
    if asked is not None:
        if asked in ("logits", "logprobs"):
            return "logits" if held != asked else asked
        if held == asked or (asked == "probs" and held == "nearly"):
            return asked
        kind = {"nearly": "probs"}.get(held, held if held in CALLED else "logits")
        raise Unclear(f"{text}, and are no {CALLED[asked]}: say --kind {kind}", kind=kind)
    if held in ("logits", "positive"):
        off = np.abs(found.sums[:, None] / [1.0, 100.0] - 1).min(1) > validate.MOST_OFF
        _demand_whole(matrix, off, 0.5)
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
            f"the k best. One is read at a time: --scores "
            f"{shlex.quote(joined(columns[:1]))} with --positive VALUE, or with --label COLUMN "
            f"where each has labels of its own"
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
    if found.low >= 0:
        if found.off() <= validate.MOST_OFF:
            return "nearly"
        return "sigmoids" if found.high <= 1 + ROUNDING else "positive"
    sums = found.some.double().exp().sum(1) if found.high <= 0 else torch.zeros(1)
    return "logprobs" if (sums - 1).abs().max() <= 1e-3 else "logits"


def _demand_whole(matrix, off: np.ndarray, share: float) -> None:
    """Ask where a few rows are no probabilities: a number there may stand for no value."""
    if not 0 < off.sum() <= share * len(off):
        return
    cells, row = np.asarray(matrix[off], np.float64), int(off.argmax())
    mark = f"{cells[0][np.abs(cells[0]).argmax()]:g}"
    raise Unclear(
        f"{off.sum()} of {len(off)} rows hold no probabilities, but {mark} in row {row} (the first "
        f"is 0): if that stands for no value, say --missing={mark} and --drop-missing; if all are "
        f"logits, say --kind logits",
        *([("", {"missing": mark, "drop_missing": True})] if (cells == cells[0][0]).all() else []),
    )


def _one(
    matrix, found: Content, columns: list[str], said: str | None, asked: str | None, answers: bool,
    per_cent: dict,
) -> str:  # fmt: skip
    """The kind of one column of scores. per_cent: the options that say so."""
    (column,), scores = columns, np.asarray(matrix, np.float64)[:, 0]
    low, high = found.low, found.high
    inside = low >= -ROUNDING and high <= 1 + ROUNDING
    fits = {"probs": inside, "percent": low >= 0 and high <= 100, "logits": True}
    fits |= {"logprobs": high <= 0}
    if asked in (None, "probs") and (low < -1 or high > 100):
        _demand_whole(matrix, (scores < 0) | (scores > 1), 0.05)
    beyond = (scores < 0) | (scores > 100)
    if asked in (None, "probs", "percent") and len(np.unique(scores[beyond])) == 1:
        _demand_whole(matrix, beyond, 0.3)
    text = f"column {column!r} holds values from {low:.4g} to {high:.4g}"
    if asked is not None and not fits[asked]:
        kind = next(kind for kind in fits if fits[kind])
        raise Unclear(f"{text}, which are no {CALLED[asked]}", kind=kind)
    if answers and (asked == "percent" or (asked is None and not inside and fits["percent"])):
        _demand_one_unit(scores, column)
    if asked is not None:
        return asked
    if inside and said in (None, "probs"):
        return "probs"
    if said not in (None, "probs") and fits[said] and not inside:
        return said
    text += f", and is called as {CALLED[said]} are" if said else ""
    if inside:
        text += f": say --kind probs, or --kind {said}"
        if said == "percent":
            both = ((f"{column!r} is {CALLED[kind]}", {"kind": kind}) for kind in ("probs", said))
            raise Unclear(text, *both, sure=False)
        raise Unclear(text, kind="probs")
    whole = bool((scores == np.round(scores)).all())
    text += ", which are no probabilities: say what they are, --kind or --scale"
    ways: dict[str, dict] = {}
    if not answers and (low < 0 or fits["percent"]):
        ways["logits"] = {"kind": "logits"}
    if high <= 0:
        ways["logarithms of probabilities"] = {"kind": "logprobs"}
    said_so = low >= 0 and str(_top(high)) in re.findall(r"\d+", column)  # confidence_1_10
    of_ten = low >= 0 and high <= 10 and (whole or answers or said_so)
    per_ten = of_ten and (answers or said_so)  # nobody is 10 % sure of every answer at most
    if fits["percent"] and not per_ten:
        ways["per cent"] = per_cent
    if of_ten:
        ways[f"from 0 to {_top(high)}"] = {"scale": float(_top(high))}
    likely = high <= 20 and not whole and said != "probs" if fits["percent"] else True
    if likely and not said_so and "logits" in ways:
        ways["logits"] = ways.pop("logits")
    if low >= 0 and not fits["percent"]:  # points
        top = _top(high)
        text += (
            f". If they go from 0 to {top}, --scale {top} divides them; points of a scorecard "
            f"become probabilities by its own formula, in Python such as "
            f"table[{column!r}] = 1 / (1 + numpy.exp((table[{column!r}] - 600) / 50))"
        )
        if low <= top / 10 and top / 2 <= high <= MOST_POINTS:
            raise Unclear(
                text, (f"{column!r} is from 0 to {top}", {"scale": float(top)}), sure=False
            )
    raise Unclear(text, *((f"{column!r} is {words}", how) for words, how in ways.items()))


def _top(high: float) -> int:
    """The end of a scale on which this is the highest value: 5, 10, 100, 1000, ..."""
    return 5 if high <= 5 else 10 ** math.ceil(math.log10(high) - 1e-9)


def _demand_one_unit(scores: np.ndarray, column: str) -> None:
    """Refuse confidences in per cent of which some are below 1 %: these are rather fractions."""
    small = (scores > 0) & (scores < 1)
    if small.any():
        row = int(small.argmax())
        raise ValueError(
            f"column {column!r} holds {scores[row]:g} in row {row} (the first is 0) beside per "
            f"cent, which may be a fraction: write all of it in one unit, from 0 to 1, or if all "
            f"are per cent, say --scale 100"
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
