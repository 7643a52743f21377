"""Three classes of errors under one, and options of other libraries that are explained."""

import functools
import inspect
import pickle

import numpy as np
import pytest

import unweave
from unweave import Evidence, FileError, InputError, OptionError, UnweaveError
from unweave.metrics import CATALOGUE
from unweave.names import ELSEWHERE

DATA = np.random.default_rng(0).normal(size=(60, 2))


@pytest.mark.parametrize("kind", [UnweaveError, InputError, OptionError, FileError])
def test_errors_are_value_errors_that_are_shown_by_their_public_name(kind):
    assert issubclass(kind, ValueError)
    assert issubclass(kind, UnweaveError)
    again = pickle.loads(pickle.dumps(kind("one sentence")))
    assert (type(again), str(again)) == (kind, "one sentence")
    assert f"{kind.__module__}.{kind.__qualname__}" == f"unweave.{kind.__name__}"


def test_an_unknown_option_is_the_type_error_that_python_raises():
    with pytest.raises(TypeError, match="mcc has no option 'x'"):
        unweave.metrics.mcc(DATA, DATA, x=1)


@pytest.mark.parametrize("word", ELSEWHERE)
def test_options_of_other_libraries_are_explained_where_there_is_one_for_them(word):
    """What is advised exists: the part before the first '=' is an option, and what it constructs can be called."""
    calls = {"evaluate": unweave.evaluate, "compare": unweave.compare, "audit": unweave.audit, **CATALOGUE}
    explained = 0
    for name, function in calls.items():
        known = inspect.signature(function).parameters
        if word in known:
            continue
        given = {} if name != "compare" else {"factors": DATA, "representations": {"a": DATA}}
        with pytest.raises(OptionError, match=f"{name} has no option '{word}'") as info:
            function(**given, **({"metric": "mcc"} if name == "audit" else {}), **{word: 3})
        advice = str(info.value).split(": ", 1)[1]
        if advice.startswith("write "):
            option, value = advice.removeprefix("write ").split("=", 1)
            assert option in known
            if "unweave." in value:
                eval(value.rstrip("."), {"unweave": unweave, "functools": functools})
            explained += 1
    assert explained


def test_bins_of_the_mutual_information_gap():
    with pytest.raises(OptionError, match=r"write estimator=unweave.estimators.Histogram\(bins=20\)"):
        unweave.metrics.mig(DATA, DATA, bins=3)
    with pytest.raises(OptionError, match="mig has no option 'bins': write estimator="):
        unweave.evaluate(DATA, DATA, metrics="mig:bins=3")
    with pytest.raises(OptionError, match="did you mean 'kinds'"):
        Evidence(DATA, DATA, kidns="ordinal")


@pytest.mark.parametrize("function", [unweave.evaluate, unweave.compare, Evidence, unweave.metrics.mig])
def test_editors_see_the_options_of_evidence(function):
    assert set(unweave.EvidenceOptions.__annotations__) <= set(inspect.signature(function).parameters)


def test_one_default_of_progress_and_one_word_for_levels_and_seeds():
    functions = [unweave.evaluate, unweave.compare, unweave.audit, unweave.encode, unweave.models.train]
    functions += [unweave.sweeps.run, unweave.sweeps.grid, unweave.sweeps.summary]
    parameters = [inspect.signature(function).parameters for function in functions]
    assert {each["progress"].default for each in parameters if "progress" in each} == {True}
    assert not any({"seeds", "confidence", "random_state"} & set(each) for each in parameters)
