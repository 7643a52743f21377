"""Flows trained on toys, and how many samples they need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unweave.arrays import FloatArray
from unweave.estimators.geometry import StandardNormal
from unweave.evidence import Evidence
from unweave.metrics import manifold_cross_mutual_information, manifold_total_correlation
from unweave.metrics.manifolds import Sampling, Spectrum, geometry, spectrum
from unweave.synthetic.known_decoders import LinearDecoder, Torus, TwoMoons
from unweave_papers.experiment import ClaimCheck, MeasuredFigure, Options, Pictures
from unweave_papers.figures import contour_grid_figure, curves_figure
from unweave_papers.paper000.image_flows import GLOW, N_STEPS, file_of, planned, trained_flow
from unweave_papers.paper000.images import digit_images
from unweave_papers.paper000.pictures import TorusPictures, grid_lines, torus_pictures

if TYPE_CHECKING:
    from unweave.neural.decoders import FlowDecoder
    from unweave.neural.flows import FlowObjective, FlowSettings

N_TEST_ROWS = 20_000


@dataclass(frozen=True, eq=False)
class TrainedFlow:
    """Measurements of a trained flow: its held-out negative log-likelihood and its spectrum, in nats.

    ``cross_information`` is the cross mutual information of its latents and the true ones, both sorted by entropy. It
    is None if the true model cannot encode. ``grid_lines`` exist for two latents: lines (line x point x 2) along which
    the more important latent varies, and lines along which the other one varies.
    """

    negative_log_likelihood: float
    spectrum: Spectrum
    total_correlation: float
    cross_information: FloatArray | None = None
    grid_lines: tuple[FloatArray, FloatArray] | None = None
    pictures: TorusPictures | None = None

    def distance_from(self, truth: FloatArray) -> float:
        """Largest difference, in nats, between the sorted spectrum and the sorted true entropies."""
        return float(np.abs(self.spectrum.sorted_entropies - np.sort(truth)[::-1]).max())


def two_moons(options: Options) -> dict[str, TrainedFlow]:
    """Train and measure the flows of Figure 1: two moons with three objectives (D.1)."""
    from unweave.neural.flows import FlowObjective, FlowSettings

    objectives = {
        "A likelihood": FlowObjective(),
        "B total correlation": FlowObjective(total_correlation=1.0, n_columns=2),
        "C reconstruction": FlowObjective(reconstruction=5.0, core=(0,)),
    }
    shape = FlowSettings(n_blocks=4, hidden=32, couplings="spline", bins=8, seed=options.seed or 0)
    return _train_flows(TwoMoons(), shape, objectives, 1500, options)


def torus(options: Options) -> dict[str, TrainedFlow]:
    """Train and measure the flows of Figure 2: the torus, by likelihood alone and with the total correlation term."""
    from unweave.neural.flows import FlowObjective, FlowSettings

    objectives = {"a likelihood": FlowObjective(), "b total correlation": FlowObjective(total_correlation=1.0)}
    shape = FlowSettings(n_blocks=10, hidden=64, seed=options.seed or 0)
    return _train_flows(Torus(), shape, objectives, 3000, options)


def _train_flows(
    world: Torus | TwoMoons, shape: FlowSettings, objectives: dict[str, FlowObjective], n_steps: int, options: Options
) -> dict[str, TrainedFlow]:
    """Train a flow for each objective; training continues from checkpoints that are in the folder."""
    from unweave.neural.decoders import FlowDecoder
    from unweave.neural.flows import CouplingFlow, FlowTraining, mean_negative_log_likelihood, train

    training = FlowTraining(n_steps=options.n_steps or n_steps, seed=options.seed or 0)
    test_rows = world.sample(N_TEST_ROWS, training.seed + 1)
    trained = {}
    for name, objective in objectives.items():
        flow = CouplingFlow(world.latent_size, shape)
        file = f"{type(world).__name__.lower()}-{name.replace(' ', '-')}-{training.seed}.pt"
        train(flow, world, objective, training, checkpoint=options.folder / file, progress=options.progress)
        trained[name] = _measure_flow(FlowDecoder(flow), world, mean_negative_log_likelihood(flow, test_rows))
    return trained


def _measure_flow(decoder: FlowDecoder, world: Torus | TwoMoons, negative_log_likelihood: float) -> TrainedFlow:
    evidence = Evidence(decoder=decoder, reference=world)
    measured = spectrum(evidence, n_samples=2000)
    cross = None
    if hasattr(world, "encode"):
        matrix = manifold_cross_mutual_information(evidence, n_samples=1000).parts["matrix"]
        cross = matrix[measured.order][:, np.argsort(-world.true_entropies)]
    levels, points = np.linspace(-2.2, 2.2, 9), np.linspace(-2.2, 2.2, 400)
    return TrainedFlow(
        negative_log_likelihood=negative_log_likelihood,
        spectrum=measured,
        total_correlation=manifold_total_correlation(evidence, n_samples=2000).raw,
        cross_information=cross,
        grid_lines=grid_lines(decoder.decode, measured.order, 2, levels, points) if len(measured.order) == 2 else None,
        pictures=torus_pictures(decoder, world) if isinstance(world, Torus) else None,
    )


N_RUNS, N_DRAWS = 40, 2000
SIZES = (5, 10, 20, 40)
COVARIANCE = np.array([[2.0, 1.2], [1.2, 1.0]])
# of each metric in nats per latent, by the number of samples: its values (run x latent, or run x 1)
SampleSpread = dict[str, dict[int, FloatArray]]


def compute_spread(options: Options) -> SampleSpread:
    """Measure the GLOW-like flow of Figure 5 in 40 runs, each with different latents."""
    from unweave_papers.image_training import class_decoder

    digits = digit_images(options)
    plan = planned("GLOW-like seed 0", options, N_STEPS, **GLOW)
    flow = trained_flow(plan, digits, file_of(plan, digits, options).with_suffix(".pt"), options.progress)
    evidence = Evidence(decoder=class_decoder(flow))
    sampled = geometry(evidence, Sampling(StandardNormal(), N_RUNS * sum(SIZES), options.seed or 0))
    return spread(sampled.log_lengths, sampled.log_directions)


def spread(log_lengths: FloatArray, log_directions: FloatArray) -> SampleSpread:
    """Average n samples in every run, for every n of `SIZES`; no sample is used twice."""
    values: SampleSpread = {"manifold entropy": {}, "total correlation": {}, "total entropy": {}}
    start = 0
    for n in SIZES:
        rows = slice(start, start + N_RUNS * n)
        start = rows.stop
        lengths = log_lengths[rows].reshape(N_RUNS, n, -1).mean(axis=1)
        shared = -log_directions[rows].reshape(N_RUNS, n).mean(axis=1)[:, None] / lengths.shape[1]
        values["manifold entropy"][n] = lengths
        values["total correlation"][n] = shared
        values["total entropy"][n] = lengths.mean(axis=1, keepdims=True) - shared
    return values


def deviation(values: FloatArray) -> Any:
    """Standard deviation over runs (the last axis but one), averaged over latents."""
    return values.std(axis=-2, ddof=1).mean(axis=-1)


def ratio_of_deviations(many: FloatArray, few: FloatArray) -> MeasuredFigure:
    """Ratio of the deviation with many samples to that with few, and its 95 % interval from resampled runs."""
    rng = np.random.default_rng(0)
    drawn = [deviation(values[rng.integers(0, N_RUNS, (N_DRAWS, N_RUNS))]) for values in (many, few)]
    low, high = np.quantile(drawn[0] / drawn[1], [0.025, 0.975])
    return MeasuredFigure(float(deviation(many) / deviation(few)), float(low), float(high))


def compare_spread(spread: SampleSpread, options: Options) -> Iterator[ClaimCheck]:
    """Check that standard deviations fall with about the inverse square root of the number of samples."""
    few, many = min(SIZES), max(SIZES)
    for name, values in spread.items():
        words = ", ".join(f"{n}: {deviation(runs):.4f}" for n, runs in values.items())
        yield ClaimCheck(f"standard deviation of the {name} over {N_RUNS} runs, by samples", "decreases", words)
        claim = f"deviation of the {name} with {many} samples over that with {few}"
        yield ClaimCheck.number(claim, "below 1", ratio_of_deviations(values[many], values[few]), below=1.0)
    slope = float(np.polyfit(np.log(SIZES), np.log(list(map(deviation, spread["manifold entropy"].values()))), 1)[0])
    claim = "slope of the log deviation of entropies by log samples"
    yield ClaimCheck.number(claim, "", slope, above=-0.65, below=-0.35)


def draw_spread(spread: SampleSpread, options: Options) -> Pictures:
    """Plot the standard deviations over runs against the number of samples."""
    curves = {name: list(map(deviation, values.values())) for name, values in spread.items()}
    label = "deviation over runs (nats per latent)"
    yield "figC1", curves_figure(curves, list(spread["manifold entropy"]), label, across="samples")


def linear_flows(options: Options) -> dict[str, LinearDecoder]:
    """Return two linear flows of one Gaussian distribution: PCA (b), and PCA after its latents are turned (a)."""
    pca, angle = LinearDecoder.principal_components(COVARIANCE), np.deg2rad(50)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return {"a": LinearDecoder(pca.matrix @ turn), "b": pca}


def compare_linear(flows: Mapping[str, LinearDecoder], options: Options) -> Iterator[ClaimCheck]:
    """Check B.22 to B.27: entropies follow from the eigenvalues, and the total correlation is 0, for PCA only."""
    measured = {name: spectrum(flow, n_samples=10) for name, flow in flows.items()}
    eigenvalues = np.linalg.eigvalsh(COVARIANCE)[::-1]
    expected = 0.5 * (1 + np.log(2 * np.pi * eigenvalues))
    error = float(np.abs(measured["b"].sorted_entropies - expected).max())
    yield ClaimCheck.number("distance of entropies from (1 + log 2 pi lambda) / 2", "0", error, below=1e-9, ledger=160)
    shared = {name: result.total_correlation for name, result in measured.items()}
    yield ClaimCheck.number("total correlation", "0", shared["b"], above=-1e-9, below=1e-9, ledger=160)
    apart = float(np.abs(flows["a"].matrix @ flows["a"].matrix.T - COVARIANCE).max())
    yield ClaimCheck.number("a: distance of the covariance from that of the data", "0", apart, below=1e-9)
    yield ClaimCheck("a: total correlation of a flow that is not aligned", "figure only", f"{shared['a']:.3f}")


def draw_linear(flows: Mapping[str, LinearDecoder], options: Options) -> Pictures:
    """Draw the contour grids of both flows over their data, and the columns of their Jacobians as arrows."""
    places, points = np.linspace(-2, 2, 9), np.linspace(-2.2, 2.2, 50)
    titles = {"a": "(a) a general solution", "b": "(b) PCA"}
    lines = {titles[name]: grid_lines(flow.decode, (0, 1), 2, places, points) for name, flow in flows.items()}
    data = flows["b"].decode(np.random.default_rng(0).standard_normal((2000, 2)))
    arrows = {titles[name]: flow.matrix for name, flow in flows.items()}
    yield "figB1", contour_grid_figure(lines, data, arrows=arrows)
