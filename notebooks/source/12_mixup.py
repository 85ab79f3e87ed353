# %% [markdown]
# # 12 · Mixup: what do blended images teach?
#
# **Question.** "My network was 92 % sure, and right on 78 % of new images," says Ben. "Then I trained on blends of two images.
# Now it is 80 % sure, and right on 79 %. The gap is gone, and it is more accurate. Mixup wins." Does it?
#
# **Predict before you run:** a network that has never met a blend gets an image that is half a 3 and half a 7, without
# noise. How sure is it of its answer? Write down a number. Then run the cell and move the slider to the middle.

# %% tags=["answer"]
from calibkit.course import explorers

explorers.stored("blend")

# %% [markdown]
# <details><summary>What came out</summary>
#
# 93 %, and its answer is 7. The label of the blend says 50 % for each digit. A network that was trained on
# blends also says 7, with 62 %. On the right you see the same blend under noise.
#
# </details>
#
# **Time.** 35 minutes; 30 more for what may be left out.
#
# **Needs.** [08 Temperature](08_temperature.ipynb).

# %% tags=["drawing"]
import random
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from torch.nn.functional import one_hot

from calibkit import metrics, recalibration
from calibkit.course import check, verdicts
from calibkit.course.experiments import mixed, photograph_runs, soft_targets
from calibkit.course.scale import begin
from calibkit.lab import data, models, sweep, training
from calibkit.pictures import alt_text, palette, plots

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% [markdown]
# ## 1. Ben blends
#
# **Mixup** (Zhang et al. 2018) gives every image of a batch a partner from the same batch. The two images are averaged with a
# weight $\lambda$ between 0 and 1. So are their labels, as rows of probabilities:
#
# $$\tilde x=\lambda x_i+(1-\lambda)x_j\qquad\tilde y=\lambda y_i+(1-\lambda)y_j$$
#
# So the label of a blend is in doubt, and the network learns this doubt.
#
# ### Exercise: mixed labels
#
# *Difficulty: medium · importance: high · 7 minutes*
#
# Write the labels of a mixed batch, a tensor (n, classes). Given are the `labels` (n,), for each image the index of its `partner` (n,),
# the weight `lam` ($\lambda$) and the number of `classes`. The training below uses yours.


# %%
def my_mixed_labels(labels, partner, lam, classes):
    # 1. a row for each sample: 1 for its own class, 0 for the others
    # 2. the rows of the partners, in the order of the samples
    # 3. both, averaged with lam
    ...


check.mixed_labels(my_mixed_labels)

# %% [markdown]
# <details><summary>Hint</summary>
#
# `torch.nn.functional.one_hot(labels, classes)` makes the rows. The partners' rows are those same rows, indexed with `partner`.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_mixed_labels(labels, partner, lam, classes):
#     own = torch.nn.functional.one_hot(labels, classes)
#     partners = own[partner]
#     return lam * own + (1 - lam) * partners
# ```
#
# </details>

# %%
check.keep(my_mixed_labels)

# %%
from calibkit.course.mine import mixed_labels

size, seeds, device = begin(SCALE, SEED, DEVICE)
train, cal, test = soft_targets.digits(size, SEED)

# %% [markdown]
# **Your move.** This is Ben's training: the loop of lesson 03 calls `step` for each batch. $\lambda$ is drawn from a
# Beta(alpha, alpha) distribution: with alpha 0.1 most weights are near 0 or 1, with alpha 1 all are equally likely. Train with alpha 0.2 and 1.
# Then take mixup apart, at alpha 0.2: return `blend, own` (images only), then `images, both` (labels only).
#
# <details><summary>What you may have found</summary>
#
# With alpha 0.2 it is right on 79.1 % and 80.3 % sure, with alpha 1 right on 79.8 % and 73.9 % sure. Images only: right on 79.1 %, 88.5 % sure. Labels only: right
# on 78.8 %, 74.5 % sure. So it is mostly the labels that make it doubt.
#
# </details>

# %%
alpha = 0.2  # change me
chance = random.Random(SEED)

def step(images, labels, classes, generator):
    lam = chance.betavariate(alpha, alpha)
    lam = max(lam, 1 - lam)  # so each image is the larger part of its blend
    partner = torch.randperm(len(images), generator=generator, device=images.device)
    blend = lam * images + (1 - lam) * images[partner]
    own = one_hot(labels, classes).float()
    both = torch.as_tensor(mixed_labels(labels, partner, lam, classes)).float()
    return blend, both  # change me

