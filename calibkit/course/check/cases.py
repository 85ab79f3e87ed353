"""What the answers are tried on: probabilities and labels, each case named in words.

The first cases are ordinary, so that a mistake shows in plain numbers; the later ones sit on an
edge. The last class is never the true one in the ordinary cases: nobody can count classes by the
labels.
"""

import torch
from torch import Tensor

Predictions = tuple[Tensor, Tensor]


def _ordinary() -> dict[str, Predictions]:
    """Over-confident predictions, under-confident ones, and a mixture."""
    generator = torch.Generator().manual_seed(0)

    def bold(n: int, classes: int) -> Predictions:
        logits = 3 * torch.randn(n, classes, generator=generator)
        return logits.softmax(dim=1), torch.randint(classes - 1, (n,), generator=generator)

    def shy(n: int, classes: int) -> Predictions:
        logits = 0.5 * torch.randn(n, classes, generator=generator)
        return logits.softmax(dim=1), logits.argmax(dim=1).clamp(max=classes - 2)

    probs, labels = (torch.cat(parts) for parts in zip(bold(30, 4), shy(20, 4), strict=True))
    return {
        "50 over-confident predictions, 3 classes": bold(50, 3),
        "over- and under-confident predictions mixed, 4 classes": (probs, labels),
        "7 under-confident predictions, 5 classes": shy(7, 5),
    }


def rows(confidences: list[float]) -> Tensor:
    """Rows (n, 3) of probabilities whose largest, the confidence, stands first.

    >>> rows([0.5, 1.0]).tolist()
    [[0.5, 0.25, 0.25], [1.0, 0.0, 0.0]]
    """
    first = torch.tensor(confidences)
    return torch.stack([first, (1 - first) / 2, (1 - first) / 2], dim=1)


# fmt: off
def _ints(*labels: int) -> Tensor:
    return torch.tensor(labels)

ORDINARY = _ordinary()
BOLD, MIXED, SHY = ORDINARY.values()

EDGES = {
    "all predictions right": (MIXED[0], MIXED[0].argmax(dim=1)),
    "all predictions wrong": (MIXED[0], MIXED[0].argmin(dim=1)),
    "one prediction only": (SHY[0][:1], SHY[1][:1]),
    "two classes only": (torch.tensor([[0.9, 0.1], [0.375, 0.625], [0.25, 0.75]]), _ints(0, 0, 1)),
    "predictions that are certain (a probability of exactly 1), right and wrong":
        (torch.eye(3)[[0, 1, 2, 0, 1]], _ints(0, 1, 0, 1, 1)),
    # as many right with the first of the two as with the last, for the texts leave this open
    "rows in which two classes share the largest probability":
        (torch.tensor([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.375, 0.25, 0.375], [0.125, 0.5, 0.375]]),
            _ints(0, 1, 1, 1)),
    "votes in tenths, some of them zero":
        (torch.tensor([[7, 3, 0, 0], [0, 9, 1, 0], [5, 0, 2, 3], [0, 0, 0, 10]]) / 10, _ints(2, 1, 0, 1)),
}

def _many(n: int, classes: int) -> Predictions:
    """More rows than any batch, and more classes than digits have."""
    generator = torch.Generator().manual_seed(1)
    logits = 2 * torch.randn(n, classes, generator=generator)
    return logits.softmax(dim=1), torch.randint(classes - 1, (n,), generator=generator)

LONG = {"300 predictions, 12 classes": _many(300, 12)}
PREDICTIONS = ORDINARY | EDGES | LONG

def binned(cases: dict[str, Predictions], bins: list[int]) -> dict[str, tuple]:
    """The cases with a number of bins each, which joins their names."""
    return {f"{name}, in {number} bin{'s'[: number > 1]}": (*case, number)
        for (name, case), number in zip(cases.items(), bins, strict=True)}

BINNED = binned(PREDICTIONS, [15, 10, 4, 10, 10, 15, 4, 5, 8, 10, 20]) | {
    "neighbouring bins, one over- and one under-confident":
        (rows([0.53, 0.57, 0.63, 0.67]), _ints(1, 2, 0, 0), 10),
    # quarters and eighths are exact in binary: the edges are the lesson here, not their rounding
    "confidences exactly on the edges of 4 bins": (rows([0.5, 0.625, 0.75, 1.0]), _ints(0, 1, 0, 1), 4),
    "confidences exactly on the edges of 16 bins, right and wrong":
        (rows([0.4375, 0.5, 0.5625, 0.625, 0.6875, 0.8125, 0.9375]), _ints(0, 0, 2, 0, 1, 0, 0), 16),
    "a single bin": (*BOLD, 1),
    "41 predictions (one more than 4 times 10), in 10 bins": (BOLD[0][:41], BOLD[1][:41], 10),
}
# a number that is added or cut for safety, such as 1e-8, shows in their logarithms
SMALL = "labels of probability 3e-9, 2e-8 and 1e-4"
TINY = {SMALL: (torch.tensor([[0.75, 0.25 - 3e-9, 3e-9], [2e-8, 0.25, 0.75 - 2e-8], [1e-4, 0.4999, 0.5]] * 2,
    dtype=torch.float64), _ints(2, 0, 0, 0, 2, 2))}
POSITIVE = {name: case for name, case in PREDICTIONS.items() if case[0].all()} | TINY
