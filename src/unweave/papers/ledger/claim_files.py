"""Read the claims of a paper from its file, with their recorded figures."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from unweave.evidence import EvidenceError
from unweave.names import suggestion
from unweave.papers.catalogue import MODULES
from unweave.papers.ledger.claim import VERDICTS, Claim, Evidenced, MeasuredFigure
from unweave.whole_files import write_whole

FOLDER = Path(__file__).parent


@cache
def claims_of(paper: str | None = None) -> tuple[Claim, ...]:
    """Return the claims of a paper, or of all papers, in the order of their numbers.

    >>> claims_of("003")[0].name
    '003:1'
    """
    if paper is None:
        return tuple(claim for number in MODULES for claim in claims_of(number))
    if paper not in MODULES:
        raise EvidenceError(f"There is no paper {paper!r} here: there are {', '.join(MODULES)}.")
    recorded = _recorded(paper)
    entries = tomllib.loads((FOLDER / "claims" / f"{paper}.toml").read_text(encoding="utf-8")).get("claim", [])
    return tuple(sorted((_claim(paper, entry, recorded) for entry in entries), key=lambda claim: claim.number))


def claim_of(name: str) -> Claim:
    """Return the claim with this paper and number.

    >>> claim_of("003:44").verdict
    'does not hold'
    """
    paper = name.partition(":")[0]
    names = [claim.name for claim in claims_of(paper)]
    if name not in names:
        raise EvidenceError(f"There is no claim {name!r}: {suggestion(name, names)}")
    return claims_of(paper)[names.index(name)]


def record(paper: str, found: Mapping[int, Evidenced], seconds: Mapping[int, float]) -> Path:
    """Record these figures, by the numbers of claims, for comparison with later checks."""
    path = FOLDER / "recorded" / f"{paper}.json"
    kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for number, evidenced in found.items():
        numbers = {name: [round(x, 6) for x in figure.numbers] for name, figure in evidenced.figures.items()}
        kept[str(number)] = {"seconds": round(seconds[number], 1), "figures": numbers}
    lines = [f"{json.dumps(key)}: {json.dumps(kept[key])}" for key in sorted(kept, key=int)]
    ordered = "{\n" + ",\n".join(lines) + "\n}\n"
    write_whole(path, lambda file: file.write(ordered.encode()))
    claims_of.cache_clear()
    return path


def _recorded(paper: str) -> dict[str, Any]:
    path = FOLDER / "recorded" / f"{paper}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def _claim(paper: str, entry: Mapping[str, Any], recorded: Mapping[str, Any]) -> Claim:
    if entry["verdict"] not in VERDICTS:
        raise EvidenceError(f"Claim {paper}:{entry['number']} has an unknown verdict: {entry['verdict']!r}.")
    known = recorded.get(str(entry["number"]), {})
    figures = {name: MeasuredFigure(*numbers) for name, numbers in known.get("figures", {}).items()}
    stated = {**entry, **{name: tuple(entry.get(name, ())) for name in ("needs", "experiments")}}
    return Claim(paper=paper, figures=figures, **{"seconds": known.get("seconds", 1.0), **stated})
