"""The redundancy attack on trained encoders (002, Eq 9 and figure 3d), and why scores of interventions rise under it.

The paper has the BetaVAE and FactorVAE scores flat under the attack. Two variants say where a rise comes from: with
``mixing='identity'`` the new codes repeat the old ones one by one and add no other view of them; with codes drawn from
the attacked posterior, in place of its means, the new codes have the noise that the attack adds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from unweave.encoding import Encoded
from unweave.estimators.posteriors.mixture_sampling import MixtureSampling
from unweave.evidence import Evidence, EvidenceError, Posterior
from unweave.metrics import beta_vae_score, factor_vae_score, rmig, unibound
from unweave.papers.complete_grids import codes_of_grid
from unweave.papers.experiment import Options
from unweave.papers.kept_numbers import KeptNumbers
from unweave.papers.trained_encoders import codes_of, evidence_of_levels, models_among
from unweave.progress import progress_bar
from unweave.synthetic.attacks import Mixing, Redundancy

PAPERS_MODELS = ("beta-VAE", "beta-TCVAE")
STRENGTHS = (0.0, 0.5, 1.0, 2.0, 5.0)
# the covariances of an attacked posterior make every row dear: few rows, but all combinations of fewer values
N_ROWS, ROWS_OF_DECOMPOSITION = 20_000, 3240
DRAWS = MixtureSampling(500)


@dataclass(frozen=True)
class Attacked:
    """Scores of one encoder by the strength of the attack, and of the two variants of the attack."""

    strengths: tuple[float, ...]
    scores: dict[str, list[float]]
    identity: dict[str, list[float]]
    sampled: dict[str, list[float]]


def attacked_encoders(options: Options) -> dict[str, Attacked]:
    """The two models of the paper under attacks of growing strength."""
    n_rows = options.n_rows or N_ROWS
    codes = models_among(codes_of(options, n_rows, PAPERS_MODELS), PAPERS_MODELS)
    few = {name: encoded.rows(slice(0, ROWS_OF_DECOMPOSITION)) for name, encoded in codes.items()}
    if options.codes is None:
        few = codes_of_grid(options, ROWS_OF_DECOMPOSITION, PAPERS_MODELS)
    found = {}
    with progress_bar(len(codes) * len(STRENGTHS), options.progress) as bar:
        for name, encoded in codes.items():
            source = "given" if options.codes else "published"
            sizes = f"{n_rows} {ROWS_OF_DECOMPOSITION} {DRAWS.samples} {options.seed or 0}"
            kept = KeptNumbers(options.folder / "002" / f"{source} attacked {name} {sizes}.json")
            rows = []
            for alpha in STRENGTHS:
                bar.step(f"002: {name} attacked with strength {alpha:g}")
                rows.append(kept.value(f"strength {alpha:g}", partial(_scores, encoded, few[name], alpha)))
            variants = [
                {name: [row[variant][name] for row in rows] for name in rows[0][variant]}
                for variant in ("scores", "identity", "sampled")
            ]
            found[name] = Attacked(STRENGTHS, *variants)
    return found


def _scores(encoded: Encoded, for_information: Encoded, alpha: float) -> dict[str, dict[str, float]]:
    few, many = _evidence(for_information, alpha), _evidence(encoded, alpha)
    scores = _of_interventions(many)
    scores["MIG"] = rmig(few, estimator=DRAWS).raw
    scores["UniBound"] = unibound(few, estimator=DRAWS).raw
    return {
        "scores": scores,
        "identity": _of_interventions(_evidence(encoded, alpha, "identity")),
        "sampled": _of_interventions(_sampled(many)),
    }


def _of_interventions(evidence: Evidence) -> dict[str, float]:
    return {"BetaVAE": beta_vae_score(evidence).raw, "FactorVAE": factor_vae_score(evidence).raw}


def _evidence(encoded: Encoded, alpha: float, mixing: Mixing = "reflection") -> Evidence:
    """Evidence of the attacked posterior; strength 0 is the encoder itself, without codes of pure noise."""
    posterior = encoded.codes
    if not isinstance(posterior, Posterior) or posterior.categories:
        raise EvidenceError("The redundancy attack needs Gaussian codes with a spread: leave out other encoders.")
    plain = evidence_of_levels(encoded)
    return plain if alpha == 0 else _with_codes(plain, Redundancy(alpha, mixing).attack(posterior))


def _sampled(evidence: Evidence) -> Evidence:
    """The same with codes drawn from the posterior: of the new codes, what the attack adds is correlated noise."""
    assert evidence.posterior is not None
    posterior, rng = evidence.posterior, np.random.default_rng(0)
    if posterior.covariance is None:
        codes = rng.normal(posterior.mean, posterior.std)
    else:
        roots = np.linalg.cholesky(posterior.covariance + 1e-9 * np.eye(posterior.mean.shape[1]))
        codes = posterior.mean + np.einsum("nij,nj->ni", roots, rng.normal(size=posterior.mean.shape))
    return _with_codes(evidence, codes)


def _with_codes(evidence: Evidence, codes: object) -> Evidence:
    kinds = [str(kind) for kind in evidence.kinds]
    return Evidence(evidence.factors, codes, factor_names=evidence.factor_names, kinds=kinds)
