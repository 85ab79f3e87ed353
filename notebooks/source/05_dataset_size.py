# %% [markdown]
# # 05 · Dataset size: how much data does honesty need?
#
# **Question.** A network trained on less data is less accurate. Does it at least know that?
#
# **You will be able to**
# - draw nested training subsets, and measure calibration against their size;
# - measure a gap without any label luck, by the known posterior;
# - keep dataset size, training steps and batch size apart when you compare;
# - say which augmentations are honest, and what each does to accuracy and to calibration.
#
# **Time.** 60 minutes with the two exercises; the cells run in about a minute.
#
# **Needs.** [02 Measuring calibration](02_measuring_calibration.ipynb).

# %%
from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import torch

from calibkit import augmentation, check, claims, curation, data, experiments, explorers
from calibkit import metrics, models, palette, plots, sweep, training
from calibkit.scale import budget

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %%
device = training.as_device(DEVICE)
size = budget(SCALE)
seeds = range(SEED, SEED + size.seeds)
fractions = [i / 10 for i in range(1, 11)]  # 0.1, 0.2 ... 1 of the pool
batch_size = 128


@cache
def digits(seed):
    return data.noisy_digits(size.train, noise=0.4, seed=seed, test=size.test)

# %% [markdown]
# ## 1. A pool and its parts
#
# Every seed has a pool of training images, and a large test set that is never cut. From the pool we
# draw a random part. From scratch, then the package:

# %%
pool = digits(SEED).train
order = torch.randperm(len(pool), generator=torch.Generator().manual_seed(SEED))
by_hand = order[: round(0.2 * len(pool))].sort().values

fifth = curation.subset(pool.labels, 0.2, seed=SEED, stratified=False)
assert torch.equal(by_hand, fifth)
half = curation.subset(pool.labels, 0.5, seed=SEED, stratified=False)
print(f"{len(fifth)} images, {torch.isin(fifth, half).double().mean():.0%} of them in the half, too")

# %% [markdown]
# With one seed a smaller part always lies within a larger one: what changes from size to size is only what was
# *added*, and the comparison over seeds becomes sharper.
#
# ## 2. A gap without luck
#
# The posterior says for each test image how likely each digit is (notebook 00). So for any prediction we know the
# *chance* that it is right, and need no label at all. Notebook 02 binned it, as the true calibration error; the
# simplest use is the gap.
#
# ### Exercise: the true gap
#
# *Difficulty: easy · importance: high · 5 minutes*
#
# Mean confidence minus mean chance of being right, from the model's `probs` (n, K) and the `posterior` (n, K).

# %%
def my_true_gap(probs, posterior):
    ...  # your code here


check.true_gap(my_true_gap)

# %% [markdown]
# <details><summary>Hint</summary>
#
# The model predicts `probs.argmax(dim=1)`. Look up the posterior of *that* class, row by row, with `gather`.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_true_gap(probs, posterior):
#     confidence, predicted = probs.double().max(dim=1)
#     chance = posterior.gather(1, predicted[:, None])[:, 0]
#     return (confidence - chance).mean()
# ```
#
# </details>
#
# ## 3. The slider over n
#
# Ten sizes, several seeds, everything else equal: network, learning rate, number of epochs.

# %%
def network():
    return models.mlp(64, 10)


@cache
def part(fraction, seed):
    pool = digits(seed).train
    return pool[curation.subset(pool.labels, fraction, seed=seed, stratified=False)]


def recipe(fraction, seed, epochs=size.epochs, batch_size=batch_size):
    return training.trial(network, part(fraction, seed), {"test": digits(seed).test}, seed=seed,
                          epochs=epochs, batch_size=batch_size)


swept = sweep.run(recipe, {"fraction": fractions, "seed": seeds}, device=device)

# %% [markdown]
# **Predict before you run:** a tenth of the data costs accuracy. Will the confidence fall by as much?

# %%
def true_error(outcome):
    said = outcome.predictions["test"]
    return metrics.true_calibration_error(said.probs, said.posterior)


def by_size(column):
    return np.array([swept.values(column, seed=s) for s in seeds])  # (seeds, fractions)


