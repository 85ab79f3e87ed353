"""Results on disk: whole or absent, checked, shared, and clear about a full disk."""

import errno
import hashlib
import io
import os
import resource
import stat
import tempfile
import time
from pathlib import Path

import pytest
import torch

from calibkit.lab.sweep import store as module
from calibkit.lab.sweep.store import MARK, Store, default_folder


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


def test_a_stop_right_after_the_last_step_is_passed_on_and_loses_nothing(tmp_path, monkeypatch):
    replace = os.replace

    def killed(*paths):
        replace(*paths)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        Store(tmp_path).put("ab12", "new")
    assert Store(tmp_path).get("ab12") == "new"


def test_a_file_gets_its_name_when_all_of_it_is_on_the_disk(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(os.fstat(handle).st_size))
    Store(tmp_path).put("ab12", 1)
    assert synced == [Store(tmp_path).path("ab12").stat().st_size]


def test_leftovers_of_a_killed_process_go_in_time(tmp_path):
    (tmp_path / "ab").mkdir()
    old, new = tmp_path / "ab" / ".old.part", tmp_path / "ab" / ".new.part"
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 7200,) * 2)
    Store(tmp_path)
    assert not old.exists()
    assert new.exists()  # somebody may be writing it


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


def test_a_folder_that_cannot_be_made_gives_the_same_error(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(OSError, match="CALIBKIT_CACHE"):
        Store(tmp_path / "file").put("aa", 1)


def test_a_folder_within_folders_that_are_not_there_yet_is_made(tmp_path):
    Store(tmp_path / "of" / "mine").put("ab12", 1)
    assert Store(tmp_path / "of" / "mine").get("ab12") == 1


def test_a_folder_that_another_process_makes_at_the_same_time_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "ab").mkdir()
    monkeypatch.setattr(module.Path, "exists", lambda path: False)
    Store(tmp_path).put("ab12", 1)
    assert Store(tmp_path).get("ab12") == 1


@pytest.mark.filterwarnings("error")
def test_a_file_in_place_of_the_folder_holds_no_runs(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert Store(tmp_path / "file").get("ab12") is None


def test_the_folder_is_the_users_choice(monkeypatch, tmp_path):
    monkeypatch.setenv("CALIBKIT_CACHE", str(tmp_path / "mine"))
    assert default_folder() == tmp_path / "mine"
    monkeypatch.delenv("CALIBKIT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "calibkit"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert default_folder().name == "calibkit"


def sealed(body):
    return MARK + hashlib.sha256(body).digest() + body


def saved(value):
    buffer = io.BytesIO()
    torch.save(value, buffer)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (sealed(b"not torch's"), "holds no run"),
        (sealed(b""), "holds no run"),
        (sealed(saved([1, 2])), "holds no run"),
        (sealed(saved({"logits": 1})), "holds no run"),
        (sealed(saved({"key": "ab12"})), "holds no run"),
        (sealed(saved({"key": "ab12", "value": Path("an object of Python")})), "holds no run"),
        (sealed(saved({"key": "cd34", "value": 1})), "another run's"),
        (sealed(saved({"key": ["ab12"], "value": 1})), "another run's"),
        (sealed(saved({"key": "ab12", "value": 1}))[1:], "of another form"),
        (sealed(saved({"key": "ab12", "value": 1}))[len(MARK) :], "of another form"),
        (MARK, "is damaged"),
        (b"", "of another form"),
    ],
)
def test_a_sound_file_with_anything_else_inside_counts_as_absent(tmp_path, raw, why):
    store = Store(tmp_path)
    store.put("ab12", 1)
    store.path("ab12").write_bytes(raw)
    with pytest.warns(UserWarning, match=f"{why}.*computed again") as said:
        assert store.get("ab12") is None
    assert len(said) == 1
    assert said[0].filename == __file__
    assert not store.path("ab12").exists()


def test_a_copy_under_another_key_is_not_believed(tmp_path):
    store = Store(tmp_path)
    store.put("ab12", 1)
    store.path("ab34").write_bytes(store.path("ab12").read_bytes())
    with pytest.warns(UserWarning, match="another run's"):
        assert store.get("ab34") is None
    assert store.get("ab12") == 1


@pytest.mark.parametrize(
    ("mode", "file"), [(0o777, 0o644), (0o2775, 0o644), (0o770, 0o640), (0o700, 0o600)]
)
def test_a_shared_folder_can_be_written_by_all_who_may_write_its_root(tmp_path, mode, file):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(mode)
    Store(tmp_path / "cache").put("ab12", 1)
    made = tmp_path / "cache" / "ab"
    assert stat.S_IMODE(made.stat().st_mode) == mode
    assert stat.S_IMODE((made / "ab12.run").stat().st_mode) == file


def test_a_folder_that_somebody_chose_stays_as_it_is(tmp_path):
    (tmp_path / "ab").mkdir(mode=0o750)
    Store(tmp_path).put("ab12", 1)
    assert stat.S_IMODE((tmp_path / "ab").stat().st_mode) == 0o750


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.EROFS])
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


def test_a_file_that_cannot_be_read_counts_as_absent(tmp_path, monkeypatch):
    store = Store(tmp_path)
    store.put("ab12", 1)

    def refuse(path):
        raise PermissionError(errno.EACCES, "may not")

    monkeypatch.setattr(module.Path, "read_bytes", refuse)
    monkeypatch.setattr(module.Path, "unlink", lambda path: refuse(path))
    with pytest.warns(UserWarning, match=r"cannot be read \(may not\)"):
        assert store.get("ab12") is None


def test_a_look_leaves_nothing_behind(tmp_path):
    Store(tmp_path / "new").check()
    assert list((tmp_path / "new").iterdir()) == []


def test_a_look_may_be_tidied_up_by_a_process_of_the_same_number_elsewhere(tmp_path, monkeypatch):
    write = Store._write

    def written_and_gone(path, body):
        write(path, body)
        path.unlink()

    monkeypatch.setattr(Store, "_write", staticmethod(written_and_gone))
    Store(tmp_path).check()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can change")
def test_two_users_share_one_cache(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shared")
    top = Path(tempfile.gettempdir())
    for parent in folder.parents:  # of which a worker of xdist has one more
        if top in parent.parents:
            parent.chmod(0o755)
    folder.chmod(0o777)
    Store(folder).put("ab12", 1)
    child = os.fork()
    if child == 0:
        try:
            os.setuid(65534)
            store = Store(folder)
            store.put("ab99", 2)
            os._exit(0 if store.get("ab12") == 1 and store.get("ab99") == 2 else 1)
        finally:
            os._exit(2)  # whatever happens: a child must not go on with the tests
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert Store(folder).get("ab99") == 2
    assert (folder / "ab" / "ab99.run").stat().st_uid == 65534
