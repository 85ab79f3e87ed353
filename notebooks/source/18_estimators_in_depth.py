# %% [markdown]
# # 18 · Estimators in depth: which calibration, measured how, with what certainty
#
# **Question.** A clinic may switch from one diagnosis model to another, and has 1,000 labelled images to decide with.
# Which of its calibration numbers can carry that decision?
#
# **You will be able to**
# - tell three meanings of "calibrated" apart, and show a model that passes one and fails the next;
# - split a proper score exactly into a part that recalibration can remove and a part that it cannot;
# - draw a reliability diagram without bins, with the band in which a calibrated model lies;
# - test calibration, compare two models on one test set, and say how often an interval contains the truth.
#
# **Time.** 60 minutes for sections 1 to 5; 35 more for 6 to 8, a second sitting.
#
# **Needs.** [02 Measuring calibration](02_measuring_calibration.ipynb).

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
import torch

from calibkit import metrics
from calibkit.course import check, explorers, verdicts
from calibkit.course.scale import begin
from calibkit.lab import data
from calibkit.pictures import alt_text, palette, plots

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% [markdown]
# A calibration test (02) *rejects* a model if its p-value is at most 0.05. For four models whose error we know exactly,
# the slider shows on what share of test sets it rejects.

# %%
size, seeds, _ = begin(SCALE, SEED, DEVICE)
draws = size.draws // 4  # test sets behind one number
explorers.stored("power")

# %% [markdown]
# With how many images would you trust a test that did not reject? Section 6 makes this figure.
#
# No network is trained here. All models come from the exact posterior of digits at noise 0.6 (00: 0.4): its
# logarithm is divided by a temperature T (02), then comes a softmax. T = 1 is the posterior itself, T > 1 is too
# cautious, T < 1 too bold. So each truth is known.

# %%
population = data.NoisyDigits(noise=0.6).draw(2 * size.test, seed=SEED)
posterior = population.posterior


def reader(T):
    """The exact posterior at temperature T."""
    return (posterior.log() / T).softmax(dim=1)


def true_error(T, **options):
    return metrics.true_calibration_error(reader(T), posterior, **options)


print("exact error: " + ", ".join(f"{true_error(T):.1%} at T = {T}" for T in (0.5, 1, 1.1, 1.2, 1.5)))

# %% [markdown]
# ## 1. Three meanings of "calibrated"
#
# - **Confidence-calibrated**: of the predictions with confidence c, a share c is right. This is what the ECE is about.
# - **Classwise-calibrated** (Kull et al. 2019): of the images that get probability p for class k, a share p shows
#   class k, for every p and every class k.
# - **Canonically calibrated**: of the images that get the whole vector of probabilities p, a share $p_k$ shows class
#   k, for all k at once.
#
# The last implies the other two. The first does not imply the second, nor the second the third. To see this, we build three models
# in a world with three animals. Each row of `stated` is what the model says about one kind of image; the same row of
# `truth` is the exact posterior of this kind. All kinds are equally common.

# %%
stated_1 = np.array([[.6, .2, .2], [.2, .6, .2], [.2, .2, .6]])
truth_1 = np.array([[.6, .3, .1], [.3, .6, .1], [.3, .1, .6]])
stated_2 = np.array([[.1, .3, .6], [.1, .6, .3], [.3, .1, .6], [.3, .6, .1], [.6, .1, .3], [.6, .3, .1]])
truth_2 = np.array([[.15, .25, .6], [.05, .65, .3], [.25, .15, .6], [.35, .55, .1], [.65, .05, .3],
                    [.55, .35, .1]])
worlds = {"model 1": (stated_1, truth_1), "model 2": (stated_2, truth_2), "model 3": (stated_2, stated_2)}
for name, (stated, truth) in worlds.items():
    print(f"{name}: cat, dog, lion")
    for one, other in zip(stated, truth, strict=True):
        print("   stated", one, "  truth", other)

# %%
def gap_by_value(stated, truth):
    """Mean gap between a stated probability and the mean truth where it is stated."""
    total = 0
    for value in np.unique(stated):
        there = stated == value
        total += there.mean() * abs(value - truth[there].mean())
    return total


def three_errors(stated, truth):
    rows, classes = np.arange(len(stated)), range(stated.shape[1])
    predicted = stated.argmax(axis=1)
    return {
        "confidence": gap_by_value(stated.max(axis=1), truth[rows, predicted]),
        "classwise": np.mean([gap_by_value(stated[:, k], truth[:, k]) for k in classes]),
        "canonical": np.abs(stated - truth).sum(axis=1).mean(),  # no row is stated twice
    }

# %% [markdown]
# **Predict before you run:** look at the rows. Which of the three models passes which of the three definitions?

