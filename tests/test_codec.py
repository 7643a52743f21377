"""The codec restores every record, and names the field of invalid data."""

import json
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pytest

from unweave import Evidence
from unweave.arrays import FloatArray
from unweave.codec import CodecError, plain_data, restored
from unweave.findings import Finding, stated
from unweave.metrics import mcc
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

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(60, 2))
EVIDENCE = Evidence({"a": Z[:, 0], "b": Z[:, 0] ** 2}, np.column_stack([Z, Z[:, 1] ** 3, np.ones(60)]))
RECORDS = [
    (Diagnosis, diagnose(EVIDENCE)),
    (NoiseFloor, noise_floor(mcc, EVIDENCE, n_draws=19, budget=0.0)),
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
