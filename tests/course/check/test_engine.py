"""What the engine says of answers that are strange, broken, endless or nearly right."""

import functools
import io
import re
import signal
import sys
import threading
import time
from contextlib import redirect_stdout, suppress
from dataclasses import FrozenInstanceError
from fractions import Fraction

import numpy as np
import pytest
import torch
from scipy.special import lambertw
from torch.nn.functional import one_hot

from calibkit.course import check
from calibkit.course.check import common_mistakes, engine, running


def gap(p, y):
    return p.amax(1).double().mean() - (p.argmax(1) == y).double().mean()


def bins_of(c, bins):
    return torch.bucketize(c.double(), torch.arange(1, bins).double() / bins)


def said(name, answer):
    reply = check.EXERCISES[name](answer)
    assert not reply
    assert reply.passed is False
    return reply.text


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(running, "SECONDS", 0.3)


def test_a_reply_is_true_when_passed():
    assert check.signed_gap(gap)
    assert bool(check.signed_gap(gap)) is True
    assert repr(check.signed_gap(gap)) == "Correct: signed_gap agrees on all 11 cases."


def test_a_changed_argument_is_told_by_name():
    def spoils(probs, labels):
        found = gap(probs, labels)
        probs.zero_()
        return found

    told = said("signed_gap", spoils)
    assert "changes its argument `probs`" in told
    assert "probs.clone()" in told
    assert check.signed_gap(gap)


def test_labels_that_change_are_told_too():
    def spoils(probs, labels):
        found = gap(probs, labels)
        labels += 1
        return found

    assert "changes its argument `labels`" in said("signed_gap", spoils)


@pytest.mark.parametrize(
    "form",
    [
        lambda rows: rows.tolist(),
        lambda rows: rows.numpy(),
        lambda rows: tuple(map(tuple, rows.tolist())),
        lambda rows: list(rows),
        lambda rows: [[entry.clone().requires_grad_() for entry in row] for row in rows],
        lambda rows: [list(row) for row in rows],
        lambda rows: rows.clone().requires_grad_(),
        lambda rows: np.asmatrix(rows.numpy()),
    ],
)
def test_tables_in_any_form_are_taken(form):
    def answer(p):
        return form(torch.diag(1 - p) + p[:, None] * p / p.sum())

    assert check.noise_matrix(answer)


@pytest.mark.parametrize(
    "kind", [np.float32, Fraction, torch.tensor, lambda x: [x], lambda x: np.array([[x]])]
)
def test_one_number_in_any_form_is_taken(kind):
    assert check.signed_gap(lambda p, y: kind(float(gap(p, y))))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_types_of_tensors_are_taken(dtype):
    assert check.signed_gap(lambda p, y: gap(p, y).to(dtype))


def test_bfloat16_is_read_and_too_coarse():
    assert "close but not equal" in said("signed_gap", lambda p, y: gap(p, y).bfloat16())


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (lambda p, y: complex(gap(p, y)), "real part"),
        (lambda p, y: torch.complex(gap(p, y), gap(p, y)), "real part"),
        (lambda p, y: "0.5", "text"),
        (lambda p, y: ["0.5", 1], "no number"),
        (lambda p, y: (x for x in p), "generator"),
        (lambda p, y: map(float, y), "generator"),
        (lambda p, y: gap, "a function (are the brackets"),
        (lambda p, y: {1: 2}, "dict"),
        (lambda p, y: (None, 0.5), "a tuple with something in it"),
        (lambda p, y: [[1, 2], [3]], "different lengths"),
        (lambda p, y: p.max(dim=1), "the pair that `max` gives. Take its `.values`"),
    ],
)
def test_what_is_no_number_is_named(value, word):
    assert word in said("signed_gap", value)


def test_lambertw_without_real():
    assert "real part" in said("gamma_star", lambda p0: lambertw(-0.1, -1))