# %% tags=["answer"]
found = pd.DataFrame({name: three_errors(*world) for name, world in worlds.items()}).round(6)
for name in worlds:
    passed = found.index[found[name] == 0].tolist()
    print(f"{name} passes {len(passed)} of 3: {', '.join(passed)}")
found

# %% [markdown]
# Open the answer above first.
#
# - **Model 1** is confidence-calibrated alone. On the first two kinds of images it states 20 % for the lion, where the
#   truth is 10 %.
# - **Model 2** is classwise-calibrated too. Each number of each column is stated for two kinds of images, and the
#   errors of the two cancel. Only the whole row shows them.
# - **Model 3** states the truth.
#
# So a small ECE says nothing about the other columns, and a small classwise-ECE nothing about whole rows.
#
# ### Exercise: two classes
#
# *Difficulty: easy · importance: medium · 5 minutes*
#
# With K = 2 classes, which of the three definitions become the same? Find a model of two kinds of images that passes
# one and fails the next.
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
# With the posterior q of an image known, the expected Brier score of a row p is, exactly,
#
# $$E\,\sum_k (p_k - y_k)^2 \;=\; \sum_k (p_k - q_k)^2 \;+\; \sum_k q_k (1 - q_k).$$
#
# (The label $y_k$ is 1 with probability $q_k$: its variance is $q_k(1-q_k)$, and mean and variance add up.)
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
# Now take all images that get the same row p. Let r be their mean posterior. Among them a label is class k with probability
# $r_k$, so the same formula holds with r in place of q. Its first term is the **calibration part**
# $\sum_k (p_k - r_k)^2$: a map from rows to rows could remove it. The other is the **refinement**
# $\sum_k r_k(1 - r_k)$. No map of the outputs makes it smaller.
#
# The reader at temperature T states a different row for each posterior, so r = q. Beside it we put a *coarse* reader: it
# looks only at the favourite digit, and states the mean posterior of all images with this favourite.

# %%
favourite = posterior.argmax(dim=1)
coarse = torch.empty_like(posterior)
for k in range(10):
    coarse[favourite == k] = posterior[favourite == k].mean(dim=0)


def parts(probs, known):
    """Calibration part and refinement; known: the mean posterior of all images with the same row."""
    calibration = (probs - known).square().sum(dim=1).mean().item()
    return calibration, (known * (1 - known)).sum(dim=1).mean().item()


rows = {f"T = {T}": (reader(T), posterior) for T in (0.5, 0.8, 1, 1.2, 1.5, 2)}
rows["coarse"] = (coarse, coarse)
table = pd.DataFrame([parts(*row) for row in rows.values()], index=list(rows),
                     columns=["calibration", "refinement"])
table["Brier, from labels"] = [metrics.brier(probs, population.labels) for probs, _ in rows.values()]

# %%
fig, ax = plt.subplots(figsize=(6.4, 3.4))
_ = ax.bar(table.index, table.refinement, color=palette.SKY, label="refinement")
_ = ax.bar(table.index, table.calibration, bottom=table.refinement, color=palette.VERMILLION, hatch="//",
           label="calibration")
_ = ax.plot(table.index, table["Brier, from labels"], "D", color=palette.BLACK,
            label="Brier score, from labels")
_ = ax.set(ylabel="Brier score", ylim=(0, 1.3 * table["Brier, from labels"].max()))
_ = ax.legend(ncols=3, fontsize="small")
table.round(4)

# %% [markdown]
# The refinement is the same for every T, and the calibration part is zero at T = 1. The coarse reader is canonically
# calibrated and has the largest refinement: calibration alone does not make a model useful. (For a network r is not
# known: to estimate it one needs many images with exactly the same row, and in a sample each row occurs once.)
#
# ## 3. Why the binned ECE jumps
#
# Błasiok and Nakkiran (2024) give this example. A model says "50 %" to all images, and half of its predictions are
# right: it is calibrated. Now it says 1/2 - $\varepsilon$ where it is right, and 1/2 + $\varepsilon$ where it is wrong.
# Every stated number has moved by only $\varepsilon$, so a sensible measure should move only a little. Their **smECE** (smooth ECE) replaces bins by a
# smooth kernel whose width it chooses itself.
#
# **Predict before you run:** $\varepsilon$ = 0.001, ten bins. How large is the ECE?

# %% tags=["answer"]
def half_and_half(epsilon, n=1000):
    """Probabilities and labels: right at 1/2 - epsilon, wrong at 1/2 + epsilon, by turns."""
    right = torch.arange(n) % 2 == 0
    confidence = torch.where(right, 0.5 - epsilon, 0.5 + epsilon).double()
    rest = (1 - confidence) / 2
    return torch.stack([confidence, rest, rest], dim=1), torch.where(right, 0, 1)


