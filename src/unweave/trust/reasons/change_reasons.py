"""The reason for a verdict if one step of the counterpart changes the score."""

from __future__ import annotations

import math

from unweave.findings import Finding
from unweave.score import Score
from unweave.trust.counterpart.counterpart import ENOUGH_ROWS
from unweave.trust.diagnosis.diagnosis import Diagnosis
from unweave.trust.effects import EFFECTS, Change
from unweave.trust.verdict_record import SECTIONS, Reason

ROUNDING = 0.005


def reason_of_change(change: Change, score: Score, diagnosis: Diagnosis, set_free: tuple[str, ...]) -> Reason:
    """The reason that describes a change; the advice is added when all verdicts are known."""
    before, after = change.before, change.after
    further = abs(before - score.value) >= ROUNDING
    section = SECTIONS[EFFECTS[change.effect]]
    how = f"unweave.trust.score_changes(metric, evidence)[{change.effect!r}], unweave.diagnose(evidence)"
    if change.effect == "redundant factors":
        names = tuple(name for name in diagnosis.redundant_factors if name not in set_free)
        found = Finding("depends_on_redundant_factors", before=before, after=after, further=further, factors=names)
        return Reason(
            found, "effective dimension", diagnosis.effective_dimension, section, None, f"{how}.effective_dimension"
        )
    if change.effect == "dependence" and set_free:
        found = Finding("depends_on_constraint", before=before, after=after, further=further, factors=set_free)
        return Reason(
            found, "effective dimension", diagnosis.effective_dimension, section, None, f"{how}.effective_dimension"
        )
    if change.effect == "dependence":
        pair = diagnosis.free_pairs[0]
        n_rows = diagnosis.rows_looked_at if diagnosis.rows_looked_at < diagnosis.n_rows else 0
        found = Finding(
            "depends_on_dependence",
            before=before,
            after=after,
            further=further,
            strength=pair.association,
            n_rows=n_rows,
            factors=pair.factors,
        )
        how += ".free_pairs[0].association" + (", unweave.diagnose(evidence).rows_looked_at" if n_rows else "")
        return Reason(found, "largest correlation of factors", pair.association, section, None, how)
    if change.effect == "number of codes":
        # the effective dimension is nan if there are very many factors
        counted = "n_factors" if math.isnan(diagnosis.effective_dimension) else "effective_dimension"
        n_codes, n_free = diagnosis.n_codes, getattr(diagnosis, counted)
        how += f".{counted}, evidence.n_codes"
        found = Finding(
            "depends_on_redundant_codes", before=before, after=after, further=further, n_codes=n_codes, n_free=n_free
        )
        return Reason(found, "codes per free factor", n_codes / n_free, section, None, how)
    found = Finding(
        "depends_on_number_of_rows",
        before=before,
        after=after,
        further=further,
        rows_per_code=diagnosis.rows_per_code,
        enough=ENOUGH_ROWS,
    )
    return Reason(found, "rows per code", diagnosis.rows_per_code, section, None, f"{how}.rows_per_code")
