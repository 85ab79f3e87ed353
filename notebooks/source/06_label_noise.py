# %% [markdown]
# # 06 · Label noise: sure of the wrong answers
#
# **Question.** Some of your labels are wrong. Does the network become too sure, or not sure enough?
#
# **You will be able to**
# - make symmetric and class-dependent label noise, and write down the law of each;
# - say what an *honest* model claims when its labels are noisy, and how far that lies from clean labels;
# - explain why the same network is first under- and then over-confident;
# - repair a temperature that was fitted on noisy labels.
#
# **Time.** 75 minutes with the two exercises; the cells run in about a minute.
#
# **Needs.** [02 Measuring calibration](02_measuring_calibration.ipynb).

# %%
import math
from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from scipy.optimize import minimize_scalar

from calibkit import check, claims, curation, data, experiments, explorers, metrics, models, palette
from calibkit import plots, recalibration, sweep, training
from calibkit.scale import budget

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %%
device = training.as_device(DEVICE)
size = budget(SCALE)
seeds = range(SEED, SEED + size.seeds)
K = 10  # classes
rates = [i / 20 for i in range(11)]  # 0, 0.05 ... 0.5
some = 0.3  # the noise rate that we look at closely


@cache
def digits(seed):
    return data.noisy_digits(size.train, noise=0.4, seed=seed, test=size.test)

# %% [markdown]
# Two kinds of noise meet in this lesson. *Pixel* noise makes the digits hard, as in every lesson;
# it is part of the world. *Label* noise is a mistake in the training data: somebody wrote "7" under a 1.
#
# ## 1. Noise, made on purpose
#
# The common recipe: choose a share $r$ of the training images at random, and shuffle the labels of these
# among themselves. From scratch, then the package:

# %%
train, cal, test = digits(SEED)
generator = torch.Generator().manual_seed(SEED)
count = round(some * len(train))
drawn = torch.randperm(len(train), generator=generator)[:count].sort().values
by_hand = train.labels.clone()
by_hand[drawn] = train.labels[drawn][torch.randperm(count, generator=generator)]

noisy = curation.symmetric_noise(train.labels, some, classes=K, seed=SEED)
assert torch.equal(by_hand, noisy.labels)
print(f"drawn {len(noisy.flipped) / len(train):.1%}, changed {len(noisy.changed) / len(train):.1%}")

# %% [markdown]
# Fewer labels changed than were drawn: a shuffled label may land on its own class, which happens
# about once in $K$ times. So "noise 30 %" here means about 27 % wrong labels. Some authors draw from the
# *other* classes only; check before you compare papers.
#
# ## 2. What an honest model says
#
# Suppose a reader knows the clean posterior $q(x)$: the probability of each class given the image. You now
# ask: *which label will I find written under this image?* With probability $1 - r$ the true class, with
# probability $r$ a random one (the digits are nearly balanced, so each with about $1/K$):
#
# $$\tilde q(x) = (1 - r)\, q(x) + \frac{r}{K} = q(x)\,T, \qquad T_{ij} = P(\text{label } j \mid \text{class } i).$$
#
# $T$ is the **transition matrix** of the noise (Patrini et al. 2017; no relation of the temperature). In expectation, training with
# cross-entropy rewards nothing better than stating $\tilde q$. So $\tilde q$ is what an *honest* model
# says: honest about the labels that it was taught.

# %%
matrix = (1 - some) * torch.eye(K, dtype=torch.float64) + some / K
assert torch.allclose(matrix, curation.transition_matrix(some, classes=K, form="uniform"))
honest = test.posterior @ matrix
same = (honest.argmax(dim=1) == test.posterior.argmax(dim=1)).double().mean()
print(f"honest and clean posterior favour the same digit on {same:.1%} of the images")

# %% [markdown]
# The favourite stays, so the *predictions* are as good as before. Only the confidence is different.
#
# **Predict before you run:** we judge this honest model twice, by test labels that are as noisy as the
# training labels and by clean test labels. Over- or under-confident, in each case?

