"""Results on disk: whole or absent, checked, shared, and clear about a full disk."""

import errno
import hashlib
import io
import resource
from pathlib import Path

import pytest
import torch

from calibkit.lab.sweep import store as module
from calibkit.lab.sweep.store import MARK, Store


def test_what_goes_in_comes_out(tmp_path):
    store, value = Store(tmp_path), {"logits": torch.arange(3.0), "history": {"epoch": [1, 2]}}
    assert store.get("ab12") is None
    store.put("ab12", value)
    found = Store(tmp_path).get("ab12")
    assert torch.equal(found["logits"], value["logits"])
    assert found["history"] == value["history"]
    assert not list(tmp_path.glob("*/*.part"))


@pytest.mark.parametrize("place", ["middle", "cut short"])
def test_a_damaged_file_is_reported_and_counts_as_absent(tmp_path, place):
    store = Store(tmp_path)
    store.put("ab12", {"logits": torch.arange(100.0)})
    raw = bytearray(store.path("ab12").read_bytes())
    raw[len(raw) // 2] ^= place == "middle"
    store.path("ab12").write_bytes(raw[:-10] if place == "cut short" else raw)
    with pytest.warns(UserWarning, match="damaged"):
        assert store.get("ab12") is None
    assert not store.path("ab12").exists()
    store.put("ab12", 1)
    assert store.get("ab12") == 1


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="needs limits on file sizes")
def test_a_full_disk_gives_a_clear_error_and_keeps_what_was_there(tmp_path):
    store, (soft, hard) = Store(tmp_path), resource.getrlimit(resource.RLIMIT_FSIZE)
    store.put("aa", 1)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    try:
        with pytest.raises(OSError, match=r"cannot keep a finished run.*CALIBKIT_CACHE") as error:
            store.put("bb", torch.zeros(100_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert str(tmp_path) in str(error.value)
    assert (store.get("aa"), store.get("bb")) == (1, None)
    assert not list(tmp_path.glob("*/.*"))


def sealed(body):
    return MARK + hashlib.sha256(body).digest() + body


def saved(value):
    buffer = io.BytesIO()
    torch.save(value, buffer)
    return buffer.getvalue()


@pytest.mark.parametrize(("raw", "why"), [
    (sealed(b"not torch's"), "holds no run"),
    (sealed(saved([1, 2])), "holds no run"),
    (sealed(saved({"key": "ab12"})), "holds no run"),
    (sealed(saved({"key": "ab12", "value": Path("an object of Python")})), "holds no run"),
    (sealed(saved({"key": "cd34", "value": 1})), "another run's"),
    (sealed(saved({"key": "ab12", "value": 1}))[len(MARK) :], "of another form"),
    (MARK, "is damaged"),
    (b"", "of another form"),
])  # fmt: skip
def test_a_sound_file_with_anything_else_inside_counts_as_absent(tmp_path, raw, why):
    store = Store(tmp_path)
    store.put("ab12", 1)
    store.path("ab12").write_bytes(raw)
    with pytest.warns(UserWarning, match=f"{why}.*computed again") as said:
        assert store.get("ab12") is None
    assert len(said) == 1
    assert said[0].filename == __file__
    assert not store.path("ab12").exists()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS])
def test_a_read_only_cache_is_read_and_added_to_in_memory(tmp_path, monkeypatch, number):
    Store(tmp_path).put("ab12", 1)

    def refuse(*_, **__):
        raise OSError(number, "may not")

    monkeypatch.setattr(module.tempfile, "mkstemp", refuse)
    store = Store(tmp_path)
    with pytest.warns(UserWarning, match=r"may only be read \(may not\).*CALIBKIT_CACHE") as said:
        store.check()
    store.put("cd34", {"loss": 2})  # a second warning would be an error
    store.put("ef56", 3)
    assert [one.filename for one in said] == [__file__]
    assert (store.get("ab12"), store.get("cd34")) == (1, {"loss": 2})
    assert Store(tmp_path).get("ef56") == 3
    assert Store(tmp_path / "other").get("ef56") is None
