"""The README: short, with a picture that moves, and links that lead somewhere."""

import re
from pathlib import Path

from calibkit.course import checkout
from calibkit.course.site import address

README = (checkout.root() / "README.md").read_text(encoding="utf-8")
WORDS = 850  # with the table of paths and the citation; its prose has some 700


def test_it_is_short():
    prose = re.sub(r"(?ms)^\| .*?$|^```.*?^```$", "", README)
    assert len(prose.split()) <= 700
    assert len(README.split()) <= WORDS


def test_every_link_leads_to_a_file_of_the_course():
    targets = re.findall(r"\]\(([^)#]+)\)", README)
    assert len(targets) > 20
    for target in targets:
        assert target.startswith("https://") or (checkout.root() / target).exists(), target


def test_the_moving_picture_stands_before_the_first_heading_of_a_section():
    opening = README.partition("\n## ")[0]
    (picture,) = re.findall(r"!\[[^\]]{40,}\]\(([^)]+)\)", opening)
    assert "@keyframes" in (checkout.root() / picture).read_text(encoding="utf-8")
    assert "JupyterLab" in opening
    assert "PyTorch" in opening


def test_the_address_of_the_site_stands_once_and_is_that_of_the_project():
    (line,) = re.findall(r"(?m)^\[site\]: (\S+)$", README)
    assert f"{line}/" == address.site()
    assert README.count(line) == 1


def test_there_are_two_commands_to_begin_with():
    steps = README.partition("## Two commands")[2].partition("\n## ")[0]
    assert re.findall(r"(?m)^    make (\w+)", steps) == ["lab", "test"]


def test_what_left_the_readme_stands_on_a_page():
    home = checkout.root() / "notebooks"
    for page in ("the_course", "audit_a_file", "commands", "scales", "package"):
        text = Path(home / f"{page}.md").read_text(encoding="utf-8")
        assert text.startswith("# ")
        assert f"notebooks/{page}.md" in README