def test_the_line_of_an_error_is_shown():
    def answer(probs, labels):
        largest = probs.amax(dim=1)
        return largest.nothing()

    told = said("signed_gap", answer)
    line = answer.__code__.co_firstlineno + 2
    assert told.startswith(
        f"Your function raised AttributeError in line {line} (`return largest.nothing()`)"
    )
    assert "50 over-confident predictions, 3 classes (probs of shape (50, 3)" in told


def test_the_students_own_line_is_shown_not_the_librarys():
    def answer(probs, labels):
        return torch.stack([]).mean()

    assert "`return torch.stack([]).mean()`" in said("signed_gap", answer)


def test_a_function_written_in_c_may_raise_too():
    assert said("gamma_star", functools.partial(int, "x")).startswith("Your function")


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit(), OSError()])
def test_nothing_that_is_raised_comes_through(error):
    def answer(probs, labels):
        raise error

    assert type(error).__name__ in said("signed_gap", answer)


def test_recursion_without_end_is_told():
    def answer(probs, labels):
        return answer(probs, labels)

    assert "calls itself without end" in said("signed_gap", answer)


@pytest.mark.parametrize(
    ("name", "answer", "advice"),
    [
        ("signed_gap", lambda p, y: (p.argmax(1) == y).mean(), "into floats"),
        ("bin_index", lambda c, bins: int(c * bins), "whole tensor"),
        ("brier", lambda p, y: ((p - one_hot(y)) ** 2).sum(1).mean(), "probs.shape"),
        ("nll_parts", lambda p, y: p.gather(1, y), "is a column"),
        ("signed_gap", lambda p, y: no_such_name, "import or define it"),  # noqa: F821
        ("signed_gap", lambda p, y: 1 / (len(y) - len(y)), "divided by zero"),
        ("noisy_nll", lambda p, t, y: p.float() @ t, "double()"),
        ("signed_gap", lambda p, y: p[:, 99], "An index is too large"),
    ],
)
def test_common_slips_get_one_piece_of_advice(name, answer, advice):
    told = said(name, answer)
    assert told.startswith("Your function raised")
    assert advice in told
    assert "lambertw" not in told


def test_a_stub_with_a_message_is_an_error_and_without_is_not_yet():
    def talks(probs, labels):
        raise NotImplementedError("later")

    assert "NotImplementedError" in said("signed_gap", talks)


def test_a_way_without_return_is_told_with_its_case():
    def answer(probs, labels):
        if len(labels) > 1:
            return gap(probs, labels)

    told = said("signed_gap", answer)
    assert "returns nothing (None) for: one prediction only" in told


def test_a_result_in_place_of_the_function_is_explained():
    assert "function itself" in said("brier", 0.3)
    assert "function itself" in said("brier", None)


def test_another_number_of_arguments_is_told():
    assert "takes (p), but it is called with 2 argument(s): (probs, labels)" in said(
        "signed_gap", lambda p: 0.0
    )


def test_optional_arguments_are_fine():
    assert check.signed_gap(lambda p, y, scale=1: scale * gap(p, y))
    assert check.signed_gap(lambda *both: gap(*both))


def test_exchanged_parameters_are_told():
    told = said("signed_gap", lambda labels, probs: gap(probs, labels))
    assert "(labels, probs), but it is called with (probs, labels), in this order" in told
    told = said("signed_gap", lambda probs, labels: 0.5)
    assert told.endswith("yours is 0.5.")


def loops_for_ever(*_):
    while True:
        pass


def catches_exceptions_for_ever(*_):
    while True:
        with suppress(Exception):
            pass


@pytest.mark.parametrize("answer", [loops_for_ever, catches_exceptions_for_ever])
def test_an_endless_loop_is_stopped_and_its_line_told(short, answer):
    told = said("signed_gap", answer)
    assert "was stopped in line" in told
    assert "had not ended after 0.3 seconds of computing" in told
    assert check.signed_gap(gap)


