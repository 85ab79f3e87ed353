# %% [markdown]
# # 06 · Label noise: what wrong labels do to confidence
#
# **Question.** A clinic trains a network on its old X-ray reports, and one report in five is wrong. A new patient
# comes in. Will the network be too sure, or not sure enough?

# %% tags=["drawing"]
from calibkit.course import explorers

explorers.stored("noisy_labels")

# %% [markdown]
# Move the slider: more and more labels are replaced by random ones. Left: twelve digits over their labels; a wrong
# one has a cross. Right: the exact probability of each label for the first image.
#
# **You will be able to**
# - say what wrong labels teach to a reader who learns them perfectly, and by how much;
# - say why a network may end too sure instead, and foretell on which side it ends;
# - repair the confidence with labels that are wrong themselves, and check it on new data;
# - spend a small number of careful labels well.
#
# **Time.** 45 minutes; 10 more for the homework.
#
# **Needs.** [02 Measuring calibration](02_measuring_calibration.ipynb), and the map of [03](03_overconfidence.ipynb).
#
# **Next on your path.** Six evenings: [08](08_temperature.ipynb). Teaching: [17](17_audit_your_model.ipynb).

# %% tags=["drawing"]
import math
from functools import cache

import matplotlib.pyplot as plt
import numpy as np
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
# **Label noise** means mistakes in the labels of the training images, such as "7" under a 1. To study it we make it.
# The common recipe is **symmetric label noise**: choose a share $r$ of the training images at random, and shuffle their
# labels among them. The share $r$ is the **noise rate**.

# %%
size, seeds, device = begin(SCALE, SEED, DEVICE)
K = 10  # classes


@cache
def digits(seed):
    return data.noisy_digits(size.train, noise=0.4, seed=seed, test=size.test)


train, cal, test = digits(SEED)
noisy = curation.symmetric_noise(train.labels, 0.2, classes=K, seed=SEED)
print(f"shuffled {len(noisy.flipped) / len(train):.1%}, wrong {len(noisy.changed) / len(train):.1%}")

# %% tags=["drawing"]
sharp = data.noisy_digits(size.train, noise=1e-6, seed=SEED, calibration=1, test=1).train
clear = torch.nonzero((train.posterior.amax(dim=1) - 0.85).abs() < 0.04)[:, 0]
chosen = torch.cat([clear[:1], torch.arange(11)])
luck = np.random.default_rng(SEED + 2)
order, drawn = luck.permutation(12).tolist(), luck.integers(0, K, 12).tolist()


def labelled(rate):
    true = train.labels[chosen].tolist()
    given = [new if place < 12 * rate else old for place, new, old in zip(order, drawn, true, strict=True)]
    pictures = sharp.inputs[chosen, 0].numpy()
    return explorers.labels_frame(pictures, true, given, train.posterior[chosen[0]], rate)


explorers.keep(explorers.Explorer(
    labelled,
    explorers.Slider("noise rate", [k / 10 for k in range(11)], show=lambda r: f"{100 * r:.0f} %", start=0.2),
    description="Left, twelve clean digits over the labels that they were given; a wrong label is bold and has a "
    "cross. Right, for the first image, the exact probability of each label: bars with wrong labels, diamonds "
    "without. The broken line marks ten labels that are equally likely. (The networks see the digits under much "
    "pixel noise, and so does the exact posterior.)"), "noisy_labels")

# %% [markdown]
# Fewer labels are wrong than were shuffled: about one shuffled label in ten comes out right (here, by luck, 3 in 20).
#
# ## 2. What a wrong label teaches
#
# Look at the bars of the slider again. *Which label stands under this image?* With probability $1 - r$ it is the true
# class. With probability $r$ it is a random class, each about equally likely. So the bars move towards $1/K$:
#
# $$\tilde q(x) = (1 - r)\, q(x) + \frac{r}{K}$$
#
# Here $q(x)$ is the exact posterior of the image, known for our digits, and $\tilde q(x)$ is called the **noisy
# posterior**. Nothing predicts the noisy labels better: in expectation, cross-entropy on them is lowest at $\tilde
# q(x)$. So a network that learns them perfectly would say $\tilde q(x)$. One can also write $\tilde q = qN$. Row $i$ of
# the **transition matrix** $N$ has the probability of each label for true class $i$.
#
# **Predict before you run:** we judge the noisy posterior twice: by labels with the same noise, and by the true labels. Is it too sure, right, or not sure enough, in each case?

