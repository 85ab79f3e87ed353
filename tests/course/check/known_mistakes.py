"""The known mistakes of each exercise as students write them, apart from the checkers."""

from itertools import pairwise, product

import numpy as np
import torch
from scipy.special import lambertw
from torch.nn.functional import one_hot

from calibkit import metrics, theory


def conf(probs):
    return probs.max(dim=1).values.double()


def hit(probs, labels):
    return (probs.argmax(dim=1) == labels).double()


def bin_numbers(confidence, bins):
    return torch.bucketize(confidence, torch.arange(1, bins).double() / bins)


def per_bin(probs, labels, bins):
    """Lists of (samples, mean confidence, accuracy), one for each non-empty bin."""
    c, h = conf(probs), hit(probs, labels)
    which = bin_numbers(c, bins)
    chosen = [which == b for b in range(bins) if (which == b).any()]
    return [(int(m.sum()), c[m].mean(), h[m].mean()) for m in chosen]


RIGHT = {
    "signed_gap": lambda p, y: float(conf(p).mean() - hit(p, y).mean()),
    "bin_index": lambda c, bins: [sum(float(v) > i / bins for i in range(1, bins)) for v in c],
    "ece": lambda p, y, bins: sum(n * abs(c - a) for n, c, a in per_bin(p, y, bins)) / len(y),
    "brier": lambda p, y: ((p.double() - one_hot(y, p.shape[1])) ** 2).sum() / len(y),
    "classwise_ece": lambda p, y, bins: np.mean(
        [class_error(p, y, bins, k) for k in range(p.shape[1])]
    ),
    "avoidable_brier": lambda p, q: ((p.double() - q) ** 2).sum() / len(q),
}


def class_error(probs, labels, bins, k):
    c, h = probs[:, k].double(), (labels == k).double()
    which = bin_numbers(c, bins)
    return sum(abs(float((c - h)[which == b].sum())) for b in range(bins)) / len(labels)


def by_linspace(confidence, bins):
    inner = torch.linspace(0, 1, bins + 1, dtype=torch.float64)[1:-1]
    return torch.bucketize(confidence.double(), inner)


def half_open(probs, labels, bins, edges, last):
    """The loop over [lo, hi) that many scripts have; `last` ends the last bin."""
    c, h, total = conf(probs), hit(probs, labels), 0.0
    edges = [*edges.double().tolist()[:-1], last]
    for low, high in pairwise(edges):
        inside = (c >= low) & (c < high)
        if inside.any():
            total += float(inside.double().mean() * (c[inside].mean() - h[inside].mean()).abs())
    return total


WRONG = {
    "signed_gap": [
        (lambda p, y: hit(p, y).mean() - conf(p).mean(), "sign is reversed"),
        (lambda p, y: (conf(p).mean() - hit(p, y).mean()).abs(), "dropped the sign"),
        (lambda p, y: p.double().mean() - hit(p, y).mean(), "averaged all probabilities"),
        (lambda p, y: p[range(len(y)), y].double().mean() - hit(p, y).mean(), "true class"),
        (lambda p, y: 100 * (conf(p).mean() - hit(p, y).mean()), "per cent"),
    ],
    "bin_index": [
        (lambda c, bins: [int(float(v) * bins) for v in c], "extra bin"),
        (by_linspace, "linspace"),
        (
            lambda c, bins: [sum(float(v) >= i / bins for i in range(1, bins)) for v in c],
            r"\[lo, hi\)",
        ),
        (
            lambda c, bins: [sum(float(v) >= i / bins for i in range(1, bins + 1)) for v in c],
            "its own. In",
        ),
        (lambda c, bins: torch.ceil(c.double() * bins).clamp(min=1) - 1, "rounding is not"),
        (
            lambda c, bins: np.searchsorted(np.arange(bins + 1) / bins, c.double().numpy()),
            "inner edges only",
        ),
        (lambda c, bins: [int(np.ceil(float(v) * bins)) - 1 for v in c], "bin -1"),
        (lambda c, bins: np.array(RIGHT["bin_index"](c, bins)) + 1, "count bins from 1"),
        (lambda c, bins: torch.round(c.double() * bins), "rounded"),
    ],
    "ece": [
        (
            lambda p, y, b: half_open(p, y, b, torch.tensor([0.0, *range(1, b + 1)]) / b, last=2.0),
            "on the left",
        ),
        (lambda p, y, b: half_open(p, y, b, torch.arange(b + 1) / b, last=1.0), "fell out"),
        (lambda p, y, b: RIGHT["ece"](p, y, 15), "took 15"),
        (lambda p, y, b: RIGHT["ece"](p, y, 10), "took 10"),
        (lambda p, y, b: 100 * RIGHT["ece"](p, y, b), "per cent"),
        (lambda p, y, b: len(y) * RIGHT["ece"](p, y, b), "divide by n"),
        (lambda p, y, b: np.mean([float(abs(c - a)) for _, c, a in per_bin(p, y, b)]), "same in"),
        (lambda p, y, b: sum(float(abs(c - a)) for _, c, a in per_bin(p, y, b)) / b, "number of b"),
        (lambda p, y, b: sum(n * (c - a) for n, c, a in per_bin(p, y, b)) / len(y), "cancel"),
        (lambda p, y, b: abs(conf(p).mean() - hit(p, y).mean()), "single bin"),
        (lambda p, y, b: max(float(abs(c - a)) for _, c, a in per_bin(p, y, b)), "MCE"),
        (
            lambda p, y, b: (sum(n * (c - a) ** 2 for n, c, a in per_bin(p, y, b)) / len(y)) ** 0.5,
            "squared",
        ),
    ],
    "brier": [
        (lambda p, y: ((p.double() - one_hot(y, p.shape[1])) ** 2).mean(), "number of classes"),
        (lambda p, y: ((p.double() - one_hot(y, p.shape[1])) ** 2).sum(), "number of samples"),
        (lambda p, y: RIGHT["brier"](p, y) / 2, "half"),
        (lambda p, y: ((conf(p) - hit(p, y)) ** 2).mean(), "right or wrong"),
        (lambda p, y: ((1 - p[range(len(y)), y].double()) ** 2).mean(), "true class alone"),
        (lambda p, y: (p.double() - one_hot(y, p.shape[1])).norm(dim=1).mean(), "square root"),
    ],
    "classwise_ece": [
        (lambda p, y, b: RIGHT["classwise_ece"](p, y, b) * p.shape[1], "take the mean"),
        (
            lambda p, y, b: np.mean([class_error(p, y, b, k) for k in range(int(y.max()) + 1)]),
            "from the labels",
        ),
        (lambda p, y, b: RIGHT["ece"](p, y, b), "ECE of the predicted class"),
        (lambda p, y, b: RIGHT["classwise_ece"](p, p.argmax(dim=1), b), "for the truth"),
        (
            lambda p, y, b: np.mean(
                [
                    float(RIGHT["ece"](p[p.argmax(1) == k], y[p.argmax(1) == k], b))
                    if (p.argmax(1) == k).any()
                    else 0.0
                    for k in range(p.shape[1])
                ]
            ),
            "split the samples",
        ),
        (lambda p, y, b: max(class_error(p, y, b, k) for k in range(p.shape[1])), "worst class"),
    ],
}


