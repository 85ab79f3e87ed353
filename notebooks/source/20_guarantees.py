# %% [markdown]
# # 20 · Guarantees: of which images are the 90 % true?
#
# **Question.** A hospital reads handwritten doses with a program that does not name one digit but a set, such as
# {3, 8}. Its maker gives a guarantee: *the right digit is in the set with probability 90 %*. A nurse holds one image in her hand, from the
# noisiest of three scanners. Is the guarantee true of this image?
#
# **Predict before you run:** of 1,000 images from the noisy scanner, in how many does the set hold the right digit? Write down a number.

# %% tags=["answer"]
from calibkit.course import explorers

explorers.stored("promises")

# %% [markdown]
# <details><summary>What came out</summary>
#
# 754 (75 %). It is 97 % on the clear scanner, 89 % on the usual one, and 90 % of all images: the promise is kept on average.
#
# Left: four digits, each taken by three scanners. Below each the set, and how probably it holds the right digit. (A cross: here it does not.
# With 97 % that happens to 3 such images of 100.) Move the slider to other promises.
#
# </details>
#
# **Time.** 35 minutes; 35 more for the homework.
#
# **Needs.** [08 Temperature](08_temperature.ipynb).
#
# **Next on your path.** *Decisions*: [17](17_audit_your_model.ipynb).

# %% tags=["drawing"]
import math
from functools import cache, partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from mapie.classification import SplitConformalClassifier

from calibkit import conformal
from calibkit.course import check
from calibkit.course.experiments import scanners
from calibkit.course.scale import begin
from calibkit.lab import data, sweep
from calibkit.pictures import alt_text, palette, plots

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% [markdown]
# ## 1. A threshold on a line
#
# The images come from three scanners. How well can they be read?

# %%
size, seeds, device = begin(SCALE, SEED, DEVICE)
test, test_scanner = scanners.part(size, "test", SEED)
for k, (name, noise) in enumerate(scanners.SCANNERS.items()):
    own = test_scanner == k
    best = test.posterior[own].amax(dim=1).mean()
    print(f"{name} scanner, pixel noise {noise}: {own.double().mean():.0%} of the images; the best possible "
          f"reader is right on {best:.1%}")

# %% [markdown]
# Five networks are trained, each with its temperature; the figure is about the first. The **score** of a digit is 1 minus its probability. Left,
# the scores of the *true* digits of 1,000 labelled images that nobody has trained on (*calibration images*): a dot far to the right is a
# surprise. About 90 % lie to the left of the black line, the threshold. Right, a new image: its **prediction set** holds every digit whose
# score is at most this threshold. Where no digit reaches the line, the set is empty.

# %%
decay = scanners.chosen()["cross-entropy"]["decay"]  # weight decay, chosen on other seeds
recipe = partial(scanners.trial, size, "cross-entropy", 0.0, decay)
swept = sweep.run(recipe, {"seed": seeds}, device=device)

# %% tags=["drawing"]
alpha = 0.1  # promised: 90 %


@cache
def reading(seed):
    """Probabilities of each part after T, its images, and which scanner took them."""
    tune = scanners.part(size, "tune", seed).data
    probs = scanners.temperature(scanners.of_network(swept.one(seed=seed)), tune)
    return probs, *scanners.part(size, "cal", seed), *scanners.part(size, "test", seed)


probs, cal, cal_scanner, *_ = reading(SEED)
scores = 1 - probs["cal"][range(len(cal)), cal.labels]
threshold = conformal.conformal_quantile(scores, alpha)
two = ((1 - probs["test"] <= threshold).sum(dim=1) - 2).abs().argmin().item()  # a set of two digits
bars, exact = probs["test"][two], test.posterior[two]

# %% tags=["drawing"]
fig, axes = plt.subplots(1, 2, figsize=(9, 3.2))
height = np.random.default_rng(0).random(len(scores))
above = (scores > threshold).numpy()
for part, look in ((~above, palette.SKY), (above, palette.VERMILLION)):
    _ = axes[0].plot(scores[part], height[part], ".", ms=3, color=look)
