# %% [markdown]
# # 15 · Text: the same words in another order
#
# **Question.** "Fever, then a tablet" is a treatment; "a tablet, then fever" may be a side effect. A program sorts the
# notes of a hospital ward, and its report says that it is calibrated. Has it read the order of the words? And may one
# trust its confidence on short notes?

# %% tags=["drawing"]
from calibkit.course import explorers

explorers.stored("note_length")

# %% [markdown]
# Three networks and the best possible reader (the exact posterior) sort short notes into four classes. Left: the
# reliability diagram of the chosen reader on notes of this length. Right: its confidence and accuracy against the length.
# On which notes are the networks most over-confident?
#
# **You will be able to**
# - compute the exact posterior of a text, and turn texts of different lengths into one tensor;
# - tell two questions apart: is a stated confidence true on average, and does each text get its own probabilities?
# - look for gaps that an average over all texts hides.
#
# **Time.** 45 minutes; 15 more for the homework.
#
# **Needs.** [08 Temperature](08_temperature.ipynb) and [09 Soft targets](09_soft_targets.ipynb); for section 6 the map of [03](03_overconfidence.ipynb).

# %% tags=["drawing"]
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch

from calibkit import metrics
from calibkit.course import check, claims, experiments, verdicts
from calibkit.course.experiments import notes, soft_targets
from calibkit.course.scale import begin
from calibkit.lab import data, sweep
from calibkit.metrics import plane
from calibkit.pictures import alt_text, palette, plots

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% [markdown]
# ## 1. Notes whose truth is known
#
# Nobody knows the exact posterior of a real text. So we write the author ourselves. Behind every word stands a topic
# (symptom, drug, meal or rest) that nobody sees. From word to word the topic changes at random. Each topic then says a
# word, mostly one of its own five words. This is a **hidden Markov chain**. The classes differ in *how the topics
# follow each other*. An arrow is the commonest move (70 %); otherwise the topic stays (20 %) or goes the opposite way
# (10 %):

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
# "Infection" goes round the circle of symptom, drug and rest; **"side effect" goes round the same circle in the
# opposite direction**; "food allergy" and "ulcer" share another circle. So two notes of the same three words can have
# different posteriors. Two classes that share a circle are a *pair*.
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
# *Difficulty: medium · importance: high · 15 minutes*
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
# ## 2. Four readers
#
# A network takes numbers: each word gets one, and learns a list of numbers (a vector) for it. Short notes are filled up
# with the number 0, the **padding**. A **padding mask**, `texts != 0`, says which places hold words. Without the mask,
# predictions depend on how much padding follows.
#
# ### Exercise: a mean over words
#
# *Difficulty: easy · importance: high · 5 minutes*
#
# `vectors` (n, length, D) are the vectors at each place, which need not be zero at the padding; `texts` (n, length) are the numbers of the words.
# Return the mean vector (n, D) over the *words* of each text.

# %%
def my_masked_mean(vectors, texts):
    ...  # your code here


check.masked_mean(my_masked_mean)

# %% [markdown]
# <details><summary>Hint</summary>
#
# Multiply by the mask, add up over the places, and divide by the number of words of each text. `mask.unsqueeze(2)` makes
# (n, length) into (n, length, 1).
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def my_masked_mean(vectors, texts):
#     mask = (texts != 0).to(vectors.dtype).unsqueeze(2)
#     return (vectors * mask).sum(dim=1) / mask.sum(dim=1)
# ```
#
# </details>
#
# Four networks read the notes. A **bag of words** takes the mean of the vectors: the order is lost. The *CNN* looks at
# three neighbouring words at a time; the *LSTM* reads from left to right; the *transformer* lets each word look at all
# others.

# %%
def recipe(reader, seed):
    return notes.trial(size, reader, seed)


swept = sweep.run(recipe, {"reader": list(notes.READERS), "seed": seeds}, device=device)

# %% tags=["drawing"]
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

