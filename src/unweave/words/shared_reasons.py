"""One sentence for a reason that several scores share and that differs only in its numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from unweave.findings import Finding
from unweave.words.phrases import counted, listed


def shared_reason(findings: Mapping[str, Finding]) -> str | None:
    """The reason that the findings of several metrics share, with the change of each score; None if none is stated.

    >>> moved = {"before": 0.75, "after": 1.0, "further": False}
    >>> both = {name: Finding("depends_on_number_of_rows", rows_per_code=3, **moved) for name in ("mig", "sap")}
    >>> print(shared_reason(both))
    Depend on the number of rows. With more rows, mig goes from 0.75 to 1.00, sap from 0.75 to 1.00.
    """
    first = next(iter(findings.values()))
    if first.kind not in _CAUSES or not all({"before", "after"} <= set(each.quantities) for each in findings.values()):
        return None
    cause, condition = _CAUSES[first.kind], _CONDITIONS[first.kind](first)
    depend = "Depends" if len(findings) == 1 else "Depend"
    changes = [
        f"{name}{'' if k else ' goes'} from {each.quantities['before']:.2f} to {each.quantities['after']:.2f}"
        for k, (name, each) in enumerate(findings.items())
    ]
    return f"{depend} on {cause}. {condition} {', '.join(changes)}."


_CAUSES = {
    "depends_on_redundant_factors": "redundant factors",
    "depends_on_dependence": "the dependence of the factors",
    "depends_on_constraint": "how the factors constrain each other",
    "depends_on_redundant_codes": "the number of codes",
    "depends_on_number_of_rows": "the number of rows",
}
_CONDITIONS: dict[str, Callable[[Finding], str]] = {
    "depends_on_redundant_factors": lambda found: f"Without {listed(found.factors)}, which other factors determine,",
    "depends_on_dependence": lambda found: (
        f"With independent factors (here {found.factors[0]} and {found.factors[1]} correlate by "
        f"{found.quantities['strength']:.2f}),"
    ),
    "depends_on_constraint": lambda found: (
        f"If all factors varied independently (here others determine {listed(found.factors)}),"
    ),
    "depends_on_redundant_codes": lambda found: _without_redundant(found.quantities),
    "depends_on_number_of_rows": lambda found: "With more rows,",
}


def _without_redundant(quantities: Mapping[str, object]) -> str:
    n_codes, n_free = int(float(str(quantities["n_codes"]))), float(str(quantities["n_free"]))
    factors = f"{n_free:.0f} independent factor{'' if n_free == 1 else 's'}"
    return f"With redundant codes removed (you have {counted(n_codes, 'code')} for {factors}),"
