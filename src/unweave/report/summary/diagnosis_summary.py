"""The description of the data on a page: sentences, numbers, and the dependence between factors."""

from __future__ import annotations

from typing import Any

from unweave.evaluation import Evaluation
from unweave.report.summary.page_limits import Detail
from unweave.report.summary.trust_fields import diagnosis_fields
from unweave.words.phrases import counted, fixed

# key, name, and whether the number is a share, which the page shows as a bar as well
FIGURES = (
    ("n_rows", "rows", False),
    ("n_factors", "factors", False),
    ("n_codes", "codes", False),
    ("rows_per_code", "rows per code", False),
    ("codes_per_factor", "codes per factor", False),
    ("effective_dimension", "independent factors", False),
    ("largest_correlation", "largest correlation of two factors", True),
    ("nuisance_share", "variance of the codes not explained by factors", True),
    ("dead_codes", "dead codes", False),
    ("duplicated_codes", "duplicated codes", False),
    ("heavy_tailed_codes", "heavy-tailed codes", False),
)


def diagnosis_summary(evaluation: Evaluation, representation: str, detail: Detail) -> dict[str, Any]:
    """Return the diagnosis of one representation, or only the sizes of the data if they were not diagnosed."""
    data, found = evaluation.data, diagnosis_fields(evaluation, representation)
    n_codes = data["representations"][representation]["n_codes"]
    sizes = {
        "n_rows": data["n_rows"],
        "n_factors": len(data["factors"]),
        "n_codes": n_codes,
        "rows_per_code": data["n_rows"] / n_codes if n_codes else None,
    }
    known = sizes if found is None else found | {"largest_correlation": found["max_correlation"]}
    figures = [
        {"key": key, "name": name, "value": value, "text": _text(key, value, known), "is_share": is_share}
        for key, name, is_share in FIGURES
        if (value := _figure(known.get(key))) is not None
    ]
    return {
        "representation": representation,
        "sentences": _sentences_of_sizes(sizes) if found is None else found["sentences"],
        "figures": figures,
        "constraints": [] if found is None else [_constraint(entry) for entry in found["constraints"]],
        "factor_correlation": None,  # the schema unweave.report/1 has this field, but a diagnosis has no such matrix
        "charts": [] if found is None else _charts(found, detail),
        "looked": found is not None,
    }


def _figure(value: float | list[Any] | dict[str, Any] | None) -> float | None:
    """Return a number unchanged, and the length of a list or dictionary of names."""
    return len(value) if isinstance(value, (list, dict)) else value


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
        f"There are {counted(sizes['n_rows'], 'row')}, {counted(sizes['n_codes'], 'code')} and "
        f"{counted(sizes['n_factors'], 'factor')}, which is {per_code} rows per code.",
        "The data were not diagnosed: evaluate without --quick to diagnose them.",
    ]


def _constraint(entry: dict[str, Any]) -> str:
    return f"{entry['determined']} is a function of {' and '.join(entry['by'])}"


def _charts(found: dict[str, Any], detail: Detail) -> list[dict[str, Any]]:
    """Return charts of the strength of dependence of pairs of factors, and of the unexplained variance of each code."""
    pairs = {" and ".join(pair["factors"]): pair["strength"] for pair in found["dependent_pairs"]}
    charts = (
        _chart("Strength of dependence between factors", pairs, detail),
        _chart("Share of each code's variance not explained by factors", found["nuisance_per_code"], detail),
    )
    return [chart for chart in charts if chart]


def _chart(title: str, values: dict[str, float | None], detail: Detail) -> dict[str, Any] | None:
    known = sorted(((value, name) for name, value in values.items() if value is not None), reverse=True)
    if not known:
        return None
    shown = known[: detail.bars]
    sentence = f"Only the {len(shown)} largest of {len(known):,} values are shown." if len(shown) < len(known) else ""
    bars = [{"name": name, "value": value} for value, name in shown]
    return {"title": title, "bars": bars, "sentence": sentence}
