"""A right answer to each exercise, as students write them: loops, numpy, float32, lists, pandas."""

import math

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from scipy.optimize import brentq, minimize_scalar
from scipy.special import logsumexp, softmax
from torch.nn.functional import one_hot

from calibkit import metrics, theory


# fmt: off
def ece_loop(probs, labels, bins):
    confidence, predicted = probs.max(dim=1)
    total = 0.0
    for m in range(bins):
        inside = (confidence > m / bins) & (confidence <= (m + 1) / bins)
        if inside.sum() > 0:
            accuracy = (predicted[inside] == labels[inside]).float().mean()
            total += abs(confidence[inside].mean() - accuracy) * inside.float().mean()
    return total

def classwise_by_bincount(probs, labels, bins):
    parts = []
    for k in range(probs.shape[1]):
        column = probs[:, k].double()
        where = torch.bucketize(column, torch.arange(1, bins, dtype=torch.float64) / bins)
        parts.append(torch.bincount(where, weights=column - (labels == k).double()).abs().sum())
    return torch.stack(parts).mean() / len(labels)

def parts_where(probs, labels):
    loss = F.nll_loss(probs.log(), labels, reduction="none")
    right = probs.argmax(1) == labels
    return torch.where(right, loss, 0.0).mean(), torch.where(right, 0.0, loss).mean()

def stop_by_running_minimum(losses, patience):
    values = losses.numpy()
    first = [int(values[: e + 1].argmin()) for e in range(len(values))]
    late = [e for e, kept in enumerate(first) if e - kept >= patience]
    last = late[0] if late else len(values) - 1
    return np.array([first[last], last])

def off(p, y):
    return p.double().amax(1) - (p.argmax(1) == y).double()

def star_by_root(p0):
    def excess(g):
        return float(theory.gradient_ratio(p0, g)) - 1
    return brentq(excess, 1e-3, 1e4, xtol=1e-12)

def ratio(p, gamma):
    return (1 - p) ** gamma - gamma * p * (1 - p) ** (gamma - 1) * np.log(p)

def nll_at(logits, labels, T):
    return F.cross_entropy(logits.double() / T, labels).item()

def by_fine_grid(logits, labels):
    grid = np.geomspace(0.05, 50, 600)
    return grid[np.argmin([nll_at(logits, labels, T) for T in grid])]

def gamma_counted(p, confidence, correct):
    places = np.minimum((10 * confidence.numpy()).astype(int), 9)
    n = np.bincount(places, minlength=10)
    off = np.bincount(places, confidence.double().numpy() - correct.numpy(), 10)
    gammas = np.clip(20 * off / np.maximum(n, 1), 0, 5) * (n >= 25)
    return gammas[np.minimum((10 * p.numpy()).astype(int), 9)]

def one_hot_groups(confidence, correct, groups):
    member = one_hot(groups).double()
    off = member.T @ (confidence - correct.double())
    return off / (member.T @ (confidence * (1 - confidence))).sqrt()

def best_rate_by_scipy(logits, labels):
    def loss(log_T, one):
        return F.cross_entropy(one.double() / math.exp(log_T), labels).item()

    fits = [minimize_scalar(loss, args=(one,), bounds=(-4, 7), method="bounded",
        options={"xatol": 1e-6}) for one in logits]
    place = int(np.argmin([fit.fun for fit in fits]))
    return np.array([place, np.exp(fits[place].x)])

def note_by_logs(words, start, moves, says):
    forward = start.log() + says[:, words[0]].log()
    for word in words[1:]:
        forward = torch.logsumexp(forward[:, None] + moves.log(), 0) + says[:, word].log()
    return forward.logsumexp(0).exp()

def regret_of_costs(said, posterior, c):
    check, best = (one > 1 / (1 + c) for one in (said, posterior))
    paid, least = (torch.where(way, 1 - posterior, c * posterior) for way in (check, best))
    return (paid - least).mean()

def threshold_with_one_more(scores, alpha):
    padded = torch.cat([scores, torch.ones(1, dtype=scores.dtype)])
    return padded.kthvalue(math.ceil(round(len(padded) * (1 - alpha), 9))).values

def thresholds_in_pandas(scores, groups, alpha):
    table = pd.DataFrame({"score": scores.numpy(), "group": groups.numpy()})
    return table.groupby("group").score.apply(lambda own:
        threshold_with_one_more(torch.tensor(own.to_numpy()), alpha).item())

def bayes_by_table(counts, wrong):
    """The logarithm of each sentence's probability for each true city, times the counts."""
    cities = counts.shape[1]
    table = np.full((cities, cities), np.log(wrong / (cities - 1)))
    np.fill_diagonal(table, np.log1p(-wrong))
    logs = counts.numpy() @ table
    return np.exp(logs - logsumexp(logs, axis=1, keepdims=True))

