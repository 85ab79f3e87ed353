# %% [markdown]
# # 13 · Shift and strange inputs: what can you know without a label?
#
# **Question.** A hospital replaces its scanner on Monday, and the new images are noisier. Nobody has labelled one of them yet.
# How often is the network right on them? And can anybody tell before the first label?
#
# **Predict before you run:** on the old scanner (noise 0.4) the network is right on 78 % of the images, and 93 % sure on average. At noise
# 0.8 it is right on 47 %. **How sure is it then?** Write down a number, then run the cell and move the slider.

# %% tags=["answer"]
from calibkit.course import explorers

explorers.stored("severity")

# %% [markdown]
# <details><summary>What came out</summary>
#
# 91 %. The accuracy falls by 31 points, and the confidence does not show it.
#
# </details>
#
# **Time.** 40 minutes; 35 more for the homework, which may be left out.
#
# **Needs.** [08 Temperature](08_temperature.ipynb).
#
# **Next on your path.** *Practice*: [17](17_audit_your_model.ipynb).

# %% tags=["drawing"]
from functools import cache, partial

import numpy as np
import pandas as pd
import torch

from calibkit import corruptions, metrics, recalibration
from calibkit.course import check, experiments
from calibkit.course.experiments import shifted
from calibkit.course.scale import begin
from calibkit.lab import data, models, sweep, training
from calibkit.pictures import palette

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% tags=["drawing"]
size, seeds, device = begin(SCALE, SEED, DEVICE)
strengths = [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]


@cache
def splits(seed):
    return data.noisy_digits(size.train, noise=0.4, seed=seed, test=1)  # we draw our own tests


def recipe(seed):
    train, cal, _ = splits(seed)
    network = partial(models.mlp, 64, 10, width=128)
    return training.trial(network, train, {"train": train, "cal": cal}, seed=10 * seed, epochs=size.epochs)


swept = sweep.run(recipe, {"seed": seeds}, device=device)

# %% tags=["drawing"]
def logits_of(outcome, images):
    with torch.no_grad():
        return outcome.model.cpu()(images).double()


def scaler(outcome):
    """The temperature of the old scanner."""
    cal = outcome.predictions["cal"]
    return recalibration.TemperatureScaler().fit(cal.logits, cal.labels)


def judge(probs, answers):
    return {"accuracy": metrics.accuracy(probs, answers), "confidence": probs.amax(dim=1).mean().item(),
            "gap": metrics.signed_gap(probs, answers), "ECE": metrics.ece(probs, answers)}

# %% tags=["drawing"]
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

# %% tags=["drawing"]
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


of_noise = explorers.Slider("noise of the test images", strengths, show="{:g}".format, start=0.4)
told = ("test images of all seeds: a bar below the diagonal is over-confident. Right, against the noise: its "
        "mean confidence and accuracy. Bands span the seeds; the grey line marks the chosen noise. All training "
        "was at noise 0.4.")
explorers.keep(explorers.Explorer(partial(frame, "network"), of_noise, play=True,
                                  description=f"Left, the reliability diagram of the network, {told}"), "severity")

# %% [markdown]
# ## 1. Ben: "On bad images it will be less sure"
#
# A **distribution shift** is a change of the images between training and use. "If it cannot read an image, it says so," says Ben. Move
# the slider. Bars: what the network says. Diamonds: the exact posterior, computed with the noise of the images. (We chose two digits of which the network stays sure.)

# %% tags=["drawing"]
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


slider = explorers.Explorer(
    two_digits, explorers.Slider("noise", strengths, show="{:g}".format, start=0.4),
    description="Two digits under more and more noise, and below each the probability of every class: bars from "
    "one network that was trained under noise 0.4, diamonds from the exact posterior, which knows the "
    "noise of the images.")
explorers.keep(slider, "new_scanner")
slider

# %% [markdown]
# An answer of 90 % or more goes out at once, a doctor reads the others. Eve has a temperature, from images of the *old* scanner.

# %%
def goes_out(probs, answers):
    confidence, predicted = probs.max(dim=1)
    out = (confidence >= 0.9).double()
    wrong = out * (predicted != answers)
    return f"of 1,000 images {1000 * out.mean():.0f} go out, {1000 * wrong.mean():.0f} of them wrong"

for noise in (0.4, 0.8):
    images, answers = shifted.draw(size.test, SEED, noise)
    logits = logits_of(swept.outcomes[0], images)
    print(f"noise {noise}, as trained: {goes_out(logits.softmax(dim=1), answers)}")
    print(f"noise {noise}, with the old T: {goes_out(scaler(swept.outcomes[0]).probs(logits), answers)}")

