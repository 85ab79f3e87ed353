# %% [markdown]
# # 10 · Focal loss in theory: why a loss that loses interest calibrates
#
# **Question.** Focal loss was made for object detectors that drown in easy background. Why should it calibrate?
#
# **You will be able to**
# - prove that focal loss bounds a divergence *minus* an entropy, and say what its minimiser is;
# - derive its gradient as a multiple of cross-entropy's, and check that on a real layer;
# - compute the gamma at which a sample's pull is neither strengthened nor weakened;
# - tell apart what the theory proves, what training shows, and where the two part.
#
# **Time.** 90 minutes with the three exercises; the cells run in about a minute.
#
# **Needs.** [02 Measuring calibration](02_measuring_calibration.ipynb), and derivatives.

# %%
from functools import cache, partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch

from calibkit import check, claims, data, experiments, explorers, losses, metrics, models, palette
from calibkit import plots, sweep, theory, training
from calibkit.explorers import panels
from calibkit.scale import budget

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %%
device = training.as_device(DEVICE)
size = budget(SCALE)
seeds = range(SEED, SEED + size.seeds)
gammas = [0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0]
grid = torch.linspace(0, torch.pi / 2, 121, dtype=torch.float64).sin() ** 2  # 0 to 1, dense at the ends
looks = list(zip((0.0, 1.0, 2.0, 3.0, 5.0), palette.CYCLE[:5], ("-", "--", "-.", ":", "-"), strict=True))

# %% [markdown]
# ## 1. A loss that loses interest
#
# Let $p$ be the probability that a network gives to the label. Cross-entropy charges
# $u=-\log p$. Focal loss (Lin et al. 2017) multiplies it by a weight that fades as $p$ grows:
#
# $$L_\gamma = -(1 - p)^\gamma \log p, \qquad \gamma \ge 0.$$
#
# With $\gamma=0$ it is cross-entropy. From scratch, then the package:

# %%
logits = torch.randn(1000, 10, generator=torch.Generator().manual_seed(SEED)).double() * 3
labels = torch.arange(1000) % 10
p = logits.softmax(dim=1)[range(1000), labels]
by_hand = -((1 - p) ** 2) * p.log()
assert torch.allclose(by_hand, losses.focal(logits, labels, gamma=2.0, reduction="none"), atol=1e-9)

# %% [markdown]
# ### Exercise: the gradient ratio
#
# *Difficulty: medium · importance: high · 10 minutes*
#
# On paper first: write $L_\gamma$ as a function of $u$, where $p=e^{-u}$, and differentiate by $u$.
# Cross-entropy's slope is 1 everywhere, so that focal loss's is also the ratio of the two: some
# function $g(p, \gamma)$. Then code it.

# %%
def my_gradient_ratio(p, gamma):
    ...  # your code here: p is a tensor, gamma a number


check.gradient_ratio(my_gradient_ratio)

# %% [markdown]
# <details><summary>Hint</summary>
#
# A product: $(1-p)^\gamma$ times $u$. Both depend on $u$, and $dp/du=-p$.
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
# The package's, checked by autograd:

# %%
u = (-p.log()).requires_grad_()
(slope,) = torch.autograd.grad(((1 - (-u).exp()) ** 2 * u).sum(), u)
assert torch.allclose(slope, theory.gradient_ratio(p, 2.0), atol=1e-9)

# %% [markdown]
# This $g$ runs through the whole lesson. We write it with $s(p)=-p \log p/(1-p)$ as
#
# $$g(p, \gamma) = (1 - p)^\gamma - \gamma p (1 - p)^{\gamma - 1} \log p = (1 - p)^\gamma \, (1 + \gamma s(p)).$$
#
# ## 2. A bound: divergence minus entropy
#
# Let $q$ be the true distribution over the classes, $p$ the predicted one, and extend the loss to
# $L_\gamma=-\sum_k q_k (1-p_k)^\gamma \log p_k$. Then for $\gamma \ge 1$
#
# $$L_\gamma \ge \text{KL}(q, p) + H(q) - \gamma H(p),$$
#
# with the Kullback–Leibler divergence $\text{KL}(q, p)=\sum_k q_k \log(q_k/p_k)$ and the entropy
# $H(p)=-\sum_k p_k \log p_k$ (Mukhoti et al. 2020, appendix B).
#
# **Proof.** Bernoulli's inequality says $(1-x)^\gamma \ge 1-\gamma x$. Multiplied by
# $-q_k \log p_k \ge 0$ and summed, it gives the first step. The second uses $q_k \le 1$ where
# $p_k \log p_k \le 0$:
#
# $$\begin{aligned}
# L_\gamma &\ge -\sum_k q_k \log p_k + \gamma \sum_k q_k p_k \log p_k \\
# &\ge -\sum_k q_k \log p_k + \gamma \sum_k p_k \log p_k .
# \end{aligned}$$
#
# The first sum is cross-entropy, $\text{KL}(q, p)+H(q)$; the second is $-\gamma H(p)$. $\square$

# %%
random = np.random.default_rng(SEED)
q, p = (torch.tensor(random.dirichlet(np.full(10, 0.3), 20_000)) for _ in "qp")
q, p = q.clamp(min=1e-12), p.clamp(min=1e-12)
q, p = q / q.sum(1, keepdim=True), p / p.sum(1, keepdim=True)
for gamma in gammas:
    slack = theory.focal_risk(p, q, gamma) - theory.kl_entropy_bound(p, q, gamma)
    assert slack.min() > -1e-6
    print(f"gamma {gamma:g}: slack at least {slack.min():.6f}, on average {slack.mean():.3f}")

