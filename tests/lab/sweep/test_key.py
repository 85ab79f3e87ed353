"""Keys of results: what may change a result changes its key, and nothing else does.

Given up, as no user does it: memory that views share, a flag that forbids writing, hooks and
`.grad` of a tensor, replaced built-ins, the `__getattr__` of a module, what is put into torch or
this package once they are loaded, classes registered at an abstract one, `eval`, a cached property.
Files are not seen either: what reads one is given its content instead.
"""

import contextlib
import functools
import warnings

import pytest
import torch
from torch import nn

import calibkit
from calibkit import augmentation, corruptions, losses, metrics, mixing, prioritization
from calibkit.lab import data, models, training
from calibkit.lab.sweep import key as module
from calibkit.lab.sweep.key import LOADED, keys

CPU = torch.device("cpu")
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

VALUES = [  # of a global
    *[("1", "2"), ("1", "True"), ("1", "1.0"), ("0.0", "-0.0"), ("(1, 2)", "(1.0, 2)")],
    *[("[1, [2]]", "[1, [3]]"), ("{1, 2}", "{1, 3}"), ("{'a': 1, 'b': 2}", "{'b': 2, 'a': 1}")],
    *[("'a'", "b'a'"), ("np.ones(3)", "np.zeros(3)"), ("nn.ReLU()", "nn.GELU()")],
    *[("torch.ones(3)", f"torch.ones({end}") for end in ("3, 1)", "3).double()", "3) * 2")],
    *[("torch.ones(3)", "torch.ones(3, requires_grad=True)"), ("F.relu", "F.gelu")],
]
LOSSES = [
    *((f"G = {one}\nit = lambda a, b: a * G", one, other) for one, other in VALUES),
    *((f"it = lambda a, b: a * {one}", one, other) for one, other in VALUES[:5]),
    ("it = nn.CrossEntropyLoss(label_smoothing=0.1)", "0.1", "0.2"),
    ("it = functools.partial(losses.focal, gamma=1.0)", "1.0", "2.0"),
    ("it = lambda a, b, g=1: F.cross_entropy(a, b) * g", "g=1", "g=2"),
    ("def make(g):\n    return lambda a, b: a.sum() * g\nit = make(1)", "make(1)", "make(2)"),
    ("G = 1\ndef it(a, b):\n    return (lambda c: c * G)(a).sum()", "G = 1", "G = 2"),
    ("def it(a, b):\n    try: return a.sum()\n    except ValueError: return b", "Value", "Type"),
    ("def it(a, b): return a.sum()\nit.g = 1", "it.g = 1", "it.g = 2"),
    (CALLABLE.format("gamma = 1"), "gamma = 1", "gamma = 2"),
    (CALLABLE.format("gamma = 1"), "* self.gamma", "+ self.gamma"),
    (CALLABLE.format("@property\n    def gamma(self): return 1"), "return 1", "return 2"),
    (CALLABLE.format("__slots__ = ('gamma',)\n    def __init__(self): self.gamma = 1"),
     "gamma = 1", "gamma = 2"),
    ("class A:\n    def h(self): return 1\nclass B(A):\n    def __call__(s, a, b): return s.h()\n"
     "it = B()", "return 1", "return 2"),
    ("class A:\n    def h(s, a, b): return s.g\nx = A()\nx.g = 1\nit = x.h", "g = 1", "g = 2"),
    ("@dataclasses.dataclass\nclass A:\n    g: int = 1\n    def __call__(s, a, b): return s.g\n"
     "it = A()", "= 1", "= 2"),
    ("class Fn(torch.autograd.Function):\n    @staticmethod\n    def forward(c, a): return a\n"
     "    @staticmethod\n    def backward(c, g): return g * 1\nit = lambda a, b: Fn.apply(a)",
     "g * 1", "g * 2"),
    ("x = [1]\nG = [x, x]\nit = lambda a, b: G[0].append(1)", "[x, x]", "[x, list(x)]"),
    ("G = types.ModuleType('m')\nG.g = 1\nit = lambda a, b: G.g", "G.g = 1", "G.g = 2"),
    ('def d(f):\n    @functools.wraps(f)\n    def w(*a): return f(*a) * 1\n    return w\n'
     '@d\n@d\ndef it(a, b): return a.sum() * 5', '* 1', '* 3'),
    ('class A:\n    def h(s, a, b, g): return a.sum() * g\n'
     '    __call__ = functools.partialmethod(h, g=1)\nit = A()', 'g=1', 'g=2'),
]  # fmt: skip

