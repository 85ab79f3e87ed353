"""A wrong device, put on purpose, is caught by the tests that are marked `device`.

Each is a line of the package, changed in a copy of it. A line that stands nowhere, or twice, fails
here: then the mistake is to be written anew.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MISTAKES = [  # a file of the package, a line, what stands there instead, and who notices
    (
        "lab/training/loop.py",
        "criterion(devices.moved(losses, self.device, self.bound), self",
        "criterion(losses, self",
        "tests/test_devices.py::test_a_loss_trains_to_the_same_weights_whatever_it_is_bound_to",
    ),
    (
        "lab/training/loop.py",
        "validate.generator(seed, train.device)  # augm",
        "validate.generator(seed)  # augm",
        "tests/test_devices.py::test_blends_and_augmentations_train",
    ),
    (
        "lab/training/stacking.py",
        "torch.tensor(r, device=device))",
        "torch.tensor(r))",
        "tests/test_devices.py::test_a_stack_waits_for_none_of_its_losses",
    ),
    (
        "lab/training/trials.py",
        "train=self.train.to(CPU)",
        "train=self.train",
        "tests/test_devices.py::test_a_machine_without_the_device_reads_what_was_fitted_and_trained_on_it",
    ),
    (
        "lab/translation/decoding.py",
        "prefixes = torch.full((n, 1, 1), START, device=device)",
        "prefixes = torch.full((n, 1, 1), START)",
        "tests/test_devices.py::test_a_translator_and_its_pairs_may_lie_on_two_devices",
    ),
    (
        "pictures/plots.py",
        "x, runs = as_array(x), as_array(runs)",
        "x, runs = np.asarray(x), np.asarray(runs)",
        "tests/test_devices.py::test_figures_take_rows_of_the_device",
    ),
    (
        "mixing.py",
        'if labels.device.type == "cpu":  # elsewhere',
        "if True:  # elsewhere",
        "tests/test_devices.py::test_a_step_waits_for_no_blend",
    ),
    (
        "losses.py",
        'return tensor.device.type == "cpu" and not traced',
        "return not traced",
        "tests/test_devices.py::test_a_step_waits_for_no_loss",
    ),
    (
        "metrics/bins.py",
        "cuts = torch.arange(1, bins, device=values.device)\n    cuts =",
        "cuts = torch.arange(1, bins)\n    cuts =",
        "tests/metrics/test_devices.py",
    ),
    (
        "recalibration/affine.py",
        "moved[:k] + torch.eye(k).to(u)",
        "moved[:k] + torch.eye(k)",
        "tests/recalibration/test_calibrator.py::test_devices_agree",
    ),
    (
        "corruptions/weather.py",
        "(top + torch.arange(height, device=x.device))",
        "(top + torch.arange(height))",
        "tests/corruptions/test_corrupt.py::test_on_each_device",
    ),
    (
        "curation/draws.py",
        "place = torch.arange(len(labels), device=labels.device)",
        "place = torch.arange(len(labels))",
        "tests/curation/test_every_function.py::test_devices_agree",
    ),
]


def first_failure(folder, *tests):
    """What pytest says of the tests on the stand-in, run on the package in a folder."""
    command = [sys.executable, "-m", "pytest", "-xq", "-p", "no:cacheprovider", *tests]
    chosen = ["-k", "pretend or step or stack or machine", "--no-header", "--tb=line"]
    return subprocess.run(
        [*command, *chosen],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    folder = tmp_path_factory.mktemp("copied")
    for part in ("calibkit", "tests"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    (folder / "notebooks").symlink_to(ROOT / "notebooks")  # a checkout has lessons
    return folder


@pytest.mark.slow
def test_nothing_is_caught_where_nothing_is_wrong(copied):
    done = first_failure(copied, *{tests for *_, tests in MISTAKES})
    assert done.returncode == 0, done.stdout[-2000:]


@pytest.mark.slow
@pytest.mark.parametrize(("file", "line", "wrong", "tests"), MISTAKES)
def test_a_wrong_device_is_caught(copied, file, line, wrong, tests):
    path = copied / "calibkit" / file
    right = path.read_text(encoding="utf-8")
    assert right.count(line) == 1, f"{line!r} stands {right.count(line)} times in {file}"
    path.write_text(right.replace(line, wrong), encoding="utf-8")
    try:
        done = first_failure(copied, tests)
    finally:
        path.write_text(right, encoding="utf-8")
    assert done.returncode == 1, done.stdout[-2000:]
    assert "1 failed" in done.stdout
