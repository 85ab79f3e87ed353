"""calibkit: measure, break and repair the calibration of deep networks."""

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:  # whose options an editor then knows
    from calibkit.auditing.audit import audit as audit
else:

    def audit(logits=None, labels=None, **options):
        """Audit the predictions of one's own model; see `auditing.audit`, which this calls.

        `calibkit.audit(logits, labels).write("audit.html")` writes the page.
        """
        from calibkit import auditing

        return auditing.audit(logits, labels, **options)
