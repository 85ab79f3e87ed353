"""The same seeds give the same data in every process: nothing follows the order of a set.

Python hashes texts anew in each process, and a set of texts is walked in the order of their hashes.
"""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = [
    path
    for top in ("calibkit", "data_scripts", "notebooks/source")
    for path in (ROOT / top).rglob("*.py")
]
DRAWN = """
import hashlib, pickle
from calibkit.lab import data
from calibkit.lab.translation import toy

pairs = toy.draw(300, seed=1)
sources = pairs.texts(source=True)
told = [sources, pairs.texts(), list(toy.translations(sources[0]))]
for part in (*data.notes(300, seed=1), *data.noisy_digits(300, seed=1)):
    told += [part.inputs.tolist(), part.labels.tolist()]
print(hashlib.sha256(pickle.dumps(told)).hexdigest())
"""


def walked_sets(source: str) -> list[int]:
    """Lines that walk over a set whose order is open."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.For | ast.comprehension):
            found += [node.iter.lineno] * _is_set(node.iter)
        if isinstance(node, ast.Call) and _name(node) in ("list", "tuple", "enumerate", "join"):
            found += [argument.lineno for argument in node.args if _is_set(argument)]
    return sorted(found)


def _name(call: ast.Call) -> str:
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


def _is_set(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_set(node.left) or _is_set(node.right)
    if isinstance(node, ast.Call):
        return _name(node) in ("set", "frozenset")
    return isinstance(node, ast.Set | ast.SetComp)


def test_no_loop_walks_over_a_set():
    lines = {path: walked_sets(path.read_text(encoding="utf-8")) for path in FILES}
    found = [f"{path.relative_to(ROOT)}:{line}" for path, many in lines.items() for line in many]
    assert not found, f"write sorted(...) or dict.fromkeys(...) in {found}"
    assert len(FILES) > 100


@pytest.mark.slow
def test_two_processes_draw_the_same_data():
    told = [
        subprocess.run(
            [sys.executable, "-c", DRAWN],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert told[0] == told[1]
