"""Mutants of a source file: one operator, comparison, number, truth or branch at a time."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

SWAPPED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.MatMult: ast.Mult, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn,
    ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
# the words of a message, and what is no code that runs
LEFT_ALONE = (ast.JoinedStr, ast.Raise, ast.Import, ast.ImportFrom, ast.AnnAssign, ast.arg)


@dataclass(frozen=True)
class Mutant:
    """In `function` (dotted) of `file`, `new` stands for the `place`-th piece of code `old`."""

    file: str
    function: str
    old: str
    place: int
    new: str


def mutants(file: str, source: str) -> list[Mutant]:
    """All mutants of a file, in the order of the source."""
    return [
        Mutant(file, function, old, place, f"({ast.unparse(ast.fix_missing_locations(new))})")
        for function, node, old, place in _pieces(source)
        if (new := _changed(node)) is not None
    ]


def mutated(mutant: Mutant, source: str) -> str | None:
    """The source with the mutant in it; None where the code that it changes is gone."""
    for function, node, old, place in _pieces(source):
        if (function, old, place) == (mutant.function, mutant.old, mutant.place):
            data, lines = source.encode(), source.encode().splitlines(keepends=True)
            starts = [sum(map(len, lines[: n - 1])) for n in (node.lineno, node.end_lineno)]
            before = data[: starts[0] + node.col_offset]
            return (before + mutant.new.encode() + data[starts[1] + node.end_col_offset :]).decode()
    return None


def line(mutant: Mutant, source: str) -> int:
    """Where its statement begins, as coverage counts lines."""
    place = next(
        node.lineno
        for function, node, old, place in _pieces(source)
        if (function, old, place) == (mutant.function, mutant.old, mutant.place)
    )
    statements = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.stmt))
    return max(s.lineno for s in statements if s.lineno <= place <= (s.end_lineno or place))


def _pieces(source: str) -> Iterator[tuple[str, ast.expr, str, int]]:
    """Each expression in a function: its function, node, code, and which of the same code."""
    seen: Counter[tuple[str, str]] = Counter()
    for function, node in _expressions(ast.parse(source), ""):
        old = ast.get_source_segment(source, node) or ""
        yield function, node, old, seen[function, old]
        seen[function, old] += 1


def _expressions(node: ast.AST, function: str) -> Iterator[tuple[str, ast.expr]]:
    body = node
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        function = f"{function}.{node.name}".lstrip(".")
        body = ast.Module(node.body, [])  # neither decorators nor annotations nor defaults
    for child in ast.iter_child_nodes(body):
        if isinstance(child, LEFT_ALONE):
            continue
        if function and isinstance(child, ast.expr):
            yield function, child
        yield from _expressions(child, function)


def _changed(node: ast.expr) -> ast.expr | None:
    match node:
        case ast.BinOp(left, op, right) if type(op) in SWAPPED:
            return ast.BinOp(left, SWAPPED[type(op)](), right)
        case ast.Compare(left, [op], right):
            return ast.Compare(left, [SWAPPED[type(op)]()], right)
        case ast.BoolOp(op, values):
            return ast.BoolOp(SWAPPED[type(op)](), values)
        case ast.UnaryOp(ast.USub() | ast.Not(), operand):
            return operand
        case ast.Constant(value) if isinstance(value, bool):
            return ast.Constant(not value)
        case ast.Constant(value) if isinstance(value, int | float):
            return ast.Constant(value + 1)
        case ast.IfExp(test, body, orelse):
            return ast.IfExp(test, orelse, body)
        case ast.Call(ast.Attribute(), [first], []) if not isinstance(first, ast.Starred):
            return first  # the call left out
    return None
