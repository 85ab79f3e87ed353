# %% [markdown]
# # 02 · Measuring calibration: many measures, and how far to trust them
#
# **Question.** An ECE of 1.4 % was measured on 1,000 images. Is the model miscalibrated?
#
# **You will be able to**
# - compute and tell apart ECE, MCE, AdaECE, classwise-ECE, overconfidence error, NLL and Brier score;
# - put a bootstrap interval around a measure, and know when it misleads;
# - state how an estimate of ECE is biased, by sample size and number of bins, against a known truth;
# - find the value that a *perfectly* calibrated model would show on your data.
#
# **Time.** 75 minutes with the two exercises; the cells run in about a minute.
#
# **Needs.** [01 Reliability diagrams](01_reliability_diagrams.ipynb).

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch

from calibkit import check, claims, data, explorers, metrics, models, palette, plots
from calibkit import recalibration, training
from calibkit.scale import budget

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %%
device = training.as_device(DEVICE)
size = budget(SCALE)
seeds = range(SEED, SEED + size.seeds)

# %% [markdown]
# ## 1. Three forecasters
#
# To judge a ruler one measures things of known length. So we take three forecasters of the same
# noisy digits, from bad to perfect:
#
# - **network**: trained the usual way; over-confident, as we saw.
# - **cooled**: the same network with its logits divided by one number T > 1, the *temperature*,
#   which makes every prediction less extreme. T is fitted on the `cal` split, never on `test`
#   (notebook 08, planned, is about this cure; here it gives us a model that is calibrated to about a
#   point, a little over- or under-confident depending on the seed).
# - **oracle**: the exact posterior. Nobody has it for photographs. Here we do, and it is
#   perfectly calibrated by definition.

# %%
def forecasters(seed):
    """The probabilities of the three on one test set, and that test set."""
    train, cal, test = data.noisy_digits(size.train, noise=0.4, seed=seed, test=5 * size.test)
    run = training.fit(lambda: models.mlp(64, 10), train, epochs=size.epochs, seed=seed,
                       device=device, progress=False)
    on_cal, on_test = run.predict(cal), run.predict(test)
    scaler = recalibration.TemperatureScaler().fit(on_cal.logits, on_cal.labels)
    cooled = scaler.transform(on_test.logits).softmax(dim=1)
    return {"network": on_test.probs, "cooled": cooled, "oracle": test.posterior}, test


everyone = {seed: forecasters(seed) for seed in seeds}  # prints nothing for a quarter of a minute
probs, test = everyone[SEED]

# %%
fig, axes = plt.subplots(1, 3, figsize=(11.5, 5), layout="constrained")
for ax, (name, said) in zip(axes, probs.items(), strict=True):
    counted = metrics.reliability(said, test.labels)
    _ = plots.draw_reliability(counted, ax=ax, title=name)

# %% [markdown]
# - **network**: its bars end far below what it claims, everywhere.
# - **cooled**: close, with small gaps that may or may not be real.
# - **oracle**: on the diagonal, yet not *exactly*, although it is perfect. Keep that in mind.
#
# ## 2. Measures of the predicted class
#
# All of these look at one number per prediction, the confidence, and whether it was right.
#
# | measure | what it averages | equals zero when |
# |---|---|---|
# | **signed gap** | confidence minus accuracy, all samples together | the two means agree |
# | **ECE** | the absolute gap per bin, weighted by count | every bin's gap is zero |
# | **MCE** | nothing: the largest gap of a non-empty bin | as ECE |
# | **AdaECE** | as ECE, but with bins of equally many samples | every such bin's gap is zero |
# | **OE** | confidence times gap, in over-confident bins only | no bin is over-confident |
#
# AdaECE (Nguyen and O'Connor 2015; named so by Mukhoti et al. 2020) from scratch: sort by
# confidence, cut into equal parts, average the absolute gaps.

