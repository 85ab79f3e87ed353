# %% [markdown]
# # 14 · Sample prioritization: which images deserve an epoch?
#
# **Question.** A training on all images takes a hospital's only GPU for ten days, and leaves 28 of 1,000 new scans wrong. "Train each epoch only on
# the tenth of the images that the network is least sure of," says Ben. "It learns nothing from the others, and the GPU is free after one day." Do you sign?
#
# **Predict before you run:** after one day, a training on all images leaves 137 of 1,000 clear scans wrong. **How many does Ben's leave?** Write down a
# number, then run the cell and move both sliders.

# %% tags=["answer"]
from calibkit.course import explorers

explorers.stored("subset_share")

# %% [markdown]
# <details><summary>What came out</summary>
#
# 524, nearly four times as many. (Our scans are digits: clear ones have noise 0.1, noisy ones 0.4.)
#
# </details>
#
# **Time.** 35 minutes; 15 more for the homework, which may be left out.
#
# **Needs.** [08 Temperature](08_temperature.ipynb).

# %% tags=["drawing"]
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch

from calibkit import metrics
from calibkit.course import check, experiments
from calibkit.course.experiments import choices
from calibkit.course.scale import begin
from calibkit.lab import sweep, training
from calibkit.pictures import alt_text, palette, plots
from calibkit.prioritization import MaxEntropy, RandomPart, Selection

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% tags=["drawing"]
size, seeds, device = begin(SCALE, SEED, DEVICE)
days, noises = [1, 3, 10], {"clear": 0.1, "noisy": 0.4}
rules = {"all images": None, "random tenth": RandomPart, "least sure tenth": MaxEntropy}
costs = {"all images": 1.0, "random tenth": 0.1, "least sure tenth": 0.1 + 1 / 3}  # of an epoch; see section 2


