"""The table of audited metrics in the package, and the functions that write it."""

import json
import types

import pytest

from unweave.auditing import audit_all, catalogue, text_table
from unweave.auditing.catalogue import SHARED, groups, markdown_table, read_table, table_data, write_table
from unweave.auditing.findings.card_check import Promise, promise_of
from unweave.auditing.measurement.grid import PROPERTIES
from unweave.auditing.measurement.subjects import subject_of
from unweave.auditing.scorecard import TICKS
from unweave.metrics import CATALOGUE

TABLE = read_table()


def test_every_metric_is_in_one_group():
    labels = [subject.label for group in groups() for subject in group]
    assert len(set(labels)) == len(labels)
    assert set(CATALOGUE) <= set(labels)
    assert all(name in CATALOGUE for group in SHARED for name in group)


@pytest.mark.parametrize("label", TABLE["metrics"])
def test_the_table_is_of_the_metrics_of_today(label):
    entry = TABLE["metrics"][label]
    assert entry["version"] == CATALOGUE[label.split(" ")[0]].card.version, "run `make audit`"
    assert "".join(TICKS[entry[name]["verdict"]] for name in PROPERTIES) == entry["ticks"]
    for name in PROPERTIES:
        found = entry[name]
        assert (found["verdict"] == "undecided") == (len(found["possible"]) > 1)
        if found["verdict"] == "satisfied":
            assert found["n_missing"] == 0


@pytest.mark.parametrize("label", TABLE["metrics"])
def test_cards_promise_no_more_than_was_measured(label):
    card, entry = CATALOGUE[label.split(" ")[0]].card, TABLE["metrics"][label]
    assert entry["equivalence"] == card.equivalence, "run `make audit`"
    for found in entry["promises"]:
        promise = promise_of(card, found["encoder"], found["score"])
        assert promise == Promise(**found)
        assert promise.kept


def test_what_is_not_audited_says_why():
    assert "needs a posterior" in TABLE["not_audited"]["rmig"]
    assert not set(TABLE["not_audited"]) & set(TABLE["metrics"])


def test_written_and_read(small, tmp_path):
    audits = audit_all(
        ["mcc", "t_mex", subject_of(lambda factors, codes: 0.5)], grid=small, seeds=2, adversary=False, further=False
    )
    path = tmp_path / "audited.json"
    write_table(audits, path)
    data = read_table(path)
    assert data == json.loads(json.dumps(table_data(audits)))
    assert data["metrics"]["mcc"]["ticks"] == audits[0].ticks
    assert data["metrics"]["mcc"]["P4"]["interval"] == pytest.approx(audits[0]["P4"].interval, abs=1e-4)
    assert data["not_audited"] == {"t_mex": str(audits[1].refusal)}
    assert f"| `<lambda>` | {audits[2]['P1'].tick} 0 [0, 0] |" in markdown_table(data)


def test_table_3_is_never_cut(small):
    audits = audit_all(["mcc", "t_mex"], grid=small, seeds=2, adversary=False, further=False)
    lines = text_table(audits).splitlines()
    assert not any("…" in line for line in lines)
    assert any("not applicable" in line for line in lines if line.strip().startswith("t_mex"))


class Answer(types.SimpleNamespace):
    """What an audit says of itself on the way."""


@pytest.fixture
def asked(monkeypatch):
    """Groups of the catalogue that were audited, and with which options; nothing is measured."""
    calls = []

    def audited(group, **options):
        calls.append(([subject.label for subject in group], options))
        return [Answer(metric=subject.label, ticks="✓", seconds=1.4) for subject in group]

    monkeypatch.setattr(catalogue, "audit_all", audited)
    return calls


def test_only_groups_with_a_metric_that_is_named_are_audited(asked, tmp_path):
    said = []
    found = catalogue.audited_catalogue(7.0, tmp_path, 2, ["mcc"], 3, said.append)
    ((labels, options),) = asked
    assert "mcc" in labels
    assert options == {"seeds": 3, "budget": 7.0, "n_jobs": 2, "store": tmp_path}
    assert [audit.metric for audit in found] == labels
    assert said == ["\n".join(f"✓ {label} (1 s)" for label in labels)]


def test_without_names_all_are_audited(asked):
    found = catalogue.audited_catalogue(1.0, None)
    assert [labels for labels, _ in asked] == [[subject.label for subject in group] for group in groups()]
    assert len(found) == sum(map(len, groups()))


def test_the_command_writes_what_it_audited_and_keeps_the_rest(asked, monkeypatch, tmp_path, capsys):
    written = []
    monkeypatch.setattr(catalogue, "write_table", lambda audits, path, **options: written.append((path, options)))
    monkeypatch.setattr(catalogue, "text_table", lambda audits: f"{len(audits)} audits")
    one_option = next(label for group in groups() for subject in group if "(" in (label := subject.label))
    out = tmp_path / "table.json"
    for metrics in (f"r2, {one_option}", ""):
        catalogue.main(["--metrics", metrics, "--budget", "2", "--out", str(out)])
    assert [(path, options["keep_others"]) for path, options in written] == [(out, True), (out, False)]
    assert {"r2", one_option} <= {label for labels, _ in asked[:2] for label in labels}
    assert all(options["budget"] == 2 for _, options in asked)
    assert capsys.readouterr().out.endswith(f"\n{sum(map(len, groups()))} audits\n")
    with pytest.raises(SystemExit):
        catalogue.main(["--metrics", "no_such_metric"])
    assert "no_such_metric" in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.2, "1 s"), (1.6, "2 s"), (119.0, "119 s"), (120.0, "2 min"), (600.0, "10 min")]
)
def test_times_are_in_seconds_up_to_two_minutes(seconds, said):
    assert catalogue._minutes(seconds) == said


def test_the_price_of_more_seeds_is_that_of_the_slowest_metric_that_shares_the_work():
    first, second, *_ = next(group for group in SHARED if len(group) > 1)
    found = {"P1": {"verdict": "undecided", "n_missing": 0}, "P2": {"verdict": "satisfied", "n_missing": 0}}
    entries = {first: {"seconds": 3.0} | found, second: {"seconds": 10.0} | found}
    assert catalogue._price(first, "P1", entries) == " (4 times the seeds: 40 s)"
    assert catalogue._price(first, "P2", entries) == ""
