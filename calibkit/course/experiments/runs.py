"""Train an experiment's grid on a prepared dataset."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from calibkit import corruptions, metrics, recalibration, validate
from calibkit.course.experiments.grids import EXPERIMENTS, Experiment, class_order
from calibkit.course.experiments.settings import NETWORKS, SETTINGS, Setting, setting_of
from calibkit.lab import data, models, sweep, training
from calibkit.lab.data import Dataset, Splits
from calibkit.lab.training import Trial


def run(
    name: str,
    scale: str,
    *,
    dataset: str = "cifar10",
    seeds: Sequence[int] | None = None,
    values: Sequence | None = None,
    network: str | None = None,
    root: str | Path | None = None,
    device: str | torch.device | None = None,
    jobs: int | None = None,
    cache: bool | str | Path = True,
    progress: bool = True,
) -> sweep.Sweep:
    """Train the grid of experiment `name` on a prepared dataset; see `sweep.run`.

    `values`, `seeds` and `network`, a name in `NETWORKS`, take the place of the experiment's own.
    The table has the `MEASURES`: `temperature` minimises the NLL on the calibration images,
    `scaled_ece` and `scaled_nll` are those of the test images after it; `grid_temperature` has the
    least ECE on a grid, `grid_ece` is that of the test images after it.

    Raises ValueError for a name or scale that there is not, FileNotFoundError, with the command
    that fetches it, for a dataset that is not prepared.
    """
    experiment = EXPERIMENTS[validate.choice("name", name, tuple(EXPERIMENTS))]
    validate.choice("scale", scale, tuple(SETTINGS))
    setting = setting_of(scale, experiment.changes, network)
    if experiment.people and dataset != "cifar10":
        raise ValueError(f"dataset must be 'cifar10' for {name!r}, got {dataset!r}")

    @functools.cache
    def splits(seed: int) -> Splits:
        return splits_of(dataset, setting, seed, root)

    def recipe(value, seed: int) -> Trial:
        parts = splits(seed)
        if value in experiment.people:
            given = people_labels(experiment.people[value], setting, seed, root)
            parts = parts._replace(train=parts.train.with_labels(given))
        return trial_of(experiment, setting, parts, value, seed)

    chosen = range(setting.seeds) if seeds is None else seeds
    asked = list(experiment.grid(scale) if values is None else values)
    grid = {"value": asked[:1] if experiment.corrupts else asked, "seed": chosen}
    done = sweep.run(recipe, grid, device=device, jobs=jobs, cache=cache, progress=progress)
    if experiment.corrupts:
        done = under_corruptions(done, asked, data.channel_statistics(dataset, root), device)
    if experiment.strange:
        done = with_strange_images(done, data.channel_statistics(dataset, root), device)
    done = measured(done)
    return _by_class(done, *experiment.by_class) if experiment.by_class else done


def splits_of(dataset: str, setting: Setting, seed: int, root) -> Splits:
    """Training, calibration and test images of a setting."""
    return data.splits_of(
        dataset,
        seed,
        train=setting.train,
        calibration=setting.calibration,
        test=setting.test,
        test_split=None if setting.test else "test",
        root=root,
    )


def people_labels(split: str, setting: Setting, seed: int, root) -> torch.Tensor:
    """What people wrote under the training images of `splits_of("cifar10", setting, seed)`."""
    clean, given = (
        data.splits_of(
            "cifar10n",
            seed,
            train=setting.train,
            calibration=setting.calibration,
            test=setting.test or 1,
            train_split=which,
            test_split=None if setting.test else "test",
            root=root,
        ).train.labels
        for which in ("clean", split)
    )
    ours = splits_of("cifar10", setting, seed, root).train.labels
    if not torch.equal(clean, ours):
        raise ValueError("the images of cifar10n are not those of cifar10; prepare both again")
    return given


def corrupted(
    test: Dataset,
    severity: int,
    statistics: tuple[Tensor, Tensor],
    names: Sequence[str] = corruptions.NAMES,
) -> Dataset:
    """Images that have one of the corruptions each, in turn; severity 0 has none.

    statistics: mean and standard deviation of each channel, by which the images were normalised.
    """
    if severity == 0:
        return test
    mean, std = (part.to(test.device).view(-1, 1, 1) for part in statistics)
    images = (test.inputs * std + mean).clamp_(0, 1)
    kinds = torch.arange(len(images), device=test.device) % len(names)
    for kind in kinds.unique().tolist():
        chosen, name = kinds == kind, names[kind]
        images[chosen] = corruptions.corrupt(images[chosen], name, severity, generator=severity)
    return replace(test, inputs=(images - mean) / std)


def under_corruptions(
    done: sweep.Sweep, severities: Sequence[int], statistics: tuple[Tensor, Tensor], device=None
) -> sweep.Sweep:
    """The networks of a sweep, each tested at every severity; `statistics` as of `corrupted`."""
    home, outcomes = training.as_device(device), []
    for severity, outcome in itertools.product(severities, done.outcomes):
        test = corrupted(outcome.trial.score["test"], severity, statistics)
        again = _tested_on(outcome, {"test": test}, home)
        outcomes.append(replace(again, setting=dict(outcome.setting) | {"value": severity}))
    return sweep.Sweep(outcomes)


def with_strange_images(
    done: sweep.Sweep, statistics: tuple[Tensor, Tensor], device=None
) -> sweep.Sweep:
    """The networks of a sweep, each tested on strange images too; `statistics` as of `corrupted`.

    "gaussian" are the test images under Gaussian noise of severity 5, "noise" as many images of
    noise alone. The table gets the AUROC of minus the entropy, test images against noisy ones, and
    the mean confidence of noise alone, both also after the temperature.
    """
    home, outcomes = training.as_device(device), []
    mean, std = (part.view(-1, 1, 1) for part in statistics)
    for outcome in done.outcomes:
        test = outcome.trial.score["test"]
        n, channels, *size = test.inputs.shape
        noise = corruptions.noise_images(n, size=size, channels=channels, generator=0)
        pure = replace(test, inputs=((noise - mean) / std).to(test.device))
        noisy = corrupted(test, 5, statistics, ("gaussian_noise",))
        outcomes.append(_tested_on(outcome, {"gaussian": noisy, "noise": pure}, home))
    seen = sweep.Sweep(outcomes)
    seen.measure("gaussian_auroc", lambda outcome: _auroc(outcome, 1.0))
    seen.measure(
        "gaussian_scaled_auroc", lambda outcome: _auroc(outcome, _scaler(outcome).temperature)
    )
    seen.measure("noise_scaled_confidence", _scaled_confidence)
    return seen


def _tested_on(
    outcome: sweep.Outcome, score: Mapping[str, Dataset], home: torch.device
) -> sweep.Outcome:
    """The outcome with predictions of the trained network for these datasets too."""
    state = {name: tensor.to(home) for name, tensor in outcome.run.state.items()}
    trial = replace(outcome.trial, score=dict(outcome.trial.score) | dict(score))
    run = replace(outcome.run, trial=trial, state=state).with_scores()
    return sweep.Outcome(outcome.setting, trial, run)


def _auroc(outcome: sweep.Outcome, temperature: float) -> float:
    """AUROC of minus the entropy at a temperature: test images against noisy ones."""
    said = (outcome.predictions[name].logits.double() for name in ("test", "gaussian"))
    inside, outside = (-metrics.entropy((z / temperature).softmax(dim=1)) for z in said)
    return metrics.auroc(inside, outside)


def _scaled_confidence(outcome: sweep.Outcome) -> float:
    """Mean confidence on pure noise after the temperature."""
    logits = outcome.predictions["noise"].logits.double()
    return _scaler(outcome).transform(logits).softmax(dim=1).amax(dim=1).mean().item()


def trial_of(experiment: Experiment, setting: Setting, splits: Splits, value, seed: int) -> Trial:
    """The training that one value of the grid stands for; its test images are watched."""
    train, changes = experiment.change(splits.train, value, seed)
    changes = dict(changes)
    epochs = round(setting.recipe.epochs * changes.pop("times", 1))
    if changes.get("select"):  # the source's share of epochs on all images, 10 of 200
        changes["select"] = replace(changes["select"], warmup=max(1, epochs // 20))
    network = NETWORKS[changes.pop("network", setting.network)]
    sized = {"size": train.inputs.shape[-1]} if network is models.lenet5 else {}
    channels, classes = train.inputs.shape[1], train.num_classes
    return training.trial(
        functools.partial(network, channels, classes, **sized),
        train,
        {"calibration": splits.calibration, "test": splits.test},
        setting.recipe,
        seed=seed,
        watch={"test": splits.test},
        epochs=epochs,
        **changes,
    )


def measured(done: sweep.Sweep) -> sweep.Sweep:
    """The sweep with the columns of a report that its table does not have by itself."""
    done.measure("temperature", lambda outcome: _scaler(outcome).temperature)
    done.measure("scaled_ece", lambda outcome: _scaled(outcome, metrics.ece))
    done.measure("scaled_nll", lambda outcome: _scaled(outcome, metrics.nll))
    done.measure("grid_temperature", lambda outcome: _scaler(outcome, "ece_grid").temperature)
    done.measure("grid_ece", lambda outcome: _scaled(outcome, metrics.ece, "ece_grid"))
    for name in ("smooth_ece", "classwise_ece", "brier", "overconfidence_error"):
        done.measure(f"test_{name}", functools.partial(_of_test, getattr(metrics, name)))
    return done.measure("seconds", lambda outcome: outcome.seconds)


def _by_class(done: sweep.Sweep, first: str, last: str) -> sweep.Sweep:
    """The sweep with the ECE of the test images *of* the first and the last class, and the gap."""
    done.measure(f"{first}_ece", functools.partial(_of_ranked_class, 0))
    done.measure(f"{last}_ece", functools.partial(_of_ranked_class, -1))
    done.table["class_gap"] = done.table[f"{last}_ece"] - done.table[f"{first}_ece"]
    return done


def _of_ranked_class(place: int, outcome: sweep.Outcome) -> float:
    """ECE of the test images of the class at a place of the seed's order."""
    test = outcome.predictions["test"]
    order = class_order(outcome.trial.score["test"], outcome.setting["seed"])
    return metrics.ece_by_group(test.probs, test.labels, test.labels)[order[place]]


def _of_test(measure, outcome: sweep.Outcome) -> float:
    test = outcome.predictions["test"]
    return measure(test.probs, test.labels)


def _scaler(
    outcome: sweep.Outcome, method: recalibration.Method = "nll"
) -> recalibration.TemperatureScaler:
    calibration = outcome.predictions["calibration"]
    scaler = recalibration.TemperatureScaler(method=method)
    return scaler.fit(calibration.logits, calibration.labels)


def _scaled(outcome: sweep.Outcome, measure, method: recalibration.Method = "nll") -> float:
    test = outcome.predictions["test"]
    scaled = _scaler(outcome, method).transform(test.logits)
    return measure(scaled.softmax(dim=1), test.labels)
