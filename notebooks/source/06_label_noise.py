# %% [markdown]
# # 06 · Label noise: what wrong labels do to confidence
#
# **Question.** A clinic trains a network on its old X-ray reports, and one report in five is wrong. A new patient
# comes in. Will the network be too sure, or not sure enough?

# %% tags=["drawing"]
from calibkit.course import explorers

explorers.stored("noisy_labels")

# %% [markdown]
# Move the slider: more and more labels are shuffled. Left: twelve digits over their labels; a wrong label has a cross.
# Right: the exact probability of each label for the first image (under pixel noise, as the networks see it).
#
# **You will be able to**
# - say what wrong labels teach, and by how much;
# - say why a network may end too sure instead;
# - repair the confidence with labels that are wrong themselves, and spend a few careful labels well.
#
# **Time.** 45 minutes; 10 more for the homework.
#
# **Needs.** [02 Measuring calibration](02_measuring_calibration.ipynb), and the map of [03](03_overconfidence.ipynb).
#
# **Next on your path.** *Six evenings*: [08](08_temperature.ipynb). *Teaching*: [17](17_audit_your_model.ipynb).

# %% tags=["drawing"]
import math
from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from scipy.optimize import minimize_scalar

from calibkit import curation, losses, metrics, recalibration
from calibkit.course import check, claims, experiments, verdicts
from calibkit.course.experiments import fresh
from calibkit.course.scale import begin
from calibkit.lab import data, models, sweep, training
from calibkit.metrics import plane
from calibkit.pictures import alt_text, palette, plots

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% [markdown]
# ## 1. Wrong labels, made on purpose
#
# **Label noise** means mistakes in the labels of the training images, such as "7" under a 1. To study it we make it, by
# **symmetric label noise**: choose a share $r$ of the training images at random, and shuffle their labels among them.
# The share $r$ is the **noise rate**. By chance about one shuffled label in ten comes out right, so
# fewer labels are wrong:

# %%
size, seeds, device = begin(SCALE, SEED, DEVICE)
K = 10  # classes


def noise(labels, rate, seed=SEED):
    return curation.symmetric_noise(labels, rate, classes=K, seed=seed)


train, cal, test = data.noisy_digits(size.train, noise=0.4, seed=SEED, test=size.test)
noisy = noise(train.labels, 0.2)
print(f"shuffled {len(noisy.flipped) / len(train):.1%}, wrong {len(noisy.changed) / len(train):.1%}")

# %% tags=["drawing"]
sharp = data.noisy_digits(size.train, noise=1e-6, seed=SEED, calibration=1, test=1).train
clear = torch.nonzero((train.posterior.amax(dim=1) - 0.85).abs() < 0.04)[:, 0]
chosen = torch.cat([clear[:1], torch.arange(11)])
order = np.random.default_rng(SEED + 2).permutation(12).tolist()
shuffled = noise(train.labels, 1.0, SEED + 2).labels[chosen].tolist()


def labelled(rate):
    true = train.labels[chosen].tolist()
    given = [new if place < 12 * rate else old for place, new, old in zip(order, shuffled, true, strict=True)]
    pictures = sharp.inputs[chosen, 0].numpy()
    return explorers.labels_frame(pictures, true, given, train.posterior[chosen[0]], rate)


explorers.keep(explorers.Explorer(
    labelled,
    explorers.Slider("noise rate", [k / 10 for k in range(11)], show=lambda r: f"{100 * r:.0f} %", start=0.2),
    description="Left, twelve clean digits over the labels that they were given; a wrong label is bold and has a "
    "cross. Right, for the first image, the exact probability of each label: bars with wrong labels, diamonds "
    "without. The broken line marks ten labels that are equally likely."), "noisy_labels")

