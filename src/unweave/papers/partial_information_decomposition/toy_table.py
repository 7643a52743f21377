"""Table 1, the curves of section 5.1, and Figures 1, 2 and 4 of 002, computed on its toy model."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from unweave.estimators.posteriors.gaussian_information import GaussianInformation
from unweave.evidence import Evidence
from unweave.metrics.decomposition.partial_information import partial_information
from unweave.papers.experiment import ClaimCheck, Experiment, Options
from unweave.papers.ledger.claim_rows import claim_rows
from unweave.synthetic.attacks import Redundancy, Synergy
from unweave.synthetic.theory import Attack, ToyModel
from unweave.whole_files import write_whole

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


def measured(k: int, attack: Attack, alpha: float, seed: int = 0) -> ToyInformation:
    """Compute the information from samples with an exact covariance, without using the formulas of Table 1."""
    factors, posterior = ToyModel(k, SIGMA).sample(300, rng=seed)
    if attack != "none":
        posterior = (Redundancy if attack == "redundancy" else Synergy)(alpha).attack(posterior)
    found = partial_information(Evidence(factors, posterior), GaussianInformation())
    single = found.single[:, 0]
    own = 0  # the factor's code before the attack
    second = float(np.delete(single, own).max())
    return ToyInformation(float(single[own]), second, float(found.rest[own, 0]), float(found.whole[0]))


def printed(k: int, attack: Attack, alpha: float) -> dict[str, float]:
    """Evaluate the formulas of Table 1 as they are printed."""
    s, a, share = SIGMA**2, alpha**2, (1 - 2 / k) ** 2
    alone = 0.5 * math.log(1 + 1 / s)
    if attack == "none":
        return dict.fromkeys(("MIG", "UniBound", "upper bound"), alone)
    if attack == "synergy":
        hidden = 0.5 * math.log(1 + 1 / (a + s))
        return {"MIG": hidden, "UniBound": hidden, "upper bound": alone}
    gap = 0.5 * math.log((1 + s) * (1 + a * (1 + s - share)) / (s * (1 + a * (1 + s))))
    bound = 0.5 * math.log((1 + s) * (1 + a * s) / (s * (1 + a * (1 + s))))
    return {"MIG": gap, "UniBound": bound, "upper bound": bound}


Table = Mapping[tuple[Attack, int], ToyInformation]
Curves = Mapping[tuple[Attack, int], list[ToyInformation]]


def compute_table(options: Options) -> Table:
    """Compute every attack and number of factors at one strength."""
    cells = [(attack, k) for attack in ATTACKS for k in SIZES]
    return {(attack, k): measured(k, attack, ALPHA, options.seed or 0) for attack, k in cells}


def compute_curves(options: Options) -> Curves:
    """Compute every attack and number of factors for all strengths."""
    cells = [(attack, k) for attack in ATTACKS[1:] for k in SIZES]
    return {(attack, k): [measured(k, attack, a, options.seed or 0) for a in STRENGTHS] for attack, k in cells}


def compute_systems(options: Options) -> Table:
    """Compute the information of five factors without an attack and with each attack."""
    return {(attack, 5): measured(5, attack, SHOWN_STRENGTH, options.seed or 0) for attack in ATTACKS}


def compare_table(found: Table, options: Options) -> Iterator[ClaimCheck]:
    """Compare the printed formulas with measured values, and check the claims of the ledger."""
    for (attack, k), information in found.items():
        of_paper = printed(k, attack, ALPHA)
        for score, value in information.scores.items():
            name = f"{score}, {_named(attack)}, K = {k}"
            yield ClaimCheck(name, f"{of_paper[score]:.4f}", f"{value:.4f}", abs(value - of_paper[score]) < 1e-6)
    yield from claim_rows("002", 105, 106, 107, 110, 111, folder=options.folder)


def compare_curves(found: Curves, options: Options) -> Iterator[ClaimCheck]:
    """Compare every curve with the printed one, and check the claims of section 5.1."""
    for (attack, k), informations in found.items():
        for score in ("MIG", "UniBound"):
            of_paper = " ".join(f"{printed(k, attack, a)[score]:.3f}" for a in STRENGTHS)
            here = " ".join(f"{information.scores[score]:.3f}" for information in informations)
            yield ClaimCheck(f"{score}, {_named(attack)}, K = {k}, alpha 0 to 100", of_paper, here, of_paper == here)
    yield from claim_rows("002", 108, 109, 112, 116, folder=options.folder)


def compare_systems(found: Table, options: Options) -> Iterator[ClaimCheck]:
    """Report the parts of the information for every attack; the paper's diagrams have no numbers."""
    for (attack, _), information in found.items():
        shown = ", ".join(f"{name} {value:.3f}" for name, value in information.parts.items())
        yield ClaimCheck(f"{_named(attack)}, alpha = {SHOWN_STRENGTH:g}", "diagram only", shown)
        scores = ", ".join(f"{name} {value:.3f}" for name, value in information.scores.items())
        missed = information.rest - information.second
        yield ClaimCheck(
            f"{_named(attack)}: redundancy that MIG does not subtract", "diagram only", f"{missed:.3f}; {scores}"
        )
    yield from claim_rows("002", 115, 116, folder=options.folder)


