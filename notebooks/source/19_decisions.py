# %% [markdown]
# # 19 · Decisions: what does a wrong probability cost?
#
# **Question.** In a pharmacy a machine reads the number of tablets on each prescription. From eight tablets on the dose
# is dangerous, and a pharmacist must check it. A check in vain costs 1. A dangerous dose that nobody checks costs c.
# Four vendors offer a model: A has an ECE of 10 %, D of 10 %, B of 2 %, C of 0.4 %. Which one do you buy?
#
# **Predict before you run:** of 100 prescriptions 20 are dangerous; checking one of these costs nothing, so a check of all costs 80. What do
# they cost with model A if a miss costs c = 20? And if it costs 1? Write down two numbers, then move the slider.

# %% tags=["answer"]
from calibkit.course import explorers

explorers.stored("cost_of_a_miss")

# %% [markdown]
# <details><summary>What came out</summary>
#
# 103 at c = 20: more than without any model, and more than the three others. And 14 at c = 1: less than the three others.
#
# </details>
#
# **Time.** 35 minutes; 20 more for the homework.
#
# **Needs.** [08 Temperature](08_temperature.ipynb).
#
# **Next on your path.** *Decisions*: [20](20_guarantees.ipynb).

# %% tags=["drawing"]
import matplotlib.pyplot as plt
import numpy as np
import torch

from calibkit import metrics
from calibkit.course import check, verdicts
from calibkit.course.experiments import pharmacy
from calibkit.course.scale import begin
from calibkit.lab import sweep
from calibkit.pictures import alt_text, palette, plots

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% [markdown]
# ## 1. When is it worth a check?
#
# Each image on the left is a prescription, a noisy digit. Above it stands q, the exact probability that it is an 8 or a 9. A check is in
# vain with probability 1 - q. Letting it pass goes wrong with probability q, and then costs c. Right: both expected costs for c = 4.

# %% tags=["drawing"]
size, seeds, device = begin(SCALE, SEED, DEVICE)
fig, axes = plt.subplot_mosaic([["1", "2", "line"], ["3", "4", "line"]], figsize=(8.6, 3.3),
                               width_ratios=[1, 1, 3.4], layout="constrained")
shown = pharmacy.splits(size, SEED).test[:2000]
chances = pharmacy.event(shown.posterior)[:, 1]
for panel, wanted in zip("1234", (0.01, 0.1, 0.5, 0.99), strict=True):
    place = (chances - wanted).abs().argmin().item()
    _ = axes[panel].imshow(shown.inputs[place, 0], cmap="gray_r", vmin=-0.5, vmax=1.5)
    _ = axes[panel].set(title=f"q = {chances[place]:.0%}", xticks=[], yticks=[])
    _ = alt_text.note(axes[panel], f"A noisy {shown.labels[place]}, dangerous with probability {chances[place]:.0%}")
q, c, ax = np.linspace(0, 1, 101), 4, axes["line"]
_ = ax.plot(q, 1 - q, **palette.group(0, "check it: 1 - q").line(marker=None))
_ = ax.plot(q, c * q, **palette.group(3, "let it pass: 4 q").line(marker=None))
_ = ax.axvline(1 / (1 + c), color=palette.GREY, ls=":", lw=1.5)
_ = ax.text(0.22, 0.2, "from here on checking is cheaper", va="center")
_ = ax.set(xlabel="probability q of a dangerous dose", ylabel="expected cost", ylim=(0, 1.6), xlim=(0, 1))
plots.percent(ax, "x")
_ = ax.legend(loc="upper right")
_ = alt_text.note(ax, "Expected cost against q for c = 4: checking falls from 1 to 0, letting pass rises from 0; "
                      "the lines cross at q = 0.2.")

# %% [markdown]
# The lines cross where $1 - q = c\,q$. So the cheapest rule is: check, if the probability is above the **Bayes threshold**
#
# $$t = \frac{1}{1 + c}.$$
#
# For c = 1 this is 1/2. For c = 20 it is about 5 %: of images with just this probability 20 of 21 checks are in vain. The rule holds for the *true*
# probability q. A model says p, and you compare *p* with t.
#
# ## 2. Which errors cost something?
#
# **Model A** was trained to the end on 1,500 digits with pixel noise 0.5. Each dot is a test image: across, what A says; upwards, the exact
# posterior q. The black lines mark the threshold t. (The axes are stretched at both ends.)

