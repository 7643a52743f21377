"""The answer: one row for each factor, one line for each question, what to report and what to do next."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from unweave.codec import plain_data
from unweave.evaluation import Evaluation, Row
from unweave.evaluation.choose import OTHER, QUESTIONS, Question, question_of
from unweave.findings import Finding, shared_reason
from unweave.metrics.identification import IDENTIFIED
from unweave.metrics.identification import PARTLY as PARTLY_IDENTIFIED
from unweave.sentences import brief, fixed, found_factors, listed, most_found, reported_score, say, separate, texts
from unweave.trust.comparison import Comparison
from unweave.trust.diagnosis import Diagnosis
from unweave.trust.verdict_record import Level, Reason

SOURCE = "identification"


@dataclass(frozen=True)
class FactorRow:
    """Whether one factor was found, in which codes, and if not, why.

    ``found`` is 'yes', 'partly', 'no', 'implied' (other factors determine it, so it need not be encoded) or 'not
    known'. ``share`` is how well codes of its own recover the factor, from 0 to 1, with an interval. ``readable`` is
    the R2 of the factor from all codes.
    """

    factor: str
    found: str
    codes: tuple[str, ...] = ()
    share: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str = ""
    mixed_with: tuple[str, ...] = ()
    readable: float | None = None
    obstacle: str = ""

    @property
    def counts(self) -> bool:
        """Whether the factor is counted in the headline: neither implied nor unknown."""
        return self.found in ("yes", "partly", "no")


def factor_rows(evaluation: Evaluation, representation: str) -> tuple[FactorRow, ...]:
    """A row for every factor, from the findings of `identification`; no rows if it was not computed."""
    row = evaluation.row(SOURCE, representation)
    if row is None or row.score is None:
        return ()
    findings = {finding.factors[0]: finding for finding in row.score.findings if finding.factors}
    diagnosis = evaluation.data.diagnosis.get(representation)
    constant = diagnosis.constant_factors if diagnosis else ()
    determined_by = {entry.determined: entry.by for entry in diagnosis.constraints} if diagnosis else {}
    undefined = math.isnan(row.score.raw)
    return tuple(
        _row(name, j, row, findings.get(name), determined_by.get(name, ()), name in constant, undefined)
        for j, name in enumerate(evaluation.data.factor_names)
    )


def _row(
    name: str,
    place: int,
    row: Row,
    finding: Finding | None,
    determined_by: tuple[str, ...],
    constant: bool,
    undefined: bool,
) -> FactorRow:
    score = row.score
    assert score is not None
    if constant:
        return FactorRow(name, "not known", obstacle=say("obstacle", reason="constant"))
    if finding is None:
        return FactorRow(name, "not known")
    found = "not known" if undefined else texts("found").get(finding.kind, "not known")
    reason = str(finding.quantities.get("reason", ""))
    if found == "implied":
        return FactorRow(
            name, found, reason="implied", obstacle=say("obstacle", reason="implied", others=determined_by)
        )
    low, high = _ends(row, name)
    readable = score.parts.get("affine_recovery")
    return FactorRow(
        factor=name,
        found=found,
        codes=finding.codes,
        share=_known(finding.quantities.get("share", score.per_factor.get(name, math.nan))),
        low=low,
        high=high,
        reason=reason,
        mixed_with=finding.factors[1:],
        readable=None if readable is None else _known(readable[place]),
        obstacle="" if found == "yes" else say("obstacle", reason=reason, others=finding.factors[1:]),
    )


def _ends(row: Row, factor: str) -> tuple[float | None, float | None]:
    """Ends of the factor's interval, clipped to 0 and 1."""
    ends = row.interval.per_factor.get(factor) if row.interval is not None and row.interval.defined else None
    if ends is None or any(map(math.isnan, ends)):
        return None, None
    low, high = (float(min(max(end, 0.0), 1.0)) for end in ends)
    return low, high


