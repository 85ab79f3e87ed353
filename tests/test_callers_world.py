"""The caller's world is not the package's: settings of torch, kinds of arrays, edges of numbers."""

import contextlib
import inspect
import math
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import torch

from tests.entries import ENTRIES, Given, numbers, plain, public


def test_every_public_function_is_an_entry_here():
    assert {name.split()[0] for name in ENTRIES} >= set(public())


@contextlib.contextmanager
def default_dtype(dtype):
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


@contextlib.contextmanager
def strict():
    unsaved = torch.autograd.graph.disable_saved_tensors_hooks("none")
    torch.use_deterministic_algorithms(True)
    try:
        with default_dtype(torch.float64), unsaved:
            yield
    finally:
        torch.use_deterministic_algorithms(False)


@contextlib.contextmanager
def nested():
    with torch.autocast("cpu", dtype=torch.bfloat16), torch.inference_mode(), torch.device("meta"):
        yield


SETTINGS = {"strict": strict, "nested": nested}  # two, as each costs a run of all entries


def assert_same(found, expected, tolerance=1e-9):
    found, expected = numbers(found), numbers(expected)
    assert len(found) == len(expected) > 0
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance, equal_nan=True)


def state():
    return torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.empty(0).dtype


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("name", ENTRIES)
def test_what_torch_is_set_to_has_no_say(name, setting):
    expected, given = plain(name), Given()
    with SETTINGS[setting]():
        before = state()
        found = ENTRIES[name](given)
        assert state() == before
    assert_same(found, expected)


# --- kinds of arrays ---


class Named(torch.Tensor):
    """A subclass, such as fastai and torchvision have them."""


def array(value):
    return value.numpy().copy()


def read_only(value):
    held = array(value)
    held.flags.writeable = False
    return held


def in_inference(value):
    with torch.inference_mode():
        return value.clone()


def wide(value):
    return value.double() if value.is_floating_point() else value


def table(value, dtype):
    held = array(value)
    if held.ndim > 2 or held.dtype == bool:  # no table: float64, since chance depends on the type
        return array(wide(value))
    dtype = dtype if held.dtype.kind == "f" else "Int64"
    return (pd.DataFrame if held.ndim == 2 else pd.Series)(held).astype(dtype)


def tensors(value):
    return list(value) if value.ndim == 2 else [*value] if value.ndim == 1 else value


SOME = {  # that stand for all in what is read in one place, `validate.as_tensor`
    *("audit", "augmentation.crop_flip", "corruptions.corrupt contrast", "curation.subset"),
    *("conformal.weighted_quantiles", "losses.focal", "losses.focal per sample", "metrics.ece"),
    *("metrics.TopLabel", "mixing.mixup", "recalibration.VectorScaler", "theory.gamma_star"),
}
SAME = {  # kinds that hold the numbers as they are
    "negative strides": lambda value: array(value)[..., ::-1].copy()[..., ::-1],
    "other byte order": lambda value: array(value).astype(array(value).dtype.newbyteorder(">")),
    "read-only": read_only,
    "subclass": lambda value: value.as_subclass(Named),
    "made in inference mode": in_inference,
    "lists of tensors": tensors,
}
WIDER = {  # and in float64
    "tables of Float32": lambda value: table(value, "Float32"),
    "nested lists": lambda value: value.tolist() if value.ndim < 4 else wide(value),
    "long doubles": lambda value: array(wide(value)).astype(
        np.longdouble if value.is_floating_point() else array(value).dtype
    ),
    "tables of Float64": lambda value: table(wide(value), "Float64"),
    "tables of Arrow": lambda value: table(wide(value), "double[pyarrow]"),
    "tables of objects": lambda value: table(wide(value), object),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ENTRIES)
def test_arrays_of_every_kind_are_read(name):
    expected = plain(name)
    for kind in SAME if name in SOME else ("read-only",):
        assert_same(ENTRIES[name](Given(SAME[kind])), expected, 1e-5)
    expected = ENTRIES[name](Given(wide))
    for kind in WIDER if name in SOME else ("tables of Float64",):
        assert_same(ENTRIES[name](Given(WIDER[kind])), expected, 1e-7)


class Noted:
    """Notes which arrays are asked for."""

    def __init__(self):
        self.given, self.asked = Given(), {}

    def __getattr__(self, name):
        return self.asked.setdefault(name, getattr(self.given, name))


def asked(name):
    noted = Noted()
    ENTRIES[name](noted)
    return list(noted.asked)


def masked(value):
    return np.ma.masked_array(array(value), mask=np.arange(value.numel()).reshape(value.shape) == 1)


