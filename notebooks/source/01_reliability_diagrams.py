# %% [markdown]
# # 01 · Reliability diagrams: confidence against accuracy, bin by bin
#
# **Question.** A clinic reads half of its scans with one network and half with another, and prints all answers in one
# report. On average the report is 79.5 % sure, and 79.2 % of its answers are right. "No gap," says Ben. "So you can take
# each number at its word." Can you?
#
# **Predict before you run:** where the report is more than 93 % sure, it is 99 % sure on average. What share of these answers
# is right? Write down a number. Then run the cell and move the slider to 50 %, half and half.

# %% tags=["answer"]
from calibkit.course import explorers

explorers.stored("two_networks")

# %% [markdown]
# <details><summary>What came out</summary>
#
# 90 %: one of ten such answers is wrong, where the report says one of a hundred. And at 50 % sure it is right on 63 %. One
# network is bold, the other cautious. Their errors cancel in the average, but not in any single scan.
#
# </details>
#
# **Time.** 40 minutes; 20 more for the homework, which is all under "Go further".
#
# **Needs.** [00 Start here](00_start_here.ipynb).
#
# **Next on your path.** *Three hours*, *decisions*, *language models*: [08](08_temperature.ipynb). *Six evenings*, *practice*, *teaching*: [02](02_measuring_calibration.ipynb).

# %% tags=["drawing"]
from functools import partial

import torch
from torch.nn.functional import cross_entropy

from calibkit import metrics
from calibkit.course import check, verdicts
from calibkit.course.scale import begin
from calibkit.lab import data, models, sweep, training
from calibkit.pictures import plots

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% [markdown]
# Five pairs of networks read noisy digits in place of scans. The bold ones are trained as in lesson 00, the cautious ones
# with labels that say 86.5 % in place of 100 % (lesson 09). From each pair comes one report on 10,000 scans. `report(share)` puts the five together (50,000 answers); `share` says which part
# of the answers comes from the bold network.

# %% tags=["drawing"]
size, seeds, device = begin(SCALE, SEED, DEVICE)


def recipe(softened, seed):
    learn, _, fresh = data.noisy_digits(size.train, noise=0.4, seed=seed, test=size.test)
    loss = partial(cross_entropy, label_smoothing=softened)
    return training.trial(
        lambda: models.mlp(64, 10), learn, {"test": fresh}, seed=seed, epochs=size.epochs, loss=loss)


swept = sweep.run(recipe, {"softened": [0.0, 0.15], "seed": seeds}, device=device)


def of_seed(share, seed):
    """The first `share` of the test images read by the bold network, the others by the cautious one."""
    bold = swept.one(softened=0.0, seed=seed).predictions["test"]
    cautious = swept.one(softened=0.15, seed=seed).predictions["test"]
    cut = round(share * len(bold))
    return torch.cat([bold.probs[:cut], cautious.probs[cut:]]), bold.labels

# %% tags=["drawing"]
def report(share):
    parts = [of_seed(share, seed) for seed in seeds]
    return torch.cat([p for p, _ in parts]), torch.cat([y for _, y in parts])


def share_frame(share):
    probs, truth = report(share)
    accuracy, gap = metrics.accuracy(probs, truth), metrics.signed_gap(probs, truth)
    sure, hit = probs.amax(dim=1), probs.argmax(dim=1) == truth
    words = f"{share:.0%} from the bold network: accuracy {accuracy:.1%}, mean confidence {accuracy + gap:.1%}"
    if (most := sure > 14 / 15).any():
        words += f"; where more than 93% sure, right on {hit[most].double().mean():.0%}"
    return explorers.reliability_frame(
        metrics.reliability(probs, truth), readout=words, title=f"{share:.0%} bold, {1 - share:.0%} cautious")


explorers.keep(explorers.Explorer(
    share_frame,
    explorers.Slider("from the bold network", [i / 10 for i in range(11)], show="{:.0%}".format),
    description="The reliability diagram of the pooled report, all seeds together. A line stands "
    "at the accuracy of each bin; from there to its mean confidence the gap is striped (over-confident) or "
    "dotted (under-confident). The strip below counts the predictions."), "two_networks")

