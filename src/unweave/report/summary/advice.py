"""Sentences about the verdicts: the headline, the reasons without repetitions, and the next steps."""

from __future__ import annotations

from typing import Any

from unweave.report.answer.levels import rank_of
from unweave.words.phrases import counted, listed

NOTHING_FOUND = 0.05
NO_EVIDENCE = "Do not use these as evidence: random codes score as well (p > .05)."
BARE = "Evaluate without --quick to get noise floors, intervals and verdicts, which are needed to interpret a score."

_Whose = tuple[str, str]


def headline(metrics: list[dict[str, Any]]) -> str:
    """Return one or two sentences that say how many scores can be trusted."""
    cells = [cell for metric in metrics for cell in metric["cells"]]
    judged = [cell["verdict"]["level"] for cell in cells if cell["verdict"]]
    failed = sum(cell["value"] is None for cell in cells)
    missing = f" {counted(failed, 'score')} could not be computed." if failed else ""
    if not judged:
        return f"{counted(len(cells), 'score')}, without verdicts: these are bare scores.{missing}"
    trusted = [cell for cell in cells if cell["verdict"] and cell["verdict"]["level"] == "trust"]
    n_noise = sum(map(_is_noise, trusted))
    noise = f"{'is' if n_noise == 1 else 'are'} no better than noise (p > .05)"
    if len(trusted) == len(judged) == 1:
        return f"The score can be trusted on these data{f', and {noise}' if n_noise else ''}.{missing}"
    if len(trusted) == len(judged):
        but = f"; {n_noise} of them {noise}" if n_noise else ""
        return f"All {len(judged)} scores can be trusted on these data{but}.{missing}"
    of_trusted = f" Of those that can be trusted, {n_noise} {noise}." if n_noise else ""
    return f"Of {counted(len(judged), 'score')}, {listed(_levels_in_words(judged))}.{of_trusted}{missing}"


def _levels_in_words(judged: list[str]) -> list[str]:
    """Return the number of scores with each verdict, in words. Verdicts that do not occur are left out."""
    known = {"no verdict": "could not be checked", "caution": "with caution", "do not use": "should not be used"}
    others = sorted(set(judged) - {"trust"}, key=rank_of)
    return [
        f"{judged.count('trust') or 'none'} can be trusted on these data",
        *(f"{judged.count(level)} {known.get(level, f'with the verdict {level!r}')}" for level in others),
    ]


def grouped_reasons(metrics: list[dict[str, Any]], n_representations: int) -> list[dict[str, Any]]:
    """Return the reasons against trusting a score, the most serious first, with the metrics that they concern.

    Reasons with the same measured quantity are in one entry; its ``measured`` is None if the value differs between
    metrics.
    """
    groups: dict[tuple[str, str], dict[tuple[str, str], list[_Whose]]] = {}
    measured: dict[tuple[str, str], set[float | None]] = {}
    for metric, cell in _judged(metrics):
        level = cell["verdict"]["level"]
        for reason in cell["verdict"]["reasons"] if level != "trust" else ():
            key = reason["quantity"], reason["section"]
            measured.setdefault(key, set()).add(reason["measured"])
            entry = groups.setdefault(key, {}).setdefault((level, reason["sentence"]), [])
            entry.append((metric["label"], cell["representation"]))
    reasons = []
    for (quantity, section), entries in groups.items():
        described = [
            {"level": level, "sentence": sentence, "metrics": _named(pairs, n_representations)}
            for (level, sentence), pairs in entries.items()
        ]
        described.sort(key=_gravest_first)
        found = measured[quantity, section]
        reasons.append(
            {
                "quantity": quantity,
                "measured": found.pop() if len(found) == 1 else None,
                "section": section,
                "level": described[0]["level"],
                "entries": described,
            }
        )
    return sorted(reasons, key=_gravest_first)


def next_steps(metrics: list[dict[str, Any]], n_representations: int) -> list[dict[str, Any]]:
    """Return the next steps: advice of verdicts, the most serious first, then on scores at noise level and failures."""
    steps: dict[str, list[_Whose]] = {}
    for metric, cell in sorted(_judged(metrics), key=lambda pair: -rank_of(pair[1]["verdict"]["level"])):
        for reason in cell["verdict"]["reasons"]:
            if reason["instead"] and cell["verdict"]["level"] != "trust":
                steps.setdefault(_as_sentence(reason["instead"]), []).append((metric["label"], cell["representation"]))
    for metric in metrics:
        for cell in metric["cells"]:
            if _is_noise(cell):
                steps.setdefault(NO_EVIDENCE, []).append((metric["label"], cell["representation"]))
            if cell["problem"]:
                steps.setdefault(cell["problem"], []).append((metric["label"], cell["representation"]))
    if not any(cell["floor"] or cell["verdict"] for metric in metrics for cell in metric["cells"]):
        steps[BARE] = []
    return [{"sentence": sentence, "metrics": _named(pairs, n_representations)} for sentence, pairs in steps.items()]


def _is_noise(cell: dict[str, Any]) -> bool:
    """Return whether the score is not significantly better than that of random codes."""
    p_value = (cell["floor"] or {}).get("p_value")
    return p_value is not None and p_value > NOTHING_FOUND


def _judged(metrics: list[dict[str, Any]]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    return [(metric, cell) for metric in metrics for cell in metric["cells"] if cell["verdict"]]


def _named(pairs: list[_Whose], n_representations: int) -> list[str]:
    """Return each metric once, with its representations unless it concerns all of them."""
    by_metric: dict[str, dict[str, None]] = {}
    for label, representation in pairs:
        by_metric.setdefault(label, {})[representation] = None
    return [
        label if len(names) == n_representations else f"{label} of {listed(list(names))}"
        for label, names in by_metric.items()
    ]


def _gravest_first(entry: dict[str, Any]) -> int:
    return -rank_of(entry["level"])


def _as_sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}".rstrip(".") + "."
