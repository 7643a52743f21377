"""001: informativeness, separability and interpretability of trained encoders."""

from __future__ import annotations
