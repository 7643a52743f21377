"""Manifolds of a decoder's latents, and the spectrum of their entropies (000)."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray, Rows
from unweave.card import metric
from unweave.errors import InputError, OptionError, UnweaveError
from unweave.estimators import geometry as gram
from unweave.estimators.geometry import HALF_LOG_2PI_E, Latents, Mean, Prior, RunningMean, StandardNormal
from unweave.evidence import Decoder, Evidence, Jacobians, StandardisedOutputs
from unweave.findings import Finding
from unweave.memo import memoised
from unweave.options import Within, checks_options
from unweave.randomness import random_stream

KEPT_BYTES = 256 * 2**20
CACHED_NUMBERS = 2**17
N_OUTPUT_DRAWS, DRAWS_AT_ONCE = 10_000, 1000
FEWEST_PIXELS = 64
KNEE = 1.0  # smallest drop of entropy that separates latents: the latent changes the data 2.7 times as much
MOST_OUTPUTS = 20  # outputs for which the effect of each latent is kept
Sets = tuple[tuple[int, ...], ...]

# fields of the card that the metrics of geometry have in common
geometry_metric = functools.partial(
    metric,
    needs=("decoder",),
    min_rows=0,
    chance="no pairing",
    reference="Galperin and Koethe (2025), 'Analyzing generative models by manifold entropic metrics' (000)",
    version=2,
)


@dataclass(frozen=True)
class Sampling:
    """Latents at which the decoder is evaluated: n_samples draws from the prior. Not used if Jacobians are given."""

    prior: Prior
    n_samples: int
    seed: int


@dataclass(frozen=True)
class Geometry:
    """Summary of the Jacobians of n samples with d latents and D outputs.

    ``log_lengths`` (n x d) is log |J_i|. ``log_directions`` (n) is 1/2 log det of the cosines between columns, so that
    log |J| is the sum of all log lengths and of this. ``information`` is -1/2 log(1 - cos^2) of every pair of latents
    (d x d, mean over samples), and ``mean_information`` (n) is its mean over pairs. ``tangents`` (D x d) is the mean
    Jacobian, and ``squares`` that of its squares for at most 20 outputs. ``cosines`` (n x d x d) is None where it
    would need too much memory.

    Where outputs are saturated, derivatives may be 0 or linearly dependent to machine precision. Samples with such zero
    columns are left out, and ``used`` marks the other n among all samples drawn. Of these n, ``resolved`` marks the
    samples whose columns are linearly independent (or dependent, if they are so at most samples). ``information`` is
    the mean over the resolved samples.
    """

    log_lengths: FloatArray
    log_directions: FloatArray
    information: Mean
    mean_information: FloatArray
    tangents: FloatArray
    cosines: FloatArray | None
    used: NDArray[np.bool_]
    resolved: NDArray[np.bool_]
    squares: FloatArray | None = None

    @property
    def n_latents(self) -> int:
        """Number of latents, d."""
        return self.log_lengths.shape[1]

    @property
    def n_outputs(self) -> int:
        """Number of outputs, D."""
        return self.tangents.shape[0]


def latent_names(evidence: Evidence) -> tuple[str, ...]:
    """Names of the latents: the names of the codes if there are as many codes as latents, and numbers otherwise."""
    size = _decoder(evidence).latent_size
    return evidence.code_names if evidence.n_codes == size else tuple(f"latent {i}" for i in range(size))


@memoised(on="codes")
def geometry(evidence: Evidence, sampling: Sampling) -> Geometry:
    """Lengths, directions, shared information and mean of the Jacobian's columns, from one pass over the samples."""
    lengths, directions, shared, lost = [], [], [], []
    kept: list[FloatArray] = []
    # one mean for each pattern of lost directions: only the whole sample shows which patterns are due to the decoder
    information: dict[bytes, RunningMean] = {}
    tangent_sum, squares, n_rows, keep = None, np.zeros(()), 0, True
    jacobians = jacobian_blocks(_decoder(evidence), sampling, latent_names(evidence))
    for block in (part for whole in jacobians for part in _cut(whole)):
        n_rows += len(block)
        with np.errstate(over="ignore"):
            tangent_sum = block.sum(axis=0) + (0.0 if tangent_sum is None else tangent_sum)
            squares = squares + np.square(block).sum(axis=0) if block.shape[1] <= MOST_OUTPUTS else squares
        scaled, log_scales = gram.scaled(block)
        gram_block = gram.grams(scaled)
        lengths.append(gram.log_lengths(gram_block) + log_scales[:, None])
        cosines = gram.cosines(gram_block)
        if block.shape[1] >= block.shape[2]:
            directions.append(gram.log_volume_of_directions(cosines))
        else:
            directions.append(np.full(len(block), -np.inf))
        keep = keep and n_rows * block.shape[2] ** 2 * 8 <= KEPT_BYTES
        if keep:
            kept.append(cosines.copy())
        else:
            kept.clear()
        pairs = gram.information_of_cosines(cosines)
        np.einsum("bii->bi", pairs)[...] = 0.0  # the diagonal does not count in the mean over pairs
        shared.append(pairs.sum(axis=(1, 2)) / max(pairs.shape[1] * (pairs.shape[1] - 1), 1))
        lost.append(np.column_stack([np.isneginf(lengths[-1]), ~np.isfinite(directions[-1])]))
        for pattern, rows in _rows_by_pattern(lost[-1]):
            information.setdefault(pattern, RunningMean()).add(pairs if len(rows) == len(pairs) else pairs[rows])
    assert tangent_sum is not None
    all_lost = np.concatenate(lost)
    used, resolved = _usable_samples(all_lost)
    patterns = {row.tobytes() for row in np.unique(all_lost[used][resolved], axis=0)}
    return Geometry(
        np.concatenate(lengths)[used],
        np.concatenate(directions)[used],
        RunningMean.merged(information[pattern] for pattern in patterns).mean(),
        np.concatenate(shared)[used],
        tangent_sum / n_rows,
        np.concatenate(kept)[used] if kept else None,
        used,
        resolved,
        squares / n_rows if squares.ndim else None,
    )