def focal_slope(p, gamma):
    return (1 - p) ** gamma - gamma * p * (1 - p) ** (gamma - 1) * torch.log(p)


def lambert(p0, branch=-1):
    """s, r and u = 1 + gamma s of the equation log u = r (u - 1)."""
    s = -p0 * np.log(p0) / (1 - p0)
    r = -np.log(1 - p0) / s
    return s, r, -lambertw(-r * np.exp(-r), branch).real / r


RIGHT |= {
    "gradient_ratio": focal_slope,
    "gamma_star": lambda p0: (lambert(p0)[2] - 1) / lambert(p0)[0],
    "focal_posterior": lambda p, gamma: (
        1 / (1 + (1 - p) / p * focal_slope(p, gamma) / focal_slope(1 - p, gamma))
    ),
}
WRONG |= {
    "gradient_ratio": [
        (lambda p, g: (1 - p).pow(g), "for a constant"),
        (lambda p, g: (1 - p) ** g + g * p * (1 - p) ** (g - 1) * p.log(), "wrong sign"),
        (lambda p, g: (1 - p) ** g - g * (1 - p) ** (g - 1) * p.log(), "factor p is"),
        (lambda p, g: (1 - p) ** g - p * (1 - p) ** (g - 1) * p.log(), "factor gamma"),
        (lambda p, g: (1 - p) ** g * (1 - g * p * p.log()), "falls by one"),
        (lambda p, g: g * (1 - p) ** (g - 1) * p.log() - (1 - p) ** g / p, "derivative by p"),
        (lambda p, g: -torch.exp(g * torch.log1p(-p)) * p.log(), "loss itself"),
    ],
    "gamma_star": [
        (lambda p0: (lambert(p0, 0)[2] - 1) / lambert(p0)[0], "principal branch"),
        (lambda p0: lambert(p0)[2] / lambert(p0)[0], "stopped at"),
        (lambda p0: lambert(p0)[2] - 1, "Divide by s"),
        (lambda p0: lambert(p0)[2], "Solve it"),
        (lambda p0: (-lambert(p0)[2] - 1) / lambert(p0)[0], "sign got lost"),
        (lambda p0: 3 + 2 * (p0 < 0.2), "rounded rule"),
    ],
    "focal_posterior": [
        (lambda p, g: p, "p itself"),
        (
            lambda p, g: (
                p * focal_slope(p, g) / (p * focal_slope(p, g) + (1 - p) * focal_slope(1 - p, g))
            ),
            "multiplied",
        ),
        (lambda p, g: p / focal_slope(p, g), "sum to 1"),
        (theory.focal_minimiser, "way there"),
        (lambda p, g: p ** (1 + g) / (p ** (1 + g) + (1 - p) ** (1 + g)), "the weight"),
    ],
}


def shares(p):
    return p / p.sum()


RIGHT |= {
    "noise_matrix": lambda p: torch.stack(
        [(1 - p[i]) * torch.eye(len(p), dtype=p.dtype)[i] + p[i] * shares(p) for i in range(len(p))]
    ),
    "noisy_nll": lambda p, t, y: (
        -sum(float((p[i] @ t)[y[i]].log()) for i in range(len(y))) / len(y)
    ),
}
WRONG |= {
    "noise_matrix": [
        (lambda p: torch.outer(p, shares(p)), "left alone"),
        (lambda p: (1 - p).diag() + torch.outer(p, p), "do not sum"),
        (lambda p: (1 - p).diag() + p[:, None] / len(p), "evenly"),
        (
            lambda p: (
                (1 - p).diag()
                + torch.outer(p, p).fill_diagonal_(0) / (p.sum() - p)[:, None].clamp(min=1e-12)
            ),
            "true class again",
        ),
        (lambda p: (1 - p).diag() + shares(p)[None, :], "whole label"),
    ],
    "noisy_nll": [
        (lambda p, t, y: -p[range(len(y)), y].log().mean(), "left the transition"),
        (lambda p, t, y: -(p @ t.mT)[range(len(y)), y].log().mean(), "transposed"),
        (lambda p, t, y: -(p.log() @ t)[range(len(y)), y].mean(), "logarithm first"),
        (lambda p, t, y: -(p @ t)[range(len(y)), y].log().sum(), "take the mean"),
        (lambda p, t, y: (p @ t)[range(len(y)), y].log().mean(), "sign"),
        (lambda p, t, y: -(p @ t)[range(len(y)), y].mean(), "logarithm is missing"),
    ],
}


def one_hot_mix(y, partner, lam, classes):
    rows = one_hot(y, classes).double()
    return lam * rows + (1 - lam) * rows[partner]