# %% [markdown]
# ## 1. Bins by hand
#
# To see *where* confidence and accuracy differ, put answers of similar confidence together. The usual choice (Guo et
# al. 2017) is $M$ **bins** of equal width, open on the left and closed on the right: bin $m$ holds the confidences in
# $((m-1)/M,\ m/M]$. **In each bin, take two means: how sure, and how often right.** (`torch.bucketize` gives each answer the number of
# its bin, from the edges *between* bins.)
#
# **Your move.** Change M: 15, then 5, then 1. Which gaps does M = 1 hide?

# %%
M = 15  # change me

probs, labels = report(0.5)
confidence, correct = probs.amax(dim=1).double(), probs.argmax(dim=1) == labels
edges = torch.arange(M + 1, dtype=torch.float64) / M
which = torch.bucketize(confidence, edges[1:-1])  # the number of each answer's bin, from 0
for m in range(M):
    inside = which == m
    if inside.any():  # a bin without answers says nothing
        print(f"({edges[m]:.2f}, {edges[m + 1]:.2f}]  {inside.sum():5d} answers, "
              f"{confidence[inside].mean():5.1%} sure, {correct[inside].double().mean():5.1%} right")
print(f"all answers: {confidence.mean():.1%} sure, {correct.double().mean():.1%} right")

# %% [markdown]
# The diagram draws these two columns, and adds what it must not lack: a strip with the *counts* (a **confidence histogram**), and a
# black line for each bin, the 95 % *interval* of its accuracy.

# %%
counted = metrics.reliability(probs, labels, bins=15)
_ = plots.draw_reliability(counted, title="The report, half and half", legend=False)

# %% [markdown]
# On the right the bars end below the diagonal: over-confident. The last bin holds nearly half of all answers. In the middle and on the left
# they end above it: under-confident. On the far left nothing is drawn, or a long black line: few answers are so unsure.
#
# ## 2. One number: the ECE
#
# Ben's average lets opposite gaps cancel. So take the gap of each bin *without its sign*, and weight it by the bin's share of
# the answers. That is the **expected calibration error** (**ECE**):
#
# $$\mathrm{ECE} = \sum_{m=1}^{M} \frac{|B_m|}{n}\,\bigl|\mathrm{acc}(B_m) - \mathrm{conf}(B_m)\bigr|$$
#
# $B_m$ are the answers in bin $m$, $|B_m|$ is their number, $n$ that of all; acc is a bin's accuracy, conf its mean confidence. In code
# it is simpler: a bin's share times its mean gap is the *sum* of its gaps, divided by $n$.
#
# ### Exercise: ECE
#
# *Difficulty: medium · importance: high · 10 minutes*
#
# Write it, from `probs` (n, K), `labels` (n,) and the number of `bins`: a number from 0 to 1. The next cell and lesson 17 use
# yours.

# %%
def my_ece(probs, labels, bins):
    # 1. confidence of each row, and whether it is right (1 or 0), in float64
    # 2. the number of its bin, as above
    # 3. for each bin: the sum of confidence minus right
    # 4. absolute values, added up, divided by n
    ...


check.ece(my_ece)

# %% [markdown]
# <details><summary>Hint</summary>
#
# `torch.bincount(which, weights=..., minlength=bins)` adds up per bin; with sums an empty bin never divides by zero.
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
# **Keep it.** The next cell writes your function to `mine.py`, beside your notebooks. (As long as yours is not kept, the
# course's own stands in.)

# %%
check.keep(my_ece)

# %% [markdown]
# **Predict before you run:** with one bin, the ECE of the report is the gap that Ben saw, 0.3 %. How large is it with 15 bins?

# %% tags=["answer"]
from calibkit.course.mine import ece

