# %% [markdown]
# # 13 · Shift and strange inputs: what can you know without a label?
#
# **Question.** A hospital replaces its scanner, and the new images are noisier. Nobody has labelled one of them yet.
# How often is the network right on them? And can anybody tell before the first label?

# %% tags=["drawing"]
from calibkit.course import explorers

explorers.stored("new_scanner")

# %% [markdown]
# Below each digit stand the probabilities of all classes. Bars: a network that was trained under noise 0.4. Diamonds: the
# best possible reader, who knows the noise. Move the slider to the right. Which of the two begins to doubt? (We chose
# digits on which the network stays sure.)
#
# **You will be able to**
# - say why confidence does not follow accuracy when the images change;
# - predict the accuracy on new images without a label, and see when this fails;
# - say why "how sure?" and "how strange?" are two questions.
#
# **Time.** 45 minutes; 15 more for the homework.
#
# **Needs.** [08 Temperature](08_temperature.ipynb); for section 6 the map of [03](03_overconfidence.ipynb).
#
# **Next on your path.** *Practice*: [17](17_audit_your_model.ipynb).

# %% tags=["drawing"]
from functools import cache, partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch

from calibkit import corruptions, metrics, recalibration
from calibkit.course import check, claims, experiments, verdicts
from calibkit.course.experiments import shifted
from calibkit.course.scale import begin
from calibkit.lab import data, models, sweep, training
from calibkit.metrics import plane
from calibkit.pictures import palette, plots

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% [markdown]
# ## 1. The accuracy falls. Does the confidence?
#
# A **distribution shift** is a change of the images between training and use. Our first shift is stronger pixel noise: such
# an image says less about its label.

# %% tags=["drawing"]
size, seeds, device = begin(SCALE, SEED, DEVICE)
strengths = [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]


@cache
def splits(seed):
    return data.noisy_digits(size.train, noise=0.4, seed=seed, test=1)  # we draw our own tests


def logits_of(outcome, images):
    with torch.no_grad():
        return outcome.model.cpu()(images).double()


def judge(probs, answers):
    return {"accuracy": metrics.accuracy(probs, answers), "confidence": probs.amax(dim=1).mean().item(),
            "gap": metrics.signed_gap(probs, answers), "ECE": metrics.ece(probs, answers)}


# %% [markdown]
# The old scanner has noise 0.4. We train one network for each seed on its images.

# %%
def recipe(seed):
    train, cal, _ = splits(seed)
    network = partial(models.mlp, 64, 10, width=128)
    return training.trial(network, train, {"train": train, "cal": cal}, seed=10 * seed, epochs=size.epochs)


swept = sweep.run(recipe, {"seed": seeds}, device=device)

# %% [markdown]
# **Predict before you run:** with the old scanner the network is right on 78 % of the images, and 93 % sure on average. At
# noise 0.8 it is right on less than half. How sure is it then: about 90, 70 or 50 %?

