# %% [markdown]
# # 12 · Mixup: training on blends
#
# **Question.** A network that is trained on blends of two images, with blended labels, is said to be better
# calibrated. Is it, which half of the blend does the work, and how far may one go?
#
# **You will be able to**
# - write mixup in four lines, and say how much doubt it puts into the labels;
# - read the road from over- to under-confidence as alpha grows;
# - compare it fairly: with label smoothing, with a confidence penalty, and with a repaired baseline;
# - tell calibration *on average* from being right about each single image.
#
# **Time.** 60 minutes with the two exercises; the cells run in a little over a minute.
#
# **Needs.** [02 Measuring calibration](02_measuring_calibration.ipynb).

# %%
from functools import cache, partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from torch.nn.functional import one_hot

from calibkit import check, claims, corruptions, data, experiments, explorers, losses, metrics
from calibkit import mixing, models, palette, plots, recalibration, sweep, training
from calibkit.scale import budget

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %%
device = training.as_device(DEVICE)
size = budget(SCALE)
seeds = list(range(SEED, SEED + size.seeds))

# %% [markdown]
# ## 1. Two digits in one image
#
# **Mixup** (Zhang et al. 2018) replaces every training batch by blends. Each sample gets a partner from the same
# batch, and both image and label become weighted means:
#
# $$\tilde x = \lambda x_i + (1 - \lambda) x_j \qquad \tilde y = \lambda y_i + (1 - \lambda) y_j$$
#
# Here is one pair, without noise (above) and as the network of this course meets it (below).

# %%
world = data.NoisyDigits(0.4)
clean = data.digits(seed=SEED).train
pair = torch.stack([clean.inputs[clean.labels == digit][0] for digit in (3, 7)])
noisy = pair + world.noise * torch.randn(pair.shape, generator=torch.Generator().manual_seed(SEED))
fig, axes = plt.subplots(2, 6, figsize=(9, 3.4), layout="constrained")
for column, lam in zip(axes.T, (1.0, 0.8, 0.6, 0.4, 0.2, 0.0), strict=True):
    for ax, (one, two), edge in zip(column, (pair, noisy), (0.0, 0.5), strict=True):
        _ = ax.imshow((lam * one + (1 - lam) * two)[0], cmap="gray_r", vmin=-edge, vmax=1 + edge)
        _ = ax.axis("off")
    _ = column[0].set_title(f"{lam:.0%} three\n{1 - lam:.0%} seven", fontsize=9)

# %% [markdown]
# - **Outer columns:** nearly one digit; the label says so.
# - **Middle columns:** a ghost of two digits. No such image occurs in a test. The label does not pretend
#   otherwise: 60 % of one class, 40 % of the other.
# - **Lower row:** two independent noises average out, so the middle is also *cleaner* than any real image.
#
# From scratch, then the package. It draws partners as a permutation, and one $\lambda$ for the whole batch.

# %%
inputs, labels = world.draw(128, seed=SEED).inputs, world.draw(128, seed=SEED).labels
drawn = mixing.draw(len(inputs), alpha=0.4, generator=SEED)
lam, partner = drawn.lam, drawn.partner
rows = one_hot(labels, 10).float()
mixed = lam * inputs + (1 - lam) * inputs[partner]
soft = lam * rows + (1 - lam) * rows[partner]
package = mixing.mixup(inputs, labels, classes=10, alpha=0.4, generator=SEED)
assert torch.allclose(mixed, package[0], atol=1e-6) and torch.allclose(soft, package[1])
torn = soft[(labels != labels[partner]).nonzero()[0, 0]]
print(f"lambda {lam:.2f}; a label of this batch is now", torn.numpy().round(2))

# %% [markdown]
# ### Exercise: mixed labels
#
# *Difficulty: easy · importance: high · 5 minutes*
#
# From labels (n,), the index of each sample's partner (n,), the number lam and the number of classes to the
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
# $\lambda$ is drawn from a Beta(alpha, alpha) distribution. An ordinary label is certain: its entropy is 0. A
# mixed one has the entropy $H(\lambda) = -\lambda \log \lambda - (1 - \lambda) \log(1 - \lambda)$, at most
# $\log 2 = 0.69$ nats, or none if both samples are of one class.
#
# **Predict before you run:** which alpha leaves most labels as they were, 0.1 or 2?

