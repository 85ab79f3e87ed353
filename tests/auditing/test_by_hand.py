"""Numbers of an audit computed again in numpy: of rows alike, with weights, and in clusters."""

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.special import ndtr, ndtri, stdtr, stdtrit

import calibkit
from calibkit.auditing.cross_fitted import halves
from calibkit.auditing.findings import p_of_hits
from calibkit.auditing.labels_and_groups import units_of
from calibkit.auditing.measures import area_under_risk
from tests.auditing.test_audit import drawn

Z, LABELS = drawn(2000, 4, truth=0.6)
KEPT = (LABELS != 3) | (torch.arange(2000) % 12 == 0)  # class 3 is rare
Z, LABELS = Z[KEPT], LABELS[KEPT]
OTHER, Y, N, K, BINS = Z.roll(1, 1) * 0.5 + Z, LABELS.numpy(), len(Z), 4, 12
DRAWN = np.random.default_rng(0).random((3, N))
WEIGHTS, CLUSTERS = (4 * DRAWN[0]).round(), (700 * DRAWN[1]).astype(int)
GROUPS = np.array(["a"] * 70 + ["b"] * 29 + [None], object)[(100 * DRAWN[2]).astype(int)]
PLAIN = np.ones(N), np.arange(N), {}
UNITS = {"rows": PLAIN, "weights": (WEIGHTS, np.arange(N), {"weights": WEIGHTS})}
UNITS["clusters"] = WEIGHTS, CLUSTERS, {"weights": WEIGHTS, "clusters": CLUSTERS}
each_case = pytest.mark.parametrize("case", UNITS.values(), ids=UNITS)


def sums(case, values):
    """By unit the weighted sum of values."""
    return pd.Series(case[0] * values).groupby(case[1]).sum().to_numpy()


def johnson(case, values, level):
    """Student's interval of a weighted mean, with Johnson's terms (1978)."""
    weight, mean = case[0].sum(), np.average(values, weights=case[0])
    off, count = sums(case, values - mean) / weight, (sums(case, values * 0 + 1) > 0).sum()
    error, t = np.sqrt((off**2).sum() * count / (count - 1)), stdtrit(count - 1, (1 + level) / 2)
    middle = mean + (off**3).sum() / max(error, 1e-9) ** 2 * (1 / 6 + t * t / 3)
    return min(middle - t * error, mean), max(middle + t * error, mean)


def ends(estimate):
    return estimate.low, estimate.high


def by_row(z):
    """What every row of logits adds to each mean."""
    p = z.softmax(1).numpy()
    said, right = p.max(1), p.argmax(1) == Y
    means = {"accuracy": right * 1.0, "confidence": said, "gap": said - right}
    means["nll"] = -np.log(p[np.arange(N), Y])
    return means | {"brier": ((p - np.eye(K)[Y]) ** 2).sum(1)}


def wide(values):
    return np.ceil(values * BINS).astype(int) - 1


P, EACH, SECOND = Z.softmax(1).numpy(), by_row(Z), by_row(OTHER)
SAID, GAP, RIGHT, GUESS = EACH["confidence"], EACH["gap"], EACH["accuracy"], P.argmax(1)


@each_case
def test_means_and_paired_differences_have_the_intervals_of_their_rows(case):
    found = calibkit.audit(Z, LABELS, other=OTHER, level=0.9, resamples=10, **case[2])
    cooled = by_row(Z / found.cooling.of_row[:, None])
    for name, first in EACH.items():
        parts = {"cooled": cooled[name], "gain": cooled[name] - first, "other": SECOND[name]}
        parts |= {"measures": first, "difference": SECOND[name] - first}
        for of, each in parts.items():
            estimate = getattr(found, of)[name]
            assert estimate.value == pytest.approx(np.average(each, weights=case[0])), (of, name)
            if name != "accuracy" or of in ("gain", "difference"):
                assert ends(estimate) == pytest.approx(johnson(case, each, 0.9)), (of, name)
    p = np.average(RIGHT, weights=case[0])
    n = p * (1 - p) * case[0].sum() ** 2 / (sums(case, RIGHT - p) ** 2).sum()
    for end, side in zip(ends(found.measures["accuracy"]), (-1, 1), strict=True):  # Wilson (1927)
        assert (end - p) * side == pytest.approx(ndtri(0.95) * np.sqrt(end * (1 - end) / n))


