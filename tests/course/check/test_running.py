"""How an answer is called: for a limited time, in any thread, with little printed."""

import io
import signal
import sys
import threading
from contextlib import redirect_stdout

import pytest

from calibkit.course import check
from calibkit.course.check import running
from tests.course.check.test_engine import gap, loops_for_ever, said


class Clock:
    """The time of a machine on which nothing takes any, but what an answer says."""

    def __init__(self):
        self.cpu, self.wall, self.looks = 0.0, 0.0, 0

    def thread_time(self, *_):
        self.looks += 1
        return self.cpu

    def monotonic(self):
        return self.wall

    def pass_by(self, cpu, wall):
        """So many seconds of either kind, after which the limit is looked at."""
        self.cpu, self.wall, seen = self.cpu + cpu, self.wall + wall, self.looks
        while self.looks < seen + 2:  # the first look may have begun before
            pass


@pytest.mark.parametrize("place", ["main thread", "another thread"])
@pytest.mark.parametrize(
    ("cpu", "wall", "words"),
    [
        (9, 9, None),  # slow
        (9, 110, None),  # slow, on a machine that has much else to do
        (11, 11, "10 seconds of computing"),
        (11, 110, "10 seconds of computing"),
        (1, 130, "120 seconds"),  # it sleeps
    ],
)
def test_what_counts_is_the_computing_of_the_answer(monkeypatch, place, cpu, wall, words):
    clock = Clock()
    monkeypatch.setattr(running, "time", clock)
    monkeypatch.setattr(running, "_computed", clock.thread_time)
    monkeypatch.setattr(running, "TICK", 0.001)
    if place == "another thread":
        monkeypatch.delattr(signal, "setitimer")
    calls = iter([(cpu, wall)])

    def answer(probs, labels):
        for spent in calls:
            clock.pass_by(*spent)
        return gap(probs, labels)

    reply = check.signed_gap(answer)
    if words is None:
        assert reply
    else:
        assert "was stopped in line" in reply.text
        assert f"had not ended after {words}. Does" in reply.text


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS does not say what a thread computed")
def test_the_computing_of_another_thread_is_its_own():
    began, release = threading.Event(), threading.Event()
    idle = threading.Thread(target=lambda: (began.set(), release.wait()))
    idle.start()
    began.wait()
    before, own = running._computed(idle), running.time.thread_time()
    while running.time.thread_time() < own + 0.2:
        pass
    after = running._computed(idle)
    release.set()
    idle.join()
    assert after - before < 0.1


def test_another_thread_gets_the_same_replies(monkeypatch):
    replies = []

    def work():
        replies.extend(map(check.signed_gap, (gap, lambda p, y: None)))
        monkeypatch.setattr(running, "SECONDS", 0.3)
        monkeypatch.setattr(running, "WAITS", 1000)
        replies.append(check.signed_gap(loops_for_ever))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert replies[0]
    assert repr(replies[1]).startswith("Not yet")
    assert "was stopped in line" in repr(replies[2])
    assert threading.active_count() < 10


@pytest.mark.skipif(sys.gettrace() is not None, reason="Python 3.11 hangs here while traced")
def test_a_call_that_cannot_be_stopped_is_told(monkeypatch):
    release = threading.Event()
    monkeypatch.setattr(running, "SECONDS", 0.3)
    monkeypatch.setattr(running, "PATIENCE", 0.1)
    monkeypatch.setattr(running, "WAITS", 1)
    monkeypatch.delattr(signal, "setitimer")
    told = said("signed_gap", lambda p, y: release.wait())
    release.set()
    assert "could not be stopped" in told


def test_the_timer_and_its_owner_are_restored():
    def theirs(*_):
        pass

    before = signal.signal(signal.SIGALRM, theirs)
    signal.setitimer(signal.ITIMER_REAL, 1000)
    try:
        assert check.signed_gap(gap)
        assert signal.getsignal(signal.SIGALRM) is theirs
        assert 500 < signal.getitimer(signal.ITIMER_REAL)[0] <= 1000
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("place", ["main thread", "another thread"])
def test_a_time_up_between_two_calls_is_told(monkeypatch, place):
    def late(*_):
        raise running.TimeUp

    monkeypatch.setattr(running, "numbers", late)
    if place == "another thread":
        monkeypatch.delattr(signal, "setitimer")
    assert "was stopped after 10 seconds of computing" in said("signed_gap", gap)


def test_what_comes_after_a_stop_is_not_stopped(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(running, "time", clock)
    monkeypatch.setattr(running, "TICK", 0.001)
    with running._timer():
        with pytest.raises(running.TimeUp):
            clock.pass_by(11, 11)
        clock.pass_by(1, 1)


class Screen(io.StringIO):
    flushed = 0

    def flush(self):
        self.flushed += 1


def test_what_is_printed_comes_through_up_to_a_screenful():
    def little(probs, labels):
        print(len(labels), flush=True)
        return gap(probs, labels)

    def much(probs, labels):
        print("x" * 10_000)
        return gap(probs, labels)

    screen, before = Screen(), sys.stdout
    with redirect_stdout(screen):
        assert check.signed_gap(little)
    assert screen.getvalue().startswith("50\n50\n7\n")
    assert screen.flushed >= 20
    assert sys.stdout is before
    with redirect_stdout(heard := io.StringIO()):
        assert check.signed_gap(much)
    text = heard.getvalue()
    assert text.startswith("x" * running.PRINTED + "\n... (your function prints more")
    assert len(text) < running.PRINTED + 100


def test_the_words_for_a_late_answer_are_not_stopped(monkeypatch):
    """However slow they come: on a busy machine the time is up again before they are found."""
    clock, place = Clock(), running._place
    monkeypatch.setattr(running, "time", clock)
    monkeypatch.setattr(running, "TICK", 0.001)

    def slowly(*arguments):
        clock.pass_by(1, 1)
        return place(*arguments)

    monkeypatch.setattr(running, "_place", slowly)
    reply = check.signed_gap(lambda p, y: clock.pass_by(11, 11))
    assert "was stopped in line" in reply.text
