# %% [markdown]
# # Evidence beside 04 · Architectures
#
# For readers who want to judge what [the lesson](../04_architectures.ipynb) says: every verdict with its interval, claim by claim, with one conclusion each; settings, sizes, noisier images, photographs, the study's findings, what is left. A verdict is **as trained** where calibration is compared before each side has a temperature of its own.
# Temperatures are fitted by the NLL on `cal`, 2,000 other images of the training distribution.

# %%
import numpy as np
import pandas as pd
from study import contests, reports

from calibkit.course import experiments, verdicts
from calibkit.course.experiments import architectures
from calibkit.course.scale import begin

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% [markdown]
# ## What was trained
#
# Dense networks, convolutions, small vision transformers (*attention*) and MLP-Mixers, *small* and *large*, on digits of 8 x 8 pixels under noise 0.4: 250 (*few*), 1,500 (*usual*) or 6,000 (*many*) images, always 192 steps of 125 images, AdamW with one-cycle rates, five seeds. A *contest* is an architecture, a size, a number of images, and pixels in place or
# exchanged. Each contest has the rate and the weight decay of the least mean NLL on `cal` over the seeds 100 to 102, of seven rates and six decays (but those whose product is 1 or more): by the NLL **as trained** where networks are judged as trained, by the NLL **after T** where they are judged after one. `edge` marks a setting at the end of what was tried.

# %%
size, seeds, device = begin(SCALE, SEED, DEVICE)
stored = contests.stored()
chosen = {by: contests.chosen(stored, by) for by in ("as trained", "after T")}
weights = {
    (kind, name): contests.weights(kind, width)
    for kind in architectures.KINDS
    for name, width in architectures.WIDTHS.items()
}
print("weights:", ", ".join(f"{kind} {n:,} ({name})" for (kind, name), n in weights.items()))
both = [table.assign(by=by) for by, table in chosen.items()]
pd.concat(both).pivot(
    index=list(contests.CONTEST), columns="by", values=["rate", "decay", "NLL", "edge"]
).round(3)

# %%
PARTS = ("test", *(f"noise {noise}" for noise in architectures.NOISES))


def measured(by):
    done = contests.at_best(size, by, seeds, shifted=True, device=device)
    rows = pd.DataFrame([row for one in done.outcomes for row in contests.judged(one, PARTS)])
    return rows[rows.state == by]


found = pd.concat([measured("as trained"), measured("after T")])
columns = ["accuracy", "ECE", "gap", "NLL", "distance", "T", "lost", "claimed"]
on_test = found[found.seen == "test"]
on_test.groupby(["place", "width", "pixels", "state", "kind"], sort=False)[columns].mean().round(3)

# %%
def of(column, kind, state="after T", place="usual", width=32, pixels="in place", seen="test"):
    """A column of the table, one number a seed."""
    wanted = {"kind": kind, "width": width, "place": place, "pixels": pixels, "seen": seen, "state": state}
    part = found[(found[list(wanted)] == pd.Series(wanted)).all(axis=1)]
    return part.sort_values("seed")[column].to_numpy()


def beside(column, kind, rival="convolution", **which):
    return of(column, kind, **which) - of(column, rival, **which)


STATES = ("as trained", "after T")
FAMILIES = ("convolution", "attention", "Mixer")  # of the study
COUNTS = {place: f"{n} images" for place, n in architectures.images(size).items()}


def judge(claim, words, values, state="after T", **how):
    trained = state == "as trained"
    statement = f"{words[0]}{'' if trained else ', one T each'}: {words[1]}"
    return verdicts.judge(claim, statement, values, as_trained=trained, **how)

# %% [markdown]
# ## The study: which architectures are well calibrated
#
# Minderer et al. (2021) compared 180 networks of 16 families on ImageNet and its shifted forms; most had been pretrained on far larger sets. Its findings (O10): the most recent networks without convolution, ViT and MLP-Mixer, are among the best calibrated; within a family larger networks are more accurate and, on images like those of the training, slightly worse
# calibrated; under a shift this is reversed; the families without convolution are more robust. "Well calibrated" is judged here against convolution, each at its own settings.

