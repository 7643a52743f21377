"""The ledger of claims: rows of data, evidence, checks and the page."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import re
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from html import escape
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

import unweave
from unweave.arrays import student_reach
from unweave.errors import FileError, InputError, OptionError
from unweave.names import suggestion
from unweave.own_modules import imported
from unweave.sentences import counted
from unweave.store import write_result
from unweave_papers.experiment import (
    FOLDERS,
    MODULES,
    PACKAGES,
    ClaimCheck,
    Options,
    experiment_claims,
    experiment_of,
    flag,
    paper_of,
    plain_table,
)
from unweave_papers.stored import StoredNumbers

# fmt: off
ClaimVerdict = Literal[
    "holds", "holds in part", "does not hold", "error of the text", "artefact of code or protocol", "not testable here",
]
# fmt: on
VERDICTS: tuple[ClaimVerdict, ...] = get_args(ClaimVerdict)

# the value of ClaimEvidence.holds that agrees with each verdict; None means that the statement holds in part
STATEMENT_HOLDS: dict[ClaimVerdict, bool | None] = {
    "holds": True,
    "holds in part": None,
    "does not hold": False,
    "error of the text": False,
    "artefact of code or protocol": False,
}

LEVEL = 0.95


@dataclass(frozen=True)
class MeasuredFigure:
    """A number with its interval over seeds; an exact number has no interval.

    >>> MeasuredFigure.over_seeds([0.80, 0.82, 0.84]).low < 0.8
    True
    >>> str(MeasuredFigure(0.8564)), str(MeasuredFigure(0.82, 0.77, 0.87))
    ('0.856', '0.820 [0.770, 0.870]')
    """

    value: float
    low: float = math.nan
    high: float = math.nan

    @classmethod
    def over_seeds(cls, values: Sequence[float]) -> MeasuredFigure:
        """Return the mean over seeds with Student's 95 % interval; fewer than three seeds have no interval."""
        array = np.asarray(values, dtype=np.float64)
        mean = float(array.mean())
        if array.size < 3:
            return cls(mean)
        reach = float(student_reach(array.std(ddof=1), array.size - 1, LEVEL) / math.sqrt(array.size))
        return cls(mean, mean - reach, mean + reach)

    def __float__(self) -> float:
        """Return the value."""
        return self.value

    @property
    def numbers(self) -> list[float]:
        """Value, and the ends of the interval if there is one."""
        return [self.value] if math.isnan(self.low) else [self.value, self.low, self.high]

    def __str__(self) -> str:
        value, *interval = (f"{number:.3f}" if abs(number) < 1000 else f"{number:.4g}" for number in self.numbers)
        return f"{value} [{interval[0]}, {interval[1]}]" if interval else value


@dataclass(frozen=True)
class ClaimEvidence:
    """The result of an evidence function: whether the paper's statement holds, and the figures.

    ``holds`` is None if the statement holds in part, or only under conditions that the paper does not state.

    >>> ClaimEvidence.of(False, {"DCI-D, 9 of 10 codes": 0.856}).figures["DCI-D, 9 of 10 codes"].value
    0.856
    """

    holds: bool | None
    figures: Mapping[str, MeasuredFigure]

    @classmethod
    def of(cls, holds: bool | None, figures: Mapping[str, float | MeasuredFigure]) -> ClaimEvidence:
        """Return evidence from figures that may be plain numbers."""
        return cls.by_rule(figures, lambda _: holds)

    @classmethod
    def by_rule(
        cls, figures: Mapping[str, float | MeasuredFigure], rule: Callable[[list[float]], bool | None]
    ) -> ClaimEvidence:
        """Return evidence for which the rule is called with the values of the figures, in their order."""
        measured = {
            name: x if isinstance(x, MeasuredFigure) else MeasuredFigure(float(x)) for name, x in figures.items()
        }
        holds = rule([figure.value for figure in measured.values()])
        return cls(None if holds is None else bool(holds), measured)


