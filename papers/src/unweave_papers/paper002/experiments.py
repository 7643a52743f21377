"""Experiments of 002."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import stats

from unweave.arrays import FloatArray
from unweave.estimators.mixture import MixtureSampling
from unweave.estimators.posteriors import GaussianInformation
from unweave.evidence import Evidence
from unweave.metrics import beta_vae_score, factor_vae_score, rmig, unibound
from unweave.metrics.decomposition import partial_information
from unweave.synthetic.attacks import Redundancy, Synergy
from unweave.synthetic.theory import Attack, ToyModel
from unweave_papers.experiment import ClaimCheck, Experiment, MeasuredFigure, Options, Paper, Pictures, Tables
from unweave_papers.figures import (
    bands_figure,
    bars_figure,
    circles_figure,
    curves_figure,
    gap_figure,
    interval_figure,
    panels_figure,
)
from unweave_papers.ledger import claim_rows
from unweave_papers.paper002.encoders import (
    ALL_IMAGES,
    ATTACK_STRENGTHS,
    Attacked,
    Decomposed,
    attacked_encoders,
    decomposed_encoders,
)
from unweave_papers.paper002.evidence import printed
from unweave_papers.trained import measured, total_correlation_vaes, trained

SIGMA, ALPHA = 0.1, 10.0
SIZES = (2, 3, 5)
ATTACKS: tuple[Attack, ...] = ("none", "redundancy", "synergy")
STRENGTHS = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 100.0)
SHOWN_STRENGTH = 2.0  # strength of the attacks in the diagrams


@dataclass(frozen=True)
class ToyInformation:
    """Information about the first factor in nats: of its code, the best other code, all other codes, and all codes."""

    best: float
    second: float
    rest: float
    whole: float

    @property
    def scores(self) -> dict[str, float]:
        """MIG and the two bounds on unique information (Eq 7) in nats, not normalised by the entropy."""
        shared = max(self.best + self.rest - self.whole, 0.0)
        return {
            "MIG": abs(self.best - self.second),
            "UniBound": max(self.best - self.rest, 0.0),
            "upper bound": self.best - shared,
        }

    @property
    def parts(self) -> dict[str, float]:
        """The four parts of the information; they are exact because either redundancy or synergy is 0 here."""
        interaction = self.best + self.rest - self.whole
        shared, together = max(interaction, 0.0), max(-interaction, 0.0)
        return {
            "unique": max(self.best - shared, 0.0),
            "redundant": shared,
            "unique to the rest": max(self.rest - shared, 0.0),
            "synergistic": together,
        }


def measured_toy(k: int, attack: Attack, alpha: float, seed: int = 0) -> ToyInformation:
    """Compute the information from samples with an exact covariance, without using the formulas of Table 1."""
    factors, posterior = ToyModel(k, SIGMA).sample(300, rng=seed)
    if attack != "none":
        posterior = (Redundancy if attack == "redundancy" else Synergy)(alpha).attack(posterior)
    information = partial_information(Evidence(factors, posterior), GaussianInformation())
    own, *others = information.single[:, 0].tolist()  # the factor's own code before the attack comes first
    return ToyInformation(own, max(others), float(information.rest[0, 0]), float(information.whole[0]))


Table = Mapping[tuple[Attack, int], ToyInformation]
Curves = Mapping[tuple[Attack, int], list[ToyInformation]]


def compute_table(sizes: Sequence[int], alpha: float, options: Options) -> Table:
    """Compute every attack and these numbers of factors at one strength."""
    cells = [(attack, k) for attack in ATTACKS for k in sizes]
    return {(attack, k): measured_toy(k, attack, alpha, options.seed or 0) for attack, k in cells}


def compute_curves(options: Options) -> Curves:
    """Compute every attack and number of factors for all strengths."""
    cells = [(attack, k) for attack in ATTACKS[1:] for k in SIZES]
    return {(attack, k): [measured_toy(k, attack, a, options.seed or 0) for a in STRENGTHS] for attack, k in cells}


def compare_table(table: Table, options: Options) -> Iterator[ClaimCheck]:
    """Compare the printed formulas with measured values, and check the claims of the ledger."""
    for (attack, k), information in table.items():
        for score, value in information.scores.items():
            name, paper = f"{score}, {_label(attack)}, K = {k}", printed(score, k, attack, ALPHA)
            yield ClaimCheck(name, f"{paper:.4f}", f"{value:.4f}", abs(value - paper) < 1e-6)
    yield from claim_rows("002", 105, 106, 107, 110, 111, folder=options.folder)


def compare_curves(curves: Curves, options: Options) -> Iterator[ClaimCheck]:
    """Compare every curve with the printed one, and check the claims of section 5.1."""
    for (attack, k), informations in curves.items():
        for score in ("MIG", "UniBound"):
            of_paper = " ".join(f"{printed(score, k, attack, a):.3f}" for a in STRENGTHS)
            here = " ".join(f"{information.scores[score]:.3f}" for information in informations)
            yield ClaimCheck(f"{score}, {_label(attack)}, K = {k}, alpha 0 to 100", of_paper, here, of_paper == here)
    yield from claim_rows("002", 108, 109, 112, 116, folder=options.folder)


def compare_systems(table: Table, options: Options) -> Iterator[ClaimCheck]:
    """Report the parts of the information for every attack; the paper's diagrams have no numbers."""
    for (attack, _), information in table.items():
        shown = ", ".join(f"{name} {value:.3f}" for name, value in information.parts.items())
        yield ClaimCheck(f"{_label(attack)}, alpha = {SHOWN_STRENGTH:g}", "diagram only", shown)
        scores = ", ".join(f"{name} {value:.3f}" for name, value in information.scores.items())
        claim = f"{_label(attack)}: redundancy that MIG does not subtract"
        yield ClaimCheck(claim, "diagram only", f"{information.rest - information.second:.3f}; {scores}")
    yield from claim_rows("002", 115, 116, folder=options.folder)


