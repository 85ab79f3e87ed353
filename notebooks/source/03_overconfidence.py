# %% [markdown]
# # 03 · Over-confidence: when a network becomes too sure
#
# **Question.** A network reads the doses on handwritten prescriptions. It is nearly always sure, and often
# wrong. When in its training did it become so, and could we have stopped in time?
#
# **You will be able to**
# - say what depth, width, batch normalisation and weight decay do to the ECE, and what a temperature leaves of it;
# - tell on which images the gap opens: those of the training, or those of the test;
# - split the test loss into the parts of the right and of the wrong predictions, and choose when to stop;
# - say why cross-entropy has no minimum once all training images are right.
#
# **Time.** 60 minutes for sections 1 to 5 with their three exercises; 30 more for sections 6 to 8, a second sitting.
#
# **Needs.** [02 Measuring calibration](02_measuring_calibration.ipynb).

# %% tags=["drawing"]
import copy
import math
from dataclasses import replace
from functools import cache, partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
import torch
from torch.nn.functional import cross_entropy, interpolate, one_hot

from calibkit import metrics, recalibration, theory
from calibkit.course import check, experiments, explorers, verdicts
from calibkit.course.scale import begin
from calibkit.lab import data, models, sweep, training
from calibkit.pictures import alt_text, palette, plots

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %%
explorers.stored("overconfidence")

# %% [markdown]
# One training, epoch by epoch. Press *Play*. Left and middle: reliability diagrams of its training and test
# images. Right: the NLL of both, and of the exact posterior. Section 4 trains this network.
#
# ## 1. A small network and a deep one
#
# Guo et al. (2017) compared LeNet-5, of 1998, with a deep ResNet. LeNet-5 was wrong more often and nearly
# calibrated, the ResNet right more often and over-confident. We train, on 1,500 noisy digits,
#
# - *small*: two 3 x 3 convolutions of 8 channels, averaged over the image, and one linear layer;
# - *LeNet-5*, as it is built today (ReLU, max pooling), on our images enlarged to 16 x 16;
# - *deep*: six convolutions with batch normalisation.
#
# Along with them go the fully connected networks of section 2. Each differs from a *plain* one in one thing: depth
# (hidden layers), width (units a layer), **batch normalisation** (each unit's inputs are brought to mean 0 and
# variance 1 over the batch) or **weight decay** (every step pulls the weights a little towards zero).

# %%
size, seeds, device = begin(SCALE, SEED, DEVICE)
convolutional = {
    "small": partial(models.cnn, 1, 10, width=8, depth=2),
    "LeNet-5": partial(models.lenet5, 1, 10, size=16),
    "deep": partial(models.cnn, 1, 10, width=16, depth=6, norm="batch"),
}
for name, make in convolutional.items():
    print(f"{name}: {sum(weights.numel() for weights in make().parameters()):,} weights")

# %%
plain = {"net": "dense", "depth": 2, "width": 128, "norm": "none", "decay": 1e-4}


def changed(**what):
    """The setting of the plain network with something changed."""
    return dict(plain, **what)


settings = [
    changed(net="small"), changed(net="LeNet-5"), changed(net="deep"),
    changed(depth=1), changed(depth=2), changed(depth=3), changed(depth=5),
    changed(width=8), changed(width=16), changed(width=32), changed(width=64),
    changed(norm="batch"),
    changed(decay=1e-5), changed(decay=1e-3), changed(decay=1e-2),
]

# %% [markdown]
# `training.trial` *describes* one training: network, training images, images on which it is judged, settings.
# `sweep.run` *carries out* a trial for every setting and seed; its `.table` has one row for each, with columns such
# as `test_ece`.

# %%
@cache
def splits(seed):
    return data.noisy_digits(size.train, noise=0.4, seed=seed, test=size.test)


@cache
def enlarged(seed):
    return [replace(part, inputs=interpolate(part.inputs, scale_factor=2, mode="bilinear"))
            for part in splits(seed)]


# %%
def network(net, depth, width, norm):
    """The function that makes a network."""
    if net in convolutional:
        return convolutional[net]
    return partial(models.mlp, 64, 10, depth=depth, width=width, norm=None if norm == "none" else norm)


def recipe(net, depth, width, norm, decay, seed):
    train, cal, test = enlarged(seed) if net == "LeNet-5" else splits(seed)
    return training.trial(network(net, depth, width, norm), train,
                          {"train": train, "cal": cal, "test": test},
                          seed=seed, epochs=size.epochs, weight_decay=decay)


grid = [dict(setting, seed=seed) for setting in settings for seed in seeds]
nets = sweep.run(recipe, grid, device=device)

# %% [markdown]
# We judge every network twice: as trained, and after its logits were divided by one number $T$, the
# temperature, fitted on the calibration images. This changes no prediction.
# A temperature repairs the *scale* of the logits; it cannot repair *which* images the network doubts.

# %%
def cooled(one):
    """Test predictions after one temperature, fitted on the calibration images."""
    cal, test = one.predictions["cal"], one.predictions["test"]
    scaler = recalibration.TemperatureScaler().fit(cal.logits, cal.labels)
    return replace(test, logits=scaler.transform(test.logits))


after = [cooled(one) for one in nets.outcomes]
nets.table["ece_after"] = [metrics.ece(test.probs, test.labels) for test in after]
nets.table["nll_after"] = [metrics.nll(test.probs, test.labels) for test in after]

# %%
columns = ["train_accuracy", "test_accuracy", "test_ece", "ece_after", "test_nll", "nll_after"]
three = nets.table[nets.table.net != "dense"].groupby("net", sort=False)[columns].mean()
tests = [splits(seed).test for seed in seeds]


def exactly(measure):
    """A measure of the exact posterior, mean over the seeds."""
    return np.mean([measure(test.posterior, test.labels) for test in tests])


exact = {"test_accuracy": exactly(metrics.accuracy), "test_ece": exactly(metrics.ece),
         "test_nll": exactly(metrics.nll)}

# %% [markdown]
# **Predict before you run:** which of the three convolutional networks is right most often? Which has the smallest
# ECE as trained, and which the smallest loss after its temperature?

