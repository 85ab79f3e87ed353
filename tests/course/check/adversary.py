"""An independent set of answers to the exercises of lessons 03 to 21, right and wrong ones.

Written from the texts of the exercises alone, before anything of the checkers was read. `TABLE`
has, for each exercise, its answers: a short name, "wrong" or "right", the function, and for a wrong
one the diagnosis that a good teacher would give. `score()` asks `check.NAME` about every one.

What makes an answer wrong: on inputs that the exercise's text allows it differs from the solution
by more than one part in 100,000, or it overwrites its inputs. A right one agrees to one part in a
million. `adversary_cases.py` proves both on inputs of its own.
"""

import contextlib
import io
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce

import numpy as np
import pandas as pd
import scipy.optimize
import scipy.special
import scipy.stats
import torch
from torch.nn import functional

from calibkit import metrics, recalibration, theory

TABLE: dict[str, list["Answer"]] = {}


@dataclass(frozen=True)
class Answer:
    """One answer to one exercise: what it is called, "wrong" or "right", and why it is wrong."""

    name: str
    kind: str
    function: Callable
    diagnosis: str = ""


@dataclass
class Exercise:
    """Collects the answers to one exercise; its methods are called, or used as decorators."""

    name: str
    answers: list[Answer] = field(default_factory=list)

    def __post_init__(self):
        TABLE[self.name] = self.answers

    def wrong(self, name: str, diagnosis: str, function: Callable | None = None):
        """Add a wrong answer."""
        return self._add(name, "wrong", function, diagnosis)

    def right(self, name: str, function: Callable | None = None):
        """Add a right answer."""
        return self._add(name, "right", function, "")

    def _add(self, name, kind, function, diagnosis):
        if function is None:
            return lambda later: self._add(name, kind, later, diagnosis)
        self.answers.append(Answer(name, kind, function, diagnosis))
        return function


def half(function):
    """The same answer, computed in half precision and given back as float32."""

    def rough(*arguments):
        low = [
            one.half() if torch.is_tensor(one) and one.is_floating_point() else one
            for one in arguments
        ]
        return function(*low).float()

    return rough


def nats(probs, labels):
    """Minus the logarithm of the probability of each label, (n,), float64."""
    return -probs.double()[range(len(labels)), labels].log()


# 03: the two parts of the loss

parts = Exercise("nll_parts")


def split(loss, right, count):
    """The two sums, divided by a count."""
    return loss[right].sum() / count, loss[~right].sum() / count


def is_right(probs, labels):
    """Where the most probable class is the label, (n,)."""
    return probs.argmax(dim=1) == labels


@parts.wrong("own counts", "each part is divided by its own number of images, not by all")
def _(probs, labels):
    loss, right = nats(probs, labels), is_right(probs, labels)
    return loss[right].mean(), loss[~right].mean()


parts.wrong(
    "swapped",
    "the two parts are returned in the wrong order",
    lambda probs, labels: split(nats(probs, labels), is_right(probs, labels), len(labels))[::-1],
)
parts.wrong(
    "no minus",
    "the minus sign is missing",
    lambda probs, labels: split(-nats(probs, labels), is_right(probs, labels), len(labels)),
)
parts.wrong(
    "bits",
    "the logarithm has base 2, not e",
    lambda probs, labels: split(
        nats(probs, labels) / math.log(2), is_right(probs, labels), len(labels)
    ),
)
parts.wrong(
    "decimal logarithm",
    "the logarithm has base 10, not e",
    lambda probs, labels: split(
        nats(probs, labels) / math.log(10), is_right(probs, labels), len(labels)
    ),
)
parts.wrong(
    "confidence",
    "takes the probability of the predicted class, not of the label",
    lambda probs, labels: split(
        -probs.double().amax(dim=1).log(), is_right(probs, labels), len(labels)
    ),
)
parts.wrong(
    "sums",
    "the sums are not divided by the number of images",
    lambda probs, labels: split(nats(probs, labels), is_right(probs, labels), 1),
)
parts.wrong(
    "n times K",
    "divided by the number of entries of probs, not by the number of images",
    lambda probs, labels: split(nats(probs, labels), is_right(probs, labels), probs.numel()),
)
parts.wrong(
    "clamped",
    "probabilities below 1e-6 are raised to 1e-6, which caps the loss",
    lambda probs, labels: split(
        nats(probs.clamp(1e-6, 1), labels), is_right(probs, labels), len(labels)
    ),
)
parts.wrong(
    "epsilon",
    "1e-7 is added inside the logarithm, which changes tiny probabilities",
    lambda probs, labels: split(
        nats(probs.double() + 1e-7, labels), is_right(probs, labels), len(labels)
    ),
)
parts.wrong(
    "above one half",
    "a prediction counts as right only where the label has more than one half",
    lambda probs, labels: split(
        nats(probs, labels), probs[range(len(labels)), labels] > 0.5, len(labels)
    ),
)
parts.wrong(
    "miss",
    "the wrong part takes 1 - p of the predicted class for p of the label",
    lambda probs, labels: (
        split(nats(probs, labels), is_right(probs, labels), len(labels))[0],
        split(-(1 - probs.double().amax(dim=1)).log(), is_right(probs, labels), len(labels))[1],
    ),
)
parts.wrong(
    "all as wrong",
    "the second number is the loss of all predictions",
    lambda probs, labels: (
        split(nats(probs, labels), is_right(probs, labels), len(labels))[0],
        nats(probs, labels).mean(),
    ),
)
parts.wrong(
    "half precision",
    "computed in float16, so the result is off in the third digit",
    lambda probs, labels: split(nats(probs.half(), labels), is_right(probs, labels), len(labels)),
)


@parts.right("loop")
def _(probs, labels):
    sums = [0.0, 0.0]
    for row, label in zip(probs.tolist(), labels.tolist(), strict=True):
        sums[row.index(max(row)) != label] -= math.log(row[label])
    return sums[0] / len(labels), sums[1] / len(labels)


@parts.right("numpy")
def _(probs, labels):
    probs, labels = probs.double().numpy(), labels.numpy()
    loss = -np.log(np.take_along_axis(probs, labels[:, None], axis=1)[:, 0])
    right = probs.argmax(axis=1) == labels
    return (loss * right).sum() / len(labels), (loss * ~right).sum() / len(labels)


@parts.right("one-hot")
def _(probs, labels):
    own = torch.einsum(
        "nk,nk->n", probs.double(), functional.one_hot(labels, probs.shape[1]).double()
    )
    zero = torch.zeros_like(own)
    right = is_right(probs, labels)
    return (
        torch.where(right, -own.log(), zero).mean().item(),
        torch.where(right, zero, -own.log()).mean().item(),
    )


@parts.right("the rest")
def _(probs, labels):
    loss = nats(probs, labels)
    first = loss[is_right(probs, labels)].sum() / len(loss)
    return first, loss.mean() - first


@parts.right("nll_loss")
def _(probs, labels):
    loss = functional.nll_loss(probs.double().log(), labels, reduction="none")
    return torch.bincount((~is_right(probs, labels)).long(), loss, minlength=2) / len(labels)


@parts.right("float32")
def _(probs, labels):
    loss = -probs.gather(1, labels.unsqueeze(1)).squeeze(1).log()
    right = (probs.amax(dim=1) == probs.gather(1, labels.unsqueeze(1)).squeeze(1)) & is_right(
        probs, labels
    )
    return [loss[right].sum().div(len(loss)), loss[right.logical_not()].sum().div(len(loss))]


# 03: a rule that stops in time

stop = Exercise("early_stop")


def stopped(losses, patience, worse=lambda loss, best: loss >= best, late=0):
    """The rule as a loop, with a place for each mistake."""
    kept = epoch = 0
    for epoch, loss in enumerate(losses):
        if not worse(loss, losses[kept]):
            kept = epoch
        if epoch - kept == patience + late:
            break
    return kept, epoch


stop.wrong(
    "one late",
    "stops one epoch too late",
    lambda losses, patience: stopped(losses, patience, late=1),
)
stop.wrong(
    "one early",
    "stops one epoch too early",
    lambda losses, patience: stopped(losses, patience, late=-1) if patience > 1 else (0, 0),
)
stop.wrong(
    "last of equals",
    "keeps the last of equal epochs, not the first",
    lambda losses, patience: stopped(losses, patience, lambda loss, best: loss > best),
)
stop.wrong(
    "never stops",
    "never stops: keeps the lowest of all epochs and trains to the end",
    lambda losses, patience: (int(np.argmin([float(loss) for loss in losses])), len(losses) - 1),
)
stop.wrong(
    "sees the future",
    "keeps the lowest of all epochs, also of those that were never trained",
    lambda losses, patience: (
        int(np.argmin([float(loss) for loss in losses])),
        stopped(losses, patience)[1],
    ),
)
stop.wrong(
    "swapped",
    "the two numbers are returned in the wrong order",
    lambda losses, patience: stopped(losses, patience)[::-1],
)
stop.wrong(
    "from one",
    "epochs are counted from 1, not from 0",
    lambda losses, patience: tuple(epoch + 1 for epoch in stopped(losses, patience)),
)
stop.wrong(
    "beyond the end",
    "the last epoch is kept + patience, even where training ends before",
    lambda losses, patience: (
        stopped(losses, patience)[0],
        stopped(losses, patience)[0] + patience,
    ),
)


@stop.wrong(
    "length", "if the rule never stops, returns the number of epochs, not the index of the last"
)
def _(losses, patience):
    kept, last = stopped(losses, patience)
    return kept, last if last - kept == patience else len(losses)


@stop.wrong("rises in a row", "compares with the epoch before, not with the lowest value so far")
def _(losses, patience):
    kept, rises, epoch = 0, 0, 0
    for epoch in range(1, len(losses)):
        rises = rises + 1 if losses[epoch] >= losses[epoch - 1] else 0
        if losses[epoch] < losses[kept]:
            kept = epoch
        if rises == patience:
            break
    return kept, epoch


@stop.wrong("not in a row", "counts all epochs without a new lowest value, not those in a row")
def _(losses, patience):
    kept, waited, epoch = 0, 0, 0
    for epoch in range(1, len(losses)):
        if losses[epoch] < losses[kept]:
            kept = epoch
        else:
            waited += 1
        if waited == patience:
            break
    return kept, epoch


stop.wrong(
    "the value",
    "returns the lowest loss, not its epoch",
    lambda losses, patience: (
        float(losses[stopped(losses, patience)[0]]),
        stopped(losses, patience)[1],
    ),
)
stop.wrong(
    "back by patience",
    "keeps last - patience, also where the rule never stopped",
    lambda losses, patience: (
        max(0, stopped(losses, patience)[1] - patience),
        stopped(losses, patience)[1],
    ),
)
stop.wrong(
    "at least 0.001",
    "a new lowest value counts only if it is lower by 0.001",
    lambda losses, patience: stopped(losses, patience, lambda loss, best: loss >= best - 1e-3),
)
stop.wrong(
    "patience 3",
    "ignores `patience`: always waits three epochs",
    lambda losses, patience: stopped(losses, 3),
)
stop.wrong(
    "rounded",
    "rounds the losses to two decimals, so close ones become equal",
    lambda losses, patience: stopped([round(float(loss), 2) for loss in losses], patience),
)


@stop.wrong("starts at 1", "the best value starts at 1, so a loss above 1 is never a new lowest")
def _(losses, patience):
    best, kept, epoch = 1.0, 0, 0
    for epoch, loss in enumerate(losses):
        if loss < best:
            best, kept = loss, epoch
        if epoch - kept == patience:
            break
    return kept, epoch


@stop.right("counter")
def _(losses, patience):
    best, kept, waited, epoch = math.inf, -1, 0, -1
    while waited < patience and epoch + 1 < len(losses):
        epoch += 1
        if float(losses[epoch]) < best:
            best, kept, waited = float(losses[epoch]), epoch, 0
        else:
            waited += 1
    return kept, epoch


@stop.right("running minimum")
def _(losses, patience):
    values = np.asarray([float(loss) for loss in losses])
    lowest = np.minimum.accumulate(values)
    new = np.r_[True, values[1:] < lowest[:-1]]
    kept = np.maximum.accumulate(np.where(new, np.arange(len(values)), 0))
    ends = np.flatnonzero(np.arange(len(values)) - kept >= patience)
    last = ends[0] if len(ends) else len(values) - 1
    return kept[last], last


@stop.right("brute force")
def _(losses, patience):
    values = [float(loss) for loss in losses]
    for last in range(patience, len(values)):
        seen = values[: last + 1]
        if seen.index(min(seen)) == last - patience:
            return last - patience, last
    return values.index(min(values)), len(values) - 1


@stop.right("for and else")
def _(losses, patience):
    kept = 0
    for epoch in range(1, len(losses)):
        if losses[epoch] < losses[kept]:
            kept = epoch
        elif epoch - kept >= patience:
            return [kept, epoch]
    return [kept, len(losses) - 1]


@stop.right("tensor")
def _(losses, patience):
    kept = torch.tensor(0)
    for epoch in torch.arange(len(losses)):
        if losses[int(epoch)] < losses[int(kept)]:
            kept = epoch
        if epoch - kept >= patience:
            break
    return torch.stack([kept, epoch])


# 04: from image to tokens

tokens = Exercise("patch_tokens")


def cut(images, patch):
    """(n, rows, columns, patch, patch): the patches of each image."""
    return images.unfold(1, patch, patch).unfold(2, patch, patch)


