"""Checkers of the exercises: `check.NAME(your_function)` says in words what is right or wrong.

An exercise is a reference, the cases it is compared on, and the mistakes that people make. Every
mistake is itself a function: an answer that agrees with it on all cases has made that mistake, and
gets its hint.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from calibkit import curation, metrics, mixing, theory
from calibkit.metrics.bins import width_edges


@dataclass(frozen=True)
class Reply:
    """What the checker says; `passed` is True for a right answer."""

    passed: bool
    text: str

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Mistake:
    """A wrong answer and the hint for whoever gives it."""

    function: Callable
    hint: str


# What torch says of common slips, and what a student can do about them.
SLIPS = {
    r"mean\(\)|could not infer output dtype": "You took the mean of a True/False tensor: turn it "
    "into floats first, correct.double().mean().",
    r"only one element|converted to Python scalars|Boolean value of Tensor": "Your function gets a "
    "whole tensor, not one number: work on all entries at once.",
    r"must match the size": "Two shapes do not fit. A class that never occurs among the labels "
    "still has a column: one_hot(labels, probs.shape[1]).",
    r"complex": "scipy's lambertw returns complex numbers: take .real.",
}


@dataclass(frozen=True)
class Exercise:
    """A checker; call it with an answer. `arguments` names what the answer is called with."""

    name: str
    arguments: tuple[str, ...]
    reference: Callable
    cases: Sequence[tuple]
    mistakes: Sequence[Mistake]
    tolerance: float = 1e-5

    def __call__(self, answer: Callable) -> Reply:
        """Compare `answer` with the reference on every case; never raises."""
        if not callable(answer):
            return Reply(
                False,
                f"Pass the function itself, check.{self.name}(your_function), "
                f"not its result ({type(answer).__name__}).",
            )
        try:
            given = [_result(answer, case) for case in self.cases]
        except Exception as error:
            bare = type(error) is NotImplementedError and not error.args  # the stub's own `raise`
            return self._not_yet() if bare else Reply(False, self._told(error))
        if any(result is None for result in given):
            return self._not_yet()
        return self._judge(given)

    def _told(self, error: Exception) -> str:
        said = f"Your function raised {type(error).__name__}: {str(error).strip().rstrip('.')}."
        advice = [text for pattern, text in SLIPS.items() if re.search(pattern, str(error))]
        return " ".join([said, *advice, f"It was called with {self._shown(self.cases[0])}."])

    def _judge(self, given: list[np.ndarray]) -> Reply:
        wrong = self._first_difference(self.reference, given)
        if wrong is None:
            return Reply(True, f"Correct: {self.name} agrees on all {len(self.cases)} cases.")
        if any(np.isnan(result).any() for result in given):
            return Reply(
                False,
                "Not quite: your result is NaN, as 0/0 or 0 times log 0 give it. Where bins may "
                "be empty, leave those out, or sum with nansum.",
            )
        for mistake in self.mistakes:
            if self._first_difference(mistake.function, given) is None:
                return Reply(False, f"Not quite: {mistake.hint}")
        case, expected = self.cases[wrong], _result(self.reference, self.cases[wrong])
        if expected.shape == given[wrong].shape and expected.size > 12:
            at = np.unravel_index(np.abs(expected - given[wrong]).argmax(), expected.shape)
            place = ", ".join(map(str, at))
            return Reply(
                False,
                f"Not quite: for {self._shown(case)}, entry {place} of the answer is "
                f"{_brief(expected[at])}, yours is {_brief(given[wrong][at])}.",
            )
        return Reply(
            False,
            f"Not quite: for {self._shown(case)} the answer is {_brief(expected)}, "
            f"yours is {_brief(given[wrong])}.",
        )

    def _shown(self, case: tuple) -> str:
        """The arguments of a case by name: short ones in full, long ones by their shape."""
        pairs = zip(self.arguments, map(np.asarray, case), strict=True)
        return ", ".join(
            f"{name} = {_brief(part)}" if part.size <= 12 else f"{name} of shape {part.shape}"
            for name, part in pairs
        )

    def _first_difference(self, function: Callable, given: list[np.ndarray]) -> int | None:
        """Index of the first case on which `function` and the given results differ."""
        for i, (case, result) in enumerate(zip(self.cases, given, strict=True)):
            expected = _result(function, case)
            if expected.shape != result.shape or not np.allclose(
                expected, result, rtol=0, atol=self.tolerance, equal_nan=True
            ):
                return i
        return None

    def _not_yet(self) -> Reply:
        return Reply(False, f"Not yet: {self.name} returns nothing so far. Fill in the stub above.")


def _result(function: Callable, case: tuple) -> np.ndarray | None:
    """The function's answer as a float64 array; None for an untouched stub."""
    value = function(*(part.clone() if isinstance(part, Tensor) else part for part in case))
    if value is None or value is Ellipsis:
        return None
    if isinstance(value, Tensor):
        value = value.detach().cpu().numpy()
    return np.asarray(
        [float(v) for v in value] if isinstance(value, (tuple, list)) else value, dtype=np.float64
    )


