# %% [markdown]
# # 06 · Label noise: what wrong labels do to confidence
#
# **Question.** A clinic trains a network on 1,500 old X-ray reports. Three in ten of them were mixed up. The rule of the
# house: an answer of 90 % or more goes out at once, a doctor reads the others. "Contradictions make it careful," says Ben,
# "no wrong answer will go out." "It will learn the wrong reports by heart," says Ada, "and be too sure." Who is right?
#
# **Predict before you run:** an image (here: a noisy digit) shows a 1 with a probability of 83 %. The labels of 30 % of all
# images, taken at random, are shuffled among them. With what probability is the *label* under this image a 1? Write
# down a number, then run the cell.

# %% tags=["answer"]
from calibkit.course import explorers

explorers.stored("noisy_labels")

# %% [markdown]
# <details><summary>What came out</summary>
#
# 61 %. In 70 % of cases the label was left alone: 0.7 · 83 % = 58 %. In 30 % it is one of ten at random: 0.3 · 10 % = 3 %.
# Move the slider: more noise makes the bars flatter.
#
# </details>
#
# **Time.** 35 minutes; 35 more for the homework: all that follows after the recall.
#
# **Needs.** [02 Measuring calibration](02_measuring_calibration.ipynb).
#
# **Next on your path.** *Six evenings*: [08](08_temperature.ipynb). *Teaching*: [17](17_audit_your_model.ipynb).

# %% tags=["drawing"]
import math
from functools import cache, partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from scipy.optimize import minimize_scalar

from calibkit import curation, metrics, recalibration
from calibkit.course import check, experiments, verdicts
from calibkit.course.scale import begin
from calibkit.lab import data, models, sweep, training
from calibkit.pictures import alt_text, palette, plots

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% tags=["drawing"]
size, seeds, device = begin(SCALE, SEED, DEVICE)
K = 10  # classes


@cache
def digits(seed):
    return data.noisy_digits(size.train, noise=0.4, seed=seed, test=size.test)


def noise(labels, rate, seed=SEED):
    return curation.symmetric_noise(labels, rate, classes=K, seed=seed)


def doctor(probs, truth):
    """Of 1,000 new images: how many go out, and how many of these with a wrong answer."""
    sure, answer = probs.max(dim=1)
    out, wrong = sure >= 0.9, answer != truth
    share = out.double().mean(), (out & wrong).double().mean()
    return "of 1,000 {:.0f} go out, {:.0f} of them wrong".format(*(1000 * float(one) for one in share))


train, cal, test = digits(SEED)

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
    explorers.Slider("noise rate", [k / 10 for k in range(11)], show=lambda r: f"{100 * r:.0f} %", start=0.3),
    description="Left, twelve clean digits over the labels that they were given; a wrong label is bold and has a "
    "cross. Right, for the first image, the exact probability of each label: bars with wrong labels, diamonds "
    "without. The broken line marks ten labels that are equally likely."), "noisy_labels")

# %% [markdown]
# ## 1. Ben: "Contradictions make it careful"
#
# **Label noise** means wrong labels among the training images. We make it on purpose, as **symmetric label noise**:
# the labels of a random share of the images are shuffled. This share $r$ is the **noise rate**. `train` has 1,500 digits with
# true labels. Change the rate, and look at the labels under the 1s.

# %%
rate = 0.3  # change me

luck = torch.Generator().manual_seed(SEED)
drawn = torch.randperm(len(train), generator=luck)[: round(rate * len(train))].sort().values
labels = train.labels.clone()
labels[drawn] = labels[drawn][torch.randperm(len(drawn), generator=luck)]
wrong = (labels != train.labels).double().mean()
print(f"shuffled {len(drawn) / len(train):.1%}, wrong {wrong:.1%}")
print("labels 0 to 9 under images of a 1:", labels[train.labels == 1].bincount(minlength=K).tolist())

