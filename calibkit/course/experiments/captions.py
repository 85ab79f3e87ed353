"""Lesson 16's experiment on real sentences: German captions into English (Multi30k)."""

from __future__ import annotations

import functools
import math
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import torch
from torch.nn import functional

from calibkit import losses, metrics, recalibration, validate
from calibkit.course import checkout
from calibkit.course.experiments.tables import in_markdown, plus_minus
from calibkit.course.verdicts import Verdict, judge
from calibkit.lab import data, text, translation
from calibkit.lab.translation import Pairs, Plan

FEWER = "cross-entropy, a quarter of the sentences"
LOSSES = {
    "cross-entropy": functional.cross_entropy,
    "label smoothing .1": functools.partial(losses.label_smoothing, alpha=0.1),
    "focal, gamma 2": functools.partial(losses.focal, gamma=2.0),
    FEWER: functional.cross_entropy,
}
TEMPERATURES = (0.5, 0.75, 1.0, 1.5, 2.0)
HEADS = {
    "accuracy": ("token accuracy, %", 100),
    "ece": ("token ECE, %", 100),
    "gap": ("confidence - accuracy, %", 100),
    "nll": ("NLL", 1),
    "temperature": ("T", 1),
    "scaled_ece": ("ECE after T, %", 100),
    "greedy": ("BLEU, greedy", 1),
    "beam": ("BLEU, beam 4", 1),
}


@dataclass(frozen=True)
class Scale:
    """How one scale trains: sentences, their longest length, words of a language, the network."""

    sentences: int
    longest: int
    words: int
    width: int
    steps: int
    translated: int
    seeds: int


SCALES = {
    "laptop": Scale(3_000, 12, 1_500, 64, 600, 200, 3),
    "gpu": Scale(29_000, 40, 8_000, 256, 20_000, 1_000, 3),
}


def run(scale: str, *, seeds: Sequence[int] | None = None, root=None, jobs: int | None = None):
    """Train all losses on Multi30k; three tables: runs, temperatures, steps.

    Finished runs are kept. Raises FileNotFoundError, with the command that fetches it, where
    Multi30k is not prepared.
    """
    setting = SCALES[validate.choice("scale", scale, tuple(SCALES))]
    seeds = range(setting.seeds) if seeds is None else seeds
    texts = {s: _split(s, setting.longest, root) for s in ("train", "validation", "test")}
    tables: dict[str, list[dict]] = {"": [], "-temperatures": [], "-steps": []}
    for seed in seeds:
        train, cal, test = _pairs(texts, setting, seed)
        plans = {value: _plan(value, train, test, setting, seed) for value in LOSSES}
        trained = translation.fit_all(list(plans.values()), jobs=jobs)
        named = dict(zip(plans, trained, strict=True))
        few = test[: setting.translated]
        written = [" ".join(words) for words in texts["test"][1][: len(few)]]  # without <unk>
        tasks = [(one, cal, few, written, setting.longest) for one in trained]
        found = translation.results(_measured, tasks, jobs=jobs)
        for (value, one), measured in zip(named.items(), found, strict=True):
            own = {"value": value, "seed": seed}
            tables[""].append(own | measured["row"] | {"seconds": one.seconds})
            tables["-temperatures"] += [own | row for row in measured["temperatures"]]
            tables["-steps"] += [own | row for row in one.history.to_dict("records")]
    return {name: pd.DataFrame(rows) for name, rows in tables.items()}


def _split(split: str, longest: int, root) -> tuple[list[list[str]], list[list[str]]]:
    """The pairs of which neither sentence is longer than `longest` tokens, in both languages."""
    columns = data.load_text("multi30k", split=split, root=root).columns
    cut = zip(map(text.tokens, columns["de"]), map(text.tokens, columns["en"]), strict=True)
    kept = [pair for pair in cut if max(map(len, pair)) <= longest]
    german, english = zip(*kept, strict=True)
    return list(german), list(english)


def _pairs(texts, setting: Scale, seed: int) -> list[Pairs]:
    """Training pairs drawn by the seed, validation and test pairs, in the training's words."""
    german, english = texts["train"]
    drawn = torch.randperm(len(german), generator=validate.generator(seed))
    drawn = drawn[: setting.sentences].tolist()
    chosen = [german[i] for i in drawn], [english[i] for i in drawn]
    options = {"size": setting.words, "at_least": 2, "special": translation.SPECIAL[2:]}
    words = [text.Vocabulary.of(side, **options).words for side in chosen]
    pairs = (chosen, texts["validation"], texts["test"])
    return [Pairs(*map(translation.rows_of, pair, words), *words) for pair in pairs]


