"""Where the verdict on a claim changes when one of its figures does.

``python papers/tests/limits.py`` computes the evidence again and writes the limits on record; read the difference
beside the statements of the claims before you commit it.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from unweave.arrays import FloatArray
from unweave_papers.experiment import Options
from unweave_papers.ledger import Claim, ClaimEvidence, claims_of, evidence_of
from unweave_papers.paper003 import evidence as cells
from unweave_papers.paper003.settings import Setting
from unweave_papers.paper004 import evidence as toys

# seconds; evidence that takes longer is checked by `make study`, and here with scores that are made up
CHEAP = 1.0
CHEAP_WITH_CELLS = 0.15  # of 003, all of whose scores can be made up
RECORDED = Path(__file__).with_name("limits_of_claims.json")
SAID = {True: "yes", False: "no", None: "in part"}
STEPS = 10.0 ** np.arange(-10, 1.25, 0.25)  # from a figure to the places where the rule is asked
Rule = Callable[[list[float]], bool | None]
OTHERS: dict[str, Callable[[list[float]], list[float]]] = {
    "as they are": list,
    "reversed": lambda values: values[::-1],
    "all 0": lambda values: [0.0] * len(values),
    "all 1": lambda values: [1.0] * len(values),
    "falling": lambda values: [1.0 - k / len(values) for k in range(len(values))],
    "1 and 0": lambda values: [1.0 - k % 2 for k in range(len(values))],
}


def limits_of(rule: Rule, figures: Mapping[str, float]) -> dict[str, dict[str, str]]:
    """The limits of every figure that matters, with the others as they are and with others moved.

    >>> limits_of(lambda v: v[0] - v[1] > 0.25 and v[1] <= 0.5, {"a": 1.0, "b": 0.5, "c": 0.3})["as they are"]
    {'a': 'no <= 0.75 < yes', 'b': 'yes <= 0.5 < no'}
    """
    found = {}
    for others, moved in OTHERS.items():
        values = moved(list(figures.values()))
        limits = {name: _limits(rule, values, k) for k, name in enumerate(figures)}
        found[others] = {name: said for name, said in limits.items() if said}
    return {others: limits for others, limits in found.items() if limits}


def _limits(rule: Rule, values: Sequence[float], k: int) -> str:
    def asked(value: float) -> str:
        held = rule([*values[:k], float(value), *values[k + 1 :]])
        return SAID[None if held is None else bool(held)]

    places = sorted({*(values[k] + STEPS), *(values[k] - STEPS), values[k], *np.linspace(-1.0037, 2.0037, 31)})
    said = list(map(asked, places))
    words = said[0]
    for (low, high), (before, after) in zip(itertools.pairwise(places), itertools.pairwise(said), strict=True):
        if before == after:
            continue
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if asked(middle) == before else (low, middle)
        limit = round(float(f"{high:.9g}"), 12) + 0.0
        words += f" <= {limit:g} < {after}" if asked(limit) == before else f" < {limit:g} <= {after}"
    return words if words != said[0] else ""


def claims_by_cost(cheap: bool) -> dict[str, list[Claim]]:
    """Claims whose evidence needs nothing, by paper and kind of evidence."""
    found: dict[str, list[Claim]] = {}
    for claim in claims_of():
        is_cheap = claim.seconds < (CHEAP_WITH_CELLS if claim.paper == "003" else CHEAP)
        if (claim.rows or claim.evidence) and not claim.needs and is_cheap == cheap:
            found.setdefault(f"{claim.paper}-{'rows' if claim.rows else 'functions'}", []).append(claim)
    return found


def _made_up(*names: object) -> float:
    """A number from 0 to 1 that follows from names alone."""
    return int.from_bytes(hashlib.blake2b(repr(names).encode(), digest_size=4).digest()) / 2**32


@contextmanager
def made_up_scores() -> Iterator[None]:
    """Within it, cells of 003 and random codes have scores that are made up, and metrics of 004 such CPU times."""
    usual = cells._score, cells.null_mcc, cells.mcc, toys._cpu_seconds, toys._scored

    def score(setting: Setting, metric: str, protocol: str, seed: int) -> float:
        return _made_up(setting.key, metric, protocol, seed)

    def mcc(factors: FloatArray, codes: FloatArray, **options: Any) -> float:
        return _made_up(factors.shape, codes.shape, options, round(float(factors[0, 0] + codes[-1, -1]), 6))

    def cpu_seconds(compute: Any) -> float:
        metric, factors = compute.args
        return factors.shape[1] ** (1 + (metric is toys.dci_disentanglement))

    cells._score, cells.null_mcc, cells.mcc = score, cells.null_mcc.__wrapped__, mcc
    toys._cpu_seconds, toys._scored = cpu_seconds, lambda metric, factors: None
    try:
        yield
    finally:
        cells._score, cells.null_mcc, cells.mcc, toys._cpu_seconds, toys._scored = usual


def made_up_figures(claims: Sequence[Claim]) -> dict[str, Any]:
    """Limits of the rules of claims, and the figures that follow from scores that are made up."""
    with rules_of(claims) as limits, made_up_scores():
        found = {claim.name: evidence_of(claim, Options(Path())).figures for claim in claims}
    return {
        claim: limits[claim]
        | {"made up": {name: [float(f"{x:.9g}") for x in figure.numbers] for name, figure in figures.items()}}
        for claim, figures in found.items()
    }


@contextmanager
def rules_of(claims: Sequence[Claim]) -> Iterator[dict[str, Any]]:
    """Within it, evidence of these claims leaves the limits of its rule, under the names of its figures."""
    found: dict[str, Any] = {}
    figures = {tuple(claim.figures): claim for claim in claims}
    usual = ClaimEvidence.by_rule

    def by_rule(given: Mapping[str, Any], rule: Rule) -> ClaimEvidence:
        claim = figures.get(tuple(given))
        if claim is not None:
            found[claim.name] = limits_of(rule, {name: figure.value for name, figure in claim.figures.items()})
        return usual(given, rule)

    ClaimEvidence.by_rule = by_rule  # type: ignore[method-assign, assignment]
    try:
        yield found
    finally:
        ClaimEvidence.by_rule = usual  # type: ignore[method-assign]


def recorded_limits() -> dict[str, Any]:
    """The limits on record, by claim."""
    return json.loads(RECORDED.read_text(encoding="utf-8"))


def main() -> None:
    """Write the limits."""
    claims = [claim for part in claims_by_cost(cheap=True).values() for claim in part]
    with rules_of(claims) as found:
        for claim in claims:
            evidence_of(claim, Options(Path()))
    found |= made_up_figures([claim for part in claims_by_cost(cheap=False).values() for claim in part])
    lines = [f"{json.dumps(name)}: {json.dumps(limits, ensure_ascii=False)}" for name, limits in found.items()]
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
