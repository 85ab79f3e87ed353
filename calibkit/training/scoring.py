"""What a trained model predicts for a dataset."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from calibkit.data import Dataset, Predictions
from calibkit.training.stacking import side_by_side

CHUNK = 10_000  # samples scored at a time at the most,
NUMBERS = 3_200_000  # and numbers in them: a thousand colour images of 32 px


def predict(model: nn.Module, dataset: Dataset) -> Predictions:
    """Logits of `model` in eval mode for every input; they lie where the dataset lies."""
    mode = model.training
    try:
        logits, _ = scores(model, [dataset.inputs])
    finally:
        model.train(mode)
    return Predictions(logits[0].to(dataset.device), dataset.labels, dataset.posterior)


def scores(network: nn.Module, inputs: Sequence[Tensor]) -> tuple[Tensor, list[float]]:
    """Logits (R, n, K) in eval mode, and per run the mean norm of its features.

    The norm is NaN without parts called `features` and `head`. `inputs` holds (n, ...) for each of
    the R runs; the network is left in eval mode.
    """
    network.eval()
    home, runs = next(network.parameters()).device, len(inputs)
    chunks = zip(*(x.split(chunk_size(inputs[0], runs)) for x in inputs), strict=True)
    with torch.no_grad():
        parts = [_logits_and_norms(network, side_by_side(chunk).to(home)) for chunk in chunks]
    logits, norms = zip(*parts, strict=True)
    logits = torch.cat(logits, dim=-2)
    logits = logits.view(runs, -1, logits.shape[-1])
    return logits, torch.cat(norms, dim=-1).view(runs, -1).mean(dim=1).tolist()


def _logits_and_norms(network: nn.Module, x: Tensor) -> tuple[Tensor, Tensor]:
    if not (hasattr(network, "features") and hasattr(network, "head")):
        logits = network(x)
        return logits, torch.full_like(logits[..., 0], float("nan"))
    features = network.features(x)
    return network.head(features), features.norm(dim=-1)


def chunk_size(inputs: Tensor, runs: int = 1) -> int:
    """How many samples (n, ...) are scored at a time, by each of so many stacked runs."""
    return max(1, min(CHUNK, NUMBERS // max(1, inputs[:1].numel())) // runs)
