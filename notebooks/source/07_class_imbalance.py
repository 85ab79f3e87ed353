# %% [markdown]
# # 07 · Class imbalance: how sure is a network of what it rarely saw?
#
# **Question.** A post office's network learned from 613 images of one digit, and from 6 of another. On new letters all digits are equally
# common, and of 100 images of the rare one it reads 93 wrongly. "It has seen too few. Buy images," says Ada. "It says what its training set says,
# that this digit is rare," says Eve. "I can take that out today, for nothing." Whom do you let work?
#
# **Predict before you run:** the *best possible reader* knows how the noise was made, so its probabilities are exact. Where all digits are equally
# common, it says 0 with 99.9 % for a clear image of a 0, and with 85.9 % for a doubtful one. Now the 0 becomes 100 times rarer; the images stay as they
# are. For the clear image 99.9 % falls to 92 %. What does 85.9 % fall to? Write down a number, then run the cell.

# %% tags=["answer"]
from calibkit.course import explorers

explorers.stored("class_prior")

# %% [markdown]
# <details><summary>What came out</summary>
#
# 5.8 %. The odds (0 against all other digits) are divided by 100. Those of the clear image were about 1,100 to 1 and are now 11 to 1. Those of the doubtful
# image were 6 to 1 and are now 6 to 100. This is no error: where a 0 is so rare, such an image *is* hardly ever a 0.
#
# </details>
#
# **Time.** 35 minutes; 30 more for the homework, which is all under "Go further".
#
# **Needs.** [02 Measuring calibration](02_measuring_calibration.ipynb).

# %% tags=["drawing"]
from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch

from calibkit import curation, metrics, recalibration
from calibkit.course import check, experiments
from calibkit.course.scale import begin
from calibkit.lab import data, models, sweep, training
from calibkit.pictures import alt_text, palette, plots

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% [markdown]
# ## 1. Rare on purpose
#
# In **class imbalance** the training set has many more images of one class than of another. The **imbalance ratio** is the
# size of the commonest class over that of the rarest: 100 here. Numbers are means of five networks.

# %% tags=["drawing"]
size, seeds, device = begin(SCALE, SEED, DEVICE)
K, pool = 10, int(4.5 * size.train)  # classes; images before thinning


@cache
def digits(seed):
    return data.noisy_digits(pool, noise=0.4, seed=seed, calibration=pool, test=size.test)


@cache
def thinned(split, rho, seed):
    """size.train images of unequal classes, and the digits from the commonest to the rarest."""
    start = getattr(digits(seed), split)  # split: "train" or "calibration"
    kept = curation.imbalance(start.labels, rho, seed=seed)  # leaves images of rare classes out
    learn = start[kept.indices]
    same = curation.subset(learn.labels, size.train, seed=seed)  # the same number for each rho
    return learn[same], kept.order


