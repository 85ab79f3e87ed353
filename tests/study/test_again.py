"""Tables of new seeds."""

import pytest
from study import asking

from calibkit.course.experiments import again, answers


def test_the_seeds_are_not_those_of_the_first_tables():
    assert not set(asking.SEEDS) & set(answers.stored().seed)


@pytest.mark.parametrize("name", list(again.NAMES))
def test_a_stored_table_has_all_new_seeds(name):
    assert sorted(again.stored(name).seed.unique()) == list(asking.SEEDS)


@pytest.mark.parametrize("call", [again.path, again.stored])
def test_another_name_is_refused(call):
    with pytest.raises(ValueError, match="name"):
        call("words")
