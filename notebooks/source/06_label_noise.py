# %% [markdown]
# # 06 · Label noise: what wrong labels do to confidence
#
# **Question.** A clinic trains a network on its old X-ray reports, and one report in five is wrong. On a new patient,
# will the network be too sure, or not sure enough?
#
# **You will be able to**
# - make symmetric and class-dependent label noise, and write down its transition matrix;
# - compute the gap that even an exact posterior of noisy labels shows on clean labels;
# - explain how the gap of the same network changes in the course of its training;
# - estimate the transition matrix, and fit a temperature or train a network through it.
#
# **Time.** 60 minutes for sections 1 to 5; 50 more for 6 to 8, a second sitting.
#
# **Needs.** [02 Measuring calibration](02_measuring_calibration.ipynb).

# %%
import functools
import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
import torch
from scipy.optimize import minimize_scalar
from sklearn.metrics import confusion_matrix

from calibkit import curation, losses, metrics, recalibration
from calibkit.course import check, experiments, explorers, verdicts
from calibkit.course.scale import begin
from calibkit.lab import data, models, sweep, training
from calibkit.pictures import alt_text, palette, plots

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% [markdown]
# **Write down a guess:** 30 % of the training labels are shuffled. On clean test labels, is the confidence above or below the accuracy
# after 6 epochs, and after 60? Then move the sliders. (They show stored runs; section 3 trains the networks anew.)

# %%
explorers.stored("label_noise")

# %% [markdown]
# ## 1. Wrong labels, made on purpose
#
# *Pixel* noise makes the digits hard to read. **Label noise** is another thing: a mistake in the training
# data, such as "7" under a 1.

# %%
size, seeds, device = begin(SCALE, SEED, DEVICE)
K = 10  # classes
rates = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]
some = 0.3  # the noise rate that we look at closely


@functools.cache
def digits(seed):
    return data.noisy_digits(size.train, noise=0.4, seed=seed, test=size.test)

# %% [markdown]
# The common recipe is **symmetric label noise**: choose a share $r$ of the training images at random, the **noise rate**, and
# shuffle the labels of these among themselves. From scratch, then the package:

# %%
train, cal, test = digits(SEED)
generator = torch.Generator().manual_seed(SEED)
count = round(some * len(train))
drawn = torch.randperm(len(train), generator=generator)[:count].sort().values
by_hand = train.labels.clone()
by_hand[drawn] = train.labels[drawn][torch.randperm(count, generator=generator)]

noisy = curation.symmetric_noise(train.labels, some, classes=K, seed=SEED)
assert torch.equal(by_hand, noisy.labels)
# flipped: the images that were drawn; a few of them keep their label
print(f"drawn {len(noisy.flipped) / len(train):.1%}, changed {len(noisy.changed) / len(train):.1%}")

# %% tags=["drawing"]
sharp = data.noisy_digits(size.train, noise=1e-6, seed=SEED, calibration=1, test=1).train
shown = noisy.changed[:8]
written = noisy.labels[shown].tolist()
strips = {"before the pixel noise": sharp, "as the network sees them, with their labels": train}
fig, axes = plt.subplots(2, 1, figsize=(6.4, 2.6))
for ax, (name, images) in zip(axes, strips.items(), strict=True):
    _ = ax.imshow(torch.cat(list(images.inputs[shown, 0]), dim=1), cmap="gray_r")
    for place in range(1, len(shown)):
        _ = ax.axvline(8 * place - 0.5, color="white", lw=6)
    _ = ax.set_title(name, fontsize=9, loc="left")
    _ = ax.set_xticks([]), ax.set_yticks([]), ax.grid(False)
for place, label in enumerate(written):
    _ = axes[1].text(8 * place + 3.5, 9.2, f'"{label}"', ha="center", color=palette.VERMILLION, weight="bold")
_ = alt_text.note(axes[0], f"Eight clean digits: {', '.join(map(str, train.labels[shown].tolist()))}.")
_ = alt_text.note(axes[1], f"The same digits under pixel noise, labelled {', '.join(map(str, written))}.")

# %% [markdown]
# All eight labels are wrong. Fewer labels changed than were drawn: a shuffled label lands on its own class about once in
# $K$ times. So "noise 30 %" means about 27 % wrong labels here.
#
# ## 2. The exact posterior of a noisy label
#
# Let $q(x)$ be the exact posterior of an image (lesson 00), a row of $K$ probabilities. *Which label will stand under
# this image?* With probability $1 - r$ the true class, with probability $r$ a random one, each with about $1/K$:
#
# $$\tilde q(x) = (1 - r)\, q(x) + \frac{r}{K} = q(x)\,N, \qquad N_{ij} = P(\text{label } j \mid \text{class } i).$$
#
# $N$ is the **transition matrix** of the noise, and $\tilde q$ the **noisy posterior**. In expectation, cross-entropy on noisy
# labels is lowest at $\tilde q$: no model of these labels is better.

# %%
matrix = (1 - some) * torch.eye(K, dtype=torch.float64) + some / K
assert torch.allclose(matrix, curation.transition_matrix(some, classes=K, kind="uniform"))
noisy_posterior = test.posterior @ matrix
same = (noisy_posterior.argmax(dim=1) == test.posterior.argmax(dim=1)).double().mean()
print(f"noisy and clean posterior favour the same digit on {same:.1%} of the images")

