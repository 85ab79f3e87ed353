# %% [markdown]
# # 00 · Start here: a network that is too sure of itself
#
# **Question.** A network says of a photograph "a seal, 93 % sure". Of a hundred answers like this one, are ninety-three
# right?
#
# A real one: DenseNet-100 was shown 10,000 photographs of CIFAR-100 that it had never seen, each one of a hundred things:
# a seal, an oak, a lawn-mower. It is 90 % sure on average. **Predict before you run: on what share of them is it
# right?** Write down a number. Then click on the title above, and press `Shift+Enter` twice.

# %% tags=["answer"]
from calibkit.course import explorers

explorers.stored("real_network")

# %% [markdown]
# <details><summary>What came out</summary>
#
# On 75 %. And where it is more than 99 % sure (54 % of the photographs), it is right on 95 %.
#
# The left picture is a **reliability diagram**. Across: how sure the network is. Upwards: how often it is right when it is
# so sure. The photographs are sorted by that into fifteen parts, each a **bin**; a blue line is the accuracy of one bin.
# On the dashed diagonal the two agree; what is striped below it is too much confidence. The strip counts the photographs.
#
# **Play.** Click on the handle of the slider and press the right arrow key. It divides the raw scores of the network by a
# number T, so that it doubts *every* answer more. At which T does its average confidence meet its accuracy? (At 2.1. Lesson
# 08 finds this number.)
#
# </details>
#
# So on average one number repairs it. But by how much should it have doubted *each* photograph? Nobody knows: nobody
# knows how likely a blurred grey thing is to be a seal. With digits we can know. That is why this course begins with them.
#
# **Time.** 30 minutes; 30 more for the homework, which is all under "Go further".
#
# **Needs.** Python, and a first idea of what a neural network classifier is. Nothing is downloaded.
#
# **Next on your path.** *Three hours*, *six evenings*, *practice*, *decisions*, *language models*, *teaching*: [01](01_reliability_diagrams.ipynb).
#
# *Answers are folded: write down a guess first. Words in bold are collected in the [glossary](glossary.md).*

# %%
import matplotlib.pyplot as plt
import seaborn as sns
import torch

from calibkit import curation, metrics
from calibkit.course import check, verdicts
from calibkit.course.experiments import real_network
from calibkit.course.scale import begin
from calibkit.lab import data, models, sweep, training
from calibkit.pictures import alt_text, palette, plots

# %% tags=["parameters"]
SCALE = "laptop"  # how many images, epochs and runs: small enough for any computer
SEED = 0  # where the random numbers begin
DEVICE = "auto"  # a GPU if there is one, else the CPU

# %% tags=["drawing"]
real = real_network.answers()
temperatures = real.temperatures.tolist()
averages = {palette.CONFIDENCE: [real.confidence.mean(axis=1)],
            palette.ACCURACY: [[real.right.mean()] * len(temperatures)]}


def doubted(T):
    confidence = real.confidence[temperatures.index(T)]
    sure = confidence > 0.99
    surest = f", right on {real.right[sure].mean():.0%} of these" if sure.any() else ""
    readout = (f"T = {T:g}: accuracy {real.right.mean():.1%}, mean confidence {confidence.mean():.1%}; "
               f"more than 99% sure of {sure.mean():.0%} of the photographs{surest}")
    return explorers.along_frame(
        metrics.reliability_of(confidence, real.right), T, temperatures, averages, x_label="T",
        x_ticks=[1, 2, 3, 4, 5], title="DenseNet-100, 10,000 photographs", readout=readout)


explorers.keep(explorers.Explorer(
    doubted, explorers.Slider("T", temperatures, start=1.0, show="{:g}".format),
    description="A network on 10,000 photographs. Left, its reliability diagram: a line stands at the "
    "accuracy of each bin; from there to its mean confidence the gap is striped (over-confident) or dotted "
    "(under-confident). Right, accuracy and mean confidence against the number T by which its raw scores "
    "are divided."), "real_network")

# %% [markdown]
# ## 1. Digits whose truth is known
#
# The images are real handwritten digits, 8 by 8 pixels, and *we* add random noise to every pixel. So we know what nobody
# knows for photographs: the exact probability of each digit, given the noisy image. It is called the **posterior**, and it
# is what the best possible reader would say.

# %%
size, seeds, device = begin(SCALE, SEED, DEVICE)  # how many images, which seeds, GPU or CPU
train, cal, test = data.noisy_digits(size.train, noise=0.4, seed=SEED, test=size.test)
best = (test.posterior.argmax(dim=1) == test.labels).float().mean()
print(f"{len(train)} images to train on, {len(test)} to test on, {test.num_classes} classes")
print(f"the best possible reader is right on {best:.1%} of the test images")

