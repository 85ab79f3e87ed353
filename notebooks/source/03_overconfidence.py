# %% [markdown]
# # 03 · Over-confidence: why networks learn to be too sure
#
# **Question.** A network is trained to be right. Where does it learn to claim more than it keeps?
#
# **You will be able to**
# - say how depth, width and weight decay change what a network claims;
# - split the test loss into the part of the right and the part of the wrong predictions;
# - prove that cross-entropy has no minimum once the training set is fitted;
# - choose when to stop by a measure that sees over-confidence.
#
# **Time.** 75 minutes with the two exercises; the cells run in about a minute.
#
# **Needs.** [02 Measuring calibration](02_measuring_calibration.ipynb).

# %%
import copy
import math
from dataclasses import replace
from functools import cache, partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from torch.nn.functional import cross_entropy, interpolate

from calibkit import check, claims, data, experiments, explorers, metrics, models, palette, plots
from calibkit import sweep, theory, training
from calibkit.explorers import panels, svg
from calibkit.scale import budget

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %%
device = training.as_device(DEVICE)
size = budget(SCALE)
seeds = range(SEED, SEED + size.seeds)


@cache
def splits(seed):
    return data.noisy_digits(size.train, noise=0.4, seed=seed, test=size.test)

# %% [markdown]
# ## 1. An old network and a deep one
#
# Guo et al. (2017) showed two networks side by side. LeNet, from the 1990s, made many mistakes and knew it.
# A deep ResNet made fewer, and was far too sure. We repeat this with small means:
#
# - **small**: two convolutions with pooling, as in LeNet, but only 8 channels, so that 8 x 8 pixels will do;
# - **LeNet-5** itself, which needs larger pictures: it sees ours enlarged to 16 x 16;
# - **deep**: six convolutions with batch normalisation.
#
# The fully connected networks of section 2 are trained along with them; each changes one thing: depth
# (hidden layers), width (units a layer), batch normalisation or weight decay.
#
# How many trainings are written here, and in later notebooks:
#
# - `training.trial` *describes* one training: network, data, settings. The datasets in its third argument
#   are judged at the end, those in `watch` after every epoch; `keep` names the watched ones whose logits
#   are stored each time.
# - `sweep.run` *carries out* a trial for each combination (seeds among them) and stores the results:
#   `.table` has one row a training, `.one(...)` returns one of them, and `.difference(column, a, b)` compares
#   two settings seed by seed.

# %%
convolutional = {
    "small": partial(models.cnn, 1, 10, width=8, depth=2),
    "LeNet-5": partial(models.lenet5, 1, 10, size=16),
    "deep": partial(models.cnn, 1, 10, width=16, depth=6, norm="batch"),
}
plain = {"net": "dense", "depth": 2, "width": 128, "norm": "none", "decay": 1e-4}
changes = {"depth": [1, 2, 3, 5], "width": [8, 16, 32, 64, 128], "norm": ["none", "batch"],
           "decay": [1e-5, 1e-4, 1e-3, 1e-2]}
settings = [plain | {"net": net} for net in convolutional] + [plain]
settings += [plain | {what: value} for what, values in changes.items()
             for value in values if value != plain[what]]


# %%
@cache
def enlarged(seed):
    train, _, test = splits(seed)
    return [replace(part, inputs=interpolate(part.inputs, scale_factor=2, mode="bilinear"))
            for part in (train, test)]


def recipe(net, depth, width, norm, decay, seed):
    train, test = enlarged(seed) if net == "LeNet-5" else splits(seed)[::2]
    dense = partial(models.mlp, 64, 10, depth=depth, width=width,
                    norm="batch" if norm == "batch" else None)
    return training.trial(convolutional.get(net, dense), train, {"test": test}, seed=seed,
                          epochs=size.epochs, weight_decay=decay)


nets = sweep.run(recipe, [s | {"seed": seed} for s in settings for seed in seeds], device=device)

# %% [markdown]
# **Predict before you run:** which of the three convolutional networks is right most often, and which
# knows best how often it is right?

# %%
columns = ["train_accuracy", "test_accuracy", "test_confidence", "test_ece"]
pictured = nets.table[nets.table.net != "dense"]
pictured.groupby("net", sort=False)[columns].mean().round(3)

# %%
fig, axes = plt.subplots(1, 4, figsize=(12, 4), dpi=90, layout="constrained")
for net, pair in zip(("small", "deep"), (axes[:2], axes[2:]), strict=True):
    said = nets.one(**plain | {"net": net}, seed=SEED).predictions["test"]
    _ = plots.confidence_histogram(said.probs, said.labels, ax=pair[0], title=f"{net}: how sure")
    _ = pair[0].set(box_aspect=1)
    counted = metrics.reliability(said.probs, said.labels)
    _ = plots.draw_reliability(counted, ax=pair[1], title=f"{net}: how right", legend=False)