# %% [markdown]
# So the predicted class stays the same; only the confidence changes.
#
# **Predict before you run:** we judge the noisy posterior twice, by test labels that are as noisy as the
# training labels and by clean test labels. Over- or under-confident, in each case?

# %% tags=["answer"]
given = curation.symmetric_noise(test.labels, some, classes=K, seed=SEED).labels
fig, axes = plt.subplots(1, 2, figsize=(6.4, 3.9))
for ax, (name, labels) in zip(axes, {"noisy": given, "clean": test.labels}.items(), strict=True):
    counted = metrics.reliability(noisy_posterior, labels)
    gap = metrics.signed_gap(noisy_posterior, labels)
    title = f"noisy posterior, {name} labels: {gap:+.1%}"
    _ = plots.draw_reliability(counted, ax=ax, legend=ax is axes[0]).set_title(title, fontsize=9)
    print(f"judged by {name} labels its signed gap is {gap:+.1%}")

# %% [markdown]
# Open the answer above first. By noisy labels it is calibrated; by clean labels it is *under*-confident, because it predicts
# another thing: the noisy label. By how much? If a share $a$ of the predictions is right on clean labels, a share $(1 - r)a + r/K$ agrees with noisy
# ones. A model that is calibrated for noisy labels therefore has, on clean labels, the gap
#
# $$\Bigl((1 - r)\,a + \frac{r}{K}\Bigr) - a = -r\,\Bigl(a - \frac1K\Bigr).$$

# %%
def gap_from_noise(accuracy, rate):
    return (1 - rate) * accuracy + rate / K - accuracy


# the accuracy to expect of the posterior: it is calibrated, so this is its mean confidence
best = test.posterior.amax(dim=1).mean().item()
confidence = noisy_posterior.amax(dim=1).mean().item()
assert abs(confidence - best - gap_from_noise(best, some)) < 1e-9
print(f"expected accuracy {best:.1%}; gap of the noisy posterior on clean labels, by the formula: "
      f"{gap_from_noise(best, some):+.1%}")

# %% [markdown]
# This formula, at each model's own accuracy, is the reference for all that follows.
#
# ## 3. Networks at six noise rates
#
# We train on noisy labels; the test labels stay clean. `watch` names data that are scored after every epoch,
# `keep` those of which the logits are kept.

# %%
def network():
    return models.mlp(64, K)


@functools.cache
def noise(rate, seed, split="train"):
    labels = getattr(digits(seed), split).labels
    return curation.symmetric_noise(labels, rate, classes=K, seed=seed)

# %%
def relabelled(split, rate, seed):
    return getattr(digits(seed), split).with_labels(noise(rate, seed, split).labels)


def recipe(rate, seed):
    learn, test = relabelled("train", rate, seed), digits(seed).test
    watch, keep = {"clean": test[:2000]}, []
    if rate == some:  # sections 4 and 7 look at these after every epoch
        watch["drawn"] = learn[noise(some, seed).flipped]
        watch["noisy_cal"] = relabelled("calibration", some, seed)
        keep = ["noisy_cal"]
    return training.trial(network, learn, {"cal": digits(seed).calibration, "test": test}, seed=seed,
                          watch=watch, keep=keep, epochs=size.epochs)


swept = sweep.run(recipe, {"rate": rates, "seed": seeds}, device=device)

# %% tags=["drawing"]
stops = [e for e in (1, 2, 3, 4, 6, 8, 10, 15, 20, 30, 45, 60) if e <= size.epochs]
accurate = palette.ACCURACY.named("accuracy, clean labels")
reference = palette.TRUTH.named("for noisy labels")


def by_epoch(rate, column):
    rows = [outcome.history[column] for outcome in swept.where(rate=rate)]
    return np.array(rows)[:, np.array(stops) - 1]  # (seeds, stops)


def frame(rate, epoch):
    diagrams = [outcome.diagrams["clean"][epoch - 1] for outcome in swept.where(rate=rate)]
    sure, right = by_epoch(rate, "clean_confidence"), by_epoch(rate, "clean_accuracy")
    learned = by_epoch(rate, "train_accuracy")
    now = [values[:, stops.index(epoch)].mean() for values in (sure, right, learned)]
    readout = (f"Noise {rate:.0%}, epoch {epoch}: mean confidence {now[0]:.1%}, right on {now[1]:.1%} of "
               f"clean test labels and on {now[2]:.1%} of its own training labels.")
    return explorers.along_frame(
        explorers.pooled(diagrams), epoch, stops, {palette.CONFIDENCE: sure, accurate: right},
        x_label="epoch", x_ticks=[s for s in (1, 3, 10, 30) if s <= size.epochs], log_x=True,
        title=f"noise {rate:.0%}, epoch {epoch}", readout=readout)

# %% tags=["drawing"]
explorers.keep(explorers.Explorer(
    frame, explorers.Slider("noise rate", rates, show="{:.0%}".format),
    explorers.Slider("epoch", stops, start=stops[-1]), play=True,
    description="Left, the reliability diagram on clean test labels of the networks of all seeds: a bar "
    "below the diagonal is over-confident. Right, against the epoch: mean confidence and accuracy. "
    "Bands span the seeds; the grey line marks the chosen epoch."), "label_noise")

# %% [markdown]
# **Predict before you run:** at noise 0.4, which has the larger ECE on clean labels: the networks at the end of their training,
# or the noisy posterior? (The formula above gives you the second one.)

