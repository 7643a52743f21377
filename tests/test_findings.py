"""Findings, the sentences that state them, and plain data."""

import ast
import functools
import json
import re
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unweave
from unweave import Evidence
from unweave.arrays import FloatArray
from unweave.codec import CodecError, plain_data, restored
from unweave.findings import Finding, sentence_of_several, shared_reason, stated
from unweave.metrics import mcc
from unweave.score import Score
from unweave.sentences import (
    MINUS,
    NOTHING,
    brief,
    counted,
    filled,
    fixed,
    listed,
    number,
    p_value,
    percent,
    reported_score,
    say,
    templates,
)
from unweave.trust import (
    Comparison,
    Diagnosis,
    Interval,
    NoiseFloor,
    Verdict,
    compared,
    diagnose,
    interval,
    noise_floor,
)
from unweave.trust.verdict_record import Reason

QUANTITY = st.one_of(st.text(max_size=4), st.floats(), st.integers(-(2**53), 2**53))
NAMES = st.lists(st.text(max_size=3), max_size=3)


@settings(max_examples=30)
@given(quantities=st.dictionaries(st.text("abcde", min_size=1), QUANTITY, max_size=3), factors=NAMES, codes=NAMES)
def test_json_gives_the_same_finding_back(quantities, factors, codes):
    finding = Finding("stated", text="So.", factors=factors, codes=codes, **quantities)
    text = json.dumps(finding.to_dict(), allow_nan=False)
    back = Finding.from_dict(json.loads(text))
    assert back == finding
    assert hash(back) == hash(finding)


@pytest.mark.parametrize("word", ["inf", "-inf", "nan", "null"])
def test_words_are_not_taken_for_numbers(word):
    assert Finding.from_dict(stated(word).to_dict()).quantities == {"text": word}


def test_equal_by_content():
    assert Finding("rows_dropped", n=float("nan")) == Finding("rows_dropped", n=np.float64("nan"))
    assert Finding("rows_dropped", n=1, m=2) == Finding("rows_dropped", m=2, n=1)
    content = [{}, {"n": 1}, {"factors": ["x"]}, {"codes": ["x"]}]
    assert len({Finding(kind, **given) for kind in ("one_code", "one_factor") for given in content}) == 8
    assert Finding("one_code") != "one_code"


def test_numbers_of_numpy_become_numbers_of_python():
    assert json.dumps(Finding("one_code", n=np.int64(3), share=np.float32(0.5)).to_dict()["quantities"])


def test_sentences_become_findings_that_state_them():
    kept = Finding("one_code")
    assert Score(0.5, caveats=("Mind the gap.", kept)).caveats == (stated("Mind the gap."), kept)
    assert str(stated("Mind the gap.")) == "Mind the gap."
    assert repr(Finding("one_code", n=1, codes=["c"])) == "Finding('one_code', n=1, codes=('c',))"


@pytest.mark.parametrize(
    ("kind", "says"),
    [("rows_droped", "did you mean 'rows_dropped'"), ("qqq", "use stated(...) for a sentence of your own")],
)
def test_an_unknown_kind_is_refused_in_one_sentence(kind, says):
    with pytest.raises(ValueError, match=re.escape(f"There is no finding of kind {kind!r}: {says}")):
        Finding(kind, n_rows=3)


def test_a_saved_finding_of_a_kind_that_no_longer_exists_keeps_its_sentence():
    saved = Finding("rows_dropped", n_rows=3).to_dict() | {"kind": "rows_left_out"}
    assert Finding.from_dict(saved) == stated("3 rows with missing values were dropped.")


PACKAGE = Path(unweave.__file__).parent
REPOSITORY = Path(__file__).parents[1]
SOURCES = [*sorted(PACKAGE.rglob("*.py")), *sorted((REPOSITORY / "papers" / "src").rglob("*.py"))]
FINDINGS, ANSWERS = templates()["findings"], templates()["answers"]


@functools.cache
def trees():
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES}


