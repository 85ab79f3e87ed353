# %% [markdown]
# # Evidence beside 06 · Label noise
#
# For readers who want to judge what [the lesson](../06_label_noise.ipynb) says: every verdict with its interval, claim by
# claim, with one conclusion each; tables on photographs; the source's setting; what is left. A verdict is
# **as trained** where calibration is compared before each side has a temperature of its own; what one temperature leaves
# stands beside it. *Clean* labels are the true ones.

# %%
import functools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import torch
from scipy.optimize import minimize_scalar
from sklearn.metrics import confusion_matrix

from calibkit import curation, losses, metrics, recalibration
from calibkit.course import checkout, experiments, verdicts
from study import fresh
from study import reports
from calibkit.course.scale import begin
from calibkit.lab import data, models, sweep, training
from calibkit.metrics import plane
from calibkit.pictures import palette, plots

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% [markdown]
# ## What is trained
#
# Noisy digits (pixel noise 0.4, posterior known), 1,500 for training, two hidden layers of 256 units, 60 epochs, weight decay
# 1e-4. Of the training labels a share $r$ is shuffled; test labels are clean. `cal` has clean labels, `noisy_cal` the same images
# with labels as noisy as the training's. One temperature is fitted on one or the other, as each verdict says.

# %%
size, seeds, device = begin(SCALE, SEED, DEVICE)
K, some = 10, 0.3
rates = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]


@functools.cache
def digits(seed):
    return data.noisy_digits(size.train, noise=0.4, seed=seed, test=size.test)


@functools.cache
def noise(rate, seed, split="train"):
    labels = getattr(digits(seed), split).labels
    return curation.symmetric_noise(labels, rate, classes=K, seed=seed)


def relabelled(split, rate, seed):
    return getattr(digits(seed), split).with_labels(noise(rate, seed, split).labels)


def recipe(rate, seed):
    learn, new = relabelled("train", rate, seed), digits(seed).test
    watch = {"clean": new[:2000], "noisy_cal": relabelled("calibration", rate, seed)}
    if rate == some:
        watch["drawn"] = learn[noise(some, seed).flipped]
    score = {"train": learn, "cal": digits(seed).calibration, "test": new}
    return training.trial(
        lambda: models.mlp(64, K),
        learn,
        score,
        seed=seed,
        watch=watch,
        keep=["noisy_cal"] if rate == some else [],
        epochs=size.epochs,
    )


swept = sweep.run(recipe, {"rate": rates, "seed": seeds}, device=device)


# %%
def by_the_formula(accuracy, rate):
    """The gap on clean labels of a model that is calibrated for noisy ones."""
    return -rate * (accuracy - 1 / K)


def noisy_reader(outcome):
    """The exact noisy posterior of the test images, and their clean labels."""
    test = outcome.predictions["test"]
    transition = noise(outcome.setting["rate"], outcome.setting["seed"]).transition
    return test.posterior @ transition, test.labels


def cooled(outcome, labels):
    """Test predictions after one temperature, fitted on these labels of the calibration images."""
    held, test = outcome.predictions["cal"], outcome.predictions["test"]
    T = recalibration.TemperatureScaler().fit(held.logits, labels).temperature
    return (test.logits.double() / T).softmax(dim=1), test.labels


def on_clean(outcome):
    return cooled(outcome, outcome.predictions["cal"].labels)


def on_noisy(outcome):
    setting = outcome.setting
    return cooled(outcome, noise(setting["rate"], setting["seed"], "calibration").labels)


def true_error(outcome, noisy):
    """The true calibration error, against the posterior or the noisy posterior."""
    test = outcome.predictions["test"]
    return metrics.true_calibration_error(test.probs, noisy_reader(outcome)[0] if noisy else test.posterior)


swept.measure("exact_ece", lambda one: metrics.ece(*noisy_reader(one)))
swept.measure("ece_clean_T", lambda one: metrics.ece(*on_clean(one)))
swept.measure("ece_noisy_T", lambda one: metrics.ece(*on_noisy(one)))
swept.measure("against posterior", lambda one: true_error(one, noisy=False))
swept.measure("against noisy posterior", lambda one: true_error(one, noisy=True))
columns = [
    "train_accuracy",
    "test_accuracy",
    "test_gap",
    "test_ece",
    "exact_ece",
    "ece_clean_T",
    "ece_noisy_T",
    "against posterior",
    "against noisy posterior",
]
swept.table.groupby("rate")[columns].mean().round(3)

