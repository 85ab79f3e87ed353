"""Pairs of trainings that differ in one place: their keys differ, or there is none.

Each row is the code of a cell that makes `it` (a loss, or what builds a network), and an edit of
it. Two runs of the unedited code must agree.
"""

import warnings

import pytest
import torch

from calibkit import data, fingerprint, models, training

TRAIN = data.noisy_digits(40, test=10, calibration=10).train
HEAD = """
import collections, contextlib, dataclasses, enum, functools, itertools, math, operator, types
import random, time, os
import numpy as np, torch
from torch import nn
from torch.nn import functional as F
from calibkit import augmentation, losses, mixing, models
"""
CALLABLE = """
class Loss:
    {}
    def __call__(self, logits, labels):
        return F.cross_entropy(logits, labels) * self.gamma
it = Loss()
"""
NETWORK = """
class Net(nn.Module):
    rate = 1.0
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(64, 10)
        {}
    def forward(self, x):
        return self.head(x.flatten(1))
it = Net
"""

LOSSES = [
    ("it = nn.CrossEntropyLoss(label_smoothing=0.1)", "0.1", "0.2"),
    ("it = nn.CrossEntropyLoss(weight=torch.ones(10))", "ones", "zeros"),
    ("it = functools.partial(losses.focal, gamma=1.0)", "1.0", "2.0"),
    ("it = functools.partial(losses.focal, gamma=1.0)", "focal", "dual_focal"),
    ("it = functools.partial(functools.partial(losses.focal, gamma=1.0), reduction='mean')",
     "'mean'", "'sum'"),
    ("it = losses.ScheduledFocal('5-3-1')", "5-3-1", "5-3-2"),
    ("it = F.cross_entropy", "F.cross_entropy", "F.nll_loss"),
    ("it = lambda a, b: F.cross_entropy(a, b)", "F.cross_entropy", "F.nll_loss"),
    ("it = lambda a, b: F.cross_entropy(a, b) * 1.0", "1.0", "2.0"),
    ("it = lambda a, b, g=1: F.cross_entropy(a, b) * g", "g=1", "g=2"),
    ("it = lambda a, b, *, g=1: F.cross_entropy(a, b) * g", "g=1", "g=2"),
    ("G = 1\nit = lambda a, b: F.cross_entropy(a, b) * G", "G = 1", "G = 2"),
    ("G = [1, [2]]\nit = lambda a, b: F.cross_entropy(a, b) * G[1][0]", "[2]", "[3]"),
    ("G = {'a': 1, 'b': 2}\nit = lambda a, b: sum(G.values())", "'a': 1, 'b': 2", "'b': 2, 'a': 1"),
    ("G = {1, 2}\nit = lambda a, b: F.cross_entropy(a, b) * max(G)", "2}", "3}"),
    ("G = {'x': {1: 2.0}}\nit = lambda a, b: G['x'][1] * a.sum()", "2.0", "-2.0"),
    ("G = 0.0\nit = lambda a, b: 1 / (a.sum() + G)", "0.0", "-0.0"),
    ("G = 1\nit = lambda a, b: a.sum() * G", "G = 1", "G = True"),
    ("G = types.SimpleNamespace(g=1)\nit = lambda a, b: a.sum() * G.g", "g=1", "g=2"),
    ("G = np.ones(3)\nit = lambda a, b: a.sum() * G.sum()", "ones", "zeros"),
    ("G = np.float32(1)\nit = lambda a, b: a.sum() * G", "float32", "float64"),
    ("G = torch.ones(3)\nit = lambda a, b: a.sum() * G.sum()", "ones(3)", "ones(3, 1)"),
    ("G = torch.ones(3)\nit = lambda a, b: a.sum() * G.sum()", "ones(3)", "ones(3).double()"),
    ("G = torch.ones(3)\nit = lambda a, b: a.sum() * G.sum()", "(3)", "(3, requires_grad=True)"),
    ("G = collections.OrderedDict(a=1, b=2)\nit = lambda a, b: list(G)", "a=1, b=2", "b=2, a=1"),
    ("G = collections.deque([1, 2])\nit = lambda a, b: G[0]", "[1, 2]", "[2, 1]"),
    ("P = collections.namedtuple('P', 'g')\nG = P(1)\nit = lambda a, b: G.g", "P(1)", "P(2)"),
    ("def make(g):\n    return lambda a, b: a.sum() * g\nit = make(1)", "make(1)", "make(2)"),
    ("def make(g):\n    def h(): return g\n    return lambda a, b: a.sum() * h()\nit = make(1)",
     "make(1)", "make(2)"),
    ("def h(a): return a.sum() * 1\ndef it(a, b): return h(a)", "* 1", "* 2"),
    ("def h(a): return k(a)\ndef k(a): return a * 1\ndef it(a, b): return h(a)", "* 1", "* 2"),
    ("def it(a, b):\n    return (lambda c: c * 1)(a).sum()", "* 1", "* 2"),
    ("G = 1\ndef it(a, b):\n    return (lambda c: c * G)(a).sum()", "G = 1", "G = 2"),
    ("def it(a, b):\n    try: return a.sum()\n    except ValueError: return b", "Value", "Type"),
    ("def it(a, b): return a.sum() if b.sum() in {1, 2} else b", "{1, 2}", "{1, 3}"),
    ("def it(a, b): return a.sum()\nit.g = 1", "it.g = 1", "it.g = 2"),
    ("@functools.wraps(F.cross_entropy)\ndef it(a, b): return a.sum() * 1", "* 1", "* 2"),
    ("@functools.lru_cache\ndef h(n): return n * 1\ndef it(a, b): return h(2)", "* 1", "* 2"),
    ("def it(a, b, seen=[1]): return a.sum() * len(seen)", "[1]", "[1, 2]"),
    ("it = [lambda a, b: a.sum(), lambda a, b: b.sum()][0]", "[0]", "[1]"),
    ("def h(a): return a\nfor _ in range(1): h = (lambda g: lambda a: g(a).sum())(h)\n"
     "it = lambda a, b: h(a)", "range(1)", "range(2)"),
    ("class T(tuple):\n    def __call__(self, a, b): return a.sum() * self[0]\nit = T((1, 2))",
     "(1, 2)", "(3, 2)"),
    ("class T(tuple):\n    def __call__(self, a, b): return a.sum() * 1\nit = T((1, 2))",
     "* 1", "* 2"),
    ("class T(dict):\n    def __call__(self, a, b): return self['g']\nit = T(g=1)", "g=1", "g=2"),
    ("class T(float):\n    def __call__(self, a, b): return a.sum() * self\nit = T(1)",
     "(1)", "(2)"),
    ("class T(list):\n    g = 1\n    def __call__(self, a, b): return self\nit = T()",
     "g = 1", "g = 2"),
    (CALLABLE.format("gamma = 1"), "gamma = 1", "gamma = 2"),
    (CALLABLE.format("gamma = 1"), "* self.gamma", "+ self.gamma"),
    (CALLABLE.format("def __init__(self): self.gamma = 1"), "gamma = 1", "gamma = 2"),
    (CALLABLE.format("@property\n    def gamma(self): return 1"), "return 1", "return 2"),
    (CALLABLE.format("@functools.cached_property\n    def gamma(self): return 1"), "n 1", "n 2"),
    (CALLABLE.format("@staticmethod\n    def h(): return 1\n    gamma = 0"), "n 1", "n 2"),
    (CALLABLE.format("@classmethod\n    def h(c): return 1\n    gamma = 0"), "n 1", "n 2"),
    (CALLABLE.format("__slots__ = ('gamma',)\n    def __init__(self): self.gamma = 1"),
     "gamma = 1", "gamma = 2"),
    (CALLABLE.format("def __getattr__(self, name): return 1"), "return 1", "return 2"),
    ("class A:\n    g = 1\nclass B(A):\n    def __call__(self, a, b): return self.g\nit = B()",
     "g = 1", "g = 2"),
    ("class A:\n    def h(self): return 1\nclass B(A):\n    def __call__(s, a, b): return s.h()\n"
     "it = B()", "return 1", "return 2"),
    ("class A: g = 1\nclass C: g = 2\nclass B(A, C):\n    def __call__(s, a, b): return s.g\n"
     "it = B()", "(A, C)", "(C, A)"),
    ("class M(type):\n    def h(c): return 1\nclass B(metaclass=M):\n"
     "    def __call__(s, a, b): return type(s).h()\nit = B()", "return 1", "return 2"),
    ("class A:\n    def h(s, a, b): return s.g\nx = A()\nx.g = 1\nit = x.h", "g = 1", "g = 2"),
    ("class A:\n    @staticmethod\n    def h(a, b): return 1\nit = A.h", "return 1", "return 2"),
    ("@dataclasses.dataclass\nclass A:\n    g: int = 1\n    def __call__(s, a, b): return s.g\n"
     "it = A()", "= 1", "= 2"),
    ("@dataclasses.dataclass(frozen=True)\nclass A:\n    g: list = dataclasses.field("
     "default_factory=lambda: [1])\n    def __call__(s, a, b): return s.g\nit = A()", "[1]", "[2]"),
    ("class E(enum.Enum):\n    X = 1\n    Y = 2\nG = E.X\nit = lambda a, b: G.value", "E.X", "E.Y"),
    ("class E(enum.IntEnum):\n    X = 1\nit = lambda a, b: a.sum() * E.X", "X = 1", "X = 2"),
    ("class W(nn.Module):\n    def __init__(s):\n        super().__init__()\n        s.gamma = 1\n"
     "    def forward(s, a, b): return s.gamma\nit = W()", "gamma = 1", "gamma = 2"),
    ("class Fn(torch.autograd.Function):\n    @staticmethod\n    def forward(c, a): return a\n"
     "    @staticmethod\n    def backward(c, g): return g * 1\nit = lambda a, b: Fn.apply(a)",
     "g * 1", "g * 2"),
    ("class D:\n    def __get__(s, o, t=None): return 1\n" + CALLABLE.format("gamma = D()"),
     "return 1", "return 2"),
    ("x = [1]\nG = [x, x]\nit = lambda a, b: G[0].append(1)", "[x, x]", "[x, list(x)]"),
    ("G = random.Random(1)\nit = lambda a, b: G.random()", "(1)", "(2)"),
    ("G = np.random.default_rng(1)\nit = lambda a, b: G.random()", "(1)", "(2)"),
    ("G = torch.Generator().manual_seed(1)\nit = lambda a, b: torch.rand(1, generator=G)",
     "(1)", "(2)"),
    ("G = iter([1, 2])\nit = lambda a, b: next(G)", "[1, 2]", "[2, 1]"),
    ("G = itertools.count(1)\nit = lambda a, b: next(G)", "(1)", "(2)"),
    ("G = operator.itemgetter(1)\nit = lambda a, b: G(a)", "(1)", "(2)"),
    ("it = lambda a, b: np.random.rand()", "rand()", "rand() * 2"),
    ("it = lambda a, b: random.random()", "random()", "random() * 2"),
    ("G = types.ModuleType('m')\nG.g = 1\nit = lambda a, b: G.g", "G.g = 1", "G.g = 2"),
    ("G = types.ModuleType('m')\nG.g = 1\nit = lambda a, b: getattr(G, 'g')", "G.g = 1", "G.g = 2"),
    ("G = object()\nG = types.ModuleType('m')\nG.h = lambda: 1\nit = lambda a, b: G.h()",
     ": 1", ": 2"),
]  # fmt: skip