swept.measure("true error", true_error)
accuracy, gap, ece, truth = map(by_size, ("test_accuracy", "test_gap", "test_ece", "true error"))
best = np.array([digits(s).test.posterior.amax(dim=1).mean().item() for s in seeds])
lines = {palette.CONFIDENCE: by_size("test_confidence"), palette.ACCURACY: accuracy,
         palette.TRUTH.named("best possible accuracy"): best[:, None].repeat(len(fractions), axis=1)}
counts = [len(part(f, SEED)) for f in fractions]

# %%
def frame(n):
    i = counts.index(n)
    said = swept.pooled("test", fraction=fractions[i])
    readout = (f"{n} training images: accuracy {accuracy[:, i].mean():.1%}, signed gap "
               f"{gap[:, i].mean():+.1%}; ECE {ece[:, i].mean():.1%} ({ece[:, i].min():.1%} to "
               f"{ece[:, i].max():.1%} over {len(seeds)} seeds), true error {truth[:, i].mean():.1%}")
    return explorers.along_frame(
        metrics.reliability(said.probs, said.labels), n, counts, lines, x_label="training images",
        x_ticks=counts[::3], title=f"trained on {n} images", readout=readout)


explorers.Explorer(frame, explorers.Slider("training images", counts),
    description="Left, the reliability diagram of the networks of all seeds for one number of training "
    "images: a bar below the diagonal is over-confident. Right, against the number of training images: "
    "mean confidence, accuracy and the best possible accuracy; the bands span the seeds, the grey line "
    "marks the chosen number.")

# %% [markdown]
# The still twin: three positions, then all of them.

# %%
fig, axes = plt.subplots(1, 3, figsize=(7.4, 3.5), layout="constrained")
for ax, fraction in zip(axes, (0.1, 0.4, 1.0), strict=True):
    said = swept.pooled("test", fraction=fraction)
    _ = plots.draw_reliability(metrics.reliability(said.probs, said.labels), ax=ax,
                               title=f"fraction {fraction:g}", legend=False)

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(7.6, 3), layout="constrained")
for role, values in lines.items():
    _ = plots.spread(counts, values, role, ax=left)
_ = plots.spread(counts, ece, palette.group(0, "ECE, estimated"), ax=right)
_ = right.plot(counts, truth.mean(axis=0), **palette.TRUTH.line(label="true error"))
_ = left.set(xlabel="training images", ylabel="share", ylim=(0, 1))
_ = right.set(xlabel="training images", ylabel="calibration error", ylim=(0, None))
_ = left.legend(fontsize="small"), right.legend(fontsize="small")

# %% [markdown]
# - **Diagrams** (blue is kept, the orange piece is claimed on top): too sure at every size, most of all with little data.
# - **Left:** with little data the accuracy is far from the best possible. The confidence follows it down only in part.
# - **Right:** the estimate lies on the true error. With gaps this wide and a test set this large, ECE is
#   a good ruler (notebook 02 tells when it is not).
# - **The kink** at fraction 0.6 is no accident. We come back to it.
#
# Why? Each of these networks has some 85,000 weights and knows its training images by heart; cross-entropy then
# goes on rewarding confidence on images that are all answered already. (Yun et al. 2019 prove that networks of four
# or more layers and a width of order $\sqrt n$ can memorise $n$ images; the paper adds that the loss then has no
# minimum, its theorem 1. Ours has three layers, so the theorem does not speak of it.)
# A reading, not measured here: what it learned there it takes along to new images, and fewer training images leave more
# new ones that are unlike any of them.

# %%
# NBVAL_CHECK_OUTPUT
papers = [fractions.index(f) for f in (0.1, 0.2, 0.4, 0.6, 0.8, 1.0)]  # the paper's sizes
print(claims.verdict("D1", "equal epochs: ECE with a tenth of the pool exceeds that with all",
                     ece[:, 0] - ece[:, -1]))
slope = [np.polyfit(np.log10(counts), one, 1)[0] for one in ece]
print(claims.verdict("D1", "equal epochs: what ten times the data change in the ECE", slope, expect="below"))
print(claims.verdict("05a", "at a tenth, estimate and true error agree within 1 point",
                     ece[:, 0] - truth[:, 0], expect="within", margin=0.01))

