"""Open the course in JupyterLab: what `make lab` does, and where there is no make, too."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from calibkit.course import workplace
from calibkit.course.checkout import COURSE, root, with_study

# Folders that Jupyter reads beside the user's own, where nothing is written: a page_config turns
# off what asks whether to fetch news, an extension shows outputs as they are meant.
READ = {
    "JUPYTER_CONFIG_PATH": Path(__file__).parent,
    "JUPYTER_PATH": Path(__file__).parent / "labconfig",
}


# The left panel shows lessons, and what a learner makes; links still open the rest.
HIDDEN = ["__pycache__", "*.pyc", "*~", "*.md", "evidence", "images"]


def start(
    arguments: Sequence[str] = (), *, work: str | Path | None = None, again: str | None = None
) -> None:
    """Open lesson 00 in JupyterLab, in the learner's own copies, and return when its server ends.

    arguments: for JupyterLab, such as "--no-browser" or "--port=9999".
    work: the folder of the copies, as of `workplace.prepare`.
    again: with what a lesson's name begins that is copied anew, such as "06"; then nothing opens.

    Raises FileNotFoundError where the lessons are not, ModuleNotFoundError without JupyterLab, and
    ValueError where nothing can be written.
    """
    folder = root()
    try:
        from jupyterlab.labapp import main
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            'JupyterLab is not installed: python -m pip install "calibkit[course]"', name=error.name
        ) from None
    named = None if work is None else Path(work)
    place, told = workplace.prepare(named)
    if again is not None:
        told += workplace.reset(again, named)
    for line in told:
        print(line)
    if again is not None:
        return
    # Tiny models want one thread: more would wait for one another wherever the machine is shared.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    for name, read in READ.items():
        os.environ[name] = os.pathsep.join([str(read), *filter(None, [os.environ.get(name)])])
    os.environ[COURSE] = str(folder)
    with_study()  # which the copies of the evidence import
    print(f"your copies of the lessons: {place}; Ctrl-C twice ends JupyterLab", flush=True)
    # the address that is printed is that of the first lesson, also where no browser opens
    options = [
        f"--ServerApp.root_dir={place}",
        f"--ContentsManager.hide_globs={HIDDEN}",
        "--LabApp.default_url=/lab/tree/00_start_here.ipynb",
        "--ServerApp.kernel_spec_manager_class=calibkit.course.cell_order.Kernels",
        # the terminal says the address and what goes wrong, and not what Jupyter sets by itself
        "--Application.log_level=ERROR",
    ]
    if os.name == "posix":
        options.append("--ConnectionFileMixin.transport=ipc")
        if os.geteuid() == 0:  # as in a container, where Jupyter would refuse
            options.append("--ServerApp.allow_root=True")
    main([*options, *arguments])
