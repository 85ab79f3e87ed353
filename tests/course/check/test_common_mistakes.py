"""What each general mistake does, in hand values: the sentence and its function belong together."""

import math

import numpy as np
import pytest
import torch

from calibkit.course.check import common_mistakes

TABLE = torch.tensor([[0.5, 0.2, 0.3], [0.1, 0.6, 0.3]])
ARGUMENTS = {"bins": 7, "probs": TABLE, "labels": torch.tensor([2, 0])}


def only(table, word):
    """The function of the one sentence that starts with, or holds, this word."""
    found = [made for words, made in table.items() if word in words]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize(
    ("word", "factor"),
    [
        ("the sign is reversed.", -1),
        ("100 times too large", 100),
        ("100 times too small", 0.01),
        ("with the number of samples n, as", 2),
        ("number of samples n once too often", 1 / 2),
        ("too large by the number of columns", 3),
        ("divided by the number of columns K", 1 / 3),
        ("divided by both n and K", 1 / 6),
        ("grows with n and with K", 6),
        ("exactly twice", 2),
        ("exactly half", 0.5),
        ("to base 2", 1.442695),
        ("too small by ln 2", 0.693147),
        ("to base 10", 0.4342945),
        ("n - 1 in place", 2),
        ("n + 1 in place", 2 / 3),
    ],
)
def test_factors(word, factor):
    if word == "the sign is reversed.":
        assert common_mistakes.FACTORS[word](ARGUMENTS) == factor
        return
    assert only(common_mistakes.FACTORS, word)(ARGUMENTS) == pytest.approx(factor, rel=1e-6)


def test_minus_one_hundred_and_factors_without_tables():
    assert only(common_mistakes.FACTORS, "minus 100 times")({}) == -100
    vector = {"x": torch.ones(4)}
    assert only(common_mistakes.FACTORS, "with the number of samples n, as")(vector) == 4
    assert math.isnan(only(common_mistakes.FACTORS, "too large by the number of columns")(vector))
    assert math.isnan(only(common_mistakes.FACTORS, "with the number of samples n, as")({"k": 3}))


ENTRIES = [
    ("dropped the sign", [1.5, 2, 0]),
    ("negative results became 0", [0, 2, 0]),
    ("you squared", [2.25, 4, 0]),
    ("1 minus the answer", [2.5, -1, 1]),
    ("1 too large", [-0.5, 3, 1]),
    ("1 too small", [-2.5, 1, -1]),
    ("exponential: a logarithm", [0.22313, 7.38906, 1]),
    ("exponential of minus", [4.48169, 0.13534, 1]),
    ("their order is reversed", [0, 2, -1.5]),
    ("but sorted", [-1.5, 0, 2]),
    ("running sums (cumsum)", [-1.5, 0.5, 0.5]),
    ("the mean over all", 1 / 6),
    ("the sum over all", 0.5),
    ("first of the numbers", -1.5),
    ("last of the numbers", 0),
    ("larger of the numbers", 2),
    ("a softmax of the answer", [0.025909, 0.857977, 0.116115]),
    ("rounded down", [-2, 2, 0]),
    ("rounded up", [-1, 2, 0]),
    ("rounded to a whole", [-2, 2, 0]),
]


@pytest.mark.parametrize(("word", "expected"), ENTRIES)
def test_results(word, expected):
    result = only(common_mistakes.RESULTS, word)(np.array([-1.5, 2.0, 0.0]))
    np.testing.assert_allclose(result, expected, atol=1e-5)


def test_results_of_other_numbers():
    four = np.array([4.0, 0.25])
    np.testing.assert_allclose(only(common_mistakes.RESULTS, "square root")(four), [2, 0.5])
    np.testing.assert_allclose(only(common_mistakes.RESULTS, "1 divided by")(four), [0.25, 4])
    np.testing.assert_allclose(
        only(common_mistakes.RESULTS, "a logarithm that is not")(four),
        [1.386294, -1.386294],
        atol=1e-6,
    )
    third = np.array([1.23456])
    for digits, rounded in ((1, 1.2), (2, 1.23), (3, 1.235), (4, 1.2346)):
        assert only(common_mistakes.RESULTS, f"to {digits} decimal")(third).tolist() == [rounded]


def test_results_that_are_tables():
    table = np.array([[1.0, 2, 6], [3, 4, 8]])
    for word, expected in (
        ("transposed", [[1, 3], [2, 4], [6, 8]]),
        ("the columns stand in reversed", [[6, 2, 1], [8, 4, 3]]),
        ("mean over the rows", [2, 3, 7]),
        ("mean over the columns", [3, 5]),
    ):
        assert only(common_mistakes.RESULTS, word)(table).tolist() == expected
    sums = only(common_mistakes.RESULTS, "a softmax of the answer")(table).sum(1)
    np.testing.assert_allclose(sums, 1)


