"""Soft targets."""

import math

import torch
from torch import Tensor

from calibkit import metrics, theory
from calibkit.course.check.engine import exercise

# fmt: off
WEIGHTS = {
    "6 rows of 4 classes, weight 0.5": (6, 4, 0.5),
    "5 rows of 3 classes, weight 2": (5, 3, 2.0),
    "8 rows of 10 classes, weight 0.1": (8, 10, 0.1),
    "one row only": (1, 5, 1.0),
    "two classes only": (4, 2, 0.3),
    "weight 0": (4, 3, 0.0),
    "150 rows of 12 classes, weight 0.7": (150, 12, 0.7),
}

def _optimal(rows: int, classes: int, weight: float) -> tuple[Tensor, float]:
    """Minimisers of the confidence penalty, and its weight."""
    generator = torch.Generator().manual_seed(rows)
    logits = 2 * torch.randn(rows, classes, generator=generator, dtype=torch.float64)
    return theory.penalty_minimiser(logits.softmax(dim=1), weight), weight

def _entropy(p: Tensor) -> Tensor:
    return -torch.xlogy(p, p).sum(dim=1, keepdim=True)

def _shared_out(rows: Tensor) -> Tensor:
    return rows / rows.sum(dim=1, keepdim=True)

@exercise(cases={name: _optimal(*case) for name, case in WEIGHTS.items()}, mistakes={
    "this is p itself, which is right for weight 0 only.": lambda p, w: p,
    "the entropy is missing, so your rows do not sum to 1. Sum the condition over the classes to find c: it "
    "is 1 + weight H(p).": lambda p, w: p * (1 + w * p.log()),
    "you set c to 1 and divided by the sum afterwards. That is another row: the sum over the classes says "
    "what c is, 1 + weight H(p).": lambda p, w: _shared_out(p * (1 + w * p.log())),
    "the entropy has the wrong sign: H(p) = -sum p log p is positive, and it is added.":
        lambda p, w: p * (1 + w * (p.log() - _entropy(p))),
    "the bracket has the wrong sign: a class above its share must gain, not lose.":
        lambda p, w: p * (1 - w * (_entropy(p) + p.log())),
    "the entropy runs along the wrong axis, over the rows. Each row has its own: dim=1.":
        lambda p, w: p * (1 + w * (p.log() - torch.xlogy(p, p).sum(dim=0))),
    "you took one entropy for the whole table. Each row has its own: sum(dim=1, keepdim=True).":
        lambda p, w: p * (1 + w * (_entropy(p).mean() + p.log())),
    "you summed the entropy over all rows. Each row has its own: sum(dim=1, keepdim=True).":
        lambda p, w: p * (1 + w * (_entropy(p).sum() + p.log())),
    "you took the logarithm to base 2: use the natural one, log.":
        lambda p, w: p * (1 + w * (_entropy(p) + p.log()) / math.log(2)),
    "the factor p is missing in front of the bracket.": lambda p, w: 1 + w * (_entropy(p) + p.log()),
    "the weight is missing.": lambda p, w: p * (1 + _entropy(p) + p.log()),
    "the weight is missing before log p.": lambda p, w: p * (1 + w * _entropy(p) + p.log()),
    "the weight is missing before the entropy.": lambda p, w: p * (1 + _entropy(p) + w * p.log()),
    "these rows sum to 0: the part p is missing.": lambda p, w: w * p * (_entropy(p) + p.log()),
    "you divided by the bracket. Multiply: q_k = p_k (c + weight log p_k).":
        lambda p, w: p / (1 + w * (_entropy(p) + p.log())),
    "this is the number c alone. Solve q_k / p_k - weight log p_k = c for q_k.":
        lambda p, w: 1 + w * _entropy(p)})
def penalty_posterior(p, weight):
    """The rows q (n, K) that rows p (n, K), optimal under the confidence penalty, stand for."""
    return theory.penalty_posterior(p, weight)