# %% [markdown]
# Fewer are wrong than were shuffled: one in ten comes out right by chance. The **transition matrix** $N$ has a row for each
# true class, with the probability of each label. With $K = 10$ classes, $1 - r + r/K$ stands on its diagonal and
# $r/K$ elsewhere. If $q$ is the exact posterior of an image, its *label* has the probabilities
#
# $$\tilde q = q\,N = (1 - r)\,q + \frac{r}{K},$$
#
# the **noisy posterior**. With noisy labels the cross-entropy is lowest, on average, for these probabilities. Suppose that a model gives exactly them for new images. How sure is
# it, and how often is it right?

# %%
N = (1 - rate) * torch.eye(K, dtype=torch.float64) + rate / K
noisy_posterior = test.posterior @ N
sure, right = noisy_posterior.amax(dim=1), metrics.accuracy(noisy_posterior, test.labels)
print(f"{sure.mean():.1%} sure, never more than {sure.max():.1%}; right on {right:.1%} of the true labels")

# %% [markdown]
# It is 26 points *less* sure than right: it expects wrong labels, but a new patient has a true diagnosis. It is never
# surer than 73 %, so nothing goes out. This is what Ben hopes for.
#
# ## 2. Ada: "It learns them by heart"
#
# **Predict before you run:** now a network learns your labels, for 60 epochs. Of 1,000 new images, how many go out (90 % sure or more) with a wrong
# answer? Ben says none.

# %% tags=["answer"]
learn = train.with_labels(labels)
run = training.fit(partial(models.mlp, 64, K), learn, epochs=size.epochs, seed=SEED,
                   device=device, progress=False)
own, new = run.predict(learn), run.predict(test)
print(f"on the labels that it learned: {own.correct.double().mean():.1%} right")
print(f"on new images: {new.correct.double().mean():.1%} right, {new.confidence.mean():.1%} sure")
print(doctor(new.probs, new.labels))

# %% [markdown]
# <details><summary>What came out</summary>
#
# 95 (one network, 30 % shuffled). It is right on all labels that it learned, the wrong ones too: it has **memorised** them. From then on,
# more confidence makes its loss lower. New images get the confidence, but not the accuracy.
#
# </details>
#
# When? Five networks learn labels with 30 % shuffled, and five others all true labels. Each is judged after every epoch on 2,000 new
# images.

# %% tags=["drawing"]
some = 0.3  # the rate that we look at closely
rates = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]


def recipe(rate, seed):
    train, cal, new = digits(seed)
    noisy = noise(train.labels, rate, seed)
    learn, noisy_cal = train.with_labels(noisy.labels), cal.with_labels(noise(cal.labels, rate, seed).labels)
    watch = {"clean": new[:2000]}  # judged after every epoch
    if rate == some:
        watch |= {"noisy_cal": noisy_cal, "shuffled": learn[noisy.flipped]}
    score = {"train": learn, "cal": cal, "test": new}  # judged at the end
    return training.trial(lambda: models.mlp(64, K), learn, score, seed=seed, watch=watch, epochs=size.epochs)