# %% [markdown]
# ## 2. What a wrong label teaches
#
# Look at the slider's bars again. *Which label stands under this image?* With probability $1 - r$ it is the true
# class. With probability $r$ it is a random one. So the bars move towards $1/K$:
#
# $$\tilde q(x) = (1 - r)\, q(x) + \frac{r}{K}$$
#
# Here $q(x)$ is the exact posterior of the image, known for our digits, and $\tilde q(x)$ is called the **noisy
# posterior**. A network that learns noisy labels perfectly says $\tilde q(x)$: in expectation, cross-entropy on them is
# lowest there.
#
# **Predict before you run:** the true labels of new images judge the noisy posterior. Is it too sure, right, or not
# sure enough?

# %% tags=["answer"]
some = 0.3  # the rate that we look at closely
given = noise(test.labels, some).labels
reader = (1 - some) * test.posterior + some / K
for name, labels in {"labels with the same noise": given, "true labels": test.labels}.items():
    sure, right = reader.amax(dim=1).mean(), metrics.accuracy(reader, labels)
    print(f"{name}:  {sure:.1%} sure, {right:.1%} right, difference {sure - right:+.1%}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# It is *not sure enough*, by far: it expects wrong labels, but the new patient has a true diagnosis. For labels with the
# same noise it is calibrated.
#
# </details>
#
# If such a reader is right on a share $a$ of the true labels, its *difference* (confidence minus accuracy) on them is
#
# $$-\,r\,\Bigl(a - \frac1K\Bigr).$$
#
# With the numbers above: $-0.3\,(95.6 - 10) = -25.7$ points.
#
# <details><summary>Why?</summary>
#
# A share $(1 - r)a + r/K$ of its answers agrees with noisy labels. It is calibrated for these labels, so this share is
# also its mean confidence. Subtract $a$.
#
# </details>
#
# **Your turn.** Set the rate to 0.8, say what the difference will be, and run. Is the answer still the same digit?

# %%
rate = 0.5  # change me
reader = (1 - rate) * test.posterior + rate / K
best = test.posterior.amax(dim=1).mean().item()  # the accuracy to expect
same = (reader.argmax(dim=1) == test.posterior.argmax(dim=1)).double().mean()
print(f"difference {metrics.signed_gap(reader, test.labels):+.1%}, by the formula "
      f"{-rate * (best - 1 / K):+.1%}; the same digit on {same:.1%} of the images")

# %% [markdown]
# ## 3. What a network does
#
# A reader that learns wrong labels perfectly is not sure enough. Is a network such a reader? We train networks at six
# noise rates. The labels of the new images stay true (*clean*, where a cell prints them).

# %%
rates = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]


@cache
def digits(seed):
    return data.noisy_digits(size.train, noise=0.4, seed=seed, test=size.test)


# %%
def recipe(rate, seed):
    train, cal, new = digits(seed)
    noisy = noise(train.labels, rate, seed)
    learn, noisy_cal = train.with_labels(noisy.labels), cal.with_labels(noise(cal.labels, rate, seed).labels)
    watch = {"clean": new[:2000], "noisy_cal": noisy_cal}  # judged after every epoch
    if rate == some:
        watch["shuffled"] = learn[noisy.flipped]
    score = {"train": learn, "cal": cal, "test": new}  # judged at the end
    return training.trial(lambda: models.mlp(64, K), learn, score, seed=seed, watch=watch, epochs=size.epochs)


swept = sweep.run(recipe, {"rate": rates, "seed": seeds}, device=device)

# %% [markdown]
# **Predict before you run:** 30 % of the labels are shuffled. Is the network too sure or not sure enough on true labels,
# after a tenth of its training and at the end?

# %% tags=["answer"]
early, end = size.epochs // 10, size.epochs
course = pd.concat([run.history for run in swept.where(rate=some)]).groupby("epoch").mean()
for epoch in (early, end):
    now = course.loc[epoch]
    sure, right = now.clean_confidence, now.clean_accuracy
    print(f"epoch {epoch}: {sure:.0%} sure, {right:.0%} right, difference {sure - right:+.1%}")
    print(f"   the formula says {-some * (right - 1 / K):+.1%}")
    print(f"   it predicts {now.shuffled_accuracy:.0%} of the shuffled labels")

