"""Datasets whose truth is known, and the two containers that every lesson passes around."""

from calibkit import torch_defaults
from calibkit.lab.data.dataset import Dataset, Predictions, Splits, from_batches
from calibkit.lab.data.gaussians import Clusters, clusters
from calibkit.lab.data.handwriting import NoisyDigits, digits, noisy_digits
from calibkit.lab.data.prepared import Texts, channel_statistics, load, load_text, splits_of
from calibkit.lab.data.sentences import Notes, notes

__all__ = [
    "Clusters", "Dataset", "NoisyDigits", "Notes", "Predictions", "Splits", "Texts",
    "channel_statistics", "clusters", "digits", "from_batches", "load", "load_text",
    "noisy_digits", "notes", "splits_of",
]  # fmt: skip

torch_defaults.guard(globals())
