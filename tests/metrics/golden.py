"""The golden cases: predictions whose calibration errors are known exactly, by named convention.

`python -m tests.metrics.golden` writes them to calibkit/metrics/golden_cases.json. The answers come
from rational arithmetic on the decimals below, apart from the package; only which bin a value falls
into is asked of the floats that a library is handed, because that is where conventions differ.
"""

from __future__ import annotations

import itertools
import json
import math
import random
from fractions import Fraction as F
from pathlib import Path

import numpy as np
import torch

from tests.metrics.test_smooth import solved

TARGET = Path(__file__).parents[2] / "calibkit" / "metrics" / "golden_cases.json"


# ---- what is binned: (value as a fraction, value as stored, hit) of every row


def top(rows, labels, stored):
    best = [max(range(len(row)), key=lambda k: (row[k], -k)) for row in stored]
    return [
        (row[b], s[b], int(b == y)) for row, s, b, y in zip(rows, stored, best, labels, strict=True)
    ]


def last_top(rows, labels, stored):
    """Of equal largest values the last is the prediction."""
    best = [max(range(len(row)), key=lambda k: (row[k], k)) for row in stored]
    return [
        (row[b], s[b], int(b == y)) for row, s, b, y in zip(rows, stored, best, labels, strict=True)
    ]


def one_class(k):
    return lambda rows, labels, stored: [
        (row[k], s[k], int(y == k)) for row, s, y in zip(rows, stored, labels, strict=True)
    ]


# ---- how rows are parted: a list of bins, each a list of rows


def by_edges(edges, right):
    """Bins between the inner `edges`: (lo, hi] where `right`, else [lo, hi)."""

    def part(values, bins):
        inner = edges(values, bins)
        below = [sum(e < s if right else e <= s for e in inner) for _, s, _ in values]
        placed = list(zip(values, below, strict=True))
        return [[v for v, b in placed if b == k] for k in range(len(inner) + 1)]

    return part


def width(values, bins):
    return [k / bins for k in range(1, bins)]


def linspace(values, bins):
    return np.linspace(0, 1, bins + 1)[1:-1].tolist()


def float32(values, bins):
    return (np.arange(1, bins, dtype=np.float32) / np.float32(bins)).tolist()


def quantiles(values, bins):
    stored = [s for _, s, _ in values]
    return sorted(set(np.quantile(stored, np.linspace(0, 1, bins + 1)[1:-1]).tolist()))


def neighbours(values, bins):
    """Half-way between the neighbours of each cut of the sorted rows into equal runs."""
    runs = [r for r in np.array_split(sorted(s for _, s, _ in values), bins) if len(r)]
    return [(a[-1] + b[0]) / 2 for a, b in itertools.pairwise(runs)]


def certain_apart(values, bins):
    """[lo, hi) in float32 between the edges of torch.linspace, and a bin more for the value 1."""

    def edges(values, bins):
        return [*torch.linspace(0, 1, bins + 1)[1:-1].tolist(), 1.0]

    rounded = [(v, float(np.float32(s)), hit) for v, s, hit in values]
    return by_edges(edges, right=False)(rounded, bins)


def without(lost, part):
    """The rows whose stored value is `lost` fall into no bin, but count in n."""
    return lambda values, bins: part([v for v in values if v[1] != lost], bins)


def lowest_apart(values, bins):
    """(lo, hi] between all `bins` quantiles from 0 to 1: the lowest value has a bin of its own."""

    def edges(values, bins):
        return np.quantile([s for _, s, _ in values], np.linspace(0, 1, bins)).tolist()

    return by_edges(edges, True)(values, bins)


def one_fewer(part):
    return lambda values, bins: part(values, bins - 1)


def split(values, bins):
    """Sorted rows in equal runs; rows of one value are cut apart in the order of the rows."""
    ordered = sorted(values, key=lambda v: v[1])
    return [[ordered[i] for i in run] for run in np.array_split(range(len(ordered)), bins)]