run = training.fit(partial(models.mlp, 64, 10, width=64), train, mix=step, weight_decay=5e-4,
                   epochs=size.epochs, seed=SEED, device=device, progress=False)
new = run.predict(test)
print(f"alpha {alpha}: {new.correct.double().mean():.1%} right, {new.confidence.mean():.1%} sure")

# %% [markdown]
# ## 2. Eve divides
#
# "You needed a new training," says Eve. "I divide the logits of your old network by one temperature, and its gap is gone,
# too." Here are five networks for each alpha, as trained; 0 is without mixup. Move the slider:

# %% tags=["drawing"]
alphas = [0.0, 0.1, 0.2, 0.5, 1.0, 2.0]
small = 5e-4  # the weight decay


def recipe(way, strength, decay, seed):
    # mixup of strength 0 blends nothing, so it is plain cross-entropy
    way = "cross-entropy" if strength == 0 and way == "mixup" else way
    return mixed.trial(size, way, strength, decay, seed)


grid = {"way": ["mixup"], "strength": alphas, "decay": [small], "seed": seeds}
swept = sweep.run(recipe, grid, device=device)

# %% tags=["drawing"]
def measured(outcomes):
    """One row a seed: as trained, and after one temperature (T) from the images of cal."""
    rows = []
    for one in outcomes:
        learned, held, new = (one.predictions[part] for part in ("train", "cal", "test"))
        T = recalibration.TemperatureScaler().fit(held.logits, held.labels)
        probs = T.probs(new.logits)
        rows.append({"accuracy": metrics.accuracy(new.probs, new.labels), "confidence": new.confidence.mean().item(),
                     "on training": learned.confidence.mean().item(), "T": T.temperature,
                     "raw ECE": metrics.ece(new.probs, new.labels), "ECE": metrics.ece(probs, new.labels),
                     "NLL": metrics.nll(probs, new.labels)})
    return pd.DataFrame(rows)


def at(alpha):
    return swept.where(way="mixup", strength=alpha, decay=small)


found = {alpha: measured(at(alpha)) for alpha in alphas}
lines = {role: np.stack([found[alpha][column] for alpha in alphas], axis=1)
         for column, role in (("accuracy", palette.ACCURACY), ("confidence", palette.CONFIDENCE))}

# %% tags=["drawing"]
def frame(alpha):
    pooled = explorers.pooled([metrics.reliability(one.predictions["test"].probs, one.predictions["test"].labels)
                               for one in at(alpha)])
    mean = found[alpha].mean()
    readout = (f"alpha {alpha:g}: accuracy {mean.accuracy:.1%}, mean confidence {mean.confidence:.1%}, "
               f"ECE {mean['raw ECE']:.1%}, signed gap {mean.confidence - mean.accuracy:+.1%}")
    return explorers.along_frame(pooled, alpha, alphas, lines, x_label="alpha", x_ticks=(0, 0.5, 1, 2),
                                 readout=readout, title=f"mixup, alpha {alpha:g}" if alpha else "no mixup")


slider = explorers.Explorer(
    frame, explorers.Slider("alpha", alphas, show="{:g}".format), play=True,
    description="Left, the reliability diagram of the networks of all seeds for one alpha: a bar below the "
    "diagonal is over-confident. Right, accuracy and mean confidence against alpha; the bands span the seeds, "
    "the grey line marks the chosen alpha.")
explorers.keep(slider, "mixup_alpha")
slider

# %% tags=["drawing"]
plain, blended = (at(alpha)[0].model.cpu() for alpha in (0.0, 1.0))
clean = data.digits(seed=SEED).train
pair = torch.stack([clean.inputs[clean.labels == digit][0] for digit in (3, 7)])
noisy = pair + 0.4 * torch.randn(pair.shape, generator=torch.Generator().manual_seed(SEED))


def blend_of(share):
    two = torch.stack([share * one[0] + (1 - share) * one[1] for one in (pair, noisy)])
    with torch.no_grad():
        says = [network(two).softmax(dim=1).numpy() for network in (plain, blended)]
    return explorers.blend_frame(two[:, 0].numpy(), (3, 7), share, *says)


explorers.keep(explorers.Explorer(
    blend_of,
    explorers.Slider("share of the 3", [k / 10 for k in range(11)], show=lambda s: f"{100 * s:.0f} %", start=0.9),
    description="A blend of a 3 and a 7, left without noise, right under noise, and below it the probability of "
    "every class: bars, the label that mixup gives it; marks, a network trained without blends and one trained "
    "with mixup."), "blend")