NETWORKS = [
    (NETWORK.format("self.gamma = 1"), "gamma = 1", "gamma = 2"),
    (NETWORK.format("pass"), "rate = 1.0", "rate = 2.0"),
    (NETWORK.format("pass"), "x.flatten(1)", "x.flatten(1) * 2"),
    (NETWORK.format("self.register_buffer('b', torch.ones(1), persistent=False)"), "False", "True"),
    (NETWORK.format("self.head.weight.requires_grad_(True)"), "_(True)", "_(False)"),
    (NETWORK.format("self.register_forward_hook(lambda m, i, o: o * 1)"), "o * 1", "o * 2"),
    (NETWORK.format("self.a = nn.Linear(2, 2); self.b = self.a"), "= self.a",
     "= nn.Linear(2, 2); self.b.load_state_dict(self.a.state_dict())"),
    (NETWORK.format("torch.rand(1)"), "rand(1)", "rand(2)"),
    ("it = lambda: models.mlp(64, 10, width=8)", "width=8", "width=8, activation=nn.GELU"),
    ("it = lambda: nn.utils.parametrizations.weight_norm(nn.Linear(4, 4), dim=0)",
     "dim=0", "dim=1"),
    ("it = lambda: nn.Conv2d(4, 4, 3)", "3)", "3).to(memory_format=torch.channels_last)"),
]  # fmt: skip

REFUSED = [
    ("G = random.Random(1)\nit = lambda a, b: G.random()", "loss: uses random.Random"),
    ("G = np.random.default_rng(1)\nit = lambda a, b: G.random()", "loss: uses numpy.random"),
    ("G = (x * 2 for x in range(3))\nit = lambda a, b: sum(G)", "holds a builtins.generator"),
    ("it = lambda a, b: random.random()", "uses random.random"),
    ("it = lambda a, b: a * float(os.environ.get('G', 1))", "uses os.environ"),
    ("def it(a, b):\n    import math as m\n    return m.pi", "imports inside it; import above it"),
    ("@functools.lru_cache\ndef h(n): return n\nit = lambda a, b: h(2)", "_lru_cache_wrapper"),
    ("G = torch.ones(2, device='meta')\nit = lambda a, b: G", "meta tensor"),
]


def made(source):
    """`it`, as a notebook's cell that holds this code leaves it."""
    space = {"__name__": "__main__", "__builtins__": __builtins__}
    exec(HEAD + source, space)
    return space["it"]


def trial(loss=nn.functional.cross_entropy, network=None, **options):
    network = network or (lambda: models.mlp(64, 10, width=2))
    return training.trial(network, TRAIN, loss=loss, **options)


def key(**options):
    """The key of a training; an error where there is none."""
    with warnings.catch_warnings(action="error"):
        return keys([trial(**options)], CPU)[0]


PAIRS = [("loss", *row) for row in LOSSES] + [("network", *row) for row in NETWORKS]


@pytest.mark.parametrize(("field", "source", "old", "new"), PAIRS)
def test_what_differs_in_one_place_has_another_key(field, source, old, new):
    edited = source.replace(old, new)
    assert edited != source
    one = key(**{field: made(source)})
    assert one == key(**{field: made("\n\n# moved, and a comment\n" + source + "  # end")})
    assert one != key(**{field: made(edited)})


@pytest.mark.parametrize(("source", "why"), REFUSED)
def test_what_cannot_be_told_has_no_key_and_is_named(source, why):
    with pytest.warns(UserWarning, match="1 of 1 results are not kept") as said:
        assert keys([trial(made(source))], CPU) == [None]
    assert why in str(said[0].message)


def test_the_seed_counts_and_reading_draws_nothing():
    network = lambda: models.text_transformer(30, 4, length=7, width=8, heads=2)  # noqa: E731
    before = torch.get_rng_state()
    assert key(network=network) == key(network=network) != key(network=network, seed=1)
    assert torch.equal(torch.get_rng_state(), before)


# --- what all results share ----------------------------------------------------------------------


@contextlib.contextmanager
def between(change, value, before):
    change(value)
    yield
    change(before)


