"""Rules that choose a part of the training images, and networks on what they chose."""

import math
from types import SimpleNamespace

import pandas as pd
import pytest
import torch

from calibkit import metrics, recalibration
from calibkit.course.experiments import choices, strengths
from calibkit.course.scale import budget
from calibkit.lab import training
from calibkit.prioritization import MaxLoss, Selection

SIZE = budget("smoke")
TRAIN = choices.digits(SIZE, 0.4, 0).train
LOGITS = torch.randn(len(TRAIN), choices.K, generator=torch.Generator().manual_seed(0)) * 3
COUNT = round(0.1 * len(TRAIN))


def chosen(name, logits=LOGITS, labels=None, seed=0):
    rule = choices.rule(SIZE, name, 0.1, 0.4, 0)
    generator = torch.Generator().manual_seed(seed)
    return rule.choose(logits, TRAIN.labels if labels is None else labels, generator)


@pytest.mark.parametrize("name", choices.RULES)
def test_a_rule_takes_its_share(name):
    taken = chosen(name)
    assert len(taken.unique()) == COUNT
    assert taken.tolist() == sorted(taken.tolist())


def test_another_rule_is_refused():
    with pytest.raises(ValueError, match=r"name must be one of random, .* got 'margin'"):
        choices.rule(SIZE, "margin", 0.1, 0.4, 0)


@pytest.mark.parametrize("name", choices.RULES)
def test_who_looks_at_the_labels(name):
    others = TRAIN.labels.flip(0)
    looks = not torch.equal(chosen(name), chosen(name, labels=others))
    assert looks == (name in ("loss", "error", "reducible"))


@pytest.mark.parametrize("name", choices.RULES)
def test_who_looks_at_the_network(name):
    looks = not torch.equal(chosen(name), chosen(name, logits=LOGITS.flip(0)))
    # the stranger's logits are put in the place of the network's by the training
    assert looks == (name not in ("random", "doubtful half"))


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
    taken = choices.MaxError(0.5).choose(certain, torch.tensor([0, 0, 1, 1]))
    assert taken.tolist() == [1, 2]


def test_the_lowest_entropy_is_the_surest():
    surest = torch.special.entr(LOGITS.softmax(dim=1)).sum(dim=1).argmin()
    assert surest in chosen("lowest entropy")


def test_a_loss_that_another_network_has_too_is_not_reducible():
    loss = torch.nn.functional.cross_entropy(LOGITS, TRAIN.labels, reduction="none")
    same = choices.Reducible(share=0.1, other=loss - torch.arange(len(TRAIN)))
    assert same.choose(LOGITS, TRAIN.labels).tolist() == list(range(len(TRAIN)))[-COUNT:]


def test_the_stranger_never_met_the_images():
    logits = choices.elsewhere(SIZE, 0.4, 0)
    assert logits.shape == (choices.epochs(SIZE), len(TRAIN), choices.K)


def test_a_trial_trains_as_it_says():
    made = choices.trial(SIZE, "entropy", 0.3, 1, way="focal", strength=2.0, decay=1e-2)
    assert made.recipe.select.share == 0.3
    assert made.recipe.select.warmup == choices.warmup(SIZE)
    assert (made.recipe.weight_decay, made.recipe.loss.keywords) == (1e-2, {"gamma": 2.0})
    assert choices.trial(SIZE, "all", 1.0, 1).recipe.select is None
    assert choices.trial(SIZE, "random", 0.1, 1, epochs=3).recipe.epochs == 3


def test_settings_are_tried_on_other_seeds_and_none_twice():
    grid = choices.settings()
    assert {one["seed"] for one in grid} == set(strengths.SELECTION)
    assert len({tuple(one.values()) for one in grid}) == len(grid)


def test_the_stored_table_has_every_setting_once():
    stored = choices.stored()
    keys = list(choices.settings()[0])
    expected = pd.DataFrame(choices.settings()).sort_values(keys).reset_index(drop=True)
    found = stored[keys].sort_values(keys).reset_index(drop=True)
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)
    assert stored.scaled_nll.map(math.isfinite).all()


