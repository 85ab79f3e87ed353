"""Results on disk: whole or absent, checked, shared, and clear about a full disk."""

import os
import resource
import subprocess
import sys
import time

import pytest
import torch

from calibkit.store import Store, default_folder


def test_what_goes_in_comes_out(tmp_path):
    store, value = Store(tmp_path), {"logits": torch.arange(3.0), "history": {"epoch": [1, 2]}}
    assert store.get("ab12") is None
    store.put("ab12", value)
    found = Store(tmp_path).get("ab12")
    assert torch.equal(found["logits"], value["logits"])
    assert found["history"] == value["history"]
    assert not list(tmp_path.glob("*/*.part"))


@pytest.mark.parametrize("place", ["first byte", "middle", "cut short", "empty"])
def test_a_damaged_file_is_reported_and_counts_as_absent(tmp_path, place):
    store = Store(tmp_path)
    store.put("ab12", {"logits": torch.arange(100.0)})
    raw = bytearray(store.path("ab12").read_bytes())
    if place == "first byte":
        raw[0] ^= 1
    elif place == "middle":
        raw[len(raw) // 2] ^= 1
    store.path("ab12").write_bytes({"cut short": raw[:-10], "empty": b""}.get(place, raw))
    with pytest.warns(UserWarning, match="damaged"):
        assert store.get("ab12") is None
    assert not store.path("ab12").exists()
    store.put("ab12", 1)
    assert store.get("ab12") == 1


def test_a_file_is_never_half_there(tmp_path, monkeypatch):
    store = Store(tmp_path)
    store.put("ab12", "old")

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        store.put("ab12", "new")
    monkeypatch.undo()
    assert store.get("ab12") == "old"
    assert not list(tmp_path.glob("*/*.part"))


def test_leftovers_of_a_killed_process_go_in_time(tmp_path):
    (tmp_path / "ab").mkdir()
    old, new = tmp_path / "ab" / ".old.part", tmp_path / "ab" / ".new.part"
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 7200,) * 2)
    Store(tmp_path)
    assert not old.exists()
    assert new.exists()  # somebody may be writing it


FILL = """
import resource, signal, sys, torch
from calibkit.store import Store
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
store = Store(sys.argv[1])
store.put("aa", 1)
try:
    store.put("bb", torch.zeros(100_000))
except OSError as error:
    print(error)
print(store.get("aa"), store.get("bb"))
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="needs limits on file sizes")
def test_a_full_disk_gives_a_clear_error_and_keeps_what_was_there(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", FILL, str(tmp_path)], capture_output=True, text=True, check=True
    )
    error, kept = done.stdout.strip().splitlines()
    assert "cannot keep a finished run" in error
    assert "CALIBKIT_CACHE" in error
    assert str(tmp_path) in error
    assert kept == "1 None"
    assert not list(tmp_path.glob("*/.*"))


def test_a_folder_that_cannot_be_made_gives_the_same_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="CALIBKIT_CACHE"):
        Store(tmp_path / "file").put("aa", 1)


def test_the_folder_is_the_users_choice(monkeypatch, tmp_path):
    monkeypatch.setenv("CALIBKIT_CACHE", str(tmp_path / "mine"))
    assert default_folder() == tmp_path / "mine"
    monkeypatch.delenv("CALIBKIT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "calibkit"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert default_folder().name == "calibkit"