# %% [markdown]
# Against the noisy posterior the true error is larger than against the posterior at every rate above zero: at the end these networks are
# not calibrated for the labels that they were taught either.
#
# ## D3: symmetric noise worsens calibration
#
# *Dataset Curation Beyond Accuracy* (figure 2; curves, no numbers): ResNet-50, 160 epochs with crops and flips, CIFAR-10,
# CIFAR-100, EuroSAT and iNaturalist, noise 0 to 0.4: the ECE rises "across datasets". Beside digits: six convolutions, 15
# epochs, 40,000 photographs (CIFAR-10), and people's labels (CIFAR-10N, Wei et al. 2022: 9.0 % wrong after a vote,
# 17.2 % from one person, 40.2 % for the worst of three) on 20,000. The source judges networks as trained; the rows "after one
# temperature" were not part of its claim. In the tables `T` is fitted on clean labels.

# %%
photographs = experiments.on_photographs("noise", SCALE, device=device)
reports.shown(photographs)

# %%
people = experiments.on_photographs("people", SCALE, device=device)
reports.shown(people)


# %% tags=["nbval-check-output"]
def trained(verdict):
    return replace(verdict, as_trained=True)


def paired(table, column, value, than):
    """Differences of a stored table's column between two settings, seed by seed."""
    wide = table.pivot(index="seed", columns="value", values=column)
    return (wide[value] - wide[than]).tolist()


ece = np.array([swept.values("test_ece", seed=s) for s in seeds])  # (seeds, rates)
worse = {"rate": 0.4}, {"rate": 0.0}
said = [
    verdicts.judge(
        "D3",
        "ECE on clean labels is larger with noise 0.4 than with none",
        swept.difference("test_ece", *worse),
        as_trained=True,
    ),
    verdicts.judge(
        "D3",
        "the smallest increase between 0, 0.1, 0.2, 0.3 and 0.4",
        np.diff(ece[:, :5], axis=1).min(axis=1),
        as_trained=True,
    ),
    verdicts.judge(
        "D3",
        "after one temperature, fitted on clean labels, it is larger too",
        swept.difference("ece_clean_T", *worse),
        post_hoc=True,
    ),
    verdicts.judge(
        "D3",
        "after one temperature, fitted on noisy labels, it is larger too",
        swept.difference("ece_noisy_T", *worse),
        post_hoc=True,
    ),
    trained(reports.verdict("noise", photographs)),
    *map(trained, reports.verdicts("noise", photographs)),
    verdicts.judge(
        "D3",
        "photographs: after one temperature each, ECE with noise 0.4 is larger than with none",
        paired(photographs, "scaled_ece", 0.4, 0.0),
        post_hoc=True,
    ),
    *map(trained, reports.verdicts("people", people)),
    verdicts.judge(
        "D3",
        "people's labels: after one temperature each, ECE with the worst is larger than with true ones",
        paired(people, "scaled_ece", "worst", "true labels"),
        post_hoc=True,
    ),
]
print(
    verdicts.conclude(
        "D3",
        said,
        "as trained the ECE on clean labels rises with noise on digits, falls and then rises on "
        "photographs, and falls with people's wrong labels; after one temperature fitted on clean "
        "labels no clear difference is left on digits",
    )
)

# %% [markdown]
# ## Another data set: MNIST
#
# Ours: the source's own other sets (D7) are prepared by `data_scripts` and not run.
#
# The same network, 40,000 digits of 28 pixels.

# %%
mnist = experiments.stored("noise", "night", dataset="mnist")
reports.shown(mnist)

