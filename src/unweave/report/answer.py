"""The answer: how far each factor is identified, one line for each question, what to report and what to do next.

Every output takes its headline, tables, levels, report sentence and next steps from the records of this file.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np

from unweave.arrays import FloatArray
from unweave.codec import plain_data
from unweave.errors import OptionError
from unweave.evaluation import Evaluation, Row
from unweave.evaluation.choose import OTHER, QUESTIONS, Question, question_of
from unweave.evaluation.results import (
    NOT_IN_BUDGET,
    Carriers,
    CodesDescription,
    DecoderDescription,
    EvaluationData,
    GroupedScores,
)
from unweave.findings import Finding, shared_reason
from unweave.identifiability import Ladder, LadderRow
from unweave.identifiability.analysis import PRESENT
from unweave.identifiability.rungs import CARRIED, is_found, is_provisional
from unweave.metrics.manifolds import KNEE, largest_drop
from unweave.score import Score
from unweave.sentences import MINUS, between, brief, counted, fixed, listed, reported_score, say, texts
from unweave.trust.comparison import Comparison, Difference, never_below
from unweave.trust.diagnosis import Diagnosis
from unweave.trust.verdict_record import Level, Reason

NOT_KNOWN = "not known"


class FactorState(StrEnum):
    """How far a factor is identified: the rung of the ladder, or why 'joint' or 'absent' would say too much.

    Of 'through', a probe predicts the factor by others that it depends on. 'weak' and 'unclear' are too weak to be
    sure: codes depend on the factor without being readable, or a probe of the evaluation predicts an absent factor.
    """

    ONE_CODE = "one code"
    OWN_CODES = "own codes"
    DIRECTION = "own direction"
    READABLE = "readable"
    JOINT = "joint"
    WEAK = "weak"
    FOLDED = "folded"
    THROUGH = "through"
    UNCLEAR = "unclear"
    ABSENT = "absent"
    IMPLIED = "implied"
    NOT_KNOWN = NOT_KNOWN  # the factor never varies


OWN, IDENTIFIED = ("one code", "own codes"), ("one code", "own codes", "own direction")

IN_CODES = (*IDENTIFIED, "readable")

MUCH = 0.1  # share of a direction's response that is unexplained, above which leakage is a range

WELL = 0.8  # smallest recovery of a factor that is identified up to a class of maps

WEAKLY, WEAKLY_READABLE = 0.2, "weakly readable"  # a factor with a smaller recovery is not called readable alone

RECOVERY_OF = {"one code": "one_code", "own codes": "own_codes", "own direction": "direction", "readable": "readable"}
SHOWN_OF = RECOVERY_OF | {"implied": "readable"}  # by a linear readout on the rows as they are

MOST_CODES, MAIN = 3, 0.75  # codes that hold less than this share of a direction are not its main ones

MOST_REPORTED = 12  # factors with a clause of their own in the report

MOST_NAMED = 8  # factors of a rung in a comparison

MOST_TESTS = 24  # of settings that a table shows

MOST_FACTORS = 24  # rows; if there are more factors, the best and the worst recovered ones are shown


@dataclass(frozen=True)
class TextTable:
    """Headings and rows of text, as terminal, page, Markdown and notebook show them."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class FactorRow:
    """How far one factor is identified: the rung of the ladder, where, and the held-out recoveries of all rungs.

    ``recovery`` is that of the rung, from ``low`` to ``high``, and ``words`` is the state as a person would say it.
    ``where`` names codes, of a direction the few that hold most of it. Leakage is between ``leakage`` and
    ``most_leakage``, which counts all of the direction's response that the model does not explain. ``note`` says what
    is in the way of a higher rung. ``rung`` is 'not known' for a factor that never varies. The state is 'absent' only
    if no probe of the evaluation reads the factor.
    """

    factor: str
    rung: str
    state: FactorState
    words: str
    where: str = ""
    recovery: float | None = None
    low: float | None = None
    high: float | None = None
    one_code: float | None = None
    own_codes: float | None = None
    direction: float | None = None
    readable: float | None = None
    leakage: float | None = None
    most_leakage: float | None = None
    leaks_into: str = ""
    note: str = ""

    @property
    def leaks(self) -> str:
        """Leakage in words, as a lower bound or as a range if much of the response is unexplained."""
        if self.leakage is None or self.most_leakage is None or not self.direction:
            return ""
        least, most = number(self.leakage), number(self.most_leakage)
        return say("leakage", least=least, most=most if self.unexplained else "", into=self.leaks_into)

    @property
    def unexplained(self) -> bool:
        """Whether so much of the direction's response is unexplained that leakage may be much larger."""
        return (self.most_leakage or 0.0) - (self.leakage or 0.0) > MUCH

    @property
    def reported(self) -> str:
        """The factor with its state, recovery, interval and place, as a paper states them."""
        return say("reported_factor", **{**vars(self), "value": with_ends(self.recovery, self.low, self.high)})

    @property
    def group(self) -> str:
        """The rung; for factors that cannot be read, or only weakly, in words."""
        return self.words if self.rung in ("absent", "joint", "readable") else self.rung

    @property
    def counts(self) -> bool:
        """Whether the factor is counted in the headline: neither implied nor unknown."""
        return self.rung not in ("implied", NOT_KNOWN)


def factor_rows(evaluation: Evaluation, representation: str) -> tuple[FactorRow, ...]:
    """A row for every factor; no rows if the ladder was not computed."""
    ladder = evaluation.data.ladders.get(representation)
    if ladder is None:
        return ()
    n_codes = max((int(each.any(axis=1).sum()) for each in ladder.directions.values()), default=0)  # that vary
    # one block of several codes is identified up to maps of these codes, and not elementwise
    known = {
        row.factor: replace(row, rung="own codes")
        if row.rung == "one code" and row.code not in ladder.code_names
        else row
        for row in ladder.rows
    }
    # what no score counts as found is no code of its own, whatever share of it that code has
    known |= {
        name: replace(row, rung="joint", joint_with=())
        for name, row in known.items()
        if row.rung in IDENTIFIED and not is_found(row)
    }
    block_of = {member: row.factor for row in ladder.rows for member in row.members}
    kinds = {block_of.get(factor.name, factor.name): factor.kind for factor in evaluation.data.factors}
    rows = tuple(
        _row(known[name], evaluation.data.carriers.get(representation, {}).get(name), n_codes, kind, ladder.quick)
        if name in known
        else FactorRow(name, NOT_KNOWN, FactorState.NOT_KNOWN, NOT_KNOWN, note=say("note_of", reason="constant"))
        for name, kind in kinds.items()
    )
    read = _read_by_probes(evaluation, representation, [row.factor for row in rows if row.state is FactorState.ABSENT])
    unclear, words = FactorState.UNCLEAR, say("rung_in_words", rung=FactorState.UNCLEAR)
    return tuple(
        replace(row, state=unclear, words=words, note=say("note_of", reason=unclear, **read[row.factor]))
        if row.factor in read
        else row
        for row in rows
    )


def _read_by_probes(evaluation: Evaluation, representation: str, absent: list[str]) -> dict[str, dict[str, Any]]:
    """Absent factors that a probe of the evaluation predicts above its noise, with the metric and its score.

    If a mean over absent factors alone is above noise, that is the factor with the highest score.
    """
    found: dict[str, dict[str, Any]] = {}
    for row in evaluation.rows:
        floor = row.noise_floor
        if row.representation != representation or row.measures != "explicitness" or row.score is None or floor is None:
            continue
        scores = {name: row.score.per_factor[name] for name in absent if name in row.score.per_factor}
        above = [name for name in scores if scores[name] > floor.per_factor_upper.get(name, math.inf)]
        if scores and not above and len(scores) == len(row.score.per_factor) and row.level is Level.TRUST:
            above = [max(scores, key=lambda name: scores[name])]
        found |= {name: {"metric": row.label, "value": scores[name]} for name in above if name not in found}
    return found


def _row(row: LadderRow, carriers: Carriers | None, n_codes: int, kind: str, quick: bool) -> FactorRow:
    codes = row.codes or ((row.code,) if row.code else ())
    of_codes = listed(codes, MOST_CODES)
    where = {"one code": row.code, "own codes": of_codes, "implied": of_codes}.get(row.rung, "")
    if row.rung == "own direction" or (row.rung == "readable" and row.probe == "linear"):
        where = say("direction_of", n=n_codes)
        if row.carried_by:
            where = ", ".join(row.carried_by)
        elif carriers and carriers.share >= MAIN:
            where = say(
                "main_codes", codes=", ".join(carriers.codes), share=carriers.share, part=carriers.share < CARRIED
            )
    elif row.rung == "readable" and row.code:
        where = say("best_code", code=row.code)
    recovery, shown = SHOWN_OF.get(row.rung, ""), str(_state(row))
    if shown == "readable" and row.readable < WEAKLY:
        shown = WEAKLY_READABLE
    low, high = row.intervals.get(recovery, (math.nan, math.nan))
    return FactorRow(
        factor=row.factor,
        rung=row.rung,
        state=_state(row),
        words=say("rung_in_words", rung=shown, n_codes=len(codes)),
        where=where,
        recovery=none_if_nan(getattr(row, recovery)) if recovery else None,
        low=none_if_nan(low),
        high=none_if_nan(high),
        **{
            name: none_if_nan(getattr(row, name))
            for name in ("one_code", "own_codes", "direction", "readable", "leakage")
        },
        most_leakage=none_if_nan(min(1.0, row.leakage + row.noise)),
        leaks_into=row.leaks_into,
        note=_note(row, kind, quick),
    )


def _state(row: LadderRow) -> FactorState:
    if row.rung == "absent" and row.leaks_into and row.p_value <= PRESENT:
        return FactorState.THROUGH
    return FactorState.WEAK if row.rung == "joint" and not row.joint_with else FactorState(row.rung)


def _note(row: LadderRow, kind: str, quick: bool) -> str:
    """What is in the way of a higher rung, or of a better recovery, and what a quick ladder did not check."""
    untried = say("note_of", reason="untried") if quick and is_provisional(row) else ""
    return "; ".join(filter(None, (_what_is_in_the_way(row, kind, quick), untried)))


