"""Datasets whose truth is known, and the two containers that every lesson passes around."""

from calibkit.data.dataset import Dataset, Splits
from calibkit.data.digits import digits
from calibkit.data.noisy_digits import NoisyDigits, noisy_digits
from calibkit.data.predictions import Predictions

__all__ = ["Dataset", "NoisyDigits", "Predictions", "Splits", "digits", "noisy_digits"]