# %% [markdown]
# Let us look at eight digits before and after the noise: four at random, and of 300 the four on which the
# posterior is least sure.

# %%
clean = data.digits(seed=SEED).train[:300]
generator = torch.Generator().manual_seed(SEED)
noisy_inputs = clean.inputs + 0.4 * torch.randn(clean.inputs.shape, generator=generator)
posterior = data.NoisyDigits(noise=0.4).posterior(noisy_inputs)
least_sure = posterior.amax(dim=1).argsort()
chosen = [0, 1, 2, 3, *least_sure[:4].tolist()]

# %% tags=["drawing"]
fig, axes = plt.subplots(2, 8, figsize=(11, 3.3))
for column, place in enumerate(chosen):
    says = posterior[place]
    above, below = axes[:, column]
    _ = above.imshow(clean.inputs[place, 0], cmap="gray_r")
    _ = above.set_title(f"a {clean.labels[place]}", fontsize=10)
    _ = below.imshow(noisy_inputs[place, 0], cmap="gray_r")
    _ = below.set_title(f"says {says.argmax()}: {says.max():.0%}", fontsize=10)
words = [f"a {clean.labels[i]} is read as {posterior[i].argmax()}, {posterior[i].max():.0%} sure"
         for i in chosen]
for ax in axes.flat:
    _ = ax.axis("off")
    alt_text.note(ax, "")
alt_text.note(axes[0, 0], "Eight clean digits, below them the same under noise; " + "; ".join(words))
plt.show()

# %% [markdown]
# Above is the clean digit, below the image that a reader sees, and what the posterior says about it. Cover the upper row
# with your hand. The four on the right may look no worse to you, but the posterior is at most 52 % sure of them: about half or more
# of all images that look so show another digit. No training can remove this doubt. A good model has to *state* it.
#
# <details><summary>Are train and test images independent? They show the same digits.</summary>
#
# All images are noisy copies of the same 1,797 clean digits, each with noise of its own. That would be
# wrong if we asked how well a network reads a new person's *handwriting*. We ask something else: the
# world of this course *is* these digits under fresh noise. Train and test are independent draws from
# it, and only for that reason do we know the posterior.
#
# </details>
#
# ## 2. A network, and its gap
#
# Two hidden layers of 256 units, the usual loss (cross-entropy), the usual optimiser. One call trains it.

# %%
def network():
    return models.mlp(64, 10)


run = training.fit(network, train, epochs=size.epochs, seed=SEED, device=device)
said = run.predict(test)

# %% [markdown]
# `said` holds the network's raw score for each class, called a **logit**. The **softmax** turns logits into probabilities:
# it takes the exponential of each and divides by their sum. The largest probability is the **confidence**, its class is
# the prediction, and the share of right predictions is the **accuracy**.
#
# **Predict before you run:** the posterior is wrong on some images, too: it is right on about 96 of 100. How sure is *it*
# on average?

# %% tags=["answer"]
def right_and_sure(probs):
    correct = probs.argmax(dim=1) == test.labels
    return correct.double().mean().item(), probs.amax(dim=1).double().mean().item()


right, sure = right_and_sure(said.probs)
best_right, best_sure = right_and_sure(test.posterior)
print(f"the network:   right on {right:.1%} of the test images, {sure:.1%} sure on average, "
      f"difference {100 * (sure - right):+.1f} points")
print(f"the posterior: right on {best_right:.1%} of the test images, {best_sure:.1%} sure on average, "
      f"difference {100 * (best_sure - best_right):+.1f} points")

# %% [markdown]
# <details><summary>What came out</summary>
#
# As sure as it is right: it is wrong at times, but it also says how often that happens. The network is 93.0 % sure and right on
# 79.1 %. That it is right less often than the best reader is one thing; that it does not say so is another. A network
# that is right on 79.1 % *and* 79.1 % sure would be honest.
#
# </details>
#
# Mean confidence minus accuracy is the **signed gap**. A model with a positive gap is **over-confident**, one with a
# negative gap is **under-confident**. A model is **calibrated** when, among all cases where it says p, it is right a share
# p of the time, for every p.
#
# ### Exercise: the signed gap
#
# *Difficulty: easy · importance: high · 6 minutes*
#
# Write a function that takes probabilities (n, K), one row per image and one column per class, and
# labels (n,), and returns mean confidence minus accuracy. Run the cell; the checker tells you how you are doing.

