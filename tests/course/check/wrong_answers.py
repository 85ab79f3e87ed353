"""Wrong answers as students write them, each with a word that its reply must hold.

None stands where catching the mistake is enough: it has no name that a student would need.
"""

import math
import random

import numpy as np
import torch
import torch.nn.functional as F
from scipy.special import lambertw
from torch.nn.functional import one_hot

from calibkit import metrics, theory
from calibkit.recalibration import TemperatureScaler


def conf(p):
    return p.amax(dim=1).double()


def hit(p, y):
    return (p.argmax(dim=1) == y).double()


def overwritten(probs, labels):
    right = (probs.argmax(1) == labels).double().mean()
    probs[probs < probs.amax(1, keepdim=True)] = 0
    return probs.double().sum() / len(labels) - right


def returns_early(probs, labels):
    for row, label in zip(probs, labels, strict=True):
        return float(row.max()) - float(row.argmax() == label)


def gap_in_place(probs, labels):
    labels -= probs.argmax(1)
    return conf(probs).mean() - (labels == 0).double().mean()


SIGNED_GAP = [
    (overwritten, "changes its argument `probs`"),
    (gap_in_place, "changes its argument `labels`"),
    (returns_early, None),
    (lambda p, y: conf(p).sum() - hit(p, y).sum(), "grows with the number of samples"),
    (lambda p, y: conf(p) - hit(p, y), "one number was expected"),
    (lambda p, y: (conf(p) - hit(p, y)).abs().mean(), "absolute"),
    (lambda p, y: metrics.ece(p, y), None),
    (lambda p, y: conf(p).mean(), "accuracy"),
    (lambda p, y: hit(p, y).mean(), None),
    (lambda p, y: conf(p).mean() + hit(p, y).mean(), None),
    (lambda p, y: 1 - conf(p).mean() - hit(p, y).mean(), None),
    (lambda p, y: hit(p, y).mean() / conf(p).mean(), None),
    (lambda p, y: p.amax(0).double().mean() - hit(p, y).mean(), "axis"),
    (lambda p, y: p.softmax(1).amax(1).double().mean() - hit(p, y).mean(), "softmax"),
    (lambda p, y: conf(p).median() - hit(p, y).mean(), None),
    (lambda p, y: round(float(conf(p).mean() - hit(p, y).mean()), 2), "2 decimals"),
    (lambda p, y: round(float(conf(p).mean() - hit(p, y).mean()), 4), "4 decimals"),
    (lambda p, y: f"{conf(p).mean() - hit(p, y).mean():.4f}", "text"),
    (lambda p, y: (conf(p).mean(), hit(p, y).mean()), "one number was expected"),
    (lambda p, y: print(conf(p).mean() - hit(p, y).mean()), "return"),
    (
        lambda p, y: conf(p).mean() - (p.gather(1, y[:, None])[:, 0] == p.amax(1)).double().mean(),
        None,
    ),
    (lambda p, y: conf(p).mean() - hit(p, y - 1).mean(), None),
    (lambda p, y: p.amin(1).double().mean() - hit(p, y).mean(), None),
    (lambda p, y: conf(p).mean() - (p.argmax(1) == y).mean(), "floats"),
    (lambda p, y: conf(p).mean() - (p.argmax(0) == y).double().mean(), None),
    (lambda p, y: conf(p).mean() - (y == 0).double().mean(), None),
    (lambda p, y: conf(p[1:]).mean() - hit(p[1:], y[1:]).mean(), "first sample"),
    (lambda p, y: (conf(p) - hit(p, y)).sum() / (len(y) - 1), "n - 1"),
    (lambda p, y: max(0.0, float(conf(p).mean() - hit(p, y).mean())), "became 0"),
    (lambda p, y: random.random(), "same result twice"),
    (lambda p: conf(p).mean(), "takes (p)"),
    (lambda p, y, bins: conf(p).mean(), "takes (p, y, bins)"),
    (lambda labels, probs: conf(probs).mean() - hit(probs, labels).mean(), "exchanged"),
]


def left_loop(c, bins):
    out = []
    for v in c.tolist():
        for m in range(bins):
            if m / bins <= v < (m + 1) / bins:
                out.append(m)
                break
        else:
            out.append(bins - 1)
    return out


def none_at_zero(c, bins):
    return [
        next((m for m in range(bins) if m / bins < v <= (m + 1) / bins), -1) for v in c.tolist()
    ]


def inner(bins):
    return torch.arange(1, bins, dtype=torch.float64) / bins


def right_bin(c, bins):
    return torch.bucketize(c.double(), inner(bins))


BIN_INDEX = [
    (left_loop, "closed on the left"),
    (none_at_zero, "bin -1"),
    (lambda c, bins: np.digitize(c.double().numpy(), inner(bins).numpy()), "closed on the left"),
    (lambda c, bins: np.floor(c.double().numpy() * bins).clip(0, bins - 1), "closed on the left"),
    (lambda c, bins: torch.bucketize(c.float(), (torch.arange(1, bins) / bins)), "float32"),
    (lambda c, bins: right_bin(c, 10), "ignored"),
    (lambda c, bins: right_bin(c, 15), "ignored"),
    (lambda c, bins: right_bin(c, bins + 1), "bins + 1"),
    (lambda c, bins: right_bin(c, bins - 1), "bins - 1"),
    (lambda c, bins: torch.bincount(right_bin(c, bins), minlength=bins), "shape"),
    (lambda c, bins: right_bin(c, bins)[:, None], "length 1 is left over"),
    (lambda c, bins: right_bin(c, bins) / bins, None),
    (lambda c, bins: bins - 1 - right_bin(c, bins), "counted from the top"),
    (lambda c, bins: right_bin(c, bins).float().mean(), "mean"),
    (lambda c, bins: right_bin(c, bins)[c > 0], "shape"),
    (lambda c, bins: (c.double() * (bins - 1)).round(), None),
    (lambda c, bins: (c.double() * bins).long() - 1, None),
    (lambda c, bins: (c.double() * bins + 0.5).long().clamp(max=bins - 1), None),
    (lambda c, bins: right_bin(c.sort().values, bins), None),
    (lambda c, bins: right_bin(c.float().double() + 1e-6, bins), None),
    (lambda c, bins: int(c * bins), "whole tensor"),
    (lambda c, bins: [m for m in range(bins) if c > m / bins], "whole tensor"),
    (lambda c, bins: torch.bucketize(c, inner(bins)).tolist()[0], "shape"),
    (lambda c, bins: (right_bin(v, bins) for v in c), "generator"),
    (lambda c, bins: (c > 0.5).long(), "ignored"),
    (lambda c, bins: torch.bucketize(c.double(), torch.linspace(0, 1, bins).double()), None),
]


def pieces(p, y, bins):
    which = right_bin(p.amax(1), bins)
    n = torch.bincount(which, minlength=bins).double()
    c = torch.bincount(which, weights=conf(p), minlength=bins)
    h = torch.bincount(which, weights=hit(p, y), minlength=bins)
    return n, c, h


def ece_nan(p, y, bins):
    n, c, h = pieces(p, y, bins)
    return (n / len(y) * (c / n - h / n).abs()).sum()


def ece_with(p, y, bins, confidence, correct):
    gaps = torch.bincount(right_bin(confidence, bins), weights=confidence - correct, minlength=bins)
    return gaps.abs().sum() / len(y)


def equal_mass(p, y, bins):
    order = conf(p).argsort()
    gap = (conf(p) - hit(p, y))[order]
    return sum(part.sum().abs() for part in gap.chunk(bins)) / len(y)


def ece_midpoint(p, y, bins):
    n, _, h = pieces(p, y, bins)
    middle = (torch.arange(bins) + 0.5) / bins
    return ((n * middle - h).abs() / len(y)).sum()


def skips_last_bin(p, y, bins):
    _n, c, h = pieces(p, y, bins)
    return ((c - h).abs()[:-1]).sum() / len(y)


def skips_first_bin(p, y, bins):
    _n, c, h = pieces(p, y, bins)
    return ((c - h).abs()[1:]).sum() / len(y)


def skips_singles(p, y, bins):
    n, c, h = pieces(p, y, bins)
    return ((c - h).abs()[n > 1]).sum() / len(y)


def ece_from_binary(p, y, bins):
    return ece_with(p, y, bins, p[:, 1].double(), (y == 1).double())


def forgets_last_sample(p, y, bins):
    return metrics.ece(p[:-1], y[:-1], bins=bins) if len(y) > 1 else 0.0


def neighbours_merged(p, y, bins):
    _n, c, h = pieces(p, y, bins)
    gaps = c - h
    return sum(gaps[i : i + 2].sum().abs() for i in range(0, bins, 2)) / len(y)


def endless(p, y, bins):
    while True:
        pass


ECE = [
    (ece_nan, "NaN"),
    (equal_mass, "same number of samples"),
    (ece_midpoint, "middle of the bin"),
    (skips_last_bin, None),
    (skips_first_bin, None),
    (skips_singles, None),
    (forgets_last_sample, None),
    (neighbours_merged, None),
    (ece_from_binary, None),
    (lambda p, y, b: metrics.ece(p.softmax(1), y, bins=b), "softmax"),
    (lambda p, y, b: metrics.ece(p, y, bins=b + 1), "bins + 1"),
    (lambda p, y, b: metrics.ece(p, y, bins=max(b - 1, 1)), "bins - 1"),
    (lambda p, y, b: metrics.ece(p, y, bins=20), "took 20"),
    (lambda p, y, b: metrics.ece(p, y), "took 15"),
    (lambda p, y, b: metrics.ece(p, y, bins=b) ** 2, "squared"),
    (lambda p, y, b: metrics.ece(p, y, bins=b) ** 0.5, "square root"),
    (lambda p, y, b: 1 - metrics.ece(p, y, bins=b), "1 minus"),
    (lambda p, y, b: -metrics.ece(p, y, bins=b), "sign"),
    (lambda p, y, b: round(metrics.ece(p, y, bins=b), 3), "3 decimals"),
    (lambda p, y, b: metrics.classwise_ece(p, y, bins=b), None),
    (lambda p, y, b: metrics.ada_ece(p, y, bins=b), None),
    (lambda p, y, b: metrics.overconfidence_error(p, y, bins=b), None),
    (lambda p, y, b: metrics.brier(p, y), None),
    (lambda p, y, b: ece_with(p, y, b, conf(p), (p.argmax(1) != y).double()), "wrong ones"),
    (
        lambda p, y, b: ece_with(p, y, b, p.gather(1, y[:, None])[:, 0].double(), hit(p, y)),
        "true class",
    ),
    (lambda p, y, b: ece_with(p, y, b, conf(p), p.argmax(1).double()), None),
    (lambda p, y, b: ece_with(p, y, b, p.mean(1).double(), hit(p, y)), None),
    (lambda p, y, b: ece_with(p, y, b, conf(p), (p.amin(1) == y).double()), None),
    (lambda p, y, b: (conf(p) - hit(p, y)).abs().mean(), "bins"),
    (lambda p, y, b: (pieces(p, y, b)[1] - pieces(p, y, b)[2]).abs() / len(y), "one number"),
    (
        lambda p, y, b: (pieces(p, y, b)[1] - pieces(p, y, b)[2]).abs().mean() / len(y),
        "factor `bins`",
    ),
    (lambda p, y, b: (pieces(p, y, b)[1] - pieces(p, y, b)[2]).abs().sum(), "divide by n"),
    (lambda p, y, b: abs((pieces(p, y, b)[1] - pieces(p, y, b)[2]).sum()) / len(y), "all samples"),
    (endless, "stopped"),
    (lambda p, y, b: np.histogram(p, b), None),
    (lambda p, y, b: metrics.ece, "function"),
    (lambda p, y, b: metrics.ece(p, y, bins=b) * 0.9, None),
    (lambda p, y, b: metrics.ece(p, y, bins=b) + 1e-3, "close but not"),
    (lambda p, y, b: metrics.ece(p.sort(1).values, y, bins=b), None),
]


def sq(p, y):
    return (p.double() - one_hot(y, p.shape[1])) ** 2


BRIER = [
    (lambda p, y: sq(p, y).sum(1), "one number was expected"),
    (lambda p, y: sq(p, y).mean(0), None),
    (lambda p, y: sq(p, y).sum(0).mean(), None),
    (lambda p, y: sq(p, y).mean(1).sum(), None),
    (lambda p, y: -sq(p, y).sum(1).mean(), "sign"),
    (lambda p, y: 1 - sq(p, y).sum(1).mean(), "1 minus"),
    (lambda p, y: 100 * sq(p, y).sum(1).mean(), "per cent"),
    (lambda p, y: sq(p, y).sum(1).mean().sqrt(), "square root"),
    (lambda p, y: (p.double() - one_hot(y, p.shape[1])).abs().sum(1).mean(), "absolute"),
    (lambda p, y: (p.double() - one_hot(y, p.shape[1])).sum(1).mean(), None),
    (lambda p, y: ((p.double() - one_hot(y, p.shape[1])).sum(1) ** 2).mean(), None),
    (lambda p, y: ((p - y[:, None]) ** 2).sum(1).double().mean(), "one-hot"),
    (lambda p, y: sq(p.softmax(1), y).sum(1).mean(), "softmax"),
    (lambda p, y: sq(p, p.argmax(1)).sum(1).mean(), "predicted class"),
    (lambda p, y: sq(one_hot(p.argmax(1), p.shape[1]), y).sum(1).mean(), "argmax"),
    (lambda p, y: metrics.nll(p, y), None),
    (lambda p, y: metrics.brier(p, y) / p.shape[1], "classes"),
    (lambda p, y: sq(p, y).mean(), "number of classes"),
    (lambda p, y: sq(p, y).sum(1).median(), None),
    (lambda p, y: sq(p, y).amax(1).mean(), None),
    (lambda p, y: sq(p[:-1], y[:-1]).sum(1).sum() / len(y), None),
    (lambda p, y: sq(p, y)[:, :-1].sum(1).mean(), None),
    (lambda p, y: sq(p, (y + 1) % p.shape[1]).sum(1).mean(), None),
    (lambda p, y: sq(p, y).sum(1).sum() / (len(y) - 1), "n - 1"),
    (lambda p, y: ((p - one_hot(y)) ** 2).sum(1).mean(), "probs.shape"),
    (lambda p, y: ((p - one_hot(y, 10)) ** 2).sum(1).mean(), None),
    (
        lambda p, y: p.sub_(one_hot(y, p.shape[1])).square().double().sum(1).mean(),
        "changes its arg",
    ),
    (lambda p, y: round(float(sq(p, y).sum(1).mean()), 2), "2 decimals"),
    (lambda p, y: {"brier": sq(p, y).sum(1).mean()}, "dict"),
    (lambda p, y: ((p**2).sum(1) - 2 * p.gather(1, y[:, None])[:, 0]).mean().double(), None),
]


def columns(p, y, bins):
    return [ece_with(p, y, bins, p[:, k].double(), (y == k).double()) for k in range(p.shape[1])]


def classwise_sums(p, y, bins):
    errors = []
    for k in range(p.shape[1]):
        found = metrics.reliability_of(p[:, k], y == k, bins=bins)
        errors.append((found.gap.abs() * found.counts).sum() / len(y))
    return sum(errors) / len(errors)


def unweighted(p, y, bins):
    found = [metrics.reliability_of(p[:, k], y == k, bins=bins) for k in range(p.shape[1])]
    return np.mean([float(one.gap.abs().nanmean()) for one in found])


