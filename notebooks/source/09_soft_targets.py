# %% [markdown]
# # 09 · Soft targets: what changes when no label is certain
#
# **Question.** A screening clinic's network says "99 %" far too often. Ben trains it anew with **label smoothing**: a share
# alpha of 0.05 is taken from each label and spread over all ten classes. "And the gap is gone," he says. "Ship it?" What does its
# confidence mean now?
#
# **Predict before you run:** suppose the network does exactly what this loss asks for. Of an image that surely shows a 4
# (posterior 100 %), how sure will it be? Write down a number. Then run the cell.

# %% tags=["answer", "drawing"]
from calibkit.course import explorers

explorers.stored("soft_label")

# %% [markdown]
# <details><summary>What came out</summary>
#
# 95.5 %: the label keeps 95, and gets a tenth of the other 5. The loss asks for doubt where there is none. Move the slider. Left: an image with its label, a share alpha
# spread. Right: diamonds are the posterior of an image that is hard to read, bars the answer towards which training pulls the network.
#
# </details>
#
# **Time.** 30 minutes; 60 more for the homework, which is all under "Go further".
#
# **Needs.** [08 Temperature](08_temperature.ipynb); for the part *The map of this lesson* the map of [03](03_overconfidence.ipynb).

# %% tags=["drawing"]
from functools import cache, partial

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch.nn.functional import one_hot

from calibkit import losses, metrics, recalibration
from calibkit.course import check, experiments, verdicts
from calibkit.course.scale import begin
from calibkit.lab import data, models, sweep, training
from calibkit.metrics import plane
from calibkit.pictures import alt_text, palette, plots

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% [markdown]
# ## 1. One answer for many images
#
# A network sees the noisy image and not the clean digit below it. Take a hundred images that look nearly like one another:
# 80 of them show a 4, and 20 a 9 under other noise. That is the posterior, q = (80 %, 20 %). The network gives all hundred
# the *same* answer, and pays for each label. It pays least, on average, with the mean of the hundred labels: 80 %, 20 %.
# So cross-entropy asks for the truth.
#
# A **soft target** is any row of probabilities to learn in place of a hard label. Smoothing makes one: each of the $K$ classes gets $\alpha/K$, and the label keeps the rest. The mean of a
# hundred smoothed labels is
#
# $$p^* = (1-\alpha)\,q + \frac{\alpha}{K}.$$
#
# We call $p^*$ the **optimum** of the loss. Smoothing asks for an answer that is less sure than the truth.

# %%
size, seeds, device = begin(SCALE, SEED, DEVICE)
K = 10  # classes


@cache
def digits(seed):
    return data.noisy_digits(size.train, noise=0.4, seed=seed, test=size.test)


labels, alpha = digits(SEED).train.labels[:3], 0.1
soft = (1 - alpha) * one_hot(labels, K) + alpha / K
print(f"labels {labels.tolist()}: the first is now", [round(p, 2) for p in soft[0].tolist()])

# %% tags=["drawing"]
test = digits(SEED).test
truth = test.posterior[range(len(test)), test.labels]
chosen = torch.nonzero((truth - 0.7).abs() < 0.02)[0, 0].item()


def smoothed_label(alpha):
    image = test.inputs[chosen, 0].clamp(min=0).numpy()
    return explorers.soft_label_frame(image, test.labels[chosen].item(), test.posterior[chosen].numpy(), alpha)


explorers.keep(explorers.Explorer(
    smoothed_label, explorers.Slider("alpha", [0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.0]),
    description="A noisy digit, twice. Left, below it, its label: diamonds as given, bars after smoothing. Right: "
    "diamonds the exact posterior of its digit, bars the answer with the lowest expected loss."), "soft_label")

# %% [markdown]
# **Your turn.** Change alpha and q, say what will come out, and run the cell: the loop lowers the expected loss step
# by step.

