"""BibTeX entries of the works that the metrics' cards cite.

The entries are in references.bib, which has only fields that were verified.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True)
class Entry:
    """The entry of one work.

    ``cited_as`` is the part of its title that identifies it in the references of the cards, in lower case. ``in_text``
    is the citation in running text.
    """

    key: str
    kind: str
    cited_as: str
    in_text: str
    fields: tuple[tuple[str, str], ...]

    @property
    def bibtex(self) -> str:
        """The entry in the format of a .bib file.

        >>> print(next(entry for entry in BIBLIOGRAPHY if entry.key == "kim2018disentangling").bibtex)
        @inproceedings{kim2018disentangling,
          author = {Kim, Hyunjik and Mnih, Andriy},
          title = {Disentangling by Factorising},
          booktitle = {International Conference on Machine Learning},
          year = {2018},
        }
        """
        return "\n".join(
            [f"@{self.kind}{{{self.key},", *(f"  {name} = {{{text}}}," for name, text in self.fields), "}"]
        )


def read_entries(text: str) -> Iterator[Entry]:
    """Read the entries of a .bib file that has one field per line.

    The fields ``cited_as`` and ``in_text`` are not part of BibTeX; only this library uses them.

    >>> [entry] = read_entries("@misc{key,\\n  title = {A {B}},\\n  cited_as = {a b},\\n  in_text = {B},\\n}")
    >>> entry.fields, entry.cited_as
    ((('title', 'A {B}'),), 'a b')
    """
    for kind, key, lines in re.findall(r"^@(\w+)\{(\S+),\n(.*?)^\}", text, re.DOTALL | re.MULTILINE):
        fields = dict(re.findall(r"^  (\w+) = \{(.*)\},$", lines, re.MULTILINE))
        yield Entry(key, kind, fields.pop("cited_as"), fields.pop("in_text"), tuple(fields.items()))


BIBLIOGRAPHY = tuple(read_entries((files("unweave.report.citing") / "references.bib").read_text(encoding="utf-8")))


def cited(reference: str) -> list[Entry]:
    """Return the works that the reference of a card cites.

    >>> [entry.key for entry in cited("Kim and Mnih (2018), 'Disentangling by factorising'")]
    ['kim2018disentangling']
    """
    return [entry for entry in BIBLIOGRAPHY if entry.cited_as in reference.lower()]


def credited(reference: str) -> str:
    """Return the authors of a metric as an in-text citation.

    >>> credited("Kim and Mnih (2018), 'Disentangling by factorising'")
    'Kim and Mnih, 2018'
    >>> credited("ours, after Kim and Mnih (2018), 'Disentangling by factorising'")
    "unweave's own, after Kim and Mnih, 2018"
    """
    works = ", ".join(entry.in_text for entry in cited(reference))
    if not is_own(reference):
        return works
    return f"unweave's own, after {works}" if works else "unweave's own"


def is_own(reference: str) -> bool:
    """Return whether the metric was first defined in this library, according to its card."""
    return reference.startswith("ours")


def bibtex_of(references: Mapping[str, str], version: str) -> str:
    """Return the entries of all works that the references of these metrics cite, and the entry of the library.

    The entry of the library lists the metrics that were first defined in it.
    """
    entries = {entry.key: entry for reference in references.values() for entry in cited(reference)}
    own = {name: credited(reference) for name, reference in references.items() if is_own(reference)}
    notes = [f"{name} is {whose}".replace("_", r"\_") for name, whose in own.items()]
    fields = [("title", "unweave"), ("version", version), *([("note", "; ".join(notes))] if notes else [])]
    library = Entry("unweave", "software", "unweave", "unweave", tuple(fields))
    return "\n\n".join(entry.bibtex for entry in [*entries.values(), library])
