# %% [markdown]
# # 16 · Translation
#
# **Question.** A phone translates a doctor's instructions and shows how sure it is of each word. How far can these numbers be
# trusted, and does a harder search for the most probable sentence make the translation better?
#
# **You will be able to**
# - compute the exact law of the next word where all translations and their probabilities are known;
# - measure the calibration of words without counting padding;
# - compare losses by their ECE and by the distance to the exact law;
# - say what a temperature and a wider beam do to translations, and what a word's probability says of a sentence.
#
# **Time.** 60 minutes for sections 1 to 4; 45 more for 5 to 8, a second sitting.
#
# **Needs.** [05 Dataset size](05_dataset_size.ipynb), [08 Temperature](08_temperature.ipynb), [09 Soft targets](09_soft_targets.ipynb),
# [10 Focal loss in theory](10_focal_theory.ipynb), [15 Text](15_text.ipynb); attention (04) helps.

# %%
from functools import cache, partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
import torch
from torch.nn.functional import cross_entropy

from calibkit import losses, metrics, recalibration
from calibkit.course import check, experiments, explorers, verdicts
from calibkit.course.scale import begin
from calibkit.lab import translation
from calibkit.lab.translation import toy
from calibkit.pictures import palette

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% [markdown]
# The picture shows small transformers that learn to translate, early in the training, with many sentences. **Write down a guess:** with *few*
# sentences, does calibration get better or worse in the course of the training? Then move the sliders. (Section 1 explains.)

# %%
explorers.stored("translation")

# %% [markdown]
# ## 1. A pair of languages whose law is known
#
# Of real sentences nobody knows how probable each translation is. So we invent a translator. He turns English sentences into French
# words, and draws each time anew: a noun among synonyms (*voiture* 50 %, *véhicule* 30 %, *bolide* 20 %), which may differ in gender; an
# article and an adjective that agree with it; a verb; and for an adverb a phrase of three words (*de façon* or *de manière*, 50 % each, then the
# commoner of two words, 60 %, or the other) at the end (45 %), in front (30 %), or, as he is lazy, nowhere (25 %).

# %%
source = "the green car hides the road often"
everything = toy.translations(source)
print(f"{len(everything)} translations of '{source}'. The five most probable:")
for text, p in list(everything.items())[:5]:
    print(f"{p:.1%}  {text}")

# %% [markdown]
# A **token** of this lesson is a word, or the mark that ends a sentence. A model says, at each place, how probable each token is, given the
# source and the tokens before it, the **prefix**. Its reference is the **next-word law**, the exact probability of the next token given both:

# %%
ways = toy.ways(source.split())
for prefix in ("", "la", "la voiture verte cache la route"):
    left = ways
    for word in prefix.split():
        left = toy.followed(left, word)
    law = ", ".join(f"{word} {p:.0%}" for word, p in toy.next_words(left).items())
    print(f"after '{prefix}': {law}")

# %% [markdown]
# In expectation no model has a lower NLL or a higher token accuracy than this law. It can be computed from the list of all translations:
#
# ### Exercise: the next-word law
#
# *Difficulty: medium · importance: high · 15 minutes*
#
# `translations` (m, L): all translations of one sentence, token numbers with end mark, then zeros; `probs` (m,) their probabilities (float64), `words` the
# size V of the vocabulary. Return a tensor (V,): the probability of each word to come after `prefix` (t,).

# %%
def my_next_law(translations, probs, prefix, words):
    ...  # your code here


check.next_law(my_next_law)

# %% [markdown]
# <details><summary>Hint</summary>
#
# Which rows begin with the prefix? What stands in the column after it? Add up their probabilities by word (`torch.bincount`); divide by the total.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_next_law(translations, probs, prefix, words):
#     fits = (translations[:, :len(prefix)] == prefix).all(dim=1)
#     following = translations[fits, len(prefix)]
#     law = torch.zeros(words, dtype=torch.float64)
#     law = law.index_add(0, following, probs[fits])
#     return law / law.sum()
# ```
#
# </details>
#
# We compare a model $p$ with the law $q$ by the total variation distance (15), $\frac12\sum_w |p_w - q_w|$, below called the distance. Now the
# data: sentences to train on, and others to calibrate (`cal`) and to test.

# %%
size, seeds, _ = begin(SCALE, SEED, DEVICE)
seeds = seeds[:3]
small_run = SCALE == "smoke"
few, some, many = (100, 200, 400) if small_run else (300, 800, 3000)
steps = 8 if small_run else 400
judged_on = 50 if small_run else 600  # sentences of cal, and of test


@cache
def drawn(part, seed):
    place = ["train", "cal", "test"].index(part)
    return toy.draw(many if part == "train" else judged_on, seed=10 * seed + place)


@cache
def exact(part, seed):
    return toy.law(drawn(part, seed))