# %%
alpha, q = 0.2, torch.tensor([[0.7, 0.3]])  # change me: alpha, and the posterior of two classes

z = torch.zeros(1, 2, requires_grad=True)
for _ in range(2000):
    loss = losses.label_smoothing(z, q, alpha=alpha)
    (slope,) = torch.autograd.grad(loss, z)  # how the loss changes with each logit
    z = (z - slope).detach().requires_grad_()
print("lowest loss at", [round(p, 3) for p in z.softmax(dim=1)[0].tolist()])

# %% [markdown]
# ### Exercise: the smoothed loss
#
# *Difficulty: medium · importance: high · 8 minutes*
#
# From `logits` (n, K), `labels` (n,) and `alpha`: the mean over the n rows of the cross-entropy against the smoothed label.

# %%
def my_smoothed_loss(logits, labels, alpha):
    # 1. the logarithm of all probabilities: log_softmax
    # 2. that of the label of each row
    # 3. minus the smoothed label times these logarithms, summed over the classes
    # 4. the mean over the rows
    ...


check.smoothed_loss(my_smoothed_loss)

# %% [markdown]
# <details><summary>Hint</summary>
#
# `log_p.gather(1, labels[:, None])[:, 0]` is the label's. All K classes get alpha / K: together alpha times the mean of the row.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_smoothed_loss(logits, labels, alpha):
#     log_p = logits.log_softmax(dim=1)
#     of_label = log_p.gather(1, labels[:, None])[:, 0]
#     of_all = log_p.mean(dim=1)
#     rows = -((1 - alpha) * of_label + alpha * of_all)
#     return rows.mean()
# ```
#
# </details>
#
# **Keep it**, and train with it. Which alpha makes the gap vanish? Try three.

# %%
check.keep(my_smoothed_loss)

# %%
from calibkit.course.mine import smoothed_loss

alpha = 0.1  # change me
train, cal, test = digits(SEED)
run = training.fit(partial(models.mlp, 64, K, width=64), train, loss=partial(smoothed_loss, alpha=alpha),
                   epochs=size.epochs, seed=SEED, device=device, progress=False)
said = run.predict(test)
print(f"alpha {alpha}: {metrics.accuracy(said.probs, said.labels):.1%} right, "
      f"gap {metrics.signed_gap(said.probs, said.labels):+.1%}")

# %% [markdown]
# ## 2. Right by luck
#
# Seven alphas, several seeds.

# %%
alphas = [0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5]


def smoothed(alpha, seed):
    train, cal, test = digits(seed)
    score = {"train": train, "cal": cal, "test": test}
    return training.trial(partial(models.mlp, 64, K, width=64), train, score, seed=seed,
                          loss=partial(losses.label_smoothing, alpha=alpha), epochs=size.epochs)


swept = sweep.run(smoothed, {"alpha": alphas, "seed": seeds}, device=device)

# %% [markdown]
# **Predict before you run:** each network gets the temperature $T$ that fits it best on images kept aside (above 1: the
# network was too sure). About how large is $T$ at alpha 0.1?

# %% tags=["answer", "drawing"]
def temperature(outcome):
    cal = outcome.predictions["cal"]
    return recalibration.TemperatureScaler().fit(cal.logits, cal.labels).temperature


def scored(measure, cooled):
    """(seeds, alphas): a measure of the test answers, as trained or after the temperature."""
    rows = []
    for seed in seeds:
        rows.append([])
        for run in (swept.one(alpha=alpha, seed=seed) for alpha in alphas):
            t, new = temperature(run) if cooled else 1.0, run.predictions["test"]
            rows[-1].append(float(measure((new.logits.double() / t).softmax(dim=1), new.labels)))
    return np.array(rows)


def asked(measure):
    """The same of the optimum, from the exact posterior."""
    tests = [digits(seed).test for seed in seeds]
    optima = [[((1 - a) * one.posterior + a / K, one.labels) for a in alphas] for one in tests]
    return np.array([[float(measure(*pair)) for pair in row] for row in optima])


