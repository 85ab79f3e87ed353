"""A model that is trained to speak of its own answers."""

import functools

import pytest
import torch
from study import spoken

from calibkit.course.experiments import answers, facts, speaker
from calibkit.course.experiments.facts import ANSWERS, END, PLACE_OF, VOCABULARY


@functools.cache
def known():
    return answers.learned(seed=1, sentences=600, steps=40)


def test_the_own_answer_is_the_best_wording_of_the_best_place():
    law = torch.zeros(2, len(ANSWERS), dtype=torch.float64)
    law[0, 0], law[0, 1], law[0, -1] = 0.3, 0.2, 0.4  # two names of istanbul, one of another place
    law[1, -1] = 1.0
    said = spoken.own(law)
    assert said.tolist() == [0, len(ANSWERS) - 1]
    assert torch.equal(PLACE_OF[said], answers.by_meaning(law).argmax(dim=1))


def test_an_answer_is_joined_to_its_question_before_the_padding():
    prompts = facts.prompts(torch.tensor([3, 4_000]), seed=1)
    words, begun = answers.joined(prompts, torch.tensor([0, 5]), (END, "sure"))
    for row, prompt, way, length in zip(words, prompts, (0, 5), begun.tolist(), strict=True):
        asked = VOCABULARY.decode(prompt)
        assert len(asked) == length
        assert VOCABULARY.decode(row) == [*asked, *ANSWERS[way][0], END, "sure"]


def test_training_teaches_the_word_and_keeps_the_text():
    """Half of the questions are to be followed by "yes", as their wording alone tells."""
    question = torch.arange(0, facts.QUESTIONS, 40)
    words, _ = answers.joined(facts.prompts(question), torch.zeros_like(question), (END, "right"))
    birth = question < facts.QUESTIONS // 4
    target = torch.tensor(VOCABULARY.encode(spoken.JUDGEMENT))[birth.long()]
    before = [p.clone() for p in known().model.parameters()]
    model = spoken.train(known(), words, target, steps=60, seed=2)
    law = spoken.law_of(model, words, spoken.JUDGEMENT)
    torch.testing.assert_close(law.sum(dim=1), torch.ones(len(law), dtype=torch.float64))
    assert ((law[:, 1] > 0.5) == birth).double().mean() > 0.95
    told = known().text.words
    with torch.no_grad():
        losses = [speaker.next_word_loss(one, told).item() for one in (known().model, model)]
    assert losses[1] < losses[0] + 0.05  # it reads the text on
    for one, other in zip(before, known().model.parameters(), strict=True):
        assert torch.equal(one, other)


def test_the_mean_of_what_is_said_by_hand():
    law = torch.zeros(1, 11, dtype=torch.float64)
    law[0, 7], law[0, 10] = 0.5, 0.5
    assert spoken.mean(law).item() == pytest.approx(0.85)


def test_no_steps_are_refused():
    with pytest.raises(ValueError, match="steps"):
        spoken.train(known(), torch.ones(1, 2, dtype=torch.long), torch.ones(1).long(), steps=0)


def test_the_words_for_a_confidence_are_words_of_the_model():
    assert 1 not in VOCABULARY.encode([*spoken.PER_CENTS, *spoken.JUDGEMENT, "sure", "right"])


def test_the_stored_table_has_all_ways_of_five_seeds():
    table = spoken.stored()
    assert sorted(table.seed.unique()) == list(range(5))
    assert set(table.way) >= {*answers.WAYS, *spoken.WAYS}
    same = table[table.way.isin(spoken.WAYS) & (table.told == "all")]
    plain = table[(table.way == "by meaning") & (table.told == "all")].set_index("seed")
    # the same answers, hence as often right
    assert (same.accuracy - same.seed.map(plain.accuracy)).abs().max() < 1e-4


def test_what_did_not_change_is_as_in_the_table_of_answers():
    """The models and questions are those of `answers`, so that the rows of its ways agree."""
    mine, theirs = (
        table[(table.way == "by meaning") & (table.told == "all")].set_index("seed").error
        for table in (spoken.stored(), answers.stored())
    )
    assert mine.to_numpy() == pytest.approx(theirs.to_numpy(), abs=2e-3)