# %% [markdown]
# - **Small (left).** It uses the whole range of confidence, and its bars stay close to the diagonal.
# - **Deep (right).** Nearly everything is in the last bins, and the bars end far below the diagonal. It is
#   right more often, and a worse witness of itself.
# - **LeNet-5** (table) belongs with the deep one here. Look at its accuracy *on the training images*: it
#   learned them almost by heart, as the small network could not. What seems to count is not the year of an
#   invention, but whether a network can swallow its training set. Ours is small; that of Guo et al. (45,000
#   images) was probably too much for LeNet (they give no training error).

# %%
# NBVAL_CHECK_OUTPUT
def against(what, left, right):
    """Paired differences of the test ECE between two settings."""
    return nets.difference("test_ece", plain | {what: left}, plain | {what: right})


statement = "the deep network's ECE is at least 3 points above the small one's"
print(claims.verdict("O1", statement, against("net", "deep", "small"), margin=0.03))
statement = "... and at least 3 points above that of LeNet-5 itself"
print(claims.verdict("O1", statement, against("net", "deep", "LeNet-5"), margin=0.03))

# %% [markdown]
# ## 2. Depth, width, batch normalisation, weight decay
#
# Guo et al. found that *more depth*, *more width*, *batch normalisation* and *less weight decay* each make
# ECE worse. (Weight decay pulls every weight a little towards zero at every step.)
#
# **Predict before you run:** do you expect the same from our small networks, for all four?

# %%
fig, axes = plt.subplots(1, 4, figsize=(10, 2.6), sharey=True, layout="constrained")
for ax, (what, values) in zip(axes, changes.items(), strict=True):
    at = range(len(values))
    for style, column in enumerate(("test_ece", "train_accuracy", "test_accuracy")):
        runs = [nets.values(column, **plain | {what: value}) for value in values]
        runs = 1 - np.stack(runs, axis=1) if style else np.stack(runs, axis=1)
        label = ("ECE", "training error", "test error")[style]
        _ = plots.spread(at, runs, palette.group(style, label), ax=ax)
    _ = ax.set(xticks=at, xticklabels=values, xlabel=what, xlim=(-0.3, len(values) - 0.7))
_ = axes[2].set(ylim=(0, None))
_ = axes[2].legend(loc=(0.2, 0.05), fontsize="small")

# %%
# NBVAL_CHECK_OUTPUT
print(claims.verdict("O2", "depth 5 has a larger ECE than depth 1", against("depth", 5, 1)))
print(claims.verdict("O2", "width 128 has a larger ECE than width 16", against("width", 128, 16)))
statement = "batch normalisation makes the ECE larger"
print(claims.verdict("O2", statement, against("norm", "batch", "none")))
statement = "weight decay 0.01 has a smaller ECE than 0.00001"
print(claims.verdict("O2", statement, against("decay", 1e-2, 1e-5), expect="below"))
statement = "width 32 has a larger ECE than width 8"
print(claims.verdict("03a", statement, against("width", 32, 8)))

# %% [markdown]
# - **Weight decay** agrees with Guo et al. The strongest nearly ends over-confidence, and keeps the training
#   error away from zero. The second strongest does not, yet lowers the ECE: it also keeps the weights short.
# - **Depth** agrees too, but not because a deeper network memorises more: the training error is zero at
#   every depth. We have tested no explanation.
# - **Width** goes both ways, and a verdict that compares two widths hides it. (We found the rise, 03a, by
#   looking at this figure, not before.) The ECE climbs as long as more width lets the network learn more of
#   its training set by heart. Once the training error is zero there is nothing left to memorise.
#   Section 6 returns to the turning point.
# - **Batch normalisation** does not do here what it did there. Its means come from the
#   batch at hand, a noise that may work against memorising: we have not tested this.
#
# ## 3. What happens during training
#
# Mukhoti et al. (2020) watched one network, epoch by epoch. We watch one a seed: two hidden layers of 256
# units, cross-entropy, the learning rate cut to a tenth at half and at three quarters of the way.