# %% tags=["drawing"]
def recipe(sees, seed):
    return pharmacy.trial(size, seed, sees)


swept = sweep.run(recipe, {"sees": ["whole image", "left half"], "seed": seeds}, device=device)
whole, half = ([one for one in swept.outcomes if one.setting["sees"] == sees] for sees in ("whole image", "left half"))
says = [pharmacy.four(*pair) for pair in zip(whole, half, strict=True)]  # a seed each: A to D, (n, 2)
truth = [pharmacy.truth(one) for one in whole]
labels = [one.predictions["test"].labels for one in whole]


def wrong_side(p, q, t):
    """Images that should have been checked and were not, and those checked for nothing."""
    return (p <= t) & (q > t), (p > t) & (q <= t)

# %% tags=["drawing"]
def two_sides(said, ratios):
    """Dots of 1,500 images, a panel for each cost ratio; what A or D decides wrongly has a colour."""
    fig, axes = plt.subplots(1, 2, figsize=(9, 4.6), sharey=True, layout="constrained")
    p, q = (part[:1500, 1].clamp(1e-4, 1 - 1e-4) for part in (said, truth[0]))
    for ax, c in zip(axes, ratios, strict=True):
        t = 1 / (1 + c)
        missed, in_vain = wrong_side(p, q, t)
        looks = {"decided as the posterior does": (~(missed | in_vain), palette.GREY, "."),
                 "not checked, but should be": (missed, palette.VERMILLION, "X"),
                 "checked, but should not be": (in_vain, palette.GREEN, "P")}
        for words, (which, colour, mark) in looks.items():
            _ = ax.scatter(p[which], q[which], s=14, c=colour, marker=mark, lw=0, alpha=0.6, label=words)
        ends = [1e-4, 1 - 1e-4]
        _ = ax.plot(ends, ends, **palette.DIAGONAL.line(marker=None, label="the model says the posterior"))
        _ = ax.axvline(t, color=palette.BLACK, lw=1), ax.axhline(t, color=palette.BLACK, lw=1)
        _ = ax.set(xscale="logit", yscale="logit", title=f"c = {c}: t = {t:.2f}",
                   xlabel="probability that the model says", xlim=(8e-5, 1 - 8e-5), ylim=(8e-5, 1 - 8e-5))
        ticks = [1e-4, 0.01, 0.5, 0.99]
        for axis in (ax.xaxis, ax.yaxis):
            axis.set(major_locator=plt.FixedLocator(ticks), minor_locator=plt.NullLocator(),
                     major_formatter=plt.FixedFormatter(["0.01 %", "1 %", "50 %", "99 %"]))
        _ = alt_text.note(ax, f"c = {c}, threshold {t:.3f}: of 1,500 images {int(missed.sum())} lie left of the "
                              f"threshold and above it, {int(in_vain.sum())} right of it and below it.")
    _ = axes[0].set_ylabel("exact posterior")
    _ = fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncol=2, markerscale=1.6)

# %% tags=["drawing"]
two_sides(says[0]["A"], (1, 20))

# %% [markdown]
# A dot on the dashed diagonal would be right. Many are far from it, but only two of the four fields are wrong decisions. In the other two p
# may be as wrong, and this costs *nothing*.
#
# A wrong decision costs the distance between the two lines of section 1 at q, which is $|1 - (1 + c)\,q|$. So, with $t = 1/(1+c)$, the extra cost of an image, compared with the posterior, is
#
# $$(1 + c)\,|q - t| \quad\text{if } t \text{ lies between } p \text{ and } q, \qquad 0 \quad\text{otherwise.}$$
#
# Its mean over all images is the **regret**. For A at c = 20 it is 0.77 a prescription (five networks; the first alone, below, has 0.733).
# So 100 prescriptions cost 26 with the posterior, and 26 + 77 = 103 with A.
#
# ### Exercise: the regret
#
# *Difficulty: medium · importance: high · 8 minutes*
#
# `said` and `posterior` (n,) are the two probabilities of a dangerous dose, `c` is the cost of a miss. Return the mean
# regret, one number. A prescription is checked if the probability is above t. The next cell uses yours.


