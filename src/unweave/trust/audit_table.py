"""Results of the audit for every metric, from a table that `make audit` writes."""

from __future__ import annotations

import functools
import json
from collections.abc import Collection
from importlib.resources import files
from typing import Any

from unweave.card.choices import Choice, metric_of
from unweave.findings import Finding

# only these general metrics are advised, because other metrics may satisfy a property trivially
GENERAL = ("identification", "r2", "mcc", "dci_disentanglement", "sufficiency", "mig")
MOST_NAMED = 3
AUDITED_ROOM = "unweave.metrics."


@functools.cache
def table() -> dict[str, Any]:
    """Result of the audit by metric and property; empty where the audit was never run."""
    source = files("unweave.trust").joinpath("audited.json")
    return dict(json.loads(source.read_text(encoding="utf-8"))["metrics"]) if source.is_file() else {}


def audited_name(metric: Choice) -> str:
    """The name of this metric in the table; empty for a metric that is not part of unweave.

    A metric of the same name that was declared elsewhere is a different metric and was not audited.

    >>> from unweave.metrics import mcc
    >>> audited_name(mcc)
    'mcc'
    """
    entry = metric_of(metric)
    return entry.card.name if entry.__module__.startswith(AUDITED_ROOM) else ""


def fails(metric: str, concerns: str) -> bool:
    """Whether the audit found the property violated; a metric that was not audited counts as failing."""
    return _verdict(metric, concerns) not in ("satisfied", "partly")


def satisfies(metric: str, concerns: str) -> bool:
    """Whether the audit found that the metric has the property."""
    return _verdict(metric, concerns) == "satisfied"


def advice(concerns: str, but: Collection[str] = ()) -> Finding:
    """Advice where a property matters: metrics that satisfy it, without the excluded ones, and how to change the data.

    >>> "rows" in str(advice("P4"))
    True
    """
    named = [name for name in GENERAL if satisfies(name, concerns) and name not in but][:MOST_NAMED]
    return Finding("advice", concerns=concerns, metrics=" or ".join(named))


def _verdict(metric: str, concerns: str) -> str:
    return str(table().get(metric, {}).get(concerns, {}).get("verdict", "unknown"))
