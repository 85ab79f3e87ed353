# %% [markdown]
# # Evidence beside 05 · Dataset size
#
# For readers who want to judge what [the lesson](../05_dataset_size.ipynb) says: every verdict with its interval, claim by claim, with one conclusion each; steps and batches, all augmentations, photographs, the paper's comparison, what is left. A verdict is **as trained** where calibration is compared before each side has a temperature of
# its own; temperatures are fitted by the NLL on `cal`, 2,000 other images of the training distribution, where nothing else is said.

# %%
import math

import numpy as np
import pandas as pd
import torch

from calibkit import metrics, recalibration
from calibkit.course import experiments, verdicts
from calibkit.course.experiments import sizes, soft_targets
from study import reports
from calibkit.course.scale import begin
from calibkit.lab import data, sweep
from calibkit.metrics import plane

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% [markdown]
# ## What was trained
#
# Networks of two hidden layers on .1, .2 ... 1 of a pool of 1,500 digits under noise 0.4, 60 epochs, batches of 128; the three small parts again for as many steps as the whole pool; fraction .6 in batches of 130; the whole pool with five augmentations; 150 labels, of which 0 to 75 are kept for a temperature. Five seeds, nested parts. One
# weight decay for all sizes.

# %%
size, seeds, device = begin(SCALE, SEED, DEVICE)
fractions, small = list(sizes.FRACTIONS), [0.1, 0.2, 0.4]


def recipe(fraction, seed, epochs=size.epochs, batch_size=sizes.BATCH):
    return sizes.trial(size, fraction, seed, epochs, batch_size)


swept = sweep.run(recipe, {"fraction": fractions, "seed": seeds}, device=device)
counts = [round(fraction * size.train) for fraction in fractions]
grid = [
    {"fraction": fraction, "seed": seed, "epochs": sizes.equal_steps(size, round(fraction * size.train))}
    for fraction in small
    for seed in seeds
]
longer = sweep.run(recipe, grid, device=device)
again = sweep.run(recipe, {"fraction": [0.6], "batch_size": [130], "seed": seeds}, device=device)


def augmented(way, seed):
    return sizes.augmented(size, way, seed)


changed = sweep.run(augmented, {"way": list(sizes.CHANGES), "seed": seeds}, device=device)


def numbers(one):
    cal, test = one.predictions["cal"], one.predictions["test"]
    T = recalibration.TemperatureScaler().fit(cal.logits, cal.labels)
    cool = T.probs(test.logits)
    row = {
        **one.setting,
        "T": T.temperature,
        "accuracy": metrics.accuracy(test.probs, test.labels),
        "gap": metrics.signed_gap(test.probs, test.labels),
        "ECE": metrics.ece(test.probs, test.labels),
        "NLL": metrics.nll(test.probs, test.labels),
        "ECE after T": metrics.ece(cool, test.labels),
        "NLL after T": metrics.nll(cool, test.labels),
        "true error": metrics.true_calibration_error(test.probs, test.posterior),
        "ECE of 100 images": metrics.ece(test.probs[:100], test.labels[:100]),
    }
    if "train" in one.predictions:
        train = one.predictions["train"]
        place = plane.place(
            metrics.accuracy(train.probs, train.labels), row["accuracy"], test.confidence.mean().item()
        )
        cooled = cool.amax(dim=1).mean().item() - row["accuracy"]
        row |= {"lost": place.lost, "claimed": place.claimed, "claimed after T": cooled}
    return row


sized, stepped, batched, ways = (
    pd.DataFrame([numbers(one) for one in runs.outcomes]) for runs in (swept, longer, again, changed)
)
columns = [
    "T",
    "accuracy",
    "gap",
    "ECE",
    "true error",
    "NLL",
    "ECE after T",
    "NLL after T",
    "lost",
    "claimed",
]
sized.groupby("fraction")[columns].mean().round(3)

# %%
for name, table in (("equal epochs", sized[sized.fraction.isin([*small, 1.0])]), ("equal steps", stepped)):
    for fraction, rows in table.groupby("fraction"):
        kappa = plane.kappa(list(zip(rows.lost, rows.claimed, strict=True)))
        if kappa is not None:  # else too little is lost
            print(
                f"{name}, fraction {fraction:g}: kappa {kappa.value:.2f} [{kappa.low:.2f}, "
                f"{kappa.high:.2f}]"
            )


# %% [markdown]
# ## Smaller is worse
#
# *Dataset Curation Beyond Accuracy*, figure 4 (D1): smaller training sets are "consistently" worse calibrated, for fractions .1, .2, .4, .6, .8 and 1. At equal epochs and at equal steps (the paper gives steps, "corresponding to 160 epochs" on the full sets, and does not say what it did for the parts), as trained and after one temperature each; and on photographs.


