"""What each general mistake does, in hand values: the sentence and its function belong together."""

import math

import numpy as np
import pytest
import torch

from calibkit.course.check import common_mistakes

TABLE = torch.tensor([[0.5, 0.2, 0.3], [0.1, 0.6, 0.3]])
ARGUMENTS = {"bins": 7, "probs": TABLE, "labels": torch.tensor([2, 0])}
THREE, FOUR, PLACES = np.array([-1.5, 2.0, 0.0]), np.array([4.0, 0.25]), np.array([1.23456])
SIX = np.array([[1.0, 2, 6], [3, 4, 8]])
WHOLE, FLOATS = torch.tensor([2, 0, 1]), torch.tensor([0.25, 0.16, 0.09])
DOUBLES = torch.tensor([0.0, 0.123456789], dtype=torch.float64)

# fmt: off
MADE = {  # table: what goes in, then of some sentences a part and what comes out
    "FACTORS": [
        (ARGUMENTS, {"the sign is reversed.": -1, "100 times too large": 100,
            "100 times too small": 0.01, "with the number of samples n, as": 2,
            "number of samples n once too often": 1 / 2,
            "too large by the number of columns": 3, "divided by the number of columns K": 1 / 3,
            "divided by both n and K": 1 / 6, "grows with n and with K": 6, "exactly twice": 2,
            "exactly half": 0.5, "to base 2": 1.442695, "too small by ln 2": 0.693147,
            "to base 10": 0.4342945, "n - 1 in place": 2, "n + 1 in place": 2 / 3,
            "minus 100 times": -100}),
        ({"x": torch.ones(4)}, {"with the number of samples n, as": 4,
            "too large by the number of columns": math.nan}),
        ({"k": 3}, {"with the number of samples n, as": math.nan})],
    "RESULTS": [
        (THREE, {"dropped the sign": [1.5, 2, 0], "negative results became 0": [0, 2, 0],
            "you squared": [2.25, 4, 0], "1 minus the answer": [2.5, -1, 1],
            "1 too large": [-0.5, 3, 1], "1 too small": [-2.5, 1, -1],
            "exponential: a logarithm": [0.22313, 7.38906, 1],
            "exponential of minus": [4.48169, 0.13534, 1], "their order is reversed": [0, 2, -1.5],
            "but sorted": [-1.5, 0, 2], "running sums (cumsum)": [-1.5, 0.5, 0.5],
            "the mean over all": 1 / 6, "the sum over all": 0.5, "first of the numbers": -1.5,
            "last of the numbers": 0, "larger of the numbers": 2,
            "a softmax of the answer": [0.025909, 0.857977, 0.116115], "rounded down": [-2, 2, 0],
            "rounded up": [-1, 2, 0], "rounded to a whole": [-2, 2, 0]}),
        (FOUR, {"square root": [2, 0.5], "1 divided by": [0.25, 4],
            "a logarithm that is not": [1.386294, -1.386294]}),
        (PLACES, {"to 1 decimal": 1.2, "to 2 decimal": 1.23, "to 3 decimal": 1.235,
            "to 4 decimal": 1.2346}),
        (SIX, {"transposed": [[1, 3], [2, 4], [6, 8]], "mean over the rows": [2, 3, 7],
            "mean over the columns": [3, 5],
            "the columns stand in reversed": [[6, 2, 1], [8, 4, 3]]})],
    "TABLES": [
        (TABLE, {"is transposed": [[0.5, 0.1], [0.2, 0.6], [0.3, 0.3]],
            "was squared": [[0.25, 0.04, 0.09], [0.01, 0.36, 0.09]],
            "largest entries": [[1, 0, 0], [0, 1, 0]],
            "columns of `{}` were taken in reversed": [[0.3, 0.2, 0.5], [0.3, 0.6, 0.1]],
            "rows of `{}` were taken in reversed": [[0.1, 0.6, 0.3], [0.5, 0.2, 0.3]],
            "rows of `{}` were sorted": [[0.2, 0.3, 0.5], [0.1, 0.3, 0.6]],
            "moved by one": [[0.3, 0.5, 0.2], [0.3, 0.1, 0.6]],
            "last column": [[0.5, 0.2], [0.1, 0.6]], "first column": [[0.2, 0.3], [0.6, 0.3]]})],
    "WHOLE": [
        (WHOLE, {"count from 0": [1, -1, 0], "moved by one.": [3, 1, 2], "reversed": [1, 0, 2],
            "was sorted": [0, 1, 2], "argsort": [1, 2, 0]})],
    "FLOATS": [
        (FLOATS, {"1 minus": [0.75, 0.84, 0.91], "to sum to 1": [0.5, 0.32, 0.18],
            "reversed": [0.09, 0.16, 0.25], "was sorted": [0.09, 0.16, 0.25],
            "was squared": [0.0625, 0.0256, 0.0081], "square root": [0.5, 0.4, 0.3],
            "averaged": [0.5 / 3] * 3})],
    "ANY_FLOATS": [
        (DOUBLES, {"cut below (clamp) at 0.1,": [0.1, 0.123456789],
            "raised by an epsilon of 0.01,": [0.01, 0.133456789], "rounded to 1 decimal": [0, 0.1],
            "rounded to 2 decimals": [0, 0.12], "half precision": [0, 0.12347412109375],
            "in float32": [0, 0.12345679104328156]})],
    "NUMBERS": [
        (4, {"{} - 1": 3, "{} + 1": 5, "with 1 - {}": -3, "sign of {}": -4, "1 / {}": 0.25,
            "twice": 8, "half": 2, "squared": 16})],
}
# fmt: on


