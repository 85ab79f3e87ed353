# %% [markdown]
# # 14 · Sample prioritization: which images deserve an epoch?
#
# **Question.** A training costs a hospital ten days of its only GPU. Somebody proposes: in each epoch, train only on
# the tenth of the images of which the network is least sure. What does the network lose, and may a doctor still believe
# its confidence?

# %% tags=["drawing"]
from calibkit.course import explorers

explorers.stored("subset_share")

# %% [markdown]
# In each epoch these networks trained only on the images that they doubted most. Move the share from 100 % down to 10 %.
# What happens to the gap (confidence minus accuracy)?
#
# **You will be able to**
# - choose the images of an epoch by entropy, with the control that such a choice needs;
# - tell doubt that more training removes from doubt that stays;
# - say what a choice looks at, and what it does to the confidence.
#
# **Time.** 45 minutes; 25 more for the homework.
#
# **Needs.** [08 Temperature](08_temperature.ipynb); for section 6 the map of [03](03_overconfidence.ipynb).

# %% tags=["drawing"]
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch

from calibkit import metrics
from calibkit.course import check, claims, experiments, verdicts
from calibkit.course.experiments import choices
from calibkit.course.scale import begin
from calibkit.lab import data, sweep
from calibkit.metrics import plane
from calibkit.pictures import alt_text, palette, plots
from calibkit.prioritization import MaxEntropy

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% [markdown]
# ## 1. Which images does a network doubt?
#
# **Prioritizing samples** means to choose, before each epoch, the images to train on. A **max-entropy subset** has the
# images whose prediction has the highest entropy $-\sum_kp_k\log p_k$. It needs no labels. An untrained network cannot
# choose, so some **warm-up epochs** on all images come first.
#
# ### Exercise: the least sure
#
# *Difficulty: easy · importance: high · 5 minutes*
#
# `probs` is an (n, K) tensor of probabilities, `share` a number. Return the indices of the `round(share * n)` rows with
# the highest entropy, as a tensor, smallest index first.

# %%
def my_top_entropy(probs, share):
    ...  # your code here: return a tensor of indices


check.top_entropy(my_top_entropy)

# %% [markdown]
# <details><summary>Hint</summary>
#
# `torch.special.entr(probs)` is $-p\log p$, and 0 where $p$ is 0. `values.argsort(descending=True)` gives the indices from the
# largest value to the smallest.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_top_entropy(probs, share):
#     entropy = torch.special.entr(probs).sum(dim=1)
#     count = round(share * len(probs))
#     return entropy.argsort(descending=True)[:count].sort().values
# ```
#
# </details>
#
# The package has it as `MaxEntropy`. Here is the first choice of one network, right after its warm-up. Left: five of the
# images that it takes. Right: the five of which it is surest. Upper row: the clean digit. Lower row: what the network sees.

# %% tags=["drawing"]
size, seeds, device = begin(SCALE, SEED, DEVICE)
epochs, warmup = choices.epochs(size), choices.warmup(size)


def watched(share, seed):
    train, _, test = choices.digits(size, 0.4, seed)
    return choices.trial(size, "entropy", share, seed, watch={"train": train, "test": test[:2000]}, keep=("train",))


shares = [0.1, 0.2, 0.3, 1.0]
plain = sweep.run(watched, {"share": shares, "seed": seeds}, device=device)
train = choices.digits(size, 0.4, SEED).train
sharp = data.noisy_digits(size.train, 1e-6, SEED, calibration=1, test=1).train.inputs
logits = plain.one(share=0.1, seed=SEED).logits["train"][warmup - 1]
entropy = metrics.entropy(logits.softmax(dim=1))
taken = MaxEntropy(0.1).choose(logits)
places = torch.cat([taken[:5], entropy.argsort()[:5]])
fig, axes = plt.subplots(2, 10, figsize=(10, 2.7))
words = []
for column, place in zip(axes.T, places.tolist(), strict=True):
    for ax, images in zip(column, (sharp, train.inputs), strict=True):
        _ = ax.imshow(images[place, 0], cmap="gray_r", vmin=0, vmax=1)
        _ = ax.axis("off")
        _ = alt_text.note(ax, "")
    label, exact = train.labels[place].item(), train.posterior[place]
    _ = column[0].set_title(f"a {label}\nentropy {entropy[place]:.1f}", fontsize=9)
    _ = column[1].set_title(f"exact {exact.argmax()}: {exact.max():.0%}", fontsize=9)
    words.append(f"a {label} of entropy {entropy[place]:.1f}, exact posterior {exact.argmax()}: {exact.max():.0%}")