epsilons = np.linspace(-0.05, 0.05, 41).round(4)
jump = pd.DataFrame({
    "epsilon": epsilons,
    "ECE, 10 bins": [metrics.ece(*half_and_half(e), bins=10) for e in epsilons],
    "ECE, 15 bins": [metrics.ece(*half_and_half(e), bins=15) for e in epsilons],
    "smECE": [metrics.smooth_ece(*half_and_half(e)) for e in epsilons],
}).melt("epsilon", var_name="estimator", value_name="value")
fig, ax = plt.subplots(figsize=(5.6, 3.4))
_ = sns.lineplot(jump, x="epsilon", y="value", hue="estimator", style="estimator", ax=ax)
highest = jump.groupby("estimator").value.max().round(2).to_dict()
_ = alt_text.note(ax, f"Three estimators against epsilon from -0.05 to 0.05, all 0 at 0; highest: {highest}.")
for epsilon in (0, 0.001, 0.004):
    example = half_and_half(epsilon)
    print(f"epsilon {epsilon}: ECE with 10 bins {metrics.ece(*example, bins=10):.3f}, "
          f"smECE {metrics.smooth_ece(*example):.3f}")

# %% [markdown]
# Open the answer above first. With ten bins there is an edge at 1/2: it separates the two groups at once, and the ECE
# jumps. With fifteen bins both stay in one bin until $\varepsilon$ reaches 1/30, and then it jumps too. The
# smECE has no jump: here it doubles where $\varepsilon$ grows fourfold, as a square root does.
#
# ## 4. A diagram without bins
#
# The **CORP diagram** (Dimitriadis, Gneiting and Jordan 2021) leaves the bins to the data. Of all curves that never
# fall, it draws the one with the smallest mean squared distance to the hits, 0 or 1 (isotonic regression). Each flat
# piece is a bin. Around the diagonal lies the **consistency band**: each hit is drawn anew with its confidence as
# probability, and the curve is fitted again, many times. At any one confidence, a calibrated model leaves the band on
# about 10 % of test sets.

# %%
def test_set(n, seed):
    """Indices of n images of the population, with labels drawn afresh from their posterior."""
    generator = torch.Generator().manual_seed(seed)
    chosen = torch.randint(len(posterior), (n,), generator=generator)
    return chosen, torch.multinomial(posterior[chosen], 1, generator=generator)[:, 0]


chosen, labels = test_set(1000, SEED)
fig, axes = plt.subplots(2, 2, figsize=(7.4, 8))
for (left, right), T in zip(axes, (1, 1.5), strict=True):
    probs, name = reader(T)[chosen], f"exact error {true_error(T):.1%}"
    counted = metrics.reliability(probs, labels)
    _ = plots.draw_reliability(counted, ax=left, title=f"15 bins, {name}", legend=False)
    _ = plots.corp_diagram(probs, labels, ax=right, title=f"CORP, {name}")

# %% [markdown]
# - **Top:** the posterior. The curve wanders, but mostly inside the band.
# - **Bottom:** too cautious. The curve leaves the band upwards.
#
# The curve splits the Brier score of "is the prediction right?" exactly: it is miscalibration minus discrimination plus
# uncertainty. *Uncertainty*, a(1 - a), is the score of always stating the accuracy a. *Discrimination*: by how much the
# curve's score is below that. *Miscalibration*: by how much the model's score is above the curve's.

# %%
for T in (1, 1.5):
    found = metrics.corp(reader(T)[chosen], labels)
    print(f"T = {T}: miscalibration {found.miscalibration:.4f}, discrimination {found.discrimination:.4f}, "
          f"uncertainty {found.uncertainty:.4f}")

# %% [markdown]
# The miscalibration is *not* zero for the posterior: fitted on the same hits, it is biased upwards.
#
# ## 5. Bias and spread of each estimator
#
# In 02 the ECE of small test sets was too large. Five estimators, each against its own exact value. **AdaECE**
# has bins of equally many images. The **debiased L2 error** (Kumar et al. 2019) takes the mean squared gap, subtracts
# what luck adds on average, sets a negative result to 0, and takes the root. *L2, plain* does not subtract. (smECE
# is compared with the exact ECE of 15 bins.)

# %%
def plain_l2(probs, labels):
    """Root of the mean squared gap; "mass": bins of equally many images, as in AdaECE."""
    return metrics.ece(probs, labels, norm="l2", binning="mass")


estimators = {"ECE": metrics.ece, "AdaECE": metrics.ada_ece, "smECE": metrics.smooth_ece,
              "L2, plain": plain_l2, "L2, debiased": metrics.debiased_ece}


