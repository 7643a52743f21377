"""No room has more lines than its budget.

``python tests/architecture/test_budget.py > tests/architecture/budget.toml`` writes the lines of today. A number may
rise only by what a new feature needs, and a record in docs/decisions says so (docs/decisions/0015-topics.md).
"""

import tomllib
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUDGET = tomllib.loads((Path(__file__).parent / "budget.toml").read_text(encoding="utf-8"))


def sizes():
    """Files and lines of Python in every room of the library, in its single modules together, and in the papers."""
    files, lines = Counter(), Counter()
    for top in (ROOT / "src" / "unweave", ROOT / "papers" / "src"):
        for path in top.rglob("*.py"):
            first, *deeper = path.relative_to(top).parts
            room = first if deeper else "modules"
            files[room] += 1
            lines[room] += len(path.read_text(encoding="utf-8").splitlines())
    return {"files": files, "lines": lines}


@pytest.mark.parametrize("unit", ["files", "lines"])
def test_no_room_exceeds_its_budget(unit):
    above = {room: count for room, count in sizes()[unit].items() if count > BUDGET[unit].get(room, 0)}
    assert above == {}, (
        f"More {unit} than budget.toml allows: shorten the room, or raise its number and add a record to "
        "docs/decisions that names the feature and what it costs, as 0015-topics.md asks."
    )


if __name__ == "__main__":
    for unit, counts in sizes().items():
        print(f"[{unit}]", *(f"{room} = {count}" for room, count in sorted(counts.items())), "", sep="\n")