def recipe(rho, seed):
    learn, _ = thinned("train", rho, seed)
    score = {"train": learn, "cal": thinned("calibration", rho, seed)[0], "test": digits(seed).test}
    return training.trial(lambda: models.mlp(64, K), learn, score, seed=seed, epochs=2 * size.epochs // 3)

# %% tags=["drawing"]
swept = sweep.run(recipe, {"rho": [1, 100], "seed": seeds}, device=device)
rare = swept.where(rho=100)
learn, order = thinned("train", 100, SEED)
print("training images of each digit:", learn.labels.bincount(minlength=K)[order].tolist())


def two_images(ratio):
    pictures = two.inputs[:, 0].clamp(min=0).numpy()
    return explorers.prior_frame(pictures, two.labels.tolist(), two.posterior.numpy(), ratio)


test = digits(SEED).test
own = test.posterior[range(len(test)), test.labels]
doubtful = torch.nonzero((own - 0.85).abs() < 0.01)[0, 0].item()
clear = torch.nonzero(((own - 0.999).abs() < 0.0003) & (test.labels == test.labels[doubtful]))[0, 0].item()
two = test[torch.tensor([clear, doubtful])]
explorers.keep(explorers.Explorer(
    two_images, explorers.Slider("times rarer", [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000], start=100),
    description="Two noisy images of one digit, and below each the exact probability of each digit: diamonds where "
    "all digits are equally common, bars where this digit is rarer in training by the chosen factor."), "class_prior")

# %% tags=["drawing"]
for name, place in {"commonest": 0, "rarest": -1}.items():
    numbers = []
    for run in rare:
        new, k = run.predictions["test"], thinned("train", **run.setting)[1][place]
        of = new.labels == k
        numbers.append((new.correct[of].double().mean().item(), new.confidence[of].mean().item()))
    right, sure = np.mean(numbers, axis=0)
    print(f"images of the {name} digit: right {right:.0%}, mean confidence {sure:.0%}")

# %% [markdown]
# On the rarest digit the network is nearly always wrong, and sure of its wrong answers.
#
# ## 2. Eve: "That is what the training set says"
#
# The **prior** $\pi_k$ of a class is its share before one has seen the image. Imbalance changes the prior, not what the
# images of a class look like. So if the probabilities $q_k(x)$ are right where the shares are $\pi^{\text{old}}$, Bayes' rule gives those for other
# shares $\pi^{\text{new}}$. Each probability is multiplied by new share over old share, then divided by the sum:
#
# $$q^{\text{new}}_k(x) = \frac{q_k(x)\, \pi^{\text{new}}_k / \pi^{\text{old}}_k}{\sum_j q_j(x)\, \pi^{\text{new}}_j / \pi^{\text{old}}_j}.$$
#
# ### Exercise: another prior
#
# *Difficulty: medium · importance: high · 8 minutes*
#
# `probs` (n, K) are right where the classes have the shares `old` (K,). Return them for a place where the shares are `new`. The next
# cells use yours.

# %%
def my_other_prior(probs, old, new):
    # 1. each column times its new share over its old one
    # 2. each row divided by its sum
    ...


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

# %%
check.keep(my_other_prior)

# %% [markdown]
# Now Eve takes the prior out of the network's answers: `old` are the shares of the training set, `new` those of the letters, about 10 % for each digit.

# %% tags=["drawing"]
from calibkit.course.mine import other_prior

even = digits(SEED).test.source.prior  # about 10 % of each digit


def shares(seed):
    return thinned("train", 100, seed)[0].labels.bincount(minlength=K).double() / size.train


def prior_out(logits, seed):
    return other_prior(logits.double().softmax(dim=1), shares(seed), even)


def by_class(probs, seed):
    """ECE of each digit's images, from the digit that is commonest in training to the rarest."""
    labels = digits(seed).test.labels
    return np.array(metrics.ece_by_group(probs, labels, groups=labels))[thinned("train", 100, seed)[1]]

# %% [markdown]
# **Predict before you run:** on new images of the rarest digit the network has an ECE of 72 %, the best possible reader 1 %. To what do
# the 72 % fall once the prior is out?

# %% tags=["answer", "drawing"]
# your guess first, then run this cell
readers = {"as trained": [by_class(run.predictions["test"].probs, run.setting["seed"]) for run in rare],
           "prior out": [by_class(prior_out(run.predictions["test"].logits, run.setting["seed"]), run.setting["seed"])
                         for run in rare],
           "best possible reader": [by_class(digits(seed).test.posterior, seed) for seed in seeds]}
fig, ax = plt.subplots(figsize=(5.6, 3.2))
ends = []
print("ECE on new images of the rarest digit:")
for (name, rows), look in zip(readers.items(), (palette.TRAINED, palette.CURED, palette.TRUTH), strict=True):
    rows = np.array(rows)
    print(f"  {rows[:, -1].mean():4.0%}  {name}")
    ends.append(f"{name}: commonest {rows[:, 0].mean():.0%}, rarest {rows[:, -1].mean():.0%}")
    _ = plots.spread(range(1, K + 1), rows, look.named(name), ax=ax)
_ = ax.set(xlabel="rank of the digit: 1 is the commonest in training", ylabel="ECE of its images", ylim=(0, 1))
plots.percent(ax, "y")
_ = ax.legend(fontsize="small")
_ = alt_text.note(ax, f"ECE of each digit's new images. {'; '.join(ends)}.")
plt.show()

# %% [markdown]
# <details><summary>What came out</summary>
#
# To 39 %. Eve is right about a good part. But the prior was all that she took out, and 39 % is far from 1 %. (Why not 0? Exact probabilities are calibrated over all images;
# over the images of one digit they need not be; and luck alone measures 1.4 % on 1,000 images, see 02.)
#
# </details>
#
# ## 3. First less sure, then the prior out
#
# Bayes' rule wants probabilities that are right where they were learned. Are they? Images that were kept aside (`cal`) have the shares of the
# training set.
#
# **Your move.** Divide the logits by a temperature T (02). Find the T for which the mean confidence on the kept images is their accuracy. The prior is taken out
# afterwards. How many images of the rarest digit are then found, that is, read correctly?

# %%
T = 1.0  # change me

rows = []
for run in rare:
    seed, kept, new = run.setting["seed"], run.predictions["cal"], run.predictions["test"]
    sure = (kept.logits / T).softmax(dim=1).amax(dim=1).mean()
    rarest = thinned("train", 100, seed)[1][-1]
    answers = prior_out(new.logits / T, seed).argmax(dim=1)
    found = (answers == rarest)[new.labels == rarest].double().mean()
    rows.append([sure, kept.correct.double().mean(), found])
sure, right, found = np.mean(rows, axis=0)
print(f"T {T}: kept images: {sure:.1%} sure, {right:.1%} right; "
      f"of 100 images of the rarest digit {100 * found:.0f} are found")

# %% [markdown]
# <details><summary>What you may have found</summary>
#
# With T = 1 the network is 95 % sure on the kept images, and 88 % right: Bayes' rule was given wrong probabilities. Near T = 2.1 both are 88 %, and 71 of 100
# images of the rarest digit are found, not 36.
#
# </details>
#
# So need Ada buy nothing? A network that calls *every* image the rarest digit finds all of them, too. So the table counts two things, with the T of the lowest NLL on the kept images: of 100
# images of the rarest digit, how many are found? And of 100 images that are *called* the rarest digit, how many are it?
# Beside them stands what Ada would buy: networks that learned from 1,500 images, too, but from as many of each digit.
#
# **Predict before you run:** of 100 images that Eve's repaired network calls the rarest digit, how many are it?

# %% tags=["answer", "drawing"]
# your guess first, then run this cell
def cooled(run):
    """The logits of new images, divided by a temperature fitted on the images kept aside."""
    cal, new = run.predictions["cal"], run.predictions["test"]
    return recalibration.TemperatureScaler().fit(cal.logits, cal.labels).transform(new.logits)


def scored(probs, seed):
    labels, rarest = digits(seed).test.labels, thinned("train", 100, seed)[1][-1]
    called, own = probs.argmax(dim=1) == rarest, labels == rarest
    return {"found of 100": 100 * called[own].double().mean().item(),
            "of 100 called so": 100 * own[called].double().mean().item(),
            "its mean probability, %": 100 * probs[:, rarest].double().mean().item(),
            "ECE of its images, %": 100 * by_class(probs, seed)[-1]}


ways = {"as trained": lambda seed: swept.one(rho=100, seed=seed).predictions["test"].probs,
        "prior out": lambda seed: prior_out(swept.one(rho=100, seed=seed).predictions["test"].logits, seed),
        "T, prior out": lambda seed: prior_out(cooled(swept.one(rho=100, seed=seed)), seed),
        "as many of each digit, T": lambda seed: cooled(swept.one(rho=1, seed=seed)).softmax(dim=1),
        "best possible reader": lambda seed: digits(seed).test.posterior}
table = pd.DataFrame([{"": way, **scored(ways[way](seed), seed)} for way in ways for seed in seeds])
table.groupby("", sort=False).mean().round().astype("Int64")

# %% [markdown]
# <details><summary>What came out</summary>
#
# Only 32. Eve's network now says this digit too often: its mean probability is 20 %, twice its share. Bayes' rule
# takes out a wrong prior. It does not put in what six images could not show. Of 100 that Ada's networks call so 82 are it.
#
# </details>
#
# ## The answer
#
# **Eve first, today: with the confidence repaired and the prior taken out, 72 of 100 images of the rare digit are found, not 7, and their ECE
# falls from 72 % to 20 %. Then buy Ada's images: of 100 images that Eve's network calls this digit only 32 are it; with as many training images of each digit 82 are.**
#
# ## Three things to take away
#
# 1. Where a class is rare in training, a doubtful image of it loses a larger part of its probability than a clear one.
# 2. Where both priors are known, one takes the place of the other without training.
# 3. First make the confidence right, on images kept aside that have the shares of the training set. Take the prior out last.
#
# ## Recall
#
# <details><summary>1. Ratio 100, three classes, 1,000 images in the commonest, each class rarer by the same factor. How many in the others?</summary>
#
# 100 and 10.
#
# </details>
#
# <details><summary>2. Two classes; the training prior is (0.9, 0.1), a calibrated model says (0.5, 0.5). What is the posterior where both are equally common?</summary>
#
# 0.5/0.9 to 0.5/0.1, which is (0.1, 0.9).
#
# </details>
#
# <details><summary>3. After a repair more images of a rare class are found. What do you count before you are glad?</summary>
#
# Of the images that are called this class, how many are it.
#
# </details>
#
# ## Go further
#
# *All that follows may be left out. Next: [08 Temperature](08_temperature.ipynb).*
#
# ### A shift for each class
#
# One number cannot mend the shares of ten classes. On the kept images one can fit T and a constant for each class, which is added to its logit: a **bias-corrected
# temperature** (Alexandari et al. 2020). The prior of these images is taken out last.

# %% tags=["drawing"]
def shifted(seed):
    """Probabilities of new images after T and shifts, with the prior of `cal` taken out."""
    run = swept.one(rho=100, seed=seed)
    cal, new = run.predictions["cal"], run.predictions["test"]
    counts = cal.labels.bincount(minlength=K).double().clamp(min=0.5)  # no image counts as half a one
    fitted = recalibration.BiasCorrectedTemperature().fit(cal.logits, cal.labels).transform(new.logits)
    return other_prior(fitted.double().softmax(dim=1), counts / counts.sum(), even)


print(pd.DataFrame([scored(shifted(seed), seed) for seed in seeds]).mean().round().astype("Int64").to_string())

# %% [markdown]
# Now the digit has its share, 10 %, and of 100 images called so 52 are it; but 41 are found, not 72. Which is better depends on what a miss costs ([19](19_decisions.ipynb)).
# Neither repair gives both.
#
# ### Exercise: the screening clinic (homework)
#
# *Difficulty: hard · importance: high · 10 minutes, no code*
#
# A network was trained on 20,000 harmless moles and 200 melanomas. In the clinic one patient in 500 has a melanoma. The test set has 500 images of each.
# (On logits, a change of the prior adds $\log \pi^{\text{new}}_k - \log \pi^{\text{old}}_k$: **logit adjustment**; Saerens et al. 2002, Menon et al. 2021.)
# Plan: which prior goes where, and what comes before it? On which images do you compute an ECE, and grouped how? What can the test set not tell you?
#
# <details><summary>Answer</summary>
#
# *Before it:* a temperature and shifts, fitted on images kept aside that were drawn as the training images were. *Adjustment:* `old` is their prior, (100/101, 1/101);
# `new` is the clinic's, (499/500, 1/500), not that of the test set. And if class weights were used in training? They are meant to give a balanced prior, but a network that learns its training set by heart obeys them only in part (Byrd and Lipton 2019; our networks are in the evidence). So do not assume its prior: fit the shifts, which adapt its outputs to the images kept aside.
#
# *ECE:* the test set is balanced, the clinic is not. Weight each test image by the clinic's prior divided by the test's: each bin's share, confidence and accuracy become weighted means.
# Group by predicted class for the doctor, by true class for the patient with a melanoma.
#
# *What it cannot tell:* whether the melanomas of the clinic look like those of the test set: if the images of a class change too, no prior repairs it.
#
# </details>
#
# ### Exercise: errors from common to rare (homework)
#
# *Difficulty: easy · importance: medium · 5 minutes*
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
# ### What is done in practice
#
# **Oversampling** shows the images of rare classes more often. **Class weights** multiply
# their loss. The table has convolutional networks on CIFAR-10 photographs at $\rho = 100$ (three seeds, [stored
# runs](from_laptop_to_paper.md)), judged on balanced photographs.

# %% tags=["drawing"]
photographs = experiments.on_photographs("imbalance", SCALE, device=device)
groups = {"exponential, none": "no remedy", "exponential, sampling": "oversampling",
          "exponential, weighted": "class weights"}
heads = {"test_accuracy": "accuracy", "test_gap": "confidence - accuracy", "rare_ece": "ECE, rarest class"}
table = photographs.groupby("value")[list(heads)].mean().loc[list(groups)]
table.rename(index=groups, columns=heads).rename_axis("training").round(2)

# %% [markdown]
# Neither changes the error of the rarest class much here. On digits both lower it where strength and weight decay are chosen.
#
# Your numbers differ? [Why](your_numbers_differ.md).
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