# %% tags=["answer"]
print(f"Right most often: {three.test_accuracy.idxmax()} ({three.test_accuracy.max():.1%}); smallest ECE "
      f"as trained: {three.test_ece.idxmin()} ({three.test_ece.min():.1%}); smallest NLL after a "
      f"temperature: {three.nll_after.idxmin()} ({three.nll_after.min():.2f}).")
fig, axes = plt.subplots(1, 3, figsize=(11, 4.4))
for ax, net in zip(axes, convolutional, strict=True):
    test = nets.pooled("test", **changed(net=net))
    counted = metrics.reliability(test.probs, test.labels)
    _ = plots.draw_reliability(counted, ax=ax, title=f"{net}, all seeds", legend=net == "small")
plt.show()
pd.concat([three, pd.DataFrame(exact, index=["exact posterior"])]).round(3)

# %% [markdown]
# Open the answer above first.
#
# - **Small (left).** Its bars stay close to the diagonal.
# - **Deep (right).** Most images are in the last bins, whose bars end far below the diagonal.
# - **LeNet-5 (middle)** is over-confident, unlike in the paper. There it was trained on 45,000 photographs;
#   here it fits nearly all of its 1,500 digits (`train_accuracy`). We have not tested whether this is why.
# - **After a temperature** (`ece_after`) little of the two large ECEs is left: most was scale. All stay far from the
#   exact posterior.

# %% tags=["nbval-check-output"]
more_sure = nets.difference("test_ece", changed(net="deep"), changed(net="small"))
statement = "the deep network's ECE is at least 3 points above the small one's"
print(verdicts.judge("O1", statement, more_sure, margin=0.03))
lenet = nets.values("test_ece", **changed(net="LeNet-5"))
print(verdicts.judge("O1", "LeNet-5 has an ECE below 5 points", lenet, expect="below", than=0.05))

# %% [markdown]
# ### Exercise: which one would you use?
#
# *Difficulty: easy · importance: high · 5 minutes of thought*
#
# A colleague reads only the column `test_ece` and says: "The deep network is worse. We use the small one." What has
# the colleague overlooked? When would the colleague still be right?
#
# <details><summary>Answer</summary>
#
# One temperature, fitted on 2,000 labelled images, removes most of the deep network's ECE and costs no accuracy.
# Nothing removes the small network's errors afterwards. So compare the accuracy, and the NLL *after* a temperature. The
# colleague is right where no temperature can be fitted: no labelled images are kept
# aside, or they differ from the images that will come.
#
# </details>
#
# ## 2. One change at a time
#
# Guo et al. found that *more depth*, *more width*, *batch normalisation* and *less weight decay* each raise the ECE.

# %% tags=["drawing"]
names = {"depth": "depth", "width": "width", "norm": "batch normalisation", "decay": "weight decay"}
lines = {"test_ece": palette.TRAINED.named("ECE as trained"), "ece_after": palette.CURED.named("ECE after T"),
         "test_error": palette.group(6, "test error"), "train_error": palette.group(4, "training error")}
nets.table["test_error"] = 1 - nets.table.test_accuracy
nets.table["train_error"] = 1 - nets.table.train_accuracy


def along(what):
    """The dense networks that differ from the plain one in `what` alone."""
    chosen = nets.table[nets.table.net == "dense"]
    for name in names:
        chosen = chosen if name == what else chosen[chosen[name] == plain[name]]
    return chosen.sort_values(what, ascending=what != "norm", kind="stable").astype({what: str})


def means(what, column):
    """The means over the seeds of a column, as text."""
    values = along(what).groupby(what, sort=False)[column].mean()
    return ", ".join(f"{value:.1%}" for value in values)


# %% [markdown]
# **Predict before you run:** will all four hold for our fully connected networks?

# %% tags=["answer", "drawing"]
fig, axes = plt.subplots(1, 4, figsize=(11, 3.2), sharey=True)
for ax, what in zip(axes, names, strict=True):
    for column, role in lines.items():
        _ = sns.lineplot(along(what), x=what, y=column, errorbar=("pi", 100), ax=ax, legend=False,
                         **role.line())
    _ = ax.set(ylabel="share", xlabel=names[what])
    _ = alt_text.note(ax, f"{names[what]} {', '.join(along(what)[what].unique())}: ECE as trained "
                      f"{means(what, 'test_ece')}; after T {means(what, 'ece_after')}; training error "
                      f"{means(what, 'train_error')}")
_ = axes[3].legend(fontsize="x-small")
plt.show()
for what in names:
    print(f"{names[what]} {', '.join(along(what)[what].unique())}: ECE {means(what, 'test_ece')}; "
          f"after T {means(what, 'ece_after')}")

# %% [markdown]
# Open the answer above first.
#
# - **Weight decay and depth** agree with Guo et al. At the strongest weight decay the training error stays above
#   zero, and hardly any ECE is left. With depth the ECE grows.
# - **Width** goes both ways: the ECE rises up to a middle width, then falls. (Its verdict is *post hoc*: stated afterwards.) The turn comes at about the width where the
#   training error reaches zero.
# - **Batch normalisation** lowers the ECE here, unlike in the paper. We have tested no cause of any of these.
# - **After a temperature** the curves are nearly flat: what these four changed was above all the scale of the logits.

# %% tags=["aside", "nbval-check-output"]
def ece_rises(what, left, right):
    """Paired differences of the test ECE between two values of one setting."""
    return nets.difference("test_ece", changed(**{what: left}), changed(**{what: right}))


print(verdicts.judge("O2", "depth 5 has a larger ECE than depth 1", ece_rises("depth", 5, 1)))
print(verdicts.judge("O2", "width 128 has a larger ECE than width 16", ece_rises("width", 128, 16)))
print(verdicts.judge("O2", "batch normalisation makes the ECE larger",
                     ece_rises("norm", "batch", "none")))
print(verdicts.judge("O2", "weight decay 0.01 has a smaller ECE than 0.00001",
                     ece_rises("decay", 1e-2, 1e-5), expect="below"))
print(verdicts.judge("03a", "width 32 has a larger ECE than width 8", ece_rises("width", 32, 8),
                     post_hoc=True))
worst = nets.table.groupby("seed").ece_after.max()
print(verdicts.judge("03b", "after a temperature the ECE of every network is below 5 points", worst,
                     expect="below", than=0.05))

