"""Focal loss in practice."""

from collections.abc import Callable

import torch
from torch import Tensor

from calibkit.course.check.engine import exercise

# fmt: off
BINS, FEWEST, STRENGTH, MOST = 10, 25, 20.0, 5.0

def _kept(counts: dict[int, tuple[int, float]], seed: int, n: int = 12, kind=torch.float64
) -> tuple[Tensor, Tensor, Tensor]:
    """p of n training images, then confidences and hits: so many in a bin, of which a share is right."""
    generator = torch.Generator().manual_seed(seed)
    confidence, correct = [], []
    for place, (number, right) in counts.items():
        inside = 0.02 + 0.96 * torch.rand(number, generator=generator, dtype=torch.float64)
        confidence.append((place + inside) / BINS)
        correct.append(torch.arange(number) < round(right * number))
    order = torch.randperm(sum(map(len, confidence)), generator=generator)
    p = (torch.arange(n) % BINS + 0.02 + 0.96 * torch.rand(n, generator=generator)) / BINS
    return p.to(kind), torch.cat(confidence)[order].to(kind), torch.cat(correct)[order]

KEPT = {
    "a network that is too sure in three bins":
        _kept({7: (40, 0.65), 8: (60, 0.72), 9: (100, 0.85)}, 0),
    "one bin in which the gap is large": _kept({5: (50, 0.5), 9: (80, 0.6)}, 1),
    "one bin in which it is not sure enough": _kept({6: (40, 0.8), 8: (60, 0.75)}, 2),
    "24 images in one bin, 25 in the next": _kept({7: (24, 0.6), 8: (25, 0.72), 9: (90, 0.9)}, 3),
    "few images in most bins":
        _kept({3: (5, 0.2), 4: (10, 0.2), 5: (20, 0.3), 6: (30, 0.5), 9: (200, 0.88)}, 4),
    "float32": _kept({5: (30, 0.4), 6: (30, 0.6), 8: (70, 0.8), 9: (150, 0.85)}, 5, kind=torch.float32),
    "p of 0 and of 1, and confidences of 1": (
        torch.tensor([0.0, 1.0, 0.95, 0.05], dtype=torch.float64),
        torch.cat([torch.ones(20, dtype=torch.float64), torch.full((20,), 0.95, dtype=torch.float64)]),
        torch.arange(40) % 8 > 0),
    "200 training images": _kept({k: (30 + k, 0.08 * k) for k in range(BINS)}, 6, n=200),
    "no bin with enough images": _kept({8: (20, 0.5), 9: (24, 0.5)}, 7),
}

def _place(x: Tensor, bins: int = BINS) -> Tensor:
    return (bins * x).long().clamp(max=bins - 1)

def _gap(confidence: Tensor, correct: Tensor) -> float:
    return (confidence.double().mean() - correct.double().mean()).item()

def _cut(gap: float) -> float:
    return min(max(STRENGTH * gap, 0.0), MOST)

def _by_bin(gap: Callable = _gap, gamma: Callable = _cut, fewest: int = FEWEST, bins: int = BINS,
            place_kept: Callable = _place, place_p: Callable = _place, stops: bool = False) -> Callable:
    """The rule with one part changed: what a gap is, what gamma it leads to, ..."""
    def answer(p: Tensor, confidence: Tensor, correct: Tensor) -> Tensor:
        found = torch.zeros_like(p)
        for place in range(bins):
            inside = place_kept(confidence, bins) == place
            if inside.sum() >= fewest:
                found[place_p(p, bins) == place] = gamma(gap(confidence[inside], correct[inside]))
            elif stops:
                break
        return found
    return answer

_right = _by_bin()

def _middles(p: Tensor, confidence: Tensor, correct: Tensor) -> Tensor:
    """Takes the middle of a bin for its mean confidence."""
    def gap(inside: Tensor, right: Tensor) -> float:
        return (_place(inside)[0].item() + 0.5) / BINS - right.double().mean().item()
    return _by_bin(gap)(p, confidence, correct)

