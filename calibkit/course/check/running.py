"""Call an answer as a careful host would: for a limited time, with little printed, nothing raised.

Whatever goes wrong in the answer becomes a `Refused` with words for the student.
"""

import contextlib
import ctypes
import inspect
import io
import linecache
import re
import signal
import sys
import threading
import time
import traceback
import types
from collections.abc import Callable, Iterator

import numpy as np
import psutil
import torch
from torch import Tensor

SECONDS = 10.0  # of computing, all cases together; the slowest plain loop needs a tenth of a second
WAITS = 12  # times as long by the clock: for a busy machine, and for an answer that only sleeps
TICK = 0.1  # seconds between two looks at the time
PATIENCE = 2.0  # seconds for a thread to stop in
PRINTED = 2000  # characters of the answer's own output that are passed on

# fmt: off
# What Python and torch say of common slips, and what a student can do about them.
SLIPS = {
    r"mean\(\)|could not infer output dtype": "You took the mean of True/False values or of whole numbers: "
        "turn them into floats first, correct.double().mean().",
    r"only one element|converted to Python scalars|Boolean value of Tensor|truth value of an array"
    r"|only 0-dimensional arrays|must be real number":
        "Your function gets a whole tensor, not one number: work on all entries at once.",
    r"Expected dtype int64 for index|tensors used as indices":
        "An index must be whole numbers: .long() turns a tensor into them.",
    r"same number of dimensions":
        "gather wants an index with as many axes as the tensor: labels[:, None] is a column.",
    r"smaller than num_classes":
        "one_hot got a label that is no class: are these labels, or indices of samples?",
    r"must match the size|could not be broadcast|shapes cannot be multiplied|does not match the shape":
        "Two shapes do not fit. Print the .shape of each; for rows beside a vector, vector[:, None] is a "
        "column.",
    r"tuple index|return_types|'tuple' object|tuple indices|with type .?tuple|not .?tuple":
        "sort, topk, and max or min with a dim return a pair, the values and their places. Say which: "
        ".values or .indices.",
    r"shape of the mask": "A mask takes single entries out of a tensor of its own shape, in one long line: "
        "the rows are gone. To keep them multiply by the mask, or pick whole rows with a mask that has one "
        "entry a row.",
    r"out of bounds|out of range": "An index is too large or too small: look at the shape, and count from 0.",
    r"same dtype|expected scalar type|should have same":
        "Two tensors are of different types (float32, float64, int64): turn both into .double().",
    r"is not defined":
        "A name is not known here: import or define it in a cell above, or inside the function.",
    r"has no attribute": "Is it a tensor, an array or a plain number? They have different methods.",
    r"division by zero|divide by zero": "Something is divided by zero: which count can be 0?",
    r"math domain error|expected a positive input": "A logarithm or a root of a number that is not positive.",
    r"recursion": "Your function calls itself without end.",
    r"can't convert .* to numpy|requires grad": "Use .detach() before you turn a tensor into an array.",
    r"zero-size|empty|non-zero size|Expected reduction dim":
        "Something is empty: what remains where no sample is left?",
}
# fmt: on


class Refused(Exception):
    """The answer cannot be compared; the message says why, in a student's words."""


class NotYet(Exception):
    """The answer is still the stub."""


class TimeUp(BaseException):
    """Raised inside an answer that does not end; not an Exception, so that few catch it."""

    def __str__(self) -> str:
        return f"{SECONDS:g} seconds of computing"


class Overslept(TimeUp):
    """The same for one that computes little, such as one that sleeps."""

    def __str__(self) -> str:
        return f"{WAITS * SECONDS:g} seconds"


class Limit:
    """What may be used up from now on; a busy machine leaves its work on the CPU as it is.

    computed: seconds of CPU that were used so far.
    """

    def __init__(self, computed: Callable[[], float]) -> None:
        self.computed, self.used, self.begun = computed, computed(), time.monotonic()

    def exceeded(self, seconds: float | None = None) -> type[TimeUp] | None:
        """The exception that is due; seconds: of computing, by default SECONDS."""
        seconds = SECONDS if seconds is None else seconds
        if self.computed() - self.used >= seconds:
            return TimeUp
        return Overslept if time.monotonic() - self.begun >= WAITS * seconds else None


