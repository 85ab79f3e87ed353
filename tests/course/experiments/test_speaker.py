"""The small decoder: what it sees, how it learns, what it writes."""

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


def test_training_learns_and_is_repeatable():
    shape = {"width": 16, "depth": 1, "heads": 2, "longest": 8}
    runs = [speaker.train(WORDS, 9, steps=60, seed=3, **shape) for _ in range(2)]
    for one, other in zip(*(run.parameters() for run in runs), strict=True):
        assert torch.equal(one, other)
    with torch.no_grad():
        assert speaker.next_word_loss(runs[0], WORDS) < 0.7 < speaker.next_word_loss(small(), WORDS)
        law, told = small()(WORDS[:, :-1]).softmax(dim=2), WORDS[:, 1:]
        nats = -law.gather(2, told[..., None])[..., 0][told != 0].log().mean()
        torch.testing.assert_close(speaker.next_word_loss(small(), WORDS), nats)


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
