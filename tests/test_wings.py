"""Imports go down: the table of wings."""

import ast
import functools
import graphlib
import re
from pathlib import Path

import calibkit

ROOT = Path(__file__).parents[1]
# what each wing may import; the audit, a method, draws its page
BELOW = {
    "methods": {"methods"},
    "pictures": {"methods", "pictures"},
    "auditing": {"methods", "pictures", "auditing"},
    "lab": {"methods", "lab"},
    "course": {"methods", "pictures", "auditing", "lab", "course"},
}
TOOLS = {"devices", "torch_defaults", "validate", "threads"}  # of all methods


def imported(path, modules):
    """What a module of the package takes from its other modules, at the top or in a function.

    What it names for type checkers alone is not taken.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree.body = [node for node in tree.body if "TYPE_CHECKING" not in ast.unparse(node)[:20]]
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            yield from names & modules or {node.module} & modules
        elif isinstance(node, ast.Import):
            yield from {alias.name for alias in node.names} & modules


@functools.cache
def graph():
    """Every module by name, with the modules that it imports."""
    paths = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in (ROOT / "calibkit").rglob("*.py")
    }
    return {name: {*imported(path, set(paths))} - {name} for name, path in paths.items()}


def wing(module):
    name = module.split(".")[1]
    return name if name in BELOW else "methods"


def test_every_module_stands_in_a_wing_and_takes_nothing_from_above():
    arrows = graph()
    modules = set(arrows) - {"calibkit", "calibkit.__main__", "calibkit.doctor"}
    assert {name.split(".")[1] for name in modules} == {*calibkit.METHODS, *calibkit.WINGS, *TOOLS}
    up = [(a, b) for a in modules for b in arrows[a] & modules if wing(b) not in BELOW[wing(a)]]
    assert up == []


def test_the_table_names_every_part_of_every_wing():
    text = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| \*\*(\w+)\*\* \| (.*) \|$", text, re.MULTILINE))
    named = {name: set(re.findall(r"`([a-z_]+)`", row)) for name, row in rows.items()}
    parts = {"methods": {*calibkit.METHODS, *TOOLS}}
    for name in calibkit.WINGS:
        entries = (ROOT / "calibkit" / name).iterdir()
        parts[name] = {path.stem for path in entries if path.suffix == ".py" or path.is_dir()}
        parts[name] -= {"__init__", "__pycache__", "labconfig"}
    assert named == parts


def test_the_course_needs_the_study_for_two_commands_and_the_large_scales_alone():
    """And no test outside of tests/study: `make test` does without."""
    asked = set()
    for path in (ROOT / "calibkit").rglob("*.py"):
        for one in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(one, ast.FunctionDef) and "checkout.study(" in ast.unparse(one):
                asked.add((path.name, one.name))
    assert asked == {
        ("commands.py", "_reproduce"), ("commands.py", "_arbiter"), ("tables.py", "on_photographs")
    }  # fmt: skip
    here = [path for path in (ROOT / "tests").rglob("*.py") if path.parent.name != "study"]
    for path in (*(ROOT / "calibkit").rglob("*.py"), *here):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"^\s*(from|import) study\b", text, re.MULTILINE), path


def test_no_module_imports_itself_by_way_of_others():
    assert len(list(graphlib.TopologicalSorter(graph()).static_order())) > 80
