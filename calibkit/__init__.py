"""calibkit: measure, break and repair the calibration of deep networks.

What a practitioner imports lies here (`metrics`, `losses`, `recalibration`, ...); `calibkit.lab`
trains networks, `calibkit.pictures` draws, `calibkit.course` is what the lessons need beyond that.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

METHODS = (
    "auditing",
    "augmentation",
    "corruptions",
    "curation",
    "losses",
    "metrics",
    "mixing",
    "prioritization",
    "recalibration",
    "theory",
)
WINGS = ("course", "lab", "pictures")

if TYPE_CHECKING:  # whose options an editor then knows
    from calibkit.auditing.audits import audit as audit
else:

    def audit(logits=None, labels=None, **options):
        """Audit the predictions of one's own model; see `auditing.audit`, which this calls.

        `calibkit.audit(logits, labels).write("audit.html")` writes the page.
        """
        from calibkit import auditing

        return auditing.audit(logits, labels, **options)


def __getattr__(name: str) -> Any:
    """A method or wing, loaded when it is first asked for."""
    if name in METHODS or name in WINGS:
        return import_module(f"calibkit.{name}")
    raise AttributeError(f"module 'calibkit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *METHODS, *WINGS})
