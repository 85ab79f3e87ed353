"""Files of questions and answers as evaluations of language models write them."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

import calibkit
from calibkit.auditing import audit_files, files
from calibkit.auditing.binary import Costs

N = 1200
_random = np.random.default_rng(3)
SAID = _random.choice(
    [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0], N, p=[0.05, 0.05, 0.1, 0.2, 0.3, 0.2, 0.1]
)
SUBJECT = _random.choice(["algebra", "biology", "law"], N)
CHANCE = expit(0.7 * logit(SAID.clip(max=0.98))) - 0.3 * (SUBJECT == "law")
RIGHT = (_random.random(N) < CHANCE).astype(int)
TARGET = _random.choice(list("ABCD"), N)
PREDICTED = np.where(RIGHT == 1, TARGET, "E")
QUESTIONS = [f"What is {k}?" for k in range(N)]


def written(path, **columns):
    """JSON lines of these columns."""
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    lines = (json.dumps(row, default=lambda value: value.item()) for row in rows)
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def check(path, **options):
    """The file gives the confidences and hits that it was made of."""
    given = files.read(path, **options)
    assert given.kind == "confidence"
    assert given.scores == pytest.approx(SAID)
    assert list(given.labels) == RIGHT.tolist()
    return given


def harness(path, **more):
    """As lm-evaluation-harness logs its samples: lists and records beside what is judged."""
    columns = {
        "doc_id": range(N),
        "doc": [{"question": q, "choices": list("ABCD")} for q in QUESTIONS],
    }
    columns |= {"target": TARGET, "resps": [[["-1.2", "False"]]] * N, "filtered_resps": [["A"]] * N}
    columns |= {"acc": RIGHT.astype(float), "confidence": SAID, "subject": SUBJECT} | more
    return written(path, **columns)


def helm(path, **more):
    """As HELM writes them: what is right and how sure stand in a record of statistics."""
    stats = [
        {"exact_match": float(right), "max_prob": float(said)}
        | {k: float(v[n]) for k, v in more.items()}
        for n, (right, said) in enumerate(zip(RIGHT, SAID, strict=True))
    ]
    return written(path, instance_id=QUESTIONS, predicted_text=PREDICTED, stats=stats)


def by_hand(path):
    """As somebody types it into a spreadsheet."""
    table = {"question": QUESTIONS, "answer": PREDICTED, "right": np.where(RIGHT, "yes", "no")}
    pd.DataFrame(table | {"p": [f"{100 * p:g}%" for p in SAID]}).to_csv(path, index=False)
    return path


def test_three_layouts_give_the_same_audit(tmp_path):
    paths = [harness(tmp_path / "a.jsonl"), helm(tmp_path / "b.jsonl"), by_hand(tmp_path / "c.csv")]
    found = [check(path) for path in paths]
    assert "--groups subject judges each subject" in found[0].offers
    measures = audit_files(paths[0]).measures
    own = calibkit.audit(SAID, RIGHT, kind="confidence").measures
    assert measures["ece"].value == pytest.approx(own["ece"].value, abs=1e-12)
    assert measures["accuracy"].value == pytest.approx(RIGHT.mean())
    assert measures["gap"].value == pytest.approx(SAID.mean() - RIGHT.mean())


def test_what_is_right_goes_before_labels_beside_it(tmp_path):
    texts = {"target": TARGET, "prediction": PREDICTED, "category": SUBJECT}
    given = check(written(tmp_path / "b.jsonl", **texts, prob=SAID, right=RIGHT == 1))
    assert given.note.startswith("labels from 'right', scores from prob; ")
    yes = np.where(_random.random(N) < 0.5, "yes", "no")
    check(written(tmp_path / "a.jsonl", confidence=SAID, score=RIGHT, target=yes))


WRONG_WAY = 1 - RIGHT
F1 = (RIGHT * 0.9).round(2)


TWO_MARKS = {"acc": RIGHT, "acc_norm": WRONG_WAY}


@pytest.mark.parametrize(("columns", "asks"), [
    ({"confidence": SAID, "score": F1}, "usual name holds labels"),
    ({"confidence": SAID, "score": RIGHT * 5}, "usual name holds labels"),
    ({"confidence": SAID, "score": F1, "target": TARGET, "prediction": PREDICTED},
     "may be\n    confidence\n    score"),
    ({"confidence": SAID, "correct": RIGHT, "score": F1}, "may be\n    confidence\n    score"),
    ({"confidence": SAID, "target": TARGET} | TWO_MARKS, "by\n    acc\n    acc_norm"),
    ({"confidence": SAID} | TWO_MARKS, "by\n    acc\n    acc_norm"),
    ({"confidence": SAID, "wrong": WRONG_WAY}, "--kind confidence --positive 0"),
    ({"seq_prob": SAID, "accuracy": RIGHT}, "says which answers are right"),
    ({"confidence": ["90%", 0.9] * (N // 2), "correct": RIGHT}, "usual name holds scores"),
    ({"confidence": SAID, "answer": TARGET, "prediction": PREDICTED}, "usual name holds labels"),
    ({"p_A": SAID, "p_B": 1 - SAID, "correct": RIGHT}, "whether the largest of p_A, p_B is right"),
    ({"acc": RIGHT, "target": TARGET}, "usual name holds scores"),
])  # fmt: skip
def test_what_is_not_clear_is_asked(tmp_path, columns, asks):
    path = written(tmp_path / "a.jsonl", **columns)
    with pytest.raises(ValueError, match=asks):
        files.read(path)


@pytest.mark.parametrize("kind", [None, "percent"])
def test_fractions_among_per_cent_are_refused(kind, tmp_path):
    mixed = np.where(np.arange(N) % 2, 70, 0.7)
    path = written(tmp_path / "a.jsonl", confidence=mixed, correct=RIGHT)
    with pytest.raises(ValueError, match=r"holds 0.7 in row 0 .* write all of it in one unit"):
        files.read(path, kind=kind)


def paid(confidence, cost):
    """What each answer costs: 1 where it is looked up, `cost` where it is wrong and acted on."""
    acted = 1 - confidence <= 1 / cost + 1e-9
    return np.where(acted, cost * (1 - RIGHT), 1)


@pytest.mark.parametrize("cost", [2, 5, 20])
def test_the_cost_of_answers_is_that_of_the_rows(cost):
    found = calibkit.audit(SAID, RIGHT, kind="confidence", costs=(1, cost)).deferral
    before = paid(SAID, cost)
    as_it_is = found.models["as it is"]
    assert as_it_is.cost.value == pytest.approx(before.mean())
    assert as_it_is.cost.low < before.mean() < as_it_is.cost.high
    looked_up = 1 / cost + 1e-9 < 1 - SAID
    own = looked_up.mean(), ((1 - RIGHT) * ~looked_up).mean(), (RIGHT * looked_up).mean()
    assert (as_it_is.acted, as_it_is.missed, as_it_is.alarms) == pytest.approx(own)
    assert found.all == pytest.approx(1)
    assert found.none == pytest.approx(cost * (1 - RIGHT.mean()))
    assert list(found.models) == ["as it is", "temperature", "Platt"]


def test_a_map_that_knows_the_truth_makes_answers_cheaper(tmp_path):
    """Over-confident answers: 20 for a wrong one makes looking nearly all of them up cheaper."""
    random = np.random.default_rng(1)
    apart = random.choice(SAID, 4000)
    right = (random.random(4000) < expit(0.4 * logit(apart.clip(max=0.98)) - 0.5)).astype(int)
    report = calibkit.audit(apart, right, kind="confidence", costs=(1, 20))
    t = f"{report.cooling.value:.6g}"
    assert (
        report.advice.line
        == f"confidence = torch.sigmoid(torch.logit(confidence, eps=0.025) / {t})"
    )
    less = report.deferral.models["Platt"].difference
    assert less.high < 0
    page = report.html()
    assert "Which answers to look up" in page
    assert f"After it 100 answers cost {-100 * less.value:.1f} less" in page
    assert "looking up costs 1, acting on a wrong answer 20: 100 answers cost" in str(report)


def test_the_map_comes_from_the_other_half_or_from_the_calibration_data():
    half = np.arange(N) % 2 == 0
    report = calibkit.audit(
        SAID[half],
        RIGHT[half],
        kind="confidence",
        costs=(1, 5),
        calibration=(SAID[~half], RIGHT[~half]),
    )
    ((slope, shift),) = report.deferral.platt
    mapped = expit(slope * logit(SAID[half].clip(max=0.975)) + shift)
    looked_up = 1 - mapped > 1 / 5
    assert report.deferral.models["Platt"].acted == pytest.approx(looked_up.mean())
    (stated,) = report.deferral.stated
    assert expit(slope * logit(stated) + shift) == pytest.approx(0.8)
    assert len(calibkit.audit(SAID, RIGHT, kind="confidence", costs=(1, 5)).deferral.platt) == 2


def test_an_answer_at_the_threshold_is_acted_on():
    said, right = np.full(40, 0.95), np.arange(40) % 2
    found = calibkit.audit(said, right, kind="confidence", costs=(1, 20)).deferral
    assert found.models["as it is"].acted == 0


def test_answers_right_too_seldom_for_a_temperature_have_platt_scaling():
    right = (np.arange(N) % 3 == 0).astype(int)
    report = calibkit.audit(SAID, right, kind="confidence", costs=(1, 5), groups=SUBJECT)
    assert "Platt scaling, can" in report.cooling.misfit
    assert not any("predicted for every sample" in text for text in report.warnings)
    assert report.groups[["gap_left", "low_left", "high_left"]].isna().all(axis=None)
    assert "gap with temperature" not in report.html()
    assert report.deferral.models["Platt"].cost.value == pytest.approx(1)


def test_a_map_that_falls_reaches_no_threshold():
    found = Costs(1.0, 5.0, 0.2, {}, 0.0, 0.0, platt=((-0.5, 0.0), (1.0, 0.0)))
    assert np.isnan(found.stated[0])
    assert found.stated[1] == pytest.approx(0.8)


@pytest.mark.parametrize("costs", [(1, 1), (20, 1)])
def test_a_wrong_answer_must_cost_more_than_looking_it_up(costs):
    with pytest.raises(ValueError, match="costs of answers are of looking one up and then"):
        calibkit.audit(SAID, RIGHT, kind="confidence", costs=costs)


THEIRS = (_random.random(N) < 0.6).astype(int)  # which answers of the second model are right


def test_a_second_model_is_judged_by_its_own_answers(tmp_path):
    second = written(tmp_path / "second.jsonl", confidence=SAID[::-1], correct=THEIRS)
    report = audit_files(harness(tmp_path / "a.jsonl"), other=second)
    assert report.other["accuracy"].value == pytest.approx(THEIRS.mean())
    assert report.other["gap"].value == pytest.approx(SAID.mean() - THEIRS.mean())
    assert report.measures["accuracy"].value == pytest.approx(RIGHT.mean())
    assert report.difference["accuracy"].value == pytest.approx((THEIRS - RIGHT).mean())
    assert "Beside second" in report.html()
    assert "each by whether its own answers are right" in report.html()


def test_own_labels_are_for_answers_alone():
    with pytest.raises(ValueError, match="for kind 'confidence'"):
        calibkit.audit(probs=SAID, labels=RIGHT, other=SAID, other_labels=THEIRS)
    with pytest.raises(TypeError, match="pass other as well"):
        calibkit.audit(SAID, RIGHT, kind="confidence", other_labels=THEIRS)