def result(answer: Callable, case: str, arguments: dict, slips: dict[str, str]) -> np.ndarray:
    """The answer's result for copies of `arguments`, as a float64 array.

    `slips` are the exercise's own advice by a pattern of the error, and come before SLIPS.

    Raises Refused where the answer raises, changes an argument or returns no numbers, and NotYet
    for nothing returned.
    """
    copies = {name: _copy(value) for name, value in arguments.items()}
    try:
        value = answer(*copies.values())
    except BaseException as error:
        # also SystemExit and the kernel's interrupt: a cell that checks must end in words
        if type(error) is NotImplementedError and not error.args:  # the stub's own `raise`
            raise NotYet from None
        raise Refused(_told(error, answer, case, slips)) from None
    for name, copy in copies.items():
        before = arguments[name]
        if isinstance(copy, Tensor) and not (
            copy.dtype == before.dtype and torch.equal(copy, before)
        ):
            raise Refused(
                f"Not quite: your function changes its argument `{name}`, so that whoever called "
                f"it is left with other data. Work on a copy ({name}.clone()), or without an "
                "operation in place (names that end in _, +=, x[...] = ...)."
            )
    return numbers(value)


def _copy(value):
    return value.clone() if isinstance(value, Tensor) else value


def numbers(value) -> np.ndarray:
    """A number, tensor, array or nested list of them as a float64 array.

    >>> numbers([torch.tensor(0.5), 1]).tolist()
    [0.5, 1.0]
    """
    if value is None or value is Ellipsis:
        raise NotYet
    if isinstance(value, tuple) and hasattr(value, "indices"):  # of sort, max, topk, median ...
        raise Refused(
            f"Not quite: your function returns the pair that `{type(value).__name__}` gives. "
            "Take its `.values` or its `.indices`."
        )
    try:
        array = np.asarray(_plain(value))
    except ValueError:
        raise Refused(
            "Not quite: your function returns rows of different lengths, which make no table."
        ) from None
    if array.dtype.kind == "c":
        raise Refused(
            "Not quite: your function returns complex numbers, as scipy's lambertw does. "
            "Take the real part: .real."
        )
    if array.dtype.kind == "O":
        array = _of_objects(array)
    if array.dtype.kind not in "biuf":
        raise Refused(
            f"Not quite: your function returns {_kind(value)}, but numbers were expected: a "
            "number, a tensor, an array or a list."
        )
    return array.astype(np.float64)


def _plain(value):
    if isinstance(value, Tensor):
        value = value.detach().cpu()
        return (value.float() if value.dtype == torch.bfloat16 else value).numpy()
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return value


def _of_objects(array: np.ndarray) -> np.ndarray:
    """Fractions and the like as floats; anything else as it is."""
    try:
        return np.reshape([float(entry) for entry in array.flat], array.shape)
    except (TypeError, ValueError):
        return array


def _kind(value) -> str:
    """What a student calls such a value."""
    if inspect.isgenerator(value) or isinstance(value, (map, zip, filter)):
        return "a generator (from yield, map or round brackets; list(...) makes a list of it)"
    if callable(value):
        return "a function (are the brackets () of a call missing?)"
    if isinstance(value, str):
        return "text"
    if isinstance(value, (list, tuple)):
        return f"a {type(value).__name__} with something in it that is no number"
    return f"a {type(value).__name__}"


def _told(error: BaseException, answer: Callable, case: str, slips: dict[str, str]) -> str:
    """Type, message and place of an error, and advice where the slip is a common one."""
    place = _place(error, answer)
    if isinstance(error, TimeUp):
        return (
            f"Your function was stopped{place}: it had not ended after {error}. Does "
            f"a loop never end? It was called with: {case}."
        )
    message = str(error).strip().split("\n")[0].rstrip(".")
    said = f"Your function raised {type(error).__name__}{place}" + (message and f": {message}")
    text = f"{type(error).__name__} {message}"
    known = [*slips.items(), *SLIPS.items()]  # both may have the same pattern
    advice = [words for slip, words in known if re.search(slip, text)][:1]
    return " ".join([f"{said}.", *advice, f"It was called with: {case}."])


