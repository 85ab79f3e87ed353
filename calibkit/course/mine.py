"""The learner's own library, `mine.py` beside the notebooks.

`check.keep(my_ece)` writes a right answer there, `from calibkit.course.mine import ece` reads it in
later lessons. Where it is not there, or the file cannot be run, the course's function stands in.
"""

from __future__ import annotations

import ast
import dis
import functools
import importlib.util
import inspect
import re
import types
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from torch import Tensor

from calibkit.course import check
from calibkit.course.check import running
from calibkit.course.check.engine import Exercise, Reply
from calibkit.course.check.running import Refused

FILE = "mine.py"
TITLE = '"""My own library: what I wrote in the lessons. Later lessons import it."""\n'
BY_DEF = "write it with `def`, in lines of its own."
STANDS_IN = "In later lessons the course's own function stands in."


def place() -> Path:
    """Where it lies: in the folder in which the notebook runs."""
    return Path.cwd() / FILE


def __getattr__(name: str) -> Callable:
    """The learner's function `name`, or the course's own of the same exercise."""
    exercise = check.__getattr__(name)  # raises AttributeError for what is no exercise
    yours = _yours(name)
    return exercise.reference if yours is None else _as_the_course_returns(yours, exercise)


def whose(*names: str) -> str:
    """For each function, who wrote it.

    >>> whose("brier")
    "brier: the course's"
    """
    writers = {name: "yours" if _yours(name) else "the course's" for name in names}
    return ", ".join(f"{name}: {writer}" for name, writer in writers.items())


def _yours(name: str) -> Callable | None:
    path = place()
    spec = importlib.util.spec_from_file_location("mine", path)
    if not path.is_file() or not spec or not spec.loader:
        return None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        print(f"{path.name} raises {type(error).__name__}: {error}. The course's {name} stands in.")
        return None
    return getattr(module, name, None)


def _as_the_course_returns(yours: Callable, exercise: Exercise) -> Callable:
    """`yours`; where it returns a list or an array for a tensor, or an array for a number, with
    its result made one: checkers take both, but what a later cell does with it may not.
    """
    case = next(iter(exercise.inputs.values()))
    right = exercise.reference(**case)
    try:
        same = isinstance(yours(*case.values()), type(right))
    except Exception:  # which is seen where it is called
        return yours
    if same or not isinstance(right, (Tensor, float)):
        return yours

    @functools.wraps(yours)
    def converted(*arguments, **named):
        numbers = running.numbers(yours(*arguments, **named))
        return float(numbers) if isinstance(right, float) else torch.as_tensor(numbers).to(right)

    return converted


def keep(answer: Callable, replace: bool = False) -> Reply:
    """Write a right answer to mine.py, without the `my_` of its name.

    answer: the function of an exercise, such as my_ece. replace: put it in the place of another one
        that was kept before. What is wrong, or not written yet, is told and not kept; where the
        file cannot be written, that is told, too.
    """
    name = getattr(answer, "__name__", "").removeprefix("my_")
    if name not in check.LESSON_OF:
        return Reply(
            False,
            "Not quite: keep takes the function of an exercise under its own name, as in "
            f"check.keep(my_ece), not {getattr(answer, '__name__', type(answer).__name__)}.",
        )
    reply = getattr(check, name)(answer)
    if not reply:
        return Reply(False, f"{reply.text} So nothing is kept yet. {STANDS_IN}")
    try:
        return Reply(True, f"{reply.text} {_kept(answer, name, replace)}")
    except Refused as refusal:
        return Reply(True, f"{reply.text} But it is not kept: {refusal}")