def write_scores(name: str, informations: Table | Curves, options: Options) -> Tables:
    """Write all numbers as a table."""
    lines = ["attack,factors,alpha,score,printed,measured"]
    for (attack, k), entry in informations.items():
        along = zip(STRENGTHS, entry, strict=True) if isinstance(entry, list) else [(ALPHA, entry)]
        for alpha, information in along:
            for score, value in information.scores.items():
                lines.append(f"{attack},{k},{alpha:g},{score},{printed(score, k, attack, alpha):.6f},{value:.6f}")
    yield name, "\n".join(lines) + "\n"


def draw_table(table: Table, options: Options) -> Pictures:
    """Draw measured values as bars, with marks for the values of the printed formulas."""
    groups = {f"{_label(attack)},\nK = {k}": entry.scores for (attack, k), entry in table.items()}
    marks = {
        f"{_label(attack)},\nK = {k}": {score: printed(score, k, attack, ALPHA) for score in entry.scores}
        for (attack, k), entry in table.items()
    }
    yield "tab1", bars_figure(groups, "nats (marks: as printed)", marks=marks)


def draw_curves(curves: Curves, options: Options) -> Pictures:
    """Draw a panel for every attack and number of factors, with the printed curves."""
    panels, marks = {}, {}
    for (attack, k), informations in curves.items():
        title = f"{_label(attack)}, K = {k}"
        panels[title] = {score: [entry.scores[score] for entry in informations] for score in ("MIG", "UniBound")}
        marks[title] = {
            f"{score}, printed": [printed(score, k, attack, a) for a in STRENGTHS] for score in panels[title]
        }
    figure = panels_figure(
        panels,
        range(len(STRENGTHS)),
        "nats",
        across="alpha",
        tick_labels=[f"{strength:g}" for strength in STRENGTHS],
        n_across=len(SIZES),
        marks=marks,
    )
    yield "sec5.1", figure


def draw_systems(name: str, table: Table, options: Options) -> Pictures:
    """Draw circles (Figure 1), the terms of MIG and UniBound (Figure 2b) or bands (Figures 2a and 4)."""
    parts = {_label(attack): entry.parts for (attack, _), entry in table.items()}
    if name == "fig1":
        yield "fig1", circles_figure(parts)
    if name in ("fig2", "fig4"):
        end = "a" if name == "fig2" else ""
        yield f"{name}{end}", bands_figure(parts)
    if name == "fig2":
        gaps = {_label(attack): (entry.best, entry.second, entry.rest) for (attack, _), entry in table.items()}
        yield "fig2b", gap_figure(gaps)


def _label(attack: Attack) -> str:
    return "no attack" if attack == "none" else attack


N_EVALUATIONS, DRAWS = 6, 300


