"""Right answers in the styles that students write: loops, numpy, torch, float32, lists, pandas."""

import math

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from scipy.optimize import brentq, minimize_scalar
from scipy.special import logsumexp, softmax
from torch.nn.functional import one_hot

from calibkit import conformal, metrics, theory
from calibkit.recalibration import TemperatureScaler

# fmt: off

SIGNED_GAP = [
    lambda p, y: p.max(dim=1).values.mean() - (p.argmax(dim=1) == y).float().mean(),
    lambda p, y: np.max(p.numpy(), axis=1).mean() - np.mean(p.numpy().argmax(1) == y.numpy()),
]

BIN_INDEX = [
    lambda c, bins: np.digitize(c.double(), np.arange(1, bins) / bins, right=True),
    lambda c, bins: (c.double()[:, None] > torch.arange(1, bins).double() / bins).sum(dim=1),
]

def ece_loop(probs, labels, bins):
    confidence, predicted = probs.max(dim=1)
    total = 0.0
    for m in range(bins):
        inside = (confidence > m / bins) & (confidence <= (m + 1) / bins)
        if inside.sum() > 0:
            accuracy = (predicted[inside] == labels[inside]).float().mean()
            total += abs(confidence[inside].mean() - accuracy) * inside.float().mean()
    return total

ECE = [
    ece_loop,
    lambda p, y, bins: metrics.ece(p, y, bins=bins),
]

BRIER = [
    lambda p, y: ((p - one_hot(y, p.shape[1])) ** 2).sum(1).mean(),
    lambda p, y: ((p.numpy() - np.eye(p.shape[1])[y.numpy()]) ** 2).sum(axis=1).mean(),
]

def classwise_by_bincount(probs, labels, bins):
    parts = []
    for k in range(probs.shape[1]):
        column = probs[:, k].double()
        where = torch.bucketize(column, torch.arange(1, bins, dtype=torch.float64) / bins)
        parts.append(torch.bincount(where, weights=column - (labels == k).double()).abs().sum())
    return torch.stack(parts).mean() / len(labels)

CLASSWISE_ECE = [
    classwise_by_bincount,
    lambda p, y, bins: np.array(classwise_by_bincount(p, y, bins)),
]

def parts_where(probs, labels):
    loss = F.nll_loss(probs.log(), labels, reduction="none")
    right = probs.argmax(1) == labels
    return torch.where(right, loss, 0.0).mean(), torch.where(right, 0.0, loss).mean()

NLL_PARTS = [
    lambda p, y: [float(part) for part in parts_where(p.double(), y)],
    lambda p, y: parts_where(p.clamp(min=1e-12), y),
]

def stop_by_running_minimum(losses, patience):
    values = losses.numpy()
    first = [int(values[: e + 1].argmin()) for e in range(len(values))]
    late = [e for e, kept in enumerate(first) if e - kept >= patience]
    last = late[0] if late else len(values) - 1
    return np.array([first[last], last])

EARLY_STOP = [
    stop_by_running_minimum,
    lambda v, k: next((int(v[: e + 1].argmin()), e) for e in range(len(v)) if e == len(v) - 1 or e
        - int(v[: e + 1].argmin()) >= k),
]

def off(p, y):
    return p.double().amax(1) - (p.argmax(1) == y).double()

GAP_INTERVAL = [
    lambda p, y: [off(p, y).mean() + k * off(p, y).std() / len(y) ** 0.5 for k in (-1.96, 0, 1.96)],
    lambda p, y: (off(p, y).mean() + torch.tensor([-1.96, 0, 1.96])
        * (off(p, y).var() / len(y)).sqrt()),
]

NOISE_MATRIX = [
    lambda p: np.diag(1 - p.numpy()) + np.outer(p, p) / p.numpy().sum(),
    lambda p: torch.eye(len(p)) - torch.diag(p) + p.float()[:, None] @ (p / p.sum()).float()[None],
]

NOISY_NLL = [
    lambda p, t, y: -torch.log((p @ t)[torch.arange(len(y)), y]).mean(),
    lambda p, t, y: F.nll_loss(torch.log(p.float() @ t.float()), y).item(),
]

