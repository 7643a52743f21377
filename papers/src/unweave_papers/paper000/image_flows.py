"""Flows trained on images of digits."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from scipy import stats

from unweave.arrays import FloatArray
from unweave.errors import UnweaveError
from unweave.estimators.geometry import GaussianMixture, Prior, StandardNormal
from unweave.evidence import Evidence
from unweave.evidence.archives import array_in
from unweave.metrics import manifold_mutual_information
from unweave.metrics.manifolds import spectrum, traversals
from unweave.progress import progress_bar
from unweave.report.figures.geometry import information_figure, spectrum_figure
from unweave.store import write_result
from unweave_papers.experiment import ClaimCheck, MeasuredFigure, Options, Pictures
from unweave_papers.figures import image_grid_figure
from unweave_papers.paper000.images import N_CLASSES, DigitImages, digit_images

if TYPE_CHECKING:
    from unweave_papers.image_flows import ImageFlow

NOISE = 0.05
N_SAMPLES, QUICK_SAMPLES = 100, 60
QUICK_STEPS = 250
N_TRAVERSED = 20
VALUES = (-2.0, -1.0, 0.0, 1.0, 2.0)


@dataclass(frozen=True)
class FlowPlan:
    """A flow to train: its name, fields of `ImageFlowSettings`, steps and seed.

    If ``core`` is positive, the objective has a term for reconstruction from the first ``core`` latents.
    """

    name: str
    shape: tuple[tuple[str, Any], ...] = ()
    n_steps: int = 1000
    seed: int = 0
    core: int = 0
    reconstruction: float = 1.0
    learning_rate: float = 2e-3


@dataclass(frozen=True, eq=False)
class MeasuredFlow:
    """Measurements of a trained flow.

    ``problem`` says why training or measuring failed; the other fields are then empty. ``held_out`` is the negative
    log-likelihood in nats per pixel. Entropies, ``information`` (d x d without diagonal) and ``total_correlation`` are
    means over classes if the flow or its prior has classes. ``tangents`` (class x D x d) are mean Jacobians,
    ``centres`` (class x D) are images of the prior's mean, and ``traversals`` (class x latent x value x D) are images
    along the most important latents of a conditional flow. ``variances`` (d) are variances of the latents of held-out
    images, averaged over classes.
    """

    problem: str
    held_out: float
    entropies: FloatArray
    information: FloatArray
    total_correlation: float
    tangents: FloatArray
    centres: FloatArray
    traversals: FloatArray
    variances: FloatArray

    @property
    def order(self) -> list[int]:
        """Latents by decreasing entropy."""
        return [int(i) for i in np.argsort(-self.entropies, kind="stable")]

    @property
    def per_latent(self) -> float:
        """Total correlation in nats per latent."""
        return self.total_correlation / len(self.entropies)

    @property
    def knee(self) -> int:
        """Number of sorted latents before the largest drop of entropy."""
        return int(np.argmin(np.diff(np.sort(self.entropies)[::-1]))) + 1

    def mean_information(self, rows: slice, columns: slice) -> float:
        """Mean mutual information of the pairs of two ranges of latents."""
        return float(np.nanmean(self.information[rows, columns]))


def measured_flows(plans: list[FlowPlan], options: Options) -> dict[FlowPlan, MeasuredFlow]:
    """Train and measure all plans, or read those that are in the folder."""
    digits = digit_images(options)
    flows = {}
    with progress_bar(len(plans), options.progress) as bar:
        for plan in plans:
            bar.step(plan.name)
            flows[plan] = _stored_or_trained_flow(plan, digits, options)
    return flows


def planned(name: str, options: Options, n_steps: int = 1000, seed: int = 0, core: int = 0, **shape: Any) -> FlowPlan:
    """Return a plan with the steps and the seed of the options, and with half the couplings for a quick run."""
    if options.quick:
        shape = {"n_convolutional": 2, "n_dense": 3, "hidden_features": 64} | shape
    n_steps = options.n_steps or (QUICK_STEPS if options.quick else n_steps)
    return FlowPlan(name, tuple(sorted(shape.items())), n_steps, (options.seed or 0) + seed, core)


def _stored_or_trained_flow(plan: FlowPlan, digits: DigitImages, options: Options) -> MeasuredFlow:
    path = file_of(plan, digits, options)  # its checkpoint is beside it
    names = [field.name for field in fields(MeasuredFlow)]
    if path.exists():
        with np.load(path, allow_pickle=False) as content:
            arrays: dict[str, Any] = {name: array_in(content, name, path) for name in names}
        return MeasuredFlow(**{name: array if array.ndim else array.item() for name, array in arrays.items()})
    try:
        flow = trained_flow(plan, digits, path.with_suffix(".pt"), options.progress)
        measured = _measure_flow(flow, digits, plan.seed, QUICK_SAMPLES if options.quick else N_SAMPLES)
    except (FloatingPointError, UnweaveError) as error:
        nothing = np.empty(0)
        measured = MeasuredFlow(str(error), np.nan, nothing, nothing, np.nan, nothing, nothing, nothing, nothing)
    known: dict[str, Any] = {name: np.asarray(getattr(measured, name)) for name in names}
    write_result(path, lambda file: np.savez(file, **known))
    return measured


def file_of(plan: FlowPlan, digits: DigitImages, options: Options) -> Path:
    """Return the file with the numbers of a plan; its checkpoint is beside it."""
    label = hashlib.blake2b(repr(asdict(plan)).encode(), digest_size=4).hexdigest()
    return options.folder / "flows" / f"digits{digits.side}-{plan.name.replace(' ', '-')}-{label}.npz"


def trained_flow(plan: FlowPlan, digits: DigitImages, checkpoint: Path, progress: bool) -> ImageFlow:
    """Train the flow of a plan, or read it; raise FloatingPointError if it diverged."""
    from unweave.neural.flows import FlowObjective, FlowTraining
    from unweave_papers.image_flows import ImageFlowSettings, image_flow
    from unweave_papers.image_training import train_on_images

    flow = image_flow(ImageFlowSettings(**{"side": digits.side, "seed": plan.seed, **dict(plan.shape)}))
    objective = FlowObjective(reconstruction=plan.reconstruction * bool(plan.core), core=tuple(range(plan.core)))
    training = FlowTraining(plan.n_steps, learning_rate=plan.learning_rate, seed=plan.seed, checkpoint_every=50)
    train_on_images(
        flow, digits.images, digits.labels, objective, training, noise=NOISE, checkpoint=checkpoint, progress=progress
    )
    return flow.eval()


def _measure_flow(flow: ImageFlow, digits: DigitImages, seed: int, n_samples: int) -> MeasuredFlow:
    from unweave_papers.image_training import class_decoder, held_out_costs

    images = digits.test_images + NOISE * np.random.default_rng(seed).standard_normal(digits.test_images.shape)
    costs, latents = held_out_costs(flow, images, digits.test_labels)
    parts = list(_classes(flow, latents, digits.test_labels))
    spectra, matrices, centres = [], [], []
    for k, prior, middle in parts:
        evidence = Evidence(decoder=class_decoder(flow, k))
        n_each = max(n_samples // len(parts), 5)
        spectra.append(spectrum(evidence, prior=prior, n_samples=n_each))
        matrices.append(manifold_mutual_information(evidence, prior=prior, n_samples=n_each).parts["matrix"])
        centres.append(class_decoder(flow, k).decode(middle)[0])
    entropies = np.mean([one.entropies for one in spectra], axis=0)
    order = np.argsort(-entropies, kind="stable")[:N_TRAVERSED].tolist()
    traversed: Any = np.empty((0, 0, 0, 0))
    if flow.n_classes:
        traversed = np.stack([traversals(class_decoder(flow, k), order, VALUES) for k in range(N_CLASSES)])
    groups = [latents[digits.test_labels == k] for k in range(N_CLASSES)]
    return MeasuredFlow(
        problem="",
        held_out=float(costs.mean()) / flow.size,
        entropies=entropies,
        information=np.mean(matrices, axis=0),
        total_correlation=float(np.mean([one.total_correlation for one in spectra])),
        tangents=np.stack([one.tangents for one in spectra]).astype(np.float32),
        centres=np.stack(centres).astype(np.float32),
        traversals=traversed.astype(np.float32) if flow.n_classes else traversed,
        variances=np.mean([group.var(axis=0) for group in groups], axis=0),
    )


def _classes(flow: ImageFlow, latents: FloatArray, labels: Any) -> Iterator[tuple[int | None, Prior, FloatArray]]:
    """Yield each class with its prior and the prior's mean (1 x d); the class is None for a flow without classes."""
    if flow.prior is None:
        for k in range(N_CLASSES) if flow.n_classes else (None,):
            yield k, StandardNormal(), np.zeros((1, flow.size))
        return
    for k in range(N_CLASSES):  # the empirical standard deviations of every class, as in E.1.3
        fitted = GaussianMixture.fitted(latents[labels == k], labels[labels == k])
        yield k, fitted, np.asarray(fitted.means)


