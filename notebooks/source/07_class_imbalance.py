# %% [markdown]
# # 07 · Class imbalance: how sure is a network of what it rarely saw?
#
# **Question.** A network learned from a hundred photographs of harmless moles for each melanoma. It calls a melanoma
# harmless and is 98 % sure. Does this come from the training set, or is it the network's own error?

# %% tags=["drawing"]
from calibkit.course import explorers

explorers.stored("class_prior")

# %% [markdown]
# Two images of one digit, as a network sees them: under noise. Below each, what an *exact* model says. The slider makes
# this digit rarer in training, and leaves the image as it is. Watch how much probability each of the two loses.
#
# **You will be able to**
# - measure the error of each class, common or rare;
# - tell which part of it comes from the class shares of the training set;
# - take the shares out again, in the right order, and check it on new data;
# - say which question an error "by true class" answers, and which one "by predicted class".
#
# **Time.** 40 minutes; 10 more for the homework.
#
# **Needs.** [02 Measuring calibration](02_measuring_calibration.ipynb), and the map of [03](03_overconfidence.ipynb).

# %% tags=["drawing"]
from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch

from calibkit import curation, metrics, recalibration
from calibkit.course import check, claims, experiments, verdicts
from calibkit.course.scale import begin
from calibkit.lab import data, models, sweep, training
from calibkit.metrics import plane
from calibkit.pictures import alt_text, palette, plots

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% [markdown]
# ## 1. Rare classes, made on purpose
#
# In **class imbalance** the training set has many more images of one class than of another. The **imbalance ratio**
# $\rho$ is the size of the commonest class over that of the rarest. We put the digits in a random order, and make each
# rarer than the one before by the same factor (*exponential* form; in the *step* form half of the classes are equally
# rare). The number of images is the same for each $\rho$. The new images (`test`) have all digits equally often.

# %%
size, seeds, device = begin(SCALE, SEED, DEVICE)
K, pool = 10, int(4.5 * size.train)  # classes; images before thinning


@cache
def digits(seed):
    return data.noisy_digits(pool, noise=0.4, seed=seed, calibration=pool, test=size.test)



# %%
@cache
def thinned(split, rho, seed):
    """size.train images, and the digits from the commonest to the rarest."""
    start = getattr(digits(seed), split)
    kept = curation.imbalance(start.labels, rho, seed=seed)
    learn = start[kept.indices]
    return learn[curation.subset(learn.labels, size.train, seed=seed)], kept.order


learn, order = thinned("train", 100, SEED)
print("images of each digit:", learn.labels.bincount(minlength=K)[order].tolist())

# %% tags=["drawing"]
def two_images(ratio):
    pictures = two.inputs[:, 0].clamp(min=0).numpy()
    return explorers.prior_frame(pictures, two.labels.tolist(), two.posterior.numpy(), ratio)


test = digits(SEED).test
own = test.posterior[range(len(test)), test.labels]
doubtful = torch.nonzero((own - 0.85).abs() < 0.01)[0, 0].item()
clear = torch.nonzero(((own - 0.999).abs() < 0.0003) & (test.labels == test.labels[doubtful]))[0, 0].item()
two = test[torch.tensor([clear, doubtful])]
explorers.keep(explorers.Explorer(
    two_images, explorers.Slider("times rarer", [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]),
    description="Two noisy images of one digit, and below each the exact probability of each digit: diamonds where "
    "all digits are equally common, bars where this digit is rarer in training by the chosen factor."), "class_prior")

# %% [markdown]
# The error of all images together hides the rare ones. So we take each class by itself.
#
# ### Exercise: errors from common to rare
#
# *Difficulty: easy · importance: high · 5 minutes*
#
# `order` lists the classes from the commonest in training to the rarest. Return the ECE (`metrics.ece`) of the images *of* each class, in this order.

# %%
def my_class_errors(probs, labels, order):
    ...  # your code here


check.class_errors(my_class_errors)