RIGHT |= {
    "mixed_labels": one_hot_mix,
    "honest_choice": lambda cal, test: [
        row[best] for row, best in zip(test, cal.argmin(1), strict=True)
    ],
}
WRONG |= {
    "mixed_labels": [
        (lambda y, j, lam, k: (1 - lam) * one_hot(y, k) + lam * one_hot(y[j], k), "exchanged"),
        (lambda y, j, lam, k: lam * one_hot(y) + (1 - lam) * one_hot(y[j]), "class is missing"),
        (lambda y, j, lam, k: torch.lerp(y[j].double(), y.double(), lam), "numbers of the classes"),
        (lambda y, j, lam, k: one_hot(y, k) * lam, "do not sum to 1"),
        (lambda y, j, lam, k: one_hot(y if lam > 0.5 else y[j], k), "hard labels|are whole"),
        (
            lambda y, j, lam, k: (
                lam * one_hot(y, k)
                + (1 - lam) * torch.zeros(len(y), k).index_add_(0, j, one_hot(y, k).float())
            ),
            "index with partner",
        ),
    ],
    "honest_choice": [
        (lambda cal, test: test.min(1).values, "on the test set"),
        (lambda cal, test: cal.min(1).values, "data that chose"),
        (lambda cal, test: cal.argmin(1), "position"),
        (lambda cal, test: test[:, cal.sum(0).argmin()], "one strength for all"),
        (lambda cal, test: test.sum(1) / test.shape[1], "nothing was chosen"),
        (lambda cal, test: test[range(len(test)), cal.argmax(1)], "argmin"),
    ],
}


def interval(off, half):
    return [off.mean() - half, off.mean(), off.mean() + half]


def error(off):
    return off.std() / len(off) ** 0.5


def off(p, y):
    return conf(p) - hit(p, y)


RIGHT |= {"gap_interval": lambda p, y: interval(off(p, y), 1.96 * error(off(p, y)))}
WRONG |= {
    "gap_interval": [
        (lambda p, y: interval(off(p, y), 1.96 * off(p, y).std()), "single images"),
        (lambda p, y: interval(off(p, y), 1.96 * off(p, y).std() / len(y)), "*root*"),
        (lambda p, y: interval(off(p, y), error(off(p, y))), "95 % take 1.96"),
        (lambda p, y: interval(off(p, y), 0.98 * error(off(p, y))), "*each* side"),
        (lambda p, y: interval(off(p, y), 1.96 * off(p, y).var() / len(y) ** 0.5), "variance"),
        (
            lambda p, y: interval(off(p, y), 1.96 * off(p, y).std(correction=0) / len(y) ** 0.5),
            "n - 1",
        ),
        (lambda p, y: interval(-off(p, y), 1.96 * error(off(p, y))), "reversed"),
        (lambda p, y: interval(off(p, y).abs(), 1.96 * error(off(p, y).abs())), "image by image"),
        (lambda p, y: interval(off(p, y), 1.96 * error(hit(p, y))), "hits alone"),
        (lambda p, y: interval(off(p, y), 1.96 * error(off(p, y)))[::-1], "exchanged"),
    ],
}


def own_losses(probs, labels):
    losses = -torch.log(probs[range(len(labels)), labels].double())
    return losses, hit(probs, labels)


def parts(probs, labels):
    losses, right = own_losses(probs, labels)
    return (losses * right).mean(), (losses * (1 - right)).mean()


def stopped(losses, patience):
    """(kept, last) by counting how long ago the least value was."""
    for last in range(len(losses)):
        kept = int(torch.argmin(losses[: last + 1]))
        if last == kept + patience:
            break
    return kept, last


def stopped_at_rises(losses, patience):
    kept, rises = 0, 0
    for last in range(1, len(losses)):
        rises = rises + 1 if losses[last] >= losses[last - 1] else 0
        kept = last if losses[last] < losses[kept] else kept
        if rises == patience:
            return kept, last
    return kept, len(losses) - 1


RIGHT |= {"nll_parts": parts, "early_stop": stopped}
WRONG |= {
    "nll_parts": [
        (
            lambda p, y: [
                own_losses(p, y)[0][own_losses(p, y)[1] == right].mean() for right in (1, 0)
            ],
            "its own group",
        ),
        (lambda p, y: (parts(p, y)[1], parts(p, y)[0]), "order is not"),
        (lambda p, y: [len(y) * part for part in parts(p, y)], "divide by n"),
        (
            lambda p, y: [(-conf(p).log() * part).mean() for part in (hit(p, y), 1 - hit(p, y))],
            "of the confidence",
        ),
        (lambda p, y: [-part for part in parts(p, y)], "sign is reversed"),
        (lambda p, y: [part / np.log(10) for part in parts(p, y)], "base 10"),
    ],
    "early_stop": [
        (lambda v, k: (int(v.argmin()), len(v) - 1), "nobody knows the later ones"),
        (lambda v, k: stopped(v, k + 1), "one epoch too long"),
        (lambda v, k: (stopped(v, k)[1], stopped(v, k)[0]), "order is not"),
        (lambda v, k: (stopped(v, k)[1], stopped(v, k)[1]), "least value so far"),
        (lambda v, k: [n + 1 for n in stopped(v, k)], "from 0"),
        (stopped_at_rises, "with the one before"),
        (lambda v, k: stopped(-v, k), "is smaller"),
    ],
    "avoidable_brier": [
        (lambda p, q: ((p.double() - q) ** 2).mean(), "number of classes"),
        (lambda p, q: ((p.double() - q) ** 2).sum(), "number of images"),
        (lambda p, q: (p.double() - q).abs().sum(1).mean(), "absolute"),
        (lambda p, q: (p.double() - q).norm(dim=1).mean(), "square root"),
        (lambda p, q: (q * (1 - q)).sum(1).mean(), "nobody can avoid"),
    ],
}


def weighed(p, old, new):
    return p * new / old


def of_class(p, y, order, measure=metrics.ece):
    return [measure(p[y == k], y[y == k]) for k in order]


