"""What a trained model says of a dataset."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from calibkit.data import Dataset, Predictions

CHUNK = 10_000  # samples scored at a time at the most,
NUMBERS = 3_200_000  # and numbers in them: a thousand colour images of 32 px


def predict(model: nn.Module, dataset: Dataset) -> Predictions:
    """Logits of `model` in eval mode for every input; they lie where the dataset lies."""
    return scored(model, dataset)[0]


def scored(model: nn.Module, dataset: Dataset) -> tuple[Predictions, float]:
    """Predictions, and the mean norm of the features (NaN for a model without `features`)."""
    home = next(model.parameters()).device
    mode = model.training
    model.eval()
    try:
        with torch.no_grad():
            chunks = dataset.inputs.split(chunk_size(dataset.inputs))
            parts = [forward(model, inputs.to(home)) for inputs in chunks]
    finally:
        model.train(mode)
    logits, norms = map(torch.cat, zip(*parts, strict=True))
    logits = logits.to(dataset.device)
    return Predictions(logits, dataset.labels, dataset.posterior), norms.mean().item()


def chunk_size(inputs: Tensor, runs: int = 1) -> int:
    """How many samples (n, ...) are scored at a time, by each of so many stacked runs."""
    return max(1, min(CHUNK, NUMBERS // max(1, inputs[:1].numel())) // runs)


def forward(model: nn.Module, inputs: Tensor) -> tuple[Tensor, Tensor]:
    """Logits, and per sample the norm of its features (NaN without `features` and `head`)."""
    if not (hasattr(model, "features") and hasattr(model, "head")):
        logits = model(inputs)
        return logits, torch.full_like(logits[..., 0], float("nan"))
    features = model.features(inputs)
    return model.head(features), features.norm(dim=-1)
