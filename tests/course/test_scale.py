"""Budgets grow with the scale, and an unknown scale is refused with the known ones."""

import pytest

from calibkit.course.scale import BUDGETS, budget


def test_budgets_grow_with_the_scale():
    assert list(BUDGETS) == ["smoke", "laptop", "night", "gpu", "paper"]
    budgets = [budget(scale) for scale in BUDGETS]
    for field in ("train", "test", "epochs", "seeds", "draws"):
        values = [getattr(b, field) for b in budgets]
        assert values == sorted(values)
    assert all(b.seeds >= 2 for b in budgets)  # a verdict needs two differences


@pytest.mark.parametrize("scale", ["", "Laptop", None, 3])
def test_an_unknown_scale_is_refused_by_name(scale):
    with pytest.raises(ValueError, match="SCALE must be one of 'smoke'"):
        budget(scale)
