"""The lesson's experiments on real texts: the papers' convolutional network on prepared datasets.

`run_text` trains, `write_text` keeps the table with hardware, versions and n beside the paper's
figure; `python -m calibkit reproduce text --dataset NAME` does both.
"""

from __future__ import annotations

import functools
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd
import torch
from torch import Tensor, nn

from calibkit import mixing, validate
from calibkit.course import checkout
from calibkit.course.experiments.grids import LOSSES
from calibkit.course.experiments.runs import measured
from calibkit.course.experiments.tables import MEASURES, MORE, hardware, in_markdown, shown
from calibkit.course.verdicts import Verdict, judge
from calibkit.lab import data, models, sweep, text, training
from calibkit.lab.data import Dataset, Splits, prepared
from calibkit.lab.training import Recipe, Trial

OF_LOSSES = (
    "cross-entropy",
    "focal, gamma 3",
    "FLSD-53",
    "label smoothing .05",
    "Brier",
    "MMCE, weight 2",
)
MIXED = {"no mixup": None, "mixup .2": 0.2, "mixup 1": 1.0}
Row = tuple[list[str], int]  # the words of a text, and its label
ADAM = Recipe(optimizer="adamw", lr=3e-3, weight_decay=0.0, schedule="constant", batch_size=64)


@dataclass(frozen=True)
class TextExperiment:
    """How one dataset is cut, what is varied on it, and what is claimed of the ECE.

    train, calibration, test: texts; None for all that are left, or for the dataset's own split. A
        number of test texts is cut from all texts together.
    words, length: entries of the vocabulary, and words of a text that are read.
    embedding, width, depth: of the convolutional network.
    """

    claim: str
    varies: str
    values: tuple[str, ...]
    figure: str
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


_SENTENCES = TextExperiment(
    claim="X5",
    varies="mixup of word vectors, alpha",
    values=tuple(MIXED),
    figure="curves only (Thulasidasan et al. 2019: mixup of sentence embeddings lowers the ECE of "
    "text classifiers)",
    train=None,
    calibration=None,
    test=None,
    words=10_000,
    length=40,
    embedding=50,
    width=64,
    depth=1,
    recipe=replace(ADAM, epochs=6),
    seeds=3,
)
TEXTS = {
    "20newsgroups": TextExperiment(
        claim="N1",
        varies="loss",
        values=OF_LOSSES,
        figure="ECE of cross-entropy 17.92 %, Brier 13.58, MMCE 15.48, label smoothing .05 4.79, "
        "FLSD-53 6.92; T, by a grid on ECE, 3.4, 2.3, 2.2, 1.1 and 1.5; 15,098 training and 3,999 "
        "test posts, 50 epochs, GloVe vectors, the epoch of best validation accuracy (Mukhoti et "
        "al. 2020, table 1)",
        train=6_000,
        calibration=900,
        test=3_999,
        words=10_000,
        length=100,
        embedding=50,
        width=64,
        depth=1,
        recipe=replace(ADAM, epochs=6),
        seeds=3,
    ),
    "sst2": _SENTENCES,
    "trec": replace(_SENTENCES, calibration=500),
}
_LONG = {
    "embedding": 300,
    "width": 128,
    "recipe": replace(ADAM, lr=1e-3, epochs=25),
    "seeds": 5,
}
PAPER = {  # what scale "paper" changes
    "20newsgroups": {
        "train": None,
        "words": 20_000,
        "length": 1_000,
        "embedding": 100,
        "width": 128,
        "depth": 3,
        "recipe": replace(ADAM, lr=1e-3, epochs=50, batch_size=128),
        "seeds": 5,
    },
    "sst2": _LONG,
    "trec": _LONG,
}


def text_setting(dataset: str, scale: str) -> TextExperiment:
    """The experiment on a dataset, as a scale runs it: "laptop" or "paper"."""
    experiment = TEXTS[validate.choice("dataset", dataset, tuple(TEXTS))]
    validate.choice("scale", scale, ("laptop", "paper"))
    return replace(experiment, **PAPER[dataset]) if scale == "paper" else experiment


def run_text(
    dataset: str,
    scale: str = "laptop",
    *,
    seeds: Sequence[int] | None = None,
    values: Sequence[str] | None = None,
    vectors: str | Path | None = None,
    root: str | Path | None = None,
    device: str | torch.device | None = None,
    jobs: int | None = None,
    cache: bool | str | Path = True,
    progress: bool = True,
) -> sweep.Sweep:
    """Train the grid on a prepared text dataset; see `sweep.run` and `experiments.run`.

    vectors: a file of word vectors, such as GloVe's, to start from; by default they start random.
    All of them are trained. Raises as `experiments.run` does.
    """
    setting = text_setting(dataset, scale)

    @functools.cache
    def splits(seed: int) -> tuple[Splits, Tensor | None]:
        parts, vocabulary = text_splits(dataset, setting, seed, root)
        start = None if vectors is None else text.read_vectors(vectors, vocabulary, seed=seed)[0]
        return parts, start

    def recipe(value: str, seed: int) -> Trial:
        return _trial(setting, *splits(seed), value, seed)

    chosen = range(setting.seeds) if seeds is None else seeds
    grid = {"seed": chosen, "value": setting.values if values is None else values}
    return measured(
        sweep.run(recipe, grid, device=device, jobs=jobs, cache=cache, progress=progress)
    )


