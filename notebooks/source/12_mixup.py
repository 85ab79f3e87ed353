# %% [markdown]
# # 12 · Mixup: training on blends
#
# **Question.** A doctor checks the images on which a network is unsure. A network that was trained on blends of two
# images, with blended labels, is said to be unsure where it should be. Is it, and which half of the blend does it?
#
# **You will be able to**
# - write mixup in four lines, and say how much doubt it puts into the labels;
# - read from a curve what a growing alpha does to the signed gap;
# - compare it fairly: strengths chosen on `cal`, and a baseline that was repaired too;
# - tell calibration *on average* from a good confidence for each single image.
#
# **Time.** 60 minutes for sections 1 to 5; 35 more for 6 to 8, a second sitting.
#
# **Needs.** [02 Measuring calibration](02_measuring_calibration.ipynb).

# %%
from functools import cache, partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
import torch

from calibkit import corruptions, losses, metrics, mixing, recalibration
from calibkit.course import check, experiments, explorers, verdicts
from calibkit.course.scale import begin
from calibkit.lab import data, models, sweep, training
from calibkit.pictures import alt_text, palette, plots

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% [markdown]
# Alpha says how strongly two images are blended: 0 not at all, 2 most. The right picture shows means for every alpha;
# its axis, label entropy, is the doubt in the blended labels (section 2). **Write down a guess:** at alpha 2 the mean
# confidence is below the accuracy. Do then *all* bars of the left picture end above the diagonal, or are the surest
# predictions still over-confident? Then move the slider. (Section 3 trains these networks.)

# %%
size, seeds, device = begin(SCALE, SEED, DEVICE)
explorers.stored("mixup_alpha")

# %% [markdown]
# ## 1. Two digits in one image
#
# **Mixup** (Zhang et al. 2018) replaces every training batch by blends. Each sample gets a partner from the same
# batch, and both the image and the one-hot label become means with a weight $\lambda$ between 0 and 1:
#
# $$\tilde x=\lambda x_i+(1-\lambda)x_j\qquad\tilde y=\lambda y_i+(1-\lambda)y_j$$
#
# Here is one pair, without noise (above) and as the network of this course meets it (below).

# %% tags=["drawing"]
world = data.NoisyDigits(0.4)
clean = data.digits(seed=SEED).train
pair = torch.stack([clean.inputs[clean.labels == digit][0] for digit in (3, 7)])
noisy = pair + world.noise * torch.randn(pair.shape, generator=torch.Generator().manual_seed(SEED))
fig, axes = plt.subplots(2, 6, figsize=(9, 3.4))
for column, lam in zip(axes.T, (1.0, 0.8, 0.6, 0.4, 0.2, 0.0), strict=True):
    for ax, (one, two), edge in zip(column, (pair, noisy), (0.0, 0.5), strict=True):
        _ = ax.imshow((lam * one + (1 - lam) * two)[0], cmap="gray_r", vmin=-edge, vmax=1 + edge)
        _ = ax.axis("off")
        _ = alt_text.note(ax, f"{'noisy' if edge else 'clean'} blend, {lam:.0%} three, {1 - lam:.0%} seven")
    _ = column[0].set_title(f"{lam:.0%} three\n{1 - lam:.0%} seven", fontsize=9)

# %% [markdown]
# - **Middle columns:** two digits at once. No such image occurs in a test. The label is shared in the same way.
# - **Lower row:** a blend averages two independent noises, so at half and half its noise is smaller by a
#   factor of $\sqrt2$. But the contrast of *each* digit is halved: either digit is harder to see.
#
# The images by hand; the labels are your exercise, here the package mixes them. It draws the partners as a permutation,
# and one $\lambda$ for the whole batch. The last line prints one label whose partner is of another class.

# %%
inputs, labels = world.draw(128, seed=SEED).inputs, world.draw(128, seed=SEED).labels
drawn = mixing.draw(len(inputs), alpha=0.4, generator=SEED)
lam, partner = drawn.lam, drawn.partner
mixed = lam * inputs + (1 - lam) * inputs[partner]
by_package, soft = mixing.mixup(inputs, labels, classes=10, alpha=0.4, generator=SEED)
assert torch.allclose(mixed, by_package, atol=1e-6)
blended = soft[(labels != labels[partner]).nonzero()[0, 0]]
print(f"lambda {lam:.2f}; a label of this batch is now", blended.numpy().round(2))

# %% [markdown]
# ### Exercise: mixed labels
#
# *Difficulty: easy · importance: high · 5 minutes*
#
# Given are labels (n,), the index of each sample's partner (n,), the number lam and the number of classes. Return the
# mixed labels, a tensor (n, classes).

# %%
def my_mixed_labels(labels, partner, lam, classes):
    ...  # your code here


check.mixed_labels(my_mixed_labels)

# %% [markdown]
# <details><summary>Hint</summary>
#
# `torch.nn.functional.one_hot(labels, classes)` makes one row for each sample. The partners' rows are those same
# rows, indexed with `partner`.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_mixed_labels(labels, partner, lam, classes):
#     rows = torch.nn.functional.one_hot(labels, classes)
#     return lam * rows + (1 - lam) * rows[partner]
# ```
#
# </details>
#
# ## 2. How much doubt is in the labels?
#
# $\lambda$ is drawn from a Beta(alpha, alpha) distribution on [0, 1], symmetric about one half. The
# entropy of a label y is $-\sum_ky_k\log y_k$. For an ordinary label it is 0, for a mixed one
# $H(\lambda)=-\lambda\log\lambda-(1-\lambda)\log(1-\lambda)$, at most $\log2=0.69$ nats (0 if both samples are
# of one class). Its mean has a closed form:
#
# $$\mathbb{E}\,H=\left(1-\frac{1}{K}\right)\bigl(\psi(2\alpha+1)-\psi(\alpha+1)\bigr)$$
#
# with the digamma function $\psi$, the derivative of $\log\Gamma$. (Take it as given; the answer below checks it
# with 20,000 draws.)

