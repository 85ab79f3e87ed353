"""A whole audit with its page: against a budget of seconds, and of memory for a map on disk."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tests.benchmarks.timing import Row

CASES = ((10_000, 100, 2), (100_000, 1_000, 30))  # seconds
GIGABYTES = 2
WORK = """
import sys, time, numpy as np
import calibkit, calibkit.auditing
folder = sys.argv[1]
logits = np.load(f"{folder}/logits.npy", mmap_mode="r")
start = time.process_time()
found = calibkit.audit(logits, np.load(f"{folder}/labels.npy"))
size = len(found.html())
print(time.process_time() - start, size)
"""


def rows() -> Iterator[Row]:
    """The budget over the CPU seconds of a process of its own, and 2 GB over its largest memory."""
    for n, classes, budget in CASES:
        with tempfile.TemporaryDirectory() as folder:
            _store(Path(folder), n, classes)
            command = [sys.executable, "-c", WORK, folder]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
        seconds = float(done.stdout.split()[0])
        work = f"audit and page, n = {n:.0e}, K = {classes}"
        yield Row(work, f"{budget} s", budget / seconds, 1, 1e3 * seconds)
    # of all children so far, the largest: that of the last case
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e9
    yield Row(f"{work}: memory", f"{GIGABYTES} GB", GIGABYTES / most, 1)


def _store(folder: Path, n: int, classes: int) -> None:
    """Over-confident logits in float32, written some at a time."""
    random = np.random.default_rng(0)
    labels = random.integers(classes, size=n)
    held = np.lib.format.open_memmap(folder / "logits.npy", "w+", np.float32, (n, classes))
    for start in range(0, n, 1000):
        block = random.standard_normal((min(1000, n - start), classes), dtype=np.float32) * 2
        block[np.arange(len(block)), labels[start : start + 1000]] += 7
        held[start : start + 1000] = block
    held.flush()
    np.save(folder / "labels.npy", labels)
