"""Archives that reach outside themselves, or that are damaged, are refused whole."""

import io
import tarfile
import zipfile

import pytest
from PIL import EpsImagePlugin, Image

from data_scripts import archives
from data_scripts.prepare import prepare
from data_scripts.source import ArchiveError
from tests.data_scripts import builders

OUTSIDE = ["../evil.txt", "/tmp/evil.txt", "a/../../evil.txt", "..\\evil.txt", "C:\\evil.txt"]
KINDS = {
    "symlink": tarfile.SYMTYPE,
    "hard link": tarfile.LNKTYPE,
    "device": tarfile.CHRTYPE,
    "pipe": tarfile.FIFOTYPE,
}


def special(path, kind):
    with tarfile.open(path, "w:gz") as archive:
        info = tarfile.TarInfo("trees/train.txt")
        info.type, info.linkname = KINDS[kind], "/etc/passwd"
        archive.addfile(info)
    return path


def zip_link(path):
    with zipfile.ZipFile(path, "w") as archive:
        info = zipfile.ZipInfo("trees/train.txt")
        info.create_system, info.external_attr = 3, 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
    return path


@pytest.mark.parametrize("name", OUTSIDE)
@pytest.mark.parametrize("build", [builders.tar, builders.zipped])
def test_a_member_that_points_outside(name, build, tmp_path):
    path = build(tmp_path / "archive", {"good.txt": b"fine", name: b"evil"})
    with pytest.raises(ArchiveError, match="points outside"):
        list(archives.members(path))


@pytest.mark.parametrize("kind", KINDS)
def test_links_and_devices(kind, tmp_path):
    path = special(tmp_path / "archive.tgz", kind)
    with pytest.raises(ArchiveError, match="link or a device"):
        list(archives.members(path, lambda name: False))  # wanted or not


def test_a_link_in_a_zip(tmp_path):
    with pytest.raises(ArchiveError, match="link or a device"):
        list(archives.members(zip_link(tmp_path / "archive.zip")))


def test_only_what_is_wanted_is_read_and_dots_do_not_matter(tmp_path):
    for build in (builders.tar, builders.zipped):
        path = build(tmp_path / build.__name__, {"./a/b.txt": b"1", "a/c.bin": b"2"})
        assert dict(archives.members(path, lambda n: n.endswith("txt"))) == {"a/b.txt": b"1"}
        assert archives.read(path, "a/c.bin") == b"2"
        with pytest.raises(ArchiveError, match=r"holds no a/d\.txt"):
            archives.read(path, "a/d.txt")


@pytest.mark.parametrize(
    "content", [b"<html>404</html>", builders.gzip.compress(b"no tar")], ids=["a page", "no tar"]
)
def test_what_is_no_archive(content, tmp_path):
    path = tmp_path / "archive.zip"
    path.write_bytes(content)
    with pytest.raises(ArchiveError, match="neither a tar nor a zip"):
        list(archives.members(path))


def parts(path, text):
    return builders.zipped(path, {f"trees/{s}.txt": text for s in ("train", "dev", "test")})


TREE = b"(3 (2 a) (3 b))\n"
HOSTILE = {
    "a path outside": lambda p: builders.zipped(p, {"../evil.txt": b"x"}),
    "a link": zip_link,
    "cut off": lambda p: _cut(parts(p, builders.pixels(9999).tobytes())),
    "flipped bits": lambda p: _flip(parts(p, TREE * 99)),
    "missing members": lambda p: builders.zipped(p, {"trees/train.txt": TREE}),
    "an empty member": lambda p: parts(p, b""),
    "not text": lambda p: parts(p, b"\xff\xfe"),
    "a web page": lambda p: p.write_text("<html>404</html>", encoding="utf-8") and p,
}


def _cut(path):
    path.write_bytes(path.read_bytes()[:-200])
    return path


def _flip(path):
    content = bytearray(path.read_bytes())
    content[60] ^= 0xFF
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("harm", HOSTILE)
def test_whatever_is_wrong_inside_nothing_is_placed(harm, tmp_path):
    path = HOSTILE[harm](tmp_path / "trainDevTestTrees_PTB.zip")
    source = builders.trusting("sst2", {path.name: path})  # even if its hash were published
    with pytest.raises(ArchiveError) as caught:
        prepare(source, tmp_path / "root", [path])
    assert str(path) in str(caught.value) or "sst2" in str(caught.value)
    assert not [p for p in (tmp_path / "root").rglob("*") if p.is_file()]
    assert not (tmp_path / "evil.txt").exists()


@pytest.mark.parametrize("name", [n for n in builders.BUILDERS if n != "trec"])
def test_every_reader_refuses_a_truncated_file(name, tiny, tmp_path):
    _, files, _ = tiny(name)
    for path in files.values():
        path.write_bytes(path.read_bytes()[: int(0.4 * path.stat().st_size)])
    source = builders.trusting(name, files)
    with pytest.raises(ArchiveError):
        prepare(source, tmp_path / "root", list(files.values()))
    assert not [p for p in (tmp_path / "root").rglob("*") if p.is_file()]


def claiming_tar(path):
    """Two kilobytes that claim 40 GiB."""
    with tarfile.open(path, "w") as archive:
        info = tarfile.TarInfo("trees/train.txt")
        archive.addfile(info)
    head = tarfile.TarInfo("trees/train.txt")
    head.size = 40 * 2**30
    path.write_bytes(head.tobuf() + bytes(1536))
    return path


def many_members(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for i in range(30):
            archive.writestr(f"trees/{i}.txt", bytes(3 * 2**20))
    return path


@pytest.mark.parametrize("build", [claiming_tar, many_members])
def test_what_would_swell_too_far_is_refused_before_it_is_read(build, tmp_path):
    path = build(tmp_path / "trainDevTestTrees_PTB.zip")
    source = builders.trusting("sst2", {path.name: path})
    with pytest.raises(ArchiveError, match=r"MB is not unpacked"):
        list(archives.members(path))
    with pytest.raises(ArchiveError, match=r"MB is not unpacked"):
        prepare(source, tmp_path / "root", [path])
    assert not [p for p in (tmp_path / "root").rglob("*.pt") if p.is_file()]


def test_a_packed_file_that_swells_too_far_stops_early(tiny, tmp_path):
    _, files, _ = tiny("mnist")
    (bomb,) = (path for name, path in files.items() if name.startswith("train-images"))
    with builders.gzip.open(bomb, "wb", 1) as packed:
        for _ in range(300):
            packed.write(bytes(2**20))
    source = builders.trusting("mnist", files)
    with pytest.raises(ArchiveError, match="MB is not unpacked"):
        prepare(source, tmp_path / "root", list(files.values()))
    target = tmp_path / "plain"
    with pytest.raises(ArchiveError, match="MB is not unpacked"):
        archives.gunzip(bomb, target)
    assert target.stat().st_size <= archives.most_of(bomb) < 300 * 2**20


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
