# %% [markdown]
# # 18 · Estimators in depth: which number may decide between two models?
#
# **Question.** A clinic can buy one of two networks. They give the same answers, so both are right on 77 % of all images. But the
# reliability diagram of B is as good as perfect, and that of A is not. "Take B," says Eve, "it needs no repair." The rule of the house:
# an answer of 90 % or more goes out at once, a doctor reads all the others. Which one would you buy?
#
# **Predict before you run:** of 1,000 images, how many does A send out at once, and how many does B? Write down two numbers, then look at both
# diagrams (of 1,000 drawn images: 76.3 % right). The strip below counts them.

# %% tags=["answer"]
from calibkit.course import explorers

explorers.stored("two_models")

# %% [markdown]
# <details><summary>What came out</summary>
#
# A sends out 298 of 1,000, and 6 of them are wrong. B sends out none: it is never surer than 83 %.
#
# </details>
#
# **Time.** 30 minutes; 50 more for what may be left out.
#
# **Needs.** [02 Measuring calibration](02_measuring_calibration.ipynb).

# %% tags=["drawing"]
from functools import cache, partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch

from calibkit import metrics
from calibkit.course import check
from calibkit.course.experiments import readers, real_network
from calibkit.course.scale import begin
from calibkit.pictures import alt_text, palette, plots

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% [markdown]
# ## 1. How B was made
#
# The images are digits under so much noise (0.6) that nobody can read all of them. We know the exact posterior of each. Model A is this
# posterior, made too cautious by a temperature of 1.2. Model B says the same row for all images that it reads as a 3: the mean posterior of
# this group; the same for every other digit. **Your move:** change the temperature of A.

# %%
size, _, _ = begin(SCALE, SEED, DEVICE)
posterior = readers.population(size, SEED).posterior

model_a = (posterior.log() / 1.2).softmax(dim=1)  # change me
favourite = posterior.argmax(dim=1)
model_b = torch.zeros_like(posterior)
for digit in range(10):
    model_b[favourite == digit] = posterior[favourite == digit].mean(dim=0)

right = posterior.amax(dim=1)  # the chance that the answer, the favourite, is right
for name, probs in {"A": model_a, "B": model_b}.items():
    sure = probs.amax(dim=1)
    out = sure >= 0.9
    print(f"{name}: {right.mean():.1%} right, {sure.mean():.1%} sure; of 1,000 images "
          f"{1000 * out.double().mean():.0f} go out, {1000 * (out * (1 - right)).mean():.0f} of them wrong")

# %% tags=["drawing"]
reader, test_set = partial(readers.tempered, posterior), partial(readers.test_set, posterior)


@cache
def seen(n):
    """Images and labels of one test set of n images."""
    return test_set(n, SEED)


def frame(n):
    chosen, labels = seen(n)
    both = [model[chosen] for model in (model_a, model_b)]
    words = [f"model {name}: accuracy {metrics.accuracy(probs, labels):.1%}, mean confidence "
             f"{probs.amax(dim=1).mean():.1%}, ECE {metrics.ece(probs, labels):.1%}"
             for name, probs in zip("AB", both, strict=True)]
    return explorers.rivals_frame([metrics.reliability(probs, labels) for probs in both],
                                  [f"model {name}, {n} images" for name in "AB"], readout="; ".join(words))


explorers.keep(explorers.Explorer(
    frame, explorers.Slider("images in the test set", [100, 300, 1000, 3000, 10000], start=1000), play=True,
    description="The reliability diagrams of model A and model B on the same test images, as many as the slider "
    "says: a bar below the diagonal is over-confident, one above it under-confident; below, how many images each "
    "bin holds."), "two_models")

# %% [markdown]
# B is calibrated: of all images with the same row, the digits have just these shares. But it says the same for a clear 3 and an unreadable one.
#
# ## 2. Two parts of one score
#
# Which number could have told? A proper score (02), such as the Brier score. Let $p$ be the row of an image, $q$ its exact posterior, and $y$
# its label as a row (1 for the label, 0 elsewhere). $y_k$ is random, with mean $q_k$ and variance $q_k(1-q_k)$. The expected squared distance of $y_k$ from $p_k$ is the
# squared distance of $q_k$ from $p_k$, plus the variance of $y_k$:
#
# $$E\,\sum_k (p_k - y_k)^2 \;=\; \sum_k (p_k - q_k)^2 \;+\; \sum_k q_k (1 - q_k).$$
#
# Who says $q$ avoids the first term. Nobody avoids the second.
#
# ### Exercise: the avoidable part
#
# *Difficulty: easy · importance: high · 5 minutes*
#
# From `probs` (n, K) and the exact `posterior` (n, K), return by how much the expected Brier score of `probs` is
# above that of the posterior: one number. The next cell uses yours.


