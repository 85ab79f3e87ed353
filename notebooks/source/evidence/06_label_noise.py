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
from scipy.optimize import minimize_scalar
from study import reports

from calibkit import curation, losses, metrics, recalibration
from calibkit.course import experiments, verdicts
from calibkit.course.scale import begin
from calibkit.lab import data, models, sweep, training

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

# %%
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

# %%
swept = sweep.run(recipe, {"rate": rates, "seed": seeds}, device=device)

# %%
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

# %%
def true_error(outcome, noisy):
    """The true calibration error, against the posterior or the noisy posterior."""
    test = outcome.predictions["test"]
    return metrics.true_calibration_error(test.probs, noisy_reader(outcome)[0] if noisy else test.posterior)

# %%
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

# %%
def trained(verdict):
    return replace(verdict, as_trained=True)


def paired(table, column, value, than):
    """Differences of a stored table's column between two settings, seed by seed."""
    wide = table.pivot(index="seed", columns="value", values=column)
    return (wide[value] - wide[than]).tolist()


worse = {"rate": 0.4}, {"rate": 0.0}

# %%
said = [
    verdicts.judge(
        "D3",
        "ECE on clean labels is larger with noise 0.4 than with none",
        swept.difference("test_ece", *worse),
        as_trained=True,
    ),
    verdicts.judge(
        "D3",
        "after one temperature, fitted on clean labels, it is larger too",
        swept.difference("ece_clean_T", *worse),
        post_hoc=True,
    ),
    trained(reports.verdict("noise", photographs)),
]

# %% tags=["nbval-check-output"]
said += [
    verdicts.judge(
        "D3",
        "photographs: after one temperature each, ECE with noise 0.4 is larger than with none",
        paired(photographs, "scaled_ece", 0.4, 0.0),
        post_hoc=True,
    )
]
print(
    verdicts.conclude(
        "D3",
        said,
        (
            "as trained the ECE on clean labels rises with noise on digits and is undecided on "
            "photographs; after one temperature each no clear difference is left on digits, on "
            "photographs it is larger with noise"
        ),
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

# %%
def errors(run, seed, cool, predicted):
    """(K,) ECE of the classes of a run, as trained or after one temperature (clean labels)."""
    test = run.predictions["test"]
    probs, labels = on_clean(run) if cool else (test.probs, test.labels)
    return of_classes(probs, labels, probs.argmax(dim=1) if predicted else labels, seed)

# %%
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
said = [
    verdicts.judge(
        "D4",
        "ECE of the three noisiest classes exceeds that of the three cleanest",
        [row[-3:].mean() - row[:3].mean() for row in noisiest],
        as_trained=True,
    ),
    verdicts.judge(
        "D4", f"after one temperature each: {statement} (predicted class)", slopes(True, True), post_hoc=True
    ),
    trained(reports.verdict("class-noise", at_night)),
]
print(
    verdicts.conclude(
        "D4",
        said,
        (
            "as trained classes with more noise have the larger ECE on digits; after one temperature "
            "each it is undecided, and so it is on photographs"
        ),
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
        "noisy labels, through the matrix": through_the_matrix(held.logits, taught.transition, taught.labels),
    }

# %%
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

print(verdicts.conclude("06c", said, "a temperature fitted on noisy labels overshoots"))

# %% [markdown]
# ## What is left
#
# - Shown in an earlier version against the source, and no longer judged: on photographs the ECE first *falls* with noise (-.039 from none to .1, -.030 to .2) and falls with people's labels (-.063 for the worst, D3).
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
