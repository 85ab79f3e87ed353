"""What a trained model says of a dataset."""

from __future__ import annotations

import torch
from torch import nn

from calibkit.data import Dataset, Predictions

CHUNK = 10_000  # samples scored at a time


def predict(model: nn.Module, dataset: Dataset) -> Predictions:
    """Logits of `model` in eval mode for every input; they lie where the dataset lies."""
    return scored(model, dataset)[0]


def scored(model: nn.Module, dataset: Dataset) -> tuple[Predictions, float]:
    """Predictions, and the mean norm of the features (NaN for a model without `features`)."""
    home = next(model.parameters()).device
    mode = model.training
    model.eval()
    parts, norms = [], []
    try:
        with torch.no_grad():
            for inputs in dataset.inputs.split(CHUNK):
                if hasattr(model, "features"):
                    features = model.features(inputs.to(home))
                    parts.append(model.head(features))
                    norms.append(features.norm(dim=1))
                else:
                    parts.append(model(inputs.to(home)))
    finally:
        model.train(mode)
    logits = torch.cat(parts).to(dataset.device)
    norm = torch.cat(norms).mean().item() if norms else float("nan")
    return Predictions(logits, dataset.labels, dataset.posterior), norm