_ = alt_text.note(axes[0, 0], "Five images taken, then the five surest, clean above noisy: " + "; ".join(words))

# %% [markdown]
# Between the two rows stands what the exact posterior says, the best possible reader. It is sure of some images that the
# network doubts, and unsure of others.
#
# ## 2. Fewer steps, or a better choice?
#
# The networks of the slider saw 1,500 images for 40 epochs. With 10 % they made a seventh of the steps: two full epochs,
# then 38 with 150 images each. So the smaller gap has two possible reasons: *fewer steps*, or *these images*. The control: as many
# images, drawn at random.

# %% tags=["drawing"]
def of_rule(rule, seed):
    images = choices.digits(size, 0.4, seed).train
    return choices.trial(size, rule, 0.1, seed, watch={"train": images}, keep=("train",))


rules = ["loss", "random", "elsewhere", "entropy"]
ruled = sweep.run(of_rule, {"rule": rules, "seed": seeds}, device=device)
stops = [epoch for epoch in (1, 2, 3, 4, 6, 9, 13, 18, 24, 31, 40) if epoch < epochs] + [epochs]
roles = (palette.ACCURACY, palette.CONFIDENCE, palette.OVER.named("ECE (25 bins)"))


def over_epochs(share):
    """The lines of the right panel, at the stops: (seeds, stops) each."""
    runs = plain.where(share=share)
    places = [stop - 1 for stop in stops]
    errors = [[outcome.diagrams["test"][place].error() for place in places] for outcome in runs]
    columns = ("test_accuracy", "test_confidence")
    lines = [[outcome.history[column].iloc[places] for outcome in runs] for column in columns]
    return dict(zip(roles, map(np.array, [*lines, errors]), strict=True))

# %% tags=["drawing"]
def frame(share, epoch):
    runs, lines = plain.where(share=share), over_epochs(share)
    first, *rest = [outcome.diagrams["test"][epoch - 1] for outcome in runs]
    accuracy, confidence, ece = (values[:, stops.index(epoch)].mean() for values in lines.values())
    samples = MaxEntropy(share, warmup).trained_on(size.train, epoch)
    readout = (f"{share:.0%} kept, epoch {epoch}, {samples:,} samples so far: accuracy {accuracy:.1%}, "
               f"mean confidence {confidence:.1%}, signed gap {confidence - accuracy:+.1%}, ECE {ece:.1%}")
    return explorers.along_frame(
        sum(rest, start=first), epoch, stops, lines, x_label="epoch (log)", readout=readout, log_x=True,
        x_ticks=[tick for tick in (1, 3, 10, 40) if tick <= epochs], title=f"{share:.0%} kept, epoch {epoch}")


moving = explorers.Explorer(
    frame, explorers.Slider("images kept in each epoch", shares, show="{:.0%}".format, start=1.0),
    explorers.Slider("epoch", stops, start=stops[-1]), play=True,
    description="Left, the reliability diagram on test images, all seeds together: a bar below the diagonal "
    "is over-confident. Right, accuracy, mean confidence and ECE after each epoch; the bands "
    "span the seeds, the grey line marks the epoch.")
explorers.keep(moving, "subset_share")

# %% [markdown]
# **Predict before you run:** with 10 % of the images, is the network more over-confident with the least sure images, or with
# random ones?

# %% tags=["answer"]
runs = {"100 %": plain.table[plain.table.share == 1],
        "10 %, least sure": ruled.table[ruled.table.rule == "entropy"],
        "10 %, random": ruled.table[ruled.table.rule == "random"]}