def _place(error: BaseException, answer: Callable) -> str:
    """The last line of the student's own code that the error passed through."""
    code = getattr(answer, "__code__", None)
    own = [
        (frame.f_code, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if code is not None and frame.f_code.co_filename == code.co_filename
    ]
    if not own:
        return ""
    inner, line = own[-1]
    source = linecache.getline(inner.co_filename, line).strip()
    return f" in line {line}" + (f" (`{source}`)" if source else "")


class _Short(io.TextIOBase):
    """Passes the first characters on to `target` and drops the rest."""

    def __init__(self, target) -> None:
        self.target, self.room = target, PRINTED

    def write(self, text: str) -> int:
        if self.room > 0:
            self.target.write(text[: self.room])
            if len(text) > self.room:
                self.target.write("\n... (your function prints more than fits here)\n")
        self.room -= len(text)
        return len(text)

    def flush(self) -> None:
        self.target.flush()


def limited(work: Callable):
    """What `work()` returns, with a limit on time and on printed text.

    The timer needs the main thread of Linux or macOS; elsewhere a thread does the work.
    """
    main = threading.current_thread() is threading.main_thread()
    with contextlib.redirect_stdout(_Short(sys.stdout)):
        try:
            if not (main and hasattr(signal, "setitimer")):
                return _in_a_thread(work)
            with _timer():
                return work()
        except TimeUp as error:  # raised between two calls of the answer
            raise Refused(f"Your function was stopped after {error}.") from None


@contextlib.contextmanager
def _timer() -> Iterator[None]:
    """Raise TimeUp when the time of this thread is up, and again for those who catch it."""
    limit, raised = Limit(time.thread_time), list[type[TimeUp]]()

    def look(_, frame: types.FrameType | None) -> None:
        due = limit.exceeded()
        # once an answer was stopped, what is told of it is on its way: only answers are stopped
        if due is not None and _may_stop(frame, between=not raised):
            raised.append(due)
            raise due

    before = signal.signal(signal.SIGALRM, look)
    left, interval = signal.setitimer(signal.ITIMER_REAL, TICK, TICK)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, left, interval)
        signal.signal(signal.SIGALRM, before)


def _may_stop(frame: types.FrameType | None, between: bool) -> bool:
    """Whether a frame is one of the answer, or `between` two calls: not where `result` finds its
    words.
    """
    below = None
    while frame is not None and frame.f_code is not result.__code__:
        below, frame = frame, frame.f_back
    own = result.__code__.co_filename
    return between if frame is None else bool(below and below.f_code.co_filename != own)


def _in_a_thread(work: Callable):
    """`work()` in a thread of its own, which is told to stop when the time is up."""
    ended: list = []
    timed = threading.Event()

    def keep() -> None:
        timed.wait()
        try:
            ended.append((work(), None))
        except BaseException as error:  # the time may be up between two calls of the answer
            ended.append((None, error))

    thread = threading.Thread(target=keep, daemon=True)
    thread.start()
    limit = Limit(lambda: _computed(thread))
    timed.set()
    due = None
    while thread.is_alive() and (due := limit.exceeded()) is None:
        thread.join(TICK)
    if due and thread.ident and thread.is_alive():
        ident = ctypes.c_ulong(thread.ident)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ctypes.py_object(due))
        thread.join(PATIENCE)
        if not ended:
            raise Refused(
                f"Your function has not ended after {due()} and could not be stopped. "
                "Does a loop never end? Restart the kernel."
            )
    value, error = ended[0]
    if error is not None:
        raise error
    return value


def _computed(thread: threading.Thread) -> float:
    """Seconds of CPU of a thread; of the process where a system does not say (macOS)."""
    for one in psutil.Process().threads():
        if one.id == thread.native_id:
            return one.user_time + one.system_time
    return time.process_time()
