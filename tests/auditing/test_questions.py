"""Files as tools write them, each with the numbers of the arrays that it was made of.

`follow` types what the audit prints, mechanically: every form is read at once, or by the first
command that the question holds.
"""

import json
import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.special import expit, softmax
from sklearn.metrics import roc_auc_score

from calibkit import __main__
from calibkit.auditing import files
from calibkit.auditing.files import Predictions
from calibkit.auditing.questions import Question
from tests.auditing.collection import Truth, csv, npz, numbers, one, text
from tests.auditing.test_columns import probabilities

N = 160
_random = np.random.default_rng(11)
Z = _random.normal(0, 2, (N, 3))
P3 = softmax(Z, axis=1)
Y3 = np.array([_random.choice(3, p=softmax(z / 1.6)) for z in Z])
THREE = Truth(P3, Y3)
Q = _random.beta(0.7, 0.9, N)
Y = (_random.random(N) < 0.15 + 0.7 * Q).astype(int)
TWO = Truth(np.column_stack([1 - Q, Q]), Y)
NAMES = np.array(["negative", "neutral", "positive"])
CODES = ["melanocytic nevi", "basal cell carcinoma", "actinic keratoses"]
BEST, TOP = P3.argmax(1), P3.max(1)
HITS = one(TOP, (BEST == Y3).astype(int), True)
SIDE = np.maximum(Q, 1 - Q)
DECIDED = (Q > 0.5).astype(int)
SIDED = one(SIDE, (DECIDED == Y).astype(int), True)
WORDS = NAMES[Y3]


def jsonl(rows) -> Callable:
    return text("\n".join(map(json.dumps, rows)))


def scores(prefix="", of=P3, names=NAMES, suffix="") -> dict:
    return {f"{prefix}{name}{suffix}": of[:, k] for k, name in enumerate(names)}


def ranked(row, *keys):
    """{label, score} records of a row, the best first, under two keys."""
    order = np.argsort(-row)
    return [{keys[0]: str(NAMES[k]), keys[1]: float(row[k])} for k in order]


def zero_shot(k):
    order = np.argsort(-P3[k])
    return {"sequence": "t", "labels": NAMES[order].tolist(), "scores": P3[k][order].tolist(),
            "gold": str(WORDS[k])}  # fmt: skip


def harness(k):
    """A line of lm-evaluation-harness, multiple choice."""
    replies = [[str(float(z)), str(z == Z[k].max())] for z in Z[k]]
    return {"doc_id": k, "doc": {"question": "q"}, "target": str(Y3[k]),
            "resps": [[reply] for reply in replies], "filtered_resps": replies,
            "acc": float(BEST[k] == Y3[k])}  # fmt: skip


def older_harness(k):
    """The same as older versions log it: numbers and booleans, and the question in `arguments`."""
    replies = [[float(z), bool(z == Z[k].max())] for z in Z[k]]
    return {**harness(k), "arguments": [[f"q {k}", f" {word}"] for word in NAMES],
            "resps": [[reply] for reply in replies], "filtered_resps": replies}  # fmt: skip


SPOKEN = one((10 * TOP).round() / 10, HITS.labels, True)


def spoken(k):
    """An answer in free words, which is the truth, or another each time, and how sure it was."""
    truth = f"place {k % 90}"
    return {"id": k, "answer": truth if HITS.labels[k] else f"town {k}", "truth": truth,
            "confidence": int((10 * TOP[k]).round())}  # fmt: skip


def lone_marks() -> str:
    """A table without quoting, in which two texts begin with a quotation mark."""
    words = [f'"text {k}' if k in (20, 60) else f"text {k}" for k in range(N)]
    rows = [f"{w}\t{y}\t{q!r}" for w, y, q in zip(words, Y, map(float, Q), strict=True)]
    return "\n".join(["text\tlabel\tprob", *rows, ""])


def by_hundred(of, *arrays):
    """Batches of 40 rows, made into one by `of`."""
    return [of(*(torch.tensor(a[k : k + 40]) for a in arrays)) for k in range(0, N, 40)]


def saved(make) -> Callable:
    return lambda path: torch.save(make(), path)


def loss_beside(z, y):
    return {"logits": z, "labels": y, "loss": torch.tensor(0.5)}


LOST = np.arange(N) % 15 == 4
FRAME = pd.DataFrame({"label": Y, "prob": Q})


def in_parts(path):
    path.mkdir()
    for k in (0, 1):
        FRAME[k * 100 : 100 + k * 100].to_parquet(path / f"part-{k}.parquet")


PAIRS = [[int(y), float(q)] for y, q in zip(Y, Q, strict=True)]