def bought(rule, time):
    """Warm-up epochs, and all epochs, that so many days pay for."""
    full = max(1, round(choices.epochs(size) * time / 10))  # epochs on all images
    warmup = max(1, full // 4)
    return warmup, warmup + round((full - warmup) / costs[rule])


def recipe(rule, scans, time, seed):
    warmup, epochs = bought(rule, time)
    select = rules[rule] and rules[rule](0.1, warmup=warmup)
    return choices.trial(size, rule, 1.0, seed, noise=noises[scans], epochs=epochs, select=select)

# %% tags=["drawing"]
swept = sweep.run(recipe, {"rule": list(rules), "scans": list(noises), "time": days, "seed": seeds}, device=device)


def wrong(rule, scans, time):
    """Of 1,000 new scans, one number for each seed."""
    tests = [one.predictions["test"] for one in swept.where(rule=rule, scans=scans, time=time)]
    return np.array([1000 * (1 - metrics.accuracy(test.probs, test.labels)) for test in tests])


# %% tags=["drawing"]
def frame(rule, time):
    runs = [swept.where(rule=rule, scans="clear", time=one) for one in days]
    tests = [[one.predictions["test"] for one in column] for column in runs]
    right = np.array([[metrics.accuracy(t.probs, t.labels) for t in column] for column in tests]).T
    sure = np.array([[t.confidence.mean().item() for t in column] for column in tests]).T
    place = days.index(time)
    readout = (f"{rule}, days: {time}: accuracy {right[:, place].mean():.1%}, mean confidence "
               f"{sure[:, place].mean():.1%}; {1000 * (1 - right[:, place].mean()):.0f} of 1,000 are read wrongly")
    return explorers.along_frame(
        explorers.pooled([metrics.reliability(t.probs, t.labels) for t in tests[place]]), time, days,
        {palette.CONFIDENCE: sure, palette.ACCURACY: right}, x_label="days (log)", x_ticks=days, log_x=True,
        title=f"{rule}, days: {time}", readout=readout)


explorers.keep(explorers.Explorer(
    frame, explorers.Slider("trained on", list(rules), start="least sure tenth"), explorers.Slider("days", days),
    description="Left, the reliability diagram on new clear scans, all seeds together: a bar below the diagonal is "
    "over-confident. Right, accuracy and mean confidence against the days, for the chosen way to train; the bands "
    "span the seeds, the grey line marks the chosen days."), "subset_share")

# %% [markdown]
# ## 1. Ben: "Only what it doubts"
#
# To choose the images of each epoch is called **prioritizing samples**. Ben takes those whose prediction has the highest
# entropy $-\sum_kp_k\log p_k$, a **max-entropy subset**, after a few **warm-up epochs** on all images.
#
# ### Exercise: the least sure
#
# *Difficulty: easy · importance: high · 6 minutes*
#
# Return the indices of the `round(share * n)` rows of `probs` (n, K) with the highest entropy, as a tensor, smallest index first.


# %%
def my_top_entropy(probs, share):
    # 1. the entropy of each row; torch.special.entr(probs) is -p log p, also at 0
    # 2. how many rows to take
    # 3. the indices, from the highest entropy to the lowest
    # 4. the first of them, sorted
    ...


check.top_entropy(my_top_entropy)

# %% [markdown]
# <details><summary>Hint</summary>
#
# `values.argsort(descending=True)` gives the indices from the largest value to the smallest; `indices.sort().values` sorts.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_top_entropy(probs, share):
#     entropy = torch.special.entr(probs).sum(dim=1)
#     count = round(share * len(probs))
#     order = entropy.argsort(descending=True)
#     return order[:count].sort().values
# ```
#
# </details>

# %%
check.keep(my_top_entropy)

# %% [markdown]
# **Your move.** `choose` is called before each epoch. One day pays for 8 epochs of Ben's rule. Run them. Then write Ada's rule: return
# `torch.randperm(len(logits))[:150]`, a random tenth, drawn anew for each epoch. Run it with 8 epochs, and with
# 31: a random tenth need not be looked for (section 2), so one day pays for more. Each line is a mean of five networks.

# %%
from calibkit.course.mine import top_entropy

noise, epochs = 0.1, 8  # change me

@dataclass(frozen=True)
class Ours(Selection):
    def choose(self, logits, labels=None, generator=None):
        return top_entropy(logits.softmax(dim=1), self.share)  # change me

wrongly = []
for seed in seeds:
    train, _, test = choices.digits(size, noise, seed)
    run = training.fit(choices.NETWORK, train, select=Ours(share=0.1, warmup=1), epochs=epochs, seed=seed,
                       weight_decay=choices.DECAY, device=device, progress=False, **choices.OPTIMIZER)
    wrongly.append(1000 * (~run.predict(test).correct).double().mean().item())
print(f"noise {noise}, {epochs} epochs: {np.mean(wrongly):.0f} of 1,000 new scans are read wrongly")

# %% [markdown]
# <details><summary>What you may have found</summary>
#
# Ben's rule leaves 524 wrong, the random tenth about 390 with as many epochs, and about 110 with the 31 that one day pays for. So the choice
# costs something, and the few epochs cost more.
#
# </details>
#
# ## 2. Eve: "And who pays for the choosing?"
#
# To find the least sure tenth, the network reads *all* images before each epoch. For reading an image (forward, without backward) Eve counts a
# third of training on it. So an epoch of Ben's costs 0.1 + 0.33 of an epoch on all images, a random one 0.1. A quarter of the days go to the warm-up. What do days buy?

# %%
for time in days:
    print("days:", time, *(f"| {rule} {bought(rule, time)[1]} epochs" for rule in rules))

# %% [markdown]
# ## 3. Ada: "Better than what?"
#
# "Than all images, and than a random tenth," says Ada. "At equal days." Five networks each:
#
# **Predict before you run:** after ten days all images leave 28 of 1,000 clear scans wrong, and 224 noisy ones. How many does Ben's tenth?

# %% tags=["answer", "drawing"]
# your guess first, then run this cell
looks = {"all images": palette.group(0, "all images"), "random tenth": palette.group(1, "random tenth"),
         "least sure tenth": palette.group(2, "least sure tenth")}
fig, axes = plt.subplots(1, 2, figsize=(8.4, 3.3), sharey=True)
for ax, scans in zip(axes, noises, strict=True):
    told = []
    print(f"{scans} scans, wrong of 1,000 after 1, 3 and 10 days:")
    for rule, look in looks.items():
        found = np.array([wrong(rule, scans, time) for time in days])
        _ = plots.spread(days, found.T, look, ax=ax)
        told.append(f"{rule} " + ", ".join(f"{one:.0f}" for one in found.mean(axis=1)))
        print(" ", told[-1])
    _ = ax.set(xscale="log", xlabel="days of the GPU (log)", title=f"{scans} scans", ylim=(0, 750))
    _ = ax.set_xticks(days, days)
    _ = ax.minorticks_off()
    _ = alt_text.note(ax, f"Of 1,000 new {scans} scans, wrong after 1, 3 and 10 days: {'; '.join(told)}.")
_ = axes[0].set(ylabel="wrong of 1,000")
_ = axes[1].legend()
plt.show()

# %% [markdown]
# <details><summary>What came out</summary>
#
# 24 and 225. On clear scans his choice wins in the end, against the random tenth (27) in each of the five networks. On noisy ones
# it does not (222). After one day and after three it is the worst everywhere: its days go into reading.
#
# What does save days? Stopping earlier: after three days all images leave 219 noisy scans wrong, no more than after ten.
#
# </details>
#
# ## 4. Why it does not help on noisy scans
#
# A network may be unsure because it has not learned enough yet: **epistemic doubt**. Or the image itself is ambiguous, and every reader stays unsure:
# **aleatoric doubt**. Here are twelve noisy scans that Ben's rule takes after the warm-up. The best possible reader (the exact posterior) is sure of
# six of them. Which six? Write their letters into the cell below.

# %% tags=["drawing"]
def watched(scans):
    images = choices.digits(size, noises[scans], SEED).train
    return choices.trial(size, "entropy", 0.1, SEED, noise=noises[scans], watch={"train": images}, keep=("train",))


kept = sweep.run(watched, {"scans": list(noises)}, device=device)


def chosen(scans, epoch):
    """The training images that the rule takes after an epoch, and the network's probabilities of them."""
    logits = kept.one(scans=scans).logits["train"][epoch - 1].cpu()
    taken = MaxEntropy(0.1).choose(logits)
    return choices.digits(size, noises[scans], SEED).train[taken], logits[taken].softmax(dim=1)

# %% tags=["drawing"]
taken, said = chosen("noisy", choices.warmup(size))
sure = taken.posterior.amax(dim=1)
twelve = torch.cat([(sure > 0.95).nonzero()[:6, 0], (sure < 0.6).nonzero()[:6, 0]])
twelve = twelve[torch.randperm(len(twelve), generator=torch.Generator().manual_seed(SEED))]
letters = "ABCDEFGHIJKL"[: len(twelve)]
fig, axes = plt.subplots(2, 6, figsize=(9, 3.4))
doubts = metrics.entropy(said)[twelve]
for ax, letter, place, doubt in zip(axes.flat, letters, twelve.tolist(), doubts, strict=False):
    _ = ax.imshow(taken.inputs[place, 0], cmap="gray_r", vmin=0, vmax=1)
    _ = ax.set_title(f"{letter}: entropy {doubt:.1f}", fontsize=10)
    _ = alt_text.note(ax, "")
for ax in axes.flat:
    _ = ax.axis("off")
_ = alt_text.note(axes[0, 0], "Twelve noisy digits that the rule takes, with the entropy of the network: "
                              + ", ".join(f"{k} {doubt:.1f}" for k, doubt in zip(letters, doubts, strict=True)))
plt.show()

# %%
mine = "ABCDEF"  # change me: the six that you call clear
clear = sure[twelve] > 0.95
for letter, place in zip(letters, twelve.tolist(), strict=True):
    answer = taken.posterior[place].argmax()
    print(f"{letter} is a {taken.labels[place]}; the best reader says {answer}, {sure[place]:.0%} sure")
right = [(letter in mine) == yes for letter, yes in zip(letters, clear.tolist(), strict=True)]
print(f"{sum(right)} of {len(right)} right")

# %% [markdown]
# Guessing gives 6 on average. The entropies do not tell the two kinds apart, and Ben's rule knows nothing else. As the network learns
# the clear images, the rule takes more and more of the others:

# %%
for scans, noise in noises.items():
    shown = {"all": choices.digits(size, noise, SEED).train}
    shown |= {f"chosen after epoch {epoch}": chosen(scans, epoch)[0]
              for epoch in (choices.warmup(size), choices.epochs(size) - 1)}
    for words, images in shown.items():
        clear = (images.posterior.amax(dim=1) > 0.9).double().mean()
        print(f"{scans} scans, {words}: {clear:.0%} are clear to the best reader")

# %% [markdown]
# ### Exercise: ten days
#
# *Difficulty: medium · importance: medium · 4 minutes, no code*
#
# What do you sign if you have one day, three days or ten, for clear scans and for noisy ones? And if you do not know how noisy they are?
#
# <details><summary>Answer</summary>
#
# *Noisy:* three days of a random tenth or of all images (220 and 219 wrong). Seven more days bring nothing, nor does Ben's choice.
#
# *Clear:* with ten days, the least sure tenth (24 wrong). With three, a random tenth (38) or all images (41). With one, a random tenth (107).
#
# *Not known:* a random tenth for three days. It is hard to beat, and it is what each choice has to beat, at equal days.
#
# </details>
#
# ## The answer
#
# **No: to find Ben's tenth all images must be read, so that one day leaves 524 of 1,000 clear scans wrong, and one day of a random tenth 107. His choice
# pays with all ten days and clear scans alone: 24 wrong, where a random tenth leaves 27 and all images 28.**
#
# ## Three things to take away
#
# 1. Compare a choice with a random one, at equal cost, and at more than one cost.
# 2. Doubt that training removes and doubt that stays look alike to a network.
# 3. Prioritize where most doubt is of the first kind: where the images are clear to a good reader.
#
# ## Recall
#
# <details><summary>1. Two images have the same entropy of 1 nat. Why may one be worth training on and the other not?</summary>
#
# The network may not know the first one yet. The other may be ambiguous, and no training makes it clear.
#
# </details>
#
# <details><summary>2. A tenth by entropy reaches the accuracy of all images. What must you ask before you believe in the choice?</summary>
#
# What a random tenth reaches, at the same cost.
#
# </details>
#
# <details><summary>3. Which images does such a training have to look at?</summary>
#
# In each epoch all images, to score them (forward), and the chosen ones, to train on them (forward and backward).
#
# </details>
#
# ## Go further
#
# *All that follows may be left out. Next: [15 Text](15_text.ipynb).*
#
# ### Exercise: what a choice costs
#
# *Difficulty: easy · importance: medium · 6 minutes*
#
# Write Eve's bill. Of `epochs` epochs, the first `warmup` train on all images; each later one scores all images and trains on a `share`
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
# ### On photographs
#
# Stored networks learned parts of 20,000 photographs for 15 epochs, one of them for warm-up; three seeds each:

# %% tags=["drawing"]
photographs = experiments.on_photographs("parts", SCALE, device=device)
for value, rows in photographs.groupby("value", sort=False):
    each = ", ".join(f"{accuracy:.0%}" for accuracy in rows.test_accuracy)
    print(f"{value}: accuracy {each}")

# %% [markdown]
# Random photographs win in each of the three seeds, and one of the trainings on the least sure 10 % nearly failed. But 15 epochs are even
# fewer than 40 here; the authors lose 0.9 points after 200. Longer trainings on photographs are not run yet.
#
# A larger network that chooses, calibrating losses, other rules, and all verdicts (at 40 epochs):
# [evidence](evidence/14_sample_prioritization.ipynb). Your numbers differ? [Why](your_numbers_differ.md).
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
# - Paul, Ganguli, Dziugaite: *Deep Learning on a Data Diet: Finding Important Examples Early in Training*.
#   NeurIPS 2021. [arXiv:2107.07075](https://arxiv.org/abs/2107.07075)
# - Sorscher, Geirhos, Shekhar, Ganguli, Morcos: *Beyond neural scaling laws: beating power law scaling via data
#   pruning*. NeurIPS 2022. [arXiv:2206.14486](https://arxiv.org/abs/2206.14486) (few images: keep easy ones)
