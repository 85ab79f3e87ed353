# %% [markdown]
# # 12 · Mixup: what do blended images teach?
#
# **Question.** A doctor looks again at the images on which a network is unsure. Mixup trains on blends of two images,
# and is said to make a network unsure where it should be. But she could also divide the logits by one temperature,
# which takes a second. What does mixup give her that one number does not?

# %% tags=["drawing"]
from calibkit.course import explorers

explorers.stored("blend")

# %% [markdown]
# Both pictures show a blend of a 3 and a 7. On the left both images are clean. On the right both have noise, like the
# images that the networks of this course meet. Bars show the label that mixup gives to the blend, the other marks the
# answers of two networks. (Under noise the network without blends takes even the pure 3 for a 5.) Move the slider to the
# middle. Neither network follows the label exactly. Which of them is less sure?
#
# **You will be able to**
# - blend images and labels, and say what this teaches;
# - separate what mixup does to the confidence from what it does to the accuracy;
# - compare it fairly: with strengths chosen on other seeds, and a temperature on both sides.
#
# **Time.** 35 minutes; 12 more for the homework.
#
# **Needs.** [08 Temperature](08_temperature.ipynb); for section 5 the map of [03](03_overconfidence.ipynb).

# %% tags=["drawing"]
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch

from calibkit import metrics, mixing, recalibration
from calibkit.course import check, claims, verdicts
from calibkit.course.experiments import mixed, nights, soft_targets
from calibkit.course.scale import begin
from calibkit.lab import data, sweep
from calibkit.metrics import plane
from calibkit.pictures import alt_text, palette, plots

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% [markdown]
# ## 1. Two digits in one image
#
# **Mixup** (Zhang et al. 2018) gives every image of a batch a partner from the same batch. Both images, and both
# one-hot labels, are averaged with a weight $\lambda$ between 0 and 1:
#
# $$\tilde x=\lambda x_i+(1-\lambda)x_j\qquad\tilde y=\lambda y_i+(1-\lambda)y_j$$
#
# For every batch the weight is drawn from a Beta(alpha, alpha) distribution. **Alpha** is the strength. Near 0 hardly
# anything is blended. At 1 every weight is equally likely. Above 1 most weights lie near one half.
#
# ### Exercise: mixed labels
#
# *Difficulty: easy · importance: high · 5 minutes*
#
# Given are labels (n,), the index of each sample's partner (n,), the number lam and the number of classes. Return the
# mixed labels, a tensor (n, classes).

# %%
def my_mixed_labels(labels, partner, lam, classes):
    ...  # your code here


check.mixed_labels(my_mixed_labels)

# %% [markdown]
# <details><summary>Hint</summary>
#
# `torch.nn.functional.one_hot(labels, classes)` makes one row for each sample. The partners' rows are those same
# rows, indexed with `partner`.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_mixed_labels(labels, partner, lam, classes):
#     rows = torch.nn.functional.one_hot(labels, classes)
#     return lam * rows + (1 - lam) * rows[partner]
# ```
#
# </details>
#
# So mixup asks for *doubt*: the label of a blend is not certain. How much doubt is that?
#
# **Predict before you run:** at alpha 0.1, in what share of the blends does one image have a weight above 95 %: about 5,
# 30 or 75 %?