# %% [markdown]
# <details><summary>Hint</summary>
#
# `labels == k` is a mask of the images of class k. It chooses rows of `probs` and entries of `labels`.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_class_errors(probs, labels, order):
#     errors = []
#     for k in order:
#         member = labels == k
#         errors.append(metrics.ece(probs[member], labels[member]))
#     return errors
# ```
#
# </details>
#
# Now a network for each $\rho$ and seed:

# %%
def recipe(rho, seed):
    learn, _ = thinned("train", rho, seed)
    score = {"train": learn, "cal": thinned("calibration", rho, seed)[0], "test": digits(seed).test}
    return training.trial(lambda: models.mlp(64, K), learn, score, seed=seed, epochs=2 * size.epochs // 3)


ratios = [1, 5, 20, 100]
swept = sweep.run(recipe, {"rho": ratios, "seed": seeds}, device=device)

# %% [markdown]
# **Predict before you run:** take the new images of the rarest digit, at $\rho = 100$. How many does the network get
# right, and how sure is it on average?

# %% tags=["answer"]
rare = swept.where(rho=100)
for name, place in {"commonest": 0, "rarest": -1}.items():
    numbers = []
    for run in rare:
        new, k = run.predictions["test"], thinned("train", **run.setting)[1][place]
        of = new.labels == k
        numbers.append((new.correct[of].double().mean().item(), new.confidence[of].mean().item()))
    right, sure = np.mean(numbers, axis=0)
    print(f"images of the {name} digit: right {right:.0%}, mean confidence {sure:.0%}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# Nearly always wrong on the rarest digit, and sure of it. Is this the network's fault? It was trained where this digit *is* rare.
#
# </details>
#
# ## 2. What the training set says
#
# The **prior** $\pi_k$ of a class is its share before one has seen the image. Let $q(x)$ be the exact posterior where
# all digits are equally common (known for our digits). Imbalance changes how often a class occurs, not what its images
# look like. By Bayes' rule we divide by the prior of the new images, which $q$ contains, and multiply by that of the
# training:
#
# $$q^{\text{train}}_k(x) = \frac{q_k(x)\, \pi^{\text{train}}_k / \pi^{\text{test}}_k}{\sum_j q_j(x)\, \pi^{\text{train}}_j / \pi^{\text{test}}_j}.$$
#
# We call it the **honest model** of this training set: it makes no error of its own.
#
# ### Exercise: another prior
#
# *Difficulty: medium · importance: high · 10 minutes*
#
# `probs` (n, K) are exact where the classes have the shares `old` (K,). Return them for a place where the shares are `new`.

# %%
def my_other_prior(probs, old, new):
    ...  # your code here


check.other_prior(my_other_prior)

# %% [markdown]
# <details><summary>Hint</summary>
#
# Multiply column $k$ by `new[k] / old[k]`; the shapes (n, K) and (K,) fit as they are. Then each row must sum to 1 again: `sum(dim=1, keepdim=True)`.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_other_prior(probs, old, new):
#     weighted = probs * new / old
#     return weighted / weighted.sum(dim=1, keepdim=True)
# ```
#
# </details>
#
# The package has it as `recalibration.change_prior`. With it we give the prior of the training set to two models for
# which no class was rare:
#
# - the exact posterior $q$, which reads nearly every digit; with this prior it is the honest model;
# - a network trained with *all digits equally common*, right on eight images of ten. It first gets a temperature
#   (divide the logits by one number $T$, fitted on images kept aside), so that its confidence is right.
#
# **Predict before you run:** on images of the rarest digit, how large is the ECE of each of the two, and of the network
# of section 1?

# %% tags=["answer", "drawing"]
even = digits(SEED).test.source.prior  # about 10 % of each digit


def shares(rho, seed):
    return thinned("train", rho, seed)[0].labels.bincount(minlength=K).double() / size.train


def by_class(probs, seed):
    """ECE of each digit's images, from the digit that is commonest at ratio 100 to the rarest."""
    labels = digits(seed).test.labels
    return np.array(metrics.ece_by_group(probs, labels, groups=labels))[thinned("train", 100, seed)[1]]


def with_prior(probs, seed):
    return by_class(recalibration.change_prior(probs, old=even, new=shares(100, seed)), seed)


def calm(seed):
    """Test probabilities of the network of equally common digits, after its temperature."""
    held, new = (swept.one(rho=1, seed=seed).predictions[split] for split in ("cal", "test"))
    return recalibration.TemperatureScaler().fit(held.logits, held.labels).probs(new.logits)


readers = {"honest model": [with_prior(digits(seed).test.posterior, seed) for seed in seeds],
           "calibrated network, given the prior": [with_prior(calm(seed), seed) for seed in seeds],
           "network of section 1": [by_class(run.predictions["test"].probs, run.setting["seed"]) for run in rare]}
readers = {name: np.array(rows) for name, rows in readers.items()}
looks = dict(zip(readers, (palette.TRUTH, palette.group(5, ""), palette.TRAINED), strict=True))
ends = {name: f"commonest {rows[:, 0].mean():.0%}, rarest {rows[:, -1].mean():.0%}" for name, rows in readers.items()}
fig, ax = plt.subplots(figsize=(5.6, 3.2))
for name, rows in readers.items():
    print(f"{name}: {ends[name]}")
    _ = plots.spread(range(1, K + 1), rows, looks[name].named(name), ax=ax)
_ = ax.set(xlabel="digit, from common to rare", ylabel="ECE of its images", ylim=(0, 1))
_ = ax.legend(fontsize="small")
words = "; ".join(f"{name}: {of}" for name, of in ends.items())
_ = alt_text.note(ax, f"ECE of each digit's images. {words}.")
plt.show()

# %% [markdown]
# <details><summary>What came out</summary>
#
# The same prior costs a model that reads nearly everything a few points, and one that is right on eight images of ten
# far more. The reason is its doubtful images. Make one of two classes 100 times rarer: its 99 % become 50 %, its 90 %
# become 8 %, its 60 % become 1.5 %. *The more doubtful an image, the smaller the part that is left.* The network of
# section 1 has an even larger error: it saw six images of the rarest digit, and is too sure besides.
#
# </details>

# %% tags=["nbval-check-output"]
doubtful, honest = readers["calibrated network, given the prior"], readers["honest model"]
print(verdicts.judge("07n", "rarest class: given the prior, a calibrated network has the larger ECE than an "
                     "exact model, by 10 points", doubtful[:, -1] - honest[:, -1], margin=0.1,
                     post_hoc=True))
print(claims.concluded("07", "07n"))

# %% [markdown]
# A *verdict* gives the mean over seeds with its 95 % interval. *Post hoc*: we saw it on these seeds first. The second
# line also counts five new seeds and the step form.
#
# ## 3. Take the prior out again
#
# The prior is known, so it can be taken out without training. In logits $z$ the product is a sum:
#
# $$z_k + \log \pi^{\text{test}}_k - \log \pi^{\text{train}}_k.$$
#
# This is **logit adjustment** (Menon et al. 2021). For the honest model it gives $q$ back, exactly. But our network is
# too sure: its logits are too large, and the correction is too small beside them. So divide them by T first.
#
# **Play.** Choose a temperature, and how much of the prior to take out. Watch the rarest digit, the accuracy, and the
# *mean probability of the rarest digit*, which should be 10 %. Find the pair with the lowest NLL.

# %% tags=["drawing"]
def adjusted(logits, seed, T=1.0, share=1.0):
    """Logits divided by T, then a share of the training prior exchanged for the even one."""
    return logits.double() / T + share * (even.log() - shares(100, seed).log())


after = palette.CURED.named("repaired")
before = palette.TRAINED.named("as trained")


def of_rarest(probs, seed):
    return probs[:, thinned("train", 100, seed)[1][-1]].mean().item()


def played(T, share):
    outcomes = [(run.setting["seed"], run.predictions["test"]) for run in rare]
    probs = {seed: adjusted(new.logits, seed, T, share).softmax(dim=1) for seed, new in outcomes}
    errors = np.array([by_class(p, seed) for seed, p in probs.items()])
    lines = {before: readers["network of section 1"], after: errors}
    right, off, nll = (np.mean([f(p, digits(s).test.labels) for s, p in probs.items()])
                       for f in (metrics.accuracy, metrics.ece, metrics.nll))
    said = np.mean([of_rarest(p, s) for s, p in probs.items()])
    readout = (f"ECE of the rarest digit {errors[:, -1].mean():.0%}; all images: accuracy {right:.1%}, "
               f"ECE {off:.1%}, NLL {nll:.2f}; mean probability of the rarest digit {said:.1%}.")
    images = [size.train * shares(100, s)[thinned("train", 100, s)[1]].numpy() for s in seeds]
    return explorers.ranked_frame(
        np.mean(images, axis=0), lines, y_label="ECE, images of the class", y_ticks=(0, 0.25, 0.5, 0.75, 1),
        title=f"T {T:g}, {share:.0%} of the prior out",
        readout=f"T {T:g}, {share:.0%} of the prior taken out: {readout}")


explorers.Explorer(
    played, explorers.Slider("temperature", [1, 1.5, 2, 2.5, 3, 4], start=1),
    explorers.Slider("prior taken out", [0.0, 0.25, 0.5, 0.75, 1.0], start=0.0, show="{:.0%}".format),
    description="Left, how many training images each class has, on a log axis, the commonest first. Right, the ECE of "
    "the images of each class, as trained and after the chosen repair, at ratio 100. Bands span the seeds.")

# %% [markdown]
# <details><summary>What you may have found</summary>
#
# The lowest NLL of the two sliders is 0.97, at T = 2 with 75 % of the prior taken out. The mean probability of the
# rarest digit is 13 % there.
#
# </details>
#
# You looked at the new images to choose; a clinic cannot. What it can keep aside are images *drawn as the training
# images were*. Fit on these a temperature, alone or with one constant for each class, here called a shift
# (**bias-corrected temperature**, Alexandari et al. 2020). With the shifts the mean probability of each class equals
# its share among these images; so the training prior is still in the output. Then take the prior out. Run this cell,
# then again with `make` changed as the comment says.

# %%
def repair(make, run):
    cal, seed = run.predictions["cal"], run.setting["seed"]  # drawn as the training images were
    fitted = make().fit(cal.logits, cal.labels)
    return adjusted(fitted.transform(run.predictions["test"].logits), seed).softmax(dim=1)


make = recalibration.TemperatureScaler  # change me: recalibration.BiasCorrectedTemperature
probs = {run.setting["seed"]: repair(make, run) for run in rare}
print(f"NLL {np.mean([metrics.nll(p, digits(s).test.labels) for s, p in probs.items()]):.2f}, "
      f"mean probability of the rarest digit {np.mean([of_rarest(p, s) for s, p in probs.items()]):.1%}")

# %% [markdown]
# **Predict before you run:** the network as trained; with the prior taken out; with one temperature first; with
# temperature and shifts first. Which has the lowest error on images of the rarest digit? Which has the best accuracy on
# all?

# %% tags=["answer", "drawing"]
ways = {"as trained": lambda run: run.predictions["test"].probs,
        "prior out": lambda run: adjusted(run.predictions["test"].logits, run.setting["seed"]).softmax(dim=1),
        "T, prior out": lambda run: repair(recalibration.TemperatureScaler, run),
        "T and shifts, prior out": lambda run: repair(recalibration.BiasCorrectedTemperature, run)}


def scored(way, run):
    seed, probs, labels = run.setting["seed"], ways[way](run), run.predictions["test"].labels
    commonest = thinned("train", 100, seed)[1][0]
    by_answer = metrics.ece_by_group(probs, labels, groups=probs.argmax(dim=1))
    return {"repair": way, "seed": seed, "accuracy": metrics.accuracy(probs, labels),
            "NLL": metrics.nll(probs, labels), "ECE": metrics.ece(probs, labels),
            "ECE, images of the rarest": by_class(probs, seed)[-1],
            "mean p(rarest)": of_rarest(probs, seed), "ECE, said to be the commonest": by_answer[commonest]}


repaired = pd.DataFrame([scored(way, run) for way in ways for run in rare])
means = repaired.drop(columns="seed").groupby("repair", sort=False).mean()
least, best = means["ECE, images of the rarest"], means.accuracy
print(f"lowest error on images of the rarest: {least.idxmin()}, {least.min():.0%}")
print(f"best accuracy on all: {best.idxmax()}, {best.max():.1%}")
means.round(3)

# %% [markdown]
# <details><summary>What came out</summary>
#
# - *Taking out the prior alone* helps the rarest digit, but too little: the network still says it too seldom (mean
#   probability
#   below 10 %).
# - *One temperature first* gives the lowest error on images of the rarest digit, and goes too far: it says this digit
#   twice as often as it comes, and the accuracy on all images is lower than with the prior alone. (On new seeds the
#   lowest error and the lower accuracy stay undecided.)
# - *Temperature and shifts first* has the best NLL and accuracy, and says the rarest digit about as often as it comes.
#   A larger error is left on images of this digit, and the ECE of all images is larger than with T: the network is now
#   a little less sure than right.
#
# Which is best depends on the question: a low error on one class is easy to get, by saying this class more often.
#
# </details>

# %% tags=["drawing"]
fig, axes = plt.subplots(1, 3, figsize=(9, 3.7))
for ax, way in zip(axes, ("as trained", "prior out", "T and shifts, prior out"), strict=True):
    probs = torch.cat([ways[way](run) for run in rare])
    labels = torch.cat([run.predictions["test"].labels for run in rare])
    _ = plots.draw_reliability(metrics.reliability(probs, labels), ax=ax, legend=False)
    _ = ax.set_title(f"{way}: {metrics.signed_gap(probs, labels):+.1%}", fontsize=9)
plt.show()

# %% tags=["nbval-check-output"]
nll = repaired.pivot(index="seed", columns="repair", values="NLL")
print(verdicts.judge("07o", "prior out: the NLL is lower with T and shifts first than without",
                     nll["T and shifts, prior out"] - nll["prior out"], expect="below", post_hoc=True))
print(claims.concluded("07", "07o"))

# %% [markdown]
# ## 4. Two questions
#
# "The error of a class" can mean two things:
#
# - **by true class:** of all melanomas, how many does the network call harmless, and how sure is it? The patient asks
#   this.
# - **by predicted class:** of all moles that it calls harmless with 98 %, how many are harmless? The doctor asks this.
#
# A model can be perfect for the doctor and not for the patient. The exact posterior is calibrated by predicted class.
# But take only images *of* 8: those read as 3 are all wrong, however unsure it was, those read as 8 all right. So
# inside one true class it is not calibrated. The last column of the table in section 3 is the doctor's: images that are
# *said* to be the commonest digit.
#
# ### Exercise: the screening clinic (homework)
#
# *Difficulty: hard · importance: high · 10 minutes, no code*
#
# A network was trained on 20,000 harmless moles and 200 melanomas. In the clinic one patient in 500 has a melanoma. The test set has 500 images of each.
# Plan: which prior goes where in the logit adjustment, and what comes before it? On which images do you compute an ECE, and grouped how? What can the test set not tell you?
#
# <details><summary>Answer</summary>
#
# *Before it:* a temperature and shifts, fitted on images kept aside that were drawn as the training images were. *Adjustment:* `old` is their prior, (100/101, 1/101);
# `new` is the clinic's, (499/500, 1/500), not that of the test set. And if class weights were used in training? They are meant to give a balanced prior, but a network that learns its training set by heart obeys them only in part (Byrd and Lipton 2019; ours are in the evidence). So do not assume its prior: fit the shifts, which adapt its outputs to the images kept aside.
#
# *ECE:* the test set is balanced, the clinic is not. Weight each test image by the clinic's prior over the test's: each bin's share, confidence and accuracy become weighted means.
# Group by predicted class for the doctor, by true class for the patient with a melanoma.
#
# *What it cannot tell:* whether the melanomas of the clinic look like those of the test set: if the images of a class change too, no prior repairs it.
#
# </details>
#
# ## 5. What is done in practice, and photographs
#
# Many train against imbalance: **oversampling** shows the images of rare classes more often, **class weights** multiply
# their loss. A network of six convolutions learned from CIFAR-10 photographs (three seeds, [stored
# runs](from_laptop_to_paper.md), as trained), with all ten things equally common and at $\rho = 100$. (At 100 it had a
# quarter of the photographs; this may explain a part.)

# %% tags=["drawing"]
photographs = experiments.on_photographs("imbalance", SCALE, device=device)
groups = {"balanced": "equally common", "exponential, none": "ratio 100",
          "exponential, sampling": "ratio 100, oversampling", "exponential, weighted": "ratio 100, class weights"}
heads = {"test_accuracy": "accuracy", "test_gap": "confidence - accuracy",
         "common_ece": "ECE, class that is commonest at 100",
         "rare_ece": "ECE, rarest"}
table = photographs.groupby("value")[list(heads)].mean().loc[list(groups)]
table.rename(index=groups, columns=heads).rename_axis("training set").round(2)

# %% [markdown]
# These networks learn all their training images by heart. Class weights can change such networks little. With batch
# normalisation or weight decay they have some effect again (Byrd and Lipton 2019); we did not vary these on
# photographs. On digits, each way at its own strength and weight decay, both help. After the repair of section 3 the
# error of the rarest class is 9 or 10 points, not 23, and the NLL is lower in both forms
# ([evidence](evidence/07_class_imbalance.ipynb)).
#
# **The map of this lesson.** Across: accuracy lost on new images. Upwards: what of it is still claimed. **Predict**
# where the
# networks go as $\rho$ grows: on new images as unequal as the training images, and on balanced ones?

# %% tags=["answer", "drawing"]
def spot(run, split):
    learned, new = run.predictions["train"], run.predictions[split]
    right = [one.correct.double().mean().item() for one in (learned, new)]
    return plane.place(*right, new.confidence.mean().item())


where = {"new images as unequal": "cal", "balanced new images": "test"}
for name, split in where.items():
    lost = [np.mean([spot(run, split).lost for run in swept.where(rho=rho)]) for rho in ratios]
    print(f"{name}: accuracy lost at ratio 1 to 100: " + ", ".join(f"{x:.2f}" for x in lost))
dots = {name: [spot(run, split) for run in swept.outcomes] for name, split in where.items()}
_ = plots.plane({palette.group(k, name): spots for k, (name, spots) in enumerate(dots.items())})
plt.show()

# %% [markdown]
# <details><summary>What came out</summary>
#
# On images as unequal as in training the network loses *less* as $\rho$ grows: most show common digits. On balanced
# images it loses more and more, and claims a similar part of what it loses. (In the step form clearly more; see the
# evidence.)
#
# </details>
#
# ## The answer

# %% tags=["drawing"]
exact, calibrated, trained = (rows[:, -1].mean() for rows in readers.values())
print(f"ECE of the rarest digit's images: {trained:.0%} as trained; {calibrated:.0%} for a calibrated network that "
      f"is given\nthe prior; {exact:.0%} for an exact model; {least.iloc[-1]:.0%} after temperature, shifts, and the "
      "prior taken out.")

# %% [markdown]
# **Both. The training set costs an exact model a little. On these seeds it costs a calibrated network that saw all
# digits equally often more; on five new seeds this is undecided. The rest, about half (more as trained, less after one
# temperature), is this network's own: it knows less of a class that it rarely saw, and is still confident. First repair its confidence on images kept aside, then take the prior out.**
#
# ## Three things to take away
#
# 1. The more doubtful an image, the larger the part of its own probability that a prior takes. Here an exact model lost
#    little, and a calibrated network more (on new seeds undecided). Most was lost by the network that saw six images of
#    the class and is over-confident.
# 2. The prior can be taken out by logit adjustment. First make the confidence right: by a temperature and a shift for
#    each class, fitted on images drawn as the training images were.
# 3. "The error of a class" needs two more facts: is it taken over the images *of* the class or those *predicted* as it,
#    and with what is it compared?
#
# ## Recall
#
# <details><summary>1. Ratio 100, three classes, 1,000 images in the commonest, each class rarer by the same factor. How many in the others?</summary>
#
# 100 and 10.
#
# </details>
#
# <details><summary>2. Two classes; the training prior is (0.9, 0.1), an honest model says (0.5, 0.5). What is the posterior where both are equally common?</summary>
#
# 0.5/0.9 to 0.5/0.1, which is (0.1, 0.9).
#
# </details>
#
# <details><summary>3. An image is a melanoma with 99 % where both classes are equally common, another with 60 %. In training melanomas are 100 times rarer. What does the honest model say?</summary>
#
# 0.0099 to 0.01: about 50 %. And 0.006 to 0.4: about 1.5 %. The doubtful image keeps a far smaller part of its
# probability, though the odds of both are divided by 100.
#
# </details>
#
# <details><summary>4. Why is logit adjustment too weak for an over-confident network?</summary>
#
# It adds a fixed number to logits that are too large. First fit T and the shifts.
#
# </details>
#
# <details><summary>5. A repair lowers the ECE over all images to 3 %. Are the rare classes repaired?</summary>
#
# This does not follow: over all images, errors of opposite sign cancel. Look at each class, and at how often each is
# said.
#
# </details>
#
# ## Go further
#
# Images kept aside are few in the rarest class. Fit the shifts with a tenth of them (`cal.logits[::10]`): what happens to the NLL? Then try them with no temperature.
#
# <details><summary>Answer</summary>
#
# ```python
# for step in (1, 3, 10):
#     scores = []
#     for run in rare:
#         cal, seed = run.predictions["cal"], run.setting["seed"]
#         fitted = recalibration.BiasCorrectedTemperature().fit(cal.logits[::step], cal.labels[::step])
#         probs = adjusted(fitted.transform(run.predictions["test"].logits), seed).softmax(dim=1)
#         scores.append(metrics.nll(probs, digits(seed).test.labels))
#     print(step, np.round(scores, 2))
# ```
#
# A warning says which classes have no image at all: their shift has no finite best value, and the NLL shows it.
#
# </details>
#
# All verdicts, another form of imbalance (*step*: one half of the classes stays as common as it was, each of the other half is rarer by $\rho$; ours, each rarer than the last by one factor, is *exponential*), and six ways of training with chosen strengths are in the [evidence](evidence/07_class_imbalance.ipynb).
#
# Next: [08 Temperature](08_temperature.ipynb). Digits differ? See [your numbers differ?](your_numbers_differ.md).
#
# ## References
#
# - *Dataset Curation Beyond Accuracy*. Anonymous authors, paper under double-blind review. (section 3, figure 1, tables 1 and 2)
# - Menon et al.: *Long-tail learning via logit adjustment*. ICLR 2021.
#   [arXiv:2007.07314](https://arxiv.org/abs/2007.07314)
# - Alexandari et al.: *Maximum Likelihood with Bias-Corrected Calibration is Hard-To-Beat at Label Shift Adaptation*.
#   ICML 2020. [arXiv:1901.06852](https://arxiv.org/abs/1901.06852)
# - Byrd, Lipton: *What is the Effect of Importance Weighting in Deep Learning?* ICML 2019.
#   [arXiv:1812.03372](https://arxiv.org/abs/1812.03372)
# - Saerens et al.: *Adjusting the Outputs of a Classifier to New a Priori Probabilities*.
#   Neural Computation 14, 2002. [doi:10.1162/089976602753284446](https://doi.org/10.1162/089976602753284446)
# - Cui et al.: *Class-Balanced Loss Based on Effective Number of Samples*. CVPR 2019.
#   [arXiv:1901.05555](https://arxiv.org/abs/1901.05555)
# - Buda et al.: *A systematic study of the class imbalance problem in convolutional neural networks*. Neural Networks
#   106, 2018. [arXiv:1710.05381](https://arxiv.org/abs/1710.05381) (step imbalance, oversampling)
# - Cao et al.: *Learning Imbalanced Datasets with Label-Distribution-Aware Margin Loss*. NeurIPS 2019.
#   [arXiv:1906.07413](https://arxiv.org/abs/1906.07413) (exponential imbalance)