_ = axes[0].axvline(threshold, color=palette.BLACK)
_ = axes[0].set(xlabel="score of the true digit, 1 - p", yticks=[], title=f"{len(cal):,} calibration images")
inside = ((1 - bars) <= threshold).numpy()
colours = [palette.SKY if one else "white" for one in inside]
_ = axes[1].bar(range(10), bars, color=colours, edgecolor=palette.BLACK, label="network")
_ = axes[1].plot(range(10), exact, "D", color=palette.BLACK, ms=4, label="exact posterior")
_ = axes[1].axhline(1 - threshold, color=palette.BLACK)
_ = axes[1].set(xlabel="digit", ylabel="probability", xticks=range(10), title="a new image, cut at 1 - threshold")
plots.percent(axes[1], "y")
_ = axes[1].legend()
members = np.flatnonzero(inside).tolist()
_ = alt_text.note(axes[0], f"The scores of {len(cal)} calibration images on a line from 0 to 1; a threshold at "
                  f"{threshold:.2f} has {above.sum()} of them above it.")
_ = alt_text.note(axes[1], f"Ten bars of one new image; those of {members} are above {1 - threshold:.2f}, so they "
                  "are its set.")
plt.show()
print(f"threshold {threshold:.3f}: {above.sum()} of {len(cal)} scores above it; the set is {members}, and holds the "
      f"right digit with {exact[members].sum():.0%}")

# %% tags=["drawing"]
promises = [0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98]


def scored(seed):
    """The thresholds of a network, and the exact coverage of groups at each promise."""
    said, cal, _, test, scanner = reading(seed)
    known = 1 - said["cal"][range(len(cal)), cal.labels]
    limits = [conformal.conformal_quantile(known, 1 - promise) for promise in promises]
    masks = [torch.ones(len(test), dtype=torch.bool)] + [scanner == k for k in range(3)]
    found = [conformal.coverage_at(1 - said["test"][m], test.posterior[m], limits).numpy() for m in masks]
    sizes = [(1 - said["test"] <= limit).double().sum(dim=1).mean().item() for limit in limits]
    return limits, np.array(found), sizes


by_seed = [scored(seed) for seed in seeds]
limits = by_seed[0][0]
found, sizes = (np.mean([one[k] for one in by_seed], axis=0) for k in (1, 2))

# %% tags=["drawing"]
every = palette.Role("all images", palette.BLACK, (), "X")
roles = [every, *(palette.group(k, f"{name} scanner") for k, name in enumerate(scanners.SCANNERS))]
drawn = {name: data.NoisyDigits(noise).draw(200, seed=SEED + 7) for name, noise in scanners.SCANNERS.items()}
clean = data.NoisyDigits(1e-6).draw(200, seed=SEED + 7).inputs[:, 0].numpy()
one = swept.one(seed=SEED)
T = scanners.fitted(scanners.of_network(one), scanners.part(size, "tune", SEED).data)
with torch.no_grad():
    says = {name: (one.model.cpu()(part.inputs).double() / T).softmax(dim=1) for name, part in drawn.items()}
of_noisy = conformal.exact_coverage(1 - says["noisy"] <= limits[promises.index(0.9)], drawn["noisy"].posterior)
order = of_noisy.argsort()
chosen = [order[int(share * len(order))].item() for share in (0.1, 0.3, 0.5, 0.9)]


def promised_frame(promise):
    limit, rows = limits[promises.index(promise)], {}
    for name, part in drawn.items():
        members = 1 - says[name] <= limit
        mass = conformal.exact_coverage(members, part.posterior)
        rows[f"{name} scanner"] = [
            explorers.Example(clean[k], part.inputs[k, 0].numpy(), int(part.labels[k]),
                              members[k].nonzero()[:, 0].tolist(), mass[k].item()) for k in chosen]
    lines = dict(zip(roles, found, strict=True))
    return explorers.promise_frame(promise, rows, promises, lines, size=sizes[promises.index(promise)])

