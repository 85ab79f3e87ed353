"""One browser for all tests; at the end, how long the sliders took."""

import os
import shutil
from statistics import median

import pytest
from playwright.sync_api import sync_playwright

from calibkit.course import checkout, pages
from tests.browser import chromium
from tests.browser.drive import EXPORTED, LIVE


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
    """Where screenshots go: build/browser, one for each process, emptied first."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    folder = checkout.root() / "build" / (f"browser_{worker}" if worker else "browser")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


@pytest.fixture(scope="session")
def exported(build):
    """The folder with the course as pages."""
    pages.export_all(target=build / "pages")
    return build / "pages"


@pytest.fixture
def remember(record_property):
    """Keep the walks of a visit for the summary, which may be made in another process."""

    def keep(walks):
        for walk in walks:
            record_property("walk", [str(walk), walk.face.name, walk.times])

    return keep


def summary(walks):
    lines = [words for words, _, _ in walks]
    for face in (EXPORTED, LIVE):
        times = [time for _, name, met in walks if name == face.name for time in met]
        if times:
            lines.append(
                f"{face.name}: median {median(times):.1f} ms over {len(times)} steps, "
                f"goal {face.goal} ms"
            )
    return lines


def pytest_terminal_summary(terminalreporter):
    walks = [
        value
        for kind in ("passed", "failed")
        for report in terminalreporter.getreports(kind)
        if report.when == "call"
        for name, value in report.user_properties
        if name == "walk"
    ]
    if walks:
        lines = summary(walks)
        terminalreporter.section("from key press to new picture")
        terminalreporter.write_line("\n".join(lines))
        folder = checkout.root() / "build" / "browser"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "latencies.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