# %%
def my_avoidable_brier(probs, posterior):
    # 1. the squared distance of each row from the truth, summed over the classes
    # 2. its mean over the images
    ...


check.avoidable_brier(my_avoidable_brier)

# %% [markdown]
# <details><summary>Hint</summary>
#
# The second term of the formula above is the same for both. Sum over the classes, mean over the images.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_avoidable_brier(probs, posterior):
#     return (probs.double() - posterior.double()).square().sum(dim=1).mean().item()
# ```
#
# </details>

# %%
check.keep(my_avoidable_brier)

# %% [markdown]
# Eve may repair the outputs with any function from rows to rows, but cannot tell two images with the same row apart. So the best that
# she can reach is $r$, the mean posterior of all images with the same row. On average over the images with the same row, the formula holds with $r$ in place of $q$. Its first
# term, $\sum_k (p_k - r_k)^2$, is the **calibration part**: what a recalibration could remove. The second, $\sum_k r_k(1 - r_k)$, is the **refinement**. There *low* is good, and no
# recalibration lowers it.
#
# **Predict before you run:** the refinement of the posterior is 0.320. How large is that of A, in which no two images share a row? And that of B?

# %% tags=["answer", "drawing"]
# your guess first, then run this cell
from calibkit.course.mine import avoidable_brier

reachable = {"exact posterior": (posterior, posterior), "model A": (model_a, posterior),
             "model B": (model_b, model_b)}
calibration = [float(avoidable_brier(*pair)) for pair in reachable.values()]
refinement = [(known * (1 - known)).sum(dim=1).mean().item() for _, known in reachable.values()]
fig, ax = plt.subplots(figsize=(6.4, 2.2))
_ = ax.barh(list(reachable), refinement, color=palette.SKY, label="refinement")
_ = ax.barh(list(reachable), calibration, left=refinement, color=palette.VERMILLION, hatch="//",
            label="calibration part")
_ = ax.set(xlabel="expected Brier score", xlim=(0, 0.45))
_ = ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
told = [f"{name}: calibration part {c:.4f}, refinement {r:.3f}, together {c + r:.3f}"
        for name, c, r in zip(reachable, calibration, refinement, strict=True)]
_ = alt_text.note(ax, f"Expected Brier score in its two parts. {'; '.join(told)}")
plt.show()
print("\n".join(told))

# %% [markdown]
# <details><summary>What came out</summary>
#
# 0.320 ($r=q$) and 0.393. The calibration part of A is tiny, and one temperature removes it. That of B is zero. Nothing repairs its
# 0.393 - 0.320 = 0.073, lost inside the groups: the *grouping loss* (Perez-Lebel et al. 2023).
#
# </details>
#
# ## 3. A thousand labels
#
# The clinic has 1,000 labelled images, the *same* for both models: one that is hard for A is hard for B, and in
# the difference this cancels. The **paired interval** is that of the mean difference, image by image: 90 %, so 1.645 standard errors. Change n to
# 200: which interval still names the better model?

# %%
n = 1000  # change me

chosen, labels = test_set(n, SEED)  # n images of the population, and their labels
truth = torch.nn.functional.one_hot(labels, 10)
score_a, score_b = ((model[chosen] - truth).square().sum(dim=1) for model in (model_a, model_b))
for name, scores in {"A": score_a, "B": score_b, "B minus A": score_b - score_a}.items():
    half = 1.645 * scores.std() / n**0.5
    low, high = scores.mean() - half, scores.mean() + half
    print(f"{name}: Brier score {scores.mean():.3f}, 90 % interval [{low:.3f}, {high:.3f}]")

# %% [markdown]
# We draw 1,000 labelled images again and again, for three pairs: A and B; the posterior and A; the posterior and a
# reader with T = 1.1. Each column: on which share of the test sets it names the better one. (A paired interval names one where it
# excludes 0, two *separate* intervals where they do not overlap.)
#
# **Predict before you run:** on what share of the test sets does A have a lower ECE than B? And a lower Brier score?

# %% tags=["answer"]
# reader(T): the probabilities of the posterior after a temperature T
pairs = {"A against B": (model_a, model_b), "posterior against A": (posterior, model_a),
         "posterior against T = 1.1": (posterior, reader(1.1))}