# %% tags=["nbval-check-output"]
steps = [(0.1, 0.0), (0.2, 0.1), (0.4, 0.2)]
said = [
    verdicts.judge(
        "06i",
        f"MNIST: noise {more:g} gives a larger ECE than {less:g}",
        paired(mnist, "test_ece", more, less),
        as_trained=True,
    )
    for more, less in steps
]
said += [
    verdicts.judge(
        "06i",
        "MNIST: after one temperature, fitted on clean labels, 0.4 gives a larger ECE than none",
        paired(mnist, "scaled_ece", 0.4, 0.0),
        post_hoc=True,
    )
]
print(
    verdicts.conclude(
        "06i",
        said,
        "on MNIST, as trained, the ECE on clean labels rises with noise, by doubt; after one "
        "temperature it is undecided",
    )
)

# %% [markdown]
# ## The cost, and the exact reader
#
# By the formula a model that is calibrated for noisy labels has the gap $-r(a-1/K)$ on clean ones. The exact noisy posterior is such a
# model; its ECE on clean labels stands beside the networks' (column `exact_ece` above).

# %% tags=["nbval-check-output"]
assert all(abs(row.exact_ece - row.rate * (0.954 - 0.1)) < 0.05 for row in swept.table.itertuples())
print(
    verdicts.conclude(
        "06a",
        [
            verdicts.judge(
                "06a",
                "noise 0.4 costs at least 10 points of accuracy",
                swept.difference("test_accuracy", *worse),
                expect="below",
                margin=0.1,
            ),
            verdicts.judge(
                "06a",
                "at 0.4 the noisy posterior's ECE on clean labels exceeds the networks'",
                swept.values("exact_ece", rate=0.4) - swept.values("test_ece", rate=0.4),
                as_trained=True,
            ),
        ],
        "noise costs accuracy, and the noisy posterior's ECE on clean labels is larger than that of "
        "the networks",
    )
)

# %% [markdown]
# ## The course of a training
#
# Noise 0.3; a tenth of the epochs against the last; clean labels are those of 2,000 test images. Arpit et al. (2017) find that networks
# learn shared patterns first, Zhang et al. (2017) that they can fit random labels.


# %% tags=["nbval-check-output"]
def moment(rate, at):
    """Gap and accuracy on clean labels after an epoch, a row a seed."""
    rows = [run.history.iloc[at] for run in swept.where(rate=rate)]
    return np.array([(row.clean_confidence - row.clean_accuracy, row.clean_accuracy) for row in rows])


early, end = size.epochs // 10 - 1, size.epochs - 1
(gap, right), (last, fitted) = moment(some, early).T, moment(some, end).T
without = moment(0.0, early)[:, 0]
beyond = gap - by_the_formula(right, some)  # the gap on labels that are as noisy
late = last - by_the_formula(fitted, some)
print(
    verdicts.conclude(
        "06b",
        [
            verdicts.judge(
                "06b",
                "noise 0.3, stopped at a tenth: under-confident on clean labels",
                gap,
                expect="below",
                as_trained=True,
            ),
            verdicts.judge(
                "06b",
                "noise 0.3, trained to the end: over-confident on clean labels",
                last,
                as_trained=True,
            ),
            verdicts.judge(
                "06b",
                "at a tenth: more under-confident than without noise",
                gap - without,
                expect="below",
                as_trained=True,
            ),
            verdicts.judge(
                "06b",
                "at a tenth: its gap on noisy labels is within 5 points of zero",
                beyond,
                expect="within",
                margin=0.05,
                control=late,
                as_trained=True,
            ),
            verdicts.judge("06b", "the network stopped at a tenth is the more accurate", right - fitted),
        ],
        "on clean labels networks are first under-confident, then over-confident. Stopped at a tenth "
        "of the training, they are close to calibrated for noisy labels, and more accurate than at the"
        " end",
    )
)

# %% [markdown]
# ## D4: noisier classes are worse
#
# *Dataset Curation Beyond Accuracy* (figure 3; curves): class $i$ has a rate $p_i$, evenly spaced from 0 to 0.5 in a random order of the
# classes; a drawn label becomes $j$ with probability $p_j/\sum_k p_k$ (in our reading possibly its own). The source leaves open whether a class's
# ECE is over images *of* it or *predicted* as it; in the second grouping the exact posterior has an ECE near zero. What noise adds
# to a class's ECE (against a network without noise) is fitted by a line in the rate; its slope is judged.


