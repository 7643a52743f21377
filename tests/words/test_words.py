"""Every kind of finding in the package has a function in `words` that takes exactly its quantities."""

import ast
import inspect
from pathlib import Path

import pytest

import unweave
from unweave.findings import Finding
from unweave.words import WORDS, sentence, sentence_of_several
from unweave.words.shared_reasons import shared_reason

PACKAGE = Path(unweave.__file__).parent


def made_findings():
    """File and line, kind and keyword names of every ``Finding("kind", ...)`` in the package."""
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "from unweave.findings import" not in text and path.name != "findings.py":
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Finding":
                where = f"{path.relative_to(PACKAGE)}:{node.lineno}"
                assert isinstance(node.args[0], ast.Constant), f"{where}: write the kind out, so that it can be found"
                yield where, node.args[0].value, {keyword.arg for keyword in node.keywords}


MADE = list(made_findings())


def test_every_finding_has_words_for_what_it_holds():
    for where, kind, given in MADE:
        assert kind in WORDS, f"{where} makes a finding of kind {kind!r} that unweave.words cannot state"
        parameters = inspect.signature(WORDS[kind]).parameters
        assert given == set(parameters), f"{where}: {kind}"
        assert {name for name, entry in parameters.items() if entry.default != entry.empty} <= {"factors", "codes"}


def test_every_function_of_words_is_used():
    assert set(WORDS) == {kind for _, kind, _ in MADE}


def test_kinds_are_defined_once():
    functions = [entry.__code__.co_filename for entry in WORDS.values()]
    defined = sum(
        isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
        for path in set(functions)
        for node in ast.parse(Path(path).read_text(encoding="utf-8")).body
    )
    assert defined == len(WORDS)


def test_one_or_several_are_said_rightly():
    assert sentence(Finding("dead_codes", codes=["a", "b"])) == "a and b do not vary and carry no information."
    assert sentence(Finding("rows_dropped", n_rows=1)) == "1 row with missing values was dropped."
    assert "latent 3 does not move" in sentence(
        Finding("latent_without_effect_in_samples", n_samples=2, of=5, codes=["latent 3"])
    )


def test_a_kind_without_words_is_listed_as_it_is():
    own = Finding("tilted_plane", slope=0.5, factors=["x", "y"])
    assert sentence(own) == "Tilted plane: slope 0.5; factors x, y."


def test_several_findings_of_a_kind_state_their_ranges():
    sampled = [Finding("rows_sampled", n_rows=n_rows, of=9000) for n_rows in (500, 2000, 500)]
    assert sentence_of_several(sampled) == "Computed on 500 to 2,000 of 9,000 rows, drawn at random."
    assert sentence_of_several(sampled[:1]) == sentence(sampled[0])


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
    taken = inspect.signature(WORDS[kind]).parameters
    others = {"n_rows": 2000, "rate": 0.05, "correlation": 0.3, "factors": ("a", "b")}
    assert part in WORDS[kind](**{name: value for name, value in others.items() if name in taken} | quantities)


def test_the_advice_is_the_same_without_metrics():
    assert WORDS["advice"]("P1", "mcc") == "Read mcc. " + WORDS["advice"]("P1", "")


def test_narrow_codes_are_one_or_several():
    one, two = (sentence(Finding("codes_narrow", codes=codes)) for codes in (["a"], ["a", "b"]))
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
    ],
)
def test_why_a_factor_is_not_identified(factors, reason, why):
    found = Finding("factor_not_identified", factors=factors, share=0.25, reason=reason)
    assert sentence(found) == f"x is not identified (0.25): {why}."


def test_quantities_that_are_text_or_equal_have_no_range():
    found = [
        Finding("factor_function_of_one", other=other, open_share=0.0, invertible=True, factors=["a"])
        for other in ("b", "c")
    ]
    assert sentence_of_several(found) == sentence(found[0])


def test_a_shared_reason_of_one_metric_and_of_findings_without_scores():
    changed = {"before": 0.75, "after": 0.5, "further": False, "rows_per_code": 3}
    one = shared_reason({"mig": Finding("depends_on_number_of_rows", **changed)})
    assert one == "Depends on the number of rows. With more rows, mig goes from 0.75 to 0.50."
    just_scores = Finding("depends_on_number_of_rows", before=0.75, after=0.5)
    assert shared_reason({"mig": just_scores}) == one
    without = Finding("depends_on_number_of_rows", before=0.75)
    assert shared_reason({"mig": just_scores, "sap": without}) is None
    assert shared_reason({"mig": Finding("take_more_samples", before=0.75, after=0.5)}) is None


# quantities with a few possible texts, and numbers that are integers or have one digit
TEXTS = {"concerns": "P1", "reason": "noisy", "tried": "dependence"}
COARSE = ("carried", "limit", "kurtosis")


def _example(name, annotation):
    """An example value for a quantity with this name and type."""
    if name in ("factors", "codes"):
        return "first one", "second one"
    if "int" in annotation or "float" in annotation:
        return 8 if "int" in annotation else 0.58
    return annotation == "bool" or TEXTS.get(name, "some text")


QUANTITIES = [
    (kind, name)
    for kind, entry in WORDS.items()
    for name, parameter in inspect.signature(entry).parameters.items()
    if parameter.annotation in ("int", "float")
]


@pytest.mark.parametrize(("kind", "name"), QUANTITIES)
def test_every_number_is_stated_as_it_is(kind, name):
    parameters = inspect.signature(WORDS[kind]).parameters
    others = {other: _example(other, entry.annotation) for other, entry in parameters.items()}
    is_count = name.startswith("n_") or name in COARSE or parameters[name].annotation == "int"
    for number, digits in [(2, "2"), (37, "37")] if is_count else [(0.37, "37")]:
        assert digits in WORDS[kind](**others | {name: number})
