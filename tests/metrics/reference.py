"""The definitions, written out as slow loops in Python floats, and inputs that tempt mistakes."""

import itertools
import math

import numpy as np
import torch


def cases() -> dict[str, tuple[torch.Tensor, torch.Tensor]]:
    """Inputs by name: random, saturated, on the edges, tied, tiny, with a class that is missing."""
    torch.manual_seed(0)
    found = {}
    for name, n, classes, scale, dtype in (
        ("random", 400, 5, 2.0, torch.float32),
        ("random64", 400, 5, 2.0, torch.float64),
        ("two", 300, 2, 1.0, torch.float32),
        ("many", 250, 60, 2.5, torch.float32),
        ("many64", 150, 60, 2.5, torch.float64),
        ("saturated", 300, 10, 40.0, torch.float32),
        ("one_hot", 60, 4, 1e6, torch.float32),
        ("tiny", 3, 4, 1.0, torch.float32),
        ("single", 1, 3, 1.0, torch.float64),
    ):
        probs = (scale * torch.randn(n, classes, dtype=dtype)).softmax(1)
        found[name] = probs, noisy_labels(probs)
    found["edges"] = on_edges(torch.float32)
    found["edges64"] = on_edges(torch.float64)
    found["tied"] = tied(), torch.arange(24) % 4
    missing = (2 * torch.randn(200, 6)).softmax(1)
    found["missing"] = missing, noisy_labels(missing) % 5
    half = torch.distributions.Multinomial(64, torch.ones(3)).sample((100,)) / 64
    found["half"] = half.half(), noisy_labels(half)
    return found


def problem(n, classes=4, dtype=torch.float64, seed=0):
    """Random rows and labels that are mostly those of the rows."""
    torch.manual_seed(seed)
    probs = (2 * torch.randn(n, classes, dtype=dtype)).softmax(1)
    return probs, noisy_labels(probs)


def noisy_labels(probs):
    """The predicted class for two thirds of the rows, any class for the others."""
    anything = torch.randint(probs.shape[1], (len(probs),))
    return torch.where(torch.rand(len(probs)) < 0.67, probs.argmax(1), anything)


def on_edges(dtype):
    """Confidences i / 15 and i / 10, each with its two neighbours in `dtype`."""
    tops = []
    for bins in (15, 10):
        for i in range(2, bins + 1):
            edge = torch.tensor(i / bins, dtype=dtype)
            tops += [torch.nextafter(edge, edge * 0), edge, torch.nextafter(edge, edge + 1)]
    top = torch.stack(tops).clamp(max=1)
    probs = torch.cat([top[:, None], ((1 - top) / 19)[:, None].expand(-1, 19)], dim=1)
    return probs, torch.arange(len(probs)) % 2


def tied():
    """Rows whose largest probability is shared by classes 0 to 3, 1 and 2, or 0 and 3."""
    rows = [[0.25, 0.25, 0.25, 0.25], [0.0, 0.5, 0.5, 0.0], [0.4, 0.1, 0.1, 0.4]]
    return torch.tensor(rows).repeat_interleave(4, 0).repeat(2, 1)


def top_loop(probs, labels):
    """Confidences and hits as Python numbers."""
    confidence, hits = [], []
    for row, label in zip(probs.tolist(), labels.tolist(), strict=True):
        best = max(range(len(row)), key=lambda k: (row[k], -k))
        confidence.append(row[best])
        hits.append(int(best == label))
    return confidence, hits


def edges_loop(confidence, bins, binning):
    if binning == "width":
        return [i / bins for i in range(bins + 1)]
    runs = [run for run in np.array_split(np.sort(confidence), bins) if len(run)]
    inner = [(a[-1] + b[0]) / 2 for a, b in itertools.pairwise(runs)]
    return [0.0, *inner] + [1.0] * (bins - len(inner))


def bin_loop(value, edges, closed):
    """The bin of one value, by walking along the edges."""
    for b in range(len(edges) - 1):
        low, high = edges[b], edges[b + 1]
        if closed == "right" and (low < value <= high or (b == 0 and value <= high)):
            return b
        if closed == "left" and (low <= value < high or (b == len(edges) - 2)):
            return b
    raise AssertionError((value, edges))


def bins_loop(confidence, hits, bins, binning="width", closed="right"):
    """Per bin: how many, how many right, all confidences."""
    edges = edges_loop(confidence, bins, binning)
    content = [([], []) for _ in range(bins)]
    for c, h in zip(confidence, hits, strict=True):
        content[bin_loop(c, edges, closed)][0].append(c)
        content[bin_loop(c, edges, closed)][1].append(h)
    return content


def ece_loop(confidence, hits, bins=15, norm="l1", binning="width", closed="right"):
    gaps, weights = [], []
    for cs, hs in bins_loop(confidence, hits, bins, binning, closed):
        if cs:
            gaps.append(abs(math.fsum(cs) / len(cs) - math.fsum(hs) / len(hs)))
            weights.append(len(cs) / len(confidence))
    if norm == "max":
        return max(gaps)
    power = 1 if norm == "l1" else 2
    return math.fsum(w * g**power for w, g in zip(weights, gaps, strict=True)) ** (1 / power)


def classwise_loop(probs, labels, bins=15):
    classes = probs.shape[1]
    return (
        math.fsum(
            ece_loop(probs[:, k].tolist(), (labels == k).int().tolist(), bins)
            for k in range(classes)
        )
        / classes
    )
