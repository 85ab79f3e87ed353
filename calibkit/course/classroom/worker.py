"""The process that runs one student's function and tells its results; started by `sandbox`.

It speaks JSON, one line a message, on the standard input and output that it was born with, which
the student's code does not get: that reads nothing and prints into the void. A line that this
process forges is a wrong result at worst, for the right ones are known to the grader alone.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import json
import os
import random
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any

LONGEST = 300  # characters of an error's message
LARGEST = 1_000_000  # numbers in a result


def main() -> None:
    """Serve one answer: ready, definition, calls, until the input ends."""
    requests, replies = _own_pipes()

    def send(message: dict) -> None:
        replies.write(json.dumps(message) + "\n")
        replies.flush()

    import numpy as np
    import torch

    from calibkit.course.classroom import confine

    torch.set_num_threads(1)
    send({"ready": True})
    order = json.loads(requests.readline())
    # From here on this process can do little; what fails up to here is no fault of a student.
    without_checkers()
    for name in order["withheld"]:
        withhold(name)
    confine.limit(order["limits"])
    confine.forbid_processes()
    # so that an answer that draws random numbers can be run again as it was
    for begin in (random.seed, torch.manual_seed, lambda seed: np.random.seed(seed % 2**32)):
        begin(order["seed"])
    send({"confined": True})
    try:
        answer = _defined(order)
        send({"defined": answer is not None})
    except BaseException as error:
        send(_failure(error))
        return
    for line in requests:
        try:
            send(_called(answer, json.loads(line)["arguments"]))
        except BaseException as error:
            send(_failure(error))


def _own_pipes():
    """Input and output under other numbers; the usual three lead nowhere from now on."""
    requests, replies = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stdout
    return requests, replies


def _defined(order: dict) -> Any:
    """The student's function; None if the notebook has none."""
    from calibkit.course.classroom import slicing

    code = slicing.needed(order["cells"], order["function"])
    if code is None:
        return None
    space: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(code, "<answer>", "exec"), space)
    return space[order["function"]]


def without_checkers() -> None:
    """`check` as a module that says nothing: it holds the references."""
    import calibkit.course

    def checker(name: str) -> Callable:
        if name.startswith("__"):  # `inspect` looks for __file__, and takes what it gets
            raise AttributeError(name)
        return lambda *_, **__: None

    silent: Any = types.ModuleType("calibkit.course.check")
    silent.__getattr__ = checker
    sys.modules["calibkit.course.check"] = calibkit.course.check = silent


def withhold(name: str) -> None:
    """Make a function or class of the package raise, under whatever name it is called.

    name: such as "calibkit.metrics:ece".
    """
    module, _, attribute = name.partition(":")
    found = getattr(importlib.import_module(module), attribute)
    words = (
        f"{module.removeprefix('calibkit.')}.{attribute} is the library's own function for this "
        "exercise; it asks for own code"
    )
    is_class = isinstance(found, type)
    if not is_class:
        # the same function object stands in many modules under many names; its code is one, and of
        # an entry (`calibkit.torch_defaults`) it is the code that is entered
        found = inspect.unwrap(found)
    # code can be exchanged for code of as many free variables
    free = () if is_class else found.__code__.co_freevars
    space: dict[str, Any] = {}
    exec(
        f"def made({', '.join(free)}):\n"
        "    def refuse(*_, **__):\n"
        f"        [{', '.join(free)}]\n"
        f"        raise PermissionError({words!r})\n"
        "    return refuse\n",
        space,
    )
    refuse = space["made"](*free)
    if is_class:
        found.__init__ = refuse
    else:
        found.__code__, found.__defaults__, found.__kwdefaults__ = refuse.__code__, None, None


def _called(answer: Callable, arguments: Iterable) -> dict:
    import torch

    given, kept = ([decoded(value) for value in arguments] for _ in range(2))
    value = plain(answer(*given))
    changed = [
        place
        for place, (one, other) in enumerate(zip(given, kept, strict=True))
        if isinstance(other, torch.Tensor)
        and not (one.dtype == other.dtype and torch.equal(one, other))
    ]
    return {"value": value, "changed": changed}


def encoded(value):
    """An argument as JSON can carry it: a tensor by type, shape and entries."""
    import torch

    if not isinstance(value, torch.Tensor):
        return value
    kind = str(value.dtype).removeprefix("torch.")
    return {"type": kind, "shape": list(value.shape), "entries": value.flatten().tolist()}


def decoded(value):
    """What `encoded` was given.

    >>> import torch
    >>> decoded(encoded(torch.eye(2))).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    import torch

    if not isinstance(value, dict):
        return value
    kind = getattr(torch, value["type"])
    return torch.tensor(value["entries"], dtype=kind).reshape(value["shape"])


def plain(value):
    """A result as numbers in lists, None, or the kind of thing that it is instead.

    >>> plain((True, 0.5)), plain("a"), plain(1j)
    ([True, 0.5], {'kind': 'text'}, {'kind': 'complex'})
    """
    import numpy as np
    import torch

    if value is None or value is Ellipsis:
        return None
    if isinstance(value, (list, tuple)) and len(value) <= LARGEST:
        return [plain(part) for part in value]
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu()
        value = (value.float() if value.dtype == torch.bfloat16 else value).numpy()
    if isinstance(value, str) or callable(value):
        return {"kind": "text" if isinstance(value, str) else "function"}
    array = np.asarray(value)
    if array.size > LARGEST:
        raise ValueError(f"a result of {array.size} numbers")
    if array.dtype.kind == "c":
        return {"kind": "complex"}
    if array.dtype.kind == "O":
        with contextlib.suppress(TypeError, ValueError):
            array = np.reshape([float(entry) for entry in array.flat], array.shape)
    if array.dtype.kind not in "biuf":
        return {"kind": type(value).__name__[:40]}
    return (array.astype(float) if array.dtype.kind == "f" else array).tolist()


def _failure(error: BaseException) -> dict:
    """The type and message of an error; its own words may fail, too."""
    try:
        said = " ".join(str(error).split())[:LONGEST]
    except BaseException:
        said = ""
    return {"error": type(error).__name__[:LONGEST], "said": said}


if __name__ == "__main__":
    main()
