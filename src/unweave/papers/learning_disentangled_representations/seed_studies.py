"""Claims of 001 about weights and numbers of latents, on small models with several seeds: Figures 2, 3, 5 to 7, 19."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from scipy import stats

from unweave.estimators.posteriors.mixture_sampling import MixtureSampling
from unweave.estimators.probes.linear_probes import Lasso
from unweave.evidence import Evidence
from unweave.metrics import (
    dci_completeness,
    dci_disentanglement,
    dci_informativeness,
    informativeness,
    jemmig,
    rmig,
    separability,
    sepin_at_k,
    wsepin,
)
from unweave.papers.experiment import ClaimCheck, Experiment, Options
from unweave.papers.small_models import SmallSetting, beta_vaes, difference, factor_vaes, measured, trained

DRAWS = MixtureSampling(1000)
LATENTS = (5, 10, 15, 20)
SAME_RANK = 0.4  # 'uncorrelated' is concluded only if the interval's half-width is at most this
SAME = 0.1  # relative change up to which a number is called unchanged
Settings = list[SmallSetting]


def numbers(evidence: Evidence) -> dict[str, float]:
    """Return all numbers of one model that the figures show; informations are in nats."""
    shared = separability(evidence, estimator=DRAWS, normalise=False)
    per_code = [value for value in shared.per_code.values() if not np.isnan(value)]
    named = [name for name in evidence.factor_names if name != "shape"]  # 001 leaves shape out of DCI
    columns = [evidence.factor_names.index(name) for name in named]
    points = Evidence(evidence.factors[:, columns], evidence.codes, kinds=["continuous"] * len(columns))
    lasso = Lasso(0.002)
    return {
        "mean I(x, z_i)": informativeness(evidence, normalise=False).raw,
        "I(x, z)": informativeness(evidence, of="all", sampling=DRAWS, normalise=False).raw,
        "mean I(z_i, z_rest)": float(np.mean(per_code)) if per_code else float("nan"),
        "largest I(z_i, z_rest)": max(per_code, default=float("nan")),
        "smallest I(z_i, z_rest)": min(per_code, default=float("nan")),
        "WSEPIN": wsepin(evidence, estimator=DRAWS).raw,
        "SEPIN@3": sepin_at_k(evidence, k=3, estimator=DRAWS).raw,
        "JEMMIG": jemmig(evidence).raw,
        "RMIG": rmig(evidence).raw,
        "DCI D": dci_disentanglement(points, probe=lasso).raw,
        "DCI C": dci_completeness(points, probe=lasso).raw,
        "DCI I": dci_informativeness(points, probe=lasso).raw,
    }


def compute_weights(options: Options) -> Settings:
    """Train and measure beta-VAEs and FactorVAEs with several weights."""
    return measured(trained(options, [*beta_vaes(), *factor_vaes()]), "001", numbers, options)


def compute_latents(options: Options) -> Settings:
    """Train and measure beta-VAEs with 5 to 20 latents; beta is 10, as in the paper."""
    found = []
    for n_codes in LATENTS:
        [setting] = measured(trained(options, beta_vaes([10]), n_codes), "001", numbers, options, n_codes)
        found.append(SmallSetting(f"{n_codes} latents", setting.seeds))
    return found


def compare_information(found: Settings, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 2: I(x, z) and mean I(x, z_i) fall with beta, but only the latter with the weight of TC."""
    yield from _shown(found, ("I(x, z)", "mean I(x, z_i)"))
    betas, factors = _kinds(found)
    for number in ("I(x, z)", "mean I(x, z_i)"):
        yield _falls(f"{number} falls with beta", betas, number)
    yield _stays("the weight of TC does not change I(x, z)", factors, "I(x, z)")
    yield _falls("the weight of TC lowers mean I(x, z_i)", factors, "mean I(x, z_i)")


