"""The arbiter: which map comes closest to the truth, from how many labels, where it is known.

`python -m calibkit arbiter` fits all maps, those of the package and of peers where they are
installed, on 50 to 20,000 labels of two networks, a forest and a linear model, which learned from
digits under noise, and writes for each how far its predictions are from the exact posterior of
5,000 new images. Then the table is judged, and drawn.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import io
import itertools
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter
from scipy import stats
from torch import Tensor
from torch.nn.functional import cross_entropy
from tqdm.auto import tqdm

from calibkit import metrics, recalibration, validate
from calibkit.course import checkout, verdicts
from calibkit.lab import data, models, sweep, training
from calibkit.lab.data import Dataset, Predictions
from calibkit.pictures import alt_text, palette
from calibkit.pictures.palette import Role
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
        told = fitted.predict_proba(images.inputs.flatten(1).numpy())
        probs[:, fitted.classes_] = torch.as_tensor(told).double()
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

    fit: of logits (n, K) float64 and labels (n,), gives the map of logits to probabilities.
    classes: the one number that it is made for; None for any. least: labels from which on it takes
    part. package: what must be installed; "" where calibkit is enough.
    """

    fit: Callable[[Tensor, Tensor], Probs]
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


# Against the rest, class by class: beta, histogram, isotonic, Venn-Abers, BBQ.
MAPS = {
    "nothing": Contestant(_nothing),
    "temperature": Contestant(_ours(recalibration.TemperatureScaler)),
    "ensemble": Contestant(_ours(recalibration.TemperatureEnsemble)),
    "shifts": Contestant(_ours(recalibration.BiasCorrectedTemperature)),  # two classes: Platt
    "vector": Contestant(_ours(recalibration.VectorScaler)),
    "SVS": Contestant(_ours(recalibration.StructuredVectorScaler)),
    "matrix": Contestant(_ours(recalibration.MatrixScaler)),
    "shrunk matrix": Contestant(_ours(recalibration.ShrunkMatrixScaler)),
    "SMS": Contestant(_ours(recalibration.StructuredMatrixScaler)),
    "Dirichlet": Contestant(_odir, least=500),  # its diagonal is free: of few labels no fit ends
    "beta": Contestant(_ours(recalibration.BetaCalibrator)),
    "quadratic": Contestant(_quadratic, classes=2, package="probmetrics"),
    "histogram": Contestant(_ours(recalibration.HistogramBinning, binning="mass")),
    "isotonic": Contestant(_ours(recalibration.IsotonicCalibrator)),
    "Venn-Abers": Contestant(_ours(recalibration.VennAbersCalibrator), package="venn_abers"),
    "BBQ": Contestant(_bbq, package="netcal"),
}


# --- what is kept ---------------------------------------------------------------------------------


def path_of(scale: str, folder: str | Path | None = None) -> Path:
    """FOLDER/arbiter/SCALE.csv; folder: notebooks/results of the course by default."""
    return Path(folder or checkout.results()) / NAME / f"{scale}.csv"


def run(
    scale: str = "laptop", folder: str | Path | None = None, *, progress: bool = True, **options
) -> Path:
    """Fit and judge all maps, minutes at "laptop"; returns the table, a row a fit.

    folder: as in `path_of`; `options` are those of `sweep.run`. Raises ValueError for an unknown
    scale.
    """
    size, rows = SIZES[validate.choice("scale", scale, tuple(SIZES))], []
    path = path_of(scale, folder)
    path.parent.mkdir(parents=True, exist_ok=True)  # what cannot be written is told first
    for classes, model in itertools.product(CLASSES, MODELS):
        told = predicted(size, classes, model, progress=False, **options)
        words = f"{classes} classes, {model}"
        for seed, cal, test in tqdm(told, words, len(size.seeds), disable=not progress):
            for labels, (name, one) in itertools.product(size.labels, taking_part(classes).items()):
                if labels >= one.least:
                    few = data.Predictions(cal.logits[:labels], cal.labels[:labels])
                    key = dict(zip(KEYS, (classes, model, seed, labels, name), strict=True))
                    rows.append(key | judged(one, few, test))
    pd.DataFrame(rows).to_csv(path, index=False, float_format="%.6g", lineterminator="\n")
    return path


