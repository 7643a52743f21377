"""Which metrics answer which question, within a time budget."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from unweave.card import Metric
from unweave.card.decorator import metric_of, stated_options
from unweave.errors import InputError, OptionError
from unweave.evaluation.results import Row
from unweave.evidence import Evidence
from unweave.metrics import CATALOGUE
from unweave.metrics.concepts import CONCEPT_METRICS
from unweave.names import option_suggestion, suggestion
from unweave.options import check_option_values, option_types
from unweave.own_modules import imported
from unweave.score import Score
from unweave.sentences import printable
from unweave.trust.budget import UNKNOWN, DataSizes, Work, table
from unweave.trust.scoring import ScoredMetric

PANEL_VERSION = 3


@dataclass(frozen=True)
class Question:
    """A question and the metrics that answer it.

    ``short`` is the question for narrow tables. ``measures`` lists the values of `Card.measures` that belong to it.
    ``panel`` names its metrics in the panel: the first one always gives the answer, and the others are further rows.

    >>> QUESTIONS[0].text
    'Is every factor in a code of its own?'
    """

    name: str
    text: str
    short: str
    measures: tuple[str, ...]
    panel: tuple[str, ...] = ()


QUESTIONS = (
    Question(
        "recovery",
        "Is every factor in a code of its own?",
        "Own code for each factor?",
        ("one-to-one recovery",),
        ("identification", "mcc"),
    ),
    Question(
        "explicitness",
        "Can the factors be read out of the codes?",
        "Are the factors readable?",
        ("explicitness", "linear identifiability"),
        ("r2",),
    ),
    Question(
        "modularity",
        "Does each code carry one factor only?",
        "One factor per code?",
        ("modularity", "modularity and explicitness"),
        ("dci_disentanglement",),
    ),
    Question(
        "compactness",
        "Is each factor in one code only?",
        "One code per factor?",
        ("compactness", "compactness and explicitness"),
        ("dci_completeness", "mig"),
    ),
    Question(
        "other content",
        "Is anything else in the codes?",
        "Anything else in codes?",
        ("invariance to nuisances", "informativeness", "size"),
        ("nuisances_invariance",),
    ),
    Question("independence", "Are the codes independent of each other?", "Independent codes?", ("independence",)),
    Question(
        "decoder",
        "What do the latents do to the data?",
        "What do the latents do?",
        (
            "entropy of the generated data",
            "importance of latents",
            "orthogonality of latents",
            "agreement of two decoders",
        ),
        ("manifold_entropy", "manifold_mutual_information", "manifold_total_correlation"),
    ),
)

OTHER = Question("other", "Other metrics", "Other metrics", ())
PANEL = tuple(name for question in QUESTIONS for name in question.panel)


def question_of(measures: str) -> Question:
    """The question that a metric answers, by `Card.measures`.

    >>> question_of("compactness").name, question_of("beauty").name
    ('compactness', 'other')
    """
    return next((question for question in QUESTIONS if measures in question.measures), OTHER)


# metrics and families by the names that papers write out, without marks
WRITTEN_OUT = {
    "mutual information gap": "mig",
    "robust mutual information gap": "rmig",
    "joint entropy minus mutual information gap": "jemmig",
    "mean correlation coefficient": "mcc",
    "weak mean correlation coefficient": "weak_mcc",
    "coefficient of determination": "r2",
    "r squared": "r2",
    "separated attribute predictability": "sap",
    "attribute predictability score": "sap",
    "interventional robustness": "irs",
    "interventional robustness score": "irs",
    "factor vae": "factor_vae_score",
    "factorvae": "factor_vae_score",
    "beta vae": "beta_vae_score",
    "relevance factor vae": "relevance_factor_vae_score",
    "disentanglement completeness informativeness": "dci",
    "disentanglement completeness and informativeness": "dci",
}

MetricChoice = str | Metric | functools.partial[Any]
TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def fitting_metrics(metrics: MetricChoice | Iterable[MetricChoice] | None, evidence: Evidence) -> dict[str, Any]:
    """Metrics by label that are to be computed on this evidence.

    Metrics of a group whose needs are not met are left out; a metric given by its own name is kept, and its row states
    what is missing. Where no metric of the panel can be computed, such as for a decoder or a posterior alone, all
    metrics of the catalogue that can be computed are chosen.

    >>> evidence = Evidence([[1.0], [2.0], [3.0]], [[0.1], [0.2], [0.3]])
    >>> list(fitting_metrics("matching", evidence)), list(fitting_metrics("geometry", evidence))
    (['mcc'], [])
    """
    chosen, named = chosen_metrics(metrics), _named_labels(metrics)
    fitting = {
        label: entry
        for label, entry in chosen.items()
        if label in named or metric_of(entry).card.lacking(evidence) is None
    }
    if fitting or metrics is not None:
        return fitting
    return {name: entry for name, entry in CATALOGUE.items() if entry.card.lacking(evidence) is None}


def chosen_metrics(metrics: MetricChoice | Iterable[MetricChoice] | None) -> dict[str, Any]:
    """Metrics by label, the panel for None; a label is the name of the metric with its stated options."""
    choices = _choices(metrics)
    if not choices:
        raise OptionError("There is no metric to compute: name at least one, or pass None for the panel.")
    chosen: dict[str, Any] = {}
    entries: list[Any] = []
    problems: list[OptionError] = []
    for choice in choices:
        try:
            entries += _entries(choice)
        except OptionError as error:  # one error for all
            problems.append(error)
    if len(problems) == 1:
        raise problems[0]
    if problems:
        raise OptionError(" ".join(map(str, problems)))
    for entry in entries:
        label = _label(entry)
        if label in chosen and metric_of(chosen[label]) is not metric_of(entry):
            raise InputError(f"Two metrics are called {label!r}: give each a name of its own.")
        chosen[label] = entry
    return chosen


def _choices(metrics: MetricChoice | Iterable[MetricChoice] | None) -> list[MetricChoice]:
    if metrics is None:
        return ["panel"]
    if getattr(metrics, "shape", None) == () or not (isinstance(metrics, Iterable) or callable(metrics)):
        raise OptionError(
            f"metrics={metrics!r} does not name metrics: pass names such as ['mcc', 'r2'], 'all' or None for the panel."
        )
    if isinstance(metrics, str):
        return [name for name in metrics.split(",") if name.strip()]
    return [metrics] if callable(metrics) else list(metrics)


def _entries(choice: MetricChoice) -> Iterator[Any]:
    """The chosen metric, or all metrics of the named group."""
    if not isinstance(choice, str):
        yield choice
    elif (group := choice.strip().lower()) in (groups := metric_groups()):
        yield from groups[group]
    else:
        yield chosen_by_text(choice)


def metric_groups() -> dict[str, list[Metric]]:
    """Metrics by the name of their group: the panel, the whole catalogue, every family, and measures of concepts."""
    panel, concepts = [CATALOGUE[name] for name in PANEL], list(CONCEPT_METRICS.values())
    return {"panel": panel, "all": list(CATALOGUE.values()), **metric_families(), "concepts": concepts}


# the family that a file of metrics belongs to; the other files are families of their own
FAMILY_OF_FILE = {
    "dci": "prediction",
    **dict.fromkeys(("mig", "infomec", "minimal_sufficient"), "information"),
    **dict.fromkeys(("factor_vae", "irs", "t_mex"), "intervention"),
    **dict.fromkeys(("separability", "rmig"), "posterior"),
}


def metric_families() -> dict[str, list[Metric]]:
    """Metrics of the catalogue by family and by file; a file that has the name of a metric does not count.

    >>> [entry.card.name for entry in metric_families()["infomec"]]
    ['infomec_modularity', 'infomec_explicitness', 'infomec_compactness']
    """
    families: dict[str, list[Metric]] = {}
    for entry in CATALOGUE.values():
        package, _, file = inspect.unwrap(entry).__module__.rpartition(".")
        for name in dict.fromkeys((FAMILY_OF_FILE.get(file, file), file)) if package == "unweave.metrics" else ():
            if name not in CATALOGUE:
                families.setdefault(name, []).append(entry)
    return families


def _named_labels(metrics: MetricChoice | Iterable[MetricChoice] | None) -> set[str]:
    """Labels of metrics that were chosen by their own name and not by a group."""
    groups = metric_groups()
    single = [one for one in _choices(metrics) if not (isinstance(one, str) and one.strip().lower() in groups)]
    return {_label(entry) for one in single for entry in _entries(one)}


def _label(choice: Any) -> str:
    name, options = metric_of(choice).card.name, stated_options(choice)
    for option in options:
        _check_option(metric_of(choice), option)
    check_option_values(name, option_types(inspect.unwrap(metric_of(choice))), options)
    stated = ", ".join(f"{option}={value}" for option, value in options.items())
    return printable(f"{name} ({stated})") if stated else name


def chosen_by_text(text: str) -> Any:
    """The metric that a text names, with options after colons; your own metrics are written as module:name.

    >>> chosen_by_text("mcc:correlation=spearman:cross_fit=true").keywords
    {'correlation': 'spearman', 'cross_fit': True}
    """
    name, *stated = (part.strip() for part in text.split(":"))
    known = {**CATALOGUE, **CONCEPT_METRICS}
    if (found := next((each for each in (name, name.lower()) if each in known), None)) is not None:
        entry: Any = known[found]
    elif stated and "=" not in stated[0]:
        entry = imported(f"{name}:{stated.pop(0)}", "metric")
    else:
        short = WRITTEN_OUT.get(" ".join(re.findall(r"[a-z]+", name.lower())))
        instead = f"did you mean {short!r}?" if short else suggestion(name.lower(), [*known, *metric_groups()])
        raise OptionError(f"There is no metric called {name!r}: {instead}")
    options = dict(_read_option(metric_of(entry), pair) for pair in stated)
    return functools.partial(entry, **options) if options else entry


def _read_option(entry: Metric, pair: str) -> tuple[str, Any]:
    """Name and value of NAME=VALUE; the value has the type of the option's default."""
    option, equals, value = (part.strip() for part in pair.partition("="))
    _check_option(entry, option)
    default = entry.options[option].default
    if not isinstance(default, (bool, int, float, str)):
        raise InputError(
            f"{option} of {entry.card.name} is not a number or a word: "
            f"pass functools.partial({entry.card.name}, {option}=...) in Python."
        )
    try:
        if not equals:
            raise ValueError
        return option, TRUTH[value.lower()] if isinstance(default, bool) else type(default)(value)
    except (ValueError, KeyError):
        raise InputError(
            f"{pair!r} does not set {option} of {entry.card.name}: write {option}=VALUE, such as {option}={default}."
        ) from None


def _check_option(entry: Metric, option: str) -> None:
    if option not in entry.options:
        raise OptionError(f"{entry.card.name} has no option {option!r}: {option_suggestion(option, entry.options)}")


@dataclass(frozen=True)
class Scored:
    """The metrics of one representation that have a score, by label, with their rows."""

    rows: Mapping[str, Row]
    metrics: Mapping[str, Any]

    @property
    def scores(self) -> dict[str, Score]:
        """Scores by label."""
        return {label: row.score for label, row in self.rows.items() if row.score is not None}

    @property
    def scored_metrics(self) -> dict[str, ScoredMetric]:
        """The metrics with their scores, so that they are not computed again."""
        return {label: ScoredMetric(self.metrics[label], score) for label, score in self.scores.items()}


def expected_seconds(labels: Iterable[str], evidence: Evidence) -> list[float]:
    """Expected seconds of the score of each label; a computation that several metrics share counts for the first."""
    sizes, seen = DataSizes.of(evidence), set()
    seconds = []
    for label in labels:
        work: Work | None = table().get(label)
        seconds.append(UNKNOWN if work is None else 1e-3 if work.name in seen else work.seconds(sizes))
        seen.add(work.name if work else label)
    return seconds
