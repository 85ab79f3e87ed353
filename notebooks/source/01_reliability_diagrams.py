# %% [markdown]
# # 01 · Reliability diagrams: confidence against accuracy, bin by bin
#
# **Question.** Two models read the same scans and are right equally often. Both print how sure they are. Whose numbers
# can you take at their word?
#
# **You will be able to**
# - compute accuracy, mean confidence and their gap from a table of five predictions;
# - sort predictions into bins (lo, hi], and draw the diagram yourself;
# - compute the expected calibration error, and say what a single bin hides;
# - tell a gap that means something from a bin with too few predictions.
#
# **Time.** 60 minutes with the three exercises; the cells run in under a minute.
#
# **Needs.** [00 Start here](00_start_here.ipynb).
#
# **Next on your path.** *Three hours*, *decisions*, *language models*: [08](08_temperature.ipynb). *Six evenings*, *practice*, *teaching*: [02](02_measuring_calibration.ipynb).

# %% tags=["drawing"]
from functools import partial

import matplotlib.pyplot as plt
import torch
from torch.nn.functional import cross_entropy

from calibkit import metrics
from calibkit.course import check, explorers, verdicts
from calibkit.course.scale import begin
from calibkit.lab import data, models, sweep, training
from calibkit.pictures import plots

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% [markdown]
# A clinic pools the answers of two networks in one report. One network is bold, the other is cautious. The slider moves
# the share of the report that comes from the bold one. *Find a share at which accuracy and mean confidence agree, and
# look at the bars there.*
#
# A blue line is the accuracy of one bin. From there to the mean confidence, the gap is striped (over-confident) or dotted
# (under-confident).

# %%
explorers.stored("two_networks")

# %% [markdown]
# At that share the two averages say that nothing is wrong, and the diagram says otherwise. This lesson builds the
# diagram from its parts, so that you know what each bar can tell you and what it cannot.
#
# ## 1. Two models, five photographs
#
# Two models look at the same five photographs. Each photograph shows a dog, a cat or a shark, and
# in truth all five show a cat. Each row below is a photograph, each column a class. (The example is from a
# seminar on calibration, see the references.)

# %%
size, seeds, device = begin(SCALE, SEED, DEVICE)
cat = 1
labels = torch.tensor([cat, cat, cat, cat, cat])
model_1 = torch.tensor([[.10, .75, .15], [.10, .80, .10], [.60, .38, .02], [.10, .80, .10],
                        [.01, .99, .00]], dtype=torch.float64)
model_2 = torch.tensor([[.02, .98, .00], [.03, .97, .00], [.95, .02, .03], [.00, .95, .05],
                        [.01, .99, .00]], dtype=torch.float64)

# %% [markdown]
# **Predict before you run:** both take the third photograph for a dog and are right on the other
# four. Which model has the larger gap between confidence and accuracy, and how large is it, by eye?

# %% tags=["answer"]
sizes_of_gaps = {}
for name, probs in (("model 1", model_1), ("model 2", model_2)):
    confidence = probs.amax(dim=1)
    accuracy = (probs.argmax(dim=1) == labels).double().mean()
    gap = confidence.mean() - accuracy
    sizes_of_gaps[name] = abs(gap)
    print(f"{name}: accuracy {accuracy:.1%}, mean confidence {confidence.mean():.1%}, "
          f"gap {100 * gap:+.1f} points")
print(f"the larger gap: {max(sizes_of_gaps, key=sizes_of_gaps.get)}")

# %% [markdown]
# Open the answer above first. (The seminar gives the same mean confidences, 78.8 and 96.8 %.)
#
# - **Model 1** is about as sure as it is right.
# - **Model 2** is right just as often, and far more sure than right.
#
# Accuracy cannot tell the two apart. The gap can, and so can this lesson's diagram: they ask whether "80 %" *means* 80 %.
#
# Another question is whether the model is less sure *where* it is wrong. Model 1 is (60 % for the dog), model 2 hardly
# (95 %). The gap does not answer it: a model that says 80 % of every photograph and is right on four of five has gap
# zero, and never warns you. That question is about the *order* of the confidences; lesson 02 measures it. (Five rows prove nothing, of course: they only
# show the arithmetic. Section 8 returns to bins with five predictions.)
#
# ## 2. From five rows to ten thousand
#
# Five predictions make a table; ten thousand make a picture. We train a network on the noisy
# digits of lesson 00 and collect what it says about images that it has never seen.

