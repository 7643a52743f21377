"""A key changes if and only if something changes that influences the result."""

import dataclasses
import enum
import hashlib
from functools import partial

import numpy as np
import pytest
from tiny_cells import Arithmetic, Gaussian, Same, first, second

from unweave import InputError
from unweave.estimators import Histogram
from unweave.metrics import mcc, mig
from unweave.sweeps import Cell
from unweave.sweeps import sweep as keys
from unweave.sweeps.sweep import content_of, metric_content, row_keys

CELL = Cell(Gaussian(), Same(), 100, 3, (mcc,))


def key_of(cell):
    [key] = row_keys(cell).values()
    return key


@dataclasses.dataclass(frozen=True)
class Revised(Gaussian):
    version = 2


@dataclasses.dataclass(frozen=True)
class Linked(Gaussian):
    library = "a 1.0"


@pytest.mark.parametrize(
    "change",
    [
        {"world": Gaussian(3)},
        {"world": Revised()},
        {"encoder": Same("elsewhere")},
        {"encoder": Gaussian()},
        {"n_rows": 101},
        {"seed": 4},
        {"metrics": ("r2",)},
        {"metrics": ("mcc:normalise=coverage",)},
        {"metrics": (partial(mcc, rng=3),)},
        {"protocol": Arithmetic()},
    ],
    ids=lambda change: next(iter(change)),
)
def test_changes_with_content(change):
    assert key_of(dataclasses.replace(CELL, **change)) != key_of(CELL)


@pytest.mark.parametrize(
    "change",
    [
        {"world": Gaussian(n_factors=2)},
        {"metrics": ("mcc",)},
        {"metrics": {"MCC-P": "mcc"}},
        {"metrics": ("mcc:correlation=pearson",)},  # the default value, passed explicitly
        {"labels": {"encoder": "E1", "rho": 0.5}},
    ],
    ids=str,
)
def test_stays_with_content(change):
    assert key_of(dataclasses.replace(CELL, **change)) == key_of(CELL)


def test_changes_with_a_metrics_version(monkeypatch):
    before = key_of(CELL)
    monkeypatch.setattr(mcc, "card", dataclasses.replace(mcc.card, version=mcc.card.version + 1))
    assert key_of(CELL) != before


@pytest.mark.parametrize("library", ["unweave", "numpy", "scipy", "scikit-learn"])
def test_changes_with_a_library(monkeypatch, library):
    assert library in keys.library_releases()
    before = key_of(CELL)
    monkeypatch.setattr(keys, "library_releases", lambda: releases | {library: "0.0"})
    releases = dict.fromkeys(keys.LIBRARIES, "1.2")
    changed = key_of(CELL)
    monkeypatch.setattr(keys, "library_releases", lambda: releases)
    assert len({before, changed, key_of(CELL)}) == 3


def test_every_metric_has_its_own():
    cell = dataclasses.replace(CELL, metrics=(first, second))
    assert len(set(row_keys(cell).values())) == 2
    assert row_keys(cell)["second"] == key_of(dataclasses.replace(CELL, metrics=(second,)))


def test_estimators_are_spelled_out():
    content = metric_content(partial(mig, estimator=Histogram(bins=7)))
    assert content["options"]["estimator"]["fields"]["bins"] == 7


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


DIFFERENT = [
    None,
    True,
    1,
    2,
    1.5,
    "1",
    float("inf"),
    float("nan"),
    {"float": "inf"},
    (),
    (1, 2),
    ((1,), 2),
    {1: 2},
    {1, 2},
    np.array([1, 2]),
    np.array([1.0, 2.0]),
    np.array([[1.0, 2.0]]),
    Colour.RED,
    Colour.BLUE,
    Gaussian,
    Gaussian(),
    key_of,
    partial(key_of, 1),
    partial(key_of, 2),
]


def test_different_contents_differ():
    assert len({keys._canonical(content_of(item)) for item in DIFFERENT}) == len(DIFFERENT)


def test_order_of_mappings_and_sets_does_not_matter():
    assert content_of({"a": 1, "b": 2}) == content_of({"b": 2, "a": 1})
    assert content_of({"a", "b", "c"}) == content_of({"c", "b", "a"})


@pytest.mark.parametrize(
    "item", [lambda: 0, np.random.default_rng(0), np.array([None])], ids=["lambda", "rng", "objects"]
)
def test_refuses_what_it_cannot_tell_apart(item):
    with pytest.raises(InputError, match="cannot"):
        content_of(item)


def test_a_value_that_names_its_library_has_it_in_its_key(monkeypatch):
    before = content_of(Linked())
    monkeypatch.setattr(Linked, "library", "a 2.0")
    assert content_of(Linked()) != before


def test_a_key_is_a_hash_of_sorted_json(monkeypatch):
    """Keys on disk stay valid as long as nothing changes that influences a result."""
    monkeypatch.setattr(keys, "library_releases", lambda: {"unweave": "1.2"})
    cell = (
        '{"encoder":{"class":"tiny_cells.Same","fields":{"record":""}},"libraries":{"unweave":"1.2"},"n_rows":100,'
        '"protocol":{"class":"unweave.sweeps.sweep.AllRows","fields":{}},"schema":1,"seed":3,'
        '"world":{"class":"tiny_cells.Gaussian","fields":{"n_factors":2}}}'
    )
    metric = '{"metric":"tiny_cells.first","options":{"scale":1.0},"version":1}'
    expected = hashlib.blake2b((cell + metric).encode(), digest_size=16).hexdigest()
    assert key_of(dataclasses.replace(CELL, metrics=(first,))) == expected


def test_an_array_is_its_type_its_shape_and_a_hash_of_its_bytes():
    table = np.arange(6.0).reshape(2, 3)
    digest = hashlib.blake2b(table.T.tobytes(), digest_size=16).hexdigest()
    assert content_of(table.T) == {"array": digest, "dtype": "<f8", "shape": [3, 2]}


def test_the_last_part_of_a_version_does_not_count(monkeypatch):
    monkeypatch.setattr(keys, "version", lambda name: "1.2.3")
    assert keys.library_releases.__wrapped__() == dict.fromkeys(keys.LIBRARIES, "1.2")
