# %% [markdown]
# # 18 · Estimators in depth: which number may decide between two models?
#
# **Question.** A clinic can buy one of two diagnosis models, and has 1,000 labelled images to choose by. Both models
# are right equally often. The reliability diagram of model B is as good as perfect, that of model A is not. The clinic
# wants to buy B. Is this wise, and which number could have told?

# %% tags=["drawing"]
from calibkit.course import explorers

explorers.stored("two_models")

# %% [markdown]
# Both models on one test set; the slider sets its size. How many images do *you* need to see that A is not calibrated? And would you buy B?
#
# **You will be able to**
# - tell three meanings of "calibrated" apart, and show a model that has one and lacks the next;
# - split a proper score into what recalibration can remove and what it cannot;
# - choose a test, and compare two models on one test set so that 1,000 images can decide.
#
# **Time.** 40 minutes; 15 more for the homework.
#
# **Needs.** [02 Measuring calibration](02_measuring_calibration.ipynb); for section 6 the map of [03](03_overconfidence.ipynb).

# %% tags=["drawing"]
from functools import cache, partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch

from calibkit import metrics, recalibration
from calibkit.course import check, claims, verdicts
from calibkit.course.experiments import nights, readers
from calibkit.course.scale import begin
from calibkit.metrics import plane
from calibkit.pictures import alt_text, palette, plots

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% [markdown]
# ## 1. Three meanings of "calibrated"
#
# A model that knows three animals meets a few kinds of images. Each small plot is one kind. Bars: the probabilities
# that the model gives to cat, dog and lion. Diamonds: the share of these images that really shows a cat, a dog, a lion.
# All kinds of a model are equally common.

# %% tags=["drawing"]
size, seeds, _ = begin(SCALE, SEED, DEVICE)
says_1, truth_1 = [[.6, .2, .2], [.2, .6, .2], [.2, .2, .6]], [[.6, .3, .1], [.3, .6, .1], [.3, .1, .6]]
says_2 = [[.1, .3, .6], [.1, .6, .3], [.3, .1, .6], [.3, .6, .1], [.6, .1, .3], [.6, .3, .1]]
truth_2 = [[.15, .25, .6], [.05, .65, .3], [.25, .15, .6], [.35, .55, .1], [.65, .05, .3], [.55, .35, .1]]
says_4, truth_4 = [[.1, .4, .5], [.2, .3, .5], [.3, .3, .4]], [[.1, 0, .9], [.2, .7, .1], [0, .2, .8]]


def in_turn(rows):
    return [np.roll(row, turn).tolist() for row in rows for turn in range(3)]


models = {"model 1": (says_1, truth_1), "model 2": (says_2, truth_2), "model 3": (says_2, says_2),
          "model 4": (in_turn(says_4), in_turn(truth_4))}
models = {name: (np.array(says).round(6), np.array(truth)) for name, (says, truth) in models.items()}
fig, axes = plt.subplots(4, 9, figsize=(10, 5.6), sharex=True, sharey=True)
for line, (name, (says, truth)) in zip(axes, models.items(), strict=True):
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


for name, (says, truth) in models.items():
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
# ## 2. What a proper score is made of
#
# Now digits under so much noise (0.6) that nobody can read all of them. The exact posterior q is known. **Model A** is
# this posterior, made too cautious by a temperature of 1.2. **Model B** groups the images by their most probable digit,
# and says the same row for a whole group: its mean posterior. The expected Brier score of a row p is its squared distance
# from the truth, plus what nobody can avoid:
#
# $$E\,\sum_k (p_k - y_k)^2 \;=\; \sum_k (p_k - q_k)^2 \;+\; \sum_k q_k (1 - q_k).$$
#
# (The label $y_k$ is 1 with probability $q_k$: its mean is $q_k$, its variance $q_k(1-q_k)$.)
#
# ### Exercise: the avoidable part
#
# *Difficulty: easy · importance: high · 5 minutes*
#
# From `probs` (n x K) and the exact `posterior` (n x K), return by how much the expected Brier score of `probs` is
# above that of the posterior: one number.