# %% [markdown]
# - **gamma 0**: no slack, both sides are cross-entropy.
# - **gamma 0.5**: the proof does not cover it, yet no pair breaks the bound.
# - **above**: the bound is loose. It says that a small focal loss *forces* divergence minus entropy to be
#   small, not that minimising the one minimises the other. For that, look at the minimiser itself.
#
# ## 3. The minimiser
#
# Two classes, the first true with probability $q$. Which $p$ has the least expected loss
# $R(p)=q L_\gamma(p)+(1-q) L_\gamma(1-p)$? For cross-entropy $p=q$: it is *proper*.
#
# **Claim.** For $\gamma > 0$ and $1/2 < q < 1$ there is exactly one minimiser $p^*$, and $1/2 < p^* < q$. So
# it is always more entropic than the truth. (For $q < 1/2$ by symmetry.)
#
# **Proof.** As $dL_\gamma/dp=-g(p)/p$,
#
# $$R'(p) = -q \frac{g(p)}{p} + (1 - q) \frac{g(1 - p)}{1 - p}, \qquad
# \frac{g(p)}{p} = (1 - p)^\gamma \left( \frac{1}{p} + \gamma \frac{-\log p}{1 - p} \right).$$
#
# Every part of $g(p)/p$ falls as $p$ grows: $-\log p/(1-p)$ because it is the mean of $1/t$ over
# $[p, 1]$. So $R'$ rises, $R$ is convex, and there is one minimiser. Now two signs. At $p=1/2$:
# $R'=2 g(1/2) (1-2q) < 0$, hence $p^* > 1/2$. At $p=q$: $R'=g(1-q)-g(q)$, and if that is
# positive, $p^* < q$. So let $D(\gamma)=\log g(q)-\log g(1-q)$. It starts at $D(0)=0$ and
#
# $$D'(\gamma) = \log \frac{1 - q}{q} + \frac{s(q)}{1 + \gamma s(q)} - \frac{s(1 - q)}{1 + \gamma s(1 - q)}
# \le \log \frac{1 - q}{q} + s(q) - s(1 - q),$$
#
# as $x/(1+\gamma x)$ grows no faster than $x$. The right side is 0 at $q=1/2$; its derivative by $q$ is
# $s'(q)-1/q+s'(1-q)-1/(1-q) < 0$, because $1-p < -\log p < (1-p)/p$ gives
#
# $$0 < s'(p) = \frac{-\log p - (1 - p)}{(1 - p)^2} < \frac{1}{p}.$$
#
# So $D < 0$ for $\gamma > 0$, which is $g(q) < g(1-q)$. $\square$
#
# From scratch: as $R'$ rises, halve the interval until its sign change is found.

# %%
def my_minimiser(q, gamma):
    low, high = torch.zeros_like(q), torch.ones_like(q)
    for _ in range(50):
        p = (low + high) / 2
        pull = q * theory.gradient_ratio(p, gamma) / p
        falling = pull > (1 - q) * theory.gradient_ratio(1 - p, gamma) / (1 - p)
        low, high = torch.where(falling, p, low), torch.where(falling, high, p)
    return (low + high) / 2


for gamma in gammas:
    best = my_minimiser(grid, gamma)
    assert (best - theory.focal_minimiser(grid, gamma)).abs().max() < 1e-6
    assert ((best - 0.5).abs() <= (grid - 0.5).abs() + 1e-9).all()

# %% [markdown]
# **Predict before you run:** the label is certain, $q=1$. Where does each curve end?

# %%
fig, ax = plt.subplots(figsize=(4.1, 3.1), layout="constrained")
for gamma, colour, line in looks:
    _ = ax.plot(grid, theory.focal_minimiser(grid, gamma), line, color=colour, label=f"{gamma:g}")
_ = ax.set(xlabel="truth q", ylabel="minimiser p*", xlim=(0, 1), ylim=(0, 1), aspect="equal")
_ = ax.legend(title="gamma", fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))

# %% [markdown]
# This is figure B.1 of the paper.
#
# - **The middle**: flat. With a large gamma, 70 % and 90 % get nearly the same answer.
# - **The corners**: all curves meet there. With a *certain* label even focal loss is least at $p=1$. It
#   does not forbid certainty; it pulls ever more weakly towards it. Keep this for section 9.
#
# "Always more entropic" is about *two* classes. With many, $g$ exceeds 1 for every small $p$, and the
# favourite of a flat distribution can gain:

# %%
q = torch.full((100,), 0.9 / 99, dtype=torch.float64)
q[0] = 0.1
for gamma in (1.0, 5.0):
    p = theory.focal_minimiser_multiclass(q, gamma)
    change = metrics.entropy(p[None]).item() - metrics.entropy(q[None]).item()
    print(f"gamma {gamma:g}: truth {q[0]:.4f}, minimiser {p[0]:.4f}, entropy {change:+.4f}")

# %% [markdown]
# So the paper's sentence needs its figure's two classes.
#
# ## 4. The gradient (proposition 1)
#
# We need trained networks, one for each gamma and seed. (`trial` and `sweep.run`:
# [notebook 03](03_overconfidence.ipynb).) Start them now; it takes half a minute.

# %%
@cache
def digits(seed):
    return data.noisy_digits(size.train, noise=0.4, seed=seed, test=size.test)


