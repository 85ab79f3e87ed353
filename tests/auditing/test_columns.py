"""Every file of the collection is read rightly, or refused with the option that then reads it."""

import numpy as np
import pytest

from calibkit.auditing import files
from calibkit.auditing.scores import scores_of
from tests.auditing.collection import CASES, Truth, numbers


def probabilities(given):
    """(n, K) probabilities, labels, and whether column 1 is what is judged."""
    scores, _ = scores_of(given.scores, given.kind)
    matrix = np.concatenate([block.softmax(1) if scores.kind == "logits" else block
                             for _, block in scores.blocks()])  # fmt: skip
    return matrix, np.asarray(given.labels), scores.event


def check(path, truth: Truth, **options):
    matrix, labels, event = probabilities(files.read(path, **options))
    assert matrix == pytest.approx(truth.probs, abs=1e-12)
    assert labels.tolist() == truth.labels.tolist()
    assert event == truth.event
    assert numbers(matrix, labels, event) == pytest.approx(truth.numbers(), abs=1e-9)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_collection(case, tmp_path):
    path = tmp_path / case.name
    case.make(path)
    if case.asks:
        with pytest.raises(ValueError) as refused:  # noqa: PT011
            files.read(path)
        said = str(refused.value)
        assert all(ask in said for ask in case.asks), said
        assert len(said) < 2500
    if case.options or not case.asks:
        check(path, case.truth, **case.options)


def test_a_column_that_is_not_there_is_answered_with_the_nearest_name(tmp_path):
    path = tmp_path / "loans.csv"
    path.write_text("score,label,exposure\n.2,0,1\n.8,1,2\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"no column 'expo' .*; did you mean 'exposure'\?"):
        files.read(path, beside=["expo"])
    with pytest.raises(ValueError, match=r"no column 'xyz' among \[[^\]]*\]$"):
        files.read(path, beside=["xyz"])


def test_a_column_that_says_what_is_wrong_is_never_read_as_what_is_right(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("wrong,p_0,p_1\n1,.2,.8\n0,.7,.3\n", encoding="utf-8")
    with pytest.raises(ValueError, match="write it the other way round"):
        files.read(path, label="wrong")
