"""Focal loss in practice."""

import torch
from torch import Tensor

from calibkit.course.check.engine import exercise

# fmt: off
LABEL_PROBABILITIES = {
    "one p in each range": torch.tensor([0.1, 0.3, 0.7]),
    "nine ordinary p": torch.tensor([0.9, 0.05, 0.45, 0.15, 0.6, 0.22, 0.35, 0.19, 0.55]),
    "p on the two thresholds": torch.tensor([0.5, 0.2, 0.4], dtype=torch.float64),
    "p of 0 and of 1": torch.tensor([0.0, 1.0, 0.01, 0.99]),
    "one p": torch.tensor([0.4]),
    "p all above 1/2": torch.tensor([0.8, 0.6, 0.51]),
    "p all below 1/5": torch.tensor([0.02, 0.1]),
    "p a millionth beside the thresholds":
        torch.tensor([0.199999, 0.200001, 0.499999, 0.500001, 0.2, 0.5], dtype=torch.float64),
    "hundredths": torch.arange(101, dtype=torch.float64) / 100,
}

def _steps(p: Tensor, low: float = 0.2, high: float = 0.5, gammas=(5.0, 3.0, 2.0)) -> Tensor:
    """gammas[0] below low, gammas[1] below high, else gammas[2]."""
    first, second, third = (torch.full_like(p, gamma) for gamma in gammas)
    return torch.where(p < low, first, torch.where(p < high, second, third))

@exercise(cases={name: (p,) for name, p in LABEL_PROBABILITIES.items()}, mistakes={
    "this is FLSD-53: gamma 3 from 0.2 on. FLSD-532 has 2 from 0.5 on.":
        lambda p: _steps(p, gammas=(5.0, 3.0, 3.0)),
    "the order is reversed: the *badly* predicted samples, with a small p, get gamma 5.":
        lambda p: _steps(p, gammas=(2.0, 3.0, 5.0)),
    "no sample gets gamma 5. If you set 5 where p < 0.2 first, a later step for p < 0.5 overwrites it.":
        lambda p: _steps(p, gammas=(3.0, 3.0, 2.0)),
    "no sample gets gamma 3: that is for 0.2 <= p < 0.5.": lambda p: 2.0 + 3.0 * (p < 0.2),
    "p = 0.2 belongs to gamma 3 and p = 0.5 to gamma 2: compare with <, not <=.":
        lambda p: torch.where(p <= 0.2, 5.0, torch.where(p <= 0.5, 3.0, 2.0)),
    "p = 0.2 belongs to gamma 3: compare with <, not <=.":
        lambda p: torch.where(p <= 0.2, 5.0, torch.where(p < 0.5, 3.0, 2.0)),
    "p = 0.5 belongs to gamma 2: compare with <, not <=.":
        lambda p: torch.where(p < 0.2, 5.0, torch.where(p <= 0.5, 3.0, 2.0)),
    "the first threshold is 0.2, not 0.25.": lambda p: _steps(p, low=0.25),
    "you took 1 - p for p.": lambda p: _steps(1 - p),
    "the steps add up to too much: where p < 0.2, p < 0.5 is true as well. Add 1 and 2.":
        lambda p: 2.0 + 3.0 * (p < 0.5) + 5.0 * (p < 0.2),
    "where p is 0.5 or more, gamma is 2, not 0.": lambda p: 5.0 * (p < 0.2) + 3.0 * ((p >= 0.2) & (p < 0.5)),
    "this is the weight (1 - p)^gamma. Asked is gamma itself.": lambda p: (1 - p) ** _steps(p),
    "all samples have one gamma here. Each sample has its own, by its own p.":
        lambda p: torch.full_like(p, _steps(p.mean()).item()),
    "the steps add up to 6 where p < 0.2: there it is 5.": lambda p: _steps(p, gammas=(6.0, 3.0, 2.0))})
def sample_gamma(p):
    """The gamma of FLSD-532 for each label probability p (n,): a tensor (n,)."""
    return _steps(p)

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