# %% [markdown]
# ## 3. On which images does the gap open?
#
# Carrell et al. (2022) compare the ECE on the test images with the ECE on the training images. They call the
# difference the **calibration generalisation gap**. They report that networks are nearly calibrated on their
# training images, and that this gap is never larger than the usual **generalisation gap**, by which the accuracy
# falls from training to test. Why? On training images that are fitted, error and ECE are nearly 0. On the test, a
# network that is over-confident in every bin has ECE = confidence − accuracy ≤ 1 − accuracy = error.

# %%
table = nets.table
table["accuracy falls by"] = table.train_accuracy - table.test_accuracy
table["ECE rises by"] = table.test_ece - table.train_ece

# %% [markdown]
# **Predict before you run:** the next figure has a dot for each of our networks: across, by how much the accuracy falls
# from training to test; upwards, by how much the ECE rises. Can a dot lie below zero?

# %% tags=["answer", "drawing"]
order = ["dense", *convolutional]
fig, ax = plt.subplots(figsize=(5.2, 4.6))
_ = sns.scatterplot(table, x="accuracy falls by", y="ECE rises by", hue="net", style="net", hue_order=order,
                    style_order=order, markers=list(palette.MARKERS[:4]), s=45, ax=ax)
top = 1.05 * table["accuracy falls by"].max()
_ = ax.plot((0, top), (0, top), **palette.DIAGONAL.line(label="as much as the accuracy falls"))
_ = ax.legend(fontsize="small")
plt.show()
below = (table["ECE rises by"] < table["accuracy falls by"]).mean()
known = table[table.train_accuracy > 0.99]
print(f"{below:.0%} of {len(table)} networks lie below the diagonal. Those that are right on over 99 % of "
      f"their training images have an ECE of {known.train_ece.mean():.1%} there and of "
      f"{known.test_ece.mean():.1%} on the test. The least sure on its training images has a signed gap of "
      f"{table.train_gap.min():+.1%} there.")
falling = table[table["ECE rises by"] < 0].groupby(["net", "decay"]).train_gap
for (net, decay), gaps in falling:
    print(f"Below zero: {len(gaps)} x {net} with weight decay {decay:g}; mean signed gap on their training "
          f"images {gaps.mean():+.1%}.")

# %% [markdown]
# Open the answer above first.
#
# - **The gap opens on the test images.** On its training images a fitted network is sure, and right.
# - **Below zero** are networks that are *under*-confident on their training images and nearer to calibrated on the
#   test.
# - So a diagram of the training images does not show it: keep images aside.

# %% tags=["nbval-check-output"]
table["excess"] = table["ECE rises by"] - table["accuracy falls by"]
largest = table.groupby("seed")["excess"].max()
statement = "from training to test the ECE rises by less than the accuracy falls, in every network"
print(verdicts.judge("03c", statement, largest, expect="below"))

# %% [markdown]
# ## 4. The film of a training
#
# Like Mukhoti et al. (2020) we watch a network epoch by epoch, one per seed: two hidden layers of 256 units,
# cross-entropy; the learning rate is cut to a tenth at half and at three quarters of the way. In the code
# `watch` names the images that are judged after every epoch, and `keep` those whose logits are stored.