# %%
def my_decision_regret(said, posterior, c):
    # 1. the threshold t
    # 2. where the two decide differently
    # 3. there (1 + c) |q - t|, elsewhere 0; the mean
    ...


check.decision_regret(my_decision_regret)

# %% [markdown]
# <details><summary>Hint</summary>
#
# `(said > t) != (posterior > t)` is True where the two decide differently.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_decision_regret(said, posterior, c):
#     t = 1 / (1 + c)
#     differ = (said > t) != (posterior > t)
#     return ((1 + c) * (posterior - t).abs() * differ).mean().item()
# ```
#
# </details>

# %%
check.keep(my_decision_regret)

# %%
from calibkit.course.mine import decision_regret

said, known = says[0]["A"], truth[0]  # what A states, and the posterior; (n, 2), harmless and dangerous
for c in (1, 20):  # change me
    t = 1 / (1 + c)
    lost = float(decision_regret(said[:, 1], known[:, 1], c))
    share = ((said[:, 1] > t) != (known[:, 1] > t)).double().mean()
    print(f"c = {c}: regret of A {lost:.3f} an image; decided differently: {share:.1%}, "
          f"at a price of {lost / share:.1f} each")
    assert np.isclose(lost, metrics.regret(said, known, metrics.alarm_costs(c)))

# %% [markdown]
# ## 3. Whose diagram is this?
#
# The other vendors:
#
# - **B** sees only the left half of each prescription. It has a temperature, fitted on 1,500 labelled images.
# - **C** does not look at the image. It always says the share of dangerous doses, about 20 %.
# - **D** bought A's network, and divides its logits by 8. So the ten digits become more equal, and the two dangerous ones together nearer to 20 %.
#
# These are their four reliability diagrams, in another order.

# %% tags=["drawing"]
order = {"1": "D", "2": "C", "3": "A", "4": "B"}
fig, axes = plt.subplots(1, 4, figsize=(11.5, 3.4))
for ax, (number, name) in zip(axes, order.items(), strict=True):
    every = [metrics.reliability(metrics.TopLabel(one[name][:, 1], pharmacy.dangerous(told)), bins=10)
             for one, told in zip(says, labels, strict=True)]
    pooled = sum(every[1:], every[0])
    drawn = pooled.counts > 0
    place, share = pooled.confidence[drawn], pooled.accuracy[drawn]
    _ = ax.plot([0, 1], [0, 1], **palette.DIAGONAL.line(marker=None))
    _ = ax.plot(place, share, "o-", color=palette.BLUE)
    _ = ax.set(title=f"diagram {number}", xlim=(0, 1), ylim=(0, 1), aspect="equal", xlabel="probability stated")
    told = ", ".join(f"{x:.0%} stated, {y:.0%} true" for x, y in zip(place, share, strict=True))
    _ = alt_text.note(ax, f"Diagram {number} of a dangerous dose: {told}")
_ = axes[0].set_ylabel("share that is dangerous")
for ax in axes:
    plots.percent(ax, "xy")


def mean_ece(models):
    return np.mean([pharmacy.event_ece(*pair) for pair in zip(models, labels, strict=True)])


def mean_cost(models, c):
    return np.mean([pharmacy.cost(*pair, c) for pair in zip(models, truth, strict=True)])


# %% [markdown]
# **Predict before you run:** which diagram is A, which B, C, D?

# %% tags=["answer"]
my_guess = {"1": "A", "2": "B", "3": "C", "4": "D"}  # change me
print(f"{sum(my_guess[number] == name for number, name in order.items())} of 4 are right:", order)
for name in "ABCD":
    models = [one[name] for one in says]
    print(f"{name}: ECE {mean_ece(models):.1%}; 100 prescriptions cost {mean_cost(models, 1):.0f} at c = 1, "
          f"{mean_cost(models, 20):.0f} at c = 20")

