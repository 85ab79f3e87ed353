"""The pages of the package: its public modules in three groups, each with what it can do."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

import calibkit
from calibkit.course.site.reader import as_rst

# What a reader imports. Modules that only serve others (checks of arguments, pages, runners) are
# described where they stand, in their source.
GROUPS = {
    "Methods": [f"calibkit.{name}" for name in calibkit.METHODS],
    "Pictures": ["calibkit.pictures.plots", "calibkit.pictures.palette"],
    "Experiments and lessons": [
        *(f"calibkit.lab.{name}" for name in ("data", "models", "training", "sweep")),
        *(f"calibkit.lab.{name}" for name in ("text", "translation")),
        *(f"calibkit.course.{name}" for name in ("explorers", "verdicts", "check")),
    ],
}
SAYS = {
    "Methods": "Functions of tensors, for your own model. They load neither pandas nor matplotlib.",
    "Pictures": "Figures for matplotlib, and the looks that all figures and sliders share.",
    "Experiments and lessons": "Data whose truth is known, training, sweeps, sliders, verdicts.",
}
FIRST = ("metrics", "recalibration", "losses", "auditing")  # of the methods
# The lesson whose finding shows what a module is for.
SHOWN = {
    "metrics": "02", "recalibration": "08", "losses": "11", "auditing": "17", "curation": "06",
    "mixing": "12", "corruptions": "13", "theory": "09", "data": "05", "training": "03",
    "text": "15", "explorers": "07", "conformal": "20",
}  # fmt: skip


@dataclass(frozen=True)
class Module:
    """A module that has a page."""

    name: str

    @property
    def module(self) -> ModuleType:
        return import_module(self.name)

    @property
    def short(self) -> str:
        """Its name as one writes it, such as calibkit.metrics."""
        return self.name.split(".")[-1]

    @property
    def says(self) -> str:
        """The first line of its docstring."""
        return _first(self.module)

    @property
    def about(self) -> str:
        """Its docstring as reStructuredText."""
        return "\n".join(as_rst(str(inspect.getdoc(self.module)).split("\n")))

    @property
    def lesson(self) -> str | None:
        """The number of the lesson whose finding stands on its page."""
        return SHOWN.get(self.short)

    def parts(self) -> Iterator[tuple[str, str]]:
        """(name, first line) of its public functions and classes, in the order of its page."""
        named = getattr(self.module, "__all__", None)
        for name, member in vars(self.module).items():
            public = name in named if named is not None else not name.startswith("_")
            home = getattr(member, "__module__", "") or ""
            ours = home == self.name if named is None else home.startswith("calibkit")
            if public and ours and (inspect.isfunction(member) or inspect.isclass(member)):
                yield name, _first(member)


def groups() -> dict[str, list[Module]]:
    """The modules that have a page, group by group; of the methods the most used ones first."""
    every = {title: [Module(name) for name in names] for title, names in GROUPS.items()}
    every["Methods"].sort(key=lambda one: (one.short not in FIRST, _place(one.short)))
    return every


def _place(short: str) -> int:
    return FIRST.index(short) if short in FIRST else 0


def _first(member: object) -> str:
    """The first line of a docstring as reStructuredText."""
    line = str(inspect.getdoc(member) or "").split("\n")[0]
    return as_rst([line])[0]
