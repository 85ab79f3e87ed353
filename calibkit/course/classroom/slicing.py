"""The part of a notebook that an answer needs: its function, and what that function uses.

A lesson trains networks for a minute; a grader needs one function of it. It runs in the sandbox,
like all that reads a student's code.
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterable, Iterator, Sequence

COMMAND = ("%", "!")  # what begins a line for IPython


def needed(cells: Sequence[str], name: str) -> ast.Module | None:
    """The statements that bind `name` and, in turn, the names that they use; None without one.

    cells: the code of the notebook in order. Where a name is bound again after the answer, for a
    later section, the answer gets what stood before it. Cells that do not parse are left out;
    raises SyntaxError where the answer's own cell is such a one.

    >>> found = needed(["import math", "a = 1", "print(2)", "f = lambda: a + 1", "a = 5"], "f")
    >>> ast.unparse(found).splitlines()
    ['a = 1', 'f = lambda: a + 1']
    """
    statements = list(_statements(cells, name))
    places = [place for place, one in enumerate(statements) if name in bound(one)]
    if not places:
        return None
    last, wanted, waiting = places[-1], set(), [places[-1]]
    while waiting:
        place = waiting.pop()
        if place not in wanted:
            wanted.add(place)
            for used in _used(statements[place]):
                waiting += _binding(statements, used, last)
    starred = [place for place, one in enumerate(statements[:last]) if "*" in bound(one)]
    chosen = [statements[place] for place in sorted({*wanted, *starred})]
    return ast.Module(body=chosen, type_ignores=[])


def bound(statement: ast.stmt) -> set[str]:
    """Names that a statement of the notebook binds or changes, "*" for all of a module.

    >>> sorted(bound(ast.parse("a, b[0], c.d = 1, 2, 3").body[0]))
    ['a', 'b', 'c']
    """
    definitions = ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef
    if isinstance(statement, definitions):
        return {statement.name}
    names = set()
    for node in ast.walk(statement):
        if isinstance(node, definitions):
            names.add(node.name)
        elif isinstance(getattr(node, "ctx", None), ast.Store):
            names.add(_root(node))
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return names - {""}


def _root(node: ast.AST) -> str:
    """The name that a target begins with: `a` of `a.b[0]`; "" for a pair, whose parts follow."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _statements(cells: Iterable[str], name: str) -> Iterator[ast.stmt]:
    for cell in cells:
        lines = cell.splitlines()
        code = "\n".join("" if line.lstrip().startswith(COMMAND) else line for line in lines)
        try:
            yield from ast.parse(code).body
        except SyntaxError:
            if f"def {name}" in code or f"{name} =" in code:
                raise


def _used(statement: ast.stmt) -> set[str]:
    """Names of the notebook that a statement reads; not a function's arguments and own names.

    >>> sorted(_used(ast.parse("def f(T, n=k):\\n    total = g(T)\\n    return total").body[0]))
    ['g', 'k']
    """
    nodes = [node for node in ast.walk(statement) if isinstance(node, ast.AugAssign)]
    table = symtable.symtable(ast.unparse(statement), "<answer>", "exec")
    return {*_globals(table), *(_root(node.target) for node in nodes)}


def _globals(table: symtable.SymbolTable) -> Iterator[str]:
    """Names that a scope and those within it take from the notebook, by Python's own rules."""
    outermost = table.get_type() == "module"
    for one in table.get_symbols():
        if one.is_referenced() if outermost else one.is_global():
            yield one.get_name()
    for inner in table.get_children():
        yield from _globals(inner)


def _binding(statements: Sequence[ast.stmt], name: str, last: int) -> list[int]:
    places = [place for place, one in enumerate(statements) if name in bound(one)]
    return [place for place in places if place <= last] or places
