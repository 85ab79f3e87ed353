# %% [markdown]
# # 13 · Shift and strange inputs
#
# **Question.** A hospital replaces its scanner, and the new images are noisier. The network now makes more mistakes,
# and nobody tells it. Does its confidence fall as its accuracy does, and would the best possible reader's?
#
# **You will be able to**
# - compare a network under shift with an exact posterior that knows of the shift, and with one that does not;
# - measure calibration on corrupted images at five severities;
# - score strange images by entropy, largest probability and energy, and judge the scores by AUROC;
# - compare five networks with one at equal cost, and say why an average of calibrated ones can be under-confident.
#
# **Time.** 60 minutes for sections 1 to 4; 40 more for 5 to 8, a second sitting.
#
# **Needs.** [02 Measuring calibration](02_measuring_calibration.ipynb); AUROC (08), focal loss (10), ensembles (11), mixup (12).

# %%
from functools import cache, partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
import torch
from sklearn.datasets import load_sample_image

from calibkit import corruptions, losses, metrics, mixing, recalibration
from calibkit.course import check, experiments, explorers, verdicts
from calibkit.course.scale import begin
from calibkit.lab import data, models, sweep, training
from calibkit.pictures import alt_text, palette

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% [markdown]
# The picture shows networks that were trained on digits under pixel noise 0.4. **Write down a guess:** the exact posterior of the
# *training* images gets noisier images, and nobody tells it. At noise 0.8, how far is its mean confidence above its
# accuracy: 0, 10 or 30 points? Then move the sliders, to the "uninformed posterior". (Stored runs.)

# %%
size, seeds, device = begin(SCALE, SEED, DEVICE)
explorers.stored("severity")

# %% [markdown]
# ## 1. More noise, and four readers
#
# A **distribution shift** is here a change of the images between training and test, while a label still means the same. Ours
# is the strength of the pixel noise: 0.4 in training, from 0.2 to 1.0 in the test. An image is one of 1,797 clean
# digits, all equally likely, plus Gaussian noise: at distance $d$ from a clean digit its density is proportional to
# $e^{-d^2/(2\,\mathrm{noise}^2)}$. So the posterior is a softmax of the exponents over the clean digits, summed over each class:

# %%
parts = data.digits(seed=SEED)
digits = torch.cat([part.inputs for part in parts])  # all 1,797
labels = torch.cat([part.labels for part in parts])
one_hot = torch.nn.functional.one_hot(labels, 10).float()  # (1797, 10)
trained_noise = 0.4


def digit_scores(images, noise, centres=digits):
    """(n, J): -distance^2 / (2 noise^2) of each image to each clean digit."""
    x, c = images.flatten(1), centres.flatten(1)
    squared = x.square().sum(dim=1, keepdim=True) + c.square().sum(dim=1) - 2 * x @ c.T
    return -squared / (2 * noise**2)


def exact(images, noise, centres=digits, owner=one_hot):
    """(n, K): the posterior in a world of these clean digits; `owner` has the class of each."""
    probs = digit_scores(images, noise, centres).softmax(dim=1) @ owner
    return probs.double().clamp(1e-30, 1)  # no zero, because we take logarithms later

# %%
def draw(n, seed, noise=trained_noise, centres=digits, owner=labels):
    """n images and labels. A seed gives the same digits and noise pattern at every strength."""
    generator = torch.Generator().manual_seed(1000 + seed)
    chosen = torch.randint(len(centres), (n,), generator=generator)
    pattern = torch.randn(n, 1, 8, 8, generator=generator)
    return centres[chosen] + noise * pattern, owner[chosen]


images, _ = draw(100, SEED)
assert torch.allclose(exact(images, 0.4), data.NoisyDigits(0.4).posterior(images), atol=1e-4)

# %% tags=["drawing"]
strengths = [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0]
fig, axes = plt.subplots(1, 1 + len(strengths), figsize=(8.4, 1.3))
for ax, noise in zip(axes, [0.0, *strengths], strict=True):
    shown, drawn = draw(1, SEED, noise)
    _ = ax.imshow(shown[0, 0], cmap="gray_r", vmin=-noise, vmax=1 + noise)
    _ = ax.set_title(f"noise {noise}" if noise else "clean", fontsize=9)
    _ = ax.axis("off")
    _ = alt_text.note(ax, f"The digit {drawn.item()} at noise {noise}")

# %% [markdown]
# Besides the network (with and without a temperature fitted at noise 0.4) we ask two exact readers:
#
# - the **informed posterior** is computed with the noise that the test images have. No reader can be better.
# - the **uninformed posterior** is computed with noise 0.4, whatever the images have. It is exact for the training
#   images alone.
#
# ### Exercise: the informed posterior
#
# *Difficulty: medium · importance: high · 10 minutes*
#
# `scores` (n, J) come from `digit_scores` at the noise `old`. `one_hot` (J, K) holds the class of each clean digit. Return the
# posterior (n, K) for the noise `new`, without computing a distance again.

# %%
def my_informed_posterior(scores, one_hot, old, new):
    ...  # your code here


check.informed_posterior(my_informed_posterior)

# %% [markdown]
# <details><summary>Hint</summary>
#
# Which factor turns $-d^2/(2\,\mathrm{old}^2)$ into $-d^2/(2\,\mathrm{new}^2)$? Then a softmax, then the
# sum over each class.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_informed_posterior(scores, one_hot, old, new):
#     ratio = old / new
#     rescaled = scores * ratio * ratio
#     return rescaled.softmax(dim=1) @ one_hot
# ```
#
# </details>
#
# Now the networks, one for each seed:

# %%
@cache
def splits(seed):
    return data.noisy_digits(size.train, noise=trained_noise, seed=seed, test=1)  # we draw our own tests


