"""Budgets grow with the scale; a figure of a lesson has the look of the course."""

import matplotlib.pyplot as plt

from calibkit.course.scale import BUDGETS, begin, budget


def test_budgets_grow_with_the_scale():
    assert list(BUDGETS) == ["smoke", "laptop", "night", "gpu", "paper"]
    budgets = [budget(scale) for scale in BUDGETS]
    for field in ("train", "test", "epochs", "seeds", "draws"):
        values = [getattr(b, field) for b in budgets]
        assert values == sorted(values)
    assert all(b.seeds >= 2 for b in budgets)  # a verdict needs two differences


def test_a_lesson_begins_with_the_look_of_the_course():
    with plt.rc_context():
        plt.rcdefaults()
        begin("smoke", device="cpu")
        assert plt.rcParams["axes.grid"]