def recipe(gamma, seed):
    train, _, test = digits(seed)
    return training.trial(lambda: models.mlp(64, 10), train, {"test": test}, seed=seed,
                          watch={"film": test[:2000]}, epochs=size.epochs,
                          loss=partial(losses.focal, gamma=gamma))


swept = sweep.run(recipe, {"gamma": gammas, "seed": seeds}, device=device)
print(f"{len(swept.outcomes)} networks trained")

# %% [markdown]
# **Proposition 1.** For one sample and the weights $w$ of the last layer,
#
# $$\frac{\partial L_\gamma}{\partial w} = g(p, \gamma) \, \frac{\partial L_0}{\partial w}.$$
#
# **Proof.** $L_0=u$, and $L_\gamma=(1-e^{-u})^\gamma u$ is a function of $u$ alone. By the chain rule its
# gradient is $dL_\gamma/du$ times that of $u$, and by the product rule
#
# $$\frac{dL_\gamma}{du} = (1 - p)^\gamma + \gamma (1 - p)^{\gamma - 1} p \, u = g(p, \gamma). \qquad \square$$
#
# Nothing in it needs the *last* layer: it holds for every weight of the network. But it holds per *sample*.
# In a batch each sample has its own $g$, and the sum points elsewhere.
#
# We check the last layer and the first of a network trained above, sample by sample, without using the formula:

# %%
def gradient_norms(model, inputs, labels, loss):
    """Norm of each sample's gradient, of the last layer and of the first."""
    weights = [model.head.weight, next(model.parameters())]
    rows = []
    for x, y in zip(inputs.split(1), labels.split(1), strict=True):
        parts = torch.autograd.grad(loss(model(x), y), weights)
        rows.append(torch.stack([part.norm() for part in parts]))
    return torch.stack(rows)


def ratios(seed, gamma, n=60):
    model = swept.one(gamma=1.0, seed=seed).model.double()
    inputs, labels = digits(seed).test.inputs[:n].double(), digits(seed).test.labels[:n]
    p = model(inputs).softmax(dim=1)[range(n), labels].detach()
    focal = gradient_norms(model, inputs, labels, partial(losses.focal, gamma=gamma))
    return p, focal / gradient_norms(model, inputs, labels, losses.cross_entropy)


p, ratio = ratios(SEED, 3.0)
assert (ratio - theory.gradient_ratio(p, 3.0)[:, None]).abs().max() < 1e-6

# %%
fig, ax = plt.subplots(figsize=(5, 3), layout="constrained")
for gamma, colour, line in looks:
    _ = ax.plot(grid, theory.gradient_ratio(grid, gamma), line, color=colour, label=f"{gamma:g}")
for gamma, colour, _ in looks[1::2]:
    p, ratio = ratios(SEED, gamma)
    _ = ax.plot(p, ratio[:, 0], "o", ms=4, color=colour)
_ = ax.axhline(1, color="grey", lw=0.8)
_ = ax.set(xlabel="probability p of the label", ylabel="gradient ratio g", ylim=(-0.05, 1.6))
_ = ax.legend(title="gamma (dots, for 1 and 3: autograd)", ncols=3, fontsize="small", loc="upper right")

# %% [markdown]
# Figure 3 (a) of the paper, with measured dots.
#
# - **Left, above 1**: badly predicted samples pull *harder* than under cross-entropy.
# - **Right, below 1**: well predicted ones pull less, and at $p=1$ not at all.
# - **Between**: each curve crosses 1 once (section 5).

# %%
# NBVAL_CHECK_OUTPUT
def deviation(seed, gamma):
    p, ratio = ratios(seed, gamma)
    return (ratio - theory.gradient_ratio(p, gamma)[:, None]).abs().max().item()


worst = [max(deviation(s, gamma) for gamma in (1.0, 2.0, 3.0)) for s in seeds]
print(claims.verdict("F2", "autograd's ratio is g, to 1e-6", worst, expect="within", margin=1e-6))

# %% [markdown]
# The paper concludes: early on, when $p$ is small, focal weights grow *faster*; later they are held back.
# The norm of the last layer's weights (its figure 2 (e)):

# %%
fig, ax = plt.subplots(figsize=(5, 2.6), layout="constrained")
epochs = np.unique(np.geomspace(1, size.epochs, 12).astype(int))
for style, gamma in enumerate((0.0, 1.0, 3.0, 5.0)):
    norms = [outcome.history.head_norm[epochs - 1] for outcome in swept.where(gamma=gamma)]
    _ = plots.spread(epochs, norms, palette.group(style, f"gamma {gamma:g}"), ax=ax)
_ = ax.set(xscale="log", xlabel="epoch", ylabel="norm of the last layer", xticks=epochs,
           xticklabels=epochs)
ax.minorticks_off()
_ = ax.legend(fontsize="small")

# %% [markdown]
# The lead is brief. The first verdict looks at epoch 2, chosen in sight of the figure: it describes these runs alone.

# %%
# NBVAL_CHECK_OUTPUT
swept.measure("norm_early", lambda outcome: outcome.history.head_norm[1])
swept.measure("norm_late", lambda outcome: outcome.history.head_norm.iloc[-1])
focal, plain = {"gamma": 3.0}, {"gamma": 0.0}
longer = swept.difference("norm_early", focal, plain)
print(claims.verdict("F2", "after 2 epochs gamma 3 has the longer weights", longer))
shorter = swept.difference("norm_late", focal, plain)
print(claims.verdict("F2", "at the end it has the shorter ones", shorter, expect="below"))

