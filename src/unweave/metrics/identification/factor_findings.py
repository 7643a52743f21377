"""Findings about every factor: whether it is identified, partly or not, by which codes, and otherwise why not."""

from __future__ import annotations

import numpy as np

from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.metrics.identification.findings import Findings
from unweave.responses.factor_bases import live_codes, varying_places

IDENTIFIED, PARTLY = 0.8, 0.1
ABSENT = 0.1  # a factor is absent if its R2 from all codes and its share in the purest code are both below this
MIXED_IN = 0.1  # smallest share of a code for which another factor is named


def factor_findings(evidence: Evidence, found: Findings) -> tuple[Finding, ...]:
    """One finding for every factor that is not constant, in the order of the factors."""
    names = [evidence.factor_names[j] for j in varying_places(evidence)]
    return tuple(_of_factor(evidence, found, j, names) for j in range(len(names)))


def _of_factor(evidence: Evidence, found: Findings, j: int, names: list[str]) -> Finding:
    share = max(0.0, float(found.identified[j]))
    used = found.recovery.chosen[j]
    codes = [evidence.code_names[i] for i in live_codes(evidence)[used]]
    if share >= IDENTIFIED:
        return Finding("factor_identified", factors=(names[j],), codes=codes, share=share)
    if j not in found.free:
        return Finding("factor_determined", factors=(names[j],))
    reason, others = _reason(found, j)
    if reason == "absent":
        codes = []
    concerned = (names[j], *(names[k] for k in others))
    if share >= PARTLY:
        return Finding("factor_partly_identified", factors=concerned, codes=codes, share=share, reason=reason)
    return Finding("factor_not_identified", factors=concerned, codes=codes, share=share, reason=reason)


def _reason(found: Findings, j: int) -> tuple[str, list[int]]:
    """The main reason why factor j is not identified, and the factors with which it is mixed."""
    used = found.recovery.chosen[j]
    purest = found.responses.purity[used[0], j] if used.size else 0.0
    if max(found.affine[j], purest) < ABSENT:
        return "absent", []
    if not used.size:
        return "mixed", []
    best = int(used[0])
    noise = 1 - found.responses.signal[best]
    mixing = 0.0 if found.recovery.alone[j] else 1 - found.responses.unmixed[best, j]
    folding = max(found.responses.purity[best, j] - found.recovery.read[j], 0.0) if found.recovery.alone[j] else 0.0
    losses = {"mixed": mixing, "noisy": noise, "folded": folding}
    reason = max(losses, key=lambda name: losses[name])
    if reason != "mixed":
        return reason, []
    shares = found.responses.unmixed[best]
    others = [k for k in np.argsort(-shares, kind="stable").tolist() if k != j and k in found.free]
    return reason, [k for k in others if shares[k] >= MIXED_IN]
