# %% [markdown]
# # 03 · Over-confidence: when a network becomes too sure
#
# **Question.** A network reads the doses on handwritten prescriptions. It is nearly always sure, and often wrong.
# When in its training did it become so, and could we have stopped in time?
#
# **Predict before you run:** it is trained for 60 epochs. After how many is it more sure than right on *new* images?
# Write down a number. Then run the cell and press *Play*.

# %% tags=["answer"]
from calibkit.course import explorers

explorers.stored("overconfidence")

# %% [markdown]
# <details><summary>What came out</summary>
#
# After 3. You see one training, epoch by epoch: a reliability diagram of the training images, one of new images, and the NLL of both (the loss: the mean
# of -log p, with p the probability that the right label got). On the training images the network is hardly ever too sure. On new ones it is, almost
# from the beginning.
#
# </details>
#
# **Time.** 35 minutes; 60 more for the homework, which is all under "Go further".
#
# **Needs.** [02 Measuring calibration](02_measuring_calibration.ipynb).
#
# **Next on your path.** *Six evenings*: [06](06_label_noise.ipynb). *Teaching*: [08](08_temperature.ipynb).

# %% tags=["drawing"]
import math
from dataclasses import replace
from functools import cache, partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.nn.functional import cross_entropy, interpolate

from calibkit import metrics, recalibration
from calibkit.course import check, checkout, claims, verdicts
from calibkit.course.scale import begin
from calibkit.lab import data, models, sweep, training
from calibkit.metrics import plane
from calibkit.pictures import alt_text, palette, plots

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% [markdown]
# ## 1. The lines that train
#
# In this course `training.fit` trains the networks. Once, we write its loop ourselves: for every batch of 100 images,
# compute the loss, find the direction in which each weight lowers it, and take a small step.

# %%
size, seeds, device = begin(SCALE, SEED, DEVICE)
images, cal, new_images = data.noisy_digits(size.train, noise=0.4, seed=SEED, test=size.test)


def learn(epochs):
    torch.manual_seed(SEED)
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(epochs):
        for batch in torch.randperm(len(images)).split(100):
            optimizer.zero_grad()
            loss = cross_entropy(model(images.inputs[batch]), images.labels[batch])
            loss.backward()
            optimizer.step()
    return model.eval()


# %% [markdown]
# **Your turn.** Set `epochs` to 1, 5 and 60, run the cell each time, and note the sign of each difference.

# %%
epochs = 3  # change me


def tell(model, part, name):
    probs = model(part.inputs).softmax(dim=1)
    sure, right = probs.amax(dim=1).mean(), metrics.accuracy(probs, part.labels)
    print(f"{name} images: {right:.1%} right, {sure:.1%} sure, difference {sure - right:+.1%}")


model = learn(epochs)
tell(model, images, "training")
tell(model, new_images, "new")

# %% [markdown]
# <details><summary>What you may have found</summary>
#
# After one epoch it is not sure enough on both (−). Later, the difference on the training images is small. On new images it is
# positive after 5 epochs, and large after 60. Why? The loss looks only at the training images, and it can
# always fall further: 99.99 % for the right label costs less than 99.9 %.
#
# </details>
#
# ## 2. Learned by heart
#
# Now the training that you played at the top, five times, each with images of its own. (The network is larger, and the learning rate falls twice.)

