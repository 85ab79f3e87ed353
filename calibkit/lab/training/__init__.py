"""Training: a `Trial` in, a `Run` out; one model, or many of one shape at once."""

from calibkit import torch_defaults
from calibkit.lab.training.device import as_device
from calibkit.lab.training.loop import fit, train_trials
from calibkit.lab.training.records import Run, predict
from calibkit.lab.training.trials import Recipe, Trial, trial

__all__ = ["Recipe", "Run", "Trial", "as_device", "fit", "predict", "train_trials", "trial"]

torch_defaults.guard(globals(), grad=True)
