"""Representations of AAEs, FactorVAEs and beta-VAEs of 001: small models of sprites, and of coloured shapes for faces.

The paper shows representations of faces (CelebA), which are not available here. Models of coloured shapes replace them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from unweave.arrays import FloatArray
from unweave.datasets import DSprites, small_sprites
from unweave.datasets.interface import GridDataSet
from unweave.estimators.mixture import MixtureSampling
from unweave.estimators.quantised_posterior import QuantisedPosterior
from unweave.evidence import Evidence, Posterior
from unweave.metrics import informativeness, jemmig, misjed, rmig, separability
from unweave.report.figures.geometry import information_figure, traversal_figure
from unweave_papers.experiment import ClaimCheck, Experiment, MeasuredFigure, Options, Pictures, Tables, none
from unweave_papers.figures import bars_figure, curves_figure, histograms_figure, image_grid_figure
from unweave_papers.paper001.models import GRID, LIMITS, POINT
from unweave_papers.trained import aae, beta_vaes, coloured_shapes, factor_vaes, levels_of, trained

if TYPE_CHECKING:
    from unweave.models import Objective, TrainedModel

N_STEPS, N_SEEDS = 4000, 3
NAMES = ("FactorVAE", "beta-VAE", "AAE")
COARSE = QuantisedPosterior(bins=50, limits=LIMITS)  # of Table 5
INFORMATIVE = 0.05  # nats
PLACES = np.linspace(-2, 2, 7)
N_LATENTS = {"AAE": (10, 20, 40), "FactorVAE": (10, 20)}
TABLE_5 = {
    "FactorVAE": (0.008, 0.009, 2.476, 2.443, 4.858, 4.892),
    "beta-VAE": (0.113, 0.131, 3.413, 3.401, 6.661, 6.739),
    "AAE": (0.022, 0.023, 0.022, 0.021, 0.021, 0.020),
}
PAIRS = {"1, 2": (0, 1), "1, 3": (0, 2), "1, -1": (0, -1), "1, -2": (0, -2), "-1, -2": (-1, -2), "-1, -3": (-1, -3)}


@dataclass(frozen=True)
class Representation:
    """A trained model, its images, evidence on all of them, and the nats of every code about the image."""

    model: TrainedModel
    images: GridDataSet
    evidence: Evidence
    information: FloatArray

    @property
    def order(self) -> list[int]:
        """Codes, the most informative one first."""
        return np.argsort(-self.information).tolist()


Models = Mapping[str, Sequence[Representation]]  # by name, one for each seed


def representation(model: TrainedModel, images: GridDataSet) -> Representation:
    """Encode all images; a deterministic encoder has posteriors that are points."""
    encoded = model.encode(images.images())
    codes = encoded if isinstance(encoded, Posterior) else Posterior(encoded, std=np.full(encoded.shape, POINT))
    kinds = levels_of(images) if isinstance(images, DSprites) else dict.fromkeys(images.factor_names, "categorical")
    evidence = Evidence(images.factors(), codes, factor_names=images.factor_names, kinds=kinds)
    per_code = informativeness(evidence, estimator=GRID, normalise=False).per_code
    return Representation(model, images, evidence, np.nan_to_num(list(per_code.values())))


def objectives(names: Sequence[str]) -> dict[str, Objective]:
    """Return the objectives of the models with these names."""
    known = {
        "FactorVAE": factor_vaes([40])[0],
        "VAE": beta_vaes([1])[0],
        "beta-VAE": beta_vaes([16])[0],
        "AAE": aae(),
    }
    return {name: known[name] for name in names}


def compute(
    data: Callable[[], GridDataSet], names: Sequence[str], options: Options, n_codes: int = 10
) -> dict[str, list[Representation]]:
    """Train models of these names on a data set, or read them from the folder."""
    options = replace(options, n_steps=options.n_steps or N_STEPS, n_seeds=options.n_seeds or N_SEEDS)
    images, wanted = data(), objectives(names)
    models = trained(options, list(wanted.values()), n_codes, images)
    return {
        name: [representation(model, images) for model in models if model.spec.objective == objective]
        for name, objective in wanted.items()
    }


def compute_latents(name: str, options: Options) -> dict[str, list[Representation]]:
    """Train models of sprites with several numbers of latents."""
    return {f"{n} latents": compute(small_sprites, [name], options, n)[name] for n in N_LATENTS[name]}


def over(found: Sequence[Representation], measure: Callable[[Representation], float]) -> MeasuredFigure:
    """Mean of a number over seeds with its interval."""
    return MeasuredFigure.over_seeds([measure(one) for one in found])


def minus(first: Sequence[Representation], second: Sequence[Representation],
          measure: Callable[[Representation], float]) -> MeasuredFigure:  # fmt: skip
    """Difference of the means of two models with its interval; it is paired, because a seed draws the same batches."""
    return MeasuredFigure.over_seeds([measure(a) - measure(b) for a, b in zip(first, second, strict=False)])


def misjed_matrix(one: Representation, grid: QuantisedPosterior = GRID, normalise: bool = True) -> FloatArray:
    """MISJED of all pairs of codes, the most informative code first."""
    matrix = np.asarray(misjed(one.evidence, estimator=grid, normalise=normalise).parts["misjed_matrix"])
    return matrix[np.ix_(one.order, one.order)]


def misjed_of_pairs(one: Representation) -> dict[str, float]:
    """MISJED in nats of the pairs of Table 5: codes are counted by informativeness, from the end if negative."""
    matrix = misjed_matrix(one, COARSE, normalise=False)
    return {name: float(matrix[pair]) for name, pair in PAIRS.items()}


def n_informative(one: Representation) -> int:
    """Number of codes with more than .05 nats about the image."""
    return int((one.information > INFORMATIVE).sum())


def attributes(images: GridDataSet) -> dict[str, FloatArray]:
    """Return binary attributes as faces have them: each hue and shape but the last, and halves of the others."""
    found = {}
    for name, column in zip(images.factor_names, images.factors().T, strict=True):
        values, words = np.unique(column), images.value_names.get(name, ())
        if "hue" in name or words:
            for value in values[:-1]:
                found[words[int(value)] if words else f"{name} {value:.1f}"] = column == value
        else:
            found[{"x": "on the right"}.get(name, f"large {name}")] = column > np.median(values)
    return {name: held.astype(float) for name, held in found.items()}


def of_attributes(one: Representation) -> dict[str, dict[str, float]]:
    """RMIG and JEMMIG of every attribute (Tables 6 and 7, Figure 13)."""
    found = attributes(one.images)
    evidence = Evidence(np.stack(list(found.values()), 1), one.evidence.posterior, factor_names=list(found),
                        kinds=["categorical"] * len(found))  # fmt: skip
    metrics = {"RMIG": rmig, "JEMMIG": jemmig}
    return {name: dict(metric(evidence, estimator=GRID).per_factor) for name, metric in metrics.items()}


def agreement_of_runs(first: Representation, second: Representation) -> float:
    """Mean absolute rank correlation of the informative codes of two runs on all images, best matches one to one."""
    from scipy.optimize import linear_sum_assignment
    from scipy.stats import rankdata

    n = min(n_informative(first), n_informative(second))
    if n == 0:
        return 0.0
    one, other = (rankdata(side.evidence.codes[:, side.order[:n]], axis=0) for side in (first, second))
    table = np.abs(np.corrcoef(one, other, rowvar=False)[:n, n:])
    return _mean(table[linear_sum_assignment(table, maximize=True)])


def compare_codes(models: Models, options: Options) -> Iterator[ClaimCheck]:
    """List the information of codes (Figures 4, 10, 12 and 16)."""
    for name, found in models.items():
        shown = " ".join(f"{x:.2f}" for x in np.sort(found[0].information)[::-1])
        yield ClaimCheck(f"{name}: I(x, z_i) of the codes of the first seed, nats", "figure only", shown)
        yield ClaimCheck(f"{name}: codes with more than {INFORMATIVE} nats", "figure only",
                         f"{over(found, n_informative)} ({len(found)} seeds)")  # fmt: skip


def compare_separability(models: Models, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 4: informative codes of FactorVAE share more than its noisy ones."""
    yield from compare_codes(models, options)

    def gap(one: Representation) -> float:
        held, shared = one.information > INFORMATIVE, shared_of(one)
        return _mean(shared[held]) - _mean(shared[~held])

    claim = "FactorVAE: mean I(z_i, z_rest) of informative codes minus that of noisy codes, nats"
    yield ClaimCheck.quantity(claim, "above 0", over(models["FactorVAE"], gap))


