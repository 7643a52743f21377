"""The decorator `@metric`, which turns a function into a metric with a card."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import reprlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, Literal, Protocol, Unpack, cast

import numpy as np

from unweave.arrays import FloatArray
from unweave.card.card import Card, CardFields, MetricError, MetricUndefined, check_fields
from unweave.errors import InputError, OptionError
from unweave.evidence import Evidence, Posterior
from unweave.evidence.columns import NeedsRows
from unweave.evidence.decoders import Sampler
from unweave.evidence.inputs import OPTION_NAMES, EvidenceOptions, option_parameters
from unweave.evidence.kinds import KindsGiven
from unweave.findings import Finding, stated
from unweave.names import refuse_unknown_options, suggestion
from unweave.options import check_option_values, option_types
from unweave.randomness import random_stream
from unweave.score import Score

if TYPE_CHECKING:
    from typing_extensions import ParamSpec


def joined_score(card: Card, evidence: Evidence, score_of: Callable[[Evidence], Score]) -> Score:
    """The mean over all factors of their scores, each computed on the rows labelled for its group of factors.

    Factors of a group on which the metric is not defined have nan. Matrices of codes x factors are joined, and other
    parts of the scores are left out.
    """
    parts = evidence.labelled_parts
    refusals = [card.refusal(part) for part in parts]
    if all(refusals):
        raise MetricUndefined(refusals[0] or "")
    scores = [None if refused else score_of(part) for part, refused in zip(parts, refusals, strict=True)]
    per_factor: dict[str, float] = {}
    for score, part in zip(scores, parts, strict=True):
        known = score.per_factor if score else {}  # an undefined score has no numbers per factor
        per_factor |= {name: known.get(name, np.nan) for name in part.factor_names}
    ordered = {name: per_factor[name] for name in evidence.factor_names}
    defined = [number for number in ordered.values() if not np.isnan(number)]
    matrices = _joined_matrices(evidence, scores)
    shown = next(score.matrices for score in scores if score)
    return Score(
        raw=float(np.mean(defined)) if defined else float("nan"),
        per_factor=ordered,
        parts=matrices,
        matrices=tuple(matrix for matrix in shown if matrix.part in matrices),
        caveats=_caveats(evidence, scores),
    )


def _joined_matrices(evidence: Evidence, scores: Sequence[Score | None]) -> dict[str, FloatArray]:
    first = next(score for score in scores if score)
    joined = {}
    for name in (name for name in first.parts if name.endswith("_matrix")):
        whole = np.full((evidence.n_codes, evidence.n_factors), np.nan)
        for score, part in zip(scores, evidence.labelled_parts, strict=True):
            columns = [evidence.factor_names.index(factor) for factor in part.factor_names]
            matrix = score.parts.get(name) if score else None
            if matrix is not None and matrix.shape == (evidence.n_codes, len(columns)):
                whole[:, columns] = matrix
        joined[name] = whole
    return joined


def _of_all_factors(caveat: Finding, scores: Sequence[Score | None]) -> Finding:
    """The caveat with the score of all factors that it names as published: the mean, as that of the score itself."""
    if "published" not in caveat.quantities:
        return caveat
    of_parts = [score.parts.get("published", [*score.per_factor.values()]) for score in scores if score]
    known = np.concatenate([np.atleast_1d(each) for each in of_parts])
    return caveat.restated(published=float(np.nanmean(known)))


def _caveats(evidence: Evidence, scores: Sequence[Score | None]) -> tuple[Finding, ...]:
    sizes = {name: part.n_rows for part in evidence.labelled_parts for name in part.factor_names}
    most = max(sizes.values())
    fewer = [name for name in evidence.factor_names if sizes[name] < most]
    on_fewer_rows = Finding("factors_on_labelled_rows", n_rows=min(sizes.values()), of=most, factors=fewer)
    caveats = dict.fromkeys(_of_all_factors(caveat, scores) for score in scores if score for caveat in score.caveats)
    return (*caveats, on_fewer_rows) if fewer else tuple(caveats)


if TYPE_CHECKING:
    from typing_extensions import ParamSpec

    Options = ParamSpec("Options", default=...)  # `Metric` alone is a metric with any options
else:
    from typing import ParamSpec

    Options = ParamSpec("Options")


class Metric(Protocol[Options]):
    """A function declared with `metric`: call it with factors and codes, or with an `Evidence` alone.

    ``card`` describes what it measures, needs and assumes; ``options`` are its own keyword arguments. Every metric also
    accepts the keyword arguments of `Evidence`.

    >>> from unweave.metrics import mcc
    >>> mcc.card.measures, list(mcc.options)
    ('one-to-one recovery', ['correlation', 'normalise', 'cross_fit', 'rng'])
    """

    card: Card
    options: Mapping[str, inspect.Parameter]
    __name__: str

    # The options of Evidence are listed because type checkers do not allow keyword-only parameters with a ParamSpec.
    # At run time all but the first two are keyword-only.
    def __call__(
        self,
        factors: object = None,
        codes: object = None,
        kinds: KindsGiven = None,
        missing: Literal["refuse", "drop"] = "refuse",
        nuisances: object = None,
        target: object = None,
        environments: object = None,
        row_groups: Sequence[object] | None = None,
        code_groups: Mapping[str, Sequence[str | int]] | None = None,
        factor_groups: Mapping[str, Sequence[str | int]] | None = None,
        factor_names: Sequence[str] | None = None,
        code_names: Sequence[str] | None = None,
        decoder: object = None,
        reference: object = None,
        output_names: Sequence[str] | None = None,
        sampler: Sampler | None = None,
        *args: Options.args,
        **options: Options.kwargs,
    ) -> Score:
        """Score of these factors and codes, or of an Evidence."""


def metric(**fields: Unpack[CardFields]) -> Declaration:
    """Declare a function ``(evidence, *, options) -> Score`` as a metric, with the fields of its `Card`.

    The metric is called with factors and codes, or with an `Evidence`. It raises `MetricUndefined` if the evidence
    lacks what the card needs, converts ``rng`` to one integer seed, and completes the score with name, version, bounds,
    best, settings and the caveats that all metrics have in common. The name of the metric is the name of the function,
    and its summary is the first line of the docstring.

    By default a metric accepts codes and factors of every kind, and its score lies between 0 and 1 with 1 as the best
    value. The score of random codes (``chance``) has no default, because every metric has to state it.

    Examples
    --------
    >>> @metric(
    ...     measures="explicitness",
    ...     equivalence="affine",
    ...     min_rows=10,
    ...     chance="by permutation",
    ...     cost="n m",
    ...     fails_when="more than the first factor and the first code matter",
    ...     reference="an example",
    ... )
    ... def first_correlation(evidence, *, power=1.0):
    ...     '''Absolute correlation of the first factor and the first code.'''
    ...     correlation = np.corrcoef(evidence.factors[:, 0], evidence.codes[:, 0])[0, 1]
    ...     return Score(abs(correlation) ** power)
    >>> factor = np.arange(20.0)
    >>> round(first_correlation(factor, -2 * factor, power=2.0).value, 6)
    1.0
    """
    return Declaration(fields)


class Declaration:
    """The decorator that `metric` returns: the checked fields of a card, applied to a function when called."""

    def __init__(self, fields: CardFields) -> None:
        _refuse_unknown_fields(fields)
        check_fields("A card", dict(fields))
        _refuse_missing_fields(fields)
        self.fields = fields

    def __call__(self, function: Callable[Concatenate[Evidence, Options], Score]) -> Metric[Options]:
        """Return the function as a metric with the same options."""
        body: Callable[..., Score] = function
        summary = (inspect.getdoc(body) or "").split("\n")[0]
        card = Card(name=body.__name__, summary=summary, **self.fields)
        options = _options_of(body)

        @functools.wraps(body)
        def scored(factors: object = None, codes: object = None, **given: Any) -> Score:
            if not given.keys() <= options.keys() | OPTION_NAMES:
                refuse_unknown_options(given, [*options, *OPTION_NAMES], card.name)
            evidence = _evidence_of(card, factors, codes, given)
            if given:
                check_option_values(card.name, option_types(body), given)
            by_factor = card.factor_by_factor and bool(evidence.labelled_parts)
            refusal = None if by_factor else card.refusal(evidence)
            if refusal:
                raise MetricUndefined(refusal)
            if "rng" in options:
                given["rng"] = seed_from(given.get("rng", options["rng"].default))
            in_force = {name: given.get(name, entry.default) for name, entry in options.items()}
            holding = card.under(in_force)

            def score_of(rows: Evidence) -> Score:
                return _checked_score(body(rows, **given), card)

            of_rows: tuple[Finding, ...] = ()
            if by_factor:
                score = joined_score(card, evidence, score_of)
            else:
                score, of_rows = _on_all_rows(score_of, evidence)
            return dataclasses.replace(
                score,
                metric=card.name,
                version=card.version,
                bounds=holding.bounds,
                best=holding.best,
                settings={name: _plain_option(option) for name, option in in_force.items()},
                caveats=(*score.caveats, *_shared_caveats(card, evidence, by_factor), *of_rows),
            )

        scored.card = card  # type: ignore[attr-defined]
        scored.options = options  # type: ignore[attr-defined]
        scored.__signature__ = _signature_with(options)  # type: ignore[attr-defined]
        return scored  # type: ignore[return-value]


metric.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [
        entry.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name, entry in inspect.signature(Card).parameters.items()
        if name in CardFields.__annotations__
    ]
)


def seed_from(rng: int | np.random.Generator | None) -> int:
    """One integer seed: the int itself, a number drawn from the Generator, or a random number for None.

    >>> seed_from(7)
    7
    """
    if isinstance(rng, (int, np.integer)):
        return int(rng)
    return int(random_stream(rng, "seed of a metric").integers(2**31))


def _refuse_unknown_fields(fields: Mapping[str, object]) -> None:
    known = CardFields.__annotations__
    unknown = next((name for name in fields if name not in known), None)
    if unknown is not None:
        raise MetricError(f"A card has no field {unknown!r}: {suggestion(unknown, known)}")


def _refuse_missing_fields(fields: Mapping[str, object]) -> None:
    stated = inspect.signature(metric).parameters.values()
    missing = [entry.name for entry in stated if entry.default is entry.empty and entry.name not in fields]
    if missing:
        raise MetricError(f"A card needs {', '.join(missing)}: add {'it' if len(missing) == 1 else 'them'}.")


def _options_of(function: Callable[..., Score]) -> dict[str, inspect.Parameter]:
    """The keyword-only parameters of a metric's function; its only other parameter must be the evidence."""
    name, parameters = function.__name__, list(inspect.signature(function).parameters.values())
    if not parameters or parameters[0].kind is not inspect.Parameter.POSITIONAL_OR_KEYWORD:
        raise MetricError(f"{name} takes no evidence: declare it as {name}(evidence, *, options).")
    for option in parameters[1:]:
        if option.kind is not inspect.Parameter.KEYWORD_ONLY:
            raise MetricError(f"{name} takes {option.name!r} by position: put its options after a '*'.")
        if option.default is inspect.Parameter.empty:
            raise MetricError(f"The option {option.name!r} of {name} has no default: give it one.")
        if option.name in OPTION_NAMES | {"factors", "codes"}:
            raise MetricError(f"{name} has an option {option.name!r}, which belongs to Evidence: rename it.")
    return {option.name: option for option in parameters[1:]}


