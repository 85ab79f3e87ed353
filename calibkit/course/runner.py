"""Lessons in processes of their own, so that one that dies or hangs is named and ended."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from multiprocessing import connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from time import perf_counter as clock
from typing import Any

import psutil
from tqdm.auto import tqdm

STOPPED, NOT_STARTED = "stopped", "not started"  # by Ctrl-C
TICK = 0.5  # seconds between two looks at what runs
PATIENCE = 5  # seconds for a process to end by itself
# A server that has imported the course forks a worker at once, where a fresh process would import
# it for seconds; elsewhere than on Linux a fork of a process with torch in it is not safe.
CONTEXT: Any = multiprocessing.get_context("forkserver" if sys.platform == "linux" else "spawn")


@dataclass(frozen=True)
class Result:
    """How one lesson went; `error` is None for a good one."""

    name: str
    seconds: float
    error: str | None = None


@dataclass
class Running:
    """A lesson that runs; `family` are the processes that it started, and theirs."""

    name: str
    process: BaseProcess
    reply: connection.Connection
    log: Path
    start: float = field(default_factory=lambda: clock())
    family: set[psutil.Process] = field(default_factory=set)

    def failed(self, error: str) -> Result:
        return Result(self.name, clock() - self.start, error)


def spread(
    function: Callable[..., Result],
    tasks: Mapping[str, tuple],
    *,
    jobs: int,
    limit: float,
    logs: Path,
) -> list[Result]:
    """`function(*arguments)` for each name and its arguments, `jobs` at a time, a process each.

    A lesson whose process dies, or that lasts longer than `limit` seconds, is a Result with that
    error. Ctrl-C ends all: what ran is STOPPED, what did not is NOT_STARTED. No process is left
    behind, not even where this one is killed. What a lesson and its kernel print goes into
    logs/NAME.log.
    """
    for log in (logs / f"{name}.log" for name in tasks):  # before the work: else a process dies
        log.parent.mkdir(parents=True, exist_ok=True)
        log.touch()
    waiting, results = list(tasks), []
    running: list[Running] = []
    CONTEXT.set_forkserver_preload(["calibkit.course.execution", "papermill", "jupytext"])
    with _ctrl_c() as stop, tqdm(total=len(tasks), unit="notebook") as bar:
        try:
            while (waiting or running) and not stop.is_set():
                while waiting and len(running) < jobs:
                    name = waiting.pop(0)
                    running.append(_start(function, name, tasks[name], logs / f"{name}.log"))
                    _show(bar, running)
                for one, result in _finished(running, limit):
                    results.append(result)
                    running.remove(one)
                    _end(one)
                    bar.update()
                    _show(bar, running)
        finally:
            for one in running:
                _end(one)
    results += [one.failed(STOPPED) for one in running]
    return results + [Result(name, 0.0, NOT_STARTED) for name in waiting]


@contextlib.contextmanager
def _ctrl_c() -> Iterator[threading.Event]:
    """An event that Ctrl-C sets, where it would have raised KeyboardInterrupt anywhere."""
    stop = threading.Event()
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.SIG_IGN:  # as a shell asks for what it starts in the background
        signal.signal(signal.SIGINT, lambda *_: stop.set())
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def _show(bar: tqdm, running: Iterable[Running]) -> None:
    bar.set_postfix_str(", ".join(one.name for one in running))


def _start(function: Callable[..., Result], name: str, arguments: tuple, log: Path) -> Running:
    receiver, sender = CONTEXT.Pipe(duplex=False)
    task = (sender, log, dict(os.environ), function, arguments)
    process = CONTEXT.Process(target=_work, args=task, daemon=True)
    # The terminal sends Ctrl-C to every process. The workers take over that it is to be ignored.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    process.start()
    signal.signal(signal.SIGINT, before)
    sender.close()
    return Running(name, process, receiver, log)


def _finished(running: list[Running], limit: float) -> list[tuple[Running, Result]]:
    """Wait a moment, then say what has ended or has to."""
    connection.wait([one.reply for one in running], timeout=TICK)
    for one in running:
        with contextlib.suppress(psutil.NoSuchProcess):
            one.family |= set(psutil.Process(one.process.pid).children(recursive=True))
    return [(one, result) for one in running if (result := _result(one, limit))]


def _result(one: Running, limit: float) -> Result | None:
    """What came of a lesson; None while it may still run."""
    if one.reply.poll():
        try:
            return one.reply.recv()
        except EOFError:  # nobody is left to write
            one.process.join(PATIENCE)
            return one.failed(
                f"its process died (exit code {one.process.exitcode}; -9 is a kill, often for "
                f"want of memory); what it printed is in {one.log}"
            )
    if clock() - one.start > limit:
        return one.failed(
            f"it was ended after {limit:g} s; allow more with --limit SECONDS if it does not hang"
        )
    return None


def _end(one: Running) -> None:
    """End a lesson, its kernel and the workers of its kernel."""
    with contextlib.suppress(psutil.NoSuchProcess):
        one.family |= set(psutil.Process(one.process.pid).children(recursive=True))
    one.process.kill()
    _kill(one.family)
    one.process.join()
    one.reply.close()


def _kill(processes: Iterable[psutil.Process]) -> None:
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()


def _work(sender, log: Path, environment: dict, function: Callable[..., Result], arguments) -> None:
    """In the worker: run the lesson, and end with it as soon as the parent is gone."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.environ.clear()
    os.environ.update(environment)
    with open(log, "wb") as file:  # the kernels' warnings would tear the progress bar to pieces
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    sender.send(function(*arguments))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None  # it is a worker
    connection.wait([parent.sentinel])
    _kill(psutil.Process().children(recursive=True))
    os._exit(1)
