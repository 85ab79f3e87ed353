"""Where code comes from, which of it depends on its arguments alone, and what it reaches."""

from __future__ import annotations

import dis
import functools
import importlib.metadata
import itertools
import os
import platform
import re
import site
import sys
import sysconfig
import types
from collections.abc import Mapping
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]
PRESENTING = {"__main__", "auditing", "course", "doctor", "pictures"}

# What depends on more than its arguments: on files, the clock, the process, unseeded randomness.
PURE = {  # of the standard library, these alone are told by the version of Python
    *("_bisect", "_functools", "_heapq", "_operator", "abc", "builtins", "cmath", "collections"),
    *("contextlib", "copy", "dataclasses", "enum", "fractions", "functools", "heapq", "itertools"),
    *("math", "numbers", "operator", "re", "string", "textwrap", "types", "typing", "warnings"),
}
PEEKING = {  # names in these that look at, or change, what no key holds
    *("__import__", "breakpoint", "compile", "delattr", "eval", "exec", "fields", "get_type_hints"),
    *("globals", "hash", "id", "input", "locals", "print", "setattr", "vars"),
}
UNREAD = {  # attributes that no key holds, so code that uses them is refused
    *("__annotations__", "__builtins__", "__code__", "__dataclass_fields__", "__dict__", "__doc__"),
    *("__globals__", "__hash__", "__subclasses__", "__traceback__"),
}
IMPURE = re.compile(r"(numpy\.random|torch\.(hub|serialization|distributed)|scipy\.io|PIL)\b")
READING = re.compile(r"(load|read|open|from_?file|gen_?from|im(read|open)|memmap|seed)[a-z_]*")

GLOBALS = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
CLOSURE = {"LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"}
ATTRIBUTE = {"LOAD_ATTR", "LOAD_METHOD"}


class Untellable(TypeError):
    """Something that may decide a training and cannot be told exactly; `path` leads to it."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.path: list[str] = []

    def __str__(self) -> str:
        return f"{'.'.join(self.path)} {super().__str__()}".strip()


@functools.cache
def _installed() -> tuple[str, ...]:
    """Folders of the standard library and of installed packages."""
    kinds = ("stdlib", "platstdlib", "purelib", "platlib")
    found = [*map(sysconfig.get_path, kinds), *site.getsitepackages(), site.getusersitepackages()]
    return tuple({f"{path}{os.sep}": None for f in found for path in (f, str(Path(f).resolve()))})


@functools.cache
def _of_file(file: str) -> str:
    path = Path(file).resolve()
    if path.is_relative_to(HERE):
        top = path.relative_to(HERE).parts[0].removesuffix(".py")
        return "own" if top in PRESENTING else "package"
    return "installed" if f"{file}\n{path}".startswith(_installed()) else "own"


def of_module(module: str | None) -> str:
    """Whether a module is of this "package", "installed", or somebody's "own"."""
    if module in (None, "__main__"):  # a notebook's functions, though its launcher is installed
        return "own"
    top = module.partition(".")[0]
    for name in (module, top):
        file = getattr(sys.modules.get(name), "__file__", None)
        if file:
            return _of_file(file)
    return "installed" if top in sys.builtin_module_names else "own"


def of_function(function: types.FunctionType) -> str:
    """By the file of the code: a function may carry another's name (`functools.wraps`)."""
    file, space = function.__code__.co_filename, function.__globals__
    if not file.startswith("<"):
        return _of_file(file)
    module = space.get("__name__")
    generated = module in sys.modules and vars(sys.modules[module]) is space
    return of_module(module) if generated else "own"


def found(module: str | None, name: str) -> object:
    """What stands in the loaded module under the dotted name; None where nothing does."""
    value = sys.modules.get(module or "")
    for part in name.split("."):
        value = getattr(value, part, None)
    return value


@functools.cache
def version(module: str) -> str:
    """Of the installed package that the module is part of."""
    top = module.partition(".")[0]
    if top == __package__:
        return ""  # fingerprint.package() stands in every key
    if top in sys.stdlib_module_names:
        return platform.python_version()
    stated = getattr(sys.modules.get(top), "__version__", None)
    try:
        return stated if isinstance(stated, str) else importlib.metadata.version(top)
    except importlib.metadata.PackageNotFoundError:
        raise Untellable(f"uses {top}, whose version is not known") from None


def demand_pure(module: str, name: str) -> None:
    """Refuse what is installed and depends on more than its arguments."""
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names:
        impure = top not in PURE or name in PEEKING
    else:
        impure = IMPURE.match(module) or READING.fullmatch(name)
    if impure:
        raise Untellable(f"uses {module}.{name}, which depends on more than its arguments")


def cells(function: types.FunctionType) -> dict[str, object]:
    """The variables of its closure; of an empty cell nothing."""
    pairs = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return {name: cell.cell_contents for name, cell in pairs if cell != types.CellType()}


def reached(function: types.FunctionType) -> dict[str, object]:
    """By dotted name what it takes from its globals, the built-ins, and modules in its closure.

    Of a module only the attributes that the code names: `helpers.losses.mine`.
    """
    space = {**function.__builtins__, **function.__globals__}
    return _reached(function.__code__, space, cells(function))


def _reached(code: types.CodeType, space: Mapping, closure: Mapping) -> dict[str, object]:
    taken: dict[str, object] = {}
    steps = [step for step in dis.get_instructions(code) if step.opname != "EXTENDED_ARG"]
    _demand_plain(code.co_name, steps)
    for i, step in enumerate(steps):
        name, variables = step.argval, space if step.opname in GLOBALS else closure
        if step.opname not in GLOBALS | CLOSURE or name not in variables:
            continue
        value = variables[name]
        for attribute in itertools.takewhile(lambda s: s.opname in ATTRIBUTE, steps[i + 1 :]):
            if not isinstance(value, types.ModuleType):
                break
            name, value = f"{name}.{attribute.argval}", getattr(value, attribute.argval, None)
        taken[name] = value
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            taken |= _reached(inner, space, closure)
    return taken


def _demand_plain(function: str, steps: list[dis.Instruction]) -> None:
    for step in steps:
        if step.opname.startswith("IMPORT_"):
            raise Untellable(f"imports {step.argval} inside {function}; import it above")
        if (step.opname in ATTRIBUTE or step.opname == "LOAD_CONST") and step.argval in UNREAD:
            raise Untellable(f"looks at {step.argval} in {function}")