def imports(tree, function):
    """Whether a module imports or defines this function or class."""
    names = {alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    return function in names | {getattr(node, "name", "") for node in tree.body}


def calls_of(function):
    """Place, arguments and keyword names of every call of a function by its name, in the package and the papers."""
    for path, tree in trees().items():
        for node in ast.walk(tree) if imports(tree, function) else ():
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == function:
                yield f"{path.name}:{node.lineno}", node.args, {keyword.arg for keyword in node.keywords}


def fields_of(template):
    """Names of all fields of a template, those inside of alternatives too."""
    for _, field, form, _ in Formatter().parse(template):
        if field is not None:
            yield from (name for name in field.replace("<", "=").replace("-", "=").split("=") if not name.isdigit())
            yield from fields_of(form)


def quantities_of(kind):
    """What a finding of this kind has to be given."""
    given = {"factor": "factors", "other_factors": "factors", "code": "codes"}
    return {given.get(name, name) for name in fields_of(FINDINGS[kind])}


def test_every_finding_is_given_what_its_sentence_states():
    for where, (kind, *_), arguments in calls_of("Finding"):
        assert isinstance(kind, ast.Constant), f"{where}: write the kind out, so that it can be found"
        assert kind.value in FINDINGS, f"{where}: {kind.value}"
        assert arguments == quantities_of(kind.value), f"{where}: {kind.value}"


def test_every_template_is_used():
    assert set(FINDINGS) == {kind.value for _, (kind, *_), _ in calls_of("Finding")}
    assert set(templates()["shared"]) <= set(FINDINGS)
    pages = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.j2"))
    texts = {node.value for tree in trees().values() for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert [name for name in ANSWERS if name not in texts and f'say("{name}"' not in pages] == []


def test_every_answer_is_given_what_its_sentence_states():
    for where, (name, *_), arguments in calls_of("say"):
        if isinstance(name, ast.Constant) and None not in arguments:
            assert set(fields_of(ANSWERS[name.value])) <= arguments, f"{where}: {name.value}"


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{n:count row} {n:is|are} {zero:?left}", "2 rows are "),
        ("{one:count row} {one:is|are} {one:?left|there}", "1 row is left"),
        ("{names:count row} {names:is|are} {none:?left|there}", "2 rows are there"),
        ("{one:a|b}{names:?: {names:list 1}; {one:c|{n}}}", "a: a|b and 1 more; c"),
        ("{one<n:?less|{n}}, {n<one:?more|{n=2:?two|{one}}}, {n-one:.1f}", "less, two, 1.0"),
        ("{names:?{n:one|{names:list}}}", "a|b and {n}"),
        ("{key:of advice} {own:of advice}", "Leave out factors that others determine. None {n}"),
        (
            "{share:percent}, {share:percent .1f}, {share:number}, {share:fixed 1}, {share:.0%}",
            "12 %, 12.5 %, 0.12, 0.1, 12%",
        ),
        ("{own!r}", "'None {n}'"),
    ],
)
def test_fields_of_templates(template, text):
    """Names with signs of the templates are stated as they are."""
    values = {"n": 2, "one": 1, "zero": 0, "names": ["a|b", "{n}"], "none": (), "key": "P2", "own": "None {n}"}
    assert filled(template, values | {"share": 0.125}) == text


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (fixed(999_999.4, 1), "999999.4"),
        (fixed(1e6), "1e+06"),
        (fixed(-0.0001), "0.000"),
        (fixed(-0.001), f"{MINUS}0.001"),
        (fixed(None), NOTHING),
        (brief(999.6), "1e+03"),
        (brief(1000.4), "1,000"),
        (brief(0.0005), "0.0005"),
        (brief(0.000499), "0.0005"),
        (brief(0.0004444), "0.00044"),
        (brief(0.0005444), "0.000544"),
        (brief(-2.0), f"{MINUS}2"),
        (counted(0, "row"), "0 rows"),
        (counted(1, "row"), "1 row"),
        (counted(2000, "row"), "2,000 rows"),
        (p_value(0.01, 0.01), "≤ 0.010"),
        (p_value(0.011, 0.01), "0.011"),
        (p_value(0.01, None), "0.010"),
        (p_value(None, 0.01), NOTHING),
        (listed([]), ""),
        (listed(["a"]), "a"),
        (listed(["a", "b"]), "a and b"),
        (listed(list("abcdef")), "a, b, c, d, e and f"),
        (listed(list("abcdefg")), "a, b, c, d, e, f and 1 more"),
        (number(0.0999), "0.1"),
        (number(0.1), "0.1"),
        (number(0.0123), "0.012"),
        (number(0.126), "0.13"),
        (number(1200.5), "1,200.5"),
        (percent(0.0001), "0.01 %"),
        (percent(0.00015), "0.015 %"),
        (percent(0.00009), "less than .01 %"),
        (percent(1.0), "1e+02 %"),
    ],
)
def test_numbers_and_names(said, text):
    assert said == text


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (reported_score("r2", 0.5, None, None, None, None), "r2 is 0.50"),
        (reported_score("r2", 0.5, 0.4, None, 0.95, 0.01), "r2 is 0.50 (random codes score 0.01)"),
        (reported_score("r2", 0.5, 0.4, 0.6, None, None), "r2 is 0.50 (interval 0.40 to 0.60)"),
        (say("note_of", reason="implied", others=(), code=""), "follows from other factors, so no code is needed"),
        (
            say("note_of", reason="leaks", leakage=0.31, into="tense"),
            "its direction leaks at least 0.31, most into tense",
        ),
        (say("all_own", n=1, one=True), "The only factor has a code of its own."),
        (say("all_own", n=2, one=True), "Both factors have a code of their own."),
        (say("all_own", n=3, one=False), "All 3 factors have codes of their own."),
        (say("all_directions", n=6), "All 6 factors are directions of the codes, and none has a code of its own."),
        (say("all_absent", n=2), "Both factors are absent from the codes."),
        (say("n_own", names=["x"], n=1, one=True), "1 has a code of its own: x"),
        (say("n_readable", names=["x", "y"], n=2), "2 can be read but are not separated: x and y"),
        (say("best_by", metric="mcc", names=["a"]), "a is best by mcc."),
        (say("best_by", metric="mcc", names=["a", "b"]), "a and b are best by mcc and do not differ significantly."),
        (
            say("identifies_best", best=["a"], values=["1.00"], rest="b has 0.50"),
            "a identifies the factors best (ladder value 1.00, where 0 is noise and 1 a code of its own for each "
            "factor; b has 0.50).",
        ),
    ],
)
def test_the_sentence_fits_the_counts(said, text):
    assert said == text


