"""The site's zip of the course: what is committed, and nothing else."""

import subprocess
import zipfile

import pytest

from calibkit.course import checkout
from calibkit.course.site import sharing


def git(folder, *words):
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=folder, check=True
    )


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A small course; the folder for its zip."""
    home = tmp_path / "home"
    (home / "notebooks").mkdir(parents=True)
    (home / "Makefile").write_text("lab:\n", encoding="utf-8")
    (home / "notebooks" / "00.ipynb").write_text("{}", encoding="utf-8")
    monkeypatch.setattr(checkout, "root", lambda: home)
    (tmp_path / "site").mkdir()
    return home, tmp_path / "site"


def test_the_zip_holds_what_is_committed_and_the_page_names_its_size(course):
    home, site = course
    git(home, "init", "-q")
    git(home, "add", "-A")
    git(home, "commit", "-qm", "all")
    (home / "notebooks" / "mine.ipynb").write_text(
        "{}", encoding="utf-8"
    )  # of the one who builds the site
    words = sharing.download(site)
    with zipfile.ZipFile(site / sharing.DOWNLOAD) as packed:
        files = [name for name in packed.namelist() if not name.endswith("/")]
    assert files == ["calibkit/Makefile", "calibkit/notebooks/00.ipynb"]
    assert sharing.DOWNLOAD in words
    assert "(0 MB)" in words
