"""Grade a folder of notebooks: one row a student, one column an exercise.

A notebook's function runs in a sandbox (`sandbox` says what that defends), on the cases of the
checker and on others that no file holds; the library's own function for the exercise is withheld
from it. Right on all cases is one point, everything else none. Only functions are run, not the
notebook: what else it trains, prints or deletes never happens. Before the class, the course's own
solution is graded in the same way, so that nobody loses points to a sandbox that does not work.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from pathlib import Path

from tqdm.auto import tqdm

from calibkit import validate
from calibkit.course import check, checkout
from calibkit.course.check.running import TimeUp
from calibkit.course.classroom import examining, reading, sandbox, submissions, unseen
from calibkit.course.classroom.gradebook import UNKNOWN, Grade, Gradebook, Marked
from calibkit.course.classroom.submissions import Submission

SEEDS = 10**9  # a spreadsheet keeps such a number exactly
NOT_HANDED_IN = "not handed in"
NO_SANDBOX = (
    "no sandbox works here: bubblewrap (Linux: apt install bubblewrap) is not there, or may not "
    "make namespaces. Students' code could then read and delete your files. If you trust these "
    "students, say --trust; better do so in a virtual machine or a container that you throw away."
)


def named(words: Iterable[str], folder: str | Path) -> tuple[list[str], list[str]]:
    """Lessons and students that the words of `--only` mean: ["06"] and ["anna"] of 06 and anna.

    A word is a lesson where a lesson's name starts so. Where a student's does, too, it must say
    which is meant, as lesson:06 or student:06; else ValueError is raised.
    """
    known = [lesson.name for lesson in checkout.lessons()]
    lessons, students = [], []
    for word in words:
        kind, mark, name = word.partition(":")
        if mark and kind in ("lesson", "student"):
            (lessons if kind == "lesson" else students).append(name)
        elif not any(lesson.startswith(word) for lesson in known):
            students.append(word)
        elif any(word == one.student for one in submissions.read(Path(folder))):
            raise ValueError(
                f"{word} is a lesson and a student: say lesson:{word} or student:{word}"
            )
        else:
            lessons.append(word)
    return lessons, students


def grade(
    folder: str | Path,
    only: Iterable[str] = (),
    *,
    exercises: Iterable[str] = (),
    trust: bool = False,
    seed: int | None = None,
    students: Iterable[str] = (),
    roster: str | Path | None = None,
) -> Gradebook:
    """Grade what a class handed in.

    folder: NAME.ipynb, or a folder NAME with notebooks, for each student.
    only: lessons whose names start so; by default those of which anything was handed in.
    exercises: those that were set, by the names of their checkers, such as "ece"; by default all.
    trust: grade without a sandbox where none works. seed: of the cases that no notebook shows, the
    same for all students of a run, by default a secret one; the same seed gives the same cases, and
    the same marks to an answer without chance or a clock in it.
    students: grade these alone. roster: a CSV file with all students, of whom each gets a row.

    An error that is not the student's gives "?" in place of points, which counts as none.

    Raises ValueError for a folder without notebooks, an unknown exercise or student, a roster that
    cannot be read, without a sandbox or `trust`, and where the course's own solution is not graded
    right.
    """
    walls = sandbox.bubblewrap()
    if walls is None and not trust:
        raise ValueError(NO_SANDBOX)
    everything = submissions.read(Path(folder))
    exercises = set(exercises)
    asked = [
        task
        for task in _tasks(only, exercises)
        if only or exercises or any(_cells(one, task) for one in everything)
    ]
    if not asked:
        raise ValueError(f"no notebook in {folder} holds an exercise of the course")
    handed_in, unknown = submissions.on_the_roster(everything, roster)
    handed_in = submissions.of(students, handed_in)
    seed = secrets.randbelow(SEEDS) if seed is None else validate.integer("seed", seed, 0)
    _rehearse(asked[0], seed, walls or [])
    marked = []
    for one in tqdm(handed_in, unit="student"):
        grades = {task.checker: _graded(one, task, seed, walls or []) for task in asked}
        marked.append(Marked(one.student, grades, one.troubles, bool(walls), one.fingerprint))
    titles = {task.checker: task.title for task in asked}
    return Gradebook(seed, titles, tuple(marked), tuple(unknown))


def _rehearse(task: reading.Exercise, seed: int, walls: list[str]) -> None:
    """Grade the course's own solution as a student's; raises ValueError if it is not right."""
    (lesson,) = reading.chosen([task.lesson])
    cells = reading.filled(reading.committed(lesson), [task])
    grade = _graded(Submission("calibkit", {f"{task.lesson}.ipynb": cells}), task, seed, walls)
    if grade.points != 1:
        raise ValueError(
            f"nobody was graded, for calibkit's own solution of {task.checker} is not graded right "
            f"on this machine: {grade.message}"
        )


def _tasks(only: Iterable[str], exercises: set[str]) -> list[reading.Exercise]:
    """The exercises in code of the lessons, in order; those named, if any are."""
    tasks = [
        task
        for lesson in reading.chosen(only)
        for task in reading.exercises(lesson.name, reading.committed(lesson))
        if task.checker
    ]
    known = [task.checker for task in tasks]
    if not exercises <= {*known}:
        unknown = ", ".join(sorted(exercises - {*known}))
        raise ValueError(f"no exercise is called {unknown}; there are {', '.join(known)}")
    return [task for task in tasks if not exercises or task.checker in exercises]


def _cells(submission: Submission, task: reading.Exercise) -> tuple[list[str], str] | None:
    """The notebook that holds an exercise, the last by name, and the function's name there.

    One that calls the checker comes before one that only names the function.
    """
    texts = [("\n".join(cells), cells) for cells in reversed(submission.notebooks.values())]
    for text, cells in texts:
        for checker, name in reversed(reading.CHECKED.findall(text)):
            if checker == task.checker:
                return cells, name
    holding = (cells for text, cells in texts if task.function in text)
    return next(((cells, task.function) for cells in holding), None)


def _graded(submission: Submission, task: reading.Exercise, seed: int, walls: list[str]) -> Grade:
    handed_in = _cells(submission, task)
    if handed_in is None:
        return Grade(0, NOT_HANDED_IN)
    exercise = check.EXERCISES[task.checker]
    withheld = unseen.withheld(exercise, task.solution)
    answer = sandbox.Answer(*handed_in, withheld=withheld, walls=walls, seed=seed)
    try:
        with answer as function:
            found = examining.examine(exercise, seed, function)
            gone = bool(getattr(function, "why", ""))  # its process: what came after is no result
    except TimeUp:
        return _failed(0, "the cells that the function needs had not ended in time", answer)
    except (sandbox.Missing, sandbox.Ended, sandbox.Raised, NotImplementedError) as error:
        return _failed(0, f"{type(error).__name__}: {error}", answer)
    except Exception as error:
        words = f"not graded, for an error of the grader: {error!r}"
        return _failed(UNKNOWN, words, answer)
    return Grade(
        int(found.reply.passed),
        " ".join(found.reply.plain.split()),
        found.share,
        None if gone else found.smallest,
        tuple(answer.attempts),
    )


def _failed(points: int | str, message: str, answer: sandbox.Answer) -> Grade:
    """The grade of an answer that came to no result."""
    return Grade(points, message, attempts=tuple(answer.attempts))
