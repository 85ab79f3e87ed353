# %% [markdown]
# # 05 · Dataset size: does the confidence know how little was seen?
#
# **Question.** One hospital has 1,500 labelled scans, another 150. The network of the second will be wrong
# more often. Will it also be less confident, by as much? And what can the small hospital do?

# %% tags=["drawing"]
from calibkit.course import explorers

explorers.stored("dataset_size")

# %% [markdown]
# The same network, trained on 150 to 1,500 noisy digits. Left: the reliability diagram. Right: mean confidence,
# accuracy, and the accuracy of the best possible reader. Towards fewer images, which falls faster: accuracy or
# confidence?
#
# **You will be able to**
# - compare sizes fairly: nested parts, and epochs or steps held equal;
# - say how much of the lost accuracy a network still claims, and repair this with few labels;
# - judge an augmentation by what it does to labels, accuracy and the sign of the gap.
#
# **Time.** 40 minutes; 15 more for the homework.
#
# **Needs.** [02 Measuring calibration](02_measuring_calibration.ipynb), and the map of [03](03_overconfidence.ipynb).

# %% tags=["drawing"]
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch

from calibkit import curation, metrics, recalibration
from calibkit.course import check, claims, experiments, verdicts
from calibkit.course.experiments import sizes, soft_targets
from calibkit.course.scale import begin
from calibkit.lab import sweep
from calibkit.metrics import plane
from calibkit.pictures import alt_text, palette, plots

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% [markdown]
# ## 1. A pool, its parts, and a gap without luck
#
# Every seed has a pool of training images. From it we draw random parts that are **nested**: a smaller one always lies
# within a larger one. Two sizes then differ only by the images that were *added*. (`stratified=False`: drawn without
# regard to the classes.)

# %%
size, seeds, device = begin(SCALE, SEED, DEVICE)
pool = soft_targets.digits(size, SEED).train  # the noisy digits that lesson 09 uses, too
order = torch.randperm(len(pool), generator=torch.Generator().manual_seed(SEED))
by_hand = order[: round(0.2 * len(pool))].sort().values
fifth, half = (curation.subset(pool.labels, share, seed=SEED, stratified=False) for share in (0.2, 0.5))
assert torch.equal(by_hand, fifth)
print(f"{len(fifth)} images, {torch.isin(fifth, half).double().mean():.0%} of them in the half, too")

# %% [markdown]
# For our digits the posterior is known: the probability of each digit, given a noisy image. So for any prediction we
# know the *probability* that it is right, and need no label. The **true gap** is the mean confidence minus the mean of
# this probability. No lucky or unlucky labels change it. (The *true calibration error* on the slider uses this probability,
# too.)
#
# ### Exercise: the true gap
#
# *Difficulty: easy · importance: high · 5 minutes*
#
# Write it, from the model's `probs` (n, K) and the `posterior` (n, K).

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
#     right = posterior.gather(1, predicted[:, None])[:, 0]  # probability of being right
#     return (confidence - right).mean()
# ```
#
# </details>
#
# ## 2. Ten sizes
#
# Ten sizes, several seeds, everything else equal: network, learning rate, number of epochs.

# %%
def recipe(fraction, seed, epochs=size.epochs):
    return sizes.trial(size, fraction, seed, epochs)


fractions = list(sizes.FRACTIONS)
swept = sweep.run(recipe, {"fraction": fractions, "seed": seeds}, device=device)

# %% tags=["drawing"]
def numbers(outcome):
    train, cal, test = (outcome.predictions[part] for part in ("train", "cal", "test"))
    T = recalibration.TemperatureScaler().fit(cal.logits, cal.labels)
    right, sure = metrics.accuracy(test.probs, test.labels), test.confidence.mean().item()
    place = plane.place(metrics.accuracy(train.probs, train.labels), right, sure)
    return {**outcome.setting, "images": len(train.labels), "accuracy": right, "confidence": sure,
            "ECE": metrics.ece(test.probs, test.labels), "lost": place.lost, "claimed": place.claimed,
            "best": test.posterior.amax(dim=1).mean().item(), "T": T.temperature,
            "true error": metrics.true_calibration_error(test.probs, test.posterior),
            "ECE after T": metrics.ece(T.probs(test.logits), test.labels)}


found = pd.DataFrame([numbers(outcome) for outcome in swept.outcomes])
means = found.groupby("fraction").mean()
counts = sorted(found.images.unique().tolist())
shares = {"confidence": palette.CONFIDENCE, "accuracy": palette.ACCURACY,
          "best": palette.TRUTH.named("best possible accuracy")}
