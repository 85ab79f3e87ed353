"""Facts about wrong numbers: told where they hold in every case, and only there."""

import numpy as np
import pytest
import torch

from calibkit.course import check
from calibkit.course.check import relations
from calibkit.course.check.engine import exercise

GENERATOR = torch.Generator().manual_seed(0)


def table(rows, columns):
    return torch.rand(rows, columns, generator=GENERATOR, dtype=torch.float64) + 0.1


def drawn(groups):
    return torch.tensor(groups), torch.rand(len(groups), generator=GENERATOR).double() + 0.5


TABLES = {
    f"{n} x {k}": (table(n, k), factor) for n, k, factor in ((3, 4, 2.0), (5, 2, 0.5), (4, 4, 3.0))
}
GROUPS = {"a": drawn([0, 1, 1, 2]), "b": drawn([1, 0, 0, 0, 1]), "c": drawn([2, 2, 2, 1, 0, 0])}


@exercise(cases=TABLES, mistakes=[])
def scaled(x, factor):
    """The table times the factor."""
    return x * factor


@exercise(cases=TABLES, mistakes=[])
def column_means(x, factor):
    """The mean of each column times the factor, one number for each."""
    return x.mean(dim=0) * factor


@exercise(cases=GROUPS, mistakes=[])
def group_means(groups, x):
    """The mean of each group."""
    return torch.bincount(groups, x) / torch.bincount(groups)


def means(x, factor):
    return x.mean(dim=0) * factor


@pytest.mark.parametrize(
    ("asked", "answer", "words"),
    [
        (scaled, lambda x, f: 1.3 * f * x, "each of your numbers is 1.3 times the answer"),
        (scaled, lambda x, f: 2.302585093 * f * x, "ln 10, as if a logarithm had base 10"),
        (scaled, lambda x, f: 1.004 * f * x, "They are close but not equal"),
        (scaled, lambda x, f: f * x * x.shape[0] ** 0.5, "square root of the length of axis 0"),
        (scaled, lambda x, f: f * x / x.shape[1] * len(x), "axis 0 of `x` divided by the length"),
        (scaled, lambda x, f: x * f * f**0.5, "too large by the factor of the square root of `fac"),
        (scaled, lambda x, f: (x * f).flatten().roll(3).view(x.shape), "at other places"),
        (
            scaled,
            lambda x, f: torch.where(x * f > 0.8, 1 - x * f, x * f),
            "each of them is 1 minus",
        ),
        (scaled, lambda x, f: (x * f).amax(dim=1), "the largest of the right numbers along axis 1"),
        (scaled, lambda x, f: (x * f).round() * 2, "all your numbers are whole"),
        (column_means, lambda x, f: x * f, "the answer is the mean of your numbers along axis 0"),
        (
            column_means,
            lambda x, f: means(x, f).amin(),
            "the smallest of the right numbers along ax",
        ),
    ],
)
def test_a_relation_is_told(asked, answer, words):
    reply = asked(answer)
    assert not reply
    assert words in reply.text


@pytest.mark.parametrize("asked", [scaled, column_means, group_means])
def test_right_answers_pass(asked):
    assert asked(asked.reference)
    assert asked(lambda *arguments: asked.reference(*arguments).float())


def test_a_relation_that_holds_in_one_case_only_is_not_told():
    def answer(x, factor):
        return x * factor * (1.3 if len(x) == 3 else 1.0 + x[0, 0])

    told = scaled(answer).text
    assert "times the answer" not in told
    assert "by the factor" not in told


def test_n_minus_1_is_told_with_one_row():
    """Where n is 1, an answer that takes care of it is right."""

    def answer(probs, posterior):
        squares = (probs - posterior).square().sum(dim=1)
        return squares.sum() / max(1, len(squares) - 1)

    assert "divided by n - 1" in check.avoidable_brier(answer).text


def test_what_holds_of_few_numbers_is_not_told():
    expected, given = {"a": np.array(2.0)}, {"a": np.array(3.0)}
    attempt = relations.Attempt(None, None, [], {"a": {}}, expected, given, ["a"], 1e-5, 1e-5)
    told = (relations.factor, relations.order, relations.rows, relations.elsewhere)
    assert [one(attempt) for one in told] == [None] * 4


@pytest.mark.parametrize(
    ("asked", "answer", "words"),
    [
        (scaled, lambda x, f: f * x + x, "this is the answer plus `x`"),
    ],
)
def test_what_stands_in_the_place_of_something_else_is_told(asked, answer, words):
    assert words in asked(answer).text


def logits_and_labels(steep, seed):
    generator = torch.Generator().manual_seed(seed)
    logits = steep * torch.randn(30, 4, generator=generator, dtype=torch.float64)
    return logits, torch.randint(4, (30,), generator=generator)


@exercise(
    cases={
        f"logits of about {steep}": (*logits_and_labels(steep, seed), T)
        for seed, (steep, T) in enumerate([(5, 2.5), (1, 0.5), (2, 1.0), (3, 1.5), (500, 1.0)])
    },
    mistakes=[],
)
def cooled_nll(logits, labels, T):
    return torch.nn.functional.cross_entropy(logits / T, labels)


def test_two_things_are_told_where_one_of_them_is_nan():
    """Base 2 shows in ordinary cases, an exponential that overflows in others."""

    def answer(logits, labels, T):
        p = (logits / T).softmax(dim=1)
        return -p.gather(1, labels[:, None]).log2().mean()

    told = cooled_nll(answer).text
    assert "the logarithm to base 2" in told
    assert "Besides, your result is infinite where numbers are large" in told


def test_a_sign_that_no_mistake_of_its_own_reversed_is_not_called_one():
    def squares(probs, posterior):
        return (probs.square() - posterior.square()).sum(dim=1).mean()

    told = check.avoidable_brier(squares).text
    assert "you compared how unsure the two are" in told
    assert "the sign is reversed" not in told


def test_what_is_too_small_for_float32_is_shown_in_figures():
    def answer(words, start, moves, says):
        start, moves, says = start.float(), moves.float(), says.float()
        forward = start * says[:, words[0]]
        for word in words[1:]:
            forward = (forward @ moves) * says[:, word]
        return forward.sum()

    told = check.note_probability(answer).text
    assert "too small for float32" in told
    assert "e-46, yours is 0." in told