# %%
def network():
    return models.mlp(64, 10)


train, cal, test = data.noisy_digits(size.train, noise=0.4, seed=SEED, test=size.test)
run = training.fit(network, train, epochs=size.epochs, seed=SEED, device=device)
said = run.predict(test)
confidence, correct = said.confidence, said.correct
print(f"{len(said)} predictions, confidence {confidence.min():.2f} to {confidence.max():.2f}")

# %% [markdown]
# The first picture is the **confidence histogram**: how many predictions have which confidence?

# %%
_ = plots.confidence_histogram(said.probs, said.labels)

# %% [markdown]
# - The right-most bin holds most of the predictions: this network is rarely unsure.
# - The dashed line (mean confidence) lies to the right of the solid one (accuracy). Their distance
#   is the signed gap.
#
# ## 3. Bins
#
# To see *where* confidence and accuracy differ, we group predictions of similar confidence. The usual
# choice (Guo et al. 2017) is $M$ intervals of equal width, **open on the left, closed on the right**:
# bin number $m$, counted from 1, holds the confidences in $((m-1)/M,\ m/M]$, and they form the set $B_m$. Confidence 0 joins the
# first bin; 1 belongs to the last. `torch.bucketize` sorts them, given the edges *between* two bins.

# %%
M = 15
edges = torch.arange(M + 1, dtype=torch.float64) / M
which = torch.bucketize(confidence.double(), edges[1:-1])  # (lo, hi] is bucketize's default
counts = torch.bincount(which, minlength=M)
print("predictions in each bin:", counts.tolist())

# %% [markdown]
# Many scripts write `int(c * M)` instead. That closes the bins on the *left*: a confidence on an edge lands one bin
# too high, and confidence 1 gets a bin that does not exist. Such values are not rare: if 7 of 10 models vote for a class,
# the confidence is exactly 0.7. Here are ten confidences on the edges of ten bins, and the bin that each way gives
# them (in Python, bins are counted from 0):

# %%
on_edges = torch.arange(1, 11, dtype=torch.float64) / 10
print("confidence  ", on_edges.tolist())
print("(lo, hi]    ", torch.bucketize(on_edges, on_edges[:-1]).tolist())
print("int(c * 10) ", [int(c * 10) for c in on_edges.tolist()])

# %% [markdown]
# <details><summary>Rounding: why the edges are divided, and in double precision (you may skip this)</summary>
#
# - `ceil(c * M) - 1` repairs the side but not the rounding: with 100 bins, `0.07 * 100` comes out just
#   above 7, and 0.07 falls into bin 7 in place of 6.
# - Even `torch.linspace(0, 1, 101, dtype=torch.float64)` does not place every edge on the number nearest
#   to m/100: it misses 0.56.
# - 0.2 stored in float32 already lies above the edge 0.2. So divide votes in float64, and compare in float64.
#
# </details>
#
# ### Exercise: which bin?
#
# *Difficulty: medium · importance: high · 10 minutes*
#
# Write `my_bin_index(confidence, bins)` that returns for each confidence the number of its bin
# (lo, hi], counted from 0. `confidence` is a tensor. Use float64 for confidences
# and edges: the checker tries values exactly on the edges.

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
# ## 4. The reliability diagram by hand
#
# For every bin we need two averages: how sure the network was, and how often it was right.

# %%
sure = torch.full((M,), torch.nan, dtype=torch.float64)  # NaN stands for "no predictions"
hits = sure.clone()
for m in range(M):
    inside = which == m
    if inside.any():
        sure[m] = confidence[inside].double().mean()
        hits[m] = correct[inside].double().mean()
        print(f"({edges[m]:.2f}, {edges[m + 1]:.2f}]  {counts[m]:5d} predictions, "
              f"{sure[m]:6.1%} sure, {hits[m]:6.1%} right")

# %% [markdown]
# A bin without predictions is not drawn: it says nothing. The package's diagram draws the two columns, and adds what a diagram must
# not lack: the *count* of each bin, and an *interval* for each accuracy. First the assertion that it counts as we do:

