"""Kernels that are forked from one process, which has loaded what every lesson imports.

Each lesson has a process of its own, as in any kernel, and starts 4 s of processor time sooner.
`python preloaded.py ADDRESS` is the one that forks; `python preloaded.py ADDRESS FILE` asks it for
a kernel, and lasts as long.
"""

import contextlib
import importlib
import json
import os
import socket
import socketserver
import sys
import threading

METHODS = ("curation", "metrics", "recalibration", "lab.models", "lab.sweep", "lab.training")
COURSE = ("course.check", "course.experiments", "course.explorers", "pictures.plots")
LOADED = (
    *("ipykernel.kernelapp", "matplotlib.pyplot", "pandas", "seaborn", "sklearn.linear_model"),
    *(f"calibkit.{name}" for name in (*METHODS, *COURSE)),
)


class Kernel(socketserver.StreamRequestHandler):
    """A forked process: a kernel until it is shut down, or until who asked for it ends."""

    def handle(self):
        from ipykernel.kernelapp import IPKernelApp

        asked = json.loads(self.rfile.readline())
        os.chdir(asked["folder"])
        os.environ.clear()
        os.environ.update(asked["environment"])
        os.environ.pop("JPY_PARENT_PID", None)
        threading.Thread(target=self._end_with_client, daemon=True).start()
        IPKernelApp.launch_instance(argv=["-f", asked["file"]])

    def _end_with_client(self):
        self.rfile.read()
        os._exit(1)


class Server(socketserver.ForkingMixIn, socketserver.UnixStreamServer):
    """Forks a process for each connection."""


def serve(address):
    """Load what lessons import, say so on one line, and fork kernels."""
    for name in LOADED:
        importlib.import_module(name)
    with Server(address, Kernel) as server:
        print("loaded", flush=True)
        server.serve_forever()


def ask(address, file):
    """Ask for a kernel with this connection file, and wait for its end."""
    request = {"folder": os.getcwd(), "environment": dict(os.environ), "file": file}
    # who interrupts a kernel ends this one
    with socket.socket(socket.AF_UNIX) as connection, contextlib.suppress(KeyboardInterrupt):
        connection.connect(address)
        connection.sendall(json.dumps(request).encode() + b"\n")
        connection.recv(1)


if __name__ == "__main__":
    (serve if len(sys.argv) == 2 else ask)(*sys.argv[1:])
