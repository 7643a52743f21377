"""Scores as torchmetrics: `update` with batches, `compute` at the end, state that merges over processes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from typing import Any, Unpack

import numpy as np

from unweave.card.decorator import metric_of
from unweave.errors import InputError, OptionError, UnweaveError
from unweave.evaluation import evaluate
from unweave.evaluation.choose import MetricChoice, chosen_metrics
from unweave.evidence import EvidenceOptions, Posterior

try:
    import torch
    from torch import Tensor
    from torchmetrics import Metric
    from torchmetrics.utilities import dim_zero_cat
except ImportError:
    raise ImportError("This needs torch and torchmetrics: pip install 'unweave[torchmetrics]'.") from None


class RepresentationScores(Metric):
    """Several scores of a representation from batches of factors and codes.

    Parameters
    ----------
    metrics : names, metrics or partial functions
        As for `evaluate`.
    **options
        Options of `Evidence`, such as ``kinds`` and ``factor_names``. Options of torchmetrics, such as
        ``dist_sync_on_step`` and ``process_group``, are passed on.

    Notes
    -----
    Processes are merged by concatenating their rows. The order of the rows then differs from that in one process, which
    matters for metrics with a random split, and samplers that fill the last batch repeat rows. If ``rows``, the indices
    of the samples, are passed to `update`, every sample counts once and in order. A metric that fails is nan, with a
    warning.

    Examples
    --------
    >>> scores = RepresentationScores(["mcc", "r2"])
    >>> factors = torch.rand(200, 2, generator=torch.Generator().manual_seed(0))
    >>> for batch in factors.split(50):
    ...     scores.update(batch, 2 * batch)
    >>> {name: round(float(value), 3) for name, value in scores.compute().items()}
    {'mcc': 1.0, 'r2': 1.0}
    """

    is_differentiable = False
    higher_is_better: bool | None = None
    full_state_update: bool | None = False
    factors: list[Tensor]
    codes: list[Tensor]
    std: list[Tensor]
    rows: list[Tensor]

    def __init__(self, metrics: MetricChoice | Iterable[MetricChoice], **options: Any) -> None:
        known = EvidenceOptions.__annotations__
        super().__init__(**{name: value for name, value in options.items() if name not in known})
        self.chosen = chosen_metrics(metrics)
        self.options: dict[str, Any] = {name: value for name, value in options.items() if name in known}
        for state in ("factors", "codes", "std", "rows"):
            self.add_state(state, default=[], dist_reduce_fx="cat")

    def update(self, factors: Tensor, codes: Tensor, std: Tensor | None = None, rows: Tensor | None = None) -> None:
        """Add a batch: factors (n x d), codes (n x m), standard deviations of a posterior, and sample indices.

        The factors come first, as everywhere in unweave; torchmetrics' own metrics take the prediction first. Name
        the arguments where both are used. Factors and codes that look exchanged are asked about in `compute`.
        """
        batch = {"factors": factors, "codes": codes, "std": std, "rows": rows}
        sizes = {state: len(given) for state, given in batch.items() if given is not None}
        if len(set(sizes.values())) > 1:
            counts = ", ".join(f"{n} rows of {state}" for state, n in sizes.items())
            raise InputError(f"The parts of a batch have different lengths ({counts}): pass the same samples.")
        for state, given in batch.items():
            if given is not None:
                wide = given.detach().reshape(len(given), -1)
                getattr(self, state).append(wide if state == "rows" else wide.double())

    def compute(self) -> Any:
        """The value of every metric, on all rows of all processes."""
        values = self._values()
        return {label: torch.tensor(value, device=self.device) for label, value in values.items()}

    def _values(self) -> dict[str, float]:
        table = {state: self._joined(state) for state in ("factors", "codes", "std", "rows")}
        if table["factors"] is None:
            return dict.fromkeys(self.chosen, math.nan)
        if table["rows"] is not None:
            first = np.unique(table["rows"][:, 0], return_index=True)[1]  # of each sample, by its index
            table = {state: None if part is None else part[first] for state, part in table.items()}
        codes, std = table["codes"], table["std"]
        try:
            shown = codes if std is None else Posterior(codes, std)
            chosen = list(self.chosen.values())
            evaluation = evaluate(table["factors"], shown, metrics=chosen, quick=True, progress=False, **self.options)
        except UnweaveError as error:
            warnings.warn(str(error), stacklevel=4)  # torchmetrics wraps compute
            return dict.fromkeys(self.chosen, math.nan)
        for row in evaluation.rows:
            if row.problem is not None:
                warnings.warn(str(row.problem), stacklevel=4)
        return {row.label: math.nan if row.score is None else row.score.value for row in evaluation.rows}

    def plot(self, val: Any = None, ax: Any = None) -> Any:
        """Plot the values: of `compute`, or those given, one for each step if there are several (needs matplotlib)."""
        return self._plot(val, ax)

    def _joined(self, state: str) -> Any:
        parts = getattr(self, state)
        return dim_zero_cat(parts).cpu().numpy() if len(parts) else None


class RepresentationScore(RepresentationScores):
    """One score, whose `compute` returns a number, for `MetricCollection` and Lightning's ``self.log``.

    Parameters
    ----------
    metric : name, metric or partial function
        Such as ``"mcc"`` or ``"mcc:correlation=spearman"``.
    **options
        As for `RepresentationScores`.

    Examples
    --------
    >>> from torchmetrics import MetricCollection
    >>> both = MetricCollection({"mcc": RepresentationScore("mcc"), "mig": RepresentationScore("mig")})
    >>> factors = torch.rand(200, 2, generator=torch.Generator().manual_seed(0))
    >>> both.update(factors, factors)
    >>> round(float(both.compute()["mcc"]), 3)
    1.0
    """

    def __init__(self, metric: MetricChoice, **options: Unpack[EvidenceOptions]) -> None:
        super().__init__([metric], **options)
        if len(self.chosen) > 1:
            several = ", ".join(self.chosen)
            raise OptionError(f"{metric!r} stands for {several}: name one of them, or use RepresentationScores.")

    @property
    def higher_is_better(self) -> bool:  # type: ignore[override]
        """Whether the best score is the largest one."""
        (entry,) = self.chosen.values()
        return not metric_of(entry).card.lower_is_better

    def compute(self) -> Tensor:
        """The value on all rows of all processes."""
        (value,) = self._values().values()
        return torch.tensor(value, device=self.device)
