"""The numbers of an audit as JSON, after the schema in `audit.schema.json`."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibkit.auditing.costs import Costs
from calibkit.auditing.measures import Estimate
from calibkit.metrics import CalibrationTest, Reliability

if TYPE_CHECKING:
    from calibkit.auditing.audits import Audit

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
