"""`unlabelled`: measures of representations that need no factors."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from unweave.arrays import FloatArray
from unweave.codec import plain_data
from unweave.errors import InputError
from unweave.estimators.correlation import (
    SWITCHED_OFF,
    Spearman,
    best_matching,
    disentanglement_ranking,
    divergence_from_prior,
    matched_correlation_by_chance,
    total_correlation,
)
from unweave.evaluation.similarity import Similarity
from unweave.evaluation.similarity import similarity as similarity_of
from unweave.evidence import Evidence
from unweave.metrics import CATALOGUE
from unweave.metrics.matrices import correlation_matrix
from unweave.metrics.prediction import r2
from unweave.options import checks_options

OF_A_POSTERIOR = ("informativeness", "separability")


@dataclass(frozen=True)
class RunFacts:
    """Measurements of one run that need no factors."""

    n_codes: int
    n_active: int  # codes that vary and, for a posterior, differ from the prior by more than .01 nats
    # of the active codes under a Gaussian copula, in nats: 0 for independent codes; nan with no more rows than codes
    total_correlation: float
    scores: dict[str, float] = field(default_factory=dict)  # metrics of a posterior that need no factors
    # UDR: how well the codes match those of another run one to one; median over the other runs, nan for a single run
    ranking: float = math.nan


@dataclass(frozen=True)
class RunPair:
    """Agreement of two runs by a one-to-one matching of codes, by linear regression, and by UDR."""

    first: str
    second: str
    matched: float  # mean absolute rank correlation of the best matching
    chance: float  # its expected value for unrelated codes
    linear: float  # held-out R2 of the codes of one run from those of the other, the mean of both directions
    ranking: float  # UDR of the pair
    partners: dict[str, str] = field(default_factory=dict)  # the matching


@dataclass(frozen=True)
class Unlabelled:
    """Measurements of every run and of every pair of runs; print it for a table.

    A high agreement means that the runs found the same codes. It does not mean that these codes are the factors.

    >>> Unlabelled(100, {"seed 0": RunFacts(n_codes=3, n_active=2, total_correlation=0.1)}).runs["seed 0"].n_active
    2
    """

    n_rows: int
    runs: dict[str, RunFacts]
    pairs: tuple[RunPair, ...] = ()
    similarity: Similarity | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; nan becomes null."""
        return {"schema": "unweave.unlabelled/1", **plain_data(self)}

    def __repr__(self) -> str:
        return f"Unlabelled({self.n_rows} rows; {', '.join(self.runs)})"

    def __str__(self) -> str:
        from unweave.report.tables import plain_text, unlabelled_table  # late: report is above evaluation

        similarities = "" if self.similarity is None else f"\n\n{self.similarity}"
        return plain_text(unlabelled_table(self)) + similarities


@checks_options
def unlabelled(runs: Mapping[str, object] | object, *, similarity: bool = False, rng: int = 0) -> Unlabelled:
    """Compare runs of the same samples without any factor.

    Parameters
    ----------
    runs : mapping of name to codes (n x m) or `Posterior`
        Codes of the same samples in the same order, such as those of several seeds of one model. Agreement needs at
        least two runs.
    similarity : bool
        Whether to compare all pairs by the measures of `unweave.similarity` as well, such as CKA. They are calibrated
        against rows in random order, which takes seconds for thousands of rows and hundreds of codes.
    rng : int
        Seed of the split for the linear agreement, and of the similarities.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.random.default_rng(0).normal(size=(500, 3))
    >>> found = unlabelled({"seed 0": codes, "seed 1": -codes[:, ::-1]})
    >>> round(found.pairs[0].matched, 3), found.pairs[0].partners["code 0"], round(found.runs["seed 0"].ranking, 1)
    (1.0, 'code 2', 1.0)
    """
    if not (isinstance(runs, Mapping) and runs):
        what = (
            "There are no runs" if isinstance(runs, Mapping) else f"An object of type {type(runs).__name__} has no runs"
        )
        raise InputError(f"{what}: pass a mapping from names of runs to codes, such as {{'seed 0': codes}}.")
    evidences = {str(name): Evidence(None, codes) for name, codes in runs.items()}
    sizes = {evidence.n_rows for evidence in evidences.values()}
    if len(sizes) > 1:
        raise InputError(f"The runs have {sorted(sizes)} rows: encode the same samples, in the same order.")
    active = {name: _active(evidence) for name, evidence in evidences.items()}
    pairs = tuple(
        _pair((one, evidences[one], active[one]), (other, evidences[other], active[other]), rng)
        for one, other in combinations(evidences, 2)
    )
    facts = {}
    for name, evidence in evidences.items():
        rankings = [pair.ranking for pair in pairs if name in (pair.first, pair.second)]
        facts[name] = RunFacts(
            n_codes=evidence.n_codes,
            n_active=len(active[name]),
            total_correlation=total_correlation(evidence.codes[:, active[name]]),
            scores={name: CATALOGUE[name](evidence).value for name in OF_A_POSTERIOR if evidence.posterior is not None},
            ranking=float(np.median(rankings)) if rankings else math.nan,
        )
    codes = {name: evidence.codes for name, evidence in evidences.items()}
    return Unlabelled(sizes.pop(), facts, pairs, similarity_of(codes, rng=rng) if similarity else None)


def _active(evidence: Evidence) -> list[int]:
    """Indices of the codes that vary and, for a Gaussian posterior, differ from the prior."""
    dead = set(evidence.dead_codes)
    kept = [place for place, name in enumerate(evidence.code_names) if name not in dead]
    if evidence.posterior is None:
        return kept
    n_gaussian = evidence.posterior.n_gaussian
    moved = divergence_from_prior(evidence.codes[:, :n_gaussian], evidence.posterior.std[:, :n_gaussian])
    return [place for place in kept if place >= n_gaussian or moved[place] > SWITCHED_OFF]


def _pair(one: tuple[str, Evidence, list[int]], other: tuple[str, Evidence, list[int]], rng: int) -> RunPair:
    (first, a, of_a), (second, b, of_b) = one, other
    if not (of_a and of_b):
        return RunPair(first, second, math.nan, math.nan, math.nan, math.nan)
    codes_a, codes_b = a.codes[:, of_a], b.codes[:, of_b]
    evidence = Evidence(codes_b, codes_a, kinds="continuous")
    matrix: FloatArray = np.nan_to_num(correlation_matrix(evidence, Spearman()))
    rows, columns = best_matching(matrix)
    there, back = (
        r2(Evidence(target, source, kinds="continuous"), rng=rng).value
        for target, source in ((codes_b, codes_a), (codes_a, codes_b))
    )
    return RunPair(
        first,
        second,
        matched=float(matrix[rows, columns].mean()),
        chance=matched_correlation_by_chance(a.n_rows, *matrix.shape),
        linear=(there + back) / 2,
        ranking=disentanglement_ranking(matrix),
        partners={a.code_names[of_a[i]]: b.code_names[of_b[j]] for i, j in zip(rows, columns, strict=True)},
    )