tokens.wrong(
    "plain reshape",
    "the axes are not exchanged: a token holds pixels of whole rows, not of a patch",
    lambda images, patch: images.reshape(len(images), -1, patch * patch),
)
tokens.wrong(
    "columns first",
    "the patches come down the columns first, not along the rows",
    lambda images, patch: (
        cut(images, patch).transpose(1, 2).reshape(len(images), -1, patch * patch)
    ),
)
tokens.wrong(
    "pixels down",
    "the pixels inside a patch come down the columns first",
    lambda images, patch: (
        cut(images, patch).transpose(3, 4).reshape(len(images), -1, patch * patch)
    ),
)
tokens.wrong(
    "square only",
    "takes the height for the width, so it fails where images are not square",
    lambda images, patch: (
        images.reshape(
            len(images), images.shape[1] // patch, patch, images.shape[1] // patch, patch
        )
        .transpose(2, 3)
        .reshape(len(images), -1, patch * patch)
    ),
)
tokens.wrong(
    "four tokens",
    "the number of tokens is fixed at four",
    lambda images, patch: cut(images, patch).reshape(len(images), 4, patch * patch),
)
tokens.wrong(
    "size 4",
    "ignores `patch`: always cuts patches of 4 x 4",
    lambda images, patch: cut(images, 4).reshape(len(images), -1, 16),
)
tokens.wrong(
    "not flattened",
    "a patch keeps its two axes: shape (n, tokens, patch, patch)",
    lambda images, patch: cut(images, patch).flatten(1, 2),
)
tokens.wrong(
    "pixels before tokens",
    "the last two axes are exchanged: (n, pixels, tokens)",
    lambda images, patch: (
        cut(images, patch).reshape(len(images), -1, patch * patch).transpose(1, 2)
    ),
)
tokens.wrong(
    "images lost",
    "the tokens of all images stand in one list: no axis for the images",
    lambda images, patch: cut(images, patch).reshape(-1, patch * patch),
)
tokens.wrong(
    "overlap",
    "the patches overlap: the window moves by one pixel, not by `patch`",
    lambda images, patch: (
        images.unfold(1, patch, 1).unfold(2, patch, 1).reshape(len(images), -1, patch * patch)
    ),
)
tokens.wrong(
    "last ones missing",
    "the last row and column of patches are missing",
    lambda images, patch: cut(images, patch)[:, :-1, :-1].reshape(len(images), -1, patch * patch),
)
tokens.wrong(
    "every patch-th pixel",
    "a token takes every patch-th pixel, not neighbours",
    lambda images, patch: torch.stack(
        [
            images[:, row :: images.shape[1] // patch, column :: images.shape[2] // patch].flatten(
                1
            )
            for row in range(images.shape[1] // patch)
            for column in range(images.shape[2] // patch)
        ],
        dim=1,
    ),
)
tokens.wrong(
    "first image",
    "every image gets the tokens of the first one",
    lambda images, patch: (
        cut(images[:1], patch).reshape(1, -1, patch * patch).repeat(len(images), 1, 1)
    ),
)
tokens.wrong(
    "backwards",
    "the patches come in reverse order",
    lambda images, patch: cut(images, patch).reshape(len(images), -1, patch * patch).flip(1),
)
tokens.wrong(
    "centred",
    "the mean of each patch is subtracted, which nobody asked for",
    lambda images, patch: (lambda cuts: cuts - cuts.mean(dim=2, keepdim=True))(
        cut(images, patch).reshape(len(images), -1, patch * patch).double()
    ),
)


@tokens.right("slices")
def _(images, patch):
    _, height, width = images.shape
    return torch.stack(
        [
            images[:, top : top + patch, left : left + patch].flatten(1)
            for top in range(0, height, patch)
            for left in range(0, width, patch)
        ],
        dim=1,
    )


tokens.right("tensor.unfold", lambda images, patch: cut(images, patch).flatten(3).flatten(1, 2))
tokens.right(
    "functional.unfold",
    lambda images, patch: (
        functional.unfold(images.double()[:, None], patch, stride=patch)
        .transpose(1, 2)
        .to(images.dtype)
    ),
)
tokens.right(
    "pixel_unshuffle",
    lambda images, patch: functional.pixel_unshuffle(images[:, None], patch).flatten(2).mT,
)
tokens.right(
    "einsum",
    lambda images, patch: torch.einsum(
        "nrpcq->nrcpq", images.reshape(len(images), images.shape[1] // patch, patch, -1, patch)
    ).reshape(len(images), -1, patch**2),
)


@tokens.right("chunks")
def _(images, patch):
    strips = images.split(patch, dim=1)
    return torch.cat(
        [
            torch.stack([one.reshape(len(images), -1) for one in strip.split(patch, dim=2)], dim=1)
            for strip in strips
        ],
        dim=1,
    )


@tokens.right("indices")
def _(images, patch):
    _, height, width = images.shape
    places = torch.arange(height * width).reshape(1, height, width)
    return images.flatten(1)[:, cut(places, patch).reshape(-1)].reshape(
        len(images), -1, patch * patch
    )


# 04: attention

attend = Exercise("attention")


def looked(queries, keys, values, scale=None, dim=1):
    """Attention with another scale or axis."""
    scale = keys.shape[1] ** -0.5 if scale is None else scale
    return (queries @ keys.T * scale).softmax(dim=dim) @ values


attend.wrong(
    "no scale",
    "the division by the root of d is missing",
    lambda queries, keys, values: looked(queries, keys, values, 1.0),
)
attend.wrong(
    "by d",
    "divided by d, not by its root",
    lambda queries, keys, values: looked(queries, keys, values, 1 / keys.shape[1]),
)
attend.wrong(
    "by tokens",
    "divided by the root of the number of tokens, not of d",
    lambda queries, keys, values: looked(queries, keys, values, len(keys) ** -0.5),
)
attend.wrong(
    "times root",
    "multiplied by the root of d, not divided",
    lambda queries, keys, values: looked(queries, keys, values, keys.shape[1] ** 0.5),
)
attend.wrong(
    "columns",
    "the softmax runs along the columns, not the rows",
    lambda queries, keys, values: looked(queries, keys, values, dim=0),
)
attend.wrong(
    "softmax of all",
    "one softmax over the whole matrix: the rows do not sum to 1",
    lambda queries, keys, values: (
        (queries @ keys.T / keys.shape[1] ** 0.5).flatten().softmax(0).reshape(len(queries), -1)
        @ values
    ),
)
attend.wrong(
    "swapped",
    "queries and keys are exchanged",
    lambda queries, keys, values: looked(keys, queries, values),
)
attend.wrong(
    "keys as values",
    "averages the keys, not the values",
    lambda queries, keys, values: looked(queries, keys, keys),
)
attend.wrong(
    "weights alone",
    "returns the weights; the product with the values is missing",
    lambda queries, keys, values: (queries @ keys.T / keys.shape[1] ** 0.5).softmax(dim=1),
)
attend.wrong(
    "transposed weights",
    "the weights are transposed before the product with the values",
    lambda queries, keys, values: (
        (queries @ keys.T / keys.shape[1] ** 0.5).softmax(dim=1).T @ values
    ),
)
attend.wrong(
    "scale outside",
    "the scale is applied after the softmax",
    lambda queries, keys, values: looked(queries, keys, values, 1.0) / keys.shape[1] ** 0.5,
)
attend.wrong(
    "causal",
    "each token sees only the tokens up to itself",
    lambda queries, keys, values: functional.scaled_dot_product_attention(
        queries[None], keys[None], values[None], is_causal=True
    )[0],
)
attend.wrong(
    "hard",
    "takes the value of the best key alone, not a weighted mean",
    lambda queries, keys, values: values[(queries @ keys.T).argmax(dim=1)],
)
attend.wrong(
    "sigmoid",
    "sigmoid in place of softmax: the weights of a row do not sum to 1",
    lambda queries, keys, values: (queries @ keys.T / keys.shape[1] ** 0.5).sigmoid() @ values,
)
attend.wrong(
    "d is 8",
    "d is fixed at 8",
    lambda queries, keys, values: looked(queries, keys, values, 8**-0.5),
)


@attend.wrong("bare exp", "exp of large scores overflows to infinity, and gives NaN")
def _(queries, keys, values):
    weights = (queries @ keys.T / keys.shape[1] ** 0.5).exp()
    return weights / weights.sum(dim=1, keepdim=True) @ values


@attend.wrong("sum without keepdim", "each column, not each row, is divided by the sum of a row")
def _(queries, keys, values):
    weights = (queries @ keys.T / keys.shape[1] ** 0.5).exp()
    return weights / weights.sum(dim=1) @ values


@attend.wrong("in place", "overwrites `queries`: a second call gives another result")
def _(queries, keys, values):
    queries /= keys.shape[1] ** 0.5
    return (queries @ keys.T).softmax(dim=1) @ values


attend.right(
    "PyTorch",
    lambda queries, keys, values: functional.scaled_dot_product_attention(
        queries[None, None], keys[None, None], values[None, None]
    )[0, 0],
)
attend.right(
    "einsum",
    lambda queries, keys, values: torch.einsum(
        "ij,jd->id",
        (torch.einsum("id,jd->ij", queries, keys) / math.sqrt(queries.shape[1])).softmax(-1),
        values,
    ),
)
attend.right(
    "float64",
    lambda queries, keys, values: looked(queries.double(), keys.double(), values.double()).to(
        values.dtype
    ),
)
attend.right(
    "both scaled",
    lambda queries, keys, values: (
        ((queries * keys.shape[1] ** -0.25) @ (keys * keys.shape[1] ** -0.25).mT).softmax(dim=1)
        @ values
    ),
)


@attend.right("loop")
def _(queries, keys, values):
    rows = []
    for query in queries:
        scores = torch.stack([(query * key).sum() for key in keys]) / len(query) ** 0.5
        weights = (scores - scores.max()).exp()
        rows.append(
            sum(weight * value for weight, value in zip(weights, values, strict=True))
            / weights.sum()
        )
    return torch.stack(rows)


@attend.right("numpy")
def _(queries, keys, values):
    q, k, v = (one.double().numpy() for one in (queries, keys, values))
    return torch.from_numpy(scipy.special.softmax(q @ k.T / np.sqrt(q.shape[1]), axis=1) @ v)


@attend.right("logsumexp")
def _(queries, keys, values):
    scores = queries.double() @ keys.double().T / keys.shape[1] ** 0.5
    return (scores - scores.logsumexp(dim=1, keepdim=True)).exp() @ values.double()


# 05: a gap and its interval

interval = Exercise("gap_interval")


def sure(probs):
    """The confidence of each row, (n,), float64."""
    return probs.double().amax(dim=1)


def apart(probs, labels):
    """Confidence minus hit of each row, (n,)."""
    return sure(probs) - (probs.argmax(dim=1) == labels).double()


def around(middle, half):
    return middle - half, middle, middle + half


def error(values):
    return values.std() / len(values) ** 0.5


interval.wrong(
    "single images",
    "where single images lie, not their mean: the root of n is missing",
    lambda probs, labels: around(apart(probs, labels).mean(), 1.96 * apart(probs, labels).std()),
)
interval.wrong(
    "one error",
    "one standard error to each side, not 1.96",
    lambda probs, labels: around(apart(probs, labels).mean(), error(apart(probs, labels))),
)
interval.wrong(
    "two ends",
    "the gap itself is missing: two numbers in place of three",
    lambda probs, labels: around(apart(probs, labels).mean(), 1.96 * error(apart(probs, labels)))[
        ::2
    ],
)
interval.wrong(
    "biased",
    "the standard deviation divides by n, not by n - 1",
    lambda probs, labels: around(
        apart(probs, labels).mean(),
        1.96 * apart(probs, labels).std(correction=0) / len(labels) ** 0.5,
    ),
)
interval.wrong(
    "sign",
    "accuracy minus confidence: the sign is reversed",
    lambda probs, labels: around(-apart(probs, labels).mean(), 1.96 * error(apart(probs, labels))),
)
interval.wrong(
    "of the accuracy",
    "the standard error is that of the accuracy alone",
    lambda probs, labels: around(
        apart(probs, labels).mean(),
        1.96 * error((probs.argmax(dim=1) == labels).double()),
    ),
)
interval.wrong(
    "per cent",
    "in per cent, not as a fraction",
    lambda probs, labels: around(
        100 * apart(probs, labels).mean(), 196 * error(apart(probs, labels))
    ),
)


@interval.right("loop")
def _(probs, labels):
    off = []
    for row, label in zip(probs.double().tolist(), labels.tolist(), strict=True):
        k = max(range(len(row)), key=row.__getitem__)
        off.append(row[k] - (k == label))
    mean = sum(off) / len(off)
    spread = math.sqrt(sum((x - mean) ** 2 for x in off) / (len(off) - 1))
    return around(mean, 1.96 * spread / math.sqrt(len(off)))


@interval.right("numpy")
def _(probs, labels):
    off = apart(probs, labels).numpy()
    return around(off.mean(), 1.96 * off.std(ddof=1) / np.sqrt(len(off)))


@interval.right("tensor")
def _(probs, labels):
    off = apart(probs, labels)
    return torch.tensor([-1.96, 0, 1.96]) * error(off) + off.mean()


# 06: the loss seen through the noise

seen = Exercise("noisy_nll")

seen.wrong(
    "transposed",
    "the transition matrix is transposed: rows are true classes",
    lambda probs, transition, labels: nats(probs @ transition.T, labels).mean(),
)
seen.wrong(
    "no noise",
    "ignores the transition matrix",
    lambda probs, transition, labels: nats(probs, labels).mean(),
)
seen.wrong(
    "log first",
    "takes the logarithm before mixing, not after",
    lambda probs, transition, labels: -(probs.log() @ transition).gather(1, labels[:, None]).mean(),
)
seen.wrong(
    "sum",
    "the sum, not the mean",
    lambda probs, transition, labels: nats(probs @ transition, labels).sum(),
)
seen.wrong(
    "bits",
    "the logarithm has base 2, not e",
    lambda probs, transition, labels: (
        -(probs @ transition).gather(1, labels[:, None]).log2().mean()
    ),
)
seen.wrong(
    "no minus",
    "the minus sign is missing",
    lambda probs, transition, labels: -nats(probs @ transition, labels).mean(),
)
seen.wrong(
    "inverse",
    "applies the inverse matrix (backward correction)",
    lambda probs, transition, labels: nats(
        (probs.double() @ transition.double().inverse()).clamp(min=1e-12), labels
    ).mean(),
)
seen.wrong(
    "row of the label",
    "takes the row of the label, which is a true class, not the column",
    lambda probs, transition, labels: -(probs * transition[labels]).sum(dim=1).log().mean(),
)
seen.wrong(
    "n times K",
    "the mean over all entries of the matrix, not over the images",
    lambda probs, transition, labels: (
        -(functional.one_hot(labels, probs.shape[1]) * (probs @ transition).log()).mean()
    ),
)
seen.wrong(
    "hard prediction",
    "takes the row of the most probable class instead of the mixture",
    lambda probs, transition, labels: nats(transition[probs.argmax(dim=1)], labels).mean(),
)
seen.wrong(
    "softmax again",
    "applies a softmax to what are probabilities already",
    lambda probs, transition, labels: functional.cross_entropy(probs @ transition, labels),
)
seen.wrong(
    "confidence",
    "takes the largest probability, not that of the label",
    lambda probs, transition, labels: -(probs @ transition).amax(dim=1).log().mean(),
)
seen.wrong(
    "mean before log",
    "the logarithm of the mean, not the mean of the logarithms",
    lambda probs, transition, labels: -(probs @ transition).gather(1, labels[:, None]).mean().log(),
)
seen.wrong(
    "clamped",
    "probabilities below 0.01 are raised to 0.01",
    lambda probs, transition, labels: nats((probs @ transition).clamp(min=0.01), labels).mean(),
)
seen.wrong(
    "in place",
    "overwrites `probs` with the noisy probabilities",
    lambda probs, transition, labels: nats(probs.copy_(probs @ transition), labels).mean(),
)

seen.right(
    "column of the label",
    lambda probs, transition, labels: -(probs * transition.T[labels]).sum(dim=1).log().mean(),
)
seen.right(
    "nll_loss",
    lambda probs, transition, labels: functional.nll_loss((probs @ transition).log(), labels),
)
seen.right(
    "float64",
    lambda probs, transition, labels: (
        nats(probs.double() @ transition.double(), labels).mean().item()
    ),
)
seen.right(
    "einsum",
    lambda probs, transition, labels: (
        -torch.einsum(
            "ni,ij,nj->n",
            probs,
            transition,
            functional.one_hot(labels, len(transition)).to(probs.dtype),
        )
        .log()
        .mean()
    ),
)


@seen.right("loop")
def _(probs, transition, labels):
    total = 0.0
    for row, label in zip(probs, labels, strict=True):
        total -= math.log(sum(float(row[k]) * float(transition[k, label]) for k in range(len(row))))
    return total / len(labels)


@seen.right("numpy")
def _(probs, transition, labels):
    noisy = probs.double().numpy() @ transition.double().numpy()
    return -np.log(noisy[np.arange(len(labels)), labels.numpy()]).mean()


# 06: the transition matrix

noise = Exercise("noise_matrix")


def drawn(p):
    """The share of each class among the drawn labels, (K,)."""
    return p / p.sum()


noise.wrong(
    "no diagonal", "the labels that are left alone are missing", lambda p: torch.outer(p, drawn(p))
)
noise.wrong(
    "uniform",
    "drawn labels are spread evenly, not by p_j / sum p",
    lambda p: torch.diag(1 - p) + p[:, None] / len(p),
)
noise.wrong(
    "not its own",
    "a drawn label may not become its own class again",
    lambda p: (
        torch.diag(1 - p)
        + p[:, None]
        * (lambda w: w / w.sum(dim=1, keepdim=True))(
            (drawn(p)[None] * (1 - torch.eye(len(p)))).to(p.dtype)
        )
    ),
)
noise.wrong(
    "no shares",
    "p_j is not divided by the sum: the rows do not sum to 1",
    lambda p: torch.diag(1 - p) + torch.outer(p, p),
)
noise.wrong(
    "by K",
    "p_j is divided by the number of classes, not by the sum",
    lambda p: torch.diag(1 - p) + torch.outer(p, p) / len(p),
)
noise.wrong(
    "p on the diagonal",
    "p_i on the diagonal where 1 - p_i is meant",
    lambda p: torch.diag(p) + torch.outer(p, drawn(p)),
)
noise.wrong(
    "mean rate",
    "every class gets the mean share, not its own",
    lambda p: torch.diag(1 - p.mean().expand(len(p))) + p.mean() * drawn(p)[None],
)
noise.wrong(
    "rescaled rows",
    "the rows are divided by their sums afterwards, which hides a missing division",
    lambda p: (lambda m: m / m.sum(dim=1, keepdim=True))(torch.diag(1 - p) + torch.outer(p, p)),
)
noise.wrong(
    "identity",
    "1 in place of 1 - p_i on the diagonal",
    lambda p: torch.eye(len(p), dtype=p.dtype) + torch.outer(p, drawn(p)),
)
noise.wrong(
    "no column",
    "`p` is not made a column: every row is drawn at the rate of the column",
    lambda p: torch.diag(1 - p) + p * drawn(p),
)
noise.wrong(
    "softmax",
    "the shares are a softmax of p, not p / sum p",
    lambda p: torch.diag(1 - p) + p[:, None] * p.softmax(dim=0),
)
noise.wrong(
    "only the diagonal replaced",
    "1 - p_i stands on the diagonal, without the share that returns",
    lambda p: torch.outer(p, drawn(p)).fill_diagonal_(0) + torch.diag(1 - p),
)
noise.wrong(
    "ten classes",
    "the number of classes is fixed at ten",
    lambda p: torch.eye(10, dtype=p.dtype) * (1 - p) + p[:, None] * drawn(p),
)
noise.wrong(
    "in place",
    "divides `p` itself by its sum, and then uses it as the shares",
    lambda p: torch.outer(p.clone(), p.div_(p.sum())) + torch.diag(1 - p),
)
noise.wrong(
    "rounded",
    "rounded to three decimals",
    lambda p: (torch.diag(1 - p) + torch.outer(p, drawn(p))).round(decimals=3),
)

noise.right(
    "eye",
    lambda p: torch.eye(len(p), dtype=p.dtype) * (1 - p)[:, None] + torch.outer(p, p) / p.sum(),
)
noise.right("einsum", lambda p: torch.einsum("i,j->ij", p, drawn(p)) + (1 - p).diag())
noise.right(
    "mixture",
    lambda p: torch.lerp(
        torch.eye(len(p), dtype=p.dtype), drawn(p).expand(len(p), len(p)), p[:, None]
    ),
)


@noise.right("loop")
def _(p):
    shares, total = p.tolist(), float(p.double().sum())
    return torch.tensor(
        [
            [a * b / total + (1 - a) * (i == j) for j, b in enumerate(shares)]
            for i, a in enumerate(shares)
        ],
        dtype=p.dtype,
    )


@noise.right("numpy")
def _(p):
    p = p.double().numpy()
    matrix = np.outer(p, p) / p.sum()
    np.fill_diagonal(matrix, matrix.diagonal() + 1 - p)
    return torch.from_numpy(matrix)


@noise.right("row by row")
def _(p):
    rows = []
    for i in range(len(p)):
        row = p[i] * drawn(p)
        row[i] += 1 - p[i]
        rows.append(row)
    return torch.stack(rows)


# 07: errors from common to rare

by_class = Exercise("class_errors")


def errors_of(probs, labels, classes, error=metrics.ece):
    """An error of the images of each class."""
    return [error(probs[labels == k], labels[labels == k]) for k in classes]


by_class.wrong(
    "0 to K - 1",
    "ignores `order`: the classes come as they are numbered",
    lambda probs, labels, order: errors_of(probs, labels, range(len(order))),
)
by_class.wrong(
    "placed",
    "sorts by `order` the wrong way round: puts the error of class k at place order[k]",
    lambda probs, labels, order: [
        errors_of(probs, labels, range(len(order)))[place]
        for place in np.argsort([int(k) for k in order])
    ],
)
by_class.wrong(
    "reversed",
    "from the rarest to the commonest",
    lambda probs, labels, order: errors_of(probs, labels, order)[::-1],
)
by_class.wrong(
    "predicted class",
    "groups by the predicted class, not by the label",
    lambda probs, labels, order: [
        metrics.ece(probs[probs.argmax(1) == k], labels[probs.argmax(1) == k])
        if (probs.argmax(1) == k).any()
        else 0.0
        for k in order
    ],
)
by_class.wrong(
    "one class against the rest",
    "the error of the column of each class on all images",
    lambda probs, labels, order: [
        metrics.ece(torch.stack([1 - probs[:, k], probs[:, k]], dim=1), (labels == k).long())
        for k in order
    ],
)
by_class.wrong(
    "all images",
    "the ECE of all images, once for each class",
    lambda probs, labels, order: [metrics.ece(probs, labels)] * len(order),
)
by_class.wrong(
    "mean",
    "the mean over the classes: one number",
    lambda probs, labels, order: sum(errors_of(probs, labels, order)) / len(order),
)
by_class.wrong(
    "signed gap",
    "the signed gap, not the ECE",
    lambda probs, labels, order: errors_of(probs, labels, order, metrics.signed_gap),
)
by_class.wrong(
    "error rate",
    "the error rate, not the ECE",
    lambda probs, labels, order: errors_of(
        probs, labels, order, lambda p, y: 1 - (p.argmax(1) == y).double().mean().item()
    ),
)
by_class.wrong(
    "ten bins",
    "ten bins, not the 15 of metrics.ece",
    lambda probs, labels, order: errors_of(
        probs, labels, order, lambda p, y: metrics.ece(p, y, bins=10)
    ),
)
by_class.wrong(
    "weighted",
    "each error is multiplied by the share of its class",
    lambda probs, labels, order: [
        one * (labels == k).double().mean().item()
        for one, k in zip(errors_of(probs, labels, order), order, strict=True)
    ],
)
by_class.wrong(
    "one missing",
    "the rarest class is missing",
    lambda probs, labels, order: errors_of(probs, labels, list(order)[:-1]),
)
by_class.wrong(
    "sorted",
    "sorts the errors by size instead of by `order`",
    lambda probs, labels, order: sorted(errors_of(probs, labels, order)),
)
by_class.wrong(
    "labels not chosen",
    "chooses the rows of `probs`, but not those of `labels`",
    lambda probs, labels, order: [
        metrics.ece(probs[labels == k], labels[: int((labels == k).sum())]) for k in order
    ],
)
by_class.wrong(
    "per cent",
    "in per cent, not as fractions",
    lambda probs, labels, order: [100 * one for one in errors_of(probs, labels, order)],
)
by_class.wrong(
    "rounded",
    "rounded to two decimals",
    lambda probs, labels, order: [round(one, 2) for one in errors_of(probs, labels, order)],
)

by_class.right(
    "nonzero",
    lambda probs, labels, order: [
        metrics.ece(probs[rows], labels[rows])
        for rows in (torch.nonzero(labels == int(k))[:, 0] for k in order)
    ],
)
by_class.right(
    "tensor",
    lambda probs, labels, order: torch.tensor(errors_of(probs, labels, order), dtype=torch.float64),
)
by_class.right(
    "double", lambda probs, labels, order: tuple(errors_of(probs.double(), labels, order))
)
by_class.right(
    "array",
    lambda probs, labels, order: np.array(errors_of(probs, labels, [int(k) for k in order])),
)


def own_ece(confidence, hits):
    """ECE in numpy, 15 bins closed on the right."""
    place = np.searchsorted(np.linspace(0, 1, 16), confidence, side="left").clip(1, 15)
    return np.abs(np.bincount(place, confidence - hits)).sum() / len(hits)


@by_class.right("own ECE")
def _(probs, labels, order):
    confidence = probs.double().amax(dim=1).numpy()
    hits = (probs.argmax(dim=1) == labels).double().numpy()
    return [
        own_ece(confidence[labels.numpy() == int(k)], hits[labels.numpy() == int(k)]) for k in order
    ]


@by_class.right("split after sorting")
def _(probs, labels, order):
    by_label = labels.argsort(stable=True)
    rows = by_label.split(torch.bincount(labels, minlength=probs.shape[1]).tolist())
    return [metrics.ece(probs[rows[int(k)]], labels[rows[int(k)]]) for k in order]


# 07: another prior

prior = Exercise("other_prior")


def per_row(weighted):
    """Each row divided by its sum."""
    return weighted / weighted.sum(dim=1, keepdim=True)


prior.wrong(
    "rows not rescaled",
    "the rows do not sum to 1: the division by the sum is missing",
    lambda probs, old, new: probs * new / old,
)
prior.wrong(
    "exchanged",
    "multiplies by the old and divides by the new shares",
    lambda probs, old, new: per_row(probs * old / new.clamp(min=1e-12)),
)
prior.wrong(
    "new alone", "does not divide by the old shares", lambda probs, old, new: per_row(probs * new)
)
prior.wrong(
    "old alone", "does not multiply by the new shares", lambda probs, old, new: per_row(probs / old)
)
prior.wrong(
    "columns",
    "divides by the sums of the columns, not of the rows",
    lambda probs, old, new: (probs * new / old) / (probs * new / old).sum(dim=0, keepdim=True),
)
prior.wrong(
    "all together",
    "divides by the sum over all rows and classes",
    lambda probs, old, new: (probs * new / old) / (probs * new / old).sum() * len(probs),
)
prior.wrong(
    "softmax",
    "makes the rows sum to 1 by a softmax, not by a division",
    lambda probs, old, new: (probs * new / old).softmax(dim=1),
)
prior.wrong(
    "added",
    "adds the difference of the shares instead of multiplying by their ratio",
    lambda probs, old, new: per_row((probs + new - old).clamp(min=1e-9)),
)
prior.wrong(
    "largest",
    "divides each row by its largest value, not by its sum",
    lambda probs, old, new: (probs * new / old) / (probs * new / old).amax(dim=1, keepdim=True),
)
prior.wrong(
    "root",
    "uses the root of the ratio",
    lambda probs, old, new: per_row(probs * (new / old).sqrt()),
)
prior.wrong(
    "twice",
    "applies the ratio twice",
    lambda probs, old, new: per_row(probs * (new / old).square()),
)
prior.wrong(
    "smoothed",
    "adds 0.001 to the shares, which changes rare classes",
    lambda probs, old, new: per_row(probs * (new + 1e-3) / (old + 1e-3)),
)
prior.wrong(
    "unchanged",
    "returns `probs` unchanged: ignores both priors",
    lambda probs, old, new: per_row(probs),
)
prior.wrong(
    "uniform",
    "assumes that the new shares are equal",
    lambda probs, old, new: per_row(probs / old / len(new)),
)
prior.wrong(
    "half precision",
    "computed in float16",
    half(lambda probs, old, new: per_row(probs * new / old)),
)


@prior.wrong("no keepdim", "divides columns by the sums of the rows: keepdim=True is missing")
def _(probs, old, new):
    weighted = probs * new / old
    return weighted / weighted.sum(dim=1)


@prior.wrong("in place", "overwrites `probs`")
def _(probs, old, new):
    probs *= new / old
    probs /= probs.sum(dim=1, keepdim=True)
    return probs


prior.right("logits", lambda probs, old, new: (probs.log() + new.log() - old.log()).softmax(dim=1))
prior.right(
    "normalize", lambda probs, old, new: functional.normalize(probs * (new / old), p=1, dim=1)
)
prior.right("matrix", lambda probs, old, new: per_row(probs @ torch.diag(new / old)))
prior.right("matvec", lambda probs, old, new: probs * (new / old) / (probs @ (new / old))[:, None])
prior.right(
    "float64",
    lambda probs, old, new: per_row(probs.double() * new.double() / old.double()).to(probs.dtype),
)


@prior.right("loop")
def _(probs, old, new):
    rows = []
    for row in probs.tolist():
        weighted = [p * b / a for p, a, b in zip(row, old.tolist(), new.tolist(), strict=True)]
        rows.append([one / sum(weighted) for one in weighted])
    return torch.tensor(rows, dtype=probs.dtype)


@prior.right("numpy")
def _(probs, old, new):
    weighted = probs.double().numpy() * (new.double() / old.double()).numpy()[None]
    return torch.from_numpy(weighted / weighted.sum(axis=1)[:, None])


# 09: the error rate of what is kept

risk = Exercise("selective_risk")


def kept_risk(confidence, correct, count, descending=True):
    """The error rate among `count` of the predictions."""
    kept = confidence.argsort(descending=descending)[:count]
    return 1 - correct[kept].double().mean()


risk.wrong(
    "truncated",
    "the number kept is cut off, not rounded: 0.29 * 100 becomes 28",
    lambda confidence, correct, coverage: kept_risk(
        confidence, correct, max(1, int(coverage * len(correct)))
    ),
)
risk.wrong(
    "rounded up",
    "the number kept is rounded up, not to the nearest",
    lambda confidence, correct, coverage: kept_risk(
        confidence, correct, math.ceil(coverage * len(correct))
    ),
)
risk.wrong(
    "accuracy",
    "the accuracy, not the error rate",
    lambda confidence, correct, coverage: (
        1 - kept_risk(confidence, correct, round(coverage * len(correct)))
    ),
)
risk.wrong(
    "least confident",
    "keeps the least confident predictions",
    lambda confidence, correct, coverage: kept_risk(
        confidence, correct, round(coverage * len(correct)), descending=False
    ),
)
risk.wrong(
    "coverage as threshold",
    "keeps what is more confident than the number `coverage`",
    lambda confidence, correct, coverage: (
        1 - correct[confidence >= min(coverage, confidence.max().item())].double().mean()
    ),
)
risk.wrong(
    "over all",
    "divides the errors by all predictions, not by the kept ones",
    lambda confidence, correct, coverage: (
        kept_risk(confidence, correct, round(coverage * len(correct)))
        * round(coverage * len(correct))
        / len(correct)
    ),
)
risk.wrong(
    "no coverage",
    "ignores `coverage`: the error rate of all",
    lambda confidence, correct, coverage: 1 - correct.double().mean(),
)
risk.wrong(
    "number",
    "the number of errors, not their share",
    lambda confidence, correct, coverage: (
        kept_risk(confidence, correct, round(coverage * len(correct)))
        * round(coverage * len(correct))
    ),
)
risk.wrong(
    "first rows",
    "keeps the first rows: `confidence` is not sorted",
    lambda confidence, correct, coverage: (
        1 - correct[: round(coverage * len(correct))].double().mean()
    ),
)
risk.wrong(
    "correct not sorted",
    "sorts the confidences, but takes the hits in their old order",
    lambda confidence, correct, coverage: (
        confidence.sort(descending=True).values,
        1 - correct[: round(coverage * len(correct))].double().mean(),
    )[1],
)
risk.wrong(
    "handed over",
    "the error rate of what is handed to the doctor, not of what is kept",
    lambda confidence, correct, coverage: (
        1
        - correct[
            confidence.argsort(descending=True)[
                min(round(coverage * len(correct)), len(correct) - 1) :
            ]
        ]
        .double()
        .mean()
    ),
)
risk.wrong(
    "one too many",
    "keeps one prediction too many",
    lambda confidence, correct, coverage: kept_risk(
        confidence, correct, round(coverage * len(correct)) + 1
    ),
)
risk.wrong(
    "doubt",
    "the mean of 1 - confidence: ignores the hits",
    lambda confidence, correct, coverage: (
        1 - confidence.sort(descending=True).values[: round(coverage * len(correct))]
    ).mean(),
)
risk.wrong(
    "hits first",
    "sorts the hits, so the right ones are kept",
    lambda confidence, correct, coverage: (
        1 - correct.double().sort(descending=True).values[: round(coverage * len(correct))].mean()
    ),
)
risk.wrong(
    "random",
    "keeps predictions at random",
    lambda confidence, correct, coverage: kept_risk(
        torch.rand(len(correct)), correct, round(coverage * len(correct))
    ),
)
risk.wrong(
    "area",
    "the mean over all coverages up to this one",
    lambda confidence, correct, coverage: torch.stack(
        [kept_risk(confidence, correct, k) for k in range(1, round(coverage * len(correct)) + 1)]
    ).mean(),
)


@risk.wrong("in place", "sorts `confidence` itself, and then the rows no longer belong together")
def _(confidence, correct, coverage):
    count = round(coverage * len(correct))
    order = confidence.argsort(descending=True)
    confidence.copy_(confidence[order])
    return 1 - correct[order[:count]].double().mean()


risk.right(
    "topk",
    lambda confidence, correct, coverage: (
        (~correct[confidence.topk(round(coverage * len(correct))).indices]).double().mean()
    ),
)
risk.right(
    "half up",
    lambda confidence, correct, coverage: kept_risk(
        confidence, correct, math.floor(coverage * len(correct) + 0.5 + 1e-9)
    ),
)
risk.right(
    "errors",
    lambda confidence, correct, coverage: (
        (
            correct[(-confidence).argsort(stable=True)[: round(coverage * len(correct))]] == False  # noqa: E712
        )
        .float()
        .mean()
        .item()
    ),
)


@risk.right("sorted pairs")
def _(confidence, correct, coverage):
    pairs = sorted(
        zip(confidence.tolist(), correct.tolist(), strict=True), key=lambda pair: -pair[0]
    )
    kept = pairs[: round(coverage * len(pairs))]
    return sum(not hit for _, hit in kept) / len(kept)


@risk.right("numpy")
def _(confidence, correct, coverage):
    order = np.argsort(-confidence.numpy(), kind="stable")
    return np.mean(~correct.numpy()[order[: int(np.rint(coverage * len(order)))]])


@risk.right("cumulated")
def _(confidence, correct, coverage):
    misses = (1 - correct.double())[confidence.argsort(descending=True, stable=True)].cumsum(0)
    count = round(coverage * len(correct))
    return misses[count - 1] / count


# 09: undo the penalty

undo = Exercise("penalty_posterior")


def entropy(p):
    """The entropy of each row, (n, 1), nats."""
    return -(p * p.log()).sum(dim=1, keepdim=True)


undo.wrong(
    "sign of the entropy",
    "the entropy has the wrong sign: the rows do not sum to 1",
    lambda p, weight: p * (1 + weight * (p.log() - entropy(p))),
)
undo.wrong(
    "no entropy",
    "c is taken as 1: the rows do not sum to 1",
    lambda p, weight: p * (1 + weight * p.log()),
)
undo.wrong(
    "rescaled",
    "takes c as 1 and divides each row by its sum, which is not the solution",
    lambda p, weight: per_row(p * (1 + weight * p.log())),
)
undo.wrong(
    "sign of the weight",
    "the penalty has the wrong sign",
    lambda p, weight: p * (1 - weight * (entropy(p) + p.log())),
)
undo.wrong("unchanged", "returns p: ignores the weight", lambda p, weight: p.clone())
undo.wrong(
    "bits",
    "the logarithm has base 2, not e",
    lambda p, weight: p * (1 + weight * (entropy(p) + p.log()) / math.log(2)),
)
undo.wrong(
    "columns",
    "the entropy is summed over the images, not the classes",
    lambda p, weight: p * (1 + weight * (p.log() - (p * p.log()).sum(dim=0, keepdim=True))),
)
undo.wrong(
    "mean entropy",
    "every row gets the mean entropy of all rows",
    lambda p, weight: p * (1 + weight * (p.log() + entropy(p).mean())),
)
undo.wrong(
    "entropy by K",
    "the entropy is averaged over the classes, not summed",
    lambda p, weight: p * (1 + weight * (p.log() + entropy(p) / p.shape[1])),
)
undo.wrong(
    "temperature",
    "a power of p, rescaled: the answer of a temperature, not of this penalty",
    lambda p, weight: per_row(p ** (1 + weight)),
)
undo.wrong(
    "factor p missing",
    "the factor p before the bracket is missing",
    lambda p, weight: 1 + weight * (entropy(p) + p.log()),
)
undo.wrong(
    "softmax",
    "makes the rows sum to 1 by a softmax",
    lambda p, weight: (p * (1 + weight * (entropy(p) + p.log()))).softmax(dim=1),
)
undo.wrong(
    "weight 0.1",
    "ignores `weight`: always 0.1",
    lambda p, weight: p * (1 + 0.1 * (entropy(p) + p.log())),
)
undo.wrong(
    "forward",
    "one more step of the penalty instead of undoing it: divides by the bracket",
    lambda p, weight: per_row(p / (1 + weight * (entropy(p) + p.log()))),
)
undo.wrong("c alone", "returns c, not q", lambda p, weight: 1 + weight * entropy(p))
undo.wrong(
    "epsilon",
    "0.001 is added inside the logarithm, which changes small probabilities",
    lambda p, weight: (
        p * (1 + weight * (-(p * (p + 1e-3).log()).sum(1, keepdim=True) + (p + 1e-3).log()))
    ),
)


@undo.wrong("no keepdim", "the entropy of row i is added to column i: keepdim=True is missing")
def _(p, weight):
    return p * (1 + weight * (-(p * p.log()).sum(dim=1) + p.log()))


undo.right(
    "entr",
    lambda p, weight: (
        p + weight * (p * torch.special.entr(p).sum(dim=1, keepdim=True) - torch.special.entr(p))
    ),
)
undo.right(
    "float64", lambda p, weight: (lambda q: q * (1 + weight * (entropy(q) + q.log())))(p.double())
)
undo.right(
    "solved for c",
    lambda p, weight: (lambda bare: bare + p * (1 - bare.sum(dim=1, keepdim=True)))(
        weight * p * p.log()
    ),
)
undo.right(
    "einsum",
    lambda p, weight: (
        p * (1 + weight * (p.log() - torch.einsum("nk,nk->n", p, p.log()).unsqueeze(1)))
    ),
)


@undo.right("loop")
def _(p, weight):
    rows = []
    for row in p.tolist():
        c = 1 - weight * sum(one * math.log(one) for one in row)
        rows.append([one * (c + weight * math.log(one)) for one in row])
    return torch.tensor(rows, dtype=p.dtype)


@undo.right("numpy")
def _(p, weight):
    q = p.double().numpy()
    c = 1 + weight * scipy.stats.entropy(q / q.sum(1, keepdims=True), axis=1)[:, None]
    return torch.from_numpy(q * (c + weight * np.log(q)))


@undo.right("centred gradient")
def _(p, weight):
    p = p.double().requires_grad_()
    (slope,) = torch.autograd.grad((p * p.log()).sum(), p)
    return (p * (1 + weight * (slope - (p * slope).sum(dim=1, keepdim=True)))).detach()


# 10: the gradient ratio

ratio = Exercise("gradient_ratio")


def ratio_of(p, gamma):
    """The ratio from the two terms of the product rule."""
    return (1 - p) ** gamma - gamma * p * (1 - p) ** (gamma - 1) * p.log()


ratio.wrong(
    "first factor",
    "only (1 - p)^gamma: the derivative of this factor is missing",
    lambda p, gamma: (1 - p) ** gamma,
)
ratio.wrong(
    "sign",
    "the second term has the wrong sign",
    lambda p, gamma: (1 - p) ** gamma + gamma * p * (1 - p) ** (gamma - 1) * p.log(),
)
ratio.wrong(
    "no p",
    "the factor p of dp/du is missing in the second term",
    lambda p, gamma: (1 - p) ** gamma - gamma * (1 - p) ** (gamma - 1) * p.log(),
)
ratio.wrong(
    "power not lowered",
    "the power of the second term is gamma, not gamma - 1",
    lambda p, gamma: (1 - p) ** gamma - gamma * p * (1 - p) ** gamma * p.log(),
)
ratio.wrong(
    "no gamma",
    "the factor gamma is missing in the second term",
    lambda p, gamma: (1 - p) ** gamma - p * (1 - p) ** (gamma - 1) * p.log(),
)
ratio.wrong(
    "by p",
    "differentiates by p, not by u = -log p",
    lambda p, gamma: -((1 - p) ** gamma) / p + gamma * (1 - p) ** (gamma - 1) * p.log(),
)
ratio.wrong(
    "the loss",
    "the focal loss itself, not its slope",
    lambda p, gamma: -((1 - p) ** gamma) * p.log(),
)
ratio.wrong(
    "second term alone",
    "only the derivative of the first factor",
    lambda p, gamma: -gamma * p * (1 - p) ** (gamma - 1) * p.log(),
)
ratio.wrong(
    "bits",
    "the logarithm has base 2, not e",
    lambda p, gamma: (1 - p) ** gamma - gamma * p * (1 - p) ** (gamma - 1) * p.log2(),
)
ratio.wrong(
    "whole gamma", "gamma is cut off to a whole number", lambda p, gamma: ratio_of(p, int(gamma))
)
ratio.wrong("gamma 3", "ignores `gamma`: always 3", lambda p, gamma: ratio_of(p, 3.0))
ratio.wrong(
    "clamped",
    "probabilities are held between 0.01 and 0.99",
    lambda p, gamma: ratio_of(p.clamp(0.01, 0.99), gamma),
)
ratio.wrong(
    "coarse difference",
    "a difference over a step of 0.01 is too coarse",
    lambda p, gamma: (
        lambda u: (
            (-((1 - (-u - 0.01).exp()) ** gamma) * (-u - 0.01) + (1 - (-u).exp()) ** gamma * -u)
            / 0.01
        )
    )(-p.log()),
)
ratio.wrong("miss for p", "p and 1 - p are exchanged", lambda p, gamma: ratio_of(1 - p, gamma))
ratio.wrong("mean", "the mean over all p: one number", lambda p, gamma: ratio_of(p, gamma).mean())

ratio.right("factored", lambda p, gamma: (1 - p) ** gamma * (1 - gamma * p * p.log() / (1 - p)))
ratio.right("package", lambda p, gamma: theory.gradient_ratio(p, gamma))
ratio.right(
    "xlogy",
    lambda p, gamma: (
        (1 - p).pow(gamma) - gamma * (1 - p).pow(gamma - 1) * torch.special.xlogy(p, p)
    ),
)
ratio.right(
    "loop",
    lambda p, gamma: torch.tensor(
        [
            (1 - x) ** gamma - gamma * x * (1 - x) ** (gamma - 1) * math.log(x)
            for x in p.flatten().tolist()
        ],
        dtype=p.dtype,
    ).reshape(p.shape),
)


@ratio.right("autograd")
def _(p, gamma):
    u = (-p.double().log()).requires_grad_()
    loss = (-torch.expm1(-u)) ** gamma * u
    return torch.autograd.grad(loss.sum(), u)[0]


@ratio.right("central difference")
def _(p, gamma):
    def loss(u):
        return (-torch.expm1(-u)) ** gamma * u

    u, step = -p.double().log(), -p.double().log() * 1e-5
    return (loss(u + step) - loss(u - step)) / (2 * step)


# 10: back to the truth

truth = Exercise("focal_posterior")


def odds(p, gamma):
    """p / g(p)."""
    return p / theory.gradient_ratio(p, gamma)


truth.wrong(
    "not rescaled", "p / g(p) alone: the two do not sum to 1", lambda p, gamma: odds(p, gamma)
)
truth.wrong(
    "times g",
    "multiplies by g instead of dividing",
    lambda p, gamma: (lambda a, b: a / (a + b))(
        p * theory.gradient_ratio(p, gamma), (1 - p) * theory.gradient_ratio(1 - p, gamma)
    ),
)
truth.wrong(
    "same g",
    "the second class uses g(p), not g(1 - p), so the g cancels",
    lambda p, gamma: (lambda a, b: a / (a + b))(
        odds(p, gamma), (1 - p) / theory.gradient_ratio(p, gamma)
    ),
)
truth.wrong(
    "other class",
    "the probability of the second class",
    lambda p, gamma: (lambda a, b: b / (a + b))(odds(p, gamma), odds(1 - p, gamma)),
)
truth.wrong("unchanged", "returns p: ignores gamma", lambda p, gamma: p * 1)
truth.wrong(
    "gamma 3",
    "ignores `gamma`: always 3",
    lambda p, gamma: (lambda a, b: a / (a + b))(odds(p, 3.0), odds(1 - p, 3.0)),
)
truth.wrong(
    "wrong direction",
    "goes from the truth to the answer, not back",
    lambda p, gamma: theory.focal_minimiser(p, gamma),
)
truth.wrong(
    "odds",
    "the odds q / (1 - q), not the probability",
    lambda p, gamma: odds(p, gamma) / odds(1 - p, gamma),
)
truth.wrong(
    "first factor",
    "uses (1 - p)^gamma for g",
    lambda p, gamma: (lambda a, b: a / (a + b))(p / (1 - p) ** gamma, (1 - p) / p**gamma),
)
truth.wrong(
    "slopes not divided",
    "g(p) alone, without p",
    lambda p, gamma: (lambda a, b: b / (a + b))(
        theory.gradient_ratio(p, gamma), theory.gradient_ratio(1 - p, gamma)
    ),
)
truth.wrong(
    "temperature",
    "multiplies the log-odds by 1 + gamma: no temperature undoes focal loss",
    lambda p, gamma: ((1 + gamma) * (p / (1 - p)).log()).sigmoid(),
)
truth.wrong(
    "clamped",
    "p is held between 0.05 and 0.95",
    lambda p, gamma: theory.focal_posterior(
        torch.stack([p.clamp(0.05, 0.95), 1 - p.clamp(0.05, 0.95)], dim=-1), gamma
    )[..., 0],
)
truth.wrong(
    "rounded",
    "rounded to two decimals",
    lambda p, gamma: (lambda a, b: a / (a + b))(odds(p, gamma), odds(1 - p, gamma)).round(
        decimals=2
    ),
)
truth.wrong(
    "softmax",
    "makes the two sum to 1 by a softmax",
    lambda p, gamma: (odds(p, gamma) - odds(1 - p, gamma)).sigmoid(),
)

truth.right(
    "package",
    lambda p, gamma: theory.focal_posterior(torch.stack([p, 1 - p], dim=-1), gamma)[..., 0],
)
truth.right("one over", lambda p, gamma: 1 / (1 + odds(1 - p, gamma) / odds(p, gamma)))
truth.right(
    "cross product",
    lambda p, gamma: (lambda a, b: a / (a + b))(
        p * theory.gradient_ratio(1 - p, gamma), (1 - p) * theory.gradient_ratio(p, gamma)
    ),
)
truth.right(
    "log-odds",
    lambda p, gamma: (
        p.double().log()
        - (1 - p.double()).log()
        + ratio_of(1 - p.double(), gamma).log()
        - ratio_of(p.double(), gamma).log()
    ).sigmoid(),
)
truth.right(
    "loop",
    lambda p, gamma: torch.tensor(
        [
            odds(x, gamma) / (odds(x, gamma) + odds(1 - x, gamma))
            for x in p.double().flatten().tolist()
        ]
    ).reshape(p.shape),
)


@truth.right("autograd")
def _(p, gamma):
    def weight(x):
        x = x.double().detach().requires_grad_()
        (slope,) = torch.autograd.grad((-((1 - x) ** gamma) * x.log()).sum(), x)
        return -1 / slope

    return weight(p) / (weight(p) + weight(1 - p))


# 10: gamma*

star = Exercise("gamma_star")


def starred(p0, branch=-1, share=None, slope=None, log=math.log, minus=1.0):
    """The formula, with a place for each mistake; `slope` is s and `share` is r."""
    s = -p0 * log(p0) / (1 - p0) if slope is None else slope
    r = -log(1 - p0) / s if share is None else share
    return (-scipy.special.lambertw(-r * math.exp(-r), branch).real / r - minus) / s


star.wrong(
    "principal branch",
    "takes the principal branch of W: the answer is always 0",
    lambda p0: starred(p0, 0),
)
star.wrong("no minus 1", "the -1 in the bracket is missing", lambda p0: starred(p0, minus=0.0))
star.wrong(
    "decimal logarithm", "the logarithm has base 10, not e", lambda p0: starred(p0, log=math.log10)
)
star.wrong(
    "not by s",
    "the division by s is missing",
    lambda p0: starred(p0) * -p0 * math.log(p0) / (1 - p0),
)
star.wrong("r without s", "r is not divided by s", lambda p0: starred(p0, share=-math.log(1 - p0)))
star.wrong(
    "s without 1 - p0",
    "s is not divided by 1 - p0",
    lambda p0: starred(p0, slope=-p0 * math.log(p0)),
)
star.wrong(
    "s without p0",
    "the factor p0 is missing in s",
    lambda p0: starred(p0, slope=-math.log(p0) / (1 - p0)),
)
star.wrong("4.85", "the answer at 0.2 for every threshold", lambda p0: 4.850559)
star.wrong(
    "5 or 3", "the rule of FLSD-53 in place of the formula", lambda p0: 5.0 if p0 < 0.2 else 3.0
)
star.wrong("rounded", "rounded to one decimal", lambda p0: round(starred(p0), 1))
star.wrong(
    "complex",
    "returns the complex number of lambertw, not its real part",
    lambda p0: (
        lambda s: (lambda r: (-scipy.special.lambertw(-r * math.exp(-r), -1) / r - 1) / s)(
            -math.log(1 - p0) / s
        )
    )(-p0 * math.log(p0) / (1 - p0)),
)
star.wrong(
    "sign",
    "the minus sign before W is missing",
    lambda p0: (
        lambda s: (lambda r: (scipy.special.lambertw(-r * math.exp(-r), -1).real / r - 1) / s)(
            -math.log(1 - p0) / s
        )
    )(-p0 * math.log(p0) / (1 - p0)),
)
star.wrong(
    "steps of 0.1",
    "a grid in steps of 0.1 is too coarse",
    lambda p0: min(
        (k / 10 for k in range(1, 2000)), key=lambda g: abs(theory.gradient_ratio(p0, g) - 1)
    ),
)
star.wrong(
    "1 to 10", "searches between 1 and 10 only", lambda p0: float(np.clip(starred(p0), 1, 10))
)
star.wrong(
    "p0 exchanged", "p0 and 1 - p0 are exchanged", lambda p0: starred(1 - p0) if p0 > 0 else 0.0
)

star.right("package", lambda p0: theory.gamma_star(p0))
star.right(
    "numpy",
    lambda p0: (
        lambda s: (lambda r: (-np.real(scipy.special.lambertw(-r * np.exp(-r), k=-1)) / r - 1) / s)(
            -np.log1p(-p0) / s
        )
    )(-scipy.special.xlogy(p0, p0) / (1 - p0)),
)
star.right("tensor", lambda p0: torch.tensor(starred(float(p0)), dtype=torch.float64))


def crossing(p0):
    """log g as a function of gamma, and its slope at 0 divided by a half."""
    s, miss = -p0 * math.log(p0) / (1 - p0), math.log1p(-p0)
    return lambda gamma: gamma * miss + math.log1p(gamma * s)


@star.right("brentq")
def _(p0):
    s, miss = -p0 * math.log(p0) / (1 - p0), math.log1p(-p0)
    top = -1 / miss - 1 / s  # the largest log g; the crossing lies above
    high = 2 * top + 1
    while crossing(p0)(high) > 0:
        high *= 2
    return scipy.optimize.brentq(crossing(p0), top, high, xtol=1e-13, rtol=1e-14)


@star.right("halving")
def _(p0):
    low = -1 / math.log1p(-p0) - (1 - p0) / (-p0 * math.log(p0))
    high = 1e12
    for _ in range(300):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if crossing(p0)(middle) > 0 else (low, middle)
    return low


@star.right("Newton")
def _(p0):
    s = -p0 * math.log(p0) / (1 - p0)
    r = -math.log1p(-p0) / s
    v = 20.0 / r
    for _ in range(100):
        v -= (math.log(v) - r * (v - 1)) / (1 / v - r)
    return (v - 1) / s


# 11: a gamma for each sample

each = Exercise("sample_gamma")

each.wrong(
    "closed at the threshold",
    "p = 0.2 and p = 0.5 fall into the lower case: < became <=",
    lambda p: 2.0 + 1.0 * (p <= 0.5) + 2.0 * (p <= 0.2),
)
each.wrong(
    "exchanged",
    "5 and 2 are exchanged: the well read images get the large gamma",
    lambda p: 2.0 + 1.0 * (p >= 0.2) + 2.0 * (p >= 0.5),
)
each.wrong("FLSD-53", "FLSD-53: no third case at 0.5", lambda p: torch.where(p < 0.2, 5.0, 3.0))
each.wrong(
    "6 below 0.2",
    "the two steps add up to 6 below 0.2",
    lambda p: 2.0 + 1.0 * (p < 0.5) + 3.0 * (p < 0.2),
)
each.wrong(
    "overwritten",
    "the second condition overwrites the first: no image gets 5",
    lambda p: torch.where(p < 0.5, 3.0, torch.where(p < 0.2, 5.0, 2.0)),
)
each.wrong(
    "0.25",
    "the lower threshold is 0.25, not 0.2",
    lambda p: 2.0 + 1.0 * (p < 0.5) + 2.0 * (p < 0.25),
)
each.wrong(
    "one for all",
    "one gamma for the whole batch, from the mean of p",
    lambda p: torch.full_like(p, 5.0 if p.mean() < 0.2 else 3.0 if p.mean() < 0.5 else 2.0),
)
each.wrong("always 3", "ignores `p`: always 3", lambda p: torch.full_like(p, 3.0))
each.wrong(
    "miss for p",
    "uses 1 - p in place of p",
    lambda p: 2.0 + 1.0 * (1 - p < 0.5) + 2.0 * (1 - p < 0.2),
)
each.wrong(
    "rounded",
    "rounds p to one decimal first, so 0.19 counts as 0.2",
    lambda p: 2.0 + 1.0 * (p.round(decimals=1) < 0.5) + 2.0 * (p.round(decimals=1) < 0.2),
)
each.wrong("straight line", "a straight line in place of steps", lambda p: (5 - 6 * p).clamp(2, 5))
each.wrong(
    "gamma star",
    "the exact gamma* of each p, not the three steps",
    lambda p: torch.where(p < 0.2, 4.8506, torch.where(p < 0.5, 3.0702, 2.0)),
)
each.wrong(
    "two steps", "2 where 3 is meant between 0.2 and 0.5", lambda p: torch.where(p < 0.2, 5.0, 2.0)
)
each.wrong(
    "column",
    "a column (n, 1), not a tensor like `p`",
    lambda p: (2.0 + 1.0 * (p < 0.5) + 2.0 * (p < 0.2)).unsqueeze(-1),
)
each.wrong(
    "the loss factor",
    "returns (1 - p)^gamma, not gamma",
    lambda p: (1 - p) ** (2.0 + 1.0 * (p < 0.5) + 2.0 * (p < 0.2)),
)


@each.wrong("in place", "writes the gammas into `p` itself")
def _(p):
    gammas = 2.0 + 1.0 * (p < 0.5) + 2.0 * (p < 0.2)
    return p.copy_(gammas)


@each.wrong("chain in place", "writes into `p` while it is still being compared: all end at 2")
def _(p):
    p = p.clone()
    p[p < 0.2] = 5.0
    p[p < 0.5] = 3.0
    p[p >= 0.5] = 2.0
    return p


each.right("where", lambda p: torch.where(p < 0.2, 5.0, torch.where(p < 0.5, 3.0, 2.0)))
each.right(
    "bucketize",
    lambda p: torch.tensor([5.0, 3.0, 2.0])[
        torch.bucketize(p, torch.tensor([0.2, 0.5], dtype=p.dtype), right=True)
    ],
)
each.right(
    "loop",
    lambda p: torch.tensor(
        [5.0 if x < 0.2 else 3.0 if x < 0.5 else 2.0 for x in p.flatten()]
    ).reshape(p.shape),
)
each.right(
    "numpy",
    lambda p: torch.from_numpy(np.select([(p < 0.2).numpy(), (p < 0.5).numpy()], [5.0, 3.0], 2.0)),
)
each.right("subtracted", lambda p: 5.0 - 2.0 * (p >= 0.2) - (p >= 0.5).double())


@each.right("masks")
def _(p):
    gammas = torch.full_like(p, 2)
    gammas[p < 0.5] = 3
    gammas[p < 0.2] = 5
    return gammas


# 11: an ensemble

team = Exercise("ensemble_probs")

team.wrong(
    "mean of logits",
    "averages the logits, and then takes the softmax",
    lambda logits: logits.mean(dim=0).softmax(dim=1),
)
team.wrong(
    "over the images",
    "the softmax runs over the images, not the classes",
    lambda logits: logits.softmax(dim=1).mean(dim=0),
)
team.wrong(
    "over the networks",
    "the softmax runs over the networks, not the classes",
    lambda logits: logits.softmax(dim=0).mean(dim=0),
)
team.wrong("no mean", "the mean over the networks is missing", lambda logits: logits.softmax(dim=2))
team.wrong(
    "mean of images",
    "averages over the images, not the networks",
    lambda logits: logits.softmax(dim=2).mean(dim=1),
)
team.wrong(
    "sum",
    "the sum over the networks, not the mean",
    lambda logits: logits.softmax(dim=2).sum(dim=0),
)
team.wrong(
    "geometric mean",
    "the geometric mean of the probabilities, which is the mean of logits",
    lambda logits: logits.log_softmax(dim=2).mean(dim=0).softmax(dim=1),
)
team.wrong(
    "not normalised",
    "exp of the mean of log-probabilities: the rows do not sum to 1",
    lambda logits: logits.log_softmax(dim=2).mean(dim=0).exp(),
)
team.wrong(
    "votes",
    "counts votes, not probabilities",
    lambda logits: functional.one_hot(logits.argmax(dim=2), logits.shape[2]).double().mean(dim=0),
)
team.wrong("first network", "only the first network", lambda logits: logits[0].softmax(dim=1))
team.wrong(
    "median",
    "the median over the networks, not the mean",
    lambda logits: logits.softmax(dim=2).median(dim=0).values,
)
team.wrong(
    "largest",
    "the largest probability over the networks",
    lambda logits: logits.softmax(dim=2).amax(dim=0),
)
team.wrong(
    "softmax twice",
    "a second softmax on the averaged probabilities",
    lambda logits: logits.softmax(dim=2).mean(dim=0).softmax(dim=1),
)
team.wrong(
    "five networks",
    "the number of networks is fixed at five",
    lambda logits: logits.softmax(dim=2).sum(dim=0) / 5,
)
team.wrong(
    "by R - 1",
    "divided by R - 1, not R",
    lambda logits: logits.softmax(dim=2).sum(dim=0) / max(1, len(logits) - 1),
)
team.wrong(
    "class",
    "returns the predicted class, not probabilities",
    lambda logits: logits.softmax(dim=2).mean(dim=0).argmax(dim=1),
)
team.wrong(
    "bare exp",
    "exp of large logits overflows to infinity, and gives NaN",
    lambda logits: (logits.float().exp() / logits.float().exp().sum(dim=2, keepdim=True)).mean(
        dim=0
    ),
)

team.right("loop", lambda logits: sum(one.softmax(dim=-1) for one in logits) / len(logits))
team.right(
    "logsumexp",
    lambda logits: (logits.log_softmax(dim=2).logsumexp(dim=0) - math.log(len(logits))).exp(),
)
team.right(
    "einsum", lambda logits: torch.einsum("rnk->nk", logits.double().softmax(-1)) / logits.shape[0]
)
team.right(
    "scipy",
    lambda logits: torch.from_numpy(
        scipy.special.softmax(logits.double().numpy(), axis=2).mean(axis=0)
    ),
)
team.right(
    "stack",
    lambda logits: torch.stack([one.softmax(1) for one in logits.unbind()], dim=-1).mean(dim=-1),
)


@team.right("running mean")
def _(logits):
    mean = torch.zeros_like(logits[0])
    for count, one in enumerate(logits, start=1):
        mean += (functional.softmax(one, dim=1) - mean) / count
    return mean


# 12: mixed labels

mixed = Exercise("mixed_labels")


def hot(labels, classes):
    """One-hot rows, float64."""
    return functional.one_hot(labels, classes).double()


mixed.wrong(
    "exchanged",
    "lam and 1 - lam are exchanged",
    lambda labels, partner, lam, classes: (
        (1 - lam) * hot(labels, classes) + lam * hot(labels, classes)[partner]
    ),
)
mixed.wrong(
    "class numbers",
    "mixes the class numbers, not the one-hot rows",
    lambda labels, partner, lam, classes: lam * labels + (1 - lam) * labels[partner],
)
mixed.wrong(
    "partner as label",
    "takes the partner's place in the batch for its label",
    lambda labels, partner, lam, classes: (
        lam * hot(labels, classes) + (1 - lam) * hot(partner % classes, classes)
    ),
)
mixed.wrong(
    "largest label",
    "the number of classes is taken from the largest label",
    lambda labels, partner, lam, classes: (lambda rows: lam * rows + (1 - lam) * rows[partner])(
        functional.one_hot(labels).double()
    ),
)
mixed.wrong(
    "one half",
    "ignores `lam`: always one half",
    lambda labels, partner, lam, classes: (
        (hot(labels, classes) + hot(labels, classes)[partner]) / 2
    ),
)
mixed.wrong(
    "no partner", "ignores `partner`", lambda labels, partner, lam, classes: hot(labels, classes)
)
mixed.wrong(
    "reversed batch",
    "the partner is taken from the reversed batch",
    lambda labels, partner, lam, classes: (
        lam * hot(labels, classes) + (1 - lam) * hot(labels.flip(0), classes)
    ),
)
mixed.wrong(
    "partner of the partner",
    "the partner's partner is taken",
    lambda labels, partner, lam, classes: (
        lam * hot(labels, classes) + (1 - lam) * hot(labels[partner[partner]], classes)
    ),
)
mixed.wrong(
    "inverse",
    "scatters to the partner instead of taking from it: the inverse permutation",
    lambda labels, partner, lam, classes: (
        lam * hot(labels, classes) + (1 - lam) * hot(labels, classes)[partner.argsort()]
    ),
)
mixed.wrong(
    "whole numbers",
    "the result is of whole numbers, so shares are cut off",
    lambda labels, partner, lam, classes: (
        lam * hot(labels, classes) + (1 - lam) * hot(labels, classes)[partner]
    ).long(),
)
mixed.wrong(
    "larger part",
    "keeps only the label with the larger share",
    lambda labels, partner, lam, classes: hot(labels if lam >= 0.5 else labels[partner], classes),
)
mixed.wrong(
    "transposed",
    "transposed: (classes, n)",
    lambda labels, partner, lam, classes: (
        (lam * hot(labels, classes) + (1 - lam) * hot(labels, classes)[partner]).T
    ),
)
mixed.wrong(
    "sum above 1",
    "the partner gets a share of 1: the rows do not sum to 1",
    lambda labels, partner, lam, classes: (
        lam * hot(labels, classes) + hot(labels, classes)[partner]
    ),
)
mixed.wrong(
    "own share 1",
    "the sample keeps a share of 1: the rows do not sum to 1",
    lambda labels, partner, lam, classes: (
        hot(labels, classes) + (1 - lam) * hot(labels, classes)[partner]
    ),
)


@mixed.wrong("same class", "where both have one class, the second assignment overwrites the first")
def _(labels, partner, lam, classes):
    rows = torch.zeros(len(labels), classes, dtype=torch.float64)
    rows[range(len(labels)), labels] = lam
    rows[range(len(labels)), labels[partner]] = 1 - lam
    return rows


@mixed.wrong("in place", "overwrites `labels` with the labels of the partners")
def _(labels, partner, lam, classes):
    own = hot(labels, classes)
    labels.copy_(labels[partner])
    return lam * own + (1 - lam) * hot(labels, classes)


mixed.right(
    "eye",
    lambda labels, partner, lam, classes: (
        lam * torch.eye(classes)[labels] + (1 - lam) * torch.eye(classes)[labels[partner]]
    ),
)
mixed.right(
    "scatter_add",
    lambda labels, partner, lam, classes: torch.zeros(
        len(labels), classes, dtype=torch.float64
    ).scatter_add(
        1,
        torch.stack([labels, labels[partner]], dim=1),
        torch.tensor([lam, 1 - lam], dtype=torch.float64).expand(len(labels), 2),
    ),
)
mixed.right(
    "lerp",
    lambda labels, partner, lam, classes: hot(labels[partner], classes).lerp(
        hot(labels, classes), float(lam)
    ),
)
mixed.right(
    "comparison",
    lambda labels, partner, lam, classes: (
        lam * (labels[:, None] == torch.arange(classes))
        + (1 - lam) * (labels[partner][:, None] == torch.arange(classes))
    ),
)


@mixed.right("loop")
def _(labels, partner, lam, classes):
    rows = torch.zeros(len(labels), classes, dtype=torch.float64)
    for i, j in enumerate(partner.tolist()):
        rows[i, labels[i]] += lam
        rows[i, labels[j]] += 1 - lam
    return rows


@mixed.right("matrix")
def _(labels, partner, lam, classes):
    n = len(labels)
    mixing = lam * torch.eye(n, dtype=torch.float64) + (1 - lam) * hot(partner, n)
    return mixing @ hot(labels, classes)


# 12: an honest choice

honest = Exercise("honest_choice")


def row_by_row(values, best):
    """The entry of each row at its chosen column."""
    return values.gather(1, best[:, None])[:, 0]


honest.wrong(
    "chosen on test", "chooses the strength on the test errors", lambda cal, test: test.amin(dim=1)
)
honest.wrong(
    "cal errors", "returns the errors on `cal`, not on `test`", lambda cal, test: cal.amin(dim=1)
)
honest.wrong(
    "largest",
    "chooses the largest error on `cal`",
    lambda cal, test: row_by_row(test, cal.argmax(dim=1)),
)
honest.wrong(
    "one for all seeds",
    "chooses one strength for all seeds, not one for each",
    lambda cal, test: test[:, cal.mean(dim=0).argmin()],
)
honest.wrong(
    "columns",
    "chooses the best seed of each strength: the wrong axis",
    lambda cal, test: test.gather(0, cal.argmin(dim=0)[None])[0],
)
honest.wrong(
    "all pairs",
    "test[:, best] is a matrix: every seed with the choice of every other",
    lambda cal, test: test[:, cal.argmin(dim=1)],
)
honest.wrong(
    "exchanged",
    "`cal` and `test` are exchanged",
    lambda cal, test: row_by_row(cal, test.argmin(dim=1)),
)
honest.wrong(
    "mean over seeds",
    "the mean over the seeds: one number, not one for each",
    lambda cal, test: row_by_row(test, cal.argmin(dim=1)).mean(),
)
honest.wrong(
    "the index",
    "returns the chosen strength's place, not its test error",
    lambda cal, test: cal.argmin(dim=1),
)
honest.wrong(
    "both",
    "chooses on the sum of both errors, so the test errors take part",
    lambda cal, test: row_by_row(test, (cal + test).argmin(dim=1)),
)
honest.wrong(
    "mean over strengths",
    "the mean test error over all strengths: nothing is chosen",
    lambda cal, test: test.mean(dim=1),
)
honest.wrong(
    "first seed",
    "every seed uses the choice of the first one",
    lambda cal, test: test[:, cal[0].argmin()],
)
honest.wrong(
    "whole matrix",
    "one minimum over the whole matrix",
    lambda cal, test: test.flatten()[cal.argmin()].expand(len(test)),
)
honest.wrong(
    "next strength",
    "one strength too far",
    lambda cal, test: row_by_row(test, (cal.argmin(dim=1) + 1) % cal.shape[1]),
)
honest.wrong(
    "largest strength",
    "always the last strength: ignores `cal`",
    lambda cal, test: test[:, -1].clone(),
)

honest.right("gather", lambda cal, test: row_by_row(test, cal.min(dim=1).indices))
honest.right(
    "loop", lambda cal, test: [float(b[int(a.argmin())]) for a, b in zip(cal, test, strict=True)]
)
honest.right(
    "numpy",
    lambda cal, test: np.take_along_axis(
        test.numpy(), cal.numpy().argmin(axis=1, keepdims=True), axis=1
    )[:, 0],
)
honest.right(
    "sorted",
    lambda cal, test: torch.stack(
        [
            min(zip(a.tolist(), b, strict=True), key=lambda pair: pair[0])[1]
            for a, b in zip(cal, test, strict=True)
        ]
    ),
)
honest.right(
    "mask",
    lambda cal, test: (
        test * functional.one_hot(cal.argmin(dim=1), cal.shape[1]).to(test.dtype)
    ).sum(dim=1),
)
honest.right("diagonal", lambda cal, test: test[:, cal.argmin(dim=1)].diagonal())

# 13: the informed posterior

informed = Exercise("informed_posterior")


def for_noise(scores, one_hot, factor):
    """The posterior after the scores are multiplied by a factor."""
    return (scores * factor).softmax(dim=1) @ one_hot


informed.wrong(
    "not squared",
    "the ratio of the noises is not squared",
    lambda scores, one_hot, old, new: for_noise(scores, one_hot, old / new),
)
informed.wrong(
    "upside down",
    "the ratio is upside down: new / old",
    lambda scores, one_hot, old, new: for_noise(scores, one_hot, (new / old) ** 2),
)
informed.wrong(
    "no factor",
    "ignores both noises",
    lambda scores, one_hot, old, new: for_noise(scores, one_hot, 1.0),
)
informed.wrong(
    "by new alone",
    "divides by new squared, and forgets old",
    lambda scores, one_hot, old, new: for_noise(scores, one_hot, 1 / new**2),
)
informed.wrong(
    "mean of a class",
    "the mean over the digits of a class, not the sum",
    lambda scores, one_hot, old, new: (
        for_noise(scores, one_hot, (old / new) ** 2) / one_hot.sum(dim=0)
    ),
)
informed.wrong(
    "sum before softmax",
    "adds the scores of a class before the softmax, not the probabilities after it",
    lambda scores, one_hot, old, new: (scores * (old / new) ** 2 @ one_hot).softmax(dim=1),
)
informed.wrong(
    "best of a class",
    "takes the best digit of each class only",
    lambda scores, one_hot, old, new: torch.stack(
        [
            (scores * (old / new) ** 2)[:, one_hot[:, k] > 0].amax(dim=1)
            for k in range(one_hot.shape[1])
        ],
        dim=1,
    ).softmax(dim=1),
)
informed.wrong(
    "bare exp",
    "exp of very negative scores underflows: 0 / 0",
    lambda scores, one_hot, old, new: (lambda w: w / w.sum(dim=1, keepdim=True) @ one_hot)(
        (scores * (old / new) ** 2).exp()
    ),
)
informed.wrong(
    "over the images",
    "the softmax runs over the images, not the digits",
    lambda scores, one_hot, old, new: (scores * (old / new) ** 2).softmax(dim=0) @ one_hot,
)
informed.wrong(
    "not normalised",
    "exp without the division by the sum",
    lambda scores, one_hot, old, new: (
        ((scores - scores.amax(1, keepdim=True)) * (old / new) ** 2).exp() @ one_hot
    ),
)
informed.wrong(
    "power of the posterior",
    "changes the posterior of the classes, not the scores of the digits",
    lambda scores, one_hot, old, new: per_row(
        (scores.softmax(dim=1) @ one_hot) ** ((old / new) ** 2)
    ),
)
informed.wrong(
    "old is 0.4",
    "ignores `old`: always 0.4",
    lambda scores, one_hot, old, new: for_noise(scores, one_hot, (0.4 / new) ** 2),
)
informed.wrong(
    "factor after",
    "multiplies the probabilities by the factor, not the scores",
    lambda scores, one_hot, old, new: scores.softmax(dim=1) * (old / new) ** 2 @ one_hot,
)
informed.wrong(
    "digits, not classes",
    "the sum over each class is missing",
    lambda scores, one_hot, old, new: (scores * (old / new) ** 2).softmax(dim=1),
)
informed.wrong(
    "one too many 2",
    "the factor has a 2 too many",
    lambda scores, one_hot, old, new: for_noise(scores, one_hot, old**2 / (2 * new**2)),
)


@informed.wrong("in place", "overwrites `scores`: a second call gives another result")
def _(scores, one_hot, old, new):
    scores *= (old / new) ** 2
    return scores.softmax(dim=1) @ one_hot


informed.right(
    "logsumexp",
    lambda scores, one_hot, old, new: torch.stack(
        [
            (scores.double() * old**2 / new**2)[:, one_hot[:, k] > 0].logsumexp(dim=1)
            for k in range(one_hot.shape[1])
        ],
        dim=1,
    ).softmax(dim=1),
)
informed.right(
    "float64",
    lambda scores, one_hot, old, new: for_noise(
        scores.double(), one_hot.double(), (old / new) ** 2
    ),
)
informed.right(
    "einsum",
    lambda scores, one_hot, old, new: torch.einsum(
        "nj,jk->nk", functional.softmax(scores * (old * old) / (new * new), dim=-1), one_hot
    ),
)
informed.right(
    "index_add",
    lambda scores, one_hot, old, new: torch.zeros(
        len(scores), one_hot.shape[1], dtype=scores.dtype
    ).index_add(1, one_hot.argmax(dim=1), (scores * (old / new) ** 2).softmax(dim=1)),
)
informed.right(
    "distances",
    lambda scores, one_hot, old, new: (
        (-(-2 * old**2 * scores.double()) / (2 * new**2)).softmax(dim=1) @ one_hot.double()
    ),
)


@informed.right("numpy")
def _(scores, one_hot, old, new):
    x = scores.double().numpy() * (old / new) ** 2
    weights = np.exp(x - x.max(axis=1, keepdims=True))
    return torch.from_numpy(weights @ one_hot.double().numpy() / weights.sum(axis=1, keepdims=True))


# 13: AUROC by hand

auroc = Exercise("strange_auroc")


def pairs(familiar, strange):
    """All differences familiar - strange, (n, m)."""
    return familiar[:, None].double() - strange[None].double()


auroc.wrong(
    "ties lose",
    "tied pairs count 0, not one half",
    lambda familiar, strange: (pairs(familiar, strange) > 0).double().mean(),
)
auroc.wrong(
    "ties win",
    "tied pairs count 1, not one half",
    lambda familiar, strange: (pairs(familiar, strange) >= 0).double().mean(),
)
auroc.wrong(
    "exchanged",
    "counts the pairs in which the strange one is higher",
    lambda familiar, strange: (pairs(familiar, strange).sign() * -0.5 + 0.5).mean(),
)
auroc.wrong(
    "number",
    "the number of pairs, not their share",
    lambda familiar, strange: (pairs(familiar, strange).sign() * 0.5 + 0.5).sum(),
)
auroc.wrong(
    "one by one",
    "compares row i with row i only, not all pairs",
    lambda familiar, strange: (
        lambda m: ((familiar[:m] - strange[:m]).sign() * 0.5 + 0.5).double().mean()
    )(min(len(familiar), len(strange))),
)
auroc.wrong(
    "by n squared",
    "divided by n * n, not by n * m",
    lambda familiar, strange: (
        (pairs(familiar, strange).sign() * 0.5 + 0.5).sum() / len(familiar) ** 2
    ),
)
auroc.wrong(
    "one threshold",
    "the accuracy at a threshold of one half, not all pairs",
    lambda familiar, strange: torch.cat([familiar > 0.5, strange <= 0.5]).double().mean(),
)
auroc.wrong(
    "means",
    "the difference of the means",
    lambda familiar, strange: familiar.mean() - strange.mean(),
)
auroc.wrong(
    "never below one half",
    "folds values below one half upwards",
    lambda familiar, strange: (lambda a: max(a, 1 - a))(
        (pairs(familiar, strange).sign() * 0.5 + 0.5).mean()
    ),
)
auroc.wrong(
    "Gini",
    "2 AUROC - 1, not AUROC",
    lambda familiar, strange: pairs(familiar, strange).sign().mean(),
)
auroc.wrong(
    "random pairs",
    "draws random pairs, so the result is random",
    lambda familiar, strange: (
        (
            (
                familiar[torch.randint(len(familiar), (500,))]
                - strange[torch.randint(len(strange), (500,))]
            ).sign()
            * 0.5
            + 0.5
        )
        .double()
        .mean()
    ),
)
auroc.wrong(
    "against the median",
    "compares with the median of the strange ones only",
    lambda familiar, strange: (familiar > strange.median()).double().mean(),
)
auroc.wrong(
    "tied whole pairs",
    "adds tied pairs whole on top of half",
    lambda familiar, strange: (
        (pairs(familiar, strange) > 0).double()
        + (pairs(familiar, strange) == 0).double() / 2
        + (pairs(familiar, strange) == 0).double()
    ).mean(),
)
auroc.wrong(
    "close is tied",
    "scores that differ by less than 0.001 count as tied",
    lambda familiar, strange: (
        (pairs(familiar, strange) > 1e-3).double()
        + (pairs(familiar, strange).abs() <= 1e-3).double() / 2
    ).mean(),
)


@auroc.wrong("ranks without ties", "ranks by sorting: tied scores get different ranks")
def _(familiar, strange):
    everything = torch.cat([familiar, strange])
    ranks = everything.argsort(stable=True).argsort() + 1.0
    n, m = len(familiar), len(strange)
    return (ranks[:n].sum() - n * (n + 1) / 2) / (n * m)


auroc.right("sign", lambda familiar, strange: (1 + pairs(familiar, strange).sign()).mean() / 2)
auroc.right(
    "heaviside",
    lambda familiar, strange: (
        torch.heaviside(pairs(familiar, strange), torch.tensor(0.5, dtype=torch.float64))
        .mean()
        .item()
    ),
)


@auroc.right("loop")
def _(familiar, strange):
    points = 0.0
    for a in familiar.tolist():
        for b in strange.tolist():
            points += 1.0 if a > b else 0.5 if a == b else 0.0
    return points / (len(familiar) * len(strange))


@auroc.right("ranks")
def _(familiar, strange):
    n, m = len(familiar), len(strange)
    ranks = scipy.stats.rankdata(torch.cat([familiar, strange]).double().numpy())
    return (ranks[:n].sum() - n * (n + 1) / 2) / (n * m)


@auroc.right("searchsorted")
def _(familiar, strange):
    ordered = strange.sort().values
    below = torch.searchsorted(ordered, familiar, right=False).double()
    not_above = torch.searchsorted(ordered, familiar, right=True).double()
    return (below + not_above).mean() / 2 / len(strange)


@auroc.right("area under the curve")
def _(familiar, strange):
    cuts = torch.cat([familiar, strange]).unique().flip(0)
    hits = np.r_[0, [(familiar >= cut).double().mean().item() for cut in cuts]]
    alarms = np.r_[0, [(strange >= cut).double().mean().item() for cut in cuts]]
    return np.trapezoid(hits, alarms)


# 13: lost confidence

lost = Exercise("lost_confidence")

lost.wrong(
    "sign",
    "the sign is reversed",
    lambda probs: probs.mean(dim=0).amax(dim=1).mean() - probs.amax(dim=2).mean(),
)
lost.wrong(
    "largest member",
    "the largest confidence of the members, not their mean",
    lambda probs: probs.amax(dim=2).amax(dim=0).mean() - probs.mean(dim=0).amax(dim=1).mean(),
)
lost.wrong(
    "first member",
    "compares the first member alone with the average",
    lambda probs: probs[0].amax(dim=1).mean() - probs.mean(dim=0).amax(dim=1).mean(),
)
lost.wrong(
    "at the ensemble's class",
    "takes the members' probability of the ensemble's class: always zero",
    lambda probs: probs.mean(dim=1).mean() - probs.mean(dim=0).mean(),
)
lost.wrong(
    "sum over members",
    "the sum over the members, not the mean",
    lambda probs: probs.amax(dim=2).mean(dim=1).sum() - probs.mean(dim=0).amax(dim=1).mean(),
)
lost.wrong(
    "per image",
    "one number for each image: the mean is missing",
    lambda probs: probs.amax(dim=2).mean(dim=0) - probs.mean(dim=0).amax(dim=1),
)
lost.wrong(
    "sum over images",
    "the sum over the images, not the mean",
    lambda probs: (probs.amax(dim=2).mean(dim=0) - probs.mean(dim=0).amax(dim=1)).sum(),
)
lost.wrong(
    "over the images",
    "the maximum over the images, not the classes",
    lambda probs: probs.amax(dim=1).mean() - probs.mean(dim=0).amax(dim=0).mean(),
)
lost.wrong(
    "mean of images first",
    "averages over the images before taking the maximum",
    lambda probs: probs.amax(dim=2).mean() - probs.mean(dim=1).amax(dim=1).mean(),
)
lost.wrong(
    "geometric mean",
    "the average is of logits, not of probabilities",
    lambda probs: (
        probs.amax(dim=2).mean()
        - probs.clamp(min=1e-12).log().mean(dim=0).softmax(dim=1).amax(dim=1).mean()
    ),
)
lost.wrong(
    "spread",
    "the standard deviation of the confidences, not what is lost",
    lambda probs: probs.amax(dim=2).std(dim=0, correction=0).mean(),
)
lost.wrong(
    "disagreement",
    "how often the members name another class than the ensemble",
    lambda probs: (probs.argmax(dim=2) != probs.mean(dim=0).argmax(dim=1)).double().mean(),
)
lost.wrong(
    "entropy",
    "the difference of the entropies, not of the confidences",
    lambda probs: (
        torch.special.entr(probs.mean(dim=0)).sum(dim=1).mean()
        - torch.special.entr(probs).sum(dim=2).mean()
    ),
)
lost.wrong(
    "relative",
    "as a share of the members' confidence",
    lambda probs: 1 - probs.mean(dim=0).amax(dim=1).mean() / probs.amax(dim=2).mean(),
)
lost.wrong(
    "half precision",
    "computed in float16",
    half(lambda probs: (probs.amax(dim=2).mean(dim=0) - probs.mean(dim=0).amax(dim=1)).mean()),
)
lost.wrong(
    "by R - 1",
    "divides by R - 1 when averaging the members",
    lambda probs: (
        probs.amax(dim=2).mean() - (probs.sum(dim=0) / max(1, len(probs) - 1)).amax(dim=1).mean()
    ),
)
lost.wrong(
    "per cent",
    "in points (per cent), not as a fraction",
    lambda probs: 100 * (probs.amax(dim=2).mean() - probs.mean(dim=0).amax(dim=1).mean()),
)

lost.right(
    "image by image",
    lambda probs: (
        probs.double().amax(dim=2).mean(dim=0) - probs.double().mean(dim=0).amax(dim=1)
    ).mean(),
)
lost.right(
    "topk", lambda probs: (probs.topk(1).values.mean() - probs.mean(0).topk(1).values.mean()).item()
)
lost.right(
    "numpy",
    lambda probs: (lambda p: p.max(-1).mean() - p.mean(0).max(-1).mean())(probs.double().numpy()),
)
lost.right(
    "einsum",
    lambda probs: (
        torch.einsum("rn->", probs.double().max(dim=2).values) / (len(probs) * probs.shape[1])
        - (torch.einsum("rnk->nk", probs.double()) / len(probs)).amax(dim=1).mean()
    ),
)
lost.right(
    "sorted",
    lambda probs: (
        probs.double().sort(dim=2).values[:, :, -1].mean()
        - probs.double().mean(dim=0).sort(dim=1).values[:, -1].mean()
    ),
)


@lost.right("loop")
def _(probs):
    members, images, classes = probs.shape
    values, total = probs.tolist(), 0.0
    for i in range(images):
        total += sum(max(values[r][i]) for r in range(members)) / members
        total -= max(sum(values[r][i][k] for r in range(members)) / members for k in range(classes))
    return total / images


# 14: the least sure

doubt = Exercise("top_entropy")


def entropies(probs):
    """The entropy of each row, (n,), float64."""
    return torch.special.entr(probs.double()).sum(dim=1)


def highest(values, count):
    """The places of the largest values, in ascending order."""
    return values.argsort(descending=True)[:count].sort().values


doubt.wrong(
    "cut off",
    "share * n is cut off, not rounded: 0.29 * 100 becomes 28",
    lambda probs, share: highest(entropies(probs), int(share * len(probs))),
)
doubt.wrong(
    "rounded up",
    "share * n is rounded up, not to the nearest",
    lambda probs, share: highest(entropies(probs), math.ceil(share * len(probs))),
)
doubt.wrong(
    "lowest",
    "the rows with the lowest entropy",
    lambda probs, share: highest(-entropies(probs), round(share * len(probs))),
)
doubt.wrong(
    "least confident",
    "orders by the largest probability, not by the entropy",
    lambda probs, share: highest(-probs.amax(dim=1), round(share * len(probs))),
)
doubt.wrong(
    "not ascending",
    "the indices come by entropy, not in ascending order",
    lambda probs, share: entropies(probs).argsort(descending=True)[: round(share * len(probs))],
)
doubt.wrong(
    "zeros",
    "p log p is NaN where p is 0: such rows are chosen first",
    lambda probs, share: highest(-(probs * probs.log()).sum(dim=1), round(share * len(probs))),
)
doubt.wrong(
    "values",
    "returns the entropies, not the indices",
    lambda probs, share: entropies(probs).sort(descending=True).values[: round(share * len(probs))],
)
doubt.wrong(
    "mask",
    "returns a mask, not indices",
    lambda probs, share: torch.zeros(len(probs), dtype=torch.bool).index_fill(
        0, highest(entropies(probs), round(share * len(probs))), True
    ),
)
doubt.wrong(
    "columns",
    "the entropy is summed over the images, not the classes",
    lambda probs, share: highest(torch.special.entr(probs).sum(dim=0), round(share * len(probs))),
)
doubt.wrong(
    "margin",
    "orders by the distance between the two largest probabilities",
    lambda probs, share: highest(
        -(lambda two: two[:, 0] - two[:, 1])(probs.topk(2).values), round(share * len(probs))
    ),
)
doubt.wrong(
    "Gini",
    "orders by 1 - sum of p squared, not by the entropy",
    lambda probs, share: highest(1 - probs.square().sum(dim=1), round(share * len(probs))),
)
doubt.wrong(
    "threshold",
    "takes the rows whose entropy is above `share`",
    lambda probs, share: torch.nonzero(entropies(probs) > share)[:, 0],
)
doubt.wrong(
    "one too many",
    "one row too many",
    lambda probs, share: highest(entropies(probs), round(share * len(probs)) + 1),
)
doubt.wrong(
    "first rows",
    "the first rows: `probs` is not looked at",
    lambda probs, share: torch.arange(round(share * len(probs))),
)
doubt.wrong(
    "random",
    "rows at random",
    lambda probs, share: torch.randperm(len(probs))[: round(share * len(probs))].sort().values,
)
doubt.wrong(
    "epsilon",
    "0.01 is added inside the logarithm, which changes the order",
    lambda probs, share: highest(
        -(probs * (probs + 0.01).log()).sum(dim=1), round(share * len(probs))
    ),
)
doubt.wrong(
    "variance",
    "orders by the variance of each row, not by the entropy",
    lambda probs, share: highest(-probs.var(dim=1), round(share * len(probs))),
)
doubt.wrong(
    "largest term",
    "the largest term -p log p of a row, not the sum",
    lambda probs, share: highest(torch.special.entr(probs).amax(dim=1), round(share * len(probs))),
)

doubt.right(
    "topk", lambda probs, share: entropies(probs).topk(round(share * len(probs))).indices.sort()[0]
)
doubt.right(
    "bits",
    lambda probs, share: highest(
        -torch.special.xlogy(probs.double(), probs.double()).sum(dim=1) / math.log(2),
        round(share * len(probs)),
    ),
)
doubt.right(
    "nansum",
    lambda probs, share: highest(
        -(probs.double() * probs.double().log()).nansum(dim=1), round(share * len(probs))
    ),
)
doubt.right(
    "numpy",
    lambda probs, share: torch.from_numpy(
        np.sort(
            np.argsort(-scipy.stats.entropy(probs.double().numpy(), axis=1), kind="stable")[
                : round(share * len(probs))
            ]
        )
    ),
)
doubt.right(
    "mask, then places",
    lambda probs, share: torch.nonzero(
        torch.zeros(len(probs)).index_fill(
            0, entropies(probs).argsort()[len(probs) - round(share * len(probs)) :], 1.0
        )
    ).flatten(),
)


@doubt.right("loop")
def _(probs, share):
    values = [-sum(p * math.log(p) for p in row if p > 0) for row in probs.double().tolist()]
    order = sorted(range(len(values)), key=lambda i: -values[i])
    return torch.tensor(sorted(order[: round(share * len(values))]), dtype=torch.long)


# 14: the exact posterior on the chosen

chosen_few = Exercise("chosen_gap")


def gap_of(probs, labels):
    """Mean confidence minus accuracy."""
    return probs.double().amax(dim=1).mean() - (probs.argmax(dim=1) == labels).double().mean()


chosen_few.wrong(
    "all images",
    "ignores `chosen`: the gap of all images",
    lambda posterior, labels, chosen: gap_of(posterior, labels),
)
chosen_few.wrong(
    "sign",
    "accuracy minus confidence: the sign is reversed",
    lambda posterior, labels, chosen: -gap_of(posterior[chosen], labels[chosen]),
)
chosen_few.wrong(
    "labels not chosen",
    "the first labels, not those of the chosen images",
    lambda posterior, labels, chosen: gap_of(posterior[chosen], labels[: len(chosen)]),
)
chosen_few.wrong(
    "confidence of all",
    "the confidence of all images, the accuracy of the chosen ones",
    lambda posterior, labels, chosen: (
        posterior.amax(1).mean() - (posterior[chosen].argmax(1) == labels[chosen]).double().mean()
    ),
)
chosen_few.wrong(
    "accuracy of all",
    "the accuracy of all images, the confidence of the chosen ones",
    lambda posterior, labels, chosen: (
        posterior[chosen].amax(1).mean() - (posterior.argmax(1) == labels).double().mean()
    ),
)
chosen_few.wrong(
    "absolute",
    "the absolute value: loses the sign",
    lambda posterior, labels, chosen: gap_of(posterior[chosen], labels[chosen]).abs(),
)
chosen_few.wrong(
    "probability of the label",
    "subtracts the probability of the label, not the share of hits",
    lambda posterior, labels, chosen: (
        posterior[chosen].amax(1).mean() - posterior[chosen, labels[chosen]].mean()
    ),
)
chosen_few.wrong(
    "divided by all",
    "divides by the number of all images, not of the chosen ones",
    lambda posterior, labels, chosen: (
        gap_of(posterior[chosen], labels[chosen]) * len(chosen) / len(labels)
    ),
)
chosen_few.wrong(
    "sum",
    "the sum, not the mean",
    lambda posterior, labels, chosen: gap_of(posterior[chosen], labels[chosen]) * len(chosen),
)
chosen_few.wrong(
    "the rest",
    "the gap of the images that were not chosen",
    lambda posterior, labels, chosen: (lambda rest: gap_of(posterior[rest], labels[rest]))(
        torch.ones(len(labels), dtype=torch.bool).index_fill(0, chosen, False)
    ),
)
chosen_few.wrong(
    "first ones",
    "the first len(chosen) images",
    lambda posterior, labels, chosen: gap_of(posterior[: len(chosen)], labels[: len(chosen)]),
)
chosen_few.wrong(
    "sorted on one side",
    "sorts the indices for the posterior, but not for the labels",
    lambda posterior, labels, chosen: gap_of(posterior[chosen.sort().values], labels[chosen]),
)
chosen_few.wrong(
    "ECE",
    "the ECE: a distance without sign",
    lambda posterior, labels, chosen: metrics.ece(posterior[chosen], labels[chosen]),
)
chosen_few.wrong(
    "columns",
    "takes the maximum over the images, not the classes",
    lambda posterior, labels, chosen: (
        posterior[chosen].amax(dim=0).mean()
        - (posterior[chosen].argmax(dim=1) == labels[chosen]).double().mean()
    ),
)
chosen_few.wrong(
    "indices as mask",
    "reads the indices as a mask: all but index 0",
    lambda posterior, labels, chosen: gap_of(
        posterior[: len(chosen)][chosen != 0], labels[: len(chosen)][chosen != 0]
    ),
)
chosen_few.wrong(
    "per cent",
    "in per cent, not as a fraction",
    lambda posterior, labels, chosen: 100 * gap_of(posterior[chosen], labels[chosen]),
)
chosen_few.wrong(
    "image by image",
    "one number for each image: the mean is missing",
    lambda posterior, labels, chosen: (
        posterior[chosen].amax(1) - (posterior[chosen].argmax(1) == labels[chosen]).double()
    ),
)

chosen_few.right(
    "package",
    lambda posterior, labels, chosen: metrics.signed_gap(posterior[chosen], labels[chosen]),
)
chosen_few.right(
    "differences",
    lambda posterior, labels, chosen: (
        posterior.double().amax(1) - (posterior.argmax(1) == labels).double()
    )[chosen].mean(),
)
chosen_few.right(
    "mask",
    lambda posterior, labels, chosen: (lambda picked: gap_of(posterior[picked], labels[picked]))(
        torch.isin(torch.arange(len(labels)), chosen)
    ),
)
chosen_few.right(
    "numpy",
    lambda posterior, labels, chosen: (lambda p, y: p.max(1).mean() - (p.argmax(1) == y).mean())(
        posterior.double().numpy()[chosen.numpy()], labels.numpy()[chosen.numpy()]
    ),
)
chosen_few.right(
    "index_select",
    lambda posterior, labels, chosen: gap_of(
        posterior.index_select(0, chosen.flip(0)), labels.index_select(0, chosen.flip(0))
    ).item(),
)


@chosen_few.right("loop")
def _(posterior, labels, chosen):
    total = 0.0
    for i in chosen.tolist():
        row = posterior[i].tolist()
        total += max(row) - (row.index(max(row)) == int(labels[i]))
    return total / len(chosen)


# 14: what a subset costs

cost = Exercise("selection_cost")


def costs(share, warmup, epochs, scoring):
    """The cost of the whole training."""
    return (warmup + (epochs - warmup) * (share + scoring)) / epochs


cost.wrong(
    "free scores",
    "the scoring is missing: ignores `scoring`",
    lambda share, warmup, epochs, scoring: costs(share, warmup, epochs, 0.0),
)
cost.wrong(
    "scores in the warm-up",
    "the scoring is paid in the warm-up epochs too",
    lambda share, warmup, epochs, scoring: (
        costs(share, warmup, epochs, scoring) + warmup * scoring / epochs
    ),
)
cost.wrong(
    "scores of the share",
    "only the chosen images are scored, not all",
    lambda share, warmup, epochs, scoring: costs(share, warmup, epochs, share * scoring),
)
cost.wrong(
    "scores of the rest",
    "only the images that were not chosen are scored",
    lambda share, warmup, epochs, scoring: costs(share, warmup, epochs, (1 - share) * scoring),
)
cost.wrong(
    "in epochs",
    "in epochs, not as a part of the whole: the division is missing",
    lambda share, warmup, epochs, scoring: costs(share, warmup, epochs, scoring) * epochs,
)
cost.wrong("no warm-up", "ignores `warmup`", lambda share, warmup, epochs, scoring: share + scoring)
cost.wrong(
    "warm-up on top",
    "the warm-up epochs come on top of `epochs`",
    lambda share, warmup, epochs, scoring: (warmup + epochs * (share + scoring)) / epochs,
)
cost.wrong(
    "warm-up with a share",
    "the warm-up trains on a share only",
    lambda share, warmup, epochs, scoring: (
        (warmup * share + (epochs - warmup) * (share + scoring)) / epochs
    ),
)
cost.wrong(
    "scored once",
    "the images are scored once, not in each later epoch",
    lambda share, warmup, epochs, scoring: (warmup + (epochs - warmup) * share + scoring) / epochs,
)
cost.wrong(
    "one epoch too few",
    "one later epoch too few",
    lambda share, warmup, epochs, scoring: (
        (warmup + max(0, epochs - warmup - 1) * (share + scoring)) / epochs
    ),
)
cost.wrong(
    "by the later epochs",
    "divided by the later epochs, not by all",
    lambda share, warmup, epochs, scoring: (
        (warmup + (epochs - warmup) * (share + scoring))
        / (epochs - warmup if epochs > warmup else epochs)
    ),
)
cost.wrong(
    "what is saved",
    "what is saved, not what is paid",
    lambda share, warmup, epochs, scoring: 1 - costs(share, warmup, epochs, scoring),
)
cost.wrong(
    "at most 1",
    "never more than 1, though a dear score can cost more than it saves",
    lambda share, warmup, epochs, scoring: min(1.0, costs(share, warmup, epochs, scoring)),
)
cost.wrong(
    "whole division",
    "divides whole numbers: the fraction is lost",
    lambda share, warmup, epochs, scoring: (
        (warmup + (epochs - warmup) * (share + scoring)) // epochs
    ),
)
cost.wrong(
    "rounded",
    "rounded to two decimals",
    lambda share, warmup, epochs, scoring: round(costs(share, warmup, epochs, scoring), 2),
)
cost.wrong(
    "multiplied",
    "multiplies share and scoring, where each is paid",
    lambda share, warmup, epochs, scoring: (warmup + (epochs - warmup) * share * scoring) / epochs,
)
cost.wrong(
    "a third",
    "ignores `scoring`: always a third",
    lambda share, warmup, epochs, scoring: costs(share, warmup, epochs, 1 / 3),
)

cost.right(
    "shares of the time",
    lambda share, warmup, epochs, scoring: (
        warmup / epochs + (1 - warmup / epochs) * (share + scoring)
    ),
)
cost.right(
    "from 1",
    lambda share, warmup, epochs, scoring: 1 - (epochs - warmup) / epochs * (1 - share - scoring),
)
cost.right(
    "fractions",
    lambda share, warmup, epochs, scoring: float(
        (warmup + (epochs - warmup) * (Fraction(share) + Fraction(scoring))) / epochs
    ),
)
cost.right(
    "numpy",
    lambda share, warmup, epochs, scoring: np.mean(
        np.where(np.arange(epochs) < warmup, 1.0, share + scoring)
    ),
)
cost.right(
    "tensor",
    lambda share, warmup, epochs, scoring: torch.tensor(
        [1.0] * warmup + [share + scoring] * (epochs - warmup), dtype=torch.float64
    ).mean(),
)


@cost.right("loop")
def _(share, warmup, epochs, scoring):
    paid = 0.0
    for epoch in range(epochs):
        paid += 1 if epoch < warmup else share
        if epoch >= warmup:
            paid += scoring
    return paid / epochs


# 15: the probability of a note

note = Exercise("note_probability")


def forwards(words, start, moves, says):
    """The vector of the forward algorithm behind the last word, (H,)."""
    forward = start * says[:, words[0]]
    for word in words[1:]:
        forward = (forward @ moves) * says[:, word]
    return forward


note.wrong(
    "transposed",
    "goes from h to g: the moves are transposed",
    lambda words, start, moves, says: forwards(words, start, moves.T, says).sum(),
)
note.wrong(
    "no first word",
    "the first word is not said: only its topic is drawn",
    lambda words, start, moves, says: reduce(
        lambda f, w: (f @ moves) * says[:, w], words[1:], start
    ).sum(),
)
note.wrong(
    "moved before the first",
    "moves once before the first word",
    lambda words, start, moves, says: reduce(
        lambda f, w: (f @ moves) * says[:, w], words, start
    ).sum(),
)
note.wrong(
    "best path",
    "the most probable path only: a maximum in place of the sum",
    lambda words, start, moves, says: reduce(
        lambda f, w: (f[:, None] * moves).amax(dim=0) * says[:, w],
        words[1:],
        start * says[:, words[0]],
    ).max(),
)
note.wrong(
    "largest at the end",
    "the largest entry at the end, not the sum",
    lambda words, start, moves, says: forwards(words, start, moves, says).max(),
)
note.wrong(
    "not summed",
    "the sum over the last topics is missing",
    lambda words, start, moves, says: forwards(words, start, moves, says),
)
note.wrong(
    "mean at the end",
    "the mean over the last topics, not the sum",
    lambda words, start, moves, says: forwards(words, start, moves, says).mean(),
)
note.wrong(
    "logarithm",
    "returns the logarithm of the probability",
    lambda words, start, moves, says: forwards(words, start, moves, says).sum().log(),
)
note.wrong(
    "last word missing",
    "the last word is left out",
    lambda words, start, moves, says: (
        forwards(words[:-1], start, moves, says).sum() if len(words) > 1 else start.sum()
    ),
)
note.wrong(
    "first word twice",
    "the first word is counted twice: the loop begins at 0",
    lambda words, start, moves, says: reduce(
        lambda f, w: (f @ moves) * says[:, w], words, start * says[:, words[0]]
    ).sum(),
)
note.wrong(
    "no moves",
    "ignores `moves`: the topics never change",
    lambda words, start, moves, says: (start * says[:, words].prod(dim=1)).sum(),
)
note.wrong(
    "independent words",
    "multiplies the probabilities of the words as if they were independent",
    lambda words, start, moves, says: reduce(
        lambda total, w: total * (start @ says)[w], words, torch.ones((), dtype=start.dtype)
    ),
)
note.wrong(
    "even start",
    "ignores `start`: every topic equally probable",
    lambda words, start, moves, says: forwards(
        words, torch.full_like(start, 1 / len(start)), moves, says
    ).sum(),
)
note.wrong(
    "rescaled",
    "makes the vector sum to 1 after each word, and so loses the probability",
    lambda words, start, moves, says: reduce(
        lambda f, w: (lambda v: v / v.sum())((f @ moves) * says[:, w]),
        words[1:],
        start * says[:, words[0]],
    ).sum(),
)
note.wrong(
    "backwards",
    "reads the note from its end",
    lambda words, start, moves, says: forwards(words.flip(0), start, moves, says).sum(),
)
note.wrong(
    "word before move",
    "says the word under the topic before the move",
    lambda words, start, moves, says: reduce(
        lambda f, w: (f * says[:, w]) @ moves, words[1:], start * says[:, words[0]]
    ).sum(),
)
note.wrong(
    "three topics at most",
    "the path of the most probable topic at each word",
    lambda words, start, moves, says: (
        lambda path: start[path[0]] * says[path, words].prod() * moves[path[:-1], path[1:]].prod()
    )(says[:, words].argmax(dim=0)),
)
note.wrong(
    "half precision",
    "computed in float16: small probabilities become 0",
    half(lambda words, start, moves, says: forwards(words, start, moves, says).sum()),
)
note.wrong(
    "added",
    "adds the probability of the word, where it must be multiplied",
    lambda words, start, moves, says: reduce(
        lambda f, w: f @ moves + says[:, w], words[1:], start * says[:, words[0]]
    ).sum(),
)

note.right(
    "float64",
    lambda words, start, moves, says: (
        forwards(words, start.double(), moves.double(), says.double()).sum().item()
    ),
)


@note.right("backward algorithm")
def _(words, start, moves, says):
    ahead = torch.ones_like(start)
    for word in words.flip(0)[:-1]:
        ahead = moves @ (says[:, word] * ahead)
    return (start * says[:, words[0]] * ahead).sum()


@note.right("logarithms")
def _(words, start, moves, says):
    start, moves, says = (one.double().log() for one in (start, moves, says))
    forward = start + says[:, words[0]]
    for word in words[1:]:
        forward = torch.logsumexp(forward[:, None] + moves, dim=0) + says[:, word]
    return forward.logsumexp(dim=0).exp()


@note.right("scaled")
def _(words, start, moves, says):
    forward, total = start.double(), 0.0
    for place, word in enumerate(words.tolist()):
        forward = (forward if place == 0 else forward @ moves.double()) * says[:, word].double()
        total += math.log(forward.sum()) if forward.sum() > 0 else -math.inf
        forward = forward / forward.sum()
    return math.exp(total)


@note.right("product of matrices")
def _(words, start, moves, says):
    steps = [moves * says[:, word] for word in words[1:]]
    return reduce(torch.matmul, steps, start * says[:, words[0]]) @ torch.ones_like(start)


@note.right("einsum in numpy")
def _(words, start, moves, says):
    start, moves, says = (one.double().numpy() for one in (start, moves, says))
    forward = start * says[:, int(words[0])]
    for word in words[1:].tolist():
        forward = np.einsum("g,gh,h->h", forward, moves, says[:, word])
    return forward.sum()


@note.right("loops")
def _(words, start, moves, says):
    topics, start, moves, says = range(len(start)), start.tolist(), moves.tolist(), says.tolist()
    first, *others = words.tolist()
    forward = [start[h] * says[h][first] for h in topics]
    for word in others:
        forward = [sum(forward[g] * moves[g][h] for g in topics) * says[h][word] for h in topics]
    return sum(forward)


# 15: a mean over words

pooled = Exercise("masked_mean")


def masked(vectors, texts):
    """The vectors, 0 at the padding."""
    return vectors * (texts != 0).to(vectors.dtype)[:, :, None]


def how_many(texts):
    """The number of words of each text, (n, 1)."""
    return (texts != 0).sum(dim=1, keepdim=True)


pooled.wrong(
    "padding too",
    "a mean over all places: ignores the padding",
    lambda vectors, texts: vectors.mean(dim=1),
)
pooled.wrong(
    "divided by the length",
    "masks the padding, but divides by the length with padding",
    lambda vectors, texts: masked(vectors, texts).mean(dim=1),
)
pooled.wrong(
    "not masked",
    "divides by the number of words, but adds up the padding too",
    lambda vectors, texts: vectors.sum(dim=1) / how_many(texts),
)
pooled.wrong(
    "sum", "the sum, not the mean", lambda vectors, texts: masked(vectors, texts).sum(dim=1)
)
pooled.wrong(
    "inverted mask",
    "averages the padding, not the words",
    lambda vectors, texts: (
        (vectors - masked(vectors, texts)).sum(dim=1)
        / (texts == 0).sum(dim=1, keepdim=True).clamp(min=1)
    ),
)
pooled.wrong(
    "one of all texts",
    "divides by the mean number of words of all texts",
    lambda vectors, texts: masked(vectors, texts).sum(dim=1) / how_many(texts).double().mean(),
)
pooled.wrong(
    "number 1 is padding",
    "word number 1 is treated as padding",
    lambda vectors, texts: (
        (vectors * (texts > 1)[:, :, None]).sum(dim=1)
        / (texts > 1).sum(dim=1, keepdim=True).clamp(min=1)
    ),
)
pooled.wrong(
    "one word more",
    "divides by the number of words + 1",
    lambda vectors, texts: masked(vectors, texts).sum(dim=1) / (how_many(texts) + 1),
)
pooled.wrong(
    "epsilon",
    "0.001 is added to the number of words",
    lambda vectors, texts: masked(vectors, texts).sum(dim=1) / (how_many(texts) + 1e-3),
)
pooled.wrong(
    "third axis kept",
    "the result has a third axis: (n, 1, D)",
    lambda vectors, texts: (
        masked(vectors, texts).sum(dim=1, keepdim=True) / how_many(texts)[:, :, None]
    ),
)
pooled.wrong(
    "weighted by number",
    "multiplies by the number of the word, not by 0 or 1",
    lambda vectors, texts: (vectors * texts[:, :, None]).sum(dim=1) / how_many(texts),
)
pooled.wrong(
    "over D",
    "averages over the numbers of a vector, not over the places",
    lambda vectors, texts: masked(vectors, texts).mean(dim=2),
)
pooled.wrong(
    "largest",
    "the largest, not the mean",
    lambda vectors, texts: vectors.masked_fill((texts == 0)[:, :, None], -math.inf).amax(dim=1),
)
pooled.wrong(
    "zero vectors",
    "takes places whose vector is zero for padding, not those whose number is 0",
    lambda vectors, texts: (
        vectors.sum(dim=1) / (vectors != 0).any(dim=2).sum(dim=1, keepdim=True).clamp(min=1)
    ),
)
pooled.wrong(
    "last word",
    "the last word is left out",
    lambda vectors, texts: (
        masked(vectors[:, :-1], texts[:, :-1]).sum(dim=1) / how_many(texts[:, :-1]).clamp(min=1)
    ),
)
pooled.wrong(
    "first word", "the vector of the first word only", lambda vectors, texts: vectors[:, 0].clone()
)
pooled.wrong(
    "length 1",
    "scales each result to length 1",
    lambda vectors, texts: functional.normalize(masked(vectors, texts).sum(dim=1), dim=1),
)
pooled.wrong(
    "shortest text",
    "cuts all texts to the shortest one",
    lambda vectors, texts: vectors[:, : int(how_many(texts).min())].mean(dim=1),
)
pooled.wrong(
    "different words",
    "divides by the number of different words",
    lambda vectors, texts: (
        masked(vectors, texts).sum(dim=1)
        / torch.tensor([len(set(row) - {0}) for row in texts.tolist()])[:, None]
    ),
)


@pooled.wrong("in place", "overwrites the vectors at the padding with 0")
def _(vectors, texts):
    vectors[texts == 0] = 0
    return vectors.sum(dim=1) / how_many(texts)


pooled.right(
    "loop",
    lambda vectors, texts: torch.stack(
        [one[text != 0].mean(dim=0) for one, text in zip(vectors, texts, strict=True)]
    ),
)
pooled.right(
    "nanmean",
    lambda vectors, texts: vectors.masked_fill((texts == 0)[:, :, None], math.nan).nanmean(dim=1),
)
pooled.right(
    "einsum",
    lambda vectors, texts: (
        torch.einsum("nld,nl->nd", vectors, (texts != 0).to(vectors.dtype)) / how_many(texts)
    ),
)
pooled.right(
    "bmm",
    lambda vectors, texts: torch.bmm(
        ((texts != 0) / how_many(texts)).to(vectors.dtype)[:, None], vectors
    )[:, 0],
)
pooled.right(
    "where",
    lambda vectors, texts: (
        torch.where((texts != 0).unsqueeze(-1), vectors, 0.0).double().sum(dim=1) / how_many(texts)
    ),
)
pooled.right(
    "numpy",
    lambda vectors, texts: torch.from_numpy(
        np.stack(
            [
                np.average(one, axis=0, weights=text != 0)
                for one, text in zip(vectors.double().numpy(), texts.numpy(), strict=True)
            ]
        )
    ),
)
pooled.right(
    "index_add",
    lambda vectors, texts: (
        torch.zeros(len(texts), vectors.shape[2], dtype=vectors.dtype).index_add(
            0, (texts != 0).nonzero()[:, 0], vectors[texts != 0]
        )
        / how_many(texts)
    ),
)

# 16: the next-word law

law = Exercise("next_law")


def fitting(translations, prefix):
    """Which rows begin with the prefix, (m,)."""
    return (translations[:, : len(prefix)] == prefix).all(dim=1)


def counted(following, probs, words):
    """The probability of each word, (V,), not rescaled."""
    return torch.zeros(words, dtype=torch.float64).index_add(0, following, probs.double())


law.wrong(
    "not rescaled",
    "not divided by the total probability of the prefix",
    lambda translations, probs, prefix, words: (
        lambda fits: counted(translations[fits, len(prefix)], probs[fits], words)
    )(fitting(translations, prefix)),
)
law.wrong(
    "counts",
    "counts the translations, and ignores their probabilities",
    lambda translations, probs, prefix, words: (
        lambda fits: (
            counted(translations[fits, len(prefix)], torch.ones_like(probs[fits]), words)
            / fits.sum()
        )
    )(fitting(translations, prefix)),
)
law.wrong(
    "one column late",
    "reads one column too far to the right",
    lambda translations, probs, prefix, words: (
        lambda fits: (
            counted(
                translations[fits, min(len(prefix) + 1, translations.shape[1] - 1)],
                probs[fits],
                words,
            )
            / probs[fits].sum()
        )
    )(fitting(translations, prefix)),
)
law.wrong(
    "one column early",
    "reads the last token of the prefix, not the one after it",
    lambda translations, probs, prefix, words: (
        lambda fits: (
            counted(translations[fits, len(prefix) - 1], probs[fits], words) / probs[fits].sum()
        )
    )(fitting(translations, prefix)),
)
law.wrong(
    "any token",
    "a row fits if any token agrees, not all",
    lambda translations, probs, prefix, words: (
        lambda fits: (
            counted(translations[fits, len(prefix)], probs[fits], words) / probs[fits].sum()
        )
    )((translations[:, : len(prefix)] == prefix).any(dim=1)),
)
law.wrong(
    "last token only",
    "compares only the last token of the prefix",
    lambda translations, probs, prefix, words: (
        lambda fits: (
            counted(translations[fits, len(prefix)], probs[fits], words) / probs[fits].sum()
        )
    )(
        translations[:, len(prefix) - 1] == prefix[-1]
        if len(prefix)
        else fitting(translations, prefix)
    ),
)
law.wrong(
    "no prefix",
    "ignores the tokens of the prefix: all rows fit",
    lambda translations, probs, prefix, words: (
        counted(translations[:, len(prefix)], probs, words) / probs.sum()
    ),
)
law.wrong(
    "prefix too short",
    "compares all but the last token of the prefix",
    lambda translations, probs, prefix, words: (
        lambda fits: (
            counted(translations[fits, len(prefix)], probs[fits], words) / probs[fits].sum()
        )
    )(fitting(translations, prefix[:-1])),
)
law.wrong(
    "overwritten",
    "repeated words overwrite each other: law[i] = p does not add up",
    lambda translations, probs, prefix, words: (
        lambda fits: (lambda one: one / one.sum())(
            torch.zeros(words, dtype=torch.float64).index_put(
                (translations[fits, len(prefix)],), probs[fits].double()
            )
        )
    )(fitting(translations, prefix)),
)
law.wrong(
    "lost additions",
    "law[i] += p adds a repeated word only once, and the sum is not 1",
    lambda translations, probs, prefix, words: (
        lambda fits: (
            torch.zeros(words, dtype=torch.float64).index_put(
                (translations[fits, len(prefix)],), probs[fits].double()
            )
            / probs[fits].sum()
        )
    )(fitting(translations, prefix)),
)
law.wrong(
    "largest token",
    "the size is the largest token of the list + 1, not `words`",
    lambda translations, probs, prefix, words: (
        lambda fits: (
            torch.bincount(translations[fits, len(prefix)], probs[fits]) / probs[fits].sum()
        )
    )(fitting(translations, prefix)),
)
law.wrong(
    "best translation",
    "all the probability on the next word of the most probable translation",
    lambda translations, probs, prefix, words: (
        lambda fits: functional.one_hot(
            translations[fits, len(prefix)][probs[fits].argmax()], words
        ).double()
    )(fitting(translations, prefix)),
)
law.wrong(
    "softmax",
    "a softmax in place of the division by the total",
    lambda translations, probs, prefix, words: (
        lambda fits: counted(translations[fits, len(prefix)], probs[fits], words).softmax(dim=0)
    )(fitting(translations, prefix)),
)
law.wrong(
    "all later words",
    "counts every word that comes later, not only the next one",
    lambda translations, probs, prefix, words: (
        lambda fits: (lambda one: one / one.sum())(
            counted(
                translations[fits, len(prefix) :].flatten(),
                probs[fits].repeat_interleave(translations.shape[1] - len(prefix)),
                words,
            )
        )
    )(fitting(translations, prefix)),
)
law.wrong(
    "by the number of rows",
    "divided by the number of rows, not by their probability",
    lambda translations, probs, prefix, words: (
        lambda fits: counted(translations[fits, len(prefix)], probs[fits], words) / fits.sum()
    )(fitting(translations, prefix)),
)
law.wrong(
    "even",
    "every possible next word equally probable",
    lambda translations, probs, prefix, words: (
        lambda fits: (lambda one: one / one.sum())(
            (counted(translations[fits, len(prefix)], probs[fits], words) > 0).double()
        )
    )(fitting(translations, prefix)),
)
law.wrong(
    "smoothed",
    "adds 0.001 to every word",
    lambda translations, probs, prefix, words: (
        lambda fits: (lambda one: one / one.sum())(
            counted(translations[fits, len(prefix)], probs[fits], words) + 1e-3
        )
    )(fitting(translations, prefix)),
)
law.wrong(
    "logarithm",
    "returns logarithms, not probabilities",
    lambda translations, probs, prefix, words: (
        lambda fits: (
            counted(translations[fits, len(prefix)], probs[fits], words) / probs[fits].sum()
        ).log()
    )(fitting(translations, prefix)),
)
law.wrong(
    "bag of words",
    "compares the words of the prefix without their order",
    lambda translations, probs, prefix, words: (
        lambda fits: (
            counted(translations[fits, len(prefix)], probs[fits], words) / probs[fits].sum()
        )
    )((translations[:, : len(prefix)].sort(dim=1).values == prefix.sort().values).all(dim=1)),
)

law.right(
    "bincount",
    lambda translations, probs, prefix, words: (
        lambda fits: (
            torch.bincount(translations[fits, len(prefix)], probs[fits], minlength=words)
            / probs[fits].sum()
        )
    )(fitting(translations, prefix)),
)
law.right(
    "one-hot",
    lambda translations, probs, prefix, words: (
        lambda weight: weight @ hot(translations[:, len(prefix)], words) / weight.sum()
    )(probs * fitting(translations, prefix)),
)


@law.right("dictionary")
def _(translations, probs, prefix, words):
    sums = dict.fromkeys(range(words), 0.0)
    for row, p in zip(translations.tolist(), probs.tolist(), strict=True):
        if row[: len(prefix)] == prefix.tolist():
            sums[row[len(prefix)]] += p
    return torch.tensor(list(sums.values()), dtype=torch.float64) / sum(sums.values())


@law.right("token by token")
def _(translations, probs, prefix, words):
    for place, token in enumerate(prefix):
        fits = translations[:, place] == token
        translations, probs = translations[fits], probs[fits]
    return (
        torch.stack([probs[translations[:, len(prefix)] == word].sum() for word in range(words)])
        / probs.sum()
    )


@law.right("numpy")
def _(translations, probs, prefix, words):
    rows, weights = translations.numpy(), probs.numpy().copy()
    weights[(rows[:, : len(prefix)] != prefix.numpy()).any(axis=1)] = 0
    result = np.zeros(words)
    np.add.at(result, rows[:, len(prefix)], weights)
    return torch.from_numpy(result / weights.sum())


@law.right("index_put")
def _(translations, probs, prefix, words):
    fits = fitting(translations, prefix)
    share = probs[fits] / probs[fits].sum()
    return torch.zeros(words, dtype=torch.float64).index_put_(
        (translations[fits, len(prefix)],), share, accumulate=True
    )


# 16: the gap without padding

unpadded = Exercise("masked_gap")


def flat_gap(probs, labels, rows):
    """The signed gap of some rows."""
    return gap_of(probs[rows], labels[rows])


unpadded.wrong(
    "padding too",
    "the padding counts as tokens",
    lambda probs, labels: gap_of(probs.flatten(0, 1), labels.flatten()),
)
unpadded.wrong(
    "sentence by sentence",
    "averages the gaps of the sentences: short ones weigh too much",
    lambda probs, labels: torch.stack(
        [flat_gap(p, y, y != 0) for p, y in zip(probs, labels, strict=True)]
    ).mean(),
)
unpadded.wrong(
    "sign",
    "accuracy minus confidence: the sign is reversed",
    lambda probs, labels: -flat_gap(probs, labels, labels != 0),
)
unpadded.wrong(
    "divided by all places",
    "masks the padding, but divides by all places",
    lambda probs, labels: flat_gap(probs, labels, labels != 0) * (labels != 0).double().mean(),
)
unpadded.wrong(
    "confidence of all",
    "the confidence is averaged with the padding, the accuracy without",
    lambda probs, labels: (
        probs.double().amax(dim=2).mean()
        - (probs.argmax(dim=2) == labels)[labels != 0].double().mean()
    ),
)
unpadded.wrong(
    "accuracy of all",
    "the accuracy is averaged with the padding, the confidence without",
    lambda probs, labels: (
        probs.double().amax(dim=2)[labels != 0].mean()
        - (probs.argmax(dim=2) == labels).double().mean()
    ),
)
unpadded.wrong(
    "predicted padding",
    "leaves out where padding is *predicted*, not where it is the label",
    lambda probs, labels: flat_gap(probs, labels, probs.argmax(dim=2) != 0),
)
unpadded.wrong(
    "both",
    "leaves out the places where padding is predicted, too",
    lambda probs, labels: flat_gap(probs, labels, (labels != 0) & (probs.argmax(dim=2) != 0)),
)
unpadded.wrong(
    "above 1",
    "token number 1 is treated as padding",
    lambda probs, labels: flat_gap(probs, labels, labels > 1),
)
unpadded.wrong(
    "absolute",
    "the absolute value: loses the sign",
    lambda probs, labels: flat_gap(probs, labels, labels != 0).abs(),
)
unpadded.wrong(
    "ECE",
    "the ECE: a distance without sign",
    lambda probs, labels: metrics.ece(probs[labels != 0], labels[labels != 0]),
)
unpadded.wrong(
    "probability of the label",
    "subtracts the probability of the label, not the share of hits",
    lambda probs, labels: (
        probs.double().amax(dim=2)[labels != 0].mean()
        - probs.double().gather(2, labels[..., None])[..., 0][labels != 0].mean()
    ),
)
unpadded.wrong(
    "only padding",
    "the mask is the wrong way round: looks at the padding alone",
    lambda probs, labels: (
        flat_gap(probs, labels, labels == 0) if (labels == 0).any() else torch.tensor(math.nan)
    ),
)
unpadded.wrong(
    "class 0 removed",
    "removes class 0 from the probabilities, so predicted padding is lost",
    lambda probs, labels: gap_of(probs[..., 1:][labels != 0], labels[labels != 0] - 1),
)
unpadded.wrong(
    "first sentence",
    "the first sentence only",
    lambda probs, labels: flat_gap(probs[:1], labels[:1], labels[:1] != 0),
)
unpadded.wrong(
    "without the end mark",
    "leaves out the last token of each sentence",
    lambda probs, labels: flat_gap(
        probs,
        labels,
        (labels != 0)
        & (torch.arange(labels.shape[1]) < (labels != 0).sum(dim=1, keepdim=True) - 1),
    ),
)
unpadded.wrong(
    "sum",
    "the sum over the tokens, not the mean",
    lambda probs, labels: flat_gap(probs, labels, labels != 0) * (labels != 0).sum(),
)
unpadded.wrong(
    "over the places",
    "the maximum over the places, not the vocabulary",
    lambda probs, labels: (
        probs.double().amax(dim=1).mean()
        - (probs.argmax(dim=2) == labels)[labels != 0].double().mean()
    ),
)

unpadded.right(
    "package", lambda probs, labels: metrics.signed_gap(probs[labels != 0], labels[labels != 0])
)
unpadded.right(
    "weights",
    lambda probs, labels: (
        (
            (probs.double().amax(dim=2) - (probs.argmax(dim=2) == labels).double()) * (labels != 0)
        ).sum()
        / (labels != 0).sum()
    ),
)
unpadded.right(
    "flattened",
    lambda probs, labels: (lambda p, y: gap_of(p[y > 0], y[y > 0]))(
        probs.reshape(-1, probs.shape[-1]), labels.reshape(-1)
    ),
)
unpadded.right(
    "masked_select",
    lambda probs, labels: (
        float(probs.double().amax(-1).masked_select(labels.bool()).mean())
        - float(probs.argmax(-1).eq(labels).masked_select(labels.bool()).float().double().mean())
    ),
)


@unpadded.right("loop")
def _(probs, labels):
    difference = []
    for sentence, truth in zip(probs, labels, strict=True):
        for row, label in zip(sentence, truth, strict=True):
            if int(label) != 0:
                difference.append(float(row.max()) - float(int(row.argmax()) == int(label)))
    return sum(difference) / len(difference)


@unpadded.right("numpy")
def _(probs, labels):
    p, y = probs.double().numpy(), labels.numpy()
    return np.average(p.max(axis=2) - (p.argmax(axis=2) == y), weights=y != 0)


# 17: the z of each group

group = Exercise("group_z")


def sums_of(groups, values):
    """The sum of each group."""
    return torch.bincount(groups, values.double())


def z_of(confidence, correct, groups):
    """The z of each group, (G,)."""
    off = sums_of(groups, confidence - correct.double())
    return off / sums_of(groups, confidence * (1 - confidence)).sqrt()


group.wrong(
    "variance",
    "divides by the variance, not by its root",
    lambda confidence, correct, groups: (
        sums_of(groups, confidence - correct.double())
        / sums_of(groups, confidence * (1 - confidence))
    ),
)
group.wrong(
    "sign",
    "h - c in place of c - h: the sign is reversed",
    lambda confidence, correct, groups: -z_of(confidence, correct, groups),
)
group.wrong(
    "mean on top",
    "the mean of c - h over the root of the sum of the variances",
    lambda confidence, correct, groups: z_of(confidence, correct, groups) / torch.bincount(groups),
)
group.wrong(
    "variance of the mean confidence",
    "n c (1 - c) with the mean confidence, not the sum of c (1 - c)",
    lambda confidence, correct, groups: (
        lambda n, c: sums_of(groups, confidence - correct.double()) / (n * c * (1 - c)).sqrt()
    )(torch.bincount(groups), sums_of(groups, confidence) / torch.bincount(groups)),
)
group.wrong(
    "variance of the hits",
    "uses the accuracy, not the confidence, for the variance",
    lambda confidence, correct, groups: (
        lambda n, h: (
            sums_of(groups, confidence - correct.double())
            / (n * h * (1 - h)).clamp(min=1e-3).sqrt()
        )
    )(torch.bincount(groups), sums_of(groups, correct) / torch.bincount(groups)),
)
group.wrong(
    "measured spread",
    "the measured spread of c - h, not the one that the confidences state",
    lambda confidence, correct, groups: (
        sums_of(groups, confidence - correct.double())
        / sums_of(groups, (confidence - correct.double()).square()).sqrt()
    ),
)
group.wrong(
    "one for all",
    "ignores `groups`: the z of all samples",
    lambda confidence, correct, groups: z_of(confidence, correct, torch.zeros_like(groups)).expand(
        int(groups.max()) + 1
    ),
)
group.wrong(
    "standard error missing",
    "the mean over the standard deviation of one: the factor root n is missing",
    lambda confidence, correct, groups: (
        z_of(confidence, correct, groups) / torch.bincount(groups).sqrt()
    ),
)
group.wrong(
    "absolute",
    "the absolute value: loses the sign",
    lambda confidence, correct, groups: z_of(confidence, correct, groups).abs(),
)
group.wrong(
    "distances",
    "adds up the distances |c - h|",
    lambda confidence, correct, groups: (
        sums_of(groups, (confidence - correct.double()).abs())
        / sums_of(groups, confidence * (1 - confidence)).sqrt()
    ),
)
group.wrong(
    "order of appearance",
    "the groups come as they first appear, not as they are numbered",
    lambda confidence, correct, groups: z_of(confidence, correct, groups)[
        torch.tensor(list(dict.fromkeys(groups.tolist())))
    ],
)
group.wrong(
    "last group missing",
    "the last group is missing",
    lambda confidence, correct, groups: z_of(confidence, correct, groups)[:-1],
)
group.wrong(
    "two groups",
    "only groups 0 and 1",
    lambda confidence, correct, groups: z_of(confidence, correct, groups)[:2],
)
group.wrong(
    "p-value",
    "the p-value, not z",
    lambda confidence, correct, groups: torch.special.erfc(
        z_of(confidence, correct, groups).abs() / math.sqrt(2)
    ),
)
group.wrong(
    "variance one quarter",
    "takes every variance as 1/4",
    lambda confidence, correct, groups: (
        sums_of(groups, confidence - correct.double()) / (torch.bincount(groups) / 4).sqrt()
    ),
)
group.wrong(
    "gap",
    "the signed gap, without the division by its spread",
    lambda confidence, correct, groups: (
        sums_of(groups, confidence - correct.double()) / torch.bincount(groups)
    ),
)
group.wrong(
    "spread of the confidences",
    "the spread of the confidences, not of the hits",
    lambda confidence, correct, groups: (
        sums_of(groups, confidence - correct.double())
        / (
            sums_of(groups, confidence**2)
            - sums_of(groups, confidence) ** 2 / torch.bincount(groups)
        )
        .clamp(min=1e-3)
        .sqrt()
    ),
)
group.wrong(
    "all standard deviations",
    "adds the standard deviations; it is the variances that add up",
    lambda confidence, correct, groups: (
        sums_of(groups, confidence - correct.double())
        / sums_of(groups, (confidence * (1 - confidence)).sqrt())
    ),
)
group.wrong(
    "0.01 added",
    "0.01 is added to the variance",
    lambda confidence, correct, groups: (
        sums_of(groups, confidence - correct.double())
        / (sums_of(groups, confidence * (1 - confidence)) + 0.01).sqrt()
    ),
)
group.wrong(
    "sorted",
    "sorted by size, not by group",
    lambda confidence, correct, groups: (
        z_of(confidence, correct, groups).sort(descending=True).values
    ),
)


@group.right("loop")
def _(confidence, correct, groups):
    found = []
    for k in range(int(groups.max()) + 1):
        c, h = confidence[groups == k].double(), correct[groups == k].double()
        found.append(float((c - h).sum() / (c * (1 - c)).sum().sqrt()))
    return found


@group.right("pandas")
def _(confidence, correct, groups):
    table = pd.DataFrame(
        {
            "off": confidence.double().numpy() - correct.numpy(),
            "group": groups.numpy(),
            "variance": (confidence.double() * (1 - confidence.double())).numpy(),
        }
    )
    sums = table.groupby("group").sum()
    return torch.tensor((sums.off / sums.variance**0.5).to_numpy())


group.right(
    "one-hot",
    lambda confidence, correct, groups: (
        lambda member: (
            ((confidence - correct.double()).double() @ member)
            / ((confidence - confidence**2).double() @ member).sqrt()
        )
    )(hot(groups, int(groups.max()) + 1)),
)
group.right(
    "numpy",
    lambda confidence, correct, groups: (
        lambda c, h, g: np.bincount(g, c - h) / np.sqrt(np.bincount(g, c * (1 - c)))
    )(confidence.double().numpy(), correct.numpy(), groups.numpy()),
)
group.right(
    "means",
    lambda confidence, correct, groups: (
        lambda n: (
            n.sqrt()
            * (sums_of(groups, confidence - correct.double()) / n)
            / (sums_of(groups, confidence * (1 - confidence)) / n).sqrt()
        )
    )(torch.bincount(groups).double()),
)
group.right(
    "index_add",
    lambda confidence, correct, groups: (
        lambda zero: (
            zero.index_add(0, groups, confidence.double()).sub(
                zero.index_add(0, groups, correct.double())
            )
            * zero.index_add(0, groups, confidence.double() * (1 - confidence.double())).rsqrt()
        )
    )(torch.zeros(int(groups.max()) + 1, dtype=torch.float64)),
)


# 17: cross-fitting

crossed = Exercise("cross_fitted")


def temperature(logits, labels):
    """The temperature of the lowest NLL."""
    return recalibration.TemperatureScaler().fit(logits, labels).temperature_


def two_temperatures(logits, first, at_first, elsewhere):
    """Probabilities, with a temperature for each part."""
    divisor = torch.where(first, float(at_first), float(elsewhere)).to(logits.dtype)
    return (logits / divisor[:, None]).softmax(dim=1)


crossed.wrong(
    "own half",
    "each part gets its own temperature, not that of the other part",
    lambda logits, labels, first: two_temperatures(
        logits,
        first,
        temperature(logits[first], labels[first]),
        temperature(logits[~first], labels[~first]),
    ),
)
crossed.wrong(
    "one for all",
    "one temperature, fitted on all rows: they have seen their own labels",
    lambda logits, labels, first: (logits / temperature(logits, labels)).softmax(dim=1),
)
crossed.wrong(
    "no temperature", "no temperature at all", lambda logits, labels, first: logits.softmax(dim=1)
)
crossed.wrong(
    "second half only",
    "only the rows outside `first` are divided by a temperature",
    lambda logits, labels, first: two_temperatures(
        logits, first, 1.0, temperature(logits[first], labels[first])
    ),
)
crossed.wrong(
    "first temperature for both",
    "the temperature of the first part is used for both",
    lambda logits, labels, first: (logits / temperature(logits[first], labels[first])).softmax(
        dim=1
    ),
)
crossed.wrong(
    "mean temperature",
    "the mean of the two temperatures is used for both",
    lambda logits, labels, first: (
        logits
        / (
            (
                temperature(logits[first], labels[first])
                + temperature(logits[~first], labels[~first])
            )
            / 2
        )
    ).softmax(dim=1),
)
crossed.wrong(
    "parts one after the other",
    "the rows come part by part, not in their old order",
    lambda logits, labels, first: torch.cat(
        [
            (logits[first] / temperature(logits[~first], labels[~first])).softmax(dim=1),
            (logits[~first] / temperature(logits[first], labels[first])).softmax(dim=1),
        ]
    ),
)
crossed.wrong(
    "logits",
    "returns logits: the softmax is missing",
    lambda logits, labels, first: two_temperatures(
        logits,
        first,
        temperature(logits[~first], labels[~first]),
        temperature(logits[first], labels[first]),
    ).log(),
)
crossed.wrong(
    "multiplied",
    "multiplies by the temperature, not divides",
    lambda logits, labels, first: two_temperatures(
        logits,
        first,
        1 / temperature(logits[~first], labels[~first]),
        1 / temperature(logits[first], labels[first]),
    ),
)
crossed.wrong(
    "columns",
    "the softmax runs over the rows, not the classes",
    lambda logits, labels, first: (
        two_temperatures(
            logits,
            first,
            temperature(logits[~first], labels[~first]),
            temperature(logits[first], labels[first]),
        )
        .log()
        .softmax(dim=0)
    ),
)
crossed.wrong(
    "first half of the rows",
    "ignores `first`: splits in the middle",
    lambda logits, labels, first: (
        lambda part: two_temperatures(
            logits,
            part,
            temperature(logits[~part], labels[~part]),
            temperature(logits[part], labels[part]),
        )
    )(torch.arange(len(labels)) < len(labels) // 2),
)
crossed.wrong(
    "even and odd",
    "ignores `first`: splits even and odd rows",
    lambda logits, labels, first: (
        lambda part: two_temperatures(
            logits,
            part,
            temperature(logits[~part], labels[~part]),
            temperature(logits[part], labels[part]),
        )
    )(torch.arange(len(labels)) % 2 == 0),
)
crossed.wrong(
    "rounded",
    "the temperatures are rounded to one decimal",
    lambda logits, labels, first: two_temperatures(
        logits,
        first,
        round(temperature(logits[~first], labels[~first]), 1),
        round(temperature(logits[first], labels[first]), 1),
    ),
)
crossed.wrong(
    "twice",
    "divides twice by the temperature",
    lambda logits, labels, first: two_temperatures(
        logits,
        first,
        temperature(logits[~first], labels[~first]) ** 2,
        temperature(logits[first], labels[first]) ** 2,
    ),
)
crossed.wrong(
    "confidence only",
    "returns the confidence of each row, not all probabilities",
    lambda logits, labels, first: two_temperatures(
        logits,
        first,
        temperature(logits[~first], labels[~first]),
        temperature(logits[first], labels[first]),
    ).amax(dim=1),
)


@crossed.wrong("first part empty", "only one part is filled in; the other rows stay 0")
def _(logits, labels, first):
    probs = torch.zeros_like(logits)
    probs[first] = (logits[first] / temperature(logits[~first], labels[~first])).softmax(dim=1)
    return probs


@crossed.wrong(
    "in place", "overwrites `logits`, so the second fit sees rows that are cooled already"
)
def _(logits, labels, first):
    for part in (first, ~first):
        logits[part] /= temperature(logits[~part], labels[~part])
    return logits.softmax(dim=1)


@crossed.wrong("labels of the wrong part", "fits on logits of one part and labels of the other")
def _(logits, labels, first):
    probs = torch.empty_like(logits)
    for part in (first, ~first):
        size = min(int(part.sum()), int((~part).sum()))
        probs[part] = (
            logits[part] / temperature(logits[~part][:size], labels[part][:size])
        ).softmax(dim=1)
    return probs


def by_scipy(logits, labels):
    """The temperature of the lowest NLL, by a bounded search of log T."""

    def loss(log_temperature):
        return functional.cross_entropy(logits.double() / math.exp(log_temperature), labels).item()

    return math.exp(
        scipy.optimize.minimize_scalar(
            loss, bounds=(-6, 6), method="bounded", options={"xatol": 1e-10}
        ).x
    )


def by_slope(logits, labels):
    """The temperature at which the slope of the NLL is zero."""

    def slope(inverse):
        z = logits.double()
        mean = ((z * inverse).softmax(dim=1) * z).sum(dim=1)
        return (mean - z[range(len(labels)), labels]).mean().item()

    return 1 / scipy.optimize.brentq(slope, 1e-3, 1e3, xtol=1e-14)


crossed.right(
    "scipy",
    lambda logits, labels, first: two_temperatures(
        logits.double(),
        first,
        by_scipy(logits[~first], labels[~first]),
        by_scipy(logits[first], labels[first]),
    ),
)
crossed.right(
    "slope",
    lambda logits, labels, first: two_temperatures(
        logits.double(),
        first,
        by_slope(logits[~first], labels[~first]),
        by_slope(logits[first], labels[first]),
    ),
)
crossed.right(
    "where",
    lambda logits, labels, first: two_temperatures(
        logits,
        first,
        temperature(logits[~first], labels[~first]),
        temperature(logits[first], labels[first]),
    ),
)
crossed.right(
    "numpy",
    lambda logits, labels, first: torch.from_numpy(
        scipy.special.softmax(
            logits.double().numpy()
            / np.where(
                first.numpy(),
                temperature(logits[~first], labels[~first]),
                temperature(logits[first], labels[first]),
            )[:, None],
            axis=1,
        )
    ),
)


@crossed.right("row by row")
def _(logits, labels, first):
    at = {
        True: temperature(logits[~first], labels[~first]),
        False: temperature(logits[first], labels[first]),
    }
    return torch.stack(
        [(row / at[bool(one)]).softmax(dim=0) for row, one in zip(logits, first, strict=True)]
    )


@crossed.right("put back in order")
def _(logits, labels, first):
    places = torch.cat([first.nonzero()[:, 0], (~first).nonzero()[:, 0]])
    cooled = torch.cat(
        [
            logits[first] / temperature(logits[~first], labels[~first]),
            logits[~first] / temperature(logits[first], labels[first]),
        ]
    )
    return cooled[places.argsort()].softmax(dim=1)


# 18: the avoidable part

avoidable = Exercise("avoidable_brier")


def squares(probs, posterior):
    """The sum of squares of each row, (n,), float64."""
    return (probs.double() - posterior.double()).square().sum(dim=1)


avoidable.wrong(
    "mean of classes",
    "the mean over the classes, not the sum",
    lambda probs, posterior: squares(probs, posterior).mean() / probs.shape[1],
)
avoidable.wrong(
    "sum of images",
    "the sum over the images, not the mean",
    lambda probs, posterior: squares(probs, posterior).sum(),
)
avoidable.wrong(
    "not squared",
    "distances, not squares",
    lambda probs, posterior: (probs - posterior).abs().sum(dim=1).mean(),
)
avoidable.wrong(
    "root", "the root of the mean", lambda probs, posterior: squares(probs, posterior).mean().sqrt()
)
avoidable.wrong(
    "root of each",
    "the root of each row's sum",
    lambda probs, posterior: squares(probs, posterior).sqrt().mean(),
)
avoidable.wrong(
    "whole score",
    "the whole expected Brier score: the unavoidable part is not subtracted",
    lambda probs, posterior: (
        squares(probs, posterior) + (posterior * (1 - posterior)).sum(dim=1)
    ).mean(),
)
avoidable.wrong(
    "unavoidable",
    "the unavoidable part: ignores `probs`",
    lambda probs, posterior: (posterior * (1 - posterior)).sum(dim=1).mean(),
)
avoidable.wrong(
    "difference of squares",
    "the difference of the sums of squares, not the sum of squared differences",
    lambda probs, posterior: (probs.square() - posterior.square()).sum(dim=1).mean(),
)
avoidable.wrong(
    "predicted class",
    "only the predicted class, not all classes",
    lambda probs, posterior: (
        (probs.double() - posterior.double())
        .gather(1, probs.argmax(dim=1, keepdim=True))
        .square()
        .mean()
    ),
)
avoidable.wrong(
    "divergence",
    "the Kullback-Leibler divergence, which belongs to the NLL",
    lambda probs, posterior: (
        (posterior * (posterior.clamp(min=1e-12) / probs.clamp(min=1e-12)).log()).sum(dim=1).mean()
    ),
)
avoidable.wrong("half", "half of it", lambda probs, posterior: squares(probs, posterior).mean() / 2)
avoidable.wrong(
    "hard labels",
    "compares with the most probable class, not with the posterior",
    lambda probs, posterior: squares(probs, hot(posterior.argmax(dim=1), probs.shape[1])).mean(),
)
avoidable.wrong(
    "drawn labels",
    "draws labels, so the result is random",
    lambda probs, posterior: (lambda y: squares(probs, y) - squares(posterior, y))(
        hot(torch.multinomial(posterior, 1)[:, 0], probs.shape[1])
    ).mean(),
)
avoidable.wrong(
    "mean rows first",
    "averages the rows before the difference is squared",
    lambda probs, posterior: (probs.double() - posterior.double()).mean(dim=0).square().sum(),
)
avoidable.wrong(
    "sign",
    "posterior minus probs: the sign is reversed",
    lambda probs, posterior: -squares(probs, posterior).mean(),
)
avoidable.wrong("image by image", "one number for each image: the mean is missing", squares)
avoidable.wrong(
    "half precision",
    "computed in float16",
    half(lambda probs, posterior: (probs - posterior).square().sum(dim=1).mean()),
)
avoidable.wrong(
    "rounded",
    "rounded to three decimals",
    lambda probs, posterior: round(squares(probs, posterior).mean().item(), 3),
)

avoidable.right(
    "mse_loss",
    lambda probs, posterior: (
        functional.mse_loss(probs.double(), posterior.double()) * probs.shape[1]
    ),
)
avoidable.right(
    "norm", lambda probs, posterior: (probs.double() - posterior.double()).norm() ** 2 / len(probs)
)
avoidable.right(
    "two scores",
    lambda probs, posterior: (
        lambda p, q: ((p.square() - 2 * p * q + q).sum(dim=1) - (q - q.square()).sum(dim=1)).mean()
    )(probs.double(), posterior.double()),
)
avoidable.right(
    "cdist",
    lambda probs, posterior: (
        torch.cdist(probs.double(), posterior.double(), compute_mode="donot_use_mm_for_euclid_dist")
        .diagonal()
        .square()
        .mean()
    ),
)
avoidable.right(
    "einsum",
    lambda probs, posterior: (lambda d: torch.einsum("nk,nk->n", d, d).mean().item())(
        probs.double() - posterior.double()
    ),
)
avoidable.right(
    "numpy",
    lambda probs, posterior: (
        ((posterior.double().numpy() - probs.double().numpy()) ** 2).sum() / len(probs)
    ),
)


@avoidable.right("over all labels")
def _(probs, posterior):
    p, q = probs.double(), posterior.double()
    total = torch.zeros(len(p), dtype=torch.float64)
    for k in range(p.shape[1]):
        label = hot(torch.full((len(p),), k), p.shape[1])
        total += q[:, k] * (squares(p, label) - squares(q, label))
    return total.mean()


@avoidable.right("loop")
def _(probs, posterior):
    return sum(
        (a - b) ** 2
        for said, true in zip(probs.tolist(), posterior.tolist(), strict=True)
        for a, b in zip(said, true, strict=True)
    ) / len(probs)


# 19: the regret of decisions, and the cheapest action

deciding = Exercise("decision_regret")


def bayes(c):
    """The textbook threshold."""
    return 1 / (1 + c)


def charged(check, truth, c):
    """Expected cost of each image where `check` says what is checked, (n,)."""
    return torch.where(check, 1 - truth, c * truth)


for wrong_name, wrong_diagnosis, wrong_threshold in (
    ("threshold 1/c", "the threshold is 1/(1 + c)", lambda c: 1 / c),
    ("threshold c/(1+c)", "the threshold of the other class", lambda c: c / (1 + c)),
    ("threshold half", "a fixed threshold", lambda c: 0.5),
    ("threshold 1/(2+c)", "off by one in the threshold", lambda c: 1 / (2 + c)),
):
    deciding.wrong(
        wrong_name,
        wrong_diagnosis,
        lambda said, posterior, c, at=wrong_threshold: (
            charged(said > at(c), posterior, c) - charged(posterior > at(c), posterior, c)
        ).mean(),
    )
deciding.wrong(
    "below",
    "checks below the threshold",
    lambda said, posterior, c: (
        charged(said < bayes(c), posterior, c) - charged(posterior > bayes(c), posterior, c)
    ).mean(),
)
deciding.wrong(
    "not subtracted",
    "the cost of the model, without that of the posterior",
    lambda said, posterior, c: charged(said > bayes(c), posterior, c).mean(),
)
deciding.wrong(
    "own beliefs",
    "judged with its own probabilities",
    lambda said, posterior, c: (
        charged(posterior > bayes(c), said, c) - charged(said > bayes(c), said, c)
    ).mean(),
)
deciding.wrong(
    "drawn outcomes",
    "draws outcomes, so that the result is random",
    lambda said, posterior, c: (
        lambda y: (charged(said > bayes(c), y, c) - charged(posterior > bayes(c), y, c)).mean()
    )(torch.bernoulli(posterior)),
)
deciding.wrong(
    "sign",
    "posterior minus model",
    lambda said, posterior, c: (
        charged(posterior > bayes(c), posterior, c) - charged(said > bayes(c), posterior, c)
    ).mean(),
)
deciding.wrong(
    "sum",
    "sum, not mean",
    lambda said, posterior, c: (
        charged(said > bayes(c), posterior, c) - charged(posterior > bayes(c), posterior, c)
    ).sum(),
)
deciding.wrong(
    "of those that differ",
    "the mean over the images decided differently, not over all",
    lambda said, posterior, c: (
        lambda gone: gone[gone > 0].mean() if (gone > 0).any() else gone.mean()
    )(charged(said > bayes(c), posterior, c) - charged(posterior > bayes(c), posterior, c)),
)
deciding.wrong(
    "misses cost 1",
    "the costs are exchanged",
    lambda said, posterior, c: (
        torch.where(said > bayes(c), c * (1 - posterior), posterior)
        - torch.where(posterior > bayes(c), c * (1 - posterior), posterior)
    ).mean(),
)
deciding.wrong(
    "divided by c",
    "in misses, not in checks in vain",
    lambda said, posterior, c: (
        (
            charged(said > bayes(c), posterior, c) - charged(posterior > bayes(c), posterior, c)
        ).mean()
        / c
    ),
)
deciding.wrong(
    "hard truth",
    "takes the favourite of the posterior for the outcome",
    lambda said, posterior, c: (
        lambda y: (charged(said > bayes(c), y, c) - charged(posterior > bayes(c), y, c)).mean()
    )((posterior > 0.5).double()),
)
deciding.right(
    "difference of costs",
    lambda said, posterior, c: (
        charged(said > bayes(c), posterior, c) - torch.minimum(1 - posterior, c * posterior)
    ).mean(),
)
deciding.right(
    "numpy where",
    lambda said, posterior, c: np.where(
        (said.numpy() > bayes(c)) != (posterior.numpy() > bayes(c)),
        np.abs((1 + c) * posterior.numpy() - 1),
        0,
    ).mean(),
)
deciding.right(
    "sum over n",
    lambda said, posterior, c: (
        sum(
            abs(q + c * q - 1)
            for p, q in zip(said.tolist(), posterior.tolist(), strict=True)
            if (p > bayes(c)) is not (q > bayes(c))
        )
        / len(said)
    ),
)

acting = Exercise("cheapest_action")
acting.wrong("argmax", "the dearest", lambda probs, costs: (probs @ costs.T).argmax(dim=1))
acting.wrong("likeliest", "the costs are ignored", lambda probs, costs: probs.argmax(dim=1))
acting.wrong(
    "costs of the likeliest",
    "only the most probable class counts",
    lambda probs, costs: costs.T[probs.argmax(dim=1)].argmin(dim=1),
)
acting.wrong(
    "likelier two",
    "only the two most probable classes count",
    lambda probs, costs: (
        (probs * (probs >= probs.topk(2, dim=1).values[:, -1:])) @ costs.T
    ).argmin(dim=1),
)
acting.wrong(
    "one decision",
    "one action for all images",
    lambda probs, costs: (probs @ costs.T).mean(dim=0).argmin().repeat(len(probs)),
)
acting.wrong(
    "cost",
    "the cost, not the action",
    lambda probs, costs: (probs @ costs.T).amin(dim=1),
)
acting.wrong(
    "absolute", "gains count as costs", lambda probs, costs: (probs @ costs.abs().T).argmin(dim=1)
)
acting.wrong(
    "squared costs", "squares", lambda probs, costs: (probs @ costs.square().T).argmin(dim=1)
)
acting.wrong(
    "median",
    "the median cost",
    lambda probs, costs: (probs[:, None] * costs).median(2)[0].argmin(1),
)
acting.wrong(
    "minimax", "the worst case", lambda probs, costs: costs.amax(1).argmin().repeat(len(probs))
)
acting.wrong(
    "scaled",
    "each action's costs are divided by their sum",
    lambda probs, costs: (probs @ (costs / costs.sum(dim=1, keepdim=True)).T).argmin(dim=1),
)
acting.wrong(
    "first rows only", "the last action is left out", lambda p, costs: (p @ costs[:-1].T).argmin(1)
)
acting.right("einsum", lambda probs, costs: torch.einsum("nk,ak->na", probs, costs).argmin(dim=1))
acting.right("transposed", lambda probs, costs: (costs @ probs.T).argmin(dim=0))
acting.right("numpy", lambda probs, costs: (probs.numpy() @ costs.numpy().T).argmin(axis=1))
acting.right("sorted", lambda probs, costs: (probs @ costs.T).argsort(dim=1, stable=True)[:, 0])


# 21: what a text tells, and the probability by meaning

telling = Exercise("fact_posterior")


def told(counts, right, other, total=None):
    """Softmax of m right + (t - m) other: logarithms of a true sentence and of one wrong city."""
    m = counts.double()
    t = m.sum(dim=1, keepdim=True) if total is None else total
    return m * right + (t - m) * other


def read(counts, wrong, others=None):
    """The logarithm of the posterior, up to a constant of the row; `others` divide `wrong`."""
    others = counts.shape[1] - 1 if others is None else others
    return told(counts, math.log(1 - wrong), math.log(wrong / others))


def product(counts, wrong):
    """The product itself, which becomes 0 where a question is answered often."""
    m = counts.double()
    t = m.sum(dim=1, keepdim=True)
    return (1 - wrong) ** m * (wrong / (counts.shape[1] - 1)) ** (t - m)


@telling.wrong("plain product", "the powers underflow: 0 / 0 for a question answered often")
def _(counts, wrong):
    found = product(counts, wrong)
    return found / found.sum(dim=1, keepdim=True)


@telling.wrong("epsilon below", "the powers underflow, and 1e-12 in the denominator hides 0 / 0")
def _(counts, wrong):
    found = product(counts, wrong)
    return found / (found.sum(dim=1, keepdim=True) + 1e-12)


@telling.wrong("clamped product", "products below 1e-30 are raised to 1e-30 and become equal")
def _(counts, wrong):
    found = product(counts, wrong).clamp(min=1e-30)
    return found / found.sum(dim=1, keepdim=True)


@telling.wrong("nan to uniform", "the powers underflow, and 0 / 0 is replaced by 1 / K")
def _(counts, wrong):
    found = product(counts, wrong)
    found = found / found.sum(dim=1, keepdim=True)
    return found.nan_to_num(1 / counts.shape[1])


@telling.wrong("odds overflow", "the power of the odds overflows: inf / inf for many answers")
def _(counts, wrong):
    found = ((1 - wrong) * (counts.shape[1] - 1) / wrong) ** counts.double()
    return found / found.sum(dim=1, keepdim=True)


@telling.wrong("logarithm of the product", "the logarithm comes after the product underflowed")
def _(counts, wrong):
    return (product(counts, wrong) + 1e-300).log().softmax(dim=1)


@telling.wrong("half precision", "computed in half precision")
def _(counts, wrong):
    return read(counts, wrong).half().softmax(dim=1).float()


telling.wrong(
    "K",
    "wrong is shared by K cities instead of the K - 1 others",
    lambda counts, wrong: read(counts, wrong, counts.shape[1]).softmax(dim=1),
)
telling.wrong(
    "not shared",
    "each other city gets all of `wrong`: the division by K - 1 is missing",
    lambda counts, wrong: read(counts, wrong, 1).softmax(dim=1),
)
telling.wrong(
    "23",
    "23 is written for K - 1",
    lambda counts, wrong: read(counts, wrong, 23).softmax(dim=1),
)
telling.wrong(
    "0.1",
    "0.1 is written for `wrong`",
    lambda counts, wrong: read(counts, 0.1).softmax(dim=1),
)
telling.wrong(
    "0.9",
    "0.9 is written for 1 - wrong",
    lambda counts, wrong: told(
        counts, math.log(0.9), math.log(wrong / (counts.shape[1] - 1))
    ).softmax(dim=1),
)
telling.wrong(
    "rows for K",
    "the number of questions is taken for the number of cities",
    lambda counts, wrong: read(counts, wrong, max(len(counts) - 1, 1)).softmax(dim=1),
)
telling.wrong(
    "log_softmax",
    "returns logarithms of the posterior",
    lambda counts, wrong: read(counts, wrong).log_softmax(dim=1),
)
telling.wrong(
    "likelihood",
    "not normalised: the rows do not sum to 1",
    lambda counts, wrong: read(counts, wrong).exp(),
)
telling.wrong(
    "log likelihood",
    "returns the logarithms of the likelihood, without softmax",
    lambda counts, wrong: read(counts, wrong),
)
telling.wrong(
    "dim 0",
    "normalised over the questions, not over the cities",
    lambda counts, wrong: read(counts, wrong).softmax(dim=0),
)
telling.wrong(
    "softmax of the whole table",
    "normalised over all questions together",
    lambda counts, wrong: read(counts, wrong).flatten().softmax(0).view(counts.shape),
)
telling.wrong(
    "frequencies",
    "the share of the sentences, not Bayes' rule (uniform where there is none)",
    lambda counts, wrong: torch.where(
        counts.sum(dim=1, keepdim=True) > 0,
        counts / counts.sum(dim=1, keepdim=True).clamp(min=1),
        1 / counts.shape[1],
    ),
)
telling.wrong(
    "frequencies without a care",
    "the share of the sentences, which is 0 / 0 for a question never answered",
    lambda counts, wrong: counts.double() / counts.sum(dim=1, keepdim=True),
)
telling.wrong(
    "one more each",
    "add-one smoothing, (m + 1) / (t + K), not Bayes' rule",
    lambda counts, wrong: (
        (counts.double() + 1) / (counts.sum(dim=1, keepdim=True) + counts.shape[1])
    ),
)
telling.wrong(
    "mixed",
    "the probabilities of single sentences are averaged, not multiplied",
    lambda counts, wrong: (
        lambda m, t, k: torch.where(
            t > 0,
            (m * (1 - wrong) + (t - m) * wrong / (k - 1)) / t.clamp(min=1),
            torch.ones_like(m) / k,
        )
    )(counts.double(), counts.sum(dim=1, keepdim=True).double(), counts.shape[1]),
)
telling.wrong(
    "mentions of others forgotten",
    "the factor for the sentences that name other cities is missing",
    lambda counts, wrong: told(counts, math.log(1 - wrong), 0.0).softmax(dim=1),
)
telling.wrong(
    "true sentences forgotten",
    "the factor 0.9 for the sentences that name this city is missing",
    lambda counts, wrong: told(counts, 0.0, math.log(wrong / (counts.shape[1] - 1))).softmax(dim=1),
)
telling.wrong(
    "t for t - m",
    "the second exponent is t instead of t - m",
    lambda counts, wrong: (
        lambda m, t: (
            m * math.log(1 - wrong) + (t + 0 * m) * math.log(wrong / (counts.shape[1] - 1))
        ).softmax(dim=1)
    )(counts.double(), counts.sum(dim=1, keepdim=True)),
)
telling.wrong(
    "exponents exchanged",
    "m and t - m are exchanged: the city that is named most gets the least",
    lambda counts, wrong: (-read(counts, wrong)).softmax(dim=1),
)
telling.wrong(
    "wrong for right",
    "wrong and 1 - wrong are exchanged",
    lambda counts, wrong: read(counts, 1 - wrong).softmax(dim=1),
)
telling.wrong(
    "t down the columns",
    "t is summed over the questions (dim=0) instead of over the cities",
    lambda counts, wrong: told(
        counts,
        math.log(1 - wrong),
        math.log(wrong / (counts.shape[1] - 1)),
        counts.double().sum(dim=0),
    ).softmax(dim=1),
)
telling.wrong(
    "named or not",
    "how often a city is named is ignored",
    lambda counts, wrong: read((counts > 0).double(), wrong).softmax(dim=1),
)
telling.wrong(
    "capped",
    "counts above 50 are cut to 50",
    lambda counts, wrong: read(counts.clamp(max=50), wrong).softmax(dim=1),
)
telling.wrong(
    "per sentence",
    "the logarithm is divided by the number of sentences",
    lambda counts, wrong: (
        read(counts, wrong) / counts.sum(dim=1, keepdim=True).clamp(min=1)
    ).softmax(dim=1),
)
telling.wrong(
    "softmax of counts",
    "softmax of the counts, without the probabilities of a sentence",
    lambda counts, wrong: counts.double().softmax(dim=1),
)
telling.wrong(
    "base 10",
    "log10 with softmax, which needs natural logarithms",
    lambda counts, wrong: (read(counts, wrong) / math.log(10)).softmax(dim=1),
)
telling.wrong(
    "base 2",
    "log2 with softmax, which needs natural logarithms",
    lambda counts, wrong: (read(counts, wrong) / math.log(2)).softmax(dim=1),
)
telling.wrong(
    "argmax",
    "returns the most probable city, not the probabilities",
    lambda counts, wrong: read(counts, wrong).argmax(dim=1),
)
telling.wrong(
    "confidence",
    "returns only the largest probability of each question",
    lambda counts, wrong: read(counts, wrong).softmax(dim=1).amax(dim=1),
)
telling.wrong(
    "majority",
    "certain of the city that is named most",
    lambda counts, wrong: functional.one_hot(counts.argmax(dim=1), counts.shape[1]),
)
telling.wrong(
    "one sentence",
    "1 - wrong for the city that is named most, however often",
    lambda counts, wrong: (
        (1 - wrong - wrong / (counts.shape[1] - 1))
        * functional.one_hot(counts.argmax(dim=1), counts.shape[1])
        + wrong / (counts.shape[1] - 1)
    ),
)
telling.wrong(
    "popular cities",
    "the prior is the frequency of the cities in the text, not uniform",
    lambda counts, wrong: (
        read(counts, wrong) + ((counts.sum(dim=0) + 1.0) / (counts.sum() + 1.0)).log()
    ).softmax(dim=1),
)
telling.wrong(
    "wrong may be right",
    "a wrong sentence draws among all K cities, the true one too",
    lambda counts, wrong: told(
        counts,
        math.log(1 - wrong + wrong / counts.shape[1]),
        math.log(wrong / counts.shape[1]),
    ).softmax(dim=1),
)
telling.wrong(
    "binomial",
    "binomial coefficients, which differ between cities, are multiplied in",
    lambda counts, wrong: (
        lambda log: np.exp(log - scipy.special.logsumexp(log, axis=1, keepdims=True))
    )(scipy.stats.binom.logpmf(counts.numpy(), counts.sum(dim=1, keepdim=True).numpy(), 1 - wrong)),
)
telling.wrong(
    "sigmoid",
    "each city against all others by a sigmoid: the rows do not sum to 1",
    lambda counts, wrong: (
        read(counts, wrong) - told(counts, math.log(wrong), math.log(1 - wrong))
    ).sigmoid(),
)
telling.wrong(
    "never answered is zero",
    "a question without an answer gets 0 everywhere instead of 1 / K",
    lambda counts, wrong: (
        read(counts, wrong).softmax(dim=1) * (counts.sum(dim=1, keepdim=True) > 0)
    ),
)
telling.wrong(
    "answered ones only",
    "the questions without an answer are left out",
    lambda counts, wrong: (
        read(counts, wrong).softmax(dim=1)[counts.sum(dim=1) > 0]
        if (counts.sum(dim=1) > 0).any()
        else read(counts, wrong).softmax(dim=1)
    ),
)
telling.wrong(
    "transposed",
    "the axes are exchanged: (K, n)",
    lambda counts, wrong: read(counts, wrong).softmax(dim=1).T,
)
telling.wrong(
    "rounded",
    "rounded to 3 decimals",
    lambda counts, wrong: read(counts, wrong).softmax(dim=1).round(decimals=3),
)
telling.wrong(
    "first question",
    "returns after the first question",
    lambda counts, wrong: read(counts, wrong).softmax(dim=1)[0],
)
telling.wrong(
    "best of each",
    "divided by the largest value, not by the sum",
    lambda counts, wrong: (read(counts, wrong) - read(counts, wrong).amax(1, keepdim=True)).exp(),
)
telling.wrong(
    "renormalised logarithms",
    "the logarithms themselves are divided by their sum",
    lambda counts, wrong: read(counts, wrong) / read(counts, wrong).sum(dim=1, keepdim=True),
)


@telling.wrong("added in place", "adds 1 to its argument to avoid zeros, and so changes it")
def _(counts, wrong):
    counts += 1  # the same posterior: 1 for each city cancels
    return read(counts, wrong).softmax(dim=1)


@telling.wrong("filled in place", "writes into the rows of its argument that have no answer")
def _(counts, wrong):
    counts[counts.sum(dim=1) == 0] = 1
    return read(counts, wrong).softmax(dim=1)


@telling.wrong("last city", "the loop ends one city too early, so the last one has 0")
def _(counts, wrong):
    found = read(counts, wrong)
    found[:, -1] = -math.inf
    return found.softmax(dim=1)


telling.right("odds", lambda c, w: (c * math.log((1 - w) * (c.shape[1] - 1) / w)).softmax(1))
telling.right(
    "as it comes",
    lambda counts, wrong: (
        counts * math.log(1 - wrong)
        + (counts.sum(dim=1, keepdim=True) - counts) * math.log(wrong / (counts.shape[1] - 1))
    ).softmax(dim=1),
)
telling.right(
    "table of sentences",
    lambda counts, wrong: (
        lambda k: torch.einsum(
            "nj,kj->nk",
            counts.double(),
            torch.where(
                torch.eye(k, dtype=torch.bool), 1 - wrong, torch.tensor(wrong / (k - 1)).double()
            ).log(),
        )
    )(counts.shape[1]).softmax(dim=-1),
)
telling.right(
    "scipy",
    lambda counts, wrong: scipy.special.softmax(
        scipy.special.xlogy(counts.numpy(), 1 - wrong)
        + scipy.special.xlogy(
            counts.numpy().sum(axis=1, keepdims=True) - counts.numpy(),
            wrong / (counts.shape[1] - 1),
        ),
        axis=1,
    ),
)
telling.right(
    "Categorical",
    lambda counts, wrong: torch.distributions.Categorical(logits=read(counts, wrong)).probs,
)


@telling.right("loop")
def _(counts, wrong):
    rows, others = [], counts.shape[1] - 1
    for row in counts.tolist():
        t = sum(row)
        logs = [m * math.log(1 - wrong) + (t - m) * math.log(wrong / others) for m in row]
        top = max(logs)
        weights = [math.exp(one - top) for one in logs]
        rows.append([weight / sum(weights) for weight in weights])
    return rows


@telling.right("powers of the odds below the first")
def _(counts, wrong):
    odds = wrong / (counts.shape[1] - 1) / (1 - wrong)
    best = counts.numpy().max(axis=1, keepdims=True)
    if odds > 1:  # a sentence is wrong more often than chance: the rarest city is the best
        best = counts.numpy().min(axis=1, keepdims=True)
    found = odds ** (best - counts.numpy()).astype(float)
    return found / found.sum(axis=1, keepdims=True)


@telling.right("one against each")
def _(counts, wrong):
    odds = math.log((1 - wrong) * (counts.shape[1] - 1)) - math.log(wrong)
    apart = (counts[:, None, :] - counts[:, :, None]).double() * odds
    return 1 / apart.exp().sum(dim=2)


@telling.right("sentence after sentence")
def _(counts, wrong):
    """Bayes' rule for all sentences about one city at a time, normalised after each."""
    log = torch.zeros(counts.shape, dtype=torch.float64)
    for city in range(counts.shape[1]):
        line = torch.full((counts.shape[1],), math.log(wrong / (counts.shape[1] - 1))).double()
        line[city] = math.log(1 - wrong)
        log = log + counts[:, city].double()[:, None] * line.double()
        log = log - torch.logsumexp(log, dim=1, keepdim=True)
    return log.exp()


meaning = Exercise("by_meaning")


def summed(values, city, cities):
    """The sums of the columns of each city, (n, cities)."""
    return torch.zeros(len(values), cities, dtype=values.dtype).index_add(1, city, values)


def named(city, cities):
    """How many wordings each city has, (cities,)."""
    return torch.bincount(city, minlength=cities)


meaning.wrong(
    "sum of logarithms",
    "the logarithms are added, not the probabilities: exp is missing",
    lambda log_probs, city, cities: summed(log_probs, city, cities),
)
meaning.wrong(
    "product",
    "the exponential of the sum of the logarithms: a product of the wordings",
    lambda log_probs, city, cities: summed(log_probs, city, cities).exp(),
)
meaning.wrong(
    "product, none is zero",
    "a product of the probabilities of the wordings, not a sum",
    lambda log_probs, city, cities: (
        summed(log_probs, city, cities).exp() * (named(city, cities) > 0)
    ),
)
meaning.wrong(
    "logarithm",
    "returns the logarithm of the right answer",
    lambda log_probs, city, cities: summed(log_probs.exp(), city, cities).log(),
)
meaning.wrong(
    "mean of the wordings",
    "divided by the number of wordings: a mean, not a sum",
    lambda log_probs, city, cities: (
        summed(log_probs.exp(), city, cities) / named(city, cities).clamp(min=1)
    ),
)
meaning.wrong(
    "best wording",
    "the best wording of each city, not the sum of all",
    lambda log_probs, city, cities: torch.zeros(
        len(log_probs), cities, dtype=log_probs.dtype
    ).index_reduce(1, city, log_probs.exp(), "amax"),
)
meaning.wrong(
    "softmax first",
    "softmax makes the wordings sum to 1, though other answers have a part",
    lambda log_probs, city, cities: summed(log_probs.softmax(dim=1), city, cities),
)
meaning.wrong(
    "normalised",
    "divided by the sum of the row, though the rest belongs to other answers",
    lambda log_probs, city, cities: (
        lambda found: found / found.sum(dim=1, keepdim=True).clamp(min=1e-300)
    )(summed(log_probs.double().exp(), city, cities)),
)
meaning.wrong(
    "softmax of the cities",
    "softmax of the sums, which are probabilities already",
    lambda log_probs, city, cities: summed(log_probs.exp(), city, cities).softmax(dim=1),
)
meaning.wrong(
    "softmax of the logarithms' sums",
    "the logarithms are added, and a softmax makes probabilities of the sums",
    lambda log_probs, city, cities: summed(log_probs, city, cities).softmax(dim=1),
)


@meaning.wrong("assigned", "of several wordings of a city only one is kept: = does not add up")
def _(log_probs, city, cities):
    found = torch.zeros(len(log_probs), cities, dtype=log_probs.dtype)
    found[:, city] = log_probs.exp()
    return found


@meaning.wrong("+= with an index", "+= at a repeated index adds only one of the wordings")
def _(log_probs, city, cities):
    found = np.zeros((len(log_probs), cities))
    found[:, city.numpy()] += np.exp(log_probs.numpy())
    return found


@meaning.wrong("scatter", "scatter overwrites where scatter_add would add")
def _(log_probs, city, cities):
    found = torch.zeros(len(log_probs), cities, dtype=log_probs.dtype)
    return found.scatter(1, city.expand(len(log_probs), -1), log_probs.exp())


@meaning.wrong("first wording", "only the first wording of each city counts")
def _(log_probs, city, cities):
    found = torch.zeros(len(log_probs), cities, dtype=log_probs.dtype)
    for place, one in reversed(list(enumerate(city.tolist()))):
        found[:, one] = log_probs[:, place].exp()
    return found


@meaning.wrong(
    "equal blocks", "takes for granted that each city has equally many wordings in a row"
)
def _(log_probs, city, cities):
    found = torch.zeros(len(log_probs), cities, dtype=log_probs.dtype)
    for place, part in enumerate(log_probs.exp().tensor_split(cities, dim=1)):
        found[:, place] = part.sum(dim=1)
    return found


@meaning.wrong("neighbours", "takes for granted that the wordings are sorted by city")
def _(log_probs, city, cities):
    found = torch.zeros(len(log_probs), cities, dtype=log_probs.dtype)
    names, lengths = city.unique_consecutive(return_counts=True)
    for name, part in zip(
        names.tolist(), log_probs.exp().split(lengths.tolist(), dim=1), strict=True
    ):
        found[:, name] = part.sum(dim=1)
    return found


meaning.wrong(
    "largest number",
    "the number of cities is taken from the largest in `city`",
    lambda log_probs, city, cities: summed(log_probs.exp(), city, int(city.max()) + 1),
)
meaning.wrong(
    "named cities only",
    "cities that no wording names have no column",
    lambda log_probs, city, cities: summed(
        log_probs.exp(), city.unique(return_inverse=True)[1], len(city.unique())
    ),
)
meaning.wrong(
    "24",
    "24 is written for `cities`",
    lambda log_probs, city, cities: summed(log_probs.exp(), city, 24),
)
meaning.wrong(
    "one column more",
    "one column too many",
    lambda log_probs, city, cities: summed(log_probs.exp(), city, cities + 1),
)
meaning.wrong(
    "counted from 1",
    "takes the cities as counted from 1, so that every column is one too early",
    lambda log_probs, city, cities: summed(log_probs.exp(), (city - 1) % cities, cities),
)
meaning.wrong(
    "loop from 1",
    "the loop begins at city 1, so the first has 0",
    lambda log_probs, city, cities: (
        summed(log_probs.exp(), city, cities) * (torch.arange(cities) > 0)
    ),
)
meaning.wrong(
    "loop to cities - 1",
    "the loop ends before the last city",
    lambda log_probs, city, cities: (
        summed(log_probs.exp(), city, cities) * (torch.arange(cities) < cities - 1)
    ),
)
meaning.wrong(
    "base 2",
    "2 to the power, for natural logarithms",
    lambda log_probs, city, cities: summed(2**log_probs, city, cities),
)
meaning.wrong(
    "base 10",
    "10 to the power, for natural logarithms",
    lambda log_probs, city, cities: summed(10**log_probs, city, cities),
)
meaning.wrong(
    "sign",
    "exp of minus the logarithms",
    lambda log_probs, city, cities: summed((-log_probs).exp(), city, cities),
)
meaning.wrong(
    "zeros in the sum",
    "the wordings of other cities are set to log 0 = 0, so that each adds exp(0) = 1",
    lambda log_probs, city, cities: torch.stack(
        [
            torch.where(city == k, log_probs, torch.zeros_like(log_probs)).exp().sum(dim=1)
            for k in range(cities)
        ],
        dim=1,
    ),
)
meaning.wrong(
    "share of wordings",
    "counts the wordings and ignores their probabilities",
    lambda log_probs, city, cities: (named(city, cities) / len(city)).expand(len(log_probs), -1),
)
meaning.wrong(
    "best city",
    "returns the number of the most probable city",
    lambda log_probs, city, cities: summed(log_probs.exp(), city, cities).argmax(dim=1),
)
meaning.wrong(
    "confidence",
    "returns only the probability of the best city",
    lambda log_probs, city, cities: summed(log_probs.exp(), city, cities).amax(dim=1),
)
meaning.wrong(
    "transposed",
    "the axes are exchanged: (cities, n)",
    lambda log_probs, city, cities: summed(log_probs.exp(), city, cities).T,
)
meaning.wrong(
    "mean over questions",
    "averaged over the questions",
    lambda log_probs, city, cities: summed(log_probs.exp(), city, cities).mean(dim=0),
)
meaning.wrong(
    "first question",
    "only the first question is looked at",
    lambda log_probs, city, cities: torch.bincount(city, log_probs[0].exp(), minlength=cities),
)
meaning.wrong(
    "the city of each wording",
    "returns for each wording the sum of its city, (n, S)",
    lambda log_probs, city, cities: summed(log_probs.exp(), city, cities)[:, city],
)
meaning.wrong(
    "by wording",
    "returns the probabilities of the wordings: nothing is added up",
    lambda log_probs, city, cities: log_probs.exp(),
)
meaning.wrong(
    "frequent ones",
    "wordings with less than 1 % are left out",
    lambda log_probs, city, cities: summed(
        torch.where(log_probs.exp() < 0.01, torch.zeros_like(log_probs), log_probs.exp()),
        city,
        cities,
    ),
)
meaning.wrong(
    "floor",
    "probabilities of wordings are raised to 1e-3 or more",
    lambda log_probs, city, cities: summed(log_probs.exp().clamp(min=1e-3), city, cities),
)
meaning.wrong(
    "at least one",
    "1 - product of (1 - p): as if the wordings were independent events",
    lambda log_probs, city, cities: torch.stack(
        [1 - (1 - log_probs.exp() * (city == k)).prod(dim=1) for k in range(cities)], dim=1
    ),
)
meaning.wrong(
    "half precision",
    "computed in float16",
    lambda log_probs, city, cities: summed(log_probs.half().exp().float(), city, cities),
)
meaning.wrong(
    "rounded",
    "rounded to 2 decimals",
    lambda log_probs, city, cities: summed(log_probs.exp(), city, cities).round(decimals=2),
)
meaning.wrong(
    "sorted",
    "the columns are sorted by probability, and no longer in the order of the cities",
    lambda log_probs, city, cities: (
        summed(log_probs.exp(), city, cities).sort(dim=1, descending=True).values
    ),
)
meaning.wrong(
    "cumulative",
    "cumulative sums over the cities",
    lambda log_probs, city, cities: summed(log_probs.exp(), city, cities).cumsum(dim=1),
)
meaning.wrong(
    "exp in place",
    "exp_ overwrites its argument",
    lambda log_probs, city, cities: summed(log_probs.exp_(), city, cities),
)
meaning.wrong(
    "twice exp",
    "exp is taken twice",
    lambda log_probs, city, cities: summed(log_probs.exp().exp(), city, cities),
)


@meaning.wrong("shifted in place", "subtracts the largest logarithm in place, and never adds it")
def _(log_probs, city, cities):
    log_probs -= log_probs.amax(dim=1, keepdim=True)
    return summed(log_probs.exp(), city, cities)


meaning.wrong(
    "shifted",
    "the largest logarithm is subtracted and never added again",
    lambda log_probs, city, cities: summed(
        (log_probs - log_probs.amax(dim=1, keepdim=True)).exp(), city, cities
    ),
)
meaning.wrong(
    "per wording and question",
    "divided by the number of wordings S",
    lambda log_probs, city, cities: summed(log_probs.exp(), city, cities) / len(city),
)

meaning.right(
    "one-hot",
    lambda log_probs, city, cities: (
        log_probs.exp() @ functional.one_hot(city, cities).to(log_probs.dtype)
    ),
)
meaning.right(
    "einsum",
    lambda log_probs, city, cities: torch.einsum(
        "ns,sc->nc", log_probs.double().exp(), functional.one_hot(city, cities).double()
    ),
)
meaning.right(
    "scatter_add",
    lambda log_probs, city, cities: torch.zeros(
        len(log_probs), cities, dtype=torch.float64
    ).scatter_add(1, city.repeat(len(log_probs), 1), log_probs.double().exp()),
)
meaning.right(
    "city by city",
    lambda log_probs, city, cities: torch.stack(
        [log_probs[:, city == k].exp().sum(dim=1) for k in range(cities)], dim=1
    ),
)
meaning.right(
    "logsumexp",
    lambda log_probs, city, cities: (
        log_probs[:, None]
        .masked_fill(city != torch.arange(cities)[:, None], -math.inf)
        .logsumexp(dim=2)
        .exp()
    ),
)
meaning.right(
    "bincount",
    lambda log_probs, city, cities: [
        np.bincount(city.numpy(), weights=np.exp(row), minlength=cities)
        for row in log_probs.double().numpy()
    ],
)
meaning.right(
    "pandas",
    lambda log_probs, city, cities: (
        pd.DataFrame(np.exp(log_probs.double().numpy().T))
        .groupby(city.numpy())
        .sum()
        .reindex(range(cities), fill_value=0.0)
        .to_numpy()
        .T
    ),
)
meaning.right(
    "as the hint says",
    lambda log_probs, city, cities: torch.zeros(len(log_probs), cities).index_add(
        1, city, log_probs.exp()
    ),
)


@meaning.right("add.at")
def _(log_probs, city, cities):
    found = np.zeros((cities, len(log_probs)))
    np.add.at(found, city.numpy(), np.exp(log_probs.double().numpy()).T)
    return found.T


@meaning.right("loop")
def _(log_probs, city, cities):
    found = [[0.0] * cities for _ in range(len(log_probs))]
    for row, logs in enumerate(log_probs.tolist()):
        for one, log in zip(city.tolist(), logs, strict=True):
            found[row][one] += math.exp(log)
    return found


@meaning.right("logaddexp")
def _(log_probs, city, cities):
    found = torch.full((len(log_probs), cities), -math.inf, dtype=torch.float64)
    for place, one in enumerate(city.tolist()):
        found[:, one] = torch.logaddexp(found[:, one], log_probs[:, place].double())
    return found.exp()


def asked(exercise: str, function: Callable) -> tuple[bool, str, float]:
    """Whether the checker of an exercise accepts a function, what it says, and its seconds."""
    from calibkit.course import check

    torch.manual_seed(0)
    begun = time.perf_counter()
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            reply = getattr(check, exercise)(function)
        passed, text = reply.passed, str(reply)
    except Exception as error:  # a checker must answer, whatever it is given
        passed, text = False, f"RAISED {error!r}"
    return passed, text, time.perf_counter() - begun


def score() -> pd.DataFrame:
    """One row an answer: exercise, id, kind, accepted, reply, seconds, diagnosis."""
    rows = []
    for exercise, answers in TABLE.items():
        for answer in answers:
            accepted, reply, seconds = asked(exercise, answer.function)
            rows.append(
                {
                    "exercise": exercise,
                    "id": answer.name,
                    "kind": answer.kind,
                    "accepted": accepted,
                    "reply": reply,
                    "seconds": round(seconds, 3),
                    "diagnosis": answer.diagnosis,
                }
            )
    return pd.DataFrame(rows)