# %% [markdown]
# **Predict before you run:** the best possible reader is right on about 85 of 100 notes. What is the highest accuracy
# that a bag of words can reach: about 80, about 65, or at most 50 of 100?

# %% tags=["answer"]
# words 0: the mean over notes of all lengths
everywhere = found[found.words == 0].groupby("reader", sort=False).mean(numeric_only=True)
for reader in ("bag of words", "CNN", "exact posterior"):
    mean = everywhere.loc[reader]
    print(f"{reader}: right on {mean.accuracy:.1%}, mean confidence {mean.confidence:.1%}")
bags = [outcome.predictions["test"].confidence for outcome in swept.where(reader="bag of words")]
surer = np.mean([(sure > 0.5).double().mean() for sure in bags])
print(f"bag of words: surer than 50 % on {surer:.0%} of the notes")

# %% [markdown]
# <details><summary>What came out</summary>
#
# At most one half. Write a note backwards: the bag stays the same. The note is as likely under "infection" as the backward
# note is under "side effect". So the bag alone cannot tell these two apart: each gets at most one half. The trained bag is
# over-confident: surer than one half on 89 % of the notes.
#
# </details>
#
# <details><summary>Why is the backward note as likely?</summary>
#
# Turn a path of topics around. Each first topic has 1/3. A step along the arrow (70 %) is, backwards, a step along the arrow
# of the other class: 70 % again. Likewise 20 % (stay) and 10 %. Add up over all orders of a bag: both classes are equally
# likely.
#
# </details>
#
# ## 3. Two questions, and short notes
#
# The ECE asks whether predictions with a confidence of 60 % are right on 60 of 100 notes. But does each note get *its*
# probabilities? This is measured by the **total variation distance** from the exact posterior $q$:
# $\tfrac12\sum_k|p_k-q_k|$. (0.17 means: to turn $p$ into $q$, one has to move 17 of 100 points of
# probability to other classes.) A perfect reader of the bag alone is calibrated. But its probabilities are not $q$: it gives
# a note and its reverse the same.
#
# The slider at the top shows the networks as trained. Now each gets one temperature, fitted on calibration notes of all
# lengths.
#
# **Predict before you run:** after its temperature, is the CNN over-confident, calibrated (within 2 points), or
# under-confident on the *shortest* notes?

# %% tags=["answer", "drawing"]
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
# Over all notes the gap is nearly gone. But the CNN is still over-confident on the shortest notes, and now under-confident
# on the longest: one number cannot make every length right. The report of the program ("calibrated") is an average over
# lengths.
#
# </details>
#
# HOLDS in a *verdict* means that its whole 95 % interval lies where the sentence says.

# %% tags=["nbval-check-output"]
def gap_at(reader, words):
    part = found[(found.reader == reader) & (found.words == words)]
    return part.sort_values("seed").gap.to_numpy()


print(verdicts.judge("15h", "CNN after one T: a larger signed gap on the shortest notes than on the longest",
                     gap_at("CNN, after T", lengths[0]) - gap_at("CNN, after T", lengths[-1]), post_hoc=True))
print(claims.concluded("15", "15h"))

# %% [markdown]
# ## 4. Has it read? Shuffle and see
#
# **Your turn.** Shuffle the words of every test note. A reader that keeps its predictions has not read the order. Guess
# first: which of the four readers keeps all its predictions? Then try a change of your own: reverse the notes instead.

# %%
def changed(words):
    return words[torch.randperm(len(words))]  # change me: for example words.flip(0)


texts = test_notes.inputs.clone()  # the test notes of one seed
for note in texts:
    note[note != 0] = changed(note[note != 0])  # its words change places; the padding, 0, stays
for one in swept.where(seed=SEED):
    before, after = one.predict(test_notes), one.predict(data.Dataset(texts, test_notes.labels, ward.classes))
    moved, right = (before.predicted != after.predicted).double(), metrics.accuracy(after.probs, after.labels)
    print(f"{one.setting['reader']}: {moved.mean():.0%} of the predictions changed; accuracy {right:.1%}, "
          f"confidence {after.confidence.mean():.1%}")