N_SEEDS = 3
N_STEPS = 1000

# numbers of blocks with which both kinds of flow reach about the same likelihood
GLOW: dict[str, Any] = {"n_dense": 8}
WAVELET: dict[str, Any] = {"kind": "wavelet", "downsampling": "haar", "n_convolutional": 4, "n_dense": 2}
CONVOLUTIONAL = WAVELET | {"n_dense": 0}  # only convolutions at the finer scales
TwoKinds = dict[str, list[MeasuredFlow]]  # of each kind, a flow for every seed


def compute_kinds(shapes: Mapping[str, dict[str, Any]], n_seeds: int, options: Options) -> TwoKinds:
    """Train and measure flows of two kinds."""
    plans = {
        name: [planned(f"{name} seed {seed}", options, N_STEPS, seed, **shape) for seed in range(n_trained)]
        for n_trained in [options.n_seeds or (1 if options.quick else n_seeds)]
        for name, shape in shapes.items()
    }
    # both kinds of a seed before the next seed, so that an interrupted run has complete pairs
    measured = measured_flows([plan for pair in zip(*plans.values(), strict=True) for plan in pair], options)
    return {name: [measured[plan] for plan in group] for name, group in plans.items()}


def _pairs(flows: TwoKinds) -> list[tuple[MeasuredFlow, MeasuredFlow]]:
    """Pairs of flows with the same seed of which neither diverged."""
    return [(one, other) for one, other in zip(*flows.values(), strict=True) if not (one.problem or other.problem)]


