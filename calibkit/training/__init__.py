"""Training: one model (`fit`), or many of one shape at once (`fit_stacked`)."""

from calibkit.training.device import as_device, best_device
from calibkit.training.recipe import Recipe
from calibkit.training.records import Run
from calibkit.training.scoring import predict
from calibkit.training.single import batches, fit

__all__ = ["Recipe", "Run", "as_device", "batches", "best_device", "fit", "predict"]