def test_what_is_chosen_has_the_least_mean():
    stored = choices.stored()
    best = choices.chosen(stored, "entropy", 0.1, 0.4, "mixup")
    same = (stored.choice == "entropy") & (stored.share == 0.1) & (stored.way == "mixup")
    means = stored[same].groupby(["strength", "decay"]).scaled_nll.mean()
    assert means.idxmin() == (best["strength"], best["decay"])


def test_a_setting_that_was_not_tried_is_refused():
    with pytest.raises(ValueError, match=r"no row with .*'share': 0\.7"):
        choices.chosen(choices.stored(), "entropy", 0.7)


def test_networks_at_the_stored_decays_are_measured_after_a_temperature():
    options = {"device": "cpu", "cache": False, "progress": False}
    done = choices.at_best(SIZE, ("random", "all"), [0.4], 0.1, [7], **options)
    assert done.table[["choice", "share"]].to_numpy().tolist() == [["random", 0.1], ["all", 1.0]]
    for row, one in zip(done.table.itertuples(), done.outcomes, strict=True):
        cal, test = one.predictions["cal"], one.predictions["test"]
        scaler = recalibration.TemperatureScaler().fit(cal.logits, cal.labels)
        assert scaler.temperature == row.T
        assert row.scaled_nll == metrics.nll(scaler.probs(test.logits), test.labels)
        assert row.scaled_ece == metrics.ece(scaler.probs(test.logits), test.labels)


@pytest.mark.parametrize("name", ["entropy", "elsewhere", "loss"])
def test_what_is_called_taken_was_trained_on(name, monkeypatch):
    plan = choices.trial(SIZE, name, 0.1, 0, watch={"train": TRAIN}, keep=("train",))
    trained_on, choose = [], Selection.choose

    def recorded(self, *given):
        trained_on.append(choose(self, *given))
        return trained_on[-1]

    with monkeypatch.context() as patch:
        patch.setattr(Selection, "choose", recorded)
        run = training.train_trials([plan], device="cpu", progress=False)[0]
    taken = [indices.tolist() for indices, _ in choices.taken(run)]
    assert len(taken) == choices.epochs(SIZE) - choices.warmup(SIZE) > 0
    assert taken == [indices.tolist() for indices in trained_on]


def test_what_is_said_of_the_taken():
    recipe = SimpleNamespace(select=MaxLoss(0.1, warmup=1), epochs=2)
    outcome = SimpleNamespace(
        trial=SimpleNamespace(train=TRAIN, recipe=recipe), logits={"train": LOGITS[None]}
    )
    part, said = TRAIN[chosen("loss")], choices.described(outcome)
    logits = LOGITS[chosen("loss")]
    sure, best = part.posterior.max(dim=1)
    likely = (best == part.labels).double().mean().item()
    assert said["doubt that stays"] == pytest.approx(metrics.entropy(part.posterior).mean().item())
    assert said["unlikely labels"] == pytest.approx(1 - likely)
    assert said["gap of the exact posterior"] == pytest.approx(sure.mean().item() - likely)
    right = (logits.argmax(dim=1) == part.labels).double().mean().item()
    assert said["network right"] == right
    confidence = logits.softmax(dim=1).amax(dim=1).mean().item()
    assert said["gap of the network"] == pytest.approx(confidence - right, abs=1e-6)


@pytest.mark.slow
def test_a_stored_row_is_made_again():
    stored = choices.stored()
    row = stored[(stored.choice == "entropy") & (stored.share == 0.3) & (stored.noise == 0.4)].iloc[
        0
    ]
    setting = {key: row[key] for key in choices.settings()[0]} | {"seed": int(row.seed)}
    again = choices.train(budget("laptop"), [setting], device="cpu", cache=False, progress=False)
    assert again.scaled_nll.item() == pytest.approx(row.scaled_nll, abs=2e-3)
