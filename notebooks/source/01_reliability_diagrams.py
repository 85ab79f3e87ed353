# %% [markdown]
# # 01 · Reliability diagrams: confidence against accuracy, bin by bin
#
# **Question.** Two models are right equally often. How do you see which one to believe?
#
# **You will be able to**
# - compute accuracy, mean confidence and their gap from a table of five predictions;
# - sort predictions into bins (lo, hi] without the rounding traps, and draw the diagram yourself;
# - compute the expected calibration error (ECE), and say what one bin hides and a hundred bins invent;
# - tell a gap that means something from a bin with too few samples.
#
# **Time.** 45 minutes with the two exercises; the cells run in under a minute.
#
# **Needs.** [00 Start here](00_start_here.ipynb).

# %%
from functools import partial

import matplotlib.pyplot as plt
import torch
from torch.nn.functional import cross_entropy

from calibkit import check, claims, data, explorers, metrics, models, plots, training
from calibkit.scale import budget

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %%
device = training.as_device(DEVICE)
size = budget(SCALE)

# %% [markdown]
# ## 1. Two models, five photographs
#
# Two models look at the same five photographs; each photograph shows a dog, a cat or a shark, and
# in truth all five show a cat. Here is what each model says (the example is from a seminar on
# calibration; see the references). Each row is a photograph, each column a class.

# %%
cat = 1
labels = torch.tensor([cat, cat, cat, cat, cat])
model_1 = torch.tensor([[.10, .75, .15], [.10, .80, .10], [.60, .38, .02], [.10, .80, .10],
                        [.01, .99, .00]], dtype=torch.float64)
model_2 = torch.tensor([[.02, .98, .00], [.03, .97, .00], [.95, .02, .03], [.00, .95, .05],
                        [.01, .99, .00]], dtype=torch.float64)

# %% [markdown]
# **Predict before you run:** both take the third photograph for a dog and are right on the other
# four, 80 % accuracy each. Which one would you rather ask about a photograph that you cannot see?

# %%
# NBVAL_CHECK_OUTPUT
for name, probs in (("model 1", model_1), ("model 2", model_2)):
    confidence = probs.amax(dim=1)
    accuracy = (probs.argmax(dim=1) == labels).double().mean()
    gap = confidence.mean() - accuracy
    print(f"{name}: accuracy {accuracy:.1%}, mean confidence {confidence.mean():.1%}, "
          f"gap {100 * gap:+.1f} points")

# %% [markdown]
# Read it aloud:
#
# - **Model 1** says on average about what it keeps. Above all, where it errs (the dog, 60 %) it
#   sounds unsure. Its doubt is a warning that you can use.
# - **Model 2** is no better, but speaks as if it were. It is as sure of its mistake (95 %) as of
#   anything else; its confidence tells you nothing.
#
# Accuracy cannot tell the two apart. The gap can. (Five rows prove nothing, of course: they only
# show the arithmetic. Section 8 returns to bins with five samples.)
#
# ## 2. From five rows to ten thousand
#
# Five predictions make a table; ten thousand make a picture. We train a network on the noisy
# digits of notebook 00 and collect what it says about images that it has never seen.

# %%
def network():
    return models.mlp(64, 10)


train, cal, test = data.noisy_digits(size.train, noise=0.4, seed=SEED, test=size.test)
run = training.fit(network, train, epochs=size.epochs, seed=SEED, device=device)
said = run.predict(test)
confidence, correct = said.confidence, said.correct
print(f"{len(said)} predictions, confidence {confidence.min():.2f} to {confidence.max():.2f}")

# %% [markdown]
# The first picture is the **confidence histogram**: how often is it how sure?

# %%
fig, ax = plt.subplots(figsize=(4.6, 3.4), layout="constrained")
_ = plots.confidence_histogram(said.probs, said.labels, ax=ax)

# %% [markdown]
# - The right-most bin holds most of the samples: this network is seldom in doubt.
# - The dashed line (mean confidence) lies to the right of the solid one (accuracy). Their distance
#   is the signed gap.
#
# ## 3. Bins, done right
#
# To see *where* confidence and accuracy part, we group predictions of similar confidence. The usual
# choice (Guo et al. 2017) is M intervals of equal width, **open on the left, closed on the right**:
# bin m holds the confidences in ((m-1)/M, m/M]. Confidence 0 joins the first bin; 1.0 belongs to
# the last.
#
# It sounds trivial, and yet this is where scripts go wrong. Multiply and cut off, as many do, and see
# where the exact edges 0.1, 0.2, ... 1.0 land. By the definition, edge m/10 belongs to bin m - 1
# when one counts from 0, as Python does:

