"""What an answer looks at: told by a changed row, entry or argument."""

import pytest
import torch

from calibkit.course import check
from calibkit.course.check.engine import exercise

GENERATOR = torch.Generator().manual_seed(1)


def drawn(*shape):
    return torch.rand(*shape, generator=GENERATOR, dtype=torch.float64)


MASKED = {
    f"{n} numbers": (drawn(n), torch.arange(n) % 3, scale)
    for n, scale in ((5, 2.0), (7, 0.5), (9, 3.0), (6, 1.5))
}
TABLES = {f"{n} rows": (drawn(n, 3),) for n in (4, 6, 5)}


@exercise(cases=MASKED, mistakes=[])
def masked_sum(x, kind, scale):
    """The sum of sin(x) where kind is not 0, times scale."""
    return (x.sin() * (kind != 0)).sum() * scale


@exercise(cases=TABLES, mistakes=[])
def own_rows(x):
    """The sine of each row's own sum of squares."""
    return x.square().sum(dim=1).sin()


def test_right_answers_pass():
    assert masked_sum(lambda x, kind, scale: scale * x[kind > 0].sin().sum())
    assert own_rows(lambda x: torch.stack([(row @ row).sin() for row in x]))


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda x, k, s: (x.sin() * (k != 0)).square().sum() * 1.7, "when `scale` changes"),
        (
            lambda x, k, s: (x.cos() * (k == 1)).sum() * s,
            "does not change with `x` where `kind` is 2",
        ),
        (lambda x, k, s: (x.cos() * (k + 1)).sum() * s, "changes with `x` where `kind` is 0"),
        (
            lambda x, k, s: (x.cos() * (k != 0))[: len(x) // 2].sum() * s,
            "does not change with the second half",
        ),
        (lambda x, k, s: 0.25, "the same whatever it is given"),
    ],
)
def test_what_an_answer_does_not_look_at(answer, words):
    reply = masked_sum(answer)
    assert not reply
    assert words in reply.text


def test_rows_that_depend_on_others():
    told = own_rows(lambda x: x.square().sum(dim=1).sin() * (1 + x[:, 0].mean())).text
    assert "changes when row" in told
    assert "Each row of the result comes from its own row alone" in told


def test_rows_of_its_own_are_not_blamed():
    assert "changes when" not in own_rows(lambda x: x.square().sum(dim=1).cos()).text


def test_a_result_that_follows_the_order_alone_is_not_blamed():
    """The reference does not move with the numbers themselves, so nothing should not matter."""

    def answer(confidence, correct, coverage):
        return (confidence * ~correct).sum()

    assert "should not matter" not in check.selective_risk(answer).text


def test_a_slow_answer_is_asked_little():
    calls = []

    def answer(x, kind, scale):
        calls.append(sum(range(300_000)))
        return x.cos().sum() * (kind != 1).sum() ** scale

    assert not masked_sum(answer)
    assert len(calls) < 200


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


@pytest.mark.parametrize(("limit", "words"), [(torch.tril, "earlier"), (torch.triu, "later")])
def test_rows_that_look_one_way_are_told(limit, words):
    def answer(queries, keys, values):
        scores = queries @ keys.T / keys.shape[1] ** 0.5
        seen = limit(torch.ones_like(scores)).bool()
        return scores.masked_fill(~seen, -torch.inf).softmax(dim=1) @ values

    assert f"its own and {words} rows of `keys` alone" in check.attention(answer).text


def test_a_column_that_is_passed_over_is_told():
    def answer(words, start, moves, says):
        words = words[words != 0]
        forward = start * says[:, words[0]]
        for word in words[1:]:
            forward = (forward @ moves) * says[:, word]
        return forward.sum()

    assert "does not change with column 0 of `says`" in check.note_probability(answer).text


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


def test_columns_are_not_blamed_where_an_answer_is_cut_or_coarse():
    def clamped(logits, labels, T):
        p = (logits / T).softmax(dim=1).gather(1, labels[:, None])
        return -p.clamp(min=1e-7).log().mean()

    assert "with column" not in cooled_nll(clamped).text