def _known(number: Any) -> float | None:
    return None if number is None or math.isnan(float(number)) else max(0.0, float(number))


NOISE_LEVEL = "noise level"

SIGNIFICANT = 0.05


def is_at_noise_level(row: Row) -> bool:
    """Whether the score is not significantly better than that of random codes."""
    floor = row.noise_floor
    return floor is not None and floor.defined and floor.p_value > max(SIGNIFICANT, floor.resolution)


def verdict_in_words(row: Row) -> str:
    """The verdict; a trusted score that random codes reach as well is called 'noise level'.

    The word 'trust' beside the low score of random codes could be misread as praise.
    """
    return NOISE_LEVEL if row.level is Level.TRUST and is_at_noise_level(row) else row.level


def by_question(evaluation: Evaluation) -> dict[Question, list[str]]:
    """Labels of the metrics by question, sorted by their mean verdict over representations.

    >>> from unweave import evaluate
    >>> z = [[float(i % 7), float(i % 5)] for i in range(60)]
    >>> evaluation = evaluate(z, z, metrics=["r2", "mcc"], quick=True)
    >>> {question.name: labels for question, labels in by_question(evaluation).items()}
    {'recovery': ['mcc'], 'explicitness': ['r2']}
    """
    groups: dict[Question, list[str]] = {}
    measures = {row.label: row.card.measures for row in reversed(evaluation.rows)}
    for question in (*QUESTIONS, OTHER):
        labels = [label for label in evaluation.labels if question_of(measures[label]) is question]
        if labels:
            groups[question] = sorted(labels, key=lambda label: _group_doubt(evaluation, label))
    return groups


def _group_doubt(evaluation: Evaluation, label: str) -> float:
    """Mean rank of the verdicts of a metric, lower ranks being better; metrics that failed come last."""
    rows = [row for name in evaluation.representations if (row := evaluation.row(label, name))]
    ranks = [row.level.gravity + (row.score is None) * 10 for row in rows]
    return sum(ranks) / len(ranks)


YES, PARTLY = 0.8, 0.1  # limits of the answers, as shares of the distance from noise floor to best score

OTHER_CONTENT = "other content"

UNEXPLAINED = "unexplained variance"


@dataclass(frozen=True)
class QuestionLine:
    """A question and its answer: 'yes', 'partly', 'no' or 'not known', by a metric with its score and verdict.

    ``spread`` is the standard deviation over seeds, ``noise`` the score of random codes, ``level`` the verdict (or 'not
    checked'), and ``at_noise_level`` whether the score is no better than noise. ``others`` are the other metrics of
    the question that were computed.
    """

    question: str
    text: str
    short: str
    answer: str
    metric: str = ""
    value: float | None = None
    spread: float | None = None
    noise: float | None = None
    low: float | None = None
    high: float | None = None
    confidence: float | None = None
    level: Level = Level.NOT_CHECKED
    at_noise_level: bool = False
    sentence: str = ""
    others: tuple[str, ...] = ()

    @property
    def stated_value(self) -> str:
        """The score with two decimals, or a share of variance in per cent."""
        if self.value is None:
            return ""
        return fixed(self.value, 2) if self.metric else f"{100 * self.value:.0f} %"

    @property
    def source(self) -> str:
        """The source of the answer: a metric, or the unexplained variance from the diagnosis."""
        return self.metric or UNEXPLAINED


def question_lines(evaluation: Evaluation, representation: str) -> tuple[QuestionLine, ...]:
    """A line for every question that a computed metric or the diagnosis answers, in the order of `QUESTIONS`."""
    lines = []
    for question in QUESTIONS:
        rows = rows_of(question, evaluation, representation)
        if question.name == OTHER_CONTENT:
            content = _other_content(question, evaluation, representation)
            lines += [content] if content else []
        elif rows:
            labels = tuple(row.label for row in rows)
            lines.append(line_of(question, chosen_row(rows), evaluation, labels))
    return tuple(lines)


