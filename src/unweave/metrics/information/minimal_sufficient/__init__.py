"""Minimality, sufficiency and the four properties that they summarise, for dependent factors (004)."""