def lacking(value):
    held = table(value, "Float64")
    if isinstance(held, np.ndarray):
        return masked(value)
    held = held.copy()
    held.iloc[0] = pd.NA
    return held


LOST = {  # kinds that would lose what they mean
    "masked": masked,
    "missing": lacking,
    "sparse": lambda value: value.to_sparse(),
    "sparse array": lambda value: (
        scipy.sparse.csr_array(array(value)) if value.ndim == 2 else value.to_sparse()
    ),
    "complex": lambda value: value * 1j,
    "texts": lambda value: array(value).astype(str),
    "dates": lambda value: array(value).astype("M8[D]") if value.ndim else value,
}


@pytest.mark.parametrize("name", ENTRIES)
def test_what_would_lose_its_meaning_is_refused_by_name(name):
    for argument in asked(name):
        for kind in LOST if name in SOME else ("missing",):
            given = Given()
            setattr(given, argument, LOST[kind](getattr(given, argument)))
            if name.startswith("audit") and kind in ("texts", "dates"):
                continue  # whose labels may be words
            with pytest.raises((TypeError, ValueError), match=r" must "):
                ENTRIES[name](given)


# --- edges of numbers ---


def rows_of(change):
    def changed(given):
        for name in ("z", "p", "q", "sure", "fresh"):
            setattr(given, name, change(name, getattr(given, name).clone()))
        return given

    return lambda: changed(Given())


def beyond(name, value):
    """Probabilities of 1 and 0, and what rounding makes of them."""
    if name in ("z", "fresh"):
        return value
    certain = torch.zeros_like(value) if value.ndim == 2 else torch.ones_like(value)
    if value.ndim == 2:
        certain[:, 0] = 1
    off = torch.tensor([2**-23, 1e-5, -(2**-24)])[torch.arange(len(value)) % 3]
    off = off[:, None] if value.ndim == 2 else off
    return (certain + off).clamp(min=-1e-17)


def logits(change):
    return rows_of(lambda name, value: change(value) if name in ("z", "fresh") else value)


def first(number):
    def changed(value):
        value[0, 0] = number
        return value

    return changed


def labelled(label):
    def changed():
        given = Given()
        given.y = given.y * 0 + label
        given.hits = given.hits & bool(label)
        return given

    return changed


EDGES = {
    "rounded beyond 1": rows_of(beyond),
    "constant": logits(torch.zeros_like),
    "subnormal": logits(lambda value: 1e-310 * value.double()),
    "as huge as can be": logits(lambda value: 1e307 * value.double()),
    "large halves": logits(lambda value: (1e4 * value).half()),
    "bfloat16": rows_of(lambda name, value: value.bfloat16()),
    "one infinite": logits(first(math.inf)),
    "one NaN": logits(first(math.nan)),
    "one row": lambda: Given(n=1),
    "one class of labels": labelled(0),
}


# of which the edges change something
WITH_SCORES = (
    *("audit", "conformal.", "losses.", "metrics.", "prioritization.", "recalibration."),
    "theory.focal_posterior",
)


def says_when(name):
    """What an entry's docstring says of NaN and infinity."""
    if name.startswith("audit"):
        name = "metrics.nll"  # of which it tells
    module, _, function = name.split()[0].removesuffix("_of").partition(".")
    documented = inspect.getdoc(getattr(sys.modules.get(f"calibkit.{module}"), function, None))
    return documented or ""


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("name", [one for one in ENTRIES if one.startswith(WITH_SCORES)])
def test_at_the_edges_there_is_a_number_or_a_sentence(name, edge):
    try:
        found = numbers(ENTRIES[name](EDGES[edge]()))
    except (ValueError, TypeError):
        return
    for one in found:
        if "NaN" not in says_when(name):
            assert not bool(one.isnan().any())
        if "inf" not in says_when(name).lower():
            assert not bool(one.isinf().any())


@pytest.mark.parametrize("name", ENTRIES)
def test_what_is_empty_has_no_score(name):
    if asked(name):
        with pytest.raises((ValueError, TypeError), match=r"empty|must"):
            ENTRIES[name](Given(lambda value: value[:0]))


# --- threads ---

GIVEN = Given()
FITS = [name for name in ENTRIES if name.startswith(("recalibration.", "audit"))]


def test_threads_leave_the_process_as_it_was():
    expected = {name: plain(name) for name in FITS}
    before, torch_threads = list(warnings.filters), torch.get_num_threads()
    with default_dtype(torch.float64), ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda name: (name, numbers(ENTRIES[name](GIVEN))), FITS * 2))
        assert torch.get_default_dtype() == torch.float64
    assert warnings.filters == before
    assert torch.get_num_threads() == torch_threads
    for name, one in found:
        assert_same(one, expected[name], 1e-6)
