"""Settings of all tests: one thread each, so that two workers and their kernels share two cores."""

import os

# Before torch is imported, and inherited by every kernel that a test starts.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["MPLBACKEND"] = "agg"

import pytest
import torch

from tests import pretend_cuda


def pytest_collection_modifyitems(items):
    """The longest file first: with two workers it is the other one that takes the rest."""
    items.sort(key=lambda item: "notebooks/test_execution.py" not in item.nodeid)


def pytest_generate_tests(metafunc):
    """A test marked `device` runs on the CPU, on a stand-in for CUDA, and on CUDA if there is."""
    if metafunc.definition.get_closest_marker("device"):
        kinds = ["cpu", "pretend", *(["cuda"] if torch.cuda.is_available() else [])]
        metafunc.parametrize("device", kinds, indirect=True)


@pytest.fixture
def device(request):
    """Where a test marked `device` computes."""
    if request.param != "pretend":
        yield torch.device(request.param)
        return
    with pretend_cuda.pretend_cuda() as name:
        yield torch.device(name)
