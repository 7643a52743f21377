"""The sentences of the short answer: which factors were found, what to report, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence

from unweave.words.phrases import counted, fixed, listed, verb

# the entry of the column 'found' for each kind of finding of `identification`
FOUND = {
    "factor_identified": "yes",
    "factor_partly_identified": "partly",
    "factor_not_identified": "no",
    "factor_determined": "implied",
}
NAMES = 5  # largest number of names in a list
READ_OUT = 0.8  # smallest R2 at which a factor counts as readable from the codes


def obstacle(reason: str, others: Sequence[str] = ()) -> str:
    """Why a factor has no code of its own, in a few words.

    >>> obstacle("mixed", ["y"]), obstacle("implied", ["T"])
    ('mixed with y', 'follows from T, so no code is needed')
    """
    if reason == "mixed":
        return f"mixed with {listed(others, NAMES)}" if others else "mixed with other factors"
    if reason == "implied":
        return f"follows from {listed(others, NAMES) or 'other factors'}, so no code is needed"
    known = {
        "absent": "no code depends on it",
        "noisy": "its code is noisy",
        "folded": "different values give the same code",
        "constant": "it never varies in these data",
        "redundant": "several codes carry it",
    }
    return known.get(reason, reason)


def found_factors(yes: Sequence[str], partly: Sequence[str], no: Sequence[str]) -> str:
    """How many factors have codes of their own, and which.

    >>> found_factors(["x", "y"], [], ["shape"])
    '2 of 3 factors have codes of their own: x and y. Not found: shape.'
    """
    n = len(yes) + len(partly) + len(no)
    if len(yes) == n:
        return "The only factor has a code of its own." if n == 1 else f"{_all(n)} factors have codes of their own."
    have = verb(yes, "has a code of its own", "have codes of their own")
    first = f"{len(yes)} of {counted(n, 'factor')} {have}"
    if not yes:
        first = "The only factor has no code of its own" if n == 1 else f"None of the {n} factors has a code of its own"
    rest = [f"{first}: {listed(yes, NAMES)}." if yes else f"{first}."]
    rest += [f"Partly found: {listed(partly, NAMES)}."] if partly else []
    rest += [f"Not found: {listed(no, NAMES)}."] if no and (yes or partly) else []
    return " ".join(rest)


def _all(n: int) -> str:
    return "Both" if n == 2 else f"All {n}"


def implied_factors(names: Sequence[str]) -> str:
    """Which factors are redundant and therefore not counted."""
    forms = verb(names, "follows from other factors and does", "follow from other factors and do")
    return f"{listed(names, NAMES)} {forms} not count."


def reading_of_factors(source: str, value: float, mean: float, redundant: Sequence[str]) -> str:
    """How to read the column 'how well'; ``mean`` is its mean over the factors that are not redundant.

    >>> reading_of_factors("identification", 0.5, 0.5, ["V"]).partition("as well. ")[2]
    'identification is the mean of this column without V, which other factors determine.'
    """
    without = f" without {listed(redundant, NAMES)}, which other factors determine" if redundant else ""
    below = (
        f" Here it is {fixed(value, 2)} instead of {fixed(mean, 2)}, because less than one factor is found in all, and "
        "mixing beyond a random mixing then counts below 0."
    )
    return (
        "'How well' is 1 for a factor that has codes of its own, and 0 if a random mixing of all factors does as well. "
        f"{source} is the mean of this column{without}.{below if fixed(value, 2) != fixed(mean, 2) else ''}"
    )


def reading_of_found(yes: float, partly: float) -> str:
    """How to read the columns 'found' and 'best code'."""
    return (
        f"A factor is found from {fixed(yes, 2)} and partly found from {fixed(partly, 2)}; for any other factor the "
        "table names the code that depends on it most."
    )


def reading_of_pictures(n_rows: int) -> str:
    """How to read the small plots of a factor and its code on a page."""
    return (
        f"Each small plot shows the code (vertical axis) against the factor (horizontal axis) for {n_rows} samples. "
        "If the points lie on a curve, the factor determines the code. A wide cloud means that the code also depends "
        "on something else."
    )


def mcc_beside_identification() -> str:
    """Why the metric `mcc` may be high although `identification` is low."""
    return (
        "mcc can be high although identification is low: mcc measures how strongly each factor correlates with a code, "
        "also if that code is a mixture of factors, and identification requires a code of its own for each factor."
    )


def reading_of_questions(yes: float, partly: float, confidence: float | None) -> str:
    """How to read the table of questions."""
    intervals = f" Intervals are {100 * confidence:g} % intervals over samples." if confidence else ""
    return (
        "1 is the best score, and 'noise' is what random codes score on these data. The answer is yes if the score "
        f"covers at least {fixed(yes, 2)} of the distance from noise to 1, and partly if it covers more than "
        f"{fixed(partly, 2)}. The verdict is about the number, not about the model: 'trust' means that the score is "
        f"valid on these data, and 'noise level' that random codes score as well.{intervals}"
    )


def unexplained(share: float) -> str:
    """The share of the codes' variance that the factors do not explain.

    >>> unexplained(0.25)
    "25 % of the codes' variance is not explained by the factors"
    """
    return f"{100 * share:.0f} % of the codes' variance is not explained by the factors"


def no_factor_table() -> str:
    """Why there is no table of factors: `identification` was not computed."""
    return "Which factors were found is not known, because identification was not computed: add it to the metrics."


def doubtful_table(metric: str, level: str) -> str:
    """Caveat of the table of factors if the verdict on `identification` is not to trust it."""
    return f"The table of factors comes from {metric}, whose verdict on these data is '{level}'; the reason is below."


def undefined_table(caveats: Sequence[str]) -> str:
    """Why there is no table of factors: `identification` is undefined."""
    return " ".join(["These data do not show which factors were found.", *caveats])


def reported_score(
    metric: str, value: float, low: float | None, high: float | None, confidence: float | None, noise: float | None
) -> str:
    """A score as a paper states it.

    >>> reported_score("r2", 0.5, 0.4, 0.6, 0.95, 0.01)
    'r2 is 0.50 (95 % interval 0.40 to 0.60; random codes score 0.01)'
    """
    beside = []
    if low is not None and high is not None:
        level = f"{100 * confidence:g} % " if confidence else ""
        beside.append(f"{level}interval {fixed(low, 2)} to {fixed(high, 2)}")
    if noise is not None:
        beside.append(f"random codes score {fixed(noise, 2)}")
    stated = "; ".join(beside)
    return f"{metric} is {fixed(value, 2)}{f' ({stated})' if stated else ''}"


def report_sentence(n_rows: int, n_codes: int, scores: Sequence[str], found: str, n_given: int | None = None) -> str:
    """The trusted scores in one sentence for a paper; ``n_given`` is the number of codes before screening."""
    if not scores:
        return "No metric that was computed can be trusted on these data, so there is no number to report alone."
    codes = counted(n_codes, "code") if n_given is None else f"{n_codes:,} of {counted(n_given, 'code')}"
    data = f"{counted(n_rows, 'sample')} with {codes}"
    return f"On {data}, {listed(scores, len(scores))}.{f' {found}' if found else ''}"


def separate(factors: Sequence[str], codes: Sequence[str], readable: float | None) -> str:
    """What to do about factors that are mixed with each other."""
    where = f" in {listed(codes, NAMES)}" if codes else ""
    mixed = verb(factors, "is mixed with other factors", "are mixed with each other")
    first = f"{listed(factors, NAMES)} {mixed}{where}."
    if readable is not None and readable >= READ_OUT:
        return (
            f"{first} A linear probe of all codes reads {verb(factors, 'it', 'them')} out (R2 {fixed(readable, 2)}), "
            "so a rotation of the codes may separate them."
        )
    which = verb(codes, "this code does", "these codes do") if codes else "the codes do"
    return f"{first} Look at what {which} to the data, and try an objective that separates the factors."


def find_absent(factors: Sequence[str], _codes: Sequence[str] = ()) -> str:
    """What to do about factors that no code depends on."""
    return f"No code depends on {listed(factors, NAMES)}. Train for longer, or with a weaker penalty on the codes."


def reduce_noise(factors: Sequence[str], codes: Sequence[str]) -> str:
    """What to do about factors whose codes have much variance that no factor explains."""
    which = listed(codes, NAMES) or "the codes"
    return (
        f"Much of the variance of {which} is not explained by {listed(factors, NAMES)} or any other factor. Score "
        "posterior means instead of samples, and check whether something else varies in the data."
    )


def unfold(factors: Sequence[str], codes: Sequence[str]) -> str:
    """What to do about factors of which different values give the same code."""
    which = listed(codes, NAMES) or "a code"
    return (
        f"Different values of {listed(factors, NAMES)} give the same value of {which}. If the factor is an angle, "
        "state its kind as circular."
    )


def trust_nothing_for(question: str, metric: str, sentence: str, advice: str) -> str:
    """What to do about a question for which no computed metric can be trusted."""
    return f"{question} No metric that was computed can be trusted for this. {metric}: {sentence} {advice}".strip()


def evaluate_in_full() -> str:
    """What to do after a quick evaluation."""
    return "Evaluate without quick to get noise floors, intervals and verdicts."


def nothing_in_the_way() -> str:
    """What to do if nothing needs attention."""
    return "Nothing more is needed: report the numbers above."


def most_found(counts: dict[str, tuple[int, int]]) -> str:
    """Which representation has the most factors in codes of their own; ``counts`` has pairs (factors found, factors).

    >>> most_found({"a": (2, 3), "b": (1, 3)})
    'a has the most factors in codes of their own: 2 of 3.'
    >>> most_found({"a": (2, 2), "b": (1, 3)})
    'a has every factor in a code of its own.'
    """
    if not counts:
        return no_factor_table()
    shares = {name: found / n for name, (found, n) in counts.items()}
    most = max(shares.values())
    best = [name for name, share in shares.items() if share == most]
    if most == 0:
        return "In none of the representations does a factor have a code of its own."
    have = verb(best, "has", "have")
    if most == 1:
        return f"{listed(best, NAMES)} {have} every factor in a code of its own."
    found, n = counts[best[0]]
    if len(best) == len(counts):
        return f"All representations have the same share of factors in codes of their own: {found} of {n}."
    return f"{listed(best, NAMES)} {have} the most factors in codes of their own: {found} of {n}."


def best_by(metric: str, names: Sequence[str]) -> str:
    """The representations that are best by a metric."""
    if len(names) == 1:
        return f"{names[0]} is best by {metric}."
    return f"{listed(names, NAMES)} are best by {metric} and do not differ significantly."


def all_tied_by(metric: str) -> str:
    """By this metric, the representations do not differ significantly."""
    return f"By {metric} the representations do not differ significantly."


def nothing_told_apart() -> str:
    """By no trusted metric do the representations differ significantly."""
    return "The representations do not differ significantly by any trusted metric."