# %%
counted = metrics.reliability(said.probs, said.labels, bins=M)
assert torch.equal(counted.counts.long(), counts)
assert torch.allclose(counted.confidence, sure, equal_nan=True)
assert torch.allclose(counted.accuracy, hits, equal_nan=True)
_ = plots.draw_reliability(counted, title="By hand and by the package")

# %% [markdown]
# How to read it, from right to left:
#
# - **The last bin** holds most predictions and has a short interval: this gap is real, and it matters
#   most, because most predictions are there.
# - **The middle** lies well below the diagonal: where the network says 70 %, it is right far less often.
# - **The far left** has few predictions or none. The largest of ten probabilities is never below 10 %, and
#   this network is rarely that unsure. Long black lines: do not interpret.
#
# ## 5. One number: the expected calibration error
#
# The **expected calibration error** (**ECE**) is the mean length of the gaps, each weighted by the share of
# predictions in its bin:
#
# $$\mathrm{ECE} = \sum_{m=1}^{M} \frac{|B_m|}{n}\,\bigl|\mathrm{acc}(B_m) - \mathrm{conf}(B_m)\bigr|$$
#
# Here $|B_m|$ is the number of predictions in bin $m$ and $n$ that of all; acc is the bin's accuracy, conf its mean
# confidence.

# %%
share = counts.double() / counts.sum()
by_hand = (share * (hits - sure).abs()).nansum().item()
assert abs(by_hand - metrics.ece(said.probs, said.labels, bins=M)) < 1e-9
print(f"ECE with {M} bins: the network {by_hand:.1%}, "
      f"the exact posterior {metrics.ece(test.posterior, test.labels, bins=M):.1%}")

# %% [markdown]
# The exact posterior is calibrated, and yet its ECE is not quite zero: the accuracy of each bin is that of a
# sample, and the absolute value turns every random deviation into a positive number. [Lesson 02](02_measuring_calibration.ipynb)
# measures how much that is.
#
# ### Exercise: ECE
#
# *Difficulty: medium · importance: high · 10 minutes*
#
# Write `my_ece(probs, labels, bins)`: from probabilities (n, K), labels (n,) and a number of bins to the ECE, a number from
# 0 to 1. An empty bin adds nothing.

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
# **Keep it.** What you write in this course measures a network of yours in lesson 17. The next cell writes your function to `mine.py`,
# beside your notebooks, once it is right. (As long as it is not kept, the course's own stands in.)

# %%
check.keep(my_ece)

# %% [markdown]
# ## 6. How many bins?
#
# With **one bin** the sum becomes the absolute value of the signed gap. With **very many
# bins** each holds a handful of predictions, and its accuracy is mostly luck.
#
# **Predict before you run:** from 1 bin to 100 bins, does this network's ECE go up, go down, or stay? And
# that of the exact posterior?

# %% tags=["answer"]
for name, probs in (("network", said.probs), ("exact posterior", test.posterior)):
    few, usual, many = (metrics.ece(probs, test.labels, bins=bins) for bins in (1, 15, 100))
    way = "goes up" if many > few + 0.002 else "stays"
    print(f"{name}: ECE {few:.2%} with 1 bin, {usual:.2%} with 15, {many:.2%} with 100: it {way}")

# %%
def frame(bins):
    error = metrics.ece(said.probs, said.labels, bins=bins)
    counted = metrics.reliability(said.probs, said.labels, bins=bins)
    return explorers.reliability_frame(
        counted, title=f"one network, bins: {bins}", readout=f"bins: {bins}, ECE {error:.1%}")


explorers.Explorer(
    frame,
    explorers.Slider("bins", [1, 2, 3, 5, 8, 10, 15, 20, 30, 50, 75, 100], start=15),
    description="The reliability diagram of the same predictions, counted in 1 to 100 bins. A line "
    "stands at the accuracy of each bin; from there to its mean confidence the gap is striped. The black "
    "line is the 95 % interval of the accuracy; the strip counts the predictions.",
)

