"""The text that `unweave explain` prints about a metric."""

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

ROUNDING = 1e-5  # smaller changes of a score are due to another order of summation, and are ignored

FULL_MARKS = {
    "orthogonal": "if the codes are the factors up to a rotation, a reflection, a shift and one common scale",
    "permutation and scale": "if the codes are the factors up to permutation and scaling",
    "elementwise": "if each code is a one-to-one function of one factor, in any order",
    "affine": "if the codes are an invertible affine map of the factors",
    "bijection": "if the codes are any one-to-one map of the factors",
    "any": "for any map of the factors",
}


def explanation(entry: Metric) -> str:
    """Text of `unweave explain`: meaning, example, when to use the metric and when not, formula, options, reference.

    >>> from unweave.metrics import mcc
    >>> explanation(mcc).splitlines()[0]
    'mcc: Mean correlation of the best one-to-one matching of codes and factors.'
    """
    entry = getattr(entry, "func", entry)
    card = entry.card
    meaning, options, formula, example = _parts_of_docstring(entry)
    defaults = ", ".join(f"{name}={option.default}" for name, option in entry.options.items()) or "none"
    reached = "no value is best" if math.isnan(card.best) else f"reached {FULL_MARKS[card.equivalence]}"
    factors = ", ".join(sorted(kind.value for kind in card.factor_kinds)) if "factors" in card.needs else "not used"
    best = {"Best score": reached} if "factors" in card.needs else {}
    needs = _joined_names(card.needs) + (f", at least {card.min_rows} rows" if card.min_rows else "")
    needs += "".join(f", more than {case}" for case in card.undefined_with)
    sections = [
        *([meaning] if meaning else []),
        *([f"Example:\n{example}"] if example else []),
        _facts({"Use it for": card.measures, **best, "Needs": needs}),
        _facts({"Factors": factors, "Avoid when": card.fails_when, "Cost": card.cost}),
        _facts(
            {
                "Range": "; ".join([f"{_range_in_words(card)}; {_best_in_words(card)}", *_variants_in_words(card)]),
                **({"Raw scores": card.raw_range} if card.raw_range else {}),
                "Chance level": chance_in_words(card),
                "Row order": _order_in_words(card),
                **_at_200_rows_in_words(card),
            }
        ),
        f"Formula:\n\n{formula}",
        "\n\n".join(filter(None, [_facts({"Options": defaults}), options])),
        _facts({"Reference": card.reference, "Version": str(card.version)}),
    ]
    text = "\n\n".join([f"{card.name}: {card.summary}", *sections])
    # the lookbehind excludes other numbers, such as the end of '20,000'
    named = [f"{number}: {paper}" for number, paper in PAPERS.items() if re.search(rf"(?<![\d,._]){number}\b", text)]
    return "\n".join([text, "", *named]) if named else text


def _facts(facts: dict[str, str]) -> str:
    """Names and facts in two columns, wrapped at 100 characters."""
    lines = [textwrap.wrap(f"{name + ':':<14}{fact}", 100, subsequent_indent=" " * 14) for name, fact in facts.items()]
    return "\n".join(line for wrapped in lines for line in wrapped)


def _parts_of_docstring(entry: Metric) -> tuple[str, str, str, str]:
    """Parts of the docstring after the summary: the meaning of the score, the options, the formula and the example."""
    body = (inspect.getdoc(entry) or "").partition("\n")[2]
    meaning, *sections = re.split(r"^(Parameters|Notes|Examples)\n-+\n", body, flags=re.MULTILINE)
    text = {title: part.strip("\n") for title, part in zip(sections[::2], sections[1::2], strict=True)}
    options, example = (textwrap.indent(text.get(title, ""), "    ").rstrip() for title in ("Parameters", "Examples"))
    return meaning.strip(), options, text.get("Notes", "").rstrip(), example


def _joined_names(names: tuple[str, ...]) -> str:
    """Names joined by commas and a final 'and'."""
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def _range_in_words(card: Card) -> str:
    low, high = card.bounds
    return f"{low:g} to {high:g}" if math.isfinite(high) else f"{low:g} and more"


def chance_in_words(card: Card) -> str:
    """The score of random codes in words: a number, a number for an example size, or that it has to be measured.

    >>> from unweave.metrics import r2
    >>> chance_in_words(r2.card)
    '0'
    """
    if card.chance == "no pairing" and card.measures == "orthogonality of latents":
        return (
            "that of randomly rotated latents and of random directions, and not of permuted rows: rotated_latents and "
            "random_decoder, and of single pairs random_pair, are among the parts of the scores"
        )
    if card.chance == "no pairing":
        return "none, because the metric does not relate factors to codes"
    if not callable(card.chance):
        return "has to be measured by permuting the rows" if card.chance == "by permutation" else f"{card.chance:g}"
    level = card.chance(1000, 10, 5)
    others = {"10 codes": (1000, 20, 5), "5 factors": (1000, 10, 7), "1,000 rows": (2000, 10, 5)}
    matter = tuple(name for name, sizes in others.items() if card.chance(*sizes) != level)
    return f"{level:.2g} for {_joined_names(matter)}, and different for other sizes"


def _order_in_words(card: Card) -> str:
    """Whether the order of the rows changes the score, and how much."""
    if card.order_tolerance <= ROUNDING:
        return "does not matter"
    return (
        "matters, because it decides splits, folds or draws: another order changes the score by up to "
        f"{card.order_tolerance:g} at 2,000 rows, and by more with fewer rows (run several seeds to see how much)"
    )


def _at_200_rows_in_words(card: Card) -> dict[str, str]:
    """How much changes that carry no information moved the score of 200 rows; nothing if it was not measured."""
    changes = ("rows in another order", "every row twice", "codes with the opposite sign")
    known = dict(zip(changes, card.moves_at_200_rows, strict=False))
    if not known:
        return {}
    kept = [change for change, moved in known.items() if moved <= ROUNDING]
    parts = [f"{change} moved the score by up to {moved:g}" for change, moved in known.items() if moved > ROUNDING]
    return {"At 200 rows": "; ".join([*parts, *([f"{_joined_names(tuple(kept))} did not move it"] if kept else [])])}


def _best_in_words(card: Card) -> str:
    return "no value is better than another" if math.isnan(card.best) else f"the best is {card.best:g}"


def _variants_in_words(card: Card) -> list[str]:
    """Range and best score for every option value that changes them."""
    held = {f"{entry.option}={entry.value}": card.under({entry.option: entry.value}) for entry in card.variants}
    return [f"with {option} {_range_in_words(under)}, {_best_in_words(under)}" for option, under in held.items()]