class Clock:
    """The time of a machine on which nothing takes any, but what an answer says."""

    def __init__(self):
        self.cpu, self.wall, self.looks = 0.0, 0.0, 0

    def thread_time(self, *_):
        self.looks += 1
        return self.cpu

    def monotonic(self):
        return self.wall

    def pass_by(self, cpu, wall):
        """So many seconds of either kind, after which the limit is looked at."""
        self.cpu, self.wall, seen = self.cpu + cpu, self.wall + wall, self.looks
        while self.looks < seen + 2:  # the first look may have begun before
            pass


@pytest.mark.parametrize("place", ["main thread", "another thread"])
@pytest.mark.parametrize(
    ("cpu", "wall", "words"),
    [
        (9, 9, None),  # slow
        (9, 110, None),  # slow, on a machine that has much else to do
        (11, 11, "10 seconds of computing"),
        (11, 110, "10 seconds of computing"),
        (1, 130, "120 seconds"),  # it sleeps
    ],
)
def test_what_counts_is_the_computing_of_the_answer(monkeypatch, place, cpu, wall, words):
    clock = Clock()
    monkeypatch.setattr(running, "time", clock)
    monkeypatch.setattr(running, "_computed", clock.thread_time)
    monkeypatch.setattr(running, "TICK", 0.001)
    if place == "another thread":
        monkeypatch.delattr(signal, "setitimer")
    calls = iter([(cpu, wall)])

    def answer(probs, labels):
        for spent in calls:
            clock.pass_by(*spent)
        return gap(probs, labels)

    reply = check.signed_gap(answer)
    if words is None:
        assert reply
    else:
        assert "was stopped in line" in reply.text
        assert f"had not ended after {words}. Does" in reply.text


def test_the_computing_of_another_thread_is_its_own():
    began, release = threading.Event(), threading.Event()
    idle = threading.Thread(target=lambda: (began.set(), release.wait()))
    idle.start()
    began.wait()
    before, own = running._computed(idle), time.thread_time()
    while time.thread_time() < own + 0.2:
        pass
    after = running._computed(idle)
    release.set()
    idle.join()
    if sys.platform != "darwin":
        assert after - before < 0.1


def test_an_endless_loop_is_stopped_in_another_thread(short):
    replies = []
    thread = threading.Thread(target=lambda: replies.append(check.signed_gap(loops_for_ever)))
    thread.start()
    thread.join()
    assert "was stopped in line" in repr(replies[0])
    assert threading.active_count() < 10


def test_right_and_stub_in_another_thread():
    replies = []

    def work():
        replies.extend([check.signed_gap(gap), check.signed_gap(lambda p, y: None)])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert replies[0]
    assert repr(replies[1]).startswith("Not yet")


def test_a_call_that_cannot_be_stopped_is_told(short, monkeypatch):
    release = threading.Event()
    monkeypatch.setattr(running, "PATIENCE", 0.1)
    monkeypatch.setattr(running, "WAITS", 1)
    monkeypatch.delattr(signal, "setitimer")
    told = said("signed_gap", lambda p, y: release.wait())
    release.set()
    assert "could not be stopped" in told


def test_the_timer_and_its_owner_are_restored():
    def theirs(*_):
        pass

    before = signal.signal(signal.SIGALRM, theirs)
    signal.setitimer(signal.ITIMER_REAL, 100)
    try:
        assert check.signed_gap(gap)
        assert signal.getsignal(signal.SIGALRM) is theirs
        assert 90 < signal.getitimer(signal.ITIMER_REAL)[0] <= 100
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_much_printing_is_cut():
    def answer(probs, labels):
        print("x" * 10_000)
        return gap(probs, labels)

    heard = io.StringIO()
    with redirect_stdout(heard):
        assert check.signed_gap(answer)
    text = heard.getvalue()
    assert text.startswith("x" * running.PRINTED + "\n... (your function prints more")
    assert len(text) < running.PRINTED + 100