RIGHT |= {
    "other_prior": lambda p, old, new: weighed(p, old, new) / (p @ (new / old))[:, None],
    "class_errors": of_class,
}
WRONG |= {
    "other_prior": [
        (weighed, "do not sum to 1"),
        (lambda p, old, new: weighed(p, new, old) / (p @ (old / new))[:, None], "exchanged"),
        (lambda p, old, new: (p / old) / (p / old).sum(1)[:, None], "new prior is missing"),
        (lambda p, old, new: (p * new) / (p @ new)[:, None], "still in it"),
        (lambda p, old, new: (p * old) / (p @ old)[:, None], "second time"),
        (lambda p, old, new: (p / new) / (p / new).sum(1)[:, None], "divided by the new prior"),
        (lambda p, old, new: weighed(p, old, new).softmax(-1), "softmax"),
        (lambda p, old, new: weighed(p, old, new).clamp(0, 1), "cutting off"),
    ],
    "class_errors": [
        (
            lambda p, y, order: [
                metrics.ece(p[m], y[m]) for m in (p.argmax(1) == k for k in order)
            ],
            "predicted class",
        ),
        (lambda p, y, order: of_class(p, y, range(len(order))), "classes' numbers"),
        (lambda p, y, order: of_class(p, y, reversed(order.tolist())), "other way round"),
        (lambda p, y, order: of_class(p, y, order, metrics.accuracy), "the accuracy of each class"),
        (
            lambda p, y, order: (
                np.array(of_class(p, y, order)) * (y.bincount() / len(y))[order].numpy()
            ),
            "weighted each class",
        ),
        (
            lambda p, y, order: np.abs(of_class(p, y, order, metrics.signed_gap)),
            "single bin",
        ),
        (
            lambda p, y, order: 1 - np.array(of_class(p, y, order, metrics.accuracy)),
            "share of wrong predictions",
        ),
    ],
}


def halved(f, low=0.05, high=50.0):
    for _ in range(30):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if f(middle) > 0 else (low, middle)
    return low


def nll_at(z, y, T):
    return torch.nn.functional.cross_entropy(z.double() / T, y).item()


def coolest(z, y, low=0.05, high=50.0, rounds=60, loss=nll_at):
    for _ in range(rounds):
        left, right = low ** (2 / 3) * high ** (1 / 3), low ** (1 / 3) * high ** (2 / 3)
        low, high = (left, high) if loss(z, y, left) > loss(z, y, right) else (low, right)
    return low


RIGHT |= {"fitted_temperature": coolest}
WRONG |= {
    "fitted_temperature": [
        (lambda z, y: 1 / coolest(z, y), "1 / T"),
        (lambda z, y: np.log(coolest(z, y)), "log T"),
        (lambda z, y: nll_at(z, y, coolest(z, y)), "NLL at T"),
        (lambda z, y: coolest(z, y, low=1.0), "below 1"),
        (lambda z, y: coolest(z, z.argmax(1)), "predicted class"),
        (lambda z, y: coolest(z.softmax(1), y), "of probabilities"),
        (lambda z, y: min(np.arange(0.1, 50, 0.1), key=lambda T: nll_at(z, y, T)), "too coarse"),
    ],
}


def row_entropy(p):
    return torch.special.entr(p).sum(1)[:, None]


def most_confident(c, share):
    return c.topk(round(share * len(c))).indices


RIGHT |= {
    "penalty_posterior": lambda p, w: p * (1 + w * (row_entropy(p) + p.log())),
    "selective_risk": lambda c, a, share: 1 - a[most_confident(c, share)].double().mean(),
}
WRONG |= {
    "penalty_posterior": [
        (lambda p, w: p, "weight 0 only"),
        (lambda p, w: p * (1 + w * p.log()), "entropy is missing"),
        (lambda p, w: p * (1 + w * (p.log() - row_entropy(p))), "wrong sign"),
        (lambda p, w: p * (1 - w * (p.log() + row_entropy(p))), "must gain"),
        (lambda p, w: p * (1 + w * (p.log() + row_entropy(p).mean())), "whole table"),
    ],
    "selective_risk": [
        (lambda c, a, share: a[most_confident(c, share)].double().mean(), "is the accuracy"),
        (lambda c, a, share: 1 - a[most_confident(-c, share)].double().mean(), "least"),
        (lambda c, a, share: (~a)[most_confident(c, share)].sum() / len(a), "number that is kept"),
        (lambda c, a, share: 1 - a.double().mean(), "of all predictions"),
        (lambda c, a, share: 1 - a[: round(share * len(a))].double().mean(), "first predictions"),
        (lambda c, a, share: 1 - c[most_confident(c, share)].mean(), "confidences state"),
    ],
}


def steps_532(p, gammas=(5.0, 3.0, 2.0)):
    return [gammas[int(a >= 0.2) + int(a >= 0.5)] for a in p.tolist()]


def exponentials(z):
    return z.sub(z.amax(-1, keepdim=True)).exp()


def each_network(z):
    return exponentials(z) / exponentials(z).sum(-1, keepdim=True)


RIGHT |= {
    "sample_gamma": steps_532,
    "ensemble_probs": lambda z: sum(each_network(one) for one in z) / len(z),
}
WRONG |= {
    "sample_gamma": [
        (lambda p: steps_532(p, (5, 3, 3)), "this is FLSD-53"),
        (lambda p: steps_532(p, (2, 3, 5)), "reversed"),
        (lambda p: steps_532(p, (3, 3, 2)), "overwrites"),
        (lambda p: steps_532(p, (5, 2, 2)), "no sample gets gamma 3"),
        (lambda p: steps_532(p, (5, 3, 0)), "not 0"),
        (lambda p: steps_532(p, (10, 5, 2)), "too much"),
        (lambda p: steps_532(1 - p), "1 - p for p"),
    ],
    "ensemble_probs": [
        (lambda z: each_network(z.sum(0) / len(z)), "averaged the logits"),
        (lambda z: each_network(z).log().mean(0).exp(), "geometric"),
        (lambda z: sum(each_network(one) for one in z), "number of networks"),
        (lambda z: each_network(z.sum(0)), "added up the logits"),
        (lambda z: each_network(z.transpose(0, 2)).transpose(0, 2).mean(0), "over the networks"),
        (lambda z: z.sum(0) / len(z), "mean logits"),
        (lambda z: each_network(z)[0], "first network"),
        (lambda z: each_network(sum(each_network(z)) / len(z)), "second softmax"),
    ],
}


