"""Correlation, mutual information and entropies from totals, equal to those computed from rows in memory."""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from unweave.arrays import FloatArray
from unweave.estimators.dependence.correlation import RANK_TOLERANCE
from unweave.estimators.totals.pass_plan import PassPlan
from unweave.estimators.totals.row_totals import RowTotals, never_vary


def correlations_from(plan: PassPlan, totals: RowTotals) -> FloatArray:
    """Multiple correlation of every code (rows) with every factor (columns); 0 for constant codes and factors.

    >>> from unweave.estimators.information.histogram import Histogram
    >>> from unweave.estimators.totals.pass_plan import planned_pass
    >>> from unweave.estimators.totals.row_totals import totals_of
    >>> rows = np.arange(8.0)[:, None]
    >>> plan = planned_pass(rows, rows, ["number"], [np.nan], Histogram(2))
    >>> correlations_from(plan, totals_of(plan, rows, -2 * rows)).round(9).tolist()
    [[1.0]]
    """
    moments = totals.moments
    n, means = moments.n_rows, moments.code_sums / moments.n_rows
    constant = never_vary(totals)[len(plan.factors) :]
    squares = np.where(constant, 0.0, moments.squares - n * np.square(means))
    cross = moments.cross - np.outer(moments.feature_sums, means)
    among = moments.among - np.outer(moments.feature_sums, moments.feature_sums) / n
    explained = np.zeros((len(plan.codes), len(plan.factors)))
    place = 0
    for j, entry in enumerate(plan.factors):
        sums = totals.factors[j].code_sums
        if entry.role == "categories" and sums is not None:
            sizes = totals.factors[j].tables[0].sum(axis=1)[:, None]
            explained[:, j] = (sizes * np.square(sums / np.maximum(sizes, 1) - means)).sum(axis=0)
            continue
        width = 2 if entry.role == "circle" else 1
        columns = slice(place, place + width)
        inverse = np.linalg.pinv(among[columns, columns], rcond=RANK_TOLERANCE**2, hermitian=True)
        explained[:, j] = np.einsum("ai,ab,bi->i", cross[columns], inverse, cross[columns])
        place += width
    shares = np.divide(explained, squares[:, None], out=np.zeros_like(explained), where=squares[:, None] > 0)
    return np.sqrt(np.clip(shares, 0.0, 1.0))


def information_from(totals: RowTotals) -> FloatArray:
    """Plug-in mutual information of every code's bins (rows) with every factor's labels (columns), in nats."""
    n, n_codes = totals.n_rows, totals.factors[0].tables.shape[0]
    information = np.zeros((n_codes, len(totals.factors)))
    for j, factor in enumerate(totals.factors):
        tables = factor.tables
        margins, margin = tables.sum(axis=1), tables[0].sum(axis=1)
        together = xlogy(tables, tables).sum(axis=(1, 2))
        of_codes, of_factor = xlogy(margins, margins).sum(axis=1), xlogy(margin, margin).sum()
        vary = ((margins > 0).sum(axis=1) > 1) & ((margin > 0).sum() > 1)
        information[:, j] = (np.log(n) + (together - of_codes - of_factor) / n) * vary
    return np.maximum(information, 0.0)


def entropies_from(totals: RowTotals) -> tuple[FloatArray, FloatArray]:
    """Entropy of every factor's labels, and of every code's bins, in nats."""
    n = totals.n_rows
    margins = [factor.tables[0].sum(axis=1) for factor in totals.factors]
    of_codes = totals.factors[0].tables.sum(axis=1)
    of_factors = np.array([np.log(n) - xlogy(margin, margin).sum() / n for margin in margins])
    return np.maximum(of_factors, 0.0), np.maximum(np.log(n) - xlogy(of_codes, of_codes).sum(axis=1) / n, 0.0)


def largest_drift(plan: PassPlan, totals: RowTotals) -> float:
    """Largest difference between the share of all rows in a bin and the share of the planning rows in it.

    A few thousandths are usual for a random sample. More means that the planning rows are not representative,
    because the rows are not in random order.
    """
    tables = totals.factors[0].tables
    shares = [tables[i].sum(axis=0)[: entry.values.size + 1] for i, entry in enumerate(plan.codes)]
    shares += [factor.tables[0].sum(axis=1) for factor in totals.factors]
    return max(
        (
            float(np.abs(counts / totals.n_rows - entry.masses).max())
            for entry, counts in zip((*plan.codes, *plan.factors), shares, strict=True)
            if entry.masses is not None
        ),
        default=0.0,
    )