def _kept(answer: Callable, name: str, replace: bool) -> str:
    """Write the file; what there is to say. Raises Refused where it is not written."""
    path = place()
    try:
        before = path.read_text(encoding="utf-8") if path.exists() else TITLE
        there = _bindings(before)
    except SyntaxError as error:
        raise Refused(
            f"`{FILE}` has an error in line {error.lineno}: {error.msg}. Repair the file, or give "
            "it another name."
        ) from None
    except OSError as error:
        raise Refused(f"{path} cannot be read ({error.strerror}). {STANDS_IN}") from None
    parts = dict(_parts(answer, name))
    if there.get(name) == parts[name]:
        return f"`{name}` is in `{FILE}` already."
    if name in there and not replace:
        raise Refused(
            f"`{FILE}` has another `{name}`. To put this one in its place: "
            f"check.keep({answer.__name__}, replace=True)."
        )
    for other, source in parts.items():
        if other != name and there.get(other, source) != source:
            raise Refused(f"`{FILE}` has another `{other}`. Give yours a name of its own.")
    text = before.replace(there[name], parts.pop(name)) if name in there else before
    new = [source for other, source in parts.items() if other not in there]
    text = "\n\n".join([text.rstrip("\n"), *new]) + "\n"
    _works(text, name)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Refused(f"{path} cannot be written ({error.strerror}). {STANDS_IN}") from None
    return f"`{name}` is kept in `{FILE}`; later lessons use it."


def _works(text: str, name: str) -> None:
    """Raise Refused where the function of the file is not right without the notebook."""
    space: dict[str, object] = {"__name__": "mine"}
    try:
        exec(compile(text, FILE, "exec"), space)
        reply = getattr(check, name)(space[name])
    except Exception as error:
        raise Refused(f"alone in a file it raises {type(error).__name__}: {error}.") from None
    if not reply:
        raise Refused(f"alone in a file it is no longer right. {reply.text}")


def _bindings(text: str) -> dict[str, str]:
    """By name what a file defines, with its source."""
    found = {}
    for node in ast.parse(text).body:
        source = ast.get_source_segment(text, node) or ""
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = source
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {alias.asname or alias.name: source for alias in node.names}
        elif isinstance(node, ast.Assign):
            found |= {ast.unparse(target): source for target in node.targets}
    return found


def _parts(answer: Callable, name: str) -> Iterator[tuple[str, str]]:
    """Name and source of all that an answer needs from its notebook, then its own."""
    if not isinstance(answer, types.FunctionType):
        raise Refused(BY_DEF)
    for used, value in _globals(answer):
        if value is not answer:
            yield from _part(used, value)
    yield name, _source(answer).replace(answer.__name__, name)


def _part(name: str, value) -> Iterator[tuple[str, str]]:
    home = getattr(value, "__module__", None)
    if isinstance(value, types.ModuleType):
        whole = value.__name__
        yield name, f"import {whole}" if whole == name else f"import {whole} as {name}"
    elif isinstance(value, types.FunctionType) and home == "__main__":
        yield from _parts(value, name)
    elif isinstance(value, (int, float, str)):
        yield name, f"{name} = {value!r}"
    elif home and hasattr(inspect.getmodule(value), getattr(value, "__name__", "")):
        as_name = "" if value.__name__ == name else f" as {name}"
        yield name, f"from {home} import {value.__name__}{as_name}"
    else:
        raise Refused(
            f"it uses `{name}` of the notebook. Make `{name}` inside the function, or give it "
            "as an argument."
        )


def _globals(answer: types.FunctionType) -> Iterator[tuple[str, object]]:
    """The names that a function, or one inside it, reads from its notebook, with their values."""
    codes, names = [answer.__code__], dict[str, None]()
    while codes:
        code = codes.pop()
        names |= {i.argval: None for i in dis.get_instructions(code) if "GLOBAL" in i.opname}
        codes += [const for const in code.co_consts if isinstance(const, types.CodeType)]
    return ((n, answer.__globals__[n]) for n in names if n in answer.__globals__)


def _source(function: types.FunctionType) -> str:
    try:
        source = inspect.cleandoc("\n" + inspect.getsource(function)).strip()
    except (OSError, TypeError):
        raise Refused("its source is not known here. Run the cell with its `def` again.") from None
    if not re.match(rf"def {function.__name__}\b", source):
        raise Refused(BY_DEF)
    return source
