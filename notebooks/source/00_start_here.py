# %% [markdown]
# # 00 · Start here: a network that is too sure of itself
#
# **Question.** When a neural network says "I am 93 % sure", is it right 93 times out of 100?
#
# **You will be able to**
# - say what *calibration* means, in one sentence and in one subtraction;
# - train a small network in seconds and measure how far its confidence can be trusted;
# - read a reliability diagram in three looks;
# - explain why calibration is never measured on the training data.
#
# **Time.** 20 minutes of reading; the cells run in under a minute on a laptop.
#
# **Needs.** Python, and a first idea of what a neural network classifier is.
# Nothing is downloaded: the data come with the installation.
#
# *How to use this page: click into the first code cell and press* `Shift+Enter` *to run it and
# move on. Where it says **predict before you run**, do. It is the cheapest way to learn.*

# %%
import matplotlib.pyplot as plt
import torch

from calibkit import check, claims, data, doctor, explorers, metrics, models
from calibkit import palette, plots, training
from calibkit.scale import budget

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %%
device = training.as_device(DEVICE)
size = budget(SCALE)
print(doctor.machine(device))

# %% [markdown]
# `SCALE` sets how much is computed (`smoke` for a quick test, `laptop` for you), `SEED` where the
# random numbers start, and `DEVICE` where the work is done: `auto` takes a GPU when there is one.
# Every notebook of the course begins with these three.
#
# ## 1. Digits that are hard to read
#
# The pictures are real handwritten digits, 8 by 8 pixels, with random noise added to every pixel.
# The noise makes the task hard: on some images nobody could be sure, and that is the point.
# Since *we* added the noise, we know what nobody knows for photographs: the exact probability of
# each digit given the noisy image. Statisticians call it the **posterior**. It is what a perfectly
# honest reader would say.
#
# All images are noisy copies of the same 1,797 clean digits, those to train on as well as those to
# test on, each with noise of its own. That would be cheating if we asked how well a network reads a
# new person's *handwriting* (worse than you will see here). We ask something else: the world of this
# course *is* these digits under fresh noise, train and test are independent draws from it, and only
# for that reason do we know the posterior.

# %%
train, cal, test = data.noisy_digits(size.train, noise=0.4, seed=SEED, test=size.test)
print(f"{len(train)} images to train on, {len(test)} to test on, {test.num_classes} classes")
print(f"the best possible reader is right on {test.posterior.amax(dim=1).mean():.1%} of the test")

# %% [markdown]
# Let us look at the first eight test images. Above each stands the true digit, then the digit that
# the exact posterior favours and how likely it is.

# %%
fig, axes = plt.subplots(1, 8, figsize=(11, 1.9), layout="constrained")
for ax, image, label, honest in zip(axes, test.inputs, test.labels, test.posterior, strict=False):
    ax.imshow(image[0], cmap="gray_r")
    ax.set_title(f"true {label}, says\n{honest.argmax()}: {honest.max():.0%}", fontsize=9)
    ax.axis("off")

# %% [markdown]
# Read it aloud:
#
# - On most images the posterior puts nearly all its weight on one digit, although *you* may have
#   to squint. It is helped by knowing every clean digit there is.
# - Where it says much less than 100 %, the image really is ambiguous: among many images like it,
#   several digits occur. Then even its favourite is sometimes wrong, and should be: of all images
#   on which it says 80 %, one in five is something else. No amount of training can remove this
#   doubt. An honest model has to *state* it.
#
# ## 2. Train a network in seconds
#
# A plain network with two hidden layers of 256 units, trained with the usual loss (cross-entropy)
# and the usual optimiser (SGD with momentum). One call trains it.

# %%
def network():
    return models.mlp(64, 10)


run = training.fit(network, train, epochs=size.epochs, seed=SEED, device=device)
said = run.predict(test)

# %% [markdown]
# `said` holds the network's **logits** (the raw scores of its last layer) beside the true labels.
# The softmax turns logits into probabilities, one per class. The largest of them is called the
# **confidence**, and its class is the prediction.
#
# **Predict before you run:** the network has seen its training images many times over. Which will
# be larger on new images, how *often it is right* or how *sure it says it is*? By how much?

# %%
confidence = said.probs.amax(dim=1)
correct = said.probs.argmax(dim=1) == said.labels
print(f"it is right on         {correct.float().mean():.2%} of the test images")
print(f"it says it is sure at  {confidence.mean():.2%} on average")

# %% [markdown]
# The difference of these two numbers is the simplest measure of calibration, the **signed gap**:
# mean confidence minus accuracy. Positive means *over-confident*, negative *under-confident*.
# A model is **calibrated** when, among all the cases where it says p, it is right a share p of
# the time. A gap of zero is necessary for that, though not sufficient, as notebook 01 shows.
#
# We computed it by hand, so let us make sure that the package agrees. You will meet this pattern
# everywhere: *from scratch, then the library call, then an assertion that they are the same.*

