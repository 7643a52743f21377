"""The audit: does a metric have the four properties that 003 asks for, and what its own card promises?"""

from unweave.auditing.measurement.grid import Grid
from unweave.auditing.rendering import text_table
from unweave.auditing.run import audit, audit_all
from unweave.auditing.scorecard import Audit

__all__ = ["Audit", "Grid", "audit", "audit_all", "text_table"]