# %% [markdown]
# Open the answer above first.
#
# - **One bin against fifteen:** for this network the number does not change. It is over-confident in every filled bin
#   (the table of section 4), all gaps have the same sign, and then averaging first loses nothing.
# - **A hundred bins:** the left becomes ragged. The network's ECE changes little, because its
#   gap is far larger than the random deviations. For the posterior these deviations are all there is.
#
# ## 7. The classic mistake: one bin is enough
#
# Now we make the report of the first slider. The bold network is the one above. The
# cautious one is trained with softened targets: .865 for the right class in place of 1, and
# .015 for every other. (`partial` makes a loss function with this softening fixed.)

# %%
def recipe(softened, seed):
    learn, _, fresh = data.noisy_digits(size.train, noise=0.4, seed=seed, test=size.test)
    loss = partial(cross_entropy, label_smoothing=softened)
    return training.trial(network, learn, {"test": fresh}, seed=seed, epochs=size.epochs, loss=loss)


swept = sweep.run(recipe, {"softened": [0.0, 0.15], "seed": seeds}, device=device)

# %%
def report(share, seed):
    """The first `share` of the test images read by the bold network, the others by the cautious one."""
    bold = swept.one(softened=0.0, seed=seed).predictions["test"]
    cautious = swept.one(softened=0.15, seed=seed).predictions["test"]
    cut = round(share * len(bold))
    return torch.cat([bold.probs[:cut], cautious.probs[cut:]]), bold.labels


pooled, truth = report(0.5, SEED)
fig, (ax_left, ax_right) = plt.subplots(1, 2, figsize=(9.5, 5))
_ = plots.confidence_histogram(pooled, truth, ax=ax_left, title="two averages")
_ = plots.reliability_diagram(pooled, truth, ax=ax_right, title="the same report in fifteen bins")

# %% [markdown]
# - **The mistake (left)** is to compare the two averages, which is a diagram with one bin. They nearly
#   agree.
# - **The repair (right)** is to draw the bins. At high confidence the bars end below the diagonal (striped orange), in
#   the middle above it (dotted green). The errors of the two networks have opposite signs, and the average cancels
#   them.
#
# If you act on *one* answer, it does not help you that other answers are wrong in the opposite direction. By the
# triangle inequality the ECE with 15 bins is never below the ECE with one bin. How far above it lies depends on the models, and so it
# gets a verdict. The claim "at least 3 points" is the verdict's *margin*: the whole interval must lie above it.

# %% tags=["nbval-check-output"]
reports = [report(0.5, seed) for seed in seeds]
more = [metrics.ece(p, y, bins=15) - metrics.ece(p, y, bins=1) for p, y in reports]
statement = "15 bins show at least 3 points of error that one bin cancels"
print(verdicts.judge("M2", statement, more, margin=0.03))
tests = [outcome.predictions["test"] for outcome in swept.where(softened=0.0)]
honest = [metrics.ece(one.posterior, one.labels, bins=15) for one in tests]
statement = "the exact posterior's ECE is below 2 points"
print(verdicts.judge("01a", statement, honest, expect="below", than=0.02))

# %% [markdown]
# The source of this claim gives no number to compare ours with. The slider at the top
# was made from these runs by the next cell, which is folded and calls it `mine`: write `mine` in a cell of your own to
# see it.

# %% tags=["drawing"]
def share_frame(share):
    parts = [report(share, seed) for seed in seeds]
    probs, truth = torch.cat([p for p, _ in parts]), torch.cat([y for _, y in parts])
    accuracy, gap = metrics.accuracy(probs, truth), metrics.signed_gap(probs, truth)
    words = (f"{share:.0%} from the bold network: accuracy {accuracy:.1%}, mean confidence "
             f"{accuracy + gap:.1%}; mean length of the gaps {metrics.ece(probs, truth):.1%}")
    return explorers.reliability_frame(
        metrics.reliability(probs, truth), readout=words,
        title=f"{share:.0%} bold, {1 - share:.0%} cautious")


mine = explorers.Explorer(
    share_frame,
    explorers.Slider("from the bold network", [i / 10 for i in range(11)], show="{:.0%}".format),
    description="The reliability diagram of the pooled report, all seeds together. A line stands "
    "at the accuracy of each bin; from there to its mean confidence the gap is striped (over-confident) or "
    "dotted (under-confident). The strip below counts the predictions.")
explorers.keep(mine, "two_networks")