def _what_is_in_the_way(row: LadderRow, kind: str, quick: bool) -> str:
    if row.rung in OWN:
        return _note_of_own_codes(row, kind)
    if row.rung == "own direction":
        mixed = say("note_of", reason="mixed", others=row.mixed_with, code=row.code) if row.mixed_with else ""
        unsure = say("note_of", reason="unexplained", leakage=row.leakage, most=min(1.0, row.leakage + row.noise))
        return "; ".join(filter(None, [mixed, unsure if row.noise > MUCH else ""]))
    if row.rung == "readable":
        if row.leakage > 0.1 * (1 - row.noise):
            return say("note_of", reason="leaks", leakage=row.leakage, into=row.leaks_into)
        return say("note_of", reason="nonlinear") if row.probe not in ("linear", "own codes") else ""
    state = _state(row)
    others = {"joint": row.joint_with, "implied": row.implied_by, "through": (row.leaks_into,)}.get(state, ())
    reason = "unread" if state is FactorState.ABSENT and quick else state
    return say("note_of", reason=reason, others=others, code=row.code)


def _note_of_own_codes(row: LadderRow, kind: str) -> str:
    is_one = row.rung == "one code"
    if (row.one_code if is_one else row.own_codes) < WELL:
        if is_one and row.mixed_with:
            return say("note_of", reason="mixed", others=row.mixed_with, code=row.code)
        if kind == "categorical":
            return say("note_of", reason="classes", n=1 if is_one else 2)
        if is_one and row.code_noise > 0.1:
            return say("note_of", reason="noisy", share=row.code_noise)
    is_folded = is_one and row.shape == "folded" and kind not in ("circular", "categorical")
    return say("note_of", reason="folded code") if is_folded else ""


def none_if_nan(number: float) -> float | None:
    """A number for plain data."""
    return None if math.isnan(number) else float(number)


def identified_up_to(rows: Sequence[FactorRow]) -> str:
    """Up to which class of maps the representation identifies which factors (003, definitions 1 and 3)."""
    counted = [row for row in rows if row.counts]
    if not counted:
        return ""
    well = [row for row in counted if row.rung in IDENTIFIED and (row.recovery or 0.0) >= WELL]
    elementwise = [row.factor for row in well if row.rung == "one code"]
    blocks = [row.factor for row in well if row.rung == "own codes"]
    affine = [row.factor for row in well if row.rung == "own direction"]
    part = [row.factor for row in counted if row.rung in IDENTIFIED and row not in well]
    rest = [row.factor for row in counted if row.rung not in IDENTIFIED]
    found = {"elementwise": elementwise, "blocks": blocks, "affine": affine, "part": part, "rest": rest}
    return say("identified_up_to" if well else "identified_not", **found, well=WELL)


CLEAR_KNEE = 1.5  # a smaller knee is borderline
GRADUAL = 3.0  # nats; a fall by so much without a knee means that latents differ, though no number of them stands out

SHARED = 0.1  # smallest information, in nats, for which two latents are said to share directions, if chance is below

MOST_LATENTS = 40


@dataclass(frozen=True)
class LatentRow:
    """A latent of a decoder in nats: its manifold entropy, and the latent that it shares most information with.

    ``with_all`` is what it shares with all others together, which may be much when it shares little with each of them.
    ``is_used`` is whether it comes before the knee of the spectrum, if there is one. A latent that does not change the
    data has no entropy.
    """

    latent: str
    entropy: float | None
    error: float | None
    partner: str
    shared: float | None
    is_used: bool
    place: int = 0  # in the decoder
    with_all: float | None = None


@dataclass(frozen=True)
class ByChance:
    """The total correlation by chance, its 95 % interval over draws, and what the decoder has beside it.

    The decoder has 'less' or 'more' if it is outside of the interval, and 'as much' otherwise.
    """

    value: float
    low: float
    high: float
    decoder_has: str

    @classmethod
    def of(cls, total: Score, part: str) -> ByChance | None:
        """By the baseline that is a part of the score; None if it is not known."""
        known = [*total.parts.get(part, ()), *total.parts.get(f"{part}_interval", ())]
        if len(known) < 3 or not np.isfinite(known).all() or math.isnan(total.value):
            return None
        value, low, high = map(float, known)
        rounding = 0.005 if high - low < 0.01 else 0.0  # of numbers that are shown with two decimals
        less, more = total.value < low - rounding, total.value > high + rounding
        return cls(value, low, high, "less" if less else "more" if more else "as much")


OUTPUTS_IN_TABLE = 4  # columns of two numbers, so that none is cut in a terminal


@dataclass(frozen=True)
class LatentEffects:
    """The change of each output per unit of each latent (latents x outputs), the most important latents first.

    ``mean`` has signs and may cancel; ``size`` is the root mean square.
    """

    latents: tuple[str, ...]
    outputs: tuple[str, ...]
    mean: tuple[tuple[float, ...], ...]
    size: tuple[tuple[float, ...], ...]

    def tables(self) -> tuple[TextTable, ...]:
        """Mean and, in brackets, root mean square; up to four outputs in a table."""
        of_latents = list(zip(self.latents, self.mean, self.size, strict=True))[:MOST_LATENTS]
        wide = math.ceil(len(self.outputs) / math.ceil(len(self.outputs) / OUTPUTS_IN_TABLE))
        starts = range(0, len(self.outputs), wide)
        return tuple(
            TextTable(
                ("change by", *self.outputs[start : start + wide]),
                tuple(
                    (
                        latent,
                        *(f"{signed(mean[k])} ({brief(size[k])})" for k in range(start, len(mean))[:wide]),
                    )
                    for latent, mean, size in of_latents
                ),
            )
            for start in starts
        )


def signed(value: float) -> str:
    """A number with its sign and about three significant digits.

    >>> signed(0.5), signed(-1.25), signed(0.0)
    ('+0.5', '−1.25', '0')
    """
    return f"{'+' if value > 0 else ''}{brief(value)}"


CLEARLY_APART = 0.05  # nats; smaller differences of entropy do not count as an order


@dataclass(frozen=True)
class UnitsStatement:
    """A statement about a decoder in the units of its outputs and with outputs of unit variance."""

    about: str
    as_given: str
    unit_variance: str
    holds: bool


@dataclass(frozen=True)
class UnitsCheck:
    """Which statements about a decoder hold as well if every output is scaled to unit variance.

    ``smallest`` and ``largest`` are the extreme standard deviations of the outputs.
    """

    smallest: float
    largest: float
    statements: tuple[UnitsStatement, ...]

    @property
    def changed(self) -> list[str]:
        """What is different with outputs of unit variance."""
        return [each.about for each in self.statements if not each.holds]

    def table(self) -> TextTable:
        """One row for each statement."""
        heads = ("statement", "outputs as they are", "outputs of unit variance", "same")
        rows = [
            (each.about, each.as_given, each.unit_variance, "yes" if each.holds else "no") for each in self.statements
        ]
        return TextTable(heads, tuple(rows))

    @classmethod
    def of(cls, found: LatentSpectrum, scaled: LatentSpectrum, deviations: Sequence[float]) -> UnitsCheck:
        """By the spectrum of the same latents in both units."""
        one, two = (
            {row.latent: -math.inf if row.entropy is None else row.entropy for row in each.latents}
            for each in (found, scaled)
        )
        swapped = any(
            (one[a] - one[b]) > CLEARLY_APART and (two[b] - two[a]) > CLEARLY_APART
            for a, b in itertools.permutations(one, 2)
        )
        statements = [UnitsStatement("the order of the latents", found.in_order, scaled.in_order, not swapped)]
        if found.has_knee or scaled.has_knee:
            matter = [{row.latent for row in each.latents if row.is_used} for each in (found, scaled)]
            words = [f"{len(names)} of {len(one)}" for names in matter]
            statements.append(UnitsStatement("the latents before the knee", words[0], words[1], matter[0] == matter[1]))
        for about, chance in (("the axes", "rotated"), ("the directions", "random")):
            has = [getattr(each, chance).decoder_has if getattr(each, chance) else "" for each in (found, scaled)]
            if all(has):
                words = [texts(f"beside_{chance}")[each] for each in has]
                statements.append(UnitsStatement(about, words[0], words[1], has[0] == has[1]))
        if found.latents[0].partner:
            pairs = [{frozenset(pair[:2]) for pair in each.pairs} for each in (found, scaled)]
            same = pairs[0] == pairs[1]
            statements.append(
                UnitsStatement("the pairs that share more than by chance", found.in_pairs, scaled.in_pairs, same)
            )
        return cls(min(deviations), max(deviations), tuple(statements))


@dataclass(frozen=True)
class LatentSpectrum:
    """The latents of a decoder without factors, by decreasing entropy, with the sentences about them.

    ``drop`` is the largest one between neighbours; if it is at least 1 nat, it is the knee, and ``n_used`` latents come
    before it. ``pairs`` are those that share more than ``least_shared`` nats, largest first: 0.1, or what 5 % of random
    pairs of directions exceed, if that is more. ``rotated`` and ``random`` are the total correlation of randomly
    rotated latents and of random directions of the same lengths. ``random_others`` is what a random direction shares
    with all others together, on average.
    """

    latents: tuple[LatentRow, ...]
    n_used: int
    drop: float | None
    total_correlation: float | None
    pairs: tuple[tuple[str, str, float], ...]
    n_dead: int = 0
    rotated: ByChance | None = None
    random: ByChance | None = None
    least_shared: float = SHARED
    units: UnitsCheck | None = None
    sum_of_pairs: float | None = None
    random_others: float | None = None
    effects: LatentEffects | None = None

    @property
    def alone(self) -> list[str]:
        """Latents that change the data and share no more than by chance with any other."""
        shared = {name for pair in self.pairs for name in pair[:2]}
        return [row.latent for row in self.latents[: len(self.latents) - self.n_dead] if row.latent not in shared]

    @property
    def in_order(self) -> str:
        """The first latents by decreasing entropy, by their numbers."""
        names = [numbered(row.latent) for row in self.latents]
        return ", ".join([*names[:8], *(["..."] if len(names) > 8 else [])])

    @property
    def in_pairs(self) -> str:
        """The pairs that share more than by chance, by their numbers."""
        return listed([f"{numbered(one)} with {numbered(other)}" for one, other, _ in self.pairs], 4) or "none"

    @property
    def beside_chance(self) -> str:
        """What the total correlation means beside its two baselines, without numbers; empty if none is known."""
        has = {name: getattr(self, name).decoder_has for name in ("rotated", "random") if getattr(self, name)}
        but = [each == "less" for each in has.values()] in ([True, False], [False, True])
        return say("beside_chance", **{"rotated": "", "random": ""} | has, but=but) if has else ""

    @property
    def total_sentence(self) -> str:
        """The total correlation with its two baselines; empty if it is not known."""
        if self.total_correlation is None:
            return ""
        chance = {name: getattr(self, name) for name in ("rotated", "random")}
        words = {name: each and with_ends(each.value, each.low, each.high) for name, each in chance.items()}
        many = self.random is not None and self.random.value < SHARED / 2 * len(self.latents)
        return say("total_beside_chance", total=self.total_correlation, many=many, **words)

    @property
    def has_knee(self) -> bool:
        """Whether some latents that change the data come after the knee."""
        return self.n_used < len(self.latents) - self.n_dead

    def tables(self) -> tuple[TextTable, ...]:
        """The latents, what they do to each output, and which statements depend on the units of the outputs."""
        effects = self.effects.tables() if self.effects else ()
        return (self.table(), *effects, *([self.units.table()] if self.units else []))

    def table(self) -> TextTable:
        """One row for each latent, most important first: entropy and standard error, and what it shares; in nats."""
        rows = [
            (
                row.latent,
                f"{number(row.entropy) or 'no effect'}{'' if row.error is None else f' ± {fixed(row.error, 2)}'}",
                row.partner,
                number(row.shared),
                number(row.with_all),
                "" if not self.has_knee else "before the knee" if row.is_used else "after the knee",
            )
            for row in self.latents[:MOST_LATENTS]
        ]
        heads = ("latent", "entropy (nats)", "shares most with", "shared (nats)", "with all others", "spectrum")
        return TextTable(heads, tuple(rows))