@dataclass(frozen=True)
class Claim:
    """A checkable claim of a paper.

    Parameters
    ----------
    paper : str
        Number of the paper: ``"003"``.
    number : int
        Number of the claim in its paper's file; it never changes.
    where : str
        Section, figure, table or equation of the paper.
    statement : str
        What the paper says, in our words.
    stated : str
        The paper's own figure; empty if it has none.
    verdict : str
        One of `VERDICTS`.
    why : str
        The reason of the verdict, in one or a few sentences.
    rows : mapping of name to (function, arguments)
        The figures that a row of the file describes, by name: a function of the paper's ``evidence`` and its arguments.
    expect, in_part : tuple of str
        What the figures of rows have to fulfil for the claim to hold, or to hold in part (asked first); see `RULES`.
    evidence : str
        A function of the paper's ``evidence``, for a claim that rows cannot express.
    experiments : tuple of str
        Experiments of the paper whose rows decide the claim, if it needs trained models.
    tolerance : float
        Largest accepted difference of a figure from the recorded one, for other random numbers and library versions.
    seconds : float
        Approximate CPU seconds of the evidence.
    needs : tuple of str
        'torch', folders ('weights', 'data', 'authors_data'), or 'reproduced': stored results of its experiments.
    see : str
        A command that shows the claim in a table or figure; empty if there is none.
    figures : mapping of name to MeasuredFigure
        The recorded figures.
    """

    paper: str
    number: int
    where: str
    statement: str
    verdict: ClaimVerdict
    why: str
    stated: str = ""
    rows: Mapping[str, tuple[str, tuple[Any, ...]]] = field(default_factory=dict)
    expect: tuple[str, ...] = ()
    in_part: tuple[str, ...] = ()
    evidence: str = ""
    experiments: tuple[str, ...] = ()
    tolerance: float = 0.02
    seconds: float = 1.0
    needs: tuple[str, ...] = ()
    see: str = ""
    figures: Mapping[str, MeasuredFigure] = field(default_factory=dict)

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
    recorded = _recorded(paper)
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
    path, entries = FOLDER / "recorded" / f"{paper}.json", _recorded(paper)
    for number, evidence in results.items():
        numbers = {name: [round(x, 6) for x in figure.numbers] for name, figure in evidence.figures.items()}
        entries[str(number)] = {"seconds": round(seconds[number], 1), "figures": numbers}
    lines = [f"{json.dumps(key)}: {json.dumps(entries[key])}" for key in sorted(entries, key=int)]
    ordered = "{\n" + ",\n".join(lines) + "\n}\n"
    write_result(path, lambda file: file.write(ordered.encode()))
    claims_of.cache_clear()
    return path


def _recorded(paper: str) -> dict[str, Any]:
    path = FOLDER / "recorded" / f"{paper}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def _claim(paper: str, entry: Mapping[str, Any], recorded: Mapping[str, Any]) -> Claim:
    if entry["verdict"] not in VERDICTS:
        raise InputError(f"Claim {paper}:{entry['number']} has an unknown verdict: {entry['verdict']!r}.")
    known = recorded.get(str(entry["number"]), {})
    figures = {name: MeasuredFigure(*numbers) for name, numbers in known.get("figures", {}).items()}
    lists = {name: tuple(entry.get(name, ())) for name in ("needs", "experiments")}
    lists |= {name: _listed(entry.get(name, [])) for name in ("expect", "in_part")}
    try:
        rows = dict(named for row in entry.get("rows", ()) for named in _row_figures(paper, row))
        for text in lists["expect"] + lists["in_part"]:
            rule_of(text, len(rows))
        if bool(rows) != bool(lists["expect"] or lists["in_part"]):
            raise ValueError("rows need something to expect, and what is expected needs rows")
    except (ValueError, KeyError, IndexError) as error:
        raise FileError(f"Claim {paper}:{entry['number']} cannot be read: {error}.") from None
    return Claim(paper=paper, figures=figures, **{"seconds": known.get("seconds", 1.0), **entry, **lists, "rows": rows})


