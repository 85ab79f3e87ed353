"""calibkit: measure, break and repair the calibration of deep networks.

What a practitioner imports lies here (`metrics`, `losses`, `recalibration`, ...); `calibkit.lab`
trains networks, `calibkit.pictures` draws, `calibkit.course` is what the lessons need beyond that.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

METHODS = (
    "adapters", "auditing", "augmentation", "conformal", "corruptions", "curation", "losses",
    "metrics", "mixing", "prioritization", "recalibration", "theory",
)  # fmt: skip
WINGS = ("course", "lab", "pictures")

if TYPE_CHECKING:  # what an editor and a type checker then know
    from calibkit import adapters as adapters
    from calibkit import auditing as auditing
    from calibkit import augmentation as augmentation
    from calibkit import conformal as conformal
    from calibkit import corruptions as corruptions
    from calibkit import course as course
    from calibkit import curation as curation
    from calibkit import lab as lab
    from calibkit import losses as losses
    from calibkit import metrics as metrics
    from calibkit import mixing as mixing
    from calibkit import pictures as pictures
    from calibkit import prioritization as prioritization
    from calibkit import recalibration as recalibration
    from calibkit import theory as theory
    from calibkit.auditing.audits import audit as audit


def __getattr__(name: str) -> Any:
    """A method or wing, or the function `audit`, loaded when it is first asked for."""
    if name in METHODS or name in WINGS:
        return import_module(f"calibkit.{name}")
    if name == "audit":
        return import_module("calibkit.auditing").audit
    raise AttributeError(f"module 'calibkit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({"__version__", "audit", *METHODS, *WINGS})