@dataclass(frozen=True)
class Repeated:
    """Scores of beta-TCVAEs, trainings x evaluations, by metric."""

    scores: dict[str, FloatArray]

    def spreads(self, metric: str) -> tuple[float, float]:
        """Standard deviation over trainings of the mean score, and mean standard deviation over evaluations."""
        table = self.scores[metric]
        return float(table.mean(axis=1).std(ddof=1)), float(table.std(axis=1, ddof=1).mean())

    def ratio(self, metric: str) -> tuple[float, float]:
        """95 % interval of the ratio of training variance to evaluation variance, by one-way analysis of variance."""
        table = self.scores[metric]
        n_trainings, n_evaluations = table.shape
        within = float(table.var(axis=1, ddof=1).mean())
        if within == 0:
            return float("inf"), float("inf")
        observed = n_evaluations * float(table.mean(axis=1).var(ddof=1)) / within
        degrees = n_trainings - 1, n_trainings * (n_evaluations - 1)
        low, high = (observed / float(stats.f.ppf(q, *degrees)) for q in (0.975, 0.025))
        return max(low - 1, 0) / n_evaluations, max(high - 1, 0) / n_evaluations


def numbers(evaluation: int, evidence: Evidence) -> dict[str, float]:
    """Return the four scores of 002 with the draws of one evaluation seed."""
    draws = MixtureSampling(DRAWS, seed=evaluation)
    return {
        "BetaVAE": beta_vae_score(evidence, rng=evaluation).raw,
        "FactorVAE": factor_vae_score(evidence, rng=evaluation).raw,
        "MIG": rmig(evidence, estimator=draws).raw,
        "UniBound": unibound(evidence, estimator=draws).raw,
    }


def compute(options: Options) -> Repeated:
    """Evaluate every trained model six times."""
    models = trained(options, total_correlation_vaes([64]))
    evaluations = [
        measured(models, f"002, evaluation {evaluation}", partial(numbers, evaluation), options)[0]
        for evaluation in range(N_EVALUATIONS)
    ]
    names = evaluations[0].seeds[0]
    return Repeated({name: np.array([setting.values(name) for setting in evaluations]).T for name in names})