posterior = torch.cat([swept.one(softened=0.0, seed=seed).predictions["test"].posterior for seed in seeds])
bold, _ = report(1.0)
for name, rows in {"the report": probs, "the bold networks": bold, "the exact posterior": posterior}.items():
    few, usual, many = (ece(rows, labels, bins) for bins in (1, 15, 100))
    print(f"{name}: ECE {few:.1%} with 1 bin, {usual:.1%} with 15, {many:.1%} with 100")

# %% [markdown]
# <details><summary>What came out</summary>
#
# 8.6 %: one bin hid nearly all of it. For the bold networks alone nothing changes: all their gaps have the same sign, so nothing cancels.
# The exact posterior is calibrated, and its ECE is not quite zero: luck moves the accuracy of each bin a little.
# [Lesson 02](02_measuring_calibration.ipynb) measures how much.
#
# </details>
#
# Is it so in each of the five reports? A *verdict* gives the mean over them with its 95 % interval. HOLDS: the whole interval lies
# above 3 points.

# %% tags=["nbval-check-output"]
reports = [of_seed(0.5, seed) for seed in seeds]
more = [metrics.ece(p, y, bins=15) - metrics.ece(p, y, bins=1) for p, y in reports]
statement = "15 bins show at least 3 points of error that one bin cancels"
print(verdicts.judge("M2", statement, more, margin=0.03))

# %% [markdown]
# ## 3. Which bar do you believe?
#
# "Then repair the worst bin," says Ben. The largest gap of any bin is called the **maximum calibration error** (**MCE**). With 15 bins
# the first row of section 1 says: 13 % sure, right on 100 %. The MCE of the report is 87 points, from a single answer that happened to be right. The
# interval of its accuracy goes from 21 to 100 %. (It is **Wilson's interval**, which makes sense for one answer, too.) So: no diagram
# without counts, no gap without its interval.
#
# ### Exercise: which gap would you believe?
#
# *Difficulty: medium · importance: high · 8 minutes, no code*
#
# A report on 10,000 answers has three bins that are not empty:
#
# | bin | answers | mean confidence | right | 95 % interval of the accuracy |
# |---|---|---|---|---|
# | (0.5, 0.6] | 4 | 55 % | 1 | 4.6 to 69.9 % |
# | (0.8, 0.9] | 400 | 85 % | 320 | 75.8 to 83.6 % |
# | (0.9, 1.0] | 9,596 | 98 % | 9,212 | 95.6 to 96.4 % |
#
# Which bin decides the MCE, and which the ECE? Which gaps does the report prove? You may improve the
# model in one place, or collect 1,000 more labels: what do you do first?
#
# <details><summary>Answer</summary>
#
# The gaps are 30, 5 and 2 points. MCE is 30 %, from the first bin, but its interval contains 55 %: four answers
# prove nothing. ECE is .0004 x .30 + .04 x .05 + .9596 x .02 = .0213, of which .0192 come from the
# last bin: a small gap on nearly all answers. The intervals of the second and third bin do not
# contain their confidence, so these two gaps are real (each interval alone; with many bins a few miss by luck).
#
# What to do first depends on how the answers are used. If people act on "98 %", the last bin concerns most of
# them. If doubtful answers go to a doctor anyway, the first bin does no harm. New labels help
# where the intervals are long. Of 1,000 images drawn at random, though, about 40 would land in the second bin and 0.4
# in the first, so collect images on which the model is unsure.
#
# </details>
#
# ## The answer
#
# **No: the average says 79.5 % sure and 79.2 % right, but its surest answers, 99 % sure, are right on 90 %. Draw confidence
# against accuracy in bins, each with its count and its interval: the mean of their absolute gaps, the ECE, is 8.6 points.**
#
# ## Three things to take away
#
# 1. A reliability diagram plots accuracy against confidence per bin; below the diagonal means over-confident.
# 2. ECE is the weighted mean of the *absolute* gaps. With one bin, opposite gaps cancel.
# 3. A bin with few answers proves nothing: look at the count and the interval first.
#
# ## Recall
#
# <details><summary>1. Ten predictions at confidence 0.9, eight of them right. What is the gap?</summary>
#
# 0.9 - 0.8 = +0.1: over-confident by ten points.
#
# </details>
#
# <details><summary>2. When is the ECE with one bin equal to the ECE with fifteen?</summary>
#
# When all gaps have the same sign; then nothing cancels.
#
# </details>
#
# <details><summary>3. A model always answers the commonest class, with the share of that class as its
# confidence. What does its diagram look like?</summary>
#
# One bin, on the diagonal apart from luck. It is calibrated and useless: calibration is
# not accuracy. Lesson 02 measures both together.
#
# </details>
#
# ## Go further
#
# *All that follows may be left out.*
#
# ### The worst bin

