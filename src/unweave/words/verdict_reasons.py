"""Sentences on why a score is trusted on these data or not, and on what to do if it is not."""

from __future__ import annotations

from unweave.words.phrases import counted, listed, verb

ADVICE = {
    "P1": "Remove the correlation by weighting or selecting samples.",
    "P2": "Leave out factors that others determine.",
    "P3": "Compare representations with as many codes as factors.",
    "P4": "Use more rows, or read the calibrated score.",
}


def depends_on_redundant_factors(before: float, after: float, further: bool, factors: tuple[str, ...]) -> str:
    """A score that changes when redundant factors are removed."""
    return (
        f"This score depends on redundant factors: without {listed(factors)}, which other factors determine, it "
        f"{_changes(before, after, further)}."
    )


def depends_on_dependence(
    before: float, after: float, further: bool, strength: float, n_rows: int, factors: tuple[str, ...]
) -> str:
    """A score that changes when the factors are made independent."""
    measured = f", measured on {n_rows:,} rows" if n_rows else ""
    return (
        f"This score depends on the dependence of the factors: {factors[0]} and {factors[1]} correlate by "
        f"{strength:.2f}{measured}, and with independent factors it {_changes(before, after, further)}."
    )


def depends_on_constraint(before: float, after: float, further: bool, factors: tuple[str, ...]) -> str:
    """A score that changes when factors that others determine vary independently."""
    return (
        f"This score depends on how the factors constrain each other: {listed(factors)} {verb(factors, 'is', 'are')} "
        f"determined by other factors here, and if all factors varied independently it "
        f"{_would_change(before, after, further)}."
    )


def depends_on_redundant_codes(before: float, after: float, further: bool, n_codes: int, n_free: float) -> str:
    """A score that changes when redundant codes are removed."""
    return (
        f"This score depends on the number of codes: you have {counted(n_codes, 'code')} for {n_free:.0f} independent "
        f"factor{'' if n_free == 1 else 's'}, and with redundant codes removed it {_changes(before, after, further)}."
    )


def depends_on_number_of_rows(before: float, after: float, further: bool, rows_per_code: float, enough: int) -> str:
    """A score that changes when there are more rows."""
    return (
        f"This score depends on the number of rows: you have {rows_per_code:.3g} for each code, and with {enough:,} "
        f"rows it {_changes(before, after, further)}."
    )


STABLE_WITH = {
    "redundant factors": "no redundant factors",
    "dependence": "independent factors",
    "number of codes": "no redundant codes",
    "number of rows": "enough rows",
}


def score_stable(elsewhere: float, tried: str) -> str:
    """A score that changes little when the effects of the data in ``tried`` are removed."""
    return f"Stable: the estimate for {listed([STABLE_WITH[name] for name in tried.split(', ')])} is {elsewhere:.2f}."


def within_model_error(value: float, elsewhere: float, modelled: float, tried: str) -> str:
    """A score whose change is within the error of the models of the codes."""
    return (
        f"The estimate for {listed([STABLE_WITH[name] for name in tried.split(', ')])} is {elsewhere:.2f}, and its "
        f"models score {modelled:.2f} on the factors as observed, where the codes score {value:.2f}: the difference is "
        "within the error of the models."
    )


def nothing_moves_score() -> str:
    """No property of the data is known to affect the score."""
    return (
        "No known problem on these data: the factors look independent, no code is redundant, and there are enough rows."
    )


def control_failed(value: float, modelled: float, effects: str) -> str:
    """Effects that were not checked, because models of the codes do not reproduce the score."""
    return (
        f"Not checked for {effects}: a model of how the codes respond to the factors scores {modelled:.2f} on the "
        f"observed factors, where the codes score {value:.2f}, so its results for other factors cannot be trusted."
    )


def collapsed_codes_count(value: float, live: float, codes: tuple[str, ...]) -> str:
    """Collapsed codes that change a score."""
    return (
        f"{counted(len(codes), 'code')} {verb(codes, 'has', 'have')} collapsed ({listed(codes)}), and without "
        f"{verb(codes, 'it', 'them')} this score is {live:.2f} instead of {value:.2f}."
    )


def leave_out_collapsed() -> str:
    """What to do if collapsed codes change the score."""
    return "Leave collapsed codes out when you compare representations with different numbers of codes."


def check_by_interventions() -> str:
    """What to do if no model of the codes reproduces the score."""
    return "Pass a sampler, which sets factors independently, or score samples with independent factors."


def uses_no_factors() -> str:
    """A metric that cannot be checked on these data, because it does not use factors."""
    return "This metric does not use factors, so it cannot be checked on these data."


def correlated_by_audit(correlation: float) -> str:
    """A metric that depends on the correlation of the factors, according to the audit."""
    return f"Factors correlate by up to {correlation:.2f}, and the audit found that this metric depends on correlation."


def redundant_by_audit(factors: tuple[str, ...]) -> str:
    """A metric that depends on redundant factors, according to the audit."""
    return (
        f"{listed(factors)} {verb(factors, 'is', 'are')} determined by other factors, and the audit found that "
        "this metric depends on redundant factors."
    )


def many_codes_by_audit(codes_per_factor: float) -> str:
    """A metric that depends on the number of codes, according to the audit."""
    return (
        f"There are {codes_per_factor:.3g} codes for each factor, and the audit found that this metric depends on the "
        "number of codes."
    )