def compare(repeated: Repeated, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 3c: scores vary with the training seed, not with the evaluation seed."""
    for name, table in repeated.scores.items():
        means = " ".join(f"{value:.3f}" for value in table.mean(axis=1))
        yield ClaimCheck(f"{name}: mean of {table.shape[1]} evaluations, by training", "figure only", means)
        if len(table) > 1:
            training, evaluation = repeated.spreads(name)
            low, high = repeated.ratio(name)
            claim = f"{name}: log of the deviation over trainings over that over evaluations"
            here = f"standard deviation {training:.4f} over trainings, {evaluation:.4f} over evaluations, "
            here += f"ratio of variances [{low:.2g}, {high:.2g}]"
            holds = True if low > 1 else False if high < 1 else None
            ratio = (training / evaluation) ** 2 if evaluation else math.inf
            value = MeasuredFigure(*(math.log(x) / 2 if x > 0 else -math.inf for x in (ratio, low, high)))
            yield ClaimCheck(claim, "yes", here, holds, 120, undecided=True, value=value)


def draw(repeated: Repeated, options: Options) -> Pictures:
    """Draw means over evaluations with their range, one group of bars per training."""
    n_trainings = len(next(iter(repeated.scores.values())))
    bars, ranges = {}, {}
    for training in range(n_trainings):
        of_training = {name: table[training] for name, table in repeated.scores.items()}
        bars[f"seed {training}"] = {name: float(row.mean()) for name, row in of_training.items()}
        ranges[f"seed {training}"] = {name: (float(row.min()), float(row.max())) for name, row in of_training.items()}
    yield "fig3c", bars_figure(bars, "score", ranges=ranges, ranges_are="range over evaluations")


FLAT, STRONGLY, NEAR_ZERO = 0.05, 0.5, 0.02
TWO_SIDED = 1.96  # half-width of a 95 % interval in standard errors


def compare_scores(models: dict[str, Decomposed], options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 3a: MIG and UniBound mostly agree, but not for FactorVAE."""
    for name, model in models.items():
        shown = ", ".join(f"{score} {_interval(model, score)}" for score in model.scores)
        yield ClaimCheck(f"{name} ({model.n_rows} rows: {model.rows_description})", "figure only", shown)
    for name, model in models.items():
        for numbers, which in ((model.by_grid, "all combinations of fewer values"), (model.by_rows, "random rows")):
            if numbers:
                shown = ", ".join(f"{n}: {value:.3f}" for n, value in numbers.items())
                yield ClaimCheck(f"{name}: UniBound on {which}", "all 737,280 images", shown)
    if "FactorVAE" not in models or len(models) < 2:
        return
    mine, others = models["FactorVAE"], [model for name, model in models.items() if name != "FactorVAE"]
    best, most = (max(model.scores[score] for model in others) for score in ("MIG", "UniBound"))
    here = f"{_interval(mine, 'MIG')}, others up to {best:.3f}"
    gap, claim = mine.scores["MIG"] - best, "MIG of FactorVAE minus the highest MIG of the other models"
    yield ClaimCheck(claim, "above 0", here, gap > 0, 118, value=gap)
    here = f"{_interval(mine, 'UniBound')}, others up to {most:.3f}"
    if most <= NEAR_ZERO:
        yield ClaimCheck(UNIBOUND_0, "about 0", f"{here}: too few rows to decide", None, 118, undecided=True)
    else:
        unique = mine.scores["UniBound"]
        yield ClaimCheck(UNIBOUND_0, "about 0", here, unique < NEAR_ZERO, 118, value=unique)
        yield ClaimCheck.quantity("largest UniBound of the other models", "above 0", most, 118)


UNIBOUND_0 = "UniBound of FactorVAE is almost 0, unlike that of other models"


def compare_parts(models: dict[str, Decomposed], options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 3b: FactorVAE is redundant; beta-TCVAE has more unique information than beta-VAE."""
    for name, model in models.items():
        shown = ", ".join(f"{part} {low:.3f} to {high:.3f}" for part, (low, high) in model.bounds.items())
        yield ClaimCheck(f"{name} ({model.n_rows} rows: {model.rows_description})", "figure only", shown)
    if "FactorVAE" in models and len(models) > 1:
        least = {name: model.bounds["redundant"][0] for name, model in models.items()}
        mine = least.pop("FactorVAE")
        below = [name for name, value in least.items() if value < mine]
        here = f"{mine:.3f}, " + ", ".join(f"{name} {value:.3f}" for name, value in least.items())
        claim = "FactorVAE has the most redundant information, by the lower bound"
        yield ClaimCheck(claim, "yes", here, len(below) == len(least), in_part=bool(below))
    if {"beta-VAE", "beta-TCVAE"} <= models.keys():
        for part, paper in (("unique", "much higher"), ("synergistic", "a little higher")):
            first, second = models["beta-VAE"].bounds[part], models["beta-TCVAE"].bounds[part]
            here = f"{second[0]:.3f} to {second[1]:.3f}, beta-VAE {first[0]:.3f} to {first[1]:.3f}"
            claim = f"beta-TCVAE has more {part} information than beta-VAE"
            yield ClaimCheck(claim, paper, here, sum(second) > sum(first))


def _interval(model: Decomposed, score: str) -> str:
    """Format a score, with its 95 % interval over draws if it is sampled."""
    value = model.scores[score]
    if score not in model.errors:
        return f"{value:.3f}"
    reach = TWO_SIDED * model.errors[score]
    return f"{value:.3f} [{max(value - reach, 0):.3f}, {value + reach:.3f}]"


def compare_attacks(models: dict[str, Attacked], options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 3d: only UniBound detects redundancy."""
    for name, model in models.items():
        for score, values in model["scores"].items():
            yield ClaimCheck(f"{name}: {score} at strength {_list(ATTACK_STRENGTHS)}", "figure only", _list(values))
        variants = {"identity": "copies, unmixed", "new alone": "new codes only", "sampled": "drawn codes"}
        for variant, label in variants.items():
            for score, values in model[variant].items():
                yield ClaimCheck(f"{name}: {score}, {label}", "not in the paper", _list(values))
        for score in ("BetaVAE", "FactorVAE"):
            moved = max(abs(value - model["scores"][score][0]) for value in model["scores"][score])
            copies = max(abs(value - model["identity"][score][0]) for value in model["identity"][score])
            here = f"changes by {moved:.3f}; by {copies:.3f} if copies are not mixed"
            claim = f"{name}: largest change of the {score} score"
            yield ClaimCheck(claim, "flat", here, moved < FLAT, 119, value=moved)
            # unmixed copies are only redundant, so that a change would be due to redundancy
            claim, here = f"{claim} with unmixed copies", f"changes by {copies:.3f}"
            yield ClaimCheck(claim, "flat", here, copies < FLAT, 119, value=copies)
        fall = model["scores"]["MIG"][0] - model["scores"]["MIG"][-1]
        little = -FLAT / 5 < fall < 0.1
        yield ClaimCheck(f"{name}: fall of MIG", "slightly", f"by {fall:.3f}", little, 119, value=fall)
        first, last = model["scores"]["UniBound"][0], model["scores"]["UniBound"][-1]
        error = TWO_SIDED * max(model["scores"]["error of UniBound"])
        defined = first > max(NEAR_ZERO / 2, error)
        here = f"{first:.3f} to {last:.3f}, ± {error:.3f}"
        here += "" if defined else ", already about 0 with this number of rows"
        holds, claim = last < STRONGLY * first if defined else None, f"{name}: UniBound after the attack over before"
        share = last / first if defined else math.nan
        yield ClaimCheck(claim, "strong fall", here, holds, 119, undecided=not defined, value=share)


def draw_scores(models: dict[str, Decomposed], options: Options) -> Pictures:
    """Draw bars of the four scores, and UniBound against the number of rows."""
    yield "fig3a", bars_figure({name: model.scores for name, model in models.items()}, "score")
    for which in ("by_grid", "by_rows"):
        rows = list(getattr(next(iter(models.values())), which))
        if len(rows) > 1:
            curves = {name: list(getattr(model, which).values()) for name, model in models.items()}
            yield f"fig3a-{which.replace('_', '-')}", curves_figure(curves, rows, "UniBound", across="rows")


def draw_parts(models: dict[str, Decomposed], options: Options) -> Pictures:
    """Draw the intervals between lower and upper bounds."""
    yield "fig3b", interval_figure({name: model.bounds for name, model in models.items()})


def draw_attacks(models: dict[str, Attacked], options: Options) -> Pictures:
    """Draw scores against the strength of the attack, also for copies that are not mixed."""
    for name, model in models.items():
        shown = {score: model["scores"][score] for score in ("BetaVAE", "FactorVAE", "MIG", "UniBound")}
        curves = shown | {f"{score}, unmixed": values for score, values in model["identity"].items()}
        figure = curves_figure(curves, ATTACK_STRENGTHS, "score", across="strength of the redundancy attack")
        yield f"fig3d-{name}", figure


def _list(values: Iterable[float]) -> str:
    return " ".join(f"{value:.3g}" for value in values)


EXACT_ONLY = "The numbers are exact: they are computed from covariances."
ONE_TRAINING = "One training of each encoder: ± is 1.96 standard errors of the draws."
of_toys = partial(
    Experiment, compute=partial(compute_table, (5,), SHOWN_STRENGTH), compare=compare_systems, seeds=EXACT_ONLY
)
of_encoders = partial(
    Experiment, options=("seed", "n_rows", "weights", "codes"), needs=("torch", "weights"), seeds=ONE_TRAINING
)

# fmt: off
PAPER = Paper(
    "002",
    "Tokui and Sato: Disentanglement Analysis with Partial Information Decomposition",
    (
        Experiment("tab1", "MIG and the bounds on unique information of the toy model",
                   partial(compute_table, SIZES, ALPHA), compare_table, draw_table, partial(write_scores, "tab1"),
                   seeds=EXACT_ONLY),
        Experiment("sec5.1",
                   "MIG and the bounds on unique information of the toy model, by the strength of the attacks",
                   compute_curves, compare_curves, draw_curves, partial(write_scores, "sec5.1"), seeds=EXACT_ONLY),
        of_toys("fig1", "Information of one code and of the other codes about a factor, as circles",
                draw=partial(draw_systems, "fig1")),
        of_toys("fig2", "The information of fig1 as bands, and the terms of MIG and UniBound",
                draw=partial(draw_systems, "fig2")),
        of_toys("fig4", "The information of fig1 as bands", draw=partial(draw_systems, "fig4")),
        of_encoders("fig3a", "Four scores of trained models, and UniBound by the number of rows",
                    decomposed_encoders, compare_scores, draw_scores, cost="5 minutes on one core"),
        of_encoders("fig3b", "Bounds on unique, redundant and synergistic information",
                    decomposed_encoders, compare_parts, draw_parts, cost="seconds after fig3a"),
        of_encoders("fig3d", "The redundancy attack on beta-VAE and beta-TCVAE",
                    attacked_encoders, compare_attacks, draw_attacks, cost="3 minutes on one core"),
        ALL_IMAGES,
        Experiment("fig3c",
                   "beta-TCVAE: variation of scores over trainings and over evaluations (small models, several seeds)",
                   compute, compare, draw,
                   options=("seed", "n_seeds", "n_steps"), needs=("torch",), cost="3 minutes on one core",
                   seeds="Five trainings unless --seeds is given, with six evaluations each, which are all drawn."),
    ),
)
# fmt: on