# %% tags=["nbval-check-output"]
def of(column, fraction, table=sized):
    return table[table.fraction == fraction].sort_values("seed")[column].to_numpy()


judge = verdicts.judge
size_table = experiments.on_photographs("size", SCALE, device=device)
photographs = [reports.verdict("size", size_table), *reports.verdicts("size", size_table)]
by_fraction = {value: rows.set_index("seed") for value, rows in size_table.groupby("value")}
steps_of_paper = [
    of("ECE", big) - of("ECE", little)
    for little, big in ((0.1, 0.2), (0.2, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.0))
]
slope = [
    np.polyfit(np.log10(counts), rows.sort_values("fraction").ECE, 1)[0]
    for _, rows in sized.groupby("seed")
]
print(
    verdicts.conclude(
        "D1",
        [
            judge(
                "D1",
                "equal epochs: ECE with a tenth of the pool exceeds that with all",
                of("ECE", 0.1) - of("ECE", 1.0),
                as_trained=True,
            ),
            judge(
                "D1",
                "equal epochs: each step between the paper's six sizes lowers the ECE (worst step)",
                np.max(steps_of_paper, axis=0),
                expect="below",
                as_trained=True,
            ),
            judge(
                "D1",
                "equal epochs: what ten times the data change in the ECE",
                slope,
                expect="below",
                as_trained=True,
            ),
            judge(
                "D1",
                "equal steps: ECE with a tenth of the pool exceeds that with all",
                of("ECE", 0.1, stepped) - of("ECE", 1.0),
                as_trained=True,
            ),
            judge(
                "D1",
                "equal epochs, one T each: ECE with a tenth exceeds that with all by more than 0.01",
                of("ECE after T", 0.1) - of("ECE after T", 1.0),
                margin="ECE",
            ),
            judge(
                "D1",
                "equal steps, one T each: ECE with a tenth exceeds that with all by more than 0.01",
                of("ECE after T", 0.1, stepped) - of("ECE after T", 1.0),
                margin="ECE",
            ),
            *photographs,
            judge(
                "D1",
                "photographs, equal steps, one T each: ECE with a tenth exceeds that with all by more "
                "than 0.01",
                (by_fraction[0.1].scaled_ece - by_fraction[1.0].scaled_ece).to_numpy(),
                margin="ECE",
            ),
        ],
        "as trained, a tenth of the data gives a larger ECE than all of them, on digits and "
        "photographs; between neighbouring sizes this is not always shown. After one temperature "
        "each, we could not show a difference above 1 point",
    )
)
# %% tags=["nbval-check-output"]
print(
    verdicts.conclude(
        "05a",
        [
            judge(
                "05a",
                "at a tenth, estimate and true error agree within 1 point",
                of("ECE", 0.1) - of("true error", 0.1),
                expect="within",
                margin=0.01,
                control=of("ECE of 100 images", 0.1) - of("true error", 0.1),
            ),
        ],
        "holds: with a gap this wide and a test set this large the ECE measures well",
    )
)
print(
    verdicts.conclude(
        "05b",
        [
            judge(
                "05b",
                "batches of 130: ECE at 0.6 exceeds that with all by at least 1 point",
                of("ECE", 0.6, batched) - of("ECE", 1.0),
                margin=0.01,
                as_trained=True,
            ),
        ],
        "holds: without the last batch of four images the kink is gone",
    )
)
print(
    verdicts.conclude(
        "05c",
        [
            judge(
                "05c",
                "equal steps raise the ECE of the three small parts",
                np.mean([of("ECE", f, stepped) - of("ECE", f) for f in small], axis=0),
                as_trained=True,
            ),
        ],
        "holds: equal epochs understate the harm of little data",
    )
)

# %%
for n in counts:
    steps, last = math.ceil(n / sizes.BATCH), n % sizes.BATCH or sizes.BATCH
    print(f"{n:5} images: {steps:2} steps an epoch, {last:3} in the last batch")

# %% [markdown]
# **Kappa** (lesson 03): the part of the lost accuracy that is still claimed. Data move networks along a line, so that kappa at .2 and .4 of the pool is close to that at 1; the margin is that of the ledger, .1, set before. The control is the same network after a temperature.


# %% tags=["nbval-check-output"]
def kappa_of(fraction, table=sized, claimed="claimed"):
    return of(claimed, fraction, table) / of("lost", fraction, table)


