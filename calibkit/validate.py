"""Input checks shared by every public function: messages name argument, value and remedy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from importlib import import_module
from numbers import Real
from types import ModuleType
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from calibkit import devices


class HasArray(Protocol):
    """What numpy can read: a tensor, an array, a memory map, a column or table of pandas."""

    @property
    def __array__(self) -> Any: ...


# What a user may pass where numbers are wanted; each function says the shape it needs.
_Row = Sequence[float] | Sequence[HasArray]
Array = HasArray | _Row | Sequence[_Row] | Sequence[Sequence[_Row]]
Numbers = float | Array  # one number counts too


class Interval(NamedTuple):
    """The numbers from `low` to `high`, without an end that is open.

    >>> print(Interval(0, 1, open_low=True))
    (0, 1]
    """

    low: float
    high: float
    open_low: bool = False
    open_high: bool = False

    def holds(self, x):
        """Whether a number, or each of a tensor, lies within; NaN does not."""
        above = x > self.low if self.open_low else x >= self.low
        return above & (x < self.high if self.open_high else x <= self.high)

    def rounded(self, x: Tensor) -> Tensor:
        """`x`, where rounding put it beyond a closed end cut off there."""
        low, high = -math.inf if self.open_low else self.low, self.high
        inside = x.clamp(low, math.inf if self.open_high else high)
        return inside.where((x - inside).abs() <= ROUNDED, x)

    def __str__(self) -> str:
        return f"{'[('[self.open_low]}{self.low:.12g}, {self.high:.12g}{'])'[self.open_high]}"


UNIT = Interval(0, 1)
PART = Interval(0, 1, open_low=True)
BELOW_HALF = Interval(0, 0.5, True, True)
NOT_NEGATIVE = Interval(0, math.inf, open_high=True)
POSITIVE = Interval(0, math.inf, True, True)

ROW_SUM_TOLERANCE = 1e-4
ROUNDED = 1e-6  # what single numbers may lie beyond their interval
HALVES = (torch.float16, torch.bfloat16)
FLOATS = (*HALVES, torch.float32, torch.float64)
WRONG_SHAPE = {  # by what was needed and what was given
    (2, 1): "; pass a row a sample and a column a class, of one binary score s the columns "
    "torch.stack([1 - s, s], dim=1)",
    (2, 3): "; move the classes last and make rows of all else: {name}.reshape(-1, K)",
}
MOST_OFF = 0.05  # of the sum of a row, whatever its rounding
SMALL_FLOATS = ("bfloat16", "float8_e4m3fn", "float8_e5m2")  # of ml_dtypes, as jax has them
IGNORED = (-100, 255)  # what other packages write where a row has no label


def as_tensor(name: str, value, *, ndim: int | None = None) -> Tensor:
    """`value` as a non-empty dense plain tensor of `ndim` dimensions, the door of all arguments.

    Taken are tensors and their subclasses, arrays of any layout and byte order, whatever numpy can
    read (tables and columns of pandas, polars, Arrow; jax) or gives by DLPack, and nested lists, of
    tensors too. One column (n, 1) is its (n,) where one dimension is asked for. Refused by name is
    what would lose its meaning: masked and missing entries, sparse matrices, texts, dates, complex
    numbers.

    >>> as_tensor("y", np.array([[2], [1]], dtype=">i8")[::-1], ndim=1).tolist()
    [1, 2]
    """
    value = _plain(name, value) if isinstance(value, Tensor) else _read(name, value)
    if ndim == 1 and value.ndim == 2 and value.shape[1] == 1:
        value = value[:, 0]
    if ndim is not None and value.ndim != ndim:
        remedy = WRONG_SHAPE.get((ndim, value.ndim), "").format(name=name)
        if ndim == 1 and _one_hot(value):
            remedy = f"; of one-hot rows pass {name}.argmax(1)"
        raise ValueError(
            f"{name} must have {ndim} dimension(s), got shape {tuple(value.shape)}{remedy}"
        )
    if value.numel() == 0:
        raise ValueError(f"{name} is empty (shape {tuple(value.shape)}); pass at least one sample")
    return value


def _plain(name: str, tensor: Tensor) -> Tensor:
    """A dense tensor that is of no subclass, and not of an inference mode that is over."""
    if isinstance(tensor, torch.masked.MaskedTensor):
        _refuse_missing(name, ~tensor.get_mask(), "masked")
        return tensor.get_data()
    if tensor.layout != torch.strided or tensor.is_nested or tensor.is_quantized:
        how = "dequantize" if tensor.is_quantized else "to_dense"
        form = tensor.dtype if tensor.is_quantized else tensor.layout
        raise TypeError(f"{name} must be dense, got {form}; pass {name}.{how}()")
    if torch.compiler.is_compiling():  # which asks no more of a tensor
        return tensor
    if tensor.is_complex():
        raise TypeError(f"{name} must be real numbers, got {tensor.dtype}; pass {name}.real")
    kind = type(tensor)
    if kind is not Tensor and kind.__torch_dispatch__ is Tensor.__torch_dispatch__:
        tensor = tensor.as_subclass(Tensor)
    if tensor.is_inference() and not torch.is_inference_mode_enabled():
        return tensor.clone()  # which autograd may keep
    return tensor


def unhidden(name: str, value):
    """`value`, which may hold words or lie on disk, unless a mask or a format hides some of it.

    >>> unhidden("labels", np.ma.masked_array([1, 2], [True, False]))
    Traceback (most recent call last):
    ...
    calibkit.validate.Missing: labels must hold a number in each place, but 1 of 2 are masked; \
