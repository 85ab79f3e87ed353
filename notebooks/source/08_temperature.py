# %% [markdown]
# # 08 · Temperature: what one number repairs, and what it does not
#
# **Question.** A hospital has bought a network that is far too sure of itself. The hospital cannot train the network again, but it has some labelled images. Can it make the probabilities true, and how many images are needed?

# %% tags=["drawing"]
from calibkit.course import explorers

explorers.stored("two_answers")

# %% [markdown]
# One network reads two images. It is equally sure of both answers, but only the answer on the left is right.
# The slider divides all outputs of the network by one number T, before they become probabilities. Can you find a T that
# leaves the answer on the left certain, and makes the answer on the right doubtful?
#
# **You will be able to**
# - repair an over-confident network with one number, and show on new images that the repair works;
# - say what this number cannot repair, and why;
# - choose a repair with more numbers when there are more images, and see when it does harm;
# - recognise three classic mistakes by their diagrams.
#
# **Time.** 40 minutes; 15 more for the homework.
#
# **Needs.** [01 Reliability diagrams](01_reliability_diagrams.ipynb); for the part *The map of this lesson* the map of [03](03_overconfidence.ipynb).
#
# **Next on your path.** *Three hours*, *six evenings*: [17](17_audit_your_model.ipynb). *Practice*: [13](13_shift_and_ood.ipynb). *Decisions*: [19](19_decisions.ipynb). *Language models*: [21](21_language_models.ipynb). *Theory*: [10](10_focal_theory.ipynb). *Teaching*: [06](06_label_noise.ipynb).

# %% tags=["drawing"]
import warnings
from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch

from calibkit import curation, metrics, recalibration
from calibkit.course import check, claims, experiments, verdicts
from calibkit.course.scale import begin
from calibkit.lab import data, models, sweep, training
from calibkit.metrics import plane
from calibkit.pictures import alt_text, palette, plots

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% [markdown]
# ## 1. One number
#
# The answer to the question above: there is no such T. It does not know which answer is right. **Temperature scaling** (Guo et
# al. 2017) divides the logits $z$ by one number $T>0$:
#
# $$p=\mathrm{softmax}(z/T).$$
#
# T > 1 makes every answer less extreme, T < 1 more extreme. T cannot tell right answers from wrong ones. But it *can*
# make the confidence right on average. We choose T on labelled images that were kept aside (`cal`): the network was not
# trained on them. We judge T on other images (`test`).
#
# ### Exercise: the loss at a temperature
#
# *Difficulty: easy · importance: high · 5 minutes*
#
# The **NLL** (negative log-likelihood, the cross-entropy) is the mean of minus the logarithm of the probability that
# was given to the right class. Return the NLL (natural logarithm) of the `labels` when the `logits` (n, K) are divided by `T`;
# logits can be hundreds.

# %%
def my_cooled_nll(logits, labels, T):
    ...  # your code here


check.cooled_nll(my_cooled_nll)

# %% [markdown]
# <details><summary>Hint</summary>
#
# Divide first, then `log_softmax(dim=1)`. Pick each row's entry at its label with `gather(1, labels[:, None])`.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_cooled_nll(logits, labels, T):
#     log_probs = (logits / T).log_softmax(dim=1)
#     return -log_probs.gather(1, labels[:, None]).mean()
# ```
#
# </details>
#
# We train two kinds of network, each with five seeds: *plain*; and *rare digits*, in whose training images some digits
# are rare (the commonest digit is 20 times as common as the rarest).

# %%
size, seeds, device = begin(SCALE, SEED, DEVICE)
K = 10  # classes


@cache
def digits(seed):  # 3.5 times the images that a network learns from: "rare digits" leaves many out
    return data.noisy_digits(int(3.5 * size.train), noise=0.4, seed=seed, calibration=5000, test=size.test)


