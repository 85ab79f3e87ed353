"""What was fitted on is refused, and nothing else is."""

import pickle

import pytest
import torch

from calibkit.recalibration import LeakageError, TemperatureScaler
from tests.recalibration.samples import ALL, quick, scored

LEAK = (
    "^logits hold the very data that the calibrator was fitted on, so any score would flatter it; "
    r"pass test logits, or allow_fitted=True if that is what you ask for$"
)


@pytest.mark.parametrize("leak", [
    lambda z: z,
    lambda z: z.clone(),
    lambda z: z.double(),
    lambda z: z.numpy(),
    lambda z: z.tolist(),
    lambda z: z.t().contiguous().t(),
    lambda z: torch.cat([z, z])[:200],
    lambda z: torch.where(z == 0, -z, z),
])  # fmt: skip
def test_copies_of_the_fitted_logits_are_refused(leak):
    logits, labels = scored(200, 3, dtype=torch.float32)
    logits[0, 0] = 0.0
    scaler = TemperatureScaler().fit(logits, labels)
    with pytest.raises(LeakageError):
        scaler.transform(leak(logits))


def test_parts_and_other_rows_of_one_tensor_are_taken():
    logits, labels = scored(200, 3)
    for cal, test in [(slice(0, 100), slice(100, 200)), (slice(0, 200, 2), slice(1, 200, 2))]:
        scaler = TemperatureScaler().fit(logits[cal], labels[cal])
        for rows in (logits[test], logits, logits[cal][1:], logits[cal].flip(0)):
            assert torch.equal(scaler.transform(rows), rows / scaler.temperature)
        with pytest.raises(LeakageError):
            scaler.transform(logits[cal])


@pytest.mark.parametrize("calibrator", ALL)
def test_the_fitted_logits_are_taken_where_one_asks_for_it(calibrator):
    logits, labels = scored(200, 3)
    fitted = quick(calibrator).fit(logits, labels)
    everything = torch.cat([logits, logits[:1]])
    judged = fitted.transform(logits, allow_fitted=True)
    assert torch.equal(judged, fitted.transform(everything)[:-1])
    assert torch.equal(fitted.probs(logits, allow_fitted=True), judged.softmax(1))
    for method in (fitted.probs, fitted.transform):
        with pytest.raises(LeakageError, match=LEAK):
            method(logits)


def test_a_fitted_calibrator_holds_no_logits_and_still_knows_them_elsewhere():
    logits, labels = scored(5000, 3)
    scaler = TemperatureScaler().fit(logits, labels)
    stored = pickle.dumps(scaler)
    assert len(stored) < 2000
    again = pickle.loads(stored)
    assert again.temperature == scaler.temperature
    for copy in (logits, logits.clone(), logits.numpy()):
        with pytest.raises(LeakageError):
            again.transform(copy)
    assert torch.equal(again.transform(logits[:100]), logits[:100] / scaler.temperature)
