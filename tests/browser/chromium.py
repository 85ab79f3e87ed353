"""Find a Chromium, or install one: `python -m tests.browser.chromium`."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys

from playwright.sync_api import Error, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MISSING = """\
No Chromium could be started or installed, so the browser tests cannot run. Install Chromium or
Google Chrome so that it is on the PATH, or set CALIBKIT_CHROMIUM to its file; then try again."""
WAYS = (  # to get one, where none starts
    "true",
    f"'{sys.executable}' -m playwright install chromium",
    "apt-get update -q && apt-get install -y -q chromium",
)


def candidates() -> list[str | None]:
    """Programs to try, in order; None is the one that Playwright downloads."""
    named = os.environ.get("CALIBKIT_CHROMIUM")
    found = [shutil.which(name) for name in NAMES]
    return [named] if named else [*filter(None, found), None]


def launch(playwright):
    """The first browser that starts; raises RuntimeError when none does."""
    for path in candidates():
        try:
            return playwright.chromium.launch(
                executable_path=path, args=["--no-sandbox", "--disable-gpu", "--no-first-run"]
            )
        except Error:
            continue
    raise RuntimeError(MISSING)


def starts() -> bool:
    """Whether any browser starts; says which."""
    with sync_playwright() as playwright:
        try:
            browser = launch(playwright)
        except RuntimeError:
            return False
        print(f"Chromium {browser.version}")
        browser.close()
    return True


def main() -> int:
    """0 when a browser starts, if need be after an installation."""
    for way in WAYS:
        print("$", way, flush=True)
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(way, shell=True, timeout=600, check=False)
        if starts():
            return 0
    print(MISSING, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
