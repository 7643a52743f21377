"""Metrics and commands of other installed packages appear in this one, and a broken package only warns."""

import subprocess
import sys

import pytest

PACKAGE = """
import click
import numpy as np
from unweave.metrics.matrices import varying
import unweave
from unweave.score import Score

@unweave.metric(
    measures="explicitness", equivalence="affine", min_rows=10, chance="by permutation", cost="nothing",
    fails_when="never", reference="ours",
)
def constant(evidence: unweave.Evidence) -> Score:
    \"\"\"The number one half.\"\"\"
    return Score(raw=0.5)

@click.command()
def greet():
    \"\"\"Print a greeting.\"\"\"
    click.echo("good morning")
"""
ENTRY_POINTS = """
[unweave.metrics]
constant = other_package:constant
mcc = other_package:constant
broken_metric = other_package_that_is_gone:nothing
not_a_metric = other_package:PI

[unweave.commands]
greet = other_package:greet
broken_command = other_package_that_is_gone:nothing
not_a_command = other_package:PI
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run Python where a package with these entry points is installed; answers what was printed."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "other_package.py").write_text(PACKAGE + "\nPI = 3.14\n")
    information = folder / "other_package-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: other-package\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(ENTRY_POINTS)

    def start(script):
        script = f"import sys; sys.path.insert(0, {str(folder)!r})\n{script}"
        return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)

    return start


def test_metrics_and_commands_of_another_package_are_ours(run):
    done = run(
        "import unweave\n"
        "from click.testing import CliRunner\n"
        "from unweave.cli import main\n"
        "from unweave.metrics import CATALOGUE\n"
        "assert CATALOGUE['mcc'].__module__.startswith('unweave.')\n"
        "assert not {'broken_metric', 'not_a_metric'} & set(CATALOGUE)\n"
        "z = [[float(i % 7), float(i % 5)] for i in range(60)]\n"
        "print(unweave.evaluate(z, z, metrics='constant', quick=True)['constant'].value)\n"
        "for argument in ('--help', 'greet', 'broken_command', 'not_a_command'):\n"
        "    result = CliRunner().invoke(main, [argument])\n"
        "    print(result.exit_code, result.output, sep='\\n')\n"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[0] == "0.5"
    assert "Print a greeting." in done.stdout
    assert "\n0\ngood morning\n" in done.stdout
    for command in ("broken_command", "not_a_command"):
        assert f"No such command '{command}'." in done.stdout
    for said in (
        "'mcc' of other_package:constant is left out",
        "'broken_metric' of other_package_that_is_gone:nothing is left out",
        "'not_a_metric' of other_package:PI is left out, because it is nothing that unweave.metrics can use",
        "'broken_command' of other_package_that_is_gone:nothing is left out",
        "can use: declare it with @click.command().",
    ):
        assert said in done.stderr + done.stdout


def test_a_package_that_is_imported_first_and_imports_our_metrics_is_not_left_out(run):
    done = run(
        "import other_package\n"
        "from unweave.metrics import CATALOGUE, OWN_METRICS\n"
        "print('constant' in OWN_METRICS, 'constant' in CATALOGUE)\n"
    )
    assert done.stdout.split() == ["False", "True"], done.stderr
    assert "'constant' of other_package:constant is left out" not in done.stderr
