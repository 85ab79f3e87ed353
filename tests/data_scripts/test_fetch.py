"""Downloads: what breaks off, what is wrong, what is unknown; nothing of it is ever placed."""

import dataclasses

import pytest

from calibkit.lab import data
from data_scripts import fetch
from data_scripts.prepare import prepare, state
from data_scripts.source import ArchiveError, FetchError
from tests.data_scripts import builders


@pytest.fixture
def offered(tiny, shelf, tmp_path):
    """A tiny dataset on the server, and an empty root."""

    def offer(name, **changes):
        source, files, expected = tiny(name)
        shelf.content |= {n: path.read_bytes() for n, path in files.items()}
        moved = tuple(
            dataclasses.replace(f, url=f"{shelf.address}/{f.name}", **changes) for f in source.files
        )
        return dataclasses.replace(source, files=moved), expected

    return offer


def placed(root):
    """Every file under `root` that a reader could take for data, by its place."""
    found = {str(path.relative_to(root)) for path in builders.files_in(root)}
    return sorted(one for one in found if not one.endswith((".part", ".lock")))


def test_a_download_is_verified_prepared_and_kept(offered, shelf, tmp_path):
    source, _ = offered("mnist")
    root = tmp_path / "root"
    assert state(source, root) == "absent"
    prepare(source, root)
    assert state(source, root) == "prepared"
    assert len(data.load("mnist", root=root)) == 5
    assert {path for path, _ in shelf.requests} == {f"/{file.name}" for file in source.files}
    fetch.obtain(source, root / "mnist")  # from the archives, not from the server
    assert len(shelf.requests) == len(source.files)


@pytest.mark.parametrize("ranges", [True, False], ids=["resumes", "starts again"])
def test_a_dropped_connection_places_nothing_and_the_next_try_goes_on(
    offered, shelf, tmp_path, monkeypatch, ranges
):
    monkeypatch.setattr(fetch, "CHUNK", 1000)
    source, _ = offered("cifar10")
    root, size = tmp_path / "root", len(shelf.content["cifar-10-python.tar.gz"])
    shelf.drops, shelf.ranges = True, ranges
    with pytest.raises(
        FetchError, match=r"(?s)cifar-10-python\.tar\.gz did not arrive.*again.*--from-file"
    ):
        prepare(source, root)
    assert placed(root) == []
    assert state(source, root) == "absent"
    part = root / "cifar10" / "archives" / "cifar-10-python.tar.gz.part"
    kept = part.stat().st_size
    assert size // 2 - 1000 < kept <= size // 2
    shelf.drops = False
    prepare(source, root)
    assert shelf.requests[-1][1] == (kept if ranges else 0)
    assert len(data.load("cifar10", root=root)) == 10
    assert not part.exists()


def test_without_a_hash_to_check_the_pieces_a_broken_download_starts_again(
    offered, shelf, tmp_path, monkeypatch
):
    monkeypatch.setattr(fetch, "CHUNK", 100)
    source, _ = offered("iwslt14", hash=None)
    shelf.drops = True
    with pytest.raises(FetchError):
        prepare(source, tmp_path / "root")
    shelf.drops = False
    prepare(source, tmp_path / "root")
    assert [start for _, start in shelf.requests] == [0, 0]


@pytest.mark.parametrize(
    ("whole", "more", "told"),
    [(0, b"something else", "not the file published"), (1, b"more", "run the same command again")],
)
def test_what_is_kept_of_another_download_is_thrown_away(
    offered, shelf, tmp_path, whole, more, told
):
    source, _ = offered("cifar10")
    archives = tmp_path / "root" / "cifar10" / "archives"
    archives.mkdir(parents=True)
    name = "cifar-10-python.tar.gz"
    (archives / f"{name}.part").write_bytes(whole * shelf.content[name] + more)
    with pytest.raises(FetchError, match=told):
        prepare(source, tmp_path / "root")
    assert (archives / f"{name}.part").exists() == bool(whole)
    prepare(source, tmp_path / "root")


def test_a_wrong_hash_keeps_nothing_and_reads_nothing(offered, tmp_path):
    source, _ = offered("multi30k", hash="sha256:" + "0" * 64)
    source = dataclasses.replace(source, parse=lambda files: pytest.fail("it was read"))
    with pytest.raises(FetchError, match=r"not the file published.*--from-file"):
        prepare(source, tmp_path / "root")
    assert placed(tmp_path / "root") == []
    assert not list((tmp_path / "root").rglob("*.part"))


