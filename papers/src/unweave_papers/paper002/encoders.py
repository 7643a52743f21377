"""Decomposed and attacked encoders."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import entropy

from unweave.arrays import FloatArray
from unweave.datasets import DSprites
from unweave.encoding import Encoded, encode
from unweave.errors import InputError
from unweave.estimators.mixture import Components, MixtureSampling
from unweave.estimators.quantised_posterior import QuantisedPosterior
from unweave.evidence import Evidence, Posterior
from unweave.metrics import (
    beta_vae_score,
    factor_vae_score,
    jemmig,
    redundancy_lower_bound,
    redundancy_upper_bound,
    rmig,
    synergy_lower_bound,
    synergy_upper_bound,
    unibound,
    unique_upper_bound,
)
from unweave.progress import progress_bar
from unweave.score import Score
from unweave.synthetic.attacks import Mixing, Redundancy, mixing_matrix
from unweave_papers.experiment import ClaimCheck, Experiment, Options, Pictures
from unweave_papers.figures import curves_figure
from unweave_papers.stored import StoredNumbers, peak_memory
from unweave_papers.trained import (
    GRIDS,
    MODELS,
    codes_of,
    codes_of_grid,
    evidence_of_levels,
    grid_description,
    models_among,
    rows_of_grid,
)

MODEL, EVERYTHING = "beta-TCVAE", max(GRIDS)
GRID = QuantisedPosterior(bins=100, limits=(-4.0, 4.0))  # as in 001's published code
ALL_IMAGES_DRAWS = MixtureSampling(500, most_rows=EVERYTHING)
RANDOM_ROWS = (2500, 10_000, 40_000)
ALL_IMAGES_BUDGET = 480.0  # CPU seconds for UniBound
MOST_MINUTES, MOST_MEMORY = 15, 3.0


@dataclass(frozen=True)
class ScoreWithCost:
    """A score, its standard error (0 for a score without draws), CPU seconds, and peak memory of the process in GB."""

    value: float
    error: float
    seconds: float
    memory: float


@dataclass(frozen=True)
class AllImages:
    """Scores of one encoder on all images, and UniBound by the number of images."""

    n_images: int
    scores: dict[str, ScoreWithCost]
    by_grid: dict[int, ScoreWithCost]
    by_rows: dict[int, ScoreWithCost]


def compute(options: Options) -> AllImages:
    """Encode all images or read their codes, compute the scores, and store every number.

    Given codes have no coarser grids: all their rows are the only one.
    """
    source, grids = "all images", sorted(GRIDS)
    subsets: tuple[int, ...] = RANDOM_ROWS
    if options.codes is None:
        encoded = codes_of_grid(options, EVERYTHING, [MODEL])[MODEL]
    else:
        encoded = next(iter(models_among(codes_of(options, EVERYTHING), [MODEL]).values()))
        source, grids = options.codes.name, [encoded.n_rows]
        subsets = tuple(n for n in (500, 1000, *RANDOM_ROWS) if n < encoded.n_rows)
    kept = StoredNumbers(
        options.folder / "002" / f"{source} {MODEL} {ALL_IMAGES_DRAWS.samples} {options.seed or 0}.json"
    )
    order = np.random.default_rng(options.seed or 0).permutation(encoded.n_rows)
    scores: dict[str, ScoreWithCost] = {}
    by_grid: dict[int, ScoreWithCost] = {}
    by_rows: dict[int, ScoreWithCost] = {}
    with progress_bar(2 + len(grids) + len(subsets), options.progress) as bar:
        for name, metric in {"RMIG": rmig, "JEMMIG": jemmig}.items():
            bar.step(f"{name} of all images")
            scores[name] = _stored_images(kept, name, partial(metric, estimator=GRID), encoded)
        draw = partial(unibound, estimator=ALL_IMAGES_DRAWS)
        for n_rows in subsets:
            bar.step(f"UniBound of {n_rows} random rows")
            by_rows[n_rows] = _stored_images(kept, f"random rows {n_rows}", draw, encoded.rows(order[:n_rows]))
        for n_images in grids:
            bar.step(f"UniBound of {n_images} images")
            if _fits(n_images, by_grid):
                rows = encoded if n_images == grids[-1] else rows_of_grid(encoded, n_images)
                by_grid[n_images] = _stored_images(kept, f"grid {n_images}", draw, rows)
    scores["UniBound"] = by_grid[max(by_grid)]
    return AllImages(encoded.n_rows, scores, by_grid, by_rows)


def compare(images: AllImages, options: Options) -> Iterator[ClaimCheck]:
    """Report scores with their costs, and the bias of UniBound."""
    largest = max(images.by_grid)
    for name, score in images.scores.items():
        n_images = largest if name == "UniBound" else images.n_images
        here = f"{_with_interval(score)}, {score.seconds:.0f} CPU seconds, at most {score.memory:.2f} GB"
        yield ClaimCheck(f"{MODEL}: {name} of {n_images:,} images", "not in the paper", here)
    worst = max(images.scores.values(), key=lambda score: score.memory)
    dearest = max(images.scores.values(), key=lambda score: score.seconds)
    yield ClaimCheck.number("CPU minutes of the slowest score", "below 15", dearest.seconds / 60, below=MOST_MINUTES)
    yield ClaimCheck.number("peak memory in GB", "below 3", worst.memory, below=MOST_MEMORY)
    for label, numbers in (("all combinations of fewer values", images.by_grid), ("random rows", images.by_rows)):
        here = ", ".join(f"{n:,}: {_with_interval(score)}" for n, score in numbers.items())
        yield ClaimCheck(f"{MODEL}: UniBound on {label}", "all 737,280 images", here)
    if largest < images.n_images:
        here = f"{largest:,} of {images.n_images:,}, because of the budget of {ALL_IMAGES_BUDGET:.0f} CPU seconds"
        yield ClaimCheck("number of images for UniBound", "all 737,280 images", here)


def draw(images: AllImages, options: Options) -> Pictures:
    """Draw UniBound against the number of images, for grids and for random rows."""
    ticks = sorted({*images.by_grid, *images.by_rows})
    curves = {
        label: [numbers[n].value if n in numbers else np.nan for n in ticks]
        for label, numbers in (("all combinations", images.by_grid), ("random rows", images.by_rows))
    }
    yield "all-images", curves_figure(curves, ticks, "UniBound", across="images")


def _fits(n_images: int, before: dict[int, ScoreWithCost]) -> bool:
    """Whether UniBound of ``n_images`` fits into the budget, if the cost is proportional to the number of images."""
    if not before:
        return True
    largest = max(before)
    spent = sum(score.seconds for score in before.values())
    return spent + before[largest].seconds * n_images / largest <= ALL_IMAGES_BUDGET


def _stored_images(kept: StoredNumbers, name: str, metric: Callable[..., Any], encoded: Encoded) -> ScoreWithCost:
    def measure() -> list[float]:
        evidence, start = evidence_of_levels(encoded), time.process_time()
        score = metric(evidence)
        seconds = time.process_time() - start
        return [score.raw, float(score.parts.get("standard_error", 0.0)), seconds, peak_memory()]

    return ScoreWithCost(*kept.value(name, measure))


def _with_interval(score: ScoreWithCost) -> str:
    return f"{score.value:.4f} ± {1.96 * score.error:.4f}" if score.error else f"{score.value:.4f}"


# fmt: off
ALL_IMAGES = Experiment(
    "all-images",
    "RMIG, JEMMIG and UniBound of one encoder on all 737,280 images, and UniBound by the number of images",
    compute, compare, draw, options=("seed", "weights", "codes"), needs=("torch", "weights"),
    cost="12 minutes on one core", seeds="One training of one encoder: ± is 1.96 standard errors of 500 draws.",
)
# fmt: on


def attacked_information(encoded: Encoded, attack: Redundancy, estimator: MixtureSampling) -> dict[str, float]:
    """Compute MIG, UniBound and its standard error with the codes that the attack adds; strength 0 adds none.

    They are relative to the entropies of the factors.
    """
    components = _columns(encoded, attack)
    n_codes = encoded.means.shape[1]
    old = range(n_codes)
    alone = [(i,) for i in old] + [(2 * n_codes + k,) for k in old if attack.alpha > 0]
    others = [tuple(j for j in old if j != i) + ((n_codes + i,) if attack.alpha > 0 else ()) for i in old]
    groups = [*alone, *others, tuple(old)]
    # without one new code, the rest has the same information as all old codes, which are the last group
    rest = np.array([len(alone) + k if k < n_codes else len(groups) - 1 for k in range(len(alone))])
    gaps, unique, errors = [], [], []
    for factor in encoded.factors.T:
        labels = np.unique(factor, return_inverse=True)[1].astype(np.uint16)
        sampled, _ = estimator.label_ratios(components, range(components.n_codes), groups, labels)
        size = float(entropy(np.bincount(labels)))
        told = np.maximum(sampled.mean(sampled.ratios), 0) / size
        bounds = told[: len(alone)] - told[rest]  # 002, Eq 5
        best = int(bounds.argmax())
        difference = sampled.ratios[:, best] - sampled.ratios[:, rest[best]]
        second, first = np.sort(told[: len(alone)])[-2:]
        gaps.append(first - second)
        unique.append(max(bounds[best], 0.0))
        errors.append(float(sampled.standard_error(difference)) / size if bounds[best] > 0 else 0.0)
    error = float(np.sqrt(np.square(errors).sum()) / len(errors))
    return {"MIG": float(np.mean(gaps)), "UniBound": float(np.mean(unique)), "error of UniBound": error}


def _columns(encoded: Encoded, attack: Redundancy) -> Components:
    """Return the components of all codes, then of each code with noise, then of the new codes."""
    mean, std = (encoded.arrays[name].astype(np.float64) for name in ("codes", "codes_std"))
    scaled: FloatArray = attack.alpha * mixing_matrix(attack.mixing, mean.shape[1])
    noisy = np.sqrt(np.square(attack.alpha * std) + 1)
    new = np.sqrt(np.square(std) @ np.square(scaled).T + 1)
    return Components(np.column_stack([mean, attack.alpha * mean, mean @ scaled.T]), np.column_stack([std, noisy, new]))


ATTACKED_MODELS = ("beta-VAE", "beta-TCVAE")
ATTACK_STRENGTHS = (0.0, 0.5, 1.0, 2.0, 5.0)

# interventions use random rows, and information uses all combinations of fewer values
N_ROWS, ROWS_OF_DECOMPOSITION = 20_000, 46_080
ATTACK_DRAWS = MixtureSampling(1000, most_rows=max(GRIDS))


# scores of one encoder along `ATTACK_STRENGTHS`, for the attack (with the error of UniBound) and its three variants
Attacked = dict[str, dict[str, list[float]]]


def attacked_encoders(options: Options) -> dict[str, Attacked]:
    """Compute the scores of the paper's two models under attacks of increasing strength."""
    n_rows = options.n_rows or N_ROWS
    codes = models_among(codes_of(options, n_rows, ATTACKED_MODELS), ATTACKED_MODELS)
    complete = {name: encoded.rows(slice(0, ROWS_OF_DECOMPOSITION)) for name, encoded in codes.items()}
    if options.codes is None:
        complete = codes_of_grid(options, ROWS_OF_DECOMPOSITION, ATTACKED_MODELS)
    attacked = {}
    with progress_bar(len(codes) * len(ATTACK_STRENGTHS), options.progress) as bar:
        for name, encoded in codes.items():
            source = "given" if options.codes else "published"
            sizes = f"{n_rows} {ROWS_OF_DECOMPOSITION} {ATTACK_DRAWS.samples} {options.seed or 0}"
            kept = StoredNumbers(options.folder / "002" / f"{source} attacked {name} {sizes}.json")
            rows = []
            for alpha in ATTACK_STRENGTHS:
                bar.step(f"002: {name} attacked with strength {alpha:g}")
                rows.append(kept.value(f"strength {alpha:g}", partial(_scores, encoded, complete[name], alpha)))
            attacked[name] = {
                variant: {score: [row[variant][score] for row in rows] for score in scores}
                for variant, scores in rows[0].items()
            }
    return attacked


