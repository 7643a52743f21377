"""Flows of digits and their geometry metrics; flows and numbers are computed once and stored.

Differences from the paper: MNIST at 16 x 16 instead of EMNIST at 28 x 28, fewer and narrower couplings, noise of .05
standard deviations instead of .01, and some hundred steps instead of hundreds of epochs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unweave.arrays import FloatArray
from unweave.estimators.geometry.priors import GaussianMixture, Prior, StandardNormal
from unweave.evidence import Evidence, EvidenceError
from unweave.metrics import manifold_mutual_information
from unweave.metrics.geometry.spectrum import spectrum
from unweave.papers.experiment import Options
from unweave.papers.manifold_entropic_metrics.digit_images import N_CLASSES, DigitImages, digit_images
from unweave.progress import progress_bar
from unweave.whole_files import write_whole

if TYPE_CHECKING:
    from unweave.neural.image_flows.image_flow import ImageFlow

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
    found = {}
    with progress_bar(len(plans), options.progress) as bar:
        for plan in plans:
            bar.step(plan.name)
            found[plan] = _kept(plan, digits, options)
    return found


def planned(name: str, options: Options, n_steps: int = 1000, seed: int = 0, core: int = 0, **shape: Any) -> FlowPlan:
    """Return a plan with the steps and the seed of the options, and with half the couplings for a quick run."""
    if options.quick:
        shape = {"n_convolutional": 2, "n_dense": 3, "hidden_features": 64} | shape
    n_steps = options.n_steps or (QUICK_STEPS if options.quick else n_steps)
    return FlowPlan(name, tuple(sorted(shape.items())), n_steps, (options.seed or 0) + seed, core)


def _kept(plan: FlowPlan, digits: DigitImages, options: Options) -> MeasuredFlow:
    path = kept_at(plan, digits, options)
    if path.exists():
        with np.load(path) as content:
            return MeasuredFlow(**{field.name: _plain(content[field.name]) for field in fields(MeasuredFlow)})
    found = _trained_and_measured(plan, digits, options, path.with_suffix(".pt"))
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays: dict[str, Any] = {field.name: np.asarray(getattr(found, field.name)) for field in fields(MeasuredFlow)}
    write_whole(path, lambda file: np.savez(file, **arrays))
    return found


def kept_at(plan: FlowPlan, digits: DigitImages, options: Options) -> Path:
    """Return the file with the numbers of a plan; its checkpoint is beside it."""
    label = hashlib.blake2b(repr(asdict(plan)).encode(), digest_size=4).hexdigest()
    return options.folder / "flows" / f"digits{digits.side}-{plan.name.replace(' ', '-')}-{label}.npz"


def _plain(array: Any) -> Any:
    return array if array.ndim else array.item()


def trained_flow(plan: FlowPlan, digits: DigitImages, checkpoint: Path, progress: bool) -> ImageFlow:
    """Train the flow of a plan, or read it; raise FloatingPointError if it diverged."""
    from unweave.neural.image_flows.architectures import ImageFlowSettings, image_flow
    from unweave.neural.image_flows.image_training import train_on_images
    from unweave.neural.training import FlowObjective, FlowTraining

    flow = image_flow(ImageFlowSettings(**{"side": digits.side, "seed": plan.seed, **dict(plan.shape)}))
    objective = FlowObjective(reconstruction=plan.reconstruction * bool(plan.core), core=tuple(range(plan.core)))
    training = FlowTraining(plan.n_steps, learning_rate=plan.learning_rate, seed=plan.seed, checkpoint_every=50)
    train_on_images(
        flow, digits.images, digits.labels, objective, training, noise=NOISE, checkpoint=checkpoint, progress=progress
    )
    return flow.eval()


def _trained_and_measured(plan: FlowPlan, digits: DigitImages, options: Options, checkpoint: Path) -> MeasuredFlow:
    from unweave.neural.image_flows.image_training import held_out_costs

    try:
        flow = trained_flow(plan, digits, checkpoint, options.progress)
        images = digits.test_images + NOISE * np.random.default_rng(plan.seed).standard_normal(digits.test_images.shape)
        costs, latents = held_out_costs(flow, images, digits.test_labels)
    except (FloatingPointError, EvidenceError) as error:
        return _nothing(str(error))
    held_out = float(costs.mean()) / flow.size
    return _measured(flow, digits, held_out, latents, QUICK_SAMPLES if options.quick else N_SAMPLES)


def _measured(
    flow: ImageFlow, digits: DigitImages, held_out: float, latents: FloatArray, n_samples: int
) -> MeasuredFlow:
    from unweave.neural.image_flows.class_decoders import class_decoder

    parts = list(_classes(flow, latents, digits.test_labels))
    spectra, matrices, centres = [], [], []
    for k, prior, middle in parts:
        evidence = Evidence(decoder=class_decoder(flow, k))
        n_each = max(n_samples // len(parts), 5)
        spectra.append(spectrum(evidence, prior=prior, n_samples=n_each))
        matrices.append(manifold_mutual_information(evidence, prior=prior, n_samples=n_each).parts["matrix"])
        centres.append(class_decoder(flow, k).decode(middle)[0])
    entropies = np.mean([found.entropies for found in spectra], axis=0)
    order = np.argsort(-entropies, kind="stable")[:N_TRAVERSED]
    groups = [latents[digits.test_labels == k] for k in range(N_CLASSES)]
    return MeasuredFlow(
        problem="",
        held_out=held_out,
        entropies=entropies,
        information=np.mean(matrices, axis=0),
        total_correlation=float(np.mean([found.total_correlation for found in spectra])),
        tangents=np.stack([found.tangents for found in spectra]).astype(np.float32),
        centres=np.stack(centres).astype(np.float32),
        traversals=_traversals(flow, order.tolist()) if flow.n_classes else np.empty((0, 0, 0, 0)),
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


def _traversals(flow: ImageFlow, order: list[int]) -> FloatArray:
    from unweave.metrics.geometry.spectrum import traversals
    from unweave.neural.image_flows.class_decoders import class_decoder

    images = [traversals(class_decoder(flow, k), order, VALUES) for k in range(N_CLASSES)]
    return np.stack(images).astype(np.float32)


def _nothing(problem: str) -> MeasuredFlow:
    nothing = np.empty(0)
    return MeasuredFlow(problem, np.nan, nothing, nothing, np.nan, nothing, nothing, nothing, nothing)