def exact_value(name, T):
    """The exact error that the estimator of this name is to estimate."""
    if name.startswith("L2"):
        return true_error(T, norm="l2", binning="mass")
    return true_error(T, binning="mass" if name == "AdaECE" else "width")


def values(measure, T, n, block=SEED, **options):
    """The measure on `draws` test sets of n images; each block has test sets of its own."""
    probs, found = reader(T), []
    for seed in range(draws):
        chosen, labels = test_set(n, 1000 * block + seed)
        found.append(measure(probs[chosen], labels, **options))
    return np.array(found)

# %% [markdown]
# First the bias of each: its mean over the test sets minus the exact value.

# %%
rows = []
for name, measure in estimators.items():
    for T in (1, 1.2):
        for n in (100, 1000, 4000):
            found = values(measure, T, n)
            rows.append({"estimator": name, "T": T, "n": n, "bias": found.mean() - exact_value(name, T),
                         "spread": found.std()})
table = pd.DataFrame(rows)
table.pivot(index="estimator", columns=["T", "n"], values="bias").round(3)

# %% [markdown]
# Now the spread: its standard deviation over the test sets.

# %%
table.pivot(index="estimator", columns=["T", "n"], values="spread").round(3)

# %% [markdown]
# - At T = 1 the truth is zero, and *every* estimator is above it, the debiased one as well. Its square has
#   little bias before it is cut off (printed in the last folded cell of this section); the cut and the root keep the
#   mean above zero. In theory the square is unbiased only where the confidences in a bin are all equal.
# - The debiased estimator has less bias and more spread than the plain one.
#
# How does the bias grow with the number of bins, and with the number of classes? For fewer classes we add the
# posteriors of digits: odd and even (K = 2), or neighbours (K = 5).

# %%
rows = []
for number in (1, 2, 5, 15, 50, 150, 500, 5000, 50000):
    for estimate in values(metrics.ece, 1, 1000, bins=number):
        rows.append({"bins": number, "ECE": estimate})
by_bins = pd.DataFrame(rows)

# %%
groups = {2: [0, 1] * 5, 5: [0, 0, 1, 1, 2, 2, 3, 3, 4, 4], 10: list(range(10))}  # new class of each digit
rows = []
for K, group in groups.items():
    merged = torch.zeros(len(posterior), K, dtype=posterior.dtype)
    for digit in range(10):
        merged[:, group[digit]] += posterior[:, digit]
    for seed in range(draws):
        chosen, labels = test_set(1000, seed)
        rows.append({"K": K, "ECE": metrics.ece(merged[chosen], torch.tensor(group)[labels])})
by_classes = pd.DataFrame(rows)

# %% [markdown]
# **Predict before you run:** does the bias grow without end as bins are added?

# %% tags=["answer"]
confidence = posterior.amax(dim=1)
single = (2 * confidence * (1 - confidence)).mean().item()
print("mean ECE by bins:", by_bins.groupby("bins").ECE.mean().round(3).to_dict())
print(f"by the formula, with a bin for each image: {single:.3f}")
print("mean ECE by K:", by_classes.groupby("K").ECE.mean().round(4).to_dict())
fig, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.4))
_ = sns.lineplot(by_bins, x="bins", y="ECE", errorbar=("pi", 90), ax=left)
_ = left.axhline(single, ls="--", color=palette.GREY)
_ = left.set(xscale="log", ylabel="ECE of the posterior, n = 1000")
_ = sns.lineplot(by_classes, x="K", y="ECE", errorbar=("pi", 90), marker="o", ax=right)
_ = right.set(ylim=(0, None), xticks=[2, 5, 10], ylabel="ECE of the posterior, n = 1000")

# %% [markdown]
# Open the answer above first. No: the growth ends when each image has a bin of its own. Then the ECE is the mean
# distance between confidence c and hit, and its expectation is the mean of 2 c (1 - c), the dashed line: no longer a
# measure of calibration. The right panel does not show what K does in general: the confidences change too. (For the
# verdicts of this lesson, a seed is a fresh set of test sets from the same population.)

# %% tags=["nbval-check-output"]
def bias(seed, bins):
    return values(metrics.ece, 1.2, 1000, seed, bins=bins).mean() - true_error(1.2, bins=bins)


rise = [bias(seed, 50) - bias(seed, 5) for seed in seeds]
print(verdicts.judge("M6", "T = 1.2, n = 1000: 50 bins are more biased than 5", rise))
floor = [values(metrics.debiased_ece, 1, 100, seed).mean() for seed in seeds]
print(verdicts.judge("M6", "the debiased estimate of the posterior, n = 100, is above 0.01", floor,
                     margin=0.01))

