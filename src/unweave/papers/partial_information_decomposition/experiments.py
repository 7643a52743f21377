"""The experiments of 002: its toy model, Figures 3a to 3d on trained encoders, and scores of all images."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from unweave.papers.experiment import ClaimCheck, Experiment, Options, Paper
from unweave.papers.partial_information_decomposition.all_images import ALL_IMAGES
from unweave.papers.partial_information_decomposition.attacked_encoders import Attacked, attacked_encoders
from unweave.papers.partial_information_decomposition.decomposed_encoders import Decomposed, decomposed_encoders
from unweave.papers.partial_information_decomposition.seed_studies import SEED_STUDIES
from unweave.papers.partial_information_decomposition.toy_table import TOYS

FLAT, STRONGLY, ALMOST_NOTHING = 0.05, 0.5, 0.02
TWO_SIDED = 1.96  # half-width of a 95 % interval in standard errors


def compare_scores(found: dict[str, Decomposed], options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 3a: MIG and UniBound mostly agree, but not for FactorVAE."""
    for name, model in found.items():
        yield ClaimCheck(f"{name} ({model.n_rows} rows: {model.rows_in_words})", "figure only", _scores(model))
    for name, model in found.items():
        for numbers, which in ((model.by_grid, "all combinations of fewer values"), (model.by_rows, "random rows")):
            if numbers:
                shown = ", ".join(f"{n}: {value:.3f}" for n, value in numbers.items())
                yield ClaimCheck(f"{name}: UniBound on {which}", "all 737,280 images", shown)
    if "FactorVAE" not in found or len(found) < 2:
        return
    mine, others = found["FactorVAE"], [model for name, model in found.items() if name != "FactorVAE"]
    best, most = (max(model.scores[score] for model in others) for score in ("MIG", "UniBound"))
    here = f"{_interval(mine, 'MIG')}, others up to {best:.3f}"
    gap = mine.scores["MIG"]
    yield ClaimCheck("MIG is highest for FactorVAE", "yes", here, gap > best, 118, value=gap)
    here = f"{_interval(mine, 'UniBound')}, others up to {most:.3f}"
    if most <= ALMOST_NOTHING:
        yield ClaimCheck(UNIBOUND_0, "about 0", f"{here}: too few rows to decide", None, 118, undecided=True)
    else:
        unique = mine.scores["UniBound"]
        yield ClaimCheck(UNIBOUND_0, "about 0", here, unique < ALMOST_NOTHING, 118, value=unique)


UNIBOUND_0 = "UniBound of FactorVAE is almost 0, unlike that of other models"


