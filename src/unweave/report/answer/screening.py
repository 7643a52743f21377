"""The result of screening many codes: which were scored, and the list of those that depend on a factor."""

from __future__ import annotations

from typing import Any

from unweave.evaluation import Evaluation
from unweave.findings import Finding
from unweave.words.phrases import brief

SHOWN = 50  # largest number of codes that a page lists
SMALLEST_Q = 1e-6  # smaller q-values are shown as '< 1e-06'


def screening_sentences(evaluation: Evaluation) -> list[str]:
    """A text of one or two sentences for every representation whose codes were screened."""
    several = len(evaluation.representations) > 1
    said = []
    for name, found in evaluation.data.get("screening", {}).items():
        finding = Finding(
            "codes_screened",
            n_codes=found["n_codes"],
            n_found=found["n_found"],
            n_scored=found["n_scored"],
            n_rows=found["n_rows"],
            rate=found["rate"],
        )
        sentence = str(finding)
        said.append(f"{name}: {sentence}" if several else sentence)
    return said


def code_lists(evaluation: Evaluation) -> list[dict[str, Any]]:
    """For every representation whose codes were screened, the codes that a page shows, and how many it does not."""
    lists = []
    for (name, found), sentence in zip(
        evaluation.data.get("screening", {}).items(), screening_sentences(evaluation), strict=True
    ):
        shown = [row | {"q": _q(row["q_value"])} for row in found["codes"][:SHOWN]]
        hidden = found["n_codes"] - len(shown)
        lists.append({"representation": name, "sentence": sentence, "codes": shown, "n_hidden": hidden})
    return lists


def _q(value: float) -> str:
    return brief(value) if value >= SMALLEST_Q else f"< {brief(SMALLEST_Q)}"
