"""`Paper` and `Experiment`: how a paper declares what can be computed again, and `Options` that say how."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from unweave.evidence import EvidenceError

# options that are folders an experiment may need, and what is in them
FOLDERS = {
    "authors_data": "the authors' tables, exp01.csv to exp15.csv",
    "data": "the data set's files",
    "weights": "the trained weights, .npz files",
    "codes": "codes made by unweave encode, one file an encoder",
}
PACKAGES = {"torch": ("torch", "zuko")}  # what an experiment may need, and the packages that stand behind it


@dataclass(frozen=True)
class Options:
    """How to compute an experiment; None is the experiment's own default.

    ``folder`` is where results, tables and pictures go: what is there already is not computed again.

    >>> Options(Path("reproduced"), n_seeds=2).stated
    {'n_seeds': 2}
    """

    folder: Path
    progress: bool = False
    seed: int | None = None
    n_seeds: int | None = None
    n_rows: int | None = None
    n_steps: int | None = None
    metrics: tuple[str, ...] | None = None
    protocol: str | None = None
    authors_data: Path | None = None
    data: Path | None = None
    weights: Path | None = None
    codes: Path | None = None
    quick: bool | None = None
    n_jobs: int | None = None
    cluster: str | None = None

    @property
    def stated(self) -> dict[str, Any]:
        """The options that were given, without the folder and the progress bar."""
        fields = [field.name for field in dataclasses.fields(self) if field.name not in ("folder", "progress")]
        return {name: value for name in fields if (value := getattr(self, name)) is not None}


@dataclass(frozen=True)
class ClaimCheck:
    """A quantity or claim: what the paper has, what was found here, and whether the claim holds here.

    ``holds`` is None where there is nothing to decide, or (``undecided``) where these data cannot decide; ``in_part``
    says that a claim which does not hold as it stands does so for some of its cases. ``ledger`` is the claim's
    number in the list of all claims of the papers, where it has one; ``value`` is the number that decides.

    >>> ClaimCheck("UniBound of FactorVAE", "about 0", "0.012 [0, 0.03]", True, ledger=118).verdict
    'holds'
    """

    claim: str
    paper: str
    here: str
    holds: bool | None = None
    ledger: int | None = None
    undecided: bool = False
    in_part: bool = False
    value: float | None = None

    @property
    def verdict(self) -> str:
        """'holds', 'holds in part', 'does not hold', 'undecided', or nothing for a mere quantity."""
        if self.holds is None:
            return "undecided" if self.undecided else ""
        return "holds" if self.holds else "holds in part" if self.in_part else "does not hold"

    @property
    def is_claim(self) -> bool:
        """Whether there is something to decide."""
        return bool(self.verdict)

    @classmethod
    def number(
        cls,
        claim: str,
        paper: str,
        value: float,
        *,
        above: float = -math.inf,
        below: float = math.inf,
        ledger: int | None = None,
    ) -> ClaimCheck:
        """A number that has to lie between two others for the claim to hold.

        >>> ClaimCheck.number("total correlation", "about 0", 0.053, below=0.1).verdict
        'holds'
        """
        return cls(claim, paper, f"{value:.3f}", above < value < below, ledger, value=value)


def nothing_to_write(data: Any, options: Options) -> Iterable[Path]:
    """For experiments without tables, or without pictures."""
    return ()


@dataclass(frozen=True)
class Experiment:
    """A figure, table or comparison of a paper that can be computed again.

    Parameters
    ----------
    name : str
        As the paper numbers it: ``fig2``, ``tab8``.
    title : str
        What it shows, in a line.
    compute : function of Options
        Gives plain data (arrays, numbers, frozen records). It resumes from what the folder holds and shows progress
        if asked to.
    compare : function of the data and Options
        The paper's numbers beside ours, as `ClaimCheck`.
    write, draw : function of the data and Options
        Write tables, and pictures; give the paths. Only ``draw`` may need matplotlib.
    options : tuple of str
        Fields of `Options` that it takes; others are refused.
    needs : tuple of str
        'torch', or those options that are folders it cannot do without: 'weights', 'data', 'authors_data'.
    cost : str
        About how long it takes.
    """

    name: str
    title: str
    compute: Callable[[Options], Any]
    compare: Callable[[Any, Options], Iterable[ClaimCheck]]
    write: Callable[[Any, Options], Iterable[Path]] = nothing_to_write
    draw: Callable[[Any, Options], Iterable[Path]] = nothing_to_write
    options: tuple[str, ...] = ("seed",)
    needs: tuple[str, ...] = ()
    cost: str = "seconds"

    @property
    def needs_in_words(self) -> list[str]:
        """Its needs: packages by their names, folders by their options."""
        return [need if need in PACKAGES else flag(need) for need in self.needs]

    def check(self, options: Options) -> None:
        """Refuse options that it does not take, and say what is missing, before anything is computed."""
        for name in options.stated:
            if name not in self.options:
                taken = ", ".join(map(flag, self.options)) or "none"
                raise EvidenceError(f"{flag(name)} is not an option of {self.name}: it takes {taken}.")
        for need in self.needs:
            if need in PACKAGES:
                if not all(map(find_spec, PACKAGES[need])):
                    raise EvidenceError(f"{self.name} needs {need}: install unweave[{need}].")
                continue
            if need == "weights" and options.codes is not None:
                need = "codes"  # what the weights would be computed into
            folder = getattr(options, need)
            if folder is None:
                raise EvidenceError(f"{self.name} needs {FOLDERS[need]}: pass their folder with {flag(need)}.")
            if not folder.is_dir():
                raise EvidenceError(f"{flag(need)} {folder} is not a folder: pass the one with {FOLDERS[need]}.")


@dataclass(frozen=True)
class Paper:
    """A paper and its experiments, in the order in which they are listed."""

    number: str
    title: str
    experiments: tuple[Experiment, ...]


def flag(option: str) -> str:
    """The command line's name of an option.

    >>> flag("n_seeds"), flag("authors_data")
    ('--seeds', '--authors-data')
    """
    return "--" + option.removeprefix("n_").replace("_", "-")
