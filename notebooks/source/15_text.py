# %% [markdown]
# # 15 · Text: the same words in another order
#
# **Question.** "Fever, then a tablet" is a treatment; "a tablet, then fever" may be a side effect. Ben's program sorts the notes of a ward,
# and its report says that it is calibrated. Has it read the order of the words? And may one trust its confidence on short notes?
#
# **Predict before you run:** on notes of 15 or 16 words another network, a CNN, is 7 points too sure. On notes of 3 or 4 words it is right on 62 %.
# **How sure is it of these?** Write down a number, then run the cell and move the second slider.

# %% tags=["answer"]
from calibkit.course import explorers

explorers.stored("note_length")

# %% [markdown]
# <details><summary>What came out</summary>
#
# 91 %: 29 points too sure. The shorter the note, the larger the gap: few words leave the class open, and the training asks for its label all the same.
#
# </details>
#
# **Time.** 30 minutes; 45 more for the homework, which may be left out.
#
# **Needs.** [08 Temperature](08_temperature.ipynb).

# %% tags=["drawing"]
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch

from calibkit import metrics, recalibration
from calibkit.course import check, experiments, verdicts
from calibkit.course.experiments import notes, soft_targets
from calibkit.course.scale import begin
from calibkit.lab import data, sweep, training
from calibkit.pictures import alt_text, palette, plots

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% [markdown]
# ## 1. Notes whose truth is known
#
# Nobody knows the exact posterior of a real text, so we write the author ourselves. Behind every word stands a hidden topic (symptom,
# drug, meal or rest). From word to word the topic changes at random; each topic has five words of its own; a word mostly comes from those of its topic. A class uses three of the four topics. This is a
# **hidden Markov chain**. The classes differ in *how the topics follow each other*. An arrow is the commonest move (70 %); else the topic stays
# (20 %) or goes the opposite way (10 %):

# %% tags=["drawing"]
size, seeds, device = begin(SCALE, SEED, DEVICE)
ward = data.Notes()
fig, axes = plt.subplots(1, 4, figsize=(9.6, 2.6))
for kind, (ax, name) in enumerate(zip(axes, ward.classes, strict=True)):
    moves, used = ward.moves[kind].numpy(), ward.start[kind].nonzero()[:, 0].tolist()
    turn = {h: np.pi / 2 - 2 * np.pi * k / len(used) for k, h in enumerate(used)}
    told = []
    for h in used:
        after = int(moves[h].argmax())
        here, there = (np.array([np.cos(turn[k]), np.sin(turn[k])]) for k in (h, after))
        way = there - here
        begin_at, along = here + 0.25 * way, 0.5 * way
        _ = ax.arrow(*begin_at, *along, head_width=0.16, length_includes_head=True, color=palette.BLACK)
        box = {"fc": palette.SKY, "ec": "none", "alpha": 0.5}
        _ = ax.text(*here, ward.topics[h], ha="center", va="center", bbox=box)
        told.append(f"after {ward.topics[h]} mostly {ward.topics[after]} ({moves[h, after]:.0%})")
    _ = ax.set(xlim=(-1.5, 1.5), ylim=(-0.9, 1.3), title=name)
    ax.axis("off")
    _ = alt_text.note(ax, f"{name}: {', '.join(told)}")
plt.show()
for note in (["fever", "tablet", "sleep"], ["sleep", "tablet", "fever"]):
    said = ward.posterior(torch.tensor([ward.vocabulary.encode(note)]))[0].tolist()
    print(" ".join(note) + ":", ", ".join(f"{name} {p:.0%}" for name, p in zip(ward.classes, said, strict=True)))

