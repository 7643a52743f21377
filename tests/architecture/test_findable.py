"""Things are where their names say: a metric in the file of its name, no room too full, no class name twice."""

import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

import unweave
from unweave.metrics import CATALOGUE

PACKAGE = Path(unweave.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
MOST_THINGS = 13
# one objective a file, and what they share
FULL_ON_PURPOSE = {"models/objectives"}
# every paper's room has these
IN_EVERY_PAPER = {"experiments.py", "seed_studies.py"}


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_metric_is_in_the_file_of_its_name(name):
    assert CATALOGUE[name].__module__.rpartition(".")[2] == name


@pytest.mark.parametrize("room", sorted({path.parent for path in MODULES} - {PACKAGE}), ids=lambda room: room.name)
def test_a_room_shows_a_dozen_things(room):
    things = [path for path in room.glob("*.py") if path.name != "__init__.py"]
    things += [path for path in room.iterdir() if (path / "__init__.py").exists()]
    assert len(things) <= MOST_THINGS or room.relative_to(PACKAGE).as_posix() in FULL_ON_PURPOSE


def test_a_file_name_says_what_is_in_the_file():
    names = Counter(path.name for path in MODULES if path.name not in {"__init__.py", *IN_EVERY_PAPER})
    assert {name: count for name, count in names.items() if count > 2} == {}


def test_no_class_name_stands_for_two_things():
    homes = defaultdict(list)
    for path in MODULES:
        for name in re.findall(r"^class ([^_]\w*)[(:]", path.read_text(encoding="utf-8"), re.MULTILINE):
            homes[name].append(path.relative_to(PACKAGE).as_posix())
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}
