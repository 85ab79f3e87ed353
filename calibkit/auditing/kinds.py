"""What scores are, decided by what they hold and by what they are called: both must agree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from calibkit import validate
from calibkit.auditing import names
from calibkit.auditing.scores import double, slices

KINDS = ("probs", "logits", "percent", "logprobs")
CALLED = {
    "probs": "probabilities",
    "logits": "logits",
    "percent": "per cent",
    "logprobs": "logarithms of probabilities",
}


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


def many(found: Content, columns: list, asked: str | None, *, of_classes: bool) -> str:
    """The kind of K columns of scores.

    asked: the kind that the user names. of_classes: whether the columns are surely the classes,
        so that scores of any size are logits.

    Raises ValueError where content and names disagree, or nothing is clear.
    """
    held = _held(found)
    if asked == "probs" and held == "nearly":
        return asked  # rows are divided by their sums
    if asked in ("probs", "percent") and held != asked:
        raise ValueError(
            f"{_shown(columns)} are no {CALLED[asked]}: {_words(found)}{_or(held, columns)}"
        )
    if asked == "logprobs":
        return _log_probs(found, columns)
    if asked is not None:
        return asked
    said = names.said(columns)
    if held in ("logits", "positive") and said in (None, "probs", "percent"):
        _demand_all(found)
    if held in ("probs", "percent") and said in (None, "probs", held):
        return held
    if held == "logits" and said in ("logits", "logprobs"):
        return "logits"
    if held == "positive" and said == "logits":
        return "logits"
    if held == "logits" and said is None and of_classes:
        return "logits"
    raise ValueError(_unclear(found, columns, said, held))


def _held(found: Content) -> str:
    """What numbers alone say."""
    if found.sums_to(1):
        return "probs"
    if found.sums_to(100):
        return "percent"
    if found.low >= 0 and np.abs(found.sums[~found.bad] - 1).max(initial=0) <= validate.MOST_OFF:
        return "nearly"
    if found.low >= 0:
        return "sigmoids" if found.high <= 1 else "positive"
    return "logits" if max(found.high, -found.low) > 1 else "small"


def _demand_all(found: Content) -> None:
    """Refuse rows of which most sum to 1, or to 100, and the others hold something else."""
    off = np.abs(found.sums[:, None] / [1.0, 100.0] - 1).min(1) > validate.MOST_OFF
    if 0 < off.sum() < len(off) / 2:
        row = int(np.flatnonzero(off)[0])
        raise ValueError(
            f"{off.sum()} of {len(off)} rows hold no probabilities, row {row} (the first is 0) "
            f"with the sum {found.sums[row]:.4g}: if a number there stands for no value, say it "
            f"with --missing=NUMBER and --drop-missing"
        )


def _words(found: Content) -> str:
    sums = found.sums[~found.bad]
    least, most = (sums.min(), sums.max()) if len(sums) else (np.nan, np.nan)
    return (
        f"values from {found.low:.4g} to {found.high:.4g}, sums of rows from {least:.4g} to "
        f"{most:.4g}"
    )


def _or(held: str, columns: list) -> str:
    if held in ("probs", "percent", "logits"):
        return f". They look like {CALLED[held]}: --kind {held}"
    if held == "nearly":
        return ". They nearly sum to 1: --kind probs divides each row by its sum"
    if held == "sigmoids":
        return f". {_one_by_one(columns)}"
    return ". If they are logits, say --kind logits"


def _one_by_one(columns: list) -> str:
    return (
        f"Scores of labels that do not exclude each other, of two models, or of the k best classes "
        f"are read one at a time, such as {names.option(columns[-1:])}, with --positive VALUE "
        f"where the labels are classes, or --label COLUMN where each has labels of its own"
    )


def _unclear(found: Content, columns: list, said: str | None, held: str) -> str:
    called = f"are called {CALLED[said]} but hold" if said else "hold"
    text = f"{_shown(columns)} {called} {_words(found)}"
    if held == "nearly":
        return (
            f"{text}: more than their rounding explains. If they are all classes, say --kind "
            f"probs, which divides each row by its sum. {_one_by_one(columns)}"
        )
    if held == "sigmoids":
        return (
            f"{text}: no row of classes. {_one_by_one(columns)}; if they are logits, say --kind "
            f"logits"
        )
    if held in ("probs", "percent"):
        return f"{text}, as {CALLED[held]} do: say --kind {held}, or --kind logits"
    return f"{text}: say --kind logits if they are logits, or name other columns with --scores"


def _log_probs(found: Content, columns: list) -> str:
    off = (found.some.exp().sum(1) - 1).abs()
    if len(off) and off.max() > validate.MOST_OFF:
        raise ValueError(
            f"{_shown(columns)} are no logarithms of probabilities: their exponentials sum to up "
            f"to {found.some.exp().sum(1).max():.4g} a row; say --kind logits"
        )
    return "logits"


def _demand_few(found: Content, column, asked: str | None) -> None:
    """Refuse probabilities of which a few are something else."""
    off = (found.sums < 0) | (found.sums > 1)
    odd = found.low < -1 or found.high > 100
    if asked in (None, "probs") and odd and 0 < off.sum() <= len(off) / 20:
        row = int(np.flatnonzero(off)[0])
        raise ValueError(
            f"column {column!r} holds {off.sum()} of {len(off)} values that are no probabilities, "
            f"{found.sums[row]:g} in row {row} (the first is 0): if that stands for no value, say "
            f"--missing={found.sums[row]:g} and --drop-missing; if all are logits, say --kind "
            f"logits"
        )


def one(found: Content, column, asked: str | None) -> str:
    """The kind of one column of scores; as for `many`."""
    _demand_few(found, column, asked)
    low, high = found.low, found.high
    fits = {"probs": low >= 0 and high <= 1, "percent": low >= 0 and high <= 100}
    fits |= {"logits": True, "logprobs": high <= 0}
    said = names.said([column])
    held = f"from {low:.4g} to {high:.4g}"
    if asked:
        if not fits[asked]:
            fitting = [kind for kind in KINDS if fits[kind] and kind != asked]
            raise ValueError(
                f"column {column!r} holds values {held}, which are no {CALLED[asked]}; say "
                f"{_options(fitting)}"
            )
        return asked
    if said == "logprobs" and fits["logprobs"]:
        return said
    if said == "logits" and not fits["probs"]:
        return said
    if said == "percent" and fits["percent"] and high > 1:
        return said
    if said in (None, "probs") and fits["probs"]:
        return "probs"
    called = f"is called {CALLED[said]} and " if said else ""
    fitting = [kind for kind in KINDS if fits[kind]]
    if fitting == ["logits"]:
        raise ValueError(
            f"column {column!r} {called}holds values {held}, which are no probabilities: say "
            f"--kind logits if they are logits, or name another column with --scores"
        )
    raise ValueError(
        f"column {column!r} {called}holds values {held}, which may be "
        f"{' or '.join(CALLED[kind] for kind in fitting)}: say {_options(fitting)}"
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


def demand_scale(scores: np.ndarray, labels: np.ndarray, column) -> None:
    """Refuse scores in [0, 1] that fit the labels as per cent, and not at all as probabilities.

    >>> demand_scale(np.full(4000, 0.5), np.arange(4000) % 200 == 0, "p")
    Traceback (most recent call last):
    ...
    ValueError: column 'p' says 0.5 in the mean, and 0.005 of the labels are positive: say --kind \
percent or --kind probs
    """
    rate, said = labels.mean(), scores.mean()
    error = np.sqrt(max(rate, 1 / len(labels)) / len(labels))
    close = abs(said / 100 - rate) < 4 * error + rate / 2
    if len(labels) >= 100 and said > 20 * rate and close:
        raise ValueError(
            f"column {column!r} says {said:.3g} in the mean, and {rate:.3g} of the labels are "
            f"positive: say --kind percent or --kind probs"
        )


def _options(kinds: list[str]) -> str:
    return " or ".join(f"--kind {kind}" for kind in kinds)


def _shown(columns: list) -> str:
    return f"the scores {names.short(columns)}"
