# %% [markdown]
# # 02 · Measuring calibration: what one number says, and how far to trust it
#
# **Question.** Ada tests a model on 1,000 labelled images of a hospital and measures an ECE of 1.4 %. "So its probabilities
# are wrong by 1.4 points," says Ben, "I will not buy it." Is he right?
#
# **Predict before you run:** the exact posterior says of each image what the best possible reader would say. Its calibration is perfect. Which ECE does it
# *measure* on 1,000 images, on average? Write down a number. Then run the cell, and move the slider to 1,000.

# %% tags=["answer"]
from calibkit.course import explorers

explorers.stored("test_images")

# %% [markdown]
# <details><summary>What came out</summary>
#
# 1.4 %: what Ada measured. The perfect model is "the truth" in the picture: its error is zero, and no test set measures zero. The two others are
# networks; an upright line marks the error that each really has. Only the network with a large error is measured about right.
#
# </details>
#
# **Time.** 35 minutes; 45 more for the homework, which is all under "Go further".
#
# **Needs.** [01 Reliability diagrams](01_reliability_diagrams.ipynb).
#
# **Next on your path.** *Six evenings*, *teaching*: [03](03_overconfidence.ipynb). *Practice*, *theory*: [08](08_temperature.ipynb).

# %% tags=["drawing"]
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
import torch

from calibkit import metrics, recalibration
from calibkit.course import check, verdicts
from calibkit.course.scale import begin
from calibkit.lab import data, models, sweep, training
from calibkit.metrics.conventions import follows
from calibkit.pictures import palette, plots

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% [markdown]
# ## 1. A ruler is tested on what one knows
#
# Ada tests the ECE as one tests a ruler: on models whose error is known. Three read the same noisy digits.
#
# - **As trained:** a network, over-confident as in 00.
# - **After the cure:** its logits, divided by one number T, the **temperature**, before the softmax. With T above 1 every answer becomes less
#   sure. T is the one with the lowest **NLL** (negative log-likelihood: the mean of -log p of the right class) on
#   the `cal` images. ([Lesson 08](08_temperature.ipynb) is about this.)
# - **The truth:** the exact posterior.
#
# The posterior says how *probable* each answer is to be right. Take a bin of three answers that are right with probability 0.7, 0.9
# and 0.5. Today the first two are right, tomorrow all three may be: the share of right answers jumps from 0.67
# to 1. The mean of the probabilities, 0.7, stays. The ECE with this mean in place of the share is the **true calibration error**, without luck.

# %% tags=["drawing"]
size, seeds, device = begin(SCALE, SEED, DEVICE)


def recipe(seed):
    # twice the usual test images: small test sets are drawn from them
    train, cal, test = data.noisy_digits(size.train, noise=0.4, seed=seed, test=2 * size.test)
    return training.trial(lambda: models.mlp(64, 10), train, {"cal": cal, "test": test}, seed=seed,
                          epochs=size.epochs)


def three_models(outcome):
    """The probabilities of the three models on one test set, by name."""
    cal, test = outcome.predictions["cal"], outcome.predictions["test"]
    scaler = recalibration.TemperatureScaler().fit(cal.logits, cal.labels)
    cured = scaler.transform(test.logits).softmax(dim=1)
    return {"as trained": test.probs, "after the cure": cured, "the truth": test.posterior}

# %% tags=["drawing"]
def estimates(posterior, probs, n, seed=SEED):
    """The ECE on many test sets of n images, each label drawn afresh from the posterior of its image."""
    generator = torch.Generator().manual_seed(seed)
    values = []
    for _ in range(size.draws):
        chosen = torch.randint(len(posterior), (n,), generator=generator)
        labels = torch.multinomial(posterior[chosen], 1, generator=generator)[:, 0]
        values.append(metrics.ece(probs[chosen], labels))
    return np.array(values)


swept = sweep.run(recipe, {"seed": seeds}, device=device)
test = swept.one(seed=SEED).predictions["test"]
by_model = three_models(swept.one(seed=SEED))
truths = {name: metrics.true_calibration_error(probs, test.posterior) for name, probs in by_model.items()}
sizes = [100, 200, 500, 1000, 2000, 5000, 10000]
drawn = {(name, n): estimates(test.posterior, probs, n) for name, probs in by_model.items() for n in sizes}
measured = pd.DataFrame(drawn).melt(var_name=["model", "n"], value_name="ECE")
roles = dict(zip(by_model, (palette.TRAINED, palette.CURED, palette.TRUTH), strict=True))
widest = 1.02 * measured.ECE.max()