def recipe(kind, member, seed):
    train, cal, _ = splits(seed)
    width = 325 if kind == "wide" else 128  # section 6 needs wide, long and members 1 to 4
    epochs = 5 * size.epochs if kind == "long" else size.epochs
    return training.trial(partial(models.mlp, 64, 10, width=width), train, {"cal": cal},
                          seed=10 * seed + member, epochs=epochs)


swept = sweep.run(recipe, {"kind": ["one"], "member": [0], "seed": seeds}, device=device)

# %%
def logits_of(outcome, images):
    with torch.no_grad():
        return outcome.model.cpu()(images).double()


def scaler(outcome):
    cal = outcome.predictions["cal"]
    return recalibration.TemperatureScaler().fit(cal.logits, cal.labels)


def readings(outcome, images, noise, centres=digits):
    """What the four readers say, (n, 10) each."""
    logits = logits_of(outcome, images)
    return {"informed posterior": exact(images, noise, centres),
            "uninformed posterior": exact(images, trained_noise),
            "network": logits.softmax(dim=1),
            "network after T": scaler(outcome).probs(logits)}


def judge(probs, answers):
    return {"accuracy": metrics.accuracy(probs, answers), "confidence": probs.amax(dim=1).mean().item(),
            "signed gap": metrics.signed_gap(probs, answers), "ECE": metrics.ece(probs, answers)}