def test_little_printing_comes_through():
    def answer(probs, labels):
        print(len(labels), flush=True)
        return gap(probs, labels)

    heard, before = io.StringIO(), sys.stdout
    with redirect_stdout(heard):
        assert check.signed_gap(answer)
    assert heard.getvalue().startswith("50\n50\n7\n")
    assert sys.stdout is before


def test_chance_is_told():
    random = np.random.default_rng(0)
    told = said("signed_gap", lambda p, y: gap(p, y) + random.normal())
    assert "the same result twice" in told


def test_a_memory_is_told():
    seen = []

    def answer(probs, labels):
        seen.append(float(gap(probs, labels)))
        return sum(seen[-2:]) / len(seen[-2:]) if len(seen) > 10 else seen[-1]

    assert "the same result twice" in said("signed_gap", answer)


def test_nan_and_infinity_are_explained():
    assert "0/0" in said("ece", lambda p, y, bins: float("nan"))
    assert "log 0, 1/0" in said("ece", lambda p, y, bins: float("inf"))


def test_the_shape_is_named_as_a_shape():
    told = said("bin_index", lambda c, bins: bins_of(c, bins)[:, None])
    assert "one step is left" not in told
    assert "numbers of shape (10,) were expected, one for each entry of `confidence`" in told
    assert "got shape (10, 1). An axis of length 1 is left over: squeeze it." in told
    assert "one number was expected, got shape (3,)." in said(
        "signed_gap", lambda p, y: p.amax(1).double() - (p.argmax(1) == y).double()
    )
    assert "squeeze" not in said("bin_index", lambda c, bins: bins_of(c, bins).tolist() * 2)


def test_two_numbers_are_shown_until_they_differ():
    told = said("signed_gap", lambda p, y: gap(p, y) + 2.3e-5)
    assert "the answer is -0.71973, yours is -0.71971" in told
    first, second = told.split("the answer is ")[1].split(" (")[0].rstrip(".").split(", yours is ")
    assert first != second


def test_a_long_answer_is_told_its_wrong_entry():
    def answer(confidence, bins):
        numbers = bins_of(confidence, bins).tolist()
        return [*numbers[:56], 99, *numbers[57:]] if bins == 100 else numbers

    told = said("bin_index", answer)
    assert "entry 56 of the answer is 55, yours is 99" in told
    assert "hundredths in 100 bins (confidence of shape (101,), bins = 100)" in told
    assert "(7 of 8 cases are right.)" in told


def test_the_case_is_shown_by_name_and_value():
    told = said("bin_index", lambda c, bins: c * 0 + 17)
    assert "confidence = [0, 0.1, 0.25, 0.3, 0.5, 0.625, 0.75, 0.8, 0.99, 1], bins = 4" in told
    assert "cases are right" not in told


@pytest.mark.parametrize("word", common_mistakes.FACTORS)
def test_each_wrong_factor_is_named(word):
    if "K" in word:
        pytest.skip("gap_interval asks for three numbers, whatever the classes")
    factor = common_mistakes.FACTORS[word]
    told = said("gap_interval", lambda p, y: factor({"p": p}) * check.gap_interval.reference(p, y))
    assert word in told or "the sign is reversed" in told


def beside_the_diagonal(p):
    table = check.noise_matrix.reference(p).clone()
    table[1, 0] += 0.05
    table[1, -1] -= 0.05
    return table


