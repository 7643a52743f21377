"""002: unique, redundant and synergistic information of codes about a factor, for trained encoders."""

from __future__ import annotations
