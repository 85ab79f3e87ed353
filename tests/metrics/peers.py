"""What do twelve libraries compute under the name ECE? `python -m tests.metrics.peers` asks them.

It writes the table of notebooks/what_your_ece_computes.md anew; `pip install -e ".[peers]"` brings
the versions. Each row is a call by the library's own name, for 15 bins where it may be told, and
else by default.
"""

import datetime
import functools
import importlib.metadata
import inspect
import warnings
from pathlib import Path

import numpy as np
import torch

from calibkit.metrics.conventions import follows

PAGE = Path(__file__).parents[2] / "notebooks" / "what_your_ece_computes.md"
BEGIN, END = "<!-- the table begins -->", "<!-- the table ends -->"
COPIED = "a function that public benchmarks copied"
PACKAGES = {"MAPIE": "mapie", "MCGrad": "mcgrad", "calzone": "calzone-tool"}  # called otherwise


def top(probs, labels):
    return probs.max(1), (probs.argmax(1) == labels).astype(int)


def benchmarks(probs, labels, beta=100):
    """Runs of `beta` sorted confidences, of which the last is left out, as benchmarks copied it."""
    confidence, correct = top(probs, labels)
    order = np.argsort(confidence, kind="stable")
    runs = [order[i * beta : (i + 1) * beta] for i in range(len(order) // beta)]
    runs[-1] = order[(len(runs) - 1) * beta :]
    gaps = [len(r) * abs(confidence[r].mean() - correct[r].mean()) for r in runs[:-1]]
    return sum(gaps) / len(order)


def rows():
    """(library, call as written, callable of probabilities, labels and bins, its own default)."""
    import calibration
    import mcgrad.metrics
    import netcal.metrics
    import probcal.metrics
    import pycalib.metrics
    import relplot
    from calzone.metrics import CalibrationMetrics
    from mapie.metrics.calibration import expected_calibration_error as mapie
    from probmetrics.metrics import Metrics
    from torch_uncertainty.metrics.classification.calibration import AdaptiveCalibrationError
    from torch_uncertainty.metrics.classification.calibration import CalibrationError as Uncertain
    from torchmetrics.functional.classification import multiclass_calibration_error

    from calibkit import metrics

    def tensors(call):
        return lambda p, y, bins: call(torch.tensor(p), torch.tensor(y), bins)

    def uncertain(metric):
        return tensors(
            lambda p, y, b: metric("multiclass", num_bins=b, num_classes=p.shape[1])(p, y)
        )

    def probmetrics(p, y, b):
        return Metrics.from_names([f"ece-{b}"]).compute_all_from_labels_probs(y, p)[f"ece-{b}"]

    def calzone(key):
        return lambda p, y, bins: CalibrationMetrics(
            class_to_calculate=1, num_bins=bins
        ).calculate_metrics(y, p, metrics=[key])[f"{key} topclass"]

    def default(function, name="num_bins"):
        return inspect.signature(function).parameters[name].default

    for ours in (metrics.ece, metrics.ada_ece):
        call = lambda p, y, bins, ours=ours: ours(p, y, bins=bins)  # noqa: E731
        yield "calibkit", ours.__name__, call, default(ours, "bins")
    multiclass = multiclass_calibration_error
    yield (
        "torchmetrics",
        multiclass.__name__,
        tensors(lambda p, y, b: multiclass(p, y, p.shape[1], n_bins=b)),
        default(multiclass, "n_bins"),
    )
    # of these two the classes are made by __new__, which has the defaults
    for metric in (Uncertain, AdaptiveCalibrationError):
        yield "torch-uncertainty", metric.__name__, uncertain(metric), default(metric.__new__)
    yield (
        "netcal",
        "ECE",
        lambda p, y, bins: netcal.metrics.ECE(bins).measure(p, y),
        default(netcal.metrics.ECE, "bins"),
    )
    for strategy in ("uniform", "quantile", "array split"):
        yield (
            "MAPIE",
            f'expected_calibration_error, "{strategy}"',
            lambda p, y, bins, s=strategy: mapie(*top(p, y)[::-1], num_bins=bins, split_strategy=s),
            default(mapie),
        )
    yield "probmetrics", "ece-15", tensors(probmetrics), "in its name"
    for call in (calibration.get_ece, calibration.get_ece_em):
        measure = lambda p, y, bins, call=call: call(p, y, num_bins=bins)  # noqa: E731
        yield "uncertainty-calibration", call.__name__, measure, default(call)
    yield "relplot", "smECE", lambda p, y, bins: relplot.smECE(*top(p, y)), "none"
    conf_ece = pycalib.metrics.conf_ECE
    yield (
        "pycalib",
        "conf_ECE",
        lambda p, y, bins: conf_ece(y, p, bins=bins),
        default(conf_ece, "bins"),
    )
    expected = mcgrad.metrics.expected_calibration_error
    yield (
        "MCGrad",
        expected.__name__,
        lambda p, y, bins: expected(*top(p, y)[::-1], num_bins=bins),
        default(expected),
    )
    yield (
        "probcal",
        "ece",
        lambda p, y, bins: probcal.metrics.ece(*top(p, y)[::-1], n_bins=bins),
        default(probcal.metrics.ece, "n_bins"),
    )
    for key in ("ECE-H", "ECE-C"):
        yield "calzone", f"{key}, topclass", calzone(key), default(CalibrationMetrics.__init__)
    yield COPIED, "calib_err, p=1", lambda p, y, bins: benchmarks(p, y), "runs of 100"


def steps():
    """2,158 predictions in steps of 5 %, over- and under-confident by 8 points by turns."""
    draw = np.random.default_rng(1)
    stated = draw.choice(np.arange(10, 21) / 20, size=2158)
    off = np.where((stated * 20).round().astype(int) % 2 == 0, -0.08, 0.08)
    right = draw.random(2158) < np.clip(stated + off, 0, 1)
    best, other = draw.integers(0, 3, 2158), draw.integers(1, 3, 2158)
    probs = np.repeat((1 - stated)[:, None] / 2, 3, axis=1)
    probs[np.arange(2158), best] = stated
    return probs, np.where(right, best, (best + other) % 3)


def table():
    """One row a call, in Markdown."""
    lines = ["| library | call | its own bins | in points | follows |", "|---|---|---|---|---|"]
    for library, call, measure, default in rows():
        name = PACKAGES.get(library, library)
        version = "" if library == COPIED else f" {importlib.metadata.version(name)}"
        words = placed(follows(functools.partial(measure, bins=15), bins=15))
        with_ten = placed(follows(functools.partial(measure, bins=10), bins=10))
        if with_ten.split(";")[0] != words.split(";")[0]:
            words += f"; with 10 bins: {with_ten.split(';')[0]}"
        points = 100 * float(measure(*steps(), bins=15))
        lines.append(f"| {library}{version} | `{call}` | {default} | {points:.2f} | {words} |")
    return "\n".join(lines)


def placed(found):
    """What `follows` found, in the words of a cell."""
    words = " or ".join(found.names)
    if not words and 2 * len(found.departures) <= found.answered:
        words = f"nearest {found.nearest}; leaves it on {', '.join(found.departures)}"
    if found.failures:
        words = f"{words or 'none'}; no number on {len(found.failures)} of the cases"
    return (words or "none") + "; depends on the order of the rows" * bool(found.order)


def main():
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    made = f"{BEGIN}\n\nMade on {datetime.date.today()}.\n\n{table()}\n\n{END}"
    PAGE.write_text(before + made + after, encoding="utf-8")
    print(f"{PAGE}: the table is written anew")


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # of the libraries; they would stand between the rows
    main()
