# %% [markdown]
# # Evidence beside 14 · Sample prioritization
#
# For readers who want to judge what [the lesson](../14_sample_prioritization.ipynb) says: every verdict with its interval, claim by claim, with one conclusion
# each; controls, photographs, the poster's numbers, what is left. A verdict is **as trained** where calibration is compared before each side has a temperature of its own.
# All temperatures are fitted by the NLL on `cal`, held-out images of the training distribution.

# %%
from functools import partial

import pandas as pd
import torch
from study import reports, rules, selection

from calibkit.course import experiments, verdicts
from calibkit.course.experiments import choices
from calibkit.course.scale import begin
from calibkit.lab import models, sweep, training
from calibkit.prioritization import MaxEntropy

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% [markdown]
# ## What was trained
#
# Two hidden layers of 64 units, 1,500 noisy digits, 40 epochs (2 of them warm-up), a learning rate that falls along a cosine. **Usual**: weight decay 5e-4. **Chosen**: strength (four) and weight
# decay (eight, 0 among them) of the lowest NLL after T on `cal`, mean of three seeds that judge nothing, for each rule, share and noise. (`python -m study.selection choices` makes the table.)
# The rules: a *random* part; the network's own *entropy*; its *loss*; *elsewhere*, the entropy of a network trained on other images with weight decay .01, after the same epoch; *doubtful half*, a random part of the half of the images whose exact posterior has
# the higher entropy; *error*, the distance of the probabilities from the label (EL2N, Paul et al. 2021, anew in each epoch); *lowest entropy*; *reducible*, the loss minus that of the network elsewhere (Mindermann et al. 2022);
# *most to learn*, the KL divergence of the network from the exact posterior.

# %%
size, seeds, device = begin(SCALE, SEED, DEVICE)
fresh = [seed + 300 for seed in seeds]
everyone = [*seeds, *fresh]
epochs, warmup = choices.epochs(size), choices.warmup(size)
table = selection.PARTS.stored()
keys = ["choice", "share", "noise", "way"]
best = pd.DataFrame([selection.chosen_part(table, *row) for row in table[keys].drop_duplicates().to_numpy()])


def trained_on(grid):
    return choices.measured(sweep.run(partial(selection.of_part, size), grid, device=device)).table


grid = [{**row, "seed": seed} for row in best.to_dict("records") for seed in everyone]
tuned = trained_on(grid)
plain = {"noise": 0.4, "way": "cross-entropy", "strength": 0.0, "decay": choices.DECAY}
parts = [("all", 1.0), *((rule, share) for rule in rules.RULES for share in selection.SHARES)]
grid = [{"choice": rule, "share": share, **plain, "seed": seed} for rule, share in parts for seed in seeds]
usual = trained_on(grid)
columns = ["test_accuracy", "test_gap", "test_ece", "T", "scaled_ece", "scaled_nll"]
tuned[tuned.seed.isin(seeds)].groupby([*keys, "strength", "decay"], sort=False)[columns].mean().round(3)

# %%
usual.groupby(["choice", "share"], sort=False)[columns].mean().round(3)

# %%
def of(table, column, choice, share, noise=0.4, way="cross-entropy", among=seeds):
    """A column per seed."""
    same = (table.choice == choice) & (table.share == share) & (table.noise == noise) & (table.way == way)
    return table[same].set_index("seed").loc[list(among), column].to_numpy()


def less(table, column, left, right, share, **where):
    """One rule minus another at a share; "all" stands for all images."""
    first, second = (
        of(table, column, name, 1.0 if name == "all" else share, **where) for name in (left, right)
    )
    return first - second


def each(words, difference, over=selection.SHARES, **how):
    """A row to judge for each share (or way and share): words, numbers by seed, options."""
    cases = [one if isinstance(one, tuple) else (one,) for one in over]
    return [(words.format(*case), difference(*case), how) for case in cases]


def say(claim, rows, words):
    judged = [verdicts.judge(claim, name, values, **how) for name, values, how in rows]
    print(verdicts.conclude(claim, judged, words))

# %% [markdown]
# ## Photographs
#
# Cross-entropy, six convolutions, 20,000 photographs, 15 *epochs*, one weight decay ([from laptop to paper](../from_laptop_to_paper.md)); the verdicts on ECE are as trained.

