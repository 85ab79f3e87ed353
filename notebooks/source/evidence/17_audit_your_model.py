# %% [markdown]
# # Evidence beside 17 · Audit your own model
#
# For readers who want to judge what [the lesson](../17_audit_your_model.ipynb) says: every verdict with its interval, claim by claim, with one conclusion each. The six models and the curation are those of the lesson, trained anew for each seed.

# %%
from functools import partial

import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns

from calibkit.course import verdicts
from calibkit.course.experiments import label_cleaning, vendor
from calibkit.course.scale import begin
from calibkit.pictures import alt_text, palette

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %%
size, seeds, device = begin(SCALE, SEED, DEVICE)
unseen = vendor.Vendor(size, [100 + seed for seed in seeds], device, vendor.UNSEEN)
cleaning = label_cleaning.Cleaning(size, seeds, device)

# %% [markdown]
# ## 17a: does the rule name the fault?
#
# The rule of the lesson (`vendor.diagnosis`) reads the audit of a file of 2,000 images, with the vendor's calibration file, of each model and seed. It chooses from a closed list of six. It was written for the models of the lesson; so it is judged on models whose faults were made in other ways (`vendor.UNSEEN`), of other seeds. Of three faults that are not in its list it says what the table shows.

# %% tags=["nbval-check-output"]
names = [[unseen.diagnosed(fault, seed) for fault in vendor.FAULTS] for seed in unseen.seeds]
hits = pd.DataFrame(names, columns=vendor.FAULTS) == list(vendor.FAULTS)
words = "faults made in other ways: the rule names at least 70 %"
judged = verdicts.judge_share("17a", words, int(hits.to_numpy().sum()), hits.size, than=0.7)
words = "in files of 2,000 images the rule tells the six apart, also where the faults were made in other ways"
print(verdicts.conclude("17a", [judged], words))

# %%
names = [[unseen.diagnosed(fault, seed) for fault in vendor.NAMELESS] for seed in unseen.seeds]
pd.DataFrame(names, columns=vendor.NAMELESS, index=unseen.seeds)

# %% [markdown]
# ## 17d: measure while you curate
#
# *Dataset Curation Beyond Accuracy* (section 6) advises to measure calibration when datasets are collected. It cleans none: what follows is ours. Of 30 % of the training labels, drawn at random, the labels are shuffled; suspects are training images whose label has a probability below .05 out of fold. As controls as many images are removed at random, and those whose label is truly wrong.

# %%
columns = ["test_accuracy", "test_gap", "test_ece", "true error", "ECE, noisy test labels"]
table = cleaning.curated.table
table.groupby("removed", sort=False)[columns].agg(["mean", "std"]).round(3)

# %%
fig, axes = plt.subplots(1, 2, figsize=(8.5, 3.2))
for ax, column in zip(axes, ("test_accuracy", "true error"), strict=True):
    _ = sns.stripplot(table, x="removed", y=column, color=palette.BLUE, ax=ax)
    _ = ax.set(xlabel="training images removed", ylabel=column.replace("test_", ""))
    means = table.groupby("removed", sort=False)[column].mean()
    words = ", ".join(f"{way} {mean:.3f}" for way, mean in means.items())
    name = column.replace("test_", "").capitalize()
    _ = alt_text.note(ax, f"{name} of each seed's network by what was removed; means: {words}.")

# %% tags=["nbval-check-output"]
change = cleaning.change
verdict = partial(verdicts.judge, "17d")
given = [
    verdict(
        "removing the suspects raises the accuracy by at least 3 points",
        change("test_accuracy", "suspects", "nothing"),
        margin=0.03,
    ),
    verdict(
        "it raises the accuracy more than removing as many at random",
        change("test_accuracy", "suspects", "at random"),
    ),
]
print(
    verdicts.conclude(
        "17d", given, "an audit of out-of-fold predictions finds labels whose removal raises the accuracy"
    )
)

# %% [markdown]
# Two hypotheses on the share of wrong labels found were not tested: wrong labels are left, and correct labels of hard images are lost (the lesson's "Go further" tries one seed).
#
# ## What is left
#
# Photographs with people's labels: audits that mend labels in place of removing them.
#
# | | the source | ours |
# |---|---|---|
# | Z1 | "for sensitive applications, one should evaluate calibration when collecting datasets": advice | 17d, our own experiment |