@pytest.mark.parametrize(
    ("name", "answer", "words"),
    [
        ("conformal_threshold", lambda scores, alpha: alpha, "this is `alpha` itself"),
        ("ece", lambda p, y, bins: check.ece.reference(p, y, 20), "ignored the argument `bins`"),
        ("ece", lambda p, y, bins: check.ece.reference(p, y, 7), "`bins` changes: is the argument"),
        ("ece", lambda p, y, bins: check.brier.reference(p, y), "this is the Brier score"),
        ("signed_gap", lambda p, y: 0.25, "the same whatever it is given"),
        ("noise_matrix", beside_the_diagonal, "the diagonal is right"),
        ("noise_matrix", lambda p: torch.outer(p, p) + 0.05, "each row must sum to 1"),
        ("brier", lambda p, y: check.brier.reference(p, p.argmax(1)), "predicted class"),
        ("brier", lambda p, y: check.brier.reference(p.softmax(1), y), "softmax twice"),
        ("brier", lambda p, y: check.brier.reference(p, y) + 0.001, "close but not equal"),
        (
            "bin_index",
            lambda c, bins: 1.37 * check.bin_index.reference(c, bins) + 0.01,
            "a whole number was expected",
        ),
        ("brier", lambda p, y: -(p[range(len(y)), y].double() ** 2).sum(), "negative"),
        ("other_prior", lambda p, old, new: check.other_prior.reference(p, new, old), "exchanged"),
        (
            "gamma_star",
            lambda p0: check.gamma_star.reference(p0 / 2),
            "half of p0",
        ),
    ],
)
def test_general_mistakes_are_named(name, answer, words):
    assert words in said(name, answer)


def test_two_mistakes_at_once_are_both_named():
    told = said("brier", lambda p, y: -((p.double() - one_hot(y, p.shape[1])) ** 2).mean())
    assert "two things at once" in told
    assert "number of classes" in told
    assert "sign is reversed" in told


def test_a_reply_wraps_at_words_and_has_a_colour_beside_its_words():
    wrong = check.brier(lambda p, y: 0.5 * check.brier.reference(p, y))
    assert max(map(len, repr(wrong).splitlines())) <= engine.WIDE
    assert " ".join(repr(wrong).split()) == wrong.text
    colours = [
        reply._repr_html_().split("solid ")[1].split(";")[0]
        for reply in (wrong, check.signed_gap(gap), check.signed_gap(lambda p, y: None))
    ]
    assert len({*colours}) == 3
    assert "<strong>Not quite:</strong>" in wrong._repr_html_()
    assert "&lt;" in engine.Reply(False, "Not quite: a < b")._repr_html_()


def test_the_smallest_wrong_case_is_shown():
    told = said("brier", lambda p, y: check.brier.reference(p, y) + 0.25 * p[0].amax())
    assert "For one prediction only (probs = [[" in told


def test_small_answers_have_an_absolute_tolerance_of_their_own():
    right = check.note_probability.reference
    assert check.note_probability(lambda *a: right(*a) * (1 + 1e-6))
    assert not check.note_probability(lambda *a: right(*a) + 1e-9)


def test_a_mistake_that_would_show_elsewhere_is_not_blamed():
    def answer(p, y):
        return 2 * gap(p, y) if len(y) == 1 else gap(p, y)

    told = said("signed_gap", answer)
    assert "twice" not in told
    assert "one prediction only" in told
    assert "(10 of 11 cases are right.)" in told


def test_a_refusal_on_the_way_comes_after_an_earlier_wrong_case():
    def answer(p, y):
        return gap(p, y) * 100 if len(y) == 50 else 1 / 0

    assert "per cent" in said("signed_gap", answer)

    def later(p, y):
        return gap(p, y) if len(y) == 50 else 1 / 0

    assert "ZeroDivisionError" in said("signed_gap", later)


def test_an_exercise_is_made_of_its_reference():
    @engine.exercise(cases={"two": (2.0,), "three": (3.0,)}, mistakes={})
    def square(x):
        """The square of x."""
        return x * x

    assert square(lambda x: x**2)
    assert not square(lambda x: 2 * x)
    assert square.__doc__ == (
        "The square of x.\n\ncheck.square(your_function) checks a function that takes (x)."
    )


def test_own_slips_come_before_the_general_ones():
    @engine.exercise(cases={"two": (2.0,)}, mistakes={}, slips={"zero": "Mind the nought."})
    def square(x):
        """The square of x."""
        return x * x

    told = repr(square(lambda x: 1 / 0))
    assert "Mind the nought." in told
    assert "which count" not in told


