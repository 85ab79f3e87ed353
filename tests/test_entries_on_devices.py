"""Every function that a user calls gives the same numbers on each device, and leaves them there."""

import dataclasses

import pytest
import torch

from calibkit import devices
from tests.entries import ENTRIES, Given, numbers, plain

LEFT_OUT = ("training.", "theory.focal_minimiser_multiclass", "theory.penalty_minimiser")
DRAWS = ("augmentation.", "corruptions.", "mixing.", "prioritization.RandomPart")
OF_NUMBERS = {  # which are given no tensor that lies somewhere
    *("corruptions.noise_images", "curation.transition_matrix", "metrics.alarm_costs"),
    *("mixing.draw", "recalibration.restore"),
}


def homes(result):
    """The kinds of device on which the tensors of a result lie."""
    if isinstance(result, torch.Tensor):
        return {result.device.type}
    if dataclasses.is_dataclass(result):
        result = list(vars(result).values())
    return set().union(*map(homes, result)) if isinstance(result, list | tuple) else set()


@pytest.mark.device
@pytest.mark.parametrize("name", [name for name in ENTRIES if not name.startswith(LEFT_OUT)])
def test_an_entry_has_the_numbers_of_the_cpu(name, device):
    expected = plain(name)
    result = ENTRIES[name](Given(lambda value: devices.moved(value, device)))
    found = numbers(result)
    assert len(found) == len(expected) > 0
    if devices.sums_float64(device) and name not in OF_NUMBERS:
        assert homes(result) <= {device.type}
    if name.startswith(DRAWS) and (device.type == "cuda" or device.type in devices.NO_FLOAT64):
        return  # whose generators draw other numbers
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6, equal_nan=True)
