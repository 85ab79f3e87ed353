# %% [markdown]
# # 17 · Audit your own model: may it be used?
#
# **Question.** A vendor offers you a network that reads the digits on prescriptions, and a file of its answers to 2,000 test
# images. It is right on 67 % of them, and its signed gap is one point. "Calibrated!" he says. What he does not say: one digit was rare in its
# training, and of 100 images of this digit it finds 16. May it be used, and would the file have told you?
#
# **Predict before you run:** an **audit** measures a model from its predictions and labels alone, and raises an alarm where luck does
# not explain what it sees. Of 100 such files, how many get an alarm? Write down a number, then look at
# the slider.

# %% tags=["answer"]
from calibkit.course import explorers

explorers.stored("audit_power")

# %% [markdown]
# <details><summary>What came out</summary>
#
# 60 of 100: the line *rare class* at 2,000 images. In the other 40 nothing is found. Move the slider: with 1,000 images an alarm comes in 24
# of 100 files, with 5,000 in each. An alarm about a model that is calibrated is a **false alarm**: see
# the line of the exact posterior.
#
# </details>
#
# **Time.** 40 minutes; 40 more for the homework; 60 more for the project.
#
# **Needs.** [01 Reliability diagrams](01_reliability_diagrams.ipynb) and [08 Temperature](08_temperature.ipynb).

# %% tags=["drawing"]
import tempfile
from functools import partial
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from torch.utils.data import DataLoader, TensorDataset

import calibkit
from calibkit import auditing, losses, metrics, recalibration
from calibkit.course import check
from calibkit.course.experiments import file_types, label_cleaning, vendor
from calibkit.course.scale import begin
from calibkit.lab import data, models, training
from calibkit.pictures import alt_text, palette, plots

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% [markdown]
# ## 1. Six files
#
# The vendor has six models, A to F, and asked all about the same 2,000 images, half of them from a new scanner (pixel noise 0.4), half
# from an old one (0.6). Five have a fault. In some order:
#
# - *too sure*: trained to the end, nothing more;
# - *rare class*: that of the question, with a temperature for each scanner;
# - *noisy labels*: 30 % of the training labels were shuffled; stopped early, it has learned to expect wrong labels, and is not sure enough;
# - *two scanners*: one temperature for all images;
# - *leak*: recalibrated on images of which many are test images;
# - *none*: the exact posterior.
#
# (As a game, with new files: [six files, five faults](open/six_files.html).)

# %%
size, seeds, device = begin(SCALE, SEED, DEVICE)
models_for_sale = vendor.Vendor(size, seeds, device)  # trains them
folder = Path(tempfile.mkdtemp())
fault_of = models_for_sale.write(folder, SEED)  # do not print it: it says which letter has which fault
pd.read_csv(folder / "A.csv").head(3).round(2)

# %% [markdown]
# The audit of model A:

# %%
first = auditing.audit_files(folder / "A.csv", groups="scanner", kind="logits")
print(first)

# %% [markdown]
# *By luck alone* is the mean ECE of 1,000 simulated files of a calibrated model with these confidences; p is the share of them whose ECE is no smaller. The temperature is fitted on one half of the file and judged on the other (**cross-fitting**).
#
# ## 2. The average hides groups
#
# A gap can be 0 because two gaps cancel. **Subgroup calibration** asks for a gap of 0 in each group, here each scanner or each predicted
# digit. How large may it be by luck? Let c be the confidences and h the hits (1 or 0) of a group. If each hit has
# the chance that its confidence states, c - h has mean 0 and variance c (1 - c). So this is nearly standard normal:
#
# $$z = \frac{\sum (c - h)}{\sqrt{\sum c\,(1 - c)}}.$$
#
# ### Exercise: the z of each group
#
# *Difficulty: medium · importance: high · 8 minutes*
#
# Given are `confidence`, `correct` (booleans) and `groups`, a number for each sample: 0, 1, ... with no group empty. Return a tensor with the z of each group.


# %%
def my_group_z(confidence, correct, groups):
    # 1. for each group, the sum of confidence - hit
    # 2. for each group, the sum of confidence * (1 - confidence)
    # 3. the first, divided by the root of the second
    ...


check.group_z(my_group_z)