def hundreds(last):
    """Runs of 100 sorted rows, the rest with the last run, which counts or does not."""

    def part(values, bins):
        ordered = sorted(values, key=lambda v: v[1])
        starts = list(range(0, len(ordered) - 99, 100)) or [0]
        runs = [ordered[a:b] for a, b in zip(starts, [*starts[1:], None], strict=True)]
        return runs if last else runs[:-1]

    return part


# ---- from bins to a number


def gaps(parts):
    return [
        (len(p), abs(sum(v for v, _, _ in p) - sum(h for _, _, h in p)) / len(p))
        for p in parts
        if p
    ]


def binned(part, norm="l1", rows=top):
    def answer(case, bins):
        values = rows(*case)
        sizes = gaps(part(values, bins))
        if norm == "max":
            return max((g for _, g in sizes), default=F(0))
        total = sum(F(n, len(values)) * g ** (1 if norm == "l1" else 2) for n, g in sizes)
        return total if norm == "l1" else math.sqrt(total)

    return answer


def per_class(part, keep=lambda v, k: True, share=lambda k: F(1, k), only=lambda y, k: True):
    """The mean over classes of their l1 errors; `keep` which values count, `only` which classes."""

    def answer(case, bins):
        rows, labels, _ = case
        classes = [k for k in range(len(rows[0])) if only(labels, k)]
        found = F(0)
        for k in classes:
            values = [v for v in one_class(k)(*case) if keep(v[1], len(rows[0]))]
            found += sum(F(n, len(values)) * g for n, g in gaps(part(values, bins)))
        return found * share(len(classes))

    return answer


def debiased(part):
    def answer(case, bins):
        values, total = top(*case), F(0)
        for p in filter(lambda p: len(p) > 1, part(values, bins)):
            n, hit = len(p), F(sum(h for _, _, h in p), len(p))
            gap = sum(v for v, _, _ in p) / n - hit
            total += F(n, len(values)) * (gap**2 - hit * (1 - hit) / (n - 1))
        return math.sqrt(max(total, 0))

    return answer


def smooth(case, bins):
    values = top(*case)
    return solved(
        np.array([float(v) for v, _, _ in values]), np.array([h for _, _, h in values], bool)
    )


def brier(share):
    def answer(case, bins):
        rows, labels, _ = case
        total = sum(
            (p - (k == y)) ** 2
            for row, y in zip(rows, labels, strict=True)
            for k, p in enumerate(row)
        )
        return total / len(rows) * share(len(rows[0]))

    return answer


def log_loss(floor):
    def answer(case, bins):
        kept = [max(float(row[y]), floor) for row, y in zip(case[0], case[1], strict=True)]
        return math.inf if min(kept) == 0 else -math.fsum(map(math.log, kept)) / len(kept)

    return answer


