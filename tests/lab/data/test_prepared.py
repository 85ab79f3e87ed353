"""The prepared form: what is written, how it is loaded, split and normalised, what is refused."""

import json
import os

import pytest
import torch

from calibkit.lab import data
from calibkit.lab.data import prepared

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


def test_by_hand_levels_0_and_255(tmp_path):
    train = {"inputs": torch.tensor([0, 255], dtype=torch.uint8).view(2, 1, 1, 1),
             "labels": torch.tensor([0, 1])}  # fmt: skip
    put(tmp_path, "dots", {"train": train})
    mean, std = data.channel_statistics("dots", tmp_path)
    assert (mean.tolist(), std.tolist()) == ([0.5], [0.5])
    assert data.load("dots", root=tmp_path).inputs.flatten().tolist() == [-1, 1]
    plain = data.load("dots", root=tmp_path, normalise=False)
    assert plain.inputs.flatten().tolist() == [0, 1]
    assert plain.classes == CLASSES


def test_every_level_is_u_over_255_and_none_exceeds_1(tmp_path):
    put(tmp_path, "grey", {"train": pictures(256, channels=1)})
    found = data.load("grey", root=tmp_path, normalise=False).inputs[:, 0, 0, 0]
    torch.testing.assert_close(found, torch.arange(256) / 255, rtol=1e-6, atol=0)
    assert found.max() == 1


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


def test_another_dataset_can_lend_its_statistics(root):
    put(root, "wolves", {"test": pictures(4, 30)})
    with pytest.raises(ValueError, match=r"wolves has no training images.*like="):
        data.load("wolves", split="test", root=root)
    found = data.load("wolves", split="test", root=root, like="pets")
    mean, std = data.channel_statistics("pets", root)
    assert float(found.inputs[0, 0, 0, 0]) == pytest.approx(float((30 / 255 - mean[0]) / std[0]))
    put(root, "grey", {"train": pictures(9, channels=1)})
    with pytest.raises(ValueError, match=r"like.*3 channel.*has 1"):
        data.load("wolves", split="test", root=root, like="grey")


def test_the_file_is_mapped_and_only_the_asked_rows_are_read(root):
    columns = prepared._columns("pets", "train", root)
    assert columns["inputs"].dtype == torch.uint8
    some = data.load("pets", root=root, rows=torch.tensor([7, 3]), normalise=False)
    assert levels(some) == [7, 3]
    assert some.labels.tolist() == [1, 1]
    assert levels(data.load("pets", root=root, rows=slice(5), normalise=False)) == [0, 1, 2, 3, 4]


def test_splits_share_no_image_and_lose_none(root):
    splits = data.splits_of("pets", 3, calibration=30, root=root, normalise=False)
    assert [len(part) for part in splits] == [70, 30, 20]
    assert sorted(levels(splits.train) + levels(splits.calibration)) == list(range(100))
    assert levels(splits.test) == list(range(200, 220))
    assert all((part.labels % 2).tolist() == [x % 2 for x in levels(part)] for part in splits)


def test_splits_are_seeded(root):
    one, again, other = (data.splits_of("pets", s, calibration=30, root=root) for s in (1, 1, 2))
    assert torch.equal(one.train.inputs, again.train.inputs)
    assert not torch.equal(one.calibration.inputs, other.calibration.inputs)


def test_the_test_images_can_be_cut_from_the_training_images(root):
    splits = data.splits_of("pets", 0, train=50, calibration=20, test=10, test_split=None,
                            root=root, normalise=False)  # fmt: skip
    assert [len(part) for part in splits] == [50, 20, 10]
    assert len({x for part in splits for x in levels(part)}) == 80
    assert max(levels(splits.test)) < 100


def test_fewer_test_images_are_a_random_choice(root):
    splits = data.splits_of("pets", 0, calibration=1, test=8, root=root, normalise=False)
    found = levels(splits.test)
    assert len(set(found)) == 8
    assert found != list(range(200, 208))


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


def test_texts_may_all_be_empty(tmp_path):
    put(tmp_path, "silence", {"train": {"text": ["", ""], "labels": [0, 1]}})
    assert data.load_text("silence", root=tmp_path).columns["text"] == ("", "")


def test_translations_have_languages_and_no_labels(tmp_path):
    put(tmp_path, "pairs", {"test": {"de": ["Ja", "Nein"], "en": ["Yes", "No"]}}, classes=())
    found = data.load_text("pairs", split="test", root=tmp_path)
    assert found.columns == {"de": ("Ja", "Nein"), "en": ("Yes", "No")}
    assert found.labels is None


