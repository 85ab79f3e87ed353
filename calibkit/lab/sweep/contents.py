"""A value as a short text: equal only for what is equal in kind, content and sharing.

Things are read by what they hold (attributes, classes, code, the globals that the code reaches),
never by what they print. Installed packages count by their version, this package by
`fingerprint.package`. Whatever is not of a kind that can be told exactly (files, clocks, random
generators, what a C type hides) is refused.
"""

from __future__ import annotations

import abc
import ast
import collections
import contextlib
import dis
import functools
import hashlib
import struct
import types
import typing
import weakref
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from calibkit.lab.sweep import origins
from calibkit.lab.sweep.origins import Untellable

ATOMS = {type(None), bool, int, str, bytes, range, type(...), type(NotImplemented)}
ATOMS |= {torch.dtype, torch.device, torch.layout, torch.memory_format, torch.Size}
CONTAINERS = (collections.OrderedDict, collections.defaultdict, dict, list, tuple, set, frozenset)
BASES = (*CONTAINERS, int, float, complex, str, bytes)  # whose subclasses can be told
HIDING = (  # a class with one of these is made in C and may hold what no attribute shows
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
)
CODE = (type, types.FunctionType, types.BuiltinFunctionType, *HIDING)
SLOTS = (types.MemberDescriptorType, types.GetSetDescriptorType, collections._tuplegetter)
NOT_HELD = {  # names of a class that Python makes for itself, some anew in each process
    *("__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__annotations__"),
    *("__annotate__", "__annotate_func__", "__annotations_cache__", "__firstlineno__"),
    *("__static_attributes__", "__slotnames__", "_abc_impl", "__abstractmethods__"),
    *("__parameters__", "__orig_bases__", "__dataclass_params__", "__dataclass_fields__"),
    *("_backward_cls", "__hash__"),
}
FIRST = {(operation, 0) for operation in dis.hasconst}  # instructions that load constant 0


