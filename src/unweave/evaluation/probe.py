"""`probe`: how well probes of increasing capacity read each factor from the codes of each layer."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from unweave.arrays import FloatArray, Rows
from unweave.codec import plain_data
from unweave.errors import InputError, OptionError
from unweave.estimators.boosting import BINS, FEW_BINS, BinnedCodes, Boosting, bin_numbers
from unweave.estimators.linear_probes import Linear, LinearDesign
from unweave.estimators.probes import Probe
from unweave.estimators.protocols import own_or_default
from unweave.evaluation.loop import paired_evidences
from unweave.evidence import Evidence, EvidenceOptions
from unweave.evidence.columns import data_frame_of
from unweave.evidence.splits import renumbered, shuffled_rows
from unweave.metrics.matrices import target_columns
from unweave.metrics.prediction import near_training_targets
from unweave.options import checks_options
from unweave.randomness import random_stream
from unweave.sentences import fixed, printable
from unweave.threads import one_thread
from unweave.trust.intervals import check_level

Split = Literal["random", "unseen combinations"]

FEWEST_UNITS = 10

SHARES = (1 / 16, 1 / 4)  # of the training rows, for the learning curve

N_ORDERS = 199  # random orders of the held-out rows, for p-values

COLUMNS_DRAWN = 400  # target columns with a random pairing that are fitted; 19 pairings of up to 21 columns

FITS_TOGETHER = ("linear", "kernel")  # probes that fit all random pairings at once

# Two rows of different folds predict each other, so that the agreement of predictions and unrelated targets varies up
# to twice as much over data as over orders. Predictions that are linear in the targets are larger where they agree,
# which makes up for it; those of trees are not.
VARIANCE_OF_OTHERS = 2.0

ROWS_DRAWN = 2000  # held-out rows of a random pairing that are enough for a probe that fits every pairing on its own

ENOUGH = 0.9  # share of the final score at which a probe has enough rows

GAIN = 0.05  # smallest gain of a nonlinear probe over the linear one that a sentence mentions


@dataclass(frozen=True)
class ProbeRow:
    """The score of one probe for one factor and one layer.

    Attributes
    ----------
    factor, layer, probe : str
        What was predicted, from which codes, and by which probe.
    value : float
        Held-out R2: 1 - squared error / squared deviation from the training mean. Circular factors are predicted by
        their cosine and sine, categorical ones by indicators of their classes. 0 is as good as the mean.
    lower, upper : float
        Interval of ``value`` over units (row groups or rows), for the probes as they were fitted.
    p_value : float
        Share of 200 orders of the held-out rows, this one included, in which the same predictions are as good. For
        probes other than "linear" and "kernel", orders count as if they varied sqrt(2) times as much, because each row
        is also a training row of other folds.
    floor : float
        Mean score of the same probe fitted to randomly paired rows; row groups are paired as a whole.
    control : float
        Score in the control task of Hewitt and Liang (2019): every combination of factor values gets a random value of
        the factor, which the probe has to memorise. Equal to ``floor`` if combinations hardly repeat, or if the factor
        alone determines the combination: random values of its levels are then as easy to read as the levels.
    baseline : float
        Score of the same probe on the codes of the twin; nan without ``baseline=``.
    accuracy : float
        Share of held-out rows whose class has the largest predicted indicator; nan for other kinds than categorical.
    curve : tuple of (int, float)
        Numbers of training rows and the score with each, on the same held-out rows.
    n_rows : int
        Number of rows in which the factor is labelled, if ``missing="drop"`` and ``split="random"``.
    """

    factor: str
    layer: str
    probe: str
    value: float
    lower: float = math.nan
    upper: float = math.nan
    p_value: float = math.nan
    floor: float = math.nan
    control: float = math.nan
    baseline: float = math.nan
    accuracy: float = math.nan
    curve: tuple[tuple[int, float], ...] = ()
    n_rows: int = 0

    @property
    def selectivity(self) -> float:
        """Score minus the score in the control task: what the probe reads and does not memorise."""
        return self.value - self.control

    @property
    def rows_needed(self) -> float:
        """Training rows for 90 % of the score, on a log scale between the sizes that were tried; nan at chance level.

        The smallest size that was tried is the least this can be.
        """
        if not (self.curve and self.lower > 0 and self.p_value <= 0.05):
            return math.nan
        sizes, scores = np.array(self.curve).T
        scores = np.maximum.accumulate(scores)
        if scores[0] >= ENOUGH * self.value:
            return float(sizes[0])
        return float(np.exp(np.interp(ENOUGH * self.value, scores, np.log(sizes))))


@dataclass(frozen=True)
class ProbeReport:
    """Scores of all probes for every factor and layer; print it for a table and a sentence for each factor.

    >>> rng = np.random.default_rng(0)
    >>> factors = rng.normal(size=(300, 2))
    >>> report = probe(factors, {"early": np.sin(3 * factors), "late": factors @ [[1, 1], [1, -1]]}, probes=["linear"])
    >>> (report.matrix("linear") > 0.9).tolist()
    [[False, True], [False, True]]
    """

    factors: tuple[str, ...]
    layers: tuple[str, ...]
    probes: tuple[str, ...]
    n_rows: int
    n_units: int
    split: Split
    rows: tuple[ProbeRow, ...] = field(repr=False)

    def __getitem__(self, key: tuple[str, str, str]) -> ProbeRow:
        """The row of a factor, a layer and a probe."""
        found = [row for row in self.rows if (row.factor, row.layer, row.probe) == key]
        if not found:
            raise KeyError(f"{key} was not probed; factors: {self.factors}, layers: {self.layers}, {self.probes}")
        return found[0]

    @checks_options
    def matrix(self, probe: str = "linear", of: str = "value") -> FloatArray:
        """One attribute of the rows of one probe, factors x layers."""
        if probe not in self.probes:
            raise OptionError(f"{probe!r} is not a probe of this report: choose among {', '.join(self.probes)}.")
        if of not in (*ProbeRow.__dataclass_fields__, "selectivity", "rows_needed"):
            raise OptionError(f"{of!r} is not stated of a probe: use value, lower, upper or selectivity.")
        return np.array([[getattr(self[f, layer, probe], of) for layer in self.layers] for f in self.factors])

    @checks_options
    def sentence(self, factor: str) -> str:
        """What the probes found for one factor."""
        rows = [row for row in self.rows if row.factor == factor]
        if all(row.value != row.value for row in rows):
            return f"{factor}: it is constant, so it cannot be probed."
        # one of many layers and probes is below .05 by chance
        most = max(0.05 / len(rows), 1 / (1 + N_ORDERS))
        seen = [row for row in rows if row.p_value <= most and row.lower > 0]
        if not seen:
            best = max(rows, key=lambda row: row.value)
            if best.p_value != best.p_value:
                value = fixed(best.value, 2)
                return f"{factor}: {best.probe} from {best.layer} {value}, not tested: too few held-out units."
            return f"{factor}: no probe predicts it better than chance (best: {_probe_in_words(best)})."
        first = [row for row in seen if row.probe == self.probes[0]]
        best = max(seen, key=lambda row: row.value)
        if not first:
            text = f"{factor}: the {self.probes[0]} probe does not predict it, but {_probe_in_words(best)} does"
        else:
            plain = max(first, key=lambda row: row.value)
            text = f"{factor}: {_probe_in_words(plain)}"
            if best.value > plain.value + GAIN and best.lower > plain.value:
                text += f", and more with {_probe_in_words(best)}"
            else:
                best = plain
        if best.rows_needed == best.rows_needed:
            text += f"; {best.rows_needed:.0f} training rows give 90 % of it"
        if best.control > max(best.floor, 0) + GAIN:
            text += f"; it memorises random values with {fixed(best.control, 2)}, so its selectivity is"
            text += f" {fixed(best.selectivity, 2)}"
        if best.n_rows < self.n_rows:
            text += f"; on the {best.n_rows:,} of {self.n_rows:,} rows with its label"
        if best.baseline == best.baseline:
            text += f"; the baseline has {fixed(best.baseline, 2)}"
        return f"{text}."

    def plot(self, probe: str | None = None) -> Any:
        """A matplotlib figure of one probe: factors x layers, with a frame around the best layer of each factor."""
        from unweave.report.figures.codes import matrix_figure  # late: report is above evaluation

        shown = self.probes[0] if probe is None else probe
        return matrix_figure(self.matrix(shown).T, self.layers, self.factors, f"Held-out R2 of the {shown} probe")

    def to_frame(self, backend: str | None = None) -> Any:
        """A row for each factor, layer and probe (see `Evaluation.to_frame`), without the learning curves."""
        return data_frame_of(self.rows, ProbeRow, backend, without=("curve",))

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; nan becomes null."""
        return {"schema": "unweave.probe/1", **plain_data(self), "sentences": list(map(self.sentence, self.factors))}

    def __str__(self) -> str:
        from unweave.report.tables import probe_text  # late: report is above evaluation

        return probe_text(self)


