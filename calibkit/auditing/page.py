"""The audit as one page that loads nothing, runs nothing, and prints."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from html import escape

import pandas as pd

from calibkit.auditing import figures
from calibkit.auditing.binary import BEYOND, MAPPED, Binary
from calibkit.auditing.costs import Costs
from calibkit.auditing.findings import ALPHA
from calibkit.auditing.measures import NAMES, SHARES, Estimate, missing
from calibkit.auditing.record import Record, p_words
from calibkit.pictures.palette import BLACK, BLUE, GREEN, GREY, VERMILLION

Estimates = dict[str, Estimate]
PERCENT = "\N{NO-BREAK SPACE}%"
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
LISTED = 15  # classes in the table; all of them where there are no more than ALL
ALL = 20
NAMED = 8  # groups in the headline
LEFT = "One temperature for all moves the gaps of all groups in the same direction. "
STYLE = f"""
:root {{ color-scheme: light; }}
body {{ margin: 0; background: #fff; color: {BLACK}; font: 16px/1.5 system-ui, sans-serif; }}
main {{ max-width: 60rem; margin: auto; padding: 1rem; }}
h1 {{ line-height: 1.2; margin: .5rem 0; overflow-wrap: anywhere; }}
h2 {{ margin: 2.2rem 0 .5rem; padding-top: .6rem; border-top: 2px solid {BLUE}; }}
p, li {{ max-width: 44rem; }}
.lead {{ font-size: 1.15rem; }}
.warn {{ border-left: .4rem solid {VERMILLION}; background: #fdf3ec; padding: .3rem 1rem; }}
.fine {{ border-left: .4rem solid {GREEN}; background: #eef8f4; padding: .3rem 1rem; }}
.row {{ display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: flex-start; }}
figure {{ margin: .5rem 0; max-width: 100%; break-inside: avoid; }}
figure svg {{ max-width: 100%; height: auto; display: block; }}
figcaption, small, .note {{ color: {GREY}; }}
small {{ display: block; font-size: .85em; }}
.scroll {{ overflow-x: auto; max-width: 100%; }}
.scroll:focus-visible {{ outline: 3px solid {BLUE}; }}
table {{ border-collapse: collapse; margin: .5rem 0; font-variant-numeric: tabular-nums; }}
caption {{ text-align: left; color: {GREY}; padding-bottom: .3rem; }}
th, td {{ padding: .3rem .7rem; text-align: right; vertical-align: top;
  border-bottom: 1px solid #ddd; }}
th:first-child, td:first-child {{ text-align: left; padding-left: 0; }}
thead :is(th, td) {{ border-bottom: 2px solid {BLACK}; vertical-align: bottom;
  max-width: 9rem; overflow-wrap: break-word; }}
th {{ font-weight: 600; }} td {{ white-space: nowrap; }}
tbody th {{ font-weight: 400; overflow-wrap: break-word; max-width: 16rem; }}
caption {{ white-space: nowrap; }}
code {{ background: #f3f3f3; padding: .1em .3em; overflow-wrap: anywhere; }}
@media (max-width: 30rem) {{
  body {{ font-size: 15px; }} main {{ padding: .7rem; }}
  th, td {{ padding: .3rem .3rem; font-size: .82rem; }}
  small {{ font-size: .9em; white-space: normal; }}
  .words tbody th {{ max-width: 6.5rem; }}
}}
@media print {{
  @page {{ margin: 15mm; }}
  body {{ font-size: 10.5pt; }} main {{ max-width: none; padding: 0; }}
  .scroll {{ overflow: visible; }} h2 {{ break-after: avoid; }} tr {{ break-inside: avoid; }}
  .warn, .fine {{ print-color-adjust: exact; -webkit-print-color-adjust: exact; }}
}}
"""


def html(record: Record) -> str:
    """The whole page. Every word of the caller's is escaped."""
    title = f"Calibration audit of {record.name}"
    parts = (
        _lead, _warnings, _diagrams, _test, _event, _measures, _temperature, _classes, _groups,
        _coverage, _mistakes, _other, _method,
    )  # fmt: skip
    body = "\n".join(part(record) for part in parts)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
<main>
<h1>{escape(title)}</h1>
{body}
</main>
</body>
</html>
"""


# --- words and tables ---


def _percent(value: float, digits: int = 1) -> str:
    """A fraction in per cent, with a true minus sign, on one line.

    >>> _percent(0.1234) == "12.3\N{NO-BREAK SPACE}%", _percent(-0.05, 0)[:2], _percent(math.nan)
    (True, '−5', '–')
    """
    if not math.isfinite(value):
        return "–"
    return f"{value * 100:.{digits}f}{PERCENT}".replace("-", "−")


def _number(name: str, value: float, *, signed: bool = False) -> str:
    if not math.isfinite(value):
        return "∞" if value == math.inf else "–"
    sign = "+" if signed else ""
    text = f"{value * 100:{sign}.2f}{PERCENT}" if name in SHARES else f"{value:{sign}.4f}"
    return text.replace("-", "−")


def _cell(name: str, estimate: Estimate, *, signed: bool = False) -> str:
    value, low, high = (
        _number(name, number, signed=signed)
        for number in (estimate.value, estimate.low, estimate.high)
    )
    strong = f"<strong>{value}</strong>" if signed and estimate.clear else value
    if not estimate.known:
        return strong
    # the value above has the sign of per cent
    return f"{strong}<small>{low.removesuffix(PERCENT)} to {high.removesuffix(PERCENT)}</small>"


def _table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in a frame that scrolls where it is wider than the page; cells are HTML."""
    columns = "".join(f'<th scope="col">{cell}</th>' if cell else "<td></td>" for cell in head)
    lines = "".join(
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in others)}</tr>\n'
        for first, *others in rows
    )
    frame = f'class="scroll" tabindex="0" role="region" aria-label="{escape(caption, quote=True)}"'
    return (
        f"<div {frame}>"
        f'<table class="words"><caption>{escape(caption)}</caption>'
        f"<thead><tr>{columns}</tr></thead>\n"
        f"<tbody>{lines}</tbody></table></div>"
    )


def _tendency(gap: Estimate) -> str:
    if not gap.clear:
        return "neither over- nor under-confident on average, as far as these samples can tell"
    word = "over-confident" if gap.value > 0 else "under-confident"
    ends = sorted((abs(gap.low), abs(gap.high)))
    return (
        f"{word} by {abs(gap.value) * 100:.1f} points on average "
        f"({ends[0] * 100:.1f} to {ends[1] * 100:.1f})"
    )


# --- sections ---


def _lead(record: Record) -> str:
    show, off = record.measures, record.off
    of_rows = ", weighted," if record.weighted else ""
    of_rows += f" in {record.clusters:,} clusters" if record.clusters else ""
    of_classes = "" if record.of_hits else f" of {record.rows.classes:,} classes"
    text = (
        f"On {len(record.rows):,} samples{of_rows}{of_classes} it is "
        f"right in {_percent(show['accuracy'].value)} of cases and says "
        f"{_percent(show['confidence'].value)}: {_tendency(show['gap'])}."
    )
    if record.binary is not None:
        text += f" {_beside_usual(record)}"
    if off:
        named = ", ".join(map(escape, off[:NAMED])) + (" …" if len(off) > NAMED else "")
        text += f" <strong>Groups off by more than luck: {named}.</strong>"
    return f'<p class="lead">{text}</p>'


def _beside_usual(record: Record) -> str:
    """What a binary model is right on beside what always naming one class is."""
    assert record.binary is not None
    right = _percent(record.measures["accuracy"].value, 2)
    usual = escape(record.binary.usual)
    return (
        f"Always <em>{usual}</em> is right on {_percent(record.binary.most, 2)}; this model on "
        f"{right}."
    )


def _warnings(record: Record) -> str:
    if not record.warnings:
        groups = "" if record.groups is None else ", and no group is off by more than luck explains"
        said = f"<p>Nothing odd was found in the data{groups}.</p>"
        return f'<div class="fine">{said}</div>' if _fine(record) else said
    points = "".join(f"<li>{escape(text[:1].upper() + text[1:])}.</li>" for text in record.warnings)
    opening = "<p><strong>Before you trust the numbers</strong></p>"
    return f'<div class="warn">{opening}<ul>{points}</ul></div>'


def _fine(record: Record) -> bool:
    """Whether nothing below is off: neither the whole nor a group or class."""
    off = record.classes["flag"].str.contains("off").any() or bool(record.off)
    return record.test.p_value >= ALPHA and not off


def _diagrams(record: Record) -> str:
    before = figures.reliability(record.shown[0], "as it is", record.level)
    after = ""
    if not record.cooling.misfit:
        title = f"after temperature {record.cooling.value:.2f}"
        after = figures.reliability(record.shown[1], title, record.level)
    return (
        "<h2>How sure, how often right?</h2>"
        "<p>Each bar holds the samples of one range of confidence. A calibrated model reaches the "
        "diagonal: of what it calls 80 % sure, 80 % is right.</p>"
        f'<div class="row">{before}{after}{figures.keys(record.level)}</div>'
    )


def _test(record: Record) -> str:
    test = record.test
    off = test.p_value < ALPHA
    verdict = (
        "Luck alone hardly explains this: the model is not calibrated."
        if off
        else "Luck alone could explain this: the test finds no error of calibration."
    )
    rows = [(_points(size), _percent(share, 0)) for size, share in record.power.items()]
    seen = [size for size, share in record.power.items() if share >= 0.8]
    reach = (
        f"An over-confidence of {_points(seen[0])} would be found in at least 80 % of such "
        f"test sets."
        if seen
        else "Not even 10 points of over-confidence would be found in 80 % of such test sets: this "
        "test set is too small to say much."
    )
    return (
        "<h2>Is it more than luck?</h2>"
        f"<p>The ECE is {_percent(test.error, 2)}. A perfectly calibrated model with the same "
        f"confidences would show {_percent(test.expected, 2)} on so many samples by luck alone "
        f"({_p(test.p_value)}; Spiegelhalter's z = {test.z:.2f}, {_p(test.p_value_z)}). "
        f"<strong>{verdict}</strong></p><p>{reach}</p>"
        + _table("Power: what the test at 5 % would find", ("over-confident by", "found in"), rows)
    )


def _points(size: float) -> str:
    return "1 point" if size == 0.01 else f"{size * 100:g} points"


def _p(value: float) -> str:
    return escape(p_words(value))


def _event(record: Record) -> str:
    """What a page of a binary model says of its event."""
    it = record.binary
    if it is None:
        return ""
    event = escape(it.event)
    gap = f"{_number('gap', it.gap.value, signed=True)}{_ends('gap', it.gap)}"
    picture = figures.reliability(it.curve, f"P({it.event})", record.level, of_event=True)
    return (
        f"<h2>The event: {event}</h2>"
        f"<p>It is predicted with {_percent(it.said, 2)} in the mean and came in "
        f"{_percent(it.rate, 2)} of cases, a difference of {gap}. The probability of the event has "
        f"an ECE of {_number('ece', it.ece.value)}{_ends('ece', it.ece)}, by luck alone "
        f"{_percent(it.test.expected, 2)} ({_p(it.test.p_value)}), and an AUC of "
        f"{_number('auc', it.auc.value)}{_ends('auc', it.auc)}.</p>"
        f'<div class="row">{picture}{figures.keys(record.level, of_event=True)}</div>'
        + _maps(record, it)
        + _benefit(it)
        + _costs(record, it)
    )


def _ends(name: str, estimate: Estimate) -> str:
    """The interval in brackets, or nothing."""
    if not estimate.known:
        return ""
    low, high = (_number(name, end, signed=name == "gap") for end in (estimate.low, estimate.high))
    return f" ({low} to {high})"


def _maps(record: Record, it: Binary) -> str:
    """Temperature and Platt scaling beside the model as it is."""
    words = {"nll": "NLL, nats", "brier": "Brier score, (p − y)²", "ece": "ECE of the event"}
    shown = [name for name in it.maps if name != "temperature" or not record.cooling.misfit]
    rows = []
    for name in MAPPED:
        cells = [_cell(name, it.maps[shown[0]][name])]
        for other in shown[1:]:
            less = _cell(name, it.gain[other][name], signed=True)
            cells += [_number(name, it.maps[other][name].value), less]
        rows.append([words[name], *cells])
    head = ["", "as it is", *(h for name in shown[1:] for h in (name, "difference"))]
    each = " and ".join(f"{slope:.3f} s {shift:+.3f}" for slope, shift in it.platt)
    how = (
        f"Platt scaling, log odds {each.replace('-', '−')} of the log odds s, can move the mean "
        f"prediction to the rate of the event; one temperature cannot."
        if it.platt
        else "Platt scaling has no finite best map here: the scores part the two classes."
    )
    return f"<p>{how}{_beyond(record, it)}</p>" + _table("Temperature or Platt scaling", head, rows)


def _beyond(record: Record, it: Binary) -> str:
    """Which of the two has the lower NLL, in a sentence."""
    if record.cooling.misfit or BEYOND not in it.gain:
        return ""
    less = it.gain[BEYOND]["nll"]
    value, ends = _number("nll", less.value, signed=True), _ends("nll", less)
    if not less.clear:
        return f" Its NLL less that of the temperature is {value}{ends}: neither is clearly better."
    better = "Platt scaling" if less.value < 0 else "the temperature"
    return f" Its NLL less that of the temperature is {value}{ends}: {better} is clearly better."


def _benefit(it: Binary) -> str:
    rows = [
        (
            _percent(row.threshold, 0),
            _percent(row.acted),
            _percent(row.found, 2),
            _percent(row.alarms, 2),
            f"{row.benefit:+.4f}".replace("-", "−"),
            f"{row.all:+.4f}".replace("-", "−"),
        )
        for row in it.benefit.itertuples()
    ]
    head = ("act from", "acts on", "events found", "false alarms", "net benefit", "acting on all")
    return (
        "<h3>What a threshold costs</h3>"
        "<p>Whoever acts from a probability t on takes (1 − t) / t false alarms for one event "
        "found. The net benefit is the share of events found less that of false alarms times "
        "t / (1 − t); acting on nobody is worth 0. A threshold pays where its net benefit is above "
        "0 and above that of acting on all.</p>"
        + _table("Net benefit by threshold (score at or above it)", head, rows)
    )


def _costs(record: Record, it: Binary) -> str:
    """What decisions cost now and after a map, where a false alarm and a miss have a price."""
    paid = it.costs
    if paid is None:
        return ""
    lone = [("act on all", paid.all), ("act on none", paid.none)]
    rows = [*_paid_rows(record, paid), *_lone_rows(lone)]
    head = ("", "100 rows cost", "difference", "acts on", "events missed", "false alarms")
    return (
        "<h3>What miscalibration costs</h3>"
        f"<p>A false alarm costs {paid.alarm:g}, a miss {paid.miss:g}. So of a calibrated "
        f"probability it is cheapest to act from {_percent(paid.threshold, 2)} on. "
        f"{_costs_in_words(record, it)} A difference is paired, row by row, and bold where its "
        "interval leaves 0 out; an interval stands only where at least five misses decide it.</p>"
        + _table("Cost of decisions", head, rows)
    )


def _paid_rows(record: Record, paid: Costs) -> Iterator[list[str]]:
    """A row a model: what 100 rows cost, and which of them are decided how."""
    for name, one in paid.models.items():
        if name == "temperature" and record.cooling.misfit:
            continue
        less = "" if one.less is None else _hundred(one.less, signed=True)
        shares = (_percent(share, 2) for share in (one.acted, one.missed, one.alarms))
        yield [name, _hundred(one.cost), less, *shares]


def _lone_rows(costs: Iterable[tuple[str, float]]) -> list[list[str]]:
    """A row for what decides without a model, with nothing but its cost."""
    return [[name, _hundred(Estimate(x, math.nan, math.nan)), "", "", "", ""] for name, x in costs]


def _costs_in_words(record: Record, it: Binary) -> str:
    """What the temperature changes in the cost, in a sentence."""
    assert it.costs is not None
    if record.cooling.misfit:
        return "No temperature fits, so that none is compared."
    less = it.costs.models["temperature"].less
    assert less is not None
    if not less.clear:
        return "Whether a temperature changes the cost, these rows cannot tell."
    word = "less" if less.value < 0 else "more"
    ends = sorted(100 * abs(end) for end in (less.low, less.high))
    return (
        f"<strong>After a temperature 100 rows cost {100 * abs(less.value):.1f} {word} "
        f"({ends[0]:.1f} to {ends[1]:.1f}).</strong>"
    )


def _hundred(found: Estimate, *, signed: bool = False) -> str:
    """The cost of 100 rows with its interval below."""
    sign = "+" if signed else ""
    value, low, high = (
        f"{100 * x:{sign}.1f}".replace("-", "−") for x in (found.value, found.low, found.high)
    )
    strong = f"<strong>{value}</strong>" if signed and found.clear else value
    return f"{strong}<small>{low} to {high}</small>" if found.known else strong


def _measures(record: Record) -> str:
    fits = not record.cooling.misfit
    rows = _compared(record.measures, record.cooled, record.gain)
    head = ["measure", "as it is", "with temperature", "difference"]
    if not fits:
        rows, head = (row[:2] for row in rows), head[:2]
    return (
        "<h2>Every measure with its interval</h2>"
        f"<p>Below each value stands its {_percent(record.level, 0)} interval; differences are "
        f"paired, sample by sample, and bold where the interval leaves 0 out. "
        f"{_without(record.measures, record.gain)}</p>"
        + _table("Measures", head, rows)
        + '<p class="note">Signed gap: mean confidence less accuracy. Adaptive: bins of equal '
        "counts. Debiased: the root of a mean square, to be compared with itself alone. Smooth: "
        "without bins. MCE: the worst bin. AURC: the share of wrong answers, in the mean over all "
        "coverages.</p>"
    )


def _without(values: Estimates, differences: Estimates) -> str:
    """One sentence on what has no interval, and why."""
    lone = ", ".join(missing(values))
    paired = ", ".join(name for name in missing(differences) if name not in missing(values))
    said = [f"{lone} have none"] if lone else []
    said += [f"the differences of {paired} have none"] if paired else []
    if not said:
        return ""
    reason = "where the truth is known, no interval that we tried covers it as often as it says"
    return f"{'; '.join(said)[:1].upper()}{'; '.join(said)[1:]}: {reason}."


def _compared(first: Estimates, second: Estimates, difference: Estimates) -> Iterator[list[str]]:
    """A row a measure."""
    for name, words in NAMES.items():
        last = _cell(name, difference[name], signed=True)
        yield [escape(words), _cell(name, first[name]), _cell(name, second[name]), last]


def _temperature(record: Record) -> str:
    cooling, advice = record.cooling, record.advice
    head = "<h2>What one temperature buys</h2>"
    if cooling.misfit:
        return f"{head}<p><strong>{escape(advice.words)}.</strong></p>"
    if cooling.crossed:
        each = " and ".join(f"{value:.3f}" for value in cooling.fitted)
        how = (
            f"The test set was halved at random: the temperatures of the halves are {each}, and "
            f"each half was divided by that of the other, so that no sample judges itself."
        )
    else:
        how = "It was fitted on the calibration data given, which the test set had no part in."
    fractions = ", with probabilities as fractions" if "(prob" in advice.line else ""
    run = f"<p>To use it{fractions}: <code>{escape(advice.line)}</code></p>"
    line = run if advice.line else ""
    return (
        f"{head}<p>Logits divided by T = <strong>{cooling.value:.3f}</strong> "
        f"({_percent(record.level, 0)} interval {cooling.low:.3f} to {cooling.high:.3f}) have the "
        f"least negative log likelihood; {escape(advice.means)}. {how}</p>"
        f"<p>It changes: {_bought(record)}. The predicted classes stay the same. "
        f"<strong>{escape(advice.words)}.</strong></p>{line}"
    )


def _bought(record: Record) -> str:
    """What the temperature changes in three measures."""
    three = {"ece": "ECE", "nll": "NLL", "brier": "Brier score"}
    parts = []
    for name, words in three.items():
        change = record.gain[name]
        ends = ""
        if change.known:
            low, high = (_number(name, end, signed=True) for end in (change.low, change.high))
            ends = f" ({low} to {high})"
        parts.append(f"{words} {_number(name, change.value, signed=True)}{ends}")
    return "; ".join(parts)


def _classes(record: Record) -> str:
    if record.of_hits:
        return ""
    table = record.classes
    off = int(table["flag"].str.contains("off").sum())
    rare = table[table["flag"].str.contains("rare|no sample")]
    shown = table if len(table) <= ALL else table.head(LISTED)
    least = table.sort_values("samples", kind="stable").head(5)
    extra = least[~least.index.isin(shown.index)] if len(rare) else least.head(0)
    what = "all classes" if len(shown) == len(table) else f"the {len(shown)} that are off most"
    what += f" and the {len(extra)} rarest others" if len(extra) else ""
    return (
        "<h2>Class by class</h2>"
        f"<p>{off} of {len(table):,} classes are off: of what is predicted as them, the share that "
        f"is right is further from the confidence than luck explains (5 % in all classes "
        f"together). {len(rare):,} classes are rare: fewer than 10 samples, or than a quarter of "
        f"an equal share; little can be said of each.</p>"
        + _table(
            f"Classes: {what}",
            ("class", "samples", "found", "predicted", "says", "is right", "gap", ""),
            _class_rows(pd.concat([shown, extra])),
        )
        + '<p class="note">"found" is the share of the samples of the class that are predicted as '
        'it; "says" and "is right" are of the samples predicted as it.</p>'
    )


def _class_rows(table: pd.DataFrame) -> Iterator[tuple[str, ...]]:
    for row in table.itertuples():
        yield (
            escape(row.name),
            f"{row.samples:,}",
            _percent(row.recall),
            f"{row.predicted:,}",
            _percent(row.said),
            _percent(row.right),
            _number("gap", row.gap, signed=True),
            escape(row.flag),
        )


def _groups(record: Record) -> str:
    table = record.groups
    if table is None:
        return ""
    off = table[table["flag"] == "off"]["name"].tolist()
    verdict = (
        f"Off by more than luck (5 % in all groups together): {', '.join(map(escape, off))}."
        if off
        else "No group is off by more than luck explains."
    )
    fits = not record.cooling.misfit
    head = ["group", "samples", "accuracy", "gap", "gap with temperature", "ECE", ""]
    if not fits:
        head.remove("gap with temperature")
    return (
        "<h2>Group by group</h2>"
        f"<p>A model that is calibrated on the whole may be over-confident on one group and "
        f"under-confident on another. {verdict}</p>"
        + figures.gaps(table, record.level)
        + _table("Groups", head, _group_rows(table, fits=fits))
        + f'<p class="note">Below each gap stands its {_percent(record.level, 0)} interval. '
        f"{LEFT if fits else ''}The ECE of a small group is large by luck alone; compare gaps.</p>"
    )


def _group_rows(table: pd.DataFrame, *, fits: bool) -> Iterator[list[str]]:
    """fits: whether a temperature fits, so that it leaves a gap."""
    for row in table.itertuples():
        gap = _cell("gap", Estimate(row.gap, row.low, row.high), signed=True)
        left = _cell("gap", Estimate(row.gap_left, row.low_left, row.high_left), signed=True)
        yield [
            escape(row.name),
            f"{row.samples:,}",
            _percent(row.accuracy),
            *([gap, left] if fits else [gap]),
            _number("ece", row.ece),
            escape(row.flag),
        ]


def _coverage(record: Record) -> str:
    share, risk, table = record.coverage
    aurc = record.measures["aurc"]
    rows = [
        (_percent(row.coverage, 0), f"{row.threshold:.4f}", _percent(row.risk, 2))
        for row in table.itertuples()
    ]
    return (
        "<h2>Leaving the unsure to somebody else</h2>"
        "<p>Answer only where the confidence is high enough: the curve says what share of the "
        f"answers is then wrong. Its mean over all coverages is the AURC, "
        f"{_number('aurc', aurc.value)}{_ends('aurc', aurc)}; a confidence that says nothing would "
        f"have {_percent(float(risk[-1]), 2)}.</p>"
        '<div class="row">'
        + figures.coverage(share, risk)
        + _table("Coverage and risk", ("answered", "confidence from", "wrong"), rows)
        + "</div>"
        + _deferral(record)
    )


def _deferral(record: Record) -> str:
    """What acting on answers costs, now and after a map, where looking one up has a price."""
    paid = record.deferral
    if paid is None:
        return ""
    head = (
        "",
        "100 answers cost",
        "difference",
        "looked up",
        "wrong, acted on",
        "right, looked up",
    )
    lone = [("look all up", paid.all), ("look none up", paid.none)]
    return (
        "<h3>Which answers to look up</h3>"
        f"<p>Looking an answer up costs {paid.alarm:g}, acting on a wrong one {paid.miss:g}. So "
        f"with a calibrated confidence it is cheapest to look up what is wrong with a probability "
        f"above {_percent(paid.threshold, 2)}: what has a confidence below "
        f"{_percent(1 - paid.threshold, 2)}. {_deferral_in_words(record, paid)} A difference is "
        "paired, row by row, and bold where its interval leaves 0 out; an interval stands only "
        "where at least five wrong answers that are acted on decide it.</p>"
        + _table("Cost of answers", head, [*_paid_rows(record, paid), *_lone_rows(lone)])
    )


def _deferral_in_words(record: Record, paid: Costs) -> str:
    """What Platt scaling of the confidence changes in the cost, in two sentences."""
    if "Platt" not in paid.models:
        return "No map of the confidence could be fitted, so that none is compared."
    ends = " and ".join("never" if math.isnan(x) else _percent(x, 2) for x in paid.stated)
    less = paid.models["Platt"].less
    assert less is not None
    fitted = "each half by the other" if record.cooling.crossed else "by the calibration data"
    how = f"Platt scaling, {fitted}, reaches that at a stated confidence of {ends}. "
    if not less.clear:
        return f"{how}Whether it changes the cost, these rows cannot tell."
    word = "less" if less.value < 0 else "more"
    low, high = sorted(100 * abs(end) for end in (less.low, less.high))
    return (
        f"{how}<strong>After it 100 answers cost {100 * abs(less.value):.1f} {word} "
        f"({low:.1f} to {high:.1f}).</strong>"
    )


def _sure(confidence: float) -> str:
    """Not "100.00 %" where something is left."""
    return f"&gt; 99.99{PERCENT}" if 0.99995 <= confidence < 1 else _percent(confidence, 2)


def _mistakes(record: Record) -> str:
    if not len(record.mistakes):
        return "<h2>The surest mistakes</h2><p>There is no mistake in this test set.</p>"
    rows = [
        (
            f"{row.index_}",
            escape(row.predicted),
            escape(row.label),
            _sure(row.confidence),
            _percent(row.of_label, 2),
        )
        for row in record.mistakes.rename(columns={"index": "index_"}).itertuples(index=False)
    ]
    head = ("row", "predicted", "label", "said", "gave the label")
    return (
        f"<h2>The {len(rows)} surest mistakes</h2>"
        "<p>Look at these samples: wrong labels, strange inputs and classes that overlap come to "
        "light here first. Rows are counted from 0.</p>"
        + _table("Surest mistakes, by row", head, rows)
    )


def _other(record: Record) -> str:
    if record.other is None or record.difference is None:
        return ""
    rows = _compared(record.measures, record.other, record.difference)
    head = ("measure", escape(record.name), escape(record.other_name), "difference")
    own = ", each by whether its own answers are right" if record.of_hits else ""
    return (
        f"<h2>Beside {escape(record.other_name)}</h2>"
        f"<p>Both models are judged on the same samples{own}, and intervals are those of paired "
        "differences, sample by sample. The difference is the second model less the first; bold "
        f"where its interval leaves 0 out. {_without(record.other, record.difference)}</p>"
        + _table("Two models on one test set", head, rows)
    )


def _method(record: Record) -> str:
    version = sys.modules["calibkit"].__version__
    units = "clusters" if record.clusters else "rows"
    weighed = " Weights count by their ratios alone." if record.weighted else ""
    return (
        "<h2>How this was made</h2>"
        f"<p>calibkit {version}: {record.bins} bins of equal width, closed on the right; "
        f"{_percent(record.level, 0)} intervals from {units} that are independent of one another, "
        f"seed {record.seed}. Accuracy has Wilson's, means have Student's with a term for their "
        f"skewness. The lower end of a binned error is the scale of its gaps for which luck shows "
        f"as much in few samples ({record.resamples} draws). An interval is printed only where a "
        f"simulation with known truth, of 200 to 20,000 rows and errors of 0 to 12 %, covers it "
        f"within 5 points of its level.{weighed} The intervals of the temperature's effect hold "
        f"for these temperatures, and leave out what another draw of them would change. Sums are "
        f"in float64. Calibration here is of the predicted class, but for the classwise ECE, the "
        f"likelihood and the Brier score, which look at all classes.</p>"
    )