class Fingerprint:
    """Reads values; what is passed together is told together, with what it shares.

    whole: this package's functions count by their code, too, and not by name.

    Raises Untellable, a TypeError, for what cannot be told exactly.

    >>> one, two = Fingerprint(), Fingerprint()
    >>> one(lambda x: x + 1) == two(lambda x: x + 1), one(lambda x: x + 1) == one(lambda x: x + 2)
    (True, False)
    """

    def __init__(self, whole: bool = False) -> None:
        self._named_only = {"installed"} if whole else {"installed", "package"}
        self._data: dict[int, tuple[Tensor, str]] = {}  # holds the tensor, so its id stays its own
        self._source, self._strange = functools.cache(_source), functools.cache(strange)
        self._readers: dict[type, Callable[..., str]] = {
            float: lambda value: struct.pack(">d", value).hex(),  # a NaN's bits, too
            complex: lambda value: struct.pack(">dd", value.real, value.imag).hex(),
            tuple: self._row,
            set: self._unordered,
            frozenset: self._unordered,
            list: self._row,
            dict: lambda value: self._row(value.items()),
            collections.OrderedDict: lambda value: self._row(value.items()),
            collections.defaultdict: lambda v: self._row([v.default_factory, *v.items()]),
            collections.deque: lambda value: self._row([value.maxlen, *value]),
            types.MappingProxyType: lambda value: self._row(value.items()),
            types.SimpleNamespace: lambda value: self._named(vars(value)),
            types.MethodType: lambda value: self._row([value.__func__, value.__self__]),
            types.FunctionType: self._function,
            functools.partial: lambda v: self._row([v.func, v.args, v.keywords, vars(v)]),
            functools.cached_property: lambda value: self._text(value.func),
            functools._lru_cache_wrapper: self._cached,
            property: lambda value: self._row([value.fget, value.fset, value.fdel]),
            staticmethod: lambda value: self._text(value.__func__),
            classmethod: lambda value: self._text(value.__func__),
            weakref.ref: lambda value: self._text(value()),
            np.ndarray: self._array,
            Tensor: self._tensor,
            nn.Parameter: self._tensor,
        }

    def __call__(self, *values: object) -> str:
        """64 hexadecimal digits for the values together."""
        self._met: dict[int, tuple[int, object]] = {}
        self._memory: dict[int, int] = {}
        return self._row(values)

    def content(self, tensor: Tensor) -> str:
        """Kind, shape and numbers alone; read once for as long as this lives."""
        if id(tensor) not in self._data:
            self._data[id(tensor)] = tensor, _bytes(tensor)
        return self._data[id(tensor)][1]

    def _text(self, value: object) -> str:
        kind = type(value)
        name = f"{kind.__module__}.{kind.__qualname__}"
        if kind in ATOMS:
            return f"{name} {value!r}"
        if issubclass(kind, np.generic):
            return f"{name} {_numbers(np.asarray(value))}"
        if kind not in VALUES:
            if id(value) in self._met:  # shared and cyclic things are told from equal copies
                return f"again {self._met[id(value)][0]}"
            self._met[id(value)] = len(self._met), value
        if issubclass(kind, type):
            return f"class {self._class(value)}"
        if kind in self._readers:
            return f"{name} {self._readers[kind](value)}"
        return f"object {self._object(value)}" if _plain(kind) else self._reference(value)

    # --- containers and numbers -----------------------------------------------------------------

    def _row(self, values: Iterable) -> str:
        return digest(self._text(value) for value in values)

    def _unordered(self, values: Iterable) -> str:
        """Of texts alone: what is met by number would depend on the order."""
        met = len(self._met)
        texts = sorted(self._text(value) for value in values)
        if len(self._met) > met:
            raise Untellable("is a set of things without an order")
        return digest(texts)

    def _named(self, values: Mapping[str, object]) -> str:
        """Values by name, whatever their order; the name is noted where one cannot be told."""
        parts = []
        for name in sorted(values, key=str):
            try:
                parts += [repr(name), self._text(values[name])]
            except Untellable as error:
                error.path.insert(0, str(name))
                raise
        return digest(parts)

    def _tensor(self, tensor: Tensor) -> str:
        if tensor.is_nested or tensor.layout != torch.strided or tensor.is_meta:
            raise Untellable("is a tensor without plain memory")
        if tensor.is_quantized or not tensor.is_leaf:
            raise Untellable("is a tensor that other tensors, or scales, stand behind")
        hooks = [tensor._backward_hooks, getattr(tensor, "_post_accumulate_grad_hooks", None)]
        about = {
            "place": (tensor.device, tensor.stride(), tensor.storage_offset()),
            "flags": (tensor.requires_grad, tensor.is_conj(), tensor.is_neg()),
            "hooks": [list((found or {}).values()) for found in hooks],
            "attributes": vars(tensor),
            "grad": tensor.grad,
        }
        shared = self._shared(tensor.untyped_storage().data_ptr())
        return digest([shared, _bytes(tensor), self._named(about)])

    def _array(self, array: np.ndarray) -> str:
        root = array
        while isinstance(root.base, np.ndarray):
            root = root.base
        if not isinstance(root.base, (type(None), Tensor)):
            raise Untellable("is an array in memory of another kind")
        start = array.ctypes.data - root.ctypes.data, array.flags.writeable
        return digest([_numbers(array), self._shared(root.ctypes.data), str(start)])

    def _shared(self, pointer: int) -> str:
        """Which memory, counted from 0 as it is met: views of one see each other's changes."""
        return str(self._memory.setdefault(pointer or -1 - len(self._memory), len(self._memory)))

    # --- code -----------------------------------------------------------------------------------

    def _function(self, function: types.FunctionType) -> str:
        module, name = function.__module__, function.__qualname__
        home, closure = origins.of_function(function), origins.cells(function)
        held = {
            "defaults": function.__defaults__,
            "keyword defaults": function.__kwdefaults__,
            "attributes": vars(function),
            "closure": self._named(
                {n: v for n, v in closure.items() if not isinstance(v, types.ModuleType)}
            ),
        }
        parts = [f"{module}.{name}"]
        if home not in self._named_only or origins.found(module, name) is not function:
            parts.append(self._code(function.__code__))
        if home == "installed":
            origins.demand_pure(function.__globals__.get("__name__", ""), function.__name__)
        if home == "own":
            parts.append(self._source(function.__globals__.get("__name__"), function.__code__))
            parts.append(self._named(origins.reached(function)))
        else:
            parts.append(origins.version(function.__globals__["__name__"]))
        return digest([*parts, self._named(held)])

    def _code(self, code: types.CodeType) -> str:
        """Its instructions, which differ where a call's name is imported in the same cell or not:

        Python compiles that call in two ways, so that a script may not find a notebook's runs.
        """
        texts = [self._code(c) if isinstance(c, types.CodeType) else self._text(c)
                 for c in _constants(code)]  # fmt: skip
        counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        steps = code.co_code.hex(), code.co_exceptiontable.hex()
        return digest([*steps, str((counts, names)), *texts])

    def _cached(self, function) -> str:
        inner = function.__wrapped__
        if not isinstance(inner, types.FunctionType) or origins.of_function(inner) == "own":
            raise Untellable(f"calls {inner.__name__}, whose cache remembers earlier calls")
        return self._text(inner)

    # --- classes and objects --------------------------------------------------------------------

    def _class(self, kind: type) -> str:
        module, name = kind.__module__, kind.__qualname__
        home, bases = origins.of_module(module), [c for c in kind.__mro__[1:] if c is not object]
        if home in self._named_only and origins.found(module, name) is kind:
            if home == "installed":
                origins.demand_pure(module, kind.__name__)
            whence = f"{module}.{name} {origins.version(module)}"
            return digest([whence, self._named(self._strange(kind)), self._row(bases)])
        if isinstance(kind, abc.ABCMeta) and abc._get_dump(kind)[0]:
            raise Untellable(f"has {name}, at which other classes are registered")
        held = {n: v for n, v in vars(kind).items() if n not in NOT_HELD}
        held = {n: v for n, v in held.items() if not isinstance(v, SLOTS)}
        return digest([f"{module}.{name}", self._row([type(kind), *bases]), self._named(held)])

    def _object(self, value: object) -> str:
        kind = type(value)
        held = dict(getattr(value, "__dict__", {}))
        if issubclass(kind, nn.Module):
            held = without_handles(held)
        for name, slot in [item for c in kind.__mro__ for item in vars(c).items()]:
            if isinstance(slot, types.MemberDescriptorType):
                with contextlib.suppress(AttributeError):  # an empty slot
                    held[f"slot {name} {slot.__objclass__.__qualname__}"] = slot.__get__(value)
        base = next((base for base in BASES if issubclass(kind, base)), None)
        if base is not None:
            held["content"] = _as(base, value)
        return digest([self._text(kind), self._named(held)])

    def _reference(self, value: object) -> str:
        """What is made in C can be told if an installed package holds it under its own name."""
        module, owner = getattr(value, "__module__", None), getattr(value, "__self__", None)
        if isinstance(value, HIDING):
            return f"{self._text(value.__objclass__)} {value.__name__}"
        for name in (getattr(value, part, None) for part in ("__qualname__", "__name__")):
            known = isinstance(module, str) and isinstance(name, str)
            known = known and origins.of_module(module) != "own"
            if known and origins.found(module, name) is value:
                origins.demand_pure(module, name)
                return f"{module}.{name} {origins.version(module)}"
        if isinstance(value, types.BuiltinFunctionType) and owner is not None:
            return f"{value.__name__} {self._text(owner)}"  # a method of a list, a class
        if isinstance(value, types.ModuleType):
            raise Untellable(f"passes on the module {value.__name__}; name what is used of it")
        raise Untellable(f"holds a {type(value).__module__}.{type(value).__qualname__}")