# %%
photographs = experiments.on_photographs("form", SCALE, device=device)
reports.shown(photographs)

# %%
by_form = {kind: rows.sort_values("seed") for kind, rows in photographs.groupby("value")}


def on_photographs(column, kind):
    return by_form[kind][column].to_numpy() - by_form["convolution"][column].to_numpy()


better = [
    judge(
        "O10",
        (COUNTS[place], f"{kind} has a lower ECE than convolution"),
        beside("ECE", kind, state=state, place=place),
        state,
        expect="below",
    )
    for place in COUNTS
    for kind in ("attention", "Mixer")
    for state in STATES
]

# %%
robust = [
    judge(
        "O10",
        ("noise 0.4 to 0.7", f"{kind}'s ECE rises less than convolution's"),
        beside("ECE", kind, state=state, seen="noise 0.7") - beside("ECE", kind, state=state),
        state,
        expect="below",
    )
    for kind in ("attention", "Mixer")
    for state in STATES
]
larger = [
    judge(
        "O10",
        (words, f"large {kind} has a {'larger' if expect == 'above' else 'lower'} ECE than small"),
        of("ECE", kind, state, seen=seen) - of("ECE", kind, state, width=8, seen=seen),
        state,
        expect=expect,
    )
    for seen, words, expect in (("test", "noise 0.4", "above"), ("noise 0.7", "noise 0.7", "below"))
    for kind in FAMILIES
    for state in STATES
]

# %%
accurate = [
    verdicts.judge(
        "O10",
        f"large {kind} is more accurate than small",
        of("accuracy", kind) - of("accuracy", kind, width=8),
    )
    for kind in FAMILIES
]
real = [reports.verdict("form", photographs), *reports.verdicts("form", photographs)[1:]]
real += [
    verdicts.judge(
        "O10",
        f"photographs, one T each: {kind} has a lower ECE than convolution",
        on_photographs("scaled_ece", kind),
        expect="below",
    )
    for kind in ("attention", "Mixer")
]

# %% tags=["nbval-check-output"]
together = [
    judge(
        "O10",
        ("noise 0.4 to 0.7", f"{kind}'s ECE rises while its accuracy falls"),
        np.minimum(
            of("ECE", kind, state, seen="noise 0.7") - of("ECE", kind, state),
            of("accuracy", kind, state) - of("accuracy", kind, state, seen="noise 0.7"),
        ),
        state,
    )
    for kind in FAMILIES
    for state in STATES
]
print(
    verdicts.conclude(
        "O10",
        [*better, *real, *larger, *accurate, *together, *robust],
        "we could not show that attention or Mixer has a lower ECE than convolution, before or "
        "after a temperature. Under more noise their ECE rises less; larger networks are more "
        "accurate, but we could not show a lower ECE",
    )
)

# %% [markdown]
# "More robust" has a control: dense networks have no convolution either. If the study's finding were one about convolution, their ECE would rise less, too. And accuracy: it falls for all, for the exact posterior too, which is told how strong the noise is.

# %%
for state in STATES:
    shifted = found[(found.place == "usual") & (found.width == 32) & (found.pixels == "in place")]
    means = shifted[shifted.state == state].pivot_table(
        index="kind", columns="seen", values=["accuracy", "ECE"]
    )
    print(state)
    print(means.round(3).to_string())
exact = []
for seed in seeds:
    for name, seen in {
        "test": architectures.digits(size, seed).test,
        **architectures.noisier(size, seed),
    }.items():
        exact.append({"seen": name, **contests.described(seen.posterior, seen)})
pd.DataFrame(exact).groupby("seen")[["accuracy", "ECE", "NLL"]].mean().round(3)

# %%
others, patched = ("attention", "Mixer", "dense"), ("attention", "Mixer")

# %% [markdown]
# ## Pixels exchanged
#
# The 64 pixels are exchanged in all images in the same way: the exact posterior of each image stays, the neighbourhood does not. Attention and Mixer keep their patches, whose content changes; dense networks, which cannot tell the difference, are the control.

