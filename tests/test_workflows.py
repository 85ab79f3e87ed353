"""The workflows: what they may do, and that they only call what the Makefile has."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
NAMES = ("tests", "site")


def workflow(name):
    path = ROOT / ".github" / "workflows" / f"{name}.yml"
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_it_reads_and_calls_targets_of_the_makefile(name):
    flow = workflow(name)
    assert flow["permissions"] == {"contents": "read"}
    steps = [step for job in flow["jobs"].values() for step in job.get("steps", [])]
    assert all(re.fullmatch(r"actions/[\w-]+@v\d+", s["uses"]) for s in steps if "uses" in s)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for run in (step["run"] for step in steps if step.get("run", "").startswith("make ")):
        target = run.removeprefix("make ").replace(".venv", "$(VENV)")
        assert re.search(rf"^{re.escape(target)}:", makefile, re.MULTILINE), run