NETWORKS = [
    (NETWORK.format("self.gamma = 1"), "gamma = 1", "gamma = 2"),
    (NETWORK.format("pass"), "rate = 1.0", "rate = 2.0"),
    (NETWORK.format("pass"), "x.flatten(1)", "x.flatten(1) * 2"),
    (NETWORK.format("self.register_buffer('b', torch.ones(1), persistent=False)"), "ones", "zeros"),
    (NETWORK.format("self.register_buffer('b', torch.ones(1), persistent=False)"), "False", "True"),
    (NETWORK.format("self.head.weight.requires_grad_(True)"), "_(True)", "_(False)"),
    (NETWORK.format("self.head.train(True)"), "train(True)", "train(False)"),
    (NETWORK.format("self.register_forward_hook(lambda m, i, o: o * 1)"), "o * 1", "o * 2"),
    (NETWORK.format("self.register_forward_pre_hook(lambda m, i: i)"), ": i)", ": None)"),
    (NETWORK.format("self.head.weight.register_hook(lambda g: g * 1)"), "g * 1", "g * 2"),
    (NETWORK.format("self.register_full_backward_hook(lambda m, i, o: None)"), ": None", ": i"),
    (NETWORK.format("a, b = (lambda m, i, o: o), (lambda m, i, o: -o)\n"
                    "        self.register_forward_hook(a); self.register_forward_hook(b)"),
     "hook(a); self.register_forward_hook(b)", "hook(b); self.register_forward_hook(a)"),
    (NETWORK.format("self.head.weight.decay = 1"), "decay = 1", "decay = 2"),
    (NETWORK.format("self.a = nn.Linear(2, 2); self.b = self.a"), "= self.a",
     "= nn.Linear(2, 2); self.b.load_state_dict(self.a.state_dict())"),
    (NETWORK.format("self.a = nn.Parameter(torch.ones(2)); self.b = nn.Parameter(self.a.data)"),
     "self.a.data)", "self.a.data.clone())"),
    (NETWORK.format("self.scale = lambda x: x * 1"), "x * 1", "x * 2"),
    (NETWORK.format("self.drop = nn.Dropout(0.1)"), "0.1", "0.2"),
    (NETWORK.format("self.f = F.relu"), "F.relu", "F.gelu"),
    (NETWORK.format("self.forward = lambda x: self.head(x) * 1"), "* 1", "* 2"),
    (NETWORK.format("torch.rand(1)"), "rand(1)", "rand(2)"),
    ("it = lambda: models.vit(1, 10, size=8, patch=4, width=8, depth=1, heads=1)",
     "heads=1", "heads=2"),
    ("it = lambda: models.mlp(64, 10, width=8)", "width=8", "width=8, activation=nn.GELU"),
    ("it = lambda: nn.Sequential(collections.OrderedDict(f=nn.Flatten(), a=nn.Linear(64, 64), "
     "b=nn.Identity(), c=nn.Linear(64, 10)))", "b=nn.Identity()", "b=nn.ReLU()"),
    ("m = [nn.Flatten(), nn.ReLU()]\nit = lambda: nn.Sequential(collections.OrderedDict("
     "a=m[0], b=m[1]))", "a=m[0], b=m[1]", "b=m[1], a=m[0]"),
    ("torch.manual_seed(0)\nn = [nn.Linear(64, 10) for _ in range(2)]\nit = lambda: n.pop()",
     "range(2)", "range(3)"),
    ("torch.manual_seed(0)\nn = nn.Linear(64, 10)\nit = lambda: n", "seed(0)", "seed(1)"),
    ("class R(nn.ReLU):\n    def forward(s, x): return x * 1\nit = lambda: nn.Sequential(R())",
     "x * 1", "x * 2"),
    ("class Base(nn.Module):\n    def forward(s, x): return x * 1\nclass N(Base): pass\nit = N",
     "x * 1", "x * 2"),
    ("it = lambda: nn.LSTM(4, 4, dropout=0.1, num_layers=2)", "0.1", "0.2"),
    ("it = lambda: nn.utils.parametrizations.weight_norm(nn.Linear(4, 4), dim=0)",
     "dim=0", "dim=1"),
    ("it = lambda: nn.BatchNorm1d(4, momentum=0.1)", "0.1", "0.2"),
    ("it = lambda: nn.Linear(64, 10).to(torch.float32)", "float32", "float64"),
    ("it = lambda: nn.Conv2d(4, 4, 3)", "3)", "3).to(memory_format=torch.channels_last)"),
]  # fmt: skip


def made(source):
    """`it`, as a notebook's cell that holds this code leaves it."""
    space = {"__name__": "__main__", "__builtins__": __builtins__}
    exec(HEAD + source, space)
    return space["it"]


def key(source, field):
    """The key of a training with that loss or network; None where it is refused."""
    it = made(source)
    trial = training.trial(
        it if field == "model" else lambda: models.mlp(64, 10, width=2),
        TRAIN,
        **({"loss": it} if field == "loss" else {}),
    )
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = fingerprint.keys([trial], torch.device("cpu"))[0]
    assert bool(said) == (found is None)
    return found


PAIRS = [("loss", *row) for row in LOSSES] + [("model", *row) for row in NETWORKS]


@pytest.mark.parametrize(("field", "source", "old", "new"), PAIRS)
def test_what_differs_in_one_place_has_another_key_or_none(field, source, old, new):
    edited = source.replace(old, new)
    assert edited != source
    one, other = key(source, field), key(edited, field)
    assert one is None or one != other
    assert one == key(source, field)
