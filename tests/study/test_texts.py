"""The experiments on real texts: how texts are cut, what is trained, what is kept."""

from dataclasses import replace

import pandas as pd
import pytest
import torch
from study import engine, reports, texts
from study.engine import setting_of

from calibkit.__main__ import main
from calibkit.course import experiments
from calibkit.lab.data import prepared

WORDS = ("moon", "orbit", "launch", "hockey", "goal", "team", "the", "a", "of", "was")


def posts(n, seed):
    """Posts of two groups, with a header that gives the group away."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.arange(n) % 2
    bodies = []
    for label in labels.tolist():
        own = torch.randint(3, (3,), generator=generator) + 3 * label
        other = torch.randint(6, 10, (4,), generator=generator)
        bodies.append(" ".join(WORDS[i] for i in torch.cat([own, other]).tolist()))
    return bodies, labels


@pytest.fixture
def root(tmp_path, monkeypatch):
    for name, sizes in {
        "20newsgroups": {"train": 60, "test": 40},
        "sst2": {"train": 60, "validation": 20, "test": 30},
        "trec": {"train": 60, "test": 30},
    }.items():
        splits = []
        for seed, (split, n) in enumerate(sizes.items()):
            bodies, labels = posts(n, seed)
            if name == "20newsgroups":
                bodies = [f"Newsgroups: secret\nX: y\n\n{body}" for body in bodies]
            splits.append((split, {"text": bodies, "labels": labels}))
        folder = tmp_path / name / "prepared"
        folder.mkdir(parents=True)
        prepared.write(folder, splits, ("space", "sport"), {})
        tiny = {"words": 12, "length": 6, "embedding": 4, "width": 4, "depth": 1, "seeds": 2}
        tiny |= {"epochs": 1, "batch_size": 16}
        tiny |= {"train": 30, "test": 40} if name == "20newsgroups" else {}
        tiny |= {} if name == "sst2" else {"calibration": 15}
        changes = texts.TEXTS[name].setting_changes | {"laptop": tiny}
        monkeypatch.setitem(texts.TEXTS, name, replace(texts.TEXTS[name], setting_changes=changes))
    monkeypatch.setenv("CALIBKIT_CACHE", str(tmp_path / "cache"))
    return tmp_path


SIZES = {"20newsgroups": (30, 15, 40), "sst2": (60, 20, 30), "trec": (45, 15, 30)}


def test_texts_are_cut_without_their_headers_and_words_come_from_the_training(root):
    for name, sizes in SIZES.items():
        setting = setting_of(texts.TEXTS[name], "laptop")
        parts, vocabulary = texts.text_splits(name, setting, 0, root)
        assert tuple(map(len, parts)) == sizes
        assert all(part.inputs.shape[1] == 6 for part in parts)
        assert "secret" not in vocabulary.words
        assert len(vocabulary) <= 12
        again, _ = texts.text_splits(name, setting, 0, root)
        other, _ = texts.text_splits(name, setting, 1, root)
        assert torch.equal(parts.train.inputs, again.train.inputs)
        assert not torch.equal(parts.train.inputs, other.train.inputs)
        if name != "20newsgroups":
            assert torch.equal(parts.test.labels, other.test.labels)  # the dataset's own


@pytest.mark.parametrize("name", ["20newsgroups", "trec"])
def test_the_command_line_trains_writes_and_prints(name, root, capsys, monkeypatch):
    arguments = ["--root", str(root), "--target", str(root / "out"), "--device", "cpu"]
    assert main(["reproduce", "text", "--dataset", name, *arguments]) == 0
    said = capsys.readouterr().out
    experiment = texts.TEXTS[name]
    assert f"{experiment.claim[0]} " in said
    kept = pd.read_csv(root / "out" / "laptop" / f"text-{name}.csv")
    assert len(kept) == 2 * len(experiment.values)
    assert len(kept.columns) == 17
    assert kept.notna().all(axis=None)
    steps = reports.verdicts("text", kept, dataset=name)
    assert len(steps) == len(experiment.values) - 1
    assert all(str(step) in said for step in steps)
    (root / "notebooks" / "source").mkdir(parents=True)
    (root / "out").rename(root / "notebooks" / "results")
    monkeypatch.chdir(root)
    assert experiments.on_text(name).equals(kept)
    with pytest.raises(FileNotFoundError, match="reproduce text --scale laptop --dataset sst2"):
        experiments.on_text("sst2")


def test_word_vectors_of_a_file_are_where_the_training_starts(root):
    path = root / "glove.txt"
    path.write_text("moon 1 2 3\ngoal 4 5 6\n", encoding="utf-8")
    one = {"values": ["no mixup"], "seeds": [0], "root": root, "progress": False}
    done = engine.run("text", dataset="trec", vectors=path, **one)
    trial = done.outcomes[0].trial
    start = trial.model().body.words.weight
    _, vocabulary = texts.text_splits("trec", done.task.setting, 0, root)
    assert start[vocabulary.numbers["moon"]].tolist() == [1, 2, 3]
    assert not torch.equal(done.outcomes[0].run.model.body.words.weight, start)