# %%
def label_entropies(alpha, seed=SEED, n=2 * size.test):
    """Entropies of n mixed labels of ten equally likely classes, and the weights behind them."""
    drawn = mixing.draw(n, alpha, per_sample=True, generator=seed)
    labels = torch.randint(10, (n,), generator=torch.Generator().manual_seed(seed))
    return metrics.entropy(drawn.soft_labels(labels, 10)), drawn.lam


fig, axes = plt.subplots(2, 3, figsize=(7.6, 3.5), layout="constrained", sharex="row")
for (above, below), alpha in zip(axes.T, (0.1, 0.4, 2.0), strict=True):
    entropy, lam = label_entropies(alpha)
    shares = torch.full((len(lam),), 1 / len(lam))
    _ = above.hist(lam, bins=20, range=(0, 1), weights=shares, color=palette.SKY, edgecolor="white")
    _ = above.set(title=f"alpha {alpha}", xlabel="lambda", ylim=(0, 0.6))
    _ = below.hist(entropy, bins=20, range=(0, 0.7), weights=shares, color=palette.ORANGE, edgecolor="white")
    _ = below.axvline(entropy.mean(), color=palette.BLACK, ls="--", label=f"mean {entropy.mean():.2f}")
    _ = below.set(xlabel="entropy of the label (nats)", ylim=(0, 1))
    _ = below.legend()
_ = [ax.set_ylabel("share") for ax in axes[:, 0]]

# %% [markdown]
# - **Small alpha:** $\lambda$ is nearly always close to 0 or 1. Most labels stay certain, few become doubtful.
# - **Large alpha:** $\lambda$ gathers around one half, and most labels are torn between two classes. The bar
#   at 0 that remains holds the pairs of one class.
#
# The mean has a closed form. Since $\mathbb{E}[\lambda \log \lambda] = \frac{1}{2}(\psi(\alpha + 1) -
# \psi(2\alpha + 1))$ with the digamma function $\psi$, and one pair in K shares its class,
#
# $$\mathbb{E}\,H = \left(1 - \frac{1}{K}\right)\bigl(\psi(2\alpha + 1) - \psi(\alpha + 1)\bigr)$$

# %%
alphas = [0.0, 0.05, 0.1, 0.2, 0.4, 1.0, 2.0]
a = torch.tensor(alphas[1:], dtype=torch.float64)
by_hand = 0.9 * (torch.digamma(2 * a + 1) - torch.digamma(a + 1))
assert torch.allclose(by_hand, mixing.label_entropy(a, classes=10))
doubt = dict(zip(alphas, [0.0, *by_hand.tolist()], strict=True))
print("mean label entropy:", {alpha: round(value, 3) for alpha, value in doubt.items()})

# %%
# NBVAL_CHECK_OUTPUT
for alpha in (0.1, 0.4, 2.0):
    off = [label_entropies(alpha, s)[0].mean().item() - doubt[alpha] for s in seeds]
    print(claims.verdict("X2", f"the labels' mean entropy is within 0.01 of the closed form, alpha {alpha}",
                         off, expect="within", margin=0.01))

# %% [markdown]
# ## 3. Trained at every alpha
#
# The claim (Thulasidasan et al. 2019, whose poster we follow): mixup lowers ECE *and* overconfidence error (OE), and
# costs no accuracy. Now the networks: mixup at six alphas (0 stands for no mixup), and two rivals. **Label smoothing**
# takes a part $\epsilon$ of every label and spreads it evenly. The **confidence penalty** (ERL, entropy-regularised
# loss) subtracts a weight times the entropy of the prediction from the loss. The two "only" variants are for section 5.

# %%
def own_labels(inputs, labels, *, classes, alpha, generator):
    """Images as they are; the label keeps the larger share, a random partner gets the rest."""
    drawn = mixing.draw(len(inputs), alpha, generator=generator, device=inputs.device)
    larger = torch.maximum(drawn.lam, 1 - drawn.lam)
    return inputs, mixing.Mix(larger, drawn.partner).soft_labels(labels, classes)