# %%
given = curation.symmetric_noise(test.labels, some, classes=K, seed=SEED).labels
fig, axes = plt.subplots(1, 2, figsize=(6.4, 3.9), layout="constrained")
for ax, (name, labels) in zip(axes, {"noisy": given, "clean": test.labels}.items(), strict=True):
    counted = metrics.reliability(honest, labels)
    gap = metrics.signed_gap(honest, labels)
    _ = plots.draw_reliability(counted, title=f"{name} test labels: gap {gap:+.1%}", ax=ax,
                               legend=ax is axes[0])

# %% [markdown]
# - **Left:** on the diagonal. It tells the truth about noisy labels.
# - **Right:** the bars end above the diagonal, *under*-confident, though nothing is wrong with the model. It
#   was asked another question. It never claims more than $1 - r + r/K$.
#
# How far? If a share $a$ of the predictions is right on clean labels, then a share $(1 - r)a + r/K$ is right on
# noisy ones. So a model that is calibrated for noisy labels shows on clean labels the gap
#
# $$\Bigl((1 - r)\,a + \frac{r}{K}\Bigr) - a = -r\,\Bigl(a - \frac1K\Bigr).$$

# %%
def honest_gap(accuracy, rate):
    return -rate * (accuracy - 1 / K)


bayes = test.posterior.amax(dim=1).mean().item()
confidence = honest.amax(dim=1).mean().item()
assert abs(confidence - bayes - honest_gap(bayes, some)) < 1e-9
print(f"the honest model's gap on clean labels: {honest_gap(bayes, some):+.1%} (the figure's title "
      "uses the drawn labels, this line the posterior)")

# %% [markdown]
# Keep this negative number in mind: it is the yardstick for everything that follows.
#
# ## 3. Two sliders: the noise rate and the epoch
#
# Now real networks, trained on noisy labels: eleven rates, several seeds each. The test labels stay
# clean. (It takes most of a minute.) `training.trial` describes one training; `watch` names data that are scored
# after every epoch, `keep` those of which all logits are kept. `sweep.run` carries out one training per combination.

# %%
def network():
    return models.mlp(64, K)


@cache
def noise(rate, seed):
    return curation.symmetric_noise(digits(seed).train.labels, rate, classes=K, seed=seed)


def recipe(rate, seed):
    train, cal, test = digits(seed)
    learn = train.with_labels(noise(rate, seed).labels)
    watch = {"clean": test[:2000]}
    if rate == some:  # section 4 looks at every epoch
        watch["drawn"] = learn[noise(rate, seed).flipped]
    return training.trial(network, learn, {"cal": cal, "test": test}, seed=seed, watch=watch,
                          keep=["clean"] if rate == some else [], epochs=size.epochs)


swept = sweep.run(recipe, {"rate": rates, "seed": seeds}, device=device)

# %% [markdown]
# **Predict before you run:** an honest model becomes less sure as the noise grows. Will these networks? Will the
# bars end above the diagonal, as in the figure above, or below?

# %%
def by_rate(column):
    return np.array([swept.values(column, seed=s) for s in seeds])  # (seeds, rates)


accuracy, ece = by_rate("test_accuracy"), by_rate("test_ece")
accurate = palette.ACCURACY.named("accuracy, clean labels")
honesty = palette.TRUTH.named("honest confidence")
lines = {palette.CONFIDENCE: by_rate("test_confidence"), accurate: accuracy,
         honesty: accuracy + honest_gap(accuracy, np.array(rates))}
stops = [e for e in (1, 2, 3, 4, 6, 8, 10, 15, 20, 25, 30, 45, 60) if e <= size.epochs]

# %%
def by_epoch(rate, column):
    rows = [outcome.history[column] for outcome in swept.where(rate=rate)]
    return np.array(rows)[:, np.array(stops) - 1]  # (seeds, stops)


def frame(rate, epoch):
    diagrams = [outcome.diagrams["clean"][epoch - 1] for outcome in swept.where(rate=rate)]
    sure, a = by_epoch(rate, "clean_confidence"), by_epoch(rate, "clean_accuracy")
    curves = {palette.CONFIDENCE: sure, accurate: a, honesty: a + honest_gap(a, rate)}
    now = {role: values[:, stops.index(epoch)].mean() for role, values in curves.items()}
    learned = by_epoch(rate, "train_accuracy")[:, stops.index(epoch)].mean()
    readout = (f"noise {rate:.0%}, epoch {epoch}: right on {now[accurate]:.1%} of clean test labels and on "
               f"{learned:.1%} of its own training labels; mean confidence {now[palette.CONFIDENCE]:.1%} "
               f"(honest would be {now[honesty]:.1%})")
    return explorers.along_frame(
        explorers.pooled(diagrams), epoch, stops, curves, x_label="epoch", log_x=True,
        x_ticks=[s for s in (1, 3, 10, 30) if s <= size.epochs], readout=readout,
        title=f"label noise {rate:.0%}, epoch {epoch}")

