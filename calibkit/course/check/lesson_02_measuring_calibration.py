"""Other measures."""

import numpy as np
import torch
from torch import Tensor

from calibkit import metrics
from calibkit.course.check.cases import BINNED, PREDICTIONS
from calibkit.course.check.engine import exercise


# fmt: off
def _squares(probs: Tensor, labels: Tensor) -> Tensor:
    truth = torch.nn.functional.one_hot(labels, probs.shape[1])
    return (probs.double() - truth) ** 2

def _of_the_prediction(probs: Tensor, labels: Tensor) -> Tensor:
    correct = (probs.argmax(dim=1) == labels).double()
    return (probs.amax(dim=1).double() - correct).square().mean()

@exercise(cases=PREDICTIONS, mistakes={
    "you divided by the number of classes too. Sum the squares over classes, then take the mean over "
    "samples.": lambda p, y: _squares(p, y).mean(),
    "you took absolute values. The Brier score adds squares.":
        lambda p, y: _squares(p, y).sqrt().sum(dim=1).mean(),
    "you subtracted the number of the class. The truth is a one-hot row: 1 for the true class, 0 for the "
    "others.": lambda p, y: ((p.double() - y[:, None]) ** 2).sum(dim=1).mean(),
    "this is the NLL. The Brier score adds squared distances.": metrics.nll,
    "sum and mean are exchanged: sum over the classes, mean over the samples.":
        lambda p, y: _squares(p, y).sum(dim=0).mean(),
    "you compared the confidence with right or wrong. The Brier score compares every probability of the row "
    "with the one-hot truth.": _of_the_prediction,
    "this grows with the number of samples: take the mean over them.": lambda p, y: _squares(p, y).sum(),
    "this is half of it, a form for two classes. Here: the plain sum over classes.":
        lambda p, y: _squares(p, y).sum(dim=1).mean() / 2,
    "you used the true class alone. The Brier score adds the squares of all classes.":
        lambda p, y: (1 - p.gather(1, y[:, None]).double()).square().mean(),
    "you took a square root. The Brier score is the mean of squared distances.":
        lambda p, y: _squares(p, y).sum(dim=1).sqrt().mean()})
def brier(probs, labels):
    """The Brier score, summed over classes: one number, from probs (n, K) and labels (n,)."""
    return metrics.brier(probs, labels)

def _classwise(probs: Tensor, labels: Tensor, bins: int, classes) -> list[float]:
    """Binned error of each class's own probability column."""
    errors = []
    for k in classes:
        counted = metrics.reliability_of(probs[:, k], labels == k, bins=bins)
        errors.append(float((counted.gap.abs() * counted.counts).nansum() / len(labels)))
    return errors

def _all_classes(probs: Tensor, labels: Tensor, bins: int) -> list[float]:
    return _classwise(probs, labels, bins, range(probs.shape[1]))

def _unweighted(probs: Tensor, labels: Tensor, bins: int) -> float:
    columns = range(probs.shape[1])
    counted = [metrics.reliability_of(probs[:, k], labels == k, bins=bins) for k in columns]
    return float(np.mean([float(column.gap.abs().nanmean()) for column in counted]))

def _cancelling(probs: Tensor, labels: Tensor, bins: int) -> float:
    truth = torch.nn.functional.one_hot(labels, probs.shape[1])
    return float((probs.double() - truth).mean(dim=0).mean())

def _without_zeros(probs: Tensor, labels: Tensor, bins: int) -> float:
    """Bins (lo, hi] in which a probability of 0 finds no place."""
    errors = []
    for k in range(probs.shape[1]):
        kept = probs[:, k] > 0
        counted = metrics.reliability_of(probs[kept, k], labels[kept] == k, bins=bins)
        errors.append(float((counted.gap.abs() * counted.counts).nansum() / len(labels)))
    return sum(errors) / len(errors)

def _per_predicted_class(probs: Tensor, labels: Tensor, bins: int) -> float:
    """Top-label ECE of the samples predicted as each class, averaged over all classes."""
    predicted = probs.argmax(dim=1)
    parts = [predicted == k for k in range(probs.shape[1])]
    return sum(metrics.ece(probs[p], labels[p], bins=bins) for p in parts if p.any()) / len(parts)

@exercise(cases=BINNED, mistakes={
    "you summed over the classes: take the mean.": lambda p, y, bins: sum(_all_classes(p, y, bins)),
    "you took the number of classes from the labels. A class that never occurs still has a column: use "
    "probs.shape[1].": lambda p, y, bins: np.mean(_classwise(p, y, bins, range(int(y.max()) + 1))),
    "you took the predicted class for the truth: the hits of class k are `labels == k`.":
        lambda p, y, bins: metrics.classwise_ece(p, p.argmax(dim=1), bins=bins),
    "this is the ECE of the predicted class. Here every class's own column is binned, against `labels == k`.":
        lambda p, y, bins: metrics.ece(p, y, bins=bins),
    "you split the samples by predicted class. Bin column k over all samples, against `labels == k`.":
        _per_predicted_class,
    "every bin counts the same in yours. Weigh each gap by the share of samples in its bin, |B| / n.":
        _unweighted,
    "gaps of opposite sign cancel: take the absolute value of each bin's gap.": _cancelling,
    "probabilities of exactly 0 fell out of your first bin. Bins are (lo, hi], but 0 belongs to the first.":
        _without_zeros,
    "you took the number of classes from the labels. A class that never occurs still counts: use "
    "probs.shape[1].": lambda p, y, bins: sum(_all_classes(p, y, bins)) / len(y.unique()),
    "you left out the classes that never occur among the labels. Each column of probs counts.":
        lambda p, y, bins: np.mean(_classwise(p, y, bins, y.unique().tolist())),
    "this is the worst class. The classwise-ECE is the mean over classes.":
        lambda p, y, bins: max(_all_classes(p, y, bins))})
def classwise_ece(probs, labels, bins):
    """The mean over all K classes of the binned error of each class's column: one number."""
    return metrics.classwise_ece(probs, labels, bins=bins)