for name, rows in runs.items():
    print(f"{name}: signed gap {rows.test_gap.mean():+.1%}, accuracy {rows.test_accuracy.mean():.1%}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# With the least sure ones. With random images the gap is nearly 0. So in the slider the gap was small because there
# were few steps: at its weight decay over-confidence grows with them. The choice itself makes the network *more*
# over-confident. (At the best weight decay of each, their ECE is larger than that of all images: evidence.)
#
# A reason is repetition: the same unsure images return again and again. Random images that return as often have about the
# same gap, and a higher NLL (evidence).
#
# </details>
#
# A temperature takes the gap away from both. Does the choice help where a temperature cannot? We compare the NLL. Each side
# has its own T, and the weight decay that was best for it on other seeds.

# %%
noises = list(choices.NOISES) if SCALE != "smoke" else [0.1, 0.4, 0.6]
fresh = [seed + 300 for seed in seeds]
worlds = choices.at_best(size, ("entropy", "random", "all"), noises, share=0.1, seeds=seeds, device=device)
again = choices.at_best(size, ("entropy", "random"), noises=[0.1], share=0.3, seeds=fresh, device=device)

# %% tags=["nbval-check-output"]
def lead(done, noise):
    by_entropy, by_chance = (
        done.values("scaled_nll", choice=name, noise=noise) for name in ("entropy", "random"))
    return by_entropy - by_chance


print(verdicts.judge("14b", "noise 0.4, 10%, after T: a higher NLL by entropy than at random",
                     lead(worlds, 0.4)))
print(claims.concluded("14", "14b"))

# %% [markdown]
# ## 3. Whose doubt is it?
#
# A network may be unsure for two reasons. It may not have learned enough, so that more training or data
# helps: **epistemic doubt**. Or the image itself is ambiguous, so that every reader stays unsure: **aleatoric doubt**. The
# entropy does not say which. On our digits the noise decides how much doubt is aleatoric.
#
# **Predict before you run:** so far the noise was 0.4. At noise 0.1 nearly all images are clear. Which give the lower NLL
# after T there, the least sure or random images?

# %% tags=["answer", "drawing"]
leads = np.stack([lead(worlds, noise) for noise in noises])  # (noises, seeds)
fig, ax = plt.subplots(figsize=(6.4, 2.8))
_ = ax.axhline(0, color=palette.GREY, ls="--")
_ = ax.plot(noises, leads.mean(axis=1), **palette.TRAINED.line(label="mean of the seeds"))
_ = ax.plot(noises, leads, color=palette.TRAINED.colour, marker=".", ls="", alpha=0.5)
_ = ax.set(xlabel="noise of the images", ylabel="NLL after T:\nleast sure minus random", xticks=noises)
_ = ax.text(0.6, 0.01, "worse than random images", ha="right", color=palette.BLACK)
_ = ax.text(0.6, -0.03, "better than random images", ha="right", color=palette.BLACK)
_ = alt_text.note(ax, "NLL of the least sure 10 % minus that of a random 10 % against the noise: " + ", ".join(
    f"{value:+.3f} at {noise:g}" for noise, value in zip(noises, leads.mean(axis=1), strict=True)))
plt.show()
for noise in noises:
    rows = worlds.table[worlds.table.noise == noise].groupby("choice").scaled_nll.mean()
    print(f"noise {noise:g}, NLL after T: least sure {rows.entropy:.3f}, random {rows.random:.3f}, "
          f"all {rows['all']:.3f}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# The least sure images, at noise 0.1 and 0.2. From 0.4 on random images, drawn anew, are better.
#
# </details>
#
# We found the lower NLL at noise 0.1 on these seeds, so the claim is *post hoc*. We judge it on new seeds, and with 30 %:

# %% tags=["nbval-check-output"]
print(verdicts.judge("14e", "noise 0.1, 30%, after T, new seeds: a lower NLL by entropy than at random",
                     lead(again, 0.1), expect="below", post_hoc=True))
print(claims.concluded("14", "14e"))

# %% [markdown]
# **Your turn.** Set `noise` and `share`. With the least sure 30 %, at which noise is the NLL about as low as with all images?

# %%
noise, share = 0.2, 0.3  # change me: noise 0.1 to 0.6, share 0.1 or 0.3
tried = choices.at_best(size, ("entropy", "random", "all"), [noise], share, seeds=seeds[:3], device=device)
for name, row in tried.table.groupby("choice", sort=False).mean(numeric_only=True).iterrows():
    print(f"{name}: NLL after T {row.scaled_nll:.3f}, accuracy {row.test_accuracy:.1%}")

# %% [markdown]
# <details><summary>What you may have found</summary>
#
# At noise 0.1 and 0.2. There the least sure 30 % come about as far as all images, with a third of the training steps. A
# random 30 % does not (evidence). At noise 0.5 and 0.6 a random 30 % is better than the least sure.
#
# </details>
#
# ## 4. What does a choice look at?
#
# A rule may look at the *image*, at the *label*, and at the *network* as it is now.
#
# ### Exercise: the exact posterior on the chosen
#
# *Difficulty: medium · importance: high · 8 minutes*
#
# `posterior` is (n, K), `labels` (n,), `chosen` holds indices. Return the signed gap of the exact posterior on the chosen images:
# its mean confidence minus the share on which its most likely class is the label.

# %%
def my_chosen_gap(posterior, labels, chosen):
    ...  # your code here: return one number


check.chosen_gap(my_chosen_gap)

# %% [markdown]
# <details><summary>Hint</summary>
#
# Take the chosen rows of both first: `posterior[chosen]`, `labels[chosen]`. Then it is the gap of lesson 00.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_chosen_gap(posterior, labels, chosen):
#     confidence, predicted = posterior[chosen].max(dim=1)
#     right = predicted == labels[chosen]
#     return confidence.mean() - right.double().mean()
# ```
#
# </details>
#
# **A game: four rules without a name.** Before every epoch, each rule chose 10 % of the training images, at noise 0.4. The
# rules, in another order:
#
# - *random*;
# - *entropy*: the highest entropy of the network itself;
# - *loss*: the highest loss of the network itself;
# - *stranger*: the highest entropy of a network that was trained on other images.
#
# The table describes the *chosen* images only, at the moment when they are chosen, on average over the epochs. `doubt that
# stays` is the entropy of the exact posterior. A label is *unlikely* if it is not the most probable class of this posterior.

# %% tags=["drawing"]
described = pd.DataFrame([one.setting | choices.described(one) for one in ruled.outcomes])
found = described.groupby("rule").mean().drop(columns="seed").loc[rules]
found.index = pd.Index(list("ABCD"), name="rule")
found.round(2)

# %% [markdown]
# **Predict before you run:** which of A to D is random, which is the entropy, which the loss, which the stranger?

# %% tags=["answer"]
called = {"elsewhere": "stranger"}  # how the rules of the table are called here
for letter, rule in zip("ABCD", rules, strict=True):
    row = ruled.table[ruled.table.rule == rule].mean(numeric_only=True)
    print(f"{letter}, {called.get(rule, rule)}: accuracy {row.test_accuracy:.1%}, "
          f"signed gap on new images {row.test_gap:+.1%}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# - **A is the loss.** It takes what the network reads wrongly. The network ends far from sure enough.
# - **B is random.** Its images are like all others.
# - **C is the stranger.** It looks at the image alone, and takes ambiguous ones. The network ends too sure.
# - **D is the network's own entropy.** On the chosen images the network is right more often than it says. On new images it
#   ends too sure.
#
# </details>
#
# A choice by the image alone (C) takes an ambiguous image whether its label is 3 or 8. So $P(\text{label}\mid\text{image})$
# is the same among the chosen, and the exact posterior stays calibrated on them. The network, however, ends more
# over-confident than with B, mostly by repetition (evidence). A choice that sees the label (A) can change this probability.
# The table does not show it: with these labels the posterior's gap on A's images is as small as on D's. With
# 10 % planted wrong labels it shows: 24 % of A's chosen images had one, and 16.5 % of D's (evidence).
#
# ## 5. Would another network choose better?
#
# A poster (Tata et al. 2022) has two ideas. The first: train with a calibrating loss (label smoothing, mixup or focal loss).
# The second: a larger, calibrated network is trained first, the **target model**. It chooses the images for the network
# that is trained now, the **current model**. As we read it, the target model of epoch 7 chooses the images
# for epoch 7 of the current model. We tested both at noise 0.4.
#
# **Predict before you run:** we compare the target model's choice with the network's own, for four losses and for 10, 20 and
# 30 % of the images. In how many of these 12 cases does it give a lower NLL (after one temperature each)?

# %% tags=["answer", "drawing"]
losses, target = ([one for one in claims.judged("14", claim) if not one.statement.startswith("photographs")]
                  for claim in ("P2", "P3"))
tenth = [one for one in claims.judged("14", "14o") if "by entropy" in one.statement]
questions = {
    "calibrating loss: lower ECE, as trained": [one for one in losses if one.as_trained],
    "calibrating loss: lower ECE, after T": [one for one in losses if "after T" in one.statement],
    "calibrating loss: lower NLL, after T (10 %)": tenth,
    "calibrating loss: at most a point of accuracy lost": [one for one in losses if "accuracy" in one.statement],
    "target model: lower ECE, as trained": [one for one in target if one.as_trained],
    "target model: lower NLL, after T": [one for one in target if "after T" in one.statement],
    "target model: higher accuracy": [one for one in target if "accuracy" in one.statement],
}
words = {question: [one.word for one in judged] for question, judged in questions.items()}
print(f"lower NLL by the target model's choice: {words['target model: lower NLL, after T'].count('HOLDS')} of 12")
pd.DataFrame({word: {question: found.count(word) for question, found in words.items()}
              for word in verdicts.WORDS if any(word in found for found in words.values())})

# %% [markdown]
# <details><summary>What came out</summary>
#
# In none: it is higher in all 12. The target model's choice costs accuracy in all 12, too. On the poster's
# photographs this choice is more accurate in 21 of 24 cases.
#
# As trained, both ideas lower the ECE on digits, in 9 of 9 cases and 8 of 12; on our photographs (three seeds) the losses are undecided in 8 of 9, the target's choice lowers it in 1 of 12 (evidence).
# A temperature does this for cross-entropy, too. With one temperature for each, none of the losses showed a lower
# ECE than cross-entropy or, with the least sure 10 %, a lower NLL. Clear digits are untested.
#
# </details>
#
# **On photographs.** We trained on parts of 20,000 photographs, for 15 epochs each; numbers as trained.
#
# **Predict before you run:** cats and lorries are clear to people. Which choice gives the higher accuracy, the least sure or
# random photographs?

# %% tags=["answer"]
photographs = experiments.on_photographs("parts", SCALE, device=device)
for value, rows in photographs.groupby("value", sort=False):
    each = ", ".join(f"{accuracy:.0%}" for accuracy in rows.test_accuracy)
    print(f"{value}: accuracy {rows.test_accuracy.mean():.1%} (seeds: {each}), "
          f"signed gap {rows.test_gap.mean():+.1%}")
by_seed = photographs.pivot(index="seed", columns="value", values="test_accuracy")
off = by_seed["10 % of highest entropy"] - by_seed["10 % by chance"]
off = verdicts.judge("14t", "less accurate by entropy", off)
print(f"10 %, least sure minus random: {100 * off.mean:+.0f} points of accuracy "
      f"[{100 * off.low:+.0f}, {100 * off.high:+.0f}], 95 % over {off.seeds} seeds")

# %% [markdown]
# <details><summary>What came out</summary>
#
# Random photographs, with each of the three seeds. Yet the interval holds zero: one of three trainings on the least sure
# 10 % nearly failed, and three numbers that lie so far apart say little about the next. With 30 % the NLL after T is higher with the least
# sure ones. There a larger network's choice left a lower accuracy at 30 %, with each of four losses (evidence).
#
# </details>
#
# ## 6. On the map
#
# Kappa is the share of the lost accuracy that is still claimed (03).
#
# **Predict before you run:** which kappa is the smallest: with all images, with a random 10 %, or with the least sure 10 %?

# %% tags=["answer", "drawing"]
where = {}
groups = {"all images": plain.where(share=1.0), "10 % random": ruled.where(rule="random"),
          "10 % least sure": ruled.where(rule="entropy"), "10 %, a stranger's": ruled.where(rule="elsewhere")}
for place, (name, outcomes) in enumerate(groups.items()):
    rows = where.setdefault(palette.group(place, name), [])
    for one in outcomes:
        seen, test = one.predictions["train"], one.predictions["test"]
        rows.append(plane.place(metrics.accuracy(seen.probs, seen.labels), metrics.accuracy(test.probs, test.labels),
                                test.confidence.mean().item()))
_ = plots.plane(where)
plt.show()
for role, spots in where.items():
    lost, claimed = np.mean(spots, axis=0)
    print(f"{role.words}: {lost:.1%} lost, {claimed:+.1%} claimed, kappa {claimed / lost:.2f}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# With a random 10 %, as after few epochs. A choice by entropy raises kappa, and the stranger's choice raises it most.
#
# </details>
#
# ### Exercise: what a subset costs (homework)
#
# *Difficulty: medium · importance: high · 10 minutes*
#
# Of `epochs` epochs, the first `warmup` train on all images; each later one scores all images and trains on a `share`
# of them. To score an image costs `scoring` times as much as to train on it. Return the cost of this training, as a
# part of that of training on all images in all epochs.

# %%
def my_selection_cost(share, warmup, epochs, scoring):
    ...  # your code here: return one number


check.selection_cost(my_selection_cost)

# %% [markdown]
# <details><summary>Hint</summary>
#
# Count in epochs on all images: a warm-up epoch costs 1, a later one `share + scoring`.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_selection_cost(share, warmup, epochs, scoring):
#     later = epochs - warmup
#     return (warmup + later * (share + scoring)) / epochs
# ```
#
# </details>
#
# ### Exercise: three rules (homework)
#
# *Difficulty: medium · importance: high · 15 minutes*
#
# Three teams keep 20 %: (a) by the entropy of a network trained on *other* images; (b) by the entropy of the network in
# training; (c) by its loss. For each: is $P(\text{label}\mid\text{image})$ among the chosen the same as among all? Does
# the network become too sure, or not sure enough? And how could a team without an exact posterior find out?
#
# <details><summary>Answer</summary>
#
# (a) Yes: the rule changes *which* images the network meets, not their labels. The posterior still has the lowest
# expected loss. But a network need not reach it: ours became more over-confident than with random images. (b) Not
# quite: the network has seen these labels. It fits an image with a likely label sooner; then the entropy of this image
# falls, and it is taken less often. Ours became more over-confident, too. (c) No: of equal images the rule takes those
# with the surprising label, and it takes images that the network reads wrongly. Ours became under-confident. To find
# out about the labels, plant wrong labels at random and count them among the chosen. To find out about the confidence,
# train a second network on a random part.
#
# </details>
#
# ## The answer
#
# **It depended on the noise of the digits. On clear digits the doubted images were better to train on than random ones, and
# 30 % of them came about as far as all images (a tenth did not). On ambiguous digits random ones, drawn anew, won. On
# photographs no gain was seen.**
#
# **On digits at noise 0.4 the network was more over-confident than with random images. A temperature repairs this confidence,
# but not the higher NLL (seen with 10 and 20 %). And scoring costs a part of what is saved. So compare with a random choice,
# at equal steps.**
#
# All verdicts, other rules and the poster's numbers: [evidence](evidence/14_sample_prioritization.ipynb). Next:
# [15 Text](15_text.ipynb).
#
# ## Three things to take away
#
# 1. A part of the images means fewer steps. Compare with a random part, at equal steps.
# 2. Doubt is epistemic or aleatoric, and an entropy does not say which. On our digits entropy beat random images, drawn
#    anew, where little doubt was aleatoric.
# 3. Ask what a choice looks at. If it sees the labels, it can change the probability of the labels among the chosen. A choice
#    by the images alone can still make a network more over-confident, by repetition.
#
# ## Recall
#
# <details><summary>1. Why can a smaller part lower the gap at equal epochs?</summary>
#
# It means fewer steps. At a small weight decay over-confidence grows with them.
#
# </details>
#
# <details><summary>2. Which images does such a training have to look at?</summary>
#
# In each epoch, all images, to score them (forward), and the chosen ones, to train on them (forward and backward).
#
# </details>
#
# <details><summary>3. Two images have the same entropy of 1 nat. Why may one be worth training on and the other not?</summary>
#
# The network may not know the first one yet. The other may be ambiguous, and no training makes it clear.
#
# </details>
#
# <details><summary>4. Why does a network that trains on the images of highest loss become under-confident?</summary>
#
# On the chosen images it is nearly always wrong, so training lowers its confidence. (We have not tested whether this is
# the whole reason.)
#
# </details>
#
# <details><summary>5. A choice is blind to the labels. What stays right, and what may change?</summary>
#
# On the chosen images the exact posterior is still calibrated. A network trained on them may still become more over-confident than one trained on random images.
#
# </details>
#
# ## Go further
#
# Let the network choose only once, after the warm-up, and keep this part to the end. What is the accuracy with 30 %? If
# your digits differ, see [your numbers differ?](your_numbers_differ.md).
#
# <details><summary>Answer</summary>
#
# ```python
# early = plain.one(share=1.0, seed=SEED).logits["train"][warmup - 1 : warmup]
# once = choices.trial(size, "entropy", 0.3, SEED, select=MaxEntropy(0.3, warmup, target=early))
# each = choices.trial(size, "entropy", 0.3, SEED)
# for name, one in sweep.run(lambda way: {"once": once, "each epoch": each}[way], {"way": ["once", "each epoch"]},
#                            device=device).table.groupby("way"):
#     print(f"chosen {name}: accuracy {one.test_accuracy.item():.1%}")
# ```
#
# With one scoring, the part costs hardly more than its share. But the choice cannot follow what the network learns
# later.
#
# </details>
#
# ## References
#
# - Tata, Gudur, Chennupati, Khan: *Can Calibration Improve Sample Prioritization?* 2022.
#   [arXiv:2210.06592](https://arxiv.org/abs/2210.06592) (its poster: tables 1 and 2)
# - Coleman et al.: *Selection via Proxy: Efficient Data Selection for Deep Learning*. ICLR 2020.
#   [arXiv:1906.11829](https://arxiv.org/abs/1906.11829)
# - Loshchilov, Hutter: *Online Batch Selection for Faster Training of Neural Networks*. 2016.
#   [arXiv:1511.06343](https://arxiv.org/abs/1511.06343)
# - Mindermann et al.: *Prioritized Training on Points that are Learnable, Worth Learning, and Not Yet Learnt*. ICML 2022.
#   [arXiv:2206.07137](https://arxiv.org/abs/2206.07137)
# - Swayamdipta et al.: *Dataset Cartography: Mapping and Diagnosing Datasets with Training Dynamics*. EMNLP 2020.
#   [arXiv:2009.10795](https://arxiv.org/abs/2009.10795) (what stays hard throughout a training is often wrongly labelled)
# - Paul, Ganguli, Dziugaite: *Deep Learning on a Data Diet: Finding Important Examples Early in Training*.
#   NeurIPS 2021. [arXiv:2107.07075](https://arxiv.org/abs/2107.07075)
# - Sorscher, Geirhos, Shekhar, Ganguli, Morcos: *Beyond neural scaling laws: beating power law scaling via data
#   pruning*. NeurIPS 2022. [arXiv:2206.14486](https://arxiv.org/abs/2206.14486) (few images: keep easy ones)
