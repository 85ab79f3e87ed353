"""The small decoder: what it sees, how it learns, what it writes."""

import pytest
import torch

from calibkit.course.experiments import speaker
from calibkit.course.experiments.speaker import Decoder

WORDS = torch.tensor([[2, 5, 6, 3, 0], [2, 7, 3, 0, 0], [2, 5, 6, 8, 3], [2, 7, 8, 3, 0]] * 8)


def small(seed=0):
    torch.manual_seed(seed)
    return Decoder(9, width=16, depth=1, heads=2, longest=8).eval()


def test_no_word_sees_a_later_one_or_the_padding():
    model, other = small(), WORDS.clone()
    other[:, 3:] = 4
    with torch.no_grad():
        torch.testing.assert_close(model(WORDS)[:, :3], model(other)[:, :3])
        longer = torch.nn.functional.pad(WORDS, (0, 2))
        torch.testing.assert_close(speaker.after(model, WORDS), speaker.after(model, longer))


def test_the_probability_of_a_text_is_the_product_over_its_words():
    model, begun = small(), torch.tensor([1, 2, 2, 1] * 8)
    with torch.no_grad():
        found = speaker.log_prob(model, WORDS, begun)
        for row in range(4):
            expected = 0.0
            for place in range(begun[row], int((WORDS[row] != 0).sum())):
                after = speaker.after(model, WORDS[row : row + 1, :place])
                expected += after[0, WORDS[row, place]].item()
            assert found[row].item() == pytest.approx(expected, abs=1e-4)


def test_training_learns_and_is_repeatable():
    shape = {"width": 16, "depth": 1, "heads": 2, "longest": 8}
    runs = [speaker.train(WORDS, 9, steps=60, seed=3, **shape) for _ in range(2)]
    for one, other in zip(*(run.parameters() for run in runs), strict=True):
        assert torch.equal(one, other)
    with torch.no_grad():
        assert speaker.next_word_loss(runs[0], WORDS) < 0.7 < speaker.next_word_loss(small(), WORDS)


def test_training_leaves_the_global_random_state_alone():
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    speaker.train(WORDS, 9, steps=1, width=8, depth=1, heads=2, longest=8)
    assert torch.equal(torch.rand(3), expected)


def test_what_is_written_has_the_law_of_the_model():
    model, n = small(), 20_000
    texts = speaker.written(model, torch.full((n, 1), 2), 3, longest=8, seed=4)
    with torch.no_grad():
        law = speaker.after(model, torch.tensor([[2]])).exp()[0]
    law[0] = 0  # padding is no word
    law /= law.sum()
    shares = texts[:, 1].bincount(minlength=9) / n
    assert ((shares - law).abs() <= 3.5 * (law * (1 - law) / n).sqrt()).all()
    ended = (texts == 3).any(dim=1)
    assert ((texts != 0).sum(dim=1)[~ended] == 8).all()  # those without end were cut


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Decoder(9, width=10, heads=4), "heads must divide the width 10"),
        (lambda: Decoder(9, width=0), "width"),
        (lambda: small()(torch.ones(1, 9, dtype=torch.long)), "at most 8 words, got 9"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
