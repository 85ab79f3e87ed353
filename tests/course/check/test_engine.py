"""What a reply says of answers that are strange, broken, endless or nearly right."""

import functools
import re
from contextlib import suppress
from dataclasses import FrozenInstanceError
from fractions import Fraction

import numpy as np
import pytest
import torch
from scipy.special import lambertw
from torch.nn.functional import one_hot

from calibkit.course import check
from calibkit.course.check import engine, running


def gap(p, y):
    return p.amax(1).double().mean() - (p.argmax(1) == y).double().mean()


def bins_of(c, bins):
    return torch.bucketize(c.double(), torch.arange(1, bins).double() / bins)


def said(name, answer):
    reply = check.EXERCISES[name](answer)
    assert reply.passed is False
    return reply.text


# The forms of an answer


# fmt: off
@pytest.mark.parametrize("form", [
    lambda rows: rows.tolist(),
    lambda rows: tuple(map(tuple, rows.tolist())),
    lambda rows: [[entry.clone().requires_grad_() for entry in row] for row in rows],
    lambda rows: rows.clone().requires_grad_(),
    lambda rows: np.asmatrix(rows.numpy()),
])
def test_tables_in_any_form_are_taken(form):
    assert check.noise_matrix(lambda p: form(torch.diag(1 - p) + p[:, None] * p / p.sum()))

@pytest.mark.parametrize(
    "kind", [np.float32, Fraction, torch.tensor, lambda x: [x], lambda x: np.array([[x]])])
def test_one_number_in_any_form_is_taken(kind):
    reply = check.signed_gap(lambda p, y, scale=1: kind(float(gap(p, y))))
    assert repr(reply) == "Correct: signed_gap agrees on all 11 cases."
    assert bool(reply) is True

def no_return(probs, labels):
    if len(labels) > 1:
        return gap(probs, labels)

def spoils(probs, labels):
    found = gap(probs, labels)
    probs.zero_()
    return found

def spoils_labels(probs, labels):
    found = gap(probs, labels)
    labels += 1
    return found

def own_line(probs, labels):
    return torch.stack([]).mean()

def calls_itself(probs, labels):
    return calls_itself(probs, labels)

def not_written(probs, labels):
    raise NotImplementedError

def written_later(probs, labels):
    raise NotImplementedError("later")

def with_message(probs, labels):
    raise ValueError("no luck.\nmore")

def without_message(probs, labels):
    raise ValueError

def beside_the_diagonal(p):
    table = check.noise_matrix.reference(p).clone()
    table[1, 0] += 0.05
    table[1, -1] -= 0.05
    return table

def one_of_many(confidence, bins):
    numbers = bins_of(confidence, bins).tolist()
    return [*numbers[:56], 99, *numbers[57:]] if bins == 100 else numbers

def nothing_of_many(confidence, bins):
    return [float("nan") if k == 99 else k for k in one_of_many(confidence, bins)]

def one_too_many(confidence, bins):
    found = bins_of(confidence, bins).tolist()
    return found if len(found) < 100 else [*found[:50], 49, *found[50:]]