# %%
@functools.cache
def class_noise(seed):
    return curation.classwise_noise(digits(seed).train.labels, 0.5, classes=K, seed=seed)


def class_recipe(seed):
    train, cal, test = digits(seed)
    learn = train.with_labels(class_noise(seed).labels)
    return training.trial(
        lambda: models.mlp(64, K), learn, {"cal": cal, "test": test}, seed=seed, epochs=size.epochs
    )


by_class = sweep.run(class_recipe, {"seed": seeds}, device=device)


def of_classes(probs, labels, group, seed):
    """The ECE of each class's images, from the least noisy class to the noisiest."""
    errors = []
    for k in class_noise(seed).rates.argsort():
        member = group == k
        errors.append(metrics.ece(probs[member], labels[member]) if member.any() else 0.0)
    return np.array(errors)


def errors(run, seed, cool, predicted):
    """(K,) ECE of the classes of a run, as trained or after one temperature (clean labels)."""
    test = run.predictions["test"]
    probs, labels = on_clean(run) if cool else (test.probs, test.labels)
    return of_classes(probs, labels, probs.argmax(dim=1) if predicted else labels, seed)


def slopes(cool, predicted):
    """Slope against the rate of what noise adds to a class's ECE, one number a seed."""
    found = []
    for seed in seeds:
        noisy_run, clean_run = by_class.one(seed=seed), swept.one(rate=0.0, seed=seed)
        added = errors(noisy_run, seed, cool, predicted) - errors(clean_run, seed, cool, predicted)
        found.append(np.polyfit(np.linspace(0, 0.5, K), added, 1)[0])
    return found


# %% tags=["nbval-check-output"]
noisiest = [errors(by_class.one(seed=seed), seed, cool=False, predicted=False) for seed in seeds]
at_night = experiments.on_photographs("class-noise", SCALE, device=device)
statement = "what noise adds to a class's ECE grows with its rate"
groups = {"predicted class": True, "true class": False}
said = [
    verdicts.judge("D4", f"{statement} ({name})", slopes(False, predicted), as_trained=True)
    for name, predicted in groups.items()
]
said += [
    verdicts.judge(
        "D4",
        "ECE of the three noisiest classes exceeds that of the three cleanest",
        [row[-3:].mean() - row[:3].mean() for row in noisiest],
        as_trained=True,
    ),
    *[
        verdicts.judge(
            "D4",
            f"after one temperature each: {statement} ({name})",
            slopes(True, predicted),
            post_hoc=True,
        )
        for name, predicted in groups.items()
    ],
    trained(reports.verdict("class-noise", at_night)),
]
print(
    verdicts.conclude(
        "D4",
        said,
        "as trained classes with more noise have the larger ECE, by either grouping; after one "
        "temperature each it is undecided, and so it is on photographs",
    )
)

# %% [markdown]
# ## A temperature fitted on noisy labels
#
# Noise 0.3, trained to the end, one temperature on 2,000 held-out images: on clean labels, on noisy labels, on noisy labels seen through the
# known matrix. The margins (10 and 5 points) are those of the first version of this lesson.


# %%
def through_the_matrix(logits, transition, labels):
    def loss(log_t):
        hot = logits.double() / math.exp(log_t)
        return losses.forward_corrected(hot, labels, transition=transition).item()

    return math.exp(minimize_scalar(loss, bounds=(-2, 5), method="bounded").x)


def temperatures(run):
    held, taught = run.predictions["cal"], noise(some, run.setting["seed"], "calibration")
    fit = recalibration.TemperatureScaler().fit
    return {
        "nothing": 1.0,
        "noisy labels": fit(held.logits, taught.labels).temperature,
        "clean labels": fit(held.logits, held.labels).temperature,
        "noisy labels, through the matrix": through_the_matrix(
            held.logits, taught.transition, taught.labels
        ),
    }


rows = []
for run in swept.where(rate=some):
    test = run.predictions["test"]
    for name, T in temperatures(run).items():
        left = metrics.signed_gap((test.logits / T).softmax(dim=1), test.labels)
        rows.append({"fitted on": name, "T": T, "gap on clean labels": left})
fitted_on = pd.DataFrame(rows)
fitted_on.groupby("fitted on", sort=False).mean().round(3)