CURES = {
    "mixup": lambda alpha: {"mix": partial(mixing.mixup, alpha=alpha)},
    "smoothing": lambda epsilon: {"loss": partial(losses.label_smoothing, alpha=epsilon)},
    "penalty": lambda weight: {"loss": partial(losses.confidence_penalty, weight=weight)},
    "inputs only": lambda alpha: {"mix": partial(mixing.mixup, alpha=alpha, mix="inputs")},
    "labels only": lambda alpha: {"mix": partial(own_labels, alpha=alpha)},
}
strengths = {"mixup": alphas, "smoothing": [0.02, 0.03, 0.04, 0.05], "penalty": [0.1, 0.2, 0.3, 0.5],
             "inputs only": [0.2], "labels only": [0.2]}

# %%
@cache
def splits(name, seed):
    """train, cal, test of a data set; equal calls share their tensors."""
    half = size.train // 2
    if name == "real digits":
        train, cal, test = data.digits(seed=seed)
        return data.Splits(train[:half], cal, test)
    n, noise = {"noisy digits": (size.train, 0.4), "hard digits": (half, 0.5)}[name]
    return data.noisy_digits(n, noise, seed, test=size.test)


def recipe(method, strength, seed, name="noisy digits"):
    train, cal, test = splits(name, seed)
    change = CURES[method](strength) if strength else {}
    return training.trial(lambda: models.mlp(64, 10), train, {"cal": cal, "test": test}, seed=seed,
                          epochs=size.epochs, **change)


grid = [{"method": method, "strength": strength, "seed": seed}
        for method, values in strengths.items() for strength in values for seed in seeds]
swept = sweep.run(recipe, grid, device=device)

# %%
def rated(runs):
    """The sweep with a column for the overconfidence error."""
    return runs.measure("test_oe", lambda o: metrics.overconfidence_error(
        o.predictions["test"].probs, o.predictions["test"].labels))


def on_training(outcome):
    """Mean confidence on the unmixed training images."""
    train = splits("noisy digits", outcome.setting["seed"]).train
    return training.predict(outcome.model, train).confidence.mean()


rated(swept).measure("train_confidence", on_training)
shown = {"test_accuracy": "accuracy", "test_gap": "signed gap", "test_ece": "ECE", "test_oe": "OE"}
table = swept.table[swept.table.method == "mixup"].groupby("strength")
table[[*shown, "train_confidence"]].mean().rename(columns=shown).rename_axis("alpha").round(3)

# %% [markdown]
# **Predict before you run:** push the slider from alpha 0 to 2. What moves, the accuracy or the confidence?
# And does it stop where the two meet?

# %%
def runs(column):  # (seeds, alphas)
    return np.stack([swept.values(column, method="mixup", strength=alpha) for alpha in alphas], axis=1)


lines = {palette.ACCURACY: runs("test_accuracy"), palette.CONFIDENCE: runs("test_confidence"),
         palette.group(6, "ECE"): runs("test_ece"), palette.OVER.named("OE"): runs("test_oe")}


def frame(alpha):
    said = swept.pooled("test", method="mixup", strength=alpha)
    mean = {role.words: values.mean(axis=0)[alphas.index(alpha)] for role, values in lines.items()}
    gap = mean["mean confidence"] - mean["accuracy"]
    readout = (f"label entropy {doubt[alpha]:.2f} nats; accuracy {mean['accuracy']:.1%}, "
               f"ECE {mean['ECE']:.1%}, OE {mean['OE']:.1%}, signed gap {gap:+.1%}")
    return explorers.along_frame(
        metrics.reliability(said.probs, said.labels), doubt[alpha], list(doubt.values()), lines,
        x_label="mean label entropy (nats)", x_ticks=(0, 0.1, 0.2, 0.3, 0.4, 0.5), readout=readout,
        title=f"mixup, alpha {alpha:g}" if alpha else "no mixup")


explorers.Explorer(
    frame, explorers.Slider("alpha", alphas, show="{:g}".format),
    description="Left, the reliability diagram of the networks of all seeds for one alpha: a bar below the "
    "diagonal is over-confident. Right, against the mean entropy of the labels at each alpha: accuracy, mean "
    "confidence, ECE and OE; the bands span the seeds, the grey line marks the chosen alpha.")

# %% [markdown]
# The still twin: three diagrams, then the curves.

# %%
fig, axes = plt.subplots(1, 3, figsize=(9.6, 4.3), layout="constrained")
for ax, alpha in zip(axes, (0.0, 0.2, 2.0), strict=True):
    said = swept.pooled("test", method="mixup", strength=alpha)
    counted = metrics.reliability(said.probs, said.labels)
    _ = plots.draw_reliability(counted, ax=ax, title=f"alpha {alpha:g}", legend=ax is axes[0])