def _scores(encoded: Encoded, complete: Encoded, alpha: float) -> dict[str, dict[str, float]]:
    attacked = _evidence(encoded, alpha)
    return {
        "scores": _of_interventions(attacked) | attacked_information(complete, Redundancy(alpha), ATTACK_DRAWS),
        "identity": _of_interventions(_evidence(encoded, alpha, "identity")),
        "new alone": _of_interventions(_new_alone(attacked)),
        "sampled": _of_interventions(_with_sampled_codes(attacked)),
    }


def _of_interventions(evidence: Evidence) -> dict[str, float]:
    return {"BetaVAE": beta_vae_score(evidence).raw, "FactorVAE": factor_vae_score(evidence).raw}


def _evidence(encoded: Encoded, alpha: float, mixing: Mixing = "reflection") -> Evidence:
    """Return evidence with the attacked posterior; strength 0 leaves the codes unchanged and adds no noise codes."""
    posterior = encoded.codes
    if not isinstance(posterior, Posterior) or posterior.categories:
        raise InputError("The redundancy attack needs Gaussian posteriors: leave out encoders without them.")
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


def _with_sampled_codes(evidence: Evidence) -> Evidence:
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


PAPERS_MODELS = ("beta-VAE", "FactorVAE", "beta-TCVAE", "JointVAE")
DRAWS = MixtureSampling(500, most_rows=max(GRIDS))  # sums over all rows, as in Eq 8
ROWS = (2500, 5000, 10_000, 20_000, 50_000, 100_000)
COARSEST, TIMED_IMAGES = 11_520, 1000
BUDGET = 300.0  # CPU seconds for encoding and decomposing all models
BOUNDS = {
    "unique": (unibound, unique_upper_bound),
    "redundant": (redundancy_lower_bound, redundancy_upper_bound),
    "synergistic": (synergy_lower_bound, synergy_upper_bound),
}

