"""Every function that a user calls gives the same numbers on each device."""

import pytest
import torch

from calibkit import devices
from tests.entries import ENTRIES, Given, numbers

LEFT_OUT = (
    *("augmentation.", "corruptions.", "mixing.", "prioritization.RandomPart", "training."),
    *("theory.focal_minimiser_multiclass", "theory.penalty_minimiser"),
)  # what draws has other numbers on another device; two take their steps by the thousand


@pytest.fixture(scope="module")
def here():
    given, found = Given(), {}
    return lambda name: found.setdefault(name, numbers(ENTRIES[name](given)))


@pytest.mark.device
@pytest.mark.parametrize("name", [name for name in ENTRIES if not name.startswith(LEFT_OUT)])
def test_an_entry_has_the_numbers_of_the_cpu(name, device, here):
    expected = here(name)
    found = numbers(ENTRIES[name](Given(lambda value: devices.moved(value, device))))
    assert len(found) == len(expected) > 0
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6, equal_nan=True)
