"""Notes on noise floors, intervals and comparisons, and reasons why one of them is missing."""

from __future__ import annotations

from unweave.words.phrases import counted


def no_pairing(metric: str, looks_at: str) -> str:
    """No noise floor, because the metric does not relate codes to factors."""
    return (
        f"{metric} uses {looks_at} alone and does not relate codes to factors, so there is no pairing to "
        "permute and no noise floor."
    )


def refused(text: str) -> str:
    """The error message of a metric that refused the evidence."""
    return text


def failed(metric: str, error: str, text: str) -> str:
    """A metric that raised an unexpected error."""
    return f"{metric} failed with {error}: {text}"


def nulls_undefined(metric: str, null: str) -> str:
    """No noise floor, because the metric is undefined for all random encoders."""
    return f"{metric} is undefined for every random encoder of this kind ({null})."


def floor_near_best() -> str:
    """A noise floor so high that there is no calibrated score."""
    return "Random codes score within .01 of the best, so a high score is uninformative."


def nulls_equal_score() -> str:
    """A noise floor whose permutations all have the observed score."""
    return "All permutations score the same as the observed codes."


def fewer_nulls(n_draws: int, of: int, seconds: float) -> str:
    """Fewer permutations than requested, because the time budget was used up."""
    return f"{n_draws} of {of} permutations were scored, because more did not fit into the budget of {seconds:.3g} s."


def nulls_of_some_rows(n_rows: int, of: int) -> str:
    """A noise floor that was estimated on some of the rows."""
    return (
        f"To save time, the noise floor comes from {n_rows:,} of {of:,} rows, and its p-value from the score on these "
        "rows."
    )


def parts_of_some_rows(n_rows: int, of: int) -> str:
    """An interval that was estimated from parts with few of the rows."""
    return (
        f"To save time, the interval comes from scores of {n_rows:,} of {of:,} rows; their standard error is scaled to "
        "all rows."
    )


def no_nulls_in_budget(seconds: float) -> str:
    """No noise floor, because the time budget was too small."""
    return f"The noise floor did not fit into the time budget of {seconds:.3g} s: pass a larger budget."


def no_parts_in_budget(seconds: float) -> str:
    """No interval, because the time budget was too small."""
    return f"The interval did not fit into the time budget of {seconds:.3g} s: pass a larger budget."


def nulls_without_score(n_draws: int, of: int) -> str:
    """Permutations for which the score is undefined, which count as better than the observed score."""
    return f"{n_draws} of {of} permutations have no score and count as better than the observed codes."


def few_orders(n_groups: int, n_orders: float, smallest: float) -> str:
    """So few row groups that the number of their orders limits the p-value."""
    return (
        f"{counted(n_groups, 'row group')} can be ordered in {n_orders:.0f} ways, so no p-value can be below "
        f"{smallest:.2g}."
    )


def series_shifted(lag_of_factors: float, lag_of_codes: float) -> str:
    """A noise floor from circular shifts, because the rows are autocorrelated."""
    return (
        f"Rows are autocorrelated (lag-1 correlation of factors {lag_of_factors:.2f}, of codes {lag_of_codes:.2f}), so "
        "noise floor and p-value come from circular shifts of the rows instead of permutations."
    )


def series_too_short(n_rows: int, n_effective: float) -> str:
    """No p-value, because a time series has too few effectively independent rows."""
    return (
        f"{n_rows:,} rows that follow each other are worth about {n_effective:.0f} independent rows here, which is too "
        "few for a p-value: longer or several separate series are needed."
    )


def repeated_rows_together(n_rows: int, n_distinct: int) -> str:
    """A noise floor whose permutations keep equal rows together."""
    return (
        f"Only {n_distinct:,} of {n_rows:,} rows differ in factors and codes, so permutations keep equal rows together."
    )


def parts_of_blocks(n_rows: int) -> str:
    """An interval from parts that leave out blocks of consecutive rows."""
    return f"Rows follow each other, so the interval comes from parts that leave out blocks of {n_rows} rows."


def groups_of_unequal_size() -> str:
    """Approximate p-values, because permutations split row groups of unequal size."""
    return "The row groups differ in size, so some permutations split a group: p-values are approximate."


def decoder_without_samples(metric: str) -> str:
    """No interval, because the metric uses a decoder and there are no samples to leave out."""
    return f"{metric} uses a decoder and not samples: the standard error of its own random draws is among its parts."


def too_few_units(n_units: int, needed: int, units: str) -> str:
    """No interval, because there are too few rows or row groups."""
    return f"An interval needs at least {needed} {units} and there are {n_units}: pass more samples."


def too_few_rows_for_parts(metric: str, min_rows: int, n_rows: int, needed: int) -> str:
    """No interval, because a part would have too few rows for the metric."""
    return (
        f"{metric} needs {min_rows} rows in every part of the samples, and there are {n_rows} in all: pass at least "
        f"{needed}."
    )


def score_undefined(metric: str) -> str:
    """No interval, because the score is undefined."""
    return f"{metric} is undefined on these samples."


def parts_undefined(metric: str, n_parts: int, of: int) -> str:
    """No interval, because the score is undefined on parts of the samples."""
    return f"{metric} is undefined on {n_parts} of {of} parts of the samples."


def comparison_undefined(metric: str, representation: str) -> str:
    """No comparison, because the score of a representation is undefined."""
    return f"{metric} is undefined for {representation!r} or for parts of its samples."


def fewer_parts(n_parts: int, of: int, seconds: float) -> str:
    """Fewer parts of the samples than requested, because the time budget was used up."""
    return (
        f"{n_parts} of {of} parts of the samples were scored, because more did not fit into the budget of "
        f"{seconds:.3g} s."
    )


def few_groups(n_groups: int) -> str:
    """An interval that is inaccurate, because there are few row groups."""
    return f"{n_groups} row groups are too few to estimate their variation well: the interval is rough."


def sampler_draws_not_counted() -> str:
    """An interval that does not include the variance of the sampler."""
    return "Where the metric draws from the sampler, the variation of these draws is not included in the interval."


def checks_of_first_seed(n_seeds: int, seed: int) -> str:
    """Noise floor, interval and verdict of the first of several seeds."""
    return (
        f"Scores are means over {n_seeds} seeds; noise floor, interval, calibrated score and verdict are those of seed "
        f"{seed} alone."
    )


def difference_may_be_zero() -> str:
    """No sample size that is certain to be sufficient, because the difference may be zero."""
    return (
        "The difference may be zero, so no number of samples is certain to be enough: state the smallest difference "
        "that would matter."
    )


def sample_size_extrapolated() -> str:
    """A planned sample size that is extrapolated, because it is far from the size of the data."""
    return "This is far from the number of samples that you have: scores depend on it, and the difference may as well."
