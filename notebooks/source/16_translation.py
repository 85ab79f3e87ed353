# %% [markdown]
# # 16 · Translation: sure of each word, and of the sentence?
#
# **Question.** A phone translates a doctor's instructions for a nurse, and shows how sure it is of each word. The maker
# has tested these numbers: of the words with 80 %, 80 % are right. May the nurse trust the whole *sentence*?

# %% tags=["drawing"]
from calibkit.course import explorers

explorers.stored("next_word")

# %% [markdown]
# You see a sentence, the first words of a translation, and what may come next. Bars: a network, trained with as many
# sentences as the slider says. Diamonds: how probable each word really is (the *exact law*). Where is the network not sure enough, and
# where too sure?
#
# **You will be able to**
# - compute the exact law of the next word where the probability of every translation is known;
# - measure the calibration of words; say what a low ECE omits;
# - tell three things apart: the probability that a network says of a sentence, the exact one, and whether it is right.
#
# **Time.** 45 minutes; 15 more for the homework.
#
# **Needs.** [08 Temperature](08_temperature.ipynb) and [09 Soft targets](09_soft_targets.ipynb); for section 6 the map of [03](03_overconfidence.ipynb).

# %% tags=["drawing"]
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch

from calibkit import metrics, recalibration
from calibkit.course import check, claims, experiments, verdicts
from calibkit.course.experiments import translated
from calibkit.course.scale import begin
from calibkit.lab import translation
from calibkit.lab.translation import toy
from calibkit.metrics import plane
from calibkit.pictures import palette, plots

# %% tags=["parameters"]
SCALE = "laptop"
SEED = 0
DEVICE = "auto"

# %% [markdown]
# ## 1. A translator whose law is known
#
# For real sentences nobody knows how probable each translation is. So we invent a translator. For each sentence he draws:
#
# - a noun among synonyms (for *car*: *voiture* 50 %, *véhicule* 30 %, *bolide* 20 %), and a verb;
# - the adverb: *de façon* or *de manière* (*in a ... way*, 50 % each), then one of two adjectives (for *often*: *fréquente*
#   60 %, *répétée* 40 %);
# - its place: at the end (45 %), in front (30 %), or left out (25 %).

# %%
source = "the green car hides the road often"
everything = toy.translations(source)
print(f"{len(everything)} translations of '{source}'. The five most probable:")
for text, p in list(everything.items())[:5]:
    print(f"{p:.1%}  {text}")

# %% [markdown]
# A **token** of this lesson is a word, or the mark that ends a sentence. The **prefix** is the tokens that are written
# already. At each place a model says how probable each token is, given the source and the prefix. The diamonds are the
# **next-word law**: the exact probability of the next token, given both.
#
# ### Exercise: the next-word law
#
# *Difficulty: medium · importance: high · 15 minutes*
#
# Each row of `translations` (m, L) is one translation of the same sentence: a whole number (id) for each token, the id of the
# end mark, then zeros. `probs` (m,) holds the probabilities of the rows (float64). `words` is V, the size of the vocabulary. Return a tensor (V,): the probability of each word to come after `prefix` (t,).

# %%
def my_next_law(translations, probs, prefix, words):
    ...  # your code here


check.next_law(my_next_law)

# %% [markdown]
# <details><summary>Hint</summary>
#
# Which rows begin with the prefix? What stands in the column after it? Add up their probabilities by word (`index_add` on zeros); divide by the total.
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
# ## 2. More sentences, longer training
#
# Small transformers learn this pair of languages from 300, 800 or 3,000 sentences. To judge them we let them predict
# each token from the *true* tokens before it (**teacher forcing**). So each token is a prediction, with a row of
# probabilities. But short sentences are filled up with zeros (*padding*), which are no predictions. A network that met
# such padding in its training predicts it surely and rightly. If it is counted, it raises the accuracy and lowers the ECE.
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
# The networks (also with losses of 09 and 10):

# %%
size = translated.budget(SCALE)
_, seeds, _ = begin(SCALE, SEED, DEVICE)
seeds = seeds[:3]
groups = [("cross-entropy", n) for n in (size.few, size.some, size.many)]  # 300, 800, 3,000 sentences
groups += [("smoothing", size.some), ("focal", size.some)]
# a setting: (loss, sentences, seed)
settings = [(*group, seed) for group in groups for seed in seeds]
plans = [translated.plan(size, *setting) for setting in settings]
runs = dict(zip(settings, translation.fit_all(plans), strict=True))