# %% tags=["answer"]
some = 0.3  # the rate that we look at closely
given = curation.symmetric_noise(test.labels, some, classes=K, seed=SEED).labels
reader = (1 - some) * test.posterior + some / K
for name, labels in {"labels with the same noise": given, "true labels": test.labels}.items():
    sure, right = reader.amax(dim=1).mean(), metrics.accuracy(reader, labels)
    print(f"{name}:  {sure:.1%} sure, {right:.1%} right, difference {sure - right:+.1%}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# Judged by labels with the same noise, it is calibrated. Judged by the true labels, it is *not sure enough*, by far: it
# expects wrong labels, but the new patient has a true diagnosis.
#
# </details>
#
# If the reader is right on a share $a$ of the true labels, its confidence minus its accuracy (the difference, or *gap*)
# is
#
# $$-\,r\,\Bigl(a - \frac1K\Bigr).$$
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
# For a perfect reader, the answer to the clinic's question is "not sure enough". Is a network such a reader? We train
# networks at six noise rates. The labels of the new images stay true (*clean*, where a cell prints them).

# %%
rates = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]


@cache
def noise(rate, seed, split="train"):  # split: a part of the data, "train" or "calibration"
    labels = getattr(digits(seed), split).labels
    return curation.symmetric_noise(labels, rate, classes=K, seed=seed)


def relabelled(split, rate, seed):
    return getattr(digits(seed), split).with_labels(noise(rate, seed, split).labels)


# %%
def recipe(rate, seed):
    learn, new = relabelled("train", rate, seed), digits(seed).test
    # watch: judged after every epoch; score: judged at the end; keep: outputs that are stored
    watch = {"clean": new[:2000], "noisy_cal": relabelled("calibration", rate, seed)}
    if rate == some:
        watch["drawn"] = learn[noise(some, seed).flipped]
    score = {"train": learn, "cal": digits(seed).calibration, "test": new}
    return training.trial(lambda: models.mlp(64, K), learn, score, seed=seed, watch=watch,
                          keep=["noisy_cal"] if rate == some else [], epochs=size.epochs)


swept = sweep.run(recipe, {"rate": rates, "seed": seeds}, device=device)

# %% [markdown]
# **Predict before you run:** with 30 % of the labels shuffled, is the network too sure or not sure enough on true
# labels, after a tenth of its training and at the end? And at each of these two times, how many of the shuffled labels
# does it predict?

# %% tags=["answer"]
early, end = size.epochs // 10, size.epochs
for epoch in (early, end):
    rows = [run.history.set_index("epoch").loc[epoch] for run in swept.where(rate=some)]
    now = sum(rows) / len(rows)
    sure, right = now.clean_confidence, now.clean_accuracy
    print(f"epoch {epoch}: {sure:.0%} sure, {right:.0%} right, difference {sure - right:+.1%} (formula "
          f"{-some * (right - 1 / K):+.1%}); says {now.drawn_accuracy:.0%} of the shuffled labels")

# %% [markdown]
# <details><summary>What came out</summary>
#
# Early it is not sure enough, by as much as the formula says, and predicts few of the shuffled labels: it behaves like
# the perfect reader. At the end it predicts them all: it has **memorised** them. Its training labels, wrong ones
# included, leave it nothing to doubt, and it is too sure.
#
# </details>
#
# Now move through the training and the noise rates.

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
# Somewhere the two curves cross: there the difference is zero. This does not show a good network, since its accuracy is
# already falling.
#
# **When would you stop?** You train with 30 % noise, and you have only *noisy* labels to look at. The figure has their
# loss (NLL), on images kept aside (`cal`). At which epoch do you stop? Set `stop`, and see what your clinic's patients
# get.

