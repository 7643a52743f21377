"""Caveats of metrics that use matching, prediction or interventions."""

from __future__ import annotations

from unweave.words.phrases import counted, listed, verb


def factors_without_code(n_missing: int, n_factors: int) -> str:
    """Caveat of the metric `mcc` if there are fewer codes than factors."""
    return (
        f"{n_missing} of {counted(n_factors, 'factor')} cannot be matched to a code, and this does not lower the "
        "score: normalise='coverage' counts them as 0."
    )


def rare_values(n_values: int, factors: tuple[str, ...]) -> str:
    """Caveat of the metric `explicitness`: values of factors that are left out because they have too few rows."""
    return (
        f"{counted(n_values, 'value')} of {listed(factors)} {'is' if n_values == 1 else 'are'} too rare to be both "
        "learned and tested, and left out."
    )


def factors_not_predicted(factors: tuple[str, ...]) -> str:
    """Caveat of the metric `dci_explicitness`: factors that are left out because no probe predicts them."""
    return (
        f"No probe predicts {listed(factors)}, so explicitness is undefined for "
        f"{verb(factors, 'it, and it is', 'them, and they are')} left out."
    )


def probe_used_no_code() -> str:
    """DCI scores that are undefined because the probe uses no code."""
    return "The probe used no code for any factor, so there are no importances to compare: the score is undefined."


def probe_used_one_code() -> str:
    """Caveat of the metric `dci_disentanglement` if the probe uses the same code for all factors."""
    return (
        "The probe used one code for all factors, so this is 0 whatever the code carries: normalise='skill' weights "
        "factors by how well they are predicted."
    )


def one_code_for_all() -> str:
    """Caveat of the metric `dci_completeness`, which is undefined if there is only one code."""
    return "There is one code, so every factor is predicted from it: the score is undefined."


def dead_codes_counted(n_codes: int, without: float) -> str:
    """Caveat of the metric `dci_completeness`, which counts constant codes as published."""
    return f"All {n_codes} codes count, as published: without the constant ones the score would be {without:.3f}."


def fewer_codes_than_factors(n_codes: int, n_factors: int) -> str:
    """Caveat of the metric `dci_size` if there are fewer codes than factors."""
    return f"There are fewer codes ({n_codes}) than factors ({n_factors}), and this does not lower the score."


def factors_not_held(factors: tuple[str, ...]) -> str:
    """Factors that are left out because too few rows share a value of them."""
    return f"{listed(factors)} {verb(factors, 'is', 'are')} left out, because too few rows share a value to hold fixed."


def few_rows_per_value(n_rows: float, effect: str) -> str:
    """Few rows for each value of a factor; ``effect`` states the consequence for the metric."""
    effects = {
        "batches alike": "so the batches resemble each other",
        "noise scores": "which raises the score of random codes",
    }
    return f"Few rows share a factor value ({n_rows:.0f} in a typical cell), {effects.get(effect, effect)}."


def one_factor_to_tell() -> str:
    """A score by votes that is undefined because fewer than two factors can be scored."""
    return "Fewer than two factors can be scored, so the score is undefined."


def one_code_wins() -> str:
    """A score by votes that is at chance level because only one code varies."""
    return "Only one code varies and it wins every vote, so the score is that of guessing."


def alignment_ignores_mixing() -> str:
    """Caveat of the metric `t_mex` with score='alignment', which is 1 for mixed codes as well."""
    return "Alignment does not measure entanglement: codes that mix all factors also score 1."


def too_few_rows_for_tests() -> str:
    """Caveat of the metric `t_mex`, which is undefined if there are too few rows for conditional tests."""
    return "There are too few rows for tests conditional on this many factors: pass more samples."


def more_factors_than_codes(n_more: int) -> str:
    """Caveat of the metric `t_mex` if there are more factors than codes."""
    return (
        f"There are {counted(n_more, 'factor')} more than codes, and each counts as a factor without a code: one "
        "mismatch."
    )


def factors_without_residual(factors: tuple[str, ...]) -> str:
    """Caveat of the metric `t_mex` if other factors explain some factors completely."""
    return (
        f"The other factors explain {listed(factors)} completely, so codes count as independent of "
        f"{verb(factors, 'it', 'them')}."
    )


def factors_determined(factors: tuple[str, ...]) -> str:
    """Caveat of the metric `t_mex` if some factors are functions of other factors."""
    are = verb(factors, "is a function", "are functions")
    return (
        f"{listed(factors)} {are} of other factors, so a conditional test finds a dependence on "
        f"{verb(factors, 'it', 'them')} only where its regressions are imprecise."
    )


def codes_without_residual(n_pairs: int, of: int) -> str:
    """Caveat of the metric `t_mex`: pairs of a factor and a code that the other factors explain."""
    return (
        f"In {n_pairs} of {counted(of, 'pair')} the code is a function of the other factors, which counts as "
        "independence."
    )


def groups_ignored_in_tests() -> str:
    """Caveat of the metric `t_mex` if there are row groups."""
    return "The tests treat rows of one group as independent, so p-values are too small."