# %%
def my_avoidable_brier(probs, posterior):
    ...  # your code here


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
#
# A repair of the outputs, such as a temperature, sees only the rows of probabilities. All images that B reads as a 3 get
# one row, so a repair cannot tell them apart. Let p be such a row, and r the mean posterior of its images. Among them class
# k has the share $r_k$. So for them the formula holds with r in place of q. Its first term is the **calibration part**
# $\sum_k (p_k - r_k)^2$. A recalibration (a function from rows to rows) could remove it. The second is the **refinement**
# $\sum_k r_k(1 - r_k)$. Here *low* is good, and no recalibration lowers it.
#
# **Predict before you run:** whose calibration part is larger, A's or B's? And whose refinement?

# %% tags=["answer", "drawing"]
posterior = readers.population(size, SEED).posterior
reader, test_set = partial(readers.tempered, posterior), partial(readers.test_set, posterior)
model_a, model_b = reader(1.2), readers.coarse(posterior)
explained = {"exact posterior": (posterior, posterior), "model A": (model_a, posterior)}
found = {name: readers.parts(*pair) for name, pair in explained.items()} | {"model B": readers.parts(model_b, model_b)}
fig, ax = plt.subplots(figsize=(6.4, 2.2))
calibration, refinement = (list(column) for column in zip(*found.values(), strict=True))
_ = ax.barh(list(found), refinement, color=palette.SKY, label="refinement")
_ = ax.barh(list(found), calibration, left=refinement, color=palette.VERMILLION, hatch="//",
            label="calibration part")
_ = ax.set(xlabel="expected Brier score", xlim=(0, 0.45))
_ = ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
told = "; ".join(f"{name}: refinement {r:.3f}, calibration part {c:.4f}" for name, (c, r) in found.items())
_ = alt_text.note(ax, f"Expected Brier score in its two parts. {told}")
plt.show()
for name, (c, r) in found.items():
    print(f"{name}: calibration part {c:.4f}, refinement {r:.3f}, together {c + r:.3f}")


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
# <details><summary>What came out</summary>
#
# The calibration part of B is zero: B is calibrated even canonically. That of A is tiny. But the refinement of B is
# .39, that of A .32: B says the same row for the clear and the unreadable images of a group. What is lost inside such a
# group is the *grouping loss* (Perez-Lebel et al. 2023). A recalibration can repair A. None can repair B.
#
# </details>
#
# ## 3. A number that jumps, and a diagram without bins
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
# A lies above it at 22 % of the images: too cautious. B stays inside. [Many measures are called ECE](what_your_ece_computes.md):

# %%
meanings = {  # the exact error of model B is 0 in all of them: what is measured is bias
    "equal width": metrics.ece, "equal mass": metrics.ada_ece, "classwise": metrics.classwise_ece,
    "L2": partial(metrics.ece, norm="l2"), "L2, debiased": metrics.debiased_ece,
    "largest gap (MCE)": metrics.mce, "smooth": metrics.smooth_ece}
draws = [test_set(1000, seed) for seed in range(20)]
for name, measure in meanings.items():
    values = [measure(model_b[rows], labels) for rows, labels in draws]
    print(f"{name:18} {np.mean(values):5.1%} on average, {min(values):.1%} to {max(values):.1%}")

# %% [markdown]
# ## 4. Is it calibrated at all?
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
# ## 5. Two models, one test set
#
# Both models are scored on the *same* images. An image that is hard for one is hard for the other; in the difference
# this cancels. The **paired interval** is the interval of the mean difference, image by image (by hand from a normal
# distribution; the package resamples):

# %%
chosen, labels = test_set(1000, SEED)
# squares: the Brier score of each image; middle: the 90 % interval of the mean
score_a, score_b = (readers.squares(model[chosen], labels) for model in (model_a, model_b))
for name, scores in {"model A": score_a, "model B": score_b, "B minus A": score_b - score_a}.items():
    print(f"{name}: Brier score {scores.mean():.3f}, 90 % interval", np.round(readers.middle(scores), 3))
by_package = metrics.paired_interval(model_b[chosen], model_a[chosen], labels, metric="brier")
print("the package: B minus A,", np.round(by_package, 3))

