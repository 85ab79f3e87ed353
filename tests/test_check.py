"""Every exercise checker: right answers pass, stubs get "not yet", wrong ones their own hint.

The wrong answers are written here as students write them, apart from the checkers' own tables.
"""

import re

import numpy as np
import pytest
import torch
from torch.nn.functional import one_hot

from calibkit import check


def conf(probs):
    return probs.max(dim=1).values.double()


def hit(probs, labels):
    return (probs.argmax(dim=1) == labels).double()


def bin_numbers(confidence, bins):
    return torch.bucketize(confidence, torch.linspace(0, 1, bins + 1).double()[1:-1])


def per_bin(probs, labels, bins):
    """Lists of (samples, mean confidence, accuracy), one for each non-empty bin."""
    c, h = conf(probs), hit(probs, labels)
    which = bin_numbers(c, bins)
    chosen = [which == b for b in range(bins) if (which == b).any()]
    return [(int(m.sum()), c[m].mean(), h[m].mean()) for m in chosen]


RIGHT = {
    "signed_gap": lambda p, y: float(conf(p).mean() - hit(p, y).mean()),
    "bin_index": lambda c, bins: [max(0, int(np.ceil(float(v) * bins)) - 1) for v in c],
    "ece": lambda p, y, bins: sum(n * abs(c - a) for n, c, a in per_bin(p, y, bins)) / len(y),
    "brier": lambda p, y: ((p.double() - one_hot(y, p.shape[1])) ** 2).sum() / len(y),
    "classwise_ece": lambda p, y, bins: np.mean(
        [class_error(p, y, bins, k) for k in range(p.shape[1])]
    ),
}


def class_error(probs, labels, bins, k):
    c, h = probs[:, k].double(), (labels == k).double()
    which = bin_numbers(c, bins)
    return sum(abs(float((c - h)[which == b].sum())) for b in range(bins)) / len(labels)


WRONG = {
    "signed_gap": [
        (lambda p, y: hit(p, y).mean() - conf(p).mean(), "sign is reversed"),
        (lambda p, y: (conf(p).mean() - hit(p, y).mean()).abs(), "dropped the sign"),
        (lambda p, y: p.double().mean() - hit(p, y).mean(), "averaged all probabilities"),
        (lambda p, y: p[range(len(y)), y].double().mean() - hit(p, y).mean(), "true class"),
        (lambda p, y: 100 * (conf(p).mean() - hit(p, y).mean()), "per cent"),
    ],
    "bin_index": [
        (lambda c, bins: [int(float(v) * bins) for v in c], "extra bin"),
        (lambda c, bins: [min(int(float(v) * bins), bins - 1) for v in c], r"\[lo, hi\)"),
        (lambda c, bins: [int(np.ceil(float(v) * bins)) - 1 for v in c], "bin -1"),
        (lambda c, bins: np.maximum(1, np.ceil(c.double().numpy() * bins)), "count bins from 1"),
        (lambda c, bins: torch.round(c.double() * bins), "rounded"),
    ],
    "ece": [
        (lambda p, y, b: np.mean([float(abs(c - a)) for _, c, a in per_bin(p, y, b)]), "same in"),
        (lambda p, y, b: sum(float(abs(c - a)) for _, c, a in per_bin(p, y, b)) / b, "number of b"),
        (lambda p, y, b: sum(n * (c - a) for n, c, a in per_bin(p, y, b)) / len(y), "cancel"),
        (lambda p, y, b: abs(conf(p).mean() - hit(p, y).mean()), "single bin"),
        (lambda p, y, b: max(float(abs(c - a)) for _, c, a in per_bin(p, y, b)), "MCE"),
        (
            lambda p, y, b: (sum(n * (c - a) ** 2 for n, c, a in per_bin(p, y, b)) / len(y)) ** 0.5,
            "squared",
        ),
    ],
    "brier": [
        (lambda p, y: ((p.double() - one_hot(y, p.shape[1])) ** 2).mean(), "number of classes"),
        (lambda p, y: ((p.double() - one_hot(y, p.shape[1])) ** 2).sum(), "number of samples"),
        (lambda p, y: RIGHT["brier"](p, y) / 2, "half"),
        (lambda p, y: ((1 - p[range(len(y)), y].double()) ** 2).mean(), "true class alone"),
        (lambda p, y: (p.double() - one_hot(y, p.shape[1])).norm(dim=1).mean(), "square root"),
    ],
    "classwise_ece": [
        (lambda p, y, b: RIGHT["classwise_ece"](p, y, b) * p.shape[1], "take the mean"),
        (
            lambda p, y, b: np.mean([class_error(p, y, b, k) for k in range(int(y.max()) + 1)]),
            "from the labels",
        ),
        (lambda p, y, b: RIGHT["ece"](p, y, b), "predicted class"),
        (
            lambda p, y, b: np.mean(
                [
                    float(RIGHT["ece"](p[p.argmax(1) == k], y[p.argmax(1) == k], b))
                    if (p.argmax(1) == k).any()
                    else 0.0
                    for k in range(p.shape[1])
                ]
            ),
            "split the samples",
        ),
        (lambda p, y, b: max(class_error(p, y, b, k) for k in range(p.shape[1])), "worst class"),
    ],
}
EXERCISES = sorted(check.EXERCISES)


@pytest.mark.parametrize("name", EXERCISES)
def test_a_right_answer_passes(name):
    reply = check.EXERCISES[name](RIGHT[name])
    assert reply.passed, reply
    assert repr(reply).startswith("Correct")


@pytest.mark.parametrize("name", EXERCISES)
def test_a_stub_is_told_not_yet(name):
    def raises(*_):
        raise NotImplementedError

    for stub in (lambda *_: None, lambda *_: ..., raises):
        reply = check.EXERCISES[name](stub)
        assert not reply.passed
        assert repr(reply).startswith("Not yet")


@pytest.mark.parametrize(
    ("name", "wrong", "hint"),
    [(name, wrong, hint) for name in EXERCISES for wrong, hint in WRONG[name]],
)
def test_a_wrong_answer_gets_its_own_hint(name, wrong, hint):
    reply = check.EXERCISES[name](wrong)
    assert not reply.passed
    assert re.search(hint, repr(reply)), reply


@pytest.mark.parametrize("name", EXERCISES)
def test_every_mistake_has_a_test_and_a_hint_of_its_own(name):
    hints = [mistake.hint for mistake in check.EXERCISES[name].mistakes]
    assert len(set(hints)) == len(hints) == len(WRONG[name]) >= 3


@pytest.mark.parametrize("name", EXERCISES)
def test_an_unknown_mistake_is_shown_a_case(name):
    reply = check.EXERCISES[name](lambda *_: 42.0)
    assert not reply.passed
    assert "yours is 42" in repr(reply)


@pytest.mark.parametrize("name", EXERCISES)
def test_an_error_in_the_answer_is_told_not_raised(name):
    reply = check.EXERCISES[name](lambda *_: 1 / 0)
    assert not reply.passed
    assert "ZeroDivisionError" in repr(reply)


def test_a_result_in_place_of_the_function_is_explained():
    assert "function itself" in repr(check.brier(0.3))


def test_an_answer_cannot_spoil_the_cases_for_the_next_one():
    def spoils(probs, labels):
        probs.zero_()
        return 0.0

    check.brier(spoils)
    assert check.brier(RIGHT["brier"]).passed
