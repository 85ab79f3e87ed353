"""Text classification."""

import torch
from torch import Tensor

from calibkit.course.check.engine import exercise


# fmt: off
def _padded() -> dict[str, tuple[Tensor, Tensor]]:
    """Vectors (n, length, D) of padded texts, not zero at the padding, and word numbers."""
    generator = torch.Generator().manual_seed(15)
    cases = {}
    for length, sizes, dim in ((4, (2, 4, 3), 2), (3, (1, 3), 3), (5, (5, 1, 2, 4), 2),
            (2, (2, 1), 1), (6, (3,), 4), (7, (4, 6, 2), 3), (3, (3, 2, 1), 3), (60, (50, 3), 2)):
        texts = torch.randint(1, 9, (len(sizes), length), generator=generator)
        for row, size in zip(texts, sizes, strict=True):
            row[size:] = 0
        vectors = torch.randn(len(sizes), length, dim, generator=generator, dtype=torch.float64)
        words = ", ".join(map(str, sizes))
        cases[f"texts of {words} words, padded to {length}"] = vectors, texts
    return cases

def _mask(texts: Tensor) -> Tensor:
    return (texts != 0).double()[..., None]

@exercise(cases=_padded(), mistakes={
    "padding counts as words: a text that is padded further would get another mean. Use texts != 0 as a "
    "mask.": lambda v, x: v.mean(dim=1),
    "you divided by the padded length. Divide by the number of words of each text.":
        lambda v, x: (v * _mask(x)).mean(dim=1),
    "you divide by the number of words, but the sum still has the padding in it.":
        lambda v, x: v.sum(dim=1) / _mask(x).sum(dim=1),
    "this is the sum. Divide by the number of words of each text.": lambda v, x: (v * _mask(x)).sum(dim=1),
    "you divided by the number of words of all texts together. Each text has a number of its own.":
        lambda v, x: (v * _mask(x)).sum(dim=1) / _mask(x).sum(),
    "this is one mean over all texts. Keep a row each text.":
        lambda v, x: (v * _mask(x)).sum(dim=(0, 1)) / _mask(x).sum(),
    "the mask is upside down: this is the mean over the padding.":
        lambda v, x: (v * (1 - _mask(x))).sum(dim=1) / (1 - _mask(x)).sum(dim=1).clamp(min=1),
    "you multiplied by the numbers of the words. A number is only a name: use texts != 0.":
        lambda v, x: (v * x[..., None]).sum(dim=1) / _mask(x).sum(dim=1),
    "number 1, <unk>, is a word too: only 0 is padding.":
        (lambda v, x: (v * (x > 1)[..., None]).sum(dim=1) / _mask(x).sum(dim=1),
            lambda v, x: (v * (x > 1)[..., None]).sum(dim=1) / (x > 1).sum(1, keepdim=True).clamp(1)),
    "this is a maximum. Asked is the mean over the words.": lambda v, x: (v * _mask(x)).amax(dim=1),
    "the sum runs over the parts of a vector. It must run over the words, dimension 1.":
        lambda v, x: (v * _mask(x)).sum(dim=2) / v.shape[2],
    "this is the largest of the vectors' parts. Asked is the mean over the words.":
        lambda v, x: v.masked_fill(x[..., None] == 0, -torch.inf).amax(dim=1),
    "you divided by one more than the number of words.":
        lambda v, x: (v * _mask(x)).sum(dim=1) / (_mask(x).sum(dim=1) + 1)})
def masked_mean(vectors, texts):
    """The mean (n, D) over the words of each text, from vectors (n, length, D) and numbers."""
    return (vectors * _mask(texts)).sum(dim=1) / _mask(texts).sum(dim=1)

