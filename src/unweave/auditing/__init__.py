"""The audit: whether a metric has the four properties of paper 003 and scores encoders as its card states."""

from unweave.auditing.measurement import Grid
from unweave.auditing.properties import Audit
from unweave.auditing.run import audit, audit_all, text_table

__all__ = ["Audit", "Grid", "audit", "audit_all", "text_table"]