# %% [markdown]
# <details><summary>What came out</summary>
#
# Early it is not sure enough, by as much as the formula says: it behaves like the perfect reader. At the end it predicts
# all shuffled labels: it has **memorised** them. It is right on all training images, so more confidence makes their loss
# lower. On new images it is then too sure.
#
# </details>
#
# Move through the training (logarithmic axis) and the noise rates.

# %% tags=["drawing"]
stops = [e for e in (1, 2, 3, 4, 6, 8, 10, 15, 20, 30, 45, 60) if e <= size.epochs]
accurate = palette.ACCURACY.named("accuracy, clean labels")


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


slider = explorers.Explorer(
    frame, explorers.Slider("noise rate", rates, start=some, show="{:.0%}".format),
    explorers.Slider("epoch", stops, start=stops[0]), play=True,
    description="Left, the reliability diagram on clean test labels of the networks of all seeds: slanted lines "
    "are over-confident, dots under-confident. Right, against the epoch: mean confidence and accuracy. "
    "Bands span the seeds; the grey line marks the chosen epoch.")
explorers.keep(slider, "label_noise")
slider

# %% [markdown]
# Where the two curves cross, the difference is zero. But the accuracy is already falling there, so zero does not show a
# good network.
#
# **When would you stop?** You have only *noisy* labels. The figure has their loss (NLL) at 30 % noise, on images kept
# aside (`cal`). Choose an epoch, set `stop`, and see what your patients get. (A *verdict* is the mean over seeds with its
# 95 % interval.)

# %% tags=["drawing"]
runs = np.stack([run.history.noisy_cal_nll for run in swept.where(rate=some)])
epochs = np.arange(1, size.epochs + 1)
fig, ax = plt.subplots(figsize=(5.2, 2.6))
_ = plots.spread(epochs, runs, palette.group(0, "noisy labels, images kept aside"), ax=ax)
_ = ax.set(xlabel="epoch", ylabel="loss (NLL)", xscale="log", ylim=(0, None))
ticks = [epoch for epoch in (1, 3, 5, 10, 30, 60) if epoch <= size.epochs]
_ = ax.set_xticks(ticks, ticks), ax.minorticks_off()
_ = ax.legend(fontsize="small")
lowest = runs.mean(axis=0).argmin()
_ = alt_text.note(ax, f"Loss on noisy labels kept aside, against the epoch: {runs.mean(axis=0)[0]:.2f} after the "
                  f"first, lowest {runs.mean(axis=0)[lowest]:.2f} after epoch {epochs[lowest]}, "
                  f"{runs.mean(axis=0)[-1]:.2f} after the last. The band spans the seeds.")
plt.show()

# %%
stop = size.epochs  # change me
history = swept.one(rate=some, seed=SEED).history.set_index("epoch").loc[stop]
sure, right = history.clean_confidence, history.clean_accuracy
print(f"stopped after epoch {stop}: right on {right:.1%} of the true labels, difference {sure - right:+.1%}")

# %% tags=["nbval-check-output"]
first = [run.history.iloc[early - 1] for run in swept.where(rate=some)]
gaps = [score.clean_confidence - score.clean_accuracy for score in first]
print(verdicts.judge("06b", "noise 0.3, stopped at a tenth: under-confident on clean labels", gaps,
                     expect="below", as_trained=True))
print(claims.concluded("06", "06b"))