GRADIENT_RATIO = [
    lambda p, g: ((1 - p.numpy()) ** g - g * p.numpy() * (1 - p.numpy()) ** (g - 1)
        * np.log(p.numpy())),
    lambda p, g: (1 - p.float()) ** g - g * p.float() * (1 - p.float()) ** (g - 1) * p.log(),
]

def star_by_root(p0):
    def excess(g):
        return float(theory.gradient_ratio(p0, g)) - 1
    return brentq(excess, 1e-3, 1e4, xtol=1e-12)

def star_by_bisection(p0):
    s = -p0 * math.log(p0) / (1 - p0)
    low, high = 1e-3, 1e4
    for _ in range(200):
        middle = (low + high) / 2
        value = middle * math.log(1 - p0) + math.log1p(middle * s)
        low, high = (middle, high) if value > 0 else (low, middle)
    return middle

GAMMA_STAR = [
    star_by_root,
    lambda p0: np.float32(star_by_bisection(p0)),
]

def ratio(p, gamma):
    return (1 - p) ** gamma - gamma * p * (1 - p) ** (gamma - 1) * np.log(p)

FOCAL_POSTERIOR = [
    lambda p, g: theory.focal_posterior(torch.stack([p, 1 - p], 1), g)[:, 0],
    lambda p, g: [v / ratio(v, g) / (v / ratio(v, g) + (1 - v) / ratio(1 - v, g)) for v in
        p.double().tolist()],
]

MIXED_LABELS = [
    lambda y, j, lam, k: lam * one_hot(y, k) + (1 - lam) * one_hot(y[j], k),
    lambda y, j, lam, k: lam * np.eye(k)[y] + (1 - lam) * np.eye(k)[y[j]],
]

HONEST_CHOICE = [
    lambda cal, test: np.take_along_axis(test.numpy(), cal.numpy().argmin(1)[:, None], 1)[:, 0],
    lambda cal, test: torch.gather(test.float(), 1, cal.min(1).indices[:, None])[:, 0],
]

OTHER_PRIOR = [
    lambda p, old, new: (p * new / old).numpy() / (p * new / old).numpy().sum(1, keepdims=True),
    lambda p, old, new: ((p.float() * new.float() / old.float()).double()
        / (p * new / old).sum(1, keepdim=True)),
]

CLASS_ERRORS = [
    lambda p, y, order: [metrics.ece(p[y == k], y[y == k]) for k in order],
    lambda p, y, order: np.array([metrics.ece(p[y == k], y[y == k]) for k in order.tolist()]),
]

AVOIDABLE_BRIER = [
    lambda p, q: ((p - q) ** 2).sum(1).mean(),
    lambda p, q: np.mean(np.sum((p.numpy() - q.numpy()) ** 2, axis=1)),
]

def nll_at(logits, labels, T):
    return F.cross_entropy(logits.double() / T, labels).item()

def by_fine_grid(logits, labels):
    grid = np.geomspace(0.05, 50, 600)
    return grid[np.argmin([nll_at(logits, labels, T) for T in grid])]

FITTED_TEMPERATURE = [
    by_fine_grid,
    lambda z, y: TemperatureScaler().fit(z, y).temperature,
]

PENALTY_POSTERIOR = [
    lambda p, w: p * (1 + w * (metrics.entropy(p)[:, None] + p.log())),
    lambda p, w: (np.asarray(p) * (1 + w * (np.log(np.asarray(p))
        - np.sum(p.numpy() * np.log(p.numpy()), 1)[:, None]))),
]

SMOOTHED_LOSS = [
    lambda z, y, a: F.cross_entropy(z, (1 - a) * one_hot(y, z.shape[1]) + a / z.shape[1]),
    lambda z, y, a: float(F.cross_entropy(z, y) * (1 - a) - a * z.log_softmax(1).mean(1).mean()),
]

SELECTIVE_RISK = [
    lambda c, a, share: 1 - a[c.argsort(descending=True)[: round(share * len(c))]].float().mean(),
    lambda c, a, share: np.mean(~a.numpy()[np.argsort(-c.numpy())][: int(share * len(c) + 0.5)]),
]

def gamma_loop(p, confidence, correct):
    gammas = []
    for value in p.tolist():
        place = min(int(10 * value), 9)
        inside = [(c, hit) for c, hit in zip(confidence.tolist(), correct.tolist(), strict=True)
            if min(int(10 * c), 9) == place]
        gap = sum(c - hit for c, hit in inside) / max(len(inside), 1)
        gammas.append(0 if len(inside) < 25 else min(max(20 * gap, 0), 5))
    return gammas

