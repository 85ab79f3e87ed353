"""The arbiter: which map comes closest to the truth, from how many labels, where it is known.

`python -m calibkit arbiter` fits all maps of `contestants` on 50 to 20,000 labels of two networks,
a forest and a linear model, which learned from digits under noise, and writes for each how far its
predictions are from the exact posterior of 5,000 new images. Each row is kept once it is measured.
"""

from __future__ import annotations

import csv
import functools
import itertools
import json
import platform
import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import pandas as pd
import sklearn
import torch
from torch import Tensor
from tqdm.auto import tqdm

from calibkit import metrics, validate
from calibkit.course import checkout
from calibkit.lab import data, models, sweep, training
from calibkit.lab.data import Dataset, Predictions
from calibkit.threads import one_thread
from study.contestants import Contestant, taking_part

NAME = "arbiter"
CLASSES = (10, 2)  # which digit; even or odd
NETWORKS = {
    "MLP": lambda classes: models.mlp(64, classes),
    "CNN": lambda classes: models.cnn(1, classes, width=16),
}
OTHERS = ("forest", "linear")
MODELS = (*NETWORKS, *OTHERS)
FLOOR = 1e-12  # a probability of 0 counts as this, else one such could make a KL infinite
KEYS = ["classes", "model", "seed", "labels", "map"]
Key = tuple[int, str, int, int, str]
MEASURES = ["kl", "nll", "squared", "accuracy", "error", "seconds"]


@dataclass(frozen=True)
class Size:
    """How much is trained, fitted and judged.

    labels: on how many each map is fitted, the first of one drawn sample; seeds: of the training
    and of all data; train, test: images; epochs of the networks; trees of the forest.
    """

    labels: tuple[int, ...] = (50, 100, 200, 500, 1_000, 2_000, 5_000, 20_000)
    seeds: tuple[int, ...] = (910, 911, 912, 913, 914)  # of no lesson
    train: int = 1_500
    test: int = 5_000
    epochs: int = 60
    trees: int = 200


SIZES = {"laptop": Size(), "smoke": Size((50, 500), (910, 911), 200, 300, 3, 20)}


@functools.lru_cache(maxsize=16)
def splits(size: Size, classes: int, seed: int) -> data.Splits:
    """Images to learn from, to fit maps on, and to judge by; of two classes, the same images."""
    if classes == 2:
        return data.Splits(*map(even_or_odd, splits(size, 10, seed)))
    most = max(size.labels)
    return data.noisy_digits(size.train, seed=seed, calibration=most, test=size.test)


def even_or_odd(digits: Dataset) -> Dataset:
    """The same images with two classes, and the exact posterior of these: sums of five each.

    >>> splits_ = data.noisy_digits(20, calibration=1, test=1)
    >>> halved = even_or_odd(splits_.train)
    >>> halved.classes, torch.equal(halved.labels, splits_.train.labels % 2)
    (('even', 'odd'), True)
    """
    assert digits.posterior is not None
    halves = torch.stack([digits.posterior[:, k::2].sum(1) for k in (0, 1)], dim=1)
    return Dataset(digits.inputs, digits.labels % 2, ("even", "odd"), halves.clamp(max=1))


def predicted(
    size: Size, classes: int, model: str, **options
) -> Iterator[tuple[int, Predictions, Predictions]]:
    """For each seed what a trained model says of the calibration and of the test images.

    Networks are trained, and kept, by `sweep.run`, which takes the `options`.
    """
    if model in OTHERS:
        for seed in size.seeds:
            yield seed, *told(size, classes, model, seed)
        return

    def make_trial(seed: int) -> training.Trial:
        train, cal, test = splits(size, classes, seed)
        network = functools.partial(NETWORKS[model], classes)
        score = {"cal": cal, "test": test}
        return training.trial(network, train, score, seed=seed, epochs=size.epochs)

    for outcome in sweep.run(make_trial, {"seed": size.seeds}, **options).outcomes:
        yield outcome.setting["seed"], outcome.predictions["cal"], outcome.predictions["test"]


