"""Measured models of 001."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import stats

from unweave.arrays import FloatArray
from unweave.encoding import Encoded
from unweave.estimators.information import Histogram
from unweave.estimators.linear_probes import Lasso
from unweave.estimators.mixture import MixtureSampling
from unweave.estimators.quantised_posterior import QuantisedPosterior
from unweave.evidence import Evidence, Posterior
from unweave.metrics import (
    CATALOGUE,
    dci_completeness,
    dci_disentanglement,
    dci_informativeness,
    informativeness,
    jemmig,
    mig,
    rmig,
    separability,
    sepin_at_k,
    three_way_information,
    wsepin,
)
from unweave.progress import progress_bar
from unweave.randomness import random_stream
from unweave_papers.experiment import ClaimCheck, Experiment, MeasuredFigure, Options, Pictures, Tables
from unweave_papers.figures import bars_figure, mark_table_figure, pairs_figure
from unweave_papers.stored import StoredNumbers
from unweave_papers.trained import (
    SmallSetting,
    beta_vaes,
    codes_of,
    difference,
    evidence_of_levels,
    factor_vaes,
    measured,
    trained,
)

LIMITS = (-4.0, 4.0)  # as in the published code
GRID = QuantisedPosterior(bins=100, limits=LIMITS)
N_ROWS = 20_000
ROWS_SAMPLED = 2000  # fewer rows for sampling from mixtures, whose cost is draws x rows
BINS = (10, 20, 50, 100, 200, 500)
MODEL_DRAWS = (1000, 2000, 5000, 10_000)
Numbers = dict[str, Any]


def by_model(label: str, measure: Callable[[Encoded], Any], options: Options) -> Numbers:
    """Return a measure of every model by name; each is computed once and stored."""
    n_rows = options.n_rows or N_ROWS
    numbers = {}
    given = codes_of(options, n_rows)
    if label not in SAMPLED:
        given = {name: with_posterior(encoded) for name, encoded in given.items()}
    codes = {name: encoded for name, encoded in given.items() if "codes_std" in encoded.arrays}
    with progress_bar(len(codes), options.progress) as bar:
        for name, encoded in codes.items():
            bar.step(f"001: {label} of {name}")
            source = options.codes.name if options.codes else "published"
            kept = StoredNumbers(options.folder / "001" / f"{source} {name} {n_rows} {options.seed or 0}.json")
            numbers[name] = kept.value(label, partial(measure, encoded))
    return numbers


# measures that draw from the posteriors, which a deterministic encoder does not have
SAMPLED = ("scores by draws", "shared by two codes", "sampled and quantised", "three gaps")
POINT = 1e-6  # standard deviation of a deterministic encoder (AAE): on a grid, its posterior lies in one bin


def with_posterior(encoded: Encoded) -> Encoded:
    """The codes with posteriors; those of a deterministic encoder are points."""
    if "codes_std" in encoded.arrays:
        return encoded
    return replace(encoded, arrays={**encoded.arrays, "codes_std": np.full(encoded.means.shape, POINT)})


def rmig_per_factor(encoded: Encoded) -> dict[str, float]:
    """RMIG of every factor (Table 8)."""
    return dict(rmig(evidence_of_levels(encoded), estimator=GRID).per_factor)


def jemmig_per_factor(encoded: Encoded) -> dict[str, float]:
    """JEMMIG of every factor (Table 9)."""
    return dict(jemmig(evidence_of_levels(encoded), estimator=GRID).per_factor)


def modularities(encoded: Encoded) -> dict[str, float]:
    """Modularity from the means, as published, and from q(z | x), with 100 bins, and JEMMIG (Figure 8)."""
    evidence = evidence_of_levels(encoded)
    return {
        "of means": modularity_of(information_of_means(encoded)),
        "of q(z | x)": modularity_of(information_of_posteriors(evidence)),
        "JEMMIG": jemmig(evidence, estimator=GRID).raw,
    }


def informativeness_per_code(encoded: Encoded) -> list[float]:
    """I(x, z_i) divided by the log of the number of bins, the most informative code first (Figures 9 and 14)."""
    per_code = informativeness(evidence_of_levels(encoded), estimator=GRID).per_code
    return sorted((float(value) for value in per_code.values()), reverse=True)


def scores_by_bins(encoded: Encoded) -> dict[str, list[float]]:
    """RMIG, JEMMIG and mean joint entropy of factors and their best codes, by the number of bins (Figure 17)."""
    evidence, rows = evidence_of_levels(encoded), []
    for bins in BINS:
        grid = QuantisedPosterior(bins, LIMITS)
        score = jemmig(evidence, estimator=grid)
        information, joint = score.parts["mutual_information_matrix"], score.parts["joint_entropy_matrix"]
        best = joint[information.argmax(axis=0), np.arange(joint.shape[1])]
        rows.append((rmig(evidence, estimator=grid).raw, score.raw, float(best.mean())))
    names = ("RMIG", "JEMMIG", "joint entropy")
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}


def scores_by_draws(encoded: Encoded) -> dict[str, list[float]]:
    """JEMMIG and WSEPIN by the number of draws (Figure 18)."""
    evidence = evidence_of_levels(encoded.rows(slice(0, ROWS_SAMPLED)))
    return {
        "JEMMIG": [jemmig(evidence, estimator=MixtureSampling(draws)).raw for draws in MODEL_DRAWS],
        "WSEPIN": [wsepin(evidence, estimator=MixtureSampling(draws)).raw for draws in MODEL_DRAWS],
    }


def correlations(encoded: Encoded) -> dict[str, Any]:
    """Correlations between codes: of means, of one draw per sample, and expected over draws (Figure 20, A.5)."""
    posterior = encoded.codes
    assert isinstance(posterior, Posterior)
    matrices = posterior.correlations()
    return {
        "means": matrices.means.tolist(),
        "draws": matrices.draws.tolist(),
        "draws, in the limit": matrices.expected.tolist(),
    }


def shared_by_two_codes(encoded: Encoded) -> dict[str, Any]:
    """I(x, z_i, z_j) of every pair of codes in nats, its mean over pairs and the mean's standard error (Eq 2)."""
    evidence = evidence_of_levels(encoded.rows(slice(0, ROWS_SAMPLED)))
    score = three_way_information(evidence, estimator=MixtureSampling(MODEL_DRAWS[1]), normalise=False)
    return {
        "I(x, z_i, z_j)": score.parts["three_way_matrix"].tolist(),
        "mean": score.raw,
        "standard error": float(score.parts["standard_error"]),
    }


