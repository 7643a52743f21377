"""Caveats of metrics in the folders information, posterior, geometry and identification."""

from __future__ import annotations

from unweave.words.phrases import counted, listed


def one_factor() -> str:
    """Meaning of the gap between the two best factors if there is only one factor."""
    return "There is one factor, so the gap is its distance from a factor without information."


def other_bins_than_minimality(here: float, there: float) -> str:
    """Caveat of the metric `sufficiency` if it is different with the bins of `minimality`."""
    return (
        f"With the bins of minimality, of equal width as in 004, sufficiency is {there:.3f} instead of {here:.3f}: "
        "pass estimator=Histogram(20, 'equal_width') to compare the two metrics, or codes on another scale."
    )


def no_code_informative() -> str:
    """A score that is undefined because no code is informative."""
    return "No code carries information about any factor, so the score is undefined."


def one_code_active() -> str:
    """Caveat of the metric `infomec_compactness`, which is undefined if only one code is active."""
    return "Only one code is active, so no factor can be in two codes: the score is undefined."


def uninformative_codes_left_out(n_codes: int) -> str:
    """Number of codes that are left out of the mean, because they carry no information about any factor."""
    return (
        f"{counted(n_codes, 'code')} {'carries' if n_codes == 1 else 'carry'} no information about any factor and "
        f"{'is' if n_codes == 1 else 'are'} left out."
    )


def unencoded_factors_left_out(n_factors: int) -> str:
    """Number of factors that are left out of the mean, because no code carries information about them."""
    return f"No code carries information about {counted(n_factors, 'factor')}, left out of the score."


def empty_codes_left_out(n_codes: int) -> str:
    """Caveat of the metric `minimality`: the number of codes that are left out because they carry no information."""
    return (
        f"{counted(n_codes, 'code')} {'carries' if n_codes == 1 else 'carry'} no information at all and "
        f"{'is' if n_codes == 1 else 'are'} left out."
    )


def all_codes_empty() -> str:
    """A score that is undefined because no code carries any information."""
    return "No code carries any information, so the score is undefined."


def no_nuisances_given() -> str:
    """Caveat of the metric `minimality` if there are code groups and no nuisances."""
    return "No nuisances are given, so information of code groups beyond the factors is not measured."


def no_other_factors() -> str:
    """Caveat of the metric `factors_invariance` if only one factor varies."""
    return "Only one factor varies, so there are no other factors to be invariant to."


def classifiers_sampled_rows(n_rows: int, of: int) -> str:
    """Usable information that was estimated by classifiers on a random sample of the rows."""
    return f"The classifiers used {n_rows:,} of {of:,} rows, drawn at random (most_rows)."


def mixtures_sampled_rows(n_rows: int, of: int) -> str:
    """An estimate with mixtures of the posteriors of a random sample of the rows."""
    return (
        f"The mixtures of posteriors were made of {n_rows:,} of {of:,} rows, drawn at random (most_rows); the standard "
        "error is among the parts of the score."
    )


def codes_sampled(n_codes: int, of: int) -> str:
    """Caveat of a metric whose mean is taken over a random sample of the codes."""
    return f"{n_codes:,} of {of:,} codes were scored, drawn at random (most_units)."


def information_near_limit(information: float, limit: float) -> str:
    """An estimate of I(x, z) close to its upper bound log N."""
    return (
        f"I(x, z) is estimated as {information:.2f} nats, close to log N = {limit:.2f}, which no estimate from N "
        "samples can exceed: read it as a lower bound, or pass more samples."
    )


def samples_told_apart(information: float, limit: float) -> str:
    """Codes that together identify every sample, so that their shared information cannot be estimated."""
    return (
        f"All codes together identify every sample (I(x, z) is estimated as {information:.2f} of at most "
        f"log N = {limit:.2f} nats), so what codes share cannot be estimated and the score is undefined: pass more "
        "samples, or wider posteriors."
    )


