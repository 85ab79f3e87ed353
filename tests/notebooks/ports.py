"""No two workers draw one port for their kernels: a plugin of pytest, `-p tests.notebooks.ports`.

jupyter_client finds a free port and lets it go until the kernel takes it; meanwhile the kernel of
another worker may be given the same. Here ports are dealt out among the workers, in pairs, since
Linux gives odd ones first.
"""

import os

from jupyter_client.connect import LocalPortCache

WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
find = LocalPortCache.find_available_port


def own(cache, ip):
    """A free port of this worker."""
    while (port := find(cache, ip)) // 2 % WORKERS != WORKER:
        pass
    return port


LocalPortCache.find_available_port = own
