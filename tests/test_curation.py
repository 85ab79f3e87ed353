"""Curation: exact counts, known laws, determinism, nesting, bad input."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from calibkit import curation
from calibkit.curation import (
    classwise_noise,
    imbalance,
    resample,
    subset,
    symmetric_noise,
    transition_matrix,
)


def balanced(each=100, classes=10):
    return torch.arange(classes).repeat(each)


def ragged(n=997, classes=5, seed=0):
    g = torch.Generator().manual_seed(seed)
    weight = torch.arange(1, classes + 1).double()
    return torch.multinomial(weight, n, replacement=True, generator=g)


def strictly_ascending(indices):
    return bool((indices[1:] > indices[:-1]).all())


# --- subset ---


@pytest.mark.parametrize("stratified", [True, False])
@pytest.mark.parametrize(
    ("size", "count"), [(0.1, 100), (1.0, 1000), (1, 1), (1000, 1000), (0.0405, 40), (333, 333)]
)
def test_subset_has_the_exact_size(size, count, stratified):
    indices = subset(balanced(), size, seed=3, stratified=stratified)
    assert len(indices) == count
    assert indices.dtype == torch.int64
    assert strictly_ascending(indices)
    assert indices[0] >= 0
    assert indices[-1] < 1000


@pytest.mark.parametrize("count", [1, 9, 10, 15, 250, 999])
def test_stratified_subset_of_balanced_labels_is_balanced(count):
    counts = balanced()[subset(balanced(), count, seed=1)].bincount(minlength=10)
    assert counts.max() - counts.min() <= 1


@given(seed=st.integers(0, 1000), share=st.floats(0.05, 1))
@settings(deadline=None, max_examples=40)
def test_stratified_subset_keeps_the_class_shares(seed, share):
    labels = ragged(seed=seed)
    size = labels.bincount(minlength=5)
    counts = labels[subset(labels, share, seed=seed)].bincount(minlength=5)
    exact = size * counts.sum() / size.sum()
    assert bool(((counts - exact).abs() <= 1.5).all())


def test_sainte_lague_by_hand():
    labels = torch.tensor([0] * 53 + [1] * 24 + [2] * 23)
    counts = labels[subset(labels, 7, seed=0)].bincount()
    assert counts.tolist() == [3, 2, 2]  # the textbook seats of shares .53, .24, .23


@pytest.mark.parametrize("stratified", [True, False])
def test_smaller_subsets_lie_within_larger_ones(stratified):
    labels = ragged()
    kept = [set(subset(labels, m, seed=5, stratified=stratified).tolist()) for m in range(1, 997)]
    assert all(small < large for small, large in itertools.pairwise(kept))


def test_unstratified_subset_is_random_and_ignores_the_classes():
    labels = balanced(each=500, classes=2)
    counts = [int(labels[subset(labels, 100, seed=s, stratified=False)].sum()) for s in range(200)]
    spread = np.std(counts)  # hypergeometric: sqrt(100 / 4 * 900 / 999) = 4.75
    assert 4 < spread < 5.5
    assert abs(np.mean(counts) - 50) < 1.5


@pytest.mark.parametrize("stratified", [True, False])
def test_every_sample_is_equally_likely_to_be_kept(stratified):
    labels = torch.tensor([0, 1] * 10)
    seen = torch.zeros(20)
    for seed in range(2000):
        seen[subset(labels, 5, seed=seed, stratified=stratified)] += 1
    assert bool(((seen - 500).abs() < 6 * math.sqrt(2000 * 0.25 * 0.75)).all())


def test_stratified_subset_of_a_million_is_exact():
    labels = torch.tensor([0, 1]).repeat(500_000)
    indices = subset(labels, 999_998, seed=0)
    assert labels[indices].bincount().tolist() == [499_999, 499_999]


def test_the_first_samples_of_a_subset_come_from_the_largest_classes():
    labels = torch.tensor([0] * 53 + [1] * 24 + [2] * 23)
    taken = [labels[subset(labels, m, seed=0)].bincount(minlength=3).tolist() for m in (1, 2, 3)]
    assert taken == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]  # 1/106 < 1/48 < 1/46 < 3/106
    assert len(subset(labels[:4], 0.25, seed=0)) == 1


# --- symmetric noise ---

FORMS = [("shuffle", False), ("uniform", False), ("uniform", True)]


@pytest.mark.parametrize(("form", "exclude_true"), FORMS)
@pytest.mark.parametrize("rate", [0.0, 0.1, 0.255, 0.5, 1.0])
def test_symmetric_noise_touches_an_exact_count(form, exclude_true, rate):
    labels = balanced()
    noisy = symmetric_noise(labels, rate, classes=10, seed=0, form=form, exclude_true=exclude_true)
    assert len(noisy.flipped) == round(rate * 1000)
    assert strictly_ascending(noisy.flipped)
    assert torch.equal(noisy.clean, labels)
    untouched = torch.ones(1000, dtype=torch.bool)
    untouched[noisy.flipped] = False
    assert torch.equal(noisy.labels[untouched], labels[untouched])
    assert set(noisy.changed.tolist()) <= set(noisy.flipped.tolist())
    assert torch.equal(noisy.changed, (noisy.labels != labels).nonzero()[:, 0])
    assert noisy.rates.tolist() == [round(rate * 1000) / 1000] * 10


def test_noise_never_changes_its_input():
    labels = balanced()
    for noisy in (
        symmetric_noise(labels, 0.9, classes=10, seed=0),
        classwise_noise(labels, 0.9, classes=10, seed=0),
    ):
        assert torch.equal(labels, balanced())
        assert not torch.equal(noisy.labels, labels)


def test_shuffling_keeps_every_class_size():
    labels = ragged()
    noisy = symmetric_noise(labels, 0.4, classes=5, seed=2)
    assert noisy.labels.bincount().tolist() == labels.bincount().tolist()
    assert len(noisy.changed) > 100


def test_excluding_the_true_class_changes_every_flipped_label():
    noisy = symmetric_noise(balanced(), 0.3, classes=10, seed=0, form="uniform", exclude_true=True)
    assert torch.equal(noisy.changed, noisy.flipped)
    shift = (noisy.labels - noisy.clean)[noisy.flipped] % 10
    assert shift.bincount(minlength=10).tolist()[0] == 0
    assert bool((shift.bincount(minlength=10)[1:] > 10).all())


def frequencies(noisy, classes):
    table = torch.zeros(classes, classes, dtype=torch.float64)
    ones = torch.ones(len(noisy.labels), dtype=torch.float64)
    table.index_put_((noisy.clean, noisy.labels), ones, accumulate=True)
    return table / table.sum(1, keepdim=True)


@pytest.mark.parametrize(("form", "exclude_true"), FORMS)
def test_symmetric_noise_follows_its_transition_matrix(form, exclude_true):
    labels = ragged(200_000, 4)
    noisy = symmetric_noise(labels, 0.4, classes=4, seed=0, form=form, exclude_true=exclude_true)
    assert torch.allclose(frequencies(noisy, 4), noisy.transition, atol=0.01)


@pytest.mark.parametrize("exclude_true", [False, True])
@pytest.mark.parametrize("rates", [0.5, [0.1, 0.0, 0.6, 0.3]])
def test_classwise_noise_follows_its_transition_matrix(rates, exclude_true):
    labels = ragged(200_000, 4)
    noisy = classwise_noise(labels, rates, classes=4, seed=1, exclude_true=exclude_true)
    assert torch.allclose(frequencies(noisy, 4), noisy.transition, atol=0.01)
    if exclude_true:
        assert torch.equal(noisy.changed, noisy.flipped)


# --- classwise noise ---


def test_classwise_noise_touches_an_exact_count_of_each_class():
    labels = ragged()
    rates = [0.0, 0.1, 0.25, 0.5, 1.0]
    noisy = classwise_noise(labels, rates, classes=5, seed=0)
    size = labels.bincount().tolist()
    expected = [round(p * n) for p, n in zip(rates, size, strict=True)]
    assert labels[noisy.flipped].bincount(minlength=5).tolist() == expected
    assert strictly_ascending(noisy.flipped)
    assert noisy.rates.tolist() == pytest.approx(
        [e / n for e, n in zip(expected, size, strict=True)]
    )
    assert bool((noisy.labels[noisy.flipped] != 0).all())  # class 0 has rate 0: nobody goes there


@pytest.mark.parametrize("top", [0.5, 0.9])
def test_one_number_is_a_ramp_over_classes_in_random_order(top):
    noisy = classwise_noise(balanced(), top, classes=10, seed=0)
    ramp = [round(top * i / 9 * 100) / 100 for i in range(10)]
    assert sorted(noisy.rates.tolist()) == pytest.approx(ramp, abs=0.011)
    orders = {
        tuple(classwise_noise(balanced(), top, classes=10, seed=s).rates.tolist()) for s in range(5)
    }
    assert len(orders) == 5


def test_classwise_noise_of_rate_zero_is_no_noise():
    noisy = classwise_noise(balanced(), 0.0, classes=10, seed=0)
    assert len(noisy.flipped) == len(noisy.changed) == 0
    assert torch.equal(noisy.labels, noisy.clean)
    assert torch.equal(noisy.transition, torch.eye(10, dtype=torch.float64))


def test_a_class_without_samples_keeps_its_nominal_rate():
    noisy = classwise_noise([0] * 10 + [2] * 10, [0.5, 0.3, 0.2], classes=3, seed=0)
    assert noisy.rates.tolist() == pytest.approx([0.5, 0.3, 0.2])


def test_one_sample_of_a_class_counts_whole():
    noisy = classwise_noise([0] * 10 + [1], [0.5, 0.8], classes=2, seed=0)
    assert noisy.rates.tolist() == [0.5, 1.0]
    noisy = classwise_noise([0] * 10 + [1], [0.5, 0.4], classes=2, seed=0)
    assert noisy.rates.tolist() == [0.5, 0.0]


def test_the_ramp_ends_at_one_half_by_default_and_one_class_can_take_all():
    assert classwise_noise(balanced(), classes=10, seed=0).rates.max() == 0.5
    noisy = classwise_noise([0, 1] * 5, [0.0, 1.0], classes=2, seed=0)
    assert torch.equal(noisy.labels, noisy.clean)  # class 1 draws itself alone


# --- transition matrices ---


def test_transition_matrices_by_hand():
    shuffle = transition_matrix(0.3, form="shuffle", classes=2, prior=[0.8, 0.2])
    assert shuffle.flatten().tolist() == pytest.approx([0.94, 0.06, 0.24, 0.76])
    uniform = transition_matrix(0.4, form="uniform", classes=4)
    assert uniform[1].tolist() == pytest.approx([0.1, 0.7, 0.1, 0.1])
    excluded = transition_matrix(0.3, form="uniform", classes=4, exclude_true=True)
    assert excluded[2].tolist() == pytest.approx([0.1, 0.1, 0.7, 0.1])
    classwise = transition_matrix([0.0, 0.2, 0.3], form="classwise")
    expected = [1, 0, 0, 0, 0.8 + 0.2 * 0.4, 0.2 * 0.6, 0, 0.3 * 0.4, 0.7 + 0.3 * 0.6]
    assert classwise.flatten().tolist() == pytest.approx(expected)
    excluded = transition_matrix([0.1, 0.2, 0.3], form="classwise", exclude_true=True)
    assert excluded[0].tolist() == pytest.approx([0.9, 0.1 * 0.4, 0.1 * 0.6])
    plain = transition_matrix(0.3, form="shuffle", classes=3)
    assert torch.equal(plain, transition_matrix(0.3, form="uniform", classes=3))
    assert plain.dtype == torch.float64
    sure = transition_matrix(0.5, form="shuffle", classes=2, prior=[1.0, 0.0])
    assert sure.flatten().tolist() == [1, 0, 0.5, 0.5]


@given(
    rates=st.lists(st.floats(0.01, 1), min_size=2, max_size=6),
    form=st.sampled_from(["shuffle", "uniform", "classwise"]),
    exclude_true=st.booleans(),
)
@settings(deadline=None, max_examples=50)
def test_transition_rows_are_distributions(rates, form, exclude_true):
    matrix = transition_matrix(rates, form=form, exclude_true=exclude_true and form != "shuffle")
    assert bool((matrix >= 0).all())
    assert torch.allclose(matrix.sum(1), torch.ones(len(rates), dtype=torch.float64))
    if exclude_true and form != "shuffle":
        assert matrix.diag().tolist() == pytest.approx([1 - r for r in rates], abs=1e-12)


def test_posterior_of_noisy_labels_is_the_posterior_times_the_matrix():
    g = torch.Generator().manual_seed(0)
    posterior = torch.tensor([0.6, 0.3, 0.1], dtype=torch.float64)  # one input, many draws
    labels = torch.multinomial(posterior, 100_000, replacement=True, generator=g)
    noisy = symmetric_noise(labels, 0.5, classes=3, seed=0, form="uniform")
    measured = noisy.labels.bincount(minlength=3) / 100_000
    assert torch.allclose(measured.double(), posterior @ noisy.transition, atol=0.006)


def test_noise_uses_the_exact_share_in_its_matrix():
    noisy = symmetric_noise([0, 1, 0, 1, 0, 1, 1], 0.3, classes=2, seed=0)  # 2 of 7
    assert noisy.transition[0, 1].item() == pytest.approx(2 / 7 * 4 / 7)
    assert noisy.transition[1, 0].item() == pytest.approx(2 / 7 * 3 / 7)
    noisy = classwise_noise([0, 1, 0, 1, 0, 1, 1], [0.3, 0.6], classes=2, seed=0)  # 1/3, 2/4
    assert noisy.transition[0, 1].item() == pytest.approx(1 / 3 * 2 / 3)


# --- imbalance ---


def test_exponential_imbalance_by_hand():
    kept = imbalance(balanced(each=1000, classes=5), 100, seed=0)
    shares = [100 ** (-i / 4) for i in range(5)]
    assert kept.counts[kept.order].tolist() == [round(1000 * s) for s in shares]
    assert sorted(kept.order.tolist()) == [0, 1, 2, 3, 4]
    labels = balanced(each=1000, classes=5)[kept.indices]
    assert labels.bincount(minlength=5).tolist() == kept.counts.tolist()
    assert strictly_ascending(kept.indices)


@pytest.mark.parametrize(("classes", "rare"), [(2, 1), (5, 2), (10, 5)])
def test_step_imbalance_divides_half_of_the_classes(classes, rare):
    kept = imbalance(balanced(each=200, classes=classes), 10, seed=1, form="step")
    assert kept.counts[kept.order].tolist() == [200] * (classes - rare) + [20] * rare


@pytest.mark.parametrize("form", ["exponential", "step"])
def test_imbalance_of_one_keeps_everything(form):
    kept = imbalance(ragged(), 1, seed=0, form=form)
    assert torch.equal(kept.indices, torch.arange(997))


@pytest.mark.parametrize("form", ["exponential", "step"])
def test_imbalance_keeps_one_sample_at_least_and_takes_shares_of_each_class(form):
    labels = torch.tensor([0] * 7 + [1] * 3 + [2] * 5)
    kept = imbalance(labels, 1e6, seed=0, form=form)
    assert kept.counts.min() == 1
    kept = imbalance(labels, 2, seed=0, form="step")
    size = labels.bincount()
    rare = kept.order[-1]
    assert kept.counts[rare] == round(size[rare].item() / 2)
    assert kept.counts[kept.order[0]] == size[kept.order[0]]


def test_absent_classes_stay_absent():
    kept = imbalance([0] * 50 + [2] * 50, 10, seed=0, classes=4)
    assert len(kept.order) == len(kept.counts) == 4
    assert kept.counts[1] == kept.counts[3] == 0
    assert len(kept.indices) == kept.counts.sum()


@pytest.mark.parametrize("form", ["exponential", "step"])
def test_stronger_imbalance_keeps_a_subset(form):
    kept = [set(imbalance(balanced(), r, seed=4, form=form).indices.tolist()) for r in (2, 10, 100)]
    assert kept[2] < kept[1] < kept[0]


def test_class_order_is_seeded_and_random():
    orders = [tuple(imbalance(balanced(), 10, seed=s).order.tolist()) for s in range(300)]
    assert orders[0] == tuple(imbalance(balanced(each=7), 3, seed=0, form="step").order.tolist())
    first = np.bincount([o[0] for o in orders], minlength=10)
    assert first.min() > 10  # every class is the commonest about 30 times
    assert first.max() < 55


def test_kept_samples_are_random():
    seen = torch.zeros(40)
    for seed in range(1000):
        seen[imbalance([0] * 20 + [1] * 20, 2, seed=seed).indices] += 1
    assert bool(((seen - 750).abs() < 90).all())


# --- resampling ---


def test_oversampling_repeats_every_sample_nearly_equally():
    labels = torch.tensor([0] * 10 + [1] * 4 + [3] * 3)
    indices = resample(labels, strategy="oversample", seed=0)
    assert labels[indices].bincount().tolist() == [10, 10, 0, 10]
    times = indices.bincount(minlength=17)
    assert times[:10].tolist() == [1] * 10
    assert sorted(times[10:14].tolist()) == [2, 2, 3, 3]
    assert sorted(times[14:].tolist()) == [3, 3, 4]
    assert bool((indices[1:] >= indices[:-1]).all())


def test_undersampling_keeps_distinct_samples():
    labels = torch.tensor([0] * 10 + [1] * 4 + [3] * 3)
    indices = resample(labels, strategy="undersample", seed=0)
    assert labels[indices].bincount().tolist() == [3, 3, 0, 3]
    assert strictly_ascending(indices)


def test_a_class_of_one_sample_sets_and_meets_the_size():
    labels = torch.tensor([0] * 4 + [1])
    assert resample(labels, strategy="oversample", seed=0).tolist() == [0, 1, 2, 3] + [4] * 4
    assert labels[resample(labels, strategy="undersample", seed=0)].tolist() == [0, 1]


def test_given_counts_are_met():
    labels = torch.tensor([0] * 10 + [1] * 4)
    indices = resample(labels, counts=[0, 9], seed=0)
    assert labels[indices].bincount(minlength=2).tolist() == [0, 9]
    assert len(resample(labels, counts=[5, 0, 0], seed=0)) == 5
    assert len(resample(labels, counts=np.array([5, 1]), seed=0)) == 6


def test_extra_samples_are_random():
    picks = {tuple(resample(balanced(9, 3), counts=[3, 3, 3], seed=s).tolist()) for s in range(9)}
    assert len(picks) == 9


# --- every function: determinism, types, order ---

CALLS = {
    "subset": lambda y, s: subset(y, 0.3, seed=s),
    "subset, plain": lambda y, s: subset(y, 0.3, seed=s, stratified=False),
    "shuffle": lambda y, s: symmetric_noise(y, 0.3, classes=5, seed=s).labels,
    "uniform": lambda y, s: symmetric_noise(y, 0.3, classes=5, seed=s, form="uniform").labels,
    "excluded": lambda y, s: (
        symmetric_noise(y, 0.3, classes=5, seed=s, form="uniform", exclude_true=True).labels
    ),
    "classwise": lambda y, s: classwise_noise(y, 0.5, classes=5, seed=s).labels,
    "exponential": lambda y, s: imbalance(y, 10, seed=s).indices,
    "step": lambda y, s: imbalance(y, 10, seed=s, form="step").indices,
    "oversample": lambda y, s: resample(y, strategy="oversample", seed=s),
    "undersample": lambda y, s: resample(y, strategy="undersample", seed=s),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_equal_seeds_agree_and_others_differ(call):
    labels = ragged()
    torch.manual_seed(0)
    first = call(labels, 7)
    torch.manual_seed(1)  # the global generator has no say
    assert torch.equal(first, call(labels, 7))
    other = call(labels, 8)
    assert len(other) != len(first) or not torch.equal(first, other)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_lists_arrays_and_other_integer_types_agree(call):
    labels = ragged()
    expected = call(labels, 0)
    for same in (labels.tolist(), labels.numpy(), labels.int(), labels.to(torch.uint8)):
        assert torch.equal(call(same, 0), expected)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_generator_can_stand_for_the_seed(call):
    labels = ragged()
    generator = torch.Generator().manual_seed(3)
    assert torch.equal(call(labels, generator), call(labels, 3))


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_the_global_generator_is_left_alone(call):
    before = torch.get_rng_state()
    call(ragged(), 0)
    assert torch.equal(before, torch.get_rng_state())


def test_ranks_count_earlier_samples_of_the_class():
    labels, order = torch.tensor([1, 0, 1, 1, 3]), torch.tensor([3, 4, 1, 0, 2])
    assert curation._ranks(labels, order).tolist() == [1, 0, 2, 0, 0]


# --- bad input ---

NAN, INF = float("nan"), float("inf")
GOOD = torch.tensor([0, 1, 1, 0])
BAD_LABELS = {
    "float": (torch.tensor([0.0, 1.0]), TypeError),
    "nan": (torch.tensor([0.0, NAN]), TypeError),
    "complex": (torch.tensor([0j, 1j]), TypeError),
    "bool": (torch.tensor([True, False]), TypeError),
    "negative": (torch.tensor([0, -1]), ValueError),
    "shape": (torch.tensor([[0, 1]]), ValueError),
    "logits": (torch.zeros(2, 3), ValueError),
    "empty": (torch.tensor([], dtype=torch.long), ValueError),
    "no numbers": ("abc", TypeError),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("case", BAD_LABELS)
def test_bad_labels_are_named(call, case):
    labels, error = BAD_LABELS[case]
    with pytest.raises(error, match=r"^labels"):
        call(labels, 0)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize(("seed", "error"), [(-1, ValueError), (1.5, TypeError), ("a", TypeError)])
def test_bad_seeds_are_named(call, seed, error):
    with pytest.raises(error, match=r"^seed"):
        call(ragged(), seed)


BAD_CALLS = {
    "size 0": (lambda: subset(GOOD, 0, seed=0), ValueError, "size"),
    "size 5 of 4": (lambda: subset(GOOD, 5, seed=0), ValueError, "size"),
    "size 0.0": (lambda: subset(GOOD, 0.0, seed=0), ValueError, r"size must lie in \(0, 1\]"),
    "size 1.1": (lambda: subset(GOOD, 1.1, seed=0), ValueError, "size"),
    "size rounds to 0": (
        lambda: subset(GOOD, 0.01, seed=0),
        ValueError,
        r"size \* n, rounded, must",
    ),
    "size nan": (lambda: subset(GOOD, NAN, seed=0), ValueError, "size"),
    "size text": (lambda: subset(GOOD, "half", seed=0), TypeError, "size"),
    "size bool": (lambda: subset(GOOD, True, seed=0), TypeError, "size"),
    "rate 1.1": (lambda: symmetric_noise(GOOD, 1.1, classes=2, seed=0), ValueError, "rate"),
    "rate 20": (lambda: symmetric_noise(GOOD, 20, classes=2, seed=0), ValueError, "rate .*20 %"),
    "rate -.1": (lambda: symmetric_noise(GOOD, -0.1, classes=2, seed=0), ValueError, "rate"),
    "rate nan": (lambda: symmetric_noise(GOOD, NAN, classes=2, seed=0), ValueError, "rate"),
    "rate text": (lambda: symmetric_noise(GOOD, "a", classes=2, seed=0), TypeError, "rate"),
    "classes 1": (lambda: symmetric_noise([0, 0], 0.1, classes=1, seed=0), ValueError, "classes"),
    "classes 2.0": (lambda: symmetric_noise(GOOD, 0.1, classes=2.0, seed=0), TypeError, "classes"),
    "label 2 of 2": (
        lambda: symmetric_noise([0, 2], 0.1, classes=2, seed=0),
        ValueError,
        r"labels .* got 2",
    ),
    "form": (
        lambda: symmetric_noise(GOOD, 0.1, classes=2, seed=0, form="classwise"),
        ValueError,
        "form",
    ),
    "exclude_true": (
        lambda: symmetric_noise(GOOD, 0.1, classes=2, seed=0, exclude_true=True),
        ValueError,
        "exclude_true=True is impossible",
    ),
    "rates length": (
        lambda: classwise_noise(GOOD, [0.1, 0.2, 0.3], classes=2, seed=0),
        ValueError,
        r"rates .* 2, got 3",
    ),
    "rates above 1": (
        lambda: classwise_noise(GOOD, [0.1, 1.2], classes=2, seed=0),
        ValueError,
        "rates",
    ),
    "rates nan": (
        lambda: classwise_noise(GOOD, [0.1, NAN], classes=2, seed=0),
        ValueError,
        "rates",
    ),
    "rates shape": (
        lambda: classwise_noise(GOOD, [[0.1, 0.2]], classes=2, seed=0),
        ValueError,
        "rates",
    ),
    "rates top": (lambda: classwise_noise(GOOD, 1.5, classes=2, seed=0), ValueError, "rates"),
    "rates text": (lambda: classwise_noise(GOOD, "a", classes=2, seed=0), TypeError, "rates"),
    "classwise label": (
        lambda: classwise_noise([0, 2], 0.1, classes=2, seed=0),
        ValueError,
        "labels",
    ),
    "classwise classes": (
        lambda: classwise_noise([0, 0], 0.1, classes=1, seed=0),
        ValueError,
        "classes",
    ),
    "nowhere to go": (
        lambda: classwise_noise(GOOD, [0.0, 0.5], classes=2, seed=0, exclude_true=True),
        ValueError,
        r"rates must leave another class .* \[1\]",
    ),
    "matrix form": (lambda: transition_matrix(0.1, form="a", classes=2), ValueError, "form"),
    "matrix classes": (lambda: transition_matrix(0.1, form="uniform"), ValueError, "classes"),
    "matrix one class": (
        lambda: transition_matrix(0.1, form="uniform", classes=1),
        ValueError,
        "classes",
    ),
    "matrix rate": (lambda: transition_matrix(2, form="uniform", classes=2), ValueError, "rates"),
    "matrix empty": (lambda: transition_matrix([], form="uniform"), ValueError, "rates"),
    "matrix length": (
        lambda: transition_matrix([0.1, 0.1], form="uniform", classes=3),
        ValueError,
        "rates",
    ),
    "matrix excluded": (
        lambda: transition_matrix(0.1, form="shuffle", classes=2, exclude_true=True),
        ValueError,
        "exclude_true",
    ),
    "prior unused": (
        lambda: transition_matrix(0.1, form="uniform", classes=2, prior=[0.5, 0.5]),
        ValueError,
        "prior",
    ),
    "prior unused, classwise": (
        lambda: transition_matrix([0.1, 0.2], form="classwise", prior=[0.5, 0.5]),
        ValueError,
        "prior",
    ),
    "prior shape": (
        lambda: transition_matrix(0.1, form="shuffle", classes=2, prior=[[0.5, 0.5]]),
        ValueError,
        "prior must have 1 dim",
    ),
    "prior length": (
        lambda: transition_matrix(0.1, form="shuffle", classes=2, prior=[1.0]),
        ValueError,
        "prior",
    ),
    "prior sum": (
        lambda: transition_matrix(0.1, form="shuffle", classes=2, prior=[0.5, 0.6]),
        ValueError,
        "prior",
    ),
    "prior negative": (
        lambda: transition_matrix(0.1, form="shuffle", classes=2, prior=[-0.5, 1.5]),
        ValueError,
        "prior",
    ),
    "prior nan": (
        lambda: transition_matrix(0.1, form="shuffle", classes=2, prior=[NAN, 1.0]),
        ValueError,
        "prior",
    ),
    "rho .5": (lambda: imbalance(GOOD, 0.5, seed=0), ValueError, "rho"),
    "rho inf": (lambda: imbalance(GOOD, INF, seed=0), ValueError, "rho"),
    "rho nan": (lambda: imbalance(GOOD, NAN, seed=0), ValueError, "rho"),
    "rho text": (lambda: imbalance(GOOD, "a", seed=0), TypeError, "rho"),
    "imbalance form": (lambda: imbalance(GOOD, 2, seed=0, form="linear"), ValueError, "form"),
    "one class": (lambda: imbalance([0, 0], 2, seed=0), ValueError, "labels"),
    "imbalance classes": (lambda: imbalance(GOOD, 2, seed=0, classes=1), ValueError, "labels"),
    "no classes": (lambda: imbalance(GOOD, 2, seed=0, classes=0), ValueError, "classes"),
    "neither": (lambda: resample(GOOD, seed=0), ValueError, "give either strategy"),
    "both": (
        lambda: resample(GOOD, seed=0, strategy="oversample", counts=[1, 1]),
        ValueError,
        "give either strategy or counts",
    ),
    "strategy": (lambda: resample(GOOD, seed=0, strategy="smote"), ValueError, "strategy"),
    "counts short": (lambda: resample(GOOD, seed=0, counts=[1]), ValueError, "counts"),
    "counts negative": (lambda: resample(GOOD, seed=0, counts=[1, -1]), ValueError, "counts"),
    "counts float": (lambda: resample(GOOD, seed=0, counts=[1.0, 1.0]), TypeError, "counts"),
    "counts bool": (lambda: resample(GOOD, seed=0, counts=[True, True]), TypeError, "counts"),
    "counts shape": (
        lambda: resample(GOOD, seed=0, counts=[[1, 1]]),
        ValueError,
        "counts must have 1 dim",
    ),
    "counts of none": (
        lambda: resample(GOOD, seed=0, counts=[1, 1, 1]),
        ValueError,
        r"counts .* class \[2\]",
    ),
}


@pytest.mark.parametrize("case", BAD_CALLS)
def test_bad_options_are_named(case):
    call, error, match = BAD_CALLS[case]
    with pytest.raises(error, match=f"^{match}"):
        call()


# --- CUDA ---


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_cuda_agrees_with_cpu(call):
    labels = ragged()
    ours = call(labels.cuda(), 0)
    assert ours.device.type == "cuda"
    assert torch.equal(ours.cpu(), call(labels, 0))