def _listed(entry: str | Sequence[str]) -> tuple[str, ...]:
    return (entry,) if isinstance(entry, str) else tuple(entry)


def _row_figures(paper: str, row: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, tuple[Any, ...]]]]:
    """Yield the figures of a row: a function's values for given arguments, or scores in cells of the paper's sweeps."""
    if "function" in row:
        yield from ((row["name"].format(*given), (row["function"], tuple(given))) for given in row["arguments"])
    else:
        scored_cells = import_module(f"{MODULES[paper].rpartition('.')[0]}.settings").scored_cells
        yield from ((name, ("figure", arguments)) for name, arguments in scored_cells(**row))


def rises(values: Iterable[float], by: float = 0.05) -> bool:
    """Whether no value is more than .02 below the one before, and the last exceeds the first by more than ``by``."""
    points = list(values)
    return points[-1] - points[0] > by and all(b > a - 0.02 for a, b in itertools.pairwise(points))


def falls(values: Iterable[float], by: float = 0.05) -> bool:
    """Whether no value is more than .02 above the one before, and the last is below the first by more than ``by``."""
    return rises([-value for value in values], by)


def near(values: Iterable[float], target: float, within: float) -> bool:
    """Whether all values differ from the target by at most ``within``."""
    return all(abs(value - target) <= within for value in values)


# what a claim may expect of its figures, which are counted from 1: "1-4 rise by 0.2", "2 is below 0.1 or 3 exceeds 4"
RULES: dict[str, Callable[..., bool]] = {
    "FIGURES equals? NUMBER within NUMBER": near,
    "FIGURES (?:is|are) above NUMBER": lambda values, bound: min(values) > bound,
    "FIGURES (?:is|are) below NUMBER": lambda values, bound: max(values) < bound,
    "FIGURES (?:is|are) undefined": lambda values: all(map(math.isnan, values)),
    "FIGURES rise by NUMBER": rises,
    "FIGURES fall by NUMBER": falls,
    "FIGURES agree within NUMBER": lambda values, distance: max(values) - min(values) < distance,
    "FIGURES agrees? with FIGURES within NUMBER": lambda a, b, distance: max(*a, *b) - min(*a, *b) < distance,
    "FIGURES exceeds? FIGURES": lambda high, low: min(high) > max(low),
    "FIGURES exceeds? FIGURES by NUMBER": lambda high, low, by: min(high) - max(low) > by,
}


@cache
def rule_of(text: str, n_figures: int) -> Callable[[Sequence[float]], bool]:
    """Return the rule that a text states about the values of figures; other texts raise an error.

    >>> values = [0.1, 0.2, 0.4, 0.0]
    >>> rule_of("1-3 rise by 0.2", 4)(values), rule_of("1 exceeds 2 or 4 is above 0.3", 4)(values)
    (True, False)
    """
    if " or " in text:
        parts = [rule_of(part, n_figures) for part in text.split(" or ")]
        return lambda values: any(part(values) for part in parts)
    for pattern, rule in RULES.items():
        expression = pattern.replace("FIGURES", r"(all|\d+(?:-\d+)?)").replace("NUMBER", r"(-?[\d.]+(?:e-?\d+)?)")
        if match := re.fullmatch(expression, text):
            kinds = re.findall("FIGURES|NUMBER", pattern)
            given = [
                _figures_named(part, n_figures) if kind == "FIGURES" else float(part)
                for kind, part in zip(kinds, match.groups(), strict=True)
            ]
            return lambda values: bool(rule(*(values[x] if isinstance(x, slice) else x for x in given)))
    raise ValueError(f"{text!r} follows none of the rules in RULES of {__name__}")


def _figures_named(text: str, n_figures: int) -> slice:
    first, _, last = ("1", "-", str(n_figures)) if text == "all" else text.partition("-")
    if not 1 <= int(first) <= int(last or first) <= n_figures:
        raise ValueError(f"there is no figure {text} among {n_figures}")
    return slice(int(first) - 1, int(last or first))