def told(size: Size, classes: int, model: str, seed: int) -> tuple[Predictions, Predictions]:
    """The same of a model of scikit-learn. Its logits are the logarithms of its probabilities.

    To a forest one tree is added that knows nothing, so that no share of votes is 0.
    """
    train, cal, test = splits(size, classes, seed)
    fitted = _forest(train, size.trees, seed) if model == "forest" else _linear(train)

    def says(images: Dataset) -> Predictions:
        probs = torch.zeros(len(images), classes, dtype=torch.float64)
        probs[:, fitted.classes_] = torch.as_tensor(fitted.predict_proba(_rows(images))).double()
        if model == "forest":
            probs = (size.trees * probs + 1 / classes) / (size.trees + 1)
        return Predictions(probs.clamp(min=FLOOR).log(), images.labels, images.posterior)

    return says(cal), says(test)


def _forest(train: Dataset, trees: int, seed: int):
    from sklearn.ensemble import RandomForestClassifier  # slow to load

    forest = RandomForestClassifier(trees, random_state=seed)
    return forest.fit(_rows(train), train.labels.numpy())


def _linear(train: Dataset):
    """Logistic regression as scikit-learn sets it: a penalty of weight 1."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000).fit(_rows(train), train.labels.numpy())


def _rows(images: Dataset):
    return images.inputs.flatten(1).numpy()


def distances(probs: Tensor, labels: Tensor, posterior: Tensor) -> dict[str, float]:
    """How far predictions (n, K) are from the truth: means over the n images.

    kl: of the posterior to the prediction, in nats; nll of the labels, in nats; squared: sum over
    the classes of (p - q)^2; accuracy; error: the true calibration error, 15 bins.

    >>> p = torch.tensor([[0.5, 0.5]], dtype=torch.float64)
    >>> made = distances(torch.tensor([[0.8, 0.2]]).double(), torch.tensor([0]), p)
    >>> round(made["kl"], 4), round(made["squared"], 4)  # log .5 / sqrt(.8 * .2)
    (0.2231, 0.18)
    """
    q = probs.clamp(min=FLOOR)
    rounded = probs / probs.sum(1, keepdim=True)
    return {
        "kl": (torch.xlogy(posterior, posterior) - posterior * q.log()).sum(1).mean().item(),
        "nll": -q.gather(1, labels[:, None]).log().mean().item(),
        "squared": (posterior - probs).square().sum(1).mean().item(),
        "accuracy": metrics.accuracy(rounded, labels),
        "error": metrics.true_calibration_error(rounded, posterior),
    }


def judged(one: Contestant, cal: Predictions, test: Predictions) -> dict[str, float]:
    """The distances of a map fitted on `cal`, and the processor's seconds that fit and map took."""
    start = time.process_time()
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few labels leave classes out: that is the question here
        probs = one.fit(cal.logits.double(), cal.labels)(test.logits.double())
    seconds = time.process_time() - start
    assert test.posterior is not None
    return distances(probs, test.labels, test.posterior) | {"seconds": seconds}


# --- what is kept ---------------------------------------------------------------------------------


def settings(scale: str) -> dict:
    """What must agree for an interrupted run to go on."""
    peers = {str(n): list(taking_part(n)) for n in CLASSES}
    versions = {"torch": torch.__version__, "scikit-learn": sklearn.__version__}
    size = {name: _plain(value) for name, value in asdict(SIZES[scale]).items()}
    machine = {"python": platform.python_version(), "cpu": platform.machine()}
    return size | versions | machine | {"maps": peers}


def _plain(value):
    return list(value) if isinstance(value, tuple) else value


