"""`Setting`: one cell of an experiment of 003 in the paper's own terms, and the world and encoder it stands for."""

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
# two invertible functions in turn, where the text names only the cube
CONSTRAINTS = ("cube", "tanh")


@dataclass(frozen=True)
class Setting:
    """One cell: which world (D1 to D4) and encoder (E1 to E10) with which parameters, as the authors' tables name it.

    ``m`` is the number of codes that was asked for; ``m_released`` the number that the released code gave where it
    dropped the wish. E9 is the Gaussian null and E10 the uniform one, as in the code (the text calls the uniform one
    E9). ``released`` says whether world and encoder are those of the code or of the text.

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
        """What tells it from every other cell of its experiment."""
        return tuple(getattr(self, name) for name in COLUMNS)

    @property
    def labels(self) -> dict[str, Any]:
        """Columns of the table of a sweep (which has the number of rows itself)."""
        named = {name: getattr(self, name) for name in COLUMNS if name not in ("n", "dgp")}
        return {"world": self.dgp, **named}

    @property
    def codes_released(self) -> int:
        """Codes that the released code gave."""
        return self.m if self.m_released is None else self.m_released

    def world_of(self, released: bool) -> Any:
        """The factors: Gaussian in both variants; the constraint of D3 is z1^3 in the text, tanh in the code."""
        match self.dgp:
            case "D1":
                return Independent(self.d)
            case "D2":
                rho = 0.5 if self.rho is None else self.rho
                return ReleasedCorrelated(self.d, rho) if released else Correlated(self.d, rho)
            case "D3" if self.run.startswith("exp05"):
                return _coupled(self.d, self.alpha, self.fn)
            case "D3" if released:
                return OneFactorConstraint(self.d, ("tanh",))  # r never reached it
            case "D3":
                return OneFactorConstraint(self.d, tuple(CONSTRAINTS[k % 2] for k in range(self.r or 1)))
            case _:
                return TwoFactorConstraint(self.d, tuple(TWO_FACTORS)[: self.r or 1])

    def encoder_of(self, released: bool) -> Any:
        """The map from factors to codes."""
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
                return ReleasedElementwise(self._alpha)  # fn never reached it
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
        """As the text has it: factors that others determine are dropped first, then the last ones."""
        constraints = self.world_of(released=False).constraints
        determined = sorted(entry.determined for entry in constraints)
        free = [j for j in range(self.d) if j not in determined]
        return tuple(sorted([*free, *determined][: self.m]))


def _coupled(d: int, alpha: float | None, fn: str) -> Coupled:
    """Worlds of the fifth experiment, where the second factor follows the first more or less straight."""
    if fn == "linear":
        return Coupled(d, 0.0)
    return Coupled(d, 1.0 if alpha is None else alpha, "cube" if fn == "cube" else "tanh")
