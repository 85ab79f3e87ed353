"""The arbiter: which map comes closest to the truth, from how many labels, where it is known.

`python -m calibkit arbiter` fits all maps, those of the package and of peers where they are
installed, on 50 to 20,000 labels of two networks, a forest and a linear model, which learned from
digits under noise, and writes for each how far its predictions are from the exact posterior of
5,000 new images. Each row is kept once it is measured.
"""

from __future__ import annotations

import contextlib
import csv
import functools
import importlib.util
import io
import itertools
import json
import platform
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import pandas as pd
import sklearn
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from tqdm.auto import tqdm

from calibkit import metrics, recalibration, validate
from calibkit.course import checkout
from calibkit.lab import data, models, sweep, training
from calibkit.lab.data import Dataset, Predictions
from calibkit.threads import one_thread

Probs = Callable[[Tensor], Tensor]  # of logits (n, K)
PENALTIES = (1e-3, 1e-2, 1e-1, 1.0, 10.0)  # of ODIR, off the diagonal and on the intercept
FOLDS = 3
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
        yield from ((seed, *told(size, classes, model, seed)) for seed in size.seeds)
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
    pixels = train.inputs.flatten(1).numpy()
    if model == "forest":
        from sklearn.ensemble import RandomForestClassifier  # slow to load

        fitted = RandomForestClassifier(size.trees, random_state=seed)
    else:
        from sklearn.linear_model import LogisticRegression

        fitted = LogisticRegression(max_iter=1000)  # as scikit-learn sets it: a penalty of weight 1
    fitted.fit(pixels, train.labels.numpy())

    def says(images: Dataset) -> Predictions:
        probs = torch.zeros(len(images), classes, dtype=torch.float64)
        probs[:, fitted.classes_] = torch.as_tensor(
            fitted.predict_proba(images.inputs.flatten(1).numpy())
        ).double()
        if model == "forest":
            probs = (size.trees * probs + 1 / classes) / (size.trees + 1)
        return Predictions(probs.clamp(min=FLOOR).log(), images.labels, images.posterior)

    return says(cal), says(test)


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


# --- the maps -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Contestant:
    """A map and where it takes part.

    fit: of logits (n, K) float64 and labels (n,), gives the map of logits to probabilities. words:
    what it is. classes: the one number that it is made for; None for any. least: labels from which
    on it takes part. package: what must be installed; "" where calibkit is enough.
    """

    fit: Callable[[Tensor, Tensor], Probs]
    words: str
    classes: int | None = None
    least: int = 0
    package: str = ""


def taking_part(classes: int) -> dict[str, Contestant]:
    """The maps for so many classes whose packages are installed.

    >>> "quadratic" in taking_part(10), "temperature" in taking_part(10)
    (False, True)
    """
    return {
        name: one
        for name, one in MAPS.items()
        if one.classes in (None, classes)
        and (not one.package or importlib.util.find_spec(one.package) is not None)
    }


def _ours(kind: type[recalibration.Calibrator], **options) -> Callable[[Tensor, Tensor], Probs]:
    return lambda logits, labels: kind(**options).fit(logits, labels).probs


def _nothing(logits: Tensor, labels: Tensor) -> Probs:
    return lambda new: new.softmax(1)


def _odir(logits: Tensor, labels: Tensor) -> Probs:
    """Dirichlet calibration: a matrix on log-probabilities, its penalty chosen by folds."""
    u = logits.log_softmax(1)
    order = torch.randperm(len(u), generator=torch.Generator().manual_seed(0))
    parts = order.tensor_split(FOLDS)

    def fitted(penalty: float, rows: Tensor) -> recalibration.MatrixScaler:
        scaler = recalibration.MatrixScaler(off_diagonal=penalty, intercept=penalty)
        return scaler.fit(u[rows], labels[rows])

    def lost(penalty: float) -> float:
        total = 0.0
        for place, part in enumerate(parts):
            rest = torch.cat([*parts[:place], *parts[place + 1 :]])
            moved = fitted(penalty, rest).transform(u[part], allow_fitted=True)
            total += cross_entropy(moved, labels[part], reduction="sum").item()
        return total

    best = fitted(min(PENALTIES, key=lost), torch.arange(len(u)))
    return lambda new: best.probs(new.log_softmax(1), allow_fitted=True)


def _bbq(logits: Tensor, labels: Tensor) -> Probs:
    """Bayesian binning into quantiles, class by class against the rest, as netcal has it."""
    from netcal.binning import BBQ

    binary = logits.shape[1] == 2

    def taken(z: Tensor):
        probs = z.softmax(1).numpy()
        return probs[:, 1] if binary else probs

    with contextlib.redirect_stderr(io.StringIO()):  # its bars of progress
        peer = BBQ().fit(taken(logits), labels.numpy())

    def probs(new: Tensor) -> Tensor:
        mapped = torch.as_tensor(peer.transform(taken(new))).double()
        return torch.stack([1 - mapped, mapped], 1) if binary else mapped

    return probs


