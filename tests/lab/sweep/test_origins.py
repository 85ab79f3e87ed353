"""Where code comes from, what of it has a key, and what it reaches."""

import abc
import bisect
import cmath
import collections
import contextlib
import copy
import dataclasses
import enum
import fractions
import functools
import heapq
import importlib.metadata
import itertools
import math
import numbers
import operator
import platform
import re
import string
import sys
import textwrap
import types
import typing
import warnings

import numpy as np
import pandas as pd
import PIL.Image
import pytest
import scipy.io
import sklearn.datasets
import torch
import torchvision
from torch import nn

from calibkit import losses
from calibkit.lab.sweep import origins
from calibkit.lab.sweep.contents import Fingerprint
from calibkit.pictures import plots

PURE = [
    *(bisect.bisect, cmath.exp, collections.Counter, collections.deque, contextlib.suppress),
    *(copy.deepcopy, dataclasses.replace, fractions.Fraction, functools.reduce, functools.wraps),
    *(heapq.heappush, heapq.nlargest, itertools.product, math.exp, numbers.Number, operator.add),
    *(operator.itemgetter, re.sub, string.Template, sum, textwrap.dedent, abc.abstractmethod),
    *(types.SimpleNamespace, typing.cast, warnings.simplefilter, enum.Enum),
    *(torch.exp, torch.nn.functional.relu, np.exp, np.linalg.norm, nn.Linear),
]
IMPURE = [
    *(platform.node, sys.getrefcount, np.random.rand, torch.hub.load, torch.load, scipy.io.loadmat),
    *(torch.distributed.get_rank, PIL.Image.new, PIL.Image.open, np.loadtxt, np.genfromtxt),
    *(np.fromfile, np.memmap, pd.read_csv, torchvision.io.read_image, torch.seed),
    *(sklearn.datasets.load_digits, torch.from_file, dataclasses.fields, typing.get_type_hints),
]
PEEKING = (
    *("__import__", "breakpoint", "compile", "delattr", "eval", "exec", "globals", "hash", "id"),
    *("input", "locals", "open", "print", "setattr", "vars"),
)
UNREAD = (
    *("__annotations__", "__builtins__", "__code__", "__dataclass_fields__", "__dict__", "__doc__"),
    *("__globals__", "__hash__", "__subclasses__", "__traceback__"),
)


@pytest.mark.parametrize("value", PURE, ids=lambda value: value.__qualname__)
def test_what_depends_on_its_arguments_alone_has_a_key(value):
    assert len(Fingerprint()(value)) == 64


@pytest.mark.parametrize("value", IMPURE, ids=lambda value: value.__qualname__)
def test_what_reads_files_and_clocks_and_states_is_refused(value):
    with pytest.raises(TypeError, match="depends on more than its arguments"):
        Fingerprint()(value)


@pytest.mark.parametrize("name", PEEKING)
def test_built_in_functions_that_look_around_are_refused(name):
    with pytest.raises(origins.Untellable, match=rf"uses \w+\.{name}, which"):
        Fingerprint()(eval(f"lambda x: {name}(x)", {}))


@pytest.mark.parametrize("name", UNREAD)
def test_attributes_that_no_key_holds_are_refused(name):
    with pytest.raises(origins.Untellable, match=f"looks at {name} in <lambda>"):
        Fingerprint()(eval(f"lambda x: x.{name}", {}))
    with pytest.raises(origins.Untellable, match=f"looks at {name} in <lambda>"):
        Fingerprint()(eval(f"lambda x: getattr(x, '{name}')", {}))


def test_an_import_inside_a_function_is_refused():
    space = {}
    exec("def f():\n    from math import pi\n    return pi", space)
    with pytest.raises(origins.Untellable, match="imports math inside f; import it above"):
        Fingerprint()(space["f"])