TOOLS = {  # as the table of `notebooks/audit_a_file.md`
    "scikit_learn.csv": (csv(y_true=WORDS, **scores()), THREE),
    "boosting.csv": (csv(TARGET=Y, fold=np.arange(N) % 5, oof=Q), TWO),
    "fraud.csv": (csv(amount=np.arange(N) * 1.5, fraud_score=Q, is_fraud=Y), TWO),
    "pipeline.jsonl": (jsonl({"gold": str(w), "scores": ranked(p, "label", "score")}
                             for w, p in zip(WORDS, P3, strict=True)), THREE),
    "pipeline_best.csv": (csv(text="t", label=NAMES[BEST], score=TOP, gold=WORDS), HITS),
    "trainer.npz": (lambda path: np.savez(path, predictions=Z, label_ids=Y3), THREE),
    "lightning.pt": (saved(lambda: by_hundred(lambda *both: both, Z, Y3)), THREE),
    "r.csv": (csv(obs=WORDS, pred=NAMES[BEST], **scores(), rowIndex=range(N)), THREE),
    "cloud.csv": (csv(species=WORDS, **scores("species_", suffix="_scores")), THREE),
    "samples_arc.jsonl": (jsonl(map(harness, range(N))), THREE),
    "open_answers.jsonl": (jsonl(map(spoken, range(N))), SPOKEN),
}  # fmt: skip
TENTHS = (10 * TOP).round()
BATTLE, RANKS = ["model_a", "model_b", "tie"], np.argsort(-P3)[:, :2]
FORMS = TOOLS | {
    "minus_bare.csv": (csv(y_true=Y3 - 1, **scores(names=["-1", "0", "1"])), THREE),
    "onehot.csv": (csv(**scores("y_", np.eye(3, dtype=int)[Y3]), **scores("p_")), THREE),
    "sentiment.csv": (csv(sentiment=Y, label=np.where(DECIDED, "POSITIVE", "NEGATIVE"),
                          score=SIDE), SIDED),
    "older_harness.jsonl": (jsonl(map(older_harness, range(N))), THREE),
    "graded.csv": (csv(confidence=TOP, grade=np.where(HITS.labels, "correct", "incorrect")), HITS),
    "by_id.json": (text(json.dumps({f"img{k}": {"label": int(Y3[k]), "probs": P3[k].tolist()}
                                    for k in range(N)})), THREE),
    "evaluation.json": (text(json.dumps({"config": {"n": N}, "results": {"version": 3, "results": [
        {"response": {"confidence": float(p)}, "grader": {"pass": bool(hit)}}
        for p, hit in zip(TOP, HITS.labels, strict=True)], "errors": [{"z": 1}, {"a": 2}]}})),
        HITS),
    "per_instance_stats.json": (text(json.dumps([{"instance_id": f"id{k}", "stats": [
        {"name": {"name": name, "split": "test"}, "count": 2, "sum": 2 * one, "mean": one}
        for name, one in (("exact_match", float(HITS.labels[k])), ("max_prob", float(TOP[k])))]}
        for k in range(N)])), HITS),
    "choices.jsonl": (jsonl({"choices": [f"{k}", f"{k + 1}", f"{k + 2}"], "probs": P3[k].tolist(),
                             "answer": int(Y3[k])} for k in range(N)), THREE),
    "names.npz": (lambda path: np.savez(path, probs=P3, y_true=Y3, class_names=NAMES), THREE),
    "lists.pt": (saved(lambda: {"logits": by_hundred(torch.clone, Z),
                                "targets": by_hundred(torch.clone, Y3), "epoch": 12,
                                "files": [[f"{k}.png" for k in range(40)]] * 4}), THREE),
    "two_lists.pt": (saved(lambda: (by_hundred(torch.clone, Z), by_hundred(torch.clone, Y3))),
                     THREE),
    "batches.pt": (saved(lambda: by_hundred(loss_beside, Z, Y3)), THREE),
    "label_numbers.csv": (csv(label=[f"LABEL_{k}" for k in BEST], score=TOP, gold=Y3), HITS),
    "rows.pt": (saved(lambda: [tuple(map(torch.tensor, row)) for row in zip(Z, Y3, strict=True)]),
                THREE),
    "half.pt": (saved(lambda: {"logits": torch.tensor(Z).bfloat16(), "label": torch.tensor(Y3)}),
                Truth(softmax(torch.tensor(Z).bfloat16().double().numpy(), axis=1), Y3)),
    "column.npz": (npz(prob=Q[:, None], label=Y[:, None].astype(">i4")), TWO),
    "index.parquet": (lambda path: FRAME.set_index("label").to_parquet(path), TWO),
    "table.feather": (lambda path: FRAME.to_feather(path), TWO),
    "parts": (in_parts, TWO),
    "tuple.pt": (saved(lambda: (torch.tensor(P3), torch.tensor(Y3))), THREE),
    "own_and_human.csv": (csv(label=NAMES[BEST], **scores("p_"), human=WORDS), THREE),
    "zero_shot.jsonl": (jsonl(map(zero_shot, range(N))), THREE),
    "bigquery.jsonl": (jsonl({"species": str(w), "predicted_species_probs": ranked(p, "label",
                                                                                    "prob")}
                             for w, p in zip(WORDS, P3, strict=True)), THREE),
    "mlflow.json": (text(json.dumps({"columns": ["label", "probability"], "data": PAIRS})), TWO),
    "lists.json": (text(json.dumps(PAIRS)), TWO),
    "noted.csv": (text("\n".join(["# net, v3", "", "# seed 3, lr 1", "label,p",
                                  *(f"{y},{q!r}" for y, q in PAIRS)])), TWO),
    "spss.csv": (text("\n".join(["y;PRE_1", *(f"{y};{q:.12f}".replace(";0.", ";,")
                                              for y, q in PAIRS)])), TWO),
    "printed.csv": (csv(label=Y3, probs=[str([np.float64(x) for x in p]) for p in P3]), THREE),
    "lone_marks.tsv": (text(lone_marks()), TWO),
    "reviews.csv": (csv(text=['a\n"b", c\ne'] * N, label=Y, prob=Q), TWO),
    "unsure.csv": (csv(truth=WORDS, machine=np.where(BEST == 0, "unsure", NAMES[BEST]),
                       confidence=TOP), one(TOP, HITS.labels * (BEST > 0), True)),
    "arena.csv": (csv(**scores("winner_", np.eye(3, dtype=int)[Y3], BATTLE), x_1=Q, x_2=Q / 2,
                      **scores("pred_", P3[:, [2, 0, 1]], np.roll(BATTLE, 1))), THREE),
    "from_minus_1.csv": (csv(label=Y3 - 1, **scores("prob_", names="012")), THREE),
    "second_mark.csv": (csv(avg_logprob=np.log(TOP), exact_match=HITS.labels,
                            f1=np.where(HITS.labels, 1, Q / 2)), HITS),
    "two_best.npz": (lambda path: np.savez(
        path, topk_scores=np.take_along_axis(P3, RANKS, 1), topk_labels=RANKS, targets=Y3), HITS),
    "cyrillic.csv": (text("\n".join(["метка,p", *(f"{['нет', 'да'][y]},{q!r}" for y, q in PAIRS)]),
                          "cp1251"), TWO),
    "gbk.csv": (text("\n".join(["编号,标签,概率", *(f"{k},{y},{q!r}" for k, (y, q) in
                                                 enumerate(PAIRS))]), "gb18030"), TWO),
}  # fmt: skip


def typed(words: list[str]) -> dict:
    """The options of a command."""
    chosen = vars(__main__._parser().parse_args(words[1:]))
    named = {k: v for k, v in chosen.items() if k not in __main__.NOT_OF_THE_AUDIT}
    return {key: value for key, value in named.items() if value not in (None, False)}


def question_of(path) -> str:
    """The text of the question that a file leads to."""
    with pytest.raises(Question) as asked:
        files.read(path)
    return str(asked.value)


def follow(path) -> tuple[files.Predictions, int]:
    """What is read, and after how many questions, by typing the command that each prints."""
    options: dict = {}
    for asked in range(3):
        try:
            return files.read(path, **options), asked
        except Question as question:
            command = str(question).splitlines()[-1].strip()
            words = shlex.split(command)
            options = typed(words)
    raise AssertionError(f"{path.name} is asked again and again")


@pytest.mark.parametrize("name", FORMS)
def test_what_is_printed_gives_the_true_numbers(name, tmp_path):
    write, truth = FORMS[name]
    write(tmp_path / name)
    found, asked = follow(tmp_path / name)
    assert asked <= 2
    if truth is not None:
        expected = pytest.approx(truth.numbers(), abs=1e-9)
        assert numbers(*probabilities(found)) == expected, found.note


def test_the_likeliest_encoding_has_the_command(tmp_path):
    FORMS["cyrillic.csv"][0](tmp_path / "a.csv")
    assert follow(tmp_path / "a.csv")[0].names == ["нет", "да"]


def test_the_guide_has_the_command_for_each_tool(tmp_path):
    guide = (Path(__file__).parents[2] / "notebooks" / "audit_a_file.md").read_text(
        encoding="utf-8"
    )
    commands = re.findall(r"\| `(calibkit audit [^`]*)` \|", guide)
    assert [shlex.split(command)[2] for command in commands] == list(TOOLS)
    for command in commands:
        words = shlex.split(command)
        write, truth = TOOLS[words[2]]
        write(tmp_path / words[2])
        found = files.read(tmp_path / words[2], **typed(words))
        assert numbers(*probabilities(found)) == pytest.approx(truth.numbers(), abs=1e-9)


RANKED = {"file": np.repeat(range(N), 2), "prediction": NAMES[RANKS].ravel(),
          "correct": np.equal(RANKS, Y3[:, None]).astype(int).ravel(),
          "p": np.take_along_axis(P3, RANKS, 1).ravel()}  # fmt: skip
SHUFFLED = -np.sort(-P3, axis=1)[:, [2, 0, 1]]  # the best of more classes, in no order


LONG = {"id": np.repeat(range(N), 3), "truth": np.eye(3, dtype=int)[Y3].ravel()}
BESTS = "320 rows are the best predictions of 160 samples"
MOVED = f"right in {np.mean(BEST == (Y3 + 1) % 3):.1%} of the rows, in {HITS.labels.mean():.1%} if"
SAME = f"in every one of {N} rows"


@pytest.mark.parametrize(("columns", "option", "words"), [
    (dict(label=NAMES[BEST], **scores("p_")), "labels_are_true", SAME),
    ({"label": DECIDED, "p": Q}, "labels_are_true", SAME),
    (dict(label=(Y3 + 1) % 3, **scores("p_", SHUFFLED, "012")), "sorted_classes", "in every row"),
    (dict(label=(Y3 + 1) % 3, **scores("p_", P3, "012")), "columns_as_named", MOVED),
    ({"label": 1 - Y, "prob": Q}, "columns_as_named", f"(AUC {1 - roc_auc_score(Y, Q):.3f})"),
    ({"label": 1 - Y, "p_0": 1 - Q, "p_1": Q}, "columns_as_named", "labels are assigned"),
    (RANKED, "rows_are_samples", BESTS),
    ({k: v for k, v in RANKED.items() if k != "prediction"} | {"rank": [1, 2] * N},
     "rows_are_samples", BESTS),
    ({"confidence": 1 - TOP, "correct": HITS.labels}, "columns_as_named", "lower in rows that are"),
    ({"prob": P3[range(N), Y3], "correct": HITS.labels}, "columns_as_named", "probability of the"),
    ({"prob": np.where(Y, Q, 1 - Q), "correct": DECIDED == Y}, "columns_as_named", "are the"),
    ({"label": Y, "pred": DECIDED, "prob": np.where(Y, np.sqrt(Q), 1 - Q)}, "columns_as_named",
     "does not rise with"),
    ({"p": P3.ravel(), **LONG}, "rows_are_samples", "480 rows are the classes of 160 samples"),
    ({"kind": np.tile(NAMES, N), "prob": P3.ravel(), **LONG}, "rows_are_samples",
     "index='id', columns='kind', values='prob')"),
    ({"text": ["a\nb,c,d\ne"] * N, "label": Y, "p": Q}, "joined_lines", "join 320 of its 480"),
])  # fmt: skip
def test_each_check_has_an_option_that_takes_the_risk(columns, option, words, tmp_path):
    path = tmp_path / "odd.csv"
    csv(**columns)(path)
    with pytest.raises(Question, match=re.escape(words)) as asked:
        files.read(path)
    assert f"--{option.replace('_', '-')}" in str(asked.value)
    assert len(files.read(path, **{option: True}).labels) == len(next(iter(columns.values())))