def _brief(value: np.ndarray) -> str:
    """Up to four decimals, without trailing zeros or points, in one line."""
    kind = {"float_kind": lambda x: f"{x:.4f}".rstrip("0").rstrip(".")}
    return " ".join(np.array2string(value, separator=", ", threshold=12, formatter=kind).split())


def _cases() -> list[tuple[Tensor, Tensor]]:
    """Predictions of which some are over-, some under-confident, and one mixes both.

    The last class is never the true one, so that nobody can count classes by the labels.
    """
    generator = torch.Generator().manual_seed(0)

    def bold(n: int, classes: int) -> tuple[Tensor, Tensor]:
        logits = 3 * torch.randn(n, classes, generator=generator)
        return logits.softmax(dim=1), torch.randint(classes - 1, (n,), generator=generator)

    def shy(n: int, classes: int) -> tuple[Tensor, Tensor]:
        logits = 0.5 * torch.randn(n, classes, generator=generator)
        return logits.softmax(dim=1), logits.argmax(dim=1).clamp(max=classes - 2)

    mixed = [torch.cat(parts) for parts in zip(bold(30, 4), shy(20, 4), strict=True)]
    return [bold(50, 3), tuple(mixed), shy(7, 5)]


def _on_the_edges() -> tuple[Tensor, Tensor]:
    """Confidences exactly on the edges of 4 bins, right and wrong in turn.

    Quarters and eighths are exact in binary: the edges are the lesson here, not their rounding.
    """
    confidence = torch.tensor([0.5, 0.625, 0.75, 1.0])
    rest = (1 - confidence) / 2
    return torch.stack([confidence, rest, rest], dim=1), torch.tensor([0, 1, 0, 1])


PREDICTIONS = _cases()


# --- 00: how far confidence and accuracy are apart --------------------------------------------


def _accuracy(probs: Tensor, labels: Tensor) -> Tensor:
    return (probs.argmax(dim=1) == labels).double().mean()


def _true_class(probs: Tensor, labels: Tensor) -> Tensor:
    return probs.gather(1, labels[:, None]).double().mean()


signed_gap = Exercise(
    "signed_gap",
    ("probs", "labels"),
    reference=metrics.signed_gap,
    cases=PREDICTIONS,
    mistakes=[
        Mistake(
            lambda p, y: -metrics.signed_gap(p, y),
            "the sign is reversed. Take mean confidence minus accuracy, "
            "so that an over-confident model gets a positive number.",
        ),
        Mistake(
            lambda p, y: abs(metrics.signed_gap(p, y)),
            "you dropped the sign. It is what tells over-confident (+) from under-confident (-).",
        ),
        Mistake(
            lambda p, y: _true_class(p, y) - _accuracy(p, y),
            "you averaged the probability of the true class. "
            "The confidence is that of the predicted class: the largest in the row.",
        ),
        Mistake(
            lambda p, y: p.double().mean() - _accuracy(p, y),
            "you averaged all probabilities, which is always 1/K. "
            "Take the largest of each row first.",
        ),
        Mistake(
            lambda p, y: 100 * metrics.signed_gap(p, y),
            "this is in per cent. The course computes with fractions and prints per cent.",
        ),
    ],
)


# --- 01: bins and ECE -------------------------------------------------------------------------


def _inner(bins: int) -> Tensor:
    return width_edges(bins)[1:-1]


def _bin(confidence: Tensor, bins: int) -> Tensor:
    return torch.bucketize(confidence.double(), _inner(bins))


def _left_closed(confidence: Tensor, bins: int) -> Tensor:
    return torch.bucketize(confidence.double(), _inner(bins), right=True)


def _extra_bin(confidence: Tensor, bins: int) -> Tensor:
    return (confidence.double() * bins).floor()


def _rounded_up(confidence: Tensor, bins: int) -> Tensor:
    return (confidence.double() * bins).ceil() - 1


# Exact in binary, then hundredths, which are not: there the rounding of c * 100 shows.
EDGES = torch.tensor([0.0, 0.1, 0.25, 0.3, 0.5, 0.625, 0.75, 0.8, 0.99, 1.0])
HUNDREDTHS = torch.arange(101, dtype=torch.float64) / 100