def _signature_with(options: Mapping[str, inspect.Parameter]) -> inspect.Signature:
    either = inspect.Parameter.POSITIONAL_OR_KEYWORD
    sides = [inspect.Parameter(name, either, default=None, annotation=object) for name in ("factors", "codes")]
    return inspect.Signature([*sides, *options.values(), *option_parameters()], return_annotation=Score)


def _evidence_of(card: Card, factors: object, codes: object, given: dict[str, Any]) -> Evidence:
    options: dict[str, Any] = {name: given.pop(name) for name in list(given) if name in OPTION_NAMES}
    if isinstance(factors, Evidence):
        if codes is not None or options:
            raise InputError("An Evidence already contains the codes and their options: pass it alone.")
        return factors
    needs_decoder_alone = "decoder" in card.needs and "factors" not in card.needs
    if needs_decoder_alone and factors is not None and options.get("decoder") is None:  # metric(decoder, reference)
        if codes is not None and options.get("reference") is not None:
            raise InputError(f"{card.name} has two references: pass one, in second place or as reference=.")
        reference = options.get("reference") if codes is None else codes
        return Evidence(**options | {"decoder": factors, "reference": reference})
    if isinstance(factors, Posterior) and codes is None:  # for metrics that need no factors
        return Evidence(codes=factors, **options)
    return Evidence.for_one_call(factors, codes, cast(EvidenceOptions, options))


