"""Settings, worlds, encoders and sweeps of 003."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, get_args

import numpy as np

from unweave.arrays import FloatArray
from unweave.sweeps import Cell, Sweep
from unweave.synthetic.encoders import (
    ONE_FACTOR,
    TWO_FACTORS,
    Copied,
    Distributed,
    Elementwise,
    Kept,
    Mixed,
    Noise,
    PermutedAndScaled,
    WithMixedExtras,
)
from unweave.synthetic.released import (
    ReleasedDistributed,
    ReleasedElementwise,
    ReleasedElementwiseCopies,
    ReleasedKept,
    ReleasedMixed,
    ReleasedNoise,
)
from unweave.synthetic.worlds import Constraint, Correlated, Independent, OneFactorConstraint, Rng, TwoFactorConstraint
from unweave_papers.paper003.protocols import ALL, SUITE, ProtocolName, metrics_and_protocol

FUNCTIONS = {"tanh": np.tanh, "sinh": np.sinh}


@dataclass(frozen=True)
class Coupled:
    """D_f whose constraint is blended with the identity: (z1, (1 - alpha) z1 + alpha f(z1), z2, ...).

    >>> factors = Coupled(3, alpha=0.0).sample(5, rng=0)
    >>> bool((factors[:, 0] == factors[:, 1]).all())
    True
    """

    n_factors: int = 5
    alpha: float = 1.0
    function: str = "tanh"

    @property
    def factor_names(self) -> tuple[str, ...]:
        """Names of the factors: z1, z2, ..."""
        return tuple(f"z{j + 1}" for j in range(self.n_factors))

    @property
    def effective_dimension(self) -> int:
        """Number of factors without the second, which is determined by the first."""
        return self.n_factors - 1

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The constraint on the second factor."""
        sentence = f"z2 = {1 - self.alpha:g} z1 + {self.alpha:g} ({ONE_FACTOR[self.function].formula})"
        return (Constraint(1, (0,), sentence, invertible=True),)

    def sample(self, n_rows: int, rng: Rng = 0) -> FloatArray:
        """Draw rows of factors, n x d."""
        free = Independent(self.n_factors - 1).sample(n_rows, rng)
        first = free[:, 0]
        second = (1 - self.alpha) * first + self.alpha * ONE_FACTOR[self.function](first)
        return np.column_stack([first, second, free[:, 1:]])


@dataclass(frozen=True)
class ReleasedCorrelated(Correlated):
    """`Correlated` with draws by numpy's ``multivariate_normal``, as in the released code.

    The distribution is the same. For two factors, a seed gives the same draws as the released code. For more factors,
    the draws depend on the principal axes that the linear algebra library chooses among those of equal variance.

    >>> ReleasedCorrelated(2, rho=0.5).sample(3, rng=0).shape
    (3, 2)
    """

    def sample(self, n_rows: int, rng: Rng = 0) -> FloatArray:
        """Draw rows of factors, n x d."""
        covariance = np.full((self.n_factors, self.n_factors), float(self.rho))
        np.fill_diagonal(covariance, 1.0)
        return np.random.default_rng(rng).multivariate_normal(np.zeros(self.n_factors), covariance, size=n_rows)


@dataclass(frozen=True)
class ElementwiseByOne(Elementwise):
    """`Elementwise` with the same increasing function for all codes, tanh or sinh.

    >>> ElementwiseByOne(alpha=1.0, function="tanh").encode(np.array([[0.5, 0.5]]), rng=0).round(3).tolist()
    [[0.462, 0.462]]
    """

    function: str = "tanh"

    def bent(self, columns: FloatArray) -> FloatArray:
        """Apply the function to each column."""
        return np.asarray(FUNCTIONS[self.function](columns))


COLUMNS = ("run", "sweep", "dgp", "encoder", "n", "d", "m", "rho", "kappa", "alpha", "fn", "r")

# two invertible functions, used alternately; the text names only the cube
CONSTRAINTS = ("cube", "tanh")