# %%
explorers.Explorer(
    frame, explorers.Slider("noise rate", rates, show="{:.0%}".format, start=some),
    explorers.Slider("epoch", stops, start=stops[-1]), play=True,
    description="Left, the reliability diagram on clean test labels of the networks of all seeds, after the "
    "chosen epoch: a bar below the diagonal is over-confident. Right, for the chosen noise rate: accuracy, "
    "mean confidence and honest confidence against the epoch; the bands span the seeds, the grey line marks "
    "the chosen epoch.")

# %% [markdown]
# The same as figures, after the last epoch: three noise rates, then all of them.

# %%
fig, axes = plt.subplots(1, 3, figsize=(6.6, 3.1), layout="constrained")
for ax, rate in zip(axes, (0.0, 0.2, 0.5), strict=True):
    said = swept.pooled("test", rate=rate)
    _ = plots.draw_reliability(metrics.reliability(said.probs, said.labels), ax=ax,
                               title=f"noise {rate:.0%}", legend=False)

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(6.6, 2.6), layout="constrained")
for role, values in lines.items():
    _ = plots.spread(rates, values, role, ax=left)
_ = plots.spread(rates, ece, palette.group(0, "mean over seeds"), ax=right)
_ = left.set(xlabel="noise rate", ylabel="share", ylim=(0, 1))
_ = right.set(xlabel="noise rate", ylabel="ECE on clean labels", ylim=(0, None))
_ = left.legend(fontsize="small"), right.legend(fontsize="small")

# %% [markdown]
# - **The diagrams** (colours as above): below the diagonal wherever there are many samples, and deeper with more
#   noise.
# - **Confidence:** it sinks far more slowly than the accuracy. The readout says why: each network knows (nearly) *all* its training labels
#   by heart, the wrong ones too. Whoever has an answer for everything sees no reason to doubt.
# - **Honest confidence** is what a model *of that accuracy* would claim if it were calibrated for the labels it was
#   taught. It falls below the accuracy. The networks do the opposite.
#
# The claim of the paper behind this lesson is about the size of the error:

# %%
# NBVAL_CHECK_OUTPUT
steps = np.diff(ece[:, [rates.index(r) for r in (0, 0.1, 0.2, 0.3, 0.4)]], axis=1)
print(claims.verdict("D3", "ECE on clean labels is larger with noise 0.4 than with none", steps.sum(1)))
print(claims.verdict("D3", "even the smallest rise between 0, 0.1, 0.2, 0.3 and 0.4", steps.min(1)))
fall = swept.difference("test_accuracy", {"rate": 0.4}, {"rate": 0.0})
print(claims.verdict("06a", "noise 0.4 costs at least 10 points of accuracy", fall,
                     expect="below", margin=0.1))

# %% [markdown]
# ### What the ECE hides
#
# **Predict before you run:** which has the larger ECE on clean labels at noise 0.4: the networks that learned
# wrong labels by heart, or the honest model?

# %%
def honest_ece(seed, rate):
    test, law = digits(seed).test, noise(rate, seed).transition
    return metrics.ece(test.posterior @ law, test.labels)


perfect = np.array([[honest_ece(s, r) for r in (0.0, 0.4)] for s in seeds])
print(f"honest {perfect[:, 1].mean():.1%}, networks {ece[:, rates.index(0.4)].mean():.1%}")

# %%
# NBVAL_CHECK_OUTPUT
print(claims.verdict("06b", "noise 0.4 raises the honest model's ECE on clean labels, too",
                     perfect[:, 1] - perfect[:, 0]))
print(claims.verdict("06c", "at 0.4 it is even larger than the networks'",
                     perfect[:, 1] - ece[:, rates.index(0.4)]))