# %% tags=["answer"]
def exact_ece(outcome):
    test = outcome.predictions["test"]
    transition = noise(outcome.setting["rate"], outcome.setting["seed"]).transition
    return metrics.ece(test.posterior @ transition, test.labels)


swept.measure("exact_ece", exact_ece)
table = swept.table
table["expected"] = table.test_accuracy + gap_from_noise(table.test_accuracy, table.rate)
shares = {"test_confidence": palette.CONFIDENCE, "test_accuracy": accurate, "expected": reference}
errors = {"test_ece": palette.TRAINED.named("networks"), "exact_ece": palette.TRUTH.named("noisy posterior")}
fig, (left, right) = plt.subplots(1, 2, figsize=(7, 3))
_ = plots.columns(table, "rate", shares, ax=left).set(xlabel="noise rate", ylabel="share", ylim=(0, 1))
_ = plots.columns(table, "rate", errors, ax=right).set(xlabel="noise rate", ylabel="ECE, clean labels")
ends = table.groupby("rate").mean()
print(f"ECE at noise 0.4: networks {ends.test_ece[0.4]:.1%}, noisy posterior {ends.exact_ece[0.4]:.1%}")

# %% [markdown]
# Open the answer above first. How to read the figure:
#
# - **Left:** the confidence falls far more slowly than the accuracy. The slider's readout shows that each network is right on nearly
#   all of its training labels, the wrong ones too. The black line is the confidence that the formula
#   expects at this accuracy; the networks' confidence stays above it.
# - **Right:** the noisy posterior's ECE on clean labels rises as well, and at 0.4 it is *larger* than the networks'.
#
# The ECE has no sign: it cannot tell over-confidence from doubt that the labels justify.

# %% tags=["nbval-check-output"]
print(verdicts.judge("D3", "ECE on clean labels is larger with noise 0.4 than with none",
                     swept.difference("test_ece", {"rate": 0.4}, {"rate": 0.0})))

# %% tags=["aside", "nbval-check-output"]
ece = np.array([swept.values("test_ece", seed=s) for s in seeds])  # (seeds, rates)
print(verdicts.judge("D3", "the smallest increase between 0, 0.1, 0.2, 0.3 and 0.4",
                     np.diff(ece[:, :5], axis=1).min(axis=1)))
fall = swept.difference("test_accuracy", {"rate": 0.4}, {"rate": 0.0})
print(verdicts.judge("06a", "noise 0.4 costs at least 10 points of accuracy", fall,
                     expect="below", margin=0.1))
print(verdicts.judge("06b", "at 0.4 the noisy posterior's ECE on clean labels exceeds the networks'",
                     swept.values("exact_ece", rate=0.4) - swept.values("test_ece", rate=0.4)))

# %% [markdown]
# The posterior is known. So we can compute the true calibration error (02) against the posterior and against the noisy
# posterior:

# %%
def clean_error(outcome):
    test = outcome.predictions["test"]
    return metrics.true_calibration_error(test.probs, test.posterior)


def noisy_error(outcome):
    test = outcome.predictions["test"]
    transition = noise(outcome.setting["rate"], outcome.setting["seed"]).transition
    return metrics.true_calibration_error(test.probs, test.posterior @ transition)


swept.measure("against the posterior", clean_error)
swept.measure("against the noisy posterior", noisy_error)
columns = ["test_gap", "test_ece", "against the posterior", "against the noisy posterior"]
swept.table.groupby("rate")[columns].mean().round(3)

# %% [markdown]
# Against the noisy posterior the error is larger at every rate above zero: at the end, these networks are not calibrated
# for the labels that they were taught either.
#
# ## 4. The gap in the course of the training
#
# **Predict before you run:** at noise 30 %, look at the training images whose labels were drawn for shuffling. After a tenth of the
# epochs, on what share of them does the network say the shuffled label: most, half, or few? (The slider does not show this.)

# %% tags=["answer"]
runs = [outcome.history.assign(rate=outcome.setting["rate"]) for outcome in swept.outcomes]
epochs = pd.concat(runs).query("rate in (0, @some)")
epochs["gap"] = epochs.clean_confidence - epochs.clean_accuracy
epochs["labels"] = epochs.rate.map({0.0: "no label noise", some: "noise 30 %"})
noisy_runs = epochs.query("rate == @some")
shares = {"clean_accuracy": accurate, "drawn_accuracy": palette.group(3, "says the shuffled label")}
fig, (left, right) = plt.subplots(1, 2, figsize=(7, 3))
_ = sns.lineplot(epochs, x="epoch", y="gap", hue="labels", style="labels", errorbar=("pi", 100), ax=left)
_ = left.axhline(0, ls="--", color=palette.GREY)
_ = left.set(xscale="log", ylabel="signed gap, clean labels")
_ = plots.columns(noisy_runs, "epoch", shares, ax=right).set(xscale="log", ylabel="share", ylim=(0, 1.3))
at = noisy_runs.groupby("epoch").mean(numeric_only=True)
early = size.epochs // 10
# clean accuracy and gap are those of the first 2,000 test images
for epoch in (early, size.epochs):
    print(f"noise {some:.0%}, after epoch {epoch}: says {at.drawn_accuracy[epoch]:.0%} of the shuffled "
          f"labels; accuracy {at.clean_accuracy[epoch]:.1%}; signed gap {at.gap[epoch]:+.1%}, "
          f"by the formula {gap_from_noise(at.clean_accuracy[epoch], some):+.1%}")