def spectrum_of(evaluation: Evaluation, representation: str) -> LatentSpectrum | None:
    """The spectrum of a decoder, if there are no factors and its entropies were computed."""
    scores = _scores_of_latents(evaluation, representation)
    if evaluation.data.factors or "manifold_entropy" not in scores:
        return None
    found, described = _spectrum(scores), evaluation.data.decoders.get(representation)
    if found is None or described is None:
        return found
    if described.effects:
        places = [row.place for row in found.latents]
        rows = [tuple(each[i] for i in places) for each in (described.mean_effects, described.effects)]
        names = tuple(row.latent for row in found.latents)
        found = replace(found, effects=LatentEffects(names, described.outputs, rows[0], rows[1]))
    if "manifold_entropy" not in described.standardised:
        return found
    scaled = _spectrum(described.standardised)
    return found if scaled is None else replace(found, units=UnitsCheck.of(found, scaled, described.deviations))


def numbered(latent: str) -> str:
    """The name of a latent without the word 'latent'.

    >>> numbered("latent 3"), numbered("pose")
    ('3', 'pose')
    """
    return latent.removeprefix("latent ")


def _spectrum(scores: Mapping[str, Score]) -> LatentSpectrum | None:
    names, entropies = map(list, zip(*scores["manifold_entropy"].per_code.items(), strict=True))
    errors = scores["manifold_entropy"].parts["standard_errors"]
    matrix = np.full((len(names), len(names)), np.nan)
    if "manifold_mutual_information" in scores:
        matrix = np.asarray(scores["manifold_mutual_information"].parts["matrix"])
    order = sorted(range(len(names)), key=lambda i: (math.isnan(entropies[i]), -entropies[i]))
    live = [i for i in order if math.isfinite(entropies[i])]
    if not live:
        return None
    place, drop = largest_drop([entropies[i] for i in live])
    n_used = place if drop >= KNEE else len(live)
    latents, mutual = [], scores.get("manifold_mutual_information")
    together = (
        np.full(len(names), np.nan) if mutual is None else mutual.parts.get("all_others", np.full(len(names), np.nan))
    )
    for rank, i in enumerate(order):
        known = np.where(np.isnan(matrix[i]), -np.inf, matrix[i])
        has_partner = bool(np.isfinite(matrix[i]).any())
        partner, shared = (names[int(known.argmax())], float(known.max())) if has_partner else ("", None)
        entropy, error = (entropies[i], none_if_nan(float(errors[i]))) if i in live else (None, None)
        with_all = none_if_nan(float(together[i]))
        latents.append(LatentRow(names[i], entropy, error, partner, shared, rank < n_used, i, with_all))
    total = scores.get("manifold_total_correlation")
    least_shared, pairs = _pairs_above_chance(names, matrix, mutual)
    return LatentSpectrum(
        latents=tuple(latents),
        n_used=n_used,
        drop=none_if_nan(drop),
        total_correlation=None if total is None else none_if_nan(total.value),
        pairs=tuple((one, other, shared) for shared, one, other in pairs),
        n_dead=len(order) - len(live),
        rotated=None if total is None else ByChance.of(total, "rotated_latents"),
        random=None if total is None else ByChance.of(total, "random_decoder"),
        least_shared=least_shared,
        sum_of_pairs=none_if_nan(float(np.nansum(np.triu(matrix, 1)))) if mutual else None,
        random_others=None
        if mutual is None or "random_others" not in mutual.parts
        else none_if_nan(float(mutual.parts["random_others"][0])),
    )


def _scores_of_latents(evaluation: Evaluation, representation: str) -> dict[str, Score]:
    """The first score of each metric that is about single latents and not about sets of them."""
    return {
        row.metric: row.score
        for row in reversed(evaluation.rows)
        if row.representation == representation
        and row.score is not None
        and not any(row.score.settings.get(option) for option in ("dimensions", "sets", "partition"))
    }


def _pairs_above_chance(
    names: Sequence[str], matrix: FloatArray, score: Score | None
) -> tuple[float, list[tuple[float, str, str]]]:
    """The smallest information that counts, and the pairs that share more, largest first."""
    by_chance = 0.0 if score is None else float(score.parts.get("random_pair", [0.0])[-1])
    least = max(SHARED, by_chance)
    above = [(float(matrix[i, k]), names[i], names[k]) for i, k in itertools.combinations(range(len(names)), 2)]
    return least, sorted((pair for pair in above if pair[0] >= least), reverse=True)


def by_question(evaluation: Evaluation) -> dict[Question, list[str]]:
    """Labels of the metrics by question; the metric that answers it comes first.

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
            order = {name: k for k, name in enumerate(question.panel)}
            groups[question] = sorted(labels, key=lambda label: order.get(label, len(order)))
    return groups


YES, PARTLY = 0.8, 0.1  # limits of the answers, as shares of the distance from noise floor to best score

OTHER_CONTENT = "other content"

UNEXPLAINED = "unexplained"


@dataclass(frozen=True)
class QuestionLine:
    """A question and its answer: 'yes', 'partly', 'no', 'not known' or 'not checked', by a metric with its verdict.

    ``spread`` is the standard deviation over seeds, ``noise`` the score of random codes, ``level`` the verdict, and
    ``part`` says on which codes and rows the score was computed, if not on all, and whether its interval is too narrow.
    The answer to "own code for each factor" is 'yes' if the ladder finds own codes for all factors, and 'no' if for
    none or if identification is at noise level.
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
    sentence: str = ""
    part: str = ""


def n_rows_given(data: EvaluationData) -> int:
    """All rows, also those on which codes were screened, and those without some label; scores have the others."""
    return data.n_rows + data.n_dropped + max((found.n_rows for found in data.screening.values()), default=0)


def sizes_in_words(data: EvaluationData) -> tuple[str, str]:
    """The numbers of codes and of rows, as in '4 of 30 codes' if codes were screened and in '300 of 400 rows'.

    Blocks of one size are counted as such, as in '8 blocks of 4 codes'.
    """
    sizes = [entry.n_codes for entry in data.representations.values()]
    codes = counted(sizes[0], "code") if len(set(sizes)) == 1 else f"{min(sizes):,} to {max(sizes):,} codes"
    if len(data.screening) == len(sizes) == 1:
        codes = f"{sizes[0]:,} of {counted(max(entry.n_codes for entry in data.screening.values()), 'code')}"
    elif len(shapes := {_blocks_in_words(entry) for entry in data.representations.values()}) == 1:
        codes = shapes.pop() or codes
    return codes, _of_all(data.n_rows, n_rows_given(data), "row")


def _blocks_in_words(codes: CodesDescription) -> str:
    """The number and the size of blocks that were given as such; empty for other codes."""
    sizes = Counter(name.rpartition(" [")[0] for name in codes.code_names) if codes.units else {}
    one_size = sizes.keys() == {*codes.units} and len({*sizes.values()}) == 1
    return f"{counted(len(sizes), 'block')} of {codes.n_codes // len(sizes)} codes" if one_size and sizes else ""


def scored_part(evaluation: Evaluation, row: Row) -> str:
    """On which part of codes and rows the row's score was computed; empty for all."""
    screening, n_rows = evaluation.data.screening.get(row.representation), evaluation.data.n_rows
    n_codes, of = (screening.n_scored, screening.n_codes) if screening else (0, 0)
    for caveat in row.score.caveats if row.score else ():
        if caveat.kind == "factors_on_labelled_rows":
            rows = "{n_rows:,} to {of:,} rows by factor".format(**caveat.quantities)
            return ", ".join(filter(None, (part_of(n_codes, of, 0, 0), rows)))
        if caveat.kind in ("rows_sampled", "classifiers_sampled_rows", "mixtures_sampled_rows"):
            n_rows = int(float(caveat.quantities["n_rows"]))
    return part_of(n_codes, of, n_rows, n_rows_given(evaluation.data))


def part_of(n_codes: int, of_codes: int, n_rows: int, of_rows: int) -> str:
    """How many codes and rows of how many a number was computed on; empty for all."""
    counts = ((n_codes, of_codes, "codes"), (n_rows, of_rows, "rows"))
    return ", ".join(f"{n:,} of {of:,} {what}" for n, of, what in counts if n < of)


def question_lines(evaluation: Evaluation, representation: str) -> tuple[QuestionLine, ...]:
    """A line for every question whose metric was computed or that the diagnosis answers, in fixed order."""
    lines = []
    for question in QUESTIONS:
        row = evaluation.row(question.panel[0], representation) if question.panel else None
        if question.name == OTHER_CONTENT and (content := _other_content(question, evaluation, representation)):
            lines.append(content)
        elif row is not None and has_number(row):
            line = line_of(question, row, evaluation)
            counted = [each for each in factor_rows(evaluation, representation) if each.counts]
            if question.name == "recovery" and counted and line.level is not Level.NOT_CHECKED:
                n_own = sum(each.rung in OWN for each in counted)
                some = "yes" if n_own == len(counted) else "partly"
                line = replace(line, answer=some if n_own and line.level is not Level.NOISE else "no")
            lines.append(line)
    return tuple(lines)


