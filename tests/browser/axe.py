"""axe-core, the checker of accessibility: found, fetched through npm, or done without.

Its licence is MPL-2.0; it is used by these tests alone and not part of the course.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from filelock import FileLock

VERSION = "4.10.3"
# preload would fetch the style sheets, which a page that lies in a file may not
RUN = """async root => (
  await axe.run(root, {RULES, preload: false, resultTypes: ["violations"]})
).violations.map(v => `${v.id}: ${v.nodes.map(n => n.html.slice(0, 120)).join(" | ")}`)"""
ALL = 'runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]'
BUT_COLOURS = ALL + ', rules: {"color-contrast": {enabled: false}}'
# best practice, too: heads of tables, landmarks, headings
EVERY = "rules: {}"
EVERY_BUT_COLOURS = 'rules: {"color-contrast": {enabled: false}}'
COLOURS = 'runOnly: ["color-contrast"]'


def script(folder: Path) -> Path | None:
    """The file axe.min.js: the one that CALIBKIT_AXE names, or npm's; None where there is neither.

    folder: where npm may put it.
    """
    named = os.environ.get("CALIBKIT_AXE")
    if named:
        return Path(named)
    found = folder / "node_modules" / "axe-core" / "axe.min.js"
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "npm.lock"):  # two processes of tests ask at once
        if not found.exists() and shutil.which("npm"):
            command = ["npm", "install", "--no-save", "--prefix", folder, f"axe-core@{VERSION}"]
            subprocess.run(command, capture_output=True, timeout=120, check=False)
    return found if found.exists() else None


def violations(page, root, path: Path, rules: str = ALL) -> list[str]:
    """What axe finds wrong with an element of a page, a line a rule."""
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(path.read_text(encoding="utf-8"))
    return root.evaluate(RUN.replace("RULES", rules))