def signed_columns(p, y, bins):
    found = [metrics.reliability_of(p[:, k], y == k, bins=bins) for k in range(p.shape[1])]
    return np.mean([float((one.gap * one.counts).nansum()) / len(y) for one in found])


def drops_zeros(p, y, bins):
    total = 0.0
    for k in range(p.shape[1]):
        column, truth = p[:, k].double(), (y == k).double()
        for m in range(bins):
            inside = (column > m / bins) & (column <= (m + 1) / bins)
            if inside.any():
                total += float((column - truth)[inside].sum().abs()) / len(y)
    return total / p.shape[1]


def per_true_class(p, y, bins):
    return np.mean(
        [metrics.ece(p[y == k], y[y == k], bins=bins) for k in range(p.shape[1]) if (y == k).any()]
    )


CLASSWISE_ECE = [
    (classwise_sums, "NaN"),
    (unweighted, "Weigh"),
    (signed_columns, "absolute"),
    (drops_zeros, "exactly 0"),
    (per_true_class, None),
    (lambda p, y, b: columns(p, y, b), "one number was expected"),
    (lambda p, y, b: 100 * metrics.classwise_ece(p, y, bins=b), "per cent"),
    (lambda p, y, b: metrics.classwise_ece(p, y, bins=15), "took 15"),
    (lambda p, y, b: metrics.classwise_ece(p, y, bins=10), "took 10"),
    (lambda p, y, b: metrics.classwise_ece(p.softmax(1), y, bins=b), "softmax"),
    (lambda p, y, b: -metrics.classwise_ece(p, y, bins=b), "sign"),
    (lambda p, y, b: metrics.classwise_ece(p, y, bins=b) * len(y), "number of samples"),
    (lambda p, y, b: float(sum(columns(p, y, b)[:-1])) / p.shape[1], None),
    (lambda p, y, b: float(sum(columns(p, y, b)[1:])) / p.shape[1], None),
    (lambda p, y, b: float(sum(columns(p, y, b))) / len(set(y.tolist())), "labels"),
    (
        lambda p, y, b: np.mean([float(columns(p, y, b)[k]) for k in sorted(set(y.tolist()))]),
        "labels",
    ),
    (lambda p, y, b: np.median([float(c) for c in columns(p, y, b)]), None),
    (lambda p, y, b: min(columns(p, y, b)), None),
    (
        lambda p, y, b: sum(
            c * float((y == k).double().mean()) for k, c in enumerate(columns(p, y, b))
        ),
        None,
    ),
    (lambda p, y, b: metrics.classwise_ece(p, y, bins=b) ** 0.5, "square root"),
    (
        lambda p, y, b: np.mean(
            [
                metrics.reliability_of(p[:, k], y == k, bins=b).gap.abs().sum()
                for k in range(p.shape[1])
            ]
        ),
        "NaN",
    ),
    (
        lambda p, y, b: np.mean(
            [float(ece_with(p, y, b, p[:, k].double(), hit(p, y))) for k in range(p.shape[1])]
        ),
        None,
    ),
    (lambda p, y, b: columns(p, y, b)[0], None),
    (lambda p, y, b: float(sum(columns(p, y, b))) / b, None),
    (lambda p, y, b: metrics.classwise_ece(p, y, bins=b) / p.shape[1], "divided by the number of"),
]


def loss(p, y):
    return -p.double().gather(1, y[:, None])[:, 0].log()


def split(each, right):
    return each[right].sum(), each[~right].sum()


def pair(p, y):
    first, second = split(loss(p, y), p.argmax(1) == y)
    return first / len(y), second / len(y)


def share_means(p, y):
    right = p.argmax(1) == y
    return loss(p, y)[right].mean() * right.double().mean(), loss(p, y)[~right].mean() * (
        ~right
    ).double().mean()


NLL_PARTS = [
    (share_means, "NaN"),
    (lambda p, y: sum(pair(p, y)), "sum"),
    (lambda p, y: pair(p, y)[0], "shape"),
    (lambda p, y: loss(p, y).mean(), "shape"),
    (lambda p, y: (loss(p, y) * hit(p, y), loss(p, y) * (1 - hit(p, y))), "shape"),
    (lambda p, y: [x / math.log(2) for x in pair(p, y)], "base 2"),
    (lambda p, y: [x / float(sum(pair(p, y))) for x in pair(p, y)], None),
    (lambda p, y: [100 * x for x in pair(p, y)], "per cent"),
    (lambda p, y: pair(p.softmax(1), y), "softmax"),
    (lambda p, y: [-x for x in reversed(pair(p, y))], None),
    (lambda p, y: [2 * x for x in pair(p, y)], "twice"),
    (lambda p, y: (pair(p, y)[0], loss(p, y).mean()), None),
    (lambda p, y: (pair(p, y)[0], pair(p, y)[0]), None),
    (lambda p, y: (hit(p, y).mean(), 1 - hit(p, y).mean()), None),
    (
        lambda p, y: [
            float(x)
            for x in split((1 - p.gather(1, y[:, None])[:, 0]).double() / len(y), p.argmax(1) == y)
        ],
        None,
    ),
    (lambda p, y: split(loss(p, y) / p.shape[1], p.argmax(1) == y), None),
    (lambda p, y: split(loss(p, y) / len(y), p.amax(1) > 0.5), None),
    (
        lambda p, y: split(
            -(p.double().gather(1, y[:, None])[:, 0] + 1e-2).log() / len(y), p.argmax(1) == y
        ),
        "epsilon of 0.01",
    ),
    (
        lambda p, y: split(
            -p.double().gather(1, y[:, None])[:, 0].clamp(min=0.1).log() / len(y), p.argmax(1) == y
        ),
        "0.1",
    ),
    (
        lambda p, y: split(
            F.cross_entropy(p.double(), y, reduction="none") / len(y), p.argmax(1) == y
        ),
        "softmax",
    ),
    (
        lambda p, y: split(F.nll_loss(p.double(), y, reduction="none") / len(y), p.argmax(1) == y),
        "logarithm",
    ),
    (lambda p, y: [round(float(x), 2) for x in pair(p, y)], "2 decimals"),
    (lambda p, y: [float(x) / (len(y) - 1) * len(y) for x in pair(p, y)], "n - 1"),
    (lambda p, y: {"right": pair(p, y)[0], "wrong": pair(p, y)[1]}, "dict"),
    (lambda p, y: [pair(p, y)], "shape"),
]


def ce(z, y):
    return F.cross_entropy(z.double(), y)


def stopping(better=lambda new, least: new < least, stop=lambda waited, k: waited == k, start=0):
    """A rule with one of its parts exchanged."""

    def rule(losses, patience):
        values = losses.tolist()
        kept = start
        for epoch in range(start, len(values)):
            if better(values[epoch], values[kept]):
                kept = epoch
            if stop(epoch - kept, patience):
                break
        return kept, epoch

    return rule


def stop_in_place(losses, patience):
    losses[losses > losses[0]] = losses[0]
    return stopping()(losses, patience)


def stop_returns_value(losses, patience):
    kept, last = stopping()(losses, patience)
    return float(losses[kept]), last


def stop_at_any_rise(losses, patience):
    for epoch in range(1, len(losses)):
        if losses[epoch] >= losses[epoch - 1]:
            return epoch - 1, epoch
    return len(losses) - 1, len(losses) - 1


def stop_keeps_before(losses, patience):
    _, last = stopping()(losses, patience)
    return last - patience, last


def stop_never_resets(losses, patience):
    kept, waited = 0, 0
    for epoch in range(len(losses)):
        if losses[epoch] < losses[kept]:
            kept = epoch
        elif epoch:
            waited += 1
        if waited == patience:
            break
    return kept, epoch


def stop_forgets_the_end(losses, patience):
    kept = 0
    for epoch, loss in enumerate(losses):
        if loss < losses[kept]:
            kept = epoch
        if epoch - kept == patience:
            return kept, epoch


EARLY_STOP = [
    (lambda v, k: (int(v.argmin()), len(v) - 1), "nobody knows the later ones"),
    (lambda v, k: (int(v.argmin()), stopping()(v, k)[1]), "whole curve"),
    (stopping(stop=lambda waited, k: waited > k), "one epoch too long"),
    (stopping(stop=lambda waited, k: waited == k + 1), "one epoch too long"),
    (stopping(stop=lambda waited, k: waited >= max(1, k - 1)), "one epoch too early"),
    (stopping(stop=lambda waited, k: False), None),
    (stopping(stop=lambda waited, k: waited == 1), None),
    (stopping(stop=lambda waited, k: waited == 3), None),
    (stopping(better=lambda new, least: new <= least), "<="),
    (stopping(better=lambda new, least: new > least), "smaller"),
    (stopping(better=lambda new, least: new < least - 0.1), None),
    (stopping(better=lambda new, least: new < least + 0.1), None),
    (stopping(better=lambda new, least: False), None),
    (lambda v, k: stopping()(v, k)[::-1], "order is not"),
    (lambda v, k: stopping()(v, k)[0], "Return the last one too"),
    (lambda v, k: stopping()(v, k)[1], None),
    (lambda v, k: [stopping()(v, k)[1]] * 2, "keep the last epoch"),
    (lambda v, k: [stopping()(v, k)[0]] * 2, None),
    (lambda v, k: [n + 1 for n in stopping()(v, k)], "from 0"),
    (stop_in_place, "changes its argument `losses`"),
    (stop_returns_value, None),
    (stop_at_any_rise, None),
    (stop_keeps_before, None),
    (stop_never_resets, "in a row"),
    (stop_forgets_the_end, "nothing"),
    (lambda patience, losses: stopping()(losses, patience), None),
    (lambda v, k: int(v.argmin()), None),
]


def apart(p, y):
    return conf(p) - (p.argmax(1) == y).double()


def ends(values, half):
    return values.mean() - half, values.mean(), values.mean() + half


def standard_error(values):
    return values.std() / len(values) ** 0.5


GAP_INTERVAL = [
    (lambda p, y: apart(p, y).mean(), "shape"),
    (lambda p, y: apart(p, y), "shape"),
    (lambda p, y: ends(apart(p, y), 1.96 * standard_error(apart(p, y)))[::2], "shape"),
    (lambda p, y: ends(apart(p, y), 1.96 * standard_error(apart(p, y)))[1:], "shape"),
    (lambda p, y: ends(apart(p, y), 2 * standard_error(apart(p, y))), None),
    (lambda p, y: ends(apart(p, y), 1.645 * standard_error(apart(p, y))), None),
    (lambda p, y: ends(100 * apart(p, y), 196 * standard_error(apart(p, y))), "per cent"),
    (lambda p, y: ends(apart(p, y), 1.96 * apart(p, y).std() / (len(y) - 1) ** 0.5), None),
    (lambda p, y: ends(apart(p, y) ** 2, 1.96 * standard_error(apart(p, y) ** 2)), None),
    (lambda p, y: ends(apart(p.softmax(1), y), 1.96 * standard_error(apart(p, y))), None),
    (lambda p, y: ends(conf(p), 1.96 * standard_error(conf(p))), None),
    (lambda p, y: ends(conf(p) - 1, 1.96 * standard_error(apart(p, y))), None),
    (lambda p, y: ends((p.argmax(1) == y).double(), 1.96 * standard_error(apart(p, y))), None),
    (lambda p, y: ends(apart(p, y), 1.96 * apart(p, y).abs().mean() / len(y) ** 0.5), None),
    (lambda p, y: ends(apart(p, y).clamp(min=0), 1.96 * standard_error(apart(p, y))), None),
    (lambda p, y: ends(p.double() - 1 / p.shape[1], 1.96 * standard_error(apart(p, y))), None),
    (lambda p, y: ends(apart(p, y), 1.96 * apart(p, y).std() / p.numel() ** 0.5), None),
    (lambda p, y: ends(apart(p, y), 1.96 * apart(p, y).std() / p.shape[1] ** 0.5), None),
    (lambda p, y: ends(apart(p, y), 1.96 / len(y) ** 0.5), None),
    (lambda p, y: [apart(p, y).mean()] * 3, None),
    (
        lambda p, y: [round(float(x), 2) for x in ends(apart(p, y), standard_error(apart(p, y)))],
        None,
    ),
]

NOISE_MATRIX = [
    (lambda p: torch.outer(p, p), None),
    (lambda p: torch.diag(1 - p), "drawn labels are missing"),
    (lambda p: torch.diag(p) + torch.outer(1 - p, p / p.sum()), None),
    (lambda p: torch.diag(1 - p) + (p / p.sum())[:, None] * p[None, :] / p.sum(), None),
    (lambda p: torch.diag(1 - p) + p[None, :] / len(p), None),
    (lambda p: (1 - p) * torch.eye(len(p)) + p[:, None] / (len(p) - 1), None),
    (lambda p: torch.diag(1 - p) + p[:, None] * p / p.mean(), None),
    (lambda p: torch.diag(1 - p) + p[:, None] * (1 - p) / (1 - p).sum(), None),
    (lambda p: torch.diag(1 - p) + p[:, None] * p.softmax(0), None),
    (lambda p: torch.diag(1 - p) + p * p / p.sum(), None),
    (lambda p: 1 - p + p[:, None] * p / p.sum(), None),
    (lambda p: torch.eye(len(p)) + p[:, None] * p / p.sum(), None),
    (lambda p: torch.diag(1 - p) - p[:, None] * p / p.sum(), None),
    (lambda p: p[:, None] * p / p.sum(), "left alone"),
    (lambda p: torch.diag(1 - p) + p[:, None] * p / p.norm(), None),
    (lambda p: torch.diag(1 - p) + p[:, None] * p / (p**2).sum(), None),
    (lambda p: torch.diag(1 - p + p * p / p.sum()), None),
    (lambda p: 1 - p + p * p / p.sum(), "shape"),
    (lambda p: 100 * (torch.diag(1 - p) + p[:, None] * p / p.sum()), "per cent"),
    (lambda p: torch.diag(1 - p) + p[:, None] * (p / p.sum()).flip(0), None),
    (lambda p: torch.diag((1 - p) * p.sum()) + p[:, None] * p, None),
    (lambda p: F.normalize(torch.diag(1 - p) + p[:, None] * p, p=1, dim=1), None),
    (lambda p: (torch.diag(1 - p) + p[:, None] * p / p.sum()).round(decimals=2), "2 decimals"),
    (lambda p: torch.diag(1 - p.div_(1)) + p[:, None] * p.div_(p.sum()), "changes its argument"),
    (lambda p: torch.diag(1 - p) + p.mean() * (p / p.sum()), None),
]


def at(p, y):
    return p.gather(1, y[:, None])[:, 0]