def rows_of(question: Question, evaluation: Evaluation, representation: str) -> list[Row]:
    """Rows of a question's metrics that have a score and a best value; metrics of its panel come first."""
    labels = [label for label in evaluation.labels if question_of(_card(evaluation, label)) is question]
    order = {name: k for k, name in enumerate(question.panel)}
    labels.sort(key=lambda label: order.get(label, len(order)))
    found = [evaluation.row(label, representation) for label in labels]
    return [row for row in found if row is not None and has_number(row)]


def chosen_row(rows: Sequence[Row]) -> Row:
    """The row with the best verdict; among equal verdicts, prefer a noise floor and an interval, then the first row."""

    def order(row: Row) -> tuple[int, int]:
        floor = row.noise_floor
        known = (floor is not None and floor.defined) or row.chance is not None
        measured = row.interval is not None and row.interval.defined
        return row.level.gravity, 2 - known - measured

    return min(rows, key=order)


def line_of(question: Question, row: Row, evaluation: Evaluation, labels: tuple[str, ...] = ()) -> QuestionLine:
    """The line of a metric: the mean score over seeds; noise floor, interval and verdict are those of ``row``."""
    interval, floor = row.interval, row.noise_floor
    mean, spread = evaluation.mean_and_spread(row.label, row.representation)
    n_seeds = len(evaluation.values(row.label, row.representation))
    low, high = interval.clipped if interval is not None and interval.defined else (None, None)
    noise = floor.floor if floor is not None and floor.defined else row.chance
    return QuestionLine(
        question=question.name,
        text=question.text,
        short=question.short,
        answer=_in_a_word(row, noise),
        metric=row.label,
        value=mean,
        spread=spread if n_seeds > 1 else None,
        noise=noise,
        low=low,
        high=high,
        confidence=interval.level if interval is not None and low is not None else None,
        level=row.level,
        at_noise_level=is_at_noise_level(row),
        others=tuple(label for label in labels if label != row.label),
    )


def _in_a_word(row: Row, noise: float | None) -> str:
    """The answer in a word, from the position of the score between noise and the best score."""
    if row.score is None or not math.isfinite(row.card.best) or row.level in (Level.DO_NOT_USE, Level.NO_VERDICT):
        return "not known"
    start = row.card.bounds[0] if not row.card.lower_is_better else row.card.bounds[1]
    start = noise if noise is not None else start
    if not math.isfinite(start) or start == row.card.best:
        return "not known"
    share = (row.score.value - start) / (row.card.best - start)
    return "yes" if share >= YES else "partly" if share > PARTLY else "no"


def _other_content(question: Question, evaluation: Evaluation, representation: str) -> QuestionLine | None:
    """The share of the codes' variance that no factor explains, from the diagnosis."""
    diagnosis = evaluation.data.diagnosis.get(representation)
    share = math.nan if diagnosis is None else diagnosis.nuisance_share
    if math.isnan(share):
        return None
    answer = "yes" if share >= 1 - YES else "partly" if share > PARTLY else "no"
    return QuestionLine(
        question=question.name,
        text=question.text,
        short=question.short,
        answer="a little" if answer == "partly" else answer,
        value=float(share),
        sentence=say("unexplained", share=float(share)),
    )


def _card(evaluation: Evaluation, label: str) -> str:
    return next(row.card.measures for row in evaluation.rows if row.label == label)


def has_number(row: Row) -> bool:
    """Whether there is a defined score of a metric that has a best value."""
    return row.score is not None and not math.isnan(row.score.raw) and not math.isnan(row.card.best)


@dataclass(frozen=True)
class SharedReason:
    """A reason, the scores that share it and their verdict, the advice that follows, and where the reason is explained.

    ``names_scores`` is whether the sentence already names the scores, and ``of_first`` the reason of the first score
    alone, which states more numbers.
    """

    sentence: str
    scores: tuple[str, ...]
    level: Level
    names_scores: bool
    of_first: str
    advice: str
    section: str


