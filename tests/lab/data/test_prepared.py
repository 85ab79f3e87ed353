"""The prepared form: what is written, how it is loaded, split and normalised, what is refused."""

import json
import os

import pytest
import torch

from calibkit.lab import data
from calibkit.lab.data import prepared
from tests import refusals

CLASSES = ("cat", "dog")


def put(root, name, splits, **facts):
    folder = root / name / "prepared"
    folder.mkdir(parents=True)
    return prepared.write(folder, splits.items(), facts.pop("classes", CLASSES), facts)


def pictures(n, start=0, channels=3, size=2):
    """Pictures of one level each, the i-th of level start + i, and labels in turn."""
    levels = torch.arange(start, start + n, dtype=torch.uint8)
    inputs = levels.view(-1, 1, 1, 1).expand(n, channels, size, size)
    return {"inputs": inputs, "labels": torch.arange(n) % 2}


def levels(dataset):
    return (dataset.inputs[:, 0, 0, 0] * 255).round().int().tolist()


@pytest.fixture
def root(tmp_path):
    put(tmp_path, "pets", {"train": pictures(100), "test": pictures(20, 200)})
    return tmp_path


def test_normalised_training_images_have_mean_0_and_deviation_1(tmp_path):
    images = torch.randint(0, 256, (600, 3, 4, 4), generator=torch.Generator().manual_seed(0))
    images[:, 1] //= 3
    put(tmp_path, "noise", {"train": {"inputs": images.byte(), "labels": torch.arange(600) % 2}})
    inputs = data.load("noise", root=tmp_path).inputs
    assert inputs.dtype == torch.float32
    assert inputs.mean((0, 2, 3)).abs().max() < 1e-6
    torch.testing.assert_close(inputs.std((0, 2, 3), correction=0), torch.ones(3))
    mean, std = data.channel_statistics("noise", tmp_path)
    torch.testing.assert_close(mean, (images / 255).mean((0, 2, 3)))
    torch.testing.assert_close(std, (images / 255).std((0, 2, 3), correction=0))
    put(tmp_path, "other", {"test": pictures(5)})
    found = data.load("other", split="test", root=tmp_path, like="noise").inputs
    expected = (pictures(5)["inputs"] / 255 - mean.view(3, 1, 1)) / std.view(3, 1, 1)
    torch.testing.assert_close(found, expected)


def test_splits_share_no_image_and_lose_none(root):
    splits = data.splits_of("pets", 3, calibration=30, root=root, normalise=False)
    assert [len(part) for part in splits] == [70, 30, 20]
    assert sorted(levels(splits.train) + levels(splits.calibration)) == list(range(100))
    assert levels(splits.test) == list(range(200, 220))
    assert all((part.labels % 2).tolist() == [x % 2 for x in levels(part)] for part in splits)
    sizes = {"train": 40, "calibration": 20, "test": 10}
    own = data.splits_of("pets", test_split=None, root=root, normalise=False, **sizes)
    assert [len(part) for part in own] == [40, 20, 10]
    assert len(set().union(*map(levels, own)) & set(range(100))) == 70


@pytest.fixture
def relabelled(root):
    clean = torch.arange(100) % 2
    labels = {"clean": {"labels": clean}, "worst": {"labels": 1 - clean}}
    put(root, "pets-by-people", labels, base=("pets", "train"))
    return root


def test_labels_by_people_borrow_images_statistics_and_test(relabelled):
    clean = data.load("pets", root=relabelled)
    worst = data.load("pets-by-people", split="worst", root=relabelled)
    assert torch.equal(worst.inputs, clean.inputs)
    assert torch.equal(worst.labels, 1 - clean.labels)
    one = data.splits_of("pets", 5, calibration=30, root=relabelled)
    two = data.splits_of("pets-by-people", 5, calibration=30, train_split="worst", root=relabelled)
    assert torch.equal(one.train.inputs, two.train.inputs)  # the same split of the same images
    assert torch.equal(one.train.labels, 1 - two.train.labels)
    assert torch.equal(one.test.labels, two.test.labels)


def test_labels_by_people_for_other_images_are_refused(root):
    wrong = {"clean": {"labels": torch.ones(100, dtype=torch.long)}}
    put(root, "pets-by-people", wrong, base=("pets", "train"))
    with pytest.raises(ValueError, match="clean labels of pets-by-people are not those of pets"):
        data.load("pets-by-people", split="clean", root=root)


def test_texts_come_back_to_the_letter(tmp_path):
    texts = ["", "Grüße\r\n\x85 end", "日本", "a" * 1000]
    split = {"text": texts, "labels": [0, 1, 1, 0]}
    put(tmp_path, "notes", {"train": split})
    found = data.load_text("notes", root=tmp_path)
    assert list(found.columns["text"]) == texts
    assert found.labels.tolist() == [0, 1, 1, 0]
    assert (len(found), found.classes) == (4, CLASSES)


