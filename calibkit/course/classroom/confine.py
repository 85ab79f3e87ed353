"""What a process may do once it runs a student's code: limits, and system calls that are refused.

Of the standard library alone. It is the second wall: the first is the sandbox around the process.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
import sys
from collections.abc import Mapping

# System calls by architecture: its audit number, those that are refused, those that clone.
REFUSED = {
    "x86_64": (
        0xC000003E,
        {
            **{"fork": 57, "vfork": 58, "execve": 59, "execveat": 322, "socket": 41},
            **{"kill": 62, "ptrace": 101, "process_vm_writev": 311, "io_uring_setup": 425},
        },
        {"clone": 56, "clone3": 435},
    ),
    "aarch64": (
        0xC00000B7,
        {
            **{"execve": 221, "execveat": 281, "socket": 198, "kill": 129, "ptrace": 117},
            **{"process_vm_writev": 271, "io_uring_setup": 425},
        },
        {"clone": 220, "clone3": 435},
    ),
}
OTHER_ABI = 0x40000000  # numbers of x32, a second door to the same calls
CLONE_THREAD = 0x00010000
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # of the filter's machine
ALLOW, KILL, FAIL = 0x7FFF0000, 0x80000000, 0x00050000
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16  # offsets of what the filter sees
NO_NEW_PRIVILEGES, SECCOMP, FILTER = 38, 22, 2


def limit(limits: Mapping[str, int]) -> None:
    """Lower the limits of this process for good; names as in `resource`, without RLIMIT_.

    Does nothing where the system has no such limits (Windows).
    """
    if sys.platform == "win32":
        return
    import resource

    for name, value in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}", None)
        if kind is not None:
            _, highest = resource.getrlimit(kind)
            value = value if highest == resource.RLIM_INFINITY else min(value, highest)
            resource.setrlimit(kind, (value, value))


def forbid_processes() -> bool:
    """Refuse new processes and programs, network and signals from now on; threads may start.

    Whether it was done: only Linux on two architectures can. RLIMIT_NPROC would not do, for it
    does not hold for root.
    """
    if sys.platform != "linux" or platform.machine() not in REFUSED:
        return False
    code = _filter(platform.machine())
    kept = ctypes.create_string_buffer(code, len(code))
    program = ctypes.create_string_buffer(struct.pack("HP", len(code) // 8, ctypes.addressof(kept)))
    call = ctypes.CDLL(None, use_errno=True).prctl
    call.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
    asked = call(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    return asked == 0 == call(SECCOMP, FILTER, ctypes.addressof(program), 0, 0)


def _filter(machine: str) -> bytes:
    """The program of the filter: instructions (code, jump if true, jump if false, value)."""
    architecture, refused, cloning = REFUSED[machine]
    denied = [(RETURN, 0, 0, FAIL | errno.EPERM)]
    steps = [(LOAD, 0, 0, ARCHITECTURE), (EQUAL, 1, 0, architecture), (RETURN, 0, 0, KILL)]
    steps += [(LOAD, 0, 0, NUMBER), (AT_LEAST, 0, 1, OTHER_ABI), *denied]
    for number in refused.values():
        steps += [(EQUAL, 0, 1, number), *denied]
    # the C library falls back to clone, whose flags can be seen
    steps += [(EQUAL, 0, 1, cloning["clone3"]), (RETURN, 0, 0, FAIL | errno.ENOSYS)]
    steps += [(EQUAL, 0, 3, cloning["clone"]), (LOAD, 0, 0, FIRST_ARGUMENT)]
    steps += [(ANY_BIT, 1, 0, CLONE_THREAD), *denied, (RETURN, 0, 0, ALLOW)]
    return b"".join(struct.pack("HBBI", *step) for step in steps)
