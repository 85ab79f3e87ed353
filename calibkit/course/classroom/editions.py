"""Three editions of the course, each from the committed notebooks: for students, teachers, graders.

The notes for the teacher lie in notebooks/teaching, one file a lesson, and enter the teacher's
form alone: no notebook, page or site that students see is made from that folder.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from calibkit.course import check, checkout, execution, pages
from calibkit.course.classroom import contents

BESIDE = ("results", "images")  # what lessons load and show
# Files of each training on photographs, in results/night/runs*, and what reads them.
OF_A_RUN = {"*-epochs.csv": "photograph_runs.epochs", "*.npz": "photograph_runs.logits"}
NOTES = "teaching"  # the folder of the notes, beside the notebooks
FOR_TEACHERS = ("class_guide.md", "commands.md")
LESSON = re.compile(r"\[(?P<words>[^\]]*)\]\((?P<name>(?:evidence/)?\d\d_\w+)\.ipynb\)")
# Links that lead out of the folder of the lessons, or to what students do not get.
ABSENT = re.compile(rf"\[(?P<words>[^\]]*)\]\((?:\.\./|{'|'.join(FOR_TEACHERS)})[^)]*\)")
OWN_WORDS = "*Your answer:*\n\n"
THE_ANSWER = "## The answer"  # bold text below it, in this cell or the next text
START = "README.md"  # of what students get
FIRST = """\
# Start

1. Put this folder beside the folder `course` that you were given, and open a terminal where both
   lie. You need Python 3.11 or newer.
2. Once, to install calibkit ([any machine](any_machine.md) has other ways):

       python3 -m venv .venv
       .venv/bin/python -m pip install -c course/constraints.txt -e "./course[course]"
       .venv/bin/python -m calibkit doctor

   The last lines say whether all is there.
3. Once, so that nobody waits in class: `.venv/bin/jupyter execute {folder}/{first}` trains the
   networks of this lesson, some minutes, and shows no answer. The same for each other lesson.
4. Each time: `.venv/bin/python -m jupyterlab {folder}`; open `{first}` first.

On Windows the first line is `py -3 -m venv .venv`, and the others begin with
`.venv\\Scripts\\python`.

Do not use *Run All*: it shows every answer. Run one cell at a time from the top (Shift + Enter).
Where it says *predict*, write down a number before you run the next cell.
"""


def student(
    folder: str | Path, only: Iterable[str] = (), *, with_evidence: bool = False
) -> list[Path]:
    """Write the lessons as students get them: no outputs, solutions or answers; stubs and hints.

    Beside them lies what they load, so that they run where calibkit is installed, and a page that
    says what to do first.

    with_evidence: the evidence of these lessons too, executed, in a folder of its own.

    Raises ValueError for a folder that is not empty.
    """
    made = _written(folder, only, lambda _, notebook: without_answers(notebook), with_evidence)
    first = FIRST.format(folder=Path(folder).resolve().name, first=made[0].name)
    (Path(folder) / START).write_text(first, encoding="utf-8")
    return made


def teacher(
    folder: str | Path, only: Iterable[str] = (), *, with_evidence: bool = False
) -> list[Path]:
    """Write the lessons with outputs, open solutions, the notes, and the checkers' known mistakes.

    Arguments and errors are those of `student`.
    """
    return _written(folder, only, annotated, with_evidence)


def key(folder: str | Path, only: Iterable[str] = ()) -> tuple[list[Path], list[str]]:
    """Write exercises with executed solutions and all answers; returns the verdicts as well.

    Raises ValueError for a folder that is not empty.
    """
    folder, paths, verdicts = empty(folder), [], []
    for lesson in contents.chosen(only):
        notebook, said = answered(lesson.name, contents.committed(lesson))
        paths.append(_write(notebook, folder, f"{lesson.name}_key"))
        verdicts += [f"{lesson.name[:2]} {checker}: {reply}" for checker, reply in said.items()]
    return paths, verdicts


def without_answers(notebook):
    """A notebook as a student gets it; it is changed in place and returned."""

    def kept(found: re.Match) -> str:
        """Without a folded solution; under a question a place for the answer."""
        title = found["title"].strip()
        if title == contents.SOLUTION:
            return ""
        if title == contents.ANSWER:
            return OWN_WORDS
        return f"**{title}**\n\n{OWN_WORDS}" if contents.QUESTION.match(title) else found[0]

    asked = False  # the last text ended with that heading
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        else:
            text = contents.FOLDED.sub(kept, cell.source)
            below = r"\A" if asked else rf"(?<=^{THE_ANSWER}\n\n)"
            ours = r"<details><summary>Ours</summary>\n\n\g<0>\n\n</details>"
            text = re.sub(rf"{below}\*\*.+?\*\*", ours, text, flags=re.MULTILINE | re.DOTALL)
            asked = text.endswith(THE_ANSWER)
            cell.source = re.sub(r"\n{3,}", "\n\n", text).strip()
    return notebook


def annotated(lesson: checkout.Lesson, notebook):
    """The notebook with open answers, notes under the section that they are about, and mistakes."""
    said, cells = notes(lesson), []
    opening = rf"<details>(?=<summary>({contents.SOLUTION}|{contents.ANSWER}|\d+\.))"
    for cell in notebook.cells:
        cells.append(cell)
        if cell.cell_type == "code":
            if called := contents.CHECKED.search(cell.source):
                cells.append(_for_teacher(misconceptions(called[1])))
            continue
        cell.source = re.sub(opening, "<details open>", cell.source)
        headings = [found[0].lstrip("# ") for found in contents.HEADING.finditer(cell.source)]
        for heading in ["", *headings] if cell.source.startswith("# ") else headings:
            if said.get(heading):
                name = heading or "Before the class"
                cells.append(_for_teacher(f"**{name}**\n\n{said[heading]}"))
    notebook.cells = cells
    return notebook


def notes(lesson: checkout.Lesson) -> dict[str, str]:
    """The notes on a lesson by heading, what stands before the first under ""; {} without notes."""
    path = lesson.notebook.parent / NOTES / f"{lesson.name}.md"
    if not path.exists():
        return {}
    _, _, text = path.read_text(encoding="utf-8").partition("\n")  # the title is the lesson's
    first, *parts = re.split(r"^## ", text, flags=re.MULTILINE)
    by_heading = (part.partition("\n") for part in parts)
    return {"": first.strip()} | {name.strip(): body.strip() for name, _, body in by_heading}


def _for_teacher(text: str):
    quoted = "\n".join(f"> {line}".rstrip() for line in text.splitlines())
    return new_markdown_cell(f"> **For the teacher.** {quoted[2:]}", metadata={"tags": ["teacher"]})


def misconceptions(checker: str) -> str:
    """The known mistakes of an exercise, as its checker tells them."""
    hints = list(dict.fromkeys(one.hint for one in check.EXERCISES[checker].mistakes))
    lines = "\n".join(f"- {hint[0].upper()}{hint[1:]}" for hint in hints)
    return (
        f"Mistakes to expect here, in the words of `check.{checker}`:\n\n"
        f"<details><summary>{len(hints)} known mistakes</summary>\n\n{lines}\n\n</details>"
    )


def answered(lesson: str, notebook):
    """A notebook of the exercises with executed solutions; and the replies by checker."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    tagged = [place for place, c in enumerate(code) if "parameters" in c.metadata.get("tags", ())]
    imports = code[max(0, tagged[0] - 1) if tagged else 0]  # the last cell before the parameters
    cells = [new_markdown_cell(f"# Key to {pages.title(notebook)}")]
    cells.append(new_code_cell(imports.source, execution_count=1))
    replies: dict[str, str] = {}
    for task in contents.exercises(lesson, notebook):
        cells.append(new_markdown_cell(f"## Exercise: {task.title}\n\n{task.text}"))
        if not task.checker:
            cells.append(new_markdown_cell(f"**Answer.**\n\n{task.solution}"))
            continue
        reply = replies[task.checker] = repr(check.EXERCISES[task.checker](solved(task)))
        count = {"execution_count": len(replies) + 1}
        result = new_output("execute_result", {"text/plain": reply}, **count)
        call = f"{task.solution}\n\n\ncheck.{task.checker}({task.function})"
        cells.append(new_code_cell(call, outputs=[result], **count))
    asked = contents.questions(lesson, notebook)
    recall = [f"**{question.number}. {question.text}**\n\n{question.answer}" for question in asked]
    further = contents.section(contents.prose(notebook), "Go further")
    told = contents.FOLDED.sub(
        lambda found: f"**{found['title']}.**\n\n{found['body'].strip()}", further
    )
    variables = "(Code in these answers needs the lesson's own variables.)"
    cells.append(new_markdown_cell("\n\n".join(["## Recall", *recall])))
    cells.append(new_markdown_cell(f"## Go further\n\n{variables}\n\n{told}"))
    return new_notebook(cells=cells, metadata={"kernelspec": execution.KERNEL}), replies