# %% [markdown]
# So "label noise raises the ECE on clean labels" is true of a perfect model as well. The ECE has no sign: it cannot
# tell *knows nothing of the mistakes and shouts* from *knows the mistakes and holds back*. Look at the
# gap, and measure against both truths. Since we know the posterior, no luck of labels is involved:

# %%
def true_error(outcome, law=None):
    said = outcome.predictions["test"]
    truth = said.posterior if law is None else said.posterior @ law
    return metrics.true_calibration_error(said.probs, truth)


swept.measure("true error, clean", true_error)
swept.measure("true error, noisy", lambda o: true_error(o, noise(**o.setting).transition))
columns = ["test_gap", "test_ece", "true error, clean", "true error, noisy"]
swept.table.groupby("rate")[columns].mean().iloc[::2].round(3)

# %% [markdown]
# The estimate on clean labels agrees with its truth. Against the *noisy* truth the error is larger at every rate above
# zero: these networks are dishonest even about the very labels that they were taught.
#
# ## 4. First too modest, then too sure
#
# The same networks at noise 0.3, epoch by epoch. Whether predictions agree with noisy labels can be computed from
# the accuracy $a$ on clean ones: it is $(1 - r) a + r/K$, as above.

# %%
histories = [outcome.history for outcome in swept.where(rate=some)]
a, sure, learned = (np.array([h[c] for h in histories])
                    for c in ("clean_accuracy", "clean_confidence", "drawn_accuracy"))
at = np.unique(np.geomspace(1, size.epochs, 20).round().astype(int)) - 1  # a marker at some epochs
fig, (left, right) = plt.subplots(1, 2, figsize=(6.8, 2.8), layout="constrained")
without = np.array([o.history.clean_confidence - o.history.clean_accuracy for o in swept.where(rate=0.0)])
gaps = {"on clean test labels": sure - a, "on noisy test labels": sure - a - honest_gap(a, some),
        "trained without noise": without}
for style, (name, gap) in enumerate(gaps.items()):
    _ = plots.spread(at + 1, gap[:, at], palette.group(style, name), ax=left)
_ = left.axhline(0, ls="--", color=palette.GREY)
_ = plots.spread(at + 1, a[:, at], palette.group(0, "right on clean test labels"), ax=right)
_ = plots.spread(at + 1, learned[:, at], palette.group(3, "says a training image's shuffled label"), ax=right)
for ax, what in ((left, "signed gap"), (right, "share")):
    _ = ax.set(xlabel="epoch", ylabel=what, xscale="log", ylim=(None, None if ax is left else 1.3))
    _ = ax.set_xticks([1, 3, 10, 30], [1, 3, 10, 30])
    _ = ax.legend(fontsize="small", loc="upper left")
    ax.minorticks_off()