NOISY_NLL = [
    (lambda p, t, y: -at(p @ t, y).log(), "one number was expected"),
    (lambda p, t, y: -at(p @ t, y).mean().log(), None),
    (lambda p, t, y: -at(p @ t, y).log10().mean(), "base 10"),
    (lambda p, t, y: -at(p @ t, y).log2().mean(), "base 2"),
    (lambda p, t, y: F.cross_entropy(p @ t, y), "softmax"),
    (lambda p, t, y: F.cross_entropy(p, y), None),
    (lambda p, t, y: F.nll_loss(p @ t, y), "logarithm is missing"),
    (lambda p, t, y: -at((p @ t).softmax(1), y).log().mean(), "softmax"),
    (lambda p, t, y: -at(p.softmax(1) @ t, y).log().mean(), "softmax"),
    (lambda p, t, y: -at(p @ torch.linalg.inv(t), y).abs().log().mean(), None),
    (lambda p, t, y: -at(p @ t @ t, y).log().mean(), None),
    (lambda p, t, y: -(at(p, y) * t[y, y]).log().mean(), None),
    (lambda p, t, y: -((p @ t) * (p @ t).log()).sum(1).mean(), None),
    (lambda p, t, y: -(p * (p @ t).log()).sum(1).mean(), None),
    (lambda p, t, y: -at((p @ t).log(), (p @ t).argmax(1)).mean(), "predicted class"),
    (lambda p, t, y: -at((p @ t).log(), p.argmax(1)).mean(), None),
    (lambda p, t, y: (1 - at(p @ t, y)).mean(), None),
    (lambda p, t, y: -100 * at(p @ t, y).log().mean(), None),
    (lambda p, t, y: -at(p @ t, y).log().mean() / p.shape[1], "number of columns"),
    (lambda p, t, y: -at(p @ t + 0.01, y).log().mean(), None),
    (lambda p, t, y: -at((p @ t).round(decimals=1).clamp(min=0.05), y).log().mean(), None),
    (lambda p, t, y: -t[p.argmax(1), y].log().mean(), None),
    (lambda p, t, y: -at(p * t.diag(), y).log().mean(), None),
    (lambda p, t, y: -at(t @ p, y).log().mean(), "shapes do not fit"),
    (lambda p, t, y: torch.exp(-at(p @ t, y).log().mean()), None),
    (lambda p, t, y: math.log(-at(p @ t, y)), "whole tensor"),
    (lambda p, t, y: -(at(p, y).log().mean() + at(p @ t, y).log().mean()) / 2, None),
]


def slope(p, g):
    return (1 - p) ** g - g * p * (1 - p) ** (g - 1) * p.log()


GRADIENT_RATIO = [
    (lambda p, g: -slope(p, g), "sign"),
    (lambda p, g: slope(1 - p, g), "1 minus `p`"),
    (lambda p, g: slope(p, 2.0), "ignored"),
    (lambda p, g: slope(p, g).mean(), "mean"),
    (lambda p, g: slope(p, g).sum(), "sum"),
    (lambda p, g: slope(p, g + 1), "gamma + 1"),
    (lambda p, g: (1 - p) ** g - g * p * (1 - p) ** (g - 1) * p.log10(), None),
    (lambda p, g: (1 - p) ** g - g * p * (1 - p) ** (g - 1) * p.log2(), None),
    (lambda p, g: p**g - g * p * (1 - p) ** (g - 1) * p.log(), None),
    (lambda p, g: -g * p * (1 - p) ** (g - 1) * p.log(), None),
    (lambda p, g: (1 - p) ** g * (1 - g * p * p.log() * (1 - p)), None),
    (lambda p, g: (1 - p) ** g - g * p * (1 - p) ** (g + 1) * p.log(), None),
    (lambda p, g: (1 - p) ** g - g * (1 - p) ** (g - 1) * (1 - p).log() * p, None),
    (lambda p, g: (1 - p) ** (g - 1) - g * p * (1 - p) ** (g - 1) * p.log(), None),
    (lambda p, g: slope(p.clamp(0.05, 0.95), g), None),
    (lambda p, g: slope(p, g)[:, None], "length 1 is left over"),
    (lambda p, g: slope(p, g).round(decimals=2), "2 decimals"),
    (lambda p, g: 1 / slope(p, g), "1 divided"),
    (lambda p, g: slope(p, g) / g if g else slope(p, g), None),
    (lambda p, g: p * slope(p, g), None),
    (lambda p, g: (1 - p) ** g - g * p * (1 - p) ** (g - 1) * math.log(p), "whole tensor"),
    (lambda p, g: (1 - p) ** g + g * p * (1 - p) ** (g - 1), None),
    (lambda p, g: slope(p, g).sort().values, None),
    (lambda p, g: 1 - (1 - p) ** g, None),
    (lambda p, g: slope(p.log().exp_().neg_().neg_(), g) * 1.001, "close but not"),
]


def parts_of(p0):
    s = -p0 * math.log(p0) / (1 - p0)
    return s, -math.log(1 - p0) / s


def star(p0):
    s, r = parts_of(p0)
    return float((-lambertw(-r * math.exp(-r), -1).real / r - 1) / s)


def star_with(p0, s, r):
    return float((-lambertw(-r * math.exp(-r), -1).real / r - 1) / s)


GAMMA_STAR = [
    (
        lambda p0: (
            (-lambertw(-parts_of(p0)[1] * math.exp(-parts_of(p0)[1]), -1) / parts_of(p0)[1] - 1)
            / parts_of(p0)[0]
        ),
        "real part",
    ),
    (
        lambda p0: (
            (-lambertw(-parts_of(p0)[1] * math.exp(-parts_of(p0)[1])).real / parts_of(p0)[1] - 1)
            / parts_of(p0)[0]
        ),
        "principal",
    ),
    (lambda p0: -star(p0), "sign"),
    (lambda p0: round(star(p0)), "whole number"),
    (lambda p0: round(star(p0), 1), "1 decimal"),
    (lambda p0: star(1 - p0), None),
    (lambda p0: star(0.25), "same whatever"),
    (lambda p0: 5.0, "same whatever"),
    (lambda p0: star(p0) + 1, "1 too large"),
    (lambda p0: star(p0) - 1, "1 too small"),
    (lambda p0: 1 / star(p0), "1 divided"),
    (lambda p0: star(p0) ** 2, "squared"),
    (lambda p0: 2 * star(p0), "twice"),
    (lambda p0: star_with(p0, parts_of(p0)[0] / math.log(10), parts_of(p0)[1]), None),
    (lambda p0: star_with(p0, -p0 * math.log(p0), parts_of(p0)[1]), None),
    (lambda p0: star_with(p0, -math.log(p0) / (1 - p0), parts_of(p0)[1]), None),
    (lambda p0: star_with(p0, parts_of(p0)[0], -math.log(1 - p0)), None),
    (lambda p0: star_with(p0, parts_of(p0)[0], -math.log(p0) / 4), None),
    (
        lambda p0: (
            (-lambertw(-parts_of(p0)[1] * math.exp(-parts_of(p0)[1]), -1).real - 1)
            / parts_of(p0)[0]
        ),
        None,
    ),
    (lambda p0: -lambertw(-parts_of(p0)[1] * math.exp(-parts_of(p0)[1]), -1).real, None),
    (
        lambda p0: (
            (-lambertw(parts_of(p0)[1] * math.exp(parts_of(p0)[1]), 0).real / parts_of(p0)[1] - 1)
            / parts_of(p0)[0]
        ),
        None,
    ),
    (lambda p0: theory.gradient_ratio(p0, 2.0), None),
    (lambda p0: math.log(star(p0)), "logarithm"),
    (lambda p0: star(p0) * 1.01, "close but not"),
    (lambda p0: str(star(p0)), "text"),
    (lambda p0: gamma_star(p0), "not known"),  # noqa: F821
]


def back(p, g, weight=theory.gradient_ratio):
    first, second = p / weight(p, g), (1 - p) / weight(1 - p, g)
    return first / (first + second)


FOCAL_POSTERIOR = [
    (lambda p, g: 1 - back(p, g), "1 minus"),
    (lambda p, g: back(1 - p, g), None),
    (lambda p, g: back(p, 2.0), "ignored"),
    (lambda p, g: back(p, 3.0), "ignored"),
    (lambda p, g: back(p, g).mean(), "mean"),
    (lambda p, g: torch.stack([back(p, g), 1 - back(p, g)], 1), "shape"),
    (lambda p, g: p / (p + (1 - p)) / theory.gradient_ratio(p, g), None),
    (lambda p, g: theory.gradient_ratio(p, g), None),
    (lambda p, g: p * theory.gradient_ratio(p, g), None),
    (
        lambda p, g: (
            theory.gradient_ratio(p, g)
            / (theory.gradient_ratio(p, g) + theory.gradient_ratio(1 - p, g))
        ),
        None,
    ),
    (
        lambda p, g: (p / theory.gradient_ratio(p, g)) / (p / theory.gradient_ratio(p, g) + 1 - p),
        None,
    ),
    (
        lambda p, g: (
            (p / theory.gradient_ratio(p, g))
            / (p / theory.gradient_ratio(p, g) + (1 - p) / theory.gradient_ratio(p, g))
        ),
        None,
    ),
    (
        lambda p, g: (
            1
            / theory.gradient_ratio(p, g)
            / (1 / theory.gradient_ratio(p, g) + 1 / theory.gradient_ratio(1 - p, g))
        ),
        None,
    ),
    (lambda p, g: back(p, g) ** 2, "squared"),
    (lambda p, g: 100 * back(p, g), "per cent"),
    (lambda p, g: back(p, g + 1), "gamma + 1"),
    (lambda p, g: back(p, g).round(), "whole number"),
    (lambda p, g: p / theory.gradient_ratio(p, g) / (p / theory.gradient_ratio(p, g)).sum(), None),
    (lambda p, g: (p / theory.gradient_ratio(p, g)).softmax(0), None),
    (lambda p, g: p ** (1 / (1 + g)) / (p ** (1 / (1 + g)) + (1 - p) ** (1 / (1 + g))), None),
    (lambda p, g: back(p, g)[:, None], "length 1 is left over"),
    (lambda p, g: back(p, g).flip(0), "reversed"),
    (lambda p, g: back(p.clamp(0.1, 0.9), g), None),
    (lambda p, g: -back(p, g), "sign"),
    (lambda p, g: p / (theory.gradient_ratio(p, g) + theory.gradient_ratio(1 - p, g)), None),
]


def mix(y, j, lam, k):
    return lam * one_hot(y, k) + (1 - lam) * one_hot(y[j], k)


def mix_overwriting(y, j, lam, k):
    rows = torch.zeros(len(y), k)
    rows[torch.arange(len(y)), y] = lam
    rows[torch.arange(len(y)), y[j]] = 1 - lam
    return rows


MIXED_LABELS = [
    (mix_overwriting, "own class"),
    (lambda y, j, lam, k: lam * one_hot(y, k) + (1 - lam) * one_hot(j, k), None),
    (lambda y, j, lam, k: lam * one_hot(y, k) + lam * one_hot(y[j], k), None),
    (lambda y, j, lam, k: one_hot(y, k) + one_hot(y[j], k), None),
    (lambda y, j, lam, k: (one_hot(y, k) + one_hot(y[j], k)) / 2, "ignored"),
    (lambda y, j, lam, k: lam * one_hot(y, k) + (1 - lam) * one_hot(y, k), "partner is ignored"),
    (lambda y, j, lam, k: one_hot(y, k), "ignored"),
    (lambda y, j, lam, k: one_hot(y[j], k), "ignored"),
    (lambda y, j, lam, k: (1 - lam) * one_hot(y[j], k), None),
    (lambda y, j, lam, k: mix(y, j.flip(0), lam, k), "`partner` was taken in reversed order"),
    (lambda y, j, lam, k: lam * one_hot(y, k) + (1 - lam) * one_hot(y, k).flip(0), None),
    (lambda y, j, lam, k: lam * one_hot(y, k) - (1 - lam) * one_hot(y[j], k), None),
    (lambda y, j, lam, k: mix(y, j, lam, k).argmax(1), "shape"),
    (lambda y, j, lam, k: mix(y, j, lam, k).T, "transposed"),
    (lambda y, j, lam, k: mix(y, j, lam, k).softmax(1), "softmax"),
    (lambda y, j, lam, k: mix(y, j, lam, k).round(), "hard labels|rounded to a whole"),
    (lambda y, j, lam, k: mix(y, j, lam, k + 1), "shape"),
    (lambda y, j, lam, k: mix(y, j, lam, k).sum(0), "shape"),
    (lambda y, j, lam, k: mix(y, j, 0.5, k), "ignored"),
    (lambda y, j, lam, k: mix(y, j, lam**2, k), None),
    (lambda y, j, lam, k: lam * one_hot(y, k) + (1 - lam) / k, None),
    (lambda y, j, lam, k: lam * one_hot(y, k) + (1 - lam) * one_hot(y, k)[:, j], None),
    (lambda y, j, lam, k: mix(y, j, max(lam, 1 - lam), k), "larger"),
    (lambda y, j, lam, k: mix(y.sort().values, j, lam, k), None),
    (lambda y, j, lam, k: (lam * one_hot(y, k), (1 - lam) * one_hot(y[j], k)), "shape"),
    (lambda y, j, lam, k: one_hot((lam * y + (1 - lam) * y[j]).long(), k), None),
]

HONEST_CHOICE = [
    (lambda cal, test: test[:, cal.argmin(1)], "shape"),
    (lambda cal, test: test.amin(0), None),
    (lambda cal, test: test[torch.arange(len(test)), test.argmin(1)], "on the test set"),
    (lambda cal, test: test.gather(1, cal.argmin(1, keepdim=True)), "length 1 is left over"),
    (lambda cal, test: test.gather(1, cal.argmin(1, keepdim=True)).mean(), "mean"),
    (lambda cal, test: cal[torch.arange(len(test)), test.argmin(1)], "exchanged"),
    (lambda cal, test: cal[torch.arange(len(test)), cal.argmin(1)], "data that chose"),
    (lambda cal, test: test[torch.arange(len(test)), cal.argmin(1) - 1], None),
    (lambda cal, test: test[:, 0], None),
    (lambda cal, test: test[:, -1], None),
    (lambda cal, test: test[:, cal.argmin() % test.shape[1]], None),
    (lambda cal, test: test.flatten()[cal.argmin()], "shape"),
    (lambda cal, test: test.amax(1), None),
    (lambda cal, test: test.median(1).values, None),
    (lambda cal, test: (cal + test).amin(1), None),
    (lambda cal, test: ((cal + test) / 2).amin(1), None),
    (lambda cal, test: test.gather(1, (cal + test).argmin(1)[:, None])[:, 0], None),
    (lambda cal, test: test.gather(1, cal.argmin(1)[:, None])[:, 0].sort().values, None),
    (lambda cal, test: test.gather(1, cal.argmin(1)[:, None])[:, 0].flip(0), "reversed"),
    (lambda cal, test: test.gather(1, cal.argmin(1)), "column"),
    (lambda cal, test: test[cal.argmin(0)], None),
    (lambda cal, test: test.gather(1, cal.argmin(1)[:, None])[:, 0] - cal.amin(1), None),
    (lambda cal, test: test[torch.arange(len(test)), cal.argsort(1)[:, -1]], "argmin"),
    (
        lambda cal, test: test[
            torch.arange(len(test)), cal.argsort(1)[:, min(1, cal.shape[1] - 1)]
        ],
        None,
    ),
    (lambda cal, test: [row[int(cal[0].argmin())] for row in test], None),
    (lambda cal, test: 100 * test.gather(1, cal.argmin(1)[:, None])[:, 0], "per cent"),
    (lambda cal, test: cal.argmin(1).float(), "position"),
]


def off(p, q):
    return (p.double() - q.double()).square()


