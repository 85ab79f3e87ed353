"""Shift and strange inputs."""

import torch
from torch import Tensor

from calibkit import metrics
from calibkit.course.check.engine import exercise


# fmt: off
def _worlds() -> dict[str, tuple[Tensor, Tensor, float, float]]:
    """Scores (n, J) of n images against J centres, the class of each centre, two noises."""
    generator = torch.Generator().manual_seed(13)
    cases = {}
    for n, centres, classes, old, new in ((4, 6, 3, 0.4, 0.8), (3, 5, 2, 0.4, 0.2),
            (5, 7, 4, 0.5, 0.6), (2, 9, 3, 0.3, 1.2), (1, 4, 2, 0.4, 0.5), (6, 3, 3, 0.4, 0.4)):
        scores = -4 * torch.rand(n, centres, generator=generator, dtype=torch.float64)
        owner = torch.cat([torch.arange(classes), torch.randint(classes, (centres - classes,),
            generator=generator)])
        rows = torch.nn.functional.one_hot(owner, classes).double()
        cases[f"{n} images, {centres} clean digits, noise {old} to {new}"] = scores, rows, old, new
    scores, rows, *_ = next(iter(cases.values()))
    return cases | {
        "scores of -800 to -1,600, whose exponentials are 0": (scores - 800, rows, 0.4, 0.3),
        "scores of -3,000, read at more noise": (50 * scores - 3000, rows, 0.4, 0.8),
        "probabilities close to 0": (8 * scores, rows, 0.8, 0.4),
        "images of which some lie much further away than others":
            (scores - 1500 * torch.arange(len(scores))[:, None], rows, 0.4, 0.5),
    }

def _informed(scores: Tensor, one_hot: Tensor, factor: float) -> Tensor:
    return (scores * factor).softmax(dim=1) @ one_hot

def _after_the_sum(scores: Tensor, one_hot: Tensor, factor: float) -> Tensor:
    return (_informed(scores, one_hot, 1.0).log() * factor).softmax(dim=1)

@exercise(cases=_worlds(), mistakes={
    "this is the posterior of the old noise. The scores hold 1 / (2 old^2): exchange it for 1 / (2 new^2).":
        lambda z, rows, old, new: _informed(z, rows, 1.0),
    "the ratio of the noises is not squared: a score is a squared distance over a squared noise.":
        lambda z, rows, old, new: _informed(z, rows, old / new),
    "the ratio is upside down: more noise makes the scores smaller.":
        lambda z, rows, old, new: _informed(z, rows, (new / old) ** 2),
    "the ratio is upside down, and not squared: more noise makes the scores smaller.":
        lambda z, rows, old, new: _informed(z, rows, new / old),
    "you cooled the posterior of the *classes*. Each clean digit has a score of its own: rescale these, "
    "before the softmax and the sum over a class.":
        lambda z, rows, old, new: _after_the_sum(z, rows, (old / new) ** 2),
    "these are sums of scores, no probabilities: the softmax over the clean digits is missing.":
        lambda z, rows, old, new: (z * (old / new) ** 2) @ rows,
    "you added up scores and took the softmax of the sums. Softmax first, then the sum.":
        lambda z, rows, old, new: ((z * (old / new) ** 2) @ rows).softmax(dim=1),
    "your rows do not sum to 1: divide by the sum over all clean digits (a softmax).":
        lambda z, rows, old, new: (z * (old / new) ** 2).exp() @ rows,
    "the softmax runs over the images. It must run over the clean digits, dimension 1.":
        lambda z, rows, old, new: (z * (old / new) ** 2).softmax(dim=0) @ rows,
    "you took the mean over the clean digits of a class. Probabilities add up: take the sum.":
        lambda z, rows, old, new: (z * (old / new) ** 2).softmax(dim=1) @ (rows / rows.sum(dim=0)),
    "this is the probability of each clean digit. Add up those of one class: one_hot does it.":
        lambda z, rows, old, new: (z * (old / new) ** 2).softmax(dim=1),
    "the scores are no distances: they hold the division by 2 old^2 already.":
        lambda z, rows, old, new: (z / (2 * new**2)).softmax(dim=1) @ rows,
    "the sign is reversed: a score is a *negative* squared distance already.":
        lambda z, rows, old, new: (-z * (old / new) ** 2).softmax(dim=1) @ rows,
    "you took the best clean digit of each class. Probabilities add up: take the sum.":
        lambda z, rows, old, new: ((z * (old / new) ** 2).softmax(dim=1)[:, :, None] * rows).amax(dim=1)})
def informed_posterior(scores, one_hot, old, new):
    """The posterior (n, K) at noise `new`, from scores (n, J) = -distance^2 / (2 old^2)."""
    return _informed(scores, one_hot, (old / new) ** 2)

def _score_pairs() -> dict[str, tuple[Tensor, ...]]:
    """Scores of familiar and of strange images, some of them equal."""
    pairs = {
        "a tie": ([0.9, 0.8, 0.5], [0.5, 0.4]),
        "4 familiar and 3 strange images": ([0.9, 0.2, 0.6, 0.4], [0.3, 0.7, 0.6]),
        "3 familiar and 5 strange images": ([0.5, 0.1, 0.8], [0.5, 0.2, 0.6, 0.1, 0.9]),
        "all strange scores above": ([0.1, 0.2], [0.3, 0.6, 0.9]),
        "all scores equal": ([0.7, 0.7], [0.7, 0.7, 0.7]),
        "negative scores": ([-0.1, -2.0, -0.4], [-1.0, -3.0]),
        "one of each": ([0.6], [0.2]),
        "a tie of one each": ([0.4], [0.4]),
        "scores that differ by 1e-9": ([0.5 + 1e-9, 0.5], [0.5 - 1e-9, 0.5, 0.5 + 2e-9]),
        "scores of thousands": ([4e3, -2e3, 7e3, 1e3], [1e3, 5e3, -4e3]),
        "25 familiar and 40 strange images, with many ties":
            ([(k * k) % 17 / 16 for k in range(25)], [(3 * k + 1) % 11 / 16 for k in range(40)]),
    }
    return {name: tuple(torch.tensor(side, dtype=torch.float64) for side in sides)
        for name, sides in pairs.items()}