# %%
alphas = [0.0, 0.05, 0.1, 0.2, 0.4, 1.0, 2.0]
a = torch.tensor(alphas[1:], dtype=torch.float64)
by_hand = 0.9 * (torch.digamma(2 * a + 1) - torch.digamma(a + 1))
assert torch.allclose(by_hand, mixing.label_entropy(a, classes=10))
doubt = dict(zip(alphas, [0.0, *by_hand.tolist()], strict=True))


def label_entropies(alpha, n=20_000):
    """Entropies of n mixed labels of ten equally likely classes, and the weights behind them."""
    drawn = mixing.draw(n, alpha, per_sample=True, generator=SEED)
    labels = torch.randint(10, (n,), generator=torch.Generator().manual_seed(SEED))
    return metrics.entropy(drawn.soft_labels(labels, 10)), drawn.lam

# %% tags=["drawing"]
def draw_label_entropies(chosen):
    """Above the weights, below the entropies of the labels, one column for each alpha."""
    fig, axes = plt.subplots(2, len(chosen), figsize=(7.6, 3.8), sharex="row")
    for (above, below), alpha in zip(axes.T, chosen, strict=True):
        entropy, lam = label_entropies(alpha)
        shares = np.full(len(lam), 1 / len(lam))
        _ = above.hist(lam.numpy(), bins=20, range=(0, 1), weights=shares, color=palette.SKY)
        _ = above.set(title=f"alpha {alpha}", xlabel="lambda", ylim=(0, 0.6))
        _ = below.hist(entropy.numpy(), bins=20, range=(0, 0.7), weights=shares, color=palette.ORANGE)
        _ = below.axvline(entropy.mean(), color=palette.BLACK, ls="--", label=f"mean {entropy.mean():.2f}")
        _ = below.set(xlabel="entropy of the label (nats)", ylim=(0, 1))
        _ = below.legend()
        middle = ((lam - 0.5).abs() < 0.25).double().mean()
        _ = alt_text.note(above, f"alpha {alpha}: {middle:.0%} of the weights lie between 0.25 and 0.75")
        _ = alt_text.note(below, f"alpha {alpha}: mean entropy of the labels {entropy.mean():.2f} nats")
    _ = [ax.set_ylabel("share") for ax in axes[:, 0]]

# %% [markdown]
# **Predict before you run:** what share of the labels keeps an entropy below 0.1 at alpha 0.1, and at alpha 2?

# %% tags=["answer"]
draw_label_entropies((0.1, 0.4, 2.0))
for alpha in (0.1, 2.0):
    entropy, _ = label_entropies(alpha)
    assert abs(entropy.mean() - doubt[alpha]) < 0.01
    print(f"alpha {alpha:g}: {(entropy < 0.1).double().mean():.0%} of the labels keep an entropy below 0.1; "
          f"mean entropy {entropy.mean():.2f} nats, by the formula {doubt[alpha]:.2f}")

# %% [markdown]
# Open the answer above first. With a large alpha $\lambda$ is often close to one half, and most labels hold two classes.
#
# ## 3. Trained at every alpha
#
# The claim (Thulasidasan et al. 2019, whose poster we follow): mixup lowers ECE *and* overconfidence error (OE). In Tata et
# al. (2022) it costs no accuracy. We train mixup at six alphas, and two rivals. Label smoothing takes a part $\epsilon$ (alpha in 09) of every
# label and spreads it evenly. The **confidence penalty** (09) subtracts a weight times the
# entropy of the prediction from the loss. The function `cure` returns what each changes in a `training.trial`: the
# `loss`, or the `mix` that blends every batch. The two "only" variants are for section 5.

# %%
def own_labels(inputs, labels, *, classes, alpha, generator):
    """A `mix` function: makes of each batch the inputs and soft labels to train on.

    Here the images stay; the label keeps the larger share, a random partner's label gets the rest.
    """
    drawn = mixing.draw(len(inputs), alpha, generator=generator, device=inputs.device)
    larger = torch.maximum(drawn.lam, 1 - drawn.lam)
    # as in the exercise of section 1, with `larger` for lam
    return inputs, mixing.Mix(larger, drawn.partner).soft_labels(labels, classes)


def cure(method, strength):
    """What this cure changes in a training; strength 0 changes nothing."""
    if strength == 0:
        return {}
    if method == "mixup":
        return {"mix": partial(mixing.mixup, alpha=strength)}
    if method == "inputs only":
        return {"mix": partial(mixing.mixup, alpha=strength, mix="inputs")}
    if method == "labels only":
        return {"mix": partial(own_labels, alpha=strength)}
    if method == "smoothing":
        return {"loss": partial(losses.label_smoothing, alpha=strength)}
    return {"loss": partial(losses.confidence_penalty, weight=strength)}

# %%
@cache
def splits(name, seed):
    """train, cal, test of a data set; all but the first are for section 6."""
    half = size.train // 2
    if name == "noisy digits":
        return data.noisy_digits(size.train, 0.4, seed, test=size.test)
    if name == "hard digits":
        return data.noisy_digits(half, 0.5, seed, test=size.test)
    if name == "clusters":
        return data.clusters(300, flip=0.1, seed=seed, calibration=2_000, test=size.test)
    train, cal, test = data.digits(seed=seed)  # "real digits"
    return data.Splits(train[:half], cal, test)