# %% [markdown]
# **Predict before you run:** we draw 1,000 labelled images again and again, for three pairs: A and B; the posterior and A;
# the posterior and a reader with T = 1.1. On what share of the test sets does the better one have (a) the lower ECE, (b) the
# lower Brier score? The table also counts how often intervals *decide*: a paired one if it excludes zero, two
# separate ones if they do not overlap.

# %% tags=["answer"]
pairs = {"A against B": (model_a, model_b), "posterior against A": (posterior, model_a),
         "posterior against T = 1.1": (posterior, reader(1.1))}
columns = ["ECE", "Brier score", "paired interval", "separate intervals"]  # that name the better one
shares = [readers.named(*pair, posterior, 1000, size.draws, SEED) for pair in pairs.values()]
print(pd.DataFrame(shares, index=list(pairs), columns=columns).map("{:.0%}".format).to_string())

# %% [markdown]
# <details><summary>What came out</summary>
#
# Between A and B the ECE nearly always names the worse model, since it cannot see the refinement. On most test sets B
# has a lower ECE even than the exact posterior (evidence). Both have an exact error of 0, but B fills
# fewer bins, so less noise adds up. In the other two pairs the models differ in calibration alone: both numbers
# mostly name the better one, and only the *paired* interval decides, on some test sets.
#
# </details>
#
# The first *verdict* gives the mean over five blocks of test sets, the second a share of all 250 sets, with 95 % intervals.

