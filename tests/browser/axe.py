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
# Every rule that axe has, also those that it does not run by itself (size of what is tapped) or
# calls best practice or experimental, but these, for a reason each:
NOT_ASKED = {
    "color-contrast-enhanced": "AAA, 7 : 1; the course keeps AA, 4.5 : 1 (color-contrast)",
    "focus-order-semantics": "experimental; a formula or table that scrolls is reached by Tab, as "
    "scrollable-region-focusable asks, and a landmark each would hide the page's own",
    "duplicate-id": "deprecated, no longer of WCAG; the panels of a slider repeat their equal "
    "hatches, to which nothing but their own areas refers",
}


def every(*but: str) -> str:
    """All rules but those NOT_ASKED and some more."""
    left_out = [*NOT_ASKED, *but]
    return f"runOnly: axe.getRules().map(r => r.ruleId).filter(r => !{left_out}.includes(r))"


EVERY = every()
EVERY_BUT_COLOURS = every("color-contrast")
COLOURS = 'runOnly: ["color-contrast"]'
# one token of each colour is enough: a lesson has thousands, and axe looks at each of them
FEW_TOKENS = """() => { const seen = new Set();
  for (const token of document.querySelectorAll('.highlight span')) {
    if (seen.has(token.className)) token.replaceWith(token.textContent);
    seen.add(token.className);
  }
}"""


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
