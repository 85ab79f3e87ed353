"""The experiments on real texts: the papers' convolutional network on prepared datasets."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import torch
from torch import Tensor, nn

from calibkit import mixing, validate
from calibkit.course.verdicts import Verdict
from calibkit.lab import data, models, sweep, text, training
from calibkit.lab.data import Dataset, Splits, prepared
from calibkit.lab.training import Recipe, Trial
from study import classifiers
from study.experiment import Experiment, Measured, Task
from study.photograph_grids import BASELINES, changing, named

Row = tuple[list[str], int]  # the words of a text, and its label


@dataclass(frozen=True)
class Setting:
    """How one scale cuts the texts, and trains on them.

    train, calibration, test: texts; None for all that are left, or for the dataset's own split. A
        number of test texts is cut from all texts together.
    words, length: entries of the vocabulary, and words of a text that are read.
    embedding, width, depth: of the convolutional network.
    """

    train: int | None
    calibration: int | None
    test: int | None
    words: int
    length: int
    embedding: int
    width: int
    depth: int
    recipe: Recipe
    seeds: int


ADAM = Recipe(optimizer="adamw", lr=3e-3, weight_decay=0.0, schedule="constant", batch_size=64)
SENTENCES = Setting(None, None, None, 10_000, 40, 50, 64, 1, replace(ADAM, epochs=6), seeds=3)
_LONG = replace(ADAM, lr=1e-3, epochs=25)
SETTINGS = {
    "laptop": SENTENCES,
    "paper": replace(SENTENCES, embedding=300, width=128, recipe=_LONG, seeds=5),
}


@dataclass(frozen=True, kw_only=True)
class Texts(Experiment):
    """An experiment on a prepared dataset of texts; `options` may name word vectors."""

    settings = SETTINGS
    options = ("vectors",)
    step_statement = "{dataset}: {of} with {value} is {larger} than with {than}"

    def prepare(self, task: Task, seed: int) -> tuple[Splits, Tensor | None]:
        """The texts of a seed as numbers, and the word vectors to start from, if there are any."""
        splits, vocabulary = text_splits(self.dataset, task.setting, seed, task.root)
        if task.vectors is None:
            return splits, None
        return splits, text.read_vectors(task.vectors, vocabulary, seed=seed)[0]

    def run(self, task: Task, prepared: Callable, grid: Sequence[dict], **options: Any) -> Measured:
        """The outcomes of a grid, and the table of the runs."""

        def make_trial(value: str, seed: int) -> Trial:
            splits, vectors = prepared(seed)
            train, changes = self.change(splits.train, value, seed)
            network = functools.partial(_network, task.setting, train.num_classes, vectors)
            score = {"calibration": splits.calibration, "test": splits.test}
            return training.trial(network, train, score, task.setting.recipe, seed=seed, **changes)

        outcomes = sweep.run(make_trial, grid, device=task.device, **options).outcomes
        return outcomes, classifiers.rows(outcomes), {}

    def main_verdicts(self, table: pd.DataFrame) -> list[Verdict]:
        """None: the steps say all."""
        return []


def text_splits(
    dataset: str, setting: Setting, seed: int, root=None
) -> tuple[Splits, text.Vocabulary]:
    """Training, calibration and test texts as padded numbers, and the vocabulary of the training.

    Posts of 20 Newsgroups lose their header, which names the group; quotes and signatures stay.
    """
    names = prepared.about(dataset, root)["splits"]
    pools = {name: data.load_text(dataset, split=name, root=root) for name in names}
    rows = {name: _rows_of(dataset, pool, setting.length) for name, pool in pools.items()}
    parts = _cut(rows, setting, seed)
    vocabulary = text.Vocabulary.of((words for words, _ in parts[0]), size=setting.words)

    def part(chosen: list[Row]) -> Dataset:
        numbers = text.pad([vocabulary.encode(words) for words, _ in chosen], setting.length)
        labels = torch.tensor([label for _, label in chosen])
        return Dataset(numbers, labels, pools["train"].classes)

    return Splits(*map(part, parts)), vocabulary


def _rows_of(dataset: str, pool: data.Texts, length: int) -> list[Row]:
    """The first words of each text, and its label."""
    headed = dataset == "20newsgroups"
    texts = [one.partition("\n\n")[2] if headed else one for one in pool.columns["text"]]
    labels = [] if pool.labels is None else pool.labels.tolist()
    return [(text.tokens(one)[:length], label) for one, label in zip(texts, labels, strict=True)]


def _cut(rows: dict[str, list[Row]], setting: Setting, seed: int) -> tuple[list[Row], ...]:
    """What trains, calibrates and tests."""
    shuffle = validate.generator(seed)

    def shuffled(items: list) -> list:
        return [items[i] for i in torch.randperm(len(items), generator=shuffle).tolist()]

    if setting.test is not None:
        pool = shuffled([row for part in rows.values() for row in part])
        test, pool = pool[: setting.test], pool[setting.test :]
    else:
        test, pool = rows["test"], shuffled(rows["train"])
    if setting.calibration is None:
        calibration = rows["validation"]
    else:
        calibration, pool = pool[: setting.calibration], pool[setting.calibration :]
    if not pool or not calibration:
        raise ValueError(f"the dataset must have more texts, {setting.test} are cut off to test")
    return pool[: setting.train], calibration, test


def _network(setting: Setting, classes: int, vectors: Tensor | None) -> nn.Module:
    """The setting's network; with word vectors (V, D) to start from, D takes its embedding."""
    words, embedding = (setting.words, setting.embedding) if vectors is None else vectors.shape
    shape = {"embedding": embedding, "width": setting.width, "depth": setting.depth}
    model = models.text_cnn(words, classes, **shape)
    if vectors is not None:
        with torch.no_grad():
            model.get_parameter("body.words.weight").copy_(vectors)
    return model


# what Mukhoti et al. (2020) compare cross-entropy with
PAPERS = ("focal, gamma 3", "FLSD-53", *BASELINES[:2], "MMCE, weight 2", BASELINES[2])
MIXED = {
    "no mixup": None,
    "mixup .2": functools.partial(mixing.word_mixup, alpha=0.2),
    "mixup 1": functools.partial(mixing.word_mixup, alpha=1.0),
}
_SENTENCES = Texts(
    dataset="sst2",
    varies="mixup of word vectors, alpha",
    values=tuple(MIXED),
    change=changing("mix", MIXED),
    claim=("X5", "mixup gives a smaller ECE than none"),
    between=("no mixup", "mixup 1"),
    expect="below",
)
_CUT = {"calibration": 900, "test": 3_999}
_LARGE = {"words": 20_000, "length": 1_000, "embedding": 100, "depth": 3}
_POSTS = Texts(
    dataset="20newsgroups",
    varies="loss",
    values=("cross-entropy", *PAPERS),
    change=named,
    claim=("N1", "focal loss with gamma 3 gives a smaller ECE than cross-entropy"),
    between=("cross-entropy", "focal, gamma 3"),
    expect="below",
    setting_changes={
        "laptop": _CUT | {"train": 6_000, "length": 100},
        "paper": _CUT | _LARGE | {"epochs": 50, "batch_size": 128},
    },
)
_QUESTIONS = replace(
    _SENTENCES, dataset="trec", setting_changes={scale: {"calibration": 500} for scale in SETTINGS}
)
TEXTS = {
    experiment.dataset: replace(experiment, name="text")
    for experiment in (_POSTS, _SENTENCES, _QUESTIONS)
}