# %% [markdown]
# ## 5. Which gamma? (proposition 2)
#
# Samples below some $p_0$ should pull harder than under cross-entropy, all others less. Which gamma does that?
# First: where is $g=1$?
#
# **Lemma.** For each $\gamma > 0$ there is exactly one $p_0$ in $(0, 1/2)$ with $g(p_0, \gamma)=1$; below it
# $g > 1$, above it $g < 1$.
#
# **Proof.** Divide the logarithm of $g=(1-p)^\gamma (1+\gamma s)$ by $p$, with $y=\gamma s$:
#
# $$\frac{\log g}{p} = \gamma \, \frac{\log (1 - p)}{p} + \frac{\log(1 + y)}{y} \cdot \gamma \, \frac{-\log p}{1 - p}.$$
#
# Each fraction is, up to sign, a mean: of $1/(1-t)$ over $[0, p]$, which rises; of $1/(1+t)$ over $[0, y]$,
# which falls, as $y$ rises with $p$ (section 3); and of $1/t$ over $[p, 1]$, which falls. So the whole falls, from
# $+\infty$ at $p=0$. At $p=1/2$ we have $s=\log 2$ and $\log g=\log(1+y)-y < 0$. $\square$
#
# **Proposition 2.** For $p_0 < 1/2$ let $s=s(p_0)$ and $r=-\log(1-p_0)/s$. Then $g(p_0, \gamma)=1$ at
#
# $$\gamma^* = \frac{1}{s} \left( \frac{-W_{-1}(-r e^{-r})}{r} - 1 \right),$$
#
# and with every $\gamma \ge \gamma^*$ we have $g(p, \gamma) \le 1$ for all $p \ge p_0$. Here $W$ is Lambert's function,
# inverse to $x e^x$; $W_{-1}$ is its lower branch.
#
# **Proof.** With $v=1+\gamma s$, $g=1$ reads $\log v=r (v-1)$, so $v e^{-rv}=e^{-r}$, so
# $(-rv) e^{-rv}=-r e^{-r}$: thus $-rv$ is a value of $W$. There are two. The principal branch gives $-rv=-r$,
# $\gamma=0$ (not a negative gamma, as the paper says). As $r < 1$ (it is $-\log(1-p)/p$, rising, over $-\log p/(1-p)$, falling, and equals 1
# at $p=1/2$), the other gives $-rv < -1$, so $v > 1$. A straight line and the concave logarithm meet no third time:
# beyond $\gamma^*$ the line is above, $g(p_0, \gamma) < 1$, and the lemma carries that to every $p \ge p_0$. $\square$
#
# ### Exercise: gamma*
#
# *Difficulty: medium · importance: medium · 10 minutes*
#
# Code proposition 2: from a threshold $p_0 < 1/2$ to $\gamma^*$.

# %%
def my_gamma_star(p0):
    ...  # your code here: p0 is a number below 1/2


check.gamma_star(my_gamma_star)

# %% [markdown]
# <details><summary>Hint</summary>
#
# `scipy.special.lambertw(y, -1)` is the lower branch. It returns a complex number: take `.real`.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_gamma_star(p0):
#     from math import exp, log
#     from scipy.special import lambertw
#
#     s = -p0 * log(p0) / (1 - p0)
#     r = -log(1 - p0) / s
#     return (-lambertw(-r * exp(-r), -1).real / r - 1) / s
# ```
#
# </details>
#
# Wherever one starts, $g$ must come out as 1, and at most 1 from there on:

# %%
# NBVAL_CHECK_OUTPUT
def off_one(seed):
    p0 = torch.tensor(np.random.default_rng(seed).uniform(0.01, 0.49, 500))
    gamma = theory.gamma_star(p0)
    beyond = theory.gradient_ratio(p0 + (1 - p0) * grid[:, None], gamma)
    assert beyond.max() < 1 + 1e-6
    return (theory.gradient_ratio(p0, gamma) - 1).abs().max().item()


off = [off_one(s) for s in seeds]
print(claims.verdict("F3", "g(p0, gamma*) is 1, to 1e-6", off, expect="within", margin=1e-6))
print(f"gamma*(0.2) = {theory.gamma_star(0.2):.4f}, gamma*(0.25) = {theory.gamma_star(0.25):.4f}")

# %% [markdown]
# Rounded to 5 and 3, these two make **FLSD-53**, the paper's sample-dependent focal loss: gamma 5 for $p < 0.2$,
# else 3.

# %%
fine = torch.linspace(0, 1, 1001, dtype=torch.float64)
policy = torch.where(fine < 0.2, 5.0, 3.0).double()
fig, (left, right) = plt.subplots(1, 2, figsize=(7, 2.5), layout="constrained")
below = fine[100:490]
_ = left.plot(below, theory.gamma_star(below), color=palette.BLUE, label="gamma*")
_ = left.plot(fine, policy, "--", color=palette.VERMILLION, label="FLSD-53")
_ = left.set(xlim=(0.1, 0.5), ylim=(0, 10), xlabel="p", ylabel="gamma")
_ = right.plot(fine, theory.gradient_ratio(fine, policy), "--", color=palette.VERMILLION)
_ = right.axhline(1, color="grey", lw=0.8)
_ = right.set(xlabel="p", ylabel="g under FLSD-53")
_ = left.legend()
for gamma in (5.0, 3.0):
    print(f"gamma {gamma:g}: g = 1 at p = {theory.gradient_threshold(gamma):.4f}")