# %%
def lost(kind, column="accuracy"):
    return of(column, kind, pixels="exchanged") - of(column, kind)


neighbours = [
    verdicts.judge(
        "04d",
        "pixels exchanged, one T each: convolution has a higher NLL than dense",
        beside("NLL", "convolution", rival="dense", pixels="exchanged"),
    ),
    *(
        verdicts.judge(
            "04d",
            f"convolution's accuracy falls more than {kind}'s, by over 0.01",
            lost("convolution") - lost(kind),
            expect="below",
            margin="accuracy",
        )
        for kind in others
    ),
]

# %%
neighbours += [
    verdicts.judge(
        "04d",
        "control: dense's accuracy changes by less than 0.01",
        lost("dense"),
        expect="within",
        margin="accuracy",
        control=lost("convolution"),
    )
]
neighbours += [
    *(
        verdicts.judge(
            "04d",
            f"{kind}'s accuracy changes by less than 0.01",
            lost(kind),
            expect="within",
            margin="accuracy",
            control=lost("convolution"),
        )
        for kind in patched
    )
]

# %% tags=["nbval-check-output"]
neighbours += [
    verdicts.judge(
        "04d",
        "one T each: convolution's ECE changes by less than 0.01",
        lost("convolution", "ECE"),
        expect="within",
        margin="ECE",
        control=of("ECE", "convolution", "as trained", pixels="exchanged") - of("ECE", "convolution"),
    )
]
print(
    verdicts.conclude(
        "04d",
        neighbours,
        "with exchanged pixels convolution loses far more accuracy than the others, and then has a "
        "higher NLL than dense. Dense's accuracy stays within 1 point; for the accuracy of "
        "attention and Mixer and for convolution's ECE this is undecided",
    )
)

# %% [markdown]
# ## On the map
#
# Across: the accuracy that is lost from training to new images; upwards: what is still claimed. With 250 images one and the same architecture can lie high or low, by its setting alone: as chosen by the NLL as trained, and by the NLL after T (its networks *before* their T).

# %%
places = []
for by in STATES:
    done = contests.at_best(
        size,
        by,
        seeds,
        among={"width": 32, "place": "few", "pixels": "in place"},
        device=device,
        shifted=True,
    )
    rows = pd.DataFrame([row for one in done.outcomes for row in contests.judged(one)])
    places.append(rows[rows.state == "as trained"].assign(by=by))
where = pd.concat(places).groupby(["by", "kind"], sort=False)[["lost", "claimed"]].mean()
where.assign(kappa=where.claimed / where.lost).round(3)

# %% [markdown]
# ## Beside the study, and what is left
#
# | | the study | here |
# |---|---|---|
# | images to learn from | 1.3 to 300 million and more | 250 to 6,000 digits; 5,000 photographs |
# | settings | those of each published network | chosen for each on three seeds |
# | weights | millions to hundreds of millions | thousands, up to 181,000 for photographs |
# | pretraining | most families | none; more images of the task itself are no pretraining |
# | images | 224 x 224 and more, 1,000 classes | 8 x 8 and 32 x 32, ten classes |
# | patches | hundreds of tokens | 4 tokens; 64 for photographs |
# | the truth | unknown | the exact posterior of the digits |
#
# - **Not tested:** pretraining, which this course cannot afford; networks of millions of weights; photographs under corruptions by architecture; sizes of networks on photographs.
# - On digits every architecture has the same number of steps; longer trainings may suit one better than another. On photographs 600 steps are few for a ViT, and four rates with two decays were tried for each (`notebooks/results/strengths/architectures_photographs.csv`), without augmentation.
# - The verdicts on a shift compare an ECE of 4,000 test images with that of 1,500 noisier ones; its bias is the same for all architectures with equal confidence, not otherwise.
# - Hekler et al. (2025, [arXiv:2506.09593](https://arxiv.org/abs/2506.09593)) report that on biomedical images convolutional networks were consistently better calibrated than transformers; so the answer depends on the domain with large networks, too.