def test_a_question_says_why_what_the_file_holds_and_what_to_type(tmp_path):
    path, auc = tmp_path / "loans.csv", roc_auc_score(Y, Q)
    words, more = np.where(Y, "default", "repaid"), {f"x_{k}": np.full(N, k) for k in range(24)}
    csv(outcome=words, pd=Q, **more, _how={"index": True})(path)
    assert question_of(path).splitlines() == [
        "labels are default and repaid. Of which label is 'pd'? Say it with --positive, or with "
        "--predicted COLUMN if it is the confidence of a prediction.",
        "loans.csv has the columns", "  Unnamed: 0: 0, 1, 2", f"  outcome: {', '.join(words[:3])}",
        f"  pd: {Q[0]:.6g}, {Q[1]:.6g}, {Q[2]:.6g}",
        *(f"  x_{k}: {k}, {k}, {k}" for k in range(21)), "  ... and 3 more",
        "It may be one of these, the likeliest first:",
        f"  'pd' is of 'default' (AUC {auc:.2f}): --positive default",
        f"  'pd' is of 'repaid' (AUC {1 - auc:.2f}): --positive repaid --columns-as-named",
        "Type, for the first (labels from 'outcome', scores from pd; positive class 'default'):",
        f"  calibkit audit {path} --positive default",
    ]  # fmt: skip


def test_many_columns_are_typed_as_one_where_no_other_begins_so(tmp_path):
    p = softmax(np.random.default_rng(1).normal(0, 2, (N, 31)), axis=1)
    sets = scores("p_", p, range(31)) | scores("logit_", np.log(p), range(31))
    csv(label=np.arange(N) % 31, p_value=Q, **sets)(tmp_path / "many.csv")
    asked = question_of(tmp_path / "many.csv")
    assert "--scores 'logit_*'" in asked
    assert f"--scores {','.join(f'p_{k}' for k in range(31))}\n" in asked


YES = np.where(Y, "yes", "no")
UMLAUTS = "Äpfel,label,p\n" + "".join(f"süß,{y},{q!r}\n" for y, q in PAIRS)


@pytest.mark.parametrize(("ending", "write", "options", "names", "note"), [
    ("csv", csv(label=YES, p_yes=Q), {}, ["no", "yes"], "; positive class 'yes'"),
    ("csv", csv(label=YES, p_yes=Q, p_no=1 - Q), {}, ["no", "yes"], "labels from 'label'"),
    ("csv", csv(label=WORDS, p=P3[:, 1]), {"positive": "neutral"}, ["other", "neutral"],
     "; positive class 'neutral'"),
    ("csv", csv(label=["yes"] * N, p_yes=Q), {"label": "label"}, ["not yes", "yes"], "'yes'"),
    ("csv", csv(label=Y3 + 1, **scores("p_", names="012")), {"first_class": 1}, list("123"),
     "; classes: p_0 as 1, p_1 as 2, p_2 as 3"),
    ("csv", csv(label=Y3, **scores()), {"scores": "ne*,positive", "classes": "0,1,2"}, list(NAMES),
     "negative as 0, neutral as 1"),
    ("csv", csv(y=Y, p=DECIDED.astype(float)), {}, None, "labels from 'y', scores from p"),
    ("csv", text(UMLAUTS, "cp1252"), {}, None, "read as cp1252; labels from 'label', "),
    ("csv", text(lone_marks()), {"plain_quotes": True}, None, "marks read as characters; labels"),
    ("csv", text(UMLAUTS.split("\n", 1)[1]), {"label": "column_2", "scores": "column_3"}, None,
     "no header: the columns are called column_1, column_2, ...; "),
    ("npz", npz(probs=P3, label=WORDS, class_names=NAMES), {}, list(NAMES), "scores from probs_0"),
    ("npz", npz(probs=P3, label=Y3, images=np.full((N, 2, 2), 0.5)), {}, list("012"),
     "'images' of the shape (160, 2, 2) is left out; "),
    ("npz", npz(votes=(20 * P3).round(), y=Y3), {"kind": "logits"}, list("012"), "from votes_0"),
])  # fmt: skip
def test_how_a_file_was_read_and_its_classes_are_said(
    ending, write, options, names, note, tmp_path
):
    write(tmp_path / f"a.{ending}")
    found = files.read(tmp_path / f"a.{ending}", **options)
    assert found.names == names
    assert note in found.note


MARK_FIRST = np.where(np.arange(N), 5 * Q, -999)


@pytest.mark.parametrize(("kind", "given", "truth"), [
    ("logits", MARK_FIRST, one(expit(MARK_FIRST), Y)),
    ("logits", Q, one(expit(Q), Y)),
    ("logprobs", np.log(Q), TWO),
    ("percent", Q, one(Q / 100, Y)),
    ("probs", Q, TWO),
])  # fmt: skip
def test_what_is_said_of_a_column_of_scores_is_obeyed(kind, given, truth, tmp_path):
    csv(label=Y, score=given)(tmp_path / "said.csv")
    found = files.read(tmp_path / "said.csv", kind=kind)
    assert numbers(*probabilities(found)) == pytest.approx(truth.numbers(), abs=1e-9)


@pytest.mark.parametrize(("kind", "factor"), [("percent", 200), ("probs", 2), ("logprobs", 1)])
def test_what_a_column_of_scores_cannot_be_is_refused(kind, factor, tmp_path):
    csv(label=Y, score=factor * Q / Q.max())(tmp_path / "said.csv")
    with pytest.raises(Question, match="which are no"):
        files.read(tmp_path / "said.csv", kind=kind)