def _on_all_rows(score_of: Callable[[Evidence], Score], evidence: Evidence) -> tuple[Score, tuple[Finding, ...]]:
    """The score from totals over all rows or, if these do not suffice, from a sample; a finding states which it is."""
    all_rows = evidence.all_rows
    if all_rows is None:
        return score_of(evidence), ()
    n_rows, n_sampled = all_rows.n_rows, evidence.n_rows
    try:
        score = score_of(evidence.summary())
    except NeedsRows:
        return score_of(evidence), (Finding("rows_sampled", n_rows=n_sampled, of=n_rows),)
    if all_rows.n_planning < n_rows:
        planned = Finding(
            "all_rows_in_planned_bins", n_rows=n_rows, n_sampled=n_sampled, n_planning=all_rows.n_planning
        )
        return score, (planned,)
    return score, (Finding("all_rows_in_blocks", n_rows=n_rows, n_sampled=n_sampled),)


def _checked_score(score: object, card: Card) -> Score:
    if isinstance(score, Score):
        return score
    raise MetricError(
        f"{card.name} returned {reprlib.repr(score)} of type {type(score).__name__}: return a Score, as in Score(0.5)."
    )


def _shared_caveats(card: Card, evidence: Evidence, by_factor: bool) -> list[Finding]:
    caveats: list[Finding] = []
    if "factors" in card.needs and evidence.constant_factors:
        caveats.append(Finding("constant_factors", factors=evidence.constant_factors))
    if "codes" in card.needs and evidence.dead_codes:
        caveats.append(Finding("dead_codes", codes=evidence.dead_codes))
    if {"factors", "codes"} <= set(card.needs) and evidence.same_rows is not None:
        n_distinct = int(evidence.same_rows.max()) + 1
        caveats.append(Finding("rows_come_again", n_rows=evidence.n_rows, n_distinct=n_distinct))
    if evidence.n_dropped and not by_factor:
        caveats.append(Finding("rows_dropped", n_rows=evidence.n_dropped))
    broken = [assumption.caveat for assumption in card.assumes if not assumption.holds(evidence)]
    caveats += [stated(caveat) if isinstance(caveat, str) else caveat for caveat in broken]
    return caveats


