# %% [markdown]
# # 05 · Dataset size: does the confidence know how little was seen?
#
# **Question.** A small hospital has 150 labelled scans, a large one has 1,500. The network of the small one will be wrong
# more often. Will it also be less sure? And you decide: what are 150 labels best used for?
#
# **Predict before you run:** trained on 1,500 scans (here: noisy digits), a network is right on 79 % of new ones and 93 %
# sure on average. Trained on 150, it is right on 63 %. **How sure is it?** Write down a number, then run the cell.

# %% tags=["answer"]
from calibkit.course import explorers

explorers.stored("dataset_size")

# %% [markdown]
# <details><summary>What came out</summary>
#
# 84.5 % at 150 images: the dashed line on the right. (Move the slider for the sizes between.) From 1,500 to 150 the
# accuracy falls by 15 points, the confidence only by 8. The gap between them grows from 14 points to 21.
#
# </details>
#
# **Time.** 30 minutes; 25 more for the homework.
#
# **Needs.** [02 Measuring calibration](02_measuring_calibration.ipynb).

# %% tags=["drawing"]
import math
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import torch

from calibkit import metrics, recalibration
from calibkit.course import check, verdicts
from calibkit.course.experiments import sizes
from calibkit.course.scale import begin
from calibkit.lab import sweep, training
from calibkit.pictures import alt_text, palette

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% tags=["drawing"]
size, seeds, device = begin(SCALE, SEED, DEVICE)
fractions = list(sizes.FRACTIONS)
swept = sweep.run(lambda fraction, seed: sizes.trial(size, fraction, seed),
                  {"fraction": fractions, "seed": seeds}, device=device)
counts = [round(fraction * size.train) for fraction in fractions]
tests = {(f, s): swept.one(fraction=f, seed=s).predictions["test"] for f in fractions for s in seeds}
measures = {
    "confidence": lambda test: test.confidence.double().mean().item(),
    "accuracy": lambda test: metrics.accuracy(test.probs, test.labels),
    "best": lambda test: test.posterior.amax(dim=1).mean().item(),
    "ECE": lambda test: metrics.ece(test.probs, test.labels),
    "true": lambda test: metrics.true_calibration_error(test.probs, test.posterior),
}
found = {name: np.array([[measure(tests[f, s]) for f in fractions] for s in seeds])
         for name, measure in measures.items()}
lines = {palette.CONFIDENCE: found["confidence"], palette.ACCURACY: found["accuracy"],
         palette.TRUTH.named("best possible accuracy"): found["best"]}

# %% tags=["drawing"]
def frame(n):
    place = counts.index(n)
    pooled = swept.pooled("test", fraction=fractions[place])
    sure, right, best, error, true = (found[name][:, place] for name in measures)
    readout = (f"{n} training images: accuracy {right.mean():.1%}, signed gap {(sure - right).mean():+.1%}; "
               f"ECE {error.mean():.1%} ({error.min():.1%} to {error.max():.1%} over {len(seeds)} seeds), "
               f"true calibration error {true.mean():.1%}; best possible accuracy {best.mean():.1%}")
    return explorers.along_frame(
        metrics.reliability(pooled.probs, pooled.labels), n, counts, lines, x_label="training images",
        x_ticks=counts[:10:3], title=f"{n} training images", readout=readout)


explorers.keep(explorers.Explorer(
    frame, explorers.Slider("training images", counts, start=counts[-1]),
    description="Left, the reliability diagram of the networks of all seeds for one number of training "
    "images: a bar below the diagonal is over-confident. Right, against the number of training images: "
    "mean confidence, accuracy and the best possible accuracy; the bands span the seeds, the grey line "
    "marks the chosen number."), "dataset_size")

# %% [markdown]
# ## 1. Ada: "It saw little, so it will be careful"
#
# Ada trains the network of the small hospital, on all 150 scans. The rule of the house: an answer of 90 % or more goes out
# at once, a doctor reads the other scans. "It saw few scans," says Ada, "so it will send more of them to the doctor." Look
# at what the small hospital sends out, and at the last line that is printed for each network.

# %%
for fraction in (1.0, 0.1):
    new, own = (swept.pooled(part, fraction=fraction) for part in ("test", "train"))
    out = new.confidence >= 0.9
    print(f"trained on {round(fraction * size.train)}: of 1,000 new scans {1000 * out.double().mean():.0f} "
          f"go out, {1000 * (out & ~new.correct).double().mean():.0f} of them with a wrong answer")
    print(f"    on the scans that it learned from: {own.correct.double().mean():.1%} right, "
          f"{own.confidence.mean():.1%} sure")

