"""Code groups: codes that form one sub-representation, each in one group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unweave.evidence.reading.columns import EvidenceError


def checked_groups(
    code_groups: Mapping[str, Sequence[str]] | None, names: tuple[str, ...]
) -> dict[str, tuple[str, ...]]:
    """Groups of known codes, none of them twice."""
    groups = {
        str(group): (members,) if isinstance(members, str) else tuple(map(str, members))
        for group, members in (code_groups or {}).items()
    }
    members = [member for group in groups.values() for member in group]
    strange = [member for member in members if member not in names]
    if strange:
        raise EvidenceError(f"code_groups names {strange[0]!r}, which is not a code: use the codes' names.")
    if len(set(members)) < len(members):
        twice = next(member for member in members if members.count(member) > 1)
        raise EvidenceError(f"Code {twice!r} is in two code groups: put every code in one.")
    return groups