def _quadratic(logits: Tensor, labels: Tensor) -> Probs:
    """Quadratic scaling of the log-odds, as probmetrics has it."""
    from probmetrics.calibrators import BinaryLogisticCalibrator

    peer = BinaryLogisticCalibrator(type="quadratic")
    peer.fit(logits.softmax(1).numpy(), labels.numpy())
    return lambda new: torch.as_tensor(peer.predict_proba(new.softmax(1).numpy())).double()


# Dirichlet calibration leaves the diagonal free: of few labels its fit has no end.
MAPS = {
    "nothing": Contestant(_nothing, "the model as it is"),
    "temperature": Contestant(_ours(recalibration.TemperatureScaler), "one number"),
    "ensemble": Contestant(
        _ours(recalibration.TemperatureEnsemble), "ensemble temperature scaling, four numbers"
    ),
    "shifts": Contestant(
        _ours(recalibration.BiasCorrectedTemperature),
        "bias-corrected temperature; with two classes this is Platt scaling",
    ),
    "vector": Contestant(_ours(recalibration.VectorScaler), "vector scaling"),
    "SVS": Contestant(_ours(recalibration.StructuredVectorScaler), "structured vector scaling"),
    "matrix": Contestant(_ours(recalibration.MatrixScaler), "matrix scaling without a penalty"),
    "shrunk matrix": Contestant(
        _ours(recalibration.ShrunkMatrixScaler), "a matrix near a temperature, penalty by 5 folds"
    ),
    "SMS": Contestant(_ours(recalibration.StructuredMatrixScaler), "structured matrix scaling"),
    "Dirichlet": Contestant(
        _odir, f"Dirichlet calibration, its ODIR penalty one of five by {FOLDS} folds", least=500
    ),
    "beta": Contestant(_ours(recalibration.BetaCalibrator), "beta calibration, against the rest"),
    "quadratic": Contestant(
        _quadratic, "quadratic scaling (probmetrics)", classes=2, package="probmetrics"
    ),
    "histogram": Contestant(
        _ours(recalibration.HistogramBinning, binning="mass"),
        "histogram binning, 15 bins of equal mass, against the rest",
    ),
    "isotonic": Contestant(
        _ours(recalibration.IsotonicCalibrator), "isotonic regression, against the rest"
    ),
    "Venn-Abers": Contestant(
        _ours(recalibration.VennAbersCalibrator),
        "inductive Venn-Abers, against the rest",
        package="venn_abers",
    ),
    "BBQ": Contestant(
        _bbq, "Bayesian binning into quantiles (netcal), against the rest", package="netcal"
    ),
}


# --- what is kept ---------------------------------------------------------------------------------


def settings(scale: str) -> dict:
    """What must agree for an interrupted run to go on."""
    peers = {str(n): list(taking_part(n)) for n in CLASSES}
    versions = {"torch": torch.__version__, "scikit-learn": sklearn.__version__}
    size = json.loads(json.dumps(asdict(SIZES[scale])))  # lists for tuples, as a file has them
    machine = {"python": platform.python_version(), "cpu": platform.machine()}
    return size | versions | machine | {"maps": peers}


def read(path: Path) -> tuple[dict, pd.DataFrame]:
    """The settings and the rows of a table; a last line that was cut off is left out."""
    first, _, rest = path.read_text(encoding="utf-8").partition("\n")
    whole = rest[: rest.rfind("\n") + 1]
    lines = list(csv.DictReader(whole.splitlines()))
    table = pd.DataFrame(lines, columns=[*KEYS, *MEASURES])
    numbers = dict.fromkeys(["classes", "seed", "labels"], int) | dict.fromkeys(MEASURES, float)
    return json.loads(first.removeprefix("# ")), table.astype(numbers)


def _begun(path: Path, scale: str, fresh: bool) -> set[Key]:
    """Makes the file ready for more rows, a last one that was cut off left out; their keys."""
    text = f"# {json.dumps(settings(scale))}\n{','.join([*KEYS, *MEASURES])}\n"
    if path.exists() and not fresh:
        there, wanted = read(path)[0], settings(scale)
        if other := [name for name, value in wanted.items() if there.get(name) != value]:
            raise ValueError(
                f"{path} was made with other settings ({', '.join(other)}); give another --target, "
                "or --fresh to make it anew"
            )
        text = path.read_text(encoding="utf-8")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text[: text.rfind("\n") + 1], encoding="utf-8")
    return set(read(path)[1][KEYS].itertuples(index=False, name=None))


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
