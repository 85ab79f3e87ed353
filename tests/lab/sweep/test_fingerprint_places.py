"""Keys elsewhere: another process, a kernel, a worker, a changed package, what the lessons do."""

import builtins
import contextlib
import functools
import importlib
import os
import platform
import shutil
import sys
from pathlib import Path

import nbformat
import numpy as np
import pytest
import torch
from nbclient import NotebookClient
from torch import nn
from torch.nn import functional

from calibkit import losses
from calibkit.lab import data, models, sweep, training
from calibkit.lab.sweep import fingerprint
from calibkit.lab.sweep.contents import Fingerprint
from calibkit.lab.training import Recipe, schedules

CPU = torch.device("cpu")
CUDNN, MKLDNN = torch.backends.cudnn, torch.backends.mkldnn

LESSONS = """
import functools, math
from dataclasses import dataclass
from functools import cache, partial
import torch
from torch import nn
from torch.nn.functional import cross_entropy
from calibkit import augmentation, losses, mixing, prioritization
from calibkit.lab import data, models, training
from calibkit.lab.sweep import fingerprint
import helpers

split = cache(lambda seed: data.noisy_digits(40, seed=seed, test=20, calibration=10))
width = 8

def shift(images, generator):
    return augmentation.crop_flip(images, padding=1, flip=False, generator=generator)

def fresh_noise(images, generator):
    return images + 0.4 * torch.randn(images.shape, generator=generator, device=images.device)

def own_labels(inputs, labels, *, classes, alpha, generator):
    drawn = mixing.draw(len(inputs), alpha, generator=generator, device=inputs.device)
    larger = torch.maximum(drawn.lam, 1 - drawn.lam)
    return inputs, mixing.Mix(larger, drawn.partner).soft_labels(labels, classes)

@dataclass(frozen=True)
class Penalty:
    weight: float = 0.1
    kinds: frozenset = frozenset({"entropy", "norm", "gap"})
    def __call__(self, logits, labels):
        return cross_entropy(logits, labels) + self.weight * logits.square().mean()

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(64, 10)
    def forward(self, x):
        return self.head(x.flatten(1))

def network():
    return models.mlp(64, 10, width=width)

changes = [
    {}, {"epochs": 3, "schedule": "cosine"}, {"loss": partial(cross_entropy, label_smoothing=0.1)},
    {"loss": nn.CrossEntropyLoss(label_smoothing=0.1)}, {"loss": losses.ScheduledFocal("5-3-2")},
    {"loss": partial(losses.focal, gamma=2.0)}, {"loss": partial(losses.label_smoothing, alpha=.1)},
    {"loss": partial(losses.confidence_penalty, weight=0.1)}, {"loss": losses.brier},
    {"loss": Penalty()}, {"loss": lambda a, b: cross_entropy(a, b) if b in {"x", "y"} else a},
    {"mix": partial(mixing.mixup, alpha=0.2)}, {"mix": partial(own_labels, alpha=0.2)},
    {"augment": shift},
    {"augment": lambda x, generator: shift(fresh_noise(x, generator), generator)},
    {"select": prioritization.MaxEntropy(share=0.5)}, {"watch": {"test": split(0).test[:5]}},
    {"augment": augmentation.crop_flip, "keep": ()}, {"seed": 3},
    {"loss": helpers.loss}, {"loss": lambda a, b: helpers.loss(a, b) * 2},
]
nets = [
    network, lambda: models.mlp(64, 10, depth=3, width=width), partial(models.cnn, 1, 10, width=8),
    partial(models.lenet5, 1, 10, size=16), lambda: models.cnn(1, 10, norm="batch"), Net,
]
trials = [training.trial(network, split(0).train, {"test": split(0).test}, **c) for c in changes]
trials += [training.trial(net, split(0).train, {"test": split(0).test}) for net in nets[1:]]
print("\\n".join(map(str, fingerprint.keys(trials, torch.device("cpu")))))
"""


HELPERS = "G = 1.0\ndef loss(a, b):\n    return a.sum() * 0 + G\n"


