"""How far confidence and accuracy are apart."""

from torch import Tensor

from calibkit import metrics
from calibkit.course.check.cases import PREDICTIONS
from calibkit.course.check.engine import exercise


# fmt: off
def _accuracy(probs: Tensor, labels: Tensor) -> Tensor:
    return (probs.argmax(dim=1) == labels).double().mean()

def _true_class(probs: Tensor, labels: Tensor) -> Tensor:
    return probs.gather(1, labels[:, None]).double().mean()

def _ties_right(probs: Tensor, labels: Tensor) -> Tensor:
    return (probs.gather(1, labels[:, None])[:, 0] == probs.amax(dim=1)).double().mean()

@exercise(cases=PREDICTIONS, mistakes={
    "the sign is reversed. Take mean confidence minus accuracy, so that an over-confident model gets a "
    "positive number.": lambda p, y: -metrics.signed_gap(p, y),
    "you dropped the sign. It is what tells over-confident (+) from under-confident (-).":
        lambda p, y: abs(metrics.signed_gap(p, y)),
    "you averaged the probability of the true class. The confidence is that of the predicted class: the "
    "largest in the row.": lambda p, y: _true_class(p, y) - _accuracy(p, y),
    "you took absolute values sample by sample. The gap is the plain mean of the differences.":
        lambda p, y: (p.amax(dim=1).double() - (p.argmax(dim=1) == y).double()).abs().mean(),
    "you took the maximum along the wrong axis: dim=0 goes over the samples. The largest of each row is "
    "amax(dim=1).": lambda p, y: p.amax(dim=0).double().mean() - _accuracy(p, y),
    "this is the mean confidence alone: the accuracy is still to be subtracted.":
        lambda p, y: p.amax(dim=1).double().mean(),
    "this is the accuracy alone: subtract it from the mean confidence.": _accuracy,
    "you counted a prediction as right where its label shares the largest probability. The prediction is "
    "one class: argmax.": lambda p, y: p.amax(dim=1).double().mean() - _ties_right(p, y),
    "you averaged all probabilities, which is always 1/K. Take the largest of each row first.":
        lambda p, y: p.double().mean() - _accuracy(p, y),
    "this is in per cent. The course computes with fractions and prints per cent.":
        lambda p, y: 100 * metrics.signed_gap(p, y)})
def signed_gap(probs, labels):
    """Mean confidence minus accuracy: one number, from probs (n, K) and labels (n,)."""
    return metrics.signed_gap(probs, labels)
