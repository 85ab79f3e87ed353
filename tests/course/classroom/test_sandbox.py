"""A student's function in its sandbox: it works as at home, and can do no harm."""

import ast
import inspect
import os
import sys
import textwrap

import pytest
import torch

import calibkit.course
from calibkit.course import check
from calibkit.course.check import running
from calibkit.course.classroom import sandbox, slicing, worker

WALLS = sandbox.bubblewrap()
sandboxed = pytest.mark.skipif(
    WALLS is None, reason="bubblewrap is not installed here, or may not make namespaces"
)
# how to run an answer: behind walls, and without them, where only accidents are met
WAYS = [pytest.param(WALLS, marks=sandboxed, id="bubblewrap"), pytest.param([], id="trusted")]
both = pytest.mark.parametrize("walls", WAYS)


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(running, "SECONDS", 4.0)


def graded(code, walls, name="noise_matrix", withheld=()):
    """What the checker says of the answer `f` in these cells."""
    cells = [textwrap.dedent(cell) for cell in ([code] if isinstance(code, str) else code)]
    with sandbox.Answer(cells, "f", walls=walls, withheld=withheld) as answer:
        return check.EXERCISES[name](answer)


@both
def test_a_right_answer_passes_with_what_it_needs_from_the_notebook(walls):
    notebook = [
        "%matplotlib inline\nimport torch\nfrom calibkit import check, curation",
        "raise RuntimeError('a cell that f does not need is not run')",
        "def shares(p):\n    return p / total(p)",
        "total = torch.sum\nprint('hello')",
        "def f(p):\n    print(p)\n    return torch.diag(1 - p) + p[:, None] * shares(p)\n\n\n"
        "check.noise_matrix(f)",
        "def shares(p):\n    return 'of a later section'",
    ]
    assert graded(notebook, walls)


@pytest.mark.parametrize(("body", "exercise", "withheld"), [
    ("from calibkit.curation import transition_matrix as mine\n"
     "def f(p): return mine(p, kind='classwise')",
     "noise_matrix", "calibkit.curation:transition_matrix"),
    ("from calibkit.mixing import Mix\n"
     "def f(labels, partner, lam, classes):\n"
     "    return Mix(torch.tensor(lam), partner).soft_labels(labels, classes)",
     "mixed_labels", "calibkit.mixing:Mix"),
], ids=["a function, by any name", "a class"])  # fmt: skip
def test_what_the_library_has_is_withheld(body, exercise, withheld):
    reply = graded(f"import torch\n{body}", WALLS or [], exercise, [withheld])
    assert "asks for own code" in repr(reply)


def test_the_reference_is_out_of_reach():
    code = """
    from calibkit.course import check
    def f(p):
        return check.noise_matrix.reference(p)
    """
    assert not graded(code, WALLS or [])


def test_the_silent_checkers_say_nothing_and_look_like_a_module(monkeypatch):
    monkeypatch.setitem(sys.modules, "calibkit.course.check", check)  # both are put back afterwards
    monkeypatch.setattr(calibkit.course, "check", check)
    worker.without_checkers()
    assert calibkit.course.check.signed_gap(print) is None
    assert not hasattr(calibkit.course.check, "__file__")
    inspect.getmodule(graded)  # which asks all modules for their files, as torch does


@sandboxed
def test_neither_references_nor_solutions_nor_homes_are_in_sight(tmp_path):
    (tmp_path / "grades.csv").write_text("secret", encoding="utf-8")
    folders = [sandbox.PACKAGE / sandbox.CHECK, sandbox.PACKAGE.parent / "notebooks", tmp_path]
    assert all(any(folder.iterdir()) for folder in folders)  # there is something to be seen
    code = f"""
    import os
    def f(p):
        seen = [name for folder in {[*map(str, folders)]} if os.path.isdir(folder)
                for name in os.listdir(folder)]
        seen += os.listdir("/tmp") + [name for name in os.environ if "CALIBKIT_S" in name]
        raise ValueError(f"sees {{seen}}")
    """
    os.environ["CALIBKIT_SECRET"] = "a key"
    try:
        assert "sees []" in repr(graded(code, WALLS))
    finally:
        del os.environ["CALIBKIT_SECRET"]


HARMS = {
    "fork": "os.fork()",
    "a program": "subprocess.run(['true'])",
    "network": "socket.create_connection(('127.0.0.1', 80))",
    "the grader's process": "os.kill(os.getppid(), 9)",
    "address space": "mmap.mmap(-1, 20 << 30)",
    "a large file": "open('large', 'wb').write(bytes(100 << 20))",
    "many files": "[open(str(n), 'wb').write(bytes(8 << 20)) for n in range(100)]",
}


@both
def test_what_harms_others_is_refused(walls):
    tried = "\n".join(f"harms[{name!r}] = lambda: {code}" for name, code in HARMS.items())
    code = f"""
import mmap, os, socket, subprocess
harms = dict()
{tried}
def f(number):
    try:
        [*harms.values()][int(number)]()
    except OSError:
        return 1.0
    return 0.0
"""
    names = [name for name in HARMS if walls or name != "many files"]  # disks are not walled off
    with sandbox.Answer([code], "f", walls=walls) as answer:
        assert {name: answer(list(HARMS).index(name)) for name in names} == dict.fromkeys(names, 1)