# %%
def watched(seed):
    train, cal, test = splits(seed)
    watch = {"train": train, "cal": cal, "test": test[: size.test // 5]}
    return training.trial(lambda: models.mlp(64, 10), train, seed=seed, epochs=size.epochs,
                          watch=watch, keep=("test",))


films = sweep.run(watched, {"seed": seeds}, device=device)
film = films.one(seed=SEED)
seen = film.trial.watch["test"]
exact_nll = metrics.nll(seen.posterior, seen.labels)

# %% tags=["drawing"]
def frame(epoch):
    training_bins, test_bins = (film.diagrams[name][epoch - 1] for name in ("train", "test"))
    return explorers.film_frame(film.history, training_bins, test_bins, epoch, exact_nll=exact_nll)


stops = [e for e in (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 30, 40, 50, 60) if e <= size.epochs]
slider = explorers.Explorer(
    frame, explorers.Slider("epoch", stops, start=stops[-1]), play=True,
    description="One network after an epoch: the reliability diagrams of its training images and of its "
    "test images (slanted lines: over-confident; dots: under-confident), and the NLL of both against the "
    "epoch, with markers at the epoch that is shown and a broken line at the NLL of the exact posterior.",
)
explorers.keep(slider, "overconfidence")

# %% [markdown]
# The slider at the top shows this training. *At first* the network is under-confident, on training and test images alike.
# *Then* it becomes over-confident on the test images; on the training images it is, in all epochs but a few, a little
# *under*-confident. *At the end* all training images are right, and nearly all in the last bin.
#
# The NLL is exactly the sum of two parts, where $p_{y_i}$ is the probability of image $i$'s label:
#
# $$\mathrm{NLL}=\underbrace{\frac{1}{n}\sum_{\text{right}}-\log p_{y_i}}_{\text{part of the right}}
# +\underbrace{\frac{1}{n}\sum_{\text{wrong}}-\log p_{y_i}}_{\text{part of the wrong}}$$
#
# ### Exercise: the two parts of the loss
#
# *Difficulty: easy · importance: high · 10 minutes*
#
# From `probs` (n x K) and integer `labels`, return two numbers: the part of the right predictions and that
# of the wrong ones.

# %%
def my_nll_parts(probs, labels):
    ...  # your code here


check.nll_parts(my_nll_parts)

# %% [markdown]
# <details><summary>Hint</summary>
#
# `probs.gather(1, labels[:, None])[:, 0]` is the probability of each label. Both parts are divided by the
# number of *all* predictions.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_nll_parts(probs, labels):
#     loss = -probs.double().gather(1, labels[:, None])[:, 0].log()
#     right = probs.argmax(dim=1) == labels
#     return loss[right].sum() / len(labels), loss[~right].sum() / len(labels)
# ```
#
# </details>
#
# We compare the last epoch with the **turning point**, the epoch of the lowest NLL on the *calibration*
# images. The **entropy** of a prediction says how evenly it spreads over the classes: 2.3 nats for ten
# equal ones, 0 for certainty.

# %%
turns = [one.history.cal_nll.idxmin() for one in films.outcomes]
curves = pd.concat([one.history.assign(seed=one.setting["seed"]) for one in films.outcomes])
curves["test_error"] = 1 - curves.test_accuracy
curves["right_part"] = curves.test_nll_correct * curves.test_accuracy  # mean of the right x their share
curves["wrong_part"] = curves.test_nll_wrong * curves.test_error
at_first_rate = film.history.epoch[film.history.lr == film.history.lr.iloc[0]]
print(f"the NLL is lowest after epochs {[turn + 1 for turn in turns]}; the rate is cut after epoch "
      f"{at_first_rate.max()}")

# %% tags=["drawing"]
pictures = {
    "NLL, error": {"test_nll": "test NLL", "train_nll": "training NLL", "test_error": "test error"},
    "part of the test NLL": {"right_part": "right", "wrong_part": "wrong"},
    "entropy on the test, nats": {"test_entropy_correct": "right", "test_entropy_wrong": "wrong"},
    "norm of the last layer": {"head_norm": "weights"},
}
turned = zip(curves.groupby("seed"), turns, strict=True)
at_turn = pd.concat([history.iloc[[turn]] for (_, history), turn in turned])
at_end = curves[curves.epoch == size.epochs]


def moves(column, form=".2f"):
    """A column's mean at the turning point and at the end, as text."""
    return f"{at_turn[column].mean():{form}} to {at_end[column].mean():{form}}"


# %% [markdown]
# **Predict before you run:** the test *error* falls, yet on the slider the test NLL turned and rose. Which
# of its two parts rises, and what does the other one do?

# %% tags=["answer", "drawing"]
fig, axes = plt.subplots(1, 4, figsize=(11, 3.2))
for ax, (ylabel, columns) in zip(axes, pictures.items(), strict=True):
    for number, (column, words) in enumerate(columns.items()):
        look = palette.group(number, words).line(marker="")
        _ = sns.lineplot(curves, x="epoch", y=column, errorbar=("pi", 100), ax=ax, legend=False, **look)
    _ = ax.set(ylabel=ylabel, ylim=(0, None))
_ = axes[0].axhline(exact_nll, **palette.TRUTH.line(marker="", label="NLL, exact posterior"))
for ax in axes:
    _ = ax.legend(fontsize="x-small")
plt.show()
print(f"From the turning point to the end the test error goes from {moves('test_error', '.1%')}, the NLL "
      f"from {moves('test_nll')}: the part of the right from {moves('right_part')}, the part of the wrong "
      f"from {moves('wrong_part')}.")

# %% [markdown]
# Open the answer above first.
#
# - **First picture.** The test NLL turns after a few epochs and rises, while the training NLL goes to zero and the
#   test error falls a little further.
# - **When?** *Before* the first cut of the rate; in the paper *at* the cut (epoch 150 of 350).
# - **Second.** The whole rise comes from the wrong predictions; the loss on right ones falls.
# - **Third.** The entropy of the wrong predictions falls as well: in the paper's words, "peak at the
#   wrong place". **Fourth.** The weights of the last layer grow.

# %% tags=["nbval-check-output"]
def since_turn(column):
    """Change of a history's column from the turning point to the end, one number a seed."""
    return [one.history[column].iloc[-1] - one.history[column][turn]
            for one, turn in zip(films.outcomes, turns, strict=True)]


print(verdicts.judge("O3", "the test NLL rises by at least 0.1", since_turn("test_nll"), margin=0.1))

# %% tags=["aside"]
def parts(logits, labels):
    loss = cross_entropy(logits.double(), labels, reduction="none")
    right = logits.argmax(dim=1) == labels
    return (loss * right).mean().item(), (loss * ~right).mean().item()


def moved_parts(one, turn):
    """Change of the two parts of the test NLL."""
    (early, late), labels = one.logits["test"][[turn, -1]], one.trial.watch["test"].labels
    return np.subtract(parts(late, labels), parts(early, labels))


def entropy_of_stubborn(one, turn):
    """Change of entropy on the images that are wrong at both times."""
    logits, labels = one.logits["test"][[turn, -1]].double(), one.trial.watch["test"].labels
    stubborn = (logits.argmax(dim=2) != labels).all(dim=0)
    entropy = torch.distributions.Categorical(logits=logits[:, stubborn]).entropy().mean(dim=1)
    return (entropy[1] - entropy[0]).item()

# %% tags=["aside", "nbval-check-output"]
moved = np.array(list(map(moved_parts, films.outcomes, turns)))
print(verdicts.judge("O3", "while the test accuracy rises too", since_turn("test_accuracy")))
print(verdicts.judge("O3", "the part of the right predictions falls", moved[:, 0], expect="below"))
print(verdicts.judge("O3", "the part of the wrong predictions rises", moved[:, 1]))
print(verdicts.judge("O4", "the entropy of the wrong predictions falls",
                     since_turn("test_entropy_wrong"), expect="below"))
stubborn = list(map(entropy_of_stubborn, films.outcomes, turns))
print(verdicts.judge("O4", "it falls on the images that are wrong at both times", stubborn, expect="below"))
print(verdicts.judge("O5", "the norm of the last layer grows", since_turn("head_norm")))

# %% [markdown]
# Thulasidasan et al. (2019) drew how often each pair of confidence and accuracy occurs, over the epochs. One image is
# either right or wrong, so we take random groups of 50 test images, of all seeds (darker: more groups):

# %% tags=["drawing"]
def groups(one, epoch, of=50):
    """Mean confidence and accuracy of random groups of test images, after an epoch."""
    logits, labels = one.logits["test"][epoch - 1], one.trial.watch["test"].labels
    sure, right = logits.softmax(dim=1).amax(dim=1), (logits.argmax(dim=1) == labels).float()
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(SEED))
    order = order[: len(order) // of * of].view(-1, of)
    return torch.stack([sure[order].mean(dim=1), right[order].mean(dim=1)], dim=1)


few = sorted({min(epoch, size.epochs) for epoch in (1, 4, 10)} | {size.epochs})
fig, axes = plt.subplots(1, len(few), figsize=(11, 3.2))
for epoch, ax in zip(few, axes, strict=True):
    dots = torch.cat([groups(one, epoch) for one in films.outcomes]).numpy()
    _ = ax.hexbin(*dots.T, gridsize=22, extent=(0, 1, 0, 1), mincnt=1, cmap="Blues", vmin=-2)
    _ = ax.plot((0, 1), (0, 1), **palette.DIAGONAL.line())
    _ = ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xlabel="confidence", ylabel="accuracy")
    _ = ax.set_title(f"after epoch {epoch}")
    (sure, right), under = dots.mean(axis=0), (dots[:, 0] > dots[:, 1]).mean()
    _ = alt_text.note(ax, f"After epoch {epoch}: {len(dots)} groups of test images, mean confidence "
                      f"{sure:.0%}, accuracy {right:.0%}; {under:.0%} of them below the diagonal.")
plt.show()

# %% tags=["aside", "nbval-check-output"]
def filled(one):
    """Growth of the last training bin's share from the first epoch of best accuracy to the last."""
    counts = [diagram.counts[-1].item() for diagram in one.diagrams["train"]]
    return (counts[-1] - counts[one.history.train_accuracy.idxmax()]) / size.train


statement = "after all training images are right, more move to the last of 25 bins"
print(verdicts.judge("O6", statement, list(map(filled, films.outcomes))))
gaps = np.stack([one.history.test_confidence - one.history.test_accuracy for one in films.outcomes])
print(verdicts.judge("O7", "under-confident after the first epoch", gaps[:, 0], expect="below"))
print(verdicts.judge("O7", "over-confident after the last", gaps[:, -1]))

# %% [markdown]
# The groups cross the diagonal from above to below. When does over-confidence come? Means over the seeds; `gap` is confidence minus accuracy on the test.

# %% tags=["drawing"]
known = np.stack([one.history.train_accuracy for one in films.outcomes])
every = range(len(films.outcomes))
gaps = np.stack([one.history.test_confidence - one.history.test_accuracy for one in films.outcomes])
events = {"gap first positive": (gaps > 0).argmax(axis=1), "lowest NLL": turns,
          "training accuracy first at its best": known.argmax(axis=1), "last": [size.epochs - 1] * len(gaps)}
pd.DataFrame([{"event": name, "epoch": np.mean(at) + 1, "training accuracy": known[every, at].mean(),
               "gap": gaps[every, at].mean()} for name, at in events.items()]).round(3)

# %% [markdown]
# The gap opens while many training images are still wrong, and most of it is there when the last of them is
# fitted.
#
# ## 5. When to stop
#
# **The classic mistake** is to keep the epoch of the best held-out *accuracy*, which does not see over-confidence.
# **The repair** is to watch a proper score, the NLL. `cal` chooses, `test` judges:

# %%
def judged(one, epoch):
    probs, labels = one.logits["test"][epoch].softmax(dim=1), one.trial.watch["test"].labels
    return {"epoch": epoch + 1, "accuracy": metrics.accuracy(probs, labels),
            "ECE": metrics.ece(probs, labels), "NLL": metrics.nll(probs, labels)}


accurate = [one.history.cal_accuracy.idxmax() for one in films.outcomes]
late = pd.DataFrame([judged(one, epoch) for one, epoch in zip(films.outcomes, accurate, strict=True)])
early = pd.DataFrame([judged(one, epoch) for one, epoch in zip(films.outcomes, turns, strict=True)])
pd.DataFrame({"best accuracy": late.mean(), "lowest NLL": early.mean()}).T.round(3)

# %% tags=["nbval-check-output"]
statement = "stopped at the lowest NLL, ECE is at least 3 points lower than at the best accuracy"
print(verdicts.judge("03d", statement, late.ECE - early.ECE, margin=0.03))

# %% [markdown]
# Stopping at the lowest NLL costs a little accuracy.
#
# ### Exercise: a rule that stops in time
#
# *Difficulty: medium · importance: high · 20 minutes*
#
# Design a rule that reads the calibration NLL epoch by epoch and stops once `patience` epochs in a row have brought
# no new lowest value. Return two numbers, counted from 0: the epoch that is *kept* (the lowest value so far, the
# first of equal ones) and the *last* epoch that was trained; if the rule never stops, that is the final one. Then
# **choose a patience**, and say which numbers you would show to defend it.

# %%
def my_early_stop(losses, patience):
    ...  # your code here


check.early_stop(my_early_stop)

# %% [markdown]
# <details><summary>Hint</summary>
#
# One loop, one variable: the epoch that is kept so far. How many epochs ago was it?
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_early_stop(losses, patience):
#     kept = 0
#     for epoch, loss in enumerate(losses):
#         if loss < losses[kept]:
#             kept = epoch
#         if epoch - kept == patience:
#             break
#     return kept, epoch
# ```
#
# Show what a patience costs (epochs) and gives (NLL, ECE), over several seeds, on images that chose neither.
#
# </details>
#
# **Predict before you run:** which patience, of 1, 2 and 5 epochs, is the smallest that keeps the same
# epochs as 20?

# %% tags=["answer", "drawing"]
def stop(losses, patience):
    kept = 0
    for epoch, loss in enumerate(losses):
        kept = epoch if loss < losses[kept] else kept
        if epoch - kept == patience:
            break
    return kept, epoch


kept_at = {}
for patience in (1, 2, 5, 20):
    ends = [stop(one.history.cal_nll.to_list(), patience) for one in films.outcomes]
    kept = pd.DataFrame([judged(one, end[0]) for one, end in zip(films.outcomes, ends, strict=True)])
    kept_at[patience], trained = [end[0] for end in ends], np.mean([end[1] + 1 for end in ends])
    print(f"patience {patience}: {trained:.1f} epochs trained, epoch {kept.epoch.mean():.1f} kept, test NLL "
          f"{kept.NLL.mean():.3f}, ECE {kept.ECE.mean():.1%}, accuracy {kept.accuracy.mean():.1%}")
enough = min(patience for patience in kept_at if kept_at[patience] == kept_at[20])
print(f"A patience of {enough} is enough here: 20 keeps the same epochs.")

# %% [markdown]
# ## 6. Cross-entropy has no minimum
#
# *A second sitting starts here.*
#
# Take one image. Let $z$ be the logit of its
# label and all $K-1$ others zero. Its loss
#
# $$\ell(z)=-\log\frac{e^z}{e^z+K-1}=\log\bigl(1+(K-1)\,e^{-z}\bigr)$$
#
# falls for ever as $z$ grows. **Label smoothing** does not ask for the label with certainty, but for
# $1-\alpha+\alpha/K$ there and $\alpha/K$ elsewhere. Let $p$ be the probability of the label; then $-\log$ of the
# probability of any other class is $-\log p+z$. The loss is the sum of target times $-\log$ probability:
#
# $$\Bigl(1-\alpha+\frac{\alpha}{K}\Bigr)(-\log p)+(K-1)\frac{\alpha}{K}(-\log p+z)=-\log p+\alpha\,\frac{K-1}{K}\,z.$$
#
# The second part is a line that *rises*. So there is a minimum: the derivative, $-(1-p)+\alpha(K-1)/K$, is zero where
# $p=1-\alpha+\alpha/K$. As $e^z=(K-1)\,p/(1-p)$, that is at $z^*=\log(K/\alpha-K+1)$.
#
# We train with both losses, without weight decay, at a constant rate. Their
# other logits $z_j$ are not zero, so we compute the *equivalent* $z$, which gives the label $c$ the same probability:
# $z=z_c-\log\sum_{j\neq c}e^{z_j}+\log(K-1)$.

# %%
losses = {"cross-entropy": cross_entropy, "smoothed": partial(cross_entropy, label_smoothing=0.1)}
best = theory.smoothing_minimiser(10, 0.1)


def fitted(loss, seed):
    train = splits(seed).train
    return training.trial(lambda: models.mlp(64, 10, width=64), train, seed=seed, epochs=size.epochs,
                          loss=losses[loss], lr=0.05, schedule="constant", weight_decay=0.0,
                          watch={"train": train}, keep=("train",))


pushed = sweep.run(fitted, {"loss": losses, "seed": seeds}, device=device)

# %%
def equivalent(one):
    """(epochs,) mean over the training images of the logit that stands for the label's probability."""
    stated, labels = one.logits["train"].double(), one.trial.train.labels  # (epochs, images, classes)
    is_label = one_hot(labels, 10).bool()  # (images, classes)
    of_label = (stated * is_label).sum(dim=2)
    of_others = stated.masked_fill(is_label, -math.inf).logsumexp(dim=2)
    return (of_label - of_others + math.log(9)).mean(dim=1)


def climb(loss):
    """(seeds, epochs) the equivalent logit of the networks that were trained with a loss."""
    return torch.stack([equivalent(one) for one in pushed.where(loss=loss)])


logits = {loss: climb(loss) for loss in losses}

# %% tags=["drawing"]
z, epochs = np.linspace(-2, 12, 141), np.arange(1, size.epochs + 1)
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2))
for style, (name, alpha) in enumerate({"cross-entropy": 0.0, "smoothed": 0.1}.items()):
    role = palette.group(style, name)
    _ = left.plot(z, theory.cross_entropy_of_logit(z, 10, smoothing=alpha), **role.line(marker=""))
    _ = plots.spread(epochs, logits[name], replace(role, marker=""), ax=right)
