"""Threads of the CPU for work that is too small for several."""

import contextlib
from collections.abc import Iterator

import torch

SEVERAL_THREADS = 1_000_000  # numbers below which one thread is as fast, or much faster


@contextlib.contextmanager
def one_thread(small: bool = True) -> Iterator[None]:
    """One thread of torch within, where the work is small; afterwards as many as before.

    On small tensors the threads of a CPU wait for each other longer than they compute.
    """
    before = torch.get_num_threads()
    if small:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
