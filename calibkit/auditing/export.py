"""The numbers of an audit as JSON, after the schema in `audit.schema.json`."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibkit.auditing.measures import Estimate
from calibkit.auditing.record import Record
from calibkit.metrics import CalibrationTest, Reliability

if TYPE_CHECKING:
    import pandas as pd

    from calibkit.auditing.binary import Binary
    from calibkit.auditing.costs import Costs

SCHEMA = Path(__file__).parent / "audit.schema.json"
FORMAT = 1  # of the JSON; a later one with the same number has all of its entries


def text(record: Record) -> str:
    """The JSON as text."""
    return json.dumps(numbers(record), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def numbers(record: Record) -> dict[str, Any]:
    """Every number of the page by name.

    Shares are fractions. An interval that is not to be trusted is null, an infinite value the text
    "infinity".
    """
    return {
        "format": FORMAT,
        "calibkit": sys.modules["calibkit"].__version__,
        "name": record.name,
        "samples": len(record.rows),
        "clusters": record.clusters or None,
        "weighted": record.weighted,
        "class_names": list(record.class_names),
        "level": record.level,
        "bins": record.bins,
        "resamples": record.resamples,
        "seed": record.seed,
        "warnings": list(record.warnings),
        "measures": _estimates(record.measures),
        "diagram": _diagram(record.shown[0]),
        "test": _test(record.test),
        "power": [{"overconfidence": k, "found": v} for k, v in record.power.items()],
        "temperature": _temperature(record),
        "classes": _rows(record.classes),
        "groups": None if record.groups is None else _rows(record.groups),
        "coverage": _rows(record.coverage[2]),
        "mistakes": _rows(record.mistakes),
        "binary": None if record.binary is None else _binary(record.binary),
        **({} if record.deferral is None else {"deferral": _costs(record.deferral)}),
        "other": _other(record),
    }


def _number(value: float) -> float | str | None:
    if math.isinf(value):
        return "infinity" if value > 0 else "-infinity"
    return None if math.isnan(value) else float(value)


def _estimate(found: Estimate) -> dict[str, Any]:
    ends = [_number(found.low), _number(found.high)] if found.known else None
    return {"value": _number(found.value), "interval": ends}


def _estimates(found: dict[str, Estimate]) -> dict[str, Any]:
    return {name: _estimate(estimate) for name, estimate in found.items()}


def _test(test: CalibrationTest) -> dict[str, Any]:
    return {name: _number(value) for name, value in test._asdict().items()}


def _diagram(bins: Reliability) -> list[dict[str, Any]]:
    """The bins that are filled."""
    names = ("low", "high", "samples", "confidence", "accuracy")
    columns = (bins.edges[:-1], bins.edges[1:], bins.counts, bins.confidence, bins.accuracy)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [dict(zip(names, row, strict=True)) for row in rows if row[2] > 0]


def _temperature(record: Record) -> dict[str, Any]:
    cooling, advice = record.cooling, record.advice
    ends = None if cooling.misfit else [_number(cooling.low), _number(cooling.high)]
    return {
        "value": _number(cooling.value),
        "interval": ends,
        "fitted": list(cooling.fitted),
        "crossed": cooling.crossed,
        "misfit": cooling.misfit or None,
        "verdict": advice.verdict,
        "advice": advice.words,
        "line": advice.line or None,
        "measures": None if cooling.misfit else _estimates(record.cooled),
        "gain": None if cooling.misfit else _estimates(record.gain),
    }


def _costs(paid: Costs) -> dict[str, Any]:
    """The costs of decisions."""
    models = [
        {
            "model": name,
            "cost": _estimate(one.cost),
            "difference": None if one.less is None else _estimate(one.less),
            "acted": one.acted,
            "missed": one.missed,
            "alarms": one.alarms,
        }
        for name, one in paid.models.items()
    ]
    ends = {"alarm": paid.alarm, "miss": paid.miss, "threshold": paid.threshold}
    return ends | {"models": models, "none": paid.none, "all": paid.all}


def _binary(it: Binary) -> dict[str, Any]:
    return {
        "event": it.event,
        "rate": it.rate,
        "predicted": it.said,
        "usual": it.usual,
        "usual_accuracy": it.most,
        "gap": _estimate(it.gap),
        "ece": _estimate(it.ece),
        "auc": _estimate(it.auc),
        "test": _test(it.test),
        "diagram": _diagram(it.curve),
        "platt": [list(fit) for fit in it.platt],
        "maps": {name: _estimates(found) for name, found in it.maps.items()},
        "gain": {name: _estimates(found) for name, found in it.gain.items()},
        "net_benefit": _rows(it.benefit),
        **({} if it.costs is None else {"costs": _costs(it.costs)}),
    }


def _other(record: Record) -> dict[str, Any] | None:
    if record.other is None or record.difference is None:
        return None
    return {
        "name": record.other_name,
        "measures": _estimates(record.other),
        "difference": _estimates(record.difference),
    }


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table, with plain numbers."""
    rows = zip(*(table[name].tolist() for name in table.columns), strict=True)
    return [
        {
            name: _number(cell) if isinstance(cell, float) else cell
            for name, cell in zip(table.columns, row, strict=True)
        }
        for row in rows
    ]