# %% tags=["drawing"]
def frame(n):
    samples = {name: drawn[name, n] for name in by_model}
    words = [f"{name}: measured {values.mean():.1%} on average, exact {truths[name]:.1%}"
             for name, values in samples.items()]
    return explorers.spread_frame(
        samples, truths, x_range=(0, widest), x_label="ECE (15 bins)", roles=roles,
        title=f"many test sets of {n:,} images", readout="; ".join(words) + ".")


explorers.keep(explorers.Explorer(
    frame, explorers.Slider("images in the test set", sizes, show="{:,}".format), play=True,
    description="One histogram for each of three models: the ECE measured on many test sets of the chosen "
    "size. The vertical line in the same colour is the exact calibration error of that model. A histogram to "
    "the right of its line is an estimate that is too large on average; a wide one depends much on the test "
    "set."), "test_images")

# %%
# by name of the model: by_model, its probabilities; truths, its true error; drawn, the ECEs of many test sets
for name, probs in by_model.items():
    error = metrics.ece(probs, test.labels)
    print(f"{name}: true error {truths[name]:.1%}; measured on {len(probs):,} images {error:.1%}, "
          f"on 1,000 images {drawn[name, 1000].mean():.1%} on average")

# %% [markdown]
# Why does the truth not measure zero? In each bin the share of right answers is a little above or below the confidence, by
# luck. The ECE takes the deviations *without their signs*, so luck in either direction counts as error.
#
# **Predict before you run:** with four times as many images, how much of this excess (measured minus exact) is left for the truth, the
# third model: nearly all, a half, or a quarter?

# %% tags=["answer", "drawing"]
# your guess first, then run this cell
fig, axes = plt.subplots(1, 3, figsize=(10, 3.4), sharey=True)
for ax, (name, role) in zip(axes, roles.items(), strict=True):
    one = measured[measured.model == name]
    _ = sns.lineplot(one, x="n", y="ECE", errorbar=("pi", 90), ax=ax, **role.line(label="measured"))
    _ = ax.axhline(truths[name], ls="--", color=palette.GREY, label="exact")
    _ = ax.set(title=name, xscale="log", xlabel="images in the test set", ylim=(0, None))
    plots.percent(ax, "y")
    _ = ax.legend()
    few, many = (drawn[name, n].mean() - truths[name] for n in (500, 2000))
    print(f"{name}: measured minus exact {few:+.2%} with 500 images, {many:+.2%} with 2,000")
part = drawn["the truth", 2000].mean() / drawn["the truth", 500].mean()
print(f"the truth: with four times as many images {part:.0%} of the excess is left")

# %% [markdown]
# <details><summary>What came out</summary>
#
# About a half: the random deviation of a share falls with the square root of the number of images. (The band holds the middle 90 %
# of the test sets.) The excess is large for the two good models, and hardly there for the bad one: where a gap is much
# larger than luck, its sign is clear. This excess, the mean of an estimate minus what it estimates, is called the **bias of an
# estimator**. (It is a mean. On one test set luck can also hide a part of the error: after the cure 0.7 % are measured on 20,000 images, and 0.9 % are true.)
#
# </details>
#
# In all five networks? A *verdict* gives the mean with its 95 % interval. HOLDS: the whole interval lies above 0.

# %% tags=["nbval-check-output"]
fall = []  # of the bias after the cure, from 250 to 4,000 images; one number for each seed
for seed in seeds:
    outcome = swept.one(seed=seed)
    posterior, cured = outcome.predictions["test"].posterior, three_models(outcome)["after the cure"]
    # estimates: the ECEs of many test sets of n images
    few, many = (estimates(posterior, cured, n, seed).mean() for n in (250, 4000))
    fall.append(few - many)
print(verdicts.judge("M6", "after the cure, the bias is larger with 250 than with 4,000 images", fall))