def _plan(value: str, train: Pairs, test: Pairs, setting: Scale, seed: int) -> Plan:
    """Equal numbers of steps: a quarter of the sentences is passed over four times as often."""
    tenth = max(1, setting.steps // 10)
    return Plan(
        train[: len(train) // 4] if value == FEWER else train,
        test,
        loss=LOSSES[value],
        steps=setting.steps,
        marks=tuple(range(tenth, setting.steps + 1, tenth)),
        lr=2e-3,
        width=setting.width,
        dropout=0.1,
        longest=setting.longest + 2,
        seed=seed,
    )


def _measured(
    one: translation.Run, cal: Pairs, few: Pairs, written: list[str], longest: int
) -> dict:
    """The row of a run, and its ECE and BLEU at each temperature.

    T minimises the NLL of the validation tokens. The ECE is that of all test tokens, the BLEU that
    of a few test sentences against what is `written`.
    """
    test = one.plan.watch
    model, on_cal, on_test = one.model, one.predict(cal), one.predict(test)
    scaler = recalibration.TemperatureScaler().fit(on_cal.logits.double(), on_cal.labels)
    logits, labels = on_test.logits.double(), on_test.labels

    def translated(width: int, temperature: float = 1.0) -> float:
        options = {"width": width, "temperature": temperature, "longest": longest + 2}
        found, _ = translation.translate(model, few, **options)
        return translation.bleu(few.texts(found), written)

    rows = [
        {
            "temperature": t,
            "ece": metrics.ece((logits / t).softmax(dim=1), labels),
            "bleu": translated(4, t),
        }
        for t in TEMPERATURES
    ]
    probs = logits.softmax(dim=1)
    row = {
        "tokens": len(labels),
        "accuracy": metrics.accuracy(probs, labels),
        "ece": metrics.ece(probs, labels),
        "gap": metrics.signed_gap(probs, labels),
        "nll": metrics.nll(probs, labels),
        "temperature": scaler.temperature,
        "scaled_ece": metrics.ece(scaler.probs(logits), labels),
        "greedy": translated(1),
        "beam": next(r["bleu"] for r in rows if r["temperature"] == 1.0),
    }
    return {"row": row, "temperatures": rows}


def verdicts(table: pd.DataFrame) -> list[Verdict]:
    """T of the least NLL (16l) and D8 on the captions, paired by seed; none below three seeds."""
    if table.seed.nunique() < 3:
        return []
    by_seed = table.pivot(index="seed", columns="value")
    off = by_seed["temperature"].sub(1).abs()
    plain = "cross-entropy"
    found = [
        judge(
            "16l",
            f"Multi30k: {value} has its T of the least NLL nearer to 1 than cross-entropy",
            (off[value] - off[plain]).tolist(),
            expect="below",
        )
        for value in ("label smoothing .1", "focal, gamma 2")
    ]
    more = (by_seed["ece"][FEWER] - by_seed["ece"][plain]).tolist()
    return [
        *found,
        judge("D8", "Multi30k: a quarter of the sentences has a larger token ECE", more),
    ]


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """Mean ± standard deviation over seeds as text, a row a loss; the value of a single seed."""
    grouped = table.groupby("value", sort=False)
    mean, spread = (getattr(grouped[list(HEADS)], how)() for how in ("mean", "std"))
    columns = {}
    for name, (head, factor) in HEADS.items():
        digits = 1 if factor == 100 or name in ("greedy", "beam") else 2
        pairs = zip(factor * mean[name], factor * spread[name], strict=True)
        columns[head] = [
            f"{m:.{digits}f}" if math.isnan(s) else plus_minus(m, s, digits) for m, s in pairs
        ]
    return pd.DataFrame(columns, index=mean.index.rename(None))


def report(scale: str, table: pd.DataFrame) -> str:
    """A page in Markdown: what was run, where, and what came out."""
    setting, rows, seeds = SCALES[scale], shown(table), table.seed.nunique()
    lines = [
        f"# captions, Multi30k, scale {scale}",
        "",
        *in_markdown("loss", rows),
        "",
        f"Seeds: {seeds} (mean ± standard deviation where there are several), "
        f"{int(table.tokens.iloc[0])} test tokens, BLEU of {setting.translated} test sentences.",
        "",
        *([str(one) for one in verdicts(table)] or [f"{seeds} seed(s): no verdict."]),
        "",
        "Source: WMT 2014 English to German, a large transformer: highest test BLEU over all T "
        "26.33 (cross-entropy), 26.36 (label smoothing), 26.39 (focal loss); best T 1 for the last "
        "two (Mukhoti et al. 2020, appendix K). IWSLT 2014, curves without numbers (Dataset "
        "Curation Beyond Accuracy, figure 6).",
        "",
        f"- Data: {setting.sentences} of the 29,000 training pairs, German to English, at most "
        f"{setting.longest} tokens a side, lower case, at most {setting.words} words a language, "
        "each seen twice; the rest is `<unk>`, a word like others for ECE and accuracy. BLEU is "
        "against the true words.",
        f"- Network and training: 2 + 2 layers of width {setting.width}, dropout .1, "
        f"{setting.steps} steps of 64 pairs for all, AdamW 2e-3, one cycle.",
        f"- Seconds a run: {table.seconds.median():.0f} (median, on a machine with other work).",
        f"- Hardware: CPU {platform.machine()}, 1 thread.",
        f"- Versions: Python {platform.python_version()}, torch {torch.__version__}.",
        f"- Again: `python -m calibkit reproduce captions --scale {scale}`",
        "",
    ]
    return "\n".join(lines)


def write(scale: str, tables: dict[str, pd.DataFrame], folder: Path) -> Path:
    """Keep the tables as FOLDER/SCALE/captions*.csv and the report beside; returns the report."""
    target = folder / scale
    target.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        table.round(6).to_csv(target / f"captions{name}.csv", index=False)
    page = target / "captions.md"
    page.write_text(report(scale, tables[""].round(6)), encoding="utf-8")
    return page


def stored(part: str = "", scale: str = "laptop") -> pd.DataFrame:
    """A table of an earlier run: "" the runs, "temperatures" or "steps"."""
    name = f"captions-{part}.csv" if part else "captions.csv"
    path = checkout.results() / scale / name
    if not path.exists():
        raise FileNotFoundError(
            f"{path} is not there; run python -m calibkit reproduce captions --scale {scale}"
        )
    return pd.read_csv(path)
