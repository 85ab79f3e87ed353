"""Which mistake is named, and which facts of wrong numbers: what holds in every case, or most."""

from types import SimpleNamespace

import pytest
import torch

from calibkit.course import check
from calibkit.course.check import hints
from calibkit.course.check.engine import exercise

# Mistakes of an exercise


def told(answer, mistakes, cases=range(1, 9)):
    """The reply to an answer where the number itself is asked, for each of the cases."""

    @exercise(cases={f"case {x}": (float(x),) for x in cases}, mistakes=mistakes)
    def same(x):
        """The number itself."""
        return x

    return same(answer).text


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({6: 12.0, 7: 14.0, 8: 16.0}, True),
        ({6: 12.0, 7: 14.0, 8: 2.5}, True),
        ({6: 12.0, 7: 1.5, 8: 2.5}, False),  # fits one wrong case of three
        ({6: 1.5, 7: 14.0, 8: 16.0}, False),  # fits, but not where it fails first
        ({1: 5.5, 6: 12.0, 7: 14.0, 8: 16.0}, False),
    ],
)
def test_a_mistake_fits_the_first_wrong_case_and_half_of_them(given, named):
    late = {"you doubled late.": lambda x: x if x < 6 else 2 * x}
    assert ("doubled late" in told(lambda x: given.get(int(x), x), late)) is named


def test_a_mistake_that_fits_a_third_of_the_cases_is_not_blamed():
    mistakes = {"you doubled from 3 on.": lambda x: x if x < 3 else 2 * x}
    assert "doubled from 3" in told(lambda x: x if x < 3 else 2 * x, mistakes)
    assert "doubled from 3" not in told(lambda x: x if x < 8 else 2 * x, mistakes)


def test_a_mistake_is_named_where_there_is_one_case():
    assert "no seven." in told(lambda x: 7 * x, {"no seven.": lambda x: 7 * x}, [2])


def test_a_mistake_that_fits_no_probe_or_not_everywhere_is_said_with_perhaps():
    cases, mistakes = (1, 3, 10, 30), {"you doubled.": lambda x: 2 * x}
    assert "Not quite: you doubled." in told(lambda x: 2 * x, mistakes, cases)
    reply = told(lambda x: 2 * x if x in cases else 5 * x, mistakes, cases)
    assert "Perhaps: you doubled." in reply
    table = {float(x): 2 * x for x in cases}  # of a mistake that raises on the probes
    assert "you doubled." in told(lambda x: 2 * x, {"you doubled.": lambda x: table[x]}, cases)
    late = {"you raised it late.": lambda x: x if x < 6 else 2.3 * x}
    reply = told(lambda x: x if x < 6 or x == 8 else 2.3 * x, late)
    assert "Perhaps: you raised it late." in reply


# Facts of toy exercises

GENERATOR = torch.Generator().manual_seed(0)


def drawn(*shape):
    return torch.rand(*shape, generator=GENERATOR, dtype=torch.float64) + 0.1


TABLES = {f"{n} x {k}": (drawn(n, k), f) for n, k, f in ((3, 4, 2.0), (5, 2, 0.5), (4, 4, 3.0))}
MASKED = {
    f"{n} numbers": (drawn(n), torch.arange(n) % 3, scale)
    for n, scale in ((5, 2.0), (7, 0.5), (9, 3.0), (6, 1.5))
}
LOGITS = {
    f"logits of about {steep}": (steep * (drawn(30, 4) - 0.6), torch.arange(30) % 4, T)
    for steep, T in ((18, 2.5), (4, 0.5), (7, 1.0), (10, 1.5), (4000, 1.0))
}


@exercise(cases=TABLES, mistakes={})
def scaled(x, factor):
    """The table times the factor."""
    return x * factor


@exercise(cases=TABLES, mistakes={})
def column_means(x, factor):
    """The mean of each column times the factor, one number for each."""
    return x.mean(dim=0) * factor


@exercise(cases=MASKED, mistakes={})
def masked_sum(x, kind, scale):
    """The sum of sin(x) where kind is not 0, times scale."""
    return (x.sin() * (kind != 0)).sum() * scale


@exercise(cases=LOGITS, mistakes={})
def cooled_nll(logits, labels, T):
    """The NLL at a temperature."""
    return torch.nn.functional.cross_entropy(logits / T, labels)


@exercise(cases={"a": (1.0, 2.0), "b": (5.0, 2.0)}, mistakes={})
def first(x, other):
    """The first of two."""
    return x


@exercise(cases={f"{x} and {y}": (x, y) for x, y in ((1.5, 3.0), (4.25, 8.0))}, mistakes={})
def total(x, more):
    """The sum of two numbers, of which `more` moves it by 1 and 1.5, and by 1 and 4."""
    return x + more


@exercise(cases={"a": (1.0, 2.0), "b": (5.0, 2.0)}, mistakes={})
def moved(x, more):
    """x and half of what `more` is above 2: whole in the cases, and moved by 1/2 elsewhere."""
    return x + (more - 2) / 2


def smallest_mean(x, f):
    return (x.mean(dim=0) * f).amin()


def overflowing_base_2(logits, labels, T):
    p = (logits / T).softmax(dim=1)
    return -p.gather(1, labels[:, None]).log2().mean()


