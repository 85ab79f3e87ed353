"""Translation: a toy pair of languages with its exact law, a small transformer, beam search."""

from calibkit.translation.decoding import beam, bleu, scorer, translate
from calibkit.translation.kept import results
from calibkit.translation.model import Translator
from calibkit.translation.pairs import END, PAD, SPECIAL, START, UNKNOWN, Pairs, rows_of
from calibkit.translation.training import (
    Plan,
    Run,
    distance,
    fit,
    fit_all,
    judged,
    logits_of,
    tokens,
    translate_all,
)

__all__ = [
    "END",
    "PAD",
    "SPECIAL",
    "START",
    "UNKNOWN",
    "Pairs",
    "Plan",
    "Run",
    "Translator",
    "beam",
    "bleu",
    "distance",
    "fit",
    "fit_all",
    "judged",
    "logits_of",
    "results",
    "rows_of",
    "scorer",
    "tokens",
    "translate",
    "translate_all",
]
