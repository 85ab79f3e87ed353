"""The pages of the package: its public modules in three groups, each with what it can do."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

import calibkit
from calibkit.course.site.sphinx_extension import as_rst

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
# On the page of a module: headings, and the files below it that they are of. Of modules without
# headings the names that stand first.
SECTIONS = {
    "metrics": {
        "Calibration error": ("errors", "smooth", "classwise"),
        "Reliability diagrams": ("diagram", "corp_diagram"),
        "Proper scores, accuracy and ranking": ("scores",),
        "Intervals and tests": ("intervals", "testing"),
        "Decisions": ("decisions",),
        "Top labels, batches and maps": ("top", "streams"),
        "By confidence and hits": ("by_hits",),
    },
    "recalibration": {
        "One temperature": ("temperature",),
        "Vectors and matrices": ("affine",),
        "Class by class": ("one_vs_rest",),
        "Another prior": ("class_prior",),
        "What all maps share": ("calibrator", "modules"),
    },
}
LEADS = {
    "auditing": ("audit", "audit_files"), "curation": ("symmetric_noise", "imbalance"),
    "data": ("load", "splits_of", "Splits", "Dataset"), "explorers": ("stored", "Explorer"),
    "mixing": ("mixup", "cutmix"), "plots": ("reliability_diagram",),
    "training": ("fit", "trial", "train_trials", "predict", "Recipe", "Trial", "Run"),
    "translation": ("fit", "translate"),
}  # fmt: skip


@dataclass(frozen=True)
class Part:
    """A public function or class of a module."""

    name: str
    member: Any

    @property
    def says(self) -> str:
        """The first line of its docstring."""
        return _first(self.member)

    @property
    def kind(self) -> str:
        """What Sphinx calls it."""
        if not inspect.isclass(self.member):
            return "function"
        return "exception" if issubclass(self.member, Exception) else "class"

    @property
    def home(self) -> str:
        """The file that it stands in."""
        return str(self.member.__module__).rpartition(".")[2]

    @property
    def place(self) -> int:
        """Where in its file it stands."""
        return list(vars(import_module(self.member.__module__))).index(self.member.__name__)


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

    def sections(self) -> dict[str, list[Part]]:
        """Its public functions and classes under headings, in the order of its page."""
        parts, leads = list(self._parts()), LEADS.get(self.short, ())
        if self.short not in SECTIONS:
            first = [part for name in leads for part in parts if part.name == name]
            return {"": [*first, *(part for part in parts if part.name not in leads)]}
        parts.sort(key=lambda one: one.place)
        return {
            title: [part for home in homes for part in parts if part.home == home]
            for title, homes in SECTIONS[self.short].items()
        }

    def _parts(self) -> Iterator[Part]:
        listed = getattr(self.module, "__all__", None) or getattr(self.module, "HOMES", None)
        for name in dict.fromkeys([*vars(self.module), *(listed or ())]):
            if name not in listed if listed else name.startswith("_"):
                continue
            member = None
            with contextlib.suppress(ImportError):  # of an adapter to what is not installed
                member = getattr(self.module, name)
            home = getattr(member, "__module__", "") or ""
            ours = home.startswith("calibkit") if listed else home == self.name
            if ours and (inspect.isfunction(member) or inspect.isclass(member)):
                yield Part(name, member)


def groups() -> dict[str, list[Module]]:
    """The modules that have a page, group by group; of the methods the most used ones first."""
    every = {title: [Module(name) for name in names] for title, names in GROUPS.items()}
    of_methods = {name: place for place, name in enumerate(FIRST)}
    every["Methods"].sort(key=lambda one: of_methods.get(one.short, len(FIRST)))
    return every


def _first(member: object) -> str:
    """The first line of a docstring as reStructuredText."""
    line = str(inspect.getdoc(member) or "").split("\n")[0]
    return as_rst([line])[0]