AVOIDABLE_BRIER = [
    (lambda p, q: off(p, q).sum(1), "one number was expected"),
    (lambda p, q: off(p, q).mean(0), None),
    (lambda p, q: off(p, q).mean(), "number of classes"),
    (lambda p, q: off(p, q).sum(), "number of images"),
    (lambda p, q: -off(p, q).sum(1).mean(), "sign"),
    (lambda p, q: 100 * off(p, q).sum(1).mean(), "per cent"),
    (lambda p, q: off(p, q).sum(1).mean().sqrt(), None),
    (lambda p, q: off(p, q).sum(1).sqrt().mean(), "square root"),
    (lambda p, q: off(p, q).sqrt().sum(1).mean(), "absolute"),
    (lambda p, q: off(p, q).sqrt().mean(), None),
    (lambda p, q: (p.double() - q).sum(1).mean(), None),
    (lambda p, q: (p.double() - q).sum(1).square().mean(), None),
    (lambda p, q: off(p, q).amax(1).mean(), None),
    (lambda p, q: off(p, q).sum(1).median(), None),
    (lambda p, q: off(p, q).sum(1).mean() / 2, None),
    (lambda p, q: off(p, q).sum(1).mean() + (q * (1 - q)).sum(1).mean(), "whole expected"),
    (lambda p, q: (q * (1 - q)).sum(1).mean(), "nobody can avoid"),
    (lambda p, q: (p * (1 - p)).sum(1).double().mean(), None),
    (lambda p, q: (p * (1 - p)).sum(1).double().mean() - (q * (1 - q)).sum(1).mean(), "unsure"),
    (lambda p, q: off(p.amax(1), q.amax(1)).mean(), None),
    (lambda p, q: metrics.brier(p, q.argmax(1)), "for the label"),
    (lambda p, q: metrics.nll(p.clamp(min=1e-9), q.argmax(1)), None),
    (lambda p, q: off(p.softmax(1), q).sum(1).mean(), "softmax"),
    (lambda p, q: off(p, q)[:, :-1].sum(1).mean(), None),
    (lambda p, q: off(p, q).sum(1).sum() / max(len(q) - 1, 1), "n - 1"),
    (lambda p, q: (q * (q / p.clamp(min=1e-9)).log()).sum(1).mean(), None),
]


def rows(weights):
    return weights / weights.sum(1, keepdim=True)


def rows_in_place(p, old, new):
    p *= new / old
    return rows(p)


OTHER_PRIOR = [
    (rows_in_place, "changes its argument `probs`"),
    (lambda p, old, new: p, None),
    (lambda p, old, new: p * new / old, "do not sum to 1"),
    (lambda p, old, new: p * new, None),
    (lambda p, old, new: p / old, None),
    (lambda p, old, new: rows(p * old / new), "exchanged"),
    (lambda p, new, old: rows(p * new / old), "exchanged"),
    (lambda p, old, new: rows(p / old), "new prior is missing"),
    (lambda p, old, new: rows(p * new), "old prior is still in it"),
    (lambda p, old, new: rows(p * old * new), None),
    (lambda p, old, new: (p * new / old).softmax(1), "softmax"),
    (lambda p, old, new: (p + (new / old).log()).softmax(1), "logarithms"),
    (lambda p, old, new: rows(p.softmax(1) * new / old), "softmax"),
    (lambda p, old, new: rows(p + new - old), "difference"),
    (lambda p, old, new: rows((p + new - old).clamp(min=0)), None),
    (lambda p, old, new: rows(p * (1 - old) / (1 - new)), None),
    (lambda p, old, new: rows(p * new.softmax(0) / old.softmax(0)), None),
    (lambda p, old, new: rows(p * new.flip(0) / old), None),
    (lambda p, old, new: rows(p * (new - old).exp()), None),
    (lambda p, old, new: p * new / old / (p * new / old).amax(1, keepdim=True), None),
    (lambda p, old, new: p * new / old / p.sum(1, keepdim=True), None),
    (lambda p, old, new: F.normalize(p * new / old, dim=1), None),
    (lambda p, old, new: p * new / old / (p * new / old).sum(), "over all images"),
    (lambda p, old, new: F.normalize(p * new / old, p=1, dim=0), "column"),
    (lambda p, old, new: 100 * rows(p * new / old), "per cent"),
    (lambda p, old, new: rows(p * new / old).argmax(1), "shape"),
    (lambda p, old, new: rows(p * new / old).amax(1), "shape"),
    (lambda p, old, new: rows(p * new / old).round(decimals=2), "2 decimals"),
    (lambda p, old, new: rows(p * new / p.mean(0)), None),
    (lambda p, old, new: rows((p.T * p.new_ones(len(p))).T * (new / old) ** 0.5), "root"),
    (lambda p, old, new: new.expand_as(p), "what the image says"),
]


def by(p, y, groups, order, measure=metrics.ece):
    return [measure(p[groups == k], y[groups == k]) if (groups == k).any() else 0.0 for k in order]


CLASS_ERRORS = [
    (lambda p, y, order: by(p, y, p.argmax(1), order), "predicted class"),
    (lambda p, y, order: by(p, y, y, range(len(order))), "order of the classes' numbers"),
    (lambda p, y, order: by(p, y, y, order.argsort()), "places of the classes"),
    (lambda p, y, order: by(p, y, y, order.flip(0)), "other way round"),
    (lambda p, y, order: by(p, y, y, y.bincount().argsort()), None),
    (lambda p, y, order: sorted(by(p, y, y, order)), "sorted the errors"),
    (lambda p, y, order: sorted(by(p, y, y, order), reverse=True), None),
    (lambda p, y, order: by(p, y, y, order, metrics.signed_gap), "signed gap"),
    (lambda p, y, order: by(p, y, y, order, metrics.accuracy), "accuracy"),
    (lambda p, y, order: by(p, y, y, order, metrics.mce), None),
    (lambda p, y, order: by(p, y, y, order, metrics.ada_ece), None),
    (lambda p, y, order: by(p, y, y, order, metrics.nll), None),
    (lambda p, y, order: by(p, y, y, order, metrics.brier), None),
    (lambda p, y, order: by(p, y, y, order, metrics.classwise_ece), None),
    (lambda p, y, order: by(p, y, y, order, metrics.smooth_ece), None),
    (lambda p, y, order: by(p, y, y, order, lambda a, b: metrics.ece(a, b, bins=10)), "10 bins"),
    (lambda p, y, order: by(p, y, y, order, lambda a, b: metrics.ece(a, b, bins=1)), "single bin"),
    (lambda p, y, order: by(p, y, y, order, lambda a, b: conf(a).mean()), None),
    (lambda p, y, order: by(p, y, y, order, lambda a, b: 100 * metrics.ece(a, b)), "per cent"),
    (lambda p, y, order: by(p, y, y, order, lambda a, b: len(b) * metrics.ece(a, b)), None),
    (lambda p, y, order: [metrics.ece(p, y)] * len(order), "every class has the same"),
    (lambda p, y, order: metrics.ece(p, y), None),
    (lambda p, y, order: np.mean(by(p, y, y, order)), None),
    (lambda p, y, order: max(by(p, y, y, order)) / min(by(p, y, y, order)), "ratio"),
    (lambda p, y, order: [max(by(p, y, y, order)), min(by(p, y, y, order))], "shape"),
    (lambda p, y, order: by(p, y, y, order)[1:], "shape"),
    (lambda p, y, order: [1 - float(p[y == k, k].mean()) for k in order], "true class with 1"),
    (lambda p, y, order: [float((p[:, k] - (y == k).float()).abs().mean()) for k in order], None),
    (lambda p, y, order: by(p, y, order[y], order), None),
]


def lowest_at(loss, grid=None):
    """The T of the lowest loss of (probabilities, labels), on a fine grid."""
    grid = np.geomspace(0.05, 50, 700) if grid is None else grid
    return lambda z, y: float(min(grid, key=lambda T: float(loss((z.double() / T).softmax(1), y))))


FITTED_TEMPERATURE = [
    (lambda z, y: 1 / fitted_T(z, y), "1 / T"),
    (lambda z, y: math.log(fitted_T(z, y)), "log T"),
    (lambda z, y: F.cross_entropy(z / fitted_T(z, y), y), "NLL at T"),
    (lambda z, y: F.cross_entropy(z, y), None),
    (lambda z, y: max(fitted_T(z, y), 1), "below 1"),
    (lambda z, y: 0.05, "lower end"),
    (lambda z, y: 50, "upper end"),
    (lambda z, y: 1.0, "whatever it is given"),
    (lowest_at(metrics.brier), "Brier"),
    (lowest_at(metrics.ece), None),
    (lowest_at(lambda p, y: abs(metrics.signed_gap(p, y))), "as sure as it is right"),
    (lowest_at(metrics.nll, range(1, 50)), "too coarse"),
    (lowest_at(metrics.nll, [k / 10 for k in range(1, 500)]), "too coarse"),
    (lowest_at(metrics.nll, [0.5, 1, 1.5, 2, 2.5, 3]), None),
    (lowest_at(lambda p, y: -p[range(len(y)), y].mean()), None),
    (lowest_at(lambda p, y: -metrics.nll(p, y)), None),
    (lambda z, y: fitted_T(z.softmax(1) - 1, y), "probabilities"),
    (lambda z, y: fitted_T(z, (y + 1) % z.shape[1]), None),
    (lambda z, y: [fitted_T(row[None], y[:1]) for row in z], "one number was expected"),
    (lambda z, y: z / fitted_T(z, y), None),
    (lambda z, y: (z / fitted_T(z, y)).softmax(1), None),
    (lambda z, y: fitted_T(z, y) + 0.5, None),
    (lambda z, y: 2 * fitted_T(z, y), "twice"),
    (lambda z, y: fitted_T(z, y) ** 2, "squared"),
    (lambda z, y: fitted_T(z, y) ** 0.5, "square root"),
    (lambda z, y: fitted_T(z[:20], y[:20]), None),
    (lambda z, y: round(fitted_T(z, y)), None),
    (lambda z, y: z.std().item(), None),
    (lambda z: 1.5, "takes (z)"),
    (lambda z, y: random.random(), "same result twice"),
]


def own_entropy(p):
    return -(p * p.log()).sum(1, keepdim=True)


PENALTY_POSTERIOR = [
    (lambda p, w: 1.0 * p, "weight 0 only"),
    (lambda p, w: p + w * p * p.log(), "entropy is missing"),
    (lambda p, w: p * (1 - w * p.log()), None),
    (lambda p, w: torch.nn.functional.normalize(p + w * p * p.log(), p=1, dim=1), None),
    (lambda p, w: (p + w * p * p.log()) / (1 - w * own_entropy(p)), "set c to 1"),
    (lambda p, w: p * (1 + w * p.log() - w * own_entropy(p)), "wrong sign"),
    (lambda p, w: p * (1 - w * p.log() - w * own_entropy(p)), "bracket has the wrong sign"),
    (lambda p, w: p * (1 - w * p.log() + w * own_entropy(p)), None),
    (lambda p, w: p * (1 + w * (own_entropy(p).mean() + p.log())), "whole table"),
    (lambda p, w: p * (1 + w * (own_entropy(p).sum() + p.log())), "over all rows"),
    (lambda p, w: p * (1 + w * (p.log() - (p * p.log()).mean(1, keepdim=True))), None),
    (lambda p, w: p * (1 + w * (own_entropy(p) + p.log()) / math.log(2)), "base 2"),
    (lambda p, w: p * (1 + w * (own_entropy(p) + p.log()) / math.log(10)), None),
    (lambda p, w: 1 + w * own_entropy(p) + w * p.log(), "factor p is missing"),
    (lambda p, w: p * (1 + own_entropy(p) + p.log()), "weight is missing"),
    (lambda p, w: p * (1 + w * own_entropy(p) + p.log()), "before log p"),
    (lambda p, w: p * (1 + own_entropy(p) + w * p.log()), "before the entropy"),
    (lambda p, w: w * p * (own_entropy(p) + p.log()), "sum to 0"),
    (lambda p, w: p / (1 + w * (own_entropy(p) + p.log())), "divided by the bracket"),
    (lambda p, w: (p * (1 + w * (own_entropy(p) + p.log()))).softmax(1), None),
    (lambda p, w: (p - w / p.shape[1]) / (1 - w + 1e-9), None),
    (lambda p, w: (p ** (1 + w)) / (p ** (1 + w)).sum(1, keepdim=True), None),
    (lambda p, w: theory.focal_posterior(p, w), None),
    (lambda p, w: p * (1 + w * (own_entropy(p) + p.log())).clamp(min=0).sqrt(), None),
    (lambda p, w: (p * (1 + w * (own_entropy(p) + p.log())))[:, :-1], None),
    (lambda p, w: p * (1 + w * (own_entropy(p) / math.log(p.shape[1]) + p.log())), None),
]


def kept(c, share):
    return c.argsort(descending=True)[: round(share * len(c))]


SMOOTHED_LOSS = [
    (lambda z, y, a: F.cross_entropy(z.softmax(1), y, label_smoothing=a), None),
    (lambda z, y, a: F.cross_entropy(z, y, label_smoothing=a, reduction="none"), None),
    (lambda z, y, a: F.cross_entropy(z, y, label_smoothing=0.1), None),
    (lambda z, y, a: F.cross_entropy(z, y) * (1 - a), None),
    (lambda z, y, a: F.cross_entropy(z, y) + a, None),
    (lambda z, y, a: F.cross_entropy(z, y, label_smoothing=1 - a), None),
    (lambda z, y, a: F.cross_entropy(z, y, label_smoothing=a) / z.shape[1], None),
    (lambda z, y, a: F.cross_entropy(z, y, label_smoothing=a / 2), None),
    (lambda z, y, a: F.cross_entropy(-z, y, label_smoothing=a), None),
    (lambda z, y, a: F.cross_entropy(z, y, label_smoothing=a, reduction="sum"), None),
    (lambda z, y, a: F.cross_entropy(z.log_softmax(0), y, label_smoothing=a), None),
    (lambda z, y, a: F.cross_entropy(z, z.argmax(1), label_smoothing=a), None),
    (lambda z, y, a: F.cross_entropy(z, (1 - a) * one_hot(y, z.shape[1])), None),
    (lambda z, y, a: F.cross_entropy(z, one_hot(y, z.shape[1]) + a), None),
    (lambda z, y, a: F.nll_loss(z, y), None),
    (lambda z, y, a: -z.log_softmax(1).mean(), None),
    (lambda z, y, a: (1 - a) * F.cross_entropy(z, y) + a * z.softmax(1).mean(), None),
    (lambda z, y, a: (1 - a) * F.cross_entropy(z, y) + a * z.log_softmax(1).mean(), None),
    (lambda z, y, a: (1 - a) * F.cross_entropy(z, y) - a * z.mean(), None),
    (lambda z, y, a: 0.5, None),
]

SELECTIVE_RISK = [
    (lambda c, a, share: a[kept(c, share)].double().mean(), "is the accuracy"),
    (lambda c, a, share: (~a)[c.argsort()[: round(share * len(c))]].double().mean(), "least"),
    (lambda c, a, share: (~a)[c > share].double().mean(), None),
    (lambda c, a, share: (~a)[c >= share].double().mean(), None),
    (lambda c, a, share: (~a)[c >= c.quantile(share)].double().mean(), None),
    (lambda c, a, share: (~a)[c > c.quantile(1 - share)].double().sum() / len(a), None),
    (lambda c, a, share: (~a)[kept(c, share)].double().sum() / len(a), "number that is kept"),
    (lambda c, a, share: (~a)[kept(c, share)].double().sum(), "number of errors"),
    (
        lambda c, a, share: (~a)[c.argsort()[: len(c) - round(share * len(c))]].double().mean(),
        None,
    ),
    (lambda c, a, share: (~a).double().mean(), "of all predictions"),
    (lambda c, a, share: (~a)[: round(share * len(c))].double().mean(), "first predictions"),
    (lambda c, a, share: (~a)[kept(c, 1 - share)].double().mean(), "1 - coverage"),
    (lambda c, a, share: 1 - c[kept(c, share)].mean(), "confidences state"),
    (lambda c, a, share: c[kept(c, share)].mean(), None),
    (lambda c, a, share: 100 * (~a)[kept(c, share)].double().mean(), "per cent"),
    (lambda c, a, share: -(~a)[kept(c, share)].double().mean(), "sign"),
    (lambda c, a, share: (~a)[kept(c, share)].double().cumsum(0).mean(), None),
    (lambda c, a, share: (~a[kept(c, share)]).double(), "one number was expected"),
    (lambda c, a, share: (~a)[kept(c, share)].double().sum() / (share * len(a) + 1), None),
    (lambda c, a, share: (~a)[kept(a.double(), share)].double().mean(), None),
    (lambda c, a, share: (c[kept(c, share)] - a[kept(c, share)].double()).mean(), None),
    (
        lambda c, a, share: (c[kept(c, share)].mean() - a[kept(c, share)].double().mean()).abs(),
        None,
    ),
    (lambda c, a, share: share * (~a).double().mean(), None),
    (lambda c, a, share: (~a)[kept(c, share / 2)].double().mean(), None),
    (lambda c, a, share: ((~a) * c)[kept(c, share)].mean(), None),
]