# %%
def recipe(method, strength, seed, name="noisy digits"):
    train, cal, test = splits(name, seed)
    network = partial(models.mlp, train.inputs[0].numel(), len(train.classes))
    return training.trial(network, train, {"cal": cal, "test": test}, seed=seed, epochs=size.epochs,
                          **cure(method, strength))


strengths = {"mixup": alphas, "smoothing": [0.02, 0.03, 0.04, 0.05],
             "penalty": [0.1, 0.2, 0.3, 0.5], "inputs only": [0.2], "labels only": [0.2]}
grid = [{"method": method, "strength": strength, "seed": seed}
        for method, values in strengths.items() for strength in values for seed in seeds]
swept = sweep.run(recipe, grid, device=device)  # one trial for each of these settings

# %%
def overconfidence(outcome):
    test = outcome.predictions["test"]
    return metrics.overconfidence_error(test.probs, test.labels)


def on_training(outcome):
    """Mean confidence on the unmixed training images."""
    train = splits("noisy digits", outcome.setting["seed"]).train
    return training.predict(outcome.model, train).confidence.mean()


_ = swept.measure("test_oe", overconfidence).measure("train_confidence", on_training)
shown = {"test_accuracy": "accuracy", "test_gap": "signed gap", "test_ece": "ECE", "test_oe": "OE"}
mixups = swept.table[swept.table.method == "mixup"]
mixups = mixups.assign(label_entropy=mixups.strength.map(doubt))

# %% tags=["drawing"]
def runs(column):  # (seeds, alphas)
    return np.stack([swept.values(column, method="mixup", strength=alpha) for alpha in alphas], axis=1)


roles = {"test_accuracy": palette.ACCURACY, "test_confidence": palette.CONFIDENCE,
         "test_ece": palette.group(6, "ECE"), "test_oe": palette.OVER.named("OE")}
lines = {role: runs(column) for column, role in roles.items()}
averages = mixups.groupby("strength").mean(numeric_only=True)


def frame(alpha):
    pooled, mean = swept.pooled("test", method="mixup", strength=alpha), averages.loc[alpha]
    readout = (f"alpha {alpha:g}: label entropy {doubt[alpha]:.2f} nats; accuracy {mean.test_accuracy:.1%}, "
               f"ECE {mean.test_ece:.1%}, OE {mean.test_oe:.1%}, signed gap {mean.test_gap:+.1%}")
    return explorers.along_frame(
        metrics.reliability(pooled.probs, pooled.labels), doubt[alpha], list(doubt.values()), lines,
        x_label="mean label entropy (nats)", x_ticks=(0, 0.1, 0.2, 0.3, 0.4, 0.5), readout=readout,
        title=f"mixup, alpha {alpha:g}" if alpha else "no mixup")

# %% tags=["drawing"]
moving = explorers.Explorer(
    frame, explorers.Slider("alpha", alphas, show="{:g}".format),
    description="Left, the reliability diagram of the networks of all seeds for one alpha: a bar below the "
    "diagonal is over-confident. Right, against the mean entropy of the labels at each alpha: accuracy, mean "
    "confidence, ECE and OE; the bands span the seeds, the grey line marks the chosen alpha.")
explorers.keep(moving, "mixup_alpha")

# %% [markdown]
# **Predict before you run:** how sure are these networks of their own *training* images, without any blending? At
# alpha 0 the mean confidence there is nearly 100 %. And at alpha 2: nearly 100 %, about 85 % or about 60 %?

# %% tags=["answer"]
low, high = averages.loc[0.0], averages.loc[2.0]
print(f"mean confidence on the training images: alpha 0 {low.train_confidence:.1%}, "
      f"alpha 2 {high.train_confidence:.1%}")
print(f"on test, from alpha 0 to 2: accuracy {high.test_accuracy - low.test_accuracy:+.1%}, mean confidence "
      f"{high.test_confidence - low.test_confidence:+.1%}")
print(f"signed gap on test: alpha 0 {low.test_gap:+.1%}, alpha 2 {high.test_gap:+.1%}")
fig, axes = plt.subplots(1, 2, figsize=(8.4, 3.4))
panels = {"test_accuracy": 0, "test_confidence": 0, "test_ece": 1, "test_oe": 1}
for column, panel in panels.items():
    style = roles[column].line()  # the colour and line of this curve, as in the slider
    _ = sns.lineplot(mixups, x="label_entropy", y=column, errorbar=("pi", 100), ax=axes[panel], **style)
_ = [ax.set(xlabel="mean label entropy (nats)", ylabel="share") for ax in axes]
columns = [*shown, "train_confidence"]
averages[columns].rename(columns=shown).rename_axis("alpha").round(3)

# %% [markdown]
# Open the answer above first.
#
# - **On the training images** (last column of the table) the confidence falls too, though the network could learn
#   their labels exactly. The labels that it meets are not certain.
# - **Left:** accuracy rises a little. Mean confidence falls, and goes on falling beyond the crossing.
# - **Right:** ECE falls to that crossing and *rises again*: beyond it the network is under-confident. OE does not see
#   this side. At alpha 2 all bars end above the diagonal.

# %% tags=["nbval-check-output"]
gap = {alpha: swept.values("test_gap", method="mixup", strength=alpha) for alpha in alphas}
print(verdicts.judge("12a", "alpha 2 is too much: under-confident by more than 0.05", gap[2.0],
                     expect="below", margin=0.05))

# %% tags=["aside", "nbval-check-output"]
print(verdicts.judge("12b", "alpha 0.05 is too little: over-confident by more than 0.02", gap[0.05],
                     margin=0.02))
print(verdicts.judge("12c", "OE of alpha 2 stays below 0.005 all the same",
                     swept.values("test_oe", method="mixup", strength=2.0), expect="within", margin=0.005))