# %% [markdown]
# It does send more to the doctor. Still, 117 of 1,000 scans go out with a wrong answer. Why? When the
# training ends, each network is right on all scans that it learned from, and 99 % sure: with few as with many. Nothing in the training says how badly it goes on new ones.
#
# ## 2. Eve: "Give me some of your labels"
#
# Whoever wants to know how it goes with new scans has to hold some back. "With those", says Eve, "I find one number, the
# **temperature** T. Every logit is divided by T before the softmax. With T above 1 each answer
# becomes less sure, and none becomes another answer. I take the T with the lowest loss on the scans that you kept."
# Ada answers: "We have 150. Each label that you take makes the network worse."
#
# **Your move.** You are the hospital. Try several values of `kept`, from 0 to 140, and watch what each costs.

# %%
labels = min(150, size.train // 2)
scans = sizes.part(size, labels / size.train, SEED)  # the 150 of the small hospital
new_scans = swept.one(fraction=1.0, seed=SEED).trial.score["test"]
order = torch.randperm(labels, generator=torch.Generator().manual_seed(SEED))


def epochs_with(kept):
    """As many epochs as take the steps of all labels: a batch holds 128 scans."""
    batches = math.ceil(labels / 128), math.ceil((labels - kept) / 128)
    return size.epochs * batches[0] // batches[1]

# %%
kept = 0  # change me

run = training.fit(sizes.NETWORK, scans[order[kept:]], epochs=epochs_with(kept), seed=SEED, device=device,
                   progress=False)
new, T = run.predict(new_scans), 1.0
if kept:
    held = run.predict(scans[order[:kept]])  # scans that the network has not learned
    T = recalibration.TemperatureScaler().fit(held.logits, held.labels).temperature
sure, answer = (new.logits / T).softmax(dim=1).max(dim=1)
right, out = answer == new.labels, sure >= 0.9
print(f"{kept} kept, T = {T:.2f}: {right.double().mean():.1%} right, {sure.mean():.1%} sure; of 1,000 scans "
      f"{1000 * out.double().mean():.0f} go out, {1000 * (out & ~right).double().mean():.0f} of them wrong")

# %% [markdown]
# That is one network, with its luck: at 0 kept 60.0 % right, where five have a mean of 63.5 %.

# %% tags=["drawing"]
choices = [0, labels // 10, labels // 5, 3 * labels // 10, labels // 2]
spent = sweep.run(lambda kept, seed: sizes.spent(replace(size, epochs=epochs_with(kept)), labels, kept, seed),
                  {"kept": choices, "seed": seeds}, device=device)


def repaired(one):
    """Probabilities on new scans, after the T of the scans that were kept."""
    test, held = one.predictions["test"], one.predictions.get("kept")
    if held is None:
        return test.probs.double(), test.labels
    scaler = recalibration.TemperatureScaler().fit(held.logits, held.labels)
    return scaler.probs(test.logits), test.labels


pairs = {k: [repaired(one) for one in spent.where(kept=k)] for k in choices}
over = {palette.CONFIDENCE: lambda p, y: p.amax(dim=1).mean().item(), palette.ACCURACY: metrics.accuracy}
spending = {role: np.array([[measure(*pair) for pair in pairs[k]] for k in choices]).T
            for role, measure in over.items()}

# %% [markdown]
# **Predict before you run:** of 0, 15, 30, 45 and 75 labels kept, which number would you choose? How many points of
# accuracy does it cost?

# %% tags=["answer", "drawing"]
# your guess first, then run this cell
def spending_frame(k):
    sure, right = (rows[:, choices.index(k)].mean() for rows in spending.values())
    return explorers.along_frame(
        explorers.pooled([metrics.reliability(*pair) for pair in pairs[k]]), k, choices, spending,
        x_label="labels kept for T", x_ticks=choices, title=f"{k} of {labels} labels kept",
        readout=f"{k} of {labels} labels kept for T: accuracy {right:.1%}, mean confidence {sure:.1%}, "
        f"signed gap {sure - right:+.1%}")


for k in choices:
    probs, truth = (torch.cat(parts) for parts in zip(*pairs[k], strict=True))
    sure, answer = probs.max(dim=1)
    out, right = sure >= 0.9, (answer == truth).double()
    print(f"{k} kept: {right.mean():.1%} right, gap {sure.mean() - right.mean():+.1%}; of 1,000 "
          f"{1000 * out.double().mean():.0f} go out, {1000 * (out * (1 - right)).mean():.0f} of them wrong")
accuracies = spending[palette.ACCURACY]  # (seeds, choices)
for place, k in enumerate(choices[1:], start=1):
    cost, low, high = 100 * np.array(verdicts.interval((accuracies[:, place] - accuracies[:, 0]).tolist()))
    print(f"accuracy with {k} kept, minus that with 0: {cost:+.1f} points, 95 % interval [{low:+.1f}, {high:+.1f}]")
explorers.Explorer(
    spending_frame, explorers.Slider("labels kept for T", choices),
    description="Left, the reliability diagram of the networks of all seeds after the temperature that was fitted on "
    "the labels kept back. Right, against the number of labels kept: accuracy and mean confidence; the bands span the "
    "seeds, the grey line marks the chosen number.")

# %% [markdown]
# <details><summary>What came out</summary>
#
# Keep 30. Their cost in accuracy cannot be told from 0: +0.1 points over the five networks, with an interval from -0.9 to +1.1. The gap
# falls to 3 points. (With 15 kept the other 135 make two batches, one of only 7 scans, and cost 3.0 points; in one batch, for as many steps, 0.6.) Of 1,000 scans 18 go out with a wrong answer, not 117. The price: 196 go out at all, not 562. And 75 kept cost 5 points.
#
# </details>
#
# ## 3. Ben: "I see no gap on my 30 scans"
#
# Ben looks at the kept scans *before* any temperature. "The gap on my 30 is small. We need no Eve." With other 30 scans the gap would be another. How
# different? For each scan take its difference: the confidence minus 1 if the answer is right, the confidence if it is wrong. The gap is the
# mean of these n differences. Their standard deviation (with n - 1) divided by √n is the **standard error**. From 1.96
# standard errors below the mean to 1.96 above it reaches the **95 % interval**: of 100 such intervals, each from other scans, about 95 contain the gap on all scans.
#
# ### Exercise: a gap and its interval
#
# *Difficulty: medium · importance: high · 8 minutes*
#
# Write it, from `probs` (n, K) and `labels` (n,). Return three numbers: lower end, gap, upper end. You will use it
# again in lesson 17.


# %%
def my_gap_interval(probs, labels):
    # 1. confidence and prediction of each row
    # 2. confidence minus 1 (right) or 0 (wrong), in float64
    # 3. their mean, and 1.96 standard errors to each side
    ...


check.gap_interval(my_gap_interval)

# %% [markdown]
# <details><summary>Hint</summary>
#
# `confidence, predicted = probs.double().max(dim=1)`. A comparison becomes 1 and 0 by `.double()`. The standard deviation
# of `off` is `off.std()`.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_gap_interval(probs, labels):
#     confidence, predicted = probs.double().max(dim=1)
#     right = (predicted == labels).double()
#     off = confidence - right
#     gap = off.mean()
#     half = 1.96 * off.std() / len(off) ** 0.5
#     return gap - half, gap, gap + half
# ```
#
# </details>
#
# **Keep it**, and look at Ben's scans with it:

# %%
check.keep(my_gap_interval)

# %%
from calibkit.course.mine import gap_interval

for seed in seeds:
    said = spent.one(kept=choices[2], seed=seed).predictions  # before any temperature
    few, many = (gap_interval(said[part].probs, said[part].labels) for part in ("kept", "test"))
    print(
        f"network {seed}: on {len(said['kept'].labels)} scans kept, gap {few[1]:+.0%} "
        f"[{few[0]:+.0%}, {few[2]:+.0%}]; "
        f"on {len(said['test'].labels):,} new ones {many[1]:+.1%} [{many[0]:+.1%}, {many[2]:+.1%}]"
    )

# %% [markdown]
# On 30 scans each interval is 25 to 33 points wide. For two of five networks (1 and 2) it contains 0 (that of 3 begins just above), though the 10,000 new scans show a gap of more than 20
# points. And never measure on the scans that T was fitted on: there the gap looks smaller than it is.
#
# ## The answer
#
# **Not by enough: with a tenth of the scans the accuracy is 15 points lower, the confidence only 8. So keep 30 of the 150 labels
# back for a temperature: no cost in accuracy was seen, and the gap falls from 21 points to 2.6.**
#
# ## Three things to take away
#
# 1. A network is right and sure on all that it learned, with many images as with few. So it cannot know how little it saw.
# 2. A few labels kept back repair more than they cost.
# 3. Thirty labels repair a gap on average, and cannot measure it: give every gap its interval.
#
# ## Recall
#
# <details><summary>1. Why does a network trained on 150 images not become careful by itself?</summary>
#
# On its training images it is right and sure, as with 1,500. The loss meets no new one.
#
# </details>
#
# <details><summary>2. The hospital keeps 75 of 150 labels. What does it win and what does it lose, beside 30?</summary>
#
# Nothing to speak of in calibration; more than 5 points of accuracy.
#
# </details>
#
# <details><summary>3. A gap of +4 points on 30 images, interval [-10, +18]. Is the network calibrated?</summary>
#
# One cannot tell: the interval contains 0, and gaps up to 18 points.
#
# </details>
#
# ## Go further
#
# *All that follows may be left out. Next: [06 Label noise](06_label_noise.ipynb).*
#
# ### More data from the same data: is a flipped 2 still a 2?
#
# An **augmentation** changes a training image at random each time it is shown. The label must still be right for the
# changed image, and such an image must be one that could come. *Shift* moves the digit by a pixel at most. *Fresh noise*
# takes the clean original and draws its noise anew, which nobody can do outside this course. *Flip* mirrors it.

# %% tags=["drawing"]
sharp, luck = sizes.clean(size, SEED), torch.Generator().manual_seed(SEED)
two = (sharp.labels == 2).nonzero()[0]
shown = {
    "clean 2": sharp.inputs[two],
    "shift": sizes.shift(sharp.inputs[two], luck),
    "flip": sharp.inputs[two].flip(-1),
    "fresh noise": sizes.add_noise(sharp.inputs[two], luck),
}
fig, axes = plt.subplots(1, len(shown), figsize=(9, 2.6))
for ax, (name, image) in zip(axes, shown.items(), strict=True):
    _ = ax.imshow(image[0, 0], cmap="gray_r", vmin=0, vmax=1)
    _ = ax.set_title(name)
    ax.axis("off")
    _ = alt_text.note(
        ax, f"{name}: 8 by 8 pixels, grey values {image.min():.1f} to {image.max():.1f}."
    )

# %% [markdown]
# **Predict before you run:** with all 1,500 images, which of none, shift, fresh noise and flip has the smallest gap, and
# which the highest accuracy?

# %% tags=["answer"]
ways = ["shift", "fresh noise", "flip"]
changed = sweep.run(
    lambda way, seed: sizes.augmented(size, way, seed), {"way": ways, "seed": seeds}, device=device
)
all_images = {"none": swept.where(fraction=1.0)} | {way: changed.where(way=way) for way in ways}
for way, runs in all_images.items():
    tests = [run.predictions["test"] for run in runs]
    right = np.mean([metrics.accuracy(test.probs, test.labels) for test in tests])
    gap = np.mean([metrics.signed_gap(test.probs, test.labels) for test in tests])
    print(f"{way}: accuracy {right:.1%}, gap {gap:+.1%}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# Fresh noise is best in both. Shift makes the gap small, too, but *costs* accuracy: a moved digit keeps a label that may no longer be the
# likeliest (with labels from its exact posterior shift *raises* the accuracy: [evidence](evidence/05_dataset_size.ipynb)). Flip costs as much and leaves the gap: a flipped 2 is no 2. A small gap alone does not show
# that an augmentation suits the data.
#
# </details>
#
# ### Exercise: a vendor's claim (homework)
#
# *Difficulty: hard · importance: medium · 15 minutes, no code*
#
# A vendor reports: "Trained on ten times the scans, our network's ECE fell from 6 % to 3 %. More data made it trustworthy." List what you
# must know before you believe it, and design the comparison that would convince you.
#
# <details><summary>Answer</summary>
#
# Ask for: the number of test images, and whether the test set was the same (a smaller test set alone raises ECE, lesson
# 02); how many seeds, and their range; whether epochs or steps were held equal, and the batch size; whether the new
# scans come from the same hospitals as the test; whether a temperature was fitted for one of the two only; the accuracy
# and the signed gap (an ECE of 3 % may be under-confidence). The design: one fixed test set; **nested** parts of one pool
# (each smaller one lies within the larger); several seeds, paired; once at equal epochs and once at equal steps; a proper
# score beside the ECE. "Trustworthy" does not follow from an ECE alone.
#
# </details>
#
# All sizes, steps, augmentations and photographs, with their verdicts: [evidence](evidence/05_dataset_size.ipynb). Your
# numbers differ? [Why](your_numbers_differ.md).
#
# ## References
#
# - *Dataset Curation Beyond Accuracy*. Anonymous authors, paper under double-blind review. (sections 3 and 4)
# - Guo, Pleiss, Sun, Weinberger: *On Calibration of Modern Neural Networks*. ICML 2017.
#   [arXiv:1706.04599](https://arxiv.org/abs/1706.04599) (temperature)
# - Zhang, Bengio, Hardt, Recht, Vinyals: *Understanding deep learning requires rethinking generalization*. ICLR 2017.
#   [arXiv:1611.03530](https://arxiv.org/abs/1611.03530) (networks fit their training set)