# %%
fig, axes = plt.subplots(1, 2, figsize=(8.4, 3.1), layout="constrained")
for place, (role, values) in enumerate(lines.items()):
    _ = plots.spread(list(doubt.values()), values, role, ax=axes[place // 2])
for ax in axes:
    _ = ax.set_xlabel("mean label entropy (nats), alpha above")
    _ = ax.legend()
    above = ax.secondary_xaxis("top")
    _ = above.set_xticks(list(doubt.values()), [f"{alpha:g}" for alpha in alphas])

# %% [markdown]
# - **Diagrams:** the bars climb from far below the diagonal onto it, and then past it.
# - **Curves, left:** accuracy rises a little and then stays. Mean confidence falls steeply at first, and goes on falling.
#   Where the two cross, the signed gap is zero.
# - **Curves, right:** ECE falls to that crossing and *rises again*: beyond it the network is under-confident. OE does not
#   see this side. Whoever reports OE alone can be fooled by any model that is shy enough.
# - **Why:** the labels forbid certainty. In the table above the confidence falls on the *training* images too,
#   which the network could know by heart.

# %%
# NBVAL_CHECK_OUTPUT
gap = {alpha: swept.values("test_gap", method="mixup", strength=alpha) for alpha in alphas}
print(claims.verdict("12a", "alpha 0.05 is too little: over-confident by more than 0.02", gap[0.05],
                     margin=0.02))
print(claims.verdict("12b", "alpha 2 is too much: under-confident by more than 0.05", gap[2.0],
                     expect="below", margin=0.05))
shy = swept.values("test_oe", method="mixup", strength=2.0)
print(claims.verdict("12c", "OE of alpha 2 stays below 0.005 all the same", shy,
                     expect="within", margin=0.005))

# %% [markdown]
# (Directions and margins were fixed on other seeds than those that run here.)
#
# **What it costs.** No time to speak of. But the training accuracy in the log loses its meaning (a blend has no one
# right class), certainty goes even where it was deserved, and there is a dial to set.
#
# ## 4. Against the rivals: who chooses the strength?
#
# Every cure has a dial. To set it where the *test* error is least, and report that error, is a **classic mistake**:
# the winner was also lucky. The **repair** is to choose on `cal`, and to report the same run's error on `test`.
#
# ### Exercise: an honest choice
#
# *Difficulty: easy · importance: high · 5 minutes*
#
# `cal` and `test` hold errors, (seeds, strengths). For each seed return the test error of the strength that a
# careful person would have chosen.

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
def chosen(method, column, by="cal_ece"):
    """Per seed a column of the run whose ECE on the split `by` is least, alpha 0 left out."""
    dial = [s for s in strengths[method] if s]
    errors, wanted = (np.stack([swept.values(c, method=method, strength=s) for s in dial], axis=1)
                      for c in (by, column))
    return wanted[np.arange(len(seeds)), errors.argmin(axis=1)]


print("strengths chosen:", {m: chosen(m, "strength").tolist() for m in ("mixup", "smoothing", "penalty")})
for method in ("mixup", "smoothing", "penalty"):
    print(f"{method:9}  ECE chosen on cal {chosen(method, 'test_ece').mean():.2%}, "
          f"on test {chosen(method, 'test_ece', by='test_ece').mean():.2%}")
by_strength = swept.table[swept.table.method.isin(["smoothing", "penalty"])].groupby(["method", "strength"])
by_strength[list(shown)].mean().rename(columns=shown).round(3)

# %%
# NBVAL_CHECK_OUTPUT
def ahead(method, column):
    """Mixup minus a rival, both with the strength chosen on cal; rival None is no mixup."""
    rival = swept.values(column, method="mixup", strength=0.0) if method is None else chosen(method, column)
    return chosen("mixup", column) - rival


for what, column in (("ECE", "test_ece"), ("OE", "test_oe")):
    print(claims.verdict("X1", f"mixup lowers {what} by more than 0.08", ahead(None, column),
                         expect="below", margin=0.08))
print(claims.verdict("X1", "mixup's accuracy is higher than without", ahead(None, "test_accuracy")))
for rival in ("smoothing", "penalty"):
    print(claims.verdict("X1", f"mixup's ECE is lower than with the {rival} by more than 0.005",
                         ahead(rival, "test_ece"), expect="below", margin=0.005))
print(claims.verdict("X1", "its accuracy is within 0.01 of the smoothing's",
                     ahead("smoothing", "test_accuracy"), expect="within", margin=0.01))
print(claims.verdict("X1", "its accuracy is higher than with the penalty",
                     ahead("penalty", "test_accuracy")))

# %% [markdown]
# Against *no* cure the claim holds with room to spare. Against cures whose dial is set with care little is
# left: where a verdict says `INCONCLUSIVE`, five seeds cannot tell the two apart in ECE, and accuracy decides. Such a
# contest is only as fair as its dials: a rival whose best strength lies between two of those tried loses for that reason alone.
# The penalty's dial is the most delicate: hardly any effect and far too much lie among the few strengths tried.
#
# ## 5. Which half does the work?
#
# The poster's answer: the soft labels. It does not say which hard label a blend gets when images alone are mixed; we
# give it that of the larger share. The converse, labels alone, leaves the images as they are. There the network meets
# the *same* image with ever new partners, so it can only learn the average: label smoothing by another name,
# with $\epsilon = \mathbb{E}\min(\lambda, 1 - \lambda)$.

# %%
lam = mixing.draw(100_000, 0.2, per_sample=True, generator=SEED).lam
print(f"labels only, alpha 0.2, is smoothing with epsilon {torch.minimum(lam, 1 - lam).mean():.3f}")
halves = {"none": ("mixup", 0.0), "inputs only": ("inputs only", 0.2),
          "labels only": ("labels only", 0.2), "both": ("mixup", 0.2)}
for name, (method, strength) in halves.items():
    setting = {"method": method, "strength": strength}
    print(f"{name:11}", "  ".join(f"{shown[column]} {swept.values(column, **setting).mean():6.1%}"
                                  for column in shown))
fig, axes = plt.subplots(1, 2, figsize=(6.6, 4.3), layout="constrained")
for ax, name in zip(axes, ("inputs only", "labels only"), strict=True):
    said = swept.pooled("test", method=name, strength=0.2)
    counted = metrics.reliability(said.probs, said.labels)
    _ = plots.draw_reliability(counted, ax=ax, title=f"{name}, alpha 0.2", legend=ax is axes[0])

# %%
# NBVAL_CHECK_OUTPUT
def half(column, one, other):
    one, other = (dict(zip(("method", "strength"), halves[name], strict=True)) for name in (one, other))
    return swept.difference(column, one, other)


print(claims.verdict("X3", "inputs only: ECE more than 0.05 above mixup's",
                     half("test_ece", "inputs only", "both"), margin=0.05))
print(claims.verdict("X3", "inputs only: ECE is not lowered (within 0.02 of none)",
                     half("test_ece", "inputs only", "none"), expect="within", margin=0.02))
print(claims.verdict("12d", "labels only: ECE is above mixup's too", half("test_ece", "labels only", "both")))
for one, other in (("inputs only", "labels only"), ("labels only", "none")):
    print(claims.verdict("12e", f"{one}: more accurate than {other}", half("test_accuracy", one, other)))

# %% [markdown]
# - **Inputs only:** still clearly over-confident, as the paper says. Yet here it is not true that mixing
#   images does nothing for calibration: if the second verdict is `REVERSED`, the ECE fell far all the same.
#   Where images are few, as here, any new ones are worth much, and blends are hard to learn by heart.
# - **Labels only:** the same doubt without the extra images overshoots into under-confidence.
# - **Both:** each half lowers the over-confidence and each can raise the accuracy; the labels do more for the
#   first, the images for the second.
#
# ## 6. The same strengths on other data
#
# Few people set a dial anew for every data set; they copy it. We do the same, with the strength of each cure whose
# mean ECE on `cal` was least above, on two sets of half as many images: the *real digits* without any noise
# (easy), and *hard digits* with more noise.

# %%
on_cal = swept.table[swept.table.strength > 0].groupby(["method", "strength"]).cal_ece.mean()
usual = {method: float(on_cal[method].idxmin()) for method in ("mixup", "smoothing", "penalty")}
copied = [{"name": name, "method": method, "strength": strength, "seed": seed}
          for name in ("real digits", "hard digits")
          for method, strength in [("mixup", 0.0), *usual.items()] for seed in seeds]
elsewhere = rated(sweep.run(recipe, copied, device=device))
rows = elsewhere.table.groupby(["name", "method", "strength"], sort=False)
rows[list(shown)].mean().rename(columns=shown).round(3)

# %%
# NBVAL_CHECK_OUTPUT
for name in ("hard digits", "real digits"):
    mixup = {"method": "mixup", "strength": usual["mixup"]}
    for rival in ("no mixup", "smoothing", "penalty"):
        other = {"method": rival, "strength": usual[rival]} if rival in usual else mixup | {"strength": 0.0}
        change = elsewhere.difference("test_ece", mixup, other, name=name)
        print(claims.verdict("X4", f"{name}: mixup's ECE is lower than with {rival}", change, expect="below"))

# %% [markdown]
# - **Hard digits:** the plain network is over-confident by far more, and a dose that was right above helps but is
#   too small. What lies between the cures hangs on the copied doses (smoothing by 0.05 instead came out ahead of
#   mixup): luck rather than merit.
# - **Real digits:** the plain network is nearly always right, so that its certainty is nearly deserved. Mixup takes
#   it away all the same: ECE *rises*, by under-confidence. (500 test images: each ECE is a little too high, see
#   notebook 02, yet a change this large is not noise.)
#
# The dose of doubt is set by alpha. The doubt that is *due* is set by the data. Nothing in mixup makes the two
# meet; a calibration split does. Of the paper's own sets CIFAR-10 follows in section 10.
#
# ## 7. The classic mistake: a treated model against an untreated one
#
# "Mixup halves the ECE" compares a cured network with one that nobody tried to cure. **The repair:** give *both* the
# cheapest cure there is, one temperature fitted on `cal` (notebook 02, section 1), and compare then.
#
# **Predict before you run:** of no mixup, the usual alpha and alpha 2, which wins after scaling?

# %%
def scaled(outcome):
    """Temperature fitted on cal, and the test probabilities that it gives."""
    cal = outcome.predictions["cal"]
    scaler = recalibration.TemperatureScaler().fit(cal.logits, cal.labels)
    return scaler.temperature, scaler.probs(outcome.predictions["test"].logits)


def distance(said, truth):
    """Mean Kullback-Leibler divergence of the predictions from the posterior, nats."""
    return (torch.special.xlogy(truth, truth) - truth * said.double().log()).sum(dim=1).mean().item()


def each(said, truth):
    """Mean distance of an image's confidence from the posterior of the predicted class."""
    sure, predicted = said.double().max(dim=1)
    return (sure - truth.gather(1, predicted[:, None])[:, 0]).abs().mean().item()


MEASURES = {"ECE": lambda p, t: metrics.ece(p, t.labels), "NLL": lambda p, t: metrics.nll(p, t.labels),
            "true error": lambda p, t: metrics.true_calibration_error(p, t.posterior),
            "KL": lambda p, t: distance(p, t.posterior), "each": lambda p, t: each(p, t.posterior)}

# %%
three = sorted({0.0, usual["mixup"], 2.0})
judged = []
for alpha in three:
    for outcome in swept.where(method="mixup", strength=alpha):
        test = outcome.predictions["test"]
        for scaling, (T, said) in (("raw", (1.0, test.probs)), ("scaled", scaled(outcome))):
            said = said.clamp(min=1e-30)  # keeps the logarithms of the divergence finite
            row = {name: measure(said, test) for name, measure in MEASURES.items()}
            judged.append({"alpha": alpha, "scaling": scaling, "T": T, **row})
judged = pd.DataFrame(judged)
judged.groupby(["scaling", "alpha"]).mean().round(3)

# %%
# NBVAL_CHECK_OUTPUT
def against(column, alpha, scaling):
    """A measure at this alpha minus the same without mixup, per seed."""
    part = judged[judged.scaling == scaling]
    one, none = (part.loc[part.alpha == value, column].to_numpy() for value in (alpha, 0.0))
    return one - none


print(claims.verdict("12f", "both scaled, the usual alpha is within 0.01 ECE of no mixup",
                     against("ECE", usual["mixup"], "scaled"), expect="within", margin=0.01))
print(claims.verdict("12g", "both scaled, alpha 2 has the lower NLL", against("NLL", 2.0, "scaled"),
                     expect="below"))
print(claims.verdict("12h", "both scaled, alpha 2 is nearer to the posterior (KL)",
                     against("KL", 2.0, "scaled"), expect="below"))

# %% [markdown]
# After scaling the calibration errors are level: most of what mixup did to the *confidence*, one number does too.
# What a temperature cannot give is the rest: a more accurate network, whose NLL is lower. And the alpha
# that was much too shy on its own is welcome again, since its temperature (below 1) undoes the shyness.
# On photographs the balance can come out otherwise: Wang et al. (2023) find mixup networks "less calibratable",
# so that a repaired plain network can be the better one.
#
# ## 8. Right on average, image by image wrong
#
# The lines **true error**, **KL** and **each** in the table use what only this course has, the posterior.
# "True error" is the ECE without the luck of labels. KL and "each" look at single images: how far is this
# prediction from what an honest reader would say?

# %%
fig, axes = plt.subplots(1, 2, figsize=(8.6, 3.9), layout="constrained", sharey=True)
for ax, alpha in zip(axes, three[:2], strict=True):
    test = swept.pooled("test", method="mixup", strength=alpha)
    honest = test.posterior.gather(1, test.predicted[:, None])[:, 0]
    share = torch.full((len(test),), 1 / len(test))
    counts, *_, picture = ax.hist2d(test.confidence, honest, bins=20, range=[[0, 1], [0, 1]], weights=share,
                                    cmap="Blues", norm="log", vmin=1e-4, vmax=1)
    _ = ax.plot([0, 1], [0, 1], "--", color=palette.GREY)
    _ = ax.set(title=f"alpha {alpha:g}", xlabel="confidence", aspect="equal")
_ = axes[0].set_ylabel("posterior of the predicted class")
_ = fig.colorbar(picture, ax=axes, label="share of images (log scale)")

# %% [markdown]
# - A perfect model would lie on the dashed line. Neither does. The posterior is mostly near 1 (the prediction is
#   right beyond doubt) or near 0 (it is wrong beyond doubt), and at every confidence both kinds occur.
# - **Left:** nearly all images at confidence 1. Those in the upper corner are served well; those in the lower right
#   corner are mistakes made with full certainty.
# - **Right:** the mass is spread. Confident mistakes are rarer; in exchange many images along the *upper* edge
#   lost a confidence that they deserved. In each bin the two kinds of error cancel.

# %%
# NBVAL_CHECK_OUTPUT
print(claims.verdict("12i", "mixup's true calibration error is lower by more than 0.08",
                     against("true error", usual["mixup"], "raw"), expect="below", margin=0.08))
print(claims.verdict("12j", "yet its confidence is farther from the posterior, image by image",
                     against("each", usual["mixup"], "raw")))
print(claims.verdict("12k", "in KL, which abhors confident mistakes, it is nearer by more than 0.2",
                     against("KL", usual["mixup"], "raw"), expect="below", margin=0.2))

# %% [markdown]
# So mixup repairs the average while it moves the typical confidence *away* from the truth. It is not alone in this:
# compare the two entries of alpha 0 under "each", where a temperature does the same. A mean absolute distance
# is no proper score (notebook 02), it favours whoever is bold and mostly right. Which of the two measures should count
# depends on the price of a confident mistake. Either way: to be calibrated is not to know.
#
# ## 9. A preview: pure noise
#
# Notebook 13 (planned) leaves the test set. One step ahead: images that show nothing at all. A sensible network
# should be unsure. The AUROC says how well the confidence tells test images from noise (1 always, 0.5 not at all).

# %%
noise = corruptions.noise_images(2_000, size=8, channels=1, generator=SEED)
blank = data.Dataset(noise, torch.zeros(len(noise), dtype=torch.long), clean.classes)
swept.measure("on_noise", lambda o: training.predict(o.model, blank).confidence.mean())
swept.measure("auroc", lambda o: metrics.auroc(
    o.predictions["test"].confidence, training.predict(o.model, blank).confidence))
ways = [("mixup", 0.0), *usual.items()]
pd.DataFrame({f"{method} {strength:g}": {
    column: swept.values(column, method=method, strength=strength).mean()
    for column in ("test_confidence", "on_noise", "auroc")} for method, strength in ways}).T.round(3)

# %%
# NBVAL_CHECK_OUTPUT
fall = [swept.difference("on_noise", {"method": m, "strength": s}, {"method": "mixup", "strength": 0.0})
        for m, s in usual.items()]
for method, change in zip(usual, fall, strict=True):
    print(claims.verdict("12l", f"{method}: confidence on noise falls by more than 0.15", change,
                         expect="below", margin=0.15))

# %% [markdown]
# All three lower it, so this is no privilege of mixup. None comes near 10 %, which is what a guess among ten classes
# deserves.
#
# ## 10. On photographs
#
# The same medicine for a small network on photographs (ResNet-8, 2,500 images of CIFAR-10, three seeds, on a CPU). At `smoke` and
# `laptop` the table is stored; `SCALE = "gpu"` trains it anew, larger ([from laptop to paper](from_laptop_to_paper.md)).

# %%
photographs = experiments.on_photographs("mixup", SCALE, device=device)
experiments.shown(photographs)

# %%
# NBVAL_CHECK_OUTPUT
print(experiments.verdict("mixup", photographs))

# %% [markdown]
# As in section 3, a small alpha takes over-confidence away and alpha 1 overshoots. How much is right depends on the gap
# without mixup, which is far larger on the hard digits of section 6.
#
# ## The papers' figures beside ours
#
# The mixup poster gives its results as pictures. Tata et al. (2022) give numbers, in per cent (ResNet-34, all training images,
# no spread given). Ours are in section 4.
#
# | | CIFAR-10 accuracy | ECE | CIFAR-100 accuracy | ECE |
# |---|---|---|---|---|
# | cross-entropy | 94.1 | 4.1 | 77.48 | 5.42 |
# | focal loss, gamma 1 | 94.69 | 1.71 | 78.59 | 3.57 |
# | label smoothing, 0.03 | 94.0 | 1.84 | 77.05 | 4.88 |
# | mixup, alpha 0.1 / 0.15 | 95.1 | 2.1 | 78.68 | 3.59 |
#
# There mixup halves the CIFAR-10 ECE and gains a point of accuracy. Smoothing and focal loss have the lower ECE; the poster's text
# nevertheless calls smoothing the "least performance". The mixup poster smooths over the *other* K - 1 classes, Tata et
# al. over all K, as we do.
#
# ## Three things to take away
#
# 1. Mixup trains on blends; its labels carry a known amount of doubt, and confidence falls with it. Alpha is a dose.
# 2. The right dose belongs to the data. Too much makes under-confident, which OE cannot see.
# 3. Compare like with like: strengths chosen on `cal`, and the baseline repaired too. What remains of mixup then is
#    accuracy rather than calibration.
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
# Not necessarily: OE forgives under-confidence. Look at the signed gap and the ECE as well.
#
# </details>
#
# <details><summary>3. Why is "labels only" the same as label smoothing?</summary>
#
# Without mixed images the network sees one image with many labels and learns their mean: the larger share for its own
# class, the rest spread over random partners.
#
# </details>
#
# <details><summary>4. May one measure the calibration of a mixup model on mixed test images?</summary>
#
# No: such images do not occur, and "the" label of a blend is not one class. Mixing belongs to the training.
#
# </details>
#
# <details><summary>5. Mixup has ECE 1 %, the baseline 14 %. After one temperature each, both have 1.3 %. What did mixup
# give?</summary>
#
# No calibration that a temperature would not give; perhaps accuracy, which no temperature gives.
#
# </details>
#
# <details><summary>6. Why did mixup raise the ECE on the real digits?</summary>
#
# There the plain network is nearly always right and its certainty nearly deserved. Mixup lowers the confidence whether
# or not doubt is due.
#
# </details>
#
# <details><summary>7. How can the ECE fall while most predictions move away from the truth?</summary>
#
# ECE averages within a bin. Right answers that are now too unsure and wrong answers that are still too sure cancel.
#
# </details>
#
# ## Go further
#
# Draw one lambda for each sample (`per_sample=True`), or put `mixing.cutmix` in the place of mixup. Mixing in the embedding
# space, for text, comes in notebook 15 (planned). If your digits differ, see
# [your numbers differ?](your_numbers_differ.md).
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
# - Zhang, Deng, Kawaguchi, Zou: *When and How Mixup Improves Calibration*. ICML 2022.
#   [arXiv:2102.06289](https://arxiv.org/abs/2102.06289)