def line_of(question: Question, row: Row, evaluation: Evaluation) -> QuestionLine:
    """The line of a metric: the mean score over seeds; noise floor, interval and verdict are those of ``row``."""
    mean, spread = evaluation.mean_and_spread(row.label, row.representation)
    n_seeds = len(evaluation.values(row.label, row.representation))
    low, high = row.ends if row.ends is not None and n_seeds < 2 else (None, None)
    return QuestionLine(
        question=question.name,
        text=question.text,
        short=question.short,
        answer=_in_a_word(row, mean, row.chance if row.noise is None else row.noise),
        metric=row.label,
        value=mean,
        spread=spread if n_seeds > 1 else None,
        noise=row.noise,
        low=low,
        high=high,
        confidence=row.interval.level if row.interval is not None and low is not None else None,
        level=row.level,
        part=", ".join(filter(None, (scored_part(evaluation, row), say("too_narrow") if row.heavy_tails else ""))),
    )


def _in_a_word(row: Row, value: float, noise: float | None) -> str:
    """The answer in a word, from the position of the value, a mean over seeds, between noise and the best score."""
    if row.score is None or not math.isfinite(row.card.best):
        return NOT_KNOWN
    if row.level is Level.NOISE:
        return "no"
    if row.level is Level.NOT_CHECKED:
        return str(row.level)
    if row.level in (Level.DO_NOT_USE, Level.NO_VERDICT):
        return NOT_KNOWN
    start = row.card.bounds[0] if not row.card.lower_is_better else row.card.bounds[1]
    start = noise if noise is not None else start
    if not math.isfinite(start) or start == row.card.best:
        return NOT_KNOWN
    share = (value - start) / (row.card.best - start)
    return "yes" if share >= YES else "partly" if share > PARTLY else "no"


def narrow_intervals(evaluation: Evaluation) -> str:
    """Which intervals are too narrow because of which columns; empty if none is."""
    rows = [row for row in evaluation.rows if row.heavy_tails]
    metrics, columns = (
        dict.fromkeys(row.label for row in rows),
        dict.fromkeys(n for row in rows for n in row.heavy_tails),
    )
    return say("narrow_intervals", metrics=[*metrics], columns=[*columns]) if rows else ""


def noise_sentence(row: Row) -> str:
    """What it means that this row is at noise level."""
    value, floor = (math.nan if row.score is None else row.score.value), row.noise_floor
    if row.metric == "identification" or floor is None:
        return say("no_better_than_mixing", value=value, unsure=value > 0)
    return str(Finding("scores_like_noise", value=value, floor=floor.floor, p_value=floor.p_value))


