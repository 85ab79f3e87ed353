"""The audit's numbers as JSON, and limits for a build that must not grow worse."""

import json

import jsonschema
import numpy as np
import pandas as pd
import pytest
import torch

import calibkit
from calibkit.__main__ import main
from calibkit.auditing import page as audited
from tests.auditing.test_audit import drawn

SCHEMA = json.loads(audited.SCHEMA.read_text(encoding="utf-8"))


FOUR, OF_FOUR = drawn(600, 4, truth=0.5)
TWO, OF_TWO = drawn(600, 2, truth=0.5)
IMPOSSIBLE = torch.tensor([[0.5, 0.5, 0.0]] * 99 + [[1.0, 0.0, 0.0]])
AUDITS = {
    "groups": lambda: calibkit.audit(FOUR, OF_FOUR, groups=["a", "b"] * 300, other=FOUR / 2),
    "clusters": lambda: calibkit.audit(TWO, OF_TWO, clusters=np.arange(600) // 2),
    "perfect": lambda: calibkit.audit(FOUR, FOUR.argmax(1)),
    "costs": lambda: calibkit.audit(TWO, OF_TWO, costs=(1, 20)),
    "answers": lambda: calibkit.audit(
        FOUR.softmax(1).amax(1), FOUR.argmax(1) == OF_FOUR, kind="confidence", costs=(1, 5)
    ),
    "impossible": lambda: calibkit.audit(probs=IMPOSSIBLE, labels=[0, 1, 0] * 33 + [1]),
}


@pytest.mark.parametrize("name", AUDITS)
def test_the_json_keeps_to_its_schema(name, tmp_path):
    found = AUDITS[name]()
    path = found.write_json(tmp_path / "audit.json")
    held = json.loads(path.read_text(encoding="utf-8"), parse_constant=pytest.fail)
    jsonschema.Draft202012Validator(SCHEMA).validate(held)
    assert ("deferral" in held) == (name == "answers")
    assert held["temperature"]["line"] != ""


def test_the_json_has_the_audits_numbers():
    found = AUDITS["groups"]()
    held = audited.numbers(found)
    for name, estimate in found.measures.items():
        assert held["measures"][name]["value"] == estimate.value
        ends = held["measures"][name]["interval"]
        assert ends == ([estimate.low, estimate.high] if estimate.known else None)
    assert held["temperature"]["value"] == found.cooling.value
    assert held["temperature"]["line"] == found.advice.line
    assert [row["name"] for row in held["groups"]] == ["a", "b"]
    assert held["groups"][0]["gap"] == found.groups["gap"][0]
    bins, cooling = found.shown[0], held["temperature"]
    filled = bins.counts > 0
    columns = {"low": bins.edges[:-1], "high": bins.edges[1:], "samples": bins.counts}
    for key, column in (
        columns | {"confidence": bins.confidence, "accuracy": bins.accuracy}
    ).items():
        assert [row[key] for row in held["diagram"]] == column[filled].tolist(), key
    assert cooling["interval"] == [found.cooling.low, found.cooling.high]
    for key, of in (("measures", found.cooled), ("gain", found.gain)):
        assert cooling[key]["ece"]["value"] == of["ece"].value, key
    assert held["power"][1] == {"overconfidence": 0.01, "found": found.power[0.01]}
    assert held["coverage"][1]["risk"] == found.coverage[2]["risk"][1]
    assert held["other"]["difference"]["nll"]["value"] == found.difference["nll"].value


@pytest.fixture
def file(tmp_path):
    z, labels = drawn(800, 3, truth=0.5)
    table = pd.DataFrame(z.softmax(1).numpy(), columns=["a", "b", "c"])
    table["label"] = np.array(list("abc"))[labels]
    table.to_csv(tmp_path / "predictions.csv", index=False)
    return tmp_path / "predictions.csv"


@pytest.mark.parametrize(("limits", "code", "words"), [
    (["ece=.9"], 0, ""),
    (["ece=.05"], 1, "ece is 0."),
    (["nll=9", "gap=.01"], 1, "gap is 0."),
    (["brier=2", "nll=9"], 0, ""),
    (["colour=1"], 2, "no measure 'colour'"),
    (["ece"], 2, "MEASURE=NUMBER"),
    (["ece=much"], 2, "MEASURE=NUMBER"),
    (["ece=nan"], 2, "MEASURE=NUMBER"),
])  # fmt: skip
def test_the_command_ends_with_1_above_a_limit(file, capsys, limits, code, words):
    options = [part for limit in limits for part in ("--fail-above", limit)]
    target = file.with_suffix(".html")
    assert main(["audit", str(file), "--target", str(target), *options]) == code
    assert words in capsys.readouterr().err
    assert target.exists() == (code != 2)  # a wrong limit is refused before the work


def test_a_gap_below_0_counts_by_its_size():
    z, labels = drawn(800, 3)
    shy = calibkit.audit(z / 2, labels)
    assert shy.measures["gap"].value < -0.05
    assert shy.over({"gap": 0.05}) == [f"gap is {-shy.measures['gap'].value:.4f}, above 0.05"]
    assert shy.over({"gap": 0.5}) == []


def test_the_event_of_a_binary_model_has_limits_too():
    z, labels = drawn(800, 2, truth=0.4)
    found = calibkit.audit(z, labels)
    assert found.over({"event_ece": 0.01})
    assert not found.over({"event_ece": 0.9})
    with pytest.raises(ValueError, match="no measure 'event_ece'"):
        calibkit.audit(*drawn(800, 3)).over({"event_ece": 0.9})


def test_a_json_that_cannot_be_written_is_refused_before_the_work(file, capsys):
    wrong = file.parent / "nowhere" / "audit.json"
    target = str(file.with_suffix(".html"))
    assert main(["audit", str(file), "--target", target, "--json", str(wrong)]) == 2
    assert "--json" in capsys.readouterr().err
