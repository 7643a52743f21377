"""The ledger of claims: rows of data, evidence, checks and the page."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import re
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import NormalDist
from typing import Any, Literal, cast, get_args

import numpy as np

import unweave
from unweave.arrays import FloatArray
from unweave.errors import FileError, InputError, OptionError
from unweave.names import suggestion
from unweave.own_modules import imported
from unweave.randomness import random_stream
from unweave.store import write_result
from unweave_papers.experiment import (
    FOLDERS,
    LEVEL,
    MODULES,
    PACKAGES,
    ClaimCheck,
    MeasuredFigure,
    Options,
    experiment_claims,
    experiment_of,
    flag,
    paper_of,
    plain_table,
)
from unweave_papers.stored import StoredNumbers

Found = Literal["holds", "holds in part", "does not hold", "undecided"]
# fmt: off
ClaimVerdict = Literal[
    "holds", "holds in part", "does not hold", "not reproduced at this scale", "undecided",
    "error of the text", "artefact of code or protocol", "not testable here",
]
# fmt: on
VERDICTS: tuple[ClaimVerdict, ...] = get_args(ClaimVerdict)

# what the evidence has to find about the paper's statement for each verdict
FOUND: dict[ClaimVerdict, Found] = {
    "holds": "holds",
    "holds in part": "holds in part",
    "does not hold": "does not hold",
    "not reproduced at this scale": "does not hold",
    "undecided": "undecided",
    "error of the text": "does not hold",
    "artefact of code or protocol": "does not hold",
}

N_DRAWS = 10_000
CERTAIN = 0.995  # share of draws that agree: above 99 %, so that other draws agree in 99 % as well
Figures = Mapping[str, "float | MeasuredFigure"]


@dataclass(frozen=True)
class ClaimEvidence:
    """The figures of a claim, and what they say about each part of the paper's statement.

    >>> decided(["1 is above 0.9"], {"DCI-D": 0.856}).found
    'does not hold'
    >>> decided(["1 is above 0.9"], {"DCI-D": MeasuredFigure(0.93, 0.89, 0.97)}).found
    'undecided'
    """

    parts: tuple[Found, ...]
    figures: Mapping[str, MeasuredFigure]

    @property
    def found(self) -> Found:
        """'holds' if all parts hold, 'holds in part' if some do and some do not, 'undecided' if it depends."""
        decided = set(self.parts) - {"undecided"}
        if len(decided) > 1:
            return "holds in part"
        return "undecided" if "undecided" in self.parts else decided.pop()


def figure_of(number: float | MeasuredFigure) -> MeasuredFigure:
    """Return a number that may be exact as a figure."""
    return number if isinstance(number, MeasuredFigure) else MeasuredFigure(float(number))


def decided(expect: Sequence[str], figures: Figures) -> ClaimEvidence:
    """Return what figures and their intervals say about each part of a statement, as `RULES` describe parts.

    A part holds, or does not, if this is so for the figures and for 99.5 % of the draws from their intervals.
    Otherwise it is undecided.
    """
    measured = {name: figure_of(x) for name, x in figures.items()}

    def part(text: str) -> Found:
        said, share = agreement(text, list(measured.values()))
        return "undecided" if share < CERTAIN else "holds" if said else "does not hold"

    return ClaimEvidence(tuple(map(part, expect)), measured)


def agreement(text: str, figures: Sequence[MeasuredFigure], seed: int = 0) -> tuple[bool, float]:
    """Return whether a part holds for figures, and the share of draws from their intervals that say the same.

    Every figure is drawn from a normal distribution with its interval, independently: a difference of two figures with
    the same seeds has to be a figure of its own. The share is 0 if the part depends on a figure that is undefined or
    whose interval is unknown.
    """
    rule, values = rule_of(text, len(figures)), np.array([figure.value for figure in figures])[:, None]
    said = bool(rule(values)[0])
    simple = [simple_rule(one, len(figures)) for one in re.split(" or | and ", text)]
    asked = [f for pattern, slices, _ in simple if "undefined" not in pattern for s in slices for f in figures[s]]
    if any(math.isnan(figure.value) or figure.is_unknown for figure in asked):
        return said, 0.0
    reach = [0.0 if f.is_exact or f.is_unknown else (f.high - f.low) / 2 for f in figures]
    noise = random_stream(seed, "claims").standard_normal((len(figures), N_DRAWS))
    drawn = values + np.array(reach)[:, None] / NormalDist().inv_cdf((1 + LEVEL) / 2) * noise
    return said, float((rule(drawn) == said).mean())


@dataclass(frozen=True)
class Claim:
    """A checkable claim of a paper; ``number`` is its number in its paper's file, which never changes.

    Its evidence is ``rows`` (figures by name, each a function of the paper's ``evidence`` with arguments), a function
    that returns figures, or rows of the paper's ``experiments``, which ``checks`` finds by their words unless they have
    the claim's number. ``expect`` has the parts of the statement as rules about the figures (`RULES`); without it, the
    rows of experiments are the parts.
    """

    paper: str
    number: int
    where: str  # section, figure, table or equation of the paper
    statement: str  # what the paper says, in our words
    verdict: ClaimVerdict
    why: str  # the reason of the verdict
    stated: str = ""  # the paper's own figure, if it has one
    rows: Mapping[str, tuple[str, tuple[Any, ...]]] = field(default_factory=dict)
    expect: tuple[str, ...] = ()
    evidence: str = ""
    experiments: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    scale: str = ""  # our scale and the paper's, if ours is smaller
    tolerance: float = 0.02  # of a figure, for other random numbers and versions of libraries
    seconds: float = 1.0  # of the CPU, about
    needs: tuple[str, ...] = ()  # 'torch', folders, or 'reproduced': stored results of its experiments
    see: str = ""  # a command that shows the claim in a table or figure
    figures: Mapping[str, MeasuredFigure] = field(default_factory=dict)  # as recorded
    parts: tuple[Found, ...] = ()  # what the recorded figures say about each part

    @property
    def name(self) -> str:
        """How the claim is cited: ``003:44``."""
        return f"{self.paper}:{self.number}"

    @property
    def is_computed(self) -> bool:
        """Whether there is evidence that can be computed."""
        return bool(self.rows or self.evidence or self.experiments)

    @property
    def command(self) -> str:
        """Command that computes the evidence again."""
        return f"unweave claims check {self.name}"


FOLDER = Path(__file__).parent


@cache
def claims_of(paper: str | None = None) -> tuple[Claim, ...]:
    """Return the claims of a paper, or of all papers, in the order of their numbers.

    >>> claims_of("003")[0].name
    '003:1'
    """
    if paper is None:
        return tuple(claim for number in MODULES for claim in claims_of(number))
    if paper not in MODULES:
        raise OptionError(f"There is no paper {paper!r} here: there are {', '.join(MODULES)}.")
    recorded = _recorded_entries(paper)
    entries = tomllib.loads((FOLDER / "claims" / f"{paper}.toml").read_text(encoding="utf-8")).get("claim", [])
    return tuple(sorted((_claim(paper, entry, recorded) for entry in entries), key=lambda claim: claim.number))


def claim_of(name: str) -> Claim:
    """Return the claim with this paper and number.

    >>> claim_of("003:44").verdict
    'does not hold'
    """
    paper = name.partition(":")[0]
    names = [claim.name for claim in claims_of(paper)]
    if name not in names:
        raise OptionError(f"There is no claim {name!r}: {suggestion(name, names)}")
    return claims_of(paper)[names.index(name)]


def record(paper: str, results: Mapping[int, ClaimEvidence], seconds: Mapping[int, float]) -> Path:
    """Record these figures, by the numbers of claims, for comparison with later checks."""
    path, entries = FOLDER / "recorded" / f"{paper}.json", _recorded_entries(paper)
    for number, evidence in results.items():
        numbers = {name: [round(x, 6) for x in figure.numbers] for name, figure in evidence.figures.items()}
        parts = [SHORT[part] for part in evidence.parts]
        entries[str(number)] = {"seconds": round(seconds[number], 1), "parts": "".join(parts), "figures": numbers}
    lines = [f"{json.dumps(key)}: {json.dumps(entries[key])}" for key in sorted(entries, key=int)]
    ordered = "{\n" + ",\n".join(lines) + "\n}\n"
    write_result(path, lambda file: file.write(ordered.encode()))
    claims_of.cache_clear()
    return path


SHORT: dict[Found, str] = {"holds": "+", "holds in part": "~", "does not hold": "-", "undecided": "?"}


def _recorded_entries(paper: str) -> dict[str, Any]:
    path = FOLDER / "recorded" / f"{paper}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def _claim(paper: str, entry: Mapping[str, Any], recorded: Mapping[str, Any]) -> Claim:
    if entry["verdict"] not in VERDICTS:
        raise InputError(f"Claim {paper}:{entry['number']} has an unknown verdict: {entry['verdict']!r}.")
    known = recorded.get(str(entry["number"]), {})
    figures = {name: MeasuredFigure(*numbers) for name, numbers in known.get("figures", {}).items()}
    words = {short: found for found, short in SHORT.items()}
    parts = tuple(words[short] for short in known.get("parts", ""))
    lists = {name: _as_tuple(entry.get(name, [])) for name in ("needs", "experiments", "checks", "expect")}
    try:
        rows = dict(named for row in entry.get("rows", ()) for named in _row_figures(paper, row))
        for text in lists["expect"]:
            rule_of(text, len(rows) or MOST_FIGURES)
        computed = bool(rows or entry.get("evidence"))
        if computed > bool(lists["expect"]) or bool(lists["expect"]) > (computed or bool(lists["experiments"])):
            raise ValueError("figures need something to expect, and what is expected needs figures")
        if (entry["verdict"] == "not reproduced at this scale") > bool(entry.get("scale")):
            raise ValueError("its verdict needs a scale")
    except (ValueError, KeyError, IndexError) as error:
        raise FileError(f"Claim {paper}:{entry['number']} cannot be read: {error}.") from None
    given = {"seconds": known.get("seconds", 1.0), **entry, **lists, "rows": rows}
    return Claim(paper=paper, figures=figures, parts=parts, **given)


def _as_tuple(entry: str | Sequence[str]) -> tuple[str, ...]:
    return (entry,) if isinstance(entry, str) else tuple(entry)


def _row_figures(paper: str, row: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, tuple[Any, ...]]]]:
    """Yield the figures of a row: a function's values for given arguments, or scores in cells of the paper's sweeps."""
    if "function" in row:
        yield from ((row["name"].format(*given), (row["function"], tuple(given))) for given in row["arguments"])
    else:
        scored_cells = import_module(f"{MODULES[paper].rpartition('.')[0]}.settings").scored_cells
        yield from ((name, (function, arguments)) for name, function, arguments in scored_cells(**row))


def rises(values: FloatArray, by: float) -> FloatArray:
    """Whether no value is more than .02 below the one before, and the last exceeds the first by more than ``by``."""
    return (values[-1] - values[0] > by) & (np.diff(values, axis=0) > -0.02).all(axis=0)


def spread(*values: FloatArray) -> FloatArray:
    """Largest value minus smallest."""
    return np.ptp(np.concatenate(values), axis=0)


# parts of statements about figures, which are counted from 1: "1-4 rise by 0.2", "2 is below 0.1 or 3 exceeds 4"
# a rule is given an array with a row for each figure and a column for each draw
RULES: dict[str, Callable[..., Any]] = {
    "FIGURES equals? NUMBER within NUMBER": lambda values, x, within: (np.abs(values - x) <= within).all(axis=0),
    "FIGURES (?:is|are) above NUMBER": lambda values, bound: values.min(axis=0) > bound,
    "FIGURES (?:is|are) below NUMBER": lambda values, bound: values.max(axis=0) < bound,
    "FIGURES (?:is|are) undefined": lambda values: np.isnan(values).all(axis=0),
    "FIGURES rise by NUMBER": rises,
    "FIGURES fall by NUMBER": lambda values, by: rises(-values, by),
    "FIGURES agree within NUMBER": lambda values, distance: spread(values) < distance,
    "FIGURES agrees? with FIGURES within NUMBER": lambda a, b, distance: spread(a, b) < distance,
    "FIGURES exceeds? FIGURES": lambda high, low: high.min(axis=0) > low.max(axis=0),
    "FIGURES exceeds? FIGURES by NUMBER": lambda high, low, by: high.min(axis=0) - low.max(axis=0) > by,
}
MOST_FIGURES = 99  # of evidence functions, whose figures are counted when they are computed


def rule_of(text: str, n_figures: int) -> Callable[[FloatArray], Any]:
    """Return the rule that a text states about the values of figures; other texts raise an error.

    >>> values = np.array([[0.1], [0.2], [0.4], [0.0]])
    >>> rule_of("1-3 rise by 0.2", 4)(values), rule_of("1 exceeds 2 or 4 is above 0.3", 4)(values)
    (array([ True]), array([False]))
    """
    for word, joined in ((" or ", np.logical_or), (" and ", np.logical_and)):
        if word in text:
            parts = [rule_of(part, n_figures) for part in text.split(word)]
            return partial(_combine_rules, joined, parts)
    pattern, figures, numbers = simple_rule(text, n_figures)
    return lambda values: RULES[pattern](*(values[chosen] for chosen in figures), *numbers)


def _combine_rules(how: np.ufunc, rules: Sequence[Callable[[FloatArray], Any]], values: FloatArray) -> Any:
    return how.reduce([rule(values) for rule in rules])


@cache
def simple_rule(text: str, n_figures: int) -> tuple[str, tuple[slice, ...], tuple[float, ...]]:
    """Return the pattern of a text without 'or' and 'and', the figures and the numbers that it names.

    >>> simple_rule("1-2 agree within 0.02", 2)
    ('FIGURES agree within NUMBER', (slice(0, 2, None),), (0.02,))
    """
    for pattern in RULES:
        expression = pattern.replace("FIGURES", r"(all|\d+(?:-\d+)?)").replace("NUMBER", r"(-?[\d.]+(?:e-?\d+)?)")
        if match := re.fullmatch(expression, text):
            n_named = pattern.count("FIGURES")  # figures come first in all patterns
            figures = tuple(_figures_named(part, n_figures) for part in match.groups()[:n_named])
            return pattern, figures, tuple(map(float, match.groups()[n_named:]))
    raise ValueError(f"{text!r} follows none of the rules in RULES of {__name__}")


def _figures_named(text: str, n_figures: int) -> slice:
    first, _, last = ("1", "-", str(n_figures)) if text == "all" else text.partition("-")
    if not 1 <= int(first) <= int(last or first) <= n_figures:
        raise ValueError(f"there is no figure {text} among {n_figures}")
    return slice(int(first) - 1, int(last or first))


def in_words(text: str, names: Sequence[str]) -> str:
    """Return a rule with the names of its figures.

    >>> in_words("1-2 agree within 0.02", ["MCC at rho = .5", "MCC at rho = -.5"])
    'MCC at rho = .5 and MCC at rho = -.5 agree within 0.02'
    """

    def named(match: re.Match[str]) -> str:
        chosen = list(names[_figures_named(match[1], len(names))])
        return chosen[0] if len(chosen) == 1 else f"{'; '.join(chosen[:-1])} and {chosen[-1]}"

    figures = r"(?:(?<=^)|(?<= or )|(?<= and )|(?<=exceeds )|(?<=exceed )|(?<=with ))(all|\d+(?:-\d+)?)(?= |$)"
    return re.sub(figures, named, text)


Outcome = Literal["as recorded", "figure moved", "verdict changed", "not recorded", "failed", "skipped"]
CHANGED: tuple[Outcome, ...] = ("figure moved", "verdict changed", "not recorded", "failed")


@dataclass(frozen=True)
class CheckedClaim:
    """A claim, the outcome of its check with the reason, the computed evidence, and its CPU seconds."""

    claim: Claim
    outcome: Outcome
    reason: str = ""
    found: ClaimEvidence | None = None
    seconds: float = 0.0


def evidence_of(claim: Claim, options: Options) -> ClaimEvidence:
    """Compute the evidence of a claim."""
    if claim.experiments:
        return reproduced_evidence(claim, options)
    module = f"{MODULES[claim.paper].rpartition('.')[0]}.evidence"
    if claim.rows:
        functions = vars(import_module(module))
        return decided(claim.expect, {name: functions[f](*given) for name, (f, given) in claim.rows.items()})
    return decided(claim.expect, imported(f"{module}:{claim.evidence}", "evidence")())


def reproduced_evidence(claim: Claim, options: Options) -> ClaimEvidence:
    """Return evidence from the claim's experiments, whose rows about it are its parts.

    The figure of a row is the number on which its verdict is based, or 1 if it holds and 0 if not. If the claim has
    rules, rows are figures only.
    """
    rows: dict[str, ClaimCheck] = {}
    for name in claim.experiments:
        taken = experiment_of(paper_of(claim.paper), name).options
        given = {key: value for key, value in options.stated.items() if key in taken}
        checks = experiment_claims(claim.paper, name, Options(options.folder, options.progress, **given))
        for row in numbered(claim.paper, name, checks):
            if row.ledger == claim.number and (row.is_claim or (claim.expect and row.value is not None)):
                rows[row.claim if row.claim not in rows else f"{name}: {row.claim}"] = row
    if not rows:
        raise InputError(f"{', '.join(claim.experiments)} of {claim.paper} have no result on claim {claim.number}.")
    figures = {text: figure_of(row.holds is True if row.value is None else row.value) for text, row in rows.items()}
    if claim.expect:
        return decided(claim.expect, figures)
    return ClaimEvidence(tuple(cast("Found", row.verdict) for row in rows.values()), figures)


def numbered(paper: str, experiment: str, checks: Iterable[ClaimCheck]) -> Iterator[ClaimCheck]:
    """Yield the rows of an experiment with the numbers of the claims that name them."""
    claims = [claim for claim in claims_of(paper) if experiment in claim.experiments]
    for row in checks:
        numbers = [claim.number for claim in claims if any(words in row.claim for words in claim.checks)]
        yield dataclasses.replace(row, ledger=numbers[0]) if numbers and row.ledger is None else row


def decided_here(paper: str, experiment: str, rows: Sequence[ClaimCheck]) -> Iterator[ClaimCheck]:
    """Yield the claims whose rules are about rows of this experiment, with what these rows say about them.

    Fewer models than the rules are about decide nothing.
    """
    for claim in claims_of(paper):
        if experiment in claim.experiments and claim.expect:
            figures = {row.claim: row.value for row in rows if row.ledger == claim.number and row.value is not None}
            others = [name for name in claim.experiments if name != experiment]
            if not figures:
                continue
            row = ClaimCheck(claim.statement, claim.stated or "no figure", "", ledger=claim.number)
            if others:
                yield dataclasses.replace(row, here=f"decided together with {', '.join(others)}: {claim.command}")
            elif claim.figures and len(figures) != len(claim.figures):
                yield dataclasses.replace(row, here=f"{len(figures)} of the {len(claim.figures)} figures that it needs")
            else:
                yield claim_row(claim, decided(claim.expect, figures))


def check(claims: Iterable[Claim], options: Options, budget: float = math.inf) -> Iterator[CheckedClaim]:
    """Check claims one after another, cheap ones first, and yield each result when it is ready.

    Claims are skipped if they need a package or a folder that is missing, or if they would exceed the budget (CPU
    seconds). An interrupted check is continued, unless the package has changed since. Until the end, results are
    stored in a file in ``options.folder``.
    """
    kept = StoredNumbers(options.folder / f"claims-{package_digest()}.jsonl")
    spent = 0.0
    for claim in sorted(claims, key=lambda claim: (claim.seconds, claim.paper, claim.number)):
        missing = _reason_not_computed(claim, options)
        if missing:
            yield CheckedClaim(claim, "skipped", missing)
        elif spent + claim.seconds > budget:
            yield CheckedClaim(claim, "skipped", f"It takes about {claim.seconds:.0f} s, which exceeds the budget.")
        else:
            checked = _check_claim(claim, options, kept)
            spent += checked.seconds
            yield checked
    kept.remove()


def recorded(checked: Iterable[CheckedClaim]) -> Iterator[Path]:
    """Record the figures of these checks for later comparisons; failed checks are left out."""
    results: dict[str, dict[int, CheckedClaim]] = {}
    for entry in checked:
        if entry.found is not None:
            results.setdefault(entry.claim.paper, {})[entry.claim.number] = entry
    for paper, of_paper in results.items():
        figures = {number: entry.found for number, entry in of_paper.items() if entry.found is not None}
        yield record(paper, figures, {number: entry.seconds for number, entry in of_paper.items()})


def package_digest() -> str:
    """Return a digest of the sources of both packages, so that stored results of other code are not used."""
    digest = hashlib.blake2b(digest_size=6)
    for package in (Path(unweave.__file__).parent, Path(__file__).parent):
        for path in sorted(package.rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _reason_not_computed(claim: Claim, options: Options) -> str:
    if not claim.is_computed:
        return f"It has no evidence to compute: {claim.why}"
    for need in claim.needs:
        if need == "reproduced":
            for name in claim.experiments:
                if not (options.folder / f"{claim.paper}-{name}-claims.json").exists():
                    cost = experiment_of(paper_of(claim.paper), name).cost
                    command = f"unweave reproduce {claim.paper} {name} --out {options.folder}"
                    return f"It needs trained models: run {command} first ({cost})."
        elif need in PACKAGES:
            if not all(map(find_spec, PACKAGES[need])):
                return f"It needs {need}: install unweave[{need}]."
        elif getattr(options, need) is None:
            return f"It needs {FOLDERS[need]}: pass their folder with {flag(need)}."
    return ""


def _check_claim(claim: Claim, options: Options, kept: StoredNumbers) -> CheckedClaim:
    start = time.process_time()

    def computed() -> dict[str, Any]:
        evidence = evidence_of(claim, options)
        numbers = {name: figure.numbers for name, figure in evidence.figures.items()}
        return {"parts": evidence.parts, "figures": numbers, "seconds": time.process_time() - start}

    if claim.name not in kept.by_key:
        try:
            found = computed()
        except Exception as error:  # evidence may fail in any way, and the other claims must still be checked
            seconds = time.process_time() - start
            return CheckedClaim(claim, "failed", f"{type(error).__name__}: {error}", seconds=seconds)
        kept.add({claim.name: found})  # a full disk is no fault of the claim: it ends the check
    value = kept.by_key[claim.name]
    figures = {name: MeasuredFigure(*numbers) for name, numbers in value["figures"].items()}
    evidence = ClaimEvidence(tuple(value["parts"]), figures)
    outcome, reason = compared(claim, evidence)
    return CheckedClaim(claim, outcome, reason, evidence, value["seconds"])


def compared(claim: Claim, evidence: ClaimEvidence) -> tuple[Outcome, str]:
    """Compare evidence with the record; return the outcome, and what is different.

    >>> from unweave_papers.ledger import claim_of
    >>> from dataclasses import replace
    >>> claim = replace(claim_of("003:44"), figures={"a": MeasuredFigure(0.5)}, parts=(), tolerance=0.1)
    >>> compared(claim, ClaimEvidence(("does not hold",), {"a": MeasuredFigure(0.55)}))
    ('as recorded', '')
    >>> compared(claim, ClaimEvidence(("does not hold",), {"a": MeasuredFigure(0.7)}))
    ('figure moved', 'a: 0.700 instead of 0.500')
    >>> compared(claim, ClaimEvidence(("holds",), {"a": MeasuredFigure(0.5)}))[0]
    'verdict changed'
    """
    if evidence.found != FOUND.get(claim.verdict):
        return "verdict changed", f"The verdict is '{claim.verdict}', but by the evidence: {evidence.found}."
    if claim.parts and evidence.parts != claim.parts:
        return "verdict changed", f"The parts are {', '.join(evidence.parts)}, not {', '.join(claim.parts)}."
    if not claim.figures:
        return "not recorded", "No figures are recorded for it."
    if set(evidence.figures) != set(claim.figures):
        return "figure moved", "The names of the figures differ from those in the record."
    moved = [
        f"{name}: {figure} instead of {claim.figures[name]}"
        for name, figure in evidence.figures.items()
        if not _close(figure.value, claim.figures[name].value, claim.tolerance)
    ]
    return ("figure moved", "; ".join(moved)) if moved else ("as recorded", "")


def _close(value: float, recorded: float, tolerance: float) -> bool:
    return (math.isnan(value) and math.isnan(recorded)) or value == recorded or abs(value - recorded) <= tolerance


def claim_rows(paper: str, *numbers: int, folder: Path = Path()) -> Iterator[ClaimCheck]:
    """Yield these claims with the paper's figure, our figures and the verdict of the evidence.

    Experiments that show a claim use the ledger's evidence function, so that both give the same verdict.

    >>> [row] = claim_rows("003", 76)
    >>> row.ledger, row.verdict
    (76, 'holds')
    """
    for number in numbers:
        claim = claim_of(f"{paper}:{number}")
        yield claim_row(claim, evidence_of(claim, Options(folder)))


def claim_row(claim: Claim, evidence: ClaimEvidence) -> ClaimCheck:
    """Return a claim with the paper's figure, our figures and what they say."""
    here = "; ".join(f"{name}: {figure}" for name, figure in evidence.figures.items())
    return ClaimCheck.found(claim.statement, claim.stated or "no figure", here, evidence.found, claim.number)


def summary_table() -> Any:
    """Return a table of the number of claims by paper and verdict."""
    rows = [(number, paper_of(number).title, *counts_of_paper(number)) for number in MODULES]
    return plain_table(("paper", "title", *VERDICTS, "computed"), rows)


def counts_of_paper(paper: str) -> list[str]:
    """Numbers of a paper's claims by verdict, and how many are computed."""
    claims = claims_of(paper)
    counts = Counter(claim.verdict for claim in claims)
    n_computed = sum(claim.is_computed for claim in claims)
    return [*(str(counts[verdict] or "") for verdict in VERDICTS), f"{n_computed} of {len(claims)}"]


def claims_table(claims: Iterable[Claim]) -> Any:
    """Return a table with a row for each claim."""
    rows = [(claim.name, claim.where, claim.statement, claim.verdict) for claim in claims]
    return plain_table(("claim", "where", "what the paper says", "verdict"), rows)


def shown_claim(claim: Claim) -> str:
    """Format a claim with its verdict, the reason, the figures and the commands that check and show it.

    >>> from unweave_papers.ledger import claim_of
    >>> print(shown_claim(claim_of("003:44")).splitlines()[0])
    003:44  does not hold
    """
    lines = [
        f"{claim.name}  {claim.verdict}",
        f"Where        {claim.where}",
        f"Statement    {claim.statement}",
        *([f"Paper        {claim.stated}"] if claim.stated else []),
        *(f"{'Here' if k == 0 else '':<12} {name}: {x}" for k, (name, x) in enumerate(claim.figures.items())),
        *(f"{'Parts' if k == 0 else '':<12} {text}: {part}" for k, (text, part) in enumerate(parts_of(claim))),
        f"Why          {claim.why}",
        *([f"Scale        {claim.scale}"] if claim.scale else []),
    ]
    if claim.is_computed:
        needs = f" (needs {', '.join(claim.needs)})" if claim.needs else ""
        duration = "less than a second" if claim.seconds < 1 else f"about {claim.seconds:.0f} s"
        lines.append(f"Check        {claim.command}, {duration}{needs}")
    if claim.see:
        lines.append(f"See          {claim.see}")
    return "\n".join(lines)


def outcome_table(checked: Iterable[CheckedClaim]) -> Any:
    """Return a table with the outcome of each check, and what is different from the record."""
    rows = [(entry.claim.name, entry.outcome, entry.reason) for entry in checked]
    return plain_table(("claim", "outcome", "what is different"), rows)


def check_lines(checked: Sequence[CheckedClaim]) -> Iterator[Any]:
    """Yield the changed claims, the skipped claims, and the number of claims that are as recorded."""
    told = [entry for entry in checked if entry.outcome in CHANGED]
    if told:
        yield outcome_table(told)
    skipped = Counter(entry.reason for entry in checked if entry.outcome == "skipped" and entry.claim.is_computed)
    yield from (f"{n} skipped. {reason}" for reason, n in skipped.items())
    n_quoted = sum(not entry.claim.is_computed for entry in checked)
    if n_quoted:
        yield f"{n_quoted} have no evidence that can be computed here."
    n_same = sum(entry.outcome == "as recorded" for entry in checked)
    n_computed = sum(entry.outcome != "skipped" for entry in checked)
    seconds = sum(entry.seconds for entry in checked)
    yield f"{n_same} of {n_computed} computed claims are as recorded ({seconds:.0f} CPU seconds)."


def parts_of(claim: Claim) -> list[tuple[str, Found]]:
    """Return the parts of a claim in words, and what the recorded figures say about them."""
    names = list(claim.figures)
    words = [in_words(text, names) for text in claim.expect] if claim.expect else names
    return list(zip(words, claim.parts, strict=False))


def selected_claims(names: Sequence[str] = (), verdict: str | None = None) -> list[Claim]:
    """Return the claims of these papers (``003``) or numbers (``003:44``) with this verdict; all by default.

    >>> [claim.name for claim in selected_claims(["003:44", "003:42"])]
    ['003:44', '003:42']
    """
    if verdict is not None and verdict not in VERDICTS:
        raise OptionError(f"There is no verdict {verdict!r}: {suggestion(verdict, VERDICTS)}")
    claims = [claim for name in names for claim in ((claim_of(name),) if ":" in name else claims_of(name))]
    return [claim for claim in (claims if names else claims_of()) if verdict in (None, claim.verdict)]
