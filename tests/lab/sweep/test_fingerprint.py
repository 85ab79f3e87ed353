"""Equal things get equal fingerprints, and everything that may change a result changes them."""

import abc
import collections
import copy
import functools
import types
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from calibkit import losses
from calibkit.lab import data, models, training
from calibkit.lab.sweep import fingerprint
from calibkit.lab.sweep.contents import bare, strange
from calibkit.lab.sweep.fingerprint import Fingerprint, package

FACTOR = 2.0


def of(*values):
    return Fingerprint()(*values)


def compiled(source, **names):
    """A function as a notebook would hold it: its globals are its own."""
    space = {"__name__": "__main__"} | names
    exec(source, space)
    return space["f"]


PLAIN = "def f(x):\n    return x * FACTOR\n"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (1, True),
        (1, "1"),
        (0.1, 0.1 + 1e-16),
        ((1, 2), (2, 1)),
        (("ab", "c"), ("a", "bc")),
        ([[1], 2], [[1, 2]]),
        ({"a": 1}, {"a": 2}),
        (torch.zeros(2), torch.zeros(3)),
        (torch.zeros(2), torch.zeros(2, dtype=torch.float64)),
        (torch.zeros(2, 3), torch.zeros(3, 2)),
        (np.zeros(2), np.ones(2)),
        (functools.partial(losses.focal, gamma=1.0), functools.partial(losses.focal, gamma=2.0)),
        (losses.focal, losses.flsd),
        (losses.ScheduledFocal("5-3-1"), losses.ScheduledFocal("5-3-2")),
        (training.Recipe(), training.Recipe(lr=0.2)),
        (nn.ReLU(), nn.GELU()),
        (None, 0),
        (..., NotImplemented),
        (range(3), range(4)),
        (b"a", b"b"),
        (torch.float32, torch.float64),
        (torch.device("cpu"), torch.device("meta")),
        (torch.strided, torch.sparse_coo),
        (torch.channels_last, torch.contiguous_format),
        (torch.Size([1]), torch.Size([2])),
        (int.__add__, int.__sub__),
        (str.upper, str.lower),
        (vars(dict)["fromkeys"], vars(bytes)["fromhex"]),
        (dict.fromkeys, collections.OrderedDict.fromkeys),
        ([1].append, [2].append),
        (np.ones((2, 3)), np.asfortranarray(np.ones((2, 3)))),
        (torch.ones(2, 3), torch.ones(3, 2).T),
        (torch.tensor([1 + 1j]).conj().imag, torch.tensor([-1.0])),
        ({(1, 2), (3, 4)}, {(1, 2), (3, 5)}),
    ],
)
def test_what_differs_is_told_apart(one, other):
    assert of(one) != of(other)


@pytest.mark.parametrize(
    ("base", "one", "other"),
    [
        *((kind, [1, 2], [1, 3]) for kind in (list, tuple, set, frozenset)),
        *((kind, [(1, 2)], [(1, 3)]) for kind in (dict, collections.OrderedDict)),
        *((int, 1, 2), (float, 1, 2), (complex, 1, 2), (str, "a", "b"), (bytes, b"a", b"b")),
        (collections.defaultdict, int, float),
    ],
)
def test_own_kinds_of_built_in_things_count_by_kind_and_content(base, one, other):
    own = types.new_class("Own", (base,), exec_body=lambda space: space.update(__module__="x"))
    assert of(own(one)) == of(own(one)) not in (of(own(other)), of(base(one)))


def test_the_order_of_an_own_ordered_mapping_is_the_one_that_it_has_now():
    own = types.new_class("Own", (collections.OrderedDict,))
    first, moved = own(a=1, b=2), own(a=1, b=2)
    moved.move_to_end("a")
    assert of(first) != of(moved)


ABOUT = """
class f:
    {!r}
    g: {} = 1
"""


def test_what_code_that_has_a_key_cannot_see_does_not_count():
    plain = of(compiled(ABOUT.format("help", "int")))
    assert plain == of(compiled(ABOUT.format("more help", "float")))
    copied = compiled(ABOUT.format("help", "int"))
    copy.copy(copied())  # Python notes in the class what it found
    assert "__slotnames__" in vars(copied)
    assert of(copied) == plain