def shared_reasons(
    evaluation: Evaluation, rows: Iterable[Row] | None = None, main_only: bool = True
) -> list[SharedReason]:
    """The main reason of every score that is not trusted, once for all scores with the same verdict and reason.

    The worst verdicts come first. By default, ``rows`` are those of the whole evaluation.
    """
    several = rows is None and len(evaluation.representations) > 1
    groups: dict[tuple[Level, *tuple[object, ...]], dict[str, tuple[Reason, str]]] = {}
    for row in evaluation.rows if rows is None else rows:
        if row.verdict is None or row.level is Level.TRUST:
            continue
        for reason in row.verdict.reasons[: 1 if main_only else None]:
            finding = reason.finding
            moves = {"before", "after"} <= set(finding.quantities)
            cause = (finding.kind, finding.factors) if moves else (str(finding),)
            name = f"{row.label} of {row.representation}" if several else row.label
            groups.setdefault((row.level, *cause), {}).setdefault(name, (reason, row.representation))
    shared = []
    for (level, *_), members in groups.items():
        of_all = shared_reason({name: reason.finding for name, (reason, _) in members.items()})
        first, representation = next(iter(members.values()))
        advice = fitting_advice(first, evaluation, representation)
        shared.append(
            SharedReason(
                sentence=of_all or first.sentence,
                scores=tuple(members),
                level=level,
                names_scores=of_all is not None,
                of_first=first.sentence,
                advice=advice,
                section=first.section,
            )
        )
    return sorted(shared, key=lambda reason: -reason.level.gravity)


SHOWN = 50  # largest number of codes that a page lists

SMALLEST_Q = 1e-6  # smaller q-values are shown as '< 1e-06'


def screening_sentences(evaluation: Evaluation) -> list[str]:
    """A text of one or two sentences for every representation whose codes were screened."""
    several = len(evaluation.representations) > 1
    said = []
    for name, found in evaluation.data.screening.items():
        finding = Finding(
            "codes_screened",
            n_codes=found.n_codes,
            n_found=found.n_found,
            n_scored=found.n_scored,
            n_rows=found.n_rows,
            rate=found.rate,
        )
        sentence = str(finding)
        said.append(f"{name}: {sentence}" if several else sentence)
    return said


def code_lists(evaluation: Evaluation) -> list[dict[str, Any]]:
    """For every representation whose codes were screened, the codes that a page shows, and how many it does not."""
    lists = []
    sentences = screening_sentences(evaluation)
    for (name, found), sentence in zip(evaluation.data.screening.items(), sentences, strict=True):
        shown = [plain_data(code) | {"q": _q(code.q_value)} for code in found.codes[:SHOWN]]
        hidden = found.n_codes - len(shown)
        lists.append({"representation": name, "sentence": sentence, "codes": shown, "n_hidden": hidden})
    return lists


def _q(value: float) -> str:
    return brief(value) if value >= SMALLEST_Q else f"< {brief(SMALLEST_Q)}"


MOST_STEPS = 5

ANY_DEPENDENCE = 0.1  # weaker correlations of factors need no advice


def next_steps(
    evaluation: Evaluation, representation: str, rows: Sequence[FactorRow], lines: Sequence[QuestionLine]
) -> list[str]:
    """Recommendations as sentences, the most important first."""
    steps = [*_of_checks(evaluation, lines), *of_factors(rows), *_of_questions(evaluation, representation, lines)]
    return list(dict.fromkeys(steps))[:MOST_STEPS] or [say("nothing_in_the_way")]


def _of_checks(evaluation: Evaluation, lines: Sequence[QuestionLine]) -> Iterator[str]:
    if not any(row.verdict for row in evaluation.rows):
        yield say("evaluate_in_full")


