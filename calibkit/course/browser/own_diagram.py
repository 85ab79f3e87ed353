"""Your own reliability diagram: a page that asks a reader, and collects the files of a class.

It is put together as the other pages that compute in the browser. Its questions are
own/questions.json; own/network.json has what the network of lesson 00 said on its test images.
"""

from __future__ import annotations

import json
from typing import Any

from calibkit.course import browser

HOME = browser.HERE / "own"
BINS = 10  # from 0 to 1: two options leave those from 0.5 on


def page(home: str = "") -> str:
    """The page as one HTML file. home: HTML of a link back to where the page belongs.

    >>> "connect-src" in page(), len(page()) < 60_000
    (False, True)
    """
    network = json.loads((HOME / "network.json").read_text(encoding="utf-8"))
    return browser.page("own", {"questions": questions(), "network": network}, home)


def questions() -> list[dict[str, Any]]:
    """The questions: id, text, two options, which is right (0 or 1), why, and a source."""
    return json.loads((HOME / "questions.json").read_text(encoding="utf-8"))


def network_of_lesson_00() -> dict[str, Any]:
    """What own/network.json holds: the network of lesson 00, trained and judged on its test images.

    binned: as reliability of shared/metrics.js returns it. score: shares and the Brier score of
    the answer, the mean squared distance of the confidence from 1 where it is right, else 0.
    """
    from calibkit import metrics
    from calibkit.course.scale import begin
    from calibkit.lab import data, models, training

    size, _, device = begin("laptop", 0, "cpu")
    train, _, test = data.noisy_digits(size.train, noise=0.4, seed=0, test=size.test)
    run = training.fit(
        lambda: models.mlp(64, 10), train, epochs=size.epochs, seed=0, device=device, progress=False
    )
    said = run.predict(test)
    sure, hit = said.confidence.double(), said.correct.double()
    found = metrics.reliability(said.probs, said.labels, bins=BINS)
    n, right, confidence = found.counts.tolist(), found.accuracy.tolist(), found.confidence.tolist()
    binned = {"n": len(said), "bins": BINS, "counts": [int(one) for one in n]}
    binned["hits"] = [round(a * b) if a else 0 for a, b in zip(n, right, strict=True)]
    for name, shares in (("confidence", confidence), ("accuracy", right)):
        binned[name] = [round(b, 6) if a else None for a, b in zip(n, shares, strict=True)]
    score = {"right": hit.mean(), "sure": sure.mean(), "gap": (sure - hit).mean()}
    score["brier"] = (sure - hit).square().mean()
    return {"binned": binned, "score": {name: round(float(v), 6) for name, v in score.items()}}
