"""Right answers in the styles that students write: loops, numpy, torch, float32, lists, pandas."""

import itertools
import math

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from scipy.optimize import brentq, minimize_scalar
from scipy.special import lambertw, logsumexp, softmax
from scipy.stats import rankdata
from torch.nn.functional import one_hot

from calibkit import conformal, metrics, theory
from calibkit.recalibration import TemperatureScaler


# fmt: off
def gap_in_pandas(probs, labels):
    table = pd.DataFrame({"c": probs.amax(1).double(), "right": probs.argmax(1) == labels})
    return table.c.mean() - table.right.mean()

SIGNED_GAP = [
    gap_in_pandas,
    lambda p, y: p.max(dim=1).values.mean() - (p.argmax(dim=1) == y).float().mean(),
    lambda p, y: np.max(p.numpy(), axis=1).mean() - np.mean(p.numpy().argmax(1) == y.numpy()),
    lambda p, y: torch.mean(torch.max(p, 1)[0]) - torch.sum(torch.max(p, 1)[1] == y) / y.shape[0],
]

BIN_INDEX = [
    lambda c, bins: np.digitize(c.double(), np.arange(1, bins) / bins, right=True),
    lambda c, bins: (c.double()[:, None] > torch.arange(1, bins).double() / bins).sum(dim=1),
    lambda c, bins: [next(m for m in range(bins) if v <= (m + 1) / bins) for v in c.tolist()],
    lambda c, bins: pd.cut(pd.Series(c.double()), [-1, *[m / bins for m in range(1, bins)], 2],
        labels=False),
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

def ece_float32(probs, labels, bins):
    edges = torch.linspace(0, 1, bins + 1)
    confidence, predicted = torch.max(probs, 1)
    hits = predicted.eq(labels)
    ece = torch.zeros(1)
    for low, high in itertools.pairwise(edges):
        inside = confidence.gt(low.item()) * confidence.le(high.item())
        share = inside.float().mean()
        if share.item() > 0:
            ece += torch.abs(confidence[inside].mean() - hits[inside].float().mean()) * share
    return ece.item()

ECE = [
    ece_loop, ece_float32,
    lambda p, y, bins: metrics.ece(p, y, bins=bins),
    lambda p, y, bins: (np.abs(np.bincount(np.digitize(p.amax(1).double().numpy(),
        np.arange(1, bins) / bins, right=True), weights=(p.amax(1).double()
        - (p.argmax(1) == y).double()).numpy())).sum() / len(y)),
]

def brier_loop(probs, labels):
    total = 0.0
    for i in range(probs.shape[0]):
        for k in range(probs.shape[1]):
            total += (probs[i, k].item() - (1.0 if labels[i] == k else 0.0)) ** 2
    return total / probs.shape[0]

BRIER = [
    brier_loop,
    lambda p, y: ((p - one_hot(y, p.shape[1])) ** 2).sum(1).mean(),
    lambda p, y: ((p.numpy() - np.eye(p.shape[1])[y.numpy()]) ** 2).sum(axis=1).mean(),
    lambda p, y: F.mse_loss(p, one_hot(y, p.shape[1]).float()) * p.shape[1],
]

def classwise_by_bincount(probs, labels, bins):
    parts = []
    for k in range(probs.shape[1]):
        column = probs[:, k].double()
        where = torch.bucketize(column, torch.arange(1, bins, dtype=torch.float64) / bins)
        parts.append(torch.bincount(where, weights=column - (labels == k).double()).abs().sum())
    return torch.stack(parts).mean() / len(labels)

def classwise_by_reliability(probs, labels, bins):
    errors = []
    for k in range(probs.shape[1]):
        found = metrics.reliability_of(probs[:, k], labels == k, bins=bins)
        full = found.counts > 0
        errors.append((found.gap[full].abs() * found.counts[full] / len(labels)).sum())
    return sum(errors) / len(errors)

CLASSWISE_ECE = [
    classwise_by_bincount, classwise_by_reliability,
    lambda p, y, bins: np.array(classwise_by_bincount(p, y, bins)),
    lambda p, y, bins: [float(classwise_by_reliability(p.double(), y, bins))],
]

def parts_numpy(probs, labels):
    p, y = probs.numpy(), labels.numpy()
    loss = -np.log(p[np.arange(len(y)), y])
    right = p.argmax(1) == y
    return np.array([np.sum(loss[right]), np.sum(loss[~right])]) / len(y)

def parts_where(probs, labels):
    loss = F.nll_loss(probs.log(), labels, reduction="none")
    right = probs.argmax(1) == labels
    return torch.where(right, loss, 0.0).mean(), torch.where(right, 0.0, loss).mean()

def parts_difference(probs, labels):
    loss = -probs[range(len(labels)), labels].log()
    first = (loss * (probs.argmax(1) == labels)).mean()
    return first, loss.mean() - first

NLL_PARTS = [
    parts_numpy, parts_difference,
    lambda p, y: [float(part) for part in parts_where(p.double(), y)],
    lambda p, y: parts_where(p.clamp(min=1e-12), y),
]

def stop_while(losses, patience):
    epoch, kept = 0, 0
    while epoch + 1 < len(losses) and epoch - kept < patience:
        epoch += 1
        if losses[epoch] < losses[kept]:
            kept = epoch
    return torch.tensor([kept, epoch])

def stop_by_running_minimum(losses, patience):
    values = losses.numpy()
    first = [int(values[: e + 1].argmin()) for e in range(len(values))]
    late = [e for e, kept in enumerate(first) if e - kept >= patience]
    last = late[0] if late else len(values) - 1
    return np.array([first[last], last])

def stop_by_recursion(losses, patience, epoch=0, kept=0):
    kept = epoch if losses[epoch] < losses[kept] else kept
    if epoch - kept == patience or epoch == len(losses) - 1:
        return kept, epoch
    return stop_by_recursion(losses, patience, epoch + 1, kept)

EARLY_STOP = [
    stop_while, stop_by_running_minimum,
    lambda v, k: stop_by_recursion(v, k),
    lambda v, k: next((int(v[: e + 1].argmin()), e) for e in range(len(v)) if e == len(v) - 1 or e
        - int(v[: e + 1].argmin()) >= k),
]

def interval_loop(probs, labels):
    off = []
    for row, label in zip(probs.double().tolist(), labels.tolist(), strict=True):
        off.append(max(row) - (row.index(max(row)) == label))
    mean = sum(off) / len(off)
    variance = sum((x - mean) ** 2 for x in off) / (len(off) - 1)
    half = 1.96 * math.sqrt(variance / len(off))
    return mean - half, mean, mean + half

def off(p, y):
    return p.double().amax(1) - (p.argmax(1) == y).double()

GAP_INTERVAL = [
    interval_loop,
    lambda p, y: [off(p, y).mean() + k * off(p, y).std() / len(y) ** 0.5 for k in (-1.96, 0, 1.96)],
    lambda p, y: (off(p, y).mean() + torch.tensor([-1.96, 0, 1.96])
        * (off(p, y).var() / len(y)).sqrt()),
    lambda p, y: (np.quantile([0.0, 1.0, 2.0], [0, 0.5, 1]) * 0 + off(p, y).mean().item()
        + np.array([-1, 0, 1]) * 1.96 * off(p, y).std().item() / math.sqrt(len(y))),
]

def matrix_loop(p):
    classes = len(p)
    table = [[0.0] * classes for _ in range(classes)]
    for i in range(classes):
        for j in range(classes):
            table[i][j] = float(p[i] * p[j] / sum(p))
        table[i][i] += 1 - float(p[i])
    return table

NOISE_MATRIX = [
    matrix_loop,
    lambda p: np.diag(1 - p.numpy()) + np.outer(p, p) / p.numpy().sum(),
    lambda p: torch.eye(len(p)) * (1 - p) + torch.outer(p, p / p.sum()),
    lambda p: torch.eye(len(p)) - torch.diag(p) + p.float()[:, None] @ (p / p.sum()).float()[None],
]

NOISY_NLL = [
    lambda p, t, y: -torch.log((p @ t)[torch.arange(len(y)), y]).mean(),
    lambda p, t, y: -np.log((p.numpy() @ t.numpy())[np.arange(len(y)), y.numpy()]).mean(),
    lambda p, t, y: F.nll_loss(torch.log(p.float() @ t.float()), y).item(),
    lambda p, t, y: F.nll_loss((p @ t).clamp(min=1e-12).log(), y),
]

def ratio_by_autograd(p, gamma):
    u = (-p.double().log()).requires_grad_()
    loss = (1 - torch.exp(-u)) ** gamma * u
    return torch.autograd.grad(loss.sum(), u)[0]

GRADIENT_RATIO = [
    ratio_by_autograd,
    lambda p, g: theory.gradient_ratio(p, g),
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

def star_numpy(p0):
    s = -p0 * np.log(p0) / (1 - p0)
    r = -np.log1p(-p0) / s
    return ((-lambertw(-r * np.exp(-r), k=-1) / r - 1) / s).real

GAMMA_STAR = [
    star_by_root, star_by_bisection,
    lambda p0: [star_numpy(p0)],
    lambda p0: np.float32(star_by_bisection(p0)),
]

def ratio(p, gamma):
    return (1 - p) ** gamma - gamma * p * (1 - p) ** (gamma - 1) * np.log(p)

FOCAL_POSTERIOR = [
    lambda p, g: theory.focal_posterior(torch.stack([p, 1 - p], 1), g)[:, 0],
    lambda p, g: ((p / theory.gradient_ratio(p, g)) / (p / theory.gradient_ratio(p, g) + (1 - p)
        / theory.gradient_ratio(1 - p, g))),
    lambda p, g: [v / ratio(v, g) / (v / ratio(v, g) + (1 - v) / ratio(1 - v, g)) for v in
        p.double().tolist()],
    lambda p, g: F.normalize(torch.stack([p / theory.gradient_ratio(p, g), (1 - p)
        / theory.gradient_ratio(1 - p, g)]), p=1, dim=0)[0],
]

def mix_in_place(labels, partner, lam, classes):
    rows = torch.zeros(len(labels), classes)
    rows[torch.arange(len(labels)), labels] += lam
    rows[torch.arange(len(labels)), labels[partner]] += 1 - lam
    return rows

MIXED_LABELS = [
    mix_in_place,
    lambda y, j, lam, k: lam * one_hot(y, k) + (1 - lam) * one_hot(y[j], k),
    lambda y, j, lam, k: lam * np.eye(k)[y] + (1 - lam) * np.eye(k)[y[j]],
    lambda y, j, lam, k: (lam * (y[:, None] == torch.arange(k)).float() + (1 - lam)
        * (y[j][:, None] == torch.arange(k)).float()),
]

HONEST_CHOICE = [
    lambda cal, test: test[torch.arange(len(test)), cal.argmin(1)],
    lambda cal, test: np.take_along_axis(test.numpy(), cal.numpy().argmin(1)[:, None], 1)[:, 0],
    lambda cal, test: torch.gather(test.float(), 1, cal.min(1).indices[:, None])[:, 0],
    lambda cal, test: [test[i, cal[i].sort().indices[0]] for i in range(len(cal))],
]

OTHER_PRIOR = [
    lambda p, old, new: (p.log() + new.log() - old.log()).softmax(1),
    lambda p, old, new: F.normalize(p * new / old, p=1, dim=1),
    lambda p, old, new: (p * new / old).numpy() / (p * new / old).numpy().sum(1, keepdims=True),
    lambda p, old, new: ((p.float() * new.float() / old.float()).double()
        / (p * new / old).sum(1, keepdim=True)),
]

def errors_loop(probs, labels, order):
    errors = torch.zeros(len(order))
    for place, k in enumerate(order.tolist()):
        errors[place] = metrics.ece(probs[labels == k], labels[labels == k])
    return errors

CLASS_ERRORS = [
    errors_loop,
    lambda p, y, order: [metrics.ece(p[y == k], y[y == k]) for k in order],
    lambda p, y, order: np.array([metrics.ece(p[y == k], y[y == k]) for k in order.tolist()]),
    lambda p, y, order: pd.Series(metrics.ece_by_group(p, y, y))[order.tolist()].to_numpy(),
]

AVOIDABLE_BRIER = [
    lambda p, q: ((p - q) ** 2).sum(1).mean(),
    lambda p, q: np.mean(np.sum((p.numpy() - q.numpy()) ** 2, axis=1)),
    lambda p, q: F.mse_loss(p.double(), q.double(), reduction="sum") / len(q),
    lambda p, q: (sum(float((a.double() - b).square().sum()) for a, b in zip(p, q, strict=True))
        / len(p)),
]

def nll_at(logits, labels, T):
    return F.cross_entropy(logits.double() / T, labels).item()

def slope_at(logits, labels, T):
    """The mean logit under p minus that of the label: zero at the best T."""
    z = logits.double()
    return ((z / T).softmax(1) * z).sum(1).mean() - z.gather(1, labels[:, None]).mean()

def halving_the_slope(logits, labels):
    low, high = 0.05, 50.0
    while high - low > 1e-4 * low:
        middle = (low + high) / 2
        if slope_at(logits, labels, middle) > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2

def by_fine_grid(logits, labels):
    grid = np.geomspace(0.05, 50, 600)
    return grid[np.argmin([nll_at(logits, labels, T) for T in grid])]

FITTED_TEMPERATURE = [
    halving_the_slope, by_fine_grid,
    lambda z, y: brentq(lambda T: slope_at(z, y, T), 0.05, 50),
    lambda z, y: TemperatureScaler().fit(z, y).temperature,
]

PENALTY_POSTERIOR = [
    lambda p, w: p * (1 + w * (metrics.entropy(p)[:, None] + p.log())),
    lambda p, w: p + w * p * (p.log() - (p * p.log()).sum(1, keepdim=True)),
    lambda p, w: (np.asarray(p) * (1 + w * (np.log(np.asarray(p))
        - np.sum(p.numpy() * np.log(p.numpy()), 1)[:, None]))),
    lambda p, w: [[a * (1 + w * (math.log(a) - sum(b * math.log(b) for b in row))) for a in row]
        for row in p.tolist()],
]

SMOOTHED_LOSS = [
    lambda z, y, a: F.cross_entropy(z, y, label_smoothing=a),
    lambda z, y, a: F.cross_entropy(z, (1 - a) * one_hot(y, z.shape[1]) + a / z.shape[1]),
    lambda z, y, a: (z.logsumexp(1) - (1 - a) * z[range(len(y)), y] - a * z.mean(1)).mean(),
    lambda z, y, a: float(F.cross_entropy(z, y) * (1 - a) - a * z.log_softmax(1).mean(1).mean()),
]

SELECTIVE_RISK = [
    lambda c, a, share: (~a)[c.topk(round(share * len(c))).indices].double().mean(),
    lambda c, a, share: 1 - a[c.argsort(descending=True)[: round(share * len(c))]].float().mean(),
    lambda c, a, share: np.mean(~a.numpy()[np.argsort(-c.numpy())][: int(share * len(c) + 0.5)]),
    lambda c, a, share: 1 - float(a[c >= c.sort().values[-round(share * len(c))]].double().mean()),
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

def gamma_in_pandas(p, confidence, correct):
    table = pd.DataFrame({"off": confidence.double() - correct.double(), "bin":
        torch.bucketize(confidence, torch.arange(1, 10) / 10)})
    gaps = table.groupby("bin").off.agg(["mean", "size"])
    gammas = (20 * gaps["mean"]).clip(0, 5).where(gaps["size"] >= 25, 0)
    places = torch.bucketize(p, torch.arange(1, 10) / 10)
    return gammas.reindex(range(10), fill_value=0).to_numpy()[places]

SAMPLE_GAMMA = [
    gamma_loop, gamma_counted, gamma_in_pandas,
    lambda p, c, a: torch.tensor(gamma_loop(p, c, a)),
]

def ensemble_loop(logits):
    total = torch.zeros_like(logits[0])
    for one in logits:
        total += one.softmax(dim=1)
    return total / len(logits)

ENSEMBLE_PROBS = [
    ensemble_loop,
    lambda z: z.softmax(dim=2).mean(dim=0),
    lambda z: F.softmax(z, dim=-1).mean(0),
    lambda z: np.mean([one.softmax(1).numpy() for one in z], axis=0),
]

def informed_in_steps(scores, one_hot, old, new):
    distance = -scores * 2 * old**2
    weights = torch.softmax(-distance / (2 * new**2), dim=1)
    total = torch.zeros(len(scores), one_hot.shape[1], dtype=scores.dtype)
    for place, owner in enumerate(one_hot.argmax(1).tolist()):
        total[:, owner] += weights[:, place]
    return total

INFORMED_POSTERIOR = [
    informed_in_steps,
    lambda z, rows, old, new: (z * (old / new) ** 2).softmax(dim=1) @ rows,
    lambda z, rows, old, new: F.softmax(z / (new / old) ** 2, 1).mm(rows),
    lambda z, rows, old, new: softmax(z.numpy() * (old / new) ** 2, axis=1) @ rows.numpy(),
]

def auroc_loop(familiar, strange):
    won = 0.0
    for a in familiar:
        for b in strange:
            won += 1.0 if a > b else 0.5 if a == b else 0.0
    return won / (len(familiar) * len(strange))

def auroc_by_ranks(familiar, strange):
    ranks = rankdata(torch.cat([familiar, strange]).numpy())[: len(familiar)]
    n, m = len(familiar), len(strange)
    return (ranks.sum() - n * (n + 1) / 2) / (n * m)

STRANGE_AUROC = [
    auroc_loop, auroc_by_ranks,
    metrics.auroc,
    lambda a, b: ((a[:, None] > b).double() + (a[:, None] == b).double() / 2).mean(),
]

def lost_loop(probs):
    members = [one.max(dim=1).values.mean() for one in probs]
    together = sum(probs) / len(probs)
    return sum(members) / len(members) - together.max(dim=1).values.mean()

LOST_CONFIDENCE = [
    lost_loop,
    lambda p: p.amax(dim=2).mean() - p.mean(dim=0).amax(dim=1).mean(),
    lambda p: np.max(p.numpy(), 2).mean() - p.numpy().mean(0).max(1).mean(),
    lambda p: (float(p.sort(2).values[..., -1].mean()) - float(p.mean(0).sort(1).values[:,
        -1].mean())),
]

def group_loop(confidence, correct, groups):
    found = []
    for group in range(int(groups.max()) + 1):
        off, variance = 0.0, 0.0
        for c, h, g in zip(confidence.tolist(), correct.tolist(), groups.tolist(), strict=True):
            if g == group:
                off += c - h
                variance += c * (1 - c)
        found.append(off / variance**0.5)
    return found

def group_table(confidence, correct, groups):
    table = pd.DataFrame({"c": confidence, "h": correct.double(), "g": groups})
    table["off"], table["v"] = table.c - table.h, table.c * (1 - table.c)
    sums = table.groupby("g")[["off", "v"]].sum()
    return (sums.off / np.sqrt(sums.v)).to_numpy()

def one_hot_groups(confidence, correct, groups):
    member = one_hot(groups).double()
    off = member.T @ (confidence - correct.double())
    return off / (member.T @ (confidence * (1 - confidence))).sqrt()

GROUP_Z = [
    group_loop, group_table, one_hot_groups,
    lambda c, h, g: [(c[g == k] - h[g == k].double()).sum() / (c * (1 - c))[g == k].sum().sqrt()
        for k in g.unique()],
]

def top_entropy_loop(probs, share):
    found = []
    for row in probs.double().tolist():
        found.append(-sum(p * math.log(p) for p in row if p > 0))
    order = sorted(range(len(found)), key=lambda i: -found[i])
    return torch.tensor(sorted(order[: round(share * len(found))]))

TOP_ENTROPY = [
    top_entropy_loop,
    lambda p, share: (torch.special.entr(p).sum(1).argsort(descending=True)[:
        round(share * len(p))].sort().values),
    lambda p, share: ((-(p * p.clamp(min=1e-12).log()).sum(1)).topk(round(share
        * len(p))).indices.sort()[0]),
    lambda p, share: (pd.Series(metrics.entropy(p).numpy()).nlargest(round(share
        * len(p))).index.sort_values()),
]

def cost_loop(share, warmup, epochs, scoring):
    return sum(1 if epoch < warmup else share + scoring for epoch in range(epochs)) / epochs

SELECTION_COST = [
    cost_loop,
    lambda share, warmup, epochs, scoring: ((warmup + (epochs - warmup) * (share + scoring))
        / epochs),
    lambda share, warmup, epochs, scoring: 1 - (epochs - warmup) / epochs * (1 - share - scoring),
    lambda share, warmup, epochs, scoring: np.mean([1] * warmup + [share + scoring]
        * (epochs - warmup)),
]

def masked_gap_loop(probs, labels):
    differences = []
    for sentence, words in zip(probs.tolist(), labels.tolist(), strict=True):
        for row, word in zip(sentence, words, strict=True):
            if word != 0:
                differences.append(max(row) - (row.index(max(row)) == word))
    return sum(differences) / len(differences)

MASKED_GAP = [
    masked_gap_loop,
    lambda p, y: metrics.signed_gap(p[y != 0], y[y != 0]),
    lambda p, y: p[y > 0].amax(1).mean() - (p[y > 0].argmax(1) == y[y > 0]).double().mean(),
    lambda p, y: np.mean((p.numpy().max(2) - (p.numpy().argmax(2) == y.numpy()))[y.numpy() != 0]),
]

def next_law_loop(translations, probs, prefix, words):
    law, seen = [0.0] * words, prefix.tolist()
    for row, p in zip(translations.tolist(), probs.tolist(), strict=True):
        if row[: len(seen)] == seen:
            law[row[len(seen)]] += p
    return [p / sum(law) for p in law]

def next_law_one_hot(translations, probs, prefix, words):
    fits = (translations[:, : len(prefix)] == prefix).all(1)
    chosen = one_hot(translations[fits, len(prefix)], words).double()
    return probs[fits] @ chosen / probs[fits].sum()

NEXT_LAW = [
    next_law_loop, next_law_one_hot,
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
    best_rate_in_a_loop, best_rate_by_scipy,
    lambda z, y: torch.tensor(best_rate_in_a_loop(z.double(), y)),
    lambda z, y: list(best_rate_in_a_loop(z, y)),
]

ATTENTION = [
    lambda q, k, v: F.scaled_dot_product_attention(q, k, v),
    lambda q, k, v: torch.softmax(q @ k.T / math.sqrt(q.shape[1]), dim=-1) @ v,
    lambda q, k, v: F.softmax(q @ k.T * k.shape[1] ** -0.5, 1).mm(v),
    lambda q, k, v: (v.T @ (k @ q.T / k.shape[1] ** 0.5).softmax(0)).T,
]

def mean_loop(vectors, texts):
    rows = []
    for vector, text in zip(vectors, texts, strict=True):
        rows.append(vector[text != 0].mean(0))
    return torch.stack(rows)

MASKED_MEAN = [
    mean_loop,
    lambda v, x: torch.einsum("nld,nl->nd", v, (x != 0).double()) / (x != 0).sum(1)[:, None],
    lambda v, x: v.masked_fill((x == 0)[..., None], float("nan")).nanmean(1),
    lambda v, x: np.array([a.numpy()[b.numpy() != 0].mean(0) for a, b in zip(v, x, strict=True)]),
]

def note_by_logs(words, start, moves, says):
    forward = start.log() + says[:, words[0]].log()
    for word in words[1:]:
        forward = torch.logsumexp(forward[:, None] + moves.log(), 0) + says[:, word].log()
    return forward.logsumexp(0).exp()

def note_from_the_end(words, start, moves, says):
    back = torch.ones_like(start)
    for word in words.flip(0)[:-1]:
        back = moves @ (says[:, word] * back)
    return (start * says[:, words[0]] * back).sum()

def note_in_loops(words, start, moves, says):
    topics = range(len(start))
    now = [start[h] * says[h, words[0]] for h in topics]
    for word in words.tolist()[1:]:
        now = [sum(now[g] * moves[g, h] for g in topics) * says[h, word] for h in topics]
    return sum(now)

NOTE_PROBABILITY = [
    note_by_logs, note_from_the_end, note_in_loops,
    lambda w, s, m, e: (torch.linalg.multi_dot([s[None] * e[:, w[0]],
        *(m * e[:, x] for x in w[1:]), torch.ones(len(s), 1).double()])).item(),
]

def regret_of_costs(said, posterior, c):
    check, best = (one > 1 / (1 + c) for one in (said, posterior))
    paid, least = (torch.where(way, 1 - posterior, c * posterior) for way in (check, best))
    return (paid - least).mean()

def regret_loop(said, posterior, c):
    total = 0.0
    for p, q in zip(said.tolist(), posterior.tolist(), strict=True):
        paid = 1 - q if p * (1 + c) > 1 else c * q
        total += paid - min(1 - q, c * q)
    return total / len(said)

DECISION_REGRET = [
    regret_of_costs, regret_loop,
    lambda p, q, c: metrics.regret(torch.stack([1 - p, p], 1), torch.stack([1 - q, q], 1),
        metrics.alarm_costs(c)),
    lambda p, q, c: float(np.mean(np.abs((1 + c) * q.numpy() - 1)
        * ((p.numpy() > 1 / (1 + c)) ^ (q.numpy() > 1 / (1 + c))))),
]

CHEAPEST_ACTION = [
    lambda p, costs: metrics.cheapest_action(p, costs),
    lambda p, costs: torch.einsum("nk,ak->na", p, costs).argmin(1),
    lambda p, costs: (p[:, None] * costs[None]).sum(2).min(1).indices,
    lambda p, costs: np.argmin(p.numpy() @ costs.numpy().T, axis=1),
]

def threshold_counting_down(scores, alpha):
    """The least score with at most alpha (n + 1) - 1 scores above it."""
    n = len(scores)
    kept = [t for t in scores.tolist() if (scores <= t).sum() >= (n + 1) * (1 - alpha) - 1e-9]
    return min(kept, default=1)

def threshold_by_numpy(scores, alpha):
    n = len(scores)
    level = np.ceil(round((n + 1) * (1 - alpha), 9)) / n
    return np.quantile(scores.numpy(), level, method="inverted_cdf") if level <= 1 else 1.0

def threshold_with_one_more(scores, alpha):
    padded = torch.cat([scores, torch.ones(1, dtype=scores.dtype)])
    return padded.kthvalue(math.ceil(round(len(padded) * (1 - alpha), 9))).values

CONFORMAL_THRESHOLD = [
    threshold_counting_down, threshold_by_numpy, threshold_with_one_more,
    lambda s, a: sorted([*s.tolist(), 1.0])[-int((len(s) + 1) * a + 1e-9) - 1],
]

SET_COVERAGE = [
    lambda s, q, g: (s * q).sum(1)[g].mean(),
    lambda s, q, g: torch.einsum("nk,nk->n", s[g].double(), q[g]).mean().item(),
    lambda s, q, g: np.where(s.numpy(), q.numpy(), 0).sum(1)[g.numpy()].mean(),
    lambda s, q, g: conformal.exact_coverage(s[g], q[g]).mean(),
]

def thresholds_in_pandas(scores, groups, alpha):
    table = pd.DataFrame({"score": scores.numpy(), "group": groups.numpy()})
    return table.groupby("group").score.apply(lambda own:
        threshold_with_one_more(torch.tensor(own.to_numpy()), alpha).item())

GROUP_THRESHOLDS = [
    thresholds_in_pandas,
    lambda s, g, a: [threshold_by_numpy(s[g == k], a) for k in range(int(g.max()) + 1)],
    lambda s, g, a: torch.stack([threshold_with_one_more(s[g == k], a) for k in g.unique()]),
    lambda s, g, a: conformal.group_quantiles(s, g, a).clamp(max=1),
]

def bayes_loop(counts, wrong):
    """Each city's odds against every other, in plain Python."""
    odds = math.log((1 - wrong) * (counts.shape[1] - 1) / wrong)
    rows = []
    for row in counts.tolist():
        weights = [math.exp(-odds * (max(row) - m)) for m in row]
        rows.append([weight / sum(weights) for weight in weights])
    return rows

def bayes_by_table(counts, wrong):
    """The logarithm of each sentence's probability for each true city, times the counts."""
    cities = counts.shape[1]
    table = np.full((cities, cities), np.log(wrong / (cities - 1)))
    np.fill_diagonal(table, np.log1p(-wrong))
    logs = counts.numpy() @ table
    return np.exp(logs - logsumexp(logs, axis=1, keepdims=True))

FACT_POSTERIOR = [
    bayes_loop, bayes_by_table,
    lambda c, w: (c.double() * math.log((1 - w) / w * (c.shape[1] - 1))).softmax(-1),
    lambda c, w: F.softmax(c * math.log(1 - w) + (c.sum(1, True) - c)
        * math.log(w / (c.shape[1] - 1)), dim=1),
]

def meaning_loop(log_probs, city, cities):
    table = torch.zeros(len(log_probs), cities, dtype=torch.float64)
    for s, k in enumerate(city):
        table[:, k] += log_probs[:, s].exp()
    return table

def meaning_added_at(log_probs, city, cities):
    table = np.zeros((len(log_probs), cities))
    np.add.at(table, (slice(None), city.numpy()), np.exp(log_probs.numpy()))
    return table

BY_MEANING = [
    meaning_loop, meaning_added_at,
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
