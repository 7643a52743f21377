"""The audit: whether a metric has the four properties of paper 003 and scores encoders as its card states."""

from unweave.auditing.measurement.grid import Grid
from unweave.auditing.rendering import text_table
from unweave.auditing.run import audit, audit_all
from unweave.auditing.scorecard import Audit

__all__ = ["Audit", "Grid", "audit", "audit_all", "text_table"]