# %% tags=["drawing"]
def trained(loss, n):
    return [runs[loss, n, seed] for seed in seeds]


def by_step(loss, n, column):  # (seeds, marks)
    return np.array([run.history[column] for run in trained(loss, n)])


marks = list(size.marks)
best = palette.TRUTH.named("best possible accuracy")
away = palette.group(3, "distance from the law")


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
        counted="words", title=f"{n:,} sentences, step {step}", readout=f"{readout}, ECE {error:.1%}.")


counts = [size.few, size.some, size.many]
slider = explorers.Explorer(
    frame, explorers.Slider("training sentences", counts, show="{:,}".format, start=size.many),
    explorers.Slider("training step", marks, start=marks[2]), play=True,
    description="Left, the reliability diagram of the tokens of test sentences, networks of all seeds: a line "
    "below the diagonal is over-confident. Right, against the training step: mean confidence, accuracy, "
    "the accuracy of the exact law, and the distance (total variation) from the law. Bands span the seeds; "
    "the grey line marks the chosen step.")
explorers.keep(slider, "translation")
usual = next(text for text in everything if "façon" in text and not text.startswith("de")).split()
shown = translated.pair(source, " ".join(usual))


def next_word(n, done):
    probs = runs["cross-entropy", n, SEED].predict(shown).probs[done]
    says = {word: p for word, p in zip(toy.TARGET_WORDS, probs.tolist(), strict=True) if p > 0.002}
    left = toy.ways(source.split())
    for word in usual[:done]:
        left = toy.followed(left, word)
    return explorers.next_word_frame(source, usual[:done], says, toy.next_words(left),
                                     title=f"{n:,} sentences, after {done} words")


explorers.keep(explorers.Explorer(
    next_word, explorers.Slider("training sentences", counts, show="{:,}".format, start=size.some),
    explorers.Slider("words so far", list(range(len(usual) + 1))),
    description="For one sentence and one translation of it up to some word: bars, what a network says of the most "
    "probable next words; diamonds, how probable each of them is by the exact law of the translator."), "next_word")

# %% [markdown]
# **Predict before you run:** with *few* sentences, does the calibration get better or worse during the training? And
# the *distance* from the exact law? This is the total variation: half the sum of the absolute differences between bars
# and diamonds.