# %%
confidence, correct = probs["cooled"].amax(1).double(), probs["cooled"].argmax(1) == test.labels
order = confidence.argsort()
parts = zip(confidence[order].tensor_split(15), correct[order].tensor_split(15), strict=True)
by_hand = sum(abs(c.mean() - r.double().mean()) * len(c) for c, r in parts) / len(order)
assert abs(by_hand - metrics.ada_ece(probs["cooled"], test.labels)) < 1e-4
print(f"AdaECE of the cooled network {by_hand:.2%}")

# %% [markdown]
# (Where equal confidences lie across a cut, the package keeps them in one bin, so that the answer cannot
# depend on the order of the rows; the hand-made version does not.) The overconfidence error
# (Thulasidasan et al. 2019) punishes what is dangerous, a high confidence that is not kept:

# %%
counted = metrics.reliability(probs["network"], test.labels)
by_hand = (counted.share * counted.confidence * counted.gap.clamp(min=0)).nansum().item()
assert abs(by_hand - metrics.overconfidence_error(probs["network"], test.labels)) < 1e-9
print(f"OE of the network {by_hand:.2%}")

# %% [markdown]
# ## 3. Measures of all classes
#
# A doctor who reads "cat 70 %, dog 25 %" also uses the 25 %. **Classwise-ECE** bins *every* column
# of the probabilities against "is it this class?", and takes the mean over the K classes.
# It comes out small, because most columns are near zero most of the time: compare it only
# with itself.
#
# ### Exercise: classwise-ECE
#
# *Difficulty: medium · importance: medium · 10 minutes*
#
# `metrics.reliability_of(confidence, hits, bins=bins)` bins any confidence against any hits, and returns
# an object with `.counts` and `.gap` per bin (the gap of an empty bin is NaN). Use it for each class in
# turn.

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
# ## 4. Scores that reward being right as well
#
# The forecaster who always says "10 % for each digit" is as good as perfectly calibrated, and useless.
# **Strictly proper scores** cannot be fooled that way: in expectation only the true posterior minimises
# them.
#
# - **NLL** (negative log-likelihood, in *nats*, since the logarithm is natural): the mean of -log
#   p(true class). One confident mistake costs a lot.
# - **Brier score**: the mean squared distance between the probabilities and the one-hot truth, summed
#   over classes. It is bounded by 2.

# %%
nll = -probs["network"].double().gather(1, test.labels[:, None]).log().mean().item()
assert abs(nll - metrics.nll(probs["network"], test.labels)) < 1e-6
print(f"NLL of the network {nll:.3f} nats")

# %% [markdown]
# ### Exercise: the Brier score
#
# *Difficulty: easy · importance: high · 5 minutes*
#
# From `probs` (n x K) and integer `labels`, return the Brier score as defined above: one number.

# %%
def my_brier(probs, labels):
    ...  # your code here


check.brier(my_brier)

# %% [markdown]
# <details><summary>Hint</summary>
#
# `torch.nn.functional.one_hot(labels, K)` turns labels into rows with a single one. Over what do you
# sum, and over what do you take the mean?
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_brier(probs, labels):
#     truth = torch.nn.functional.one_hot(labels, probs.shape[1])
#     return ((probs.double() - truth) ** 2).sum(dim=1).mean().item()
# ```
#
# </details>
#
# Two more rows in the table: **top-5 accuracy** is how often the true class is among the five most
# probable (useful with hundreds of classes, nearly always 1 with ten), and **smECE** smooths with a
# kernel in place of bins (Błasiok and Nakkiran 2024).
#
# **Predict before you run:** in which rows of this table will the oracle show a zero?

# %%
measures = {
    "accuracy": metrics.accuracy, "top-5 accuracy": metrics.top_k_accuracy,
    "signed gap": metrics.signed_gap, "ECE": metrics.ece, "MCE": metrics.mce,
    "AdaECE": metrics.ada_ece, "classwise-ECE": metrics.classwise_ece,
    "OE": metrics.overconfidence_error, "smECE": metrics.smooth_ece,
    "Brier": metrics.brier, "NLL": metrics.nll,
}
table = {name: {what: f(said, test.labels) for what, f in measures.items()}
         for name, said in probs.items()}