def of_factors(rows: Sequence[FactorRow]) -> Iterator[str]:
    """One recommendation for every group of mixed factors, then one for every other reason."""
    missing = [row for row in rows if row.found in ("no", "partly")]
    for names in _mixed_groups(missing):
        of_group = [row for row in rows if row.factor in names]
        readable = [row.readable for row in of_group if row.readable is not None]
        codes = _codes_of([row for row in of_group if row in missing])
        yield separate([row.factor for row in of_group], codes, min(readable) if readable else None)
    for reason in ("absent", "noisy", "folded"):
        of_reason = [row for row in missing if row.reason == reason]
        if of_reason:
            yield say(reason, factors=[row.factor for row in of_reason], codes=_codes_of(of_reason))


def _codes_of(rows: Sequence[FactorRow]) -> list[str]:
    return list(dict.fromkeys(code for row in rows for code in row.codes))


def _mixed_groups(rows: Sequence[FactorRow]) -> list[set[str]]:
    """Factors that are mixed with each other, directly or through others."""
    groups: list[set[str]] = []
    for row in rows:
        if row.reason != "mixed":
            continue
        joined = {row.factor, *row.mixed_with}
        for group in [group for group in groups if group & joined]:
            groups.remove(group)
            joined |= group
        groups.append(joined)
    return groups


def _of_questions(evaluation: Evaluation, representation: str, lines: Sequence[QuestionLine]) -> Iterator[str]:
    """Why the metrics of some questions are not trusted, and what to do; every reason once."""
    rows = [row for line in lines if (row := evaluation.row(line.metric, representation))]
    for reason in shared_reasons(evaluation, rows):
        sentence = reason.sentence if len(reason.scores) > 1 else reason.of_first
        yield f"{listed(reason.scores)} ({reason.level}): {sentence} {reason.advice}".rstrip()


def fitting_advice(reason: Reason, evaluation: Evaluation, representation: str) -> str:
    """The advice of the reason, adapted to these data.

    Metrics that are at noise level here are not recommended. If the factors do not depend on each other, there is no
    advice to remove their correlation.
    """
    advice = reason.advice
    if advice is None or advice.kind != "advice":
        return reason.instead
    concerns = str(advice.quantities["concerns"])
    if concerns == "P1" and not _factors_depend(evaluation.data.diagnosis.get(representation)):
        return ""
    named = [name for name in str(advice.quantities.get("metrics", "")).split(" or ") if name]
    useful = [name for name in named if _says_something(evaluation.row(name, representation))]
    return str(Finding("advice", concerns=concerns, metrics=" or ".join(useful)))


def _factors_depend(diagnosis: Diagnosis | None) -> bool:
    """Whether the diagnosis found a dependence between factors."""
    if diagnosis is None:
        return False
    free = diagnosis.max_free_correlation  # nan or 0 if there are fewer than two free factors
    correlation = diagnosis.max_correlation if math.isnan(free) or not free else free
    return correlation >= ANY_DEPENDENCE or bool(diagnosis.constraints or diagnosis.dependent_pairs)


def _says_something(row: Row | None) -> bool:
    """Whether a metric was computed and its score is not at noise level."""
    return row is not None and row.score is not None and not is_at_noise_level(row)


MUCH_HIGHER = 0.1  # smallest difference of mcc and identification that mcc_note explains


@dataclass(frozen=True)
class Answer:
    """The results of one representation, in sentences and two small tables.

    ``headline`` states how many factors have codes of their own, and ``report`` is a sentence for a paper.
    ``next_steps`` are recommendations, the most important first. ``remark`` is a caveat about the table of factors, and
    ``reading`` explains the two tables. ``mcc_note`` explains why `mcc` is much higher than `identification`.
    """

    representation: str
    headline: str
    factors: tuple[FactorRow, ...]
    questions: tuple[QuestionLine, ...]
    report: str
    next_steps: tuple[str, ...]
    remark: str = ""
    reading: tuple[str, ...] = ()
    mcc_note: str = ""

    @property
    def trusted(self) -> tuple[QuestionLine, ...]:
        """Questions that are answered by a trusted metric."""
        return tuple(line for line in self.questions if line.level is Level.TRUST)

    def factors_that_are(self, found: str) -> list[str]:
        """Names of the factors with this value of ``found``."""
        return [row.factor for row in self.factors if row.found == found]


