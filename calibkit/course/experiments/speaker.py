"""A small language model: a decoder that predicts the next word, its training, what it writes."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from calibkit import validate
from calibkit.lab.training.device import own_randomness, prepared, seed_globally

CPU = torch.device("cpu")
CHUNK = 4096  # texts that are read at a time


class Decoder(nn.Module):
    """Word numbers (n, T) -> logits (n, T, V) of the next word, from those up to it.

    Pre-normed blocks in which no word attends to later ones; learned places. Padding comes last,
    so that no word sees it. Raises ValueError for sizes out of range and for longer texts.

    Source: Vaswani et al. 2017; the decoder alone: Radford et al. 2018.

    >>> Decoder(9, width=8, heads=2)(torch.tensor([[4, 2, 0]])).shape
    torch.Size([1, 3, 9])
    """

    def __init__(
        self, words: int, *, width: int = 64, depth: int = 2, heads: int = 4, longest: int = 16
    ) -> None:
        super().__init__()
        width = validate.integer("width", width, 1)
        if width % validate.integer("heads", heads, 1):
            raise ValueError(f"heads must divide the width {width}, got {heads}")
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(longest, width)
        nn.init.normal_(self.words.weight, std=0.3)
        nn.init.normal_(self.places.weight, std=0.3)
        block = nn.TransformerEncoderLayer(
            width, heads, 4 * width, 0.0, "gelu", batch_first=True, norm_first=True
        )
        norm = nn.LayerNorm(width)
        self.blocks = nn.TransformerEncoder(block, depth, norm, enable_nested_tensor=False)
        self.head = nn.Linear(width, words)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.states(x))

    def states(self, x: Tensor) -> Tensor:
        """(n, T, width): the vector at each word from which the next one is predicted."""
        length, longest = x.shape[1], len(self.places.weight)
        if length > longest:
            raise ValueError(f"x must have at most {longest} words, got {length}")
        later = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
        vectors = self.words(x) + self.places.weight[:length]
        return self.blocks(vectors, mask=later, is_causal=True)


def train(
    words: Tensor,
    vocabulary: int,
    *,
    steps: int = 1_800,
    lr: float = 6e-3,
    batch: int = 64,
    seed: int = 0,
    **shape: int,
) -> Decoder:
    """A decoder that learned to predict each next word of the texts (n, T), by cross-entropy.

    AdamW, each step a random batch; the rate rises for a tenth of the steps, then falls to 0.
    shape: more of `Decoder`.
    """
    with own_randomness(CPU):
        seed_globally(seed, CPU)
        model, order = Decoder(vocabulary, **shape), validate.generator(seed)
        optimizer = torch.optim.AdamW(model.parameters(), lr, fused=True)
        schedule = torch.optim.lr_scheduler.OneCycleLR(
            optimizer, lr, total_steps=steps + 1, pct_start=0.1
        )
        with prepared(model, CPU):
            for _ in range(steps):
                chosen = words[torch.randint(len(words), (batch,), generator=order)]
                optimizer.zero_grad()
                next_word_loss(model, chosen).backward()
                optimizer.step()
                schedule.step()
    return model.eval()


def next_word_loss(model: Decoder, words: Tensor) -> Tensor:
    """Cross-entropy of each word of the texts (n, T) after the first, padding left out; nats."""
    logits = model(words[:, :-1])
    return functional.cross_entropy(logits.flatten(0, 1), words[:, 1:].flatten(), ignore_index=0)


def after(model: Decoder, words: Tensor) -> Tensor:
    """(n, V) log-probabilities of the word that follows each of the texts (n, T), padded with 0."""
    last = (words != 0).sum(dim=1) - 1
    parts = [
        model(part)[torch.arange(len(part)), end]
        for part, end in zip(words.split(CHUNK), last.split(CHUNK), strict=True)
    ]
    return torch.cat(parts).log_softmax(dim=1)


@torch.no_grad()
def written(model: Decoder, begun: Tensor, end: int, *, longest: int = 16, seed: int = 0) -> Tensor:
    """The texts (n, T), padded with 0, each continued by words drawn from the model up to `end`.

    Texts that have not ended after `longest` words are cut there.
    """
    generator, words = validate.generator(seed), functional.pad(begun, (0, longest))[:, :longest]
    lengths = (begun != 0).sum(dim=1)
    open_ = torch.arange(len(words))
    while len(open_):
        seen = words[open_, : int(lengths[open_].max())]
        law = after(model, seen).exp()
        law[:, 0] = 0  # padding is no word
        drawn = torch.multinomial(law, 1, generator=generator)[:, 0]
        words[open_, lengths[open_]] = drawn
        lengths[open_] += 1
        open_ = open_[(drawn != end) & (lengths[open_] < longest)]
    return words