class Passing(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x * 1

    @staticmethod
    def backward(context, gradient):
        return gradient


class Asked(abc.ABC):  # noqa: B024
    pass


def test_the_step_that_torch_wraps_when_it_builds_the_first_adamw_does_not_count(monkeypatch):
    wrapped = torch.optim.Optimizer.profile_hook_step(torch.optim.Adam.step)
    monkeypatch.setattr(torch.optim.AdamW, "step", wrapped)
    assert "step" not in strange(torch.optim.AdamW)
    monkeypatch.setattr(torch.optim.AdamW, "step", torch.optim.SGD.step)
    assert strange(torch.optim.AdamW)["step"] == "torch.optim.sgd.SGD.step"


def test_what_use_leaves_in_a_class_does_not_count():
    before = of(Passing, Asked)
    Passing.apply(torch.ones(1, requires_grad=True)).sum().backward()
    assert not isinstance(3, Asked)
    assert of(Passing, Asked) == before


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (torch.ones(2, device="meta"), "a tensor without plain memory"),
        (torch.ones(2).to_sparse(), "a tensor without plain memory"),
        (torch.ones(2, requires_grad=True) * 2, "a tensor that other tensors"),
        (torch.nested.nested_tensor([torch.ones(2)]), "a tensor without plain memory"),
        (np.array([object()]), "an array of objects"),
        (np.frombuffer(b"abcd", dtype=np.uint8), "in memory of another kind"),
        ({object}, "a set of things without an order"),
        (types, "passes on the module types"),
    ],
)
def test_what_cannot_be_told_is_refused(value, why):
    with pytest.raises(TypeError, match=why):
        of(value)


@pytest.mark.parametrize(
    "make",
    [
        lambda: {"b": [1, None], "a": {1.5, "x"}},
        lambda: torch.arange(3.0),
        lambda: training.Recipe(loss=functools.partial(losses.focal, gamma=2.0)),
        lambda: nn.Linear(2, 2).requires_grad_(False).eval(),
        lambda: compiled(PLAIN, FACTOR=2.0),
    ],
)
def test_what_is_equal_stays_equal(make):
    torch.manual_seed(0)
    first = of(make())
    torch.manual_seed(0)
    assert first == of(make())


def test_the_order_of_a_mapping_counts_as_code_may_follow_it_but_not_that_of_datasets():
    assert of({"a": 1, "b": 2}) != of({"b": 2, "a": 1})
    train, _, test = data.noisy_digits(40, test=10, calibration=10)
    network = functools.partial(models.mlp, 64, 10, width=2)
    trials = [
        training.trial(network, train, score) for score in (
            {"a": train, "b": test}, {"b": test, "a": train}, {"a": test, "b": train}
        )
    ]  # fmt: skip
    keys = fingerprint.keys(trials, torch.device("cpu"))
    assert keys[0] == keys[1] != keys[2]


def test_weights_count_and_so_does_their_place():
    one, two = models.mlp(4, 2, width=3), models.mlp(4, 2, width=3)
    assert of(one) != of(two)
    two.load_state_dict(one.state_dict())
    assert of(one) == of(two)
    with torch.no_grad():
        two.head.bias[0] += 1
    assert of(one) != of(two)


def test_a_notebooks_function_counts_with_code_globals_defaults_and_closure():
    base = of(compiled(PLAIN, FACTOR=2.0))
    assert base != of(compiled(PLAIN, FACTOR=3.0))
    assert base != of(compiled(PLAIN.replace("*", "+"), FACTOR=2.0))
    assert base != of(compiled(PLAIN.replace("x)", "x, y=1)"), FACTOR=2.0))
    closure = "def g(n):\n    def h(x):\n        return x + n\n    return h\nf = g({})\n"
    assert of(compiled(closure.format(1))) != of(compiled(closure.format(2)))
    inner = "f = lambda x: (lambda y: y {} FACTOR)(x)\n"
    assert of(compiled(inner.format("+"), FACTOR=1)) != of(compiled(inner.format("-"), FACTOR=1))
    assert of(compiled(inner.format("+"), FACTOR=1)) != of(compiled(inner.format("+"), FACTOR=2))