# %%
photographs = experiments.on_photographs("parts", SCALE, device=device)
reports.shown(photographs)

# %% [markdown]
# The poster's whole plan on as many photographs, with a narrower network (first layer of 12): four losses (label smoothing .05, mixup .15, focal gamma 3), all images or 10, 20, 30 % of them, chosen by the network's own entropy or by that
# of a target. The target is twice as wide and learns with mixup; it chooses by its state after as many epochs. One epoch on all images comes first. Means of three seeds, one weight decay (5e-4, the poster's).

# %%
guided = experiments.on_photographs("guided", SCALE, device=device)
by_value = guided.pivot(index="seed", columns="value")
heads = {
    "test_accuracy": "accuracy",
    "test_gap": "gap",
    "test_ece": "ECE",
    "temperature": "T",
    "scaled_ece": "ECE after T",
    "scaled_nll": "NLL after T",
}
guided.groupby("value", sort=False)[list(heads)].mean().rename(columns=heads).round(3)

# %%
def there_less(column, left, right):
    """On photographs: a column at one value of the plan minus it at another, by seed."""
    return (by_value[column][left] - by_value[column][right]).to_numpy()


def beside_all(column, share):
    return there_less(column, f"cross-entropy, {share} by entropy", "cross-entropy, all")


def with_cure(column, share, way):
    return there_less(column, f"{way}, {share} by entropy", f"cross-entropy, {share} by entropy")


def with_target(column, share, way):
    return there_less(column, f"{way}, {share} by the target's entropy", f"{way}, {share} by entropy")

# %% [markdown]
# ## Beside all images, and beside a random part

# %%
def beside(table, column, rival):
    return partial(less, table, column, "entropy", rival)


larger, trained = "{:.0%}: a larger ECE than all images", {"as_trained": True}

# %% tags=["nbval-check-output"]
rows = each(f"equal epochs, chosen decays, {larger}", beside(tuned, "test_ece", "all"), (0.1,), **trained)
rows += each(
    "equal epochs, chosen decays, {:.0%}: loses no more than 0.01 of the accuracy",
    beside(tuned, "test_accuracy", "all"),
    (0.1,),
    than=-0.01,
)
rows += each(
    "photographs, narrower network, {}: a larger ECE than all images",
    partial(beside_all, "test_ece"),
    ("30%",),
    **trained,
)
rows += each(
    "photographs, narrower network, {}: loses no more than 0.01 of the accuracy",
    partial(beside_all, "test_accuracy"),
    ("30%",),
    than=-0.01,
)
say(
    "P1",
    rows,
    "digits at chosen decays: the least sure tenth has a higher ECE as trained, and loses "
    "accuracy; photographs at 30 %: a lower ECE, and a loss of accuracy (poster: no direction)",
)

# %% tags=["nbval-check-output"]
rows = each(
    "noise 0.4, {:.0%}, after T: a higher NLL by entropy than at random",
    beside(tuned, "scaled_nll", "random"),
)
rows += each(
    "noise 0.4, {:.0%}, after T, new seeds: a higher NLL by entropy than at random",
    partial(beside(tuned, "scaled_nll", "random"), among=fresh),
)
say(
    "14b",
    rows,
    "holds at 10 and 20 %; at 30 % the difference is 0.007 or less in the mean, and undecided on old "
    "and new seeds",
)

# %%
def longer(control, seed):
    if control == "short":  # all images, as many samples as 30 % in all epochs
        return choices.trial(size, "all", 1.0, seed, epochs=round(warmup + (epochs - warmup) * 0.3))
    many = round(warmup + (epochs - warmup) / 0.3)
    return choices.trial(size, control, 0.3, seed, epochs=many)


grid = {"control": ["short", "entropy", "random"], "seed": seeds}
steps = choices.measured(sweep.run(longer, grid, device=device)).table
steps.groupby("control")[columns].mean().round(3)

# %% [markdown]
# ## Where the doubt comes from

# %% tags=["nbval-check-output"]
low, high = (0.1, 0.2), (0.5, 0.6)