# %%
for strength in (0.0, 0.2, 1.0, 2.0):
    mean = found[strength].mean()  # of five networks
    print(f"alpha {strength:g}: {mean['on training']:.0%} sure of training images; "
          f"new ones: {mean.confidence:.1%} sure, {mean.accuracy:.1%} right; "
          f"T {mean['T']:.2f}, after it ECE {mean.ECE:.1%}, NLL {mean.NLL:.3f}")

# %% [markdown]
# Why is it less sure? With a large alpha it hardly ever meets a label that is certain. At alpha 2 it is only 77 % sure even of its
# own training images, and not sure enough of new ones.
#
# After one temperature each, the ECE is about 1 % for all: Eve is right. But Ben looks at the NLL (08): 0.661 without
# mixup, 0.615 with alpha 1. "So blends give something that no T gives. I won."
#
# ## 3. Ada: "Not so fast"
#
# "You tried many alphas, and chose one by the *test* images. The plain network (without mixup) had one weight decay, a small one. Give
# it its best, too." So now each side gets the best of six weight decays, and mixup also the best of five alphas, chosen on `cal`
# with three other networks ([table](results/strengths/mixed.csv)). Then each network gets a temperature.
#
# The two halves of mixup take part, too. *Images only*: blended images, each with the whole label of its larger part.
# *Labels only*: the images as they are, with blended labels.
#
# **Predict before you run:** what is the NLL of the plain network now (0.661 before)? And which half has a lower one?

# %% tags=["answer", "drawing"]
# your guess first, then run this cell
best = mixed.chosen(mixed.stored(), "after T")
ways = ("cross-entropy", "mixup", "labels only", "images only")
grid = [{"way": way, **best[way], "seed": seed} for way in ways for seed in seeds]
contest = sweep.run(recipe, grid, device=device)
fair = {way: measured(contest.where(way=way)) for way in ways}
shown = {"plain, small weight decay": found[0.0], "mixup, small weight decay": found[1.0],
         "plain, best weight decay": fair["cross-entropy"],
         f"mixup, at its best (alpha {best['mixup']['strength']:g})": fair["mixup"],
         "labels only, at its best": fair["labels only"], "images only, at its best": fair["images only"]}
fig, ax = plt.subplots(figsize=(8, 3.2))
told = []
for place, (name, rows) in enumerate(shown.items()):
    _ = ax.plot(rows.NLL, [-place] * len(rows), **palette.CURED.line(linestyle="none", markersize=7, alpha=0.6))
    _ = ax.plot([rows.NLL.mean()] * 2, [-place - 0.3, -place + 0.3], color=palette.BLACK, lw=2)
    told.append(f"{name}: NLL {rows.NLL.mean():.3f}, accuracy {rows.accuracy.mean():.1%}")
    print(told[-1])
_ = ax.axhline(-1.5, color=palette.GREY, lw=0.8)
_ = ax.set(yticks=[-k for k in range(len(shown))], yticklabels=list(shown),
           xlabel="NLL on new images after one temperature (a mark a network, a bar their mean)")
_ = alt_text.note(ax, f"Marks, one a network, along the NLL after one temperature. Means: {'; '.join(told)}.")
plt.show()
for way in ways[1:]:
    change = fair[way].NLL - fair["cross-entropy"].NLL
    print(f"{way}: lower than plain in {(change < 0).sum()} of {len(change)} pairs of networks")

# %% [markdown]
# <details><summary>What came out</summary>
#
# 0.604: weight decay alone gives all that mixup gave, and mixup at its best has 0.605. Doubt alone (*labels only*) has 0.604, too. But
# *images only* has 0.578. So the half with whole labels is the one that helps. (We have not tested why.) Of Ben's lead in accuracy, 80.0
# against 77.6 %, little is left: the plain network has 79.4 %, and images only 80.6 %.
#
# </details>
#
# A *verdict* gives the mean difference over five pairs of networks with its 95 % interval. HOLDS: all of the interval lies below 0.

# %% tags=["nbval-check-output"]
statement = "digits, chosen strengths, one T each: images only has a lower NLL than cross-entropy"
print(verdicts.judge("12o", statement, fair["images only"].NLL - fair["cross-entropy"].NLL, expect="below"))

