# %% [markdown]
# # 08 · Temperature: what one number repairs, and what it does not
#
# **Question.** A hospital has bought a network that is far too sure: on new images it is 93 % sure, and right on 79 %. It
# cannot train it again, but it has 200 labelled images. "One number repairs it," says Eve. "Then I tell each patient: 90 %
# means 90 %," says Ben. What does one number repair, and may Ben say that?
#
# **Predict before you run:** below is this network with two images. It is 100 % sure of both answers; the left one is correct,
# that on the right is wrong. Eve divides all its raw scores by 6. Now it is 82 % sure of the answer that is right. How sure is it
# of the answer that is wrong? Write down a number, run the cell, and move the slider to 6.

# %% tags=["answer"]
from calibkit.course import explorers

explorers.stored("two_answers")

# %% [markdown]
# <details><summary>What came out</summary>
#
# 80 %. The number does not know which answer is right: it lowers both alike. Move on to 10: no number leaves the correct answer
# certain and makes the wrong one doubtful.
#
# </details>
#
# **Time.** 40 minutes; 35 more for the homework, which is all under "Go further".
#
# **Needs.** [01 Reliability diagrams](01_reliability_diagrams.ipynb).
#
# **Next on your path.** *Three hours*, *six evenings*: [17](17_audit_your_model.ipynb). *Practice*: [13](13_shift_and_ood.ipynb). *Decisions*: [19](19_decisions.ipynb). *Language models*: [21](21_language_models.ipynb). *Theory*: [10](10_focal_theory.ipynb). *Teaching*: [06](06_label_noise.ipynb).

# %% tags=["drawing"]
import warnings
from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from torch.utils.data import DataLoader, TensorDataset

import calibkit
from calibkit import curation, metrics, recalibration
from calibkit.course import check, verdicts
from calibkit.course.experiments import real_network
from calibkit.course.scale import begin
from calibkit.lab import data, models, sweep, training
from calibkit.pictures import plots

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% [markdown]
# Two kinds of network, five of each: *plain*, as above; and *rare digits*, in whose training images the commonest digit
# is 20 times as common as the rarest. **Numbers are means over the five networks, unless "first network" or "one seed" is said; a diagram shows the first.**

# %% tags=["drawing"]
size, seeds, device = begin(SCALE, SEED, DEVICE)
K = 10  # classes


@cache
def digits(seed):  # 3.5 times the images that a network learns from: "rare digits" leaves many out
    return data.noisy_digits(int(3.5 * size.train), noise=0.4, seed=seed, calibration=5000, test=size.test)


