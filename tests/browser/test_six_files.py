"""Six files, five faults: a game by keyboard and by click, whose numbers are those of Python."""

import json

import pytest
import torch

from calibkit import metrics
from calibkit.course.browser import six_files

SETS = json.loads(six_files.DATA.read_text(encoding="utf-8"))
FIRST = "calibkit.game.files.A"
TOO_WIDE = "document.documentElement.scrollWidth - innerWidth"


made = six_files.page


def of(page):
    """Confidences and hits of file A, and of its first half."""
    fault = page.evaluate("calibkit.game.faultOf.A")
    model, labels = SETS[0]["models"][fault], SETS[0]["labels"]
    packed = model["confidence"]
    sure = [int(packed[i : i + 2], 36) / 1000 for i in range(0, len(packed), 2)]
    hit = [a == b for a, b in zip(model["predicted"], labels, strict=True)]
    return torch.tensor(sure, dtype=torch.float64), torch.tensor(hit)


def test_its_numbers_are_those_of_the_package(page):
    sure, hit = of(page)
    for rows, part in (("", slice(None)), ("row => row.scanner === 'new'", slice(0, 1000))):
        found = page.evaluate(f"(({{ ece, gap }}) => ({{ ece, gap }}))({FIRST}.of({rows}))")
        top = metrics.TopLabel(sure[part], hit[part])
        assert found["ece"] == pytest.approx(metrics.ece(top), abs=1e-12)
        assert found["gap"] == pytest.approx((sure - hit.double())[part].mean().item(), abs=1e-12)
    luck, ours = page.evaluate(f"({FIRST}).luck()"), metrics.calibration_test_of(sure, hit)
    assert luck["expected"] == pytest.approx(ours.expected, abs=0.001)
    assert luck["p"] == pytest.approx(ours.p_value, abs=0.06)


def test_a_game_from_the_first_look_to_the_score(page):
    page.locator("[data-look=second]").click()
    page.locator("[data-look=whole]").focus()
    page.keyboard.press("Enter")
    assert page.locator("#paid").inner_text() == "2 looks"
    page.get_by_label("file B").check()
    assert page.locator("#seen section").count() == 0  # paid for A alone
    truth = page.evaluate("calibkit.game.faultOf")
    assert page.locator("#hand-in").is_disabled()
    for letter, fault in truth.items():
        wrong = "none" if letter == "A" and fault != "none" else fault
        page.locator(f"#fault-{letter}").select_option(wrong)
    page.locator("#hand-in").click()
    right = 6 if truth["A"] == "none" else 5
    words = page.locator("#score").inner_text()
    assert words.startswith(f"{right} of 6 rightly named, 2 looks: {10 * right - 2} points")
    assert page.locator("#seen section").count() == 4  # all is open now
    page.locator("#new").click()
    assert page.url.endswith("#files=2")
    assert page.locator("#paid").inner_text() == "0 looks"
    assert page.locator("#result").is_hidden()


@pytest.mark.parametrize("width", [390, 1366])
def test_it_can_be_read_by_all(visit, path, accessible, width):
    page = visit(path, width=width)
    for look in ("whole", "scanner", "digit", "second"):
        page.locator(f"[data-look={look}]").click()
    assert page.evaluate(TOO_WIDE) <= 0
    accessible(page)