pd.DataFrame(table).round(4)

# %% [markdown]
# Read it aloud:
#
# - **Accuracy** is the same for the network and its cooled twin: dividing all logits by one number
#   never changes which is largest. Calibration and accuracy are separate virtues.
# - **Every calibration error** falls by far from the network to the cooled one.
# - **In the network's column** signed gap, ECE, AdaECE and smECE are the same number: its gaps all have
#   one sign, and then every way of averaging them agrees. The measures differ where gaps are mixed.
# - **OE of the cooled network** can be near zero where its ECE is not: then its gaps are
#   under-confident ones, which OE forgives. Read the two together.
# - **The oracle's errors are not exactly zero**, perfect as it is, and its MCE is even large, decided by
#   a bin of few samples. What we computed are *estimates from a finite sample*, and most are biased.
#
# ## 5. How sure is the measure? The bootstrap
#
# Draw n samples from the n we have, *with* replacement, compute the measure again, and repeat many
# times. The middle 90 % of the results is the **percentile bootstrap interval**. (Figure 4 of Mukhoti
# et al. 2020 shows 90 % bootstrap intervals from 1,000 resamples. They follow Kumar et al. 2019, whose
# code reflects the interval around the estimate; section 9 compares both forms.)

# %%
generator = torch.Generator().manual_seed(SEED)
said, n = probs["network"], len(test)
again = []  # the next loop takes a few seconds
for _ in range(size.draws):
    index = torch.randint(n, (n,), generator=generator)
    again.append(metrics.ece(said[index], test.labels[index]))
low, high = np.quantile(again, [0.05, 0.95])
fast_low, fast_high = metrics.bootstrap_interval(said, test.labels, level=0.9, form="percentile")
print(f"by hand, {size.draws} resamples: {low:.2%} to {high:.2%}")
print(f"calibkit, 1000 resamples: {fast_low:.2%} to {fast_high:.2%}")

# %% [markdown]
# The two agree up to the noise of the resampling, and the package is far faster: a resample changes ECE
# only through three numbers per bin, the count, the hits and the sum of confidences, so it draws *those*
# (the first two exactly, the third from a normal distribution where a bin is well filled). So we can
# afford the intervals of three measures for all three forecasters, as figure 4 of the paper does:

# %%
fig, axes = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained")
for ax, what in zip(axes, ("ece", "ada_ece", "classwise_ece"), strict=True):
    value = [getattr(metrics, what)(said, test.labels) for said in probs.values()]
    ends = [metrics.bootstrap_interval(said, test.labels, metric=what, level=0.9, seed=SEED,
                                       form="percentile")
            for said in probs.values()]
    _ = ax.bar(list(probs), value, color=palette.SKY)
    _ = ax.vlines(list(probs), *zip(*ends, strict=True), color=palette.BLACK, lw=3)
    _ = ax.set(title=f"{what}, 90 % intervals")

# %% [markdown]
# - The black line of the **network** lies around the top of its bar, as one expects of an interval.
# - The lines of the **cooled** network and of the **oracle** lie mostly or wholly *above* their bars.
#   Intervals that avoid the very number they belong to: something is wrong. Section 9 measures what.
#
# ## 6. The truth, for once
#
# With images drawn from a known distribution we know for every image the probability that the
# prediction is right: the posterior of the predicted class. Put that in place of the 0/1 hit, and the
# luck of the labels is gone. What remains is the ECE of a population that consists of exactly these
# images, each labelled infinitely often. From scratch, then by the package:

# %%
def true_error(said, posterior, bins=15):
    right = posterior.gather(1, said.argmax(dim=1, keepdim=True))[:, 0]
    inner = torch.arange(1, bins, dtype=torch.float64) / bins
    which = torch.bucketize(said.amax(dim=1).double(), inner)
    gaps = torch.bincount(which, weights=said.amax(dim=1).double() - right, minlength=bins)
    return gaps.abs().sum().item() / len(said)


for name, said in probs.items():
    truth = metrics.true_calibration_error(said, test.posterior)
    assert abs(truth - true_error(said, test.posterior)) < 1e-6
    print(f"{name:8} true error {truth:.2%}, estimated {metrics.ece(said, test.labels):.2%}")

# %% [markdown]
# Two cautions. This truth belongs to *these* images; for all images that there could be it is itself an
# estimate, and one that is slightly too high, since it still holds the luck of which images were drawn.
# That is why this notebook takes a large test set. And it is a *binned* truth: within a bin opposite
# errors cancel, so that it is a lower bound of the error without bins.
#
# The test images with their posterior are now our population. From it we draw as many small test sets
# as we like: choose images at random, and draw each label afresh from its posterior.

# %%
def draw(posterior, n, generator):
    """Indices of n random images and a fresh label for each."""
    index = torch.randint(len(posterior), (n,), generator=generator)
    return index, torch.multinomial(posterior[index], 1, generator=generator)[:, 0]


def estimates(seed, name, n, measure=metrics.ece, **options):
    """The measure on many test sets of n images."""
    probs, test = everyone[seed]
    generator = torch.Generator().manual_seed(seed)
    values = []
    for _ in range(size.draws):
        index, labels = draw(test.posterior, n, generator)
        values.append(measure(probs[name][index], labels, **options))
    return np.array(values)

# %% [markdown]
# ## 7. Bias by sample size
#
# **Predict before you run:** with small test sets, does ECE come out too high, too low, or just noisy?
# For which of the three forecasters is the error worst?

# %%
sizes = [100, 200, 500, 1000, 2000, 5000]
drawn = {n: {name: estimates(SEED, name, n) for name in probs} for n in sizes}
truths = {name: metrics.true_calibration_error(said, test.posterior) for name, said in probs.items()}
widest = 1.02 * max(values.max() for groups in drawn.values() for values in groups.values())


def frame(n):
    mean = {name: values.mean() for name, values in drawn[n].items()}
    readout = "; ".join(f"{k}: mean {mean[k]:.1%}, truth {truths[k]:.1%}" for k in mean) + "."
    return explorers.spread_frame(
        drawn[n], truths, x_range=(0, widest), x_label="ECE with 15 bins",
        title=f"{size.draws} test sets of {n} images", readout=readout,
    )


explorers.Explorer(
    frame, explorers.Slider("images in the test set", sizes),
    description="Three histograms of the estimated ECE over many test sets of the chosen size, each with "
    "a line at its truth. A histogram to the right of its line belongs to an estimate that is too large "
    "on average; a wide one to an estimate that depends much on the test set.",
)

# %% [markdown]
# The still twin: the mean estimate as a line with the range of the middle 90 % as a band, the truth dashed.

# %%
fig, axes = plt.subplots(1, 3, figsize=(11.5, 3.2), layout="constrained")
for style, (ax, name) in enumerate(zip(axes, probs, strict=True)):
    runs = np.stack([drawn[n][name] for n in sizes], axis=1)
    middle = np.quantile(runs, [0.05, 0.95], axis=0)
    _ = plots.spread(sizes, runs.mean(axis=0, keepdims=True), palette.group(style, "mean"), ax=ax)
    _ = ax.fill_between(sizes, *middle, alpha=0.2, color="grey", label="middle 90 %")
    _ = ax.axhline(truths[name], ls="--", color="black", label="truth")
    _ = ax.set(title=name, xscale="log", xlabel="images in the test set", ylim=(0, widest), ylabel="ECE")
    _ = ax.legend()