print(
    verdicts.conclude(
        "05k",
        [
            *(
                judge(
                    "05k",
                    f"equal epochs: kappa at {f:g} of the pool is within 0.1 of that at 1",
                    kappa_of(f) - kappa_of(1.0),
                    expect="within",
                    margin="kappa",
                    control=kappa_of(f, claimed="claimed after T") - kappa_of(1.0),
                )
                for f in small
            ),
            *(
                judge(
                    "05k",
                    f"equal steps: kappa at {f:g} of the pool is within 0.1 of that at 1",
                    kappa_of(f, stepped) - kappa_of(1.0),
                    expect="within",
                    margin="kappa",
                    control=kappa_of(f, stepped, "claimed after T") - kappa_of(1.0),
                )
                for f in small
            ),
        ],
        "holds but for the smallest part at equal epochs, where it is undecided: fewer images move a "
        "network along a line of the map",
    )
)

# %% [markdown]
# ## Labels for a temperature
#
# Of 150 labels (100 at `smoke`) some are kept from training, and one temperature is fitted on them. The best share was seen on these seeds (0 to 4); it is judged on them and on new ones.

# %%
labels = 150 if SCALE != "smoke" else 100
kept = [0, labels // 10, labels // 5, 3 * labels // 10, labels // 2]
fresh = [seed + 300 for seed in seeds]


def spend(kept, seed):
    return sizes.spent(size, labels, kept, seed)


spent = sweep.run(spend, {"kept": kept, "seed": seeds}, device=device)
new = sweep.run(spend, {"kept": [0, labels // 5], "seed": fresh}, device=device)
rows = []
for one in [*spent.outcomes, *new.outcomes]:
    test, held = one.predictions["test"], one.predictions.get("kept")
    T = None if held is None else recalibration.TemperatureScaler().fit(held.logits, held.labels)
    probs = test.probs.double() if T is None else T.probs(test.logits)
    rows.append(
        {
            **one.setting,
            "T": 1.0 if T is None else T.temperature,
            "accuracy": metrics.accuracy(probs, test.labels),
            "gap": metrics.signed_gap(probs, test.labels),
            "ECE": metrics.ece(probs, test.labels),
            "NLL": metrics.nll(probs, test.labels),
        }
    )
spending = pd.DataFrame(rows)
spending[spending.seed.isin(seeds)].groupby("kept").mean().drop(columns="seed").round(3)


# %% tags=["nbval-check-output"]
def gained(column, among, count=labels // 5):
    part = spending[spending.seed.isin(among)].pivot(index="seed", columns="kept", values=column)
    return (part[count] - part[0]).to_numpy()


print(
    verdicts.conclude(
        "05l",
        [
            judge(
                "05l",
                "a fifth of 150 labels kept for T: the NLL is lower than without",
                gained("NLL", seeds),
                expect="below",
            ),
            judge("05l", "new seeds: the NLL is lower", gained("NLL", fresh), expect="below"),
            judge(
                "05l",
                "new seeds: the ECE is lower by more than 0.1",
                gained("ECE", fresh),
                expect="below",
                margin=0.1,
            ),
            judge(
                "05l",
                "new seeds: the accuracy changes by less than 0.03",
                gained("accuracy", fresh),
                expect="within",
                margin=0.03,
                control=gained("accuracy", seeds, labels // 2),
            ),
        ],
        "on new seeds, too, a fifth of 150 labels kept for a temperature lowers the NLL by about 0.5 "
        "and the ECE by more than 7 points; the accuracy changes by less than 3 points",
    )
)

# %% [markdown]
# ## Augmentation
#
# The paper (figure 5, D2) takes crop and *flip* from photographs piece by piece: removing is worse. On digits shift and fresh noise play their part, since a flipped 2 is no 2: fresh noise draws the noise of the clean original anew. The posterior says how many of the changed *clean* digits keep their most probable digit:

# %%
sharp, random = sizes.clean(size, SEED), torch.Generator().manual_seed(SEED)
reader = soft_targets.digits(size, SEED).train.source.posterior
for name, images in {
    "shift": sizes.shift(sharp.inputs, random),
    "noise": sizes.add_noise(sharp.inputs, random),
    "flip": sharp.inputs.flip(-1),
}.items():
    same = (reader(images).argmax(dim=1) == sharp.labels).double().mean()
    print(f"{name:6} {same:.1%} keep their label")
table = pd.concat([sized[sized.fraction == 1.0].assign(way="none"), ways])
table.groupby("way", sort=False)[
    ["accuracy", "gap", "ECE", "T", "ECE after T", "NLL after T"]
].mean().round(3)


# %%
def gap_in_its_own_world(seed):
    # two independent noises of 0.4: the variances add
    world = data.NoisyDigits(0.4 * math.sqrt(2)).draw(size.test, seed=1000 + seed)
    with torch.no_grad():
        probs = changed.one(way="added noise", seed=seed).model(world.inputs).softmax(dim=1)
    return metrics.signed_gap(probs, world.labels)


own = np.array([gap_in_its_own_world(seed) for seed in seeds])


def of_way(way, column="ECE"):
    return table[table.way == way].sort_values("seed")[column].to_numpy()


on_photographs = experiments.on_photographs("augmentation", SCALE, device=device)
reports.shown(on_photographs)

# %% tags=["nbval-check-output"]
both = "shift and fresh noise"
taken = {
    "taking shift and fresh noise away raises the ECE": ("none", both),
    "taking fresh noise away from both raises it": ("shift", both),
    "taking shift away from both raises it": ("fresh noise", both),
    "with shift alone, taking it away raises it": ("none", "shift"),
}
print(
    verdicts.conclude(
        "D2",
        [
            *(
                judge("D2", words, of_way(less) - of_way(more), as_trained=True)
                for words, (less, more) in taken.items()
            ),
            *(
                judge(
                    "D2", f"one T each: {words}", of_way(less, "ECE after T") - of_way(more, "ECE after T")
                )
                for words, (less, more) in taken.items()
            ),
            *reports.verdicts("augmentation", on_photographs),
        ],
        "as trained removing is worse but for shift, whose removal from both is better on digits; on "
        "photographs crop and flip agree with the paper; on digits after one temperature each nothing "
        "can be told",
    )
)


# %% tags=["nbval-check-output"]
def than_none(way, column="accuracy"):
    return of_way(way, column) - of_way("none", column)


print(
    verdicts.conclude(
        "05d",
        [
            judge("05d", "shift alone costs accuracy", than_none("shift"), expect="below"),
            judge("05d", "one T each: shift has the higher NLL", than_none("shift", "NLL after T")),
        ],
        "holds: what shift gives to the ECE a temperature gives too, and the accuracy is lost",
    )
)
print(
    verdicts.conclude(
        "05e",
        [
            judge("05e", "shift and fresh noise: under-confident", of_way(both, "gap"), expect="below"),
        ],
        "holds: two augmentations at once make these networks not sure enough",
    )
)
print(
    verdicts.conclude(
        "05f",
        [judge("05f", "flip costs accuracy", than_none("flip"), expect="below")],
        "holds: a flip changes the label of most digits",
    )
)
print(
    verdicts.conclude(
        "05g",
        [
            judge(
                "05g",
                "added noise lowers the ECE",
                than_none("added noise", "ECE"),
                expect="below",
                as_trained=True,
            ),
            judge(
                "05g",
                "one T each: added noise has the lower NLL",
                than_none("added noise", "NLL after T"),
                expect="below",
            ),
        ],
        "holds, and after one temperature each its NLL is lower",
    )
)
print(
    verdicts.conclude(
        "05h",
        [
            judge("05h", "added noise raises the accuracy", than_none("added noise")),
        ],
        "holds: more noise in training is more data of nearly the right kind",
    )
)
print(
    verdicts.conclude(
        "05i",
        [
            judge("05i", "added noise: under-confident", of_way("added noise", "gap"), expect="below"),
        ],
        "holds: trained for a noisier world, it is not sure enough in this one",
    )
)
print(
    verdicts.conclude(
        "05j",
        [
            judge(
                "05j",
                "on images as noisy as in training the gap of added noise is less negative",
                own - of_way("added noise", "gap"),
            ),
        ],
        "holds: in the noisier world of its training the same network is over-confident",
    )
)

# %% [markdown]
# ## On photographs, and beside the paper
#
# A fraction of .1, .2, .4 or all of 20,000 photographs of CIFAR-10, at equal steps, six convolutions, three seeds; above, crop and flip on 40,000. (Stored; `SCALE = "gpu"` trains anew: [from laptop to paper](../from_laptop_to_paper.md).)

# %%
reports.shown(size_table)

# %% [markdown]
# | | paper (*Dataset Curation Beyond Accuracy*) | here, on digits |
# |---|---|---|
# | data | CIFAR-10, CIFAR-100, EuroSAT, iNaturalist | noisy digits, posterior known |
# | sizes | 0.1, 0.2, 0.4 ... 1.0 of the training set (its figure 4) | 0.1, 0.2 ... 1.0 of a pool |
# | network | ResNet-50, with crop and flip | 2 x 256 ReLU, no augmentation in sections 3 and 4 |
# | held equal | steps, "corresponding to 160 epochs" on full sets; not said for parts | epochs, then steps |
# | augmentation | crop and flip, each and both removed (figure 5) | shift and fresh noise, each and both removed |
# | result | smaller is "consistently" worse; removing augmentation is worse | the verdicts D1 and D2 |
#
# The paper shows curves and bars without a table.
#
# ## What is no longer judged
#
# Nothing. New are one temperature each in D1, D2, 05d and 05g, kappa (05k) and labels kept for a temperature (05l).
#
# ## What is left
#
# Fractions .6 and .8 on photographs; the paper's network and its other sets; a weight decay chosen for each size.