def matrices(encoded: Encoded) -> dict[str, list[list[float]]]:
    """Information from q(z | x) and from means, and importances of a lasso without shape, as in 001 (Figure 23)."""
    evidence = evidence_of_levels(encoded)
    numbers = [j for j, name in enumerate(encoded.factor_names) if name != "shape"]
    kinds = ["continuous"] * len(numbers)
    ordered = Evidence(encoded.factors[:, numbers], encoded.means, kinds=kinds)
    importance = dci_disentanglement(ordered, probe=Lasso(0.002)).parts["importance_matrix"]
    return {
        "q(z | x)": information_of_posteriors(evidence).tolist(),
        "means": information_of_means(encoded).tolist(),
        "importance": np.asarray(importance).tolist(),
    }


def sampled_and_quantised(encoded: Encoded) -> dict[str, tuple[float, float]]:
    """JEMMIG in nats and RMIG, by sampling and on the grid, on the same rows (Figure 24)."""
    evidence = evidence_of_levels(encoded.rows(slice(0, ROWS_SAMPLED)))
    draws = MixtureSampling(MODEL_DRAWS[-1])
    return {
        "JEMMIG": (
            jemmig(evidence, estimator=draws, normalise=False).raw,
            jemmig(evidence, estimator=GRID, normalise=False).raw,
        ),
        "RMIG": (rmig(evidence, estimator=draws).raw, rmig(evidence, estimator=GRID).raw),
    }


