"""Datasets whose truth is known, and the two containers that every lesson passes around."""

from calibkit.data.clusters import Clusters, clusters
from calibkit.data.dataset import Dataset, Splits
from calibkit.data.digits import digits
from calibkit.data.noisy_digits import NoisyDigits, noisy_digits
from calibkit.data.notes import Notes, notes
from calibkit.data.predictions import Predictions
from calibkit.data.prepared import Texts, channel_statistics, load, load_text, splits_of

__all__ = [
    "Clusters",
    "Dataset",
    "NoisyDigits",
    "Notes",
    "Predictions",
    "Splits",
    "Texts",
    "channel_statistics",
    "clusters",
    "digits",
    "load",
    "load_text",
    "noisy_digits",
    "notes",
    "splits_of",
]