test = drawn("test", SEED)
# the law is (n, L, V): sentences, places, words; test.real tells the places that hold a token of the sentence
law, labels = exact("test", SEED)[test.real], test.target[test.real]
print(f"{len(labels):,} tokens: the law's favourite is right in {metrics.accuracy(law, labels):.1%}, "
      f"its mean confidence is {law.amax(dim=1).mean():.1%}, its ECE {metrics.ece(law, labels):.1%}")

# %% [markdown]
# ## 2. A token is a prediction, padding is none
#
# A token's prediction is a row of probabilities as always. Here we predict each token from the *true* tokens before it (**teacher forcing**).
# In a tensor (n, L) short sentences are filled up with 0: padding (15).
# We train all networks now, some of them the wrong way, with padding in the loss.

# %%
ways_to_train = {"cross-entropy": cross_entropy,
                 "smoothing": partial(losses.label_smoothing, alpha=0.1),
                 "focal": partial(losses.focal, gamma=2.0)}
marks = [2, 4, 8] if small_run else [25, 50, 75, 100, 150, 200, 250, 300, 350, 400]


def plan(loss, n, seed, padded=False):
    return translation.Plan(drawn("train", seed)[:n], drawn("test", seed), exact("test", seed),
                            loss=ways_to_train[loss], steps=steps // 2 if padded else steps,
                            marks=tuple(marks), padded=padded, depth=1, seed=seed)


settings = [("cross-entropy", n, seed, False) for n in (few, some, many) for seed in seeds]
settings += [(loss, some, seed, False) for loss in ("smoothing", "focal") for seed in seeds]
settings += [("cross-entropy", some, seed, True) for seed in seeds]
runs = dict(zip(settings, translation.fit_all([plan(*one) for one in settings]), strict=True))

# %% [markdown]
# Each network is a transformer, width 48: one layer reads the source, one the prefix. All train for the same number of steps (with padding for half
# as many).
#
# **Predict before you run:** the networks that learned padding too are judged by the real tokens and by all places. Which accuracy
# is higher, and which ECE? And what happens to each when more padding is added to the same test sentences?

# %% tags=["answer"]
def widened(pairs, more):
    blank = torch.full((len(pairs), more), translation.PAD)
    target = torch.cat([pairs.target, blank], dim=1)
    return translation.Pairs(pairs.source, target, pairs.source_words, pairs.target_words)


rows = []
for seed in seeds:
    model = runs["cross-entropy", some, seed, True].model
    for more in (0, 10, 30):
        pairs = widened(drawn("test", seed), more)
        probs = translation.logits_of(model, pairs).softmax(dim=2)
        everywhere = torch.ones_like(pairs.real)
        places = {"real tokens": pairs.real, "padding": ~pairs.real, "all places": everywhere}
        for name, mask in places.items():
            rows.append({"counted": name, "columns": pairs.target.shape[1], "seed": seed,
                         "accuracy": metrics.accuracy(probs[mask], pairs.target[mask]),
                         "ECE": metrics.ece(probs[mask], pairs.target[mask])})
padding = pd.DataFrame(rows).groupby(["counted", "columns"])[["accuracy", "ECE"]].mean()
for (name, columns), row in padding.iterrows():
    print(f"{columns} columns, {name}: accuracy {row.accuracy:.1%}, ECE {row.ECE:.1%}")

# %% [markdown]
# Open the answer above first. With as many columns as in the training, padding is easy: these sure hits raise the accuracy and lower the ECE.
# With more columns, the networks stand at places that they never saw, and err even about padding. The repair in every measure is a mask: the
# numbers of the real tokens do not move. We mask the loss as well.
#
# ### Exercise: the gap without padding
#
# *Difficulty: easy · importance: high · 5 minutes*
#
# `probs` (n, L, V) and `labels` (n, L), in which 0 is padding. Return the signed gap of the real tokens, one number.

# %%
def my_masked_gap(probs, labels):
    ...  # your code here


check.masked_gap(my_masked_gap)

# %% [markdown]
# <details><summary>Hint</summary>
#
# `real = labels != 0` chooses rows: `probs[real]` is (tokens, V).
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_masked_gap(probs, labels):
#     real = labels != 0
#     confidence = probs[real].amax(dim=1)
#     hits = probs[real].argmax(dim=1) == labels[real]
#     return confidence.mean() - hits.double().mean()
# ```
#
# </details>
#
# ## 3. More sentences, longer training
#
# After some steps every network was judged on the test tokens. The slider at the top shows cross-entropy.

# %% tags=["drawing"]
def trained(loss, n):
    return [runs[loss, n, seed, False] for seed in seeds]


def by_step(loss, n, column):  # (seeds, marks)
    return np.array([run.history[column] for run in trained(loss, n)])


best = palette.TRUTH.named("best possible accuracy")
away = palette.group(3, "distance of exact law")


