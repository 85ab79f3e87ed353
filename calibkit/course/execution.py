"""Execute the course: every notebook from its text twin, headless, with its errors found."""

from __future__ import annotations

import ast
import base64
import hashlib
import io
import json
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from calibkit import validate
from calibkit.course import claims, folded_outputs, lesson_processes
from calibkit.course.checkout import Lesson, evidence, lessons, root, with_study
from calibkit.course.explorers.explorer import WIDGET_MIME
from calibkit.course.explorers.storage import PUBLISHING
from calibkit.course.lesson_processes import Result
from calibkit.course.scale import BUDGETS

WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
PNG = "image/png"
KERNEL = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
# Seconds for a lesson, twenty times its budget or more; none where a run may take days.
LIMITS = {"smoke": 300.0, "laptop": 1_800.0, "published": 1_800.0, "gpu": 4 * 3_600.0}
PUBLISHED = "published"  # in place of a scale
# Seconds for a cell, more than any whole notebook took there on two cores: a kernel may lose a
# message, and wait for ever.
CELL_LIMITS = {"smoke": 600, "laptop": 600}


class NotebookError(RuntimeError):
    """A notebook that did not run as it should."""


def read(lesson: Lesson):
    """The notebook that the text twin describes, without outputs; equal text, equal cell ids."""
    import jupytext

    notebook = jupytext.read(lesson.source)
    notebook.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for place, cell in enumerate(notebook.cells):
        cell.id = hashlib.sha256(f"{lesson.name} {place}".encode()).hexdigest()[:8]
        cell.metadata = folded_outputs.metadata(cell.metadata.get("tags", []))
    return notebook


def execute(notebook, *, parameters: Mapping[str, Any] | None = None, cwd: Path, output=None):
    """Run a notebook in a fresh kernel and return it with its outputs; `cwd` is made if need be.

    Raises NotebookError for a parameter that the notebook does not have (papermill only logs it),
    for a cell that raises or, at smoke and laptop, takes longer than CELL_LIMITS, for a kernel that
    dies, and for an error hidden in a widget's state.
    """
    import nbformat
    import papermill
    from nbclient.exceptions import CellTimeoutError, DeadKernelError

    unknown = set(parameters or {}) - parameter_names(notebook)
    if unknown:
        raise NotebookError(
            f"unknown parameter {', '.join(sorted(unknown))}; "
            f"this notebook has {', '.join(sorted(parameter_names(notebook)))}"
        )
    target = None if output is None else str(output)
    scale = (parameters or {}).get("SCALE", "laptop")
    cwd.mkdir(parents=True, exist_ok=True)
    with_study()  # which evidence imports
    try:
        done = papermill.execute_notebook(
            nbformat.from_dict(notebook),
            target,
            parameters=dict(parameters or {}),
            # after every cell only where a run is long: it costs 2 s of a quick one
            request_save_on_cell_execute=scale != "smoke",
            execution_timeout=CELL_LIMITS.get(scale),
            kernel_name=KERNEL["name"],
            shutdown_kernel="immediate",  # to be asked first costs 1 s
            cwd=str(cwd),
            progress_bar=False,
        )
    except papermill.PapermillExecutionError as error:
        raise NotebookError(f"{error.ename}: {error.evalue}\nin the cell\n{error.source}") from None
    except CellTimeoutError:
        raise NotebookError(
            f"a cell took longer than {CELL_LIMITS[scale]} s, or its kernel stopped answering; "
            "run it again"
        ) from None
    except DeadKernelError:
        raise NotebookError(
            "its kernel died: a crash, or the system ended it for want of memory"
        ) from None
    hidden = hidden_errors(done)
    if hidden:
        raise NotebookError(f"a widget's callback raised {'; '.join(hidden)}")
    return done


def parameter_names(notebook) -> set[str]:
    """Names assigned in the cell tagged `parameters`."""
    tagged = [c.source for c in notebook.cells if "parameters" in c.metadata.get("tags", ())]
    assigned = [node for source in tagged for node in ast.parse(source).body]
    return {name.id for node in assigned for name in getattr(node, "targets", ())}


def hidden_errors(notebook) -> list[str]:
    """Errors that a callback left in the state of an Output widget, where no cell shows them."""
    state = notebook.metadata.get("widgets", {}).get(WIDGET_STATE, {}).get("state", {})
    outputs = [
        output for model in state.values() for output in model.get("state", {}).get("outputs", ())
    ]
    shown = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return [
        f"{output.get('ename')}: {output.get('evalue')}"
        for output in (*outputs, *shown)
        if output.get("output_type") == "error"
    ]


def publish(lesson: Lesson) -> Result:
    """Execute a lesson at its own defaults and write the notebook that is committed."""
    import nbformat

    def work() -> None:
        done = execute(read(lesson), cwd=lesson.notebook.parent)
        nbformat.write(stripped(done), lesson.notebook)
        if lesson.is_evidence:
            claims.keep_conclusions(lesson.notebook.parents[1])

    os.environ[PUBLISHING] = "1"  # the kernel inherits it: the lesson's explorers are kept
    try:
        return _timed(lesson.name, work)
    finally:
        del os.environ[PUBLISHING]