# %% [markdown]
# <details><summary>What came out</summary>
#
# C has a point or two, on the diagonal; B lies near it up to 50 %. A states 0 and 100 % too often; D stays too near to 20 %.
#
# **A and D have about the same ECE.** By the ECE the order is C, B, then A and D. By the cost at c = 1 it is A, D, then B and C: the other way
# round! And A, the cheapest at c = 1, is the most expensive at c = 20. The ECE does not know c, and a model that has seen nothing of the image can
# have the lowest.
#
# </details>
#
# ## 4. Eve: "Repair first, then buy"
#
# Eve gives A and D a temperature, fitted on 1,500 labelled prescriptions. (B has one already, and C would not change.)

# %% tags=["drawing"]
exact = [one.trial.score["test"].posterior for one in whole]
as_trained = [one.predictions["test"].logits.double().softmax(dim=1) for one in whole]
repaired = [pharmacy.scaler(one).probs(one.predictions["test"].logits.double()) for one in whole]
cured = [pharmacy.event(rows) for rows in repaired]
model_a, model_b = ([one[name] for one in says] for name in "AB")
ratios = list(pharmacy.RATIOS)


def costs_at(c):
    """The cost of 100 images by model, one a seed."""
    models = {name: [one[name] for one in says] for name in "ABCD"} | {"A after T": cured, "posterior": truth}
    return {name: [pharmacy.cost(*pair, c) for pair in zip(rows, truth, strict=True)]
            for name, rows in models.items()}


def cost_with(threshold, c=20):
    """The mean cost of 100 prescriptions where A as trained checks above the threshold."""
    paid = [metrics.action_cost((rows[:, 1] > threshold).long(), known, metrics.alarm_costs(c))
            for rows, known in zip(model_a, truth, strict=True)]
    return 100 * np.mean(paid)

# %% tags=["drawing"]
table = {name: np.array([costs_at(c)[name] for c in ratios]).T for name in ("posterior", *"ABCD", "A after T")}
roles = {"posterior": palette.TRUTH.named("posterior"),
         **{name: palette.group(place, f"model {name}") for place, name in enumerate("ABCD")}}


def frame(c):
    place = ratios.index(c)
    now = {name: table[name].mean(axis=0)[place] for name in roles}
    words = ", ".join(f"{name} {value:.0f}" for name, value in now.items())
    always = float(np.mean([100 * known[:, 0].mean() for known in truth]))
    return explorers.cost_frame(
        {role: table[name] for name, role in roles.items()}, ratios, c, always=always, ceiling=150,
        title=f"a miss costs c = {c}", y_label="cost of 100 prescriptions",
        readout=f"A miss costs {c}: 100 prescriptions cost {words}; with a check of every one {always:.0f}.")


explorers.keep(explorers.Explorer(
    frame, explorers.Slider("cost c of a miss", ratios, start=20), play=True,
    description="Left, what 100 prescriptions cost with the exact posterior and with four models, if a miss costs as "
    "much as the slider says and a check in vain costs 1; a cost beyond the axis is told by its number. Right, the "
    "same costs for every c; bands span the seeds, the grey line marks the chosen c."), "cost_of_a_miss")

# %% [markdown]
# **Predict before you run:** at c = 20 the posterior costs 26, and A 103. What does A cost after its temperature?

# %% tags=["answer", "drawing"]
# your guess first, then run this cell
fig, axes = plt.subplots(1, 2, figsize=(8.6, 2.6))
for ax, c in zip(axes, (1, 20), strict=True):
    bars = {name: table[name].mean(axis=0)[ratios.index(c)] for name in ("A", "A after T", "B", "posterior")}
    looks = [palette.TRAINED, palette.CURED, palette.group(2, "B"), palette.TRUTH]
    spread = [table[name].std(axis=0, ddof=1)[ratios.index(c)] for name in bars]
    _ = ax.barh(list(bars), list(bars.values()), xerr=spread, color=[role.pale for role in looks],
                edgecolor=[role.colour for role in looks])
    _ = ax.invert_yaxis()
    _ = ax.set(title=f"c = {c}", xlabel="cost of 100 prescriptions")
    _ = alt_text.note(ax, f"Cost of 100 prescriptions at c = {c}, whiskers one standard deviation of the seeds: "
                          + ", ".join(f"{name} {value:.0f}" for name, value in bars.items()))