# %% [markdown]
# ## 4. Against the rivals: who chooses the strength?
#
# Every cure has a strength. To set it where the *test* error is lowest, and to report that error, is a **classic
# mistake**: the winner was also lucky. The **repair** is to choose on `cal`, and to report the same run on `test`.
# We choose by the NLL, a proper score: it counts accuracy and calibration together. The ECE alone can be lowest for a
# network that is right less often.
#
# ### Exercise: an honest choice
#
# *Difficulty: easy · importance: high · 5 minutes*
#
# `cal` and `test` are tensors of errors, (seeds, strengths). Return one number for each seed: the test
# error of the strength that a careful person would have chosen.

# %%
def my_honest_choice(cal, test):
    ...  # your code here


check.honest_choice(my_honest_choice)

# %% [markdown]
# <details><summary>Hint</summary>
#
# `cal.argmin(dim=1)` is the chosen column of each row. Take that column from `test`.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_honest_choice(cal, test):
#     best = cal.argmin(dim=1)
#     return test[torch.arange(len(test)), best]
# ```
#
# </details>

# %%
def chosen(method, column, by="cal_nll"):
    """A column of the run whose measure `by` is lowest, for each seed; strength 0 is left out."""
    table = swept.table[(swept.table.method == method) & (swept.table.strength > 0)]
    best = table.sort_values(by).drop_duplicates("seed")  # keeps the first, so the lowest, of each seed
    return best.sort_values("seed")[column].to_numpy()


rivals = ("mixup", "smoothing", "penalty")
rows = []
for method in rivals:
    for by in ("cal_nll", "cal_ece"):
        row = {"method": method, "chosen by": by, "strengths": chosen(method, "strength", by).tolist()}
        for column, head in shown.items():
            row[head] = chosen(method, column, by).mean()
        rows.append(row)
gaps = swept.table[swept.table.method == "penalty"].groupby("strength").test_gap.mean()
print("signed gap by strength of the penalty:", gaps.round(3).to_dict())
pd.DataFrame(rows).set_index(["method", "chosen by"]).round(3)

# %% tags=["nbval-check-output"]
def ahead(method, column):
    """Mixup minus a rival, both with the strength chosen on cal; rival None is no mixup."""
    rival = swept.values(column, method="mixup", strength=0.0) if method is None else chosen(method, column)
    return chosen("mixup", column) - rival


print(verdicts.judge("X1", "mixup lowers ECE by more than 0.08", ahead(None, "test_ece"),
                     expect="below", margin=0.08))

# %% tags=["aside", "nbval-check-output"]
print(verdicts.judge("X1", "mixup lowers OE by more than 0.08", ahead(None, "test_oe"),
                     expect="below", margin=0.08))
print(verdicts.judge("X1", "mixup's accuracy is higher than without", ahead(None, "test_accuracy")))
for rival in ("smoothing", "penalty"):
    print(verdicts.judge("X1", f"mixup's ECE is lower than with the {rival} by more than 0.005",
                         ahead(rival, "test_ece"), expect="below", margin=0.005))
    print(verdicts.judge("X1", f"mixup's accuracy is higher than with the {rival}",
                         ahead(rival, "test_accuracy")))
    print(verdicts.judge("12d", f"mixup's NLL is lower than with the {rival}", ahead(rival, "test_nll"),
                         expect="below"))

# %% [markdown]
# Against *no* cure the claim holds clearly. Against rivals whose strength was chosen in the same way (four strengths each, mixup has six) it does not:
# chosen by NLL, mixup's ECE is on average higher than theirs; chosen by ECE, it lies between the two (table). Mixup's
# accuracy is higher (table), and its NLL lower (folded verdicts 12d). For mixup the choice by NLL brings a larger ECE, which
# one temperature removes (section 7). A rival whose best strength lies
# between two tried ones, or beyond them, loses for that reason alone.
#
# ## 5. Which half does the work?
#
# The poster: "Merely mixing features does not give the same calibration benefit." With images alone mixed, a blend gets
# the label of the larger share. The converse, labels alone, leaves the
# images as they are, and each image's own label keeps the larger share. There the network meets the *same* image with ever
# new partners, so it can only learn the average label. This is label smoothing with $\epsilon=\mathbb{E}\min(\lambda,1-\lambda)$.

# %%
lam = mixing.draw(100_000, 0.2, per_sample=True, generator=SEED).lam
print(f"labels only, alpha 0.2, is smoothing with epsilon {torch.minimum(lam, 1 - lam).mean():.3f}; "
      f"section 4 chose {chosen('smoothing', 'strength').mean():.3f} on average")
halved = {"none": {"method": "mixup", "strength": 0.0},
          "inputs only": {"method": "inputs only", "strength": 0.2},
          "labels only": {"method": "labels only", "strength": 0.2},
          "both": {"method": "mixup", "strength": 0.2}}


def means(setting, columns):
    """Mean over the seeds of these columns, by the name in the table."""
    return {head: swept.values(column, **setting).mean() for column, head in columns.items()}


columns = {"test_confidence": "confidence", **shown}
table = pd.DataFrame({name: means(setting, columns) for name, setting in halved.items()}).T
print("mean confidence compared with none:")
for name in list(halved)[1:]:
    print(f"  {name} {table.confidence[name] - table.confidence['none']:+.1%}")
table.round(3)

# %% tags=["drawing"]
fig, axes = plt.subplots(1, 2, figsize=(7.2, 4.7))
for ax, name in zip(axes, ("inputs only", "labels only"), strict=True):
    pooled = swept.pooled("test", method=name, strength=0.2)
    counted = metrics.reliability(pooled.probs, pooled.labels)
    _ = plots.draw_reliability(counted, ax=ax, title=f"{name}, alpha 0.2", legend=ax is axes[0])