def test_a_long_result_with_the_same_ends_is_told_by_its_shape():
    def answer(confidence, bins):
        found = bins_of(confidence, bins).tolist()
        return found if len(found) < 100 else [*found[:50], 49, *found[50:]]

    assert "got shape (102,)" in said("bin_index", answer)


def test_a_time_up_between_two_calls_is_told(monkeypatch):
    def late(*_):
        raise running.TimeUp

    monkeypatch.setattr(running, "numbers", late)
    assert "was stopped after 10 seconds of computing" in said("signed_gap", gap)


def test_a_case_with_too_few_arguments_is_an_error_of_the_author():
    with pytest.raises(ValueError, match="shorter"):
        engine.Exercise(lambda x, y: x, cases={"one": (1,)}, mistakes=[])


def test_a_reply_stays_as_it_is():
    with pytest.raises(FrozenInstanceError):
        check.signed_gap(gap).passed = True


def test_output_is_flushed():
    class Screen(io.StringIO):
        flushed = 0

        def flush(self):
            self.flushed += 1

    def answer(probs, labels):
        print(1, flush=True)
        return gap(probs, labels)

    screen = Screen()
    with redirect_stdout(screen):
        check.signed_gap(answer)
    assert screen.flushed >= 20


def test_a_slow_answer_in_a_thread_is_waited_for():
    def answer(probs, labels):
        time.sleep(0.01)
        return gap(probs, labels)

    assert running._in_a_thread(lambda: check.signed_gap(answer))


def test_the_limits_are_some_seconds_and_a_screenful():
    assert 5 <= running.SECONDS <= 15
    assert 1 <= running.PATIENCE <= 2
    assert 1000 <= running.PRINTED <= 2000
    assert engine.SHORT == 12


def test_ties_in_length_are_shown_in_full_up_to_twelve():
    @engine.exercise(cases={"a": (torch.zeros(12),), "b": (torch.zeros(13),)}, mistakes={})
    def total(x):
        """The sum of x."""
        return x.sum() + 1

    assert "x = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])" in total(lambda x: 3.7).text
    assert "b (x of shape (13,))" in total(lambda x: 1.0 if len(x) == 12 else 3.7).text


def test_the_tolerance_is_that_of_float32():
    assert check.signed_gap(lambda p, y: gap(p, y) + 5e-6)
    assert not check.signed_gap(lambda p, y: gap(p, y) + 3e-5)
    assert check.bin_index(lambda c, bins: check.bin_index.reference(c, bins) + 5e-6)


def test_a_stub_has_not_passed():
    assert said("signed_gap", lambda p, y: None).startswith("Not yet")


@pytest.mark.parametrize(
    ("expected", "given", "shown"),
    [
        (0.25, 0.5, ("0.25", "0.5")),
        (0.12344, 0.12346, ("0.1234", "0.1235")),
        (0.56377, 0.56379, ("0.56377", "0.56379")),
        (0.0, 1e-17, ("0", "0.00000000000000001")),
        (0.0, 1e-18, ("0", "0")),
        (1 / 3, 1 / 3, ("0.3333", "0.3333")),
    ],
)
def test_results_have_the_decimals_that_tell_them_apart(expected, given, shown):
    assert engine._apart(np.array(expected), np.array(given)) == shown


def test_a_result_of_twelve_numbers_is_shown_in_full():
    @engine.exercise(cases={"a": (12, 0.123456)}, mistakes={})
    def ramp(n, scale):
        """n numbers."""
        return torch.arange(n) * 1.0

    told = ramp(lambda n, scale: [0.5, *range(1, n)]).text
    assert "the answer is [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], yours is [0.5, 1," in told
    assert "scale = 0.1235" in told


def test_the_stubs_own_error_is_not_yet():
    def stub(probs, labels):
        raise NotImplementedError

    assert said("signed_gap", stub).startswith("Not yet")