def three_gaps(encoded: Encoded) -> dict[str, float]:
    """RMIG on the grid, MIG of Chen et al. (sampling) and of Locatello et al. (histogram of means) (Figure 25)."""
    few = evidence_of_levels(encoded.rows(slice(0, ROWS_SAMPLED)))
    evidence = evidence_of_levels(encoded)
    return {
        "RMIG": rmig(evidence, estimator=GRID).raw,
        "MIG (Chen)": rmig(few, estimator=MixtureSampling(MODEL_DRAWS[-1])).raw,
        "MIG (Locatello)": mig(evidence, estimator=Histogram(100, "equal_width")).raw,
    }


def information_of_posteriors(evidence: Evidence) -> FloatArray:
    """I(z_i, y_k) from q(z | x) on the grid, codes x factors."""
    return np.asarray(rmig(evidence, estimator=GRID).parts["mutual_information_matrix"])


def information_of_means(encoded: Encoded) -> FloatArray:
    """I(z_i, y_k) from a histogram of the means with 100 bins, codes x factors."""
    kinds = ["categorical" if kind == "categorical" else "ordinal" for kind in encoded.kinds]
    points = Evidence(encoded.factors, encoded.means, kinds=kinds)
    return np.asarray(mig(points, estimator=Histogram(100, "equal_width")).parts["mutual_information_matrix"])


def modularity_of(information: FloatArray) -> float:
    """Modularity (Ridgeway and Mozer, 2018) of an information matrix, codes x factors.

    For each code, the leak is the mean square of its information about other factors, relative to the square for its
    best factor. Modularity is 1 minus the mean leak over codes.

    >>> modularity_of(np.array([[1.0, 0.0], [0.0, 0.5]]))
    1.0
    """
    squares = np.square(np.maximum(information, 0))
    most = squares.max(axis=1)
    alive = most > 0
    leak = (squares.sum(axis=1) - most)[alive] / (most[alive] * (information.shape[1] - 1))
    return float(1 - leak.mean()) if alive.any() else float("nan")


def models_in(numbers: Numbers, *wanted: str) -> Iterator[tuple[str, Any]]:
    """Yield the models with these names that were measured, with their numbers."""
    yield from ((name, numbers[name]) for name in wanted if name in numbers)


YES, NO = "✓", "✗"
COLUMNS = ("no classifier", "nonlinear", "uses q(z|x)", "continuous factors", "real data")

# our name of a metric, the paper's name, and the paper's marks; ~ means with forests but not with a lasso
TABLE_1 = {
    "beta_vae_score": ("Z-diff", "✗✗✗✗✗"),
    "sap": ("SAP", "✗✗✗✓✓"),
    "mig": ("MIG", "✓✓✓✗✗"),
    "dci_disentanglement": ("Disentanglement", "✗~✗✗✗"),
    "dci_completeness": ("Completeness", "✗~✗✗✗"),
    "dci_informativeness": ("Informativeness", "✗~✗✗✗"),
    "modularity": ("Modularity", "✓✓✗✓✗"),
    "explicitness": ("Explicitness", "✗✗✗✗✗"),
    "wsepin": ("WSEPIN", "✓✓✓✓✓"),
    "windin": ("WINDIN", "✓✓✓✓✓"),
    "rmig": ("RMIG", "✓✓✓✓✓"),
    "jemmig": ("JEMMIG", "✓✓✓✓✓"),
}

FITTED = ("probe", "classifier", "regression", "logistic")  # words in a card's cost that refer to a fitted model
ROWS, LEVELS, UNEQUAL, CLEAR, WIDE = 2000, 5, 0.01, 0.2, 3.0
Marks = dict[str, tuple[str, str]]


