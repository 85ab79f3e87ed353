"""A JupyterLab of our own: a copy of notebooks, a free port, its own settings."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from calibkit.course import execution, jupyter
from tests.browser.drive import Visit, walk_all, watched

# All cells stay in the page, however long the notebook; nothing is asked of the network.
SETTINGS = {
    "notebook-extension/tracker": {"windowingMode": "none"},
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
}
RUN = 900  # s for one notebook, on the slowest machine
STALLED = 20  # s with an idle kernel and not one cell done
PATIENCE = 120_000  # ms for JupyterLab itself
STATE = """() => {
  const prompts = [...document.querySelectorAll(".jp-CodeCell .jp-InputArea-prompt")]
    .map(prompt => prompt.innerText.trim());
  // an error is drawn like whatever is written to stderr
  const wrong = [...document.querySelectorAll(".jp-OutputArea-output")]
    .find(output => output.innerText.includes("Traceback (most recent call last)"));
  if (wrong) return "error: " + wrong.innerText.trim().split("\\n").pop();
  const idle = document.querySelector("#jp-main-statusbar")?.innerText.includes("| Idle");
  const numbered = prompts.filter(prompt => /^\\[\\d+\\]:$/.test(prompt)).length;
  if (idle && numbered === prompts.length) return "done";
  return idle && !numbered ? "waiting" : "running";
}"""


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab: where it answers, which word it asks for, where it works."""

    home: str
    token: str
    work: Path

    @property
    def folder(self) -> Path:
        """The notebooks that it shows."""
        return self.work / "notebooks"

    def ask(self, path: str, method: str = "GET"):
        """Ask its programming interface."""
        request = urllib.request.Request(
            f"{self.home}/api/{path}",
            method=method,
            headers={"Authorization": f"token {self.token}"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read() or "null")

    def address(self, name: str) -> str:
        workspace = name.replace("/", "-")
        return f"{self.home}/lab/workspaces/{workspace}/tree/{name}.ipynb?reset&token={self.token}"

    def forget(self) -> None:
        """End every kernel, so that one notebook at a time holds memory."""
        for session in self.ask("sessions"):
            self.ask(f"sessions/{session['id']}", "DELETE")


@contextmanager
def running(work: Path) -> Iterator[Lab]:
    """JupyterLab over work/notebooks; `work` takes its settings and its log."""
    token, port = secrets.token_hex(16), free_port()
    lab = Lab(f"http://127.0.0.1:{port}", token, work)
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
        *(f"--port={port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={token}"),
        f"--ServerApp.root_dir={lab.folder}",
    ]
    with (work / "lab.log").open("w", encoding="utf-8") as log:
        server = subprocess.Popen(
            command, cwd=lab.folder, env=environment(work), stdout=log, stderr=log
        )
        try:
            await_lab(lab, server, work / "lab.log")
            yield lab
        finally:
            server.terminate()
            try:
                server.wait(30)
            except subprocess.TimeoutExpired:
                server.kill()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def set_up(work: Path, name: str, values: dict) -> None:
    """Write the settings of an extension, which a page reads when it is opened."""
    path = work / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values), encoding="utf-8")


def environment(work: Path) -> dict[str, str]:
    """The user's own settings and workspaces stay as they are."""
    for name, values in SETTINGS.items():
        set_up(work, name, values)
    return os.environ | {
        "JUPYTERLAB_SETTINGS_DIR": str(work / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(work / "workspaces"),
        "JUPYTER_CONFIG_DIR": str(work / "config"),
        "JUPYTER_PATH": str(jupyter.READ["JUPYTER_PATH"]),
    }


def await_lab(lab: Lab, server: subprocess.Popen, log: Path | None = None) -> None:
    """Wait until the server answers."""
    for _ in range(240):
        try:
            lab.ask("status")
            return
        except OSError:
            with contextlib.suppress(subprocess.TimeoutExpired):
                server.wait(0.5)
                break
    told = log.read_text(encoding="utf-8")[-2000:] if log else "see above"
    raise RuntimeError(f"JupyterLab did not start:\n{told}")


def at_scale(notebook, scale: str):
    """The notebook without outputs, its SCALE set: what a user has who edits that one line."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        if "parameters" in cell.metadata.get("tags", ()):
            cell.source = re.sub(r'(?m)^SCALE = ".*"', f'SCALE = "{scale}"', cell.source)
    return notebook


def write(lab: Lab, name: str, *cells: str) -> None:
    """A notebook of some code cells."""
    made = new_notebook(
        cells=[new_code_cell(cell) for cell in cells], metadata={"kernelspec": execution.KERNEL}
    )
    nbformat.write(made, lab.folder / f"{name}.ipynb")


def open_notebook(page, lab: Lab, name: str) -> None:
    """Open it and wait for its kernel; before that a command would ask for one."""
    page.goto(lab.address(name))
    page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=PATIENCE)
    page.wait_for_function(
        "document.querySelector('#jp-main-statusbar')?.innerText.includes('| Idle')",
        timeout=PATIENCE,
    )


def restart_and_run_all(page) -> str:
    """Choose that command from the menu as a user does; 'done', or what went wrong."""
    begun, end = float("-inf"), 0.0
    while not end or time.monotonic() < end:
        state = page.evaluate(STATE) if end else "waiting"
        # A restart on the heels of the start can lose the connection, and JupyterLab then waits
        # for ever, idle; a user would choose the command again.
        if state == "waiting" and time.monotonic() - begun > STALLED:
            begun = time.monotonic()
            end = end or begun + RUN
            _choose_restart_and_run_all(page)
        elif state not in ("waiting", "running"):
            return state
        page.wait_for_timeout(250)
    return f"error: not done after {RUN} s"


def _choose_restart_and_run_all(page) -> None:
    page.wait_for_timeout(1000)
    page.get_by_role("menuitem", name="Kernel", exact=True).click()
    page.get_by_role("menuitem", name="Restart Kernel and Run All Cells").click()
    page.locator(".jp-Dialog button.jp-mod-accept").click()
    page.wait_for_timeout(500)


def visit_notebook(browser, lab: Lab, name: str) -> Visit:
    """Restart and run all in JupyterLab, then move every slider."""
    visit = Visit()
    with watched(browser, home=lab.home) as (page, seen):
        open_notebook(page, lab, name)
        state = restart_and_run_all(page)
        if state == "done":
            page.wait_for_timeout(500)  # widgets are drawn a moment after their cell ends
            walk_all(page, visit)
        else:
            visit.complaints.append(state)
        broken = page.get_by_text("Error displaying widget").count()
        visit.complaints += [f"{broken} widgets could not be shown"] * bool(broken)
        visit.complaints += seen
    lab.forget()
    return visit