# %% tags=["aside", "nbval-check-output"]
def square_before_the_cut(probs, labels):
    counted = metrics.reliability(probs, labels, binning="mass")
    # what luck alone adds to the squared gap of a bin: the variance of its accuracy, estimated
    noise = counted.accuracy * (1 - counted.accuracy) / (counted.counts - 1)
    return (counted.share * (counted.gap.square() - noise)).nansum().item()


squared = np.concatenate([values(square_before_the_cut, 1, 1000, seed) for seed in seeds])
half = 1.96 * squared.std() / len(squared) ** 0.5
plain = np.array([values(plain_l2, 1, 1000, seed) for seed in seeds])
print(f"the square before the cut: mean {squared.mean():.6f} +- {half:.6f}, plain {np.mean(plain**2):.6f}")
debiased = [values(metrics.debiased_ece, 1, 1000, seed) for seed in seeds]
less = np.mean(debiased, axis=1) - np.mean(plain, axis=1)
wider = np.std(debiased, axis=1) - np.std(plain, axis=1)
print(verdicts.judge("M6", "n = 1000: the debiased L2 estimate of the posterior is below the plain one",
                     less, expect="below"))
print(verdicts.judge("M6", "n = 1000: the debiased L2 estimate of the posterior has more spread", wider))

# %% [markdown]
# ## 6. Is it calibrated at all?
#
# *The second sitting begins here. Run the cells above again first.*
#
# `metrics.calibration_test` (02) draws hits from the model's own confidences and counts how often they show as large an
# ECE. It also gives Spiegelhalter's z: the sum over all images of (Brier score minus what the model itself expects it to be),
# divided by its standard deviation. The
# **power of a test** is the probability that it rejects a model that is *not* calibrated.

# %%
def rejected(probs, n, block=SEED, tests=draws):
    """Share of test sets whose p-value is at most 0.05: by the ECE, and by z."""
    found = []
    for seed in range(tests):
        chosen, labels = test_set(n, 1000 * block + seed)
        tested = metrics.calibration_test(probs[chosen], labels, resamples=99)
        found.append((tested.p_value <= 0.05, tested.p_value_z <= 0.05))
    return np.mean(found, axis=0)


sizes, temperatures = [100, 200, 500, 1000, 2000, 5000], [1, 1.1, 1.2, 1.5]
rows = []
for T in temperatures:
    for n in sizes:
        by_ece, by_z = rejected(reader(T), n, tests=size.draws)
        rows.append({"n": n, "T": T, "ECE test": by_ece, "z test": by_z})
power = pd.DataFrame(rows)
luck = 1.96 * (0.05 * 0.95 / size.draws) ** 0.5
print(f"each share is counted on {size.draws} test sets; near 5 % luck moves it by {100 * luck:.0f} points")

# %% tags=["drawing"]
names = {T: f"exact error {true_error(T):.1%}" for T in temperatures}
looks = {T: palette.group(i, name) for i, (T, name) in enumerate(names.items())}


def share_rejected(T, test):
    return power[power["T"] == T][test].tolist()


def frame(n):
    chosen, labels = test_set(n, SEED)
    now = power[power.n == n].set_index("T")["ECE test"]
    words = [f"{now[T]:.0%} at {name}" for T, name in names.items()]
    return explorers.along_frame(
        metrics.reliability(reader(1.2)[chosen], labels), n, sizes,
        {look: [share_rejected(T, "ECE test")] for T, look in looks.items()},
        x_label="images in the test set", x_ticks=[100, 1000, 5000], log_x=True,
        y_label="share of test sets rejected", title=f"{n:,} images; {names[1.2]}",
        readout=f"{n:,} images: the test rejects {', '.join(words)}.")


# %% tags=["drawing"]
slider = explorers.Explorer(
    frame, explorers.Slider("images in the test set", sizes, show="{:,}".format), play=True,
    description="Left, the reliability diagram of one test set of the chosen size. Right, against the number "
    "of images, the share of test sets on which a test at level 5 % finds that the model is not calibrated, "
    f"a line for each exact error. Each point is {size.draws} test sets. The line of the calibrated model "
    f"belongs at 5 %, give or take {100 * luck:.0f} points of luck. The grey line marks the chosen size.")
explorers.keep(slider, "power")


def draw_power():
    """One panel for each test: the share rejected against the number of images."""
    fig, axes = plt.subplots(1, 2, figsize=(9.4, 3.6), sharey=True)
    for ax, test in zip(axes, ("ECE test", "z test"), strict=True):
        for T, look in looks.items():
            _ = ax.plot(sizes, share_rejected(T, test), **look.line())
        _ = ax.axhline(0.05, ls=":", color=palette.GREY)
        _ = ax.set(xscale="log", ylim=(0, 1.05), title=test, xlabel="images in the test set")
        _ = ax.set_xticks(sizes, [f"{n:,}" for n in sizes], rotation=45)
        _ = ax.minorticks_off()
        at_1000 = {name: share_rejected(T, test)[sizes.index(1000)] for T, name in names.items()}
        _ = alt_text.note(ax, f"{test}: share rejected against images, rising; with 1,000 images: {at_1000}")
    _ = axes[0].set_ylabel("share of test sets rejected")
    _ = axes[1].legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize="small")