def holds_by_rules(claim: Claim, values: Sequence[float]) -> bool | None:
    """Return whether the figures of a claim's rows fulfil what it expects; None if it holds in part.

    >>> holds_by_rules(claim_of("003:30"), [1.0, 1.0, 1.0]), holds_by_rules(claim_of("003:30"), [1.0, 1.0, 0.9])
    (True, False)
    """

    def fulfilled(texts: Sequence[str]) -> bool:
        return bool(texts) and all(rule_of(text, len(values))(values) for text in texts)

    return None if fulfilled(claim.in_part) else fulfilled(claim.expect)


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
        figures = {name: functions[function](*arguments) for name, (function, arguments) in claim.rows.items()}
        return ClaimEvidence.by_rule(figures, partial(holds_by_rules, claim))
    compute = imported(f"{module}:{claim.evidence}", "evidence")
    return compute(options) if claim.needs else compute()


def reproduced_evidence(claim: Claim, options: Options) -> ClaimEvidence:
    """Return evidence from the claim's experiments: it holds if all their rows about it hold, and in part if some do.

    The figure of a row is the number on which its verdict is based, or 1 if it holds and 0 if not.
    """
    rows: list[ClaimCheck] = []
    for name in claim.experiments:
        taken = experiment_of(paper_of(claim.paper), name).options
        given = {key: value for key, value in options.stated.items() if key in taken}
        checks = experiment_claims(claim.paper, name, Options(options.folder, options.progress, **given))
        rows += [row for row in checks if row.ledger == claim.number and row.is_claim]
    if not rows:
        raise InputError(f"{', '.join(claim.experiments)} of {claim.paper} have no result on claim {claim.number}.")
    held = [row.holds for row in rows]
    figures = {row.claim: float(row.holds is True) if row.value is None else row.value for row in rows}
    in_part = any(held) or any(row.in_part for row in rows)
    return ClaimEvidence.of(True if all(held) else None if in_part else False, figures)


def check(claims: Iterable[Claim], options: Options, budget: float = math.inf) -> Iterator[CheckedClaim]:
    """Check claims one after another, cheap ones first, and yield each result when it is ready.

    Claims are skipped if they need a package or a folder that is missing, or if they would exceed the budget (CPU
    seconds). An interrupted check is continued, unless the package has changed since. Until the end, results are
    stored in a file in ``options.folder``.
    """
    kept = StoredNumbers(options.folder / f"claims-{package_digest()}.jsonl")
    spent = 0.0
    for claim in sorted(claims, key=lambda claim: (claim.seconds, claim.paper, claim.number)):
        missing = _missing(claim, options)
        if missing:
            yield CheckedClaim(claim, "skipped", missing)
        elif spent + claim.seconds > budget:
            yield CheckedClaim(claim, "skipped", f"It takes about {claim.seconds:.0f} s, which exceeds the budget.")
        else:
            checked = _checked(claim, options, kept)
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


def _missing(claim: Claim, options: Options) -> str:
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


def _checked(claim: Claim, options: Options, kept: StoredNumbers) -> CheckedClaim:
    start = time.process_time()

    def computed() -> dict[str, Any]:
        evidence = evidence_of(claim, options)
        numbers = {name: figure.numbers for name, figure in evidence.figures.items()}
        return {"holds": evidence.holds, "figures": numbers, "seconds": time.process_time() - start}

    if claim.name not in kept.by_key:
        try:
            found = computed()
        except Exception as error:  # evidence may fail in any way, and the other claims must still be checked
            seconds = time.process_time() - start
            return CheckedClaim(claim, "failed", f"{type(error).__name__}: {error}", seconds=seconds)
        kept.add({claim.name: found})  # a full disk is no fault of the claim: it ends the check
    value = kept.by_key[claim.name]
    figures = {name: MeasuredFigure(*numbers) for name, numbers in value["figures"].items()}
    evidence = ClaimEvidence(value["holds"], figures)
    outcome, reason = compared(claim, evidence)
    return CheckedClaim(claim, outcome, reason, evidence, value["seconds"])


