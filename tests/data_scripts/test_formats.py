"""Every dataset is read from files in its own format, and comes back as it went in."""

import numpy as np
import pytest
import torch
import torchvision

from calibkit.lab import data
from calibkit.lab.data import prepared
from data_scripts.images import unpickle
from data_scripts.prepare import prepare
from data_scripts.registry import SOURCES
from data_scripts.source import ArchiveError
from data_scripts.texts import aligned_lines, binary_trees, labelled_lines
from tests.data_scripts import builders

TEXTS = ("20newsgroups", "sst2", "trec", "multi30k", "iwslt14")
TREES = ("eurosat", "inaturalist2019")
NAMES = {  # the first and the last class of some
    "cifar10": ("airplane", "truck"), "cifar100": ("class 0", "class 99"), "notmnist": ("A", "J"),
    "fashion-mnist": ("T-shirt/top", "Ankle boot"), "stl10": ("airplane", "truck"),
    "tiny-imagenet": ("Egyptian cat", "reel"), "20newsgroups": ("alt.atheism", "sci.space"),
    "trec": ("ABBR", "NUM"),
}  # fmt: skip
IMAGES = [name for name in SOURCES if name not in (*TEXTS, *TREES, "cifar10n")]


def test_every_dataset_has_a_test_in_its_format():
    assert set(builders.BUILDERS) == set(SOURCES)


@pytest.mark.parametrize("name", [*IMAGES, *TEXTS])
def test_what_went_in_comes_back(name, tiny, tmp_path):
    source, files, expected = tiny(name)
    prepare(source, tmp_path, list(files.values()))
    about = prepared.about(name, tmp_path)
    assert set(about["splits"]) == set(expected)
    if name in NAMES:
        assert (about["classes"][0], about["classes"][-1]) == NAMES[name]
    for split, (given, labels) in expected.items():
        if name in TEXTS:
            found = data.load_text(name, split=split, root=tmp_path)
            assert {column: list(texts) for column, texts in found.columns.items()} == given
        else:
            found = data.load(name, split=split, root=tmp_path, normalise=False)
            torch.testing.assert_close((found.inputs * 255).round().byte(), torch.from_numpy(given))
        assert (found.labels if labels is None else found.labels.tolist()) == labels


def test_labels_by_people_come_with_the_images_of_cifar10(tiny, tmp_path):
    for name in ("cifar10", "cifar10n"):
        source, files, expected = tiny(name)
        prepare(source, tmp_path, list(files.values()))
    clean = data.load("cifar10", root=tmp_path)
    for split, (_, labels) in expected.items():
        noisy = data.load("cifar10n", split=split, root=tmp_path)
        assert noisy.labels.tolist() == labels
        assert torch.equal(noisy.inputs, clean.inputs)
    assert data.load("cifar10n", split="test", root=tmp_path).labels.tolist() == [5, 9]


@pytest.mark.parametrize(
    ("name", "pixels", "n"), [("eurosat", 32, 21), ("inaturalist2019", 64, 15)]
)
def test_a_fixed_tenth_of_a_tree_of_pictures_is_the_test(name, pixels, n, tiny, tmp_path):
    source, files, _ = tiny(name)
    prepare(source, tmp_path / "one", list(files.values()))
    prepare(source, tmp_path / "two", list(files.values()))
    parts = [
        data.load(name, split=s, root=tmp_path / "one", normalise=False) for s in ("train", "test")
    ]
    assert [len(part) for part in parts] == [n - n // 10, n // 10]
    assert all(part.inputs.shape[1:] == (3, pixels, pixels) for part in parts)
    again = data.load(name, split="test", root=tmp_path / "two", normalise=False)
    assert torch.equal(parts[1].inputs, again.inputs)


def test_a_tree_of_pictures_as_torchvision_reads_it(tiny, tmp_path):
    source, files, _ = tiny("eurosat")
    prepare(source, tmp_path, list(files.values()))
    (tmp_path / "eurosat").mkdir(exist_ok=True)
    with builders.zipfile.ZipFile(files["EuroSAT.zip"]) as archive:
        archive.extractall(tmp_path / "eurosat")
    theirs = torchvision.datasets.EuroSAT(tmp_path)
    rows = sorted((label, np.asarray(image).mean()) for image, label in theirs)
    parts = [
        data.load("eurosat", split=s, root=tmp_path, normalise=False) for s in ("train", "test")
    ]
    ours = sorted(
        (int(label), 255 * float(image.mean()))
        for part in parts
        for image, label in zip(part.inputs, part.labels, strict=True)
    )
    assert tuple(theirs.classes) == parts[0].classes
    assert np.allclose(rows, ours, atol=1e-3)


PICKLES = [
    builders.pickle.dumps(value, protocol)
    for protocol in (0, 2, 5)
    for value in (builders.Command(), {"data": builders.Command()})
]


@pytest.mark.parametrize(
    "content", [*PICKLES, b"c_codecs\nencode\n(Vabc\nVrot13\ntR.", b"cnumpy\nload\n(Vx\ntR."]
)
def test_a_pickle_that_asks_for_more_than_arrays_is_refused(content, capsys):
    with pytest.raises(builders.pickle.UnpicklingError, match="asks for"):
        unpickle(content)
    assert capsys.readouterr().out == ""


def test_pickles_of_both_pythons_hold_the_same():
    value = {"data": builders.pixels(2, 5), "labels": [1, 2], "name": "a é"}
    for content in (
        builders.python2_pickle(value),
        *(builders.pickle.dumps(value, p) for p in (2, 4)),
    ):
        found = unpickle(content)
        assert found["labels"] == [1, 2]
        assert found["name"] == "a é"
        assert np.array_equal(found["data"], value["data"])


@pytest.mark.parametrize("call", [
    lambda: labelled_lines("DESC:manner How ?\nWHAT is it\n", ("DESC",)),
    lambda: labelled_lines("DESC\n", ("DESC",)),
    lambda: binary_trees("(3 (2 good))\nplain text\n"),
    lambda: aligned_lines({"de": "a\nb\n", "en": "a\n"}),
])  # fmt: skip
def test_lines_of_another_form_are_refused(call):
    with pytest.raises(ArchiveError):
        call()


def test_translations_lose_only_rows_that_are_empty_somewhere():
    found = aligned_lines({"de": "a\n\nc\x85\n", "en": "A\nB\nC\n"})
    assert found == {"de": ["a", "c"], "en": ["A", "C"]}