def read(path: Path) -> tuple[dict, pd.DataFrame]:
    """The settings and the rows of a table; a last line that was cut off is left out."""
    first, _, rest = path.read_text(encoding="utf-8").partition("\n")
    whole = rest[: rest.rfind("\n") + 1]
    lines = list(csv.DictReader(whole.splitlines()))
    table = pd.DataFrame(lines, columns=[*KEYS, *MEASURES])
    numbers = dict.fromkeys(["classes", "seed", "labels"], int) | dict.fromkeys(MEASURES, float)
    return json.loads(first.removeprefix("# ")), table.astype(numbers)


def _begun(path: Path, scale: str, fresh: bool) -> set[Key]:
    """Makes the file ready for more rows; returns the keys of those that it has."""
    if fresh or not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        head = f"# {json.dumps(settings(scale))}\n{','.join([*KEYS, *MEASURES])}\n"
        path.write_text(head, encoding="utf-8")
        return set()
    there, table = read(path)
    if there != settings(scale):
        other = [name for name, value in settings(scale).items() if there.get(name) != value]
        raise ValueError(
            f"{path} was made with other settings ({', '.join(other)}); give another --target, or "
            "--fresh to make it anew"
        )
    text = path.read_text(encoding="utf-8")
    path.write_text(text[: text.rfind("\n") + 1], encoding="utf-8")
    return set(table[KEYS].itertuples(index=False, name=None))


def run(
    scale: str = "laptop",
    folder: str | Path | None = None,
    *,
    fresh: bool = False,
    progress: bool = True,
    **options,
) -> Path:
    """Fit and judge all maps; returns the table FOLDER/arbiter/SCALE.csv, a row a fit.

    A run that was interrupted goes on after its last row; `fresh` begins anew. folder:
    notebooks/results of the course by default; `options` are those of `sweep.run`. Raises
    ValueError for an unknown scale, and for a table that was made with other settings.
    """
    size = SIZES[validate.choice("scale", scale, tuple(SIZES))]
    path = Path(folder or checkout.results()) / NAME / f"{scale}.csv"
    done = _begun(path, scale, fresh)
    every = sum(len(keys(size, classes, model)) for classes in CLASSES for model in MODELS)
    with (
        path.open("a", encoding="utf-8", newline="") as file,
        tqdm(total=every, initial=len(done), unit="fit", disable=not progress) as bar,
    ):
        rows = csv.writer(file, lineterminator="\n")
        for key, cal, test in _left(size, done, progress=False, **options):
            bar.set_postfix_str(f"{key[0]} classes, {key[1]}, {key[3]:,} labels")
            made = judged(taking_part(key[0])[key[-1]], cal, test)
            rows.writerow([*key, *(f"{made[measure]:.6g}" for measure in MEASURES)])
            file.flush()
            bar.update()
    return path


def keys(size: Size, classes: int, model: str) -> list[Key]:
    """All fits of a model, in their order: `KEYS`."""
    return [
        (classes, model, seed, labels, name)
        for seed in size.seeds
        for labels in size.labels
        for name, one in taking_part(classes).items()
        if labels >= one.least
    ]


def _left(size: Size, done: set[Key], **options) -> Iterator[tuple[Key, Predictions, Predictions]]:
    """The fits that are not done, each with its labels and the images to judge by."""
    for classes, model in itertools.product(CLASSES, MODELS):
        left = [key for key in keys(size, classes, model) if key not in done]
        if not left:
            continue
        for seed, cal, test in predicted(size, classes, model, **options):
            for key in (key for key in left if key[2] == seed):
                yield key, data.Predictions(cal.logits[: key[3]], cal.labels[: key[3]]), test


def stored(folder: str | Path | None = None, scale: str = "laptop") -> pd.DataFrame:
    """The table that was kept; raises FileNotFoundError with the command that makes it."""
    path = Path(folder or checkout.results()) / NAME / f"{scale}.csv"
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there; run  python -m calibkit {NAME}")
    return read(path)[1]