@pytest.mark.parametrize(("harm", "told"), [
    ("os._exit(0)", "its process ended"),
    ("return bytearray(4 << 30)", "MemoryError"),
    ("return [[0.0] * 1000] * 10**5", "."),
    ("[os.write(n, b'[' * 10**6 + b'\\n') for n in range(3, 20) if writes(n)]", "no result"),
])  # fmt: skip
def test_harm_to_oneself_costs_a_zero_and_nothing_else(harm, told):
    code = f"""
    import os
    def writes(n):
        try:
            return os.write(n, b"") == 0
        except OSError:
            return False
    def f(p):
        {harm}
    """
    reply = graded(code, WALLS or [])
    assert not reply
    assert told in repr(reply)


@sandboxed
def test_nothing_of_the_teacher_can_be_deleted_or_written(tmp_path):
    ours = [tmp_path / "precious.txt", sandbox.PACKAGE / "__init__.py"]
    ours[0].write_text("precious", encoding="utf-8")
    before = [path.read_bytes() for path in ours]
    code = f"""
    import os, shutil
    def f(p):
        done = []
        for path in {[*map(str, ours)]}:
            for harm in (os.remove, lambda name: open(name, "w").write("gone")):
                try:
                    harm(path)
                    done.append(path)
                except OSError:
                    pass
        for folder in ("/usr/games", {str(tmp_path)!r}):
            shutil.rmtree(folder, ignore_errors=True)
        for place in ("/here", "/dev/here", "/usr/here"):
            try:
                open(place, "w")
                done.append(place)
            except OSError:
                pass
        raise ValueError(f"done {{done}}")
    """
    assert "done []" in repr(graded(code, WALLS))
    assert [path.read_bytes() for path in ours] == before


def test_a_process_is_gone_when_its_answer_is(monkeypatch):
    monkeypatch.setattr(running, "SECONDS", 1.0)
    with pytest.raises(running.TimeUp), sandbox.Answer(["f = 1", "while True: f = 2"], "f") as one:
        raise AssertionError("the cell that defines f never ends")
    with pytest.raises(sandbox.Missing, match="has no f"), sandbox.Answer(["g = 1"], "f"):
        pass
    one = sandbox.Answer(["f = abs"], "f")
    with one:
        assert one(-2.5) == 2.5
    assert one.process.poll() is not None
    assert not os.path.exists(one.room.name)
    with pytest.raises(sandbox.Ended):
        one(1.0)


def test_arguments_arrive_exactly_and_changes_come_back():
    values = [torch.tensor([0.1, float("nan"), float("inf")]), torch.eye(2).bool(), 1 / 3, 7]
    for value in values:
        again = worker.decoded(worker.encoded(value))
        if isinstance(value, torch.Tensor):
            assert torch.equal(again.nan_to_num(), value.nan_to_num())
            assert again.dtype == value.dtype
        else:
            assert again == value
    reply = graded("def f(probs, labels):\n    labels -= 1\n    return 0.0", [], "signed_gap")
    assert "changes its argument `labels`" in reply.text


def test_a_result_that_is_no_number_is_named_as_at_home():
    results = {
        "'text'": "text",
        "1j": "complex",
        "print": "a function",
        "(x for x in 'ab')": "a generator",
        "object()": "a object",
    }
    code = f"def f(k):\n    return [{', '.join([*results, 'None'])}][k]"
    with sandbox.Answer([code], "f") as answer:
        for number, told in enumerate(results.values()):
            with pytest.raises(running.Refused, match=told):
                running.numbers(answer(number))
        assert answer(len(results)) is None


def test_the_slice_has_what_the_answer_uses_and_no_more():
    cells = [
        "import a, b.c as d\nfrom e import *",
        "x = 1",
        "x = x + 1",
        "y = x",
        "if x:\n    def f():\n        return d(y)",
        "print(x)",
        "y = 3",
    ]
    found = slicing.needed(cells, "f")
    kinds = ["Import", "ImportFrom", "Assign", "Assign", "Assign", "If"]
    assert [type(statement).__name__ for statement in found.body] == kinds
    assert slicing.needed(cells, "g") is None
    dotted = slicing.needed(["import a.b", "def f():\n    return a.b.c"], "f")
    assert [type(statement).__name__ for statement in dotted.body] == ["Import", "FunctionDef"]
    cells = [
        "def train(T):\n    return T",
        "nlls = [train(T) for T in range(9)]",
        "labels = train(1)",
        "count = 0",
        "count += 1",
        "scale = 2.0",
        "def f(labels, T=scale):\n"
        "    global count\n"
        "    count = len([p for p in labels])\n"
        "    def inner(k):\n"
        "        return k * T * count\n"
        "    return inner(2)",
    ]
    code = [ast.unparse(statement) for statement in slicing.needed(cells, "f").body]
    assert code[:-1] == ["count = 0", "count += 1", "scale = 2.0"]
    assert slicing.needed(["this is no Python", "f = 1"], "f")
    with pytest.raises(SyntaxError):
        slicing.needed(["def f(:"], "f")
