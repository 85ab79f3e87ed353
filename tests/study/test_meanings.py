"""Scores that tell wrong answers, and questions of four places."""

import math

import pytest
import torch
from study import meanings

from calibkit import metrics
from calibkit.course.experiments import answers, facts
from calibkit.course.experiments.facts import ANSWERS, PLACE_OF, PLACES


def exact_law(n=100):
    world = facts.world()
    return world, facts.posterior(world, facts.text(world, 2_000))[:n]


def test_entropies_by_hand():
    law = torch.full((1, 4), 0.25)
    assert meanings.entropy(law).item() == pytest.approx(math.log(4))
    assert meanings.entropy(torch.tensor([[1.0, 0.0]])).item() == pytest.approx(0)


def test_names_add_to_the_entropy_by_wording_alone():
    _, exact = exact_law()
    law = exact @ facts.SAYING
    by_meaning, by_wording = meanings.entropy(answers.by_meaning(law)), meanings.entropy(law)
    names = meanings.entropy(facts.SAYING)  # of the names of each place
    torch.testing.assert_close(by_wording, by_meaning + exact @ names)


def test_draws_of_one_answer_have_no_entropy_and_of_its_names_only_by_wording():
    law = torch.zeros(500, len(ANSWERS), dtype=torch.float64)
    law[:, 0], law[:, 1] = 0.5, 0.5  # istanbul by two names
    by_wording, by_meaning = meanings.draws(law)
    assert by_meaning.abs().max() < 1e-12
    assert by_wording.mean() > 0.5


def test_the_expected_auroc_is_that_of_drawn_labels():
    generator = torch.Generator().manual_seed(0)
    chance = torch.rand(300, generator=generator, dtype=torch.float64)
    score = chance + 0.4 * torch.randn(300, generator=generator, dtype=torch.float64)
    drawn = []
    for _ in range(300):
        right = torch.rand(300, generator=generator, dtype=torch.float64) < chance
        drawn.append(metrics.auroc(score[right], score[~right]))
    drawn = torch.tensor(drawn)
    error = drawn.std().item() / math.sqrt(len(drawn))
    # pairs of one question with itself tie, which no draw has: 1 of 300 pairs
    assert drawn.mean().item() == pytest.approx(
        meanings.expected_auroc(score, chance), abs=3 * error + 1 / 300
    )


def test_the_true_place_is_offered_among_others():
    truth = torch.randint(len(PLACES), (2_000,), generator=torch.Generator().manual_seed(1))
    offered = meanings.options(truth, seed=2)
    assert ((offered == truth[:, None]).sum(dim=1) == 1).all()
    assert (offered.diff(dim=1) > 0).all()
    counts = offered.flatten().bincount(minlength=len(PLACES)).double() / len(truth)
    expected = meanings.OPTIONS / len(PLACES)
    assert (counts - expected).abs().max() < 4 * math.sqrt(expected / len(truth))


def test_the_posterior_is_exact_among_four_places_too():
    """Over worlds: the true place is the most probable of four as often as the law says."""
    off = []
    for seed in range(200):
        world = facts.world(0.4, 0.2, seed)
        exact = facts.posterior(world, facts.text(world, 300, seed))
        question = answers.asked(world, 40, seed)
        offered = meanings.options(world.truth[question], seed)
        said, _ = meanings.chosen(exact[question], offered)
        place = offered.gather(1, said.place[:, None])[:, 0]
        right = (place == world.truth[question]).double()
        off.append((right - said.confidence).mean())
    off = torch.stack(off)
    assert abs(off.mean()) <= 3 * off.std() / math.sqrt(len(off))


def test_the_most_usual_names_are_of_their_places():
    assert PLACE_OF[meanings.USUAL].tolist() == list(range(len(PLACES)))
    assert ANSWERS[meanings.USUAL[0]][0] == ("istanbul",)


def test_scores_are_of_the_names_that_are_listed():
    _, exact = exact_law(20)
    found = meanings.scores(exact @ facts.SAYING)
    assert tuple(found) == meanings.SCORES
    assert all(score.shape == (20,) for score in found.values())


def test_the_stored_table_is_of_five_seeds():
    table = meanings.stored()
    assert sorted(table.seed.unique()) == list(range(5))
    assert table[table.what == "score"].auroc.between(0, 1).all()