def of_noise(scores, one_hot, old, new):
    weights = (scores * old**2 / new**2).exp()
    return (weights / weights.sum(dim=1, keepdim=True)) @ one_hot


def pairs(familiar, strange):
    return [(a > b) + (a == b) / 2 for a in familiar.tolist() for b in strange.tolist()]


RIGHT |= {
    "informed_posterior": lambda z, rows, old, new: of_noise(
        z - z.amax(dim=1, keepdim=True), rows, old, new
    ),
    "strange_auroc": lambda a, b: np.mean(pairs(a, b)),
    "lost_confidence": lambda p: float((p.amax(2).mean(0) - p.mean(0).amax(1)).mean()),
}
WRONG |= {
    "informed_posterior": [
        (of_noise, "NaN"),  # of the course's own digits, read at another noise, nearly all
        (lambda z, rows, old, new: z.softmax(1) @ rows, "old noise"),
        (lambda z, rows, old, new: (z * old / new).softmax(1) @ rows, "not squared"),
        (lambda z, rows, old, new: (z * (new / old) ** 2).softmax(1) @ rows, "upside down"),
        (
            lambda z, rows, old, new: ((z.softmax(1) @ rows).log() * (old / new) ** 2).softmax(1),
            "of the *classes*",
        ),
        (lambda z, rows, old, new: (z * (old / new) ** 2).softmax(1), "each clean digit"),
        (lambda z, rows, old, new: (z * (old / new) ** 2).exp() @ rows, "do not sum to 1"),
    ],
    "strange_auroc": [
        (lambda a, b: 1 - np.mean(pairs(a, b)), "reversed"),
        (lambda a, b: (a[:, None] > b).double().mean(), "counts nothing"),
        (lambda a, b: (a[:, None] >= b).double().mean(), ">= in place of >"),
        (lambda a, b: np.sum(pairs(a, b)), "number of all pairs"),
        (lambda a, b: a.mean() - b.mean(), "difference of means"),
    ],
    "lost_confidence": [
        (lambda p: p.mean(0).amax(1).mean() - p.amax(2).mean(), "sign"),
        (lambda p: p.amax(2).mean(), "of the members"),
        (lambda p: p.mean(0).amax(1).mean(), "of the ensemble"),
        (lambda p: p.amax(2).mean(0) - p.mean(0).amax(1), "each image"),
        (lambda p: (p.amax(2).amax(0) - p.mean(0).amax(1)).mean(), "surest member"),
    ],
}


def group_sums(c, h, g):
    """Of each group: the sum of c - h, that of c (1 - c), and the number of samples."""
    c, h, count = c.double(), h.double(), int(g.max()) + 1
    columns = (c - h, c * (1 - c), torch.ones_like(c))
    return [torch.bincount(g, values, minlength=count) for values in columns]


def z_of(c, h, g):
    off, variance, _ = group_sums(c, h, g)
    return off / variance**0.5


def crossed(z, y, first, swap=False):
    found = {part: scaled(z[first == part], y[first == part]) for part in (True, False)}
    rows = [row / found[bool(part) == swap] for row, part in zip(z, first, strict=True)]
    return torch.stack(rows).softmax(1)


def scaled(z, y):
    """The T of the least NLL, by halving the slope in log T."""
    z, y = z.double(), y.long()

    def slope(T):
        mean = ((z / T).softmax(1) * z).sum(1)
        return float((mean - z[range(len(y)), y]).sum())

    return halved(slope)


RIGHT |= {"group_z": z_of, "cross_fitted": crossed}
WRONG |= {
    "group_z": [
        (lambda c, h, g: group_sums(c, h, g)[0] / group_sums(c, h, g)[2], "signed gap"),
        (lambda c, h, g: group_sums(c, h, g)[0], "standard deviation"),
        (lambda c, h, g: -z_of(c, h, g), "sign is reversed"),
        (lambda c, h, g: z_of(c, h, g) / group_sums(c, h, g)[2] ** 0.5, "grows"),
        (lambda c, h, g: z_of(c, h, g) / group_sums(c, h, g)[2], "both of the sum"),
        (lambda c, h, g: group_sums(c, h, g)[0] / group_sums(c, h, g)[1], "square root"),
        (lambda c, h, g: z_of(c, h, g).abs(), "Keep the sign"),
    ],
    "cross_fitted": [
        (lambda z, y, f: crossed(z, y, f, swap=True), "own temperature"),
        (lambda z, y, f: (z / scaled(z, y)).softmax(1), "all labels"),
        (lambda z, y, f: (z / scaled(z[f], y[f])).softmax(1), "first part"),
        (lambda z, y, f: (z / scaled(z[~f], y[~f])).softmax(1), "second part"),
        (lambda z, y, f: crossed(z, y, f).log(), None),
        (lambda z, y, f: z.softmax(1), "no temperature"),
    ],
}


def real_places(p, y):
    """Confidence and hits of the places that are not padding."""
    mask = y.gt(0)
    top = p[mask].max(1)
    return top.values, (top.indices == y[mask]).double()


def mass_after(rows, p, prefix, words, seen=None):
    """For each word, the probability of the translations that go on with it."""
    seen = len(prefix) if seen is None else seen
    mass = torch.zeros(words).double()
    for row, share in zip(rows, p, strict=True):
        if row[:seen].tolist() == prefix[:seen].tolist():
            mass[row[seen]] += share
    return mass


