"""Settings of all tests: one thread each, so that two workers and their kernels share two cores."""

import os

# Before torch is imported, and inherited by every kernel that a test starts.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["MPLBACKEND"] = "agg"