leave their rows out of every argument
    """
    if isinstance(value, Tensor):
        return _plain(name, value)
    if hasattr(value, "toarray") and not hasattr(value, "__array__"):  # of scipy
        raise TypeError(f"{name} must be dense, got {type(value).__name__}; pass {name}.toarray()")
    first = value
    while isinstance(first, list | tuple) and len(first):
        if any(map(np.ma.isMaskedArray, first)):
            value = np.ma.stack(first)
        first = first[0]
    if np.ma.isMaskedArray(value):
        _refuse_missing(name, np.ma.getmaskarray(value), "masked")
        return value.data
    return value


def words_or_numbers(name: str, value):
    """`unhidden`, and numbers that a table keeps as objects as such; words and None as they are."""
    value = unhidden(name, value)
    if value is None or isinstance(value, Tensor) or not hasattr(value, "__array__"):
        return value
    array = np.asarray(value)
    held = _of_objects(name, array) if array.ndim and array.dtype == object else array
    held = held.astype(np.float64) if held.dtype == np.longdouble else held
    return held if held.dtype.kind in "biuf" else value


def _read(name: str, value) -> Tensor:
    """What is no tensor."""
    value = first = unhidden(name, value)
    while isinstance(first, list | tuple) and len(first):
        first = first[0]
    try:
        if isinstance(first, Tensor) and first is not value:
            return torch.stack([as_tensor(name, part) for part in value])
        if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
            return torch.from_dlpack(value)
        # By way of numpy: torch alone would read the floats of a list in float32, where 0.3 is
        # 0.30000001 and lies on the wrong side of its edge.
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        if isinstance(error, Missing):
            raise
        kind = type(value).__name__
        raise TypeError(
            f"{name} must be a tensor or array of numbers, got {kind}: {error}"
        ) from None
    if array.ndim and array.dtype == object:
        array = _of_objects(name, array)
    elif (
        array.ndim and array.dtype.kind == "f" and not isinstance(value, np.ndarray | list | tuple)
    ):
        _refuse_missing(name, np.isnan(array), "missing")  # as tables write it
    if array.dtype.kind in "biuf" or array.dtype.name in SMALL_FLOATS:
        return _aliased(array)
    if array.dtype.kind == "c":
        raise TypeError(f"{name} must be real numbers, got {array.dtype}; pass the real part")
    seen = f", such as {str(array.flat[0])[:30]!r}" if array.size else ""
    kind = type(value).__name__
    raise TypeError(
        f"{name} must be a tensor or array of numbers, got {kind} of {array.dtype}{seen}"
    )


class Missing(ValueError):
    """Rows lack what they are asked for."""


def _refuse_missing(name: str, lacking, what: str) -> None:
    """Refuse entries that lack a number; `lacking` says which, and `what` they are."""
    count = int(lacking.sum())
    if count:
        size = math.prod(lacking.shape)
        raise Missing(
            f"{name} must hold a number in each place, but {count} of {size} are {what}; leave "
            f"their rows out of every argument"
        )


def _of_objects(name: str, array: np.ndarray) -> np.ndarray:
    """Numbers that were kept as Python's own, as tables of mixed or extension types keep them."""
    _refuse_missing(name, np.array([_is_missing(one) for one in array.flat]), "missing")
    numbers = np.array(array.tolist())
    if numbers.dtype == object and all(isinstance(one, Real | Decimal) for one in array.flat):
        numbers = array.astype(np.float64)
    return numbers


