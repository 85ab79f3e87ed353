"""The three lists of requirements agree, and the package needs no more than it says."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CONSTRAINTS = [
    Requirement(line)
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if line.strip() and not line.startswith("#")
]


def requirements():
    lists = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    return [Requirement(r) for names in lists for r in names if not r.startswith("calibkit")]


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize("requirement", requirements(), ids=lambda r: r.name)
def test_a_tested_version_is_pinned_and_allowed(requirement):
    pins = {canonical(pin.name): pin for pin in CONSTRAINTS}
    pin = pins[canonical(requirement.name)]
    (exact,) = pin.specifier
    assert exact.operator == "=="
    assert exact.version in requirement.specifier


def test_conda_installs_the_same_through_pip():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    python = next(d for d in environment["dependencies"] if str(d).startswith("python "))
    (pip,) = [d["pip"] for d in environment["dependencies"] if isinstance(d, dict)]
    assert SpecifierSet(python.removeprefix("python ")) == SpecifierSet(PROJECT["requires-python"])
    assert pip == ["-c constraints.txt", "-e .[test]"]


def test_uv_has_the_extras_as_groups_and_the_same_pins():
    """After a change of constraints.txt: the lines of it into constraint-dependencies."""
    whole = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = whole["dependency-groups"]
    assert groups == {name: [f"calibkit[{name}]"] for name in groups}
    assert (
        set(groups)
        == {"course", "test", "site", "browser"}
        <= set(PROJECT["optional-dependencies"])
    )
    pins = [Requirement(line) for line in whole["tool"]["uv"]["constraint-dependencies"]]
    assert list(map(str, pins)) == list(map(str, CONSTRAINTS))
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert "uv.lock" in ignored