# %%
# NBVAL_CHECK_OUTPUT
ten_edges = [m / 10 for m in range(1, 11)]
print("by definition      ", list(range(10)))
print("int(c * 10)        ", [int(c * 10) for c in ten_edges])
print("0.07 * 100       = ", 0.07 * 100)
print("linspace, 0.56   = ", torch.linspace(0, 1, 101, dtype=torch.float64)[56].item())

# %% [markdown]
# - `int(c * M)` closes the bins on the *left*: every edge is one bin too high, and confidence 1.0
#   gets a bin that does not exist.
# - Rounding up instead, `ceil(c * M) - 1`, repairs the side but not the rounding: with 100 bins,
#   0.07 * 100 comes out just above 7, and 0.07 falls into bin 7 in place of 6.
# - Even `linspace` does not place every edge on the nearest number to m/M.
#
# Edges are no rarity: ensembles that vote produce them all the time (divide their votes in float64:
# 0.2 stored in float32 already lies above the edge). The cure is to compare with the edges m/M
# themselves, in double precision:

# %%
M = 15
edges = torch.arange(M + 1, dtype=torch.float64) / M
which = torch.bucketize(confidence.double(), edges[1:-1])  # (lo, hi] is bucketize's default
counts = torch.bincount(which, minlength=M)
print(counts.tolist())

# %% [markdown]
# ### Exercise: which bin?
#
# *Difficulty: medium · importance: high · 10 minutes*
#
# Write `bin_index(confidence, bins)` that returns for each confidence the number of its bin
# (lo, hi], counted from 0. `confidence` is a tensor. The checker tries values exactly on the edges.

# %%
def my_bin_index(confidence, bins):
    ...  # your code here


check.bin_index(my_bin_index)

# %% [markdown]
# <details><summary>Hint</summary>
#
# `torch.bucketize(values, edges)` finds for each value the first edge that is not below it. Give it the
# *inner* edges only, 1/bins to (bins-1)/bins, so that 0 and 1 stay inside, and do it in double
# precision.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_bin_index(confidence, bins):
#     inner = torch.arange(1, bins, dtype=torch.float64) / bins
#     return torch.bucketize(confidence.double(), inner)
# ```
#
# </details>
#
# ## 4. The reliability diagram from scratch
#
# For every bin we need two averages: how sure the model was, and how often it was right.

# %%
sure = torch.bincount(which, weights=confidence.double(), minlength=M) / counts
hits = torch.bincount(which, weights=correct.double(), minlength=M) / counts
fig, ax = plt.subplots(figsize=(3.6, 3.6), layout="constrained")
_ = ax.bar(edges[:-1], hits, width=1 / M, align="edge", edgecolor="white")
_ = ax.plot(sure, hits, "ko")
_ = ax.plot([0, 1], [0, 1], "--", color="grey")
_ = ax.set(xlabel="confidence", ylabel="accuracy", xlim=(0, 1), ylim=(0, 1), aspect="equal")

# %% [markdown]
# A bin without samples divides 0 by 0, becomes NaN, and is not drawn, which is right: an empty bin
# says nothing. The package's diagram adds what a diagram must not lack: the *count* in each bin,
# and an *interval* for each accuracy.

# %%
counted = metrics.reliability(said.probs, said.labels, bins=M)
assert torch.equal(counted.counts.long(), counts)
assert torch.allclose(counted.accuracy, hits, equal_nan=True)
fig, ax = plt.subplots(figsize=(4.4, 5), layout="constrained")
_ = plots.draw_reliability(counted, ax=ax, title="An over-confident network")

# %% [markdown]
# Read it aloud, from right to left:
#
# - **The last bin** holds most samples and has a short interval: this gap is real, and it matters
#   most, because most predictions live there.
# - **The middle** lies well below the diagonal: where the network says 70 %, it keeps far less.
# - **The far left** has few samples or none. A network with ten classes can never be less than
#   10 % sure, and this one never admits to less than about 30 %. Long black lines: do not interpret.
#
# ## 5. One number: the expected calibration error
#
# Average the length of the gaps, each weighted by the share of samples in its bin:
#
# $$\mathrm{ECE} = \sum_{m=1}^{M} \frac{|B_m|}{n}\,\bigl|\mathrm{acc}(B_m) - \mathrm{conf}(B_m)\bigr|$$

# %%
share = counts.double() / counts.sum()
by_hand = (share * (hits - sure).abs()).nansum().item()
assert abs(by_hand - metrics.ece(said.probs, said.labels, bins=M)) < 1e-9
print(f"ECE with {M} bins: {by_hand:.1%}")