def compared(claim: Claim, evidence: ClaimEvidence) -> tuple[Outcome, str]:
    """Compare evidence with the record; return the outcome, and what is different.

    >>> from unweave_papers.ledger import claim_of
    >>> from dataclasses import replace
    >>> claim = replace(claim_of("003:44"), figures={"a": MeasuredFigure(0.5)}, tolerance=0.1)
    >>> compared(claim, ClaimEvidence.of(False, {"a": 0.55}))
    ('as recorded', '')
    >>> compared(claim, ClaimEvidence.of(False, {"a": 0.7}))
    ('figure moved', 'a: 0.700 instead of 0.500')
    >>> compared(claim, ClaimEvidence.of(True, {"a": 0.5}))[0]
    'verdict changed'
    """
    wanted = STATEMENT_HOLDS.get(claim.verdict)
    if evidence.holds is not wanted:
        says = {True: "it holds", False: "it does not hold", None: "it holds in part"}
        return "verdict changed", f"The verdict is '{claim.verdict}', but by the evidence {says[evidence.holds]}."
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
        evidence = evidence_of(claim, Options(folder))
        here = "; ".join(f"{name}: {figure}" for name, figure in evidence.figures.items())
        stated, in_part = claim.stated or "no figure", evidence.holds is None
        yield ClaimCheck(claim.statement, stated, here, evidence.holds is True, number, in_part=in_part)


def summary_table() -> Any:
    """Return a table of the number of claims by paper and verdict."""
    rows = [(number, paper_of(number).title, *_counts(number)) for number in MODULES]
    return plain_table(("paper", "title", *VERDICTS, "computed"), rows)


def _counts(paper: str) -> list[str]:
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
        f"Why          {claim.why}",
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


WIDTH, LINE, MARGIN = 120, 11, 6  # size of a plot in pixels
FILTER = """<p>Show <select id="claim-verdict"><option value="">all verdicts</option>{options}</select>
with the words <input id="claim-words" type="search" placeholder="MCC, correlation, Figure 5"></p>
<script>
(() => {{
  const verdict = document.getElementById("claim-verdict"), words = document.getElementById("claim-words");
  const show = () => document.querySelectorAll("tr[data-verdict]").forEach(row => {{
    const fits = !verdict.value || row.dataset.verdict === verdict.value;
    row.hidden = !(fits && row.textContent.toLowerCase().includes(words.value.toLowerCase()));
  }});
  verdict.addEventListener("change", show);
  words.addEventListener("input", show);
}})();
</script>"""


def ledger_page() -> str:
    """Return the page as Markdown with tables in HTML."""
    options = "".join(f"<option>{escape(verdict)}</option>" for verdict in VERDICTS)
    n_computed = sum(claim.is_computed for claim in claims_of())
    return "\n".join([
        "# Every claim of the five papers, and whether it holds",
        "",
        f"This page has {len(claims_of())} checkable claims in our words, each with a verdict. For {n_computed} of",
        "them, a function of this package computes the evidence; its figures are shown below. To compute them again:",
        "",
        "```",
        "unweave claims 003:44          # one claim: the statement, the verdict with its reason, the figures",
        "unweave claims check 003:44    # compute its evidence again; fails if a figure or the verdict has changed",
        "unweave claims check           # check all claims",
        "```",
        "",
        *_summary(),
        "",
        "'Error of the text' is an error that the authors' own code or algebra contradicts. 'Artefact of code or",
        "protocol' is a claim that is true of the published numbers, but not of the quantity that they should",
        "measure. Dots are our figures, with 95 % intervals over seeds if there are several seeds. The scale goes",
        "from 0 to 1, or from the smallest figure to the largest.",
        "",
        FILTER.format(options=options),
        *(line for number in MODULES for line in _of_paper(number)),
        "",
    ])  # fmt: skip


