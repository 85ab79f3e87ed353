"""How tests are spread over workers: cells of one notebook must stay on one kernel."""

import os

import pytest

# Before torch is imported, and inherited by every kernel that a test starts.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["MPLBACKEND"] = "agg"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Group tests by file for `--dist loadgroup`; a test may choose its own group by a marker."""
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(str(item.path)))