# %% [markdown]
# - **oracle**: the truth is zero, and every single estimate is above it. It cannot be otherwise: ECE
#   averages *absolute values*, so luck in either direction counts as error.
# - **cooled**: even further above its truth. It is wrong on one image in five and its confidences fill
#   every bin, so there is more noise to turn into error than for the oracle, which is seldom wrong.
# - **network**: hardly any bias from a few hundred images on. Where the true gap is larger than the
#   noise, its sign is never in doubt, and the absolute value does no harm.
#
# So bias appears where the noise of a bin exceeds its true gap: just where one wants to measure, near
# calibration. Over all seeds:

# %%
# NBVAL_CHECK_OUTPUT
def bias(seed, name, n, bins=15):
    probs, test = everyone[seed]
    truth = metrics.true_calibration_error(probs[name], test.posterior, bins=bins)
    return estimates(seed, name, n, bins=bins).mean() - truth


floor = [estimates(s, "oracle", 1000).mean() for s in seeds]
statement = "ECE of the Bayes-optimal model (oracle), n = 1000, is above 0.005"
print(claims.verdict("M6", statement, floor, margin=0.005))
fall = [bias(s, "cooled", 250) - bias(s, "cooled", 4000) for s in seeds]
print(claims.verdict("M6", "the bias is larger with 250 than with 4,000 images", fall))
small = [bias(s, "network", 1000) for s in seeds]
print(claims.verdict("M6", "the over-confident network's bias is below 0.01", small,
                     expect="within", margin=0.01))
worse = [bias(s, "cooled", 250) - bias(s, "oracle", 250) for s in seeds]
print(claims.verdict("M6", "the cooled network's bias exceeds the oracle's, n = 250", worse))

# %% [markdown]
# ## 8. Bias and variance by number of bins
#
# More bins see finer detail, and leave fewer samples in each. For the cooled network at n = 1000:

# %%
numbers = [2, 5, 10, 15, 25, 50]
rows = []
for bins in numbers:
    values = estimates(SEED, "cooled", 1000, bins=bins)
    truth = metrics.true_calibration_error(probs["cooled"], test.posterior, bins=bins)
    rows.append({"bins": bins, "truth": truth, "bias": values.mean() - truth, "spread": values.std()})
pd.DataFrame(rows).set_index("bins").round(4)

# %%
# NBVAL_CHECK_OUTPUT
rise = [bias(s, "cooled", 1000, bins=50) - bias(s, "cooled", 1000, bins=5) for s in seeds]
print(claims.verdict("M6", "50 bins are more biased than 5", rise))

# %% [markdown]
# - **truth** hardly depends on the bins: the gaps of this model are wide, and coarse bins hide nothing.
#   (The little that it rises is the luck of which images are in our population.)
# - **bias** grows at least as fast as the square root of the number of bins.
# - **spread** changes little. The trouble with many bins is not that the number jumps about; it is
#   steadily, convincingly too high.
#
# Other estimators trade this differently. The debiased estimator (Kumar et al. 2019; bins of equal mass)
# works on the root mean square of the gaps, the *L2* error. It subtracts the expected noise from the
# squared gaps and stops at zero.

# %%
def compare(name, measure, norm="l1", **options):
    """Truth, mean estimate and spread at n = 1000, with bins of equal mass where there are bins."""
    truth = metrics.true_calibration_error(probs[name], test.posterior, norm=norm, binning="mass")
    values = estimates(SEED, name, 1000, measure, **options)
    return {"truth": truth, "mean": values.mean(), "spread": values.std()}


pd.DataFrame({
    (name, what): compare(name, measure, **options)
    for name in ("cooled", "oracle")
    for what, measure, options in (
        ("AdaECE", metrics.ada_ece, {}),
        ("L2, plain", lambda p, y: metrics.ece(p, y, norm="l2", binning="mass"), {"norm": "l2"}),
        ("L2, debiased", metrics.debiased_ece, {"norm": "l2"}),
    )
}).T.round(4)