def pairs_told_apart(n_pairs: int, of: int, limit: float) -> str:
    """Number of pairs of codes that are left out, because they identify every sample."""
    return (
        f"{n_pairs} of {counted(of, 'pair')} of codes identify every sample (log N = {limit:.2f} nats), so the "
        "information that both codes carry cannot be estimated; these pairs are left out: pass more samples, or wider "
        "posteriors."
    )


def stratum_near_limit(information: float, n_rows: float, factors: tuple[str, ...]) -> str:
    """An estimate of information within one value of a factor close to its upper bound."""
    return (
        f"Within a value of {factors[0]!r} the codes carry {information:.2f} nats about the sample, close to the "
        f"logarithm of its {n_rows:.0f} rows, which no estimate can exceed: the information that the codes have "
        "together about this factor is overestimated."
    )


def unique_information_at_limit(carried: float, limit: float) -> str:
    """Posteriors so narrow that the codes without the strongest one still identify the sample."""
    return (
        f"Without its strongest code the posterior still carries {carried:.1f} nats about the sample, more than "
        f"log N = {limit:.1f}: the other codes together identify the sample and so every factor, which makes lower "
        "bounds on unique information 0 for every such model. Pass more samples, or compare models by rmig."
    )


def separated_information_at_limit(carried: float, limit: float) -> str:
    """Posteriors so narrow that the information a code adds to all others is near 0."""
    return (
        f"Without its strongest code the posterior still carries {carried:.1f} nats about the sample, more than "
        f"log N = {limit:.1f}: the other codes together identify the sample, so no code seems to add anything and the "
        "score is near 0 for every such model. Pass more samples, or read informativeness."
    )


def rare_value(n_rows: int, factors: tuple[str, ...]) -> str:
    """A value of a factor that has too few rows for an estimate of information."""
    return (
        f"A value of {factors[0]!r} occurs in only {counted(n_rows, 'row')}, too few to estimate the information that "
        "codes carry about it."
    )


def mass_outside_grid(share: float, n_others: int, threshold: float, low: float, high: float, codes: tuple[str]) -> str:
    """A posterior with mass outside the grid of bins."""
    others = f" (and more than {threshold:.0%} of {counted(n_others, 'other code')})" if n_others else ""
    return (
        f"{share:.0%} of the mass of code {codes[0]!r}{others} lies outside {low:g} to {high:g} and was put into the "
        "end bins: pass QuantisedPosterior(limits=...) that covers the codes."
    )


def no_code_tells_samples() -> str:
    """A score that is undefined because the posterior does not depend on the sample."""
    return "No code carries information about the samples, so the score is undefined."


def fewer_codes_than_k(n_codes: int, k: int) -> str:
    """Caveat of SEPIN@k and INDIN@k if there are fewer than k codes."""
    return f"There {'is' if n_codes == 1 else 'are'} {counted(n_codes, 'code')}, so the best {k} are all of them."


def one_code_in_pairs() -> str:
    """A score of pairs of codes that is undefined because fewer than two codes vary."""
    return "A pair needs two codes that vary, so the score is undefined."


def latents_without_partner(n_latents: int) -> str:
    """Number of latents without a partner, because the reference decoder has fewer latents."""
    return f"{counted(n_latents, 'latent')} {'has' if n_latents == 1 else 'have'} no partner: the reference has fewer."


def latent_without_effect() -> str:
    """Shared information that is undefined because a latent has no effect on the decoder's output."""
    return "A latent does not move the output, so the information it shares with others is undefined."


def latent_without_effect_in_samples(n_samples: int, of: int, codes: tuple[str, ...]) -> str:
    """A latent for which the derivative of the decoder is zero at some samples."""
    return (
        f"{listed(codes)} does not move the output in {n_samples} of {counted(of, 'sample')}: its entropy is minus "
        "infinity, and the information it shares with others is undefined."
    )