def write_scores(name: str, found: Table | Curves, options: Options) -> Iterator[Path]:
    """Write all numbers as a table."""
    lines = ["attack,factors,alpha,score,printed,measured"]
    for (attack, k), entry in found.items():
        along = zip(STRENGTHS, entry, strict=True) if isinstance(entry, list) else [(ALPHA, entry)]
        for alpha, information in along:
            for score, value in information.scores.items():
                lines.append(f"{attack},{k},{alpha:g},{score},{printed(k, attack, alpha)[score]:.6f},{value:.6f}")
    path = options.folder / f"002-{name}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "\n".join(lines) + "\n"
    write_whole(path, lambda stream: stream.write(text.encode()))
    yield path


def draw_table(found: Table, options: Options) -> Iterator[Path]:
    """Draw measured values as bars, with marks for the values of the printed formulas."""
    from unweave.report.figures.curves import bars_figure, save

    groups = {f"{_named(attack)},\nK = {k}": entry.scores for (attack, k), entry in found.items()}
    marks = {f"{_named(attack)},\nK = {k}": printed(k, attack, ALPHA) for attack, k in found}
    yield save(bars_figure(groups, "nats (marks: as printed)", marks=marks), options.folder / "002-tab1.png")


def draw_curves(found: Curves, options: Options) -> Iterator[Path]:
    """Draw a panel for every attack and number of factors, with the printed curves."""
    from unweave.report.figures.curves import panels_figure, save

    panels, marks = {}, {}
    for (attack, k), informations in found.items():
        title = f"{_named(attack)}, K = {k}"
        panels[title] = {score: [entry.scores[score] for entry in informations] for score in ("MIG", "UniBound")}
        marks[title] = {
            f"{score}, printed": [printed(k, attack, a)[score] for a in STRENGTHS] for score in panels[title]
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
    yield save(figure, options.folder / "002-sec5.1.png")


def draw_systems(name: str, found: Table, options: Options) -> Iterator[Path]:
    """Draw circles (Figure 1), the terms of MIG and UniBound (Figure 2b) or bands (Figures 2a and 4)."""
    from unweave.report.figures.curves import save
    from unweave.report.figures.information_diagrams import bands_figure, circles_figure, gap_figure

    parts = {_named(attack): entry.parts for (attack, _), entry in found.items()}
    if name == "fig1":
        yield save(circles_figure(parts), options.folder / "002-fig1.png")
    if name in ("fig2", "fig4"):
        end = "a" if name == "fig2" else ""
        yield save(bands_figure(parts), options.folder / f"002-{name}{end}.png")
    if name == "fig2":
        gaps = {_named(attack): (entry.best, entry.second, entry.rest) for (attack, _), entry in found.items()}
        yield save(gap_figure(gaps), options.folder / "002-fig2b.png")


def _named(attack: Attack) -> str:
    return "no attack" if attack == "none" else attack


DIAGRAMS = {
    "fig1": "Information of one code and of the other codes about a factor, as circles",
    "fig2": "The information of fig1 as bands, and the terms of MIG and UniBound",
    "fig4": "The information of fig1 as bands",
}
TOYS = (
    Experiment(
        "tab1",
        "MIG and the bounds on unique information of the toy model",
        compute=compute_table,
        compare=compare_table,
        write=partial(write_scores, "tab1"),
        draw=draw_table,
    ),
    Experiment(
        "sec5.1",
        "MIG and the bounds on unique information of the toy model, by the strength of the attacks",
        compute=compute_curves,
        compare=compare_curves,
        write=partial(write_scores, "sec5.1"),
        draw=draw_curves,
    ),
    *(
        Experiment(name, title, compute_systems, compare_systems, draw=partial(draw_systems, name))
        for name, title in DIAGRAMS.items()
    ),
)
