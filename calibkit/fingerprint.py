"""One short text for all that decides a training; None where that cannot be told exactly.

A key is complete, or the training is not cached. Things are read by what they hold (attributes,
classes, code, the globals that the code reaches), never by what they print. Installed packages
count by their version, this package by its source and by what of it is loaded. Whatever is not of
a kind that can be told exactly (files, clocks, random generators, what a C type hides) is refused.
"""

from __future__ import annotations

import ast
import builtins
import collections
import contextlib
import dataclasses
import dis
import functools
import hashlib
import importlib
import importlib.metadata
import itertools
import platform
import re
import site
import sys
import sysconfig
import types
import typing
import warnings
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from calibkit.data import Dataset
from calibkit.training import Trial, process

FORMAT = 2  # of keys and of what is stored under them
HERE = Path(__file__).resolve().parent
PRESENTING = {  # what shows results, or grades and runs lessons, and decides no training
    *("__main__", "alt_text", "audit", "check", "claims", "course", "doctor", "explorers", "grade"),
    *("ledger", "pages", "palette", "plots", "runner", "site"),
}
STEERING = ("fingerprint", "outcomes", "scheduling", "store", "sweep")  # around a training
# as they were loaded: what stands in these modules is not read, as tests put counters there
STARTED = {name: (HERE / f"{name}.py").read_text() for name in STEERING}

ATOMS = {type(None), bool, int, float, complex, str, bytes, range, type(...), type(NotImplemented)}
ATOMS |= {torch.dtype, torch.device, torch.layout, torch.memory_format, torch.Size}
CONTAINERS = (collections.OrderedDict, collections.defaultdict, dict, list, tuple, set, frozenset)
BASES = (*CONTAINERS, int, float, complex, str, bytes)  # whose subclasses can be told
HIDING = (  # a class with one of these is made in C and may hold what no attribute shows
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
)
SLOTS = (types.MemberDescriptorType, types.GetSetDescriptorType, collections._tuplegetter)
NOT_HELD = {  # names of a class that Python makes for itself, some anew in each process
    *("__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__hash__"),
    "__annotations__",
    *("__annotate__", "__annotate_func__", "__annotations_cache__", "__firstlineno__"),
    *("__static_attributes__", "__slotnames__", "_abc_impl", "__abstractmethods__"),
    *("__parameters__", "__orig_bases__", "__dataclass_params__", "_backward_cls"),
}
GLOBALS = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
CLOSURE = {"LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"}
ATTRIBUTE = {"LOAD_ATTR", "LOAD_METHOD"}

# What depends on more than its arguments: on files, the clock, the process, unseeded randomness.
PURE = {  # of the standard library, these alone are told by the version of Python
    *("__future__", "_abc", "_collections", "_collections_abc", "_functools", "_operator", "abc"),
    *("bisect", "builtins", "cmath", "collections", "contextlib", "copy", "dataclasses", "enum"),
    *("fractions", "functools", "heapq", "itertools", "math", "numbers", "operator", "re"),
    *("string", "textwrap", "types", "typing", "warnings"),
}
IMPURE = re.compile(r"(numpy\.random|torch\.(hub|serialization|distributed)|scipy\.io|PIL)\b")
READING = re.compile(r"(load|read|open|from_?file|gen_?from|im(read|open)|memmap|seed)[a-z_]*")
BUILTINS = {"eval", "exec", "compile", "input", "__import__", "globals", "locals", "vars", "id"}
BUILTINS |= {"hash", "breakpoint", "delattr", "setattr"}