# %% tags=["nbval-check-output"]
after = fitted_on.set_index("fitted on")["gap on clean labels"]
said = [
    verdicts.judge(
        "06c",
        "fitted on noisy labels: at least 10 points under-confident",
        after["noisy labels"],
        expect="below",
        margin=0.1,
    )
]
said += [
    verdicts.judge(
        "06c",
        f"fitted on {name}: the gap is within 5 points of zero",
        after[name],
        expect="within",
        margin=0.05,
        control=after["noisy labels"],
    )
    for name in ("clean labels", "noisy labels, through the matrix")
]
print(
    verdicts.conclude(
        "06c",
        said,
        "a temperature fitted on noisy labels overshoots; on clean labels, or through the matrix, "
        "it does not",
    )
)

# %% [markdown]
# ## Networks trained through the matrix
#
# Forward correction (Patrini et al. 2017, arXiv:1609.03683) puts the prediction through the matrix before the loss: the known one, or one counted on 500
# calibration images whose clean and noisy labels are both known. *Stopped early*: at the lowest NLL of noisy calibration labels, seen
# through the same matrix. The comparison after a temperature gives both sides one, fitted on clean calibration labels, and the weight
# decay of each is chosen from one grid on three selection seeds of their own, by the NLL of noisy calibration labels through the known
# matrix after one temperature. Label smoothing on *clean* labels with $\alpha=r$ has the same mean target as noisy labels.


# %%
def counts(n, seed):
    true, given = digits(seed).calibration.labels[:n], noise(some, seed, "calibration").labels[:n]
    return torch.tensor(confusion_matrix(true, given, labels=range(K), normalize="true"))


def anchor_points(probs):
    return probs[probs.argmax(dim=0)].double()  # row i: the prediction where class i is likeliest


def stopping_epoch(outcome, transition):
    """Counted from 0: where noisy calibration labels, seen through the matrix, have the lowest NLL."""
    through = functools.partial(losses.forward_corrected, transition=transition)
    labels = outcome.trial.watch["noisy_cal"].labels
    return int(np.argmin([through(logits, labels).item() for logits in outcome.logits["noisy_cal"]]))


def matrix_of(way, seed):
    """What a way trains and stops with; the identity where it predicts the noisy label itself."""
    if way == "forward, known matrix":
        return noise(some, seed).transition
    return counts(500, seed) if way == "forward, 500 counts" else torch.eye(K)


def loss_of(way, seed):
    if way == "label smoothing, clean labels":
        return functools.partial(losses.label_smoothing, alpha=some)
    return functools.partial(losses.forward_corrected, transition=matrix_of(way, seed).float())


def corrected(way, seed):
    clean = way == "label smoothing, clean labels"
    learn = digits(seed).train if clean else relabelled("train", some, seed)
    watch = {"clean": digits(seed).test[:2000], "noisy_cal": relabelled("calibration", some, seed)}
    return training.trial(
        lambda: models.mlp(64, K),
        learn,
        seed=seed,
        loss=loss_of(way, seed),
        watch=watch,
        keep=["noisy_cal"],
        epochs=size.epochs,
    )


ways = ["forward, known matrix", "forward, 500 counts", "label smoothing, clean labels"]
cured = sweep.run(corrected, {"way": ways, "seed": seeds}, device=device)

# %%
named = [("cross-entropy", outcome) for outcome in swept.where(rate=some)]
named += [(outcome.setting["way"], outcome) for outcome in cured.outcomes]
rows = []
for way, run in named:
    seed = run.setting["seed"]
    for label, at in (("stopped early", stopping_epoch(run, matrix_of(way, seed))), ("to the end", end)):
        score = run.history.iloc[at]
        rows.append(
            {
                "way": way,
                "moment": label,
                "seed": seed,
                "accuracy": score.clean_accuracy,
                "gap": score.clean_confidence - score.clean_accuracy,
            }
        )
repairs = pd.DataFrame(rows)
repairs.groupby(["way", "moment"], sort=False)[["accuracy", "gap"]].mean().round(3)