def _probe_in_words(row: ProbeRow) -> str:
    return f"{row.probe} from {row.layer} {fixed(row.value, 2)} ({fixed(row.lower, 2)} to {fixed(row.upper, 2)})"


MOST_COMPONENTS = 30


class _Training:
    """Training codes of one fold, with their design and largest principal components, which probes share."""

    def __init__(self, codes: FloatArray) -> None:
        self.codes = codes

    @functools.cached_property
    def design(self) -> LinearDesign:
        """Centres, scales and eigenvectors of the codes."""
        return Linear().design(self.codes)

    @functools.cached_property
    def variances(self) -> FloatArray:
        """Variances of the largest principal components of the standardised codes."""
        return np.asarray(self.design.energies[self._largest] / len(self.codes))

    @functools.cached_property
    def scores(self) -> FloatArray:
        """Principal components of the training rows."""
        return self._scores(self.codes)

    def components(self, given: FloatArray) -> FloatArray:
        """The same components of other rows."""
        return self.scores if given is self.codes else self._scores(given)

    @functools.cached_property
    def _largest(self) -> Rows:
        energies = self.design.energies
        largest = np.argsort(-energies, kind="stable")[:MOST_COMPONENTS]
        return np.asarray(largest[energies[largest] > 1e-10 * max(float(energies.max()), 1e-300)])

    @functools.cached_property
    def _turn(self) -> FloatArray:
        codes, design = self.codes, self.design
        turn = design.vectors[:, self._largest]
        if codes.shape[1] > codes.shape[0]:
            turn = ((codes - design.centre) / design.scale).T @ turn / np.sqrt(design.energies[self._largest])
        return turn

    def _scores(self, given: FloatArray) -> FloatArray:
        standardised = given - self.design.centre
        standardised /= self.design.scale
        return np.asarray(standardised @ self._turn)