def properties_of(name: str) -> Marks:
    """Return the mark of each column for a metric, measured on codes of known quality, and the scores behind it.

    A metric captures nonlinear relations if codes with random signs, whose size tells the level of a factor, score
    nearer to clean codes than to noise. It uses q(z | x) if the score of the same means depends on the spread. It works
    for continuous factors, and on real data (rows that are no grid), if it tells clean codes from noise there; noise
    has a wide posterior. Whether it fits a classifier is said by its card.
    """
    rng = random_stream(0, "Table 1")
    levels = rng.integers(LEVELS, size=(ROWS, 3)).astype(np.float64)
    numbers = rng.uniform(size=(ROWS, 3))
    noise = rng.normal(size=(ROWS, 3))
    signed = rng.choice([-1, 1], size=levels.shape) * (levels + 1)

    def score(factors: FloatArray, means: FloatArray, kind: str, spread: float = 0.1) -> float:
        means = (means - means.mean(axis=0)) / means.std(axis=0)
        posterior = Posterior(means, std=np.full(means.shape, spread))
        given = Evidence(factors, posterior, kinds=[kind] * 3) if "factors" in CATALOGUE[name].card.needs else posterior
        return CATALOGUE[name](given if isinstance(given, Evidence) else Evidence(None, posterior)).raw

    clean, other = score(levels, levels, "ordinal"), score(levels, signed, "ordinal")
    wide, lost = score(levels, levels, "ordinal", 1.0), score(levels, noise, "ordinal", WIDE)
    rare = np.flatnonzero(levels.sum(axis=1) % 3 > 0)  # a third of the combinations is missing
    pairs = {
        "continuous factors": (score(numbers, numbers, "continuous"), score(numbers, noise, "continuous", WIDE)),
        "real data": (score(levels[rare], levels[rare], "ordinal"), score(levels[rare], noise[rare], "ordinal", WIDE)),
    }
    card = CATALOGUE[name].card
    answers = {
        "no classifier": (not any(word in card.cost for word in FITTED), f"by its card: {card.cost}"),
        "nonlinear": (abs(other - clean) < abs(other - lost), f"{clean:.2f}; {other:.2f} with signs; noise {lost:.2f}"),
        "uses q(z|x)": (abs(wide - clean) > UNEQUAL, f"{clean:.2f}; {wide:.2f} with wide posteriors"),
    }
    for column, (told, untold) in pairs.items():
        answers[column] = (abs(told - untold) > CLEAR, f"clean codes {told:.2f}, noise {untold:.2f}")
    return {column: (YES if holds else NO, text) for column, (holds, text) in answers.items()}


def compute(options: Options) -> dict[str, Marks]:
    """Return the properties of every metric of the table."""
    return {name: properties_of(name) for name in TABLE_1}


def compare(marks_of_model: Mapping[str, Marks], options: Options) -> Iterator[ClaimCheck]:
    """Compare every mark with the paper's; there is no verdict if our metric can do more than the paper's code."""
    for name, properties in marks_of_model.items():
        title, theirs = TABLE_1[name]
        for (column, (ours, text)), of_paper in zip(properties.items(), theirs, strict=True):
            agree = None if (ours, of_paper) == (YES, NO) else ours == of_paper
            yield ClaimCheck(f"{title}: {column}", of_paper, f"{ours} {text}", agree, in_part=of_paper == "~")


def write(marks_of_model: Mapping[str, Marks], options: Options) -> Tables:
    """Write the marks as a table."""
    lines = [f"metric,{','.join(COLUMNS)}"]
    lines += [f"{name},{','.join(mark for mark, _ in marks.values())}" for name, marks in marks_of_model.items()]
    yield "tab1", "\n".join(lines) + "\n"


def draw_properties(marks_of_model: Mapping[str, Marks], options: Options) -> Pictures:
    """Draw our marks beside the paper's."""
    rows = {
        TABLE_1[name][0]: [(mark, theirs) for (mark, _), theirs in zip(marks.values(), TABLE_1[name][1], strict=True)]
        for name, marks in marks_of_model.items()
    }
    yield "tab1", mark_table_figure(rows, COLUMNS, title="measured (in the paper)")


TABLE = Experiment(
    "tab1",
    "Properties of metrics, measured on codes of known quality",
    compute,
    compare,
    draw_properties,
    write,
    options=(),
    seeds="One draw of 2,000 rows; in brackets are the paper's marks.",
)
SEED_DRAWS = MixtureSampling(1000)
LATENTS = (5, 10, 15, 20)
SAME_RANK = 0.4  # 'uncorrelated' is concluded only if the interval's half-width is at most this
SAME = 0.1  # relative change up to which a number is called unchanged
Settings = list[SmallSetting]