RIGHT = {
    "signed_gap":
        lambda p, y: np.max(p.numpy(), axis=1).mean() - np.mean(p.numpy().argmax(1) == y.numpy()),
    "bin_index": lambda c, bins: np.digitize(c.double(), np.arange(1, bins) / bins, right=True),
    "ece": ece_loop,
    "brier": lambda p, y: ((p.numpy() - np.eye(p.shape[1])[y.numpy()]) ** 2).sum(axis=1).mean(),
    "classwise_ece": classwise_by_bincount,
    "nll_parts": lambda p, y: [float(part) for part in parts_where(p.double(), y)],
    "early_stop": stop_by_running_minimum,
    "gap_interval": lambda p, y: (off(p, y).mean() + torch.tensor([-1.96, 0, 1.96])
            * (off(p, y).var() / len(y)).sqrt()),
    "noise_matrix":
        lambda p: (torch.eye(len(p)) - torch.diag(p)
            + p.float()[:, None] @ (p / p.sum()).float()[None]),
    "noisy_nll": lambda p, t, y: F.nll_loss(torch.log(p.float() @ t.float()), y).item(),
    "gradient_ratio":
        lambda p, g: (1 - p.float()) ** g - g * p.float() * (1 - p.float()) ** (g - 1) * p.log(),
    "gamma_star": star_by_root,
    "focal_posterior":
        lambda p, g: [v / ratio(v, g) / (v / ratio(v, g) + (1 - v) / ratio(1 - v, g)) for v in
            p.double().tolist()],
    "mixed_labels": lambda y, j, lam, k: lam * np.eye(k)[y] + (1 - lam) * np.eye(k)[y[j]],
    "honest_choice":
        lambda cal, test: torch.gather(test.float(), 1, cal.min(1).indices[:, None])[:, 0],
    "other_prior": lambda p, old, new: ((p.float() * new.float() / old.float()).double()
            / (p * new / old).sum(1, keepdim=True)),
    "class_errors":
        lambda p, y, order: np.array([metrics.ece(p[y == k], y[y == k]) for k in order.tolist()]),
    "avoidable_brier": lambda p, q: np.mean(np.sum((p.numpy() - q.numpy()) ** 2, axis=1)),
    "fitted_temperature": by_fine_grid,
    "penalty_posterior": lambda p, w: (np.asarray(p) * (1 + w * (np.log(np.asarray(p))
            - np.sum(p.numpy() * np.log(p.numpy()), 1)[:, None]))),
    "smoothed_loss":
        lambda z, y, a: float((1 - a) * F.cross_entropy(z, y) - a * z.log_softmax(1).mean()),
    "selective_risk":
        lambda c, a, share:
            np.mean(~a.numpy()[np.argsort(-c.numpy())][: int(share * len(c) + 0.5)]),
    "sample_gamma": gamma_counted,
    "ensemble_probs": lambda z: np.mean([one.softmax(1).numpy() for one in z], axis=0),
    "informed_posterior":
        lambda z, rows, old, new: softmax(z.numpy() * (old / new) ** 2, axis=1) @ rows.numpy(),
    "strange_auroc":
        lambda a, b: ((a[:, None] > b).double() + (a[:, None] == b).double() / 2).mean(),
    "lost_confidence": lambda p: np.max(p.numpy(), 2).mean() - p.numpy().mean(0).max(1).mean(),
    "group_z": one_hot_groups,
    "top_entropy": lambda p, share: (pd.Series(metrics.entropy(p).numpy()).nlargest(round(share
            * len(p))).index.sort_values()),
    "selection_cost":
        lambda share, warmup, epochs, scoring: np.mean([1] * warmup + [share + scoring]
            * (epochs - warmup)),
    "masked_gap":
        lambda p, y: p[y > 0].amax(1).mean() - (p[y > 0].argmax(1) == y[y > 0]).double().mean(),
    "next_law": lambda rows, p, prefix, words: (np.array([sum(q for row, q in
            zip(rows.tolist(), p.tolist(), strict=True) if row[: len(prefix) + 1]
            == [*prefix.tolist(), word]) for word in range(words)])
            / sum(q for row, q in zip(rows.tolist(), p.tolist(), strict=True) if row[: len(prefix)]
            == prefix.tolist())),
    "own_best": best_rate_by_scipy,
    "attention": lambda q, k, v: torch.softmax(q @ k.T / math.sqrt(q.shape[1]), dim=-1) @ v,
    "masked_mean":
        lambda v, x: np.array([a.numpy()[b.numpy() != 0].mean(0)
            for a, b in zip(v, x, strict=True)]),
    "note_probability": note_by_logs,
    "decision_regret": regret_of_costs,
    "cheapest_action": lambda p, costs: np.argmin(p.numpy() @ costs.numpy().T, axis=1),
    "conformal_threshold":
        lambda s, a: sorted([*s.tolist(), 1.0])[-int((len(s) + 1) * a + 1e-9) - 1],
    "set_coverage": lambda s, q, g: torch.einsum("nk,nk->n", s[g].double(), q[g]).mean().item(),
    "group_thresholds": thresholds_in_pandas,
    "fact_posterior": bayes_by_table,
    "by_meaning":
        lambda logs, city, k: np.exp([[np.logaddexp.reduce(row[city.numpy() == j])
            for j in range(k)] for row in logs.numpy()]),
}
# fmt: on