# %% [markdown]
# On the old scanner Eve's temperature was worth a lot: 11 of 392 answers that go out are wrong. On the new one 108 of 336 are, one in three.
#
# ## 2. Would the exact posterior do better?
#
# Is this a fault of the network? Compare the exact posterior. Each image is one of 1,797 clean digits plus Gaussian noise.
# A clean digit at distance $d$ from the image has the score $-d^2/(2\,\mathrm{noise}^2)$. A softmax over the
# scores gives each clean digit a probability; the posterior of a class is the sum over its clean digits.
#
# For example, one clean digit lies at $d^2=8$ from the image, another at $d^2=8.8$. With noise 0.4 their scores are $-8/0.32=-25$ and
# $-8.8/0.32=-27.5$, so the first is $e^{2.5}$, 12 times as probable. With noise 0.8 they are $-6.25$ and $-6.875$: only 1.9 times. The same
# image says less where the noise is larger. So there are two posteriors:
#
# - The **informed posterior** is computed with the noise that the images really have (the diamonds above). Nothing can read them better.
# - The **uninformed posterior** is always computed with noise 0.4. Nobody has told it of the new scanner.
#
# ### Exercise: the informed posterior
#
# *Difficulty: medium · importance: high · 9 minutes*
#
# `scores` (n, J) are the scores of n images and J clean digits, computed with the noise `old`. `one_hot` (J, K) holds
# the class of each clean digit. Return the posterior (n, K) for the noise `new`, without computing a distance again.

# %%
def my_informed_posterior(scores, one_hot, old, new):
    # 1. the scores as they are with the noise new
    # 2. a probability for each clean digit
    # 3. the sum over the clean digits of each class
    ...


check.informed_posterior(my_informed_posterior)

# %% [markdown]
# <details><summary>Hint</summary>
#
# Which factor turns $-d^2/(2\,\mathrm{old}^2)$ into $-d^2/(2\,\mathrm{new}^2)$? For the sum, `probs @ one_hot`.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_informed_posterior(scores, one_hot, old, new):
#     ratio = old / new
#     rescaled = scores * ratio * ratio
#     of_digits = rescaled.softmax(dim=1)
#     return of_digits @ one_hot
# ```
#
# </details>

# %%
check.keep(my_informed_posterior)

# %% [markdown]
# **Predict before you run:** the noise is 0.8, and nobody told the uninformed posterior. How many points is it too sure?

# %% tags=["answer"]
from calibkit.course.mine import informed_posterior

