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