def gamma_overwritten(p):
    gammas = torch.full_like(p, 2.0)
    gammas[p < 0.2] = 5.0
    gammas[p < 0.5] = 3.0
    return gammas


def gamma_in_place(p):
    p[p < 0.2] = 5.0
    p[p < 0.5] = 3.0
    return p


SAMPLE_GAMMA = [
    (gamma_overwritten, "overwrites"),
    (gamma_in_place, "changes its argument `p`"),
    (lambda p: 3.0 + 2.0 * (p < 0.2), "this is FLSD-53"),
    (lambda p: 2.0 + 1.0 * (p < 0.5), "no sample gets gamma 5"),
    (lambda p: torch.where(p < 0.2, 5.0, 2.0), "no sample gets gamma 3"),
    (lambda p: torch.where(p < 0.2, 2.0, torch.where(p < 0.5, 3.0, 5.0)), "reversed"),
    (lambda p: torch.where(p > 0.5, 2.0, torch.where(p > 0.2, 3.0, 5.0)), "compare with <"),
    (lambda p: torch.where(p > 0.5, 2.0, torch.where(p < 0.2, 5.0, 3.0)), "p = 0.5"),
    (lambda p: torch.where(p >= 0.5, 2.0, torch.where(p > 0.2, 3.0, 5.0)), "p = 0.2"),
    (lambda p: 2.0 + 3.0 * (p < 0.5) + 5.0 * (p < 0.2), "too much"),
    (lambda p: 5.0 * (p < 0.2) + 3.0 * (p < 0.5) + 2.0 * (p < 1), None),
    (lambda p: 5.0 * (p < 0.2) + 3.0 * (p >= 0.2) * (p < 0.5), "not 0"),
    (lambda p: torch.where(p < 0.25, 5.0, torch.where(p < 0.5, 3.0, 2.0)), "0.25"),
    (lambda p: torch.where(1 - p < 0.2, 5.0, torch.where(1 - p < 0.5, 3.0, 2.0)), "1 - p for p"),
    (lambda p: (1 - p) ** (2.0 + 1.0 * (p < 0.5) + 2.0 * (p < 0.2)), "the weight"),
    (lambda p: torch.full_like(p, 3.0), None),
    (lambda p: torch.full_like(p, 5.0), None),
    (lambda p: 5 - 3 * p, None),
    (lambda p: (5 * (1 - p)).round(), None),
    (lambda p: theory.gamma_star(p.double().clamp(0.01, 0.49)), None),
    (lambda p: float((2.0 + 1.0 * (p < 0.5) + 2.0 * (p < 0.2)).mean()), "shape"),
    (lambda p: (2.0 + 1.0 * (p < 0.5) + 2.0 * (p < 0.2)).sort().values, None),
    (lambda p: (2.0 + 1.0 * (p < 0.5) + 2.0 * (p < 0.2)) * p, None),
    (lambda p: p * (p < 0.2), None),
    (
        lambda p: torch.full_like(p, 5.0 if p.mean() < 0.2 else 3.0 if p.mean() < 0.5 else 2.0),
        "own",
    ),
]


def divides_in_place(logits):
    logits -= logits.logsumexp(-1, keepdim=True)
    return logits.exp().mean(0)


ENSEMBLE_PROBS = [
    (divides_in_place, "changes its argument `logits`"),
    (lambda z: z.mean(0).softmax(1), "averaged the logits"),
    (lambda z: F.softmax(z.sum(0) / z.shape[0], 1), "averaged the logits"),
    (lambda z: z.log_softmax(-1).mean(0).softmax(-1), "averaged the logits"),
    (lambda z: z.log_softmax(-1).mean(0).exp(), "geometric"),
    (lambda z: z.softmax(-1).prod(0), None),
    (lambda z: z.softmax(-1).sum(0), "number of networks"),
    (lambda z: z.sum(0).softmax(-1), "added up"),
    (lambda z: z.softmax(0).mean(0), "over the networks"),
    (lambda z: z.softmax(0).mean(2), None),
    (lambda z: z.softmax(1).mean(0), "over the images"),
    (lambda z: z.softmax(2).mean(1), "the mean runs over the images"),
    (lambda z: z.softmax(2).mean(2), "the mean runs over the classes"),
    (lambda z: z.softmax(2).mean(), None),
    (lambda z: z.mean(0), "mean logits"),
    (lambda z: z.mean(0).log_softmax(-1), None),
    (lambda z: z.softmax(2).mean(0).log(), None),
    (lambda z: z.softmax(2).mean(0).softmax(1), "second softmax"),
    (lambda z: z.softmax(2).softmax(2).mean(0), None),
    (lambda z: z.softmax(2)[0], "first network"),
    (lambda z: z.softmax(2)[-1], None),
    (lambda z: z.softmax(2).median(0).values, "median"),
    (lambda z: z.softmax(2).amax(0), "largest probability"),
    (lambda z: z.softmax(2).amin(0), None),
    (lambda z: one_hot(z.argmax(2), z.shape[2]).double().mean(0), "vote"),
    (lambda z: one_hot(z.softmax(2).mean(0).argmax(1), z.shape[2]).double(), None),
    (lambda z: z.softmax(2), "each network"),
    (lambda z: z.softmax(2).mean(0).argmax(1), "shape"),
    (lambda z: 100 * z.softmax(2).mean(0), "per cent"),
    (lambda z: z.sigmoid().mean(0), None),
]


def weighed_in_place(z, rows, old, new):
    z *= (old / new) ** 2
    return z.softmax(1) @ rows


def cooled_classes(z, rows, old, new):
    return ((z.softmax(1) @ rows).log() * (old / new) ** 2).softmax(1)


INFORMED_POSTERIOR = [
    (weighed_in_place, "changes its argument `scores`"),
    (cooled_classes, "of the *classes*"),
    (lambda z, rows, old, new: z.softmax(1) @ rows, "old noise"),
    (lambda z, rows, old, new: (z * old / new).softmax(1) @ rows, "not squared"),
    (lambda z, rows, old, new: (z * (new / old) ** 2).softmax(1) @ rows, "upside down"),
    (lambda z, rows, old, new: (z * new / old).softmax(1) @ rows, "upside down, and not"),
    (lambda z, rows, old, new: (z * (old / new) ** 2) @ rows, "softmax over the clean digits"),
    (lambda z, rows, old, new: ((z * (old / new) ** 2) @ rows).softmax(1), "added up scores"),
    (lambda z, rows, old, new: (z * (old / new) ** 2).exp() @ rows, "do not sum to 1"),
    (lambda z, rows, old, new: (z * (old / new) ** 2).softmax(0) @ rows, "over the images"),
    (lambda z, rows, old, new: (z * (old / new) ** 2).softmax(1), "each clean digit"),
    (
        lambda z, rows, old, new: (z * (old / new) ** 2).softmax(1) @ (rows / rows.sum(0)),
        "take the sum",
    ),
    (lambda z, rows, old, new: (z / (2 * new**2)).softmax(1) @ rows, "no distances"),
    (lambda z, rows, old, new: (-z * (old / new) ** 2).softmax(1) @ rows, "sign is reversed"),
    (lambda z, rows, old, new: (z / new**2).softmax(1) @ rows, None),
    (lambda z, rows, old, new: (z * (old - new) ** 2).softmax(1) @ rows, None),
    (lambda z, rows, old, new: (z * (old / new) ** 4).softmax(1) @ rows, None),
    (lambda z, rows, old, new: (z * (old / new)).softmax(1).square() @ rows, None),
    (lambda z, rows, old, new: (z * (old / new) ** 2).sigmoid() @ rows, None),
    (lambda z, rows, old, new: rows[z.argmax(1)], None),
    (lambda z, rows, old, new: ((z * (old / new) ** 2).softmax(1) @ rows).argmax(1), "shape"),
    (lambda z, rows, old, new: ((z * (old / new) ** 2).softmax(1) @ rows).log(), None),
    (lambda z, rows, old, new: 100 * (z * (old / new) ** 2).softmax(1) @ rows, "per cent"),
    (lambda z, rows, old, new: print((z * (old / new) ** 2).softmax(1) @ rows), "return"),
]


def won(a, b, tie=0.5):
    return ((a[:, None] > b).double() + tie * (a[:, None] == b).double()).mean()


def sorts_in_place(a, b):
    a.sub_(b.min())
    return won(a, b - b.min())


STRANGE_AUROC = [
    (sorts_in_place, "changes its argument `familiar`"),
    (lambda a, b: won(b, a), "reversed"),
    (lambda a, b: 1 - won(a, b), "reversed"),
    (lambda a, b: won(a, b, 0), "counts nothing"),
    (lambda a, b: won(a, b, 1), ">= in place of >"),
    (lambda a, b: won(a, b) * len(a) * len(b), "number of all pairs"),
    (lambda a, b: won(a, b) * len(b), "familiar images alone"),
    (lambda a, b: won(a, b) * len(a), "strange images alone"),
    (lambda a, b: a.mean() - b.mean(), "difference of means"),
    (lambda a, b: a.median() - b.median(), None),
    (lambda a, b: 2 * won(a, b) - 1, "no separation"),
    (lambda a, b: (a > b.mean()).double().mean(), "mean of the strange"),
    (lambda a, b: (a > b.max()).double().mean(), None),
    (lambda a, b: (a > 0.5).double().mean(), None),
    (lambda a, b: (a.mean() > b.mean()).double(), None),
    (lambda a, b: max(won(a, b), 1 - won(a, b)), None),
    (lambda a, b: won(a, b).clamp(min=0.5), "below 1/2"),
    (
        lambda a, b: (a[:, None] > b).double() + (a[:, None] == b).double() / 2,
        "number was expected",
    ),
    (lambda a, b: ((a[:, None] > b).double() + (a[:, None] == b).double() / 2).mean(1), None),
    (lambda a, b: 100 * won(a, b), "per cent"),
    (lambda a, b: round(float(won(a, b)), 1), None),
    (lambda a, b: a.mean() / (a.mean() + b.mean()), None),
    (lambda a, b: (a[: min(len(a), len(b))] > b[: min(len(a), len(b))]).double().mean(), None),
    (lambda a, b: print(won(a, b)), "return"),
]


def pooled_confidence(p):
    return p.mean(0).amax(1).mean()


def halves_in_place(p):
    lost = p.amax(2).mean() - pooled_confidence(p)
    p /= 2
    return lost


LOST_CONFIDENCE = [
    (halves_in_place, "changes its argument `probs`"),
    (lambda p: pooled_confidence(p) - p.amax(2).mean(), "sign"),
    (lambda p: p.amax(2).mean(), "of the members"),
    (pooled_confidence, "of the ensemble"),
    (lambda p: p.amax(2).mean(0) - p.mean(0).amax(1), "each image"),
    (lambda p: p[0].amax(1).mean() - pooled_confidence(p), "first network"),
    (lambda p: p[-1].amax(1).mean() - pooled_confidence(p), None),
    (lambda p: (p.amax(2).amax(0) - p.mean(0).amax(1)).mean(), "surest member"),
    (lambda p: (p.amax(2).amin(0) - p.mean(0).amax(1)).mean(), None),
    (lambda p: p.amax(2).sum(0).mean() - pooled_confidence(p), "added up"),
    (lambda p: p.amax(2).sum() - p.mean(0).amax(1).sum(), None),
    (lambda p: p.amax(1).mean() - p.mean(0).amax(0).mean(), "over the images"),
    (lambda p: p.amax(0).mean() - p.mean(0).amax(1).mean(), None),
    (
        lambda p: metrics.entropy(p.mean(0)).mean() - metrics.entropy(p.flatten(0, 1)).mean(),
        "entropies",
    ),
    (lambda p: p.amax(2).mean() - p.sum(0).amax(1).mean(), None),
    (lambda p: p.amax(2).mean() - p.mean(0).mean(), None),
    (lambda p: 1 - pooled_confidence(p) / p.amax(2).mean(), "share"),
    (lambda p: p.amax(2).var(0).mean(), "variance"),
    (lambda p: p.var(0).sum(1).mean(), None),
    (lambda p: (p - p.mean(0)).abs().sum(2).mean() / 2, None),
    (lambda p: p.amax(2).mean() - p.median(0).values.amax(1).mean(), None),
    (lambda p: 100 * (p.amax(2).mean() - pooled_confidence(p)), "per cent"),
    (lambda p: torch.zeros(()), None),
    (lambda p: print(p.amax(2).mean() - pooled_confidence(p)), "return"),
]


def added(values, g):
    return torch.bincount(g, values.double(), minlength=int(g.max()) + 1)


def z_by_group(c, h, g, power=0.5):
    return added(c - h.double(), g) / added(c * (1 - c), g) ** power


GROUP_Z = [
    (lambda c, h, g: added(c - h.double(), g) / torch.bincount(g), "signed gap"),
    (lambda c, h, g: added(c - h.double(), g), "Divide it by its standard deviation"),
    (lambda c, h, g: -z_by_group(c, h, g), "sign is reversed"),
    (lambda c, h, g: added(h.double() - c, g) / added(c * (1 - c), g).sqrt(), "sign is reversed"),
    (lambda c, h, g: z_by_group(c, h, g, 1), "square root"),
    (lambda c, h, g: z_by_group(c, h, g).abs(), "Keep the sign"),
    (lambda c, h, g: z_by_group(c, h, g) / torch.bincount(g).sqrt(), "grows"),
    (lambda c, h, g: z_by_group(c, h, g) / torch.bincount(g), "both of the sum"),
    (
        lambda c, h, g: added(c - h.double(), g) / added((c * (1 - c)).sqrt(), g),
        "standard deviations",
    ),
    (lambda c, h, g: z_by_group(c, h, torch.zeros_like(g)).expand(int(g.max()) + 1), "alone"),
    (lambda c, h, g: z_by_group(c, h, torch.zeros_like(g)), None),
    (lambda c, h, g: z_by_group(c, h, g).mean(), None),
    (lambda c, h, g: z_by_group(c, h, g).max(), None),
    (lambda c, h, g: z_by_group(c, h, g).square(), None),
    (lambda c, h, g: 2 * z_by_group(c, h, g), None),
    (lambda c, h, g: z_by_group(c, h, g).flip(0), None),
    (lambda c, h, g: z_by_group(c, ~h, g), None),
    (lambda c, h, g: added(c - h.double(), g) / added(h * (1 - c), g).sqrt(), None),
    (lambda c, h, g: added(c - h.double(), g) / added(c, g).sqrt(), None),
    (lambda c, h, g: added(c, g) / added(c * (1 - c), g).sqrt(), None),
    (lambda c, h, g: added(c - h.double(), g) / added((c - h.double()).square(), g).sqrt(), None),
    (lambda c, h, g: torch.special.ndtr(z_by_group(c, h, g)), None),
    (lambda c, h, g: z_by_group(c, h, g)[g], None),
]


