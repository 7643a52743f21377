"""Evidence for the claims of 003 about perfect encoders (E1, E2): 1 to 11 and 14."""

from __future__ import annotations

import numpy as np

from unweave.metrics import dci_disentanglement, mig
from unweave.papers.guardians.evidence.cells import cell, curve, scores
from unweave.papers.ledger.claim import Evidenced, MeasuredFigure
from unweave.papers.ledger.deciding import decided, falls, near
from unweave.synthetic.encoders import Elementwise, PermutedAndScaled
from unweave.synthetic.theory import dci_disentanglement_of_constraint
from unweave.synthetic.worlds import Independent

SIZES = {5: "exp01", 10: "exp01_d10", 20: "exp01_d20"}


def correlations_and_r2_are_one() -> Evidenced:
    """Claim 1: MCC and R2 of a perfect encoder are 1 in all worlds."""
    figures = {}
    for metric in ("MCC-P", "MCC-S", "R2"):
        cells = [cell(run, dgp=dgp) for run in SIZES.values() for dgp in ("D1", "D2", "D3", "D4")]
        lowest = min(score for entry in cells for score in scores(entry, metric, n_seeds=2))
        figures[f"lowest {metric} in 12 worlds"] = MeasuredFigure(lowest)
    return decided(figures, lambda values: near(values, 1.0, 1e-6))


def _dips(dgp: str) -> dict[str, MeasuredFigure]:
    return curve("DCI-D", {f"{dgp}, d = {d}": cell(run, dgp=dgp) for d, run in SIZES.items() if d < 20}, n_seeds=1)


def dci_dips_where_two_factors_determine_a_third() -> Evidenced:
    """Claim 2: DCI-D of a perfect encoder dips where two factors determine a third (D_F, D4).

    Our result: it dips under D_f (D3), where one factor determines another.
    """
    figures = _dips("D4") | _dips("D3")
    return decided(figures, lambda v: max(v[:2]) < min(v[2:]))


def the_dip_shrinks_with_the_number_of_factors() -> Evidenced:
    """Claim 3: the dip of DCI-D shrinks with the number of factors, in agreement with the closed form."""
    theory = {f"closed form, d = {d}": MeasuredFigure(dci_disentanglement_of_constraint(d)) for d in SIZES}
    return decided(
        _dips("D3") | theory, lambda v: v[0] < v[1] < 1 and v[2] < v[3] < v[4] < 1 and abs(v[0] - v[2]) < 0.03
    )


def the_dip_stays_with_rows() -> Evidenced:
    """Claim 4: the dip of DCI-D persists as the number of rows grows."""
    cells = {f"n = {n}": cell("exp10", dgp="D3", encoder="E1", n=n) for n in (500, 2000)}
    return decided(curve("DCI-D", cells, n_seeds=2), lambda values: near(values, 0.828, 0.03))


def copies_share_importance() -> Evidenced:
    """Claim 5: the dip of DCI-D comes from the collinearity of a regression probe.

    Our result: the probe consists of trees: codes that are increasing functions of each other share the importance
    equally.
    """
    factors = np.random.default_rng(0).normal(size=(1000, 5))
    factors[:, 1] = factors[:, 0] ** 3
    matrix = dci_disentanglement(factors, factors, kinds="continuous").parts["importance_matrix"]
    own = float(matrix[0, 0] / (matrix[0, 0] + matrix[1, 0]))
    share = MeasuredFigure(own), MeasuredFigure(float(matrix[2, 2]))
    figures = {
        "share of a copied factor's importance in its own code": share[0],
        "share of another factor's importance in its own code": share[1],
    }
    return decided(figures, lambda v: None if 0.2 < v[0] < 0.8 and v[1] > 0.9 else v[0] >= 0.8)


