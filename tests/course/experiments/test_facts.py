"""The world of facts: its laws against draws from them, and what is made of a text."""

import math

import pytest
import torch

from calibkit.course.experiments import answers, facts, hallucination, speaker
from calibkit.course.experiments.facts import PLACE_OF, SAYING


def within(values, expected, errors=3.0):
    """Whether the mean of values (n,) is `expected` to so many standard errors."""
    values = values.double()
    return abs(values.mean() - expected) <= errors * values.std() / math.sqrt(len(values))


def test_every_law_sums_to_one_and_every_word_is_known():
    assert torch.allclose(SAYING.sum(dim=1), torch.ones(24, dtype=torch.float64))
    assert facts.world().frequency.sum().item() == pytest.approx(1)
    told = facts.text(facts.world(), 500)
    assert not (told.words == 1).any()  # <unk>
    assert len(PLACE_OF) == len(facts.ANSWERS) == len(set(facts.ANSWERS))


def test_the_posterior_is_bayes_rule_by_hand():
    world = facts.world(0.3, 0.2)
    told = facts.text(world, 3)
    said = torch.tensor([PLACE_OF.tolist().index(place) for place in (4, 4, 7)])
    told = told._replace(question=torch.tensor([9, 9, 9]), said=said)
    slip = 0.2 / 23
    likely = torch.full((24,), slip**3, dtype=torch.float64)
    likely[4], likely[7] = 0.8**2 * slip, 0.8 * slip**2
    torch.testing.assert_close(facts.posterior(world, told)[9], likely / likely.sum())
    assert facts.posterior(world, told)[8].tolist() == pytest.approx([1 / 24] * 24)


def test_the_posterior_is_calibrated_over_worlds():
    differences = []
    for seed in range(60):
        world = facts.world(0.5, 0.4, seed)
        told = facts.text(world, 400, seed)
        known = facts.posterior(world, told)[told.question]
        right = known.gather(1, world.truth[told.question][:, None])[:, 0]
        # the expected probability of the truth is the sum of squares
        differences.append((right - known.square().sum(dim=1)).mean())
    assert within(torch.stack(differences), 0.0)


def test_good_turing_covers_the_missing_mass():
    inside, gaps = 0, []
    for seed in range(200):
        world = facts.world(0.3, 0.1, seed)
        told = facts.text(world, 2_000, seed)
        found = facts.good_turing(facts.mentions(told).sum(dim=1))
        missing = facts.missing_mass(world, told)
        inside += found.low <= missing <= found.high
        gaps.append(found.estimate - missing)
    assert inside >= 190 - 3 * math.sqrt(200 * 0.95 * 0.05)
    assert within(torch.tensor(gaps), 0.0, 4)  # its expectation is off by 1 / n at the most


def test_an_answer_has_the_product_of_its_words_whatever_the_padding():
    torch.manual_seed(0)
    model = speaker.Decoder(len(facts.VOCABULARY), width=8, depth=1, heads=2)
    prompts = facts.prompts(torch.tensor([0, 9, 4000, 9000]), seed=1)
    assert prompts[:, -1].eq(0).any()  # some questions are shorter
    found = answers.by_wording(model, prompts)
    for way, (words, _) in [*enumerate(facts.ANSWERS)][::7]:
        for row, asked in enumerate(prompts):
            begun, chance = asked[asked != 0].tolist(), 1.0
            for word in facts.VOCABULARY.encode(words):
                law = model(torch.tensor([begun]))[0, -1].double().softmax(dim=0)
                begun, chance = [*begun, word], chance * law[word].item()
            assert found[row, way].item() == pytest.approx(chance, rel=1e-4), words


def test_what_a_model_made_up_is_counted():
    world = facts.world(0.5, 0.0)
    text = facts.text(world, 50)
    unseen = facts.mentions(text).sum(dim=1) == 0
    told, new = text.question[0], unseen.nonzero()[0, 0]
    question = torch.tensor([told, told, new, new, new, -1, told, told])
    place = torch.where(question < 0, -1, world.truth[question])
    place[[1, 3]] = (place[[1, 3]] + 1) % 24  # two are false
    known, wrote = answers.Learned(world, text, None, None), hallucination.Written(question, place)
    quiet = torch.arange(8) % 8 > 5  # the last two say that they do not know
    names = ("invented", "invented_unseen", "unseen", "garbled", "abstained")
    for silent, eighths in ((None, (2, 1, 3, 1, 0)), (quiet.roll(-2), (2, 1, 2, 0, 2))):
        found = hallucination.measure(known, wrote, silent)
        missing = world.frequency[unseen].sum().item() - eighths[2] / 8
        assert [8 * found[name] for name in names] == [*eighths]
        assert found["miscalibration"] == pytest.approx(missing)
    spoiled = text.words[:3].clone()
    spoiled[0, 2], spoiled[1, -3:], spoiled[2, 1:] = 1, 1, 0  # of a question, of an answer, of both
    assert hallucination.read(spoiled).question.tolist() == [-1, -1, -1]
    assert hallucination.read(text.words).place.equal(world.truth[text.question])
