"""Label noise."""

import torch
from torch import Tensor

from calibkit import curation
from calibkit.course.check.cases import PREDICTIONS, SMALL, TINY
from calibkit.course.check.common_mistakes import EPSILONS
from calibkit.course.check.engine import exercise

# fmt: off
RATES = {
    "3 classes, one without noise": [0.0, 0.25, 0.5],
    "4 classes whose rates sum to 1": [0.1, 0.4, 0.2, 0.3],
    "2 classes": [0.05, 0.3],
    "4 classes with equal rates": [0.2, 0.2, 0.2, 0.2],
    "a class whose labels are all drawn": [1.0, 0.5, 0.1],
    "12 classes": [0.02 * k for k in range(12)],
    "rates that sum to more than 1": [0.9, 0.8, 0.3],
    "one class alone is noisy": [0.0, 0.0, 0.4],
}

def _law(p: Tensor, **options) -> Tensor:
    return curation.transition_matrix(p, kind="classwise", **options)

@exercise(cases={name: (torch.tensor(p, dtype=torch.float64),) for name, p in RATES.items()}, mistakes={
    "your rows sum to p_i: the labels that are left alone are missing. Add 1 - p_i on the diagonal.":
        lambda p: _law(p) - torch.diag(1 - p),
    "your rows do not sum to 1: a drawn label becomes j with probability p_j / sum(p).":
        lambda p: torch.diag(1 - p) + p[:, None] * p,
    "you share the drawn labels out evenly. Class j gets them in proportion to p_j, its own noise.":
        lambda p: curation.transition_matrix(p, kind="uniform"),
    "the drawn labels are missing: add the share p_i of row i, spread over the classes.":
        lambda p: torch.diag(1 - p),
    "you multiplied the columns. Row i is drawn with its own rate p_i: p[:, None] is a column; and class j "
    "has the share p_j / sum(p).": lambda p: torch.diag(1 - p) + p / len(p),
    "you divided by the sum twice.": lambda p: torch.diag(1 - p) + p[:, None] * p / p.sum() ** 2,
    "you multiplied column by column: the rate of row i is p_i, so write p[:, None].":
        lambda p: torch.diag(1 - p) + p * p / p.sum(),
    "p and 1 - p are exchanged: p_i is the share that is drawn.":
        lambda p: torch.diag(p) + (1 - p)[:, None] * p / p.sum(),
    "the entries beside the diagonal are missing: a drawn label may become any class.":
        lambda p: torch.diag(1 - p + p * p / p.sum()),
    "your rows sum to more than 1: only the share 1 - p_i is left alone.":
        lambda p: torch.eye(len(p)) + p[:, None] * p / p.sum(),
    "1 - p belongs on the diagonal only: torch.diag(1 - p).": lambda p: 1 - p + p[:, None] * p / p.sum(),
    "you never draw the true class again. Here it may be drawn, like any other.":
        lambda p: _law(p, exclude_true=True),
    "you share p_i out evenly over the other classes, p_i / (K - 1) beside the diagonal. Class j gets a "
    "share in proportion to p_j, and the own class may be drawn again.":
        lambda p: curation.transition_matrix(p, kind="uniform", exclude_true=True),
    "you share the drawn labels out evenly, and the share of the own class is lost, so that the rows do not "
    "sum to 1. Class j gets p_i p_j / sum(p), also where j is i.":
        lambda p: torch.diag(1 - p) + p[:, None] * (1 - torch.eye(len(p))) / len(p),
    "every row moves the whole label. Only the share p_i of class i is drawn: multiply row i by p_i.":
        lambda p: torch.diag(1 - p) + p / p.sum()})
def noise_matrix(p):
    """P(label j | class i) as a matrix (K, K), from the rates p (K,) of the classes."""
    return _law(p)

def _through() -> dict[str, tuple[Tensor, Tensor, Tensor]]:
    """Predictions, a lopsided noise, and labels."""
    cases = {}
    for name, (p, y) in PREDICTIONS.items():
        ramp = torch.linspace(0.1, 0.5, p.shape[1], dtype=torch.float64)
        cases[name] = (p.double(), curation.transition_matrix(ramp, kind="uniform"), y)
    p, y = next(iter(PREDICTIONS.values()))
    tiny, labels = TINY[SMALL]
    classwise = torch.tensor([0.1, 0.5, 0.2], dtype=torch.float64)
    return cases | {
        "a matrix that changes no label": (p, torch.eye(p.shape[1]), y),
        f"a matrix that changes no label, {SMALL}": (tiny, torch.eye(3, dtype=torch.float64), labels),
        "classes confused in proportion":
            (p.double(), curation.transition_matrix(classwise, kind="classwise"), y),
    }

def _log_at(probs: Tensor, labels: Tensor) -> Tensor:
    return probs.gather(1, labels[:, None])[:, 0].log()

FROM_THE_LEFT = "A row of probs belongs to a sample, and goes through the matrix from the left: probs @ transition."

@exercise(cases=_through(), slips={
    r"cannot be multiplied|mat1 and mat2|size mismatch": f"Is the order exchanged? {FROM_THE_LEFT}",
    "must match": "Entry by entry, as with *, these shapes do not fit. The matrix product is probs @ transition.",
    }, mistakes={
    "you left the transition matrix out: this asks how well the probabilities of the *true* class predict "
    "the *given* labels.": lambda p, t, y: -_log_at(p, y).mean(),
    "the matrix is transposed. Row i of it belongs to true class i: probs @ transition.":
        lambda p, t, y: -_log_at(p @ t.T, y).mean(),
    "a softmax was taken of probabilities (cross_entropy has one inside): take the logarithm only.":
        lambda p, t, y: -_log_at((p @ t).softmax(dim=1), y).mean(),
    "you took the mean first. Take the logarithm of each sample, then the mean.":
        lambda p, t, y: -(p @ t).gather(1, y[:, None]).mean().log(),
    "you took the predicted class in place of the label.":
        lambda p, t, y: -_log_at(p @ t, (p @ t).argmax(dim=1)).mean(),
    "you took every row at all labels, as [:, labels] does. Take one entry of each row, that at its own label: "
    "gather(1, labels[:, None]).": lambda p, t, y: -(p @ t)[:, y].log().mean(),
    "you applied the transition matrix twice.": lambda p, t, y: -_log_at(p @ t @ t, y).mean(),
    "you undid the noise. The labels are noisy, so apply the matrix to probs.":
        lambda p, t, y: -_log_at(p @ torch.linalg.inv(t), y).mean(),
    "you took the logarithm first. Mix the probabilities, then take the logarithm.":
        lambda p, t, y: -(p.log() @ t).gather(1, y[:, None]).mean(),
    "this grows with the number of samples: take the mean.": lambda p, t, y: -_log_at(p @ t, y).sum(),
    "the sign is missing: the NLL is minus the mean logarithm.": lambda p, t, y: _log_at(p @ t, y).mean(),
    "the logarithm is missing.": lambda p, t, y: -(p @ t).gather(1, y[:, None]).mean(),
    "an epsilon was added inside the logarithm, to probs @ transition. It changes small probabilities, and "
    "these cost the most. Leave it out: no probability is 0 here.":
        [lambda p, t, y, small=small: -_log_at(p @ t + small, y).mean() for small in EPSILONS],
    f"the order is exchanged. {FROM_THE_LEFT}": lambda p, t, y: -_log_at(t @ p, y).mean()})
def noisy_nll(probs, transition, labels):
    """The mean NLL of noisy labels (n,), in nats: one number. Row i of `transition` is class i."""
    return -_log_at(probs @ transition, labels).mean()
