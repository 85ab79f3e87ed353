"""From next-token probabilities to a sentence: beam search, and BLEU of what it finds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from calibkit import devices, validate
from calibkit.lab.translation.model import Translator
from calibkit.lab.translation.pairs import END, PAD, START, Pairs

Scorer = Callable[[Tensor, Tensor], Tensor]


def scorer(model: Translator, source: Tensor, *, temperature: float = 1.0) -> Scorer:
    """log softmax(z / T) of the next token, for `beam`."""
    with torch.no_grad():
        read = model.eval().encode(source)

    def score(rows: Tensor, prefixes: Tensor) -> Tensor:
        with torch.no_grad():
            logits = model.decode(read[rows], source[rows], prefixes, last=True)[:, 0]
        return (logits.double() / temperature).log_softmax(dim=1)

    return score


def beam(
    score: Scorer, n: int, *, width: int = 1, longest: int = 32, device: str | torch.device = "cpu"
) -> tuple[Tensor, Tensor]:
    """The most probable sentence that a beam of `width` prefixes finds, for each of n sources.

    score: from source rows (m,) and prefixes (m, t), which begin with START, to log-probabilities
        (m, V) of the next token.
    device: where `score` gets them, and where the sentences lie.

    At each step the `width` prefixes of the largest sum of log-probabilities stay; a finished
    sentence keeps its place. No length is rewarded. Width 1 is greedy decoding. Returns sentences
    (n, at most `longest`), ended and padded, and their log-probabilities (n,). Raises ValueError
    for a width or a length below 1.

    >>> law = torch.tensor([[0, 0, 0, 0.4, 0.6]]).log()  # END with .4, or word 4
    >>> sentences, log_probs = beam(lambda rows, prefixes: law[rows], 1, width=2, longest=2)
    >>> sentences.tolist(), [round(p, 2) for p in log_probs.exp().tolist()]  # .4 at once; .6 x .4
    ([[3, 0]], [0.4])
    """
    width, longest = validate.integer("width", width, 1), validate.integer("longest", longest, 1)
    rows = torch.arange(n, device=device)
    prefixes = torch.full((n, 1, 1), START, device=device)
    scores = torch.zeros(n, 1, dtype=torch.float64, device=device)
    for _ in range(longest):
        beams, done = prefixes.shape[1], (prefixes == END).any(dim=2)
        if bool(done.all()):
            break
        given = rows.repeat_interleave(beams)
        after = score(given, prefixes.flatten(0, 1)).double().view(n, beams, -1)
        # a finished sentence is followed by padding alone, for free
        after = after.masked_fill(done[..., None], -torch.inf)
        after[..., PAD] = torch.where(done, 0.0, -torch.inf)
        total = (scores[..., None] + after).flatten(1)
        scores, chosen = total.topk(min(width, total.shape[1]), dim=1)
        before = prefixes.gather(
            1, (chosen // after.shape[2])[..., None].expand(-1, -1, prefixes.shape[2])
        )
        prefixes = torch.cat([before, (chosen % after.shape[2])[..., None]], dim=2)
    return prefixes[:, 0, 1:], scores[:, 0]


def translate(
    model: Translator, pairs: Pairs, *, width: int = 1, temperature: float = 1.0, longest: int = 32
) -> tuple[Tensor, Tensor]:
    """Translations (n, T) of the sources by `beam`, and their log-probabilities (n,).

    They are searched for where the model lies, and lie where the pairs do.
    """
    home = next(model.parameters()).device
    score = scorer(model, pairs.source.to(home), temperature=temperature)
    found = beam(score, len(pairs), width=width, longest=longest, device=home)
    return devices.moved(found, pairs.source.device)


def bleu(translations: Sequence[str], references: Sequence[str]) -> float:
    """Corpus BLEU in [0, 100] against one reference a sentence, of words split at spaces.

    How many runs of 1 to 4 words the translations share with the references (geometric mean of the
    four shares), less for translations that are too short. Needs sacrebleu.
    Source: Papineni et al. 2002; Post 2018.

    >>> round(bleu(["a b c d e"], ["a b c d e"]), 1)
    100.0
    """
    import sacrebleu

    return sacrebleu.corpus_bleu(
        list(translations), [list(references)], tokenize="none", force=True
    ).score
