"""The command line: help in groups, a wrong word, and what is loaded for a command."""

import subprocess
import sys

import pytest

from calibkit import __main__


def said(capsys, *words):
    """What is printed, to whichever end."""
    with pytest.raises(SystemExit) as ended:
        __main__.main(list(words))
    printed = capsys.readouterr()
    return ended.value.code, printed.out + printed.err


def test_alone_it_prints_the_help_in_groups(capsys):
    code, text = said(capsys)
    assert code == 0
    assert (0, text) == said(capsys, "--help")
    heads = [line for line in text.splitlines() if line.endswith(":") and line != "options:"]
    assert heads == ["learn:", "your model:", "teach:", "build:"]
    assert text.index("  lab ") < text.index("  audit ") < text.index("  kit ")


def test_the_groups_hold_every_command_and_no_other():
    (commands,) = (a for a in __main__._parser()._actions if hasattr(a, "add_parser"))
    assert set(commands.choices) == set(__main__.HELP)
    assert sum(map(len, __main__.GROUPS.values())) == len(__main__.HELP)


@pytest.mark.parametrize(("word", "meant"), [("audti", "audit"), ("Lab", "lab")])
def test_a_wrong_command_is_told_the_nearest(word, meant, capsys):
    code, text = said(capsys, word, "--more")
    assert code == 2
    assert f"no command {word!r}; did you mean {meant!r}?" in text
    code, text = said(capsys, "xyzzy")
    assert code == 2
    assert "did you mean" not in text
    assert "--help lists them" in text


@pytest.mark.parametrize("command", __main__.HELP)
def test_the_help_of_a_command_says_what_it_does(command, capsys):
    code, text = said(capsys, command, "--help")
    assert code == 0
    assert text.startswith("usage: ")
    assert __main__.HELP[command][1:] in " ".join(text.split())


def test_an_audit_of_nothing_says_what_to_type(capsys):
    code, text = said(capsys, "audit")
    assert code == 2
    assert "audit FILE" in text
    assert "such as audit predictions.csv" in text
    assert len(text.splitlines()) <= 3  # not the list of all options


@pytest.mark.parametrize("option", ["", "--other"])
def test_a_file_that_is_not_there_is_named_before_torch_is_loaded(option, tmp_path):
    (tmp_path / "predictions.csv").touch()
    words = ["audit", *(["predictions.csv", option] if option else []), "predictons.csv"]
    code = f"import sys; from calibkit.__main__ import main; main({words})"
    code += "; print('torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stderr == "calibkit: no file predictons.csv; did you mean 'predictions.csv'?\n"
    assert done.stdout == "False\n"


def test_the_help_of_the_audit_shows_files_that_it_reads(tmp_path, monkeypatch, capsys):
    """The three of the help, with rows enough to be judged."""
    monkeypatch.chdir(tmp_path)
    _, text = said(capsys, "audit", "--help")
    shown = text.partition("a CSV has")[2].splitlines()[2:6]
    columns = [[part for part in line.split("  ") if part.strip()] for line in shown]
    for head, *rows in zip(*columns, strict=True):
        lines = [head, *rows * 20]
        (tmp_path / "it.csv").write_text("\n".join(map(str.strip, lines)), encoding="utf-8")
        assert __main__.main(["audit", "it.csv"]) == 0


@pytest.mark.parametrize("words", ["--help", "audit --help"])
def test_the_course_is_loaded_for_its_own_commands_alone(words):
    code = (
        "import sys; from calibkit.__main__ import main\n"
        f"try: main({words.split()!r})\n"
        "except SystemExit: print([n for n in sys.modules if n.startswith('calibkit.course')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