def text_splits(
    dataset: str, setting: TextExperiment, seed: int, root=None
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
    texts = pool.columns["text"]
    if dataset == "20newsgroups":
        texts = [post.partition("\n\n")[2] for post in texts]
    words = [text.tokens(one)[:length] for one in texts]
    return list(zip(words, pool.labels.tolist(), strict=True))


def _cut(rows: dict[str, list[Row]], setting: TextExperiment, seed: int) -> tuple[list[Row], ...]:
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


def _trial(setting: TextExperiment, parts: Splits, start, value: str, seed: int) -> Trial:
    changes = {"loss": LOSSES[value]} if value in LOSSES else {"mix": _mix(MIXED[value])}
    network = functools.partial(_network, setting, parts.train.num_classes, start)
    score = {"calibration": parts.calibration, "test": parts.test}
    return training.trial(network, parts.train, score, setting.recipe, seed=seed, **changes)


def _network(setting: TextExperiment, classes: int, start: Tensor | None) -> nn.Module:
    """The setting's network; with word vectors (V, D) to start from, D takes its embedding."""
    words, embedding = (setting.words, setting.embedding) if start is None else start.shape
    shape = {"embedding": embedding, "width": setting.width, "depth": setting.depth}
    model = models.text_cnn(words, classes, **shape)
    if start is not None:
        with torch.no_grad():
            model.body.words.weight.copy_(start)
    return model


def _mix(alpha: float | None) -> Callable | None:
    return None if alpha is None else functools.partial(mixing.word_mixup, alpha=alpha)


def text_verdicts(dataset: str, table: pd.DataFrame) -> list[Verdict]:
    """For each value but the first: its ECE is smaller than that of the first."""
    experiment = TEXTS[validate.choice("dataset", dataset, tuple(TEXTS))]
    by_seed = table.pivot(index="seed", columns="value", values="test_ece")
    first, *others = (value for value in experiment.values if value in by_seed)
    return [
        judge(
            experiment.claim,
            f"{dataset}: ECE with {value} is smaller than with {first}",
            (by_seed[value] - by_seed[first]).tolist(),
            expect="below",
        )
        for value in others
    ]


def text_report(dataset: str, scale: str, done: sweep.Sweep, *, device: str, vectors=None) -> str:
    """A page in Markdown: what was run, where, what came out, and the paper's own figure."""
    setting, table = text_setting(dataset, scale), done.table
    rows, recipe, one = shown(table), setting.recipe, done.outcomes[0].trial
    seeds = table.seed.nunique()
    judged = [f"- {line}" for line in text_verdicts(dataset, table)] if seeds > 1 else []
    lines = [
        f"# text, {dataset}, scale {scale}",
        "",
        *in_markdown(setting.varies, rows),
        "",
        f"Mean ± standard deviation over {seeds} seeds. Training accuracy is that of the last "
        "epoch as it was met; under mixup it is that of blends.",
        "",
        *(judged or ["One seed: no verdict."]),
        "",
        f"Source: {setting.figure}.",
        "",
        f"- Texts: {len(one.train):,} training, {len(one.score['calibration']):,} calibration, "
        f"{len(one.score['test']):,} test, "
        + ("cut at random by the seed" if setting.test else "the dataset's own test texts")
        + f"; the first {setting.length} words of each, a vocabulary of {setting.words:,}.",
        f"- Network: {setting.depth} convolution(s) of 5 words, {setting.width} wide, word vectors "
        f"of {setting.embedding}, which start {'from a file' if vectors else 'random'} and are "
        f"trained; {recipe.epochs} epochs of Adam, rate {recipe.lr:g}, batch {recipe.batch_size}; "
        "the last epoch is judged.",
        f"- Seconds a run: {table.seconds.median():.0f} (median).",
        f"- Hardware: {hardware(device)}.",
        f"- Versions: Python {platform.python_version()}, torch {torch.__version__}.",
        f"- Again: `python -m calibkit reproduce text --scale {scale} --dataset {dataset}`",
        "",
    ]
    return "\n".join(lines)


def write_text(
    dataset: str, scale: str, done: sweep.Sweep, folder: Path, *, device, vectors=None
) -> Path:
    """Keep the runs as FOLDER/SCALE/text-DATASET.csv and the report beside it; returns it."""
    target = Path(folder) / scale
    target.mkdir(parents=True, exist_ok=True)
    done.table = done.table[["value", "seed", *MEASURES, *MORE]].round(6)
    done.table.to_csv(target / f"text-{dataset}.csv", index=False)
    page = target / f"text-{dataset}.md"
    page.write_text(
        text_report(dataset, scale, done, device=str(device), vectors=vectors), encoding="utf-8"
    )
    return page


def on_text(dataset: str, scale: str = "laptop") -> pd.DataFrame:
    """One row a run, as stored under notebooks/results; at "paper" trained anew.

    Raises FileNotFoundError with the command that makes the table.
    """
    if scale == "paper":
        return run_text(dataset, scale).table
    path = checkout.results() / "laptop" / f"text-{dataset}.csv"
    if not path.exists():
        raise FileNotFoundError(
            f"{path} is not there; run python -m calibkit reproduce text --dataset {dataset}"
        )
    return pd.read_csv(path)