def _means_of_p(p: Tensor, confidence: Tensor, correct: Tensor) -> Tensor:
    """Takes the mean p of a bin for its mean confidence."""
    def gap(inside: Tensor, right: Tensor) -> float:
        same = p[_place(p) == _place(inside)[0]].double()
        return same.mean().item() - right.double().mean().item() if len(same) else 0.0
    return _by_bin(gap)(p, confidence, correct)

def _open(x: Tensor, bins: int) -> Tensor:
    """A bin of its own for x = 1."""
    return (bins * x).long()

def _rounded(x: Tensor, bins: int) -> Tensor:
    return (bins * x).round().long().clamp(max=bins - 1)

@exercise(cases=KEPT, mistakes={
    "all your gammas are 0. Count the kept images in each bin, not the p; and is a bin with 25 of them used?":
        lambda p, c, a: torch.zeros_like(p),
    "the loop ends at the first bin with fewer than 25 images: `continue` goes on to the next one, "
    "`break` and `return` do not.": _by_bin(stops=True),
    "p = 1 is in no bin: (10 * p).long() is 10 there. Take .clamp(max=9).": _by_bin(place_p=_open),
    "a confidence of 1 is in no bin: (10 * confidence).long() is 10 there. Take .clamp(max=9).":
        _by_bin(place_kept=_open),
    "the bin from 90 to 100 % is left out: the bins are 0 to 9, range(10).":
        lambda p, c, a: torch.where(_place(p) == BINS - 1, 0.0, _right(p, c, a)),
    "a number is cut off, not rounded: 0.87 lies in bin 8, (10 * x).long().":
        _by_bin(place_kept=_rounded, place_p=_rounded),
    "you took the mean p of the training images. The gap is that of the kept images alone: mean confidence "
    "minus the share that is right.": _means_of_p,
    "you divided by the number of all kept images: take the means over those in the bin.":
        lambda p, c, a: _by_bin(gap=lambda x, right: _gap(x, right) * len(x) / len(c))(p, c, a),
    "your gaps are too large: the gap is a mean minus a mean, a fraction such as 0.15, not a sum and not "
    "per cent.": _by_bin(gap=lambda c, a: len(c) * _gap(c, a)),
    "this is the gap, cut to 0 and 5. Multiply it by 20 first.": _by_bin(gamma=lambda gap: min(max(gap, 0.0), MOST)),
    "you cut the gap first and multiplied then. Cut 20 times the gap.":
        _by_bin(gamma=lambda gap: STRENGTH * min(max(gap, 0.0), 1.0)),
    "the sign is reversed: the gap is confidence minus the share of right answers.":
        _by_bin(gap=lambda c, a: -_gap(c, a)),
    "you took the gap without its sign. Where the network is not sure enough, gamma is 0.":
        _by_bin(gap=lambda c, a: abs(_gap(c, a))),
    "some gammas are below 0: cut them.": _by_bin(gamma=lambda gap: min(STRENGTH * gap, MOST)),
    "nothing is cut: no gamma is below 0 or above 5.": _by_bin(gamma=lambda gap: STRENGTH * gap),
    "bins with fewer than 25 images count, too: their gap says little, so gamma is 0 there.":
        _by_bin(fewest=1),
    "a bin with 25 images has enough: fewer than 25 are too few.": _by_bin(fewest=FEWEST + 1),
    "all images have one gamma. Each bin has its own gap.":
        lambda p, c, a: torch.full_like(p, _cut(_gap(c, a))),
    "you took the middle of the bin. Take the mean confidence of the images kept aside that lie in it.":
        _middles,
    "these are 15 bins. Take ten.": _by_bin(bins=15),
    "these are 5 bins. Take ten.": _by_bin(bins=5),
    "you compared the bin of each p with the next one: count bins from 0.":
        lambda p, c, a: _right((p + 1 / BINS).clamp(max=1), c, a),
    "these are the fixed steps of FLSD-532. Measure the gaps of the images kept aside.":
        lambda p, c, a: torch.where(p < 0.2, 5.0, torch.where(p < 0.5, 3.0, 2.0)),
    "this is the weight (1 - p)^gamma. Asked is gamma itself.": lambda p, c, a: (1 - p) ** _right(p, c, a),
    "these are the gammas of the images kept aside. Asked are those of the training images, by their p.":
        lambda p, c, a: _right(c, c, a)})
