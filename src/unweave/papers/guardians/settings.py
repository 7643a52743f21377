"""`Setting`: one cell of an experiment of 003 in the paper's terms, with its world and encoder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unweave.papers.guardians.worlds_and_encoders import Coupled, ElementwiseByOne, ReleasedCorrelated
from unweave.synthetic.encoders import (
    Copied,
    Distributed,
    Elementwise,
    Kept,
    Mixed,
    Noise,
    PermutedAndScaled,
    WithMixedExtras,
)
from unweave.synthetic.encoders.released import (
    ReleasedDistributed,
    ReleasedElementwise,
    ReleasedElementwiseCopies,
    ReleasedKept,
    ReleasedMixed,
    ReleasedNoise,
)
from unweave.synthetic.functions import TWO_FACTORS
from unweave.synthetic.worlds import Correlated, Independent, OneFactorConstraint, TwoFactorConstraint

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
            case "D3" if self.run.startswith("exp05"):
                return _coupled(self.d, self.alpha, self.fn)
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


def _coupled(d: int, alpha: float | None, fn: str) -> Coupled:
    """Return a world of the fifth experiment, in which the second factor is a function of the first."""
    if fn == "linear":
        return Coupled(d, 0.0)
    return Coupled(d, 1.0 if alpha is None else alpha, "cube" if fn == "cube" else "tanh")