VALUES = {float, complex, tuple, set, frozenset, types.MethodType}  # made anew, told by content


def digest(parts: Iterable[str]) -> str:
    """SHA-256 of texts; their lengths keep neighbours apart.

    >>> digest(["ab", "c"]) == digest(["a", "bc"])
    False
    """
    joint = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(joint.encode(errors="surrogatepass")).hexdigest()


@functools.lru_cache(maxsize=1000)
def bare(source: str) -> str:
    """Hash of the syntax tree without docstrings and comments; of the text if it has none."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return digest([source])
    for node in ast.walk(tree):
        kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        if isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None:
            node.body.pop(0)
    return digest([ast.dump(tree)])


def without_handles(held: Mapping[str, object]) -> dict[str, object]:
    """Hooks in their order instead of by their handles, which count up through the process."""
    hooks = {n: v for n, v in held.items() if n.endswith(("hooks", "_kwargs", "_called"))}
    hooks = {name: found for name, found in hooks.items() if isinstance(found, dict)}
    ranks = {h: i for i, h in enumerate(sorted({h for found in hooks.values() for h in found}))}
    return {**held, **{n: [(ranks[h], f) for h, f in v.items()] for n, v in hooks.items()}}


def strange(holder: type | types.ModuleType) -> dict[str, object]:
    """What may be somebody's doing in an installed class or module, by name.

    Own things by content, code that has its home elsewhere by its name, constants of a class.
    """
    of_class, found = isinstance(holder, type), {}
    home = f"{holder.__module__}.{holder.__qualname__}" if of_class else holder.__name__
    for name, value in vars(holder).items():
        inner = getattr(value, "fget", None) or getattr(value, "__func__", value)
        if _is_own(inner):
            found[name] = inner
        elif isinstance(inner, CODE):
            whence = f"{getattr(inner, '__module__', None)}.{inner.__qualname__}"
            homes = {f"{home}.{name}", _inherited(holder, name) if of_class else ""}
            found |= {name: whence} if whence not in homes else {}
        elif of_class and type(value) in (*ATOMS, float) and name not in NOT_HELD:
            found[name] = value
    return found


def _inherited(holder: type, name: str) -> str:
    """Where the class has a method from if not of its own.

    The first AdamW that is built gets Adam's step, wrapped, into its class: no one's doing.
    """
    for base in holder.__mro__[1:]:
        if name in vars(base):
            return f"{base.__module__}.{base.__qualname__}.{name}"
    return ""


def _is_own(value: object) -> bool:
    if isinstance(value, types.FunctionType):
        return origins.of_function(value) == "own"
    kind = value if isinstance(value, type) else type(value)
    return kind is functools.partial or origins.of_module(kind.__module__) == "own"


def _plain(kind: type) -> bool:
    """Whether attributes, and what a built-in container holds, are all of its instances."""
    known = (object, typing.Generic, typing.Protocol, *BASES)
    rest = [c for c in kind.__mro__ if c not in known]
    held = [(c, v) for c in rest for v in vars(c).values()]
    return bool(rest) and not any(isinstance(v, HIDING) and v.__objclass__ is c for c, v in held)


def _as(base: type, value: object) -> object:
    if issubclass(base, dict):
        return [getattr(value, "default_factory", None), *base.items(value)]
    return base(base.__iter__(value)) if base in CONTAINERS else base.__getnewargs__(value)


def _source(module: str | None, code: types.CodeType) -> str:
    """The file of an own module as it is on disk now, which a worker would load."""
    if module == "__main__" or code.co_filename.startswith("<"):
        return ""
    try:
        return bare(Path(code.co_filename).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise Untellable(f"comes from {code.co_filename}, which cannot be read") from None


def _constants(code: types.CodeType) -> tuple:
    """Its constants with None for a docstring: the first one, if a text that nothing loads."""
    first, *rest = code.co_consts or (None,)
    steps = zip(code.co_code[::2], code.co_code[1::2], strict=True)
    return (None, *rest) if isinstance(first, str) and FIRST.isdisjoint(steps) else code.co_consts


def _numbers(array: np.ndarray) -> str:
    if array.dtype.hasobject:
        raise Untellable("is an array of objects")
    body = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
    return f"{array.dtype!r} {array.shape} {array.strides} {body}"


def _bytes(tensor: Tensor) -> str:
    plain = tensor.detach().resolve_conj().resolve_neg().cpu().contiguous()
    flat = plain.as_strided((plain.numel(),), (1,))  # a single number may keep another stride
    body = hashlib.sha256(flat.view(torch.uint8).numpy().data).hexdigest()
    return f"{tensor.dtype} {tuple(tensor.shape)} {body}"
