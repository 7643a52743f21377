"""Code groups: sets of codes that form one sub-representation, where every code is in at most one group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral

from unweave.evidence.reading.columns import EvidenceError, quoted


def checked_groups(
    code_groups: Mapping[str, Sequence[str | int]] | None, names: tuple[str, ...]
) -> dict[str, tuple[str, ...]]:
    """Checked groups of code names; a code is given by its name, or by its number from 0, and is in one group only.

    >>> checked_groups({"position": [0, "y"]}, ("x", "y"))
    {'position': ('x', 'y')}
    """
    groups = _named_groups(code_groups or {}, names)
    empty = next((group for group, members in groups.items() if not members), None)
    if empty is not None:
        raise EvidenceError(f"The code group {quoted(empty)} has no codes: name at least one, or leave it out.")
    members = [member for group in groups.values() for member in group]
    strange = [member for member in members if member not in names]
    if strange:
        raise EvidenceError(
            f"code_groups names {quoted(strange[0])}, which is not a code: "
            "use the codes' names, or their numbers from 0."
        )
    if len(set(members)) < len(members):
        twice = next(member for member in members if members.count(member) > 1)
        raise EvidenceError(f"Code {quoted(twice)} is in two code groups: put every code in one.")
    return groups


def _named_groups(given: object, names: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    if not (isinstance(given, Mapping) and all(isinstance(members, Iterable) for members in given.values())):
        raise EvidenceError("code_groups is not a mapping from names to codes: pass it as {'position': ['x', 'y']}.")
    return {
        str(group): (members,) if isinstance(members, str) else tuple(_name_of(member, names) for member in members)
        for group, members in given.items()
    }


def _name_of(member: str | int, names: tuple[str, ...]) -> str:
    """Name of a code; a number is read as a name if a code has this name, and otherwise as a position."""
    if str(member) in names or isinstance(member, str):
        return str(member)
    return names[member] if isinstance(member, Integral) and 0 <= member < len(names) else str(member)
