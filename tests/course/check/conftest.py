"""Settings of the checkers' tests."""

import pytest

from calibkit.course.check import hints


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """A busy machine, or the first call in a process, takes no time from what is asked."""
    monkeypatch.setattr(hints, "PATIENCE", 10.0)
