# %% [markdown]
# # Evidence beside 02 · Measuring calibration
#
# For readers who want to judge what [the lesson](../02_measuring_calibration.ipynb) says: every verdict with its interval, claim by claim, with one conclusion each. The networks are those of the lesson, one for each seed; a test set of n images is drawn, with replacement, from the lesson's test images, and its labels from their exact posterior.

# %%
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
import torch

from calibkit import metrics, recalibration
from calibkit.course import verdicts
from calibkit.course.experiments import readers
from calibkit.course.scale import begin
from calibkit.lab import data, models, sweep, training
from calibkit.pictures import alt_text, palette

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %%
size, seeds, device = begin(SCALE, SEED, DEVICE)


def recipe(seed):
    train, cal, test = data.noisy_digits(size.train, noise=0.4, seed=seed, test=2 * size.test)
    scored = {"cal": cal, "test": test}
    return training.trial(lambda: models.mlp(64, 10), train, scored, seed=seed, epochs=size.epochs)


swept = sweep.run(recipe, {"seed": seeds}, device=device)
judge = verdicts.judge

# %% [markdown]
# ## M4: what the over-confidence error does not see
#
# Thulasidasan et al. (2019) advise the over-confidence error (OE) for applications with a high risk. OE counts over-confidence alone, so a reader who is too cautious has a lower one than the truth, and decides worse: it brakes when 20 times its probability of class 0 exceeds the rest (a missed child costs 20, a needless stop 1). The exact posterior says what this costs.

# %%
def cost(probs, posterior, missed=20):
    brakes = missed * probs[:, 0] > 1 - probs[:, 0]
    return torch.where(brakes, 1 - posterior[:, 0], missed * posterior[:, 0]).mean().item()


tests = [swept.one(seed=seed).predictions["test"] for seed in seeds]
more_oe, more_cost = {}, {}
for T in (2.0, 1.5):
    changed = [readers.tempered(test.posterior, T) for test in tests]
    pairs = list(zip(changed, tests, strict=True))
    more_oe[T] = np.array(
        [
            metrics.overconfidence_error(probs, test.labels)
            - metrics.overconfidence_error(test.posterior, test.labels)
            for probs, test in pairs
        ]
    )
    more_cost[T] = np.array(
        [cost(probs, test.posterior) - cost(test.posterior, test.posterior) for probs, test in pairs]
    )

# %% tags=["nbval-check-output"]
print(
    verdicts.conclude(
        "M4",
        [
            judge("M4", f"the posterior at T = {T:g} has a lower OE than the posterior", less, expect="below")
            for T, less in more_oe.items()
        ],
        "a reader who is too cautious has a lower OE than the truth, by little",
    )
)
judged = partial(verdicts.judge, "02a")
given = [judged("its decisions cost at least 0.01 more per image", more_cost[2.0], margin=0.01)]
print(verdicts.conclude("02a", given, "the reader with the lower OE decides at a higher cost"))

# %% [markdown]
# ## M6: bias of the ECE against the known truth
#
# Three models on each test set: the network as trained, the network after one temperature (fitted on calibration images), the exact posterior. The bias is the mean ECE over many test sets of n images, minus the exact error of all test images.

# %%
def three_models(outcome):
    cal, test = outcome.predictions["cal"], outcome.predictions["test"]
    scaler = recalibration.TemperatureScaler().fit(cal.logits, cal.labels)
    cured = scaler.transform(test.logits).softmax(dim=1)
    return {"as trained": test.probs, "after the cure": cured, "the truth": test.posterior}


def estimates(posterior, probs, n, seed):
    """The ECE on size.draws test sets of n images."""
    generator = torch.Generator().manual_seed(seed)
    values = []
    for _ in range(size.draws):
        chosen = torch.randint(len(posterior), (n,), generator=generator)
        labels = torch.multinomial(posterior[chosen], 1, generator=generator)[:, 0]
        values.append(metrics.ece(probs[chosen], labels))
    return np.array(values)

# %%
numbers = [250, 1000, 4000]
rows = []
for seed in seeds:
    outcome = swept.one(seed=seed)
    posterior = outcome.predictions["test"].posterior
    for name, probs in three_models(outcome).items():
        exact = metrics.true_calibration_error(probs, posterior)
        for n in numbers:
            drawn = estimates(posterior, probs, n, seed)
            row = {"model": name, "images": n, "seed": seed, "exact error": exact}
            rows.append(row | {"bias": drawn.mean() - exact, "spread": drawn.std()})
measured = pd.DataFrame(rows)
measured.groupby(["model", "images"], sort=False)[["exact error", "bias", "spread"]].mean().round(4)

# %%
roles = {
    "as trained": palette.OVER.named("as trained"),
    "after the cure": palette.group(2, "after the cure"),
    "the truth": palette.TRUTH.named("the truth"),
}
fig, ax = plt.subplots(figsize=(5.5, 3.4))
for name, role in roles.items():
    part = measured[measured.model == name]
    _ = sns.lineplot(part, x="images", y="bias", errorbar=("pi", 100), ax=ax, **role.line())
_ = ax.axhline(0, color=palette.GREY, lw=1)
_ = ax.set(xscale="log", ylabel="bias of the ECE (15 bins)")
_ = ax.set_xticks(numbers, [f"{n:,}" for n in numbers])
ax.minorticks_off()
_ = ax.legend()
means = measured.groupby(["model", "images"], sort=False).bias.mean()
alt_text.note(
    ax, "Bias of the ECE by images: " + "; ".join(f"{m}, {n:,}: {v:+.4f}" for (m, n), v in means.items())
)

# %%
def bias(model, n):
    return measured[(measured.model == model) & (measured.images == n)].bias.to_numpy()


judged = partial(verdicts.judge, "M6")
given = [
    judged("ECE of the exact posterior, n = 1000, is above 0.005", bias("the truth", 1000), margin=0.005),
    judged(
        "after the cure, the bias is larger with 250 than with 4,000 images",
        bias("after the cure", 250) - bias("after the cure", 4000),
    ),
    judged(
        "the bias of the posterior is larger with 250 than with 4,000 images",
        bias("the truth", 250) - bias("the truth", 4000),
    ),
    judged(
        "the over-confident network's bias is below 0.01, n = 1000",
        bias("as trained", 1000),
        expect="within",
        margin="ECE",
        control=bias("after the cure", 1000),
    ),
]

# %% tags=["nbval-check-output"]
given += [
    judged(
        "after the cure, the bias exceeds that of the exact posterior, n = 250",
        bias("after the cure", 250) - bias("the truth", 250),
    )
]
print(
    verdicts.conclude(
        "M6",
        given,
        "the ECE is biased upwards where the true gaps are small beside luck, and less with more images; "
        "at 1,000 images hardly for the over-confident network",
    )
)

# %% [markdown]
# ## What is left
#
# Bias and spread of AdaECE, smECE, the L2 error and debiased forms: in the evidence beside [18](18_estimators_in_depth.ipynb). Photographs: the truth is not known there.
#
# | | the source | ours |
# |---|---|---|
# | M4 | advised for applications with a high risk | a cautious reader has the lower OE and the higher cost |
# | M6 | none has it | against the exact posterior |