def _plain_option(option: Any) -> Any:
    """An option as plain data; an estimator becomes a dictionary of its name, fields and library."""
    if dataclasses.is_dataclass(option) and not isinstance(option, type):
        described = {"name": type(option).__name__}
        described |= {entry.name: _plain_option(getattr(option, entry.name)) for entry in dataclasses.fields(option)}
        library = getattr(option, "library", None)
        return described | ({"library": library} if library else {})
    return list(option) if isinstance(option, tuple) else option


Choice = Metric | functools.partial[Any]


def metric_of(choice: object) -> Metric:
    """The metric of a choice; raises OptionError if the object is not a metric.

    >>> from unweave.metrics import mcc
    >>> metric_of(functools.partial(mcc, correlation="spearman")) is mcc
    True
    """
    entry = choice.func if isinstance(choice, functools.partial) else choice
    if not hasattr(entry, "card"):
        raise OptionError(
            f"An object of type {type(entry).__name__} is not a metric: declare it with @unweave.metric, "
            "or choose one from the catalogue."
        )
    return cast(Metric, entry)


def card_of(choice: object) -> Card:
    """Card of the metric of a choice, as declared."""
    return metric_of(choice).card


def stated_options(choice: object) -> Mapping[str, Any]:
    """Options that the choice fixes.

    >>> from unweave.metrics import r2
    >>> dict(stated_options(functools.partial(r2, rng=3))), stated_options(r2)
    ({'rng': 3}, {})
    """
    return choice.keywords if isinstance(choice, functools.partial) else {}
