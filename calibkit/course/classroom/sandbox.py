"""A student's function behind walls: calls go in, numbers come out, nothing else does.

The walls are bubblewrap's on Linux: namespaces of its own (no network, no other process in sight),
a system that can only be read and of which it sees the programs alone, an empty home, a small
/tmp. Inside, `worker` runs under limits of memory, processes and file sizes. Here, outside, every
call has a limit of computing, every reply a length, and memory is watched.

Defended: the grade (the right results are known on this side alone, and compared here), the
teacher's files, other submissions, the network, the machine's time, memory and disk.
Not defended: a copy of somebody else's code, and holes in the kernel.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil
import torch

import calibkit
from calibkit.course.check import running
from calibkit.course.classroom import worker

START = 60.0  # seconds of computing in which torch is imported
MEMORY = 1_500 << 20  # bytes that an answer may take beyond those of the libraries
TICK = 0.05  # seconds between two looks at its memory
LONGEST = 32 << 20  # bytes of a reply
TMP = 64 << 20  # bytes of /tmp in the sandbox
LIMITS = {"CPU": 60, "FSIZE": 16 << 20, "NOFILE": 128, "CORE": 0, "DATA": 4 << 30}
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/etc/ld.so.cache")
PACKAGE = Path(calibkit.__file__).resolve().parent
WORKER = Path("course", "classroom", "worker.py")
CHECK = Path("course", "check")  # holds the references, and is hidden
# What takes the place of a result that is no number, for the checker to name.
STRANGE = {"complex": 1j, "text": "text", "function": len}
STRANGE |= dict.fromkeys(("generator", "map", "zip", "filter"), map(len, ()))


class Ended(RuntimeError):
    """The process of an answer is gone."""


class Missing(ValueError):
    """The notebook has no such function."""


class Broken(RuntimeError):
    """The sandbox did not come as far as the student's code."""


class Raised(Exception):
    """An error of the student's code; its class has the error's own name."""


def bubblewrap() -> list[str] | None:
    """The command that a command is put behind; None where bubblewrap is not there or not able."""
    if shutil.which("bwrap") is None:
        return None
    walls = _walls()
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        tried = subprocess.run([*walls, sys.executable, "-c", ""], capture_output=True, timeout=60)
        return walls if tried.returncode == 0 else None
    return None


def _walls() -> list[str]:
    """bubblewrap's options: what is seen, read only, and what is hidden."""
    here = [sys.prefix, sys.base_prefix, *(p for p in sys.path if p.endswith("-packages"))]
    seen = [word for path in (*SYSTEM, *here) for word in ("--ro-bind-try", path, path)]
    room = ["--size", str(TMP), "--tmpfs"]
    return [
        *("bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"),
        # first the empty /tmp: the package or Python may lie in the teacher's, and be seen in it
        *("--dev", "/dev", *room, "/dev/shm", *room, "/tmp", "--chdir", "/tmp"),
        *(*seen, "--ro-bind", str(PACKAGE), str(PACKAGE)),
        *("--tmpfs", str(PACKAGE / CHECK), "--remount-ro", str(PACKAGE / CHECK)),
        *("--remount-ro", "/dev", "--remount-ro", "/"),
    ]


