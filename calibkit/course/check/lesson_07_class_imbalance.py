"""Class imbalance."""

import torch
from torch import Tensor

from calibkit import metrics, recalibration
from calibkit.course.check.cases import PREDICTIONS
from calibkit.course.check.engine import exercise
from calibkit.metrics.classwise import class_tally


# fmt: off
def _priors(classes: int) -> tuple[Tensor, Tensor]:
    """Shares of a training set, the first class the commonest, and of another place."""
    old = 4.0 ** -torch.arange(classes, dtype=torch.float64)
    new = 1 + torch.arange(classes, dtype=torch.float64) % 3
    return old / old.sum(), new / new.sum()

def _to_another_prior() -> dict[str, tuple[Tensor, Tensor, Tensor]]:
    cases = {name: (p.double(), *_priors(p.shape[1])) for name, (p, _) in PREDICTIONS.items()}
    p = PREDICTIONS["two classes only"][0].double()
    even = torch.full((2,), 0.5, dtype=torch.float64)
    half = torch.tensor([0.8, 0.2], dtype=torch.float64)
    return cases | {
        "a prior that stays what it was": (p, half, half),
        "from even shares to uneven ones": (p, even, half),
        "a class that does not occur in the new place":
            (PREDICTIONS["7 under-confident predictions, 5 classes"][0].double(),
                torch.full((5,), 0.2, dtype=torch.float64), torch.tensor([0.5, 0.0, 0.25, 0.125, 0.125],
                dtype=torch.float64)),
        "a class of one in a million that becomes the commonest":
            (torch.tensor([[1 - 1e-9, 1e-9], [0.75, 0.25], [1 - 1e-12, 1e-12]]).double(),
                torch.tensor([1 - 1e-6, 1e-6]).double(), torch.tensor([1e-6, 1 - 1e-6]).double()),
    }

def _rows(weights: Tensor) -> Tensor:
    return weights / weights.sum(dim=1, keepdim=True)

@exercise(cases=_to_another_prior(), mistakes={
    "your rows do not sum to 1: divide each row by its sum.": lambda p, old, new: p * new / old,
    "old and new are exchanged: take the old prior out (divide), put the new one in (multiply).":
        lambda p, old, new: _rows(p * old / new),
    "the new prior is missing: this is the posterior where all classes are equally common.":
        lambda p, old, new: _rows(p / old),
    "the old prior is still in it: divide by old.": lambda p, old, new: _rows(p * new),
    "you put the old prior in a second time: divide by old, multiply by new.":
        lambda p, old, new: _rows(p * old),
    "you divided by the new prior: multiply by new, divide by old.": lambda p, old, new: _rows(p / new),
    "you divided by the sum over all images. Each row has a sum of its own: sum(dim=1, keepdim=True).":
        lambda p, old, new: p * new / old / (p * new / old).sum(),
    "you divided each column by its sum. Each *row* must sum to 1: dim=1.":
        lambda p, old, new: p * new / old / (p * new / old).sum(dim=0, keepdim=True),
    "a softmax was taken of weights that are no logits: divide each row by its sum.":
        lambda p, old, new: (p * new / old).softmax(dim=1),
    "a softmax was taken of probabilities. The logarithms of the priors belong to logits, or to log(probs).":
        lambda p, old, new: (p + new.log() - old.log()).softmax(dim=1),
    "you added the difference of the priors. By Bayes' rule the prior is a factor.":
        lambda p, old, new: p + new - old,
    "the ratio new / old enters with its full power, not with its root.":
        lambda p, old, new: _rows(p * (new / old).sqrt()),
    "you applied the ratio new / old twice.": lambda p, old, new: _rows(p * (new / old) ** 2),
    "this is the new prior alone: what the image says is lost.": lambda p, old, new: new.expand_as(p),
    "cutting off at 1 does not make probabilities: divide each row by its sum.":
        lambda p, old, new: (p * new / old).clamp(max=1)})
def other_prior(probs, old, new):
    """Posteriors (n, K) under the prior `new` (K,), from those under the prior `old` (K,)."""
    return recalibration.change_prior(probs, old=old, new=new)

