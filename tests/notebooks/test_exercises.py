"""Every exercise in the notebooks: the stub says "not yet", the folded solution passes."""

import re

import pytest

from calibkit import metrics, recalibration, theory
from calibkit.course import check, checkout, execution
from calibkit.course.classroom import contents

SOLUTION = re.compile(r"<summary>Solution</summary>.*?```python\n(.*?)```", flags=re.DOTALL)


def exercises():
    """(lesson, checker, stub, solution) of each check.NAME(...) in the notebooks, in order."""
    found = []
    for lesson in checkout.lessons():
        cells = execution.read(lesson).cells
        for place, cell in enumerate(cells):
            called = contents.CHECKED.search(cell.source)
            if cell.cell_type == "code" and called:
                found.append((lesson.name, *called.groups(), cell.source, cells[place + 1].source))
    return found


FOUND = exercises()
each = pytest.mark.parametrize(
    ("lesson", "checker", "answer", "stub", "after"),
    FOUND,
    ids=[f"{f[0][:2]}-{f[1]}" for f in FOUND],
)


def run(code, answer):
    import torch

    space = {"torch": torch, "metrics": metrics, "recalibration": recalibration}
    space |= {"check": check, "theory": theory}
    exec(code, space)
    return space[answer]


@each
def test_the_stub_says_not_yet(lesson, checker, answer, stub, after):
    assert repr(check.EXERCISES[checker](run(stub, answer))).startswith("Not yet")


@each
def test_the_folded_solution_passes(lesson, checker, answer, stub, after):
    (solution,) = SOLUTION.findall(after.split("## ")[0])
    reply = check.EXERCISES[checker](run(solution, answer))
    assert reply.passed, reply


@each
def test_a_hint_comes_before_the_solution(lesson, checker, answer, stub, after):
    assert 0 <= after.find("<summary>Hint</summary>") < after.find("<summary>Solution</summary>")


def test_every_checker_is_used_and_every_lesson_has_an_exercise():
    assert {found[1] for found in FOUND} == set(check.EXERCISES)
    assert {found[0] for found in FOUND} == {lesson.name for lesson in checkout.lessons()}


@each
def test_an_exercise_stands_in_the_module_of_its_lesson(lesson, checker, answer, stub, after):
    module = check.EXERCISES[checker].reference.__module__
    assert module == f"calibkit.course.check.lesson_{lesson}"