# %% [markdown]
# **Predict before you run:** the slider shows the ECE test. For the same T, does the z test need
# fewer images, more, or as many, to reject the model on 90 % of test sets?

# %% tags=["answer"]
for T in temperatures[1:]:
    for test in ("ECE test", "z test"):
        enough = power[(power["T"] == T) & (power[test] >= 0.9)].n.min()
        print(f"{names[T]}: the {test} first has a power of 90 % at n = {enough}")
draw_power()

# %% tags=["nbval-check-output"]
alarms = [rejected(reader(1), 1000, seed)[0] for seed in seeds]  # by the ECE
print(verdicts.judge("18a", "the ECE test rejects the posterior on at most 12 % of test sets", alarms,
                     expect="below", than=0.12))

# %% tags=["aside", "nbval-check-output"]
gain = [rejected(reader(1.2), 2000, seed)[0] - rejected(reader(1.2), 200, seed)[0] for seed in seeds]
print(verdicts.judge("18b", "at T = 1.2 its power rises by at least 0.3 from 200 to 2,000 images", gain,
                     margin=0.3))

# %% [markdown]
# Open the answer above first. (12 % in the verdict: with 50 test sets a seed, luck alone takes 5 % up to about 11 %.) "Not rejected" is not "calibrated": report the error that the test would have found with high probability.
#
# ### Exercise: which test would you plan?
#
# *Difficulty: hard · importance: high · 15 minutes*
#
# For readers with one temperature for all images, the z test was ahead. Construct a model with an exact ECE of several per cent that the z test
# rejects far less often than the ECE test, and try it with `metrics.calibration_test`. Why does z miss it?
#
# <details><summary>Answer</summary>
#
# The z test looks at one sum over all images, in which errors of opposite sign cancel; the ECE test looks at each bin.
# So mix a bold and a cautious reader, one on each half of the images, so that the sum is about zero. At one T all gaps have one sign, and nothing cancels. But that is only a part of the lead of z there: z also
# scores the whole row, the ECE test the predicted class alone. In practice use both tests, each at half the level. The
# folded cell below tries such a model, and measures the parts of that lead.
#
# </details>

# %%
my_model = reader(1.2)  # change me: a row for each image of the population
by_ece, by_z = rejected(my_model, 1000)
print(f"exact error {metrics.true_calibration_error(my_model, posterior):.1%}: rejected by the ECE test on "
      f"{by_ece:.0%} of test sets, by z on {by_z:.0%}")

# %% tags=["aside"]
even = torch.arange(len(posterior))[:, None] % 2 == 0
mixed = torch.where(even, reader(0.6), reader(1.5))
by_ece, by_z = rejected(mixed, 1000)
error = metrics.true_calibration_error(mixed, posterior)
print(f"exact error {error:.1%}: rejected by the ECE test on {by_ece:.0%}, by z on {by_z:.0%} of test sets")


def four_tests(probs, labels):
    """Which tests reject: the ECE with 15 bins, with one, z of the predicted class, z of the row."""
    confidence, predicted = probs.max(dim=1)
    hit_or_miss = torch.stack([confidence, 1 - confidence], dim=1)
    binned = metrics.calibration_test(probs, labels, resamples=99)
    one_bin = metrics.calibration_test(probs, labels, bins=1, resamples=99)
    top = metrics.calibration_test(hit_or_miss, (predicted != labels).long(), resamples=1)
    return [p <= 0.05 for p in (binned.p_value, one_bin.p_value, top.p_value_z, binned.p_value_z)]


found = []
for seed in range(size.draws):
    chosen, labels = test_set(1000, seed)
    found.append(four_tests(reader(1.1)[chosen], labels))
ways = ("ECE, 15 bins", "ECE, one bin", "z of the predicted class", "z of the whole row")
print("T = 1.1, n = 1,000, share rejected:",
      ", ".join(f"{way} {share:.0%}" for way, share in zip(ways, np.mean(found, axis=0), strict=True)))

# %% [markdown]
# ## 7. Two models, one test set
#
# The clinic has 1,000 images and two models, T = 1 and T = 1.2. Both are scored on the *same* images. An image that
# is hard for one model is hard for the other too; in the difference of the two scores this cancels. A **paired
# interval** is the interval of the mean difference, image by image.