@pytest.mark.parametrize(
    ("module", "home"),
    [
        (None, "own"),
        ("__main__", "own"),
        (__name__, "own"),
        ("calibkit.pictures.plots", "own"),
        ("calibkit.losses", "package"),
        ("calibkit.metrics.top", "package"),
        ("math", "installed"),
        ("sys", "installed"),
        ("json.decoder", "installed"),
        ("torch.nn", "installed"),
        ("torch._C._nn", "installed"),
        ("there.is.none", "own"),
    ],
)
def test_modules_have_a_home(module, home):
    assert origins.of_module(module) == home


def test_a_function_is_at_home_where_its_code_is():
    wrapped = functools.wraps(losses.focal)(lambda x: x)
    assert wrapped.__module__ == "calibkit.losses"
    assert [origins.of_function(f) for f in (wrapped, losses.focal, plots.theme)] == [
        "own", "package", "own",
    ]  # fmt: skip
    assert origins.of_function(nn.Linear.forward) == "installed"


@dataclasses.dataclass
class Own:
    gamma: float = 1.0


def test_code_that_was_generated_is_at_home_in_the_module_that_holds_it():
    assert origins.of_function(Own.__init__) == "own"
    assert origins.of_function(losses.ScheduledFocal.__init__) == "package"
    pretending = eval("lambda x: x", {"__name__": "torch"})
    assert origins.of_function(pretending) == "own"


def test_what_stands_under_a_dotted_name_is_found():
    assert origins.found("torch.nn", "Linear.forward") is nn.Linear.forward
    assert origins.found("torch.nn", "Linear.backwards.more") is None
    assert origins.found("there.is.none", "x") is origins.found(None, "x") is None


def test_versions_of_packages(monkeypatch):
    origins.version.cache_clear()
    assert origins.version("calibkit.losses") == ""
    assert origins.version("json.decoder") == platform.python_version()
    assert origins.version("torch.nn") == torch.__version__
    monkeypatch.delattr(pytest, "__version__")
    assert origins.version("pytest") == importlib.metadata.version("pytest")
    with pytest.raises(origins.Untellable, match="uses there, whose version is not known"):
        origins.version("there.is.none")
    origins.version.cache_clear()


def test_an_empty_cell_holds_nothing():
    def outer():
        full = 1

        def inner():
            return full, later

        if full == 0:
            later = 2
        return inner

    assert origins.cells(outer()) == {"full": 1}
    assert origins.cells(test_an_empty_cell_holds_nothing) == {}


def test_what_code_reaches_is_named_by_the_attributes_that_it_takes_of_modules():
    space = {"nn": nn, "factor": 2, "unused": 3, "thing": Own()}
    code = "lambda x: [nn.functional.relu(x) * factor, thing.gamma, missing, (lambda: len(x))()]"
    assert origins.reached(eval(code, space)) == {
        "nn.functional.relu": nn.functional.relu,
        "factor": 2,
        "thing": space["thing"],
        "len": len,
    }
    assert origins.reached(eval("lambda: nn.there_is_none", space)) == {"nn.there_is_none": None}
    space["len"] = None  # which hides the built-in one
    assert origins.reached(eval("lambda x: len(x)", space)) == {"len": None}


def test_a_module_in_a_closure_counts_by_what_is_taken_of_it():
    def outer(module):
        return lambda x: module.pi * x

    assert origins.reached(outer(math)) == {"module.pi": math.pi}


def test_more_names_than_one_byte_can_count_are_all_found():
    names = [f"n{i}" for i in range(300)]
    space = dict.fromkeys(names, 1) | {"math": math}
    taken = origins.reached(eval(f"lambda: ({', '.join(names)}, math.pi)", space))
    assert set(taken) == {*names, "math.pi"}


def test_the_way_to_what_cannot_be_told_is_named():
    error = origins.Untellable("holds a file")
    assert str(error) == "holds a file"
    error.path[:0] = ["loss", "log"]
    assert str(error) == "loss.log holds a file"