def _chains() -> dict[str, tuple[Tensor, Tensor, Tensor, Tensor]]:
    """Words of a note, and the tables of a chain: start, moves, what each topic says."""
    generator = torch.Generator().manual_seed(16)
    def table(*shape: int) -> Tensor:
        return (1.5 * torch.randn(*shape, generator=generator, dtype=torch.float64)).softmax(-1)
    cases = {}
    for length, topics, words in ((2, 2, 3), (1, 3, 4), (3, 2, 3), (4, 3, 3), (3, 4, 2), (5, 2, 2)):
        note = torch.randint(words, (length,), generator=generator)
        made = note, table(topics), table(topics, topics), table(topics, words)
        cases[f"a note of {length} word(s), {topics} topics, {words} words"] = made
    often = torch.arange(8) % 3
    start, moves, says = table(2), table(2, 2), table(2, 3)
    never = torch.tensor([[1.0, 0.0], [0.25, 0.75]], dtype=torch.float64)
    rare = torch.tensor([[1e-6, 2e-6, 3e-6, 1 - 6e-6], [4e-6, 1e-6, 2e-6, 1 - 7e-6]]).double()
    return cases | {
        "a note of 8 words": (often, start, moves, says),
        "a first topic that is certain": (often[:4], torch.eye(2).double()[1], moves, says),
        "moves that never happen": (often[:6].flip(0), start, never, says),
        "8 words that are said once in a million": (often, start, moves, rare),
    }

def _forward(words, start, moves, says) -> Tensor:
    forward = start * says[:, words[0]]
    for word in words[1:]:
        forward = (forward @ moves) * says[:, word]
    return forward

def _best_path(words, start, moves, says) -> Tensor:
    best = start * says[:, words[0]]
    for word in words[1:]:
        best = (best[:, None] * moves).amax(dim=0) * says[:, word]
    return best.amax()

def _said_before(words, start, moves, says) -> Tensor:
    forward = start * says[:, words[0]]
    for word in words[1:]:
        forward = (forward * says[:, word]) @ moves
    return forward.sum()

def _alone(words, start, moves, says) -> Tensor:
    topics, total = start, torch.ones((), dtype=start.dtype)
    for word in words:
        total = total * (topics @ says[:, word])
        topics = topics @ moves
    return total

@exercise(cases=_chains(), absolute=1e-80, mistakes={
    "the moves run backwards: moves[g, h] leads from topic g to topic h, so write forward @ moves.":
        lambda w, s, m, e: _forward(w, s, m.T, e).sum(),
    "this is the probability of the likeliest path alone. Add up the paths: a matrix product, no maximum.":
        _best_path,
    "these are the probabilities of the words *and* the last topic. Add up the topics at the end.": _forward,
    "the first topic is not drawn from `start`.":
        lambda w, s, m, e: _forward(w, torch.full_like(s, 1 / len(s)), m, e).sum(),
    "the probability of the first topic is missing: begin with start * says[:, words[0]].":
        lambda w, s, m, e: _forward(w, torch.ones_like(s), m, e).sum(),
    "the probability of the first word is missing.":
        (lambda w, s, m, e: (_forward(w, s, m, e) / e[:, w[0]]).sum(), lambda w, s, m, e:
            _forward(w[1:], s @ m, m, e).sum() if len(w) > 1 else s.sum()),
    "the last word is missing.":
        lambda w, s, m, e: _forward(w[:-1], s, m, e).sum() if len(w) > 1 else s.sum(),
    "there is a move before the first word. The first topic comes from `start` as it is.":
        lambda w, s, m, e: _forward(w, s @ m, m, e).sum(),
    "you multiplied the probabilities of the single words, as if they were independent: what a word says "
    "about the topic must stay in `forward`.": _alone,
    "you made the numbers sum to 1 after each word. Their sum is what is asked: do not divide.":
        lambda w, s, m, e: _forward(w, s, m, e).sum() if len(w) == 1 else 1.0,
    "you read the note from its end.": lambda w, s, m, e: _forward(w.flip(0), s, m, e).sum(),
    "this is the logarithm. Asked is the probability.": lambda w, s, m, e: _forward(w, s, m, e).sum().log(),
    "you averaged over the topics. Probabilities of exclusive cases add up.":
        lambda w, s, m, e: _forward(w, s, m, e).mean(),
    "you took the likeliest last topic. Add up all of them.": lambda w, s, m, e: _forward(w, s, m, e).amax(),
    "the topic never moves in yours: the matrix `moves` is missing.":
        lambda w, s, m, e: (s * e[:, w].prod(dim=1)).sum(),
    "the first word is counted twice: the loop begins with the second, words[1:].":
        lambda w, s, m, e: _forward(torch.cat([w[:1], w]), s, m, e).sum(),
    "you say each word before the move. The topic moves first: (forward @ moves) * says.": _said_before})
def note_probability(words, start, moves, says):
    """p(words) of a hidden Markov chain: start (H,), moves (H, H), says (H, V), words (length,)."""
    return _forward(words, start, moves, says).sum()
