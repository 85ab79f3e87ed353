"""Translation."""

import torch
from torch import Tensor

from calibkit import metrics
from calibkit.course.check.engine import exercise


# fmt: off
def _sentences() -> dict[str, tuple[Tensor, Tensor]]:
    """Probabilities (n, T, V) and labels (n, T) of n sentences, padded with 0."""
    generator = torch.Generator().manual_seed(16)
    cases = {}
    for lengths, words, sure, right in (((3, 5), 4, 3.0, False), ((2, 4, 6), 5, 1.0, False),
            ((1, 4), 3, 4.0, False), ((5, 2, 3, 1), 6, 2.0, True), ((4, 4), 4, 2.0, False),
            ((2, 7), 7, 0.5, True), ((3, 3), 5, 1.5, False), ((1,), 3, 1.0, False),
            ((30, 45, 2), 9, 1.0, False)):
        n, longest = len(lengths), max(lengths) + (lengths != (3, 3))  # these have no padding
        logits = torch.randn(n, longest, words, generator=generator, dtype=torch.float64)
        labels = torch.randint(1, words, (n, longest), generator=generator)
        labels = logits[..., 1:].argmax(dim=2) + 1 if right else labels
        for row, length in enumerate(lengths):
            labels[row, length:] = 0
            logits[row, length:, 0] += 3  # a network says "padding" easily
        name = f"sentences of {', '.join(map(str, lengths))} tokens, {words} words"
        cases[name] = (sure * logits).softmax(dim=2), labels
    return cases

def _gap(probs: Tensor, labels: Tensor) -> Tensor:
    """Confidence less hit of every place, (n, T)."""
    return probs.amax(dim=2) - (probs.argmax(dim=2) == labels).double()

def _by_sentence(probs: Tensor, labels: Tensor) -> Tensor:
    each, real = _gap(probs, labels), labels != 0
    return ((each * real).sum(dim=1) / real.sum(dim=1)).mean()

@exercise(cases=_sentences(), mistakes={
    "the padding is counted. Leave out the places whose label is 0.": lambda p, y: _gap(p, y).mean(),
    "the sign is reversed: confidence minus accuracy.": lambda p, y: -_gap(p, y)[y != 0].mean(),
    "the padding adds nothing to the sum, but it is counted in the number of places by which you divide.":
        lambda p, y: (_gap(p, y) * (y != 0)).mean(),
    "this is a sum. Divide by the number of real tokens.": lambda p, y: (_gap(p, y) * (y != 0)).sum(),
    "you divided by the number of sentences. Divide by the number of real tokens.":
        lambda p, y: (_gap(p, y) * (y != 0)).sum() / len(y),
    "you took the mean of each sentence, then the mean of these: so the tokens of short sentences count "
    "more. Every real token counts the same.": _by_sentence,
    "you left out the places where the *network* says padding. What is padding is told by the labels.":
        lambda p, y: _gap(p, y)[p.argmax(dim=2) != 0].mean(),
    "the label 1 is taken for padding, too. Padding is 0 alone.": lambda p, y: _gap(p, y)[y > 1].mean(),
    "this is the first sentence alone. Take the real tokens of all.":
        lambda p, y: _gap(p[:1], y[:1])[y[:1] != 0].mean(),
    "the mask is turned round: these are the places of padding alone.":
        lambda p, y: _gap(p, y)[y == 0].mean(),
    "this is the mean confidence. Subtract the accuracy.": lambda p, y: p.amax(dim=2)[y != 0].mean(),
    "this is the accuracy. Subtract it from the mean confidence.":
        lambda p, y: (p.argmax(dim=2) == y).double()[y != 0].mean(),
    "the confidence is of real tokens, but the accuracy counts the padding too.":
        lambda p, y: p.amax(dim=2)[y != 0].mean() - (p.argmax(dim=2) == y).double().mean(),
    "the accuracy is of real tokens, but the confidence counts the padding too.":
        lambda p, y: p.amax(dim=2).mean() - (p.argmax(dim=2) == y).double()[y != 0].mean(),
    "you took the probability of the label. The confidence is the largest probability.":
        lambda p, y: (p.gather(2, y[..., None])[..., 0] - (p.argmax(dim=2) == y).double())[y != 0].mean(),
    "this is a mean of absolute values. A gap has a sign: hits and misses balance.":
        lambda p, y: _gap(p, y)[y != 0].abs().mean(),
    "a gap has a sign: below 0 the network is under-confident.": lambda p, y: _gap(p, y)[y != 0].mean().abs(),
    "you left out the word 0 from the probabilities. Leave out places, not words.":
        lambda p, y: (_gap(p[..., 1:], y - 1))[y != 0].mean(),
    "you subtracted the probability of the label. Subtract the share of hits.":
        lambda p, y: (p.amax(dim=2) - p.gather(2, y[..., None])[..., 0])[y != 0].mean(),
    "this is the ECE, which has no sign. Asked is the signed gap.":
        lambda p, y: metrics.ece(p[y != 0], y[y != 0]),
    "you left out the places where the *network* says padding, too. Labels tell it.":
        lambda p, y: _gap(p, y)[(y != 0) & (p.argmax(dim=2) != 0)].mean()})
def masked_gap(probs, labels):
    """The signed gap of the real tokens: probs (n, T, V), labels (n, T), 0 for padding."""
    return _gap(probs, labels)[labels != 0].mean()

