"""Lessons in processes of their own, so that one that dies or hangs is named and ended."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter as clock

import psutil
from tqdm.auto import tqdm

STOPPED, NOT_STARTED = "stopped", "not started"  # by Ctrl-C
TICK = 0.5  # seconds between two looks at what runs


@dataclass(frozen=True)
class Result:
    """How one lesson went; `error` is None for a good one."""

    name: str
    seconds: float
    error: str | None = None


class Running:
    """A lesson that runs as `python -m MODULE ... REPLY`; family: what it started, and they.

    Its session is its own, so that Ctrl-C reaches this process alone; that its standard input ends
    tells it that this process is gone. What it and its kernel print goes into the log.
    """

    def __init__(self, name: str, command: Sequence[str], log: Path) -> None:
        self.name, self.log, self.reply = name, log, log.with_suffix(".json")
        self.start, self.family = clock(), set[psutil.Process]()
        log.parent.mkdir(parents=True, exist_ok=True)
        self.reply.unlink(missing_ok=True)
        command = [sys.executable, "-m", *command, str(self.reply)]
        with open(log, "wb") as file:
            self.process = psutil.Popen(
                command, stdin=subprocess.PIPE, stdout=file, stderr=file, start_new_session=True
            )

    def result(self, limit: float) -> Result | None:
        """What came of it; None while it may still run."""
        self.family |= _family(self.process)
        if self.process.poll() is None:
            words = f"it was ended after {limit:g} s; allow more with --limit SECONDS"
            late = clock() - self.start > limit
            return self.failed(f"{words} if it does not hang") if late else None
        if self.reply.exists():
            return Result(**json.loads(self.reply.read_text(encoding="utf-8")))
        return self.failed(
            f"its process died (exit code {self.process.returncode}; -9 is a kill, often for want "
            f"of memory); what it printed is in {self.log}"
        )

    def failed(self, error: str) -> Result:
        return Result(self.name, clock() - self.start, error)

    def end(self) -> None:
        """End the lesson, its kernel and the workers of its kernel."""
        end({self.process} | self.family | _family(self.process))
        self.process.wait()


def spread(
    tasks: Mapping[str, Sequence[str]], *, jobs: int, limit: float, logs: Path
) -> list[Result]:
    """Run the module and its arguments of each name, `jobs` at a time, a process each.

    A module writes its Result as JSON into the file that it gets as its last argument. A lesson
    whose process dies, or that lasts longer than `limit` seconds, is a Result with that error.
    Ctrl-C ends all: what ran is STOPPED, what did not is NOT_STARTED. No process is left behind,
    not even where this one is killed. What a lesson and its kernel print goes into logs/NAME.log.
    """
    waiting, results, running = list(tasks), list[Result](), list[Running]()
    with tqdm(total=len(tasks), unit="notebook", disable=None) as bar:  # none into a log
        try:
            while waiting or running:
                while waiting and len(running) < jobs:
                    running.append(
                        Running(waiting[0], tasks[waiting[0]], logs / f"{waiting[0]}.log")
                    )
                    del waiting[0]
                bar.set_postfix_str(", ".join(one.name for one in running))
                psutil.wait_procs([one.process for one in running], timeout=TICK)
                for one in [*running]:
                    if result := one.result(limit):
                        results.append(result)
                        running.remove(one)
                        one.end()
                        bar.update()
        except KeyboardInterrupt:
            results += [one.failed(STOPPED) for one in running]
            results += [Result(name, 0.0, NOT_STARTED) for name in waiting]
        finally:
            for one in running:
                one.end()
    return results


def end_with_parent() -> None:
    """In a lesson's process: wait until its standard input ends, then end with all it started."""
    while os.read(0, 1):
        pass
    end(_family(psutil.Process()))
    os._exit(1)


def end(processes: Iterable[psutil.Process]) -> None:
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()


def _family(process: psutil.Process) -> set[psutil.Process]:
    """What a process started, and they."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return {*process.children(recursive=True)}
    return set()
