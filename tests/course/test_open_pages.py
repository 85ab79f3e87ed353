"""The pages that open by a double click: as they are made now, whole, and light."""

import re

import pytest

from calibkit import __main__
from calibkit.course import open_pages

MADE = open_pages.made()
LIGHT = dict.fromkeys(MADE, 400_000) | {"audit.html": 300_000}  # bytes


def test_the_folder_holds_them_and_nothing_else():
    assert (
        {path.name for path in open_pages.folder().iterdir()} == set(MADE) == set(open_pages.WORDS)
    )


@pytest.mark.parametrize(("name", "most"), LIGHT.items())
def test_a_page_is_the_one_that_is_made_now_light_and_loads_nothing(name, most):
    """After a change of a page or of lesson 00: python -m calibkit open."""
    page = MADE[name]
    assert (open_pages.folder() / name).read_text(encoding="utf-8") == page
    assert len(page.encode()) <= most
    assert re.findall(r"(?<![-\w])src=[\"']?(?!data:)[^\"'\s>]+|@import|<link\b", page) == []
    links = re.findall(r"<a [^>]*?href=\"([^\"#]+)", page)  # to a page beside it, or to a source
    assert {one for one in links if not re.match(r"https://(doi|arxiv)\.org/", one)} == set(MADE)


def test_the_command_writes_them(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(open_pages, "folder", lambda: tmp_path / "open")
    assert __main__.main(["open"]) == 0
    assert {path.name for path in (tmp_path / "open").iterdir()} == set(MADE)
    assert capsys.readouterr().out.count(" kB\n") == len(MADE)
