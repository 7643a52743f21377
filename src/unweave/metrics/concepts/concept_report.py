"""All measures of concepts and codes together, as they are usually reported for sparse autoencoders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unweave.evidence import Evidence
from unweave.metrics.concepts.code_usage import CodeUsage, code_usage
from unweave.metrics.concepts.k_sparse_probing import SparseProbes, k_sparse_probing
from unweave.metrics.concepts.screening import ScreenedCodes, screened
from unweave.metrics.concepts.single_codes import SingleCodes, single_codes
from unweave.metrics.concepts.splitting import SplitConcepts, split_concepts


@dataclass(frozen=True)
class ConceptReport:
    """How well single codes and small sets of codes detect concepts, and how often codes are active."""

    n_rows: int
    code_names: tuple[str, ...]
    single: SingleCodes
    probes: SparseProbes
    splitting: SplitConcepts
    usage: CodeUsage
    screening: ScreenedCodes

    def rows(self) -> list[dict[str, Any]]:
        """Scores of every concept: one dictionary for each."""
        single, splitting = self.single, self.splitting
        best = {"f1": single.f1_code, "auroc": single.auroc_code, "average_precision": single.average_precision_code}
        return [
            {
                "concept": name,
                "prevalence": float(single.prevalence[j]),
                **{measure: float(getattr(single, measure)[j]) for measure in best},
                **{f"{measure}_code": self.code_names[codes[j]] for measure, codes in best.items()},
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
        return {"schema": "unweave.concepts/1", **self.totals(), "concepts": concepts, "codes": self.screening.rows()}


def concept_report(concepts: object, codes: object = None, *, seed: int = 0) -> ConceptReport:
    """F1, AUROC and precision of the best code, k-sparse probing, density of the codes, splitting and absorption.

    Parameters
    ----------
    concepts, codes : tables of the same samples, or an `Evidence` alone
        Concepts have two values. Codes are dense or sparse.
    seed : int
        Seed of the split into training and test rows of the probes.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> red = rng.random(400) < 0.3
    >>> codes = np.column_stack([2.0 * red, rng.random((400, 3)) < 0.1, np.zeros(400)])
    >>> found = concept_report({"red": red.astype(int)}, codes)
    >>> found.rows()[0]["auroc_code"], found.rows()[0]["f1"], found.totals()["dead_codes"]
    ('code 0', 1.0, 1)
    """
    evidence = concepts if isinstance(concepts, Evidence) else Evidence(concepts, codes)
    return ConceptReport(
        n_rows=evidence.n_rows,
        code_names=evidence.code_names,
        single=single_codes(evidence),
        probes=k_sparse_probing(evidence, seed=seed),
        splitting=split_concepts(evidence),
        usage=code_usage(evidence),
        screening=screened(evidence),
    )
