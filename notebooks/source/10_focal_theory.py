# %% [markdown]
# # 10 · Focal loss: may one read its output as a probability?
#
# **Question.** "I changed one word of my training," says Ben, "*focal* in place of *cross-entropy*." Now the screen says of a
# scan: 75 %. May a doctor read this as a probability, right in 75 of 100 cases?
#
# **Predict before you run:** trained with cross-entropy (gamma 0), of 100 answers with about 75 % on the screen only 50 are
# right. **How many are right with Ben's focal loss (gamma 5)?** Write down a number, then run the cell and move the slider.

# %% tags=["answer"]
from calibkit.course import explorers

explorers.stored("focal_gamma")

# %% [markdown]
# <details><summary>What came out</summary>
#
# 76 of 100. From gamma 0 to 5 the confidence falls by 16 points, to 77 %, and the accuracy by one, to 78 %. The screen seems to tell the
# truth.
#
# </details>
#
# **Time.** 35 minutes; 35 more for the homework, which may be left out.
#
# **Needs.** [08 Temperature](08_temperature.ipynb).
#
# **Next on your path.** *Theory*: [18](18_estimators_in_depth.ipynb).

# %% tags=["drawing"]
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch

from calibkit import metrics, theory
from calibkit.course import check, verdicts
from calibkit.course.experiments import focal_gammas, photograph_runs
from calibkit.course.scale import begin
from calibkit.lab import data, sweep
from calibkit.pictures import alt_text, palette, plots

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% tags=["drawing"]
size, seeds, device = begin(SCALE, SEED, DEVICE)
gammas = [0.0, 1.0, 2.0, 3.0, 5.0]
small, large = focal_gammas.DECAY, 0.01  # weight decays
swept = sweep.run(lambda gamma, seed: focal_gammas.trial(size, gamma, small, seed),
                  {"gamma": gammas, "seed": seeds}, device=device)


def of_75(probs, labels):
    """The share of right answers among those with a confidence of 70 to 80 %."""
    confidence, predicted = probs.max(dim=1)
    near = (confidence > 0.7) & (confidence <= 0.8)
    return (predicted == labels)[near].double().mean().item()


def tests_of(gamma, undo=False):
    """For each seed the probabilities of new images, as read or with p* undone, and the labels."""
    found = [one.predictions["test"] for one in swept.where(gamma=gamma)]
    return [(theory.focal_posterior(t.probs.double(), gamma) if undo else t.probs, t.labels) for t in found]


def against_gamma(measure, undo=False):
    return np.array([[measure(*pair) for pair in tests_of(gamma, undo)] for gamma in gammas]).T

# %% tags=["drawing"]
def sureness(probs, labels):
    return probs.amax(dim=1).double().mean().item()


accuracy, confidence = against_gamma(metrics.accuracy), against_gamma(sureness)


def frame(gamma):
    sure, right = (rows[:, gammas.index(gamma)].mean() for rows in (confidence, accuracy))
    told = np.mean([of_75(*pair) for pair in tests_of(gamma)])
    return explorers.along_frame(
        explorers.pooled([metrics.reliability(*pair) for pair in tests_of(gamma)]), gamma, gammas,
        {palette.CONFIDENCE: confidence, palette.ACCURACY: accuracy}, x_label="gamma", x_ticks=[0, 1, 2, 3, 5],
        title=f"gamma {gamma:g}", readout=f"gamma {gamma:g}: mean confidence {sure:.1%}, accuracy {right:.1%}; "
        f"of the answers with a confidence of 70 to 80 %, {told:.0%} are right")


explorers.keep(explorers.Explorer(
    frame, explorers.Slider("gamma", gammas, show="{:g}".format), play=True,
    description="Left, the reliability diagram of the networks of all seeds for one gamma: a bar below the diagonal "
    "is over-confident. Right, mean confidence and accuracy against gamma; the bands span the seeds, the grey line "
    "marks the chosen gamma.",
), "focal_gamma")

# %% [markdown]
# ## 1. What does Ben's loss ask for?
#
# Let $p$ be the probability that the network gives to the label. Cross-entropy is $-\log p$. **Focal loss** (Lin et al. 2017)
# multiplies it by a factor:
#
# $$L_\gamma(p)=-(1-p)^\gamma\log p.$$
#
# "An image that is read surely hardly counts any more," says Ben. "But my loss still asks for the truth." Does it? Take a
# hundred images that look alike. Ninety show a 4, ten a 9, and nobody can tell which. So the true answer is "a 4, 90 %" for
# each of them. If the network says $p$ for the 4, its mean loss is $0.9\,L_\gamma(p)+0.1\,L_\gamma(1-p)$.
#
# **Predict before you run:** with gamma 3, at which $p$ is this mean loss lowest? Write down a number.