# %% [markdown]
# Small is worse. But does *every* step help, "consistently", as the paper writes?

# %%
for small, large in zip(papers[:-1], papers[1:], strict=True):
    change = ece[:, large].mean() - ece[:, small].mean()
    print(f"from {fractions[small]} to {fractions[large]}: ECE {100 * change:+.1f} points")

# %%
# NBVAL_CHECK_OUTPUT
largest = np.diff(ece[:, papers], axis=1).max(axis=1)  # per seed, the step that helped least
print(claims.verdict("D1", "equal epochs: each of these steps lowers the ECE", largest, expect="below"))

# %% [markdown]
# Look at the step from 0.6 to 0.8. Before anybody writes "calibration got worse with more data", we ask what else changed.
#
# ## 4. The classic mistake: something else changed, too
#
# ### The last batch
#
# Count the images in the last mini-batch of an epoch:

# %%
for n in counts:
    print(f"{n:5} images: {-(-n // batch_size):2} steps an epoch, {n % batch_size or batch_size:3} "
          "images in the last")

# %% [markdown]
# At fraction 0.6 (of the laptop's pool) the last batch holds a handful of images, and yet makes a full step, on their
# word alone. Such a jolt in every epoch can keep a network from settling: look for a training loss that
# stayed high. **The repair:** another batch size, 130 in place of 128, at that one fraction.

# %%
again = sweep.run(recipe, {"fraction": [0.6], "batch_size": [130], "seed": seeds}, device=device)
for batch, runs in ((batch_size, swept), (130, again)):
    error, loss = (runs.values(c, fraction=0.6) for c in ("test_ece", "train_loss"))
    print(f"batches of {batch}: ECE {error.mean():.1%} ({error.min():.1%} to {error.max():.1%}), "
          f"training loss at the end up to {loss.max():.3f}")

# %%
# NBVAL_CHECK_OUTPUT
print(claims.verdict("05b", "batches of 130: ECE at 0.6 exceeds that with all by at least 1 point",
                     again.values("test_ece") - ece[:, -1], margin=0.01))

# %% [markdown]
# ### Equal epochs are not equal steps
#
# The larger confound stands in the same list. Equal epochs gave the tenth of the pool two steps an epoch, the whole
# pool twelve (laptop). Less data *and* less training. Which of the two did we measure?
#
# ### Exercise: as many steps
#
# *Difficulty: easy · importance: high · 10 minutes*
#
# How many whole epochs over `n` images, in batches of `batch_size`, come nearest to `steps` steps? At least one.

# %%
def my_equal_steps(n, batch_size, steps):
    ...  # your code here


check.equal_steps(my_equal_steps)

# %% [markdown]
# <details><summary>Hint</summary>
#
# The last, smaller batch is a step, too: an epoch has n / batch_size steps, rounded *up*. Without imports,
# `-(-n // batch_size)` rounds up.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_equal_steps(n, batch_size, steps):
#     steps_per_epoch = -(-n // batch_size)
#     return max(1, round(steps / steps_per_epoch))
# ```
#
# </details>
#
# **Predict before you run:** train the small parts for as many *steps* as the whole pool. Is their ECE lower than before,
# since they are trained properly at last, or higher?

