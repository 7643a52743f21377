"""BibTeX for what the cards cite, from references.bib: only what is known for sure, and no field that is not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True)
class Entry:
    """One work; ``cited_as`` is a part of its title as the cards write it, in lower case."""

    key: str
    kind: str
    cited_as: str
    in_text: str
    fields: tuple[tuple[str, str], ...]

    @property
    def bibtex(self) -> str:
        """The entry as a .bib file holds it.

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
    """Entries of a .bib file with a field on each line; the fields cited_as and in_text are the library's own.

    >>> [entry] = read_entries("@misc{key,\\n  title = {A {B}},\\n  cited_as = {a b},\\n  in_text = {B},\\n}")
    >>> entry.fields, entry.cited_as
    ((('title', 'A {B}'),), 'a b')
    """
    for kind, key, lines in re.findall(r"^@(\w+)\{(\S+),\n(.*?)^\}", text, re.DOTALL | re.MULTILINE):
        fields = dict(re.findall(r"^  (\w+) = \{(.*)\},$", lines, re.MULTILINE))
        yield Entry(key, kind, fields.pop("cited_as"), fields.pop("in_text"), tuple(fields.items()))


BIBLIOGRAPHY = tuple(read_entries((files("unweave.report.citing") / "references.bib").read_text(encoding="utf-8")))


def cited(reference: str) -> list[Entry]:
    """Works that a card's reference names.

    >>> [entry.key for entry in cited("Kim and Mnih (2018), 'Disentangling by factorising'")]
    ['kim2018disentangling']
    """
    return [entry for entry in BIBLIOGRAPHY if entry.cited_as in reference.lower()]


def credited(reference: str) -> str:
    """Whose a metric is, as a text cites it.

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
    """Whether a card says that the metric is the library's own."""
    return reference.startswith("ours")


def bibtex_of(references: Mapping[str, str], version: str) -> str:
    """Entries of all works that the references of these metrics name, each once, and of the library.

    The library's entry names the metrics that are its own.
    """
    entries = {entry.key: entry for reference in references.values() for entry in cited(reference)}
    own = {name: credited(reference) for name, reference in references.items() if is_own(reference)}
    notes = [f"{name} is {whose}".replace("_", r"\_") for name, whose in own.items()]
    fields = [("title", "unweave"), ("version", version), *([("note", "; ".join(notes))] if notes else [])]
    library = Entry("unweave", "software", "unweave", "unweave", tuple(fields))
    return "\n\n".join(entry.bibtex for entry in [*entries.values(), library])
