"""The experiment on real captions, on a handful of made ones in their prepared form."""

import numpy as np
import pytest
from study import captions, engine, reports

from calibkit import __main__
from calibkit.course import experiments
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
    monkeypatch.setitem(captions.SETTINGS, "laptop", captions.Setting(24, 8, 20, 16, 4, 2, 2))
    monkeypatch.setattr(captions, "TEMPERATURES", (1.0, 2.0))


def test_the_experiment_runs_writes_and_comes_back(root, tiny, tmp_path, capsys):
    order = ["reproduce", "captions", "--root", str(root), "--target", str(tmp_path / "results")]
    order += ["--jobs", "1"]
    assert __main__.main(order) == 0
    page = capsys.readouterr().out
    assert "2 seed(s): no verdict" in page
    assert "nan" not in page
    table, hot = (
        experiments.stored("captions", "laptop", tmp_path / "results", part=part)
        for part in ("", "temperatures")
    )
    assert "±" not in reports.shown(table[table.seed == 0]).to_string()
    assert [*table.value.unique()] == [*captions.VALUES]
    assert len(table) == 2 * len(captions.VALUES)
    assert table.tokens.nunique() == 1
    assert table.tokens.iloc[0] == 8 * 4 * 5  # 4 tokens and the end; the long pair is left out
    assert len(hot) == 2 * len(table)
    beam = hot[hot.temperature == 1.0].set_index(["value", "seed"]).bleu
    assert np.allclose(beam, table.set_index(["value", "seed"]).beam)
    with pytest.raises(FileNotFoundError, match="reproduce captions --scale gpu"):
        experiments.stored("captions", "gpu", tmp_path / "results")


def test_a_quarter_of_the_sentences_trains_as_many_steps(root, tiny):
    experiment = captions.CAPTIONS
    task = engine.task_of(experiment, "laptop", root=root)
    train, _, test, _ = experiment.prepare(task, 0)
    plans = [experiment.plan(task, train, test, value, 0) for value in experiment.values]
    assert {plan.steps for plan in plans} == {4}
    assert [len(plan.train) for plan in plans] == [24, 24, 24, 6, 6]
    assert translation.UNKNOWN not in train.target[:, :2]
    assert test.target_words == train.target_words
