"""Settings of all tests: one thread each, so that two workers and their kernels share two cores."""

import os

# Before torch is imported, and inherited by every kernel that a test starts.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["MPLBACKEND"] = "agg"


def pytest_collection_modifyitems(items):
    """The longest file first: with two workers it is the other one that takes the rest."""
    items.sort(key=lambda item: "notebooks/test_execution.py" not in item.nodeid)
