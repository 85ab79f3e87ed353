"""Wrong answers as students write them, with a word that the reply must hold.

None stands where catching the mistake is enough; those alone are left to the mutants of the
solutions. What became of the larger sets is told in `test_answers.py`.
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


# fmt: off
def conf(p):
    return p.amax(dim=1).double()

def hit(p, y):
    return (p.argmax(dim=1) == y).double()

SIGNED_GAP = [
    (lambda p, y: round(float(conf(p).mean() - hit(p, y).mean()), 4), "4 decimals"),
    (lambda p, y: print(conf(p).mean() - hit(p, y).mean()), "return"),
    (lambda p, y: conf(p[1:]).mean() - hit(p[1:], y[1:]).mean(), "first sample"),
    (lambda p, y: max(0.0, float(conf(p).mean() - hit(p, y).mean())), "became 0"),
    (lambda p, y: random.random(), "same result twice"),
    (lambda p: conf(p).mean(), "takes (p)"),
]

def inner(bins):
    return torch.arange(1, bins, dtype=torch.float64) / bins

def right_bin(c, bins):
    return torch.bucketize(c.double(), inner(bins))

BIN_INDEX = [
    (lambda c, bins: np.floor(c.double().numpy() * bins).clip(0, bins - 1), "closed on the left"),
    (lambda c, bins: torch.bucketize(c.float(), (torch.arange(1, bins) / bins)), "float32"),
    (lambda c, bins: right_bin(c, bins + 1), "bins + 1"),
    (lambda c, bins: torch.bucketize(c, inner(bins)).tolist()[0], "shape"),
    (lambda c, bins: (right_bin(v, bins) for v in c), "generator"),
]

def ece_with(p, y, bins, confidence, correct):
    gaps = torch.bincount(right_bin(confidence, bins), weights=confidence - correct, minlength=bins)
    return gaps.abs().sum() / len(y)

def ece_added_once(p, y, b):
    confidence, said = p.double().max(1)
    gaps = torch.zeros(b, dtype=torch.float64)
    gaps[(confidence * b).ceil().long().clamp(1, b) - 1] += confidence - (said == y).double()
    return gaps.abs().sum() / len(y)

ECE = [
    (ece_added_once, "adds once"),
    (lambda p, y, b: metrics.ece(p, y, bins=max(b - 1, 1)), "bins - 1"),
    (lambda p, y, b: metrics.ece(p, y, bins=20), "took 20"),
    (lambda p, y, b: metrics.ece, "function"),
]

def sq(p, y):
    return (p.double() - one_hot(y, p.shape[1])) ** 2

BRIER = [
    (lambda p, y: sq(p, y).sum(1), "one number was expected"),
    (lambda p, y: (p.double() - one_hot(y, p.shape[1])).abs().sum(1).mean(), "absolute"),
    (lambda p, y: sq(p, p.argmax(1)).sum(1).mean(), "predicted class"),
    (lambda p, y: sq(one_hot(p.argmax(1), p.shape[1]), y).sum(1).mean(), "argmax"),
    (lambda p, y: sq(p, y).sum(1).sum() / (len(y) - 1), "n - 1"),
    (lambda p, y: {"brier": sq(p, y).sum(1).mean()}, "dict"),
]

def columns(p, y, bins):
    return [ece_with(p, y, bins, p[:, k].double(), (y == k).double()) for k in range(p.shape[1])]

CLASSWISE_ECE = [
    (lambda p, y, b: metrics.classwise_ece(p, y, bins=10), "took 10"),
    (lambda p, y, b: -metrics.classwise_ece(p, y, bins=b), "sign"),
    (lambda p, y, b: metrics.classwise_ece(p, y, bins=b) * len(y), "number of samples"),
    (lambda p, y, b: float(sum(columns(p, y, b))) / len(set(y.tolist())), "labels"),
    (lambda p, y, b: np.mean([float(columns(p, y, b)[k]) for k in sorted(set(y.tolist()))]),
        "labels"),
]

def loss(p, y):
    return -p.double().gather(1, y[:, None])[:, 0].log()

def split(each, right):
    return each[right].sum(), each[~right].sum()

def pair(p, y):
    first, second = split(loss(p, y), p.argmax(1) == y)
    return first / len(y), second / len(y)

NLL_PARTS = [
    (lambda p, y: pair(p, y)[0], "shape"),
    (lambda p, y: (loss(p, y) * hit(p, y), loss(p, y) * (1 - hit(p, y))), "shape"),
    (lambda p, y: [x / float(sum(pair(p, y))) for x in pair(p, y)], None),
]

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

EARLY_STOP = [
    (stopping(better=lambda new, least: new <= least), "<="),
    (stopping(better=lambda new, least: False), None),
    (lambda v, k: stopping()(v, k)[1], None),
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
    (lambda p, y: ends(100 * apart(p, y), 196 * standard_error(apart(p, y))), "per cent"),
]

NOISE_MATRIX = [
    (lambda p: torch.diag(1 - p), "drawn labels are missing"),
    (lambda p: p[:, None] * p / p.sum(), "left alone"),
    (lambda p: 1 - p + p * p / p.sum(), "shape"),
    (lambda p: 100 * (torch.diag(1 - p) + p[:, None] * p / p.sum()), "per cent"),
    (lambda p: (torch.diag(1 - p) + p[:, None] * p / p.sum()).round(decimals=2), "2 decimals"),
    (lambda p: torch.diag(1 - p.div_(1)) + p[:, None] * p.div_(p.sum()), "changes its argument"),
]

def at(p, y):
    return p.gather(1, y[:, None])[:, 0]

NOISY_NLL = [
    (lambda p, t, y: -at(p @ t, y).log(), "one number was expected"),
    (lambda p, t, y: -at(p @ t, y).log10().mean(), "base 10"),
    (lambda p, t, y: F.cross_entropy(p @ t, y), "softmax"),
    (lambda p, t, y: -at((p @ t).log(), (p @ t).argmax(1)).mean(), "predicted class"),
    (lambda p, t, y: -at(t @ p, y).log().mean(), "shapes do not fit"),
]

def slope(p, g):
    return (1 - p) ** g - g * p * (1 - p) ** (g - 1) * p.log()

GRADIENT_RATIO = [
    (lambda p, g: slope(1 - p, g), "1 minus `p`"),
    (lambda p, g: slope(p, 2.0), "ignored"),
    (lambda p, g: slope(p, g).sum(), "sum"),
    (lambda p, g: 1 / slope(p, g), "1 divided"),
    (lambda p, g: (1 - p) ** g - g * p * (1 - p) ** (g - 1) * math.log(p), "whole tensor"),
    (lambda p, g: slope(p.log().exp_().neg_().neg_(), g) * 1.001, "close but not"),
]

def parts_of(p0):
    s = -p0 * math.log(p0) / (1 - p0)
    return s, -math.log(1 - p0) / s

def star(p0):
    s, r = parts_of(p0)
    return float((-lambertw(-r * math.exp(-r), -1).real / r - 1) / s)

GAMMA_STAR = [
    (lambda p0: round(star(p0), 1), "1 decimal"),
    (lambda p0: star(0.25), "same whatever"),
    (lambda p0: star(p0) + 1, "1 too large"),
    (lambda p0: gamma_star(p0), "not known"),  # noqa: F821
]

def back(p, g, weight=theory.gradient_ratio):
    first, second = p / weight(p, g), (1 - p) / weight(1 - p, g)
    return first / (first + second)

FOCAL_POSTERIOR = [
    (lambda p, g: 1 - back(p, g), "1 minus"),
    (lambda p, g: back(p, 2.0), "ignored"),
    (lambda p, g: back(p, 3.0), "ignored"),
    (lambda p, g: torch.stack([back(p, g), 1 - back(p, g)], 1), "shape"),
    (lambda p, g: back(p, g + 1), "gamma + 1"),
    (lambda p, g: back(p, g).round(), "whole number"),
]

def mix(y, j, lam, k):
    return lam * one_hot(y, k) + (1 - lam) * one_hot(y[j], k)

MIXED_LABELS = [
    (lambda y, j, lam, k: mix(y, j, lam, k + 1), "shape"),
    (lambda y, j, lam, k: mix(y, j, lam, k).sum(0), "shape"),
    (lambda y, j, lam, k: mix(y, j, max(lam, 1 - lam), k), "larger"),
    (lambda y, j, lam, k: (lam * one_hot(y, k), (1 - lam) * one_hot(y[j], k)), "shape"),
]

HONEST_CHOICE = [
    (lambda cal, test: test[:, cal.argmin(1)], "shape"),
    (lambda cal, test: test[torch.arange(len(test)), test.argmin(1)], "on the test set"),
    (lambda cal, test: cal[torch.arange(len(test)), test.argmin(1)], "exchanged"),
    (lambda cal, test: test.gather(1, cal.argmin(1)), "column"),
]

def off(p, q):
    return (p.double() - q.double()).square()

AVOIDABLE_BRIER = [
    (lambda p, q: off(p, q).mean(0), None),
    (lambda p, q: off(p, q).sum(), "number of images"),
    (lambda p, q: off(p, q).sum(1).sum() / max(len(q) - 1, 1), "n - 1"),
]

def rows(weights):
    return weights / weights.sum(1, keepdim=True)

OTHER_PRIOR = [
    (lambda p, old, new: p * new / old, "do not sum to 1"),
    (lambda p, old, new: rows(p * old / new), "exchanged"),
    (lambda p, old, new: rows(p / old), "new prior is missing"),
    (lambda p, old, new: rows(p * new), "old prior is still in it"),
    (lambda p, old, new: rows((p.T * p.new_ones(len(p))).T * (new / old) ** 0.5), "root"),
]

def by(p, y, groups, order, measure=metrics.ece):
    return [measure(p[groups == k], y[groups == k]) if (groups == k).any() else 0.0 for k in order]

CLASS_ERRORS = [
    (lambda p, y, order: by(p, y, y, range(len(order))), "order of the classes' numbers"),
    (lambda p, y, order: by(p, y, y, order.argsort()), "places of the classes"),
    (lambda p, y, order: sorted(by(p, y, y, order)), "sorted the errors"),
    (lambda p, y, order: by(p, y, y, order, lambda a, b: metrics.ece(a, b, bins=10)), "10 bins"),
]

def lowest_at(loss, grid=None):
    """The T of the lowest loss of (probabilities, labels), on a fine grid."""
    grid = np.geomspace(0.05, 50, 500) if grid is None else grid
    return lambda z, y: float(min(grid, key=lambda T: float(loss((z.double() / T).softmax(1), y))))

FITTED_TEMPERATURE = [
    (lambda z, y: max(fitted_T(z, y), 1), "below 1"),
    (lowest_at(metrics.brier), "Brier"),
    (lowest_at(metrics.nll, [k / 2 for k in range(1, 100)]), "too coarse"),
    (lambda z, y: 2 * fitted_T(z, y), "twice"),
    (lambda z, y: fitted_T(z, y) ** 2, "squared"),
    (lambda z: 1.5, "takes (z)"),
    (lambda z, y: random.random(), "same result twice"),
]

def own_entropy(p):
    return -(p * p.log()).sum(1, keepdim=True)

PENALTY_POSTERIOR = [
    (lambda p, w: 1.0 * p, "weight 0 only"),
    (lambda p, w: p + w * p * p.log(), "entropy is missing"),
    (lambda p, w: (p + w * p * p.log()) / (1 - w * own_entropy(p)), "set c to 1"),
    (lambda p, w: p * (1 + w * p.log() - w * own_entropy(p)), "wrong sign"),
    (lambda p, w: p * (1 - w * p.log() - w * own_entropy(p)), "bracket has the wrong sign"),
    (lambda p, w: p * (1 + w * (own_entropy(p).mean() + p.log())), "whole table"),
    (lambda p, w: p * (1 + w * (own_entropy(p).sum() + p.log())), "over all rows"),
]

def kept(c, share):
    return c.argsort(descending=True)[: round(share * len(c))]

SMOOTHED_LOSS = [
    (lambda z, y, a: F.cross_entropy(z, y, label_smoothing=a, reduction="none"), None),
    (lambda z, y, a: F.cross_entropy(z, y, label_smoothing=0.1), None),
    (lambda z, y, a: F.cross_entropy(z, y) * (1 - a), None),
]

SELECTIVE_RISK = [
    (lambda c, a, share: a[kept(c, share)].double().mean(), "is the accuracy"),
    (lambda c, a, share: (~a)[kept(c, share)].double().sum() / len(a), "number that is kept"),
    (lambda c, a, share: (~a)[kept(c, share)].double().sum(), "number of errors"),
    (lambda c, a, share: (~a)[: round(share * len(c))].double().mean(), "first predictions"),
    (lambda c, a, share: (~a)[kept(c, 1 - share)].double().mean(), "1 - coverage"),
]

def gamma_of_bins(p, c, a, fewest=25, change=lambda gap: (20 * gap).clamp(0, 5)):
    gamma = torch.zeros_like(p)
    for low in range(10):
        held = (c >= low / 10) & (c < (low + 1) / 10 + (low == 9))
        if held.sum() >= fewest:
            of_bin = (p >= low / 10) & (p < (low + 1) / 10 + (low == 9))
            gamma[of_bin] = change(c[held].mean() - a[held].float().mean()).to(p.dtype)
    return gamma

SAMPLE_GAMMA = [
    (lambda p, c, a: gamma_of_bins(p, c, a, fewest=1), "fewer than 25"),
    (lambda p, c, a: gamma_of_bins(p, c, a, change=lambda gap: 20 * gap), "nothing is cut"),
    (lambda p, c, a: gamma_of_bins(p, c, a, change=lambda gap: (20 * gap.abs()).clamp(0, 5)),
        "without its sign"),
    (lambda p, c, a: (20 * (c.mean() - a.double().mean())).clamp(0, 5).expand(len(p)), "one gamma"),
    (lambda p, c, a: torch.where(p < 0.2, 5.0, torch.where(p < 0.5, 3.0, 2.0)), "fixed steps"),
]

ENSEMBLE_PROBS = [
    (lambda z: z.mean(0).softmax(1), "averaged the logits"),
    (lambda z: F.softmax(z.sum(0) / z.shape[0], 1), "averaged the logits"),
    (lambda z: z.softmax(-1).prod(0), None),
]

INFORMED_POSTERIOR = [
    (lambda z, rows, old, new: z.softmax(1) @ rows, "old noise"),
    (lambda z, rows, old, new: (z * old / new).softmax(1) @ rows, "not squared"),
    (lambda z, rows, old, new: (z * (new / old) ** 2).softmax(1) @ rows, "upside down"),
    (lambda z, rows, old, new: (z * new / old).softmax(1) @ rows, "upside down, and not"),
    (lambda z, rows, old, new: ((z * (old / new) ** 2) @ rows).softmax(1), "added up scores"),
    (lambda z, rows, old, new: (z * (old / new) ** 2).softmax(1), "each clean digit"),
    (lambda z, rows, old, new: print((z * (old / new) ** 2).softmax(1) @ rows), "return"),
]

def won(a, b, tie=0.5):
    return ((a[:, None] > b).double() + tie * (a[:, None] == b).double()).mean()

STRANGE_AUROC = [
    (lambda a, b: won(a, b, 0), "counts nothing"),
    (lambda a, b: won(a, b, 1), ">= in place of >"),
    (lambda a, b: won(a, b) * len(a) * len(b), "number of all pairs"),
    (lambda a, b: won(a, b) * len(b), "familiar images alone"),
    (lambda a, b: won(a, b).clamp(min=0.5), "below 1/2"),
    (lambda a, b: print(won(a, b)), "return"),
]

def pooled_confidence(p):
    return p.mean(0).amax(1).mean()

LOST_CONFIDENCE = [
    (lambda p: pooled_confidence(p) - p.amax(2).mean(), "sign"),
    (lambda p: p.amax(2).mean(0) - p.mean(0).amax(1), "each image"),
    (lambda p: p[0].amax(1).mean() - pooled_confidence(p), "first network"),
    (lambda p: (p.amax(2).amax(0) - p.mean(0).amax(1)).mean(), "surest member"),
    (lambda p: p.amax(2).sum(0).mean() - pooled_confidence(p), "added up"),
    (lambda p: p.amax(1).mean() - p.mean(0).amax(0).mean(), "over the images"),
    (lambda p: print(p.amax(2).mean() - pooled_confidence(p)), "return"),
]

def added(values, g):
    return torch.bincount(g, values.double(), minlength=int(g.max()) + 1)

def z_by_group(c, h, g, power=0.5):
    return added(c - h.double(), g) / added(c * (1 - c), g) ** power

def z_added_once(c, h, g):
    table = torch.zeros(int(g.max()) + 1, 2, dtype=torch.float64)
    table[g] += torch.stack([c - h.double(), c * (1 - c)], dim=1)
    return table[:, 0] / table[:, 1].sqrt()

GROUP_Z = [
    (z_added_once, "adds once"),
    (lambda c, h, g: added(c - h.double(), g) / torch.bincount(g), "signed gap"),
    (lambda c, h, g: added(c - h.double(), g), "Divide it by its standard deviation"),
    (lambda c, h, g: -z_by_group(c, h, g), "sign is reversed"),
    (lambda c, h, g: z_by_group(c, h, g, 1), "square root"),
    (lambda c, h, g: z_by_group(c, h, g).abs(), "Keep the sign"),
    (lambda c, h, g: z_by_group(c, h, g) / torch.bincount(g).sqrt(), "grows"),
    (lambda c, h, g: z_by_group(c, h, torch.zeros_like(g)).expand(int(g.max()) + 1), "alone"),
]

def fitted_T(z, y):
    return TemperatureScaler().fit(z.clone(), y).temperature

def order_of(worth, share):
    return worth.argsort(descending=True, stable=True)[: round(share * len(worth))].sort().values

TOP_ENTROPY = [
    (lambda p, share: order_of(-metrics.entropy(p), share), "lowest entropy"),
    (lambda p, share: metrics.entropy(p).argsort(descending=True)[: round(share * len(p))],
        "ascending order"),
    (lambda p, share: order_of(-(p * p.log()).sum(1), share), "NaN"),
    (lambda p, share: order_of(1 - p.amax(1), share), "least confidence"),
]

SELECTION_COST = [
    (lambda s, w, e, c: (w + (e - w) * s) / e, "scoring is missing"),
    (lambda s, w, e, c: s + c, "warm-up is missing"),
    (lambda s, w, e, c: (w + (e - w) * s * (1 + c)) / e, "chosen images only"),
    (lambda s, w, e, c: (w + (e - w) * s) / e + c, "during the warm-up"),
    (lambda s, w, e, c: w + (e - w) * (s + c), "cost in epochs"),
    (lambda s, w, e, c: (w + e * (s + c)) / e, "on top of all others"),
    (lambda s, w, e, c: round((w + (e - w) * (s + c)) / e, 2), "2 decimals"),
]

def token_gap(p, y):
    return p.amax(2) - (p.argmax(2) == y).double()

MASKED_GAP = [
    (lambda p, y: token_gap(p, y).mean(), "padding is counted"),
    (lambda p, y: p[y != 0].max(1).values.mean(), "Subtract the accuracy"),
    (lambda p, y: token_gap(p, y)[y != 0].abs().mean(), "absolute values"),
    (lambda p, y: token_gap(p, y).mean(1), "one number was expected"),
]

def fitting(rows, prefix):
    return (rows[:, : len(prefix)] == prefix).all(1)

def summed(rows, p, prefix, words, fits=None):
    fits = fitting(rows, prefix) if fits is None else fits
    return torch.bincount(rows[fits, len(prefix)], p[fits], minlength=words)

def share(law):
    return law / law.sum()

def law_added_once(r, p, x, w):
    law, fits = torch.zeros(w, dtype=torch.float64), fitting(r, x)
    law[r[fits, len(x)]] += p[fits]
    return law / law.sum()

NEXT_LAW = [
    (law_added_once, "adds once"),
    (lambda r, p, x, w: summed(r, p, x, w), "do not sum to 1"),
    (lambda r, p, x, w: share(summed(r, torch.ones_like(p), x, w)), "counts the same"),
    (lambda r, p, x, w: summed(r, p, x, w, torch.ones(len(r)) > 0), "whose first words"),
    (lambda r, p, x, w: summed(r, p, x, w) / summed(r, p, x, w).max(), "largest entry"),
]

def fitted_to(z, y):
    return TemperatureScaler().fit(z.double(), y).temperature

def raw_losses(z, y):
    return torch.stack([F.cross_entropy(one.double(), y) for one in z])

def cooled_losses(z, y):
    return torch.stack([F.cross_entropy(one.double() / fitted_to(one, y), y) for one in z])

def rate_at(place, z, y):
    return int(place), fitted_to(z[place], y)

OWN_BEST = [
    (lambda z, y: rate_at(raw_losses(z, y).argmin(), z, y), "before"),
    (lambda z, y: (int(cooled_losses(z, y).argmin()), fitted_to(z[-1], y)), "last rate"),
    (lambda z, y: rate_at(cooled_losses(z, y).argmax(), z, y), "highest NLL"),
]

def attend(q, k, v, by=None):
    return (q @ k.T / (k.shape[1] ** 0.5 if by is None else by)).softmax(1) @ v

ATTENTION = [
    (lambda q, k, v: attend(q, k, v, 1), "is missing"),
    (lambda q, k, v: attend(q, k, v, k.shape[1]), "square root"),
    (lambda q, k, v: attend(q, k, v).mean(0), "shape"),
]

def word_mask(x):
    return (x != 0)[..., None].double()

MASKED_MEAN = [
    (lambda v, x: v.mean(1), "padding counts as words"),
    (lambda v, x: (v * word_mask(x)).mean(1), "padded length"),
    (lambda v, x: v.sum(1) / word_mask(x).sum(1), "the sum still has"),
    (lambda v, x: (v * word_mask(x)).sum(1), "this is the sum"),
    (lambda v, x: (v * word_mask(x)).sum(1) / word_mask(x).sum(), "all texts together"),
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

def without_moves(w, s, m, e):
    return (s * e[:, w].prod(1)).sum()

NOTE_PROBABILITY = [
    (in_one_place, "changes its argument `start`"),
    (lambda w, s, m, e: forwards(w, s, m.T, e).sum(), "run backwards"),
    (lambda w, s, m, e: forwards(w.flip(0), s, m, e).sum(), "from its end"),
    (without_moves, "never moves"),
]

def priced(p, q, c, *, t=None, by=None):
    """The regret with another threshold, or another price."""
    t = 1 / (1 + c) if t is None else t
    return ((1 + c) * (q - t).abs() if by is None else by) * ((p > t) != (q > t))

DECISION_REGRET = [
    (lambda p, q, c: priced(p, q, c, t=0.5).mean(), "whatever a miss costs"),
    (lambda p, q, c: priced(p, q, c, t=c / (1 + c)).mean(), "needs a low one"),
    (lambda p, q, c: priced(p, q, c, by=(q - 1 / (1 + c)).abs()).mean(), "factor 1 + c is missing"),
    (lambda p, q, c: priced(p, q, c, by=1.0).mean(), "share of images"),
    (lambda p, q, c: priced(p, q, c).sum(), "grows with the number of images"),
    (lambda p, q, c: priced(p, q, c, by=(1 + c) * (q - 1 / (1 + c))).mean(), "cancel"),
    (lambda p, q, c: round(float(priced(p, q, c).mean()), 2), "2 decimals"),
]

CHEAPEST_ACTION = [
    (lambda p, costs: (p @ costs).argmin(1), "Transpose"),
    (lambda p, costs: (p.softmax(1) @ costs.T).argmin(1), "softmax"),
    (lambda p, costs: (p[:, None] * costs).amax(2).argmin(1), "largest part"),
    (lambda p, costs: (p @ costs.T).argmin(), "shape"),
]

def place(scores, alpha, more=1):
    """k, counted from 1."""
    return math.ceil(round((len(scores) + more) * (1 - alpha), 9))

def score_at(scores, k):
    return scores.sort().values[min(max(int(k), 1), len(scores)) - 1]

def threshold(scores, alpha):
    k = place(scores, alpha)
    return score_at(scores, k) if k <= len(scores) else 1.0

CONFORMAL_THRESHOLD = [
    (lambda s, a: score_at(s, place(s, a)), "too few scores"),
    (lambda s, a: score_at(s, round((len(s) + 1) * (1 - a))), "nearest"),
    (lambda s, a: threshold(s, a / 2), "half of alpha"),
    (lambda s: s.sort().values[-1], "takes"),
]

def inside(sets, posterior):
    return (sets * posterior).sum(dim=1)

SET_COVERAGE = [
    (lambda s, q, g: (s * q).amax(1)[g].mean(), "most probable class of the set"),
    (lambda s, q, g: s[g].mean(), "floats"),
    (lambda s, q, g: print(inside(s, q)[g].mean()), "return"),
    (lambda s, q: inside(s, q).mean(), "takes"),
]

def of_groups(scores, groups, one):
    values = [float(one(scores[groups == k])) for k in range(int(groups.max()) + 1)]
    return torch.tensor(values, dtype=torch.float64)

GROUP_THRESHOLDS = [
    (lambda s, g, a: threshold(s, a), "shape is wrong"),
    (lambda s, g, a: of_groups(s, g, lambda own: score_at(own, place(own, a))), "too few scores"),
    (lambda s, g, a: of_groups(s, g, lambda own: score_at(own, place(s, a))),
        "number of all scores"),
    (lambda s, g, a: of_groups(s, g, lambda own: threshold(own, a)).sort().values, "order of"),
    (lambda s, g, a: of_groups(s, g, lambda own: threshold(own, a)).flip(0), "order is reversed"),
    (lambda s, g: s, "takes"),
]

def city_logs(c, right, other):
    return c.double() * math.log(right) + (c.sum(1, True) - c).double() * math.log(other)

def others(c):
    return c.shape[1] - 1

def bayes(c, w):
    return city_logs(c, 1 - w, w / others(c)).softmax(1)

FACT_POSTERIOR = [
    (lambda c, w: bayes(c, 0.1), "0.1"),
    (lambda c, w: city_logs(c, 1 - w, w / 23).softmax(1), "23"),
    (lambda c, w: city_logs(c, 1 - w, w / c.shape[1]).softmax(1), "K - 1"),
    (lambda c, w: city_logs(c, 1 - w, w).softmax(1), "K - 1"),
    (lambda c, w: city_logs(c, w, (1 - w) / others(c)).softmax(1), "1 - wrong in place"),
    (lambda c, w: city_logs(c, 1, w / others(c)).softmax(1), "have a factor, too"),
    (lambda c, w: bayes(c, w) * (c.sum(1, True) > 0), "never"),
]

def city_sums(values, city, cities):
    return torch.stack([values[:, city == k].sum(1) for k in range(cities)], 1)

BY_MEANING = [
    (lambda logs, city, k: city_sums(logs, city, k).exp(), "multiplies"),
    (lambda logs, city, k: city_sums(logs.exp(), city, int(city.max()) + 1), "cities"),
    (lambda logs, city, k: city_sums(logs.exp(), city, k + 1), r"cities \+ 1"),
    (lambda logs, city, k: city_sums(logs.exp(), city, k).T, "transposed"),
    (lambda logs, city, k: city_sums(logs.exp(), city, k).round(decimals=2), "2 decimals"),
]

WRONG = {
    name.lower(): answers
    for name, answers in tuple(globals().items())
    if name.isupper() and isinstance(answers, list)
}