Predict = Callable[[FloatArray], FloatArray]  # codes to targets

Fit = Callable[[_Training], Callable[[FloatArray], Predict]]  # training codes, then training targets, to predictions


def _by_probe(recipe: Probe, seed: int) -> Fit:
    def fit(training: _Training) -> Callable[[FloatArray], Predict]:
        prepared = own_or_default(Probe.prepared, recipe)(training.codes)
        return lambda targets: prepared.fit(training.codes, targets, seed).predict

    return fit


def _linear(training: _Training) -> Callable[[FloatArray], Predict]:
    """The probe of the metric `r2`."""
    design = training.design.prepared(len(training.codes))
    return lambda targets: design.fit(training.codes, targets).predict


N_CENTRES, WIDTHS = 200, (0.5, 2.0)  # widths are multiples of the median squared distance


def _kernel(training: _Training) -> Callable[[FloatArray], Predict]:
    """Ridge regression on radial functions of principal components around random training rows.

    Functions of two widths, of components as they are and scaled to the same variance, share one ridge regression,
    whose penalty generalised cross-validation chooses.
    """
    codes, variances = training.codes, training.variances
    chosen = random_stream(0, "centres of the kernel probe").permutation(len(codes))[:N_CENTRES]
    centres = training.components(codes[chosen])
    scales = [np.sqrt(variances)] + ([np.ones(variances.size)] if variances.size > 6 else [])
    middles = [max(float(np.median(_distances(centres / s, centres / s))), 1e-300) for s in scales]

    def functions(given: FloatArray) -> FloatArray:
        found = training.components(given)
        parts = [found]
        for scale, middle in zip(scales, middles, strict=True):
            distances = _distances(found / scale, centres / scale)
            parts += [np.exp(distances / (-width * middle)) for width in WIDTHS]
        return np.hstack(parts)

    seen = functions(codes)
    # not `prepared`, which may penalise all directions equally: rough functions would count as much as smooth ones
    design = Linear().design(seen)

    def fit(targets: FloatArray) -> Predict:
        fitted = design.fit(seen, targets)
        return lambda given: fitted.predict(seen if given is codes else functions(given))

    return fit