# %%
def squares(probs, labels):
    """The Brier score of each image."""
    return (probs - torch.nn.functional.one_hot(labels, 10)).square().sum(dim=1)


def middle(scores, wide=1.645):
    """90 % interval of a mean, from a normal distribution."""
    half = wide * scores.std().item() / len(scores) ** 0.5
    return scores.mean().item() - half, scores.mean().item() + half


chosen, labels = test_set(1000, SEED)
one, other = reader(1.2)[chosen], reader(1)[chosen]
print("T = 1.2 by itself:", np.round(middle(squares(one, labels)), 4))
print("T = 1 by itself:   ", np.round(middle(squares(other, labels)), 4))
print("their difference: ", np.round(middle(squares(one, labels) - squares(other, labels)), 4))
print("the package:      ", np.round(metrics.paired_interval(one, other, labels, metric="brier"), 4))

# %% [markdown]
# The interval of the difference is much the
# narrowest, but on this test set it contains 0 too. How often do 1,000 images decide?

# %% tags=["nbval-check-output"]
def decided(seed, T=1.2, n=1000):
    """Share of test sets that find the better model: by the difference, and by separate intervals."""
    found = []
    for k in range(draws):
        chosen, labels = test_set(n, 1000 * seed + k)
        worse, better = squares(reader(T)[chosen], labels), squares(reader(1)[chosen], labels)
        found.append((middle(worse - better)[0] > 0, middle(worse)[0] > middle(better)[1]))
    return np.mean(found, axis=0)


shares = np.array([decided(seed) for seed in seeds])
print(f"found by the paired interval on {shares[:, 0].mean():.0%} of test sets, "
      f"by separate ones on {shares[:, 1].mean():.0%}")
print(verdicts.judge("18c", "pairing finds the better model on more test sets", shares[:, 0] - shares[:, 1]))

# %% [markdown]
# Compare models by a proper score, paired. The difference of two ECEs has an interval too (`metric="ece"`), but the two
# biases cancel only where neither model is nearly calibrated (section 8 shows how often it then contains the truth).
#
# ## 8. Intervals that contain the truth
#
# A **bootstrap** draws n images with replacement from the test set, many times; each draw is a *resample*. Mukhoti et
# al. (2020, figure 4) draw 90 % bootstrap intervals for ECE, AdaECE and classwise-ECE. The **coverage of an interval**
# (another than 09's) is how often it contains the truth. The *percentile* form takes the middle 90 % of the resampled values. A resample
# adds a second layer of luck to the first, so that its ECE is biased twice. The **reflected interval** mirrors it at
# the measured value, [2v - high, 2v - low], and so turns the second bias against the first: truth 2 %, measured 3 %,
# resampled about 4 %; mirrored at 3 %, about 2 % again. (The paper follows Kumar et al. 2019, whose code mirrors.)
#
# For the *difference* of two ECEs see the [notes on the measures](notes_on_measures.md). For one model we count ourselves:

# %%
def classwise_truth(probs, bins=15):
    """Exact classwise-ECE: the ECE of each class's probability, with the posterior for labels."""
    inner_edges, total = np.arange(1, bins) / bins, 0.0
    for k in range(probs.shape[1]):
        stated, truth = probs[:, k].numpy(), posterior[:, k].numpy()
        bin_of_image = np.digitize(stated, inner_edges, right=True)
        # the same sums of each bin as in `true_error` of 02
        gap_of_bin = pd.Series(stated - truth).groupby(bin_of_image).sum()
        total += gap_of_bin.abs().sum()
    return total / probs.numel()  # mean over images and classes


def exact(metric, T):
    if metric == "classwise_ece":
        return classwise_truth(reader(T))
    return true_error(T, binning="mass" if metric == "ada_ece" else "width")

# %%
def coverage(metric, T, seed, n=500):
    """Share of 90 % intervals that contain the truth: percentile form, reflected form."""
    truth, probs, inside = exact(metric, T), reader(T), []
    for k in range(draws):
        chosen, labels = test_set(n, 1000 * seed + k)
        value = getattr(metrics, metric)(probs[chosen], labels)
        low, high = metrics.bootstrap_interval(probs[chosen], labels, metric=metric, resamples=200,
                                               method="percentile")
        inside.append((low <= truth <= high, 2 * value - high <= truth <= 2 * value - low))
    return np.mean(inside, axis=0)

# %%
rows = []
for metric in ("ece", "ada_ece", "classwise_ece"):
    for T in (0.5, 1.1):
        for seed in seeds:
            percentile, reflected = coverage(metric, T, seed)
            rows.append([metric, T, seed, percentile, reflected])
covered = pd.DataFrame(rows, columns=["metric", "T", "seed", "percentile", "reflected"])
covered.groupby(["T", "metric"])[["percentile", "reflected"]].mean().round(2)