_ = left.axvline(best, color=palette.GREY, ls=":", label="minimum of the smoothed loss")
_ = right.axhline(best, color=palette.GREY, ls=":", label="minimum of the smoothed loss")
_ = left.set(xlabel="logit of the label", ylabel="loss of one image")
_ = right.set(xlabel="epoch", ylabel="equivalent logit")
_ = left.legend(fontsize="small")
plt.show()
ends = {name: climbs[:, -1].mean() for name, climbs in logits.items()}
print(f"After {size.epochs} epochs: {ends['cross-entropy']:.2f} with cross-entropy, {ends['smoothed']:.2f} "
      f"smoothed; the minimum of the smoothed loss is at {best:.2f}.")

# %% [markdown]
# - **Left, the formula.** The solid curve has no lowest point; the broken one has, and rises beyond it.
# - **Right, networks.** With cross-entropy the logit still climbs at the end; with smoothing it rises more and more
#   slowly towards the minimum.
#
# The same holds for whole networks: once all training images are right, multiplying the last layer by more than 1
# lowers the loss of each and changes no prediction, so there are no best weights.
#
# <details><summary>The theorem of Dataset Curation Beyond Accuracy, its proof, and what it does not say</summary>
#
# *Let the $n$ training inputs be distinct, let a ReLU network have four or more layers and a width of at least order
# $\sqrt n$, and let the loss be the cross-entropy of the training set. Then (i) no weights reach its infimum 0, and (ii)
# as the loss goes to 0, the confidence on the training images goes to 1.*
#
# First: such a network *can* fit any labels (Yun et al. 2019). Second: if all training images are right, multiply the
# last layer by $1+a$, $a > 0$. The loss of image $i$ with label $c$ becomes
# $\ell_i=\log(1+\sum_{j\neq c}e^{(1+a)(z_{ij}-z_{ic})})$. All differences $z_{ij}-z_{ic}$ are negative, so every
# term shrinks. As $p_{ic}=e^{-\ell_i}$, (ii) follows.
#
# It says nothing about *test* images or weight decay. In their equation (2) the plus must be a minus; section 4 and appendix B say
# $\sqrt n$ *parameters* where the theorem rightly says *width*. The folded cells scale the last layer, and train on random
# labels at widths of $\sqrt n/2$ to $2\sqrt n$. We have fitted no exponent: other orders than $\sqrt n$ are possible.
#
# </details>

