"""References and methods text of an evaluation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from unweave.sentences import counted, listed, say


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


BIBLIOGRAPHY = tuple(read_entries((files("unweave.report") / "references.bib").read_text(encoding="utf-8")))


def cited_works(reference: str) -> list[Entry]:
    """Return the works that the reference of a card cites.

    >>> [entry.key for entry in cited_works("Kim and Mnih (2018), 'Disentangling by factorising'")]
    ['kim2018disentangling']
    """
    return [entry for entry in BIBLIOGRAPHY if entry.cited_as in reference.lower()]


def in_text_citation(reference: str) -> str:
    """Return the authors of a metric as an in-text citation.

    >>> in_text_citation("Kim and Mnih (2018), 'Disentangling by factorising'")
    'Kim and Mnih, 2018'
    >>> in_text_citation("ours, after Kim and Mnih (2018), 'Disentangling by factorising'")
    "unweave's own, after Kim and Mnih, 2018"
    """
    works = ", ".join(entry.in_text for entry in cited_works(reference))
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
    entries = {entry.key: entry for reference in references.values() for entry in cited_works(reference)}
    own = {name: in_text_citation(reference) for name, reference in references.items() if is_own(reference)}
    notes = [f"{name} is {whose}".replace("_", r"\_") for name, whose in own.items()]
    fields = [("title", "unweave"), ("version", version), *([("note", "; ".join(notes))] if notes else [])]
    library = Entry("unweave", "software", "unweave", "unweave", tuple(fields))
    return "\n\n".join(entry.bibtex for entry in [*entries.values(), library])


def methods_paragraph(summary: Mapping[str, Any]) -> str:
    """Return a paragraph for a paper that describes how the scores were computed."""
    data, cells = summary["data"], [cell for metric in summary["metrics"] for cell in metric["cells"]]
    versions = data["versions"]
    others = ", ".join(f"{name} {number}" for name, number in versions.items() if name != "unweave")
    sentences = [
        f"We scored {_what(data)} with unweave {versions.get('unweave', '')} ({others}).",
        f"Metrics: {_metrics_in_words(summary['metrics'])}.",
    ]
    if data["n_dropped"]:
        sentences.append(f"{counted(data['n_dropped'], 'row')} with missing values were dropped.")
    sentences += [entry["sentence"] for entry in summary.get("screening", [])]
    seeds = sorted({seed for cell in cells for seed in cell["seeds"]})
    if len(seeds) > 1:
        sentences.append(
            f"Scores of randomised metrics are means over {len(seeds)} seeds ({', '.join(map(str, seeds))})."
        )
    elif seeds:
        sentences.append(f"Randomised metrics used seed {seeds[0]}.")
    sentences += _floor_sentences(cell["floor"] for cell in cells if cell["floor"])
    sentences += _interval_sentences((cell["interval"] for cell in cells if cell["interval"]), data.get("n_groups", 0))
    sentences += _settings_sentences(summary["answer"])
    prints = listed([entry["fingerprint"] for entry in data["representations"]])
    return " ".join([*sentences, f"Fingerprint of the data: {prints}."])


def bibtex(summary: Mapping[str, Any]) -> str:
    """Return the entries of the works that the metrics' cards cite, and the entry of the library."""
    references = {metric["metric"]: metric["reference"] for metric in summary["metrics"]}
    return bibtex_of(references, summary["data"]["versions"].get("unweave", ""))


def _what(data: Mapping[str, Any]) -> str:
    if not data["n_rows"]:
        return "a decoder"
    kinds = Counter(factor["kind"] for factor in data["factors"])
    of_kinds = [f"{count} {kind}" for kind, count in kinds.items()]
    circular = [factor["name"] for factor in data["factors"] if factor["kind"] == "circular"]  # never by default
    of_kinds = [f"{text} ({listed(circular)})" if text.endswith(" circular") else text for text in of_kinds]
    d, n = len(data["factors"]), data["n_rows"]
    stated = f"{'factor' if d == 1 else 'factors'} ({listed(of_kinds)})"
    sizes = {entry["name"]: entry["n_codes"] for entry in data["representations"]}
    names = {name: "a representation" if name == "codes" else f"the representation '{name}'" for name in sizes}
    codes = listed([f"{names[name]} of m = {counted(m, 'code')}" for name, m in sizes.items()])
    if len(sizes) > 3:
        codes = f"{len(sizes)} representations of m = {_range(list(sizes.values()))} codes"
    return f"{codes}{f' against d = {d} {stated}' if d else ''} on n = {n:,} samples"


def _metrics_in_words(metrics: list[dict[str, Any]]) -> str:
    """Return the metrics, grouped by the works that define them.

    Options have the defaults of the stated version of unweave unless the label of a metric says otherwise. The JSON
    file has the values of all options.
    """
    by_details: dict[str, dict[str, None]] = {}
    for metric in metrics:
        by_details.setdefault(in_text_citation(metric["reference"]), {})[metric["label"]] = None
    return "; ".join(
        f"{listed(list(names), at_most=50)}{f' ({details})' if details else ''}"
        for details, names in by_details.items()
    )


def _settings_sentences(answer: Mapping[str, Any]) -> list[str]:
    """How training seeds were averaged and settings were tested, if names differ by a seed alone."""
    found = answer.get("settings")
    if not found:
        return []
    seeds = sorted({len(score["values"]) for scores in found["scores"].values() for score in scores})
    tested = any(found["differences"].values())
    return [say("methods_of_settings", seeds=_range(seeds), tested=tested, confidence=found["level"])]


DRAWS_IN_WORDS = {
    "permutation": "permutations of the codes' rows",
    "matched": "matched random codes",
    "constant": "constant codes",
}


def _floor_sentences(floors: Iterable[Mapping[str, Any]]) -> list[str]:
    used = Counter((floor["kind"], floor["n_draws"]) for floor in floors)
    if not used:
        return []
    by_kind: dict[str, list[int]] = {}
    for kind, n_draws in used:
        by_kind.setdefault(kind, []).append(n_draws)
    stated = [
        f"{_range(draws)} {DRAWS_IN_WORDS.get(kind, f'draws of kind {kind!r}')}" for kind, draws in by_kind.items()
    ]
    return [f"Noise floors are mean scores of {listed(stated)}."]


def _range(numbers: list[int]) -> str:
    return f"{min(numbers):,}" if min(numbers) == max(numbers) else f"{min(numbers):,} to {max(numbers):,}"


def _interval_sentences(intervals: Iterable[Mapping[str, Any]], n_groups: int = 0) -> list[str]:
    over = f"{n_groups:,} groups of samples, which splits and permutations keep whole" if n_groups else "samples"
    used = dict.fromkeys((interval["level"], interval["kind"]) for interval in intervals)
    return [
        f"Intervals are {f'{100 * level:g} % ' if level else ''}{kind} intervals over {over}." for level, kind in used
    ]