# %% [markdown]
# - **Left**: below the curve a sample pulls harder, above it less. The rule is a staircase around it.
# - **Right**: the step at 0.2 lifts $g$ above 1 again until about a quarter. The rule is a rounding, no theorem.
#
# ## 6. A linear model (appendix C)
#
# Two weights, no depth, no memory: is focal loss's grip on the weights visible here already? Four Gaussian
# clusters sit on the corners of a square of side 4, two to a class; a tenth of the labels is flipped.
# Proposition 1 lets us write the gradient descent without autograd:

# %%
def descend(gamma, train, steps=200, rate=0.5):
    sign = 2.0 * train.labels - 1  # +1 right, -1 left
    x, w, norms = train.inputs.double(), torch.zeros(2).double(), []
    for _ in range(steps):
        p = torch.sigmoid(sign * (x @ w))  # probability of the label
        w = w + rate * (theory.gradient_ratio(p, gamma) * (1 - p) * sign) @ x / len(x)
        norms.append(w.norm().item())
    return w, norms


flat = {seed: data.clusters(4_000, flip=0.1, seed=seed, test=size.test) for seed in seeds}
lines = {(gamma, seed): descend(gamma, flat[seed].train) for gamma in gammas for seed in seeds}
for (gamma, seed), (w, _) in lines.items():
    w, train = w.clone().requires_grad_(), flat[seed].train
    logits = torch.stack([torch.zeros(len(train)), train.inputs.double() @ w], dim=1)
    (slope,) = torch.autograd.grad(losses.focal(logits, train.labels, gamma=gamma), w)
    assert slope.norm() < 1e-6  # the package agrees: this is the bottom

# %% [markdown]
# From the weights, `theory` knows the expected length of the logits and the error rate in closed form. On test
# points we measure the confidence on mistakes, the share of mistakes made above 0.9, the signed gap and, against
# the known posterior, the true calibration error.

# %%
def judge(gamma, seed):
    w, test = lines[gamma, seed][0], flat[seed].test
    z = test.inputs.double() @ w
    probs = torch.stack([-z, z], dim=1).div(2).softmax(dim=1)
    mean, std = theory.linear_logits(w, 0.0, test.source.means, test.source.covariances)
    unsure = probs.amax(1)[probs.argmax(1) != test.labels]  # confidence on mistakes
    return {
        "gamma": gamma, "seed": seed, "weights": w.norm().item(),
        "logits": theory.linear_logit_norm(mean, std),
        "error rate": theory.linear_error(mean, std, test.source.sides, flip=0.1),
        "on mistakes": unsure.mean().item(), "above 0.9": (unsure > 0.9).double().mean().item(),
        "gap": metrics.signed_gap(probs, test.labels),
        "true calibration error": metrics.true_calibration_error(probs, test.posterior),
        "inverted": metrics.true_calibration_error(theory.focal_posterior(probs, gamma),
                                                   test.posterior),
    }


linear = pd.DataFrame([judge(*key) for key in lines]).pivot(index="seed", columns="gamma")
linear.mean().unstack(0).drop(columns="inverted").round(3)

# %% [markdown]
# **Predict before you run:** will the line that separates the classes move with gamma?

# %%
fig, (left, middle, right) = plt.subplots(1, 3, figsize=(7.6, 2.5), layout="constrained")
test, up = flat[SEED].test, np.array([-5, 5])
_ = middle.scatter(*test.inputs[:200].T, c=test.labels[:200], cmap="Greys", vmin=-1, vmax=2, s=4)
for style, (gamma, wide) in enumerate(((0.0, 3), (3.0, 1.5))):
    colour, runs = palette.CYCLE[style], [lines[gamma, seed][1][:30:3] for seed in seeds]
    _ = plots.spread(np.arange(1, 31, 3), runs, palette.group(style, f"gamma {gamma:g}"), ax=left)
    w = lines[gamma, SEED][0].numpy()
    for height, line in ((0, "-"), (np.log(1.5), "--"), (-np.log(1.5), "--")):
        _ = middle.plot((height - w[1] * up) / w[0], up, line, color=colour, lw=wide)
    z = test.inputs.double().numpy() @ w
    unsure = (1 / (1 + np.exp(-abs(z))))[(z > 0) != (test.labels.numpy() == 1)]
    _ = right.hist(unsure, np.linspace(0.5, 1, 21), color=colour, alpha=0.6, hatch="/."[style])
_ = left.set(xlabel="step", ylabel="norm of the weights", ylim=(0, 1.4))
_ = left.legend(loc="upper left", fontsize="small")
_ = middle.set(xlim=(-5, 5), ylim=(-5, 5), aspect="equal", title="decision")
_ = right.set(xlabel="confidence on mistakes", ylabel="test points")

# %% [markdown]
# - **Left**: cross-entropy's weights are longer from the start, unlike in section 4, and both *stop*. Two classes
#   start at $p=1/2$, where $g < 1$ by the lemma; ten start near 1/10, where $g > 1$.
# - **Middle**: the same solid line decides. Between the dashed lines a model is less than 60 % sure. Focal loss
#   moves those, not the decision.
# - **Right** (same colours): on its mistakes cross-entropy is surer, up to nearly certain; focal loss is never very sure.

