"""The size of the house: ``python tests/architecture/figures.py`` prints lines by room, complex functions, switches.

A switch is explained in ``test_switches.py``.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "unweave"


def lines_by_room() -> Counter[str]:
    """Lines of Python in every room; those of the loose modules together."""
    found: Counter[str] = Counter()
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).parts
        found[parts[0] if len(parts) > 1 else "(top)"] += len(path.read_text(encoding="utf-8").splitlines())
    return found


def main() -> None:
    """Print them."""
    from test_complexity import MOST_DECISIONS, complex_functions  # beside this file
    from test_switches import switches

    for room, count in sorted(lines_by_room().items()):
        print(f"{room:<14}{count:>7,}")
    print(f"{'all':<14}{lines_by_room().total():>7,}")
    past = {
        str(path.relative_to(PACKAGE)): complex_functions(path.read_text("utf-8")) for path in PACKAGE.rglob("*.py")
    }
    print(f"functions past {MOST_DECISIONS} decisions: {sum(map(len, past.values()))}")
    print(f"switches on classes of estimators: {len(switches())}", *switches(), sep="\n  ")


if __name__ == "__main__":
    main()