# %% [markdown]
# ### Exercise: ECE
#
# *Difficulty: medium · importance: high · 10 minutes*
#
# Now for yourself: from probabilities, labels and a number of bins to one number.

# %%
def my_ece(probs, labels, bins):
    ...  # your code here


check.ece(my_ece)

# %% [markdown]
# <details><summary>Hint</summary>
#
# Sum confidence minus correctness per bin (`torch.bincount` with `weights`), take absolute values
# of these *sums*, add them up, and divide by n. Do you see why that equals the formula, and why it
# never divides by zero?
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_ece(probs, labels, bins):
#     confidence = probs.amax(dim=1).double()
#     correct = (probs.argmax(dim=1) == labels).double()
#     inner = torch.arange(1, bins, dtype=torch.float64) / bins
#     which = torch.bucketize(confidence, inner)
#     gaps = torch.bincount(which, weights=confidence - correct, minlength=bins)
#     return gaps.abs().sum().item() / len(labels)
# ```
#
# </details>
#
# ## 6. How many bins?
#
# With **one bin** the sum collapses to the absolute value of the signed gap. With **very many
# bins** each holds a handful of samples, and its accuracy is mostly luck.
#
# **Predict before you run:** move the slider from 1 to 100 bins. Will the ECE go up, go down, or
# stay?

# %%
def frame(bins):
    error = metrics.ece(said.probs, said.labels, bins=bins)
    readout = f"{bins} bin{'s' if bins > 1 else ''}: ECE {error:.1%}"
    counted = metrics.reliability(said.probs, said.labels, bins=bins)
    return explorers.reliability_frame(counted, title="one network, other bins", readout=readout)


explorers.Explorer(
    frame,
    explorers.Slider("bins", [1, 2, 3, 5, 8, 10, 15, 20, 25, 30, 40, 50, 75, 100], start=15),
    description="The reliability diagram of the same predictions, counted in 1 to 100 bins. A bar is "
    "the accuracy of a bin, the hatched piece reaches to its mean confidence, the black line is its "
    "95 % interval; the strip below counts its samples. The readout tells the ECE.",
)

# %% [markdown]
# The still twin of the slider:

# %%
fig, axes = plt.subplots(1, 4, figsize=(12, 4.2), layout="constrained")
for ax, bins in zip(axes, (1, 5, 15, 100), strict=True):
    counted = metrics.reliability(said.probs, said.labels, bins=bins)
    error = metrics.ece(said.probs, said.labels, bins=bins)
    title = f"bins: {bins}, ECE {error:.1%}"
    _ = plots.draw_reliability(counted, ax=ax, title=title, legend=ax is axes[0])

# %% [markdown]
# - **One bin against fifteen:** for this network the number barely changes. It is over-confident in
#   (almost) every bin, all gaps point the same way, and then averaging first loses nothing.
# - **A hundred bins:** the left becomes ragged. The ECE rises only slightly here because
#   the true gap is far larger than the noise. Notebook 02 shows when that is not so.
#
# ## 7. The classic mistake: one bin, or one number, is enough
#
# A clinic pools the predictions of two models in one report. Half come from our network, half from
# a second one, trained with *label smoothing* (targets of 0.865 for the right class in place of 1;
# notebook 09, planned, is about it), which makes it cautious.

# %%
def pooled_report(seed):
    train, _, test = data.noisy_digits(size.train, noise=0.4, seed=seed, test=size.test)
    fit = partial(training.fit, network, train, epochs=size.epochs, seed=seed, device=device,
                  progress=False)
    half = len(test) // 2
    bold = fit().predict(test[:half])
    cautious = fit(loss=partial(cross_entropy, label_smoothing=0.15)).predict(test[half:])
    return torch.cat([bold.probs, cautious.probs]), torch.cat([bold.labels, cautious.labels])


reports = [pooled_report(seed) for seed in range(SEED, SEED + size.seeds)]

# %% [markdown]
# **The mistake:** to look at a single number with a single bin, mean confidence against accuracy.
# **The repair:** to draw the diagram.

# %%
pooled, truth = reports[0]
fig, (ax_left, ax_right) = plt.subplots(1, 2, figsize=(9.5, 5), layout="constrained")
_ = plots.confidence_histogram(pooled, truth, ax=ax_left, title="two means: nothing to see")
_ = plots.reliability_diagram(pooled, truth, ax=ax_right, title="fifteen bins")

# %% [markdown]
# - **Left:** the two lines nearly coincide. The report as a whole "is calibrated".
# - **Right, high confidence:** over-confident. There the bold model dominates, and claims too much.
# - **Right, middle:** under-confident (dotted). There the cautious one dominates, and claims too little.
#
# Nobody who uses *one* of these predictions is served by the fact that the errors of others cancel
# its own. In symbols, the triangle inequality says that the ECE with 15 bins can never be below the
# ECE with one bin; how far above it lies is a question about models, and so it gets a verdict. (The
# claim "at least 3 points" is the verdict's *margin*: the whole interval must lie above it.)