def compare_parts(found: dict[str, Decomposed], options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 3b: FactorVAE is redundant; beta-TCVAE has more unique information than beta-VAE."""
    for name, model in found.items():
        shown = ", ".join(f"{part} {low:.3f} to {high:.3f}" for part, (low, high) in model.bounds.items())
        yield ClaimCheck(f"{name} ({model.n_rows} rows: {model.rows_in_words})", "figure only", shown)
    if "FactorVAE" in found and len(found) > 1:
        least = {name: model.bounds["redundant"][0] for name, model in found.items()}
        mine = least.pop("FactorVAE")
        below = [name for name, value in least.items() if value < mine]
        yield ClaimCheck(
            "FactorVAE has the most redundant information, by the lower bound",
            "yes",
            f"{mine:.3f}, " + ", ".join(f"{name} {value:.3f}" for name, value in least.items()),
            len(below) == len(least),
            in_part=bool(below),
        )
    if {"beta-VAE", "beta-TCVAE"} <= found.keys():
        for part, paper in (("unique", "much higher"), ("synergistic", "a little higher")):
            first, second = found["beta-VAE"].bounds[part], found["beta-TCVAE"].bounds[part]
            yield ClaimCheck(
                f"beta-TCVAE has more {part} information than beta-VAE",
                paper,
                f"{second[0]:.3f} to {second[1]:.3f}, beta-VAE {first[0]:.3f} to {first[1]:.3f}",
                sum(second) > sum(first),
            )


def _scores(model: Decomposed) -> str:
    return ", ".join(f"{score} {_interval(model, score)}" for score in model.scores)


def _interval(model: Decomposed, score: str) -> str:
    """Format a score, with its 95 % interval over draws if it is sampled."""
    value = model.scores[score]
    if score not in model.errors:
        return f"{value:.3f}"
    reach = TWO_SIDED * model.errors[score]
    return f"{value:.3f} [{max(value - reach, 0):.3f}, {value + reach:.3f}]"


def compare_attacks(found: dict[str, Attacked], options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 3d: only UniBound detects redundancy."""
    for name, model in found.items():
        for score, values in model.scores.items():
            yield ClaimCheck(f"{name}: {score} at strength {_list(model.strengths)}", "figure only", _list(values))
        variants = {"copies, unmixed": model.identity, "new codes only": model.new_alone, "drawn codes": model.sampled}
        for label, variant in variants.items():
            for score, values in variant.items():
                yield ClaimCheck(f"{name}: {score}, {label}", "not in the paper", _list(values))
        for score in ("BetaVAE", "FactorVAE"):
            moved = max(abs(value - model.scores[score][0]) for value in model.scores[score])
            copies = max(abs(value - model.identity[score][0]) for value in model.identity[score])
            here = f"changes by {moved:.3f}; by {copies:.3f} if copies are not mixed"
            yield ClaimCheck(f"{name}: {score} score does not change", "flat", here, moved < FLAT, 119, value=moved)
            # unmixed copies are only redundant, so that a change would be due to redundancy
            claim = f"{name}: {score} score does not detect redundancy (unmixed copies)"
            yield ClaimCheck(claim, "flat", f"changes by {copies:.3f}", copies < FLAT, 119, value=copies)
        fall = model.scores["MIG"][0] - model.scores["MIG"][-1]
        little = -FLAT / 5 < fall < 0.1
        yield ClaimCheck(f"{name}: MIG falls slightly", "slightly", f"by {fall:.3f}", little, 119, value=fall)
        first, last = model.scores["UniBound"][0], model.scores["UniBound"][-1]
        error = TWO_SIDED * max(model.scores["error of UniBound"])
        defined = first > max(ALMOST_NOTHING / 2, error)
        yield ClaimCheck(
            f"{name}: UniBound falls strongly",
            "strongly",
            f"{first:.3f} to {last:.3f}, ± {error:.3f}"
            + ("" if defined else ", already about 0 with this number of rows"),
            last < STRONGLY * first if defined else None,
            119,
            undecided=not defined,
            value=first - last,
        )


def draw_scores(found: dict[str, Decomposed], options: Options) -> Iterator[Path]:
    """Draw bars of the four scores, and UniBound against the number of rows."""
    from unweave.report.figures.curves import bars_figure, curves_figure, save

    figure = bars_figure({name: model.scores for name, model in found.items()}, "score")
    yield save(figure, options.folder / "002-fig3a.png")
    for which in ("by_grid", "by_rows"):
        rows = list(getattr(next(iter(found.values())), which))
        if len(rows) > 1:
            curves = {name: list(getattr(model, which).values()) for name, model in found.items()}
            figure = curves_figure(curves, rows, "UniBound", across="rows")
            yield save(figure, options.folder / f"002-fig3a-{which.replace('_', '-')}.png")


def draw_parts(found: dict[str, Decomposed], options: Options) -> Iterator[Path]:
    """Draw the intervals between lower and upper bounds."""
    from unweave.report.figures.geometry import save
    from unweave.report.figures.partial_information import interval_figure

    figure = interval_figure({name: model.bounds for name, model in found.items()})
    yield save(figure, options.folder / "002-fig3b.png")


def draw_attacks(found: dict[str, Attacked], options: Options) -> Iterator[Path]:
    """Draw scores against the strength of the attack, also for copies that are not mixed."""
    from unweave.report.figures.curves import curves_figure, save

    for name, model in found.items():
        shown = {score: model.scores[score] for score in ("BetaVAE", "FactorVAE", "MIG", "UniBound")}
        curves = shown | {f"{score}, unmixed": values for score, values in model.identity.items()}
        figure = curves_figure(curves, model.strengths, "score", across="strength of the redundancy attack")
        yield save(figure, options.folder / f"002-fig3d-{name}.png")


def _list(values: Iterable[float]) -> str:
    return " ".join(f"{value:.3g}" for value in values)


PAPER = Paper(
    "002",
    "Tokui and Sato: Disentanglement Analysis with Partial Information Decomposition",
    (
        *TOYS,
        Experiment(
            "fig3a",
            "Four scores of trained models, and UniBound by the number of rows",
            compute=decomposed_encoders,
            compare=compare_scores,
            draw=draw_scores,
            options=("seed", "n_rows", "weights", "codes"),
            needs=("torch", "weights"),
            cost="5 minutes on one core",
        ),
        Experiment(
            "fig3b",
            "Bounds on unique, redundant and synergistic information",
            compute=decomposed_encoders,
            compare=compare_parts,
            draw=draw_parts,
            options=("seed", "n_rows", "weights", "codes"),
            needs=("torch", "weights"),
            cost="seconds after fig3a",
        ),
        Experiment(
            "fig3d",
            "The redundancy attack on beta-VAE and beta-TCVAE",
            compute=attacked_encoders,
            compare=compare_attacks,
            draw=draw_attacks,
            options=("seed", "n_rows", "weights", "codes"),
            needs=("torch", "weights"),
            cost="3 minutes on one core",
        ),
        ALL_IMAGES,
        *SEED_STUDIES,
    ),
)
