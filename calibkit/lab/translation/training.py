"""Trainings of translators: a `Plan` in, a `Run` out.

The course's own engine (`calibkit.lab.training`) has one label an input. Here an input has a
label at every place, and padding has none, which would change every part of it; so this is a loop
of its own. Any loss of `calibkit.losses` serves: it gets the logits of the real tokens.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd
import torch
from torch import Tensor
from torch.nn import functional

from calibkit import metrics, validate
from calibkit.lab.data import Predictions
from calibkit.lab.sweep.tasks import results
from calibkit.lab.training.device import own_randomness, prepared, seed_globally
from calibkit.lab.training.records import plain
from calibkit.lab.translation import decoding
from calibkit.lab.translation.model import Translator
from calibkit.lab.translation.pairs import Pairs
from calibkit.metrics import Reliability

CPU = torch.device("cpu")
CHUNK = 256  # sentences scored at a time


@dataclass(frozen=True)
class Plan:
    """All that decides one training.

    train: what it learns from. watch: what it is judged on after each of the `marks` (steps).
    law: (n, T, V) exact law of the watched tokens, or None where nobody knows it.
    loss: maps logits (tokens, V) and labels (tokens,) to a scalar.
    steps, batch_size, lr, weight_decay: of AdamW; the rate rises to lr for a tenth of the steps,
        then falls to almost 0, both along half a cosine (torch's OneCycleLR).
    width, depth, heads, dropout, longest: of the `Translator`.
    padded: whether the loss counts padding as if it were words: a classic mistake, to be looked at.
    """

    train: Pairs = field(repr=False)
    watch: Pairs = field(repr=False)
    law: Tensor | None = field(default=None, repr=False)
    loss: Callable[[Tensor, Tensor], Tensor] = functional.cross_entropy
    steps: int = 400
    marks: tuple[int, ...] = ()
    batch_size: int = 64
    lr: float = 3e-3
    weight_decay: float = 1e-2
    width: int = 48
    depth: int = 2
    heads: int = 4
    dropout: float = 0.0
    longest: int = 48
    padded: bool = False
    seed: int = 0

    def network(self) -> Translator:
        """The untrained network, built under the seed."""
        seed_globally(self.seed, CPU)
        words = len(self.train.source_words), len(self.train.target_words)
        shape = {n: getattr(self, n) for n in ("width", "depth", "heads", "dropout", "longest")}
        return Translator(*words, **shape)


@dataclass(frozen=True, repr=False)
class Run:
    """What came of a plan: the weights, a row of measures and a diagram per mark, the seconds."""

    plan: Plan
    state: dict[str, Tensor]
    rows: list[dict[str, float]]
    diagrams: list[Reliability]
    seconds: float

    def __repr__(self) -> str:
        last = ", ".join(f"{n} {v:.4g}" for n, v in (self.rows or [{}])[-1].items() if n != "step")
        return f"Run of {self.plan.steps} steps, {self.seconds:.3g} s; {last}"

    @property
    def model(self) -> Translator:
        """The trained network in eval mode, built anew."""
        with own_randomness(CPU):
            model = self.plan.network()
        model.load_state_dict(self.state)
        return model.eval()

    @property
    def history(self) -> pd.DataFrame:
        """One row per mark: step, train_loss of its batch, and what `judged` measures."""
        return pd.DataFrame(self.rows)

    def predict(self, pairs: Pairs, law: Tensor | None = None) -> Predictions:
        """Predictions of the real target tokens; see `tokens`."""
        return tokens(logits_of(self.model, pairs), pairs, law)


def logits_of(model: Translator, pairs: Pairs) -> Tensor:
    """Logits (n, T, V) of every target token, padding included, in eval mode; where the pairs lie.

    The model may lie on another device.
    """
    mode, home = model.training, next(model.parameters()).device
    chunks = zip(pairs.source.split(CHUNK), pairs.target.split(CHUNK), strict=True)
    model.eval()
    with torch.no_grad():
        parts = [model(source.to(home), target.to(home)) for source, target in chunks]
    model.train(mode)
    return torch.cat(parts).to(pairs.source.device)


def tokens(logits: Tensor, pairs: Pairs, law: Tensor | None = None) -> Predictions:
    """The real tokens as one row each: logits (tokens, V), labels, and their exact law if known.

    logits, law: (n, T, V). Padding is left out; the end of a sentence is a token.

    Raises ValueError for logits of another shape.
    """
    if logits.shape[:2] != pairs.target.shape:
        raise ValueError(
            f"logits must be (n, T, V) for targets {tuple(pairs.target.shape)}, got "
            f"{tuple(logits.shape)}"
        )
    real = pairs.real
    return Predictions(logits[real], pairs.target[real], None if law is None else law[real])


def distance(probs: Tensor, law: Tensor) -> float:
    """Mean total variation distance of rows (tokens, V): half the sum of absolute differences.

    >>> distance(torch.tensor([[0.5, 0.5]]), torch.tensor([[0.75, 0.25]]))
    0.25
    """
    return ((probs.double() - law.double()).abs().sum(dim=-1) / 2).mean().item()


def judged(predictions: Predictions) -> dict[str, float]:
    """Measures of the tokens, with the distance of the exact law where it is known."""
    probs, labels = predictions.logits.double().softmax(dim=1), predictions.labels
    row = {
        "accuracy": metrics.accuracy(probs, labels),
        "confidence": probs.amax(dim=1).mean().item(),
        "ece": metrics.ece(probs, labels),
        "nll": metrics.nll(probs, labels),
    }
    if predictions.posterior is not None:
        row["distance"] = distance(probs, predictions.posterior)
        row["best_accuracy"] = predictions.posterior.amax(dim=1).mean().item()
    return row


def fit_all(plans: Sequence[Plan], **options) -> list[Run]:
    """Train every plan, or load it where it was trained before; options as of `results`."""
    runs = []
    for plan, one in zip(plans, results(fit, [(plan,) for plan in plans], **options), strict=True):
        diagrams = [Reliability(**diagram) for diagram in one["diagrams"]]
        runs.append(Run(plan, one["state"], one["history"], diagrams, one["seconds"]))
    return runs


def translate_all(tasks: Sequence[tuple[Run, Pairs, int, float]], **options) -> list[dict]:
    """Translations by beam search for each (run, pairs, width, temperature), kept as trainings are.

    Each is a dictionary of "texts", n of them, and "log_probs" (n,) at that temperature.
    """
    light: list[tuple] = []
    for run, *rest in tasks:  # with what the network's shape needs alone: the weights tell the rest
        train, watch = run.plan.train[:1], run.plan.watch[:1]
        plan = replace(run.plan, train=train, watch=watch, law=None)
        light.append((replace(run, plan=plan, rows=[], diagrams=[], seconds=0.0), *rest))
    return results(_translated, light, **options)


def _translated(run: Run, pairs: Pairs, width: int, temperature: float) -> dict:
    longest = pairs.target.shape[1] + 4
    options: dict[str, Any] = {"width": width, "temperature": temperature, "longest": longest}
    with prepared(model := run.model, CPU):
        sentences, log_probs = decoding.translate(model, pairs, **options)
    return {"texts": pairs.texts(sentences), "log_probs": log_probs}


def fit(plan: Plan) -> dict:
    """One training, in the form that is kept: state, history, diagrams, seconds."""
    start = time.perf_counter()
    with own_randomness(CPU):
        model = plan.network()
        with prepared(model, CPU):
            history, diagrams = _trained(model, plan)
    made = {"state": dict(model.state_dict()), "history": history, "diagrams": diagrams}
    return plain(made | {"seconds": time.perf_counter() - start})


def _trained(model: Translator, plan: Plan) -> tuple[list[dict], list[Reliability]]:
    settings: dict[str, Any] = {"lr": plan.lr, "weight_decay": plan.weight_decay}
    optimizer = torch.optim.AdamW(model.parameters(), fused=True, **settings)  # half the time
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, plan.lr, total_steps=plan.steps + 1, pct_start=0.1, anneal_strategy="cos"
    )
    order = validate.generator(plan.seed)
    history, diagrams, waiting = [], [], torch.empty(0, dtype=torch.long)
    marks = set(plan.marks) | {plan.steps}
    model.train()
    for step in range(1, plan.steps + 1):
        if len(waiting) < min(plan.batch_size, len(plan.train)):
            waiting = torch.cat([waiting, torch.randperm(len(plan.train), generator=order)])
        chosen, waiting = waiting[: plan.batch_size], waiting[plan.batch_size :]
        batch = plan.train[chosen].trimmed()
        real = torch.ones_like(batch.real) if plan.padded else batch.real
        loss = plan.loss(model(batch.source, batch.target)[real], batch.target[real])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step in marks:
            watched = tokens(logits_of(model, plan.watch), plan.watch, plan.law)
            history.append({"step": step, "train_loss": loss.item(), **judged(watched)})
            diagrams.append(metrics.reliability(watched.probs, watched.labels))
    return history, diagrams
