"""Open the course in JupyterLab: what `make lab` does, and where there is no make, too."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from calibkit.course.checkout import root

# A folder that JupyterLab reads beside the user's own, where nothing is written: its page_config
# turns off what asks whether to fetch news.
SETTINGS = Path(__file__).parent


def start(arguments: Sequence[str] = ()) -> None:
    """Open lesson 00 in JupyterLab, and return when its server ends.

    arguments: for JupyterLab, such as "--no-browser" or "--port=9999".

    Raises FileNotFoundError where the lessons are not, ModuleNotFoundError without JupyterLab.
    """
    folder = root()
    try:
        from jupyterlab.labapp import main
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            'JupyterLab is not installed: python -m pip install "calibkit[course]"', name=error.name
        ) from None
    # Tiny models want one thread: more would wait for one another wherever the machine is shared.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    settings = [str(SETTINGS), *filter(None, [os.environ.get("JUPYTER_CONFIG_PATH")])]
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(settings)
    lesson = folder / "notebooks" / "00_start_here.ipynb"
    main([f"--ServerApp.root_dir={folder}", str(lesson), *arguments])
