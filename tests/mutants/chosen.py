"""A plugin of pytest that keeps the tests, or files of tests, named in a file, in the order of the file.

Names of tests on a command line are limited in number, may hold any character, and run in the order of their files.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

NAMED_IN = "UNWEAVE_CHOSEN_TESTS"  # the environment variable with the path of the file


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep them."""
    by_name: dict[str, list[pytest.Item]] = {}
    for item in items:
        by_name[item.nodeid] = [item]
        by_name.setdefault(item.nodeid.split("::")[0], []).append(item)
    names = json.loads(Path(os.environ[NAMED_IN]).read_text(encoding="utf-8"))
    items[:] = [item for name in names for item in by_name.get(name, ())]