# %%
def watched(seed):
    train, cal, test = data.noisy_digits(size.train, noise=0.4, seed=seed, test=size.test)
    # judged after every epoch: all training images, all of cal, a fifth of the test images
    watch = {"train": train, "cal": cal, "test": test[: size.test // 5]}
    # keep: the logits of these are stored after every epoch
    return training.trial(lambda: models.mlp(64, 10), train, seed=seed, epochs=size.epochs,
                          watch=watch, keep=("cal", "test"))


trainings = sweep.run(watched, {"seed": seeds}, device=device)

# %% tags=["drawing"]
one_run = trainings.one(seed=SEED)
seen = one_run.trial.watch["test"]
exact_nll = metrics.nll(seen.posterior, seen.labels)


def frame(epoch):
    training_bins, test_bins = (one_run.diagrams[name][epoch - 1] for name in ("train", "test"))
    return explorers.film_frame(one_run.history, training_bins, test_bins, epoch, exact_nll=exact_nll)


stops = [e for e in (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 30, 40, 50, 60) if e <= size.epochs]
slider = explorers.Explorer(
    frame, explorers.Slider("epoch", stops, start=stops[-1]), play=True,
    description="One network after an epoch: the reliability diagrams of its training images and of its "
    "test images (slanted lines: over-confident; dots: under-confident), and the NLL of both against the "
    "epoch, with markers at the epoch that is shown and a broken line at the NLL of the exact posterior.",
)
explorers.keep(slider, "overconfidence")

# %% [markdown]
# **Predict before you run:** when the network becomes too sure of new images, what share of the *training* images does it
# read rightly?

# %% tags=["answer", "drawing"]
# your guess first, then run this cell
every = pd.concat([one.history.assign(seed=one.setting["seed"]) for one in trainings.outcomes])
means = every.groupby("epoch").mean(numeric_only=True)
over = means.test_confidence > means.test_accuracy
opens = over.idxmax() if over.any() else size.epochs
fitted = means.index[means.train_accuracy > 0.999]

fig, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True)
for ax, name, words in zip(axes, ("train", "test"), ("training images", "new images"), strict=True):
    for column, role in {"accuracy": palette.ACCURACY, "confidence": palette.CONFIDENCE}.items():
        runs = np.stack([one.history[f"{name}_{column}"] for one in trainings.outcomes])
        _ = plots.spread(means.index, runs, replace(role, marker=""), ax=ax)
    _ = ax.set(title=words, xlabel="epoch", ylim=(0, 1.02))
_ = axes[0].set(ylabel="share")
_ = axes[1].legend(fontsize="small", loc="lower right")
plt.show()
last = means.iloc[-1]
all_by = fitted[0] if len(fitted) else "(not yet)"
print(f"New images: more sure than right from epoch {opens} on; {means.train_accuracy[opens]:.0%} of the "
      f"training images are learned by then, all of them by epoch {all_by}. On new images the network is "
      f"{last.test_confidence:.1%} sure at the end, and right on {last.test_accuracy:.1%}.")

# %% [markdown]
# <details><summary>What came out</summary>
#
# 74 %: it becomes too sure at epoch 3, when it still reads 26 % of the training images wrongly. Then the curves on the left rise
# to 1: it learns its training images by heart. On new images the accuracy rises little; the confidence rises all the same.
#
# </details>
#
# ## 3. Two numbers that you need now
#
# **The NLL** (negative log-likelihood, as in 02) is the mean of -log p, with p the probability that the *right* label got. If that is 99 %, it costs 0.01; 50 % costs
# 0.69, and 1 % costs 4.61. So an answer that is sure and wrong costs most.
#
# **A temperature** T (02) repairs a trained network: each logit is divided by T before the softmax. No answer changes, so the accuracy stays; only the
# confidence falls. Chosen is the T with the lowest NLL on images kept aside (`cal`).

# %%
logits = torch.tensor([4.6, 0.0])
for T in (1, 2, 3):
    print(f"T = {T}: {[round(p, 2) for p in (logits / T).softmax(dim=0).tolist()]}")

# %% [markdown]
# ## 4. When would you stop?
#
# Ada: "More training, more accuracy." She keeps the network of the **last** epoch. Ben keeps the one with the
# best **accuracy** on `cal`. Eve: "The lowest **NLL** on `cal`, and there I stop."
#
# ### Exercise: a rule that stops in time
#
# *Difficulty: medium · importance: high · 10 minutes*
#
# Write Eve's rule. It reads the NLL on `cal` epoch by epoch, and stops once `patience` epochs in a row have brought no new lowest value. Return two
# epochs, counted from 0:
#
# - *kept*: the one with the lowest value so far (the first, if several are equal);
# - *last*: the last one that was trained (the final one, if the rule never stops).
#
# With the losses 3, 2, 2.5, 2.6, 1 and patience 2, epoch 1 is kept and epoch 3 is the last.

# %%
def my_early_stop(losses, patience):
    # kept: the epoch of the lowest loss so far
    # for each epoch: is it a new lowest? how many epochs ago was the kept one?
    ...


check.early_stop(my_early_stop)

# %% [markdown]
# <details><summary>Hint</summary>
#
# One loop, one variable: the epoch that is kept so far. How many epochs ago was it?
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_early_stop(losses, patience):
#     kept = 0
#     for epoch, loss in enumerate(losses):
#         if loss < losses[kept]:
#             kept = epoch
#         if epoch - kept == patience:
#             break
#     return kept, epoch
# ```
#
# </details>
#
# **Keep it**, and let it stop the trainings of section 2:

# %%
check.keep(my_early_stop)

# %% tags=["drawing"]
turns = [one.history.cal_nll.idxmin() for one in trainings.outcomes]


def judged(one, epoch):
    """A kept network on new images, as it is and after a temperature."""
    now, (held, stated) = one.history.loc[epoch], (one.logits[name][epoch] for name in ("cal", "test"))
    scaler = recalibration.TemperatureScaler().fit(held, one.trial.watch["cal"].labels)
    after = scaler.transform(stated).softmax(dim=1)
    return {"epoch": now.epoch, "right": now.test_accuracy, "gap": now.test_confidence - now.test_accuracy,
            "NLL": now.test_nll, "NLL after T": metrics.nll(after, one.trial.watch["test"].labels)}


# %%
from calibkit.course.mine import early_stop

for patience in (1, 3, 10):  # change me
    stops = [early_stop(torch.tensor(one.history.cal_nll.values), patience) for one in trainings.outcomes]
    print(f"patience {patience}: keeps epochs {[int(kept) + 1 for kept, _ in stops]}, "
          f"trains {[int(last) + 1 for _, last in stops]} of {size.epochs}")

# %% [markdown]
# **Predict before you run:** at the end Ada's network is 15 points too sure on new images. How many points is Eve's? Then each fits a temperature on `cal`:
# who has the lowest NLL on new images now?

# %% tags=["answer"]
keeps = {"Ada": [size.epochs - 1] * len(turns),
         "Ben": [one.history.cal_accuracy.idxmax() for one in trainings.outcomes], "Eve": turns}
# judged(run, epoch): its numbers on new images after that epoch; turns: the epochs of the lowest NLL on cal
for who, kept_epochs in keeps.items():
    rows = pd.DataFrame([judged(*pair) for pair in zip(trainings.outcomes, kept_epochs, strict=True)]).mean()
    print(f"{who} keeps epoch {rows.epoch:.0f}: {rows.right:.1%} right, difference {rows.gap:+.1%}, "
          f"NLL {rows.NLL:.2f}, after a temperature {rows['NLL after T']:.2f}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# Eve's network is 4 points too sure, by far the least. Ben's is hardly better than Ada's (14 and 15 points): he looked at the accuracy alone. But Eve is
# wrong to stop: after one temperature each, Ada and Ben have the lower NLL (0.63, Eve 0.67). The longer training made them right a little more
# often, and this stays; the temperature repairs the confidence.
#
# </details>
#
# ## The answer

# %% tags=["drawing"]
end, turn = means.iloc[-1], np.mean(turns) + 1
print(f"More sure than right on new images from epoch {opens} of {size.epochs}; at the end by "
      f"{100 * (end.test_confidence - end.test_accuracy):.0f} points. Lowest NLL on cal: epoch {turn:.0f}.")

# %% [markdown]
# **It became too sure at epoch 3 of 60, and more so the longer it learned its training images by heart. Yes, we could have stopped: at
# epoch 6, at the lowest NLL on images kept aside. But it is better to train on and to fit one temperature.**
#
# ## Three things to take away
#
# 1. Over-confidence appears on images that the network was *not* trained on: a diagram of the training images does not
#    show it.
# 2. The loss of the training images can always fall further: it asks for more confidence even when all answers are right.
# 3. Compare networks after a temperature each, with a proper score such as the NLL.
#
# ## Recall
#
# <details><summary>1. Test error falls and test NLL rises. How can both be?</summary>
#
# There are fewer wrong predictions, but each is stated with more confidence.
#
# </details>
#
# <details><summary>2. A network has a training ECE of 0.5 %. What do you know of its test ECE?</summary>
#
# Almost nothing: it trained on these images.
#
# </details>
#
# <details><summary>3. Why did we look for the lowest NLL on <code>cal</code> and not on the test images?</summary>
#
# Any curve rises after its own lowest point. Found on the test images, such a rise would prove nothing.
#
# </details>
#
# ## Go further
#
# *All that follows may be left out; some lessons use the map. Next: [06](06_label_noise.ipynb) or the next lesson on your path (see the top).*
#
# From training to new images the accuracy falls (by the **generalisation gap**) and the ECE rises (by the **calibration
# generalisation gap**). Carrell et al. (2022) find that the ECE rises by no more than the accuracy falls.
#
# ### The map: accuracy lost, confidence kept
#
# Two numbers place a network on the map. **Lost** is its accuracy on the training images minus that on new images.
# **Claimed** is its signed gap (00) on new images, mean confidence minus accuracy. With 15 points claimed, the network is
# as sure as if it were right on 15 more of 100 images. Claimed divided by lost is called **kappa** here: the part of the
# lost accuracy that is still claimed.
#
# Three networks are right on 100 % of their training images and on 70 % of new ones. So each loses 30 points.
#
# - One is always 100 % sure, like a *nearest neighbour*, which answers with the label of the most similar training
#   image. It claims 30 points (kappa 1), and lies on the diagonal.
# - One is 88 % sure of new images. It claims 18 points (kappa 0.6).
# - One is 70 % sure. It claims nothing (kappa 0), and lies on the horizontal line.

# %%
explorers.networks("03", "epochs")

# %% [markdown]
# The coloured dots are networks, epoch by epoch: on noisy digits, with partly wrong labels, and on photographs. Begin
# with the noisy digits (blue): press the right arrow key, and follow the ring. The training starts below the
# horizontal line (not sure enough), crosses it, and ends between the two lines.
#
# Trained on partly wrong labels, and judged on new labels that are wrong as often, the network ends further right
# and higher, at nearly the same kappa. On photographs the network starts above the horizontal line, comes close to it,
# and ends at a lower kappa. (There the training accuracy is measured during the epoch, while the network still improves.
# So it is too low, and "lost" too small.) The list above the map has all lessons. Open those of 03 only after the next
# question.
#
# Guo et al. (2017) found deeper and wider networks more over-confident, and also those with **batch normalisation**
# (each unit's inputs are brought to mean 0 and variance 1 over the batch) and with less **weight decay** (every step
# pulls the weights a little towards zero).

# %% tags=["drawing"]
@cache
def splits(seed):
    return data.noisy_digits(size.train, noise=0.4, seed=seed, test=size.test)


plain = {"net": "dense", "depth": 2, "width": 128, "norm": "none", "decay": 1e-4}
convolutional = {
    "small": partial(models.cnn, 1, 10, width=8, depth=2),
    "LeNet-5": partial(models.lenet5, 1, 10, size=16),
    "deep": partial(models.cnn, 1, 10, width=16, depth=6, norm="batch"),
}


@cache
def enlarged(seed):
    return [replace(part, inputs=interpolate(part.inputs, scale_factor=2, mode="bilinear"))
            for part in splits(seed)]


def network(net, depth, width, norm):
    """The function that makes a network."""
    if net in convolutional:
        return convolutional[net]
    return partial(models.mlp, 64, 10, depth=depth, width=width, norm=None if norm == "none" else norm)

# %% tags=["drawing"]
def recipe(net, depth, width, norm, decay, seed):
    train, cal, test = enlarged(seed) if net == "LeNet-5" else splits(seed)
    return training.trial(network(net, depth, width, norm), train,
                          {"train": train, "cal": cal, "test": test},
                          seed=seed, epochs=size.epochs, weight_decay=decay)


def changed(**what):
    """The setting of the plain network with something changed."""
    return dict(plain, **what)


def cooled(one):
    """Test predictions after one temperature, fitted on the calibration images."""
    cal, test = one.predictions["cal"], one.predictions["test"]
    scaler = recalibration.TemperatureScaler().fit(cal.logits, cal.labels)
    return replace(test, logits=scaler.transform(test.logits))

# %% tags=["drawing"]
def places(**setting):
    """Where the networks of a setting lie, one place a seed."""
    rows = newly.table
    for name, value in setting.items():
        rows = rows[rows[name] == value]
    columns = ["train_accuracy", "test_accuracy", "test_confidence"]
    return [plane.place(*row) for row in rows[columns].to_numpy()]


def after_temperature():
    """The plain networks' places after one temperature each."""
    stated = [cooled(one).probs.amax(dim=1).mean().item() for one in newly.where(**changed())]
    accuracy = newly.values("test_accuracy", **changed())
    return list(zip([place.lost for place in places(**changed())], stated - accuracy, strict=True))


# %%
fresh = range(SEED + 100, SEED + 100 + len(seeds))  # new seeds
# changed(...): the setting of the plain network with one thing changed; recipe: its training
settings = {"plain": changed(), "width 16": changed(width=16), "width 32": changed(width=32),
            "depth 1": changed(depth=1), "depth 5": changed(depth=5),
            "weight decay .003": changed(decay=3e-3)}
grid = [dict(setting, seed=seed) for setting in settings.values() for seed in fresh]
newly = sweep.run(recipe, grid, device=device)

# %% [markdown]
# **Predict before you run:** we now take a smaller network and call it *plain*: two layers of 128 units. Draw the map
# on paper. The plain network lies at about 20 points lost and 15 claimed. Where do you put a network with 16 units per
# layer, one with 5 layers, one with weight decay 0.003 (in place of 0.0001), and the plain one after a temperature?

# %% tags=["answer", "drawing"]
# your guess first, then run this cell
where = {name: places(**setting) for name, setting in settings.items()}
where["plain, after a temperature"] = after_temperature()
_ = plots.plane({palette.group(number, name): rows for number, (name, rows) in enumerate(where.items())})
plt.show()
for name, rows in where.items():
    lost, claimed = np.mean(rows, axis=0)
    print(f"{name}: {lost:.1%} lost, {claimed:+.1%} claimed")

# %% [markdown]
# <details><summary>What came out</summary>
#
# Another **width** keeps kappa, which is 0.67 to 0.69 in the legend: on the map these networks lie on one line through
# (0, 0), which is not drawn. The narrower ones lose more, so they claim more, too. Guo's finding on width does not show
# here (on photographs it does). **Weight decay** and a **temperature** move a network down: it claims less of what it
# loses. **Depth** is no clear case: kappa is a little higher with five layers, and much lower with one.
#
# </details>
#
# So the map tells two kinds of change apart: *how much* is lost, and *how much of it is claimed*. In later lessons
#
# - more data moves a network towards (0, 0), at nearly the same kappa, and wrong labels move it away;
# - label smoothing (section 4, and 09) and focal loss (10, 11) ask for less confidence, and move it down.
#
# In earlier runs width and depth hardly changed kappa. The same runs cannot test this, so the networks above have new
# seeds. Is kappa within 0.1 of the plain network's? As a control, the strong weight decay must *not* pass this test.
# The second line counts all verdicts on the question ([evidence](evidence/03_overconfidence.ipynb)).

# %% tags=["nbval-check-output"]
# where: of each network above, lost and claimed, a row per seed; margin="kappa" is 0.1, in all lessons
slope = {name: plane.kappa_values(rows) for name, rows in where.items()}
statement = "width 16: kappa within 0.1 of the plain network's"
print(verdicts.judge("03f", statement, slope["width 16"] - slope["plain"], expect="within", margin="kappa",
                     control=slope["weight decay .003"] - slope["plain"]))
print(claims.concluded("03", "03f"))

# %% [markdown]
# So kappa is about the same for other widths, but not for every depth: a regularity, not a law. Does weight decay lower
# kappa on photographs, too? Networks with six convolutions, on 20,000 photographs of CIFAR-10 ([stored
# runs](from_laptop_to_paper.md)):

# %%
runs = pd.read_csv(checkout.results() / "night" / "runs" / "runs.csv")
runs = runs[runs.loss == "cross-entropy"].groupby("decay")  # one group for each weight decay
for decay, rows in runs[["train_accuracy", "test_accuracy", "test_confidence"]]:
    lost, claimed = plane.place(*rows.mean())
    print(f"weight decay {decay:g}: right on {rows.train_accuracy.mean():.1%} of the training images; "
          f"{lost:.1%} lost, {claimed:+.1%} claimed, kappa {claimed / lost:.2f}")

# %% [markdown]
# Yes: with the strongest decay the network lies lower, and further left, since it loses less. Last, two convolutional
# networks on our digits (`after T`: after one temperature, fitted on `cal`):

# %% tags=["drawing"]
pair = [changed(net="small"), changed(net="deep")]
nets = sweep.run(recipe, [dict(setting, seed=seed) for setting in pair for seed in seeds], device=device)
nets.table["NLL after T"] = [metrics.nll(test.probs, test.labels) for test in map(cooled, nets.outcomes)]
nets.table["ECE after T"] = [metrics.ece(test.probs, test.labels) for test in map(cooled, nets.outcomes)]
shown = nets.table.rename(columns={"test_accuracy": "accuracy", "test_ece": "ECE", "test_nll": "NLL"})
shown.groupby("net", sort=False)[["accuracy", "ECE", "ECE after T", "NLL", "NLL after T"]].mean().round(3)

# %% [markdown]
# ### Exercise: which one would you use?
#
# *Difficulty: easy · importance: high · 5 minutes*
#
# A colleague reads the column `ECE` alone: "The deep one is worse. We use the small one." What was overlooked? When
# would the colleague still be right?
#
# <details><summary>Answer</summary>
#
# One temperature, fitted on 2,000 labelled images, removes most of the deep network's ECE and costs no accuracy.
# Nothing removes the small network's wrong predictions. So compare the accuracy, and the NLL *after* a temperature. The colleague is right where no temperature can be fitted: no labelled images are kept aside, or they differ from the
# images that will come.
#
# </details>
#
# ### The error falls, and the loss rises
#
# Look at the slider again: the loss of the new images falls, then rises, while their error still falls a little. How
# can both be true? The grey curve is the price (the loss) of a prediction: -log of the probability given to the right
# label. Each arrow is the mean of a group of images, from the **turning point** (the epoch of the lowest NLL on `cal`)
# to the last epoch. Printed are the *norm* of the last layer (the size of its weights) and the **entropy** of wrong
# answers (how evenly their probability spreads over the digits).

# %% tags=["drawing"]
groups = {"train_nll": "training images", "test_nll_correct": "new, read rightly",
          "test_nll_wrong": "new, read wrongly"}


def price(column, at):
    """The mean loss over the seeds at the turning points, or at the end."""
    return np.mean([one.history[column].iloc[turn if at == "turn" else -1]
                    for one, turn in zip(trainings.outcomes, turns, strict=True)])

# %% tags=["drawing"]
fig, ax = plt.subplots(figsize=(5.6, 3.6))
chance = np.linspace(0.002, 1, 400)
_ = ax.plot(chance, -np.log(chance), color=palette.GREY)
for number, (column, words) in enumerate(groups.items()):
    early, late = price(column, "turn"), price(column, "end")
    look = palette.group(number, words)
    _ = ax.annotate("", (math.exp(-late), late), (math.exp(-early), early),
                    arrowprops={"arrowstyle": "-|>", "color": look.colour, "lw": 2})
    label = f"{words}: {early:.2f} to {late:.2f}"
    _ = ax.plot([math.exp(-early)], [early], **look.line(linestyle="", label=label))
_ = ax.set(xlabel="probability given to the right label", ylabel="price (loss)", ylim=(-0.2, 6.4))
_ = ax.legend(fontsize="small")
told = {"head_norm": "norm of the last layer", "test_entropy_wrong": "entropy of wrong answers"}
for column, words in told.items():
    print(f"{words}: {price(column, 'turn'):.2f} at the turning point, {price(column, 'end'):.2f} at the end")
moves = [f"{words} {price(column, 'turn'):.2f} to {price(column, 'end'):.2f}"
         for column, words in groups.items()]
_ = alt_text.note(ax, "The price -log p falls from 6 at p = 0.002 to 0 at p = 1. Mean prices from the "
                  f"turning point to the end: {'; '.join(moves)}.")
plt.show()

# %% tags=["nbval-check-output"]
# turns: the turning point of each seed
rise = [one.history.test_nll.iloc[-1] - one.history.test_nll[turn]
        for one, turn in zip(trainings.outcomes, turns, strict=True)]
print(verdicts.judge("O3", "the test NLL rises by at least 0.1", rise, margin=0.1, as_trained=True))
print(claims.concluded("03", "O3"))

# %% [markdown]
# In the end all training images are read rightly. Larger weights still lower their loss, so the weights grow. This makes
# *every* answer more extreme: a new image that is read rightly costs a little less, one that is read wrongly costs much
# more, and the entropy of the wrong answers falls. It never ends: 99.99 % costs less than 99.9 %. (With **label
# smoothing**, which spreads a part of each target over all classes, the loss is lowest at a probability below 100 %.)
#
# With $p_i$ for the probability of image $i$'s label:
#
# $$\mathrm{NLL}=\underbrace{\frac{1}{n}\sum_{\text{right}}-\log p_i}_{\text{part of the right}}
# +\underbrace{\frac{1}{n}\sum_{\text{wrong}}-\log p_i}_{\text{part of the wrong}}$$
#
# ### Exercise: the two parts of the loss
#
# *Difficulty: easy · importance: high · 8 minutes*
#
# From `probs` (n x K) and integer `labels`, return two numbers: the part of the right predictions and that
# of the wrong ones.

# %%
def my_nll_parts(probs, labels):
    ...  # your code here


check.nll_parts(my_nll_parts)

# %% [markdown]
# <details><summary>Hint</summary>
#
# `probs.gather(1, labels[:, None])[:, 0]` is the probability of each label. Both parts are divided by the
# number of *all* predictions.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_nll_parts(probs, labels):
#     loss = -probs.double().gather(1, labels[:, None])[:, 0].log()
#     right = probs.argmax(dim=1) == labels
#     return loss[right].sum() / len(labels), loss[~right].sum() / len(labels)
# ```
#
# </details>
#
# ### What if the weights are held short?
#
# Set the weight decay of section 2 to 0.005. Where is the NLL lowest now, and what becomes of the last layer's norm?
#
# <details><summary>Answer</summary>
#
# ```python
# def decayed(seed):
#     trial = watched(seed)
#     return replace(trial, recipe=replace(trial.recipe, weight_decay=0.005))
#
#
# for runs in (trainings, sweep.run(decayed, {"seed": seeds}, device=device)):
#     lowest = [one.history.cal_nll.idxmin() + 1 for one in runs.outcomes]
#     norms = [round(one.history.head_norm.iloc[-1], 1) for one in runs.outcomes]
#     print(f"lowest NLL after epochs {lowest}, norm of the last layer at the end {norms}")
# ```
#
# The NLL is lowest much later, and hardly rises after that; the weights of the last layer stay smaller.
#
# </details>
#
# All verdicts, with the papers' claims, photographs and controls, are in the [evidence](evidence/03_overconfidence.ipynb).
# Digits differ? See [your numbers differ?](your_numbers_differ.md).
#
# ## References
#
# - Guo et al.: *On Calibration of Modern Neural Networks*. ICML 2017. [arXiv:1706.04599](https://arxiv.org/abs/1706.04599)
# - Carrell et al.: *The Calibration Generalization Gap*. 2022. [arXiv:2210.01964](https://arxiv.org/abs/2210.01964)
# - Mukhoti et al.: *Calibrating Deep Neural Networks using Focal Loss*. NeurIPS 2020.
#   [arXiv:2002.09437](https://arxiv.org/abs/2002.09437)
