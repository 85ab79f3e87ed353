"""Files of predictions as many people write them, each with the numbers that it must give.

A `Case` is read at once, or first refused with a message that holds `asks`, and then read as its
`options` say. The numbers come from the arrays that the file was made of, by numpy and
scikit-learn.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from scipy.special import expit, log_softmax, logit, softmax
from sklearn.metrics import accuracy_score

N = 400


@dataclass(frozen=True)
class Truth:
    """(n, K) probabilities and (n,) labels; `event`: column 1 is what is judged."""

    probs: np.ndarray
    labels: np.ndarray
    event: bool = False

    def numbers(self) -> tuple[float, float, float]:
        """Accuracy, signed gap and ECE of 15 bins (lo, hi]."""
        return numbers(self.probs, self.labels, self.event)


def numbers(probs: np.ndarray, labels: np.ndarray, event: bool) -> tuple[float, float, float]:
    said = probs[:, 1] if event else probs.max(1)
    predicted = np.ones(len(probs), int) if event else probs.argmax(1)
    accuracy = accuracy_score(labels, predicted)
    right = predicted == labels
    place = np.searchsorted(np.arange(1, 15) / 15, said, side="left")
    ece = sum(
        abs(said[place == k].sum() - right[place == k].sum())
        for k in range(15)
        if (place == k).any()
    )
    return accuracy, said.mean() - accuracy, ece / len(said)


@dataclass(frozen=True)
class Case:
    name: str
    make: Callable[[Path], object]
    truth: Truth
    asks: tuple[str, ...] = ()
    options: dict = field(default_factory=dict)


# --- what the files are made of ---

_random = np.random.default_rng(5)
P = expit(_random.normal(-1, 2, N))  # of a binary model, too sure
Y = (_random.random(N) < expit(logit(P) / 2)).astype(int)
BINARY = Truth(np.column_stack([1 - P, P]), Y)
FLIPPED = Truth(BINARY.probs[:, ::-1], 1 - Y)
Z = _random.normal(0, 2, (N, 3))
PROBS = softmax(Z, axis=1)
L = np.array([_random.choice(3, p=softmax(z / 2)) for z in Z])
THREE = Truth(PROBS, L)
NAMES = ["cat", "dog", "eel"]
WORDS = np.array(NAMES)[L]
TWO_OF_THREE = Truth(PROBS, np.where(L == 2, 0, L))
AGE = _random.integers(18, 80, N) + 0.5
SURE = PROBS.max(1)
SAYS = PROBS.argmax(1)
RIGHT = (SAYS == L).astype(int)
JUDGED = Truth(np.column_stack([1 - SURE, SURE]), RIGHT, event=True)
WIDE = softmax(_random.normal(0, 2, (N, 10)), axis=1)
TEN = np.array([_random.choice(10, p=p) for p in WIDE])


def csv(**more) -> Callable[[Path], object]:
    """A writer of a table; the words `to_csv` takes stand in `_how`."""
    how = {"index": False} | more.pop("_how", {})
    return lambda path: pd.DataFrame(more).to_csv(path, **how)


def scores(prefix: str = "p_", names=NAMES, of=PROBS) -> dict:
    return {f"{prefix}{name}": of[:, k] for k, name in enumerate(names)}


def text(content: str, encoding: str = "utf-8") -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content.encode(encoding))


def lines(head: str, *columns, apart=",", comma=False) -> str:
    cells = [
        [repr(float(v)) if isinstance(v, float) else str(v) for v in column] for column in columns
    ]
    if comma:
        cells = [[c.replace(".", ",") for c in column] for column in cells]
    return "\n".join([head, *map(apart.join, zip(*cells, strict=True))]) + "\n"


def jsonl(**columns) -> Callable[[Path], object]:
    rows = pd.DataFrame(columns).to_dict("records")
    return lambda path: path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


def parquet(**columns):
    return lambda path: pd.DataFrame(columns).to_parquet(path)


def npz(**held):
    return lambda path: np.savez(path, **held)


def holes(values: np.ndarray, *rows: int) -> np.ndarray:
    column = values.astype(float).copy()
    column[list(rows)] = np.nan
    return column


def without(truth: Truth, *rows: int) -> Truth:
    kept = np.setdiff1d(np.arange(N), rows)
    return Truth(truth.probs[kept], truth.labels[kept], truth.event)


def one(p: np.ndarray, y: np.ndarray, event: bool = False) -> Truth:
    return Truth(np.column_stack([1 - p, p]), np.asarray(y), event)


TWO_MODELS = {"prob_before": P, "prob_after": expit(logit(P) / 2)}
AFTER = one(TWO_MODELS["prob_after"], Y)
ABSENT = np.where(TEN == 9, 0, TEN)  # class 9 does not occur
HALF10 = softmax(np.random.default_rng(2).normal(0, 3, (N, 10)), axis=1).astype(np.float16)
MULTI = expit(_random.normal(0, 2, (N, 3)))
TAGS = (_random.random((N, 3)) < MULTI).astype(int)
SORTED = -np.sort(-PROBS, axis=1)
LOGIT = logit(P)
BEST = np.argsort(-WIDE, axis=1)
WIDE_RIGHT = (BEST[:, 0] == TEN).astype(int)
TOP = -np.sort(-WIDE, axis=1)[:, :3]
RARE = expit(_random.normal(-3, 1, N))
RARE_Y = (_random.random(N) < RARE).astype(int)
DECIDED = (P > 0.5).astype(int)
SIDE = np.maximum(P, 1 - P)
SIDED = one(SIDE, (DECIDED == Y).astype(int), True)
SELDOM = _random.random(2000) * 0.9  # per cent, all below 1
SELDOM_Y = (_random.random(2000) < SELDOM / 100).astype(int)

MARKED = np.arange(0, N, 40)  # rows whose label is a mark for none
JUDGE = np.where(RIGHT, "CORRECT", "INCORRECT")
STATED = np.round(100 * SURE)


def marked(labels: np.ndarray, mark: object) -> np.ndarray:
    column = labels.astype(object)
    column[MARKED] = mark
    return column


CASES = [
    # --- binary models, one column of scores ---
    Case("exported.csv", csv(y_prob=P, y_true=Y, y_pred=(P > 0.5).astype(int)), BINARY),
    Case("keras.csv", csv(y_true=Y, y_pred=P), BINARY),
    Case("bools.csv", csv(label=Y == 1, proba=P), BINARY),
    Case("signs.csv", csv(target=2 * Y - 1, y_prob=P), BINARY),
    Case("yes.csv", csv(label=np.where(Y, "yes", "no"), p_yes=P), BINARY),
    Case("named.csv", csv(status=np.where(Y, "default", "repaid"), p_default=P), BINARY,
         ("--label",), {"label": "status"}),
    Case("credit.csv", csv(outcome=np.where(Y, "default", "repaid"), pd=P), BINARY,
         ("--positive default", "--positive repaid"), {"positive": "default"}),
    Case("repaid.csv", csv(label=np.where(Y, "default", "repaid"), p_repaid=1 - P), FLIPPED),
    Case("p0.csv", csv(label=Y, p_0=1 - P), FLIPPED),
    Case("wrong_way.csv", csv(label=Y, prob=1 - P), FLIPPED, ("--positive 0",), {"positive": "0"}),
    Case("percent.csv", csv(label=Y, p=np.round(100 * P, 4)), one(np.round(100 * P, 4) / 100, Y),
         ("--kind percent", "--kind logits"), {"kind": "percent"}),
    Case("pct.csv", csv(label=Y, prob_pct=100 * P), one(100 * P / 100, Y)),
    Case("comma.csv", text(lines("label;p", Y, np.round(100 * P, 1), apart=";", comma=True)),
         one(np.round(100 * P, 1) / 100, Y), ("--kind percent",), {"kind": "percent"}),
    Case("signed_percent.csv", csv(label=Y, p=[f"{100 * p:.3f}%" for p in P]),
         one(np.round(100 * P, 3) / 100, Y)),
    Case("quoted_comma.csv", csv(label=Y, p=[f"{p:.6f}".replace(".", ",") for p in P]),
         one(np.round(P, 6), Y)),
    Case("logit.csv", csv(label=Y, logit=LOGIT), BINARY),
    Case("margin.csv", csv(label=Y, score=LOGIT), BINARY, ("--kind logits",), {"kind": "logits"}),
    Case("log_prob.csv", csv(label=Y, log_prob=np.log(P)), BINARY),
    Case("false_name.csv", csv(label=Y, logit=P), BINARY, ("--kind probs",), {"kind": "probs"}),
    Case("two_models.csv", csv(label=Y, **TWO_MODELS), AFTER, ("--scores prob_after",),
         {"scores": "prob_after"}),
    Case("holes.csv", csv(label=Y, p=holes(P, 3, 17, 200)), without(BINARY, 3, 17, 200),
         ("3 of 400 rows", "row 3, 17, 200", "--drop-missing"), {"drop_missing": True}),
    Case("marks.csv", csv(label=Y, p=[str(p) if k % 50 else "?" for k, p in enumerate(P)]),
         without(BINARY, *range(0, N, 50)), ("8 of 400 rows", "--drop-missing"),
         {"drop_missing": True}),
    Case("rare.csv", csv(label=RARE_Y, risk=RARE), one(RARE, RARE_Y)),
    Case("two_labels.csv", csv(label=Y, y_true=Y[::-1], p=P), BINARY,
         ("--label label", "--label y_true"), {"label": "label"}),
    Case("group.csv", csv(label=Y[::-1], prob=P, malignant=Y), BINARY,
         ("'label' no better than by chance, but 'malignant' clearly", "--label malignant"),
         {"label": "malignant"}),
    Case("same_labels.csv", csv(label=Y, y_true=Y, p=P), BINARY),
    Case("fraud.csv", csv(label=np.where(Y, "Fraud", "None"), p_fraud=P), BINARY),
    Case("nine.csv", csv(outcome=marked(Y, 9), risk=P, sex=Y[::-1]), without(BINARY, *MARKED),
         ("--missing 9 --drop-missing",), {"missing": 9, "drop_missing": True}),
    Case("mortality.csv", csv(mortality=marked(Y, 9), pred_prob=P, sex=Y[::-1]),
         without(BINARY, *MARKED), ("--label mortality", "--missing 9 --drop-missing"),
         {"label": "mortality", "scores": "pred_prob", "missing": 9, "drop_missing": True,
          "positive": 1}),
    Case("minus.csv", csv(label=marked(Y, -1), p=P), without(BINARY, *MARKED),
         ("--missing=-1 --drop-missing", "--positive 1", "the file does not say"),
         {"missing": -1, "drop_missing": True}),
    Case("unknown.csv", csv(label=marked(np.where(Y, "yes", "no"), "unknown"), p=P),
         without(BINARY, *MARKED), ("values, no, unknown, yes.", "--missing unknown"),
         {"missing": "unknown", "drop_missing": True}),
    # --- a column for each class ---
    Case("one_first.csv", csv(label=Y, p_1=P, p_0=1 - P), BINARY),
    Case("yes_first.csv", csv(label=np.where(Y, "yes", "no"), yes=P, no=1 - P), BINARY),
    Case("second_first.csv", csv(y=Y + 1, p_2=P, p_1=1 - P), BINARY),
    Case("sas.csv", csv(I_BAD=DECIDED, F_BAD=Y, P_BAD1=P, P_BAD0=1 - P), BINARY,
         ("--label F_BAD --scores P_BAD1,P_BAD0",),
         {"label": "F_BAD", "scores": "P_BAD1,P_BAD0"}),
    Case("unlabelled.csv", csv(label=marked(L, -1), **scores("p_", "012")),
         without(THREE, *MARKED), ("--missing=-1 --drop-missing",),
         {"missing": -1, "drop_missing": True}),
    Case("undone.csv", csv(dx=marked(WORDS, "n/d"), **scores()), without(THREE, *MARKED),
         ("--label dx --missing n/d --drop-missing",),
         {"label": "dx", "missing": "n/d", "drop_missing": True}),
    Case("direction.csv", csv(label=L - 1, **scores("p_", ("down", "flat", "up"))), THREE,
         ("--classes=-1,0,1",), {"classes": "-1,0,1"}),
    Case("words.csv", csv(label=WORDS, **scores()), THREE),
    Case("order.csv", csv(**scores("", NAMES[::-1], PROBS[:, ::-1]), label=WORDS),
         Truth(PROBS[:, ::-1], 2 - L)),
    Case("numbers.csv", csv(label=L, **scores("prob_", "012")), THREE),
    Case("neighbour.csv", csv(label=L, a=PROBS[:, 0], b=PROBS[:, 1], c=PROBS[:, 2], length_m=P),
         THREE, ("--scores a,b,c", "--classes 0,1,2"), {"scores": "a,b,c", "classes": "0,1,2"}),
    Case("views.csv", csv(target=L[::-1], diagnosis=L, **scores("p_", "012")), THREE,
         ("--label diagnosis",), {"label": "diagnosis"}),
    Case("logits.csv", csv(label=WORDS, **scores("logit_", of=Z)), THREE),
    Case("log_probs.csv", csv(label=L, **scores("logprob_", "012", log_softmax(Z, axis=1))), THREE),
    Case("called_logits.csv", csv(label=L, **scores("logit_", "012", PROBS)), THREE,
         ("--kind probs",), {"kind": "probs"}),
    Case("both_sets.csv", csv(label=L, **scores("p_", "012"), **scores("logit_", "012", Z)), THREE,
         ("--scores p_0,p_1,p_2", "--scores logit_0,logit_1,logit_2"), {"scores": "p_*"}),
    Case("per_cent.csv", csv(label=L, **scores("p_", "012", np.round(100 * PROBS, 2))),
         Truth(np.round(100 * PROBS, 2) / 100, L)),
    Case("whole.csv", csv(label=Y, no=100 - np.round(100 * P).astype(int),
                          yes=np.round(100 * P).astype(int)),
         one(np.round(100 * P) / 100, Y), ("--scores no,yes",), {"scores": "no,yes"}),
    Case("two_decimals.csv", csv(label=L, **scores("p_", "012", np.round(PROBS, 2))),
         Truth(np.round(PROBS, 2), L)),
    Case("half.csv", csv(label=TEN, **scores("p_", map(str, range(10)), HALF10)),
         Truth(HALF10.astype("U").astype(float), TEN)),
    Case("one_based.csv", csv(label=L + 1, **scores("p_", "012")), THREE, ("--first-class 1",),
         {"first_class": 1}),
    Case("last_absent.csv", csv(label=ABSENT + 1, **scores("p_", range(10), WIDE), p_value=P),
         Truth(WIDE, ABSENT), ("--first-class 1",), {"first_class": 1}),
    Case("top3.csv", csv(label=TEN, **{f"top{k + 1}_class": BEST[:, k] for k in range(3)},
                         **{f"top{k + 1}_prob": TOP[:, k] for k in range(3)}),
         one(TOP[:, 0], WIDE_RIGHT, True), ("--scores top1_prob --predicted top1_class",),
         {"scores": "top1_prob", "predicted": "top1_class"}),
    Case("best.csv", csv(label=L, prob_1=SORTED[:, 0], prob_2=SORTED[:, 1], prob_3=SORTED[:, 2],
     pred=SAYS), JUDGED, ("--scores",), {"scores": "prob_1", "predicted": "pred"}),
    Case("sigmoids.csv", csv(label=WORDS, **scores("p_", of=MULTI)),
         one(MULTI[:, 1], (L == 1).astype(int)), ("--scores p_cat with --positive",),
         {"scores": "p_dog", "positive": "dog"}),
    Case("tags.csv", csv(**{f"y_{n}": TAGS[:, k] for k, n in enumerate(NAMES)}, **scores(of=MULTI)),
         one(MULTI[:, 0], TAGS[:, 0]), ("--label y_cat --scores p_cat",),
         {"label": "y_cat", "scores": "p_cat"}),
    Case("ignored.csv", csv(label=np.where(np.arange(N) < 5, -100, Y), **{"0": 1 - P, "1": P}),
         without(BINARY, *range(5)), ("5 of 400", "--drop-missing"), {"drop_missing": True}),
    # --- how sure the predictions are ---
    Case("confidence.csv", csv(confidence=SURE, correct=RIGHT), JUDGED),
    Case("predicted.csv", csv(label=L, pred=SAYS, confidence=SURE), JUDGED,
         ("--predicted pred",), {"predicted": "pred"}),
    Case("hundred.csv", csv(confidence=np.round(100 * SURE), correct=RIGHT),
         one(np.round(100 * SURE) / 100, RIGHT, True), ("--kind percent",), {"kind": "percent"}),
    Case("judge.csv", csv(verbal_confidence=STATED, judge=JUDGE), one(STATED / 100, RIGHT, True),
         ("--label judge --scores verbal_confidence --kind confidence --scale 100",),
         {"label": "judge", "scores": "verbal_confidence", "kind": "confidence", "scale": 100}),
    Case("passed.csv", csv(label=np.where(RIGHT, "pass", "fail"), p=SURE), JUDGED,
         ("--kind confidence", "--positive pass", "the file does not say"),
         {"kind": "confidence"}),
    Case("not_tried.csv", csv(confidence=SURE, grade=marked(JUDGE, "NOT_ATTEMPTED")),
         without(JUDGED, *MARKED), ("--missing NOT_ATTEMPTED --drop-missing",),
         {"label": "grade", "kind": "confidence", "missing": "NOT_ATTEMPTED",
          "drop_missing": True}),
    Case("alone.csv", csv(label=Y, confidence=P), BINARY, ("--scores confidence --positive",),
         {"scores": "confidence", "positive": "1"}),
    # --- as programs export them ---
    Case("pipeline.csv", csv(label=Y, pred_label=DECIDED, score=SIDE), SIDED,
         ("--predicted pred_label",), {"predicted": "pred_label"}),
    Case("right_or_not.csv", csv(label=Y, prob=SIDE, correct=(DECIDED == Y).astype(int)), SIDED,
         ("--label correct",), {"label": "correct"}),
    Case("spark.csv", csv(label=Y, prediction=DECIDED.astype(float),
                          probability=[f"[{1 - p!r},{p!r}]" for p in map(float, P)]), BINARY),
    Case("r_table.txt", text('"label" "p"\n' + "".join(
        f'"{k + 1}" {y} {p!r}\n' for k, (y, p) in enumerate(zip(Y, map(float, P), strict=True)))),
         BINARY),
    Case("sentinel.csv", csv(label=Y, p=np.where(np.arange(N) < 3, -999, P)),
         without(BINARY, 0, 1, 2), ("3 of 400 rows", "--missing=-999", "--drop-missing"),
         {"missing": -999, "drop_missing": True}),
    Case("sentinels.csv", csv(label=WORDS,
     **scores("", of=np.where(np.arange(N)[:, None] < 3, -999, PROBS))), without(THREE, 0, 1, 2),
     ("3 of 400 rows", "--missing=-999"), {"missing": -999, "drop_missing": True}),
    Case("rare_percent.csv", csv(label=SELDOM_Y, p=SELDOM), one(SELDOM / 100, SELDOM_Y),
         ("--kind percent",), {"kind": "percent"}),
    Case("features.npz", npz(X=Z, y=Y, prob=P), BINARY, ("--scores X ", "--scores prob"),
         {"scores": "prob"}),
    Case("no_eel.csv", csv(label=np.where(L == 2, "cat", WORDS), **scores("")), TWO_OF_THREE,
         ("33% are predicted as classes that no label names",), {"columns_as_named": True}),
    Case("no_2.csv", csv(label=np.where(L == 2, 0, L), **scores("", "012", Z)), TWO_OF_THREE,
         ("scores from 0, 1, 2; taken as logits)",), {"kind": "logits", "columns_as_named": True}),
    Case("absent_class.csv", csv(label=np.where(L == 2, "cat", WORDS), **scores("", of=Z)),
         TWO_OF_THREE, ("--scores cat,dog ", "--scores cat,dog,eel"),
         {"scores": "cat,dog,eel", "kind": "logits", "columns_as_named": True}),
    Case("columns.json", lambda p: pd.DataFrame({"label": L, "p_0": PROBS[:, 0], "p_1": PROBS[:, 1],
                                                 "p_2": PROBS[:, 2]}).to_json(
        p, double_precision=15), Truth(np.round(PROBS, 15), L)),
    # --- forms of files ---
    Case("harness.jsonl", jsonl(question=["1 + 1?"] * N, answer=["2"] * N, confidence=SURE,
                                correct=RIGHT == 1), JUDGED),
    Case("records.csv", csv(correct=RIGHT, confidence=SURE, judge=['{"confidence": 0.5}'] * N),
         JUDGED),
    Case("judge_wrong.csv", csv(judge_wrong=1 - RIGHT, confidence=SURE), JUDGED,
         ("--label judge_wrong --scores confidence --positive 0 --kind confidence",),
         {"label": "judge_wrong", "scores": "confidence", "positive": "0", "kind": "confidence"}),
    Case("list.json", lambda p: p.write_text(json.dumps([{"y_true": int(y), "y_prob": float(q)}
                                                         for y, q in zip(Y, P, strict=True)]),
                                             encoding="utf-8"), BINARY),
    Case("lists.parquet", parquet(label=L, logits=list(Z)), THREE),
    Case("category.parquet", parquet(label=pd.Categorical(WORDS), **scores()), THREE),
    Case("headless.csv", text(lines("", L, *PROBS.T).lstrip()), THREE, ("no header",),
         {"columns": "label,p_0,p_1,p_2"}),
    Case("tabs.tsv", csv(label=WORDS, **scores(), _how={"sep": "\t"}), THREE),
    Case("packed.txt.gz", lambda p: p.write_bytes(gzip.compress(
        lines("label p0 p1 p2", L, *PROBS.T, apart=" ").encode())), THREE),
    Case("umlauts.csv", text(lines("Äpfel,label,p", ["süß"] * N, Y, P), "cp1252"), BINARY),
    Case("wide.csv", text(lines("label\tp", Y, P, apart="\t"), "utf-16"), BINARY),
    Case("bom.csv", text(lines("label;cat;dog;eel", WORDS, *PROBS.T, apart=";"), "utf-8-sig"),
         THREE),
    Case("excel.csv", text(lines("sep=;\nlabel;cat;dog;eel", WORDS, *PROBS.T, apart=";",
                                 comma=True)), THREE),
    Case("exported.npz", npz(y_prob=P, y_true=Y, y_pred=(P > 0.5).astype(int)), BINARY),
    Case("tags.npz", npz(probs=MULTI, labels=TAGS), one(MULTI[:, 0], TAGS[:, 0]),
         ("one is audited at a time, here the first", "--label labels_0 --scores probs_0"),
         {"scores": "probs_0", "label": "labels_0"}),
    Case("one_hot.npz", npz(y_pred=PROBS, y_true=np.eye(3)[L]), THREE),
    Case("shifted.npz", npz(probs=WIDE, labels=ABSENT + 1), Truth(WIDE, ABSENT),
         ("--first-class 1",), {"first_class": 1}),
    Case("tensors.pt", lambda p: torch.save({"logits": torch.tensor(Z),
                                             "targets": torch.tensor(L)}, p), THREE),
]  # fmt: skip