def mig_of_a_perfect_encoder_is_below_one() -> Evidenced:
    """Claim 6: MIG of a perfect encoder is below 1.

    Our result: this is the bias of few rows; with more rows MIG tends to 1.
    """
    few = curve("MIG", {"200 of 1,000 rows, equal width": cell("exp01", dgp="D1")})
    factors = Independent(5).sample(100_000, np.random.default_rng(0))
    many = {f"MIG, {n:,} rows": MeasuredFigure(float(mig(factors[:n], factors[:n]))) for n in (1000, 10_000, 100_000)}
    return decided(few | many, lambda v: v[-1] < 0.99)


def spearman_and_dci_are_flat_in_alpha() -> Evidenced:
    """Claim 7: MCC-S and DCI-D of E2 do not change with the strength of the nonlinearity."""
    cells = {f"alpha = {a:g}": cell("exp02", alpha=a, fn="tanh") for a in (0.0, 1.0)}
    figures = curve("MCC-S", cells) | curve("DCI-D", cells, n_seeds=2)
    return decided(figures, lambda v: near(v[:2], 1.0, 1e-3) and near(v[2:], 0.99, 0.03))


def pearson_falls_with_alpha() -> Evidenced:
    """Claim 8: MCC-P of E2 falls with the strength of the nonlinearity."""
    cells = {f"alpha = {a:g}": cell("exp02", alpha=a, fn="tanh") for a in (0.0, 0.005, 0.1, 1.0)}
    return decided(curve("MCC-P", cells), lambda values: falls(values, 0.2))


def r2_of_elementwise_codes_is_zero() -> Evidenced:
    """Claim 9: R2 of elementwise codes is 0. This holds only if the codes are not standardised."""
    here = cell("exp02", alpha=1.0, fn="tanh")
    released, ours = curve("R2", {"released code": here}), curve("R2", {"standardised": here}, "ours")
    return decided(released | ours, lambda v: v[1] < 0.05)


def information_metrics_fail_on_elementwise_codes() -> Evidenced:
    """Claim 10: mutual information metrics are low for elementwise codes.

    Our result: they are with bins of equal width, but not with bins of equal mass.
    """
    here = cell("exp02", alpha=1.0, fn="tanh")
    figures = {
        f"{metric}, {name}": entry
        for metric in ("InfoM", "MIG")
        for name, entry in zip(
            ("released bins", "bins of equal mass, all rows"),
            (*curve(metric, {"": here}).values(), *curve(metric, {"": here}, "ours").values()),
            strict=True,
        )
    }
    return decided(figures, lambda v: v[1] < 0.9 or v[3] < 0.8)


def the_two_panels_are_two_nonlinearities() -> Evidenced:
    """Claim 11: the two panels show two nonlinearities, tanh and sinh.

    Our result: in the released code, both show the same run.
    """
    alphas = (0.05, 0.3, 1.0)
    apart = [
        max(
            abs(a - b)
            for alpha in alphas
            for a, b in zip(
                *(scores(cell("exp02", alpha=alpha, fn=fn), "MCC-P", protocol) for fn in ("tanh", "sinh")),
                strict=True,
            )
        )
        for protocol in ("authors", "ours")
    ]
    names = ("largest difference of MCC-P, released code", "largest difference of MCC-P, as in the text")
    return decided(dict(zip(names, map(MeasuredFigure, apart), strict=True)), lambda v: v[0] > 0)


def alpha_zero_is_a_permutation() -> Evidenced:
    """Claim 14: E2 at alpha = 0 is E1 up to sign."""
    factors = Independent(5).sample(500, np.random.default_rng(0))
    codes = Elementwise(0.0).encode(factors, np.random.default_rng(1))
    plain = PermutedAndScaled().encode(factors, np.random.default_rng(1))
    both = np.abs(np.corrcoef(factors.T, codes.T)[:5, 5:]), np.abs(np.corrcoef(factors.T, plain.T)[:5, 5:])
    largest = [MeasuredFigure(float(matrix.max(axis=0).min())) for matrix in both]
    return decided(
        {"smallest best correlation, E2": largest[0], "smallest best correlation, E1": largest[1]},
        lambda v: near(v, 1.0, 1e-9),
    )
