"""Whatever comes in, a metric gives a score, nan with a reason, or one clear sentence of our own exception types."""

import contextlib
import math
import os
import signal
import subprocess
import sys
import time
import traceback
import warnings
from collections import Counter

import numpy as np
import pytest
from odd_inputs import Refused, draw, draw_function
from public_calls import CALLED, NOT_CALLED, PUBLIC, RECORDS, draw_public, drawn_name, records

import unweave
from unweave import InputWarning, MetricError, MetricUndefined, Score, UnweaveError, evaluate
from unweave.estimators import BoostedTrees
from unweave.findings import Finding
from unweave.metrics import CATALOGUE, dci_explicitness, mcc

OURS = (UnweaveError, MetricUndefined, MetricError)
MOST_SECONDS = 20.0
LONGEST_SENTENCE = 600
CODES = np.random.default_rng(0).normal(size=(60, 2))
ALLOWED = {"score", "nan with a reason", "refused in one sentence"}


@contextlib.contextmanager
def limited(seconds):
    """Processor time for what is done inside; more raises TimeoutError."""

    def stop(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def unclear(error):
    """What is wrong with an error's sentence, if anything."""
    text = str(error)
    if not text.endswith((".", "?")):
        return "no sentence"
    longest = max(map(len, getattr(error, "problems", ()) or [text]))  # several problems are a numbered list
    if longest > LONGEST_SENTENCE:
        return f"{longest} characters"
    return "control characters" if any(ord(letter) < 32 or letter == "\x7f" for letter in text) else ""


def outcome(name, factors, codes, options):
    """Which of the outcomes one call has, and where it went wrong if it is not an allowed one."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            with limited(MOST_SECONDS):
                codes = codes.made() if isinstance(codes, Refused) else codes
                score = CATALOGUE[name](factors, codes, **options)
        except OURS as error:
            return (
                ("unclear sentence", f"{unclear(error)}: {error}")
                if unclear(error)
                else ("refused in one sentence", "")
            )
        except TimeoutError:
            return "out of time", ""
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            return "foreign exception", f"{type(error).__name__}: {error} ({frame.filename}:{frame.lineno})"
    warned = unasked(warned)
    if warned:
        return "warning", f"{warned[0].message} ({warned[0].filename}:{warned[0].lineno})"
    assert isinstance(score, Score)
    if not math.isnan(score.value):
        low, high = score.bounds
        return ("score", "") if low <= score.value <= high else ("out of bounds", str(score.value))
    return ("nan with a reason", "") if score.caveats else ("nan without a reason", "")


def function_outcome(call):
    """The same for a function that is no metric: a result, or our own error, and no warning."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            with limited(MOST_SECONDS):
                call()
        except OURS as error:
            return ("unclear sentence", f"{unclear(error)}: {error}") if unclear(error) else ("refused", "")
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            return "foreign exception", f"{type(error).__name__}: {error} ({frame.filename}:{frame.lineno})"
    warned = unasked(warned)
    return ("warning", f"{warned[0].message} ({warned[0].filename}:{warned[0].lineno})") if warned else ("result", "")


def unasked(warned):
    """The warnings that are not our own questions about odd tables."""
    return [entry for entry in warned if not issubclass(entry.category, InputWarning)]


def counted_functions(seeds, draw_call=draw_function):
    """Counts by outcome of calls of functions that are no metrics, and a line for every outcome that is not allowed."""
    counts, problems = Counter(), []
    for seed in seeds:
        call, words = draw_call(seed)
        found, detail = function_outcome(call)
        counts[found] += 1
        if found not in ("result", "refused"):
            problems.append(f"{seed}: {found} {detail[:300]} | {words}")
    return counts, problems


def counted(seeds):
    """Counts by outcome, and a line for every outcome that is not allowed."""
    counts, problems = Counter(), []
    for seed in seeds:
        name, factors, codes, options, words = draw(seed)
        start = time.process_time()
        found, detail = outcome(name, factors, codes, options)
        counts[found] += 1
        if found not in ALLOWED:
            problems.append(f"{seed}: {found} {detail[:300]} | {words} | {time.process_time() - start:.1f} s")
    return counts, problems


GENERATORS = {
    "metrics": counted,
    "functions": counted_functions,
    "public": lambda seeds: counted_functions(seeds, draw_public),
}


def test_a_hundred_and_fifty_inputs():
    counts, problems = counted(range(150))
    assert not problems, "\n".join(problems)
    assert set(counts) == ALLOWED


@pytest.mark.parametrize("seed", [4338, 7333, 7636, 9133, 9955, 45144, 200198, 205620])
def test_inputs_that_once_went_wrong(seed):
    """A std of 1e300 (endless recursion), a quantile of 50, a warning of scikit-learn, an estimator as adjacency;
    names of a posterior's codes that repeat, a half-labelled factor of codes that are undefined; many problems."""
    name, factors, codes, options, _ = draw(seed)
    assert outcome(name, factors, codes, options)[0] in ALLOWED


@pytest.mark.slow
def test_twenty_thousand_inputs(capsys):
    counts, problems = counted(range(150, 20_150))
    with capsys.disabled():
        print(f"\n{sum(counts.values())} inputs:", ", ".join(f"{found} {n}" for found, n in counts.most_common()))
    assert not problems, "\n".join(problems)


def test_three_hundred_calls_of_other_functions():
    problems = counted_functions(range(300))[1]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("seed", [22815, 35168, 48802, 59359, 203226, 208640])
def test_calls_that_once_went_wrong(seed):
    """A matrix of 1e306 and one of 1 for a closed form, no number of rows, a row of 0, a rate of 7, no factor."""
    assert not counted_functions([seed])[1]


@pytest.mark.parametrize(
    "call",
    [
        lambda _: unweave.Card("\x00", " ", "modularity", "elementwise", np.int64(3), 0.0, "none", "never", "ours"),
        lambda folder: unweave.sweeps.run(None, folder, time_limit=np.full((3, 3), np.nan)),
        lambda _: unweave.sweeps.run(unweave.sweeps.Sweep("s", ()), "\x00", progress=False),
        lambda _: unweave.trust.verdicts({}, {}, unweave.Evidence(CODES, CODES), None, untried=1j),
        lambda _: unweave.audit(mcc, n_jobs=0),
        lambda _: evaluate(CODES, CODES, metrics=["mcc"], quick=True, progress=False).to_latex(metrics=math.inf),
        lambda _: unweave.metrics.screening.screened_codes(None, CODES),
        lambda _: BoostedTrees(learning_rate=7),
        lambda _: unweave.environments(CODES, ["a", "observational"] * (len(CODES) // 2)).verdict(CODES),
        lambda _: mcc(CODES, CODES, kinds=np.array("text")),
        lambda _: str(Finding("within_model_error")),
    ],
)
def test_calls_that_once_went_wrong_are_refused_in_one_line(call, tmp_path):
    with pytest.raises(OURS) as refused:
        call(tmp_path)
    assert not unclear(refused.value)


def test_a_test_share_of_nearly_nothing_is_one_row():
    assert 0 <= dci_explicitness(CODES, CODES, test_share=1e-311).value <= 1


def test_every_public_name_is_called_or_has_a_reason():
    names = {name.rpartition(".")[2] for name in PUBLIC}
    assert set(NOT_CALLED) <= names
    assert not set(NOT_CALLED).intersection(RECORDS)
    made = {type(record).__name__ for record in records()}
    assert {name for name in RECORDS if name in names} <= made
    assert {"evaluate", "compare", "probe", "ladder", "similarity", "leaderboard", "EnvironmentImages", "train"} <= {
        name.rpartition(".")[2] for name in CALLED
    }
    drawn = {drawn_name(np.random.default_rng([3301, seed])) for seed in range(6_000)}
    assert set(CALLED) <= drawn, set(CALLED) - drawn


def test_five_hundred_calls_of_public_names():
    problems = counted_functions(range(500), draw_public)[1]
    assert not problems, "\n".join(problems)


@pytest.mark.slow
def test_fifty_thousand_calls_of_other_functions(capsys):
    """UNWEAVE_FUZZ_CALLS is the number of calls."""
    problems = counted_functions(range(300, 300 + int(os.environ.get("UNWEAVE_FUZZ_CALLS", "50000"))))[1]
    assert not problems, "\n".join(problems)


def test_neither_imports_nor_calls_move_the_global_generators():
    script = """
import importlib, pkgutil, random
import numpy as np
before = random.getstate(), np.random.get_state()[1].tolist()
import unweave
factors = np.random.default_rng(0).normal(size=(100, 2))
found = unweave.evaluate(factors, factors, metrics=["mcc"], quick=True)
str(found), found.to_html(), found.to_markdown()
for module in pkgutil.walk_packages(unweave.__path__, "unweave."):
    if module.name.split(".")[1] in ("auditing", "report", "sweeps", "trust", "progress"):
        importlib.import_module(module.name)
assert (random.getstate(), np.random.get_state()[1].tolist()) == before
"""
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("number", [40, 40.0, 0.1, -3, math.inf])
def test_records_keep_their_numbers_in_json(number):
    score = Score(number, per_factor={"a": number}, parts={"m": np.array([[number, 1]]), "none": np.empty(0)})
    text = score.to_json()
    assert Score.from_json(text).to_json() == text
    assert type(Score.from_json(text).raw) is type(number)