lines = {role: found.pivot(index="seed", columns="fraction", values=column).to_numpy()
         for column, role in shares.items()}


def frame(n):
    fraction = fractions[counts.index(n)]
    said, mean, error = swept.pooled("test", fraction=fraction), means.loc[fraction], found[found.images == n].ECE
    readout = (f"{n} training images: accuracy {mean.accuracy:.1%}, signed gap {mean.claimed:+.1%}; "
               f"ECE {mean.ECE:.1%} ({error.min():.1%} to {error.max():.1%} over {len(seeds)} seeds), "
               f"true calibration error {mean['true error']:.1%}; best possible accuracy {mean.best:.1%}")
    return explorers.along_frame(
        metrics.reliability(said.probs, said.labels), n, counts, lines, x_label="training images",
        x_ticks=[counts[0], counts[3], counts[6], counts[9]], title=f"{n} training images", readout=readout)


explorers.keep(explorers.Explorer(
    frame, explorers.Slider("training images", counts),
    description="Left, the reliability diagram of the networks of all seeds for one number of training "
    "images: a bar below the diagonal is over-confident. Right, against the number of training images: "
    "mean confidence, accuracy and the best possible accuracy; the bands span the seeds, the grey line "
    "marks the chosen number."), "dataset_size")

# %% [markdown]
# **Predict before you run:** do not go back to the slider. From all images to a tenth, accuracy and confidence both
# fall. When the accuracy falls by 10 points, by how many does the confidence fall: about 2, 5 or 8? And where do five of
# the sizes lie on the map of lesson 03?

# %% tags=["answer", "drawing"]
parts = {fraction: found[found.fraction == fraction] for fraction in (0.1, 0.2, 0.4, 0.7, 1.0)}
where = {palette.group(k, f"{round(fraction * size.train)} images"): part[["lost", "claimed"]].to_numpy()
         for k, (fraction, part) in enumerate(parts.items())}
_ = plots.plane(where)
plt.show()
fall = means.loc[1.0] - means.loc[0.1]
print(f"a tenth of the data: accuracy {100 * fall.accuracy:.1f} points lower, confidence {100 * fall.confidence:.1f}: "
      f"{10 * fall.confidence / fall.accuracy:.1f} for every 10 points")