# %%
def equal_steps(n):
    steps = size.epochs * -(-counts[-1] // batch_size)
    return max(1, round(steps / -(-n // batch_size)))


small = [0.1, 0.2, 0.4]
grid = [{"fraction": f, "seed": s, "epochs": equal_steps(len(part(f, s)))} for f in small for s in seeds]
longer = sweep.run(recipe, grid, device=device)
by_steps = np.array([longer.values("test_ece", seed=s) for s in seeds])
for i, f in enumerate(small):
    print(f"fraction {f}: ECE {ece[:, fractions.index(f)].mean():.1%} after {size.epochs} epochs, "
          f"{by_steps[:, i].mean():.1%} after {equal_steps(counts[fractions.index(f)])}")

# %%
# NBVAL_CHECK_OUTPUT
print(claims.verdict("D1", "equal steps: ECE with a tenth of the pool exceeds that with all",
                     by_steps[:, 0] - ece[:, -1]))
before = ece[:, [fractions.index(f) for f in small]]
print(claims.verdict("05c", "equal steps raise the ECE of the three small parts",
                     (by_steps - before).mean(axis=1)))

# %% [markdown]
# The claim stands either way; its size does not. With equal epochs the small parts were trained *less*, which
# spared them some over-confidence, and the comparison understated the harm of little data. Whenever you compare sizes,
# say which of the two you held equal. (The paper trains for 160 epochs on the full sets and does not say what
# it did for the parts.)
#
# ## 5. More data from the same data: augmentation
#
# An *augmentation* changes a training image at random each time it is shown. That is honest if the changed image
# (1) still has its label, and (2) could have come from the world that you test in. The usual pair for
# photographs is crop and mirror. For digits? A mirrored 2 is no 2. We consider three:
#
# - **shift**: pad by one pixel, crop back at random. Any human still reads the same digit. (The plain edge in the
#   picture below is the padding.)
# - **fresh noise**: draw the pixel noise anew each time. Here we *know* that the world adds it, so this one is exact.
# - **mirror**: left to right. For comparison only.

# %%
def shift(images, generator):
    return augmentation.crop_flip(images, padding=1, flip=False, generator=generator)


def fresh_noise(images, generator):
    noise = torch.randn(images.shape, generator=generator, device=images.device)
    return images + 0.4 * noise


def mirror(images, generator):
    return augmentation.crop_flip(images, padding=0, flip=True, generator=generator)


@cache
def clean(seed):  # the same seed draws the same digits, here (almost) without noise
    return data.noisy_digits(size.train, noise=1e-6, seed=seed, calibration=1, test=1).train


sharp = clean(SEED)
assert torch.equal(sharp.labels, pool.labels)

# %%
fig, axes = plt.subplots(1, 5, figsize=(7.6, 1.9), layout="constrained")
two = (sharp.labels == 2).nonzero()[0]
random = torch.Generator().manual_seed(SEED)
shown = {"clean": sharp.inputs[two], "noisy, as trained": pool.inputs[two],
         "shift": shift(pool.inputs[two], random), "fresh noise": fresh_noise(sharp.inputs[two], random),
         "mirrored": pool.inputs[two].flip(-1)}
for ax, (name, image) in zip(axes, shown.items(), strict=True):
    _ = ax.imshow(image[0, 0], cmap="gray_r")
    _ = ax.set_title(name, fontsize=9)
    ax.axis("off")

# %% [markdown]
# The posterior can judge both conditions at once: of the clean digits, changed in each way, how many does
# the best reader of *this* world still give their label?

# %%
reader = pool.source.posterior
for name, changed in {"shift": shift(sharp.inputs, random),
                      "fresh noise": fresh_noise(sharp.inputs, random),
                      "mirrored": sharp.inputs.flip(-1)}.items():
    kept = (reader(changed).argmax(dim=1) == sharp.labels).double().mean()
    print(f"{name:12} {kept:.1%} keep their label")

# %% [markdown]
# - **Fresh noise** keeps it, but for images that truly are ambiguous.
# - **Mirrored** images mostly turn into something else: the label is wrong.
# - **Shifted** ones keep their label for *us*, not in this world, where no digit is ever shifted and every pixel counts.
#   Condition (1) holds and (2) does not. That will have a price.

# %%
ways = {"shift": shift, "fresh noise": fresh_noise, "mirror": mirror,
        "both": lambda images, generator: fresh_noise(shift(images, generator), generator)}


def augmented(way, seed):
    noisy, test = digits(seed).train, digits(seed).test
    learn = clean(seed) if way in ("fresh noise", "both") else noisy
    return training.trial(network, learn, {"test": test}, seed=seed, epochs=size.epochs,
                          augment=ways[way])


changed = sweep.run(augmented, {"way": list(ways), "seed": seeds}, device=device)

# %% [markdown]
# **Predict before you run:** which of none, shift, fresh noise, both, mirror has the lowest ECE? Which the highest
# accuracy? Is it the same one?

# %%
def of_way(way, column):
    return swept.values(column, fraction=1.0) if way == "none" else changed.values(column, way=way)


names = ["none", "mirror", "shift", "both", "fresh noise"]
columns = {"train_accuracy": "right in training", "test_accuracy": "accuracy", "test_gap": "signed gap",
           "test_ece": "ECE"}
fig, axes = plt.subplots(1, 4, figsize=(8.4, 2.6), layout="constrained", sharey=True)
for ax, (column, title) in zip(axes, columns.items(), strict=True):
    runs = np.array([of_way(way, column) for way in names])
    _ = ax.barh(names, runs.mean(axis=1), color=palette.SKY)
    _ = ax.hlines(names, runs.min(axis=1), runs.max(axis=1), color=palette.BLACK, lw=3)
    _ = ax.axvline(0, color=palette.GREY)
    _ = ax.set(title=title)

# %% [markdown]
# (Bars are means over seeds, black lines the range. *Right in training* counts the changed images of the last epoch.)
#
# - **Fresh noise** wins everywhere: more data, of the right kind, is what was missing. In effect the network never meets
#   an image twice.
# - **Shift** alone lowers the ECE by far, and *costs accuracy*: the network can no longer memorise, but it spends its
#   effort on images that never come. Better calibrated is not better.
# - **Both**: the gap has changed its sign. The training images are now harder than the test images (shifted *and* noisy),
#   and the network learned to doubt more than the test deserves.
# - **Mirror** teaches wrong digits, much as label noise does (notebook 06): accuracy is lost, and the ECE has not gained.

# %%
# NBVAL_CHECK_OUTPUT
def without(left, right, column="test_ece"):
    return of_way(left, column) - of_way(right, column)


print(claims.verdict("D2", "taking both away raises the ECE", without("none", "both")))
print(claims.verdict("D2", "taking fresh noise away from both raises it", without("shift", "both")))
print(claims.verdict("D2", "taking shift away from both raises it", without("fresh noise", "both")))
print(claims.verdict("D2", "with shift alone, taking it away raises it", without("none", "shift")))
print(claims.verdict("05d", "with both the network is under-confident", of_way("both", "test_gap"),
                     expect="below"))
print(claims.verdict("05e", "shift alone costs accuracy", without("shift", "none", "test_accuracy"),
                     expect="below"))
print(claims.verdict("05f", "the mirror costs accuracy", without("mirror", "none", "test_accuracy"),
                     expect="below"))

# %% [markdown]
# Is that really why both together are under-confident? Then some of the gap should go on test images that are shifted
# *and* noisy, as those in training were:

# %%
def gap_in_its_own_world(seed):
    drawn = data.NoisyDigits(1e-6).draw(2000, seed=1000 + seed)
    random = torch.Generator().manual_seed(seed)
    images = torch.cat([ways["both"](drawn.inputs, random) for _ in range(5)])
    with torch.no_grad():
        said = changed.one(way="both", seed=seed).model(images).softmax(dim=1)
    return metrics.signed_gap(said, drawn.labels.repeat(5))


own = np.array([gap_in_its_own_world(s) for s in seeds])
print(f"gap on shifted images {own.mean():+.1%}, on the usual ones {of_way('both', 'test_gap').mean():+.1%}")

# %%
# NBVAL_CHECK_OUTPUT
print(claims.verdict("05g", "on images like those it was trained on, the gap is less negative",
                     own - of_way("both", "test_gap")))

# %% [markdown]
# What is left may have another cause: the training ended before so wide a world was learned, and a network on its way up
# is too modest (notebook 06, section 4).
#
# Where a piece's removal comes out `REVERSED`, the sign explains it: on top of fresh noise the shift has no over-confidence
# left to remove, and pushes on, below zero. On photographs, where shifted images do occur and no exact
# noise is known, the paper finds that removing them raises the ECE.
#
# ## 6. On photographs
#
# A tenth against all, at equal steps, for a small network on photographs (ResNet-8, 2,500 images of CIFAR-10, three seeds, on a CPU). At `smoke` and
# `laptop` the table is stored; `SCALE = "gpu"` trains it anew, larger ([from laptop to paper](from_laptop_to_paper.md)).

# %%
photographs = experiments.on_photographs("size", SCALE, device=device)
experiments.shown(photographs)

# %%
# NBVAL_CHECK_OUTPUT
print(experiments.verdict("size", photographs))

# %% [markdown]
# All seeds' columns are at equal *steps*, so that the tenth passes over each image ten times as often.
#
# ## 7. Beside the paper
#
# | | paper (*Dataset Curation Beyond Accuracy*) | here |
# |---|---|---|
# | data | CIFAR-10, CIFAR-100, EuroSAT, iNaturalist | noisy digits, posterior known |
# | sizes | 0.1, 0.2, 0.4 ... 1.0 of the training set (its figure 4) | 0.1, 0.2 ... 1.0 of a pool |
# | network | ResNet-50, with crop and flip | 2 x 256 ReLU, none in sections 3 and 4 |
# | held equal | 160 epochs on full sets; not said for parts | epochs, then steps |
# | augmentation | crop and flip, each and both removed (figure 5) | shift and fresh noise, each and both removed |
# | result | smaller is "consistently" worse; removing augmentation is worse | the verdicts above |
#
# The paper shows curves and bars without a table, so there is no number of its own to print.
#
# ## Three things to take away
#
# 1. With less data a network gets worse *and* does not notice: the accuracy falls faster than the confidence.
# 2. When the size changes, steps and last batches change as well. Say what you held equal, and check it.
# 3. Augmentation calibrates as far as it resembles more data. Watch the sign and the accuracy: a lower ECE can be bought
#    with either.
#
# ## Recall
#
# <details><summary>1. Why are the subsets nested?</summary>
#
# So that sizes differ only by the images that were added, not by which images were drawn. Paired
# differences get smaller errors.
#
# </details>
#
# <details><summary>2. Why does the true gap need no labels?</summary>
#
# The posterior of the predicted class *is* the chance of being right. Labels are one lucky or unlucky draw from it.
#
# </details>
#
# <details><summary>3. 1,000 images, batches of 128. How many steps an epoch, how large is the last batch?</summary>
#
# 8 steps; 1,000 - 7 * 128 = 104 images.
#
# </details>
#
# <details><summary>4. At equal epochs, is the harm of little data over- or understated here?</summary>
#
# Understated: fewer images also meant fewer steps, so less time to grow over-confident.
#
# </details>
#
# <details><summary>5. What makes an augmentation honest?</summary>
#
# The changed image keeps its label, and could come from the world that the model is tested in.
#
# </details>
#
# <details><summary>6. An augmentation halves the ECE. Adopt it?</summary>
#
# Look at the accuracy (or a proper score, notebook 02) and at the sign of the gap first.
#
# </details>
#
# ## Go further
#
# Give fresh noise a strength of 0.2 and of 0.6 in place of 0.4, and predict the sign of the gap for each. Then compare the network
# on a tenth of the pool *with* fresh noise against the whole pool without. If your digits differ from those
# printed here, see [your numbers differ?](your_numbers_differ.md). Next: [06 Label noise](06_label_noise.ipynb).
#
# ## References
#
# - *Dataset Curation Beyond Accuracy*. Anonymous authors, paper under double-blind review. (sections 3 and 4, figures 4
#   and 5)
# - Yun, Sra, Jadbabaie: *Small ReLU networks are powerful memorizers*. NeurIPS 2019.
#   [arXiv:1810.07770](https://arxiv.org/abs/1810.07770)
# - Guo, Pleiss, Sun, Weinberger: *On Calibration of Modern Neural Networks*. ICML 2017.
#   [arXiv:1706.04599](https://arxiv.org/abs/1706.04599)
# - Zhang, Bengio, Hardt, Recht, Vinyals: *Understanding deep learning requires rethinking generalization*. ICLR 2017.
#   [arXiv:1611.03530](https://arxiv.org/abs/1611.03530)
# - He, Zhang, Ren, Sun: *Deep Residual Learning for Image Recognition*. CVPR 2016.
#   [arXiv:1512.03385](https://arxiv.org/abs/1512.03385) (crop and flip, section 4.2)
