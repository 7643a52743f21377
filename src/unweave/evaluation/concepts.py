"""`concept_report`: how well codes detect concepts, with noise floors and intervals of every measure."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unweave.errors import InputError
from unweave.evidence import Evidence
from unweave.evidence.columns import quoted
from unweave.metrics.concepts import (
    CONCEPT_METRICS,
    CodeUsage,
    SingleCodes,
    SparseProbes,
    SplitConcepts,
    code_usage,
    concept_probe,
    k_sparse_probing,
    single_codes,
    split_concepts,
)
from unweave.metrics.screening import ScreenedCodes, screened
from unweave.trust.budget import Work, draw_plan
from unweave.trust.floors import NoiseFloor, noise_floors
from unweave.trust.intervals import Interval, interval_of_parts, part_scores
from unweave.trust.scoring import observed

LEVEL = 0.95
BUDGET = 10.0
SECONDS_OF_ENTRY = 2e-7  # of one draw of the single codes, for each nonzero entry and concept
SECONDS_OF_PROBE = 0.01  # of one probe, for each concept


@dataclass(frozen=True)
class ConceptReport:
    """How well single codes and small sets of codes detect concepts, and how often codes are active.

    ``floors`` and ``intervals`` are those of every measure, by the name of its metric: `unweave explain concept_f1`
    describes it. Row groups stay whole in both. They are empty if the report was made without a budget.
    """

    n_rows: int
    code_names: tuple[str, ...]
    single: SingleCodes
    probes: SparseProbes
    splitting: SplitConcepts
    usage: CodeUsage
    screening: ScreenedCodes
    floors: dict[str, NoiseFloor] = field(default_factory=dict)
    intervals: dict[str, Interval] = field(default_factory=dict)

    def rows(self) -> list[dict[str, Any]]:
        """Scores of every concept: one dictionary for each, with noise floor and interval of every measure.

        ``f1_floor`` is the mean F1 of the best of as many random codes, ``f1_upper`` its 95 % quantile, and
        ``f1_interval`` the 95 % interval of F1; the same for the other measures. Undefined values are nan.
        """
        single, splitting = self.single, self.splitting
        best = {"f1": single.f1_code, "auroc": single.auroc_code, "average_precision": single.average_precision_code}
        return [
            {
                "concept": name,
                "prevalence": float(single.prevalence[j]),
                **{measure: float(getattr(single, measure)[j]) for measure in best},
                **{f"{measure}_code": self.code_names[codes[j]] for measure, codes in best.items()},
                **{f"{measure}_sign": int(getattr(single, f"{measure}_sign")[j]) for measure in best},
                "f1_ties": int(single.f1_ties[j]),
                **{
                    key: value for measure in MEASURES for key, value in self._floor_and_interval(measure, name).items()
                },
                "auroc_of_chance": float(single.auroc_of_chance[j]),
                "f1_of_chance": float(2 * single.prevalence[j] / (1 + single.prevalence[j])),
                **{f"probe_{k}": float(areas[j]) for k, areas in zip(self.probes.k, self.probes.auroc, strict=True)},
                "specific_codes": int(splitting.specific[j]),
                "coverage": float(splitting.coverage[j]),
                "split": bool(splitting.split[j]),
                "absorbing_codes": int(splitting.absorbing[j]),
            }
            for j, name in enumerate(single.concepts)
        ]

    def _floor_and_interval(self, measure: str, concept: str) -> dict[str, Any]:
        """Noise floor and interval of one measure of one concept."""
        floor, interval = self.floors.get(MEASURES[measure]), self.intervals.get(MEASURES[measure])
        ends = None if interval is None else interval.per_factor.get(concept)
        return {
            f"{measure}_floor": float("nan") if floor is None else floor.per_factor_floor.get(concept, float("nan")),
            f"{measure}_upper": float("nan") if floor is None else floor.per_factor_upper.get(concept, float("nan")),
            f"{measure}_interval": None if ends is None else [float(np.clip(end, 0.0, 1.0)) for end in ends],
        }

    def notes(self) -> list[str]:
        """Caveats of the noise floors and intervals, each once."""
        found: list[NoiseFloor | Interval] = [*self.floors.values(), *self.intervals.values()]
        said = [finding for each in found for finding in (*each.notes, *([each.reason] if each.reason else []))]
        return list(dict.fromkeys(map(str, said)))

    def totals(self) -> dict[str, Any]:
        """Numbers of codes by kind and of codes that depend on a concept, and of split and absorbed concepts."""
        return {
            "n_rows": self.n_rows,
            "n_codes": len(self.code_names),
            "mean_density": float(self.usage.density.mean()),
            "active_per_row": self.usage.active_per_row,
            "dead_codes": int(self.usage.dead.size),
            "dense_codes": int(self.usage.dense.size),
            "always_on_codes": int(self.usage.always_on.size),
            "codes_that_depend": int(self.screening.codes.size),
            "false_discovery_rate": self.screening.rate,
            "split_concepts": self.splitting.n_split,
            "absorbed_concepts": self.splitting.n_absorbed,
        }

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data; undefined values are None."""
        concepts = [
            {key: None if isinstance(value, float) and np.isnan(value) else value for key, value in row.items()}
            for row in self.rows()
        ]
        codes, notes = self.screening.rows(), self.notes()
        return {"schema": "unweave.concepts/2", **self.totals(), "concepts": concepts, "codes": codes, "notes": notes}