# %% tags=["nbval-check-output"]
def half(column, one, other):
    return swept.difference(column, halved[one], halved[other])


print(verdicts.judge("X3", "inputs only: not the same benefit, ECE more than 0.05 above mixup's",
                     half("test_ece", "inputs only", "both"), margin=0.05))

# %% tags=["aside", "nbval-check-output"]
print(verdicts.judge("12e", "yet inputs only: ECE is lower than without any mixing",
                     half("test_ece", "inputs only", "none"), expect="below", post_hoc=True))
print(verdicts.judge("12f", "labels only: ECE is above mixup's too", half("test_ece", "labels only", "both")))
print(verdicts.judge("12g", "inputs only: more accurate than none",
                     half("test_accuracy", "inputs only", "none")))
print(verdicts.judge("12g", "labels only: more accurate than none",
                     half("test_accuracy", "labels only", "none")))

# %% [markdown]
# - **Inputs only:** still clearly over-confident: not the same benefit, as the poster says. But its ECE is well below
#   that of no mixing.
# - **Labels only:** under-confident. But this smoothing is about three times as strong as the one that section 4 chose
#   (first line of the output).
# - **Both** (last line): labels alone lower the confidence most. With blended images added it falls less, although
#   blended images alone lower it too. We have not tested why, nor why blended images raise the accuracy.
#
# ## 6. The same strengths on other data
#
# *The second sitting begins here. Run the cells above again first.*
#
# A strength is easily copied from another data set. What if one does? (Tata et al. 2022 chose anew each time.) For
# each cure we copy the strength whose mean NLL on `cal` was lowest in section 4 to three other sets: *hard digits* (half as many, more noise), *real digits* (half as many, no noise added), and *clusters*:
# points of the plane in two classes, 10 % of the labels flipped.

# %%
on_cal = swept.table[swept.table.strength > 0].groupby(["method", "strength"]).cal_nll.mean()
usual = {method: float(on_cal[method].idxmin()) for method in rivals}
names = ("hard digits", "real digits", "clusters")
copied = [{"name": name, "method": method, "strength": strength, "seed": seed}
          for name in names for method, strength in [("mixup", 0.0), *usual.items()] for seed in seeds]
elsewhere = sweep.run(recipe, copied, device=device).measure("test_oe", overconfidence)


def cure_name(setting):
    return f"{setting['method']} {setting['strength']:g}" if setting["strength"] else "no mixup"


table = elsewhere.table
table["cure"] = [cure_name(setting) for setting in copied]
table.groupby(["name", "cure"], sort=False)[list(shown)].mean().rename(columns=shown).round(3)

# %% tags=["aside", "nbval-check-output"]
for name in names:
    mixup = {"method": "mixup", "strength": usual["mixup"]}
    for rival in ("no mixup", "smoothing", "penalty"):
        other = {"method": rival, "strength": usual[rival]} if rival in usual else mixup | {"strength": 0.0}
        change = elsewhere.difference("test_ece", mixup, other, name=name)
        print(verdicts.judge("X4", f"{name}: mixup's ECE is lower than with {rival}", change, expect="below"))

# %% [markdown]
# - **Hard digits:** the plain network is over-confident by far more. Every copied strength helps and is too small.
# - **Real digits:** the plain network is nearly always right, so its confidence is nearly deserved. Every copied cure
#   makes it under-confident, and its ECE *rises*.
# - **Clusters:** the gap of the plain network is near 0, and no copied cure lowers its ECE.
#
# Which cure is ahead changes from set to set. Alpha sets the amount of doubt. The doubt that is *justified* depends
# on the data. Nothing in mixup makes the two equal; choosing alpha on a calibration split of the same data can.
#
# ### On photographs
#
# Four alphas, six convolutions, 40,000 CIFAR-10 photographs; ± standard deviation over seeds ([stored](from_laptop_to_paper.md)).
# Under mixup the training accuracy counts a blend's first label alone: it is low.

# %%
photographs = experiments.on_photographs("mixup", SCALE, device=device)
signed = photographs.groupby("value").test_gap.mean()
print(f"{photographs.seed.nunique()} seeds; signed gap by alpha:",
      ", ".join(f"{alpha:g}: {value:+.1%}" for alpha, value in signed.items()))
experiments.shown(photographs)

# %% tags=["aside", "nbval-check-output"]
for verdict in experiments.verdicts("mixup", photographs):
    print(verdict)
by_alpha = {alpha: runs.set_index("seed") for alpha, runs in photographs.groupby("value")}
for alpha in (0.1, 0.3, 1.0):
    change, name = by_alpha[alpha] - by_alpha[0.0], f"photographs, alpha {alpha:g}"
    print(verdicts.judge("X1", f"{name}: the accuracy is higher", change.test_accuracy.tolist()))
    print(verdicts.judge("X1", f"{name}, one T each: the NLL is lower", change.scaled_nll.tolist(),
                         expect="below"))
    print(verdicts.judge("X1", f"{name}, one T each: the ECE is within 0.01", change.scaled_ece.tolist(),
                         expect="within", margin=0.01))

# %% [markdown]
# A little mixup lowers the ECE here too; much of it makes the network under-confident. After one temperature each (last
# column) little of the difference in ECE is left.
#
# Beside other cures at fixed strengths, three seeds, 20,000 photographs or MNIST digits (28 pixels):

# %%
beside = {"photographs": experiments.stored("rivals", "night"),
          "MNIST": experiments.stored("rivals", "night", dataset="mnist")}
