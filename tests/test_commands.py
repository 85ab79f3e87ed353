"""Every command where nothing can be written, and where its output is in another encoding."""

import argparse
import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

import calibkit
from calibkit import __main__

# By command its words; AT is the place that it writes, which lies in a file.
AT = "file/inside"
WORDS = {
    "doctor": [],
    "lab": [],
    "audit": ["ok.csv", "--target", AT],
    "course": ["--scale", "smoke", "--jobs", "1"],
    "notebooks": ["--jobs", "1"],
    "claims": [],
    "reproduce": ["noise", "--target", AT],
    "arbiter": ["--scale", "smoke", "--target", AT],
    "pages": ["00", "--target", AT],
    **{name: [AT, "--only", "00"] for name in ("student", "teacher", "key", "quiz", "handouts")},
    "rubric": [AT],
    "kit": ["audit", AT],
    "own-diagram": [AT],
    "grade": ["class", "--out", AT],
    "play": [AT],
    "explorer": ["networks", AT],
    "audit-page": [AT],
    "site": [AT],
    "open": [AT],
}
SILENT = {"doctor", "claims", "lab"}  # they write nothing of their own
OF_THE_COURSE = {"course", "notebooks"}  # they write into the course's own folder


def commands():
    """The parser of each command, by its name."""
    (found,) = (a for a in __main__._parser()._actions if isinstance(a, argparse._SubParsersAction))
    return found.choices


assert set(WORDS) == set(commands())
every = pytest.mark.parametrize("name", sorted(commands()))


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A folder with a file where a folder is wanted."""
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("a file", encoding="utf-8")
    Path("class").mkdir()
    rows = "0,0.9,0.1\n1,0.2,0.8\n1,0.7,0.3\n" * 20
    Path("ok.csv").write_text(f"label,p_0,p_1\n{rows}", encoding="utf-8")
    return tmp_path


def sentence(said):
    """The only line on the error output."""
    (line,) = said.err.splitlines()
    assert line.startswith("calibkit: ")
    assert "Errno" not in line
    assert ";" in line  # and what to do
    return line


ASKED = {  # words, and some of what is asked for with them
    "reproduce text all --seeds 3 --jobs 2 --root r --vectors v --network n --dataset d":
        {"name": ["text", "all"], "seeds": 3, "jobs": 2, "root": "r", "vectors": "v",
            "network": "n", "dataset": "d", "scale": "laptop", "device": "auto", "target": None},
    "arbiter --jobs 3": {"scale": "laptop", "device": "cpu", "jobs": 3, "target": None},
    "course": {"scale": "laptop", "only": None, "jobs": 2, "limit": None, "evidence": False},
    "audit-page": {"page": "audit-page", "target": "audit_page.html"},
    "student s --evidence": {"written": "student", "out": "s", "only": (), "evidence": True},
    "grade c --seed 3": {"folder": "c", "seed": 3, "exercises": (), "trust": False, "out": None},
}  # fmt: skip


@pytest.mark.parametrize("words", ASKED)
def test_what_is_not_said_has_its_default(words):
    asked = vars(__main__._parser().parse_args(words.split()))
    assert ASKED[words].items() <= asked.items()


@every
def test_help_explains_every_option(name):
    assert all(action.help for action in commands()[name]._actions)


@pytest.mark.parametrize("name", sorted(set(commands()) - SILENT - OF_THE_COURSE))
def test_a_place_that_cannot_be_written_is_one_sentence(name, capsys):
    assert __main__.main([name, *WORDS[name]]) == 2
    line = sentence(capsys.readouterr())
    assert f"cannot write {AT}" in line
    assert os.strerror(errno.ENOTDIR) in line
    assert Path("file").read_text(encoding="utf-8") == "a file"


def test_the_courses_own_folder_that_cannot_be_written_is_one_sentence(here, capsys):
    source = here / "notebooks" / "source"
    source.mkdir(parents=True)
    (source / "00_one.py").write_text("# %% tags=['parameters']\nSCALE = 1\n", encoding="utf-8")
    (here / "build").write_text("a file", encoding="utf-8")
    for name in OF_THE_COURSE:
        assert __main__.main([name, *WORDS[name]]) == 2
        assert f"cannot use {here / 'build'}" in sentence(capsys.readouterr())


@pytest.fixture
def act(monkeypatch):
    """Let every command do this in place of its own work."""
    parser = __main__._parser

    def replace(work):
        def replaced(**chosen):
            made = parser(**chosen)
            (found,) = (a for a in made._actions if isinstance(a, argparse._SubParsersAction))
            for one in found.choices.values():
                one.set_defaults(command=work)
            return made

        monkeypatch.setattr(__main__, "_parser", replaced)
        monkeypatch.setattr(__main__, "_demand_place", lambda options: None)

    return replace


@every
@pytest.mark.parametrize("code", [errno.EACCES, errno.ENOSPC])
def test_an_error_of_the_system_is_one_sentence(name, code, act, capsys):
    def fails(options):
        raise OSError(code, os.strerror(code), *(() if code == errno.ENOSPC else ("there/x",)))

    act(fails)
    assert __main__.main([name, *WORDS[name]]) == 2
    line = sentence(capsys.readouterr())
    assert os.strerror(code) in line
    assert code == errno.ENOSPC or "there/x" in line


@every
@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_words_that_an_encoding_lacks_stop_nothing(name, encoding, act, monkeypatch, tmp_path):
    words = "naïve – ✓ 标签 \udc80"

    def speaks(options):
        print(words)
        return 0

    act(speaks)
    with (tmp_path / "said").open("w", encoding=encoding) as file:
        monkeypatch.setattr(sys, "stdout", file)
        assert __main__.main([name, *WORDS[name]]) == 0
    told = (tmp_path / "said").read_text(encoding=encoding)
    assert told.startswith("na")
    assert ("✓" if encoding == "utf-8" else r"\u2713") in told


def calibkit_in_a_process(*words, **options):
    environment = {**os.environ, "PYTHONPATH": str(Path(calibkit.__file__).parents[1])}
    command = [sys.executable, "-m", "calibkit", *words]
    return subprocess.run(command, env=environment, stderr=subprocess.PIPE, **options)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
def test_output_that_cannot_be_written_is_one_sentence(here):
    with open("/dev/full", "w", encoding="utf-8") as full:
        said = calibkit_in_a_process("kit", "list", stdout=full)
    assert said.returncode == 2
    (line,) = said.stderr.decode().splitlines()
    assert line.startswith("calibkit: cannot write what is printed: No space left")
