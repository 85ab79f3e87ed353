"""What a lesson is told where the table of an experiment is not there."""

import pytest

from calibkit.course.experiments import tables


@pytest.mark.parametrize(
    ("dataset", "command"),
    [(None, "reproduce text --scale gpu$"), ("sst2", "reproduce text --scale gpu --dataset sst2$")],
)
def test_the_command_that_makes_a_table_is_complete(dataset, command, tmp_path):
    with pytest.raises(FileNotFoundError, match=command):
        tables.stored("text", "gpu", tmp_path, dataset=dataset)
