"""`make mutants`: put small faults into copies of the tree, one at a time, and see whether the tests find them.

A fault is an entry of a TOML list: a file, a text that occurs in it once, and what replaces it. It meets the quick
tests that reach its lines, cheap ones first, as far as ``--effort`` goes. A fault is *found* if a test fails, or no
longer ends, that passes without it, *survives* if none does, and is *stale* if its text is not in the file exactly
once. An entry with ``equivalent = "reason"`` changes nothing that can be observed, and is not tried.

Results are kept in ``build/mutants.jsonl``: a run that was stopped goes on, and one after new tests tries survivors
again and believes what was found.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import queue
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from faults import ROOT, Fault, digest, faults_in
from reach import Reach
from trial import Tree

LISTS = sorted(Path(__file__).parent.glob("*.toml"))
RESULTS = ROOT / "build" / "mutants.jsonl"


def known(results: Path, tests_digest: str) -> dict[str, dict[str, str]]:
    """Results that still hold: what was found stays found, what survived these very tests survives them again."""
    kept = {}
    for line in results.read_text(encoding="utf-8").splitlines() if results.exists() else ():
        entry = json.loads(line)
        if entry["status"] == "found" or (entry["status"] == "survived" and entry["tests"] == tests_digest):
            kept[entry["key"]] = entry
    return kept


def tried_all(faults: list[Fault], reach: Reach, workers: int, effort: float) -> Iterator[tuple[Fault, str, str]]:
    """Every fault with what became of it, as they end."""
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(workers) as pool:
        free: queue.SimpleQueue[Tree] = queue.SimpleQueue()
        for k in range(workers):
            free.put(Tree(Path(folder, str(k))))

        def one(fault: Fault) -> tuple[Fault, str, str]:
            tree = free.get()
            try:
                return fault, *tree.tried(fault, reach, effort)
            finally:
                free.put(tree)

        jobs = [pool.submit(one, fault) for fault in faults]
        try:
            for job in concurrent.futures.as_completed(jobs):
                yield job.result()
        finally:
            pool.shutdown(cancel_futures=True)


def main() -> None:
    """Try the faults of all lists, or of those named, and print what survived."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("lists", nargs="*", type=Path, default=LISTS, help="TOML lists; by default all that are here")
    parser.add_argument("--only", default="", help="faults whose name or file has this text")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--effort", type=float, default=60.0, help="CPU seconds of tests for each fault")
    chosen = parser.parse_args()
    faults = [
        fault for path in chosen.lists for fault in faults_in(path) if chosen.only in fault.name + " " + fault.file
    ]
    tests_digest = digest(sorted(path for path in (ROOT / "tests").rglob("*.py") if path.parent.name != "mutants"))
    RESULTS.parent.mkdir(exist_ok=True)
    kept = known(RESULTS, tests_digest)
    status = {fault: kept[fault.key]["status"] for fault in faults if fault.key in kept}
    with RESULTS.open("a", encoding="utf-8") as file:
        waiting = [fault for fault in faults if fault not in status]
        for fault, found, by in tried_all(waiting, Reach(), chosen.workers, chosen.effort):
            status[fault] = found
            entry = {"key": fault.key, "name": fault.name, "status": found, "by": by, "tests": tests_digest}
            file.write(json.dumps(entry) + "\n")
            file.flush()
            print(f"{len(status)}/{len(faults)} {found}: {fault.name}" + (f" ({by})" if by else ""), flush=True)
    counts = Counter(status.values())
    for fault in faults:
        if status[fault] != "found":
            print(f"{status[fault]}: {fault.name} in {fault.file}")
    tried = len(faults) - counts["stale"]
    print(f"{counts['found']} of {tried} found ({', '.join(f'{count} {name}' for name, count in counts.items())})")


if __name__ == "__main__":
    main()