def _distances(rows: FloatArray, centres: FloatArray) -> FloatArray:
    found = np.square(rows).sum(axis=1)[:, None] + np.square(centres).sum(axis=1)
    found -= rows @ (2 * centres.T)
    return np.maximum(found, 0.0, out=found)


BOOSTING = Boosting(n_trees=60, depth=3, learning_rate=0.15, min_leaf=5)

MOST_CODES_OF_TREES, FEW_ROWS_OF_TREES = 40, 2500


def _bins(n_rows: int) -> int:
    """Bins of a code: fewer of few rows, for which time is spent on bins and not on rows."""
    return FEW_BINS if n_rows < FEW_ROWS_OF_TREES else BINS


def _boosted(training: _Training) -> Callable[[FloatArray], Predict]:
    """Boosted trees on all codes or, of many, on the 40 that depend most on a target and on principal components.

    Dependence is the correlation of the code, or of its distance from the median, with the target. Every target has
    codes of its own, so that its score does not depend on other factors.
    """
    codes = training.codes
    if codes.shape[1] <= MOST_CODES_OF_TREES + MOST_COMPONENTS:
        edges = BinnedCodes.edges_of(codes, _bins(len(codes)))
        binned = BinnedCodes.at(edges, bin_numbers(edges, codes))
        return lambda targets: BOOSTING.fit(binned, targets).predict
    views = np.hstack([codes, np.abs(codes - np.median(codes, axis=0))])
    views -= views.mean(axis=0)
    norms = np.sqrt(np.einsum("ij,ij->j", views, views))
    norms[norms == 0] = np.inf

    def fit(targets: FloatArray) -> Predict:
        likeness = np.square((targets - targets.mean(axis=0)).T @ views / norms)
        likeness = likeness.reshape(len(likeness), 2, -1).max(axis=1)
        chosen = [np.sort(np.argsort(-each, kind="stable")[:MOST_CODES_OF_TREES]) for each in likeness]
        every, places = np.unique(np.concatenate(chosen), return_inverse=True)  # targets share the bins of codes
        scores = np.arange(every.size, every.size + training.variances.size)
        used = [np.concatenate([own, scores]) for own in places.reshape(len(chosen), -1)]

        def inputs(given: FloatArray) -> FloatArray:
            return np.hstack([given[:, every], training.components(given)])

        seen = inputs(codes)
        edges = BinnedCodes.edges_of(seen, _bins(len(seen)))
        bins = bin_numbers(edges, seen)
        fits = [
            BOOSTING.fit(BinnedCodes.at(tuple(edges[i] for i in own), bins[own]), target[:, None])
            for own, target in zip(used, targets.T, strict=True)
        ]

        def predict(given: FloatArray) -> FloatArray:
            found = bins if given is codes else bin_numbers(edges, inputs(given))
            return np.hstack([trees.predict_binned(found[own]) for own, trees in zip(used, fits, strict=True)])

        return predict

    return fit


PROBES: dict[str, Fit] = {"linear": _linear, "kernel": _kernel, "boosted": _boosted}