# %%
# NBVAL_CHECK_OUTPUT
more = [metrics.ece(p, y, bins=15) - metrics.ece(p, y, bins=1) for p, y in reports]
statement = "15 bins show at least 3 points of error that one bin cancels"
print(claims.verdict("M2", statement, more, margin=0.03))

# %% [markdown]
# ## 8. The other mistake: to believe a bin with a handful of samples
#
# The **maximum calibration error** (MCE) is the largest gap of any bin. It sounds like a guarantee
# ("nowhere worse than ..."). Look at which bin of our first network decides it:

# %%
worst = metrics.mce(said.probs, said.labels, bins=15)
counted = metrics.reliability(said.probs, said.labels, bins=15)
at = counted.gap.abs().nan_to_num(0).argmax()
low, high = counted.interval()
print(f"MCE {worst:.1%}, from a bin with {counted.counts[at]} of {len(said)} samples")
print(f"it claims {counted.confidence[at]:.1%} and keeps {counted.accuracy[at]:.1%}, "
      f"95 % interval {low[at]:.1%} to {high[at]:.1%}")

# %% [markdown]
# Compare the count with the width of the interval. A bin with a handful of samples holds the record
# easily, by luck, and its interval may well contain its own confidence. The interval is Wilson's,
# which stays sensible even for a bin that is right 0 times out of 5. So: **no diagram without counts,
# no gap without an interval, and no MCE without saying how full its bin is.**
#
# ## Three things to take away
#
# 1. A reliability diagram plots accuracy against confidence per bin; below the diagonal means
#    over-confident. Counts and intervals belong to it.
# 2. ECE is the weighted mean of the *absolute* gaps. With one bin, opposite gaps cancel.
# 3. Bins are (lo, hi], compared with the edges m/M in float64: `int(c * M)` puts nearly every edge
#    into the wrong one.
#
# ## Recall
#
# <details><summary>1. Ten predictions at confidence 0.9, eight of them right. What is the gap?
# </summary>
#
# 0.9 - 0.8 = +0.1: over-confident by ten points.
#
# </details>
#
# <details><summary>2. With M = 10, which bin holds confidence 0.3, counting from 0?</summary>
#
# (0.2, 0.3], which is number 2. (In float64: the float32 next to 0.3 is 0.30000001, really in bin 3.)
#
# </details>
#
# <details><summary>3. Why does ECE not divide by the number of bins?</summary>
#
# Because it weighs each bin by its share of the samples, and these shares sum to 1 already.
#
# </details>
#
# <details><summary>4. When is the ECE with one bin equal to the ECE with fifteen?</summary>
#
# When all gaps have the same sign; then the absolute value of the sum is the sum of the absolute
# values.
#
# </details>
#
# <details><summary>5. Why is the left part of most reliability diagrams empty?</summary>
#
# The confidence is the largest of K probabilities and so at least 1/K; and trained networks are
# rarely that unsure.
#
# </details>
#
# <details><summary>6. A model always answers the commonest class, with the share of that class as its
# confidence. What does its diagram look like?</summary>
#
# One bin, exactly on the diagonal. It is perfectly calibrated and perfectly useless: calibration is
# not accuracy. Notebook 02 measures both together.
#
# </details>
#
# ## Go further
#
# In section 7, change the share of each model, or the smoothing, and watch the two lines of the left
# figure part. Then: [02 Measuring calibration](02_measuring_calibration.ipynb). If your digits differ
# from those printed here, see [your numbers differ?](your_numbers_differ.md).
#
# ## References
#
# - Guo, Pleiss, Sun, Weinberger: *On Calibration of Modern Neural Networks*. ICML 2017.
#   [arXiv:1706.04599](https://arxiv.org/abs/1706.04599) (figure 1)
# - Naeini, Cooper, Hauskrecht: *Obtaining Well Calibrated Probabilities Using Bayesian Binning*.
#   AAAI 2015. [doi:10.1609/aaai.v29i1.9602](https://doi.org/10.1609/aaai.v29i1.9602)
# - Wilson: *Probable Inference, the Law of Succession, and Statistical Inference*. JASA 22, 1927.
#   [doi:10.1080/01621459.1927.10502953](https://doi.org/10.1080/01621459.1927.10502953)
# - Bae: *On Calibration of Deep Neural Networks*. DMQA open seminar, Korea University, 12 May 2023
#   (the five-row tables).