# %% [markdown]
# <details><summary>What came out</summary>
#
# The loss is lowest after epoch 5. Near it the network is more accurate: 69 % right after epoch 6, 62 % at the end. But it
# is 17.5 points *under*-confident on true labels. The lowest loss on noisy labels makes it right for noisy labels, not
# for your patients.
#
# </details>
#
# ## 4. Which one wins?
#
# Why does the network end too sure? At epoch 60 (section 3) the formula says -15 points, but we measured +21.
# Something else adds 36 points.
#
# On the map all labels are noisy, on new images too. The network agrees with 100 % of the training labels, and with
# $a - r(a - 1/K) = 62 - 0.3\,(62 - 10)$ = 46 % of the new ones. So the network loses $x$ = 54 points. But it is 82 %
# sure of new images, 36 points more than 46 %. So of 54 lost points it still claims 36: kappa = 36/54 = 0.67. Together:
#
# $$\text{confidence} - \text{accuracy} \;=\; \underbrace{\kappa\, x}_{\text{lost, still claimed}}
# \;-\; \underbrace{r\,\bigl(a - \tfrac1K\bigr)}_{\text{doubt taught by labels}}$$
#
# The left side is for true labels. The equation always holds, because $\kappa$ is defined so. The second term is there even
# for a perfect reader. The first is large for a network that memorises.
#
# **Predict before you run:** our digits are few and hard. Now six convolutional layers learn 40,000 photographs, or 40,000
# clear digits (MNIST). At 20 % noise, is the difference on true labels positive, negative or about zero for each?

# %% tags=["answer", "drawing"]
def parts(rate, rows):
    """Both terms, as means over the networks: what is claimed, and the doubt."""
    right, sure = rows.test_accuracy, rows.test_accuracy + rows.test_gap
    doubt = -rate * (right.mean() - 1 / K)
    claimed = sure.mean() - (right.mean() + doubt)
    return claimed, doubt


tables = {"digits": swept.table.rename(columns={"rate": "value"}),
          "photographs": experiments.on_photographs("noise", SCALE, device=device),
          "MNIST": experiments.stored("noise", "night", dataset="mnist")}
fig, axes = plt.subplots(1, 3, figsize=(9, 3.2), sharey=True)
up, down = palette.OVER.named("lost, still claimed"), palette.UNDER.named("doubt taught by labels")
for ax, (name, table) in zip(axes, tables.items(), strict=True):
    words = []
    for place, rate in enumerate((0.0, 0.2, 0.4)):
        claimed, doubt = parts(rate, table[table.value == rate])
        _ = ax.bar(place, claimed, 0.6, **up.area(label=up.words if place == 0 else None))
        _ = ax.bar(place, doubt, 0.6, **down.area(label=down.words if place == 0 else None))
        _ = ax.plot(place, claimed + doubt, "D", color="black", label="the difference" if place == 0 else None)
        words.append(f"noise {rate:.0%}: {claimed:+.1%} claimed, {doubt:+.1%} doubt, together {claimed + doubt:+.1%}")
    _ = ax.axhline(0, color="black", lw=0.8)
    _ = ax.set(title=name, xlabel="noise rate", xticks=[0, 1, 2], xticklabels=["0 %", "20 %", "40 %"])
    _ = alt_text.note(ax, f"{name}, {'; '.join(words)}.")
    print(f"{name}: {words[1]}")
_ = axes[0].set(ylabel="confidence - accuracy, true labels")
plots.percent(axes[0], "y", unit="points")
_ = axes[2].legend(fontsize="x-small", loc="upper right")
plt.show()

# %% [markdown]
# <details><summary>What came out</summary>
#
# All three: plus on digits, about zero on photographs, minus on MNIST. The doubt is 12 to 18 points. What is still claimed
# differs more: 29, 12 and 2 points. The digits network memorises, so it loses and claims much. The MNIST network loses
# nearly nothing.
#
# </details>
#
# Can you predict the sign? Take kappa from networks trained *without* noise. From the noisy networks take only their
# accuracies. Put both into the equation. We tested this on 10,000 photographs, on seeds kept for it. (The verdict's
# number, the difference times the predicted sign, should be above zero.) At noise 0.2 the prediction has a clear sign; at 0.4 it is
# near zero, and its own interval holds both signs: there the verdict judges the sign of its mean alone. Both predictions are too high by about two points.