class Answer:
    """The function of a notebook, run in a process of its own; call it with the arguments.

    cells: the code of the notebook. function: its name. withheld: functions of calibkit that raise
    in there, such as "calibkit.metrics:ece". walls: what `bubblewrap` returned; none for a class
    that one trusts, whose code may then read and delete files. seed: where its random numbers
    begin.

    Use it in a `with`; entering raises Missing where the notebook does not define the function,
    `Ended`, TimeUp or an error of the student's own (`Raised`) where the definition fails, and
    `Broken` where the sandbox itself does.
    """

    def __init__(
        self,
        cells: Sequence[str],
        function: str,
        *,
        withheld: Sequence[str] = (),
        walls: Sequence[str] = (),
        seed: int = 0,
    ) -> None:
        self.order: dict[str, Any] = {"cells": list(cells), "function": function, "seed": seed}
        self.order["withheld"] = list(withheld)
        self.walls, self.why = list(walls), ""

    def __enter__(self) -> Answer:
        self.room = tempfile.TemporaryDirectory(prefix="calibkit-grade-")
        self.process = subprocess.Popen(
            [*self.walls, sys.executable, "-s", "-P", str(PACKAGE / WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=None if self.walls else self.room.name,
            env=_environment("/tmp" if self.walls else self.room.name),
            start_new_session=True,
        )
        self.replies: queue.Queue[bytes] = queue.Queue(maxsize=2)
        threading.Thread(target=self._listen, daemon=True).start()
        try:
            try:  # up to the line before the student's code
                self._wait(START)
                self._bound_memory()
                self._send({**self.order, "limits": LIMITS})
                self._wait(START)
            except (running.TimeUp, Ended, OSError) as error:
                raise Broken(f"the sandbox does not start: {self.why or error}") from None
            if not self._received(running.SECONDS).get("defined"):
                raise Missing(f"the notebook has no {self.order['function']}")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        self._end("it was ended")
        self.room.cleanup()

    def __call__(self, *arguments):
        """The result as numbers; raises what the answer raises."""
        if self.why:
            raise Ended(self.why)
        message = {"arguments": [worker.encoded(value) for value in arguments]}
        reply = self._received(running.SECONDS, message)
        for place in reply.get("changed", ()):  # make every entry another
            if arguments[place].dtype == torch.bool:
                arguments[place].logical_not_()
            else:
                arguments[place].add_(1)
        return _told(reply.get("value"))

    def _send(self, message: Mapping) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def _received(self, seconds: float, message: Mapping | None = None) -> dict:
        """The next reply, to `message` if there is one; raises what it tells of."""
        try:
            if message is not None:
                self._send(message)
            reply = self._wait(seconds)
        except (BrokenPipeError, OSError):
            self._end("its process ended")
            raise Ended(self.why) from None
        except BaseException:
            self._end("it was stopped")
            raise
        if "error" in reply:
            name, words = str(reply["error"]), str(reply.get("said", ""))
            if name == "NotImplementedError" and not words:
                raise NotImplementedError
            # the student's error as one of this side, with its name and words and nothing else
            raise type(_name(name), (Raised,), {})(words[: worker.LONGEST])
        return reply

    def _wait(self, seconds: float) -> dict:
        limit = running.Limit(self._computed)
        while True:
            with contextlib.suppress(queue.Empty):
                return self._read(self.replies.get(timeout=TICK))
            if due := limit.exceeded(seconds):
                self._end("it had not ended in time")
                raise due
            taken = sum(used.rss for used in self._asked(psutil.Process.memory_info))
            if taken > 2 * MEMORY:
                self._end("it took too much memory")
                raise Ended(self.why)

    def _read(self, line: bytes) -> dict:
        """A reply that may be forged: any JSON at all, or none."""
        with contextlib.suppress(ValueError, RecursionError):
            reply = json.loads(line)
            if isinstance(reply, dict) and line.endswith(b"\n"):
                return reply
        self._end("its process ended, or it wrote what is no result")
        raise Ended(self.why)

    def _listen(self) -> None:
        """Pass replies on; a full queue makes whoever floods it wait."""
        line = b"\n"
        assert self.process.stdout is not None
        with contextlib.suppress(ValueError, OSError):
            while line.endswith(b"\n") and not self.why:
                line, handed = self.process.stdout.readline(LONGEST), False
                while not (handed or self.why):
                    with contextlib.suppress(queue.Full):
                        self.replies.put(line, timeout=TICK)
                        handed = True

    def _asked(self, ask: Callable[[psutil.Process], Any]) -> list[Any]:
        """What its process and all that it started answer, those that are still there."""
        found: list[Any] = []
        with contextlib.suppress(psutil.Error):
            first = psutil.Process(self.process.pid)
            for one in (first, *first.children(recursive=True)):
                with contextlib.suppress(psutil.Error, OSError):
                    found.append(ask(one))
        return found

    def _computed(self) -> float:
        """Seconds of CPU."""
        return sum(used.user + used.system for used in self._asked(psutil.Process.cpu_times))

    def _bound_memory(self) -> None:
        """Of Linux: no more address space than now and MEMORY, for the process can raise no limit.

        What counts is the size with the libraries mapped, which this side alone can see.
        """

        def bound(one: psutil.Process) -> None:
            size = one.memory_info().vms + MEMORY
            one.rlimit(psutil.RLIMIT_AS, (size, size))

        if hasattr(psutil.Process, "rlimit"):
            self._asked(bound)

    def _end(self, why: str) -> None:
        """Kill what runs; in a namespace of its own everything dies with the first process."""
        self.why = self.why or why
        self._asked(psutil.Process.kill)
        self.process.wait()
        for pipe in filter(None, (self.process.stdin, self.process.stdout)):
            with contextlib.suppress(OSError, ValueError):
                pipe.close()


def _environment(home: str) -> dict[str, str]:
    """Little: nothing of the teacher's own variables, which may hold secrets."""
    needed = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    names = ("HOME", "USERPROFILE", "TMPDIR", "TEMP", "MPLCONFIGDIR", "CALIBKIT_CACHE")
    quiet = {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1"}
    quiet["PYTHONHASHSEED"] = "0"  # sets in one order, so that a run can be repeated
    return needed | dict.fromkeys(names, home) | quiet | {"PYTHONPATH": str(PACKAGE.parent)}


def _told(value):
    """A result as a checker takes it: numbers, None, or something of a kind that it names."""
    if isinstance(value, dict):
        kind = str(value.get("kind"))
        return STRANGE.get(kind, type(_name(kind), (), {})())
    return [_told(part) for part in value] if isinstance(value, list) else value


def _name(text: str) -> str:
    return text if text.isidentifier() and len(text) < 60 else "object"