def gamma_counted(p, confidence, correct):
    places = np.minimum((10 * confidence.numpy()).astype(int), 9)
    n = np.bincount(places, minlength=10)
    off = np.bincount(places, confidence.double().numpy() - correct.numpy(), 10)
    gammas = np.clip(20 * off / np.maximum(n, 1), 0, 5) * (n >= 25)
    return gammas[np.minimum((10 * p.numpy()).astype(int), 9)]

SAMPLE_GAMMA = [
    gamma_counted,
    lambda p, c, a: torch.tensor(gamma_loop(p, c, a)),
]

ENSEMBLE_PROBS = [
    lambda z: z.softmax(dim=2).mean(dim=0),
    lambda z: np.mean([one.softmax(1).numpy() for one in z], axis=0),
]

INFORMED_POSTERIOR = [
    lambda z, rows, old, new: (z * (old / new) ** 2).softmax(dim=1) @ rows,
    lambda z, rows, old, new: softmax(z.numpy() * (old / new) ** 2, axis=1) @ rows.numpy(),
]

STRANGE_AUROC = [
    metrics.auroc,
    lambda a, b: ((a[:, None] > b).double() + (a[:, None] == b).double() / 2).mean(),
]

LOST_CONFIDENCE = [
    lambda p: p.amax(dim=2).mean() - p.mean(dim=0).amax(dim=1).mean(),
    lambda p: np.max(p.numpy(), 2).mean() - p.numpy().mean(0).max(1).mean(),
]

def one_hot_groups(confidence, correct, groups):
    member = one_hot(groups).double()
    off = member.T @ (confidence - correct.double())
    return off / (member.T @ (confidence * (1 - confidence))).sqrt()

GROUP_Z = [
    one_hot_groups,
    lambda c, h, g: [(c[g == k] - h[g == k].double()).sum() / (c * (1 - c))[g == k].sum().sqrt()
        for k in g.unique()],
]

TOP_ENTROPY = [
    lambda p, share: (torch.special.entr(p).sum(1).argsort(descending=True)[:
        round(share * len(p))].sort().values),
    lambda p, share: (pd.Series(metrics.entropy(p).numpy()).nlargest(round(share
        * len(p))).index.sort_values()),
]

SELECTION_COST = [
    lambda share, warmup, epochs, scoring: 1 - (epochs - warmup) / epochs * (1 - share - scoring),
    lambda share, warmup, epochs, scoring: np.mean([1] * warmup + [share + scoring]
        * (epochs - warmup)),
]

MASKED_GAP = [
    lambda p, y: metrics.signed_gap(p[y != 0], y[y != 0]),
    lambda p, y: p[y > 0].amax(1).mean() - (p[y > 0].argmax(1) == y[y > 0]).double().mean(),
]

NEXT_LAW = [
    lambda rows, p, prefix, words: torch.bincount(rows[(rows[:, : len(prefix)] == prefix).all(1),
        len(prefix)], p[(rows[:, : len(prefix)] == prefix).all(1)]
        / p[(rows[:, : len(prefix)] == prefix).all(1)].sum(), minlength=words),
    lambda rows, p, prefix, words: (np.array([sum(q for row, q in
        zip(rows.tolist(), p.tolist(), strict=True) if row[: len(prefix) + 1]
        == [*prefix.tolist(), word]) for word in range(words)])
        / sum(q for row, q in zip(rows.tolist(), p.tolist(), strict=True) if row[: len(prefix)]
        == prefix.tolist())),
]

def best_rate_in_a_loop(logits, labels):
    place, least, T = 0, math.inf, 1.0
    for rate, one in enumerate(logits):
        own = TemperatureScaler().fit(one, labels).temperature
        loss = F.cross_entropy(one.double() / own, labels).item()
        if loss < least:
            place, least, T = rate, loss, own
    return place, T

def best_rate_by_scipy(logits, labels):
    def loss(log_T, one):
        return F.cross_entropy(one.double() / math.exp(log_T), labels).item()

    fits = [minimize_scalar(loss, args=(one,), bounds=(-4, 7), method="bounded",
        options={"xatol": 1e-6}) for one in logits]
    place = int(np.argmin([fit.fun for fit in fits]))
    return np.array([place, np.exp(fits[place].x)])