# %% tags=["aside", "nbval-check-output"]
third = size.epochs // 3
rise = logits["cross-entropy"][:, -1] - logits["cross-entropy"][:, -third]
statement = "cross-entropy: the logit still rises by 0.5 or more in the last third"
print(verdicts.judge("O8", statement, rise, margin=0.5))
statement = "label smoothing: it ends within 0.5 of the minimum"
print(verdicts.judge("O8", statement, logits["smoothed"][:, -1], expect="within", margin=0.5, than=best))

# %% tags=["aside"]
test = splits(SEED).test
doubled = copy.deepcopy(film.model)
with torch.no_grad():
    for tensor in doubled.head.parameters():
        _ = tensor.mul_(2)
scaled, as_it_is = (training.predict(model, test).logits for model in (doubled, film.model))
assert torch.allclose(scaled, 2 * as_it_is, atol=1e-3)
factors = [1, 1.5, 2, 5]


def scaling(one, seed):
    """Training loss, training confidence and test ECE for every factor: (3, factors)."""
    train, _, test = splits(seed)
    seen, unseen = (one.predict(part).logits.double() for part in (train, test))
    rows = [(cross_entropy(f * seen, train.labels), (f * seen).softmax(dim=1).amax(dim=1).mean(),
             metrics.ece((f * unseen).softmax(dim=1), test.labels)) for f in factors]
    return np.array(rows).T

