# %% [markdown]
# # Evidence beside 19 · Decisions
#
# For readers who want to judge what [the lesson](../19_decisions.ipynb) says: every verdict with its interval, claim by claim, with one conclusion each; cost and decision curves, what is left. Costs are exact, from the posterior, in checks in vain for 100 images. A pilot on seeds 100 to 102 (as-trained, half-image, focal, mixup, weight-decay and smoothing networks) chose noise and margins; nothing below uses these seeds.

# %%
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from study import tablets

from calibkit import metrics, recalibration
from calibkit.course import verdicts
from calibkit.course.experiments import photograph_runs, pharmacy
from calibkit.course.scale import begin
from calibkit.lab import sweep
from calibkit.pictures import palette

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% [markdown]
# ## The networks
#
# Eight ways of training, of the lessons named, each at one strength that was *not* tuned (label noise .3, imbalance 100, smoothing .1, gamma 3, mixup alpha 1, weight decay .01), and two more networks as members of an ensemble; pixel noise .5, five seeds. Each is judged as trained, and after a temperature fitted on 1,500 clean labelled images of the test distribution. `ECE` is of the probability of a dangerous dose.

# %%
size, seeds, device = begin(SCALE, SEED, DEVICE)
grid = {"name": [*tablets.WAYS, *tablets.MEMBERS], "seed": seeds}
swept = sweep.run(partial(tablets.way, size), grid, device=device)
networks = {(one.setting["name"], one.setting["seed"]): one for one in swept.outcomes}
judge = verdicts.judge


def rows_of(name, seed, after=False):
    """What a network says of the ten digits of the test images, as trained or after T."""
    one = networks[name, seed]
    logits = one.predictions["test"].logits.double()
    return pharmacy.scaler(one).probs(logits) if after else logits.softmax(dim=1)


exact = {seed: networks["03 as trained", seed].trial.score["test"].posterior for seed in seeds}
known = {seed: pharmacy.event(exact[seed]) for seed in seeds}
labels = {seed: networks["03 as trained", seed].predictions["test"].labels for seed in seeds}
said = {
    (name, after, seed): pharmacy.event(rows_of(name, seed, after))
    for name in tablets.WAYS
    for after in (False, True)
    for seed in seeds
}

# %%
def regrets(name, c, after=False):
    return np.array([pharmacy.regret(said[name, after, seed], known[seed], c) for seed in seeds])

# %%
rows = []
for (name, after, seed), one in said.items():
    told, truth = pharmacy.dangerous(labels[seed]).long(), known[seed]
    row = {"network": name, "after T": after, "seed": seed, "ECE": pharmacy.event_ece(one, labels[seed])}
    row |= {"NLL": metrics.nll(one.clamp(1e-12, 1), told), "Brier": metrics.brier(one, told) / 2}
    row |= {"refinement": tablets.refinement(one, truth)}
    rows.append(row | {f"c = {c}": pharmacy.regret(one, truth, c) for c in (1, 5, 20, 50)})
table = pd.DataFrame(rows)
table.groupby(["network", "after T"]).mean().drop(columns="seed").round(3)

# %% [markdown]
# `Brier` is here the mean of (p - y)², half of the sum over two classes. Exact costs against drawn labels: the mean over 200 draws of all labels is within three standard errors.

# %%
probs, truth = said["03 as trained", False, SEED], known[SEED]
costs = metrics.alarm_costs(20)
generator = torch.Generator().manual_seed(SEED)
drawn = torch.multinomial(truth, 200, replacement=True, generator=generator)
paid = np.array([metrics.decision_cost(probs, drawn[:, k], costs) for k in range(200)])
error = paid.std(ddof=1) / 200**0.5
off = (paid.mean() - metrics.decision_cost(probs, truth, costs)) / error
print(f"cost of an image {paid.mean():.3f}; {off:+.1f} standard errors from the exact one")
assert abs(off) < 3

# %% [markdown]
# ## What a temperature takes away
#
# Margins: half of the regret of the network as trained at c = 20; 3 (of 100 images) where a fall is claimed; 1 where none is. At c = 1 the control is the half-image network, in the same units; that a temperature does change *its* decisions was seen in the table above, and is marked post hoc. Photographs: deer or horse, 5,000 labelled test images, three seeds, weight decay 5e-4.

# %%
def photographed(c):
    """By how much a temperature lowers the cost of 100 photographs, by seed."""
    falls = []
    for seed in (0, 1, 2):
        kept = photograph_runs.logits("cross-entropy", seed)
        T = recalibration.TemperatureScaler().fit(kept["cal"], kept["cal_labels"])
        told = torch.isin(kept["test_labels"], torch.tensor([4, 7])).long()
        paid = []
        for probs in (kept["test"].softmax(dim=1), T.probs(kept["test"])):
            yes = probs[:, [4, 7]].sum(dim=1).clamp(0, 1)
            rows = torch.stack([1 - yes, yes], dim=1)
            paid.append(100 * metrics.decision_cost(rows, told, metrics.alarm_costs(c)))
        falls.append(paid[0] - paid[1])
    return np.array(falls)


