"""Metrics chosen by name, function or partial function; unknown names raise an error with a suggestion."""

import functools

import numpy as np
import pytest

from unweave import Evidence, Posterior, Score, UnweaveError, metric, metrics
from unweave.evaluation.choose import (
    OTHER,
    PANEL,
    PANEL_VERSION,
    chosen_by_text,
    chosen_metrics,
    fitting_metrics,
    metric_families,
    question_of,
)
from unweave.metrics import CATALOGUE, OWN_METRICS


def a_metric(name):
    def function(evidence):
        """A constant."""
        return Score(0.5)

    function.__name__ = name
    return metric(
        measures="nothing",
        equivalence="any",
        needs=("factors",),
        min_rows=1,
        chance=0,
        cost="none",
        fails_when="always",
        reference="none",
    )(function)


def test_none_is_the_panel_and_all_the_whole_catalogue():
    assert list(chosen_metrics(None)) == list(PANEL)
    assert chosen_metrics("all") == CATALOGUE


def test_the_panel_of_this_version():
    """A change of the panel requires a new version, and a change of this line."""
    assert PANEL_VERSION == 3
    assert (
        *("identification", "mcc", "r2", "dci_disentanglement", "dci_completeness", "mig"),
        *("nuisances_invariance", "manifold_entropy", "manifold_mutual_information", "manifold_total_correlation"),
    ) == PANEL


def test_every_metric_has_a_family_and_a_question():
    in_families = {entry.card.name for entries in metric_families().values() for entry in entries}
    assert {*in_families, "identification"} == set(OWN_METRICS)
    assert all(question_of(entry.card.measures) is not OTHER for entry in OWN_METRICS.values())


def test_a_family_by_its_name_and_metrics_beside():
    assert {name for name, entry in OWN_METRICS.items() if entry.card.name.startswith("infomec")} == set(
        chosen_metrics("infomec")
    )
    family = [entry.card.name for entry in metric_families()["matching"]]
    assert list(chosen_metrics(["matching", "irs"])) == [*family, "irs"]


def test_of_a_group_what_lacks_something_is_left_out_and_what_is_named_is_not():
    evidence = Evidence(np.arange(6.0), np.arange(6.0))
    assert list(fitting_metrics("geometry", evidence)) == []
    family = list(fitting_metrics("matching", evidence))
    assert "mcc" in family
    assert list(fitting_metrics(["matching", "rmig"], evidence)) == [*family, "rmig"]
    assert "identification" in fitting_metrics(None, evidence)


def test_without_factors_the_panel_is_all_that_fits():
    posterior = Posterior(np.zeros((6, 2)), np.ones((6, 2)))
    assert "wsepin" in fitting_metrics(None, Evidence(None, posterior))


@pytest.mark.parametrize(
    "given",
    ["mcc", metrics.mcc, ["mcc"], (metrics.mcc,), ["mcc", metrics.mcc], iter(["mcc"])],
    ids=["name", "metric", "list", "tuple", "twice", "iterator"],
)
def test_one_metric_however_it_is_named(given):
    assert chosen_metrics(given) == {"mcc": metrics.mcc}


def test_options_are_part_of_the_label():
    by_hand = functools.partial(metrics.mcc, correlation="rdc")
    assert list(chosen_metrics(["mcc", "mcc:correlation=spearman", by_hand])) == [
        "mcc",
        "mcc (correlation=spearman)",
        "mcc (correlation=rdc)",
    ]


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("mcc:correlation=rdc", {"correlation": "rdc"}),
        ("mcc:cross_fit=true:rng=7", {"cross_fit": True, "rng": 7}),
        ("mcc:cross_fit=no", {"cross_fit": False}),
        (" r2 : n_folds = 3 ", {"n_folds": 3}),
        ("dci_completeness:test_share=0:normalise=none", {"test_share": 0.0, "normalise": "none"}),
    ],
)
def test_options_in_text_have_the_type_of_their_default(text, options):
    found = chosen_by_text(text).keywords
    assert found == options
    assert [type(value) for value in found.values()] == [type(value) for value in options.values()]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mmc", r"There is no metric called 'mmc': did you mean 'mcc'\?"),
        ("dci_disentangelment", r"did you mean 'dci_disentanglement'\?"),
        ("", "no metric called '': there are mcc, r2"),
        ("accuracy@5000", "there are mcc, r2"),
        ("mcc:corelation=rdc", "mcc has no option 'corelation': did you mean 'correlation'"),
        ("mcc:correlation", "'correlation' does not set correlation of mcc: write correlation=VALUE, such as"),
        ("mcc:cross_fit=maybe", "'cross_fit=maybe' does not set cross_fit of mcc: .* such as cross_fit=False"),
        ("r2:n_folds=few", "'n_folds=few' does not set n_folds of r2: write n_folds=VALUE, such as n_folds=5"),
        (
            "r2:probe=lasso",
            r"probe of r2 is not a number or a word: pass functools\.partial\(r2, probe=\.\.\.\) in Python",
        ),
        ("mcc:", "mcc has no option ''"),
    ],
)
def test_text_that_names_nothing(text, message):
    with pytest.raises(UnweaveError, match=message):
        chosen_by_text(text)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "There is no metric to compute: name at least one, or pass None for the panel"),
        ([7], "object of type int is not a metric: declare it with @unweave.metric"),
        ([len], "object of type builtin_function_or_method is not a metric"),
        ([functools.partial(metrics.mcc, corelation="rdc")], "mcc has no option 'corelation'"),
        ([a_metric("same"), a_metric("same")], "Two metrics are called 'same': give each a name of its own"),
        (["mcc", a_metric("mcc")], "Two metrics are called 'mcc'"),
    ],
    ids=["none", "number", "function", "option", "same name", "name of the catalogue"],
)
def test_choices_that_cannot_be(given, message):
    with pytest.raises(UnweaveError, match=message):
        chosen_metrics(given)