@cache
def noisier(seed):  # new images with more pixel noise, for section 3
    return data.NoisyDigits(noise=0.55).draw(size.test // 2, seed=1000 + seed)


def taught_on(kind, seed):
    many = digits(seed).train
    if kind == "rare digits":  # leave images out until some digits are rare, then shuffle
        many = many[curation.imbalance(many.labels, 20, seed=seed).indices]
        many = many[torch.randperm(len(many), generator=torch.Generator().manual_seed(seed))]
    return many[:size.train]  # both kinds learn from equally many images

# %% tags=["drawing"]
def recipe(kind, seed):
    _, cal, test = digits(seed)
    score = {"train": taught_on(kind, seed), "cal": cal, "test": test, "noisier": noisier(seed)}
    return training.trial(lambda: models.mlp(64, K), score["train"], score, seed=seed, epochs=size.epochs)


swept = sweep.run(recipe, {"kind": ["plain", "rare digits"], "seed": seeds}, device=device)
plain, rare = swept.where(kind="plain"), swept.where(kind="rare digits")
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
# ## 1. Eve divides
#
# **Temperature scaling** (Guo et al. 2017) divides the logits $z$, the raw scores, by one number $T>0$:
#
# $$p=\mathrm{softmax}(z/T).$$
#
# T > 1 makes every answer less sure, T < 1 surer. The **NLL** (negative log-likelihood, the cross-entropy) is the mean of minus the
# logarithm of the probability that the network gave to the correct class. On average, no probabilities have a lower NLL than the true ones. So Eve
# takes the T that comes nearest: that with the lowest NLL, on images that the network has not learned (`cal`).
#
# **Your move.** Be Eve, with the 200 images of the hospital. Try three values of T; which has the lowest NLL?

# %%
T = 1.0  # change me

cal = swept.one(kind="plain", seed=SEED).predictions["cal"]
logits, labels = cal.logits[:200], cal.labels[:200]
probs = (logits / T).softmax(dim=1)
print(f"T = {T}: NLL {metrics.nll(probs, labels):.3f}, "
      f"{probs.amax(dim=1).mean():.1%} sure, {metrics.accuracy(probs, labels):.1%} right")

# %% [markdown]
# Too low is bad, too high is bad, and there is one lowest point. A program finds it.
#
# ### Exercise: the fitted temperature
#
# *Difficulty: medium · importance: high · 10 minutes*
#
# Return the T between 0.05 and 50 with the lowest NLL of the `labels` (n,), with the `logits` (n, K) divided by T, to
# within 1 %. All that follows, and lesson 17, use yours.

# %%
def my_fitted_temperature(logits, labels):
    # 1. a function of T: the mean of minus the log-probability of the label, in float64
    # 2. the ends of the search: low = 0.05, high = 50.0
    # 3. 60 times: try T at one third and at two thirds of the way from low to high; where the first is
    #    worse, it is the new low, else the second is the new high
    # 4. what is left between the ends is T
    ...


check.fitted_temperature(my_fitted_temperature)

# %% [markdown]
# <details><summary>Hint</summary>
#
# `torch.nn.functional.cross_entropy(logits / T, labels)` is the NLL; take `logits.double()`, as near the lowest point it hardly
# changes. A third of the way is `(2 * low + high) / 3`; or, since T is a factor, `low ** (2 / 3) * high ** (1 / 3)`.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_fitted_temperature(logits, labels):
#     def nll(T):
#         return torch.nn.functional.cross_entropy(logits.double() / T, labels)
#
#     low, high = 0.05, 50.0
#     for _ in range(60):
#         left, right = low ** (2 / 3) * high ** (1 / 3), low ** (1 / 3) * high ** (2 / 3)
#         if nll(left) > nll(right):
#             low = left
#         else:
#             high = right
#     return low
# ```
#
# </details>

# %%
check.keep(my_fitted_temperature)

# %% [markdown]
# Who was nearer, you or the search? The 4,800 other images of `cal` decide. You may win: with 200 images luck plays a part. (As trained the NLL is 0.677 on the
# 200 and 0.962 on the others: 83 % of the 200 are right, of all images 79 %, and answers that are sure and wrong cost most.)

# %%
from calibkit.course.mine import fitted_temperature

for name, chosen in {"your": T, "fitted": fitted_temperature(logits, labels)}.items():
    probs = (cal.logits[200:] / chosen).softmax(dim=1)
    print(f"{name} T = {chosen:.2f}: NLL {metrics.nll(probs, cal.labels[200:]):.4f} on 4,800 other images")

# %% [markdown]
# ## 2. What it repairs
#
# The rule of the hospital: an answer of 90 % or more goes out at once, a doctor reads the other images. As trained, 788 of
# 1,000 new images go out, 102 of them with a wrong answer.

# %% tags=["drawing"]
def fitted(run, n=2000):
    """The T of the first n images of cal, 1 with no image."""
    cal = run.predictions["cal"]
    return float(fitted_temperature(cal.logits[:n], cal.labels[:n])) if n else 1.0


def divided(run, n, split="test"):
    return (run.predictions[split].logits / fitted(run, n)).softmax(dim=1)


def scored(probs, test):
    confidence, hit = probs.amax(dim=1), probs.argmax(dim=1) == test.labels
    share, out = torch.bincount(test.labels, minlength=K) / len(test), confidence >= 0.9
    return {"accuracy": metrics.accuracy(probs, test.labels), "ECE": metrics.ece(probs, test.labels),
            "AUROC": metrics.auroc(confidence[hit], confidence[~hit]),
            "worst class": (probs.mean(dim=0) - share).abs().max().item(),
            "out": 1000 * out.double().mean().item(), "wrong": 1000 * (out & ~hit).double().mean().item()}


def before_and_after(runs, n, split="test"):
    return pd.DataFrame([{"seed": run.setting["seed"], "state": state}
                         | scored(divided(run, many, split), run.predictions[split])
                         for run in runs for state, many in {"as trained": 0, "after T": n}.items()])

# %% [markdown]
# **Predict before you run:** the logits of each network are divided by the T of its 200 images. How many of 1,000 now go out with a wrong
# answer?

# %% tags=["answer", "drawing"]
# your guess first, then run this cell
shown = before_and_after(plain, 200)
means = shown.drop(columns=["seed", "worst class"]).groupby("state", sort=False).mean()
one = swept.one(kind="plain", seed=SEED)
fig, axes = plt.subplots(1, 2, figsize=(6, 3.7))
for ax, (state, n) in zip(axes, {"as trained": 0, "after T": 200}.items(), strict=True):
    drawn = metrics.reliability(divided(one, n), one.predictions["test"].labels)
    _ = plots.draw_reliability(drawn, ax=ax, legend=False)
    _ = ax.set_title(f"first network, {state}", fontsize=9)
for state, row in means.iterrows():
    print(f"{state}: of 1,000 new images {row.out:.0f} go out, {row.wrong:.0f} of them wrong")
print("ECE {:.1%} before, {:.1%} after; accuracy {:.1%} and {:.1%}; AUROC {:.3f} and {:.3f}".format(
    *means.ECE, *means.accuracy, *means.AUROC))
plt.show()

# %% tags=["nbval-check-output"]
error = shown.pivot(index="seed", columns="state", values="ECE")
print(verdicts.judge("T1", "T from 200 images lowers the ECE of new images by at least 10 points",
                     (error["after T"] - error["as trained"]).to_numpy(), expect="below", margin=0.1))

# %% [markdown]
# <details><summary>What came out</summary>
#
# 15, in place of 102. The price: 429 go out, and the doctor reads the others. The ECE falls from 14 % to 2 %. The accuracy
# is the same, as the largest score of an image stays the largest. The order of the images by confidence hardly changes
# (**AUROC**: how often a right answer is surer than a wrong one). It changes a little, because T moves an image with two high
# scores otherwise than one with ten middling ones.
#
# The *verdict* gives the mean difference of the five networks with its 95 % interval. HOLDS: all of it lies below -10 points.
#
# </details>
#
# ### And a real one
#
# DenseNet-100 of lesson 00 on photographs: 90 % sure, 75 % right. Only its confidences and hits were published, which give no NLL.
# So we take the T at which it is as sure as it is right on the first 5,000 photographs. The other 5,000 judge.

# %%
real = real_network.answers()  # confidence: a row for each T
gaps = real.confidence[:, :5000].mean(axis=1) - real.right[:5000].mean()
closed = abs(gaps).argmin()
right = real.right[5000:]
for row in (real.temperatures.tolist().index(1.0), closed):
    sure = real.confidence[row, 5000:]
    out = sure >= 0.9
    print(f"T = {real.temperatures[row]}: {sure.mean():.1%} sure, {right.mean():.1%} right; of 1,000 "
          f"photographs {1000 * out.mean():.0f} go out, {1000 * (out & ~right).mean():.0f} of them wrong")

# %% [markdown]
# ## 3. What one number leaves
#
# "So 90 % means 90 %," says Ben, "for each digit, on each scanner, for each patient." Ada tries all three: networks that have seen some
# digits rarely (each is on 10 % of the images, so its mean probability should be 10 %); images with more noise than those that T was fitted on; and, with the first network alone, single images, of which we
# know how likely the answer is to be right. (T is from 2,000 images from here on, so that luck plays no part.)
#
# **Predict before you run:** where the answer is almost certainly right, the plain network is 96 % sure, as it should be. How sure is it
# there after T?

# %% tags=["answer", "drawing"]
# your guess first, then run this cell
tables = {"plain": before_and_after(plain, 2000), "rare digits": before_and_after(rare, 2000),
          "plain, more pixel noise": before_and_after(plain, 2000, "noisier")}
for name, table in tables.items():
    found = table.groupby("state", sort=False).mean()
    (was, now), (off, still) = found.ECE, found["worst class"]
    print(f"{name}: ECE {was:.1%} as trained, {now:.1%} after T (from 2,000 images)\n"
          f"  largest error of a digit's mean probability: {100 * off:.1f} points as trained, "
          f"{100 * still:.1f} after T")
one = swept.one(kind="plain", seed=SEED)
new, after = one.predictions["test"], divided(one, 2000).amax(dim=1)
truth = new.posterior.gather(1, new.predicted[:, None])[:, 0]
print("\nThree groups of images, by the exact probability that the network's answer is right (plain, one seed):")
groups = {"above 90 %": truth > 0.9, "10 to 90 %": (truth > 0.1) & (truth <= 0.9), "below 10 %": truth <= 0.1}
for words, member in groups.items():
    print(f"{words}: {member.double().mean():.0%} of the images, confidence {new.confidence[member].mean():.0%} "
          f"as trained, {after[member].mean():.0%} after T")

# %% [markdown]
# <details><summary>What came out</summary>
#
# - *Each patient?* No. Answers that are right with more than 90 % need no doubt, and fall to 86 %; those that are right with less
#   than 10 % still have 59 %.
# - *Each digit?* No. The largest error of a digit, of networks that saw it rarely, is 5.6 points in place of 5.9: one T
#   for all cannot take from one digit and give to another.
# - *Each scanner?* No: on noisier images the ECE falls from 26.5 % to 11.3 %; on images as it learned, to about 1 %.
#
# </details>
#
# ## The answer
#
# **One number, from 200 labelled images, makes the confidence right on average, for images of the same kind: the ECE falls
# from 14 % to 2 %, and of 1,000 images 15 go out wrong, not 102 (and fewer go out: 429, not
# 788). But Ben may not say it: not of each digit, not of another
# scanner, and not of each patient.**
#
# ## Three things to take away
#
# 1. Divide the logits by one T, fitted on images kept aside. The answers stay; the confidence becomes right on average.
# 2. T lowers right answers, too. It cannot know which is which.
# 3. What differs between classes, scanners or patients needs more than one number, and more images.
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
# ## Go further
#
# *All that follows may be left out.*
#
# ### Your own network
#
# A torch network and a `DataLoader`, logits, a temperature from images kept aside, and an **audit**, the list of measurements of lesson 17:

# %%
network = training.fit(lambda: models.mlp(64, K), taught_on("plain", SEED), epochs=size.epochs, seed=SEED,
                       device="cpu", progress=False).model  # or yours

def answers_to(images):
    loader = DataLoader(TensorDataset(images.inputs, images.labels), batch_size=256)  # or yours
    network.eval()
    with torch.no_grad():
        batches = [(network(inputs), labels) for inputs, labels in loader]
    return [torch.cat(part) for part in zip(*batches, strict=True)]

scaler = recalibration.TemperatureScaler().fit(*answers_to(digits(SEED).calibration))
logits, labels = answers_to(digits(SEED).test[:2000])
print(calibkit.audit(scaler.transform(logits), labels))

# %% [markdown]
# **Beware of rounding.** Store logits. Of a file with probabilities of three decimals, lesson 17 finds a T of 1.94, where the logits give 3.11.
# Other libraries: [your model](your_model.md).
#
# ### Each T on the new images
#
# The first network again: is the ECE lowest at the same T as the NLL? The thin upright lines stand at the lowest value so far.

# %% tags=["drawing"]
dial = [tenths / 10 for tenths in range(4, 51, 2)]
new = one.predictions["test"]
kinds = {"nll": metrics.nll, "ece": metrics.ece, "gap": metrics.signed_gap}
curves = pd.DataFrame([{"T": T} | {name: f((new.logits / T).softmax(1), new.labels) for name, f in kinds.items()}
                       for T in dial])
exact_nll = metrics.nll(new.posterior, new.labels)


def frame(T):
    diagram = metrics.reliability((new.logits / T).softmax(1), new.labels)
    return explorers.cooling_frame(diagram, curves, T, exact_nll=exact_nll)


slider = explorers.Explorer(
    frame, explorers.Slider("temperature T", dial, start=1.0), play=True,
    description="Left, the reliability diagram of the first plain network on test images, with its logits "
    "divided by T: a bar below the diagonal is over-confident. In the middle the NLL, on the right the ECE, drawn up "
    "to the chosen T; a thin upright line stands at the lowest value so far. The black line is the NLL of the exact "
    "posterior.")
explorers.keep(slider, "temperature")
slider

# %% [markdown]
# ### Fifty images, or a thousand?

# %%
for n, blocks in {50: 20, 200: 20, 1000: 5}.items():
    left = []
    for run in plain:
        cal, new = run.predictions["cal"], run.predictions["test"]
        for start in range(0, blocks * n, n):
            block = slice(start, start + n)
            scaler = recalibration.TemperatureScaler().fit(cal.logits[block], cal.labels[block])
            left.append(metrics.ece(scaler.probs(new.logits), new.labels))
    left = np.array(left)
    print(f"T from {n:,} images, {len(left)} times: ECE {left.mean():.1%} on average, "
          f"above 5.0% in {(left > 0.05).mean():.0%}")

# %% [markdown]
# Fifty images often bring the ECE below 5 %, two hundred nearly always. (`TemperatureScaler` is the package's form of your function.)
#
# ### Which mistake made this diagram?
#
# Three hospitals fitted T, and each made a mistake. One fitted T on the *training* images. One divided *probabilities*
# by T in place of logits. One fitted T on images with *wrong labels* (30 % of the labels were drawn at random). Below
# are their diagrams on new images (five networks together). Which hospital made which mistake?

# %% tags=["drawing"]
def mistaken(run):
    train, new, cal = (run.predictions[name] for name in ("train", "test", "cal"))
    logits, labels = cal.logits[:2000], cal.labels[:2000]
    shuffled = curation.symmetric_noise(labels, 0.3, classes=K, seed=SEED).labels
    # minus 1, as the package refuses rows that sum to 1; it changes no softmax
    return {"wrong labels": (logits, shuffled, new.logits),
            "training images": (train.logits, train.labels, new.logits),
            "probabilities": (logits.softmax(dim=1) - 1, labels, new.probs - 1)}


told = torch.cat([run.predictions["test"].labels for run in plain])
answers = {}
for run in plain:
    for name, (logits, labels, given) in mistaken(run).items():
        with warnings.catch_warnings(record=True):
            scaler = recalibration.TemperatureScaler().fit(logits, labels)
        answers.setdefault(name, []).append((scaler.temperature, scaler.probs(given)))
fig, axes = plt.subplots(1, 3, figsize=(9, 3.7))
for ax, letter, rows in zip(axes, "ABC", answers.values(), strict=True):
    _ = plots.draw_reliability(metrics.reliability(torch.cat([p for _, p in rows]), told), ax=ax, legend=False)
    _ = ax.set_title(f"hospital {letter}", fontsize=9)
plt.show()

# %% tags=["answer", "drawing"]
# your guess first, then run this cell
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
# ### More images, larger maps
#
# What turns logits into better calibrated ones, as division by T does, is called a recalibration map. Larger maps have more numbers:
#
# - **vector scaling**: a weight and a constant for each class, $w_k z_k+b_k$ (20 numbers);
# - **matrix scaling**: $Wz+b$ (110 numbers), which can use the logit of 8 to correct the probability of 3;
# - **shrunk matrix**: first a temperature, then a small correction, $z/T+A\,z/T+b$. A penalty keeps $A$ and $b$ small. How
#   strong it is, cross-validation chooses on the images kept aside: fit on four fifths, judge on the last, each in turn.
#
# We judge a map by the mean squared distance of its probabilities to the exact posterior.
#
# **Predict before you run:** with 100 images, which of the four maps (T included) make the plain network *worse* than it was? And which map is best with 5,000?

# %% tags=["answer", "drawing"]
# your guess first, then run this cell
maps = {"temperature": recalibration.TemperatureScaler, "vector": recalibration.VectorScaler,
        "matrix": recalibration.MatrixScaler, "shrunk matrix": recalibration.ShrunkMatrixScaler}
sizes = [100, 500, 5000] if SCALE != "smoke" else [100, 500]


def distances(run, n):
    """By map, fitted on n images: the mean squared distance to the posterior of new images."""
    cal, new = run.predictions["cal"], run.predictions["test"]
    found = {"no map": new.probs}
    with warnings.catch_warnings(record=True):  # with few images some fits warn
        found |= {name: make().fit(cal.logits[:n], cal.labels[:n]).probs(new.logits) for name, make in maps.items()}
    return {name: (probs - new.posterior).square().sum(dim=1).mean().item() for name, probs in found.items()}


needs = pd.DataFrame([{"network": kind, "n": n} | distances(run, n)
                      for kind, runs in {"plain": plain, "rare digits": rare}.items() for run in runs for n in sizes])
average = needs.groupby(["network", "n"]).mean()
few = needs[(needs.network == "plain") & (needs.n == 100)]
worse = ", ".join(f"{name} in {(few[name] > few['no map']).sum()} of {len(few)} seeds" for name in maps)
print(f"plain, 100 images, worse than no map: {worse}")
print(f"plain, {sizes[-1]:,} images: nearest to the truth: {average.loc[('plain', sizes[-1])].idxmin()}")
average.round(3)

# %% [markdown]
# <details><summary>What came out</summary>
#
# - *100 images:* the matrix is far worse than no map. On the plain network the vector is undecided: it is worse in three of
#   five seeds.
# - *5,000 images:* the matrix is best, and the shrunk matrix about as good.
# - *Rare digits, 100 images:* the shrunk matrix is nearer to the truth than one temperature (provided that the 100 images show each
#   digit as often as the new images do).
#
# </details>
#
# ### Exercise: the hospital's plan
#
# *Difficulty: medium · importance: medium · 8 minutes, no code*
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
# All verdicts, other maps, two ways to fit T and its interval: [evidence](evidence/08_temperature.ipynb). Your numbers
# differ? [Why](your_numbers_differ.md).
#
# ## References
#
# - Guo, Pleiss, Sun, Weinberger: *On Calibration of Modern Neural Networks*. ICML 2017. [arXiv:1706.04599](https://arxiv.org/abs/1706.04599)
