"""Six files, five faults: a page on which a reader finds out which file has which fault.

The models are those of lesson 17 (`vendor`), trained for seeds of their own. `python -m
calibkit.course.browser.six_files` trains them anew and writes six/files.json.
"""

from __future__ import annotations

import json
from typing import Any

from calibkit.course import browser

DATA = browser.HERE / "six" / "files.json"
SEEDS = range(2000, 2008)
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"  # of numbers to the base 36


def page(home: str = "", lesson: str = "") -> str:
    """The page as one HTML file. home: as `browser.page`; lesson: address of lesson 17.

    >>> "connect-src" in page(), len(page()) < 400_000
    (False, True)
    """
    sets = json.loads(DATA.read_text(encoding="utf-8"))
    named = f'<a href="{lesson}">Lesson 17</a>' if lesson else "Lesson 17"
    return browser.page("six", {"sets": sets}, home, lesson=named)


def sets() -> list[dict[str, Any]]:
    """Of each seed the labels and, by fault, what the file, the audit and the truth say.

    labels: a digit a row, of which the first half are images of the new scanner. models, by fault:
    predicted, a digit a row; confidence, in thousandths to the base 36, two places a row;
    duplicates, rows that also stand in the calibration file; true, the true calibration error in
    thousandths; named, what the rule of lesson 17 calls it.
    """
    from calibkit.course.experiments import vendor
    from calibkit.course.scale import begin

    size, _, device = begin("laptop", SEEDS[0], "cpu")
    models, found = vendor.Vendor(size, SEEDS, device), []
    for seed in SEEDS:
        labels = models.scans("file", seed).labels
        one: dict[str, Any] = {"labels": "".join(map(str, labels.tolist())), "models": {}}
        for fault in vendor.FAULTS:
            confidence, predicted = models.probs(fault, seed, "file").max(dim=1)
            second = set(map(tuple, models.calibration(fault, seed)[0].tolist()))
            rows = map(tuple, models.logits(fault, seed)["file"].tolist())
            one["models"][fault] = {
                "predicted": "".join(map(str, predicted.tolist())),
                "confidence": "".join(
                    DIGITS[part]
                    for thousandths in (1000 * confidence).round().int().tolist()
                    for part in divmod(thousandths, 36)
                ),
                "duplicates": sum(row in second for row in rows),
                "true": round(1000 * models.true_error(fault, seed)),
                "named": models.diagnosed(fault, seed),
            }
        found.append(one)
    return found


if __name__ == "__main__":
    DATA.write_text(json.dumps(sets(), separators=(",", ":")), encoding="utf-8", newline="\n")
    print(DATA)