# %% [markdown]
# Open the answer above first.
#
# - **Early**, the network says few of the shuffled labels and is *under*-confident on clean labels, while the network without
#   label noise is already over-confident at that epoch. Its gap is near the formula's (last number of the line). Its gap on
#   *noisy* labels is confidence $-\,[(1-r)a+r/K]$ = gap minus formula: near zero.
# - **In between**, the gap on clean labels passes through zero. This does not show a good model: the accuracy is already falling.
# - **Late**, it says the shuffled labels too: it has **memorised** them, and is over-confident by either kind of label.
#
# So the sign of the gap tells *when* the training stopped as much as how noisy the labels are.

# %% tags=["nbval-check-output"]
first = epochs[epochs.epoch == early].groupby("rate").gap.apply(list)
last = epochs[epochs.epoch == size.epochs].groupby("rate").gap.apply(list)
print(verdicts.judge("06c", "noise 0.3, stopped at a tenth: under-confident on clean labels",
                     first[some], expect="below"))

# %% tags=["aside", "nbval-check-output"]
right_at = {e: noisy_runs[noisy_runs.epoch == e].clean_accuracy.to_numpy() for e in (early, size.epochs)}
print(verdicts.judge("06d", "noise 0.3, trained to the end: over-confident on clean labels", last[some]))
print(verdicts.judge("06e", "at a tenth: more under-confident than without noise",
                     np.subtract(first[some], first[0.0]), expect="below"))
print(verdicts.judge("06f", "at a tenth: its gap on noisy labels is within 5 points of zero",
                     first[some] - gap_from_noise(right_at[early], some), expect="within", margin=0.05))
print(verdicts.judge("06g", "the network stopped at a tenth is the more accurate",
                     right_at[early] - right_at[size.epochs]))

# %% [markdown]
# ## 5. When some classes are noisier
#
# People confuse some classes more than others. In *Dataset Curation Beyond Accuracy*, the paper that this lesson
# follows, this is **class-dependent label noise**: class $i$ has a rate $p_i$, evenly
# spaced from 0 to 0.5 in a random order of the classes. A share $p_i$ of its labels is drawn, and each becomes class $j$
# with probability $p_j / \sum_k p_k$ (in our reading possibly its own again; the paper says "a new random class").
#
# ### Exercise: the transition matrix
#
# *Difficulty: medium · importance: high · 10 minutes*
#
# Write $N_{ij} = P(\text{label } j \mid \text{class } i)$ for this noise, from the vector `p`. Row = true class, column = label.

# %%
def my_noise_matrix(p):
    ...  # your code here: p is a tensor (K,)


check.noise_matrix(my_noise_matrix)

# %% [markdown]
# <details><summary>Hint</summary>
#
# Two cases, added: the label is left alone with probability $1 - p_i$ (a diagonal matrix), or drawn with
# probability $p_i$, and then class $j$ has its share. `p[:, None]` is a column. Every row must sum to 1.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_noise_matrix(p):
#     return torch.diag(1 - p) + p[:, None] * p / p.sum()
# ```
#
# </details>
#
# We train on it, and compare each class with itself without noise. The images are grouped by the *predicted* class: there
# the exact posterior has an ECE near zero. (Grouped by the true class it has not.) `class_errors` goes through the classes from the lowest rate to the highest, in
# equal steps of $0.5/(K - 1)$.

# %%
@functools.cache
def class_noise(seed):
    return curation.classwise_noise(digits(seed).train.labels, 0.5, classes=K, seed=seed)


def class_recipe(seed):
    train, _, test = digits(seed)
    learn = train.with_labels(class_noise(seed).labels)
    return training.trial(network, learn, {"test": test}, seed=seed, epochs=size.epochs)


by_class = sweep.run(class_recipe, {"seed": seeds}, device=device)


def class_errors(seed, name, probs, group):
    """One row a class, from the least noisy to the noisiest: the ECE of its group of images."""
    rows = []
    from_clean_to_noisy = class_noise(seed).rates.argsort()
    for rate, k in zip(np.linspace(0, 0.5, K), from_clean_to_noisy, strict=True):
        member = group == k
        error = metrics.ece(probs[member], digits(seed).test.labels[member]) if member.any() else 0.0
        rows.append({"seed": seed, "model": name, "rate": rate, "ece": error})
    return rows

# %%
per_class, of_class = [], []
for seed in seeds:
    noisy_run, clean_run = by_class.one(seed=seed), swept.one(rate=0.0, seed=seed)
    predictions = {"class-dependent noise": noisy_run.predictions["test"].probs,
                   "no label noise": clean_run.predictions["test"].probs,
                   "exact posterior": digits(seed).test.posterior}
    for name, probs in predictions.items():
        per_class += class_errors(seed, name, probs, probs.argmax(dim=1))
        of_class += class_errors(seed, name, probs, digits(seed).test.labels)
per_class, of_class = pd.DataFrame(per_class), pd.DataFrame(of_class)
fig, ax = plt.subplots(figsize=(5, 3))
_ = sns.lineplot(per_class, x="rate", y="ece", hue="model", style="model", markers=True,
                 errorbar=("pi", 100), palette=[palette.VERMILLION, palette.SKY, palette.BLACK], ax=ax)
_ = ax.set(xlabel="noise rate of the class", ylabel="ECE, images predicted as the class")
_ = ax.legend(fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3)

