"""What do twelve libraries compute under the name ECE? `python -m tests.metrics.peers` asks them.

It writes the table of notebooks/what_your_ece_computes.md anew; `pip install -e ".[peers]"` brings
the versions. Each row is a call by the library's own name and defaults, at 15 bins where it may be
told.
"""

import datetime
import importlib.metadata
import warnings
from pathlib import Path

import numpy as np
import torch

from calibkit.metrics.conventions import follows

PAGE = Path(__file__).parents[2] / "notebooks" / "what_your_ece_computes.md"
BEGIN, END = "<!-- the table begins -->", "<!-- the table ends -->"
PACKAGES = {
    "calibkit": "calibkit",
    "torchmetrics": "torchmetrics",
    "torch-uncertainty": "torch-uncertainty",
    "netcal": "netcal",
    "MAPIE": "mapie",
    "probmetrics": "probmetrics",
    "uncertainty-calibration": "uncertainty-calibration",
    "relplot": "relplot",
    "pycalib": "pycalib",
    "MCGrad": "mcgrad",
    "probcal": "probcal",
    "calzone": "calzone-tool",
}


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
    """(library, call as written, callable of probabilities and labels)."""
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
        return lambda p, y: call(torch.tensor(p), torch.tensor(y))

    def lightning(metric):
        return tensors(lambda p, y: metric(num_classes=p.shape[1])(p, y))

    yield "calibkit", "ece", metrics.ece
    yield "calibkit", "ada_ece", metrics.ada_ece
    yield (
        "torchmetrics",
        "multiclass_calibration_error",
        tensors(lambda p, y: multiclass_calibration_error(p, y, p.shape[1])),
    )
    yield (
        "torch-uncertainty",
        "CalibrationError",
        lightning(
            lambda num_classes: Uncertain("multiclass", num_bins=15, num_classes=num_classes)
        ),
    )
    yield (
        "torch-uncertainty",
        "AdaptiveCalibrationError",
        lightning(
            lambda num_classes: AdaptiveCalibrationError(
                "multiclass", num_bins=15, num_classes=num_classes
            )
        ),
    )
    yield "netcal", "ECE(15)", lambda p, y: netcal.metrics.ECE(15).measure(p, y)
    for strategy in ("uniform", "quantile", "array split"):
        yield (
            "MAPIE",
            f'expected_calibration_error, "{strategy}"',
            lambda p, y, s=strategy: mapie(*top(p, y)[::-1], num_bins=15, split_strategy=s),
        )
    yield (
        "probmetrics",
        "ece-15",
        tensors(
            lambda p, y: Metrics.from_names(["ece-15"]).compute_all_from_labels_probs(y, p)[
                "ece-15"
            ]
        ),
    )
    yield "uncertainty-calibration", "get_ece", lambda p, y: calibration.get_ece(p, y, num_bins=15)
    yield (
        "uncertainty-calibration",
        "get_ece_em",
        lambda p, y: calibration.get_ece_em(p, y, num_bins=15),
    )
    yield "relplot", "smECE", lambda p, y: relplot.smECE(*top(p, y))
    yield "pycalib", "conf_ECE", lambda p, y: pycalib.metrics.conf_ECE(y, p, bins=15)
    yield (
        "MCGrad",
        "expected_calibration_error",
        lambda p, y: mcgrad.metrics.expected_calibration_error(*top(p, y)[::-1], num_bins=15),
    )
    yield "probcal", "ece", lambda p, y: probcal.metrics.ece(*top(p, y)[::-1])
    for key in ("ECE-H", "ECE-C"):
        yield (
            "calzone",
            f"{key}, topclass",
            lambda p, y, k=key: CalibrationMetrics(
                class_to_calculate=1, num_bins=15
            ).calculate_metrics(y, p, metrics=[k])[f"{k} topclass"],
        )
    yield "a function that public benchmarks copied", "calib_err, p=1", benchmarks


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
    lines = ["| library | call | in points | follows |", "|---|---|---|---|"]
    for library, call, measure in rows():
        name = PACKAGES.get(library)
        version = f" {importlib.metadata.version(name)}" if name else ""
        found = follows(measure)
        words = " or ".join(found.names) or (
            f"nearest {found.nearest}" if found.nearest else "none"
        )
        if found.nearest and found.departures:
            words += f"; leaves it on {', '.join(found.departures)}"
        if found.failures:
            words += f"; no number on {len(found.failures)} of the cases"
        if found.order:
            words += "; depends on the order of the rows"
        points = 100 * float(measure(*steps()))
        lines.append(f"| {library}{version} | `{call}` | {points:.2f} | {words} |")
    return "\n".join(lines)


def main():
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    made = f"{BEGIN}\n\nMade on {datetime.date.today()}.\n\n{table()}\n\n{END}"
    PAGE.write_text(before + made + after, encoding="utf-8")
    print(f"{PAGE}: the table is written anew")


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # of the libraries; they would stand between the rows
    main()
