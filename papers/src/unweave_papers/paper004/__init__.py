"""004: minimality and sufficiency as measures of an encoder's usefulness, also if factors depend on each other."""

from __future__ import annotations