columns = ["ECE", "Brier score", "paired interval", "separate intervals"]  # that name the better one
shares = [readers.named(*pair, posterior, 1000, size.draws, SEED) for pair in pairs.values()]
print(pd.DataFrame(shares, index=list(pairs), columns=columns).map("{:.0%}".format).to_string())

# %% [markdown]
# <details><summary>What came out</summary>
#
# The ECE names A on none, the Brier score on all: the ECE cannot see the refinement. In the other two pairs the models differ in calibration
# alone, and both numbers mostly name the better one. But only the *paired* interval excludes zero (on 70 % and 26 %); two separate ones always
# overlap.
#
# </details>
#
# ## The answer
#
# **A. B is calibrated, but says the same for clear and for unreadable images: it sends out none of 1,000, A 298, and no repair can change that. A proper
# score, compared image by image on the same 1,000 images, named A on 100 % of the test sets; the ECE on 0 %.**
#
# ## Three things to take away
#
# 1. A proper score is calibration part plus refinement. Recalibration can lower the first, never the second.
# 2. Compare models by a proper score, paired on the same images.
# 3. An ECE near zero does not say that a model can tell a clear image from an unreadable one.
#
# ## Recall
#
# <details><summary>1. Which part of a proper score can a temperature remove?</summary>
#
# The calibration part, or a part of it. The refinement stays: images with the same row still get the same row.
#
# </details>
#
# <details><summary>2. Two 90 % intervals overlap. Are the models equally good?</summary>
#
# This does not follow. Look at the interval of the difference on the same images.
#
# </details>
#
# <details><summary>3. A model says the same row for every image, and its ECE is zero. Is it a good one?</summary>
#
# No. Its refinement is as high as that of somebody who sees no image.
#
# </details>
#
# ## Go further
#
# *All that follows may be left out. To use it: [17 Audit your own model](17_audit_your_model.ipynb).*
#
# ### Ben: "Mine has an ECE of 5 %, yours of 1 %"
#
# B is exactly calibrated, and still its ECE on 1,000 images is 1 to 4 %: noise in 15 bins adds up. So with the network of lesson 00,
# DenseNet-100 with T = 2.1. On all 10,000 photographs its ECE is 1.3 %. Ben measures it on 300 of them.
#
# **Predict before you run:** which ECE does he see, on average over 20 draws? And of the other measures, which changes least?