raw, cooled, best = scored(metrics.ece, False), scored(metrics.ece, True), asked(metrics.ece)
T = np.array([[temperature(swept.one(alpha=alpha, seed=seed)) for alpha in alphas] for seed in seeds])
after = palette.CURED.named("after its temperature")
fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3.1))
_ = plots.spread(alphas, T, palette.group(0, "T"), ax=left)
_ = left.axhline(1, color=palette.GREY, lw=0.8)
_ = left.set(xlabel="alpha", ylabel="fitted temperature", ylim=(0, None))
for role, rows in {palette.TRAINED: raw, after: cooled, palette.TRUTH.named("the optimum p*"): best}.items():
    _ = plots.spread(alphas, rows, role, ax=right)
_ = right.set(xlabel="alpha", ylabel="ECE", ylim=(0, None))
_ = right.legend(fontsize="small")
words = ", ".join(f"{t:.2f} at alpha {a:g}" for a, t in zip(alphas, T.mean(0), strict=True) if a in (0, 0.1, 0.5))
print(f"fitted T: {words}")
_ = alt_text.note(left, f"Fitted temperature: {words}.")
_ = alt_text.note(right, "ECE at alpha 0, 0.05 and 0.5: " + "; ".join(
    f"{name} {rows.mean(0)[0]:.1%}, {rows.mean(0)[2]:.1%}, {rows.mean(0)[-1]:.1%}"
    for name, rows in {"as trained": raw, "after its temperature": cooled, "the optimum": best}.items()) + ".")
plt.show()

# %% [markdown]
# <details><summary>What came out</summary>
#
# $T$ falls from 3.0 at alpha 0 to 0.8 at 0.1 and 0.4 at 0.5: too sure, a little too unsure, far too unsure. *As trained* the ECE
# is a V. The ECE of the *optimum* grows with alpha: a model that gives what smoothing asks for is not sure enough. So at a
# small alpha two errors cancel: the network is too sure of new images (03), and the loss asks for too little. Where the V is lowest depends
# on the network, not on the truth.
#
# </details>

# %% tags=["drawing"]
def frame(alpha, state):
    place = alphas.index(alpha)
    tests = [swept.one(alpha=alpha, seed=seed).predictions["test"] for seed in seeds]
    ts = T[:, place] if state == "after temperature" else np.ones(len(seeds))
    probs = torch.cat([(one.logits / t).softmax(1) for one, t in zip(tests, ts, strict=True)])
    labels = torch.cat([one.labels for one in tests])
    role, errors = (palette.TRAINED, raw) if state == "as trained" else (palette.CURED, cooled)
    right = np.stack([swept.values("test_accuracy", alpha=a) for a in alphas], axis=1)
    lines = {palette.ACCURACY: right, role.named("ECE, networks"): errors,
             palette.TRUTH.named("ECE, optimum p*"): best}
    readout = (f"alpha {alpha:g}, {state}: accuracy {metrics.accuracy(probs, labels):.1%}, mean confidence "
               f"{probs.amax(1).mean():.1%}, ECE {errors[:, place].mean():.1%}.")
    return explorers.along_frame(
        metrics.reliability(probs, labels), alpha, alphas, lines, x_label="alpha",
        x_ticks=(0, 0.1, 0.2, 0.3, 0.4, 0.5), title=f"alpha {alpha:g}, {state}", readout=readout)


slider = explorers.Explorer(
    frame, explorers.Slider("alpha", alphas, show="{:g}".format),
    explorers.Slider("network", ["as trained", "after temperature"]),
    description="Left, the reliability diagram on test images of the networks of all seeds: a bar below the diagonal "
    "is over-confident. Right, against alpha: accuracy and ECE of these networks, and the ECE of the optimum of "
    "smoothing, from the exact posterior. Bands span the seeds; the grey line marks the alpha.")
