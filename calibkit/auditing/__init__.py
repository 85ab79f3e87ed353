"""Audit your own model: predictions in, one page out. `calibkit.audit` and the command line."""

from calibkit.auditing.audits import Audit, audit, audit_files, demand_measures
from calibkit.auditing.measures import Estimate
from calibkit.auditing.questions import Question

__all__ = ["Audit", "Estimate", "Question", "audit", "audit_files", "demand_measures"]