# %% tags=["nbval-check-output"]
table = fresh.foretold(fresh.stored())  # photographs, on seeds kept for this test
most = table[table.value == 0.4]
print(verdicts.judge("06h", "photographs, noise 0.4: the sign of the gap is the foretold one",
                     most.test_gap * np.sign(most.foretold.mean())))
print(claims.concluded("06", "06h"))

# %% [markdown]
# All networks on the map of lesson 03:

# %% tags=["drawing"]
def places(rate, rows):
    """Where networks lie whose new data have labels as noisy as their training labels."""
    right = rows.test_accuracy + -rate * (rows.test_accuracy - 1 / K)
    sure = rows.test_accuracy + rows.test_gap
    return [plane.place(*row) for row in zip(rows.train_accuracy, right, sure, strict=True)]


shown = {"40,000 photographs" if name == "photographs" else name: rows for name, rows in tables.items()}
shown["10,000 photographs"] = table
where = {}
for name, one in shown.items():
    where[name] = [spot for rate, rows in one.groupby("value") for spot in places(rate, rows)]
_ = plots.plane({palette.group(k, name): spots for k, (name, spots) in enumerate(where.items())})

# %% [markdown]
# With more noise the digits move outwards along a line; MNIST stays near zero, and loses too little for a kappa. The map
# counts accuracy against noisy labels. For true labels move a dot down by $r(a - 1/K)$: the digits stay above zero, and
# MNIST ends far below.
#
# All this is about labels shuffled at random. People's mistakes depend on the image, which the formula does not allow for.
#
# ## 5. Repair
#
# At the end of its training the network is too sure. One number, a temperature $T$, can repair this: it divides all
# logits, and is fitted on images kept aside. But in the clinic their labels are wrong, too (here r = 0.3 in both). So compare these labels
# with what the network says *seen through the noise*. The **transition matrix** $N$ has a row for each true class: the
# probability of each label. (Here it has about $1 - r + r/K$ on its diagonal, $r/K$ elsewhere.) For each image the
# network says how probable each true class is: a row $p$. The product $pN$ says how probable each noisy label is. To
# compare labels with $pN$ is called **forward correction**.
#
# ### Exercise: the loss seen through the noise
#
# *Difficulty: medium · importance: high · 8 minutes*
#
# `probs` (n, K) are probabilities of the true class, `transition` is $N$, `labels` are noisy. Write the mean NLL of
# these labels, in nats.

# %%
def my_noisy_nll(probs, transition, labels):
    ...  # your code here


check.noisy_nll(my_noisy_nll)

# %% [markdown]
# <details><summary>Hint</summary>
#
# The distribution of the label is `probs @ transition`. Pick each row's entry at its label with
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
# **Predict before you run:** first $T$ is fitted on the noisy labels as they are. Is the network then too sure or not sure
# enough on true labels?

# %% tags=["answer", "drawing"]
def through_the_matrix(logits, transition, labels):
    def loss(log_t):
        cooled = logits.double() / math.exp(log_t)
        return losses.forward_corrected(cooled, labels, transition=transition).item()

    return math.exp(minimize_scalar(loss, bounds=(-2, 5), method="bounded").x)


def clinic(for_test, rate=0.2, draws=100):
    """Repeat the whole plan with other images: what is left of the difference, what the test says."""
    run, left, widths = swept.one(rate=rate, seed=SEED), [], []
    held, new = run.predictions["cal"], run.predictions["test"]
    luck = torch.Generator().manual_seed(SEED)
    for _ in range(draws):
        spent = torch.randperm(len(held.labels), generator=luck)[: 500 - for_test]
        T = recalibration.TemperatureScaler().fit(held.logits[spent], held.labels[spent]).temperature
        probs = (new.logits.double() / T).softmax(dim=1)
        off = probs.amax(dim=1) - (probs.argmax(dim=1) == new.labels).double()
        tested = torch.randperm(len(off), generator=luck)[:for_test]
        left.append(off.mean().abs().item())
        widths.append(1.96 * off[tested].std().item() / math.sqrt(for_test))
    print(f"{500 - for_test} to fit T: in 9 of 10 random choices of these images, the difference that is left is "
          f"below {100 * np.quantile(left, 0.9):.1f} points")
    print(f"{for_test} to test: this difference is measured to within ± {100 * np.mean(widths):.1f} points")