# %% [markdown]
# ## 4. Unsure where it should be?
#
# "At least", says Ben, "a network that learned doubt knows *where* to doubt." A doctor looks again at each image on which a
# network is less than 70 % sure, after its temperature. On our digits we can check each doubt: if the exact posterior of the answer is above 90 %, no
# second look was needed.
#
# **Predict before you run:** of 100 images that the plain network doubts, how many needed no doubt? And with mixup?

# %% tags=["answer", "drawing"]
# your guess first, then run this cell
fig, axes = plt.subplots(1, 3, figsize=(10.5, 3), sharey=True)
for ax, way in zip(axes, ("cross-entropy", "mixup", "images only"), strict=True):
    parts = []
    for one in contest.where(way=way):
        held, new = one.predictions["cal"], one.predictions["test"]
        confidence, said = recalibration.TemperatureScaler().fit(held.logits, held.labels).probs(new.logits).max(dim=1)
        parts.append(torch.stack([confidence, new.posterior.gather(1, said[:, None])[:, 0]]))
    sure, honest = torch.cat(parts, dim=1)
    doubted = sure < 0.7
    needless = (honest[doubted] > 0.9).double().mean()
    shares = np.histogram(honest[doubted], bins=10, range=(0, 1))[0] / doubted.sum().item()
    name = "plain" if way == "cross-entropy" else way
    missed = (honest[~doubted] <= 0.1).double().mean()
    print(f"{name}: doubts {doubted.double().mean():.0%} of the images; of these {needless:.0%} need no doubt, "
          f"and {shares[0]:.0%} are almost surely wrong (of the others {missed:.0%})")
    _ = ax.bar(np.arange(9) / 10 + 0.05, shares[:9], 0.1, color=palette.SKY, edgecolor="white")
    _ = ax.bar(0.95, shares[9], 0.1, color=palette.VERMILLION, edgecolor="white", hatch="//", label="need no doubt")
    _ = ax.set(title=name, xlabel="how probably the answer is right", xlim=(0, 1))
    plots.percent(ax, "x")
    _ = alt_text.note(ax, f"{name}: {doubted.double().mean():.0%} of the images have a confidence below 0.7; of these "
                          f"the posterior is above 0.9 for {needless:.0%} and below 0.1 for {shares[0]:.0%}")
_ = axes[0].set(ylabel="share of the doubted images (%)", yticks=np.arange(5) / 10, yticklabels=range(0, 50, 10))
_ = axes[0].legend(loc="upper center")
plt.show()

# %% [markdown]
# <details><summary>What came out</summary>
#
# 41 of 100, and 42 with mixup. Nearly as many (38) are almost surely wrong, of the images not doubted only 5: a second look finds mistakes. But four of ten looks
# are not needed, and mixup is no better at this. The ECE is small all the same, as the two kinds cancel in the average.
#
# </details>
#
# ## The answer
#
# **No. One temperature closes the old network's gap, too; and with the best weight decay on both sides it is right on 79.4 %, mixup on 80.0 %, with an
# NLL of 0.604 and 0.605. Only blended images with whole labels help (0.578). And mixup knows no better where to doubt: of ten second looks, four are not
# needed, with it or without.**
#
# ## Three things to take away
#
# 1. Before something new wins, give the old network its best weight decay and a temperature.
# 2. Take a cure apart, and ask of each half what it does alone.
# 3. A confidence that is right on average says little of single images.
#
# ## Recall
#
# <details><summary>1. Mixup has ECE 1 %, the plain network 14 %. After one temperature each, both have 1.3 %. What did mixup give?</summary>
#
# No calibration that a temperature would not give; perhaps accuracy, which no temperature gives.
#
# </details>
#
# <details><summary>2. Which half of mixup teaches doubt, and which half helped here?</summary>
#
# The blended labels teach most of the doubt. The blended images helped, with whole labels.
#
# </details>
#
# <details><summary>3. How can an ECE be small while four in ten doubts are needless?</summary>
#
# Among answers of one confidence some deserve more and others less. These errors cancel in the average, and the ECE compares averages.
#
# </details>
#
# ## Go further
#
# *All that follows may be left out. Next: [13 Shift and strange inputs](13_shift_and_ood.ipynb).*
#
# ### Exercise: an honest choice
#
# *Difficulty: easy · importance: medium · 5 minutes*
#
# Ada chose one strength for all seeds, on other seeds. One can also choose for each seed. `cal` and `test` are tensors of errors,
# (seeds, strengths). For each seed, from its own row, return the test error of the strength that you would choose without a look
# at `test`.