def crowded_by_audit(codes_per_row: float) -> str:
    """A metric that, according to the audit, scores random codes high if there are many codes and few rows."""
    return (
        f"There are {codes_per_row:.3g} codes for each row, and the audit found that random codes score high with so "
        "many."
    )


def too_few_rows_to_test(n_rows: int) -> str:
    """Too few rows to test on simulated data how the score depends on the data."""
    return f"{counted(n_rows, 'row')} are too few to test how the score depends on the data."


def trial_not_in_budget() -> str:
    """A verdict from the audit alone, because the budget was too small."""
    return (
        "The time budget was too small to recompute this score on simulated data, so the verdict follows from the "
        "audit alone: pass a larger budget."
    )


def trial_of_sparse_codes() -> str:
    """A verdict from the audit alone, because simulated codes are not sparse."""
    return (
        "The codes are sparse, and simulated codes are not, so this score was not recomputed on simulated data and the "
        "verdict follows from the audit alone: screen the codes (screen=True, --screen) to have it recomputed."
    )


def floor_not_in_budget() -> str:
    """A verdict without a noise floor, because the budget was too small."""
    return "The time budget was too small to score random codes, so the noise floor is unknown: pass a larger budget."


def undefined_here() -> str:
    """A score that is undefined on these data."""
    return "The score is undefined on these data."


def noise_scores_high(floor: float) -> str:
    """A metric that is uninformative, because its noise floor is near the best score."""
    return f"Random codes already score {floor:.2f}, so this metric is uninformative here."


def scores_like_noise(value: float, floor: float, p_value: float) -> str:
    """A score near a low noise floor, which shows correctly that the codes are uninformative."""
    return f"These codes score like random codes: {value:.2f}, and random codes score {floor:.2f} (p = {p_value:.2g})."


def not_above_noise(value: float, floor: float, p_value: float) -> str:
    """A score that is not significantly above that of random codes."""
    return (
        f"This score is not above noise: it is {value:.2f}, and random codes score {floor:.2f} on average "
        f"(p = {p_value:.2g})."
    )


def below_noise(value: float, floor: float, calibrated: float) -> str:
    """A score below that of random codes, so that the calibrated score is negative."""
    return (
        f"Random codes score better: {floor:.2f} on average, and these codes score {value:.2f}. The calibrated score "
        f"is 0 for random codes and 1 for the best, so it is negative here ({calibrated:.2f})."
    )


def hardly_above_noise(value: float, floor: float, calibrated: float) -> str:
    """A score only a little above that of random codes."""
    return (
        f"This score is hardly above noise: it is {value:.2f}, and random codes score {floor:.2f} on average, so its "
        f"calibrated score is {calibrated:.2f}."
    )


def noise_varies_widely(value: float, floor: float, spread: float, n_spreads: float) -> str:
    """A score above that of most random codes, whose scores vary so much that some may reach it."""
    return (
        f"Scores of random codes vary widely here: {floor:.2f} on average with a standard deviation of {spread:.2f}. "
        f"This score, {value:.2f}, is less than {n_spreads:g} standard deviations from their mean."
    )


def floor_far_from_zero(value: float, floor: float, calibrated: float) -> str:
    """A score that is lower than it looks, because its noise floor is high."""
    return (
        f"Random codes already score {floor:.2f} here, so {value:.2f} is lower than it looks: the calibrated score, "
        f"which is 0 for random codes and 1 for the best, is {calibrated:.2f}."
    )


def size_of_codes() -> str:
    """A metric that depends on the numbers of codes and factors only."""
    return "This metric counts codes and factors and does not depend on how they are related, so no verdict applies."


def without_range() -> str:
    """A metric without a finite worst or best score, so that changes cannot be judged."""
    return "This score has no fixed range, so its changes cannot be judged as small or large."


def advice(concerns: str, metrics: str) -> str:
    """What to do about a property that a metric violates; ``metrics`` names those that satisfy it."""
    return (f"Read {metrics}. " if metrics else "") + ADVICE[concerns]


def codes_know_nothing() -> str:
    """What to do if the codes score like random codes."""
    return (
        "The score gives no evidence that the codes depend on the factors: check the encoder and the order of the rows."
    )


def read_calibrated_score() -> str:
    """What to do about a high noise floor."""
    return "Read the calibrated score."


def read_a_lower_floor() -> str:
    """What to do if random codes score as high as the codes."""
    return "Do not use this score as evidence: use a metric with a noise floor near 0, or more samples."


def read_as_size() -> str:
    """What to do with a metric that depends on the numbers of codes and factors only."""
    return "Read it as a description of the representation."


def compare_with_floor() -> str:
    """What to do with a score of a metric without a finite worst or best score."""
    return "Compare it with its noise floor and with other representations of the same data."


def read_beside_factor_metrics() -> str:
    """What to do with a metric that does not use factors."""
    return "Read it beside a metric that uses the factors, such as identification or mcc."


def take_more_samples() -> str:
    """What to do if there are too few rows."""
    return "Take more samples."


def read_its_caveats() -> str:
    """What to do with an undefined score."""
    return "Read its note."


def _would_change(before: float, after: float, further: bool) -> str:
    direction = "drop" if after < before else "rise"
    of_rest = " once the other effects are removed" if further else ""
    return f"would {direction} from {before:.2f} to {after:.2f}{of_rest}"


def _changes(before: float, after: float, further: bool) -> str:
    direction = "drops" if after < before else "rises"
    of_rest = " once the other effects are removed" if further else ""
    return f"{direction} from {before:.2f} to {after:.2f}{of_rest}"