@cache
def noisier(seed):  # new images with more pixel noise, for section 3
    return data.NoisyDigits(noise=0.55).draw(size.test // 2, seed=1000 + seed)


# %%
def taught_on(kind, seed):
    many = digits(seed).train
    if kind == "rare digits":  # leave images out until some digits are rare, then shuffle
        many = many[curation.imbalance(many.labels, 20, seed=seed).indices]
        many = many[torch.randperm(len(many), generator=torch.Generator().manual_seed(seed))]
    return many[:size.train]  # both kinds learn from equally many images


def recipe(kind, seed):
    _, cal, test = digits(seed)
    score = {"train": taught_on(kind, seed), "cal": cal, "test": test, "noisier": noisier(seed)}
    return training.trial(lambda: models.mlp(64, K), score["train"], score, seed=seed, epochs=size.epochs)


# %%
swept = sweep.run(recipe, {"kind": ["plain", "rare digits"], "seed": seeds}, device=device)
plain, rare = swept.where(kind="plain"), swept.where(kind="rare digits")

# %% tags=["drawing"]
first = swept.one(kind="plain", seed=SEED).predictions["test"]
wrong = first.confidence.where(~first.correct, 0).argmax()  # the surest mistake
right = (first.confidence - first.confidence[wrong]).abs().where(first.correct, 1).argmin()  # as sure
both = torch.stack([right, wrong])


def two_answers(T):
    pictures = digits(SEED).test.inputs[both, 0].clamp(min=0).numpy()
    return explorers.cooled_frame(pictures, first.labels[both].tolist(), first.logits[both], T)


explorers.keep(explorers.Explorer(
    two_answers, explorers.Slider("temperature T", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], start=1),
    description="Two noisy digits, and below each the probability that one network gives to each digit: diamonds as "
    "trained, bars after its logits are divided by T. Left it is right, right it is wrong."), "two_answers")

# %% [markdown]
# **Set T by hand**, on 200 of the images that were kept aside. Run this cell with several T, and look for the lowest NLL. Leave your best T in the cell.

# %%
T = 1.0  # change me

cal = swept.one(kind="plain", seed=SEED).predictions["cal"]
logits, labels = cal.logits[:200], cal.labels[:200]
probs = (logits / T).softmax(dim=1)
print(f"T = {T}: NLL {metrics.nll(probs, labels):.3f}, "
      f"confidence {probs.amax(dim=1).mean():.1%}, accuracy {metrics.accuracy(probs, labels):.1%}")

# %% [markdown]
# The NLL has only one lowest point, so a search finds it at once. Compare your T with the T
# that the search finds, on 4,800 images that were used neither by you nor by the search. As the search had only 200
# images, your T may be better. (The 4,800 images happen to be harder than the 200, so their NLL is larger.)

# %%
scaler = recalibration.TemperatureScaler().fit(logits, labels)
for name, chosen in {"your": T, "fitted": scaler.temperature}.items():
    probs = (cal.logits[200:] / chosen).softmax(dim=1)  # kept aside too, not used above
    print(f"{name} T = {chosen:.2f}: NLL {metrics.nll(probs, cal.labels[200:]):.4f} on 4,800 other images")

# %% [markdown]
# ## 2. The repair, from end to end
#
# Now we judge T on the 10,000 new images of `test`. **Predict before you run:** each network gets a T from 200 images. What is the ECE on new images before and after? And which of these change: the accuracy, the order of
# the confidences (AUROC: how often a right answer is surer than a wrong one)?

# %% tags=["answer", "drawing"]
def fitted(run, n=2000, make=recalibration.TemperatureScaler):
    cal = run.predictions["cal"]
    with warnings.catch_warnings(record=True):  # with few images some fits warn
        return make().fit(cal.logits[:n], cal.labels[:n])