def stored(folder: str | Path | None = None, scale: str = "laptop") -> pd.DataFrame:
    """The table that was kept; raises FileNotFoundError with the command that makes it."""
    path = path_of(scale, folder)
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there; run  python -m calibkit {NAME}")
    return pd.read_csv(path, comment="#")


# --- what the table says --------------------------------------------------------------------------

NOTHING, TEMPERATURE = "nothing", "temperature"
PLACE = ["classes", "model", "labels"]
CELL = [*PLACE, "seed"]
LEVEL = 0.95


def summary(table: pd.DataFrame, measure: str = "kl") -> pd.DataFrame:
    """Mean over seeds, and half the width of its 95 % t interval, by place and map.

    >>> rows = [[2, "MLP", 50, 1, "nothing", 0.1], [2, "MLP", 50, 2, "nothing", 0.3]]
    >>> made = summary(pd.DataFrame(rows, columns=[*CELL, "map", "kl"]))
    >>> made["mean"].round(2).tolist(), made["half"].round(2).tolist()  # 12.706 * .1
    ([0.2], [1.27])
    """
    grouped = table.groupby([*PLACE, "map"], sort=False)[measure]
    made = grouped.agg(["mean", "std", "count"]).reset_index()
    error = made["std"] / np.sqrt(made["count"])
    made["half"] = stats.t.ppf((1 + LEVEL) / 2, made["count"] - 1) * error
    return made.drop(columns=["std", "count"])


def by_cell(table: pd.DataFrame, measure: str = "kl") -> pd.DataFrame:
    """One row a cell (place and seed), one column a map."""
    order = list(dict.fromkeys(table["map"]))
    return table.pivot_table(index=CELL, columns="map", values=measure, sort=False)[order]


CLAIMS: tuple[tuple[str, str, dict[str, int], tuple[str, str] | None, str], ...] = (
    # claim, SMS beside which map, where, two maps that are not alike (of "alike within"), words
    ("08s", TEMPERATURE, {"classes": 10, "labels": 5_000}, None,
     "ten classes, thousands of labels: SMS is nearer to the truth than a temperature"),
    ("08t", TEMPERATURE, {"classes": 10, "labels": 200}, None,
     "200 labels: nothing speaks for SMS, and for two of four models it is further away"),
    ("08u", TEMPERATURE, {"classes": 2, "labels": 5_000}, (NOTHING, TEMPERATURE),
     "two classes: a temperature is as near as SMS, within 0.01 nats, for three models; for "
     "the linear one the logits as they are come as near"),
    ("08v", "shrunk matrix", {"classes": 10, "labels": 5_000}, (TEMPERATURE, "shrunk matrix"),
     "a shrunk matrix, its penalty chosen by folds, is as near as SMS, within 0.01 nats"),
)  # fmt: skip


def conclusions(table: pd.DataFrame) -> list[verdicts.Conclusion]:
    """A public benchmark's first claim, and what bounds it, judged model by model.

    CalArena: Berta et al. 2026, arXiv:2605.30188.

    Its 5,000 labels are the median there; the claims on few labels and on two classes were made
    when the table was known.
    """
    made = []
    for claim, other, place, unlike, words in CLAIMS:
        how = {"expect": "within", "margin": 0.01} if unlike else {"expect": "below"}
        how["post_hoc"] = claim != "08s"
        near = "as near as" if unlike else "nearer to the posterior than"
        told = f"{place['classes']} classes, {place['labels']:,} labels"
        here, rows = table[(table[list(place)] == pd.Series(place)).all(axis=1)], []
        for model in table.model.unique():
            kl = here[here.model == model].pivot(index="seed", columns="map", values="kl")
            control = (kl[unlike[0]] - kl[unlike[1]]).to_numpy() if unlike else None
            statement, apart = f"{told}, {model}: SMS is {near} {other}", kl.SMS - kl[other]
            rows.append(verdicts.judge(claim, statement, apart.to_numpy(), control=control, **how))
        made.append(verdicts.conclude(claim, rows, words))
    return made


# --- the figure -----------------------------------------------------------------------------------

