"""The key of a result: a hash of all that decides it, by value; None where that cannot be told.

It holds versions, torch's settings, the kind of device, the bytes of the data, the network as built
under the seed with the random state that this leaves, and the task: functions, classes and the
user's own modules by value, installed ones by name and version, those of this package by name and
the source of all modules that theirs and the training loop's import. Not seen: files, the texts of
`eval`, memory that views share, a tensor's hooks and `.grad`, classes registered at an abstract
one, what replaces built-ins or parts of torch and of this package.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import pickle
import re
import sys
import types
import warnings
import weakref
from collections.abc import Iterable, Iterator, Sequence
from dis import opmap
from pathlib import Path
from typing import Any

import numpy as np
import torch
from cloudpickle import Pickler, cloudpickle
from torch import Tensor, nn
from torch.utils.weak import WeakIdKeyDictionary

from calibkit.lab.training import Trial
from calibkit.lab.training.device import torch_settings

HERE = Path(__file__).resolve().parents[2]
PRESENTING = {"__main__", "auditing", "course", "doctor", "pictures"}  # by value, if at all
LOADED = {  # by name, as it was when this was imported: what is edited later counts after a restart
    ".".join(path.relative_to(HERE.parent).with_suffix("").parts).removesuffix(".__init__"): (
        path.read_bytes()
    )
    for path in HERE.rglob("*.py")
    if path.relative_to(HERE).parts[0].removesuffix(".py") not in PRESENTING
}
ALWAYS = ("calibkit.lab.sweep.tasks", "calibkit.lab.training")  # what computes and keeps a result
OUTSIDE = re.compile(r"(random|time|datetime|secrets|numpy\.random)\b|os\.(environ|getenv|urandom)")
PurePickler: Any = pickle._Pickler  # the one that is written in Python
CODE = (  # all but where it stands
    *("co_code", "co_consts", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_flags"),
    *("co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_exceptiontable"),
)


def keys(
    tasks: Sequence[Any], device: torch.device, *, start_only: bool = False
) -> list[str | None]:
    """Per task the key of its result; None, and one warning for all, where it cannot be told.

    start_only: what the keys begin with, before a `Trial`'s network is built; without a warning.
    """
    around, read = (device.type, torch_settings()), WeakIdKeyDictionary()
    told: list[str | None] = []
    reasons: dict[str, None] = {}
    for task in tasks:
        is_trial = isinstance(task, Trial)
        try:
            parts = task.parts() if is_trial else {"task": task}
            key = _with_source(read, around=around, **parts)
            if is_trial and not start_only:
                key += _with_source(None, network=task.untrained())
            told.append(key)
        except Exception as error:  # of whatever was read; a task that fails says so itself
            told.append(None)
            reasons[str(error)] = None
    if reasons and not start_only:
        warnings.warn(
            f"{told.count(None)} of {len(told)} results are not kept, as it cannot be told what "
            f"decides them: {'; '.join(reasons)}",
            stacklevel=3,
        )
    return told


def _with_source(read: WeakIdKeyDictionary | None, /, **values: Any) -> str:
    """32 digits for the values and the source of what they use of this package."""
    met: set[str] = set()
    return digest(values=digest(read, met, **values), source=source(met))[:32]


def source(modules: Iterable[str] = ()) -> str:
    """Of `ALWAYS`, these modules and all that they import, without comments; and the versions."""
    reached: dict[str, str] = {}
    left = [*ALWAYS, *modules]
    while left:
        name = left.pop()
        while name and name not in LOADED:  # from a module what is none
            name = name.rpartition(".")[0]
        if name and name not in reached:
            reached[name], imported = _read(LOADED[name])
            left += imported
    versions = sys.version, torch.__version__, np.__version__
    return hashlib.sha256(str((sorted(reached.items()), versions)).encode()).hexdigest()


@functools.cache
def _read(text: bytes) -> tuple[str, list[str]]:
    """Of a module a hash of its code without comments and docstrings, and what it may import."""
    imported: list[str] = []
    nodes: list[ast.AST] = [ast.parse(text)]
    for node in nodes:  # and what is within, which joins them
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            nodes += node.orelse
            continue
        if isinstance(node, ast.Import):
            imported += [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            imported += [f"{node.module}.{one.name}" for one in node.names]
        nodes += ast.iter_child_nodes(node)
    return digest(code=compile(text, "", "exec", optimize=2)), imported


def digest(
    read: WeakIdKeyDictionary | None = None, met: set[str] | None = None, /, **values: Any
) -> str:
    """64 hexadecimal digits, equal for what is equal in kind, content and code.

    read: the numbers of tensors that were read before. met: gets the modules that count by name.

    Raises TypeError for what it cannot tell.

    >>> digest(loss=lambda x: x + 1) == digest(loss=lambda x: x + 1), digest(n=1) == digest(n=True)
    (True, False)
    """
    hasher = Hasher(WeakIdKeyDictionary() if read is None else read, set() if met is None else met)
    for name, value in values.items():
        try:
            hasher.dump((name, value))
        except Exception as error:
            raise TypeError(f"{name}: {error}") from None
    return hasher.hash.hexdigest()


class Hasher(PurePickler):
    """Pickles by value into a hash; whether texts, bytes and tuples are shared does not count."""

    def __init__(self, read: WeakIdKeyDictionary, met: set[str]) -> None:
        self.hash, self.read, self.met = hashlib.sha256(), read, met
        super().__init__(types.SimpleNamespace(write=self.hash.update), protocol=4)

    def memoize(self, value: Any) -> None:
        if type(value) not in (str, bytes, tuple):
            super().memoize(value)

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, type | types.FunctionType):
            if not _own(value.__module__) and cloudpickle._should_pickle_by_reference(value):
                self.met.add(value.__module__)
                return value.__qualname__
            return _class(value) if isinstance(value, type) else _function(value, self.met)
        if isinstance(value, Tensor):
            if value not in self.read:
                numbers = value.detach().cpu().reshape(-1).view(torch.uint8).numpy().data
                self.read[value] = hashlib.sha256(numbers).hexdigest()
            about = value.dtype, value.shape, value.stride(), value.device, value.requires_grad
            return type(value), (self.read[value], str(about), vars(value))
        if isinstance(value, nn.Module):  # the numbers of hooks count up through the process
            held = {n: [*v.values()] if "_hooks" in n else v for n, v in vars(value).items()}
            return type(value), (), held
        if isinstance(value, set | frozenset):  # whose order differs from process to process
            return type(value), (sorted(digest(None, self.met, member=one) for one in value),)
        if isinstance(value, types.ModuleType) and not _own(value.__name__):
            self.met.add(value.__name__)
            return str, (value.__name__,)
        if isinstance(value, Iterator | torch.Generator | types.ModuleType):
            raise TypeError(f"holds a {type(value).__module__}.{type(value).__qualname__}")
        return NotImplemented

    def save_global(self, value: Any, name: str) -> None:
        """What is installed counts by name and version."""
        module = getattr(value, "__module__", None) or type(value).__module__
        if _own(module):
            raise TypeError(f"holds a {type(value).__module__}.{type(value).__qualname__}")
        _demand_pure(f"{module}.{name}")
        self.met.add(module)
        version = getattr(sys.modules.get(module.partition(".")[0]), "__version__", "")
        self.save((module, name, str(version)))

    dispatch_table = {  # noqa: RUF012
        **Pickler.dispatch_table,
        types.CodeType: lambda code: (tuple, ([getattr(code, part) for part in CODE],)),
        # its own pickle changes when somebody asks for its dictionary
        functools.partial: lambda p: (functools.partial, (p.func, p.args, p.keywords, vars(p))),
        weakref.ref: lambda reference: (weakref.ref, (reference(),)),
    }


def _class(kind: type) -> tuple:
    """A skeleton first, as methods refer to their class; then what it holds, in a fixed order."""
    names = sorted(vars(kind).keys() - {"__dict__", "__weakref__", "_abc_impl", "_backward_cls"})
    held = {name: vars(kind)[name] for name in names}  # of Python's own what it can call
    held = {n: v for n, v in held.items() if n[:2] != "__" or callable(v) or hasattr(v, "__get__")}
    return type(kind), (kind.__qualname__, kind.__bases__), held


def _function(function: types.FunctionType, met: set[str]) -> tuple:
    """Its code, what it holds and, where it is the user's, the globals that it uses."""
    codes, space, used = [function.__code__], function.__globals__, {}
    for code in codes:  # and what is defined within, which joins them
        codes += [inner for inner in code.co_consts if isinstance(inner, types.CodeType)]
    if _own(space.get("__name__")):
        if any(opmap["IMPORT_NAME"] in code.co_code[::2] for code in codes):
            raise TypeError(f"imports inside {function.__qualname__}; import above it")
        attributes = sorted({name for code in codes for name in code.co_names})
        names = cloudpickle._extract_code_globals(codes[0])
        used = {name: _used(space[name], attributes, met) for name in names if name in space}
    held = function.__defaults__, function.__kwdefaults__, function.__closure__, vars(function)
    return type(function), (function.__qualname__, codes[0]), (held, used)