# %% tags=["drawing"]
explorers.keep(explorers.Explorer(
    promised_frame,
    explorers.Slider("promised", promises, show=lambda share: f"{100 * share:.0f} %", start=0.9), play=True,
    description="Left, the same four digits taken by three scanners, the clean digit beside each image. Below "
    "it the set, with a cross if it lacks the right digit, and how probable it is by the exact posterior that the "
    "set holds the right digit. Right, against the promise, how often sets hold the right digit, for all images "
    "and for each scanner; on the broken line the promise is kept."), "promises")

# %% [markdown]
# This is **split conformal prediction**. The threshold is the $k$-th smallest of the $n$ calibration scores. Why is the promise kept? The new
# image is of the same kind as the calibration images. So its score is equally likely to be the smallest of all $n + 1$, the second smallest, and so on. With
# probability $k / (n+1)$ it is among the first $k$: then it is at most the threshold, and the true digit is in the set. For a promise of
# $1 - \alpha$ we take the least $k$ for which $k / (n+1)$ is at least $1 - \alpha$:
#
# $$k = \lceil (n + 1)(1 - \alpha) \rceil .$$
#
# The network need not be good, and needs no temperature: a bad one gets large sets.
#
# ### Exercise: the threshold
#
# *Difficulty: medium · importance: high · 8 minutes*
#
# Return the $k$-th smallest of `scores` (n,). Where $k > n$ there are too few images for the promise: return 1, which
# lets every digit into the set. The next cell uses yours; later ones the same from the package.


# %%
def my_conformal_threshold(scores, alpha):
    # 1. k, from the number of scores
    # 2. 1 where k > n
    # 3. the scores in order, and the k-th of them
    ...


check.conformal_threshold(my_conformal_threshold)

# %% [markdown]
# <details><summary>Hint</summary>
#
# `math.ceil` rounds up. `scores.sort().values[0]` is the smallest score.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# import math
#
# def my_conformal_threshold(scores, alpha):
#     place = math.ceil((len(scores) + 1) * (1 - alpha))
#     return scores.sort().values[place - 1] if place <= len(scores) else 1.0
# ```
#
# </details>

# %%
check.keep(my_conformal_threshold)

# %% [markdown]
# **Your move.** The sets by hand, and by a library (MAPIE). Change `missed`.

# %%
from calibkit.course.mine import conformal_threshold

missed = 0.1  # change me: 90 % are promised

known = 1 - probs["cal"][range(len(cal)), cal.labels]  # probs: of the first network, by part
threshold = float(conformal_threshold(known, missed))
sets = 1 - probs["test"] <= threshold

ready = SplitConformalClassifier(scanners.Stated(), confidence_level=1 - missed, prefit=True)
_ = ready.conformalize(probs["cal"].numpy(), cal.labels.numpy())
theirs = ready.predict_set(probs["test"].numpy())[1][:, :, 0]  # [1]: the sets, (n, 10, 1)
print(f"first network: threshold {threshold:.3f}; {sets.double().sum(dim=1).mean():.2f} digits a set; "
      f"{(sets.numpy() == theirs).all(axis=1).mean():.1%} of the sets are equal to MAPIE's")

# %% [markdown]
# ## 2. Of which images?
#
# How often does a set hold the right digit? We know the posterior $q$ of each image, so we need no labels: with probability
# $\sum_{k \in \text{set}} q_k$. The mean of this number over the images of a group is its **exact coverage**.
#
# **Your turn**: the noisy scanner has less than 80 %, as you saw. Which of eight other groups have, too: the clear and the usual scanner; easy,
# medium and hard images; zeros, eights, nines? (Easy: the exact posterior gives one digit more than 95 %. Hard: no digit gets 60 %.)

# %% tags=["drawing"]
def of_network(seed):
    """Sets with one threshold, the posterior and the scanner of the test images."""
    said, cal, _, new, scanner = reading(seed)
    known = 1 - said["cal"][range(len(cal)), cal.labels]
    return 1 - said["test"] <= conformal.conformal_quantile(known, alpha), new.posterior, scanner


