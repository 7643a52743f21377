"""Run the benchmarks, print a table, and add each figure to history.csv; the exit code is 1 if a target is not met.

A benchmark that fails is named at the end, and the others run.
``python -m benchmarks --check`` runs the hot kernels alone, in a few seconds, and writes nothing.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.answer import ANSWER
from benchmarks.catalogue import catalogue_memory, catalogue_sharing, catalogue_time, four_information_metrics
from benchmarks.geometry import GEOMETRY
from benchmarks.guardians import null_grid
from benchmarks.identification import IDENTIFICATION
from benchmarks.information import mig_time, nearest_neighbour
from benchmarks.kernels import KERNELS
from benchmarks.machine import machine_facts
from benchmarks.matching import mcc_memory, mcc_rdc, mcc_spearman, mcc_time
from benchmarks.measurement import HEADING, Measurement
from benchmarks.models import MODELS
from benchmarks.posterior import BENCHMARKS as POSTERIOR
from benchmarks.prediction import dci_time, r2_time
from benchmarks.stand_ins import each_metric
from benchmarks.trust import TRUST

RESULTS = Path(__file__).with_name("results.json")
HISTORY = Path(__file__).with_name("history.csv")
ATTEMPTS = 3
BENCHMARKS: dict[str, Callable[[], Measurement]] = {
    **KERNELS,
    "mcc-time": mcc_time,
    "mcc-memory": mcc_memory,
    "mig-time": mig_time,
    "dci-time": dci_time,
    "catalogue-time": catalogue_time,
    "catalogue-sharing": catalogue_sharing,
    "catalogue-memory": catalogue_memory,
    "four-information": four_information_metrics,
    "each-metric": each_metric,
    "mcc-spearman": mcc_spearman,
    "mcc-rdc": mcc_rdc,
    "r2-time": r2_time,
    "nearest-neighbour": nearest_neighbour,
    "null-grid": null_grid,
    **POSTERIOR,
    **GEOMETRY,
    **IDENTIFICATION,
    **TRUST,
    **ANSWER,
    **MODELS,
}


def main(names: list[str]) -> int:
    """Run the named benchmarks, or all; return 0 if every target is met, 1 if not, and 2 for an unknown name."""
    check = names == ["--check"]
    names = list(KERNELS) if check else names
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"There is no benchmark {unknown[0]!r}: choose from {', '.join(BENCHMARKS)}.", file=sys.stderr)
        return 2
    facts = machine_facts()
    print(", ".join(f"{name} {fact}" for name, fact in facts.items()), HEADING, sep="\n\n")
    measured: dict[str, Measurement] = {}
    missed, commit = [], _commit()
    for name in names or BENCHMARKS:
        try:
            measured[name] = BENCHMARKS[name]()
            for _ in range(ATTEMPTS - 1 if check else 0):  # another process may have slowed one side only
                if measured[name].met is False:
                    measured[name] = BENCHMARKS[name]()
        except Exception as error:
            print(f"{name} failed: {type(error).__name__}: {error}", flush=True)
            missed.append(name)
            continue
        print(*measured[name].lines(name), sep="\n", flush=True)
        missed += [name] if measured[name].met is False else []
        if not check:  # at once, so that a run that is stopped keeps its figures
            _add_to_history(name, measured[name], commit, facts["numpy"])
    print(f"\nTargets not met: {', '.join(missed)}." if missed else "\nAll targets met.")
    if not check:
        plain = {name: measurement.as_plain_data() for name, measurement in measured.items()}
        RESULTS.write_text(json.dumps({"machine": facts, "measurements": plain}, indent=2) + "\n")
    return 1 if missed else 0


def _add_to_history(name: str, found: Measurement, commit: str, numpy: str) -> None:
    with HISTORY.open("a", newline="", encoding="utf-8") as history:
        row = (time.strftime("%Y-%m-%d", time.gmtime()), commit, numpy, name, f"{found.figure:.3g}", found.met)
        csv.writer(history).writerow(row)


def _commit() -> str:
    """The commit that is measured, with a plus sign if files were changed since."""
    command = ["git", "describe", "--always", "--abbrev=8", "--dirty=+"]
    return subprocess.run(command, check=False, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