# %%
def my_honest_choice(cal, test):
    ...  # your code here


check.honest_choice(my_honest_choice)

# %% [markdown]
# <details><summary>Hint</summary>
#
# `cal.argmin(dim=1)` is the chosen column of each row. Take that column from `test`.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_honest_choice(cal, test):
#     best = cal.argmin(dim=1)
#     return test[torch.arange(len(test)), best]
# ```
#
# </details>
#
# ### On photographs
#
# Convolutional networks learned 40,000 photographs (CIFAR-10), with and without mixup, at two weight decays ([stored
# runs](results/night/runs-40000/README.md)). The table has the NLL after T, a mean of three seeds:

# %% tags=["drawing"]
runs = photograph_runs.on_40_000().replace({"loss": {"cross-entropy": "no mixup"}})
by_decay = runs.pivot_table(index="loss", columns="decay", values="scaled_nll")
print(by_decay.round(3).rename_axis("weight decay", axis=1).rename_axis(None).sort_index(ascending=False).to_string())

# %% [markdown]
# The same story: at the small weight decay mixup with alpha 0.3 or 1 is ahead. With the larger one the plain network is about as good as
# mixup at its best. (Three seeds and two decays cannot exclude a small lead.)
#
# ### One weight for each sample
#
# Draw a weight for each sample in place of one for the batch. Does the gap change?
#
# <details><summary>Answer</summary>
#
# ```python
# from calibkit import mixing
#
#
# def gentle(per_sample, seed):
#     mix = partial(mixing.mixup, alpha=0.2, per_sample=per_sample)
#     return soft_targets.trial(size, "cross-entropy", 0.0, small, seed, mix=mix)
#
#
# tried = sweep.run(gentle, {"per_sample": [False, True], "seed": seeds}, device=device)
# print(tried.table.groupby("per_sample")[["test_accuracy", "test_gap", "test_ece"]].mean())
# ```
#
# Hardly. With one weight for the batch the signed gap is +1.0 % and the ECE 1.6 %, with one for each sample +1.2 % and
# 1.6 % (means of five seeds).
#
# </details>
#
# ### Exercise: a fair comparison (homework)
#
# *Difficulty: medium · importance: high · 12 minutes, no code*
#
# A report says: "We trained five seeds of a baseline and of mixup with alpha 0.1, 0.2, 0.4 and 0.8. The best mixup has
# a test ECE of 1.2 %, the baseline 6.0 %. No bin is over-confident any more. Mixup calibrates." Write down what is wrong, and
# design a comparison that you would believe: splits, what is chosen where, who gets a temperature, columns, spread.
#
# <details><summary>Answer</summary>
#
# Wrong: alpha was chosen on the test set; the baseline got no temperature and one weight decay; a network may be under-confident;
# no accuracy, no NLL, no spread. Better: three splits. Choose alpha and weight decay by NLL on `cal`, for mixup and as many
# settings of the baseline. Fit one temperature on `cal` for every network, the baseline too. Report on `test`, raw
# and scaled: accuracy, NLL, ECE, signed gap. Show paired differences over the seeds with an interval. Repeat on a
# second data set, with alpha chosen anew and with alpha copied.
#
# </details>
#
# All verdicts, mixup's rivals, other data, pure noise and the papers' numbers: [evidence](evidence/12_mixup.ipynb). Your numbers
# differ? [Why](your_numbers_differ.md).
#
# ## References
#
# - Thulasidasan, Chennupati, Bilmes, Bhattacharya, Michalak: *On Mixup Training: Improved Calibration and
#   Predictive Uncertainty for Deep Neural Networks*. NeurIPS 2019.
#   [arXiv:1905.11001](https://arxiv.org/abs/1905.11001) (and its poster)
# - Zhang, Cisse, Dauphin, Lopez-Paz: *mixup: Beyond Empirical Risk Minimization*. ICLR 2018.
#   [arXiv:1710.09412](https://arxiv.org/abs/1710.09412)
# - Tata, Gudur, Chennupati, Khan: *Can Calibration Improve Sample Prioritization?* 2022.
#   [arXiv:2210.06592](https://arxiv.org/abs/2210.06592)
# - Wang, Li, Zhao, Heng, Zhang: *On the Pitfall of Mixup for Uncertainty Calibration*.
#   [CVPR 2023](https://cvpr.thecvf.com/virtual/2023/poster/21897)