# %%
# NBVAL_CHECK_OUTPUT
def paired(column):
    return linear[column][3.0] - linear[column][0.0]


print(claims.verdict("F4", "gamma 3 has the shorter weights", paired("weights"), expect="below"))
print(claims.verdict("F4", "and the shorter logits", paired("logits"), expect="below"))
print(claims.verdict("F4", "it decides alike (error rates within 0.002)", paired("error rate"),
                     expect="within", margin=0.002))
print(claims.verdict("F4", "it is less sure of its mistakes", paired("on mistakes"), expect="below"))
print(claims.verdict("F4", "cross-entropy is above 0.9 on nine mistakes in ten",
                     linear["above 0.9"][0.0] - 0.9))
print(claims.verdict("10a", "cross-entropy is over-confident here (signed gap)", linear["gap"][0.0]))

# %% [markdown]
# What the paper concludes about focal loss holds. That *cross-entropy*'s norms blow up and that it is almost
# always above 90 % when it errs does not hold here: no line separates flipped labels, so the minimum is finite, and
# descent finds it. How well is it calibrated?

# %%
x, true = flat[SEED].test.inputs.double(), flat[SEED].test.labels
z = x @ lines[0.0, SEED][0]
sure, right = z.abs().sigmoid(), (z > 0) == (true == 1)
for low in (0.6, 0.9):
    there = (sure > low) & (sure <= low + 0.1)
    print(f"said {low:.1f} to {low + 0.1:.1f}: {there.double().mean():.0%} of the points; "
          f"claimed {sure[there].mean():.0%}, kept {right[there].double().mean():.0%}")

# %% [markdown]
# No honest confidence exceeds 90 %, but a straight logit cannot level off there: even the best linear model is wrong
# at both ends, over-confident at the top, under-confident below. Hence its true calibration error, a signed gap
# that adds up opposite errors (10a), and its sure mistakes. Focal loss here only harms (see the table). The model
# shows the mechanism, not the disease: weights run away where classes can be *separated*, as large
# networks separate their training sets.
#
# ## 7. Gamma 0 to 5, really trained
#
# Back to the networks of section 4, which do memorise: see `train_accuracy`.

# %%
def wrong_nll(outcome):
    said = outcome.predictions["test"]
    return metrics.nll(said.probs[~said.correct], said.labels[~said.correct])


def true_error(outcome, gamma=0.0):
    """Against the posterior; after the inverse of p* if a gamma is given."""
    said = outcome.predictions["test"]
    return metrics.true_calibration_error(theory.focal_posterior(said.probs, gamma), said.posterior)


swept.measure("entropy", lambda outcome: metrics.entropy(outcome.predictions["test"].probs).mean())
swept.measure("wrong_nll", wrong_nll)
swept.measure("true_error", true_error)
swept.measure("inverted", lambda outcome: true_error(outcome, outcome.setting["gamma"]))
columns = ["train_accuracy", "test_accuracy", "test_gap", "test_ece", "wrong_nll", "entropy"]
swept.table.groupby("gamma")[columns].mean().round(3)

# %%
fig, axes = plt.subplots(1, 3, figsize=(8, 2.4), layout="constrained")
names = {"test_ece": "ECE", "test_gap": "signed gap", "test_accuracy": "accuracy"}
for style, (ax, column) in enumerate(zip(axes, names, strict=True)):
    runs = np.array([swept.values(column, gamma=gamma) for gamma in gammas]).T
    _ = plots.spread(gammas, runs, palette.group(style, names[column]), ax=ax)
    _ = ax.set(xlabel="gamma", ylabel=names[column])
_ = axes[1].axhline(0, color="grey", lw=0.8)

# %%
# NBVAL_CHECK_OUTPUT
def change(column, high=3.0, low=0.0):
    return swept.difference(column, {"gamma": high}, {"gamma": low})


print(claims.verdict("F1", "gamma 3 says it with more entropy", change("entropy")))
print(claims.verdict("F5", "its wrong predictions cost less NLL", change("wrong_nll"), expect="below"))
print(claims.verdict("F5", "its ECE is lower", change("test_ece"), expect="below"))
print(claims.verdict("F5", "gamma 2 beats 1 (ECE)", change("test_ece", 2.0, 1.0), expect="below"))
print(claims.verdict("F5", "gamma 3 beats 2 (ECE)", change("test_ece", 3.0, 2.0), expect="below"))
print(claims.verdict("10b", "gamma 5 is worse than 3 (ECE)", change("test_ece", 5.0, 3.0)))
print(claims.verdict("F5", "gamma 3 is more accurate", change("test_accuracy")))

# %% [markdown]
# - **ECE and gap** fall together, gamma by gamma, as in the paper. Ours begin further up (few and
#   noisy images); the paper chose 3 by validation. The best gamma belongs to data, network and training.
# - **Accuracy** pays. In the paper's comparison (appendix J) focal loss had the lower error; here it has the
#   higher one. One untested reading: it spends its pull on the hardest images, here often truly ambiguous ones.
#
# ## 8. The sliders
#
# One gamma moves three pictures.

# %%
colour = {"stroke": palette.VERMILLION, "stroke_width": 3}
pale = {"stroke": "#BBBBBB"}
curves = {gamma: (theory.gradient_ratio(grid, gamma), theory.focal_minimiser(grid, gamma))
          for gamma in gammas}
sparse = flat[SEED].test[:120]
sides = [panels.dots(*sparse.inputs[sparse.labels == k].T, square=k == 1, fill=fill)
         for k, fill in enumerate((palette.BLUE, palette.ORANGE))]