RIGHT, LEFT = by_edges(width, True), by_edges(width, False)
MASS = by_edges(neighbours, True)
CONVENTIONS = {
    "ECE, (lo, hi]": binned(RIGHT),
    "ECE, [lo, hi)": binned(LEFT),
    "ECE, [lo, hi), edges of linspace": binned(by_edges(linspace, False)),
    "ECE, (lo, hi], edges in float32": binned(by_edges(float32, True)),
    "ECE, [lo, hi), edges in float32": binned(by_edges(float32, False)),
    "ECE, [lo, hi) in float32, 1 in a bin of its own": binned(certain_apart),
    "ECE, [lo, hi), 1 in no bin": binned(without(1.0, by_edges(linspace, False))),
    "ECE, (lo, hi], one bin fewer": binned(one_fewer(by_edges(linspace, True))),
    "ECE, last of equal classes predicted": binned(RIGHT, rows=last_top),
    "ECE l2, (lo, hi]": binned(RIGHT, "l2"),
    "ECE l2, [lo, hi)": binned(LEFT, "l2"),
    "MCE, (lo, hi]": binned(RIGHT, "max"),
    "MCE, [lo, hi)": binned(LEFT, "max"),
    "equal mass, ties kept": binned(MASS),
    "equal mass, ties cut": binned(split),
    "equal mass, quantiles, (lo, hi]": binned(by_edges(quantiles, True)),
    "equal mass, quantiles, [lo, hi)": binned(by_edges(quantiles, False)),
    "equal mass, quantiles, (lo, hi], one bin fewer, the lowest value apart": binned(lowest_apart),
    "equal mass l2, ties kept": binned(MASS, "l2"),
    "equal mass, largest gap": binned(MASS, "max"),
    "runs of 100": binned(hundreds(last=True)),
    "runs of 100, the last in no bin": binned(hundreds(last=False)),
    "debiased l2, equal mass": debiased(MASS),
    "debiased l2, (lo, hi]": debiased(RIGHT),
    "smooth ECE": smooth,
    "classwise, (lo, hi]": per_class(RIGHT),
    "classwise, [lo, hi)": per_class(LEFT),
    "classwise, sum": per_class(RIGHT, share=lambda k: 1),
    "classwise, classes with labels": per_class(RIGHT, only=lambda y, k: k in y),
    "classwise, classes up to the largest label": per_class(RIGHT, only=lambda y, k: k <= max(y)),
    "classwise, 0 in no bin": per_class(RIGHT, keep=lambda v, k: v > 0),
    "classwise, above 1 / K": per_class(RIGHT, keep=lambda v, k: v > 1 / k),
    "event, (lo, hi]": binned(RIGHT, rows=one_class(1)),
    "event, [lo, hi)": binned(LEFT, rows=one_class(1)),
    "event, 0 in no bin": binned(without(0.0, by_edges(linspace, True)), rows=one_class(1)),
    "event, equal mass, ties kept": binned(MASS, rows=one_class(1)),
    "event, equal mass, quantiles, [lo, hi)": binned(by_edges(quantiles, False), rows=one_class(1)),
    "Brier, sum over classes": brier(lambda k: 1),
    "Brier, half the sum": brier(lambda k: F(1, 2)),
    "Brier, mean over classes": brier(lambda k: F(1, k)),
    "log loss": log_loss(0),
    "log loss, clipped at float64's eps": log_loss(float(np.finfo(np.float64).eps)),
    "log loss, clipped at float32's eps": log_loss(float(np.finfo(np.float32).eps)),
    "log loss, clipped at 1e-15": log_loss(1e-15),
    "log loss, clipped at 1e-12": log_loss(1e-12),
}


# ---- the predictions


def three(values, seed, right=F(7, 10)):
    """Rows of three classes with these largest values, of which a share is right."""
    draw, rows, labels = random.Random(seed), [], []
    for c in values:
        best, rest = draw.randrange(3), F(draw.randrange(1, 9), 10) * (1 - c)
        row = [rest, 1 - c - rest]
        row.insert(best, c)
        rows.append(row)
        labels.append(best if draw.random() < right else (best + draw.choice([1, 2])) % 3)
    return rows, labels


def two(values, seed):
    draw = random.Random(seed)
    return [[1 - p, p] for p in values], [int(draw.random() < 0.15 + 0.6 * p) for p in values]


def thirty(values):
    """Rows of thirty classes with these largest values, every second one right."""
    rows = [[(1 - c) / 29] * 29 for c in values]
    for place, c in enumerate(values):
        rows[place].insert(place % 30, c)
    return rows, [(place + place % 2) % 30 for place in range(len(values))]


