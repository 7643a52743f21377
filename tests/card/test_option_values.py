"""Values of options: those that their annotations allow, and one sentence for others."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol

import numpy as np
import pytest

from unweave import EvidenceError
from unweave.card import Count
from unweave.card.options import check_option_values


class Probe(Protocol):
    def fit(self, rows): ...

    def predict(self, rows): ...


@dataclass(frozen=True)
class Ridge:
    strength: float = 1.0

    def fit(self, rows):
        return self

    def predict(self, rows):
        return rows


class FitsOnly:
    def fit(self, rows):
        return self


@pytest.mark.parametrize(
    ("annotation", "good", "bad", "use"),
    [
        (Literal["a", "b"], ["a", "b"], ["c", 1, ["a"]], "'a' or 'b'"),
        (Literal["a"], ["a"], ["b"], "'a'"),
        (Literal["a"] | float, ["a", 0.5, 2], ["b", None, True], "'a' or a number"),
        (bool, [True, np.True_], [0, 1, "yes", None], "True or False"),
        (int, [0, -3, np.int64(4)], [1.0, True, "1"], "a whole number"),
        (Count, [1, 7], [0, -1, 1.5, True], "a whole number from 1"),
        (float, [0.5, 2, np.float32(0.5), np.inf], [np.nan, True, "0.5", None], "a number"),
        (float | None, [0.5, None], ["none"], "a number or None"),
        (Probe, [Ridge()], [Ridge, FitsOnly(), "ridge", None], r"an estimator \(Probe\)"),
        (Ridge, [Ridge(2.0)], [FitsOnly(), 1.0], r"an estimator \(Ridge\)"),
        (Probe | int | None, [Ridge(), 3, None], [2.5], r"an estimator \(Probe\), a whole number or None"),
        (Annotated[float, "a note"], [0.5], ["a"], "a number"),
    ],
)
def test_values(annotation, good, bad, use):
    for value in good:
        check_option_values("mine", {"option": annotation}, {"option": value})
    for value in bad:
        said = "is not known" if isinstance(value, str) and "'a'" in use else "of mine is not allowed"
        with pytest.raises(EvidenceError, match=f"^option=.* {said}: use {use}"):
            check_option_values("mine", {"option": annotation}, {"option": value})


@pytest.mark.parametrize("annotation", [Any, dict, int | dict])
def test_other_annotations_are_not_checked(annotation):
    check_option_values("mine", {"option": annotation}, {"option": "anything", "unknown": 3})
