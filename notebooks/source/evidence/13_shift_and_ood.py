# %% [markdown]
# # Evidence beside 13 · Shift and strange inputs
#
# For readers who want to judge what [the lesson](../13_shift_and_ood.ipynb) says: every verdict with its interval, claim by claim, with one conclusion
# each; controls, photographs, the papers' numbers, what is left. A verdict is **as trained** where calibration is compared before each side has a temperature of its own.
# All temperatures are fitted by the NLL on `cal`, held-out images of the training distribution, where nothing else is said.

# %%
from functools import cache, partial
from itertools import product

import numpy as np
import pandas as pd
import torch
from study import strange_images

from calibkit import corruptions, metrics, recalibration
from calibkit.course import experiments, verdicts
from calibkit.course.experiments import shifted, strengths
from calibkit.course.scale import begin
from calibkit.lab import data, models, sweep, training

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% [markdown]
# ## What was trained
#
# A network with two hidden layers of 128 units on 1,500 digits under pixel noise 0.4, 60 epochs, weight decay 1e-4, one for each seed. New images are drawn from all 1,797
# clean digits, so that their exact posterior can be computed for any noise, and for corruptions that draw nothing at random.
# What the lesson found by looking at the first seeds is judged on ten **new seeds** here, which nothing else uses.

# %%
size, seeds, device = begin(SCALE, SEED, DEVICE)
fresh = [seed + 300 + 100 * part for part in (0, 1) for seed in seeds]
strengths_of_noise = [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]


@cache
def splits(seed):
    return data.noisy_digits(size.train, noise=0.4, seed=seed, test=1)  # we draw our own tests


def recipe(seed):
    train, cal, _ = splits(seed)
    network = partial(models.mlp, 64, 10, width=128)
    return training.trial(network, train, {"train": train, "cal": cal}, seed=10 * seed, epochs=size.epochs)


def logits_of(outcome, images):
    with torch.no_grad():
        return outcome.model.cpu()(images).double()


def scaler(outcome):
    cal = outcome.predictions["cal"]
    return recalibration.TemperatureScaler().fit(cal.logits, cal.labels)

# %%
def readings(outcome, images, noise, centres=None):
    """What the four readers say, (n, 10) each."""
    logits = logits_of(outcome, images)
    return {
        "informed posterior": shifted.exact(images, noise, centres),
        "uninformed posterior": shifted.exact(images, shifted.NOISE),
        "network": logits.softmax(dim=1),
        "network after T": scaler(outcome).probs(logits),
    }


def judge(probs, answers):
    return {
        "accuracy": metrics.accuracy(probs, answers),
        "confidence": probs.amax(dim=1).mean().item(),
        "gap": metrics.signed_gap(probs, answers),
        "ECE": metrics.ece(probs, answers),
    }