def scored(probs, test):
    confidence, hit = probs.amax(dim=1), probs.argmax(dim=1) == test.labels
    share = torch.bincount(test.labels, minlength=K) / len(test)
    return {"accuracy": metrics.accuracy(probs, test.labels), "ECE": metrics.ece(probs, test.labels),
            "NLL": metrics.nll(probs, test.labels), "AUROC": metrics.auroc(confidence[hit], confidence[~hit]),
            "worst class": (probs.mean(dim=0) - share).abs().max().item()}


def before_and_after(runs, n, split="test"):
    rows = []
    for run in runs:
        new = run.predictions[split]
        for state, probs in {"as trained": new.probs, "after T": fitted(run, n).probs(new.logits)}.items():
            rows.append({"seed": run.setting["seed"], "state": state} | scored(probs, new))
    return pd.DataFrame(rows)


shown = before_and_after(plain, 200)
means = shown.drop(columns=["seed", "worst class"]).groupby("state", sort=False).mean()
fig, axes = plt.subplots(1, 2, figsize=(6, 3.7))
for ax, T in zip(axes, (None, 200), strict=True):
    tests = [(run, run.predictions["test"]) for run in plain]
    probs = torch.cat([new.probs if T is None else fitted(run, T).probs(new.logits) for run, new in tests])
    told = torch.cat([new.labels for _, new in tests])
    _ = plots.draw_reliability(metrics.reliability(probs, told), ax=ax, legend=False)
    _ = ax.set_title("as trained" if T is None else "after T, from 200 images", fontsize=9)
print("ECE {:.1%} before, {:.1%} after; accuracy {:.1%} and {:.1%}; AUROC {:.3f} and {:.3f}".format(
    *means.ECE, *means.accuracy, *means.AUROC))
plt.show()

# %% [markdown]
# <details><summary>What came out</summary>
#
# One number, fitted on 200 images, lowers the ECE of new images from 14 % to 2 %. The answers stay the same, and so does
# the accuracy. The order of the images by confidence hardly changes. (T keeps the order of the classes within an image.
# But with three classes or more it may change which of two images has the higher confidence.)
#
# </details>
#
# **Play.** Change T on the new images. Is the ECE lowest at the same T as the NLL? Move T to the end, and compare the two
# thin upright lines: each stands at the lowest value so far.
#
# <details><summary>What you may have found</summary>
#
# NLL and ECE are both lowest at T = 2.8 here.
#
# </details>

# %% tags=["drawing"]
dial = [tenths / 10 for tenths in range(4, 51, 2)]
news = [run.predictions["test"] for run in plain]
kinds = {"nll": metrics.nll, "ece": metrics.ece, "gap": metrics.signed_gap}
curves = pd.DataFrame([{"T": T} | {name: np.mean([f((new.logits / T).softmax(1), new.labels) for new in news])
                                   for name, f in kinds.items()} for T in dial])
exact_nll = np.mean([metrics.nll(new.posterior, new.labels) for new in news])


def frame(T):
    diagrams = [metrics.reliability((new.logits / T).softmax(1), new.labels) for new in news]
    return explorers.cooling_frame(explorers.pooled(diagrams), curves, T, exact_nll=exact_nll)


slider = explorers.Explorer(
    frame, explorers.Slider("temperature T", dial, start=1.0), play=True,
    description="Left, the reliability diagram of the plain networks of all seeds on test images, with their logits "
    "divided by T: a bar below the diagonal is over-confident. In the middle the NLL, on the right the ECE, drawn up "
    "to the chosen T; a thin upright line stands at the lowest value so far. The black line is the NLL of the exact "
    "posterior.")
explorers.keep(slider, "temperature")
slider

# %% tags=["nbval-check-output"]
error = shown.pivot(index="seed", columns="state", values="ECE")
print(verdicts.judge("T1", "T from 200 images lowers the ECE of new images by at least 10 points",
                     (error["after T"] - error["as trained"]).to_numpy(), expect="below", margin=0.1))
print(claims.concluded("08", "T1"))

