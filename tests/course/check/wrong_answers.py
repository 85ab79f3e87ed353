"""Wrong answers as students write them, with a word that the reply must hold.

None stands where catching the mistake is enough; those alone are left to the mutants of the
solutions. What became of the larger sets is told in `test_answers.py`.
"""

import math
import random

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
    (lambda c, bins: right_bin(c, bins + 1), "bins + 1"),
    (lambda c, bins: torch.bucketize(c, inner(bins)).tolist()[0], "shape"),
    (lambda c, bins: (right_bin(v, bins) for v in c), "generator"),
]

ECE = [
    (lambda p, y, b: metrics.ece(p, y, bins=max(b - 1, 1)), "bins - 1"),
    (lambda p, y, b: metrics.ece(p, y, bins=20), "took 20"),
    (lambda p, y, b: metrics.ece, "function"),
]

def sq(p, y):
    return (p.double() - one_hot(y, p.shape[1])) ** 2

BRIER = [
    (lambda p, y: sq(p, y).sum(1), "one number was expected"),
    (lambda p, y: sq(p, p.argmax(1)).sum(1).mean(), "predicted class"),
    (lambda p, y: sq(one_hot(p.argmax(1), p.shape[1]), y).sum(1).mean(), "argmax"),
    (lambda p, y: sq(p, y).sum(1).sum() / (len(y) - 1), "n - 1"),
    (lambda p, y: {"brier": sq(p, y).sum(1).mean()}, "dict"),
]

CLASSWISE_ECE = [
    (lambda p, y, b: metrics.classwise_ece(p, y, bins=10), "took 10"),
    (lambda p, y, b: -metrics.classwise_ece(p, y, bins=b), "sign"),
    (lambda p, y, b: metrics.classwise_ece(p, y, bins=b) * len(y), "number of samples"),
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
    (lambda y, j, lam, k: (lam * one_hot(y, k), (1 - lam) * one_hot(y[j], k)), "shape"),
]

HONEST_CHOICE = [
    (lambda cal, test: cal[torch.arange(len(test)), test.argmin(1)], "exchanged"),
    (lambda cal, test: test.gather(1, cal.argmin(1)), "column"),
]

def off(p, q):
    return (p.double() - q.double()).square()

AVOIDABLE_BRIER = [
    (lambda p, q: off(p, q).mean(0), None),
    (lambda p, q: off(p, q).sum(1).sum() / max(len(q) - 1, 1), "n - 1"),
]

def rows(weights):
    return weights / weights.sum(1, keepdim=True)

OTHER_PRIOR = [
    (lambda p, old, new: p * new / old, "do not sum to 1"),
    (lambda p, old, new: rows(p * old / new), "exchanged"),
]

def by(p, y, groups, order, measure=metrics.ece):
    return [measure(p[groups == k], y[groups == k]) if (groups == k).any() else 0.0 for k in order]

CLASS_ERRORS = [
    (lambda p, y, order: by(p, y, y, range(len(order))), "order of the classes' numbers"),
    (lambda p, y, order: by(p, y, y, order.argsort()), "places of the classes"),
]

FITTED_TEMPERATURE = [
    (lambda z, y: 2 * fitted_T(z, y), "twice"),
    (lambda z, y: fitted_T(z, y) ** 2, "squared"),
    (lambda z: 1.5, "takes (z)"),
    (lambda z, y: random.random(), "same result twice"),
]

PENALTY_POSTERIOR = [
    (lambda p, w: 1.0 * p, "weight 0 only"),
    (lambda p, w: p + w * p * p.log(), "entropy is missing"),
]

def kept(c, share):
    return c.argsort(descending=True)[: round(share * len(c))]

SMOOTHED_LOSS = [
    (lambda z, y, a: F.cross_entropy(z, y, label_smoothing=a, reduction="none"), None),
    (lambda z, y, a: F.cross_entropy(z, y, label_smoothing=0.1), None),
]

SELECTIVE_RISK = [
    (lambda c, a, share: a[kept(c, share)].double().mean(), "is the accuracy"),
    (lambda c, a, share: (~a)[kept(c, share)].double().sum() / len(a), "number that is kept"),
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
]

ENSEMBLE_PROBS = [
    (lambda z: z.mean(0).softmax(1), "averaged the logits"),
    (lambda z: F.softmax(z.sum(0) / z.shape[0], 1), "averaged the logits"),
]

INFORMED_POSTERIOR = [
    (lambda z, rows, old, new: z.softmax(1) @ rows, "old noise"),
    (lambda z, rows, old, new: print((z * (old / new) ** 2).softmax(1) @ rows), "return"),
]

def won(a, b, tie=0.5):
    return ((a[:, None] > b).double() + tie * (a[:, None] == b).double()).mean()

