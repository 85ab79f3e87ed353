"""The README: short, with a picture that moves, a door, and links that lead somewhere."""

import re
import subprocess
import sys

from calibkit import __main__
from calibkit.course import checkout, open_pages
from calibkit.course.site import sharing

ROOT = checkout.root()
README = (ROOT / "README.md").read_text(encoding="utf-8")
WORDS = 600  # without the code to paste


def test_it_is_short():
    prose = re.sub(r"(?ms)^```.*?^```$", "", README)
    assert len(re.findall(r"[^\s|]*\w[^\s|]*", prose)) <= WORDS


def test_every_link_leads_to_a_file_of_the_course():
    assert ".ipynb" not in README  # where answers would be open
    targets = re.findall(r"\]\(([^)#]+)", README)
    assert len(targets) > 15
    outside = [one for one in targets if one.startswith("http")]
    for target in set(targets) - set(outside):
        assert (ROOT / target).exists(), target
    site = sharing.site()
    assert all(
        one.startswith("https://doi.org/") or (site and one.startswith(site)) for one in outside
    )
    assert not site or site in outside  # and where there is a site, the door leads there, too


def test_it_opens_with_a_network_that_is_too_sure_and_a_picture_that_moves():
    opening = README.partition("\n## ")[0]
    first = opening.split("\n\n")[1]
    assert first.startswith("A network says that it is 93 % sure. It is right 79 times out of 100.")
    lesson = next(ROOT.glob("notebooks/00_*.ipynb")).read_text(encoding="utf-8")
    assert re.search(r"right on 79\.\d%.* sure at 9[23]\.\d%|79\.1%.*93\.0%|93\.0%.*79\.1%", lesson)
    (picture,) = re.findall(r"!\[[^\]]{40,}\]\(([^)]+)\)", opening)
    assert "@keyframes" in (ROOT / picture).read_text(encoding="utf-8")
    assert "JupyterLab" in opening
    assert "PyTorch" in opening


def test_the_door_stands_before_anything_is_installed():
    opening = README.partition("\n## ")[0]
    assert re.findall(r"\]\(notebooks/open/([\w.]+)\)", opening) == list(open_pages.WORDS)
    assert "zip" in opening


def test_what_it_says_to_paste_runs_as_pasted(tmp_path):
    (code,) = re.findall(r"(?ms)^```python\n(.*?)^```", README)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    before, after = (float(line.split()[0]) for line in done.stdout.splitlines())
    assert before > 0.2
    assert after < 0.05


def test_the_commands_that_it_names_are_there():
    named = re.findall(r"[`/ ]calibkit (?!is |import )([a-z-]+)\b(?=[ `\n])", README)
    assert set(named) == {"lab", "audit"} <= set(__main__.HELP)
