"""All networks of the course, trained and measured: `python -m calibkit reproduce networks`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from torch import Tensor

from calibkit import metrics
from calibkit.course.experiments import photograph_runs
from calibkit.course.experiments.networks import BINS, DIAGRAM, FOLDER, KEYS, NAME
from calibkit.course.experiments.tables import stored as stored_table
from calibkit.course.scale import budget
from calibkit.lab import sweep, training
from calibkit.metrics import Reliability, plane
from study import night_runs
from study.families import Family, View, families

SEEDS = (300, 301, 302)  # of no lesson
NUMBERS = ["lost", "claimed", "accuracy", "confidence", "ece"]
COLUMNS = [*KEYS, *NUMBERS, *DIAGRAM]


def row(view: View, noise: float = 0.0) -> dict:
    """One network: its place, and its diagram on new data.

    noise: the share r of training labels that were drawn anew. Then what is said of new data is
        said of data with the same kind of labels: of n predictions of which h are right on clean
        labels, (1 - r) h + r n / K are expected to be.

    counts, hits and sure are texts of one number a bin: predictions, those that are right, and the
    mean confidence in thousandths (- where the bin is empty). `ece` is that of these bins.

    >>> made = row(View(1.0, torch.tensor([[0.9, 0.1], [0.65, 0.35]]), torch.tensor([0, 1])))
    >>> made["lost"], made["claimed"], made["hits"][:13]
    (0.5, 0.275, '0 0 0 0 0 0 0')
    """
    probs = view.probs.double()
    clean = metrics.reliability(probs, view.labels, bins=BINS)
    classes = probs.shape[1]
    hits = (1 - noise) * clean.hits.double() + noise * clean.counts / classes
    seen = Reliability(clean.edges, clean.counts, hits, clean.confidence)
    right = plane.same_labels_accuracy(metrics.accuracy(probs, view.labels), noise, classes)
    sure = probs.amax(dim=1).mean().item()
    place = plane.place(view.train_accuracy, right, sure)
    numbers = [*place, right, sure, seen.error()]
    return dict(zip(NUMBERS, (round(number, 5) for number in numbers), strict=True)) | {
        "counts": _text(seen.counts),
        "hits": _text(hits),
        "sure": _text((1000 * clean.confidence).round()),
    }


def _text(numbers: Tensor) -> str:
    return " ".join("-" if x != x else f"{round(x, 1):g}" for x in numbers.tolist())


def trained(family: Family, seeds: Sequence[int] = SEEDS, **options) -> pd.DataFrame:
    """Train a family and measure it: one row a dot. `options` are those of `sweep.run`."""
    grid = [{"value": value, "seed": seed} for value in family.values for seed in seeds]

    def make_trial(value: str, seed: int) -> training.Trial:
        return family.make_trial(seed=seed, **family.values[value])

    rows = []
    for outcome in sweep.run(make_trial, grid, **options).outcomes:
        value, seed = outcome.setting["value"], outcome.setting["seed"]
        for words, view in family.views(outcome).items():
            told = ", ".join(filter(None, (value, words)))
            made = row(view, family.noise.get(value, 0.0))
            rows.append([family.lesson, family.changed, family.group, told, seed, *made.values()])
    table = pd.DataFrame(rows, columns=COLUMNS)
    table["joined"] = int(family.joined)
    return _by_value(table)


def _by_value(table: pd.DataFrame) -> pd.DataFrame:
    """The rows value by value, in the order in which the values come first."""
    order = pd.CategoricalDtype(table.value.unique(), ordered=True)
    return table.sort_values("value", key=lambda told: told.astype(order), kind="stable")


def run(scale: str = "laptop", seeds: Sequence[int] = SEEDS, **options) -> pd.DataFrame:
    """Every family of the course, and the photographs.

    scale: the lessons' sizes, "smoke" for tests. Finished trainings are kept, so that an
    interrupted call goes on; `options` are those of `sweep.run`. ValueError for an unknown scale.
    """
    chosen, tables = families(budget(scale)), []
    for number, family in enumerate(chosen, 1):
        if options.get("progress", True):
            print(f"{number} of {len(chosen)}: {family.lesson} {family.changed}, {family.group}")
        tables.append(trained(family, seeds, **options))
    whole = pd.concat([*tables, photographs()])
    return whole.sort_values("lesson", kind="stable", ignore_index=True)


# --- photographs ----------------------------------------------------------------------------------

# lesson, what is changed, group, experiment, dataset
STORED = (
    ("03", "width of the network", "photographs", "width", None),
    ("03", "depth of the network", "photographs", "depth", None),
    ("05", "number of images", "photographs", "size", None),
    ("06", "label noise", "photographs", "noise", None),
    ("06", "label noise", "MNIST", "noise", "mnist"),
    ("07", "class imbalance", "photographs", "imbalance", None),
    ("09", "loss", "photographs", "soft", None),
    ("10", "focal loss", "photographs", "focal", None),
    ("13", "noise of the new images", "photographs, corrupted", "shift", None),
)
UNORDERED = {"imbalance", "soft", "depth"}


def photographs() -> pd.DataFrame:
    """Networks for photographs, from the stored tables and the logits of the nights.

    Across they lie by the training accuracy as it was met in the last epoch, but those whose logits
    are stored, which were measured at the end.
    """
    parts = [_from_table(*one) for one in STORED]
    return pd.concat([*parts, *_from_runs()], ignore_index=True)


def _from_table(lesson, changed, group, name, dataset) -> pd.DataFrame:
    rows = []
    for one in stored_table(name, "night", dataset=dataset).itertuples():
        noise = float(one.value) if name == "noise" else 0.0
        right = plane.same_labels_accuracy(one.test_accuracy, noise, 10)
        sure = one.test_accuracy + one.test_gap
        place = plane.place(one.train_accuracy, right, sure)
        ece = float("nan") if noise else one.test_ece
        key = [lesson, changed, group, _value_of(name, one.value), one.seed]
        rows.append([*key, *_undrawn(*place, right, sure, ece)])
    made = pd.DataFrame(rows, columns=COLUMNS)
    return made.assign(joined=int(name not in UNORDERED))


def _undrawn(*numbers: float) -> list:
    """`NUMBERS` of a network whose diagram is not stored."""
    return [*(round(number, 5) for number in numbers), *(None,) * len(DIAGRAM)]


def _value_of(name: str, value) -> str:
    """A value of a stored table in words."""
    words = {
        "size": lambda part: f"{round(20_000 * part):,} images",
        "noise": lambda rate: f"{100 * rate:.0f} % of the labels shuffled",
        "shift": lambda severity: f"severity {severity}",
    }
    return words.get(name, str)(value)


def _from_runs() -> list[pd.DataFrame]:
    """Weight decay, and the epochs of three trainings, from the runs whose logits are stored."""
    rows, epochs = [], []
    for one in night_runs.table().sort_values(["decay", "seed"]).itertuples():
        if one.loss != "cross-entropy":
            continue
        kept = photograph_runs.logits(one.loss, one.seed, one.decay)
        view = View(one.train_accuracy, kept["test"].softmax(dim=1), kept["test_labels"])
        key = ["03", "weight decay", "photographs", f"weight decay {one.decay:g}", one.seed]
        rows.append([*key, *row(view).values()])
        if one.decay == 5e-4:
            epochs += _epochs(photograph_runs.epochs(one.loss, one.seed, one.decay), one.seed)
    path = _by_value(pd.DataFrame(epochs, columns=COLUMNS))
    return [pd.DataFrame(rows, columns=COLUMNS).assign(joined=1), path.assign(joined=1)]


def _epochs(history: pd.DataFrame, seed: int) -> list[list]:
    """The dots of a training; the accuracy of an epoch is as met in it, so the last comes close."""
    rows = []
    for one in history.itertuples():
        place = plane.place(one.train_accuracy, one.test_accuracy, one.test_confidence)
        key = ["03", "epochs", "photographs", f"epoch {one.epoch}", seed]
        told = _undrawn(*place, one.test_accuracy, one.test_confidence, float("nan"))
        rows.append([*key, *told])
    return rows


def write(table: pd.DataFrame, folder: Path) -> Path:
    """Keep the table as FOLDER/plane/networks.csv; returns its path."""
    path = Path(folder) / FOLDER / f"{NAME}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(path, index=False, lineterminator="\n")
    return path
