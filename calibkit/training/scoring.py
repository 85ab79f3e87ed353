"""What a trained model says of a dataset."""

from __future__ import annotations

import torch
from torch import Tensor, nn

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
    try:
        with torch.no_grad():
            parts = [forward(model, inputs.to(home)) for inputs in dataset.inputs.split(CHUNK)]
    finally:
        model.train(mode)
    logits, norms = map(torch.cat, zip(*parts, strict=True))
    logits = logits.to(dataset.device)
    return Predictions(logits, dataset.labels, dataset.posterior), norms.mean().item()


def forward(model: nn.Module, inputs: Tensor) -> tuple[Tensor, Tensor]:
    """Logits, and per sample the norm of its features (NaN for a model without `features`)."""
    if not hasattr(model, "features"):
        logits = model(inputs)
        return logits, torch.full_like(logits[..., 0], float("nan"))
    features = model.features(inputs)
    return model.head(features), features.norm(dim=-1)
