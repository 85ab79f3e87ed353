"""Training: one model (`fit`), or many of one shape at once (`fit_stacked`)."""

from calibkit.training.device import as_device, best_device
from calibkit.training.recipe import Recipe
from calibkit.training.records import Run
from calibkit.training.scoring import predict
from calibkit.training.single import batches, fit
from calibkit.training.stacked import fit_stacked
from calibkit.training.trial import Trial, trial

__all__ = [
    "Recipe",
    "Run",
    "Trial",
    "as_device",
    "batches",
    "best_device",
    "fit",
    "fit_stacked",
    "predict",
    "trial",
]