both = pd.concat({name: experiments.shown(runs) for name, runs in beside.items()})
both.drop(columns="training accuracy, %")

# %% tags=["aside", "nbval-check-output"]
for verdict in experiments.verdicts("rivals", beside["photographs"]):
    print(verdict)
by_cure = beside["MNIST"].pivot(index="seed", columns="value", values="test_ece")
little = by_cure.pop("mixup, alpha .1")
for rival in by_cure:
    print(verdicts.judge("X4", f"MNIST: mixup's ECE is lower than with {rival}",
                         (little - by_cure[rival]).tolist(), expect="below"))

# %% [markdown]
# On photographs mixup's ECE is below all others'; against smoothing 0.05 undecided (folded). On MNIST the plain network
# needs no cure: each takes confidence away, smoothing most; mixup against none is undecided.
#
# ## 7. Against a repaired baseline, on average and image by image
#
# "Mixup halves the ECE" compares a cured network with an uncured one: a **classic mistake**. **The
# repair:** give *both* the cheapest cure, one temperature fitted on `cal` (02), and compare then.
#
# This course knows the posterior, so we look at single images too. "True error" is the true calibration
# error of lesson 02, without the luck of labels. "Distance" (*own gap* in 08) is the mean distance of an image's confidence
# from the posterior of the predicted class, "squared" the mean squared one.

# %%
def judge(probs, test):
    """Average measures, and how far each image's confidence is from the posterior."""
    confidence, predicted = probs.double().max(dim=1)
    off = confidence - test.posterior.gather(1, predicted[:, None])[:, 0]
    return {"ECE": metrics.ece(probs, test.labels), "NLL": metrics.nll(probs, test.labels),
            "true error": metrics.true_calibration_error(probs, test.posterior),
            "distance": off.abs().mean().item(), "squared": off.square().mean().item()}


judged = []
for alpha in sorted({0.0, 0.2, usual["mixup"], 2.0}):
    for outcome in swept.where(method="mixup", strength=alpha):
        cal, test = outcome.predictions["cal"], outcome.predictions["test"]
        scaler = recalibration.TemperatureScaler().fit(cal.logits, cal.labels)
        for scaling, T in (("raw", 1.0), ("scaled", scaler.temperature)):
            row = judge((test.logits / T).softmax(dim=1), test)
            row.update(alpha=alpha, scaling=scaling, T=T)
            judged.append(row)
judged = pd.DataFrame(judged)

# %%
def against(column, alpha, scaling):
    """A measure at this alpha minus the same without mixup, per seed."""
    part = judged[judged.scaling == scaling].groupby("alpha")[column]
    return part.get_group(alpha).to_numpy() - part.get_group(0.0).to_numpy()

# %% [markdown]
# **Predict before you run:** no mixup, or a large alpha: after one temperature each, which has the lower ECE, which
# the lower NLL, or are they equal?

# %% tags=["answer"]
scaled = judged[judged.scaling == "scaled"].groupby("alpha")[["ECE", "NLL"]].mean()
print(f"after scaling, alpha 0 and 2: ECE {scaled.ECE[0.0]:.1%} and {scaled.ECE[2.0]:.1%}, "
      f"NLL {scaled.NLL[0.0]:.3f} and {scaled.NLL[2.0]:.3f}")
judged.groupby(["scaling", "alpha"]).mean().round(3)

# %% tags=["aside", "nbval-check-output"]
print(verdicts.judge("12h", "both scaled, alpha 2 has the lower NLL", against("NLL", 2.0, "scaled"),
                     expect="below"))
for alpha in (0.2, 2.0):
    print(verdicts.judge("12i", f"both scaled, alpha {alpha:g} is within 0.01 ECE of no mixup",
                         against("ECE", alpha, "scaled"), expect="within", margin=0.01))
print(verdicts.judge("12j", "alpha 0.2, raw: the true error is lower by more than 0.08",
                     against("true error", 0.2, "raw"), expect="below", margin=0.08))
print(verdicts.judge("12k", "alpha 0.2, raw: the mean distance from the posterior is larger",
                     against("distance", 0.2, "raw")))
print(verdicts.judge("12l", "alpha 0.2, raw: the mean squared distance is smaller",
                     against("squared", 0.2, "raw"), expect="below", post_hoc=True))

# %% [markdown]
# Open the answer first. After scaling, the ECEs are about equal: most of what mixup did to the *confidence*,
# one number does too. What a temperature cannot give is a more accurate network, whose NLL is lower. An alpha that
# made the network clearly under-confident is usable again, since its temperature (below 1) undoes that. But
# Wang et al. (2023) find mixup networks "less calibratable".

# %% tags=["drawing"]
fig, axes = plt.subplots(1, 2, figsize=(8.6, 3.9), sharey=True)
for ax, alpha in zip(axes, (0.0, 0.2), strict=True):
    test = swept.pooled("test", method="mixup", strength=alpha)
    honest = test.posterior.gather(1, test.predicted[:, None])[:, 0]
    share = np.full(len(test), 1 / len(test))
    counts, *_, picture = ax.hist2d(test.confidence.numpy(), honest.numpy(), bins=20, weights=share,
                                    range=[[0, 1], [0, 1]], cmap="Blues", norm="log", vmin=1e-4, vmax=1)
    _ = ax.plot([0, 1], [0, 1], **palette.DIAGONAL.line())
    _ = ax.set(title=f"alpha {alpha:g}", xlabel="confidence", aspect="equal")
    sure = test.confidence > 0.9
    wrong = (honest[sure] < 0.5).double().mean()
    _ = alt_text.note(ax, f"alpha {alpha:g}: {sure.double().mean():.0%} of the images have a confidence "
                          f"above 0.9; of these the posterior is below 0.5 for {wrong:.0%}")
