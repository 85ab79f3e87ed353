"""Facts about wrong numbers: told where they hold in every case, and only there."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from calibkit.course import check
from calibkit.course.check import attempt, relations
from calibkit.course.check.attempt import Attempt
from calibkit.course.check.engine import exercise

GENERATOR = torch.Generator().manual_seed(0)


def table(rows, columns):
    return torch.rand(rows, columns, generator=GENERATOR, dtype=torch.float64) + 0.1


TABLES = {
    f"{n} x {k}": (table(n, k), factor) for n, k, factor in ((3, 4, 2.0), (5, 2, 0.5), (4, 4, 3.0))
}


@exercise(cases=TABLES, mistakes={})
def scaled(x, factor):
    """The table times the factor."""
    return x * factor


@exercise(cases=TABLES, mistakes={})
def column_means(x, factor):
    """The mean of each column times the factor, one number for each."""
    return x.mean(dim=0) * factor


def means(x, factor):
    return x.mean(dim=0) * factor


@pytest.mark.parametrize(
    ("asked", "answer", "words"),
    [
        (scaled, lambda x, f: 1.3 * f * x, "each of your numbers is 1.3 times the answer"),
        (scaled, lambda x, f: 2.302585093 * f * x, "ln 10, as if a logarithm had base 10"),
        (scaled, lambda x, f: 1.004 * f * x, "They are close but not equal"),
        (scaled, lambda x, f: f * x * x.shape[0] ** 0.5, "square root of the length of axis 0"),
        (scaled, lambda x, f: f * x / len(x) ** 0.5, "too small by the factor of the square root"),
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
        (scaled, lambda x, f: f * x + x, "this is the answer plus `x`"),
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


@pytest.mark.parametrize("asked", [scaled, column_means])
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
    @exercise(cases={"a": (2.0,)}, mistakes={})
    def itself(x):
        """The number itself."""
        return x

    tried = Attempt(itself, lambda x: 3.0, {"a": np.array(3.0)}, ["a"])
    told = (relations.factor, relations.order, relations.rows, relations.elsewhere)
    assert [one(tried) for one in told] == [None] * 4


def logits_and_labels(steep, seed):
    generator = torch.Generator().manual_seed(seed)
    logits = steep * torch.randn(30, 4, generator=generator, dtype=torch.float64)
    return logits, torch.randint(4, (30,), generator=generator)


@exercise(
    cases={
        f"logits of about {steep}": (*logits_and_labels(steep, seed), T)
        for seed, (steep, T) in enumerate([(5, 2.5), (1, 0.5), (2, 1.0), (3, 1.5), (500, 1.0)])
    },
    mistakes={},
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


OTHER = torch.Generator().manual_seed(1)


def drawn(*shape):
    return torch.rand(*shape, generator=OTHER, dtype=torch.float64)


MASKED = {
    f"{n} numbers": (drawn(n), torch.arange(n) % 3, scale)
    for n, scale in ((5, 2.0), (7, 0.5), (9, 3.0), (6, 1.5))
}
ROWS = {f"{n} rows": (drawn(n, 3),) for n in (4, 6, 5)}


@exercise(cases=MASKED, mistakes={})
def masked_sum(x, kind, scale):
    """The sum of sin(x) where kind is not 0, times scale."""
    return (x.sin() * (kind != 0)).sum() * scale


@exercise(cases=ROWS, mistakes={})
def own_rows(x):
    """The sine of each row's own sum of squares."""
    return x.square().sum(dim=1).sin()


def test_right_answers_pass_in_other_forms():
    assert masked_sum(lambda x, kind, scale: scale * x[kind > 0].sin().sum())
    assert own_rows(lambda x: torch.stack([(row @ row).sin() for row in x]))


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda x, k, s: (x.sin() * (k != 0)).square().sum() * 1.7, "when `scale` changes"),
        (lambda x, k, s: 0.25, "the same whatever it is given"),
    ],
)
def test_what_an_answer_does_not_look_at(answer, words):
    reply = masked_sum(answer)
    assert not reply
    assert words in reply.text


def test_rows_that_depend_on_others_and_rows_that_are_passed_over():
    told = own_rows(lambda x: x.square().sum(dim=1).sin() * (1 + x[:, 0].mean())).text
    assert "other rows of your result change with the first row of `x`" in told
    told = own_rows(lambda x: torch.cat([x[:-1].square().sum(dim=1).cos(), torch.ones(1)])).text
    assert "does not change with the last row of `x`" in told


def test_rows_of_its_own_are_not_blamed():
    assert "rows of your result" not in own_rows(lambda x: x.square().sum(dim=1).cos()).text


def test_a_result_that_follows_the_order_alone_is_not_blamed():
    """The reference does not move with the numbers themselves."""

    def answer(confidence, correct, coverage):
        return (confidence * ~correct).sum()

    assert "of `confidence`" not in check.selective_risk(answer).text


def test_a_slow_answer_is_asked_little(monkeypatch):
    calls = []
    clock = SimpleNamespace(process_time=lambda: 0.1 * len(calls))  # seconds of each call
    monkeypatch.setattr(attempt, "time", clock)
    monkeypatch.setattr(attempt, "PATIENCE", 0.5)

    def answer(x, kind, scale):
        calls.append(x)
        return x.cos().sum() * (kind != 1).sum() ** scale

    assert not masked_sum(answer)
    assert len(calls) <= 2 * len(MASKED) + 5


def test_an_argument_that_tells_two_cases_apart_is_not_called_ignored():
    """All next words alike: the probabilities play no part, but the prefix does."""

    def answer(translations, probs, prefix, words):
        fits = (translations[:, : len(prefix)] == prefix).all(dim=1)
        law = torch.bincount(translations[fits, len(prefix)], minlength=words) > 0
        return law.double() / law.sum()

    assert "when `probs` changes" in check.next_law(answer).text


def test_what_a_rounding_hides_is_not_called_ignored():
    def answer(share, warmup, epochs, scoring):
        return (warmup + (epochs - warmup) * (share + scoring)) // epochs

    told = check.selection_cost(answer).text
    assert "all your numbers are whole" in told
    assert "ignored" not in told


def test_a_share_that_is_fixed_is_called_ignored():
    def answer(confidence, correct, coverage):
        kept = confidence.argsort(descending=True)[: round(0.7 * len(confidence))]
        return 1 - correct[kept].double().mean()

    assert "when `coverage` changes" in check.selective_risk(answer).text