# %% [markdown]
# The bands are wide: in every seed other digits are the noisy ones, and digits differ in difficulty. The two upper lines
# meet at the clean classes and separate towards the noisy ones. To judge this, `slopes` takes the difference of these two lines
# in each seed, fits a straight line to it, and returns its slope:

# %% tags=["nbval-check-output"]
def slopes(table):
    found = []
    for seed in seeds:
        wide = table[table.seed == seed].pivot(index="rate", columns="model", values="ece")
        added = wide["class-dependent noise"] - wide["no label noise"]
        slope, _ = np.polyfit(added.index, added, 1)  # a straight line
        found.append(slope)
    return found


print(verdicts.judge("D4", "what noise adds to a class's ECE grows with its rate (predicted class)",
                     slopes(per_class)))

# %% tags=["aside", "nbval-check-output"]
print(verdicts.judge("D4", "what noise adds to a class's ECE grows with its rate (true class)",
                     slopes(of_class)))
noisy_rows = of_class[of_class.model == "class-dependent noise"]
by_rate = noisy_rows.pivot(index="seed", columns="rate", values="ece")
print(verdicts.judge("D4", "ECE of the three noisiest classes exceeds that of the three cleanest",
                     by_rate.iloc[:, -3:].mean(axis=1) - by_rate.iloc[:, :3].mean(axis=1)))

# %% [markdown]
# ## 6. The classic mistake: recalibration with noisy labels
#
# (A second sitting begins here: run all cells above first.)
#
# An over-confident network can be repaired by one number, the temperature $T$: divide its logits by $T$, fitted on the `cal`
# split ([lesson 08](08_temperature.ipynb)). **The mistake:** the `cal` labels come from the same source as the training labels.
# **The repairs:** label a few hundred images carefully; or, if the transition matrix is known or estimated, fit *through* it.
#
# ### Exercise: the loss seen through the noise
#
# *Difficulty: medium · importance: high · 10 minutes*
#
# `probs` (n, K) are about the true class, `labels` are noisy. Write the mean NLL of the labels, in nats.

# %%
def my_noisy_nll(probs, transition, labels):
    ...  # your code here


check.noisy_nll(my_noisy_nll)

# %% [markdown]
# <details><summary>Hint</summary>
#
# Section 2: the distribution of the label is `probs @ transition`. Pick each row's entry at its label with
# `gather(1, labels[:, None])`.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_noisy_nll(probs, transition, labels):
#     noisy_probs = probs @ transition
#     return -noisy_probs.gather(1, labels[:, None]).log().mean()
# ```
#
# </details>
#
# This is the **forward correction** of Patrini et al. (2017), in the package `losses.forward_corrected`.

# %%
def through_the_matrix(logits, transition, labels):
    def loss(log_t):
        cooled = logits.double() / math.exp(log_t)
        return losses.forward_corrected(cooled, labels, transition=transition).item()

    return math.exp(minimize_scalar(loss, bounds=(-2, 5), method="bounded").x)


def temperatures(cal, taught):
    fit = recalibration.TemperatureScaler().fit
    through = through_the_matrix(cal.logits, taught.transition, taught.labels)
    return {"nothing": 1.0, "noisy labels": fit(cal.logits, taught.labels).temperature,
            "clean labels": fit(cal.logits, cal.labels).temperature,
            "noisy labels, through the matrix": through}

# %% [markdown]
# **Predict before you run:** fitted on noisy labels, is the network then over- or under-confident on clean ones?

# %% tags=["answer"]
rows = []
for seed in seeds:
    predictions = swept.one(rate=some, seed=seed).predictions
    cal, test = predictions["cal"], predictions["test"]
    for name, t in temperatures(cal, noise(some, seed, "calibration")).items():
        gap = metrics.signed_gap((test.logits / t).softmax(dim=1), test.labels)
        rows.append({"fitted on": name, "T": t, "gap on clean labels": gap})
fitted = pd.DataFrame(rows)
means = fitted.groupby("fitted on", sort=False).mean()
print(means.round(3))
gaps = means["gap on clean labels"]
print(f"fitted on noisy labels the gap is {gaps['noisy labels']:+.1%}, "
      f"through the matrix {gaps['noisy labels, through the matrix']:+.1%}")

# %% [markdown]
# Open the answer above first. Fitted on noisy labels, the temperature makes the network expect wrong labels, a doubt that clean labels do not
# justify. Through the matrix, the temperature accounts only for the network's own errors. Neither repair brings back the accuracy.

# %% tags=["nbval-check-output"]
after = fitted.set_index("fitted on")["gap on clean labels"]
print(verdicts.judge("06h", "fitted on noisy labels: at least 10 points under-confident",
                     after["noisy labels"], expect="below", margin=0.1))

# %% tags=["aside", "nbval-check-output"]
for name in ("clean labels", "noisy labels, through the matrix"):
    print(verdicts.judge("06i", f"fitted on {name}: the gap is within 5 points of zero", after[name],
                         expect="within", margin=0.05))

