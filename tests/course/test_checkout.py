"""Where the course lies, and which lessons it has."""

import os
import sys

import pytest

from calibkit.course import checkout


@pytest.fixture
def two_lessons(tmp_path, monkeypatch):
    (tmp_path / "notebooks" / "source").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    for name in ("01_second", "00_first"):
        (tmp_path / "notebooks" / "source" / f"{name}.py").touch()
    return tmp_path


def test_lessons_come_in_order_and_by_prefix(two_lessons):
    assert [lesson.name for lesson in checkout.lessons()] == ["00_first", "01_second"]
    assert [lesson.name for lesson in checkout.lessons("01")] == ["01_second"]
    assert checkout.lessons("00")[0].notebook == two_lessons / "notebooks" / "00_first.ipynb"


def test_an_unknown_lesson_is_refused_with_the_known_ones(two_lessons):
    with pytest.raises(ValueError, match="'99'; there are 00_first, 01_second"):
        checkout.lessons("99")


def test_the_tables_beside_a_notebook_come_before_those_of_the_course(two_lessons, monkeypatch):
    assert checkout.results() == two_lessons / "notebooks" / "results"
    (two_lessons / "results" / "laptop").mkdir(parents=True)
    assert checkout.results() == two_lessons / "results"


def test_outside_a_checkout_it_says_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    elsewhere = str(tmp_path / "site-packages" / "checkout.py")
    monkeypatch.setattr("calibkit.course.checkout.__file__", elsewhere)
    with pytest.raises(FileNotFoundError, match="in the folder of the course"):
        checkout.root()


def test_evidence_lies_beside_its_lesson_under_the_same_name(two_lessons):
    assert checkout.evidence() == []
    beside = two_lessons / "notebooks" / "source" / "evidence"
    beside.mkdir()
    (beside / "01_second.py").touch()
    (found,) = checkout.evidence("01")
    assert (found.name, found.number, found.is_evidence) == ("evidence/01_second", "01", True)
    assert found.notebook == two_lessons / "notebooks" / "evidence" / "01_second.ipynb"
    assert checkout.evidence("00") == []
    assert [lesson.name for lesson in checkout.lessons()] == ["00_first", "01_second"]


def test_evidence_finds_the_tables_one_folder_up(two_lessons, monkeypatch):
    (two_lessons / "results" / "laptop").mkdir(parents=True)
    (two_lessons / "evidence").mkdir()
    monkeypatch.chdir(two_lessons / "evidence")
    assert checkout.results() == two_lessons / "results"


def test_the_study_is_found_here_and_in_processes_to_come(two_lessons, monkeypatch):
    folder = str(two_lessons / "notebooks" / "evidence")
    monkeypatch.setattr(sys, "path", ["here"])
    monkeypatch.setenv("PYTHONPATH", "here")
    monkeypatch.setitem(sys.modules, "study.toy", checkout)
    for _ in range(2):
        assert checkout.study("toy") is checkout
        assert sys.path == os.environ["PYTHONPATH"].split(os.pathsep) == ["here", folder]