def numbers(evidence: Evidence) -> dict[str, float]:
    """Return all numbers of one model that the figures show; informations are in nats."""
    shared = separability(evidence, estimator=SEED_DRAWS, normalise=False)
    per_code = [value for value in shared.per_code.values() if not np.isnan(value)]
    named = [name for name in evidence.factor_names if name != "shape"]  # 001 leaves shape out of DCI
    columns = [evidence.factor_names.index(name) for name in named]
    points = Evidence(evidence.factors[:, columns], evidence.codes, kinds=["continuous"] * len(columns))
    lasso = Lasso(0.002)
    return {
        "mean I(x, z_i)": informativeness(evidence, normalise=False).raw,
        "I(x, z)": informativeness(evidence, of="all", sampling=SEED_DRAWS, normalise=False).raw,
        "mean I(z_i, z_rest)": float(np.mean(per_code)) if per_code else float("nan"),
        "largest I(z_i, z_rest)": max(per_code, default=float("nan")),
        "smallest I(z_i, z_rest)": min(per_code, default=float("nan")),
        "WSEPIN": wsepin(evidence, estimator=SEED_DRAWS).raw,
        "SEPIN@3": sepin_at_k(evidence, k=3, estimator=SEED_DRAWS).raw,
        "JEMMIG": jemmig(evidence).raw,
        "RMIG": rmig(evidence).raw,
        "DCI D": dci_disentanglement(points, probe=lasso).raw,
        "DCI C": dci_completeness(points, probe=lasso).raw,
        "DCI I": dci_informativeness(points, probe=lasso).raw,
    }


def compute_latents(options: Options) -> Settings:
    """Train and measure beta-VAEs with 5 to 20 latents; beta is 10, as in the paper."""
    settings = []
    for n_codes in LATENTS:
        [setting] = measured(trained(options, beta_vaes([10]), n_codes), "001", numbers, options, n_codes)
        settings.append(SmallSetting(f"{n_codes} latents", setting.seeds))
    return settings


