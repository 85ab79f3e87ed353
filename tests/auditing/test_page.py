"""The page: whole, safe, and every picture with a text made from its data."""

import html
import math
import re
from functools import partial
from html.parser import HTMLParser

import numpy as np
import pytest
import torch

import calibkit
from calibkit.auditing import page as written
from calibkit.auditing.measures import NAMES, Estimate
from tests.auditing.test_audit import drawn

HOSTILE = '<script>alert("x")</script>'
VOID = ("meta",)


class Page(HTMLParser):
    """Tags that were opened and not closed, and attributes."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def page():
    z, labels = drawn(800, 3, truth=0.5)
    groups = [HOSTILE, "b"] * 400
    names = ["a", HOSTILE, "c"]
    options = {"groups": groups, "class_names": names, "other": z / 2}
    found = calibkit.audit(z, labels, name=HOSTILE, other_name=HOSTILE, **options)
    return Page(found.html())


def test_it_is_well_formed_and_loads_and_runs_nothing(page):
    assert page.open == []
    assert not {"script", "link", "img", "iframe", "object", "form"} & set(page.tags)
    names = {name for name, _ in page.attributes}
    assert not {name for name in names if name.startswith("on")} | (names & {"src", "href"})


def test_a_model_without_mistakes_and_with_many_classes_has_a_page():
    z, _ = drawn(300, 30, scale=30.0)
    found = calibkit.audit(z, z.argmax(1))
    assert "There is no mistake" in found.html()
    assert "rarest others" in found.html()
    assert Page(found.html()).open == []


FALLS, RISES, ALONE = (Estimate(*ends) for ends in (
    (-0.02, -0.031, -0.01), (0.02, -0.01, 0.05), (0.02, math.nan, math.nan)
))  # fmt: skip


@pytest.mark.parametrize(("write", "given", "words"), [
    ("number", (-0.01234, "gap", True), "−1.23 %"),
    ("number", (0.01234, "ece", True), "+1.23 %"),
    ("number", (0.01234, "ece"), "1.23 %"),
    ("number", (1.23456, "nll", True), "+1.2346"),
    ("number", (0.1234, "cost", True), "+12.3"),
    ("number", (math.inf, "nll"), "∞"),
    ("number", (math.nan, "ece"), "–"),
    ("percent", (-0.1236,), "−12.4 %"),
    ("percent", (math.inf,), "–"),
    ("in_words", (FALLS, "gap", True), "−2.00 % (−3.10 % to −1.00 %)"),
    ("in_words", (ALONE, "mce"), "2.00 %"),
    ("cell", (FALLS, "gap", True), "<strong>−2.00 %</strong><small>−3.10 to −1.00</small>"),
    ("cell", (FALLS, "gap"), "−2.00 %<small>−3.10 to −1.00</small>"),
    ("cell", (RISES, "nll", True), "+0.0200<small>−0.0100 to +0.0500</small>"),
    ("cell", (ALONE, "mce", True), "+2.00 %"),
    ("sizes", (FALLS,), "1.0 to 3.1"),
    ("points", (0.01,), "1 point"),
    ("points", (0.005,), "0.5 points"),
    ("p_words", (0.0456,), "p = 0.046"),
    ("p_words", (0.001,), "p <= 0.001"),
])  # fmt: skip
def test_numbers_in_words(write, given, words):
    assert getattr(written, write)(*given).replace("\N{NO-BREAK SPACE}", " ") == words


def plain(words):
    """Words of a page without its tags."""
    words = html.unescape(re.sub("<style>.*?</style>|<[^>]*>", "", words, flags=re.DOTALL))
    return words.replace("\N{NO-BREAK SPACE}", " ")


def test_the_command_and_the_page_say_the_audits_numbers():
    z, labels = drawn(800, 2, truth=0.5)
    sure, right, pairs = z.softmax(1).amax(1), z.argmax(1) == labels, np.arange(800) // 2
    z[:, 1] += 1
    words, p = written.in_words, written.p_words
    for found in (
        calibkit.audit(z, labels, costs=(1, 20), weights=np.arange(800) % 3, clusters=pairs),
        calibkit.audit(sure, right, kind="confidence", costs=(1, 5)),
        calibkit.audit(z / 5, labels),
    ):
        is_right, said, gap, ece = (found.measures[name] for name in list(NAMES)[:4])
        test, event, gain = found.test, found.binary, found.gain
        side = "over" if gap.value > 0 else "under"
        seen = [of for of, share in found.power.items() if share >= 0.8]
        lines = [
            f"right on {is_right.value:.1%}, says {said.value:.1%}: signed gap {gap.value:+.1%}",
            f"ECE {ece.value:.2%}, by luck alone {test.expected:.2%} ({p(test.p_value)})",
            f" ECE {found.cooled['ece'].value:.2%}. {found.advice.words}.",
        ]
        told = [
            f"it is right in {is_right.value:.1%} of cases and says {said.value:.1%}: {side}-",
            f"confident by {100 * abs(gap.value):.1f} points on average ({written.sizes(gap)})",
            f"z = {test.z:.2f}, {p(test.p_value_z)}",
            f"An over-confidence of {written.points(seen[0])} would be found in at least 80 % of",
            f"calibkit {calibkit.__version__}: {found.bins} bins of equal width",
            f"ECE {words(gain['ece'], 'ece', True)}; NLL {words(gain['nll'], 'nll', True)}; Brier",
        ]
        if event:
            lines.append(
                f"event 1: predicted {event.predicted:.1%}, came {event.rate:.1%}, ECE of the "
                f"event {event.ece.value:.2%} ({p(event.test.p_value)}), AUC {event.auc.value:.3f}"
                f"; always {event.usual} is right on {event.usual_accuracy:.2%}"
            )
            told.append(f"a difference of {words(event.gap, 'gap', True)}. The probability")
        for costs in filter(None, (found.deferral, event and event.costs)):
            name = "temperature" if event else "Platt"
            paid = [f"{100 * costs.models[of].cost.value:.1f}" for of in ("as it is", name)]
            lines.append(
                f"cost {paid[0]}, after {'the temperature' if event else 'Platt scaling'} {paid[1]}"
            )
        page = plain(found.html())
        assert [line for line in lines if line not in str(found)] == []
        assert [
            text for text in told if plain(text).replace("%", " %").replace("  ", " ") not in page
        ] == []
        units = ", weighted, in 400 clusters of 2 classes it is" in page
        assert units == found.weighted == bool(found.clusters)


def test_the_classes_that_are_off_most_and_the_rarest_are_listed():
    z, labels = drawn(6000, 21)
    z[z.argmax(1) == 3] *= 3
    kept = (labels < 18) | (torch.arange(6000) % 10 == 0)
    found = calibkit.audit(z[kept], labels[kept])
    table, page = found.classes, found.html()
    off, rare = (table["flag"].str.contains(word).sum() for word in ("off", "rare"))
    assert (off > 0, rare) == (True, 3)
    assert f"{off} of 21 classes are off: " in page
    assert f"{rare} classes are rare: " in page
    rarest = table.sort_values("samples", kind="stable")["name"][:5].drop(
        range(15), errors="ignore"
    )
    caption = f"Classes: the 15 that are off most and the {len(rarest)} rarest others"
    (listed,) = re.findall(f"<caption>{caption}.*?</table>", page, re.DOTALL)
    names = re.findall('<th scope="row">(.*?)</th>', listed)
    assert names == [*table["name"][:15], *rarest]
    assert "Classes: the 15 that are off most<" in calibkit.audit(*drawn(6000, 21)).html()
    assert "Classes: all classes" in calibkit.audit(*drawn(600, 20)).html()


def test_the_tables_of_the_page_hold_the_audits_numbers():
    z, labels = drawn(900, 2, truth=0.5)
    z[:, 1] += 1
    found = calibkit.audit(z, labels, groups=["b", "a", "c"] * 300, costs=(1, 20))
    whole, one, two = (partial(written.percent, digits=k) for k in range(3))
    gap, worth = (partial(written.number, name=name, signed=True) for name in ("gap", "nll"))
    ece, cell, event, groups = partial(written.number, name="ece"), written.cell, found.binary, {}
    for name in ("{}", "{}_left", "event_{}"):
        ends = (found.groups[name.format(end)] for end in ("gap", "low", "high"))
        groups[name.format("gap")] = [
            cell(Estimate(*it), "gap", True) for it in zip(*ends, strict=True)
        ]
    forms = {
        "Classes": (found.classes, {"name": str, "samples": str, "recall": one, "predicted": str,
                                    "said": one, "right": one, "gap": gap, "flag": str}),
        "Groups": (found.groups.assign(**groups), {
            "name": str, "samples": str, "accuracy": one, "gap": str, "gap_left": str,
            "event_gap": str, "ece": ece, "flag": str}),
        "Coverage": (found.coverage[2], {"coverage": whole, "threshold": "{:.4f}".format,
                                         "risk": two}),
        "Surest mistakes": (found.mistakes, {"index": str, "predicted": str, "label": str,
                                             "confidence": written.sure, "of_label": two}),
        "Net benefit": (event.net_benefit, {"threshold": whole, "acted": one, "found": two,
                                            "alarms": two, "benefit": worth, "all": worth}),
    }  # fmt: skip
    tables = {caption: [map(form, table[name]) for name, form in columns.items()]
              for caption, (table, columns) in forms.items()}  # fmt: skip
    tables["Power"] = [map(written.points, found.power), map(whole, found.power.values())]
    tables = {caption: list(zip(*columns, strict=True)) for caption, columns in tables.items()}
    paid = event.costs.models.items()
    tables["Cost of decisions"] = [
        (name, cell(it.cost, "cost"), cell(it.difference, "cost", True) if it.difference else "",
         two(it.acted), two(it.missed), two(it.alarms)) for name, it in paid
    ] + [(f"act on {of}", written.number(getattr(event.costs, of), "cost"), *[""] * 4)
         for of in ("all", "none")]  # fmt: skip
    tables["Temperature or Platt scaling"] = [
        (words, cell(event.maps["as it is"][of], of), *(
            part for by in ("temperature", "Platt") for part in
            (written.number(event.maps[by][of].value, of), cell(event.gain[by][of], of, True))))
        for of, words in (("nll", "NLL, nats"), ("brier", "Brier score, (p − y)²"),
                          ("ece", "ECE of the event"))
    ]  # fmt: skip
    page = found.html()
    for caption, rows in tables.items():
        (table,) = re.findall(f"<caption>{caption}.*?<tbody>(.*?)</tbody>", page, re.DOTALL)
        cells = [re.findall("<t[hd][^>]*>(.*?)</t[hd]>", row) for row in table.split("</tr>")[:-1]]
        assert cells == [list(row) for row in rows], caption