@checks_options
def probe(
    factors: object,
    codes: object,
    *,
    baseline: object = None,
    probes: str | Sequence[str] | Mapping[str, Any] = ("linear", "kernel", "boosted"),
    split: Split = "random",
    n_folds: int = 5,
    level: float = 0.95,
    rng: int = 0,
    **options: Unpack[EvidenceOptions],
) -> ProbeReport:
    """Predict every factor from the codes of every layer, by probes of increasing capacity, on the same held-out rows.

    Parameters
    ----------
    factors : table, n x d
        The true factors, as for `Evidence`.
    codes : table, n x m, or mapping of layer names to tables
        Codes of the same samples; layers may have different numbers of codes.
    baseline : as ``codes``, optional
        Codes of a twin, such as the same network before training: one table, or one for each layer by its name.
    probes : sequence of "linear", "kernel", "boosted", or mapping of names to `unweave.estimators.Probe`
        "linear" is ridge regression on all codes, and its scores are those of the metric `r2`. "kernel" is kernel ridge
        regression on principal components. "boosted" is boosted trees on the codes that correlate most with the factor
        and on principal components.
    split : {"random", "unseen combinations"}
        Random folds, or folds whose held-out rows combine ranges of factors that no training row combines: each factor
        is cut into ``n_folds`` ranges, training rows have at most one factor in the range of the fold, and held-out
        rows of a factor have this one and another one in it. Every value of every factor occurs in training.
    n_folds : int
        Number of folds.
    level : float
        Confidence level of the intervals.
    rng : int
        Seed of folds and pairings.
    **options
        Options of `Evidence`: with ``row_groups``, the rows of an episode or subject stay together in folds, random
        pairings and intervals.

    Returns
    -------
    ProbeReport
        Print it for a table; ``plot()`` draws factors x layers.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> factors = {"size": rng.normal(size=400), "angle": rng.uniform(0, 360, size=400)}
    >>> radians = np.radians(factors["angle"])
    >>> codes = np.column_stack([factors["size"], np.cos(radians), np.sin(radians)]) @ rng.normal(size=(3, 5))
    >>> report = probe(factors, codes, probes=["linear"], kinds={"angle": "circular:360"})
    >>> print(report.sentence("angle"))
    angle: linear from codes 1.00 (1.00 to 1.00); 21 training rows give 90 % of it.
    """
    check_level(level)
    recipes = _recipes(probes, rng)
    layers = dict(codes) if isinstance(codes, Mapping) else {"codes": codes}
    if not layers:
        raise InputError("There are no layers to probe: pass codes, or a mapping of layer names to codes.")
    names = [printable(name) for name in layers]
    twins = _twins(baseline, names)
    tables = {("layer", name): table for name, table in zip(names, layers.values(), strict=True)}
    tables |= {("baseline of", name): table for name, table in twins.items()}
    evidences = paired_evidences(factors, {" ".join(key): table for key, table in tables.items()}, options)
    found = dict(zip(tables, evidences.values(), strict=True))
    rows, n_rows, n_units = [], 0, 0
    for part in _by_labels(found) if split == "random" else [found]:
        task = _Task(next(iter(part.values())), split, n_folds, level, rng)
        n_rows, n_units = max(n_rows, task.evidence.n_rows), max(n_units, int(task.units.max()) + 1)
        with one_thread():
            rows += [
                row for name in names for row in task.rows(name, recipes, part["layer", name].codes, _codes(part, name))
            ]
    factor_names = next(iter(found.values())).factor_names
    ordered = sorted(rows, key=lambda row: factor_names.index(row.factor))
    return ProbeReport(factor_names, tuple(names), tuple(recipes), n_rows, n_units, split, tuple(ordered))


def _by_labels(found: dict[tuple[str, str], Evidence]) -> list[dict[tuple[str, str], Evidence]]:
    """The tables on the rows labelled for each group of factors; on the complete rows if these rows differ by table."""
    parts = [each.labelled_parts for each in found.values()]
    rows = {tuple(part.kept_rows.tobytes() for part in each) for each in parts}
    return (
        [dict(zip(found, each, strict=True)) for each in zip(*parts, strict=True)]
        if len(rows) == 1 and parts[0]
        else [found]
    )


def _codes(found: dict[tuple[str, str], Evidence], name: str) -> FloatArray | None:
    return found["baseline of", name].codes if ("baseline of", name) in found else None