def test_one_or_several_are_said_rightly():
    assert str(Finding("dead_codes", codes=["a", "b"])) == "a and b do not vary and carry no information."
    assert str(Finding("rows_dropped", n_rows=1)) == "1 row with missing values was dropped."
    latent = Finding("latent_without_effect_in_samples", n_samples=2, of=5, codes=["latent 3"])
    assert "latent 3 does not move" in str(latent)


def test_several_findings_of_a_kind_state_their_ranges():
    sampled = [Finding("rows_sampled", n_rows=n_rows, of=9000) for n_rows in (500, 2000, 500)]
    assert sentence_of_several(sampled) == "Computed on 500 to 2,000 of 9,000 rows, drawn at random."
    assert sentence_of_several(sampled[:1]) == str(sampled[0])


@pytest.mark.parametrize(
    ("kind", "quantities", "part"),
    [
        ("codes_screened", {"n_codes": 100, "n_found": 1, "n_scored": 1}, "Only it is scored and shown."),
        ("codes_screened", {"n_codes": 100, "n_found": 7, "n_scored": 7}, "Only these are scored and shown."),
        ("codes_screened", {"n_codes": 100, "n_found": 7, "n_scored": 3}, "3 strongest codes are scored"),
        ("codes_screened", {"n_codes": 100, "n_found": 7, "n_scored": 3}, "shown; 97 are not."),
        ("codes_crowd_rows", {"n_codes": 1, "codes_per_row": 1.0}, "There is 1 code per row: an unrelated code"),
        ("codes_crowd_rows", {"n_codes": 2, "codes_per_row": 0.5}, "There are 0.5 codes per row: the best of 2 unrel"),
        ("codes_and_factors_differ", {"codes_per_factor": 1.5}, "m/d is 1.5: more codes than factors"),
        ("codes_and_factors_differ", {"codes_per_factor": 0.5}, "m/d is 0.5: fewer codes than factors"),
        ("free_factors", {"n_free": 1, "n_varying": 3}, "1 of 3 factors varies freely"),
        ("free_factors", {"n_free": 2, "n_varying": 3}, "2 of 3 factors vary freely"),
        ("factors_independent", {"correlation": float("nan")}, "The factors look independent."),
        ("factors_independent", {"correlation": 0.125}, "independent: no correlation is above 0.12."),
        ("one_row_per_group", {"n_groups": 1}, "One row of the only row group is"),
        ("one_row_per_group", {"n_groups": 2}, "One row of each of the 2 row groups is"),
        ("pairs_correlated", {"n_pairs": 1}, "One pair of factors is correlated, namely a and b"),
        ("pairs_correlated", {"n_pairs": 2}, "2 pairs of factors are correlated, most a and b"),
        ("advice", {"concerns": "P1", "metrics": "mcc"}, "Read mcc. "),
    ],
)
def test_words_fit_the_counts(kind, quantities, part):
    assert part in str(
        Finding(kind, **{"n_rows": 2000, "rate": 0.05, "correlation": 0.3, "factors": "ab"} | quantities)
    )