# %% [markdown]
# ## 2. Compare it with luck, not with zero
#
# "My model has no posterior," says Ben. It needs none. Suppose that the model is perfect: each answer of confidence c is
# right with probability c. Draw who is right, measure the ECE, and do it again and again. That is the **chance level**: what a perfect model *with
# these confidences* measures on so many images.
#
# **Your move.** Change n. With how many images does the chance level of the model after the cure reach no further than 2 %?

# %%
n = 1000  # change me

for name, probs in by_model.items():
    first, labels = probs[:n], test.labels[:n]
    confidence, values = first.amax(dim=1), []
    generator = torch.Generator().manual_seed(SEED)
    for _ in range(size.draws):
        hits = torch.bernoulli(confidence, generator=generator) == 1  # right as often as it says
        values.append(metrics.ece_of(confidence, hits))
    low, high = np.quantile(values, [0.05, 0.95])  # the middle 90 %
    tested = metrics.calibration_test(first, labels)
    print(f"{name}: ECE {tested.error:.2%}; chance level {low:.2%} to {high:.2%}; p = {tested.p_value:.3f}")

# %% [markdown]
# <details><summary>What you may have found</summary>
#
# 4,500 will do. With 1,000 images its chance level goes up to 4.2 %: it is often unsure. Of 100 answers of 70 %, 65 or 75 may well be right
# by luck; of 100 answers of 99 %, hardly fewer than 97.
#
# </details>
#
# The **p-value** p says how often a perfect model measures at least as much (Bröcker and Smith 2007). A small p speaks against
# calibration. A large one proves nothing: the model after the cure has a true error of 0.9 %, and with 1,000 images its p is 0.955.
#
# ## 3. What no ECE says
#
# Ben has another model, with an ECE of 0.03 % on 20,000 images. Shall he buy that one?
#
# A **strictly proper score** is lowest, in expectation, for the true probabilities alone. Two are in daily use: the NLL, in which one
# confident mistake costs a lot; and the **Brier score**, the mean squared distance between the probabilities and the label as a
# row of 0 and 1, summed over the classes.
#
# ### Exercise: the Brier score
#
# *Difficulty: easy · importance: high · 6 minutes*
#
# Write it, from `probs` (n, K) and `labels` (n,): one number. The next cell uses yours.

# %%
def my_brier(probs, labels):
    # 1. a row for each label: 1 for its class, 0 for the others
    # 2. the squared differences, summed over the classes, in float64
    # 3. their mean over the rows
    ...


check.brier(my_brier)

# %% [markdown]
# <details><summary>Hint</summary>
#
# `torch.nn.functional.one_hot(labels, K)` makes the rows. `probs.shape[1]` is K.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_brier(probs, labels):
#     truth = torch.nn.functional.one_hot(labels, probs.shape[1])
#     return (probs.double() - truth).square().sum(dim=1).mean().item()
# ```
#
# </details>

# %%
check.keep(my_brier)

# %% [markdown]
# **Predict before you run:** the truth has a Brier score of 0.07. Which one has Ben's model, of ECE 0.03 %?

# %% tags=["answer"]
from calibkit.course.mine import brier

