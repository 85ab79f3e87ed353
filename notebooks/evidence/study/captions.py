"""The experiment on real sentences: German captions into English (Multi30k)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import torch

from calibkit import metrics, recalibration, validate
from calibkit.course.verdicts import Verdict, judge
from calibkit.lab import data, text, translation
from calibkit.lab.translation import Pairs, Plan
from study.experiment import Experiment, Measured, Task, paired
from study.photograph_grids import NAMED

QUARTER = ", a quarter of the sentences"
FEWER, FEWER_SMOOTHED = f"cross-entropy{QUARTER}", f"label smoothing .1{QUARTER}"
VALUES = ("cross-entropy", "label smoothing .1", "focal, gamma 2", FEWER, FEWER_SMOOTHED)
TEMPERATURES = (0.5, 0.75, 1.0, 1.5, 2.0)
Sides = tuple[list[list[str]], list[list[str]]]  # the words of each sentence, in both languages


@dataclass(frozen=True)
class Setting:
    """How one scale trains: sentences, their longest length, words of a language, the network."""

    sentences: int
    longest: int
    words: int
    width: int
    steps: int
    translated: int
    seeds: int


SETTINGS = {
    "laptop": Setting(3_000, 12, 1_500, 64, 600, 200, 3),
    "gpu": Setting(29_000, 40, 8_000, 256, 20_000, 1_000, 3),
}


@dataclass(frozen=True, kw_only=True)
class Captions(Experiment):
    """The experiment on Multi30k."""

    settings = SETTINGS
    default_dataset = "Multi30k"
    least_seeds = 3

    def prepare(self, task: Task, seed: int) -> tuple[Pairs, Pairs, Pairs, list[str]]:
        """Training pairs drawn by the seed, validation and test pairs, in the training's words.

        The last are the true words of the English test sentences.
        """
        setting = task.setting
        (german, english), validation, test = (
            _split(split, setting.longest, task.root) for split in ("train", "validation", "test")
        )
        order = torch.randperm(len(german), generator=validate.generator(seed))
        drawn = order[: setting.sentences].tolist()
        chosen = [german[i] for i in drawn], [english[i] for i in drawn]
        options = {"size": setting.words, "at_least": 2, "special": translation.SPECIAL[2:]}
        source, target = (text.Vocabulary.of(side, **options).words for side in chosen)
        train, cal, judged = (
            Pairs(translation.rows_of(de, source), translation.rows_of(en, target), source, target)
            for de, en in (chosen, validation, test)
        )
        return train, cal, judged, [" ".join(sentence) for sentence in test[1]]

    def plan(self, task: Task, train: Pairs, test: Pairs, value: str, seed: int) -> Plan:
        """The training that a value of the grid stands for."""
        setting = task.setting
        train, changes = self.change(train, value, seed)
        tenth = max(1, setting.steps // 10)
        return Plan(
            train, test, steps=setting.steps, marks=tuple(range(tenth, setting.steps + 1, tenth)),
            lr=2e-3, width=setting.width, dropout=0.1, longest=setting.longest + 2, seed=seed,
            **changes,
        )  # fmt: skip

    def run(self, task: Task, prepared: Callable, grid: Sequence[dict], **options: Any) -> Measured:
        """The runs of a grid; tables of the runs, and of each one's temperatures."""
        ready = [prepared(setting["seed"]) for setting in grid]
        plans = [
            self.plan(task, train, test, **setting)
            for setting, (train, _, test, _) in zip(grid, ready, strict=True)
        ]
        runs = translation.fit_all(plans, **options)
        few, longest = task.setting.translated, task.setting.longest
        tasks = [
            (run, cal, test[:few], written[:few], longest)
            for run, (_, cal, test, written) in zip(runs, ready, strict=True)
        ]
        rows, temperatures = [], []
        measured = translation.results(_measured, tasks, **options)
        for setting, run, (row, hot) in zip(grid, runs, measured, strict=True):
            rows.append({**setting, **row, "seconds": run.seconds})
            temperatures += [{**setting, **one} for one in hot]
        return runs, pd.DataFrame(rows), {"temperatures": pd.DataFrame(temperatures)}

    def main_verdicts(self, table: pd.DataFrame) -> list[Verdict]:
        """T of the least NLL after the two softer losses, and the ECE after fewer sentences."""
        verdicts = []
        for value in ("label smoothing .1", "focal, gamma 2"):
            nearer = f"{value} has its T of the least NLL nearer to 1 than cross-entropy"
            differences = paired(table, "abs(temperature - 1)", "cross-entropy", value)
            verdicts.append(judge("16l", f"Multi30k: {nearer}", differences, expect="below"))
        smoothed = judge(
            "D8",
            "Multi30k, label smoothing .1: a quarter of the sentences has a larger token ECE",
            paired(table, "ece", "label smoothing .1", FEWER_SMOOTHED),
            as_trained=True,
        )
        return [*verdicts, self.main_verdict(table), smoothed]

    def step_verdicts(self, table: pd.DataFrame) -> list[Verdict]:
        """None: the claims differ from value to value."""
        return []


def _split(split: str, longest: int, root) -> Sides:
    """The pairs of which neither sentence is longer than `longest` tokens, in both languages."""
    columns = data.load_text("multi30k", split=split, root=root).columns
    both = zip(map(text.tokens, columns["de"]), map(text.tokens, columns["en"]), strict=True)
    short = [pair for pair in both if max(map(len, pair)) <= longest]
    return [german for german, _ in short], [english for _, english in short]


def _measured(
    run: translation.Run, calibration: Pairs, few: Pairs, written: list[str], longest: int
) -> tuple[dict, list[dict]]:
    """The row of a run, and its ECE and BLEU at each temperature.

    T minimises the NLL of the validation tokens. The ECE is that of all test tokens, the BLEU that
    of a few test sentences against what is `written`.
    """
    model, on_cal, on_test = run.model, run.predict(calibration), run.predict(run.plan.watch)
    scaler = recalibration.TemperatureScaler().fit(on_cal.logits.double(), on_cal.labels)
    logits, labels = on_test.logits.double(), on_test.labels

    def translated(width: int, temperature: float = 1.0) -> float:
        sentences, _ = translation.translate(
            model, few, width=width, temperature=temperature, longest=longest + 2
        )
        return translation.bleu(few.texts(sentences), written)

    temperatures = []
    for t in TEMPERATURES:
        ece = metrics.ece((logits / t).softmax(dim=1), labels)
        temperatures.append({"temperature": t, "ece": ece, "bleu": translated(4, t)})
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
        "beam": next(r["bleu"] for r in temperatures if r["temperature"] == 1.0),
    }
    return row, temperatures


def _loss(train: Pairs, value: str, seed: int):
    """Equal numbers of steps: a quarter of the sentences is passed over four times as often."""
    fewer = train[: len(train) // 4] if value.endswith(QUARTER) else train
    return fewer, NAMED[value.removesuffix(QUARTER)]


CAPTIONS = Captions(
    name="captions",
    dataset="Multi30k",
    varies="loss",
    values=VALUES,
    change=_loss,
    claim=("D8", "Multi30k: a quarter of the sentences has a larger token ECE"),
    between=("cross-entropy", FEWER),
    compared=("ece", "token ECE"),
)