def compare_information(settings: Settings, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 2: I(x, z) and mean I(x, z_i) fall with beta, but only the latter with the weight of TC."""
    yield from _listing(settings, ("I(x, z)", "mean I(x, z_i)"))
    betas, factors = _kinds(settings)
    for number in ("I(x, z)", "mean I(x, z_i)"):
        yield _falls(f"{number} falls with beta", betas, number)
    yield _stays("the weight of TC does not change I(x, z)", factors, "I(x, z)")
    yield _falls("the weight of TC lowers mean I(x, z_i)", factors, "mean I(x, z_i)")


def compare_separation(settings: Settings, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 3: separability is best for a large beta, and WSEPIN is best for an intermediate one."""
    yield from _listing(settings, ("mean I(z_i, z_rest)", "largest I(z_i, z_rest)", "WSEPIN", "SEPIN@3"))
    betas, factors = _kinds(settings)
    yield _falls("mean I(z_i, z_rest) falls with beta", betas, "mean I(z_i, z_rest)")
    best = max(betas, key=lambda setting: setting.mean("WSEPIN"))
    for end, which in ((betas[0], "smallest"), (betas[-1], "largest")):
        claim = f"WSEPIN of the best beta minus that of the {which} beta"
        yield _order_check(claim, "above 0, beta = 10", end, best, "WSEPIN", 1)
    beyond = max(factors, key=lambda setting: setting.mean("WSEPIN"))
    yield _order_check("the best FactorVAE is below the best beta-VAE by WSEPIN", "below", best, beyond, "WSEPIN", -1)


def compare_gaps(settings: Settings, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 5: FactorVAE is better than every beta-VAE by JEMMIG and RMIG, which agree."""
    yield from _listing(settings, ("JEMMIG", "RMIG"))
    betas, factors = _kinds(settings)
    for number, better in (("JEMMIG", -1), ("RMIG", 1)):
        worst = min(factors, key=lambda setting: better * setting.mean(number))
        best = max(betas, key=lambda setting: better * setting.mean(number))
        claim = f"the worst FactorVAE is better than the best beta-VAE by {number}"
        yield _order_check(claim, "yes", best, worst, number, better, ledger=147)
    yield _rank_check("JEMMIG and RMIG agree", settings, "JEMMIG", "RMIG", "strongly, negative", below=-0.5)


def compare_dci(reference: str, settings: Settings, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figures 6 and 7: DCI's D and C rise with beta.

    They do not correlate with JEMMIG or RMIG, but DCI's I does.
    """
    yield from _listing(settings, (reference, "DCI D", "DCI C", "DCI I"))
    sign = -1 if reference == "JEMMIG" else 1
    for part in ("DCI D", "DCI C"):
        rank, low, high = _rank_correlation(settings, reference, part)
        yield ClaimCheck(
            f"{part} does not correlate with {reference}",
            "uncorrelated",
            f"{rank:.2f} [{low:.2f}, {high:.2f}]",
            False if low > 0 or high < 0 else None if high - low > 2 * SAME_RANK else True,
            undecided=True,
            value=MeasuredFigure(rank, low, high),
        )
        betas = _kinds(settings)[0]
        yield _order_check(f"{part} favours high beta", "yes", betas[0], betas[-1], part, 1)
    bounds = {"below": -0.3} if sign < 0 else {"above": 0.3}
    yield _rank_check(f"DCI I correlates with {reference}", settings, reference, "DCI I", "correlates", **bounds)


def compare_latents(settings: Settings, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 19: I(x, z) falls with the number of latents (claims 150 and 167)."""
    yield from _listing(settings, ("I(x, z)", "mean I(x, z_i)", "mean I(z_i, z_rest)", "WSEPIN", "JEMMIG", "RMIG"))
    yield _falls("I(x, z) falls with the number of latents", settings, "I(x, z)", ledger=150)
    for number in ("JEMMIG", "RMIG"):
        yield _stays(f"{number} does not depend on the number of latents", settings, number)


def draw_seeds(
    name: str, shown: Sequence[str], against: Sequence[str], settings: Settings, options: Options
) -> Pictures:
    """Draw bars of the settings with intervals over seeds, one figure per number, and one number against others."""
    # the size of a FactorVAE's critic is the same for all, and long
    by_name = {setting.name.split("-critic_hidden")[0]: setting for setting in settings}
    for number in shown:
        bars = {setting: {number: entry.mean(number)} for setting, entry in by_name.items()}
        known = {setting: entry.interval(number) for setting, entry in by_name.items()}
        ranges = {setting: {number: ends} for setting, ends in known.items() if np.isfinite(ends[0])}
        yield f"{name}-{_file_name(number)}", bars_figure(bars, number, ranges=ranges)
    for number in against[1:]:
        points = {setting: (entry.values(against[0]), entry.values(number)) for setting, entry in by_name.items()}
        yield (
            f"{name}-{_file_name(against[0])}-{_file_name(number)}",
            pairs_figure(points, against[0], number, alike=False),
        )


def _file_name(number: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in number)


def _kinds(settings: Settings) -> tuple[Settings, Settings]:
    """Split settings into beta-VAEs and FactorVAEs, in the order of their weights."""
    return [s for s in settings if s.name.startswith("beta_vae")], [
        s for s in settings if s.name.startswith("factor_vae")
    ]


def _listing(settings: Settings, wanted: Sequence[str]) -> Iterator[ClaimCheck]:
    for setting in settings:
        here = ", ".join(f"{number} {setting.shown(number)}" for number in wanted)
        yield ClaimCheck(f"{setting.name} ({len(setting.seeds)} seeds)", "figure only", here)


def _falls(claim: str, settings: Settings, number: str, ledger: int | None = None) -> ClaimCheck:
    return _order_check(claim, "falls", settings[0], settings[-1], number, -1, ledger)


def _order_check(
    claim: str, paper: str, first: SmallSetting, last: SmallSetting, number: str, sign: int, ledger: int | None = None
) -> ClaimCheck:
    """Check whether a number is higher (sign 1) or lower (-1) in the last setting than in the first.

    This is undecided if the interval of the difference contains 0.
    """
    change = difference(first, last, number)
    here = f"{first.name} {first.shown(number)}, {last.name} {last.shown(number)}, {_as_difference(change)}"
    holds = (sign > 0) == (change.low > 0) if change.low > 0 or change.high < 0 else None
    return ClaimCheck(claim, paper, here, holds, ledger, undecided=True, value=change)


def _as_difference(change: MeasuredFigure) -> str:
    return f"difference {change.value:+.3f} [{change.low:+.3f}, {change.high:+.3f}]"


def _stays(claim: str, settings: Settings, number: str) -> ClaimCheck:
    """Check whether the whole interval of a number's change is within a tenth of the number."""
    first, last = settings[0], settings[-1]
    change, most = difference(first, last, number), SAME * abs(first.mean(number))
    holds = True if -most < change.low <= change.high < most else False if change.low > 0 or change.high < 0 else None
    here = f"{first.name} {first.shown(number)}, {last.name} {last.shown(number)}, {_as_difference(change)}"
    return ClaimCheck(claim, "unchanged", here, holds, undecided=True, value=change)


def _rank_check(
    claim: str, settings: Settings, first: str, second: str, paper: str, *, above: float = -2.0, below: float = 2.0
) -> ClaimCheck:
    rank, low, high = _rank_correlation(settings, first, second)
    decided = low > above and high < below, high < above or low > below
    holds = True if decided[0] else False if decided[1] else None
    figure = MeasuredFigure(rank, low, high)
    return ClaimCheck(claim, paper, str(figure), holds, undecided=True, value=figure)


def _rank_correlation(settings: Settings, first: str, second: str, n_draws: int = 1000) -> tuple[float, float, float]:
    """Spearman correlation over all models and the ends of its 95 % bootstrap interval, resampling models."""
    table = np.array([[numbers_of[first], numbers_of[second]] for s in settings for numbers_of in s.seeds])
    rng = np.random.default_rng(0)
    draws = [table[rng.integers(len(table), size=len(table))] for _ in range(n_draws)]
    ranks = [stats.spearmanr(draw).statistic for draw in draws if np.ptp(draw, axis=0).min() > 0]
    low, high = map(float, np.nanquantile(ranks, (0.025, 0.975)))
    return float(stats.spearmanr(table).statistic), low, high


def compute_weights(options: Options) -> Settings:
    """Train and measure beta-VAEs and FactorVAEs with several weights."""
    return measured(trained(options, [*beta_vaes(), *factor_vaes()]), "001", numbers, options)


def _experiment(
    name: str,
    title: str,
    compare: Callable[[Settings, Options], Iterator[ClaimCheck]],
    drawn: Sequence[str],
    compute: Callable[[Options], Settings] = compute_weights,
    cost: str = "10 minutes on one core for figures 2 to 7",
    against: Sequence[str] = (),
) -> Experiment:
    title, options = f"{title} (small models, several seeds)", ("seed", "n_seeds", "n_steps")
    draw = partial(draw_seeds, name, drawn, against)
    seeds = "Five seeds unless --seeds is given: lines on bars are 95 % intervals over seeds."
    return Experiment(name, title, compute, compare, draw, options=options, needs=("torch",), cost=cost, seeds=seeds)


# fmt: off
SEED_STUDIES = (
    _experiment("fig2", "Information of codes, by weight", compare_information, ("I(x, z)", "mean I(x, z_i)")),
    _experiment("fig3", "Separability, WSEPIN and SEPIN, by weight", compare_separation,
                ("mean I(z_i, z_rest)", "WSEPIN")),
    _experiment("fig5", "JEMMIG and RMIG, by weight", compare_gaps, ("JEMMIG", "RMIG"),
                against=("JEMMIG", "RMIG")),
    _experiment("fig6", "JEMMIG against DCI", partial(compare_dci, "JEMMIG"), ("DCI D", "DCI C", "DCI I"),
                against=("JEMMIG", "DCI D", "DCI C", "DCI I")),
    _experiment("fig7", "RMIG against DCI", partial(compare_dci, "RMIG"), ("DCI D", "DCI C", "DCI I"),
                against=("RMIG", "DCI D", "DCI C", "DCI I")),
    _experiment("fig19", "Information and scores, by the number of latents", compare_latents,
                ("I(x, z)", "JEMMIG", "RMIG"), compute_latents, "4 minutes on one core"),
)
# fmt: on