bin_index = Exercise(
    "bin_index",
    ("confidence", "bins"),
    reference=_bin,
    cases=[(EDGES, 4), (EDGES, 2), (EDGES, 8), (HUNDREDTHS, 100)],
    mistakes=[
        Mistake(
            _extra_bin,
            "your bins are closed on the left, and confidence 1.0 falls into an extra bin of its "
            "own, number `bins`. Bins are (lo, hi]: 0.5 belongs below the edge 0.5, 1.0 to the "
            "last bin.",
        ),
        Mistake(
            _left_closed,
            "your bins are closed on the left: [lo, hi). In (lo, hi] a confidence of exactly 0.5 "
            "belongs to the bin that ends at 0.5.",
        ),
        Mistake(
            lambda c, bins: _left_closed(c, bins) + (c == 1).long(),
            "your bins are closed on the left, and 1.0 got a bin of its own. In (lo, hi] a "
            "confidence of exactly 0.5 belongs to the bin that ends at 0.5, and 1.0 to the last.",
        ),
        Mistake(
            lambda c, bins: _rounded_up(c, bins).clamp(min=0),
            "the side is right, the rounding is not: 0.07 * 100 is 7.000000000000001, so that 0.07 "
            "falls into bin 7 in place of 6. Compare with the edges themselves: torch.bucketize.",
        ),
        Mistake(
            lambda c, bins: torch.bucketize(
                c.double(), torch.linspace(0, 1, bins + 1, dtype=torch.float64)[1:-1]
            ),
            "nearly; linspace does not place every edge on the number nearest to m / bins (with "
            "100 bins it misses 0.56). Divide: torch.arange(1, bins, dtype=torch.float64) / bins.",
        ),
        Mistake(
            lambda c, bins: torch.bucketize(c.double(), width_edges(bins)),
            "you compared with the outer edges too, so every bin is one too high. "
            "Pass bucketize the inner edges only: [1:-1].",
        ),
        Mistake(
            _rounded_up,
            "confidence 0 got bin -1. It belongs to the first bin, number 0: clamp it.",
        ),
        Mistake(
            lambda c, bins: _bin(c, bins) + 1,
            "you count bins from 1. Python counts from 0: the first bin is number 0.",
        ),
        Mistake(
            lambda c, bins: (c.double() * bins).round(),
            "you rounded to the nearest edge. A bin is an interval between two edges: "
            "find the one that contains the confidence.",
        ),
    ],
)


def _gaps(probs: Tensor, labels: Tensor, bins: int) -> tuple[Tensor, Tensor]:
    counted = metrics.reliability(probs, labels, bins=bins)
    full = counted.counts > 0
    return counted.gap[full], counted.counts[full] / len(labels)


def _without_ones(probs: Tensor, labels: Tensor, bins: int) -> Tensor:
    """Bins [lo, hi) in which a confidence of 1 finds no place."""
    confidence = probs.amax(dim=1)
    kept = confidence < 1
    gap = confidence.double() - (probs.argmax(dim=1) == labels).double()
    sums = torch.bincount(_left_closed(confidence[kept], bins), weights=gap[kept])
    return sums.abs().sum() / len(labels)


ece = Exercise(
    "ece",
    ("probs", "labels", "bins"),
    reference=lambda p, y, bins: metrics.ece(p, y, bins=bins),
    cases=[
        *((*case, bins) for case, bins in zip(PREDICTIONS, (15, 10, 4), strict=True)),
        (*_on_the_edges(), 4),
    ],
    mistakes=[
        Mistake(
            lambda p, y, bins: metrics.ece(p, y, bins=bins, closed="left"),
            "your bins are closed on the left. In (lo, hi] a confidence of exactly 0.5 belongs to "
            "the bin that ends at 0.5.",
        ),
        Mistake(
            _without_ones,
            "samples with confidence 1.0 fell out of your last bin. "
            "Bins are (lo, hi]: 1.0 belongs to the last.",
        ),
        Mistake(
            lambda p, y, bins: metrics.ece(p, y, bins=15),
            "you ignored the argument `bins` and took 15.",
        ),
        Mistake(
            lambda p, y, bins: metrics.ece(p, y, bins=10),
            "you ignored the argument `bins` and took 10.",
        ),
        Mistake(
            lambda p, y, bins: 100 * metrics.ece(p, y, bins=bins),
            "this is in per cent. The course computes with fractions and prints per cent.",
        ),
        Mistake(
            lambda p, y, bins: len(y) * metrics.ece(p, y, bins=bins),
            "this grows with the number of samples: divide by n.",
        ),
        Mistake(
            lambda p, y, bins: _gaps(p, y, bins)[0].abs().mean(),
            "every bin counts the same in yours. "
            "Weigh each gap by the share of samples in its bin, |B| / n.",
        ),
        Mistake(
            lambda p, y, bins: _gaps(p, y, bins)[0].abs().sum() / bins,
            "you divided by the number of bins. "
            "Weigh each gap by the share of samples in its bin, |B| / n.",
        ),
        Mistake(
            lambda p, y, bins: (_gaps(p, y, bins)[0] * _gaps(p, y, bins)[1]).sum(),
            "gaps of opposite sign cancel. Take the absolute value inside each bin, "
            "before summing.",
        ),
        Mistake(
            lambda p, y, bins: abs(metrics.signed_gap(p, y)),
            "this is the gap of all samples together: ECE with a single bin.",
        ),
        Mistake(
            lambda p, y, bins: metrics.mce(p, y, bins=bins),
            "this is the largest gap (MCE). ECE is the weighted mean of the gaps.",
        ),
        Mistake(
            lambda p, y, bins: metrics.ece(p, y, bins=bins, norm="l2"),
            "you squared the gaps. ECE takes their absolute values.",
        ),
    ],
)


