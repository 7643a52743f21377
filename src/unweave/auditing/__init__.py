"""The audit: whether a metric has the four properties of paper 003 and scores encoders as its card states."""

from unweave.randomness import import_without_drawing

import_without_drawing("rich.style")

from unweave.auditing.measurement import Grid  # noqa: E402
from unweave.auditing.properties import Audit  # noqa: E402
from unweave.auditing.run import audit, audit_all, text_table  # noqa: E402

__all__ = ["Audit", "Grid", "audit", "audit_all", "text_table"]
