"""The audit as one page that loads nothing and runs nothing, as lines of text, and as JSON."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from calibkit.auditing import figures
from calibkit.auditing.binary import BEYOND, MAPPED, Binary, Costs
from calibkit.auditing.findings import ALPHA
from calibkit.auditing.intervals import LEVEL
from calibkit.auditing.measures import NAMES, SHARES, Estimate, missing, p_words
from calibkit.metrics import CalibrationTest, Reliability
from calibkit.pictures import palette

if TYPE_CHECKING:
    from calibkit.auditing.audits import Audit

PERCENT = "\N{NO-BREAK SPACE}%"
LISTED, ALL = 15, 20  # classes in the table; all of them where there are no more than ALL
EVENT = {"nll": "NLL, nats", "brier": "Brier score, (p − y)²", "ece": "ECE of the event"}


def html(record: Audit) -> str:
    """The whole page."""
    event, fits = record.binary, not record.cooling.misfit
    off = record.classes["flag"].str.contains("off").any() or bool(record.off)
    return PAGE.get_template("page.html.j2").render(
        it=record,
        show=record.measures,
        event=event,
        fits=fits,
        NAMES=NAMES,
        ALPHA=ALPHA,
        fine=record.test.p_value >= ALPHA and not off,
        draw=Drawn(),
        colour=palette,
        version=sys.modules["calibkit"].__version__,
        without=without,
        power=[(points(size), percent(share, 0)) for size, share in record.power.items()],
        seen=[size for size, share in record.power.items() if share >= 0.8],
        classes=_classes(record.classes),
        estimate=Estimate,
        **({} if event is None else _event(event, fits)),
    )


def lines(record: Audit) -> str:
    """What the command prints."""
    fits = not record.cooling.misfit
    told = {"it": record, "show": record.measures, "event": record.binary, "fits": fits}
    return PAGE.get_template("page.txt.j2").render(told).strip()


class Drawn:
    """The pictures, which are HTML already."""

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **options: Markup(getattr(figures, name)(*args, **options))


# --- numbers in words ---


def percent(value: float, digits: int = 1) -> str:
    """A fraction in per cent, with a true minus sign, on one line."""
    return f"{value * 100:.{digits}f}{PERCENT}".replace("-", "−") if math.isfinite(value) else "–"


def number(value: float, name: str, signed: bool = False) -> str:
    if not math.isfinite(value):
        return "∞" if value == math.inf else "–"
    sign = "+" if signed else ""
    text = f"{value * 100:{sign}.2f}{PERCENT}" if name in SHARES else f"{value:{sign}.4f}"
    return text.replace("-", "−")


def cell(it: Estimate, name: str, signed: bool = False) -> str:
    """A value, bold where it is clear, with its interval below."""
    return stacked(it, [number(x, name, signed) for x in (it.value, it.low, it.high)], signed)


def hundred(it: Estimate | float, signed: bool = False) -> str:
    """The cost of 100 rows with its interval below."""
    it = it if isinstance(it, Estimate) else Estimate(it, math.nan, math.nan)
    sign = "+" if signed else ""
    texts = [f"{100 * x:{sign}.1f}".replace("-", "−") for x in (it.value, it.low, it.high)]
    return stacked(it, texts, signed)


def stacked(it: Estimate, texts: list[str], signed: bool) -> Markup:
    text = Markup("<strong>{}</strong>" if signed and it.clear else "{}").format(texts[0])
    ends = (end.removesuffix(PERCENT) for end in texts[1:])  # the value above has the sign
    return text + Markup("<small>{} to {}</small>").format(*ends) if it.known else text


def in_words(it: Estimate, name: str, signed: bool = False) -> str:
    """A value with its interval in brackets."""
    value, low, high = (number(x, name, signed) for x in (it.value, it.low, it.high))
    return f"{value} ({low} to {high})" if it.known else value


def tendency(gap: Estimate) -> str:
    if not gap.clear:
        return "neither over- nor under-confident on average, as far as these samples can tell"
    low, high = sorted((abs(gap.low), abs(gap.high)))
    word = "over-confident" if gap.value > 0 else "under-confident"
    ends = f"({low * 100:.1f} to {high * 100:.1f})"
    return f"{word} by {abs(gap.value) * 100:.1f} points on average {ends}"


def dearer(less: Estimate, what: str, unclear: str) -> str:
    """How much more or less 100 rows cost, in a sentence."""
    if not less.clear:
        return unclear
    low, high = sorted(100 * abs(end) for end in (less.low, less.high))
    word = "less" if less.value < 0 else "more"
    return Markup(
        f"<strong>{what} {100 * abs(less.value):.1f} {word} ({low:.1f} to {high:.1f}).</strong>"
    )


def points(size: float) -> str:
    return "1 point" if size == 0.01 else f"{size * 100:g} points"


def sure(confidence: float) -> str:
    """Not "100.00 %" where something is left.

    >>> sure(0.99996), sure(1.0)
    ('> 99.99\\xa0%', '100.00\\xa0%')
    """
    return f"> 99.99{PERCENT}" if 0.99995 <= confidence < 1 else percent(confidence, 2)


def without(values: dict[str, Estimate], differences: dict[str, Estimate], level: float) -> str:
    """One sentence on what has no interval, and why."""
    if level != LEVEL:
        return f"At a level other than {percent(LEVEL, 0)} means alone have intervals."
    paired = [name for name in missing(differences) if name not in missing(values)]
    said = [f"{', '.join(missing(values))} have none"] if missing(values) else []
    said += [f"the differences of {', '.join(paired)} have none"] if paired else []
    text = "; ".join(said)
    reason = "where the truth is known, no interval that we tried covers it as often as it says"
    return f"{text[:1].upper()}{text[1:]}: {reason}." if said else ""


PAGE = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=lambda name: name != "page.txt.j2",
    trim_blocks=True,
)
PAGE.filters |= {
    f.__name__: f
    for f in (percent, number, cell, hundred, in_words, tendency, dearer, points, sure)
}
PAGE.filters["p"] = p_words


# --- rows of tables ---


def _event(it: Binary, fits: bool) -> dict[str, Any]:
    """Temperature and Platt scaling beside the model as it is, and what thresholds are worth."""
    first, *others = [name for name in it.maps if name != "temperature" or fits]
    rows = [
        [EVENT[name], cell(it.maps[first][name], name)] + [
            text for other in others
            for text in (
                number(it.maps[other][name].value, name), cell(it.gain[other][name], name, True)
            )
        ]
        for name in MAPPED
    ]  # fmt: skip
    worth = [
        (percent(t, 0), percent(acted), percent(found, 2), percent(alarms, 2), _signed(one),
         _signed(every))
        for t, acted, found, alarms, one, every in it.net_benefit.itertuples(index=False)
    ]  # fmt: skip
    platt = " and ".join(f"{slope:.3f} s {shift:+.3f}" for slope, shift in it.platt).replace(
        "-", "−"
    )
    head = ["", "as it is", *(h for name in others for h in (name, "difference"))]
    beyond = it.gain[BEYOND]["nll"] if fits and BEYOND in it.gain else None
    return {"map_head": head, "map_rows": rows, "benefit": worth, "platt": platt, "beyond": beyond}


def _signed(value: float) -> str:
    return f"{value:+.4f}".replace("-", "−")


def _classes(table: pd.DataFrame) -> dict[str, Any]:
    rare = table["flag"].str.contains("rare|no sample")
    shown = table if len(table) <= ALL else table.head(LISTED)
    least = table.sort_values("samples", kind="stable").head(5)
    extra = least[~least.index.isin(shown.index)] if rare.any() else least.head(0)
    what = "all classes" if len(shown) == len(table) else f"the {len(shown)} that are off most"
    what += f" and the {len(extra)} rarest others" if len(extra) else ""
    rows = [
        (c.name, f"{c.samples:,}", percent(c.recall), f"{c.predicted:,}", percent(c.said),
         percent(c.right), number(c.gap, "gap", True), c.flag)
        for c in pd.concat([shown, extra]).itertuples()
    ]  # fmt: skip
    off = int(table["flag"].str.contains("off").sum())
    return {"off": off, "rare": int(rare.sum()), "what": what, "rows": rows}


SCHEMA = Path(__file__).parent / "audit.schema.json"
FORMAT = 1  # of the JSON; a later one with the same number has all of its entries
SAME = (  # fields of an `Audit` that stand there under their own names
    *("name", "clusters", "weighted", "class_names", "level", "bins", "resamples", "seed"),
    *("warnings", "measures", "test", "classes", "groups", "mistakes", "binary", "deferral"),
)


def text(record: Audit) -> str:
    """The JSON as text."""
    return json.dumps(numbers(record), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def numbers(record: Audit) -> dict[str, Any]:
    """Every number of the page by name, as the fields of an `Audit` and of its parts.

    Shares are fractions. An interval that is not to be trusted is null, an infinite value the text
    "infinity".
    """
    cooling, advice, fits = record.cooling, record.advice, not record.cooling.misfit
    found = {name: _plain(getattr(record, name)) for name in SAME}
    found |= {"format": FORMAT, "calibkit": sys.modules["calibkit"].__version__}
    found |= {"samples": len(record.rows), "clusters": record.clusters or None}
    found |= {"diagram": _plain(record.shown[0]), "coverage": _plain(record.coverage[2])}
    found["power"] = [{"overconfidence": k, "found": v} for k, v in record.power.items()]
    found["temperature"] = {
        "value": _plain(cooling.value),
        "interval": _plain((cooling.low, cooling.high)) if fits else None,
        "fitted": list(cooling.fitted),
        "crossed": cooling.crossed,
        "misfit": cooling.misfit or None,
        "verdict": advice.verdict,
        "advice": advice.words,
        "line": advice.line or None,
        "measures": _plain(record.cooled) if fits else None,
        "gain": _plain(record.gain) if fits else None,
    }
    other = {"name": record.other_name, "measures": record.other, "difference": record.difference}
    found["other"] = None if record.other is None else _plain(other)
    return found if record.deferral else {k: v for k, v in found.items() if k != "deferral"}


def _plain(value: Any) -> Any:
    """A part of a record as lists, dictionaries, texts and plain numbers."""
    if isinstance(value, float):
        infinite = "infinity" if value > 0 else "-infinity"
        return None if math.isnan(value) else infinite if math.isinf(value) else float(value)
    if isinstance(value, Estimate):
        ends = [_plain(value.low), _plain(value.high)] if value.known else None
        return {"value": _plain(value.value), "interval": ends}
    if isinstance(value, CalibrationTest):
        return _plain(value._asdict())
    if isinstance(value, Reliability):  # the bins that are filled
        sides, seen = (value.edges[:-1], value.edges[1:]), (value.confidence, value.accuracy)
        rows = zip(*(part.tolist() for part in (*sides, value.counts, *seen)), strict=True)
        keys = ("low", "high", "samples", "confidence", "accuracy")
        return [dict(zip(keys, row, strict=True)) for row in rows if row[2] > 0]
    if isinstance(value, Costs):
        models = [{"model": name, **_plain(paid)} for name, paid in value.models.items()]
        costs = ("alarm", "miss", "threshold", "none", "all")
        return {name: getattr(value, name) for name in costs} | {"models": models}
    if is_dataclass(value):
        held = {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
        return {name: one for name, one in held.items() if (name, one) != ("costs", None)}
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if hasattr(value, "columns"):  # a table
        return [_plain(dict(zip(value.columns, row, strict=True))) for row in
                zip(*(value[name].tolist() for name in value.columns), strict=True)]  # fmt: skip
    return value