CHANCE = np.random.default_rng(0)
SAID = [  # exercise, answer, what its reply holds
    # the call
    ("brier", 0.3, "Pass the function itself, check.brier(your_function), not its result (float)."),
    ("signed_gap", lambda p: 0, "takes (p), but it is called with 2 argument(s): (probs, labels)"),
    ("signed_gap", lambda labels, probs: gap(probs, labels),
        "(labels, probs), but it is called with (probs, labels), in this order"),
    ("signed_gap", spoils, "changes its argument `probs`"),
    ("signed_gap", spoils_labels, "changes its argument `labels`"),
    # what is no number
    ("signed_gap", lambda p, y: complex(gap(p, y)), "real part"),
    ("gamma_star", lambda p0: lambertw(-0.1, -1), "real part"),
    ("signed_gap", lambda p, y: "0.5", "text"),
    ("signed_gap", lambda p, y: ["0.5", 1], "no number"),
    ("signed_gap", lambda p, y: (x for x in p), "a generator (from yield"),
    ("signed_gap", lambda p, y: gap, "a function (are the brackets"),
    ("signed_gap", lambda p, y: (None, 0.5), "a tuple with something in it"),
    ("signed_gap", lambda p, y: [[1, 2], [3]], "different lengths"),
    ("signed_gap", lambda p, y: p.max(dim=1), "the pair that `max` gives. Take its `.values`"),
    ("signed_gap", no_return, "returns nothing (None) for: one prediction only"),
    ("signed_gap", lambda p, y: None, "Not yet: "),
    ("signed_gap", lambda p, y: ..., "Not yet: "),
    ("signed_gap", not_written, "Not yet: "),
    # errors
    ("signed_gap", own_line, "`return torch.stack([]).mean()`"),
    ("signed_gap", calls_itself, "calls itself without end"),
    ("signed_gap", written_later, "NotImplementedError"),
    ("signed_gap", with_message, 'luck.\\nmore")`): no luck. It was called with'),
    ("signed_gap", without_message, "(`raise ValueError`). It was called with"),
    ("gamma_star", functools.partial(int, "x"), "Your function raised TypeError: "),  # written in C
    ("signed_gap", lambda p, y: (p.argmax(1) == y).mean(), "into floats"),
    ("bin_index", lambda c, bins: int(c * bins), "whole tensor"),
    ("brier", lambda p, y: ((p - one_hot(y)) ** 2).sum(1).mean(), "probs.shape"),
    ("nll_parts", lambda p, y: p.gather(1, y), "is a column"),
    ("signed_gap", lambda p, y: no_such_name, "import or define it"),  # noqa: F821
    ("signed_gap", lambda p, y: 1 / (len(y) - len(y)), "divided by zero"),
    ("noisy_nll", lambda p, t, y: p.float() @ t, "double()"),
    ("noisy_nll", lambda p, t, y: -(p * t).log().mean(),  # the reply quotes this line
        "Entry by entry, as with *"),
    ("noisy_nll", lambda p, t, y: -(t @ p).log().mean(),
        "Is the order exchanged?"),
    ("noisy_nll", lambda p, t, y: -(p @ t)[:, y].log().mean(), "every row at all labels"),
    ("signed_gap", lambda p, y: p[:, 99], "An index is too large"),
    ("signed_gap", lambda p, y: p.max(dim=1).mean(), "Say which: .values or .indices"),
    # chance and memory
    ("signed_gap", lambda p, y: gap(p, y) + CHANCE.normal(), "the same result twice"),
    # shapes and numbers
    ("signed_gap", lambda p, y: p.amax(1).double() - (p.argmax(1) == y).double(),
        "one number was expected, got shape (3,)."),
    ("bin_index", lambda c, bins: bins_of(c, bins)[:, None],
        "numbers of shape (10,) were expected, one for each entry of `confidence`"),
    ("bin_index", lambda c, bins: bins_of(c, bins)[:, None],
        "got shape (10, 1). An axis of length 1 is left over: squeeze it."),
    ("bin_index", one_too_many, "got shape (102,)"),
    ("bin_index", one_of_many, "entry 56 of the answer is 55, yours is 99"),
    ("bin_index", nothing_of_many, "entry 56 of the answer is 55, yours is nan"),
    ("bin_index", one_of_many, "hundredths in 100 bins (confidence of shape (101,), bins = 100)"),
    ("bin_index", one_of_many, "(7 of 8 cases are right.)"),
    ("bin_index", lambda c, bins: c * 0 + 17,
        "confidence = [0, 0.1, 0.25, 0.3, 0.5, 0.625, 0.75, 0.8, 0.99, 1], bins = 4"),
    ("signed_gap", lambda p, y: gap(p, y) + 2.3e-5, "the answer is -0.71973, yours is -0.71971"),
    ("brier", lambda p, y: check.brier.reference(p, y) + 0.25 * p[0].amax(),
        "For one prediction only (probs = [["),
    # general mistakes
    ("ece", lambda p, y, bins: float("nan"), "0/0"),
    ("ece", lambda p, y, bins: float("inf"), "log 0, 1/0"),
    ("signed_gap", lambda p, y: gap(p, y).bfloat16(), "close but not equal"),
    ("conformal_threshold", lambda scores, alpha: alpha, "this is `alpha` itself"),
    ("ece", lambda p, y, bins: check.ece.reference(p, y, 20), "ignored the argument `bins`"),
    ("ece", lambda p, y, bins: check.ece.reference(p, y, 7), "`bins` changes: is the argument"),
    ("ece", lambda p, y, bins: check.brier.reference(p, y), "this is the Brier score"),
    ("ece", lambda p, y, bins: check.ece.reference(p, y, bins) * bins, "by the factor `bins`."),
    ("ece", lambda p, y, bins: check.ece.reference(p, y, bins) / bins**2, "factor `bins` squared"),
    ("signed_gap", lambda p, y: 0.25, "the same whatever it is given"),
    ("noise_matrix", beside_the_diagonal, "the diagonal is right"),
    ("noise_matrix", lambda p: torch.outer(p, p) + 0.05, "each row must sum to 1"),
    ("brier", lambda p, y: check.brier.reference(p, p.argmax(1)), "predicted class"),
    ("brier", lambda p, y: check.brier.reference(p.softmax(1), y), "softmax twice"),
    ("bin_index", lambda c, bins: 1.37 * check.bin_index.reference(c, bins) + 0.01,
        "a whole number was expected"),
    ("brier", lambda p, y: -(p[range(len(y)), y].double() ** 2).sum(), "negative"),
    ("other_prior", lambda p, old, new: check.other_prior.reference(p, new, old), "exchanged"),
    ("brier", lambda p, y: {"brier": check.brier.reference(p, y)}, "dict"),
    ("signed_gap", lambda p, y: gap(p[1:], y[1:]), "first sample"),
    ("signed_gap", lambda p, y: round(float(gap(p, y)), 4), "4 decimals"),
    ("signed_gap", lambda p, y: max(0.0, float(gap(p, y))), "became 0"),
    ("brier", lambda p, y: check.brier.reference(p, y) * len(y) / (len(y) - 1), "n - 1"),
    ("bin_index", lambda c, bins: check.bin_index.reference(c, bins + 1), "bins + 1"),
    ("gradient_ratio", lambda p, g: check.gradient_ratio.reference(1 - p, g), "1 minus `p`"),
    ("gradient_ratio", lambda p, g: check.gradient_ratio.reference(p, g).sum(), "sum"),
    ("gamma_star", lambda p0: check.gamma_star.reference(p0) + 1, "1 too large"),
    ("by_meaning", lambda z, city, k: check.by_meaning.reference(z, city, k).T, "transposed"),
]
# fmt: on