def sample_gamma(p, confidence, correct):
    """Gammas (n,): 20 times the gap of the bin that p (n,) lies in, cut to 0 ... 5.

    The gap is that of confidence (m,) and hits (m,) of images kept aside; with fewer than 25 in the
    bin gamma is 0.
    """
    return _right(p, confidence, correct)

def _networks() -> dict[str, tuple[Tensor]]:
    """Logits (M, n, K) of M networks that disagree."""
    generator = torch.Generator().manual_seed(11)
    shapes = ((3, 4, 5), (5, 6, 3), (2, 3, 4), (4, 2, 2), (1, 3, 3), (2, 1, 4))
    drawn = {f"{m} networks, {n} images, {k} classes":
        (3 * torch.randn(m, n, k, generator=generator, dtype=torch.float64),) for m, n, k in shapes}
    drawn_as_many = 3 * torch.randn(4, 4, 4, generator=generator, dtype=torch.float64)
    far = torch.tensor([[[90.0, 0.0, 0.0]], [[0.0, 90.0, 0.0]]], dtype=torch.float64)
    steep = 100 * torch.randn(3, 6, 4, generator=generator)
    return drawn | {
        "two networks that are sure of different classes": (far,),
        "as many networks as images and classes": (drawn_as_many,),
        "logits of hundreds in float32, whose exponentials overflow": (steep,),
        "logits of thousands, whose exponentials overflow": (30 * steep.double(),),
    }

@exercise(cases=_networks(), mistakes={
    "you averaged the logits. Take the softmax of each network first, then the mean of the probabilities.":
        lambda z: z.mean(0).softmax(-1),
    "this is the geometric mean of the probabilities, whose rows do not sum to 1. Take the arithmetic mean.":
        lambda z: z.softmax(-1).log().mean(0).exp(),
    "your rows sum to the number of networks: take the mean, not the sum.": lambda z: z.softmax(-1).sum(0),
    "you added up the logits. Take the softmax of each network first, then the mean.":
        lambda z: z.sum(0).softmax(-1),
    "the softmax runs over the networks. It must run over the classes, the last dimension.":
        lambda z: z.softmax(0).mean(0),
    "the softmax runs over the images. It must run over the classes, the last dimension.":
        lambda z: z.softmax(1).mean(0),
    "the mean runs over the images. It must run over the networks, the first dimension.":
        lambda z: z.softmax(-1).mean(1),
    "the mean runs over the classes. It must run over the networks, the first dimension.":
        lambda z: z.softmax(-1).mean(-1),
    "these are mean logits, no probabilities. Take the softmax of each network first.": lambda z: z.mean(0),
    "a second softmax was taken, of probabilities. The mean of the rows is the answer.":
        lambda z: z.softmax(-1).mean(0).softmax(-1),
    "this is the first network alone.": lambda z: z.softmax(-1)[0],
    "you divided by 5, whatever the number of networks: take the mean.": lambda z: z.softmax(-1).sum(0) / 5,
    "you took the median over the networks: take the mean.": lambda z: z.softmax(-1).median(0).values,
    "you took the largest probability of any network: take the mean.": lambda z: z.softmax(-1).amax(0),
    "you let the networks vote: each counts only its own first choice. Average their probabilities.":
        lambda z: torch.nn.functional.one_hot(z.argmax(-1), z.shape[-1]).double().mean(0),
    "these are the probabilities of each network, (M, n, K). Take their mean over the networks.":
        lambda z: z.softmax(-1)})
def ensemble_probs(logits):
    """The probabilities (n, K) of an ensemble, from the logits (M, n, K) of its networks."""
    return logits.softmax(dim=-1).mean(dim=0)
