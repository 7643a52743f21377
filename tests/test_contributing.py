"""The metric in CONTRIBUTING.md can be added as described, with one function and one line."""

import importlib
import re
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import unweave
from unweave.card.explain import explained

ROOT = Path(__file__).parent.parent


def block(name):
    """The code between two markers of CONTRIBUTING.md."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return re.search(rf"<!-- {name} -->\n```\w+\n(.*?)```\n<!-- /{name} -->", text, re.DOTALL)[1]


@pytest.fixture
def added(tmp_path, monkeypatch):
    """The metric, imported from a separate file."""
    (tmp_path / "best_correlation.py").write_text(block("metric"), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("best_correlation").best_correlation
    del sys.modules["best_correlation"]


def test_the_metric_keeps_its_contract(added):
    unweave.check_metric(added)


def test_the_metric_is_right_and_explained(added):
    z = np.random.default_rng(0).normal(size=(500, 2))
    expected = abs(np.corrcoef(z[:, 0], z[:, 0] + z[:, 1])[0, 1])
    assert added(z[:, 0], z.sum(axis=1, keepdims=True)).raw == pytest.approx(expected)
    assert "Options:      power=1.0" in explained(added)
    assert "    best correlation = 1/d sum_j max_i |corr(z_j, c_i)|" in explained(added)


def test_the_line_is_as_the_others_are():
    catalogue = (ROOT / "src" / "unweave" / "metrics" / "__init__.py").read_text(encoding="utf-8")
    shape = re.compile(r"from unweave\.metrics\.[\w.]+ import (\w+) as \1")
    assert shape.fullmatch(block("line").strip())
    assert len(shape.findall(catalogue)) > 30


def test_the_entry_point_is_of_a_group_that_is_read():
    [group] = tomllib.loads(block("entry point"))["project"]["entry-points"]
    catalogue = (ROOT / "src" / "unweave" / "metrics" / "__init__.py").read_text(encoding="utf-8")
    assert f'plugins("{group}"' in catalogue


def test_every_path_that_is_named_exists():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:src|tests|docs|papers)/[\w./]+)`", text)
    assert len(named) >= 5
    assert [path for path in named if not (ROOT / path).exists()] == []