@each_case
def test_each_half_is_cooled_by_the_temperature_of_the_other_with_its_interval(case):
    weights, clusters, told = case
    cooling = calibkit.audit(Z, LABELS, level=0.9, seed=3, resamples=10, **told).cooling
    parts = halves(units_of(N, **told), N, 3)
    assert sorted(np.concatenate(parts)) == list(range(N))
    first, second = (np.unique(clusters[part][weights[part] > 0]) for part in parts)
    assert np.intersect1d(first, second).size == 0
    assert abs(len(first) - len(second)) <= 1
    errors = []
    for t, mine, other in zip(cooling.fitted, parts, parts[::-1], strict=True):
        assert (cooling.of_row[mine] == t).all()  # it is of the others
        z, w = (Z / t).numpy(), np.where(np.isin(np.arange(N), other), weights, 0)
        p = (Z / t).softmax(1).numpy()
        off, variance = (p * z).sum(1) - z[np.arange(N), Y], (p * z**2).sum(1) - (p * z).sum(1) ** 2
        assert w @ off == pytest.approx(0, abs=1e-3 * w @ variance)  # of least likelihood
        squares = (sums((w, clusters), off) ** 2).sum(), w**2 @ variance
        errors.append(np.sqrt(max(squares)) / (w @ variance))
    half, middle = ndtri(0.95) * np.mean(errors) / np.sqrt(2), np.log(cooling.fitted).mean()
    assert np.log([*ends(cooling), cooling.value]) == pytest.approx(
        [middle - half, middle + half, middle]
    )
    assert cooling.crossed


def test_rows_of_one_weight_have_the_bias_of_as_many_rows():
    n = N // 15 * 15  # as many in every bin
    plain, double = (
        calibkit.audit(Z[:n], LABELS[:n], resamples=10, weights=weights).measures["debiased_ece"]
        for weights in (None, [2.0] * n)
    )
    assert double.value == pytest.approx(plain.value, abs=1e-9)


def size(parts):
    return np.abs(parts).sum(-1)


@each_case
def test_binned_errors_have_the_intervals_of_their_gaps(case):
    found = calibkit.audit(Z, LABELS, other=OTHER, bins=BINS, resamples=4000, **case[2])
    weights, count = case[0], (sums(case, np.ones(N)) > 0).sum()
    index, even, random = wide(SAID), np.empty(N, int), np.random.default_rng(0)
    even[SAID.argsort()] = np.arange(N) * BINS // N

    def spread(*fields):
        """By bin of each field the weighted mean of its values, and how these vary."""
        parts = [np.eye(BINS)[index] * values[:, None] for values, index in fields]
        middle = np.average(off := np.concatenate(parts, 1), axis=0, weights=weights)
        off = np.array([sums(case, column) for column in (off - middle).T]) / weights.sum()
        own = off @ off.T * (count / (count - 1) if "clusters" in case[2] else 1)
        return middle, own, random.multivariate_normal(middle * 0, own, 20_000)

    cells = pd.Series(weights).groupby([index, case[1]]).sum()
    worth = cells.groupby(level=0).sum() ** 2 / (cells**2).groupby(level=0).sum()
    assert found.shown[0].effective[worth.index].numpy() == pytest.approx(worth.to_numpy())
    s, own, chance = spread((GAP, index))
    mean = np.bincount(index, weights * SAID, BINS) / np.bincount(index, weights, BINS).clip(1e-9)
    checked = [("ece", size, np.sign(s), (s, own, chance))]
    checked += [
        ("overconfidence_error", lambda s: s.clip(0) @ mean, mean * (s > 0), (s, own, chance))
    ]
    if case is PLAIN:
        of_even = spread((GAP, even))
        checked += [("ada_ece", size, np.sign(of_even[0]), of_even)]
    for name, norm, slope, (parts, varies, draws) in checked:
        it = found.measures[name]
        assert it.value == pytest.approx(norm(parts)), name
        assert it.high == pytest.approx(
            it.value + ndtri(0.975) * np.sqrt(slope @ varies @ slope)
        ), name
        reached = norm(it.low / it.value * parts + draws) >= it.value
        assert reached.mean() == pytest.approx(0.025, abs=0.008), name

    both, own, _ = spread((SECOND["gap"], wide(SECOND["confidence"])), (GAP, index))
    second, _, theirs = spread((SECOND["gap"], wide(SECOND["confidence"])))
    slope, less = np.sign(both) * np.repeat([1, -1], BINS), found.difference["ece"]
    assert less.value == pytest.approx(size(second) - size(s))
    half = ndtri(0.975) * np.sqrt(slope @ own @ slope)
    # beyond that each end grants what chance adds to one of the two, by its median
    for added, parts, draws in (
        (less.value - half - less.low, second, theirs),
        (less.high - half - less.value, s, chance),
    ):
        reached = size((1 - added / size(parts)) * parts + draws) >= size(parts)
        assert reached.mean() == pytest.approx(0.5, abs=0.03)
        assert 0 <= added <= size(parts)
    moved = []
    for each in (EACH, SECOND):
        parts = (each["confidence"], each["accuracy"] > 0, weights)
        area, more = area_under_risk(*map(torch.from_numpy, parts))
        moved.append(area + more.numpy())
    assert ends(found.measures["aurc"]) == pytest.approx(johnson(case, moved[0], 0.95))
    own = johnson(case, moved[1] - moved[0], 0.95)
    assert ends(found.difference["aurc"]) == pytest.approx(own)