N_CODES_OF_PROBES = (1, 2, 5, 16)

# columns of the report, and the metrics whose noise floors and intervals stand beside them
MEASURES = {
    "f1": "concept_f1",
    "auroc": "concept_auroc",
    "average_precision": "concept_average_precision",
    **{f"probe_{k}": f"concept_probe (k={k})" for k in N_CODES_OF_PROBES},
    "split": "concept_splitting",
    "absorbed": "concept_absorption",
}


def concept_report(
    concepts: object, codes: object = None, *, seed: int = 0, budget: float = BUDGET, n_jobs: int = 1
) -> ConceptReport:
    """F1, AUROC and precision of the best code, k-sparse probing, density of the codes, splitting and absorption.

    Parameters
    ----------
    concepts, codes : tables of the same samples, or an `Evidence` alone
        Concepts have two values or a few classes. Codes are dense or sparse. Row groups of an Evidence stay whole in
        the split of the probes, in noise floors, in intervals and in the tests of splitting and screening.
    seed : int
        Seed of the split into training and test rows of the probes.
    budget : float
        Largest number of CPU seconds, approximately, for noise floors and intervals; 0 leaves them out.
    n_jobs : int
        Number of threads for noise floors and intervals.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> red = rng.random(400) < 0.3
    >>> codes = np.column_stack([2.0 * red, rng.random((400, 3)) < 0.1, np.zeros(400)])
    >>> found = concept_report({"red": red.astype(int)}, codes)
    >>> found.rows()[0]["auroc_code"], found.rows()[0]["f1"], found.totals()["dead_codes"]
    ('code 0', 1.0, 1)
    >>> found.rows()[0]["f1_floor"] < 0.6
    True
    """
    evidence = concepts if isinstance(concepts, Evidence) else Evidence(concepts, codes)
    if evidence.constant_factors:
        raise InputError(
            f"Concept {quoted(evidence.constant_factors[0])} has 1 value: leave it out, or pass more rows."
        )
    single = single_codes(evidence)
    n_concepts = len(single.concepts)
    floors, intervals = _floors_and_intervals(evidence, n_concepts, seed, budget, n_jobs) if budget else ({}, {})
    return ConceptReport(
        n_rows=evidence.n_rows,
        code_names=evidence.code_names,
        single=single,
        probes=k_sparse_probing(evidence, k=N_CODES_OF_PROBES, seed=seed),
        splitting=split_concepts(evidence),
        usage=code_usage(evidence),
        screening=screened(evidence),
        floors=floors,
        intervals=intervals,
    )


def _floors_and_intervals(
    evidence: Evidence, n_concepts: int, seed: int, budget: float, n_jobs: int
) -> tuple[dict[str, NoiseFloor], dict[str, Interval]]:
    """Noise floors and intervals of all measures, as far as they fit into the budget."""
    metrics: dict[str, Any] = {name: entry for name, entry in CONCEPT_METRICS.items() if entry is not concept_probe}
    metrics |= {f"concept_probe (k={k})": functools.partial(concept_probe, k=k, rng=seed) for k in N_CODES_OF_PROBES}
    sparse = evidence.sparse_codes
    n_entries = evidence.n_rows * evidence.n_codes if sparse is None else sparse.values.size
    single = Work("single codes", {"1": SECONDS_OF_ENTRY * n_entries * n_concepts})
    works = {
        label: Work(label, {"1": SECONDS_OF_PROBE * n_concepts}) if label.startswith("concept_probe") else single
        for label in metrics
    }
    plan = draw_plan(works, evidence, budget, some_rows=False, parts_of_some_rows=False)
    known = observed(metrics, evidence)
    floors = noise_floors(known, evidence, plan=plan, n_jobs=n_jobs)
    parts = part_scores(known, evidence, plan=plan, n_jobs=n_jobs)
    return floors, {label: interval_of_parts(label, found, LEVEL) for label, found in parts.items()}


__all__ = ["ConceptReport", "concept_report"]
