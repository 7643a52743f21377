"""Minimality, sufficiency and the four properties behind them, for dependent factors (004)."""
