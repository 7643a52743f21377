"""Claims of 003 about curves in its figures, checked on computed means; numbered as in the ledger."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from unweave_papers.experiment import ClaimCheck
from unweave_papers.paper003.authors import Key, SeedMean
from unweave_papers.paper003.settings import COLUMNS

Curve = dict[float, float]  # x to the mean of a metric


@dataclass(frozen=True)
class CurveClaim:
    """A claim about one curve: the mean of a metric along a column, for cells whose other columns have given values.

    The claim is about points at ``start`` and above.
    """

    sentence: str
    paper: str
    metric: str
    along: str
    where: Mapping[str, object]
    holds: Callable[[Curve], bool]
    start: float = -math.inf

    def curve(self, means: Mapping[Key, SeedMean]) -> Curve:
        """Return the computed points of the curve, sorted."""
        found = {}
        for key, mean in means.items():
            row = dict(zip((*COLUMNS, "metric"), key, strict=True))
            if row["metric"] == self.metric and all(row[name] == value for name, value in self.where.items()):
                found[row[self.along]] = mean.mean
        return {x: found[x] for x in sorted(found) if x >= self.start}

    def checked(self, means: Mapping[Key, SeedMean]) -> ClaimCheck | None:
        """Check the claim on these means; None if they contain fewer than two points of the curve."""
        curve = self.curve(means)
        if len(curve) < 2:
            return None
        (first, *_, last) = curve.items()
        here = f"{first[1]:.3f} at {self.along} = {first[0]:g}, {last[1]:.3f} at {last[0]:g}"
        return ClaimCheck(self.sentence, self.paper, here, self.holds(curve))


def _constant(value: float, within: float) -> Callable[[Curve], bool]:
    return lambda curve: all(abs(mean - value) <= within for mean in curve.values())


def _rises(curve: Curve) -> bool:
    values = list(curve.values())
    return values[-1] > values[0] + 0.05 and all(b > a - 0.02 for a, b in itertools.pairwise(values))


def _falls(curve: Curve) -> bool:
    return _rises({x: -mean for x, mean in curve.items()})


def _share_of_ten(curve: Curve) -> bool:
    return all(abs(mean - m / 10) <= 0.015 for m, mean in curve.items())


CLAIMS = [
    *(
        CurveClaim(
            f"28: MCC-P of a mixing rises with the correlation (d = {d})",
            paper,
            "MCC-P",
            "rho",
            {"run": run, "encoder": "E3"},
            _rises,
            start=0.0,
        )
        for run, d, paper in (
            ("exp03", 2, ".685 at 0, .933 at .99"),
            ("exp03_d5", 5, ".687 at 0, .940 at .99"),
            ("exp03_d10", 10, ".575 at 0, .932 at .99"),
        )
    ),
    *(
        CurveClaim(f"30: MCC-P of a perfect encoder stays 1 ({run})", "1", "MCC-P", "rho", where, _constant(1.0, 1e-6))
        for run in ("exp03", "exp03_d5", "exp03_d10")
        for where in [{"run": run, "encoder": "E1"}]
    ),
    CurveClaim(
        "31: DCI-D of a mixing is near 0 (d = 10)",
        "near 0",
        "DCI-D",
        "rho",
        {"run": "exp03_d10", "encoder": "E3"},
        _constant(0.0, 0.1),
    ),
    CurveClaim(
        "42: MCC-P does not change if factors are dropped",
        "1",
        "MCC-P",
        "m",
        {"sweep": "6a", "dgp": "D1", "run": "exp06"},
        _constant(1.0, 1e-4),
    ),
    CurveClaim(
        "43: R2 is the share of factors that are kept",
        "m/d",
        "R2",
        "m",
        {"sweep": "6a", "dgp": "D1", "run": "exp06"},
        _share_of_ten,
    ),
    CurveClaim(
        "44: DCI-D does not change if factors are dropped",
        "1",
        "DCI-D",
        "m",
        {"sweep": "6a", "dgp": "D1", "run": "exp06"},
        _constant(1.0, 0.05),
    ),
    CurveClaim(
        "60: MCC-P of distributed codes falls with their number",
        ".85 to .65",
        "MCC-P",
        "m",
        {"run": "exp09_ratio", "encoder": "E8"},
        _falls,
    ),
    CurveClaim(
        "61: DCI-D of distributed codes stays near 1",
        "about 1",
        "DCI-D",
        "m",
        {"run": "exp09_ratio", "encoder": "E8"},
        _constant(1.0, 0.1),
    ),
    CurveClaim(
        "63: MCC-P of mixed codes rises with their number",
        ".678 to .855",
        "MCC-P",
        "m",
        {"run": "exp09_ratio", "encoder": "E7"},
        _rises,
    ),
    CurveClaim(
        "65: R2 of codes with additional mixtures (E6) is 0",
        "0",
        "R2",
        "m",
        {"run": "exp09_ratio", "encoder": "E6"},
        _constant(0.0, 0.05),
    ),
    CurveClaim(
        "92: MCC-P of noise falls with the number of rows",
        ".431 to .034",
        "MCC-P",
        "n",
        {"run": "exp11", "sweep": "D1\N{MULTIPLICATION SIGN}E9"},
        _falls,
    ),
]


def checked_claims(means: Mapping[Key, SeedMean]) -> Iterator[ClaimCheck]:
    """Check the claims for which these means contain a curve."""
    yield from filter(None, (claim.checked(means) for claim in CLAIMS))