def latents_dependent(n_samples: int) -> str:
    """Number of samples at which columns of the decoder's Jacobian are linearly dependent."""
    return (
        f"The latents' directions are linearly dependent in {counted(n_samples, 'sample')}: they share infinitely much "
        "information there."
    )


def latents_parallel(n_others: int, codes: tuple[str, ...]) -> str:
    """Two latents that change the decoder's output in the same direction."""
    others = f", and so do {counted(n_others, 'other pair')}" if n_others else ""
    return f"{listed(codes)} move the output in the same direction{others}: the information they share is infinite."


def samples_saturated(n_samples: int, of: int, directions: bool) -> str:
    """Samples at which a decoder's derivatives are too small to be used."""
    among = " or from each other" if directions else ""
    return (
        f"{n_samples} of {counted(of, 'sample')} were left out, because the decoder's output is saturated there and "
        f"its derivatives cannot be distinguished from 0{among}."
    )


def one_latent() -> str:
    """Meaning of the information shared between latents if there is only one latent."""
    return "There is one latent, which has no other to share information with."


def codes_uninformative_here() -> str:
    """Caveat of the metric `identification` if no code depends on any factor."""
    return "No code depends on the factors, as far as can be measured on these rows."


def codes_narrow(codes: tuple[str, ...]) -> str:
    """Caveat of the metric `identification` if some codes vary much less than others and have no posterior."""
    one = len(codes) == 1
    return (
        f"{listed(codes)} {'varies' if one else 'vary'} by less than 0.2 % of the widest code and "
        f"{'counts' if one else 'count'} all the same, because this score does not depend on scales; if "
        f"{'it is the mean of a collapsed posterior' if one else 'these are means of collapsed posteriors'}, "
        f"pass the posterior so that {'it is' if one else 'they are'} left out."
    )


def combinations_extrapolated(share: float, n_mixed: int) -> str:
    """Caveat of the metric `identification` if some independent combinations of factors are not observed."""
    return (
        f"{100 * share:.0f} % of independent factor combinations are not observed; the results for the "
        f"{counted(n_mixed, 'mixed code')} are extrapolated there."
    )


def mixing_passes_for_pure(n_codes: float, n_factors: int, passing: float) -> str:
    """Caveat of the metric `identification`, which is undefined if random mixings score nearly 1."""
    return (
        f"With {n_codes:.0f} distinct codes and {n_factors} free factors, random mixings pass for codes of one factor "
        f"in {100 * passing:.0f} % of the factors, so the score is undefined; use fewer codes or more factors."
    )


def factor_identified(factors: tuple[str, ...], share: float, codes: tuple[str, ...] = ()) -> str:
    """A factor that has codes of its own."""
    return f"{factors[0]} is identified ({share:.2f}) by {listed(codes)}."


def factor_determined(factors: tuple[str, ...]) -> str:
    """A redundant factor, which need not be encoded."""
    return f"{factors[0]} follows from other factors and does not count."


def factor_partly_identified(factors: tuple[str, ...], share: float, reason: str, codes: tuple[str, ...] = ()) -> str:
    """A factor that codes of its own recover in part."""
    return f"{factors[0]} is partly identified ({share:.2f}) by {listed(codes)}: {_why(reason, factors)}."


def factor_not_identified(factors: tuple[str, ...], share: float, reason: str, codes: tuple[str, ...] = ()) -> str:
    """A factor that has no codes of its own."""
    by = f" by {listed(codes)}" if codes else ""
    return f"{factors[0]} is not identified ({share:.2f}){by}: {_why(reason, factors)}."


def _why(reason: str, factors: tuple[str, ...]) -> str:
    if reason == "mixed":
        return f"mixed with {listed(factors[1:])}" if factors[1:] else "mixed with several factors"
    return {
        "absent": "no code depends on it",
        "noisy": "the code has much variance that no factor explains",
        "folded": "different values of it give the same code",
    }[reason]
