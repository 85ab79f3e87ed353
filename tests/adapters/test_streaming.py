"""The metric of torchmetrics: batches, resets, collections, and two processes."""

import json
import subprocess
import sys

import pytest
import torch

from calibkit import metrics
from calibkit.adapters.streaming import CalibrationMetric
from tests.metrics import reference


def test_batches_give_what_one_call_gives():
    probs, labels = reference.problem(300, dtype=torch.float32)
    metric = CalibrationMetric(4, bins=10)
    for p, y in zip(probs.split(32), labels.split(32), strict=True):
        metric.update(p, y)
    found = metric.compute()
    assert all(value.dtype == torch.float64 and value.ndim == 0 for value in found.values())
    assert found["ece"].item() == pytest.approx(metrics.ece(probs, labels, bins=10), abs=1e-12)
    assert found["nll"].item() == pytest.approx(metrics.nll(probs, labels), abs=1e-12)
    classwise = metrics.classwise_ece(probs, labels, bins=10)
    assert found["classwise_ece"].item() == pytest.approx(classwise, abs=1e-12)
    assert metric.tally.reliability.counts.sum() == 300


def test_reset_forward_and_clone():
    probs, labels = reference.problem(300, dtype=torch.float32)
    metric = CalibrationMetric(4)
    of_batch = metric(probs[:100], labels[:100])  # forward: the batch alone
    assert of_batch["samples"] == 100
    assert metric(probs[100:], labels[100:])["samples"] == 200
    assert metric.clone().compute()["samples"] == 300
    metric.reset()
    metric.update(probs[:5], labels[:5])
    assert metric.compute()["samples"] == 5


def test_weights_and_hits():
    probs, labels = reference.problem(300, dtype=torch.float32)
    weights = torch.arange(300) % 3
    metric, hits = CalibrationMetric(4), CalibrationMetric()
    metric.update(probs, labels, weights)
    hits.update(probs.amax(1), probs.argmax(1) == labels, weights)
    expected = metrics.ece(probs, labels, weights=weights)
    assert metric.compute()["ece"].item() == pytest.approx(expected, abs=1e-12)
    assert hits.compute()["ece"].item() == pytest.approx(expected, abs=1e-12)
    assert "nll" not in hits.compute()


PROCESS = """
import json, sys
import torch
import torch.distributed as dist
from calibkit.adapters.streaming import CalibrationMetric

rank, file, data = int(sys.argv[1]), sys.argv[2], sys.argv[3]
dist.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=2)
probs, labels, weights = torch.load(data, weights_only=True)
metric = CalibrationMetric(4)
mine = slice(0, 70) if rank == 0 else slice(70, 300)
for part in zip(*(t[mine].split(32) for t in (probs, labels, weights))):
    metric.update(*part)
alone = int(metric.tally.top[0].sum())
found = metric.compute()
print(json.dumps({name: value.item() for name, value in found.items()} | {"alone": alone}))
assert int(metric.tally.top[0].sum()) == alone  # the process has its own sums again
dist.destroy_process_group()
"""


@pytest.mark.slow
def test_two_processes_give_what_one_gives(tmp_path):
    probs, labels = reference.problem(300, dtype=torch.float32)
    weights = torch.arange(300) % 3
    torch.save((probs, labels, weights), tmp_path / "data.pt")
    arguments = [str(tmp_path / "meeting"), str(tmp_path / "data.pt")]
    running = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", PROCESS, str(rank), *arguments],
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in (0, 1)
    ]
    told = [json.loads(process.communicate(timeout=120)[0]) for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert [one.pop("alone") for one in told] == [int(weights[:70].sum()), int(weights[70:].sum())]
    assert told[0] == told[1]
    whole = CalibrationMetric(4)
    whole.update(probs, labels, weights)
    expected = {name: value.item() for name, value in whole.compute().items()}
    assert told[0] == pytest.approx(expected, abs=1e-12)


def test_without_torchmetrics_the_error_says_what_to_install():
    code = (
        "import sys; sys.modules['torchmetrics'] = None\n"
        "import calibkit.adapters, calibkit.metrics\n"
        "try:\n    import calibkit.adapters.streaming\n"
        "except ImportError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 'pip install "calibkit[torchmetrics]"' in done.stdout