def at_noise(noises, **options):
    return [
        (
            f"noise {noise:g}, {share:.0%}, after T{name}: {options['words']} by entropy than at random",
            less(tuned, "scaled_nll", "entropy", "random", share, noise=noise, among=among),
            {"expect": options["expect"], "post_hoc": True},
        )
        for noise in noises
        for share in (0.1, 0.3)
        for name, among in (("", seeds), (", new seeds", fresh))
    ]


say(
    "14e",
    at_noise(low, words="a lower NLL", expect="below") + at_noise(high, words="a higher NLL", expect="above"),
    "digits: the least sure images have a lower NLL than random ones at noise 0.1 and 0.2, a higher "
    "one at 0.5 and 0.6. Two of sixteen cases are undecided",
)

# %% [markdown]
# ## Calibrated during the training

# %%
cures = ("smoothing", "mixup", "focal")


def against(column, share, way, choice="entropy"):
    return of(tuned, column, choice, share, way=way) - of(tuned, column, choice, share)


pairs = [(share, way) for share in selection.SHARES for way in cures]
rows = each(
    "{:.0%}, {}: a lower ECE than cross-entropy",
    partial(against, "test_ece"),
    pairs,
    expect="below",
    **trained,
)
rows += each(
    "{:.0%}, {}, after T: a lower ECE than cross-entropy",
    partial(against, "scaled_ece"),
    pairs,
    expect="below",
)
rows += each(
    "{:.0%}, {}: no accuracy loss of more than 0.01", partial(against, "test_accuracy"), pairs, than=-0.01
)

# %% tags=["nbval-check-output"]
rows += each(
    "photographs, {}, {}: a lower ECE than cross-entropy",
    partial(with_cure, "test_ece"),
    (("30%", "mixup"),),
    expect="below",
    **trained,
)
rows += each(
    "photographs, {}, {}, after T: a lower ECE than cross-entropy",
    partial(with_cure, "scaled_ece"),
    (("30%", "mixup"),),
    expect="below",
)
say(
    "P2",
    rows,
    "digits: lower ECE as trained, for each cure and share; after T undecided, once reversed; no large "
    "loss of accuracy at 30 %, nor at 20 % (focal loss open). Photographs at 30 %, "
    "mixup: undecided",
)

# %% tags=["nbval-check-output"]
say(
    "14o",
    [
        (
            f"{name}, {way}, after T: a lower NLL than cross-entropy",
            against("scaled_nll", share, way, choice),
            {"expect": "below"},
        )
        for way in cures
        for name, choice, share in (
            ("all images", "all", 1.0),
            ("10 % by entropy", "entropy", 0.1),
            ("10 % random", "random", 0.1),
        )
    ],
    "at noise 0.4, after one temperature each, a calibrating loss has a lower NLL than cross-"
    "entropy in one of nine cases, and a higher one in four, among them all three that use the "
    "least sure 10 %",
)

# %% [markdown]
# ## Another network chooses
#
# In the poster a **target model**, trained before, larger and calibrated by mixup, "guides the corresponding epochs". We read this literally: in epoch $e$ the network trains on what the target doubted after *its* epoch $e$. Our targets are trained on the same images, with
# cross-entropy or mixup (alpha 0.2), 64 or 256 units wide. Each way of training has the strength and decay that were chosen for its own choice. Two controls keep the *same* images in all epochs: "last state", those
# that the large mixup target doubts after its training, and "fixed, random".

# %%
def target_trial(method, width, seed):
    wide = partial(models.mlp, 64, choices.K, width=width)
    train, cal, test = choices.digits(size, 0.4, seed)
    return training.trial(
        wide,
        train,
        {"cal": cal, "test": test},
        seed=seed,
        watch={"train": train},
        keep=("train",),
        epochs=epochs,
        weight_decay=choices.DECAY,
        **choices.OPTIMIZER,
        **choices.cure(method, 0.2),
    )


targets = sweep.run(
    target_trial, {"method": ["cross-entropy", "mixup"], "width": [64, 256], "seed": seeds}, device=device
)