@pytest.mark.parametrize(("name", "answer", "words"), SAID, ids=[words[:30] for *_, words in SAID])
def test_a_reply_holds(name, answer, words):
    told = said(name, answer)
    assert words in told
    assert told.startswith(("Not quite: ", "Not yet: ", "Your function", "Pass the function"))


@pytest.mark.parametrize(
    ("name", "answer", "word"),
    [
        ("bin_index", lambda c, bins: bins_of(c, bins)[:, None], "one step is left"),
        ("bin_index", lambda c, bins: bins_of(c, bins).tolist() * 2, "squeeze"),
        ("bin_index", lambda c, bins: c * 0 + 17, "cases are right"),
        ("signed_gap", lambda probs, labels: 0.5, "exchanged"),
        ("signed_gap", lambda p, y: (1 + (len(y) == 1)) * gap(p, y), "twice"),
    ],
)
def test_a_reply_does_not_hold(name, answer, word):
    assert word not in said(name, answer)


def test_what_cannot_be_computed_on_the_way_to_a_hint_warns_of_nothing(recwarn):
    assert not check.bin_index(lambda c, bins: 3 * c + 0.1)
    assert not recwarn.list


def test_a_memory_is_told():
    seen = []

    def answer(probs, labels):
        seen.append(float(gap(probs, labels)))
        return sum(seen[-2:]) / len(seen[-2:]) if len(seen) > 10 else seen[-1]

    assert "the same result twice" in said("signed_gap", answer)


def test_the_line_of_an_error_is_shown_where_it_lies_deepest_in_the_answer():
    def helper(values):
        return values.sum(dim=9)

    def answer(probs, labels):
        return helper(probs)

    told = said("signed_gap", answer)
    line = helper.__code__.co_firstlineno + 1
    assert told.startswith(
        f"Your function raised IndexError in line {line} (`return values.sum(dim=9)`)"
    )
    assert "50 over-confident predictions, 3 classes (probs of shape (50, 3)" in told


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit(), OSError()])
def test_nothing_that_is_raised_comes_through(error):
    def answer(probs, labels):
        raise error

    assert type(error).__name__ in said("signed_gap", answer)


def test_a_refusal_on_the_way_comes_after_an_earlier_wrong_case():
    def wrong_first(p, y):
        return gap(p, y) * 100 if len(y) == 50 else 1 / 0

    def right_first(p, y):
        return gap(p, y) if len(y) == 50 else 1 / 0

    assert "per cent" in said("signed_gap", wrong_first)
    assert "ZeroDivisionError" in said("signed_gap", right_first)


def test_two_mistakes_at_once_are_both_named():
    told = said("brier", lambda p, y: -((p.double() - one_hot(y, p.shape[1])) ** 2).mean())
    assert "two things at once" in told
    assert "number of classes" in told
    assert "sign is reversed" in told


# The tolerance, and how numbers are shown


def test_the_tolerance_is_that_of_float32_or_the_exercises_own():
    assert check.signed_gap(lambda p, y: gap(p, y) + 5e-6)
    assert not check.signed_gap(lambda p, y: gap(p, y) + 3e-5)
    right = check.note_probability.reference
    assert check.note_probability(lambda *a: right(*a) * (1 + 1e-6))
    assert not check.note_probability(lambda *a: right(*a) + 1e-9)


