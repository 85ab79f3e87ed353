"""A small transformer that translates: an encoder of the source, a decoder of the prefix."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from calibkit import validate
from calibkit.lab.translation.pairs import PAD, START


class Translator(nn.Module):
    """source (n, S) and target (n, T) word numbers -> logits (n, T, V) of each target token.

    Token t is predicted from the source and the target tokens before t ("teacher forcing"). Padding
    of the source is not attended to. Raises ValueError for sizes out of range and for sentences
    longer than `longest`. Source: Vaswani et al. 2017; layer norm in front of each block.

    >>> model = Translator(9, 7, width=8, heads=2)
    >>> model(torch.tensor([[4, 2, 0]]), torch.tensor([[5, 2]])).shape
    torch.Size([1, 2, 7])
    """

    def __init__(
        self,
        source_words: int,
        target_words: int,
        *,
        width: int = 48,
        depth: int = 2,
        heads: int = 4,
        dropout: float = 0.0,
        longest: int = 48,
    ) -> None:
        super().__init__()
        width = validate.integer("width", width, 1)
        if width % validate.integer("heads", heads, 1):
            raise ValueError(f"heads must divide the width {width}, got {heads}")
        self.source = nn.Embedding(source_words, width, padding_idx=PAD)
        self.target = nn.Embedding(target_words, width, padding_idx=PAD)
        self.places = nn.Embedding(longest, width)
        layer: dict[str, Any] = {"dropout": dropout, "batch_first": True, "norm_first": True}
        reading = nn.TransformerEncoderLayer(width, heads, 4 * width, **layer)
        writing = nn.TransformerDecoderLayer(width, heads, 4 * width, **layer)
        self.encoder = nn.TransformerEncoder(
            reading, depth, nn.LayerNorm(width), enable_nested_tensor=False
        )
        self.decoder = nn.TransformerDecoder(writing, depth, nn.LayerNorm(width))
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(width, target_words)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        start = torch.full_like(target[:, :1], START)
        return self.decode(self.encode(source), source, torch.cat([start, target[:, :-1]], dim=1))

    def encode(self, source: Tensor) -> Tensor:
        """(n, S, width): what the decoder looks at."""
        return self.encoder(self._placed(self.source, source), src_key_padding_mask=source == PAD)

    def decode(self, read: Tensor, source: Tensor, prefix: Tensor, *, last: bool = False) -> Tensor:
        """Logits (n, T, V) of the token after each of the prefix (n, T), which begins with START.

        last: only that after the whole prefix, (n, 1, V).

        A place sees those before it alone, so padding behind a sentence changes nothing in it.
        """
        length = prefix.shape[1]
        ahead = torch.ones(length, length, dtype=torch.bool, device=prefix.device).triu(1)
        hidden = self.decoder(
            self._placed(self.target, prefix),
            read,
            tgt_mask=ahead,
            memory_key_padding_mask=source == PAD,
        )
        return self.head(hidden[:, -1:] if last else hidden)

    def _placed(self, words: nn.Embedding, rows: Tensor) -> Tensor:
        if rows.shape[1] > self.places.num_embeddings:
            raise ValueError(
                f"sentences must have at most {self.places.num_embeddings} tokens, got "
                f"{rows.shape[1]}; build the model with a larger longest"
            )
        return self.dropout(words(rows) + self.places.weight[: rows.shape[1]])