images, answers = shifted.draw(size.test, SEED, 0.8)
scores = shifted.digit_scores(images, 0.4)
one_hot = torch.nn.functional.one_hot(shifted.clean()[1], 10).float()
for name, believed in {"uninformed": 0.4, "informed": 0.8}.items():
    found = judge(informed_posterior(scores, one_hot, 0.4, believed), answers)
    print(f"{name} posterior: {found['accuracy']:.1%} right, {found['confidence']:.1%} sure, "
          f"gap {found['gap']:+.1%}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# About 31 points, though it is perfect for the old scanner: so this is no fault of the network. The informed posterior is calibrated. It is right only 3 points
# more often (60, not 57 %): what the other one lacks is not accuracy.
#
# </details>
#
# The slider of the first screen again, now with four readers: both posteriors, the network, and the network after the old T. Which one is calibrated
# at every noise?

# %% tags=["drawing"]
explorers.Explorer(
    frame, explorers.Slider("reader", list(dict.fromkeys(noisier.reader)), start="uninformed posterior"), of_noise,
    description=f"Left, the reliability diagram of the chosen reader, {told}")

# %% [markdown]
# ## 3. Ada: "Then tell it what has changed"
#
# "This needs no label," says Ada. The noise adds its variance to every pixel. So, if the digits themselves are as before, the variance of the pixels, over all new images, shows
# the noise of the new scanner:
#
# $$\text{noise}_\text{new}^2 = 0.4^2 + \text{variance}_\text{new} - \text{variance}_\text{old}.$$
#
# She takes *old* labelled images on which the network was **not trained**, and adds the noise that is missing: an **imitation** of the
# new scanner. It has labels, so one can count how often the network is right on it.

# %%
def imitated(new, old, seed):
    """The old images, made as noisy as the new ones seem to be; and that noise."""
    found = 0.4**2 + (new.flatten(1).var(dim=0) - old.flatten(1).var(dim=0)).mean().item()
    missing = max(found - 0.4**2, 0) ** 0.5  # variances add up: 0.4**2 is there already
    pattern = torch.randn(old.shape, generator=torch.Generator().manual_seed(seed))
    return old + missing * pattern, found**0.5

# %% [markdown]
# Nobody tells you what three new scanners A, B and C do. The next table has what can be known without a new label. Read the
# row of A so: the variance says that its noise is 0.65. Of its images the network is 91 % sure, and as sure of an imitation with
# this noise. On the imitation, whose labels are known, it is right 56 times of 100.

# %% tags=["drawing"]
scanners = {"A": {"noise": 0.65}, "B": {"noise": 0.9},
            "C": {"noise": 0.4, "centres": corruptions.corrupt(shifted.clean()[0], "defocus_blur", 4)}}
rows, sent = [], {}
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
            sent.setdefault((name, words), []).append((own.probs(logits), answers))

# %% tags=["drawing"]
three = pd.DataFrame(rows)
means = three.groupby("scanner").mean(numeric_only=True)
visible = means.rename(columns={"confidence": "confidence, new images"})
visible[["noise found", "confidence, new images", "confidence, imitation", "accuracy, imitation"]].round(3)

# %% [markdown]
# **Predict before you run:** how often is the network right on the new images of each? Write three guesses, in per cent, into the cell.

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
# **A** and **B** are noisier. Their imitations promise nearly the right accuracy. (Made of *training* images, that of
# A promises 8 points too much: the network has learned them.) **C** is not noisier: it *blurs*. The formula finds too little noise, so
# the imitation adds none, and promises the accuracy of the old scanner.
#
# Two signs warn you. The noise found lies below the old one. And the network is 7 points less sure of the new images than
# of the imitation; for A and B the two agree. But agreement proves little: a blur *and* much noise can hide each other.
#
# </details>
#
# ## 4. Repair before the first label
#
# "And my temperature comes from your imitation," says Eve.
#
# **Predict before you run:** on scanner B the old T leaves a gap of 34 points. How many are left with the T of the imitation?

# %% tags=["answer"]
for name in scanners:
    found = means.loc[name]
    print(f"scanner {name}: gap with the old T {found['gap, old T']:+.1%}, "
          f"with that of the imitation {found['gap, new T']:+.1%}")
    for words in ("old T", "T of the imitation"):
        probs, answers = (torch.cat(parts) for parts in zip(*sent[name, words], strict=True))
        print(f"    {words}: {goes_out(probs, answers)}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# Of the gap nearly nothing is left on A and B, without a new label. It has a price: of 1,000 images only 76 and 7 go out, and a doctor
# reads the others. On C it repairs nothing, because the imitation is the old
# scanner.
#
# </details>
#
# So far each new image was one of ten digits. **Strange inputs** are images of no class that the network knows, such as a disease
# that is in no training image. No imitation made of old images shows how it reads them, and a high confidence does not exclude
# them: the exact posterior of the digits 0 to 7 is 82 % sure of eights and nines ("Images of no class" below).
#
# ## The answer
#
# **The confidence does not tell: at noise 0.8 the network is right on 47 % of the images and 91 % sure, and even the uninformed posterior
# is 31 points too sure. If one knows what kind of change it is, one can imitate it on held-out labelled images, and read
# accuracy and temperature there; if one is mistaken about the kind, as with scanner C, both are wrong.**
#
# ## Three things to take away
#
# 1. A posterior or a temperature is right for the images that it was made for.
# 2. Unlabelled new images can show that an imitation is wrong, as with C.
# 3. Imitate on held-out images. On those of the training the network looks better than it is.
#
# ## Recall
#
# <details><summary>1. Which reader is calibrated at every noise, and is its accuracy constant?</summary>
#
# The informed posterior. Its accuracy is not constant: noise destroys information. Its confidence falls with the
# accuracy.
#
# </details>
#
# <details><summary>2. A network's ECE rises under blur. Is it then a bad model of its training images?</summary>
#
# This does not follow: the ECE of the uninformed posterior rises, too.
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
# ## Go further
#
# *All that follows may be left out. Next: [14 Sample prioritization](14_sample_prioritization.ipynb), or the next lesson on your path.*
#
# ### Images of no class
#
# Strange inputs are one kind of **out-of-distribution** images. We compute the exact posterior as if there were only the digits 0 to 7, and show it 8s
# and 9s.
#
# **Predict before you run:** this posterior is perfect for the digits 0 to 7. How sure is it of eights and nines, on average?

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
# It is 82 % sure of them. Still it is *not* miscalibrated on the images it was made for. And no
# threshold separates the two kinds: an image with a confidence of 80 % may be a hard 3 or a nine.
#
# </details>
#
# ### Exercise: a plan
#
# *Difficulty: hard · importance: high · 6 minutes, no code*
#
# The network (with its old T) must run on the new scanner from Monday. You have 10,000 new images without labels, and
# doctors will label 200 of them. Some patients have a disease that is in
# no training image. What do you do with the unlabelled images, and with the 200? What will a high confidence mean?
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
# ### Exercise: AUROC by hand
#
# *Difficulty: easy · importance: medium · 5 minutes*
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
# ### Exercise: lost confidence
#
# *Difficulty: easy · importance: low · 5 minutes*
#
# A deep ensemble averages the probabilities of several networks, its members. Where they disagree, perhaps on a strange
# image, the average is less sure. **Lost confidence** is the mean confidence of the members minus that of the average.
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
# ### On photographs
#
# A convolutional network was trained on 20,000 photographs (CIFAR-10). Each test image has one of fifteen
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
# ### Imitate the blur
#
# Blur the old images by `corruptions.corrupt(images, "defocus_blur", severity)` before their noise is added. Which severity gives the
# confidence that the network has on C?
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
# All verdicts and other detectors of strange images: [evidence](evidence/13_shift_and_ood.ipynb). Your numbers differ?
# [Why](your_numbers_differ.md).
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