def test_what_is_set_for_all_of_torch_counts():
    matmul, cudnn = torch.backends.mkldnn.matmul, torch.backends.cudnn
    around = [contextlib.nullcontext(), torch.no_grad(), torch.inference_mode()]
    around += [torch.device("meta"), torch.autocast("cpu", torch.half)]
    around += [between(torch.set_default_dtype, torch.float64, torch.float32)]
    around += [between(torch.use_deterministic_algorithms, True, False)]
    around += [between(functools.partial(setattr, cudnn, "benchmark"), True, False)]
    precise = functools.partial(setattr, matmul, "fp32_precision")
    around += [between(precise, "bf16", matmul.fp32_precision)]
    found = []
    for context in around:
        with context:
            found += keys([1], CPU)
    assert len({None, *found}) == len(around) + 1
    assert keys([1], CPU) == found[:1] != keys([1], torch.device("cuda"))


def edited(monkeypatch, name, old, new):
    text = module.LOADED[name].decode()
    assert old in text
    monkeypatch.setitem(module.LOADED, name, text.replace(old, new).encode())


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ('"""Focal loss: -sum_k', '"""The focal loss: -sum_k', True),
        ("\n\n\ndef focal", "\n\n\n# a remark\ndef focal", True),
        ("target.ndim == 2", "target.ndim == 3", False),
    ],
)
def test_a_change_of_what_it_uses_moves_a_key_but_for_comments(monkeypatch, old, new, same):
    other, before = key(), key(loss=losses.brier)
    edited(monkeypatch, "calibkit.losses", old, new)
    assert (key(loss=losses.brier) == before) is same
    assert key() == other


def shifted(images, generator):
    return corruptions.gaussian_noise(augmentation.crop_flip(images, generator=generator), 1)


def moved(logits, labels, shift):
    return losses.brier(logits + shift, labels)


class Deep(nn.Sequential):
    def __init__(self):
        super().__init__(models.mlp(64, 10, width=2))


REACHED = [
    *[({}, f"calibkit.{name}") for name in (
        "lab.training.loop", "lab.training.stacking", "lab.training.device", "lab.sweep.store",
        "metrics.diagram", "metrics.bins", "validate", "torch_defaults", "lab.data.dataset")],
    ({"loss": losses.ScheduledFocal("5-3-2")}, "calibkit.losses"),
    ({"loss": lambda a, b: losses.brier(a, b)}, "calibkit.losses"),
    ({"loss": lambda a, b: calibkit.losses.brier(a, b)}, "calibkit.losses"),
    ({"loss": lambda a, b: calibkit.lab.models.mlp(2, 2)(a)}, "calibkit.lab.models.plain"),
    ({"loss": lambda a, b: metrics.ece(a, b)}, "calibkit.metrics.errors"),
    ({"loss": made("from calibkit import mixing as m\nit = lambda a, b: m.draw(1, 1)")},
     "calibkit.mixing"),
    ({"loss": made("it = {losses.brier, 1}.union")}, "calibkit.losses"),
    ({"loss": functools.partial(moved, shift=0.0)}, "calibkit.losses"),
    ({"mix": functools.partial(mixing.mixup, alpha=0.2)}, "calibkit.mixing"),
    ({"select": prioritization.MaxEntropy(0.5)}, "calibkit.prioritization"),
    ({"augment": shifted}, "calibkit.corruptions"),
    ({"augment": shifted}, "calibkit.corruptions.noise"),
    ({"augment": shifted}, "calibkit.augmentation"),
    ({"network": Deep}, "calibkit.lab.models.plain"),
    ({"network": lambda: models.vit(1, 10, size=8)}, "calibkit.lab.models.patches"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "name"), REACHED)
def test_an_edit_of_what_a_training_reaches_moves_its_key(monkeypatch, options, name):
    before = key(**options)
    monkeypatch.setitem(module.LOADED, name, module.LOADED[name] + b"\nEDITED = 1\n")
    assert key(**options) not in (None, before)


def test_an_edit_of_what_no_training_reaches_moves_no_key(monkeypatch):
    used = [{}, {"loss": losses.brier}, {"augment": shifted}, {"network": Deep}]
    before = [key(**options) for options in used]
    for name in ("metrics", "metrics.errors", "metrics.smooth", "recalibration", "conformal",
                 "theory", "lab.translation", "lab.sweep.grid", "adapters"):  # fmt: skip
        edit = module.LOADED[f"calibkit.{name}"] + b"\nEDITED = 1\n"
        monkeypatch.setitem(module.LOADED, f"calibkit.{name}", edit)
    assert [key(**options) for options in used] == before
    assert not any(name.split(".")[1:2] in (["auditing"], ["pictures"]) for name in LOADED)


# --- elsewhere -----------------------------------------------------------------------------------