# %%
by_hand = (confidence.double().mean() - correct.double().mean()).item()
from_package = metrics.signed_gap(said.probs, said.labels)
assert abs(by_hand - from_package) < 1e-6
print(f"signed gap {100 * from_package:+.2f} points")

# %% [markdown]
# ## 3. Where is it too sure?
#
# One number hides *where* the confidence is wrong. The picture that shows it is the **reliability
# diagram**: sort the predictions into bins by their confidence, and draw for every bin how often
# the predictions in it were right.
#
# **Predict before you run:** for an over-confident model, do the bars end above the diagonal or
# below it?

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
_ = plots.confidence_histogram(said.probs, said.labels, ax=left, title="How sure it is")
_ = plots.reliability_diagram(said.probs, said.labels, ax=right, title="How right it is")

# %% [markdown]
# Read it aloud, in three looks:
#
# - **The histogram (left).** Almost everything sits in the last bins: the network is nearly always
#   nearly certain. The dashed line (mean confidence) stands to the right of the solid one
#   (accuracy); the distance between them is the signed gap.
# - **The bars (right).** Blue is how often the network was right, the hatched piece what it
#   claimed on top of that (it ends at the bin's mean confidence, which need not be the bin's middle). All along the range the bars end below the diagonal: over-confident.
# - **The counts and the black lines.** The strip below counts the images in each bin, the black
#   lines are 95 % intervals of the accuracy. Where few images fall, the line is long: do not read
#   much into that bin.
#
# ## 4. The classic mistake: to measure on the training data
#
# What if one measures calibration on the images that the network learned from?

# %%
seen = run.predict(train)
for name, part in (("train", seen), ("test", said)):
    gap = metrics.signed_gap(part.probs, part.labels)
    print(f"{name:5}  accuracy {part.correct.float().mean():6.1%}  signed gap {gap:+.1%}")

# %% [markdown]
# On the training images the network is nearly always right *and* nearly certain, so confidence and
# accuracy agree. It looks perfectly calibrated. It has simply learned these images by heart. The
# repair is always the same: **measure calibration on data that took no part in the training.** For
# that reason every dataset here comes in three parts: `train` to learn from, `cal` (calibration)
# to repair with, and `test` to judge with.
#
# ## 5. A slider over trained networks
#
# Does more data help? We train the same network on 150, 300, ... 2,400 images, each
# several times with different random numbers, and put the results under a slider. Nothing in it
# is simulated or interpolated: every position shows a network that was trained in the next cell.
# (It takes a quarter of a minute or more, and prints one line when it is done.)

# %%
sizes = [150, 300, 600, 1200, 2400]
results = {}
for n in sizes:
    for seed in range(SEED, SEED + size.seeds):
        part, _, fresh = data.noisy_digits(n, noise=0.4, seed=seed, test=size.test)
        trained = training.fit(
            network, part, epochs=size.epochs, seed=seed, device=device, progress=False
        )
        results[n, seed] = trained.predict(fresh)
print(f"{len(results)} networks trained")


# %%
def frame(n):
    said = results[n, SEED]
    accuracy, error = metrics.accuracy(said.probs, said.labels), metrics.ece(said.probs, said.labels)
    gap = metrics.signed_gap(said.probs, said.labels)
    readout = f"accuracy {accuracy:.1%}, signed gap {gap:+.1%}, ECE {error:.1%}"
    return explorers.reliability_frame(
        metrics.reliability(said.probs, said.labels), title=f"trained on {n} images", readout=readout
    )


explorers.Explorer(
    frame,
    explorers.Slider("training images", sizes),
    description="A reliability diagram of one network for each number of training images. A bar "
    "that ends below the dashed diagonal is over-confident: its images are right less often than "
    "the network says. The strip below counts the images of each bin.",
)

# %% [markdown]
# Click on the handle and use the arrow keys. **ECE** in the readout is the *expected calibration
# error*: the average length of the hatched pieces, weighted by how many images each bin holds. Here it
# equals the signed gap, because all pieces lie on one side; notebook 01 shows when the two part.
#
# Below is the same sweep as a still picture (for paper, and for those who cannot use a slider):
# the line is the mean over the repetitions, the band reaches from the smallest to the largest.

# %%
ece = [[metrics.ece(results[n, s].probs, results[n, s].labels) for n in sizes]
       for s in range(SEED, SEED + size.seeds)]
fig, ax = plt.subplots(figsize=(5.5, 3.4), layout="constrained")
_ = plots.spread(sizes, ece, palette.group(0, "ECE on the test set"), ax=ax)
_ = ax.set(xscale="log", xticks=sizes, xticklabels=sizes, xlabel="training images", ylabel="ECE",
           ylim=(0, None))