# %%
def guide(target, seed):
    """Logits (epochs, n, K) on the training images by which the parts are chosen."""
    if target == "fixed, random":  # the entropy of random logits is random
        return torch.randn(1, size.train, choices.K, generator=torch.Generator().manual_seed(seed))
    method, width = ("mixup", 256) if target == "last state" else target
    logits = targets.one(method=method, width=width, seed=seed).logits["train"]
    return logits[-1:] if target == "last state" else logits


def guided(target, way, share, seed):
    chosen = selection.chosen_part(table, "entropy", share, way=way)
    select = MaxEntropy(share, warmup, target=guide(target, seed))
    return choices.trial(
        size,
        "entropy",
        share,
        seed,
        way=way,
        strength=chosen["strength"],
        decay=chosen["decay"],
        select=select,
    )

# %%
large, ways = ("mixup", 256), ("cross-entropy", *cures)
grid = [
    {"target": large, "way": way, "share": share, "seed": seed}
    for way in ways
    for share in selection.SHARES
    for seed in seeds
]
others = [("cross-entropy", 64), ("mixup", 64), ("cross-entropy", 256), "last state", "fixed, random"]
grid += [
    {"target": target, "way": "cross-entropy", "share": share, "seed": seed}
    for target in others
    for share in (0.1, 0.3)
    for seed in seeds
]
pupils = choices.measured(sweep.run(guided, grid, device=device))
pupils.table.assign(target=pupils.table.target.map(str)).groupby(["target", "way", "share"], sort=False)[
    columns
].mean().round(3)

# %%
def by_target(column, way, share, target=large):
    return pupils.values(column, target=target, way=way, share=share)


def gained(column, share, way):
    return by_target(column, way, share) - of(tuned, column, "entropy", share, way=way)


pairs = [(share, way) for way in ways for share in selection.SHARES]

# %% tags=["nbval-check-output"]
say(
    "P3",
    each("{:.0%}, {}: the target's choice raises the accuracy", partial(gained, "test_accuracy"), pairs)
    + each(
        "{:.0%}, {}: the target's choice lowers the ECE",
        partial(gained, "test_ece"),
        pairs,
        expect="below",
        **trained,
    )
    + each(
        "{:.0%}, {}, after T: the target's choice lowers the NLL",
        partial(gained, "scaled_nll"),
        pairs,
        expect="below",
    )
    + each(
        "photographs, {}, {}: the target's choice raises the accuracy",
        partial(with_target, "test_accuracy"),
        (("30%", "cross-entropy"),),
    ),
    "what the larger target chooses gives a lower accuracy, and a higher NLL after T, than the "
    "network's own choice (photographs at 30 %: a lower accuracy); on digits the ECE as "
    "trained is mostly lower",
)

# %% [markdown]
# ## Beside the poster
#
# Its numbers (ResNet-34; accuracy and ECE in per cent; one number a cell, no spread).

# %%
heads = ["100 acc", "100 ECE", "30 acc", "30 ECE", "20 acc", "20 ECE", "10 acc", "10 ECE"]
table_1 = {  # the network's own choice
    ("CIFAR-10", "cross-entropy"): [94.1, 4.1, 93.6, 5.33, 93.86, 4.01, 93.23, 5.2],
    ("CIFAR-10", "smoothing"): [94, 1.84, 91.74, 3.17, 91.48, 3.56, 91.72, 2.71],
    ("CIFAR-10", "mixup"): [95.1, 2.1, 94.39, 2.67, 93.35, 2.59, 93.17, 1.78],
    ("CIFAR-10", "focal"): [94.69, 1.71, 93.19, 1.2, 92.6, 1.25, 92.25, 1.42],
    ("CIFAR-100", "cross-entropy"): [77.48, 5.42, 73.13, 10.77, 71.54, 13.16, 69.65, 14.47],
    ("CIFAR-100", "smoothing"): [77.05, 4.88, 72.21, 3.45, 70.93, 5.75, 68.63, 5.67],
    ("CIFAR-100", "mixup"): [78.68, 3.59, 73.57, 1.49, 72.02, 2.4, 69.1, 1.16],
    ("CIFAR-100", "focal"): [78.59, 3.57, 71.86, 1.67, 70.61, 3.25, 65.81, 1.82],
}
table_2 = {  # chosen by the target; its columns for 100 % are those of table 1
    ("CIFAR-10", "cross-entropy"): [94.1, 4.1, 93.95, 4.04, 93.43, 4.9, 93.16, 4.11],
    ("CIFAR-10", "smoothing"): [94, 1.84, 93.62, 2.93, 93.3, 3.32, 93.27, 1.9],
    ("CIFAR-10", "mixup"): [95.1, 2.1, 94.7, 2.88, 93.79, 2.73, 93.22, 2.16],
    ("CIFAR-10", "focal"): [94.69, 1.71, 93.15, 1.06, 92.65, 1.58, 92.84, 1.89],
    ("CIFAR-100", "cross-entropy"): [77.48, 5.42, 75.38, 9.36, 75.04, 9.39, 71.07, 9.27],
    ("CIFAR-100", "smoothing"): [77.05, 4.88, 76.06, 2.28, 75.27, 2.67, 72.59, 1.63],
    ("CIFAR-100", "mixup"): [78.68, 3.59, 75.62, 0.86, 74.78, 1.43, 70.32, 0.86],
    ("CIFAR-100", "focal"): [78.59, 3.57, 74.89, 2.37, 73.73, 1.43, 70.89, 1.51],
}
itself, target = (pd.DataFrame(table, index=heads).T for table in (table_1, table_2))
itself