class Untellable(TypeError):
    """Something that may decide a training and cannot be told exactly; `path` leads to it."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.path: list[str] = []

    def __str__(self) -> str:
        return f"{'.'.join(self.path)} {super().__str__()}".strip()


def keys(trials: Sequence[Trial], device: torch.device) -> list[str | None]:
    """Per trial the key of its result; None, and one warning for all, where none is complete.

    The network counts as it is built under the trial's seed, with the random state that this
    leaves; all other fields by what they hold. The warning names what could not be told.
    """
    read, found, unknown = Fingerprint(), [], {}
    put = list(_put_into_torch())
    around = _hash([str(FORMAT), device.type, package(), *_torch()])
    for trial in trials:
        try:
            found.append(_own(read, trial) + _hash([around, read(*put)])[:32])
        except (Untellable, RecursionError) as error:
            unknown[str(error)] = None
            found.append(None)
    if unknown:
        warnings.warn(
            f"{found.count(None)} of {len(found)} trainings are not cached, as it cannot be told "
            f"what decides them: {'; '.join(unknown)}",
            stacklevel=3,
        )
    return found


def still(key: str, trial: Trial) -> bool:
    """Whether a trial is after its training what it was before: what moves cannot be kept."""
    try:
        return key.startswith(_own(Fingerprint(), trial))
    except (Untellable, RecursionError):
        return False


def _own(read: Fingerprint, trial: Trial) -> str:
    return _hash(_parts(read, trial))[:32]


def _parts(read: Fingerprint, trial: Trial) -> Iterable[str]:
    for field in dataclasses.fields(trial):
        value = getattr(trial, field.name)
        try:
            text = _network(read, trial) if field.name == "model" else read(value)
        except Untellable as error:
            error.path.insert(0, field.name)
            raise
        yield f"{field.name} {text}"


def _network(read: Fingerprint, trial: Trial) -> str:
    """The network as built; its function must be told too, as it is called again to train."""
    before = read(trial.model)
    with process.own_randomness(torch.device("cpu")):
        network, after = trial.network(), torch.get_rng_state()
    if read(trial.model) != before:
        raise Untellable("builds networks and changes what it holds")
    return read(network, after)


class Fingerprint:
    """Reads values; equal texts only for what is equal in kind, content and sharing.

    Mappings and sets passed here are told whatever their order; a dict that a function or an
    object holds counts with its order, which its code may follow.

    Raises Untellable, a TypeError, for what cannot be told exactly.

    >>> one, two = Fingerprint(), Fingerprint()
    >>> one(lambda x: x + 1) == two(lambda x: x + 1), one(lambda x: x + 1) == one(lambda x: x + 2)
    (True, False)
    """

    def __init__(self, whole: bool = False) -> None:
        self._whole = whole  # this package's functions by their code, not by name
        self._data: dict[int, tuple[Tensor, str]] = {}  # holds the tensor, so its id stays its own
        self._sources: dict[str, str] = {}
        self._slots = functools.cache(_slots)
        self._replaced = functools.cache(_replaced)
        self._readers = self._table()

    def __call__(self, *values: object) -> str:
        """64 hexadecimal digits for the values together."""
        self._met: dict[int, tuple[int, object]] = {}
        self._memory: dict[int, int] = {}
        self._inside = 0
        return _hash(self._text(value) for value in values)

    def _table(self) -> dict[type, Callable[..., str]]:
        """Kinds that are read in a way of their own; all but functions' parts are met by number."""
        return {
            list: self._row,
            dict: self._mapping,
            collections.OrderedDict: lambda value: self._row(value.items()),
            collections.defaultdict: lambda v: self._row([v.default_factory, *v.items()]),
            collections.deque: lambda value: self._row([value.maxlen, *value]),
            types.MappingProxyType: self._mapping,
            types.SimpleNamespace: lambda value: self._named(vars(value)),
            functools.partial: self._partial,
            functools._lru_cache_wrapper: self._cached,
            functools.cached_property: lambda value: self._text(value.func),
            property: lambda value: self._row([value.fget, value.fset, value.fdel]),
            staticmethod: lambda value: self._text(value.__func__),
            classmethod: lambda value: self._text(value.__func__),
            types.FunctionType: self._function,
            weakref.ref: lambda value: self._text(value()),
            np.ndarray: self._array,
            Tensor: self._tensor,
            nn.Parameter: self._tensor,
            Dataset: self._dataset,
        }

    def _text(self, value: object) -> str:
        kind = type(value)
        name = f"{kind.__module__}.{kind.__qualname__}"
        if kind in ATOMS:
            return f"{name} {value!r}"
        if kind is tuple:
            return f"tuple {self._row(value)}"
        if kind in (set, frozenset):
            return f"{name} {self._unordered(value)}"
        if kind is types.MethodType:
            return f"method {self._row([value.__func__, value.__self__])}"
        if issubclass(kind, np.generic):
            return f"{name} {self._array(np.asarray(value))}"
        if id(value) in self._met:  # shared and cyclic things are told from equal copies
            return f"again {self._met[id(value)][0]}"
        self._met[id(value)] = len(self._met), value
        if issubclass(kind, type):
            return f"class {self._class(value)}"
        if kind in self._readers:
            return f"{name} {self._readers[kind](value)}"
        if _plain(kind):
            return f"object {self._object(value)}"
        return f"{name} {self._reference(value)}"

    # --- containers -----------------------------------------------------------------------------

    def _row(self, values: Iterable) -> str:
        return _hash([self._text(value) for value in values])

    def _unordered(self, values: Iterable) -> str:
        """Of texts alone: what is met by number would depend on the order."""
        met = len(self._met)
        texts = sorted(self._text(value) for value in values)
        if len(self._met) > met:
            raise Untellable("is a set of things without an order")
        return _hash(texts)

    def _mapping(self, values: Mapping) -> str:
        if self._inside or not all(type(key) is str for key in values):
            return self._row(values.items())
        return self._named(values)

    def _named(self, values: Mapping[str, object]) -> str:
        """Values by name, whatever their order; the name is noted where one cannot be told."""
        parts = []
        for name in sorted(values, key=str):
            try:
                parts += [f"{name!r}", self._text(values[name])]
            except Untellable as error:
                error.path.insert(0, str(name))
                raise
        return _hash(parts)

    def _held(self, values: Mapping[str, object]) -> str:
        """As `_named`, inside of a function or an object."""
        self._inside += 1
        try:
            return self._named(values)
        finally:
            self._inside -= 1

    # --- numbers --------------------------------------------------------------------------------

    def _dataset(self, dataset: Dataset) -> str:
        """What a training sees: no posterior, no names of classes, no sharing of memory."""
        fields = {f.name for f in dataclasses.fields(dataset)} - {"classes", "posterior", "source"}
        read = {name: getattr(dataset, name) for name in fields}
        texts = [f"{n} {self._content(v)}" for n, v in sorted(read.items())]
        return _hash([*texts, str(dataset.num_classes)])

    def _content(self, tensor: Tensor) -> str:
        if id(tensor) not in self._data:
            self._data[id(tensor)] = tensor, _bytes(tensor)
        return self._data[id(tensor)][1]

    def _tensor(self, tensor: Tensor) -> str:
        if tensor.is_nested or tensor.layout != torch.strided or tensor.is_meta:
            raise Untellable("is a tensor without plain memory")
        if tensor.is_quantized or not tensor.is_leaf:
            raise Untellable("is a tensor that other tensors, or scales, stand behind")
        where = tensor.untyped_storage().data_ptr() or -1 - len(self._memory)
        shared = self._memory.setdefault(where, len(self._memory))
        hooks = [tensor._backward_hooks, getattr(tensor, "_post_accumulate_grad_hooks", None)]
        held = [list((found or {}).values()) for found in hooks]
        place = (tensor.device.type, tensor.stride(), tensor.storage_offset(), shared)
        about = [str((place, tensor.requires_grad)), _bytes(tensor)]
        return _hash([*about, self._held(vars(tensor)), self._held({"hooks": held})])

    def _array(self, array: np.ndarray) -> str:
        if array.dtype.hasobject:
            raise Untellable("is an array of objects")
        body = np.ascontiguousarray(array).tobytes()
        return f"{array.dtype.descr} {array.shape} {array.strides} {_digest(body)}"

    # --- code -----------------------------------------------------------------------------------

    def _function(self, function: types.FunctionType) -> str:
        code, module = function.__code__, function.__globals__.get("__name__")
        home = _home_of(code, function.__globals__)
        named = _found(function.__module__, function.__qualname__) is function
        cells = _cells(function)
        held = {
            "defaults": function.__defaults__,
            "keyword defaults": function.__kwdefaults__,
            "attributes": vars(function),
            "closure": {n: v for n, v in cells.items() if not isinstance(v, types.ModuleType)},
        }
        if home == "own" or (home == "package" and self._whole):
            body = self._code(code, function.__doc__)
        else:
            name = f"{function.__module__}.{function.__qualname__}"
            body = f"{name} {_version(module)} {'' if named else self._code(code, None)}"
            if home == "installed":
                _demand_pure(module, function.__name__)
        if home == "own":
            held["reached"] = _reached(code, function.__globals__, cells)
            body += self._source(module, code.co_filename)
        return _hash([body, self._held(held.pop("reached", {})), self._held(held)])

    def _code(self, code: types.CodeType, documented: str | None) -> str:
        constants = list(code.co_consts)
        if documented is not None and constants[:1] == [documented]:
            constants.pop(0)
        texts = [self._code(c, None) if isinstance(c, types.CodeType) else self._text(c)
                 for c in constants]  # fmt: skip
        counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        return _hash(
            [code.co_code.hex(), code.co_exceptiontable.hex(), str((counts, names)), *texts]
        )

    def _source(self, module: str | None, file: str) -> str:
        """The file of an own module as it is on disk now, which a worker would load."""
        if module == "__main__" or file.startswith("<"):
            return ""
        if file not in self._sources:
            try:
                self._sources[file] = _bare(Path(file).read_text())
            except (OSError, UnicodeDecodeError):
                raise Untellable(f"comes from {file}, which cannot be read") from None
        return self._sources[file]

    def _partial(self, partial: functools.partial) -> str:
        parts = {"function": partial.func, "arguments": partial.args, "attributes": vars(partial)}
        return _hash([self._held(parts), self._held(partial.keywords)])

    def _cached(self, function) -> str:
        inner = function.__wrapped__
        if _home_of(inner.__code__, inner.__globals__) == "own":
            raise Untellable(f"calls {inner.__name__}, whose cache remembers earlier calls")
        return self._text(inner)

    # --- classes and objects --------------------------------------------------------------------

    def _class(self, kind: type) -> str:
        name = f"{kind.__module__}.{kind.__qualname__}"
        home = _home(kind.__module__)
        if _found(kind.__module__, kind.__qualname__) is kind and home != "own":
            if home == "installed":
                _demand_pure(kind.__module__, kind.__name__)
            if not (home == "package" and self._whole):
                return f"{name} {_version(kind.__module__)} {self._held(self._replaced(kind))}"
        held = {n: v for n, v in vars(kind).items() if n not in NOT_HELD and not _slot(v)}
        if dataclasses.is_dataclass(kind):
            fields = held.pop("__dataclass_fields__", {})
            held["fields"] = [(n, dict(f.metadata)) for n, f in fields.items()]
        bases = [base for base in kind.__mro__[1:] if base is not object]
        return _hash([name, self._row([type(kind), *bases]), self._held(held)])

    def _object(self, value: object) -> str:
        kind = type(value)
        held = dict(getattr(value, "__dict__", {}))
        if issubclass(kind, nn.Module):
            held = _without_handles(held)
        for name, slot in self._slots(kind):
            with contextlib.suppress(AttributeError):  # an empty slot
                held[f"slot {name}"] = slot.__get__(value)
        for base in BASES:
            if issubclass(kind, base):
                held["content"] = (
                    list(value.items()) if issubclass(kind, dict) else _as(base, value)
                )
                break
        return _hash([self._row([kind]), self._held(held)])

    def _reference(self, value: object) -> str:
        """What is made in C can be told if an installed package holds it under its own name."""
        module, owner = getattr(value, "__module__", None), getattr(value, "__self__", None)
        names = [getattr(value, name, None) for name in ("__qualname__", "__name__")]
        if isinstance(value, HIDING):
            return f"{self._text(value.__objclass__)} {value.__name__}"
        for name in names:
            known = isinstance(module, str) and isinstance(name, str) and _home(module) != "own"
            if known and _found(module, name) is value:
                _demand_pure(module, name)
                return f"{module}.{name} {_version(module)}"
        if isinstance(value, types.BuiltinFunctionType) and owner is not None:
            return f"{names[1]} {self._text(owner)}"  # a method of a list, a class
        if isinstance(value, types.ModuleType):
            raise Untellable(f"passes on the module {value.__name__}; name what is used of it")
        raise Untellable(f"holds a {type(value).__module__}.{type(value).__qualname__}")