def _used(value: Any, attributes: Sequence[str], met: set[str]) -> Any:
    """A global; of a module its name and, where it is the user's, what the code names of it."""
    if not isinstance(value, types.ModuleType):
        return value
    for name in attributes:
        _demand_pure(f"{value.__name__}.{name}")
    start, parts = f"{value.__name__}.", {*attributes}
    met |= {
        n for n in LOADED if n.startswith(start) and parts.issuperset(n[len(start) :].split("."))
    }
    met.add(value.__name__)
    held = vars(value) if _own(value.__name__) else {}
    return value.__name__, {name: held[name] for name in attributes if name in held}


def _demand_pure(name: str) -> None:
    if OUTSIDE.match(name):
        raise TypeError(f"uses {name}, which depends on more than its arguments")


def _own(module: str | None) -> bool:
    """Whether a module is the user's, or one of this package that is not in `LOADED`."""
    top, *rest = (module or "__main__").split(".")
    if top == "__main__":  # a notebook's functions, though its launcher is installed
        return True
    if top == "calibkit":
        return not PRESENTING.isdisjoint(rest[:1])
    loaded = sys.modules.get(top)
    place = getattr(loaded, "__file__", None) or str(getattr(loaded, "__path__", ""))
    return top not in sys.stdlib_module_names and not re.search("(site|dist)-packages", place)