def _recipes(probes: Sequence[str] | Mapping[str, Probe], seed: int) -> dict[str, Fit]:
    if isinstance(probes, Mapping):
        wrong = [name for name, recipe in probes.items() if not hasattr(recipe, "regress")]
        if wrong or not probes:
            raise OptionError("probes has to map names to probes of unweave.estimators, such as {'mine': Linear()}.")
        return {printable(name): _by_probe(recipe, seed) for name, recipe in probes.items()}
    chosen = [probes] if isinstance(probes, str) else list(probes)
    unknown = [name for name in chosen if name not in PROBES]
    if unknown or not chosen:
        what = f"{unknown[0]!r} is not a probe" if unknown else "There is no probe"
        raise OptionError(f"{what}: choose among {', '.join(PROBES)}, or map names to probes of unweave.estimators.")
    return {name: PROBES[name] for name in dict.fromkeys(chosen)}


def _twins(baseline: object, names: Sequence[str]) -> dict[str, object]:
    if baseline is None:
        return {}
    if not isinstance(baseline, Mapping):
        return dict.fromkeys(names, baseline)
    twins = {printable(name): table for name, table in baseline.items()}
    if unknown := [name for name in twins if name not in names]:
        raise OptionError(f"baseline names {unknown[0]!r}, but the layers are {', '.join(names)}: use these names.")
    return twins