def _scales(wavelet: MeasuredFlow) -> tuple[slice, slice, slice]:
    """Ranges of the latents of a wavelet flow, coarse to fine."""
    size = len(wavelet.entropies)
    return slice(0, size // 16), slice(size // 16, size // 4), slice(size // 4, size)


def compare_wavelet(flows: TwoKinds, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 5: the wavelet flow has less total correlation and more entropy in coarse latents."""
    yield from _numbers(flows)
    pairs = _pairs(flows)
    if not pairs:
        yield ClaimCheck("both kinds", "", "no seed with which both were trained", None, 164, undecided=True)
        return
    gaps = MeasuredFigure.over_seeds([second.held_out - first.held_out for first, second in pairs])
    claim = "held-out cost of the wavelet flow minus that of the GLOW-like one, nats per pixel"
    yield ClaimCheck.quantity(claim, "comparable", gaps)  # by the choice of both sizes
    lower = [first.per_latent - second.per_latent for first, second in pairs]
    difference = MeasuredFigure.over_seeds(lower)
    glow, wavelet = (float(np.mean([pair[kind].per_latent for pair in pairs])) for kind in (0, 1))
    yield ClaimCheck(
        "total correlation of the wavelet flow is below that of the GLOW-like one",
        ".5 against 1.9",
        f"{wavelet:.3f} against {glow:.3f} nats per latent; difference {difference}",
        all(gap > 0 for gap in lower),
        164,
        in_part=any(gap > 0 for gap in lower),
        value=difference,
    )
    scales = _scales(pairs[0][1])
    named = dict(zip(("coarse", "middle", "fine"), scales, strict=True))
    for name, scale in named.items():
        means = [float(second.entropies[scale].mean()) for _, second in pairs]
        yield ClaimCheck.quantity(f"mean entropy of {name} latents", "figure only", MeasuredFigure.over_seeds(means))
    for name, scale in named.items():
        shared = MeasuredFigure.over_seeds([second.mean_information(scale, scale) for _, second in pairs])
        yield ClaimCheck.quantity(f"mutual information of pairs of {name} latents", "figure only", shared)


def compare_convolutional(flows: TwoKinds, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure E.6: similar results, with a more intricate information matrix at the finer scales."""
    yield from _numbers(flows)
    for dense, convolutional in _pairs(flows):
        fine = _scales(dense)[2]
        blocks = [flow.information[fine, fine] for flow in (dense, convolutional)]
        for block, which in zip(blocks, ("with dense blocks", "with convolutions only"), strict=True):
            claim = f"information of fine pairs, standard deviation over mean, {which}"
            yield ClaimCheck.quantity(claim, "figure only", float(np.nanstd(block) / np.nanmean(block)))
        gap = abs(convolutional.per_latent - dense.per_latent)
        yield ClaimCheck.number("difference of total correlations, nats per latent", "comparable", gap, below=0.25)


def _numbers(results: TwoKinds) -> Iterator[ClaimCheck]:
    for name, flows in results.items():
        for k, flow in enumerate(flows):
            words = f"cost {flow.held_out:.3f} nats per pixel, total correlation {flow.per_latent:.3f} per latent"
            yield ClaimCheck(f"{name}, seed {k}", "", flow.problem or words)


def draw_kinds(name: str, flows: TwoKinds, options: Options) -> Pictures:
    """Draw spectra and information matrices of the first seed (Figures 5 and E.6)."""
    for pair in _pairs(flows)[:1]:
        named = dict(zip(flows, pair, strict=True))
        yield f"{name}-spectrum", spectrum_figure({kind: flow.entropies for kind, flow in named.items()})
        yield f"{name}-information", _information_figure({kind: flow.information for kind, flow in named.items()})


def _information_figure(matrices: Mapping[str, FloatArray]) -> Figure:
    """Matrices whose colours end at the 99 % quantile of all entries."""
    largest = float(np.nanquantile(np.concatenate([matrix.ravel() for matrix in matrices.values()]), 0.99))
    return information_figure(matrices, largest=largest)


CORES, QUICK_CORES = (5, 10, 40), (3, 6, 16)
CORE_STEPS = 500
WEIGHT = 10.0
NEAR = 2  # largest accepted distance of the knee (the largest drop of entropy) from the core size, in latents
CoreFlows = dict[int, list[MeasuredFlow]]  # of each core size, a flow for every seed


def _finished(flows: Iterable[MeasuredFlow]) -> list[MeasuredFlow]:
    """Flows that did not diverge."""
    return [flow for flow in flows if not flow.problem]


def compute_core(options: Options) -> CoreFlows:
    """Train and measure a flow for every core size and seed."""
    n_seeds = options.n_seeds or (1 if options.quick else N_SEEDS)
    cores = QUICK_CORES if options.quick else CORES
    plans = {
        core: [
            replace(planned(f"core {core} seed {seed}", options, CORE_STEPS, seed, core), reconstruction=WEIGHT)
            for seed in range(n_seeds)
        ]
        for core in cores
    }
    flows = measured_flows([plan for group in plans.values() for plan in group], options)
    return {core: [flows[plan] for plan in group] for core, group in plans.items()}


def compare_core(results: CoreFlows, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 3: the entropies drop most after as many latents as the core has; training is unstable."""
    for core, of_core in results.items():
        flows = _finished(of_core)
        knees = [flow.knee for flow in flows]
        costs = ", ".join(f"{flow.held_out:.3f}" for flow in flows) or "none"
        yield ClaimCheck(f"core of {core}: held-out cost, nats per pixel", "", costs)
        falling = [np.sort(flow.entropies)[::-1] for flow in flows]
        drops = ", ".join(f"{entropies[core - 1] - entropies[core]:.2f}" for entropies in falling) or "none"
        yield ClaimCheck(f"core of {core}: drop of the sorted entropies after the core, nats", "", drops)
        in_front = ", ".join(str(sum(latent < core for latent in flow.order[:core])) for flow in flows) or "none"
        yield ClaimCheck(f"core of {core}: core latents among the first {core}", "", in_front)
        words = ", ".join(map(str, knees)) or "all seeds diverged"
        yield ClaimCheck(f"core of {core}: the largest drop comes after", f"{core}", words)
        farthest = float(max((abs(knee - core) for knee in knees), default=np.nan))
        claim = f"core of {core}: farthest largest drop from the end of the core, in latents"
        yield ClaimCheck.number(claim, "0", farthest, below=NEAR + 0.5)
    yield diverged(results)


def diverged(results: CoreFlows) -> ClaimCheck:
    """Check whether all flows diverged, and count those that did."""
    flows = [flow for of_core in results.values() for flow in of_core]
    n_flows, n_lost = len(flows), sum(bool(flow.problem) for flow in flows)
    claim, here = "share of trainings with the reconstruction that diverged", f"{n_lost} of {n_flows}"
    share = n_lost / n_flows
    return ClaimCheck(claim, "1", here, n_lost == n_flows, in_part=n_lost > 0, value=share)


def compare_information(flows: CoreFlows, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure E.1: pairs of a core and another latent have less mutual information than other pairs."""
    for size, of_core in flows.items():
        for flow in _finished(of_core)[:1]:
            core, rest = slice(0, size), slice(size, None)
            between, within = flow.mean_information(core, rest), flow.mean_information(rest, rest)
            inside = flow.mean_information(core, core)
            words = f"{between:.4f} between, {within:.4f} in the rest, {inside:.4f} in the core"
            yield ClaimCheck(f"core of {size}: mutual information of pairs", "less between", words)
            claim = f"core of {size}: information of pairs of core and rest minus that of pairs in the rest, nats"
            yield ClaimCheck.number(claim, "below 0", between - within, below=0.0)
    yield diverged(flows)


def draw_core(name: str, results: CoreFlows, options: Options) -> Pictures:
    """Draw the spectra of one flow per core size (fig3), or the information of their latents, the core's first."""
    flows = {f"core of {core}": flow for core, of_core in results.items() for flow in _finished(of_core)[:1]}
    if flows and name == "fig3":
        yield name, spectrum_figure({label: flow.entropies for label, flow in flows.items()})
    elif flows:
        yield name, _information_figure({label: flow.information for label, flow in flows.items()})


DIGIT_STEPS = 1000
N_TANGENTS = 12
N_DRAWS = 2000
WEAK, CLEARLY_BELOW_ONE = 0.5, 0.95
DigitFlows = Mapping[str, MeasuredFlow]


def compute_digits(names: tuple[str, ...], options: Options) -> DigitFlows:
    """Train and measure the volume-preserving flow (GIN), the conditional one (cINN), or both."""
    shapes: dict[str, tuple[str, dict[str, Any]]] = {
        "GIN": ("gin", {"couplings": "gin", "n_components": N_CLASSES, "n_dense": 3 if options.quick else 6}),
        "cINN": ("conditional", {"n_conditions": N_CLASSES}),
    }
    plans = {name: planned(shapes[name][0], options, DIGIT_STEPS, **shapes[name][1]) for name in names}
    flows = measured_flows(list(plans.values()), options)
    return {name: flows[plan] for name, plan in plans.items()}


def compare_gin(flows: DigitFlows, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 4: the variance of a latent does not measure its importance."""
    gin = flows["GIN"]
    if gin.problem:
        yield ClaimCheck("GIN", "", gin.problem, None, undecided=True)
        return
    yield ClaimCheck("GIN: held-out cost, nats per pixel", "", f"{gin.held_out:.3f}")
    rank, low, high = rank_correlation(gin.variances, gin.entropies)
    yield ClaimCheck(
        "rank correlation of latent variance and manifold entropy",
        "weak",
        f"{rank:.3f} [{low:.3f}, {high:.3f}]",
        high < WEAK,
        in_part=high < CLEARLY_BELOW_ONE,
        value=MeasuredFigure(rank, low, high),
    )
    n_top = max(len(gin.entropies) // 10, 1)
    important = gin.entropies >= np.sort(gin.entropies)[-n_top]
    small = gin.variances < np.median(gin.variances)
    claim = f"latents with less than the median variance among the {n_top} of largest entropy"
    yield ClaimCheck.number(claim, "some", float((important & small).sum()), above=0.5)
    for name, values in (("entropies", gin.entropies), ("log standard deviations", 0.5 * np.log(gin.variances))):
        drops = -np.diff(np.sort(values)[::-1])
        yield ClaimCheck.quantity(f"largest drop of the sorted {name}, nats", "figure only", float(drops.max()))
        here = f"after {int(drops.argmax()) + 1}, {drops.max() / (drops.sum() or 1):.1%} of the range"
        yield ClaimCheck(f"position of the largest drop of the sorted {name}", "after about 20", here)


def rank_correlation(one: FloatArray, other: FloatArray, seed: int = 0) -> tuple[float, float, float]:
    """Spearman's correlation over latents and the ends of its 95 % bootstrap interval, resampling latents.

    >>> rank_correlation(np.arange(20.0), np.arange(20.0) ** 3)
    (1.0, 1.0, 1.0)
    """
    rng = np.random.default_rng(seed)
    draws = []
    for _ in range(N_DRAWS):
        rows = rng.integers(0, len(one), len(one))
        draws.append(stats.spearmanr(one[rows], other[rows]).statistic)
    low, high = np.nanquantile(draws, [0.025, 0.975])
    return round(float(stats.spearmanr(one, other).statistic), 6), round(float(low), 6), round(float(high), 6)


def compare_spectra(flows: DigitFlows, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure E.2: both spectra are steep and similar."""
    for name, flow in flows.items():
        if flow.problem:
            yield ClaimCheck(name, "", flow.problem, None, undecided=True)
            return
        falling = np.sort(flow.entropies)[::-1]
        yield ClaimCheck(f"{name}: held-out cost, nats per pixel", "", f"{flow.held_out:.3f}")
        tenth = len(falling) // 10
        claim = f"{name}: drop of the entropy over the first tenth of latents, nats"
        yield ClaimCheck.number(claim, "very steep", float(falling[0] - falling[tenth]), above=1.0)
    gap = float(np.abs(np.sort(flows["GIN"].entropies) - np.sort(flows["cINN"].entropies)).mean())
    yield ClaimCheck.number("mean distance of the two sorted spectra, nats", "comparable", gap, below=0.5)


def compare_tangents(flows: DigitFlows, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figures E.3 and E.4: a latent has a similar effect on all digits."""
    for name, flow in flows.items():
        if flow.problem:
            yield ClaimCheck(name, "", flow.problem, None, undecided=True)
            continue
        for which, value in zip(("one latent", "two latents"), tangent_agreement(flow), strict=True):
            claim = f"{name}: mean |cosine| of tangent images of two digits, {which}"
            yield ClaimCheck.quantity(claim, "figure only", value)


def tangent_agreement(flow: MeasuredFlow, n_latents: int = 20) -> tuple[float, float]:
    """Mean |cosine| of two digits' mean tangents, for the same latent and for two different important latents."""
    tangents = flow.tangents[:, :, flow.order[:n_latents]].astype(np.float64)
    directions = tangents / np.linalg.norm(tangents, axis=1, keepdims=True)
    same, other = [], []
    for a, b in combinations(range(len(directions)), 2):
        cosines = np.abs(directions[a].T @ directions[b])
        same.append(np.diagonal(cosines).mean())
        other.append(cosines[~np.eye(len(cosines), dtype=bool)].mean())
    return float(np.mean(same)), float(np.mean(other))


def compare_traversals(flows: DigitFlows, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure E.5: important latents change images more."""
    flow = flows["cINN"]
    if flow.problem:
        yield ClaimCheck("cINN", "", flow.problem, None, undecided=True)
        return
    reach = np.abs(flow.traversals[:, :, -1] - flow.traversals[:, :, 0]).sum(axis=-1).mean(axis=0)
    rank = float(stats.spearmanr(reach, flow.entropies[flow.order[: len(reach)]]).statistic)
    claim = "rank correlation of entropy and of the change from -2 to 2, first 20 latents"
    yield ClaimCheck.number(claim, "", rank, above=0.3)


def draw_spectra(name: str, flows: DigitFlows, options: Options) -> Pictures:
    """Draw the spectrum of GIN and its log standard deviations (fig4), or the spectra of both flows."""
    spectra = {kind: flow.entropies for kind, flow in flows.items() if not flow.problem}
    if name == "fig4" and spectra:
        spectra = {"manifold entropy": spectra["GIN"], "log deviation": 0.5 * np.log(flows["GIN"].variances)}
    if spectra:
        yield name, spectrum_figure(spectra)


def draw_tangents(flows: DigitFlows, options: Options) -> Pictures:
    """Draw the mean image of every digit and the mean tangents of the most important latents."""
    for name, flow in flows.items():
        if flow.problem:
            continue
        side = round(flow.centres.shape[1] ** 0.5)
        tangents = flow.tangents[:, :, flow.order[:N_TANGENTS]].transpose(0, 2, 1)
        tangents = tangents / np.abs(tangents).max(axis=2, keepdims=True)
        centres = flow.centres[:, None] / np.abs(flow.centres).max()
        rows = np.concatenate([centres, tangents], axis=1).reshape(N_CLASSES, -1, side, side)
        names = ["middle", *(f"latent {i}" for i in flow.order[:N_TANGENTS])]
        figure = image_grid_figure(rows, [str(k) for k in range(N_CLASSES)], names)
        yield "figE3" if name == "GIN" else "figE4", figure


def draw_traversals(flows: DigitFlows, options: Options) -> Pictures:
    """Draw digits 0, 3, 7 and 9 along the six most important latents, with the difference of the extremes."""
    flow = flows["cINN"]
    if flow.problem:
        return
    side = round(flow.centres.shape[1] ** 0.5)
    for digit in (0, 3, 7, 9):
        images = flow.traversals[digit, :6]
        change = np.abs(images[:, -1] - images[:, 0])[:, None]
        rows = np.concatenate([images, change], axis=1).reshape(6, -1, side, side)
        names = [*(f"{value:g}" for value in VALUES), "|difference|"]
        figure = image_grid_figure(rows, [f"latent {i}" for i in flow.order[:6]], names, signed=False)
        yield f"figE5-{digit}", figure
