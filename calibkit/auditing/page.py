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
from calibkit.auditing.binary import BEYOND, Costs
from calibkit.auditing.findings import ALPHA
from calibkit.auditing.intervals import LEVEL
from calibkit.auditing.measures import NAMES, SHARES, Estimate, missing, p_words
from calibkit.metrics import CalibrationTest, Reliability
from calibkit.pictures import palette

if TYPE_CHECKING:
    from calibkit.auditing.audits import Audit

PERCENT = "\N{NO-BREAK SPACE}%"
LISTED, ALL = 15, 20  # classes in the table; all of them where there are no more than ALL


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
        LEVEL=LEVEL,
        seen=[size for size, share in record.power.items() if share >= 0.8],
        classes=_classes(record.classes),
        estimate=Estimate,
        BEYOND=BEYOND,
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
    text = f"{value * 100:{sign}.1f}" if name == "cost" else text  # of 100 rows
    return text.replace("-", "−")


def cell(it: Estimate, name: str, signed: bool = False) -> Markup:
    """A value, bold where it is clear, with its interval below."""
    value, *ends = (number(x, name, signed) for x in (it.value, it.low, it.high))
    text = Markup("<strong>{}</strong>" if signed and it.clear else "{}").format(value)
    ends = [end.removesuffix(PERCENT) for end in ends]  # the value above has the sign
    return text + Markup("<small>{} to {}</small>").format(*ends) if it.known else text


def in_words(it: Estimate, name: str, signed: bool = False) -> str:
    """A value with its interval in brackets."""
    value, low, high = (number(x, name, signed) for x in (it.value, it.low, it.high))
    return f"{value} ({low} to {high})" if it.known else value


def sizes(it: Estimate) -> str:
    """A hundred times its ends, without signs, the smaller first."""
    return "{:.1f} to {:.1f}".format(*sorted(100 * abs(end) for end in (it.low, it.high)))


def points(size: float) -> str:
    return "1 point" if size == 0.01 else f"{size * 100:g} points"


def sure(confidence: float) -> str:
    """Not "100.00 %" where something is left.

    >>> sure(0.99996), sure(1.0)
    ('> 99.99\\xa0%', '100.00\\xa0%')
    """
    return f"> 99.99{PERCENT}" if 0.99995 <= confidence < 1 else percent(confidence, 2)


PAGE = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=lambda name: name != "page.txt.j2",
    trim_blocks=True,
)
PAGE.filters |= {
    f.__name__: f for f in (percent, number, cell, in_words, missing, points, sizes, sure)
}
PAGE.filters["p"] = p_words


def _classes(table: pd.DataFrame) -> dict[str, Any]:
    """The classes that are listed: those that are off most, and the rarest where some are rare."""
    rare = table["flag"].str.contains("rare|no sample")
    shown = table if len(table) <= ALL else table.head(LISTED)
    least = table.sort_values("samples", kind="stable").head(5)
    extra = least[~least.index.isin(shown.index)] if rare.any() else least.head(0)
    what = "all classes" if len(shown) == len(table) else f"the {len(shown)} that are off most"
    what += f" and the {len(extra)} rarest others" if len(extra) else ""
    off = int(table["flag"].str.contains("off").sum())
    return {"off": off, "rare": int(rare.sum()), "what": what, "shown": pd.concat([shown, extra])}


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
