"""The experiments of 002 on trained encoders: figures 3a, 3b and 3d."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from unweave.papers.experiment import ClaimCheck, Experiment, Options, Paper
from unweave.papers.partial_information_decomposition.attacked_encoders import Attacked, attacked_encoders
from unweave.papers.partial_information_decomposition.decomposed_encoders import Decomposed, decomposed_encoders
from unweave.papers.partial_information_decomposition.seed_studies import SEED_STUDIES

FLAT, STRONGLY, ALMOST_NOTHING = 0.05, 0.5, 0.02


def compare_scores(found: dict[str, Decomposed], options: Options) -> Iterator[ClaimCheck]:
    """Figure 3a: MIG and UniBound mostly agree, but not on FactorVAE."""
    for name, model in found.items():
        shown = ", ".join(f"{score} {value:.3f}" for score, value in model.scores.items())
        yield ClaimCheck(name, "figure only", shown)
    for name, model in found.items():
        shown = ", ".join(f"{n}: {value:.3f}" for n, value in model.unibound_by_rows.items())
        why = "as asked" if model.by_choice else "as many rows as the budget allows"
        yield ClaimCheck(f"{name}: UniBound by rows ({why})", "all 737,280 images", shown)
    if "FactorVAE" in found and len(found) > 1:
        others = [model.scores for name, model in found.items() if name != "FactorVAE"]
        mine = found["FactorVAE"].scores
        best = max(scores["MIG"] for scores in others)
        yield ClaimCheck(
            "MIG is highest for FactorVAE", "yes", f"{mine['MIG']:.3f}, others up to {best:.3f}", mine["MIG"] > best
        )
        most = max(scores["UniBound"] for scores in others)
        decided = most > ALMOST_NOTHING
        here = f"{mine['UniBound']:.3f}, others up to {most:.3f}"
        yield ClaimCheck(
            "UniBound of FactorVAE is almost 0, unlike that of others",
            "about 0",
            here if decided else f"{here}: too few rows to tell",
            mine["UniBound"] < ALMOST_NOTHING if decided else None,
        )


def compare_parts(found: dict[str, Decomposed], options: Options) -> Iterator[ClaimCheck]:
    """Figure 3b: FactorVAE is redundant; beta-TCVAE has more unique information than beta-VAE."""
    for name, model in found.items():
        shown = ", ".join(f"{part} {low:.3f} to {high:.3f}" for part, (low, high) in model.bounds.items())
        yield ClaimCheck(f"{name} ({model.n_rows} rows)", "figure only", shown)
    if "FactorVAE" in found and len(found) > 1:
        least = {name: model.bounds["redundant"][0] for name, model in found.items()}
        others = max(value for name, value in least.items() if name != "FactorVAE")
        yield ClaimCheck(
            "FactorVAE is the most redundant, by the lower bound",
            "yes",
            f"{least['FactorVAE']:.3f}, others up to {others:.3f}",
            least["FactorVAE"] > others,
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


def compare_attacks(found: dict[str, Attacked], options: Options) -> Iterator[ClaimCheck]:
    """Figure 3d: only UniBound notices redundancy."""
    for name, model in found.items():
        for score, values in model.scores.items():
            yield ClaimCheck(f"{name}: {score} at strength {_list(model.strengths)}", "figure only", _list(values))
        for variant, label in ((model.identity, "copies, unmixed"), (model.sampled, "drawn codes")):
            for score, values in variant.items():
                yield ClaimCheck(f"{name}: {score}, {label}", "not in the paper", _list(values))
        for score in ("BetaVAE", "FactorVAE"):
            moved = max(abs(value - model.scores[score][0]) for value in model.scores[score])
            copies = max(abs(value - model.identity[score][0]) for value in model.identity[score])
            here = f"moves by {moved:.3f}; by {copies:.3f} if copies are not mixed"
            yield ClaimCheck(f"{name}: {score} stays", "flat", here, moved < FLAT)
        fall = model.scores["MIG"][0] - model.scores["MIG"][-1]
        yield ClaimCheck(f"{name}: MIG falls a little", "slightly", f"by {fall:.3f}", -FLAT / 5 < fall < 0.1)
        first, last = model.scores["UniBound"][0], model.scores["UniBound"][-1]
        defined = first > FLAT / 5
        yield ClaimCheck(
            f"{name}: UniBound falls strongly",
            "strongly",
            f"{first:.3f} to {last:.3f}" + ("" if defined else ", nothing to lose at this number of rows"),
            last < STRONGLY * first if defined else None,
        )


def draw_scores(found: dict[str, Decomposed], options: Options) -> Iterator[Path]:
    """Bars of the four scores, and UniBound over the number of rows."""
    from unweave.report.figures.curves import bars_figure, curves_figure, save

    figure = bars_figure({name: model.scores for name, model in found.items()}, "score")
    yield save(figure, options.folder / "002-fig3a.png")
    rows = list(next(iter(found.values())).unibound_by_rows)
    curves = {name: list(model.unibound_by_rows.values()) for name, model in found.items()}
    yield save(curves_figure(curves, rows, "UniBound", across="rows"), options.folder / "002-fig3a-rows.png")


def draw_parts(found: dict[str, Decomposed], options: Options) -> Iterator[Path]:
    """Intervals between the bounds."""
    from unweave.report.figures.geometry import save
    from unweave.report.figures.partial_information import interval_figure

    figure = interval_figure({name: model.bounds for name, model in found.items()})
    yield save(figure, options.folder / "002-fig3b.png")


def draw_attacks(found: dict[str, Attacked], options: Options) -> Iterator[Path]:
    """Scores over the strength of the attack, dashed where copies are not mixed."""
    from unweave.report.figures.curves import curves_figure, save

    for name, model in found.items():
        curves = dict(model.scores) | {f"{score}, unmixed": values for score, values in model.identity.items()}
        figure = curves_figure(curves, model.strengths, "score", across="strength of the redundancy attack")
        yield save(figure, options.folder / f"002-fig3d-{name}.png")


def _list(values: Iterable[float]) -> str:
    return " ".join(f"{value:.3g}" for value in values)


PAPER = Paper(
    "002",
    "Tokui and Sato: Disentanglement Analysis with Partial Information Decomposition",
    (
        Experiment(
            "fig3a",
            "Four scores of trained models, and UniBound by its number of rows",
            compute=decomposed_encoders,
            compare=compare_scores,
            draw=draw_scores,
            options=("seed", "n_rows", "weights", "codes"),
            needs=("torch", "weights"),
            cost="12 minutes on one core",
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
        *SEED_STUDIES,
    ),
)