Numbers = dict[int, float]


@dataclass(frozen=True)
class Decomposed:
    """Results of one encoder: scores, UniBound by the number of rows, and lower and upper bounds of the three parts.

    ``errors`` are standard errors of the sampled scores. ``by_grid`` has UniBound on all combinations of fewer values,
    and ``by_rows`` on random rows. ``rows_description`` describes the rows on which ``scores`` are computed.
    """

    scores: dict[str, float]
    by_rows: Numbers
    bounds: dict[str, tuple[float, float]]
    n_rows: int
    rows_description: str
    by_grid: Numbers
    errors: dict[str, float]


def decomposed_encoders(options: Options) -> dict[str, Decomposed]:
    """Decompose the paper's models on a complete grid, or on random rows with --rows or --codes."""
    if options.codes is None and options.n_rows is None:
        n_rows = _affordable_grid(options)
        codes, words = codes_of_grid(options, n_rows, PAPERS_MODELS), grid_description(n_rows)
    else:
        names = tuple(models_among(codes_of(options, ROWS[0], PAPERS_MODELS), PAPERS_MODELS))
        n_rows = options.n_rows or _affordable_rows(options, names)
        codes = models_among(codes_of(options, n_rows, PAPERS_MODELS), PAPERS_MODELS)
        words = "random rows, by --rows" if options.n_rows else "as many random rows as the budget allows"
    decomposed = {}
    with progress_bar(len(codes), options.progress) as bar:
        for name, encoded in codes.items():
            bar.step(f"002: {name}, {n_rows} rows")
            decomposed[name] = _decompose(name, encoded, words, options)
    return decomposed


