"""Your own diagram in a browser: a reader's round, a class's files, numbers as in Python."""

import json

import numpy as np
import torch

from calibkit import metrics
from calibkit.course import browser as pages
from calibkit.course import verdicts

QUESTIONS = json.loads((pages.HERE / "own_diagram" / "questions.json").read_text(encoding="utf-8"))


made = pages.own_diagram


def drawn_round(code, when, seed, surer=0.0):
    """A round of answers: 70 % right, with confidences from 50 to 100 %."""
    luck = np.random.default_rng(seed)
    answers = {}
    for one in QUESTIONS:
        option = one["right"] if luck.random() < 0.7 else 1 - one["right"]
        confidence = min(1.0, round(0.5 + 0.5 * luck.random() + surer, 2))
        answers[one["id"]] = {"option": option, "confidence": confidence}
    kind = "calibkit: your own reliability diagram"
    return {"kind": kind, "version": 1, "code": code, "round": when, "answers": answers}


def sure_and_hit(given):
    """How sure each answer of a round is, and whether it is right."""
    answers = [given["answers"][one["id"]] for one in QUESTIONS]
    sure = torch.tensor([one["confidence"] for one in answers], dtype=torch.float64)
    hit = [a["option"] == one["right"] for a, one in zip(answers, QUESTIONS, strict=True)]
    return sure, torch.tensor(hit)


def scored(given):
    """Gap and Brier score of a round, by hand."""
    sure, hit = sure_and_hit(given)
    return (sure - hit.double()).mean().item(), (sure - hit.double()).square().mean().item()


def test_intervals_and_words_are_those_of_the_verdicts(page):
    luck = np.random.default_rng(0)
    samples = [
        (scale * luck.standard_normal(n) + shift).tolist()
        for n in (2, 3, 4, 5, 7, 10, 12, 20, 30, 31, 100, 365, 1000)
        for scale, shift in ((1, 0), (0.1, -0.05), (0.01, 0.3), (3, -1))
    ] + [[0.1, 0.1], [0.0, 0.0, 0.0], [-1e-13, 1e-13], [0.4, 0.6, 0.5], [0.01, 0.02, 0.03, 0.02]]
    asked = [
        (values, expect, m)
        for values in samples
        for expect in ("above", "below")
        for m in (0, 0.05)
    ]
    found = page.evaluate(
        """all => all.map(([values, expect, margin]) => {
          const one = calibkit.intervalOf(values);
          return [one.mean, one.low, one.high, calibkit.wordOf(one, expect, margin)];
        })""",
        asked,
    )
    words = set()
    for (values, expect, margin), (*ends, word) in zip(asked, found, strict=True):
        expected = verdicts.interval(values)
        assert np.abs(np.subtract(ends, expected)).max() <= 1e-9 * max(1, *np.abs(expected))
        judged = verdicts.judge("X", "x", values, expect=expect, margin=margin)
        # where all values are equal, rounding decides whether the width is zero
        if len(set(values)) > 1:
            assert word == judged.word, (values, expect, margin)
            words.add(word)
    assert words == {"HOLDS", "NOT MET", "REVERSED", "INCONCLUSIVE"}


def test_scores_and_bins_are_those_of_the_package(page):
    given = drawn_round("x", "before", 1)
    found = page.evaluate(
        """([round, questions]) => {
          const top = calibkit.toppedOf(round, questions);
          return { ...calibkit.scoreOf(top), binned: calibkit.binnedOf(top),
            intervals: calibkit.intervalsOfAnswers(top) };
        }""",
        [given, QUESTIONS],
    )
    gap, brier = scored(given)
    assert abs(found["gap"] - gap) < 1e-12
    assert abs(found["brier"] - brier) < 1e-12
    sure, hit = sure_and_hit(given)
    package = metrics.reliability_of(sure, hit, bins=10)
    assert found["binned"]["counts"] == package.counts.tolist()
    low, high = found["intervals"]["gap"]["low"], found["intervals"]["gap"]["high"]
    by_hand = verdicts.interval((sure - hit.double()).tolist())
    assert abs(low - by_hand[1]) + abs(high - by_hand[2]) < 1e-9


def answer(page, code="blue", when="before", keys=2):
    """A whole round by keyboard alone: each time the first option, a few points surer."""
    page.locator("#code").fill(code)
    page.locator(f"input[name=when][value={when}]").check()
    page.locator("#begin button").click()
    for place in range(len(QUESTIONS)):
        page.locator("#place", has_text=f"Question {place + 1} of 30").wait_for()
        assert page.locator("#next").is_disabled()
        page.locator("#options input").first.check()
        page.locator("#confidence").focus()
        for _ in range(keys * (place % 5)):
            page.keyboard.press("ArrowRight")
        page.locator("#next").click()
    page.locator("#result-title").wait_for()