# %% [markdown]
# "Side effect" is the circle of "infection" in the opposite direction, and "ulcer" that of "food allergy". So the same three words in another
# order have another posterior.
#
# ## 2. Ben: "My program is a simple one"
#
# Ben's program learns a list of numbers for each word, a **word vector**, and takes the mean over the note: a **bag of words**. Short notes
# are filled up with the number 0, the **padding**. A **padding mask**, `texts != 0`, says which places hold words.
#
# ### Exercise: a mean over words
#
# *Difficulty: easy · importance: high · 8 minutes*
#
# `vectors` (n, length, D) are the vectors at each place, which need not be zero at the padding; `texts` (n, length) are the numbers of
# the words. Return the mean vector (n, D) over the *words* of each text. Ben's network below uses yours.


# %%
def my_masked_mean(vectors, texts):
    # 1. the mask as numbers, 1 for a word and 0 for padding, with a last dimension of 1
    # 2. the sum of the vectors of words
    # 3. divided by the number of words of each text
    ...


check.masked_mean(my_masked_mean)

# %% [markdown]
# <details><summary>Hint</summary>
#
# `mask.unsqueeze(2)` makes (n, length) into (n, length, 1). Add up over the places, dimension 1.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_masked_mean(vectors, texts):
#     mask = (texts != 0).to(vectors.dtype).unsqueeze(2)
#     total = (vectors * mask).sum(dim=1)
#     words = mask.sum(dim=1)
#     return total / words
# ```
#
# </details>

# %%
check.keep(my_masked_mean)

# %% [markdown]
# The best possible reader is right on 85 % of the test notes. And this network?

# %%
from calibkit.course.mine import masked_mean

class Bag(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.vectors = torch.nn.Embedding(len(ward.vocabulary), 16)
        self.last = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))

    def forward(self, texts):
        return self.last(masked_mean(self.vectors(texts), texts).float())

train, cal, test = notes.splits(size, SEED)
print(f"{len(train):,} notes to learn from, {len(cal):,} to fit T, {len(test):,} to test")
bag = training.fit(Bag, train, optimizer="adamw", lr=0.01, batch_size=64, epochs=8, seed=SEED,
                   device=device, progress=False)
new = bag.predict(test)
print(f"{new.correct.double().mean():.1%} right, {new.confidence.mean():.1%} sure")

# %% [markdown]
# The bag is right on about half of them, and no bag can do better. The words tell it the topics of a note, and so the pair of classes, but not which of the two: a note and the same note backwards have one bag, and the one is as likely under
# "infection" as the other under "side effect". Yet its gap is only 3 points: a network can have a small gap without reading the order.
#
# Three other networks look at the order: the *CNN* at three neighbouring words at a time, the *LSTM* from left to right, the *transformer* at
# all words. **Your move:** shuffle the words of every test note. A network that keeps its answers has not read the order. Then reverse the notes.

# %% tags=["drawing"]
swept = sweep.run(lambda reader, seed: notes.trial(size, reader, seed),
                  {"reader": ["CNN", "LSTM", "transformer"], "seed": seeds}, device=device)
lengths = [4, 6, 8, 10, 12, 14, 16]  # a group holds the notes of this length and of one word less
rows, diagrams = [], {}
for outcome in swept.outcomes:
    test = outcome.predictions["test"]
    reader, seed = outcome.setting["reader"], outcome.setting["seed"]
    spoken = {reader: test.probs, f"{reader}, after T": soft_targets.temperature(outcome).probs(test.logits),
              "exact posterior": test.posterior}
    count = (notes.splits(size, seed).test.inputs != 0).sum(dim=1)
    for longest in [0, *lengths]:  # 0: all of them
        here = (count == longest) | (count == longest - 1) if longest else count > 0
        part = data.Predictions(test.logits[here], test.labels[here], test.posterior[here])
        for name, probs in spoken.items():
            rows.append({"reader": name, "seed": seed, "words": longest, **notes.numbers(probs[here], part)})
            diagrams[name, longest, seed] = metrics.reliability(probs[here], test.labels[here])
found = pd.DataFrame(rows).drop_duplicates(["reader", "seed", "words"])
test_notes = notes.splits(size, SEED).test
in_order = ["CNN", "LSTM", "transformer", "exact posterior"]  # those that read the order of the words