def key(**options):
    train = data.noisy_digits(40, seed=0, test=20, calibration=10).train
    one = training.trial(lambda: models.mlp(64, 10, width=8), train, **options)
    return fingerprint.keys([one], CPU)[0]


@pytest.fixture
def helpers(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "helpers.py").write_text(HELPERS, encoding="utf-8")
    sys.modules.pop("helpers", None)
    yield importlib.import_module("helpers")
    sys.modules.pop("helpers", None)


def test_an_own_module_counts_as_loaded_and_as_on_disk(helpers):
    base = key(loss=helpers.loss)
    assert key(loss=lambda a, b: helpers.loss(a, b)) not in (None, base)
    helpers.G = 2.0
    assert key(loss=helpers.loss) not in (None, base)
    helpers.G = 1.0
    assert key(loss=helpers.loss) == base
    path = Path(helpers.__file__)
    path.write_text(path.read_text(encoding="utf-8").replace("* 0", "* 1"), encoding="utf-8")
    on_disk = key(loss=helpers.loss)
    assert on_disk not in (None, base)
    importlib.reload(helpers)
    assert key(loss=helpers.loss) not in (None, base, on_disk)


def test_what_a_loss_remembers_is_not_kept(tmp_path):
    class Counting:
        calls = 0

        def __call__(self, logits, labels):
            self.calls += 1
            return torch.nn.functional.cross_entropy(logits, labels) * self.calls

    loss, train = Counting(), data.noisy_digits(40, seed=0, test=20, calibration=10).train

    def recipe(seed):
        network = lambda: models.mlp(64, 10, width=4)  # noqa: E731
        return training.trial(network, train, loss=loss, seed=seed, epochs=1)

    sweep.run(recipe, {"seed": [0, 1]}, cache=tmp_path, device="cpu", progress=False, jobs=1)
    assert not list(tmp_path.glob("*/*.run"))


KERNEL = """
import torch
from torch import nn
from torch.nn import functional as F
from calibkit.lab import data, models, sweep, training
from calibkit.lab.sweep import fingerprint, placement
train = data.noisy_digits(40, seed=0, test=20, calibration=10).train
def trial(seed=0, loss=F.cross_entropy, net=lambda: models.mlp(64, 10, width=8)):
    return training.trial(net, train, loss=loss, seed=seed, epochs=1)
def key(**options):
    print(fingerprint.keys([trial(**options)], torch.device("cpu"))[0])
"""
CELLS = [
    "class L:\n    g = {}\n    def __call__(self, a, b): return F.cross_entropy(a, b) * self.g\n"
    "key(loss=L())",
    "g = {}\ndef h(a): return a * g\ndef loss(a, b): return h(F.cross_entropy(a, b))\n"
    "key(loss=loss)",
    "class N(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.head, self.g = nn.Linear(64, 10), {}\n"
    "    def forward(self, x): return self.head(x.flatten(1)) * self.g\nkey(net=N)",
]  # fmt: skip
SWEEP = """
trained, inner = [], placement.train_unit
placement.train_unit = lambda trials, device: (trained.extend(trials), inner(trials, device))[1]
grid = [dict(seed=s, loss=o, net=n) for s in (0, 1) for o in (L(), loss) for n in (N, lambda: N())]
table = sweep.run(trial, grid, cache={folder!r}, device="cpu", progress=False, jobs=1).table
print(len(trained), table.train_loss.tolist())
"""


def said(cell):
    """All that it printed, in however many parts it arrived."""
    return "".join(part.text for part in cell.outputs if part.name == "stdout")


@pytest.fixture(scope="module")
def two_kernels(tmp_path_factory):
    """What each cell prints in a kernel, and in one that is started anew in the same folder."""
    folder = tmp_path_factory.mktemp("kernels")
    cells = [KERNEL, *(cell.format(g) for cell in CELLS for g in (1, 2, 1))]
    cells += [SWEEP.format(folder=str(folder / "cache")), LESSONS]
    found = []
    for seed, remark in ("1", ""), ("2", "# a remark\n"):
        (folder / "helpers.py").write_text(HELPERS + remark, encoding="utf-8")
        path = os.pathsep.join([str(folder), str(Path(__file__).parents[3])])
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": seed}
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        client = NotebookClient(book, timeout=None, resources={"metadata": {"path": folder}})
        client.execute(env=environment)
        found.append([said(cell) for cell in book.cells[1:]])
    return found