for fraction in (0.1, 0.2, 1.0):
    mean = means.loc[fraction]
    print(f"{mean.images:.0f} images: {mean.lost:.1%} lost on new images, {mean.claimed:.1%} still claimed, "
          f"kappa {mean.claimed / mean.lost:.2f}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# By 5 or 6 points. So with few images the network is more over-confident. All these networks are right on nearly
# all their training images. On new ones they lose 21 to 37 points, and still claim 0.58 to 0.67 of that: less data moves
# this network nearly along a line, to the right and up. (Other networks and settings have another kappa, as in lesson
# 04.)
#
# </details>
#
# ## 3. Something else changed, too
#
# A paper on dataset curation (see the references) says that smaller sets are "consistently" worse calibrated. In our
# runs, too, each smaller size has a larger ECE, with one exception: 900 images have 14.0 %, less than 1,050 images with
# 15.3 % (move the slider at the top).
#
# <details><summary>What is different at 900 images?</summary>
#
# Batches hold 128 images, and 900 = 7 x 128 + 4. So the last batch of an epoch holds only 4 images, but still makes a
# full step. With batches of 130 the exception is gone ([evidence](evidence/05_dataset_size.ipynb)). Why such steps lower
# the ECE, we have not tested.
#
# </details>
#
# With the size the number of steps changed, too. With equal *epochs* the tenth of the pool makes two steps per epoch, the whole
# pool twelve. So a small part has less data *and* less training. Which of the two did we measure?
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
# **Predict before you run:** we train the small parts for as many *steps* as the whole pool. They are now trained for
# longer. Is their ECE lower, or higher?

# %% tags=["answer"]
small = [0.1, 0.2]
# the epochs in which a small part makes as many steps as the whole pool
epochs = {fraction: sizes.equal_steps(size, round(fraction * size.train)) for fraction in small}
grid = [{"fraction": fraction, "seed": seed, "epochs": epochs[fraction]}
        for fraction in small for seed in seeds]
# numbers(outcome): accuracy, ECE, lost, claimed of one network; means: those of section 2, by fraction
longer = pd.DataFrame([numbers(outcome) for outcome in sweep.run(recipe, grid, device=device).outcomes])
for fraction in small:
    after = longer[longer.fraction == fraction].mean()
    print(f"{after.images:.0f} images: ECE {means.loc[fraction].ECE:.1%} after {size.epochs} epochs, "
          f"{after.ECE:.1%} after {after.epochs:.0f}; kappa {after.claimed / after.lost:.2f}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# Higher. From 1,500 images (ECE 14.2 %) to 150 the ECE rises by 7 points at equal epochs, and by 10 at equal steps. So
# say which of the two you held equal.
#
# </details>
#
# ## 4. What can the small hospital do?
#
# It has 150 labelled scans. It can train on all of them. Or it can keep some back, and fit one temperature on these: a
# single number (lesson 08).
#
# **Predict before you run:** how many of 150 would you keep back for T: none, 15, 30 or 75? What does this cost in
# accuracy, and what does it bring?

# %% tags=["answer", "drawing"]
labels = 150 if SCALE != "smoke" else 100
kept = [0, labels // 10, labels // 5, 3 * labels // 10, labels // 2]


def spend(kept, seed):
    return sizes.spent(size, labels, kept, seed)


spent = sweep.run(spend, {"kept": kept, "seed": seeds}, device=device)


def calibrated(outcome):
    """Test probabilities, after a T that was fitted on the images kept back."""
    test, held = outcome.predictions["test"], outcome.predictions.get("kept")
    if held is None:
        return test.probs.double(), test.labels
    return recalibration.TemperatureScaler().fit(held.logits, held.labels).probs(test.logits), test.labels


by_kept = {k: [calibrated(one) for one in spent.where(kept=k)] for k in kept}
spending = {k: pd.DataFrame([{"accuracy": metrics.accuracy(*pair), "confidence": pair[0].amax(dim=1).mean().item(),
                              "NLL": metrics.nll(*pair)} for pair in pairs]) for k, pairs in by_kept.items()}
over = {role: np.stack([spending[k][column] for k in kept], axis=1)
        for column, role in (("accuracy", palette.ACCURACY), ("confidence", palette.CONFIDENCE))}


def spending_frame(k):
    mean = spending[k].mean()
    gap = mean.confidence - mean.accuracy
    readout = (f"{k} of {labels} labels kept for T: accuracy {mean.accuracy:.1%}, mean confidence "
               f"{mean.confidence:.1%}, signed gap {gap:+.1%}, NLL {mean.NLL:.3f}")
    return explorers.along_frame(
        explorers.pooled([metrics.reliability(*pair) for pair in by_kept[k]]), k, kept, over,
        x_label="labels kept for T", x_ticks=kept, title=f"{k} of {labels} labels kept", readout=readout)


for k in kept:
    mean = spending[k].mean()
    print(f"{k} kept: accuracy {mean.accuracy:.1%}, gap {mean.confidence - mean.accuracy:+.1%}, NLL {mean.NLL:.3f}")
# %% [markdown]
# <details><summary>What came out</summary>
#
# Keeping 30 of 150 costs hardly any accuracy here, and takes the gap from 23 points to about zero on average. The NLL
# falls from 1.73 to 1.12. From seed to seed the gap still differs: a T from 30 images is not precise. Half of the labels
# is too many: the accuracy falls by 7 points.
#
# </details>
#
# Look at it step by step:

# %% tags=["drawing"]
explorers.Explorer(
    spending_frame, explorers.Slider("labels kept for T", kept), play=True,
    description="Left, the reliability diagram of the networks of all seeds after the temperature that was fitted on "
    "the labels kept back. Right, against the number of labels kept: accuracy and mean confidence; the bands span the "
    "seeds, the grey line marks the chosen number.")

# %% [markdown]
# Of the shares that we tried, a fifth (30 labels) has the lowest NLL, and costs no accuracy on average. The other
# shares cost 1 to 7 points. (That 15 labels cost more than 30 may be chance: each number is a mean over few seeds.)
#
# A *verdict* gives the mean over seeds with its 95 % interval. HOLDS means that the whole interval lies where the
# sentence says. The second line counts all verdicts on this question, most of them in the evidence.

# %% tags=["nbval-check-output"]
# spending: for each number of labels kept, a table with one row per seed; kept[2] is a fifth of the labels
print(verdicts.judge("05l", "a fifth of 150 labels kept for T: the NLL is lower than without",
                     (spending[kept[2]].NLL - spending[0].NLL).to_numpy(), expect="below"))
print(claims.concluded("05", "05l"))

# %% [markdown]
# ## 5. More data from the same data?
#
# An **augmentation** changes a training image at random each time it is shown. It makes sense on two conditions: the
# label is still right for the changed image, and such an image could occur among those that you test on. The picture
# shows a 2, and what may be done to it. `shift` moves the digit by a pixel at most. *Added noise* puts more noise
# on top. *Fresh noise* takes the clean original and draws its noise anew: this is what more data of the right kind
# would be, but outside this course nobody has clean originals. *Flip* mirrors the digit: is it still a 2? (We train on
# the other three; the evidence has flip.)

# %% tags=["drawing"]
sharp, random = sizes.clean(size, SEED), torch.Generator().manual_seed(SEED)
two = (sharp.labels == 2).nonzero()[0]
shown = {"clean original": sharp.inputs[two], "noisy (training)": pool.inputs[two],
         "shift": sizes.shift(pool.inputs[two], random), "added noise": sizes.add_noise(pool.inputs[two], random),
         "fresh noise": sizes.add_noise(sharp.inputs[two], random), "flip": pool.inputs[two].flip(-1)}
fig, axes = plt.subplots(1, 6, figsize=(7.6, 1.7))
for ax, (name, image) in zip(axes, shown.items(), strict=True):
    _ = ax.imshow(image[0, 0], cmap="gray_r", vmin=-0.5, vmax=1.5)
    _ = ax.set_title(name, fontsize=9)
    ax.axis("off")
    _ = alt_text.note(ax, f"{name}: a 2 of 8 by 8 pixels, grey values {image.min():.1f} to {image.max():.1f}.")

# %%
def augmented(way, seed):
    return sizes.augmented(size, way, seed)


ways = ["shift", "added noise", "fresh noise"]
changed = sweep.run(augmented, {"way": ways, "seed": seeds}, device=device)

# %% [markdown]
# **Predict before you run:** which of none, shift, added noise and fresh noise has the lowest ECE, which the highest accuracy? Which ends *not sure enough*?

# %% tags=["answer"]
plain = means.loc[1.0]
print(f"none: accuracy {plain.accuracy:.1%}, gap {plain.claimed:+.1%}, ECE {plain.ECE:.1%}")
for way in ways:
    tests = [outcome.predictions["test"] for outcome in changed.where(way=way)]
    right = np.mean([metrics.accuracy(test.probs, test.labels) for test in tests])
    gap = np.mean([metrics.signed_gap(test.probs, test.labels) for test in tests])
    error = np.mean([metrics.ece(test.probs, test.labels) for test in tests])
    print(f"{way}: accuracy {right:.1%}, gap {gap:+.1%}, ECE {error:.1%}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# Fresh noise is best in both, as more data of the right kind should be. `shift` lowers the ECE much, and *costs*
# accuracy. To us a moved 2 is still a 2. But no digit of the test images is moved, and the exact posterior is computed
# for such images. If a clean digit is moved, this posterior names another digit in 4 of 10 cases
# ([evidence](evidence/05_dataset_size.ipynb)). So the old label is often wrong. The same is true of flip: only 36 % of
# the flipped clean digits keep their most probable digit. Added noise ends under-confident: these networks were
# trained on noisier images than those of the test. A lower ECE does not show that an augmentation suits the data.
#
# </details>
#
# ## 6. On photographs
#
# Now networks for photographs of CIFAR-10, trained on 2,000 to 20,000 of them (stored, equal steps, three seeds).
# **Predict before you run:** do fewer photographs, too, mean a lower accuracy and a larger gap? And what ECE is left
# after one temperature?

# %% tags=["answer"]
photographs = experiments.on_photographs("size", SCALE, device=device)
for fraction, mean in photographs.groupby("value").mean(numeric_only=True).iterrows():
    print(f"{20_000 * fraction:,.0f} photographs: accuracy {mean.test_accuracy:.1%}, gap "
          f"{mean.test_gap:+.1%}; T {mean.temperature:.2f}, ECE after it {mean.scaled_ece:.1%}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# Yes: the fewer photographs, the lower the accuracy and the larger the gap. One temperature takes most of the error
# away at every size. (A larger gap need not have a larger T: how much a T lowers the confidence depends on the logits,
# too.) But this temperature was fitted on 5,000 other images, which a small hospital would not have.
#
# </details>
#
# Now a verdict on the size (*as trained*: before any temperature):

# %% tags=["nbval-check-output"]
ece = {fraction: found[found.fraction == fraction].ECE.to_numpy() for fraction in fractions}
print(verdicts.judge("D1", "equal epochs: ECE with a tenth of the pool exceeds that with all",
                     ece[0.1] - ece[1.0], as_trained=True))
print(claims.concluded("05", "D1"))

# %% [markdown]
# ### Exercise: a vendor's claim (homework)
#
# *Difficulty: hard · importance: high · 15 minutes, no code*
#
# A vendor reports: "Trained on ten times the scans, our network's ECE fell from 6 % to 3 %. More data made it trustworthy." List what you
# must know before you believe it, and design the comparison that would convince you.
#
# <details><summary>Answer</summary>
#
# Ask for: the number of test images, and whether the test set was the same (a smaller test set alone raises ECE, lesson
# 02); how many seeds, and their range; whether epochs or steps were held equal, and the batch size; whether the new
# scans come from the same hospitals as the test; whether a temperature was fitted for one of the two only; the accuracy
# and the signed gap (an ECE of 3 % may be under-confidence). The design: one fixed test set; nested parts of one pool;
# several seeds, paired; once at equal epochs and once at equal steps; a proper score beside the ECE. "Trustworthy" does
# not follow from an ECE alone.
#
# </details>
#
# ## The answer
#
# **No. With a tenth of the images the accuracy is 15 points lower, and the confidence only 8 points. This network, with
# this weight decay, still claims 0.58 to 0.67 of what it loses on new images, from 150 training images to 1,500.** **But the
# small hospital can keep a fifth of its labels back for one temperature. Here this cost no accuracy, and then the
# confidence was, on average, within a point of the accuracy.**
#
# All verdicts, the last batch, all augmentations and the paper's numbers: [evidence](evidence/05_dataset_size.ipynb). Next: [06 Label noise](06_label_noise.ipynb).
#
# ## Three things to take away
#
# 1. With less data our network became less accurate *and* more over-confident: nearly along a line of the map.
# 2. When the size changes, steps and last batches change as well. Say what you held equal.
# 3. A few labels kept back for a temperature are well spent. A lower ECE alone is no reason to take an augmentation.
#
# ## Recall
#
# <details><summary>1. Why are the subsets nested?</summary>
#
# So that sizes differ only by the images that were added, not by which images were drawn. Two sizes share the luck
# of the draw, so their difference varies less from seed to seed.
#
# </details>
#
# <details><summary>2. Why does the true gap need no labels?</summary>
#
# The posterior of the predicted class *is* the probability of being right. Labels are one lucky or unlucky draw from it.
#
# </details>
#
# <details><summary>3. 1,000 images, batches of 128. How many steps per epoch, and how large is the last batch?</summary>
#
# 8 steps; 1,000 - 7 * 128 = 104 images.
#
# </details>
#
# <details><summary>4. At equal epochs, is the harm of little data over- or understated here?</summary>
#
# Understated: fewer images also meant fewer steps, and more steps made the small parts more over-confident.
#
# </details>
#
# <details><summary>5. An augmentation halves the ECE. Adopt it?</summary>
#
# Look at the accuracy (or a proper score) and at the sign of the gap first.
#
# </details>
#
# ## Go further
#
# Added noise of strength 0.4 ends under-confident, no augmentation over-confident. Is there a strength between them with a gap near
# zero? Try 0.2 and 0.3. If your digits differ, see [your numbers differ?](your_numbers_differ.md).
#
# <details><summary>Answer</summary>
#
# ```python
# from calibkit.lab import training
#
# def weaker(strength, seed):
#     splits = soft_targets.digits(size, seed)
#     return training.trial(sizes.NETWORK, splits.train, {"test": splits.test}, seed=seed, epochs=size.epochs,
#                           augment=partial(sizes.add_noise, strength=strength))
#
# weak = sweep.run(weaker, {"strength": [0.2, 0.3], "seed": list(seeds)[:2]}, device=device)
# print(weak.table.groupby("strength")[["test_accuracy", "test_gap", "test_ece"]].mean().round(3))
# ```
#
# The gap crosses zero between 0.3 and 0.4. But this holds for this test noise only: the strength would have to be chosen on calibration data, and again for every new world.
#
# </details>
#
# ## References
#
# - *Dataset Curation Beyond Accuracy*. Anonymous authors, paper under double-blind review. (sections 3 and 4, figures 4
#   and 5)
# - Guo, Pleiss, Sun, Weinberger: *On Calibration of Modern Neural Networks*. ICML 2017.
#   [arXiv:1706.04599](https://arxiv.org/abs/1706.04599)
# - Zhang, Bengio, Hardt, Recht, Vinyals: *Understanding deep learning requires rethinking generalization*. ICLR 2017.
#   [arXiv:1611.03530](https://arxiv.org/abs/1611.03530) (networks fit their training set)
# - He, Zhang, Ren, Sun: *Deep Residual Learning for Image Recognition*. CVPR 2016.
#   [arXiv:1512.03385](https://arxiv.org/abs/1512.03385) (crop and flip, section 4.2)