common, posterior, scanner = map(torch.cat, zip(*map(of_network, seeds), strict=True))  # of five networks

# %% tags=["answer"]
guess = {"medium images", "eights"}  # change me: which groups have less than 80 %?

mass = conformal.exact_coverage(common, posterior)
groups = {f"{name} scanner": scanner == k for k, name in enumerate(scanners.SCANNERS)}
groups |= {f"{name} images": mask for name, mask in scanners.difficulty(posterior).items()}
covered = {name: mass[group].mean().item() for name, group in groups.items()}
# the label decides the digit: each image counts with its probability of being this digit
of_digit = (common * posterior).sum(dim=0) / posterior.sum(dim=0)
covered |= {name: of_digit[k].item() for name, k in {"zeros": 0, "eights": 8, "nines": 9}.items()}
below = {name for name, share in covered.items() if share < 0.8} - {"noisy scanner"}
print(f"{len(guess & below)} of {len(below)} found, {len(guess - below)} named without need; "
      f"below 80 %: {sorted(below)}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# The hard images, with 64 %. The medium images and the eights have 83 %.
#
# </details>

# %% tags=["drawing"]
fig, axes = plt.subplots(1, 2, figsize=(9.4, 3.2), gridspec_kw={"width_ratios": [1.2, 1]})
part = {name: group.double().mean() for name, group in groups.items()}
part |= {name: posterior[:, k].mean() for name, k in {"zeros": 0, "eights": 8, "nines": 9}.items()}
bars = {f"{name} ({part[name]:.0%})": share for name, share in covered.items()}
_ = axes[0].barh(list(bars), list(bars.values()), color=palette.SKY)
_ = axes[0].axvline(1 - alpha, color=palette.BLACK, linestyle="--")
_ = axes[0].set(xlabel="exact coverage", xlim=(0, 1))
plots.percent(axes[0], "x")
axes[0].invert_yaxis()
equal = np.full(len(mass), 1 / len(mass))
_ = axes[1].hist(mass.numpy(), bins=np.linspace(0, 1, 21), color=palette.SKY, weights=equal)
_ = axes[1].axvline(1 - alpha, color=palette.BLACK, linestyle="--")
_ = axes[1].set(xlabel="exact probability that the set holds the digit", ylabel="share of images")
plots.percent(axes[1], "xy")
few, sure = (mass < 0.5).double().mean(), (mass > 0.99).double().mean()
told = ", ".join(f"{name} {share:.0%}" for name, share in covered.items())
_ = alt_text.note(axes[0], f"Exact coverage of groups where 90 % was promised: {told}.")
_ = alt_text.note(axes[1], f"Exact probability, image by image: above 99 % for {sure:.0%} of the images, below 50 % "
                  f"for {few:.0%}.")
plt.show()
print(f"sets that hold the digit with more than 99 %: {sure:.0%} of the images; with less than 50 %: {few:.0%}; "
      f"on average {mass.mean():.1%}")

# %% [markdown]
# The right picture: hardly any image has about 90 %. Most sets are nearly certain, and some are wrong more often than right. What was promised is the
# *mean* of this picture, the **marginal coverage**. What the nurse would like is **conditional coverage**: 90 % on each image, or at least on each kind.
#
# ## 3. Eve: "Ask for what you need"
#
# "You want 90 % on the noisy scanner? Then say so." Eve gives each scanner a threshold from its own calibration images. These are **Mondrian sets**.

# %%
def with_own(seed):
    said, cal, taken, _, scanner = reading(seed)
    known = 1 - said["cal"][range(len(cal)), cal.labels]
    each = conformal.group_quantiles(known, taken, alpha)  # a threshold for each scanner
    return 1 - said["test"] <= each[scanner][:, None]


own = torch.cat([with_own(seed) for seed in seeds])
shown = ("clear scanner", "usual scanner", "noisy scanner", "hard images")
for name in shown:
    for way, some in {"one threshold": common, "one for each scanner": own}.items():
        share = conformal.exact_coverage(some, posterior)[groups[name]].mean()
        print(f"{name}, {way}: {share:.1%}, {some[groups[name]].double().sum(dim=1).mean():.2f} digits a set")

# %% [markdown]
# Each scanner now has what was promised. The noisy one pays with larger sets. Hard images, a group that nobody named, have 82 %.
#
# ## 4. Ben: "A better network keeps it for each image"
#
# Let the exact posterior make the sets. No network is better. Like the networks it gets *one* threshold for the score 1 - p.
#
# **Predict before you run:** the networks cover 64 % of the hard images. What share does the posterior cover?

# %% tags=["answer", "drawing"]
# your guess first, then run this cell
rows, empty = [], []
for seed in seeds:
    said, _, _, new, _ = reading(seed)
    kinds = {"hard": scanners.difficulty(new.posterior)["hard"]}
    drawn = torch.tensor(scanners.thresholds(new.posterior, new.posterior, scanners.CAL, alpha, 20, seed))
    empty.append((new.posterior[kinds["hard"]].amax(dim=1)[:, None] < 1 - drawn).double().mean().item())
    for name, reader in {"networks": said["test"], "exact posterior": new.posterior}.items():
        found = scanners.averaged(reader, new.posterior, kinds, alpha, seed=seed)
        rows.append({"reader": f"{name}, one threshold for the score 1 - p", **found})
for name, part in pd.DataFrame(rows).groupby("reader", sort=False):
    print(f"{name}: {part['all'].mean():.0%} of all images, {part['hard'].mean():.0%} of hard images "
          f"({part['hard'].min():.0%} to {part['hard'].max():.0%}); {part['size'].mean():.2f} digits a set")
print(f"empty sets of the posterior: {np.mean(empty):.0%} of hard images")
each_image = conformal.smallest_sets(posterior, 1 - alpha)
kept, hard = conformal.exact_coverage(each_image, posterior), groups["hard images"]
print(f"exact posterior, 90 % on each image: {kept.mean():.0%} of all images, {kept[hard].mean():.0%} of hard images; "
      f"{each_image.double().sum(dim=1).mean():.2f} digits a set")

# %% [markdown]
# <details><summary>What came out</summary>
#
# Fewer, 51 % (50 to 53 over five sets of images). With one threshold the posterior makes the smallest sets that have 90 % on average. Say
# five digits of a hard image have 20 % each: one of them makes the set a digit longer and brings 20 %; on another image a digit brings 80 %. So the digits of
# hard images go first, down to the last one: 16 % of their sets are empty, and the nurse must read the image herself.
#
# With a threshold for each image the posterior *can* keep the promise on each (last line): a set takes the most probable digits until their
# sum is 90 % or more. Without the posterior no method can promise that for all kinds of data, unless its sets become uselessly large (Vovk
# 2012; Lei, Wasserman 2014).
#
# </details>
#
# ## The answer

# %% tags=["drawing"]
told = ", ".join(f"{name} scanner {covered[name + ' scanner']:.0%}" for name in scanners.SCANNERS)
print(f"Promised 90 %. All images {mass.mean():.1%}; {told}; hard images {covered['hard images']:.0%}.")

# %% [markdown]
# **No: the 90 % are true of the average over all images, and of no image in particular. Here they were made of 97 % on the clear scanner, 89 % on the usual one
# and 75 % on the noisy one, and hard images had 64 %; the promise can be kept for each group that you name and label.**
#
# ## Three things to take away
#
# 1. Split conformal sets keep their promise on average (over images, and over draws of calibration images), for any network, if new
#    images are of the same kind as the calibration images.
# 2. "90 %" says nothing of one image. Even the exact posterior does not repair this with one threshold.
# 3. For a group that you name the promise can be kept, with labels of its own.
#
# ## Recall
#
# <details><summary>1. 99 calibration images, alpha = 0.1. Which score is the threshold?</summary>
#
# The 90th smallest: $\lceil 100 \cdot 0.9 \rceil = 90$.
#
# </details>
#
# <details><summary>2. Why can 8 images not promise 90 %?</summary>
#
# $k = \lceil 9 \cdot 0.9 \rceil = 9 > 8$. Even the largest of 8 scores is exceeded by a ninth one with probability 1/9, which is more than 10 %.
#
# </details>
#
# <details><summary>3. An image has the posterior (.7, .2, .1) and the set {0}. How large is its coverage?</summary>
#
# 70 %, whatever was promised.
#
# </details>
#
# ## Go further
#
# *All that follows may be left out. Next: [17 Audit your own model](17_audit_your_model.ipynb). All verdicts, other scores, and what it costs to decide by sets:
# [evidence](evidence/20_guarantees.ipynb).*
#
# ### Exercise: three wrong sentences
#
# *Difficulty: medium · importance: medium · 4 minutes, no code*
#
# The maker's leaflet. Which three sentences are wrong?
#
# 1. Over all images of these three scanners, in these shares, about 90 % of the sets hold the right digit.
# 2. This set is {3, 8}. So the digit is a 3 or an 8 with probability 90 %.
# 3. The guarantee does not need a calibrated network.
# 4. On each of the three scanners about 90 % of the sets hold the right digit.
# 5. With 1,000 calibration images in place of 20 you can rely on your own threshold more.
# 6. The hospital buys a fourth scanner. The guarantee holds for it, too.
#
# <details><summary>Answer</summary>
#
# **2**, **4** and **6**. 2 and 4: the average is over all images. It is not promised for this one, nor for one scanner; the noisy one had 75 %.
# 6: the new images must be of the same kind as the calibration images, and a fourth scanner is another kind (the evidence tries
# it). 1 is the guarantee. 3: a bad network gets larger sets. 5: with 20 images the coverage of your own threshold may well be 80 % (see "Twenty images" below).
#
# </details>
#
# ### Twenty images
#
# We draw new calibration images many times. Threshold and coverage change.
#
# **Predict before you run:** with 20 images each time, between which two values do the middle nine of ten coverages lie?

# %% tags=["answer", "drawing"]
# your guess first, then run this cell
fig, ax = plt.subplots(figsize=(6, 2.8))
told = []
for place, n in enumerate((20, 100, 1000)):
    limits = scanners.thresholds(probs["test"], test.posterior, n, alpha, 5 * size.draws, SEED)
    found = conformal.coverage_at(1 - probs["test"], test.posterior, limits).numpy()
    law = conformal.coverage_law(n, alpha)
    low, high = np.quantile(found, [0.05, 0.95])
    across = np.linspace(0.7, 1, 301)
    look = palette.group(place, f"{n:,} calibration images")
    _ = ax.hist(found, bins=np.linspace(0.7, 1, 61), density=True, color=look.pale)
    _ = ax.plot(across, law.pdf(across), color=look.colour, label=look.words)
    told.append(f"{n} images: nine of ten between {low:.1%} and {high:.1%}")
    print(f"{n:5,} calibration images: mean coverage {found.mean():.1%}, nine of ten between {low:.1%} and {high:.1%}")
_ = ax.set(xlabel="exact coverage", ylabel="density", xlim=(0.7, 1))
plots.percent(ax, "x")
_ = ax.legend()
_ = alt_text.note(ax, f"Exact coverage over {5 * size.draws} calibration sets, bars, and its Beta law, lines. "
                  f"{'; '.join(told)}.")
plt.show()

# %% [markdown]
# <details><summary>What came out</summary>
#
# With 20 images from below 80 to 98 %, with 1,000 from 88 to 92 %. The mean over calibration sets is what was promised (or a little more, as k is rounded up). So the
# guarantee is also an average over calibration sets, and you have only one such set. The lines in the figure are what theory predicts:
# a *Beta* distribution. It depends only on $n$ and $\alpha$, not on the network.
#
# </details>
#
# ### Exercise: exact coverage
#
# *Difficulty: medium · importance: high · 6 minutes*
#
# `sets` (n, K) is True where a class is in the set, `posterior` is (n, K), `group` (n,) is True for the images that you
# ask about, chosen without their labels (for a group such as all eights section 2 has another formula). Return their exact coverage: one number.

# %%
def my_set_coverage(sets, posterior, group):
    ...  # your code here


check.set_coverage(my_set_coverage)

# %% [markdown]
# <details><summary>Hint</summary>
#
# `sets * posterior` keeps the probabilities of the classes in the sets. Sum each row, keep the rows of the group, then
# the mean.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_set_coverage(sets, posterior, group):
#     inside = (sets * posterior).sum(dim=1)
#     return inside[group].mean()
# ```
#
# </details>
#
# ### Exercise: thresholds for groups (homework)
#
# *Difficulty: medium · importance: medium · 10 minutes*
#
# `groups` (n,) has a number 0 ... G - 1 for each score. Return the threshold of each group, (G,): the $k$-th smallest of its
# own scores, and 1 where the group has too few.

# %%
def my_group_thresholds(scores, groups, alpha):
    ...  # your code here


check.group_thresholds(my_group_thresholds)

# %% [markdown]
# <details><summary>Hint</summary>
#
# `scores[groups == 0]` are the scores of the first group. Both $k$ and $n$ are those of the group.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# import math
#
# def my_group_thresholds(scores, groups, alpha):
#     found = torch.ones(int(groups.max()) + 1, dtype=scores.dtype)
#     for group in range(len(found)):
#         own = scores[groups == group].sort().values
#         place = math.ceil((len(own) + 1) * (1 - alpha))
#         if place <= len(own):
#             found[group] = own[place - 1]
#     return found
# ```
#
# </details>
#
# ### A set of one digit
#
# The nurse knows the size of the set. Is a set of one digit right in 90 % of the cases? Compute the exact coverage by size.
#
# <details><summary>Answer</summary>
#
# On our digits, yes: 91 to 94 %, with each of five networks; sets of two digits have 86 to 90 %. But nobody promised it.
#
# ```python
# for seed in seeds:
#     said, cal, _, test, _ = reading(seed)
#     known = 1 - said["cal"][range(len(cal)), cal.labels]
#     found = 1 - said["test"] <= conformal.conformal_quantile(known, alpha)
#     mass, sizes = conformal.exact_coverage(found, test.posterior), found.sum(dim=1)
#     print(seed, [f"{many} digits: {mass[sizes == many].mean():.1%}" for many in (1, 2)])
# ```
#
# </details>
#
# ## References
#
# - Angelopoulos, Bates: *Conformal Prediction: A Gentle Introduction*. Foundations and Trends in Machine Learning 16, 2023.
#   [arXiv:2107.07511](https://arxiv.org/abs/2107.07511)
# - Lei, Wasserman: *Distribution-free prediction bands for non-parametric regression*. Journal of the Royal Statistical Society B
#   76, 2014. (what cannot be promised for each image)
# - Romano, Sesia, Candès: *Classification with Valid and Adaptive Coverage*. NeurIPS 2020.
#   [arXiv:2006.02544](https://arxiv.org/abs/2006.02544) (APS, in the evidence)
# - Sadinle, Lei, Wasserman: *Least Ambiguous Set-Valued Classifiers with Bounded Error Levels*. Journal of the American
#   Statistical Association 114, 2019. [arXiv:1609.00451](https://arxiv.org/abs/1609.00451) (the score 1 - p; smallest sets)
# - Vovk: *Conditional validity of inductive conformal predictors*. ACML 2012.
#   [arXiv:1209.2673](https://arxiv.org/abs/1209.2673) (the Beta law; groups; what cannot be promised)
# - Vovk, Gammerman, Shafer: *Algorithmic Learning in a Random World*. Springer 2005.
#   [doi:10.1007/b106715](https://doi.org/10.1007/b106715)