# fmt: off
FACTS = [  # exercise, answer, what its reply holds
    (scaled, lambda x, f: 1.004 * f * x, "close but not equal"),
    (scaled, lambda x, f: (x * f).flatten().roll(3).view(x.shape), "at other places"),
    (scaled, lambda x, f: (x * f).amax(dim=1), "the largest of the right numbers along axis 1"),
    (scaled, lambda x, f: (x * f).round() * 2, "all your numbers are whole"),
    (scaled, lambda x, f: f * x + x, "this is the answer plus `x`"),
    (total, lambda x, more: round(x) + 7.0, "when `more` changes"),
    (moved, lambda x, more: 3 * x + 4.0, "when `more` changes"),
    (column_means, lambda x, f: x * f, "the answer is the mean of your numbers along axis 0"),
    (column_means, smallest_mean, "the smallest of the right numbers along ax"),
    (masked_sum, lambda x, k, s: (x.sin() * (k != 0)).square().sum() * 1.7, "when `scale` changes"),
    (masked_sum, lambda x, k, s: 0.25, "the same whatever it is given"),
    (cooled_nll, overflowing_base_2, "the logarithm to base 2"),  # in ordinary cases
    (cooled_nll, overflowing_base_2, "Besides, your result is infinite where numbers are large"),
    (exercise(cases=dict([*LOGITS.items()][::4]), mistakes={})(cooled_nll.reference),
        overflowing_base_2, "Besides, your result is infinite"),  # of two cases, each wrong
]
NO_FACTS = [  # what its reply does not hold
    (scaled, lambda x, f: x * f if f < 1 else (x * f).amax(dim=1), "the largest of the right"),
    (first, lambda x, other: x + x**3 / 7, "ignored"),  # an argument that matters to nobody
]
# fmt: on


@pytest.mark.parametrize(("asked", "answer", "words"), FACTS)
def test_a_fact_is_told(asked, answer, words):
    reply = asked(answer)
    assert not reply
    assert words in reply.text


@pytest.mark.parametrize(("asked", "answer", "words"), NO_FACTS)
def test_what_does_not_hold_everywhere_is_not_told(asked, answer, words):
    reply = asked(answer)
    assert reply.text.startswith("Not quite")
    assert words not in reply.text


def test_a_mistake_before_rows_are_divided_by_their_sums_is_named():
    def shared(x):
        return x / x.sum(dim=1, keepdim=True)

    cases = {f"{n} rows": (drawn(n, 3),) for n in (2, 4, 5)}
    mistakes = {"you cubed.": lambda x: x**3}
    shares = exercise(cases=cases, mistakes=mistakes)(shared)
    told = shares(lambda x: shared(x**3)).text
    assert "you cubed. (This is so before you divide each row" in told


def test_a_slow_answer_is_asked_little(monkeypatch):
    calls = []
    clock = SimpleNamespace(process_time=lambda: 0.1 * len(calls))  # seconds of each call
    monkeypatch.setattr(hints, "time", clock)
    monkeypatch.setattr(hints, "PATIENCE", 0.5)

    def answer(x, kind, scale):
        calls.append(x)
        return x.cos().sum() * (kind != 1).sum() ** scale

    assert not masked_sum(answer)
    assert len(calls) <= 2 * len(MASKED) + 5


# Replies that misled a reader once


# fmt: off
def larger_area(familiar, strange):
    won = check.strange_auroc.reference(familiar, strange)
    return max(won, 1 - won)

def even_noise(p):
    beside = p[:, None] * (1 - torch.eye(len(p))) / (len(p) - 1)
    return beside + torch.diag(1 - p)

def all_but_one(probs, posterior):  # where n is 1, an answer that takes care of it is right
    squares = (probs - posterior).square().sum(dim=1)
    return squares.sum() / max(1, len(squares) - 1)

def in_float32(words, start, moves, says):
    start, moves, says = start.float(), moves.float(), says.float()
    forward = start * says[:, words[0]]
    for word in words[1:]:
        forward = (forward @ moves) * says[:, word]
    return forward.sum()

def alike(translations, probs, prefix, words):  # all next words; the prefix tells cases apart
    fits = (translations[:, : len(prefix)] == prefix).all(dim=1)
    law = torch.bincount(translations[fits, len(prefix)], minlength=words) > 0
    return law.double() / law.sum()

def fixed_share(confidence, correct, coverage):
    kept = confidence.argsort(descending=True)[: round(0.7 * len(confidence))]
    return 1 - correct[kept].double().mean()

REPLIES = [  # exercise, answer, what its reply holds, and what it does not
    ("strange_auroc", larger_area, "", "direction is reversed"),
    ("strange_auroc", lambda a, b: float(a.mean() > b.mean()), "whole", "rounded up"),
    ("noise_matrix", even_noise, "p_i / (K - 1)", "rounded"),
    ("avoidable_brier", all_but_one, "divided by n - 1", "whole"),
    ("avoidable_brier", lambda p, q: (p.square() - q.square()).sum(dim=1).mean(),
        "you compared how unsure the two are", "the sign is reversed"),
    ("note_probability", in_float32, "too small for float32", "whole"),
    ("note_probability", in_float32, "e-46, yours is 0.", "whole"),
    ("selective_risk", fixed_share, "when `coverage` changes", "whole"),
    ("next_law", alike, "when `probs` changes", "`prefix`"),
    ("selection_cost", lambda s, w, e, c: (w + (e - w) * (s + c)) // e,
        "all your numbers are whole", "ignored"),  # what a rounding hides
]
# fmt: on


@pytest.mark.parametrize(("name", "answer", "words", "never"), REPLIES)
def test_a_reply_that_misled_is_mended(name, answer, words, never):
    reply = check.EXERCISES[name](answer)
    assert not reply
    assert words in reply.text
    assert never not in reply.text