# %% [markdown]
# A *verdict* gives the mean over seeds with its 95 % interval; HOLDS means that the whole interval lies where the
# sentence says; REVERSED, that the opposite was measured; INCONCLUSIVE, that the seeds cannot tell. *Post hoc* (in
# section 4) means that we found the claim by a look at these seeds.
#
# ## 3. What one number leaves
#
# **Predict before you run:**
#
# - The network of *rare digits*: does T repair how often it expects each digit, that is, its mean probability of the digit?
# - The plain network: is T enough on images with more pixel noise than `cal` had?
# - Does T lower only the confidence of answers that are probably wrong? (We group the images by the exact probability that the answer is right.)

# %% tags=["answer", "drawing"]
tables = {"plain": before_and_after(plain, 2000), "rare digits": before_and_after(rare, 2000),
          "plain, more pixel noise": before_and_after(plain, 2000, "noisier")}
for name, table in tables.items():
    found = table.groupby("state", sort=False).mean()
    (was, now), (off, still) = found.ECE, found["worst class"]
    print(f"{name}: ECE {was:.1%} as trained, {now:.1%} after T (from 2,000 images)\n"
          f"  largest error of a digit's mean probability: {100 * off:.1f} points as trained, "
          f"{100 * still:.1f} after T")
one = swept.one(kind="plain", seed=SEED)
new, after = one.predictions["test"], fitted(one).probs(one.predictions["test"].logits).amax(dim=1)
truth = new.posterior.gather(1, new.predicted[:, None])[:, 0]
print("\nThree groups of images, by the exact probability that the network's answer is right (plain, one seed):")
groups = {"above 90 %": truth > 0.9, "10 to 90 %": (truth > 0.1) & (truth <= 0.9), "below 10 %": truth <= 0.1}
for words, member in groups.items():
    print(f"{words}: {member.double().mean():.0%} of the images, confidence {new.confidence[member].mean():.0%} "
          f"as trained, {after[member].mean():.0%} after T")

# %% [markdown]
# <details><summary>What came out</summary>
#
# - *Rare digits:* a common digit is said 6 points too often, as trained and after T; rare ones too seldom.
# - *More pixel noise:* T helps, but is not enough: there the network is more over-confident than on `cal`.
# - *Single images:* T lowers the confidence of wrong answers, and also of right answers that need no doubt. The
#   confidence becomes right on average, but not for each patient.
#
# </details>
#
# ### Exercise: a temperature without labels (homework)
#
# *Difficulty: hard · importance: medium · 15 minutes*
#
# New images come without labels, but the accuracy on them is known from elsewhere. Find the T at which the mean confidence of `softmax(logits / T)` equals
# `accuracy`. T lies between 0.05 and 50; find it to within 1 %.

# %%
def my_matching_temperature(logits, accuracy):
    ...  # your code here


check.matching_temperature(my_matching_temperature)

# %% [markdown]
# <details><summary>Hint</summary>
#
# The mean confidence falls as T rises. Halve the range again and again.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_matching_temperature(logits, accuracy):
#     low, high = 0.05, 50.0
#     for _ in range(40):
#         middle = pow(low * high, 0.5)
#         confidence = (logits.double() / middle).softmax(dim=1).amax(dim=1).mean()
#         low, high = (middle, high) if confidence > accuracy else (low, middle)
#     return low
# ```
#
# </details>
#
# ## 4. More images, larger maps
#
# A function that turns the logits into better calibrated ones, as division by T does, is called a recalibration map,
# here *map* for short. (The map of lesson 03 is another thing: a picture of networks.) Larger maps have more numbers
# than one:
#
# - **vector scaling**: a weight and a constant for each class, $w_k z_k+b_k$ (20 numbers);
# - **matrix scaling**: $Wz+b$ (110 numbers), which can use the logit of 8 to correct the probability of 3;
# - **shrunk matrix**: first a temperature, then a small correction, $z/T+A\,z/T+b$. A penalty in the loss keeps the matrix $A$
#   and the constants $b$ small. The strength of the penalty is chosen on the images kept aside, by cross-validation: fit on four fifths, judge
#   on the last fifth, and take each fifth in turn.
#
# For our digits the exact posterior is known. We judge a map by the mean squared distance of its probabilities to it.
#
# **Predict before you run:** with 100 images, which of the four maps (T included) make the plain network *worse* than it was? And which map is best with 5,000?

