"""List every number, verdict and sentence of the corpus that differs from frozen.json.gz; exit with 1 if any does.

``python tests/corpus/differences.py`` compares all cases; with words, only the cases whose name has one of the words.
"""

import argparse
import re
import sys
from collections import defaultdict

from freeze import all_computed, stored

NOTHING = {"numbers": {}, "levels": {}, "sentences": {}}


def relative_change(before, now):
    """Change of a number relative to the larger one, or infinite if one of them is missing or not a finite number."""
    try:
        one, two = float(before), float(now)
    except (TypeError, ValueError):
        return float("inf")
    change = abs(one - two) / max(abs(one), abs(two), 1e-300)
    return change if change == change else float("inf")


def differences(before, now, relative=0.0):
    """Lines that describe all changes, grouped by quantity, by verdict, and by sentence without its numbers."""
    groups = defaultdict(list)
    for case in sorted(before.keys() | now.keys()):
        old, new = before.get(case, NOTHING), now.get(case, NOTHING)
        for kind in ("numbers", "levels"):
            for place in old[kind].keys() | new[kind].keys():
                one, two = old[kind].get(place), new[kind].get(place)
                change = relative_change(one, two)
                if one != two and (change > relative or kind == "levels"):
                    group = re.sub(r"\d+", "#", place) + (f": {one} → {two}" if kind == "levels" else "")
                    groups[kind, group].append((change, f"{case}: {place}: {one} → {two}"))
        for sign, some, others in (("-", old, new), ("+", new, old)):
            for sentence in some["sentences"].keys() - others["sentences"].keys():
                group = f"{sign} " + re.sub(r"\d[\d,.]*", "#", sentence)
                groups["sentences", group].append((0.0, f"{case}: {sentence}"))
    for (kind, group), members in sorted(groups.items()):
        change, example = max(members)
        size = f", largest relative change {change:.3g}" if kind == "numbers" else ""
        yield f"{kind}: {group} ({len(members)} times{size})\n    {example}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--relative", type=float, default=0.0, help="list only larger relative changes of numbers")
    given = parser.parse_args()
    now = all_computed(given.words)
    before = {name: record for name, record in stored().items() if name in now or not given.words}
    lines = list(differences(before, now, given.relative))
    print("\n".join([*lines, f"{len(lines)} kinds of changes in {len(now)} cases"]))
    sys.exit(bool(lines))
