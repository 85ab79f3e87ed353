"""The same seeds give the same data in every process: nothing follows the order of a set.

Python hashes texts anew in each process, and a set of texts is walked in the order of their hashes.
"""

import os
import subprocess
import sys

import pytest

DRAWN = """
import hashlib, pickle
from calibkit.lab import data
from calibkit.lab.translation import toy

pairs = toy.draw(300, seed=1)
sources = pairs.texts(source=True)
told = [sources, pairs.texts(), list(toy.translations(sources[0]))]
for part in (*data.notes(300, seed=1), *data.noisy_digits(300, seed=1)):
    told += [part.inputs.tolist(), part.labels.tolist()]
print(hashlib.sha256(pickle.dumps(told)).hexdigest())
"""


@pytest.mark.slow
def test_two_processes_draw_the_same_data():
    told = [
        subprocess.run(
            [sys.executable, "-c", DRAWN],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert told[0] == told[1]