def fall(name, c):
    return regrets(name, c) - regrets(name, c, after=True)


plain = "03 as trained"

# %%
given = [
    judge(
        "19a",
        "at c = 20 one temperature takes away at least half of the regret of A",
        fall(plain, 20) / regrets(plain, 20),
        than=0.5,
    ),
    judge(
        "19a",
        "A: at c = 1 it changes the regret by less than 1",
        fall(plain, 1),
        expect="within",
        margin=1,
        control=fall("03 half image", 1),
    ),
]

# %% tags=["nbval-check-output"]
given += [
    judge(
        "19a",
        "half image: at c = 1 it lowers the regret by 1 or more",
        fall("03 half image", 1),
        margin=1,
        post_hoc=True,
    )
]
given += [
    judge("19a", f"{name}: at c = 20 it lowers the regret by 3 or more", fall(name, 20), margin=3)
    for name in tablets.WAYS[2:]
]
given += [judge("19a", "photographs: at c = 20 it lowers the cost by 3 or more", photographed(20), margin=3)]
print(
    verdicts.conclude(
        "19a",
        given,
        "at c = 20 a temperature more than halves A's regret. In other ways of training, too, it lowers the "
        "cost of 100 images, by 1 to 84 (a check in vain costs 1); but with smoothing or mixup it raises it "
        "by about 1",
    )
)

# %% [markdown]
# ## Two models of one ECE, and two whose order turns over
#
# A: as trained. B: the half image after its temperature. C: the base rate. D: the logits of A divided by 8, a number chosen so that its ECE is about A's; this draws the probability of a dangerous dose towards 2/10 and so to the base rate; at c = 20 it checks nearly every image, and A against D is A as trained against checking nearly all. In the first six verdicts A is as trained, D is made from this A, and B has its temperature. Then A and B, each after one temperature (post hoc). Margins: ECEs are equal within .02 (the control is A against B); costs differ by 3, at c = 20 of A and D by 10.

# %%
four = {seed: pharmacy.four(networks[plain, seed], networks["03 half image", seed]) for seed in seeds}
cured = np.array([pharmacy.event_ece(said[plain, True, seed], labels[seed]) for seed in seeds])
checks = np.mean([(four[seed]["D"][:, 1] > 1 / 21).double().mean().item() for seed in seeds])
print(f"D checks {checks:.1%} of the images at c = 20; ECE of A after T {cured.mean():.1%}")

# %%
def of_four(name, measure, *more):
    other = labels if measure is pharmacy.event_ece else known
    return np.array([measure(four[seed][name], other[seed], *more) for seed in seeds])


ece = {name: of_four(name, pharmacy.event_ece) for name in "ABCD"}
regret = {(name, c): of_four(name, pharmacy.regret, c) for name in "ABCD" for c in (1, 20)}
given = [
    judge(
        "19b",
        "c = 1: A has the higher ECE; its regret on 100 images is below B's, by 3 or more",
        regret["A", 1] - regret["B", 1],
        expect="below",
        margin=3,
        as_trained=True,
    ),
    judge(
        "19b",
        "at c = 20 A has a higher regret than B, by 3 or more",
        regret["A", 20] - regret["B", 20],
        margin=3,
        as_trained=True,
    ),
]

# %%
given += [
    judge(
        "19b",
        "A and D have the same ECE within 0.02",
        ece["A"] - ece["D"],
        expect="within",
        margin=0.02,
        control=ece["A"] - ece["B"],
        as_trained=True,
    ),
    judge(
        "19b",
        "at c = 20 A has a higher regret than D, by 10 or more",
        regret["A", 20] - regret["D", 20],
        margin=10,
        as_trained=True,
    ),
]

# %%
given += [
    judge(
        "19b", "C has the lowest ECE: lower than B's", ece["C"] - ece["B"], expect="below", as_trained=True
    ),
    judge(
        "19b",
        "and at c = 1 C has a higher regret than A, by 3 or more",
        regret["C", 1] - regret["A", 1],
        margin=3,
        as_trained=True,
    ),
]

# %% tags=["nbval-check-output"]
given += [
    judge("19b", "after T A has a lower ECE than B", cured - ece["B"], expect="below", post_hoc=True),
    judge("19b", "C has a lower ECE than A after T", ece["C"] - cured, expect="below", post_hoc=True),
]
given += [
    judge(
        "19b",
        f"at c = {c} A after T has a regret below B's, by 3 or more",
        regrets(plain, c, after=True) - regret["B", c],
        expect="below",
        margin=3,
        post_hoc=True,
    )
    for c in (1, 20)
]
print(
    verdicts.conclude(
        "19b",
        given,
        "as offered, the ECE misleads: at c = 1 A has the higher ECE and is cheaper than B. After a "
        "temperature A is cheaper than B at both c; whether its ECE is lower is open, and the useless C "
        "has the lowest",
    )
)