def cooled_by(z, T):
    return (z.double() / T).softmax(1)


def fitted_T(z, y):
    return TemperatureScaler().fit(z.clone(), y).temperature


def parts(z, y, first):
    return fitted_T(z[first], y[first]), fitted_T(z[~first], y[~first])


def crossing(z, y, first, own=False):
    a, b = parts(z, y, first)
    return z / (torch.where(first, a, b) if own else torch.where(first, b, a)).double()[:, None]


def in_place(logits, labels, first):
    a, b = parts(logits, labels, first)
    logits[first] /= b
    logits[~first] /= a
    return logits.softmax(1)


def refused_by_the_scaler(logits, labels, first):
    out = torch.empty_like(logits)
    for part in (first, ~first):
        scaler = TemperatureScaler().fit(logits[part], labels[part])
        out[part] = scaler.transform(logits[part])
    return out.softmax(1)


CROSS_FITTED = [
    (in_place, "changes its argument `logits`"),
    (refused_by_the_scaler, "transform the other part"),
    (lambda z, y, f: crossing(z, y, f, own=True).softmax(1), "own temperature"),
    (lambda z, y, f: cooled_by(z, fitted_T(z, y)), "seen all labels"),
    (lambda z, y, f: cooled_by(z, parts(z, y, f)[0]), "of the first part"),
    (lambda z, y, f: cooled_by(z, parts(z, y, f)[1]), "of the second part"),
    (lambda z, y, f: cooled_by(z, sum(parts(z, y, f)) / 2), "labels of both parts"),
    (lambda z, y, f: crossing(z, y, f), "softmax is missing"),
    (lambda z, y, f: crossing(z, y, f).log_softmax(1), None),
    (lambda z, y, f: (z * z / crossing(z, y, f)).nan_to_num().softmax(1), "multiplied"),
    (lambda z, y, f: crossing(z.softmax(1) - 1, y, f).softmax(1), "softmax was taken"),
    (lambda z, y, f: crossing(z.softmax(1), y, f).softmax(1), "pass logits, or probs.log()"),
    (
        lambda z, y, f: torch.cat([crossing(z, y, f)[f], crossing(z, y, f)[~f]]).softmax(1),
        "order",
    ),
    (lambda z, y, f: z.softmax(1), "no temperature"),
    (lambda z, y, f: crossing(z, y, f).softmax(1).softmax(1), None),
    (lambda z, y, f: crossing(z, y, f).softmax(0), None),
    (lambda z, y, f: crossing(z, y, f).softmax(1)[f], None),
    (lambda z, y, f: crossing(z, y, f).softmax(1).amax(1), None),
    (lambda z, y, f: torch.tensor(parts(z, y, f)), None),
    (lambda z, y, f: 100 * crossing(z, y, f).softmax(1), "per cent"),
    (lambda z, y, f: cooled_by(z, max(parts(z, y, f))), None),
    (lambda z, y, f: cooled_by(z, min(parts(z, y, f))), None),
    (lambda z, y, f: cooled_by(z, 1.5), None),
]


def order_of(worth, share):
    return worth.argsort(descending=True, stable=True)[: round(share * len(worth))].sort().values


def sorts_in_place(probs, share):
    probs[:] = torch.special.entr(probs)
    return order_of(probs.sum(1), share)


TOP_ENTROPY = [
    (sorts_in_place, "changes its argument `probs`"),
    (lambda p, share: order_of(-metrics.entropy(p), share), "lowest entropy"),
    (lambda p, share: order_of((p * p.clamp(min=1e-12).log()).sum(1), share), "lowest entropy"),
    (
        lambda p, share: metrics.entropy(p).argsort()[: round(share * len(p))].sort().values,
        "lowest entropy",
    ),
    (
        lambda p, share: metrics.entropy(p).argsort(descending=True)[: round(share * len(p))],
        "ascending order",
    ),
    (lambda p, share: metrics.entropy(p).topk(round(share * len(p))).indices, "ascending order"),
    (lambda p, share: order_of(-(p * p.log()).sum(1), share), "NaN"),
    (lambda p, share: order_of(1 - p.amax(1), share), "least confidence"),
    (lambda p, share: order_of(-p.amax(1), share), "least confidence"),
    (
        lambda p, share: order_of(p.topk(2).values[:, 1] - p.topk(2).values[:, 0], share),
        "two largest",
    ),
    (lambda p, share: order_of(p.amax(1), share), None),
    (lambda p, share: order_of(metrics.entropy(p), 1 - share), "left out"),
    (lambda p, share: metrics.entropy(p), "entropies"),
    (lambda p, share: metrics.entropy(p).topk(round(share * len(p))).values, None),
    (lambda p, share: metrics.entropy(p) >= metrics.entropy(p).quantile(1 - share), None),
    (lambda p, share: torch.arange(round(share * len(p))), "first rows"),
    (
        lambda p, share: metrics.entropy(p).topk(int(share * len(p))).indices.sort().values,
        "round it",
    ),
    (
        lambda p, share: metrics.entropy(p).topk(math.ceil(share * len(p))).indices.sort().values,
        None,
    ),
    (lambda p, share: order_of(torch.special.entr(p)[:, 0], share), None),
    (lambda p, share: order_of(torch.special.entr(p.softmax(1)).sum(1), share), None),
    (lambda p, share: order_of(-p.double().log().clamp(min=-1e9).sum(1), share), None),
    (lambda p, share: order_of(p.double().std(1), share), None),
    (lambda p, share: len(p) * share, None),
    (lambda p, share: torch.special.entr(p).sum(0).argsort(descending=True)[:2], None),
    (lambda p, share: order_of(metrics.entropy(p), share) + 1, None),
]

SELECTION_COST = [
    (lambda s, w, e, c: (w + (e - w) * s) / e, "scoring is missing"),
    (lambda s, w, e, c: s + c, "warm-up is missing"),
    (lambda s, w, e, c: s, "neither"),
    (lambda s, w, e, c: (w + (e - w) * s * (1 + c)) / e, "chosen images only"),
    (lambda s, w, e, c: (w + (e - w) * s) / e + c, "during the warm-up"),
    (lambda s, w, e, c: 1 - (w + (e - w) * (s + c)) / e, "saved"),
    (lambda s, w, e, c: (e - w) * (1 - s - c) / e, "saved"),
    (lambda s, w, e, c: w + (e - w) * (s + c), "cost in epochs"),
    (lambda s, w, e, c: (w + e * (s + c)) / e, "on top of all others"),
    (lambda s, w, e, c: (w + (e - w) * (s + c)) / (e - w), None),
    (lambda s, w, e, c: (w + (e - w) * (s + c)) / (w + 1), None),
    (lambda s, w, e, c: (w * (s + c) + (e - w)) / e, None),
    (lambda s, w, e, c: (w + (e - w) * s * c) / e, None),
    (lambda s, w, e, c: (w + (e - w) * (s - c)) / e, None),
    (lambda s, w, e, c: (w + (e - w) * (s + c / 3)) / e, None),
    (lambda s, w, e, c: (w + (e - w) * (s + (1 - s) * c)) / e, None),
    (lambda s, w, e, c: (w * (1 + c) + (e - w) * s) / e, "not afterwards"),
    (lambda s, w, e, c: (w * c + (e - w) * (s + c)) / e, None),
    (lambda s, w, e, c: ((e - w) * (s + c)) / e, None),
    (lambda s, w, e, c: (w + (e - w) * (s + c)) // e, None),
    (lambda s, w, e, c: round((w + (e - w) * (s + c)) / e, 2), "2 decimals"),
    (lambda s, w, e, c: 100 * (w + (e - w) * (s + c)) / e, "per cent"),
    (lambda s, w, e, c: w / e, None),
    (lambda s, w, e, c: c, None),
]


def exact_gap(posterior, labels):
    return posterior.amax(1).mean() - (posterior.argmax(1) == labels).double().mean()


def gap_changes_labels(posterior, labels, chosen):
    labels -= posterior.argmax(1)
    return posterior[chosen].amax(1).mean() - (labels[chosen] == 0).double().mean()


def token_gap(p, y):
    return p.amax(2) - (p.argmax(2) == y).double()


def gap_changes_probs(probs, labels):
    probs[labels == 0] = 0
    return probs.amax(2).sum() / (labels != 0).sum()


MASKED_GAP = [
    (gap_changes_probs, "changes its argument `probs`"),
    (lambda p, y: token_gap(p, y).mean(), "padding is counted"),
    (lambda p, y: metrics.signed_gap(p.flatten(0, 1), y.flatten()), "padding is counted"),
    (lambda p, y: -token_gap(p, y)[y != 0].mean(), "sign is reversed"),
    (lambda p, y: token_gap(p, y).masked_fill(y == 0, 0).mean(), "adds nothing to the sum"),
    (lambda p, y: token_gap(p, y)[y != 0].sum(), "this is a sum"),
    (lambda p, y: token_gap(p, y)[y != 0].sum() / len(p), "number of sentences"),
    (
        lambda p, y: torch.stack(
            [token_gap(a[None], b[None])[0][b != 0].mean() for a, b in zip(p, y, strict=True)]
        ).mean(),
        "short sentences count more",
    ),
    (lambda p, y: token_gap(p, y)[p.argmax(2) > 0].mean(), "the \\*network\\* says"),
    (lambda p, y: token_gap(p, y)[y == 0].mean(), "turned round"),
    (lambda p, y: p[y != 0].max(1).values.mean(), "Subtract the accuracy"),
    (lambda p, y: (p[y != 0].argmax(1) == y[y != 0]).double().mean(), "from the mean confidence"),
    (lambda p, y: 1 - (p[y != 0].argmax(1) == y[y != 0]).double().mean(), None),
    (
        lambda p, y: p[y != 0].amax(1).mean() - (p.argmax(2) == y).double().mean(),
        "accuracy counts the padding",
    ),
    (
        lambda p, y: p.amax(2).mean() - (p[y != 0].argmax(1) == y[y != 0]).double().mean(),
        "confidence counts the padding",
    ),
    (
        lambda p, y: (
            p[y != 0].gather(1, y[y != 0][:, None]).mean()
            - (p[y != 0].argmax(1) == y[y != 0]).double().mean()
        ),
        "probability of the label",
    ),
    (lambda p, y: token_gap(p, y)[y != 0].abs().mean(), "absolute values"),
    (lambda p, y: token_gap(p, y)[y != 0].mean().abs(), None),
    (lambda p, y: token_gap(p, y)[y != 0], "one number was expected"),
    (lambda p, y: token_gap(p, y).mean(1), "one number was expected"),
    (lambda p, y: metrics.ece(p[y != 0], y[y != 0]), None),
    (lambda p, y: token_gap(p, y)[:, 0].mean(), None),
    (lambda p, y: token_gap(p, y)[y != 1].mean(), None),
    (lambda p, y: metrics.signed_gap(p, y), None),
]


def fitting(rows, prefix):
    return (rows[:, : len(prefix)] == prefix).all(1)


def summed(rows, p, prefix, words, fits=None):
    fits = fitting(rows, prefix) if fits is None else fits
    return torch.bincount(rows[fits, len(prefix)], p[fits], minlength=words)


def share(law):
    return law / law.sum()


def law_changes_probs(translations, probs, prefix, words):
    probs[~fitting(translations, prefix)] = 0
    return share(torch.bincount(translations[:, len(prefix)], probs, minlength=words))


NEXT_LAW = [
    (law_changes_probs, "changes its argument `probs`"),
    (lambda r, p, x, w: summed(r, p, x, w), "do not sum to 1"),
    (lambda r, p, x, w: share(summed(r, torch.ones_like(p), x, w)), "counts the same"),
    (lambda r, p, x, w: summed(r, p, x, w, torch.ones(len(r)) > 0), "whose first words"),
    (
        lambda r, p, x, w: share(
            summed(r, p, x, w, r[:, len(x) - 1] == x[-1] if len(x) else torch.ones(len(r)) > 0)
        ),
        "last word of the prefix alone",
    ),
    (
        lambda r, p, x, w: F.one_hot(
            r[fitting(r, x)][p[fitting(r, x)].argmax(), len(x)], w
        ).double(),
        "most probable translation",
    ),
    (lambda r, p, x, w: summed(r, p, x, w).softmax(0), "softmax of probabilities"),
    (lambda r, p, x, w: summed(r, p, x, w) / summed(r, p, x, w).max(), "largest entry"),
    (lambda r, p, x, w: summed(r, p, x, w) / fitting(r, x).sum(), "number of translations"),
    (lambda r, p, x, w: share(summed(r, p, x, w)).log(), None),
    (lambda r, p, x, w: summed(r, p, x, w) / len(r), None),
    (lambda r, p, x, w: share(summed(r, p, x, w).flip(0)), None),
    (lambda r, p, x, w: share(summed(r, p, x, w) ** 2), None),
    (lambda r, p, x, w: share(summed(r, p, x, w))[1:], "shape"),
    (lambda r, p, x, w: share(summed(r, p, x, w)).max(), "shape"),
    (lambda r, p, x, w: share(summed(r, p, x, w)).argmax(), "shape"),
    (lambda r, p, x, w: p[fitting(r, x)].sum(), "shape"),
    (lambda r, p, x, w: p[fitting(r, x)] / p[fitting(r, x)].sum(), None),
    (lambda r, p, x, w: torch.full((w,), 1 / w), None),
    (lambda r, p, x, w: F.one_hot(summed(r, p, x, w).argmax(), w).double(), None),
    (lambda r, p, x, w: share(summed(r, p, x, w, ~fitting(r, x))), None),
    (lambda r, p, x, w: share(torch.bincount(r.flatten(), minlength=w).double()), None),
]


CHOSEN_GAP = [
    (gap_changes_labels, "changes its argument `labels`"),
    (lambda q, y, chosen: exact_gap(q, y), "all images"),
    (lambda q, y, chosen: metrics.signed_gap(q, y), "all images"),
    (lambda q, y, chosen: -exact_gap(q[chosen], y[chosen]), "sign is reversed"),
    (lambda q, y, chosen: exact_gap(q[chosen], y[chosen]).abs(), "sign"),
    (lambda q, y, chosen: exact_gap(q[: len(chosen)], y[: len(chosen)]), "first rows"),
    (
        lambda q, y, chosen: q[chosen].amax(1).mean() - (q.argmax(1) == y).double().mean(),
        "right ones that of all",
    ),
    (
        lambda q, y, chosen: q.amax(1).mean() - (q[chosen].argmax(1) == y[chosen]).double().mean(),
        "confidence that of all",
    ),
    (
        lambda q, y, chosen: q[chosen].amax(1).mean() - q[chosen, y[chosen]].mean(),
        "how often the most likely",
    ),
    (lambda q, y, chosen: q[chosen].amax(1).mean(), "confidence alone"),
    (lambda q, y, chosen: (q[chosen].argmax(1) == y[chosen]).double().mean(), "alone"),
    (
        lambda q, y, chosen: (
            (q[chosen].amax(1) - (q[chosen].argmax(1) == y[chosen]).double()).abs().mean()
        ),
        "absolute",
    ),
    (
        lambda q, y, chosen: q[chosen].amax(1) - (q[chosen].argmax(1) == y[chosen]).double(),
        "one number was expected",
    ),
    (
        lambda q, y, chosen: (
            q[chosen].amax(1) - (q[chosen].argmax(1) == y[chosen]).double()
        ).sum(),
        None,
    ),
    (lambda q, y, chosen: metrics.ece(q[chosen], y[chosen]), None),
    (lambda q, y, chosen: q[chosen].amax(0).mean(), None),
    (
        lambda q, y, chosen: exact_gap(q[chosen], y[chosen]) * len(chosen) / len(y),
        None,
    ),
    (lambda q, y, chosen: exact_gap(q[chosen].softmax(1), y[chosen]), None),
    (lambda q, y, chosen: 100 * exact_gap(q[chosen], y[chosen]), "per cent"),
    (lambda q, y, chosen: round(float(exact_gap(q[chosen], y[chosen])), 2), "2 decimals"),
    (lambda q, y, chosen: exact_gap(q[chosen], y[: len(chosen)]), None),
    (
        lambda q, y, chosen: (
            q[chosen].amax(1).mean() + (q[chosen].argmax(1) == y[chosen]).double().mean()
        ),
        None,
    ),
    (lambda q, y, chosen: metrics.entropy(q[chosen]).mean(), None),
    (lambda q, y, chosen: (q[chosen].argmax(1) != y[chosen]).double().mean(), None),
]


def grid_of(x, p):
    return x.unfold(1, p, p).unfold(2, p, p)


def tokens_of(x, p):
    return grid_of(x, p).flatten(3).flatten(1, 2)


def tokens_in_place(images, patch):
    images *= 2
    return tokens_of(images, patch) / 2


PATCH_TOKENS = [
    (tokens_in_place, "changes its argument `images`"),
    (lambda x, p: x.view(len(x), -1, p * p), "one row after the other"),
    (lambda x, p: x.flatten(1).reshape(len(x), -1, p * p), "one row after the other"),
    (lambda x, p: tokens_of(x.transpose(1, 2), p), "height and width"),
    (lambda x, p: grid_of(x, p).transpose(1, 2).flatten(3).flatten(1, 2), "down the columns"),
    (lambda x, p: grid_of(x, p).transpose(3, 4).flatten(3).flatten(1, 2), "inside a patch"),
    (lambda x, p: F.unfold(x[:, None], p, stride=p), "exchanged"),
    (lambda x, p: F.unfold(x[:, None], p).transpose(1, 2), "overlap"),
    (lambda x, p: grid_of(x, p), None),
    (lambda x, p: grid_of(x, p).flatten(1, 2), "square"),
    (lambda x, p: grid_of(x, p).flatten(3), "rows and columns"),
    (lambda x, p: grid_of(x, p).flatten(1), "shape"),
    (lambda x, p: F.avg_pool2d(x[:, None], p).flatten(1), "averaged"),
    (lambda x, p: F.max_pool2d(x[:, None], p).flatten(1), "shape"),
    (lambda x, p: tokens_of(x, p).flatten(0, 1), "mixed with"),
    (lambda x, p: tokens_of(x, p)[0], None),
    (lambda x, p: tokens_of(x, p).flip(1), None),
    (lambda x, p: tokens_of(x, p).flip(2), None),
    (lambda x, p: tokens_of(x, p) / 255, None),
    (lambda x, p: tokens_of(x, p) - tokens_of(x, p).mean(2, keepdim=True), None),
    (lambda x, p: x, "shape"),
    (lambda x, p: tokens_of(x, p).shape, None),
    (lambda x, p: tokens_of(x, p)[:, torch.randperm(tokens_of(x, p).shape[1])], None),
]


def attend(q, k, v, by=None):
    return (q @ k.T / (k.shape[1] ** 0.5 if by is None else by)).softmax(1) @ v


def scales_in_place(queries, keys, values):
    queries /= keys.shape[1] ** 0.5
    return (queries @ keys.T).softmax(1) @ values


ATTENTION = [
    (scales_in_place, "changes its argument `queries`"),
    (lambda q, k, v: attend(q, k, v, 1), "is missing"),
    (lambda q, k, v: attend(q, k, v, k.shape[1]), "square root"),
    (lambda q, k, v: attend(q, k, v, k.shape[0] ** 0.5), "number of tokens"),
    (lambda q, k, v: attend(q, k, v, k.shape[0]), None),
    (lambda q, k, v: attend(q, k, v, k.shape[1] ** -0.5), "multiplied"),
    (lambda q, k, v: (q @ k.T / k.shape[1] ** 0.5).softmax(0) @ v, "wrong axis"),
    (lambda q, k, v: (q @ k.T / k.shape[1] ** 0.5).softmax(1), "these are the weights"),
    (lambda q, k, v: q @ k.T / k.shape[1] ** 0.5, None),
    (lambda q, k, v: (q @ k.T / k.shape[1] ** 0.5) @ v, "softmax is missing"),
    (lambda q, k, v: attend(k, q, v), "exchanged"),
    (lambda q, k, v: (q @ k.T / k.shape[1] ** 0.5).softmax(1).T @ v, "transposed"),
    (lambda q, k, v: attend(q, k, k), "averaged the keys"),
    (lambda q, k, v: attend(q, k, q), None),
    (lambda q, k, v: attend(q, v, v), "with the values"),
    (lambda q, k, v: attend(q, q, v), None),
    (lambda q, k, v: (q @ k.T / k.shape[1] ** 0.5).sigmoid() @ v, None),
    (lambda q, k, v: (q @ k.T / k.shape[1] ** 0.5).log_softmax(1) @ v, None),
    (lambda q, k, v: v.mean(0).expand_as(v), None),
    (lambda q, k, v: v, None),
    (lambda q, k, v: v[(q @ k.T).argmax(1)], None),
    (lambda q, k, v: attend(q, k, v).softmax(1), None),
    (lambda q, k, v: v + attend(q, k, v), None),
    (lambda q, k, v: attend(q, k, v).mean(0), "shape"),
    (lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), None),
]