# %%
def my_signed_gap(probs, labels):
    ...  # your code here


check.signed_gap(my_signed_gap)

# %% [markdown]
# <details><summary>Hint</summary>
#
# The confidence of a row is its largest entry: `probs.amax(dim=1)`. The prediction is where that
# entry stands: `probs.argmax(dim=1)`. The mean of a comparison is a share, once it is turned into
# floats.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_signed_gap(probs, labels):
#     confidence = probs.amax(dim=1)
#     correct = probs.argmax(dim=1) == labels
#     return (confidence.double().mean() - correct.double().mean()).item()
# ```
#
# </details>
#
# **Keep it.** The next cell writes your function to `mine.py`, beside your notebooks. What you write in this course
# measures a network of yours in lesson 17.

# %%
check.keep(my_signed_gap)

# %% [markdown]
# ## 3. The classic mistake: to measure on the training data
#
# Ben, a colleague, sells the network. "I measured its gap on 1,500 images," he says, "there is none." He measured on those that it was
# trained on.
#
# **Predict before you run:** on new images the gap is 13.8 points. How many points on the training images?

# %% tags=["answer"]
seen = run.predict(train)
train_gap = metrics.signed_gap(seen.probs, seen.labels)
test_gap = metrics.signed_gap(said.probs, said.labels)
print(f"train: right on {seen.correct.float().mean():.1%}, signed gap {100 * train_gap:+.1f} points")
print(f"test:  right on {said.correct.float().mean():.1%}, signed gap {100 * test_gap:+.1f} points")
word = "smaller" if abs(train_gap) < abs(test_gap) else "larger"
print(f"On the training images the gap is {word}: {100 * train_gap:+.1f} against {100 * test_gap:+.1f}.")

# %% [markdown]
# <details><summary>What came out</summary>
#
# Less than one, and below zero: it is right on all of them, and nearly certain. It has memorised them. It
# looks calibrated there, and is not.
#
# </details>
#
# The repair is always the same: **measure calibration on data that took no part in the training.** For that reason
# every dataset here comes in three parts: `train` to learn from, `cal` to repair with, and `test` to judge with.
#
# ## The answer
#
# **No: a network that was trained the usual way is more sure than right on new images. The one on digits is 93.0 % sure
# and right on 79.1 %; about one answer in five is wrong. The exact posterior is as sure as it is right. On its training images one sees
# nothing of this.**
#
# ## Three things to take away
#
# 1. *Calibrated* means: among the cases where the model says p, it is right a share p of the time.
# 2. Both networks that were trained the usual way are more confident than accurate: DenseNet on photographs, ours on digits.
# 3. Calibration is measured on data that the model has never seen.
#
# ## Recall
#
# <details><summary>1. A weather service says "rain, 70 %" on 200 days, and it rains on 100 of them.
# Over- or under-confident?</summary>
#
# Over-confident: it said 70 %, and it rained on 50 % of these days.
#
# </details>
#
# <details><summary>2. A model has a signed gap of zero. Is it calibrated?</summary>
#
# Not necessarily: it may be over-confident in some bins and under-confident in others, so that
# the two cancel.
#
# </details>
#
# <details><summary>3. Why did the training data show almost no gap?</summary>
#
# The network had memorised them: accuracy and confidence were both close to 100 %. This says nothing
# about new data.
#
# </details>
#
# <details><summary>4. The exact posterior is wrong on some images. Is it over-confident?</summary>
#
# No. The noise makes some images ambiguous, and on those it is less sure. On average it is as sure
# as it is right.
#
# </details>
#
# ## Go further
#
# *All that follows may be left out, or read another evening. Next: [01 Reliability diagrams](01_reliability_diagrams.ipynb).*
#
# ### Where is it too sure?

# %%
fig, (left, right_side) = plt.subplots(1, 2, figsize=(9.5, 5))
_ = plots.reliability_diagram(said.probs, said.labels, ax=left, title="The network")
_ = plots.reliability_diagram(test.posterior, test.labels, ax=right_side, title="The exact posterior")
counts = metrics.reliability(said.probs, said.labels).counts
print(f"the network's first bin with images holds {counts[counts > 0][0]:,} of {len(said):,}, "
      f"its last bin {counts[-1]:,}")

