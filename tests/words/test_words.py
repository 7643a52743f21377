"""Every kind of finding in the package has a function in `words` that takes exactly its quantities."""

import ast
import inspect
from pathlib import Path

import pytest

import unweave
from unweave.findings import Finding
from unweave.words import WORDS, sentence, sentence_of_several

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