# --- 02: other measures -----------------------------------------------------------------------


def _squares(probs: Tensor, labels: Tensor) -> Tensor:
    truth = torch.nn.functional.one_hot(labels, probs.shape[1])
    return (probs.double() - truth) ** 2


def _true_class_square(probs: Tensor, labels: Tensor) -> Tensor:
    return (1 - probs.gather(1, labels[:, None]).double()).square().mean()


def _of_the_prediction(probs: Tensor, labels: Tensor) -> Tensor:
    correct = (probs.argmax(dim=1) == labels).double()
    return (probs.amax(dim=1).double() - correct).square().mean()


brier = Exercise(
    "brier",
    ("probs", "labels"),
    reference=metrics.brier,
    cases=PREDICTIONS,
    mistakes=[
        Mistake(
            lambda p, y: _squares(p, y).mean(),
            "you divided by the number of classes too. "
            "Sum the squares over classes, then take the mean over samples.",
        ),
        Mistake(
            _of_the_prediction,
            "you compared the confidence with right or wrong. The Brier score compares every "
            "probability of the row with the one-hot truth.",
        ),
        Mistake(
            lambda p, y: _squares(p, y).sum(),
            "this grows with the number of samples: take the mean over them.",
        ),
        Mistake(
            lambda p, y: _squares(p, y).sum(dim=1).mean() / 2,
            "this is half of it, a form for two classes. Here: the plain sum over classes.",
        ),
        Mistake(
            _true_class_square,
            "you used the true class alone. The Brier score adds the squares of all classes.",
        ),
        Mistake(
            lambda p, y: _squares(p, y).sum(dim=1).sqrt().mean(),
            "you took a square root. The Brier score is the mean of squared distances.",
        ),
    ],
)


def _classwise(probs: Tensor, labels: Tensor, bins: int, classes) -> list[float]:
    """Binned error of each class's own probability column."""
    errors = []
    for k in classes:
        counted = metrics.reliability_of(probs[:, k], labels == k, bins=bins)
        errors.append(float((counted.gap.abs() * counted.counts).nansum() / len(labels)))
    return errors


def _per_predicted_class(probs: Tensor, labels: Tensor, bins: int) -> float:
    """Top-label ECE of the samples predicted as each class, averaged over all classes."""
    predicted = probs.argmax(dim=1)
    parts = [predicted == k for k in range(probs.shape[1])]
    return sum(metrics.ece(probs[p], labels[p], bins=bins) for p in parts if p.any()) / len(parts)


def _against_predictions(probs: Tensor, labels: Tensor, bins: int) -> float:
    return metrics.classwise_ece(probs, probs.argmax(dim=1), bins=bins)


classwise_ece = Exercise(
    "classwise_ece",
    ("probs", "labels", "bins"),
    reference=lambda p, y, bins: metrics.classwise_ece(p, y, bins=bins),
    cases=[(*case, bins) for case, bins in zip(PREDICTIONS, (15, 10, 5), strict=True)],
    mistakes=[
        Mistake(
            lambda p, y, bins: sum(_classwise(p, y, bins, range(p.shape[1]))),
            "you summed over the classes: take the mean.",
        ),
        Mistake(
            lambda p, y, bins: np.mean(_classwise(p, y, bins, range(int(y.max()) + 1))),
            "you took the number of classes from the labels. A class that never occurs still has "
            "a column: use probs.shape[1].",
        ),
        Mistake(
            _against_predictions,
            "you took the predicted class for the truth: the hits of class k are `labels == k`.",
        ),
        Mistake(
            lambda p, y, bins: metrics.ece(p, y, bins=bins),
            "this is the ECE of the predicted class. "
            "Here every class's own column is binned, against `labels == k`.",
        ),
        Mistake(
            _per_predicted_class,
            "you split the samples by predicted class. "
            "Bin column k over all samples, against `labels == k`.",
        ),
        Mistake(
            lambda p, y, bins: max(_classwise(p, y, bins, range(p.shape[1]))),
            "this is the worst class. The classwise-ECE is the mean over classes.",
        ),
    ],
)


# --- 03: why networks are over-confident ------------------------------------------------------


