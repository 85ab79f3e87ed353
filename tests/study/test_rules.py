"""Rules that choose a part of the training images, and networks on what they chose."""

import pytest
import torch
from study import rules

from calibkit.course.experiments import choices
from calibkit.course.scale import budget

SIZE = budget("smoke")
TRAIN = choices.digits(SIZE, 0.4, 0).train
LOGITS = torch.randn(len(TRAIN), choices.K, generator=torch.Generator().manual_seed(0)) * 3
COUNT = round(0.1 * len(TRAIN))


def chosen(name, logits=LOGITS, labels=None, seed=0):
    rule = rules.rule(SIZE, name, 0.1, 0.4, 0)
    generator = torch.Generator().manual_seed(seed)
    return rule.choose(logits, TRAIN.labels if labels is None else labels, generator)


@pytest.mark.parametrize("name", rules.RULES)
def test_a_rule_takes_its_share(name):
    taken = chosen(name)
    assert len(taken.unique()) == COUNT
    assert taken.tolist() == sorted(taken.tolist())


def test_the_doubtful_half_is_a_random_part_of_the_ambiguous_images():
    entropy = torch.special.entr(TRAIN.posterior).sum(dim=1)
    once, twice = chosen("doubtful half"), chosen("doubtful half", seed=1)
    assert not torch.equal(once, twice)
    assert entropy[once].min() >= entropy.median()
    ambiguous = entropy[entropy > entropy.median()]
    assert entropy[once].mean() < ambiguous.topk(COUNT).values.mean()


def test_most_to_learn_is_the_divergence_from_the_exact_posterior():
    exact = TRAIN.posterior.clamp_min(1e-30)
    divergence = (exact * (exact.log() - LOGITS.double().log_softmax(dim=1))).sum(dim=1)
    assert chosen("most to learn").tolist() == divergence.topk(COUNT).indices.sort()[0].tolist()


def test_the_error_is_the_distance_from_the_label():
    certain = torch.full((4, 2), -20.0)
    certain[[0, 1, 2, 3], [0, 1, 0, 1]] = 20.0
    taken = rules.MaxError(0.5).choose(certain, torch.tensor([0, 0, 1, 1]))
    assert taken.tolist() == [1, 2]


def test_a_loss_that_another_network_has_too_is_not_reducible():
    loss = torch.nn.functional.cross_entropy(LOGITS, TRAIN.labels, reduction="none")
    same = rules.Reducible(share=0.1, other=loss - torch.arange(len(TRAIN)))
    assert same.choose(LOGITS, TRAIN.labels).tolist() == list(range(len(TRAIN)))[-COUNT:]
