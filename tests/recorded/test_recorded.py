"""Numbers are those on record, to six digits, with the versions that constraints-dev.txt pins (see records.py)."""

import pytest
from records import CASES, cases_of, condensed, differences, other_versions, recorded, relative_of

from unweave.metrics import CATALOGUE

pytestmark = pytest.mark.skipif(
    bool(other_versions()), reason=f"numbers on record need pinned versions: {', '.join(other_versions())}"
)


@pytest.mark.parametrize(("name", "case"), [(name, case) for name in CASES for case in cases_of(name)])
def test_numbers_are_those_on_record(name, case):
    assert case in recorded(name), f"it is not on record yet: run python tests/recorded/records.py {name}"
    changed = list(differences(recorded(name)[case], condensed(cases_of(name)[case]()), relative_of(name)))
    assert not changed, f"{changed[:5]}: if that is meant, run python tests/recorded/records.py {name}."


@pytest.mark.parametrize("name", CASES)
def test_every_record_has_its_case(name):
    assert set(recorded(name)) <= set(cases_of(name))


def test_every_metric_is_on_record():
    ours = [name for name, metric in CATALOGUE.items() if metric.__module__.startswith("unweave.")]
    assert [name for name in ours if not any(case.startswith(f"{name} of ") for case in recorded("metrics"))] == []