# %% tags=["drawing"]
runs = np.stack([run.history.noisy_cal_nll for run in swept.where(rate=some)])
epochs = np.arange(1, size.epochs + 1)
fig, ax = plt.subplots(figsize=(5.2, 2.6))
_ = plots.spread(epochs, runs, palette.group(0, "noisy labels, images kept aside"), ax=ax)
_ = ax.set(xlabel="epoch", ylabel="loss (NLL)", xscale="log", ylim=(0, None))
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
# The loss on noisy labels is lowest after epoch 5. Stop near it, and you get the more accurate network: section 3
# printed 69 % after epoch 6, 62 % at the end. But this network is 17.5 points *under*-confident on true labels: the
# lowest loss on noisy labels makes it right for noisy labels, not for your patients. The curve does not show where the
# difference on true labels is zero.
#
# </details>
#
# ## 4. Which one wins?
#
# So two things work against each other. On true labels
#
# $$\text{confidence} - \text{accuracy} \;=\; \underbrace{\kappa\, x}_{\text{lost, still claimed}}
# \;-\; \underbrace{r\,\bigl(a - \tfrac1K\bigr)}_{\text{doubt taught by labels}}$$
#
# Here $x$ is the accuracy on training images minus the accuracy on new images, both counted against *noisy* labels.
# Kappa is the share of $x$ that is still claimed, as on the map of lesson 03. The equation is true by definition:
# against noisy labels the accuracy is $\tilde a = a - r(a - 1/K)$, and $\kappa x$ is confidence minus $\tilde a$. So
# confidence minus $a$ is $\kappa x - r(a - 1/K)$. The second term needs no network. The first is large for a
# network
# that memorises.
#
# **Predict before you run:** on our digits, few and hard, the networks end too sure at 20 % noise. Now networks with
# six convolutional layers, trained for 15 epochs: on 40,000 photographs of ten things, or on 40,000 clear digits
# (MNIST). Give the sign of the difference for each, at 20 and 40 %.

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
    print(f"{name}: {'; '.join(words[1:])}")
_ = axes[0].set(ylabel="confidence - accuracy, true labels")
_ = axes[2].legend(fontsize="x-small", loc="upper right")
plt.show()

# %% [markdown]
# <details><summary>What came out</summary>
#
# At 20 % you see all three: plus on digits, about zero on photographs, minus on MNIST. The networks differ less in
# *doubt* than in what they *lose*. The digits network memorises, so it loses and claims much. The MNIST network loses
# nearly nothing, and behaves like the perfect reader. Photographs lie between, and at 20 % both terms happen to be
# equal.
#
# </details>
#
# Can you foretell the sign before you see a confidence? On the map, kappa hardly changes with the noise rate (found on
# earlier runs). So take kappa from networks trained *without* noise, and of the noisy ones only $x$ and $a$, not the
# confidence. We tested this on 10,000 photographs; seeds and rates were fixed before. A *verdict* gives mean and 95 %
# interval over seeds.

# %% tags=["nbval-check-output"]
table = fresh.foretold(fresh.stored())  # photographs, seeds that nobody had looked at
most = table[table.value == 0.4]
print(verdicts.judge("06h", "photographs, noise 0.4: the sign of the gap is the foretold one",
                     most.test_gap * np.sign(most.foretold.mean())))
print(claims.concluded("06", "06h"))

# %% [markdown]
# (The number is the gap times the foretold sign: above zero is right.) Here is this lesson's map. (The lines
# are for the 10,000 photographs. At noise 0 both gaps are equal, since kappa
# comes from there.)

# %% tags=["drawing"]
def places(rate, rows):
    """Where networks lie whose new data have labels as noisy as their training labels."""
    right = rows.test_accuracy + -rate * (rows.test_accuracy - 1 / K)
    sure = rows.test_accuracy + rows.test_gap
    return [plane.place(*row) for row in zip(rows.train_accuracy, right, sure, strict=True)]


shown = {**tables, "10,000 photographs": table}
for rate, rows in table.groupby("value"):
    print(f"noise {rate:.0%}: foretold {rows.foretold.mean():+.1%}, measured {rows.test_gap.mean():+.1%}")
where = {}
for name, one in shown.items():
    where[name] = [spot for rate, rows in one.groupby("value") for spot in places(rate, rows)]
_ = plots.plane({palette.group(k, name): spots for k, (name, spots) in enumerate(where.items())})