def _by_class() -> dict[str, tuple[Tensor, Tensor, Tensor]]:
    """Predictions, labels in which every class occurs, and the classes by their training images."""
    generator = torch.Generator().manual_seed(7)
    def drawn(n: int, classes: int, order: list[int]) -> tuple[Tensor, Tensor, Tensor]:
        logits = 2 * torch.randn(n, classes, generator=generator)
        labels = torch.arange(n) % classes
        logits[torch.arange(n), labels] += 1
        return logits.softmax(dim=1), labels, torch.tensor(order)
    def uneven(sizes: list[int], order: list[int]) -> tuple[Tensor, Tensor, Tensor]:
        labels = torch.arange(len(sizes)).repeat_interleave(torch.tensor(sizes))
        labels = labels[torch.randperm(len(labels), generator=generator)]
        logits = 2 * torch.randn(len(labels), len(sizes), generator=generator)
        return logits.softmax(dim=1), labels, torch.tensor(order)
    few = torch.tensor([[0.75, 0.25], [0.25, 0.75], [0.375, 0.625]])
    return {
        "60 images, 3 classes": drawn(60, 3, [2, 0, 1]),
        "80 images, 5 classes": drawn(80, 5, [3, 0, 4, 1, 2]),
        "90 images, 4 classes": drawn(90, 4, [1, 2, 3, 0]),
        "a class of one image": (few, torch.tensor([0, 0, 1]), torch.tensor([0, 1])),
        "all predictions right":
            (torch.eye(3)[[0, 1, 2, 2]], torch.tensor([0, 1, 2, 2]), torch.tensor([1, 2, 0])),
        "classes of 40, 12, 5 and 1 images": uneven([40, 12, 5, 1], [0, 1, 2, 3]),
        "classes of 3, 90 and 20 images": uneven([3, 90, 20], [1, 2, 0]),
    }

def _of(p: Tensor, y: Tensor, groups: Tensor, order: Tensor, **options) -> Tensor:
    return torch.tensor(metrics.ece_by_group(p, y, groups, **options))[order]

def _one_against_all(p: Tensor, y: Tensor, order: Tensor) -> Tensor:
    _, hits, total = class_tally(p, y, 15)
    return ((total - hits).abs().sum(dim=0) / len(y))[order]

def _gap_of(p: Tensor, y: Tensor, order: Tensor) -> Tensor:
    members = (y == k for k in order)
    return torch.tensor([metrics.signed_gap(p[m], y[m]) for m in members])

def _accuracy_of(p: Tensor, y: Tensor, order: Tensor) -> Tensor:
    return torch.tensor([metrics.accuracy(p[y == k], y[y == k]) for k in order])

def _share(y: Tensor, order: Tensor) -> Tensor:
    return (y.bincount() / len(y))[order]

@exercise(cases=_by_class(), mistakes={
    "you grouped the images by the predicted class. Asked are the images *of* each class: labels == k.":
        lambda p, y, order: _of(p, y, p.argmax(dim=1), order),
    "the errors stand in the order of the classes' numbers. Go through the classes as `order` lists them.":
        lambda p, y, order: _of(p, y, y, torch.arange(len(order))),
    "entry 0 must be the error of class order[0]. You used the places of the classes in `order` for the "
    "classes.": lambda p, y, order: _of(p, y, y, order.argsort()),
    "you went from the rarest class to the commonest: the other way round.":
        lambda p, y, order: _of(p, y, y, order.flip(0)),
    "this is the error of the class's own probability over *all* images, as in classwise-ECE. Asked is the "
    "ECE over the images of the class.": _one_against_all,
    "you weighted each class by its share of the images. Each class stands for itself.":
        lambda p, y, order: _of(p, y, y, order) * _share(y, order),
    "this is the signed gap of each class. Asked is the ECE.": lambda p, y, order: _gap_of(p, y, order),
    "this is the gap with a single bin. Asked is the ECE with 15 bins: metrics.ece.":
        lambda p, y, order: _gap_of(p, y, order).abs(),
    "this is the accuracy of each class. Asked is the ECE.": _accuracy_of,
    "this is the share of wrong predictions of each class. Asked is the ECE.":
        lambda p, y, order: 1 - _accuracy_of(p, y, order),
    "you compared the probability of the true class with 1. The ECE compares the confidence, the "
    "probability of the *predicted* class, with the accuracy.":
        lambda p, y, order: torch.stack([1 - p[y == k, k].mean() for k in order]),
    "every class has the same error here, that of all images together.":
        lambda p, y, order: torch.full((len(order),), metrics.ece(p, y)),
    "you sorted the errors by size. Sort the classes, as `order` lists them.":
        lambda p, y, order: _of(p, y, y, order).sort().values,
    "you took 10 bins. The course's ECE has 15, the default of metrics.ece.":
        lambda p, y, order: _of(p, y, y, order, bins=10),
    "this is the ratio alone. Return the error of every class.":
        lambda p, y, order: _of(p, y, y, order).max() / _of(p, y, y, order).min()})
def class_errors(probs, labels, order):
    """The ECE of the images of each class, (K,), as `order` lists the classes."""
    return _of(probs, labels, labels, order)
