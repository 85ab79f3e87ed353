"""All networks of the course: the list, the places, the diagrams, what is kept."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from study import all_networks, contests
from study.families import Course, View, families

from calibkit import curation, metrics
from calibkit.__main__ import main
from calibkit.course.experiments import architectures, networks
from calibkit.course.scale import Budget, budget
from calibkit.lab import sweep

TINY = Budget(train=120, test=400, epochs=3, seeds=2, draws=1)
QUIET = {"cache": False, "progress": False, "jobs": 1, "device": "cpu"}
EVERY = families(TINY)
LESSONS = {"03", "04", "05", "06", "07", "08", "09", "10", "11", "12", "13", "14", "15"}


def one(changed, group, values=2):
    """A family of the tiny course with its first values."""
    found = next(f for f in EVERY if (f.changed, f.group) == (changed, group))
    return replace(found, values=dict(list(found.values.items())[:values]))


def outcomes(family, seeds=(0,)):
    grid = [{"value": value, "seed": seed} for value in family.values for seed in seeds]
    make_trial = lambda value, seed: family.make_trial(seed=seed, **family.values[value])  # noqa: E731
    return sweep.run(make_trial, grid, **QUIET).outcomes


@pytest.mark.parametrize("family", EVERY, ids=lambda f: f"{f.lesson} {f.changed}, {f.group}")
def test_every_value_is_a_training_that_scores_its_training_data(family):
    keys = []
    for change in family.values.values():
        trial = family.make_trial(seed=1, **change)
        assert len(trial.score) >= 2
        assert torch.equal(trial.score["train"].labels, trial.train.labels)
        assert trial.seed == 1
        data = trial.train.labels.tolist(), trial.train.inputs.double().sum().item()
        keys.append(str((trial.recipe, trial.model(), data)))
    assert set(family.noise) <= set(family.values)
    assert len(set(keys)) == len(keys)  # no two values mean the same


def test_the_architectures_are_trained_as_lesson_04_chooses():
    best = contests.chosen(contests.stored(), "after T")
    best = best[(best.width == 32) & (best.pixels == "in place")]
    assert len(best) == 12
    for one in best.itertuples():
        place = architectures.PLACES.index(one.place)
        recipe = Course(TINY).architecture(one.kind, 0, place=place).recipe
        assert (recipe.lr, recipe.weight_decay) == (one.rate, one.decay)


def test_a_place_is_what_a_plain_loop_finds():
    family = one("number of images", "noisy digits")
    table = all_networks.trained(family, (0, 1), **QUIET)
    assert table[networks.KEYS].to_numpy().tolist() == [
        ["05", "number of images", "noisy digits", value, seed]
        for value in ("8 images", "12 images")
        for seed in (0, 1)
    ]
    for row, found in zip(table.itertuples(), outcomes(family, (0, 1)), strict=True):
        with torch.no_grad():  # in evaluation mode, on the training labels
            fitted, fresh = (found.model(found.trial.score[n].inputs) for n in ("train", "new"))
        seen = (fitted.argmax(1) == found.trial.train.labels).double().mean().item()
        new = found.trial.score["new"]
        right = (fresh.argmax(1) == new.labels).double().mean().item()
        sure = fresh.double().softmax(1).amax(1).mean().item()
        assert row.lost == pytest.approx(seen - right, abs=1e-5)
        assert row.claimed == pytest.approx(sure - right, abs=1e-5)
        assert row.ece == pytest.approx(
            metrics.ece(fresh.softmax(1), new.labels, bins=10), abs=1e-5
        )


def test_with_label_noise_new_labels_are_as_noisy():
    rng = np.random.default_rng(0)
    probs = torch.tensor(rng.dirichlet([0.3] * 10, 200_000))
    labels = torch.tensor(rng.permuted(probs.argmax(1).numpy()))
    labels[:120_000] = probs.argmax(1)[:120_000]
    noisy = curation.symmetric_noise(labels, 0.3, classes=10, seed=0, kind="uniform").labels
    told = all_networks.row(View(1.0, probs, labels), 0.3)
    drawn = all_networks.row(View(1.0, probs, noisy))
    for name in all_networks.NUMBERS:
        assert told[name] == pytest.approx(drawn[name], abs=4e-3), name
    hits = [[float(x) for x in made["hits"].split()] for made in (told, drawn)]
    np.testing.assert_allclose(*hits, rtol=0.05, atol=40)


def test_the_epochs_of_a_training_are_a_path_that_ends_where_it_ends():
    family = one("epochs", "noisy digits")
    table = all_networks.trained(family, (0,), **QUIET)
    assert table.value.tolist() == ["epoch 1", "epoch 2", "epoch 3"]
    (found,) = outcomes(family)
    said = found.predict(found.trial.watch["new"])
    fitted = found.predict(found.trial.train)
    assert table.accuracy.iloc[-1] == pytest.approx(metrics.accuracy(said.probs, said.labels))
    right = metrics.accuracy(fitted.probs, fitted.labels)
    assert table.lost.iloc[-1] == pytest.approx(right - table.accuracy.iloc[-1], abs=2e-5)


def test_classes_are_judged_each_by_its_own_images():
    family = one("class by class", "ratio 100, exponential")
    table = all_networks.trained(family, (0,), **QUIET)
    (found,) = outcomes(family)
    new, train = found.predictions["new"], found.predictions["train"]
    counts = train.labels.bincount(minlength=10).tolist()
    of = new.labels == max(k for k in range(10) if counts[k] == min(counts))
    last = table.iloc[-1]
    assert last.value == "class of rank 10"
    assert networks.reliability(last).counts.sum() == of.sum()
    assert last.accuracy == pytest.approx(metrics.accuracy(new.probs[of], new.labels[of]), abs=1e-5)
    even = all_networks.trained(one("class by class", "equally common classes"), (0,), **QUIET)
    assert even.value.tolist() == [f"digit {k}" for k in range(10)]


@pytest.fixture
def few(monkeypatch, tmp_path):
    """A course of two families, and a cache of its own."""
    chosen = [one("number of images", "noisy digits"), one("cure", "focal loss")]
    monkeypatch.setattr(all_networks, "families", lambda size: chosen)
    monkeypatch.setenv("CALIBKIT_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_the_command_keeps_a_table_and_goes_on_where_it_was(few, monkeypatch, capsys):
    order = ["reproduce", "networks", "--scale", "smoke", "--seeds", "2", "--jobs", "1"]
    order += ["--device", "cpu", "--target", str(few)]
    assert main(order) == 0
    first = networks.stored(few)
    trained = first[first.lesson.isin(["05", "15"]) & (first.seed >= 300)]
    assert trained.seed.unique().tolist() == list(all_networks.SEEDS[:2])
    assert len(trained) == 8
    told = capsys.readouterr().out
    assert "number of images" in told
    assert "networks.csv" in told

    def forbidden(*_, **__):
        raise AssertionError("trained again")

    monkeypatch.setattr(sweep.grid.loop, "train_unit", forbidden)
    assert main(order) == 0
    pd.testing.assert_frame_equal(networks.stored(few), first)


@pytest.fixture(scope="module")
def kept():
    return networks.stored()


def test_the_committed_table_has_every_family_with_three_seeds(kept):
    own = kept[kept.seed >= min(all_networks.SEEDS)]
    names = ["lesson", "changed", "group"]
    there = set(own[names].itertuples(index=False, name=None))
    every = families(budget("laptop"))
    assert there == {(f.lesson, f.changed, f.group) for f in every}
    assert set(own.groupby([*names, "value"]).seed.nunique()) == {3}
    assert not kept.duplicated(networks.KEYS).any()
    assert 500 <= len(kept) <= 1_000
    for family in every:
        part = own[(own[names] == [family.lesson, family.changed, family.group]).all(axis=1)]
        assert all(any(told.startswith(value) for told in part.value) for value in family.values)


def test_one_seed_has_no_kappa(kept):
    assert networks.kappas(kept[kept.seed == all_networks.SEEDS[0]]).kappa.isna().all()


def test_networks_of_photographs_are_those_of_their_tables_and_runs(kept):
    made = all_networks.photographs().sort_values("lesson", kind="stable", ignore_index=True)
    own = kept[kept.group.isin(made.group.unique())].reset_index(drop=True)
    pd.testing.assert_frame_equal(own.fillna(-1), made.fillna(-1), check_dtype=False)
