"""Sentences on the results of an audit, and on what it could not measure."""

from __future__ import annotations

ASKS = {
    "P1": "does not change with the correlation of the factors",
    "P2": "allows redundant factors to be dropped, but not free ones",
    "P3": "does not change with the number of codes",
    "P4": "scores about 0 for random codes",
    "few factors": "the four properties with 2 and 3 factors",
    "levels": "does not change when factors have levels",
    "many to one": "allows a many-to-one function of a factor to be dropped",
    "rows": "does not change with the number of rows",
}
MEASURED = {
    "change": "change with rho",
    "lossless": "cost of a redundant factor",
    "lossy": "relative cost of free factors",
    "distance": "distance from the matched code",
    "level": "mean score",
    "levels": "distance from continuous factors",
    "rows": "change with the number of rows",
}


def scores_rescaled(worst: float, best: float) -> str:
    """Note on an audit whose scores are rescaled, because the bounds of the metric are not 0 and 1."""
    return f"Scores are rescaled: {worst:g} counts as 0 and {best:g} as 1, the best."


def needs_more_than_tables(metric: str, need: str) -> str:
    """Refusal to audit a metric that needs more than factors and codes."""
    return f"{metric} needs a {need}, and the audit's worlds and encoders have factors and codes only."


def no_scale_to_audit(metric: str) -> str:
    """Refusal to audit a metric without a finite worst or best score."""
    return f"{metric} has no finite worst or best score, so differences have no scale: pass scale=(worst, best)."


def cells_without_score(n_cells: int, problem: str, first: str) -> str:
    """Number of cells in which the metric raised an error or returned nan for the same reason."""
    return f"{n_cells} cells: {problem} (first at {first})"


def points_not_measured(name: str, shown: str, n_more: int) -> str:
    """Points of a property at which there is no score."""
    more = f" and {n_more} more" if n_more else ""
    return f"{name}: not measured within the budget, or undefined: {shown}{more}."


def marks_of_card(equivalence: str, found: str) -> str:
    """Measured scores of encoders for which the metric's card states the best score."""
    return f"Card: best score stated for maps up to {equivalence}; measured: {found}."


def encoder_of_adversary(n_tried: int, score: float, mixing_share: float, product: float) -> str:
    """Result of the search for an encoder with the largest product of score and mixing share."""
    return (
        f"Adversary: best of {n_tried} encoders scores {score:.3f} with a mixing share of {mixing_share:.3f}, "
        f"product {product:.3f}."
    )


def metric_constant(value: float) -> str:
    """Remark on a metric whose score is the same for every encoder and world."""
    return f"This metric is constant: every encoder in every world scores {value:g}, so its marks are meaningless."


def metric_of_rows_alone() -> str:
    """Remark on a metric that depends on the number of rows only."""
    return "This metric depends on the number of rows alone, so its marks are meaningless."


def metric_of_sizes_alone() -> str:
    """Remark on a metric that depends on the numbers of rows, codes and factors only."""
    return "This metric depends on the numbers of rows, codes and factors alone, so its marks are meaningless."


def metric_depends_on_order(moved: float) -> str:
    """Remark on a metric that changes with the order of the rows, or from call to call."""
    return f"The same rows in another order change the score by {moved:.2f} on average."


def metric_blind(perfect: float, noise: float, n_rows: int) -> str:
    """Remark on a metric that scores noise as high as a perfect encoder."""
    return (
        f"This metric cannot tell a perfect encoder from noise: with {n_rows} rows they score {perfect:.2f} and "
        f"{noise:.2f}."
    )


def points_undefined(name: str, n_points: int) -> str:
    """Number of points of an additional property at which the metric is undefined."""
    return f"{name}: the metric is undefined at {n_points} points, which do not count."