def test_up_to_twelve_numbers_are_shown_in_full():
    @engine.exercise(cases={"a": (torch.zeros(12),), "b": (torch.zeros(13),)}, mistakes={})
    def total(x):
        """The sum of x."""
        return x.sum() + 1

    @engine.exercise(cases={"a": (12, 0.123456)}, mistakes={})
    def ramp(n, scale):
        """n numbers."""
        return torch.arange(n) * 1.0

    assert "x = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])" in total(lambda x: 3.7).text
    assert "b (x of shape (13,))" in total(lambda x: 1.0 if len(x) == 12 else 3.7).text
    told = ramp(lambda n, scale: [0.5, *range(1, n)]).text
    assert "the answer is [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], yours is [0.5, 1," in told
    assert "scale = 0.1235" in told


def test_a_reply_wraps_at_words_and_has_a_colour_beside_its_words():
    wrong = check.brier(lambda p, y: 0.5 * check.brier.reference(p, y))
    assert max(map(len, repr(wrong).splitlines())) <= engine.WIDE
    assert " ".join(repr(wrong).split()) == wrong.text
    replies = wrong, check.signed_gap(gap), check.signed_gap(lambda p, y: None)
    colours = {reply._repr_html_().split("solid ")[1].split(";")[0] for reply in replies}
    assert len(colours) == 3
    assert "<strong>Not quite:</strong>" in wrong._repr_html_()
    assert "&lt;" in engine.Reply(False, "Not quite: a < b")._repr_html_()
    with pytest.raises(FrozenInstanceError):
        wrong.passed = True


def test_marks_of_code_are_set_as_code_or_left_out():
    reply = check.signed_gap(lambda p, y: p.nothing)
    assert "`" in reply.text
    assert "`" not in repr(reply) + reply._repr_html_()
    assert re.search(r"<code>.*nothing.*</code>", reply._repr_html_())


# What an author writes


def test_an_exercise_is_made_of_its_reference():
    @engine.exercise(cases={"two": (2.0,)}, mistakes={}, slips={"zero": "Mind the nought."})
    def square(x):
        """The square of x."""
        return x * x

    assert square(lambda x: x**2)
    assert not square(lambda x: 2.5 * x)
    assert square.__doc__ == (
        "The square of x.\n\ncheck.square(your_function) checks a function that takes (x)."
    )
    told = repr(square(lambda x: 1 / 0))
    assert "Mind the nought." in told  # its own advice comes before the general one
    assert "which count" not in told
    with pytest.raises(ValueError, match="shorter"):
        engine.Exercise(lambda x, y: x, cases={"one": (1,)}, mistakes=[])


# Answers that end late or never: see test_running.py for the clocks


def loops_for_ever(*_):
    while True:
        pass


def catches_exceptions_for_ever(*_):
    while True:
        with suppress(Exception):
            pass


@pytest.mark.parametrize("answer", [loops_for_ever, catches_exceptions_for_ever])
def test_an_endless_loop_is_stopped_and_its_line_told(monkeypatch, answer):
    monkeypatch.setattr(running, "SECONDS", 0.3)
    monkeypatch.setattr(running, "WAITS", 1000)  # a busy machine computes little in a second
    told = said("signed_gap", answer)
    assert "was stopped in line" in told
    assert "had not ended after 0.3 seconds of computing" in told


# Natural first attempts


def t_test(free):
    def answer(c, h, g):
        off = c - h.double()
        parts = [off[g == k] for k in range(int(g.max()) + 1)]
        return torch.stack([p.mean() / p.std(unbiased=free) * len(p) ** 0.5 for p in parts])

    return answer


def nth(s, a):
    return int(np.ceil((len(s) + 1) * (1 - a) - 1e-9))


# fmt: off
NATURAL = [
    ("group_z", t_test(True), "you took the standard deviation that the differences happen"),
    ("group_z", t_test(False), "you took the standard deviation that the differences happen"),
    ("conformal_threshold", lambda s, a: s.sort()[nth(s, a) - 1], "Say which: .values or"),
    ("conformal_threshold", lambda s, a: s.topk(len(s))[-nth(s, a)], "Say which: .values"),
    ("set_coverage", lambda s, q, g: q[s][g].mean(), "is one long line of numbers"),
]
# fmt: on


@pytest.mark.filterwarnings("ignore:std")
@pytest.mark.parametrize(("name", "answer", "words"), NATURAL)
def test_a_natural_first_attempt_is_named(name, answer, words):
    # the reply quotes the answer's line, which stands beside the words here
    told = re.sub(r"`.*?`", "", said(name, answer))
    assert words in told
    assert "too few" not in told  # the case that is shown is about the mistake