# %%
moments = {"stopped early": size.epochs // 10, "in between": size.epochs // 4, "to the end": size.epochs}
labels = torch.cat([outcome.trial.watch["clean"].labels for outcome in swept.where(rate=some)])
fig, axes = plt.subplots(1, 3, figsize=(6.6, 3.1), layout="constrained")
for ax, (name, epoch) in zip(axes, moments.items(), strict=True):
    logits = torch.cat([outcome.logits["clean"][epoch - 1] for outcome in swept.where(rate=some)])
    counted = metrics.reliability(logits.softmax(dim=1), labels)
    _ = plots.draw_reliability(counted, ax=ax, title=f"{name}: epoch {epoch}", legend=False)

# %% [markdown]
# - **Early.** The network learns what many images share, and the clean labels agree with each other while the
#   wrong ones do not. It says few of the shuffled labels. On clean labels it is under-confident, and more so than the
#   network without noise at that time: *every* training begins too modest (notebook 03), this one has also met
#   labels that contradict each other. On *noisy* labels its gap is just passing through zero: on average it
#   is near honest, bin by bin it need not be.
# - **In between.** The gap on clean labels passes through zero. This is no sign of health: the modesty that noisy labels
#   teach and the over-confidence of memorising cancel. On noisy labels the network is too sure by now, and its accuracy
#   is already falling.
# - **Late.** It says the shuffled labels, too: it has memorised. What it learned by heart carries no doubt, so the
#   gap is positive whichever labels you take.
#
# So the sign tells *when* the training was stopped as much as how noisy the labels are:

# %%
# NBVAL_CHECK_OUTPUT
first, last = size.epochs // 10 - 1, size.epochs - 1
gap = sure - a
print(claims.verdict("06d", "noise 0.3, stopped at a tenth: under-confident on clean labels",
                     gap[:, first], expect="below"))
print(claims.verdict("06j", "more so than without noise at that time", gap[:, first] - without[:, first],
                     expect="below"))
print(claims.verdict("06e", "there its gap on noisy labels is within 5 points of zero",
                     (gap - honest_gap(a, some))[:, first], expect="within", margin=0.05))
print(claims.verdict("06f", "noise 0.3, trained to the end: over-confident on clean labels", gap[:, last]))
print(claims.verdict("06g", "the network stopped early is the more accurate", a[:, first] - a[:, last]))

# %% [markdown]
# ## 5. When some classes are noisier
#
# People confuse some classes more than others. The paper's model: class $i$ has a rate $p_i$, evenly spaced from 0 to
# 0.5 in a random order of the classes. A share $p_i$ of its labels is drawn, and each becomes class $j$ with
# probability $p_j / \sum_k p_k$ (in our reading possibly its own again; the paper leaves it open). (Mind the order: row = true class, column = label.)
#
# ### Exercise: the transition matrix
#
# *Difficulty: medium · importance: high · 10 minutes*
#
# Write $T_{ij} = P(\text{label } j \mid \text{class } i)$ for this noise, from the vector `p`.

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
# We train on it. Digits differ in difficulty anyway, so each class is compared with itself without noise.

# %%
@cache
def class_noise(seed):
    return curation.classwise_noise(digits(seed).train.labels, 0.5, classes=K, seed=seed)


def class_recipe(seed):
    train, _, test = digits(seed)
    learn = train.with_labels(class_noise(seed).labels)
    return training.trial(network, learn, {"test": test}, seed=seed, epochs=size.epochs)


by_class = sweep.run(class_recipe, {"seed": seeds}, device=device)


def per_class(said, group, seed):
    """ECE of each class, from the cleanest to the noisiest; group: the class of each image."""
    order = class_noise(seed).rates.argsort()
    chosen = [group == k for k in order]
    return [metrics.ece(said.probs[c], said.labels[c]) if c.any() else 0.0 for c in chosen]

# %%
def both(seed, group):
    runs = by_class.one(seed=seed), swept.one(rate=0.0, seed=seed)
    said = [run.predictions["test"] for run in runs]
    return [per_class(one, getattr(one, group), seed) for one in said]


ramp = np.linspace(0, 0.5, K)
found = {group: np.array([both(s, group) for s in seeds]) for group in ("labels", "predicted")}
added = {group: errors[:, 0] - errors[:, 1] for group, errors in found.items()}
fig, (left, right) = plt.subplots(1, 2, figsize=(6.6, 2.6), layout="constrained")
for i, (name, style) in enumerate({"class-dependent noise": 3, "the same classes, no noise": 0}.items()):
    _ = plots.spread(ramp, found["labels"][:, i], palette.group(style, name), ax=left)
for (group, name), style in zip({"labels": "of", "predicted": "predicted as"}.items(), (2, 4), strict=True):
    _ = plots.spread(ramp, added[group], palette.group(style, f"images {name} the class"), ax=right)
_ = right.axhline(0, ls="--", color=palette.GREY)
_ = left.set(xlabel="noise rate of the class", ylabel="ECE, images of the class", ylim=(0, None))
_ = right.set(xlabel="noise rate of the class", ylabel="ECE that noise adds")
_ = left.legend(fontsize="small"), right.legend(fontsize="small")

# %% [markdown]
# - **Left:** wide bands, since in every seed other digits are the noisy ones, and digits differ. The two lines
#   meet at the clean classes and part towards the noisy ones. Even a perfect model would not
#   show zeros here: to know the true class is to know more than the image tells. Of the true 3s, those that it
#   reads as a 3 with 80 % are *all* right.
# - **Right:** the difference, class by class. Among the images *predicted* as a class a perfect model would show
#   zeros, so we look at both groupings. Both rise with the noise of the class.

# %%
# NBVAL_CHECK_OUTPUT
worst = found["labels"][:, 0, -3:].mean(axis=1) - found["labels"][:, 0, :3].mean(axis=1)
print(claims.verdict("D4", "ECE of the three noisiest classes exceeds that of the three cleanest", worst))
for group, name in (("labels", "true"), ("predicted", "predicted")):
    slope = [np.polyfit(ramp, one, 1)[0] for one in added[group]]
    print(claims.verdict("D4", f"what noise adds to a class's ECE grows with its rate ({name} class)", slope))

# %% [markdown]
# ## 6. The classic mistake: to repair with noisy labels
#
# A network that is too sure can be cooled: divide its logits by a *temperature*, fitted on the `cal` split
# (notebook 08, planned). **The mistake:** the `cal` labels come from the same careless source as the training labels.
#
# The repairs: label a few hundred images carefully; or, if you know the transition matrix, fit *through* it.
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
#     chance = (probs @ transition).gather(1, labels[:, None])
#     return -chance.log().mean()
# ```
#
# </details>
#
# This is the *forward correction* of Patrini et al. (2017), here for one number only.

# %%
def noisy_nll(probs, law, labels):
    return metrics.nll(probs @ law, labels)


def temperatures(seed):
    said = swept.one(rate=some, seed=seed).predictions["cal"]
    taught = curation.symmetric_noise(said.labels, some, classes=K, seed=seed)
    fit = recalibration.TemperatureScaler().fit

    def through(log_t):
        cooled = (said.logits.double() / math.exp(log_t)).softmax(dim=1)
        return noisy_nll(cooled, taught.transition, taught.labels)

    best = minimize_scalar(through, bounds=(-2, 5), method="bounded")
    return {"nothing": 1.0, "noisy labels": fit(said.logits, taught.labels).temperature,
            "clean labels": fit(said.logits, said.labels).temperature,
            "noisy labels, through the matrix": math.exp(best.x)}

# %% [markdown]
# **Predict before you run:** fitted on noisy labels, is the cooled network over- or under-confident on clean ones?

# %%
rows = []
for seed in seeds:
    said = swept.one(rate=some, seed=seed).predictions["test"]
    for name, t in temperatures(seed).items():
        gap = metrics.signed_gap((said.logits / t).softmax(dim=1), said.labels)
        rows.append({"fitted on": name, "temperature": t, "gap on clean labels": gap})
fitted = pd.DataFrame(rows)
print(f"honest would be {honest_gap(swept.values('test_accuracy', rate=some).mean(), some):+.3f}")
fitted.groupby("fitted on", sort=False).agg(["mean", "min", "max"]).round(3)

# %%
# NBVAL_CHECK_OUTPUT
after = fitted.set_index("fitted on")["gap on clean labels"]
print(claims.verdict("06h", "fitted on noisy labels: at least 10 points under-confident",
                     after["noisy labels"], expect="below", margin=0.1))
for name in ("clean labels", "noisy labels, through the matrix"):
    print(claims.verdict("06i", f"fitted on {name}: the gap is within 5 points of zero", after[name],
                         expect="within", margin=0.05))

# %% [markdown]
# Fitted on noisy labels, the temperature teaches the network to expect wrong labels: a doubt that clean labels do not
# deserve. It even overshoots the honest gap. Our reading: noisy labels punish every class probability below $r/K$, and the only way
# a temperature can lift the small ones is to flatten everything, the largest included. Through the matrix, the noise explains the wrong labels and the
# temperature has to explain only the network's own errors. But none of the repairs brings back the accuracy.
#
# ## 7. On photographs
#
# A small network on a few thousand photographs (ResNet-8, 2,500 images of CIFAR-10, three seeds, on a CPU). At `smoke`
# and `laptop` the table is stored; `SCALE = "gpu"` trains it anew, larger
# ([from laptop to paper](from_laptop_to_paper.md)).

# %%
photographs = experiments.on_photographs("noise", SCALE, device=device)
experiments.shown(photographs)

# %%
# NBVAL_CHECK_OUTPUT
print(experiments.verdict("noise", photographs))

# %% [markdown]
# Nobody knows the posterior of a photograph: here only the estimate is left. This network is far from having learned its
# images by heart. Read the sign of the gap before the size of the ECE: with section 4 in mind, what does it tell about
# the training?
#
# ## 8. Beside the paper
#
# | | paper (*Dataset Curation Beyond Accuracy*) | here |
# |---|---|---|
# | data | CIFAR-10, CIFAR-100, EuroSAT, iNaturalist | noisy digits, posterior known |
# | network | ResNet-50, 160 epochs, crop and flip | 2 x 256 ReLU, no augmentation |
# | symmetric noise | 0, 0.1 ... 0.4 (its figure 2) | 0, 0.05 ... 0.5 |
# | class-dependent | $p_i$ from 0 to 0.5 (its figure 3) | the same |
# | repetitions | 5, mean and standard deviation | as many seeds as the verdicts say |
# | result | ECE rises with noise "across datasets"; noisier classes are worse | the verdicts above |
#
# It shows these results as curves without a table, so there is no number of its own to print. It reports the ECE, which has no
# sign, and leaves open whether the ECE of a class is taken over the images *of* the class or those *predicted* as it.
#
# And people? CIFAR-10N (Wei et al. 2022) holds labels for CIFAR-10 collected from workers on Amazon Mechanical Turk. Its
# authors show that human noise depends on the *image*, not on the class alone: no single matrix
# $T$ describes it. Then fitting through a matrix is an approximation, and careful labels are the safer repair.
#
# ## Three things to take away
#
# 1. An honest model of noisy labels is *under*-confident on clean ones, by $r(a - 1/K)$. Over-confidence under label
#    noise comes from memorising.
# 2. So the sign of the gap depends on when training stops. ECE alone cannot tell the two apart.
# 3. Calibrate with clean labels, or through the transition matrix; never with labels as noisy as those that you trained on.
#
# ## Recall
#
# <details><summary>1. Noise rate 0.2 by shuffling, ten balanced classes. What share of labels is wrong?</summary>
#
# About 0.2 * 9/10 = 18 %.
#
# </details>
#
# <details><summary>2. What is the highest confidence that an honest model can state then?</summary>
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
# <details><summary>4. A network trained on noisy labels has a gap of zero on clean test labels. Well done?
# </summary>
#
# Not necessarily. It may be on its way from under- to over-confident, too sure of noisy labels already. Its error
# against the noisy posterior would tell.
#
# </details>
#
# <details><summary>5. Why is the early network right about images whose training labels are wrong?</summary>
#
# It has learned what many images share. The wrong labels disagree with one another, the clean ones do not.
#
# </details>
#
# <details><summary>6. On clean labels one model is over-confident and another under-confident. Both are now tested on
# noisy labels. Which one looks better calibrated than before?</summary>
#
# The under-confident one: noise lowers the measured accuracy, and brings it down to its modest claims.
#
# </details>
#
# ## Go further
#
# Which early epoch would you choose if you had noisy labels only? Plot NLL against *noisy* validation labels over the epochs
# of section 4. Then train on *clean* labels with `functools.partial(losses.label_smoothing,
# alpha=some)`: its targets have the same mean as noisy labels. Does the network end up as honest? If your digits differ from those printed here, see
# [your numbers differ?](your_numbers_differ.md).
#
# ## References
#
# - *Dataset Curation Beyond Accuracy*. Anonymous authors, paper under double-blind review. (section 3, figures 2 and 3)
# - Patrini, Rozza, Menon, Nock, Qu: *Making Deep Neural Networks Robust to Label Noise: a Loss Correction Approach*.
#   CVPR 2017. [arXiv:1609.03683](https://arxiv.org/abs/1609.03683) (forward correction)
# - Zhang, Bengio, Hardt, Recht, Vinyals: *Understanding deep learning requires rethinking generalization*. ICLR 2017.
#   [arXiv:1611.03530](https://arxiv.org/abs/1611.03530) (networks fit random labels)
# - Arpit et al.: *A Closer Look at Memorization in Deep Networks*. ICML 2017.
#   [arXiv:1706.05394](https://arxiv.org/abs/1706.05394) (shared patterns first)
# - Wei, Zhu, Cheng, Liu, Niu, Liu: *Learning with Noisy Labels Revisited: A Study Using Real-World Human Annotations*.
#   ICLR 2022. [arXiv:2110.12088](https://arxiv.org/abs/2110.12088) (CIFAR-10N)
