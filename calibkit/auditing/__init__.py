"""Audit your own model: predictions in, one page out. `calibkit.audit` and the command line."""

from calibkit.auditing.audits import Audit, audit, audit_files
from calibkit.auditing.measures import Estimate
from calibkit.auditing.questions import Question
from calibkit.auditing.record import demand_measures

__all__ = ["Audit", "Estimate", "Question", "audit", "audit_files", "demand_measures"]
