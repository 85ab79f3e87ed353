"""Sliders over models that were really trained."""

from calibkit.explorers.explorer import Explorer, Frame
from calibkit.explorers.reliability import reliability_frame

__all__ = ["Explorer", "Frame", "reliability_frame"]