explorers.keep(slider, "soft_targets")
slider

# %% [markdown]
# **Play.** Leave the network *as trained*. At which alpha does the diagram lie nearest to the diagonal? What shape
# does it have at alpha 0.3? Then switch to *after temperature*.
#
# A *verdict* gives the mean over seeds with its 95 % interval. HOLDS: all of it lies below 0. (With another weight decay, where the network is
# less sure to begin with, the same alpha makes the ECE larger: [evidence](evidence/09_soft_targets.ipynb).)

# %% tags=["nbval-check-output"]
# raw: the ECE as trained, one row per seed and one column per alpha; column 2 is alpha 0.05
print(verdicts.judge("T2", "smoothing 0.05 has a lower ECE than hard labels", raw[:, 2] - raw[:, 0],
                     expect="below", as_trained=True))

# %% [markdown]
# ## 3. The best label of all
#
# "Then the labels were the fault," says Ben. A smoothed label says "a 4, or any digit". The best one says "a 4, or perhaps a 9": it is the exact posterior. For
# our digits we know it, so we can train on it.
#
# **Predict before you run:** how many points too sure of new images is a network that was trained on exact posteriors?

# %% tags=["answer", "drawing"]
def exact_labels(inputs, labels, **unused):
    """The posterior in place of the labels of a batch: for data whose source is known, alone."""
    return inputs, data.NoisyDigits(noise=0.4).posterior(inputs).float()


def ideal(seed):
    train, cal, test = digits(seed)
    score = {"train": train, "cal": cal, "test": test}
    return training.trial(partial(models.mlp, 64, K, width=64), train, score, seed=seed, mix=exact_labels,
                          epochs=size.epochs)