# %% [markdown]
# ## A proper score is an average of costs
#
# Let a false alarm cost t and a miss 1 - t, so that t is the threshold. Averaged over t from 0 to 1, evenly, twice the cost is the Brier score (Hernández-Orallo, Flach and Ferri 2012), and so twice the regret is the mean of (p - q)². By integration over 400 thresholds. Beside it the cost in the unit of the lesson, where a check in vain costs 1 at every threshold: its average over t is the mean of p - q - q ln p, taken exactly, since a sum stops before the small thresholds that cost most:

# %%
thresholds = (np.arange(400) + 0.5) / 400
told = pharmacy.dangerous(labels[SEED]).long()
curves = []
for t in thresholds:
    unit = torch.tensor([[0, 1 - t], [t, 0]])
    curves.append((metrics.decision_cost(probs, told, unit), metrics.regret(probs, truth, unit)))
cost, over = 2 * np.mean(curves, axis=0)
brier, distance = metrics.brier(probs, told) / 2, (probs - truth)[:, 1].square().mean().item()
print(f"twice the mean cost {cost:.4f}, Brier score {brier:.4f}")
print(f"twice the mean regret {over:.4f}, mean of (p - q)^2 {distance:.4f}")
assert abs(cost - brier) < 5e-4
assert abs(over - distance) < 5e-4
offered = {name: {seed: four[seed][name] for seed in seeds} for name in "ABCD"}
offered["A after T"] = {seed: said[plain, True, seed] for seed in seeds}
rows = []
for name, models in offered.items():
    for seed, one in models.items():
        p, q = one[:, 1], known[seed][:, 1]
        paid = 100 * (p - q - torch.xlogy(q, p)).mean().item()
        score = metrics.brier(one, pharmacy.dangerous(labels[seed]).long()) / 2
        rows.append({"model": name, "Brier": score, "cost, in checks in vain": paid})
pd.DataFrame(rows).groupby("model", sort=False).mean().round(3)

# %% [markdown]
# So the Brier score answers the question "what do I pay on average if all thresholds are equally likely, and a false alarm and a miss cost t and 1 - t?". In the unit of the lesson small t weigh more, and the order is another: A stands before B and C by the Brier score, and last by the cost. The **net benefit** of Vickers and Elkin (2006) is TP/n - FP/n · t/(1 - t). It is the base rate less cost/c, with t = 1/(1 + c): a decision curve orders models as a cost curve does, at each threshold. The two side by side, for the models of the lesson:

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.3))
ts = np.linspace(0.01, 0.6, 60)
looks = {name: palette.group(place, f"model {name}") for place, name in enumerate("ABCD")}
shown = [(palette.TRUTH.named("posterior"), known)]
shown += [(role, offered[name]) for name, role in looks.items()]
for role, models in shown:
    benefit = [
        np.mean([metrics.net_benefit(models[s][:, 1], known[s][:, 1], threshold=t) for s in seeds])
        for t in ts
    ]
    rate = np.mean([known[s][:, 1].mean() for s in seeds])
    _ = left.plot(ts, rate - np.array(benefit), **role.line(marker=None))
    _ = right.plot(ts, benefit, **role.line(marker=None))
_ = left.set(xlabel="threshold t", ylabel="cost / c of an image", ylim=(0, 0.35), title="cost curve")
_ = right.set(xlabel="threshold t", ylabel="net benefit", ylim=(-0.15, 0.2), title="decision curve")
_ = right.legend(loc="center left", bbox_to_anchor=(1, 0.5))

# %% [markdown]
# ## What is left
#
# Strengths of the eight ways that are tuned; other events and base rates than 20 %; ensembles of more than three; a network trained to defer (Mozannar and Sontag 2020) in place of two estimates; decision calibration for a set of losses and by its own algorithm (Zhao et al. 2021), rather than for one table and by the two readers; rank correlations over networks of other data.
#
# ## References
#
# - Elkan: *The Foundations of Cost-Sensitive Learning*. IJCAI 2001.
# - Hernández-Orallo, Flach, Ferri: *A Unified View of Performance Metrics: Translating Threshold Choice into Expected Classification Loss*. Journal of Machine Learning Research 13, 2012.
# - Mozannar, Sontag: *Consistent Estimators for Learning to Defer to an Expert*. ICML 2020. [arXiv:2006.01862](https://arxiv.org/abs/2006.01862)
# - Perez-Lebel, Le Morvan, Varoquaux: *Beyond calibration: estimating the grouping loss of modern neural networks*. ICLR 2023. [arXiv:2210.16315](https://arxiv.org/abs/2210.16315)
# - Traub et al.: *Overcoming Common Flaws in the Evaluation of Selective Classification Systems*. NeurIPS 2024. [arXiv:2407.01032](https://arxiv.org/abs/2407.01032)
# - Vickers, Elkin: *Decision Curve Analysis: A Novel Method for Evaluating Prediction Models*. Medical Decision Making 26, 2006. [doi:10.1177/0272989X06295361](https://doi.org/10.1177/0272989X06295361)
# - Zhao, Kim, Sahoo, Ma, Ermon: *Calibrating Predictions to Decisions: A Novel Approach to Multi-Class Calibration*. NeurIPS 2021. [arXiv:2107.05719](https://arxiv.org/abs/2107.05719)
