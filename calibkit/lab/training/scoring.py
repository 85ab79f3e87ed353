"""What a trained model predicts for a dataset."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn

from calibkit.lab.data import Dataset, Predictions
from calibkit.lab.training.stacking import side_by_side

CHUNK = 10_000  # samples scored at a time at the most,
NUMBERS = 3_200_000  # and numbers in them: a thousand colour images of 32 px


def predict(model: nn.Module, dataset: Dataset | Iterable) -> Predictions:
    """Logits of `model` in eval mode for every input.

    dataset: a `Dataset`, where the logits then lie too; or batches of (inputs, labels), such as a
        DataLoader gives, whose logits lie on the CPU. TypeError for batches of another form.
    """
    mode = model.training
    try:
        if not isinstance(dataset, Dataset):
            return _of_batches(model.eval(), dataset)
        logits, _ = scores(model, [dataset.inputs])
    finally:
        model.train(mode)
    return Predictions(logits[0].to(dataset.device), dataset.labels, dataset.posterior)


def _of_batches(model: nn.Module, batches: Iterable) -> Predictions:
    home, parts = next(model.parameters()).device, []
    for batch in batches:
        if not isinstance(batch, (tuple, list)) or len(batch) != 2:
            raise TypeError(
                f"dataset must be a Dataset or give batches (inputs, labels), got a batch of type "
                f"{type(batch).__name__}"
            )
        inputs, labels = batch
        with torch.no_grad():
            parts.append((model(inputs.to(home)).cpu(), torch.as_tensor(labels).cpu()))
    if not parts:
        raise ValueError("dataset gives no batch; pass at least one")
    logits, labels = (torch.cat(column) for column in zip(*parts, strict=True))
    return Predictions(logits, labels)


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
