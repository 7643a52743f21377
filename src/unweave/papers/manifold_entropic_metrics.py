"""000, Galperin and Koethe: Figure 1 (two moons, three objectives) and Figure 2 (torus, with and without the term).

Where this differs from the paper: the flows are built on zuko and not FrEIA; the torus is trained without added noise,
so that the truth is that of `Torus.true_entropies` (the paper's D.26 has another log 10, which its notebook leaves
out); the term is estimated from four columns a sample in place of all twenty.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unweave.arrays import FloatArray
from unweave.evidence import Evidence
from unweave.metrics import manifold_cross_mutual_information, manifold_total_correlation
from unweave.metrics.geometry.spectrum import Spectrum, spectrum
from unweave.synthetic.known_decoders import Torus, TwoMoons

if TYPE_CHECKING:
    from unweave.neural.decoder_adapters import FlowDecoder
    from unweave.neural.training import Record

N_TEST_ROWS = 20_000


@dataclass(frozen=True, eq=False)
class TrainedFlow:
    """A flow after training: its decoder, spectrum, held-out cost in nats, and what it shares with the truth."""

    name: str
    decoder: FlowDecoder
    records: list[Record]
    negative_log_likelihood: float
    spectrum: Spectrum
    total_correlation: float
    cross_information: FloatArray | None = None

    @property
    def total_correlation_per_latent(self) -> float:
        """Nats per latent."""
        return self.total_correlation / len(self.spectrum.entropies)

    def rows_on_the_diagonal(self) -> int:
        """Rows of the sorted cross information whose largest entry is on the diagonal."""
        assert self.cross_information is not None
        return int((self.cross_information.argmax(axis=1) == np.arange(len(self.cross_information))).sum())

    def distance_from(self, truth: FloatArray) -> float:
        """Largest difference, in nats, of the sorted spectrum from the sorted truth."""
        return float(np.abs(self.spectrum.sorted_entropies - np.sort(truth)[::-1]).max())

    def summary(self) -> dict[str, Any]:
        """The numbers, as plain data."""
        return {
            "negative log-likelihood": self.negative_log_likelihood,
            "total entropy": float(self.spectrum.cumulative[-1]),
            "manifold entropies": self.spectrum.sorted_entropies.tolist(),
            "total correlation": self.total_correlation,
            "total correlation per latent": self.total_correlation_per_latent,
        }


def two_moons(
    *, seed: int = 0, n_steps: int = 1500, folder: str | Path | None = None, progress: bool = False
) -> dict[str, TrainedFlow]:
    """Figure 1: the same data and the same likelihood, by three objectives (D.1); four minutes on one core."""
    from unweave.neural.flows import FlowSettings
    from unweave.neural.training import Objective, TrainingSettings

    objectives = {
        "A likelihood": Objective(),
        "B total correlation": Objective(total_correlation=1.0, n_columns=2),
        "C reconstruction": Objective(reconstruction=5.0, core=(0,)),
    }
    shape = FlowSettings(n_blocks=4, hidden=32, couplings="spline", bins=8, seed=seed)
    training = TrainingSettings(n_steps=n_steps, seed=seed)
    return {
        name: _trained(name, TwoMoons(), shape, objective, training, folder, progress)
        for name, objective in objectives.items()
    }


def torus(
    *, seed: int = 0, n_steps: int = 3000, folder: str | Path | None = None, progress: bool = False
) -> dict[str, TrainedFlow]:
    """Figure 2: the torus, by likelihood alone and with the total correlation; six minutes on one core."""
    from unweave.neural.flows import FlowSettings
    from unweave.neural.training import Objective, TrainingSettings

    objectives = {"a likelihood": Objective(), "b total correlation": Objective(total_correlation=1.0)}
    shape = FlowSettings(n_blocks=10, hidden=64, seed=seed)
    training = TrainingSettings(n_steps=n_steps, seed=seed)
    return {
        name: _trained(name, Torus(), shape, objective, training, folder, progress)
        for name, objective in objectives.items()
    }


def _trained(
    name: str,
    world: Torus | TwoMoons,
    shape: Any,
    objective: Any,
    training: Any,
    folder: str | Path | None,
    progress: bool,
) -> TrainedFlow:
    from unweave.neural.decoder_adapters import FlowDecoder
    from unweave.neural.flows import CouplingFlow
    from unweave.neural.training import mean_negative_log_likelihood, train

    flow = CouplingFlow(world.latent_size, shape)
    kind = type(world).__name__.lower()
    path = None if folder is None else Path(folder) / f"{kind}-{name.replace(' ', '-')}-{training.seed}.pt"
    records = train(flow, world, objective, training, checkpoint=path, progress=progress)
    decoder = FlowDecoder(flow)
    evidence = Evidence(decoder=decoder, reference=world)
    found = spectrum(evidence, n_samples=2000)
    cross = None
    if hasattr(world, "encode"):
        matrix = manifold_cross_mutual_information(evidence, n_samples=1000).parts["matrix"]
        cross = matrix[found.order][:, np.argsort(-world.true_entropies)]
    return TrainedFlow(
        name=name,
        decoder=decoder,
        records=records,
        negative_log_likelihood=mean_negative_log_likelihood(flow, world.sample(N_TEST_ROWS, training.seed + 1)),
        spectrum=found,
        total_correlation=manifold_total_correlation(evidence, n_samples=2000).raw,
        cross_information=cross,
    )


REPRODUCTIONS: dict[str, Callable[..., dict[str, TrainedFlow]]] = {"fig1": two_moons, "fig2": torus}