def test_a_reader_answers_sees_the_diagram_and_saves_a_file(page, tmp_path, accessible):
    answer(page)
    row = page.locator("#own-numbers tr").first
    right = sum(one["right"] == 0 for one in QUESTIONS) / 30
    assert row.locator("td").all_inner_texts() == [f"{right:.0%}".replace("%", " %"), "79 %"]
    assert page.locator("#own-diagram svg").get_attribute("aria-label").startswith("You: ")
    assert page.locator("#sentence").inner_text()
    assert not page.locator("#answers").is_visible()  # the answers stay hidden until asked for
    with page.expect_download() as waited:
        page.locator("#save").click()
    file = tmp_path / waited.value.suggested_filename
    waited.value.save_as(file)
    assert file.name == "own_diagram_blue_before.json"
    saved = json.loads(file.read_text(encoding="utf-8"))
    assert saved["answers"][QUESTIONS[1]["id"]] == {"option": 0, "confidence": 0.52}
    assert len(saved["answers"]) == 30
    page.locator("#reveal summary").click()
    rows = page.locator("#answers tr")
    rows.nth(29).wait_for()
    assert rows.count() == 30
    assert QUESTIONS[0]["why"] in rows.first.inner_text()
    accessible(page)


def dropped(page, files):
    """Drop files on the page as from the desktop: name and text of each."""
    page.evaluate(
        """files => {
          const data = new DataTransfer();
          for (const [name, text] of files) data.items.add(new File([text], name));
          const target = document.getElementById("drop");
          const how = { dataTransfer: data, bubbles: true, cancelable: true };
          target.dispatchEvent(new DragEvent("drop", how));
        }""",
        files,
    )


def test_a_teacher_drops_files_and_the_change_is_judged_as_in_python(page, accessible):
    page.goto(page.url + "#class")
    before = [drawn_round(f"code {k}", "before", k, surer=0.25) for k in range(8)]
    after = [drawn_round(f"Code {k}", "after", 100 + k) for k in range(7)]
    files = [[f"{k}.json", json.dumps(one)] for k, one in enumerate(before + after)]
    surer = before[0]["answers"] | {QUESTIONS[0]["id"]: {"option": 0, "confidence": 2}}
    changed = {
        "half": {"answers": {}},
        "sure": {"answers": surer},
        "new": {"version": 2},
        "twice": {},
    }
    files += [[f"{name}.json", json.dumps(before[0] | one)] for name, one in changed.items()]
    files += [["picture.json", "no json"], ["other.json", json.dumps({"kind": "x"})]]
    dropped(page, files)
    page.locator("#taken", has_text="8 from before the course, 7 from after it, 7").wait_for()
    said = page.locator("#said").inner_text()
    for name in ("picture", "other", "half", "sure"):
        assert f"{name}.json: not taken" in said
    assert "version 2" in said
    assert "code 0, before: took the place" in said
    pairs = [(scored(one), scored(other)) for one, other in zip(before, after, strict=False)]
    lower = [is_[1] - was[1] for was, is_ in pairs]
    nearer = [abs(is_[0]) - abs(was[0]) for was, is_ in pairs]
    expected = [
        verdicts.judge("own1", "after the course the Brier score is lower", lower, expect="below"),
        verdicts.judge(
            "own2", "after the course the gap is nearer to zero", nearer, expect="below"
        ),
    ]
    lines = page.locator("#verdicts").inner_text().splitlines()
    assert lines == [str(one).replace("seeds", "students") for one in expected]
    assert page.locator("#class-pictures svg").count() == 3
    assert page.locator("#by-question tr").count() == 30
    accessible(page)
    page.locator("#clear").click()
    assert page.locator("#class-pictures").is_hidden()


WAYS_OUT = """async () => {
  const address = "http://127.0.0.1:9/", refusals = [];
  addEventListener("securitypolicyviolation", event => refusals.push(event.effectiveDirective));
  const form = document.createElement("form"), image = new Image();
  form.action = address;
  document.body.append(form);
  fetch(address).catch(() => {});
  navigator.sendBeacon(address, "x");
  try { new WebSocket("ws://127.0.0.1:9/"); } catch {}
  image.src = `${address}x.png`;
  form.submit();
  await new Promise(done => setTimeout(done, 300));
  const kept = localStorage.length + sessionStorage.length + document.cookie.length;
  return { refusals: refusals.sort(), kept };
}"""


def test_no_answer_can_leave_the_machine(browser, path):
    """The page's policy refuses each way out, and the browser keeps nothing."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(path.as_uri())
    page.evaluate("round => calibkit.own.finish(round)", drawn_round("x", "before", 1))
    found = page.evaluate(WAYS_OUT)
    assert found["refusals"] == [*["connect-src"] * 3, "form-action", "img-src"]
    assert found["kept"] == 0
    context.close()