# %% [markdown]
# <details><summary>What you may have found</summary>
#
# The bag keeps all its predictions. The accuracy of all others falls to about one half: what they had above one half
# came from the order. But their confidence stays far above one half. On reversed notes their accuracy falls far lower,
# since a reversed infection reads like a side effect.
#
# </details>
#
# ## 5. Cures, and the two questions
#
# Half a "fever" and half a "tablet" is no word. But the list of numbers of a word, its **word vector**, can be averaged
# with another's: **mixup of word vectors** blends two notes place by place, and their labels. We train four CNNs: with
# plain cross-entropy, with this mixup (alpha 1), with label smoothing (0.1) and with focal loss (gamma 3). In the rows
# *usual* all have weight decay 0.01. In the rows *chosen* each has its strength and weight decay, chosen on
# other seeds, by the NLL after T ([stored table](results/strengths/notes.csv)).
#
# **Predict before you run:** at the usual weight decay, does every cure that lowers the ECE also bring the predictions
# nearer to the posterior of each note?

# %% tags=["answer", "drawing"]
best = notes.chosen(notes.stored())
usual = {"cross-entropy": 0.0, "focal": 3.0, "smoothing": 0.1, "mixup": 1.0}


def cured(way, chosen, seed):
    how = best[way] if chosen else {"strength": usual[way]}
    return notes.trial(size, "CNN", seed, way, **how)


cures, rows = sweep.run(cured, {"way": list(usual), "chosen": [False, True], "seed": seeds}, device=device), []
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
# <details><summary>What came out</summary>
#
# No. Smoothing takes most of the ECE away, but moves the predictions *further* from the posterior; mixup moves them
# nearer. With its chosen weight decay (1 in place of 0.01) plain cross-entropy needs no temperature, and is nearer to the
# posterior than every cure was at the usual one. With chosen strengths and T, smoothing and mixup are nearer still.
#
# </details>

# %% tags=["nbval-check-output"]
def fair(way):
    part = cures[(cures.way == way) & cures.chosen & (cures.scaling == "after T")]
    return part.sort_values("seed").NLL.to_numpy()


print(verdicts.judge("15n", "chosen strengths, one T each: mixup has a lower NLL than cross-entropy",
                     fair("mixup") - fair("cross-entropy"), expect="below"))
print(claims.concluded("15", "15n"))

# %% [markdown]
# ## 6. Real texts, and the map
#
# Now film reviews (SST-2) and questions (TREC): stored runs of a text network, with and without mixup, all with one
# weight decay. The figure has the four readers of section 2 on the map of lesson 03.
#
# **Predict before you run:** does mixup lower the ECE on both kinds of text?

# %% tags=["answer", "drawing"]
where = {}
for place, reader in enumerate(notes.READERS):
    for outcome in swept.where(reader=reader):
        learnt, test = outcome.predictions["train"], outcome.predictions["test"]
        at = plane.place(metrics.accuracy(learnt.probs, learnt.labels), metrics.accuracy(test.probs, test.labels),
                         test.confidence.mean().item())
        where.setdefault(palette.group(place, reader), []).append(at)
