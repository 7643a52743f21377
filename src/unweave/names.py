"""Say what to write instead of an unknown name or option."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from unweave.errors import OptionError, refuse_more_by_place

Function = TypeVar("Function", bound=Callable[..., Any])
_HISTOGRAM = "estimator=unweave.estimators.Histogram(bins=20)"
_BINS = {
    "bins": "bins=20",
    "estimator": _HISTOGRAM,
    "grid": "grid=unweave.estimators.QuantisedPosterior(bins=100)",
    "metrics": f"metrics=[functools.partial(unweave.metrics.mig, {_HISTOGRAM})]",
}
_NEIGHBOURS = {
    "estimator": "estimator=unweave.estimators.NearestNeighbour(k=3)",
    "classifier": "classifier=unweave.estimators.Neighbourhood(k=15)",
}
_SEED = {"rng": "rng=0", "seed": "seed=0"}
_SEEDS = {"n_seeds seed": "n_seeds=5 for five seeds, or seed=5 for seed number 5", "n_seeds": "n_seeds=5", **_SEED}
_HELD_OUT = {"test_share": "test_share=0.2", "n_folds": "n_folds=5", "joint": "joint=UsableInformation(test_share=0.2)"}
_PROBE = {"probe": "probe=unweave.estimators.Linear()", "classifier": "classifier=unweave.estimators.Logistic()"}
_KINDS = {"kinds": "kinds='categorical', or a kind for every factor"}
_DRAWS = {"budget": "budget=60, because the number of draws follows from the seconds"}

# options of other libraries of the field, and what to write here, by the options that have to exist
_TABLE: tuple[tuple[str, dict[str, str]], ...] = (
    ("bins n_bins num_bins nbins discretize discretise discretizer", _BINS),
    ("binning", {"estimator": "estimator=unweave.estimators.Histogram(binning='equal_width')"}),
    ("k n_neighbors n_neighbours num_neighbors", _NEIGHBOURS),
    ("seed rng random_state random_seed", _SEED),
    ("seeds n_runs n_repeats", _SEEDS),
    ("train_size test_size train_share split", _HELD_OUT),
    ("cv folds n_splits n_folds", {"n_folds": "n_folds=5", "n_splits": "n_splits=5"}),
    ("model regressor predictor probe clf", _PROBE),
    ("metric method corr", {"metrics": "metrics=['mcc']", "correlation": "correlation='spearman'"}),
    ("normalize norm", {"normalise": "normalise= (its values are in the docstring)"}),
    ("standardize standardise whiten", {"rescale": "rescale=True"}),
    ("discrete categorical discrete_factors factor_types is_discrete", _KINDS),
    ("groups group subjects", {"row_groups": "row_groups=, with one label per row"}),
    ("confidence confidence_level ci", {"level": "level=0.95"}),
    ("n_permutations n_boot n_bootstrap n_resamples", _DRAWS),
    ("time_limit timeout max_time", {"budget": "budget=30, in seconds"}),
    ("workers n_workers num_workers jobs", {"n_jobs": "n_jobs=2"}),
    ("nan_policy dropna", {"missing": "missing='drop'"}),
    ("verbose", {"progress": "progress=True"}),
)
ELSEWHERE = {word: here for words, here in _TABLE for word in words.split()}
MOST_LISTED = 25


def suggestion(word: str, known: Iterable[str]) -> str:
    """Suggest what to write instead of an unknown name: the nearest known name, or a list of all.

    >>> suggestion("mccc", ["mcc", "r2"])
    "did you mean 'mcc'?"
    >>> suggestion("x", ["mcc", "r2"])
    'there are mcc, r2.'
    """
    names = list(known)
    if len(several := word.replace(",", " ").split()) > 1 and {*several} <= {*names}:
        return f"name them one by one, or with commas and no spaces: {','.join(several)}."
    near = difflib.get_close_matches(word, names)
    if near:
        return f"did you mean {near[0]!r}?"
    more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    return f"there are {', '.join(names[:MOST_LISTED]) or 'none'}{more}."


def option_suggestion(word: str, known: Iterable[str]) -> str:
    """Suggest what to write instead of an unknown option, which may be the name of an option in another library.

    >>> option_suggestion("n_neighbors", ["estimator", "rng"])
    'write estimator=unweave.estimators.NearestNeighbour(k=3).'
    >>> option_suggestion("bins", ["kinds", "rng"])
    'there are kinds, rng.'
    """
    names = list(known)
    if word not in ELSEWHERE:
        return suggestion(word, names)
    here = next((text for options, text in ELSEWHERE[word].items() if {*options.split()} <= {*names}), None)
    return f"there are {', '.join(names) or 'none'}." if here is None else f"write {here}."


def refuse_unknown_options(given: Iterable[str], known: Iterable[str], whose: str) -> None:
    """Raise an `OptionError` for the first unknown option, with what to write instead.

    >>> refuse_unknown_options(["kidns"], ["kinds"], "Evidence")
    Traceback (most recent call last):
    unweave.OptionError: Evidence has no option 'kidns': did you mean 'kinds'?
    """
    known = list(known)
    unknown = next((name for name in given if name not in known), None)
    if unknown is not None:
        raise OptionError(f"{whose} has no option {unknown!r}: {option_suggestion(unknown, known)}")


def explains_options(function: Function) -> Function:
    """Let a function say what to write instead of an option that it does not have.

    >>> @explains_options
    ... def trained(objective, n_seeds=1, seed=0): ...
    >>> trained("vae", seeds=3)
    Traceback (most recent call last):
    unweave.OptionError: trained has no option 'seeds': write n_seeds=5 for five seeds, or seed=5 for seed number 5.
    """
    known = inspect.signature(function).parameters

    @functools.wraps(function)
    def checked(*positional: Any, **given: Any) -> Any:
        refuse_unknown_options(given, known, function.__name__)
        refuse_more_by_place(len(positional), known, function.__name__)
        return function(*positional, **given)

    return checked  # type: ignore[return-value]
