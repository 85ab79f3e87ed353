"""One page for each student: points, what the checker said, the smallest case that fails.

Plain HTML without a script: a page shows what a student wrote, and runs none of it.
"""

from __future__ import annotations

import re
import shlex
from html import escape
from pathlib import Path

from calibkit.course.classroom.grading import UNKNOWN, Grade, Gradebook, Marked

UNSAFE = re.compile(r'[\\/:*?"<>|\x00-\x1f]')  # in names of files, on one system or another
STYLE = """\
body { max-width: 46rem; margin: 1.5rem auto; padding: 0 1rem; font: 1rem/1.5 sans-serif; }
pre { overflow-x: auto; padding: .5rem; border: 1px solid #767676; white-space: pre-wrap;
  overflow-wrap: anywhere; }
.warning { border-left: .4rem solid #b00020; padding-left: .8rem; }
@media (prefers-color-scheme: dark) { html { color-scheme: dark; } }"""


def write(book: Gradebook, folder: str | Path) -> list[Path]:
    """Write STUDENT.html for each student of a gradebook into a folder."""
    folder, written, used = Path(folder), [], set()
    folder.mkdir(parents=True, exist_ok=True)
    for marked in book.marked:
        name = _file(marked.student, used)
        (folder / name).write_text(page(book, marked), encoding="utf-8")
        written.append(folder / name)
    return written


def page(book: Gradebook, marked: Marked) -> str:
    """The page of one student."""
    exercises = "\n".join(
        _exercise(book.titles[name], name, grade) for name, grade in marked.grades.items()
    )
    notes = "".join(f"<li>{_told(note)}</li>" for note in marked.notes)
    words = {
        "student": _told(marked.student),
        "style": STYLE,
        "total": marked.total,
        "most": len(marked.grades),
        "names": " ".join(map(escape, marked.grades)),
        "warning": _warning(marked),
        "notes": f"<ul>{notes}</ul>" if notes else "",
        "exercises": exercises,
        "seed": book.seed,
        "graded": f" --fingerprint {marked.fingerprint}" if marked.fingerprint else "",
        "fingerprint": _fingerprint(marked),
        "named": _told(shlex.quote(marked.student)),
    }
    return PAGE.format(**words)


PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Feedback: {student}</title>
<style>
{style}
</style>
</head>
<body>
<h1>Feedback for {student}</h1>
<p><strong>{total} of {most} points</strong> for exercises in code. A right answer is one point,
everything else none. Exercises in words are read by your teacher.</p>
{warning}
{notes}
{exercises}
<h2>If you do not agree</h2>
<p>Your answers were tried on the cases of the checker in your notebook and on others, which were
drawn with the seed <strong>{seed}</strong>. Tell your teacher this seed and the name of the
exercise. The teacher can run exactly these cases again on what you handed in:</p>
<pre>python -m calibkit grade FOLDER --exercises {names} --seed {seed}{graded} --only {named}</pre>
<p>(with <code>--trust</code> and <code>--roster</code>, if they were used before). Your point needs
the cases of the notebook, too: where those that it does not show are all right, one of its own is
not.</p>
{fingerprint}<p>A number is right if it differs from ours by no more than rounding does: by a
hundred-thousandth, or by what the exercise allows. Where a case stands above, you can try it
yourself: run the cell with your function, then the call, with your function's name in place of the
exercise's.</p>
</body>
</html>
"""


def _exercise(title: str, name: str, grade: Grade) -> str:
    points = (
        "not graded yet: ask your teacher" if grade.points == UNKNOWN else f"{grade.points} of 1"
    )
    parts = [f"<h2>{_told(title)} (<code>{escape(name)}</code>)</h2>", f"<p>Point: {points}."]
    if grade.share is not None:
        parts.append(
            f"Right on {100 * grade.share:.0f} % of the cases that your notebook does not show."
        )
    parts.append(f"</p>\n<p>{_told(grade.message)}</p>")
    if grade.smallest is not None:
        case = grade.smallest
        told = f"{case.call}\nexpected: {case.expected}\nyours:    {case.given}"
        parts.append(f"<p>The smallest case that fails: {_told(case.name)}.</p>")
        parts.append(f"<pre>{escape(_printable(told))}</pre>")
    return "\n".join(parts)


def _fingerprint(marked: Marked) -> str:
    if not marked.fingerprint:
        return ""
    return (
        "<p>The code that you handed in has the fingerprint "
        f"<strong>{marked.fingerprint}</strong>. "
        "Graded again, it must have the same one: else it is not what was graded here.</p>\n"
    )


def _warning(marked: Marked) -> str:
    if not marked.warning:
        return ""
    return f'<p class="warning"><strong>Warning.</strong> {_told(marked.warning)}</p>'


def _file(student: str, used: set[str]) -> str:
    """A name of a file that every system takes, another one for each student."""
    name = stem = UNSAFE.sub("_", _printable(student)).strip(". ") or "student"
    number = 2
    while name.casefold() in used:
        name, number = f"{stem} ({number})", number + 1
    used.add(name.casefold())
    return f"{name}.html"


def _told(text: str) -> str:
    return escape(_printable(" ".join(text.split())))


def _printable(text: str) -> str:
    return "".join(sign for sign in text if sign.isprintable() or sign == "\n")