def test_the_advice_is_the_same_without_metrics():
    with_metrics, without = (str(Finding("advice", concerns="P1", metrics=metrics)) for metrics in ("mcc", ""))
    assert with_metrics == "Read mcc. " + without


def test_narrow_codes_are_one_or_several():
    one, two = (str(Finding("codes_narrow", codes=codes)) for codes in (["a"], ["a", "b"]))
    assert one.startswith("a varies by less than 0.2 % of the widest code and counts all the same")
    assert one.endswith("if it is the mean of a collapsed posterior, pass the posterior so that it is left out.")
    assert two.startswith("a and b vary by less than 0.2 % of the widest code and count all the same")
    assert two.endswith("if these are means of collapsed posteriors, pass the posterior so that they are left out.")


@pytest.mark.parametrize(
    ("factors", "reason", "why"),
    [
        (["x"], "mixed", "mixed with several factors"),
        (["x", "y"], "mixed", "mixed with y"),
        (["x", "y", "z"], "mixed", "mixed with y and z"),
        (["x", "y"], "absent", "no code depends on it"),
        (["x"], "noisy", "31 % of the variance of its code is not explained by any factor"),
    ],
)
def test_why_a_factor_is_not_identified(factors, reason, why):
    found = Finding(
        "factor_not_identified", factors=factors, share=0.25, reason=reason, noise=0.312 * (reason == "noisy")
    )
    assert str(found) == f"x is not identified (0.25): {why}."


def test_quantities_that_are_text_or_equal_have_no_range():
    found = [
        Finding("factor_function_of_one", other=other, open_share=0.0, invertible=True, factors=["a"])
        for other in ("b", "c")
    ]
    assert sentence_of_several(found) == str(found[0])


def test_a_shared_reason_of_one_metric_and_of_findings_without_scores():
    changed = {"before": 0.75, "after": 0.5, "further": False, "rows_per_code": 3}
    one = shared_reason({"mig": Finding("depends_on_number_of_rows", **changed)})
    assert one == "Depends on the number of rows. With more rows, mig goes from 0.75 to 0.50."
    just_scores = Finding("depends_on_number_of_rows", before=0.75, after=0.5)
    assert shared_reason({"mig": just_scores}) == one
    without = Finding("depends_on_number_of_rows", before=0.75)
    assert shared_reason({"mig": just_scores, "sap": without}) is None
    assert shared_reason({"mig": Finding("take_more_samples", before=0.75, after=0.5)}) is None


# quantities that are text or decide between texts, and numbers that are counts or have one digit
TEXTS = {"concerns": "P1", "reason": "noisy", "tried": "dependence", "further": True, "invertible": True}
TEXTS |= dict.fromkeys(("directions", "effect", "effects", "equivalence", "error", "first", "found", "groups"), "text")
TEXTS |= dict.fromkeys(("looks_at", "metric", "metrics", "name", "need", "null", "other", "others", "problem"), "text")
TEXTS |= dict.fromkeys(("rarest", "representation", "shown", "text", "units"), "text")
TEXTS |= {"factors": ("first one", "second one"), "codes": ("first one", "second one")}
COUNTS = ("of", "needed", "min_rows", "seed", "k", "enough", "carried", "limit", "kurtosis")


def is_text(kind, name):
    return name in TEXTS or (kind, name) == ("codes_heavy_tailed", "worst")


