"""The lessons' experiments on photographs: what is trained, measured and claimed."""

from dataclasses import replace

import pandas as pd
import pytest
import torch
from study import engine, photograph_grids, photographs, reports
from study.engine import setting_of
from study.photograph_grids import EXPERIMENTS
from study.photographs import SETTINGS, Setting, corrupted, splits_of, trial_of

from calibkit import corruptions, losses, metrics
from calibkit.course import experiments
from calibkit.lab import data, training
from calibkit.lab.data import prepared
from calibkit.lab.training import Recipe

TINY = Setting("ResNet-8", Recipe(epochs=1, batch_size=16), 40, 20, 30, 2)
NAMES = tuple(EXPERIMENTS)


@pytest.fixture
def root(tmp_path, monkeypatch):
    """Coloured squares, prepared as a dataset of photographs is."""
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(120) % 3
    inputs = torch.randint(256, (120, 3, 16, 16), generator=generator, dtype=torch.uint8)
    inputs[torch.arange(120), labels] //= 4
    split = {"inputs": inputs, "labels": labels}
    letters = {"inputs": inputs[:, :1, 2:14, 2:14].clone(), "labels": labels}  # grey and smaller
    given = {"clean": 0, "aggregate": 1, "random1": 2, "worst": 3}  # tens of wrong labels
    people = [(kind, {"labels": _wrong(labels, tens)}) for kind, tens in given.items()]
    both = [("train", split), ("test", split)]
    datasets = {"squares": both, "cifar10": both, "svhn": both, "notmnist": [("test", letters)]}
    for name, splits in (datasets | {"cifar10n": people}).items():
        folder = tmp_path / name / "prepared"
        folder.mkdir(parents=True)
        more = {"base": ["cifar10", "train"]} if splits is people else {}
        prepared.write(folder, splits, tuple("abc" if name == "notmnist" else "rgb"), more)
    monkeypatch.setitem(SETTINGS, "laptop", TINY)
    monkeypatch.setenv("CALIBKIT_CACHE", str(tmp_path / "cache"))
    return tmp_path


def _wrong(labels, tens):
    wrong = labels.clone()
    wrong[: 10 * tens] = (wrong[: 10 * tens] + 1) % 3
    return wrong


def of(name):
    """The dataset that an experiment is tried on: people labelled CIFAR-10, which has strangers."""
    return "cifar10" if EXPERIMENTS[name].people or EXPERIMENTS[name].strangers else "squares"


def run(name, root, **options):
    options = {"device": "cpu", "progress": False, "dataset": of(name)} | options
    return engine.run(name, "laptop", root=root, **options)


def trial(name, value, root):
    splits = splits_of("squares", TINY, 0, root)
    return trial_of(EXPERIMENTS[name], TINY, splits, value, 0), splits


def test_mitigations_weigh_the_classes_by_their_training_images(root):
    plain, _ = trial("imbalance", "exponential, none", root)
    counts = plain.train.labels.bincount()
    logits, target = torch.randn(6, 3), torch.tensor([0, 1, 2, 0, 1, 2])
    weights = {
        "weighted": losses.inverse_frequency_weights(counts),
        "class-balanced": losses.class_balanced_weights(counts, beta=0.9999),
    }
    for way, expected in weights.items():
        made, _ = trial("imbalance", f"exponential, {way}", root)
        loss = made.recipe.loss(logits, target)
        other = losses.cross_entropy(logits, target, class_weights=expected)
        assert loss.item() == pytest.approx(other.item(), abs=1e-6)
    smooth, _ = trial("imbalance", "step, label smoothing .1", root)
    assert smooth.recipe.loss.keywords == {"alpha": 0.1}
    assert trial("imbalance", "step, focal, gamma 2", root)[0].recipe.loss.keywords == {"gamma": 2}
    assert plain.recipe.loss is losses.cross_entropy


def test_people_wrote_the_training_labels_and_no_others(root):
    trained = {}
    for value in EXPERIMENTS["people"].values:
        outcome = run("people", root, values=[value], seeds=[0]).outcomes[0]
        trained[value] = outcome.trial.train
        for part in outcome.predictions.values():
            assert part.labels.bincount().max() < 20
    true = trained["true labels"]
    wrong = [int((given.labels != true.labels).sum()) for given in trained.values()]
    assert wrong[0] == 0
    assert sorted(wrong) == wrong
    assert wrong[1] > 0
    assert all(torch.equal(given.inputs, true.inputs) for given in trained.values())
    with pytest.raises(ValueError, match="dataset must be 'cifar10'"):
        run("people", root, dataset="squares")