# %%
def watched(seed):
    train, cal, test = splits(seed)
    watch = {"train": train, "cal": cal, "test": test[: size.test // 5]}
    return training.trial(lambda: models.mlp(64, 10), train, seed=seed, epochs=size.epochs,
                          watch=watch, keep=("test",))


films = sweep.run(watched, {"seed": seeds}, device=device)
film = films.one(seed=SEED)
truth = film.trial.watch["test"].labels

# %% [markdown]
# The **NLL** (negative log-likelihood, the cross-entropy of the test) is an average over all predictions.
# So it falls exactly into two parts: what the right predictions pay, and what the wrong ones pay.
#
# $$\mathrm{NLL} = \underbrace{\frac{1}{n}\sum_{\text{right}} -\log p_{y_i}}_{\text{part of the right}}
# + \underbrace{\frac{1}{n}\sum_{\text{wrong}} -\log p_{y_i}}_{\text{part of the wrong}}$$
#
# ### Exercise: who pays?
#
# *Difficulty: easy · importance: high · 10 minutes*
#
# From probabilities: return the part of the right and the part of the wrong predictions.

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
# The same from logits, checked against `metrics.nll` and against the columns of the history:

# %%
def parts(logits, labels):
    loss = -logits.double().log_softmax(dim=1)[torch.arange(len(labels)), labels]
    right = logits.argmax(dim=1) == labels
    return (loss * right).mean().item(), (loss * ~right).mean().item()


last = film.history.iloc[-1]
right, wrong = parts(film.logits["test"][-1], truth)
assert abs(right + wrong - metrics.nll(film.logits["test"][-1].softmax(dim=1), truth)) < 1e-4
assert abs(wrong - (1 - last.test_accuracy) * last.test_nll_wrong) < 1e-9
print(f"NLL {last.test_nll:.2f}, of which the {1 - last.test_accuracy:.0%} wrong pay {wrong:.2f}")

# %% [markdown]
# **Predict before you run:** the test *error* falls as training goes on. Does the test NLL fall too? What
# do the right predictions pay, what the wrong ones?

# %%
epochs = film.history.epoch.to_numpy()
shown = slice(None, None, max(1, len(epochs) // 20))


def lines(ax, ylabel, **columns):
    """One band a column, over all seeds: a name of the histories or a function of one history."""
    for style, (label, column) in enumerate(columns.items()):
        pick = column if callable(column) else lambda h, name=column: h[name]
        runs = np.stack([pick(one.history) for one in films.outcomes])
        _ = plots.spread(epochs[shown], runs[:, shown], palette.group(style, label), ax=ax)
    _ = ax.set(xlabel="epoch", ylabel=ylabel, ylim=(0, None))
    _ = ax.legend(fontsize="small")


fig, axes = plt.subplots(1, 4, figsize=(11, 2.8), layout="constrained")
lines(axes[0], "NLL, error", **{"test NLL": "test_nll", "training NLL": "train_nll",
                                "test error": lambda h: 1 - h.test_accuracy})
lines(axes[1], "part of the test NLL", right=lambda h: h.test_nll_correct * h.test_accuracy,
      wrong=lambda h: h.test_nll_wrong * (1 - h.test_accuracy))
lines(axes[2], "entropy on the test, nats", right="test_entropy_correct", wrong="test_entropy_wrong")
lines(axes[3], "norm of the last layer", weights="head_norm")

# %% [markdown]
# - **First picture.** After a few epochs the test NLL turns and rises, while the training NLL goes to zero
#   and the test error falls a little further. By its accuracy the network improves; by its probabilities it
#   gets worse. (In all pictures little moves after half-way: there the rate is cut.)
# - **Second.** The whole rise comes from the wrong predictions. Those who are right pay less and less.
# - **Third.** The **entropy** of a prediction says how evenly it spreads over the classes (ten equal ones:
#   2.3 nats; certainty: 0). It falls for the wrong predictions too: they become *peaks at the wrong place*.
# - **Fourth.** The weights of the last layer grow: larger logits, sharper probabilities.
#
# For the verdicts we compare the last epoch with the *turning point*, the epoch of the least NLL on the
# calibration images. (On the test itself the last epoch could not be below the least: a comparison that
# cannot fail.) And since "the wrong ones" are not the same images at both times, we also follow those that
# are wrong at both.

# %%
turns = [one.history.cal_nll.idxmin() for one in films.outcomes]
accurate = [one.history.cal_accuracy.idxmax() for one in films.outcomes]


def since_turn(column):
    """Change of a history's column from the turning point to the end, one number a seed."""
    return [one.history[column].iloc[-1] - one.history[column][turn]
            for one, turn in zip(films.outcomes, turns, strict=True)]


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


print("turning points, epochs", [turn + 1 for turn in turns])

# %%
# NBVAL_CHECK_OUTPUT
moved = np.array(list(map(moved_parts, films.outcomes, turns)))
print(claims.verdict("O3", "the test NLL rises by at least 0.1", since_turn("test_nll"), margin=0.1))
print(claims.verdict("O3", "while the test accuracy rises too", since_turn("test_accuracy")))
print(claims.verdict("O3", "the part of the right predictions falls", moved[:, 0], expect="below"))
print(claims.verdict("O3", "the part of the wrong predictions rises", moved[:, 1]))
statement = "the entropy of the wrong predictions falls"
print(claims.verdict("O4", statement, since_turn("test_entropy_wrong"), expect="below"))
stubborn = list(map(entropy_of_stubborn, films.outcomes, turns))
statement = "it falls on the images that are wrong at both times"
print(claims.verdict("O4", statement, stubborn, expect="below"))
print(claims.verdict("O5", "the norm of the last layer grows", since_turn("head_norm")))

# %% [markdown]
# ## 4. The film
#
# Mukhoti et al. also drew the reliability diagram of the *training* images over the epochs. Thulasidasan
# et al. (2019) drew the joint density of confidence and accuracy. A single image is either right or wrong, so
# our dots are random groups of 50 test images, with their mean confidence and their accuracy. (The source
# does not say what one of its points is.) Above the grey line a group is right more often than it says.

# %%
def groups(one, epoch, of=50):
    """Mean confidence and accuracy of random groups of test images, after an epoch."""
    logits, labels = one.logits["test"][epoch - 1], one.trial.watch["test"].labels
    sure, right = logits.softmax(dim=1).amax(dim=1), (logits.argmax(dim=1) == labels).float()
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(SEED))
    order = order[: len(order) // of * of].view(-1, of)
    return sure[order].mean(dim=1), right[order].mean(dim=1)


stops = [e for e in (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 30, 40, 50, 60) if e <= size.epochs]
unit = {"x_ticks": (0, 0.5, 1), "x_label": "confidence", "y_ticks": (0, 0.5, 1), "y_label": "accuracy"}
diagonal = panels.curve((0, 1), (0, 1), **svg.stroke(palette.DIAGONAL))
history = film.history

# %%
def frame(epoch):
    row = history.iloc[epoch - 1]
    curves = [panels.curve(history.epoch, history[name], stroke=colour, stroke_width=2, **dashes)
              for name, colour, dashes in (("test_nll", palette.VERMILLION, {}),
                                           ("train_nll", palette.BLUE, {"stroke_dasharray": "6 3"}))]
    here = panels.dots((epoch, epoch), (row.test_nll, row.train_nll), square=True, stroke_width=4,
                       stroke=palette.BLACK)
    drawn = [
        panels.reliability_plot("training images", film.diagrams["train"][epoch - 1]),
        panels.reliability_plot("test images", film.diagrams["test"][epoch - 1]),
        panels.plot("groups of 50 (test)", [diagonal, panels.dots(*groups(film, epoch))], **unit),
        panels.plot("NLL (dashed: training)", [*curves, here], x_label="epoch", y_label="NLL",
                    x_ticks=(0, size.epochs // 2, size.epochs), y_ticks=(0, 0.5, 1, 1.5, 2, 2.5)),
    ]
    last_bin = film.diagrams["train"][epoch - 1].counts[-1] / len(splits(SEED).train)
    readout = (f"training accuracy {row.train_accuracy:.1%}, training images in the last bin "
               f"{last_bin:.1%}; test accuracy {row.test_accuracy:.1%}, mean confidence "
               f"{row.test_confidence:.1%}, NLL {row.test_nll:.2f}")
    return panels.frame(drawn, title=f"after epoch {epoch}", readout=readout)

# %%
explorers.Explorer(
    frame, explorers.Slider("epoch", stops), play=True,
    description="Four pictures of one network after an epoch: the reliability diagrams of its training and "
    "of its test images, groups of 50 test images (above the diagonal: right more often than the network "
    "says), and the NLL of both against the epoch, with squares at the epoch that is shown.",
)

# %% [markdown]
# Slanted lines are over-confident, dots under-confident. The still twin: training images above, groups of test
# images of all seeds below (darker is denser).

# %%
few = sorted({min(epoch, size.epochs) for epoch in (1, 4, 10)} | {size.epochs})
fig, axes = plt.subplots(2, len(few), figsize=(12, 5.6), layout="constrained")
for epoch, (above, below) in zip(few, axes.T, strict=True):
    _ = plots.draw_reliability(film.diagrams["train"][epoch - 1], ax=above, legend=False,
                               title=f"epoch {epoch}: training")
    dots = torch.cat([torch.stack(groups(one, epoch), dim=1) for one in films.outcomes]).numpy()
    _ = below.hexbin(*dots.T, gridsize=22, extent=(0, 1, 0, 1), mincnt=1, cmap="Blues", vmin=-2)
    _ = below.plot((0, 1), (0, 1), "--", color="grey")
    _ = below.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xlabel="confidence", ylabel="accuracy",
                  title=f"epoch {epoch}: test")

# %% [markdown]
# - **At first** the network is *under*-confident, on training and test images alike. Over-confidence is not
#   born with the network, it is learned.
# - **In between** the test crosses the diagonal, which the training bars only reach. For a moment the network
#   is about calibrated.
# - **At the end** all training images are right, and nearly all sit in the last bin. They keep moving there
#   even after the last of them has become right.

# %%
# NBVAL_CHECK_OUTPUT
def filled(one):
    """Growth of the last training bin's share from the first epoch of best accuracy to the last."""
    counts = [diagram.counts[-1].item() for diagram in one.diagrams["train"]]
    return (counts[-1] - counts[one.history.train_accuracy.idxmax()]) / len(splits(SEED).train)


statement = "after all training images are right, more move to the last of 25 bins"
print(claims.verdict("O6", statement, list(map(filled, films.outcomes))))
gaps = np.stack([one.history.test_confidence - one.history.test_accuracy for one in films.outcomes])
print(claims.verdict("O7", "under-confident after the first epoch", gaps[:, 0], expect="below"))
print(claims.verdict("O7", "over-confident after the last", gaps[:, -1]))

# %% [markdown]
# So when does over-confidence come? The *gap* is mean confidence minus accuracy on the test; the table shows
# means over the seeds.

# %%
known = np.stack([one.history.train_accuracy for one in films.outcomes])
events = {"gap first positive": (gaps > 0).argmax(axis=1), "least NLL": turns,
          "training set first fitted": known.argmax(axis=1), "last": [len(epochs) - 1] * len(gaps)}
every = range(len(gaps))
pd.DataFrame({name: {"epoch": np.mean(at) + 1, "training accuracy": known[every, at].mean(),
                     "gap": gaps[every, at].mean()} for name, at in events.items()}).T.round(3)

# %% [markdown]
# The gap opens while many training images are still wrong, and most of it is there when the last of them is
# fitted. Over-confidence does not wait for the fit.

# %% [markdown]
# ### The classic mistake: to stop where the accuracy is best
#
# **The mistake:** accuracy does not see over-confidence. **The repair:** watch a proper score (NLL) on
# held-out images as well. `cal` chooses, `test` judges.

# %%
def judged(one, epoch):
    probs, labels = one.logits["test"][epoch].softmax(dim=1), one.trial.watch["test"].labels
    return {"epoch": epoch + 1, "accuracy": metrics.accuracy(probs, labels),
            "ECE": metrics.ece(probs, labels), "NLL": metrics.nll(probs, labels)}


chosen = {"best accuracy": accurate, "least NLL": turns}
table = pd.DataFrame({name: pd.DataFrame(map(judged, films.outcomes, at)).mean()
                      for name, at in chosen.items()}).T
table.round(3)

# %%
# NBVAL_CHECK_OUTPUT
saved = [judged(one, late)["ECE"] - judged(one, early)["ECE"]
         for one, late, early in zip(films.outcomes, accurate, turns, strict=True)]
statement = "stopped at the least NLL, ECE is at least 3 points lower than at the best accuracy"
print(claims.verdict("03b", statement, saved, margin=0.03))

# %% [markdown]
# Stopping early costs: the test accuracy went on rising after the turning point.
# Mukhoti et al. report it too (appendix J). Notebooks 08 to 12 look for better cures.
#
# ## 5. Cross-entropy has no minimum
#
# Why does the network not stop even when all training images are right? Look at one image. Let $z$ be the logit
# of its label, and all $K - 1$ others zero. Its loss is
#
# $$\ell(z) = -\log\frac{e^z}{e^z + K - 1} = \log\bigl(1 + (K - 1)\,e^{-z}\bigr),$$
#
# which falls for ever. **Label smoothing** does not ask for the label with certainty: it asks for
# $1 - \alpha + \alpha/K$ there and for $\alpha/K$ everywhere else. That adds $\alpha\frac{K-1}{K}\,z$ to the
# loss, a line that *rises*, so that there is a minimum:
#
# $$z^* = \log\Bigl(\frac{K}{\alpha} - K + 1\Bigr).$$
#
# Follow the slope downhill from zero, with plain gradient descent and autograd:

# %%
def descend(smoothing, steps=2_000, rate=1.0):
    z, path = torch.zeros((), dtype=torch.float64, requires_grad=True), []
    target = torch.full((10,), smoothing / 10, dtype=torch.float64)
    target[0] += 1 - smoothing
    for _ in range(steps):
        logits = torch.cat([z[None], torch.zeros(9, dtype=torch.float64)])
        (slope,) = torch.autograd.grad(-(target * logits.log_softmax(dim=0)).sum(), z)
        z = (z - rate * slope).detach().requires_grad_()
        path.append(z.item())
    return path


paths = {alpha: descend(alpha) for alpha in (0.0, 0.1)}
best = theory.smoothing_minimiser(10, 0.1)
assert abs(paths[0.1][-1] - best) < 1e-6
print(f"after 200 and 2,000 steps: cross-entropy {paths[0.0][199]:.2f} and {paths[0.0][-1]:.2f}, "
      f"smoothed {paths[0.1][199]:.2f} and {paths[0.1][-1]:.2f} (theory {best:.2f})")

# %% [markdown]
# Do networks behave like this one number? We train with both losses, without weight decay, at a constant
# rate. Their other logits are not zero, so we read the *equivalent* $z$ off the probability $p$ of the
# label: solving $p = e^z/(e^z + K - 1)$ gives $z = \log\frac{p}{1-p} + \log(K-1)$.

# %%
losses = {"cross-entropy": cross_entropy, "smoothed": partial(cross_entropy, label_smoothing=0.1)}


def fitted(loss, seed):
    train = splits(seed).train
    return training.trial(lambda: models.mlp(64, 10, width=64), train, seed=seed, epochs=size.epochs,
                          loss=losses[loss], lr=0.05, schedule="constant", weight_decay=0.0,
                          watch={"train": train}, keep=("train",))


def equivalent(one):
    """(epochs,) mean over the training images of the logit that stands for the label's probability."""
    labels = one.trial.train.labels
    log_p = one.logits["train"].double().log_softmax(dim=2)[:, torch.arange(len(labels)), labels]
    others = torch.log(-torch.expm1(log_p)).clamp(min=-40)  # log(1 - p), which may round to log 0
    return (log_p - others + math.log(9)).mean(dim=1)


pushed = sweep.run(fitted, {"loss": losses, "seed": seeds}, device=device)
logits = {loss: torch.stack([equivalent(one) for one in pushed.where(loss=loss)]) for loss in losses}

# %%
z = np.linspace(-2, 12, 141)
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
for style, (name, alpha) in enumerate({"cross-entropy": 0.0, "smoothed": 0.1}.items()):
    curve = theory.cross_entropy_of_logit(z, 10, smoothing=alpha)
    _ = left.plot(z, curve, color=palette.CYCLE[style], ls=("-", "--")[style], label=f"{name}")
    _ = plots.spread(epochs[shown], logits[name][:, shown], palette.group(style, name), ax=right)
_ = left.axvline(best, color="grey", ls=":", label="minimum of the smoothed loss")
_ = right.axhline(best, color="grey", ls=":", label="minimum of the smoothed loss")
_ = left.set(xlabel="logit of the label", ylabel="loss of one image")
_ = right.set(xlabel="epoch", ylabel="equivalent logit")
_ = left.legend(fontsize="small")

# %%
# NBVAL_CHECK_OUTPUT
third = len(epochs) // 3
rise = logits["cross-entropy"][:, -1] - logits["cross-entropy"][:, -third]
statement = "cross-entropy: the logit still rises by 0.5 or more in the last third"
print(claims.verdict("O8", statement, rise, margin=0.5))
statement = "label smoothing: it ends within 0.5 of the minimum"
print(claims.verdict("O8", statement, logits["smoothed"][:, -1] - best, expect="within", margin=0.5))

# %% [markdown]
# - **Left.** The solid curve has no lowest point; the dashed one has, and rises beyond it.
# - **Right.** One network climbs and climbs; the other settles near where the formula says.
#
# ## 6. A theorem, and what it does not say
#
# *Dataset Curation Beyond Accuracy* makes a theorem of this. In our words: **let the $n$ training inputs be
# distinct, let a ReLU network have four or more layers and a width of at least order $\sqrt n$, and let the
# loss be the cross-entropy of the training set. Then (i) no weights reach its minimum, and (ii) as the loss
# goes to 0, the confidence on the training images goes to 1.**
#
# The proof has two steps. *First:* such a network *can* fit any labels (Yun et al. 2019). *Second:* if all
# training images are right, multiply the last layer (weights and bias) by $1 + a$, with $a > 0$. The loss
# of image $i$ with label $c$ becomes
#
# $$\ell_i = \log\Bigl(1 + \sum_{j \neq c} e^{(1 + a)(z_{ij} - z_{ic})}\Bigr).$$
#
# All differences $z_{ij} - z_{ic}$ are negative, so every term shrinks: whatever the weights were, better
# ones exist. (Weights that leave an image wrong pay $\log 2$ or more for it, and are beaten as well.) And
# $p_{ic} = e^{-\ell_i}$, which gives (ii). Let us scale the networks of section 3.

# %%
def scaled(one, dataset, a):
    """Logits after the last layer was multiplied by 1 + a."""
    model = copy.deepcopy(one.model)
    with torch.no_grad():
        for tensor in model.head.parameters():
            tensor.mul_(1 + a)
    return training.predict(model, dataset)


test = splits(SEED).test
as_it_is, doubled = (scaled(film, test, a) for a in (0, 1))
assert torch.allclose(doubled.logits, 2 * as_it_is.logits, atol=1e-3)

# %% [markdown]
# ### Exercise: scale it yourself
#
# *Difficulty: easy · importance: high · 5 minutes*
#
# Return the mean cross-entropy after all logits were multiplied by $1 + a$.

# %%
def my_scaled_loss(logits, labels, a):
    ...  # your code here


check.scaled_loss(my_scaled_loss)

# %% [markdown]
# <details><summary>Hint</summary>
#
# `cross_entropy(logits, labels)` takes logits and returns the mean. What has to happen to them before?
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_scaled_loss(logits, labels, a):
#     return torch.nn.functional.cross_entropy((1 + a) * logits, labels)
# ```
#
# </details>
#
# **Predict before you run:** for the "small" network of section 1, which did *not* fit its training
# images: does scaling help it too? And what does it do to the ECE on the test?

# %%
factors = [0, 0.25, 0.5, 1, 2, 4]


def scaling(one, seed):
    """Training loss, training confidence and test ECE for every factor: (3, factors)."""
    (seen, y), (said, truth) = ((scaled(one, part, 0).logits.double(), part.labels)
                                for part in splits(seed)[::2])
    rows = [(cross_entropy((1 + a) * seen, y), ((1 + a) * seen).softmax(dim=1).amax(dim=1).mean(),
             metrics.ece(((1 + a) * said).softmax(dim=1), truth)) for a in factors]
    return np.array(rows).T


small = nets.where(**plain | {"net": "small"})
stretched = {"fits its training images": np.stack(list(map(scaling, films.outcomes, seeds))),
             "does not (small)": np.stack(list(map(scaling, small, seeds)))}

# %%
fig, axes = plt.subplots(1, 3, figsize=(10, 2.8), layout="constrained")
names = ("training loss / at a = 0", "training confidence", "ECE on the test")
for row, (ax, name) in enumerate(zip(axes, names, strict=True)):
    for style, (which, found) in enumerate(stretched.items()):
        runs = found[:, row] / found[:, row, :1] if row == 0 else found[:, row]
        _ = plots.spread(factors, runs, palette.group(style, which), ax=ax)
    _ = ax.set(xlabel="a", title=name, ylim=(0, None))
_ = axes[0].legend(fontsize="small")

# %%
# NBVAL_CHECK_OUTPUT
one, two = (factors.index(a) for a in (0, 1))
fits, not_yet = stretched.values()
halves = [np.log2(found[:, 0, two] / found[:, 0, one]) for found in (fits, not_yet)]
statement = "fitted: a = 1 at least halves the training loss (log2 of the ratio)"
print(claims.verdict("O9", statement, halves[0], expect="below", margin=1))
print(claims.verdict("O9", "fitted: a = 4 brings the training confidence within 0.001 of 1",
                     1 - fits[:, 1, -1], expect="within", margin=0.001))
print(claims.verdict("O9", "and the test ECE rises with a = 1", fits[:, 2, two] - fits[:, 2, one]))
print(claims.verdict("03d", "not fitted: a = 1 raises the training loss (log2)", halves[1]))

# %% [markdown]
# - **Fitted:** every step lowers the training loss, bought with nothing but confidence: not one prediction
#   changes. On the test the ECE rises.
# - **Not fitted:** much scaling raises the loss, since every wrong image pays for it. This is why the small
#   network of section 1 stays modest.
#
# ### How wide is wide enough?
#
# The first step says that a width of *order* $\sqrt n$ suffices to memorise. (For one output Yun et al. build
# the weights with two hidden layers of about $2\sqrt n$ units.) It says that such weights exist, not that
# training finds them. So we try: three hidden layers (four with the output), labels drawn at random, so that
# there is nothing to understand, and equally many steps for every $n$.

# %%
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


learned = sweep.run(memorise, {"n": numbers, "ratio": ratios, "seed": seeds}, device=device,
                    how="stacked")  # so small that they are best trained side by side
right = {n: np.stack([learned.values("seen_accuracy", n=n, ratio=r) for r in ratios], axis=1)
         for n in numbers}

# %%
fig, (left, scaled_axis) = plt.subplots(1, 2, figsize=(8, 2.8), sharey=True, layout="constrained")
for style, n in enumerate(numbers):
    widths = [round(r * math.sqrt(n)) for r in ratios]
    _ = plots.spread(widths, right[n], palette.group(style, f"n = {n}"), ax=left)
    _ = plots.spread(ratios, right[n], palette.group(style, f"n = {n}"), ax=scaled_axis)
_ = left.set(xscale="log", xlabel="width", ylabel="share of random labels learned", ylim=(0, 1.05),
             xticks=[5, 10, 20, 30, 60], xticklabels=[5, 10, 20, 30, 60])
left.minorticks_off()
_ = scaled_axis.set(xlabel="width / square root of n", xticks=ratios, xticklabels=ratios)
_ = scaled_axis.legend()

# %%
# NBVAL_CHECK_OUTPUT
half, twice = (np.stack([right[n][:, ratios.index(r)] for n in numbers]) for r in (0.5, 2))
statement = "width 2 sqrt(n): over 99 % of the random labels learned, at every n"
print(claims.verdict("O9", statement, twice.min(axis=0) - 0.99))
for n, less, more in zip(numbers, half, twice, strict=True):
    statement = f"half of sqrt(n): at least 10 points fewer, n = {n}"
    print(claims.verdict("O9", statement, less - more, expect="below", margin=0.1))

# %% [markdown]
# - **Left:** 900 images ask for a wider network than 100 or 300, between which our grid shows no clear
#   order. **Right:** all three are complete from about $\sqrt n$ on; at half of it the picture is mixed. This
#   agrees with the theorem, but widths at fixed multiples of $\sqrt n$, in steps of two, could not tell this
#   order from another. For the 1,500 images of section 2, $\sqrt n$ is about 39: compare where the ECE turned.
# - At half of $\sqrt n$ some seeds get much further than others. The theorem is about what weights *can* do;
#   this figure is about what training finds.
#
# The theorem says **nothing** about *test* images (that a training confidence of 1 goes with over-confidence
# there is an observation, ours in sections 1 to 4), and nothing with weight decay, whose penalty grows with
# the weights, so that a minimum exists. And read the paper with a pencil: its equation (2) has a plus where
# $z_{ic} - \log\sum_j e^{z_{ij}}$ needs a minus; and its section 4 and appendix B say $\sqrt n$ *parameters*
# where the theorem rightly says *width*: Yun et al. need of the order of $n$ parameters.
#
# ## 7. On photographs
#
# LeNet-5 against a ResNet-8, 2,500 images of CIFAR-10, three seeds, on a CPU. (Stored; `SCALE = "gpu"` trains anew,
# larger: [from laptop to paper](from_laptop_to_paper.md).)

# %%
photographs = experiments.on_photographs("depth", SCALE, device=device)
experiments.shown(photographs)

# %%
# NBVAL_CHECK_OUTPUT
print(experiments.verdict("depth", photographs))

# %% [markdown]
# **Both** are over-confident, LeNet-5 the more on the mean, with too wide a spread for a verdict. In both, training
# and test accuracy lie about equally far apart: memorising alone does not decide the ECE.
#
# ## Beside the papers
#
# | | papers | here |
# |---|---|---|
# | old and deep (O1) | CIFAR-100: LeNet-5 error 44.9 %, ECE 4.85 %; ResNet-110 error 30.6 %, ECE 16.53 % (Guo et al., figure 1, table 1) | sections 1, 7 |
# | one thing at a time (O2) | CIFAR-100: ResNets by depth, ResNet-14 by width, a ConvNet, ResNet-110 by decay (Guo et al., figure 2: curves) | section 2 |
# | the test NLL turns (O3 to O5) | ResNet-50, CIFAR-10: after epoch 150 of 350, at the first cut of the rate (Mukhoti et al., section 3) | section 3 |
# | training diagram (O6) | 25 bins; all right by epoch 300, still moving at 350 (Mukhoti et al., figure A.1) | section 4 |
# | density (O7) | VGG-16, CIFAR-100 (Thulasidasan et al.) | section 4 |
# | no minimum (O8, O9) | curves and a proof, no experiment (*Dataset Curation*, figure 7, theorem 1) | sections 5, 6 |
#
# ## Three things to take away
#
# 1. Over-confidence is learned. It begins while many training images are still wrong, and most of it is there
#    before the last is fitted.
# 2. Cross-entropy has no minimum on a training set that is fitted. Smoothing and weight decay give it one;
#    stopping early leaves the road before its end.
# 3. "Wider is worse" holds until the training set is memorised, and can turn round beyond. Depth and weight
#    decay change the ECE even where the training error stays zero: memorising is not all of it.
#
# ## Recall
#
# <details><summary>1. Test error falls and test NLL rises. How can both be?</summary>
#
# The wrong predictions become fewer, but each is stated with more and more confidence and pays more.
#
# </details>
#
# <details><summary>2. Why did we pick the turning point on `cal` and not on the test?</summary>
#
# The least value of a curve is never above its last one: chosen on the test, "the NLL rises" could not fail.
#
# </details>
#
# <details><summary>3. A network with 97 % training accuracy is scaled by 1 + a with a large a. What becomes
# of its training loss?</summary>
#
# It grows without bound, about in proportion to a: each wrong image pays at least (largest logit - its
# label's logit) x (1 + a).
#
# </details>
#
# <details><summary>4. K = 10 and smoothing 0.1: what probability does the smoothed loss ask for?</summary>
#
# 1 - 0.1 + 0.1/10 = 0.91.
#
# </details>
#
# <details><summary>5. Why does weight decay work against over-confidence?</summary>
#
# It charges for large weights, so that at some point a surer answer costs more than it saves: the loss has a
# minimum again.
#
# </details>
#
# ## Go further
#
# Set `weight_decay` to 5e-3 in section 3. Where does the NLL turn now, and what does the last layer do? Then:
# [05 Dataset size](05_dataset_size.ipynb). Digits differ? See
# [your numbers differ?](your_numbers_differ.md).
#
# ## References
#
# - Guo, Pleiss, Sun, Weinberger: *On Calibration of Modern Neural Networks*. ICML 2017.
#   [arXiv:1706.04599](https://arxiv.org/abs/1706.04599) (figures 1 and 2, table 1)
# - Mukhoti, Kulharia, Sanyal, Golodetz, Torr, Dokania: *Calibrating Deep Neural Networks using Focal
#   Loss*. NeurIPS 2020. [arXiv:2002.09437](https://arxiv.org/abs/2002.09437) (section 3, figures 1, 2, A.1)
# - Thulasidasan, Chennupati, Bilmes, Bhattacharya, Michalak: *On Mixup Training*. NeurIPS 2019.
#   [arXiv:1905.11001](https://arxiv.org/abs/1905.11001) (confidence and accuracy over epochs)
# - *Dataset Curation Beyond Accuracy*. Anonymous authors, paper under double-blind review. (section 4,
#   figure 7, theorem 1, appendix B)
# - Yun, Sra, Jadbabaie: *Small ReLU networks are powerful memorizers*. NeurIPS 2019.
#   [arXiv:1810.07770](https://arxiv.org/abs/1810.07770)
# - Bae: *On Calibration of Deep Neural Networks*. DMQA open seminar, Korea University, 12 May 2023 (where
#   Guo's figures stand side by side)