def _summary() -> Iterator[str]:
    yield f"| paper | {' | '.join(VERDICTS)} | computed |"
    yield f"| --- |{' ---: |' * (len(VERDICTS) + 1)}"
    for number in MODULES:
        yield f"| [{number}](#claims-of-{number}) | {' | '.join(_counts(number))} |"


def _of_paper(number: str) -> Iterator[str]:
    yield from ("", f"## Claims of {number}", "", escape(paper_of(number).title) + ".", "")
    headings = "".join(f"<th>{name}</th>" for name in ("claim", "what the paper says", "verdict", "figures"))
    yield f"<table><thead><tr>{headings}</tr></thead><tbody>"
    yield from map(_row, claims_of(number))
    yield "</tbody></table>"


def _row(claim: Claim) -> str:
    stated = f" In the paper: {escape(claim.stated)}." if claim.stated else ""
    commands = [claim.command] * bool(claim.is_computed) + [claim.see] * bool(claim.see)
    shown = "<br>".join(f"<code>{escape(command)}</code>" for command in commands)
    return (
        f'<tr id="{claim.paper}-{claim.number}" data-verdict="{escape(claim.verdict)}">'
        f'<td><a href="#{claim.paper}-{claim.number}">{claim.name}</a><br>{escape(claim.where)}</td>'
        f"<td>{escape(claim.statement)}{stated}<br><em>{escape(claim.why)}</em><br>{shown}</td>"
        f"<td>{escape(claim.verdict)}</td><td>{_figures(claim.figures)}</td></tr>"
    )


def _figures(figures: Mapping[str, MeasuredFigure]) -> str:
    if not figures:
        return ""
    lines = "<br>".join(f"{escape(name)}: {figure}" for name, figure in figures.items())
    return f"{_picture(figures)}<details><summary>{counted(len(figures), 'figure')}</summary>{lines}</details>"


def _picture(figures: Mapping[str, MeasuredFigure]) -> str:
    """Return an SVG plot with a dot for each figure, one below the other, and its interval."""
    values = [figure.value for figure in figures.values() if not math.isnan(figure.value)]
    if not values:
        return ""
    unit = min(values) >= 0 and max(values) <= 1
    low, high = (0.0, 1.0) if unit else (min(values), max(values))
    span = (high - low) or 1.0

    def across(number: float) -> float:
        return MARGIN + (WIDTH - 2 * MARGIN) * min(max((number - low) / span, 0.0), 1.0)

    marks = []
    for k, figure in enumerate(figures.values()):
        if math.isnan(figure.value):
            continue
        height = LINE * (k + 0.5)
        if len(figure.numbers) == 3:
            ends = [across(number) for number in figure.numbers[1:]]
            marks.append(
                f'<line x1="{ends[0]:.1f}" x2="{ends[1]:.1f}" y1="{height}" y2="{height}" stroke="currentColor"/>'
            )
        marks.append(f'<circle cx="{across(figure.value):.1f}" cy="{height}" r="3" fill="currentColor"/>')
    tall = LINE * len(figures)
    frame = 'fill="none" stroke="currentColor" opacity=".25"'
    parts = [
        f"<title>from {low:.3g} to {high:.3g}</title>",
        f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{tall - 1}" {frame}/>',
        *marks,
    ]
    return f'<svg role="img" width="{WIDTH}" height="{tall}" viewBox="0 0 {WIDTH} {tall}">{"".join(parts)}</svg>'


def selected_claims(names: Sequence[str] = (), verdict: str | None = None) -> list[Claim]:
    """Return the claims of these papers (``003``) or numbers (``003:44``) with this verdict; all by default.

    >>> [claim.name for claim in selected_claims(["003:44", "003:42"])]
    ['003:44', '003:42']
    """
    if verdict is not None and verdict not in VERDICTS:
        raise OptionError(f"There is no verdict {verdict!r}: {suggestion(verdict, VERDICTS)}")
    claims = [claim for name in names for claim in ((claim_of(name),) if ":" in name else claims_of(name))]
    return [claim for claim in (claims if names else claims_of()) if verdict in (None, claim.verdict)]
