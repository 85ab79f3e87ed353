"""Training: a `Trial` in, a `Run` out; one model, or many of one shape at once."""

from calibkit.training.device import as_device
from calibkit.training.loop import fit, train_trials
from calibkit.training.recipe import Recipe
from calibkit.training.records import Run
from calibkit.training.scoring import predict
from calibkit.training.trial import Trial, trial

__all__ = ["Recipe", "Run", "Trial", "as_device", "fit", "predict", "train_trials", "trial"]
