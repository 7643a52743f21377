"""Whether metrics of four papers rank encoders alike: rank correlations over the small encoders of 001 and 004."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from matplotlib.figure import Figure

from unweave.arrays import FloatArray
from unweave.datasets import small_sprites
from unweave.datasets.interface import GridDataSet
from unweave.estimators.mixture import MixtureSampling
from unweave.evidence import Evidence
from unweave.metrics import jemmig, mcc, r2, rmig, unibound, wsepin
from unweave.progress import progress_bar
from unweave.report.figures.geometry import constrained_figure
from unweave_papers.experiment import ClaimCheck, Experiment, Options, Pictures, Tables
from unweave_papers.paper001 import representations
from unweave_papers.paper001.models import GRID
from unweave_papers.paper001.representations import representation
from unweave_papers.paper004.encoders import METRICS, TRUNKS, of_losses, robustness, spearman
from unweave_papers.stored import StoredNumbers
from unweave_papers.trained import coloured_shapes

DRAWS = MixtureSampling(300)
LIGHT = 0.7  # above it, numbers are white on the dark colour
# the metrics of each paper; JEMMIG is negative, so that higher is better for all
MEASURED: dict[str, tuple[str, Callable[[Evidence], float]]] = {
    "RMIG": ("001", lambda evidence: rmig(evidence, estimator=GRID).raw),
    "-JEMMIG": ("001", lambda evidence: -jemmig(evidence, estimator=GRID).raw),
    "WSEPIN": ("001", lambda evidence: wsepin(evidence, estimator=DRAWS).raw),
    "UniBound": ("002", lambda evidence: unibound(evidence, estimator=DRAWS).raw),
    "MCC": ("003", lambda evidence: mcc(evidence).raw),
    "R2": ("003", lambda evidence: r2(evidence).raw),
    "DCI D": ("003", METRICS["DCI D"]),
    "MIG": ("003", METRICS["MIG"]),
    "minimality": ("004", METRICS["minimality"]),
    "sufficiency": ("004", METRICS["sufficiency"]),
    "IRS": ("004", robustness),
}


@dataclass(frozen=True)
class Ranks:
    """Scores of encoders (encoders x metrics) and their rank correlations, by data set."""

    scores: dict[str, FloatArray]

    def table(self, data: str) -> FloatArray:
        """Rank correlations of all pairs of metrics over the encoders of a data set for which both are defined."""
        columns = self.scores[data].T
        return np.array([[_ranks_agree(one, other) for other in columns] for one in columns])


def _ranks_agree(one: FloatArray, other: FloatArray) -> float:
    both = np.isfinite(one) & np.isfinite(other)
    return spearman(one[both], other[both])


def fleets(options: Options) -> Iterator[tuple[str, representations.Representation]]:
    """Train the encoders of 001's pictures, and of six losses of sprites, or read them; yield each with a name."""
    of_001: Sequence[tuple[Callable[[], GridDataSet], Sequence[str], int]] = (
        (small_sprites, ("FactorVAE", "VAE", "beta-VAE", "AAE"), 10),
        (small_sprites, ("FactorVAE", "AAE"), 20),
        (small_sprites, ("AAE",), 40),
        (small_sprites, ("FactorVAE",), 3),
        (coloured_shapes, ("FactorVAE", "beta-VAE", "AAE"), 10),
    )
    for data, names, n_codes in of_001:
        for found in representations.compute(data, names, options, n_codes).values():
            yield from ((f"{one.images.name} {n_codes} codes {one.model.name}", one) for one in found)
    sprites, one_each = small_sprites(), replace(options, n_seeds=options.n_seeds or 1)
    yield from (
        (name, representation(model, sprites)) for name, model in of_losses(small_sprites, one_each, TRUNKS[:2])
    )


def compute(options: Options) -> Ranks:
    """Score all encoders by all metrics; every number is computed once and stored."""
    scores: dict[str, list[list[float]]] = {}
    encoders = list(fleets(options))
    with progress_bar(len(encoders), options.progress) as bar:
        for name, one in encoders:
            bar.step(f"scores of {name}")
            stored = StoredNumbers(options.folder / "ranks" / f"{name} {options.n_steps or 'usual'}.json")
            row = [stored.number(metric, partial(score, one.evidence)) for metric, (_, score) in MEASURED.items()]
            scores.setdefault(one.images.name, []).append(row)
    return Ranks({data: np.array(rows) for data, rows in scores.items()})


def compare(ranks: Ranks, options: Options) -> Iterator[ClaimCheck]:
    """Tell how far each metric agrees with those of the other papers; the papers do not compare all of them."""
    for data, rows in ranks.scores.items():
        table = ranks.table(data)
        for j, (name, (paper, _)) in enumerate(MEASURED.items()):
            others = [k for k, (other, _) in enumerate(MEASURED.values()) if other != paper]
            known = table[j, others][np.isfinite(table[j, others])]
            shown = (
                f"mean {known.mean():.2f}, {known.min():.2f} to {known.max():.2f}" if known.size else "all scores equal"
            )
            shown += f" ({len(rows)} encoders)"
            yield ClaimCheck(f"{data}: {name} ({paper}) with metrics of other papers", "not compared", shown)


def write(ranks: Ranks, options: Options) -> Tables:
    """Write the rank correlations of both data sets."""
    lines = [f"data,encoders,metric,paper,{','.join(MEASURED)}"]
    for data, rows in ranks.scores.items():
        for (name, (paper, _)), row in zip(MEASURED.items(), ranks.table(data), strict=True):
            lines.append(f"{data},{len(rows)},{name},{paper},{','.join(f'{x:.2f}' for x in row)}")
    yield "ranks", "\n".join(lines) + "\n"


def draw(ranks: Ranks, options: Options) -> Pictures:
    """Draw the rank correlations as heat maps with numbers."""
    figure: Figure = constrained_figure(6.2 * len(ranks.scores), 5.6)
    panels = figure.subplots(1, len(ranks.scores), squeeze=False)[0]
    for axes, (data, rows) in zip(panels, ranks.scores.items(), strict=True):
        table = ranks.table(data)
        image = axes.imshow(table, cmap="RdBu_r", vmin=-1, vmax=1)
        for (i, j), value in np.ndenumerate(table):
            axes.text(
                j,
                i,
                f"{value:.2f}",
                ha="center",
                va="center",
                fontsize=7,
                color="white" if abs(value) > LIGHT else "black",
            )
        axes.set_xticks(range(len(MEASURED)), list(MEASURED), rotation=45, ha="right", fontsize=8)
        axes.set_yticks(range(len(MEASURED)), list(MEASURED), fontsize=8)
        axes.set_title(f"{data}, {len(rows)} encoders", fontsize=10)
    figure.colorbar(image, ax=list(panels), shrink=0.7, label="rank correlation")
    yield "ranks", figure


RANKS = Experiment(
    "ranks",
    "Rank correlations of metrics of four papers over all small encoders of 001 and 004",
    compute,
    compare,
    draw,
    write,
    ("seed", "n_seeds", "n_steps"),
    ("torch",),
    "15 minutes on one core, or 2 after the figures of 001 and 004",
    "Three seeds of each setting of 001 and one of 004 unless --seeds is given: one correlation over all encoders.",
)