@dataclass(frozen=True)
class Setting:
    """One cell: its world (D1 to D4), encoder (E1 to E10) and their parameters, named as in the authors' tables.

    ``m`` is the requested number of codes. ``m_released`` is the number of codes that the released code returned, if it
    ignored ``m``. E9 is the Gaussian null encoder and E10 the uniform one, as in the released code (the text calls the
    uniform one E9). ``released`` selects the world and encoder of the released code instead of those of the text.

    >>> setting = Setting("exp06", "6a", dgp="D3", encoder="E4", d=10, m=9)
    >>> setting.encoder_of(released=False)
    Kept(kept=(0, 2, 3, 4, 5, 6, 7, 8, 9))
    >>> setting.encoder_of(released=True)
    ReleasedKept(codes=9)
    """

    run: str
    sweep: str = ""
    dgp: str = "D1"
    encoder: str = "E1"
    n: int = 1000
    d: int = 5
    m: int = 5
    rho: float | None = None
    kappa: float | None = None
    alpha: float | None = None
    fn: str = ""
    r: int | None = None
    m_released: int | None = None

    @property
    def key(self) -> tuple[Any, ...]:
        """Values of all columns, which are unique within the experiment."""
        return tuple(getattr(self, name) for name in COLUMNS)

    @property
    def labels(self) -> dict[str, Any]:
        """Columns for the table of a sweep, which already has the number of rows."""
        named = {name: getattr(self, name) for name in COLUMNS if name not in ("n", "dgp")}
        return {"world": self.dgp, **named}

    @property
    def codes_released(self) -> int:
        """Number of codes in the released code's run."""
        return self.m if self.m_released is None else self.m_released

    def world_of(self, released: bool) -> Any:
        """Return the world. The constraint of D3 is z1^3 in the text and tanh(2 z1^3 - .1) in the released code."""
        match self.dgp:
            case "D1":
                return Independent(self.d)
            case "D2":
                rho = 0.5 if self.rho is None else self.rho
                return ReleasedCorrelated(self.d, rho) if released else Correlated(self.d, rho)
            case "D3" if self.run.startswith("exp05"):  # the second factor is a function of the first
                alpha = 0.0 if self.fn == "linear" else self._alpha
                return Coupled(self.d, alpha, "cube" if self.fn == "cube" else "tanh")
            case "D3" if released:
                return OneFactorConstraint(self.d, ("tanh",))  # the released code ignores r
            case "D3":
                return OneFactorConstraint(self.d, tuple(CONSTRAINTS[k % 2] for k in range(self.r or 1)))
            case _:
                return TwoFactorConstraint(self.d, tuple(TWO_FACTORS)[: self.r or 1])

    def encoder_of(self, released: bool) -> Any:
        """Return the encoder, which maps factors to codes."""
        return self._encoder_of_the_code() if released else self._encoder_of_the_text()

    def _encoder_of_the_text(self) -> Any:
        match self.encoder:
            case "E1":
                return PermutedAndScaled()
            case "E2":
                return ElementwiseByOne(self._alpha, self.fn) if self.fn else Elementwise(self._alpha)
            case "E3" | "E7":
                return Mixed(self._kappa, self.m / self.d)
            case "E4":
                return Kept(self._kept())
            case "E5":
                return Copied(self.m / self.d)
            case "E6":
                return WithMixedExtras(self.m / self.d)
            case "E8":
                return Distributed(self.m // self.d)
            case _:
                return Noise(self.m, "gaussian" if self.encoder == "E9" else "uniform")

    def _encoder_of_the_code(self) -> Any:
        match self.encoder:
            case "E2":
                return ReleasedElementwise(self._alpha)  # the released code ignores fn
            case "E3":
                return ReleasedMixed(self._kappa)
            case "E4":
                return ReleasedKept(self.m)
            case "E6":
                return ReleasedElementwiseCopies(self.m / self.d)
            case "E8":
                return ReleasedDistributed(self.m // self.d)
            case "E9":
                return Noise(self.codes_released, "gaussian")
            case "E10":
                return ReleasedNoise(self.codes_released)
            case _:
                return self._encoder_of_the_text()

    @property
    def _kappa(self) -> float:
        return self.kappa or 10.0

    @property
    def _alpha(self) -> float:
        return 1.0 if self.alpha is None else self.alpha

    def _kept(self) -> tuple[int, ...]:
        """Kept factors, as in the text: determined factors are dropped first, then the last ones."""
        constraints = self.world_of(released=False).constraints
        determined = sorted(entry.determined for entry in constraints)
        free = [j for j in range(self.d) if j not in determined]
        return tuple(sorted([*free, *determined][: self.m]))


FIRST_SEED = 42
WORLDS = {"D1": 0.0, "D2": 0.5, "D3": None, "D4": None}  # to the correlation stated in the tables
ALPHAS = (0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
COUPLINGS = (0.0, 0.02, 0.05, 0.08, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.99)
CORRELATIONS = (-0.99, *(k / 10 for k in range(-9, 10)), 0.99)
CONDITIONS = (1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 50.0)
SIZES = ((2, 100, ""), (5, 1000, "_d5"), (10, 1000, "_d10"))
ROWS = (50, 100, 200, 500, 1000, 2000, 5000)
TIMES = "\N{MULTIPLICATION SIGN}"  # used in the names of the null experiments' arms
RATIOS = (1.5, 2, 3, 5, 10)


@dataclass(frozen=True)
class DeclaredSweep:
    """An experiment of the paper: its settings, the metrics in its tables, and its number of seeds."""

    name: str
    title: str
    settings: tuple[Setting, ...]
    metrics: tuple[str, ...] = SUITE
    n_seeds: int = 5

    def sweep(
        self,
        protocol: ProtocolName,
        settings: Iterable[Setting] | None = None,
        metrics: tuple[str, ...] | None = None,
        seeds: Iterable[int] | None = None,
    ) -> Sweep:
        """Return the sweep of these settings, metrics and seeds (all of the experiment by default)."""
        chosen_seeds = range(FIRST_SEED, FIRST_SEED + self.n_seeds) if seeds is None else list(seeds)
        cells = []
        for setting in self.settings if settings is None else settings:
            world, encoder = (make(protocol == "authors") for make in (setting.world_of, setting.encoder_of))
            chosen, how = metrics_and_protocol(protocol, setting.run, metrics or self.metrics)
            cells += [Cell(world, encoder, setting.n, seed, chosen, how, setting.labels) for seed in chosen_seeds]
        return Sweep(f"003-{self.name}-{protocol}", tuple(cells))


def _feasible(d: int) -> tuple[float, ...]:
    """Correlations for which the correlation matrix of d factors is positive semidefinite."""
    return tuple(rho for rho in CORRELATIONS if rho >= -1 / (d - 1))


def _sanity() -> Iterator[Setting]:
    for d, run in ((5, "exp01"), (10, "exp01_d10"), (20, "exp01_d20")):
        yield from (Setting(run, dgp=dgp, d=d, m=d, rho=rho) for dgp, rho in WORLDS.items())


def _nonlinearity() -> Iterator[Setting]:
    for (d, run), fn, alpha in itertools.product(((5, "exp02"), (10, "exp02_d10")), ("tanh", "sinh"), ALPHAS):
        yield Setting(run, encoder="E2", d=d, m=d, alpha=alpha, fn=fn)


def _correlation() -> Iterator[Setting]:
    for d, n, ending in SIZES:
        for encoder, rho in itertools.product(("E1", "E3"), _feasible(d)):
            kappa = 10.0 if encoder == "E3" else None
            yield Setting(f"exp03{ending}", dgp="D2", encoder=encoder, n=n, d=d, m=d, rho=rho, kappa=kappa)


def _correlation_and_mixing() -> Iterator[Setting]:
    for d, n, ending in SIZES:
        shown = [rho for rho in _feasible(d) if rho in (-0.9, -0.5, -0.3, 0.0, 0.3, 0.5, 0.9)]
        for rho, kappa in itertools.product(shown, CONDITIONS):
            yield Setting(f"exp04{ending}", dgp="D2", encoder="E3", n=n, d=d, m=d, rho=rho, kappa=kappa)


def _predictability() -> Iterator[Setting]:
    for d, run in ((5, "exp05"), (10, "exp05_d10")):
        yield from (Setting(run, "d2", "D2", d=d, m=d, rho=rho) for rho in COUPLINGS)
        blend = "(1-a)x+a*tanh(2x^3-0.1)"
        yield from (Setting(run, "d3", "D3", d=d, m=d, alpha=alpha, fn=blend) for alpha in COUPLINGS)
    yield from (Setting("exp05", "d3_fns", "D3", fn=fn) for fn in ("linear", "cube", "tanh modified"))


def _dropped_factors() -> Iterator[Setting]:
    functions = {"D3": "tanh(2x^3-0.1)", "D4": "x*y"}
    for (dgp, rho), m in itertools.product(WORLDS.items(), range(10, 0, -1)):
        encoder = "E1" if m == 10 else "E4"
        yield Setting("exp06", "6a", dgp, encoder, d=10, m=m, rho=rho, fn=functions.get(dgp, ""))
    for dgp, d in itertools.product(("D1", "D2"), range(3, 12)):
        yield Setting("exp06", "6b", dgp, "E1" if d == 3 else "E4", d=d, m=3, rho=WORLDS[dgp])


def _redundancy() -> Iterator[Setting]:
    for dgp, r, m in itertools.product(("D3", "D4"), (1, 2, 3, 4), range(9, 2, -1)):
        yield Setting("exp07", dgp=dgp, encoder="E4", d=10, m=m, r=r)


def _fixed_sizes(run: str, encoders: tuple[str, ...], d: int, n: int, worlds: tuple[str, ...]) -> Iterator[Setting]:
    codes = {"E5": d + 1, "E6": d + 1, "E7": 2 * d, "E8": 2 * d}
    for dgp, encoder in itertools.product(worlds, encoders):
        kappa = 10.0 if encoder in ("E3", "E7") else None
        yield Setting(run, "fixed", dgp, encoder, n, d, codes.get(encoder, d), rho=WORLDS[dgp], kappa=kappa)


def _ratios(run: str) -> Iterator[Setting]:
    yield Setting(run, "ratio")
    yield Setting(run, "ratio", encoder="E3", kappa=10.0)
    for encoder, ratio in itertools.product(("E5", "E6", "E7", "E8"), RATIOS):
        if encoder == "E8" and ratio == 1.5:
            continue  # E8 needs at least two codes per factor
        kappa = 10.0 if encoder == "E7" else None
        yield Setting(
            run, "ratio", encoder=encoder, m=round(ratio * 5), kappa=kappa
        )  # round(7.5) is 8, so this m/d is 1.6 and not 1.5


def _encoding_types(run: str, encoders: tuple[str, ...], n_at_20: int) -> Iterator[Setting]:
    yield from _fixed_sizes(run, encoders, 5, 1000, tuple(WORLDS))
    yield from _fixed_sizes(f"{run}_d20", encoders, 20, n_at_20, ("D1",))
    yield from _ratios(f"{run}_ratio")


def _rows() -> Iterator[Setting]:
    for (dgp, rho), encoder, n in itertools.product(WORLDS.items(), ("E1", "E2", "E3", "E7"), ROWS):
        kappa, m = (10.0 if encoder in ("E3", "E7") else None), (10 if encoder == "E7" else 5)
        yield Setting("exp10", dgp=dgp, encoder=encoder, n=n, m=m, rho=rho, kappa=kappa)


def _null_rows() -> Iterator[Setting]:
    arms = {"E10": ("E10", 5), "E9": ("E9", 5), "E9(m=200)": ("E9", 200), "E9(m=50)": ("E9", 50)}
    for dgp, (arm, (encoder, m)), n in itertools.product(("D1", "D2"), arms.items(), (*ROWS, 10_000)):
        yield Setting("exp11", f"{dgp}{TIMES}{arm}", dgp, encoder, n, 5, m, rho=WORLDS[dgp], m_released=5)


def _structural_ratio() -> Iterator[Setting]:
    for (dgp, rho), m in itertools.product(WORLDS.items(), range(30, 2, -1)):
        encoder = "E5" if m > 10 else "E1" if m == 10 else "E4"
        yield Setting("exp12", "6a", dgp, encoder, d=10, m=m, rho=rho)
    for dgp, d in itertools.product(("D1", "D2"), range(1, 11)):
        encoder = "E5" if d < 3 else "E1" if d == 3 else "E4"
        yield Setting("exp12", "6b", dgp, encoder, d=d, m=3, rho=WORLDS[dgp])


def _sample_ratio() -> Iterator[Setting]:
    for d, share in itertools.product((3, 5, 10, 20), (0.02, 0.05, 0.1, 0.2)):
        yield Setting("exp13", n=round(d / share), d=d, m=d)


def _two_sweeps() -> Iterator[Setting]:
    yield from (Setting("exp14", "sweep_a", encoder="E4", d=10, m=m) for m in (1, 3, 5, 7, 9))
    yield from (Setting("exp14", "sweep_b", encoder="E4", n=n, d=10) for n in (2000, 1000, 500, 200, 100, 50))


def _null_grid() -> Iterator[Setting]:
    june = {"exp15": ("phase_old_fixed_d", "E9")}
    june |= {f"exp15_{code.lower()}@8402085(June)": ("phase_june_fixed_d", code) for code in ("E9", "E10")}
    for (run, (sweep, encoder)), m in itertools.product(june.items(), (5, 10, 20, 50, 100, 200)):
        for share in (0.01, 0.05, 0.1, 0.5, 1.0, 5.0):
            yield Setting(run, sweep, encoder=encoder, n=round(m / share), d=10, m=m, m_released=10)
    for encoder, d in itertools.product(("E9", "E10"), (100, 50, 25, 10, 5)):
        for n in (5000, 1000, 500, 100, 50, 25, 10):
            yield Setting(f"exp15_{encoder.lower()}", "phase_fixed_m50", encoder=encoder, n=n, d=d, m=50)
    for encoder, m, n in itertools.product(("E9", "E10"), (10, 50, 200), (20, 50, 100, 200, 500, 1000, 2000, 5000)):
        yield Setting(f"exp15_collapse_{encoder.lower()}", "collapse", encoder=encoder, n=n, d=10, m=m)


_DECLARED: dict[str, tuple[str, Callable[[], Iterator[Setting]]]] = {
    "exp01": ("perfect encoders", _sanity),
    "exp02": ("elementwise nonlinearity", _nonlinearity),
    "exp03": ("correlated factors", _correlation),
    "exp04": ("correlation against mixing", _correlation_and_mixing),
    "exp05": ("factors that are predicted by others", _predictability),
    "exp06": ("dropped factors", _dropped_factors),
    "exp07": ("redundancy against compression", _redundancy),
    "exp08": ("kinds of codes", partial(_encoding_types, "exp08", ("E1", "E5", "E6", "E8"), 1000)),
    "exp09": ("more codes than factors", partial(_encoding_types, "exp09", ("E3", "E5", "E6", "E7", "E8"), 1600)),
    "exp10": ("number of rows", _rows),
    "exp11": ("null encoders and rows", _null_rows),
    "exp12": ("does m/d determine the scores?", _structural_ratio),
    "exp13": ("does d/n determine the scores?", _sample_ratio),
    "exp14": ("codes and rows", _two_sweeps),
    "exp15": ("null encoders: m/d and m/n", _null_grid),
}

SWEEPS = {
    name: DeclaredSweep(
        name,
        title,
        tuple(settings()),
        ALL if name in ("exp12", "exp13", "exp14") else SUITE,
        10 if name in ("exp13", "exp14") else 5,
    )
    for name, (title, settings) in _DECLARED.items()
}


def cell(run: str, **columns: Any) -> Setting:
    """Return the only cell of an experiment's run that has these values in these columns.

    >>> cell("exp06", sweep="6a", dgp="D3", m=9).encoder
    'E4'
    """
    settings = SWEEPS[run.partition("_")[0].partition("@")[0]].settings
    matching = [
        setting
        for setting in settings
        if setting.run == run and all(getattr(setting, name) == value for name, value in columns.items())
    ]
    if len(matching) != 1:
        raise ValueError(f"{len(matching)} cells of {run} have {columns}: name more columns.")
    return matching[0]


# seeds of a claim's figure, unless its row says otherwise: as many as a few CPU seconds allow
SEEDS = {"DCI-D": 10, "DCI-C": 10, "DCI-I": 10, "T-MEX": 20, "InfoM": 30, "InfoC": 30, "InfoE": 30}
MOST_SEEDS = 100


def scored_cells(
    *,
    name: str,
    seeds: int | None = None,
    protocol: ProtocolName = "authors",
    minus: Mapping[str, Any] | None = None,
    **columns: Any,
) -> Iterator[tuple[str, str, tuple[Any, ...]]]:
    """Yield the figures of a claim's row: their names, and functions of the paper's evidence with arguments.

    A column with a list stands for a cell for each of its values; of several lists, the last changes fastest. With
    ``minus``, a figure is the difference from the cell in which these columns have other values.

    >>> [name for name, *_ in scored_cells(name="{metric}, n = {n}", metric=["R2", "MIG"], run="exp13", d=3, n=60)]
    ['R2, n = 60', 'MIG, n = 60']
    """
    lists = [value if isinstance(value, list) else [value] for value in columns.values()]
    for values in itertools.product(*lists):
        chosen = {"protocol": protocol, **dict(zip(columns, values, strict=True))}
        setting, metric, how = one = _scored_cell(**chosen)
        n_seeds = seeds or SEEDS.get(metric, MOST_SEEDS)
        ratios = {"m_per_d": setting.m / setting.d, "m_per_n": setting.m / setting.n}
        named = name.format(metric=metric, **vars(setting), **ratios)
        if minus is None:
            yield named, "figure", (setting, metric, how, n_seeds)
        else:
            yield named, "difference", (one, _scored_cell(**{**chosen, **minus}), n_seeds)


def _scored_cell(metric: str, protocol: ProtocolName, **columns: Any) -> tuple[Setting, str, ProtocolName]:
    if unknown := set(columns) - {*COLUMNS}:
        raise ValueError(f"{', '.join(sorted(unknown))} is not a column of 003")
    if protocol not in get_args(ProtocolName):
        raise ValueError(f"{protocol!r} is not a protocol of 003")
    if metric not in ALL:
        raise ValueError(f"{metric!r} is not a metric of 003")
    return cell(**columns), metric, protocol
