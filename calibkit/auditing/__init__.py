"""Audit your own model: predictions in, one page out. `calibkit.audit` and the command line."""

from calibkit.auditing.audits import Audit, audit, audit_files
from calibkit.auditing.measures import Estimate

__all__ = ["Audit", "Estimate", "audit", "audit_files"]