# %% [markdown]
# ## 7. Estimate the matrix, then train through it
#
# Nobody knows the matrix of old reports. Two estimates:
#
# - **Counts.** Have some images labelled again with care; row $i$ is the distribution of the old labels among those of true class $i$.
# - **Anchor points** (Patrini et al. 2017). An **anchor point** of class $i$ is an image that certainly shows $i$. There
#   $q(x)$ is a one at $i$, so $\tilde q(x)$ is row $i$ of $N$. Take the image to which a network, trained on noisy labels, gives class
#   $i$ with the highest probability, and read its prediction as the row. No clean label is needed.
#
# `probs.argmax(dim=0)` finds this image for every class at once. `stopping_epoch` finds the epoch with the lowest NLL on
# noisy calibration labels: there we stop early. It needs no clean label. (`torch.eye(K)`, the identity, stands for no matrix.)

# %%
def counts(n, seed):
    true, given = digits(seed).calibration.labels[:n], noise(some, seed, "calibration").labels[:n]
    return torch.tensor(confusion_matrix(true, given, labels=range(K), normalize="true"))


def anchor_points(probs):
    return probs[probs.argmax(dim=0)].double()  # row i: the prediction where class i is likeliest


def stopping_epoch(outcome, transition):
    """Counted from 0: where noisy calibration labels, seen through the matrix, have the lowest NLL."""
    through = functools.partial(losses.forward_corrected, transition=transition)
    labels = outcome.trial.watch["noisy_cal"].labels  # as given to training.trial
    logits_by_epoch = outcome.logits["noisy_cal"]  # one tensor (n, K) for each epoch
    return int(np.argmin([through(logits, labels).item() for logits in logits_by_epoch]))

# %% [markdown]
# We compare each estimate with the known matrix: *misplaced* is the probability of a row that would have to move to another
# column (half the sum of absolute differences), averaged over the rows.
#
# **Predict before you run:** from which network do anchor points give the better matrix: trained to the end, or stopped early?

# %% tags=["answer"]
def estimates(seed):
    run, transition = swept.one(rate=some, seed=seed), noise(some, seed).transition
    stop, logits = stopping_epoch(run, torch.eye(K)), run.logits["noisy_cal"]
    return {"anchors, trained to the end": anchor_points(logits[-1].softmax(dim=1)),
            "anchors, stopped early": anchor_points(logits[stop].softmax(dim=1)),
            "anchors, noisy posterior": anchor_points(digits(seed).calibration.posterior @ transition),
            "100 counts": counts(100, seed), "500 counts": counts(500, seed),
            "2,000 counts": counts(2000, seed)}


rows = []
for seed in seeds:
    known = noise(some, seed).transition
    for name, found in estimates(seed).items():
        misplaced = (found - known).abs().sum(dim=1).mean().item() / 2
        rows.append({"estimate": name, "misplaced": misplaced, "seed": seed,
                     "diagonal": found.diagonal().mean().item()})
estimated = pd.DataFrame(rows)
mean = estimated.groupby("estimate", sort=False)[["misplaced", "diagonal"]].mean()
print(mean.round(3))
print(f"the true diagonal is {known.diagonal().mean():.2f}; misplaced: {mean.misplaced.iloc[0]:.0%} after "
      f"the full training, {mean.misplaced.iloc[1]:.0%} when stopped early")

# %% [markdown]
# Open the answer above first. The noisy posterior itself gives the matrix. A network gives its own prediction about noisy labels:
# trained to the end, it predicts almost no noise. Stopped early, its gap on noisy labels is near zero on average, but an anchor point is its
# most extreme prediction of 2,000, and that is too sure (diagonal). Counts need clean labels: 100 images leave about ten a row.
#
# With a matrix, the network itself can be trained through it (`losses.forward_corrected`). For comparison we also train on *clean*
# labels with **label smoothing**: each one-hot target becomes $(1 - r)$ times itself plus $r/K$, which is the *mean* of the noisy targets.

# %%
def matrix_of(way, seed):
    """What this way trains and stops with; the identity where it predicts the noisy label itself."""
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
    return training.trial(network, learn, seed=seed, loss=loss_of(way, seed), watch=watch,
                          keep=["noisy_cal"], epochs=size.epochs)


ways = ["forward, known matrix", "forward, 500 counts", "label smoothing, clean labels"]
cured = sweep.run(corrected, {"way": ways, "seed": seeds}, device=device)

# %% [markdown]
# **Predict before you run:** both are trained to the end. Is the network over- or under-confident on clean labels after forward
# correction with the known matrix? And after label smoothing?

# %% tags=["answer"]
named = [("cross-entropy", outcome) for outcome in swept.where(rate=some)]
named += [(outcome.setting["way"], outcome) for outcome in cured.outcomes]
rows = []
for way, run in named:
    seed = run.setting["seed"]
    forward = way.startswith("forward")
    stop = stopping_epoch(run, matrix_of(way, seed))
    for moment, at in (("stopped early", stop), ("to the end", size.epochs - 1)):
        score = run.history.iloc[at]
        rows.append({"way": way, "moment": moment, "seed": seed, "accuracy": score.clean_accuracy,
                     "gap": score.clean_confidence - score.clean_accuracy,
                     "by the formula": math.nan if forward else gap_from_noise(score.clean_accuracy, some)})
repairs = pd.DataFrame(rows)
average = repairs.groupby(["way", "moment"], sort=False)[["accuracy", "gap", "by the formula"]].mean()
print(average.round(3))
for way in ("cross-entropy", ways[0], ways[2]):
    mean = average.loc[way, "to the end"]
    print(f"{way}, trained to the end: gap {mean.gap:+.1%}, accuracy {mean.accuracy:.1%}")