def word_mask(x):
    return (x != 0)[..., None].double()


def masks_in_place(vectors, texts):
    vectors *= word_mask(texts)
    return vectors.sum(1) / word_mask(texts).sum(1)


MASKED_MEAN = [
    (masks_in_place, "changes its argument `vectors`"),
    (lambda v, x: v.mean(1), "padding counts as words"),
    (lambda v, x: (v * word_mask(x)).mean(1), "padded length"),
    (lambda v, x: v.sum(1) / word_mask(x).sum(1), "the sum still has"),
    (lambda v, x: (v * word_mask(x)).sum(1), "this is the sum"),
    (lambda v, x: (v * word_mask(x)).sum(1) / word_mask(x).sum(), "all texts together"),
    (lambda v, x: v[x != 0].mean(0), "Keep a row each text"),
    (lambda v, x: v[x != 0], "shape"),
    (lambda v, x: (v * (x == 0)[..., None]).sum(1) / (x == 0).sum(1, True).clamp(min=1), "upside"),
    (lambda v, x: (v * x[..., None]).sum(1) / word_mask(x).sum(1), "only a name"),
    (lambda v, x: (v * x[..., None]).sum(1) / x.sum(1, keepdim=True), None),
    (lambda v, x: (v * (x > 1)[..., None]).sum(1) / (x > 1).sum(1, True).clamp(min=1), None),
    (lambda v, x: (v * word_mask(x)).amax(1), "maximum"),
    (lambda v, x: v.amax(1), None),
    (lambda v, x: (v * word_mask(x)).mean(2), "parts of a vector"),
    (lambda v, x: v * word_mask(x), "shape"),
    (lambda v, x: (v * word_mask(x)).sum(1) / len(x), None),
    (lambda v, x: (v * word_mask(x)).sum(1) / word_mask(x).sum(1) ** 0.5, None),
    (lambda v, x: (v * word_mask(x)).sum(1) / (word_mask(x).sum(1) + 1), None),
    (lambda v, x: v[:, 0], None),
    (lambda v, x: (v * word_mask(x)).median(1).values, None),
    (lambda v, x: ((v * word_mask(x)).sum(1) / word_mask(x).sum(1)).softmax(1), None),
    (lambda v, x: (v * word_mask(x)).sum(0) / word_mask(x).sum(0).clamp(min=1), None),
]


def forwards(w, s, m, e):
    forward = s * e[:, w[0]]
    for word in w[1:]:
        forward = forward @ m * e[:, word]
    return forward


def in_one_place(words, start, moves, says):
    start *= says[:, words[0]]
    for word in words[1:]:
        start = start @ moves * says[:, word]
    return start.sum()


def best(w, s, m, e):
    found = s * e[:, w[0]]
    for word in w[1:]:
        found = (found[:, None] * m).max(0).values * e[:, word]
    return found.max()


def one_by_one(w, s, m, e):
    total = 1
    for word in w:
        total, s = total * (s @ e[:, word]), s @ m
    return total


def without_moves(w, s, m, e):
    return (s * e[:, w].prod(1)).sum()


NOTE_PROBABILITY = [
    (in_one_place, "changes its argument `start`"),
    (lambda w, s, m, e: forwards(w, s, m.T, e).sum(), "run backwards"),
    (best, "likeliest path"),
    (forwards, "the last topic"),
    (lambda w, s, m, e: forwards(w, torch.ones_like(s) / len(s), m, e).sum(), "not drawn"),
    (lambda w, s, m, e: forwards(w, torch.ones_like(s), m, e).sum(), "first topic is missing"),
    (lambda w, s, m, e: (forwards(w, s, m, e) / e[:, w[0]]).sum(), "first word is missing"),
    (lambda w, s, m, e: forwards(w, s @ m, m, e).sum(), "before the first word"),
    (one_by_one, "independent"),
    (lambda w, s, m, e: forwards(w.flip(0), s, m, e).sum(), "from its end"),
    (lambda w, s, m, e: forwards(w, s, m, e).sum().log(), "logarithm"),
    (lambda w, s, m, e: forwards(w, s, m, e).mean(), "averaged"),
    (lambda w, s, m, e: forwards(w, s, m, e).max(), "last topic"),
    (without_moves, "never moves"),
    (lambda w, s, m, e: -forwards(w, s, m, e).sum().log(), None),
    (lambda w, s, m, e: forwards(w, s, m, e).prod(), None),
    (lambda w, s, m, e: forwards(w, s, m, e).softmax(0), None),
    (lambda w, s, m, e: forwards(w, s, m, e) / forwards(w, s, m, e).sum(), None),
    (lambda w, s, m, e: forwards(w, s, m, e).sum() ** (1 / len(w)), None),
    (lambda w, s, m, e: e[:, w].mean(0).prod(), None),
    (lambda w, s, m, e: 1.0, None),
    (lambda w, s, m, e: 1 - forwards(w, s, m, e).sum(), None),
    (lambda w, s, m, e: s @ e[:, w[0]], None),
]


def priced(p, q, c, *, t=None, by=None):
    """The regret with another threshold, or another price."""
    t = 1 / (1 + c) if t is None else t
    return ((1 + c) * (q - t).abs() if by is None else by) * ((p > t) != (q > t))


def pays(check, q, c):
    return torch.where(check, 1 - q, c * q)


def clips_in_place(said, posterior, c):
    said.clamp_(1e-3, 1 - 1e-3)
    return priced(said, posterior, c).mean()


DECISION_REGRET = [
    (clips_in_place, "changes its argument `said`"),
    (lambda p, q, c: priced(p, q, c, t=0.5).mean(), "whatever a miss costs"),
    (lambda p, q, c: priced(p, q, c, t=c / (1 + c)).mean(), "needs a low one"),
    (lambda p, q, c: priced(p, q, c, by=(q - 1 / (1 + c)).abs()).mean(), "factor 1 + c is missing"),
    (lambda p, q, c: priced(p, q, c, by=c * (q - 1 / (1 + c)).abs()).mean(), "the factor c"),
    (lambda p, q, c: priced(p, q, c, by=(1 + c) * (p - q).abs()).mean(), "between the two"),
    (lambda p, q, c: priced(p, q, c, by=(1 + c) * (p - 1 / (1 + c)).abs()).mean(), "of `said`"),
    (lambda p, q, c: priced(p, q, c, by=1.0).mean(), "share of images"),
    (lambda p, q, c: priced(p, q, c).sum(), "grows with the number of images"),
    (lambda p, q, c: priced(p, q, c), "one number"),
    (lambda p, q, c: -priced(p, q, c).mean(), "sign is reversed"),
    (lambda p, q, c: priced(q, p, c).mean(), "of `said`"),
    (lambda p, q, c: pays(p > 1 / (1 + c), q, c).mean(), "whole expected cost"),
    (lambda p, q, c: pays(q > 1 / (1 + c), q, c).mean(), "nobody can avoid"),
    (lambda p, q, c: ((1 + c) * (q - 1 / (1 + c)).abs()).mean(), "every image has a price"),
    (lambda p, q, c: priced(p, q, c, by=(1 + c) * (q - 1 / (1 + c))).mean(), "cancel"),
    (lambda p, q, c: priced(p, q, c, by=(1 + c) * (q - 1 / (1 + c)) ** 2).mean(), None),
    (lambda p, q, c: (p - q).abs().mean(), "mean distance"),
    (lambda p, q, c: (p - q).square().mean(), "squared distance"),
    (lambda p, q, c: priced(p, q, c).max(), None),
    (lambda p, q, c: priced(p, q, c).median(), None),
    (lambda p, q, c: priced(p, q, 1.0).mean(), None),
    (lambda p, q, c: priced(p, q, c)[(p > 1 / (1 + c)) != (q > 1 / (1 + c))].mean(), None),
    (lambda p, q, c: 100 * priced(p, q, c).mean(), "per cent"),
    (lambda p, q, c: ((p > 1 / (1 + c)) == (q > 1 / (1 + c))).double().mean(), None),
    (lambda p, q, c: round(float(priced(p, q, c).mean()), 2), "2 decimals"),
    (lambda p, q, c: 0.0, None),
]


def prices_in_place(probs, costs):
    costs -= costs.min()
    return (probs @ costs.T).argmin(dim=1)


CHEAPEST_ACTION = [
    (prices_in_place, "changes its argument `costs`"),
    (lambda p, costs: (p @ costs.T).argmax(1), "dearest"),
    (lambda p, costs: (p @ costs.T).min(1).values, "which action has it"),
    (lambda p, costs: p @ costs.T, "expected costs of all actions"),
    (lambda p, costs: p.argmax(1), "most probable class"),
    (lambda p, costs: costs[:, p.argmax(1)].argmin(0), "for the truth"),
    (lambda p, costs: (p @ costs.T).argmin(1) + 1, "from 1"),
    (lambda p, costs: (p @ costs.T).argmin(0), "dim=0"),
    (lambda p, costs: (p @ costs).argmin(1), "Transpose"),
    (lambda p, costs: (p.softmax(1) @ costs.T).argmin(1), "softmax"),
    (lambda p, costs: (p.log() @ costs.T).argmin(1), "logarithm"),
    (lambda p, costs: ((1 - p) @ costs.T).argmin(1), "not"),
    (lambda p, costs: (p[:, None] * costs).amax(2).argmin(1), "largest part"),
    (lambda p, costs: (p[:, None] * costs).amin(2).argmin(1), None),
    (lambda p, costs: costs.mean(1).argmin().expand(len(p)), "one action for all"),
    (lambda p, costs: costs.amax(1).argmin().expand(len(p)), "worst case"),
    (lambda p, costs: (p.mean(0) @ costs.T).argmin().expand(len(p)), "one action for all"),
    (lambda p, costs: (p @ costs.T).argmin(), "shape"),
    (lambda p, costs: one_hot((p @ costs.T).argmin(1), len(costs)), "zeros with a one"),
    (lambda p, costs: (p.square() @ costs.T).argmin(1), None),
    (lambda p, costs: (p @ costs.T.abs()).argmin(1), None),
    (lambda p, costs: (p @ costs.T / costs.sum(1)).argmin(1), None),
    (lambda p, costs: (p @ costs.T).argsort(1)[:, 1:2].squeeze(1), None),
    (lambda p, costs: (p.round() @ costs.T).argmin(1), None),
    (lambda p, costs: (p[:, :-1] @ costs[:, :-1].T).argmin(1), None),
    (lambda p, costs: (p @ costs[:-1].T).argmin(1), None),
    (lambda p, costs: (p @ costs.T).argmin(1).sort().values, None),
    (lambda p, costs: torch.zeros(len(p), dtype=torch.long), None),
]


