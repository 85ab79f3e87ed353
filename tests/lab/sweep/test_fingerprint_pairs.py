"""Pairs of trainings that differ in one place: their keys differ; and what has no key.

Each row is the code of a cell that makes `it` (a loss, or what builds a network), and an edit of
it, or why it is refused. Two runs of the unedited code must agree.
"""

import functools
import warnings

import pytest
import torch

from calibkit.lab import data, models, training
from calibkit.lab.sweep import fingerprint

TRAIN = data.noisy_digits(40, test=10, calibration=10).train
HEAD = """
import collections, contextlib, dataclasses, enum, functools, itertools, math, operator, types
import random, time, os
import numpy as np, torch
from torch import nn
from torch.nn import functional as F
from calibkit import augmentation, losses, mixing
from calibkit.lab import models
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
    ("it = lambda a, b, *c: F.cross_entropy(a, b) * len(c)", "*c:", "**c:"),
    ("it = lambda a, b, /: F.cross_entropy(a, b)", ", /", ""),
    ("G = 1\nit = lambda a, b: F.cross_entropy(a, b) * G", "G = 1", "G = 2"),
    ("x = torch.zeros(4)\nG = [x[:2], x[0:2]]\nit = lambda a, b: G[0].add_(1).sum() + G[1].sum()",
     "x[0:2]", "x[2:4]"),
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
    ("G = types.ModuleType('m')\nG.g = 1\nit = lambda a, b: G.g", "G.g = 1", "G.g = 2"),
    ("G = object()\nG = types.ModuleType('m')\nG.h = lambda: 1\nit = lambda a, b: G.h()",
     ": 1", ": 2"),
    ('@dataclasses.dataclass\nclass A:\n    g: float = 1.0\n'
     '    def __call__(s, a, b): return type(s)().g * a.sum()\nit = A(5.0)',
     '= 1.0', '= 1.5'),
    ('@dataclasses.dataclass(slots=True)\nclass A:\n    g: float = 1.0\n'
     '    def __call__(s, a, b): return s.g * a.sum()\nit = A()',
     '= 1.0', '= 1.5'),
    ('@dataclasses.dataclass(eq=True)\nclass A:\n    g: int = 1\nx, y = A(), A()\n'
     'it = lambda a, b: a.sum() * (x == y)',
     'eq=True', 'eq=False'),
    ("def h1(a): return a\nh1.__qualname__='a'\n"
     'it = lambda a, b: a.sum() * len(h1.__qualname__)',
     "='a'", "='abc'"),
    ("class E(enum.Enum):\n    A = 1\n    B = 2\nit = lambda a, b: a.sum() * E['A'].value",
     'A = 1', 'A = 3'),
    ('class E(enum.Enum):\n    A = 1\n    def w(s): return 1.0\nG = E.A\n'
     'it = lambda a, b: a.sum() * G.w()',
     '1.0', '2.0'),
    ('def d(f):\n    @functools.wraps(f)\n    def w(*a): return f(*a) * 1\n    return w\n'
     '@d\n@d\ndef it(a, b): return a.sum() * 5',
     '* 1', '* 3'),
    ('class A:\n    def __init__(s): s.w = np.ones(3)\n'
     '    def __call__(s, a, b): return a.sum() * s.w.sum()\nit = A()\nit.w[0] = 1',
     '[0] = 1', '[0] = 2'),
    ("class B:\n    __slots__ = ('g',)\nclass A(B):\n    __slots__ = ('h',)\n"
     '    def __call__(s, a, b): return a.sum() * s.g\nit = A()\nit.g = 1\nit.h = 1',
     'it.g = 1', 'it.g = 2'),
    ('class M(type):\n    g = 1\nclass A(metaclass=M):\n'
     '    def __call__(s, a, b): return a.sum() * type(s).g\nit = A()',
     'g = 1', 'g = 2'),
    ('def it(a, b, s=[]): return a.sum() * len(s)\nit.__defaults__[0].extend([1])',
     '[1]', '[1, 2]'),
    ('def m(n):\n    fs = []\n    for i in range(n): fs.append(lambda a, b: a.sum() * i)\n'
     '    return fs\nit = m(3)[0]',
     'm(3)', 'm(4)'),
    ('it = lambda a, b: a.sum() * 1', '* 1', '* 1.0'),
    ('it = lambda a, b: a.sum() * 1', '* 1', '* True'),
    ('it = lambda a, b: a.sum() * (1, 2)[0]', '(1, 2)', '(1.0, 2)'),
    ('it = lambda a, b: a.sum() * -0.0', '-0.0', '0.0'),
    ('it = lambda a, b: a.sum() * (0.0, 1)[0]', '(0.0', '(-0.0'),
    ('it = lambda a, b: a.sum() if b in {0.0, 5} else a', '0.0, 5', '-0.0, 5'),
    ('it = lambda a, b: a.sum() if b in {1, 5} else a', '1, 5', '1.0, 5'),
    ('G = complex(0.0, 1)\nit = lambda a, b: a.sum() * G', '0.0', '-0.0'),
    ("import struct\nG = struct.unpack('<d', struct.pack('<Q', 0x7ff8000000000001))[0]\n"
     'it = lambda a, b: torch.tensor([G], dtype=torch.float64).view(torch.int64) * a.sum()',
     '0001', '0002'),
    ("G = float('nan')\nit = lambda a, b: a.sum() * math.copysign(1, G)",
     "float('nan')", "-float('nan')"),
    ("G = b'ab'\nit = lambda a, b: a.sum() * len(G)", "b'ab'", "bytearray(b'ab')"),
    ('G = torch.float32\nit = lambda a, b: a.to(G).sum()', 'float32', 'float64'),
    ('class A:\n    n = 0\n    def __init__(s): A.n += 1\n'
     '    def __call__(s, a, b): return a.sum() * A.n\nit = A()',
     'it = A()', 'it = A(); it = A()'),
    ("def d(f):\n    seen = {'n': 1}\n    def w(a, b): return f(a, b) * seen['n']\n"
     '    return w\n@d\ndef it(a, b): return a.sum()',
     "'n': 1", "'n': 2"),
    ('class A:\n    def h(s, a, b, g): return a.sum() * g\n'
     '    __call__ = functools.partialmethod(h, g=1)\nit = A()',
     'g=1', 'g=2'),
    ("G = collections.Counter('aab')\nit = lambda a, b: a.sum() * G['a']", "'aab'", "'ab'"),
    ("G = np.array([(1, 2.0)], dtype=[('a', int), ('b', float)])[0]\n"
     "it = lambda a, b: a.sum() * G['a']",
     "'a', int), ('b'", "'b', int), ('a'"),
    ('G = np.ones(2)\nG.flags.writeable = True\ndef it(a, b):\n    try:\n        G[0] = 2\n'
     '    except ValueError: pass\n    return a.sum() * G[0]',
     '= True', '= False'),
    ('x = np.ones(4)\nG = [x[:2], x[:2]]\ndef it(a, b):\n    G[0][0] = 2\n'
     '    return a.sum() * G[1][0]',
     '[x[:2], x[:2]]', '[x[:2], x[:2].copy()]'),
    ('x = np.ones(4)\nG = [x[:2], x[0:2]]\ndef it(a, b):\n    G[0][0] = 2\n'
     '    return a.sum() * G[1][0]',
     'x[0:2]', 'x[2:4]'),
    ("x = np.ones(2, 'f4')\ny = torch.from_numpy(x)\n"
     'it = lambda a, b: [x.__iadd__(1), a.sum() * y.sum()][1]',
     'from_numpy(x)', 'from_numpy(x.copy())'),
    ("space = {'__name__': '__main__', '__builtins__': {'sum': lambda x: 1}}\n"
     "exec('it = lambda a, b: a.sum() * sum([1])', space)\nit = space['it']",
     'x: 1', 'x: 2'),
    ('G = torch.ones(2, requires_grad=True)\nG.grad = torch.ones(2)\n'
     'it = lambda a, b: a.sum() * G.grad.sum()',
     'grad = torch.ones', 'grad = torch.zeros'),
    ('G = torch.tensor([1+1j]).conj()\nit = lambda a, b: a.sum() * G.imag.sum()',
     '.conj()', '.conj().resolve_conj()*1'),
    ('def h(a, b, **k): return a.sum() * next(iter(k.values()))\n'
     'it = functools.partial(h, x=1, y=2)',
     'x=1, y=2', 'y=2, x=1'),
    ("P = collections.namedtuple('P', 'g h')\nx = P(1, 2)\nit = lambda a, b: a.sum() * x.g",
     "'g h'", "'h g'"),
    ("import typing\nT = typing.TypeVar('T')\nclass A(typing.Generic[T]):\n    g = 1\n"
     '    def __call__(s, a, b): return a.sum() * s.g\nit = A()',
     'g = 1', 'g = 2'),
    ('class X: pass\nx = X(); x.g = 1\nimport weakref\nG = weakref.ref(x)\n'
     'it = lambda a, b: a.sum() * G().g',
     'g = 1', 'g = 2'),
    ("m = types.ModuleType('mm')\nm.__getattr__ = lambda n: 1\n"
     'it = lambda a, b: a.sum() * m.g',
     ': 1', ': 2'),
]  # fmt: skip

NETWORKS = [
    (NETWORK.format("self.gamma = 1"), "gamma = 1", "gamma = 2"),
    (NETWORK.format("self.head_kwargs = 1"), "kwargs = 1", "kwargs = 2"),
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
    ('class P(nn.Module):\n    def __init__(s):\n        super().__init__(); s.g = 1\n'
     '    def forward(s, x): return x * s.g\ndef it():\n    n = nn.Linear(64, 10)\n'
     "    nn.utils.parametrize.register_parametrization(n, 'weight', P())\n    return n",
     's.g = 1', 's.g = 2'),
    ('class P(nn.Module):\n    def forward(s, x): return x * 1\ndef it():\n'
     '    n = nn.Linear(64, 10)\n'
     "    nn.utils.parametrize.register_parametrization(n, 'weight', P())\n    return n",
     'x * 1', 'x * 2'),
    ('it = lambda: nn.utils.parametrizations.spectral_norm(nn.Linear(64, 10), n_power_'
     'iterations=1)',
     '=1', '=2'),
]  # fmt: skip


REFUSED = [
    ("loss", "@functools.lru_cache\ndef h(n): return n * 1\ndef it(a, b): return h(2)",
     "whose cache remembers earlier calls"),
    ("loss", "G = random.Random(1)\nit = lambda a, b: G.random()",
     "holds a random.Random"),
    ("loss", "G = np.random.default_rng(1)\nit = lambda a, b: G.random()",
     "holds a numpy.random._generator.Generator"),
    ("loss", "G = torch.Generator().manual_seed(1)\nit = lambda a, b: torch.rand(1, generator=G)",
     "holds a torch._C.Generator"),
    ("loss", "G = iter([1, 2])\nit = lambda a, b: next(G)",
     "holds a builtins.list_iterator"),
    ("loss", "G = itertools.count(1)\nit = lambda a, b: next(G)",
     "holds a itertools.count"),
    ("loss", "G = operator.itemgetter(1)\nit = lambda a, b: G(a)",
     "holds a operator.itemgetter"),
    ("loss", "it = lambda a, b: np.random.rand()",
     "rand uses numpy.random.RandomState.rand, which depends on more"),
    ("loss", "it = lambda a, b: random.random()",
     "random holds a random.Random"),
    ("loss", "G = types.ModuleType('m')\nG.g = 1\nit = lambda a, b: getattr(G, 'g')",
     "passes on the module m; name what is used"),
    ("loss", '@dataclasses.dataclass\nclass A:\n'
     '    g: int = dataclasses.field(default=1, hash=None)\n'
     "it = lambda a, b: a.sum() * (A.__dataclass_fields__['g'].hash is None)",
     "looks at __dataclass_fields__ in <lambda>"),
    ("loss",
     "class A:\n    g: int\nit = lambda a, b: a.sum() * len(A.__annotations__['g'].__name__)",
     "looks at __annotations__ in <lambda>"),
    ("loss", "def h(a):\n    'x'\n    return a\nit = lambda a, b: a.sum() * len(h.__doc__)",
     "looks at __doc__ in <lambda>"),
    ("loss", '\ndef h1(a): return a\nit = lambda a, b: a.sum() * h1.__code__.co_firstlineno',
     "looks at __code__ in <lambda>"),
    ("loss", "G = operator.attrgetter('real')\nit = lambda a, b: G(a).sum()",
     "holds a operator.attrgetter"),
    ("loss", 'G = (x * 2 for x in range(3))\nit = lambda a, b: sum(G)',
     "holds a builtins.generator"),
    ("loss", "it = lambda a, b: a.sum() * float(os.environ.get('G', 1))",
     "uses os._Environ, which depends"),
    ("loss", "from os import environ\nenviron['ZZ'] = '1'\n"
     "it = lambda a, b: a.sum() * float(environ['ZZ'])",
     "environ uses os._Environ, which depends"),
    ("loss", 'import abc\nclass A(abc.ABC): pass\nclass B: pass\nx = B()\nA.register(float)\n'
     'it = lambda a, b: a.sum() * isinstance(x, A)',
     "has A, at which other classes are registered"),
    ("loss", "ZZ = 1\ndef h(): pass\ndef it(a, b): return a.sum() * h.__globals__['ZZ']",
     "looks at __globals__ in it"),
    ("loss", 'class A:\n    def __init__(s): s.x = 1; s.y = 2\n'
     '    def __call__(s, a, b): return a.sum() * next(iter(vars(s).values()))\nit = A()',
     "vars uses builtins.vars, which depends"),
    ("loss", 'def it(a, b):\n    import math as m\n    return a.sum() * m.pi',
     "imports math inside it; import it above"),
    ("loss", "G = '1'\ndef it(a, b): return a.sum() * eval(G)",
     "eval uses builtins.eval, which depends"),
    ("loss", '@functools.singledispatch\ndef h(x): return 1\n@h.register\ndef _(x: int): return 2\n'
     'it = lambda a, b: a.sum() * h(1)',
     "uses weakref.WeakKeyDictionary, which depends"),
    ("model",
     "torch.manual_seed(0)\nn = [nn.Linear(64, 10) for _ in range(2)]\nit = lambda: n.pop()",
     "changes what it holds"),
    ("model", 'class Nn(nn.Module):\n    def forward(s, x): return x.flatten(1)[:, :10] * 1\n'
     'it = lambda: torch.jit.trace(Nn(), torch.ones(2, 64))',
     "holds a torch.jit.CompilationUnit"),
]  # fmt: skip


def made(source):
    """`it`, as a notebook's cell that holds this code leaves it."""
    space = {"__name__": "__main__", "__builtins__": __builtins__}
    exec(HEAD + source, space)
    return space["it"]


def key(source, field):
    """The key of a training with that loss or network; None where it is refused, and why."""
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
    return found, "".join(str(one.message) for one in said)


@pytest.fixture(scope="module", autouse=True)
def only_the_cell_changes():
    """The package and torch are read once and not with each of some hundred keys."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("package", "_torch"):
            patch.setattr(fingerprint, name, functools.partial(str, getattr(fingerprint, name)()))
        yield


PAIRS = [("loss", *row) for row in LOSSES] + [("model", *row) for row in NETWORKS]


@pytest.mark.parametrize(("field", "source", "old", "new"), PAIRS)
def test_what_differs_in_one_place_has_another_key_or_none(field, source, old, new):
    edited = source.replace(old, new)
    assert edited != source
    (one, _), (other, _) = key(source, field), key(edited, field)
    assert one not in (None, other)
    assert one == key(source, field)[0]


@pytest.mark.parametrize(("field", "source", "why"), REFUSED)
def test_what_cannot_be_told_has_no_key_and_is_named(field, source, why):
    found, said = key(source, field)
    assert found is None
    assert why in said