# %% [markdown]
# - **The network.** All its bars end below the diagonal. The first bin with images holds few and says nothing. The last
#   bin matters most. The printed line says how many images each of the two holds. (The strip has a logarithmic scale.)
# - **The posterior.** Its bars end on the diagonal, apart from luck. A model may be unsure; the error is to be too
#   sure or too unsure.
# - **The black lines** are 95 % intervals of the accuracy, built so that in 95 of 100 repetitions such an interval
#   contains the true accuracy. Where few images fall, the line is long. Do not read much into such a bin.
#
# ### Above 90 %
#
# How often is the network right when it says more than 90 %, and how often is the exact posterior? Compute
# both, with the share of images on which each says so.
#
# <details><summary>Answer</summary>
#
# ```python
# for name, probs in (("network", said.probs), ("posterior", test.posterior)):
#     shown = probs.amax(dim=1) > 0.9
#     correct = (probs.argmax(dim=1) == test.labels)[shown]
#     print(f"{name}: above 90 % on {shown.float().mean():.1%} of the images, "
#           f"right on {correct.float().mean():.1%} of these")
# ```
#
# The posterior's share of right answers lies above 90 %, as it must. Compare it with the network's: these
# are the answers that the clinic of the exercise would show to its patients.
#
# </details>
#
# ### Exercise: a rule for the clinic
#
# *Difficulty: medium · importance: high · 10 minutes, without code*
#
# A clinic wants to show patients only those answers of a network whose confidence is above 90 %; a
# doctor reads the other scans. The maker writes: "On 20,000 scans the mean confidence of the shown answers was 97 %, and 97 % of
# them were right." Name three questions that you would ask before you believe it. Then decide: the network is now
# retrained until its accuracy is one point higher, and nothing else is reported. Does the 90 % rule still work for the
# retrained network?
#
# <details><summary>Answer</summary>
#
# *Which scans?* If the network was trained on them, the numbers say nothing about new scans. *Whose?* Scans of
# other machines or patients may be harder, and calibration was measured on these only. *One number or all
# bins?* Among the shown answers, those at 91 % may be right far less often while those at 99 %
# are right more often than stated; the mean hides it. Also good: how many of the 3 % wrong
# answers were missed illnesses; whether another training run gives the same; how wide the interval is.
#
# We do not know: the rule does not follow from the accuracy. Longer training can raise the accuracy and the confidence
# at different speeds ([lesson 03](03_overconfidence.ipynb) measures that), so the share of right answers
# above 90 % has to be measured again, on new scans.
#
# </details>
#
# ### Wrong labels
#
# Networks that learned from wrong labels, as people make them in a hurry. A share of the training labels is replaced by another digit,
# chosen at random; the test labels stay right. Each share is tried with several seeds. A **seed**
# is the number from which a run draws its random numbers, here its data, its noise and its first weights.
#
# `recipe` describes one training: the network, its training data, and the data on which it is tested. `sweep.run` trains
# one network for every combination of share and seed, and keeps the results.

# %%
def with_wrong_labels(labels, wrong, seed):
    """A share of the labels, each replaced by one of the nine other digits, all equally likely."""
    noisy = curation.symmetric_noise(labels, wrong, classes=10, seed=seed, kind="uniform",
                                     exclude_true=True)
    return noisy.labels


def recipe(wrong, seed):
    learn, _, fresh = data.noisy_digits(size.train, noise=0.4, seed=seed, test=size.test)
    learn = learn.with_labels(with_wrong_labels(learn.labels, wrong, seed))
    return training.trial(network, learn, {"test": fresh}, seed=seed, epochs=size.epochs)


shares = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]
swept = sweep.run(recipe, {"wrong": shares, "seed": seeds}, device=device)

# %% [markdown]
# Every run is a row of a table, and seaborn draws the table. The line is the mean over the seeds, the
# band goes from the smallest to the largest.

# %%
fig, ax = plt.subplots(figsize=(5.5, 3.6))
for column, role in {"test_accuracy": palette.ACCURACY, "test_confidence": palette.CONFIDENCE}.items():
    # the band reaches over all seeds; `role.line()` is the colour, dashes and marker of a role
    _ = sns.lineplot(swept.table, x="wrong", y=column, errorbar=("pi", 100), ax=ax, **role.line())
_ = ax.axhline(best, **palette.TRUTH.line(marker="", label="accuracy of the exact posterior"))
_ = ax.set(xlabel="share of wrong training labels", ylabel="on the test images", ylim=(0, 1))
_ = ax.legend()