def test_a_kernel_tells_edits_apart_and_a_second_one_finds_them_again(two_kernels):
    first, second = two_kernels
    for one, two, again in (first[:3], first[3:6], first[6:9]):
        assert one == again != two
        assert "None" not in one + two
    assert second[:9] == first[:9]


def test_a_second_kernel_finds_the_runs_of_the_first(two_kernels):
    (trained, numbers), (again, found) = (cells[9].split(maxsplit=1) for cells in two_kernels)
    assert (trained, again) == ("8", "0")
    assert numbers == found


def test_all_that_lessons_do_is_found_again_in_another_kernel(two_kernels):
    keys, again = (cells[10].split() for cells in two_kernels)
    assert keys == again
    assert "None" not in keys
    assert len(set(keys)) == len(keys) == 26


FOLDER = Path(fingerprint.__file__).parent
MODULES = sorted(str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.py"))


@pytest.fixture
def package_copy(tmp_path, monkeypatch):
    shutil.copytree(FOLDER, tmp_path / "calibkit", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(fingerprint, "HERE", tmp_path / "calibkit")
    monkeypatch.setattr(fingerprint, "_loaded", lambda read, name: name)
    return tmp_path / "calibkit"


def test_a_change_of_any_module_moves_the_key_but_of_those_that_present(package_copy):
    before, moved = fingerprint.package(), set()
    for name in MODULES:
        path = package_copy / name
        text = path.read_text(encoding="utf-8")
        path.write_text(text + "\n# a remark\n", encoding="utf-8")
        assert fingerprint.package() == before, name
        path.write_text(text + "\nchanged = 1\n", encoding="utf-8")
        moved |= {name} if fingerprint.package() != before else set()
        path.write_text(text, encoding="utf-8")
    stayed = {Path(name).parts[0].removesuffix(".py") for name in set(MODULES) - moved}
    assert stayed == {
        *("__main__", "alt_text", "auditing", "check", "checkout", "claims", "classroom", "course"),
        *("doctor", "experiments", "explorers", "lab", "ledger", "notebook_runner", "pages"),
        *("palette", "plots", "site"),
    }
    assert {"metrics/top.py", "corruptions/weather.py", "losses.py", "training/loop.py"} <= moved


def test_a_new_module_and_one_that_is_broken_count_too(package_copy):
    before = fingerprint.package()
    (package_copy / "new.py").write_text("x = 1", encoding="utf-8")
    new = fingerprint.package()
    (package_copy / "new.py").write_text("x = ", encoding="utf-8")
    assert len({before, new, fingerprint.package()}) == 3


def test_a_module_counts_by_names_too_and_by_kind_where_it_holds_what_cannot_be_told(monkeypatch):
    def loaded():
        return fingerprint._loaded(Fingerprint(whole=True), "calibkit.losses")

    found = [loaded()]
    for name, value in [
        ("ZERO", 0),
        ("ZEROS", 0),  # in the same place of the alphabet
        ("zero", torch.Generator()),
        ("zero", iter([])),
    ]:
        with monkeypatch.context() as patch:
            patch.setattr(losses, name, value, raising=False)
            found.append(loaded())
    assert len(set(found)) == 5
    assert loaded() == found[0]
    assert fingerprint._loaded(Fingerprint(whole=True), "calibkit.no_such") == "not loaded"


def older(function):
    """Its code as from another version of the file, which was loaded before the file changed."""
    return function.__code__.replace(co_consts=(*function.__code__.co_consts, "another"))


@pytest.mark.parametrize(
    ("owner", "name", "value"),
    [
        (losses, "LOG2", 0.5),
        (losses.focal, "__code__", older(losses.focal)),
        (losses.ScheduledFocal.at, "__code__", older(losses.ScheduledFocal.at)),
        (models.Classifier.forward, "__code__", older(models.Classifier.forward)),
        (losses, "focal", losses.brier),
        (losses, "focal", lambda a, b: a),
        (losses.focal, "__kwdefaults__", {"class_weights": None, "reduction": "sum"}),
        (losses.ScheduledFocal, "at", lambda self, epoch, epochs: losses.brier),
        (schedules, "rate", lambda recipe, done: 0.1),
        (Recipe, "momentum", 0.8),
        (models.Classifier, "forward", lambda self, x: x),
        (fingerprint, "FORMAT", 1),
    ],
)
def test_what_somebody_puts_into_a_loaded_package_counts(monkeypatch, owner, name, value):
    before = key()
    monkeypatch.setattr(owner, name, value)
    assert key() != before
    monkeypatch.undo()
    assert key() == before


def test_versions_and_the_kind_of_device_count(monkeypatch):
    train = data.noisy_digits(40, seed=0, test=20, calibration=10).train
    one = training.trial(functools.partial(models.mlp, 64, 10, width=8), train)
    found = [fingerprint.keys([one], torch.device(kind))[0] for kind in ("cpu", "cuda")]
    monkeypatch.setattr(platform, "python_version", lambda: "0")
    found += fingerprint.keys([one], CPU)
    monkeypatch.undo()
    monkeypatch.setattr(np, "__version__", "0")
    found += fingerprint.keys([one], CPU)
    assert len({None, *found}) == 5


@pytest.mark.parametrize(
    "name", ["contents", "fingerprint", "origins", "placement", "store", "sweep", "sweep_results"]
)
def test_modules_that_steer_count_as_they_were_loaded_and_may_hold_counters(monkeypatch, name):
    before = fingerprint.package()
    monkeypatch.setattr(importlib.import_module(f"calibkit.{name}"), "counter", 1, raising=False)
    assert fingerprint.package() == before
    monkeypatch.setitem(fingerprint.STARTED, name, "another = 1")
    assert fingerprint.package() != before


def own(*values):
    return values[0].sum()


@functools.cache
def read_once():
    return fingerprint.package()


@pytest.fixture
def one_package():
    """What changes here is torch; the package stays."""
    same = read_once()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fingerprint, "package", lambda: same)
        yield


@pytest.mark.usefixtures("one_package")
@pytest.mark.parametrize(
    ("owner", "name", "value"),
    [
        (functional, "cross_entropy", own),
        (functional, "cross_entropy", functional.nll_loss),
        (functional, "cross_entropy", functools.partial(functional.cross_entropy, reduction="sum")),
        (functional, "cross_entropy", losses.ScheduledFocal("5-3-1")),
        (functional, "relu", torch.sigmoid),
        (torch, "relu", torch.sigmoid),
        (torch, "sigmoid", own),
        (torch.Tensor, "norm", own),
        (torch.Tensor, "relu", torch.Tensor.sigmoid),
        (nn.Linear, "forward", own),
        (nn.Linear, "forward", nn.Conv2d.forward),
        (nn.Linear, "forward", staticmethod(own)),
        (nn.Linear, "bias", property(own)),
        (nn.Linear, "scale", 0.5),
        (nn.Module, "__call__", own),
        (nn.Module, "dump_patches", True),
        (nn.init, "uniform_", own),
        (nn.init, "kaiming_uniform_", nn.init.kaiming_normal_),
        (torch.optim, "SGD", torch.optim.Adam),
        (torch.optim.SGD, "step", torch.optim.Adam.step),
        (torch.optim.Adam, "step", own),
        (torch.optim.AdamW, "step", own),
        (torch.optim.Optimizer, "zero_grad", own),
        (torch.backends.cudnn, "deterministic", True),
        (torch.backends.cudnn, "benchmark", True),
        (torch, "__version__", "0"),
        (builtins, "sum", own),
    ],
)
def test_what_somebody_puts_into_torch_counts(monkeypatch, owner, name, value):
    before = key()
    monkeypatch.setattr(owner, name, value, raising=False)
    assert key() not in (None, before)
    monkeypatch.undo()
    assert key() == before


@contextlib.contextmanager
def autocasting(device, dtype):
    before = torch.is_autocast_enabled(device), torch.get_autocast_dtype(device)
    torch.set_autocast_enabled(device, True)
    torch.set_autocast_dtype(device, dtype)
    try:
        yield
    finally:
        torch.set_autocast_enabled(device, before[0])
        torch.set_autocast_dtype(device, before[1])


@contextlib.contextmanager
def computing(part, precision):
    before = part.fp32_precision
    part.fp32_precision = precision
    try:
        yield
    finally:
        part.fp32_precision = before


CONTEXTS = [
    functools.partial(computing, torch.backends.cuda.matmul, "tf32"),
    *(functools.partial(computing, part, "ieee") for part in (CUDNN.conv, CUDNN.rnn)),
    *(functools.partial(computing, part, "bf16") for part in (MKLDNN.conv, MKLDNN.rnn)),
    functools.partial(computing, MKLDNN.matmul, "bf16"),
    *(torch.no_grad, torch.inference_mode, functools.partial(torch.device, "meta")),
    *(functools.partial(autocasting, d, torch.bfloat16) for d in ("cpu", "cuda", "mps")),
    *(functools.partial(autocasting, d, torch.float16) for d in ("cpu", "cuda", "mps")),
]


def test_what_is_set_around_a_sweep_counts():
    found = [fingerprint._torch()]
    for context in CONTEXTS:
        with context():
            found.append(fingerprint._torch())
    assert len(set(found)) == len(found) == 16
    assert fingerprint._torch() == found[0]


def test_reading_what_decides_a_training_draws_nothing():
    torch.manual_seed(4)
    before = torch.get_rng_state()
    key()
    assert torch.equal(torch.get_rng_state(), before)


def test_a_network_that_sets_something_for_all_of_torch_is_not_cached():
    def network():
        torch.set_default_dtype(torch.float64)
        return models.mlp(64, 10, width=8)

    train = data.noisy_digits(40, seed=0, test=20, calibration=10).train
    try:
        with pytest.warns(UserWarning, match="changes what is set for all of torch"):
            assert fingerprint.keys([training.trial(network, train)] * 2, CPU) == [None, None]
    finally:
        torch.set_default_dtype(torch.float32)


def test_settings_of_torch_and_hooks_for_all_modules_count():
    found = [key()]
    torch.set_default_dtype(torch.float64)
    try:
        found.append(key())
    finally:
        torch.set_default_dtype(torch.float32)
    handle = torch.nn.modules.module.register_module_forward_hook(lambda m, i, o: o)
    try:
        found.append(key())
    finally:
        handle.remove()
    torch.use_deterministic_algorithms(True)
    try:
        found.append(key())
    finally:
        torch.use_deterministic_algorithms(False)
    assert len(set(found)) == 4
    assert key() == found[0]


def test_a_network_that_cannot_be_built_has_no_key_and_its_error_is_said():
    def network():
        raise OSError("no such weights")

    train = data.noisy_digits(40, seed=0, test=20, calibration=10).train
    with pytest.warns(UserWarning, match="OSError: no such weights"):
        assert fingerprint.keys([training.trial(network, train)], CPU) == [None]


def test_one_warning_names_all_that_could_not_be_told():
    train = data.noisy_digits(40, seed=0, test=20, calibration=10).train
    network = lambda: models.mlp(64, 10, width=8)  # noqa: E731
    generator, lines = torch.Generator(), iter([])
    bad = [lambda a, b: generator, lambda a, b: generator, lambda a, b: next(lines)]
    trials = [training.trial(network, train, loss=loss) for loss in (*bad, losses.brier)]
    with pytest.warns(UserWarning, match="3 of 4 trainings are not cached") as said:
        keys = fingerprint.keys(trials, CPU)
    assert [one is None for one in keys] == [True, True, True, False]
    assert len(said) == 1
    assert str(said[0].message).count("recipe.loss.generator holds a torch._C.Gen") == 1
    assert "lines holds a builtins.list_iterator" in str(said[0].message)