# %% tags=["answer"]
gamma, truth = 3.0, 0.9  # change both, once you have seen the answer

p = torch.linspace(0.001, 0.999, 999)


def focal(p):
    return -((1 - p) ** gamma) * p.log()


mean_loss = truth * focal(p) + (1 - truth) * focal(1 - p)
print(f"gamma {gamma:g}, truth {truth:.0%}: the mean loss is lowest at p = {p[mean_loss.argmin()]:.1%}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# 64.7 %. Look at the factor where the network says 90 %. For the ninety 4s it is $0.1^3=0.001$; for the ten 9s, to which it gives
# 10 %, it is $0.9^3=0.729$. So nearly all of the loss comes from the ten 9s, and they pull the answer down.
#
# </details>
#
# **Your move.** At gamma 3, for which truth does a network say 75 %? Change the truth until it does.
#
# <details><summary>What you may have found</summary>
#
# 98 %: a network that does what its loss asks for says 75 % where the truth is 98 %.
#
# </details>
#
# The $p$ with the lowest mean loss is called the **focal minimiser** $p^*$. For two classes it lies between one half and the
# truth.
#
# ## 2. Eve: "Then I undo it"
#
# "If your loss bends the truth in a known way," says Eve, "I bend it back." Training ends where the images of both classes pull the output
# equally hard. With cross-entropy each image pulls with 1 minus the probability of its label: at an output of 75 %, 75
# fours pull with 0.25 each and 25 nines with 0.75 each. Focal loss multiplies the pull of each image by a number $g$. Call cross-entropy $u$: then
# $p=e^{-u}$, and focal loss is $(1-e^{-u})^\gamma\,u$. By the chain rule $g$ is its derivative, the **gradient ratio** (product rule):
#
# $$g(p,\gamma)=\frac{dL_\gamma}{du}=(1-p)^\gamma-\gamma\,p\,(1-p)^{\gamma-1}\log p.$$
#
# For example, gamma is 3 and the output 75 % and 25 %: $g$ is 0.056 for a 4 and 1.007 for a 9. A 4 pulls with 6 % of its usual
# strength. So there must be 1.007 / 0.056 = 18 times as many 4s for each 9 as cross-entropy would need, to hold the balance. In general: divide the
# probability of each class by its own $g$, then the results by their sum (Charoenphakdee et al. 2021). Here this gives
# 0.75 / 0.056 = 13.4 and 0.25 / 1.007 = 0.25, and 13.4 of 13.65 is 98 %.
#
# ### Exercise: back to the truth
#
# *Difficulty: medium · importance: high · 8 minutes*
#
# A network gives `p` (a tensor) to the first of two classes and `1 - p` to the second. Return the probability
# of the first that belongs to it, if the network does exactly what its loss asks.

# %%
def my_focal_posterior(p, gamma):
    # 1. a small function: the gradient ratio of any probability, for this gamma
    # 2. p and 1 - p, each divided by its own ratio
    # 3. the first of them, as a part of their sum
    ...


check.focal_posterior(my_focal_posterior)

# %% [markdown]
# <details><summary>Hint</summary>
#
# `def ratio(x): return (1 - x) ** gamma - gamma * x * (1 - x) ** (gamma - 1) * x.log()`, inside your function. The second class has
# `(1 - p) / ratio(1 - p)`.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_focal_posterior(p, gamma):
#     def ratio(x):
#         return (1 - x) ** gamma - gamma * x * (1 - x) ** (gamma - 1) * x.log()
#
#     first = p / ratio(p)
#     second = (1 - p) / ratio(1 - p)
#     return first / (first + second)
# ```
#
# </details>

# %%
check.keep(my_focal_posterior)

# %% [markdown]
# Eve tries it first on a small model, a straight line between two classes of points. It has two weights. These cannot learn 4,000
# points by heart, so the model is not made too sure by its training.

# %%
from calibkit.course.mine import focal_posterior

points, _, new = data.clusters(4_000, flip=0.1, seed=SEED, test=size.test)
weights = focal_gammas.two_weights(points, gamma=3.0)  # trained with focal loss
said = focal_gammas.of_two_weights(new, weights)[:, 0].double()  # what it says of the first class
for name, first in {"as read": said, "undone": focal_posterior(said, 3.0)}.items():
    sure = torch.maximum(first, 1 - first).mean()
    right = ((first < 0.5) == new.labels.bool()).double().mean()
    print(f"two weights, {name}: {sure:.1%} sure, {right:.1%} right")

# %% [markdown]
# It was 25 points not sure enough, and is 4. So Eve
# undoes Ben's networks, too, with `theory.focal_posterior`: the same steps for ten classes.
#
# **Predict before you run:** with gamma 5 they are 77 % sure, and right on 78 %. How sure are they once $p^*$ is undone?

# %% tags=["answer", "drawing"]
# your guess first, then run this cell
undone = against_gamma(sureness, undo=True)
for gamma in (0.0, 3.0, 5.0):
    place = gammas.index(gamma)
    read, back, right = (rows[:, place].mean() for rows in (confidence, undone, accuracy))
    print(f"gamma {gamma:g}: {right:.1%} right, {read:.1%} sure as read, {back:.1%} sure undone")


def undone_frame(gamma):
    read, back, right = (rows[:, gammas.index(gamma)].mean() for rows in (confidence, undone, accuracy))
    return explorers.along_frame(
        explorers.pooled([metrics.reliability(*pair) for pair in tests_of(gamma, undo=True)]), gamma, gammas,
        {palette.CONFIDENCE.named("confidence as read"): confidence, palette.ACCURACY: accuracy,
         palette.group(3, "confidence, undone"): undone}, x_label="gamma", x_ticks=[0, 1, 2, 3, 5],
        title=f"gamma {gamma:g}, p* undone", readout=f"gamma {gamma:g}: accuracy {right:.1%}; confidence as read "
        f"{read:.1%}, with p* undone {back:.1%}")


explorers.Explorer(
    undone_frame, explorers.Slider("gamma", gammas, show="{:g}".format, start=5.0),
    description="Left, the reliability diagram of the networks of all seeds after p* is undone. Right, against "
    "gamma: accuracy, mean confidence as the networks are read, and after p* is undone; the bands span the seeds, the "
    "grey line marks the chosen gamma.")

# %% [markdown]
# <details><summary>What came out</summary>
#
# 94 %: as far too sure as with cross-entropy, for every gamma. So there are **two errors**. Training makes each
# network too sure (lesson 03). Reading $p^*$ as if it were the truth makes it less sure. They have opposite signs, and at gamma 5 they
# cancel.
#
# Why is the first error the same? Each training image has one sure label, so both losses ask for 100 % there. On new images both networks
# are about equally certain: 93 and 94 % on average, and right on 79 and 78 %. The one with focal loss writes not 94 %, but its $p^*$: 77 %.
#
# </details>
#
# A *verdict* gives the mean difference over the networks with its 95 % interval. REVERSED: the opposite was measured, undoing
# makes these networks worse.

# %% tags=["nbval-check-output"]
def errors(undo):  # the true calibration error of gamma 3, one number for each seed
    tests = [one.predictions["test"] for one in swept.where(gamma=3.0)]
    pairs = zip(tests_of(3.0, undo), tests, strict=True)
    return np.array([metrics.true_calibration_error(probs, test.posterior) for (probs, _), test in pairs])


print(verdicts.judge("10e", "gamma 3: undoing p* lowers the networks' true calibration error",
                     errors(undo=True) - errors(undo=False), expect="below"))

# %% [markdown]
# ## 3. Ada: "You were lucky"
#
# "So I leave it as it is," says Ben. Ada changes the weight decay (each step pulls every weight a little towards zero), from 0.0001 to 0.01. With it training hardly makes a
# network too sure. The rule of lesson 08 stays: an answer of 90 % or more goes out at once, a doctor reads the others.

# %% tags=["drawing"]
decayed = sweep.run(lambda gamma, seed: focal_gammas.trial(size, gamma, large, seed),
                    {"gamma": [0.0, 5.0], "seed": seeds}, device=device)


def told(name, pairs):
    """What a screen that shows these probabilities does, on average over the networks."""
    rows = []
    for probs, labels in pairs:
        confidence, predicted = probs.max(dim=1)
        out, wrong = confidence >= 0.9, predicted != labels
        rows.append([of_75(probs, labels), out.double().mean().item(), (out & wrong).double().mean().item()])
    right, out, wrong = np.nanmean(rows, axis=0)
    print(f"{name}: of 100 answers at about 75 %, {100 * right:.0f} are right; "
          f"of 1,000 images {1000 * out:.0f} go out, {1000 * wrong:.0f} of them wrong")

# %% [markdown]
# **Predict before you run:** Ada's weight decay, Ben's gamma 5. Of 100 answers with about 75 % on the screen, how many are right?

# %% tags=["answer", "drawing"]
# your guess first, then run this cell
with_ada = {gamma: [one.predictions["test"] for one in decayed.where(gamma=gamma)] for gamma in (0.0, 5.0)}
print("weight decay 0.0001")
told("    cross-entropy", tests_of(0.0))
told("    gamma 5", tests_of(5.0))
told("    gamma 5, undone", tests_of(5.0, undo=True))
print("weight decay 0.01")
told("    cross-entropy", [(test.probs, test.labels) for test in with_ada[0.0]])
told("    gamma 5", [(test.probs, test.labels) for test in with_ada[5.0]])
told("    gamma 5, undone", [(theory.focal_posterior(test.probs.double(), 5.0), test.labels)
                            for test in with_ada[5.0]])

# %% [markdown]
# <details><summary>What came out</summary>
#
# It is 99. The first error has nearly gone, only the second is left: the screen says 75 % where 99 % is meant. Of 1,000 images 2 go out, and
# the doctor reads the other 998. Here Eve is right: with $p^*$ undone, 76 of 100 are right, and 439 images go out.
#
# </details>
#
# ## The answer
#
# **No: between two classes, where the truth is 90 %, focal loss with gamma 3 asks for 65 %. The number on the screen can be right all the same, because
# training makes a network too sure and the two errors cancel at one gamma and one weight decay: at another, 99 of 100 answers "of 75 %" were
# right.**
#
# ## Three things to take away
#
# 1. With two classes focal loss asks for an output nearer to one half than the truth, in a known way that can be undone.
# 2. A calibrated output can hide two errors that cancel. Undo one of them, and you see the other.
# 3. What a confidence means is found on new labelled images, not in the loss.
#
# ## Recall
#
# <details><summary>1. All images that look alike have the same label. What does focal loss with gamma 5 ask for?</summary>
#
# 100 %, as cross-entropy does. Only the pull towards it is weaker.
#
# </details>
#
# <details><summary>2. Why did undoing p* help the straight line, and not Ben's first networks?</summary>
#
# The line comes near to what its loss asks for, so only the second error is there. The networks are too sure as well.
#
# </details>
#
# <details><summary>3. A focal network is calibrated. Its training goes on, without weight decay. What do you expect?</summary>
#
# It becomes over-confident. Each training image has one sure label, its loss is lowest at 100 %, and training comes nearer to
# this slowly.
#
# </details>
#
# ## Go further
#
# *All that follows may be left out. Next: [11 Focal loss in practice](11_focal_practice.ipynb), or the next lesson on your path.*
#
# ### Exercise: the third hospital
#
# *Difficulty: easy · importance: high · 3 minutes, no code*
#
# A third hospital trains with gamma 5 and a weight decay of 0.001. Should its screen show the output as it is, or undone? How
# do you find out?
#
# <details><summary>Answer</summary>
#
# Nobody can know it from the loss: the decay lies between the two above. Take some hundred labelled images that the network has not
# learned, and look at the gap of both. Once you have them you can fit a temperature as well, for any loss.
#
# </details>
#
# ### What the loss asks for, for every truth

# %% tags=["drawing"]
grid = torch.linspace(0, torch.pi / 2, 121, dtype=torch.float64).sin() ** 2  # 0 to 1, dense at the ends
fig, ax = plt.subplots(figsize=(5.6, 3.6))
for place, gamma in enumerate((0.0, 1.0, 3.0, 5.0)):
    role = palette.group(place, f"gamma {gamma:g}")
    _ = ax.plot(grid, theory.focal_minimiser(grid, gamma), **role.line(marker=""))
_ = ax.set(xlabel="truth q", ylabel="what the loss asks for, p*", xlim=(0, 1), ylim=(0, 1), aspect="equal")
plots.percent(ax, "xy")
_ = ax.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
_ = alt_text.note(ax, "What the loss asks for against the truth, one line per gamma: the diagonal for gamma 0; "
                      "the larger gamma, the flatter the line around one half; all meet at 0, one half and 1.")
plt.show()

# %% [markdown]
# ### Exercise: the gradient ratio
#
# *Difficulty: medium · importance: medium · 10 minutes*
#
# For one image the gradient of every weight is $g$ times that of cross-entropy (chain rule). Do the step of section 2 yourself: differentiate
# $(1-e^{-u})^\gamma\,u$ by $u$, write it with $p$ again, and code it without a look at section 2.

# %%
def my_gradient_ratio(p, gamma):
    ...  # your code here: p is a tensor, gamma a number


check.gradient_ratio(my_gradient_ratio)

# %% [markdown]
# <details><summary>Hint</summary>
#
# Focal loss is $(1-p)^\gamma$ times $u$. Both factors depend on $u$: use the product rule, with $dp/du=-p$.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_gradient_ratio(p, gamma):
#     return (1 - p) ** gamma - gamma * p * (1 - p) ** (gamma - 1) * p.log()
# ```
#
# </details>
#
# So $g$ is above 1 where $p$ is small: an image that is missed pulls *harder* than with cross-entropy. It is 1 near $p=0.2$ for gamma
# 5 and near 0.25 for gamma 3. From this comes the recipe **FLSD-53** of Mukhoti et al. (2020): gamma 5 for images with $p<0.2$, else
# 3.
#
# <details><summary>Why does dividing by g lead back to the truth?</summary>
#
# Where the mean loss $q\,L_\gamma(p)+(1-q)\,L_\gamma(1-p)$ is lowest, a small change of $p$ changes nothing. The slope of $L_\gamma$ by
# $u$ is $g$, and that of $u=-\log p$ by $p$ is $-1/p$, so the slope of $L_\gamma$ by $p$ is $-g(p)/p$. Hence
#
# $$q\,\frac{g(p)}{p}=(1-q)\,\frac{g(1-p)}{1-p},$$
#
# and $q$ is to $1-q$ as $p/g(p)$ to $(1-p)/g(1-p)$. With more classes the same holds for any two of them.
#
# </details>
#
# <details><summary>Proof: with two classes, p* lies between one half and the truth</summary>
#
# The expected loss is $R(p)=qL_\gamma(p)+(1-q)L_\gamma(1-p)$. As $dL_\gamma/dp=-g(p)/p$,
#
# $$R'(p)=-q\frac{g(p)}{p}+(1-q)\frac{g(1-p)}{1-p},\qquad
# \frac{g(p)}{p}=(1-p)^\gamma\left(\frac{1}{p}+\gamma\frac{-\log p}{1-p}\right).$$
#
# Let $q>1/2$; else exchange the classes.
#
# *One minimiser.* Every part of $g(p)/p$ falls as $p$ grows. For $-\log p/(1-p)$: it is the mean of $1/t$ over $[p,1]$,
# and $1/t$ falls. So $R'$ rises: there is one minimiser.
#
# *Above one half.* At $p=1/2$: $R'=2g(1/2)(1-2q) < 0$, hence $p^* > 1/2$.
#
# *Below the truth.* At $p=q$: $R'=g(1-q)-g(q)$. If this is positive, $p^* < q$. So we show that
# $D(\gamma)=\log g(q)-\log g(1-q)$ falls from $D(0)=0$. With $s(p)=-p\log p/(1-p)$, $g(p)=(1-p)^\gamma(1+\gamma s(p))$, and
#
# $$D'(\gamma)=\log\frac{1-q}{q}+\frac{s(q)}{1+\gamma s(q)}-\frac{s(1-q)}{1+\gamma s(1-q)}
# \le\log\frac{1-q}{q}+s(q)-s(1-q),$$
#
# since $s(q)>s(1-q)$ ($s$ rises, see below), and $x/(1+\gamma x)$ grows no faster than $x$.
#
# *The right side is negative.* It is 0 at $q=1/2$. Its slope in $q$ is $s'(q)-1/q+s'(1-q)-1/(1-q) < 0$, because
# $1-p < -\log p < (1-p)/p$ gives $0 < s'(p)=(-\log p-(1-p))/(1-p)^2 < 1/p$. So $D < 0$ for $\gamma > 0$. $\square$
#
# </details>
#
# ### Exercise: gamma*
#
# *Difficulty: medium · importance: low · 10 minutes*
#
# Why does FLSD-53 have gamma 5 below 0.2? At every $p_0 < 1/2$ exactly one gamma above 0 has $g(p_0,\gamma)=1$. It is called
# $\gamma^*$. Let a solver find it. What is it at 0.2?

# %%
def my_gamma_star(p0):
    ...  # your code here: p0 is a number below 1/2


check.gamma_star(my_gamma_star)

# %% [markdown]
# <details><summary>Hint</summary>
#
# `scipy.optimize.brentq(f, low, high)` finds where a function `f` of one number is 0, if `f(low)` and `f(high)` have
# different signs. Gamma 0 gives $g=1$, too, so start at 0.001; 10,000 is high enough.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_gamma_star(p0):
#     from scipy.optimize import brentq
#
#     def above_one(gamma):
#         return theory.gradient_ratio(p0, gamma) - 1
#
#     return brentq(above_one, 0.001, 10_000)
# ```
#
# At 0.2 it is 4.85: nearly the gamma 5 that FLSD-53 uses below 0.2.
#
# There is a formula, too. Let $s=-p_0\log p_0/(1-p_0)$ and $r=-\log(1-p_0)/s$. With $v=1+\gamma s$, $g=1$ reads $\log v=r(v-1)$, so
# $(-rv)e^{-rv}=-re^{-r}$, and $-rv$ is a value of Lambert's $W$. The principal branch gives $\gamma=0$, the other
# $\gamma^*=(-W_{-1}(-re^{-r})/r-1)/s$.
#
# </details>
#
# ### A hundred classes
#
# "Nearer to one half" is about two classes. Take 100 classes, one with probability 0.1 and the others equal. Is $p^*$ for gamma 5
# above or below 0.1?
#
# <details><summary>Answer</summary>
#
# ```python
# q = torch.full((100,), 0.9 / 99, dtype=torch.float64)
# q[0] = 0.1
# print(theory.focal_minimiser_multiclass(q, 5.0)[0])
# ```
#
# Above: 0.112. Here $g$ exceeds 1 for small $p$, and the answer has a lower entropy than the truth.
#
# </details>
#
# ### On photographs
#
# Stored networks on 20,000 photographs of CIFAR-10, three seeds each. The gap is confidence minus accuracy.

# %% tags=["drawing"]
rows = []
for decay in (5e-4, 5e-3):
    for loss, gamma in (("cross-entropy", 0.0), ("focal, gamma 3", 3.0)):
        gaps = []
        for seed in (0, 1, 2):
            kept = photograph_runs.logits(loss, seed, decay)
            probs = kept["test"].softmax(dim=1)
            pair = (probs, theory.focal_posterior(probs, gamma))
            gaps.append([metrics.signed_gap(one, kept["test_labels"]) for one in pair])
        read, back = (f"{value:+.1%}" for value in np.mean(gaps, axis=0))
        rows.append({"weight decay": decay, "loss": loss, "gap as read": read, "p* undone": back})
pd.DataFrame(rows).set_index(["weight decay", "loss"])

# %% [markdown]
# The same two errors: at the small weight decay gamma 3 nearly hides the first, at the larger one only the second is left.
#
# Temperatures, the map and all verdicts: [evidence](evidence/10_focal_theory.ipynb). Your numbers differ?
# [Why](your_numbers_differ.md).
#
# ## References
#
# - Mukhoti, Kulharia, Sanyal, Golodetz, Torr, Dokania: *Calibrating Deep Neural Networks using Focal
#   Loss*. NeurIPS 2020. [arXiv:2002.09437](https://arxiv.org/abs/2002.09437)
# - Lin, Goyal, Girshick, He, Dollár: *Focal Loss for Dense Object Detection*. ICCV 2017.
#   [arXiv:1708.02002](https://arxiv.org/abs/1708.02002)
# - Charoenphakdee, Vongkulbhisal, Chairatanakul, Sugiyama: *On Focal Loss for Class-Posterior Probability
#   Estimation: A Theoretical Perspective*. CVPR 2021. [arXiv:2011.09172](https://arxiv.org/abs/2011.09172)
# - Komisarenko, Kull: *Improving Calibration by Relating Focal Loss, Temperature Scaling, and Properness*.
#   ECAI 2024. [arXiv:2408.11598](https://arxiv.org/abs/2408.11598)
