"""Scorers follow scikit-learn's conventions and prefer transformers that separate the factors."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA, FastICA
from sklearn.metrics import check_scoring
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unweave
from unweave import InputError
from unweave.integrations.sklearn import scorer

FACTORS = np.random.default_rng(0).uniform(size=(600, 3))
MIXING = np.array([[1, 0.5, 0.2], [-0.4, 1, 0.3], [0.1, -0.6, 1]])
MIXED = FACTORS @ MIXING


def test_the_number_is_that_of_the_metric():
    fitted = PCA().fit(MIXED)
    found = scorer("mcc")(fitted, MIXED, FACTORS)
    assert found == unweave.metrics.mcc(FACTORS, fitted.transform(MIXED)).value


def test_check_scoring_takes_it():
    assert check_scoring(PCA(), scorer("mcc"))(PCA().fit(MIXED), MIXED, FACTORS) > 0.5
    assert len(cross_val_score(make_pipeline(StandardScaler(), PCA()), MIXED, FACTORS, scoring=scorer("mcc"))) == 5


def test_a_search_prefers_what_unmixes():
    """ICA unmixes uniform factors and whitening alone does not (closed form: independent components are unique)."""
    pipeline = make_pipeline(StandardScaler(), PCA())
    search = GridSearchCV(
        pipeline, {"pca": [PCA(), FastICA(random_state=0)]}, scoring=scorer(["mcc", "r2"]), refit="mcc", cv=3
    ).fit(MIXED, FACTORS)
    assert isinstance(search.best_params_["pca"], FastICA)
    assert search.cv_results_["mean_test_mcc"][1] > 0.99
    assert np.allclose(search.cv_results_["mean_test_r2"], 1, atol=0.01)  # both keep all information


@pytest.mark.parametrize("way", ["rows", "index", "function"])
def test_factors_are_matched_to_the_rows_of_a_fold(way):
    order = np.random.default_rng(1).permutation(len(MIXED))
    given, samples, target = FACTORS[order], MIXED[order], None
    if way == "rows":
        target = np.arange(len(MIXED))
    elif way == "index":
        given = pd.DataFrame(FACTORS, columns=list("abc"))
        samples = pd.DataFrame(MIXED).iloc[order]
    else:
        unmixing = np.linalg.inv(MIXING)

        def given(part):
            return np.asarray(part) @ unmixing

    found = cross_val_score(FastICA(random_state=0), samples, target, scoring=scorer("mcc", factors=given), cv=3)
    assert (found > 0.99).all()


def test_rows_that_cannot_be_matched_are_refused():
    for y in (None, np.zeros(200, dtype=int)):  # class labels are not row numbers
        with pytest.raises(InputError, match="rows cannot be matched"):
            scorer("mcc", factors=FACTORS)(PCA().fit(MIXED), MIXED[:200], y)
    with pytest.raises(InputError, match="rows cannot be matched"):
        scorer("mcc", factors=FACTORS)(PCA().fit(MIXED), MIXED[:200], np.arange(200)[:, None])
    with pytest.raises(InputError, match="no factors"):
        scorer("mcc")(PCA().fit(MIXED), MIXED)


def test_greater_is_better():
    fitted, noise = PCA().fit(MIXED), np.random.default_rng(2).normal(size=MIXED.shape)

    def posterior(estimator, X):
        return unweave.Posterior(estimator.transform(X), np.full(X.shape, 0.1))

    score = scorer("jemmig", codes=posterior)
    assert unweave.metrics.jemmig.card.lower_is_better
    # evidence that is built copies its columns, and a call reads rows: sums in another order differ in last digits
    directly = unweave.metrics.jemmig(FACTORS, posterior(fitted, MIXED)).value
    assert score(fitted, MIXED, FACTORS) == pytest.approx(-directly, rel=1e-9)
    assert score(fitted, MIXED, FACTORS) > score(fitted, noise, FACTORS)


def test_a_metric_that_fails_is_nan_with_a_warning():
    with pytest.warns(UserWarning, match="posterior") as warned:
        assert np.isnan(scorer("wsepin")(PCA().fit(MIXED), MIXED, FACTORS))

    assert warned[0].filename == __file__


@pytest.mark.parametrize(("given", "samples"), [(pd.DataFrame(FACTORS), MIXED), (FACTORS, pd.DataFrame(MIXED))])
def test_one_table_with_an_index_is_matched_by_the_order_of_rows(given, samples):
    fitted = PCA().fit(MIXED)
    expected = unweave.metrics.mcc(FACTORS, fitted.transform(MIXED)).value
    assert scorer("mcc", factors=given, codes=lambda one, X: one.transform(np.asarray(X)))(fitted, samples) == expected


def test_a_scorer_evaluates_as_it_was_told_and_shows_no_bar(monkeypatch):
    from unweave.integrations import sklearn as scorer_module

    asked = []
    evaluate = scorer_module.evaluate
    monkeypatch.setattr(scorer_module, "evaluate", lambda *given, **o: asked.append(o) or evaluate(*given, **o))
    scorer("mcc", factor_names=["a", "b", "c"])(PCA().fit(MIXED), MIXED, FACTORS)
    (options,) = asked
    del options["metrics"]
    assert options == {"quick": True, "progress": False, "factor_names": ["a", "b", "c"]}


def test_it_travels_to_other_processes():
    found = pickle.loads(pickle.dumps(scorer("mcc")))
    assert found(PCA().fit(MIXED), MIXED, FACTORS) == scorer("mcc")(PCA().fit(MIXED), MIXED, FACTORS)
    assert unweave.integrations.sklearn.scorer is scorer