def _other_content(question: Question, evaluation: Evaluation, representation: str) -> QuestionLine | None:
    """The share of the codes' variance that no factor explains, from the diagnosis.

    Every code counts alike, whatever its scale; beside it stands the share of the variance of all codes together.
    """
    diagnosis = evaluation.data.diagnosis.get(representation)
    screening = evaluation.data.screening.get(representation)
    share = math.nan if diagnosis is None else diagnosis.nuisance_share
    if diagnosis is None or math.isnan(share):
        return None
    of_variance = diagnosis.nuisance_of_variance
    part = say("mean_over_codes", known=not math.isnan(of_variance), of_variance=of_variance)
    sentence = say("unexplained", share=float(share), part=part)
    if screening is not None:  # codes that depend on no factor were left out of the diagnosis
        unrelated = 1 - screening.n_found / screening.n_codes
        n_unrelated = screening.n_codes - screening.n_found
        sentence = say("unexplained_beside", n=n_unrelated, n_codes=screening.n_codes, share=float(share), part=part)
        share = unrelated + (1 - unrelated) * share
    answer = "yes" if share >= 1 - YES else "a little" if share > PARTLY else "no"
    return QuestionLine(
        question.name, question.text, question.short, answer,
        value=float(share), level=Level.NO_VERDICT, sentence=sentence, part=part,
    )  # fmt: skip


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
        if row.verdict is None or row.level in (Level.TRUST, Level.NOISE):
            continue
        if row.level is Level.NO_VERDICT and not evaluation.data.factors:
            continue  # without factors, there is nothing to check scores with
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
        shared.append(
            SharedReason(
                sentence=of_all or first.sentence,
                scores=tuple(members),
                level=level,
                names_scores=of_all is not None,
                of_first=first.sentence,
                advice=fitting_advice(first, evaluation, representation),
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
        said.append(f"{name}: {finding}" if several else str(finding))
    return said


def code_lists(evaluation: Evaluation) -> list[dict[str, Any]]:
    """For every representation whose codes were screened, the codes that a page shows, and how many it does not."""
    lists = []
    for (name, found), sentence in zip(evaluation.data.screening.items(), screening_sentences(evaluation), strict=True):
        shown = [
            plain_data(code) | {"q": f"{'< ' * (code.q_value < SMALLEST_Q)}{brief(max(code.q_value, SMALLEST_Q))}"}
            for code in found.codes[:SHOWN]
        ]
        hidden = found.n_codes - len(shown)
        lists.append({"representation": name, "sentence": sentence, "codes": shown, "n_hidden": hidden})
    return lists


MOST_STEPS, MOST_ASKED = 5, 2

ANY_DEPENDENCE = 0.1  # weaker correlations of factors need no advice


def next_steps(evaluation: Evaluation, representation: str, rows: Sequence[FactorRow]) -> tuple[str, ...]:
    """Recommendations as sentences, the most important first; nothing is advised where nothing is known to help."""
    own = [row for row in evaluation.rows if row.representation == representation]
    steps = [*_of_checks(evaluation, own), *_of_data(evaluation)]
    steps += [*of_factors(evaluation, representation, rows), *_of_questions(evaluation, representation)]
    if steps:
        return tuple(dict.fromkeys(steps))[:MOST_STEPS]
    counted = [row for row in rows if row.counts]
    done = bool(counted) and all(row.rung in OWN and (row.recovery or 0.0) >= WELL for row in counted)
    return (say("nothing_in_the_way" if done else "no_advice"),)


def _of_checks(evaluation: Evaluation, rows: Sequence[Row]) -> list[str]:
    """What to do if none of these rows has a score, if none was checked, or if the budget was too small for some."""
    if rows and not any(row.score for row in rows):
        return [say("nothing_scored", problem=rows[0].problem)]
    if not any(row.verdict for row in evaluation.rows):
        return [say("evaluate_in_full")]
    short = dict.fromkeys(row.label for row in rows if _is_cut_short(row))
    return [say("larger_budget", metrics=[*short])] if short else []


def _is_cut_short(row: Row) -> bool:
    """Whether the budget was too small for the floor, the interval or the verdict of this score."""
    beside = [each for each in (row.noise_floor, row.interval) if each]
    kinds = {note.kind for each in beside for note in (*each.notes, each.reason) if note}
    return row.verdict is not None and (row.level is Level.NOT_CHECKED or bool(kinds & {"fewer_nulls", *NOT_IN_BUDGET}))


def _of_data(evaluation: Evaluation) -> list[str]:
    """The first questions about the data, because answers to them can change the results, and the number of others."""
    scored = any(row.score for row in evaluation.rows)
    asked = [str(note) for note in evaluation.data.notes if note.kind == "asked" and scored]
    more = len(asked) - MOST_ASKED
    return [*asked[:MOST_ASKED], *([say("more_notes", n=more)] if more > 0 else [])]


def of_factors(evaluation: Evaluation, representation: str, rows: Sequence[FactorRow]) -> Iterator[str]:
    """Recommendations for directions, for numbers whose codes are folded, and for unused codes of a posterior.

    Of how to train is only said something if the encoder was trained here, and if a posterior equals its prior, because
    only a penalty on it makes it so.
    """
    kinds = {factor.name: factor.kind for factor in evaluation.data.factors}
    directions = [row.factor for row in rows if row.rung == "own direction"]
    if directions:
        yield say("use_directions")
    folded = [row.factor for row in rows if row.rung == "folded" and kinds[row.factor] == "continuous"]
    if folded:
        yield say("folded", factors=folded)
    diagnosis, codes = evaluation.data.diagnosis.get(representation), evaluation.data.representations[representation]
    absent = [row.factor for row in rows if row.state is FactorState.ABSENT]
    if codes.is_posterior and diagnosis is not None and diagnosis.dead_codes and absent:
        yield say("collapsed", n=len(diagnosis.dead_codes), n_codes=codes.n_codes, factors=absent)
    elif codes.trained_with and absent:
        yield say("train_on", factors=absent, objective=codes.trained_with)


def _of_questions(evaluation: Evaluation, representation: str) -> Iterator[str]:
    """Why the metrics of some questions are not trusted, and what to do; every reason once."""
    metrics = [question.panel[0] for question in QUESTIONS if question.panel]
    rows = [row for metric in metrics if (row := evaluation.row(metric, representation)) and has_number(row)]
    for reason in shared_reasons(evaluation, rows):
        sentence = reason.sentence if len(reason.scores) > 1 else reason.of_first
        yield f"{listed(reason.scores)} ({reason.level}): {sentence} {reason.advice}".rstrip()


def fitting_advice(reason: Reason, evaluation: Evaluation, representation: str) -> str:
    """The advice of the reason, adapted to these data.

    Metrics that are at noise level here are not recommended. If the factors do not depend on each other, there is no
    advice to remove their correlation.
    """
    if not evaluation.data.factors:
        return ""
    advice = reason.advice
    if advice is None or advice.kind != "advice":
        return reason.instead
    concerns = str(advice.quantities["concerns"])
    if concerns == "P1" and not _factors_depend(evaluation.data.diagnosis.get(representation)):
        return ""
    named = [name for name in str(advice.quantities.get("metrics", "")).split(" or ") if name]
    rows = {name: evaluation.row(name, representation) for name in named}
    useful = [name for name, row in rows.items() if row and row.score is not None and not row.at_noise_level]
    return str(Finding("advice", concerns=concerns, metrics=" or ".join(useful)))


def _factors_depend(diagnosis: Diagnosis | None) -> bool:
    """Whether the diagnosis found a dependence between factors."""
    if diagnosis is None:
        return False
    free = diagnosis.max_free_correlation  # nan or 0 if there are fewer than two free factors
    correlation = diagnosis.max_correlation if math.isnan(free) or not free else free
    return correlation >= ANY_DEPENDENCE or bool(diagnosis.constraints or diagnosis.dependent_pairs)


@dataclass(frozen=True)
class LadderParts:
    """The ladder in four numbers: `Ladder.value`, and its parts own codes (beyond luck), direction and readable.

    ``intervals`` are those of the parts; own codes have that of `identification`, which is the same number.
    """

    value: float
    own_codes: float
    direction: float
    readable: float
    intervals: dict[str, tuple[float, float]]

    @classmethod
    def of(cls, evaluation: Evaluation, representation: str) -> LadderParts | None:
        """The numbers of the ladder of this representation; None without a ladder."""
        ladder, row = evaluation.data.ladders.get(representation), evaluation.row("identification", representation)
        if ladder is None:
            return None
        ends = {name: ladder.intervals[name] for name in ("direction", "readable")}
        if len(ladder.code_names) > evaluation.data.representations[representation].n_codes:
            ends["own_codes"] = ladder.intervals["own_codes"]  # identification has some of the codes only
        elif row is not None and row.ends is not None:
            ends["own_codes"] = min(row.ends[0], ladder.own_codes), max(row.ends[1], ladder.own_codes)
        return cls(ladder.value, ladder.own_codes, ladder.direction, ladder.readable, ends)

    def __str__(self) -> str:
        own, direction, readable = (
            with_ends(getattr(self, name), *self.intervals.get(name, (None, None)))
            for name in ("own_codes", "direction", "readable")
        )
        low, _ = self.intervals.get("own_codes", (self.own_codes, math.nan))
        sure = {"beyond": low > 0, "unsure": self.own_codes > 0 >= low}
        return say("three_parts", own=own, direction=direction, readable=readable, **sure)


@dataclass(frozen=True)
class Answer:
    """The results of one representation, in sentences and two small tables.

    ``headline`` states how far the factors are identified, ``identified`` up to which class of maps, ``axes`` whether
    the codes' axes mean something, and ``report`` is a sentence for a paper. ``parts`` are the numbers of the ladder.
    ``next_steps`` are recommendations, the most important first, and ``reading`` explains the two tables. Without
    factors, ``spectrum`` has the latents of a decoder, and ``identified`` says which of them share directions.
    ``nuisances`` says how well these can be read.
    """

    representation: str
    headline: str
    identified: str
    axes: str
    parts: LadderParts | None
    factors: tuple[FactorRow, ...]
    questions: tuple[QuestionLine, ...]
    report: str
    next_steps: tuple[str, ...]
    reading: tuple[str, ...] = ()
    spectrum: LatentSpectrum | None = None
    nuisances: str = ""

    @property
    def contains_nothing(self) -> bool:
        """Whether no factor can be read from the codes."""
        return not any(row.rung in IN_CODES for row in self.factors)

    @property
    def shown_factors(self) -> tuple[FactorRow, ...]:
        """All factors in their order. If there are too many, those that are recovered best and worst."""
        if len(self.factors) <= MOST_FACTORS:
            return self.factors
        ordered = sorted(self.factors, key=lambda row: -(row.readable if row.readable is not None else -1.0))
        return (*ordered[: MOST_FACTORS // 2], *ordered[-(MOST_FACTORS // 2) :])

    @property
    def left_out(self) -> str:
        """A sentence that says which factors are shown, or an empty string if all are."""
        half, n = MOST_FACTORS // 2, len(self.factors)
        text = f"Only the {half} best and the {half} worst recovered of {n} factors are shown."
        return text if n > MOST_FACTORS else ""

    @property
    def parts_sentence(self) -> str:
        """The value of the ladder and, unless the report has them, its three parts."""
        said = str(self.parts) in self.report
        return "" if self.parts is None else say("parts", parts="" if said else str(self.parts), value=self.parts.value)

    @property
    def below_factors(self) -> str:
        """The sentences below the table of factors."""
        return " ".join(filter(None, (self.left_out, self.identified, self.parts_sentence, self.axes)))

    def factor_table(self) -> TextTable:
        """One row for each factor: the state in words, where, the recoveries of all rungs, leakage, and a note."""
        heads = ("factor", "as", "where", "interval", "one code", "own codes", "direction", "readable")
        rows = [
            (
                *(row.factor, row.words, row.where),
                "" if row.low is None else between(row.low, row.high),
                *(number(value) for value in (row.one_code, row.own_codes, row.direction, row.readable)),
                row.leaks,
                row.note,
            )
            for row in self.shown_factors
        ]
        return TextTable((*heads, "leakage", "note"), tuple(rows))

    def question_table(self, short: bool = False) -> TextTable:
        """One row for each question, with its answer, the metric and its verdict."""
        rows = [
            (
                *(line.short if short else line.text, line.answer),
                with_ends(line.value, line.low, line.high) if line.metric else f"{100 * (line.value or 0):.0f} %",
                number(line.noise),
                line.sentence
                if not (line.metric or short)
                else f"{line.metric or UNEXPLAINED}{f' ({line.part})' if line.part else ''}",
                line.level if line.metric else "",
            )
            for line in self.questions
        ]
        return TextTable(("question", "answer", "score", "noise", "metric", "verdict"), tuple(rows))


def answer_of(evaluation: Evaluation, representation: str | None = None) -> Answer:
    """The answer for one representation, the first unless another is named.

    Examples
    --------
    >>> import numpy as np, unweave
    >>> factors = np.random.default_rng(0).normal(size=(300, 2))
    >>> found = answer_of(unweave.evaluate(factors, factors[:, ::-1], quick=True))
    >>> found.headline
    'Both factors have a code of their own.'
    >>> [(row.factor, row.rung, row.where) for row in found.factors]
    [('factor 0', 'one code', 'code 1'), ('factor 1', 'one code', 'code 0')]
    """
    name = evaluation.representations[0] if representation is None else representation
    if (found := spectrum_of(evaluation, name)) is not None:
        return _answer_of_decoder(name, found, evaluation)
    rows, lines = factor_rows(evaluation, name), question_lines(evaluation, name)
    ladder, implied = evaluation.data.ladders.get(name), any(row.rung == "implied" for row in rows)
    confidence = next((line.confidence for line in lines if line.confidence), None)
    of_questions = say("reading_of_questions", yes=YES, partly=PARTLY, confidence=confidence) if lines else ""
    return Answer(
        representation=name,
        headline=_headline(evaluation, name, rows),
        identified=identified_up_to(rows),
        axes=_axes(ladder, rows),
        parts=LadderParts.of(evaluation, name),
        factors=rows,
        questions=lines,
        report=_report(evaluation, name, rows, lines) if _has_scores(evaluation, name) else say("nothing_computed"),
        next_steps=next_steps(evaluation, name, rows),
        reading=(say("reading_of_factors", quick=ladder.quick, implied=implied) if ladder else "", of_questions),
        nuisances=nuisances_read(evaluation, name),
    )


def nuisances_read(evaluation: Evaluation, *names: str) -> str:
    """How well each nuisance can be read from the codes; empty without nuisances."""
    known = {name: evaluation.data.nuisances[name] for name in names if name in evaluation.data.nuisances}
    said = [
        f"{nuisance} {', '.join(number(of[nuisance]) + f' in {name}' * (len(names) > 1) for name, of in known.items())}"
        for nuisance in next(iter(known.values()), {})
    ]
    return say("nuisances_read", said="; ".join(said)) if said else ""


def _has_scores(evaluation: Evaluation, *names: str) -> bool:
    return any(row.score for row in evaluation.rows if row.representation in names)


def _drawn(described: DecoderDescription | None) -> str:
    """Over which latents the values are means."""
    if described is None or not described.n_samples:
        return ""
    named = {"": "", "StandardNormal": "the standard normal prior"}.get(described.prior, f"the prior {described.prior}")
    return say("latents_drawn", n=described.n_samples, prior=named)


def caveats_of_decoders(described: DecoderDescription | None) -> str:
    """On what the values depend, and what they do not say."""
    return say("caveats_of_decoders", scaled=described is not None and described.is_standardised)


def _answer_of_decoder(representation: str, found: LatentSpectrum, evaluation: Evaluation) -> Answer:
    """The answer for a decoder without factors; nothing is advised that needs factors."""
    n, used = len(found.latents) - found.n_dead, [row.latent for row in found.latents[: found.n_used]]
    dead = [row.latent for row in found.latents[n:]]
    known = {"n": n, "n_used": found.n_used, "drop": found.drop, "knee": found.has_knee}
    ends = {"first": found.latents[0].entropy, "last": found.latents[n - 1].entropy}
    fall = (ends["first"] or 0.0) - (ends["last"] or 0.0)
    known |= {"gradual": fall >= GRADUAL, "fall": fall, "clear": (found.drop or 0.0) >= CLEAR_KNEE}
    described = evaluation.data.decoders.get(representation)
    headline = say("spectrum", used=used, **known) + (say("dead_latents", names=dead, n=len(dead)) if dead else "")
    units, drawn, total = _units_sentence(found, described), _drawn(described), found.total_sentence if n > 1 else ""
    of_pairs = {"pairs": found.pairs and found.in_pairs, "least": found.least_shared}
    pairs = say("report_of_pairs", **of_pairs) if found.latents[0].partner else ""
    reported = (say("report_of_spectrum", **ends, **known, order=found.in_order), total, pairs, drawn, units)
    of_latents = say(
        "reading_of_latents",
        drawn=drawn,
        effects=found.effects,
        caveats_of_decoders=caveats_of_decoders(described),
    )
    return Answer(
        representation=representation,
        headline=" ".join(filter(None, (headline, found.beside_chance, units))),
        identified=f"{total} {_shared_sentence(found, n)}".strip() if n > 1 else "",
        axes="",
        parts=None,
        factors=(),
        questions=(),
        report=" ".join(filter(None, reported)),
        next_steps=_steps_of_decoder(found, bool(evaluation.data.traversals.get(representation))),
        reading=(of_latents.strip(), ""),
        spectrum=found,
    )


def _units_sentence(found: LatentSpectrum, described: DecoderDescription | None) -> str:
    """Whether the answer depends on the units of the outputs; empty for images."""
    if described and (described.is_standardised or described.problem):
        return say("units_given" if described.is_standardised else "units_unknown", problem=described.problem)
    return say("units_of_outputs", changed=found.units.changed) if found.units else ""


def _shared_sentence(found: LatentSpectrum, n: int) -> str:
    """Which pairs share more than by chance, what the other latents share with all others, and what pairs leave out."""
    if not found.latents[0].partner:
        return ""
    together = [row.with_all for row in found.latents if row.latent in found.alone and row.with_all is not None]
    apart = len(together) == len(found.alone) > 0 and max(together) >= max(found.least_shared, 0.005)
    rest = (found.total_correlation or 0.0) - (found.sum_of_pairs or 0.0)
    return say(
        "latents_share",
        pairs=[f"{one} and {other} ({fixed(shared, 2)})" for one, other, shared in found.pairs],
        least=found.least_shared,
        by_chance=found.least_shared > SHARED,
        alone=found.alone,
        together=between(min(together), max(together)) if apart else "",
        random=found.random_others if math.isfinite(found.random_others or 0.0) else None,
        n_pairs=n * (n - 1) // 2,
        sum=found.sum_of_pairs,
        total=found.total_correlation,
        rest=n > 2 and SHARED < rest < math.inf,
        near=all((row.shared or 0.0) < SHARED for row in found.latents),
    )


def _steps_of_decoder(found: LatentSpectrum, can_decode: bool) -> tuple[str, ...]:
    """To decide the units, and to compare the pairs that share most."""
    places = {row.latent: str(row.place) for row in found.latents}
    units = found.units if found.units and found.units.changed else None
    return (
        *([say("decide_units", low=units.smallest, high=units.largest)] if units else []),
        *(
            say(
                "look_at_pair",
                pair=pair[:2],
                places=", ".join(map(places.__getitem__, pair[:2])),
                can_decode=can_decode,
            )
            for pair in found.pairs[:2]
        ),
    ) or (say("no_advice"),)


def _headline(evaluation: Evaluation, representation: str, rows: tuple[FactorRow, ...]) -> str:
    if not evaluation.data.factors:
        return say("no_factors" if evaluation.data.n_rows else "no_entropies")
    if not any(row.counts for row in rows):
        return say("no_factor_table", problem=_ladder_problem(evaluation, representation))
    implied = [row.factor for row in rows if row.rung == "implied"]
    first = _rungs_in_words(rows)
    own = [row.factor for row in rows if row.rung == "implied" and (row.own_codes or 0.0) >= WELL]
    ladder = evaluation.data.ladders.get(representation)
    unsure = (
        [row.factor for row in ladder.rows if is_provisional(row) and is_found(row)] if ladder and ladder.quick else []
    )
    untried = say("probes_untried", names=unsure) if unsure else ""
    follow = say("implied_factors", names=implied, own=own) if implied else ""
    return " ".join(filter(None, (first, untried, follow)))


def _ladder_problem(evaluation: Evaluation, representation: str) -> str:
    """Why there is no ladder, as `identification` says it if it failed, because that needs more rows."""
    row = evaluation.row("identification", representation)
    return str(row.problem) if row and row.problem else evaluation.data.ladder_problems.get(representation, "")


def _rungs_in_words(rows: Sequence[FactorRow]) -> str:
    """How many factors are on which rungs, and which."""
    n = sum(row.counts for row in rows)
    named = {state: [row.factor for row in rows if row.state is state] for state in FactorState}
    one = not named[FactorState.OWN_CODES]
    weakly = [row.factor for row in rows if row.words == WEAKLY_READABLE]
    own = [*named[FactorState.ONE_CODE], *named[FactorState.OWN_CODES]]
    groups = {
        "n_own": own,
        "n_directions": named[FactorState.DIRECTION],
        "n_readable": [name for name in named[FactorState.READABLE] if name not in weakly],
        "n_weakly": weakly,
        "n_unread": [*named[FactorState.JOINT], *named[FactorState.FOLDED]],
        "n_through": named[FactorState.THROUGH],
        "n_unclear": [row.factor for row in rows if row.state in (FactorState.WEAK, FactorState.UNCLEAR)],
        "n_absent": named[FactorState.ABSENT],
    }
    for key, group in (("all_own", "n_own"), ("all_directions", "n_directions"), ("all_absent", "n_absent")):
        if len(groups[group]) == n:
            return say(key, n=n, one=one)
    said = [say(key, names=names, n=len(names), one=one, weakly=WEAKLY) for key, names in groups.items() if names]
    return say("of_factors", n=n, said="; ".join(said))


def _of_random_draws(p_value: float) -> str:
    """A p-value of random draws, which is an upper bound where few or none of them are as extreme.

    >>> _of_random_draws(0.0002), _of_random_draws(0.02), _of_random_draws(0.43)
    ('< 0.001', '≤ 0.02', '= 0.43')
    """
    return "< 0.001" if p_value < 0.001 else f"{'≤' if p_value <= AT_BOUND else '='} {p_value:.2g}"


def _axes(ladder: Ladder | None, rows: Sequence[FactorRow]) -> str:
    """Whether the axes of the codes are the factors, or as good as a random mixture of them."""
    if ladder is None or math.isnan(ladder.axes_p_value) or not any(row.rung in IN_CODES for row in rows):
        return ""
    found = [row.factor for row in rows if row.rung in IN_CODES and row.counts]
    if len(found) == 1 and ladder.axes_p_value == 1:  # nothing could be turned
        return say("axes_of_one_factor", factor=found[0])
    n_free = sum(row.counts for row in rows)
    return say(
        "axes", p_value=_of_random_draws(ladder.axes_p_value), means=ladder.axes_p_value <= 0.05, few=n_free == 2
    )


def _lines_of_all_metrics(evaluation: Evaluation, representation: str) -> tuple[QuestionLine, ...]:
    of_labels = {row.label: row for row in reversed(evaluation.rows) if row.representation == representation}
    return tuple(line_of(question_of(row.measures), row, evaluation) for row in of_labels.values())


def _report(
    evaluation: Evaluation, representation: str, rows: tuple[FactorRow, ...], lines: tuple[QuestionLine, ...]
) -> str:
    """How far the factors are identified, with the parts of the ladder, and then the trusted scores."""
    lines = lines if any(line.metric for line in lines) else _lines_of_all_metrics(evaluation, representation)
    if all(line.level is Level.NOT_CHECKED for line in lines if line.metric):
        return say("not_checked")
    parts = LadderParts.of(evaluation, representation)
    scores = _reported_scores(lines, parts)
    if not scores and parts is None:
        return say("no_report")
    screening, ladder = evaluation.data.screening.get(representation), evaluation.data.ladders.get(representation)
    n_rows = n_rows_given(evaluation.data)
    n_codes = screening.n_codes if screening else evaluation.data.representations[representation].n_codes
    said = say(
        "report",
        rows=_of_all(ladder.n_rows if ladder else n_rows, n_rows, "sample"),
        codes=_of_all(len(ladder.code_names) if ladder else n_codes, n_codes, "code"),
        scores=scores,
        parts=parts and str(parts),
        found="; ".join(row.reported for row in rows)
        if len(rows) <= MOST_REPORTED
        else _headline(evaluation, representation, rows).rstrip("."),
    )
    return f"{said} {narrow_intervals(evaluation)}".rstrip()


def _reported_scores(lines: Iterable[QuestionLine], parts: LadderParts | None) -> list[str]:
    """The trusted scores; beside the parts of the ladder without what the table says."""
    return [
        reported_score(
            *(line.metric, line.value, line.low, line.high),
            *((None, None) if parts else (line.confidence, line.noise)),
            part=line.part.removesuffix(say("too_narrow")).rstrip(", "),  # said at the end, for all
        )
        for line in lines
        if line.level is Level.TRUST and line.question != OTHER_CONTENT and line.value is not None
        if parts is None or line.metric != "identification"  # the same number as own codes
    ]


def _of_all(n: int, of: int, what: str) -> str:
    return f"{n:,} of {counted(of, what)}" if n < of else counted(of, what)


@dataclass(frozen=True)
class Ranked:
    """One representation by one metric; ``best`` if it is significantly better than others and than noise."""

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
    """A question, the metric that answers it, the representations ranked by it, and whether differences were tested.

    Steps of training and layers are ``in_order``.
    """

    question: str
    text: str
    short: str
    metric: str
    noise: tuple[float, float] | None
    ranked: tuple[Ranked, ...]
    tested: bool
    in_order: bool = False

    def table(self) -> TextTable:
        """The representations with score, verdict, and whether they are in the best group."""
        rows = [
            (entry.representation, with_ends(entry.value, entry.low, entry.high), entry.verdict, "best" * entry.best)
            for entry in self.ranked
        ]
        return TextTable(("representation", "score", "verdict", "best group"), tuple(rows))


@dataclass(frozen=True)
class LayerCell:
    """The recovery of one factor in one representation, with its interval and rung, and whether it is above noise."""

    value: float | None
    low: float | None
    high: float | None
    rung: str
    above_noise: bool


@dataclass(frozen=True)
class Layers:
    """Recovery of every factor in every representation by one rung of the ladder, in the order given.

    ``noise`` is the largest held-out R2 of any factor in any representation in 49 permutations, so that all cells have
    one error rate: some factor that is not in the codes is above it with a probability of at most .02. ``are_ordered``
    is whether the names differ only by a number that increases, as those of layers and of steps of training do, and
    ``steps`` are then these numbers.
    """

    rung: str
    representations: tuple[str, ...]
    cells: dict[str, tuple[LayerCell, ...]]
    noise: float
    are_ordered: bool
    reading: str
    steps: tuple[int, ...] = ()

    def table(self) -> TextTable:
        """One row for each representation and one column for each factor, or the other way round if it is narrower."""
        texts = {
            factor: [
                "" if cell.value is None else number(cell.value) if cell.above_noise else f"({number(cell.value)})"
                for cell in cells
            ]
            for factor, cells in self.cells.items()
        }
        if len(texts) <= len(self.representations):
            rows = [(name, *(of[k] for of in texts.values())) for k, name in enumerate(self.representations)]
            return TextTable(("representation", *texts), tuple(rows))
        return TextTable(("factor", *self.representations), tuple((factor, *of) for factor, of in texts.items()))


def layers(evaluation: Evaluation, rung: str = "direction") -> Layers | None:
    """The recoveries of all factors in all representations; None if a ladder is missing."""
    if rung not in RECOVERY_OF.values():
        raise OptionError(
            f"rung={rung!r} is not a recovery of the ladder: use one of {', '.join(RECOVERY_OF.values())}."
        )
    ladders, names = evaluation.data.ladders, evaluation.representations
    if set(names) != set(ladders):
        return None
    noise = max(ladder.noise for ladder in ladders.values())
    cells: dict[str, list[LayerCell]] = {}
    for name in names:
        for row in ladders[name].rows:
            low, high = row.intervals.get(rung, (math.nan, math.nan))
            is_implied = row.rung == "implied"  # then read on the rows as they are
            is_read = (row.rung in IN_CODES and row.sample_r2 > noise) or (is_implied and row.readable > noise)
            value = row.readable if is_implied and rung in ("direction", "readable") else getattr(row, rung)
            known = (none_if_nan(value), none_if_nan(low), none_if_nan(high))
            cells.setdefault(row.factor, []).append(LayerCell(*known, row.rung, is_read))
    n_cells = sum(cell.value is not None for of in cells.values() for cell in of)
    reading = say("reading_of_layers", rung=rung.replace("_", " "), n=n_cells, noise=noise)
    rows = {factor: tuple(of) for factor, of in cells.items()}
    steps = () if evaluation.has_seeds else _steps(names)
    return Layers(rung, names, rows, noise, bool(steps), reading, steps)


def _steps(names: Sequence[str]) -> tuple[int, ...]:
    """The numbers in names that differ only by a number that increases, or nothing."""
    found = [match for name in names if (match := re.fullmatch(r"(\D*)(\d+)(\D*)", name))]
    steps = tuple(int(match[2]) for match in found)
    alike = len(found) == len(names) > 2 and len({(match[1], match[3]) for match in found}) == 1
    return steps if alike and list(steps) == sorted(steps) else ()


@dataclass(frozen=True)
class Course:
    """How the ladder goes over ordered representations, such as steps of training or layers.

    ``best`` has the largest value, ``first`` is the first that does not differ significantly from it, and ``fallen`` is
    the lowest of those after ``best`` that are significantly below it; both are empty if nothing was tested. ``ends``
    are the first and the last step, and ``dips`` say which factors fall by more than .1 and come back on the way to
    ``best``.
    """

    best: str
    value: float
    first: str
    fallen: str
    dips: tuple[str, ...]
    sentence: str
    ends: tuple[str, str]

    def __str__(self) -> str:
        return f"{self.sentence} {self.on_the_way}".rstrip()

    @property
    def on_the_way(self) -> str:
        """The sentence about dips, which stands below the headline; the other one is in the report."""
        return say("dips", names=self.dips) if self.dips else ""

    @property
    def step(self) -> str:
        """What to do after a fall; empty without one."""
        first = self.first if self.first != self.best else ""
        return say("keep_best", best=self.best, first=first) if self.fallen else ""


DIP = 0.1  # of the recovery of a factor


def course(
    found: Layers | None,
    values: dict[str, float],
    comparison: Comparison | None,
    noise: Collection[str] = (),
    own: Layers | None = None,
) -> Course | None:
    """The course of the ladder; None if the representations have no order, or if all are ``noise``.

    ``own`` are the recoveries from own codes, which the sentence describes factor by factor.
    """
    if found is None or not found.are_ordered or set(noise) >= set(values):
        return None
    names = found.representations
    best = max(names, key=lambda name: values[name])  # the first of equal ones
    first = fallen = ""
    if comparison is not None:
        lower = {each.second for each in comparison.apart if each.first == best}
        first = next(name for name in names if name not in lower)
        fallen = min(lower.intersection(names[names.index(best) + 1 :]), key=lambda name: values[name], default="")
    said = say(
        "course",
        best=best,
        value=values[best],
        tested=comparison is not None,
        first=first if first != best else "",
        rises=best != names[0],
        fallen=fallen,
        low=values.get(fallen, math.nan),
    )
    until_best = names.index(best) + 1
    said = f"{said} {_course_of_own_codes(own, until_best)}".strip() if own else said
    return Course(best, values[best], first, fallen, _dips(found, until_best), said, (names[0], names[-1]))


def _course_of_own_codes(own: Layers, until_best: int) -> str:
    """Since when each factor has codes of its own, which fall and come back, and which loses most after the best."""
    names, since, losses = own.representations, {}, {}
    for factor, cells in own.cells.items():
        have = [k for k, cell in enumerate(cells) if cell.rung in OWN]
        if have:
            since[factor] = have[0]
        after = [cell.value for cell in cells[until_best - 1 :] if cell.value is not None and cell.rung != "implied"]
        losses[factor] = (after[0] - min(after), after[0], min(after)) if after else (0.0, 0.0, 0.0)
    most = max(losses, key=lambda factor: losses[factor][0])
    loss, high, low = losses[most]
    known = {"lost": most if loss > DIP else "", "high": high, "low": low, "dips": _dips(own, until_best)}
    firsts = [f"{factor} {names[k]}" for factor, k in sorted(since.items(), key=lambda each: each[1])]
    return say("course_of_own_codes", firsts=firsts, **known)


def _dips(found: Layers, n_steps: int) -> tuple[str, ...]:
    """The factors that fall by more than .1 within the first steps and come back, each with its lowest step."""
    dips = []
    for factor, cells in found.cells.items():
        seen = [cell.value for cell in cells[:n_steps] if cell.value is not None and cell.rung != "implied"]
        lost = [min(max(seen[:k]), max(seen[k:])) - seen[k] for k in range(1, len(seen))]
        if len(seen) == n_steps > 1 and max(lost) > DIP:
            k = lost.index(max(lost)) + 1
            dips.append(say("dip", factor=factor, before=max(seen[:k]), low=seen[k], at=found.representations[k]))
    return tuple(dips)


@dataclass(frozen=True)
class ComparedAnswer:
    """The answer for several representations; ``order`` has their names by `Ladder.value`, best first.

    ``best`` are the names of those that are not significantly below any other, if some differ, and ``layers`` has the
    recovery of every factor in each. ``course`` says how the ladder goes over names with an order, and ``differences``
    is a table of the first minus each of the next few.
    """

    headline: str
    representations: tuple[Answer, ...]
    order: tuple[str, ...]
    best: tuple[str, ...]
    letters: dict[str, str]
    questions: tuple[ComparedQuestion, ...]
    report: str
    next_steps: tuple[str, ...]
    layers: Layers | None = None
    settings: GroupedScores | None = None  # if names differ by a seed alone
    course: Course | None = None
    differences: TextTable | None = None
    nuisances: str = ""

    def table(self) -> TextTable:
        """One row for each representation, with the ladder's value and its parts, and the factors by rung.

        The best is first, or names with an order are in their order.
        """
        by_name = {one.representation: one for one in self.representations}
        order = self.order if self.course is None else tuple(by_name)
        heads = ("representation", "ladder", "own codes", "direction", "readable", "best", "group", "factors")
        rows = []
        for name in [*order, *(name for name in by_name if name not in order)]:
            parts = by_name[name].parts
            numbers = (parts.value, parts.own_codes, parts.direction, parts.readable) if parts else (None,) * 4
            groups: dict[str, list[str]] = {}
            for row in by_name[name].factors:
                place = f" ({row.where})" if row.rung in OWN else ""
                groups.setdefault(row.group, []).append(f"{row.factor}{place}")
            named = "; ".join(f"{group}: {listed(factors, MOST_NAMED)}" for group, factors in groups.items())
            best, letters = "best" if name in self.best else "", self.letters.get(name, "")
            rows.append((name, *map(number, numbers), best, letters, named or NOT_KNOWN))
        return TextTable(heads, tuple(rows))


def compared_answer(evaluation: Evaluation) -> ComparedAnswer:
    """The answer for all representations of an evaluation.

    >>> import numpy as np, unweave
    >>> rng = np.random.default_rng(0)
    >>> factors = rng.normal(size=(300, 2))
    >>> both = unweave.compare(factors, {"kept": factors, "noise": rng.normal(size=(300, 2))}, metrics="identification")
    >>> compared_answer(both).headline.partition(",")[0]
    'kept identifies the factors best (ladder value 1.00'
    """
    found = tuple(answer_of(evaluation, name) for name in evaluation.representations)
    questions = tuple(
        compared_by(question.panel[0], question, evaluation)
        for question in QUESTIONS
        if question.name != OTHER_CONTENT and question.panel and question.panel[0] in evaluation.labels
    )
    comparison = evaluation.data.ladder_comparison
    values = {answer.representation: answer.parts.value for answer in found if answer.parts is not None}
    noise = {answer.representation for answer in found if answer.contains_nothing}
    best = never_below(comparison, noise)
    order = sorted(values, key=lambda name: -values[name])
    settings = evaluation.grouped() if evaluation.has_seeds else None
    kept = () if settings else _kept(best, order, {} if comparison is None else comparison.letters)
    report = say("nothing_computed")
    if _has_scores(evaluation, *evaluation.representations):
        report = _comparison_report(questions, best) if settings is None else _report_of_settings(settings)
    table = layers(evaluation)
    over = course(table, values, comparison, noise, layers(evaluation, "own_codes"))
    return ComparedAnswer(
        headline=_compared_headline(evaluation, values, order, best, noise, settings),
        representations=found,
        order=tuple(order),
        best=best,
        letters={} if comparison is None else comparison.letters,
        questions=questions,
        report=" ".join(filter(None, (over.sentence if over else "", report, narrow_intervals(evaluation)))),
        next_steps=_steps_of_comparison(evaluation, [one for one in found if one.representation in kept], over, order),
        layers=table,
        settings=settings,
        course=over,
        differences=None if settings else _first_minus_others(order, comparison, over),
        nuisances=nuisances_read(evaluation, *evaluation.representations),
    )


# what a user types to evaluate one of several representations; the command line knows files and options
command_of_one: ContextVar[Callable[[str], str]] = ContextVar(
    "command_of_one", default=lambda name: "unweave score FILE"
)


def _steps_of_comparison(
    evaluation: Evaluation, kept: Sequence[Answer], over: Course | None, order: Sequence[str]
) -> tuple[str, ...]:
    """Recommendations of the checks, of the course and for the representations to keep, and where more is said.

    Nothing is said of single runs where settings are compared.
    """
    steps = [*_of_checks(evaluation, evaluation.rows), *_of_data(evaluation)]
    steps += [over.step] if over and over.step else []
    for one in kept:
        of_one = of_factors(evaluation, one.representation, one.factors)
        steps += [f"{one.representation}: {step}" for step in of_one]
    first = [name for name in order for one in kept if one.representation == name and not one.contains_nothing][:1]
    look = [say("look_at_one", name=name, command=command_of_one.get()(name)) for name in first]
    return (*[*dict.fromkeys(steps)][: MOST_STEPS - 1], *look) or (say("no_advice"),)


MOST_DIFFERENCES = 4

AT_BOUND = 0.02  # p-values that 99 draws do not resolve


def _first_minus_others(order: list[str], comparison: Comparison | None, over: Course | None) -> TextTable | None:
    """The first by the ladder minus each of the next few, of steps minus the first and last; interval and p-value."""
    if comparison is None or not comparison.differences:
        return None
    others = order[1 : MOST_DIFFERENCES + 1] if over is None else [name for name in over.ends if name != order[0]]
    found = [comparison.between(order[0], name) for name in others]
    rows = [_row_of_difference(each) for each in found]
    return TextTable(("best minus other", "difference", f"{100 * comparison.level:g} % interval", "p"), tuple(rows))


def _row_of_difference(each: Difference) -> tuple[str, ...]:
    p_value = fixed(each.p_value) if each.p_value >= 0.001 else "< 0.001"
    p_value = "> 0.050" if p_value == "0.050" and each.p_value > 0.05 else p_value  # on its side of the limit
    ends = between(each.lower, each.upper, 3)
    ends = MINUS + ends if each.lower < 0 < each.upper and ends.startswith(fixed(0)) else ends
    return f"{each.first} {MINUS} {each.second}", fixed(each.difference), ends, p_value


def _kept(best: tuple[str, ...], order: list[str], letters: dict[str, str]) -> Collection[str]:
    """Representations that a person would keep: those that no other is better than."""
    first = letters.get(order[0], "") if order else ""
    return best or [name for name in order if name == order[0] or {*letters.get(name, "")} & {*first}]


def _compared_headline(
    evaluation: Evaluation,
    values: dict[str, float],
    order: list[str],
    best: tuple[str, ...],
    noise: set[str],
    settings: GroupedScores | None,
) -> str:
    if not evaluation.data.factors:
        return say("no_factors")
    if not values:
        return say("no_factor_table", problem=_ladder_problem(evaluation, evaluation.representations[0]))
    if noise >= set(values):
        return say("none_contains")
    if settings is not None and "ladder" in settings.scores:
        return _headline_of_settings(settings)
    shown = [f"{name} {fixed(values[name], 2)}" for name in order]
    if evaluation.data.ladder_comparison is None:
        return say("not_compared", values=shown)
    if not best:
        return say("all_alike", values=shown)
    rest = [name for name in order if name not in best]
    of_best = [fixed(values[name], 2) for name in best]
    return say("identifies_best", best=best, values=of_best, rest=f"{rest[0]} has {fixed(values[rest[0]], 2)}")


def _headline_of_settings(settings: GroupedScores) -> str:
    """How the settings differ by the mean of the ladder over their seeds."""
    scores, best, tests = settings.scores["ladder"], settings.best("ladder"), settings.differences["ladder"]
    shown = [
        f"{each.group} {fixed(each.mean, 2)}{'' if math.isnan(each.std) else f' ± {fixed(each.std, 2)}'} "
        f"({counted(len(each.values), 'seed')})"
        for each in scores
    ]
    test = next((each for each in tests if each.first in best and each.second not in best), None)
    test = tests[0] if len(tests) == 1 else test
    compared = "settings_best" if best else "settings_alike" if tests else "settings_untested"
    parts = [] if best or not tests else _parts_that_differ(settings)
    said = [say(compared, best=best, n=len(scores), parts=parts), say("settings_values", values=shown)]
    if test is not None:
        said.append(say("settings_test", confidence=settings.level, **vars(test)))
    if tests and (single := [each.group for each in scores if len(each.values) == 1]):
        said.append(say("settings_of_one_seed", names=single))
    return " ".join(said)


def _parts_that_differ(settings: GroupedScores) -> list[str]:
    """By which part of the ladder some settings are better, if it cancels in the whole."""
    said = []
    for label in ("identification", "r2"):
        names = settings.best(label) if label in settings.scores else ()
        test = next((each for each in settings.differences.get(label, ()) if each.second not in names), None)
        if names and test is not None:
            high, low = (settings.score(label, group).mean for group in (test.first, test.second))
            known = {"metric": label, "high": high, "low": low, "p_value": test.p_value}
            said.append(say("settings_part", names=names, own=label == "identification", **known))
    return said


def settings_tested(found: GroupedScores, labels: Sequence[str]) -> TextTable:
    """The best setting by each metric against each other one; by the first metric alone if that is too much to read."""
    rows = [(label, *_row_of_difference(each)) for label in labels for each in found.differences.get(label, ())]
    rows = rows if len(rows) <= MOST_TESTS else [row for row in rows if row[0] == labels[0]]
    holm = ", Holm" if len(found.groups) > 2 else ""  # of two settings there is one pair
    heads = ("metric", "best minus other", "difference", f"{100 * found.level:g} % interval", f"p (Welch{holm})")
    return TextTable(heads, tuple(rows))


def compared_by(metric: str, question: Question, evaluation: Evaluation) -> ComparedQuestion:
    """The representations by one metric, best first and those without a score last; steps are in their order."""
    rows = [row for name in evaluation.representations if (row := evaluation.row(metric, name))]
    lines = {row.representation: line_of(question, row, evaluation) for row in rows if has_number(row)}
    has_order = not evaluation.has_seeds and bool(_steps(evaluation.representations))
    comparison = evaluation.data.comparison.get(metric, Comparison(metric, 0.95))
    doubted = {row.representation for row in rows if row.level in (Level.DO_NOT_USE, Level.NOISE)}
    best = never_below(comparison, doubted)
    floors = [line.noise for line in lines.values() if line.noise is not None]
    return ComparedQuestion(
        question=question.name,
        text=question.text,
        short=question.short,
        metric=metric,
        noise=(min(floors), max(floors)) if floors else None,
        ranked=tuple(
            _ranked_entry(row, lines.get(row.representation), row.representation in best, comparison.letters)
            for row in (rows if has_order else sorted(rows, key=_best_first))
        ),
        tested=bool(comparison.letters),
        in_order=has_order,
    )


def _ranked_entry(row: Row, line: QuestionLine | None, best: bool, letters: dict[str, str]) -> Ranked:
    name = row.representation
    if line is None:
        return Ranked(name, None, None, None, row.level, "failed" if row.problem else "undefined", False)
    return Ranked(name, line.value, line.low, line.high, row.level, row.level, best, letters.get(name, ""), line.spread)


def _best_first(row: Row) -> tuple[bool, float]:
    if not has_number(row) or row.score is None:
        return True, 0.0
    return False, row.score.raw if row.card.lower_is_better else -row.score.raw


def _report_of_settings(settings: GroupedScores) -> str:
    """Which settings are best by means over their seeds, of metrics that can be trusted in all of their seeds."""
    if not any(settings.differences.values()):
        return say("settings_untested", n=len(settings.groups))
    best_by: dict[tuple[str, ...], list[str]] = {}
    tied_by, doubted = [], []
    for label in settings.differences:
        named, best = "the ladder" if label == "ladder" else label, settings.best(label)
        fine = {each.group for each in settings.scores[label] if each.level in (Level.TRUST, Level.NOISE, None)}
        levels = [each.level for each in settings.scores[label] if each.group not in fine]
        if levels and not (best and fine.issuperset(best)):
            doubted.append(f"{label} ({listed([*dict.fromkeys(map(str, levels))])})")
        elif best and fine.issuperset(best):
            best_by.setdefault(best, []).append(named)
        elif settings.differences[label] and not best:
            tied_by.append(named)
    seeds = sorted({len(each.values) for scores in settings.scores.values() for each in scores if each.values})
    said = _best_and_tied(best_by, tied_by, "settings") or say("nothing_told_apart", what="settings")
    said += f" {say('doubted_by', metrics=doubted)}" if doubted else ""
    return say("by_settings", seeds=[*map(str, seeds)], n=len(settings.differences), said=said)


def _best_and_tied(best_by: dict[tuple[str, ...], list[str]], tied_by: list[str], what: str) -> str:
    sentences = [say("best_by", metric=listed(by), names=names) for names, by in best_by.items()]
    return " ".join([*sentences, *([say("all_tied_by", metric=listed(tied_by), what=what)] if tied_by else [])])


def _comparison_report(questions: tuple[ComparedQuestion, ...], best: tuple[str, ...]) -> str:
    """Which representations are best, once for all metrics by which they are."""
    best_by: dict[tuple[str, ...], list[str]] = {tuple(sorted(best)): ["the ladder"]} if best else {}
    tied_by = []
    for question in questions:
        named = [entry.representation for entry in question.ranked if entry.best and entry.level is Level.TRUST]
        trusted = all(entry.level in (Level.TRUST, Level.NOISE) for entry in question.ranked)
        if named:
            best_by.setdefault(tuple(sorted(named)), []).append(question.metric)
        elif question.tested and trusted and len({letter for each in question.ranked for letter in each.letters}) == 1:
            tied_by.append(question.metric)
    said = _best_and_tied(best_by, tied_by, "representations")
    tested = any(question.tested for question in questions)
    return said or (say("nothing_told_apart", what="representations") if tested else say("not_tested"))


def number(value: float | None) -> str:
    """A number with two decimals, or nothing."""
    return "" if value is None else fixed(value, 2)


def with_ends(value: float | None, low: float | None, high: float | None) -> str:
    """A number with its interval."""
    return number(value) + ("" if low is None or value is None else f" ({between(low, high)})")


ANSWER_SCHEMA = "unweave.answer/2"


def whole_answer(evaluation: Evaluation) -> Answer | ComparedAnswer:
    """The answer for one representation; for several, the comparison and the answer for each."""
    return compared_answer(evaluation) if len(evaluation.representations) > 1 else answer_of(evaluation)


def plain_answer(evaluation: Evaluation) -> dict[str, Any]:
    """The whole answer as plain data.

    >>> from unweave import evaluate
    >>> z = [[float(i % 7), float(i % 5)] for i in range(60)]
    >>> sorted(plain_answer(evaluate(z, z, metrics="mcc", quick=True)))[:6]
    ['axes', 'factors', 'headline', 'identified', 'next_steps', 'nuisances']
    """
    return {"schema": ANSWER_SCHEMA, **plain_data(whole_answer(evaluation))}
