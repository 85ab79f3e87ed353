"""A learner's copies: made once, never overwritten; their links work; the checkout stays clean."""

import re
import shutil

import nbformat
import pytest
from nbformat.sign import NotebookNotary

from calibkit.course import checkout, workplace

LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)\s#]+)")


@pytest.fixture(autouse=True)
def own_home(monkeypatch, tmp_path):
    """Signatures are kept in the home of the test."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture
def course(monkeypatch, tmp_path):
    """A course of two lessons that a test may change."""
    home, folder = checkout.root() / "notebooks", tmp_path / "course"
    (folder / "notebooks" / "source" / "evidence").mkdir(parents=True)
    (folder / "notebooks" / "images").mkdir()
    for name in ("00_start_here", "12_mixup"):
        shutil.copyfile(home / f"{name}.ipynb", folder / "notebooks" / f"{name}.ipynb")
        (folder / "notebooks" / "source" / f"{name}.py").touch()
    monkeypatch.chdir(folder)
    return folder / "notebooks"


def change(path, number, source=None, **more):
    """Write another source into the code cell of that number."""
    notebook = nbformat.read(path, as_version=4)
    cell = [c for c in notebook.cells if c.cell_type == "code"][number]
    cell.source = source or cell.source
    cell.update(more)
    nbformat.write(notebook, path)
    return cell.id


def sources(path):
    return [cell.source for cell in nbformat.read(path, as_version=4).cells]


def test_every_lesson_is_there_trusted_and_its_links_lead_to_what_is_there(tmp_path):
    place, told = workplace.prepare(tmp_path / "mine")
    assert told == []
    for lesson in checkout.lessons():
        path = place / f"{lesson.name}.ipynb"
        assert NotebookNotary().check_signature(nbformat.read(path, as_version=4))
    books = {
        path: sources(path) for path in place.rglob("[0-9]*.ipynb") if ".origins" not in str(path)
    }
    pages = {path: [path.read_text("utf-8")] for path in place.glob("*.md")}
    for path, texts in (books | pages).items():
        for target in LINK.findall("\n".join(texts)):
            if not re.search(r"[\'\"=,]|^\w+$", target):  # of code, not of a text
                assert (path.parent / target).exists(), (path.name, target)


def test_a_copy_is_made_once_and_never_overwritten(course, tmp_path):
    mine, _ = workplace.prepare(tmp_path / "mine")
    change(mine / "12_mixup.ipynb", 0, "answer = 42")
    before = {path: path.read_bytes() for path in mine.glob("*.ipynb")}
    assert workplace.prepare(tmp_path / "mine") == (mine, [])
    assert {path: path.read_bytes() for path in mine.glob("*.ipynb")} == before


def test_a_newer_lesson_replaces_a_copy_in_which_nothing_was_written(course, tmp_path):
    mine, _ = workplace.prepare(tmp_path / "mine")
    change(mine / "12_mixup.ipynb", 0, metadata={"trusted": True})  # as opening it does
    change(course / "12_mixup.ipynb", 0, "import newer")
    assert workplace.prepare(mine)[1] == []
    assert "import newer" in sources(mine / "12_mixup.ipynb")


def test_a_newer_lesson_is_offered_beside_ones_own_with_ones_answers(course, tmp_path):
    mine, _ = workplace.prepare(tmp_path / "mine")
    own = mine / "12_mixup.ipynb"
    change(own, 2, "def mine():\n    return 1")  # the cell is the same in the newer lesson
    change(own, 3, "my_own = 3")  # this one is not
    notebook = nbformat.read(own, as_version=4)
    place = [c.source for c in notebook.cells].index("def mine():\n    return 1")
    notebook.cells.insert(place + 1, nbformat.v4.new_code_cell("a_note = 'added'"))
    nbformat.write(notebook, own)
    kept = own.read_bytes()
    newer = change(course / "12_mixup.ipynb", 3, "import newer")
    [told] = workplace.prepare(mine)[1]
    assert "12_mixup_new.ipynb" in told
    offered = nbformat.read(mine / "12_mixup_new.ipynb", as_version=4)
    found = [cell.source for cell in offered.cells]
    assert found.index("a_note = 'added'") == found.index("def mine():\n    return 1") + 1
    assert "my_own = 3" not in found
    assert newer in [cell.id for cell in offered.cells]
    assert own.read_bytes() == kept
    assert workplace.prepare(mine)[1] == []  # it is offered once


def test_a_reset_keeps_what_was_written_under_another_name(course, tmp_path):
    mine, _ = workplace.prepare(tmp_path / "mine")
    change(mine / "12_mixup.ipynb", 0, "answer = 42")
    [told] = workplace.reset("12", mine)
    [aside] = mine.glob("12_mixup_2*.ipynb")
    assert aside.name in told
    assert "answer = 42" in sources(aside)
    assert "answer = 42" not in sources(mine / "12_mixup.ipynb")


def test_where_nothing_can_be_written_it_says_so(course, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(
        ValueError, match=r"cannot be written to .*name another folder with .*--work"
    ):
        workplace.prepare(tmp_path / "file" / "mine")


def test_a_course_that_cannot_be_written_to_has_its_copies_at_home(course, tmp_path):
    (course.parent / workplace.NAME).touch()  # a file in the place of the folder
    (tmp_path / "home").mkdir()
    place, [told] = workplace.prepare()
    assert place == tmp_path / "home" / "calibkit"
    assert str(place) in told
    assert (place / "00_start_here.ipynb").exists()