def compare_separation(found: Settings, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 3: separability is best for a large beta, and WSEPIN is best for an intermediate one."""
    yield from _shown(found, ("mean I(z_i, z_rest)", "largest I(z_i, z_rest)", "WSEPIN", "SEPIN@3"))
    betas, factors = _kinds(found)
    yield _falls("mean I(z_i, z_rest) falls with beta", betas, "mean I(z_i, z_rest)")
    best = max(betas, key=lambda setting: setting.mean("WSEPIN"))
    ends = [difference(end, best, "WSEPIN") for end in (betas[0], betas[-1]) if end is not best]
    yield ClaimCheck(
        "WSEPIN is best for an intermediate beta",
        "beta = 10",
        f"{best.name}; " + ", ".join(map(str, ends)),
        False if len(ends) < 2 else True if all(end.sign > 0 for end in ends) else None,
        undecided=True,
    )
    beyond = max(factors, key=lambda setting: setting.mean("WSEPIN"))
    yield _ordered("the best FactorVAE is below the best beta-VAE by WSEPIN", "below", best, beyond, "WSEPIN", -1)


def compare_gaps(found: Settings, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 5: FactorVAE is better than every beta-VAE by JEMMIG and RMIG, which agree."""
    yield from _shown(found, ("JEMMIG", "RMIG"))
    betas, factors = _kinds(found)
    for number, better in (("JEMMIG", -1), ("RMIG", 1)):
        worst = min(factors, key=lambda setting: better * setting.mean(number))
        best = max(betas, key=lambda setting: better * setting.mean(number))
        claim = f"the worst FactorVAE is better than the best beta-VAE by {number}"
        yield _ordered(claim, "yes", best, worst, number, better, ledger=147)
    yield _correlated("JEMMIG and RMIG agree", found, "JEMMIG", "RMIG", "strongly, negative", below=-0.5)


def compare_dci(reference: str, found: Settings, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figures 6 and 7: DCI's D and C rise with beta.

    They do not correlate with JEMMIG or RMIG, but DCI's I does.
    """
    yield from _shown(found, (reference, "DCI D", "DCI C", "DCI I"))
    sign = -1 if reference == "JEMMIG" else 1
    for part in ("DCI D", "DCI C"):
        rank, low, high = _rank_correlation(found, reference, part)
        yield ClaimCheck(
            f"{part} does not correlate with {reference}",
            "uncorrelated",
            f"{rank:.2f} [{low:.2f}, {high:.2f}]",
            False if low > 0 or high < 0 else None if high - low > 2 * SAME_RANK else True,
            undecided=True,
        )
        betas = _kinds(found)[0]
        yield _ordered(f"{part} favours high beta", "yes", betas[0], betas[-1], part, 1)
    bounds = {"below": -0.3} if sign < 0 else {"above": 0.3}
    yield _correlated(f"DCI I correlates with {reference}", found, reference, "DCI I", "correlates", **bounds)


def compare_latents(found: Settings, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 19: I(x, z) falls with the number of latents (claim 150: due to a density floor)."""
    yield from _shown(found, ("I(x, z)", "mean I(x, z_i)", "mean I(z_i, z_rest)", "WSEPIN", "JEMMIG", "RMIG"))
    claim = "I(x, z) falls with the number of latents (an artefact of the paper's estimate, claim 150)"
    yield _falls(claim, found, "I(x, z)", ledger=150)
    for number in ("JEMMIG", "RMIG"):
        yield _stays(f"{number} does not depend on the number of latents", found, number)


def draw(name: str, shown: Sequence[str], found: Settings, options: Options) -> Iterator[Path]:
    """Draw bars of the settings with intervals over seeds, one figure per number."""
    from unweave.report.figures.curves import bars_figure, save

    for number in shown:
        bars = {_short(setting): {number: setting.mean(number)} for setting in found}
        ranges = {_short(setting): {number: _drawable(setting, number)} for setting in found}
        file = f"001-{name}-{''.join(c if c.isalnum() else '-' for c in number)}.png"
        yield save(bars_figure(bars, number, ranges=ranges), options.folder / file)


def _short(setting: SmallSetting) -> str:
    """Return the name without the critic's size, which is the same for all and too long for an axis."""
    return setting.name.split("-critic_hidden")[0]


def _drawable(setting: SmallSetting, number: str) -> tuple[float, float]:
    low, high = setting.interval(number)
    return (low, high) if np.isfinite(low) else (setting.mean(number), setting.mean(number))


def _kinds(found: Settings) -> tuple[Settings, Settings]:
    """Split settings into beta-VAEs and FactorVAEs, in the order of their weights."""
    return [s for s in found if s.name.startswith("beta_vae")], [s for s in found if s.name.startswith("factor_vae")]


def _shown(found: Settings, wanted: Sequence[str]) -> Iterator[ClaimCheck]:
    for setting in found:
        here = ", ".join(f"{number} {setting.shown(number)}" for number in wanted)
        yield ClaimCheck(f"{setting.name} ({len(setting.seeds)} seeds)", "figure only", here)


def _falls(claim: str, found: Settings, number: str, ledger: int | None = None) -> ClaimCheck:
    return _ordered(claim, "falls", found[0], found[-1], number, -1, ledger)


def _ordered(
    claim: str, paper: str, first: SmallSetting, last: SmallSetting, number: str, sign: int, ledger: int | None = None
) -> ClaimCheck:
    """Check whether a number is higher (sign 1) or lower (-1) in the last setting than in the first.

    This is undecided if the interval of the difference contains 0.
    """
    found = difference(first, last, number)
    here = f"{first.name} {first.shown(number)}, {last.name} {last.shown(number)}, {found}"
    holds = None if found.sign == 0 else found.sign == sign
    return ClaimCheck(claim, paper, here, holds, ledger, undecided=True, value=found.value)


def _stays(claim: str, found: Settings, number: str) -> ClaimCheck:
    """Check whether the whole interval of a number's change is within a tenth of the number."""
    first, last = found[0], found[-1]
    change, most = difference(first, last, number), SAME * abs(first.mean(number))
    holds = True if -most < change.lower <= change.upper < most else False if change.sign else None
    here = f"{first.name} {first.shown(number)}, {last.name} {last.shown(number)}, {change}"
    return ClaimCheck(claim, "unchanged", here, holds, undecided=True)


def _correlated(
    claim: str, found: Settings, first: str, second: str, paper: str, *, above: float = -2.0, below: float = 2.0
) -> ClaimCheck:
    rank, low, high = _rank_correlation(found, first, second)
    decided = low > above and high < below, high < above or low > below
    holds = True if decided[0] else False if decided[1] else None
    return ClaimCheck(claim, paper, f"{rank:.2f} [{low:.2f}, {high:.2f}]", holds, undecided=True)


def _rank_correlation(found: Settings, first: str, second: str, n_draws: int = 1000) -> tuple[float, float, float]:
    """Spearman correlation over all models and the ends of its 95 % bootstrap interval, resampling models."""
    table = np.array([[numbers_of[first], numbers_of[second]] for s in found for numbers_of in s.seeds])
    rng = np.random.default_rng(0)
    draws = [table[rng.integers(len(table), size=len(table))] for _ in range(n_draws)]
    ranks = [stats.spearmanr(draw).statistic for draw in draws if np.ptp(draw, axis=0).min() > 0]
    low, high = map(float, np.nanquantile(ranks, (0.025, 0.975)))
    return float(stats.spearmanr(table).statistic), low, high


def _experiment(
    name: str,
    title: str,
    compute: Callable[[Options], Settings],
    compare: Callable[[Settings, Options], Iterator[ClaimCheck]],
    drawn: Sequence[str],
    cost: str = "10 minutes on one core for figures 2 to 7",
) -> Experiment:
    return Experiment(
        name,
        title,
        compute=compute,
        compare=compare,
        draw=partial(draw, name, drawn),
        options=("seed", "n_seeds", "n_steps"),
        needs=("torch",),
        cost=cost,
    )


_BY_WEIGHT: Mapping[str, tuple[str, Callable[[Settings, Options], Iterator[ClaimCheck]], tuple[str, ...]]] = {
    "fig2": ("Information of codes, by weight", compare_information, ("I(x, z)", "mean I(x, z_i)")),
    "fig3": ("Separability, WSEPIN and SEPIN, by weight", compare_separation, ("mean I(z_i, z_rest)", "WSEPIN")),
    "fig5": ("JEMMIG and RMIG, by weight", compare_gaps, ("JEMMIG", "RMIG")),
    "fig6": ("JEMMIG against DCI", partial(compare_dci, "JEMMIG"), ("DCI D", "DCI C", "DCI I")),
    "fig7": ("RMIG against DCI", partial(compare_dci, "RMIG"), ("DCI D", "DCI C", "DCI I")),
}
SEED_STUDIES = (
    *(
        _experiment(name, f"{title} (small models, several seeds)", compute_weights, compare, drawn)
        for name, (title, compare, drawn) in _BY_WEIGHT.items()
    ),
    _experiment(
        "fig19",
        "Information and scores, by the number of latents (small models, several seeds)",
        compute_latents,
        compare_latents,
        ("I(x, z)", "JEMMIG", "RMIG"),
        cost="4 minutes on one core",
    ),
)