# %% tags=["answer"]
for noise in (0.4, 0.6, 0.8, 1.0):
    rows = []
    for one in swept.outcomes:
        images, answers = shifted.draw(size.test // 5, one.setting["seed"], noise)
        rows.append(judge(logits_of(one, images).softmax(dim=1), answers))
    found = pd.DataFrame(rows).mean()
    print(f"noise {noise}: right on {found.accuracy:.1%}, {found.confidence:.1%} sure")

# %% [markdown]
# <details><summary>What came out</summary>
#
# About 90 %, and so it is at every noise. The accuracy falls by half, and the confidence does not show it.
#
# </details>
#
# ## 2. Would a perfect reader do better?
#
# Is this a fault of the network? We ask exact readers. Each image is one of 1,797 clean digits plus Gaussian noise.
# A clean digit at distance $d$ from the image has the score $-d^2/(2\,\mathrm{noise}^2)$: the logarithm of a Gaussian bell
# curve, so the farther, the less probable. A softmax over the scores gives each clean digit a probability. The posterior
# of a class is the sum over its clean digits. It depends on the noise that we believe in:
#
# - The **informed posterior** is computed with the noise that the images really have. No reader can be better.
# - The **uninformed posterior** is always computed with noise 0.4. For the old scanner it is perfect. Nobody has told it
#   of the new one.
#
# ### Exercise: the informed posterior
#
# *Difficulty: medium · importance: high · 10 minutes*
#
# `scores` (n, J) are the scores of n images and J clean digits, computed with the noise `old`. `one_hot` (J, K) holds
# the class of each clean digit. Return the posterior (n, K) for the noise `new`, without computing a distance again.

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
# Two more readers are the network, and the network after a temperature T that was fitted on images of the old scanner.

# %% tags=["drawing"]
def scaler(outcome):
    cal = outcome.predictions["cal"]
    return recalibration.TemperatureScaler().fit(cal.logits, cal.labels)


def readings(outcome, images, noise):
    """What the four readers say, (n, 10) each."""
    logits = logits_of(outcome, images)
    return {"informed posterior": shifted.exact(images, noise),
            "uninformed posterior": shifted.exact(images, shifted.NOISE),
            "network": logits.softmax(dim=1), "network after T": scaler(outcome).probs(logits)}


rows, diagrams = [], {}
for outcome in swept.outcomes:
    seed = outcome.setting["seed"]
    for noise in strengths:
        images, answers = shifted.draw(size.test // 5, seed, noise)
        for reader, probs in readings(outcome, images, noise).items():
            rows.append({"reader": reader, "noise": noise, "seed": seed, **judge(probs, answers)})
            diagrams[reader, noise, seed] = metrics.reliability(probs, answers)
noisier = pd.DataFrame(rows)


def runs_of(reader, column):  # (seeds, strengths)
    table = noisier[noisier.reader == reader]
    return table.pivot(index="seed", columns="noise", values=column).to_numpy()


def frame(reader, noise):
    pooled = explorers.pooled([diagrams[reader, noise, seed] for seed in seeds])
    now = noisier[(noisier.reader == reader) & (noisier.noise == noise)].mean(numeric_only=True)
    readout = (f"{reader[0].upper()}{reader[1:]} at noise {noise:g}: mean confidence {now.confidence:.1%}, "
               f"accuracy {now.accuracy:.1%}, signed gap {now.gap:+.1%}, ECE {now.ECE:.1%}.")
    lines = {palette.ACCURACY: runs_of(reader, "accuracy"), palette.CONFIDENCE: runs_of(reader, "confidence")}
    return explorers.along_frame(pooled, noise, strengths, lines, x_label="noise of the test images",
                                 x_ticks=(0.2, 0.4, 0.6, 0.8, 1.0), title=f"{reader}, noise {noise:g}",
                                 readout=readout)


one = swept.outcomes[0]
same = [shifted.draw(200, SEED, noise)[0] for noise in strengths]  # the same 200 digits, ever noisier
labels = shifted.draw(200, SEED)[1]
said = torch.stack([logits_of(one, images).softmax(dim=1) for images in same])
known = torch.stack([shifted.exact(images, noise) for images, noise in zip(same, strengths, strict=True)])
right = torch.stack([probs.argmax(dim=2) == labels for probs in (said, known)])[:, 2].all(dim=0).double()
steady = right + said.amax(dim=2).min(dim=0).values  # right at 0.4, and sure all the way
first = (steady + (said[-1].argmax(dim=1) != labels)).argmax().item()  # and wrong in the end
pair = [first, (steady - 9 * (labels == labels[first])).argmax().item()]



def two_digits(noise):
    place = strengths.index(noise)
    shown = [part[pair].numpy() for part in (same[place][:, 0], said[place], known[place])]
    return explorers.noisier_frame(shown[0], labels[pair].tolist(), *shown[1:], noise)


explorers.keep(explorers.Explorer(
    two_digits, explorers.Slider("noise", strengths, show="{:g}".format, start=0.4),
    description="Two digits under more and more noise, and below each the probability of every class: bars from "
    "one network that was trained under noise 0.4, diamonds from the exact posterior, which knows the "
    "noise of the images."),
    "new_scanner")

# %% [markdown]
# **Predict before you run:** nobody told the uninformed posterior that the noise is now 0.8. How far is its mean
# confidence above its accuracy: 0, 10 or 30 points?

# %% tags=["answer"]
at = noisier[noisier.noise == 0.8].groupby("reader", sort=False).mean()
for reader, found in at.iterrows():
    print(f"{reader}, noise 0.8: right on {found.accuracy:.1%}, "
          f"{found.confidence:.1%} sure, gap {found.gap:+.1%}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# About 30 points. The uninformed posterior believes that each image has noise 0.4. In truth it has 0.8, and then the same
# image says less about its label. So this posterior is too sure. The informed posterior knows the noise. It is
# calibrated, and its accuracy falls, too.
#
# The network's gap is 13 points larger than that of the uninformed posterior. Here the T of the old scanner takes off 16 points (at noise 0.2: 11, where the network has 4 more).
#
# </details>
#
# **Play.** Choose a reader, and raise the noise. For which reader do the two lines stay together?

# %% tags=["drawing"]
slider = explorers.Explorer(
    frame, explorers.Slider("reader", list(dict.fromkeys(noisier.reader)), start="network"),
    explorers.Slider("noise of the test images", strengths, show="{:g}".format, start=0.4), play=True,
    description="Left, the reliability diagram of the chosen reader, test images of all seeds: a bar below "
    "the diagonal is over-confident. Right, against the noise: its mean confidence and accuracy. Bands span "
    "the seeds; the grey line marks the chosen noise. All training was at noise 0.4.")
explorers.keep(slider, "severity")
slider

# %% tags=["nbval-check-output"]
uninformed = noisier[(noisier.reader == "uninformed posterior") & (noisier.noise == 0.8)].sort_values("seed")
print(verdicts.judge("13b", "uninformed posterior: over-confident by more than 0.2 at noise 0.8",
                     uninformed.gap, margin=0.2))
print(claims.concluded("13", "13b"))

# %% [markdown]
# ## 3. Imitate the new scanner
#
# So somebody has to *tell* the reader what has changed. This needs no label. Noise that does not depend on the image
# adds its variance to every pixel. So take the variance of each pixel over all images, and then the mean over the
# pixels. This *variance* shows the noise of the new scanner:
#
# $$\text{noise}_\text{new}^2 = 0.4^2 + \text{variance}_\text{new} - \text{variance}_\text{old}.$$
#
# Then take *old* labelled images on which the network was **not trained** (*held-out* images), and add Gaussian noise of the
# variance that is missing, drawn anew for each pixel. The result is an **imitation** of the new scanner. It has labels, so we can count how often the network is
# right on it.

# %%
def imitated(new, old, seed):
    """The old images, made as noisy as the new ones seem to be; and that noise."""
    found = 0.4**2 + (new.flatten(1).var(dim=0) - old.flatten(1).var(dim=0)).mean().item()
    missing = max(found - 0.4**2, 0) ** 0.5  # variances add up: 0.4**2 is there already
    pattern = torch.randn(old.shape, generator=torch.Generator().manual_seed(seed))
    return old + missing * pattern, found**0.5

# %% [markdown]
# **Your turn: three scanners.** Nobody tells you what the scanners A, B and C do. The table has what can be known without
# a new label (`noise found` is by the formula). How often is the network right on the new images of each? Write three
# guesses, in per cent, into the cell below.

# %% tags=["drawing"]
scanners = {"A": {"noise": 0.65}, "B": {"noise": 0.9},
            "C": {"noise": 0.4, "centres": corruptions.corrupt(shifted.clean()[0], "defocus_blur", 4)}}
rows, diagrams_of = [], {}
for outcome in swept.outcomes:
    seed = outcome.setting["seed"]
    old = splits(seed).calibration
    for name, change in scanners.items():
        new, answers = shifted.draw(size.test, 700 + seed, **change)
        images, noise = imitated(new, old.inputs, seed)
        logits, of_imitation = logits_of(outcome, new), logits_of(outcome, images)
        probs, told = logits.softmax(dim=1), judge(of_imitation.softmax(dim=1), old.labels)
        T = recalibration.TemperatureScaler().fit(of_imitation, old.labels)
        train = splits(seed).train
        of_train = logits_of(outcome, imitated(new, train.inputs, seed)[0])  # the mistake: it knows these images
        rows.append({"scanner": name, "seed": seed, "noise found": noise,
                     "imitation, training": metrics.accuracy(of_train.softmax(dim=1), train.labels),
                     "confidence": probs.amax(dim=1).mean().item(), "confidence, imitation": told["confidence"],
                     "accuracy, imitation": told["accuracy"], "accuracy": metrics.accuracy(probs, answers),
                     "T": T.temperature, "gap, old T": metrics.signed_gap(scaler(outcome).probs(logits), answers),
                     "gap, new T": metrics.signed_gap(T.probs(logits), answers)})
        for words, own in (("old T", scaler(outcome)), ("T of the imitation", T)):
            diagrams_of[name, words, seed] = metrics.reliability(own.probs(logits), answers)
three = pd.DataFrame(rows)
means = three.groupby("scanner").mean(numeric_only=True)
visible = means.rename(columns={"confidence": "confidence, new images"})
visible[["noise found", "confidence, new images", "confidence, imitation", "accuracy, imitation"]].round(3)

# %% tags=["answer"]
guess = {"A": 90, "B": 90, "C": 90}  # change me, in per cent
off = {name: abs(guess[name] - 100 * means.accuracy[name]) for name in guess}
for name, distance in off.items():
    print(f"scanner {name}: right on {means.accuracy[name]:.1%}; your guess is {distance:.0f} points off")
print(f"{sum(distance < 5 for distance in off.values())} of 3 within 5 points")
print(f"scanner A, an imitation made of training images: right on {means['imitation, training']['A']:.1%}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# **A** and **B** are noisier scanners. Their imitations promise nearly the right accuracy. (Made of *training* images, that of
# A promises 8 points too much: the network has learned them.) **C** is not noisier: it *blurs*.
# The formula finds too little noise. So the imitation adds none, and promises the accuracy of the old scanner.
#
# Two signs warn you. The noise found lies below the old one. And the network is 7 points less sure of the new images than
# of the imitation. For A and B these two confidences agree.
#
# But agreement proves little. With a blur *and* much noise they differed by less than one percentage point, and the
# imitation still promised twelve points too much accuracy (evidence).
#
# </details>

# %% tags=["nbval-check-output"]
three["promised too much"] = three["accuracy, imitation"] - three["accuracy"]
ab = three[three.scanner.isin(["A", "B"])].groupby("seed")["promised too much"].mean()  # one number a seed
c = three[three.scanner == "C"].set_index("seed")["promised too much"]  # the control: here it must not hold
print(verdicts.judge("13m", "scanners A and B: accuracy on the imitation minus accuracy, within 0.02",
                     ab, expect="within", margin=0.02, control=c, post_hoc=True))
print(claims.concluded("13", "13m"))

# %% [markdown]
# With these five seeds the claim is INCONCLUSIVE. With ten new seeds, at noise 0.6, 0.8 and 1.0, it HOLDS (second line).
#
# ## 4. Repair before the first label
#
# The imitation has labels, so it also gives a temperature for the new scanner.
#
# **Predict before you run:** the T of the old scanner leaves a large gap on scanner B. How much of this gap is left with
# the T of the imitation: nearly nothing, half, or all?

# %% tags=["answer", "drawing"]
shown = [("B", "old T"), ("B", "T of the imitation"), ("C", "T of the imitation")]
fig, axes = plt.subplots(1, 3, figsize=(9.6, 3.9), sharey=True)
for ax, (name, words) in zip(axes, shown, strict=True):
    pooled = explorers.pooled([diagrams_of[name, words, seed] for seed in seeds])
    _ = plots.draw_reliability(pooled, title=f"scanner {name}, {words}", legend=False, ax=ax)
plt.show()
for name, found in means.iterrows():
    print(f"scanner {name}: T of the imitation {found['T']:.1f}; gap with the old T {found['gap, old T']:+.1%}, "
          f"with this T {found['gap, new T']:+.1%}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# On A and B nearly nothing is left, and this T needed no new label. On C it repairs nothing, because the
# imitation is the old scanner.
#
# </details>
#
# **Photographs.** A convolutional network was trained on 20,000 photographs (CIFAR-10). Each test image has one of fifteen
# kinds of **corruption**, such as noise, blur or fog. Its **severity** goes from 1 to 5, and 0 is the original
# ([stored runs](from_laptop_to_paper.md)). How far does the T of the originals help?

# %% tags=["drawing"]
photographs = experiments.on_photographs("shift", SCALE, device=device)
for value, rows in photographs.groupby("value", sort=False):
    found = rows.mean(numeric_only=True)
    print(f"severity {value}: ECE {found.test_ece:.1%}, with the T of the originals {found.scaled_ece:.1%}")

# %% [markdown]
# It lowers the ECE at every severity. But the severer the corruption, the more ECE is left.
#
# ### Exercise: a plan
#
# *Difficulty: hard · importance: high · 7 minutes, no code*
#
# The network (with its old T) must run on the new scanner from Monday. You have 10,000 new images without labels, and
# doctors will label 200 of them. Some patients have a disease that is not in the training data. What do you do with the
# unlabelled images, and with the 200? What will a high confidence mean?
#
# <details><summary>Answer</summary>
#
# *Unlabelled:* find out what changed: noise, blur, contrast, or the mix of patients (then see lesson 07). Imitate the
# change on held-out labelled images, and compare the confidence of both. If the two differ, reject the imitation. If they
# agree, this proves little: the accuracy and the T of the imitation are still a guess.
#
# *200 labels:* first test this guess: is the accuracy the predicted one? Its standard error is 3 to 4 points. If it is
# not, use half of the labels for a new T, and half to measure the gap that it leaves.
#
# *A high confidence* is worth something only if the image belongs to a known class, and looks like the images on which T
# was fitted. The unknown disease needs a detector of its own.
#
# </details>
#
# ## 5. Images of no class
#
# Some images are not hard but *strange*: they belong to no class that the network knows. They are one kind of
# **out-of-distribution** images. We compute the exact posterior as if there were only the digits 0 to 7, and show it 8s
# and 9s.
#
# **Predict before you run:** this posterior is perfect for the digits 0 to 7. How sure is it of eights and nines, on
# average: 20, 50 or 80 %?

# %% tags=["answer"]
digits, every_label = shifted.clean()
familiar = every_label < 8
classes = torch.nn.functional.one_hot(every_label[familiar], 8).float()
world = {"centres": digits[familiar], "one_hot": classes}  # a world without 8 and 9
inside = shifted.familiar(2000, 3000 + SEED).inputs  # new noisy images of 0 to 7
strange = shifted.draw(2000, 5000 + SEED, 0.4, digits[~familiar], every_label[~familiar])[0]  # of 8 and 9
sure_inside, sure_strange = (shifted.exact(x, 0.4, **world).amax(dim=1) for x in (inside, strange))
print(f"eights and nines: {sure_strange.mean():.1%} sure; familiar digits: {sure_inside.mean():.1%} sure")
print(f"pairs of a familiar and a strange image: less sure of the strange one in "
      f"{metrics.auroc(sure_inside, sure_strange):.1%}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# It is 82 % sure of them. Still it is *not* miscalibrated on the images it was made for, 0 to 7. And no
# threshold separates the two kinds: an image with a confidence of 80 % may be a hard 3 or a nine.
#
# </details>
#
# ### Exercise: AUROC by hand (homework)
#
# *Difficulty: easy · importance: high · 5 minutes*
#
# `familiar` (n,) and `strange` (m,) are scores. The **AUROC** is the share of pairs (one familiar and one strange image) in
# which the familiar image has the higher score; a tie counts one half. Return it, without a library.

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
# A deep ensemble averages the probabilities of several networks, its members. Where they disagree, perhaps on a strange
# image, the average is less sure. **Lost confidence** is the mean confidence of the members minus that of the average.
#
# ### Exercise: lost confidence (homework)
#
# *Difficulty: easy · importance: high · 5 minutes*
#
# `probs` (R, n, K) holds the probabilities of R members. Return the lost confidence over all n images, one number.

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
# ## 6. Where this lesson lies on the map
#
# Kappa is the share of the lost accuracy that is still claimed (03). On digits, more data, width or wrong labels left it
# about the same.
#
# **Predict before you run:** does a stronger shift lower kappa, leave it, or raise it?

# %% tags=["answer", "drawing"]
where = {}
for noise in (0.3, 0.4, 0.6, 0.8, 1.0):
    for outcome in swept.outcomes:
        here = (noisier.reader == "network") & (noisier.noise == noise)
        now = noisier[here & (noisier.seed == outcome.setting["seed"])].iloc[0]
        seen = outcome.predictions["train"]
        lies = plane.place(metrics.accuracy(seen.probs, seen.labels), now.accuracy, now.confidence)
        where.setdefault(f"noise {noise:g}", []).append(lies)
_ = plots.plane({palette.group(place, name): rows for place, (name, rows) in enumerate(where.items())})
plt.show()
for name, rows in where.items():
    lost_now, claimed = np.mean(rows, axis=0)
    print(f"{name}: {lost_now:.1%} lost, {claimed:+.1%} claimed, kappa {claimed / lost_now:.2f}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# It raises kappa, from 0.69 at noise 0.4 to 0.87 at noise 1.0: the accuracy falls, and the confidence stays. (For
# networks trained *and* tested at 0.8, without a shift, it is 0.06 higher, too: evidence.)
#
# </details>
#
# ## The answer
#
# **At noise 0.8 the network is right on less than half of the images, and its confidence does not show it. Even the exact
# posterior of the old images would be some 30 points too sure.**
#
# **If the change is Gaussian noise, drawn anew for each pixel, one can imitate it on held-out labelled images. On digits this predicted the accuracy to
# two points on average (one network can miss by more), and gave a good temperature, without a new label. With another change (noise that neighbouring pixels share, say: evidence) the forecast can be wrong.**
#
# All verdicts: [evidence](evidence/13_shift_and_ood.ipynb). Next:
# [14 Sample prioritization](14_sample_prioritization.ipynb).
#
# ## Three things to take away
#
# 1. A posterior or a temperature is right for the images that it was made for.
# 2. Unlabelled new images can show that an imitation is wrong. They cannot show that it is right: test it on a few labels.
# 3. Hard and strange are two things. A calibrated model can be sure of an image that belongs to none of its classes.
#
# ## Recall
#
# <details><summary>1. Which reader is calibrated at every noise, and is its accuracy constant?</summary>
#
# The informed posterior. The accuracy is not constant: noise destroys information. Its confidence falls with the
# accuracy.
#
# </details>
#
# <details><summary>2. A network's ECE rises under blur. Is it then a bad model of its training images?</summary>
#
# This does not follow: the ECE of the exact posterior of these images rises too, if it is not told of the blur.
#
# </details>
#
# <details><summary>3. An imitation promises 79 % accuracy. On the new images the network is less sure than on the imitation. What now?</summary>
#
# The imitation lacks a part of the change. Look at the images, imitate them better, and label some before anybody
# trusts the number.
#
# </details>
#
# <details><summary>4. The exact posterior is 80 % sure of a digit that its world does not have. Is it miscalibrated?</summary>
#
# No: calibration is about images of its own classes. To find strange images, it needs another class, or another score.
#
# </details>
#
# <details><summary>5. Five calibrated members always have the same favourite, with different confidences. What is the lost confidence?</summary>
#
# 0: all have the same favourite, so the confidence of the average is just the average of their confidences.
#
# </details>
#
# ## Go further
#
# Improve the imitation of scanner C: blur the old images by `corruptions.corrupt(images, "defocus_blur", severity)`
# before their noise is added. Which severity gives the confidence that the network has on C? If your numbers
# differ, see [your numbers differ?](your_numbers_differ.md).
#
# <details><summary>Answer</summary>
#
# Blur the clean digits and draw the noise anew: blurring a noisy image weakens its noise, too. On real images, where
# nobody has clean ones, this noise must be added again. The confidence of the imitation is nearest to the one on C at
# severity 4, which is the severity of C.
#
# ```python
# outcome, clean = swept.one(seed=SEED), shifted.clean()[0]
# for severity in range(1, 6):
#     images, _ = shifted.draw(2000, SEED, 0.4, corruptions.corrupt(clean, "defocus_blur", severity))
#     print(severity, logits_of(outcome, images).softmax(dim=1).amax(dim=1).mean().item())
# ```
#
# </details>
#
# ## References
#
# - Hendrycks, Dietterich: *Benchmarking Neural Network Robustness to Common Corruptions and Perturbations*. ICLR 2019.
#   [arXiv:1903.12261](https://arxiv.org/abs/1903.12261)
# - Ovadia et al.: *Can You Trust Your Model's Uncertainty? Evaluating Predictive Uncertainty Under Dataset Shift*. NeurIPS 2019.
#   [arXiv:1906.02530](https://arxiv.org/abs/1906.02530)
# - Guillory et al.: *Predicting with Confidence on Unseen Distributions*. ICCV 2021. [arXiv:2107.03315](https://arxiv.org/abs/2107.03315)
# - Garg et al.: *Leveraging Unlabeled Data to Predict Out-of-Distribution Performance*. ICLR 2022. [arXiv:2201.04234](https://arxiv.org/abs/2201.04234)
# - Lakshminarayanan, Pritzel, Blundell: *Simple and Scalable Predictive Uncertainty Estimation using Deep Ensembles*. NeurIPS 2017.
#   [arXiv:1612.01474](https://arxiv.org/abs/1612.01474)