# %% tags=["drawing"]
def runs_of(reader, column):  # (seeds, lengths)
    table = found[(found.reader == reader) & (found.words > 0)]
    return table.pivot(index="seed", columns="words", values=column).to_numpy()


def frame(reader, longest):
    pooled = explorers.pooled([diagrams[reader, longest, seed] for seed in seeds])
    now = found[(found.reader == reader) & (found.words == longest)].mean(numeric_only=True)
    readout = (f"{reader}, notes of {longest - 1} or {longest} words: mean confidence {now.confidence:.1%}, "
               f"accuracy {now.accuracy:.1%}, signed gap {now.gap:+.1%}, ECE {now.ECE:.1%}.")
    lines = {palette.ACCURACY: runs_of(reader, "accuracy"),
             palette.CONFIDENCE: runs_of(reader, "confidence")}
    return explorers.along_frame(pooled, longest, lengths, lines, x_label="words of the note",
                                 x_ticks=(4, 8, 12, 16), title=f"{reader}, up to {longest} words",
                                 readout=readout, counted="notes")


explorers.keep(explorers.Explorer(
    frame, explorers.Slider("reader", in_order, start="CNN"),
    explorers.Slider("words of the note", lengths, show="{:g}".format, start=4), play=True,
    description="Left, the reliability diagram of the chosen reader on test notes of this length or one word "
    "less, all seeds: a bar below the diagonal is over-confident. Right, against the length: its mean "
    "confidence and accuracy. Bands span the seeds; the grey line marks the chosen length."), "note_length")

# %%
def changed(words):
    return words[torch.randperm(len(words))]  # change me: for example words.flip(0)


texts = test_notes.inputs.clone()  # the test notes of one seed
for note in texts:
    note[note != 0] = changed(note[note != 0])  # its words change places; the padding, 0, stays
networks = {one.setting["reader"]: one for one in swept.where(seed=SEED)} | {"Ben's bag": bag}
says = {"exact posterior": (test_notes.posterior, ward.posterior(texts))}
for name, network in networks.items():
    after = network.predict(data.Dataset(texts, test_notes.labels, ward.classes))
    says[name] = (network.predict(test_notes).probs, after.probs)
for name, (before, after) in says.items():
    moved = (before.argmax(dim=1) != after.argmax(dim=1)).double().mean()
    print(f"{name}: {moved:.0%} of the answers changed; "
          f"confidence {before.amax(dim=1).mean():.1%} -> {after.amax(dim=1).mean():.1%}")

# %% [markdown]
# <details><summary>What you may have found</summary>
#
# Shuffled, the bag keeps all its answers; the other three change about half of theirs, as the exact posterior does: they read the order. The confidence
# need not show it: a *reversed* note of "infection" is a good note of "side effect", and the exact posterior is as sure of it.
#
# </details>
#
# ## 3. Eve: "One temperature, and the report is true"
#
# Ben gives up the bag and takes the CNN, 15 points too sure. Eve fits one temperature on calibration notes of all lengths. Then the report says: *gap 0.5
# points*. (From here on all numbers are means of five CNNs, each with notes of its own.)
#
# **Predict before you run:** what is the gap on notes of 3 or 4 words, after this temperature?

# %% tags=["answer", "drawing"]
# your guess first, then run this cell
fig, ax = plt.subplots(figsize=(6.6, 3))
shown = {"CNN": palette.TRAINED.named("CNN as trained"), "CNN, after T": palette.CURED.named("CNN, after T"),
         "exact posterior": palette.TRUTH.named("exact posterior")}
for reader, role in shown.items():
    _ = plots.spread(lengths, runs_of(reader, "gap"), role, ax=ax)