def _decompose(name: str, encoded: Encoded, words: str, options: Options) -> Decomposed:
    n_rows, is_grid = encoded.n_rows, options.codes is None and options.n_rows is None
    source = "grid" if is_grid else "given" if options.codes else "published"
    file = f"{source} {name} {n_rows} {DRAWS.samples} all rows {options.seed or 0}.json"
    kept, evidence = StoredNumbers(options.folder / "002" / file), evidence_of_levels(encoded)
    order = np.random.default_rng(options.seed or 0).permutation(n_rows)
    by_rows = {
        n: kept.number(f"unique, lower, {n} random rows", partial(_unibound, encoded.rows(order[:n])))
        for n in ROWS
        if n < n_rows
    }
    by_grid = {
        n: kept.number(f"unique, lower, grid of {n}", lambda n=n: _unibound(rows_of_grid(encoded, n)))  # type: ignore[misc]
        for n in (GRIDS if is_grid else ())
        if COARSEST <= n < n_rows
    }
    drawn = {
        "MIG": kept.value("MIG", partial(_by_drawing, rmig, evidence)),
        "UniBound": kept.value("unique, lower", partial(_by_drawing, unibound, evidence)),
    }
    scores = {
        "BetaVAE": kept.number("BetaVAE", lambda: beta_vae_score(evidence).raw),
        "FactorVAE": kept.number("FactorVAE", lambda: factor_vae_score(evidence).raw),
        **{score: value for score, (value, _) in drawn.items()},
    }
    (by_grid if is_grid else by_rows)[n_rows] = scores["UniBound"]
    bounds = {
        part: (
            float(kept.value(f"{part}, lower", partial(_by_drawing, lower, evidence))[0]),
            float(kept.value(f"{part}, upper", partial(_by_drawing, upper, evidence))[0]),
        )
        for part, (lower, upper) in BOUNDS.items()
    }
    errors = {score: error for score, (_, error) in drawn.items()}
    return Decomposed(scores, by_rows, bounds, n_rows, words, by_grid, errors)


