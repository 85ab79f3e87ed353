"""One short text for all that decides a result: values, tensors, functions and their code."""

from __future__ import annotations

import ast
import dataclasses
import dis
import functools
import hashlib
import inspect
import sys
import types
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

ATOMS = (type(None), bool, int, float, complex, str, bytes, torch.dtype, torch.device, range)
LOADS = ("LOAD_GLOBAL", "LOAD_NAME")  # not LOAD_ATTR: an attribute is no global of that name


class Fingerprint:
    """Hashes values; tensors that were met before are not read again.

    Two values get the same text only if they are equal in type and content. Functions of a
    notebook or script count with their code, defaults, closure and the globals that they use;
    those of an installed package with the package's version. Functions that draw random numbers
    when called are judged by their code alone.

    Raises TypeError for a kind of value it does not know.

    >>> one, two = Fingerprint(), Fingerprint()
    >>> one(lambda x: x + 1) == two(lambda x: x + 1), one(lambda x: x + 1) == one(lambda x: x + 2)
    (True, False)
    """

    def __init__(self) -> None:
        self._seen: dict[
            int, tuple[object, str]
        ] = {}  # holds the tensor, so that its id stays its own
        self._open: set[int] = set()  # functions being read, which may name themselves

    def __call__(self, *values: object) -> str:
        """64 hexadecimal digits for the values together."""
        return _hash(self._text(value) for value in values)

    def _text(self, value: object) -> str:
        if isinstance(value, ATOMS):
            return f"{type(value).__name__} {value!r}"
        for kind, read in self._readers():
            if isinstance(value, kind):
                return f"{type(value).__qualname__} {read(value)}"
        if dataclasses.is_dataclass(value):
            fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
            return f"dataclass {self._class(type(value))} {self._mapping(fields)}"
        raise TypeError(
            f"cannot tell what decides a {type(value).__qualname__} ({value!r:.60}); a sweep's "
            "settings and functions may hold numbers, text, tensors, functions and dataclasses"
        )

    def _readers(self):
        return (
            (Tensor, self._tensor),
            (np.ndarray, lambda array: self._tensor(torch.from_numpy(np.ascontiguousarray(array)))),
            (np.generic, lambda number: repr(number.item())),
            (Mapping, self._mapping),
            ((list, tuple), lambda values: _hash(map(self._text, values))),
            ((set, frozenset), lambda values: _hash(sorted(map(self._text, values)))),
            (functools.partial, lambda p: self(p.func, p.args, p.keywords)),
            (types.FunctionType, self._function),
            (types.MethodType, lambda method: self(method.__func__, method.__self__)),
            (functools._lru_cache_wrapper, lambda cached: self(cached.__wrapped__)),
            ((types.BuiltinFunctionType, type(Tensor.add)), lambda f: f"{f.__qualname__}"),
            (types.ModuleType, lambda module: f"{module.__name__} {_version(module.__name__)}"),
            (nn.Module, self._model),
            (type, self._class),
            (Path, str),
        )

    def _tensor(self, tensor: Tensor) -> str:
        if id(tensor) not in self._seen:
            flat = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
            body = hashlib.blake2b(flat.numpy().data, digest_size=32).hexdigest()
            self._seen[id(tensor)] = tensor, f"{tensor.dtype} {tuple(tensor.shape)} {body}"
        return self._seen[id(tensor)][1]

    def _mapping(self, values: Mapping) -> str:
        return _hash(sorted(self._text(k) + self._text(v) for k, v in values.items()))

    def _model(self, model: nn.Module) -> str:
        classes = {type(module) for module in model.modules()}
        state = {name: tensor.clone() for name, tensor in model.state_dict().items()}
        return self(str(model), sorted(map(self._class, classes)), state)

    def _class(self, kind: type) -> str:
        name = f"{kind.__module__}.{kind.__qualname__}"
        if _installed(kind.__module__):
            return f"{name} {_version(kind.__module__)}"
        try:
            return f"{name} {_hash([inspect.getsource(kind)])}"
        except (OSError, TypeError):
            methods = [value for value in vars(kind).values() if inspect.isfunction(value)]
            return f"{name} {self(*methods)}"

    def _function(self, function: types.FunctionType) -> str:
        written_inside = function.__closure__ or "<" in function.__qualname__
        if _installed(function.__module__) and not written_inside:
            return f"{function.__module__}.{function.__qualname__} {_version(function.__module__)}"
        if id(function) in self._open:
            return f"itself {function.__qualname__}"
        self._open.add(id(function))
        try:
            cells = [cell.cell_contents for cell in function.__closure__ or ()]
            used = _names(function.__code__)
            outer = {n: function.__globals__[n] for n in used if n in function.__globals__}
            return self(
                _code(function.__code__),
                function.__defaults__,
                function.__kwdefaults__,
                cells,
                outer,
            )
        finally:
            self._open.discard(id(function))


@functools.cache
def core_code() -> str:
    """Hash of the code of this package that decides a training; comments and docstrings aside."""
    here = Path(__file__).parent
    files = [*here.glob("training/*.py"), *here.glob("models/*.py")]
    others = ("losses", "mixing", "augmentation", "prioritization")
    files += [here / f"{name}.py" for name in others]
    files += [here / "metrics" / f"{name}.py" for name in ("bins", "diagram")]
    return _hash([torch.__version__, *(_bare(path.read_text()) for path in sorted(files))])


def _bare(source: str) -> str:
    """The syntax tree without docstrings, as text."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        documented = isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        if documented and ast.get_docstring(node, clean=False) is not None:
            node.body.pop(0)
    return ast.dump(tree)


def _code(code: types.CodeType) -> str:
    constants = [_code(c) if isinstance(c, types.CodeType) else repr(c) for c in code.co_consts]
    return _hash([code.co_code.hex(), *constants, *code.co_names, *code.co_varnames])


def _names(code: types.CodeType) -> list[str]:
    """Global names that the code, and the functions written inside it, may use."""
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    loads = [i.argval for i in dis.get_instructions(code) if i.opname in LOADS]
    return sorted({*loads, *(name for c in inner for name in _names(c))})


def _installed(module: str | None) -> bool:
    """Whether the code lives in a package, where its version stands for it."""
    top = (module or "__main__").partition(".")[0]
    if top == "__main__":  # a notebook's functions, though its launcher is an installed file
        return False
    if top == __package__ or top in sys.stdlib_module_names:
        return True
    found = sys.modules.get(top)
    return "site-packages" in (getattr(found, "__file__", None) or "")


def _version(module: str) -> str:
    top = module.partition(".")[0]
    if top == __package__:
        return core_code()
    return str(getattr(sys.modules.get(top), "__version__", ""))


def _hash(parts: Iterable[str]) -> str:
    joint = hashlib.blake2b(digest_size=32)
    for part in parts:
        body = part.encode()
        joint.update(len(body).to_bytes(8, "little") + body)  # the length keeps neighbours apart
    return joint.hexdigest()