def test_an_unpublished_hash_is_recorded_once_and_then_demanded(offered, shelf, tmp_path, capsys):
    source, _ = offered("iwslt14", hash=None)
    root, folder = tmp_path / "root", tmp_path / "root" / "iwslt14"
    assert state(source, root) == "absent, unverified"
    prepare(source, root)
    assert state(source, root) == "prepared, unverified (hash recorded here)"
    recorded = data.prepared.about("iwslt14", root)["archives"]
    assert recorded == {"de-en.tgz": builders.sha256(folder / "archives" / "de-en.tgz")}
    assert recorded["de-en.tgz"] in capsys.readouterr().out
    other = builders.tar(tmp_path / "other.tgz", {"de-en/else": b"other words"})
    (folder / "archives" / "de-en.tgz").unlink()
    (folder / "prepared" / "test.pt").unlink()
    shelf.content["de-en.tgz"] = other.read_bytes()
    with pytest.raises(FetchError, match=r"first seen.*prepared"):
        prepare(source, root)
    with pytest.raises(FetchError, match=r"first seen.*prepared"):
        prepare(source, root, [other])
    assert data.prepared.about("iwslt14", root)["archives"] == recorded


@pytest.mark.parametrize("name", ["iwslt14", "notmnist"])
def test_a_page_that_asks_to_log_in_does_not_block_the_file(offered, shelf, tmp_path, name):
    source, _ = offered(name, hash=None)
    root, good = tmp_path / "root", dict(shelf.content)
    shelf.content |= dict.fromkeys(good, b"<html>Log in to this network</html>")
    with pytest.raises(ArchiveError, match=name if name == "notmnist" else "neither a tar nor"):
        prepare(source, root)
    assert placed(root) == []
    shelf.content |= good
    prepare(source, root)
    recorded, archives = data.prepared.about(name, root)["archives"], root / name / "archives"
    assert recorded == {file.name: builders.sha256(archives / file.name) for file in source.files}


def test_files_from_a_folder_need_no_network(offered, shelf, tmp_path):
    source, _ = offered("mnist")
    prepare(source, tmp_path / "root", [tmp_path / "published" / "mnist"])
    assert shelf.requests == []
    assert placed(tmp_path / "root") == [
        "mnist/prepared/about.json", "mnist/prepared/test.pt", "mnist/prepared/train.pt"
    ]  # fmt: skip


def test_a_single_file_may_have_any_name(tiny, tmp_path):
    source, files, _ = tiny("sst2")
    other = tmp_path / "downloaded (3).zip"
    files["trainDevTestTrees_PTB.zip"].rename(other)
    prepare(source, tmp_path / "root", [other])
    assert state(source, tmp_path / "root") == "prepared"


def test_missing_files_are_named(tiny, tmp_path):
    source, files, _ = tiny("multi30k")
    files["validation.tar.gz"].unlink()
    for given in (
        [files["training.tar.gz"]],
        [tmp_path / "published" / "multi30k"],
        [tmp_path / "x"],
    ):
        with pytest.raises(FetchError, match=r"needs .*validation\.tar\.gz.*not found"):
            prepare(source, tmp_path / "root", given)


def test_a_given_file_that_is_not_the_published_one(tiny, tmp_path):
    source, files, _ = tiny("cifar10")
    (path,) = files.values()
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(FetchError, match=r"not cifar-10-python\.tar\.gz as published.*sha256"):
        prepare(source, tmp_path / "root", [path])
    assert placed(tmp_path / "root") == []


def hostile_batches(folder):
    names = [*(f"data_batch_{b}" for b in range(1, 6)), "test_batch", "batches.meta"]
    evil = builders.pickle.dumps(builders.Command())
    path = folder / "cifar-10-python.tar.gz"
    return {path.name: builders.tar(path, {f"cifar-10-batches-py/{n}": evil for n in names})}


def hostile_labels(folder):
    return builders.human_labels_zip(folder, {"clean_label": builders.Command()})


@pytest.mark.parametrize(("name", "make", "words"), [
    ("cifar10", hostile_batches, r"the pickle asks for builtins\.print"),
    ("cifar10n", hostile_labels, r"(?s)cifar10n.*nothing was placed"),
])  # fmt: skip
def test_even_a_file_with_the_right_hash_runs_no_command(name, make, words, tmp_path, capsys):
    files = make(tmp_path)
    with pytest.raises(ArchiveError, match=words):
        prepare(builders.trusting(name, files), tmp_path / "root", list(files.values()))
    assert "never" not in capsys.readouterr().out
    assert placed(tmp_path / "root") == []