def test_the_message_of_an_error_follows_its_place():
    def with_message(probs, labels):
        raise ValueError("no luck.\nmore")

    def without(probs, labels):
        raise ValueError

    assert 'luck.\\nmore")`): no luck. It was called with' in said("signed_gap", with_message)
    assert "(`raise ValueError`). It was called with" in said("signed_gap", without)
    in_c = said("gamma_star", functools.partial(int, "x"))
    assert in_c.startswith("Your function raised TypeError: ")


def test_printing_ends_at_the_last_character_that_fits():
    heard = io.StringIO()
    short = running._Short(heard)
    assert short.write("x" * (running.PRINTED - 1)) == running.PRINTED - 1
    assert short.write("y") == 1
    assert short.write("z") == 1
    assert heard.getvalue() == "x" * (running.PRINTED - 1) + "y"


def a_line(probs, transition, labels):
    """NLL by hand, as most write it."""
    noisy = probs @ transition
    return -torch.log(noisy[range(len(labels)), labels] + 1e-8).mean()


def t_test(free, over=torch.sum):
    def answer(c, h, g):
        off = c - h.double()
        parts = [off[g == k] for k in range(int(g.max()) + 1)]
        z = [p.mean() / p.std(unbiased=bool(free)) * len(p) ** 0.5 for p in parts]
        return torch.stack(z)

    return answer


def nth(s, a):
    return int(np.ceil((len(s) + 1) * (1 - a) - 1e-9))


@pytest.mark.filterwarnings("ignore:std")
@pytest.mark.parametrize(
    ("name", "answer", "words"),
    [
        ("group_z", t_test(1), "you took the standard deviation that the differences happen"),
        ("group_z", t_test(0), "you took the standard deviation that the differences happen"),
        ("conformal_threshold", lambda s, a: s.sort()[nth(s, a) - 1], "Say which: .values or"),
        ("conformal_threshold", lambda s, a: s.topk(len(s))[-nth(s, a)], "Say which: .values"),
        ("noisy_nll", a_line, "an epsilon was added inside the logarithm, to probs @"),
        (
            "noisy_nll",
            lambda p, t, y: -torch.log((p @ t).gather(1, y[:, None]) + 1e-6).mean(),
            "an epsilon was added inside the logarithm",
        ),
        (
            "noisy_nll",
            lambda p, t, y: -(t @ p)[range(len(y)), y].log().mean(),
            "The order is exchanged",
        ),
        ("honest_choice", lambda c, t: t[:, c.argmin(dim=1)], "every chosen column of every seed"),
        ("honest_choice", lambda c, t: t[c.argmin(dim=1)], "a column, and test[best] takes rows"),
        ("honest_choice", lambda c, t: t[c.argmin()], "a column, and test[best] takes rows"),
        ("set_coverage", lambda s, q, g: q[s][g].mean(), "is one long line of numbers"),
        ("signed_gap", lambda p, y: (p.max(dim=1) - 1).mean(), "Say which: .values or .indices"),
        ("signed_gap", lambda p, y: p.max(dim=1).mean(), "Say which: .values or .indices"),
    ],
)
def test_a_natural_first_attempt_is_named(name, answer, words):
    # the reply quotes the answer's line, which stands beside the words here
    assert words in re.sub(r"`.*?`", "", said(name, answer))


def test_the_case_that_is_shown_is_about_the_mistake():
    told = said("conformal_threshold", lambda s, a: torch.quantile(s, 1 - a))
    assert "torch.quantile takes a point between two scores" in told
    assert "too few" not in told


def test_marks_of_code_are_set_as_code_or_left_out():
    reply = check.signed_gap(lambda p, y: p.nothing)
    assert "`" in reply.text
    assert "`" not in repr(reply) + reply._repr_html_()
    assert re.search(r"<code>.*nothing.*</code>", reply._repr_html_())