_ = ax.set(xlabel="words of the note", ylabel="signed gap", xticks=lengths)
plots.percent(ax, "y", unit="points")
_ = ax.axhline(0, color=palette.GREY, lw=1)
_ = ax.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()
by_words = found.groupby(["reader", "words"])[["confidence", "accuracy", "gap"]].mean()
for reader in shown:
    for words, told in ((0, "all notes"), (lengths[0], "3 or 4 words"), (lengths[-1], "15 or 16 words")):
        print(f"{reader}, {told}: gap {by_words.gap[reader, words]:+.1%}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# Still 9 points too sure on the shortest notes, and now more than 5 points not sure enough on the longest. In the report these cancel.
#
# </details>
#
# A *verdict* is the mean difference over the networks with its 95 % interval. HOLDS: all of the interval lies above 0. (*Post hoc*: claimed
# afterwards, when these numbers had been seen.)

# %% tags=["nbval-check-output"]
def gap_at(reader, words):
    part = found[(found.reader == reader) & (found.words == words)]
    return part.sort_values("seed").gap.to_numpy()


print(verdicts.judge("15h", "CNN after one T: a larger signed gap on the shortest notes than on the longest",
                     gap_at("CNN, after T", lengths[0]) - gap_at("CNN, after T", lengths[-1]), post_hoc=True))

# %% [markdown]
# ## 4. Ada: "One for each length"
#
# The rule of the ward: an answer of 90 % or more is filed at once, a nurse reads the other notes. Ada fits seven temperatures, for 3 or 4 words, 5 or 6, and so on. Each length has a seventh
# of the notes.

# %% tags=["drawing"]
def of_length(texts, longest):
    count = (texts != 0).sum(dim=1)
    return (count == longest) | (count == longest - 1)


def filed(probs, labels):
    confidence, predicted = probs.max(dim=1)
    out = (confidence >= 0.9).double()
    wrong = out * (predicted != labels)
    return 1000 * out.mean().item(), 1000 * wrong.mean().item(), metrics.signed_gap(probs, labels)

# %% [markdown]
# **Predict before you run:** of 1,000 notes of 3 or 4 words the CNN files 726, and 220 of them wrongly. How many wrongly after Eve's
# T, and after Ada's?

# %% tags=["answer", "drawing"]
# your guess first, then run this cell
ways = ("as trained", "one T", "a T for each length", "exact posterior")
for longest in (lengths[0], lengths[-1]):
    rows = {way: [] for way in ways}
    for one in swept.where(reader="CNN"):
        parts = notes.splits(size, one.setting["seed"])
        new, here = one.predictions["test"], of_length(parts.test.inputs, longest)
        held, there = one.predictions["cal"], of_length(parts.calibration.inputs, longest)
        own = recalibration.TemperatureScaler().fit(held.logits[there], held.labels[there])
        each = (new.probs, soft_targets.temperature(one).probs(new.logits), own.probs(new.logits), new.posterior)
        for way, probs in zip(ways, each, strict=True):
            rows[way].append(filed(probs[here], new.labels[here]))
    for way in ways:
        out, wrong, gap = np.mean(rows[way], axis=0)
        print(f"{longest - 1} or {longest} words, {way}: gap {gap:+.1%}; of 1,000 notes {out:.0f} are filed, "
              f"{wrong:.0f} of them wrongly")

# %% [markdown]
# <details><summary>What came out</summary>
#
# 24 of 208 filed, and 6 of 61. Ada's gap on short notes is 2 points, Eve's 9. Of 1,000 of the longest
# notes Ada files 693, not 501, and 20 wrongly, not 5: of 693 answers that are 90 % sure up to 69 may be wrong, and a nurse reads 192 notes fewer (693 - 501).
#
# </details>
#
# ## The answer
#
# **The report cannot say: Ben's program, a bag, never looks at the order, and its gap is 3 points. Shuffle the words: the bag keeps all its answers, the other three change
# about half. And one temperature that is right over all notes left the CNN, which he took then, 9 points too sure on the shortest and more than 5 points not sure enough on the longest: look at each length.**
#
# ## Three things to take away
#
# 1. A small gap over all texts can hide a large one at each length.
# 2. Shuffle the words and count the answers that change: this shows what a network reads, its confidence does not.
# 3. Padding is no word: every sum, mean and maximum over a text needs a mask.
#
# ## Recall
#
# <details><summary>1. Why do both classes of a pair have the same bags of words?</summary>
#
# A note is as likely under one class as the reversed note under the other.
#
# </details>
#
# <details><summary>2. A batch's longest note has 16 words. Which bug makes the prediction of a note of 5 words depend on that?</summary>
#
# A mean (or sum, or maximum) over all 16 places without the mask.
#
# </details>
#
# <details><summary>3. After one temperature the gap over all notes is 0. What may still be wrong?</summary>
#
# Short notes may be over-confident and long ones under-confident.
#
# </details>
#
# ## Go further
#
# *All that follows may be left out. Next: [16 Translation](16_translation.ipynb).*
#
# ### The probability of a note
#
# How likely is a note under one class? We would have to add up the probabilities of all paths of its three topics:
# $3^{16}$ paths for 16 words. The **forward algorithm** finds the sum in 16 steps. Take "fever
# tablet" under "infection". Each topic is first with probability 1/3. Symptom says "fever" with 24 %, drug and rest with
# 1 %. Drug follows symptom (70 %), itself (20 %) or rest (10 %):
#
# | topic | says "fever" | and then drug follows |
# |---|---|---|
# | symptom | $\frac13\cdot0.24=0.08$ | $0.08\cdot0.7=0.056$ |
# | drug | $\frac13\cdot0.01=0.0033$ | $0.0033\cdot0.2=0.0007$ |
# | rest | $\frac13\cdot0.01=0.0033$ | $0.0033\cdot0.1=0.0003$ |
#
# The last column adds up to 0.057. Drug says "tablet" with 24 %, so "tablet" comes from drug with $0.057\cdot0.24=0.0137$.
# In general, let $f_t(h)$ be the probability of the first $t$ words with topic $h$ behind the last; $g$ is the topic before:
#
# $$f_1(h)=p(h)\,p(w_1\mid h),\qquad f_t(h)=\Big[\sum_g f_{t-1}(g)\,p(h\mid g)\Big]\,p(w_t\mid h),\qquad p(w_1\dots w_n)=\sum_h f_n(h).$$
#
# ### Exercise: the probability of a note
#
# *Difficulty: medium · importance: medium · 15 minutes*
#
# `words` (length,) has the number w of each word. `start` (H,) has the probability of each first topic, `moves[g, h]`
# the probability of topic h after topic g, `says[h, w]` the probability of word w under topic h. Return p(words).


# %%
def my_note_probability(words, start, moves, says):
    ...  # your code here


check.note_probability(my_note_probability)

# %% [markdown]
# <details><summary>Hint</summary>
#
# Keep one vector `forward` (H,). `says[:, word]` is the probability of a word under each topic. The sum over $g$ is the product
# of a vector with a matrix, `forward @ moves`.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_note_probability(words, start, moves, says):
#     forward = start * says[:, words[0]]
#     for word in words[1:]:
#         forward = (forward @ moves) * says[:, word]
#     return forward.sum()
# ```
#
# </details>
#
# ### Cures, and a second question (needs [09](09_soft_targets.ipynb))
#
# The ECE asks whether answers with a confidence of 60 % are right on 60 of 100 notes. Does each note get *its*
# probabilities? This is the **total variation distance** from the exact posterior $q$:
# $\tfrac12\sum_k|p_k-q_k|$, the share of probability that has to move to other classes. Three CNNs: cross-entropy,
# label smoothing (0.1), and **mixup of word vectors** (alpha 1), which blends two notes place by place. *Usual*: weight decay 0.01; *chosen*: strength
# and decay by the NLL after T on other seeds ([stored table](results/strengths/notes.csv)). Means of three networks.

# %% tags=["drawing"]
best = notes.chosen(notes.stored())
usual = {"cross-entropy": 0.0, "smoothing": 0.1, "mixup": 1.0}


def cured(way, chosen, seed):
    how = best[way] if chosen else {"strength": usual[way]}
    return notes.trial(size, "CNN", seed, way, **how)


cures, rows = sweep.run(cured, {"way": list(usual), "chosen": [False, True], "seed": seeds[:3]}, device=device), []
for outcome in cures.outcomes:
    test, T = outcome.predictions["test"], soft_targets.temperature(outcome)
    for name, probs in (("raw", test.probs), ("after T", T.probs(test.logits))):
        rows.append({**outcome.setting, "scaling": name, "T": T.temperature, **notes.numbers(probs, test)})
cures = pd.DataFrame(rows)
means = cures.groupby(["chosen", "way", "scaling"], sort=False).mean(numeric_only=True)
shown = means[["ECE", "distance"]].unstack("scaling").rename(index={False: "usual", True: "chosen"})
shown.columns = [column if scaling == "raw" else f"{column} after T" for column, scaling in shown.columns]
shown = shown[["ECE", "distance", "ECE after T", "distance after T"]].rename_axis([None, None])
print(shown.round(3).to_string())

# %% [markdown]
# Smoothing takes most of the ECE away, but moves the predictions *further* from the posterior; mixup moves them
# nearer. With its chosen weight decay plain cross-entropy needs no temperature.
#
# ### Film reviews and questions
#
# Stored runs of a text network on real texts (SST-2 and TREC), with and without mixup:

# %% tags=["drawing"]
for name, words in (("sst2", "film reviews"), ("trec", "questions")):
    table = experiments.on_text(name, SCALE)
    for value, mean in table.groupby("value", sort=False).mean(numeric_only=True).iterrows():
        print(f"{words}, {value}: ECE {mean.test_ece:.1%}, after T {mean.scaled_ece:.1%}")

# %% [markdown]
# On film reviews mixup lowers the ECE as trained; after T little of this is left. On questions it rises on average (500 test questions,
# three seeds: this may be chance).
#
# ### Exercise: a plan (homework)
#
# *Difficulty: hard · importance: high · 15 minutes, no code*
#
# A hospital sorts messages with a text network. It was calibrated with one temperature on last year's messages, of 40
# words on average. Now patients write by phone, 6 words on average. The report says "ECE 2 %". Write down why this number
# may say little about the new messages; what you would measure first, with how many labels; what you would do if short
# messages were over-confident; and which test would show that the network does not read the order of words.
#
# <details><summary>Answer</summary>
#
# *The number* is an average over last year's mixture of lengths. Section 3 shows that a gap near 0 over all lengths can
# hide gaps at single lengths. *First:* label a few hundred of the new messages, and measure accuracy, mean confidence
# and gap by groups of length. With 100 messages in a group the standard error of the accuracy is up to 5 points, so
# groups must be few. *If the network is over-confident on short messages:* fit a temperature for each group of length,
# and judge it on other messages of the group; or let a person read the short messages. *Order:* shuffle the words of
# each message. If the predictions stay, the network reads a bag of words.
#
# </details>
#
# All verdicts: [evidence](evidence/15_text.ipynb). Your numbers differ? [Why](your_numbers_differ.md).
#
# ## References
#
# - Mukhoti et al.: *Calibrating Deep Neural Networks using Focal Loss*. NeurIPS 2020. [arXiv:2002.09437](https://arxiv.org/abs/2002.09437)
# - Thulasidasan et al.: *On Mixup Training*. NeurIPS 2019. [arXiv:1905.11001](https://arxiv.org/abs/1905.11001)
# - Guo, Mao, Zhang: *Augmenting Data with Mixup for Sentence Classification*. 2019. [arXiv:1905.08941](https://arxiv.org/abs/1905.08941)
# - Kumar, Sarawagi, Jain: *Trainable Calibration Measures for Neural Networks from Kernel Mean Embeddings*. ICML 2018.
# - Rabiner: *A Tutorial on Hidden Markov Models*. Proceedings of the IEEE 1989. [doi:10.1109/5.18626](https://doi.org/10.1109/5.18626)
# - Pennington, Socher, Manning: *GloVe*. EMNLP 2014. [doi:10.3115/v1/D14-1162](https://doi.org/10.3115/v1/D14-1162)
