"""Verdicts in words: the headline, the reasons once each, and what to do next."""

from __future__ import annotations

from typing import Any

from unweave.report.numbers_in_words import counted, listed
from unweave.report.trust_fields import LEVELS

NOTHING_FOUND = 0.05


def headline(metrics: list[dict[str, Any]]) -> str:
    """One or two sentences that say how far the numbers may be trusted."""
    cells = [cell for metric in metrics for cell in metric["cells"]]
    judged = [cell["verdict"]["level"] for cell in cells if cell["verdict"]]
    failed = sum(cell["value"] is None for cell in cells)
    missing = f" {counted(failed, 'score')} could not be computed." if failed else ""
    if not judged:
        return f"{counted(len(cells), 'score')}, without verdicts: these are bare scores.{missing}"
    counts = {level: judged.count(level) for level in LEVELS}
    if counts["trust"] == len(judged):
        return f"All {len(judged)} scores can be trusted on these data.{missing}"
    parts = [
        f"{counts['trust'] or 'none'} can be trusted on these data",
        *([f"{counts['caution']} with caution"] if counts["caution"] else []),
        *([f"{counts['do not use']} should not be used"] if counts["do not use"] else []),
    ]
    return f"Of {counted(len(judged), 'score')}, {listed(parts)}.{missing}"


def grouped_reasons(metrics: list[dict[str, Any]], n_representations: int) -> list[dict[str, Any]]:
    """Every reason once, the gravest first, with the metrics (and representations) it holds for."""
    groups: dict[tuple[str, str], dict[str, Any]] = {}
    for metric, cell in _judged(metrics):
        for reason in cell["verdict"]["reasons"]:
            key = (cell["verdict"]["level"], reason["sentence"])
            group = groups.setdefault(key, {"level": key[0], **reason, "metrics": []})
            group["metrics"].append(_whose(metric, cell, n_representations))
    return sorted(groups.values(), key=lambda group: -LEVELS.index(group["level"]))


def next_steps(metrics: list[dict[str, Any]], n_representations: int) -> list[dict[str, Any]]:
    """What to do, the most pressing first: what the verdicts advise, then what scores and failures suggest."""
    steps: dict[str, dict[str, Any]] = {}
    by_gravity = sorted(_judged(metrics), key=lambda pair: -LEVELS.index(pair[1]["verdict"]["level"]))
    for metric, cell in by_gravity:
        for reason in cell["verdict"]["reasons"]:
            if reason["instead"] and cell["verdict"]["level"] != "trust":
                step = steps.setdefault(reason["instead"], {"sentence": _as_sentence(reason["instead"]), "metrics": []})
                step["metrics"].append(_whose(metric, cell, n_representations))
    noise = [
        _whose(metric, cell, n_representations)
        for metric in metrics
        for cell in metric["cells"]
        if cell["floor"] and cell["floor"]["p_value"] is not None and cell["floor"]["p_value"] > NOTHING_FOUND
    ]
    if noise:
        sentence = "Do not read these as evidence of anything: codes that know nothing score as well (p > .05)."
        steps[sentence] = {"sentence": sentence, "metrics": noise}
    for metric in metrics:
        for cell in metric["cells"]:
            if cell["problem"]:
                step = steps.setdefault(cell["problem"], {"sentence": cell["problem"], "metrics": []})
                step["metrics"].append(_whose(metric, cell, n_representations))
    if not any(cell["floor"] or cell["verdict"] for metric in metrics for cell in metric["cells"]):
        sentence = "Evaluate without --quick to get noise floors, intervals and verdicts: a bare score says little."
        steps[sentence] = {"sentence": sentence, "metrics": []}
    return list(steps.values())


def _judged(metrics: list[dict[str, Any]]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    return [(metric, cell) for metric in metrics for cell in metric["cells"] if cell["verdict"]]


def _whose(metric: dict[str, Any], cell: dict[str, Any], n_representations: int) -> str:
    return metric["label"] if n_representations == 1 else f"{metric['label']} of {cell['representation']}"


def _as_sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}".rstrip(".") + "."