# %%
decays = [0.0, 1e-4, 1e-3, 3e-3, 1e-2]
sides = {"cross-entropy": None, "forward": "forward, known matrix"}
selection = range(SEED + 50, SEED + 50 + 3)


def tuned(side, decay, seed):
    loss = loss_of(sides[side], seed)
    score = {"cal": digits(seed).calibration, "test": digits(seed).test}
    return training.trial(
        lambda: models.mlp(64, K),
        relabelled("train", some, seed),
        score,
        seed=seed,
        loss=loss,
        epochs=size.epochs,
        weight_decay=decay,
    )


def through_after_T(run):
    """NLL of noisy calibration labels through the known matrix, after one temperature fitted there."""
    held, taught = run.predictions["cal"], noise(some, run.setting["seed"], "calibration")
    T = through_the_matrix(held.logits, taught.transition, taught.labels)
    return losses.forward_corrected(
        held.logits.double() / T, taught.labels, transition=taught.transition
    ).item()


search = sweep.run(tuned, {"side": sides, "decay": decays, "seed": selection}, device=device)
search.measure("chosen by", through_after_T)
by_decay = search.table.groupby(["side", "decay"], sort=False)["chosen by"].mean().unstack("decay")
best = by_decay.idxmin(axis=1)
print(by_decay.round(3))
print(f"chosen weight decay: {best.to_dict()}")

# %%
contest = sweep.run(
    tuned,
    [{"side": side, "decay": best[side], "seed": seed} for side in sides for seed in seeds],
    device=device,
)
contest.measure("nll", lambda one: metrics.nll(*on_clean(one)))
contest.measure("ece", lambda one: metrics.ece(*on_clean(one)))
contest.table.groupby("side", sort=False)[["test_accuracy", "test_gap", "ece", "nll"]].mean().round(3)

# %% tags=["nbval-check-output"]
signed = repairs.pivot(index="seed", columns=["way", "moment"], values="gap")
gaps, stopped = signed.abs(), "stopped early"
between = {"left": {"side": "forward"}, "right": {"side": "cross-entropy"}}


def contested(column):
    wide = contest.table.pivot(index="seed", columns="side", values=column)
    return wide["forward"] - wide["cross-entropy"]


print(
    verdicts.conclude(
        "06d",
        [
            verdicts.judge(
                "06d",
                "stopped early, the known matrix brings the gap nearer to zero",
                gaps[ways[0], stopped] - gaps["cross-entropy", stopped],
                expect="below",
                as_trained=True,
            ),
            verdicts.judge(
                "06d",
                "stopped early, 500 counts bring it nearer to zero",
                gaps[ways[1], stopped] - gaps["cross-entropy", stopped],
                expect="below",
                as_trained=True,
            ),
            verdicts.judge(
                "06d",
                "trained to the end through the known matrix: at least 10 points over-confident",
                signed[ways[0], "to the end"],
                margin=0.1,
                as_trained=True,
            ),
            verdicts.judge(
                "06d",
                "each at its best weight decay, after one temperature: the known matrix has the smaller NLL",
                contested("nll"),
                expect="below",
            ),
            verdicts.judge(
                "06d",
                "each at its best weight decay, after one temperature: the smaller ECE",
                contested("ece"),
                expect="below",
            ),
        ],
        "stopped early, forward correction brings the gap nearer to zero; trained to the end it is "
        "over-confident; with chosen decay and one temperature it has the smaller NLL, and no "
        "smaller ECE was found",
    )
)
print(
    verdicts.conclude(
        "06e",
        [
            verdicts.judge(
                "06e",
                "label smoothing on clean labels: at least 10 points under-confident at the end",
                signed[ways[2], "to the end"],
                expect="below",
                margin=0.1,
                as_trained=True,
            ),
        ],
        "smoothing adds doubt that clean labels do not bear out",
    )
)

# %% [markdown]
# ## The estimated matrix
#
# Anchor points (Patrini et al. 2017): an image that certainly shows class $i$ has row $i$ as its noisy posterior; the image with the highest probability
# of class $i$ stands for it. *Misplaced*: probability of a row that would have to move, averaged over the rows.