def answer_of(evaluation: Evaluation, representation: str | None = None) -> Answer:
    """The answer for one representation, the first unless another is named.

    Examples
    --------
    >>> import numpy as np, unweave
    >>> factors = np.random.default_rng(0).normal(size=(300, 2))
    >>> found = answer_of(unweave.evaluate(factors, factors[:, ::-1], quick=True))
    >>> found.headline
    'Both factors have codes of their own.'
    >>> [(row.factor, row.found, row.codes) for row in found.factors]
    [('factor 0', 'yes', ('code 1',)), ('factor 1', 'yes', ('code 0',))]
    """
    name = evaluation.representations[0] if representation is None else representation
    rows, lines = factor_rows(evaluation, name), question_lines(evaluation, name)
    headline = _headline(evaluation, name, rows)
    return Answer(
        representation=name,
        headline=headline,
        factors=rows,
        questions=lines,
        report=_report(evaluation, name, rows, lines),
        next_steps=tuple(next_steps(evaluation, name, rows, lines)),
        remark=_remark(evaluation, name) if rows else "",
        reading=_reading(evaluation, name, rows, lines),
        mcc_note=say("mcc_beside_identification") if _mcc_is_higher(evaluation, name) else "",
    )


def _headline(evaluation: Evaluation, representation: str, rows: tuple[FactorRow, ...]) -> str:
    if not evaluation.data.factors:
        return "There are no factors, so the answer cannot say which were found."
    if not rows:
        row = evaluation.row(SOURCE, representation)
        problem = str(row.problem) if row is not None and row.problem else ""
        return f"Which factors were found is not known. {problem}" if problem else say("no_factor_table")
    named = {found: [row.factor for row in rows if row.found == found] for found in ("yes", "partly", "no", "implied")}
    if not any(row.counts for row in rows):
        row = evaluation.row(SOURCE, representation)
        caveats = list(map(str, row.score.caveats)) if row is not None and row.score else []
        return say("undefined_table", caveats=" ".join(caveats))
    first = found_factors(named["yes"], named["partly"], named["no"])
    return f"{first} {say('implied_factors', names=named['implied'])}" if named["implied"] else first


def _remark(evaluation: Evaluation, representation: str) -> str:
    row = evaluation.row(SOURCE, representation)
    doubted = row is not None and row.level in (Level.CAUTION, Level.DO_NOT_USE)
    return say("doubtful_table", metric=SOURCE, level=row.level) if row is not None and doubted else ""


def _reading(
    evaluation: Evaluation, representation: str, rows: tuple[FactorRow, ...], lines: tuple[QuestionLine, ...]
) -> tuple[str, ...]:
    confidence = next((line.confidence for line in lines if line.confidence), None)
    of_questions = say("reading_of_questions", yes=YES, partly=PARTLY, confidence=confidence)
    return _reading_of_factors(evaluation, representation, rows), of_questions if lines else ""


def _reading_of_factors(evaluation: Evaluation, representation: str, rows: tuple[FactorRow, ...]) -> str:
    if not any(row.counts for row in rows):
        return ""
    score = evaluation.score(SOURCE, representation)
    free = score.parts.get("free_factors", np.ones(len(rows)))
    shown = [(row, bool(is_free)) for row, is_free in zip(rows, free, strict=True) if row.share is not None]
    redundant = [row.factor for row, is_free in shown if not is_free]
    mean = fmean([row.share or 0.0 for row, is_free in shown if is_free] or [0.0])
    is_lower = fixed(score.value, 2) != fixed(mean, 2)
    of_factors = say(
        "reading_of_factors", source=SOURCE, value=score.value, mean=mean, redundant=redundant, is_lower=is_lower
    )
    return f"{of_factors} {say('reading_of_found', yes=IDENTIFIED, partly=PARTLY_IDENTIFIED)}"