def _is_missing(one) -> bool:
    return one is None or type(one).__name__ in ("NAType", "NaTType") or one != one


def _aliased(array: np.ndarray) -> Tensor:
    """The tensor of an array: of its memory where torch can read it, else of a copy."""
    if array.dtype.name == "bfloat16":  # which numpy does not know
        return _aliased(array.view(np.int16)).view(torch.bfloat16)
    if array.dtype.kind == "V":
        array = array.astype(np.float32)
    if array.dtype.itemsize > 8:
        array = array.astype(np.float64)
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    steps = (step >= 0 and step % array.itemsize == 0 for step in array.strides)
    if not (array.flags.writeable and array.flags.aligned and all(steps)):
        array = array.copy()
    return torch.from_numpy(array)


def _one_hot(tensor: Tensor) -> bool:
    """Whether these are rows of one 1 and else 0."""
    if tensor.ndim != 2 or tensor.is_meta:
        return False
    return bool(((tensor == 0) | (tensor == 1)).all() & (tensor.sum(1) == 1).all())


def floating(name: str, value, *, ndim: int | None = None) -> Tensor:
    """A non-empty tensor of floating type."""
    tensor = as_tensor(name, value, ndim=ndim)
    if tensor.dtype not in FLOATS:
        how = "float()" if isinstance(value, Tensor) else "astype(float)"
        raise TypeError(
            f"{name} must be floating point, got {tensor.dtype}; convert it with {name}.{how}"
        )
    return tensor


def finite(name: str, tensor: Tensor) -> Tensor:
    """`tensor`, not empty, if it holds neither NaN nor infinity."""
    # one fast pass, for minimum and maximum carry NaN along; the slow search is for the message
    if not bool(torch.isfinite(torch.stack(torch.aminmax(tensor))).all()):
        good = torch.isfinite(tensor)
        where = tuple((~good).nonzero()[0].tolist())
        raise ValueError(
            f"{name} must be finite, got {tensor[where].item()} at index {where}; "
            f"look for a diverged training or a division by zero"
        )
    return tensor


def unit_interval(name: str, tensor: Tensor, remedy: str | Callable[[], str]) -> Tensor:
    """`tensor`, not empty, if all its values lie in [0, 1]; what rounding put beyond is cut off.

    Sums and types of few digits give 1.0000000000000002 for 1, or -1e-17 for 0; the tolerance is
    that of rows. remedy: for what lies farther off.

    >>> unit_interval("p", torch.tensor([1 + 1e-6, 0.25]), "").tolist()
    [1.0, 0.25]
    """
    low, high = (bound.item() for bound in torch.aminmax(tensor))
    if low >= 0 and high <= 1:
        return tensor
    finite(name, tensor)
    off = max(ROW_SUM_TOLERANCE, torch.finfo(tensor.dtype).eps)
    if low >= -off and high <= 1 + off:
        return tensor.clamp(0, 1)
    remedy = remedy if isinstance(remedy, str) else remedy()
    raise ValueError(
        f"{name} must lie in [0, 1], got values from {low:.6g} to {high:.6g}; {remedy}"
    )


def row_sum_tolerance(dtype: torch.dtype, classes: int, decimals: int | None = None) -> float:
    """How far from 1 a row of probabilities may sum: 1e-4, or what its rounding takes away.

    A type of 16 bits: eps times K, 4 at most; eps is .001 for float16 and .008 for bfloat16. What
    real rows miss it by: notebooks/notes_on_measures.md.

    decimals: of numbers that were written with so many (`decimals_of`), 2 or more: each of the K
    is off by half a unit of the last, so the row by K / 2 units, and never more than .05.

    >>> row_sum_tolerance(torch.float32, 10), row_sum_tolerance(torch.float16, 2)
    (0.0001, 0.001953125)
    >>> row_sum_tolerance(torch.float64, 10, decimals=3), row_sum_tolerance(torch.float64, 2, 2)
    (0.005, 0.01)
    """
    if dtype in HALVES:
        return min(classes, 4) * torch.finfo(dtype).eps
    if decimals is None or decimals < 2:
        return ROW_SUM_TOLERANCE
    return max(ROW_SUM_TOLERANCE, min(classes / 2 * 10.0**-decimals, MOST_OFF))


