"""Settings of all tests: one thread each, so that two workers and their kernels share two cores."""

import os

# Before torch is imported, and inherited by every kernel that a test starts.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["MPLBACKEND"] = "agg"

import pytest
import torch

from calibkit.course import checkout
from tests import pretend_cuda

checkout.with_study()  # in kernels, too

STAND_INS = {  # for CUDA, for an Apple GPU, and for CUDA that is to add in one order
    "pretend": {},
    "apple": {"float64": False},
    "deterministic": {"deterministic": True},
}
SUMMING = "tests.test_entries_on_devices"


def pytest_collection_modifyitems(items):
    """The longest file first: with two workers it is the other one that takes the rest."""
    items.sort(key=lambda item: "notebooks/test_execution.py" not in item.nodeid)


def pytest_generate_tests(metafunc):
    """A test marked `device` runs on the CPU, on a stand-in for CUDA, and on CUDA if there is.

    Where numbers are summed the stand-in also is one for an Apple GPU, and deterministic.
    """
    if metafunc.definition.get_closest_marker("device"):
        kinds = ["cpu", "pretend", *(["cuda"] if torch.cuda.is_available() else [])]
        if metafunc.module.__name__.startswith(SUMMING):
            kinds += ["apple", "deterministic"]
        metafunc.parametrize("device", kinds, indirect=True)


@pytest.fixture
def device(request):
    """Where a test marked `device` computes."""
    if request.param not in STAND_INS:
        yield torch.device(request.param)
        return
    with pretend_cuda.pretend_cuda(**STAND_INS[request.param]) as name:
        yield torch.device(name)