_ = axes[0].set_ylabel("posterior of the predicted class")
bar = fig.colorbar(picture, ax=axes, label="share of images (log scale)")
_ = alt_text.note(bar.ax, "Colour bar: share of images on a log scale")

# %% [markdown]
# - A perfect model lies on the dashed line. Neither does: at every confidence there are images whose posterior is near
#   1 (surely right) and near 0 (surely wrong).
# - **Left:** the lower right corner holds mistakes made with full certainty.
# - **Right:** such mistakes are rarer; in exchange many images along the *upper* edge have too little
#   confidence. In each bin the two kinds of error cancel.
#
# So is mixup's confidence worse image by image? That depends on which distance is taken: compared with the *raw* baseline the mean
# distance grows and the mean squared one falls; against the repaired one both fall (scaled rows of the table). Take images that look alike to the network, most with a posterior near 1, some near 0.
# It can give them only one confidence c. The mean of |c − posterior| is lowest where c is their *median*, near 1; that of the
# square where c is their *mean*, the calibrated confidence.
# Whichever is taken: a low ECE does not say that single images have the right confidence.
#
# ### Exercise: a fair comparison
#
# *Difficulty: medium · importance: high · 20 minutes*
#
# A report says: "We trained five seeds of a baseline and of mixup with alpha 0.1, 0.2, 0.4 and 0.8. The best mixup has
# a test ECE of 1.2 %, the baseline 6.0 %, OE fell to 0. Mixup calibrates." Write down what is wrong, and design a
# comparison that you would believe: splits, what is chosen where, cures, columns of the table, spread.
#
# <details><summary>Answer</summary>
#
# Wrong: alpha was chosen on the test set; the baseline got no cure; OE cannot see under-confidence; no accuracy, no
# NLL, no spread. Better: three splits. For each seed choose alpha by NLL on `cal`, for mixup and equally many
# strengths of one rival. Fit one temperature on `cal` for every network, the baseline too. Report on `test`, raw and
# scaled: accuracy, NLL, ECE, signed gap. Show paired differences over the seeds with an interval. Repeat on a second data
# set, with alpha chosen anew and with alpha copied.
#
# </details>
#
# ## 8. Pure noise, beside the exact posterior
#
# The poster shows predictions on random noise images, and concludes that mixup improves "predictive uncertainty".
# Should a calibrated network be unsure on images that show no digit? Here we can ask the exact posterior.

# %%
noise = corruptions.noise_images(2_000, size=8, channels=1, generator=SEED)
blank = data.Dataset(noise, torch.zeros(len(noise), dtype=torch.long), clean.classes)
exact = world.posterior(noise).amax(dim=1)


def on_noise(outcome):
    return training.predict(outcome.model, blank).confidence


_ = swept.measure("on_noise", lambda outcome: on_noise(outcome).mean())
_ = swept.measure("sure_on_noise", lambda outcome: (on_noise(outcome) > 0.9).double().mean())

# %% [markdown]
# **Predict before you run:** what mean confidence has the exact posterior on pure noise: near 10 %, 40 % or 70 %?

# %% tags=["answer"]
columns = {"test_confidence": "on test", "on_noise": "on noise", "sure_on_noise": "above 0.9 on noise"}
ways = [{"method": "mixup", "strength": 0.0}, {"method": "mixup", "strength": 0.2}]
ways += [{"method": method, "strength": strength} for method, strength in usual.items()]
table = {cure_name(setting): means(setting, columns) for setting in ways}
best = splits("noisy digits", SEED).test.posterior.amax(dim=1)
table["exact posterior"] = {"on test": best.mean().item(), "on noise": exact.mean().item(),
                            "above 0.9 on noise": (exact > 0.9).double().mean().item()}
sure = table["exact posterior"]["above 0.9 on noise"]
print(f"exact posterior on noise: mean confidence {exact.mean():.0%}, above 0.9 on {sure:.0%} of the images")
pd.DataFrame(table).T.round(3)

# %% tags=["drawing", "answer"]
fig, ax = plt.subplots(figsize=(5.4, 3.4))
kinds = {"exact posterior": (palette.TRUTH, [exact])}
for alpha, role in ((0.0, palette.TRAINED), (0.2, palette.CURED)):
    kinds[f"mixup {alpha:g}" if alpha else "no mixup"] = (
        role, [on_noise(outcome) for outcome in swept.where(method="mixup", strength=alpha)])
for name, (role, values) in kinds.items():
    found = torch.cat(values)
    shares = torch.histc(found.float(), bins=18, min=0.1, max=1) / len(found)
    middles = torch.linspace(0.125, 0.975, 18)
    _ = ax.plot(middles, shares, **role.line(label=f"{name}, mean {found.mean():.0%}", markersize=4))
_ = ax.set(xlabel="confidence on pure noise", ylabel="share of images")
_ = ax.legend()

# %% tags=["nbval-check-output"]
trained = swept.values("on_noise", method="mixup", strength=0.0)
print(verdicts.judge("12m", "no mixup is surer of noise than the exact posterior by more than 0.05",
                     trained - exact.mean().item(), margin=0.05, post_hoc=True))

# %% tags=["aside", "nbval-check-output"]
for setting in ways[1:]:
    values = swept.values("on_noise", **setting)
    print(verdicts.judge("12n", f"{cure_name(setting)} is less sure of noise than the exact posterior",
                         values - exact.mean().item(), expect="below", post_hoc=True))