def test_a_severity_corrupts_the_test_images_and_nothing_else(root):
    clean = splits_of("squares", TINY, 0, root)
    statistics = prepared.channel_statistics("squares", root)
    assert corrupted(clean.test, 0, statistics) is clean.test
    weak, strong = (corrupted(clean.test, severity, statistics) for severity in (1, 5))
    away = [(part.inputs - clean.test.inputs).abs().flatten(1).mean(1) for part in (weak, strong)]
    assert (away[1] > 0).all()
    assert away[1].mean() > 1.2 * away[0].mean()
    contrast = corruptions.NAMES.index("contrast")
    mean, std = (part.view(-1, 1, 1) for part in statistics)
    image = clean.test.inputs[[contrast]] * std + mean
    expected = corruptions.corrupt(image.clamp(0, 1), "contrast", 5)
    assert torch.allclose(strong.inputs[[contrast]] * std + mean, expected, atol=1e-5)

    done = run("shift", root)
    trained = {0: set(), 1: set()}
    for outcome in done.outcomes:
        trained[outcome.setting["seed"]].add(outcome.history.train_loss.iloc[-1])
    assert [len(losses) for losses in trained.values()] == [1, 1]  # one network, every severity
    assert done.table.groupby("seed").temperature.nunique().tolist() == [1, 1]
    assert done.table.groupby("seed").test_nll.nunique().tolist() == [6, 6]


def test_strangers_come_from_another_dataset_on_the_scale_of_the_first(root):
    done = run("elsewhere", root, values=["cross-entropy"], seeds=[0])
    outcome, row = done.outcomes[0], done.table.iloc[0]
    shown = outcome.trial.score["elsewhere"]
    as_loaded = data.load("svhn", split="test", root=root, like="cifar10").inputs
    assert torch.allclose(shown.inputs, as_loaded, atol=1e-5)
    test, strange = (
        outcome.predictions[name].logits.double().softmax(1) for name in ("test", "elsewhere")
    )
    told = metrics.auroc(-metrics.entropy(test), -metrics.entropy(strange))
    assert row.elsewhere_auroc == pytest.approx(told, abs=1e-6)
    assert row.elsewhere_confidence == pytest.approx(strange.amax(dim=1).mean().item(), abs=1e-6)
    cooled = (outcome.predictions["elsewhere"].logits.double() / row.temperature).softmax(dim=1)
    assert row.elsewhere_scaled_confidence == pytest.approx(cooled.amax(dim=1).mean().item())


def test_a_target_chooses_by_what_it_knew_after_as_many_epochs(root, monkeypatch):
    monkeypatch.setitem(SETTINGS, "laptop", replace(TINY, recipe=Recipe(epochs=3, batch_size=16)))
    value = "focal, 20% by the target's entropy"
    done = run("guided", root, values=[value, "focal, 20% by entropy"], seeds=[0])
    guided, own = (outcome.trial.recipe.select for outcome in done.outcomes)
    train = done.outcomes[0].trial.train
    assert guided.target.shape == (3, len(train), 3)
    assert (guided.share, guided.warmup, own.share, own.target) == (0.2, 1, 0.2, None)
    target = photographs.NETWORKS["ConvNet-24"]
    again = training.trial(
        lambda: target(3, 3),
        train,
        {},
        done.outcomes[0].trial.recipe,
        seed=5000,
        select=None,
        loss=torch.nn.functional.cross_entropy,
        watch={"train": train},
        keep=("train",),
        **photograph_grids.WAYS["mixup"],
    )
    kept = training.train_trials([again], device="cpu", progress=False)[0].logits["train"]
    assert torch.allclose(guided.target, kept, atol=1e-4)
    assert not torch.allclose(kept[0], kept[2], atol=1e-2)


def test_strange_images_are_noisy_ones_and_noise_alone(root):
    done = run("strange", root, values=["cross-entropy"], seeds=[0])
    outcome, row = done.outcomes[0], done.table.iloc[0]
    seen, statistics = outcome.trial.score, prepared.channel_statistics("squares", root)
    mean, std = (part.view(-1, 1, 1) for part in statistics)
    noisy = corruptions.corrupt(
        (seen["test"].inputs * std + mean).clamp(0, 1), "gaussian_noise", 5, generator=5
    )
    assert torch.allclose(seen["gaussian"].inputs * std + mean, noisy, atol=1e-5)
    noise = seen["noise"].inputs * std + mean
    assert ((noise < 1e-5) | (noise > 1 - 1e-5)).double().mean() > 0.5  # N(1/2, 1), clipped
    entropies = {
        scaled: [
            metrics.entropy((outcome.predictions[name].logits.double() / t).softmax(1))
            for name in ("test", "gaussian")
        ]
        for scaled, t in (("", 1.0), ("scaled_", row.temperature))
    }
    for scaled, (inside, outside) in entropies.items():
        pairs = (outside[None] - inside[:, None]).sign().double().mean()
        assert row[f"gaussian_{scaled}auroc"] == pytest.approx((1 + pairs.item()) / 2, abs=1e-6)
    on_noise = outcome.run.model(seen["noise"].inputs).detach()
    for scaled, t in (("", 1.0), ("scaled_", row.temperature)):
        confidence = (on_noise / t).softmax(1).amax(1).mean().item()
        assert row[f"noise_{scaled}confidence"] == pytest.approx(confidence, abs=1e-5)


