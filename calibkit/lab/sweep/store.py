"""Finished runs on disk: written whole or not at all, and never believed unseen."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import os
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import torch

VARIABLE = "CALIBKIT_CACHE"
STALE = 3600  # seconds; no write takes this long
MARK = b"calibkit run 3\n"  # begins every file; the number is that of the form
READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS)
_IN_MEMORY: dict[Path, Any] = {}  # what could not be written, for as long as the process lives


def default_folder() -> Path:
    """$CALIBKIT_CACHE, else calibkit/ in the user's cache folder."""
    if os.environ.get(VARIABLE):
        return Path(os.environ[VARIABLE])
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "calibkit"


class Store:
    """A folder of results by key; several processes may use one at the same time.

    A file is a mark, the SHA-256 of its body, then the body: its key with tensors and plain values,
    written by torch and read back with `weights_only=True`. A file that is damaged, of an older
    form or another key's is reported by a warning and counts as absent.

    Several users may share a folder: what is made in it can be written and read by those who can
    write and read the folder itself. One that cannot be written is read, and added to in memory.

    >>> import tempfile
    >>> store = Store(tempfile.mkdtemp())
    >>> store.put("a1", {"loss": 0.5})
    >>> store.get("a1"), store.get("b2")
    ({'loss': 0.5}, None)
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        self.folder = Path(folder) if folder is not None else default_folder()
        self._warned = False
        for part in self.folder.glob("*/.*.part"):  # left by a process that was killed
            with contextlib.suppress(OSError):
                if time.time() - part.stat().st_mtime > STALE:
                    part.unlink()

    def path(self, key: str) -> Path:
        """Where the result of `key` lies."""
        return self.folder / key[:2] / f"{key}.run"

    def get(self, key: str) -> Any:
        """The result, or None when there is none that can be trusted."""
        path = self.path(key)
        if path in _IN_MEMORY:
            return _IN_MEMORY[path]
        try:
            raw = path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            return self._refused(path, f"cannot be read ({error.strerror})")
        start = len(MARK) + 32
        digest, body = raw[len(MARK) : start], raw[start:]
        if not raw.startswith(MARK):
            return self._refused(path, "is damaged, or of another form")
        if hashlib.sha256(body).digest() != digest:
            return self._refused(path, "is damaged")
        try:
            content = torch.load(io.BytesIO(body), weights_only=True)
            if content["key"] == key:
                return content["value"]
        except Exception:  # whatever torch says of bytes that it did not write
            return self._refused(path, "holds no run")
        return self._refused(path, "is another run's")

    @staticmethod
    def _refused(path: Path, why: str) -> None:
        warnings.warn(f"{path} {why}; it is computed again", stacklevel=3)
        with contextlib.suppress(OSError):  # not ours
            path.unlink()

    def put(self, key: str, value: Any) -> None:
        """Write a result; raises OSError, naming the folder and the remedy, when that fails.

        In a folder that may only be read, it is kept in memory, and a warning says so once.
        """
        buffer = io.BytesIO()
        torch.save({"key": key, "value": value}, buffer)
        body, path = buffer.getvalue(), self.path(key)
        if not self._written(path, MARK + hashlib.sha256(body).digest() + body):
            _IN_MEMORY[path] = value

    def check(self) -> None:
        """Raise now the OSError that `put` would raise after the work."""
        trial = self.folder / f".trial-{os.getpid()}"
        if self._written(trial, b""):
            trial.unlink(missing_ok=True)

    def _written(self, path: Path, body: bytes) -> bool:
        """Whether the file was written; False where the folder may only be read."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if not path.parent.exists():  # those can write it who can write the cache itself
                path.parent.mkdir(exist_ok=True)
                os.chmod(path.parent, self.folder.stat().st_mode & 0o7777)
            self._write(path, body)
        except OSError as error:
            if error.errno in READ_ONLY and not self._warned:
                warnings.warn(
                    f"{self.folder} may only be read ({error.strerror}): finished runs are kept in "
                    f"memory; set {VARIABLE} to another folder to keep them",
                    stacklevel=3,
                )
            self._warned = self._warned or error.errno in READ_ONLY
            if error.errno in READ_ONLY:
                return False
            raise OSError(
                error.errno,
                f"cannot keep a finished run in {self.folder} ({error.strerror or error}); make "
                f"room there, set {VARIABLE} to another folder, or pass cache=False",
            ) from error
        return True

    @staticmethod
    def _write(path: Path, body: bytes) -> None:
        """Beside first and then renamed: a reader sees the whole file or none."""
        handle, beside = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(body)
                file.flush()
                os.fsync(file.fileno())
            readers = path.parent.stat().st_mode & 0o444  # a class may share one cache
            os.chmod(beside, readers | 0o600)
            os.replace(beside, path)
        except BaseException:
            Path(beside).unlink(missing_ok=True)
            raise
