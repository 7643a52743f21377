"""Caveats about the data, which are the same for all metrics, and sentences of users."""

from __future__ import annotations

from unweave.words.phrases import counted, listed, verb


def stated(text: str) -> str:
    """A sentence that a user wrote, unchanged."""
    return text


def constant_factors(factors: tuple[str, ...]) -> str:
    """Constant factors, which are left out of the score."""
    return f"{listed(factors)} {verb(factors, 'is', 'are')} constant in these samples and left out of the score."


def dead_codes(codes: tuple[str, ...]) -> str:
    """Constant codes."""
    return f"{listed(codes)} {verb(codes, 'does', 'do')} not vary and {verb(codes, 'carries', 'carry')} no information."


def code_groups_ignored(n_groups: int) -> str:
    """Groups of codes given to a metric that scores single codes."""
    return (
        f"The {counted(n_groups, 'code group')} {'is' if n_groups == 1 else 'are'} not used: this metric scores "
        "every code separately."
    )


def rows_dropped(n_rows: int) -> str:
    """Number of rows that were dropped because they have missing values."""
    return f"{counted(n_rows, 'row')} with missing values {'was' if n_rows == 1 else 'were'} dropped."


def factors_on_labelled_rows(n_rows: int, of: int, factors: tuple[str, ...]) -> str:
    """Factors that are scored on fewer rows than others, because fewer of their rows are labelled."""
    return (
        f"Every factor is scored on the rows in which it is labelled: {listed(factors)} on fewer than the others, "
        f"down to {n_rows:,} of {of:,}."
    )


def factors_correlated() -> str:
    """Correlated factors, so that metrics that compare codes with one factor at a time score mixed codes too high."""
    return "The factors are correlated, so codes that mix them score too high (Joshi et al., property P1)."


def factors_not_held_alone() -> str:
    """Correlated factors and no sampler, so that metrics that hold one factor fixed restrict others as well."""
    return (
        "The factors are correlated and there is no sampler, so holding one factor fixed also restricts the factors "
        "correlated with it."
    )


def many_codes_per_row() -> str:
    """So many codes that metrics that search for the best code find good matches by chance."""
    return (
        "There are more than 5 codes per 100 rows, so good matches occur by chance alone (Joshi et al., property P4)."
    )


def rows_sampled(n_rows: int, of: int) -> str:
    """A score that was computed on a random sample of the rows."""
    return f"Computed on {n_rows:,} of {of:,} rows, drawn at random."


def all_rows_in_blocks(n_rows: int, n_sampled: int) -> str:
    """A score that was computed on all rows in blocks, with noise floor and interval from some of the rows."""
    return f"Computed on all {n_rows:,} rows, in blocks; noise floor and interval are those of {n_sampled:,} of them."


def all_rows_in_planned_bins(n_rows: int, n_sampled: int, n_planning: int) -> str:
    """As `all_rows_in_blocks`, for a score that may have bins, whose edges come from some of the rows."""
    return (
        f"Computed on all {n_rows:,} rows, in blocks; bins, where it has any, are cut at quantiles of {n_planning:,} "
        f"rows, and noise floor and interval are those of {n_sampled:,} rows."
    )


def codes_screened(n_codes: int, n_found: int, n_scored: int, n_rows: int, rate: float) -> str:
    """How many codes depend on a factor, and which codes are scored."""
    said = (
        f"{n_found:,} of {n_codes:,} codes depend on a factor (tested on {n_rows:,} other rows; false-discovery rate "
        f"{100 * rate:g} %)."
    )
    if n_found == n_scored:
        return f"{said} {'Only it is' if n_found == 1 else 'Only these are'} scored and shown."
    return f"{said} Only the {n_scored:,} strongest codes are scored and shown; {n_codes - n_scored:,} are not."


def sampler_asked(n_calls: int, n_samples: int) -> str:
    """How often a score with interventions called the sampler."""
    return f"The sampler was called {n_calls:,} times and drew {n_samples:,} samples in all."


def scored_on_training_rows() -> str:
    """A score that is too high, because the probe was fitted on the rows that it is scored on."""
    return "Scored on the rows that the probe was fitted on, which makes the score too high."


def no_code_varies() -> str:
    """A score that is undefined because all codes are constant."""
    return "No code varies, so the score is undefined."


def one_factor_varies() -> str:
    """A score that is undefined because only one factor varies."""
    return "Only one factor varies, so no code can mix two factors: the score is undefined."


def one_code() -> str:
    """Meaning of the gap between the two best codes if there is only one code."""
    return "There is one code, so the gap is its distance from a code without information."
