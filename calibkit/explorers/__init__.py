"""Sliders over models that were really trained."""

from calibkit.explorers.along import along_frame
from calibkit.explorers.explorer import Explorer, Frame
from calibkit.explorers.reliability import reliability_frame
from calibkit.explorers.spread import spread_frame

__all__ = ["Explorer", "Frame", "along_frame", "reliability_frame", "spread_frame"]
