"""Decisions: what a wrong probability costs, and the cheapest action."""

from collections.abc import Callable

import torch
from torch import Tensor

from calibkit.course.check.engine import exercise


# fmt: off
def _two(n: int, c: float, steep: float, seed: int) -> tuple[Tensor, Tensor, float]:
    """Stated and true probabilities of an event, and the cost of a miss."""
    generator = torch.Generator().manual_seed(seed)
    known = 2 * torch.randn(n, generator=generator, dtype=torch.float64) - 1
    noise = torch.randn(n, generator=generator, dtype=torch.float64)
    return (steep * (known + 0.8 * noise)).sigmoid(), known.sigmoid(), c

_KNOWN = _two(12, 3.0, 1.0, 9)[1]
WORTH = {
    "60 images that are stated too boldly, c = 4": _two(60, 4.0, 3.0, 0),
    "50 images that are stated too cautiously, c = 20": _two(50, 20.0, 0.4, 1),
    "40 images, c = 1": _two(40, 1.0, 2.0, 2),
    "80 images, c = 50": _two(80, 50.0, 2.5, 3),
    "30 images, a check dearer than a miss: c = 0.25": _two(30, 0.25, 1.5, 4),
    "the posterior itself": (_KNOWN, _KNOWN, 3.0),
    "one image": (torch.tensor([0.01], dtype=torch.float64), torch.tensor([0.5], dtype=torch.float64), 9.0),
    "images that are stated with 0 or 1": (torch.tensor([0.0, 1.0, 0.0, 1.0, 0.0], dtype=torch.float64),
            torch.tensor([0.3, 0.05, 0.02, 0.6, 0.15], dtype=torch.float64), 9.0),
}

def _worth(p: Tensor, q: Tensor, c: float, *, at: Callable[[float], float] = lambda c: 1 / (1 + c),
        price: Callable[[Tensor, float, float], Tensor] = lambda q, t, c: (1 + c) * (q - t).abs()
        ) -> Tensor:
    t = at(c)
    return price(q, t, c) * ((p > t) != (q > t))

def _paid(check: Tensor, q: Tensor, c: float) -> Tensor:
    return torch.where(check, 1 - q, c * q)

def _by(c: float) -> float:
    return 1 / (1 + c)

@exercise(cases=WORTH, absolute=1e-7, mistakes={
    "the threshold is 1 / (1 + c), where both actions cost the same; you took 1 / c.":
        lambda p, q, c: _worth(p, q, c, at=lambda c: 1 / c if c > 1 else 1.0).mean(),
    "you took c / (1 + c) for the threshold. A dear miss needs a low one: 1 / (1 + c).":
        lambda p, q, c: _worth(p, q, c, at=lambda c: c / (1 + c)).mean(),
    "you checked above 1/2, whatever a miss costs. The threshold is 1 / (1 + c).":
        lambda p, q, c: _worth(p, q, c, at=lambda _: 0.5).mean(),
    "the factor 1 + c is missing: a wrong decision costs (1 + c) |q - t|.":
        lambda p, q, c: _worth(p, q, c, price=lambda q, t, c: (q - t).abs()).mean(),
    "you took the factor c. The two lines of cost part by 1 + c for each unit of q.":
        lambda p, q, c: _worth(p, q, c, price=lambda q, t, c: c * (q - t).abs()).mean(),
    "you took the distance of `said` from the threshold. What counts is that of the truth.":
        lambda p, q, c: ((1 + c) * (p - _by(c)).abs() * ((p > _by(c)) != (q > _by(c)))).mean(),
    "you took the distance between the two probabilities, |p - q|. The price is |q - t|.":
        lambda p, q, c: ((1 + c) * (p - q).abs() * ((p > _by(c)) != (q > _by(c)))).mean(),
    "every image has a price here. An image costs nothing where both decide the same.":
        lambda p, q, c: ((1 + c) * (q - _by(c)).abs()).mean(),
    "this grows with the number of images: take the mean over them.": lambda p, q, c: _worth(p, q, c).sum(),
    "this is the share of images that are decided differently. Each has its own price.":
        lambda p, q, c: ((p > _by(c)) != (q > _by(c))).double().mean(),
    "this is the whole expected cost of the model. Subtract that of the posterior.":
        lambda p, q, c: _paid(p > _by(c), q, c).mean(),
    "this is what the posterior itself costs, the part that nobody can avoid.":
        lambda p, q, c: _paid(q > _by(c), q, c).mean(),
    "its cost is computed with `said`, so the model judges itself. Take the truth.":
        lambda p, q, c: (_paid(p > _by(c), p, c) - _paid(q > _by(c), q, c)).mean(),
    "you counted what was not checked and should have been. Checks in vain cost, too.":
        lambda p, q, c: ((1 + c) * (q - _by(c)).clamp(min=0) * (p <= _by(c))).mean(),
    "you counted checks in vain alone. What passed and should be checked costs, too.":
        lambda p, q, c: ((1 + c) * (_by(c) - q).clamp(min=0) * (p > _by(c))).mean(),
    "this is the mean over the images that are decided differently. The others cost 0 and count in the mean.":
        lambda p, q, c: _worth(p, q, c).sum() / (_worth(p, q, c) > 0).sum().clamp(min=1),
    "you counted the images on which both decide the same. These cost nothing.":
        lambda p, q, c: ((1 + c) * (q - _by(c)).abs() * ((p > _by(c)) == (q > _by(c)))).mean(),
    "costs of both kinds cancel here: take the absolute value |q - t|.":
        lambda p, q, c: ((1 + c) * (q - _by(c)) * ((p > _by(c)) != (q > _by(c)))).mean(),
    "this is the mean distance of the two probabilities. It knows no c and no decision.":
        lambda p, q, c: (p - q).abs().mean(),
    "this is the mean squared distance, the avoidable Brier score. It knows no c.":
        lambda p, q, c: (p - q).square().mean()})
