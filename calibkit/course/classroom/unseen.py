"""Cases that a notebook does not show, and the library's functions that an answer may not call."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from calibkit import theory
from calibkit.course.check.engine import Exercise
from calibkit.course.check.running import numbers

CASES, TRIES = 3, 20  # hidden cases, and draws until one is valid
ORDINARY = 3  # the first cases of an exercise are ordinary, and vary best
# Functions that the reference does not call and that do the exercise's work all the same.
AS_GOOD = {"strange_auroc": ["calibkit.metrics:auroc"]}
OTHER_DOOR = "_of"  # the same measure from confidences and hits: metrics.ece and metrics.ece_of


def _optimal_rows(generator: torch.Generator) -> tuple[Tensor, float]:
    """Rows that some posterior leads to: not all rows are such."""
    posterior = torch.randn(6, 4, generator=generator, dtype=torch.float64).softmax(dim=1)
    weight = 0.2 + torch.rand((), generator=generator).item()
    return theory.penalty_minimiser(posterior, weight), weight


def _rates(generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Logits (rates, n, classes), each too steep by a factor and noisy, and their labels."""
    law = 2 * torch.randn(200, 4, generator=generator, dtype=torch.float64)
    labels = law.softmax(dim=1).multinomial(1, generator=generator)[:, 0]
    noise = torch.randn(3, 200, 4, generator=generator, dtype=torch.float64)
    spread = 0.2 + torch.rand(3, 1, 1, generator=generator, dtype=torch.float64)
    steep = torch.tensor([0.5, 1.5, 4.0], dtype=torch.float64)[:, None, None]
    return steep * (law + spread * noise), labels


# Exercises whose arguments must fit each other, with a way to draw some.
DRAWN = {"penalty_posterior": _optimal_rows, "own_best": _rates}


def cases(exercise: Exercise, seed: int) -> dict[str, tuple]:
    """Arguments that stand in no file: those of the ordinary cases, changed at random.

    Rows are in another order, probabilities have another sharpness, other numbers are scaled; whole
    numbers, such as labels and counts of bins, stay what they are where there are tensors.
    """
    generator = torch.Generator().manual_seed(seed)
    shown, hidden = list(exercise.cases.values())[:ORDINARY], {}
    draw = DRAWN.get(exercise.name)
    for number in range(CASES):
        drawn = draw(generator) if draw else _valid(exercise, shown[number % len(shown)], generator)
        if drawn is not None:
            hidden[f"a case that the notebook does not show ({number + 1})"] = drawn
    return hidden


def extended(exercise: Exercise, seed: int) -> Exercise:
    """The exercise with its own cases, then hidden ones."""
    return replace(exercise, cases={**exercise.cases, **cases(exercise, seed)})


def _valid(exercise: Exercise, case: tuple, generator: torch.Generator) -> tuple | None:
    """The first draw on which the reference gives finite numbers."""
    for _ in range(TRIES):
        drawn = _changed(case, generator)
        try:
            result = numbers(exercise.reference(*drawn))
        except Exception:  # outside of what the exercise is about
            continue
        if torch.from_numpy(result).isfinite().all():
            return drawn
    return None


def _changed(case: tuple, generator: torch.Generator) -> tuple:
    """Rows of equally long tensors move together; then values change."""
    lengths = {len(value) for value in case if isinstance(value, Tensor) and value.ndim}
    orders = {length: torch.randperm(length, generator=generator) for length in sorted(lengths)}
    power = 0.7 + 0.6 * torch.rand((), generator=generator).item()
    step = int(torch.randint(1, 20, (), generator=generator)) * (not lengths)

    def varied(value):
        if isinstance(value, Tensor) and value.ndim:
            return _sharpened(value[orders[len(value)]], power)
        if isinstance(value, int) and not isinstance(value, bool):
            return value + step
        return value**power if isinstance(value, float) and step and 0 < value < 1 else value

    return tuple(map(varied, case))


def _sharpened(value: Tensor, power: float) -> Tensor:
    """Probabilities to a power, rows that summed to 1 again so; other numbers scaled."""
    if not value.is_floating_point():
        return value
    if value.min() < 0 or value.max() > 1:
        return value * power
    sums = value.double().sum(-1, keepdim=True)
    raised = value.double() ** power
    if torch.allclose(sums, torch.ones_like(sums), atol=1e-4):
        raised = raised / raised.sum(-1, keepdim=True)
    return raised.to(value.dtype)


def withheld(exercise: Exercise, solution: str) -> list[str]:
    """Functions of calibkit that the reference calls and the notebook's solution does not.

    They are the library's own answer, as "calibkit.metrics:ece". What the solution uses may be
    used.
    """
    module = sys.modules[exercise.reference.__module__]
    nodes = list(ast.walk(ast.parse(solution)))
    allowed = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    allowed |= {node.id for node in nodes if isinstance(node, ast.Name)}
    called = dict.fromkeys(_reached(module, inspect.unwrap(exercise.reference).__name__))
    withheld = []
    for name in called:
        home, _, attribute = name.partition(":")
        if attribute not in allowed:
            withheld.append(name)
            if hasattr(sys.modules[home], attribute + OTHER_DOOR):
                withheld.append(name + OTHER_DOOR)
    return withheld + AS_GOOD.get(exercise.name, [])


def _reached(module, name: str, seen: frozenset[str] = frozenset()) -> Iterator[str]:
    """Names of the package that a function of a lesson's checkers uses, and its helpers use."""
    found = ast.parse(inspect.getsource(module)).body
    tree = next((x for x in found if isinstance(x, ast.FunctionDef) and x.name == name), None)
    if tree is None:
        return
    tree.decorator_list = []  # which hold the mistakes
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for used in sorted(names - seen - {name}):
        value = getattr(module, used, None)
        home = getattr(value, "__module__", None) or ""
        if inspect.ismodule(value) and value.__name__.startswith("calibkit."):
            taken = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))
            yield from (
                f"{value.__name__}:{node.attr}"
                for node in taken
                if getattr(node.value, "id", None) == used
            )
        elif home == module.__name__ and inspect.isfunction(value):
            yield from _reached(module, used, seen | {name, used})
        elif home.startswith("calibkit.") and not home.startswith("calibkit.course.check"):
            yield f"{home}:{used}"
