"""What a student's code tries to do to files and programs, told at the moment when it tries.

Python tells its hooks what it is about to do (PEP 578), and a hook cannot be taken off again. What
the system then refuses is refused all the same: this only makes it seen where the student's code
hides the error. Calls past Python, in machine code, are not seen. Of the standard library alone.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
OWN = ("/dev/null", "/dev/shm", "/dev/tty")  # harmless to write to; libraries do
# By event: what it does, in words, and how many of its arguments are paths.
CHANGES = {
    "os.remove": ("delete", 1),
    "os.rmdir": ("delete", 1),
    "shutil.rmtree": ("delete", 1),
    "os.rename": ("rename", 2),
    "os.truncate": ("empty", 1),
    "os.mkdir": ("make the folder", 1),
    "os.symlink": ("link", 2),
    "os.link": ("link", 2),
    "os.chmod": ("change the rights of", 1),
    "os.chown": ("change the owner of", 1),
}
DELETES = ("delete", "rename")
PROGRAMS = ("os.system", "os.exec", "os.posix_spawn", "subprocess.Popen")
IMPORTING = "<frozen importlib._bootstrap>"
LONGEST = 120  # characters of a path


def tell(report: Callable[[str], None], room: str) -> None:
    """From now on call `report` with each attempt in words, such as "delete /home/anna/a.txt".

    Told are programs that are to be started, and changes of files outside `room`, the folder that
    the code may use; within it, only what is to be deleted or written where nothing is. What a
    module does while it is imported is not told. Each attempt is told once.
    """
    room, told = os.path.realpath(room), set()

    def hook(event: str, arguments: tuple) -> None:
        if event != "open" and event not in CHANGES and event not in PROGRAMS:
            return
        # an answer to a student's mistake, whatever its arguments are, is no error of the hook's
        with contextlib.suppress(Exception):
            for words in _words(event, arguments, room):
                if words not in told and not _importing():
                    told.add(words)
                    report(words)

    sys.addaudithook(hook)


def _words(event: str, arguments: tuple, room: str) -> Iterator[str]:
    if event in PROGRAMS:
        yield f"start the program {_short(arguments[0])}"
    elif event == "open":
        path, _, flags = arguments
        if flags & WRITING and not _own(path, room):
            yield f"write {_short(path)}"
    else:
        doing, paths = CHANGES[event]
        for path in arguments[:paths]:
            lost = doing in DELETES and path == arguments[0] and not _there(path)
            relative = isinstance(arguments[-1], int) and arguments[-1] >= 0  # to an open folder
            if (lost and not relative) or not (relative or _own(path, room)):
                yield f"{doing} {_short(path)}"


def _own(path, room: str) -> bool:
    """Whether a file lies in a folder of the room, or is open already, which told of it before."""
    if isinstance(path, int):
        return True
    place = os.path.realpath(os.fsdecode(path))
    below = place.startswith(room + os.sep) and os.path.isdir(os.path.dirname(place))
    return below or place.startswith(OWN)


def _there(path) -> bool:
    return isinstance(path, int) or os.path.lexists(path)


def _importing() -> bool:
    """Whether a module is being imported, which may write what it keeps for the next time."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == IMPORTING:
            return True
        frame = frame.f_back
    return False


def _short(path) -> str:
    words = os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else str(path)
    return words if len(words) <= LONGEST else f"{words[:LONGEST]}..."