# %%
rows, diagrams = [], {}
for outcome in swept.outcomes:
    seed = outcome.setting["seed"]
    for noise in strengths:
        images, answers = draw(size.test // 5, seed, noise)
        for reader, probs in readings(outcome, images, noise).items():
            rows.append({"reader": reader, "noise": noise, "seed": seed, **judge(probs, answers)})
            diagrams[reader, noise, seed] = metrics.reliability(probs, answers)
noisier = pd.DataFrame(rows)

# %% tags=["drawing"]
looks = {"informed posterior": palette.TRUTH.named("informed posterior"),
         "uninformed posterior": palette.Role("uninformed posterior", palette.GREEN, (6, 2), "P"),
         "network": palette.TRAINED.named("network"),
         "network after T": palette.CURED.named("network after T")}


def runs_of(reader, column):  # (seeds, strengths)
    table = noisier[noisier.reader == reader]
    return table.pivot(index="seed", columns="noise", values=column).to_numpy()


def frame(reader, noise):
    pooled = explorers.pooled([diagrams[reader, noise, seed] for seed in seeds])
    now = noisier[(noisier.reader == reader) & (noisier.noise == noise)].mean(numeric_only=True)
    readout = (f"{reader.capitalize()} at noise {noise:g}: mean confidence {now.confidence:.1%}, "
               f"accuracy {now.accuracy:.1%}, signed gap {now['signed gap']:+.1%}, ECE {now.ECE:.1%}.")
    lines = {palette.ACCURACY: runs_of(reader, "accuracy"),
             palette.CONFIDENCE: runs_of(reader, "confidence")}
    return explorers.along_frame(pooled, noise, strengths, lines, x_label="noise of the test images",
                                 x_ticks=(0.2, 0.4, 0.6, 0.8, 1.0), title=f"{reader}, noise {noise:g}",
                                 readout=readout)

# %% tags=["drawing"]
def by_reader(ax, table, x, column):
    for reader, role in looks.items():
        chosen = table[table.reader == reader]
        _ = sns.lineplot(chosen, x=x, y=column, errorbar=("pi", 100), ax=ax, **role.line())


explorers.keep(explorers.Explorer(
    frame, explorers.Slider("reader", list(looks), start="network"),
    explorers.Slider("noise of the test images", strengths, show="{:g}".format, start=0.4), play=True,
    description="Left, the reliability diagram of the chosen reader, test images of all seeds: a bar below "
    "the diagonal is over-confident. Right, against the noise: its mean confidence and accuracy. Bands span "
    "the seeds; the grey line marks the chosen noise. All training was at noise 0.4."), "severity")

# %% [markdown]
# **Predict before you run:** from noise 0.4 to 0.8, to whose signed gap does the shift add more: the network's, the
# uninformed posterior's, or about the same to both (within 5 points)?

# %% tags=["answer"]
fig, axes = plt.subplots(1, 2, figsize=(8, 3.4))
for ax, column in zip(axes, ("accuracy", "signed gap"), strict=True):
    by_reader(ax, noisier, "noise", column)  # from the folded cell above
axes[0].get_legend().remove()
_ = axes[1].axhline(0, color=palette.GREY, lw=1)
gap = noisier.pivot_table(index="noise", columns="reader", values="signed gap")
for reader in noisier.reader.unique():
    before, after = gap.loc[0.4, reader], gap.loc[0.8, reader]
    print(f"{reader}: signed gap {before:+.1%} at 0.4, {after:+.1%} at 0.8; added {after - before:+.1%}")

# %% tags=["nbval-check-output"]
def gap_at(reader, noise):
    table = noisier[(noisier.reader == reader) & (noisier.noise == noise)]
    return table.sort_values("seed")["signed gap"].to_numpy()


def added(reader):
    return gap_at(reader, 0.8) - gap_at(reader, 0.4)


print(verdicts.judge("13a", "the shift adds as much to the network's gap as to the uninformed posterior's, "
                     "within 0.05", added("network") - added("uninformed posterior"), expect="within",
                     margin=0.05, post_hoc=True))

# %% tags=["aside", "nbval-check-output"]
print(verdicts.judge("13b", "uninformed posterior: over-confident by more than 0.2 at noise 0.8",
                     gap_at("uninformed posterior", 0.8), margin=0.2))
print(verdicts.judge("13c", "after T, at noise 0.2: under-confident by more than 0.05",
                     gap_at("network after T", 0.2), expect="below", margin=0.05))

# %% [markdown]
# Open the answer above first.
#
# - **Informed posterior:** calibrated at every noise, by construction. Its accuracy falls too.
# - **Uninformed posterior:** perfect at noise 0.4, and far over-confident above.
# - **Network:** it starts with a gap of its own. From noise 0.4 to 0.8 the *shift* adds about the same to both (13a, post hoc); up to
#   noise 1.0 rather less to the network (figure). The opening question: its confidence does not follow its accuracy; of the exact
#   readers, only the informed one's does.
# - **After T:** right at noise 0.4 alone. Below it the network is under-confident; above it its gap follows the uninformed
#   posterior's.
#
# ## 2. What would a reader have to know?
#
# One number: the noise. By the exercise, the informed posterior divides the score of each clean digit by
# $(\text{noise}/0.4)^2$. That is a temperature, but on 1,797 scores instead of ten logits. Does one temperature on the
# *ten* probabilities come near? We fit T at each noise, on labelled images of that noise, for the uninformed posterior and
# for the network.
#
# **Predict before you run:** at noise 0.4 the network's T is about 3. Which T does it need at noise 0.8: still 3, about 7,
# or about 12?

# %% tags=["answer"]
def before_softmax(reader, outcome, images):
    return logits_of(outcome, images) if reader == "network" else exact(images, trained_noise).log()


rows = []
for outcome in swept.outcomes:
    seed = outcome.setting["seed"]
    for noise in strengths[2:]:
        fit_images, fit_answers = draw(size.test // 5, seed + 500, noise)
        images, answers = draw(size.test // 5, seed, noise)
        row = {"noise": noise, "(noise / 0.4)^2": (noise / trained_noise) ** 2}
        for reader in ("uninformed posterior", "network"):
            own = recalibration.TemperatureScaler()
            own.fit(before_softmax(reader, outcome, fit_images), fit_answers)
            row[f"T, {reader}"] = own.temperature
            probs = own.probs(before_softmax(reader, outcome, images))
            row[f"ECE after it, {reader}"] = metrics.ece(probs, answers)
        rows.append(row)
needed = pd.DataFrame(rows).groupby("noise").mean()
print(f"the network needs T = {needed.loc[0.4, 'T, network']:.1f} at noise 0.4, "
      f"{needed.loc[0.8, 'T, network']:.1f} at 0.8")
needed.round(2)

# %% [markdown]
# Open the answer above first. The uninformed posterior needs about $(\text{noise}/0.4)^2$: knowing the noise would repair
# it, without a label. The network's T grows by a smaller factor. Both ECEs become small, and both need
# another T at each noise.
#
# ## 3. Corruptions at five severities
#
# A benchmark for photographs (Hendrycks and Dietterich 2019) has fifteen kinds of **corruption**: noise, blur, weather,
# and digital ones such as contrast. Each has a **severity** from 1 to 5. Three kinds, on a photograph and on a digit (0 is the original).
# Some steps do not change the digit:

# %% tags=["drawing"]
photograph = torch.tensor(load_sample_image("flower.jpg").copy()).permute(2, 0, 1)[None] / 255
photograph = torch.nn.functional.avg_pool2d(photograph[..., 60:316, 200:456], 2)  # 128 px
subjects = [(name, subject) for name in ("contrast", "defocus_blur", "pixelate")
            for subject in (photograph, digits[labels == 3][:1])]
fig, axes = plt.subplots(len(subjects), 6, figsize=(7.2, 7.4))
for row, (name, subject) in zip(axes, subjects, strict=True):
    kind = "photograph of a flower" if subject is photograph else "digit three"
    for severity, ax in enumerate(row):
        changed = corruptions.corrupt(subject, name, severity, generator=SEED) if severity else subject
        look = {} if subject is photograph else {"cmap": "gray_r", "vmin": 0, "vmax": 1}
        _ = ax.imshow(changed[0].permute(1, 2, 0).squeeze(), **look)
        _ = ax.set(xticks=[], yticks=[])
        _ = ax.grid(False)
        spread = (changed.std(dim=(2, 3)) / subject.std(dim=(2, 3))).mean()
        _ = alt_text.note(ax, f"{kind}, {name}, severity {severity}: {spread:.0%} of the contrast is left")
    _ = row[0].set_ylabel(name.replace("_", " "), fontsize=8)
for severity, ax in enumerate(axes[0]):
    _ = ax.set_title(str(severity), fontsize=9)

# %% [markdown]
# Six of the fifteen use no random numbers: each clean digit becomes exactly one corrupted digit. Pixel noise 0.4 is added
# afterwards. So both exact readers exist again: the informed one knows the 1,797 corrupted digits, the uninformed one
# the originals.

# %%
fixed = ("defocus_blur", "zoom_blur", "brightness", "contrast", "pixelate", "jpeg_compression")
measures = {"AdaECE": metrics.ada_ece, "classwise-ECE": metrics.classwise_ece, "NLL": metrics.nll,
            "Brier": metrics.brier}
rows = []
for name in fixed:
    for severity in range(6):
        centres = corruptions.corrupt(digits, name, severity) if severity else digits
        for outcome in swept.outcomes:
            seed = outcome.setting["seed"]
            images, answers = draw(size.test // 10, seed, trained_noise, centres)
            for reader, probs in readings(outcome, images, trained_noise, centres).items():
                row = {"corruption": name, "severity": severity, "reader": reader, "seed": seed}
                row.update(judge(probs, answers))
                for measure, function in measures.items():
                    row[measure] = function(probs, answers)
                rows.append(row)
corrupted = pd.DataFrame(rows)
over_kinds = corrupted.groupby(["reader", "severity", "seed"]).mean(numeric_only=True).reset_index()

# %% [markdown]
# **Predict before you run:** contrast at severity 5. The informed posterior knows exactly what was done to the images. How
# often is it right: about 95, 60 or 20 %?

# %% tags=["answer"]
worst = corrupted[corrupted.severity == 5].groupby(["corruption", "reader"]).mean(numeric_only=True)
told = worst.accuracy["contrast", "informed posterior"]
print(f"contrast, severity 5: the informed posterior is right on {told:.1%}")
worst[["accuracy", "signed gap"]].unstack("reader").round(2)

# %% tags=["drawing"]
fig, axes = plt.subplots(1, 2, figsize=(8, 3.4))
for ax, column in zip(axes, ("accuracy", "ECE"), strict=True):
    by_reader(ax, over_kinds, "severity", column)
    _ = ax.set(ylim=(0, 1), title="mean over six corruptions")
axes[0].get_legend().remove()

# %% tags=["nbval-check-output"]
def steps(column, reader="network"):
    """(seeds, 5): what each severity adds to the one before; mean over the corruptions."""
    table = over_kinds[over_kinds.reader == reader]
    return np.diff(table.pivot(index="seed", columns="severity", values=column).to_numpy(), axis=1)


print(verdicts.judge("S3", "network, severity 0 to 5, mean of six corruptions: least step up of the ECE",
                     steps("ECE").min(axis=1)))

# %% tags=["aside", "nbval-check-output"]
print(verdicts.judge("S3", "network, severity 0 to 5, mean of six corruptions: least step down of accuracy",
                     steps("accuracy").max(axis=1), expect="below"))
for measure in measures:
    print(verdicts.judge("M7", f"network: {measure} is larger at severity 5 than without corruption",
                         steps(measure).sum(axis=1)))
print(verdicts.judge("13d", "uninformed posterior: its ECE rises too, by more than 0.05 to severity 5",
                     steps("ECE", "uninformed posterior").sum(axis=1), margin=0.05))
print(verdicts.judge("13e", "informed posterior: its ECE changes by less than 0.02",
                     steps("ECE", "informed posterior").sum(axis=1), expect="within", margin=0.02))

# %% tags=["aside"]
network = over_kinds[over_kinds.reader.isin(["network", "network after T"])]
columns = ["accuracy", "signed gap", "ECE", *measures]
print(network.groupby(["reader", "severity"])[columns].mean().round(3).to_string())

# %% [markdown]
# Open the answer above first. The figure:
#
# - **Left:** the black curve is the accuracy that the corruption leaves possible. The distance from it to the green one is what not
#   knowing costs; the rest is the network's own.
# - **Right:** the ECE of the informed posterior rises a little (13e). That of the *uninformed* one
#   rises with the severity, as the network's does.
#
# So a rising ECE is no fault of networks alone. The folded cell has AdaECE (18), classwise-ECE, NLL and
# Brier. Now photographs of CIFAR-10, each with one of the fifteen corruptions; T is fitted without any
# ([stored](from_laptop_to_paper.md)):

# %%
photographs = experiments.on_photographs("shift", SCALE, device=device)
experiments.shown(photographs).drop(columns=["training accuracy, %", "T"])

# %% tags=["aside", "nbval-check-output"]
for verdict in experiments.verdicts("shift", photographs):
    print(verdict)

# %% [markdown]
# ## 4. Classes that never occurred
#
# **Out-of-distribution** images do not come from the distribution of the training images. We train on the digits 0 to 7, and
# show 8 and 9, pure noise (pixels from N(0.5, 1), clipped to [0, 1]), and digits at noise 0.8.
# Three scores should be larger for a familiar image: the *largest probability*; *minus the entropy*; and minus the **energy**
# $E=-\log\sum_k e^{z_k}$ of the logits $z$ (Liu et al. 2020).
#
# A score is judged by the AUROC (08): the probability that a familiar image has a larger score than a strange one, ties
# counting one half. 1/2 is guessing.
#
# ### Exercise: AUROC by hand
#
# *Difficulty: easy · importance: high · 5 minutes*
#
# `familiar` (n,) and `strange` (m,) are scores. Return the AUROC from its definition, without a library.

# %%
def my_strange_auroc(familiar, strange):
    ...  # your code here


check.strange_auroc(my_strange_auroc)

# %% [markdown]
# <details><summary>Hint</summary>
#
# `familiar[:, None] > strange[None, :]` compares all pairs at once.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_strange_auroc(familiar, strange):
#     won = (familiar[:, None] > strange[None, :]).double()
#     tied = (familiar[:, None] == strange[None, :]).double()
#     return (won + tied / 2).mean()
# ```
#
# </details>
#
# The papers compare ways of training, so we train three: cross-entropy, FLSD-53 (10) and mixup with alpha 0.2 (12).

# %%
known = labels < 8
closed = {"centres": digits[known], "owner": one_hot[known][:, :8]}
ways = {"cross-entropy": {}, "FLSD-53": {"loss": losses.flsd},
        "mixup": {"mix": partial(mixing.mixup, alpha=0.2)}}


def draw_known(n, seed):
    images, answers = draw(n, seed, trained_noise, digits[known], labels[known])
    return data.Dataset(images, answers, tuple("01234567"))


def without_two(way, seed):
    judged = {"cal": draw_known(2000, 2000 + seed), "test": draw_known(size.test // 5, 3000 + seed)}
    return training.trial(partial(models.mlp, 64, 8, width=128), draw_known(size.train, 4000 + seed),
                          judged, seed=seed, epochs=size.epochs, **ways[way])


eight = sweep.run(without_two, {"way": list(ways), "seed": seeds}, device=device)

# %%
def strange_images(seed):
    n = size.test // 5
    return {"digits 8 and 9": draw(n, 5000 + seed, trained_noise, digits[~known], labels[~known])[0],
            "pure noise": corruptions.noise_images(n, size=8, channels=1, generator=seed),
            "noise 0.8": draw(n, 6000 + seed, 0.8, digits[known], labels[known])[0]}


def three_scores(logits):
    """Larger means more familiar: minus the entropy, the largest probability, minus the energy."""
    probs = logits.softmax(dim=1)
    return {"entropy": -metrics.entropy(probs), "largest probability": probs.amax(dim=1),
            "energy": logits.logsumexp(dim=1)}

# %%
def compared(said, said_of_strange):
    """AUROC of the three scores, and the confidence on the strange images."""
    inside, outside = three_scores(said), three_scores(said_of_strange)
    row = {"confidence": outside["largest probability"].mean().item(),
           "above 90 %": (outside["largest probability"] > 0.9).double().mean().item()}
    for score in inside:
        row[score] = metrics.auroc(inside[score], outside[score])
    return row


rows = []
for outcome in eight.outcomes:
    seed, T = outcome.setting["seed"], scaler(outcome).temperature
    said = outcome.predictions["test"].logits.double()
    for kind, images in strange_images(seed).items():
        strange = logits_of(outcome, images)
        for scaling, divisor in (("as trained", 1.0), ("after one T", T)):
            row = {"way": outcome.setting["way"], "seed": seed, "scaling": scaling, "kind": kind}
            rows.append({**row, **compared(said / divisor, strange / divisor)})
for seed in seeds:
    said = exact(draw_known(size.test // 5, 3000 + seed).inputs, trained_noise, **closed).log()
    for kind, images in strange_images(seed).items():
        row = {"way": "exact posterior", "seed": seed, "scaling": "exact", "kind": kind}
        rows.append({**row, **compared(said, exact(images, trained_noise, **closed).log())})
table = pd.DataFrame(rows)

# %% [markdown]
# The exact posterior here is that of a closed world (12) of eight digits: it has no class for 8 and 9.
#
# **Predict before you run:** is the exact posterior's AUROC of entropy on the digits 8 and 9 about 0.5, 0.75 or 0.9? And
# its mean confidence on them: about 20, 50 or 80 %?

# %% tags=["answer"]
order = ["way", "scaling"]
table.loc[table.way == "exact posterior", "energy"] = np.nan  # it has no logits
means = table.groupby(["kind", *order], sort=False).mean(numeric_only=True).drop(columns="seed")
best = means.loc["digits 8 and 9", "exact posterior", "exact"]
print(f"exact posterior on the digits 8 and 9: AUROC of entropy {best.entropy:.2f}, "
      f"mean confidence {best.confidence:.0%}")
means.sort_index(level="kind", sort_remaining=False).round(2)

# %% tags=["nbval-check-output"]
def of(column, way, scaling, kind):
    chosen = table[(table.way == way) & (table.scaling == scaling) & (table.kind == kind)]
    return chosen.sort_values("seed")[column].to_numpy()


def ahead(column, way, scaling, kind):
    return of(column, way, scaling, kind) - of(column, "cross-entropy", scaling, kind)


print(verdicts.judge("S1", "digits 8 and 9, as trained: entropy's AUROC is higher for FLSD-53 than for CE",
                     ahead("entropy", "FLSD-53", "as trained", "digits 8 and 9")))
print(verdicts.judge("S2", "pure noise, as trained: mixup is less confident than cross-entropy",
                     ahead("confidence", "mixup", "as trained", "pure noise"), expect="below"))

# %% tags=["aside", "nbval-check-output"]
print(verdicts.judge("S1", "digits 8 and 9, after one T each: entropy's AUROC is higher for FLSD-53",
                     ahead("entropy", "FLSD-53", "after one T", "digits 8 and 9")))
for kind in ("pure noise", "noise 0.8"):
    for scaling in ("as trained", "after one T"):
        print(verdicts.judge("S1", f"{kind}, {scaling}: entropy's AUROC is higher for FLSD-53",
                             ahead("entropy", "FLSD-53", scaling, kind)))
print(verdicts.judge("S2", "digits 8 and 9, as trained: mixup is less confident than cross-entropy",
                     ahead("confidence", "mixup", "as trained", "digits 8 and 9"), expect="below"))
for kind in ("digits 8 and 9", "pure noise"):
    print(verdicts.judge("S2", f"{kind}, after one T each: mixup is less confident than cross-entropy",
                         ahead("confidence", "mixup", "after one T", kind), expect="below"))
for kind in ("digits 8 and 9", "pure noise", "noise 0.8"):
    entropy = of("entropy", "cross-entropy", "as trained", kind)
    print(verdicts.judge("13f", f"{kind}, cross-entropy: its T raises the AUROC of entropy",
                         of("entropy", "cross-entropy", "after one T", kind) - entropy))
    print(verdicts.judge("13g", f"{kind}, cross-entropy as trained: energy has a higher AUROC than entropy",
                         of("energy", "cross-entropy", "as trained", kind) - entropy))

# %% [markdown]
# Open the answer above first.
#
# - **Exact posterior:** its confidence on eights and nines is high, and it is not miscalibrated: in its world they do not
#   occur. Yet its entropy separates them better than any network's.
# - **Cross-entropy:** its T changes no decision, but the order of the images. On the digits 8 and 9 and on pure noise it *raised* the
#   AUROC of entropy (13f), at noise 0.8 it lowered it.
# - **FLSD-53 and mixup** are less confident as trained. After one T *each*, mixup is about as confident as cross-entropy. FLSD-53 is
#   then behind in the AUROC of entropy on the digits 8 and 9; at noise 0.8 it is behind already as trained.
# - **Noise 0.8:** the networks are near 1/2, their energy even below. We have not tested why.
#
# Photographs, six convolutions, three seeds: AUROC of entropy, clean against Gaussian noise (severity 5); confidence on *pure* noise:

# %%
strange = experiments.on_photographs("strange", SCALE, device=device)
experiments.shown(strange).iloc[:, -4:]

# %% tags=["aside", "nbval-check-output"]
print(experiments.verdict("strange", strange))
by_way = strange.pivot(index="seed", columns="value")
auroc = by_way["gaussian_scaled_auroc"]
change = auroc["FLSD-53"] - auroc["cross-entropy"]
print(verdicts.judge("S1", "photographs, after one T each: the AUROC is higher for FLSD-53", change.tolist()))
for scaled, scaling in (("", "as trained"), ("scaled_", "after one T each")):
    confidence = by_way[f"noise_{scaled}confidence"]
    change = confidence["mixup, alpha .1"] - confidence["cross-entropy"]
    print(verdicts.judge("S2", f"photographs, {scaling}: mixup is less confident on noise", change.tolist(),
                         expect="below"))
change = by_way["gaussian_scaled_auroc"]["cross-entropy"] - by_way["gaussian_auroc"]["cross-entropy"]
print(verdicts.judge("13f", "photographs, cross-entropy: its T raises the AUROC", change.tolist()))

# %% [markdown]
# FLSD-53's AUROC is undecided. On pure noise mixup is *more* confident in each seed; T lowers cross-entropy's alone.
#
# ## 5. Unsure is not the same as strange
#
# *The second sitting: first run the cells above again.*
#
# The posterior answers "which digit, if it is one of these?". Two other questions: *How typical is the image?* The density $p(x)$ of familiar images; its logarithm is, up to a constant, the log-sum-exp of all scores. *Is it an eight or a nine?* In
# an **open world** these are classes too, and the posterior of all ten digits gives their probability.
#
# **Predict before you run:** the density knows everything about familiar images. Which kind of strange image gives it
# the lowest AUROC: the digits 8 and 9, pure noise, or noise 0.8?

# %% tags=["answer"]
def answers_of(images):
    closed_posterior = exact(images, trained_noise, **closed)
    return {"entropy, closed world": -metrics.entropy(closed_posterior),
            "density": digit_scores(images, trained_noise, digits[known]).logsumexp(dim=1),
            "neither 8 nor 9, open world": 1 - exact(images, trained_noise)[:, 8:].sum(dim=1)}


rows = []
for seed in seeds:
    inside = answers_of(draw_known(size.test // 5, 3000 + seed).inputs)
    for kind, images in strange_images(seed).items():
        for score, values in answers_of(images).items():
            rows.append({"score": score, "kind": kind, "AUROC": metrics.auroc(inside[score], values)})
answered = pd.DataFrame(rows).pivot_table(index="score", columns="kind", values="AUROC")
for kind, value in answered.loc["density"].items():
    print(f"density, {kind}: AUROC {value:.2f}")
answered.round(3)

# %% [markdown]
# Open the answer above first. The density finds what is far from every clean digit; an eight is not far.
# The open world, told what to look for, finds eights and nines. No row is the best in every column: test a score
# on the strangeness that you fear.
#
# ## 6. Five networks against one, at equal cost
#
# A deep ensemble (Lakshminarayanan et al. 2017; 11) averages the probabilities of five networks, and costs five trainings. So we
# compare it with one network that is trained five times as long, and with one of five times as many weights (width 325, not 128: most
# grow with its square).
# Each gets one temperature; that of the ensemble is fitted on `cal` *after* averaging.

# %%
grid = [{"kind": "one", "member": place, "seed": seed} for place in range(5) for seed in seeds]
grid += [{"kind": kind, "member": 0, "seed": seed} for kind in ("long", "wide") for seed in seeds]
contest = sweep.run(recipe, grid, device=device)


def averaged(members, images):
    """(n, 10): the mean of the members' probabilities."""
    return torch.stack([logits_of(member, images).softmax(dim=1) for member in members]).mean(dim=0)


def contestants(seed):
    """The members of each contestant; a single network has one."""
    small = contest.where(kind="one", seed=seed)
    return {"one": small[:1], "five": small, "5 x epochs": contest.where(kind="long", seed=seed),
            "5 x weights": contest.where(kind="wide", seed=seed)}

# %%
rows = []
for seed in seeds:
    cal = splits(seed).calibration
    for name, members in contestants(seed).items():
        fitted = recalibration.TemperatureScaler().fit(averaged(members, cal.inputs).log(), cal.labels)
        for noise in (0.4, 0.6, 0.8):
            images, answers = draw(size.test // 5, seed, noise)
            probs = averaged(members, images)
            for scaling, judged in (("as trained", probs), ("after one T", fitted.probs(probs.log()))):
                rows.append({"name": name, "seed": seed, "noise": noise, "scaling": scaling,
                             "NLL": metrics.nll(judged, answers), **judge(judged, answers)})
duel = pd.DataFrame(rows)

# %% [markdown]
# **Predict before you run:** after one temperature each, at the training noise 0.4: is the NLL of the five clearly lower than that of
# the network with five times the weights?

# %% tags=["answer"]
summary = duel.groupby(["scaling", "noise", "name"], sort=False).mean(numeric_only=True)
for name in ("five", "5 x weights"):
    print(f"{name}, after one T: NLL {summary.NLL['after one T', 0.4, name]:.3f} at noise 0.4, "
          f"{summary.NLL['after one T', 0.8, name]:.3f} at 0.8")
summary[["accuracy", "signed gap", "ECE", "NLL"]].unstack("noise").round(3)

# %% tags=["answer", "drawing"]
fig, axes = plt.subplots(1, 2, figsize=(8, 3.4), sharey=True)
for ax, scaling in zip(axes, ("as trained", "after one T"), strict=True):
    for place, name in enumerate(duel.name.unique()):
        chosen = duel[(duel.name == name) & (duel.scaling == scaling)]
        _ = sns.lineplot(chosen, x="noise", y="ECE", errorbar=("pi", 100), ax=ax,
                         **palette.group(place, name).line())
    _ = ax.set(title=scaling, xlabel="noise of the test images", xticks=(0.4, 0.6, 0.8))
axes[1].get_legend().remove()

# %% tags=["nbval-check-output"]
def lead(column, rival, noise, scaling):
    def values(name):
        chosen = duel[(duel.name == name) & (duel.noise == noise) & (duel.scaling == scaling)]
        return chosen.sort_values("seed")[column].to_numpy()
    return values("five") - values(rival)


print(verdicts.judge("13h", "noise 0.8, after one T each: five networks have a lower ECE than 5 x weights",
                     lead("ECE", "5 x weights", 0.8, "after one T"), expect="below"))

# %% tags=["aside", "nbval-check-output"]
for rival in ("one", "5 x epochs", "5 x weights"):
    for noise in (0.4, 0.8):
        print(verdicts.judge("13i", f"noise {noise}, as trained: five have a lower ECE than {rival}",
                             lead("ECE", rival, noise, "as trained"), expect="below"))
        print(verdicts.judge("13j", f"noise {noise}, after one T each: five have a lower NLL than {rival}",
                             lead("NLL", rival, noise, "after one T"), expect="below"))

# %% [markdown]
# Open the answers above first.
#
# - **As trained,** the five have the lowest ECE.
# - **After one T each, at noise 0.4,** the seeds do not tell the NLL of the wide network from that of the five (13j); on
#   average the five have the highest ECE.
# - **After one T each, at noise 0.8,** the five lead, in ECE and NLL. All are still far over-confident.
#
# ## 7. Why an average of calibrated networks can be under-confident
#
# Give each of the five its temperature *first*, so that each has a gap near 0 at noise 0.4, and average then.
# For each image the largest entry of a mean is at most the mean of the largest entries:
#
# $$\max_k\frac1M\sum_m p_{mk}\;\le\;\frac1M\sum_m\max_k p_{mk},$$
#
# because the class that wins on the left is at best every member's favourite. The difference, averaged over the images, is the
# **lost confidence**. So, exactly,
#
# $$\text{gap of the ensemble}=\text{mean gap of the members}-\text{lost confidence}-\text{gained accuracy},$$
#
# where the last is the ensemble's accuracy minus the members' mean.
#
# ### Exercise: lost confidence
#
# *Difficulty: easy · importance: high · 5 minutes*
#
# `probs` (R, n, K) holds the probabilities of R members. Return the lost confidence, one number.

# %%
def my_lost_confidence(probs):
    ...  # your code here


check.lost_confidence(my_lost_confidence)

# %% [markdown]
# <details><summary>Hint</summary>
#
# `probs.amax(dim=2)` is the confidence of each member; `probs.mean(dim=0)` is the ensemble.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_lost_confidence(probs):
#     ensemble = probs.mean(dim=0)
#     return probs.amax(dim=2).mean() - ensemble.amax(dim=1).mean()
# ```
#
# </details>
#
# We test it on two groups of five: the networks, each after its own T, and *half-blind* exact readers. Each
# computes the exact posterior from another random half of the pixels, so it is calibrated by construction.

# %%
def half_blind(images, reader):
    generator = torch.Generator().manual_seed(7000 + reader)
    seen = (torch.randperm(64, generator=generator) < 32).float().view(1, 1, 8, 8)
    return exact(images * seen, trained_noise, digits * seen)


def five_of(group, seed, images):
    if group == "half-blind exact readers":
        return torch.stack([half_blind(images, reader) for reader in range(5)])
    networks = contest.where(kind="one", seed=seed)
    return torch.stack([scaler(member).probs(logits_of(member, images)) for member in networks])


# %%
groups = {"networks, T each": 0.4, "the same at noise 0.8": 0.8, "half-blind exact readers": 0.4}
rows = []
for group, noise in groups.items():
    for seed in seeds:
        images, answers = draw(size.test // 5, seed, noise)
        probs = five_of(group, seed, images)
        single = pd.DataFrame([judge(member, answers) for member in probs]).mean()
        both = judge(probs.mean(dim=0), answers)
        rows.append({"members": group, "seed": seed, "mean gap": single["signed gap"],
                     "lost confidence": single.confidence - both["confidence"],
                     "gained accuracy": both["accuracy"] - single.accuracy,
                     "gap of the average": both["signed gap"]})

# %% [markdown]
# **Predict before you run:** is the signed gap of the average of the half-blind readers near 0, about −5 points, or below −15 points?

# %% tags=["answer"]
pooling = pd.DataFrame(rows)
by_group = pooling.drop(columns="seed").groupby("members", sort=False).mean()
for group in groups:
    print(f"{group}: mean gap of the members {by_group.loc[group, 'mean gap']:+.1%}, "
          f"of their average {by_group.loc[group, 'gap of the average']:+.1%}")
by_group.round(3)

# %% tags=["aside", "nbval-check-output"]
def pooled_gap(group, column="gap of the average"):
    return pooling[pooling.members == group].sort_values("seed")[column].to_numpy()


for group in groups:
    print(verdicts.judge("13k", f"{group}: the gap of the average is below the mean gap of its members",
                         pooled_gap(group) - pooled_gap(group, "mean gap"), expect="below"))
after = duel[(duel.name == "five") & (duel.noise == 0.4) & (duel.scaling == "after one T")]
late = after.sort_values("seed")["signed gap"].abs().to_numpy()
print(verdicts.judge("13l", "the gap is nearer to 0 with one T fitted after averaging than with five before",
                     late - np.abs(pooled_gap("networks, T each")), expect="below"))

# %% [markdown]
# Open the answer above first. Members that disagree lose confidence; if their average is also right more often, the gap falls further.
# The effect is small for networks with the same training images, and large for readers of different pixels.
#
# Rahaman and Thiery (2021) average first and then fit one temperature, as section 6; here that changes the gap little (13l).
#
# ## 8. What to do with a new scanner
#
# ### Exercise: a plan
#
# *Difficulty: hard · importance: high · 15 minutes, no code*
#
# The network (with its old T) must run on the new scanner from Monday. You have 10,000 new images without labels, and doctors will label
# 200. Some patients have a disease that the training data lack. What do you use the 200 for? What do the unlabelled images
# tell, what will a high confidence mean, and which test should have been made before?
#
# <details><summary>Answer</summary>
#
# *200 labels:* half to fit one new T (section 2), half to measure accuracy and gap, with a standard
# error of 4 to 5 points. *Unlabelled:* they show that the images changed (a density; section 5), and perhaps how. A known shift
# can be simulated on the old, labelled images; a T fitted there needs no new label. They do not show the accuracy: in section 1 the network's confidence hardly moved while its
# accuracy fell. *High confidence:* only "if it is one of my classes, and if the images are like those that its T was fitted on". The unknown disease needs a
# detector of its own, tested on such cases. *Before:* a test by severity, as in section 3, with simulated noise.
#
# </details>
#
# ### Beside the papers
#
# | paper | its setting and finding | here |
# |---|---|---|
# | Mukhoti et al. 2020 (S1) | CIFAR-10 against SVHN, and Gaussian noise of severity 5: AUROC of entropy before and after T, focal losses ahead | digits 8 and 9, pure noise, noise 0.8: ahead in two cases of six; photographs: open |
# | the same | a temperature may not find strange images | it raised cross-entropy's AUROC on two kinds of three, and photographs (13f) |
# | Thulasidasan et al. 2019 (S2) | mixup is less confident on other images and on noise | digits: as trained, yes; after one T each, undecided; photographs (alpha 0.1): *more* on our noise |
# | Minderer et al. 2021, Ovadia et al. 2019 (S3) | accuracy and calibration decay with the severity, less in the newest networks (Minderer) | the uninformed posterior decays too |
#
# ## Three things to take away
#
# 1. Under more noise that it does not know of, even the exact posterior of the training images is over-confident. Up to noise 0.8 it added about as
#    much to the network's gap (13a). A temperature belongs to the images that it was fitted on.
# 2. Accuracy and calibration decayed together with the severity, those of the uninformed posterior too.
# 3. Unsure, atypical and unknown are three things. An average of calibrated members that disagree is less
#    confident than they are. Here it was also more often right, and so under-confident.
#
# ## Recall
#
# <details><summary>1. Which reader is calibrated at every noise, and is its accuracy constant?</summary>
#
# The informed posterior. No: noise destroys information, and it says so by a lower confidence.
#
# </details>
#
# <details><summary>2. A network's ECE rises under blur. Is it then a bad model of its training images?</summary>
#
# No: the ECE of their exact posterior, not told of the blur, rises too.
#
# </details>
#
# <details><summary>3. Why can a temperature change the AUROC of entropy?</summary>
#
# It keeps the order of the classes within a row, not the order of the rows among each other.
#
# </details>
#
# <details><summary>4. The exact posterior is 80 % sure of a digit that its world does not have. Is it miscalibrated?</summary>
#
# No: calibration is about images of its world. It needs another class, or another score.
#
# </details>
#
# <details><summary>5. Five calibrated members always have the same favourite, with different confidences. What is the lost confidence?</summary>
#
# 0: the maximum of the mean is the mean of the maxima.
#
# </details>
#
# ## Go further
#
# Apply all fifteen corruptions (`corruptions.NAMES`) to the digits at severity 5, and print accuracy and ECE of one network. Which
# hardly change the accuracy, and why? If your printed numbers differ, see [your numbers differ?](your_numbers_differ.md). Next:
# [14 Sample prioritization](14_sample_prioritization.ipynb).
#
# <details><summary>Answer</summary>
#
# ```python
# outcome = swept.one(seed=SEED)
# for name in corruptions.NAMES:
#     centres = corruptions.corrupt(digits, name, 5, generator=SEED)
#     images, answers = draw(size.test // 10, SEED, trained_noise, centres)
#     found = judge(logits_of(outcome, images).softmax(dim=1), answers)
#     print(f"{name}: accuracy {found['accuracy']:.1%}, ECE {found['ECE']:.1%}")
# ```
#
# Gaussian noise (0.1 at severity 5), shot noise and what JPEG changes are small beside our 0.4.
#
# </details>
#
# ## References
#
# - Hendrycks, Dietterich: *Benchmarking Neural Network Robustness to Common Corruptions and Perturbations*. ICLR 2019.
#   [arXiv:1903.12261](https://arxiv.org/abs/1903.12261)
# - Ovadia et al.: *Can You Trust Your Model's Uncertainty? Evaluating Predictive Uncertainty Under Dataset Shift*. NeurIPS 2019.
#   [arXiv:1906.02530](https://arxiv.org/abs/1906.02530)
# - Minderer et al.: *Revisiting the Calibration of Modern Neural Networks*. NeurIPS 2021. [arXiv:2106.07998](https://arxiv.org/abs/2106.07998)
# - Mukhoti et al.: *Calibrating Deep Neural Networks using Focal Loss*. NeurIPS 2020. [arXiv:2002.09437](https://arxiv.org/abs/2002.09437) (table 3)
# - Thulasidasan et al.: *On Mixup Training*. NeurIPS 2019. [arXiv:1905.11001](https://arxiv.org/abs/1905.11001)
# - Liu, Wang, Owens, Li: *Energy-based Out-of-distribution Detection*. NeurIPS 2020. [arXiv:2010.03759](https://arxiv.org/abs/2010.03759)
# - Lakshminarayanan, Pritzel, Blundell: *Simple and Scalable Predictive Uncertainty Estimation using Deep Ensembles*. NeurIPS 2017.
#   [arXiv:1612.01474](https://arxiv.org/abs/1612.01474)
# - Rahaman, Thiery: *Uncertainty Quantification and Deep Ensembles*. NeurIPS 2021. [arXiv:2007.08792](https://arxiv.org/abs/2007.08792)