def decision_regret(said, posterior, c):
    """What decisions by `said` (n,) cost more than those by `posterior` (n,), in the mean."""
    return _worth(said.double(), posterior.double(), c).mean().item()

def _table(n: int, actions: int, classes: int, seed: int, *,
        ask: float | None = None) -> tuple[Tensor, Tensor]:
    """Probabilities and costs; ask: the same cost for every class, as a last action."""
    generator = torch.Generator().manual_seed(seed)
    logits = 1.5 * torch.randn(n, classes, generator=generator, dtype=torch.float64)
    costs = 10 * torch.rand(actions, classes, generator=generator, dtype=torch.float64)
    if ask is not None:
        costs = torch.cat([costs, torch.full((1, classes), ask, dtype=torch.float64)])
    return logits.softmax(dim=1), costs

def _reading(n: int, classes: int, seed: int) -> tuple[Tensor, Tensor]:
    """A cost of 10 for a wrong class, of 50 for the last one missed, and of 2 for asking."""
    probs, _ = _table(n, 1, classes, seed)
    costs = 10 * (1 - torch.eye(classes, dtype=torch.float64))
    costs[:-1, -1] = 50
    return probs, torch.cat([costs, torch.full((1, classes), 2.0, dtype=torch.float64)])

CHOICES = {
    "20 images of 4 classes, type a class or ask": _reading(20, 4, 0),
    "30 images of 3 classes, 5 actions": _table(30, 5, 3, 1),
    "12 images, an alarm or not, a miss costs 20":
        (_table(12, 1, 2, 2)[0], torch.tensor([[0.0, 20.0], [1.0, 0.0]], dtype=torch.float64)),
    "as many actions as classes: 40 images, 5 each": _table(40, 5, 5, 3),
    "25 images, fewer actions than classes": _table(25, 2, 6, 4),
    "one image": _reading(1, 5, 5),
    "images that are certain": (torch.eye(4, dtype=torch.float64), _reading(1, 4, 6)[1]),
    "gains among the costs: 30 images": (_table(30, 4, 3, 7)[0], _table(30, 4, 3, 7)[1] - 5),
    "300 images of 10 classes, 12 actions": _table(300, 11, 10, 8, ask=4.0),
}

def _expected(p: Tensor, costs: Tensor) -> Tensor:
    return p.double() @ costs.double().T

@exercise(cases=CHOICES, slips={
    r"mat1 and mat2 shapes":
        "the two tables do not fit: probs is (n, K), costs is (A, K). Transpose the second."}, mistakes={
    "this is the dearest action. Take the least expected cost: argmin.":
        lambda p, costs: _expected(p, costs).argmax(dim=1),
    "this is the least expected cost itself. Asked is which action has it: argmin.":
        lambda p, costs: _expected(p, costs).min(dim=1).values,
    "this is the most probable class. The costs have no say in it.": lambda p, costs: p.argmax(dim=1),
    "you took the most probable class for the truth. Weigh the costs of all classes.":
        lambda p, costs: costs[:, p.argmax(dim=1)].argmin(dim=0),
    "you took one action for all images, the cheapest on average. Decide for each image.":
        lambda p, costs: _expected(p.mean(dim=0, keepdim=True), costs).argmin().expand(len(p)),
    "costs is used the wrong way round: its rows are actions, its columns classes. Transpose it: probs @ "
    "costs.T.": lambda p, costs: (p @ costs).argmin(dim=1),
    "these are the expected costs of all actions. Take the argmin of each row.":
        lambda p, costs: _expected(p, costs),
    "you counted the actions from 1. Python counts from 0.":
        lambda p, costs: _expected(p, costs).argmin(dim=1) + 1,
    "you took the largest part of each expected cost. Sum over the classes.":
        lambda p, costs: (p[:, None, :] * costs).amax(dim=2).argmin(dim=1),
    "you took the action whose worst case is least. Weigh its costs by the probabilities.":
        lambda p, costs: costs.amax(dim=1).argmin().expand(len(p)),
    "you took the logarithm of the probabilities. An expected cost weighs by them alone.":
        lambda p, costs: (p.log() @ costs.T).argmin(dim=1),
    "a softmax was taken of `probs`, which are probabilities already.":
        lambda p, costs: (p.softmax(dim=1) @ costs.T).argmin(dim=1),
    "you took the image for which an action is cheapest (dim=0). Take dim=1.":
        lambda p, costs: _expected(p, costs).argmin(dim=0),
    "you weighed each cost by the chance that its class is *not* the truth.":
        lambda p, costs: _expected(1 - p, costs).argmin(dim=1),
    "these are rows of zeros with a one. Return the number of the action.":
        lambda p, costs: torch.nn.functional.one_hot(_expected(p, costs).argmin(1), len(costs))})
def cheapest_action(probs, costs):
    """The action (row of costs) of least expected cost under each row of probs: n integers."""
    return _expected(probs, costs).argmin(dim=1)