# %%
ece, accuracy = ["30 ECE", "20 ECE", "10 ECE"], ["30 acc", "20 acc", "10 acc"]
for name, printed in (("table 1", itself), ("table 2", target)):
    base = printed.xs("cross-entropy", level=1)  # one row for each data set
    rest = printed.drop(index="cross-entropy", level=1)  # data set and cure
    lower = rest[ece].sub(base[ece], level=0) < 0  # each cure minus the row of its data set
    loss = rest[accuracy].sub(base[accuracy], level=0)
    print(
        f"{name}, cures beside cross-entropy: ECE lower in {lower.to_numpy().sum()} of {lower.size} cells, "
        f"accuracy from {loss.to_numpy().min():+.2f} to {loss.to_numpy().max():+.2f} points"
    )
for name in ("CIFAR-10", "CIFAR-100"):
    smaller = (target.loc[name][ece] < itself.loc[name][ece]).to_numpy()
    more = (target.loc[name][accuracy] > itself.loc[name][accuracy]).to_numpy()
    print(
        f"{name}, target beside own choice: ECE lower in {smaller.sum()} of {smaller.size} cells, "
        f"accuracy higher in {more.sum()}"
    )

# %% [markdown]
# - "Lower test ECEs across the board": so its tables say, against cross-entropy *on the same share*.
# - "No significant trade-offs" with accuracy: its tables have a largest loss of several points (first line), on CIFAR-100.
# - The target: lower ECE nearly everywhere on CIFAR-100, in half of the cells on CIFAR-10; higher accuracy in 21 of 24.
# - Not on the poster: a random part, equal steps, a temperature for the baseline, several seeds, how the strengths were chosen.
#
# ## What is left
#
# - Shown in an earlier version against the source, and no longer judged: at the usual decay the least sure part has a *lower* ECE (-.077, -.060, -.044 at 10, 20, 30 %), and it loses accuracy at 20 % and on photographs at 10 and 20 % too (P1).
# - What a choice costs: all images are scored before each epoch. At equal *cost* instead of equal steps a random part would get more steps; not run.
# - Left: why entropy fails on photographs after 15 epochs; longer training and other decays there; the poster's networks and sets; random choice with probabilities instead of the highest values (Loshchilov and Hutter 2016).
#
# References: Tata et al. 2022, [arXiv:2210.06592](https://arxiv.org/abs/2210.06592); Paul et al. 2021, [arXiv:2107.07075](https://arxiv.org/abs/2107.07075); Mindermann et al. 2022, [arXiv:2206.07137](https://arxiv.org/abs/2206.07137);
# Sorscher et al. 2022, [arXiv:2206.14486](https://arxiv.org/abs/2206.14486); Swayamdipta et al. 2020, [arXiv:2009.10795](https://arxiv.org/abs/2009.10795); Loshchilov, Hutter 2016, [arXiv:1511.06343](https://arxiv.org/abs/1511.06343).
