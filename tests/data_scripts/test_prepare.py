"""The prepared form appears whole or not at all; the command line says what happened."""

import dataclasses
import os
import runpy
import subprocess
import sys

import pytest

from calibkit.lab import data
from data_scripts import __main__ as command
from data_scripts import registry
from data_scripts.prepare import prepare
from data_scripts.source import ArchiveError, Parsed
from tests.data_scripts.builders import files_in


def interrupted(source):
    """The same row, whose reader is interrupted after its first split."""

    def parse(files):
        classes, splits = source.parse(files)

        def some():
            yield next(splits)
            raise KeyboardInterrupt

        return Parsed(classes, some())

    return dataclasses.replace(source, parse=parse)


def test_an_interruption_places_nothing_and_the_next_run_works(tiny, tmp_path):
    source, files, _ = tiny("cifar10")
    root = tmp_path / "root"
    with pytest.raises(KeyboardInterrupt):
        prepare(interrupted(source), root, list(files.values()))
    assert files_in(root) == []
    prepare(source, root, list(files.values()))
    assert len(data.load("cifar10", root=root)) == 10


def test_what_is_good_is_left_alone_and_what_is_damaged_is_made_anew(tiny, tmp_path, capsys):
    source, files, _ = tiny("mnist")
    target = prepare(source, tmp_path / "root", list(files.values()))
    before = (target / "train.pt").stat().st_mtime_ns
    prepare(source, tmp_path / "root")
    assert "already" in capsys.readouterr().out
    assert (target / "train.pt").stat().st_mtime_ns == before
    content = bytearray((target / "train.pt").read_bytes())
    content[-1000] ^= 1
    (target / "train.pt").write_bytes(content)
    prepare(source, tmp_path / "root", list(files.values()))
    assert data.prepared.damaged("mnist", tmp_path / "root") == []
    (target / "about.json").write_text("{", encoding="utf-8")
    prepare(source, tmp_path / "root", list(files.values()))
    assert len(data.load("mnist", root=tmp_path / "root")) == 5


def test_a_failed_renewal_keeps_the_old_one(tiny, tmp_path):
    source, files, _ = tiny("mnist")
    target = prepare(source, tmp_path / "root", list(files.values()))
    (target / "test.pt").unlink()
    with pytest.raises(KeyboardInterrupt):
        prepare(interrupted(source), tmp_path / "root", list(files.values()))
    assert len(data.load("mnist", root=tmp_path / "root")) == 5


def test_a_dataset_of_another_size_is_refused(tiny, tmp_path):
    source, files, _ = tiny("mnist", sizes={"train": 60_000, "test": 10_000})
    with pytest.raises(ArchiveError, match=r"should have .*60000.* hold .*5"):
        prepare(source, tmp_path / "root", list(files.values()))
    assert files_in(tmp_path / "root") == []


LIMITED = """
import resource, sys
from pathlib import Path
from data_scripts.prepare import prepare
from tests.data_scripts import builders
files = {path.name: path for path in Path(sys.argv[1]).iterdir()}
source = builders.trusting("mnist", files)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2)
prepare(source, Path(sys.argv[2]), list(files.values()))
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="limits the size of files")
@pytest.mark.parametrize("size", [1_000, 4_500])  # of the unpacked pictures, of the split
def test_a_full_disk_is_called_a_full_disk(tiny, tmp_path, size):
    tiny("mnist")
    root = tmp_path / "root"
    command = [sys.executable, "-c", LIMITED, str(tmp_path / "published" / "mnist"), str(root)]
    done = subprocess.run([*command, str(size)], capture_output=True, text=True, check=False)
    assert "FullError: mnist: no room is left in" in done.stderr
    assert [path.name for path in files_in(root)] in ([], [".lock"])
    subprocess.run([*command, str(2**30)], check=True, capture_output=True)
    assert len(data.load("mnist", root=root)) == 5


def test_labels_outside_the_classes_are_refused(tiny, tmp_path):
    source, files, _ = tiny("mnist")
    few = dataclasses.replace(source, parse=lambda f: source.parse(f)._replace(classes=("a", "b")))
    with pytest.raises(ArchiveError, match=r"labels must lie in \[0, 2\)"):
        prepare(few, tmp_path / "root", list(files.values()))


def test_two_at_a_time_do_no_harm(tiny, tmp_path):
    source, files, _ = tiny("mnist")

    def parse(given):  # while this one is read, another is placed
        prepare(source, tmp_path / "root", list(files.values()))
        return source.parse(given)

    slow = dataclasses.replace(source, parse=parse)
    prepare(slow, tmp_path / "root", list(files.values()))
    assert len(data.load("mnist", root=tmp_path / "root")) == 5


def test_the_command_line(tiny, tmp_path, monkeypatch, capsys):
    source, _, _ = tiny("mnist")
    monkeypatch.setitem(registry.SOURCES, "mnist", source)
    root, given = str(tmp_path / "root"), str(tmp_path / "published" / "mnist")
    assert command.main(["mnist", "--root", root, "--from-file", given]) == 0
    assert "ready" in capsys.readouterr().out
    assert command.main(["--list", "--root", root]) == 0
    assert "prepared" in capsys.readouterr().out
    assert command.main(["imagenet", "--root", root]) == 1
    assert "cifar10" in capsys.readouterr().err
    assert command.main(["--root", root]) == 1
    assert command.main(["trec", "--root", root, "--from-file", given]) == 1
    assert "train_5500.label" in capsys.readouterr().err


def test_an_interrupted_command_says_how_to_go_on(tiny, tmp_path, monkeypatch, capsys):
    source, _, _ = tiny("mnist")
    monkeypatch.setitem(registry.SOURCES, "mnist", interrupted(source))
    given = str(tmp_path / "published" / "mnist")
    assert command.main(["mnist", "--root", str(tmp_path), "--from-file", given]) == 1
    assert "again" in capsys.readouterr().err


def test_the_module_runs_and_lists(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["data_scripts", "--list", "--root", str(tmp_path)])
    with pytest.raises(SystemExit, match="0"):
        runpy.run_path(command.__file__, run_name="__main__")
    assert "iwslt14" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []  # looking changes nothing
