"""Sliders over models that were really trained."""

from calibkit.explorers.along import along_frame
from calibkit.explorers.explorer import Explorer, Frame, Slider
from calibkit.explorers.film import film_frame
from calibkit.explorers.maps import cooling_frame, needs_frame
from calibkit.explorers.ranked import ranked_frame
from calibkit.explorers.reliability import pooled, reliability_frame
from calibkit.explorers.spread import spread_frame
from calibkit.explorers.stored import keep, stored

__all__ = [
    "Explorer",
    "Frame",
    "Slider",
    "along_frame",
    "cooling_frame",
    "film_frame",
    "keep",
    "needs_frame",
    "pooled",
    "ranked_frame",
    "reliability_frame",
    "spread_frame",
    "stored",
]