swept = sweep.run(recipe, {"rate": rates, "seed": seeds}, device=device)
course = pd.concat([run.history for run in swept.where(rate=some)]).groupby("epoch").mean()
five = {name: swept.pooled(name, rate=some) for name in ("cal", "test")}
then, now = course.loc[size.epochs // 10], course.loc[size.epochs]

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

# %% tags=["drawing"]
slider = explorers.Explorer(
    frame, explorers.Slider("noise rate", rates, start=some, show="{:.0%}".format),
    explorers.Slider("epoch", stops, start=stops[0]), play=True,
    description="Left, the reliability diagram on clean test labels of the networks of all seeds: slanted lines "
    "are over-confident, dots under-confident. Right, against the epoch: mean confidence and accuracy. "
    "Bands span the seeds; the grey line marks the chosen epoch.")
explorers.keep(slider, "label_noise")

# %% [markdown]
# **Predict before you run:** after 6 of the 60 epochs, by how many points are the networks with shuffled labels too sure, or not sure enough?

# %% tags=["answer", "drawing"]
# your guess first, then run this cell
ends = {size.epochs // 10: (then.clean_confidence, then.clean_accuracy, then.shuffled_accuracy),
        size.epochs: (five["test"].confidence.mean(), five["test"].correct.double().mean(), now.shuffled_accuracy)}
for epoch, (sure, right, memorised) in ends.items():
    print(f"epoch {epoch}: {sure:.1%} sure, {right:.1%} right, difference {sure - right:+.1%}; "
          f"they have learned {memorised:.0%} of the shuffled labels")
    true = pd.concat([run.history for run in swept.where(rate=0.0)]).groupby("epoch").mean().loc[epoch]
    print(f"    with true labels: {true.clean_confidence:.1%} sure, {true.clean_accuracy:.1%} right, "
          f"difference {true.clean_confidence - true.clean_accuracy:+.1%}")
slider

# %% [markdown]
# <details><summary>What came out</summary>
#
# 17.5 points *not sure enough*. Is it only that they have learned little so far? No: with true labels, networks are already 6.1 points *too* sure after 6
# epochs. The doubt comes from the labels: few of the shuffled ones are learned by heart so far (15 %, and 10 % would agree by luck). At the end all are, and the networks are 20.5 points too
# sure (on all test images; the slider has 2,000 of them). So Ben is right for a short time, and Ada at the end.
#
# </details>
#
# ## 3. Eve: "One number repairs it"
#
# "Divide all logits by a temperature T (02, 08)," says Eve. "I take the T with the lowest loss on 2,000 old reports that I kept aside."
# Three in ten of these were mixed up, too.
#
# **Predict before you run:** as they were trained, the five networks let 517 of 1,000 new images go out. How many go out with
# Eve's T?

# %% tags=["answer", "drawing"]
# your guess first, then run this cell
written = [noise(digits(seed).calibration.labels, some, seed).labels for seed in seeds]  # on Eve's reports
eves = recalibration.TemperatureScaler().fit(five["cal"].logits, torch.cat(written)).temperature
for name, T in {"as trained": 1.0, "Eve": eves}.items():
    probs, truth = (five["test"].logits.double() / T).softmax(dim=1), five["test"].labels
    print(f"{name}, T {T:.2f}: {probs.amax(dim=1).mean():.1%} sure, {metrics.accuracy(probs, truth):.1%} right; "
          f"{doctor(probs, truth)}")

# %% tags=["nbval-check-output"]
def left_by_eve(run, seed):  # some: 0.3, the noise rate
    held, new = run.predictions["cal"], run.predictions["test"]
    wrong = noise(digits(seed).calibration.labels, some, seed).labels
    T = recalibration.TemperatureScaler().fit(held.logits, wrong).temperature
    return metrics.signed_gap((new.logits / T).softmax(dim=1), new.labels)


left = [left_by_eve(swept.one(rate=some, seed=seed), seed) for seed in seeds]
print(verdicts.judge("06c", "fitted on noisy labels: at least 10 points under-confident", left,
                     expect="below", margin=0.1))

# %% [markdown]
# <details><summary>What came out</summary>
#
# 3. A doctor has to read all the others. Eve's T fits labels of which three in ten were mixed up;
# the patients' diagnoses are not. The *verdict* gives the mean difference (confidence minus accuracy) over the five networks,
# with its 95 % interval. HOLDS: all of it lies below -10 points.
#
# </details>
#
# But she knows how the labels became wrong. Let $p$ be a network's probabilities of the true classes. The label that was
# written down then has the probabilities $pN$. Compare the labels with $pN$: this is **forward correction**.
#
# ### Exercise: the loss seen through the noise
#
# *Difficulty: medium · importance: high · 8 minutes*
#
# `probs` (n, K) are probabilities of the true class, `transition` (K, K) is $N$, `labels` (n,) are noisy. Write the mean NLL of
# these labels, with the natural logarithm.


# %%
def my_noisy_nll(probs, transition, labels):
    # 1. what each row says of the noisy label: a row times the matrix
    # 2. in each row, the probability of the label that was written
    # 3. minus the mean of the logarithms
    ...


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
#     given = noisy_probs.gather(1, labels[:, None])
#     return -given.log().mean()
# ```
#
# </details>

# %%
check.keep(my_noisy_nll)

# %% [markdown]
# **Your move.** One network, Eve's 2,000 reports, your loss. Look for the T with the lowest loss: first with `doubted = 0` (all
# labels are believed), then with 0.3.
#
# <details><summary>What you may have found</summary>
#
# With 0 the loss is lowest near T = 4: of 1,000 patients, 7 answers go out. With 0.3 it is lowest near T = 2.3: 144 go out, 6 of them wrong.
#
# </details>

# %%
from calibkit.course.mine import noisy_nll

T, doubted = 4.0, 0.0  # change me

# some: 0.3, the noise rate; written[0]: the labels of the reports for the first network
N = (1 - doubted) * torch.eye(K, dtype=torch.float64) + doubted / K
network = swept.one(rate=some, seed=SEED).predictions
reports, patients = ((network[part].logits.double() / T).softmax(dim=1) for part in ("cal", "test"))
print(f"loss on the reports, seen through N: {noisy_nll(reports, N, written[0]):.4f}")
print(f"patients: {doctor(patients, network['test'].labels)}")

# %% [markdown]
# Now all five, with the T that the computer finds by your loss:

# %% tags=["drawing"]
def through_the_matrix(logits, labels):
    N = (1 - some) * torch.eye(K, dtype=torch.float64) + some / K

    def loss(log_t):
        return float(noisy_nll((logits.double() / math.exp(log_t)).softmax(dim=1), N, labels))

    return math.exp(minimize_scalar(loss, bounds=(-2, 5), method="bounded").x)


fig, axes = plt.subplots(1, 3, figsize=(9, 3.9))
ways = {"as trained": 1.0, "noisy labels": eves,
        "through the matrix": through_the_matrix(five["cal"].logits, torch.cat(written))}
for ax, (way, T) in zip(axes, ways.items(), strict=True):
    probs, truth = (five["test"].logits.double() / T).softmax(dim=1), five["test"].labels
    gap = metrics.signed_gap(probs, truth)
    _ = plots.draw_reliability(metrics.reliability(probs, truth), ax=ax, legend=False)
    _ = ax.set_title(f"{way}: T = {T:.1f}, {gap:+.1%}", fontsize=9)
    print(f"{way}: T = {T:.2f}, difference on new images with true labels {gap:+.1%}; {doctor(probs, truth)}")
plt.show()
print(f"doubt of the labels alone: {-some * (metrics.accuracy(probs, truth) - 1 / K):+.1%}")

# %% [markdown]
# Now 138 go out, 7 of them wrong. The doctor reads more than before, and has to:
# the networks are right on only 62 %. (We know $N$, as we made the noise. A clinic has to estimate it: see below.)
#
# Why does Eve's T leave -22.4 points, when the doubt of the labels alone is -15.5 (its formula stands under *Go further*)? A wrong label is often a class that the
# network holds impossible. $N$ gives each class its $r/K$. Eve has only T for that, and it takes confidence from all answers.
#
# ## The answer
#
# **Both, in turn: first the network learns the doubt of the labels (17.5 points not sure enough), then the wrong labels by heart (20.5
# points too sure: of 1,000 answers, 104 go out wrong). With Eve's T only 3 go out; with a T from the same labels,
# seen through N, 138 go out, 7 of them wrong.**
#
# ## Three things to take away
#
# 1. Wrong labels make a posterior flatter, in a known way: $q$ becomes $qN$.
# 2. A network learns this doubt first, and then the wrong labels by heart.
# 3. What is fitted on noisy labels is fitted to their noise. Compare them with $pN$.
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
# <details><summary>3. Accuracy 80 % on true labels; model A is 90 % sure on average, model B 70 %. Both are tested on labels with noise
# 0.2. Which difference (confidence minus accuracy) does this test show for each?</summary>
#
# A right answer has its label with 80 + 2 %, a wrong one with 2 %: the accuracy appears as 0.8 * 0.8 + 0.02 = 66 %, so +24 points for A, +4 for B. Noisy test labels prefer B.
#
# </details>
#
# ## Go further
#
# *All that follows may be left out. Next: [07 Class imbalance](07_class_imbalance.ipynb), or the next lesson on your path (see the top).*
#
# ### By how much do labels teach doubt?
#
# If a reader who is calibrated for noisy labels is right on a share $a$ of the true ones, its difference (confidence minus
# accuracy) on them is $-r\,(a - 1/K)$. With the numbers of section 1: $-0.3\,(95.6 - 10) = -25.7$ points.
#
# <details><summary>Why?</summary>
#
# A share $(1 - r)a + r/K$ of its answers agrees with noisy labels. It is calibrated for these labels, so this share is
# also its mean confidence. Subtract $a$.
#
# </details>
#
# ### Stop at the lowest loss?
#
# Ada would rather stop early. The clinic has only noisy labels. Look for the epoch with the lowest loss on them. Would you stop there?

# %%
stop = size.epochs  # change me

then = course.loc[stop]  # means of the five networks after this epoch
print(f"epoch {stop}: loss on noisy labels kept aside {then.noisy_cal_nll:.2f}; on true labels "
      f"{then.clean_accuracy:.1%} right, {then.clean_confidence:.1%} sure")

# %% [markdown]
# <details><summary>Answer</summary>
#
# The loss is lowest after epoch 5. There the networks are more accurate than at the end, but far from sure enough: the lowest loss on
# noisy labels, once more, serves noisy labels.
#
# </details>
#
# ### Which one wins on other data?
#
# Two things work against each other:
#
# $$\text{confidence} - \text{accuracy} \;=\; \underbrace{\text{lost, still claimed}}_{\text{learned by heart}}
# \;-\; \underbrace{r\,\bigl(a - \tfrac1K\bigr)}_{\text{doubt taught by labels}}$$
#
# Against noisy labels a network is right less often on new images than on those that it learned: so much it *lost*. What its
# confidence on new images exceeds its accuracy (against noisy labels) by, it *still claims*. A network that memorises
# claims much; the doubt is there even for a perfect reader.

# %% tags=["drawing"]
def parts(rate, rows):
    """Both terms, as means over the networks: what is claimed, and the doubt."""
    right, sure = rows.test_accuracy, rows.test_accuracy + rows.test_gap
    doubt = -rate * (right.mean() - 1 / K)
    claimed = sure.mean() - (right.mean() + doubt)
    return claimed, doubt


tables = {"digits": swept.table.rename(columns={"rate": "value"}),
          "photographs": experiments.on_photographs("noise", SCALE, device=device),
          "MNIST": experiments.stored("noise", "night", dataset="mnist")}

# %% [markdown]
# **Predict before you run:** our digits are few and hard. Now six convolutional layers learn 40,000 photographs (CIFAR-10), or 40,000
# clear digits (MNIST). At 20 % noise, how many points is the difference on true labels for each?

# %% tags=["answer", "drawing"]
# your guess first, then run this cell
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
# +17.6 points on digits, about zero on photographs, -15.8 on MNIST. The doubt is 12 to 18 points. What is still claimed
# differs more: 29, 12 and 2 points. The digits network memorises, so it loses and claims much. The MNIST network loses
# nearly nothing.
#
# </details>
#
# ### Your clinic: 500 careful labels
#
# The clinic has 20,000 old reports, and their matrix is unknown. But it can pay for 500 careful labels, to *fit* a
# temperature and to *test* what comes out. Run with 50, 250 and 450 for the test (on our digits, 20 % noise). What do you
# gain, and what do you lose?

# %% tags=["drawing"]
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


# %%
clinic(for_test=250)  # change me; clinic repeats the whole plan with 100 random choices of 500 images

# %% [markdown]
# ### Exercise: 500 careful labels
#
# *Difficulty: medium · importance: medium · 6 minutes*
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
# *Difficulty: medium · importance: medium · 10 minutes*
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
# All verdicts, and class-dependent noise, estimated matrices, training through the matrix, photographs, people's labels:
# [evidence](evidence/06_label_noise.ipynb). Your numbers differ? [Why](your_numbers_differ.md).
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