OWN_BEST = [
    best_rate_in_a_loop,
    best_rate_by_scipy,
]

ATTENTION = [
    lambda q, k, v: F.scaled_dot_product_attention(q, k, v),
    lambda q, k, v: torch.softmax(q @ k.T / math.sqrt(q.shape[1]), dim=-1) @ v,
]

MASKED_MEAN = [
    lambda v, x: torch.einsum("nld,nl->nd", v, (x != 0).double()) / (x != 0).sum(1)[:, None],
    lambda v, x: np.array([a.numpy()[b.numpy() != 0].mean(0) for a, b in zip(v, x, strict=True)]),
]

def note_by_logs(words, start, moves, says):
    forward = start.log() + says[:, words[0]].log()
    for word in words[1:]:
        forward = torch.logsumexp(forward[:, None] + moves.log(), 0) + says[:, word].log()
    return forward.logsumexp(0).exp()

NOTE_PROBABILITY = [
    note_by_logs,
    lambda w, s, m, e: (torch.linalg.multi_dot([s[None] * e[:, w[0]],
        *(m * e[:, x] for x in w[1:]), torch.ones(len(s), 1).double()])).item(),
]

def regret_of_costs(said, posterior, c):
    check, best = (one > 1 / (1 + c) for one in (said, posterior))
    paid, least = (torch.where(way, 1 - posterior, c * posterior) for way in (check, best))
    return (paid - least).mean()

DECISION_REGRET = [
    regret_of_costs,
    lambda p, q, c: metrics.regret(torch.stack([1 - p, p], 1), torch.stack([1 - q, q], 1),
        metrics.alarm_costs(c)),
]

CHEAPEST_ACTION = [
    lambda p, costs: metrics.cheapest_action(p, costs),
    lambda p, costs: np.argmin(p.numpy() @ costs.numpy().T, axis=1),
]

def threshold_with_one_more(scores, alpha):
    padded = torch.cat([scores, torch.ones(1, dtype=scores.dtype)])
    return padded.kthvalue(math.ceil(round(len(padded) * (1 - alpha), 9))).values

CONFORMAL_THRESHOLD = [
    threshold_with_one_more,
    lambda s, a: sorted([*s.tolist(), 1.0])[-int((len(s) + 1) * a + 1e-9) - 1],
]

SET_COVERAGE = [
    lambda s, q, g: (s * q).sum(1)[g].mean(),
    lambda s, q, g: torch.einsum("nk,nk->n", s[g].double(), q[g]).mean().item(),
]

def thresholds_in_pandas(scores, groups, alpha):
    table = pd.DataFrame({"score": scores.numpy(), "group": groups.numpy()})
    return table.groupby("group").score.apply(lambda own:
        threshold_with_one_more(torch.tensor(own.to_numpy()), alpha).item())

GROUP_THRESHOLDS = [
    thresholds_in_pandas,
    lambda s, g, a: conformal.group_quantiles(s, g, a).clamp(max=1),
]

def bayes_by_table(counts, wrong):
    """The logarithm of each sentence's probability for each true city, times the counts."""
    cities = counts.shape[1]
    table = np.full((cities, cities), np.log(wrong / (cities - 1)))
    np.fill_diagonal(table, np.log1p(-wrong))
    logs = counts.numpy() @ table
    return np.exp(logs - logsumexp(logs, axis=1, keepdims=True))

FACT_POSTERIOR = [
    bayes_by_table,
    lambda c, w: F.softmax(c * math.log(1 - w) + (c.sum(1, True) - c)
        * math.log(w / (c.shape[1] - 1)), dim=1),
]

BY_MEANING = [
    lambda logs, city, k: logs.new_zeros(len(logs), k).scatter_add(1, city.expand(len(logs), -1),
        logs.exp()),
    lambda logs, city, k: np.exp([[np.logaddexp.reduce(row[city.numpy() == j]) for j in range(k)]
        for row in logs.numpy()]),
]

RIGHT = {
    name.lower(): answers
    for name, answers in tuple(globals().items())
    if name.isupper() and isinstance(answers, list)
}
