"""Every function of curation: determinism, kinds of labels, bad input, CUDA."""

import pytest
import torch

from calibkit.curation import (
    classwise_noise,
    imbalance,
    resample,
    subset,
    symmetric_noise,
    transition_matrix,  # noqa: F401
)
from tests import refusals
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
    torch.manual_seed(1)  # the global generator has no say, and is left alone
    state = torch.get_rng_state()
    assert torch.equal(first, call(labels.to(torch.uint8), 7))
    assert torch.equal(first, call(labels.tolist(), torch.Generator().manual_seed(7)))
    assert torch.equal(torch.get_rng_state(), state)
    other = call(labels, 8)
    assert len(other) != len(first) or not torch.equal(first, other)


GOOD = torch.tensor([0, 1, 1, 0])
BAD_LABELS = {
    "float": (torch.tensor([0.0, 1.0]), TypeError),
    "negative": (torch.tensor([0, -1]), ValueError),
    "shape": (torch.tensor([[0, 1]]), ValueError),
    "empty": (torch.tensor([], dtype=torch.long), ValueError),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_bad_labels_and_seeds_are_named(call):
    for labels, error in BAD_LABELS.values():
        with pytest.raises(error, match=r"^labels"):
            call(labels, 0)
    for seed, error in ((-1, ValueError), (1.5, TypeError)):
        with pytest.raises(error, match=r"^seed"):
            call(ragged(), seed)


test_bad_options_are_named = refusals.table("""
    subset(GOOD, 0, seed=0) -> ValueError: size
    subset(GOOD, 0.0, seed=0) -> ValueError: size must lie in (0, 1]
    subset(GOOD, 0.01, seed=0) -> ValueError: size * n, rounded, must
    symmetric_noise(GOOD, 1.1, classes=2, seed=0) -> ValueError: rate
    symmetric_noise([0, 0], 0.1, classes=1, seed=0) -> ValueError: classes
    symmetric_noise(GOOD, 0.1, classes=2, seed=0, kind="classwise") -> ValueError: kind
    symmetric_noise(GOOD, 0.1, classes=2, seed=0, exclude_true=True) -> ValueError: exclude_true=Tru
    classwise_noise(GOOD, [0.1, 0.2, 0.3], classes=2, seed=0) -> ValueError: ...2, got 3
    classwise_noise(GOOD, [0.1, 1.2], classes=2, seed=0) -> ValueError: rates
    classwise_noise(GOOD, [0.0, 0.5], classes=2, seed=0, exclude_true=True) -> ValueError: rates
    transition_matrix(0.1, kind="a", classes=2) -> ValueError: kind
    transition_matrix(0.1, kind="uniform") -> ValueError: classes
    transition_matrix(0.1, kind="shuffle", classes=2, exclude_true=True) -> ValueError: exclude_true
    transition_matrix(0.1, kind="uniform", classes=2, prior=[0.5, 0.5]) -> ValueError: prior
    transition_matrix(0.1, kind="shuffle", classes=2, prior=[0.5, 0.6]) -> ValueError: prior
    imbalance(GOOD, 0.5, seed=0) -> ValueError: rho
    imbalance(GOOD, float("inf"), seed=0) -> ValueError: rho
    imbalance(GOOD, 2, seed=0, kind="linear") -> ValueError: kind
    imbalance([0, 0], 2, seed=0) -> ValueError: labels
    resample(GOOD, seed=0) -> ValueError: give either strategy
    resample(GOOD, seed=0, strategy="smote") -> ValueError: strategy
    resample(GOOD, seed=0, counts=[1]) -> ValueError: counts
    resample(GOOD, seed=0, counts=[1, 1, 1]) -> ValueError: ...class [2]
""")
