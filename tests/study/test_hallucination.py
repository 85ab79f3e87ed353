"""Sentences that a model makes up, and the share that it must."""

import functools
import math

import pytest
import torch
from study import asking

from calibkit.course.experiments import answers, facts, hallucination
from calibkit.course.experiments.hallucination import Written


@functools.cache
def known(seed=0):
    return answers.learned(0.4, 0.0, seed, sentences=600, steps=30)


def test_the_exact_reader_invents_as_much_as_it_must():
    """One who speaks by the law and the posterior invents 23 / 24 of the missing mass."""
    surplus, slack = [], []
    for seed in range(40):
        world = facts.world(0.4, 0.0, seed)
        text = facts.text(world, 800, seed)
        posterior = facts.posterior(world, text)
        generator = torch.Generator().manual_seed(1_000 + seed)  # not the draws of the text
        question = torch.multinomial(world.frequency, 2_000, True, generator=generator)
        place = torch.multinomial(posterior[question], 1, generator=generator)[:, 0]
        here = answers.Learned(world, text, posterior, known().model)
        found = hallucination.measure(here, Written(question, place))
        surplus.append(found["invented"] - asking.bound(facts.missing_mass(world, text)))
        slack.append(found["invented"] - found["invented_unseen"])
    surplus = torch.tensor(surplus)
    assert abs(surplus.mean()) <= 3 * surplus.std() / math.sqrt(len(surplus))
    assert max(slack) == 0


def test_a_silent_model_invents_nothing_and_is_miscalibrated_by_all_that_is_missing():
    told = hallucination.write(known(), 300)
    found = hallucination.measure(known(), told, torch.ones(300, dtype=torch.bool))
    assert found["invented"] == found["garbled"] == 0
    assert found["abstained"] == 1
    missing = facts.missing_mass(known().world, known().text)
    assert found["miscalibration"] == pytest.approx(missing)
    assert asking.bound(missing, found["miscalibration"]) == pytest.approx(0)


def test_the_stored_table_never_breaks_the_bound():
    table = hallucination.stored()
    assert sorted(table.rare.unique()) == list(hallucination.SHARES)
    error = (table.invented * (1 - table.invented) / hallucination.WRITTEN).pow(0.5)
    assert (table.invented >= table.bound - 3 * error).all()
    trained = table[table.limit == 0]
    outside = (trained.missing < trained.low) | (trained.missing > trained.high)
    assert outside.mean() <= 0.2  # 95 % intervals of 25 texts
    rising = trained.groupby(["steps", "rare"]).invented.mean().unstack()
    assert (rising.diff(axis=1).iloc[:, 1:] > 0).all(axis=None)