# %% [markdown]
# ## 8. The other mistake: to believe a bin with a handful of predictions
#
# The **maximum calibration error** (**MCE**) is the largest gap of any bin. It sounds like a guarantee
# ("nowhere worse than ..."). Look at which bin of our first network decides it:

# %%
worst = metrics.mce(said.probs, said.labels, bins=15)
at = counted.gap.abs().nan_to_num(0).argmax()
low, high = counted.interval()
print(f"MCE {worst:.1%}, from a bin with {counted.counts[at]} of {len(said)} predictions")
print(f"it is {counted.confidence[at]:.1%} sure and right on {counted.accuracy[at]:.1%}, "
      f"95 % interval {low[at]:.1%} to {high[at]:.1%}")

# %% [markdown]
# The interval is **Wilson's interval**, which stays sensible even for a bin that is right 0 times out of 5. So:
# *no diagram without counts, no gap without an interval, and no MCE without the count of its bin.*
#
# ### Exercise: which gap would you believe?
#
# *Difficulty: medium · importance: high · 15 minutes, a pocket calculator helps*
#
# A report on 10,000 predictions has three bins that are not empty:
#
# | bin | predictions | mean confidence | right | 95 % interval of the accuracy |
# |---|---|---|---|---|
# | (0.5, 0.6] | 4 | 55 % | 1 | 4.6 to 69.9 % |
# | (0.8, 0.9] | 400 | 85 % | 320 | 75.8 to 83.6 % |
# | (0.9, 1.0] | 9,596 | 98 % | 9,212 | 95.6 to 96.4 % |
#
# Compute ECE and MCE. Which bin decides each? Which gaps does the report prove? You may improve the
# model in one place, or collect 1,000 more labels: what do you do first?
#
# <details><summary>Answer</summary>
#
# The gaps are 30, 5 and 2 points. MCE is 30 %, from the first bin, but its interval contains 55 %: four predictions
# prove nothing. ECE is .0004 x .30 + .04 x .05 + .9596 x .02 = .0213, of which .0192 come from the
# last bin: a small gap on nearly all predictions. The intervals of the second and third bin do not
# contain their confidence, so these two gaps are real (each interval alone; with many bins a few miss by luck).
#
# What to do first depends on how the answers are used. If people act on "98 %", the last bin concerns most of
# them. If doubtful answers go to a doctor anyway, the first bin does no harm. New labels help
# where the intervals are long. Of 1,000 images drawn at random, though, about 40 would land in the second bin and 0.4
# in the first, so collect images on which the model is unsure.
#
# </details>
#
# ## Three things to take away
#
# 1. A reliability diagram plots accuracy against confidence per bin; below the diagonal means
#    over-confident. Counts and intervals belong to it.
# 2. ECE is the weighted mean of the *absolute* gaps. With one bin, opposite gaps cancel.
# 3. Bins are (lo, hi], compared with the edges m/M: `int(c * M)` put every edge of our example into the wrong one.
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
# (0.2, 0.3], which is number 2. (In float64. The float32 number nearest to 0.3 is 0.30000001, which belongs to bin 3.)
#
# </details>
#
# <details><summary>3. Why does ECE not divide by the number of bins?</summary>
#
# Because it weights each bin by its share of the predictions, and these shares sum to 1 already.
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
# One bin, on the diagonal apart from luck. It is calibrated and useless: calibration is
# not accuracy. Lesson 02 measures both together.
#
# </details>
#
# ## Go further
#
# At which share of the bold network does the signed gap of the report change its sign? Compute it for shares from 0 to 100 %, with
# the ECE beside it.
#
# <details><summary>Answer</summary>
#
# ```python
# for tenth in range(11):
#     probs, truth = report(tenth / 10, SEED)
#     gap, error = metrics.signed_gap(probs, truth), metrics.ece(probs, truth)
#     print(f"{tenth / 10:.0%} bold: signed gap {100 * gap:+.1f} points, ECE {error:.1%}")
# ```
#
# The signed gap is (nearly) a straight line in the share, so it has to cross zero somewhere. The ECE never gets there.
#
# </details>
#
# **Next.** Three hours, decisions: [08 Temperature](08_temperature.ipynb). Six evenings, practice, or lesson by lesson: [02 Measuring calibration](02_measuring_calibration.ipynb). If your digits differ from those printed here, see [your numbers differ?](your_numbers_differ.md)
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