RIGHT |= {
    "masked_gap": lambda p, y: real_places(p, y)[0].mean() - real_places(p, y)[1].mean(),
    "next_law": lambda *given: mass_after(*given) / mass_after(*given).sum(),
}
WRONG |= {
    "masked_gap": [
        (lambda p, y: p.amax(2).mean() - (p.argmax(2) == y).double().mean(), "is counted"),
        (lambda p, y: real_places(p, y)[1].mean() - real_places(p, y)[0].mean(), "reversed"),
        (lambda p, y: (real_places(p, y)[0] - real_places(p, y)[1]).sum() / y.numel(), "divide"),
        (lambda p, y: (real_places(p, y)[0] - real_places(p, y)[1]).sum(), "this is a sum"),
        (lambda p, y: (real_places(p, y)[0] - real_places(p, y)[1]).sum() / len(y), "sentences"),
        (lambda p, y: real_places(p, y)[0].mean(), "Subtract"),
        (lambda p, y: real_places(p, y)[1].mean(), "Subtract it"),
        (lambda p, y: (real_places(p, y)[0] - real_places(p, y)[1]).abs().mean(), "has a sign"),
    ],
    "next_law": [
        (mass_after, "sum to 1"),
        (
            lambda r, p, x, w: (
                mass_after(r, torch.ones(len(r)), x, w)
                / mass_after(r, torch.ones(len(r)), x, w).sum()
            ),
            "Weigh",
        ),
        (
            lambda r, p, x, w: (
                mass_after(r, p, x, w, max(0, len(x) - 1))
                / mass_after(r, p, x, w, max(0, len(x) - 1)).sum()
            ),
            "word after it",
        ),
        (lambda *given: mass_after(*given).softmax(0), "another law"),
        (lambda *given: mass_after(*given) / mass_after(*given).amax(), "largest"),
    ],
}


def surest_last(worth, share):
    order = torch.as_tensor(worth).argsort(descending=True, stable=True)
    return order[: round(share * len(order))].sort().values


def doubt(p):
    return torch.special.entr(p.double()).sum(1)


def costs(share, warmup, epochs, scoring):
    return [1.0] * warmup + [share + scoring] * (epochs - warmup)


def on(q, y, chosen):
    return q[chosen].max(1).values.mean(), (q[chosen].argmax(1) == y[chosen]).double().mean()


RIGHT |= {
    "top_entropy": lambda p, share: surest_last(doubt(p), share),
    "selection_cost": lambda *settings: np.mean(costs(*settings)),
    "chosen_gap": lambda q, y, chosen: on(q, y, chosen)[0] - on(q, y, chosen)[1],
}
WRONG |= {
    "top_entropy": [
        (lambda p, share: surest_last(-doubt(p), share), "lowest entropy"),
        (lambda p, share: doubt(p).topk(round(share * len(p))).indices, "ascending order"),
        (lambda p, share: surest_last(-(p * p.log()).sum(1), share), "NaN"),
        (lambda p, share: surest_last(-p.max(1).values, share), "least confidence"),
        (
            lambda p, share: surest_last(-p.topk(2).values.diff(dim=1)[:, 0].abs(), share),
            "two largest",
        ),
        (lambda p, share: doubt(p).topk(int(share * len(p))).indices.sort().values, "round it"),
        (lambda p, share: doubt(p), "entropies"),
        (lambda p, share: range(round(share * len(p))), "first rows"),
        (lambda p, share: surest_last(doubt(p), 1 - share), "left out"),
    ],
    "selection_cost": [
        (lambda s, w, e, c: np.mean(costs(s, w, e, 0)), "scoring is missing"),
        (lambda s, w, e, c: s + c, "warm-up is missing"),
        (lambda s, w, e, c: s, "neither"),
        (lambda s, w, e, c: np.mean(costs(s, w, e, s * c)), "chosen images only"),
        (lambda s, w, e, c: np.mean(costs(s, w, e, 0)) + c, "during the warm-up"),
        (lambda s, w, e, c: 1 - np.mean(costs(s, w, e, c)), "saved"),
        (lambda s, w, e, c: sum(costs(s, w, e, c)), "cost in epochs"),
        (lambda s, w, e, c: w / e + s + c, "on top"),
    ],
    "chosen_gap": [
        (lambda q, y, chosen: metrics.signed_gap(q, y), "all images"),
        (lambda q, y, chosen: on(q, y, chosen)[1] - on(q, y, chosen)[0], "reversed"),
        (lambda q, y, chosen: abs(on(q, y, chosen)[0] - on(q, y, chosen)[1]), "sign"),
        (lambda q, y, chosen: metrics.signed_gap(q[: len(chosen)], y[: len(chosen)]), "first rows"),
        (lambda q, y, chosen: on(q, y, chosen)[0], "confidence alone"),
        (lambda q, y, chosen: on(q, y, chosen)[1], "alone"),
    ],
}


