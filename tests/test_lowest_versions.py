"""The lowest versions that are declared are those that `make test-lowest` installs."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TESTED = ("torch", "report", "cluster", "datasets")  # the integrations are tested with the versions of the day
EXTRAS = [entry for extra in TESTED for entry in PROJECT["optional-dependencies"][extra]]
LOWEST = dict(
    line.split("==")
    for line in (ROOT / "constraints-lowest.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
)


@pytest.mark.parametrize("declared", [*PROJECT["dependencies"], *EXTRAS])
def test_the_declared_floor_is_the_one_that_is_tested(declared):
    name, floor = re.match(r"([\w-]+)>=([\d.]+)", declared).groups()
    tested = LOWEST[name].split(".")
    assert tested[: floor.count(".") + 1] == floor.split(".")
    assert set(tested[floor.count(".") + 1 :]) <= {"0"}