def test_the_environment_names_the_root(root, monkeypatch, tmp_path):
    monkeypatch.setenv("CALIBKIT_DATA", str(root))
    assert len(data.load("pets")) == 100
    monkeypatch.setenv("CALIBKIT_DATA", str(tmp_path / "elsewhere"))
    with pytest.raises(FileNotFoundError, match=r"python -m data_scripts pets$"):
        data.load("pets")


def truncate(root):
    file = root / "pets" / "prepared" / "train.pt"
    file.write_bytes(file.read_bytes()[:-1])


def age(root):
    file = root / "pets" / "prepared" / "about.json"
    file.write_text(
        json.dumps(json.loads(file.read_text(encoding="utf-8")) | {"version": 0}), encoding="utf-8"
    )


def flip(root):
    """One bit of one picture, after the file was once found good."""
    data.load("pets", root=root)
    file = root / "pets" / "prepared" / "train.pt"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    os.utime(file, (0, 0))  # a clock too coarse to see the change would hide it


def mislead(root):
    file = root / "pets" / "prepared" / "about.json"
    found = json.loads(file.read_text(encoding="utf-8"))
    found["statistics"]["mean"][0] += 0.001
    file.write_text(json.dumps(found), encoding="utf-8")


def garble(root):
    (root / "pets" / "prepared" / "about.json").write_bytes(b"[\xff")


@pytest.mark.parametrize(("harm", "words"), [
    (truncate, "not the file that was prepared"),
    (flip, "not the file that was prepared"),
    (age, "version 0"),
    (mislead, "changed or damaged"),
    (garble, "changed or damaged"),
])  # fmt: skip
def test_a_damaged_or_old_form_is_refused_with_the_remedy(root, harm, words):
    harm(root)
    with pytest.raises(ValueError, match=rf"(?s){words}.*python -m data_scripts pets --root"):
        data.load("pets", root=root)


@pytest.mark.parametrize("rows", [None, slice(0, 50), torch.arange(3)])
def test_a_file_that_is_cut_after_it_was_loaded_kills_no_process(root, rows):
    put(root, "notes", {"train": {"text": ["a", "b"], "labels": [0, 1]}})
    loaded, texts = data.load("pets", root=root, rows=rows), data.load_text("notes", root=root)
    for name in ("pets", "notes"):
        os.truncate(root / name / "prepared" / "train.pt", 0)
    assert loaded.labels.sum() >= 1  # a page of a mapped file that is gone would end the process
    assert loaded.inputs.isfinite().all()
    assert texts.labels.tolist() == [0, 1]
    assert texts.columns["text"] == ("a", "b")


@refusals.each("""
    data.load("cats", root=r) -> FileNotFoundError: ...python -m data_scripts cats
    data.load("../pets", root=r) -> ValueError: name must be
    data.load("pets", split="dev", root=r) -> ValueError: split must be
    data.load_text("pets", root=r) -> ValueError: pets holds images
    data.load("notes", root=r) -> ValueError: notes holds text
    data.splits_of("pets", calibration=100, root=r) -> ValueError: ...calibration
    data.splits_of("pets", train=99, calibration=9, root=r) -> ValueError: ...train
    data.splits_of("pets", test=21, calibration=9, root=r) -> ValueError: ...test
    data.splits_of("pets", test_split=None, root=r) -> TypeError: ...test
    data.channel_statistics("notes", r) -> ValueError: ...training images
""")
def test_wrong_arguments_are_refused_by_name(call, refused, root):
    put(root, "notes", {"train": {"text": ["a"], "labels": [0]}})
    refusals.check(call, refused, {**globals(), "r": root})


@pytest.mark.parametrize(("columns", "names"), [
    (pictures(4) | {"labels": torch.zeros(3, dtype=torch.long)}, "one length"),
    ({"inputs": torch.zeros(0, 1, 2, 2).byte(), "labels": torch.zeros(0).long()}, "one length"),
    (pictures(4) | {"labels": torch.full((4,), 2)}, "labels"),
    (pictures(4) | {"labels": torch.zeros(4)}, "labels"),
    (pictures(4) | {"inputs": torch.zeros(4, 3, 2, 2)}, "inputs must be uint8"),
    (pictures(4) | {"inputs": torch.zeros(4, 12).byte()}, "inputs must be uint8"),
])  # fmt: skip
def test_what_cannot_be_data_is_not_written(tmp_path, columns, names):
    with pytest.raises((ValueError, TypeError), match=names):
        put(tmp_path, "bad", {"train": columns})
    assert not (tmp_path / "bad" / "prepared" / "about.json").exists()
