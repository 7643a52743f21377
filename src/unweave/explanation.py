"""A metric's card in plain words: what `unweave explain` prints."""

from __future__ import annotations

import inspect
import math
import re
import textwrap

from unweave.card import Card, Metric

PAPERS = {
    "000": "Galperin and Koethe, 'Analyzing Generative Models by Manifold Entropic Metrics'",
    "001": "Do and Tran, 'Theory and Evaluation Metrics for Learning Disentangled Representations'",
    "002": "Tokui and Sato, 'Disentanglement Analysis with Partial Information Decomposition'",
    "003": "Joshi et al., 'Who Guards the Guardians?'",
    "004": "'Rethinking Disentanglement under Dependent Factors of Variation'",
}


def explained(entry: Metric) -> str:
    """The card, the options and the formula, as text.

    >>> from unweave.metrics import mcc
    >>> explained(mcc).splitlines()[0]
    'mcc: Mean correlation of the best one-to-one matching of codes and factors.'
    """
    entry = getattr(entry, "func", entry)
    card = entry.card
    formula = inspect.getdoc(inspect.getmodule(entry)) or ""
    facts = {
        "Measures": card.measures,
        "Range": f"{card.bounds[0]:g} to {card.bounds[1]:g}; {_best_in_words(card)}",
        "Full marks": _full_marks_in_words(card),
        "Noise gets": chance_in_words(card),
        "Needs": " and ".join(card.needs) + (f", at least {card.min_rows} rows" if card.min_rows else ""),
        "Factors": ", ".join(sorted(kind.value for kind in card.factor_kinds))
        if "factors" in card.needs
        else "not used",
        "Fails when": card.fails_when,
        "Cost": card.cost,
        "Reference": card.reference,
        "Version": str(card.version),
    }
    lines = [f"{card.name}: {card.summary}", ""]
    for name, fact in facts.items():
        lines += textwrap.wrap(f"{name + ':':<12}{fact}", 100, subsequent_indent=" " * 12)
    options = ", ".join(f"{name}={option.default}" for name, option in entry.options.items())
    lines += ["", *textwrap.wrap(f"{'Options:':<12}{options}", 100, subsequent_indent=" " * 12), "", formula]
    text = "\n".join(lines)
    named = [f"{number}: {paper}" for number, paper in PAPERS.items() if re.search(rf"\b{number}\b", text)]
    return "\n".join([text, "", *named]) if named else text


def chance_in_words(card: Card) -> str:
    """What noise scores: a number, a level that depends on n, m and d, or one that has to be measured.

    >>> from unweave.metrics import r2
    >>> chance_in_words(r2.card)
    '0'
    """
    if callable(card.chance):
        return f"{card.chance(1000, 10, 5):.2f} for 10 codes, 5 factors and 1,000 rows; it depends on all three"
    if card.chance == "no pairing":
        return "nothing: factors and codes are not paired"
    return "a level to be measured by permuting the rows" if card.chance == "by permutation" else f"{card.chance:g}"


def _best_in_words(card: Card) -> str:
    return "no value is better than another" if math.isnan(card.best) else f"the best is {card.best:g}"


def _full_marks_in_words(card: Card) -> str:
    if math.isnan(card.best):
        return "there are none"
    whose = "factors" if "factors" in card.needs else "latents"
    return f"for any {card.equivalence} map of the {whose}"