def _translations() -> dict[str, tuple[Tensor, Tensor, Tensor, int]]:
    """All translations (m, T) of a sentence with their probabilities, a prefix, the words."""
    small = torch.tensor([[4, 6, 3], [5, 6, 3], [4, 7, 3], [5, 7, 3], [4, 3, 0]])
    share = torch.tensor([0.3, 0.2, 0.1, 0.1, 0.3], dtype=torch.float64)
    rare = torch.tensor([0.5, 2e-9, 0.25, 1e-9, 0.25 - 3e-9], dtype=torch.float64)
    cases = {
        "five translations, prefix of one word": (small, share, torch.tensor([4]), 8),
        "five translations, another first word": (small, share, torch.tensor([5]), 8),
        "five translations, prefix of two words": (small, share, torch.tensor([4, 7]), 8),
        "five translations, nothing yet": (small, share, small[0, :0], 8),
        "a prefix of probability 3e-9": (small, rare, torch.tensor([5]), 8),
        "a larger vocabulary than the words that occur": (small, share, torch.tensor([4]), 30),
    }
    generator = torch.Generator().manual_seed(161)
    for words, length, seen in ((6, 4, 2), (7, 3, 1), (5, 5, 3)):
        rows = torch.randint(4, words, (40, length), generator=generator).unique(dim=0)
        rows = torch.cat([rows, torch.full((len(rows), 1), 3)], dim=1)
        p = torch.rand(len(rows), generator=generator, dtype=torch.float64)
        name = f"{len(rows)} translations, prefix of {seen} words"
        cases[name] = rows, p / p.sum(), rows[len(rows) // 2, :seen], words
    return cases

def _begin(rows: Tensor, prefix: Tensor) -> Tensor:
    return (rows[:, : len(prefix)] == prefix).all(dim=1)

def _law(rows: Tensor, p: Tensor, prefix: Tensor, words: int, fits: Tensor | None = None,
        place: int | None = None) -> Tensor:
    """Sums of p by the word at a place, by default after the prefix, of the rows that fit it."""
    fits = _begin(rows, prefix) if fits is None else fits
    place = len(prefix) if place is None else place
    return torch.zeros(words, dtype=torch.float64).index_add(0, rows[fits, place], p[fits])

def _added_once(rows: Tensor, p: Tensor, prefix: Tensor, words: int) -> Tensor:
    law, fits = torch.zeros(words, dtype=torch.float64), _begin(rows, prefix)
    law[rows[fits, len(prefix)]] += p[fits]  # of the rows with one word the last stays
    return law

def _share(law: Tensor) -> Tensor:
    return law / law.sum()

def _surest(rows: Tensor, p: Tensor, prefix: Tensor, words: int) -> Tensor:
    """All on the next word of the most probable translation that fits."""
    fits = _begin(rows, prefix)
    return torch.nn.functional.one_hot(rows[fits][p[fits].argmax(), len(prefix)], words).double()

def _all_later(rows: Tensor, p: Tensor, prefix: Tensor, words: int) -> Tensor:
    places = range(len(prefix), rows.shape[1])
    return _share(sum((_law(rows, p, prefix, words, place=place) for place in places), torch.zeros(words)))

@exercise(cases=_translations(), mistakes={
    "`law[index] += p` adds once where a word occurs in `index` several times. Add up with `index_add`.":
        (_added_once, lambda *case: _share(_added_once(*case))),
    "your numbers do not sum to 1: divide by the probability of the prefix, which is their sum.": _law,
    "every translation that fits counts the same. Weigh each by its probability.":
        lambda rows, p, prefix, words: _share(_law(rows, torch.ones_like(p), prefix, words)),
    "translations count whose first words are not the prefix. Keep those that fit.":
        lambda rows, p, prefix, words: _law(rows, p, prefix, words, torch.ones(len(rows), dtype=torch.bool)),
    "you compared the last word of the prefix alone. All of its words must agree.":
        lambda rows, p, prefix, words: _share(_law(rows, p, prefix, words,
            rows[:, len(prefix) - 1] == (prefix[-1] if len(prefix) else rows[:, -1]))),
    "this is the next word of the most probable translation. Add up all that fit.": _surest,
    "this is the law of the last word of the prefix. Asked is the word after it.":
        lambda rows, p, prefix, words: _share(_law(rows, p, prefix, words, _begin(rows, prefix[:-1]),
            max(0, len(prefix) - 1))),
    "a softmax of probabilities is another law. Divide by their sum.":
        lambda rows, p, prefix, words: _law(rows, p, prefix, words).softmax(dim=0),
    "you divided by the largest entry. Divide by the sum.":
        lambda rows, p, prefix, words: _law(rows, p, prefix, words) / _law(rows, p, prefix, words).amax(),
    "you divided by the number of translations that fit. Divide by their probability.":
        lambda rows, p, prefix, words: _law(rows, p, prefix, words) / _begin(rows, prefix).sum(),
    "you counted every word that comes later. Asked is the one word after the prefix.": _all_later,
    "you read one column too far to the right: the next word stands in column len(prefix).":
        lambda rows, p, prefix, words: _share(_law(rows, p, prefix, words,
            place=min(len(prefix) + 1, rows.shape[1] - 1)))})
def next_law(translations, probs, prefix, words):
    """p(next word | prefix), (words,), from all translations (m, T) and their probs (m,)."""
    return _share(_law(translations, probs, prefix, words))