def only(table, words):
    """The function of the one sentence that is these words, or holds them."""
    found = {said: made for said, made in getattr(common_mistakes, table).items() if words in said}
    assert words in found or len(found) == 1
    return found.get(words, next(iter(found.values())))


@pytest.mark.parametrize("table", MADE)
def test_what_a_mistake_makes_of_a_value(table):
    for value, sentences in MADE[table]:
        for words, expected in sentences.items():
            made = np.asarray(only(table, words)(value), dtype=float)
            limit = 1e-15 if value is DOUBLES else 1e-5
            np.testing.assert_allclose(made, expected, atol=limit, rtol=1e-6, err_msg=words)


def test_a_softmax_has_its_axis():
    for words, axis in (("twice flattens", 1), ("dim=0", 0)):
        sums = only("TABLES", words)(TABLE).sum(axis)
        torch.testing.assert_close(sums, torch.ones_like(sums))
    np.testing.assert_allclose(only("RESULTS", "a softmax of the answer")(SIX).sum(1), 1)


@pytest.mark.parametrize(
    ("words", "value"),
    [("a softmax of the answer", 0.3), ("divided by their sum", 0.3), ("rounded down", [0.2, 0.7])],
)
def test_one_number_has_no_softmax_and_zeros_no_rounding(words, value):
    with pytest.raises(ValueError, match="cannot be made"):
        only("RESULTS", words)(np.array(value))


def test_what_is_no_probability_is_not_kept_away_from_its_ends():
    for wrong in ([0.5, 2.0], [-0.5, 0.5]):
        with pytest.raises(ValueError, match="no probabilities"):
            only("ANY_FLOATS", "kept away from 0 and 1 by 0.01,")(torch.tensor(wrong))


def test_a_sample_left_out():
    made = dict(common_mistakes.of_arguments(ARGUMENTS))
    for place, kept in (("last", [2, 7]), ("first", [0, 7])):
        way = made[f"the {place} sample was left out."]
        assert way(lambda bins, probs, labels: [*labels.tolist(), bins], ARGUMENTS) == kept


def test_other_values_of_an_argument():
    assert list(common_mistakes.others("k", {"k": 4})) == [5, 8]
    assert list(common_mistakes.others("x", {"x": 4.0})) == [5.0, 2.0]
    assert len(list(common_mistakes.others("labels", ARGUMENTS))) == 3
    rolled, mixed, turned = common_mistakes.others("probs", ARGUMENTS)
    assert torch.equal(turned, torch.stack([TABLE[0].flip(0), TABLE[1]]))
    assert torch.equal(rolled, TABLE.flip(0))
    torch.testing.assert_close(mixed[0], torch.tensor([0.416667, 0.266667, 0.316667]))