def cut(images, patch):
    """(n, rows, patch, columns, patch)"""
    n, height, width = images.shape
    return images.reshape(n, height // patch, patch, width // patch, patch)


def spread_tokens(images, patch, *axes):
    return cut(images, patch).permute(0, *axes).reshape(len(images), -1, patch * patch)


def over_root(queries, keys, by=None):
    return queries.matmul(keys.t()) / (keys.size(1) ** 0.5 if by is None else by)


RIGHT |= {
    "patch_tokens": lambda x, p: spread_tokens(x, p, 1, 3, 2, 4),
    "attention": lambda q, k, v: each_network(over_root(q, k)) @ v,
}
WRONG |= {
    "patch_tokens": [
        (lambda x, p: x.reshape(len(x), -1, p * p), "one row after the other"),
        (lambda x, p: spread_tokens(x, p, 3, 1, 2, 4), "run down the columns"),
        (lambda x, p: spread_tokens(x, p, 1, 3, 4, 2), "inside a patch"),
        (lambda x, p: spread_tokens(x, p, 3, 1, 4, 2), "height and width"),
        (lambda x, p: cut(x, p).permute(0, 1, 3, 2, 4).flatten(1, 2), "in a square"),
        (lambda x, p: cut(x, p).permute(0, 1, 3, 2, 4).flatten(3), "rows and columns"),
        (lambda x, p: spread_tokens(x, p, 1, 3, 2, 4).transpose(1, 2), "exchanged"),
        (lambda x, p: spread_tokens(x, p, 1, 3, 2, 4).mean(-1), "averaged"),
        (lambda x, p: spread_tokens(x, p, 1, 3, 2, 4).reshape(-1, p * p), "mixed with"),
    ],
    "attention": [
        (lambda q, k, v: each_network(over_root(q, k, 1)) @ v, "is missing"),
        (lambda q, k, v: each_network(over_root(q, k, k.size(1))) @ v, "square root"),
        (lambda q, k, v: each_network(over_root(q, k, len(k) ** 0.5)) @ v, "of tokens"),
        (lambda q, k, v: each_network(over_root(q, k, k.size(1) ** -0.5)) @ v, "multip"),
        (lambda q, k, v: each_network(over_root(q, k).t()).t() @ v, "wrong axis"),
        (lambda q, k, v: each_network(over_root(q, k)), "these are the weights"),
        (lambda q, k, v: over_root(q, k) @ v, "softmax is missing"),
        (lambda q, k, v: each_network(over_root(k, q)) @ v, "exchanged"),
        (lambda q, k, v: each_network(over_root(q, k)).t() @ v, "transposed"),
        (lambda q, k, v: each_network(over_root(q, k)) @ k, "averaged the keys"),
        (lambda q, k, v: each_network(over_root(q, v)) @ v, "with the values"),
    ],
}


def text_means(v, x, length=None):
    """Word by word, in plain loops; `length` stands for what divides."""
    rows = []
    for vectors, numbers in zip(v, x, strict=True):
        kept = [vector for vector, number in zip(vectors, numbers, strict=True) if number]
        rows.append(sum(kept) / (length or len(kept)))
    return torch.stack(rows)


def paths(w, s, m, e):
    """Every path of topics with its probability and the words'."""
    found = []
    for path in product(range(len(s)), repeat=len(w)):
        p = s[path[0]]
        for g, h in pairwise(path):
            p = p * m[g, h]
        for h, word in zip(path, w, strict=True):
            p = p * e[h, word]
        found.append(float(p))
    return found


RIGHT |= {"masked_mean": text_means, "note_probability": lambda *tables: sum(paths(*tables))}
WRONG |= {
    "masked_mean": [
        (lambda v, x: v.sum(1) / x.shape[1], "padding counts as words"),
        (lambda v, x: text_means(v, x, x.shape[1]), "padded length"),
        (lambda v, x: v.sum(1) / (x > 0).sum(1, keepdim=True), "the sum still has"),
        (lambda v, x: text_means(v, x, 1), "this is the sum"),
        (lambda v, x: text_means(v, x, int((x > 0).sum())), "all texts together"),
        (lambda v, x: v[x > 0].mean(0), "Keep a row each text"),
        (lambda v, x: (v * x[:, :, None]).sum(1) / (x > 0).sum(1, True), "only a name"),
    ],
    "note_probability": [
        (lambda w, s, m, e: sum(paths(w, s, m.t(), e)), "run backwards"),
        (lambda *tables: max(paths(*tables)), "likeliest path"),
        (lambda w, s, m, e: sum(paths(w, s * 0 + 1 / len(s), m, e)), "not drawn"),
        (lambda w, s, m, e: sum(paths(w, s * 0 + 1, m, e)), "first topic is missing"),
        (lambda w, s, m, e: sum(paths(w.flip(0), s, m, e)), "from its end"),
        (lambda *tables: np.log(sum(paths(*tables))), "logarithm"),
        (lambda w, s, m, e: sum(paths(w, s, m, e)) / len(s), "averaged"),
    ],
}


def lost(said, truth, c, threshold=None, scale=None):
    """Image by image in plain Python; threshold, scale: what stands for 1 / (1 + c) and 1 + c."""
    t = 1 / (1 + c) if threshold is None else threshold
    factor = 1 + c if scale is None else scale
    pairs = zip(said.tolist(), truth.tolist(), strict=True)
    return [factor * abs(q - t) if (p > t) != (q > t) else 0.0 for p, q in pairs]


def prices(probs, costs):
    return [[float(row.double() @ line.double()) for line in costs] for row in probs]


RIGHT |= {
    "decision_regret": lambda p, q, c: np.mean(lost(p, q, c)),
    "cheapest_action": lambda p, costs: [int(np.argmin(row)) for row in prices(p, costs)],
}
WRONG |= {
    "decision_regret": [
        (lambda p, q, c: np.mean(lost(p, q, c, 0.5)), "whatever a miss costs"),
        (lambda p, q, c: np.mean(lost(p, q, c, c / (1 + c))), "needs a low one"),
        (lambda p, q, c: np.mean(lost(p, q, c, None, 1)), "factor 1 + c is missing"),
        (lambda p, q, c: np.mean(lost(p, q, c, None, c)), "the factor c"),
        (lambda p, q, c: np.sum(lost(p, q, c)), "number of images"),
        (lambda p, q, c: np.mean(np.array(lost(p, q, c)) > 0), "share of images"),
        (lambda p, q, c: np.mean(np.minimum(1 - q.numpy(), c * q.numpy())), "nobody can avoid"),
    ],
    "cheapest_action": [
        (lambda p, costs: [int(np.argmax(row)) for row in prices(p, costs)], "dearest"),
        (lambda p, costs: [int(np.argmin(row)) + 1 for row in prices(p, costs)], "from 1"),
        (lambda p, costs: [min(row) for row in prices(p, costs)], "which action has it"),
        (lambda p, costs: np.argmax(p.numpy(), axis=1), "most probable class"),
        (lambda p, costs: prices(p, costs), "expected costs of all"),
        (lambda p, costs: prices(1 - p, costs) and np.argmin(prices(1 - p, costs), 1), "not"),
    ],
}


def place_of(s, a):
    """k, counted from 1, by trying."""
    return next(k for k in range(1, len(s) + 2) if k >= (len(s) + 1) * (1 - a) - 1e-9)


def threshold_of(s, a):
    return [*sorted(s.tolist()), 1.0][place_of(s, a) - 1]


def by_group(s, g, one):
    return [float(one(s[g == k])) for k in range(int(g.max()) + 1)]


RIGHT |= {
    "conformal_threshold": threshold_of,
    "set_coverage": lambda s, q, g: torch.where(s, q, 0.0)[g].sum() / g.sum(),
    "group_thresholds": lambda s, g, a: by_group(s, g, lambda own: threshold_of(own, a)),
}
WRONG |= {
    "conformal_threshold": [
        (lambda s, a: s.sort().values[int(np.ceil(len(s) * (1 - a) - 1e-9)) - 1], "one more"),
        (lambda s, a: s.quantile(1 - a), "between two scores"),
        (lambda s, a: sorted(s.tolist())[min(place_of(s, a), len(s)) - 1], "too few scores"),
        (lambda s, a: s[min(place_of(s, a), len(s)) - 1], "not sorted"),
        (lambda s, a: 1 - threshold_of(s, a), "bars are cut"),
        (place_of, "this is the place"),
        (lambda s, a: s.sum() / len(s), "promises nothing"),
    ],
    "set_coverage": [
        (lambda s, q, g: (s * q).sum(1).mean(), "over all images"),
        (lambda s, q, g: (s * q)[g].sum() / len(g), "number of all images"),
        (lambda s, q, g: (s * q)[g].sum(), "grows with the number"),
        (lambda s, q, g: (s * q)[g].mean(), "over the classes too"),
        (lambda s, q, g: s[g].sum() / g.sum(), "number of classes in a set"),
        (lambda s, q, g: 1 - (s * q)[g].sum() / g.sum(), "not\\* covered"),
        (
            lambda s, q, g: s[range(len(q)), q.argmax(1)][g].double().mean(),
            "most probable class is",
        ),
    ],
    "group_thresholds": [
        (lambda s, g, a: by_group(s, g, lambda own: threshold_of(s, a)), "one of its own"),
        (lambda s, g, a: by_group(s, g, lambda own: own.quantile(1 - a)), "between two scores"),
        (
            lambda s, g, a: by_group(
                s, g, lambda own: own.sort().values[min(place_of(own, a), len(own)) - 1]
            ),
            "too few scores",
        ),
        (
            lambda s, g, a: max(by_group(s, g, lambda own: threshold_of(own, a))),
            "largest threshold",
        ),
        (
            lambda s, g, a: sorted(by_group(s, g, lambda own: threshold_of(own, a))),
            "order of their",
        ),
        (
            lambda s, g, a: np.array(by_group(s, g, lambda own: threshold_of(own, a)))[g.numpy()],
            "for each image",
        ),
    ],
}


def sentence_logs(counts, right, other):
    """log P(sentences | city) in plain loops, up to nothing: a list a question."""
    return [
        [m * np.log(right) + (sum(row) - m) * np.log(other) for m in row] for row in counts.tolist()
    ]


def row_shares(logs):
    """exp of each row, divided by its sum."""
    weights = [np.exp(np.array(row) - max(row)) for row in logs]
    return [row / row.sum() for row in weights]


def told(counts, right, other):
    return row_shares(sentence_logs(counts, right, other))


def by_city(log_probs, city, cities, join=sum):
    """The wordings of each city, joined one question at a time."""
    return [
        [
            join([np.exp(v) for v, c in zip(row, city.tolist(), strict=True) if c == k] or [0.0])
            for k in range(cities)
        ]
        for row in log_probs.tolist()
    ]


RIGHT |= {
    "fact_posterior": lambda c, w: told(c, 1 - w, w / (c.shape[1] - 1)),
    "by_meaning": by_city,
}
WRONG |= {
    "fact_posterior": [
        (lambda c, w: told(c, 1 - w, w / c.shape[1]), "K - 1"),
        (lambda c, w: told(c, 1 - w, w), "K - 1"),
        (lambda c, w: told(c, 1 - w, 1), "other"),
        (lambda c, w: sentence_logs(c, 1 - w, w / (c.shape[1] - 1)), "logarithm"),
        (lambda c, w: np.exp(sentence_logs(c, 1 - w, w / (c.shape[1] - 1))), "sum to 1"),
        (lambda c, w: (c + 1.0) / (c + 1.0).sum(1, keepdim=True), "share"),
        (lambda c, w: np.argmax(c.numpy(), axis=1), "named most often"),
    ],
    "by_meaning": [
        (lambda p, city, k: by_city(p, city, k, max), "best wording"),
        (lambda p, city, k: by_city(p, city, k, np.mean), "mean"),
        (lambda p, city, k: by_city(p, city, k, np.prod), "product"),
        (lambda p, city, k: np.log(by_city(p, city, k)), "logarithm"),
        (lambda p, city, k: by_city(p.softmax(1), city, k), None),
        (lambda p, city, k: by_city(p.log_softmax(1), city, k), "softmax"),
        (lambda p, city, k: by_city(p, city, int(city.max()) + 1), "cities"),
        (lambda p, city, k: by_city(p, city, k, lambda ways: ways[-1]), "overwrote"),
    ],
}


def smoothed(z, y, kept, others):
    log_p = z.log_softmax(1)
    return -(kept * log_p[range(len(y)), y] + others * log_p.sum(1))


RIGHT |= {"smoothed_loss": lambda z, y, a: smoothed(z, y, 1 - a, a / z.shape[1]).mean()}
WRONG |= {
    "smoothed_loss": [
        (lambda z, y, a: smoothed(z, y, 1, 0).mean(), "nothing is smoothed"),
        (lambda z, y, a: smoothed(z, y, 1 - a, a).mean(), "alpha to each"),
        (lambda z, y, a: smoothed(z, y, 1, a / z.shape[1]).mean(), "keep everything"),
        (lambda z, y, a: smoothed(z, y, 1 - a, a / z.shape[1]).sum(), "sum over the rows"),
        (lambda z, y, a: -smoothed(z, y, 1 - a, a / z.shape[1]).mean(), "reversed"),
        (
            lambda z, y, a: smoothed(z, y, 1 - a - a / z.shape[1], a / z.shape[1]).mean(),
            "its share alpha / K, too",
        ),
    ],
}