def _won(familiar: Tensor, strange: Tensor, tie: float = 0.5) -> Tensor:
    one, other = familiar[:, None], strange[None, :]
    return ((one > other).double() + tie * (one == other).double()).mean()

@exercise(cases=_score_pairs(), mistakes={
    "the direction is reversed: count the pairs in which the *familiar* image has the larger score.":
        lambda a, b: _won(b, a),
    "a tie counts one half; yours counts nothing.": lambda a, b: _won(a, b, tie=0.0),
    "a tie counts one half; yours counts as won (>= in place of >).": lambda a, b: _won(a, b, tie=1.0),
    "this is the number of pairs that are won. Divide by the number of all pairs.":
        lambda a, b: len(a) * len(b) * _won(a, b),
    "you divided by the familiar images alone. Divide by the number of pairs.":
        lambda a, b: len(b) * _won(a, b),
    "you divided by the strange images alone. Divide by the number of pairs.":
        lambda a, b: len(a) * _won(a, b),
    "this is a difference of means. Compare every familiar image with every strange one.":
        lambda a, b: a.mean() - b.mean(),
    "1/2 stands for no separation, not 0: count the pairs won, not those lost.":
        lambda a, b: 2 * _won(a, b) - 1,
    "you compared with the mean of the strange scores. Compare all pairs.":
        lambda a, b: (a > b.mean()).double().mean(),
    "a value below 1/2 is right where strange images have the larger scores: leave it.":
        lambda a, b: _won(a, b).clamp(min=0.5)})
def strange_auroc(familiar, strange):
    """The share of pairs in which the familiar score (n,) is above the strange one (m,)."""
    return _won(familiar, strange)

def _members() -> dict[str, tuple[Tensor]]:
    """Probabilities (M, n, K) of M networks that disagree."""
    generator = torch.Generator().manual_seed(15)
    shapes = ((3, 4, 5), (5, 6, 3), (2, 3, 4), (4, 2, 3), (2, 1, 6), (1, 3, 4), (4, 4, 4))
    drawn = {f"{m} networks, {n} images, {k} classes": ((2 * torch.randn(m, n, k, generator=generator,
        dtype=torch.float64)).softmax(dim=2),) for m, n, k in shapes}
    apart = torch.tensor([[[0.9, 0.1, 0.0]], [[0.1, 0.0, 0.9]]], dtype=torch.float64)
    return drawn | {"two networks that are sure of different classes": (apart,)}

@exercise(cases=_members(), mistakes={
    "the sign is reversed: the members' confidence minus that of their mean.":
        lambda p: p.mean(dim=0).amax(dim=1).mean() - p.amax(dim=2).mean(),
    "this is the mean confidence of the members. Subtract that of their mean.":
        lambda p: p.amax(dim=2).mean(),
    "this is the mean confidence of the ensemble. Subtract it from that of the members.":
        lambda p: p.mean(dim=0).amax(dim=1).mean(),
    "this is the loss of each image. Take the mean over the images too.":
        lambda p: p.amax(dim=2).mean(dim=0) - p.mean(dim=0).amax(dim=1),
    "the losses of the images are added up: take their mean.":
        lambda p: (p.amax(dim=2).mean(dim=0) - p.mean(dim=0).amax(dim=1)).sum(),
    "you took the first network for all. Take the mean confidence of all members.":
        lambda p: p[0].amax(dim=1).mean() - p.mean(dim=0).amax(dim=1).mean(),
    "you took the surest member of each image. Take the mean over the members.":
        lambda p: p.amax(dim=2).amax(dim=0).mean() - p.mean(dim=0).amax(dim=1).mean(),
    "this is a difference of entropies. Confidence is the largest probability of a row.":
        lambda p: metrics.entropy(p.mean(dim=0)).mean() - metrics.entropy(p.flatten(0, 1)).mean(),
    "the members' confidences are added up: take their mean.":
        lambda p: p.amax(dim=2).sum(dim=0).mean() - p.mean(dim=0).amax(dim=1).mean(),
    "the maximum runs over the images. It must run over the classes, the last dimension.":
        lambda p: p.amax(dim=1).mean() - p.mean(dim=0).amax(dim=0).mean(),
    "you averaged logarithms. The ensemble is the mean of the probabilities.":
        lambda p: p.amax(dim=2).mean() - p.log().mean(dim=0).softmax(dim=1).amax(dim=1).mean(),
    "this is a share of the confidence. Asked is the difference.":
        lambda p: 1 - p.mean(dim=0).amax(dim=1).mean() / p.amax(dim=2).mean(),
    "this is the variance of the members' confidences. Two members can be equally sure of different classes.":
        lambda p: p.amax(dim=2).var(dim=0, correction=min(1, len(p) - 1)).mean(),
    "you averaged over the images first. Take the maximum of each image, then the mean.":
        lambda p: p.mean(dim=1).amax(dim=1).mean() - p.mean(dim=(0, 1)).amax()})
def lost_confidence(probs):
    """Mean confidence of the members minus that of their mean, from probabilities (M, n, K)."""
    return probs.amax(dim=2).mean() - probs.mean(dim=0).amax(dim=1).mean()
