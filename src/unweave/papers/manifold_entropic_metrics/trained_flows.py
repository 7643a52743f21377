"""Flows of 000: Figure 1 (two moons, three objectives) and 2 (torus, with and without a total correlation term).

There are three differences from the paper. The flows are built on zuko and not on FrEIA. The torus is trained without
added noise, so the true entropies are `Torus.true_entropies` (the paper's D.26 has an additional log 10, which its
notebook omits). The total correlation term is estimated from four columns per sample instead of all twenty.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unweave.arrays import FloatArray
from unweave.evidence import Evidence
from unweave.metrics import manifold_cross_mutual_information, manifold_total_correlation
from unweave.metrics.geometry.spectrum import Spectrum, spectrum
from unweave.papers.experiment import Options
from unweave.papers.manifold_entropic_metrics.torus_pictures import TorusPictures, torus_pictures
from unweave.synthetic.known_decoders import Torus, TwoMoons

if TYPE_CHECKING:
    from unweave.neural.decoder_adapters import FlowDecoder
    from unweave.neural.flows import FlowSettings
    from unweave.neural.training import FlowObjective

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

    @property
    def total_correlation_per_latent(self) -> float:
        """Total correlation in nats per latent."""
        return self.total_correlation / len(self.spectrum.entropies)

    def rows_on_the_diagonal(self) -> int:
        """Number of rows of the sorted cross information whose largest entry is on the diagonal."""
        assert self.cross_information is not None
        return int((self.cross_information.argmax(axis=1) == np.arange(len(self.cross_information))).sum())

    def distance_from(self, truth: FloatArray) -> float:
        """Largest difference, in nats, between the sorted spectrum and the sorted true entropies."""
        return float(np.abs(self.spectrum.sorted_entropies - np.sort(truth)[::-1]).max())


def two_moons(options: Options) -> dict[str, TrainedFlow]:
    """Train and measure the flows of Figure 1: two moons with three objectives (D.1)."""
    from unweave.neural.flows import FlowSettings
    from unweave.neural.training import FlowObjective

    objectives = {
        "A likelihood": FlowObjective(),
        "B total correlation": FlowObjective(total_correlation=1.0, n_columns=2),
        "C reconstruction": FlowObjective(reconstruction=5.0, core=(0,)),
    }
    shape = FlowSettings(n_blocks=4, hidden=32, couplings="spline", bins=8, seed=options.seed or 0)
    return _trained(TwoMoons(), shape, objectives, 1500, options)


def torus(options: Options) -> dict[str, TrainedFlow]:
    """Train and measure the flows of Figure 2: the torus, by likelihood alone and with the total correlation term."""
    from unweave.neural.flows import FlowSettings
    from unweave.neural.training import FlowObjective

    objectives = {"a likelihood": FlowObjective(), "b total correlation": FlowObjective(total_correlation=1.0)}
    shape = FlowSettings(n_blocks=10, hidden=64, seed=options.seed or 0)
    return _trained(Torus(), shape, objectives, 3000, options)


def _trained(
    world: Torus | TwoMoons, shape: FlowSettings, objectives: dict[str, FlowObjective], n_steps: int, options: Options
) -> dict[str, TrainedFlow]:
    """Train a flow for each objective; training continues from checkpoints that are in the folder."""
    from unweave.neural.decoder_adapters import FlowDecoder
    from unweave.neural.flows import CouplingFlow
    from unweave.neural.training import FlowTraining, mean_negative_log_likelihood, train

    training = FlowTraining(n_steps=options.n_steps or n_steps, seed=options.seed or 0)
    test_rows = world.sample(N_TEST_ROWS, training.seed + 1)
    trained = {}
    for name, objective in objectives.items():
        flow = CouplingFlow(world.latent_size, shape)
        file = f"{type(world).__name__.lower()}-{name.replace(' ', '-')}-{training.seed}.pt"
        train(flow, world, objective, training, checkpoint=options.folder / file, progress=options.progress)
        trained[name] = _measured(FlowDecoder(flow), world, mean_negative_log_likelihood(flow, test_rows))
    return trained


def _measured(decoder: FlowDecoder, world: Torus | TwoMoons, negative_log_likelihood: float) -> TrainedFlow:
    evidence = Evidence(decoder=decoder, reference=world)
    found = spectrum(evidence, n_samples=2000)
    cross = None
    if hasattr(world, "encode"):
        matrix = manifold_cross_mutual_information(evidence, n_samples=1000).parts["matrix"]
        cross = matrix[found.order][:, np.argsort(-world.true_entropies)]
    return TrainedFlow(
        negative_log_likelihood=negative_log_likelihood,
        spectrum=found,
        total_correlation=manifold_total_correlation(evidence, n_samples=2000).raw,
        cross_information=cross,
        grid_lines=_grid_lines(decoder, *found.order) if len(found.order) == 2 else None,
        pictures=torus_pictures(decoder, world) if isinstance(world, Torus) else None,
    )


def _grid_lines(decoder: FlowDecoder, first: int, second: int) -> tuple[FloatArray, FloatArray]:
    n_lines, reach = 9, 2.2
    levels, points = np.linspace(-reach, reach, n_lines), np.linspace(-reach, reach, 400)
    lines = []
    for moving, still in ((first, second), (second, first)):
        latents = np.zeros((n_lines, len(points), 2))
        latents[:, :, moving], latents[:, :, still] = points, levels[:, None]
        lines.append(decoder.decode(latents.reshape(-1, 2)).reshape(n_lines, -1, 2))
    return lines[0], lines[1]