def solved(task: contents.Exercise):
    """The function that the folded solution defines; it is the course's own code."""
    import torch

    import calibkit

    names = ("metrics", "recalibration", "theory")
    space = {"torch": torch, **{name: getattr(calibkit, name) for name in names}}
    exec(task.solution, space)
    return space[task.function]


def _written(
    folder: str | Path, only: Iterable[str], form: Callable, with_evidence: bool
) -> list[Path]:
    """Each lesson in its form, beside the tables, sliders, pictures and pages that it uses.

    Links lead to those lessons alone that are there.
    """
    folder, lessons = empty(folder), contents.chosen(only)
    names, home, written = {lesson.name for lesson in lessons}, checkout.root() / "notebooks", []
    for page in home.glob("*.md"):
        if page.name not in FOR_TEACHERS:
            text = ABSENT.sub(r"\g<words>", page.read_text(encoding="utf-8"))
            (folder / page.name).write_text(_with_links(text, names), encoding="utf-8")
    for lesson in lessons:
        notebook = form(lesson, contents.committed(lesson))
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = _with_links(cell.source, names)
        written.append(_write(notebook, folder, lesson.name))
    code = "".join(path.read_text(encoding="utf-8") for path in written)
    unread = [files for files, reader in OF_A_RUN.items() if reader not in code]

    def left_out(at: str, names: list[str]) -> set[str]:
        of_runs = Path(at).name.startswith("runs") and not with_evidence
        return shutil.ignore_patterns(*unread)(at, names) if of_runs else set()

    for name in BESIDE:
        shutil.copytree(home / name, folder / name, ignore=left_out)
    if with_evidence:  # as it stands
        (beside := folder / checkout.EVIDENCE).mkdir()
        every = [lesson for lesson in checkout.evidence() if lesson.source.stem in names]
        written += [_write(contents.committed(one), beside, one.source.stem) for one in every]
    return written


def _with_links(text: str, names: set[str]) -> str:
    return LESSON.sub(lambda link: link[0] if link["name"] in names else link["words"], text)


def empty(folder: str | Path) -> Path:
    """Make a folder; raises ValueError for one that holds something."""
    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{folder} is not empty; name a new folder, so that no work is lost")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _write(notebook, folder: Path, name: str) -> Path:
    path = folder / f"{name}.ipynb"
    for place, cell in enumerate(notebook.cells):
        cell.id = f"{place:03d}"  # equal input, equal file
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    nbformat.validate(notebook)
    nbformat.write(notebook, path)
    return path