# %% tags=["answer", "drawing"]
maps = {"temperature": recalibration.TemperatureScaler, "vector": recalibration.VectorScaler,
        "matrix": recalibration.MatrixScaler, "shrunk matrix": recalibration.ShrunkMatrixScaler}
sizes = [100, 500, 5000] if SCALE != "smoke" else [100, 500]


def distance(probs, new):
    return (probs - new.posterior).square().sum(dim=1).mean().item()


rows = []
for kind, runs in {"plain": plain, "rare digits": rare}.items():
    for run in runs:
        new = run.predictions["test"]
        for n in sizes:
            found = {"no map": new.probs}
            found |= {name: fitted(run, n, make).probs(new.logits) for name, make in maps.items()}
            for name, probs in found.items():
                rows.append({"network": kind, "seed": run.setting["seed"], "n": n, "map": name,
                             "distance": distance(probs, new),
                             "diagram": metrics.reliability(probs, new.labels)})
needs = pd.DataFrame(rows)
average = needs.pivot_table(index=["network", "n"], columns="map", values="distance", sort=False)
few = needs[(needs.network == "plain") & (needs.n == 100)].pivot(index="seed", columns="map", values="distance")
many = average.loc[("plain", sizes[-1])]
worse = ", ".join(f"{name} in {(few[name] > few['no map']).sum()} of {len(few)} seeds" for name in maps)
print(f"plain, 100 images, worse than no map: {worse}")
print(f"plain, {sizes[-1]:,} images: nearest to the truth: {many.idxmin()}")
average.round(3)

# %% [markdown]
# <details><summary>What came out</summary>
#
# - *100 images:* the matrix is far worse than no map, and so with 200 images (evidence). On the plain
#   network the vector is undecided: it is worse in three of five seeds.
# - *5,000 images:* the matrix is best, and the shrunk matrix about as good.
# - *Shrunk matrix, 100 images:* on the plain network it is about as near to the truth as one temperature, on the network
#   of rare digits nearer (provided that the 100 images show each digit as often as the new images do).
#
# </details>
#
# **Play.** Which map has the best diagram with 100 images, and which with 5,000?
#
# <details><summary>What you may have found</summary>
#
# With 100 images the diagrams of the temperature and of the shrunk matrix lie nearest to the diagonal; with the matrix
# the network is far too sure. With 5,000 images all four lie near it: a diagram does not show which map is nearest to
# the truth.
#
# </details>

# %% tags=["drawing"]
def needed(name, n):
    there = needs[(needs.network == "plain") & (needs["map"] == name) & (needs.n == n)]
    pooled = explorers.pooled(there.diagram.tolist())
    return explorers.needs_frame(pooled, needs, name, n, nothing="no map", one="temperature")


explorers.Explorer(
    needed, explorers.Slider("map", list(maps), start="matrix"),
    explorers.Slider("images kept aside", sizes, show="{:,}".format, start=sizes[0]),
    description="Left, the reliability diagram of the plain networks of all seeds after the chosen map, fitted on the "
    "chosen number of images. Beside it, for two networks, the mean squared distance to the exact posterior against "
    "the number of images: as trained, after one temperature, and after the chosen map. What lies above the frame is "
    "cut off.")

# %% tags=["nbval-check-output"]
hundred = needs[(needs.network == "rare digits") & (needs.n == 100)]
hundred = hundred.pivot(index="seed", columns="map", values="distance")
print(verdicts.judge("08p", "rare digits, 100 images: a shrunk matrix is nearer to the posterior than one T",
                     (hundred["shrunk matrix"] - hundred["temperature"]).to_numpy(), expect="below",
                     post_hoc=True))
