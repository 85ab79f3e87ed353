"""The count of a public benchmark, on made-up files of its form."""

import pandas as pd
import pytest
from study import public_benchmark
from study.public_benchmark import IMAGES, NOTHING, TABLES

# by hand: models a, b, c; TS harms b alone, SMS none
LOSSES = {NOTHING: [0.5, 0.4, 0.3], "TS": [0.4, 0.5, 0.3], "SMS": [0.3, 0.4, 0.2]}


@pytest.fixture
def results(tmp_path):
    for folder in (IMAGES, TABLES):
        (tmp_path / folder).mkdir()
        for name, values in LOSSES.items():
            table = pd.DataFrame({"dataset": "d", "model": list("abc"), "cal_size": [10, 30, 20]})
            table[f"{name}_logloss"] = values
            table.to_csv(tmp_path / folder / f"{name}.csv", index=False)
    return tmp_path


def test_it_counts_wins_and_harm(results):
    found = public_benchmark.losses(results / TABLES)
    rates = public_benchmark.win_rates(found)
    # SMS beats 2, 1.5, 2 of 2; TS 1, 0, .5; nothing 0, 1.5, .5
    assert rates.to_dict() == pytest.approx({"SMS": 5.5 / 6, NOTHING: 2 / 6, "TS": 1.5 / 6})
    assert public_benchmark.harm(found, "TS") == pytest.approx(1 / 3)
    assert public_benchmark.harm(found, "SMS") == 0


def test_it_says_what_the_evidence_says(results, capsys):
    assert public_benchmark.main([str(results)]) == 0
    said = capsys.readouterr().out
    assert "3 maps by win rate: SMS, Base-model, TS" in said
    assert "number 3" in said
    assert "10 to 30, 20 in the median" in said
    assert "TS 33%, SMS 0%" in said


@pytest.mark.parametrize("arguments", [[], ["a", "b"], ["/nowhere"]])
def test_it_asks_for_the_folder(arguments, capsys):
    assert public_benchmark.main(arguments) == 2
    assert "results" in capsys.readouterr().err