def frame(n, step):
    place = marks.index(step)
    columns = {palette.ACCURACY: "accuracy", palette.CONFIDENCE: "confidence",
               best: "best_accuracy", away: "distance"}
    lines = {role: by_step("cross-entropy", n, column) for role, column in columns.items()}
    now = {role.words: values[:, place].mean() for role, values in lines.items()}
    error = by_step("cross-entropy", n, "ece")[:, place].mean()
    readout = f"{n:,} sentences, step {step}: " + ", ".join(f"{k} {v:.1%}" for k, v in now.items())
    return explorers.along_frame(
        explorers.pooled([run.diagrams[place] for run in trained("cross-entropy", n)]), step, marks,
        lines, x_label="training step", x_ticks=[marks[0], marks[-1] // 2, marks[-1]],
        title=f"{n:,} sentences, step {step}", readout=f"{readout}, ECE {error:.1%}.")

# %% tags=["drawing"]
explorers.keep(explorers.Explorer(
    frame, explorers.Slider("training sentences", [few, some, many], show="{:,}".format, start=many),
    explorers.Slider("training step", marks, start=marks[2]), play=True,
    description="Left, the reliability diagram of the tokens of test sentences, networks of all seeds: a bar "
    "below the diagonal is over-confident. Right, against the training step: mean confidence, accuracy, "
    "the accuracy of the exact law, and the distance (total variation) from it. Bands span the seeds; "
    "the grey line marks the chosen step."), "translation")

# %% [markdown]
# **Predict before you run:** for each number of sentences, is the step with the lowest ECE also the step that is nearest to the exact law? Before
# it, after it?

# %% tags=["answer"]
rows = []
for (loss, n, seed, padded), run in runs.items():
    if loss == "cross-entropy" and not padded:
        rows.append(run.history.assign(sentences=f"{n:,}", seed=seed))
steps_table = pd.concat(rows)
fig, axes = plt.subplots(1, 2, figsize=(8, 3.3))
named = {"ece": "token ECE", "distance": "distance of the exact law"}
for ax, (column, words) in zip(axes, named.items(), strict=True):
    for place, (name, part) in enumerate(steps_table.groupby("sentences", sort=False)):
        _ = sns.lineplot(part, x="step", y=column, errorbar=("pi", 100), ax=ax,
                         **palette.group(place, f"{name} sentences").line())
    _ = ax.set(xlabel="training step", ylabel=words, ylim=(0, None))
course_of = steps_table.groupby(["sentences", "step"], sort=False)[["ece", "distance"]].mean()
for name in course_of.index.unique(0):
    part = course_of.loc[name]
    print(f"{name} sentences: ECE {part.ece.iloc[-1]:.1%} at the end (least {part.ece.min():.1%} at step "
          f"{part.ece.idxmin()}); distance {part.distance.iloc[-1]:.1%} (least {part.distance.min():.1%} "
          f"at step {part.distance.idxmin()})")

# %% tags=["nbval-check-output"]
def last(loss, n, column):
    return by_step(loss, n, column)[:, -1]


print(verdicts.judge("D8", "a tenth of the sentences has the larger token ECE at the end, at equal steps",
                     last("cross-entropy", few, "ece") - last("cross-entropy", many, "ece")))

# %% tags=["aside", "nbval-check-output"]
rises = [by_step("cross-entropy", n, "ece")[:, -1] - by_step("cross-entropy", n, "ece").min(axis=1)
        for n in (few, some, many)]
for n, rise in zip(("fewest", "middle", "most"), rises, strict=True):
    print(verdicts.judge("D8", f"{n} sentences: the ECE at the end is more than 0.02 above its least",
                         rise, margin=0.02))

# %% [markdown]
# Open the answer above first.
#
# - **Left:** past its minimum the ECE rises with the smaller sets, hardly with the largest; the smallest
#   ends highest (D8). With the two smaller sets the networks are under-confident before that point, over-confident after it (slider).
# - **Right:** with these two the distance falls, then rises, while their ECE grows far more.
# - **The answer:** each mean ECE is lowest *before* the network is nearest to the law (3,000: by little).
#
# A likely reason, not tested: each training sentence shows *one* translation; learned by heart, the other synonyms are lost.
#
# ## 4. Three losses, judged twice
#
# The networks that learned from 800 sentences, at the end of their training. Each also gets one temperature $T$ (08), of the least NLL on `cal`.
# `T by ECE` is that of the least ECE there.

# %%
rows = []
for loss in ways_to_train:
    for seed, run in zip(seeds, trained(loss, some), strict=True):
        on_cal = run.predict(drawn("cal", seed))
        on_test = run.predict(drawn("test", seed), exact("test", seed))
        scaler = recalibration.TemperatureScaler().fit(on_cal.logits.double(), on_cal.labels)
        by_ece = recalibration.TemperatureScaler("ece_grid").fit(on_cal.logits.double(), on_cal.labels)
        for scaling, temperature in (("as trained", 1.0), ("after one T", scaler.temperature)):
            probs = (on_test.logits.double() / temperature).softmax(dim=1)
            rows.append({"loss": loss, "scaling": scaling, "seed": seed, "T": scaler.temperature,
                         "T by ECE": by_ece.temperature,
                         "gap": metrics.signed_gap(probs, on_test.labels),
                         "ECE": metrics.ece(probs, on_test.labels),
                         "NLL": metrics.nll(probs, on_test.labels),
                         "distance": translation.distance(probs, on_test.posterior),
                         "impossible": (probs * (on_test.posterior == 0)).sum(dim=1).mean().item()})
three = pd.DataFrame(rows)

# %% [markdown]
# **Predict before you run:** cross-entropy, label smoothing 0.1 and focal loss (10): which has the lowest ECE as trained, which the highest? And
# is the order of the distances from the exact law the same?

# %% tags=["answer"]
columns = ["T", "T by ECE", "gap", "ECE", "NLL", "distance", "impossible"]
table = three.groupby(["scaling", "loss"], sort=False)[columns].mean()
for column in ("ECE", "distance", "impossible"):
    listed = ", ".join(f"{loss} {table.loc[('as trained', loss), column]:.1%}" for loss in ways_to_train)
    print(f"{column}, as trained: {listed}")
least = by_step("cross-entropy", some, "distance").mean(axis=0).min()
print(f"distance of cross-entropy at its best step (section 3): {least:.1%}")
lawful_nll = np.mean([metrics.nll(exact("test", seed)[part.real], part.target[part.real])
                      for seed in seeds for part in [drawn("test", seed)]])
print(f"NLL of the exact law: {lawful_nll:.3f}")
table.round(3)

# %% tags=["nbval-check-output"]
def values(loss, column, scaling="as trained"):
    chosen = three[(three.loss == loss) & (three.scaling == scaling)]
    return chosen.sort_values("seed")[column].to_numpy()


def against_plain(loss, column, scaling="as trained"):
    return values(loss, column, scaling) - values("cross-entropy", column, scaling)


def nearer_to_1(loss, column):
    return np.abs(values(loss, column) - 1) - np.abs(values("cross-entropy", column) - 1)


for loss in ("smoothing", "focal"):
    print(verdicts.judge("N2", f"{loss}: its T of the least ECE is within 0.1 of 1",
                         values(loss, "T by ECE"), expect="within", than=1.0, margin="temperature",
                         step=0.1, control=values("cross-entropy", "T by ECE"), post_hoc=True))
print(verdicts.judge("16a", "smoothing has a lower ECE than cross-entropy",
                     against_plain("smoothing", "ECE"), expect="below"))
print(verdicts.judge("16b", "smoothing is further from the exact law than cross-entropy",
                     against_plain("smoothing", "distance"), post_hoc=True))

# %% tags=["aside", "nbval-check-output"]
print(verdicts.judge("16c", "focal loss is nearer to the exact law than cross-entropy",
                     against_plain("focal", "distance"), expect="below"))
print(verdicts.judge("16d", "one T lowers the ECE of cross-entropy",
                     values("cross-entropy", "ECE", "after one T") - values("cross-entropy", "ECE"),
                     expect="below"))
print(verdicts.judge("16d", "one T raises the ECE of smoothing",
                     values("smoothing", "ECE", "after one T") - values("smoothing", "ECE"), post_hoc=True))
print(verdicts.judge("16e", "one T moves cross-entropy away from the exact law",
                     values("cross-entropy", "distance", "after one T") - values("cross-entropy", "distance"),
                     post_hoc=True))

# %% [markdown]
# Open the answer above first.
#
# - **The ECE** looks at favourite words, averaged over many rows. Smoothing has a lower one than cross-entropy (16a); as in the paper, its T of
#   least ECE is 1; focal's lies below 1 in the mean, which three seeds leave open (N2), and cross-entropy's above.
# - **The distance** looks at every word. There smoothing is the worst: its labels give 10 % to all words alike, also to those that cannot
#   stand there (column `impossible`).
# - **One temperature** lowered the ECE of cross-entropy, not to 0, and moved it a little *away* from the law (16d, 16e): a higher T makes
#   impossible words more probable. For smoothing T below 1 did the reverse: mean NLL and distance fall, but the favourite gets too sure: the ECE
#   rises.
# - **Focal loss** is on average *under*-confident as trained, and whether it is nearer to the law than cross-entropy is open (16c). After one
#   T it has the lowest NLL and distance of the table, the latter below cross-entropy's best step (chosen on the test).
#
# A low ECE does not show that the law was learned. Where no law is known, the NLL tells more: in expectation it is lowest at the law, and here it
# ranks the three losses as the distance does. But it is another distance: the T of cross-entropy lowered the NLL and raised the total variation.
#
# ## 5. From words to sentences
#
# **Greedy decoding** takes the most probable word at each place. **Beam search** of width $B$ keeps the $B$ prefixes with the largest product of
# probabilities, and goes on with each; width 1 is greedy. (Practical systems also reward length, ours not.) The usual judge is
# **BLEU** (0 to 100): how many words, pairs, triples and quadruples of neighbouring words a translation shares with a reference, less if it is too
# short. Our reference is one draw of the translator, so nobody gets 100.

# %%
how_many = 10 if small_run else 200  # test sentences to translate, a seed
temperatures = [0.5, 1.0, 2.0] if small_run else [0.5, 1.0, 1.5, 2.0, 3.0]
widths = [1, 4, 8]


def to_translate(seed):
    return drawn("test", seed)[:how_many]


searches = {}
for loss, n in [(loss, some) for loss in ways_to_train] + [("cross-entropy", many)]:
    for seed, run in zip(seeds, trained(loss, n), strict=True):
        for width in widths:
            searches[loss, n, seed, width, 1.0] = (run, to_translate(seed), width, 1.0)
        if n == some:
            for temperature in temperatures:
                searches[loss, n, seed, 4, temperature] = (run, to_translate(seed), 4, temperature)
# of each search: "texts", the translations, and "log_probs", the log of their probabilities
found = dict(zip(searches, translation.translate_all(list(searches.values())), strict=True))
print(f"{how_many} test sentences a seed. One of them: {to_translate(SEED).texts(source=True)[0]}")
print(f"reference: {to_translate(SEED).texts()[0]}")
print(f"network:   {found['cross-entropy', some, SEED, 4, 1.0]['texts'][0]}")

# %% [markdown]
# **Predict before you run:** every logit is divided by $T$. What happens to the BLEU of greedy decoding, from T = 0.5 to 3? And of a beam of width 4:
# is it best at the T of the lowest ECE?

# %% tags=["answer"]
rows = []
for (loss, n, seed, width, temperature), one in found.items():
    if n == some and width == 4:
        on_cal = runs[loss, n, seed, False].predict(drawn("cal", seed))
        probs = (on_cal.logits.double() / temperature).softmax(dim=1)
        rows.append({"loss": loss, "seed": seed, "T": temperature,
                     "token ECE (cal)": metrics.ece(probs, on_cal.labels),
                     "BLEU, beam 4": translation.bleu(one["texts"], to_translate(seed).texts()),
                     "words": np.mean([len(text.split()) for text in one["texts"]])})
decoded = pd.DataFrame(rows)
fig, axes = plt.subplots(1, 2, figsize=(8, 3.3))
for ax, column in zip(axes, ("token ECE (cal)", "BLEU, beam 4"), strict=True):
    for place, loss in enumerate(ways_to_train):
        _ = sns.lineplot(decoded[decoded.loss == loss], x="T", y=column, errorbar=("pi", 100), ax=ax,
                         **palette.group(place, loss).line())
model = runs["cross-entropy", some, SEED, False].model
greedy = [translation.translate(model, to_translate(SEED), temperature=t)[0] for t in (0.5, 3.0)]
same = to_translate(SEED).texts(greedy[0]) == to_translate(SEED).texts(greedy[1])
print(f"greedy translations at T = 0.5 and at T = 3 are {'the same' if same else 'different'}")
means = decoded.groupby(["loss", "T"], sort=False).mean(numeric_only=True)
for loss in ways_to_train:
    ece, bleu, words = (means.loc[loss][c] for c in ("token ECE (cal)", "BLEU, beam 4", "words"))
    print(f"{loss}: lowest ECE at T = {ece.idxmin()}; highest BLEU, {bleu.max():.1f}, at T = {bleu.idxmax()}"
          f"; largest T: BLEU {bleu.iloc[-1]:.1f}, {words.iloc[-1]:.1f} words (T = 1: {words[1.0]:.1f})")

# %% tags=["aside", "nbval-check-output"]
def bleu_at(loss, temperature):
    chosen = decoded[(decoded.loss == loss) & (decoded["T"] == temperature)]
    return chosen.sort_values("seed")["BLEU, beam 4"].to_numpy()


for loss in ways_to_train:
    lowest = means.loc[loss]["token ECE (cal)"].idxmin()
    if lowest != 0.5:
        print(verdicts.judge("N2", f"{loss}, beam of 4: BLEU is higher at the T of least ECE than at 0.5",
                             bleu_at(loss, lowest) - bleu_at(loss, 0.5)))
print(verdicts.judge("16f", "cross-entropy: BLEU of a beam of 4 is lower at T 2 than at T 1",
                     bleu_at("cross-entropy", 2.0) - bleu_at("cross-entropy", 1.0), expect="below"))
print(verdicts.judge("16f", "focal: BLEU of a beam of 4 is lower at the largest T than at T 1",
                     bleu_at("focal", temperatures[-1]) - bleu_at("focal", 1.0), expect="below",
                     post_hoc=True))

# %% [markdown]
# Open the answer above first. Greedy decoding cannot change: dividing by $T$ leaves the order of the words in a row. A beam compares *products*
# of rows, whose order can change. The printed means have their highest BLEU at another T than their lowest ECE; but BLEU differs by several points
# between seeds, and whether it is better there than at T = 0.5 is left open (N2). At the largest T it is lower, clearly so after focal loss (16f), and the
# translations are shorter.
#
# ## 6. What does a wide beam look for?
#
# For the most probable *sentence*. We give it the exact law, and make it too sure, or too unsure, by a temperature.
#
# **Predict before you run:** the exact law, T = 1: from width 1 to 8, do its translations get longer or shorter, and is their BLEU better or worse?

# %% tags=["answer"]
rows = []
for seed in seeds:
    for temperature in (0.5, 1.0, 2.0):
        score = toy.scorer(to_translate(seed), temperature=temperature)
        for width in widths:
            sentences, _ = translation.beam(score, how_many, width=width, longest=16)
            texts = to_translate(seed).texts(sentences)
            rows.append({"T of the law": temperature, "width": width, "seed": seed,
                         "words": np.mean([len(text.split()) for text in texts]),
                         "BLEU": translation.bleu(texts, to_translate(seed).texts())})
lawful = pd.DataFrame(rows)
length = np.mean([len(text.split()) for seed in seeds for text in to_translate(seed).texts()])
table = lawful.groupby(["T of the law", "width"])[["words", "BLEU"]].mean()
for width in widths:
    words, score = table.loc[(1.0, width)]
    print(f"exact law, width {width}: {words:.1f} words, BLEU {score:.1f} (references: {length:.1f} words)")
table.unstack("width").round(1)

# %% tags=["aside", "nbval-check-output"]
def of_law(column, temperature, width):
    chosen = lawful[(lawful["T of the law"] == temperature) & (lawful.width == width)]
    return chosen.sort_values("seed")[column].to_numpy()


print(verdicts.judge("16g", "exact law: a beam of 8 is shorter than greedy decoding by over half a word",
                     of_law("words", 1.0, 8) - of_law("words", 1.0, 1), expect="below", margin=0.5))
print(verdicts.judge("16g", "exact law: BLEU of a beam of 8 is lower than that of greedy decoding",
                     of_law("BLEU", 1.0, 8) - of_law("BLEU", 1.0, 1), expect="below", post_hoc=True))
print(verdicts.judge("16h", "exact law, beam of 8: BLEU is higher where the law is made too sure (T 0.5)",
                     of_law("BLEU", 0.5, 8) - of_law("BLEU", 1.0, 8)))

# %% [markdown]
# Open the answer above first. A sentence's probability is a product. After a clause without its adverb (section 1), the end mark has 36 %. The
# adverb has 64 %, then 50 % for *façon* or *manière*, then 60 % for its best synonym: 19 %. So the most probable *single* sentence lacks the
# adverb, although three translations in four have it. A wide beam finds it; greedy decoding does not look ahead. Whether its BLEU is worse
# is open (16g). At T = 0.5 each law is squared and divided by its sum: the end has 24 %, the adverb 76 % · 50 % · 69 % = 26 %: the beam keeps it,
# and the mean BLEU is higher (16h). Here over-confidence helps a wide beam; T = 2 changes little.
#
# Now the networks, at T = 1. A beam returns a sentence with its probability. How large is the exact probability of the same sentence?

# %%
rows = []
for (loss, n, seed, width, temperature), one in found.items():
    if temperature == 1.0:
        pairs = zip(to_translate(seed).texts(source=True), one["texts"], strict=True)
        true = np.array([toy.probability(english, french) for english, french in pairs])
        name = loss if n == some else f"{loss}, most sentences"
        rows.append({"network": name, "width": width, "seed": seed,
                     "stated": one["log_probs"].exp().mean().item(), "exact": true.mean(),
                     "impossible": (true == 0).mean(),
                     "words": np.mean([len(text.split()) for text in one["texts"]]),
                     "BLEU": translation.bleu(one["texts"], to_translate(seed).texts())})
beams = pd.DataFrame(rows)
beams.groupby(["network", "width"], sort=False).mean().drop(columns="seed").round(3)

# %% tags=["aside", "nbval-check-output"]
def excess(network, width):
    chosen = beams[(beams.network == network) & (beams.width == width)].sort_values("seed")
    return (chosen.stated - chosen.exact).to_numpy()


print(verdicts.judge("16i", "cross-entropy, beam of 4: the stated probability is above the exact one",
                     excess("cross-entropy", 4), post_hoc=True))
print(verdicts.judge("16j", "cross-entropy: this excess is larger with a beam of 8 than with greedy",
                     excess("cross-entropy", 8) - excess("cross-entropy", 1)))

# %% [markdown]
# `stated` is the mean probability that the network gives to its own sentences, `exact` that of the law, `impossible` the share of
# sentences that the translator never says. After 800 sentences cross-entropy states far too much (16i), focal loss on average too little; after
# 3,000 both numbers agree on average, and no sentence is impossible. Likely
# causes, not tested: a sentence multiplies errors ($1.1^8 = 2.1$), a search picks overstatements. A wider beam enlarged the excess of
# cross-entropy a little (16j); translations got shorter, BLEU moved both ways.
#
# ## 7. Real captions
#
# The same on Multi30k: captions of photographs, German to English, 3,000 pairs (12 words at most), and for D8 a quarter of them at the same number of
# steps. Rare words are one token, `<unk>`, which never matches in BLEU. BLEU is of 200 test sentences, the same for all seeds; ± is one standard
# deviation over seeds. The table is stored.

# %%
real = experiments.stored("captions", "laptop")
print(f"{real.seed.nunique()} seed(s), {int(real.tokens.iloc[0]):,} test tokens")
experiments.shown(real)

# %% tags=["drawing"]
by_step_real, at_temperature = (experiments.stored("captions", "laptop", part=part)
                                for part in ("steps", "temperatures"))
fig, axes = plt.subplots(1, 2, figsize=(8, 3.4))
for place, value in enumerate(experiments.CAPTIONS.values):
    look = palette.group(place, value.replace(" of the sentences", "")).line()
    _ = sns.lineplot(by_step_real[by_step_real.value == value], x="step", y="ece", errorbar=("pi", 100),
                     ax=axes[0], legend=False, **look)
    _ = sns.lineplot(at_temperature[at_temperature.value == value], x="temperature", y="bleu",
                     errorbar=("pi", 100), ax=axes[1], **look)
_ = axes[0].set(xlabel="training step", ylabel="token ECE, Multi30k", ylim=(0, None))
_ = axes[1].set(xlabel="T", ylabel="BLEU, beam 4, Multi30k")
_ = axes[1].legend(fontsize="x-small")

# %% tags=["aside", "nbval-check-output"]
for value in experiments.CAPTIONS.values:
    of_value = real[real.value == value].sort_values("seed")
    print(verdicts.judge("16k", f"Multi30k, {value}: BLEU of a beam of 4 is lower than of greedy decoding",
                         (of_value.beam - of_value.greedy).to_numpy(), expect="below", post_hoc=True))
for loss in ("smoothing", "focal"):
    print(verdicts.judge("16l", f"toy pair: {loss} has its T of the least NLL nearer to 1 than cross-entropy",
                         nearer_to_1(loss, "T"), expect="below"))
for verdict in experiments.verdicts("captions", real):
    print(verdict)
for value, part in at_temperature.groupby("value", sort=False):
    lowest = part.groupby("temperature").ece.mean().idxmin()
    by_seed = part.pivot(index="seed", columns="temperature", values="bleu")
    print(verdicts.judge("N2", f"Multi30k, {value}: BLEU is higher at the T of least ECE than at 0.75",
                         (by_seed[lowest] - by_seed[0.75]).to_numpy(), post_hoc=True))

# %% [markdown]
# | paper | its setting, any numbers | here |
# |---|---|---|
# | *Dataset Curation Beyond Accuracy*, figure 6 (D8) | IWSLT 2014, label smoothing: curves of the ECE by size of the data | cross-entropy, toy pair and captions |
# | Mukhoti et al. 2020, appendix K (N2) | WMT 2014: T of the lowest ECE is 1 after smoothing and focal loss; highest test BLEU over T 26.33 (cross-entropy), 26.36 (smoothing), 26.39 (focal) | toy pair, captions (there T of the least NLL: 16l); gamma 2; BLEU at five T |
#
# Left, the ECE soon rises with a quarter of the pairs, hardly with all (D8). Right, the mean BLEU is highest at a T below 1, in the paper near that
# of the least ECE (N2: decided after focal loss only). In the table a beam of 4 has a lower mean BLEU than greedy decoding (16k, undecided). After cross-entropy on all pairs, T of the least NLL is near 1 already: softer losses leave it below 1 (16l), and one T *raises* the
# mean ECE of cross-entropy and smoothing.
#
# ## 8. What a word's probability says of a sentence's truth
#
# Section 6 answers three questions about a sentence: how probable the network *says* that it is, how probable it *is*, and whether it is a right
# translation at all.

# %%
surest = [max(toy.translations(text).values()) for text in to_translate(SEED).texts(source=True)]
print(f"the most probable translation of a sentence has, by the exact law, {np.mean(surest):.1%} on average")
plain = beams[(beams.network == "cross-entropy") & (beams.width == 4)].mean(numeric_only=True)
print(f"cross-entropy, beam of 4: stated {plain.stated:.1%}, exact {plain.exact:.1%}, "
      f"right translations {1 - plain.impossible:.1%}")

# %% [markdown]
# - **A low probability of a sentence does not mean that it is wrong.** All translations of the law are right, and the most probable one has only the
#   share printed above.
# - **A calibrated token** is one whose probability matches how often it comes next, *given a true prefix*, not after the model's own mistakes.
# - **Truth is another question than wording.** Whether a language model's *answers* are right has to be measured on
#   answers. Large models were found well calibrated on multiple-choice questions before they were trained on people's preferences (Kadavath et
#   al. 2022), and less after it (OpenAI 2023, figure 8). For free answers, Kuhn et al. (2023) add up the probabilities of wordings that mean the
#   same. We have measured none of this.
#
# ### Exercise: a number beside the answer
#
# *Difficulty: hard · importance: high · 15 minutes, no code*
#
# A hospital's chat program shows beside each answer the product of its tokens' probabilities, "because the tokens are calibrated". Write down two
# reasons why this is not the probability that the answer is right, a test, and what you would show instead.
#
# <details><summary>Answer</summary>
#
# *Reasons* (two are enough): it is the probability of one wording, and a right answer has many; the tokens were judged after true prefixes, not
# after the program's own; the text that it learned from may be wrong.
#
# *Test:* the reliability diagram of the number against doctors' judgements of some hundreds of answers.
#
# *Instead:* a score fitted on such judgements, for instance of the share of drawn answers that agree in meaning; tested alike.
#
# </details>
#
# ## Three things to take away
#
# 1. Padding is no prediction. Count it, and accuracy and ECE depend on the longest sentence.
# 2. With few sentences, long training raised the ECE of the words (D8). A low ECE did not show that the law was learned: smoothing had a lower one
#    than cross-entropy and was further from the law (16a, 16b).
# 3. A harder search finds more probable sentences, not surely better ones: on the exact law they got shorter (16g). A sentence's stated
#    probability, its exact probability and its being right are three things.
#
# ## Recall
#
# <details><summary>1. Can the exact law be unsure of a word?</summary>
#
# Yes: between synonyms, or when it cannot know yet whether an adverb follows. It is calibrated all the same.
#
# </details>
#
# <details><summary>2. A colleague pads all sentences to 100 words, in training and test, and reports a token accuracy of 97 %. What do you ask?</summary>
#
# Whether padding was counted. Then nearly all of these "tokens" are sure hits.
#
# </details>
#
# <details><summary>3. Why can label smoothing lower the ECE and move the network away from the law?</summary>
#
# The ECE averages over rows and looks at the favourite word. Smoothing gives probability to words that cannot come next.
#
# </details>
#
# <details><summary>4. How does greedy decoding depend on the temperature?</summary>
#
# Not at all: the order of the words stays.
#
# </details>
#
# <details><summary>5. Why are the most probable sentences short, even by the exact law?</summary>
#
# Each choice among synonyms takes a factor below 1, and the translator may leave the adverb out.
#
# </details>
#
# ## Go further
#
# Draw 5 translations of a test sentence from a network, each next word at random by its probability. How many are possible?
# (With `score = translation.scorer(model, source)`, `score(torch.tensor([0]), prefix)` gives log-probabilities; `prefix` (1, t) begins
# with `translation.START`; stop at `translation.END`.) If your numbers differ, see
# [your numbers differ?](your_numbers_differ.md). Next: [18 Estimators in depth](18_estimators_in_depth.ipynb).
#
# <details><summary>Answer</summary>
#
# ```python
# one = to_translate(SEED)[:1]
# score = translation.scorer(runs["cross-entropy", some, SEED, False].model, one.source)
# generator = torch.Generator().manual_seed(SEED)
# for _ in range(5):
#     prefix = torch.tensor([[translation.START]])
#     while prefix[0, -1] != translation.END and prefix.shape[1] < 16:
#         law = score(torch.tensor([0]), prefix).exp()
#         prefix = torch.cat([prefix, torch.multinomial(law, 1, generator=generator)], dim=1)
#     text = one.texts(prefix[:, 1:])[0]
#     print(f"{toy.probability(one.texts(source=True)[0], text):.2%}  {text}")
# ```
#
# </details>
#
# ## References
#
# - Vaswani et al.: *Attention Is All You Need*. NeurIPS 2017. [arXiv:1706.03762](https://arxiv.org/abs/1706.03762)
# - Mukhoti et al.: *Calibrating Deep Neural Networks using Focal Loss*. NeurIPS 2020. [arXiv:2002.09437](https://arxiv.org/abs/2002.09437) (appendix K)
# - Müller et al.: *When Does Label Smoothing Help?* NeurIPS 2019. [arXiv:1906.02629](https://arxiv.org/abs/1906.02629)
# - *Dataset Curation Beyond Accuracy* (figure 6).
# - Papineni et al.: *BLEU*. ACL 2002. [doi:10.3115/1073083.1073135](https://doi.org/10.3115/1073083.1073135); Post: *A Call for Clarity in Reporting BLEU
#   Scores*. 2018. [arXiv:1804.08771](https://arxiv.org/abs/1804.08771)
# - Elliott et al.: *Multi30K*. 2016. [arXiv:1605.00459](https://arxiv.org/abs/1605.00459)
# - Kadavath et al.: *Language Models (Mostly) Know What They Know*. 2022. [arXiv:2207.05221](https://arxiv.org/abs/2207.05221)
# - OpenAI: *GPT-4 Technical Report*. 2023. [arXiv:2303.08774](https://arxiv.org/abs/2303.08774)
# - Kuhn, Gal, Farquhar: *Semantic Uncertainty*. ICLR 2023. [arXiv:2302.09664](https://arxiv.org/abs/2302.09664)
