"""Translation: a toy pair of languages with its exact law, a small transformer, beam search."""

from calibkit.lab.sweep.tasks import results
from calibkit.lab.translation.decoding import beam, bleu, scorer, translate
from calibkit.lab.translation.model import Translator
from calibkit.lab.translation.pairs import END, PAD, SPECIAL, START, UNKNOWN, Pairs, rows_of
from calibkit.lab.translation.training import (
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
    "END", "PAD", "SPECIAL", "START", "UNKNOWN", "Pairs", "Plan", "Run", "Translator", "beam",
    "bleu", "distance", "fit", "fit_all", "judged", "logits_of", "results", "rows_of", "scorer",
    "tokens", "translate", "translate_all",
]  # fmt: skip