def _unibound(encoded: Encoded) -> float:
    return unibound(evidence_of_levels(encoded), estimator=DRAWS).raw


def _by_drawing(metric: Callable[..., Score], evidence: Evidence) -> tuple[float, float]:
    """Return a score and its standard error over draws."""
    score = metric(evidence, estimator=DRAWS)
    return score.raw, float(score.parts["standard_error"])


def _affordable_grid(options: Options) -> int:
    """Return the size of the finest grid that fits into the budget, by timing a few images of one model."""
    from unweave.neural.published_vaes import read_published

    assert options.weights is not None
    model = read_published(MODELS[PAPERS_MODELS[0]], options.weights)

    def settle() -> float:
        start = time.process_time()
        part = encode(model, DSprites(), rows=TIMED_IMAGES)
        unibound(evidence_of_levels(part), estimator=DRAWS)
        # twice, because smaller sets are computed too
        per_image = 2 * len(PAPERS_MODELS) * (time.process_time() - start) / TIMED_IMAGES
        return float(max(n for n in GRIDS if n == COARSEST or n * per_image <= BUDGET))

    return int(_stored_budget(options).number("images of the grid", settle))


def _affordable_rows(options: Options, names: tuple[str, ...]) -> int:
    """Return the largest number of random rows that fits into the budget, by timing the smallest."""

    def settle() -> float:
        part: Any = codes_of(options, ROWS[0], names)[names[0]]
        start = time.process_time()
        unibound(evidence_of_levels(part), estimator=DRAWS)
        per_row = (time.process_time() - start) / part.n_rows
        # all smaller numbers of rows are computed too; the other bounds are memoised and add no cost
        fitting = [n for k, n in enumerate(ROWS) if per_row * sum(ROWS[: k + 1]) * len(names) <= BUDGET]
        return float(max(fitting, default=ROWS[0]))

    return int(_stored_budget(options).number(f"random rows of {len(names)} encoders", settle))


def _stored_budget(options: Options) -> StoredNumbers:
    return StoredNumbers(options.folder / "002" / f"budget {options.seed or 0}.json")