# %% tags=["answer"]
def repeated(run):
    """Of the training images with a wrong label: the share on which the network says this label."""
    seed = run.setting["seed"]
    taught = noise(some, seed)
    images, wrong_labels = digits(seed).train.inputs[taught.changed], taught.labels[taught.changed]
    with torch.no_grad():
        decision = run.model.cpu()(images).argmax(dim=1)
    return (decision == wrong_labels).double().mean().item()


for way, finished in {"cross-entropy": swept.where(rate=some), ways[0]: cured.where(way=ways[0])}.items():
    share = np.mean([repeated(run) for run in finished])
    print(f"{way}, trained to the end: says {share:.0%} of the wrong training labels")

# %% [markdown]
# Open the two answers above first.
#
# - **Forward correction, stopped early,** brings the gap on clean labels near zero: the output of the network is now about the
#   true class, so the formula does not apply (NaN). Trained to the end it is about as over-confident as cross-entropy, though it says fewer of the wrong training labels
#   and is more accurate.
# - **Label smoothing** has the same mean target, but shows the network no wrong label: it keeps the accuracy of clean labels, and stays
#   under-confident to the end, even more than the formula says for its accuracy.

# %% tags=["nbval-check-output"]
gaps = repairs.pivot(index="seed", columns=["way", "moment"], values="gap").abs()
print(verdicts.judge("06j", "stopped early, the known matrix brings the gap nearer to zero",
                     gaps[ways[0], "stopped early"] - gaps["cross-entropy", "stopped early"], expect="below"))

# %% tags=["aside", "nbval-check-output"]
signed = repairs.pivot(index="seed", columns=["way", "moment"], values="gap")
print(verdicts.judge("06k", "stopped early, 500 counts bring it nearer to zero",
                     gaps[ways[1], "stopped early"] - gaps["cross-entropy", "stopped early"], expect="below"))
print(verdicts.judge("06l", "trained to the end through the known matrix: at least 10 points over-confident",
                     signed[ways[0], "to the end"], margin=0.1))
print(verdicts.judge("06m", "label smoothing on clean labels: at least 10 points under-confident at the end",
                     signed[ways[2], "to the end"], expect="below", margin=0.1))
wrong = estimated.pivot(index="seed", columns="estimate", values="misplaced")
print(verdicts.judge("06n", "anchor points: stopped early, less probability is misplaced than at the end",
                     wrong["anchors, stopped early"] - wrong["anchors, trained to the end"],
                     expect="below"))

# %% [markdown]
# ### Exercise: 500 careful labels
#
# *Difficulty: hard · importance: high · 15 minutes, no code*
#
# The clinic has 20,000 X-rays with old labels and can pay for 500 careful ones. Possible uses: add them to the training, estimate
# the matrix, fit a temperature, test the result. Plan how to divide them, and say for each use what happens if you take
# old labels instead.
#
# <details><summary>Answer</summary>
#
# *Test:* you need some of them, perhaps 250. Noisy labels lower the measured accuracy to $(1 - r)a + r/K$ and prefer under-confident
# models. *Matrix and temperature:* the other 250 can serve both. With two classes a row of the matrix has about 125 of them. With ten
# classes it has 25; we tried 10, 50 and 200 a row. If these are too few, fit the temperature on them directly. With old labels the temperature becomes too high (06h),
# unless it is fitted through a matrix. *Training:* 500 in 20,000 are little. Stopping early needs old labels only.
#
# </details>
#
# ## 8. Photographs, people, and the paper
#
# Six convolutions, 15 epochs, 40,000 CIFAR-10 photographs (stored; `SCALE = "gpu"` trains anew:
# [from laptop to paper](from_laptop_to_paper.md)). Rows: noise rates, mean ± standard deviation over the seeds.
# `T` is fitted on *clean* labels.

# %%
photographs = experiments.on_photographs("noise", SCALE, device=device)
experiments.shown(photographs)

# %% tags=["aside", "nbval-check-output"]
print(experiments.verdict("noise", photographs))
for step in experiments.verdicts("noise", photographs):
    print(step)

# %% [markdown]
# Read the sign of the gap first, beside the formula of section 2, on MNIST too (40,000 digits of 28 pixels):

# %%
mnist = experiments.stored("noise", "night", dataset="mnist")
for name, table in {"photographs": photographs, "MNIST": mnist}.items():
    print(name)
    for rate, runs in table.groupby("value"):
        gap, expected = runs.test_gap.mean(), gap_from_noise(runs.test_accuracy.mean(), rate)
        print(f"  noise {rate:.0%}: right on {runs.train_accuracy.mean():.0%} of its training labels "
              f"({1 - rate + rate / K:.0%} are correct); signed gap {gap:+.1%}, "
              f"by the formula {expected:+.1%}")

# %% tags=["aside", "nbval-check-output"]
errors = mnist.pivot(index="seed", columns="value", values="test_ece")
for less, more in zip(errors.columns[:-1], errors.columns[1:], strict=True):
    print(verdicts.judge("D7", f"MNIST: noise {more:g} gives a larger ECE than {less:g}",
                         (errors[more] - errors[less]).tolist()))

# %% [markdown]
# The ECE of the photographs first falls, until the gap changes its sign. On MNIST it rises at each step (D7, folded), the gap
# near the formula's; on photographs the gap stays well above it (why: not measured).
#
# **People** make other mistakes. CIFAR-10N (Wei et al. 2022) gives each CIFAR-10 training image the labels of three people:
# 17.2 % of the first person's are wrong, 40.2 % if the worst of three is taken, 9.0 % after a vote. Its authors show that
# these errors depend on the *image* too: no single matrix $N$ describes them. Such labels on 20,000 images:

# %%
people = experiments.on_photographs("people", SCALE, device=device)
experiments.shown(people)

# %% tags=["aside", "nbval-check-output"]
for step in experiments.verdicts("people", people):
    print(step)
by_class = experiments.on_photographs("class-noise", SCALE, device=device)
print(experiments.verdict("class-noise", by_class))

# %% [markdown]
# From one person on the ECE falls here too, but the gap stays *positive*: with 40 % wrong the network is right on 82 % of its training
# labels, so it has learned mistakes. (Shuffled labels had twice the images: no fair comparison.)
#
# | | paper (*Dataset Curation Beyond Accuracy*) | here |
# |---|---|---|
# | data | CIFAR-10, CIFAR-100, EuroSAT, iNaturalist | noisy digits, posterior known |
# | network | ResNet-50, 160 epochs, crop and flip | 2 x 256 ReLU, no augmentation |
# | symmetric noise | 0, 0.1 ... 0.4 (its figure 2) | 0, 0.1 ... 0.5 |
# | class-dependent | $p_i$ from 0 to 0.5 (its figure 3) | the same |
# | result | ECE rises with noise "across datasets"; noisier classes are worse | digits: D3, D4; photographs: D3 partly reversed, D4 open; MNIST (ours): D7 |
#
# The paper shows curves only, and leaves open whether a class's ECE is over images *of* it or *predicted* as it.
#
# ## Three things to take away
#
# 1. Under symmetric noise, a model that is calibrated for noisy labels is *under*-confident on clean ones, by $r(a - 1/K)$. On noisy
#    digits networks became over-confident while they memorised.
# 2. So the sign of the gap depends on when training stops. ECE alone cannot tell the two apart.
# 3. A temperature fitted on noisy labels was too high here. Fit it on clean labels, or on noisy ones through a known transition matrix.
#
# ## Recall
#
# <details><summary>1. Noise rate 0.2 by shuffling, ten balanced classes. What share of labels is wrong?</summary>
#
# About 0.2 * 9/10 = 18 %.
#
# </details>
#
# <details><summary>2. What is the highest confidence of the noisy posterior then?</summary>
#
# 1 - 0.2 + 0.02 = 82 %.
#
# </details>
#
# <details><summary>3. Does symmetric noise change which class the posterior favours?</summary>
#
# No: it shrinks all entries alike and adds the same to each. Class-dependent noise can change it.
#
# </details>
#
# <details><summary>4. A network trained on noisy labels has a gap of zero on clean test labels. Is it a good model?</summary>
#
# Not necessarily: it may be on its way from under- to over-confident (section 4).
#
# </details>
#
# <details><summary>5. Accuracy 80 % on clean labels; model A is 90 % sure on average, model B 70 %. Both are tested on labels with noise
# 0.2. Which gaps are measured?</summary>
#
# The accuracy appears as 0.8 * 0.8 + 0.02 = 66 %: +24 points for A, +4 for B. Noisy test labels prefer B.
#
# </details>
#
# ## Go further
#
# Does the noisy posterior's gap on clean labels grow with the noise for class-dependent noise too? Compute it for rates $p_i$ from
# 0 up to 0.2, up to 0.5 and up to 0.8. If your digits differ from those printed here, see
# [your numbers differ?](your_numbers_differ.md). Next: [07 Class imbalance](07_class_imbalance.ipynb).
#
# <details><summary>Answer</summary>
#
# ```python
# for top in (0.2, 0.5, 0.8):
#     transition = curation.classwise_noise(train.labels, top, classes=K, seed=SEED).transition
#     reader = digits(SEED).test.posterior @ transition
#     same = (reader.argmax(dim=1) == digits(SEED).test.posterior.argmax(dim=1)).double().mean()
#     print(f"ramp to {top}: gap {metrics.signed_gap(reader, digits(SEED).test.labels):+.1%}, "
#           f"same favourite on {same:.1%}")
# ```
#
# It does. The favourite digit changes on some images too, unlike under symmetric noise.
#
# </details>
#
# ## References
#
# - *Dataset Curation Beyond Accuracy*. Anonymous authors, paper under double-blind review.
# - Patrini, Rozza, Menon, Nock, Qu: *Making Deep Neural Networks Robust to Label Noise: a Loss Correction Approach*.
#   CVPR 2017. [arXiv:1609.03683](https://arxiv.org/abs/1609.03683) (forward correction, anchor points)
# - Zhang, Bengio, Hardt, Recht, Vinyals: *Understanding deep learning requires rethinking generalization*. ICLR 2017.
#   [arXiv:1611.03530](https://arxiv.org/abs/1611.03530) (networks fit random labels)
# - Arpit et al.: *A Closer Look at Memorization in Deep Networks*. ICML 2017.
#   [arXiv:1706.05394](https://arxiv.org/abs/1706.05394) (shared patterns first)
# - Wei, Zhu, Cheng, Liu, Niu, Liu: *Learning with Noisy Labels Revisited: A Study Using Real-World Human Annotations*.
#   ICLR 2022. [arXiv:2110.12088](https://arxiv.org/abs/2110.12088) (CIFAR-10N)
