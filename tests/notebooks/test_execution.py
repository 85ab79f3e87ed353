"""Every notebook runs at the smoke scale, with another seed, from a fresh kernel.

The folded answers of "Go further" run behind it, as a student would run them. Evidence, whose
sweeps are the longest, runs in `make test-slow`; a second kernel finds all its runs in the cache.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from jupyter_client.manager import start_new_kernel
from nbformat.v4 import new_code_cell

from calibkit.course import checkout, execution
from tests.notebooks import pattern, preloaded

PARAMETERS = {"SCALE": "smoke", "SEED": 7, "DEVICE": "cpu"}
NO_TRAINING = """
from calibkit.lab.training import loop
def refuse(trials, device):
    raise AssertionError(f"{len(trials)} runs are in the cache and are trained again")
loop.train_unit = refuse
"""


@pytest.fixture(scope="module", autouse=True)
def loaded_already():
    """Kernels of this file are forked where that is safe: `preloaded`."""
    if sys.platform != "linux":
        yield
        return
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        address, place = f"{folder}/s", Path(folder, "kernels", "preloaded")
        argv = [sys.executable, "-S", preloaded.__file__, address, "{connection_file}"]
        place.mkdir(parents=True)
        (place / "kernel.json").write_text(
            json.dumps(execution.KERNEL | {"argv": argv}), encoding="utf-8"
        )
        patch.setenv("JUPYTER_PATH", folder, prepend=os.pathsep)
        patch.setitem(execution.KERNEL, "name", place.name)
        server = [sys.executable, "-P", preloaded.__file__, address]
        with subprocess.Popen(server, stdout=subprocess.PIPE) as process:
            assert process.stdout.readline(), "what lessons import cannot be loaded"
            yield
            process.terminate()


@pytest.fixture(scope="module")
def second_kernel():
    """Runs code in one kernel for all notebooks, as its start takes longer than theirs.

    Raises AssertionError with what the code raises.
    """
    manager, client = start_new_kernel(
        kernel_name=execution.KERNEL["name"], cwd=str(checkout.root() / "notebooks")
    )

    def execute(code):
        reply = client.execute_interactive(
            code,
            store_history=False,
            allow_stdin=False,
            timeout=execution.LIMITS["smoke"],
            output_hook=lambda message: None,
        )
        assert reply["content"]["status"] == "ok", "\n".join(reply["content"]["traceback"])

    execute(NO_TRAINING)
    yield execute
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def headless(lesson, output):
    """The code cells of a lesson that was run, with the parameters that were put in."""
    notebook = execution.read(lesson)
    notebook.cells.append(new_code_cell(pattern.further(notebook)))
    done = execution.execute(
        notebook, parameters=PARAMETERS, cwd=lesson.notebook.parent, output=output
    )
    return [cell for cell in done.cells if cell.cell_type == "code" and cell.source.strip()]


@pytest.mark.parametrize("lesson", checkout.lessons(), ids=lambda lesson: lesson.name)
def test_a_lesson_runs_headless(lesson, tmp_path):
    assert all(cell.execution_count for cell in headless(lesson, tmp_path / "done.ipynb"))


@pytest.mark.slow
@pytest.mark.parametrize("lesson", checkout.evidence(), ids=lambda lesson: lesson.name)
def test_evidence_runs_headless_and_finds_its_runs_again(lesson, tmp_path, second_kernel):
    code = headless(lesson, tmp_path / "done.ipynb")
    second_kernel("%reset -f")
    for cell in code:
        second_kernel(cell.source)