# %% [markdown]
# Open the two answers above first. (12m is *post hoc*.) The exact
# posterior is sure of noise, and it is not wrong to be. In its world every image is one of ten digits plus Gaussian
# noise: a **closed world**. An image that lies nearer to the fours than to any other digit *is* then probably a four.
# To be calibrated means to agree with the labels of this world; it says nothing of images from outside. A network that
# doubts noise more than the posterior is not better calibrated for it. Doubt on strange inputs is a different aim: it
# needs the answer "none of these" ([13](13_shift_and_ood.ipynb)).
#
# ## Three things to take away
#
# 1. Mixup trains on blends; its labels carry a known amount of doubt, and here confidence fell as alpha grew.
# 2. The right alpha belongs to the data. Too much makes a network under-confident, which OE cannot see.
# 3. Compare like with like: strengths chosen on `cal` by a proper score, and the baseline repaired too. After
#    that, mixup led on our digits in accuracy, NLL and the distance from the posterior, not in ECE.
#
# The next lesson is [13 Shift and strange inputs](13_shift_and_ood.ipynb). If your
# digits differ, see [your numbers differ?](your_numbers_differ.md).
#
# ## Our numbers beside the papers'
#
# Ours, in per cent, on noisy digits, with strengths chosen by NLL on `cal`:

# %%
ours = [("none (cross-entropy)", averages.test_accuracy[0.0], averages.test_ece[0.0])]
for method in ("smoothing", "mixup"):
    ours.append((method, chosen(method, "test_accuracy").mean(), chosen(method, "test_ece").mean()))
pd.DataFrame(ours, columns=["cure", "accuracy", "ECE"]).set_index("cure").mul(100).round(1)

# %% [markdown]
# Those of Tata et al. 2022 (ResNet-34, all training images, no spread given):
#
# | | CIFAR-10 accuracy | ECE | CIFAR-100 accuracy | ECE |
# |---|---|---|---|---|
# | cross-entropy | 94.1 | 4.1 | 77.48 | 5.42 |
# | label smoothing, 0.03 | 94.0 | 1.84 | 77.05 | 4.88 |
# | mixup, alpha 0.1 / 0.15 | 95.1 | 2.1 | 78.68 | 3.59 |
#
# Smoothing has a lower ECE than mixup on CIFAR-10, a higher one on CIFAR-100, and the lowest accuracy on both. The
# mixup poster smooths over the *other* K - 1 classes, Tata et al. over all K, as we do.
#
# ## Recall
#
# <details><summary>1. Which alpha is "no mixup", and what happens as alpha grows without end?</summary>
#
# Towards 0 each lambda is 0 or 1 and nothing is mixed. Towards infinity lambda is always one half: the largest
# doubt, log 2 for two different classes.
#
# </details>
#
# <details><summary>2. A mixup model has OE 0.0 %. Is it calibrated?</summary>
#
# Not necessarily: OE does not see under-confidence. Look at the signed gap and the ECE as well.
#
# </details>
#
# <details><summary>3. Mixup has ECE 1 %, the baseline 14 %. After one temperature each, both have 1.3 %. What did mixup
# give?</summary>
#
# No calibration that a temperature would not give; perhaps accuracy, which no temperature gives.
#
# </details>
#
# <details><summary>4. How can the ECE fall while the mean distance from the posterior grows?</summary>
#
# In a bin, right answers with too little confidence and wrong ones with too much cancel.
#
# </details>
#
# <details><summary>5. A network is 71 % sure of pure noise. Is that a fault of its calibration?</summary>
#
# Not by itself: the exact posterior may be as sure, for it knows only the ten classes.
#
# </details>
#
# ## Go further
#
# Draw one lambda for each sample instead of one for the batch. Does the signed gap or the ECE change?
#
# <details><summary>Answer</summary>
#
# ```python
# def gentle(per_sample, seed):
#     train, cal, test = splits("noisy digits", seed)
#     mix = partial(mixing.mixup, alpha=0.2, per_sample=per_sample)
#     return training.trial(lambda: models.mlp(64, 10), train, {"test": test}, seed=seed,
#                           epochs=size.epochs, mix=mix)
#
# tried = sweep.run(gentle, {"per_sample": [False, True], "seed": seeds}, device=device)
# print(tried.table.groupby("per_sample")[["test_accuracy", "test_gap", "test_ece"]].mean())
# ```
#
# In our five seeds neither changes by more than twice its standard error.
#
# </details>
#
# ## References
#
# - Thulasidasan, Chennupati, Bilmes, Bhattacharya, Michalak: *On Mixup Training: Improved Calibration and
#   Predictive Uncertainty for Deep Neural Networks*. NeurIPS 2019.
#   [arXiv:1905.11001](https://arxiv.org/abs/1905.11001) (and its poster)
# - Zhang, Cisse, Dauphin, Lopez-Paz: *mixup: Beyond Empirical Risk Minimization*. ICLR 2018.
#   [arXiv:1710.09412](https://arxiv.org/abs/1710.09412)
# - Tata, Gudur, Chennupati, Khan: *Can Calibration Improve Sample Prioritization?* 2022.
#   [arXiv:2210.06592](https://arxiv.org/abs/2210.06592)
# - Pereyra, Tucker, Chorowski, Kaiser, Hinton: *Regularizing Neural Networks by Penalizing Confident Output
#   Distributions*. 2017. [arXiv:1701.06548](https://arxiv.org/abs/1701.06548)
# - Szegedy, Vanhoucke, Ioffe, Shlens, Wojna: *Rethinking the Inception Architecture for Computer Vision*. CVPR 2016.
#   [arXiv:1512.00567](https://arxiv.org/abs/1512.00567) (label smoothing)
# - Wang, Li, Zhao, Heng, Zhang: *On the Pitfall of Mixup for Uncertainty Calibration*.
#   [CVPR 2023](https://cvpr.thecvf.com/virtual/2023/poster/21897)