def _mcc_is_higher(evaluation: Evaluation, representation: str) -> bool:
    rows = evaluation.row("mcc", representation), evaluation.row(SOURCE, representation)
    mcc, own = (row.score.value if row is not None and row.score is not None else math.nan for row in rows)
    return mcc - own >= MUCH_HIGHER


def _report(
    evaluation: Evaluation, representation: str, rows: tuple[FactorRow, ...], lines: tuple[QuestionLine, ...]
) -> str:
    """The trusted numbers in one sentence, and how many factors have codes of their own."""
    if all(line.level is Level.NOT_CHECKED for line in lines):
        return "These scores are not checked: do not report them before noise floors and verdicts are computed."
    scores = [
        reported_score(line.metric, line.value, line.low, line.high, line.confidence, line.noise)
        for line in lines
        if line.level is Level.TRUST and line.question != OTHER_CONTENT and line.value is not None
    ]
    if not scores:
        return say("no_report")
    yes, n = sum(row.found == "yes" for row in rows), sum(row.counts for row in rows)
    found = f"{yes} of {n} factors {'has a code of its' if yes == 1 else 'have codes of their'} own." if n else ""
    data = evaluation.data
    screening = data.screening.get(representation)
    return say(
        "report",
        n_rows=data.n_rows,
        n_codes=data.representations[representation].n_codes,
        scores=scores,
        found=found,
        n_given=screening.n_codes if screening else None,
    )


NOT_COMPARED = 0.5  # penalty on the rank of a metric without intervals


@dataclass(frozen=True)
class Ranked:
    """One representation by one metric; ``best`` if it does not differ significantly from the best representation."""

    representation: str
    value: float | None
    low: float | None
    high: float | None
    level: Level
    verdict: str
    best: bool
    letters: str = ""
    spread: float | None = None


@dataclass(frozen=True)
class ComparedQuestion:
    """A question, the metric that answers it for most representations, and the representations ranked by it."""

    question: str
    text: str
    short: str
    metric: str
    noise: tuple[float, float] | None
    ranked: tuple[Ranked, ...]


@dataclass(frozen=True)
class ComparedAnswer:
    """The answer for several representations."""

    headline: str
    representations: tuple[Answer, ...]
    questions: tuple[ComparedQuestion, ...]
    report: str
    next_steps: tuple[str, ...]
    mcc_note: str = ""


def compared_answer(evaluation: Evaluation) -> ComparedAnswer:
    """The answer for all representations of an evaluation.

    >>> import numpy as np, unweave
    >>> rng = np.random.default_rng(0)
    >>> factors = rng.normal(size=(300, 2))
    >>> both = unweave.compare(factors, {"kept": factors, "noise": rng.normal(size=(300, 2))}, quick=True)
    >>> compared_answer(both).headline
    'kept has every factor in a code of its own.'
    """
    found = tuple(answer_of(evaluation, name) for name in evaluation.representations)
    questions = tuple(
        compared
        for question in QUESTIONS
        if question.name != OTHER_CONTENT and (compared := _compared(question, evaluation))
    )
    counts = {
        answer.representation: (len(answer.factors_that_are("yes")), sum(row.counts for row in answer.factors))
        for answer in found
        if any(row.counts for row in answer.factors)
    }
    steps = dict.fromkeys(
        f"{answer.representation}: {step}" for answer in found for step in list(of_factors(answer.factors))[:1]
    )
    return ComparedAnswer(
        headline=most_found(counts),
        representations=found,
        questions=questions,
        report=_comparison_report(questions),
        next_steps=tuple(steps)[:MOST_STEPS] or (say("nothing_in_the_way"),),
        mcc_note=next((answer.mcc_note for answer in found if answer.mcc_note), ""),
    )