_ = ax.legend()
ax.minorticks_off()

# %% [markdown]
# ## 6. Claims are measured, not told
#
# One run proves nothing: another seed might say the opposite. So every statement that this course
# makes about models is a **verdict**. It takes one number per seed (where two models are compared,
# their difference on the same seed), computes the mean with its 95 % interval (Student's t, which
# knows that five seeds are few), and says
#
# - `HOLDS` when the whole interval lies where the claim wants it,
# - `REVERSED` when the whole interval lies on the opposite side of zero,
# - `INCONCLUSIVE` otherwise: the seeds disagree, or the effect is smaller than was claimed.
#
# Nobody types the result. The numbers are fractions: +0.149 means 14.9 points.

# %%
# NBVAL_CHECK_OUTPUT
seeds = range(SEED, SEED + size.seeds)
gaps = [metrics.signed_gap(results[1200, s].probs, results[1200, s].labels) for s in seeds]
print(claims.verdict("00a", "this trained net is over-confident (signed gap)", gaps))
fall = [first[0] - first[-1] for first in ece]
print(claims.verdict("00b", "ECE is larger with 150 than with 2,400 images", fall))

# %% [markdown]
# A verdict begins with its name. These two are the notebook's own, and a preview: with the number of
# images, the number of training *steps* grew too, which notebook 05 keeps apart. Names
# such as M2 belong to claims of research papers, [listed here](claims.md). If your digits differ a
# little from those printed here, that is normal; see [your numbers differ?](your_numbers_differ.md).
#
# ## 7. Exercise: the signed gap
#
# *Difficulty: easy · importance: high · 5 minutes*
#
# Write a function that takes probabilities (n, K) and labels (n,) and returns mean confidence minus
# accuracy, as a number. Run the cell; the checker tells you how you are doing.

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
# ## 8. The road ahead
#
# | part | notebooks | question |
# |---|---|---|
# | I Seeing | 01, 02 | how is calibration drawn and measured, and when is the measure wrong? |
# | II Why | 03, 04 | why are deep networks over-confident? |
# | III Data | 05, 06, 07 | what do dataset size, label noise and imbalance do? |
# | IV Cures | 08 to 12 | temperature, soft targets, focal loss, mixup: what helps, and why? |
# | V Beyond | 13 to 17 | shifted data, choosing samples, text, and an audit of your own model |
#
# The table in the project's README says which of them are written and how long each takes.
#
# ## Three things to take away
#
# 1. *Calibrated* means: among the cases where the model says p, it is right a share p of the time.
# 2. This network, trained the usual way, claims more than it keeps. More data lessen that; at this
#    scale they do not end it.
# 3. Calibration is measured on data that the model has never seen, and on more than one seed.
#
# ## Recall
#
# <details><summary>1. What is the confidence of a prediction?</summary>
#
# The largest entry of the softmax: the probability that the model gives to the class it predicts.
#
# </details>
#
# <details><summary>2. A weather service says "rain, 70 %" on 200 days, and it rains on 100 of them.
# Over- or under-confident?</summary>
#
# Over-confident: it claimed 70 % and kept 50 %.
#
# </details>
#
# <details><summary>3. A model has a signed gap of zero. Is it calibrated?</summary>
#
# Not necessarily: it may be over-confident in some places and under-confident in others, so that
# the two cancel.
#
# </details>
#
# <details><summary>4. Why did the training data show almost no gap?</summary>
#
# The network had memorised them: accuracy and confidence were both close to 100 %. This says nothing
# about new data.
#
# </details>
#
# <details><summary>5. Why is the best possible reader not right on every image?</summary>
#
# Because noise makes some images truly ambiguous: the same noisy image could have come from several
# digits. Its posterior says so.
#
# </details>
#
# <details><summary>6. What would make the verdict print INCONCLUSIVE?</summary>
#
# An interval that lies neither wholly inside the claimed range nor wholly on the other side of zero:
# the seeds disagree or are too few, or the effect is there but smaller than claimed.
#
# </details>
#
# ## Go further
#
# Change `noise=0.4` in section 1 to 0.2 or 0.7 and run sections 1 to 4 again: does the gap follow the
# difficulty? (The slider has a 0.4 of its own.) Then go on to [01 Reliability diagrams](01_reliability_diagrams.ipynb).
#
# ## References
#
# - Guo, Pleiss, Sun, Weinberger: *On Calibration of Modern Neural Networks*. ICML 2017.
#   [arXiv:1706.04599](https://arxiv.org/abs/1706.04599)
# - Alpaydin, Kaynak: *Optical Recognition of Handwritten Digits*. UCI Machine Learning Repository,
#   1998. [doi:10.24432/C50P49](https://doi.org/10.24432/C50P49)