def test_what_only_has_the_name_of_a_package_function_counts_by_its_code():
    def like_focal(*more):
        code = losses.focal.__code__
        code = code.replace(co_consts=(*code.co_consts, *more))
        return types.FunctionType(code, vars(losses), "focal")

    named, one, other = losses.focal, like_focal(1), like_focal(2)
    assert one.__module__ == named.__module__
    assert one.__qualname__ == named.__qualname__
    assert len({of(named), of(one), of(other)}) == 3


def test_helpers_that_a_function_calls_count_too():
    source = "def help_(x):\n    return x {} 1\ndef f(x):\n    return help_(x)\n"
    assert of(compiled(source.format("+"))) != of(compiled(source.format("-")))


def test_an_attribute_is_not_taken_for_a_global_of_its_name():
    source = "def f(x):\n    return x.labels\n"
    assert of(compiled(source, labels=object())) == of(compiled(source))


def test_recursion_ends():
    assert len(of(compiled("def f(n):\n    return 1 if n == 0 else n * f(n - 1)\n"))) == 64


def test_comments_and_blank_lines_do_not_count():
    assert bare('def f():\n    """Help."""\n    return 1  # one\n') == bare(
        "def f():\n\n  return 1"
    )
    assert bare('async def f():\n    """Help."""\n    return 1') == bare("async def f(): return 1")
    assert bare('class F:\n    "Help."\n    x = 1') == bare("class F: x = 1")
    assert bare("x = 1") != bare("x = 2")
    assert len(package()) == 64


@pytest.mark.parametrize(
    ("word", "other", "same"),
    [
        ("Temperature is meant", "Warmth is meant", True),
        ("return 'Temperature'", "return 'Warmth'", False),
        ("'other'", "'another'", False),
    ],
)
def test_a_docstring_does_not_count_but_a_text_that_is_used_does(word, other, same):
    source = (
        "def f(x):\n    '''Temperature is meant.'''\n    def g():\n        '''Temperature'''\n"
        "        return 'Temperature'\n    return g() + 'other'\n"
    )
    assert word in source
    assert (of(compiled(source)) == of(compiled(source.replace(word, other)))) is same


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("f = lambda x: 'a'", "f = lambda x: 'b'"),
        (
            "def f(x):\n    return tuple('a' for _ in x)",
            "def f(x):\n    return tuple('b' for _ in x)",
        ),
        ("def f(x):\n    'a'\n    return 'a'", "def f(x):\n    'a'\n    return 'b'"),
        ("def f(x):\n    'a'\n    return 'a'", "def f(x):\n    'b'\n    return 'b'"),
        ("def f(x):\n    'a'\n    return x", "def f(x):\n    'a'\n    return 'a'"),
        (
            "def f(x, y=0):\n    'y'\n    return f(x, y=1)",
            "def f(x, y=0):\n    'y'\n    return 'y'",
        ),
    ],
)
def test_texts_that_code_uses_are_no_docstrings(one, other):
    assert of(compiled(one)) != of(compiled(other))


def test_a_word_of_a_docstring_in_the_package_moves_no_key(monkeypatch):
    source = Path(losses.__file__).read_text(encoding="utf-8")

    def of_edit(word, other):
        """The package as it is with `focal` loaded from an edited file."""
        assert word in source
        codes = compile(source.replace(word, other), losses.__file__, "exec").co_consts
        found = next(code for code in codes if getattr(code, "co_name", "") == "focal")
        monkeypatch.setattr(losses.focal, "__code__", found)
        return package()

    before = package()
    assert of_edit('"""Focal loss: -sum_k', '"""The focal loss: -sum_k') == before
    assert of_edit("target.ndim == 2", "target.ndim == 3") != before


def test_classes_of_a_notebook_count_with_their_methods():
    one = types.new_class("Loss", exec_body=lambda space: space.update(__module__="__main__"))
    one.__call__ = lambda self, x: x
    two = types.new_class("Loss", exec_body=lambda space: space.update(__module__="__main__"))
    two.__call__ = lambda self, x: -x
    assert of(one) != of(two)


def test_unknown_things_are_refused_by_name():
    with pytest.raises(TypeError, match="rng holds a torch"):
        of(types.SimpleNamespace(rng=torch.Generator()))


@dataclass
class Pair:
    left: int
    right: int


def test_dataclasses_count_by_their_fields():
    assert of(Pair(1, 2)) == of(Pair(1, 2)) != of(Pair(2, 1))
