"""A methods paragraph and BibTeX entries for a paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from unweave.report.citing.bibliography import bibtex_of, credited
from unweave.words.phrases import counted, listed


def methods_paragraph(summary: Mapping[str, Any]) -> str:
    """Return a paragraph for a paper that describes how the scores were computed."""
    data, cells = summary["data"], [cell for metric in summary["metrics"] for cell in metric["cells"]]
    sentences = [
        f"We scored {_what(data)} with {_versions(data['versions'])}.",
        f"Metrics: {_metrics_in_words(summary['metrics'])}.",
    ]
    if data["n_dropped"]:
        sentences.append(f"{counted(data['n_dropped'], 'row')} with missing values were dropped.")
    sentences += [entry["sentence"] for entry in summary.get("screening", [])]
    seeds = sorted({seed for cell in cells for seed in cell["seeds"]})
    if len(seeds) > 1:
        sentences.append(
            f"Scores of randomised metrics are means over {len(seeds)} seeds ({', '.join(map(str, seeds))})."
        )
    elif seeds:
        sentences.append(f"Randomised metrics used seed {seeds[0]}.")
    sentences += _floor_sentences(cell["floor"] for cell in cells if cell["floor"])
    sentences += _interval_sentences(cell["interval"] for cell in cells if cell["interval"])
    prints = listed([entry["fingerprint"] for entry in data["representations"]])
    return " ".join([*sentences, f"Fingerprint of the data: {prints}."])


def bibtex(summary: Mapping[str, Any]) -> str:
    """Return the entries of the works that the metrics' cards cite, and the entry of the library."""
    references = {metric["metric"]: metric["reference"] for metric in summary["metrics"]}
    return bibtex_of(references, summary["data"]["versions"].get("unweave", ""))


def _what(data: Mapping[str, Any]) -> str:
    if not data["n_rows"]:
        return "a decoder"
    kinds = Counter(factor["kind"] for factor in data["factors"])
    d, n = len(data["factors"]), data["n_rows"]
    stated = f"{'factor' if d == 1 else 'factors'} ({listed([f'{count} {kind}' for kind, count in kinds.items()])})"
    codes = listed([_named(entry) for entry in data["representations"]], at_most=8)
    return f"{codes}{f' against d = {d} {stated}' if d else ''} on n = {n:,} samples"


def _versions(versions: Mapping[str, str]) -> str:
    others = ", ".join(f"{name} {number}" for name, number in versions.items() if name != "unweave")
    return f"unweave {versions.get('unweave', '')} ({others})"


def _named(entry: Mapping[str, Any]) -> str:
    name = "a representation" if entry["name"] == "codes" else f"the representation '{entry['name']}'"
    return f"{name} of m = {counted(entry['n_codes'], 'code')}"


def _metrics_in_words(metrics: list[dict[str, Any]]) -> str:
    """Return the metrics, grouped by the works that define them.

    Options have the defaults of the stated version of unweave unless the label of a metric says otherwise. The JSON
    file has the values of all options.
    """
    by_details: dict[str, dict[str, None]] = {}
    for metric in metrics:
        by_details.setdefault(credited(metric["reference"]), {})[metric["label"]] = None
    return "; ".join(
        f"{listed(list(names), at_most=50)}{f' ({details})' if details else ''}"
        for details, names in by_details.items()
    )


def _floor_sentences(floors: Iterable[Mapping[str, Any]]) -> list[str]:
    used = Counter((floor["kind"], floor["n_draws"]) for floor in floors)
    if not used:
        return []
    by_kind: dict[str, list[int]] = {}
    for kind, n_draws in used:
        by_kind.setdefault(kind, []).append(n_draws)
    stated = [f"{_range(draws)} {_draw_noun(kind)}" for kind, draws in by_kind.items()]
    return [f"Noise floors are mean scores of {listed(stated)}."]


def _draw_noun(kind: str) -> str:
    known = {
        "permutation": "permutations of the codes' rows",
        "matched": "matched random codes",
        "constant": "constant codes",
    }
    return known.get(kind, f"draws of kind '{kind}'")


def _interval_sentences(intervals: Iterable[Mapping[str, Any]]) -> list[str]:
    used = dict.fromkeys((interval["level"], interval["kind"]) for interval in intervals)
    return [
        f"Intervals are {f'{_percent(level)} ' if level else ''}{kind} intervals over samples." for level, kind in used
    ]


def _range(numbers: list[int]) -> str:
    return f"{min(numbers):,}" if min(numbers) == max(numbers) else f"{min(numbers):,} to {max(numbers):,}"


def _percent(level: float) -> str:
    return f"{100 * level:g} %"
