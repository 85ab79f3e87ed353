"""Every exercise in code: its stub says "not yet", its hint comes first, its lesson has its module.

That the folded solution passes is tested in `tests/course/classroom/test_unseen.py`.
"""

import pytest
import torch

from calibkit import metrics, recalibration, theory
from calibkit.course import check
from tests.course.classroom.course import CHECKED, LESSONS, PROSE

each = pytest.mark.parametrize("task", CHECKED.values(), ids=CHECKED)


def run(code, answer):
    space = {"torch": torch, "metrics": metrics, "recalibration": recalibration}
    space |= {"check": check, "theory": theory}
    exec(code, space)
    return space[answer]


@each
def test_the_stub_says_not_yet(task):
    reply = check.EXERCISES[task.checker](run(task.stub, task.function))
    assert repr(reply).startswith("Not yet")


@each
def test_a_hint_comes_before_the_solution(task):
    after = PROSE[task.lesson].partition(f"### Exercise: {task.title}")[2]
    assert 0 <= after.find("<summary>Hint</summary>") < after.find("<summary>Solution</summary>")


@each
def test_it_stands_in_the_module_of_its_lesson(task):
    module = check.EXERCISES[task.checker].reference.__module__
    assert module == f"calibkit.course.check.lesson_{task.lesson}"


def test_every_lesson_has_one():
    assert {task.lesson for task in CHECKED.values()} == set(LESSONS)