class _Task:
    """Targets, folds and random pairings, which all layers and probes share."""

    def __init__(self, evidence: Evidence, split: Split, n_folds: int, level: float, seed: int) -> None:
        if not evidence.n_factors:
            raise InputError("There are no factors to predict: pass factors and codes.")
        self.evidence, self.level, self.seed, n = evidence, level, seed, evidence.n_rows
        groups = evidence.row_groups if evidence.row_groups is not None else evidence.same_rows
        self.units = np.arange(n) if groups is None else groups
        if (n_units := int(self.units.max()) + 1) < FEWEST_UNITS:
            what = "rows" if groups is None else "row groups"
            raise InputError(f"Probes need at least {FEWEST_UNITS} {what} and there are {n_units}: pass more samples.")
        constant = set(evidence.constant_factors)
        self.varying = [j for j, name in enumerate(evidence.factor_names) if name not in constant]
        self.columns = [target_columns(evidence, j) for j in self.varying]
        stops = np.cumsum([0, *(block.shape[1] for block in self.columns)])
        self.slices = [slice(a, b) for a, b in itertools.pairwise(stops.tolist())]
        self.targets = np.hstack(self.columns) if self.columns else np.empty((n, 0))
        self.folds = evidence.folds(n_folds, seed)
        self.is_tested = np.ones((len(self.folds), n, len(self.varying)), dtype=bool)
        if split != "random":
            self._hold_out_combinations(n_folds, evidence.row_groups)
        stream = random_stream(seed, "orders of probes")
        n_draws = int(np.clip(COLUMNS_DRAWN // max(stops[-1], 1), 1, 19))
        self.pairings = [shuffled_rows(n, groups, stream) for _ in range(n_draws)]
        types = np.unique(evidence.factors, axis=0, return_inverse=True)[1].ravel()
        n_types = int(types.max()) + 1
        is_repeated = split == "random" and groups is None and 2 * n_types <= n
        self.has_control = [is_repeated and np.unique(evidence.factors[:, j]).size < n_types for j in self.varying]
        # a type gets the value of a random row, so that values are as frequent as in the task
        self.controls = [stream.permutation(n)[types] for _ in range(n_draws)] if is_repeated else []
        order = stream.permutation(n_units)
        self.place = order[self.units] / n_units  # smaller training sets have whole units, each in all larger ones

    def _hold_out_combinations(self, n_folds: int, groups: Rows | None) -> None:
        """Folds of ranges: training rows have at most one factor in the range of the fold.

        Equal rows are one combination, so that only given groups of rows have to be kept together.
        """
        ranges = np.column_stack([_ranges(self.evidence, j, n_folds) for j in self.varying])
        folds = []
        for k, (train, test) in enumerate(self.folds):
            inside = ranges == k
            together = inside.sum(axis=1)
            every = np.arange(len(ranges))
            train, test = (train, test) if groups is not None else (every, every)
            folds.append((train[together[train] <= 1], test[together[test] >= 2]))
            self.is_tested[k] = inside & (together >= 2)[:, None]
        used = [k for k, (train, test) in enumerate(folds) if test.size and train.size]
        if not used or len(self.varying) < 2:
            raise InputError(
                "No rows combine ranges of two factors, so there are no unseen combinations: use split='random'."
            )
        self.folds, self.is_tested = [folds[k] for k in used], self.is_tested[used]

    def rows(
        self, layer: str, recipes: Mapping[str, Fit], codes: FloatArray, twin: FloatArray | None
    ) -> Iterator[ProbeRow]:
        """The rows of all factors and probes for one layer."""
        whole = self._predicted(recipes, codes, drawn=True)
        curves = [*(self._predicted(recipes, codes, share) for share in SHARES), whole]
        baseline = {} if twin is None else self._predicted(recipes, twin)
        for name in recipes:
            sizes = [curve[name] for curve in curves if curve[name].size]
            yield from self._rows_of_probe(layer, name, sizes, baseline.get(name, _Predictions(self)))

    def _rows_of_probe(
        self, layer: str, name: str, curve: list[_Predictions], baseline: _Predictions
    ) -> Iterator[ProbeRow]:
        whole, n_orders = curve[-1], len(self._orders(name))
        n_draws = n_orders // 2 if self.controls else n_orders
        for place, j in enumerate(self.varying):
            value = whole.value(place)
            floor = whole.value(place, range(1, n_draws + 1))
            control = whole.value(place, range(n_orders - n_draws + 1, n_orders + 1))
            reach = self._reach(*whole.sums(place), value)
            yield ProbeRow(
                *(self.evidence.factor_names[j], layer, name, value, value - reach, min(value + reach, 1.0)),
                p_value=whole.p_value(place, 1.0 if name in FITS_TOGETHER else VARIANCE_OF_OTHERS),
                floor=floor,
                control=control if self.has_control[place] else floor,
                baseline=baseline.value(place),
                accuracy=whole.accuracy(place) if self.evidence.kinds[j].is_categorical else math.nan,
                curve=tuple((part.size, part.value(place)) for part in curve),
                n_rows=self.evidence.n_rows,
            )
        for constant in self.evidence.constant_factors:
            yield ProbeRow(constant, layer, name, math.nan)

    def _orders(self, name: str) -> list[Rows]:
        """Orders of the targets for the floor of a probe, and then for its control task; one each if it is dear."""
        n_draws = len(self.pairings) if name in FITS_TOGETHER else 1
        return [*self.pairings[:n_draws], *self.controls[:n_draws]]

    def _predicted(
        self, recipes: Mapping[str, Fit], codes: FloatArray, share: float = 1.0, *, drawn: bool = False
    ) -> dict[str, _Predictions]:
        """Held-out predictions of the targets by every probe, and of random pairings if they are ``drawn``.

        They are empty if there are too few training rows. A probe that fits every pairing on its own predicts them
        fold by fold until there are enough rows.
        """
        found = {name: _Predictions(self) for name in recipes}
        for train, test in self.folds:
            kept = train[self.place[train] < share] if share < 1 else train
            if share < 1 and kept.size < FEWEST_UNITS:
                return {name: _Predictions(self) for name in recipes}
            training, held_out = _Training(codes[kept]), codes[test]
            for name, fit in recipes.items():
                is_enough = not drawn or (name not in FITS_TOGETHER and found[name].n_rows >= ROWS_DRAWN)
                orders = [] if is_enough else self._orders(name)
                both = np.hstack([self.targets, *(self.targets[order] for order in orders)])
                predict = fit(training)(both[kept])
                seen = functools.partial(predict, training.codes)
                predicted = near_training_targets(both[kept], predict(held_out), seen)
                found[name].add(test, predicted, both[test], both[kept])
        return found

    def _reach(self, errors: FloatArray, deviations: FloatArray, value: float) -> float:
        """Half width of the interval of a ratio of sums over units."""
        used = deviations > 0
        n_units = int(used.sum())
        if n_units < 2:
            return math.nan
        left = errors[used] - (1 - value) * deviations[used]
        error = math.sqrt(n_units / (n_units - 1) * float(np.square(left).sum())) / float(deviations.sum())
        return float(stats.t.ppf(0.5 + self.level / 2, n_units - 1)) * error


def _ranges(evidence: Evidence, j: int, n_ranges: int) -> NDArray[np.intp]:
    """Range of every row: levels in order, in groups of about equal size, or quantiles of values."""
    column = evidence.factors[:, j]
    levels, level, counts = np.unique(column, return_inverse=True, return_counts=True)
    if levels.size <= n_ranges:
        return np.asarray(level.ravel(), dtype=np.intp)
    below = np.cumsum(counts) - counts / 2
    return np.asarray((below * n_ranges / column.size).astype(np.intp)[level.ravel()])


class _Predictions:
    """Held-out predictions, fold by fold: rows, and predictions and targets as deviations from the training mean."""

    def __init__(self, task: _Task) -> None:
        self.task = task
        self.size, self.n_rows = 0, 0  # training rows of the first fold, and rows predicted so far
        self.folds: list[tuple[Rows, FloatArray, FloatArray, FloatArray]] = []

    def add(self, rows: Rows, predicted: FloatArray, targets: FloatArray, training: FloatArray) -> None:
        """Predictions of one more fold."""
        mean = training.mean(axis=0)
        self.size, self.n_rows = self.size or len(training), self.n_rows + rows.size
        self.folds.append((rows, predicted - mean, targets - mean, mean))

    def tested(self, place: int, draw: int = 0) -> tuple[Rows, FloatArray, FloatArray]:
        """Tested rows, predictions and targets of one factor; draw 0 is the task itself."""
        first = self.task.slices[place].start + draw * self.task.targets.shape[1]
        columns, found = slice(first, first + self.task.columns[place].shape[1]), []
        for (rows, predicted, targets, _), is_tested in zip(self.folds, self.task.is_tested, strict=True):
            if columns.stop <= predicted.shape[1]:  # a random pairing may not be predicted in all folds
                kept = is_tested[rows, place]
                found.append((rows[kept], predicted[kept, columns], targets[kept, columns]))
        rows, predicted, targets = map(np.concatenate, zip(*found, strict=True))
        return rows, predicted, targets

    def sums(self, place: int) -> tuple[FloatArray, FloatArray]:
        """Squared errors, and squared deviations from the training mean, of every unit."""
        rows, predicted, targets = self.tested(place)
        errors, squares = np.square(targets - predicted).sum(axis=1), np.square(targets).sum(axis=1)
        units = self.task.units[rows]
        return np.asarray(np.bincount(units, errors), np.float64), np.asarray(np.bincount(units, squares), np.float64)

    def value(self, place: int, draws: Iterable[int] = (0,)) -> float:
        """Held-out R2, mean over draws; nan without predictions or without variance."""
        scores = []
        for _, predicted, targets in (self.tested(place, draw) for draw in draws if self.folds):
            total = float(np.square(targets).sum())
            scores.append(1 - float(np.square(targets - predicted).sum()) / total if total > 0 else math.nan)
        return float(np.mean(scores)) if scores else math.nan

    def accuracy(self, place: int) -> float:
        """Share of rows whose class has the largest predicted indicator."""
        own, hits = self.task.slices[place], []
        for (rows, predicted, targets, mean), is_tested in zip(self.folds, self.task.is_tested, strict=True):
            labels = ((each[:, own] + mean[own]).argmax(axis=1) for each in (predicted, targets))
            hits.append(np.equal(*labels)[is_tested[rows, place]])
        return float(np.concatenate(hits).mean())

    def p_value(self, place: int, variance: float) -> float:
        """Share of orders of the tested rows in which these predictions have at most this error; units stay whole.

        ``variance`` is how much more the agreement varies over data than over orders.
        """
        rows, predicted, targets = self.tested(place)
        units = renumbered(self.task.units[rows])
        if int(units.max(initial=0)) < 1:
            return math.nan
        groups = None if int(units.max()) + 1 == rows.size else units
        stream, agreement = random_stream(self.task.seed, "orders of predictions"), float((predicted * targets).sum())
        orders = (shuffled_rows(rows.size, groups, stream) for _ in range(N_ORDERS))
        by_chance = np.array([float((predicted * targets[order]).sum()) for order in orders])
        mean = float(by_chance.mean()) if variance > 1 else 0.0
        as_good = mean + math.sqrt(variance) * (by_chance - mean) >= agreement - 1e-12 * abs(agreement)
        return float((1 + as_good.sum()) / (1 + N_ORDERS))
