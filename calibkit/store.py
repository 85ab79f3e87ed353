"""Finished runs on disk: written whole or not at all, and never believed without their checksum."""

from __future__ import annotations

import contextlib
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


def default_folder() -> Path:
    """$CALIBKIT_CACHE, else calibkit/ in the user's cache folder."""
    if os.environ.get(VARIABLE):
        return Path(os.environ[VARIABLE])
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "calibkit"


class Store:
    """A folder of results by key; several processes may use one at the same time.

    A file is the SHA-256 of its body, then the body: tensors and plain values, written by torch
    and read back with `weights_only=True`. A file that does not match its checksum is reported by
    a warning, removed, and counts as absent.

    >>> import tempfile
    >>> store = Store(tempfile.mkdtemp())
    >>> store.put("a1", {"loss": 0.5})
    >>> store.get("a1"), store.get("b2")
    ({'loss': 0.5}, None)
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        self.folder = Path(folder) if folder is not None else default_folder()
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
        try:
            raw = path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        digest, body = raw[:32], raw[32:]
        if hashlib.sha256(body).digest() != digest:
            warnings.warn(f"{path} is damaged and is computed again", stacklevel=3)
            path.unlink(missing_ok=True)
            return None
        return torch.load(io.BytesIO(body), weights_only=True)

    def put(self, key: str, value: Any) -> None:
        """Write a result; raises OSError, naming the folder and the remedy, when that fails."""
        buffer = io.BytesIO()
        torch.save(value, buffer)
        body, path = buffer.getvalue(), self.path(key)
        self._guarded(path, hashlib.sha256(body).digest() + body)

    def check(self) -> None:
        """Raise now the OSError that `put` would raise after the work."""
        trial = self.folder / "trial"
        self._guarded(trial, b"")
        trial.unlink(missing_ok=True)

    def _guarded(self, path: Path, body: bytes) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._write(path, body)
        except OSError as error:
            raise OSError(
                error.errno,
                f"cannot keep a finished run in {self.folder} ({error.strerror or error}); make "
                f"room there, set {VARIABLE} to another folder, or pass cache=False",
            ) from error

    @staticmethod
    def _write(path: Path, body: bytes) -> None:
        """Beside first and then renamed: a reader sees the whole file or none."""
        handle, beside = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(body)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(beside, 0o644)  # a class may share one cache
            os.replace(beside, path)
        except BaseException:
            Path(beside).unlink(missing_ok=True)
            raise
