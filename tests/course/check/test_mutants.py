"""Every small change of a folded solution that matters on the cases' domain is refused."""

import ast
import contextlib
import io
import warnings

import numpy as np
import pytest
import torch

from calibkit.course import check
from calibkit.course.check import engine, running
from calibkit.course.check.hints import close
from tests.course.classroom.course import CHECKED
from tests.notebooks.test_exercises import run

# fmt: off
OPERATORS = {
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult, ast.FloorDiv), ast.FloorDiv: (ast.Div,), ast.Pow: (ast.Mult,),
    ast.MatMult: (ast.Mult,), ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,),
}
NAMES = {
    "argmax": "argmin", "argmin": "argmax", "amax": "amin", "max": "min", "mean": "sum",
    "sum": "mean", "abs": "square", "log": "exp", "exp": "log", "round": "int", "nansum": "sum",
}
# fmt: on


def changes(node):
    """Nodes that may stand in the place of this one."""
    if isinstance(node, ast.BinOp):
        for operator in OPERATORS.get(type(node.op), ()):
            yield ast.BinOp(node.left, operator(), node.right)
        yield ast.BinOp(node.right, node.op, node.left)
        yield node.left
        yield node.right
    if isinstance(node, ast.Compare):
        for operator in OPERATORS.get(type(node.ops[0]), ()):
            yield ast.Compare(node.left, [operator()], node.comparators)
    if isinstance(node, ast.UnaryOp):
        yield node.operand
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield from (ast.Constant(node.value + 1), ast.Constant(node.value - 1))
    if isinstance(node, ast.Constant) and node.value is None:
        yield ast.Constant(0)
    if isinstance(node, ast.Attribute) and node.attr in NAMES:
        yield ast.Attribute(node.value, NAMES[node.attr], node.ctx)
    if isinstance(node, ast.Name) and node.id in NAMES:
        yield ast.Name(NAMES[node.id], node.ctx)
    if isinstance(node, ast.Call):
        for i in range(len(node.keywords)):
            yield ast.Call(node.func, node.args, node.keywords[:i] + node.keywords[i + 1 :])
        if isinstance(node.func, ast.Attribute) and not node.args and not node.keywords:
            yield node.func.value
    if isinstance(node, ast.Tuple) and len(node.elts) == 2:
        yield ast.Tuple(node.elts[::-1], node.ctx)


def mutants(source):
    """The source with one node exchanged, or one statement left out."""
    count = sum(1 for _ in ast.walk(ast.parse(source)))
    for place in range(count):
        for choice in range(len(list(changes([*ast.walk(ast.parse(source))][place])))):
            tree = ast.parse(source)
            old = [*ast.walk(tree)][place]
            yield unparsed(tree, old, list(changes(old))[choice])
    tree = ast.parse(source)
    body = next(node for node in tree.body if isinstance(node, ast.FunctionDef)).body
    for line in range(len(body) - 1):
        left_out = body.pop(line)
        yield ast.unparse(tree)
        body.insert(line, left_out)


def unparsed(tree, old, new):
    class Exchange(ast.NodeTransformer):
        def visit(self, node):
            return new if node is old else self.generic_visit(node)

    return ast.unparse(ast.fix_missing_locations(Exchange().visit(tree)))


def draw(arguments, random):
    """Other arguments of the same kind: the domain on which two functions are compared."""
    return {name: drawn(name, value, random) for name, value in arguments.items()}


def drawn(name, value, random):
    if isinstance(value, float):
        return value * random.uniform(0.8, 1.2)
    if isinstance(value, int):
        return value if name == "classes" else max(1, round(value * random.uniform(0.5, 2)))
    array = value.numpy()
    if not value.is_floating_point():
        return torch.from_numpy(random.permutation(array))
    if name in ("probs", "posterior", "transition"):
        return torch.from_numpy(2 * random.normal(size=array.shape)).to(value.dtype).softmax(-1)
    top = 0.98 if name in ("p", "confidence") else np.inf
    scaled = (array * random.uniform(0.5, 1.5, array.shape)).clip(max=top)
    return torch.from_numpy(scaled).to(value.dtype)


def brute(function, exercise):
    """Results on the cases and on drawn arguments, or the error's type where it raises."""
    results, random = [], np.random.default_rng(0)
    for arguments in exercise.inputs.values():
        for tried in (arguments, *(draw(arguments, random) for _ in range(3))):
            try:
                copies = [running._copy(value) for value in tried.values()]
                results.append(running.numbers(function(*copies)))
            except Exception as error:
                results.append(type(error).__name__)
    return results


def same(one, other):
    """Whether all results are the same, or raise, whatever the error."""
    for a, b in zip(one, other, strict=True):
        if isinstance(a, str) or isinstance(b, str):
            if type(a) is not type(b):
                return False
        elif not close(a, b, 1e-4, 1e-4):
            return False
    return True


def tried(name, function_name, source):
    """(mutants that change the function, those of them that pass the checker)."""
    exercise, original = check.EXERCISES[name], run(source, function_name)
    right = brute(original, exercise)
    refused, passed = 0, []
    for mutant in dict.fromkeys(mutants(source)):
        with contextlib.redirect_stdout(io.StringIO()):
            function = run(mutant, function_name)
            if not exercise(function):
                refused += 1
            elif not same(right, brute(function, exercise)):
                passed.append(mutant)
    return refused + len(passed), passed


@pytest.mark.parametrize("name", CHECKED)
def test_nearly_every_mutant_of_a_solution_is_refused(name, monkeypatch):
    monkeypatch.setattr(engine, "hint", lambda attempt: None)  # it takes the time, and is not asked
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        differing, passed = tried(name, CHECKED[name].function, CHECKED[name].solution)
    assert differing >= 3  # a solution of one line
    assert len(passed) <= max(1, 0.05 * differing), "\n\n".join(passed)