@each_case
def test_the_tests_draw_what_calibration_would_show(case):
    weights, clusters, told = case
    found = calibkit.audit(Z / 1.5, LABELS, bins=BINS, resamples=10, **told)
    p = (Z / 1.5).softmax(1).numpy()
    said, gap, second = p.max(1), by_row(Z / 1.5)["gap"], (p**2).sum(1)
    excess = second - p[np.arange(N), Y]
    shown = excess if "clusters" in told else np.sqrt((p**3).sum(1) - second**2)
    random = np.random.default_rng(0)
    z = sums(case, excess).sum() / np.sqrt((sums(case, shown) ** 2).sum())
    assert (found.test.z, found.test.p_value_z) == pytest.approx((z, 2 * ndtr(-abs(z))))

    def error(gaps):
        return size(np.bincount(wide(said), weights * gaps)) / weights.sum()

    def sample(more):
        if "clusters" in told:  # signs of whole clusters
            return error(gap * random.choice([-1, 1], N)[clusters] + more)
        return error(said - (random.random(N) < said - more))

    assert found.test.error == pytest.approx(error(gap))
    by_chance = np.array([sample(0) for _ in range(1000)])
    assert found.test.expected == pytest.approx(by_chance.mean(), rel=0.06)
    assert found.test.p_value == pytest.approx((by_chance >= error(gap)).mean(), abs=0.05)
    for more, power in found.power.items():
        own = np.mean([sample(more) > np.quantile(by_chance, 0.95) for _ in range(200)])
        assert power == pytest.approx(own, abs=0.13), more


def p_value(case, mine):
    """Of the hits of some rows, as their confidences or what clusters show would have them."""
    weights, clusters, told = case
    if "clusters" not in told:
        return p_of_hits(SAID[mine], RIGHT[mine], weights[mine])
    of, count = sums(case, GAP * mine), len(np.unique(clusters[mine]))
    return 2 * stdtr(count - 1, -abs(of.sum()) / np.sqrt((of**2).sum()))


@each_case
def test_the_tables_hold_the_numbers_of_their_rows(case):
    weights = case[0]
    options = {
        "groups": GROUPS[:, None],
        "class_names": list("abcd"),
        "bins": BINS,
        "resamples": 10,
    }
    found = calibkit.audit(Z, LABELS, **options, **case[2])

    left = by_row(Z / found.cooling.of_row[:, None])["gap"]

    def share(values, mine):
        return np.average(values[mine], weights=weights[mine])

    for row in found.classes.itertuples():
        mine = (k := "abcd".index(row.name)) == Y
        named, p = k == GUESS, p_value(case, k == GUESS)
        error = np.bincount(wide(P[:, k]), weights * (P[:, k] - mine))
        own = (mine.sum(), share(RIGHT, mine), named.sum(), share(SAID, named), share(RIGHT, named))
        own += (share(GAP, named), size(error) / weights.sum(), p)
        assert row[2:-1] == pytest.approx(own), row.name
        flags = ["rare"] * (k == 3) + ["off"] * int(p < 0.05 / K)
        assert row.flag == ", and ".join(flags), row.name
    assert list(found.classes["p"]) == sorted(found.classes["p"])
    assert list(found.groups["name"]) == ["a", "b", "missing"]
    for row in found.groups.itertuples():
        mine = (None if row.name == "missing" else row.name) == GROUPS
        p = p_value(case, mine)
        bins = np.bincount(wide(SAID)[mine], (weights * GAP)[mine])
        own = (
            mine.sum(),
            share(RIGHT, mine),
            share(SAID, mine),
            size(bins) / weights[mine].sum(),
            p,
        )
        assert (row.samples, row.accuracy, row.said, row.ece, row.p) == pytest.approx(own), row.name
        assert row.flag == "off" * int(p < 0.05 / 3), row.name
        for of, each in (("", GAP), ("_left", left)):
            own = share(each, mine), *johnson((weights[mine], case[1][mine]), each[mine], 0.95)
            it = [getattr(row, name + of) for name in ("gap", "low", "high")]
            assert it == pytest.approx(own), (row.name, of)
    order = np.argsort(-SAID, kind="stable")
    shares = weights[order].cumsum() / weights.sum()
    table = found.coverage[2]
    for at, row in zip((1, 0.95, 0.9, 0.8, 0.7, 0.5, 0.3), table.itertuples(), strict=True):
        assert row.coverage == pytest.approx(at, abs=0.002)
        surest = order[: np.argmax(shares >= row.coverage - 1e-9) + 1]
        own = 1 - share(RIGHT, surest), SAID[surest[-1]]
        assert (row.risk, row.threshold) == pytest.approx(own), at
    wrong = order[GUESS[order] != Y[order]][:20]
    for row, it in zip(wrong, found.mistakes.itertuples(index=False), strict=True):
        assert it[:3] == (row, "abcd"[GUESS[row]], "abcd"[Y[row]])
        assert it[3:] == pytest.approx((SAID[row], P[row, Y[row]]))