def stripped(notebook):
    """The notebook without what changes from run to run or needs a live kernel to be shown."""
    notebook.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    for cell in notebook.cells:
        cell.metadata = folded_outputs.metadata(cell.metadata.get("tags", []))
        if cell.cell_type == "code":
            cell.outputs = [  # without those that are a widget with no other face: a progress bar
                output
                for output in cell.outputs
                if WIDGET_MIME not in output.get("data", {}) or "text/html" in output.data
            ]
        for output in cell.get("outputs", ()):
            output.get("data", {}).pop(WIDGET_MIME, None)
            if PNG in output.get("data", {}):
                output.data[PNG] = lighter(output.data[PNG])
            if "metadata" in output:  # the text of a figure stays
                output.metadata = {kind: v for kind, v in output.metadata.items() if kind == PNG}
        folded_outputs.covered(cell)
    return notebook


def lighter(png: str) -> str:
    """A figure (PNG in base64) with a palette of 256 colours, a third of the bytes."""
    from PIL import Image

    written = io.BytesIO()
    figure: Image.Image = Image.open(io.BytesIO(base64.b64decode(png)))
    if figure.mode != "P":
        figure = figure.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    figure.save(written, "PNG", optimize=True)
    return base64.b64encode(written.getvalue()).decode()


def run(lesson: Lesson, scale: str, folder: Path) -> Result:
    """Execute a lesson at `scale` into `folder`."""
    output = folder / f"{lesson.name}.ipynb"

    def work() -> None:
        output.parent.mkdir(parents=True, exist_ok=True)
        place = lesson.notebook.parent
        execute(read(lesson), parameters={"SCALE": scale}, cwd=place, output=output)

    return _timed(lesson.name, work)


def _timed(name: str, work: Callable[[], None]) -> Result:
    start, error = time.perf_counter(), None
    try:
        work()
    except NotebookError as failure:
        error = str(failure)
    except Exception as failure:  # of any type: the others go on, and the table names this one
        error = f"{type(failure).__name__}: {failure}"
    return Result(name, time.perf_counter() - start, error)


def run_all(
    scale: str | None,
    *,
    jobs: int = 2,
    only: str | None = None,
    limit: float | None = None,
    with_evidence: bool = False,
) -> list[Result]:
    """Execute the lessons, `jobs` at a time, each in a process of its own, with one thread.

    scale: into build/course/SCALE; None: at their own defaults, into the committed notebooks.
    limit: seconds after which a lesson is ended, by default those of LIMITS.
    with_evidence: execute the evidence too, after the lessons, whose runs it finds.
    """
    scale = PUBLISHED if scale is None else validate.choice("scale", scale, tuple(BUDGETS))
    limit = LIMITS.get(scale, math.inf) if limit is None else limit
    jobs = validate.integer("jobs", jobs, 1)
    limit = validate.number("limit", limit, 0, math.inf, open_low=True)
    # One thread each: tiny models gain nothing from more, and on a busy machine threads that wait
    # for one another make a notebook ten times slower.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    logs, results = root() / "build" / "course" / "logs", []
    logs.mkdir(parents=True, exist_ok=True)  # what cannot be written is told before a bar is shown
    for part in (lessons(only), evidence(only) if with_evidence else []):
        tasks = {one.name: (__name__, str(one.source), scale) for one in part}
        results += lesson_processes.spread(tasks, jobs=jobs, limit=limit, logs=logs)
    return results


def _main(source: str, scale: str, reply: str) -> None:
    """Execute one lesson, as `lesson_processes` asks, and write its Result."""
    threading.Thread(target=lesson_processes.end_with_parent, daemon=True).start()
    lesson, folder = Lesson(Path(source)), root() / "build" / "course" / scale
    result = publish(lesson) if scale == PUBLISHED else run(lesson, scale, folder)
    Path(reply).write_text(json.dumps(asdict(result)), encoding="utf-8")


def table(results: Iterable[Result]) -> str:
    """Seconds per notebook, then what went wrong."""
    results = sorted(results, key=lambda result: result.name)
    told = [("ok" if r.error is None else r.error if stopped([r]) else "FAILED") for r in results]
    lines = [
        f"{r.name:32} {r.seconds:7.1f} s  {word}" for r, word in zip(results, told, strict=True)
    ]
    lines.append(f"{'together':32} {sum(r.seconds for r in results):7.1f} s")
    lines += [
        f"\n{r.name}: {r.error}" for r, word in zip(results, told, strict=True) if word == "FAILED"
    ]
    return "\n".join(lines)


def stopped(results: Iterable[Result]) -> bool:
    """Whether Ctrl-C ended the run before its time."""
    return any(
        result.error in (lesson_processes.STOPPED, lesson_processes.NOT_STARTED)
        for result in results
    )


if __name__ == "__main__":
    _main(*sys.argv[1:])