# %% tags=["answer"]
size, seeds, device = begin(SCALE, SEED, DEVICE)
for alpha in (0.1, 0.5, 2.0):
    # 20,000 weights, to see how they are distributed
    drawn = mixing.draw(20_000, alpha, per_sample=True, generator=SEED)
    larger = torch.maximum(drawn.lam, 1 - drawn.lam)
    print(f"alpha {alpha:g}: the larger part is above 95 % in {(larger > 0.95).double().mean():.0%} "
          f"of the blends, on average {larger.mean():.0%}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# About 75 %: with a small alpha most labels stay nearly certain. With a large one nearly all are split between two
# images. So alpha sets how much doubt is taught. (A blend of two images of *one* class keeps its label.)
#
# </details>
#
# ## 2. Trained at every alpha
#
# Small networks on noisy digits, one for each alpha and seed:

# %%
alphas = [0.0, 0.1, 0.2, 0.5, 1.0, 2.0]
small = 5e-4  # the weight decay


def recipe(way, strength, decay, seed):  # way: the method; section 3 trains others by the same recipe
    # mixup of strength 0 blends nothing, so it is plain cross-entropy
    way = "cross-entropy" if strength == 0 and way == "mixup" else way
    return mixed.trial(size, way, strength, decay, seed)


grid = {"way": ["mixup"], "strength": alphas, "decay": [small], "seed": seeds}
swept = sweep.run(recipe, grid, device=device)

# %% tags=["drawing"]
def at(alpha):
    return swept.where(way="mixup", strength=alpha, decay=small)


def numbers(alpha):
    """One row a seed."""
    rows = []
    for one in at(alpha):
        train, test = one.predictions["train"], one.predictions["test"]
        rows.append({"accuracy": metrics.accuracy(test.probs, test.labels),
                     "confidence": test.confidence.mean().item(),
                     "on training": train.confidence.mean().item(), "ECE": metrics.ece(test.probs, test.labels),
                     "NLL": metrics.nll(test.probs, test.labels), "gap": metrics.signed_gap(test.probs, test.labels)})
    return pd.DataFrame(rows)


found = {alpha: numbers(alpha) for alpha in alphas}
lines = {role: np.stack([found[alpha][column] for alpha in alphas], axis=1)
         for column, role in (("accuracy", palette.ACCURACY), ("confidence", palette.CONFIDENCE))}


def frame(alpha):
    pooled = explorers.pooled([metrics.reliability(one.predictions["test"].probs, one.predictions["test"].labels)
                               for one in at(alpha)])
    mean = found[alpha].mean()
    readout = (f"alpha {alpha:g}: accuracy {mean.accuracy:.1%}, mean confidence {mean.confidence:.1%}, "
               f"ECE {mean.ECE:.1%}, signed gap {mean.gap:+.1%}")
    return explorers.along_frame(pooled, alpha, alphas, lines, x_label="alpha", x_ticks=(0, 0.5, 1, 2),
                                 readout=readout, title=f"mixup, alpha {alpha:g}" if alpha else "no mixup")


slider = explorers.Explorer(
    frame, explorers.Slider("alpha", alphas, show="{:g}".format), play=True,
    description="Left, the reliability diagram of the networks of all seeds for one alpha: a bar below the "
    "diagonal is over-confident. Right, accuracy and mean confidence against alpha; the bands span the seeds, "
    "the grey line marks the chosen alpha.")
explorers.keep(slider, "mixup_alpha")
plain, blended = (at(alpha)[0].model.cpu() for alpha in (0.0, 1.0))
clean = data.digits(seed=SEED).train
pair = torch.stack([clean.inputs[clean.labels == digit][0] for digit in (3, 7)])
noisy = pair + 0.4 * torch.randn(pair.shape, generator=torch.Generator().manual_seed(SEED))


def blend(share):
    both = torch.stack([share * one[0] + (1 - share) * one[1] for one in (pair, noisy)])
    with torch.no_grad():
        says = [network(both).softmax(dim=1).numpy() for network in (plain, blended)]
    return explorers.blend_frame(both[:, 0].numpy(), (3, 7), share, *says)


explorers.keep(explorers.Explorer(
    blend,
    explorers.Slider("share of the 3", [k / 10 for k in range(11)], show=lambda s: f"{100 * s:.0f} %", start=0.9),
    description="A blend of a 3 and a 7, left without noise, right under noise, and below it the probability of "
    "every class: bars, the label that mixup gives it; marks, a network trained without blends and one trained "
    "with mixup."), "blend")

# %% [markdown]
# **Predict before you run:** how sure are these networks of their own *training* images, if these are shown without
# blending? At alpha 0 the mean confidence on them is nearly 100 %. Is it at alpha 2 nearly 100 %, about 90 % or below
# 80 %?

# %% tags=["answer"]
for alpha in (0.0, 0.2, 2.0):
    mean = found[alpha].mean()
    print(f"alpha {alpha:g}: {mean['on training']:.1%} sure of training images; new images: "
          f"{mean.confidence:.1%} sure, right on {mean.accuracy:.1%}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# Below 80 %. With a large alpha the network hardly ever meets a label that is certain. On new images the accuracy rises a
# little, and at alpha 2 the confidence lies below it: there the network is not sure enough.
#
# </details>
#
# Now all alphas. Where do accuracy and mean confidence cross?

# %% tags=["drawing"]
slider

# %% [markdown]
# **Your turn.** The gap is confidence minus accuracy. Bring it near zero by a temperature `T`: first for alpha 0, then for
# alpha 2. Which of the two then has the lower NLL?

# %%
alpha, T = 0.0, 1.0  # change me: alpha 0 or 2; any T from 0.5 to 5
rows = []
for one in at(alpha):
    test = one.predictions["test"]
    probs = (test.logits.double() / T).softmax(dim=1)
    rows.append((metrics.signed_gap(probs, test.labels), metrics.nll(probs, test.labels)))
gap, nll = np.mean(rows, axis=0)
print(f"alpha {alpha:g}, T {T:g}: gap {gap:+.1%}, NLL {nll:.3f}")

# %% [markdown]
# <details><summary>What you may have found</summary>
#
# At alpha 0 it takes T about 2.6, at alpha 2 a T below 1. Then both gaps are small, but the NLL is lower with mixup.
# So does mixup do something that T does not? Not so fast: both have the same small weight decay. Is it the best one?
#
# </details>
#
# ## 3. The fair contest
#
# Each side gets a temperature, so differences that are left come from the training. Each side also needs its best
# strength, and this must not be chosen on the test images.
#
# ### Exercise: an honest choice
#
# *Difficulty: easy · importance: high · 5 minutes*
#
# `cal` and `test` are tensors of errors, (seeds, strengths). For each seed, from its own row, return the test error of
# the strength that you would choose without a look at `test`.

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
# Mixup has two halves, so we train each alone. **Images only:** the images are blended, and the blend gets the whole
# label of its larger part. So no doubt is taught. **Labels only:** the image stays as it is, and only its label is
# blended; its own class keeps the larger share. So doubt alone is taught.
#
# For each method we tried five strengths and six weight decays, for the plain network (*cross-entropy*) six weight
# decays. We chose one pair for all seeds, not one for each seed as in the exercise: the pair with the lowest NLL after T
# on `cal` images of three *other* seeds ([stored table](results/strengths/mixed.csv)).

# %% tags=["drawing"]
best = mixed.chosen(mixed.stored(), "after T")
names = ("cross-entropy", "labels only", "images only", "mixup")
grid = [{"way": way, **best[way], "seed": seed} for way in names for seed in seeds]
contest = sweep.run(recipe, grid, device=device)
for way in names:
    print(f"{way}: " + (f"strength {best[way]['strength']:g}, " if best[way]["strength"] else "")
          + f"weight decay {best[way]['decay']:g}")


def judged(way):
    """After one temperature, one row a seed."""
    rows = []
    for one in contest.where(way=way):
        cal, test = one.predictions["cal"], one.predictions["test"]
        T = recalibration.TemperatureScaler().fit(cal.logits, cal.labels)
        probs = T.probs(test.logits)
        rows.append({"T": T.temperature, "accuracy": metrics.accuracy(probs, test.labels),
                     "ECE": metrics.ece(probs, test.labels), "NLL": metrics.nll(probs, test.labels)})
    return pd.DataFrame(rows)


fair = {way: judged(way) for way in names}

# %% [markdown]
# **Predict before you run:** at chosen strengths and after one temperature each, which has a lower NLL than the plain
# network: mixup, labels only, images only, all, or none? (A mark is a seed. Right of zero, its value is larger than
# the plain network's: good for accuracy, bad for ECE and NLL.)

# %% tags=["answer", "drawing"]
fig, axes = plt.subplots(1, 3, figsize=(9.6, 2.2), sharey=True)
for ax, column in zip(axes, ("ECE", "NLL", "accuracy"), strict=True):
    told = []
    for place, way in enumerate(names[1:]):
        change = fair[way][column] - fair["cross-entropy"][column]
        _ = ax.plot(change, [-place] * len(change), **palette.CURED.line(linestyle="none", markersize=7, alpha=0.7))
        told.append(f"{way} {change.mean():+.3f}")
    _ = ax.axvline(0, color=palette.GREY), ax.locator_params(axis="x", nbins=4)
    _ = ax.set(yticks=[0, -1, -2], yticklabels=names[1:], ylim=(-2.5, 0.5),
               xlabel=f"{column} minus cross-entropy's")
    _ = alt_text.note(ax, f"{column} minus that of cross-entropy, a dot a seed; means: " + "; ".join(told))
plt.show()
means = pd.DataFrame({way: fair[way].mean() for way in names}).T
print("means over the seeds, with each network's T:")
print(means[["accuracy", "ECE", "NLL"]].round(3).to_string())

# %% [markdown]
# <details><summary>What came out</summary>
#
# *Images only* has a lower NLL than the plain network in every seed. Mixup has not: now that the plain network has its
# best weight decay, mixup's earlier lead is gone. On average all three methods are a little more accurate, which no T can
# give. The ECE is small for all, the plain network too: for the confidence *on average* one number does what these
# methods do.
#
# </details>
#
# A *verdict* gives the mean over seeds with its 95 % interval. HOLDS means that the whole interval lies where the sentence
# says.

# %% tags=["nbval-check-output"]
for claim, way in (("12h", "mixup"), ("12o", "images only")):
    statement = f"digits, chosen strengths, one T each: {way} has a lower NLL than cross-entropy"
    print(verdicts.judge(claim, statement, fair[way].NLL - fair["cross-entropy"].NLL,
                         expect="below"))
    print(claims.concluded("12", claim))

# %% [markdown]
# ## 4. Unsure where it should be?
#
# The doctor needs more than an average: doubt on the images that *are* doubtful. The exact posterior knows which these
# are. The picture takes the images that a network doubts after its temperature (confidence below 70 %). Across is how
# probable its answer is for the exact reader; upwards, the share of the doubted images. A network that doubts where it
# should has no bar at the right end.

# %% tags=["drawing"]
fig, axes = plt.subplots(1, 3, figsize=(10.5, 3), sharey=True)
for ax, way in zip(axes, ("cross-entropy", "mixup", "images only"), strict=True):
    parts = []
    for one in contest.where(way=way):
        cal, test = one.predictions["cal"], one.predictions["test"]
        confidence, said = recalibration.TemperatureScaler().fit(cal.logits, cal.labels).probs(test.logits).max(dim=1)
        parts.append(torch.stack([confidence, test.posterior.gather(1, said[:, None])[:, 0]]))
    sure, honest = torch.cat(parts, dim=1)
    doubted = sure < 0.7
    shares = np.histogram(honest[doubted], bins=10, range=(0, 1))[0] / doubted.sum().item()
    needless = (honest[doubted] > 0.9).double().mean()
    _ = ax.bar(np.arange(9) / 10 + 0.05, shares[:9], 0.1, color=palette.SKY, edgecolor="white")
    _ = ax.bar(0.95, shares[9], 0.1, color=palette.VERMILLION, edgecolor="white", hatch="//", label="need no doubt")
    _ = ax.set(title=f"{way}, after T", xlabel="posterior of the answer", xlim=(0, 1))
    plots.percent(ax, "x")
    print(f"{way}: doubts {doubted.double().mean():.0%} of the images (confidence below 70 %). Of these images "
          f"{needless:.0%} need no doubt: for the exact reader the answer is right with more than 90 %")
    _ = alt_text.note(ax, f"{way}: {doubted.double().mean():.0%} of the images have a confidence below 0.7; of these "
                          f"the posterior is above 0.9 for {needless:.0%} and below 0.1 for {shares[0]:.0%}")
_ = axes[0].set_ylabel("share of the doubted images")
plots.percent(axes[0], "y")
_ = axes[0].legend(loc="upper left")
plt.show()

# %% [markdown]
# Four in ten of the doubted answers need no doubt, whichever way the network was trained. In one column of confidence some
# images deserve more of it and others less. On average it fits, so the ECE stays small. No network is unsure just *where
# it should be*. A doctor who looks again at the doubted images should know that many of them did not need it.
#
# ## 5. On photographs, and on the map
#
# Convolutional networks learned 40,000 photographs (CIFAR-10), with and without mixup, at two weight decays ([stored
# runs](results/night/runs-40000/README.md)). The table has the NLL after T:

# %% tags=["drawing"]
runs = nights.on_40_000().replace({"loss": {"cross-entropy": "no mixup"}})
by_decay = runs.pivot_table(index="loss", columns="decay", values="scaled_nll")
print(by_decay.round(3).rename_axis("weight decay", axis=1).rename_axis(None).sort_index(ascending=False).to_string())

# %% [markdown]
# At the small weight decay mixup with alpha 0.3 or 1 is ahead of the plain network. But each side needs its own weight
# decay. With the larger one the plain network is about as good as mixup at its best: three seeds show no difference, in
# NLL or in accuracy. Three seeds and two decays cannot exclude a small lead (its mean accuracy is higher by less than a point).
#
# **Predict before you run:** the map of lesson 03 has the accuracy lost on new images across, and upwards how much of
# it is still claimed. A temperature moves a network straight down. And mixup?

# %% tags=["answer", "drawing"]
where = {}
for alpha in (0.0, 0.1, 0.2, 0.5, 2.0):
    rows = where.setdefault(f"alpha {alpha:g}" if alpha else "no mixup", [])
    for one in at(alpha):
        train, test = one.predictions["train"], one.predictions["test"]
        rows.append(plane.place(metrics.accuracy(train.probs, train.labels), metrics.accuracy(test.probs, test.labels),
                                test.confidence.mean().item()))
_ = plots.plane({palette.group(place, name): rows for place, (name, rows) in enumerate(where.items())})
plt.show()
for name, rows in where.items():
    lost, claimed = np.mean(rows, axis=0)
    print(f"{name}: {lost:.1%} lost, {claimed:+.1%} claimed")

# %% [markdown]
# <details><summary>What came out</summary>
#
# Down, below zero, and to the left: less accuracy is lost, mostly because the accuracy on the training images falls. T
# gives the step down, too.
#
# </details>
#
# ### Exercise: a fair comparison (homework)
#
# *Difficulty: medium · importance: high · 12 minutes, no code*
#
# A report says: "We trained five seeds of a baseline and of mixup with alpha 0.1, 0.2, 0.4 and 0.8. The best mixup has
# a test ECE of 1.2 %, the baseline 6.0 %, OE (lesson 02) fell to 0. Mixup calibrates." Write down what is wrong, and
# design a comparison that you would believe: splits, what is chosen where, who gets a temperature, columns, spread.
#
# <details><summary>Answer</summary>
#
# Wrong: alpha was chosen on the test set; the baseline got no temperature; OE cannot see under-confidence; no
# accuracy, no NLL, no spread. Better: three splits. For each seed choose alpha by NLL on `cal`, for mixup and equally
# many strengths of one rival. Fit one temperature on `cal` for every network, the baseline too. Report on `test`, raw
# and scaled: accuracy, NLL, ECE, signed gap. Show paired differences over the seeds with an interval. Repeat on a
# second data set, with alpha chosen anew and with alpha copied.
#
# </details>
#
# ## The answer
#
# **Mixup makes a network less sure on average, but one temperature does this, too, without a new training. With a well
# chosen weight decay and T on both sides, no difference in NLL between mixup and a plain network was shown, neither on our
# digits nor on photographs; on digits only blended *images* with whole labels lowered it.** **And no network that we looked
# at, with mixup or without, was unsure just where it should be: of four in ten of the doubted images the exact reader was
# sure, and the network could not know which.**
#
# All verdicts, mixup's rivals, other data, pure noise and the papers' numbers: [evidence](evidence/12_mixup.ipynb). Next:
# [13 Shift and strange inputs](13_shift_and_ood.ipynb).
#
# ## Three things to take away
#
# 1. Mixup blends images and labels. Its labels teach doubt, and alpha sets how much. A large alpha makes a network not
#    sure enough.
# 2. Take a cure apart, and ask of each half what it does alone.
# 3. Compare after one temperature on both sides, with strengths *and* weight decays that were chosen on other seeds.
#
# ## Recall
#
# <details><summary>1. Which alpha is "no mixup", and what happens as alpha grows without end?</summary>
#
# Alpha near 0: each weight is 0 or 1, and nothing is blended. As alpha grows without end, each weight comes near one
# half: the largest doubt.
#
# </details>
#
# <details><summary>2. A network trained with mixup is never over-confident in any bin. Is it calibrated?</summary>
#
# Not necessarily: it may not be sure enough. Look at the signed gap and the ECE.
#
# </details>
#
# <details><summary>3. Mixup has ECE 1 %, the baseline 14 %. After one temperature each, both have 1.3 %. What did mixup give?</summary>
#
# No calibration that a temperature would not give; perhaps accuracy, which no temperature gives.
#
# </details>
#
# <details><summary>4. How can an ECE be small while single images have a wrong confidence?</summary>
#
# In a bin, right answers with too little confidence and wrong ones with too much cancel.
#
# </details>
#
# <details><summary>5. Why may alpha not be chosen on the test images?</summary>
#
# The lowest of several test errors is partly luck. On new images the error is higher on average.
#
# </details>
#
# ## Go further
#
# Draw one weight for each sample instead of one for the batch. Does the signed gap or the ECE change? If your printed numbers differ, see [your numbers differ?](your_numbers_differ.md).
#
# <details><summary>Answer</summary>
#
# ```python
# def gentle(per_sample, seed):
#     mix = partial(mixing.mixup, alpha=0.2, per_sample=per_sample)
#     return soft_targets.trial(size, "cross-entropy", 0.0, small, seed, mix=mix)
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