def thin(i, gamma):
    """Curve number i of every gamma in grey, and this gamma's in colour."""
    others = [panels.curve(grid[::4], curves[other][i][::4], **pale) for other in gammas]
    return [*others, panels.curve(grid[::2], curves[gamma][i][::2], **colour)]


def level(w, height, **style):
    """Where the linear model's logit has this height."""
    return panels.curve([(height - w[1] * up) / w[0] for up in (-5, 5)], (-5, 5), **style)

# %%
def frame(gamma):
    w, _ = lines[gamma, SEED]
    band = [level(w, sign * np.log(1.5), stroke_dasharray="5 4") for sign in (-1, 1)]
    unit = {"x_ticks": (0, 0.5, 1), "x_label": "probability p of the label"}
    drawn = [
        panels.plot("pull on a sample", thin(0, gamma), y_label="g", y_ticks=(0, 1, 2), **unit),
        panels.plot("answer asked for", thin(1, gamma), y_label="p*", y_ticks=(0, 0.5, 1),
                    **unit | {"x_label": "truth q"}),
        panels.plot("linear model", [*sides, level(w, 0, **colour), *band], x_label="x",
                    y_label="y", x_ticks=(-5, 0, 5), y_ticks=(-5, 0, 5)),
    ]
    readout = (f"p* for q = 0.9: {theory.focal_minimiser(0.9, gamma):.2f}; linear weights "
               f"{w.norm():.2f}")
    return panels.frame(drawn, title=f"gamma {gamma:g}", readout=readout)


explorers.Explorer(
    frame, explorers.Slider("gamma", gammas, show="{:g}".format),
    description="Three pictures for one gamma, in colour; the other gammas are grey. Left, the ratio g of "
    "the gradients against the probability of the label. Middle, the minimiser p* against the truth q. "
    "Right, 120 test points of the linear model with the line that separates the classes; on the "
    "dashed lines it is 60 % sure.",
)

# %% [markdown]
# And the networks of section 4:

# %%
stops = [e for e in (1, 2, 3, 4, 6, 8, 10, 15, 20, 25, 30, 45, 60) if e <= size.epochs]


def by_epoch(gamma, column):
    rows = [outcome.history[column] for outcome in swept.where(gamma=gamma)]
    return np.array(rows)[:, np.array(stops) - 1]  # (seeds, stops)


def trained_frame(gamma, epoch):
    diagrams = [outcome.diagrams["film"][epoch - 1] for outcome in swept.where(gamma=gamma)]
    curves = {palette.CONFIDENCE: by_epoch(gamma, "film_confidence"),
              palette.ACCURACY: by_epoch(gamma, "film_accuracy")}
    sure, right = (values[:, stops.index(epoch)].mean() for values in curves.values())
    readout = (f"gamma {gamma:g}, epoch {epoch}: mean confidence {sure:.1%}, accuracy {right:.1%}, "
               f"signed gap {sure - right:+.1%}")
    return explorers.along_frame(
        explorers.pooled(diagrams), epoch, stops, curves, x_label="epoch", log_x=True,
        x_ticks=[s for s in (1, 3, 10, 30) if s <= size.epochs], readout=readout,
        title=f"gamma {gamma:g}, epoch {epoch}")

# %%
explorers.Explorer(
    trained_frame, explorers.Slider("gamma", gammas, show="{:g}".format),
    explorers.Slider("epoch", stops, start=stops[-1]), play=True,
    description="Left, the reliability diagram of the networks of all seeds after the chosen epoch: a bar "
    "below the diagonal is over-confident. Right, for the chosen gamma: mean confidence and accuracy against "
    "the epoch; the bands span the seeds, the grey line marks the chosen epoch.",
)

# %% [markdown]
# After the last epoch, with the length of the linear weights:

# %%
fig, axes = plt.subplots(1, 3, figsize=(7, 3.3), layout="constrained")
for ax, gamma in zip(axes, (0.0, 2.0, 5.0), strict=True):
    said = swept.pooled("test", gamma=gamma)
    counted = metrics.reliability(said.probs, said.labels)
    title = f"gamma {gamma:g}, linear {linear['weights'][gamma].mean():.2f}"
    _ = plots.draw_reliability(counted, ax=ax, title=title, legend=False)

# %% [markdown]
# As gamma grows, the counts leave the last bin and the bars climb towards the diagonal. But read on.
#
# ## 9. The classic mistake: to take p* for a probability
#
# Focal loss is not proper: its optimum is $p^*(q)$, not $q$. **The mistake** is to read the output of a model that
# really reached it as a probability. **The repair** is to undo $p^*$: at the minimum $q_k g(p_k)/p_k$ is the same
# for all classes ($R'=0$ in section 3; with more classes, Lagrange's multiplier), so $q_k$ is proportional to
# $p_k/g(p_k)$ (Charoenphakdee et al. 2021).
#
# ### Exercise: back to the truth
#
# *Difficulty: easy · importance: high · 5 minutes*
#
# Two classes, the first with predicted probability `p`. Which probability $q$ does it stand for?

# %%
def my_focal_posterior(p, gamma):
    ...  # your code here: use theory.gradient_ratio


check.focal_posterior(my_focal_posterior)

