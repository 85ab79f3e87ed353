"""What can be wrong with a dataset's labels and class sizes, made on purpose and by exact counts.

Functions of labels that return indices or labels, and say what they changed. A seed draws on the
CPU, so it means the same on every device. Shares are rounded to whole samples, halves to even.
"""

from calibkit import torch_defaults
from calibkit.curation.class_imbalance import Imbalanced, imbalance, resample
from calibkit.curation.draws import subset
from calibkit.curation.label_noise import Noisy, classwise_noise, symmetric_noise, transition_matrix

__all__ = [
    "Imbalanced", "Noisy", "classwise_noise", "imbalance", "resample", "subset", "symmetric_noise",
    "transition_matrix",
]  # fmt: skip

torch_defaults.guard(globals())