# %% [markdown]
# - The accuracy (solid) falls with the share of wrong labels, away from the best possible reader.
# - The mean confidence (dashed) falls too, but less. The distance between the two is the signed gap.
#
# [Lesson 06](06_label_noise.ipynb) asks why, and what happens in the course of a training. The next
# cell, which is folded, makes a slider from these runs: write `slider` in a cell of
# your own to see it.

# %% tags=["drawing"]
def frame(wrong):
    pooled = swept.pooled("test", wrong=wrong)
    right, sure = pooled.correct.double().mean(), pooled.confidence.double().mean()
    lines = {
        role: [swept.values(column, seed=seed) for seed in seeds]
        for role, column in ((palette.ACCURACY, "test_accuracy"), (palette.CONFIDENCE, "test_confidence"))
    }
    readout = f"{wrong:.0%} of the training labels wrong: accuracy {right:.1%}, mean confidence {sure:.1%}"
    return explorers.along_frame(
        metrics.reliability(pooled.probs, pooled.labels), wrong, shares, lines, readout=readout,
        x_label="share of wrong training labels (%)", x_ticks=shares, title=f"{wrong:.0%} wrong labels")


slider = explorers.Explorer(
    frame, explorers.Slider("wrong training labels", shares, show="{:.0%}".format),
    description="Left, the reliability diagram on test images with right labels, all seeds together. "
    "A line stands at the accuracy of each bin; from there to its mean confidence the gap is striped (over-confident) "
    "or dotted (under-confident). Right, accuracy and mean confidence against the share of wrong training labels.")
explorers.keep(slider, "start_here")

# %% [markdown]
# ### Claims are measured
#
# One run proves nothing: another seed might say the opposite. So this course turns its claims
# about models into verdicts. A **verdict** takes one number per seed (where two settings are compared, their
# difference on the same seed) and computes the mean with its 95 % interval: an interval built so that in 95 of 100
# repetitions it contains the true mean. It says
#
# - `HOLDS` when the claim is true of the whole interval: for "larger", all of it lies above zero,
# - `NOT MET` when the claim names a size or a limit (such as "below 5 points") and the whole interval misses it,
# - `REVERSED` when the whole interval lies on the opposite side of zero,
# - `INCONCLUSIVE` otherwise: the seeds disagree, or are too few. (Later lessons also have `NOT SPECIFIC`: true, but of
#   a control as well.)
#
# Nobody types the result. The numbers are fractions: +0.142 means 14.2 points.

# %% tags=["nbval-check-output"]
gaps = swept.values("test_gap", wrong=0.0)
print(verdicts.judge("00a", "trained on right labels, the network is over-confident (gap)", gaps))
rise = swept.difference("test_gap", {"wrong": 0.4}, {"wrong": 0.0})
print(verdicts.judge("00b", "with 40 % wrong labels the gap is larger than with none", rise))

# %% [markdown]
# Each verdict has an interval of five networks. All claims of the course are [listed here](claims.md). Your digits may
# differ a little: [your numbers differ?](your_numbers_differ.md)
#
# ### All lessons on one page
#
# ![The course on one page. Over-confident, gap above zero. Causes: training to the end with cross-entropy (00, 03), wrong labels learned to the end (00, 06), few images (04, 05), a rare class (07), noisier test images than in training (13), training on doubted images, beside as many random ones (14). What helped: to stop early and weight decay (03), more images and augmentation (05), a temperature fitted with clean labels (06, 08), label smoothing (09), focal loss (10, 11), mixup (12). Gap zero: not enough, errors of bins may cancel (01); how to measure it well (02, 18), how to audit a model (17). Under-confident, gap below zero. Causes: the first epochs (03), much augmentation (05), wrong labels but stopped early (06), a temperature fitted with wrong labels (06), much label smoothing (09), much mixup (12). What helped: to train on (03), a temperature fitted with clean labels (06), less mixup (12). The same beyond images: text (15), translation (16). To act on a probability: what its errors cost (19), what can be promised (20).](images/course_map.svg)
#
# *How to read it: from the top, what pushes the gap up; in the middle, a gap of zero; at the bottom, what pushes it
# down. Numbers are lessons.* Too much of a cure appears as a cause, so
# measure the sign of the gap before you choose.
#
# ## References
#
# - Guo, Pleiss, Sun, Weinberger: *On Calibration of Modern Neural Networks*. ICML 2017.
#   [arXiv:1706.04599](https://arxiv.org/abs/1706.04599)
# - Alpaydin, Kaynak: *Optical Recognition of Handwritten Digits*. UCI Machine Learning
#   Repository, 1998. [doi:10.24432/C50P49](https://doi.org/10.24432/C50P49)
