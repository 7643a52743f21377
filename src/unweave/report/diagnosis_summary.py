"""What the data are, for a page: sentences, figures with a gauge, and how the factors hang together."""

from __future__ import annotations

from typing import Any

import numpy as np

from unweave.evaluation import Evaluation
from unweave.report.detail import Detail
from unweave.report.matrix_summary import summarised_matrix
from unweave.report.numbers_in_words import counted, fixed
from unweave.report.trust_fields import diagnosis_fields

# key, name, whether it is a share that a gauge can show
FIGURES = (
    ("n_rows", "rows", False),
    ("n_factors", "factors", False),
    ("n_codes", "codes", False),
    ("rows_per_code", "rows per code", False),
    ("codes_per_factor", "codes per factor", False),
    ("effective_dimension", "factors that vary freely", False),
    ("largest_correlation", "largest correlation of two factors", True),
    ("nuisance_share", "codes' variance that no factor explains", True),
    ("dead_codes", "dead codes", False),
    ("duplicated_codes", "duplicated codes", False),
    ("heavy_tailed_codes", "heavy-tailed codes", False),
)


def diagnosis_summary(evaluation: Evaluation, representation: str, detail: Detail) -> dict[str, Any]:
    """Diagnosis of one representation: what was found out, or where nobody looked what the sizes alone say."""
    data, found = evaluation.data, diagnosis_fields(evaluation, representation)
    n_codes = data["representations"][representation]["n_codes"]
    sizes = {
        "n_rows": data["n_rows"],
        "n_factors": len(data["factors"]),
        "n_codes": n_codes,
        "rows_per_code": data["n_rows"] / n_codes if n_codes else None,
    }
    known = sizes | found
    figures = [
        {"key": key, "name": name, "value": value, "text": _text(key, value, known), "is_share": is_share}
        for key, name, is_share in FIGURES
        if (value := _figure(known.get(key))) is not None
    ]
    constraints = [_constraint(entry) for entry in found.get("constraints") or ()]
    return {
        "representation": representation,
        "sentences": [str(sentence) for sentence in found.get("sentences") or _sentences_of_sizes(sizes)],
        "figures": figures,
        "constraints": constraints,
        "factor_correlation": _correlation(found, data, detail),
        "charts": [chart for chart in (_dependent_pairs(found, detail), _unexplained(found, detail)) if chart],
        "looked": bool(found),
    }


def _figure(value: Any) -> float | int | None:
    """A number as it is, names as their count, anything else is no figure."""
    if value is None or isinstance(value, (bool, int, float)):
        return None if value is None or value != value else value
    return len(value) if isinstance(value, (list, tuple, dict)) else None


def _text(key: str, value: float, known: dict[str, Any]) -> str:
    if key == "effective_dimension":
        return f"{value:g} of {known['n_factors']}"
    if key == "nuisance_share":
        return f"{100 * value:.0f} %"
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else fixed(value, 2)


def _sentences_of_sizes(sizes: dict[str, Any]) -> list[str]:
    if not sizes["rows_per_code"]:
        return []
    per_code = f"{sizes['rows_per_code']:,.0f}" if sizes["rows_per_code"] >= 10 else f"{sizes['rows_per_code']:.1f}"
    return [
        f"There are {counted(sizes['n_rows'], 'row')} for {counted(sizes['n_codes'], 'code')}, {per_code} for each, "
        f"and {counted(sizes['n_factors'], 'factor')}.",
        "The data themselves were not examined: evaluate without --quick to have them examined.",
    ]


def _constraint(entry: Any) -> str:
    if isinstance(entry, dict) and "determined" in entry:
        return f"{entry['determined']} is a function of {' and '.join(map(str, entry.get('by', ())))}"
    return str(entry)


def _dependent_pairs(found: dict[str, Any], detail: Detail) -> dict[str, Any] | None:
    """How strongly pairs of factors depend on each other, by any curve; the strongest of many."""
    pairs = {" and ".join(map(str, pair["factors"])): pair["strength"] for pair in found.get("dependent_pairs") or ()}
    return _chart("Factors that depend on each other", pairs, detail)


def _unexplained(found: dict[str, Any], detail: Detail) -> dict[str, Any] | None:
    """What of every code no factor explains."""
    return _chart("Share of a code that no factor explains", dict(found.get("nuisance_per_code") or {}), detail)


def _chart(title: str, values: dict[str, float | None], detail: Detail) -> dict[str, Any] | None:
    known = sorted(((value, name) for name, value in values.items() if value is not None), reverse=True)
    if not known:
        return None
    shown = known[: detail.bars]
    sentence = f"Aggregated: the {len(shown)} largest of {len(known):,}." if len(shown) < len(known) else ""
    bars = [{"name": name, "value": value} for value, name in shown]
    return {"title": title, "bars": bars, "sentence": sentence}


def _correlation(found: dict[str, Any], data: dict[str, Any], detail: Detail) -> dict[str, Any] | None:
    values = found.get("factor_correlation_matrix")
    if values is None:
        return None
    matrix = np.array(values, dtype=object).astype(np.float64)
    names = [str(name) for name in found.get("factor_names") or (factor["name"] for factor in data["factors"])]
    if matrix.ndim != 2 or matrix.shape != (len(names), len(names)) or len(names) < 2:
        return None
    summary = summarised_matrix("factor_correlation", matrix, names, names, detail)
    # blocks of factors, where the wording of code-by-factor matrices does not fit
    summary["sentence"] = summary["sentence"].replace("codes", "factors").replace("code", "factor")
    return summary | {"meaning": "Correlation of every two factors"}