print(claims.concluded("08", "08p"))

# %% [markdown]
# ### Exercise: the hospital's plan
#
# *Difficulty: medium · importance: high · 8 minutes, no code*
#
# The hospital has 300 labelled images in 8 classes; two of the diagnoses were rare in the vendor's training data and are common here. Which maps do you try, how do you choose, and what do you report?
#
# <details><summary>Answer</summary>
#
# Split the images: 200 to fit and choose, 100 to judge what was chosen. Candidates: nothing, one temperature, a
# temperature with a constant for each class (a wrong share of a class multiplies its probability by a factor, so it
# adds a constant to its logit), a shrunk matrix. A free matrix has 72 numbers for 200 images: it needs the penalty.
# Choose by the cross-validated NLL, since on average it is lowest for the true probabilities. Do not choose by the ECE:
# on 100 images the ECE is mostly luck. Report accuracy, confidence minus accuracy, and NLL, each before and after, with
# intervals.
#
# </details>
#
# ## 5. Which mistake made this diagram?
#
# Three hospitals fitted T, and each made a mistake. One fitted T on the *training* images. One divided *probabilities*
# by T in place of logits. One fitted T on images with *wrong labels* (30 % of the labels were drawn at random). Below
# are their diagrams on new images. Which hospital made which mistake? Decide before you open the answer.

# %% tags=["drawing"]
def mistaken(run):
    train, new, cal = (run.predictions[name] for name in ("train", "test", "cal"))
    logits, labels = cal.logits[:2000], cal.labels[:2000]
    shuffled = curation.symmetric_noise(labels, 0.3, classes=K, seed=SEED).labels
    # minus 1, as the package refuses rows that sum to 1; it changes no softmax
    return {"wrong labels": (logits, shuffled, new.logits),
            "training images": (train.logits, train.labels, new.logits),
            "probabilities": (logits.softmax(dim=1) - 1, labels, new.probs - 1)}


answers = {}
for run in plain:
    for name, (logits, labels, given) in mistaken(run).items():
        with warnings.catch_warnings(record=True):
            scaler = recalibration.TemperatureScaler().fit(logits, labels)
        answers.setdefault(name, []).append((scaler.temperature, scaler.probs(given)))
told = torch.cat([run.predictions["test"].labels for run in plain])
fig, axes = plt.subplots(1, 3, figsize=(9, 3.7))
for ax, letter, rows in zip(axes, "ABC", answers.values(), strict=True):
    _ = plots.draw_reliability(metrics.reliability(torch.cat([p for _, p in rows]), told), ax=ax, legend=False)
    _ = ax.set_title(f"hospital {letter}", fontsize=9)
plt.show()

# %% tags=["answer", "drawing"]
for letter, (name, rows) in zip("ABC", answers.items(), strict=True):
    probs = torch.cat([p for _, p in rows])
    print(f"hospital {letter}: {name}, T = {np.mean([T for T, _ in rows]):.2f}, confidence - accuracy "
          f"{metrics.signed_gap(probs, told):+.1%}, ECE {metrics.ece(probs, told):.1%}")
largest = [p.max().item() for _, p in answers["probabilities"]]
print(f"largest confidence of hospital C: {min(largest):.1%} to {max(largest):.1%} in the five networks")

# %% [markdown]
# <details><summary>What came out</summary>
#
# - A, *wrong labels:* the network looks worse than it is for new patients, so T is too high.
# - B, *training images:* on them the network is always right. T falls to its lower limit, and every answer becomes
#   certain.
# - C, *probabilities:* the most extreme are 1 for one class, 0 for the other nine. T = 0.25 makes them 4 and 0. So a
#   confidence is at most $e^4/(e^4+9e^0)$, 86 % (with the smallest T 88 %). The average is nearly right, the diagram
#   is not.
#
# The package stops if rows sum to 1, since these are probabilities, and warns when T reaches a limit.
#
# </details>
#
# **Photographs.** Does T work for photographs? Here are [stored runs](from_laptop_to_paper.md) of three other lessons,
# on CIFAR-10:

# %% tags=["drawing"]
tables = [experiments.on_photographs(name, SCALE, device=device) for name in ("focal", "mixup", "noise")]
photographs = pd.concat([table.assign(value=table.value.astype(str)) for table in tables])
photographs = photographs.drop_duplicates(["seed", "test_ece", "temperature"])  # a run can stand in two tables
agree = (photographs.test_gap > 0) == (photographs.temperature > 1)
print(f"In {agree.sum()} of {len(photographs)} runs T is above 1 where the network is too sure, and below 1 where "
      f"it is not sure enough.\nECE {photographs.test_ece.mean():.1%} on average as trained, "
      f"{photographs.scaled_ece.mean():.1%} after T.")

# %% [markdown]
# (In the other three T is within 3 % of 1.)
#
# **The map of this lesson.** Across: the accuracy that is lost on new images. Upwards: confidence minus accuracy, the part
# of the lost accuracy that is still claimed. **Predict:** in which direction does T move a network?

# %% tags=["answer", "drawing"]
def spot(run, T):
    learned, new = run.predictions["train"], run.predictions["test"]
    correct = [part.correct.double().mean().item() for part in (learned, new)]
    return plane.place(*correct, (new.logits.double() / T).softmax(1).amax(1).mean().item())


steps = {"T = 1": [spot(run, 1.0) for run in plain], "T = 2": [spot(run, 2.0) for run in plain],
         "fitted T": [spot(run, fitted(run).temperature) for run in plain]}
for name, places in steps.items():
    print(f"{name}: {np.mean(places, axis=0)[0]:.2f} lost, {np.mean(places, axis=0)[1]:+.2f} claimed")
_ = plots.plane({palette.group(k, name): places for k, (name, places) in enumerate(steps.items())})
plt.show()

# %% [markdown]
# <details><summary>What came out</summary>
#
# Straight down, to about zero: the accuracy that was lost stays lost, but the network does not claim it any more.
#
# </details>
#
# ## The answer

# %% tags=["drawing"]
def left_over(n, draws):
    """The ECE on new images, with T from each of so many blocks of n images, for each network."""
    found = []
    for run in plain:
        cal, new = run.predictions["cal"], run.predictions["test"]
        for block in range(draws):
            rows = slice(block * n, (block + 1) * n)
            scaler = recalibration.TemperatureScaler().fit(cal.logits[rows], cal.labels[rows])
            found.append(metrics.ece(scaler.probs(new.logits), new.labels))
    return np.array(found)


print(f"as trained: ECE on new images {np.mean([metrics.ece(new.probs, new.labels) for new in news]):.1%}")
for n, draws in {50: 20, 200: 20, 1000: 5}.items():
    found = left_over(n, draws)
    print(f"T from {n:,} images, fitted {len(found)} times: ECE {found.mean():.1%} on average, above 5.0% in "
          f"{(found > 0.05).mean():.0%} of the fits, at most {found.max():.1%}")


