"""Type checking of metrics, cards and evaluations: correct calls pass, and each incorrect line is an error."""

import subprocess
import sys

import pytest

# the package itself is checked elsewhere, and following imports into other libraries would take most of the time
CONFIG = """
[mypy]
strict = True
[mypy-unweave.*]
follow_imports = silent
[mypy-torch.*,polars.*,narwhals.*,sklearn.*,scipy.*,rich.*,joblib.*,zuko.*,matplotlib.*,distributed.*,click.*,jinja2.*]
follow_imports = skip
"""
PREAMBLE = '''
import functools
import math

import unweave
from unweave import Evidence, Metric, Score
from unweave.metrics import CATALOGUE, manifold_entropy, mcc

z = [[float(i % 7), float(i % 5)] for i in range(60)]


@unweave.metric(
    measures="compactness",
    equivalence="elementwise",
    min_rows=10,
    chance=0.0,
    cost="none",
    fails_when="always",
    reference="none",
)
def mine(evidence: Evidence, *, power: float = 1.0) -> Score:
    """A metric of a user."""
    return Score(power)
'''
# metric(...) with this field changed, applied to a correct function
CARD = """
@unweave.metric(
    measures="compactness", equivalence={equivalence}, needs={needs}, min_rows=10,
    bounds={bounds}, chance={chance}, cost="none", fails_when="always", reference="none"{more}
)
def f_{k}(evidence: Evidence, *, power: float = 1.0) -> {returns}:
    return {body}
"""
RIGHT = {
    "equivalence": '"any"',
    "needs": '("factors",)',
    "bounds": "(0.0, 1.0)",
    "chance": '"by permutation"',
    "more": "",
    "returns": "Score",
    "body": "Score(power)",
}
GOOD = [
    'mcc(z, z, correlation="spearman", kinds={"a": "ordinal"}, missing="drop").value',
    "mcc(factors=z, codes=z, rng=3)",
    "mcc(Evidence(z, z), cross_fit=True)",
    "mcc.card.bounds[0] + 1",
    "manifold_entropy(z, n_samples=10)",
    "mine(z, z, power=2.0, row_groups=[1, 2])",
    'unweave.evaluate(z, z, metrics=[mine, "mcc", functools.partial(mcc, cross_fit=True)], kinds="ordinal")',
    'unweave.compare(z, {"a": z}, missing="drop", quick=True)',
    'CATALOGUE["mcc"](z, z, correlation="pearson")',
    "any_metric: Metric = mine",
    'functools.partial(mcc, correlation="rdc")(z, z)',
    "Evidence(z, z, nuisances=z, decoder=None)",
    "unweave.trust.diagnose(Evidence(z, z)).effective_dimension",
    "unweave.noise_floor(mcc, Evidence(z, z)).p_value",
    "unweave.synthetic.worlds.Independent(2).sample(3)",
    CARD.format(k="good", **RIGHT | {"chance": "lambda n, m, d: 1 / n", "more": ", version=2"}),
]
BAD = [
    'mcc(z, z, corelation="pearson")',
    'mcc(z, z, correlation="kendall")',
    'mcc(z, z, kidns="ordinal")',
    'mcc(z, z, missing="dorp")',
    'mcc(z, z, rng="x")',
    "mcc(z, z, z)",
    "mcc.crad",
    'mine(z, z, power="two")',
    "mine(z, z, powr=2.0)",
    'unweave.evaluate(z, z, kidns="ordinal")',
    'unweave.evaluate(z, z, missing="dorp")',
    'unweave.compare(z, {"a": z}, row_gruops=[1])',
    'Evidence(z, z, kidns="ordinal")',
    "Evidence(z, z, sampler=3)",
    'unweave.metric(measures="compactness")',
    "unweave.evalute(z, z)",
    "unweave.trust.diagnoze(Evidence(z, z))",
    "unweave.synthetic.wrolds",
    "functools.partial(mcc, corelation=1)",
    *(
        CARD.format(k=k, **RIGHT | wrong)
        for k, wrong in enumerate(
            [
                {"bounds": '"hello"'},
                {"needs": '("factrs",)'},
                {"chance": "0.0, best='high'"},
                {"chance": "0.0, factor_kinds='any'"},
                {"chance": '"by permutations"'},
                {"equivalence": '"elementwize"'},
                {"more": ", versoin=2"},
                {"returns": "float", "body": "power"},
            ]
        )
    ),
]


def found_errors(text, folder, cache):
    """Line numbers of the errors that mypy finds in a module of this text."""
    module, config = folder / "snippets.py", folder / "mypy.ini"
    module.write_text(text, encoding="utf-8")
    config.write_text(CONFIG, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--config-file", config, "--cache-dir", cache, "--no-pretty", module]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode in (0, 1), run.stderr
    lines = [line.removeprefix(str(module)) for line in run.stdout.splitlines() if ": error:" in line]
    return {int(line.split(":")[1]): line for line in lines}


@pytest.fixture(scope="module")
def checked(tmp_path_factory, pytestconfig):
    """The errors of every snippet, from a single run of mypy."""
    text, places = PREAMBLE, {"preamble": range(PREAMBLE.count("\n") + 1)}
    for snippet in [*GOOD, *BAD]:
        start = text.count("\n") + 1
        text += snippet.strip("\n") + "\n\n"
        places[snippet] = range(start, text.count("\n") + 1)
    errors = found_errors(text, tmp_path_factory.mktemp("types"), pytestconfig.rootpath / ".mypy_cache" / "snippets")
    return {snippet: [errors[line] for line in lines if line in errors] for snippet, lines in places.items()}


@pytest.mark.parametrize("snippet", ["preamble", *GOOD])
def test_right_calls_pass(checked, snippet):
    assert checked[snippet] == []


@pytest.mark.parametrize("snippet", BAD)
def test_wrong_calls_are_errors(checked, snippet):
    assert checked[snippet]