fig, axes = plt.subplots(1, 3, figsize=(9, 3.9))
held, new = (swept.pooled(name, rate=some) for name in ("cal", "test"))
kept = [noise(digits(seed).calibration.labels, some, seed) for seed in seeds]
written = torch.cat([one.labels for one in kept])
fit = recalibration.TemperatureScaler().fit
ways = {"as trained": 1.0, "noisy labels": fit(held.logits, written).temperature,
        "through the matrix": through_the_matrix(held.logits, kept[0].transition, written)}
for ax, (way, T) in zip(axes, ways.items(), strict=True):
    probs = (new.logits.double() / T).softmax(dim=1)
    gap = metrics.signed_gap(probs, new.labels)
    _ = plots.draw_reliability(metrics.reliability(probs, new.labels), ax=ax, legend=False)
    _ = ax.set_title(f"{way}: T = {T:.1f}, {gap:+.1%}", fontsize=9)
    print(f"{way}: T = {T:.2f}, difference on new images with true labels {gap:+.1%}")
plt.show()

# %% [markdown]
# <details><summary>What came out</summary>
#
# Not sure enough: $T$ is much too high, as if the new patients had wrong labels too. Through the matrix, the same labels
# give a difference near zero. The accuracy stays as it was.
#
# </details>
#
# ## 6. Your clinic: 500 careful labels
#
# The clinic has 20,000 old reports, and their matrix is unknown. But it can pay for 500 careful labels, to *fit* a
# temperature and to *test* what comes out. Run with 50, 250 and 450 for the test (on our digits, 20 % noise). What do you
# gain, and what do you lose?

# %%
clinic(for_test=250)  # change me; clinic repeats the whole plan with 100 random choices of 500 images

# %% [markdown]
# ### Exercise: 500 careful labels
#
# *Difficulty: medium · importance: high · 6 minutes*
#
# The 500 have four uses: add them to the reports for training, estimate the matrix, fit a temperature, test. How do you
# divide them? For each use, say what happens with *old* labels instead.
#
# <details><summary>Answer</summary>
#
# *Test:* you need some of them, perhaps 250. With 50 the test measures the difference to within 11 points only; with 450
# only 50 are left for the fit, and it leaves up to 10 points (in 9 of 10 choices). Old labels lower the measured accuracy to $(1 - r)a + r/K$ and prefer
# models that are not sure enough. *Temperature:* a few hundred are enough. With old labels it becomes too high, unless
# they are seen through a matrix. *Matrix:* with ten classes, 250 images leave 25 for each row, which is rough (the
# evidence tries 100, 500 and 2,000 images). *Training:* 500 beside 20,000 add little.
#
# There is a way without careful labels. Take the image that a network trained on the reports most surely calls a 1, an
# **anchor point**. The ten probabilities for this image estimate the row of "1": for a sure 1, only the label is in
# doubt. But there the network is too sure, so the row shows too little noise.
#
# </details>
#
# ### Exercise: the transition matrix (homework)
#
# *Difficulty: medium · importance: high · 10 minutes*
#
# People confuse some classes more than others: **class-dependent label noise**. A share $p_i$ of the labels of class $i$
# is taken out. Each gets a class at random, $j$ with probability $p_j / \sum_k p_k$ (it may be the old one): classes that
# lose many labels also receive many. Write $N_{ij} = P(\text{label } j \mid \text{class } i)$ from the vector `p`.

# %%
def my_noise_matrix(p):
    ...  # your code here: p is a tensor (K,)


check.noise_matrix(my_noise_matrix)

# %% [markdown]
# <details><summary>Hint</summary>
#
# Two cases, added: the label is left alone with probability $1 - p_i$ (a diagonal matrix), or taken out with
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
# ## The answer

