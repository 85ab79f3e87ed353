"""Exports put together at random: none is read wrongly in silence, however its columns are called.

A file holds labels in one of several forms, scores of one kind, perhaps decisions, and columns that
have nothing to do with them, in any order and under names that may mislead.
"""

import shlex
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit, softmax

from calibkit.auditing import files
from tests.auditing.collection import Truth, numbers, one
from tests.auditing.test_columns import probabilities
from tests.auditing.test_questions import typed

LABELS = (
    *("label", "y_true", "target", "Label", "y", "actual", "class", "ground_truth", "truth"),
    *("outcome", "default", "gt", "obs"),
)
SCORES = (
    *("p", "prob", "y_prob", "score", "probability", "y_score", "proba", "y_pred", "pred", "p_1"),
    *("prob_1", "risk", "sigmoid", "output", "x", "prediction", "model", "p_yes", "confidence"),
    *("y_hat", "estimate", "pos_prob"),
)
DECISIONS = (
    *("pred", "y_pred", "prediction", "decision", "predicted", "pred_label", "y_hat", "predict"),
    *("flag", "result"),
)
BESIDE = (
    *("age", "threshold", "id", "weight", "income", "fold", "entropy", "margin", "site", "loss"),
    *("date", "ratio", "price", "x1", "lat", "p_value", "base_rate", "confidence2", "dose"),
    *("temperature",),
)
LETTERS = list("abcdefghij")


class Export:
    """Columns of a file, and the truth about them."""

    def __init__(self, seed: int):
        self.random = np.random.default_rng(seed)
        self.n = int(self.pick([60, 200, 500]))
        self.columns: dict[str, np.ndarray] = {}
        self.truth = self.binary() if self.random.random() < 0.55 else self.multi()

    def pick(self, options):
        return options[self.random.integers(len(options))]

    def put(self, name, values):
        self.columns.setdefault(name, np.asarray(values))

    def binary(self) -> Truth:
        p = expit(self.random.normal(self.pick([0, -1, -2]), self.pick([1, 2]), self.n))
        y = (self.random.random(self.n) < p).astype(int)
        y[:2] = 0, 1
        decided, side = (p > 0.5).astype(int), np.maximum(p, 1 - p)
        words = self.pick([(0, 1), (0, 1), (-1, 1), (1, 2), (1, 0), ("no", "yes"), ("N", "P")])
        kind = self.pick(["p", "p", "percent", "logit", "two", "side", "right", "reversed"])
        truth = one(p, y)
        if kind == "percent":
            p = np.round(100 * p, 3) / 100
            truth = one(p, y)
        elif kind == "reversed":
            truth = one(1 - p, 1 - y)
        elif kind in ("side", "right"):
            truth = one(side, (decided == y).astype(int), True)
        if kind == "two":
            names = self.pick([("p_0", "p_1"), ("0", "1"), ("prob_no", "prob_yes"), ("neg", "pos")])
            self.columns |= {names[0]: 1 - p, names[1]: p}
        else:
            held = {"p": p, "percent": np.round(100 * p, 3), "logit": logit(p), "reversed": 1 - p}
            self.put(self.pick(SCORES), held.get(kind, side))
        if kind == "right":
            self.put(self.pick(["correct", "is_correct"]), (decided == y).astype(int))
        if kind == "side" or self.random.random() < 0.4:
            self.put(self.pick(DECISIONS), np.array(words)[decided])
        self.put(self.pick(LABELS), np.array(words)[y])
        return truth

    def multi(self) -> Truth:
        classes = int(self.pick([3, 4, 10]))
        z = self.random.normal(0, 2, (self.n, classes))
        p = softmax(z, axis=1)
        y = np.array([self.random.choice(classes, p=row) for row in p])
        names = self.pick([LETTERS, list("0123456789"), [str(k) for k in range(1, 11)]])[:classes]
        kind = self.pick(["p", "p", "z", "percent", "best", "each", "side"])
        before = self.pick(["p_", "prob_", "", "score_", "logit_", "class_", "out_", "m_"])
        said = p.argmax(1)
        truth, held = Truth(p, y), {"z": z, "percent": 100 * p}.get(kind, p)
        if kind in ("best", "side", "each"):
            sure, right = p.max(1), (said == y).astype(int)
            truth = one(sure, right, True)
        if kind == "best":
            held, names, before = -np.sort(-p, axis=1)[:, :3], list("123"), self.pick(["top", "p_"])
        if kind == "each":
            held = expit(z)
        if kind == "side":
            self.put(self.pick(["confidence", "score", "prob", "max_prob"]), p.max(1))
            self.put(self.pick(DECISIONS), said)
        else:
            self.columns |= {f"{before}{name}": held[:, k] for k, name in enumerate(names)}
        if kind in ("side", "best", "each") or self.random.random() < 0.5:
            self.put(self.pick(LABELS), y)
        else:
            self.put(self.pick(LABELS), np.array(names)[y])
        return truth

    def write(self, path):
        for _ in range(self.random.integers(4)):
            beside = [self.random.normal(40, 10, self.n), self.random.random(self.n)]
            beside += [np.full(self.n, 0.5), self.random.integers(0, 5, self.n)]
            self.put(self.pick(BESIDE), self.pick(beside))
        order = list(self.columns)
        self.random.shuffle(order)
        table = pd.DataFrame({name: self.columns[name] for name in order})
        table.to_csv(path, index=bool(self.random.random() < 0.2))


def outcome(seed: int, path) -> str:
    """Whether an export is read at once, by the command that is printed, or not; never wrongly."""
    export, how = Export(seed), "read"
    export.write(path)
    try:
        given = files.read(path)
    except files.Question as question:
        command = str(question).splitlines()[-1].strip()
        if not command.startswith("calibkit"):
            return "no command"
        given, how = files.read(path, **typed(shlex.split(command))), "asked"
    read = numbers(*probabilities(given))
    assert read == pytest.approx(export.truth.numbers(), abs=1e-9), (seed, given.note)
    return how


def test_no_export_is_read_wrongly(tmp_path):
    found = {outcome(seed, tmp_path / "export.csv") for seed in (*range(40, 56), 1227)}
    assert found == {"read", "asked", "no command"}


@pytest.mark.slow
def test_nor_is_any_of_more(tmp_path):
    found = Counter(outcome(seed, tmp_path / "export.csv") for seed in range(1000, 1800))
    assert found["read"] > 100