# %%
def estimates(seed):
    run, transition = swept.one(rate=some, seed=seed), noise(some, seed).transition
    stop, logits = stopping_epoch(run, torch.eye(K)), run.logits["noisy_cal"]
    return {
        "anchors, trained to the end": anchor_points(logits[-1].softmax(dim=1)),
        "anchors, stopped early": anchor_points(logits[stop].softmax(dim=1)),
        "anchors, noisy posterior": anchor_points(digits(seed).calibration.posterior @ transition),
        "100 counts": counts(100, seed),
        "500 counts": counts(500, seed),
        "2,000 counts": counts(2000, seed),
    }


rows = []
for seed in seeds:
    known = noise(some, seed).transition
    for name, found in estimates(seed).items():
        misplaced = (found - known).abs().sum(dim=1).mean().item() / 2
        rows.append(
            {
                "estimate": name,
                "misplaced": misplaced,
                "seed": seed,
                "diagonal": found.diagonal().mean().item(),
            }
        )
estimated = pd.DataFrame(rows)
estimated.groupby("estimate", sort=False)[["misplaced", "diagonal"]].mean().round(3)

# %% tags=["nbval-check-output"]
wrong = estimated.pivot(index="seed", columns="estimate", values="misplaced")
print(
    verdicts.conclude(
        "06f",
        [
            verdicts.judge(
                "06f",
                "anchor points: stopped early, less probability is misplaced than at the end",
                wrong["anchors, stopped early"] - wrong["anchors, trained to the end"],
                expect="below",
            ),
        ],
        "anchor points are better read from a network that was stopped early",
    )
)

# %% [markdown]
# ## kappa hardly moves with label noise, and foretells the sign
#
# The gap on clean labels is $\kappa x-r(a-1/K)$, where $x$ is the accuracy lost from the training labels to new data with labels as noisy, and
# $\kappa$ the part of it that is still claimed. This is an identity. What can fail is that $\kappa$ is that of
# networks *without* label noise. It was found by looking, at other seeds; so it is tested on seeds that were not used before,
# with the margin 0.1 fixed before. Digits: the same recipe on new seeds; the control is the same network after one temperature (clean labels),
# which is expected to lower $\kappa$. Photographs: 10,000 of CIFAR-10, six convolutions, five new seeds, rates 0.2 and 0.4
# (`python -m study.fresh`; training accuracy measured at the end in evaluation mode). The stored photographs and the laptop's small network
# (ResNet-8 on 2,500 images) had been seen: post hoc.

# %%
fresh_seeds = range(SEED + 600, SEED + 600 + len(seeds))
newly = sweep.run(recipe, {"rate": rates, "seed": fresh_seeds}, device=device)


def spots(rate, cool=False):
    """Places of the fresh networks, as trained or after one temperature."""
    found = []
    for run in newly.where(rate=rate):
        test, train = run.predictions["test"], run.predictions["train"]
        probs, labels = on_clean(run) if cool else (test.probs, test.labels)
        right = plane.same_labels_accuracy(metrics.accuracy(probs, labels), rate, K)
        found.append(
            plane.place(metrics.accuracy(train.probs, train.labels), right, probs.amax(dim=1).mean().item())
        )
    return found


where = {rate: spots(rate) for rate in rates}
slope = {rate: plane.kappa_values(rows) for rate, rows in where.items()}
_ = plots.plane(
    {palette.group(k, f"noise {rate:.0%}"): rows for k, (rate, rows) in enumerate(where.items())}
)

# %%
new_photographs = fresh.foretold(fresh.stored())
seen = {
    "40,000 photographs": photographs,
    "2,500 photographs, ResNet-8": experiments.stored("noise", "laptop"),
}
tables = {
    "10,000 photographs, new seeds": new_photographs,
    **{n: fresh.foretold(t) for n, t in seen.items()},
}
rows = []
for name, table in tables.items():
    for rate, runs in table.groupby("value"):
        own = runs.claimed.mean() / runs.lost.mean()
        rows.append(
            {
                "data": name,
                "noise": rate,
                "x": runs.lost.mean(),
                "kappa": own,
                "foretold gap": runs.foretold.mean(),
                "gap": runs.test_gap.mean(),
            }
        )
pd.DataFrame(rows).round(3)

