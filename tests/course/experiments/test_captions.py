"""The experiment on real captions, on a handful of made ones in their prepared form."""

import itertools

import numpy as np
import pandas as pd
import pytest

from calibkit import __main__
from calibkit.course.experiments import captions
from calibkit.lab import translation
from calibkit.lab.data import prepared

GERMAN = ("Ein Hund rennt .", "Zwei Hunde schlafen .", "Ein Mann schläft .", "Eine Frau rennt .")
ENGLISH = ("A dog runs .", "Two dogs sleep .", "A man sleeps .", "A woman runs .")
LONG = " ".join(["sehr"] * 30)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    place = folder / "multi30k" / "prepared"
    place.mkdir(parents=True)
    columns = {"de": [*GERMAN * 8, LONG], "en": [*ENGLISH * 8, LONG]}
    some = {language: lines[:6] for language, lines in columns.items()}
    splits = {"train": columns, "validation": some, "test": columns}
    prepared.write(place, splits.items(), (), {})
    return folder


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    monkeypatch.setenv("CALIBKIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(captions.SCALES, "laptop", captions.Scale(24, 8, 20, 16, 4, 2, 2))
    monkeypatch.setattr(captions, "TEMPERATURES", (1.0, 2.0))


def test_the_experiment_runs_writes_and_comes_back(root, tiny, tmp_path, monkeypatch, capsys):
    order = ["reproduce", "captions", "--root", str(root), "--target", str(tmp_path / "results")]
    assert __main__.main(order) == 0
    page = capsys.readouterr().out
    assert "24 of the 29,000 training pairs" in page
    assert "2 seed(s): no verdict" in page
    assert "nan" not in page
    monkeypatch.setattr(captions.execution, "results", lambda: tmp_path / "results")
    table, steps = captions.stored(), captions.stored("steps")
    assert "±" not in captions.shown(table[table.seed == 0]).to_string()
    assert [*table.value.unique()] == [*captions.LOSSES]
    assert len(table) == 2 * len(captions.LOSSES)
    assert table.tokens.nunique() == 1
    assert table.tokens.iloc[0] == 8 * 4 * 5  # 4 tokens and the end; the long pair is left out
    assert steps.groupby(["value", "seed"]).step.max().eq(4).all()
    hot = captions.stored("temperatures")
    assert len(hot) == 2 * len(table)
    beam = hot[hot.temperature == 1.0].set_index(["value", "seed"]).bleu
    assert np.allclose(beam, table.set_index(["value", "seed"]).beam)
    with pytest.raises(FileNotFoundError, match="reproduce captions --scale gpu"):
        captions.stored(scale="gpu")


def test_a_quarter_of_the_sentences_trains_as_many_steps(root, tiny):
    setting = captions.SCALES["laptop"]
    texts = {s: captions._split(s, setting.longest, root) for s in ("train", "validation", "test")}
    train, _, test = captions._pairs(texts, setting, 0)
    plans = {value: captions._plan(value, train, test, setting, 0) for value in captions.LOSSES}
    assert {plan.steps for plan in plans.values()} == {4}
    assert [len(plan.train) for plan in plans.values()] == [24, 24, 24, 6]
    assert translation.UNKNOWN not in train.target[:, :2]
    assert test.target_words == train.target_words


def test_verdicts_want_three_seeds_and_pair_them():
    rows = itertools.product(captions.LOSSES, range(3))
    table = pd.DataFrame(
        {"value": value, "seed": seed, "temperature": 1.5 + 0.01 * seed, "ece": 0.1 + 0.01 * seed}
        for value, seed in rows
    )
    table.loc[table.value.str.startswith("label"), "temperature"] = [1.01, 0.99, 1.0]
    table.loc[table.value == captions.FEWER, "ece"] += [0.2, 0.21, 0.22]
    words = [verdict.word for verdict in captions.verdicts(table)]
    assert words == ["HOLDS", "INCONCLUSIVE", "HOLDS"]
    assert captions.verdicts(table[table.seed < 2]) == []