QUANTITIES = [(kind, name) for kind in FINDINGS for name in sorted(quantities_of(kind)) if not is_text(kind, name)]


@pytest.mark.parametrize(("kind", "name"), QUANTITIES)
def test_every_number_is_stated_as_it_is(kind, name):
    others = {
        other: TEXTS.get(other, "text") if is_text(kind, other) else 8 if other.startswith("n_") else 0.58
        for other in quantities_of(kind)
    }
    is_count = name.startswith("n_") or name in COUNTS
    for value, digits in [(2, "2"), (37, "37")] if is_count else [(0.37, "37")]:
        assert digits in str(Finding(kind, **others | {name: value}))


RNG = np.random.default_rng(0)
Z = RNG.normal(size=(60, 2))
EVIDENCE = Evidence({"a": Z[:, 0], "b": Z[:, 0] ** 2}, np.column_stack([Z, Z[:, 1] ** 3, np.ones(60)]))
RECORDS = [
    (Diagnosis, diagnose(EVIDENCE)),
    (NoiseFloor, noise_floor(mcc, EVIDENCE, n_draws=19)),
    (NoiseFloor, NoiseFloor("wsepin", "permutation", reason=Finding("no_pairing", metric="wsepin", looks_at="codes"))),
    (Interval, interval(mcc, EVIDENCE, n_parts=8)),
    (Comparison, compared(mcc, {"one": EVIDENCE, "two": EVIDENCE}, n_parts=8)),
    (Verdict, Verdict("caution", (Reason(stated("So."), "rows", np.inf, "3.1", Finding("take_more_samples")),))),
]


@pytest.mark.parametrize(("kind", "record"), RECORDS, ids=[kind.__name__ for kind, _ in RECORDS])
def test_json_gives_every_record_back(kind, record):
    text = json.dumps(plain_data(record), allow_nan=False)
    back = restored(kind, json.loads(text))
    assert plain_data(back) == plain_data(record)
    assert isinstance(back, kind)


@dataclass(frozen=True)
class Spot:
    x: float
    n: int
    name: str | None = None


@dataclass(frozen=True)
class Place:
    x: float
    n: int
    kind: Literal["near", "far"] = "near"
    seen: bool = False
    around: tuple[Spot, ...] = ()
    ends: tuple[float, float] = (0.0, 1.0)
    name: str | None = None


@dataclass(frozen=True)
class Cells:
    values: FloatArray


def test_numbers_arrays_and_tuples():
    place = Place(-np.inf, 2, kind="far", seen=True, around=(Spot(np.nan, 1, "hill"),))
    back = restored(Place, json.loads(json.dumps(plain_data(place), allow_nan=False)))
    assert (back.x, back.kind, back.seen, back.around[0].name, back.ends) == (-np.inf, "far", True, "hill", (0.0, 1.0))
    assert np.isnan(back.around[0].x)
    cells = restored(Cells, {"values": [[1, None], ["inf", 2.5]]})
    np.testing.assert_array_equal(cells.values, [[1.0, np.nan], [np.inf, 2.5]])
    assert plain_data(cells) == {"values": [[1.0, None], ["inf", 2.5]]}
    assert restored(Cells, {"values": []}).values.shape == (0,)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"x": "far", "n": 1}, "x: 'far' is not a number"),
        ({"x": True, "n": 1}, "x: True is not a number"),
        ({"x": 1, "n": 1.5}, "n: 1.5 is not a whole number"),
        ({"x": 1, "n": 1, "kind": "there"}, "kind: 'there' is not one of 'near', 'far'"),
        ({"x": 1, "n": 1, "seen": 1}, "seen: 1 is not true or false"),
        ({"x": 1, "n": 1, "name": 7}, "name: 7 is not a text"),
        ({"x": 1, "n": 1, "around": [{"x": 1}]}, "around.0.n: it is missing"),
        ({"x": 1, "n": 1, "ends": [1]}, "ends: "),
        ({"x": "far", "n": 1.5}, "^x: 'far' is not a number$"),  # the first of two
        ({"x": 1, "n": True}, "n: True is not a whole number"),
        ([1], "is not a record with fields"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(data, message):
    with pytest.raises(CodecError, match=message.replace(".", r"\.")):
        restored(Place, data)