_ = plots.plane(where)
plt.show()
for name, words in (("sst2", "film reviews"), ("trec", "questions")):
    table = experiments.on_text(name, SCALE)
    for value, mean in table.groupby("value", sort=False).mean(numeric_only=True).iterrows():
        print(f"{words}, {value}: ECE {mean.test_ece:.1%}, after T {mean.scaled_ece:.1%}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# On film reviews it does, as trained; after T little of this is left. On questions it does not: the ECE rises on average.
# With 500 test questions and three seeds this may be chance. On the map the LSTM loses least on new notes, and also
# claims least.
#
# </details>
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
# ## The answer
#
# **The report cannot say. A reader that never looks at the order could be calibrated, too. And one temperature that is
# right over all notes left the CNN 9 points over-confident on the shortest and 5 points under-confident on the
# longest.** **Shuffle the words to see whether the program reads their order. Before you trust it on short notes, look
# at the gap length by length.**
#
# All verdicts: [evidence](evidence/15_text.ipynb). Next: [16 Translation](16_translation.ipynb).
#
# ## Three things to take away
#
# 1. "Is it calibrated on average?" and "Does each text get its own probabilities?" are two questions. A small ECE does
#    not answer the second.
# 2. Padding is no word: every sum, mean and maximum over a text needs a mask.
# 3. One temperature is fitted on a mixture of short and long texts. Look at the gap by length.
#
# ## Recall
#
# <details><summary>1. What does the forward algorithm add up, and why is it fast?</summary>
#
# The probabilities of all paths of hidden topics. It keeps only one number for each topic, since the next word depends
# on the past through the present topic alone.
#
# </details>
#
# <details><summary>2. Why do both classes of a pair have the same bags of words?</summary>
#
# One chain is the other run backwards. So a note is as likely under one class as the reversed note is under the other.
#
# </details>
#
# <details><summary>3. A batch's longest note has 16 words. Which bug makes the prediction of a note of 5 words depend on that?</summary>
#
# A mean (or sum, or maximum) over all 16 places without the mask.
#
# </details>
#
# <details><summary>4. A bag of words is perfectly calibrated on these notes. How large can its largest confidence be?</summary>
#
# At most 1/2. Collect all notes with one bag: at most half of them have the class that is predicted. (A *binned* ECE of 0
# does not exclude larger confidences: in a bin, too high and too low ones cancel.)
#
# </details>
#
# <details><summary>5. After one temperature the gap over all notes is 0. What may still be wrong?</summary>
#
# Short notes may be over-confident and long ones under-confident, or the other way round.
#
# </details>
#
# ## Go further
#
# Fit one temperature for each length in place of one for all. Is the gap gone at every length? If your printed numbers differ, see [your numbers differ?](your_numbers_differ.md).
#
# <details><summary>Answer</summary>
#
# ```python
# from calibkit import recalibration
#
# outcome = swept.one(reader="CNN", seed=SEED)
# parts = notes.splits(size, SEED)
# for longest in lengths:
#     chosen = {}
#     for name, texts in (("cal", parts.calibration.inputs), ("test", parts.test.inputs)):
#         count = (texts != 0).sum(dim=1)
#         here = (count == longest) | (count == longest - 1)
#         said = outcome.predictions[name]
#         chosen[name] = said.logits[here], said.labels[here]
#     T = recalibration.TemperatureScaler().fit(*chosen["cal"])
#     logits, labels = chosen["test"]
#     print(f"up to {longest} words: T {T.temperature:.2f}, gap {metrics.signed_gap(T.probs(logits), labels):+.1%}")
# ```
#
# Mostly: T is larger for short notes. But each T is fitted on few notes, so it is less precise.
#
# </details>
#
# ## References
#
# - Mukhoti et al.: *Calibrating Deep Neural Networks using Focal Loss*. NeurIPS 2020. [arXiv:2002.09437](https://arxiv.org/abs/2002.09437)
# - Thulasidasan et al.: *On Mixup Training*. NeurIPS 2019. [arXiv:1905.11001](https://arxiv.org/abs/1905.11001)
# - Guo, Mao, Zhang: *Augmenting Data with Mixup for Sentence Classification*. 2019. [arXiv:1905.08941](https://arxiv.org/abs/1905.08941)
# - Kumar, Sarawagi, Jain: *Trainable Calibration Measures for Neural Networks from Kernel Mean Embeddings*. ICML 2018.
# - Rabiner: *A Tutorial on Hidden Markov Models*. Proceedings of the IEEE 1989. [doi:10.1109/5.18626](https://doi.org/10.1109/5.18626)
# - Pennington, Socher, Manning: *GloVe*. EMNLP 2014. [doi:10.3115/v1/D14-1162](https://doi.org/10.3115/v1/D14-1162)
