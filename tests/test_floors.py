"""Imports and calls go down: the floors of the README, and one training from recipe to table."""

import ast
import graphlib
import itertools
import re
import sys
from pathlib import Path

from calibkit.lab import data, models, sweep, training
from calibkit.lab.sweep.origins import PRESENTING

ROOT = Path(__file__).parents[1]
TABLE = re.findall(
    r"^\| (\d) \| (.*) \|$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE
)
FLOORS = {name: int(floor) for floor, names in TABLE for name in re.findall(r"`([a-z_]+)`", names)}


def imported(path, modules):
    """What a module of the package takes from its other modules, at the top or in a function."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            yield from names & modules or {node.module} & modules
        elif isinstance(node, ast.Import):
            yield from {alias.name for alias in node.names} & modules


def graph():
    """Every module by name, with the modules that it imports."""
    paths = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in (ROOT / "calibkit").rglob("*.py")
    }
    return {name: {*imported(path, set(paths))} - {name} for name, path in paths.items()}


def floor(module):
    return FLOORS[module.split(".")[1]]


def test_every_module_stands_on_a_floor_and_takes_nothing_from_above():
    arrows = graph()
    modules = set(arrows) - {"calibkit", "calibkit.__main__"}
    assert {name.split(".")[1] for name in modules} == set(FLOORS)
    assert [(a, b) for a in modules for b in arrows[a] & modules if floor(a) < floor(b)] == []


def test_the_top_floor_is_what_presents_so_that_a_key_loads_nothing_of_it():
    assert {name for name, floor in FLOORS.items() if floor == 4} == PRESENTING - {"__main__"}


def test_no_module_imports_itself_by_way_of_others():
    assert len(list(graphlib.TopologicalSorter(graph()).static_order())) > 80


def test_one_training_enters_no_module_twice():
    """No call leads from a module to another and back into it."""
    splits, again = data.noisy_digits(60, test=40), set()

    def modules_above(frame):
        while frame:
            if (name := frame.f_globals.get("__name__", "")).startswith("calibkit."):
                yield name
            frame = frame.f_back

    def watch(frame, event, _):
        if event == "call" and frame.f_globals.get("__name__", "").startswith("calibkit."):
            here, *above = (name for name, _ in itertools.groupby(modules_above(frame)))
            if here in above:
                again.add((here, above[0]))

    def recipe(seed, gradients):
        options = {"watch": {"test": splits.test}, "gradients": gradients, "epochs": 1}
        network = lambda: models.cnn(1, 10, width=2)  # noqa: E731
        return training.trial(network, splits.train, {"test": splits.test}, seed=seed, **options)

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        grid = {"seed": [0, 1], "gradients": [True, False]}
        swept = sweep.run(recipe, grid, cache=False, jobs=1, device="cpu", progress=False)
    finally:
        sys.setprofile(before)
    assert len(swept.table) == 4
    assert again == set()