def _judged(n: int, seed: int, sharp: float = 1.0) -> tuple[Tensor, Tensor]:
    """Distinct confidences, and hits that are likelier where the confidence is higher."""
    generator = torch.Generator().manual_seed(seed)
    confidence = torch.rand(n, generator=generator, dtype=torch.float64)
    correct = torch.rand(n, generator=generator, dtype=torch.float64) < confidence**sharp
    return confidence, correct

KEPT = {
    "40 predictions, half of them kept": (*_judged(40, 0), 0.5),
    "50 predictions, four fifths kept": (*_judged(50, 1), 0.8),
    "30 predictions, a tenth kept": (*_judged(30, 2, 3.0), 0.1),
    "20 predictions, all kept": (*_judged(20, 3), 1.0),
    "10 predictions, 0.7 kept (7 of them, though 0.7 * 10 may round below 7)": (*_judged(10, 4, 0.5), 0.7),
    "100 predictions, 0.29 kept (29, though 0.29 * 100 is 28.999999999999996)": (*_judged(100, 7, 3.0), 0.29),
    "100 predictions, 0.07 kept (7, though 0.07 * 100 is 7.000000000000001)": (*_judged(100, 8, 3.0), 0.07),
    "one of 20 kept": (*_judged(20, 7), 0.05),
    "confidences close to 1 that differ by 1e-9": (1 - 1e-9 * torch.tensor([3, 1, 6, 2, 5, 4],
            dtype=torch.float64), torch.tensor([False, True, False, True, False, True]), 0.5),
    "the confident ones are all wrong": (torch.tensor([0.9, 0.8, 0.2, 0.1], dtype=torch.float64),
            torch.tensor([False, False, True, True]), 0.5),
}

def _order(confidence: Tensor) -> Tensor:
    return confidence.argsort(descending=True)

def _count(confidence: Tensor, coverage: float) -> int:
    return round(coverage * len(confidence))

def _wrong(correct: Tensor) -> Tensor:
    return 1 - correct.double()

def _misses(confidence, correct, coverage) -> Tensor:
    return _wrong(correct)[_order(confidence)][: _count(confidence, coverage)]

@exercise(cases=KEPT, mistakes={
    "this is the accuracy of what is kept. Asked is its error rate.":
        lambda c, a, share: 1 - _misses(c, a, share).mean(),
    "you kept the *least* confident predictions: sort in descending order.":
        lambda c, a, share: _wrong(a)[c.argsort()][: _count(c, share)].mean(),
    "you took the coverage for a threshold of the confidence. It is a share of the predictions: count how "
    "many are kept.": lambda c, a, share: _wrong(a)[c >= share].mean(),
    "you divided by all predictions. Divide by the number that is kept.":
        lambda c, a, share: _misses(c, a, share).sum() / len(a),
    "this is the number of errors. Divide it by the number that is kept.":
        lambda c, a, share: _misses(c, a, share).sum(),
    "this is the error rate of the predictions that are handed on.":
        lambda c, a, share: _wrong(a)[_order(c)][_count(c, share) :].mean(),
    "this is the error rate of all predictions: keep the most confident ones only.":
        lambda c, a, share: _wrong(a).mean(),
    "you kept the first predictions of the table. Sort both by confidence.":
        lambda c, a, share: _wrong(a)[: _count(c, share)].mean(),
    "you kept the share 1 - coverage. Coverage is the share that is kept.":
        lambda c, a, share: _misses(c, a, 1 - share).mean(),
    "this is the error rate that the confidences state. Asked is the measured one: use correct.":
        lambda c, a, share: 1 - c[_order(c)][: _count(c, share)].mean(),
    "you kept one prediction too many.":
        lambda c, a, share: _wrong(a)[_order(c)][: _count(c, share) + 1].mean(),
    "you cut coverage * n off: 0.29 * 100 is 28.999999999999996. Round it.":
        lambda c, a, share: _wrong(a)[_order(c)][: int(share * len(c))].mean(),
    "you rounded coverage * n up: 0.07 * 100 is 7.000000000000001. Round it.":
        lambda c, a, share: _wrong(a)[_order(c)][: math.ceil(share * len(c))].mean()})