# %%
worst = counted.gap.abs().nan_to_num(0).argmax()
low, high = counted.interval()
print(f"MCE {metrics.mce(probs, labels, bins=15):.1%}, from a bin with {counted.counts[worst]} "
      f"of {len(labels):,} answers: {counted.confidence[worst]:.1%} sure, "
      f"right on {counted.accuracy[worst]:.1%}, 95 % interval {low[worst]:.1%} to {high[worst]:.1%}")

# %% [markdown]
# ### One to a hundred bins
#
# The report of one pair of networks, in as many bins as you like. What becomes of the ECE, and what of the bars?

# %% tags=["drawing"]
one_pair, truth = of_seed(0.5, SEED)


def frame(bins):
    counted = metrics.reliability(one_pair, truth, bins=bins)
    return explorers.reliability_frame(
        counted, title=f"one report, bins: {bins}",
        readout=f"bins: {bins}, ECE {metrics.ece(one_pair, truth, bins=bins):.1%}")


explorers.Explorer(
    frame, explorers.Slider("bins", [1, 2, 3, 5, 8, 10, 15, 20, 30, 50], start=15),
    description="The reliability diagram of one report, counted in 1 to 50 bins. A line "
    "stands at the accuracy of each bin; from there to its mean confidence the gap is striped or dotted. The black "
    "line is the 95 % interval of the accuracy; the strip counts the predictions.")

# %% [markdown]
# ### Which side of an edge?
#
# Many scripts write `int(c * M)` in place of `bucketize`. That closes the bins on the *left*: a confidence on an edge lands one bin
# too high, and confidence 1 gets a bin that does not exist. Such values are not rare: if 7 of 10 models vote for a class,
# the confidence is exactly 0.7.

# %%
on_edges = torch.arange(1, 11, dtype=torch.float64) / 10
print("confidence  ", on_edges.tolist())
print("(lo, hi]    ", torch.bucketize(on_edges, on_edges[:-1]).tolist())
print("int(c * 10) ", [int(c * 10) for c in on_edges.tolist()])

# %% [markdown]
# Every one of them is wrong. `ceil(c * M) - 1` repairs the side but not the rounding: `0.07 * 100` comes out just above 7.
# So divide votes in float64, and compare in float64.
#
# ### Exercise: which bin? (homework)
#
# *Difficulty: medium · importance: medium · 10 minutes*
#
# Write `my_bin_index(confidence, bins)` that returns for each confidence the number of its bin
# (lo, hi], counted from 0. Use float64: the checker tries values exactly on the edges.

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
# Your numbers differ? [Why](your_numbers_differ.md).
#
# ## References
#
# - Guo, Pleiss, Sun, Weinberger: *On Calibration of Modern Neural Networks*. ICML 2017.
#   [arXiv:1706.04599](https://arxiv.org/abs/1706.04599) (figure 1)
# - Naeini, Cooper, Hauskrecht: *Obtaining Well Calibrated Probabilities Using Bayesian Binning*.
#   AAAI 2015. [doi:10.1609/aaai.v29i1.9602](https://doi.org/10.1609/aaai.v29i1.9602)
# - Wilson: *Probable Inference, the Law of Succession, and Statistical Inference*. JASA 22, 1927.
#   [doi:10.1080/01621459.1927.10502953](https://doi.org/10.1080/01621459.1927.10502953)