everyone = {**by_model, "Ben's": torch.full_like(test.posterior, 0.1)}
for name, probs in everyone.items():
    right, error = metrics.accuracy(probs, test.labels), metrics.ece(probs, test.labels)
    print(f"{name}: accuracy {right:.1%}, ECE {error:.2%}, "
          f"NLL {metrics.nll(probs, test.labels):.3f}, Brier {brier(probs, test.labels):.3f}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# 0.9. It says "10 %" of every digit of every image, and is right on 10 %. It has the lowest ECE of the four, and is of no use. Both proper scores
# are lowest for the truth.
#
# </details>
#
# ## The answer
#
# **He cannot know: a perfect model measures 1.4 % on 1,000 images, too. An ECE is to be compared with its chance level, not with zero,
# and it does not say whether a model is of any use: put accuracy and a proper score beside it.**
#
# ## Three things to take away
#
# 1. A measured ECE is too large on average where the true gaps are small; four times as many images halve the excess.
# 2. Compare an ECE with its chance level; compare two models each with its own.
# 3. The lowest ECE can belong to a useless model. A proper score is lowest for the truth.
#
# ## Recall
#
# <details><summary>1. Why can the ECE of a perfectly calibrated model not be expected to be zero on 1,000 images?</summary>
#
# In each bin the share of right answers scatters around the confidence; the ECE adds up the absolute deviations, and
# these do not cancel.
#
# </details>
#
# <details><summary>2. A paper reports ECE 0.9 % on 500 images, yours is 1.1 % on 10,000. Who is better?</summary>
#
# Unknown as it stands: the two estimates have different biases. Compare each with its own chance level.
#
# </details>
#
# <details><summary>3. What makes a score "proper"?</summary>
#
# In expectation it is lowest for the true probabilities, so that no model gains by saying
# anything else. It is *strictly* proper if nothing else does as well.
#
# </details>
#
# ## Go further
#
# *All that follows may be left out.*
#
# ### Too bold, or too cautious?
#
# Two readers are made from the exact posterior: its logarithm is divided by T = 1.5 (cautious), or by T = 0.3 (bold). A 0 stands for a
# child on the road. Not braking for a child costs 20, braking without a child costs 1: brake when $20\,p_0 > 1 - p_0$. The
# **overconfidence error** (OE; Thulasidasan et al. 2019) sums, over the bins, share times confidence times gap, but only where the model is over-confident.
#
# **Predict before you run:** which reader has the lower OE, and whose decisions cost less? What does the truth cost?

# %% tags=["answer", "drawing"]
# your guess first, then run this cell
def cost(probs, posterior, missed=20):
    """Mean cost of braking when missed * p_0 > 1 - p_0, in expectation over the true class."""
    brakes = missed * probs[:, 0] > 1 - probs[:, 0]
    return torch.where(brakes, 1 - posterior[:, 0], missed * posterior[:, 0]).mean().item()


for name, T in {"the truth": 1.0, "cautious": 1.5, "bold": 0.3}.items():
    probs = (test.posterior.log() / T).softmax(dim=1)
    gap, one_sided = (f(probs, test.labels) for f in (metrics.signed_gap, metrics.overconfidence_error))
    print(f"{name}: ECE {metrics.ece(probs, test.labels):.1%}, signed gap {gap:+.1%}, OE {one_sided:.4f}, "
          f"cost {cost(probs, test.posterior):.4f} an image")

# %% [markdown]
# <details><summary>What came out</summary>
#
# The cautious one has an OE of zero, lower than the truth, and its decisions cost more than the truth's. The ECE does not tell the two
# readers apart (3.5 %); the signed gap does. Where lives are at stake, look at the expected cost, or at a proper score ([evidence](evidence/02_measuring_calibration.ipynb)).
#
# </details>
#
# ### Exercise: classwise-ECE (homework)
#
# *Difficulty: medium · importance: medium · 10 minutes*
#
# The ECE looks at the predicted class alone. A doctor who reads "pneumonia 70 %, tumour 25 %" uses the 25 %, too. The **classwise-ECE** (Kull et
# al. 2019) bins *every* column of the probabilities against "is it this class?", and takes the mean over the K classes.
# `metrics.reliability_of(confidence, hits, bins=bins)` returns an object with `.counts` and `.gap` per bin (the gap of an empty
# bin is NaN). Use it for each class in turn.

# %%
def my_classwise_ece(probs, labels, bins):
    ...  # your code here


check.classwise_ece(my_classwise_ece)

# %% [markdown]
# <details><summary>Hint</summary>
#
# For class k the confidence is `probs[:, k]` and the hits are `labels == k`. Sum with `nansum`, which
# passes over the NaN of empty bins. How many classes are there if one of them never occurs among the
# labels?
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_classwise_ece(probs, labels, bins):
#     total = 0.0
#     for k in range(probs.shape[1]):
#         counted = metrics.reliability_of(probs[:, k], labels == k, bins=bins)
#         total += (counted.counts * counted.gap.abs()).nansum().item() / len(labels)
#     return total / probs.shape[1]
# ```
#
# </details>
#
# ### Exercise: plan the measurement
#
# *Difficulty: hard · importance: medium · 8 minutes, no code*
#
# The hospital wants to be able to *see* an error of 2 %. Labels are expensive. With n images the chance level of its model reaches up to 2 %.
# Why is this n too small as a promise to *detect* an error of 2 %?
#
# <details><summary>Answer</summary>
#
# With this n a *measured* ECE of 2 % lies above the
# chance level. But a model whose *true* error is 2 % does not always measure 2 %: its ECE scatters too. To detect the
# error with high probability, the whole histogram of that model must lie beyond the chance level. The probability
# that a test detects an error is its power; lesson 18 measures it by n. The number also depends on the
# confidences: a model that is sure and right has a narrow chance level, one that is often unsure a wide one.
#
# </details>
#
# ### Which ECE is yours?
#
# Libraries differ on values that sit on an edge, and a language model states just such values. Below,
# 162 answers are "60 %" to "100 %" sure, in steps of 5. Move those that said 80 %, which is an edge of 15 bins.

# %% tags=["drawing"]
stated = np.repeat(np.arange(0.6, 1.01, 0.05), 18).round(2)
came_true = [np.arange(18) < round(18 * c + (1.5 if i % 2 else -1.5)) for i, c in enumerate(stated[::18])]
came_true = np.concatenate(came_true)
moves = [round(0.790 + i / 500, 3) for i in range(11)]


def moved(to):
    return metrics.TopLabel(np.where(stated == 0.8, to, stated), came_true)


lines = {
    palette.TRAINED.named("(lo, hi]"): [[metrics.ece(moved(to)) for to in moves]],
    palette.CURED.named("[lo, hi)"): [[metrics.ece(moved(to), closed="left") for to in moves]],
    palette.TRUTH.named("no bins (smECE)"): [[metrics.smooth_ece(moved(to)) for to in moves]],
}
slider = explorers.Explorer(
    lambda to: explorers.along_frame(
        metrics.reliability(moved(to)), to, moves, lines,
        x_label="what the 80 % answers say (%)", x_ticks=(0.79, 0.8, 0.81),
        y_label="ECE (%)", y_ticks=(0, 0.05, 0.1), title=f"the answers say {to:.1%}",
        readout="; ".join(f"{role.words}: {values[0][moves.index(to)]:.1%}" for role, values in lines.items())),
    explorers.Slider("what the 80 % answers say", moves, show="{:.1%}".format, start=moves[3]),
    description="Left, the diagram of the answers. Right, the ECE by two conventions and the smooth one, while the "
    "answers that said 80 % move over the edge of two bins.")
slider

# %% [markdown]
# A tenth of a point decides in which bin they are counted. So two published ECEs may differ
# though the models do not: [what does your ECE compute?](what_your_ece_computes.md) asks twelve libraries. Which of these conventions is that of your ECE in
# lesson 01?

# %%
from calibkit.course.mine import ece


def an_ece(probs, labels, bins=15):
    return ece(torch.as_tensor(probs), torch.as_tensor(labels), bins)


print(follows(an_ece))  # the convention that gives the same numbers

# %% [markdown]
# Your numbers differ? [Why](your_numbers_differ.md).
#
# ## References
#
# - Guo, Pleiss, Sun, Weinberger: *On Calibration of Modern Neural Networks*. ICML 2017.
#   [arXiv:1706.04599](https://arxiv.org/abs/1706.04599) (ECE with 15 bins, temperature)
# - Kull et al.: *Beyond temperature scaling*. NeurIPS 2019.
#   [arXiv:1910.12656](https://arxiv.org/abs/1910.12656) (classwise-ECE)
# - Thulasidasan, Chennupati, Bilmes, Bhattacharya, Michalak: *On Mixup Training: Improved Calibration
#   and Predictive Uncertainty for Deep Neural Networks*. NeurIPS 2019.
#   [arXiv:1905.11001](https://arxiv.org/abs/1905.11001) (overconfidence error)
# - Bröcker, Smith: *Increasing the Reliability of Reliability Diagrams*. Weather and Forecasting
#   22, 2007. [doi:10.1175/WAF993.1](https://doi.org/10.1175/WAF993.1) (hits drawn from the forecast)
# - Brier: *Verification of forecasts expressed in terms of probability*. Monthly Weather Review
#   78, 1950.