def selective_risk(confidence, correct, coverage):
    """Error rate among the share `coverage` of the predictions that are the most confident.

    `confidence` (n,), all different; `correct` (n,) booleans; coverage * n is a whole number.
    """
    # a table whose probabilities rank like the confidences, of which the first class is predicted
    ranks = confidence.argsort().argsort().double()
    first = 0.6 + 0.3 * ranks / len(ranks)
    _, risk = metrics.risk_coverage(torch.stack([first, 1 - first], 1), (~correct).long())
    return risk[_count(confidence, coverage) - 1]

def _scores(rows: int, classes: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(rows)
    logits = 2 * torch.randn(rows, classes, generator=generator, dtype=torch.float64)
    return logits, torch.randint(classes, (rows,), generator=generator)

def _rows(logits: Tensor, labels: Tensor, kept: float, others: float) -> Tensor:
    """The cross-entropy of each row: `kept` of the label, `others` of every class."""
    log_p = logits.log_softmax(dim=1)
    return -(kept * log_p.gather(1, labels[:, None])[:, 0] + others * log_p.sum(dim=1))

@exercise(cases={
    "6 rows of 4 classes, alpha 0.1": (*_scores(6, 4), 0.1),
    "5 rows of 3 classes, alpha 0.3": (*_scores(5, 3), 0.3),
    "40 rows of 10 classes, alpha 0.05": (*_scores(40, 10), 0.05),
    "one row only": (*_scores(1, 5), 0.2),
    "alpha 0": (*_scores(7, 3), 0.0),
    "alpha 1": (*_scores(8, 3), 1.0),
    "large logits": (100 * _scores(9, 4)[0], _scores(9, 4)[1], 0.1)}, mistakes={
    "this is the cross-entropy of the hard labels: nothing is smoothed.":
        lambda z, y, a: _rows(z, y, 1, 0).mean(),
    "you gave alpha / (K - 1) to each *other* class. Here all K classes get alpha / K, the label too.":
        lambda z, y, a: _rows(z, y, 1 - a - a / (z.shape[1] - 1), a / (z.shape[1] - 1)).mean(),
    "the label gets its share alpha / K, too: in all 1 - alpha + alpha / K.":
        lambda z, y, a: _rows(z, y, 1 - a - a / z.shape[1], a / z.shape[1]).mean(),
    "each class gets alpha / K: you gave alpha to each.": lambda z, y, a: _rows(z, y, 1 - a, a).mean(),
    "the label keeps 1 - alpha, and you let it keep everything.":
        lambda z, y, a: _rows(z, y, 1, a / z.shape[1]).mean(),
    "the classes' shares alpha / K are missing: the target of a row sums to 1.":
        lambda z, y, a: _rows(z, y, 1 - a, 0).mean(),
    "the logarithm is missing: the cross-entropy has log_softmax, not softmax.":
        lambda z, y, a: -((1 - a) * z.softmax(1).gather(1, y[:, None])[:, 0] + a / z.shape[1]).mean(),
    "the softmax runs along the wrong axis, over the rows. Each row has its own: dim=1.":
        lambda z, y, a: -((1 - a) * z.log_softmax(0).gather(1, y[:, None])[:, 0]
            + a / z.shape[1] * z.log_softmax(0).sum(1)).mean(),
    "this is the sum over the rows: take the mean.": lambda z, y, a: _rows(z, y, 1 - a, a / z.shape[1]).sum(),
    "the sign is reversed: the loss is *minus* the logarithm.":
        lambda z, y, a: -_rows(z, y, 1 - a, a / z.shape[1]).mean(),
    "alpha and 1 - alpha are exchanged: the label keeps 1 - alpha.":
        lambda z, y, a: _rows(z, y, a, (1 - a) / z.shape[1]).mean()})
def smoothed_loss(logits, labels, alpha):
    """The mean cross-entropy against labels of which a part alpha is spread over all classes."""
    return _rows(logits, labels, 1 - alpha, alpha / logits.shape[1]).mean()