def test_what_is_where(root):
    about = json.loads((root / "pets" / "prepared" / "about.json").read_text(encoding="utf-8"))
    assert about["version"] == prepared.VERSION
    assert about["classes"] == list(CLASSES)
    file = root / "pets" / "prepared" / "train.pt"
    assert about["splits"]["train"] == {
        "n": 100, "bytes": file.stat().st_size, "sha256": prepared.sha256(file)
    }  # fmt: skip
    assert data.prepared.damaged("pets", root) == []


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


def lose(root):
    (root / "pets" / "prepared" / "train.pt").unlink()


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (truncate, "not the file that was prepared"),
        (flip, "not the file that was prepared"),
        (lose, "not the file"),
        (age, "version 0"),
        (mislead, "changed or damaged"),
        (garble, "changed or damaged"),
    ],
)
def test_a_damaged_or_old_form_is_refused_with_the_remedy(root, harm, words):
    harm(root)
    with pytest.raises(ValueError, match=rf"(?s){words}.*python -m data_scripts pets --root"):
        data.load("pets", root=root)


def test_a_file_is_hashed_once_in_a_process_and_again_when_it_changed(root, monkeypatch):
    hashed = []
    real = prepared.sha256
    monkeypatch.setattr(prepared, "sha256", lambda path: hashed.append(path.name) or real(path))
    for _ in range(3):
        data.load("pets", root=root)
    assert hashed == ["train.pt"]
    os.utime(root / "pets" / "prepared" / "train.pt", (1, 1))
    data.load("pets", root=root)
    assert hashed == ["train.pt"] * 2


def test_a_very_large_file_is_not_hashed(root, monkeypatch):
    monkeypatch.setattr(prepared, "LARGE", 10)
    flip(root)
    assert len(data.load("pets", root=root)) == 100
    truncate(root)
    with pytest.raises(ValueError, match="not the file that was prepared"):
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


@pytest.mark.parametrize(
    ("call", "error", "names"),
    [
        (lambda r: data.load("cats", root=r), FileNotFoundError, "python -m data_scripts cats"),
        (lambda r: data.load("../pets", root=r), ValueError, "name must be"),
        (lambda r: data.load("pets", split="dev", root=r), ValueError, "split must be .*'train'"),
        (lambda r: data.load("pets", like="cats", root=r), FileNotFoundError, "cats"),
        (lambda r: data.load_text("pets", root=r), ValueError, "pets holds images.*data.load"),
        (lambda r: data.load("notes", root=r), ValueError, "notes holds text.*load_text"),
        (lambda r: data.splits_of("pets", calibration=100, root=r), ValueError, "calibration"),
        (lambda r: data.splits_of("pets", calibration=0, root=r), ValueError, "calibration"),
        (lambda r: data.splits_of("pets", root=r), ValueError, "calibration"),
        (lambda r: data.splits_of("pets", train=99, calibration=9, root=r), ValueError, "train"),
        (lambda r: data.splits_of("pets", test=21, calibration=9, root=r), ValueError, "test"),
        (lambda r: data.splits_of("pets", test_split=None, root=r), TypeError, "test"),
        (lambda r: data.splits_of("pets", -1, calibration=9, root=r), ValueError, "seed"),
        (lambda r: data.splits_of("pets", train_split="x", root=r), ValueError, "split"),
        (lambda r: data.channel_statistics("notes", r), ValueError, "training images"),
    ],
)
def test_wrong_arguments_are_refused_by_name(root, call, error, names):
    put(root, "notes", {"train": {"text": ["a"], "labels": [0]}})
    with pytest.raises(error, match=names):
        call(root)


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        (pictures(4) | {"labels": torch.zeros(3, dtype=torch.long)}, "one length"),
        ({"inputs": torch.zeros(0, 1, 2, 2).byte(), "labels": torch.zeros(0).long()}, "one length"),
        (pictures(4) | {"labels": torch.full((4,), 2)}, "labels"),
        (pictures(4) | {"labels": torch.zeros(4)}, "labels"),
        (pictures(4) | {"inputs": torch.zeros(4, 3, 2, 2)}, "inputs must be uint8"),
        (pictures(4) | {"inputs": torch.zeros(4, 12).byte()}, "inputs must be uint8"),
    ],
)
def test_what_cannot_be_data_is_not_written(tmp_path, columns, names):
    with pytest.raises((ValueError, TypeError), match=names):
        put(tmp_path, "bad", {"train": columns})
    assert not (tmp_path / "bad" / "prepared" / "about.json").exists()


@pytest.mark.device
def test_on_each_device_as_on_the_processor(root, device):
    there = data.load("pets", root=root, device=device)
    assert there.device.type == device.type
    torch.testing.assert_close(there.inputs.cpu(), data.load("pets", root=root).inputs)
    splits = data.splits_of("pets", 0, calibration=10, root=root, device=device)
    assert {part.device.type for part in splits} == {device.type}