# %% [markdown]
# <details><summary>Hint</summary>
#
# `torch.bincount(groups, values)` adds up the values of each group.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_group_z(confidence, correct, groups):
#     off = torch.bincount(groups, confidence - correct.double())
#     variance = torch.bincount(groups, confidence * (1 - confidence))
#     return off / variance.sqrt()
# ```
#
# </details>

# %%
check.keep(my_group_z)

# %%
from calibkit.course.mine import group_z

for letter in "ABCDEF":
    table = pd.read_csv(folder / f"{letter}.csv")
    scores = torch.from_numpy(table.filter(like="logit").to_numpy())
    confidence, predicted = scores.softmax(dim=1).max(dim=1)
    correct = predicted == torch.tensor(table["label"].to_numpy())
    is_old = torch.tensor((table["scanner"] == "old").to_numpy()).long()
    (whole,) = group_z(confidence, correct, torch.zeros_like(is_old))
    new, old = group_z(confidence, correct, is_old)
    of_digit = group_z(confidence, correct, predicted)
    k = of_digit.abs().argmax()
    print(f"{letter}: z {whole:+6.1f} of all; {new:+6.1f} new, {old:+6.1f} old scanner; "
          f"largest of a predicted digit {of_digit[k]:+6.1f} ({k})")

# %% [markdown]
# Of 20 groups of a calibrated model, one is expected beyond 2. So the audit divides 0.05 by the number of groups: with two scanners z must be beyond 2.24 (0.05 / 2), with ten digits beyond 2.8 (0.05 / 10).
#
# ## 3. Which fault has which model?
#
# With each model comes the vendor's calibration data. The audit looks for test rows in it.

# %%
audits = {}
for letter in "ABCDEF":
    second = folder / f"{letter}_calibration.csv"
    audits[letter] = auditing.audit_files(folder / f"{letter}.csv", groups="scanner", calibration=second,
                                          kind="logits", columns_as_named=True, resamples=100)
    worst = audits[letter].classes.iloc[0]  # the class with the lowest p
    print(f"{letter}: of the {worst['name']}s it finds {worst.recall:.0%}; where it says {worst['name']} "
          f"it is {worst.said:.0%} sure, {worst.right:.0%} right")
    for warning in audits[letter].warnings:
        if warning.startswith("duplicates"):
            print("  ", warning.split(". ")[0].split(": ", 1)[-1])

# %% tags=["drawing"]
rows = []
for found in audits.values():
    gaps = dict(zip(found.groups.name, found.groups.gap, strict=True))
    numbers = [found.measures["accuracy"].value, found.measures["gap"].value, found.measures["ece"].value,
               found.test.expected, found.test.p_value, gaps["new"], gaps["old"]]
    rows.append(np.round(numbers, 3))
fig, ax = plt.subplots(figsize=(6, 2.8))
told = []
for place, name in enumerate(vendor.SCANNERS):
    look = palette.group(place, f"{name} scanner")
    of = [found.groups.set_index("name").loc[name] for found in audits.values()]
    ends = np.abs([[one.low - one.gap, one.high - one.gap] for one in of]).T
    _ = ax.errorbar(np.arange(6) + 0.2 * place - 0.1, [one.gap for one in of], yerr=ends,
                    **look.line(linestyle="none"), capsize=3)
    gaps = [f"{letter} {one.gap:+.1%}" for letter, one in zip(audits, of, strict=True)]
    told.append(f"{name} scanner: {', '.join(gaps)}")
_ = ax.axhline(0, color=palette.GREY, lw=0.8)
_ = ax.set(xticks=range(6), xticklabels=list(audits), ylabel="signed gap")
plots.percent(ax, "y", unit="points")
_ = ax.legend(fontsize="small")
_ = alt_text.note(ax, f"Signed gap with its 95 % interval. {'; '.join(told)}.")
plt.show()
pd.DataFrame(rows, index=list(audits), columns=["right", "gap", "ECE", "by luck", "p", "gap, new", "gap, old"])

# %% [markdown]
# **Predict before you run:** write down the fault of each letter, A to F. A point for each.