def _compared(question: Question, evaluation: Evaluation) -> ComparedQuestion | None:
    """The question, answered by the metric with scores for most representations; among several, by the most trusted.

    A metric without intervals does not show which representations differ, so metrics with intervals and the same
    verdicts are preferred.
    """
    comparisons = evaluation.data.comparison
    by_metric: dict[str, dict[str, int]] = {}
    for name in evaluation.representations:
        for row in rows_of(question, evaluation, name):
            by_metric.setdefault(row.label, {})[name] = row.level.gravity
    if not by_metric:
        return None

    def order(label: str) -> tuple[int, float]:
        told_apart = label in comparisons and bool(comparisons[label].letters)
        return -len(by_metric[label]), fmean(by_metric[label].values()) + (0.0 if told_apart else NOT_COMPARED)

    metric = min(by_metric, key=order)
    return compared_by(metric, question, evaluation)


def compared_by(metric: str, question: Question, evaluation: Evaluation) -> ComparedQuestion:
    """The representations by one metric, best first; those without a score last."""
    rows = [row for name in evaluation.representations if (row := evaluation.row(metric, name))]
    lines = {row.representation: line_of(question, row, evaluation) for row in rows if has_number(row)}
    comparison = evaluation.data.comparison.get(metric, Comparison(metric, 0.95))
    letters, best = comparison.letters, set(next(iter(comparison.ties), ()))
    floors = [line.noise for line in lines.values() if line.noise is not None]
    return ComparedQuestion(
        question=question.name,
        text=question.text,
        short=question.short,
        metric=metric,
        noise=(min(floors), max(floors)) if floors else None,
        ranked=tuple(
            _ranked(row, lines.get(row.representation), row.representation in best, letters)
            for row in sorted(rows, key=_best_first)
        ),
    )


def _ranked(row: Row, line: QuestionLine | None, best: bool, letters: dict[str, str]) -> Ranked:
    verdict = verdict_in_words(row)
    if line is None:
        return Ranked(row.representation, None, None, None, row.level, "failed" if row.problem else "undefined", False)
    name, best = row.representation, best and line.level is not Level.DO_NOT_USE
    return Ranked(name, line.value, line.low, line.high, line.level, verdict, best, letters.get(name, ""), line.spread)


def _best_first(row: Row) -> tuple[bool, float]:
    if not has_number(row) or row.score is None:
        return True, 0.0
    return False, row.score.raw if row.card.lower_is_better else -row.score.raw


def _comparison_report(questions: tuple[ComparedQuestion, ...]) -> str:
    sentences = []
    for question in questions:
        best = [entry.representation for entry in question.ranked if entry.best and entry.level is Level.TRUST]
        if best and len(best) < len(question.ranked):
            sentences.append(say("best_by", metric=question.metric, names=best))
        elif best:
            sentences.append(say("all_tied_by", metric=question.metric))
    return " ".join(sentences) or say("nothing_told_apart")


SCHEMA = "unweave.answer/1"


def plain_answer(evaluation: Evaluation) -> dict[str, Any]:
    """The answer for one representation; for several, the comparison and the answer for each.

    >>> from unweave import evaluate
    >>> z = [[float(i % 7), float(i % 5)] for i in range(60)]
    >>> sorted(plain_answer(evaluate(z, z, metrics="mcc", quick=True)))[:6]
    ['factors', 'headline', 'mcc_note', 'next_steps', 'questions', 'reading']
    """
    several = len(evaluation.representations) > 1
    return {"schema": SCHEMA, **plain_data(compared_answer(evaluation) if several else answer_of(evaluation))}