# %% tags=["aside"]
small = nets.where(**changed(net="small"))
fits, not_yet = (np.stack(list(map(scaling, runs, seeds))) for runs in (films.outcomes, small))
fig, axes = plt.subplots(1, 3, figsize=(10, 2.8))
for row, name in enumerate(("training loss", "training confidence", "test ECE")):
    for style, (which, found) in enumerate({"fits its training images": fits, "small": not_yet}.items()):
        _ = plots.spread(factors, found[:, row], palette.group(style, which), ax=axes[row])
    _ = axes[row].set(xlabel="factor of the last layer", ylabel=name, ylim=(0, None))
_ = axes[0].legend(fontsize="x-small")
plt.show()

# %% tags=["aside", "nbval-check-output"]
one, two = factors.index(1), factors.index(2)
halves = [np.log2(found[:, 0, two] / found[:, 0, one]) for found in (fits, not_yet)]
statement = "fitted: twice the last layer at least halves the training loss (log2 of the ratio)"
print(verdicts.judge("O9", statement, halves[0], expect="below", margin=1))
print(verdicts.judge("O9", "fitted: five times the last layer: training confidence above 0.999",
                     fits[:, 1, -1], than=0.999))
print(verdicts.judge("O9", "and the test ECE rises with twice the last layer",
                     fits[:, 2, two] - fits[:, 2, one]))
print(verdicts.judge("03e", "not fitted: twice the last layer raises the training loss (log2)", halves[1]))

# %% tags=["aside"]
ratios, numbers = [0.5, 1, 2], [100, 300, 900]


@cache
def random_labels(n, seed):
    train = data.noisy_digits(n, noise=0.4, seed=seed, calibration=1, test=1).train
    return train.with_labels(torch.randint(10, (n,), generator=torch.Generator().manual_seed(seed)))