# %%
every = pd.read_csv(checkout.results() / "plane" / "networks.csv", dtype={"lesson": str})
noisy_kinds = every[(every.lesson == "06") & (every.changed == "label noise")]
means = noisy_kinds.groupby(["group", "value"], sort=False)[["lost", "claimed"]].mean()
means["kappa"] = (means.claimed / means.lost).where(means.lost > plane.LEAST_LOST)
means.round(2)


# %% tags=["nbval-check-output"]
def slopes_of(table, rate):
    return plane.kappa_values(table[table.value == rate][["lost", "claimed"]].to_numpy())


def as_foretold(table, rate):
    """The gap, positive where it has the sign of the foretold one."""
    runs = table[table.value == rate]
    return (runs.test_gap * np.sign(runs.foretold.mean())).tolist()


control = plane.kappa_values(spots(0.0, cool=True)) - slope[0.0]
near = {"expect": "within", "margin": "kappa"}
said = [
    verdicts.judge(
        "06g",
        f"digits, noise {rate:g}: kappa within 0.1 of that without noise",
        slope[rate] - slope[0.0],
        control=control,
        **near,
    )
    for rate in rates[1:]
]
said += [
    verdicts.judge(
        "06g",
        f"10,000 photographs, noise {rate:g}: kappa within 0.1 of that without noise",
        slopes_of(new_photographs, rate) - slopes_of(new_photographs, 0.0),
        **near,
    )
    for rate in (0.2, 0.4)
]
said += [
    verdicts.judge(
        "06g",
        f"{name}, noise {rate:g}: kappa within 0.1 of that without noise",
        slopes_of(tables[name], rate) - slopes_of(tables[name], 0.0),
        post_hoc=True,
        **near,
    )
    for name, rate in (("40,000 photographs", 0.4), ("2,500 photographs, ResNet-8", 0.4))
]
print(
    verdicts.conclude(
        "06g",
        said,
        "kappa is kept on digits and on new photographs; 40,000 photographs are undecided, and a "
        "small network on 2,500 photographs loses kappa with noise",
    )
)

# %% tags=["nbval-check-output"]
said = [
    verdicts.judge(
        "06h",
        f"photographs, noise {rate:g}: the sign of the gap is the foretold one",
        as_foretold(new_photographs, rate),
    )
    for rate in (0.2, 0.4)
]
said += [
    verdicts.judge(
        "06h",
        f"{name}, noise {rate:g}: the sign of the gap is the foretold one",
        as_foretold(tables[name], rate),
        post_hoc=True,
    )
    for name in seen
    for rate in (0.2, 0.4)
]
print(
    verdicts.conclude(
        "06h",
        said,
        "kappa without noise foretells the sign on new photographs at both rates; where the "
        "foretold gap is near zero it is undecided",
    )
)

# %% [markdown]
# ## What is left
#
# - The source's networks, 160 epochs and augmentation; CIFAR-100, EuroSAT and iNaturalist. It shows curves without numbers.
# - Training accuracies of the 40,000 photographs and of MNIST are those met during the last epoch, in training mode. MNIST loses less than 5 points of
#   accuracy, where kappa is a quotient of two small numbers, and so do the clusters: none is given.
# - Why kappa is higher for digits than for photographs, and why it falls a little with noise there, is not tested.
# - Shuffled labels and people's labels were not trained on equally many images: no comparison between them. People's errors depend on the
#   image (Wei et al. 2022); no single matrix describes them.
# - Weight decay was chosen for the contest of forward correction alone; all verdicts marked *as trained* have one setting for all.
#
# References: Patrini et al. 2017 ([arXiv:1609.03683](https://arxiv.org/abs/1609.03683)); Zhang et al. 2017
# ([arXiv:1611.03530](https://arxiv.org/abs/1611.03530)); Arpit et al. 2017 ([arXiv:1706.05394](https://arxiv.org/abs/1706.05394)); Wei
# et al. 2022 ([arXiv:2110.12088](https://arxiv.org/abs/2110.12088)); Carrell et al. 2022
# ([arXiv:2210.01964](https://arxiv.org/abs/2210.01964)); *Dataset Curation Beyond Accuracy*, anonymous authors, under double-blind
# review.
