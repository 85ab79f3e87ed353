"""What only the lessons need: checkers, sliders, verdicts, experiments, and what makes the pages.

Its parts are loaded when they are asked for: `from calibkit.course import check, explorers`. The
installed package has `explorers` and `verdicts` of them; the others need the folder of the course.
"""

from importlib.util import find_spec


def __getattr__(name: str):
    """Raise ModuleNotFoundError, with where it is, for a part that the installed package lacks."""
    if name.startswith("_") or any(find_spec(f"{__name__}.{part}") for part in ("check", name)):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise ModuleNotFoundError(
        f"{__name__}.{name} is not part of the installed package: it needs the folder of the "
        "course; unpack or clone it, and there run  make lab",
        name=f"{__name__}.{name}",
    )