# %% tags=["answer"]
real = real_network.answers()
confidence = torch.from_numpy(real.confidence[real.temperatures.tolist().index(2.1)])
hits, chance = torch.from_numpy(real.right), torch.Generator().manual_seed(SEED)
measures = {"ECE": metrics.ece_of, "smECE": metrics.smooth_ece_of, "L2, debiased": metrics.debiased_ece_of}
for n in (300, 1000, 3000, 10_000):
    parts = [torch.randperm(10_000, generator=chance)[:n] for _ in range(20)]
    told = []
    for name, measure in measures.items():
        values = [measure(confidence[part], hits[part]) for part in parts]
        told.append(f"{name} {np.mean(values):.1%}")
    print(f"{n:6,} photographs: {'; '.join(told)}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# 5.5 %, four times as much: nothing changed but the number of photographs. The *debiased* one subtracts the noise that it expects, and changes least.
# Compare an ECE with one of the same n, or with luck.
#
# </details>
#
# ### Three meanings of "calibrated"
#
# A model that knows three animals meets a few kinds of images. Each small plot is one kind. Bars: the probabilities
# that the model gives to cat, dog and lion. Diamonds: the share of these images that really shows a cat, a dog, a lion.
# All kinds of a model are equally common.

# %% tags=["drawing"]
says_1, truth_1 = [[.6, .2, .2], [.2, .6, .2], [.2, .2, .6]], [[.6, .3, .1], [.3, .6, .1], [.3, .1, .6]]
says_2 = [[.1, .3, .6], [.1, .6, .3], [.3, .1, .6], [.3, .6, .1], [.6, .1, .3], [.6, .3, .1]]
truth_2 = [[.15, .25, .6], [.05, .65, .3], [.25, .15, .6], [.35, .55, .1], [.65, .05, .3], [.55, .35, .1]]
says_4, truth_4 = [[.1, .4, .5], [.2, .3, .5], [.3, .3, .4]], [[.1, 0, .9], [.2, .7, .1], [0, .2, .8]]


def in_turn(rows):
    return [np.roll(row, turn).tolist() for row in rows for turn in range(3)]


animals = {"model 1": (says_1, truth_1), "model 2": (says_2, truth_2), "model 3": (says_2, says_2),
          "model 4": (in_turn(says_4), in_turn(truth_4))}
animals = {name: (np.array(says).round(6), np.array(truth)) for name, (says, truth) in animals.items()}
fig, axes = plt.subplots(4, 9, figsize=(10, 5.6), sharex=True, sharey=True)
for line, (name, (says, truth)) in zip(axes, animals.items(), strict=True):
    for place, ax in enumerate(line):
        ax.set_visible(place < len(says))
        if place < len(says):
            _ = ax.bar(["cat", "dog", "lion"], says[place], color=palette.SKY)
            _ = ax.plot(["cat", "dog", "lion"], truth[place], "D", color=palette.BLACK, ms=4, clip_on=False)
            ax.tick_params(labelsize=8)
            told = f"{says[place].tolist()} where the truth is {truth[place].round(2).tolist()}"
            _ = alt_text.note(ax, f"{name}, kind {place + 1}: says {told}")
    _ = line[0].set(ylabel=name, ylim=(0, 1))
    plots.percent(line[0], "y")

# %% [markdown]
# - **Confidence-calibrated**: of the predictions with confidence c, a share c is right. This is what the ECE is about.
# - **Classwise-calibrated** (Kull et al. 2019): of all images that get 30 % for dog, 30 % show a dog; and so for every class
#   and every probability.
# - **Canonically calibrated**: of all images that get the row (60, 30, 10 %), 60 % show a cat, 30 % a dog, 10 % a lion; and
#   so for every row.
#
# **Predict before you run:** which of the four models is calibrated in which meaning? Look for bars of the same
# height.

# %% tags=["answer"]
def gap_by_value(says, truth):
    """Mean gap between a stated probability and the mean truth where it is stated."""
    return sum((says == value).mean() * abs(value - truth[says == value].mean()) for value in np.unique(says))


for name, (says, truth) in animals.items():
    predicted = range(len(says)), says.argmax(axis=1)  # place of the most probable animal in each row
    wrong_by = {"confidence": gap_by_value(says.max(axis=1), truth[predicted]),
                "classwise": np.mean([gap_by_value(says[:, k], truth[:, k]) for k in range(3)]),
                "canonical": np.abs(says - truth).sum(axis=1).mean()}  # no row is stated twice
    passed = [meaning for meaning, wrong in wrong_by.items() if wrong < 1e-6]
    print(f"{name} passes {len(passed)} of 3: {', '.join(passed)}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# Model 3 states the truth. Model 1 is right about its most probable animal, and wrong about the other two. Model 2 is
# right about each animal on average, as the errors of two kinds cancel; only the whole row shows them. Model 4 is
# also right about each animal on average, but *where 40 % is the largest number* it is right on 80 %.
#
# </details>
#
# Canonical calibration implies the others (average over rows). With three classes or more, neither implies another.
#
# ### Exercise: two classes
#
# *Difficulty: easy · importance: medium · 5 minutes*
#
# With K = 2 classes, which of the three meanings become the same? Find a model of two kinds of images that has one and
# lacks the next.
#
# <details><summary>Answer</summary>
#
# A row (p, 1 - p) is known from its first entry, so classwise and canonical are the same. Confidence is still weaker:
# say (.8, .2) where the truth is (.9, .1), and (.2, .8) where it is (.3, .7). The confidence is .8 both times and right
# on (.9 + .7) / 2 = .8, but class 0 at .8 occurs in 90 %.
#
# </details>
#
# ### A number that jumps, and a diagram without bins
#
# A model says "50 %" to all images, and half of its predictions are right: it is calibrated. Now it says
# $1/2-\varepsilon$ where it is right, and $1/2+\varepsilon$ where it is wrong (Błasiok and Nakkiran 2024). The **smECE** (smooth ECE) has no bins.
# It compares each confidence with the hits of predictions near it; nearer ones count more.
#
# **Predict before you run:** $\varepsilon$ = 0.001, ten bins. How large is the ECE?

# %% tags=["answer"]
def half_and_half(epsilon, n=1000):
    """Probabilities and labels: right at 1/2 - epsilon, wrong at 1/2 + epsilon, by turns."""
    right = torch.arange(n) % 2 == 0
    confidence = torch.where(right, 0.5 - epsilon, 0.5 + epsilon).double()
    rest = (1 - confidence) / 2
    return torch.stack([confidence, rest, rest], dim=1), torch.where(right, 0, 1)


for epsilon in (0, 0.001, 0.004):
    example = half_and_half(epsilon)
    print(f"epsilon {epsilon}: ECE with 10 bins {metrics.ece(*example, bins=10):.3f}, with 15 "
          f"{metrics.ece(*example, bins=15):.3f}; smECE {metrics.smooth_ece(*example):.3f}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# With ten bins there is an edge at 1/2, and the smallest $\varepsilon$ separates the two groups. With fifteen both stay
# in one bin. The smECE has no jump: it grows from 0 with $\varepsilon$, like a square root.
#
# </details>
#
# The **CORP diagram** (Dimitriadis, Gneiting and Jordan 2021) needs no edges. It fits a staircase to the hits (1 or 0), by
# least squares. It never goes down. The **consistency band** around the diagonal shows luck: calibrated models with these confidences are simulated, and at each confidence 90 % of their curves lie inside (most leave it somewhere).
# How much of each lies outside?

# %% tags=["drawing"]
chosen, labels = test_set(1000, SEED)
fig, axes = plt.subplots(1, 2, figsize=(8, 4))
for ax, (name, model) in zip(axes, {"model A": model_a, "model B": model_b}.items(), strict=True):
    _ = plots.corp_diagram(model[chosen], labels, ax=ax, title=f"CORP, {name}, 1,000 images")
    curve = metrics.corp(model[chosen], labels)
    above = curve.counts[curve.frequency > curve.band()[1]].sum() / curve.counts.sum()
    print(f"{name}: above the band at {above:.0%} of the images")

# %% [markdown]
# A lies above it at 22 % of the images: too cautious. B stays inside. ([Many measures are called ECE](what_your_ece_computes.md).)
#
# ### Is it calibrated at all?
#
# A test (lesson 02) asks whether luck could explain the errors. `metrics.calibration_test` gives two: one by the
# ECE, and **Spiegelhalter's** z. It says how many standard deviations the measured Brier score lies above (or, if negative,
# below) what the model itself expects. The **power of a test** is the probability that it rejects a model that is *not* calibrated. The
# slider shows the power of the ECE test for the posterior at T = 1, 1.1, 1.2 and 1.5.

# %% tags=["drawing"]
sizes, temperatures = [100, 200, 500, 1000, 2000, 5000], [1, 1.1, 1.2, 1.5]
rows = []
for T in temperatures:
    for n in sizes:
        by_ece, by_z, _ = readers.rejected(reader(T), posterior, n, size.draws, SEED)
        rows.append({"n": n, "T": T, "ECE test": by_ece, "z test": by_z})
power = pd.DataFrame(rows)
luck = 1.96 * (0.05 * 0.95 / size.draws) ** 0.5
names = {T: f"T {T:g}: exact error {metrics.true_calibration_error(reader(T), posterior):.1%}" for T in temperatures}
looks = {T: palette.group(i, name) for i, (T, name) in enumerate(names.items())}

# %% tags=["drawing"]
def power_frame(n):
    chosen, labels = test_set(n, SEED)
    now = power[power.n == n].set_index("T")["ECE test"]
    lines = {look: [power[power["T"] == T]["ECE test"].tolist()] for T, look in looks.items()}
    words = ", ".join(f"{now[T]:.0%} at {name}" for T, name in names.items())
    return explorers.along_frame(
        metrics.reliability(reader(1.2)[chosen], labels), n, sizes, lines, x_label="images in the test set",
        x_ticks=[100, 1000, 5000], log_x=True, y_label="test sets rejected (%)",
        title=f"{n:,} images; {names[1.2]}", readout=f"{n:,} images: the test rejects {words}.")


slider = explorers.Explorer(
    power_frame, explorers.Slider("images in the test set", sizes, show="{:,}".format), play=True,
    description="Left, the reliability diagram of one test set of the chosen size. Right, against the number "
    "of images, the share of test sets on which a test at level 5 % finds that the model is not calibrated, "
    f"a line for each exact error. Each point is {size.draws} test sets. The line of the calibrated model "
    f"belongs at 5 %, give or take {100 * luck:.0f} points of luck. The grey line marks the chosen size.")
explorers.keep(slider, "power")
slider

# %% [markdown]
# **Predict before you run:** 1,000 images. Which test rejects more often, the one by the ECE or z, (a) for a reader
# with T = 1.1, (b) for a *mixed* reader: too sure (T = 0.6) on every second image and too cautious (1.5) on the others?
# And if we use both, and reject when one has p below 2.5 % (half of the *level*, 5 %): how often then?

# %% tags=["answer"]
even = torch.arange(len(posterior))[:, None] % 2 == 0
mixed = torch.where(even, reader(0.6), reader(1.5))
for name, probs in {"T = 1, calibrated": posterior, "T = 1.1": reader(1.1), "mixed": mixed}.items():
    by_ece, by_z, both = readers.rejected(probs, posterior, 1000, size.draws, SEED)
    print(f"{name}: rejected by the ECE on {by_ece:.0%} of test sets, by z on {by_z:.0%}, "
                    f"by one of both, each at half the level, on {both:.0%}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# At T = 1.1 all gaps have one sign. z adds them up, over all classes: it rejects far more often. For the mixed reader
# the errors cancel in its sum, and z rejects rarely. Both together are nearly as good as the better one, and rarely
# reject the calibrated reader. "Not rejected" does not mean "calibrated": report which
# error the test would have found.
#
# </details>
#
# ### Exercise: which test would you plan? (homework)
#
# *Difficulty: hard · importance: high · 15 minutes*
#
# First in words: which models does z miss, which does the ECE test miss, and which test would you plan for your own
# network? Then **your turn**: construct a model with an exact error of several per cent that z rejects far less often
# than the ECE test.
#
# <details><summary>Answer</summary>
#
# z is one sum over all images. It misses errors of opposite sign, which cancel in the sum: a reader that is too sure on
# one half of the images and too cautious on the other, such as T = 0.6 and 1.5. The ECE test looks at each bin of the
# confidence. It misses errors of the other classes (model 1), and errors that cancel within a bin. Both miss models 1
# and 2: there the terms of z cancel, too. For a network of your own: plan both, each at half the level, and report the power at your n.
#
# </details>

# %%
my_model = reader(1.2)  # change me: a row for each image of the population
by_ece, by_z, both = readers.rejected(my_model, posterior, 1000, size.draws // 4, SEED)
print(f"exact error {metrics.true_calibration_error(my_model, posterior):.1%}: rejected by the ECE test on "
      f"{by_ece:.0%} of test sets, by z on {by_z:.0%}, by one of both at half the level on {both:.0%}")

# %% [markdown]
# All verdicts: [evidence](evidence/18_estimators_in_depth.ipynb).
#
# ## References
#
# - Błasiok, Nakkiran: *Smooth ECE: Principled Reliability Diagrams via Kernel Smoothing*. ICLR 2024.
#   [arXiv:2309.12236](https://arxiv.org/abs/2309.12236)
# - Bröcker: *Reliability, sufficiency, and the decomposition of proper scores*. Quarterly Journal of the Royal
#   Meteorological Society 135, 2009. [doi:10.1002/qj.456](https://doi.org/10.1002/qj.456)
# - Dimitriadis, Gneiting, Jordan: *Stable reliability diagrams for probabilistic classifiers*. PNAS 118, 2021.
#   [doi:10.1073/pnas.2016191118](https://doi.org/10.1073/pnas.2016191118)
# - Kull et al.: *Beyond temperature scaling*. NeurIPS 2019. [arXiv:1910.12656](https://arxiv.org/abs/1910.12656)
# - Kumar, Liang, Ma: *Verified Uncertainty Calibration*. NeurIPS 2019.
#   [arXiv:1909.10155](https://arxiv.org/abs/1909.10155)
# - Perez-Lebel, Le Morvan, Varoquaux: *Beyond calibration: estimating the grouping loss of modern neural networks*. ICLR 2023.
#   [arXiv:2210.16315](https://arxiv.org/abs/2210.16315)
# - Spiegelhalter: *Probabilistic prediction in patient management and clinical trials*. Statistics in Medicine
#   5, 1986. [doi:10.1002/sim.4780050506](https://doi.org/10.1002/sim.4780050506)
# - Vaicenavicius et al.: *Evaluating model calibration in classification*. AISTATS 2019.
#   [arXiv:1902.06977](https://arxiv.org/abs/1902.06977) (the three meanings)
# - Widmann, Lindsten, Zachariah: *Calibration tests in multi-class classification: a unifying framework*. NeurIPS 2019.
#   [arXiv:1910.11385](https://arxiv.org/abs/1910.11385) (a test of whole rows)
