"""The steps of notebooks/any_machine.md, run as they stand, and what else the page states.

The heavy packages are lent to the new environment, and pip installs the course alone, without
network.
"""

import json
import re
import secrets
import shutil
import subprocess
import sys
import sysconfig
import urllib.request
from pathlib import Path

import pytest

from tests.browser.lab import Lab, await_lab, free_port

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "notebooks" / "any_machine.md").read_text(encoding="utf-8")
TREE = ("calibkit", "data_scripts", "notebooks", "pyproject.toml", "README.md", "LICENSE")
# instead of the network and of 6.1 GB: what is installed here, of which pip takes nothing
LENT = {
    "PYTHONPATH": sysconfig.get_path("purelib"),
    "PIP_NO_INDEX": "1",
    "PIP_NO_DEPS": "1",
    "PIP_NO_BUILD_ISOLATION": "0",  # pip reads this as: no isolation
}


def blocks(heading: str, language: str = "bash") -> list[str]:
    """The fenced blocks below a heading of the page."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)


class Machine:
    """A folder with the course, a home and a path that hold nothing else: no make."""

    def __init__(self, folder: Path):
        self.folder, port = folder / "the course", free_port()
        self.lab = Lab(f"http://127.0.0.1:{port}", secrets.token_hex(16), self.folder)
        for name in (*TREE, "constraints.txt"):
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            self.folder.mkdir(exist_ok=True)
            copy(ROOT / name, self.folder / name)
        tools = folder / "tools"
        tools.mkdir()
        for name in ("bash", "uname"):
            (tools / name).symlink_to(shutil.which(name))
        (tools / "python3").symlink_to(Path(sys.base_prefix, "bin", "python3"))
        config = folder / "home" / ".jupyter"
        config.mkdir(parents=True)
        server = {"port": port, "port_retries": 0, "allow_root": True}
        settings = {"ServerApp": server, "IdentityProvider": {"token": self.lab.token}}
        (config / "jupyter_server_config.json").write_text(json.dumps(settings), encoding="utf-8")
        self.environment = {"PATH": str(tools), "HOME": str(folder / "home"), **LENT}

    def start(self, steps: str) -> subprocess.Popen:
        command = ["bash", "-euo", "pipefail", "-c", steps]
        return subprocess.Popen(command, cwd=self.folder, env=self.environment)


def opens_jupyterlab(machine: Machine, steps: str) -> str:
    """The page that JupyterLab serves at the end of the steps, which then end well."""
    process, lab = machine.start(steps), machine.lab
    try:
        await_lab(lab, process)
        opened = f"{lab.home}/lab/tree/notebooks/00_start_here.ipynb?token={lab.token}"
        with urllib.request.urlopen(opened, timeout=30) as answer:
            page = answer.read().decode()
        lab.ask("shutdown", method="POST")
        assert process.wait(60) == 0
    finally:
        process.kill()
    return page


@pytest.mark.slow
def test_the_steps_for_bash_open_the_course_without_make(tmp_path):
    machine = Machine(tmp_path)
    (steps,) = blocks("Linux and macOS: bash or zsh")
    page = opens_jupyterlab(machine, steps)
    config = json.loads(re.search(r'id="jupyter-config-data"[^>]*>(.*?)</script>', page, re.S)[1])
    assert "@jupyterlab/apputils-extension:announcements" in config["disabledExtensions"]
    assert config["treePath"] == "notebooks/00_start_here.ipynb"
    environment = machine.folder / ".venv"
    (installed,) = environment.glob("lib/python*/site-packages/calibkit-*.dist-info")
    assert str(machine.folder) in (installed / "direct_url.json").read_text("utf-8").replace(
        "%20", " "
    )
    left = {p.name for p in (tmp_path / "home").rglob("*jupyterlab-settings")}
    assert not left, "a file was written into the user's home"


@pytest.mark.parametrize(("variable", "flag"), [("", False), ("TORCH_INDEX=file:///cpu", True)])
def test_make_hands_the_address_of_another_pytorch_to_pip(variable, flag):
    command = ["make", "-n", "-B", ".venv/.course", *filter(None, [variable])]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert ("--extra-index-url file:///cpu -e" in printed) is flag
    assert "-c constraints.txt" in printed
