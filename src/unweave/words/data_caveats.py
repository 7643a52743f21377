"""Caveats about the data that any metric may have, and sentences of users."""

from __future__ import annotations

from unweave.words.phrases import counted, listed, verb


def stated(text: str) -> str:
    """A sentence of a user, as it is."""
    return text


def constant_factors(factors: tuple[str, ...]) -> str:
    """Factors without variation."""
    return f"{listed(factors)} {verb(factors, 'is', 'are')} constant in these samples and left out of the score."


def dead_codes(codes: tuple[str, ...]) -> str:
    """Codes without variation."""
    return f"{listed(codes)} {verb(codes, 'does', 'do')} not vary and {verb(codes, 'carries', 'carry')} no information."


def code_groups_ignored(n_groups: int) -> str:
    """Groups of codes given to a metric that scores single codes."""
    return (
        f"The {counted(n_groups, 'code group')} {'is' if n_groups == 1 else 'are'} not used: this metric scores "
        "every code separately."
    )


def rows_dropped(n_rows: int) -> str:
    """Rows that were not used."""
    return f"{counted(n_rows, 'row')} with missing values {'was' if n_rows == 1 else 'were'} dropped."


def factors_on_labelled_rows(n_rows: int, of: int, factors: tuple[str, ...]) -> str:
    """Factors with fewer labelled rows than others."""
    return (
        f"Every factor is scored on the rows in which it is labelled: {listed(factors)} on fewer than the others, "
        f"down to {n_rows:,} of {of:,}."
    )


def factors_correlated() -> str:
    """A violated assumption of metrics that compare codes with one factor at a time."""
    return "The factors are correlated, so codes that mix them score too high (Joshi et al., property P1)."


def factors_not_held_alone() -> str:
    """A violated assumption of metrics that hold a factor fixed."""
    return (
        "The factors are correlated and there is no sampler, so holding one factor fixed also restricts the factors "
        "correlated with it."
    )


def many_codes_per_row() -> str:
    """A violated assumption of metrics that search for the best code."""
    return (
        "There are more than 5 codes per 100 rows, so good matches occur by chance alone (Joshi et al., property P4)."
    )


def rows_sampled(n_rows: int, of: int) -> str:
    """A score that used some of the rows."""
    return f"Computed on {n_rows:,} of {of:,} rows, drawn at random."


def all_rows_in_blocks(n_rows: int, n_sampled: int) -> str:
    """A score from totals of all rows."""
    return f"Computed on all {n_rows:,} rows, in blocks; noise floor and interval are those of {n_sampled:,} of them."


def all_rows_in_planned_bins(n_rows: int, n_sampled: int, n_planning: int) -> str:
    """A score from totals of all rows, with bin edges from some of the rows."""
    return (
        f"Computed on all {n_rows:,} rows, in blocks; bins, where it has any, are cut at quantiles of {n_planning:,} "
        f"rows, and noise floor and interval are those of {n_sampled:,} rows."
    )


def codes_screened(n_codes: int, n_found: int, n_scored: int, n_rows: int, rate: float) -> str:
    """Codes that were left out because they do not depend on a factor."""
    said = (
        f"{n_found:,} of {n_codes:,} codes depend on a factor (tested on {n_rows:,} other rows; false-discovery rate "
        f"{100 * rate:g} %)."
    )
    if n_found == n_scored:
        return f"{said} {'Only it is' if n_found == 1 else 'Only these are'} scored and shown."
    return f"{said} Only the {n_scored:,} strongest codes are scored and shown; {n_codes - n_scored:,} are not."


def sampler_asked(n_calls: int, n_samples: int) -> str:
    """How much a score with interventions used the sampler."""
    return f"The sampler was called {n_calls:,} times and drew {n_samples:,} samples in all."


def scored_on_training_rows() -> str:
    """A probe without a test set."""
    return "Scored on the rows that the probe was fitted on, which makes the score too high."


def no_code_varies() -> str:
    """A score that is undefined because all codes are constant."""
    return "No code varies, so the score is undefined."


def one_factor_varies() -> str:
    """A score that is undefined because it needs two factors."""
    return "Only one factor varies, so no code can mix two factors: the score is undefined."


def one_code() -> str:
    """A gap between the two best codes where there is only one code."""
    return "There is one code, so the gap is its distance from a code without information."
