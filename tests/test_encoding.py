"""Every text file is read and written as UTF-8, whatever the machine's own encoding."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILES = [p for top in ("calibkit", "data_scripts", "tests") for p in (ROOT / top).rglob("*.py")]
MODE = re.compile(r"[rwax]\+?t?")


def bare_calls(source: str) -> list[int]:
    """Lines that open a file as text and do not say in which encoding."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return [c.lineno for c in calls if _of_text(c) and not _says(c)]


def _says(call: ast.Call) -> bool:
    return any(word.arg in ("encoding", None) for word in call.keywords)


def _of_text(call: ast.Call) -> bool:
    if isinstance(call.func, ast.Name):
        return call.func.id == "open" and _is_mode(call.args[1:2])
    name = getattr(call.func, "attr", "")
    if name == "open":  # of a path; what else is called so takes a file first
        return _is_mode(call.args[:1])
    return (name, len(call.args)) in (("read_text", 0), ("write_text", 1))


def _is_mode(mode: list[ast.expr]) -> bool:
    return not mode or bool(MODE.fullmatch(str(getattr(mode[0], "value", "b"))))


def test_an_encoding_is_named_everywhere():
    lines = {p: bare_calls(p.read_text(encoding="utf-8")) for p in FILES}
    found = [f"{p.relative_to(ROOT)}:{line}" for p, many in lines.items() for line in many]
    assert not found, f'write encoding="utf-8" in {found}'
    assert len(FILES) > 200