# %% [markdown]
# The debiased estimate lies much closer to its truth than the plain one, and pays with spread. For the
# oracle it is not zero either: the *square* is unbiased before it is cut off at zero, its root is not.
#
# ## 9. The classic mistake: "ECE 1.4 %, so it is miscalibrated"
#
# Back to the question at the top. **The mistake** is to compare an ECE with zero. **The repair** is
# to compare it with what a perfectly calibrated model *with the same confidences* would show: let
# the model's own probabilities draw the labels, and measure again. No posterior is needed, so you can
# do this with your own model today.

# %%
def floor_of(said, draws=size.draws, seed=SEED):
    generator = torch.Generator().manual_seed(seed)
    labels = [torch.multinomial(said, 1, generator=generator)[:, 0] for _ in range(draws)]
    return np.quantile([metrics.ece(said, y) for y in labels], [0.05, 0.95])


index = torch.arange(1000)
for name, said in probs.items():
    low, high = floor_of(said[index])
    here = metrics.ece(said[index], test.labels[index])
    print(f"{name:8} ECE {here:.2%}; perfectly calibrated it would be {low:.2%} to {high:.2%}")

# %% [markdown]
# So, the answer to the question at the top: 1.4 % on 1,000 images is about what the perfect oracle shows
# on average. It proves nothing. Only an ECE *above* the upper end counts against a model.
#
# And staying inside the range proves nothing either: the cooled network is off by about a point (section
# 6), which 1,000 images cannot show. Take more images.
#
# Does the bootstrap interval at least contain the truth nine times out of ten, as a 90 % interval
# should? We measure it for both forms: the *percentile* form [low, high], and the *reflected* form
# [2 ECE - high, 2 ECE - low], which turns the bias round.

# %%
def coverage(seed, name, n=1000):
    """Share of 90 % intervals that contain the truth: percentile form, reflected form."""
    probs, test = everyone[seed]
    truth = metrics.true_calibration_error(probs[name], test.posterior)
    generator = torch.Generator().manual_seed(seed)
    inside = []
    for _ in range(size.draws):
        index, labels = draw(test.posterior, n, generator)
        low, high = metrics.bootstrap_interval(probs[name][index], labels, level=0.9,
                                               form="percentile")
        twice = 2 * metrics.ece(probs[name][index], labels)
        inside.append((low <= truth <= high, twice - high <= truth <= twice - low))
    return np.mean(inside, axis=0)


covered = {name: np.stack([coverage(s, name) for s in seeds]) for name in ("network", "cooled")}
for name, shares in covered.items():
    print(f"{name:8} percentile {shares[:, 0].mean():.1%}, reflected {shares[:, 1].mean():.1%}")

# %%
# NBVAL_CHECK_OUTPUT
statement = "the network's percentile interval covers the truth 84 to 96 times in 100"
print(claims.verdict("M5", statement, covered["network"][:, 0] - 0.9, expect="within", margin=0.06))
statement = "the cooled network's percentile interval covers it at least 30 points too rarely"
print(claims.verdict("M5", statement, covered["cooled"][:, 0] - 0.9, expect="below", margin=0.3))
statement = "reflected, it covers the cooled network's truth at least 30 points more often"
gain = covered["cooled"][:, 1] - covered["cooled"][:, 0]
print(claims.verdict("M5", statement, gain, margin=0.3))

