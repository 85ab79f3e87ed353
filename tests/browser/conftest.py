"""One browser for all tests; at the end, how long the sliders took."""

import os
import shutil
from statistics import median

import pytest
from playwright.sync_api import sync_playwright

from calibkit.course import checkout
from tests.browser import chromium
from tests.browser.drive import EXPORTED, LIVE

WALKS = pytest.StashKey[list]()


def pytest_configure(config):
    config.stash[WALKS] = []


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        browser = chromium.launch(playwright)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def scale():
    return os.environ.get("CALIBKIT_BROWSER_SCALE", "smoke")


@pytest.fixture(scope="session")
def build():
    """Where screenshots and latencies go: build/browser, emptied first."""
    folder = checkout.root() / "build" / "browser"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def remember(request):
    """Keep the walks of a visit for the summary."""
    return request.config.stash[WALKS].extend


def summary(walks):
    lines = [str(walk) for walk in walks]
    for face in (EXPORTED, LIVE):
        times = [time for walk in walks if walk.face is face for time in walk.times]
        if times:
            lines.append(
                f"{face.name}: median {median(times):.1f} ms over {len(times)} steps, "
                f"goal {face.goal} ms"
            )
    return lines


def pytest_terminal_summary(terminalreporter, config):
    lines = summary(config.stash[WALKS])
    if lines:
        terminalreporter.section("from key press to new picture")
        terminalreporter.write_line("\n".join(lines))
        report = checkout.root() / "build" / "browser" / "latencies.txt"
        report.write_text("\n".join(lines) + "\n", encoding="utf-8")
