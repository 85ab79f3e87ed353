"""Archives that are damaged, or not laid out as they should be, are refused whole."""

import io
import tarfile

import pytest
from PIL import EpsImagePlugin, Image

from data_scripts import archives
from data_scripts.prepare import prepare
from data_scripts.source import ArchiveError
from tests.data_scripts import builders


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE]
)
def test_links_and_devices_are_passed_over(kind, tmp_path):
    with tarfile.open(tmp_path / "archive.tgz", "w:gz") as archive:
        info = tarfile.TarInfo("trees/train.txt")
        info.type, info.linkname = kind, "/etc/passwd"
        archive.addfile(info)
    assert list(archives.members(tmp_path / "archive.tgz")) == []


def test_only_what_is_wanted_is_read_and_dots_do_not_matter(tmp_path):
    for build in (builders.tar, builders.zipped):
        path = build(tmp_path / build.__name__, {"./a/b.txt": b"1", "a/c.bin": b"2"})
        assert dict(archives.members(path, lambda n: n.endswith("txt"))) == {"a/b.txt": b"1"}
        assert archives.read(path, "a/c.bin") == b"2"
        with pytest.raises(ArchiveError, match=r"holds no a/d\.txt"):
            archives.read(path, "a/d.txt")


def parts(path, text):
    return builders.zipped(path, {f"trees/{s}.txt": text for s in ("train", "dev", "test")})


TREE = b"(3 (2 a) (3 b))\n"
HOSTILE = {
    "missing members": lambda p: builders.zipped(p, {"trees/train.txt": TREE}),
    "an empty member": lambda p: parts(p, b""),
    "not text": lambda p: parts(p, b"\xff\xfe"),
    "a web page": lambda p: p.write_text("<html>404</html>", encoding="utf-8") and p,
}


@pytest.mark.parametrize("harm", HOSTILE)
def test_whatever_is_wrong_inside_nothing_is_placed(harm, tmp_path):
    path = HOSTILE[harm](tmp_path / "trainDevTestTrees_PTB.zip")
    source = builders.trusting("sst2", {path.name: path})  # even if its hash were published
    with pytest.raises(ArchiveError) as caught:
        prepare(source, tmp_path / "root", [path])
    assert str(path) in str(caught.value) or "sst2" in str(caught.value)
    assert builders.files_in(tmp_path / "root") == []


@pytest.mark.parametrize("name", [n for n in builders.BUILDERS if n != "trec"])
def test_every_reader_refuses_a_truncated_file(name, tiny, tmp_path):
    _, files, _ = tiny(name)
    for path in files.values():
        path.write_bytes(path.read_bytes()[: int(0.4 * path.stat().st_size)])
    source = builders.trusting(name, files)
    with pytest.raises(ArchiveError):
        prepare(source, tmp_path / "root", list(files.values()))
    assert builders.files_in(tmp_path / "root") == []


def test_an_eps_that_is_called_jpg_reaches_no_other_program(tmp_path, monkeypatch):
    monkeypatch.setattr(EpsImagePlugin, "Ghostscript", lambda *_, **__: pytest.fail("it was run"))
    eps = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\n%%EOF\n"
    with Image.open(io.BytesIO(eps)) as picture:
        assert picture.format == "EPS"  # Pillow by itself takes it for what it is
    members = {f"2750/Forest/Forest_{i}.jpg": eps for i in range(10)}
    path = builders.zipped(tmp_path / "EuroSAT.zip", members)
    source = builders.trusting("eurosat", {path.name: path})
    with pytest.raises(ArchiveError, match="UnidentifiedImageError"):
        prepare(source, tmp_path / "root", [path])
