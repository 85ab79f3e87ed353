"""A type checker knows what a user gets, and finds options that do not exist."""

import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from calibkit.lab.training.trials import FitOptions, Options, Recipe, Trial

ROOT = Path(__file__).parents[1]
USER = """\
import torch

import calibkit
from calibkit import curation, losses, metrics, recalibration, theory
from calibkit.lab import data, models, training

probs, labels = torch.full((4, 2), 0.5), torch.tensor([0, 1, 0, 1])
train, _, test = data.noisy_digits(300)
network = lambda: models.mlp(64, 10)
run = training.fit(network, train, epochs=2, schedule="cosine", watch={"test": test})
reveal_type(run)  # calibkit.lab.training.records.Run
reveal_type(run.predict(test))  # calibkit.lab.data.dataset.Predictions
reveal_type(metrics.ece(probs, labels, norm="l2"))  # float
reveal_type(metrics.bootstrap_interval(probs, labels, metric="mce"))  # tuple[float, float]
reveal_type(metrics.ece([[0.9, 0.1]], [0]))  # float
reveal_type(metrics.ece(probs.numpy(), labels.numpy()))  # float
reveal_type(metrics.ece(metrics.TopLabel([0.9], [True]), bins=5))  # float
reveal_type(calibkit.audit(probs, labels))  # calibkit.auditing.audits.Audit
scaler = recalibration.TemperatureScaler().fit(probs.log(), labels)
reveal_type(scaler)  # calibkit.recalibration.temperature.TemperatureScaler

metrics.ece(probs, labels, norm="l3")
metrics.reliability(probs, labels, binning="mas")
metrics.bootstrap_interval(probs, labels, method="percent")
recalibration.TemperatureScaler("ece")
recalibration.TemperatureScaler().fit("logits", labels)
recalibration.HistogramBinning(equal="mass")
losses.focal(probs, labels, gamma=2.0, reduction="avg")
losses.focal("logits", labels, gamma=2.0)
curation.symmetric_noise(labels, 0.1, classes=2, seed=0, kind="swap")
training.fit(network, train, epoch=2)
training.fit(network, train, schedule="cosin")
calibkit.audit(probs, labels, kind="prob")
metrics.ece("hello", 3)
metrics.ece(probs, 3)
metrics.brier(metrics.TopLabel([0.9], [True]), labels)
metrics.paired_interval(probs, None, labels)
curation.subset("labels", 0.5, seed=0)
theory.gradient_ratio("half", 2.0)
"""
# what others have typed is passed over: it takes most of the time, and is not asked here
SETTINGS = """
[mypy]
follow_imports = silent
ignore_missing_imports = true
[mypy-torch.*,torchvision.*,numpy.*,pandas.*,scipy.*,sklearn.*,matplotlib.*,joblib.*,tqdm.*]
follow_imports = skip
"""


@pytest.mark.slow
def test_a_wrong_word_is_found_and_results_have_types(tmp_path):
    (tmp_path / "user.py").write_text(USER, encoding="utf-8")
    (tmp_path / "mypy.ini").write_text(SETTINGS, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--python-executable", sys.executable, "user.py"]
    environment = {"MYPYPATH": str(ROOT), "PATH": ""}
    said = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    errors = {int(line) for line in re.findall(r"^user\.py:(\d+): error", said.stdout, re.M)}
    first, last = USER[: USER.rindex("\n\n")].count("\n") + 3, USER.count("\n")
    assert errors == set(range(first, last + 1)), said.stdout + said.stderr
    shown = re.findall(r'Revealed type is "(.*)"', said.stdout)
    assert shown == re.findall(r"reveal_type.*# (.*)", USER)


def test_the_keywords_of_a_training_are_those_of_its_trial_and_recipe():
    known = {field.name for field in fields(Trial)} - {"model", "train", "score", "recipe"}
    known |= {field.name for field in fields(Recipe)}
    assert set(Options.__annotations__) == known
    assert set(FitOptions.__annotations__) == known | {"score"}
