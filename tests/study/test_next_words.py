"""Next words beside their exact law, and the law of answers that are drawn in other ways."""

import functools
import math

import pytest
import torch
from study import next_words

from calibkit.course.experiments import answers, facts, speaker
from calibkit.course.experiments.facts import ANSWERS, VOCABULARY


@functools.cache
def known():
    return answers.learned(seed=1, sentences=600, steps=60)


def test_every_word_of_a_sentence_has_its_part():
    told = facts.text(facts.world(), 200)
    found = next_words.parts(told)
    assert torch.equal(found >= 0, told.words[:, 1:] != 0)
    first = torch.tensor([VOCABULARY.numbers[word] for word in facts.FIRST])
    assert torch.equal(found == 1, torch.isin(told.words[:, 1:], first))
    assert ((found == 3).sum(dim=1) == 1).all()


def test_new_sentences_follow_the_exact_law():
    """Over worlds: hits of the most probable word less its exact probability, by part."""
    off = []
    for seed in range(20):
        world = facts.world(0.4, 0.2, seed)
        text = facts.text(world, 300, seed)
        here = answers.Learned(world, text, facts.posterior(world, text), known().model)
        words = next_words.new_words(here, 40, seed)
        told = facts.text(world, 40, 20_000 + seed)
        said = told.words[:, 1:][next_words.parts(told) >= 0]
        chance, word = words.exact.max(dim=1)
        hits = (word == said).double() - chance
        off.append([hits[words.part == k].mean() for k in range(len(next_words.PARTS))])
    off = torch.tensor(off)
    error = off.std(dim=0) / math.sqrt(len(off))
    assert (off.mean(dim=0).abs() <= 3 * error).all()


def test_a_reader_by_the_exact_law_has_no_error():
    words = next_words.new_words(known(), 50)
    found = next_words.compared(words.exact, words.exact)
    for name in ("ece", "error", "distance", "excess"):
        assert found[name] == pytest.approx(0, abs=1e-9)
    assert next_words.compared(words.law, words.exact)["excess"] > 0.1


@pytest.mark.parametrize(("temperature", "top"), [(1.0, 1.0), (0.6, 1.0), (1.0, 0.8), (1.4, 0.9)])
def test_the_law_of_answers_is_that_of_words_drawn_one_by_one(temperature, top):
    n, generator = 6_000, torch.Generator().manual_seed(5)
    prompt = facts.prompts(torch.tensor([1_234]), seed=1)
    log = answers.next_in_answers(known().model, prompt)
    law = next_words.drawn_law(log, temperature, top)
    words = prompt.expand(n, -1)
    begun = words.shape[1]
    for _ in range(3):  # in, and two words of a place
        with torch.no_grad():
            after = next_words.nucleus(speaker.after(known().model, words), temperature, top).exp()
        words = torch.cat([words, torch.multinomial(after, 1, generator=generator)], dim=1)
    drawn = [tuple(row) for row in words[:, begun:].tolist()]
    for way in law[0].topk(5).indices.tolist():
        answer = tuple(VOCABULARY.encode(ANSWERS[way][0]))
        share = sum(row[: len(answer)] == answer for row in drawn) / n
        chance = law[0, way].item()
        assert share == pytest.approx(chance, abs=3 * math.sqrt(chance * (1 - chance) / n))


def test_no_change_is_the_law_as_it_was():
    prompts = facts.prompts(torch.tensor([3, 9_000]))
    log = answers.next_in_answers(known().model, prompts)
    expected = answers.by_wording(known().model, prompts)
    torch.testing.assert_close(next_words.drawn_law(log, 1.0, 1.0), expected, atol=1e-5, rtol=1e-4)


def test_a_nucleus_keeps_as_few_words_as_reach_it():
    log = torch.tensor([[0.5, 0.2, 0.2, 0.1]], dtype=torch.float64).log()
    assert next_words.nucleus(log, top=0.49).exp().tolist() == [[1.0, 0.0, 0.0, 0.0]]
    kept = next_words.nucleus(log, top=0.6).exp()
    assert (kept > 0).sum() == 2  # of the two that tie the first
    cold = next_words.nucleus(log, temperature=0.5).exp()
    torch.testing.assert_close(cold, log.exp().square() / 0.34)


@pytest.mark.parametrize("arguments", [{"temperature": 0.0}, {"top": 0.0}, {"top": 1.1}])
def test_a_temperature_or_a_nucleus_of_nothing_is_refused(arguments):
    with pytest.raises(ValueError, match=next(iter(arguments))):
        next_words.nucleus(torch.zeros(1, 3), **arguments)


def test_answers_by_the_exact_law_are_at_no_distance_and_wrong_as_often_as_the_text():
    world = facts.world()
    exact = facts.posterior(world, facts.text(world, 600))[:80]
    said = facts.next_said(world, exact)
    found = next_words.answered(said @ facts.SAYING, exact, said)
    assert found["distance"] == pytest.approx(0, abs=1e-9)
    assert found["names"] == pytest.approx(0, abs=1e-9)
    assert found["right"] == pytest.approx((said * exact).sum(dim=1).mean().item())


def test_the_stored_table_is_of_five_seeds_and_its_shares_sum_to_one():
    table = next_words.stored()
    assert sorted(table.seed.unique()) == list(range(5))
    drawn = table[table.what == "drawn"]
    assert ((drawn.right + drawn.wrong + drawn.garbled - 1).abs() < 1e-4).all()
    exact = drawn[drawn.part == "exact"]
    assert (exact.distance.abs() < 1e-5).all()