# %% [markdown]
# **On average, yes, for images of the same kind: one temperature takes most of the over-confidence away (only a part
# of it on images with more noise). For the plain network fifty images often bring the ECE below 5 %, two hundred
# nearly always. One temperature repairs neither the confidence of single images nor the mean probability of a class
# that was rare in training.**
#
# ## Three things to take away
#
# 1. Divide the logits by one T, fitted on images kept aside. The answers stay the same, and the confidence becomes
#    right on average.
# 2. One T repairs neither the mean probability of a class that was rare in training, nor the confidence of single
#    images, nor all over-confidence on noisier images.
# 3. More numbers need more images, or a penalty chosen by cross-validation: with few images a shrunk matrix was as good as a temperature (better where digits were rare), with many about as good as a matrix.
#
# ## Recall
#
# <details><summary>1. A network's logits are all multiplied by 3. What happens to its fitted T, and to its probabilities after T?</summary>
#
# T becomes three times as large. The probabilities after T are the same.
#
# </details>
#
# <details><summary>2. Why does T leave the accuracy alone?</summary>
#
# All logits of an image are divided by the same positive number, so the largest one stays the largest.
#
# </details>
#
# <details><summary>3. T = 0.8 was fitted. Was the network too sure, or not sure enough?</summary>
#
# Not sure enough: its logits had to be enlarged.
#
# </details>
#
# <details><summary>4. After T the ECE is 1 %. May a doctor trust the "70 %" of one patient?</summary>
#
# Not yet. The ECE is a mean over all confidences: near 70 % the accuracy may differ more from the confidence. And an accuracy is a share of many patients, who differ. Look at the bin of 70 %, and at groups of patients.
#
# </details>
#
# <details><summary>5. Which map for 100 images in ten classes, which for 5,000?</summary>
#
# For 100 images one temperature, or a shrunk matrix, whose penalty can keep it near a temperature. For 5,000 images a
# shrunk matrix or a matrix.
#
# </details>
#
# ## Go further
#
# On images with more pixel noise the T of section 3 was too low. Suppose that the accuracy on these images is known.
# Which ECE do you reach with the T of the homework, and which with a T that is fitted on the labels of these images?
# (`one` and `fitted` come from folded cells: one plain network, and a function that fits T.)
#
# <details><summary>Answer</summary>
#
# ```python
# from scipy.optimize import brentq
#
# far = one.predictions["noisier"]
# accuracy = metrics.accuracy(far.probs, far.labels)
#
# def gap(T):
#     return (far.logits.double() / T).softmax(dim=1).amax(dim=1).mean().item() - accuracy
#
# on_labels = recalibration.TemperatureScaler().fit(far.logits, far.labels).temperature
# for name, T in {"from section 3": fitted(one).temperature, "matched": brentq(gap, 0.05, 50), "fitted": on_labels}.items():
#     print(f"{name}: T = {T:.2f}, ECE {metrics.ece((far.logits / T).softmax(dim=1), far.labels):.1%}")
# ```
#
# With the T of the homework the ECE is nearly as low as with the T from labels. But we assumed that the accuracy is known.
#
# </details>
#
# All verdicts, two ways to fit T, its interval, maps class by class, and what no temperature removes are in the [evidence](evidence/08_temperature.ipynb).
#
# Next: [09 Soft targets](09_soft_targets.ipynb), or the next lesson on your path (see the top). Your numbers differ from ours? See [your numbers differ?](your_numbers_differ.md).
#
# ## References
#
# - Guo, Pleiss, Sun, Weinberger: *On Calibration of Modern Neural Networks*. ICML 2017. [arXiv:1706.04599](https://arxiv.org/abs/1706.04599)
# - Kull, Silva Filho, Flach: *Beyond sigmoids* (beta calibration). EJS 11, 2017. [doi:10.1214/17-EJS1338SI](https://doi.org/10.1214/17-EJS1338SI)
# - Mukhoti et al.: *Calibrating Deep Neural Networks using Focal Loss*. NeurIPS 2020.
#   [arXiv:2002.09437](https://arxiv.org/abs/2002.09437) (section 5, table H.1)
# - Müller, Kornblith, Hinton: *When Does Label Smoothing Help?* NeurIPS 2019. [arXiv:1906.02629](https://arxiv.org/abs/1906.02629)
# - Zadrozny, Elkan: *Obtaining calibrated probability estimates ...* ICML 2001; *Transforming classifier scores ...* KDD 2002. [doi:10.1145/775047.775151](https://doi.org/10.1145/775047.775151)
# - Zhang, Kailkhura, Han: *Mix-n-Match*. ICML 2020.
#   [arXiv:2003.07329](https://arxiv.org/abs/2003.07329)