# --- what code reaches ---------------------------------------------------------------------------


def _cells(function: types.FunctionType) -> dict[str, object]:
    found = {}
    names = function.__code__.co_freevars
    for name, cell in zip(names, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:
            found[name] = "an empty cell"
    return found


def _reached(code: types.CodeType, space: Mapping, cells: Mapping) -> dict[str, object]:
    """By dotted name what the code, and code inside it, takes from its globals and closure.

    Of a module only the attributes that the code names: `helpers.losses.mine`.
    """
    found: dict[str, object] = {}
    steps = [step for step in dis.get_instructions(code) if step.opname != "EXTENDED_ARG"]
    for i, step in enumerate(steps):
        name = step.argval
        if step.opname.startswith("IMPORT_"):
            raise Untellable(f"imports {name} inside {code.co_name}; import it above")
        if step.opname in CLOSURE and name in cells:
            value = cells[name]
        elif step.opname in GLOBALS and (name in space or hasattr(builtins, name)):
            value = space[name] if name in space else getattr(builtins, name)
        else:
            continue
        for attribute in itertools.takewhile(lambda s: s.opname in ATTRIBUTE, steps[i + 1 :]):
            if not isinstance(value, types.ModuleType):
                break
            name, value = f"{name}.{attribute.argval}", getattr(value, attribute.argval, None)
        found[name] = value
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            found |= _reached(inner, space, cells)
    return found


def _demand_pure(module: str, name: str) -> None:
    top = module.partition(".")[0]
    if top == "builtins":
        impure = name in BUILTINS
    elif top in sys.stdlib_module_names:
        impure = top not in PURE
    else:
        impure = IMPURE.match(module) or READING.fullmatch(name)
    if impure:
        raise Untellable(f"uses {module}.{name}, which depends on more than its arguments")


# --- classes -------------------------------------------------------------------------------------


def _plain(kind: type) -> bool:
    """Whether attributes, and what a built-in container holds, are all of its instances."""
    known = (object, typing.Generic, typing.Protocol, *BASES)
    rest = [c for c in kind.__mro__ if c not in known]
    made_in_c = (
        isinstance(v, HIDING) and v.__objclass__ is c for c in rest for v in vars(c).values()
    )
    return bool(rest) and not any(made_in_c)


def _slot(value: object) -> bool:
    return isinstance(value, SLOTS)


def _slots(kind: type) -> list[tuple[str, types.MemberDescriptorType]]:
    found = [item for c in kind.__mro__ for item in vars(c).items()]
    return [(n, slot) for n, slot in found if isinstance(slot, types.MemberDescriptorType)]


def _as(base: type, value: object) -> object:
    return base(base.__iter__(value)) if base in CONTAINERS else base.__getnewargs__(value)


def _replaced(kind: type) -> dict[str, object]:
    """Functions that somebody put into an installed class."""
    functions = {n: v for n, v in vars(kind).items() if isinstance(v, types.FunctionType)}
    return {n: f for n, f in functions.items() if _home_of(f.__code__, f.__globals__) == "own"}


def _without_handles(held: Mapping[str, object]) -> dict[str, object]:
    """Hooks in their order instead of by their handles, which count up through the process."""
    hooks = {n: v for n, v in held.items() if n.endswith(("hooks", "_kwargs", "_called"))}
    hooks = {name: found for name, found in hooks.items() if isinstance(found, dict)}
    ranks = {h: i for i, h in enumerate(sorted({h for found in hooks.values() for h in found}))}
    return {**held, **{n: [(ranks[h], f) for h, f in v.items()] for n, v in hooks.items()}}


# --- where code comes from -----------------------------------------------------------------------


@functools.cache
def _roots() -> tuple[str, ...]:
    """Folders of the standard library and of installed packages."""
    kinds = ("stdlib", "platstdlib", "purelib", "platlib")
    folders = {*map(sysconfig.get_path, kinds), *site.getsitepackages(), site.getusersitepackages()}
    return tuple(
        f"{found}/" for folder in folders for found in {folder, str(Path(folder).resolve())}
    )


@functools.cache
def _place(file: str) -> str:
    path = Path(file).resolve()
    if path.is_relative_to(HERE):
        top = path.relative_to(HERE).parts[0].removesuffix(".py")
        return "own" if top in PRESENTING else "package"
    return "installed" if file.startswith(_roots()) or str(path).startswith(_roots()) else "own"


def _home(module: str | None) -> str:
    """Whether a module is of this "package", "installed", or somebody's "own"."""
    module = module or "__main__"
    if module == "__main__":  # a notebook's functions, though its launcher is an installed file
        return "own"
    for name in (module, module.partition(".")[0]):
        file = getattr(sys.modules.get(name), "__file__", None)
        if file:
            return _place(file)
    return "installed" if module.partition(".")[0] in sys.builtin_module_names else "own"


def _home_of(code: types.CodeType, space: Mapping) -> str:
    """By the file of the code: a function may carry another's name (`functools.wraps`)."""
    if not code.co_filename.startswith("<"):
        return _place(code.co_filename)
    module = space.get("__name__")
    generated = module in sys.modules and vars(sys.modules[module]) is space
    return _home(module) if generated else "own"


def _found(module: str | None, name: str) -> object:
    """What stands in the module under the dotted name."""
    value = sys.modules.get(module or "")
    for part in name.split("."):
        value = getattr(value, part, None)
    return value


@functools.cache
def _version(module: str | None) -> str:
    top = (module or "").partition(".")[0]
    if top == __package__:
        return ""  # package() stands in every key
    if top in sys.stdlib_module_names:
        return platform.python_version()
    version = getattr(sys.modules.get(top), "__version__", None)
    try:
        return version if isinstance(version, str) else importlib.metadata.version(top)
    except importlib.metadata.PackageNotFoundError:
        raise Untellable(f"uses {top}, whose version is not known") from None


# --- this package, torch, and bytes --------------------------------------------------------------


def package() -> str:
    """This package but for what only presents: its source on disk, and what of it is loaded."""
    read, parts = Fingerprint(whole=True), [platform.python_version(), np.__version__]
    for path in sorted(HERE.rglob("*.py")):
        inside = path.relative_to(HERE.parent).with_suffix("").parts
        if len(inside) > 1 and inside[1] in PRESENTING:
            continue
        name = ".".join(inside).removesuffix(".__init__")
        running = STARTED.get(inside[1]) if len(inside) == 2 else None
        loaded = _loaded(read, name) if running is None else _bare(running)
        parts += [name, _bare(path.read_text()), loaded]
    return _hash(parts)


def _loaded(read: Fingerprint, name: str) -> str:
    """What stands in a module, which somebody may have changed, or loaded from an older file."""
    try:
        space = vars(importlib.import_module(name))
    except ImportError:
        return "not loaded"
    texts = []
    for key in sorted(key for key, value in space.items() if not _part(key, value)):
        try:
            texts += [key, read(_made_here(space[key], name))]
        except Untellable as error:
            texts += [key, type(space[key]).__qualname__ + str(error)]
    return _hash(texts)


def _part(key: str, value: object) -> bool:
    """Whether Python sets this itself, on every import of a module inside a package too."""
    inside = isinstance(value, types.ModuleType) and value.__name__.startswith(f"{__package__}.")
    return inside or key.startswith("__")


def _made_here(value: object, module: str) -> object:
    """The value; only whence it is where a module imports it: a kernel has its own kind of bar."""
    if isinstance(value, types.ModuleType):
        return value.__name__
    if not isinstance(value, (type, types.FunctionType)) or value.__module__ == module:
        return value
    home, there = _home(value.__module__), _found(value.__module__, value.__qualname__)
    return home if home == "installed" or (home == "package" and there is value) else value


def _torch() -> Iterable[str]:
    """What is set for all of torch."""
    yield torch.__version__
    yield str((torch.get_default_dtype(), torch.get_default_device(), torch.is_grad_enabled()))
    yield str((torch.get_float32_matmul_precision(), torch.are_deterministic_algorithms_enabled()))
    yield str((torch.is_autocast_enabled("cpu"), torch.is_autocast_enabled("cuda")))


def _put_into_torch() -> Iterable[dict[str, object]]:
    """Hooks for all modules, and functions in the place of torch's own."""
    found = {n: v for n, v in vars(nn.modules.module).items() if n.startswith("_global_") and v}
    yield _without_handles(found)
    yield from map(_replaced, (torch, nn.functional, nn.init, Tensor))


@functools.lru_cache(maxsize=1000)
def _bare(source: str) -> str:
    """Hash of the syntax tree without docstrings and comments; of the text if it has none."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return _hash([source])
    for node in ast.walk(tree):
        kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        if isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None:
            node.body.pop(0)
    return _hash([ast.dump(tree)])


def _bytes(tensor: Tensor) -> str:
    flat = tensor.detach().resolve_conj().resolve_neg().cpu().contiguous().reshape(-1)
    return f"{tensor.dtype} {tuple(tensor.shape)} {_digest(flat.view(torch.uint8).numpy().data)}"


def _digest(body) -> str:
    return hashlib.sha256(body).hexdigest()


def _hash(parts: Iterable[str]) -> str:
    joint = "".join(f"{len(part)}:{part}" for part in parts)  # the length keeps neighbours apart
    return _digest(joint.encode(errors="surrogatepass"))
