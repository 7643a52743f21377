"""Many calls of the generators, in parts: ``python many.py RECORD GENERATOR FIRST LAST``.

Every hundred seeds are one line of JSON in the record, with the counts by outcome and a line for every problem. Seeds
that the record already has are left out, so an interrupted run is continued by the same command.
"""

import json
import os
import sys
from collections import Counter
from pathlib import Path

PART = 100


def main(record, generator, first, last):
    from test_fuzz import GENERATORS

    lines = [json.loads(line) for line in record.read_text().splitlines()] if record.exists() else []
    done = {line["first"] for line in lines if line["generator"] == generator}
    for start in range(first, last, PART):
        if start in done:
            continue
        counts, problems = GENERATORS[generator](range(start, min(start + PART, last)))
        entry = {"generator": generator, "first": start, "counts": counts, "problems": problems}
        with record.open("a") as file:
            file.write(json.dumps(entry) + "\n")
    total = Counter()
    for line in record.read_text().splitlines():
        total.update(json.loads(line)["counts"])
    print(dict(total))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