# %% [markdown]
# As the noise rate grows, the dots of the digits move outwards along a line, those of the photographs not as far, and
# those of MNIST stay near zero. A dot shows only the first term: for true labels, go down from
# it by $r(a - 1/K)$.
#
# With the mistakes that people really made in labelling (CIFAR-10N, 20,000 photographs, [stored runs](from_laptop_to_paper.md)) the difference falls from +12 points
# without mistakes to +6 points with 40 % of them, and stays positive. Why it does not fall below zero, as with shuffled
# labels, we have not tested; people's mistakes depend on the image, and the formula does not allow for that.
#
# ## 5. Repair
#
# The network at the end of its training is too sure. One number can repair this, a temperature $T$: it divides all
# logits, and is fitted on images kept aside. **The mistake:** these images have labels from the same clinic, with as
# many wrong ones. **The repair:** compare the labels with what the network says *seen through the noise*, `probs @
# transition`. This is called **forward correction** (Patrini et al. 2017).
#
# ### Exercise: the loss seen through the noise
#
# *Difficulty: medium · importance: high · 8 minutes*
#
# `probs` (n, K) are probabilities of the true class, `labels` are noisy. Write the mean NLL of these labels, in nats.

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
# **Predict before you run:** one temperature is fitted on noisy labels as they are, another one through the matrix.
# What does each do to the difference on new images with true labels?

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
    print(f"{500 - for_test} to fit: in 9 of 10 draws the difference that is left is below "
          f"{np.quantile(left, 0.9):.1%}; {for_test} to test: you learn it to ± {np.mean(widths):.1%}")


fig, axes = plt.subplots(1, 3, figsize=(9, 3.9))
held, new = (swept.pooled(name, rate=some) for name in ("cal", "test"))
kept = [noise(some, seed, "calibration") for seed in seeds]
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
# Fitted on noisy labels, $T$ is much too high: it makes the network doubt as if the new patients had wrong labels too.
# Through the matrix the same noisy labels give a difference near zero. The accuracy stays as it was: confidence is
# repaired, mistakes are not. (+20.5 is for all new images; section 3 watched 2,000 of them.)
#
# </details>
#
# ## 6. Your clinic: 500 careful labels
#
# The clinic has 20,000 old reports, and their matrix is unknown. But it can pay for 500 careful labels: to *fit* a
# temperature (true labels need no matrix), and to *test* what came out. Divide them: run with 50, 250 and 450 for the
# test. The printed line (for our digits: 1,500 training images, noise 0.2) tells how large a difference the fit leaves,
# and how precisely the test measures it.

# %%
clinic(for_test=250)  # change me

# %% [markdown]
# ### Exercise: 500 careful labels
#
# *Difficulty: medium · importance: high · 6 minutes*
#
# They have four uses: add them to the 20,000 reports for training, estimate the matrix, fit a temperature, test. How do
# you divide the 500? For each use, say what happens if you take *old* labels instead.
#
# <details><summary>Answer</summary>
#
# *Test:* you need some of them, perhaps 250. Old labels lower the measured accuracy to $(1 - r)a + r/K$ and prefer
# models that are not sure enough. *Temperature:* a few hundred are enough; with old labels it becomes too high, unless
# they are seen through a matrix. *Matrix:* with ten classes, 250 images leave 25 for each row, which is rough (the
# evidence tries 100, 500 and 2,000 images). The matrix can also be estimated without careful labels: an **anchor
# point** is an image that certainly shows class $i$, and there the noisy posterior is row $i$. But a network is too
# sure of its most extreme images, so the estimated row shows too little noise. *Training:* 500 beside 20,000 add
# little.
#
# </details>
#
# ### Exercise: the transition matrix (homework)
#
# *Difficulty: medium · importance: high · 10 minutes*
#
# People confuse some classes more than others: **class-dependent label noise**. A share $p_i$ of the labels of class $i$ is drawn; each
# becomes class $j$ with probability $p_j / \sum_k p_k$ (possibly its own again). Write $N_{ij} = P(\text{label } j \mid
# \text{class } i)$ from the vector `p`. Row = true class, column = label.

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
# ## The answer

# %% tags=["drawing"]
for name, one in tables.items():
    rows = one[one.value == 0.2]
    claimed, doubt = parts(0.2, rows)
    print(f"One label in five shuffled, {name}: {100 * claimed:+.0f} points still claimed, {100 * doubt:+.0f} points "
          f"of doubt, together {100 * (claimed + doubt):+.1f} points on true labels.")

# %% [markdown]
# **Both are possible. Wrong labels teach doubt. But a network that learns them by heart loses accuracy, and still
# claims a part of it. Our networks that memorised them ended too sure; those that hardly lost accuracy ended not sure
# enough.**
#
# ## Three things to take away
#
# 1. A model that is calibrated for noisy labels doubts too much on true ones, by $r(a - 1/K)$. In our trainings on digits, networks pass
#    through that state early and end too sure.
# 2. The sign depends on how much accuracy is lost. On the photographs that we kept for the test, kappa without noise foretold it.
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
# Not necessarily. The two terms may just be equal: as on photographs at 20 %, or in the middle of a training that goes
# from one side to the other.
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