def test_one_number_has_no_softmax_and_zeros_no_rounding():
    for word, result in (
        ("a softmax of the answer", np.array(0.3)),
        ("divided by their sum", np.array(0.3)),
        ("rounded down", np.array([0.2, 0.7])),
    ):
        with pytest.raises(ValueError, match="cannot be made"):
            only(common_mistakes.RESULTS, word)(result)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("is transposed", [[0.5, 0.1], [0.2, 0.6], [0.3, 0.3]]),
        ("was squared", [[0.25, 0.04, 0.09], [0.01, 0.36, 0.09]]),
        ("largest entries", [[1, 0, 0], [0, 1, 0]]),
        ("columns of `{}` were taken in reversed", [[0.3, 0.2, 0.5], [0.3, 0.6, 0.1]]),
        ("rows of `{}` were taken in reversed", [[0.1, 0.6, 0.3], [0.5, 0.2, 0.3]]),
        ("rows of `{}` were sorted", [[0.2, 0.3, 0.5], [0.1, 0.3, 0.6]]),
        ("moved by one", [[0.3, 0.5, 0.2], [0.3, 0.1, 0.6]]),
        ("last column", [[0.5, 0.2], [0.1, 0.6]]),
        ("first column", [[0.2, 0.3], [0.6, 0.3]]),
    ],
)
def test_tables(word, expected):
    result = only(common_mistakes.TABLES, word)(TABLE)
    torch.testing.assert_close(result, torch.tensor(expected, dtype=result.dtype))


def test_softmaxes_of_tables_sum_to_1_along_their_axis():
    rows = only(common_mistakes.TABLES, "twice flattens")(TABLE)
    columns = only(common_mistakes.TABLES, "dim=0")(TABLE)
    torch.testing.assert_close(rows.sum(1), torch.ones(2, dtype=torch.float64))
    torch.testing.assert_close(columns.sum(0), torch.ones(3, dtype=torch.float64))


def test_whole_numbers_and_vectors():
    whole = torch.tensor([2, 0, 1])
    for word, expected in (
        ("count from 0", [1, -1, 0]),
        ("moved by one.", [3, 1, 2]),
        ("reversed", [1, 0, 2]),
        ("was sorted", [0, 1, 2]),
        ("argsort", [1, 2, 0]),
    ):
        assert only(common_mistakes.WHOLE, word)(whole).tolist() == expected
    vector = torch.tensor([0.25, 0.16, 0.09])
    for word, expected in (
        ("1 minus", [0.75, 0.84, 0.91]),
        ("to sum to 1", [0.5, 0.32, 0.18]),
        ("reversed", [0.09, 0.16, 0.25]),
        ("was sorted", [0.09, 0.16, 0.25]),
        ("was squared", [0.0625, 0.0256, 0.0081]),
        ("square root", [0.5, 0.4, 0.3]),
        ("averaged", [0.5 / 3] * 3),
    ):
        assert only(common_mistakes.FLOATS, word)(vector).tolist() == pytest.approx(expected)


def test_small_changes_of_floats():
    value = torch.tensor([0.0, 0.123456789], dtype=torch.float64)
    for word, expected in (
        ("cut below (clamp) at 0.1,", [0.1, 0.123456789]),
        ("raised by an epsilon of 0.01,", [0.01, 0.133456789]),
        ("rounded to 1 decimal", [0, 0.1]),
        ("rounded to 2 decimals", [0, 0.12]),
        ("half precision", [0, 0.12347412109375]),
        ("in float32", [0, 0.12345679104328156]),
    ):
        result = only(common_mistakes.ANY_FLOATS, word)(value)
        assert result.dtype == torch.float64
        assert result.tolist() == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("{} - 1", 3),
        ("{} + 1", 5),
        ("with 1 - {}", -3),
        ("sign of {}", -4),
        ("1 / {}", 0.25),
        ("twice", 8),
        ("half", 2),
        ("squared", 16),
    ],
)
def test_numbers(word, expected):
    assert only(common_mistakes.NUMBERS, word)(4) == expected


def test_constants_and_epsilons_are_those_that_people_write():
    assert common_mistakes.CONSTANTS == (0, 0.5, 1, 2, 3, 4, 5, 10, 15, 20, 32, 64, 100, 128)
    zero = torch.zeros(1, dtype=torch.float64)
    raised = [
        f(zero).item() for words, f in common_mistakes.ANY_FLOATS.items() if "raised" in words
    ]
    assert raised == [0.1, 0.05, 0.01, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8]


def test_a_sample_left_out():
    made = dict(common_mistakes.of_arguments(ARGUMENTS))
    last, first = made["the last sample was left out."], made["the first sample was left out."]
    kept = [
        way(lambda bins, probs, labels: [*labels.tolist(), bins], ARGUMENTS)
        for way in (last, first)
    ]
    assert kept == [[2, 7], [0, 7]]


def test_other_values_of_an_argument():
    assert list(common_mistakes.others("k", {"k": 4})) == [5, 8]
    assert list(common_mistakes.others("x", {"x": 4.0})) == [5.0, 2.0]
    assert len(list(common_mistakes.others("labels", ARGUMENTS))) == 3
    rolled, mixed, turned = common_mistakes.others("probs", ARGUMENTS)
    assert torch.equal(turned, torch.stack([TABLE[0].flip(0), TABLE[1]]))
    assert torch.equal(rolled, TABLE.flip(0))
    torch.testing.assert_close(mixed[0], torch.tensor([0.416667, 0.266667, 0.316667]))
