"""The arbiter: distances by hand, an interrupted run, what a made-up table says, what is stored."""

import math

import numpy as np
import pandas as pd
import pytest
import torch
from matplotlib import pyplot as plt
from study import arbiter

from calibkit.__main__ import main
from calibkit.lab import data
from calibkit.pictures import alt_text
from tests.recalibration.samples import scored

TINY = arbiter.Size(labels=(50, 60), seeds=(400, 401), train=60, test=80, epochs=1, trees=5)
FEW = ("nothing", "temperature", "SVS", "isotonic")


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setitem(arbiter.SIZES, "smoke", TINY)
    few = {name: arbiter.MAPS[name] for name in FEW}
    monkeypatch.setattr(arbiter, "taking_part", lambda classes: few)


@pytest.mark.usefixtures("tiny")
def test_a_run_has_a_row_for_each_fit_and_the_command_tells_them(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CALIBKIT_CACHE", str(tmp_path / "cache"))
    assert main(["arbiter", "--scale", "smoke", "--target", str(tmp_path)]) == 0
    table, told = arbiter.stored(tmp_path, "smoke"), capsys.readouterr().out
    assert len(table) == 2 * 4 * 2 * 2 * len(FEW)
    assert not table.duplicated(arbiter.KEYS).any()
    assert np.isfinite(table.select_dtypes("number")).all(axis=None)
    nothing = table[table["map"] == "nothing"].groupby(["classes", "model", "seed"]).kl
    assert (nothing.nunique() == 1).all()  # no label changes it
    for words in (*arbiter.MODELS, "SVS", "smoke.csv"):
        assert words in told


def test_a_forest_tells_its_votes_and_one_more_tree():
    cal, test = arbiter.told(TINY, 2, "forest", 400)
    votes = cal.probs.double() * (TINY.trees + 1) - 1 / 2
    assert torch.allclose(votes.sum(1), torch.full((60,), 5.0).double(), atol=1e-5)
    assert (cal.probs > 0).all()
    assert len(test) == TINY.test


def test_a_class_that_the_model_never_saw_has_a_finite_logit(monkeypatch):
    train, cal, test = arbiter.splits(TINY, 10, 400)
    fewer = data.Splits(train[train.labels != 3], cal, test)
    monkeypatch.setattr(arbiter, "splits", lambda *_: fewer)
    told = arbiter.told(TINY, 10, "linear", 400)[1]
    assert torch.isfinite(told.logits).all()
    assert told.probs[:, 3].max() <= arbiter.FLOOR * 1.01


def test_distances_agree_with_plain_numpy():
    g = np.random.default_rng(0)
    p, q = g.dirichlet(np.ones(4), 300), g.dirichlet(np.ones(4), 300)
    labels = g.integers(0, 4, 300)
    made = arbiter.distances(*map(torch.as_tensor, (q, labels, p)))
    assert made["kl"] == pytest.approx((p * np.log(p / q)).sum(1).mean())
    assert made["nll"] == pytest.approx(-np.log(q[np.arange(300), labels]).mean())
    assert made["squared"] == pytest.approx(((p - q) ** 2).sum(1).mean())
    assert made["accuracy"] == (q.argmax(1) == labels).mean()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", arbiter.MAPS)
def test_each_map_comes_near_a_known_truth(name, classes):
    one = arbiter.MAPS[name]
    if one.classes not in (None, classes):
        assert name not in arbiter.taking_part(classes)
        return
    logits, labels = scored(3000, classes, temperature=3.0)
    fresh = scored(1000, classes, temperature=3.0, seed=1)[0]
    probs = one.fit(logits, labels)(fresh)
    made = arbiter.distances(probs, torch.zeros(1000, dtype=torch.long), (fresh / 3.0).softmax(1))
    assert probs.shape == (1000, classes)
    assert made["squared"] < (0.08 if name == "nothing" else 0.025)
    assert (made["kl"] > 0.2) == (name == "nothing")


def made_up(kl, labels=(50, 500), seeds=(1, 2, 3), model="MLP", classes=10):
    """A table whose KL is `kl[map](labels)`, a hundredth of the seed added."""
    rows = [
        [classes, model, seed, n, name, of(n) + seed / 100]
        for seed in seeds
        for n in labels
        for name, of in kl.items()
    ]
    table = pd.DataFrame(rows, columns=[*arbiter.KEYS, "kl"])
    return table.assign(nll=1.0, squared=0.1, accuracy=0.9, error=0.01, seconds=0.1)


KL = {
    "nothing": lambda n: 1.0,
    "temperature": lambda n: 0.5,
    "SMS": lambda n: 0.7 if n < 100 else 0.4,
    "isotonic": lambda n: 2.0 if n < 100 else 0.6,
}


def test_each_model_is_judged_by_differences_that_are_paired():
    of = KL | {"SMS": lambda n: 0.3, "shrunk matrix": lambda n: 0.31}
    parts = [made_up(of, (200, 5_000), classes=K, model=m) for K in (2, 10) for m in ("CNN", "MLP")]
    first, *_ = arbiter.conclusions(pd.concat(parts))
    for one in first.given:
        assert one.mean == pytest.approx(-0.2)
        assert one.low == pytest.approx(one.high)  # what a seed adds to all maps falls out


def test_the_figure_draws_the_means_and_names_every_line():
    table = made_up(KL)
    figure = arbiter.figure(table)
    (ax,) = figure.axes
    lines = {line.get_label(): line for line in ax.lines}
    assert set(lines) == set(KL)
    assert lines["SMS"].get_xdata().tolist() == [50, 500]
    assert lines["SMS"].get_ydata().tolist() == pytest.approx([0.72, 0.42])
    (legend,) = figure.legends
    assert {text.get_text() for text in legend.get_texts()} == set(KL)
    assert (ax.get_xscale(), ax.get_yscale(), ax.get_title()) == ("log", "log", "MLP, 10 classes")
    assert ax.get_ylim()[1] > 1.02  # the model as it is
    assert "SMS from 0.72 at 50 to 0.42 at 500" in alt_text.describe(figure)
    plt.close(figure)


def test_bands_are_those_of_the_difference_from_temperature():
    table = made_up(KL)
    table.loc[table["map"] == "SMS", "kl"] += table.seed / 50
    made = arbiter.beside_temperature(table).set_index(["map", "labels"]).half
    assert made["nothing", 50] == pytest.approx(0, abs=1e-12)  # all seeds have the same difference
    assert made["SMS", 50] == pytest.approx(4.3027 * 0.02 / math.sqrt(3), rel=1e-4)


def test_the_stored_table_holds_all_that_was_asked():
    table, size = arbiter.stored(), arbiter.SIZES["laptop"]
    assert sorted(table.labels.unique()) == sorted(size.labels)
    assert sorted(table.seed.unique()) == sorted(size.seeds)
    for (_, _), part in table.groupby(["classes", "model"]):
        assert part["map"].nunique() >= 15
        cells = part.groupby(["labels", "seed"]).size()
        assert len(cells) == len(size.labels) * len(size.seeds)
        assert cells.min() >= 14
    assert table.groupby(["classes", "model"]).ngroups == 8