def decimals_of(probs: Tensor) -> int | None:
    """With how many decimals, 1 to 6, all these numbers in [0, 1] are written; None if with more.

    >>> decimals_of(torch.tensor([0.25, 0.125])), decimals_of(torch.tensor([1 / 3]))
    (3, None)
    """
    numbers, eps = probs.double(), torch.finfo(probs.dtype).eps
    for decimals in range(1, 7):
        units = numbers * 10**decimals
        if bool(((units - units.round()).abs() <= eps * 10**decimals).all()):
            return decimals
    return None


def tolerance_of(probs: Tensor) -> float:
    """How far from 1 these (n, K) rows in [0, 1] may sum: by their type, or by how they were kept.

    Numbers that were rounded to decimals, or to 16 bits before they became longer ones, miss the
    sum by more than their type says.

    >>> round(tolerance_of(torch.tensor([[0.67, 0.34]])), 4)
    0.01
    >>> tolerance_of(torch.tensor([[1 / 3, 2 / 3], [0.1, 0.9]]).half().float())
    0.001953125
    """
    own = row_sum_tolerance(probs.dtype, probs.shape[1])
    if len(probs) == 0 or probs.dtype in HALVES:
        return own
    if decimals := decimals_of(probs):
        return row_sum_tolerance(probs.dtype, probs.shape[1], decimals)
    half = next((half for half in HALVES if _kept_in(probs, half)), None)
    return own if half is None else max(own, row_sum_tolerance(half, probs.shape[1]))


def _kept_in(probs: Tensor, half: torch.dtype) -> bool:
    """Whether numbers were once of 16 bits: they are such, or what a text shows of them."""
    if bool((probs.to(half).to(probs.dtype) == probs).all()):
        return True
    few = probs.flatten()[:SHOWN].double().numpy(force=True)
    shown = few.astype(np.float16).astype("U").astype(np.float64)
    return half == torch.float16 and bool((shown == few).all())


SHOWN = 2000  # numbers that are compared with their texts


def probs(value, name: str = "probs") -> Tensor:
    """(n, K) probabilities: floating, in [0, 1], rows summing to 1 within `row_sum_tolerance`.

    Those of 16 bits come back in float64, and rounded ones of a CSV as they are: rows are not
    divided by their sums, which would move confidences over the edges of bins.
    """
    tensor = matrix(name, value)
    tolerance = row_sum_tolerance(tensor.dtype, tensor.shape[1])
    if tensor.dtype in HALVES:
        tensor = tensor.double()

    def remedy() -> str:
        if bool((tensor >= 0).all() & ((tensor.sum(dim=1) - 100).abs() < 1).all()):
            return f"the rows sum to 100, so they are per cent: pass {name} / 100"
        if isinstance(value, Tensor):
            return f"if these are logits pass {name}.softmax(dim=1)"
        return f"if these are logits pass scipy.special.softmax({name}, axis=1)"

    tensor = unit_interval(name, tensor, remedy)
    # every row surely sums to 1: by a product for short rows and a sum for long ones
    ones = tensor.new_ones(tensor.shape[1])
    sums = tensor.mv(ones) if len(ones) <= 64 else tensor.sum(dim=1)
    low, high = (bound.item() for bound in torch.aminmax(sums))
    if low >= 1 - tolerance and high <= 1 + tolerance:
        return tensor
    off = (tensor.sum(dim=1) - 1).abs()
    if off.max().item() > tolerance:
        _refuse_unless_rounded(name, tensor, off)
    return tensor


def _refuse_unless_rounded(name: str, tensor: Tensor, off: Tensor) -> None:
    """Refuse rows that are `off` by more than the rounding of their numbers explains."""
    row = int(off.argmax())
    if off[row].item() <= MOST_OFF and off[row].item() <= tolerance_of(tensor) * (1 + 1e-6):
        return
    remedy = "divide each row by its sum or pass logits through softmax(dim=1)"
    if decimals_of(tensor) == 2 and off[row].item() <= tensor.shape[1] / 200 + 1e-9:
        remedy = "they are rounded to 2 decimals: store 3 or more, or divide each row by its sum"
    raise ValueError(
        f"{name} must have rows that sum to 1, got {tensor[row].sum():.6g} in row {row}; {remedy}"
    )