# %% tags=["drawing"]
for name, one in tables.items():
    rows = one[one.value == 0.2]
    claimed, doubt = parts(0.2, rows)
    print(f"One label in five shuffled, {name}: difference on true labels {100 * (claimed + doubt):+.1f} points")

# %% [markdown]
# **Both are possible. Wrong labels teach doubt. But a network that learns them by heart loses accuracy, and still
# claims a part of it. Our networks that memorised them ended too sure; those that hardly lost accuracy ended not sure
# enough.**
#
# ## Three things to take away
#
# 1. A model that is calibrated for noisy labels doubts too much on true ones, by $r(a - 1/K)$. Our networks on digits
#    passed through that state early, and ended too sure.
# 2. The sign depends on how much accuracy is lost.
# 3. Fit a temperature on true labels, or on noisy ones through the transition matrix. On noisy ones as they are it
#    became far too high.
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
# <details><summary>3. A network trained on noisy labels has a difference of zero on true labels. Is it a good network?</summary>
#
# Not necessarily. The two terms may just be equal, as on photographs at 20 %.
#
# </details>
#
# <details><summary>4. Noise 0.2, ten classes, accuracy 0.6 on true labels, x = 0.4, kappa = 0.5. Too sure?</summary>
#
# 0.5 * 0.4 - 0.2 * (0.6 - 0.1) = 0.2 - 0.1 = +10 points: yes.
#
# </details>
#
# <details><summary>5. Accuracy 80 % on true labels; model A is 90 % sure on average, model B 70 %. Both are tested on labels with noise
# 0.2. Which differences are measured?</summary>
#
# The accuracy appears as 0.8 * 0.8 + 0.02 = 66 %: +24 points for A, +4 for B. Noisy test labels prefer B.
#
# </details>
#
# ## Go further
#
# Does the doubt grow with the noise for class-dependent noise too? Compute the noisy posterior's difference for rates $p_i$ from
# 0 up to 0.2, up to 0.5 and up to 0.8.
#
# <details><summary>Answer</summary>
#
# ```python
# for top in (0.2, 0.5, 0.8):
#     transition = curation.classwise_noise(train.labels, top, classes=K, seed=SEED).transition
#     reader = digits(SEED).test.posterior @ transition
#     same = (reader.argmax(dim=1) == digits(SEED).test.posterior.argmax(dim=1)).double().mean()
#     print(f"ramp to {top}: difference {metrics.signed_gap(reader, digits(SEED).test.labels):+.1%}, "
#           f"same favourite on {same:.1%}")
# ```
#
# It does. The favourite digit changes on some images too, unlike under symmetric noise.
#
# </details>
#
# All verdicts, on class-dependent noise, estimated matrices, networks trained through the matrix, photographs and people's labels too,
# are in the [evidence](evidence/06_label_noise.ipynb).
#
# Next: [07 Class imbalance](07_class_imbalance.ipynb), or the next lesson on your path (see the top). Digits differ?
# See [your numbers differ?](your_numbers_differ.md).
#
# ## References
#
# - Patrini et al.: *Making Deep Neural Networks Robust to Label Noise: a Loss Correction Approach*.
#   CVPR 2017. [arXiv:1609.03683](https://arxiv.org/abs/1609.03683)
# - Zhang et al.: *Understanding deep learning requires rethinking generalization*. ICLR 2017.
#   [arXiv:1611.03530](https://arxiv.org/abs/1611.03530) (networks fit random labels)
# - Arpit et al.: *A Closer Look at Memorization in Deep Networks*. ICML 2017.
#   [arXiv:1706.05394](https://arxiv.org/abs/1706.05394) (shared patterns first)
# - Wei et al.: *Learning with Noisy Labels Revisited: A Study Using Real-World Human Annotations*.
#   ICLR 2022. [arXiv:2110.12088](https://arxiv.org/abs/2110.12088) (CIFAR-10N)
# - *Dataset Curation Beyond Accuracy*. Anonymous authors, paper under double-blind review.
