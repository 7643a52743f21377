"""The table that `unweave geometry` prints: the latents sorted by importance, with their shared information."""

from __future__ import annotations

import numpy as np
from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from unweave.evaluation import Evaluation
from unweave.evidence import EvidenceError
from unweave.metrics.geometry.spectrum import Spectrum
from unweave.words.phrases import counted

MOST_ROWS = 30


def geometry_table(found: Spectrum, evaluation: Evaluation, keep: float | None = None) -> Group:
    """Return the totals and a table of the 30 most important latents.

    If ``keep`` is given, a sentence says how many latents are needed to keep this number of nats.
    """
    matrix = evaluation["manifold_mutual_information"].parts["matrix"]
    partners = np.nan_to_num(matrix, nan=-1.0).argmax(axis=1)
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("latent", "entropy", "+-", "kept so far", "shares most with", "nats"):
        shown.add_column(heading, justify="left" if heading in ("latent", "shares most with") else "right")
    for rank, i in enumerate(found.order[:MOST_ROWS]):
        kept = f"{found.cumulative[rank]:.3f}" if rank < len(found.cumulative) else ""
        partner = (found.names[partners[i]], f"{matrix[i, partners[i]]:.3f}") if len(found.names) > 1 else ("", "")
        shown.add_row(
            found.names[i], f"{found.entropies[i]:.3f}", f"{found.standard_errors[i]:.3f}", kept, partner[0], partner[1]
        )
    notes = list(evaluation.notes)
    rest = len(found.names) - MOST_ROWS
    are = "is" if rest == 1 else "are"
    return Group(
        Text(_heading(found, evaluation)),
        shown,
        *([Text(f"{counted(rest, 'latent')} with less entropy {are} not shown.")] if rest > 0 else []),
        *([Text(_answer(found, keep))] if keep is not None else []),
        *(Text(sentence, style="dim") for sentence in notes),
    )


def _heading(found: Spectrum, evaluation: Evaluation) -> str:
    size, (position, drop) = len(found.names), found.knee
    lines = [f"{counted(found.tangents.shape[0], 'output')}, {counted(size, 'latent')}; all values in nats"]
    for row in evaluation.rows:
        if row.score is None or row.metric == "manifold_entropy":
            continue
        parts, is_total = row.score.parts, row.metric in ("total_entropy", "manifold_total_correlation")
        error = f" +- {parts['standard_error'][0]:.3f}" if "standard_error" in parts else ""
        each = f" ({parts['per_dimension'][0]:.4f} per latent)" if is_total else ""
        lines.append(f"{row.metric.replace('_', ' '):<36}{row.score.value:.3f}{error}{each}")
    lines.append(f"{'effective dimension':<36}{found.effective_dimension:.2f} of {size}")
    if size > 1:
        lines.append(f"{'largest drop':<36}{drop:.3f} after {counted(position, 'latent')}")
    return "\n".join(lines)


def _answer(found: Spectrum, keep: float) -> str:
    try:
        n_kept = found.n_for(keep)
        kept_by = "The first latent keeps" if n_kept == 1 else f"The first {n_kept} latents keep"
        return f"{kept_by} {keep:g} nats."
    except EvidenceError as error:
        return str(error)
