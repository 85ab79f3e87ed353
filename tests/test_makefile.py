"""Each target of the Makefile installs what its code imports; workflows call what is there."""

import ast
import re
import sys
import tomllib
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
OURS = {"calibkit", "tests", "data_scripts", "study"}
# By target: what it runs, and what of that it does not.
RUNS = {
    "lab": (["calibkit"], ["calibkit/course/site"]),
    "course": (["calibkit", "notebooks/source"], ["calibkit/course/site"]),
    "notebooks": (["calibkit", "notebooks/source"], ["calibkit/course/site"]),
    "pages": (["calibkit"], ["calibkit/course/site"]),
    "doctor": (["calibkit"], ["calibkit/course/site"]),
    "site": (["calibkit"], []),
    "test": (["calibkit", "tests"], ["tests/browser", "tests/benchmarks"]),
    "test-study": (["calibkit", "tests/study", "notebooks/evidence/study"], []),
    "test-slow": (["calibkit", "tests"], ["tests/browser", "tests/benchmarks"]),
    "test-notebooks": (["calibkit", "notebooks/source", "tests/notebooks"], []),
    "test-evidence": (["calibkit", "notebooks/source", "tests/notebooks"], []),
    "test-browser": (["calibkit", "tests/browser"], []),
    "bench": (["tests/benchmarks"], []),
}
# What is there or not, and asked for by those who have it: an import that may fail.
OPTIONAL = {"tomllib", "resource", "torchmetrics", "pyarrow", "google"}


@cache
def brought(extra):
    """The packages of an extra with all that they need themselves, as they are installed here."""
    met, left = set(), [Requirement(line) for line in (*PROJECT["dependencies"], *EXTRAS[extra])]
    while left:
        one = left.pop()
        wanted = [Requirement(line) for part in one.extras for line in EXTRAS.get(part, ())]
        if canonicalize_name(one.name) == "calibkit":
            left += wanted
            continue
        if canonicalize_name(one.name) in met:
            continue
        met.add(canonicalize_name(one.name))
        try:
            needs = metadata.requires(one.name) or ()
        except metadata.PackageNotFoundError:
            continue
        for line in map(Requirement, needs):
            if line.marker is None or any(
                line.marker.evaluate({"extra": part}) for part in ("", *one.extras)
            ):
                left.append(line)
    return met


@cache
def taken(path):
    """The packages that a file imports at the top."""
    found = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.append(node.module)
    return {name.partition(".")[0] for name in found}


def imported(folders, but):
    """By the package that a file imports at the top: the file."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if not str(path.relative_to(ROOT)).startswith(tuple(but)):
                yield from ((name, path.relative_to(ROOT)) for name in taken(path))


@pytest.mark.parametrize("target", RUNS)
def test_a_target_installs_what_it_imports(target):
    (line,) = re.findall(rf"(?m)^{target}: (\$\(VENV\).*)$", MAKEFILE)
    stamps = re.findall(r"\$\(VENV\)/\.(\w+)", line)
    there = set().union(*map(brought, stamps))
    of = metadata.packages_distributions()
    missing = {
        f"{file}: {name}"
        for name, file in imported(*RUNS[target])
        if name not in sys.stdlib_module_names | OURS | OPTIONAL
        and not {canonicalize_name(one) for one in of.get(name, [name])} & there
    }
    assert missing == set()


def test_every_target_that_runs_code_is_looked_at():
    targets = re.findall(r"(?m)^([a-z][\w-]*): \$\(VENV\)", MAKEFILE)
    assert set(targets) - {"lint"} == set(RUNS)


@pytest.mark.parametrize("name", ["tests", "site"])
def test_a_workflow_reads_and_calls_targets_of_the_makefile(name):
    flow = yaml.safe_load((ROOT / f".github/workflows/{name}.yml").read_text(encoding="utf-8"))
    assert flow["permissions"] == {"contents": "read"}
    steps = [step for job in flow["jobs"].values() for step in job.get("steps", [])]
    assert all(re.fullmatch(r"actions/[\w-]+@v\d+", s["uses"]) for s in steps if "uses" in s)
    for run in (step["run"] for step in steps if step.get("run", "").startswith("make ")):
        target = run.removeprefix("make ").replace(".venv", "$(VENV)")
        assert re.search(rf"^{re.escape(target)}:", MAKEFILE, re.MULTILINE), run