# %%
swept = sweep.run(recipe, {"seed": [*seeds, *fresh]}, device=device)
rows = []
for outcome in swept.outcomes:
    seed = outcome.setting["seed"]
    for noise in strengths_of_noise:
        images, answers = shifted.draw(size.test // 5, seed, noise)
        for reader, probs in readings(outcome, images, noise).items():
            rows.append({"reader": reader, "noise": noise, "seed": seed, **judge(probs, answers)})
noisier = pd.DataFrame(rows)
shown = noisier[noisier.seed.isin(seeds)].groupby(["noise", "reader"])[["accuracy", "gap"]].mean()
shown.unstack("reader").round(3)

# %% [markdown]
# ## More noise
#
# The gap of the network minus that of the uninformed posterior, against the noise: two curves that cross, so that one sentence ("the shift adds as much to both") fits one strength of noise only.

# %%
def gap_at(reader, noise, among=fresh):
    table = noisier[(noisier.reader == reader) & (noisier.noise == noise)]
    return table.set_index("seed").loc[list(among), "gap"].to_numpy()

# %% tags=["nbval-check-output"]
judged = partial(verdicts.judge, "13b")
given = [
    judged(
        "uninformed posterior: over-confident by more than 0.2 at noise 0.8",
        gap_at("uninformed posterior", 0.8, seeds),
        margin=0.2,
    )
]
print(
    verdicts.conclude(
        "13b",
        given,
        "holds: not knowing the noise costs even an exact reader 31 points of calibration at twice the noise",
    )
)

# %% [markdown]
# ## The accuracy without a label
#
# Four predictions of the accuracy on unlabelled images, from what the network says and from held-out labelled images of the old noise alone:
#
# - **the mean confidence** as it is;
# - **DoC** (Guillory et al. 2021): the old accuracy minus the fall of the mean confidence; or, as they have it, minus a slope times that fall. The slope (a line through the
#   origin, least squares) comes from labelled images under changes that one knows: here blur and contrast at five severities, or noise (.2 to .8 added to the old images);
# - **ATC** (Garg et al. 2022): the share of new images above that confidence which as many old images pass as are right. Its authors use it after a temperature, so the first three (DoC without a slope)
#   are read as trained and after the T of `cal`;
# - **imitation**: the noise that the variance of the new pixels shows is added to old labelled images that were held out from training; their accuracy then. Beside it the noise
#   of highest likelihood under the exact density of the images, which uses that the clean digits are known.
#
# The margin, 0.02, stood before the new seeds were looked at; the first three are the control of the fourth.

# %%
def imitated(new, old, seed):
    """The old images, made as noisy as the new ones seem to be; and that noise."""
    found = 0.4**2 + (new.flatten(1).var(dim=0) - old.flatten(1).var(dim=0)).mean().item()
    missing = max(found - 0.4**2, 0) ** 0.5
    pattern = torch.randn(old.shape, generator=torch.Generator().manual_seed(seed))
    return old + missing * pattern, found**0.5


def likeliest(images):
    """The noise of highest likelihood, on a grid of .02."""
    grid = np.arange(0.2, 1.21, 0.02)
    found = [(shifted.digit_scores(images, s).logsumexp(dim=1) - 64 * np.log(s)).mean().item() for s in grid]
    return grid[int(np.argmax(found))]

# %%
clean = shifted.clean()[0]
changes = {f"noise {noise}": {"noise": noise} for noise in (0.5, 0.6, 0.8, 1.0)}
for name, severity in (("defocus_blur", 4), ("contrast", 3)):
    centres = corruptions.corrupt(clean, name, severity)
    changes[f"{name} {severity}"] = {"noise": 0.4, "centres": centres}
mixes = ((2, 0.6), (3, 0.6), (3, 1.0))  # severity of a blur, and pixel noise
both = tuple(f"defocus_blur {severity}, noise {noise}" for severity, noise in mixes)
for (severity, noise), name in zip(mixes, both, strict=True):
    changes[name] = {"noise": noise, "centres": corruptions.corrupt(clean, "defocus_blur", severity)}
shared = "noise 0.6, shared by neighbours"  # each pixel's variance is that of "noise 0.6"
changes[shared] = {"noise": 0.4}


def of_neighbours(images, seed):
    """Noise that is the mean of 3 x 3 pixels of white noise; each pixel's variance is 1."""
    n, _, height, width = images.shape
    white = torch.randn(n, 1, height + 2, width + 2, generator=torch.Generator().manual_seed(70 + seed))
    return 3 * torch.nn.functional.avg_pool2d(white, 3, stride=1)

# %%
def slope(outcome, known):
    """By how much the accuracy falls where the mean confidence falls by 1, over known changes."""
    cal, falls = outcome.predictions["cal"], []
    for images, labels in known:
        now = judge(logits_of(outcome, images).softmax(dim=1), labels)
        fall = cal.confidence.mean().item() - now["confidence"]
        falls.append((fall, cal.correct.double().mean().item() - now["accuracy"]))
    sure, right = np.array(falls).T
    return (sure @ right) / (sure @ sure)


def atc(sure, confidence, right):
    """The share of new images above the confidence that a share `right` of the old ones pass."""
    passed = sure.sort(descending=True).values[round(right * len(sure)) - 1]
    return (confidence >= passed).double().mean().item()

# %%
def known_noise(seed):
    old, generator = splits(seed).calibration, torch.Generator().manual_seed(50 + seed)
    pattern = torch.randn(old.inputs.shape, generator=generator)
    return [(old.inputs + more * pattern, old.labels) for more in (0.2, 0.4, 0.6, 0.8)]


def known_others(seed):
    kinds = [(name, severity) for name in ("defocus_blur", "contrast") for severity in range(1, 6)]
    return [shifted.draw(1000, 900 + seed, 0.4, corruptions.corrupt(clean, *kind)) for kind in kinds]

# %%
def foretell(outcome, name, of_noise, of_others):
    """The accuracy of a network under a change, and what each way foretells of it."""
    seed, cal = outcome.setting["seed"], outcome.predictions["cal"]
    old, sure, own = splits(seed).calibration, cal.confidence, scaler(outcome)
    right = cal.correct.double().mean().item()
    new, answers = shifted.draw(size.test, 700 + seed, **changes[name])
    if name == shared:
        new = new + (0.6**2 - 0.4**2) ** 0.5 * of_neighbours(new, seed)
    images, noise = imitated(new, old.inputs, seed)
    logits, of_imitation = logits_of(outcome, new), logits_of(outcome, images)
    confidence = logits.softmax(dim=1).amax(dim=1)
    told = judge(of_imitation.softmax(dim=1), old.labels)
    row = {"change": name, "seed": seed, "accuracy": metrics.accuracy(logits.softmax(1), answers)}
    row["confidence"] = confidence.mean().item()
    row["DoC"] = right - (sure.mean() - confidence.mean()).item()
    fall = (sure - confidence.mean()).mean().item()
    row["DoC, slope of blur and contrast"] = right - of_others * fall
    row["DoC, slope of noise"] = right - of_noise * fall
    row |= {"ATC": atc(sure, confidence, right), "imitation": told["accuracy"]}
    row |= after_temperature(own, cal, logits, right)
    row |= {"confidence, imitation": told["confidence"], "noise found": noise}
    row["likeliest noise"] = likeliest(new[:300])
    return row | two_temperatures(own, of_imitation, old.labels, logits, answers)

# %%
def after_temperature(own, cal, logits, right):
    before = own.probs(cal.logits, allow_fitted=True).amax(dim=1)
    scaled = own.probs(logits).amax(dim=1)
    row = {"confidence after T": scaled.mean().item(), "ATC after T": atc(before, scaled, right)}
    return row | {"DoC after T": right - (before.mean() - scaled.mean()).item()}


def two_temperatures(own, of_imitation, labels, logits, answers):
    """The gaps that the old T leaves, and one fitted on the imitation."""
    T = recalibration.TemperatureScaler().fit(of_imitation, labels)
    gaps = {"gap, old T": metrics.signed_gap(own.probs(logits), answers)}
    return {"T": T.temperature, **gaps, "gap, new T": metrics.signed_gap(T.probs(logits), answers)}


rows = []
for outcome in swept.outcomes:
    seed = outcome.setting["seed"]
    slopes = slope(outcome, known_noise(seed)), slope(outcome, known_others(seed))
    rows += [foretell(outcome, name, *slopes) for name in changes]
foretold = pd.DataFrame(rows)
foretold[foretold.seed.isin(fresh)].groupby("change", sort=False).mean().drop(columns="seed").round(3)

# %%
def known(column, change, among=fresh):
    table = foretold[foretold.change == change].set_index("seed")
    return table.loc[list(among), column].to_numpy()


def off(way, change):
    return known(way, change) - known("accuracy", change)


near = {"expect": "within", "margin": 0.02}
blur, flat = "defocus_blur 4", "contrast 3"
scanners = []
for outcome in swept.outcomes[: len(seeds)]:
    seed, old = outcome.setting["seed"], splits(outcome.setting["seed"]).calibration
    errors = []
    for noise in (0.65, 0.9):
        new, answers = shifted.draw(size.test, 700 + seed, noise)
        images, _ = imitated(new, old.inputs, seed)
        promised = metrics.accuracy(logits_of(outcome, images).softmax(dim=1), old.labels)
        errors.append(promised - metrics.accuracy(logits_of(outcome, new).softmax(dim=1), answers))
    scanners.append(np.mean(errors))
judged = partial(verdicts.judge, "13m")

# %%
given = [
    judged(
        "scanners A and B: accuracy on the imitation minus accuracy, within 0.02",
        scanners,
        control=known("imitation", blur, seeds) - known("accuracy", blur, seeds),
        post_hoc=True,
        **near,
    ),
    *(
        judged(
            f"noise {noise}, new seeds: accuracy on the imitation minus accuracy, within 0.02",
            off("imitation", f"noise {noise}"),
            control=off("ATC", f"noise {noise}"),
            **near,
        )
        for noise in (0.6, 0.8, 1.0)
    ),
]

# %% tags=["nbval-check-output"]
print(
    verdicts.conclude(
        "13m",
        given,
        "where it imitates the right change, an imitation of held-out images predicts the accuracy to two "
        "points on average over ten new seeds; a single network can miss by more",
    )
)

# %% tags=["nbval-check-output"]
print(
    verdicts.conclude(
        "13o",
        [
            verdicts.judge(
                "13o",
                f"noise {noise}, new seeds: with the T of the imitation the gap is near 0",
                known("gap, new T", f"noise {noise}"),
                expect="within",
                margin="gap",
                control=known("gap, old T", f"noise {noise}"),
            )
            for noise in (0.6, 0.8, 1.0)
        ],
        "a temperature of the imitation leaves no gap on average under more noise, without a new label",
    )
)

# %%
photographs = experiments.on_photographs("shift", SCALE, device=device)

# %% [markdown]
# ## Corruptions
#
# Six of the fifteen corruptions of Hendrycks and Dietterich (2019) draw nothing at random, so that each clean digit becomes one corrupted digit, and both exact readers exist again.
# Mean over the six. The ECE of a calibrated reader is not 0 in a sample: it grows where fewer probabilities are near 1. The informed posterior is calibrated by construction, so all that rises in its ECE
# is the estimator's. How much that is, the **ECE by chance** tells: the mean ECE over 20 draws of labels from the reader's own probabilities.

# %%
def by_chance(probs, answers, draws=20):
    """The mean ECE where the labels are drawn from the probabilities; the answers are not used."""
    labels = torch.multinomial(probs, draws, replacement=True, generator=torch.Generator().manual_seed(SEED))
    return np.mean([metrics.ece(probs, drawn) for drawn in labels.T])

# %%
fixed = ("defocus_blur", "zoom_blur", "brightness", "contrast", "pixelate", "jpeg_compression")
measures = {
    "AdaECE": metrics.ada_ece,
    "classwise-ECE": metrics.classwise_ece,
    "NLL": metrics.nll,
    "Brier": metrics.brier,
    "ECE by chance": by_chance,
}
rows = []
for name in fixed:
    for severity in range(6):
        centres = corruptions.corrupt(clean, name, severity) if severity else clean
        for outcome in swept.outcomes[: len(seeds)]:
            seed = outcome.setting["seed"]
            images, answers = shifted.draw(size.test // 10, seed, shifted.NOISE, centres)
            for reader, probs in readings(outcome, images, shifted.NOISE, centres).items():
                row = {"severity": severity, "reader": reader, "seed": seed, **judge(probs, answers)}
                rows.append(
                    row | {measure: function(probs, answers) for measure, function in measures.items()}
                )
over_kinds = pd.DataFrame(rows).groupby(["reader", "severity", "seed"]).mean().reset_index()
over_kinds.groupby(["reader", "severity"])[["accuracy", "gap", "ECE", *measures]].mean().round(3)

# %%
def steps(column, reader="network"):
    """(seeds, 5): what each severity adds to the one before; mean over the corruptions."""
    table = over_kinds[over_kinds.reader == reader]
    return np.diff(table.pivot(index="seed", columns="severity", values=column).to_numpy(), axis=1)

# %% tags=["nbval-check-output"]
told = photographs.pivot(index="seed", columns="value")
judged = partial(verdicts.judge, "S3")
given = [
    judged(
        "network, severity 0 to 5, mean of six corruptions: least step up of the ECE",
        steps("ECE").min(axis=1),
        as_trained=True,
    ),
    judged("the same after the T of clean images", steps("ECE", "network after T").min(axis=1)),
    judged(
        "photographs, T of clean images: ECE at severity 5 is larger than at 0",
        (told["scaled_ece"][5] - told["scaled_ece"][0]).tolist(),
    ),
    judged(
        "photographs: accuracy at severity 5 is lower than at 0",
        (told["test_accuracy"][5] - told["test_accuracy"][0]).tolist(),
        expect="below",
    ),
]
print(
    verdicts.conclude(
        "S3", given, "holds on digits and photographs, as trained and under the T of clean images"
    )
)

# %%
columns = {"AdaECE": "ada_ece"}
judged = partial(verdicts.judge, "M7")
given = [
    *[
        judged(
            f"{reader}: {measure} rises more up to severity 5 than that of the informed posterior",
            (steps(measure, reader) - steps(measure, "informed posterior")).sum(axis=1),
            as_trained=reader == "network",
        )
        for reader in ("network", "network after T")
        for measure in ("AdaECE",)
    ]
]

# %% tags=["nbval-check-output"]
given += [
    *[
        judged(
            f"photographs{words}: {measure} is larger at severity 5 than at 0",
            (told[f"{stage}_{column}"][5] - told[f"{stage}_{column}"][0]).tolist(),
            as_trained=stage == "test",
        )
        for stage, words in (("test", ""), ("scaled", ", T of clean images"))
        for measure, column in columns.items()
    ]
]
print(
    verdicts.conclude(
        "M7",
        given,
        "AdaECE rises under corruption: on digits more than that of the exact posterior that knows "
        "the corruption, and on photographs; before and after the T of clean images",
    )
)

# %% [markdown]
# ## Strange images
#
# Networks of eight digits see 8 and 9, pure noise (pixels from N(0.5, 1), clipped to [0, 1]) and the digits 0 to 7 at noise 0.8. Scores: the largest probability, minus the entropy, and minus
# the energy (Liu et al. 2020). Three ways of training with weight decay 1e-4 and alpha 0.2, and with the weight decay (six) and alpha (four) of the lowest NLL on `cal`, mean of three other seeds: as
# trained for the state as trained, after T for the state after one T, both chosen without a strange image ([table](../results/strengths/shifted.csv), made by `python -m study.strange_images`):

# %%
ways = ("cross-entropy", "FLSD-53", "mixup")
usual = {way: (0.2 if way == "mixup" else 0.0, 1e-4) for way in ways}
settings = {("usual", scaling): usual for scaling in ("as trained", "after one T")}
for scaling, column in (("as trained", "nll"), ("after one T", "scaled_nll")):
    found = strengths.best(strange_images.STUDY.stored(), column)
    settings["chosen", scaling] = {way: tuple(found[way].values()) for way in ways}
pairs = dict.fromkeys((way, *one[way]) for one in settings.values() for way in ways)
grid = [{"way": w, "strength": s, "decay": d, "seed": seed} for w, s, d in pairs for seed in seeds]
eight = sweep.run(partial(strange_images.trial, size), grid, device=device)
trained = {tuple(one.setting.values()): one for one in eight.outcomes}
digits, every_label = shifted.clean()
familiar = every_label < 8
owner = torch.nn.functional.one_hot(every_label[familiar], 8).float()
closed = {"centres": digits[familiar], "one_hot": owner}


@cache
def strange_images(seed):
    n = size.test // 5
    return {
        "digits 8 and 9": shifted.draw(n, 5000 + seed, 0.4, digits[~familiar], every_label[~familiar])[0],
        "pure noise": corruptions.noise_images(n, size=8, channels=1, generator=seed),
        "noise 0.8": shifted.draw(n, 6000 + seed, 0.8, digits[familiar], every_label[familiar])[0],
    }

# %%
def scores(logits):
    """Larger means more familiar."""
    probs = logits.softmax(dim=1)
    return {
        "entropy": -metrics.entropy(probs),
        "largest probability": probs.amax(dim=1),
        "energy": logits.logsumexp(dim=1),
        "energy, centred": (logits - logits.mean(dim=1, keepdim=True)).logsumexp(dim=1),
    }


def compared(said, said_of_strange):
    inside, outside = scores(said), scores(said_of_strange)
    row = {score: metrics.auroc(inside[score], outside[score]) for score in inside}
    row["FPR95, entropy"] = metrics.fpr_at_tpr(inside["entropy"], outside["entropy"])
    return row | {"confidence": outside["largest probability"].mean().item()}

# %%
rows = []
for (named, scaling), way, seed in product(settings, ways, seeds):
    outcome = trained[way, *settings[named, scaling][way], seed]
    T = scaler(outcome).temperature if scaling == "after one T" else 1.0
    said = outcome.predictions["test"].logits.double()
    for kind, images in strange_images(seed).items():
        row = {"kind": kind, "way": way, "strengths": named, "scaling": scaling, "seed": seed}
        rows.append({**row, **compared(said / T, logits_of(outcome, images) / T)})
for seed in seeds:
    said = shifted.exact(shifted.familiar(size.test // 5, 3000 + seed).inputs, 0.4, **closed).log()
    for kind, images in strange_images(seed).items():
        row = {"kind": kind, "way": "exact posterior", "strengths": "", "scaling": "exact", "seed": seed}
        rows.append({**row, **compared(said, shifted.exact(images, 0.4, **closed).log())})
table = pd.DataFrame(rows)
table.loc[table.way == "exact posterior", ["energy", "energy, centred"]] = np.nan  # it has no logits
table.drop(columns="seed").groupby(["kind", "way", "strengths", "scaling"], sort=False).mean().round(2)

# %%
def of(column, way, strength, scaling, kind):
    same = (table.way == way) & (table.strengths == strength) & (table.scaling == scaling)
    return table[same & (table.kind == kind)].sort_values("seed")[column].to_numpy()


def ahead(column, way, strength, scaling, kind):
    here = strength, scaling, kind
    return of(column, way, *here) - of(column, "cross-entropy", *here)

# %%
kinds = ("digits 8 and 9", "pure noise", "noise 0.8")
strange = {
    "decay 5e-4": experiments.on_photographs("strange", SCALE, device=device),
    "decay 5e-3": experiments.on_photographs("strange-at-best", SCALE, device=device),
}
by_way = {decay: table.pivot(index="seed", columns="value") for decay, table in strange.items()}
scalings = {"as trained": "", "after one T": "scaled_"}


def photographed(column, way, scaling, decay, rival="cross-entropy"):
    """On photographs: a way at this decay less another at 5e-3, by seed; column {kind}_{measure}."""
    kind, measure = column.split("_")
    name = f"{kind}_{scalings[scaling]}{measure}"
    return (by_way[decay][name][way] - by_way["decay 5e-3"][name][rival]).tolist()

# %% [markdown]
# **Photographs** (CIFAR-10, 20,000 of them; six convolutions; three seeds). Strange are letters (notMNIST, 10,000 of them, grey, made as large as the photographs), the test photographs under Gaussian noise of severity 5, and pure
# noise. The weight decay is 5e-4, as in the authors' code, or 5e-3, which has the lowest NLL after T on `cal` for every loss (`reproduce strange-at-best`); as trained FLSD-53
# has its lowest at 5e-4, and S1 compares it there with cross-entropy at 5e-3. The source's strangers were SVHN; letters stand for them here. Its baselines are cross-entropy, Brier, MMCE and smoothing .05.

# %%
heads = {
    "elsewhere_auroc": "AUROC, letters",
    "elsewhere_scaled_auroc": "after T",
    "gaussian_auroc": "AUROC, noisy",
    "gaussian_scaled_auroc": "after T ",
    "elsewhere_confidence": "confidence, letters",
    "elsewhere_scaled_confidence": "after T  ",
    "noise_confidence": "confidence, pure noise",
    "noise_scaled_confidence": "after T   ",
}
means = {decay: table.groupby("value", sort=False)[list(heads)].mean() for decay, table in strange.items()}
pd.concat(means, names=["decay", "way"]).rename(columns=heads).round(3)

# %%
judged = partial(verdicts.judge, "S1")
given = [
    *(
        judged(
            f"{kind}, {scaling}, {named} strengths: entropy's AUROC is higher for FLSD-53 than for CE",
            ahead("entropy", "FLSD-53", named, scaling, kind),
            as_trained=scaling == "as trained",
        )
        for kind in ("digits 8 and 9",)
        for named, scaling in settings
        if named == "chosen"
    )
]

# %% tags=["nbval-check-output"]
given += [
    *(
        judged(
            f"photographs, best decays, letters, {scaling}: "
            "entropy's AUROC is higher for FLSD-53 than for CE",
            photographed("elsewhere_auroc", "FLSD-53", scaling, decay),
            as_trained=scaling == "as trained",
        )
        for scaling, decay in (("as trained", "decay 5e-4"), ("after one T", "decay 5e-3"))
    )
]
print(
    verdicts.conclude(
        "S1",
        given,
        "FLSD-53 beside cross-entropy: behind on digits as trained and after one temperature each; "
        "undecided on photographs",
    )
)

# %%
judged = partial(verdicts.judge, "S2")
given = [
    *(
        judged(
            f"{kind}, {scaling}, {named} strengths: mixup is less confident than cross-entropy",
            ahead("confidence", "mixup", named, scaling, kind),
            expect="below",
            as_trained=scaling == "as trained",
        )
        for kind in kinds[:1]
        for named, scaling in settings
        if named == "chosen"
    )
]

# %% tags=["nbval-check-output"]
given += [
    *(
        judged(
            f"photographs, {decay}, {kind}, {scaling}: {way} is less confident",
            photographed(column, way, scaling, decay),
            expect="below",
            as_trained=scaling == "as trained",
        )
        for decay, kind, column in (("decay 5e-3", "letters", "elsewhere_confidence"),)
        for scaling in scalings
        for way in ("mixup, alpha .1",)
    )
]
print(
    verdicts.conclude(
        "S2",
        given,
        "as trained less confident of letters after photographs, undecided on digits; after one "
        "temperature each undecided",
    )
)

# %% [markdown]
# **Energy** is not identified by cross-entropy: adding any function of the image to all its logits changes the loss, the probabilities and the accuracy by nothing, and the energy by that function. What training leaves there is the
# initialisation's and the optimiser's choice; the second score above takes the mean of the logits away. On photographs T lowers the confidence on noise from 72 to 51 % for cross-entropy and from 77 to 76 % for mixup.
#
# Three questions that the exact reader can separate: how unsure, how typical (density), and how likely an eight or nine in a world that has them (an **open world**):

# %%
rows = []
for seed in seeds:
    inside = shifted.familiar(size.test // 5, 3000 + seed).inputs
    for kind, images in strange_images(seed).items():
        for name, score in {
            "entropy, closed world": lambda x: -metrics.entropy(shifted.exact(x, 0.4, **closed)),
            "density": lambda x: shifted.digit_scores(x, 0.4, digits[familiar]).logsumexp(dim=1),
            "neither 8 nor 9, open world": lambda x: 1 - shifted.exact(x, 0.4)[:, 8:].sum(dim=1),
        }.items():
            rows.append({"score": name, "kind": kind, "AUROC": metrics.auroc(score(inside), score(images))})
pd.DataFrame(rows).pivot_table(index="score", columns="kind", values="AUROC").round(3)

# %% [markdown]
# The gap of an average is the mean gap of its members, minus the lost confidence, minus the gained accuracy: an identity, and the lost confidence is never negative. So only the sign is judged; sizes are in the table.
#
# ## What is left
#
# - Shown in an earlier version against the source, and no longer judged: noise .8: FLSD-53's AUROC is lower as trained (-.020), gamma 3's on noisy photographs too (-.015, after T -.033, S1); of pure noise mixup on photographs at decay 5e-4 is *surer* (+.046, after T +.246, S2).
# - Left: SVHN as the strange photographs, the other focal losses of the paper, networks of several families (Minderer et al.), mixup on photographs with other alphas, the disagreement of an ensemble as a score of strange images, DoC with a slope after T,
#   and a shift of the priors (other patients: the images of a class stay the same, the variance of all changes; lesson 07).
#
# | paper | its setting and finding | here |
# |---|---|---|
# | Mukhoti et al. 2020 (S1) | CIFAR-10 against SVHN, and Gaussian noise of severity 5: AUROC of entropy before and after T, focal losses ahead | S1 |
# | the same | a temperature may not find strange images | the table |
# | Thulasidasan et al. 2019 (S2) | mixup is less confident on other images and on noise | S2 |
# | Minderer et al. 2021, Ovadia et al. 2019 (S3) | accuracy and calibration decay with the severity, less in the newest networks (Minderer) | S3 |
# | Guillory et al. 2021, Garg et al. 2022 | DoC (their regression over known shifts and the plain difference) and ATC (after a temperature) foretell the accuracy under many shifts of photographs | as trained and after T (the regression as trained): not under noise on digits; under blur and contrast ATC after T is within about 4 points, and better than an imitation of the wrong change |
#
# References: Mukhoti et al. 2020, [arXiv:2002.09437](https://arxiv.org/abs/2002.09437) (table 3); Thulasidasan et al. 2019, [arXiv:1905.11001](https://arxiv.org/abs/1905.11001);
# Minderer et al. 2021, [arXiv:2106.07998](https://arxiv.org/abs/2106.07998); Ovadia et al. 2019, [arXiv:1906.02530](https://arxiv.org/abs/1906.02530);
# Hendrycks, Dietterich 2019, [arXiv:1903.12261](https://arxiv.org/abs/1903.12261); Liu et al. 2020, [arXiv:2010.03759](https://arxiv.org/abs/2010.03759);
# Guillory et al. 2021, [arXiv:2107.03315](https://arxiv.org/abs/2107.03315); Garg et al. 2022, [arXiv:2201.04234](https://arxiv.org/abs/2201.04234);
# Lakshminarayanan et al. 2017, [arXiv:1612.01474](https://arxiv.org/abs/1612.01474); Rahaman, Thiery 2021, [arXiv:2007.08792](https://arxiv.org/abs/2007.08792).
