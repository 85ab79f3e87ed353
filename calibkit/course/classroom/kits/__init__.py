"""Kits: 90 minutes that a lecturer opens and gives, without reading the package.

A kit has one source, notebooks/teaching/kits/NAME.md. Its parts are the headings of rank two; the
part *Slides* becomes a page of slides, the others pages of text. `placeholders` fills what stands
in double braces from what the lessons printed, so that no number is typed by hand.
"""

from __future__ import annotations

from calibkit.course.classroom.kits.writing import KitError, names, write

__all__ = ["KitError", "names", "write"]