# %% [markdown]
# For the badly calibrated network the interval is nearly honest. Near calibration the percentile form is
# useless: resampling adds a second layer of noise to the first, and the absolute values turn both into
# bias. Reflecting repairs much of it, not all. Use bootstrap intervals to compare *clearly* different
# models; near calibration, use the floor above.
#
# ## Three things to take away
#
# 1. ECE is an estimate with an upward bias, which grows with the bins, falls with the images, and is
#    largest where the true gaps are smaller than the noise.
# 2. Compare an ECE with the floor that your own confidences imply, never with zero; compare two models
#    only at equal n and equal bins, each beside its own floor.
# 3. A calibration error alone is not enough: report accuracy and a proper score (NLL, Brier) with it.
#
# ## Recall
#
# <details><summary>1. Why can the ECE of a perfectly calibrated model not be zero on 1,000 images?
# </summary>
#
# In each bin the share of hits scatters around the confidence; ECE adds up the absolute deviations, and
# these do not cancel.
#
# </details>
#
# <details><summary>2. Which measure would you watch if being over-sure is what costs lives?</summary>
#
# The overconfidence error (OE): it ignores under-confidence and weighs gaps by the confidence.
#
# </details>
#
# <details><summary>3. A paper reports ECE 0.9 % on 500 images, yours is 1.1 % on 10,000. Who is better?
# </summary>
#
# Unknown as it stands: the estimates have different biases. On 500 images even our perfect oracle shows
# more than 0.9 % nearly always.
#
# </details>
#
# <details><summary>4. AdaECE and ECE differ in what?</summary>
#
# In the bins: equally many samples per bin, against equal widths. AdaECE spends its bins where the
# predictions are.
#
# </details>
#
# <details><summary>5. Why is classwise-ECE so small?</summary>
#
# Most classes get probabilities near zero for most images, and there both the confidence and the gap
# are tiny. The mean over K classes is dominated by them.
#
# </details>
#
# <details><summary>6. What makes a score "proper"?</summary>
#
# In expectation it is minimised by stating the true probabilities, so that no forecaster gains by saying
# anything else. It is *strictly* proper if nothing else does as well.
#
# </details>
#
# ## Go further
#
# Repeat section 9 with 15 equal-mass bins: `metrics.ada_ece` in `floor_of`, `metric="ada_ece"` for the
# interval and `binning="mass"` for the truth. Which of the two would you report, and why? If your digits differ from those printed here, see
# [your numbers differ?](your_numbers_differ.md).
#
# ## References
#
# - Mukhoti, Kulharia, Sanyal, Golodetz, Torr, Dokania: *Calibrating Deep Neural Networks using Focal
#   Loss*. NeurIPS 2020. [arXiv:2002.09437](https://arxiv.org/abs/2002.09437) (section 2, figure 4)
# - Nguyen, O'Connor: *Posterior calibration and exploratory analysis for natural language processing
#   models*. EMNLP 2015. [arXiv:1508.05154](https://arxiv.org/abs/1508.05154) (equal-mass bins)
# - Kull et al.: *Beyond temperature scaling*. NeurIPS 2019.
#   [arXiv:1910.12656](https://arxiv.org/abs/1910.12656) (classwise-ECE)
# - Thulasidasan, Chennupati, Bilmes, Bhattacharya, Michalak: *On Mixup Training: Improved Calibration
#   and Predictive Uncertainty for Deep Neural Networks*. NeurIPS 2019.
#   [arXiv:1905.11001](https://arxiv.org/abs/1905.11001) (overconfidence error)
# - Kumar, Liang, Ma: *Verified Uncertainty Calibration*. NeurIPS 2019.
#   [arXiv:1909.10155](https://arxiv.org/abs/1909.10155) (debiased estimator, reflected interval)
# - Błasiok, Nakkiran: *Smooth ECE: Principled Reliability Diagrams via Kernel Smoothing*. ICLR 2024.
#   [arXiv:2309.12236](https://arxiv.org/abs/2309.12236)
# - Bröcker, Smith: *Increasing the Reliability of Reliability Diagrams*. Weather and Forecasting 22,
#   2007. [doi:10.1175/WAF993.1](https://doi.org/10.1175/WAF993.1) (labels drawn from the forecast; they
#   resample the forecasts too)
# - Brier: *Verification of forecasts expressed in terms of probability*. Monthly Weather Review 78,
#   1950.