def _mean(values: FloatArray) -> float:
    return float(values.mean()) if values.size else 0.0


def shared_of(one: Representation) -> FloatArray:
    """I(z_i, z_rest) of every code in nats."""
    score = separability(one.evidence, estimator=MixtureSampling(1000), normalise=False)
    return np.nan_to_num(list(score.per_code.values()))


def compare_informative(models: Models, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 14 of dSprites: AAE and FactorVAE have as many informative codes as the data has factors."""
    yield from compare_codes(models, options)
    for name in ("AAE", "FactorVAE"):
        n_factors = models[name][0].images.n_factors
        figure = over(models[name], partial(_beyond, n_factors))
        yield ClaimCheck.quantity(f"{name}: number of informative codes minus that of factors", "0", figure)


def _beyond(n: int, one: Representation) -> float:
    return n_informative(one) - n


def _misjed_of(pair: str, one: Representation) -> float:
    return misjed_of_pairs(one)[pair]


def compare_pairs(models: Models, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Table 5: MISJED of informative codes is lowest for FactorVAE, then AAE, then beta-VAE."""
    for name, found in models.items():
        means = [over(found, partial(_misjed_of, pair)) for pair in PAIRS]
        paper = " ".join(f"{x:.3f}" for x in TABLE_5[name])
        here = "  ".join(map(str, means))
        yield ClaimCheck(f"{name}: MISJED of pairs {'; '.join(PAIRS)}, nats ({len(found)} seeds)", paper, here)
    for high, low in (("AAE", "FactorVAE"), ("beta-VAE", "AAE")):
        figure = minus(models[high], models[low], partial(_misjed_of, "1, 2"))
        yield ClaimCheck.quantity(f"MISJED of the two most informative codes, {high} minus {low}", "above 0", figure)


def compare_matrices(models: Models, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figures 11 and 15: MISJED orders pairs of codes by their informativeness."""
    yield from compare_codes(models, options)
    for name, found in models.items():

        def rank(one: Representation) -> float:
            from scipy.stats import spearmanr

            matrix, upper = misjed_matrix(one), np.triu_indices(len(one.order), k=1)
            both = np.add.outer(*[one.information[one.order]] * 2)
            return float(-spearmanr(matrix[upper], both[upper]).statistic)

        claim = f"{name}: rank correlation of MISJED of a pair with the information of both codes, times -1"
        yield ClaimCheck.quantity(claim, "near 1", over(found, rank))


def compare_attributes(models: Models, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Tables 6 and 7 and Figure 13: FactorVAE agrees better with the attributes than the others."""
    tables = {name: [of_attributes(one) for one in found] for name, found in models.items()}
    for score, sign in (("RMIG", 1), ("JEMMIG", -1)):
        mean = {name: [float(np.mean(list(row[score].values()))) for row in rows] for name, rows in tables.items()}
        for name, rows in tables.items():
            best = rows[0][score]
            shown = ", ".join(f"{key} {value:.3f}" for key, value in best.items())
            yield ClaimCheck(f"{name}: {score} of the attributes, first seed", "other attributes", shown)
            yield ClaimCheck(f"{name}: mean {score} ({len(rows)} seeds)", "other attributes",
                             str(MeasuredFigure.over_seeds(mean[name])))  # fmt: skip
        for other in ("beta-VAE", "AAE"):
            gaps = [sign * (a - b) for a, b in zip(mean["FactorVAE"], mean[other], strict=False)]
            claim = f"mean {score} of attributes: how much better FactorVAE is than {other}"
            yield ClaimCheck.quantity(claim, "above 0", MeasuredFigure.over_seeds(gaps))


def compare_widths(models: Models, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 22: codes of an AAE with more latents are narrower."""
    for name, found in models.items():
        yield ClaimCheck(f"AAE with {name}: standard deviation of its codes ({len(found)} seeds)", "figure only",
                         str(over(found, mean_spread)))  # fmt: skip
    first, *_, last = models.values()
    claim = "mean standard deviation of an AAE's codes, 40 latents minus 10"
    yield ClaimCheck.quantity(claim, "below 0", minus(last, first, mean_spread))


def mean_spread(one: Representation) -> float:
    """Mean standard deviation of the means of codes."""
    return float(one.evidence.codes.std(axis=0).mean())


def compare_runs(models: Models, options: Options) -> Iterator[ClaimCheck]:
    """Compare with appendix A.17: FactorVAEs learn the same codes in all runs, and a fixed number of them."""
    for name, found in models.items():
        pairs = [agreement_of_runs(a, b) for a, b in combinations(found, 2)]
        claim = f"{name}: rank correlation of matched informative codes of two runs, mean over pairs of seeds"
        yield ClaimCheck.quantity(claim, "visual consistency", MeasuredFigure.over_seeds(pairs or [np.nan]))
        yield ClaimCheck(f"{name}: informative codes", "38 to 43 (faces)", f"{over(found, n_informative)}")
    if len(models) > 1:
        first, *_, last = models.values()
        names = list(models)
        claim = f"informative codes of FactorVAE, {names[-1]} minus {names[0]}"
        yield ClaimCheck.quantity(claim, "about 0", minus(last, first, n_informative))


def write_pairs(models: Models, options: Options) -> Tables:
    """Write Table 5 for all seeds."""
    lines = [f"model,seed,{','.join(name.replace(', ', ' and ') for name in PAIRS)}"]
    for name, found in models.items():
        for k, one in enumerate(found):
            lines.append(f"{name},{k},{','.join(f'{x:.4f}' for x in misjed_of_pairs(one).values())}")
    yield "tab5", "\n".join(lines) + "\n"


def write_attributes(name: str, score: str, models: Models, options: Options) -> Tables:
    """Write a score of every attribute, the mean over seeds, as in Tables 6 and 7."""
    tables = {model: [of_attributes(one)[score] for one in found] for model, found in models.items()}
    held = list(next(iter(tables.values()))[0])
    lines = [f"model,{','.join(held)}"]
    lines += [f"{model},{','.join(f'{np.mean([row[k] for row in rows]):.4f}' for k in held)}"
              for model, rows in tables.items()]  # fmt: skip
    yield name, "\n".join(lines) + "\n"


def traversed(one: Representation, codes: Sequence[int], start: int = 0) -> FloatArray:
    """Images in which one code varies from -2 to 2; the others are those of one image."""
    held = one.model.codes_of(one.images.images([start]))[0]
    rows = np.repeat(held[None], len(codes) * len(PLACES), axis=0)
    rows[np.arange(len(rows)), np.repeat(codes, len(PLACES))] = np.tile(PLACES, len(codes))
    images = np.moveaxis(one.model.decode(rows), 1, -1).astype(np.float64)
    return images.reshape(len(codes), len(PLACES), *_shape(one))


def _shape(one: Representation) -> tuple[int, int, int]:
    channels, height, width = one.images.image_shape
    return height, width, channels


MIDDLE = {"dsprites": 2300, "coloured_shapes": 1500}  # an image near the middle of the data set
COLUMNS = [f"{place:.1f}" for place in PLACES]


def draw_by(order: Callable[[Representation], tuple[list[int], list[str]]], name: str, models: Models,
            options: Options) -> Pictures:  # fmt: skip
    """Draw traversals of the codes of the first seed of every model, in an order and with names of rows."""
    for model, found in models.items():
        codes, rows = order(found[0])
        images = traversed(found[0], codes, MIDDLE[found[0].images.name])
        yield f"{name}-{model.replace(' ', '-')}", traversal_figure(images, rows, COLUMNS)


def by_separability(one: Representation) -> tuple[list[int], list[str]]:
    """All codes, the one that shares most with the others first (Figure 4)."""
    shared = shared_of(one)
    order = np.argsort(-shared).tolist()
    return order, [f"code {j}\n$I(z_i, z_r)$ {shared[j]:.2f}\n$I(x, z_i)$ {one.information[j]:.2f}" for j in order]


def by_information(one: Representation) -> tuple[list[int], list[str]]:
    """All codes, the most informative first (Figures 10 and 28)."""
    return one.order[:10], [f"code {j}\n{one.information[j]:.2f} nats" for j in one.order[:10]]


def by_variance(one: Representation) -> tuple[list[int], list[str]]:
    """All codes, that with the largest variance of its means first (Figure 27)."""
    variances = one.evidence.codes.var(axis=0)
    order = np.argsort(-variances).tolist()[:10]
    return order, [f"code {j}\nvariance {variances[j]:.2f}" for j in order]


def by_factors(n: int, one: Representation) -> tuple[list[int], list[str]]:
    """The codes that tell most about each factor (Figures 12 and 16)."""
    table = np.asarray(rmig(one.evidence, estimator=GRID).parts["mutual_information_matrix"])
    codes, rows = [], []
    for k, factor in enumerate(one.images.factor_names):
        for j in np.argsort(-table[:, k])[:n].tolist():
            codes.append(j)
            rows.append(f"{factor}\ncode {j}: {table[j, k]:.2f}")
    return codes, rows


def draw_runs(name: str, order: Callable[[Representation], tuple[list[int], list[str]]], models: Models,
              options: Options) -> Pictures:  # fmt: skip
    """Draw traversals of the first three runs of every number of latents (Figures 27 and 28)."""
    for label, found in models.items():
        for k, one in enumerate(found[:3]):
            codes, rows = order(one)
            images = traversed(one, codes, MIDDLE[one.images.name])
            yield f"{name}-{label.replace(' ', '-')}-run-{k + 1}", traversal_figure(images, rows, COLUMNS)


def draw_planes(models: Models, options: Options) -> Pictures:
    """Draw images over the plane of two of three latents, for three pairs and three runs (Figure 26)."""
    [found] = models.values()
    for k, one in enumerate(found[:3]):
        for i, j in combinations(range(3), 2):
            rows = np.zeros((len(PLACES) ** 2, 3), dtype=np.float32)
            rows[:, i], rows[:, j] = (part.ravel() for part in np.meshgrid(PLACES, PLACES, indexing="ij"))
            images = one.model.decode(rows)[:, 0].astype(np.float64).reshape(len(PLACES), len(PLACES), *_shape(one)[:2])
            names = [f"$z_{i}$ = {place:.1f}" for place in PLACES]
            columns = [f"$z_{j}$ = {place:.1f}" for place in PLACES]
            yield f"fig26-run-{k + 1}-codes-{i}-{j}", image_grid_figure(images, names, columns, signed=False)


def draw_pairs(name: str, models: Models, options: Options) -> Pictures:
    """Draw MISJED of all pairs of codes as heat maps, the most informative code first (Figures 11 and 15)."""
    matrices = {model: misjed_matrix(found[0]) for model, found in models.items()}
    yield name, information_figure(matrices, "code, by informativeness", "code", label="MISJED, normalised")


def draw_sorted(models: Models, options: Options) -> Pictures:
    """Draw the informativeness of codes, the most informative first."""
    curves = {model: np.mean([np.sort(one.information)[::-1] for one in found], axis=0)
              for model, found in models.items()}  # fmt: skip
    n = len(next(iter(curves.values())))
    label = "I(x, z_i) in nats, mean over seeds"
    yield "fig14-aae", curves_figure(curves, range(1, n + 1), label, across="code")


def draw_table_5(models: Models, options: Options) -> Pictures:
    """Draw Table 5 with intervals over seeds, beside the paper's numbers."""
    groups, ranges = {}, {}
    for name, found in models.items():
        figures = {pair: over(found, partial(_misjed_of, pair)) for pair in PAIRS}
        groups[name] = {pair: figure.value for pair, figure in figures.items()}
        ranges[name] = {pair: (figure.low, figure.high) for pair, figure in figures.items() if not figure.is_unknown}
    marks = {name: dict(zip(PAIRS, row, strict=True)) for name, row in TABLE_5.items()}
    yield "tab5", bars_figure(groups, "MISJED (nats)", marks=marks, ranges=ranges)


def draw_attributes(name: str, scores: Sequence[str], models: Models, options: Options) -> Pictures:
    """Draw a score of every attribute for each model, in the order of FactorVAE (Figure 13)."""
    for score in scores:
        table = {model: [of_attributes(one)[score] for one in found] for model, found in models.items()}
        means = {model: {k: float(np.mean([row[k] for row in rows])) for k in rows[0]} for model, rows in table.items()}
        order = sorted(means["FactorVAE"], key=means["FactorVAE"].__getitem__, reverse=score == "RMIG")
        curves = {model: [row[k] for k in order] for model, row in means.items()}
        suffix = f"-{score}" if len(scores) > 1 else ""
        yield f"{name}{suffix}", curves_figure(curves, order, f"{score}, normalised; mean over seeds")


def draw_widths(models: Models, options: Options) -> Pictures:
    """Draw the distribution of the means of one code, the widest, for several numbers of latents (Figure 22)."""
    columns = {name: found[0].evidence.codes[:, int(found[0].evidence.codes.std(axis=0).argmax())]
               for name, found in models.items()}  # fmt: skip
    yield "fig22", histograms_figure(columns, "mean of the widest code")


def _experiment(name: str, title: str, compute: Callable[[Options], Models],
                compare: Callable[[Models, Options], Iterator[ClaimCheck]],
                draw: Callable[[Models, Options], Pictures],
                write: Callable[[Models, Options], Tables] = none) -> Experiment:  # fmt: skip
    options, cost = ("seed", "n_seeds", "n_steps"), "1 to 3 minutes on one core, then seconds for the same models"
    seeds = (
        "Three seeds unless --seeds is given: intervals are 95 % intervals over seeds. Images are of the first seed."
    )
    return Experiment(name, f"{title} (small models)", compute, compare, draw, write, options, ("torch",), cost, seeds)


OF_SPRITES, OF_SHAPES = partial(compute, small_sprites, NAMES), partial(compute, coloured_shapes, NAMES)
# fmt: off
REPRESENTATIONS = (
    _experiment("fig4", "Traversals, sorted by what codes share",
                partial(compute, small_sprites, ("FactorVAE", "VAE", "beta-VAE")), compare_separability,
                partial(draw_by, by_separability, "fig4")),
    _experiment("fig10", "Traversals of the most informative codes, coloured shapes for faces", OF_SHAPES,
                compare_codes, partial(draw_by, by_information, "fig10")),
    _experiment("fig11", "MISJED of all pairs of codes, coloured shapes for faces", OF_SHAPES, compare_matrices,
                partial(draw_pairs, "fig11")),
    _experiment("tab5", "MISJED of the most and the least informative codes, coloured shapes for faces", OF_SHAPES,
                compare_pairs, draw_table_5, write_pairs),
    _experiment("fig12", "Codes that tell most about a factor, coloured shapes for faces", OF_SHAPES, compare_codes,
                partial(draw_by, partial(by_factors, 2), "fig12")),
    _experiment("fig13", "RMIG and JEMMIG of binary attributes, coloured shapes for faces", OF_SHAPES,
                compare_attributes, partial(draw_attributes, "fig13", ("RMIG", "JEMMIG"))),
    _experiment("tab6", "RMIG of binary attributes, coloured shapes for faces", OF_SHAPES, compare_attributes,
                partial(draw_attributes, "tab6", ("RMIG",)), partial(write_attributes, "tab6", "RMIG")),
    _experiment("tab7", "JEMMIG of binary attributes, coloured shapes for faces", OF_SHAPES, compare_attributes,
                partial(draw_attributes, "tab7", ("JEMMIG",)), partial(write_attributes, "tab7", "JEMMIG")),
    _experiment("fig14-aae", "Informativeness of every code, with AAE", OF_SPRITES, compare_informative, draw_sorted),
    _experiment("fig15", "MISJED of all pairs of codes, sprites", OF_SPRITES, compare_matrices,
                partial(draw_pairs, "fig15")),
    _experiment("fig16", "Codes that tell most about a factor, sprites", OF_SPRITES, compare_codes,
                partial(draw_by, partial(by_factors, 3), "fig16")),
    _experiment("fig22", "Distribution of an AAE's codes, by the number of latents",
                partial(compute_latents, "AAE"), compare_widths, draw_widths),
    _experiment("fig26", "FactorVAEs with three latents: images over planes of two latents, by run",
                partial(compute, small_sprites, ("FactorVAE",), n_codes=3), compare_runs, draw_planes),
    _experiment("fig27", "Codes of FactorVAEs sorted by their variance, by run",
                partial(compute_latents, "FactorVAE"), compare_runs, partial(draw_runs, "fig27", by_variance)),
    _experiment("fig28", "Codes of FactorVAEs sorted by informativeness, by run",
                partial(compute_latents, "FactorVAE"), compare_runs, partial(draw_runs, "fig28", by_information)),
)
# fmt: on
