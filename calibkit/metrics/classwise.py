"""Classwise ECE: every class's own probability against how often that class occurs."""

from __future__ import annotations

import torch

from calibkit import validate
from calibkit.metrics import bins as _bins


def classwise_ece(probs, labels, *, bins: int = 15) -> float:
    """Mean over classes of the ECE of that class's probability.

        1/K sum_k sum_b |B_bk| / n * |mean of p_k over B_bk - share of label k in B_bk|

    where B_bk holds the samples whose p_k falls into bin b. K is the number of columns: a class
    that never occurs counts too, and zeros are kept. Bins are (lo, hi] of equal width.

    Parameters
    ----------
    probs : (n, K) probabilities; labels : (n,) integers in [0, K); bins : number of bins.

    Returns a fraction in [0, 1]. Raises as `ece` does.

    Source: Kull et al. (2019), equation 2; Nixon et al. (2019) call it SCE.

    >>> round(classwise_ece([[0.9, 0.1], [0.8, 0.2]], [0, 1], bins=1), 4)  # |0.85 - 0.5|, twice
    0.35
    """
    bins = _bins.check_options(bins, "width", "right")
    probs, labels = validate.predictions(probs, labels)
    n, classes = probs.shape
    edges = _bins.width_edges(bins, probs.device)
    cell = _bins.bin_index(probs, edges) * classes + torch.arange(classes, device=probs.device)
    total = torch.bincount(
        cell.flatten(), weights=probs.flatten().double(), minlength=bins * classes
    )
    hits = torch.bincount(cell.gather(1, labels[:, None])[:, 0], minlength=bins * classes)
    return float((total - hits).abs().sum()) / (n * classes)