def memorise(n, ratio, seed):
    train, width = random_labels(n, seed), round(ratio * math.sqrt(n))
    return training.trial(lambda: models.mlp(64, 10, depth=3, width=width), train, {"seen": train},
                          seed=seed, epochs=max(1, 2_500 * size.epochs // n), batch_size=100, lr=0.05,
                          schedule="cosine", weight_decay=0.0)


learned = sweep.run(memorise, {"n": numbers, "ratio": ratios, "seed": seeds}, device=device, how="stacked")
fig, ax = plt.subplots(figsize=(4.6, 3))
_ = sns.lineplot(learned.table, x="ratio", y="seen_accuracy", hue="n", style="n", markers=True,
                 palette=list(palette.CYCLE[:3]), errorbar=("pi", 100), ax=ax)
_ = ax.set(xlabel="width / square root of n", ylabel="share of random labels learned", xticks=ratios)
plt.show()

# %% tags=["aside", "nbval-check-output"]
half, twice = (np.stack([learned.values("seen_accuracy", n=n, ratio=ratio) for n in numbers])
               for ratio in (0.5, 2))
statement = "width 2 sqrt(n): over 99 % of the random labels learned, in at least 7 of 10 trainings"
print(verdicts.judge_share("O9", statement, int((twice > 0.99).sum()), twice.size, than=0.7))
for n, less, more in zip(numbers, half, twice, strict=True):
    statement = f"half of sqrt(n): at least 10 points fewer, n = {n}"
    print(verdicts.judge("O9", statement, less - more, expect="below", margin=0.1))

# %% [markdown]
# ## 7. On photographs
#
# LeNet-5 against six convolutions ("the deep network") on 20,000 photographs of CIFAR-10;
# ± the standard deviation over seeds. (Stored: [from laptop to paper](from_laptop_to_paper.md).)

# %%
photographs = experiments.on_photographs("depth", SCALE, device=device)
experiments.shown(photographs)

# %% tags=["aside", "nbval-check-output"]
print(experiments.verdict("depth", photographs))
old = photographs[photographs.value == "LeNet-5"]
print(verdicts.judge("O1", "on photographs LeNet-5 is over-confident (signed gap)", old.test_gap.tolist()))

# %%
old, deep = (photographs[photographs.value == value].mean(numeric_only=True)
             for value in ("LeNet-5", "the deep network"))
relation = "larger, as in section 1" if deep.test_ece > old.test_ece else "smaller in the mean"
print(f"Means over {photographs.seed.nunique()} seeds: LeNet-5 has an ECE of {old.test_ece:.1%}, after T "
      f"{old.scaled_ece:.1%}; the deep network {deep.test_ece:.1%} ({relation}), after T "
      f"{deep.scaled_ece:.1%}. The accuracy falls from training to test by "
      f"{old.train_accuracy - old.test_accuracy:.1%} and {deep.train_accuracy - deep.test_accuracy:.1%}.")

# %% [markdown]
# LeNet-5's seeds differ: undecided (folded). Now the width (O2): first layers of 6, 12 or 24 channels (24: the
# deep network, run again in bfloat16):

# %%
widths = experiments.on_photographs("width", SCALE, device=device)
experiments.shown(widths).drop(columns="NLL")

# %% tags=["aside", "nbval-check-output"]
print(experiments.verdict("width", widths))
for step in experiments.verdicts("width", widths):
    print(step)

# %% [markdown]
# The wider, the more training images are right, and the larger the mean ECE (12 to 24: open).
#
# Is the turn of section 4 there too? The six convolutions, 40,000 photographs:

# %%
curves = experiments.stored("augmentation", "night", part="epochs")
curves = curves[curves.value == "none"].drop(columns="value")
third, end = (curves[curves.epoch == epoch].set_index("seed") for epoch in (5, 15))
change = end - third
parts = [(1 - at.test_accuracy) * at.test_nll_wrong for at in (third, end)]
print(f"Test NLL {third.test_nll.mean():.2f} at epoch 5, {end.test_nll.mean():.2f} at the end; lowest mean "
      f"{curves.groupby('epoch').test_nll.mean().min():.2f}. Wrong predictions: "
      f"mean NLL {third.test_nll_wrong.mean():.1f} to {end.test_nll_wrong.mean():.1f}, their part of the "
      f"test NLL {parts[0].mean():.2f} to {parts[1].mean():.2f}, "
      f"entropy {third.test_entropy_wrong.mean():.2f} to {end.test_entropy_wrong.mean():.2f}")

# %% tags=["aside", "nbval-check-output"]
statement = "photographs: the accuracy rises from epoch 5 to 15"
print(verdicts.judge("O3", statement, change.test_accuracy.tolist()))
statement = "photographs: the mean NLL of the wrong predictions rises"
print(verdicts.judge("O3", statement, change.test_nll_wrong.tolist()))
statement = "photographs: the part of the wrong predictions rises"
print(verdicts.judge("O3", statement, (parts[1] - parts[0]).tolist()))
print(verdicts.judge("O3", "photographs: that of all rises", change.test_nll.tolist()))
statement = "photographs: the entropy of the wrong ones falls"
print(verdicts.judge("O4", statement, change.test_entropy_wrong.tolist(), expect="below"))
print(verdicts.judge("O5", "photographs: the norm of the last layer grows", change.head_norm.tolist()))

# %% [markdown]
# Each wrong prediction costs more, but there are fewer: after its lowest value the NLL of *all* hardly rises.
#
# ## 8. Beside the papers
#
# <details><summary>Our results beside the papers', row by row</summary>
#
# | | papers | here |
# |---|---|---|
# | old and deep (O1) | CIFAR-100: LeNet-5 error 44.9 %, ECE 4.85 %; ResNet-110 error 30.6 %, ECE 16.53 % (Guo et al.) | sections 1, 7; LeNet-5's ECE: not small on digits, else open |
# | one thing at a time (O2) | CIFAR-100: curves (Guo et al., figure 2) | sections 2, 7; batch normalisation differs, on digits width too |
# | the test NLL turns (O3 to O5) | ResNet-50, CIFAR-10: after epoch 150 of 350, at the first cut of the rate (Mukhoti et al., section 3) | section 4; before the cut. Section 7: late, by little |
# | no minimum (O8, O9) | curves and a proof, no experiment (*Dataset Curation*, figure 7, theorem 1) | section 6 |
#
# </details>
#
# ## Three things to take away
#
# 1. Over-confidence is learned, and it is a gap between training and test: it opens on images that the network was
#    not trained on, while many training images are still wrong.
# 2. Most of the ECE of our networks was scale: one temperature, fitted on images kept aside, removed it. Compare networks
#    by accuracy and by the NLL *after* a temperature.
# 3. Cross-entropy has no minimum on a training set that is fitted. Watch the NLL on images kept aside and stop at its
#    lowest value: here that kept the ECE low and cost a little accuracy.
#
# ## Recall
#
# <details><summary>1. Test error falls and test NLL rises. How can both be?</summary>
#
# There are fewer wrong predictions, but each is stated with more confidence.
#
# </details>
#
# <details><summary>2. Why did we pick the turning point on `cal` and not on the test?</summary>
#
# After the minimum of the *test* curve, that curve can only rise: the claim "the NLL rises" would be true by construction.
#
# </details>
#
# <details><summary>3. A network has a training ECE of 0.5 %. What do you know of its test ECE?</summary>
#
# Almost nothing: it trained on these images.
#
# </details>
#
# <details><summary>4. K = 10 and smoothing 0.1: what probability does the smoothed loss ask for?</summary>
#
# 1 - 0.1 + 0.1/10 = 0.91.
#
# </details>
#
# <details><summary>5. What can a temperature not repair?</summary>
#
# Wrong predictions, and which images are doubted more than others.
#
# </details>
#
# ## Go further
#
# Set the weight decay of section 4 to 0.005. Where is the NLL lowest now, and what becomes of the last layer's norm?
#
# <details><summary>Answer</summary>
#
# ```python
# def decayed(seed):
#     trial = watched(seed)
#     return replace(trial, recipe=replace(trial.recipe, weight_decay=0.005))
#
#
# for runs in (films, sweep.run(decayed, {"seed": seeds}, device=device)):
#     lowest = [one.history.cal_nll.idxmin() + 1 for one in runs.outcomes]
#     norms = [round(one.history.head_norm.iloc[-1], 1) for one in runs.outcomes]
#     print(f"lowest NLL after epochs {lowest}, norm of the last layer at the end {norms}")
# ```
#
# The NLL is lowest much later, and hardly rises after that; the weights of the last layer stay smaller.
#
# </details>
#
# Next: [04 Architectures](04_architectures.ipynb). Digits differ? See [your numbers differ?](your_numbers_differ.md).
#
# ## References
#
# - Guo et al.: *On Calibration of Modern Neural Networks*. ICML 2017. [arXiv:1706.04599](https://arxiv.org/abs/1706.04599)
# - Carrell et al.: *The Calibration Generalization Gap*. 2022. [arXiv:2210.01964](https://arxiv.org/abs/2210.01964)
# - Mukhoti et al.: *Calibrating Deep Neural Networks using Focal Loss*. NeurIPS 2020.
#   [arXiv:2002.09437](https://arxiv.org/abs/2002.09437)
# - Thulasidasan et al.: *On Mixup Training*. NeurIPS 2019. [arXiv:1905.11001](https://arxiv.org/abs/1905.11001)
# - *Dataset Curation Beyond Accuracy*. Anonymous authors, paper under double-blind review.
# - Yun et al.: *Small ReLU networks are powerful memorizers*. NeurIPS 2019.
#   [arXiv:1810.07770](https://arxiv.org/abs/1810.07770)
# - Bae: *On Calibration of Deep Neural Networks*. DMQA open seminar, Korea University, 12 May 2023
