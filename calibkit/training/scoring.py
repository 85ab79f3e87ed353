"""What a trained model predicts for a dataset."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from calibkit.data import Dataset, Predictions
from calibkit.training.stacking import Joint, side_by_side

CHUNK = 10_000  # samples scored at a time at the most,
NUMBERS = 3_200_000  # and numbers in them: a thousand colour images of 32 px


def predict(model: nn.Module, dataset: Dataset) -> Predictions:
    """Logits of `model` in eval mode for every input; they lie where the dataset lies."""
    mode = model.training
    try:
        logits, _ = scores(Joint([model]), [dataset.inputs])
    finally:
        model.train(mode)
    return Predictions(logits[0].to(dataset.device), dataset.labels, dataset.posterior)


def scores(joint: Joint, inputs: Sequence[Tensor]) -> tuple[Tensor, list[float]]:
    """Logits (R, n, K) in eval mode, and per run the mean norm of its features (NaN without any).

    `inputs` holds (n, ...) for each of the R runs; the joint model is left in eval mode.
    """
    joint.eval()
    home = next(joint.parameters()).device
    size = chunk_size(inputs[0], len(inputs))
    with torch.no_grad():
        chunks = zip(*(x.split(size) for x in inputs), strict=True)
        parts = [joint.scores(side_by_side(chunk).to(home)) for chunk in chunks]
    logits, norms = (torch.cat(part, dim=1) for part in zip(*parts, strict=True))
    return logits, norms.mean(dim=1).tolist()


def chunk_size(inputs: Tensor, runs: int = 1) -> int:
    """How many samples (n, ...) are scored at a time, by each of so many stacked runs."""
    return max(1, min(CHUNK, NUMBERS // max(1, inputs[:1].numel())) // runs)