def test_the_temperature_is_fitted_on_the_calibration_images(root):
    done = run("noise", root, values=[0.0], seeds=[0])
    (outcome,), row = done.outcomes, done.table.iloc[0]
    said, temperature = outcome.predictions["test"], row.temperature
    expected = metrics.ece((said.logits.double() / temperature).softmax(1), said.labels)
    assert row.scaled_ece == pytest.approx(expected, abs=1e-6)
    cal = outcome.predictions["calibration"]
    nll = [metrics.nll((cal.logits / t).softmax(1), cal.labels) for t in (1.02, 1.0, 0.98)]
    at_best = metrics.nll((cal.logits / temperature).softmax(1), cal.labels)
    assert at_best <= min(nll) + 1e-6
    errors = {
        t / 10: metrics.ece((10 * cal.logits / t).softmax(1), cal.labels) for t in range(1, 101)
    }
    assert row.grid_temperature == pytest.approx(min(errors, key=errors.get))


@pytest.mark.parametrize(("dataset", "batch"), [("cifar100", 128), ("tiny-imagenet", 64)])
def test_a_paper_has_a_recipe_for_each_dataset(dataset, batch):
    recipe = setting_of(replace(EXPERIMENTS["focal"], dataset=dataset), "paper").recipe
    assert (recipe.lr, recipe.momentum, recipe.batch_size) == (0.1, 0.9, batch)


@pytest.mark.parametrize("network", ["ResNet-110", "WRN-26-10", "DenseNet-121"])
def test_another_network_takes_the_place_of_the_scales_own(network, root):
    paper = setting_of(EXPERIMENTS["focal"], "paper", network)
    assert (paper.network, paper.recipe.epochs) == (network, 350)
    splits = splits_of("squares", TINY, 0, root)
    short = replace(paper, recipe=replace(paper.recipe, epochs=1))
    few = splits._replace(train=splits.train[:4], calibration=splits.test[:2], test=splits.test[:2])
    run = training.train_trials(
        [trial_of(EXPERIMENTS["focal"], short, few, "FLSD-53", 0)], device="cpu", progress=False
    )[0]
    assert run.history.train_loss.notna().all()
    with pytest.raises(ValueError, match="network must be one of"):
        setting_of(EXPERIMENTS["width"], "paper", "ResNet-1000")


def test_a_lesson_shows_what_is_stored_and_trains_where_it_is_told_to(root, monkeypatch):
    done = run("noise", root)
    (root / "notebooks" / "source").mkdir(parents=True)
    folder = root / "notebooks" / "results"
    reports.write(run("noise", root, dataset="cifar10"), folder)
    monkeypatch.chdir(root)
    monkeypatch.setattr("study.engine.run", lambda *a, **k: done)
    for scale in ("smoke", "laptop", "gpu"):
        table = experiments.on_photographs("noise", scale)
        assert reports.shown(table).equals(reports.shown(done.table))
    accuracy = 100 * done.table.test_accuracy[done.table.value == 0.2]
    first = reports.shown(done.table).loc[0.2, "accuracy, %"]
    assert first == f"{accuracy.mean():.1f}\u00a0±\u00a0{accuracy.std(ddof=1):.1f}"


@pytest.mark.parametrize("name", NAMES)
def test_the_whole_grid_runs_and_is_reported(name, root):
    experiment = EXPERIMENTS[name]
    part = run(name, root).table.set_index(["value", "seed"]).seconds
    assert set(part.index.levels[0]) == set(experiment.grid("laptop"))  # a laptop's part
    done = run(name, root, values=experiment.values)
    seconds = done.table.set_index(["value", "seed"]).seconds
    assert seconds[part.index].equals(part)  # kept, under a key of its own
    assert len(done.table) == len(experiment.values) * 2
    assert done.table.notna().all(axis=None)
    path, text = reports.write(done, root / "out"), reports.told(done)
    assert str(reports.verdict(name, done.table)) in text
    again = experiments.stored(name, "laptop", root / "out", dataset=of(name))
    more = {"class-noise": 3, "imbalance": 3, "elsewhere": 6}
    columns = 7 + (more | {"strange": 10, "strange-at-best": 10}).get(name, 0)
    assert reports.shown(again).shape == (len(experiment.values), columns)
    steps = reports.verdicts(name, again)
    assert len(steps) == len(experiment.steps or experiment.values[1:])
    assert all(str(step) in text for step in steps)
    curves = pd.read_csv(path.with_name(f"{path.stem}-epochs.csv"))
    last = curves[curves.epoch == curves.groupby(["value", "seed"]).epoch.transform("max")]
    trained = done.table[: len(last)]  # under corruptions the first severity is trained alone
    assert len(trained) == (2 if experiment.one_network else len(done.table))
    assert last.test_nll.to_numpy() == pytest.approx(trained.test_nll.to_numpy(), abs=1e-4)