def place(scores, alpha, more=1):
    """k, counted from 1."""
    return math.ceil(round((len(scores) + more) * (1 - alpha), 9))


def score_at(scores, k):
    return scores.sort().values[min(max(int(k), 1), len(scores)) - 1]


def threshold(scores, alpha):
    k = place(scores, alpha)
    return score_at(scores, k) if k <= len(scores) else 1.0


def sorts_in_place(scores, alpha):
    scores.copy_(scores.sort().values)
    k = place(scores, alpha)
    return scores[k - 1] if k <= len(scores) else 1.0


CONFORMAL_THRESHOLD = [
    (sorts_in_place, "changes its argument `scores`"),
    (lambda s, a: score_at(s, place(s, a, more=0)), "one more"),
    (lambda s, a: score_at(s, place(s, a)), "too few scores"),
    (lambda s, a: score_at(s, math.floor((len(s) + 1) * (1 - a) + 1e-9)), "or rounded down"),
    (lambda s, a: score_at(s, int(len(s) * (1 - a) + 1e-9)), None),
    (lambda s, a: score_at(s, round((len(s) + 1) * (1 - a))), "nearest"),
    (lambda s, a: torch.quantile(s, 1 - a), "between two scores"),
    (lambda s, a: np.quantile(s.numpy(), min((1 - a) * (len(s) + 1) / len(s), 1)), None),
    (lambda s, a: torch.quantile(s, a), None),
    (lambda s, a: s[min(place(s, a), len(s)) - 1], "not sorted"),
    (lambda s, a: score_at(s, math.ceil((len(s) + 1) * a - 1e-9)), "place of alpha"),
    (lambda s, a: -score_at(-s, place(s, a)), "from large to small"),
    (lambda s, a: 1 - threshold(s, a), "bars are cut"),
    (lambda s, a: place(s, a), "place k"),
    (lambda s, a: place(s, a) - 1, "whole"),
    (
        lambda s, a: score_at(s, place(s, a) + 1) if place(s, a) <= len(s) else 1.0,
        "one place too far",
    ),
    (lambda s, a: score_at(s, place(s, a) - 1) if place(s, a) <= len(s) else 1.0, None),
    (lambda s, a: s.mean(), "promises nothing"),
    (lambda s, a: s.max(), None),
    (lambda s, a: s.median(), None),
    (lambda s, a: 1 - a, "argument ignored"),
    (lambda s, a: s.mean() + 1.2816 * s.std() if len(s) > 1 else 1.0, None),
    (lambda s, a: threshold(s, a / 2), "half of alpha"),
    (lambda s, a: threshold(s, a) if place(s, a) <= len(s) else 0.0, None),
    (lambda s, a: threshold(s, a) if place(s, a) <= len(s) else float("inf"), None),
    (lambda s, a: s <= threshold(s, a), "one number was expected"),
    (lambda s, a: s.sort().values, "one number was expected"),
    (lambda s, a: s.sort()[place(s, a)], None),
    (lambda s, a: round(float(threshold(s, a)), 2), "2 decimals"),
    (lambda s: s.sort().values[-1], "takes"),
    (lambda alpha, scores: threshold(scores, alpha), None),
]


def inside(sets, posterior):
    return (sets * posterior).sum(dim=1)


SET_COVERAGE = [
    (lambda s, q, g: inside(s, q).mean(), "over all images"),
    (lambda s, q, g: (inside(s, q) * g).mean(), "number of all images"),
    (lambda s, q, g: inside(s, q)[g].sum(), "grows with the number"),
    (lambda s, q, g: inside(s, q)[~g].mean() if (~g).any() else 0.0, r"\*not\* in the group"),
    (lambda s, q, g: (s * q)[g].mean(), "over the classes too"),
    (lambda s, q, g: s.sum(1)[g].double().mean(), "number of classes in a set"),
    (lambda s, q, g: s[g].double().mean(), "averaged the sets alone"),
    (lambda s, q, g: 1 - inside(s, q)[g].mean(), r"\*not\* covered"),
    (lambda s, q, g: (s * q).amax(1)[g].mean(), "most probable class of the set"),
    (lambda s, q, g: (inside(s, q)[g] >= 0.9).double().mean(), "90 % or more"),
    (
        lambda s, q, g: s.gather(1, q.argmax(1, keepdim=True))[:, 0][g].double().mean(),
        "most probable class is",
    ),
    (lambda s, q, g: inside(s, q)[g], "one number was expected"),
    (lambda s, q, g: inside(s, q), "one number was expected"),
    (lambda s, q, g: (s * q)[g].sum(0), "one number was expected"),
    (lambda s, q, g: (s * q)[g].sum(0).mean(), None),
    (lambda s, q, g: inside(s, q)[g].median(), None),
    (lambda s, q, g: inside(s, q)[g].min(), None),
    (lambda s, q, g: q.amax(1)[g].mean(), None),
    (lambda s, q, g: (q[g] * s[g]).sum(1).mean() / s[g].sum(1).double().mean(), None),
    (lambda s, q, g: ((s * q).sum(1) / s.sum(1).clamp(min=1))[g].mean(), None),
    (lambda s, q, g: g.double().mean(), None),
    (lambda s, q, g: (s * q).sum(0)[g], None),
    (lambda s, q, g: 100 * inside(s, q)[g].mean(), "per cent"),
    (lambda s, q, g: inside(s, q)[g].mean().round(decimals=2), "2 decimals"),
    (lambda s, q, g: s * q[g], None),
    (lambda s, q, g: s[g].mean(), "floats"),
    (lambda s, q, g: inside(s, (2 * q).softmax(1))[g].mean(), None),
    (lambda s, q, g: inside(s, q)[g.nonzero()[0]].mean(), None),
    (lambda s, q, g: print(inside(s, q)[g].mean()), "return"),
    (lambda s, q: inside(s, q).mean(), "takes"),
]


def of_groups(scores, groups, one):
    values = [float(one(scores[groups == k])) for k in range(int(groups.max()) + 1)]
    return torch.tensor(values, dtype=torch.float64)


def only_first(scores, groups, alpha):
    found = torch.ones(int(groups.max()) + 1, dtype=torch.float64)
    for k in range(len(found)):
        found[k] = threshold(scores[groups == k], alpha)
        return found


GROUP_THRESHOLDS = [
    (only_first, None),
    (lambda s, g, a: of_groups(s, g, lambda own: threshold(s, a)), "one of its own"),
    (lambda s, g, a: threshold(s, a), "shape is wrong"),
    (lambda s, g, a: of_groups(s, g, lambda own: score_at(own, place(own, a))), "too few scores"),
    (lambda s, g, a: of_groups(s, g, lambda own: score_at(own, place(own, a, more=0))), "n + 1"),
    (lambda s, g, a: of_groups(s, g, lambda own: own.quantile(1 - a)), "between two scores"),
    (
        lambda s, g, a: of_groups(s, g, lambda own: score_at(own, place(s, a))),
        "number of all scores",
    ),
    (lambda s, g, a: of_groups(s, g, lambda own: threshold(own, a))[g], "for each image"),
    (
        lambda s, g, a: of_groups(s, g, lambda own: threshold(own, a / (int(g.max()) + 1))),
        "divided alpha",
    ),
    (lambda s, g, a: of_groups(s, g, lambda own: threshold(own, a)).max(), "largest threshold"),
    (lambda s, g, a: 1 - of_groups(s, g, lambda own: threshold(own, a)), "bars are cut"),
    (lambda s, g, a: of_groups(s, g, lambda own: own.mean()), "promises nothing"),
    (lambda s, g, a: of_groups(s, g, lambda own: threshold(own, a)).sort().values, "order of"),
    (lambda s, g, a: of_groups(s, g, lambda own: threshold(own, a)).flip(0), "order is reversed"),
    (lambda s, g, a: of_groups(s, g, lambda own: threshold(own, a)).mean(), "mean over all"),
    (lambda s, g, a: of_groups(s, g, lambda own: own.max()), None),
    (
        lambda s, g, a: of_groups(s, g, lambda own: score_at(own, place(own, 1 - a))),
        "1 - alpha in place",
    ),
    (
        lambda s, g, a: of_groups(
            s, g, lambda own: score_at(own, int((len(own) + 1) * (1 - a) + 1e-9))
        ),
        None,
    ),
    (
        lambda s, g, a: of_groups(
            s, g, lambda own: threshold(own, a) if place(own, a) <= len(own) else 0.0
        ),
        None,
    ),
    (
        lambda s, g, a: of_groups(
            s, g, lambda own: threshold(own, a) if place(own, a) <= len(own) else threshold(s, a)
        ),
        None,
    ),
    (lambda s, g, a: of_groups(s, g, lambda own: own[min(place(own, a), len(own)) - 1]), None),
    (lambda s, g, a: of_groups(s, g, lambda own: place(own, a)), "whole"),
    (lambda s, g, a: of_groups(s, g, lambda own: len(own)), "whole"),
    (
        lambda s, g, a: of_groups(s, g, lambda own: threshold(own, a)).round(decimals=2),
        "2 decimals",
    ),
    (lambda s, g, a: [threshold(s[g == k], a) for k in range(int(g.max()))], None),
    (lambda s, g, a: [threshold(s[g == k], a) for k in range(1, int(g.max()) + 1)], None),
    (lambda s, g, a: {k: threshold(s[g == k], a) for k in range(int(g.max()) + 1)}, "dict"),
    (lambda s, g: s, "takes"),
]


def city_logs(c, right, other):
    return c.double() * math.log(right) + (c.sum(1, True) - c).double() * math.log(other)


def others(c):
    return c.shape[1] - 1


def bayes(c, w):
    return city_logs(c, 1 - w, w / others(c)).softmax(1)


def powers(c, w):
    return (1 - w) ** c.double() * (w / others(c)) ** (c.sum(1, True) - c).double()


def bayes_with_prior_in_place(c, w):
    c += 1
    return bayes(c, w)


FACT_POSTERIOR = [
    (lambda c, w: powers(c, w) / powers(c, w).sum(1, True), "logarithm"),
    (lambda c, w: powers(c, w), "sum to 1"),
    (lambda c, w: powers(c, w) / (powers(c, w).sum(1, True) + 1e-9), None),
    (lambda c, w: bayes(c, 0.1), "0.1"),
    (lambda c, w: city_logs(c, 1 - w, w / 23).softmax(1), "23"),
    (lambda c, w: city_logs(c, 1 - w, w / c.shape[1]).softmax(1), "K - 1"),
    (lambda c, w: city_logs(c, 1 - w, w).softmax(1), "K - 1"),
    (lambda c, w: city_logs(c, w, (1 - w) / others(c)).softmax(1), "1 - wrong in place"),
    (lambda c, w: city_logs(c, w / others(c), 1 - w).softmax(1), "exchanged"),
    (lambda c, w: city_logs(c, 1 - w, 1).softmax(1), "name another city"),
    (lambda c, w: city_logs(c, 1, w / others(c)).softmax(1), "have a factor, too"),
    (lambda c, w: bayes(c, w).log(), "logarithm"),
    (lambda c, w: city_logs(c, 1 - w, w / others(c)), "softmax"),
    (lambda c, w: city_logs(c, 1 - w, w / others(c)).softmax(0), "over the questions"),
    (lambda c, w: bayes(c, w).T, "transposed"),
    (lambda c, w: bayes(c, w).argmax(1), "most probable"),
    (lambda c, w: bayes(c, w).amax(1), "confidence"),
    (lambda c, w: bayes(c, w).round(decimals=2), "2 decimals"),
    (lambda c, w: bayes((c > 0).long(), w), "not how often"),
    (lambda c, w: bayes(c.clamp(max=100), w), None),
    (lambda c, w: (c + 1) / (c + 1).sum(1, True), "one more"),
    (lambda c, w: c.double().softmax(1), "softmax of the counts"),
    (lambda c, w: bayes(c, w) * (c.sum(1, True) > 0), "never"),
    (bayes_with_prior_in_place, "changes its argument `counts`"),
]


def city_sums(values, city, cities):
    return torch.stack([values[:, city == k].sum(1) for k in range(cities)], 1)


def last_one_stays(logs, city, cities):
    table = torch.zeros(len(logs), cities, dtype=logs.dtype)
    for s, k in enumerate(city):
        table[:, k] = logs[:, s].exp()
    return table


def added_once(logs, city, cities):
    table = torch.zeros(len(logs), cities, dtype=logs.dtype)
    table[:, city] += logs.exp()
    return table


def logs_overwritten(logs, city, cities):
    return city_sums(logs.exp_(), city, cities)


BY_MEANING = [
    (last_one_stays, "overwrote"),
    (added_once, "overwrote"),
    (logs_overwritten, "changes its argument `log_probs`"),
    (city_sums, "added logarithms"),
    (lambda logs, city, k: city_sums(logs, city, k).exp(), "multiplies"),
    (lambda logs, city, k: city_sums(logs.exp(), city, k).log(), "logarithm"),
    (lambda logs, city, k: city_sums(logs.softmax(1), city, k), "softmax"),
    (lambda logs, city, k: city_sums(logs.exp(), city, k).softmax(1), "no softmax"),
    (lambda logs, city, k: city_sums(logs, city, k).softmax(1), "multiplies"),
    (lambda logs, city, k: city_sums(logs.exp(), city, int(city.max()) + 1), "cities"),
    (lambda logs, city, k: city_sums(logs.exp(), city, 24), "24"),
    (lambda logs, city, k: city_sums(logs.exp(), city, k + 1), r"cities \+ 1"),
    (lambda logs, city, k: city_sums(logs.exp(), city, k - 1), None),
    (lambda logs, city, k: city_sums(logs.exp(), city - 1, k), "city 0"),
    (lambda logs, city, k: city_sums(logs.exp(), city, k).T, "transposed"),
    (lambda logs, city, k: city_sums(logs.exp(), city, k).amax(1), "confidence"),
    (lambda logs, city, k: city_sums(logs.exp(), city, k).argmax(1), "most probable"),
    (lambda logs, city, k: city_sums(logs.exp(), city, k) / len(city), None),
    (lambda logs, city, k: city_sums(logs.exp(), city, k).mean(0), "over the questions"),
    (lambda logs, city, k: city_sums(2**logs, city, k), "powers of 2"),
    (lambda logs, city, k: city_sums((-logs).exp(), city, k), "1 / p"),
    (lambda logs, city, k: city_sums(logs.exp(), city, k).round(decimals=2), "2 decimals"),
    (lambda logs, city, k: logs.exp(), "column for each city"),
]

WRONG = {
    name.lower(): answers
    for name, answers in tuple(globals().items())
    if name.isupper() and isinstance(answers, list)
}