STRANGE_AUROC = [
    (lambda a, b: won(a, b, 0), "counts nothing"),
    (lambda a, b: print(won(a, b)), "return"),
]

def pooled_confidence(p):
    return p.mean(0).amax(1).mean()

LOST_CONFIDENCE = [
    (lambda p: pooled_confidence(p) - p.amax(2).mean(), "sign"),
    (lambda p: print(p.amax(2).mean() - pooled_confidence(p)), "return"),
]

def added(values, g):
    return torch.bincount(g, values.double(), minlength=int(g.max()) + 1)

def z_added_once(c, h, g):
    table = torch.zeros(int(g.max()) + 1, 2, dtype=torch.float64)
    table[g] += torch.stack([c - h.double(), c * (1 - c)], dim=1)
    return table[:, 0] / table[:, 1].sqrt()

GROUP_Z = [
    (z_added_once, "adds once"),
    (lambda c, h, g: added(c - h.double(), g) / torch.bincount(g), "signed gap"),
]

def fitted_T(z, y):
    return TemperatureScaler().fit(z.clone(), y).temperature

def order_of(worth, share):
    return worth.argsort(descending=True, stable=True)[: round(share * len(worth))].sort().values

TOP_ENTROPY = [
    (lambda p, share: order_of(-metrics.entropy(p), share), "lowest entropy"),
    (lambda p, share: metrics.entropy(p).argsort(descending=True)[: round(share * len(p))],
        "ascending order"),
]

SELECTION_COST = [
    (lambda s, w, e, c: (w + (e - w) * s) / e, "scoring is missing"),
    (lambda s, w, e, c: round((w + (e - w) * (s + c)) / e, 2), "2 decimals"),
]

def token_gap(p, y):
    return p.amax(2) - (p.argmax(2) == y).double()

MASKED_GAP = [
    (lambda p, y: token_gap(p, y).mean(), "padding is counted"),
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
]

def attend(q, k, v, by=None):
    return (q @ k.T / (k.shape[1] ** 0.5 if by is None else by)).softmax(1) @ v

ATTENTION = [
    (lambda q, k, v: attend(q, k, v, 1), "is missing"),
    (lambda q, k, v: attend(q, k, v).mean(0), "shape"),
]

def word_mask(x):
    return (x != 0)[..., None].double()

MASKED_MEAN = [
    (lambda v, x: v.mean(1), "padding counts as words"),
    (lambda v, x: (v * word_mask(x)).mean(1), "padded length"),
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

NOTE_PROBABILITY = [
    (in_one_place, "changes its argument `start`"),
    (lambda w, s, m, e: forwards(w, s, m.T, e).sum(), "run backwards"),
]

def priced(p, q, c, *, t=None, by=None):
    """The regret with another threshold, or another price."""
    t = 1 / (1 + c) if t is None else t
    return ((1 + c) * (q - t).abs() if by is None else by) * ((p > t) != (q > t))

DECISION_REGRET = [
    (lambda p, q, c: priced(p, q, c, t=0.5).mean(), "whatever a miss costs"),
    (lambda p, q, c: round(float(priced(p, q, c).mean()), 2), "2 decimals"),
]

CHEAPEST_ACTION = [
    (lambda p, costs: (p @ costs).argmin(1), "Transpose"),
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
    (lambda s, a: threshold(s, a / 2), "half of alpha"),
    (lambda s: s.sort().values[-1], "takes"),
]

def inside(sets, posterior):
    return (sets * posterior).sum(dim=1)

SET_COVERAGE = [
    (lambda s, q, g: s[g].mean(), "floats"),
    (lambda s, q, g: print(inside(s, q)[g].mean()), "return"),
    (lambda s, q: inside(s, q).mean(), "takes"),
]

def of_groups(scores, groups, one):
    values = [float(one(scores[groups == k])) for k in range(int(groups.max()) + 1)]
    return torch.tensor(values, dtype=torch.float64)

GROUP_THRESHOLDS = [
    (lambda s, g, a: threshold(s, a), "shape is wrong"),
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
    (lambda c, w: city_logs(c, w, (1 - w) / others(c)).softmax(1), "1 - wrong in place"),
]

def city_sums(values, city, cities):
    return torch.stack([values[:, city == k].sum(1) for k in range(cities)], 1)

BY_MEANING = [
    (lambda logs, city, k: city_sums(logs.exp(), city, k + 1), r"cities \+ 1"),
    (lambda logs, city, k: city_sums(logs.exp(), city, k).T, "transposed"),
    (lambda logs, city, k: city_sums(logs.exp(), city, k).round(decimals=2), "2 decimals"),
]

WRONG = {
    name.lower(): answers
    for name, answers in tuple(globals().items())
    if name.isupper() and isinstance(answers, list)
}