# The model as it is and after one temperature have their roles of the whole course.
LOOKS: dict[str, Role] = {
    "nothing": palette.TRAINED.named("nothing"),
    "temperature": palette.CURED.named("temperature"),
    "vector": Role("vector", palette.GREEN, (4, 2), "s"),
    "matrix": Role("matrix", palette.VERMILLION, (2, 2), "X"),
    "shrunk matrix": Role("shrunk matrix", palette.BLUE, (), "o"),
    "SVS": Role("SVS", palette.PURPLE, (6, 2, 1, 2), "D"),
    "SMS": Role("SMS", palette.BLACK, (), "P"),
    "isotonic": Role("isotonic", palette.GREY, (1, 3), "|"),
    "Venn-Abers": Role("Venn-Abers", palette.GREY, (8, 2), "*"),
}
ROOM = 1.12  # how far the axis goes beyond the least and the highest KL that it must show
TICKS = np.array([1, 1.5, 2, 3, 4, 5, 6, 8])


def figure(table: pd.DataFrame) -> Figure:
    """KL from the exact posterior against labels: a row for each model, a column for each K.

    Log-log; a line for each map of `LOOKS`, and the band of `beside_temperature`. An axis ends a
    little above the model as it is; what is worse lies beyond it.
    """
    means = beside_temperature(table)
    means = means[means["map"].isin(LOOKS)]
    models, numbers = means.model.unique(), means.classes.unique()
    size = (4.3 * len(numbers), 3.2 * len(models))
    look = {"figsize": size, "squeeze": False, "layout": "constrained"}
    made, grid = plt.subplots(len(models), len(numbers), **look)
    for axes, model in zip(grid, models, strict=True):
        for ax, classes in zip(axes, numbers, strict=True):
            part = means[(means.classes == classes) & (means.model == model)]
            draw(part, f"{model}, {classes} classes", ax=ax)
        axes[0].set_ylabel("KL from the exact posterior, nats")
    for ax in grid[-1]:
        ax.set_xlabel("labels that the map was fitted on")
    names = dict(zip(*grid[0, 0].get_legend_handles_labels()[::-1], strict=True))
    made.legend(names.values(), names, loc="outside lower center", ncols=5)
    return made


def beside_temperature(table: pd.DataFrame) -> pd.DataFrame:
    """Mean KL by place and map, and half the 95 % t interval of its difference from temperature.

    The difference is taken seed by seed: seeds share their model and images, so that what all maps
    have in common, how good the model is, does not widen it.
    """
    cooled = table[table["map"] == "temperature"].set_index(CELL).kl
    away = table.kl.to_numpy() - cooled.loc[pd.MultiIndex.from_frame(table[CELL])].to_numpy()
    return summary(table).assign(half=summary(table.assign(away=away), "away").half)


def draw(means: pd.DataFrame, title: str, *, ax: Axes) -> Axes:
    """One panel, of the rows that `beside_temperature` gave for one model."""
    lines = {name: part for name in LOOKS if len(part := means[means["map"] == name])}
    for name, part in lines.items():
        role = LOOKS[name]
        ax.plot(part.labels, part["mean"], **role.line(lw=1.4, ms=4.5))
        low, high = (part["mean"] - part.half).clip(lower=1e-6), part["mean"] + part.half
        ax.fill_between(part.labels, low, high, color=role.colour, alpha=0.15, lw=0)
    ax.set(xscale="log", yscale="log", title=title)
    # from a little below the least KL to a little above that of the model as it is
    least, most = means["mean"].min(), lines["nothing"]["mean"].max()
    ax.set_ylim(least / ROOM, max(most, 1.3 * least) * ROOM)
    _ticks(ax, sorted(means.labels.unique()))
    told = "; ".join(
        f"{name} from {part['mean'].iloc[0]:.2f} at {part.labels.iloc[0]:,} to "
        f"{part['mean'].iloc[-1]:.2f} at {part.labels.iloc[-1]:,}"
        for name, part in lines.items()
    )
    return alt_text.note(ax, f"{title}, KL in nats against labels: {told}.")


def _ticks(ax: Axes, labels: Sequence[int]) -> None:
    ax.set_xticks([50, 200, 1_000, 5_000, 20_000] if len(labels) > 5 else labels)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        axis.set_minor_formatter(NullFormatter())
    low, high = ax.get_ylim()
    ticks = (TICKS * 10.0 ** np.arange(-4, 2)[:, None]).ravel()
    ax.set_yticks(ticks[(low < ticks) & (ticks < high)])
