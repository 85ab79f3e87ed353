"""Texts as tensors: words, their numbers, padding, and word vectors from a file."""

from calibkit.lab.text.sequences import is_word, pad
from calibkit.lab.text.vectors import read_vectors
from calibkit.lab.text.vocabulary import PAD, UNKNOWN, Vocabulary, tokens

__all__ = ["PAD", "UNKNOWN", "Vocabulary", "is_word", "pad", "read_vectors", "tokens"]