plt.show()
print(f"ECE of A: {mean_ece(model_a):.1%} before, {mean_ece(cured):.1%} after T")
for c in (1, 20):
    means = costs_at(c)
    shown = {name: f"{name} {np.mean(means[name]):.1f}" for name in ("A", "A after T", "B", "posterior")}
    print(f"c = {c}: " + ", ".join(shown.values()))

# %% [markdown]
# <details><summary>What came out</summary>
#
# 55: A is now cheaper than B. After its own temperature D is the same. At c = 1 hardly anything changes, since few of A's probabilities cross
# 1/2. And at c = 20 A still costs 29 more than the posterior: it gives one probability to images whose q differ, and no temperature changes this.
#
# </details>
#
# A *verdict* gives the mean over five seeds with its 95 % interval. HOLDS: all of the interval lies above one half.

# %% tags=["nbval-check-output"]
def regrets(rows, c):
    return np.array([pharmacy.regret(one, known, c) for one, known in zip(rows, truth, strict=True)])


print(verdicts.judge("19a", "at c = 20 one temperature takes away at least half of the regret of A",
                     1 - regrets(cured, 20) / regrets(model_a, 20), than=0.5))

# %% [markdown]
# ## The answer

# %%
means = {name: np.mean(values) for name, values in costs_at(20).items()}
print("100 prescriptions at c = 20 cost:", pharmacy.as_words(means))

# %% [markdown]
# **Buy A, the most expensive at c = 20 (or D, which has the same network), and give it one temperature: 100 prescriptions then cost 55 in place of 103.
# The ECE does not tell: it is lowest for C, which does not look at the image.**
#
# ## Three things to take away
#
# 1. With a check in vain at 1 and a miss at c, check above 1/(1 + c).
# 2. A wrong probability costs something only where the threshold lies between it and the truth.
# 3. Repair first, then compare costs at your own c.
#
# ## Recall
#
# <details><summary>1. A false alarm costs 1, a miss costs 9. From which probability on do you give the alarm?</summary>
#
# From 1/(1 + 9) = 10 % on.
#
# </details>
#
# <details><summary>2. A model says 2 % where the truth is 4 %, and c = 9. What does this error cost?</summary>
#
# Nothing: both lie below 10 %, so the decision is the same.
#
# </details>
#
# <details><summary>3. Which model has an ECE of zero and is useless?</summary>
#
# One that says the base rate for every image.
#
# </details>
#
# ## Go further
#
# *All that follows may be left out. Next: [20 Guarantees](20_guarantees.ipynb). All verdicts: [evidence](evidence/19_decisions.ipynb).*
#
# ### Exercise: the same ECE, other costs
#
# *Difficulty: medium · importance: high · 5 minutes*
#
# The curves of A and D both lie about ten points off the diagonal, on average (the ECE). (a) At which stated probabilities does A state too
# little? At which does D state too much? (b) Why does A cost more at c = 20? (c) A check in vain now costs 20,
# and a miss 1. Which would you prefer, and why?
#
# <details><summary>Answer</summary>
#
# (a) A up to about 35 %: where it states less than 10 % (on average 1 %), 7 % are dangerous. D up to about 25 %: with 7 % stated,
# 1 % are, with 15 % stated, 5 %. (b) At c = 20 the threshold is 5 %. A's errors put dangerous doses below it, and each miss costs 20. D's errors put harmless
# ones above it, and each costs 1: D checks 98 % of all. (c) Now checking costs 20 (1 - q), and letting pass q, so t = 20/21. Of the images where A states more than 90 % only 72 % are dangerous. So more than one
# check in four is in vain, and costs 20. D never states so much: it checks nothing, and each miss costs only 1. So one prefers D. (C checks nothing either, B hardly
# anything.) An error is judged by the side of the threshold to which it leads, and by the price of that side.
#
# </details>
#
# ### Or move the threshold?
#
# Move the threshold instead, with A as trained. At c = 20 the textbook threshold is 1/21 = 0.048.
#
# **Predict before you run:** which threshold makes A cheapest? Put in your guess.