def _losses(probs: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """-log p of each label, and whether the prediction is right."""
    true = probs.double().gather(1, labels[:, None])[:, 0]
    return -true.log(), probs.argmax(dim=1) == labels


def _split(losses: Tensor, right: Tensor, share: int = 1) -> tuple[Tensor, Tensor]:
    return losses[right].sum() / share, losses[~right].sum() / share


def _parts(probs: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    return _split(*_losses(probs, labels), len(labels))


def _own_means(probs: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    losses, right = _losses(probs, labels)
    return losses[right].mean(), losses[~right].mean()


nll_parts = Exercise(
    "nll_parts",
    ("probs", "labels"),
    reference=_parts,
    cases=PREDICTIONS[:2],
    mistakes=[
        Mistake(
            _own_means,
            "each part is divided by the size of its own group. Divide both by n, the number of "
            "all predictions, so that they add up to the NLL.",
        ),
        Mistake(
            lambda p, y: _parts(p, y)[::-1],
            "the parts are right, their order is not: first the right predictions, then the wrong.",
        ),
        Mistake(
            lambda p, y: _split(*_losses(p, y)),
            "these are sums, which grow with the number of predictions: divide by n.",
        ),
        Mistake(
            lambda p, y: _split(-p.double().amax(dim=1).log(), _losses(p, y)[1], len(y)),
            "you took the logarithm of the confidence. A wrong prediction pays for the probability "
            "that it left to the *label*.",
        ),
        Mistake(
            lambda p, y: [-part for part in _parts(p, y)],
            "the sign is reversed: logarithms of probabilities are negative, losses are not.",
        ),
        Mistake(
            lambda p, y: [part / math.log(10) for part in _parts(p, y)],
            "this is the logarithm to base 10. The NLL uses the natural one, torch.log.",
        ),
    ],
)


def _cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    return torch.nn.functional.cross_entropy(logits.double(), labels)


def _sign_slip(logits: Tensor, labels: Tensor, a: float) -> Tensor:
    z = (1 + a) * logits.double()
    return -(z.gather(1, labels[:, None])[:, 0] + z.logsumexp(dim=1)).mean()


LOGITS = [
    3 * torch.randn(n, classes, generator=torch.Generator().manual_seed(n)).double()
    for n, classes in ((12, 3), (30, 5))
]

scaled_loss = Exercise(
    "scaled_loss",
    ("logits", "labels", "a"),
    reference=lambda z, y, a: _cross_entropy((1 + a) * z, y),
    cases=[
        (z, (z.argmax(dim=1) + (torch.arange(len(z)) % 4 == 0)) % z.shape[1], a)
        for z, a in zip(LOGITS, (0.5, 2.0), strict=True)
    ],
    mistakes=[
        Mistake(
            lambda z, y, a: _cross_entropy(a * z, y),
            "you scaled by a. The factor is 1 + a, so that a = 0 changes nothing.",
        ),
        Mistake(
            lambda z, y, a: _cross_entropy(z, y),
            "this is the loss without scaling. (Adding one number to all logits changes nothing: "
            "the softmax sees differences only. Multiply.)",
        ),
        Mistake(
            lambda z, y, a: (1 + a) * _cross_entropy(z, y),
            "you scaled the loss. Scale the logits, before the softmax.",
        ),
        Mistake(
            lambda z, y, a: _cross_entropy(z, y) - math.log(1 + a),
            "you scaled the probabilities. Scale the logits, before the softmax.",
        ),
        Mistake(
            lambda z, y, a: _cross_entropy(z / (1 + a), y),
            "you divided, which makes the network less sure. Multiply the logits by 1 + a.",
        ),
        Mistake(
            lambda z, y, a: len(y) * _cross_entropy((1 + a) * z, y),
            "this is the sum over the samples: take the mean.",
        ),
        Mistake(
            _sign_slip,
            "a sign slipped: the loss is -(z_y - log sum exp z). With a plus inside, as misprinted "
            "in places, it is negative and has no lower bound.",
        ),
    ],
)


# --- 05: dataset size -------------------------------------------------------------------------


def _steps(n: int, batch_size: int) -> int:
    return -(-n // batch_size)


equal_steps = Exercise(
    "equal_steps",
    ("n", "batch_size", "steps"),
    reference=lambda n, b, steps: max(1, round(steps / _steps(n, b))),
    cases=[(150, 128, 720), (900, 128, 720), (700, 128, 100), (1000, 100, 333), (5000, 128, 10)],
    mistakes=[
        Mistake(
            lambda n, b, steps: max(1, round(steps / (n // b))),
            "you dropped the last, smaller batch. It is a step like any other: "
            "round n / batch_size up.",
        ),
        Mistake(
            lambda n, b, steps: max(1, round(steps * b / n)),
            "this makes the number of *images seen* equal. An epoch takes a whole number of steps: "
            "n / batch_size, rounded up.",
        ),
        Mistake(
            lambda n, b, steps: max(1, steps // _steps(n, b)),
            "you cut off. Take the nearest whole number of epochs.",
        ),
        Mistake(
            lambda n, b, steps: _steps(steps, _steps(n, b)),
            "you rounded the epochs up. Take the nearest whole number.",
        ),
        Mistake(
            lambda n, b, steps: round(steps / _steps(n, b)),
            "nearly: where one epoch already has more steps than wanted, train for one, not for 0.",
        ),
        Mistake(
            lambda n, b, steps: _steps(n, b),
            "this is the number of steps in an epoch. Divide `steps` by it.",
        ),
    ],
)


def _posteriors() -> list[tuple[Tensor, Tensor]]:
    """Predictions beside a posterior that often favours another class; the last are too modest."""
    generator = torch.Generator().manual_seed(5)
    cases = []
    for (p, _), sharper in zip(PREDICTIONS, (1, 1, 9), strict=True):
        other = 2 * torch.randn(p.shape, generator=generator, dtype=torch.float64)
        cases.append((p, (sharper * p.double().log() + other).softmax(dim=1)))
    return cases


def _excess(probs: Tensor, posterior: Tensor) -> Tensor:
    """Per image, the confidence minus the chance of being right."""
    right = posterior.gather(1, probs.argmax(dim=1, keepdim=True))[:, 0]
    return probs.amax(dim=1).double() - right


true_gap = Exercise(
    "true_gap",
    ("probs", "posterior"),
    reference=lambda p, q: _excess(p, q).mean(),
    cases=_posteriors(),
    mistakes=[
        Mistake(
            lambda p, q: (p.amax(dim=1).double() - q.amax(dim=1)).mean(),
            "this compares with the best possible reader. "
            "The chance of being right is the posterior of the class that *your model* predicts.",
        ),
        Mistake(
            lambda p, q: -_excess(p, q).mean(),
            "the sign is reversed. Take confidence minus chance of being right.",
        ),
        Mistake(
            lambda p, q: _excess(p, q).abs().mean(),
            "you took absolute values image by image. "
            "The gap is the plain mean of the differences.",
        ),
        Mistake(
            lambda p, q: _excess(p, q).mean().abs(),
            "you dropped the sign. It is what tells over-confident (+) from under-confident (-).",
        ),
        Mistake(
            lambda p, q: metrics.signed_gap(p, q.argmax(dim=1)),
            "you took the posterior's favourite for the true label. "
            "The posterior says more than that: how likely the predicted class is.",
        ),
    ],
)


# --- 06: label noise --------------------------------------------------------------------------

RATES = [
    torch.tensor(rates, dtype=torch.float64)
    for rates in ([0.0, 0.25, 0.5], [0.1, 0.4, 0.2, 0.3], [0.05, 0.3])
]


def _law(p: Tensor, **options) -> Tensor:
    return curation.transition_matrix(p, form="classwise", **options)


noise_matrix = Exercise(
    "noise_matrix",
    ("p",),
    reference=_law,
    cases=[(p,) for p in RATES],
    mistakes=[
        Mistake(
            lambda p: _law(p) - torch.diag(1 - p),
            "your rows sum to p_i: the labels that are left alone are missing. "
            "Add 1 - p_i on the diagonal.",
        ),
        Mistake(
            lambda p: torch.diag(1 - p) + p[:, None] * p,
            "your rows do not sum to 1: a drawn label becomes j with probability p_j / sum(p).",
        ),
        Mistake(
            lambda p: curation.transition_matrix(p, form="uniform"),
            "you share the drawn labels out evenly. "
            "Class j gets them in proportion to p_j, its own noise.",
        ),
        Mistake(
            lambda p: _law(p, exclude_true=True),
            "you never draw the true class again. Here it may be drawn, like any other.",
        ),
        Mistake(
            lambda p: torch.diag(1 - p) + p / p.sum(),
            "every row moves the whole label. Only the share p_i of class i is drawn: "
            "multiply row i by p_i.",
        ),
    ],
)


def _through() -> list[tuple[Tensor, Tensor, Tensor]]:
    """Predictions, a lopsided noise, and labels."""
    ramps = [torch.linspace(0.1, 0.5, p.shape[1], dtype=torch.float64) for p, _ in PREDICTIONS]
    lopsided = [curation.transition_matrix(ramp, form="uniform") for ramp in ramps]
    return [(p.double(), t, y) for (p, y), t in zip(PREDICTIONS, lopsided, strict=True)]


def _log_at(probs: Tensor, labels: Tensor) -> Tensor:
    return probs.gather(1, labels[:, None])[:, 0].log()


noisy_nll = Exercise(
    "noisy_nll",
    ("probs", "transition", "labels"),
    reference=lambda p, t, y: -_log_at(p @ t, y).mean(),
    cases=_through(),
    mistakes=[
        Mistake(
            lambda p, t, y: -_log_at(p, y).mean(),
            "you left the transition matrix out: this asks how well the probabilities of the "
            "*true* class predict the *given* labels.",
        ),
        Mistake(
            lambda p, t, y: -_log_at(p @ t.T, y).mean(),
            "the matrix is transposed. Row i of it belongs to true class i: probs @ transition.",
        ),
        Mistake(
            lambda p, t, y: -(p.log() @ t).gather(1, y[:, None]).mean(),
            "you took the logarithm first. Mix the probabilities, then take the logarithm.",
        ),
        Mistake(
            lambda p, t, y: -_log_at(p @ t, y).sum(),
            "this grows with the number of samples: take the mean.",
        ),
        Mistake(
            lambda p, t, y: _log_at(p @ t, y).mean(),
            "the sign is missing: the NLL is minus the mean logarithm.",
        ),
        Mistake(
            lambda p, t, y: -(p @ t).gather(1, y[:, None]).mean(),
            "the logarithm is missing.",
        ),
    ],
)


# --- 10: focal loss ---------------------------------------------------------------------------

SHARES = torch.tensor([0.03, 0.1, 0.2, 0.37, 0.5, 0.8, 0.97], dtype=torch.float64)
FOCAL_CASES = [(SHARES, gamma) for gamma in (1.0, 2.0, 3.0, 0.5)]


def _slope(p, gamma, *, factor=1.0, fall=1.0):
    """g(p, gamma) with the second term changed: times `factor`, exponent gamma - `fall`."""
    return (1 - p) ** gamma - factor * gamma * p * (1 - p) ** (gamma - fall) * p.log()


gradient_ratio = Exercise(
    "gradient_ratio",
    ("p", "gamma"),
    reference=theory.gradient_ratio,
    cases=FOCAL_CASES,
    mistakes=[
        Mistake(
            lambda p, gamma: (1 - p) ** gamma,
            "you took the weight (1 - p)^gamma for a constant. It depends on p too: use the "
            "product rule, which gives a second term.",
        ),
        Mistake(
            lambda p, gamma: _slope(p, gamma, factor=-1),
            "the second term has the wrong sign. log p is negative, so that term must come out "
            "positive: subtract it.",
        ),
        Mistake(
            lambda p, gamma: _slope(p, gamma, factor=1 / p),
            "a factor p is missing in the second term: with u = -log p, dp/du = -p.",
        ),
        Mistake(
            lambda p, gamma: _slope(p, gamma, factor=1 / gamma),
            "a factor gamma is missing in the second term: the exponent comes down.",
        ),
        Mistake(
            lambda p, gamma: _slope(p, gamma, fall=0),
            "the exponent of the second term falls by one: (1 - p)^(gamma - 1).",
        ),
        Mistake(
            lambda p, gamma: -theory.gradient_ratio(p, gamma) / p,
            "this is the derivative by p. Divide it by that of cross-entropy, -1 / p.",
        ),
        Mistake(
            lambda p, gamma: -((1 - p) ** gamma) * p.log(),
            "this is the loss itself. Asked is its slope, as a multiple of cross-entropy's.",
        ),
    ],
)


def _odds_slope(p0: float) -> float:
    return -p0 * math.log(p0) / (1 - p0)


gamma_star = Exercise(
    "gamma_star",
    ("p0",),
    reference=theory.gamma_star,
    cases=[(p0,) for p0 in (0.1, 0.2, 0.25, 0.4)],
    mistakes=[
        Mistake(
            lambda p0: 0.0,
            "you found gamma = 0, which always solves the equation (cross-entropy). It lies on "
            "the principal branch of W; take branch -1: lambertw(y, -1).",
        ),
        Mistake(
            lambda p0: theory.gamma_star(p0) + 1 / _odds_slope(p0),
            "you stopped at v = 1 + gamma s. Subtract 1 before you divide by s.",
        ),
        Mistake(
            lambda p0: theory.gamma_star(p0) * _odds_slope(p0),
            "this is gamma s. Divide by s.",
        ),
        Mistake(
            lambda p0: 1 + theory.gamma_star(p0) * _odds_slope(p0),
            "this is v = 1 + gamma s. Solve it for gamma.",
        ),
        Mistake(
            lambda p0: -theory.gamma_star(p0) - 2 / _odds_slope(p0),
            "a sign got lost: W gives -r v, so that v = -W / r.",
        ),
        Mistake(
            lambda p0: 5.0 if p0 < 0.2 else 3.0,
            "this is the rounded rule of FLSD-53. Asked is the exact gamma*.",
        ),
    ],
)


def _shared_out(first, second):
    return first / (first + second)


focal_posterior = Exercise(
    "focal_posterior",
    ("p", "gamma"),
    reference=lambda p, gamma: theory.focal_posterior(torch.stack([p, 1 - p], -1), gamma)[..., 0],
    cases=FOCAL_CASES,
    mistakes=[
        Mistake(
            lambda p, gamma: p,
            "this is p itself, which is right for gamma = 0 only. Each class needs its own g: "
            "g(p) for the one, g(1 - p) for the other.",
        ),
        Mistake(
            lambda p, gamma: _shared_out(
                p * theory.gradient_ratio(p, gamma), (1 - p) * theory.gradient_ratio(1 - p, gamma)
            ),
            "you multiplied by g. At the minimum q g(p) / p is the same for both classes, "
            "so q goes like p / g(p).",
        ),
        Mistake(
            lambda p, gamma: p / theory.gradient_ratio(p, gamma),
            "the two classes do not sum to 1: divide by p / g(p) + (1 - p) / g(1 - p).",
        ),
        Mistake(
            theory.focal_minimiser,
            "this is the way there, from q to p*. Go back: from p to q.",
        ),
        Mistake(
            lambda p, gamma: _shared_out(p / (1 - p) ** gamma, (1 - p) / p**gamma),
            "you divided by the weight (1 - p)^gamma. The slope of the loss has a second term: "
            "divide by the whole g.",
        ),
    ],
)

# --- 12: mixup --------------------------------------------------------------------------------

# The last class has no sample; a cycle of four differs from its own inverse.
MIX_CASES = [
    (torch.tensor([0, 1, 1, 0]), torch.tensor([1, 2, 3, 0]), 0.8, 3),
    (torch.tensor([1, 0, 0]), torch.tensor([2, 0, 1]), 0.3, 4),
]


def _mixed(labels: Tensor, partner: Tensor, lam: float, classes: int) -> Tensor:
    return mixing.Mix(torch.tensor(lam), partner).soft_labels(labels, classes)


def _mixed_numbers(labels: Tensor, partner: Tensor, lam: float, classes: int) -> Tensor:
    return lam * labels + (1 - lam) * labels[partner]


def _own_share(labels: Tensor, partner: Tensor, lam: float, classes: int) -> Tensor:
    return lam * torch.nn.functional.one_hot(labels, classes)


mixed_labels = Exercise(
    "mixed_labels",
    ("labels", "partner", "lam", "classes"),
    reference=_mixed,
    cases=MIX_CASES,
    mistakes=[
        Mistake(
            lambda y, partner, lam, classes: _mixed(y, partner, 1 - lam, classes),
            "the weights are exchanged: lam belongs to the sample itself, 1 - lam to its partner.",
        ),
        Mistake(
            lambda y, partner, lam, classes: _mixed(y, partner, lam, int(y.max()) + 1),
            "a class is missing. A class that no label of the batch names still has its column: "
            "one_hot(labels, classes).",
        ),
        Mistake(
            _mixed_numbers,
            "you mixed the numbers of the classes. Halfway between a 1 and a 7 lies no 4: turn "
            "labels into one-hot rows first.",
        ),
        Mistake(
            _own_share,
            "the rows do not sum to 1: the partner's share, 1 - lam, is missing.",
        ),
        Mistake(
            lambda y, partner, lam, classes: _mixed(y, partner, float(lam >= 0.5), classes),
            "these are hard labels, the larger share takes all. Keep both shares.",
        ),
        Mistake(
            lambda y, partner, lam, classes: _mixed(y, partner.argsort(), lam, classes),
            "you went from partner to sample. Row i is mixed with row partner[i]: "
            "index with partner.",
        ),
    ],
)


def _errors() -> list[tuple[Tensor, Tensor]]:
    """Errors (seeds, strengths) on two splits whose best strengths differ."""
    generator = torch.Generator().manual_seed(12)
    shapes = ((3, 4), (2, 5), (2, 6))
    draw = {"generator": generator, "dtype": torch.float64}
    return [(torch.rand(shape, **draw), torch.rand(shape, **draw)) for shape in shapes]


def _looked_up(cal: Tensor, test: Tensor) -> Tensor:
    return test.gather(1, cal.argmin(dim=1, keepdim=True))[:, 0]


honest_choice = Exercise(
    "honest_choice",
    ("cal", "test"),
    reference=_looked_up,
    cases=_errors(),
    mistakes=[
        Mistake(
            lambda cal, test: test.amin(dim=1),
            "you chose on the test set: this is the best that luck could offer there.",
        ),
        Mistake(
            lambda cal, test: cal.amin(dim=1),
            "you report the error on the very data that chose, where the winner was lucky. "
            "Report the same strength's error on test.",
        ),
        Mistake(
            lambda cal, test: cal.argmin(dim=1),
            "this is the position of the chosen strength. Asked is its error on test.",
        ),
        Mistake(
            lambda cal, test: test[:, cal.mean(dim=0).argmin()],
            "you chose one strength for all seeds. Here each seed (row) chooses for itself.",
        ),
        Mistake(
            lambda cal, test: test.mean(dim=1),
            "this is the mean over all strengths: nothing was chosen.",
        ),
        Mistake(
            lambda cal, test: _looked_up(-cal, test),
            "you took the largest error on cal: argmin, not argmax.",
        ),
    ],
)

EXERCISES = {
    exercise.name: exercise
    for exercise in (
        signed_gap,
        bin_index,
        ece,
        brier,
        classwise_ece,
        nll_parts,
        scaled_loss,
        equal_steps,
        true_gap,
        noise_matrix,
        noisy_nll,
        gradient_ratio,
        gamma_star,
        focal_posterior,
        mixed_labels,
        honest_choice,
    )
}