def logits(value, name: str = "logits") -> Tensor:
    """(n, K) finite scores of any size."""
    return finite(name, matrix(name, value))


def labels(
    value, *, n: int, classes: int, device=None, name: str = "labels", of: str = "the predictions"
) -> Tensor:
    """(n,) integer labels in [0, classes), as int64 on `device`, if given, of what `of` names."""
    tensor = as_tensor(name, value, ndim=1)
    if tensor.is_floating_point() or tensor.dtype == torch.bool:
        if not tensor.is_meta:
            _refuse_missing(name, tensor.isnan(), "missing")
        how = "long()" if isinstance(value, Tensor) else "astype(int)"
        raise TypeError(
            f"{name} must be integers, got {tensor.dtype}; convert them with {name}.{how}"
        )
    if len(tensor) == classes != n:
        raise ValueError(
            f"{name} must have one entry per row, {n}, got {len(tensor)}, as many as there are "
            f"columns; if {of} are transposed, pass their .T"
        )
    same_length(name, len(tensor), n)
    if device is not None:
        same_device(name, tensor, device, of)
    signed = tensor.long()  # unsigned types of more than 8 bits know neither minimum nor maximum
    low, high = (bound.item() for bound in torch.aminmax(signed))
    if low < 0 or high >= classes:
        wrong = low if low < 0 else high
        if low < 0 and tensor.dtype == torch.uint64:
            wrong += 2**64  # such as -1, written as an unsigned number before it came here
        remedy = "number the classes from 0"
        if wrong in IGNORED:
            remedy = f"if it marks rows to be ignored, leave them out: {name} != {wrong}"
        raise ValueError(
            f"{name} must lie in [0, {classes}) for {classes} classes, got {wrong}; {remedy}"
        )
    return signed


def weights(value, *, n: int, device=None, of: str = "the predictions") -> Tensor:
    """(n,) float64 weights of rows, 0 or more and not all 0, on `device`, if given.

    >>> weights([2, 0, 1], n=3).tolist()
    [2.0, 0.0, 1.0]
    """
    tensor = as_tensor("weights", value, ndim=1)
    if tensor.dtype == torch.bool:
        raise TypeError(f"weights must be real numbers, got {tensor.dtype}; pass floats")
    same_length("weights", len(tensor), n)
    if device is not None:
        same_device("weights", tensor, device, of)
    tensor = finite("weights", tensor.detach().double())
    if bool((tensor < 0).any()):
        row = int(tensor.argmin())
        raise ValueError(
            f"weights must be 0 or more, got {tensor[row].item():g} in row {row}; leave a row out "
            "by weight 0"
        )
    if not 0 < tensor.square().sum().item() < math.inf:
        raise ValueError(
            f"weights must not all be zero, nor so small or large that their squares are lost, got "
            f"values from {tensor.min().item():g} to {tensor.max().item():g}; divide by their mean"
        )
    return tensor


def predictions(probs_, labels_) -> tuple[Tensor, Tensor]:
    """Checked (n, K) probabilities with their (n,) labels."""
    tensor = matrix("probs", probs_)
    n, classes = tensor.shape
    target = labels(labels_, n=n, classes=classes, device=tensor.device)
    return probs(tensor), target


def look_like_probs(logits: Tensor) -> bool:
    """Whether (n, K) checked logits are rather probabilities: all rows positive and of sum 1.

    Rows of nothing but 0 and 1 do not count, as an example by hand may well have such logits.

    >>> look_like_probs(torch.tensor([[0.25, 0.75]])), look_like_probs(torch.tensor([[1.0, 0.0]]))
    (True, False)
    """
    few = logits[:1000].double()  # what is none shows at once
    decimals = decimals_of(logits[:1000]) if bool((few >= 0).all() & (few <= 1).all()) else None
    tolerance = row_sum_tolerance(logits.dtype, logits.shape[1], decimals)
    for rows in (few, logits):
        if bool((rows < 0).any()) or bool(((rows.double().sum(1) - 1).abs() > tolerance).any()):
            return False
    return bool(((few > 0) & (few < 1)).any())