# %% tags=["nbval-check-output"]
def blocks(pair):
    return np.array([readers.named(*pairs[pair], posterior, 1000, size.draws // 4, seed) for seed in seeds])


found = blocks("posterior against A")  # columns as in the table above
print(verdicts.judge("18c", "pairing finds the better model on more test sets", found[:, 2] - found[:, 3]))
print(claims.concluded("18", "18c"))
cases = len(seeds) * (size.draws // 4)
print(verdicts.judge_share(
    "18d", "A against B: the lower ECE names the better one on at most one test set in ten",
    round(blocks("A against B")[:, 0].mean() * cases), cases, than=0.1, expect="below"))
print(claims.concluded("18", "18d"))

# %% [markdown]
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
# ## 6. On photographs, and on the map
#
# We stored networks for photographs of CIFAR-10, trained with cross-entropy or focal loss (three seeds). Each gets one temperature. **Predict before you run:** can the ECE tell them apart? Can the Brier score?

# %% tags=["answer", "drawing"]
trained = nights.table()
where, answers = {}, {}
for place, loss in enumerate(("cross-entropy", "focal, gamma 3")):
    for seed in (0, 1, 2):
        kept = nights.logits(loss, seed, 5e-3)
        T = recalibration.TemperatureScaler().fit(kept["cal"], kept["cal_labels"])
        probs, told = T.probs(kept["test"]), kept["test_labels"]
        own = trained[(trained.loss == loss) & (trained.decay == 5e-3) & (trained.seed == seed)]
        learnt = own.train_accuracy.item()
        at = plane.place(learnt, metrics.accuracy(probs, told), probs.amax(dim=1).mean().item())
        where.setdefault(palette.group(place, f"{loss}, after T"), []).append(at)
        answers.setdefault(loss, []).append((probs, told))
_ = plots.plane(where)
plt.show()
for metric in ("ece", "brier", "accuracy"):
    means = [np.mean([getattr(metrics, metric)(*one) for one in both]) for both in answers.values()]
    ends = [metrics.paired_interval(focal, plain, told, metric=metric)
            for (plain, told), (focal, _) in zip(*answers.values())]
    print(f"{metric}: cross-entropy {means[0]:.3f}, focal loss {means[1]:.3f}; 90 % interval of focal loss minus "
          "cross-entropy, by seed: " + ", ".join(f"[{low:+.3f}, {high:+.3f}]" for low, high in ends))

# %% [markdown]
# <details><summary>What came out</summary>
#
# Hardly, and yes. In one seed the ECE's interval excludes 0 (near calibration, too often). The paired Brier score decides for cross-entropy each time. Three seeds are too few for a claim on the losses.
# On the map both lie near height zero: it does not show how much a model knows.
#
# </details>
#
# ## The answer
#
# **No: B is calibrated, but knows less. It says the same for clear and for unreadable images. Its perfect diagram hides
# this, and no later repair can change it; A needs only one temperature.** **A proper score, compared image by image on
# the same 1,000 images, tells. The ECE alone named the worse model nearly every time.**
#
# All verdicts: [evidence](evidence/18_estimators_in_depth.ipynb). To use it: [17 Audit your own
# model](17_audit_your_model.ipynb).
#
# ## Three things to take away
#
# 1. "Calibrated" has three meanings. Canonical calibration implies the other two; the ECE is about the predicted class alone.
# 2. A proper score is calibration part plus refinement. Recalibration can remove the first, never the second.
# 3. Compare models by a proper score, paired on the same images. Test with the ECE and z, each at half the level, and
#    report the power. Neither sees models 1 and 2 of section 1, at any n: whole rows need other tests (Widmann et al. 2019).
#
# ## Recall
#
# <details><summary>1. Give a model that is confidence-calibrated and not classwise-calibrated.</summary>
#
# Model 1 of section 1. Its highest probability is right, and it spreads the rest evenly, while the truth does not, so
# that the errors of a class do not cancel.
#
# </details>
#
# <details><summary>2. Which part of a proper score can a temperature remove?</summary>
#
# The calibration part, or a part of it. The refinement stays: images with different rows still get different rows,
# images with the same row the same.
#
# </details>
#
# <details><summary>3. Why does the ECE jump when confidences move by a thousandth?</summary>
#
# A prediction whose confidence crosses an edge changes its bin; its gap no longer cancels against those of its old neighbours.
#
# </details>
#
# <details><summary>4. A test with 100 images does not reject. What do you report?</summary>
#
# The n, and which error the test would have found with high probability: its power.
#
# </details>
#
# <details><summary>5. Two 90 % intervals overlap. Are the models equally good?</summary>
#
# This does not follow. Look at the interval of the difference on the same images.
#
# </details>
#
# ## Go further
#
# Does the number of bins change the power of the ECE test? Try 5 and 50 bins at T = 1.2, n = 500. If your digits differ, see
# [your numbers differ?](your_numbers_differ.md).
#
# <details><summary>Answer</summary>
#
# With one T for all images, all gaps have the same sign. So fewer bins lose nothing, and add up less noise. We found a
# power of 52 % with 5 bins and of 14 % with 50 (50 test sets each, so uncertain by 10 to 14 points).
#
# ```python
# for bins in (5, 50):
#     rejections = []
#     for seed in range(size.draws // 4):
#         chosen, labels = test_set(500, seed)
#         tested = metrics.calibration_test(reader(1.2)[chosen], labels, bins=bins, resamples=99, seed=seed)
#         rejections.append(tested.p_value <= 0.05)
#     print(bins, "bins: power", np.mean(rejections))
# ```
#
# </details>
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
# - Mukhoti, Kulharia, Sanyal, Golodetz, Torr, Dokania: *Calibrating Deep Neural Networks using Focal Loss*.
#   NeurIPS 2020. [arXiv:2002.09437](https://arxiv.org/abs/2002.09437) (figure 4)
# - Perez-Lebel, Le Morvan, Varoquaux: *Beyond calibration: estimating the grouping loss of modern neural networks*. ICLR 2023.
#   [arXiv:2210.16315](https://arxiv.org/abs/2210.16315)
# - Spiegelhalter: *Probabilistic prediction in patient management and clinical trials*. Statistics in Medicine
#   5, 1986. [doi:10.1002/sim.4780050506](https://doi.org/10.1002/sim.4780050506)
# - Vaicenavicius et al.: *Evaluating model calibration in classification*. AISTATS 2019.
#   [arXiv:1902.06977](https://arxiv.org/abs/1902.06977) (the three meanings)
# - Widmann, Lindsten, Zachariah: *Calibration tests in multi-class classification: a unifying framework*. NeurIPS 2019.
#   [arXiv:1910.11385](https://arxiv.org/abs/1910.11385) (a test of whole rows)
