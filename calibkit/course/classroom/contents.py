"""What the committed notebooks hold for a class: exercises, folded answers, recall questions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from calibkit.course import checkout

FOLDED = re.compile(r"<details><summary>(?P<title>.*?)</summary>(?P<body>.*?)</details>", re.DOTALL)
CHECKED = re.compile(r"^check\.(?!keep\()(\w+)\((\w+)\)", re.MULTILINE)
HEADING = re.compile(r"^#{2,3} .*$", re.MULTILINE)
CODE = re.compile(r"```python\n(.*?)```", re.DOTALL)
QUESTION = re.compile(r"\d+\.\s")  # how the title of a recall question begins
SOLUTION, ANSWER = "Solution", "Answer"


@dataclass(frozen=True)
class Exercise:
    """One exercise of a lesson.

    checker, function: of `check.checker(function)`; empty where words are asked, not code.
    text: the task. stub: the cell that a student fills in. solution: its code, or the answer.
    """

    lesson: str
    title: str
    text: str
    solution: str
    checker: str = ""
    function: str = ""
    stub: str = ""


@dataclass(frozen=True)
class Question:
    """A recall question and its answer, both in Markdown."""

    lesson: str
    number: int
    text: str
    answer: str


def chosen(only: Iterable[str] = ()) -> list[checkout.Lesson]:
    """The lessons whose names start with one of `only`, in order; all for none."""
    names = tuple(only) or (None,)
    found = {lesson.name: lesson for name in names for lesson in checkout.lessons(name)}
    return [found[name] for name in sorted(found)]


def committed(lesson: checkout.Lesson):
    """The notebook of a lesson with its outputs; raises ValueError where it is not made yet."""
    import nbformat

    if not lesson.notebook.exists():
        raise ValueError(f"{lesson.notebook} is not there; run  make notebooks ONLY={lesson.name}")
    return nbformat.read(lesson.notebook, as_version=4)


def section(text: str, heading: str) -> str:
    """What stands under `## heading` up to the next heading of that rank; "" if it is not there.

    >>> section("## A\\n\\none\\n\\n## B\\n\\ntwo", "A")
    'one'
    """
    found = re.search(
        rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL
    )
    return found[1].strip() if found else ""


def write_texts(folder: str | Path, texts: Mapping[str, str]) -> list[Path]:
    """Write each text under the name of its file into a folder, made if need be."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    return [folder / name for name in texts]


def prose(notebook) -> str:
    """All Markdown of a notebook."""
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def question(notebook) -> str:
    """What stands after **Question.** at the head of a lesson; "" without one."""
    found = re.search(r"\*\*Question\.\*\* (.+?)(?:\n\n|\Z)", prose(notebook), re.DOTALL)
    return found[1] if found else ""


def folded(text: str) -> dict[str, str]:
    """What lies folded in a Markdown text, by its title.

    >>> folded("<details><summary>Hint</summary>\\n\\nThink.\\n\\n</details>")
    {'Hint': 'Think.'}
    """
    found = FOLDED.finditer(text)
    return {" ".join(one["title"].split()): one["body"].strip() for one in found}


def questions(lesson: str, notebook) -> list[Question]:
    """The recall questions of a lesson."""
    asked = folded(section(prose(notebook), "Recall"))
    return [
        Question(lesson, number, QUESTION.sub("", text, count=1), answer)
        for number, (text, answer) in enumerate(asked.items(), start=1)
    ]


def exercises(lesson: str, notebook) -> list[Exercise]:
    """The exercises of a lesson in order, those in code and those in words."""
    cells, every = notebook.cells, []
    for place, cell in enumerate(cells):
        if cell.cell_type != "markdown":
            continue
        # each heading of rank 2 or 3 with what stands under it
        _, *parts = re.split(r"^#{2,3} (.*)$", cell.source, flags=re.MULTILINE)
        for name, text in zip(parts[::2], parts[1::2], strict=True):
            if not name.startswith("Exercise: "):
                continue
            said, found = name.removeprefix("Exercise: "), folded(text)
            if ANSWER in found:
                task = FOLDED.sub("", text).strip()
                every.append(Exercise(lesson, said, task, found[ANSWER]))
            elif call := CHECKED.search(cells[place + 1].source):
                stub, after = cells[place + 1].source, folded(cells[place + 2].source)
                (code,) = CODE.findall(after[SOLUTION])
                task, solution = text.strip(), code.strip()
                every.append(Exercise(lesson, said, task, solution, call[1], call[2], stub))
    return every


def filled(notebook, tasks: Iterable[Exercise]) -> list[str]:
    """The code cells of a notebook with solutions in the place of stubs, as a student hands in."""
    answers = {
        task.stub: f"{task.solution}\n\n\ncheck.{task.checker}({task.function})" for task in tasks
    }
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    return [answers.get(source, source) for source in code]