# %% tags=["nbval-check-output"]
def share(metric, T, form):
    return covered[(covered.metric == metric) & (covered["T"] == T)][form].to_numpy()


hits = round(share("ece", 1.1, "percentile").sum() * draws)  # of test sets, `draws` with each seed
statement = "near calibration (T = 1.1) the ECE's percentile interval covers less than 60 %"
print(verdicts.judge_share("M5", statement, hits, len(seeds) * draws, than=0.6, expect="below"))

# %% tags=["aside", "nbval-check-output"]
bold = share("ece", 0.5, "percentile")
print(verdicts.judge("M5", "far from calibration (T = 0.5) it covers 80 to 100 %", bold, expect="within",
                     margin=0.1, than=0.9))
for T in (0.5, 1.1):
    measured = values(metrics.classwise_ece, T, 500).mean()
    truth = exact("classwise_ece", T)
    print(f"classwise-ECE at T = {T}: exact {truth:.4f}, measured {measured:.4f} on average")
for metric in ("ece", "classwise_ece"):
    percentile, reflected = coverage(metric, 1.1, SEED, n=10_000)
    print(f"{metric}, T = 1.1, 10,000 images: coverage {percentile:.0%}, reflected {reflected:.0%}")
for metric in ("ece", "ada_ece", "classwise_ece"):
    gain = share(metric, 1.1, "reflected") - share(metric, 1.1, "percentile")
    print(verdicts.judge("M5", f"T = 1.1: reflected, the interval of {metric} covers more often", gain,
                         step=1 / draws))

# %% [markdown]
# - The bold reader (T = 0.5): both forms for ECE and AdaECE cover about as often as they promise, or somewhat less. (250
#   test sets: uncertain by 4 to 6 points; 10,000 images: 50 test sets, 10 to 13 points.)
# - Near calibration (T = 1.1): the percentile form misses the truth on nearly every test set of 500 images. Reflection
#   repairs much of it for ECE and AdaECE, not all.
# - The classwise-ECE: the percentile form misses even for the bold reader, and near calibration both forms miss. Its
#   bias is large beside its error (folded).
# - With 10,000 images, as in the paper, near calibration: both forms of the ECE's interval contain the truth on most
#   test sets; the percentile form of the classwise-ECE still misses it (folded).
#
# So check such an interval first, at your own n. Near calibration, use the chance
# level (02), a test with its power, or a paired difference of a proper score.
#
# ## Three things to take away
#
# 1. "Calibrated" has three meanings. Canonical calibration implies the other two; the ECE is about the predicted
#    class alone.
# 2. A proper score is calibration plus refinement; compare models by it, paired on the same images.
# 3. Where the true error is near zero, every estimate of our table is biased upwards; an interval and a test
#    must be checked for coverage and power at your n.
#
# The next step is your own model: [17 Audit your own model](17_audit_your_model.ipynb). If your digits differ, see
# [your numbers differ?](your_numbers_differ.md).
#
# ## Recall
#
# <details><summary>1. Give a model that is confidence-calibrated and not classwise-calibrated.</summary>
#
# One that knows the favourite and its probability, and spreads the rest evenly although the truth does not.
#
# </details>
#
# <details><summary>2. Which part of a proper score can a temperature remove?</summary>
#
# The calibration part, or some of it. The refinement stays, because different rows stay different.
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
# That does not follow. On the same images, look at the interval of the difference.
#
# </details>
#
# ## Go further
#
# Does the number of bins change the power of the ECE test? Try 5 and 50 bins at T = 1.2, n = 500.
#
# <details><summary>Answer</summary>
#
# At one T all gaps of this posterior have the same sign, so fewer bins lose nothing and collect less noise.
#
# ```python
# for bins in (5, 50):
#     rejections = []
#     for seed in range(draws):
#         chosen, labels = test_set(500, seed)
#         tested = metrics.calibration_test(reader(1.2)[chosen], labels, bins=bins, resamples=99)
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
# - Mukhoti, Kulharia, Sanyal, Golodetz, Torr, Dokania: *Calibrating Deep Neural Networks using Focal Loss*. NeurIPS
#   2020. [arXiv:2002.09437](https://arxiv.org/abs/2002.09437) (figure 4)
# - Spiegelhalter: *Probabilistic prediction in patient management and clinical trials*. Statistics in Medicine 5,
#   1986. [doi:10.1002/sim.4780050506](https://doi.org/10.1002/sim.4780050506)
# - Vaicenavicius et al.: *Evaluating model calibration in classification*. AISTATS 2019.
#   [arXiv:1902.06977](https://arxiv.org/abs/1902.06977) (the three meanings)