@pytest.mark.parametrize(("name", "write", "truth"), [
    ("ranked.csv", csv(**RANKED), HITS),
    ("no_id.csv", csv(label=np.repeat(WORDS, 2), pred=RANKED["prediction"], p=RANKED["p"],
                      rank=[0, 1] * N), HITS),
    ("long.csv", csv(id=np.repeat(range(N), 3), label=np.repeat(WORDS, 3), cls=np.tile(NAMES, N),
                     p=P3.ravel()), THREE),
    ("dict.npz", lambda path: np.savez(path, predictions=Z, label_ids=NAMES[Y3].astype(object),
                                       metrics=np.array({"loss": 1}, dtype=object)), THREE),
])  # fmt: skip
def test_lines_of_python_make_a_row_a_sample(name, write, truth, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(Path(name))
    with pytest.raises(ValueError, match="in Python with these lines") as refused:
        files.read(Path(name))
    lines = re.findall("^  ((?:import|[a-z]+ = |[a-z._]+\\().*?)\\.?$", str(refused.value), re.M)
    exec("\n".join(lines), {})
    found, asked = follow(next(Path().glob("predictions.*")))
    assert asked <= 1
    assert numbers(*probabilities(found)) == pytest.approx(truth.numbers(), abs=1e-9)


def test_samples_of_several_rows_may_have_as_many_as_they_like(tmp_path):
    of = np.repeat(range(60), [2, 3, 4] * 20)
    place = np.concatenate([range(k) for k in [2, 3, 4] * 20])
    best = {"id": of, "label": of % 5, "pred": (of + place) % 5, "p": 0.5**place / 2}
    csv(**best)(tmp_path / "best.csv")
    with pytest.raises(Question, match="180 rows are the best predictions of 60 samples"):
        files.read(tmp_path / "best.csv", predicted="pred")
    csv(**best | {"label": np.arange(180) % 5})(tmp_path / "visits.csv")
    assert len(files.read(tmp_path / "visits.csv", predicted="pred").labels) == 180


def test_the_command_keeps_what_else_was_typed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    csv(label=Y, oof=Q, w=1, id=range(N))(Path("a.csv"))
    more = "--calibration a.csv --other a.csv --name ours --bins 12 --weights w --target a.html "
    more += "--json n.json --cluster id --costs 1 20 --fail-above ece=.05"
    assert __main__.main(["audit", "a.csv", *more.split()]) == 2
    assert capsys.readouterr().err.rstrip().endswith(f"audit a.csv --scores oof {more}")


def test_logarithms_are_given_to_their_classes(tmp_path):
    csv(dx=np.array(["NV", "BCC", "AK"])[Y3], **scores(names=CODES, of=np.log(P3)))(
        tmp_path / "a.csv"
    )
    with pytest.raises(Question, match="--classes NV,BCC,AK"):
        files.read(tmp_path / "a.csv", kind="logprobs", label="dx", scores=CODES)


def test_lines_that_quotation_marks_join_are_counted(tmp_path):
    path = tmp_path / "marks.tsv"
    path.write_text(lone_marks().replace('"text 60', 'text 60"'), encoding="utf-8")
    with pytest.raises(Question, match=r"join 40 of its 160 lines .* --plain-quotes"):
        files.read(path)
    assert len(files.read(path, plain_quotes=True).labels) == N


def test_a_margin_between_two_classes_is_no_score(tmp_path):
    csv(label=Y, margin=2 * Q.round(3), x=Q)(tmp_path / "margin.csv")
    assert "--scores margin" not in question_of(tmp_path / "margin.csv")


@pytest.mark.parametrize("called", ["predictions_labels.csv", "truth.csv"])
def test_labels_of_a_file_beside_are_offered_and_put_in_order(called, tmp_path):
    images = np.array([f"i{k}.png" for k in range(N)])
    mixed = _random.permutation(N)
    csv(filename=images, **scores("pred_", names="012"))(tmp_path / "predictions.csv")
    csv(image=images[mixed], label=Y3[mixed])(tmp_path / called)
    asked = question_of(tmp_path / "predictions.csv")
    assert f"--labels {tmp_path / called}" in asked
    assert asked.endswith("Whether this is so the file does not say: look at where it comes from.")
    found = files.read(tmp_path / "predictions.csv", labels=tmp_path / called)
    assert numbers(*probabilities(found)) == pytest.approx(THREE.numbers(), abs=1e-9)
    csv(filename=[f"x{k}" for k in range(N)], label=Y3)(tmp_path / called)
    with pytest.raises(ValueError, match="'filename' names other rows"):
        files.read(tmp_path / "predictions.csv", labels=tmp_path / called)


def test_a_file_of_other_labels_is_not_offered(tmp_path):
    csv(**scores("pred_", names="012"))(tmp_path / "predictions.csv")
    csv(label=Y3)(tmp_path / "weather_labels.csv")
    (tmp_path / "truth.json").write_text('{"rows": 160}', encoding="utf-8")
    nested = [{"label": 1, "ece": ece} for ece in (0.5, [0.1, 0.2], [0.3, 0.2], [0.3, 0.4])]
    (tmp_path / "labels.json").write_text(json.dumps(nested), encoding="utf-8")
    asked = question_of(tmp_path / "predictions.csv").split("FILE", 1)[1]
    assert "--labels " not in asked
    assert "truth.json" not in asked


@pytest.mark.parametrize("head", [[], ["label"]])
def test_labels_of_a_second_file_may_have_a_header_or_none(head, tmp_path):
    """The words hold blanks, and letters that a guess of what parts columns would fall for."""
    csv(**scores(names=CODES))(tmp_path / "p.csv")
    lines = [*head, *(CODES[k] for k in Y3)]
    (tmp_path / "y.txt").write_text("\n".join(lines), encoding="utf-8")
    assert files.read(tmp_path / "p.csv", labels=tmp_path / "y.txt").labels.tolist() == list(Y3)
    (tmp_path / "y.txt").write_text("\n".join(lines[:-2]), encoding="utf-8")
    with pytest.raises(ValueError, match=f"rows as the scores, 160, got {len(lines) - 2}"):
        files.read(tmp_path / "p.csv", labels=tmp_path / "y.txt")


def test_a_second_file_of_two_columns_is_asked_which_holds_the_labels(tmp_path):
    csv(**scores("p_", names="012"))(tmp_path / "p.csv")
    csv(a=Y3[::-1], b=Y3)(tmp_path / "two.csv")
    with pytest.raises(Question, match=r"two\.csv must hold one column of labels: say --label"):
        files.read(tmp_path / "p.csv", labels=tmp_path / "two.csv")
    found = files.read(tmp_path / "p.csv", labels=tmp_path / "two.csv", label="b")
    assert found.labels.tolist() == list(Y3)


def test_two_files_have_the_same_rows_and_classes_in_one_order():
    kept, turned = np.ones(N, bool), P3[:, [2, 0, 1]]
    given = Predictions(P3, Y3, names=list("abc"), kept=kept)
    other = files.paired(given, Predictions(turned, (Y3 + 1) % 3, names=list("cab"), kept=kept), "")
    assert (other.scores == P3).all()
    assert (other.labels == Y3).all()
    counted = Predictions(P3, Y3, names=["0", "1", "2"], kept=kept)
    assert files.like(counted, Predictions(P3, Y3)) is counted
    hits = [Predictions(TOP, y, "confidence", kept=kept) for y in (HITS.labels, Y)]
    assert files.paired(*hits, ("a", "b")) is hits[1]
    first = Predictions(Q, Y, names=["no", "yes"], kept=kept)
    for second, words in (
        (replace(first, names=["yes", "no"]), "same positive class, got 'yes' and 'no'"),
        (replace(first, names=["no", "si"]), "same classes"),
        (replace(first, kept=~LOST), "a and b lack labels or scores in different rows"),
        (replace(first, labels=1 - Y), "b has other labels than a"),
    ):
        with pytest.raises(ValueError, match=words):
            files.paired(first, second, ("a", "b"))


def test_a_score_is_of_a_label_or_of_a_prediction(tmp_path):
    minus = np.where(LOST, -100, Y3)  # a number as an answer, and no mark
    terms = np.array([f"x + {k}" if k % 3 == 0 else f"{k}.5" for k in range(N)])
    for target, said in ((minus, BEST), (terms, np.where(Y, terms, "y"))):
        csv(target=target, prediction=said, confidence=TOP)(tmp_path / "answers.csv")
        found = files.read(tmp_path / "answers.csv", predicted="prediction")
        assert found.labels.tolist() == (target == said).tolist()
    csv(label=Y, p=Q, pred=DECIDED)(tmp_path / "both.csv")
    with pytest.raises(ValueError, match="say one of them"):
        files.read(tmp_path / "both.csv", positive="1", predicted="pred")


EYE = np.eye(3, dtype=int)


@pytest.mark.parametrize(("name", "write"), [
    ("truth.npy", lambda path: np.save(path, Y3)),
    ("truth.npy", lambda path: np.save(path, EYE.astype("f4")[Y3])),
    ("truth.pt", saved(lambda: torch.tensor(EYE[Y3]))),
    ("truth.csv", text("\n".join(",".join(map(str, row)) for row in EYE[Y3]))),
])  # fmt: skip
def test_labels_of_a_second_file_go_before_a_column_of_the_first(name, write, tmp_path):
    csv(label=BEST, **scores("p_", names="012"))(tmp_path / "own.csv")
    write(tmp_path / name)
    found = files.read(tmp_path / "own.csv", labels=tmp_path / name)
    assert found.labels.tolist() == Y3.tolist()


def test_one_hot_columns_of_a_second_file_are_classes_by_their_names(tmp_path):
    csv(**scores("p_"))(tmp_path / "own.csv")
    csv(**scores("", EYE[Y3][:, ::-1], NAMES[::-1]))(tmp_path / "truth.csv")
    found = files.read(tmp_path / "own.csv", labels=tmp_path / "truth.csv")
    assert np.array(found.names)[found.labels].tolist() == WORDS.tolist()


@pytest.mark.parametrize("columns", [
    {"index": range(N), "prediction": NAMES[BEST]},  # decisions alone
    {"id": range(N), "target": Q},  # no truth
    {"confidence": ["high", "low"] * (N // 2), "correct": Y},
    {"question": "q", "answer": "B", "exact_match": Y},  # no confidence
    {"gold": WORDS, "pred": NAMES[BEST], "gold_prob": P3[range(N), Y3]},
    {"label": WORDS, "pred": NAMES[BEST], "uncertainty": 1 - TOP},
    {"label": Y, "prob": np.where(Y[::-1], Q, 1 - Q).clip(0.5)},  # a confidence, no prediction
    {"default": Y, "score": 600 - (50 * np.log(Q / (1 - Q))).round()},  # a scorecard's points
])  # fmt: skip
def test_what_lacks_truth_or_scores_gets_no_command(columns, tmp_path):
    csv(**columns)(tmp_path / "lacks.csv")
    with pytest.raises(Question) as refused:
        files.read(tmp_path / "lacks.csv")
    assert "calibkit audit" not in str(refused.value)


def test_scores_above_one_half_are_asked_about_unless_the_event_is_the_rule(tmp_path):
    for rare, asked in ((0.05, False), (0.3, True)):
        csv(label=(np.arange(N) >= rare * N).astype(int), p=0.5 + Q / 2)(tmp_path / "sure.csv")
        if asked:
            with pytest.raises(Question, match="no score in 'p' is below one half"):
                files.read(tmp_path / "sure.csv")
        else:
            assert len(files.read(tmp_path / "sure.csv").labels) == N


@pytest.mark.parametrize("columns", [
    {"label": Y, "p": 1 - Q},
    {"label": np.where(Y, "yes", "no"), "p_yes": 1 - Q},
    {"label": Y, "p_0": Q, "p_1": 1 - Q},
    dict(label=WORDS, **scores("p_", np.roll(P3, 1, axis=1))),
])  # fmt: skip
def test_a_model_worse_than_chance_is_read_one_way_or_the_other(columns, tmp_path):
    csv(**columns)(tmp_path / "worse.csv")
    with pytest.raises(Question, match="Which of them is so the file does not say: look") as asked:
        files.read(tmp_path / "worse.csv")
    commands = re.findall(r"calibkit audit .*", str(asked.value))
    read = [files.read(tmp_path / "worse.csv", **typed(shlex.split(one))) for one in commands]
    hits = [np.mean(probabilities(one)[0].argmax(1) == one.labels) for one in read]
    assert len(hits) == 2
    assert hits[1] < 0.5 < hits[0]


# --- what people met ---

FOLD = _random.integers(1, 6, N)
STATED = (100 * TOP).round()
GOOD = np.where(Y, "bad", "good")
LOST_FIFTH = np.arange(N) % 5 == 2


@pytest.mark.parametrize("matrix", [
    np.column_stack([P3, FOLD]), np.column_stack([FOLD, P3]), np.column_stack([Z, FOLD]),
    np.column_stack([P3, np.arange(1000, 1000 + N)]), np.column_stack([100 * P3, FOLD]),
    np.column_stack([P3, _random.gamma(2, 3, N)]),
])  # fmt: skip
def test_a_fold_or_a_count_in_a_matrix_is_no_class(matrix, tmp_path):
    labels = WORDS if matrix[0, -1] > 2 else Y3
    np.savez(tmp_path / "odd.npz", scores=matrix, labels=labels)
    with pytest.raises(Question, match=r"scores_[03] holds values from .* may be no score"):
        files.read(tmp_path / "odd.npz")
    found, _ = follow(tmp_path / "odd.npz")
    assert numbers(*probabilities(found)) == pytest.approx(THREE.numbers(), abs=1e-9)


@pytest.mark.parametrize(("columns", "truth", "words"), [
    ({"stated_confidence": STATED, "correct": HITS.labels},
     one(STATED / 100, HITS.labels, True), "divided by 100"),
    ({"stated_confidence": STATED.astype(int), "is_correct": HITS.labels},
     one(STATED / 100, HITS.labels, True), "--kind percent"),
    ({"status": GOOD, "score": Q}, TWO, "--positive good --columns-as-named"),
    ({"credit": np.where(Y, "good", "bad"), "p": Q}, TWO, "--positive bad --columns-as-named"),
    ({"outcome": np.where(Y, "Ausfall", "kein Ausfall"), "pd": Q}, TWO,
     "--positive 'kein Ausfall'"),
    (dict(label=Y3, **scores(names=CODES)), THREE, "--classes 0,1,2"),
    (dict(dx=np.array(["NV", "BCC", "AK"])[Y3], **scores(names=CODES)), THREE,
     "--classes NV,BCC,AK"),
    ({"label": Y, "margin": np.log(Q / (1 - Q))}, TWO, "--scores margin"),
    ({"label": Y, "p": np.where(LOST_FIFTH, ".", Q.astype(object))},
     one(Q[~LOST_FIFTH], Y[~LOST_FIFTH]), "32 of 160 rows lack"),
    ({"label": np.where(LOST_FIFTH, "unclear", Y.astype(object)), "p": Q},
     one(Q[~LOST_FIFTH], Y[~LOST_FIFTH]), "if unclear stands for no value, say --missing=unclear"),
    ({"label": WORDS, "gru_pred": NAMES[BEST[::-1]], "vit_pred": NAMES[BEST], "vit_conf": TOP},
     HITS, "--predicted vit_pred"),
    ({"fare": Q > 0.5, "on_time": Y, "prob_on_time": Q}, TWO, "--label on_time"),
    ({"No-show": np.where(Y, "Yes", "No"), "no_show_risk": Q}, TWO, "No-show"),
    ({"a_model": NAMES[BEST], "by_hand": WORDS, "confidence_1_10": 10 * TOP}, HITS, "--scale 10"),
    ({**{f"member_{k}": Q ** (k + 1) for k in range(3)}, "mean": (Q + Q**2 + Q**3) / 3, "ill": Y},
     one((Q + Q**2 + Q**3) / 3, Y), "--scores mean"),
    ({"score": 700 - 200 * Q.round(2), "prob_default": Q, "bad_flag": Y}, TWO, "prob_default"),
    ({"answer": np.where(Y, "true", "false"), "logprob_yes": np.log(Q), "logprob_no": np.log1p(-Q)},
     TWO, "--classes true,false"),
    ({"confidence": TOP, "correct": np.where(HITS.labels, "✓", "✗")}, HITS, "--kind confidence"),
    *(({"bad": np.where(Y, "yes", "no"), "pd_pct": np.where(LOST, mark, 100 * Q)},
       one(Q[~LOST], Y[~LOST]), f"--missing={mark} and --drop-missing") for mark in (-999, 9999)),
])  # fmt: skip
def test_each_reading_has_a_line_to_copy(columns, truth, words, tmp_path):
    csv(**columns)(tmp_path / "asked.csv")
    asked = question_of(tmp_path / "asked.csv")
    assert words in asked
    found, _ = follow(tmp_path / "asked.csv")
    assert numbers(*probabilities(found)) == pytest.approx(truth.numbers(), abs=1e-9)


TWICE = np.arange(N) % 80  # 80 samples under two models
MODELS = np.array(["lr", "xgb"])[np.arange(N) // 80]
RIGHT = HITS.labels.astype(bool)


@pytest.mark.parametrize(("columns", "words"), [
    (dict(model=MODELS, id=TWICE, label=WORDS, **scores()), "value of 'id' has rows for each"),
    ({"item": TWICE, "mtry": MODELS, "fold": TWICE % 4, "correct": Y, "confidence": Q}, "'mtry'"),
    ({"split": np.where(Q > 0.3, "Train", "valid"), "label": Y, "prob": Q}, "were trained on"),
    ({"prob": Q, "isotonic": Q**2, "label": Y}, "the scores may be"),
    (dict(label=WORDS, **scores("p_"), **scores("p_", P3[:, ::-1], suffix="_ts")), "scores may be"),
    ({"confidence": TOP, "confidence_calibrated": TOP**2, "correct": RIGHT}, "the scores may be"),
    ({"p_true": TOP, "p_pred": TOP**2, "correct": RIGHT}, "holds scores"),
    ({"label": Y, "label_adjudicated": 1 - Y, "prob": Q}, "the labels may be"),
    (dict(label=WORDS, **scores("p_", np.where(LOST[:, None] & (P3 < 0.01), np.nan, P3))),
     "table.fillna(0)"),
])  # fmt: skip
def test_what_would_be_read_wrongly_in_silence_is_asked(columns, words, tmp_path):
    csv(**columns)(tmp_path / "twins.csv")
    assert words in question_of(tmp_path / "twins.csv")


def test_what_falls_where_answers_are_right_has_lines_of_python_alone(tmp_path):
    csv(uncertainty=1 - TOP, correct=RIGHT)(tmp_path / "falls.csv")
    asked = question_of(tmp_path / "falls.csv")
    assert "table['uncertainty'] = 1 - table['uncertainty']" in asked
    assert "calibkit audit" not in asked


def test_labels_of_a_second_file_keep_their_name_and_may_lack_rows(tmp_path):
    tasks, some = np.array([f"t/{k}" for k in range(N)]), _random.permutation(N)[:150]
    csv(task=tasks, confidence=TOP)(tmp_path / "answers.csv")
    csv(task=tasks[some], passed=RIGHT[some])(tmp_path / "results.csv")
    given = {"labels": tmp_path / "results.csv", "kind": "confidence"}
    with pytest.raises(Question, match="10 of 160 rows lack a label"):
        files.read(tmp_path / "answers.csv", **given)
    found = files.read(tmp_path / "answers.csv", drop_missing=True, **given)
    assert "labels of results.csv by 'task'; labels from 'passed'" in found.note
    some.sort()
    assert numbers(*probabilities(found)) == pytest.approx(
        one(TOP[some], HITS.labels[some], True).numbers(), abs=1e-9
    )
    csv(task=tasks, target=Q)(tmp_path / "submission.csv")
    csv(task=tasks, target=Y)(tmp_path / "solution.csv")
    found = files.read(tmp_path / "submission.csv", labels=tmp_path / "solution.csv")
    assert numbers(*probabilities(found)) == pytest.approx(TWO.numbers(), abs=1e-9)


VIEWS = np.array(["CC", "MLO"])[np.arange(N) // 2 % 2]


@pytest.mark.parametrize(("columns", "truth", "label"), [
    (dict(**{"class": Y3[::-1]}, diagnosis=Y3, **scores("p_", names="012")), THREE, "diagnosis"),
    (dict(**scores("class_", names="012"), birads=Y3 + 1, **{"class": VIEWS}), THREE, "birads"),
    ({"target": Y[::-1], "pd": Q, "default": Y}, TWO, "default"),
    ({"class": np.arange(N) // 3 % 2, "prob": Q, "charged_off": Y}, TWO, "charged_off"),
    ({"x": np.arange(N), "y": np.arange(N) % 7, "prob": Q, "tumor": Y}, TWO, "tumor"),
    (dict(**scores("logit_", Z, "012"), reader_1=(Y3 + (Q > 0.6)) % 3,
          consensus=np.where(LOST, -999, Y3)), Truth(P3[~LOST], Y3[~LOST]), "consensus"),
])  # fmt: skip
def test_labels_are_what_the_scores_fit(columns, truth, label, tmp_path):
    csv(**columns)(tmp_path / "asked.csv")
    first, *_ = commands_of(tmp_path / "asked.csv")
    assert first == pytest.approx(truth.numbers(), abs=1e-9)
    asked = question_of(tmp_path / "asked.csv")
    assert f"--label {label}" in re.findall(r"calibkit audit .*", asked)[0]
    assert "--classes CC" not in asked


@pytest.mark.parametrize("columns", [
    dict(y=Y3, grade=BEST + (Q > 0.9), **scores("p_", names="012")),  # of another model
    {"class": Y, "prob": Q, "is_fraud": (Q + Y > 0.9).astype(int)},
    {"label": Y[::-1], "prob": Q},  # a bad model
    {"label": Y[::-1], "prob": Q, "sex": VIEWS},
    {"label": Y, "prob": Q, "batch": np.where(LOST, np.nan, np.arange(N) % 8)},
])  # fmt: skip
def test_labels_that_fit_or_that_are_alone_are_read_at_once(columns, tmp_path):
    csv(**columns)(tmp_path / "read.csv")
    assert files.read(tmp_path / "read.csv").note.startswith(f"labels from {next(iter(columns))!r}")


def test_low_chances_in_per_cent_have_both_commands(tmp_path):
    csv(**{"default": Y, "PD (%)": Q / 2})(tmp_path / "low.csv")
    asked = question_of(tmp_path / "low.csv")
    assert "--kind percent" in asked.splitlines()[-4]
    assert "--kind probs" in asked.splitlines()[-2]


def test_codes_of_a_weak_model_are_offered_in_the_order_of_the_columns(tmp_path):
    random = np.random.default_rng(7)
    weak = softmax(random.normal(size=(N, 3)), axis=1)
    csv(label=random.integers(0, 3, N), **scores(of=weak, names=CODES))(tmp_path / "weak.csv")
    with pytest.raises(Question, match=r"--classes 0,1,2") as asked:
        files.read(tmp_path / "weak.csv")
    assert asked.value.answer is None


SORTS = np.array(["retail", "SME", "card"])[np.arange(N) % 3]


@pytest.mark.parametrize(("column", "values", "offered"), [
    ("patient_id", np.arange(N) // 4, "--cluster patient_id if its rows belong together"),
    ("Kundennr", 700 + np.arange(N) // 4, "--cluster Kundennr if its rows belong together"),
    ("debtor", 1_000_000 + np.arange(N) // 4, "--cluster debtor if its rows belong together"),
    ("wer", [f"P{k // 4:03d}" for k in range(N)], "--cluster wer if its rows belong together"),
    ("wer", [f"P{k:03d}" for k in range(N)], ""),  # each once
    ("stand", np.arange(20240101, 20240101 + N) // 4 * 4, ""),  # a date
    ("bureau_score", 700 + np.arange(N) // 4, ""),
    ("LIMIT_BAL", 10_000 * (1 + np.arange(N) // 4), ""),
    ("no_of_loans", np.arange(N) // 4, ""),
    ("customer_income", 1000 * (np.arange(N) // 4), ""),
    ("resps_0_1", DECIDED, ""),
    ("Art der Kunden", SORTS, "--groups 'Art der Kunden' judges each Art der Kunden"),
    ("age_band", SORTS, "--groups age_band judges each age_band"),
    ("age", 20 + np.arange(N) // 4, ""),
    ("prediction", DECIDED, ""),
    ("F_BAD", Y, ""),
])  # fmt: skip
def test_groups_and_clusters_are_offered(column, values, offered, tmp_path):
    beside = {"resps_0_1": {"resps_1_1": 1 - DECIDED}, "F_BAD": {"I_BAD": DECIDED}}.get(column, {})
    csv(**{column: values}, **beside, label=Y, p=Q)(tmp_path / "rows.csv")
    assert files.read(tmp_path / "rows.csv").offers == offered


POINTS, BASIS = (1000 * Q).round(), (1e4 * Q).round().astype(int)


@pytest.mark.parametrize(("columns", "truth", "words"), [
    ({"SCORE": POINTS.astype(int), "DEFAULT": np.where(Y, "Y", "N")}, one(POINTS / 1000, Y),
     "--scale 1000"),
    ({"obligor": range(N), "pd_bps": BASIS, "flag": Y}, one(BASIS / 1e4, Y), "--scale 10000"),
    ({"risk_score": POINTS.astype(int), "bad": Y}, one(POINTS / 1000, Y), "--scale 1000"),
    ({"rating": (5 * Q).round(), "label": Y}, one((5 * Q).round() / 5, Y), "--scale 5"),
    ({"rating": (6 * Q).round(), "label": Y}, one((6 * Q).round() / 10, Y), "--scale 10"),
    ({"label": Y, "score": (600 - 20 * np.log(Q.clip(0.01, 0.99))).round()}, None,
     "table['score'] = 1 / (1 + numpy.exp(("),
    ({"target": np.where(Y, "N", "Y"), "score": (999 - 0.8 * POINTS).astype(int)}, None,
     "from 0 to 1000, --scale 1000 divides them"),
])  # fmt: skip
def test_points_are_divided_or_have_a_line_of_python(columns, truth, words, tmp_path):
    csv(**columns)(tmp_path / "points.csv")
    asked = question_of(tmp_path / "points.csv")
    assert words in asked
    commands = re.findall(r"calibkit audit .*", asked)
    assert len(commands) == (truth is not None)
    for command in commands:
        found = files.read(tmp_path / "points.csv", **typed(shlex.split(command)))
        assert numbers(*probabilities(found)) == pytest.approx(truth.numbers(), abs=1e-9)


@pytest.mark.parametrize("label", ["outcome", "y_true"])
def test_the_likelier_of_two_sides_is_said_first_with_the_auc_of_each(label, tmp_path):
    csv(prob_good=1 - Q, **{label: np.where(Y, "default", "no default")})(tmp_path / "side.csv")
    asked = question_of(tmp_path / "side.csv")
    first, second = re.findall(r"is of '(.*)' \(AUC (.*)\): ", asked)
    assert (first[0], second[0]) == ("no default", "default")
    assert float(first[1]) == pytest.approx(1 - float(second[1]), abs=0.011)
    assert float(first[1]) > 0.5
    (command,) = re.findall(r"calibkit audit .*", asked)
    assert typed(shlex.split(command))["positive"] == "no default"


def commands_of(path) -> list[tuple[float, float, float]]:
    """The numbers that each command of the question about a file gives, the likeliest first."""
    with pytest.raises(Question) as asked:
        files.read(path)
    options = [
        {k: v for k, v in vars(way.options).items() if v not in (None, False, ())}
        for way in asked.value.ways
    ]
    return [numbers(*probabilities(files.read(path, **one))) for one in options]


ATTEMPTED = np.arange(N) % 8 != 3


@pytest.mark.parametrize("words", ["ABC", ["CORRECT", "INCORRECT", "NOT_ATTEMPTED"]])
def test_an_answer_that_was_not_attempted_is_left_out_or_counts_as_wrong(words, tmp_path):
    right, wrong, none = words
    grade = np.where(ATTEMPTED, np.where(HITS.labels, right, wrong), none)
    csv(question="q", answer=range(N), confidence=TOP, grade=grade)(tmp_path / "simple.csv")
    attempted = one(TOP[ATTEMPTED], HITS.labels[ATTEMPTED], True)
    every = one(TOP, HITS.labels * ATTEMPTED, True)
    assert "the file does not say" in question_of(tmp_path / "simple.csv")
    truths = [truth.numbers() for truth in (attempted, every)]
    assert commands_of(tmp_path / "simple.csv") == list(map(pytest.approx, truths))


def test_letters_of_a_grader_are_right_and_wrong_or_classes_that_are_predicted(tmp_path):
    grade = np.where(HITS.labels, "A", "B")
    csv(confidence=TOP, grade=grade)(tmp_path / "graded.csv")
    (found,) = commands_of(tmp_path / "graded.csv")
    assert found == pytest.approx(HITS.numbers())
    letters = np.array(list("ABC"))  # of eggs
    csv(confidence=TOP, grade=letters[Y3], predicted=letters[BEST])(tmp_path / "eggs.csv")
    found, *_ = commands_of(tmp_path / "eggs.csv")
    assert found == pytest.approx(HITS.numbers())
    with pytest.raises(ValueError, match=r"with --positive, or name another --label"):
        files.read(tmp_path / "eggs.csv", label="grade", scores="confidence", kind="confidence")
    with pytest.raises(ValueError, match=r"--positive must be one of \['A', 'B'\], got 'Z'"):
        files.read(tmp_path / "graded.csv", label="grade", kind="confidence", positive="Z")


@pytest.mark.parametrize("columns", [
    {"p0": 1 - Q, "p1": Q, "cal_p0": 0.6 - 0.2 * Q, "cal_p1": 0.4 + 0.2 * Q},
    {"prob": Q, "calibrated_prob": 0.4 + 0.2 * Q},
])  # fmt: skip
def test_calibrated_scores_beside_others_are_offered(columns, tmp_path):
    csv(predict=DECIDED, **columns, bad=Y)(tmp_path / "both.csv")
    truths = [one(of, Y).numbers() for of in (Q, 0.4 + 0.2 * Q)]
    assert commands_of(tmp_path / "both.csv") == list(map(pytest.approx, truths))


def test_unsure_labels_are_left_out_or_are_not_the_event(tmp_path):
    sure, seen = np.arange(N) % 7 != 3, np.arange(N) % 9 != 5
    labels = np.where(seen, np.where(sure, Y, -1).astype(object), "")
    csv(Path=range(N), Edema=labels, Edema_prob=Q)(tmp_path / "xrays.csv")
    assert "-1 and 0 are both not '1'" in question_of(tmp_path / "xrays.csv")
    known = one(Q[sure & seen], Y[sure & seen]), one(Q[seen], (Y * sure)[seen])
    truths = [truth.numbers() for truth in known]
    assert commands_of(tmp_path / "xrays.csv") == list(map(pytest.approx, truths))


GRADES = np.where(HITS.labels, "correct", "incorrect")
PLACES = np.array([f"place {k % 90}" for k in range(N)])
SAID = np.where(HITS.labels, PLACES, "elsewhere")
HALF = np.where(np.arange(N) % 2, SAID, [f"It was {one}." for one in SAID])  # letter by letter
EXACT = one(TOP, (HALF == PLACES).astype(int), True)


@pytest.mark.parametrize(("called", "grade"), [
    ("grade", np.where(HITS.labels, "CORRECT", "INCORRECT")),
    ("grade", np.where(HITS.labels, "A", "B")), ("judge", GRADES),
    ("judge_verdict", np.where(HITS.labels, "yes", "no")),
    ("judge_score", HITS.labels), ("graded", HITS.labels == 1),
])  # fmt: skip
def test_a_judge_is_offered_before_answers_that_are_letter_by_letter_the_target(
    called, grade, tmp_path
):
    path = tmp_path / "judged.csv"
    csv(target=PLACES, response=HALF, confidence=TOP, **{called: grade})(path)
    asked = question_of(path)
    assert asked.startswith(f"{called!r} may say which answers are right: --label {called}. ")
    assert "counts an answer as right only where it is letter by letter the target" in asked
    found = commands_of(path)
    assert found[0] == pytest.approx(HITS.numbers())
    assert found[-1] == pytest.approx(EXACT.numbers())
    assert typed(shlex.split(asked.splitlines()[-1].strip()))["label"] == called


@pytest.mark.parametrize("columns", [
    {"target": PLACES, "response": [f"I think {k}" for k in range(N)], "confidence": TOP,
     "grade": GRADES},
    {"label": PLACES, "model_answer": HALF, "judge": np.where(HITS.labels, "yes", "no"),
     "p_true": TOP},
    {"target": PLACES, "scores_qa_value": "x", "graded_qa": np.where(HITS.labels, "C", "I"),
     "confidence": TOP},
])  # fmt: skip
def test_a_judge_has_a_command_where_the_answers_are_sentences(columns, tmp_path):
    csv(**columns)(tmp_path / "sentences.csv")
    assert commands_of(tmp_path / "sentences.csv")[0] == pytest.approx(HITS.numbers())


@pytest.mark.parametrize("called", ["error_code", "grader_id"])
def test_an_error_or_who_judged_is_no_judge(called, tmp_path):
    csv(target=PLACES, response=HALF, confidence=TOP, **{called: Y})(tmp_path / "no.csv")
    assert f"--label {called}" not in question_of(tmp_path / "no.csv")


@pytest.mark.parametrize(("called", "no", "beside"), [
    ("judge_wrong", 0, {}), ("judge_wrong", 0, {"target": PLACES, "response": HALF}),
    ("error", "no", {}), ("is_wrong", "False", {"grader_id": Y}), ("hallucinated", 0, {}),
    ("answer_contradicted", 0, {}), ("judge_fail", "false", {}),
])  # fmt: skip
def test_what_says_wrong_has_a_command_that_reads_it_so(called, no, beside, tmp_path):
    yes = {0: 1, "no": "yes", "False": "True", "false": "true"}[no]
    csv(confidence=TOP, **beside, **{called: np.where(HITS.labels, no, yes)})(tmp_path / "w.csv")
    found = commands_of(tmp_path / "w.csv")
    assert found[0] == pytest.approx(HITS.numbers())
    assert len(found) == 1 or beside
    with pytest.raises(Question, match=f"--kind confidence --positive {no}"):
        files.read(tmp_path / "w.csv", label=called, scores="confidence", kind="confidence")


def test_what_is_neither_wrong_nor_right_is_left_out_or_counts_as_wrong(tmp_path):
    wrong = np.where(ATTEMPTED, np.where(HITS.labels, "no", "yes"), "unclear")
    csv(confidence=TOP, judge_wrong=wrong)(tmp_path / "unclear.csv")
    truths = (
        one(TOP[ATTEMPTED], HITS.labels[ATTEMPTED], True),
        one(TOP, HITS.labels * ATTEMPTED, True),
    )
    found = commands_of(tmp_path / "unclear.csv")
    assert found == [pytest.approx(truth.numbers()) for truth in truths]


def test_what_fails_may_be_the_event_of_a_probability(tmp_path):
    csv(failed=Y, prob=Q, hour=range(N))(tmp_path / "pumps.csv")
    assert commands_of(tmp_path / "pumps.csv")[0] == pytest.approx(TWO.numbers())


@pytest.mark.parametrize("columns", [
    {"bad": np.where(Y, "J", "N")}, {"default": Y}, {"outcome": Y, "p_other": Q},
])  # fmt: skip
def test_signs_of_per_cent_settle_the_unit(columns, tmp_path):
    path, cells = tmp_path / "signs.csv", [f"{100 * q!r} %" for q in map(float, Q)]
    csv(**{"PD_in_%": cells}, **columns)(path)
    asked = question_of(path)
    assert "is called per cent" not in asked
    options = {"label": next(iter(columns)), "scores": "PD_in_%"}
    options |= {"positive": "J"} if "bad" in columns else {}
    for kind in ("auto", "probs", "percent"):
        found = files.read(path, kind=kind, **options)
        assert numbers(*probabilities(found)) == pytest.approx(TWO.numbers())
    with pytest.raises(ValueError, match="bears signs of per cent: leave --scale out"):
        files.read(path, scale=100.0, **options)


RECORDS = [
    {"correct": bool(hit), "confidence": float(p), "judge": {"correct": bool(y), "confidence": q},
     "human": {"correct": bool(hit)}}
    for hit, p, y, q in zip(HITS.labels, TOP, Y, map(float, Q), strict=True)
]  # fmt: skip


def records(path, order, *keys, **renamed):
    rows = [{renamed.get(key, key): row[key] for key in keys[::order]} for row in RECORDS]
    jsonl(rows)(path)


@pytest.mark.parametrize("order", [1, -1])
def test_a_record_within_a_record_never_takes_the_place_of_a_column(order, tmp_path):
    path = tmp_path / "nested.jsonl"
    for keys in (("correct", "confidence", "judge"), ("human", "confidence")):
        records(path, order, *keys)
        found = files.read(path)
        assert numbers(*probabilities(found)) == pytest.approx(HITS.numbers()), found.note


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(("keys", "renamed", "called"), [
    (("confidence", "human", "judge"), {}, ["human_correct", "judge_correct"]),
    (("confidence", "correct", "human"), {"correct": "human_correct"},
     ["human_correct", "human.correct"]),
    (("confidence", "correct", "human"), {"correct": "old_correct"},
     ["old_correct", "human_correct"]),
    (("human", "judge"), {}, ["human_correct", "judge_correct", "judge_confidence"]),
])  # fmt: skip
def test_what_two_records_say_is_asked_about(order, keys, renamed, called, tmp_path):
    records(tmp_path / "two.jsonl", order, *keys, **renamed)
    asked = question_of(tmp_path / "two.jsonl")
    assert all(f"\n  {name}: " in asked for name in called)


def test_scores_of_more_axes_are_refused_with_what_to_do(tmp_path):
    np.savez(tmp_path / "members.npz", probs=np.stack([P3, P3]), labels=Y3)
    with pytest.raises(ValueError, match=r"'probs': \(2, 160, 3\).* mean of probabilities over"):
        files.read(tmp_path / "members.npz")


@pytest.mark.parametrize("form", ["records", "lists"])
def test_the_best_of_more_classes_in_records_are_asked_about_as_in_columns(form, tmp_path):
    best = [np.argsort(-p)[:2] for p in P3]
    rows = [
        {
            "gold": str(w),
            "predictions": [{"label": str(NAMES[k]), "score": float(p[k])} for k in own],
        }
        if form == "records"
        else {"gold": str(w), "labels": NAMES[own].tolist(), "scores": p[own].tolist()}
        for w, p, own in zip(WORDS, P3, best, strict=True)
    ]
    name = "predictions" if form == "records" else "scores"
    jsonl(rows)(tmp_path / "best.jsonl")
    asked = {"label": "gold", "scores": f"{name}_1_score", "predicted": f"{name}_1_label"}
    assert "every one of" not in question_of(tmp_path / "best.jsonl")
    found = files.read(tmp_path / "best.jsonl", **asked)
    assert numbers(*probabilities(found)) == pytest.approx(HITS.numbers(), abs=1e-9)


def test_a_mark_of_two_words_is_printed_as_it_is_typed(tmp_path):
    words = np.where(np.arange(N) % 7 == 3, "Not attempted", np.where(HITS.labels, "yes", "no"))
    csv(confidence=TOP, grade=words)(tmp_path / "mark.csv")
    with pytest.raises(Question, match="--missing='Not attempted' and --drop-missing"):
        files.read(tmp_path / "mark.csv", label="grade", kind="confidence")


def test_no_command_is_printed_twice(tmp_path):
    path = tmp_path / "judged.csv"
    verdict = np.where(HITS.labels, "CORRECT", "INCORRECT")
    csv(confidence=TENTHS.astype(int), judge=verdict, model="m")(path)
    with pytest.raises(Question) as asked:
        files.read(path)
    assert [way.options.scale for way in asked.value.ways] == [10]


def test_the_command_is_printed_as_it_was_typed(tmp_path, capsys, monkeypatch):
    csv(label=GOOD, p=Q)(tmp_path / "a b.csv")
    for program, called in (
        ("/usr/bin/calibkit", "calibkit"),
        ("x/__main__.py", "python -m calibkit"),
    ):
        monkeypatch.setattr("sys.argv", [program])
        assert __main__.main(["audit", str(tmp_path / "a b.csv")]) == 2
        assert f"\n  {called} audit '{tmp_path / 'a b.csv'}' --pos" in capsys.readouterr().err


@pytest.mark.parametrize("ending", ["pkl", "xlsx", "dta", "rds", "h5", "mat", "db", "safetensors"])
def test_other_forms_are_answered_with_lines_of_python(ending, tmp_path):
    path = tmp_path / f"table.{ending}"
    path.write_bytes(b"something")
    with pytest.raises(ValueError, match=r"in Python with these lines:\n  import pandas"):
        files.read(path)
