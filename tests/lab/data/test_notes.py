"""The ward's notes: their exact posterior against a sum over all hidden paths, and their order."""

import itertools

import pytest
import torch

from calibkit.lab import data
from calibkit.lab.data import Notes
from tests import refusals


def by_enumeration(notes, row):
    """p(words | class) of each class, as the sum over every path of topics."""
    words = [word for word in row.tolist() if word]
    found = []
    for kind in range(4):
        total = 0.0
        for path in itertools.product(range(4), repeat=len(words)):
            p = notes.start[kind, path[0]].item()
            for before, after in itertools.pairwise(path):
                p *= notes.moves[kind, before, after].item()
            for topic, word in zip(path, words, strict=True):
                p *= notes.emissions[topic, word].item()
            total += p
        found.append(total)
    return torch.tensor(found, dtype=torch.float64)


@pytest.mark.parametrize("notes", [Notes(1, 5), Notes(5, 5, clear=0.9, stay=0.5, forward=0.3)])
def test_the_posterior_is_that_of_all_hidden_paths(notes):
    drawn = notes.draw(2, seed=3)
    expected = torch.stack([by_enumeration(notes, row) for row in drawn.inputs])
    assert torch.allclose(notes.log_likelihood(drawn.inputs), expected.log(), rtol=0, atol=1e-9)
    posterior = expected / expected.sum(dim=1, keepdim=True)
    assert torch.allclose(drawn.posterior, posterior, rtol=0, atol=1e-9)


def test_a_reversed_note_is_as_likely_under_the_other_direction():
    """So the bag of words of the two classes of a pair is the same, whatever a reader does."""
    notes = Notes(7, 7)
    texts = notes.draw(50, seed=1).inputs
    there, back = notes.log_likelihood(texts), notes.log_likelihood(texts.flip(1))
    assert torch.allclose(there[:, [0, 2]], back[:, [1, 3]], rtol=0, atol=1e-9)
    assert (there[:, 0] - there[:, 1]).abs().mean() > 0.5


def test_the_tables_hold_what_the_settings_say():
    notes, (symptom, drug, rest) = Notes(clear=0.6, stay=0.5, forward=0.3), (0, 1, 3)
    there, back = (notes.moves[kind, symptom, [symptom, drug, rest]].tolist() for kind in (0, 1))
    assert (there, back) == (pytest.approx([0.5, 0.3, 0.2]), pytest.approx([0.5, 0.2, 0.3]))
    words = notes.emissions[drug, [7, 11, 2, -8, -1]].tolist()  # its own, another's, common ones
    assert words == pytest.approx([0.18, 0.06, 0.02, 0.025, 0.025])
    assert notes.emissions.sum(1).tolist() == pytest.approx([1] * 4)


def test_draws_follow_the_tables_and_the_posterior_is_calibrated():
    drawn = Notes().draw(20_000, seed=0)
    lengths = (drawn.inputs != 0).sum(dim=1)
    assert (lengths.min().item(), lengths.max().item()) == (3, 16)
    assert lengths.float().mean().item() == pytest.approx(9.5, abs=0.2)
    right = (drawn.posterior.argmax(dim=1) == drawn.labels).float().mean().item()
    assert right == pytest.approx(drawn.posterior.amax(dim=1).mean().item(), abs=0.012)
    kind = drawn.inputs[drawn.labels == 0, 0]
    shares = kind.bincount(minlength=30).double() / len(kind)
    expected = Notes().start[0] @ Notes().emissions
    assert torch.allclose(shares, expected, atol=0.02)
    assert torch.equal(Notes().draw(5, seed=4).inputs, Notes().draw(5, seed=4).inputs)


def test_notes_have_the_lengths_that_are_asked_for():
    assert [len(part) for part in data.notes(50, calibration=60, test=70)] == [50, 60, 70]
    assert data.notes(5, language=Notes(2, 3)).train.inputs.shape == (5, 3)


test_bad_arguments_are_named = refusals.table("""
    Notes(5, 4) -> ValueError: ...longest
    Notes(clear=1.2) -> ValueError: ...clear
    Notes(stay=0.6) -> ValueError: ...forward
    Notes().posterior(torch.tensor([[2, 1]])) -> ValueError: ...texts must hold
    Notes().posterior(torch.tensor([[2, 0, 3]])) -> ValueError: ...texts must hold
""")