def refuse_probs(name: str, logits: Tensor) -> None:
    """Refuse (n, K) logits that `look_like_probs`, from two rows on.

    One row of true logits may sum to 1 by chance: of two normal ones, every 40,000th row.

    >>> refuse_probs("logits", torch.tensor([[0.25, 0.75]]))
    >>> refuse_probs("logits", torch.tensor([[0.25, 0.75], [0.5, 0.5]]))
    Traceback (most recent call last):
    ...
    ValueError: logits are probabilities, for every row sums to 1; pass logits, or probs.log()
    """
    first = logits[0].tolist()  # of nearly all logits one row tells
    if min(first) < 0 or not abs(sum(first) - 1) <= MOST_OFF or len(logits) == 1:
        return
    if look_like_probs(logits):
        raise ValueError(
            f"{name} are probabilities, for every row sums to 1; pass logits, or probs.log()"
        )


def matrix(name: str, value) -> Tensor:
    """(n, K) floating scores with K >= 2."""
    tensor = floating(name, value, ndim=2)
    if tensor.shape[1] < 2:
        raise ValueError(
            f"{name} must have one column per class, at least 2, got shape {tuple(tensor.shape)}; "
            f"for a binary score s pass torch.stack([1 - s, s], dim=1)"
        )
    return tensor


def scores(logits_, labels_) -> tuple[Tensor, Tensor]:
    """Checked (n, K) logits with their (n,) labels."""
    tensor = matrix("logits", logits_)
    n, classes = tensor.shape
    target = labels(labels_, n=n, classes=classes, device=tensor.device)
    return finite("logits", tensor), target


def same_length(name: str, length: int, n: int, each: str = "row") -> None:
    """Refuse an argument whose length differs from the number of predictions, or of what else."""
    if length != n:
        raise ValueError(f"{name} must have one entry per {each}, {n}, got {length}")


def shape(name: str, tensor: Tensor, wanted: tuple[int, ...], of: str) -> None:
    """Refuse a tensor of another shape than the argument `of` asks for."""
    if tensor.shape != wanted:
        raise ValueError(
            f"{name} must have shape {wanted} to match {of}, got {tuple(tensor.shape)}"
        )


def same_device(name: str, tensor: Tensor, device, of: str = "the predictions") -> None:
    """Refuse tensors on two devices instead of copying behind the caller's back.

    `of` says in the plural what lies on `device`.
    """
    if not devices.same(tensor.device, device):
        raise ValueError(
            f"{name} is on {tensor.device} but {of} are on {device}; move one of them with .to(...)"
        )