taught = sweep.run(ideal, {"seed": seeds}, device=device)
for name, runs in {"hard labels": swept.where(alpha=0.0), "exact labels": taught.outcomes}.items():
    tests = [run.predictions["test"] for run in runs]
    sure, right = (np.mean([float(f(one).mean()) for one in tests])
                   for f in (lambda one: one.confidence, lambda one: one.correct.double()))
    print(f"{name}: accuracy {right:.1%}, confidence - accuracy {sure - right:+.1%}, "
          f"T {np.mean([temperature(run) for run in runs]):.2f}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# 9 points. It is more accurate, but still too sure. So the fault was never the labels: there are too few images, and the
# network learns them by heart, with whatever labels (03, 05). Eve repairs it afterwards, with one temperature.
#
# </details>
#
# ## The answer

# %% tags=["drawing"]
plain_gaps = scored(metrics.signed_gap, False)
for a in (0.0, 0.05, 0.1, 0.3):
    k = alphas.index(a)
    print(f"alpha {a:g}: confidence - accuracy {plain_gaps[:, k].mean():+.1%}, T {T[:, k].mean():.2f}, "
          f"ECE after T {cooled[:, k].mean():.1%}")

# %% [markdown]
# **Ben's gap is small because two errors cancel: the network is too sure of new images, and smoothing asks for too little
# confidence. So what it says is no probability, until a temperature is fitted; and after one, every alpha is about as good.**
#
# ## Three things to take away
#
# 1. Each loss asks for its own optimum: cross-entropy for the exact posterior, smoothing for a flattened one.
# 2. At a small alpha two errors cancel; at a larger one the network is under-confident.
# 3. Even exact labels do not make a network calibrated on new images.
#
# ## Recall
#
# <details><summary>1. Ten classes, and q = 1 for one of them. Which probability of this class does smoothing 0.1 ask for?</summary>
#
# 0.91.
#
# </details>
#
# <details><summary>2. A network has alpha 0.3 and confidence 20 points below accuracy. Is it a bad model?</summary>
#
# Not for this reason: the optimum of its loss is under-confident by design. Fit a temperature, then judge.
#
# </details>
#
# <details><summary>3. Why does smoothing lower the ECE of a network, though its optimum has a larger one?</summary>
#
# The network is over-confident on new images. Smoothing makes it less sure, and so hides a part of this error.
#
# </details>
#
# ## Go further
#
# *All that follows may be left out. Next: [10 Focal loss in theory](10_focal_theory.ipynb).*
#
# ### Can one undo the smoothing?
#
# **The mistake** is to read a smoothed network's output as the probability that it is right. A repair:
# suppose that the output $p$ is exactly the optimum $p^*$. Then the formula of section 1 gives the posterior:
# $q=(p-\alpha/K)/(1-\alpha)$. We call this *undoing* $p^*$. (Values below 0 are set to 0; then each row is divided by its
# sum.)
#
# **Predict before you run:** with $p^*$ undone, is the network of alpha 0.3 as over-confident as the network of alpha 0?

# %% tags=["answer", "drawing"]
def undone(outcome):
    a = outcome.setting["alpha"]
    rows = ((outcome.predictions["test"].probs.double() - a / K) / (1 - a)).clamp(min=0)
    return rows / rows.sum(dim=1, keepdim=True)


gaps = {"as trained": scored(metrics.signed_gap, False)}
gaps["p* undone"] = np.array([[metrics.signed_gap(undone(run), run.predictions["test"].labels)
                               for run in (swept.one(alpha=a, seed=seed) for a in alphas)] for seed in seeds])
fig, ax = plt.subplots(figsize=(5, 3))
for role, rows in zip((palette.TRAINED, palette.CURED.named("p* undone")), gaps.values(), strict=True):
    _ = plots.spread(alphas, rows, role, ax=ax)
_ = ax.axhline(0, color=palette.GREY, lw=0.8)
_ = ax.set(xlabel="alpha", ylabel="confidence - accuracy")
_ = ax.legend(fontsize="small")
told = []
for a in (0.0, 0.05, 0.3):
    before, now = (rows.mean(0)[alphas.index(a)] for rows in gaps.values())
    below = (swept.pooled("test", alpha=a).probs < a / K).double().mean()
    told.append(f"alpha {a:g}: {before:+.1%} as trained, {now:+.1%} with p* undone")
    print(f"{told[-1]}; {below:.0%} of all probabilities are below alpha/K")
_ = alt_text.note(ax, f"Confidence minus accuracy. {'; '.join(told)}.")
plt.show()

# %% [markdown]
# <details><summary>What came out</summary>
#
# No: with alpha 0.3 the network is still 8 points *under*-confident. And with alpha 0.05 undoing makes the
# over-confidence larger: smoothing had hidden a part of it. The output is not $p^*$. With alpha 0.05 $p^*$
# never goes below $\alpha/K$ = 0.5 %, but half of the network's probabilities do. A temperature, fitted on images kept
# aside, repairs the confidence on average.
#
# </details>
#
# ### What does the doctor get?
#
# The clinic keeps the most confident predictions and hands the other images to the doctor. The share kept is the
# **coverage**; the error rate among the kept predictions is the **selective risk**. At a given coverage, the risk
# depends on how many predictions are right, and on the *order* of the confidences, not on their size. The AUROC (how
# often a right prediction is more confident than a wrong one) uses only the order, too.
#
# ### Exercise: the error rate of what is kept
#
# *Difficulty: easy · importance: high · 5 minutes*
#
# Return the error rate among the most confident predictions, from `confidence`, `correct` (booleans) and `coverage`. Of
# $n$ predictions, `round(coverage * n)` are kept.

# %%
def my_selective_risk(confidence, correct, coverage):
    ...  # your code here: how many are kept, which ones, how many of them are wrong?


check.selective_risk(my_selective_risk)

# %% [markdown]
# <details><summary>Hint</summary>
#
# `confidence.argsort(descending=True)` has the most confident first. Round the number that is kept: `0.29 * 100` is not exactly 29.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_selective_risk(confidence, correct, coverage):
#     kept = confidence.argsort(descending=True)[:round(coverage * len(confidence))]
#     return 1 - correct[kept].double().mean()
# ```
#
# </details>
#
# `metrics.risk_coverage` returns this error rate for every coverage at once.
#
# **Predict before you run:** each network has its temperature, and the clinic keeps 70 %. Is the risk with smoothing
# 0.3 higher or lower than without smoothing? And if the clinic keeps only the 10 % of which the network is surest?

# %% tags=["answer", "drawing"]
def curve(probs, labels):
    return metrics.risk_coverage(probs, labels)[1].numpy()


keep = np.linspace(0.05, 1, 20)
fig, ax = plt.subplots(figsize=(5.6, 3.2))
told = []
for place, a in enumerate((0.0, 0.3)):
    tests = [swept.one(alpha=a, seed=seed).predictions["test"] for seed in seeds]
    ts = T[:, alphas.index(a)]
    pairs = [((one.logits.double() / t).softmax(1), one.labels) for one, t in zip(tests, ts, strict=True)]
    rows = np.array([curve(*pair) for pair in pairs])
    rows = rows[:, (keep * rows.shape[1]).round().astype(int) - 1]
    name = f"smoothing {a:g}" if a else "hard labels"
    _ = plots.spread(keep, rows, palette.group(place, name), ax=ax)
    at = {share: rows[:, np.abs(keep - share).argmin()].mean() for share in (0.1, 0.7)}
    told.append(f"{name}: risk {at[0.7]:.1%} of 70 % kept, {at[0.1]:.2%} of 10 % kept")
    print(told[-1])
curves = [curve(digits(seed).test.posterior, digits(seed).test.labels) for seed in seeds]
exact = np.mean([one[round(0.7 * size.test) - 1] for one in curves])
print(f"the exact posterior: risk {exact:.1%} of 70 % kept")
_ = ax.set(xlabel="coverage: share kept", ylabel="error rate of what is kept", ylim=(0, None))
_ = ax.legend(fontsize="small")
_ = alt_text.note(ax, f"Error rate against the share kept. {'; '.join(told)}.")
plt.show()

# %% [markdown]
# <details><summary>What came out</summary>
#
# At 70 % the smoothed network has the lower risk: it is a little more accurate. Among the surest 10 % it makes more
# errors, though few: 0.8 % in place of 0.3 %. (Xia et al. 2025 report such a cost for large networks.)
#
# </details>

# %% tags=["nbval-check-output"]
def auroc(probs, labels):
    sure, right = probs.amax(dim=1), probs.argmax(dim=1) == labels
    return metrics.auroc(sure[right], sure[~right])


# the AUROC of every network after its temperature (True): one row per seed, one column per alpha
order = scored(auroc, True)
print(verdicts.judge("09l", "after a temperature, the AUROC is lower with smoothing 0.3 than with hard "
                     "labels", order[:, alphas.index(0.3)] - order[:, 0], expect="below"))

# %% [markdown]
# ### Exercise: which network for the clinic?
#
# *Difficulty: hard · importance: high · 8 minutes, no code*
#
# The clinic chooses among alpha 0, 0.05 and 0.3, and has 200 labelled images. It wants to hand on 30 % of the images to
# the doctor, and to print "the network is ... % sure" beside each kept prediction. Design the comparison: what is fitted on which
# images, what is measured, what decides? (A share $s$ of $n$ images has the standard error $\sqrt{s(1-s)/n}$.)
#
# <details><summary>Answer</summary>
#
# *Handing on*: compare the selective risk at coverage 0.7. On 140 kept images a risk of 10 % has a standard error of
# 2.5 points: too large to see a difference of one point. *Printing* needs calibration: fit T on half of the images, and
# measure the signed gap on the other half. 100 images give a rough T (they may leave some 4 points of gap), and no ECE in 15 bins. After T,
# alpha hardly matters for the ECE. So 200 images cannot decide: take the simplest network, alpha 0 with T, or collect
# more images.
#
# </details>
#
# ### Other losses
#
# - The **confidence penalty** (Pereyra et al. 2017) subtracts from the loss $\beta$ times the entropy of the prediction.
#   Its optimum is less sure than $q$, too.
# - **Brier loss** is the Brier score, used in training. Its optimum is $q$.
# - **MMCE** (Kumar et al. 2018) adds to the loss a calibration error of the batch, without bins, so that it has a
#   gradient.
#
# On 20,000 photographs of CIFAR-10 (six convolutions, three seeds, [stored](from_laptop_to_paper.md)):

# %% tags=["drawing"]
photographs = experiments.on_photographs("soft", SCALE, device=device)
heads = {"train_accuracy": "training accuracy", "test_accuracy": "accuracy", "test_ece": "ECE as trained",
         "temperature": "T", "scaled_ece": "ECE after T", "scaled_nll": "NLL after T"}
table = photographs.groupby("value", sort=False)[list(heads)].mean()
table.rename(columns=heads).rename_axis("loss").round(3)

# %% [markdown]
# As trained, the ECEs differ much. With a temperature for each network they lie close together (the NLL is higher with
# smoothing). MMCE is the exception: with it the network did not even learn its training images.
#
# But all these had the same small weight decay. On our digits we also chose the weight decay of each loss, on images
# kept aside. The chosen ones are larger. Cross-entropy alone is then nearly calibrated, and smoothing makes the ECE as
# trained larger. With a larger weight decay and a temperature for each network, differences in NLL are
# small: plain MMCE, a little smoothing and the penalty came out lower than cross-entropy by some 0.002 to 0.008 where we looked
# again afterwards; no other loss was shown to be lower, and none on photographs ([evidence](evidence/09_soft_targets.ipynb)).
#
# ### Exercise: undo the penalty (homework)
#
# *Difficulty: medium · importance: high · 10 minutes*
#
# A network was trained with the penalty, and its output $p$ is exactly the optimum. Which posterior $q$ does $p$ stand
# for? At the optimum one number is the same for all classes $k$ (see the folded text below):
#
# $$c=\frac{q_k}{p_k}-\beta\log p_k.$$
#
# On paper: solve this for $q_k$. Then find $c$: the $q_k$ sum to 1. Code both steps (there $\beta$ is `weight`). To compare:
# with $\beta=0.5$ the output (0.8, 0.2) has $c=1.25$. So the first class has
# $q_1=0.8\cdot(1.25+0.5\log 0.8)=0.91$, and the second the rest, 0.09.
#
# <details><summary>Why is this number the same for all classes?</summary>
#
# Take two classes, with the posterior $q$ and $1-q$, and the answer $p$ and $1-p$. The expected loss is
#
# $$-q\log p-(1-q)\log(1-p)+\beta\,\bigl(p\log p+(1-p)\log(1-p)\bigr).$$
#
# At its lowest point the derivative with respect to $p$ is 0:
#
# $$-\frac{q}{p}+\frac{1-q}{1-p}+\beta\log p-\beta\log(1-p)=0.$$
#
# Bring what belongs to the first class to one side: $q/p-\beta\log p=(1-q)/(1-p)-\beta\log(1-p)$. This is $c$. With
# more classes this holds for any two, as probability can move between them. (It is the condition of Lagrange for a sum
# of 1.)
#
# </details>

# %%
def my_penalty_posterior(p, weight):
    ...  # your code here: p is (n, K), weight a number


check.penalty_posterior(my_penalty_posterior)

# %% [markdown]
# <details><summary>Hint</summary>
#
# $q_k=p_k(c+\beta\log p_k)$. Sum over all classes: $1=c+\beta\sum_kp_k\log p_k=c-\beta H(p)$, with the entropy $H$. So
# $c=1+\beta H(p)$.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_penalty_posterior(p, weight):
#     entropy = -(p * p.log()).sum(dim=1, keepdim=True)
#     return p * (1 + weight * (entropy + p.log()))
# ```
#
# </details>
#
# **The map of this lesson.** Across: the accuracy that is lost on new images. Upwards: confidence minus accuracy, the part
# of the lost accuracy that is still claimed. **Predict:** where does the network go as alpha grows?

# %% tags=["answer", "drawing"]
def spot(run):
    learned, new = run.predictions["train"], run.predictions["test"]
    right = [one.correct.double().mean().item() for one in (learned, new)]
    return plane.place(*right, new.confidence.mean().item())


spots = {a: [spot(swept.one(alpha=a, seed=seed)) for seed in seeds] for a in alphas if a in (0.0, 0.05, 0.1, 0.3)}
for a, places in spots.items():
    lost, claimed = np.mean(places, axis=0)
    print(f"alpha {a:g}: {lost:.2f} lost, {claimed:+.2f} claimed")
_ = plots.plane({palette.group(k, f"alpha {a:g}"): places for k, (a, places) in enumerate(spots.items())})
plt.show()

# %% [markdown]
# <details><summary>What came out</summary>
#
# Straight down, and below zero: alpha changes what is claimed, and hardly what is lost. A temperature moves a network
# down as well.
#
# </details>
#
# ### The wrong sign
#
# What if a programmer writes the wrong *sign* before the confidence penalty? What is the optimum then, for
# $q=(0.7, 0.3)$ and weight 0.5?
#
# <details><summary>Answer</summary>
#
# ```python
# from calibkit import theory
#
# p = torch.linspace(0.001, 0.999, 999, dtype=torch.float64)
# rows = torch.stack([p, 1 - p], dim=1)
# expected = -0.7 * p.log() - 0.3 * (1 - p).log() + 0.5 * metrics.entropy(rows)
# print(f"wrong sign: p* {p[expected.argmin()]:.3f}; right sign: "
#       f"{theory.penalty_minimiser([0.7, 0.3], 0.5)[0]:.3f}")
# ```
#
# With the wrong sign p* lies above 0.7: the loss asks for an answer that is too sure.
#
# </details>
#
# All verdicts, three forms of MMCE, training on the exact posterior, and what smoothing does to features are in the
# [evidence](evidence/09_soft_targets.ipynb). Your numbers differ from ours? See [your numbers differ?](your_numbers_differ.md).
#
# ## References
#
# - Müller, Kornblith, Hinton: *When Does Label Smoothing Help?* NeurIPS 2019.
#   [arXiv:1906.02629](https://arxiv.org/abs/1906.02629) (table 3, figure 1)
# - Pereyra et al.: *Regularizing Neural Networks by Penalizing Confident Output Distributions*. ICLR
#   workshop 2017. [arXiv:1701.06548](https://arxiv.org/abs/1701.06548)
# - Szegedy et al.: *Rethinking the Inception Architecture for Computer Vision*. CVPR 2016.
#   [arXiv:1512.00567](https://arxiv.org/abs/1512.00567) (section 7: form K)
# - Kumar et al.: *Trainable Calibration Measures ...* ICML 2018.
#   [PMLR 80](https://proceedings.mlr.press/v80/kumar18a.html) (MMCE)
# - Mukhoti et al.: *Calibrating Deep Neural Networks using Focal Loss*. NeurIPS 2020.
#   [arXiv:2002.09437](https://arxiv.org/abs/2002.09437) (section 5)
# - Xia et al.: *Towards Understanding Why Label Smoothing Degrades Selective Classification ...* ICLR 2025.
#   [arXiv:2403.14715](https://arxiv.org/abs/2403.14715)
# - Geifman, El-Yaniv: *Selective Classification for Deep Neural Networks*. NeurIPS 2017.
#   [arXiv:1705.08500](https://arxiv.org/abs/1705.08500) (risk and coverage)