# %% [markdown]
# <details><summary>Hint</summary>
#
# Compute $p/g(p)$ and $(1-p)/g(1-p)$, and make them sum to 1.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_focal_posterior(p, gamma):
#     first = p / theory.gradient_ratio(p, gamma)
#     second = (1 - p) / theory.gradient_ratio(1 - p, gamma)
#     return first / (first + second)
# ```
#
# </details>
#
# **Predict before you run:** the same repair for the linear model and for the trained networks. Does it help
# both?

# %%
# NBVAL_CHECK_OUTPUT
gain = linear["inverted"][3.0] - linear["true calibration error"][3.0]
print(claims.verdict("10c", "the repair helps the linear model (true calibration error)", gain,
                     expect="below"))
gain = swept.values("inverted", gamma=3.0) - swept.values("true_error", gamma=3.0)
print(claims.verdict("10d", "it helps the networks (true calibration error)", gain, expect="below"))
undone = swept.values("inverted", gamma=3.0) - swept.values("true_error", gamma=0.0)
print(claims.verdict("10e", "repaired, they are where cross-entropy is (0.03)", undone,
                     expect="within", margin=0.03))

# %% [markdown]
# The linear model sits at its minimum, so undoing $p^*$ gives back what cross-entropy gives. The networks saw one
# certain label for each image: there $p^*=1$, and nothing shrinks at the optimum. But training, with weight decay, ends before
# $p=1$, and the fading pull leaves $p$ lower (section 4: shorter weights), on new images too: a second error, against
# the first. That $p^*$ tells its size is only an analogy; 10e measures it, with what remains. (Komisarenko
# and Kull 2024: focal loss is a proper loss of a raised confidence.)
#
# ## 10. The paper's figures beside ours
#
# | what | paper | ours |
# |---|---|---|
# | weights longer, then shorter | reversal between epochs 150 and 250 of 350 (ResNet-50, CIFAR-10) | section 4 |
# | linear model | 4,000 points, side 4, 10 % flipped; cross-entropy's mistakes "almost always" above 90 % | section 6: not so |
# | ECE by gamma | 3 beats 2 beats 1 (ResNet-50, CIFAR-10) | section 7 |
#
# ## 11. On photographs
#
# A ResNet-8 on 2,500 CIFAR-10 images, 3 seeds, CPU. At `smoke` and `laptop` the table is stored;
# `SCALE = "gpu"` trains it anew, larger ([from laptop to paper](from_laptop_to_paper.md)).

# %%
photographs = experiments.on_photographs("focal", SCALE, device=device)
experiments.shown(photographs)

# %%
# NBVAL_CHECK_OUTPUT
print(experiments.verdict("focal", photographs))

# %% [markdown]
# Read training accuracy and the sign of the gap first: with little memorised there is little over-confidence to
# work against, and focal loss can overshoot.
#
# ## Three things to take away
#
# 1. Per sample, a focal gradient is $g(p, \gamma)$ times cross-entropy's: larger below one threshold, smaller above.
# 2. Focal loss is not proper. Its minimiser shrinks two-class probabilities towards 1/2, in a known and
#    invertible way.
# 3. In a network that memorises, $p^*=1$; the fading pull does not get there in a finite training, which works
#    against over-confidence. Where the two balance has to be measured.
#
# ## Recall
#
# <details><summary>1. What does the bound of section 2 say, and what not?</summary>
#
# A small focal loss forces KL - gamma H(p) to be small. Not that p has entropy: a certain label said with p = 1 costs
# nothing.
#
# </details>
#
# <details><summary>2. A label is certain. What is the minimiser of focal loss with gamma 5?</summary>
#
# p = 1, as with cross-entropy. Only the pull towards it is weaker.
#
# </details>
#
# <details><summary>3. Is the focal gradient of a batch a multiple of its cross-entropy gradient?</summary>
#
# No. Each sample's is, with its own g.
#
# </details>
#
# <details><summary>4. Why is there no threshold above 1/2?</summary>
#
# At 1/2, log g = log(1 + y) - y is already negative, and g stays below 1.
#
# </details>
#
# <details><summary>5. Why did cross-entropy's weights not run away in the linear model?</summary>
#
# The flipped labels cannot be separated by a line, so the loss has a finite minimum.
#
# </details>
#
# ## Go further
#
# Repeat section 6 with `flip=0.0` and more steps: how long do the weights of gamma 0 become? Then give the networks
# of section 4 more training images (`size.train`): at which gamma does the signed gap now change its sign?
# If your digits differ from those printed here, see [your numbers differ?](your_numbers_differ.md).
#
# ## References
#
# - Mukhoti, Kulharia, Sanyal, Golodetz, Torr, Dokania: *Calibrating Deep Neural Networks using Focal
#   Loss*. NeurIPS 2020. [arXiv:2002.09437](https://arxiv.org/abs/2002.09437) (section 4, appendices B to D)
# - Lin, Goyal, Girshick, He, Dollár: *Focal Loss for Dense Object Detection*. ICCV 2017.
#   [arXiv:1708.02002](https://arxiv.org/abs/1708.02002)
# - Charoenphakdee, Vongkulbhisal, Chairatanakul, Sugiyama: *On Focal Loss for Class-Posterior Probability
#   Estimation: A Theoretical Perspective*. CVPR 2021. [arXiv:2011.09172](https://arxiv.org/abs/2011.09172)
# - Komisarenko, Kull: *Improving Calibration by Relating Focal Loss, Temperature Scaling, and Properness*. ECAI
#   2024. [arXiv:2408.11598](https://arxiv.org/abs/2408.11598)