def number(name: str, value, low: float, high: float, *, open_low=False, open_high=False) -> float:
    """A real number in the given interval."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        item = getattr(value, "item", None)
        if item is None or isinstance(value, bool) or getattr(value, "ndim", 0) != 0:
            raise TypeError(f"{name} must be a number, got {type(value).__name__}")
        value = item()
    interval = Interval(low, high, open_low, open_high)
    if not interval.holds(value):
        raise ValueError(f"{name} must lie in {interval}, got {value}")
    return float(value)


def fraction(name: str, value) -> float:
    """A number in [0, 1]; a value above 1 is probably a percentage."""
    try:
        return min(max(number(name, value, -ROUNDED, 1 + ROUNDED), 0.0), 1.0)
    except ValueError:
        error = f"{name} must lie in [0, 1], got {value}"
        raise ValueError(f"{error}; it is a fraction, so write 0.2 for 20 %") from None


def distribution(name: str, value, classes: int) -> Tensor:
    """(K,) float64 on the CPU: one probability a class, 0 or more, of sum 1."""
    tensor = as_tensor(name, value, ndim=1).detach().cpu().double()
    same_length(name, len(tensor), classes, "class")
    off = ROW_SUM_TOLERANCE
    if not (bool((tensor >= -off).all()) and abs(tensor.sum().item() - 1) < off):
        raise ValueError(
            f"{name} must hold fractions that sum to 1, got {tensor.tolist()}; divide by the sum"
        )
    return tensor.clamp(min=0)


def level(value) -> float:
    """The coverage of an interval, in (0, 1)."""
    return number("level", value, 0, 1, open_low=True, open_high=True)


def integer(name: str, value, low: int, high: int | None = None) -> int:
    """An integer of at least `low` (and at most `high`)."""
    index = getattr(value, "__index__", None)
    if isinstance(value, bool) or index is None or getattr(value, "ndim", 0) != 0:
        raise TypeError(f"{name} must be an integer, got {value!r}")
    value = index()
    if value < low or (high is not None and value > high):
        limits = f"at least {low}" if high is None else f"in [{low}, {high}]"
        raise ValueError(f"{name} must be {limits}, got {value}")
    return value


def extra(module: str, of: str, needed_by: str) -> ModuleType:
    """A module that only the extra `of` brings, or an error that says how to get it.

    >>> extra("nowhere.at_all", "files", "this")
    Traceback (most recent call last):
    ...
    ModuleNotFoundError: this needs nowhere: python -m pip install "calibkit[files]"
    """
    try:
        return import_module(module)
    except ModuleNotFoundError:
        package = module.partition(".")[0]
        raise ModuleNotFoundError(
            f'{needed_by} needs {package}: python -m pip install "calibkit[{of}]"', name=package
        ) from None


def choice(name: str, value, options: Sequence):
    """One of the named options."""
    if value not in options:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, options))}, got {value!r}")
    return value


def generator(seed: int | torch.Generator | None, device="cpu") -> torch.Generator:
    """A generator on `device` from an integer seed; a generator is passed through.

    None stands for a seed that torch's default generator of the CPU draws, whatever the device.
    """
    if isinstance(seed, torch.Generator):
        if not devices.same(seed.device, device):
            raise ValueError(
                f"generator is on {seed.device} but the numbers are drawn on {device}; "
                f"make it with torch.Generator({str(device)!r})"
            )
        return seed
    if seed is None:
        seed = int(torch.randint(2**62, (), device="cpu"))
    return torch.Generator(device=device).manual_seed(integer("seed", seed, 0))


# --- numbers that broadcast, as `theory` takes them ---


def numbers(**arguments: tuple[Numbers, Interval]) -> tuple[list[Tensor], bool]:
    """Float64 tensors of one shape, and whether all arguments were plain numbers.

    Each argument is a value, a number or an array, with the interval that it must lie in.

    >>> numbers(p=(0.5, UNIT), gamma=([1.0, 2.0], POSITIVE))[0][0].tolist()
    [0.5, 0.5]
    """
    device = _device(value for value, _ in arguments.values())
    tensors = {name: _real(name, value, device) for name, (value, _) in arguments.items()}
    for name, (_, interval) in arguments.items():
        tensors[name] = interval.rounded(tensors[name])
        good = interval.holds(tensors[name])
        if not bool(good.all()):
            wrong = tensors[name][~good].flatten()[0].item()
            raise ValueError(f"{name} must lie in {interval}, got {wrong:.12g}")
    return _broadcast(tensors), all(isinstance(value, Real) for value, _ in arguments.values())


def distributions(
    strength: Numbers, name: str = "gamma", **rows: Array
) -> tuple[list[Tensor], Tensor]:
    """Float64 (..., K) rows of sum 1, and a strength of 0 or more that ends in one column.

    name: what the strength is called where it is wrong.
    """
    (tensor,), _ = numbers(**{name: (strength, NOT_NEGATIVE)})
    device = _device(rows.values())
    tensors = {name: _real(name, value, device) for name, value in rows.items()}
    for name, row in tensors.items():
        if row.ndim == 0:
            raise ValueError(f"{name} must be a row of class probabilities, got the number {row:g}")
        tensors[name] = probs(row.reshape(-1, row.shape[-1]), name).reshape(row.shape)
    shared = _broadcast(tensors)
    return shared, tensor.to(shared[0].device)[..., None]


def _real(name: str, value, device=None) -> Tensor:
    """A float64 tensor, on `device` where one is given; tensors must lie there already."""
    tensor = as_tensor(name, value)
    if tensor.dtype == torch.bool:
        raise TypeError(f"{name} must be real numbers, got {tensor.dtype}")
    if device is not None and isinstance(value, Tensor):
        same_device(name, tensor, device, "the other arguments")
    return tensor.to(device or tensor.device, torch.float64)


def _device(values: Iterable):
    """The device of the first tensor, if there is one."""
    return next((value.device for value in values if isinstance(value, Tensor)), None)


def _broadcast(tensors: dict[str, Tensor]) -> list[Tensor]:
    try:
        return list(torch.broadcast_tensors(*tensors.values()))
    except RuntimeError:
        shapes = ", ".join(f"{name} {tuple(tensor.shape)}" for name, tensor in tensors.items())
        raise ValueError(f"shapes must agree or broadcast, got {shapes}") from None