# %% tags=["answer"]
for n in (size.few, size.some, size.many):
    for words, column in (("token ECE", "ece"), ("distance from the law", "distance")):
        means = by_step("cross-entropy", n, column).mean(axis=0)
        print(f"{n:,} sentences, {words}: {means[-1]:.1%} at the end; least {means.min():.1%}, "
              f"at step {marks[means.argmin()]}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# Up and down at first, then worse, and the fewer sentences, the worse. With few, the distance grows again, too.
#
# </details>
#
# Step by step:

# %% tags=["drawing"]
slider

# %% [markdown]
# ## 3. A low ECE, and the law
#
# The maker would choose the network with the lowest ECE. Here are cross-entropy, label smoothing (0.1) and focal loss
# (gamma 2), on 800 sentences.
#
# **Predict before you run:** which has the lowest ECE? Which is nearest to the law? And which gives the most
# probability to words that *cannot* come next?

# %% tags=["answer", "drawing"]
rows = []
for loss in ("cross-entropy", "smoothing", "focal"):
    for seed, run in zip(seeds, trained(loss, size.some), strict=True):
        on_cal = run.predict(translated.drawn(size, "cal", seed))
        on_test = run.predict(translated.drawn(size, "test", seed), translated.exact(size, "test", seed))
        T = recalibration.TemperatureScaler().fit(on_cal.logits.double(), on_cal.labels)
        law, probs = on_test.posterior, on_test.probs.double()
        impossible = (probs * (law == 0)).sum(dim=1).mean().item()
        cooled = T.probs(on_test.logits.double())
        rows.append([loss, metrics.ece(probs, on_test.labels), translation.distance(probs, law), impossible,
                     T.temperature, metrics.nll(cooled, on_test.labels), translation.distance(cooled, law)])
judged = pd.DataFrame(rows, columns=["loss", "ECE", "distance", "impossible", "T", "cool", "near"])
means = judged.groupby("loss", sort=False).mean().rename_axis(None)
means[["ECE", "distance", "impossible", "near"]] *= 100
means.columns = ["ECE, %", "distance, %", "impossible, %", "T", "NLL after T", "distance after T, %"]
print("distance: from the law; impossible: probability on words that cannot come next")
print(means.round(dict(zip(means.columns, [1, 1, 1, 2, 3, 1], strict=True))).to_string())

# %% [markdown]
# <details><summary>What came out</summary>
#
# Smoothing and focal loss have half the ECE of cross-entropy. (With weight decay and strength tuned, theirs is larger as trained: evidence.)
# Focal loss is nearer only after T (as trained undecided: evidence). But smoothing, with nearly the same ECE, is
# *further* from it than cross-entropy: it gives probability to impossible words. The ECE looks at the most probable
# word alone, on average. Where no law is known, the NLL tells more: in expectation it is lowest at the law.
#
# </details>

# %% tags=["nbval-check-output"]
def of(loss, column):
    return judged[judged.loss == loss][column].to_numpy()


print(verdicts.judge("16b", "smoothing is further from the exact law than cross-entropy",
                     of("smoothing", "distance") - of("cross-entropy", "distance"), post_hoc=True,
                     as_trained=True))
print(claims.concluded("16", "16b"))

# %% [markdown]
# ## 4. After its own words
#
# The maker tested with true prefixes. On the phone the network goes on from what *it* has written. There are two ways
# to write: take the most probable word each time (**greedy decoding**), or draw each word with the probability that the
# network gives it. After its own prefix we know the law as well, if this prefix is possible. After an impossible one
# there is no law: there we count every word as wrong.
#
# **Predict before you run:** the gap is the confidence minus the probability to be right. After the network's own words it
# may be larger than after true ones. For which losses does it grow by more than 2 points when the network writes greedily? And when it draws?

# %% tags=["answer", "drawing"]
rows = []
for loss in ("cross-entropy", "smoothing", "focal"):
    for seed, run in zip(seeds, trained(loss, size.some), strict=True):
        pairs = translated.drawn(size, "test", seed)[:size.decoded]
        forced = run.predict(pairs, translated.exact(size, "test", seed)[:size.decoded])
        confidence, favourite = forced.probs.max(dim=1)
        right = forced.posterior.gather(1, favourite[:, None])[:, 0]
        row = {"loss": loss, "true": (confidence - right).mean().item()}
        for way, draws in {"greedy": None, "drawn": seed}.items():
            own = translated.after_prefixes(*translated.written(run, pairs, draws), pairs)
            row |= {way: (own.confidence - own.right).mean(), f"{way}, lost": 1 - own.possible.mean()}
        rows.append(row)
own_words = pd.DataFrame(rows)
means = 100 * own_words.groupby("loss", sort=False).mean().rename_axis(None)
heads = {"true": "gap, true words", "greedy": "gap, greedy", "drawn": "gap, drawn",
         "greedy, lost": "lost, greedy", "drawn, lost": "lost, drawn"}
print("gap in points; lost: % of the places after an impossible prefix")
print(means[list(heads)].rename(columns=heads).round().astype(int).to_string())

# %% [markdown]
# <details><summary>What came out</summary>
#
# Greedily: with none. All three nearly always write possible prefixes, and the gap grows by about a point. Drawn: with
# all, and most with smoothing. The small probabilities of impossible words add up. After the first such word we count
# every word as wrong, and the confidence stays. Nearly the whole growth comes from this (evidence).
#
# </details>

# %% tags=["nbval-check-output"]
more = own_words[own_words.loss == "smoothing"]
print(verdicts.judge(
    "16m", "smoothing: the gap after words that it drew is larger than after true ones by more than 0.1",
    (more.drawn - more["true"]).to_numpy(), margin=0.1, as_trained=True))
print(claims.concluded("16", "16m"))

# %% [markdown]
# ## 5. From words to a sentence
#
# Many phones look for the most probable sentence: **beam search** of width $B$ keeps the $B$ most probable prefixes;
# width 1 is greedy. First the exact law:
#
# **Predict before you run:** the five most probable translations of section 1 lack the adverb, though three
# translations in four have it. Why? And does a wide beam find longer or shorter sentences?

# %% tags=["answer"]
for text, p in list(everything.items())[:2]:
    print(f"{p:.1%}  {text}")
pairs = translated.drawn(size, "test", SEED)[:size.decoded]
wanted = np.mean([len(text.split()) for text in pairs.texts()])
for width in (1, 8):
    sentences, _ = translation.beam(toy.scorer(pairs), len(pairs), width=width, longest=16)
    words = np.mean([len(text.split()) for text in pairs.texts(sentences)])
    print(f"exact law, beam of {width}: {words:.1f} words on average; the translator himself {wanted:.1f}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# Of 100 translations 25 have no adverb, and there is one way to write this. In 45 the adverb comes at the end, and there are four ways: *façon* or *manière* (50 % each),
# with one of two adjectives (60 and 40 %). The best of the four has 0.45 x 0.5 x 0.6 = 13.5 %, less than 25 %. So the most probable *single* sentence lacks the adverb, and a wide beam finds it:
# a poor summary even of the exact law (Eikema and Aziz 2020). (Greedy writes the adverb: 45 beside 25.) With networks it may also be too short because the network
# is wrong (Stahlberg and Byrne 2019).
#
# </details>
#
# Now the networks. A beam of 4 returns each sentence with its product of probabilities: the *said* probability. The law
# gives the *exact* one, and tells whether the sentence is right at all.
#
# **Predict before you run:** after 800 sentences, is the said probability above the exact one? And are improbable sentences wrong?

# %% tags=["answer"]
for loss, n in groups[1:]:  # without the 300 sentences
    rows = []
    for seed, run in zip(seeds, trained(loss, n), strict=True):
        pairs = translated.drawn(size, "test", seed)[:size.decoded]
        sentences, log_probs = translation.translate(run.model, pairs, width=4, longest=16)
        # pairs of an English sentence and its translation
        told = zip(pairs.texts(source=True), pairs.texts(sentences), strict=True)
        exact = np.array([toy.probability(english, french) for english, french in told])
        rows.append((log_probs.exp().mean().item(), exact.mean(), (exact > 0).mean()))
    said, true, right = np.mean(rows, axis=0)
    print(f"{loss}, {n:,} sentences: said {said:.1%}, exact {true:.1%}, right translations {right:.1%}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# After 800 sentences cross-entropy says 23 % where 8 % is exact (at its best weight decay too little: evidence). After 3,000 both are some 11 %. Nearly all are right: each is one wording of many.
#
# </details>
#
# **Your turn.** Write a sentence with words of the toy language (`toy.NOUNS`, `toy.ADJECTIVES`, `toy.VERBS`,
# `toy.ADVERBS`). Does a wider beam lose the adverb?

# %%
mine, width = "the heavy boat follows the white car slowly", 4  # change me
asked = translated.pair(mine)
model = runs["cross-entropy", size.some, SEED].model
sentence, log_prob = translation.translate(model, asked, width=width, longest=16)
text = asked.texts(sentence)[0]
print(f"{text}: said {log_prob.exp().item():.1%}, exact {toy.probability(mine, text):.1%}")

# %% [markdown]
# ## 6. Real captions, and the map
#
# The map shows the networks of section 2. Below it: stored runs on 3,000 captions (Multi30k, German to English). **Predict before you run:** does training on a quarter give
# a larger token ECE? Is focal loss best here, too?

# %% tags=["answer", "drawing"]
real = experiments.stored("captions", "laptop").groupby("value", sort=False).mean(numeric_only=True)
where = {}
for place, (loss, n) in enumerate(groups):
    for seed, run in zip(seeds, trained(loss, n), strict=True):
        learnt = run.predict(translated.drawn(size, "train", seed)[:n])
        new = run.predict(translated.drawn(size, "test", seed))
        at = plane.place(metrics.accuracy(learnt.probs, learnt.labels), metrics.accuracy(new.probs, new.labels),
                         new.confidence.mean().item())
        where.setdefault(palette.group(place, f"{loss}, {n:,}"), []).append(at)
_ = plots.plane(where)
plt.show()
for value, row in real.iterrows():
    print(f"captions, {value}: token ECE {row.ece:.1%}")

# %% [markdown]
# <details><summary>What came out</summary>
#
# On the map fewer sentences move a network to the right and up. (No kappa where almost no accuracy is lost.) On captions, too, fewer sentences
# give a larger ECE as trained. There focal loss has the largest as trained; after a temperature each, the smallest.
#
# </details>
#
# ### Exercise: a number beside the answer (homework)
#
# *Difficulty: hard · importance: high · 15 minutes, no code*
#
# A hospital's chat program shows beside each answer the product of its tokens' probabilities, "because the tokens are calibrated". Write down two
# reasons why this is not the probability that the answer is right, a test, and what you would show instead.
#
# <details><summary>Answer</summary>
#
# *Reasons* (two are enough): the product is the probability of one wording, and a right answer has many; the tokens
# were judged after true prefixes, not after the program's own; the texts that the program learned from may be wrong.
#
# *Test:* the reliability diagram of the number against doctors' judgements of some hundreds of answers.
#
# *Instead:* a score that is fitted on such judgements, for instance from the share of drawn answers that agree in
# meaning (Kuhn et al. 2023). Test it in the same way.
#
# </details>
#
# ## The answer
#
# **Not from these numbers. The test went on from true words, looked only at the most probable word, and took an
# average. Smoothing, as trained here, had half the ECE of cross-entropy, and yet was further from the exact law, since it gave
# probability to impossible words.** **And three things differ: what the phone says, how probable this wording is, and whether it
# is right. A right sentence may have a probability of ten per cent, and the most probable one may lack a word that
# matters.**
#
# (With a temperature each, smoothing's ECE is undecided, or tuned 0.2 points higher; its impossible beginnings are
# undecided: evidence.)
#
# All verdicts: [evidence](evidence/16_translation.ipynb). Next: [17 Audit your own model](17_audit_your_model.ipynb).
#
# ## Three things to take away
#
# 1. A token is a prediction, padding is none. Judge words with a mask, and say after which prefixes.
# 2. A low ECE does not show that a network has learned the law. The NLL tells more. Look also at what the network
#    writes itself.
# 3. The said probability of a sentence, its exact probability, and whether it is right are three things.
#
# ## Recall
#
# <details><summary>1. Can the exact law be unsure of a word?</summary>
#
# Yes: between synonyms, or where the prefix does not show yet whether an adverb follows. It is calibrated all the same.
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
# The ECE is an average, and looks only at the most probable word. As trained, smoothing gives probability to words that
# cannot come next.
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
# Each choice among synonyms multiplies the probability by a number below 1, and the translator may leave the adverb
# out.
#
# </details>
#
# ## Go further
#
# Draw 5 translations of one test sentence from a network. How many are possible? If your numbers differ, see [your numbers differ?](your_numbers_differ.md).
#
# <details><summary>Answer</summary>
#
# ```python
# one = translated.drawn(size, "test", SEED)[:1]
# for draw in range(5):
#     _, sentence = translated.written(runs["cross-entropy", size.some, SEED], one, draw)
#     text = one.texts(sentence)[0]
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
# - Kuhn, Gal, Farquhar: *Semantic Uncertainty*. ICLR 2023. [arXiv:2302.09664](https://arxiv.org/abs/2302.09664)
# - Kumar, Sarawagi: *Calibration of Encoder Decoder Models for Neural Machine Translation*. 2019. [arXiv:1903.00802](https://arxiv.org/abs/1903.00802)
# - Ott, Auli, Grangier, Ranzato: *Analyzing Uncertainty in Neural Machine Translation*. ICML 2018. [arXiv:1803.00047](https://arxiv.org/abs/1803.00047)
# - Stahlberg, Byrne: *On NMT Search Errors and Model Errors: Cat Got Your Tongue?* EMNLP 2019. [arXiv:1908.10090](https://arxiv.org/abs/1908.10090)
# - Eikema, Aziz: *Is MAP Decoding All You Need? The Inadequacy of the Mode in Neural Machine Translation*. COLING 2020. [arXiv:2005.10283](https://arxiv.org/abs/2005.10283)