# %% tags=["answer"]
for letter, fault in fault_of.items():
    measured, exact = audits[letter].measures["ece"].value, models_for_sale.true_error(fault, SEED)
    print(f"{letter}: {fault:13s} ECE of the file {measured:.3f}, true error {exact:.3f}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# (The true error is measured with the exact posterior in place of labels. By luck the ECE of a file may lie above it.)
#
# - **too sure:** a gap far above zero on both scanners.
# - **noisy labels:** a gap far *below* zero. The audit sees this symptom, not its cause.
# - **two scanners:** hardly any gap on the whole, but one above zero on one scanner and one below on the other.
# - **rare class:** only one digit is off. It is seldom predicted; where it is, it is right more often than the model says.
# - **leak:** small gaps, and half of the test images stand in the calibration file. Its ECE is smaller than its true error.
# - **none:** nothing, or one flag by luck.
#
# </details>
#
# The leaked rows hide a gap. Without them:

# %%
leaked = next(letter for letter, fault in fault_of.items() if fault == "leak")
table, known = (pd.read_csv(folder / f"{leaked}{part}.csv") for part in ("", "_calibration"))
scores = list(table.filter(like="logit"))
fresh = table[~table.set_index(scores).index.isin(known.set_index(scores).index)]
rest = calibkit.audit(torch.from_numpy(fresh[scores].to_numpy()), fresh["label"].to_numpy())
print(f"model {leaked}: signed gap {audits[leaked].measures['gap'].value:+.3f} on all rows, "
      f"{rest.measures['gap'].value:+.3f} on the {len(fresh)} others (p = {rest.test.p_value:.3f})")

# %% [markdown]
# ## 4. "Nothing found"
#
# The **power of a test** is the probability that it finds a given fault. Behind the opening slider are many files for each number of images.
# An alarm is a p below 0.05 / 3 in one of three checks: ECE, predicted digits, scanners.

# %%
def share_of_alarms(fault, n):
    p_values = models_for_sale.p_values(fault, n, SEED, draws)  # a row for each file, a column for each check
    return (p_values.min(axis=1) <= 0.05 / 3).mean()


numbers, draws = [50, 100, 200, 500, 1000, 2000, 5000], size.draws // 2
kinds = ("too sure", "two scanners", "rare class", "none")
power = pd.DataFrame([{"fault": fault, "n": n, "alarms": share_of_alarms(fault, n)}
                      for fault in kinds for n in numbers])
rare = power[power.fault == "rare class"].set_index("n").alarms
print(f"The audit finds the rare class in {rare[1000]:.0%} of files of 1,000 images, "
      f"in {rare[2000]:.0%} of 2,000 and in {rare[5000]:.0%} of 5,000.")

# %% tags=["drawing"]
shown = {"too sure": palette.OVER.named("too sure"), "two scanners": palette.group(2, "two scanners"),
         "rare class": palette.group(4, "rare class"), "none": palette.TRUTH.named("exact posterior")}


def frame(n):
    chosen, labels = vendor.test_set(models_for_sale.scans("pool", SEED).posterior, n, SEED, 0)
    now = power[power.n == n].set_index("fault").alarms
    words = ", ".join(f"{now[fault]:.0%} ({role.words})" for fault, role in shown.items())
    lines = {role: [power[power.fault == fault].alarms.tolist()] for fault, role in shown.items()}
    return explorers.along_frame(
        metrics.reliability(models_for_sale.probs("rare class", SEED, "pool")[chosen], labels), n, numbers, lines,
        x_label="images in the file", x_ticks=[100, 1000], log_x=True,
        y_label="audits with an alarm (%)", title=f"rare class, {n:,} images",
        readout=f"{n:,} images: share of audits with an alarm: {words}.")


slider = explorers.Explorer(
    frame, explorers.Slider("images in the file", numbers, show="{:,}".format, start=2000), play=True,
    description="Left, the reliability diagram of one file of the model with a rare class. Right, against "
    f"the number of images in the file, the share of {draws} audits with an alarm, a line for each of 4 "
    "models. The line of the exact posterior shows the false alarms. The grey line marks the chosen number.")
explorers.keep(slider, "audit_power")

# %% [markdown]
# In section 2 the 8 of the rare class has a z of -3.0, beyond 2.8: a printed report warns of it. But an *alarm* here is rarer than a warning: it comes from three checks together, and needs 3.1 (0.05 / 3 / 10).
# So this file is one of the 40 of 100 without an alarm. Write beside "nothing found" *what would have been found*.
#
# ## 5. Ada, Ben, Eve, and you
#
# Ada trains with more weight decay, Ben with smoothed labels, Eve as usual, and divides by a temperature.

# %%
train, cal, test = data.noisy_digits(size.train, noise=0.4, seed=SEED, test=2000)
fit = partial(training.fit, lambda: models.mlp(64, 10), train, epochs=size.epochs, seed=SEED, progress=False)
ada = fit(weight_decay=5e-3, device="cpu").model
ben = fit(loss=partial(losses.label_smoothing, alpha=0.05), device="cpu").model
eve = fit(device="cpu").model

# %% [markdown]
# If you have a network and a `DataLoader` of your own, put them here.

# %%
def answers(network, images):
    loader = DataLoader(TensorDataset(images.inputs, images.labels), batch_size=256)  # or yours
    network.eval()
    with torch.no_grad():
        batches = [(network(inputs), labels) for inputs, labels in loader]
    return [torch.cat(part) for part in zip(*batches, strict=True)]

scaler = recalibration.TemperatureScaler().fit(*answers(eve, cal))
logits, labels = answers(eve, test)
print(calibkit.audit(scaler.transform(logits), labels))

# %% [markdown]
# What *you* wrote audits them: the ECE (01), the temperature (08), today's z, and the gap plus and minus 1.96 standard errors. What you have
# not kept is the course's own. The `assert` lines compare ECE and gap with the course's audit.

# %%
from calibkit.course.mine import ece, fitted_temperature, gap_interval, whose

print(whose("ece", "gap_interval", "fitted_temperature", "group_z"))
logits, labels = answers(eve, cal)
T = fitted_temperature(logits.double(), labels)
for name, network in {"Ada": ada, "Ben": ben, "Eve": eve}.items():
    logits, labels = answers(network, test)
    probs = (logits.double() / (T if name == "Eve" else 1)).softmax(dim=1)
    confidence, predicted = probs.max(dim=1)
    error, (low, gap, high) = ece(probs, labels, 15), gap_interval(probs, labels)
    z = group_z(confidence, predicted == labels, predicted)
    audit = calibkit.audit(probs=probs, labels=labels)
    assert abs(error - audit.measures["ece"].value) < 1e-6
    assert abs(gap - audit.measures["gap"].value) < 1e-6
    print(f"{name}: right {audit.measures['accuracy'].value:.1%}; gap {gap:+.1%} [{low:+.1%}, {high:+.1%}]; "
          f"ECE {error:.1%}, by luck {audit.test.expected:.1%}; largest z of a digit {z.abs().max():.1f}")

# %% [markdown]
# Ada's gap is above 0 with its whole interval. Ben's and Eve's cannot be told from 0. Yet each of the two has a predicted digit with a z beyond 2.8, a warning: here, too,
# the average hides a group. The printed report names predicted digits that are off; all stand in `classes` of what the audit returns. (Other libraries, or no Python: [your model](your_model.md), [audit a file](audit_a_file.md).)
#
# ## The answer
#
# **No, not for this digit. The file tells how often it is found, if you ask for each class; its wrong confidence raises an
# alarm in only 60 of 100 such files. So audit by class, by scanner and with the calibration file, and write down which fault so few images
# could not show.**
#
# ## Three things to take away
#
# 1. An average hides groups, classes and leaks: look at each, and divide the level by the number of looks.
# 2. "Nothing found" is worth as much as the power at your n.
# 3. An audit names a symptom. The cause is yours to find.
#
# ## Recall
#
# <details><summary>1. A model has a signed gap of zero and p = 0.4. Name two faults that it may still have.</summary>
#
# Groups or classes whose gaps cancel; test rows in its calibration data.
#
# </details>
#
# <details><summary>2. You test 40 groups at p = 0.05. How many are flagged if the model is calibrated?</summary>
#
# About two. Divide 0.05 by 40.
#
# </details>
#
# <details><summary>3. Why is each half divided by the temperature of the other half?</summary>
#
# So that no sample is judged by a temperature that has seen its label.
#
# </details>
#
# ## Go further
#
# *All that follows may be left out. More statistics: [18 Estimators in depth](18_estimators_in_depth.ipynb).*
#
# ### Store logits
#
# From the probabilities of model A in three decimals comes another temperature, as some labels now have probability 0:

# %%
table = pd.read_csv(folder / "A.csv")
rounded = torch.from_numpy(table.filter(like="logit").to_numpy()).softmax(dim=1).numpy().round(3)
rounded = pd.DataFrame(rounded).assign(label=table["label"], scanner=table["scanner"])
rounded.to_csv(folder / "predictions.csv", index=False)
found = auditing.audit_files(folder / "predictions.csv", groups="scanner", kind="probs")
page = found.write(folder / "audit.html")  # print(page) says where it lies
print(f"temperature {found.cooling.value:.2f}, with all decimals {first.cooling.value:.2f}")

# %% [markdown]
# ### A deployed network on your own files
#
# *30 minutes.* magika (Google; Fratantonio et al. 2025) names the type of a file, one of 214, from its first and last 1,024 bytes; mail is scanned with
# it. Is it calibrated? The ending of a file's name says the truth, mostly. Here are its answers on 1,345 files of a Python installation, kept without
# names and contents.
#
# **Predict before you run:** on average it is 94 % sure. On what share of the files does it agree with the ending, and where it is more than 99 % sure?

# %% tags=["answer"]
whole, first = file_types.stored()
one = abs(whole.temperatures - 1).argmin()  # the row of T = 1


def told(words, walk):
    sure = walk.confidence[one]
    print(f"{words}: {len(sure):,} files, {sure.mean():.1%} sure, {walk.right.mean():.1%} right; above 99 % "
          f"sure on {(sure > 0.99).mean():.0%}, right on {walk.right[sure > 0.99].mean():.1%} of these")


told("whole files", whole)

# %% [markdown]
# <details><summary>What came out</summary>
#
# 88 %, so it is 6 points too sure; above 99 % it is right on 97 %.
#
# </details>
#
# **Who is wrong?** These are its surest mistakes, by the type that the ending names and the one that the network names:

# %%
surest = ~whole.right & (whole.confidence[one] > 0.99)
table = pd.DataFrame({"the ending": whole.meant[surest], "the network": whole.said[surest]})
print(f"{surest.sum()} mistakes above 99 %; right if the ending is wrong each time: "
      f"{(whole.right | surest).mean():.1%}")
table.value_counts().head(8).to_frame("files")

# %% [markdown]
# A `.txt` that is written as reStructuredText, an `.html` that is a template: often it is the *label* that is doubtful. That is label noise in the
# test set ([06](06_label_noise.ipynb)), and it makes a network look more over-confident than it is.
#
# **One temperature, and a shift.** T is fitted on every second file, and judged on the others; then on the same files of which the network sees only the
# first 64 bytes, as when a download begins:

# %%
half = np.arange(len(whole.right)) % 2 == 0
cool = whole.nll[:, half].mean(axis=1).argmin()
print(f"T = {whole.temperatures[cool]}")
for words, walk in {"whole files": whole, "first 64 bytes": first}.items():
    before, after = (walk.confidence[row, ~half].mean() for row in (one, cool))
    print(f"{words}: {before:.1%} sure, {after:.1%} after T; {walk.right[~half].mean():.1%} right")

# %% [markdown]
# On whole files the gap of 7 points becomes one. On the first 64 bytes the same T does harm: 10 points too sure become 14 points not sure enough. A T
# is fitted for inputs of one kind ([13](13_shift_and_ood.ipynb)).
#
# **The makers' thresholds.** Their program says "text" or "unknown" where the score is below a threshold, which is higher for twelve types. Is that
# better than one threshold on the confidence after T, set so that as many files are named?

# %%
for words, walk in {"whole files": whole, "first 64 bytes": first}.items():
    sure, many = walk.confidence[cool], walk.trusted.sum()
    named = np.argsort(-sure)[:many]  # the surest, as many as the makers trust
    makers, ours = (1 - walk.right[which].mean() for which in (walk.trusted, named))
    print(f"{words}: {many / len(sure):.0%} named, wrong {makers:.1%} with the makers' thresholds, "
          f"{ours:.1%} with one")

# %% [markdown]
# On whole files it makes no difference. On the first 64 bytes the thresholds of single types leave fewer wrong: what differs between types no one
# number can know.
#
# **Your files.** Name folders of your own (it needs `python -m pip install magika` where the course was installed without it). They are read, and
# nothing of them is kept. Move the slider through the surest mistakes: who is wrong, the network or the name?

# %%
folders = []  # change me: ["~/Documents"]
if folders:
    mine = file_types.walk(folders)
    told("my files", mine)
    file_types.look(mine)

# %% [markdown]
# Then audit it as you audited A to F: is it equally right on each type? (`pd.factorize(mine.said)[0]` makes the groups of your `group_z`.)
#
# ### The project
#
# ### Exercise: a verdict on one page
#
# *Difficulty: hard · importance: high · 60 minutes*
#
# Audit a model of your own. If you have none, take one of the letters B to F, and pretend not to know its fault
# (`audits["C"].write("C.html")` makes the page of a letter). Write one page: may it be used, for what, on which conditions?
#
# <details><summary>Answer</summary>
#
# A point for each:
#
# 1. It says where the data come from, how many samples there are, and whether they stood in the training or calibration data.
# 2. Accuracy, signed gap and ECE with intervals, beside the chance level; a proper score.
# 3. The calibration test with its power: which gap would have been found?
# 4. Classes and at least one column of groups, with the number of comparisons.
# 5. The temperature, cross-fitted or from data of its own, and what is left after it.
# 6. Risk and coverage for the use in mind, with the threshold.
# 7. At least ten of the surest mistakes, looked at: model, image or label?
# 8. A cause is named only where it was tested.
# 9. A decision, with the condition under which it must be made anew (a new scanner, other shares of the classes).
#
# Eight or nine: send it to whoever decides. Fewer: which missing point could change your decision?
#
# </details>
#
# ### Measure while you curate
#
# *Dataset Curation Beyond Accuracy* advises to measure calibration, not accuracy alone, while a dataset is made. We try it on images of the new
# scanner, with 30 % of the training labels shuffled. A network has memorised its own labels (06). So each image is judged by a network that has
# not seen it, one of five, each trained without a different fifth: an **out-of-fold prediction**. An image whose label gets a probability
# below 0.05 is a **suspect**.

# %%
cleaning = label_cleaning.Cleaning(size, seeds[:3], device)
suspects = cleaning.suspects(SEED)
wrong = cleaning.is_wrong(suspects, SEED)
print(f"{len(suspects)} suspects; {wrong.double().mean():.0%} of them have a wrong label; "
      f"{wrong.sum() / len(cleaning.given(SEED).changed):.0%} of the wrong labels are suspects")

# %% [markdown]
# **Predict before you run:** we remove the suspects and train again. If *all* wrong labels were removed, the accuracy would rise and the true error
# would fall. What share of the rise do we get, and what share of the fall?

# %% tags=["answer"]
columns = {"test_accuracy": "accuracy", "test_gap": "signed gap", "true error": "true error",
           "ECE, noisy test labels": "ECE, noisy test labels"}
means = cleaning.curated.table.groupby("removed", sort=False)[list(columns)].mean().rename(columns=columns)
print(means.round(3).to_string())
way = (means - means.loc["nothing"]) / (means.loc["wrong labels"] - means.loc["nothing"])
print(f"\nshare of the way from the first row to the last: accuracy {way.loc['suspects', 'accuracy']:.0%}, "
      f"true error {way.loc['suspects', 'true error']:.0%}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# 61 % of the rise, and 42 % of the fall: accuracy alone does not tell how over-confident the cleaned network still is. With test labels as noisy
# as the training labels (last column) one does not see the fall at all. So keep a small set of labels that you trust.
#
# </details>
#
# All verdicts, and a rule that names the fault in your place, on new faults: [evidence](evidence/17_audit_your_model.ipynb).
#
# ## References
#
# - *Dataset Curation Beyond Accuracy*. Anonymous authors, paper under double-blind review. (its section 6: the advice to measure calibration)
# - Northcutt, Jiang, Chuang: *Confident Learning: Estimating Uncertainty in Dataset Labels*. Journal of Artificial Intelligence Research
#   70, 2021. [arXiv:1911.00068](https://arxiv.org/abs/1911.00068) (out-of-fold predictions to find wrong labels)
# - Fratantonio, Invernizzi, Farah, Thomas, Zhang, Albertini, Galilee, Metitieri, Cretin, Petit-Bianco, Tao, Bursztein: *Magika: AI-Powered Content-Type Detection*. ICSE 2025.
#   [arXiv:2409.13768](https://arxiv.org/abs/2409.13768)
# - Hébert-Johnson, Kim, Reingold, Rothblum: *Multicalibration: Calibration for the (Computationally-Identifiable) Masses*. ICML 2018.
#   [arXiv:1711.08513](https://arxiv.org/abs/1711.08513) (calibration in groups)