# %% tags=["answer"]
my_threshold = 0.01  # change me
best = min(np.logspace(-7, -0.5, 80), key=cost_with)
for words, threshold in {"yours": my_threshold, "textbook": 1 / 21, "best": best}.items():
    print(f"{words}: threshold {threshold:.2g}, 100 prescriptions cost {cost_with(threshold):.0f}")
print(f"temperature, then 1/21: {mean_cost(cured, 20):.0f}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# The best threshold lies below a ten-thousandth. With it A costs as much as after its temperature. But it suits c = 20
# alone, and it was chosen with the exact posterior of the test images, which nobody has. After a temperature the textbook
# threshold is near the best one (judged at c = 1 and 20: evidence).
#
# </details>
#
# ### More than two actions: ask somebody
#
# Now the machine types the number itself. A right number costs nothing, a wrong one 10; but a dangerous dose typed as a harmless one
# costs 50. It may also ask the pharmacist to read, which now costs 1 each time. So the table of costs has eleven rows, one for each action, and a
# column for each true digit. To leave a case to a person is called **deferral**.
#
# ### Exercise: the cheapest action
#
# *Difficulty: medium · importance: high · 5 minutes*
#
# From `probs` (n, K) and `costs` (A, K) return for each image the row of `costs` with the least expected cost: n integers.

# %%
def my_cheapest_action(probs, costs):
    ...  # your code here


check.cheapest_action(my_cheapest_action)

# %% [markdown]
# <details><summary>Hint</summary>
#
# The expected cost of action a is $\sum_k \mathrm{costs}_{ak}\, p_k$. For all images and actions at once it is a
# product of two matrices.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_cheapest_action(probs, costs):
#     return (probs @ costs.T).argmin(dim=1)
# ```
#
# </details>
#
# **Predict before you run:** the exact posterior asks for nearly half of the images. Does A, as trained, ask more often or less?

# %% tags=["answer"]
costs = pharmacy.reading_costs(wrong=10, passed=50, ask=1)
ASK = 10  # the last row
for name, rows in {"posterior": exact, "A": as_trained, "A after T": repaired}.items():
    actions = [metrics.cheapest_action(probs, costs) for probs in rows]
    asked = torch.stack([(taken == ASK).double() for taken in actions]).mean()
    paid = [metrics.action_cost(*pair, costs) for pair in zip(actions, exact, strict=True)]  # expected
    print(f"{name}: asks for {asked:.0%} of the images, 100 images cost {100 * np.mean(paid):.0f}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# As trained A asks for 31 % only, less often than the posterior, although the posterior reads better. So A costs more than 280, nearly three times as
# much as a pharmacist who reads everything. After its temperature A asks for 83 %, and costs a little less than this pharmacist.
#
# </details>
#
# ## References
#
# - Elkan: *The Foundations of Cost-Sensitive Learning*. IJCAI 2001.
# - Hernández-Orallo, Flach, Ferri: *A Unified View of Performance Metrics: Translating Threshold Choice into Expected Classification Loss*. Journal of
#   Machine Learning Research 13, 2012.
# - Perez-Lebel, Le Morvan, Varoquaux: *Beyond calibration: estimating the grouping loss of modern neural networks*. ICLR 2023.
#   [arXiv:2210.16315](https://arxiv.org/abs/2210.16315)
# - Vickers, Elkin: *Decision Curve Analysis: A Novel Method for Evaluating Prediction Models*. Medical Decision Making 26, 2006.
#   [doi:10.1177/0272989X06295361](https://doi.org/10.1177/0272989X06295361)
# - Zhao, Kim, Sahoo, Ma, Ermon: *Calibrating Predictions to Decisions: A Novel Approach to Multi-Class Calibration*. NeurIPS 2021.
#   [arXiv:2107.05719](https://arxiv.org/abs/2107.05719)
