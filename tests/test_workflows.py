"""The workflows: what they may do, and that they only call what the Makefile has."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

from calibkit import __main__, doctor

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


def test_the_site_is_published_after_the_tests_on_two_pythons():
    flow, tests = workflow("site"), workflow("tests")
    assert flow["jobs"]["tests"] == {"uses": "./.github/workflows/tests.yml"}
    assert flow["jobs"]["build"]["needs"] == "tests"
    assert flow["jobs"]["publish"]["needs"] == "build"
    assert flow["jobs"]["publish"]["permissions"] == {"pages": "write", "id-token": "write"}
    assert flow["concurrency"]["group"] == "pages"
    assert "workflow_call" in tests[True]  # YAML reads the word `on` as true
    assert {"make lint", "make test"} <= set(commands(tests["jobs"]["tests"]))
    assert len(tests["jobs"]["tests"]["strategy"]["matrix"]["python"]) == 2


def commands(job):
    return [step["run"] for step in job["steps"] if "run" in step]


def test_notebooks_are_compared_and_other_systems_run_the_first_lesson():
    jobs = workflow("tests")["jobs"]
    assert commands(jobs["notebooks"]) == ["make test-notebooks"]
    elsewhere = jobs["elsewhere"]
    assert elsewhere["strategy"]["matrix"]["system"] == ["windows-latest", "macos-latest"]
    install, *rest = commands(elsewhere)
    assert install == doctor.INSTALL
    for command in rest:
        assert command.startswith("python -m calibkit ")
        words = shlex.split(command.removeprefix("python -m calibkit "))
        __main__._parser().parse_args(words)
    assert "--only 00" in rest[-1]
    assert "--scale smoke" in rest[-1]
