"""Every function of curation: determinism, kinds of labels, bad input, CUDA."""

import pytest
import torch

from calibkit.curation import (
    classwise_noise,
    imbalance,
    resample,
    subset,
    symmetric_noise,
    transition_matrix,
)
from calibkit.curation.draws import ranks
from tests.curation.labels import ragged

CALLS = {
    "subset": lambda y, s: subset(y, 0.3, seed=s),
    "subset, plain": lambda y, s: subset(y, 0.3, seed=s, stratified=False),
    "shuffle": lambda y, s: symmetric_noise(y, 0.3, classes=5, seed=s).labels,
    "uniform": lambda y, s: symmetric_noise(y, 0.3, classes=5, seed=s, kind="uniform").labels,
    "excluded": lambda y, s: (
        symmetric_noise(y, 0.3, classes=5, seed=s, kind="uniform", exclude_true=True).labels
    ),
    "classwise": lambda y, s: classwise_noise(y, 0.5, classes=5, seed=s).labels,
    "exponential": lambda y, s: imbalance(y, 10, seed=s).indices,
    "step": lambda y, s: imbalance(y, 10, seed=s, kind="step").indices,
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
    assert ranks(labels, order).tolist() == [1, 0, 2, 0, 0]


# --- bad input ---

NAN, INF = float("nan"), float("inf")
GOOD = torch.tensor([0, 1, 1, 0])
BAD_LABELS = {
    "float": (torch.tensor([0.0, 1.0]), TypeError),
    "nan": (torch.tensor([0.0, NAN]), ValueError),
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
    "kind": (
        lambda: symmetric_noise(GOOD, 0.1, classes=2, seed=0, kind="classwise"),
        ValueError,
        "kind",
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
    "matrix kind": (lambda: transition_matrix(0.1, kind="a", classes=2), ValueError, "kind"),
    "matrix classes": (lambda: transition_matrix(0.1, kind="uniform"), ValueError, "classes"),
    "matrix one class": (
        lambda: transition_matrix(0.1, kind="uniform", classes=1),
        ValueError,
        "classes",
    ),
    "matrix rate": (lambda: transition_matrix(2, kind="uniform", classes=2), ValueError, "rates"),
    "matrix empty": (lambda: transition_matrix([], kind="uniform"), ValueError, "rates"),
    "matrix length": (
        lambda: transition_matrix([0.1, 0.1], kind="uniform", classes=3),
        ValueError,
        "rates",
    ),
    "matrix excluded": (
        lambda: transition_matrix(0.1, kind="shuffle", classes=2, exclude_true=True),
        ValueError,
        "exclude_true",
    ),
    "prior unused": (
        lambda: transition_matrix(0.1, kind="uniform", classes=2, prior=[0.5, 0.5]),
        ValueError,
        "prior",
    ),
    "prior unused, classwise": (
        lambda: transition_matrix([0.1, 0.2], kind="classwise", prior=[0.5, 0.5]),
        ValueError,
        "prior",
    ),
    "prior shape": (
        lambda: transition_matrix(0.1, kind="shuffle", classes=2, prior=[[0.5, 0.5]]),
        ValueError,
        "prior must have 1 dim",
    ),
    "prior length": (
        lambda: transition_matrix(0.1, kind="shuffle", classes=2, prior=[1.0]),
        ValueError,
        "prior",
    ),
    "prior sum": (
        lambda: transition_matrix(0.1, kind="shuffle", classes=2, prior=[0.5, 0.6]),
        ValueError,
        "prior",
    ),
    "prior negative": (
        lambda: transition_matrix(0.1, kind="shuffle", classes=2, prior=[-0.5, 1.5]),
        ValueError,
        "prior",
    ),
    "prior nan": (
        lambda: transition_matrix(0.1, kind="shuffle", classes=2, prior=[NAN, 1.0]),
        ValueError,
        "prior",
    ),
    "rho .5": (lambda: imbalance(GOOD, 0.5, seed=0), ValueError, "rho"),
    "rho inf": (lambda: imbalance(GOOD, INF, seed=0), ValueError, "rho"),
    "rho nan": (lambda: imbalance(GOOD, NAN, seed=0), ValueError, "rho"),
    "rho text": (lambda: imbalance(GOOD, "a", seed=0), TypeError, "rho"),
    "imbalance kind": (lambda: imbalance(GOOD, 2, seed=0, kind="linear"), ValueError, "kind"),
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


# --- devices ---


@pytest.mark.device
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_devices_agree(call, device):
    labels = ragged()
    ours = call(labels.to(device), 0)
    assert ours.device.type == device.type
    assert torch.equal(ours.cpu(), call(labels, 0))
