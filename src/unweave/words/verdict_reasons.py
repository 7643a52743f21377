"""Why a score is trusted on these data or not, and what to do instead."""

from __future__ import annotations

from unweave.words.phrases import counted, listed, verb

ADVICE = {
    "P1": "Break the correlation by weighting or choosing samples.",
    "P2": "Leave out factors that others determine.",
    "P3": "Compare representations with as many codes as factors.",
    "P4": "Use more rows, or read the calibrated score.",
}


def depends_on_redundant_factors(before: float, after: float, further: bool, factors: tuple[str, ...]) -> str:
    """A score that changes when redundant factors leave."""
    return (
        f"This score depends on redundant factors: without {listed(factors)}, which other factors determine, it "
        f"{_changes(before, after, further)}."
    )


def depends_on_correlation(before: float, after: float, further: bool, correlation: float) -> str:
    """A score that changes when factors become independent."""
    return (
        f"This score depends on the correlation of the factors: they correlate by up to {correlation:.2f}, and with "
        f"independent factors it {_changes(before, after, further)}."
    )


def depends_on_number_of_codes(before: float, after: float, further: bool, n_codes: int, n_free: float) -> str:
    """A score that changes when there is one code for each factor."""
    return (
        f"This score depends on the number of codes: you have {counted(n_codes, 'code')} for {n_free:.0f} independent "
        f"factor{'' if n_free == 1 else 's'}, and with one code for each of them it {_changes(before, after, further)}."
    )


def depends_on_number_of_rows(before: float, after: float, further: bool, rows_per_code: float) -> str:
    """A score that changes when there are enough rows."""
    return (
        f"This score depends on the number of rows: you have {rows_per_code:.3g} for each code, and with more rows it "
        f"{_changes(before, after, further)}."
    )


def score_stable(elsewhere: float) -> str:
    """A score that changes little."""
    return f"Stable: the estimate for independent factors, no redundant codes and enough rows is {elsewhere:.2f}."


def uses_no_factors() -> str:
    """A metric of codes alone."""
    return "This metric uses no factors, so nothing here can check it."


def correlated_by_audit(correlation: float) -> str:
    """A metric that the audit found to depend on correlation."""
    return f"Factors correlate by up to {correlation:.2f}, and by the audit this metric depends on their correlation."


def redundant_by_audit(factors: tuple[str, ...]) -> str:
    """A metric that the audit found to depend on redundant factors."""
    return (
        f"{listed(factors)} {verb(factors, 'is', 'are')} determined by other factors, and by the audit this metric "
        "depends on redundant factors."
    )


def many_codes_by_audit(codes_per_factor: float) -> str:
    """A metric that the audit found to depend on the number of codes."""
    return (
        f"There are {codes_per_factor:.3g} codes for each factor, and by the audit this metric depends on the number "
        "of codes."
    )


def crowded_by_audit(codes_per_row: float) -> str:
    """A metric that the audit found to reward many codes in few rows."""
    return f"There are {codes_per_row:.3g} codes for each row, and by the audit random codes score high with so many."


def too_few_rows_to_test(n_rows: int) -> str:
    """No counterpart of so few rows."""
    return f"{counted(n_rows, 'row')} are too few to test how the score depends on the data."


def undefined_here() -> str:
    """No score."""
    return "The score is undefined on these data."


def noise_scores_high(floor: float) -> str:
    """A floor next to the best."""
    return f"Random codes already score {floor:.2f}, so this metric is uninformative here."


def advice(concerns: str, metrics: str) -> str:
    """What to do where a property matters; the metrics that have it are named."""
    return (f"Read {metrics}. " if metrics else "") + ADVICE[concerns]


def take_more_samples() -> str:
    """What to do with few rows."""
    return "Take more samples."


def read_its_caveats() -> str:
    """What to do with an undefined score."""
    return "Read its note."


def _changes(before: float, after: float, further: bool) -> str:
    direction = "drops" if after < before else "rises"
    of_rest = " once the other effects are removed" if further else ""
    return f"{direction} from {before:.2f} to {after:.2f}{of_rest}"