def _rows_by_pattern(lost: NDArray[np.bool_]) -> Iterator[tuple[bytes, Rows]]:
    """Group the rows by the directions that are lost there; nearly always there is one group."""
    if not lost.any():
        yield lost[0].tobytes(), np.arange(len(lost))
        return
    patterns, group = np.unique(lost, axis=0, return_inverse=True)
    for k, pattern in enumerate(patterns):
        yield pattern.tobytes(), np.flatnonzero(group.ravel() == k)


def _usable_samples(lost: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Masks of the samples to use, and of those among them whose directions are as independent as at most samples.

    The columns of ``lost`` stand for the latents (true where a latent does not move the output), and the last column
    for all latents together (true where their directions are linearly dependent to machine precision). A direction that
    is lost at every sample (a dead latent) or at most samples (two equal latents) is a property of the decoder. Any
    other loss is a rounding error, and a single such sample would make an entropy minus infinity.
    """
    still, dependent = lost[:, :-1], lost[:, -1]
    dead = still.all(axis=0)
    used = np.asarray((still == dead).all(axis=1))
    if not used.any():
        used = np.ones(len(lost), dtype=bool)
    return used, np.asarray(dependent[used] == (dependent[used].mean() > 0.5))


@memoised(on="codes")
def log_volumes(evidence: Evidence, sampling: Sampling, sets: Sets) -> FloatArray:
    """log |J_S| of every resolved sample and index set (n x number of sets)."""
    shared, found = shared_directions(evidence, sampling, sets), geometry(evidence, sampling)
    lengths = found.log_lengths[found.resolved]
    with np.errstate(invalid="ignore"):  # the direction of a zero column is nan, and its volume is 0
        volumes = np.stack([lengths[:, list(chosen)].sum(axis=1) for chosen in sets], axis=1) + shared
    return np.where(np.isnan(volumes), -np.inf, volumes)


@memoised(on="codes")
def shared_directions(evidence: Evidence, sampling: Sampling, sets: Sets) -> FloatArray:
    """1/2 log det of the cosines within every index set (resolved samples x sets); 0 if the columns are orthogonal."""
    found = geometry(evidence, sampling)
    check_sets(sets, found.n_latents, found.n_outputs)
    blocks: Iterator[FloatArray]
    if found.cosines is not None:
        blocks = iter([found.cosines])
    else:
        jacobians = jacobian_blocks(_decoder(evidence), sampling, latent_names(evidence))
        blocks = (gram.cosines(gram.grams(gram.scaled(block)[0])) for block in jacobians)
    rows = [np.stack([gram.log_volume_of_directions(block, s) for s in sets], axis=1) for block in blocks]
    volumes = np.concatenate(rows)
    return (volumes if found.cosines is not None else volumes[found.used])[found.resolved]


@memoised(on="codes")
def information_with_others(evidence: Evidence, sampling: Sampling) -> FloatArray:
    """What every latent shares with all others together, mean over samples (d); nan if it is not known.

    It is I(q_i, q_S) of A.27 with S all other latents. It needs the cosines of all samples.
    """
    found = geometry(evidence, sampling)
    if found.cosines is None or found.n_latents < 2 or found.n_latents > found.n_outputs:
        return np.full(found.n_latents, math.nan)
    return np.asarray(gram.information_with_all_others(found.cosines[found.resolved]).mean(axis=0))


@memoised(on="codes")
def cross_information(evidence: Evidence, sampling: Sampling, match: str) -> tuple[Mean, int]:
    """-1/2 log(1 - cos^2) between columns of the decoder and of the reference (d x d'), mean over samples (A.33).

    The second number is that of the outputs.
    """
    running, n_outputs = RunningMean(), 0
    for ours, theirs in _paired_blocks(evidence, sampling, match):
        if ours.shape[:2] != theirs.shape[:2]:
            raise InputError(
                f"The decoder has {ours.shape[:2]} samples and outputs, and the reference {theirs.shape[:2]}: both "
                "must generate the same data."
            )
        n_outputs = ours.shape[1]
        ours, theirs = gram.scaled(ours)[0], gram.scaled(theirs)[0]
        products = np.matmul(ours.transpose(0, 2, 1), theirs)
        lengths = np.square(ours).sum(axis=1)[:, :, None] * np.square(theirs).sum(axis=1)[:, None, :]
        with np.errstate(invalid="ignore", divide="ignore"):
            running.add(gram.information_of_cosines(products / np.sqrt(lengths)))
    return running.mean(), n_outputs


def _paired_blocks(evidence: Evidence, sampling: Sampling, match: str) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Jacobians of the decoder and the reference, at the same data or at the same latents."""
    decoder, reference = _decoder(evidence), evidence.reference
    assert reference is not None
    names = latent_names(evidence)
    their_names = tuple(f"latent {i} of the reference" for i in range(reference.latent_size))
    latents = drawn_latents(reference, sampling) or drawn_latents(decoder, sampling)
    theirs = values = np.empty((0, 0)) if latents is None else latents.values
    if match not in ("data", "latents"):
        raise OptionError(f"match={match!r} is not known: use 'data' or 'latents'.")
    given = isinstance(decoder, Jacobians) or isinstance(reference, Jacobians)
    if match == "data" and not given:
        decode, encode = getattr(reference, "decode", None), getattr(decoder, "encode", None)
        if decode is None or encode is None:
            raise InputError(
                "Comparing two decoders at the same data needs a reference that decodes and a decoder that also "
                "encodes: pass match='latents', or Jacobians of both at the same data."
            )
        values = np.asarray(encode(decode(theirs)), dtype=np.float64)
    scales = None if latents is None else latents.scales
    ours_blocks = _checked(decoder.jacobian_blocks(values), scales if match == "latents" else None, names)
    their_blocks = _checked(reference.jacobian_blocks(theirs), scales, their_names)
    yield from _aligned(ours_blocks, their_blocks)


def _aligned(first: Iterator[FloatArray], second: Iterator[FloatArray]) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Cut two streams of blocks so that both blocks of a pair have the same samples; raise if their lengths differ."""
    one, two = next(first, None), next(second, None)
    while one is not None and two is not None:
        rows = min(len(one), len(two))
        yield one[:rows], two[:rows]
        one = one[rows:] if len(one) > rows else next(first, None)
        two = two[rows:] if len(two) > rows else next(second, None)
    if one is not None or two is not None:
        raise InputError("The two decoders have Jacobians at different numbers of samples: use the same for both.")


def jacobian_blocks(decoder: Decoder, sampling: Sampling, names: Sequence[str]) -> Iterator[FloatArray]:
    """Yield the Jacobians with respect to standard normal noise in blocks (b x D x d); raise if one is not finite."""
    latents = drawn_latents(decoder, sampling)
    values = np.empty((0, decoder.latent_size)) if latents is None else latents.values
    with _code_of_the_user():
        yield from _checked(decoder.jacobian_blocks(values), None if latents is None else latents.scales, names)


@contextmanager
def _code_of_the_user() -> Iterator[None]:
    """Say in one sentence how a decoder fails, whose code can raise any exception."""
    try:
        yield
    except (UnweaveError, MemoryError):
        raise
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(f"The decoder fails ({reason}): try it on two rows of latents.") from error


def drawn_latents(decoder: Decoder, sampling: Sampling) -> Latents | None:
    """Latents drawn from the prior, or None if the Jacobians were given as an array."""
    if isinstance(decoder, StandardisedOutputs):
        return drawn_latents(decoder.decoder, sampling)
    if isinstance(decoder, Jacobians):
        return None
    if sampling.n_samples < 1:
        raise InputError(f"n_samples is {sampling.n_samples}: draw at least 1 latent, preferably 1,000.")
    if sampling.prior.size not in (None, decoder.latent_size):
        raise InputError(
            f"The prior has {sampling.prior.size} latents and the decoder takes {decoder.latent_size}: "
            "pass the prior that the decoder was trained with."
        )
    return sampling.prior.sample(sampling.n_samples, decoder.latent_size, sampling.seed)


def check_sets(sets: Sets, n_latents: int, n_outputs: int) -> None:
    """Raise InputError for index sets that are empty, repeat or exceed the latents, or outnumber the outputs."""
    for chosen in sets:
        strange = [i for i in chosen if not 0 <= i < n_latents]
        if not chosen or strange or len(set(chosen)) < len(chosen):
            raise InputError(
                f"The index set {chosen} is not a set of latents: name each of the dimensions 0 to {n_latents - 1} at "
                "most once."
            )
        if len(chosen) > n_outputs:
            raise InputError(
                f"The decoder has {n_outputs} outputs, fewer than the {len(chosen)} chosen dimensions, so they span no "
                f"volume: choose at most {n_outputs}."
            )


def saturation(evidence: Evidence, found: Geometry, directions: bool = False) -> tuple[Finding, ...]:
    """Caveats about latents that do not move the output, and about samples that were left out."""
    n_used, n_rows = int(found.used.sum()), len(found.used)
    counts = np.isneginf(found.log_lengths).sum(axis=0)
    caveats = [
        Finding("latent_without_effect_in_samples", n_samples=count, of=n_used, codes=[name])
        for name, count in zip(latent_names(evidence), counts.tolist(), strict=True)
        if count
    ]
    left_out = n_rows - (int(found.resolved.sum()) if directions else n_used)
    if left_out:
        caveats.append(Finding("samples_saturated", n_samples=left_out, of=n_rows, directions=directions))
    dependent = int(np.isneginf(found.log_directions[found.resolved]).sum())
    if directions and dependent:
        caveats.append(Finding("latents_dependent", n_samples=dependent))
    return tuple(caveats)


def _cut(block: FloatArray) -> Iterator[FloatArray]:
    """Split a block into parts whose Gram matrices fit into the cache; a part has at least one sample."""
    rows = max(1, CACHED_NUMBERS // block.shape[2] ** 2)
    for start in range(0, len(block), rows):
        yield block[start : start + rows]


def entropies(found: Geometry) -> Mean:
    """H(q_i) of every latent in nats, with standard errors (000, eq. 8)."""
    mean = gram.mean_of(found.log_lengths)
    return Mean(HALF_LOG_2PI_E + mean.value, mean.standard_error)


def _decoder(evidence: Evidence) -> Decoder:
    assert evidence.decoder is not None
    return evidence.decoder


def _checked(blocks: Iterator[FloatArray], scales: FloatArray | None, names: Sequence[str]) -> Iterator[FloatArray]:
    start = 0
    for block in blocks:
        rows = np.asarray(block, dtype=np.float64)
        if rows.ndim != 3 or rows.shape[2] != len(names):
            raise InputError(
                f"The decoder's Jacobians have shape {rows.shape}: with {len(names)} latents they must be samples x "
                f"outputs x {len(names)}."
            )
        bad = np.atleast_2d(~np.isfinite(rows).all(axis=1))
        if bad.any():
            i = int(np.flatnonzero(bad.any(axis=0))[0])
            raise InputError(
                f"The decoder's derivative with respect to {names[i]} is nan or infinite at sample "
                f"{start + int(bad[:, i].argmax())}: check the decoder there, or leave such latents out."
            )
        yield rows if scales is None else rows * scales[start : start + len(rows), None, :]
        start += len(rows)


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Manifold entropies of a decoder's latents in nats, in the order of the latents, and derived quantities.

    ``order`` lists the latents from the most to the least important. ``cumulative`` is the joint entropy H(q_S) of the
    first 1, 2, ... latents in that order; it counts shared information once. ``tangents`` (D x d) is the mean Jacobian,
    whose columns show how each latent changes the data (000, E.2), and ``rms_tangents`` its root mean square, in which
    signs do not cancel (None for more than 20 outputs). ``rotated_total_correlation`` is that of the same
    Jacobians after a random rotation of the latents, to which ``total_correlation`` can be compared. Entropies depend
    on the units of the outputs, and no value says whether the latents are the true factors. ``cumulative`` falls where
    a latent adds less than 0 nats.
    """

    names: tuple[str, ...]
    entropies: FloatArray
    standard_errors: FloatArray
    cumulative: FloatArray
    total_correlation: float
    tangents: FloatArray
    rotated_total_correlation: float = math.nan
    rms_tangents: FloatArray | None = None

    def __repr__(self) -> str:
        high, low = self.sorted_entropies[[0, -1]]
        return f"Spectrum({len(self.names)} latents, entropies {high:.2f} to {low:.2f} nats)"

    @property
    def order(self) -> list[int]:
        """Indices of the latents by decreasing entropy."""
        return [int(i) for i in np.argsort(-self.entropies, kind="stable")]

    @property
    def sorted_entropies(self) -> FloatArray:
        """Entropies in decreasing order."""
        return self.entropies[self.order]

    @checks_options
    def n_for(self, nats: float) -> int:
        """Number of most important latents whose joint entropy reaches ``nats``: a bottleneck size (000, section 8).

        >>> spectrum(np.diag([1.0, 4.0, 0.1])).n_for(4.0)
        2
        """
        enough = np.flatnonzero(self.cumulative >= nats)
        if not enough.size:
            raise InputError(
                f"No bottleneck keeps {nats:g} nats: the first {int(self.cumulative.argmax()) + 1} latents keep the "
                f"most, {self.cumulative.max():.4g} nats, so use a smaller number."
            )
        return int(enough[0]) + 1

    @checks_options
    def n_above(self, nats: float) -> int:
        """Number of latents with an entropy above ``nats``, for example above the entropy of the noise in the data."""
        return int((self.entropies > nats).sum())

    @property
    def effective_dimension(self) -> float:
        """Effective number of latents, from 1 to d: exp of the entropy of their shares of the variance exp(2 H).

        >>> round(spectrum(np.eye(3)).effective_dimension, 6)
        3.0
        """
        variances = np.exp(2 * (self.entropies - self.entropies.max()))
        shares = variances[variances > 0] / variances.sum()
        return float(np.exp(-(shares * np.log(shares)).sum()))

    @property
    def random_total_correlation(self) -> float:
        """Expected total correlation of random directions in as many outputs; nan with more latents than outputs."""
        n_outputs, n_latents = self.tangents.shape
        return gram.random_total_correlation(n_outputs, n_latents) if n_latents <= n_outputs else math.nan

    @property
    def largest_drop(self) -> tuple[int, float]:
        """Number of sorted latents before the largest drop in entropy, and the drop in nats; (1, nan) if d is 1."""
        return largest_drop(self.sorted_entropies)

    @property
    def knee(self) -> tuple[int, float] | None:
        """The largest drop if it is at least 1 nat, and otherwise None: the latents after it hardly change the data.

        >>> spectrum(np.diag([5.0, 4.0, 0.1])).knee[0], spectrum(np.eye(3)).knee
        (2, None)
        """
        return self.largest_drop if self.largest_drop[1] >= KNEE else None


def largest_drop(entropies: Sequence[float] | FloatArray) -> tuple[int, float]:
    """Number of sorted entropies before the largest drop, and the drop; (1, nan) for fewer than two finite ones.

    >>> largest_drop([5.0, 4.0, 1.0, -np.inf])
    (2, 3.0)
    """
    sizes = np.asarray(entropies, dtype=float)
    falls = -np.diff(sizes[np.isfinite(sizes)])
    return (int(falls.argmax()) + 1, float(falls.max())) if falls.size else (1, np.nan)


def square_image(n_outputs: int) -> tuple[int, int, int] | None:
    """Channels, height and width of square images with one or three channels; None if these outputs are none.

    >>> square_image(1024), square_image(12288), square_image(8)
    ((1, 32, 32), (3, 64, 64), None)
    """
    for n_channels in (1, 3):
        side = math.isqrt(n_outputs // n_channels)
        if n_channels * side * side == n_outputs and side > 1:
            return n_channels, side, side
    return None


def image_shape_of(n_outputs: int) -> tuple[int, int, int] | None:
    """Shape of the images that a decoder returns, by its number of outputs; None for few outputs, such as sensors.

    >>> image_shape_of(64), image_shape_of(9)
    ((1, 8, 8), None)
    """
    return square_image(n_outputs) if n_outputs >= FEWEST_PIXELS else None


def standardised(
    decoder: object,
    deviations: Sequence[float] | FloatArray | None = None,
    *,
    prior: Prior = StandardNormal(),  # noqa: B008 - a frozen value
    rng: int = 0,
) -> StandardisedOutputs:
    """The decoder with every output divided by its standard deviation, for outputs with different units.

    Everything that takes a decoder takes the result: `unweave.evaluate`, `unweave.spectrum`, and the metrics. For
    Jacobians that were computed elsewhere, pass the ``deviations`` of the outputs, such as ``data.std(axis=0)``.
    Otherwise they are measured on 10,000 draws from the prior. A constant output stays as it is.

    Examples
    --------
    >>> spectrum(np.diag([3.0, 20.0])).order, spectrum(standardised(np.diag([3.0, 20.0]))).entropies.round(3)
    ([1, 0], array([1.419, 1.419]))
    """
    evidence = decoder if isinstance(decoder, Evidence) else Evidence(decoder=decoder)
    found = _decoder(evidence)
    if deviations is None:
        measured = output_deviations(found, prior, rng)
    else:
        measured = np.asarray(deviations, dtype=np.float64)
        if measured.ndim != 1 or not (np.isfinite(measured) & (measured >= 0)).all():
            raise InputError("The deviations are not one number from 0 for each output: pass data.std(axis=0).")
    return StandardisedOutputs(found, np.where(measured > 0, measured, 1.0))


def output_deviations(decoder: Decoder, prior: Prior, seed: int) -> FloatArray:
    """Standard deviation of every output under the prior, by draws; exact for Jacobians that never change."""
    if not hasattr(decoder, "decode"):
        blocks = jacobian_blocks(decoder, Sampling(prior, 1, seed), [""] * decoder.latent_size)
        first = next(blocks)[:1] if isinstance(decoder, Jacobians) else None
        if first is None or not all((block == first).all() for block in decoder.jacobian_blocks(np.empty((0, 0)))):
            raise InputError(
                "Jacobians alone do not say how much each output varies: pass deviations=data.std(axis=0), or the "
                "decoder itself."
            )
        return np.asarray(np.sqrt(np.square(first[0]).sum(axis=1)))
    latents = drawn_latents(decoder, Sampling(prior, N_OUTPUT_DRAWS, seed))
    assert latents is not None
    shift, total, squares = None, 0.0, 0.0
    for start in range(0, N_OUTPUT_DRAWS, DRAWS_AT_ONCE):
        with _code_of_the_user():
            drawn = np.asarray(decoder.decode(latents.values[start : start + DRAWS_AT_ONCE]), dtype=np.float64)
        drawn = drawn.reshape(len(drawn), -1)
        shift = drawn.mean(axis=0) if shift is None else shift  # squares of a large mean would cancel
        total, squares = total + (drawn - shift).sum(axis=0), squares + np.square(drawn - shift).sum(axis=0)
    found = np.sqrt(np.maximum(squares / N_OUTPUT_DRAWS - np.square(total / N_OUTPUT_DRAWS), 0.0))
    if not np.isfinite(found).all():
        raise InputError("The decoder returns nan or infinite outputs for draws from the prior: check it there.")
    return np.asarray(found)


@checks_options
def spectrum(
    decoder: object,
    *,
    prior: Prior = StandardNormal(),  # noqa: B008 - a frozen value
    n_samples: Annotated[int, Within(1, 1e8)] = 1000,
    rng: int = 0,
) -> Spectrum:
    """Entropy spectrum of a decoder, given as an `Evidence`, an array of Jacobians, a torch module or a `Decoder`.

    Examples
    --------
    >>> found = spectrum(np.diag([1.0, 4.0, 0.1]))
    >>> found.order, found.knee[0]
    ([1, 0, 2], 2)
    """
    evidence = decoder if isinstance(decoder, Evidence) else Evidence(decoder=decoder)
    sampling = Sampling(prior, n_samples, rng)
    found = geometry(evidence, sampling)
    single = entropies(found)
    order = [int(i) for i in np.argsort(-single.value, kind="stable")]
    return Spectrum(
        names=latent_names(evidence),
        entropies=single.value,
        standard_errors=single.standard_error,
        cumulative=_cumulative(evidence, sampling, order),
        total_correlation=float(-found.log_directions[found.resolved].mean()),
        tangents=found.tangents,
        rotated_total_correlation=float(rotated_total_correlation(evidence, sampling)[0]),
        rms_tangents=None if found.squares is None else np.sqrt(found.squares),
    )


N_ROTATIONS, MOST_PRODUCTS = 32, 5e7


@memoised(on="codes")
def rotated_total_correlation(evidence: Evidence, sampling: Sampling) -> FloatArray:
    """Mean and 95 % interval of the total correlation over random rotations of the latents; nan without cosines."""
    found = geometry(evidence, sampling)
    if found.cosines is None:
        return np.full(3, math.nan)
    rows = np.flatnonzero(found.resolved)[: max(1, int(MOST_PRODUCTS // found.n_latents**3))]
    rng, totals = random_stream(sampling.seed, "rotated latents"), []
    with np.errstate(all="ignore"):  # a latent without effect gives nan
        lengths = found.log_lengths[rows] - found.log_lengths[rows].mean(axis=1, keepdims=True)  # a scale cancels
        grams = found.cosines[rows] * np.exp(lengths[:, :, None] + lengths[:, None, :])
        for _ in range(N_ROTATIONS):
            rotation = np.linalg.qr(rng.normal(size=(found.n_latents, found.n_latents)))[0]
            squares = ((grams @ rotation) * rotation).sum(axis=1)
            totals.append(float((np.log(squares).sum(axis=1) / 2 - found.log_directions[rows]).mean()))
        mean = float(np.mean(totals))
    ends = np.quantile(totals, [0.025, 0.975]) if math.isfinite(mean) else [mean, mean]  # not of differences of inf
    return np.maximum([mean, *ends], 0.0)


def traversals(
    decoder: object, dimensions: Sequence[int], values: Sequence[float] = (-2.0, -1.0, 0.0, 1.0, 2.0)
) -> FloatArray:
    """Decoded data (latents x values x D) when one latent takes the given values and all other latents are 0.

    >>> from unweave.synthetic.known_decoders import LinearDecoder
    >>> traversals(LinearDecoder(np.eye(2)), [1], [-1.0, 1.0])[0].tolist()
    [[0.0, -1.0], [0.0, 1.0]]
    """
    found = decodable(decoder)
    latents = np.zeros((len(dimensions), len(values), found.latent_size))
    for row, i in enumerate(dimensions):
        latents[row, :, i] = values
    decoded = found.decode(latents.reshape(-1, found.latent_size))  # type: ignore[attr-defined]
    return np.asarray(decoded, dtype=np.float64).reshape(len(dimensions), len(values), -1)


def decodable(decoder: object) -> Decoder:
    """Return the decoder, or that of an Evidence; raise InputError if it is only an array of Jacobians."""
    evidence = decoder if isinstance(decoder, Evidence) else Evidence(decoder=decoder)
    if evidence.decoder is None or not hasattr(evidence.decoder, "decode"):
        raise InputError("Jacobians alone cannot decode latents: pass the decoder itself.")
    return evidence.decoder


def _cumulative(evidence: Evidence, sampling: Sampling, order: list[int]) -> FloatArray:
    """H(q_S) of the first 1, 2, ... latents in this order, up to the number of outputs (A.23)."""
    found = geometry(evidence, sampling)
    n_sets = min(found.n_latents, found.n_outputs)
    sizes = HALF_LOG_2PI_E * np.arange(1, n_sets + 1)
    if found.cosines is None or np.isnan(found.cosines).any():
        sets = tuple(tuple(order[: k + 1]) for k in range(n_sets))
        return sizes + log_volumes(evidence, sampling, sets).mean(axis=0)
    lengths = np.cumsum(found.log_lengths[found.resolved][:, order], axis=1)[:, :n_sets]
    directions = gram.nested_log_volumes(found.cosines[found.resolved], order)
    # Near the limit of precision the result depends on the order of the columns. The cosines of a subset never have a
    # smaller determinant than those of all columns, and the last value must agree with `total_entropy`.
    directions = np.maximum(directions, found.log_directions[found.resolved][:, None])
    directions[:, -1] = found.log_directions[found.resolved]
    return sizes + (lengths + directions[:, :n_sets]).mean(axis=0)
