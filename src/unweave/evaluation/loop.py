"""Every metric on every representation and seed; one that fails says so in its row and stops no other."""

from __future__ import annotations

import difflib
import functools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

import joblib

from unweave.card import Metric, MetricUndefined
from unweave.evaluation.results import Evaluation, Row, described_data
from unweave.evidence import Evidence, EvidenceError
from unweave.metrics import CATALOGUE

MetricChoice = str | Metric | functools.partial[Any]


def evaluate(
    factors: object = None,
    codes: object = None,
    *,
    metrics: Sequence[MetricChoice] | None = None,
    seeds: int | Iterable[int] = 0,
    n_jobs: int = 1,
    progress: bool = False,
    **evidence_options: Any,
) -> Evaluation:
    """Score one representation with many metrics.

    Parameters
    ----------
    factors, codes : tables, or an `Evidence` alone
        The true factors (n x d) and the learned codes (n x m).
    metrics : sequence of names, metrics or ``functools.partial`` of metrics, optional
        By default all for which the evidence has what they need (geometry needs ``decoder=``). A name may carry
        options: ``"mcc:correlation=spearman"``.
    seeds : int or iterable of int
        Metrics with a random part run once for each.
    n_jobs : int
        Threads for metrics that fit one probe per factor; the numbers do not depend on it.
    progress : bool
        Show a progress bar on the terminal.
    **evidence_options
        ``kinds``, ``missing``, ``row_groups`` and the others of `Evidence`.

    Returns
    -------
    Evaluation
        Print it for a table; ``evaluation["mcc"]`` is a `Score`.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(200, 2))
    >>> evaluation = evaluate(factors, factors * [2, -1], metrics=["mcc", "r2"])
    >>> round(float(evaluation["mcc"]), 3)
    1.0
    """
    if isinstance(factors, Evidence):
        if codes is not None or evidence_options:
            raise EvidenceError("An Evidence already holds the codes and all that belongs to them: pass it alone.")
        evidence = factors
    else:
        evidence = Evidence(factors, codes, **evidence_options)
    return _run({"codes": evidence}, metrics, seeds, n_jobs, progress)


def compare(
    factors: object,
    representations: Mapping[str, object],
    *,
    metrics: Sequence[MetricChoice] | None = None,
    seeds: int | Iterable[int] = 0,
    n_jobs: int = 1,
    progress: bool = False,
    **evidence_options: Any,
) -> Evaluation:
    """Score several representations of the same samples side by side; the options are those of `evaluate`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> factors = rng.normal(size=(200, 2))
    >>> both = compare(factors, {"kept": factors, "noise": rng.normal(size=(200, 2))}, metrics=["mcc"])
    >>> both.score("mcc", "kept").value > both.score("mcc", "noise").value
    True
    """
    if not representations:
        raise EvidenceError("There is nothing to compare: pass a mapping from names to codes.")
    evidences = {str(name): Evidence(factors, codes, **evidence_options) for name, codes in representations.items()}
    return _run(evidences, metrics, seeds, n_jobs, progress)


def _run(
    evidences: Mapping[str, Evidence],
    metrics: Sequence[MetricChoice] | None,
    seeds: int | Iterable[int],
    n_jobs: int,
    progress: bool,
) -> Evaluation:
    chosen = dict(map(_labelled, _applicable(evidences.values()) if metrics is None else metrics))
    seed_list = [seeds] if isinstance(seeds, int) else list(seeds)
    jobs = [
        (name, evidence, label, entry, seed)
        for name, evidence in evidences.items()
        for label, entry in chosen.items()
        for seed in (seed_list if "rng" in _metric_of(entry).options else [None])
    ]
    rows = []
    with joblib.parallel_config("threading", n_jobs=n_jobs), _progress_bar(len(jobs), progress) as step:
        for name, evidence, label, entry, seed in jobs:
            step(f"{label} of {name}" if len(evidences) > 1 else label)
            rows.append(_row(name, evidence, label, entry, seed))
    return Evaluation(tuple(rows), described_data(evidences))


def _applicable(evidences: Iterable[Evidence]) -> list[Metric]:
    """The catalogue without metrics that need what no evidence has; those asked for by name say so in their row."""
    return [entry for entry in CATALOGUE.values() if any(not entry.card.missing(evidence) for evidence in evidences)]


def _row(name: str, evidence: Evidence, label: str, entry: Any, seed: int | None) -> Row:
    card, start = _metric_of(entry).card, time.perf_counter()
    score, problem = None, None
    try:
        score = entry(evidence) if seed is None else entry(evidence, rng=seed)
    except (MetricUndefined, EvidenceError) as error:
        problem = str(error)
    except Exception as error:  # the row says why, and the other metrics go on
        problem = f"{card.name} failed with {type(error).__name__}: {error}"
    sizes = (evidence.n_rows, evidence.n_codes, evidence.n_factors)
    chance = card.chance(*sizes) if callable(card.chance) else card.chance
    return Row(
        representation=name,
        label=label,
        metric=card.name,
        measures=card.measures,
        seed=seed,
        score=score,
        problem=problem,
        chance=chance if isinstance(chance, float) and len(label) == len(card.name) else None,
        seconds=time.perf_counter() - start,
    )


def _labelled(choice: MetricChoice) -> tuple[str, Any]:
    if isinstance(choice, str):
        choice = chosen_by_text(choice)
    options = choice.keywords if isinstance(choice, functools.partial) else {}
    stated = ", ".join(f"{name}={option}" for name, option in options.items())
    name = _metric_of(choice).card.name
    return (f"{name} ({stated})" if stated else name), choice


def chosen_by_text(text: str) -> Any:
    """Metric named by text, with options after colons.

    >>> chosen_by_text("mcc:correlation=spearman:cross_fit=true").keywords
    {'correlation': 'spearman', 'cross_fit': True}
    """
    name, _, stated = text.strip().partition(":")
    if name not in CATALOGUE:
        near = difflib.get_close_matches(name, CATALOGUE, n=1, cutoff=0.4)
        hint = f"did you mean {near[0]!r}?" if near else f"the metrics are {', '.join(CATALOGUE)}."
        raise EvidenceError(f"There is no metric called {name!r}: {hint}")
    entry = CATALOGUE[name]
    if not stated:
        return entry
    options = {}
    for pair in stated.split(":"):
        option, equals, value = pair.partition("=")
        if not equals or option not in entry.options:
            raise EvidenceError(
                f"{name} has no option {option!r}: write NAME=VALUE with one of {', '.join(entry.options)}."
            )
        options[option] = _literal(value)
    return functools.partial(entry, **options)


def _literal(text: str) -> str | bool | int | float:
    words: dict[str, bool] = {"true": True, "false": False}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _metric_of(choice: Any) -> Metric:
    entry = choice.func if isinstance(choice, functools.partial) else choice
    if not hasattr(entry, "card"):
        raise EvidenceError(
            f"{choice!r} is not a metric: declare it with @unweave.metric, or name one of the catalogue."
        )
    return cast(Metric, entry)


@contextmanager
def _progress_bar(n_steps: int, wanted: bool) -> Iterator[Callable[[str], None]]:
    """A function to call before each step; the bar appears on a terminal only, and leaves nothing behind."""
    if not wanted:
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=n_steps)
        started = False

        def step(text: str) -> None:
            nonlocal started
            bar.update(task, description=text, advance=int(started))
            started = True

        yield step
