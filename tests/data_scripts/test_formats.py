"""Every dataset is read from files in its own format, and comes back as it went in."""

import pytest
import torch

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
    "cifar10": ("class 0", "class 99"), "cifar100": ("class 0", "class 99"), "notmnist": ("A", "J"),
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
    ("name", "pixels", "grey", "classes"),
    [("eurosat", 32, 20, [0, 1, 2]), ("inaturalist2019", 64, 30, [0, 1, 0])],
)
def test_a_fixed_tenth_of_a_tree_of_pictures_is_the_test(
    name, pixels, grey, classes, tiny, tmp_path
):
    source, files, _ = tiny(name)
    found = []
    for root in (tmp_path / "one", tmp_path / "two"):
        prepare(source, root, list(files.values()))
        found.append(
            [data.load(name, split=s, root=root, normalise=False) for s in ("train", "test")]
        )
    (train, test), (_, again) = found
    n = 21 if name == "eurosat" else 15
    assert (len(train), len(test)) == (n - n // 10, n // 10)
    for part in (train, test):
        assert part.inputs.shape[1:] == (3, pixels, pixels)
        folder = (255 * part.inputs.mean((1, 2, 3)) / grey + 0.05).long()
        assert part.labels.tolist() == [classes[k] for k in folder]
    assert torch.equal(test.inputs, again.inputs)


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


def test_a_pickle_of_python_2_and_numpy_1_is_read():
    array = (
        b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\nK\x00\x85U\x01btR(K\x01K\x02\x85"
        b"cnumpy\ndtype\n(U\x02u1K\x00K\x01tR(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
        b"\x89U\x02\x07\xfftb"
    )
    found = unpickle(b"\x80\x02}(U\x04data" + array + b"U\x04nameU\x01\xe9u.")
    assert (found["data"].tolist(), found["name"]) == ([7, 255], "é")


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
