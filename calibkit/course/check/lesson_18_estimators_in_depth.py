"""Estimators."""

import torch
from torch import Tensor

from calibkit import metrics
from calibkit.course.check.engine import exercise


# fmt: off
def _pair(n: int, classes: int, T: float, seed: int) -> tuple[Tensor, Tensor]:
    """Rows of a model that is off by a temperature and by noise, and the posterior."""
    generator = torch.Generator().manual_seed(seed)
    logits = 2 * torch.randn(n, classes, generator=generator, dtype=torch.float64)
    noise = 0.5 * torch.randn(n, classes, generator=generator, dtype=torch.float64)
    return ((logits + noise) / T).softmax(dim=1), logits.softmax(dim=1)

_SAME = _pair(4, 3, 1.0, 3)[1]
CASES = {
    "30 rows that are too bold, 4 classes": _pair(30, 4, 0.5, 0),
    "20 rows that are too cautious, 3 classes": _pair(20, 3, 2.0, 1),
    "one row only": _pair(1, 5, 0.7, 2),
    "the posterior itself": (_SAME, _SAME),
    "rows of zeros and ones": (torch.eye(3, dtype=torch.float64)[[0, 1, 2, 0]], _SAME),
    "two classes only": _pair(6, 2, 0.6, 4),
    "as many rows as classes": _pair(4, 4, 0.6, 5),
    "300 rows, 12 classes": _pair(300, 12, 0.7, 6),
}

def _squares(probs: Tensor, posterior: Tensor) -> Tensor:
    return (probs.double() - posterior.double()).square()

def _refinement(posterior: Tensor) -> Tensor:
    return (posterior * (1 - posterior)).sum(dim=1).mean()

def _of_the_prediction(probs: Tensor, posterior: Tensor) -> Tensor:
    best = probs.argmax(dim=1, keepdim=True)
    return _squares(probs.gather(1, best), posterior.gather(1, best)).mean()

@exercise(cases=CASES, mistakes={
    "you divided by the number of classes too. Sum the squares over classes, then take the mean over images.":
        lambda p, q: _squares(p, q).mean(),
    "10 is the number of classes of this lesson's digits. Sum the squares over the classes.":
        lambda p, q: 10 * _squares(p, q).mean(),
    "this grows with the number of images: take the mean over them.": lambda p, q: _squares(p, q).sum(),
    "you took absolute values. The Brier score adds squares.":
        lambda p, q: _squares(p, q).sqrt().sum(dim=1).mean(),
    "you took a square root. The Brier score is the mean of squared distances.":
        lambda p, q: _squares(p, q).sum(dim=1).sqrt().mean(),
    "this is the whole expected Brier score of probs. Subtract that of the posterior.":
        lambda p, q: _squares(p, q).sum(dim=1).mean() + _refinement(q),
    "this is the Brier score of the posterior itself, the part that nobody can avoid.":
        lambda p, q: _refinement(q),
    "you used the predicted class alone. The Brier score adds the squares of all classes.":
        _of_the_prediction,
    "you took the favourite of the posterior for the label. Compare with all its entries.":
        lambda p, q: metrics.brier(p, q.argmax(dim=1)),
    "you compared how unsure the two are. Compare their rows, entry by entry.":
        lambda p, q: _refinement(p) - _refinement(q),
    "this is the Kullback-Leibler divergence, the part of the NLL. Take squares.":
        lambda p, q: (torch.xlogy(q, q) - torch.xlogy(q, p)).sum(dim=1).mean(),
    "you averaged the rows first. Take the squares of each image, then the mean.":
        lambda p, q: (p.mean(dim=0) - q.mean(dim=0)).square().sum()})
def avoidable_brier(probs, posterior):
    """Expected Brier score of probs (n, K) above that of the exact posterior (n, K): one number."""
    return _squares(probs, posterior).sum(dim=1).mean().item()