def beside_edges(dtype):
    """Every edge of 10 and of 15 bins above a third in `dtype`, and its two neighbours."""
    edges = [dtype(k / b) for b in (10, 15) for k in range(2 * b // 5, b)]
    return [F(float(np.nextafter(e, dtype(to)))) for e in edges for to in (0, e, 1)]


def cases():
    """(name, what it is for, dtype, rows of fractions, labels) of every case."""
    spread = [F(k, 1000) for k in range(411, 1000, 19)]
    round_ones = [F(k, 100) for k in (55, 65, 75, 85, 95) for _ in range(9)]
    certain = [F(1)] * 6 + [F(k, 100) for k in (96, 97, 98, 94, 95, 99)]
    absent, labels = three(spread, 5)
    yield "spread", "no value on an edge, no ties", "float64", *three(spread, 1)
    on_edges = [F(2, 5)] * 5 + [F(4, 5)] * 6 + spread[::6]
    yield "edges", "values on edges", "float64", *three(on_edges, 2)
    near = three(beside_edges(np.float64), 146, F(1, 2))
    yield "neighbours", "edges and their neighbours", "float64", *near
    near = three(beside_edges(np.float32), 146, F(1, 2))
    yield "float32", "the same in float32", "float32", *near
    yield "float16", "the same in float16", "float16", *three(beside_edges(np.float16), 4)
    yield "certain", "confidences of exactly 1", "float64", *three(certain, 6, F(1, 2))
    yield "ties", "five round values", "float64", *three(round_ones, 7)
    yield "absent", "the last class is no label", "float64", absent, [y % 2 for y in labels]
    gap = [2 * (y % 2) for y in labels]
    yield "gap", "a class in the middle is no label", "float64", absent, gap
    low = [F(k, 1000) for k in range(41, 1000, 31)]
    yield "low", "rows in every bin, of thirty classes", "float64", *thirty(low)
    yield "few", "three rows", "float64", *three([F(51, 100), F(72, 100), F(93, 100)], 8)
    thirds = [[F(9, 25), F(9, 25), F(7, 25)]] * 4 + [[F(1, 10), F(9, 20), F(9, 20)]] * 4
    yield "draw", "two largest values are equal", "float64", thirds, [0, 1, 1, 2, 1, 1, 2, 0]
    sure = [[F(1), F(0)], [F(1, 4), F(3, 4)]]
    yield "impossible", "labels of probability 0", "float64", sure, [1, 1]
    zeros = [[F(k, 10), 1 - F(k, 10), F(0)] for k in (1, 2, 3, 6, 7, 8)]
    yield "zeros", "a class that has probability 0", "float64", zeros, [1, 2, 0, 0, 1, 0]
    events = [F(k, 20) for k in (0, 0, 0, 1, 3, 3, 4, 8, 8, 9, 11, 12, 12, 16, 17, 19, 20, 20)]
    yield "two classes", "0, 1 and edges among the event's", "float64", *two(events, 9)
    many = [F(1, 2) + F(k * 37 % 499, 1000) for k in range(1, 331)]
    draw = random.Random(10)
    many_rows = [[1 - p, p] for p in many]
    many_labels = [int(draw.random() < (0.9 if p < F(2, 3) else 0.6)) for p in many]
    yield "many", "more than two hundred rows", "float64", many_rows, many_labels


def written(value):
    """A fraction, twelve decimals where it has none, or inf."""
    if isinstance(value, F) and value.denominator < 10**9:
        return str(value)
    return f"{float(value):.12f}" if math.isfinite(value) else "inf"


def document():
    found = []
    for name, what, dtype, rows, labels in cases():
        stored = [[float(np.dtype(dtype).type(float(v))) for v in row] for row in rows]
        exact = rows if dtype == "float64" else [[F(v) for v in row] for row in stored]
        answers = {
            str(bins): {
                k: written(f((exact, labels, stored), bins)) for k, f in CONVENTIONS.items()
            }
            for bins in (10, 15)
        }
        found.append({"name": name, "what": what, "dtype": dtype})
        found[-1] |= {"probs": stored, "labels": labels, "answers": answers}
    return {"conventions": list(CONVENTIONS), "cases": found}


def text():
    """One line a row of cases, so that a change can be read."""
    whole = document()
    lines = [json.dumps(case) for case in whole["cases"]]
    head = json.dumps(whole["conventions"])
    return f'{{"conventions": {head},\n"cases": [\n' + ",\n".join(lines) + "\n]}\n"


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
    print(f"{TARGET}: {TARGET.stat().st_size / 1e3:.0f} kB")
