"""The redundancy attack on trained encoders (002, Eq 9 and Figure 3d), and why intervention scores rise under it.

In the paper, the BetaVAE and FactorVAE scores do not change under the attack. Three variants explain why they can rise
here. With ``mixing='identity'``, each new code is a copy of one old code. New codes alone, without the old ones, show
whether the new codes score higher by themselves. With codes drawn from the attacked posterior instead of its means,
the new codes contain the noise that the attack adds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from unweave.encoding import Encoded
from unweave.estimators.posteriors.mixture_sampling import MixtureSampling
from unweave.evidence import Evidence, EvidenceError, Posterior
from unweave.metrics import beta_vae_score, factor_vae_score
from unweave.papers.complete_grids import GRIDS, codes_of_grid
from unweave.papers.experiment import Options
from unweave.papers.kept_numbers import KeptNumbers
from unweave.papers.partial_information_decomposition.attacked_information import attacked_information
from unweave.papers.trained_encoders import codes_of, evidence_of_levels, models_among
from unweave.progress import progress_bar
from unweave.synthetic.attacks import Mixing, Redundancy

PAPERS_MODELS = ("beta-VAE", "beta-TCVAE")
STRENGTHS = (0.0, 0.5, 1.0, 2.0, 5.0)
# interventions use random rows, and information uses all combinations of fewer values
N_ROWS, ROWS_OF_DECOMPOSITION = 20_000, 46_080
DRAWS = MixtureSampling(1000, most_rows=max(GRIDS))


@dataclass(frozen=True)
class Attacked:
    """Scores of one encoder by the strength of the attack, for the attack and its three variants.

    ``scores`` includes the standard error of UniBound.
    """

    strengths: tuple[float, ...]
    scores: dict[str, list[float]]
    identity: dict[str, list[float]]
    new_alone: dict[str, list[float]]
    sampled: dict[str, list[float]]


def attacked_encoders(options: Options) -> dict[str, Attacked]:
    """Compute the scores of the paper's two models under attacks of increasing strength."""
    n_rows = options.n_rows or N_ROWS
    codes = models_among(codes_of(options, n_rows, PAPERS_MODELS), PAPERS_MODELS)
    complete = {name: encoded.rows(slice(0, ROWS_OF_DECOMPOSITION)) for name, encoded in codes.items()}
    if options.codes is None:
        complete = codes_of_grid(options, ROWS_OF_DECOMPOSITION, PAPERS_MODELS)
    found = {}
    with progress_bar(len(codes) * len(STRENGTHS), options.progress) as bar:
        for name, encoded in codes.items():
            source = "given" if options.codes else "published"
            sizes = f"{n_rows} {ROWS_OF_DECOMPOSITION} {DRAWS.samples} {options.seed or 0}"
            kept = KeptNumbers(options.folder / "002" / f"{source} attacked {name} {sizes}.json")
            rows = []
            for alpha in STRENGTHS:
                bar.step(f"002: {name} attacked with strength {alpha:g}")
                rows.append(kept.value(f"strength {alpha:g}", partial(_scores, encoded, complete[name], alpha)))
            variants = [
                {name: [row[variant][name] for row in rows] for name in rows[0][variant]}
                for variant in ("scores", "identity", "new alone", "sampled")
            ]
            found[name] = Attacked(STRENGTHS, *variants)
    return found


def _scores(encoded: Encoded, complete: Encoded, alpha: float) -> dict[str, dict[str, float]]:
    attacked = _evidence(encoded, alpha)
    told = attacked_information(complete, Redundancy(alpha), DRAWS)
    scores = {**_of_interventions(attacked), "MIG": told.mig, "UniBound": told.unibound}
    scores["error of UniBound"] = told.unibound_error
    return {
        "scores": scores,
        "identity": _of_interventions(_evidence(encoded, alpha, "identity")),
        "new alone": _of_interventions(_new_alone(attacked)),
        "sampled": _of_interventions(_sampled(attacked)),
    }


def _of_interventions(evidence: Evidence) -> dict[str, float]:
    return {"BetaVAE": beta_vae_score(evidence).raw, "FactorVAE": factor_vae_score(evidence).raw}


def _evidence(encoded: Encoded, alpha: float, mixing: Mixing = "reflection") -> Evidence:
    """Return evidence with the attacked posterior; strength 0 leaves the codes unchanged and adds no noise codes."""
    posterior = encoded.codes
    if not isinstance(posterior, Posterior) or posterior.categories:
        raise EvidenceError("The redundancy attack needs Gaussian posteriors: leave out encoders without them.")
    plain = evidence_of_levels(encoded)
    return plain if alpha == 0 else _with_codes(plain, Redundancy(alpha, mixing).attack(posterior))


def _new_alone(evidence: Evidence) -> Evidence:
    """Return only the codes that the attack adds; strength 0 leaves the codes unchanged."""
    assert evidence.posterior is not None
    posterior = evidence.posterior
    if posterior.covariance is None:
        return evidence
    new = slice(posterior.mean.shape[1] // 2, None)
    return _with_codes(evidence, Posterior(posterior.mean[:, new], posterior.std[:, new]))


def _sampled(evidence: Evidence) -> Evidence:
    """Replace codes by draws from the posterior, in which the new codes have correlated noise."""
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
