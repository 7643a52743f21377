"""`Prose`: text for the terminal that is not wrapped between a number and its unit."""

from __future__ import annotations

import re
from typing import Any

from rich.console import Console
from rich.containers import Lines
from rich.text import Text

UNIT = re.compile(r"(?<=\d) (?=(?:%|s\b))")
JOINT = "\ue000"  # rich wraps at every kind of white space, also at no-break spaces, so another character is needed


class Prose(Text):
    """Text in which '95 %' and '30 s' stay on one line.

    Pass it to a console in a group or in a table, because `Console.print` converts a single text to a plain `Text`.

    >>> print(Prose("An interval of 95 %").wrap(Console(), 18)[0].plain.strip())
    An interval of
    """

    def wrap(self, console: Console, width: int, **options: Any) -> Lines:
        """Return the lines of the text for this width."""
        joined = self.copy()
        joined.plain = UNIT.sub(JOINT, joined.plain)
        lines = joined.wrap(console, width, **options)
        for line in lines:
            line.plain = line.plain.replace(JOINT, " ")
        return lines
